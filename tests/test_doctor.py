"""The doctor on machines that are not here: each is a set of made-up facts, read as its lines."""

from dataclasses import fields, replace

import pytest

from crossover import doctor
from crossover.doctor import NOT_TRIED, Facts
from crossover.doctor_gpu import Gpu
from crossover.doctor_lines import LOOK, OK, STOP, Line, text
from crossover.turn import LOCK
from made_up_machine import GIB, NUMPY, WELL, conditions, machine

ALL_WELL = """\
ok    system       Debian 13, Linux 6.12
ok    Python       3.12.1 in /clone/.venv
ok    packages     all 9 of requirements.txt fit
ok    CPU          Fake CPU, at most 4,200 MHz
ok    cores        8 usable of 8, 2 of them in each real core
ok    clock        performance, boost on
ok    power        on mains
ok    load         others keep 0.1 cores busy, load 0.1 over the last minute
ok    memory       30.0 GiB free, 32.0 GiB usable, the largest cell needs 1.0 GiB (add float64,
                   n=1,000)
ok    huge pages   madvise
ok    environment  no variable that is known to slow a library down
ok    disk         50 GB free in /clone/results, this config keeps at most 20 MB
ok    GPU          NVIDIA H100, driver 590.48.01, torch 2.13.0 for CUDA 13.0
ok    GPU memory   79.0 GiB free
ok    numpy        works: numpy 2.4.6, 8 threads, OpenBLAS 0.3.31 (Zen kernels)
ok    torch_cpu    works: torch 2.13.0, 8 threads
ok    torch_cuda   works: torch 2.13.0"""


def of(topic: str, facts: Facts) -> Line:
    """The one line about a topic; all others are ok, and what is said of the whole agrees."""
    lines = doctor.lines(facts)
    (found,) = [line for line in lines if line.topic == topic]
    assert not [line for line in lines if line is not found and line.mark != OK], text(lines)
    assert all(bool(line.advice) == (line.mark != OK) for line in lines)
    closing = doctor.closing_words(lines)
    assert ("can give no answer" in closing) is (found.mark == STOP)
    assert closing.endswith("; 1 to look at") is (found.mark == LOOK)
    return found


def test_where_all_is_well_nothing_is_advised():
    assert text(doctor.lines(WELL)) == ALL_WELL
    assert doctor.closing_words(doctor.lines(WELL)) == "'make sweep' can start"
    assert doctor.closing_words([], " CONFIG=a.yaml") == "'make sweep CONFIG=a.yaml' can start"


def test_where_nothing_is_known_nothing_fails_and_nothing_is_made_up():
    lines = doctor.lines(Facts())
    assert [(line.mark, line.topic) for line in lines] == [(OK, "environment"), (OK, "GPU")]


def holes(value):
    """The same with each single fact missing, at any depth of a dictionary."""
    for key, inner in value.items():
        yield {name: value[name] for name in value if name != key}
        if isinstance(inner, dict):
            for less in holes(inner):
                yield value | {key: less}


def test_each_fact_may_be_missing():
    empty = Facts()
    cases = [replace(WELL, **{f.name: getattr(empty, f.name)}) for f in fields(Facts)]
    cases += [replace(WELL, gpu=replace(WELL.gpu, **{f.name: f.default})) for f in fields(Gpu)]
    for name in ("machine", "conditions", "probes"):
        cases += [replace(WELL, **{name: less}) for less in holes(dict(getattr(WELL, name)))]
    assert len(cases) > 60
    for facts in cases:
        said = text(doctor.lines(facts))
        assert "None" not in said and "nan" not in said and "{" not in said, said


# --- the machine

ASK = "ask for more (docker --cpus, Slurm --cpus-per-task), or read every speedup as one over these"


@pytest.mark.parametrize(
    ("facts", "line"),
    [
        (
            machine(cpu={"usable_cores": 2}, control_groups={"cpu_quota_cores": 2.5}),
            Line(
                LOOK,
                "cores",
                "2 usable of 8, 2 of them in each real core; a quota allows 2.5 cores' time",
                f"a container or job has no more: {ASK} cores",
            ),
        ),
        (
            replace(machine(cpu={"usable_cores": 4, "numa_nodes": 2}), allowed_cores=4),
            Line(
                LOOK,
                "cores",
                "4 usable of 8, 2 of them in each real core, 2 memory nodes (NUMA); this "
                "process may not run on the others",
                "start it without taskset, ask the job for more (docker --cpuset-cpus, Slurm "
                "--cpus-per-task), or read every speedup as one over these cores",
            ),
        ),
        (
            conditions(governor="powersave"),
            Line(
                LOOK,
                "clock",
                "powersave, boost on: the CPU is kept slow",
                "'sudo cpupower frequency-set -g performance' gives it full speed until the next "
                "start",
            ),
        ),
        (
            conditions(boost="off"),
            Line(
                LOOK,
                "clock",
                "performance, boost off",
                "steady, but slower than the CPU can: 'echo 1 | sudo tee "
                "/sys/devices/system/cpu/cpufreq/boost' switches it on",
            ),
        ),
        (
            conditions(power="battery"),
            Line(LOOK, "power", "on battery", "plug it in: on battery CPU and GPU are kept slow"),
        ),
        (
            replace(WELL, busy_cores=1.2),
            Line(
                LOOK,
                "load",
                "others keep 1.2 cores busy, load 0.1 over the last minute",
                "wait until they are done ('top' shows who): what is disturbed is measured twice, "
                "and then graded disturbed",
            ),
        ),
        (
            machine(memory={"transparent_huge_pages": "never"}),
            Line(
                LOOK,
                "huge pages",
                "never",
                "new large arrays can take longer: 'echo madvise | sudo tee "
                "/sys/kernel/mm/transparent_hugepage/enabled' (not inside a container)",
            ),
        ),
        (
            replace(WELL, available_bytes=GIB // 2),
            Line(
                LOOK,
                "memory",
                "512 MiB free, 32.0 GiB usable, the largest cell needs 1.0 GiB (add float64, "
                "n=1,000)",
                "close other programs, or leave 1 of the config's sizes out; such cells end as "
                "out_of_memory, and the others are measured all the same",
            ),
        ),
        (
            replace(
                machine(memory={"usable_bytes": GIB // 4, "total_bytes": 8 * GIB}),
                available_bytes=50,
            ),
            Line(
                LOOK,
                "memory",
                "0 MiB free, 256 MiB usable, 8.0 GiB in the machine (a control group has less), "
                "the largest cell needs 1.0 GiB (add float64, n=1,000)",
                "leave 2 of the config's sizes out; such cells end as out_of_memory, and the "
                "others are measured all the same",
            ),
        ),
        (
            replace(WELL, address_limit_bytes=16 * GIB),
            Line(
                LOOK,
                "memory",
                "30.0 GiB free, 32.0 GiB usable, 'ulimit -v' allows 16.0 GiB, the largest cell "
                "needs 1.0 GiB (add float64, n=1,000)",
                "CUDA reserves far more addresses than it uses: 'ulimit -v unlimited' first",
            ),
        ),
        (
            replace(WELL, settings={"OPENBLAS_CORETYPE": "Haswell"}),
            Line(
                LOOK,
                "environment",
                "OPENBLAS_CORETYPE=Haswell: OpenBLAS uses the kernels of that CPU, not of this one",
                "'unset OPENBLAS_CORETYPE' first",
            ),
        ),
        (
            replace(WELL, no_cost={"mine": "ZeroDivisionError: division by zero"}),
            Line(
                LOOK,
                "workload",
                "mine: ZeroDivisionError: division by zero",
                "every cell of it will fail like this: repair its file",
            ),
        ),
        (
            replace(WELL, free_bytes=15_000_000),
            Line(
                LOOK,
                "disk",
                "15 MB free in /clone/results, this config keeps at most 20 MB",
                "make room, or lower arrays: {keep_mb: ...} in the config",
            ),
        ),
        (
            replace(WELL, free_bytes=9_000_000),
            Line(
                STOP,
                "disk",
                "9 MB free in /clone/results, this config keeps at most 20 MB",
                "a sweep needs 10 MB at least: make room",
            ),
        ),
        (
            replace(WELL, cannot_write="/clone cannot be written, and results go there"),
            Line(
                STOP,
                "disk",
                "/clone cannot be written, and results go there",
                "start it in a folder of your own, with 'snakemake -s .../Snakefile'",
            ),
        ),
        (
            replace(WELL, packages={"pandas": ("3.9", "<4,>=2.2"), "torch": ("", "==2.13.0")}),
            Line(
                LOOK,
                "packages",
                "pandas 3.9 (wanted: <4,>=2.2), torch is missing",
                "'.venv/bin/pip install -r requirements.txt' installs what is needed",
            ),
        ),
        (
            replace(WELL, packages={"pandas": ("", "<4,>=2.2")}),
            Line(
                STOP,
                "packages",
                "pandas is missing",
                "'.venv/bin/pip install -r requirements.txt' installs what is needed",
            ),
        ),
    ],
    ids=lambda value: value.found[:40] if isinstance(value, Line) else "",
)
def test_what_is_not_as_it_should_be(facts, line):
    assert of(line.topic, facts) == line


@pytest.mark.parametrize(
    ("facts", "topic", "found"),
    [
        # Where the driver sets the clock itself, this governor is the usual one.
        (
            replace(
                machine(cpu={"frequency_driver": "intel_pstate"}),
                conditions={"governor": "powersave", "preference": "balance_performance"},
            ),
            "clock",
            "powersave (balance_performance)",
        ),
        # Others are busy on cores that are not ours to use.
        (
            replace(
                machine(cpu={"usable_cores": 2}), allowed_cores=8, busy_cores=4.0, conditions={}
            ),
            "load",
            "others keep 4.0 cores busy",
        ),
        (
            machine(system={"wsl": True, "container": "docker", "virtual_machine": "QEMU"}),
            "system",
            "Debian 13, Linux 6.12, inside Windows (WSL), in a container (docker), in a virtual "
            "machine (QEMU)",
        ),
        (replace(WELL, busy_cores=None, pressure=0.05), "load", "somebody waits for a core 5% of"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_is_as_it_should_be(facts, topic, found):
    (line,) = [line for line in doctor.lines(facts) if line.topic == topic]
    assert line.found.startswith(found)
    assert line.mark == OK


def test_cores_are_those_that_this_process_may_use():
    quota = machine(cpu={"usable_cores": 4}, control_groups={"cpu_quota_cores": 4})
    assert "a quota" in of("cores", replace(quota, allowed_cores=None)).found
    some = replace(machine(cpu={"usable_cores": 4}), allowed_cores=4, busy_cores=1.0)
    assert {line.topic for line in doctor.lines(some) if line.mark == LOOK} == {"cores", "load"}


def test_cores_may_have_different_clocks():
    line = of("clock", conditions(governor="performance + powersave"))
    assert line.found == "performance + powersave, boost on: the CPU is kept slow"


def test_an_energy_setting_that_saves_counts_as_slow():
    facts = replace(
        machine(cpu={"frequency_driver": "intel_pstate"}),
        conditions={"governor": "powersave", "preference": "performance + power", "boost": "off"},
    )
    assert of("clock", facts).found.endswith("the CPU is kept slow")


def test_where_nobody_was_watched_the_load_tells():
    assert of("load", replace(conditions(load=3.0), busy_cores=None)).mark == LOOK


def test_waiting_for_a_core_counts_as_load():
    line = of("load", replace(WELL, pressure=0.5))
    assert "somebody waits for a core 50% of the time" in line.found and line.mark == LOOK


# --- backends


@pytest.mark.parametrize(
    ("name", "probe", "line"),
    [
        (
            "torch_cpu",
            {
                "available": False,
                "status": "unavailable",
                "reason": "No module named 'torch'",
                "library": "torch",
            },
            Line(
                LOOK,
                "torch_cpu",
                "unavailable: No module named 'torch' (torch)",
                "'.venv/bin/pip install -r requirements.txt' installs what is needed",
            ),
        ),
        (
            "numpy",
            {"available": False, "status": "killed", "reason": "killed by SIGILL"},
            Line(
                STOP,
                "numpy",
                "killed: killed by SIGILL",
                "it is the baseline, and no speedup can be told without it; 'make cell "
                "WORKLOAD=add SIZE=1000 BACKEND=numpy' shows the whole message",
            ),
        ),
        (
            "torch_cpu",
            {"available": False, "status": "timeout", "reason": "took more than 30 s (timeout_s)"},
            Line(
                LOOK,
                "torch_cpu",
                "timeout: took more than 30 s (timeout_s)",
                "try again: from a slow disk the first start takes long",
            ),
        ),
        (
            "numpy",
            NUMPY | {"threads_effective": 1},
            Line(
                LOOK,
                "numpy",
                "works: numpy 2.4.6, 1 thread, OpenBLAS 0.3.31 (Zen kernels)",
                "8 were asked for; its times are graded few_threads: is its BLAS built without "
                "threads, or OMP_THREAD_LIMIT set?",
            ),
        ),
        (
            "torch_cpu",
            {"available": False, "status": "error", "reason": f"{LOCK}: Permission denied"},
            Line(
                LOOK,
                "torch_cpu",
                f"error: {LOCK}: Permission denied",
                "sweeps take turns by that file: make /tmp writable",
            ),
        ),
        (
            "numpy",
            {"available": False, "status": NOT_TRIED},
            Line(LOOK, "numpy", NOT_TRIED, "look again when it is done"),
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_what_a_backend_says(name, probe, line):
    facts = replace(WELL, probes=WELL.probes | {name: probe})
    assert of(name, facts) == line
