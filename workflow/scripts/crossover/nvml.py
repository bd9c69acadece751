"""Asking NVIDIA's driver about one GPU, through nvidia-ml-py where the user has installed that.

Nothing is fatal, and nothing is imported for a device without a uuid. A GPU is found by its uuid,
never by its number: NVML counts by bus, CUDA by speed and by CUDA_VISIBLE_DEVICES. Written from the
documentation of NVML and the source of nvidia-ml-py 13, and run with a fake of it only, on no GPU.
"""

import os
from collections.abc import Iterable
from functools import cache
from typing import Any

# Bits of nvmlDeviceGetCurrentClocksEventReasons: hardware slowdown, software and hardware thermal
# slowdown, power brake. The others: idle 1, a clock that was set 2, power cap 4, sync boost 0x10.
HELD_BACK = 0x08 | 0x20 | 0x40 | 0x80
SM, MEMORY = 1, 2  # NVML_CLOCK_SM, NVML_CLOCK_MEM


def signals(uuid: str, since_s: float) -> dict[str, float]:
    """What is now, or was since a moment (seconds since 1970): gpu_reasons (bits), gpu_others (per
    cent of the GPU's time), gpu_clock_mhz; only what can be read."""
    found_at = device(uuid)
    if found_at is None:
        return {}
    gpu = whole(found_at)
    samples = ask("nvmlDeviceGetProcessUtilization", found_at, int(since_s * 1e6))
    found = {
        "gpu_reasons": ask("nvmlDeviceGetCurrentClocksEventReasons", gpu),
        "gpu_others": None if samples is None else _others(samples, since_s),
        "gpu_clock_mhz": ask("nvmlDeviceGetClockInfo", gpu, SM),
    }
    return {name: value for name, value in found.items() if value is not None}


def energy_j(uuid: str) -> float | None:
    """Joules that a GPU has used since some moment, idle or not; None where that is not known
    (before Volta), and of a MIG slice or a GPU that has such, since the counter is the whole's."""
    found_at = device(uuid)
    if found_at is None or whole(found_at) is not found_at:
        return None
    now, *_ = ask("nvmlDeviceGetMigMode", found_at) or [0]
    if now:
        return None
    millijoules = ask("nvmlDeviceGetTotalEnergyConsumption", found_at)
    return None if millijoules is None else millijoules / 1e3


def _others(samples: Iterable[Any], since_s: float) -> int:
    """Per cent used by processes but us. In a container NVML tells the host's process ids: where
    ours is not among them, the busiest is taken for us, since we kept the GPU busy."""
    used: dict[int, int] = {}
    for sample in samples:
        if sample.timeStamp >= since_s * 1e6:
            used[sample.pid] = max(used.get(sample.pid, 0), sample.smUtil)
    ours = used.get(os.getpid(), max(used.values(), default=0))
    return sum(used.values()) - ours


@cache
def device(uuid: str) -> Any:
    """NVML's handle of a GPU or of a MIG slice, None where it cannot be had. The first time starts
    NVML, which takes a while."""
    handles = (ask("nvmlDeviceGetHandleByUUID", name) for name in names(uuid))
    return next((handle for handle in handles if handle is not None), None)


def names(uuid: str) -> list[str]:
    """How the driver may call a uuid: CUDA tells it without the kind. CUDA shows a process one MIG
    slice at most, the one that CUDA_VISIBLE_DEVICES names."""
    if not uuid:
        return []
    visible = os.environ.get("CUDA_VISIBLE_DEVICES", "")
    slices = [visible] if visible.startswith("MIG-") and "," not in visible else []
    bare = uuid.removeprefix("GPU-").removeprefix("MIG-")
    return [*slices, f"GPU-{bare}", f"MIG-{bare}"]


def whole(handle: Any) -> Any:
    """The GPU that a MIG slice is a part of, or the GPU itself."""
    is_slice = ask("nvmlDeviceIsMigDeviceHandle", handle)
    if getattr(is_slice, "value", is_slice):  # nvidia-ml-py gives a ctypes number
        return ask("nvmlDeviceGetDeviceHandleFromMigDeviceHandle", handle)
    return handle


def ask(name: str, *arguments: Any) -> Any:
    """One answer of NVML, None where this GPU, driver or version has none."""
    try:
        answer = getattr(_library(), name)(*arguments)
    except Exception:  # each way to be missing has an exception of its own
        return None
    return answer.decode() if isinstance(answer, bytes) else answer


@cache
def _library() -> Any:
    """The module pynvml, started; None where it or the driver is missing."""
    try:
        import pynvml

        pynvml.nvmlInit()
    except Exception:
        return None
    return pynvml
