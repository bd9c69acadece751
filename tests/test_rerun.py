"""What re-runs when: each change with exactly the jobs that follow from it, by real dry runs."""

import os
import re
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from pathlib import Path

import pytest

from conftest import CONFIG, Project
from crossover import table

PACKAGE = "workflow/scripts/crossover"
CELLS = (
    *(("add", backend, "float64", size) for backend in ("numpy", "fake") for size in (100, 1000)),
    *(("polar", backend, "float32", 100) for backend in ("numpy", "fake")),
)
SUMMARY = "summarize 6 cells of 2 rounds"
CHARTS = ["draw add, float64", "draw polar, float32"]
ACCURACY = ["draw how accurate each workload is"]
ROOFS = ["draw how near to the machine each dtype is"]
CURVE = "draw the curve of polar, float32"
PAGE = "make the page"
PROBES = ["probe fake", "probe numpy"]
LINE, RASTER = (
    [f"render polar, {method}, float32, n=100, round {round} of 2" for round in (1, 2)]
    for method in ("line", "raster")
)
RENDER = [*LINE, *RASTER]
DECISION = "decide from which size on"
DECIDED = [DECISION, *CHARTS, PAGE]
ANSWERS = [*DECIDED, *ACCURACY, *ROOFS]
DRAWN = [SUMMARY, *ANSWERS]


def cells(workload: str = "", backend: str = "", rounds: tuple[int, ...] = (1, 2)) -> list[str]:
    """The measuring jobs of all cells, or of those of a workload or a backend."""
    return [
        f"{name}, {library}, {dtype}, n={size}, round {round} of 2"
        for name, library, dtype, size in CELLS
        for round in rounds
        if workload in ("", name) and backend in ("", library)
    ]


def ceilings(backend: str = "", rounds: tuple[int, ...] = (1, 2)) -> list[str]:
    """The jobs that measure what the machine can do at best, of all backends or of one."""
    return [
        f"ceilings of {library}, {dtype}, round {round} of 2"
        for library in ("numpy", "fake")
        for dtype in ("float64", "float32")
        for round in rounds
        if backend in ("", library)
    ]


ALL = [*cells(), *RENDER, *DRAWN, CURVE]


def configured(change: Callable[[dict], object]) -> Callable[[Project], None]:
    """A change of config.yaml."""

    def apply(project: Project) -> None:
        config = deepcopy(CONFIG)
        change(config)
        project.configure(config)

    return apply


def edited(*names: str) -> Callable[[Project], None]:
    return lambda project: project.edit(*names)


def removed(name: str) -> Callable[[Project], None]:
    return lambda project: (project.root / name).unlink()


def reordered(config: dict) -> None:
    for kind in ("workloads", "backends"):
        config[kind] = {
            name: dict(reversed(entry.items())) for name, entry in reversed(config[kind].items())
        }
    for name in reversed(list(config)):
        config[name] = config.pop(name)


def elsewhere(project: Project) -> None:
    """Comments, and files that are no part of any job's number or picture."""
    for name in (
        *("Snakefile", "environment.yml", "workflow/rules/measure.smk", "tests/conftest.py"),
        *("profiles/default/config.yaml", "config.yaml", "config/quick.yaml"),
    ):
        with (project.root / name).open("a") as file:
            file.write("\n# a remark\n")
    project.edit(
        *(f"{PACKAGE}/{name}.py" for name in ("config", "entries", "closing", "identity")),
        *(f"{PACKAGE}/backends/torch.py", f"{PACKAGE}/workloads/matmul.py"),
    )
    for name in ("README.md", "Makefile", "mine.py"):
        (project.root / name).write_text("# new\n")


def files(project: Project) -> Iterator[Path]:
    """Sources, then what was made of them in that order; not Snakemake's own."""
    stages = ("cells", "ceilings", "render", "backends", "summary.csv", "plots")
    made = [project.root / "results" / stage for stage in stages]
    sources = (p for p in project.root.iterdir() if p.name not in ("results", ".snakemake", "logs"))
    for top in (*sorted(sources), *made):
        yield from sorted(p for p in (top, *top.rglob("*")) if p.is_file())


def touched(project: Project) -> None:
    for number, path in enumerate(files(project)):
        now = time.time() + number / 1000
        os.utime(path, (now, now))


def touched_sources(project: Project) -> None:
    """As in a fresh clone under old results."""
    later = time.time() + 10
    for path in files(project):
        if not path.is_relative_to(project.root / "results"):
            os.utime(path, (later, later))


def moved(project: Project) -> None:
    project.root = project.root.rename(project.root.with_name("elsewhere"))


def unchanged(project: Project) -> None:
    pass


UNCHANGED = {
    "everything touched": touched,
    "a fresh clone's dates": touched_sources,
    "the clone moved": moved,
    "keys reordered": configured(reordered),
    "an edit elsewhere": elsewhere,
    "timeout raised": configured(lambda config: config.update(timeout_s=61.5)),
    "keep_mb": configured(lambda config: config.update(arrays={"keep_mb": 2})),
    "another spelling": configured(lambda config: config.update(rounds="2", budget_s="2e-2")),
    "defaults said": configured(
        lambda config: config.update(baseline="numpy", seed=0, threads="all", machine="auto")
    ),
}


CHANGED = {
    "a workload": (
        edited(f"{PACKAGE}/workloads/add.py"),
        [*cells("add"), *DRAWN],
    ),
    "a workload that is a curve": (
        edited(f"{PACKAGE}/workloads/polar.py"),
        [*cells("polar"), *RENDER, *DRAWN, CURVE],
    ),
    "a backend of one's own": (
        edited("tests/fake_device.py"),
        ["probe fake", *cells(backend="fake"), *ceilings("fake"), *DRAWN, CURVE],
    ),
    "a backend of ours": (
        edited(f"{PACKAGE}/backends/numpy.py"),
        ["probe numpy", *cells(backend="numpy"), *ceilings("numpy"), *DRAWN, CURVE],
    ),
    "the harness": (edited(f"{PACKAGE}/clock.py"), [*PROBES, *ceilings(), *ALL]),
    "the measuring script": (
        edited("workflow/scripts/measure.py"),
        [*cells(), *DRAWN, CURVE],
    ),
    "the probing script": (edited("workflow/scripts/probe.py"), [*PROBES, PAGE]),
    "the facts": (edited(f"{PACKAGE}/facts.py", f"{PACKAGE}/gpu.py"), [*PROBES, PAGE]),
    "ceilings": (edited(f"{PACKAGE}/ceilings.py"), [*ceilings(), *DRAWN]),
    "the ceilings' script": (edited("workflow/scripts/ceilings.py"), [*ceilings(), *DRAWN]),
    "the roofs": (edited(f"{PACKAGE}/roofline.py"), DRAWN),
    "rendering": (edited(f"{PACKAGE}/rendering.py"), [*RENDER, *DRAWN]),
    "our way to draw": (edited(f"{PACKAGE}/raster.py"), [*RASTER, *DRAWN, CURVE]),
    "the summary": (edited(f"{PACKAGE}/summary.py"), DRAWN),
    "the summary's script": (edited("workflow/scripts/summarize.py"), DRAWN),
    "the decision": (edited(f"{PACKAGE}/break_even.py"), DECIDED),
    "the decision's script": (edited("workflow/scripts/decide.py"), DECIDED),
    "the file to take home": (edited(f"{PACKAGE}/use_gpu_template.py"), DECIDED),
    "break-even sizes deleted": (removed("results/break_even.csv"), DECIDED),
    "the verdict": (edited(f"{PACKAGE}/verdict.py"), DECIDED),
    "all charts": (edited(f"{PACKAGE}/charts.py"), [*CHARTS, *ACCURACY, *ROOFS, PAGE]),
    "a chart": (edited(f"{PACKAGE}/chart_parts.py"), [*CHARTS, PAGE]),
    "the charts' script": (edited("workflow/scripts/charts.py"), [*CHARTS, PAGE]),
    "the chart of accuracy": (edited(f"{PACKAGE}/chart_accuracy.py"), [*ACCURACY, PAGE]),
    "the chart of roofs": (edited(f"{PACKAGE}/chart_roofline.py"), [*ROOFS, PAGE]),
    "the look of all pictures": (
        edited(f"{PACKAGE}/style.py"),
        [*CHARTS, *ACCURACY, *ROOFS, CURVE, PAGE],
    ),
    "the curve": (edited(f"{PACKAGE}/curve.py"), [CURVE, PAGE]),
    "the curve's script": (edited("workflow/scripts/curve.py"), [CURVE, PAGE]),
    "the page": (edited(f"{PACKAGE}/page.py"), [PAGE]),
    "the page's script": (edited("workflow/scripts/page.py"), [PAGE]),
    "the page's look": (edited("workflow/page/page.css"), [PAGE]),
    "the seed": (configured(lambda config: config.update(seed=1)), ALL),
    "the budget": (
        configured(lambda config: config.update(budget_s=0.03)),
        [*ceilings(), *ALL],
    ),
    "the machine's label": (
        configured(lambda config: config.update(machine="b")),
        [*PROBES, *ceilings(), *ALL],
    ),
    "a backend's option": (
        configured(lambda config: config["backends"]["fake"].update(options={"launch_s": 0.001})),
        ["probe fake", *cells(backend="fake"), *ceilings("fake"), *DRAWN, CURVE],
    ),
    "a backend's threads": (
        configured(lambda config: config["backends"]["numpy"].update(threads=1)),
        ["probe numpy", *cells(backend="numpy"), *ceilings("numpy"), *DRAWN, CURVE],
    ),
    "a price": (configured(lambda config: config.update(price_per_hour=2)), DRAWN),
    "the baseline": (configured(lambda config: config.update(baseline="fake")), [*DRAWN, CURVE]),
    "a size more": (
        configured(lambda config: config["workloads"]["add"].update(sizes=[1000, 10, 100])),
        [
            f"add, {backend}, float64, n=10, round {round} of 2"
            for backend in ("numpy", "fake")
            for round in (1, 2)
        ]
        + ["summarize 8 cells of 2 rounds", *ANSWERS],
    ),
    "a size less": (
        configured(lambda config: config["workloads"]["add"].update(sizes=100)),
        ["summarize 4 cells of 2 rounds", *ANSWERS],
    ),
    "rounds raised": (
        configured(lambda config: config.update(rounds=3)),
        [
            *(job.replace("round 2 of 2", "round 3 of 3") for job in cells(rounds=(2,))),
            *(job[1].replace("round 2 of 2", "round 3 of 3") for job in (LINE, RASTER)),
            *(job.replace("round 2 of 2", "round 3 of 3") for job in ceilings(rounds=(2,))),
            *("summarize 6 cells of 3 rounds", *ANSWERS),
        ],
    ),
    "rounds lowered": (
        configured(lambda config: config.update(rounds=1)),
        ["summarize 6 cells of 1 rounds", *ANSWERS],
    ),
    "a round deleted": (
        removed("results/cells/add/fake/float64/100/2.csv"),
        ["add, fake, float64, n=100, round 2 of 2", *DRAWN],
    ),
    "a ceiling deleted": (
        removed("results/ceilings/fake/float64/2.csv"),
        ["ceilings of fake, float64, round 2 of 2", *DRAWN],
    ),
    "an output deleted": (
        removed("results/cells/polar/numpy/float32/100/output.npy"),
        ["polar, numpy, float32, n=100, round 1 of 2", *DRAWN, CURVE],
    ),
    "a probe deleted": (removed("results/backends/fake.json"), ["probe fake", PAGE]),
    "the summary deleted": (removed("results/summary.csv"), DRAWN),
    "a picture deleted": (
        removed("results/plots/add/float64/time.svg"),
        ["draw add, float64", PAGE],
    ),
    "the page deleted": (removed("results/report.html"), [PAGE]),
}


SEEDS = {"0": "1", "1": "2", "2": "all"}  # with so many cores
CASES = {
    **{f"hash seed {seed}": (unchanged, []) for seed in SEEDS},
    **{name: (change, []) for name, change in UNCHANGED.items()},
    **CHANGED,
}


@pytest.fixture(scope="module")
def plans(finished, tmp_path_factory, request) -> dict[str, list[str] | Exception]:
    """What would run after each change (of those that are tested now), planned side by side."""
    folder = tmp_path_factory.mktemp("plans")
    here = [item for item in request.session.items if item.module is request.module]
    tests = [item.callspec.params for item in here if hasattr(item, "callspec")]
    names = [params["case"] for params in tests]

    def plan(case: str) -> list[str] | Exception:
        seed = case.rpartition(" ")[2]
        environment = {"PYTHONHASHSEED": seed} if seed in SEEDS else {}
        try:
            project = finished.copy(folder / str(names.index(case)) / "clone")
            CASES[case][0](project)
            return project.plan(cores=SEEDS.get(seed, "1"), **environment)
        except Exception as error:  # of this case alone
            return error

    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        return dict(zip(names, pool.map(plan, names), strict=True))


@pytest.mark.parametrize("case", CASES)
def test_exactly_what_the_change_touches_runs(plans, case):
    assert plans[case] == sorted(CASES[case][1])


def test_every_cell_has_its_rates_and_every_backend_its_ceilings(finished):
    names = sorted(
        str(p.relative_to(finished.root)) for p in finished.root.glob("results/ceilings/**/*.csv")
    )
    jobs = [
        re.sub(r"ceilings of (.+), (.+), round (.+) of 2", r"results/ceilings/\1/\2/\3.csv", job)
        for job in ceilings()
    ]
    assert names == sorted(jobs)
    rows = [r for r in table.read(finished.root / "results/summary.csv") if r["scope"] == "compute"]
    assert len(rows) == len(CELLS)
    for row in rows:
        assert (
            row["status"] == "ok" and float(row["gb_per_s"]) > 0 and float(row["gflop_per_s"]) > 0
        )
