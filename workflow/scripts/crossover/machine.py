"""What a time belongs to, read from the operating system: nothing is imported, nothing is fatal.

A fact that cannot be read is empty or None. The host's name is not part of the machine.
"""

import hashlib
import json
import os
import platform
import re
import resource
from contextlib import suppress
from functools import cache
from pathlib import Path

from crossover import scheduler

PROC = Path("/proc")
CGROUP = Path("/sys/fs/cgroup")
CPUS = Path("/sys/devices/system/cpu")
POWER = Path("/sys/class/power_supply")
UNLIMITED = 1 << 62  # bytes; version 1 of control groups writes a number just below 2**63
CACHES = Path("/sys/devices/system/cpu/cpu0/cache")


def read(path: Path) -> str:
    """A small text file's content, or '' where it cannot be read."""
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""


@cache
def cpu_model() -> str:
    """What the kernel calls the CPU (/proc/cpuinfo); at least its architecture."""
    fields: dict[str, str] = {}
    for line in read(PROC / "cpuinfo").splitlines():
        key, _, value = line.partition(":")
        fields.setdefault(key.strip(), value.strip())
    if name := fields.get("model name"):
        return " ".join(name.split())
    # Arm names neither vendor nor model in words; the numbers identify a part.
    arm = [fields[key] for key in ("CPU implementer", "CPU part") if key in fields]
    return " ".join([platform.machine(), *arm])


def usable_cores() -> int:
    """Cores that this process may use: affinity, a cgroup's quota rounded down, and on a cluster
    what the scheduler gave, which not every one of them enforces."""
    limits = [len(os.sched_getaffinity(0)), cgroup_quota(), scheduler.granted_cores()]
    return max(1, int(min(filter(None, limits))))


def cgroup_quota() -> float | None:
    """Cores' worth of time that the control groups grant; None where unlimited."""
    limits = []
    for folder in cgroup_folders():
        limit, _, period = read(folder / "cpu.max").partition(" ")  # version 2
        if limit.isdigit() and period.isdigit():
            limits.append(int(limit) / int(period))
        limit, period = read(folder / "cpu.cfs_quota_us"), read(folder / "cpu.cfs_period_us")
        if limit.isdigit() and period.isdigit():
            limits.append(int(limit) / int(period))
    return min(limits) if limits else None


@cache
def cgroup_folders() -> tuple[Path, ...]:
    """The folders of this process's control groups and their parents, versions 1 and 2."""
    found: dict[Path, None] = {}
    for line in read(PROC / "self/cgroup").splitlines():
        _, controllers, path = line.split(":", 2)
        root = CGROUP / controllers if controllers else CGROUP
        folder = root / path.lstrip("/")
        for candidate in (folder, *folder.parents):
            if candidate.is_relative_to(CGROUP) and candidate.is_dir():
                found[candidate] = None
    return tuple(found)


@cache
def memory_bytes() -> int:
    """All the memory of the machine, or of the control group where that is less."""
    return min(filter(None, (meminfo_bytes("MemTotal"), cgroup_memory_bytes())), default=UNLIMITED)


def cgroup_memory_bytes() -> int | None:
    """The least that this process's control groups grant; None where unlimited."""
    limits = []
    for folder in cgroup_folders():
        for name in ("memory.max", "memory.limit_in_bytes"):
            if (text := read(folder / name)).isdigit() and int(text) < UNLIMITED:
                limits.append(int(text))
    return min(limits, default=None)


def cache_bytes() -> int | None:
    """The last-level cache that a core sees; None where the kernel does not say."""
    sizes = [read(path) for path in CACHES.glob("index*/size")]
    return max((int(size[:-1]) * 1024 for size in sizes if size[:-1].isdigit()), default=None)


def available_bytes() -> int:
    """Memory that this process can still take: system, control groups and `ulimit -v`."""
    limits = [meminfo_bytes("MemAvailable") or UNLIMITED]
    for folder in cgroup_folders():
        for most, used in (
            ("memory.max", "memory.current"),
            ("memory.limit_in_bytes", "memory.usage_in_bytes"),
        ):
            cap, current = read(folder / most), read(folder / used)
            if cap.isdigit() and current.isdigit():
                # Cached files count as used, but make room when asked.
                limits.append(int(cap) - int(current) + _cached(folder))
    soft, _ = resource.getrlimit(resource.RLIMIT_AS)
    if soft != resource.RLIM_INFINITY:
        limits.append(soft - _status_bytes("VmSize"))
    return max(0, min(limits))


def _cached(folder: Path) -> int:
    for line in read(folder / "memory.stat").splitlines():
        key, _, value = line.partition(" ")
        if key in ("inactive_file", "total_inactive_file"):
            return int(value)
    return 0


def meminfo_bytes(key: str) -> int | None:
    """One line of /proc/meminfo, which counts in KiB, as bytes; None where it is not there."""
    for line in read(PROC / "meminfo").splitlines():
        if line.startswith(f"{key}:"):
            return int(line.split()[1]) * 1024
    return None


def _status_bytes(key: str) -> int:
    for line in read(PROC / "self/status").splitlines():
        if line.startswith(f"{key}:"):
            return int(line.split()[1]) * 1024
    return 0


def resident_bytes() -> int:
    """This process's memory now."""
    return _status_bytes("VmRSS")


def peak_bytes() -> int:
    """The most that `resident_bytes` was since `reset_peak`, or since the start."""
    return _status_bytes("VmHWM")


def reset_peak() -> None:
    """Start counting this process's peak memory anew, where the kernel allows it."""
    # Where it is forbidden, the peak is that of the whole process: more, never less.
    with suppress(OSError):
        (PROC / "self/clear_refs").write_text("5")


def nvidia_driver() -> str:
    """The NVIDIA kernel module's version, '' where there is none."""
    for line in read(PROC / "driver/nvidia/version").splitlines():
        if line.startswith("NVRM"):
            return next((word for word in line.split() if word[:1].isdigit()), "")
    return ""


def accelerators() -> str:
    """The GPUs' models and their driver in one line, '' where the kernel shows none."""
    models = []
    for path in sorted((PROC / "driver/nvidia/gpus").glob("*/information")):
        for line in read(path).splitlines():
            key, _, value = line.partition(":")
            if key.strip() == "Model":
                models.append(value.strip())
    names = [f"{models.count(name)} {name}" for name in sorted(set(models))]
    if driver := nvidia_driver():
        names.append(f"driver {driver}")
    return ", ".join(names)


# Which device is used, and how: with another value it is another machine.
DEVICE_VARIABLES = re.compile(
    r"CUDA_(VISIBLE_DEVICES|DEVICE_ORDER|LAUNCH_BLOCKING)$|.*TF32.*_OVERRIDE$"
)
# What changes speed or precision behind a library's back: recorded. The threads are ours.
SPEED_VARIABLES = re.compile(
    r"(OPENBLAS|OMP|KMP|MKL|NUMBA|NUMEXPR)_(?!(NUM|MAX)_THREADS$)|"
    r"(GOMP|DNNL|ONEDNN|PYTORCH|TORCHDYNAMO|TORCHINDUCTOR|TORCH_COMPILE|TRITON)_|"
    r"(CUBLAS|CUDNN|JAX|XLA|CUPY)_|"
    r"(NPY_DISABLE_CPU_FEATURES|ATEN_CPU_CAPABILITY|CUDA_MODULE_LOADING|GLIBC_TUNABLES|LD_PRELOAD)$|"
    r"MALLOC_|" + DEVICE_VARIABLES.pattern
)


def environment(names: re.Pattern[str] = SPEED_VARIABLES) -> str:
    """The variables of that kind that are set, as 'A=1 B=2'."""
    return " ".join(f"{k}={v}" for k, v in sorted(os.environ.items()) if names.match(k))


def words() -> str:
    """The machine in words: what a time of a host backend belongs to.

    What memory a scheduler gives is as much as the job asked for: no fact about the node.
    """
    memory = (scheduler.in_job() and meminfo_bytes("MemTotal")) or memory_bytes()
    return f"{cpu_model()}, {usable_cores()} cores, {round(memory / 2**30)} GiB"


def identity() -> str:
    """The same as a short hash. A GPU and its driver are columns of their own in every row: they
    are no part of it, or a new driver would part the baseline's times from the GPU's."""
    return hashlib.sha256(words().encode()).hexdigest()[:10]


def conditions() -> str:
    """What may be another next time, as one JSON text: clock governor, boost, mains or battery, the
    highest clock in MHz, the load of the last minute. Only what can be read."""
    clocks = _by_core("cpufreq/scaling_cur_freq")
    load = read(PROC / "loadavg").partition(" ")[0]
    found = {
        "governor": _of_cores("cpufreq/scaling_governor"),
        "preference": _of_cores("cpufreq/energy_performance_preference"),
        "boost": _boost(),
        "power": _power(),
        "mhz": max((int(khz) // 1000 for khz in clocks if khz.isdigit()), default=""),
        "load": float(load) if load else "",
    }
    return json.dumps({name: value for name, value in found.items() if value != ""})


def _by_core(name: str) -> list[str]:
    """A file of each usable core, those that there are."""
    cores = sorted(os.sched_getaffinity(0))
    return [text for core in cores if (text := read(CPUS / f"cpu{core}" / name))]


def _of_cores(name: str) -> str:
    """The usable cores' value, or all of them where they differ."""
    return " + ".join(dict.fromkeys(_by_core(name)))


def _boost() -> str:
    """on or off. acpi-cpufreq and amd-pstate say whether it is on, intel_pstate whether not."""
    for file, on in ((CPUS / "cpufreq/boost", "1"), (CPUS / "intel_pstate/no_turbo", "0")):
        if text := read(file):
            return "on" if text == on else "off"
    return ""


def _power() -> str:
    """mains or battery; a machine that has neither in its list does not say."""
    supplies = [(read(path / "type"), read(path / "online")) for path in POWER.glob("*")]
    if any(kind in ("Mains", "USB") and online == "1" for kind, online in supplies):
        return "mains"
    return "battery" if any(kind == "Battery" for kind, _ in supplies) else ""


def boot() -> str:
    """A name for the time since the machine was started."""
    return read(PROC / "sys/kernel/random/boot_id")
