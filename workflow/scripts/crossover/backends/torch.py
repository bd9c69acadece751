"""PyTorch, on whatever device it has a name for: cpu, cuda, cuda:1, mps, xpu.

Written from torch 2.13's source. bfloat16, which NumPy has not, travels as float32: its transfers
include the conversion.
"""

from contextlib import suppress
from typing import Any

import torch

from crossover import machine
from crossover.backends import Host
from crossover.status import OUT_OF_MEMORY, Unavailable, Unsupported, own_words

LIBRARIES = ("torch",)
DEVICES = ("cpu", "cuda", "mps", "xpu")
OPTIONS = ()

# torch says these in plain RuntimeErrors: the CPU allocator, the driver, cuBLAS's workspace.
MEMORY_WORDS = ("out of memory", "can't allocate memory", "not enough memory", "ALLOC_FAILED")

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
        # float32 means float32. The old interface, since torch.compile still reads it; what is in
        # force is read back in facts(), because an environment variable can say otherwise.
        torch.set_float32_matmul_precision("highest")
        if not self.on_host:
            self.module = self._start()

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

    def to_device(self, array: Any, dtype: str) -> Any:
        return torch.from_numpy(array).to(self.device, self.dtype(dtype))

    def to_host(self, array: Any) -> Any:
        if array.dtype == torch.bfloat16:  # NumPy has none
            array = array.float()
        return array.cpu().numpy()

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
