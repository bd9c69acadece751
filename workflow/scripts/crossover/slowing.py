"""Settings in the environment that can make a backend slower than it is, and what they do."""

SLOWING = {
    "OPENBLAS_CORETYPE": "OpenBLAS uses the kernels of that CPU, not of this one",
    "OPENBLAS_L2_SIZE": "OpenBLAS cuts its blocks for that cache, not for this one",
    "MKL_ENABLE_INSTRUCTIONS": "MKL leaves out newer instructions",
    "MKL_CBWR": "MKL gives up speed for the same bits everywhere",
    "DNNL_MAX_CPU_ISA": "oneDNN leaves out newer instructions",
    "ONEDNN_MAX_CPU_ISA": "oneDNN leaves out newer instructions",
    "ATEN_CPU_CAPABILITY": "torch leaves out newer instructions",
    "NPY_DISABLE_CPU_FEATURES": "NumPy leaves out newer instructions",
    "OMP_PROC_BIND": "threads are tied to cores",
    "OMP_PLACES": "threads are tied to cores",
    "GOMP_CPU_AFFINITY": "threads are tied to cores",
    "KMP_AFFINITY": "threads are tied to cores",
    "OMP_THREAD_LIMIT": "there may be fewer threads than asked for",
    "OMP_DYNAMIC": "there may be fewer threads than asked for",
    "CUDA_LAUNCH_BLOCKING": "every launch waits for the GPU",
    "NVIDIA_TF32_OVERRIDE": "float32 is computed with fewer digits, whatever was asked for",
    "TORCH_ALLOW_TF32_CUBLAS_OVERRIDE": "float32 is computed with fewer digits",
    "PYTORCH_NO_CUDA_MEMORY_CACHING": "torch asks the driver for every array",
}
OFF = ("", "0", "false")
