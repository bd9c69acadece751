"""What the doctor looks at, gathered: this machine, this config, and each backend tried for real.

Nothing is fatal, and nothing takes longer than its limit: a library that is broken, or hangs, is
tried in a process of its own, exactly as a sweep does. Nothing is written but temporary files.
"""

import fcntl
import json
import os
import platform
import re
import resource
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from importlib import metadata, util
from pathlib import Path
from typing import Any, TypeVar

from crossover import facts, gpu, identity, interference, job, machine, plugin, record, turn, work
from crossover.cells import RESULTS, itemsize
from crossover.config import Config
from crossover.doctor import NOT_SAID, NOT_TRIED, Facts, Need
from crossover.doctor_gpu import Card, Gpu
from crossover.slowing import OFF, SLOWING
from crossover.status import ERROR, one_line
from crossover.workloads import host_dtype

REQUIREMENTS = plugin.PACKAGE.parents[2] / "requirements.txt"
DEVICES, PCI = Path("/dev"), Path("/sys/bus/pci/devices")
MAKERS = {"0x10de": "NVIDIA", "0x1002": "AMD"}
DISPLAY = ("0x0300", "0x0302", "0x0380")  # PCI classes of cards that draw, or only compute
LOOK_S = 0.3  # how long the others are watched
SMI_S, PROBE_S, TURN_S = 10.0, 30.0, 5.0  # the most that each may take
SMI = (
    *("name", "driver_version", "memory.total", "memory.free"),
    *("utilization.gpu", "mig.mode.current"),
)
T = TypeVar("T")


def of_machine(config: Config, config_words: str) -> Facts:
    """All but the backends; `config_words` is what a make target needs to mean this config."""
    found = facts.of_machine()
    unseen: tuple[float | None, float] = (None, 0.0)
    busy, pressure = _or(_others, unseen)
    needs, no_cost, kept = _cells(config)
    folder = (RESULTS if RESULTS.is_dir() else Path()).absolute()
    unchecked: tuple[dict[str, tuple[str, str]], int] = ({}, 0)
    packages, checked = _or(_packages, unchecked)
    limit, _ = resource.getrlimit(resource.RLIMIT_AS)
    return Facts(
        machine=found,
        conditions=_or(lambda: json.loads(machine.conditions()), {}),
        python=f"{platform.python_version()} in {sys.prefix}",
        packages=packages,
        packages_checked=checked,
        allowed_cores=len(os.sched_getaffinity(0)),
        busy_cores=busy,
        pressure=pressure,
        available_bytes=_or(machine.available_bytes, None),
        address_limit_bytes=None if limit == resource.RLIM_INFINITY else limit,
        needs=needs,
        no_cost=no_cost,
        settings={
            name: os.environ[name]
            for name in SLOWING
            if os.environ.get(name, "").lower() not in OFF
        },
        folder=str(folder),
        cannot_write=_cannot_write(folder),
        free_bytes=_free_bytes(folder),
        kept_bytes=kept,
        gpu=_or(lambda: _gpu(found.get("system", {})), Gpu()),
        on_gpu=[b.name for b in config.backends.values() if b.device.partition(":")[0] == "cuda"],
        baseline=config.baseline,
        cell_command=f"make cell{config_words} WORKLOAD={next(iter(config.workloads))} SIZE=1000",
    )


def _or(get: Callable[[], T], otherwise: T) -> T:
    """What can be found out; a fact is no reason to end."""
    try:
        return get()
    except Exception:
        return otherwise


def with_backends(found: Facts, config: Config) -> Facts:
    """The same, and what each backend's probe says; one at a time, as the sweep's are."""
    return replace(found, probes={name: _probe(config, name) for name in config.backends})


def _probe(config: Config, name: str) -> Mapping[str, Any]:
    if not _turn_comes():
        return {"available": False, "status": NOT_TRIED}
    limit_s = min(PROBE_S, config.timeout_s)
    try:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "probe.json"
            task = identity.task(config, config.backends[name]) | {"json": str(path)}
            job.probe(task, limit_s, path.with_name("log"))
            return record.read_json(path)
    except SystemExit as error:  # a file that cannot be written; Ctrl-C is none of that
        if error.code == "interrupted":
            raise
        return {"available": False, "status": ERROR, "reason": str(error.code)}
    except (OSError, record.Damaged) as error:
        return {"available": False, "status": ERROR, "reason": one_line(error)}


def _turn_comes() -> bool:
    """Is nobody measuring, or soon done? Without this a probe would wait for as long as they do."""
    end = time.monotonic() + TURN_S
    try:
        lock = os.open(turn.LOCK, os.O_RDONLY)
    except OSError:
        return True  # the probe makes it, or says why it cannot
    try:
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return True
            except OSError:
                if time.monotonic() > end:
                    return False
                time.sleep(0.02)
    finally:
        os.close(lock)


def _others() -> tuple[float | None, float]:
    """How many of our cores others keep busy, and the share of time that some task waited for one,
    while this process sleeps."""
    before, counters = _busy_s(), interference.Counters.now()
    time.sleep(LOOK_S)
    after = _busy_s()
    waited = interference.Counters.now().since(counters)
    cores = None
    if before and after.keys() == before.keys():
        cores = sum(after[core] - before[core] for core in before) / waited["timed_s"]
    return cores, waited["pressure_s"] / waited["timed_s"]


def _busy_s() -> dict[str, float]:
    """Seconds that each of our cores was not idle: all but idle and waiting for a disk."""
    ours = {f"cpu{core}" for core in os.sched_getaffinity(0)}
    rows = (line.split() for line in machine.read(machine.PROC / "stat").splitlines())
    return {
        row[0]: sum(map(int, (*row[1:4], *row[6:9]))) * interference.TICK_S
        for row in rows
        if row and row[0] in ours and len(row) > 8
    }


def _cells(config: Config) -> tuple[list[Need], dict[str, str], float]:
    """What the cells need, workloads that cannot say it, and the most bytes that are kept."""
    on_device = any(backend.device != "cpu" for backend in config.backends.values())
    on_host = any(backend.device == "cpu" for backend in config.backends.values())
    needs, no_cost, kept = [], {}, 0.0
    for workload in config.workloads.values():
        try:
            in_place = bool(plugin.declared(workload.file).get("IN_PLACE"))
            for dtype in workload.dtypes:
                for size in workload.sizes_in(dtype):
                    item = itemsize(host_dtype(dtype))
                    cost = work.estimate(workload.file, size, dtype, item)
                    if cost is None:
                        no_cost[workload.name] = NOT_SAID
                        continue
                    results = cost.temporary_bytes + (0 if in_place else cost.output_bytes)
                    whole = int(cost.input_bytes + results)
                    moved = int(cost.input_bytes + cost.output_bytes)
                    host = max(whole * on_host, moved * on_device)
                    words = f"{workload.name} {dtype}, n={size:,}"
                    needs.append(Need(words, host, whole * on_device))
                    rounds = range(1, config.rounds + 1)
                    one = sum(config.kept_bytes(cost.output_bytes, number) for number in rounds)
                    kept += one * len(config.backends)
        except (Exception, SystemExit) as error:  # a user's own file can do anything
            no_cost[workload.name] = one_line(error)
    drawn = len(config.pictures()) * config.rounds * config.kept_bytes(0, 1)
    return needs, no_cost, kept + drawn


def _packages() -> tuple[dict[str, tuple[str, str]], int]:
    """The packages of requirements.txt that are missing or of another version: the version that is
    there and the bounds; and how many were looked at."""
    try:
        from packaging.requirements import Requirement
    except ImportError:  # it comes with Snakemake, so that is missing as well
        return {"snakemake": ("", "")}, 0
    wrong, checked = {}, 0
    for line in machine.read(REQUIREMENTS).splitlines():
        words = line.partition("#")[0].strip()
        if not words or words.startswith("-"):
            continue
        wanted, checked = Requirement(words), checked + 1
        version = job.installed(wanted.name)
        if not version or not wanted.specifier.contains(version, prereleases=True):
            wrong[wanted.name] = (version, str(wanted.specifier))
    return wrong, checked


def _cannot_write(folder: Path) -> str:
    here = Path.cwd()
    for place in dict.fromkeys((here, folder)):
        if not os.access(place, os.W_OK):
            return f"{place} cannot be written, and results go there"
    return ""


def _free_bytes(folder: Path) -> int | None:
    with suppress(OSError):
        return shutil.disk_usage(folder).free
    return None


def _gpu(system: Mapping[str, Any]) -> Gpu:
    cards, driver, problem, slices = _smi()
    on_bus = _on_bus()
    control = DEVICES / "nvidiactl"
    version, build = _torch()
    kernel = machine.nvidia_driver()
    return Gpu(
        loaded=machine.accelerators().partition("driver ")[0].rstrip(", "),
        driver=kernel or driver,
        on_bus=tuple(dict.fromkeys(maker for maker, _ in on_bus)),
        nouveau=("NVIDIA", "nouveau") in on_bus,
        openable=os.access(control, os.R_OK | os.W_OK) if kernel else None,
        smi_says=problem,
        cards=cards,
        slices=slices,
        visible=os.environ.get("CUDA_VISIBLE_DEVICES"),
        torch=version,
        build=build,
        watched=util.find_spec("pynvml") is not None,
        wsl=bool(system.get("wsl")),
        wsl_gpu=(DEVICES / "dxg").exists(),
        container=bool(system.get("container")),
    )


def _smi() -> tuple[tuple[Card, ...], str, str, int]:
    """What nvidia-smi lists, the driver, what it says against itself, and the slices of MIG."""
    query = (f"--query-gpu={','.join(SMI)}", "--format=csv,noheader,nounits")
    table, problem = gpu.ask_program(*query, timeout_s=SMI_S)
    cards, driver, slices = [], "", 0
    for line in table.splitlines() if not problem else ():
        values = [value.strip() for value in line.split(",")]
        if len(values) != len(SMI):
            continue
        name, driver, total, free, busy, mig = values
        total_mib, free_mib = gpu.number(total), gpu.number(free)
        cards.append(
            Card(
                name,
                None if total_mib is None else int(total_mib * 2**20),
                None if free_mib is None else int(free_mib * 2**20),
                gpu.number(busy),
                mig == "Enabled",
            )
        )
    if any(card.mig for card in cards):
        listed, _ = gpu.ask_program("-L", timeout_s=SMI_S)
        slices = len(re.findall(r"UUID: MIG-", listed))
    return tuple(cards), driver, problem, slices


def _on_bus() -> list[tuple[str, str]]:
    """Makers of the display cards, each with the name of the kernel's driver for it."""
    found = []
    for device in sorted(PCI.glob("*")):
        maker = MAKERS.get(machine.read(device / "vendor"))
        if maker and machine.read(device / "class")[:6] in DISPLAY:
            driver = ""
            with suppress(OSError):
                driver = (device / "driver").readlink().name
            found.append((maker, driver))
    return found


def _torch() -> tuple[str, str]:
    """Its version, and what it is built for, from its files: importing it takes seconds."""
    try:
        file = metadata.distribution("torch").locate_file("torch/version.py")
    except metadata.PackageNotFoundError:
        return "", ""
    text = machine.read(Path(str(file)))
    names = {"cuda": "CUDA", "hip": "ROCm"}
    for name, words in names.items():
        if built := re.search(rf"^{name}\b[^=\n]*= '([\d.]+)", text, re.MULTILINE):
            return job.installed("torch"), f"{words} {built[1]}"
    return job.installed("torch"), "CPU" if re.search(r"^cuda\b.*= None", text, re.M) else ""
