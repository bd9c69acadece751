"""A job: start the process that measures, wait for it, and write the row if it cannot.

Light on purpose: it imports neither NumPy nor what is measured. Whatever becomes of the child, the
job ends well with a row that says so; Snakemake sees a failed job only where nothing can be
written, as on a full disk, or where this file is wrong.
"""

import json
import os
import platform
import signal
import subprocess
import sys
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from importlib import metadata
from pathlib import Path
from typing import Any

from crossover import machine, plugin, record, scheduler
from crossover.status import (
    ERROR,
    KILLED,
    OUT_OF_MEMORY,
    TIMEOUT,
    UNAVAILABLE,
    UNSUPPORTED,
    out_of_memory,
    shortened,
)
from crossover.turn import turn

# Every one of them: OpenBLAS alone listens to three, and Snakemake sets all but the last one to the
# job's threads.
THREAD_VARIABLES = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "GOTO_NUM_THREADS",
    "MKL_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "NUMEXPR_MAX_THREADS",  # of which NUM are used; 64 where it is not set
    "NUMBA_NUM_THREADS",
)
# The C allocator keeps what is freed and hands it out again, instead of giving it to the kernel and
# paying a page fault for every page of the next array.
RECYCLED = "glibc.malloc.mmap_max=0:glibc.malloc.trim_threshold=68719476736"
RECYCLED += ":glibc.malloc.top_pad=67108864"
PACKAGE_FOLDER = Path(__file__).resolve().parent.parent
# Names a file that says what a cluster lost, and why, by the file that is missing (lost.py).
LOST = "CROSSOVER_LOST"
# Of the machine where a job runs: no part of a row about a job that ran elsewhere, or nowhere.
OF_THIS_MACHINE = ("machine", "cpu", "cores", "memory_bytes", "boot", "host", "conditions")
# Waits for the end of its input, which is the end of this job however it comes.
GUARD = 'read end || kill -9 "-$0"'


@record.or_exit()
def probe(task: Mapping[str, Any], timeout_s: float, log: Path) -> None:
    """Write task['json']: whether a backend works here, and what it is."""
    task = _with_facts(task, "probe")
    path = Path(task["json"])
    if failure := _run(task, timeout_s, log, path):
        status, reason = failure
        found = task["facts"] | {"available": False, "status": status, "reason": reason}
        record.replace(path, json.dumps(found, indent=2).encode())


@record.or_exit()
def measure(task: Mapping[str, Any], timeout_s: float, log: Path) -> None:
    """Write task['csv'], and task['array'] where one is named: one cell in one round."""
    _of_backend(_with_facts(task, "measure"), timeout_s, log)


@record.or_exit()
def ceilings(task: Mapping[str, Any], timeout_s: float, log: Path) -> None:
    """Write task['csv']: what the machine can do at best through one backend, in one round."""
    _of_backend(_with_facts(task, "ceilings"), timeout_s, log)


def _of_backend(task: dict[str, Any], timeout_s: float, log: Path) -> None:
    """Measure, unless the backend is known not to be there.

    task['probe'] is what `probe` wrote: a backend that is not there is not imported again. Where it
    is missing, or answers another question (other options, another version), the cell tries itself.
    """
    failure: tuple[str, str] | None = None
    try:
        found = record.read_json(Path(task["probe"]))
    except FileNotFoundError:
        pass
    except record.Damaged as error:
        failure = (ERROR, f"{error}; 'make retry' removes it")
    else:
        asked = _question(task)
        if not found["available"] and found.get("asked", asked) == asked:
            failure = (found.get("status", UNAVAILABLE), found["reason"])
    if task["facts"]["memory"] == "recycled" and platform.libc_ver()[0] != "glibc":
        failure = (UNSUPPORTED, "memory: recycled needs the GNU C library")
    if LOST in os.environ:  # what became of this job, and not of the probe
        failure = None
    _finish(task, failure or _run(task, timeout_s, log, Path(task["csv"])))


@record.or_exit()
def render(task: Mapping[str, Any], timeout_s: float, log: Path) -> None:
    """Write task['csv']: what drawing one output costs, in one round."""
    task = _with_facts(task, "render")
    task["facts"] |= {"library": "matplotlib", "version": installed("matplotlib"), "device": "cpu"}
    _finish(task, _run(task, timeout_s, log, Path(task["csv"])))


def _finish(task: dict[str, Any], failure: tuple[str, str] | None) -> None:
    """Write the row, and the empty array, of a cell whose process could not."""
    if failure is None:
        return
    status, reason = failure
    facts = task["facts"] | {"status": status, "reason": reason}
    if task["array"]:
        record.replace(Path(task["array"]), record.EMPTY_NPY)
        facts["array_crc32"] = f"{zlib.crc32(record.EMPTY_NPY):08x}"
    record.write(Path(task["csv"]), [facts])


def _with_facts(task: Mapping[str, Any], kind: str) -> dict[str, Any]:
    """The task with what the job knows about itself and the machine added."""
    cores = machine.usable_cores()
    requested = task["threads"]
    granted = cores if requested == "all" else min(int(requested), cores)
    names = ("workload", "backend", "dtype", "size", "round", "seed", "budget_s", "device")
    facts = {name: task[name] for name in names if name in task} | {
        "threads_requested": requested,
        "threads_granted": granted,
        # Every output is allocated inside the clock, by every backend, from memory of this kind.
        "memory": task.get("memory", "fresh"),
        "machine": machine.identity(),
        "cpu": machine.cpu_model(),
        "cores": cores,
        "memory_bytes": machine.memory_bytes(),
        "boot": machine.boot(),
        "host": platform.node(),
        "conditions": machine.conditions(),
        "python_version": platform.python_version(),
        **scheduler.facts(task.get("asked", {})),
        "code": _code(task),
    }
    if "backend_file" in task:
        facts["library"], facts["version"] = _library(Path(task["backend_file"]))
    if kind == "probe":
        from crossover.facts import of_machine  # only here: they are no part of a cell's harness

        facts["asked"] = _question(task)
        facts["machine_facts"] = of_machine()
    else:
        facts["attempt"] = 1
    return {**task, "kind": kind, "facts": facts, "threads_granted": granted, "parent": os.getpid()}


def _code(task: Mapping[str, Any]) -> str:
    """Checksums of the sources that measure: the workload's file, the backend's, the harness's;
    'none' for one that has no part in it. `make compare` divides no times of different code."""
    sources = (task.get("workload_file"), task.get("backend_file"), *task.get("harness", ()))
    workload, backend, *harness = (
        zlib.crc32(Path(source).read_bytes()) if source else None for source in sources
    )
    whole = zlib.crc32(repr(harness).encode()) if harness else None
    return " ".join("none" if crc is None else f"{crc:08x}" for crc in (workload, backend, whole))


def _question(task: Mapping[str, Any]) -> str:
    """What a probe is asked, so that an answer to something else is told from one to this."""
    names = ("device", "options", "threads", "versions", "where")
    source = zlib.crc32(Path(task["backend_file"]).read_bytes())
    return json.dumps([*(task.get(name) for name in names), source], sort_keys=True)


def _library(backend_file: Path) -> tuple[str, str]:
    """The first library that a backend's times belong to, the first one that is here where it has
    several names, and its version, without importing it."""
    names = plugin.declared(backend_file).get("LIBRARIES", ())
    found = [name for name in names if installed(name)] or [*names, backend_file.stem]
    return found[0], installed(found[0]) if names else ""


def installed(distribution: str) -> str:
    """The version of an installed distribution, '' where there is none."""
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return ""


def _run(task: dict[str, Any], timeout_s: float, log: Path, wanted: Path) -> tuple[str, str] | None:
    """Run the child in its turn; (status, reason) where it did not write `wanted` itself."""
    if path := os.environ.get(LOST):
        return _lost(task, json.loads(Path(path).read_text()).get(str(wanted)))
    wanted.unlink(missing_ok=True)
    log.parent.mkdir(parents=True, exist_ok=True)
    environment = os.environ | {name: str(task["threads_granted"]) for name in THREAD_VARIABLES}
    paths = [str(PACKAGE_FOLDER), *filter(None, [os.environ.get("PYTHONPATH")])]
    environment["PYTHONPATH"] = os.pathsep.join(paths)
    if task["facts"]["memory"] == "recycled":
        tunables = filter(None, [os.environ.get("GLIBC_TUNABLES"), RECYCLED])
        environment["GLIBC_TUNABLES"] = ":".join(tunables)
    made = [Path(path) for path in (task.get("array"), wanted) if path]
    with turn() as lock, log.open("wb") as out, _memory() as said:
        _clear(made)
        child = subprocess.Popen(
            # -P: a file numpy.py in the working directory is not NumPy.
            [sys.executable, "-P", "-m", "crossover.child"],
            stdin=subprocess.PIPE,
            stdout=out,
            stderr=subprocess.STDOUT,
            env=environment,
            pass_fds=[lock, said],
            start_new_session=True,  # so that its own children can be ended with it
        )
        try:
            with _guard(child.pid, lock):
                child.communicate(json.dumps(task | {"said": said}).encode(), timeout=timeout_s)
        except KeyboardInterrupt:
            sys.exit("interrupted")
        except subprocess.TimeoutExpired:
            return TIMEOUT, f"took more than {timeout_s:g} s (timeout_s)"
        finally:
            _end(child)
            _clear(made)
        if not_written := os.pread(said, 4096, 0):
            raise record.NotWritten(not_written.decode(errors="replace"))
    if wanted.exists():
        return None
    if child.returncode < 0:
        number = -child.returncode
        known = {int(entry): entry.name for entry in signal.Signals}
        name = known.get(number, f"signal {number}")  # real-time signals have no names
        hint = "; the kernel does this when memory runs out" if name == "SIGKILL" else ""
        return KILLED, f"killed by {name}{hint}"
    words = _last_words(log) or f"the process ended with exit status {child.returncode}"
    return (OUT_OF_MEMORY if out_of_memory(words) else ERROR), words


def _lost(task: dict[str, Any], found: list[str] | None) -> tuple[str, str]:
    """What became of this job on the cluster; here nothing is measured instead."""
    if found is None:
        sys.exit("not among what the cluster lost: the next sweep measures it")
    task["facts"] |= dict.fromkeys((*OF_THIS_MACHINE, "threads_granted"), "")
    status, reason = found
    return status, reason


@contextmanager
def _memory() -> Iterator[int]:
    """A file in memory, for what the child has to say when the disk is full, its log's as well."""
    descriptor = os.memfd_create("said")
    try:
        yield descriptor
    finally:
        os.close(descriptor)


@contextmanager
def _guard(group: int, lock: int) -> Iterator[None]:
    """Where this job is killed, the kernel ends the child with it; this ends what the child started
    as well, and keeps the turn until then."""
    with subprocess.Popen(
        ["/bin/sh", "-c", GUARD, str(group)],
        stdin=subprocess.PIPE,
        stderr=subprocess.DEVNULL,  # most often nobody is left to be ended
        pass_fds=[lock],
        start_new_session=True,
    ):
        yield


def _end(child: "subprocess.Popen[bytes]") -> None:
    """The child and whatever it started are gone when this returns."""
    with suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)
    child.wait()


def _clear(made: list[Path]) -> None:
    """Remove what was half-written when a job or its child was killed, now or the last time."""
    for path in made:
        for left in path.parent.glob(f".{path.name}.*.tmp"):
            left.unlink(missing_ok=True)


def _last_words(log: Path) -> str:
    lines = log.read_text(encoding="utf-8", errors="replace").split("\n")
    return shortened(next((line.strip() for line in reversed(lines) if line.strip()), ""))
