"""A new machine's first minute: what was found, and what to do where it is not as it should be.

Facts in, lines out: nothing is read or run here (checkup.py does that), so that every kind of
machine can be tried without having it. What is not known has no line. A line is marked

- `ok`: as it should be;
- `look`: a sweep runs, but is slower, less certain or less complete than it could be;
- `stop`: a sweep cannot be made or can give no speedup: its folder cannot be written or its disk is
  full, a package that it needs is missing, or the baseline does not work.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from crossover.doctor_gpu import Gpu, cure, gpu_lines
from crossover.doctor_lines import LOOK, OK, STOP, Line, gib
from crossover.slowing import SLOWING
from crossover.status import TIMEOUT
from crossover.turn import LOCK

LEAST_FREE = 10_000_000  # bytes of disk: Snakemake's own files and some dozen cells
BUSY_CORES = 0.5  # by others: less is what a desktop does by itself
PRESSURE_SHARE = 0.1  # of the time; the bound of interference.disturbed
OPTIONAL = ("torch",)  # its backends say themselves that it is missing
NOT_SAID = "its file does not say what it needs, so memory and disk are not foreseen for it"
NOT_TRIED = "not tried, since a sweep is measuring on this machine"
INSTALL = "'.venv/bin/pip install -r requirements.txt' installs what is needed"
# Where the clock rises with the load under the governor "powersave": they have no other slow one.
OWN_GOVERNOR = ("intel_pstate", "amd-pstate-epp", "amd_pstate_epp")
SAVING = ("power", "balance_power")
FULL_SPEED = "'sudo cpupower frequency-set -g performance' gives it full speed until the next start"
POOLS = {"openblas": "OpenBLAS", "mkl": "MKL", "blis": "BLIS", "flexiblas": "FlexiBLAS"}


@dataclass(frozen=True)
class Need:
    """Bytes that a cell needs on the host and on a device, where it has one."""

    words: str
    host_bytes: int
    device_bytes: int = 0


@dataclass(frozen=True)
class Facts:
    """What checkup.py found. `machine` is facts.of_machine(), `conditions` machine.conditions(),
    `probes` what each backend's probe wrote. What is not known is None or empty."""

    machine: Mapping[str, Any] = field(default_factory=dict)
    conditions: Mapping[str, Any] = field(default_factory=dict)
    python: str = ""
    packages: Mapping[str, tuple[str, str]] = field(default_factory=dict)  # that do not fit
    packages_checked: int = 0
    allowed_cores: int | None = None  # by affinity
    busy_cores: float | None = None
    pressure: float = 0.0  # share of the time that some task waited for a core
    available_bytes: int | None = None
    address_limit_bytes: int | None = None  # ulimit -v
    needs: Sequence[Need] = ()
    no_cost: Mapping[str, str] = field(default_factory=dict)  # workloads, and why
    settings: Mapping[str, str] = field(default_factory=dict)
    folder: str = ""
    cannot_write: str = ""
    free_bytes: int | None = None
    kept_bytes: float = 0
    gpu: Gpu = field(default_factory=Gpu)
    on_gpu: Sequence[str] = ()  # names of backends
    probes: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    baseline: str = ""
    cell_command: str = "make cell"  # that measures something, but for the backend's name


def lines(facts: Facts) -> list[Line]:
    """All of them, in the order in which they are read."""
    return machine_lines(facts) + backend_lines(facts)


def machine_lines(facts: Facts) -> list[Line]:
    """What is known before a library is tried."""
    parts = (
        *(_system(facts), _python(facts), _packages(facts), _cpu(facts), _cores(facts)),
        *(_clock(facts), _power(facts), _load(facts), _memory(facts), _pages(facts)),
    )
    found = [line for line in parts if line]
    return found + _workloads(facts) + _settings(facts) + _disk(facts)


def backend_lines(facts: Facts) -> list[Line]:
    """The GPU, and each backend of the config."""
    probes = {name: facts.probes[name] for name in facts.on_gpu if name in facts.probes}
    tried = {name: probe for name, probe in probes.items() if probe.get("status") != NOT_TRIED}
    most = max(facts.needs, key=lambda need: need.device_bytes, default=Need("", 0))
    needs = (most.words, most.device_bytes)
    found = gpu_lines(facts.gpu, tried, bool(facts.on_gpu), needs, facts.cell_command)
    return found + [_backend(name, probe, facts) for name, probe in facts.probes.items()]


def closing_words(found: Sequence[Line], config: str = "") -> str:
    """What it comes to; `config` is what a make target needs to mean this config."""
    stops, looks = (sum(line.mark == mark for line in found) for mark in (STOP, LOOK))
    if stops:
        return f"'make sweep{config}' can give no answer here: see what is marked stop"
    words = f"'make sweep{config}' can start"
    return f"{words}; {looks} to look at" if looks else words


def _system(facts: Facts) -> Line | None:
    system = facts.machine.get("system", {})
    words = [system.get("os", ""), f"Linux {system['kernel']}" if "kernel" in system else ""]
    if system.get("wsl"):
        words.append("inside Windows (WSL)")
    if kind := system.get("container"):
        words.append("in a container" if kind == "container" else f"in a container ({kind})")
    if maker := system.get("virtual_machine"):
        words.append("in a virtual machine" + ("" if maker == "yes" else f" ({maker})"))
    found = ", ".join(filter(None, words))
    return Line(OK, "system", found) if found else None


def _python(facts: Facts) -> Line | None:
    return Line(OK, "Python", facts.python) if facts.python else None


def _packages(facts: Facts) -> Line | None:
    if not facts.packages:
        count = facts.packages_checked
        return Line(OK, "packages", f"all {count} of requirements.txt fit") if count else None
    missing = [name for name, (version, _) in facts.packages.items() if not version]
    words = [
        f"{name} {version} (wanted: {bounds})" if version else f"{name} is missing"
        for name, (version, bounds) in facts.packages.items()
    ]
    mark = STOP if any(name not in OPTIONAL for name in missing) else LOOK
    return Line(mark, "packages", ", ".join(words), INSTALL)


def _cpu(facts: Facts) -> Line | None:
    cpu = facts.machine.get("cpu", {})
    if not cpu.get("model"):
        return None
    most = f", at most {cpu['most_mhz']:,} MHz" if "most_mhz" in cpu else ""
    return Line(OK, "CPU", cpu["model"] + most)


def _cores(facts: Facts) -> Line | None:
    cpu = facts.machine.get("cpu", {})
    usable, total = cpu.get("usable_cores"), cpu.get("total_cores")
    if not usable:
        return None
    found = f"{usable} usable" + (f" of {total}" if total else "")
    if cpu.get("threads_per_core", 1) > 1:
        found += f", {cpu['threads_per_core']} of them in each real core"
    if cpu.get("numa_nodes", 1) > 1:
        found += f", {cpu['numa_nodes']} memory nodes (NUMA)"
    quota = facts.machine.get("control_groups", {}).get("cpu_quota_cores")
    if quota is not None and quota < (facts.allowed_cores or total or usable):
        advice = "a container or job has no more: ask for more (docker --cpus, Slurm "
        advice += "--cpus-per-task), or read every speedup as one over these cores"
        return Line(LOOK, "cores", f"{found}; a quota allows {quota:g} cores' time", advice)
    if total and usable < total:
        advice = "start it without taskset, ask the job for more (docker --cpuset-cpus, Slurm "
        advice += "--cpus-per-task), or read every speedup as one over these cores"
        return Line(LOOK, "cores", f"{found}; this process may not run on the others", advice)
    return Line(OK, "cores", found)


def _clock(facts: Facts) -> Line | None:
    known, driver = facts.conditions, facts.machine.get("cpu", {}).get("frequency_driver", "")
    governors = known.get("governor", "").split(" + ")
    preferences = known.get("preference", "").split(" + ")
    found = " + ".join(filter(None, governors))
    if preference := known.get("preference"):
        found += f" ({preference})"
    found = ", ".join(filter(None, [found, f"boost {known['boost']}" if "boost" in known else ""]))
    if not found:
        return None
    saving = "powersave" in governors and (
        driver not in OWN_GOVERNOR or any(preference in SAVING for preference in preferences)
    )
    if saving or "userspace" in governors:
        return Line(LOOK, "clock", f"{found}: the CPU is kept slow", FULL_SPEED)
    if known.get("boost") == "off":
        on, file = ("0", "intel_pstate/no_turbo") if "intel" in driver else ("1", "cpufreq/boost")
        advice = f"steady, but slower than the CPU can: 'echo {on} | sudo tee "
        return Line(LOOK, "clock", found, f"{advice}/sys/devices/system/cpu/{file}' switches it on")
    return Line(OK, "clock", found)


def _power(facts: Facts) -> Line | None:
    power = facts.conditions.get("power")
    if power == "battery":
        advice = "plug it in: on battery CPU and GPU are kept slow"
        return Line(LOOK, "power", "on battery", advice)
    return Line(OK, "power", f"on {power}") if power else None


def _load(facts: Facts) -> Line | None:
    busy, pressure, load = facts.busy_cores, facts.pressure, facts.conditions.get("load")
    cpu = facts.machine.get("cpu", {})
    words = []
    if busy is not None:
        words.append(f"others keep {busy:.1f} cores busy")
    if pressure >= 0.01:
        words.append(f"somebody waits for a core {pressure:.0%} of the time")
    if load is not None:
        words.append(f"load {load:g} over the last minute")
    if not words:
        return None
    taken = (load or 0) if busy is None else busy
    left = (facts.allowed_cores or cpu.get("total_cores") or 0) - taken
    crowded = taken > BUSY_CORES and left < cpu.get("usable_cores", 0) - BUSY_CORES
    if crowded or pressure > PRESSURE_SHARE:
        advice = "wait until they are done ('top' shows who): what is disturbed is measured twice, "
        return Line(LOOK, "load", ", ".join(words), f"{advice}and then graded disturbed")
    return Line(OK, "load", ", ".join(words))


def _memory(facts: Facts) -> Line | None:
    memory, free = facts.machine.get("memory", {}), facts.available_bytes
    usable, total = memory.get("usable_bytes"), memory.get("total_bytes")
    words = [f"{gib(free)} free"] if free is not None else []
    if usable:
        words.append(f"{gib(usable)} usable")
    if usable and total and usable < total:
        words.append(f"{gib(total)} in the machine (a control group has less)")
    if facts.address_limit_bytes is not None:
        words.append(f"'ulimit -v' allows {gib(facts.address_limit_bytes)}")
    if not words:
        return None
    too_big = [need for need in facts.needs if free is not None and need.host_bytes > free]
    most = max(facts.needs, key=lambda need: need.host_bytes, default=None)
    if most:
        words.append(f"the largest cell needs {gib(most.host_bytes)} ({most.words})")
    found = ", ".join(words)
    if too_big and most:
        ever = min(usable or most.host_bytes, facts.address_limit_bytes or most.host_bytes)
        advice = "close other programs, or leave" if most.host_bytes <= ever else "leave"
        advice += f" {len(too_big)} of the config's sizes out; such cells end as out_of_memory"
        return Line(LOOK, "memory", found, f"{advice}, and the others are measured all the same")
    if facts.address_limit_bytes is not None and facts.on_gpu and facts.gpu.driver:
        advice = "CUDA reserves far more addresses than it uses: 'ulimit -v unlimited' first"
        return Line(LOOK, "memory", found, advice)
    return Line(OK, "memory", found)


def _pages(facts: Facts) -> Line | None:
    pages = facts.machine.get("memory", {}).get("transparent_huge_pages")
    if pages == "never":
        advice = "new large arrays can take longer: 'echo madvise | sudo tee "
        advice += "/sys/kernel/mm/transparent_hugepage/enabled' (not inside a container)"
        return Line(LOOK, "huge pages", "never", advice)
    return Line(OK, "huge pages", pages) if pages else None


def _workloads(facts: Facts) -> list[Line]:
    repair = "every cell of it will fail like this: repair its file"
    say = "a function cost(size, itemsize) in its file would tell"
    return [
        Line(LOOK, "workload", f"{name}: {why}", say if why == NOT_SAID else repair)
        for name, why in facts.no_cost.items()
    ]


def _settings(facts: Facts) -> list[Line]:
    found = [
        Line(LOOK, "environment", f"{name}={value}: {SLOWING[name]}", f"'unset {name}' first")
        for name, value in facts.settings.items()
    ]
    return found or [Line(OK, "environment", "no variable that is known to slow a library down")]


def _disk(facts: Facts) -> list[Line]:
    if facts.cannot_write:
        advice = "start it in a folder of your own, with 'snakemake -s .../Snakefile'"
        return [Line(STOP, "disk", facts.cannot_write, advice)]
    if facts.free_bytes is None:
        return []
    found = f"{_bytes(facts.free_bytes)} free in {facts.folder}, "
    found += f"this config keeps at most {_bytes(facts.kept_bytes)}"
    if facts.free_bytes < LEAST_FREE:
        advice = f"a sweep needs {_bytes(LEAST_FREE)} at least: make room"
        return [Line(STOP, "disk", found, advice)]
    if facts.free_bytes < facts.kept_bytes:
        advice = "make room, or lower arrays: {keep_mb: ...} in the config"
        return [Line(LOOK, "disk", found, advice)]
    return [Line(OK, "disk", found)]


def _bytes(count: float) -> str:
    return f"{count / 1e9:,.0f} GB" if count >= 1e9 else f"{count / 1e6:,.0f} MB"


def _backend(name: str, probe: Mapping[str, Any], facts: Facts) -> Line:
    """Whether one backend works, with its library, threads and BLAS."""
    if probe.get("status") == NOT_TRIED:
        return Line(LOOK, name, NOT_TRIED, "look again when it is done")
    library = f"{probe.get('library', '')} {probe.get('version', '')}".strip()
    if not probe.get("available"):
        status, reason = probe.get("status", "unavailable"), probe.get("reason", "")
        found = f"{status}: {reason}" if reason else status
        mark = STOP if name == facts.baseline else LOOK
        advice = _cure(name, probe, facts)
        if mark == STOP:
            advice = f"it is the baseline, and no speedup can be told without it; {advice}"
        return Line(mark, name, f"{found} ({library})" if library else found, advice)
    words = [f"works: {library}" if library else "works"]
    granted, effective = probe.get("threads_granted"), probe.get("threads_effective")
    on_host = name not in facts.on_gpu
    if on_host and effective:
        words.append(f"{effective} thread" + "s" * (effective != 1))
    # NumPy is there in every probe: of another library, what is found may be NumPy's BLAS.
    pools = probe.get("machine_facts", {}).get("thread_pools", [])
    if probe.get("library") == "numpy":
        words += dict.fromkeys(_pool(pool) for pool in pools if pool.get("user_api") == "blas")
    found = ", ".join(filter(None, words))
    if on_host and granted and effective and effective < granted:
        advice = f"{granted} were asked for; its times are graded few_threads: is its BLAS built "
        return Line(LOOK, name, found, f"{advice}without threads, or OMP_THREAD_LIMIT set?")
    return Line(OK, name, found)


def _pool(pool: Mapping[str, Any]) -> str:
    name = str(pool.get("internal_api", ""))
    words = [POOLS.get(name, name), str(pool.get("version", ""))]
    kernels = pool.get("architecture")
    return " ".join(filter(None, words)) + (f" ({kernels} kernels)" if kernels else "")


def _cure(name: str, probe: Mapping[str, Any], facts: Facts) -> str:
    reason = str(probe.get("reason", ""))
    if "No module named" in reason:
        return INSTALL if probe.get("library") in ("numpy", "torch") else "install that module"
    if str(LOCK) in reason:
        return f"sweeps take turns by that file: make {LOCK.parent} writable"
    if probe.get("status") == TIMEOUT:
        return "try again: from a slow disk the first start takes long"
    more = f"'{facts.cell_command} BACKEND={name}' shows the whole message"
    if name not in facts.on_gpu:
        return more
    if any(facts.probes.get(other, {}).get("available") for other in facts.on_gpu):
        return cure(reason) or more
    return "see GPU above; its cells will say the same, and the other backends are measured"
