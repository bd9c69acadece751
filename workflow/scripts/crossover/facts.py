"""What the machine and the library are, for whoever reads the results: written by the probe.

Nothing is measured by these and no job depends on them. A fact that cannot be read is left out.
"""

import os
import platform
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from crossover import gpu, machine
from crossover.machine import CPUS, read

MEMORY_PAGES = Path("/sys/kernel/mm/transparent_hugepage/enabled")
DMI = Path("/sys/class/dmi/id")
ROOT = Path("/")
POOL = ("user_api", "internal_api", "version", "threading_layer", "architecture", "num_threads")


def of_machine() -> dict[str, Any]:
    """Processor, memory, control groups, system, variables that change speed, and GPUs, by name."""
    return _tried(
        cpu=_cpu,
        memory=_memory,
        control_groups=_groups,
        system=_system,
        environment=machine.environment,
        gpus=machine.accelerators,
    )


def of_process(backend: Any, device_uuid: str) -> dict[str, Any]:
    """What only the process knows that has imported the library: its pools of threads (BLAS and
    OpenMP, with version and layer) and, where it computes on one, the GPU."""
    return _tried(
        library_version=lambda: str(backend.xp.__version__),
        thread_pools=_pools,
        gpu=lambda: gpu.facts("" if backend.on_host else device_uuid),
    )


def _tried(**getters: Callable[[], Any]) -> dict[str, Any]:
    """What can be found out; a fact is no reason to lose a backend."""
    found = {}
    for name, get in getters.items():
        with suppress(Exception):
            found[name] = get()
    return _known(found)


def _known(found: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in found.items() if value not in (None, "", {}, [])}


def _cpu() -> dict[str, Any]:
    khz = read(CPUS / "cpu0/cpufreq/cpuinfo_max_freq")
    return _known(
        {
            "model": machine.cpu_model(),
            "architecture": platform.machine(),
            "usable_cores": machine.usable_cores(),
            "total_cores": os.cpu_count(),
            "threads_per_core": {"1": 2, "0": 1}.get(read(CPUS / "smt/active")),
            "numa_nodes": len(list((CPUS.parent / "node").glob("node[0-9]*"))) or None,
            "most_mhz": int(khz) // 1000 if khz.isdigit() else None,
            "frequency_driver": read(CPUS / "cpu0/cpufreq/scaling_driver"),
        }
    )


def _memory() -> dict[str, Any]:
    pages = re.search(r"\[(\w+)\]", read(MEMORY_PAGES))
    return _known(
        {
            "usable_bytes": machine.memory_bytes(),
            "total_bytes": machine.meminfo_bytes("MemTotal"),
            "swap_bytes": machine.meminfo_bytes("SwapTotal"),
            "transparent_huge_pages": pages and pages[1],
        }
    )


def _groups() -> dict[str, Any]:
    return _known(
        {"cpu_quota_cores": machine.cgroup_quota(), "memory_bytes": machine.cgroup_memory_bytes()}
    )


def _system() -> dict[str, Any]:
    release = {}
    with suppress(OSError):
        release = platform.freedesktop_os_release()
    return _known(
        {
            "os": release.get("PRETTY_NAME"),
            "kernel": platform.release(),
            "c_library": " ".join(platform.libc_ver()).strip(),
            "wsl": "microsoft" in platform.release().lower() or None,
            "container": _container(),
            "virtual_machine": _virtual_machine(),
        }
    )


def _container() -> str:
    """The kind of container, as far as its makers leave a mark."""
    for file, kind in ((".dockerenv", "docker"), ("run/.containerenv", "podman")):
        if (ROOT / file).exists():
            return kind
    for variable in ("KUBERNETES_SERVICE_HOST", "APPTAINER_NAME", "SINGULARITY_NAME"):
        if os.environ.get(variable):
            return variable.partition("_")[0].lower()
    return os.environ.get("container", "")  # noqa: SIM112, systemd's own spelling


def _virtual_machine() -> str | None:
    """The maker of a virtual machine, 'yes' where it does not say, None on real hardware."""
    flags = next((x for x in read(machine.PROC / "cpuinfo").splitlines() if x[:5] == "flags"), "")
    if "hypervisor" not in flags.split():
        return None
    return read(DMI / "sys_vendor") or "yes"


def _pools() -> list[dict[str, Any]]:
    """As threadpoolctl tells them, without the paths of the files."""
    from threadpoolctl import threadpool_info

    found = []
    for pool in threadpool_info():
        known = _known({name: pool.get(name) for name in POOL})
        found.append(known | {"file": Path(pool["filepath"]).name})
    return found
