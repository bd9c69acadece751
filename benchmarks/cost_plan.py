"""Planning: a first plan, and a run with nothing to do, over the same jobs made trivial.

The floor is a workflow in which each of our jobs has its double: the same input files, as many
outputs, and a command that touches them. It is made from what Snakemake remembers of ours, so that
a new rule or input of ours is in the floor as well. What is left above it is what we add: params,
functions, names in folders, priorities, messages.
"""

import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import checkout
from report import Report, progress

JOBS = (150, 5000)
BOUND = 1.5

# Snakemake's --touch waits 0.1 s a job, and takes one job at a time where a job takes all cores.
MARK = (
    "import snakemake.executors.touch as touch; touch.Executor.SLEEPING_TIME = 0; "
    "from snakemake.cli import main; main()"
)

Job = tuple[tuple[str, ...], tuple[str, ...]]  # its inputs and its outputs


def measure(report: Report, jobs: tuple[int, ...], times: int) -> None:
    rows = []
    ratios = {}
    for wanted in jobs:
        with tempfile.TemporaryDirectory() as name:
            found, figures = compare(Path(name), wanted, times)
        for what, (ours, floor) in figures.items():
            ratios[f"{what}, {found:,} jobs"] = ours / floor
            row = (f"{what}, {found:,} jobs", f"{ours:.2f}", f"{floor:.2f}", f"{ours / floor:.2f}")
            rows.append(row)
    report.table(("plan", "ours s", "trivial s", "ratio"), rows)
    for what, ratio in ratios.items():
        report.most(what, ratio, BOUND)


def compare(folder: Path, wanted: int, times: int) -> tuple[int, dict[str, tuple[float, float]]]:
    """How many jobs, and for each figure the seconds of ours and of the floor."""
    progress(f"plan: making a workflow of about {wanted:,} jobs and its floor")
    fresh = checkout.make(folder / "fresh", config_of(wanted))
    ours = checkout.make(folder / "ours", config_of(wanted))
    finish(ours)
    jobs = list(jobs_of(ours))
    floor, fresh_floor = folder / "floor", folder / "fresh_floor"
    for place in (floor, fresh_floor):
        trivial(place, ours, jobs)
    finish(floor)
    plan, idle = checkout.command("--dry-run"), checkout.command()
    figures = {}
    for what, words, (mine, theirs) in (
        ("first plan", plan, (fresh, fresh_floor)),
        ("nothing to do", idle, (ours, floor)),
    ):
        progress(f"plan: {what}, {len(jobs):,} jobs")
        taken = checkout.medians({"ours": (mine, words), "floor": (theirs, words)}, times)
        figures[what] = (taken["ours"], taken["floor"])
    return len(jobs), figures


def config_of(jobs: int) -> dict[str, object]:
    """A sweep of about as many jobs: three workloads, two dtypes, two backends, three rounds, and
    so 48 jobs a size, drawing among them."""
    sizes = [1000 + number for number in range(max(1, round((jobs - 24) / 48)))]
    return {
        "workloads": {name: {"sizes": sizes} for name in ("add", "matmul", "polar")},
        "dtypes": ["float32", "float64"],
        "backends": {"numpy": {}, "torch_cpu": {"library": "torch", "device": "cpu"}},
        "rounds": 3,
    }


def finish(folder: Path) -> None:
    """Make a workflow look finished: files of a few bytes, and what Snakemake remembers of them."""
    for path in outputs_of(folder):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(path)
    words = [sys.executable, "-c", MARK, "--cores", "10000", "--touch", "--forceall"]
    # The choice of a job costs as much as there are to choose from.
    words += ["--scheduler-subsample", "1000"]
    rules = [line.split("\t")[2] for line in summary(folder)]
    threads = [f"{rule}=1" for rule in dict.fromkeys(rules)]
    checkout.run(folder, [*words, "--set-threads", *threads])


def summary(folder: Path) -> list[str]:
    """A line per output file: its path, date, rule, log and inputs."""
    _, text = checkout.run(folder, checkout.command("--detailed-summary"))
    return [line for line in text.splitlines()[1:] if line.count("\t") == 7]


def outputs_of(folder: Path) -> list[str]:
    return [line.split("\t")[0] for line in summary(folder)]


def jobs_of(folder: Path) -> Iterator[Job]:
    """The jobs of a finished workflow: lines of one rule and log are one job's outputs."""
    outputs: dict[tuple[str, str], list[str]] = {}
    inputs: dict[tuple[str, str], tuple[str, ...]] = {}
    for line in summary(folder):
        path, _, rule, log, taken, *_ = line.split("\t")
        outputs.setdefault((rule, log), []).append(path)
        inputs[rule, log] = () if taken == "-" else tuple(taken.split(","))
    for job, paths in outputs.items():
        yield inputs[job], tuple(paths)


def trivial(folder: Path, ours: Path, jobs: list[Job]) -> None:
    """The floor: one rule for all jobs of the same inputs and number of outputs."""
    kinds: dict[tuple[tuple[str, ...], int], list[Job]] = {}
    for job in jobs:
        kinds.setdefault((job[0], len(job[1])), []).append(job)
    double = {}  # our output -> the floor's
    for number, members in enumerate(kinds.values()):
        for index, (_, outputs) in enumerate(members):
            for part, path in enumerate(outputs):
                double[path] = f"results/{number}/{index}.{part}"
    text = [f"rule all:\n    input: {sorted(double.values())!r}\n"]
    for number, (inputs, parts) in enumerate(kinds):
        sources = [double.get(path, path) for path in inputs]
        made = [f"results/{number}/{{n}}.{part}" for part in range(parts)]
        text.append(
            f"rule kind_{number}:\n    input: {sources!r}\n    output: {made!r}\n"
            f"    shell: 'touch {{output}}'\n"
        )
    checkout.make(folder, {})
    (folder / "config.yaml").unlink()
    for inputs, _ in jobs:
        for path in inputs:
            assert path in double or (folder / path).exists(), path
    (folder / "Snakefile").write_text("\n".join(text))
