"""CuPy, on an NVIDIA GPU.

Written from CuPy 14's source and manual, and run on a stand-in for its module: no GPU was seen.
Kernels are compiled at their first call in every process: with a cache on disk that time would
depend on the last run. float32 means float32 (no TF32).
"""

import os
from uuid import UUID

os.environ |= {"CUPY_CACHE_IN_MEMORY": "1", "CUPY_TF32": "0"}  # read by the import, or later

import cupy

from crossover import machine
from crossover.backends import Host
from crossover.status import OUT_OF_MEMORY, Unavailable, own_words

# Wheels are named after the CUDA that they were built for; one of them is there.
LIBRARIES = ("cupy-cuda13x", "cupy-cuda12x", "cupy")
DEVICES = ("cuda",)
OPTIONS = ()

MEMORY_WORDS = ("out of memory", "ALLOC_FAILED")
PORTABLE = 1  # cudaHostRegisterPortable: page-locked for every context
MAKERS = ("arange", "asarray", "empty", "eye", "full", "linspace", "ones", "zeros")
MAKERS += ("empty_like", "full_like", "ones_like", "zeros_like")
UUID_BYTES = 16  # fewer come of one that has a zero in it, where CuPy takes its text to end


class Namespace:
    """CuPy's functions. Those that make arrays know no `device`: they use the current one."""

    __name__ = "cupy"

    def __getattr__(self, name):
        found = getattr(cupy, name)
        if name in MAKERS:
            make = found

            def found(*values, device=None, **wanted):
                return make(*values, **wanted)

        setattr(self, name, found)  # so that it is looked for once
        return found


class Events:
    """Two marks in the stream of work; CuPy gives milliseconds."""

    def __init__(self):
        self.marks = [cupy.cuda.Event() for _ in range(2)]

    def start(self):
        self.marks[0].record()

    def stop(self):
        self.marks[1].record()

    def seconds(self):
        return cupy.cuda.get_elapsed_time(*self.marks) / 1e3


class Backend(Host):
    on_host = False
    xp = Namespace()

    def __init__(self, device, threads, options):
        self.device = device
        try:
            self.gpu = cupy.cuda.Device(int(device.partition(":")[2] or 0))
            self.gpu.use()
            (cupy.ones(2, "float32") + 1).get()  # only a real operation proves that it works
        except Exception as error:  # of the runtime, the driver, the compiler
            raise Unavailable(own_words(error)) from error

    def seed(self, seed):
        self.generator = cupy.random.default_rng(seed)

    def to_device(self, array, dtype):
        return cupy.asarray(array)

    def to_host(self, array):
        return cupy.asnumpy(array)

    def synchronize(self):
        self.gpu.synchronize()

    def events(self):
        return Events()

    def pin(self, array):
        cupy.cuda.runtime.hostRegister(array.ctypes.data, array.nbytes, PORTABLE)

    def unpin(self, array):
        cupy.cuda.runtime.hostUnregister(array.ctypes.data)

    def copy_to_host(self, array, out):
        array.get(out=out)

    def device_of(self, array):
        return f"cuda:{array.device.id}"

    def facts(self):
        found = self._properties()
        uuid = found.get("uuid", b"")[:UUID_BYTES]
        return {
            "device": found["name"].decode(),
            "device_uuid": str(UUID(bytes=uuid)) if len(uuid) == UUID_BYTES else "",
            "driver": machine.nvidia_driver(),
            "precision": "ieee",
        }

    def _properties(self):
        return cupy.cuda.runtime.getDeviceProperties(self.gpu.id)

    def device_memory(self):
        """What CuPy itself keeps to use again counts as free."""
        free, total = self.gpu.mem_info
        return free + cupy.get_default_memory_pool().free_bytes(), total

    def cache_bytes(self):
        return self._properties().get("l2CacheSize")

    def status_of(self, error):
        if any(words in str(error) for words in MEMORY_WORDS):
            return OUT_OF_MEMORY
        return super().status_of(error)
