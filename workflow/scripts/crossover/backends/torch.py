"""PyTorch, on whatever device it has a name for: cpu, cuda, cuda:1, mps, xpu.

Written from torch 2.13's source. bfloat16, which NumPy has not, travels as float32: its transfers
include the conversion. So do those of float32 that an option lets be computed in half precision.

Options:

- ``precision: tf32``: float32 in memory, its products on the tensor cores (CUDA);
- ``precision: float16`` or ``bfloat16``: float32 on the host, that type on the device;
- ``compile: true``: torch.compile, once in a process.
"""

import os
import shutil
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import torch

from crossover import machine
from crossover.backends import Host
from crossover.status import OUT_OF_MEMORY, Unavailable, Unsupported, own_words

LIBRARIES = ("torch",)
DEVICES = ("cpu", "cuda", "mps", "xpu")
OPTIONS = {"compile": (True, False), "precision": ("tf32", "float16", "bfloat16")}

# torch says these in plain RuntimeErrors: the CPU allocator, the driver, cuBLAS's workspace.
MEMORY_WORDS = ("out of memory", "can't allocate memory", "not enough memory", "ALLOC_FAILED")

OLDEST_TF32 = (8, 0)  # compute capability: CUDA C Programming Guide, "Compute Capabilities"
PORTABLE = 1  # cudaHostRegisterPortable: page-locked for every context


class Events:
    """Two of the device's events, a pair for each sample; torch gives milliseconds."""

    def __init__(self, module: Any) -> None:
        self.marks = [module.Event(enable_timing=True) for _ in range(2)]

    def start(self) -> None:
        self.marks[0].record()

    def stop(self) -> None:
        self.marks[1].record()

    def seconds(self) -> float:
        return float(self.marks[0].elapsed_time(self.marks[1])) / 1e3


class Backend(Host):
    xp = torch

    def __init__(self, device: str, threads: int, options: Any) -> None:
        self.device = torch.device(device)
        self.on_host = self.device.type == "cpu"
        torch.set_num_threads(threads)
        self.precision: str = options.get("precision", "")
        tf32 = self.precision == "tf32"
        if tf32 and self.device.type != "cuda":
            raise Unsupported(f"precision: tf32 is for device: cuda, not {device}")
        # Else float32 means float32. The old interface, since torch.compile still reads it; what is
        # in force is read back in facts(), because an environment variable can say otherwise.
        torch.set_float32_matmul_precision("high" if tf32 else "highest")
        torch.backends.cudnn.allow_tf32 = tf32
        # The type on the device in place of float32, and those that come back as float32.
        self.narrow = None if tf32 or not self.precision else getattr(torch, self.precision)
        self.widened = (torch.bfloat16, self.narrow)
        if not self.on_host:
            self.module = self._start()
        if tf32:
            _must_have_tf32(self.device)
        self.compiles = bool(options.get("compile"))
        if self.compiles:
            _must_have_compiler(self.device.type)
            _compile_from_scratch()

    def _start(self) -> Any:
        """Wake the device with a small real operation: only that proves that it works."""
        try:
            (torch.ones(2, device=self.device) + 1).cpu()
            module = torch.get_device_module(self.device)
            if self.device.index is not None:
                module.set_device(self.device.index)  # the one that synchronize() waits for
            module.synchronize()
        except Exception as error:  # AssertionError, RuntimeError and others, by torch's build
            raise Unavailable(own_words(error)) from error
        return module

    def dtype(self, name: str) -> Any:
        return self.narrow if self.narrow and name == "float32" else super().dtype(name)

    def computed_in(self, dtype: str) -> str:
        if not self.precision:
            return dtype
        if dtype != "float32":
            raise Unsupported(f"precision: {self.precision} is for float32 alone, not for {dtype}")
        return self.precision

    def compiled(self, compute: Callable[..., Any]) -> Callable[..., Any]:
        return torch.compile(compute, dynamic=False) if self.compiles else compute

    def compilations(self) -> int | None:
        """The functions, and parts of functions, that torch.compile did compile."""
        if not self.compiles:
            return None
        return int(torch._dynamo.utils.counters["frames"]["ok"])

    def seed(self, seed: int) -> None:
        self.generator = torch.Generator(self.device).manual_seed(seed)

    def random(self, shape: tuple[int, ...], dtype: Any) -> Any:
        return torch.rand(shape, generator=self.generator, dtype=dtype, device=self.device)

    def to_device(self, array: Any, dtype: str) -> Any:
        return torch.from_numpy(array).to(self.device, self.dtype(dtype))

    def to_host(self, array: Any) -> Any:
        if array.dtype in self.widened:
            array = array.float()
        return array.cpu().resolve_conj().resolve_neg().numpy()

    def synchronize(self) -> None:
        if not self.on_host:
            self.module.synchronize()

    def events(self) -> Events | None:
        try:
            events = Events(self.module)
            events.start()
            events.stop()
            self.synchronize()
            events.seconds()
        except Exception:  # each device has its own way to say that it has none
            return None
        return events

    def pin(self, array: Any) -> None:
        if self.device.type != "cuda":
            super().pin(array)
        runtime = torch.cuda.cudart()
        if code := int(runtime.cudaHostRegister(array.ctypes.data, array.nbytes, PORTABLE)):
            # The refusal stays pending in the runtime, and the next launch would raise it.
            with suppress(Exception):
                torch.zeros(1, device=self.device)
            raise Unsupported(f"the CUDA runtime locks no pages here (error {code})")

    def unpin(self, array: Any) -> None:
        torch.cuda.cudart().cudaHostUnregister(array.ctypes.data)

    def copy_to_host(self, array: Any, out: Any) -> None:
        torch.from_numpy(out).copy_(array)

    def dtype_of(self, array: Any) -> str:
        return str(array.dtype).removeprefix("torch.")

    def device_of(self, array: Any) -> str:
        return str(array.device)

    def effective_threads(self) -> int:
        return torch.get_num_threads()

    def facts(self) -> dict[str, str]:
        precision = str(torch.backends.cuda.matmul.fp32_precision)
        if self.narrow:
            precision = self.precision
        if self.on_host:
            return {"device": "cpu", "precision": precision}
        properties = _properties(self.module, self.device)
        return {
            "device": str(getattr(properties, "name", self.device)),
            "device_uuid": str(getattr(properties, "uuid", "")),
            "driver": _driver(self.device.type),
            "precision": precision,
        }

    def device_memory(self) -> tuple[int, int] | None:
        if self.device.type != "cuda":
            return None
        free, total = torch.cuda.mem_get_info(self.device)
        return free, total

    def cache_bytes(self) -> int | None:
        if self.on_host:
            return super().cache_bytes()
        return getattr(_properties(self.module, self.device), "L2_cache_size", None)

    def reset_peak(self) -> None:
        if self.device.type == "cuda":
            torch.cuda.reset_peak_memory_stats(self.device)

    def device_peak_bytes(self) -> int | None:
        if self.device.type != "cuda":
            return None
        return torch.cuda.max_memory_allocated(self.device)

    def status_of(self, error: BaseException) -> str:
        words = str(error)
        # An out-of-memory error is a RuntimeError as well, so it is asked for first.
        if isinstance(error, torch.OutOfMemoryError) or any(w in words for w in MEMORY_WORDS):
            return OUT_OF_MEMORY
        return super().status_of(error)


def _properties(module: Any, device: torch.device) -> Any:
    """The device's properties where its module offers them (mps does not)."""
    try:
        return module.get_device_properties(device)
    except Exception:  # a missing fact is never fatal
        return None


def _driver(kind: str) -> str:
    """The driver's version as the kernel module tells it."""
    return machine.nvidia_driver() if kind == "cuda" else ""


def _must_have_tf32(device: torch.device) -> None:
    """Raises Unsupported where products of float32 would not be made in TF32 after all."""
    if torch.version.hip:
        raise Unsupported("precision: tf32 is for NVIDIA's cards")
    if (found := torch.cuda.get_device_capability(device)) < OLDEST_TF32:
        words = "precision: tf32 needs compute capability {}.{}, and this card has {}.{}"
        raise Unsupported(words.format(*OLDEST_TF32, *found))
    if (found := torch.backends.cuda.matmul.fp32_precision) != "tf32":
        raise Unsupported(f"precision: tf32 was set, but torch says {found}")
    if os.environ.get("NVIDIA_TF32_OVERRIDE") == "0":
        raise Unsupported("precision: tf32 is switched off here by NVIDIA_TF32_OVERRIDE=0")


def _must_have_compiler(kind: str) -> None:
    """Raises Unavailable where torch.compile could not compile: C++ for the CPU, Triton, and the C
    that it needs itself, for GPUs."""
    from torch._inductor.cpp_builder import get_cpp_compiler
    from torch._inductor.exc import InvalidCxxCompiler
    from torch.utils._triton import has_triton

    words = "torch.compile needs {}, and there is none here"
    if kind == "cpu":
        try:
            get_cpp_compiler()
        except InvalidCxxCompiler as error:
            raise Unavailable(words.format("a C++ compiler such as g++")) from error
    elif kind in ("cuda", "xpu"):
        if not has_triton():
            raise Unavailable(words.format("Triton and a card that it knows"))
        if not (os.environ.get("CC") or any(map(shutil.which, ("gcc", "clang", "cc")))):
            raise Unavailable(words.format("a C compiler such as gcc"))


def _compile_from_scratch() -> None:
    """What torch.compile left on disk is forgotten, so that every process pays for all of it: else
    the first round's first call would be another thing than the second's."""
    from torch._inductor import config

    folder = Path(tempfile.gettempdir()) / f"crossover_compiled_{os.getuid()}"
    shutil.rmtree(folder, ignore_errors=True)
    os.environ["TORCHINDUCTOR_CACHE_DIR"] = str(folder)
    os.environ["TRITON_CACHE_DIR"] = str(folder / "triton")
    config.cpp_cache_precompile_headers = False  # they are kept elsewhere, 150 MB of them
    config.compile_threads = 1  # helpers of its own would still run beside what is measured
