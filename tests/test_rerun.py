"""What re-runs when: each change with exactly the jobs that follow from it, by real dry runs."""

import ast
import os
import re
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from pathlib import Path

import pytest
import yaml

from conftest import CONFIG, ROOT, Project, copy_to
from crossover import identity, record, table

PACKAGE = "workflow/scripts/crossover"
CELLS = (
    *(("add", backend, "float64", size) for backend in ("numpy", "fake") for size in (100, 1000)),
    *(("polar", backend, "float32", 100) for backend in ("numpy", "fake")),
)
SUMMARY = "summarize 6 cells of 2 rounds"
CHARTS = ["draw add, float64", "draw polar, float32"]
CURVE = "draw the curve of polar, float32"
PROBES = ["probe fake", "probe numpy"]
RENDER = [f"render polar, line, float32, n=100, round {round} of 2" for round in (1, 2)]
DRAWN = [SUMMARY, *CHARTS]


def cells(workload: str = "", backend: str = "", rounds: tuple[int, ...] = (1, 2)) -> list[str]:
    """The measuring jobs of all cells, or of those of a workload or a backend."""
    return [
        f"{name}, {library}, {dtype}, n={size}, round {round} of 2"
        for name, library, dtype, size in CELLS
        for round in rounds
        if workload in ("", name) and backend in ("", library)
    ]


ALL = [*cells(), *RENDER, *DRAWN, CURVE]


@pytest.fixture
def done(finished: Project, tmp_path: Path) -> Project:
    """A finished sweep of one's own, to change."""
    return finished.copy(tmp_path / "clone")


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
    stages = ("cells", "render", "backends", "summary.csv", "plots")
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
        ["probe fake", *cells(backend="fake"), *DRAWN, CURVE],
    ),
    "a backend of ours": (
        edited(f"{PACKAGE}/backends/numpy.py"),
        ["probe numpy", *cells(backend="numpy"), *DRAWN, CURVE],
    ),
    "the harness": (edited(f"{PACKAGE}/clock.py"), [*PROBES, *ALL]),
    "the measuring script": (
        edited("workflow/scripts/measure.py"),
        [*cells(), *DRAWN, CURVE],
    ),
    "the probing script": (edited("workflow/scripts/probe.py"), PROBES),
    "rendering": (edited(f"{PACKAGE}/rendering.py"), [*RENDER, *DRAWN]),
    "the summary": (edited(f"{PACKAGE}/summary.py"), DRAWN),
    "the summary's script": (edited("workflow/scripts/summarize.py"), DRAWN),
    "the charts": (edited(f"{PACKAGE}/charts.py"), CHARTS),
    "the charts' script": (edited("workflow/scripts/charts.py"), CHARTS),
    "the look of all pictures": (edited(f"{PACKAGE}/style.py"), [*CHARTS, CURVE]),
    "the curve": (edited(f"{PACKAGE}/curve.py"), [CURVE]),
    "the curve's script": (edited("workflow/scripts/curve.py"), [CURVE]),
    "the seed": (configured(lambda config: config.update(seed=1)), ALL),
    "the budget": (configured(lambda config: config.update(budget_s=0.03)), ALL),
    "the machine's label": (configured(lambda config: config.update(machine="b")), [*PROBES, *ALL]),
    "a backend's option": (
        configured(lambda config: config["backends"]["fake"].update(options={"launch_s": 0.001})),
        ["probe fake", *cells(backend="fake"), *DRAWN, CURVE],
    ),
    "a backend's threads": (
        configured(lambda config: config["backends"]["numpy"].update(threads=1)),
        ["probe numpy", *cells(backend="numpy"), *DRAWN, CURVE],
    ),
    "the baseline": (configured(lambda config: config.update(baseline="fake")), [*DRAWN, CURVE]),
    "a size more": (
        configured(lambda config: config["workloads"]["add"].update(sizes=[1000, 10, 100])),
        [
            f"add, {backend}, float64, n=10, round {round} of 2"
            for backend in ("numpy", "fake")
            for round in (1, 2)
        ]
        + ["summarize 8 cells of 2 rounds", *CHARTS],
    ),
    "a size less": (
        configured(lambda config: config["workloads"]["add"].update(sizes=100)),
        ["summarize 4 cells of 2 rounds", *CHARTS],
    ),
    "rounds raised": (
        configured(lambda config: config.update(rounds=3)),
        [
            *(job.replace("round 2 of 2", "round 3 of 3") for job in cells(rounds=(2,))),
            RENDER[1].replace("round 2 of 2", "round 3 of 3"),
            *("summarize 6 cells of 3 rounds", *CHARTS),
        ],
    ),
    "rounds lowered": (
        configured(lambda config: config.update(rounds=1)),
        ["summarize 6 cells of 1 rounds", *CHARTS],
    ),
    "a round deleted": (
        removed("results/cells/add/fake/float64/100/2.csv"),
        ["add, fake, float64, n=100, round 2 of 2", *DRAWN],
    ),
    "an output deleted": (
        removed("results/cells/polar/numpy/float32/100/output.npy"),
        ["polar, numpy, float32, n=100, round 1 of 2", *DRAWN, CURVE],
    ),
    "a probe deleted": (removed("results/backends/fake.json"), ["probe fake"]),
    "the summary deleted": (removed("results/summary.csv"), DRAWN),
    "a picture deleted": (removed("results/plots/add/float64/time.svg"), ["draw add, float64"]),
}


SEEDS = {"0": "1", "1": "2", "2": "all", "3": "1", "4": "1"}  # with so many cores
CASES = {
    **{f"hash seed {seed}": (unchanged, []) for seed in SEEDS},
    **{name: (change, []) for name, change in UNCHANGED.items()},
    **CHANGED,
}


@pytest.fixture(scope="module")
def plans(finished, tmp_path_factory, request) -> dict[str, list[str] | Exception]:
    """What would run after each change (of those that are tested now), planned side by side."""
    folder = tmp_path_factory.mktemp("plans")
    tests = [item.callspec.params for item in request.session.items if hasattr(item, "callspec")]
    names = [params["case"] for params in tests if params.get("case") in CASES]

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


# --- damage and retry


def test_a_file_that_was_cut_is_named_and_measured_again(done):
    path = done.root / "results/cells/add/numpy/float64/100/2.csv"
    lines = path.read_text().splitlines(keepends=True)
    path.write_text("".join(lines[:-1]))
    assert done.plan() == sorted(DRAWN)
    done.sweep("--until", "summarize")
    row = next(
        row
        for row in table.read(done.root / "results/summary.csv")
        if (row["backend"], row["size"], row["workload"]) == ("numpy", "100", "add")
    )
    assert row["status"] == "error" and row["median_s"] == ""
    assert str(path.relative_to(done.root)) in row["reason"] and "make retry" in row["reason"]

    retried = done.crossover("retry")
    assert retried.returncode == 0, retried.stderr
    assert not path.exists()
    # And, where others use this machine, rounds that they disturbed.
    found = re.findall(r"^results/cells/(.+)/(.+)/(.+)/(.+)/(.+)\.csv: ", retried.stdout, re.M)
    jobs = ["{}, {}, {}, n={}, round {} of 2".format(*names) for names in found]
    assert "add, numpy, float64, n=100, round 2 of 2" in jobs
    planned = [job for job in done.plan() if not job.startswith(("draw ", "render "))]
    assert planned == sorted([*jobs, SUMMARY])


OWN = """
from pathlib import Path

from crossover.backends import Host
from crossover.status import Unavailable

import numpy

LIBRARIES = ("somelib",)
DEVICES = ("cpu",)


class Backend(Host):
    xp = numpy

    def __init__(self, device, threads, options):
        super().__init__(device, threads, options)
        if Path("unplugged").exists():
            raise Unavailable("it is not plugged in")
"""
FAULTY = {
    **CONFIG,
    "workloads": {"add": {"sizes": [100], "dtypes": ["float64"]}},
    "backends": {
        "numpy": {},
        "own": {"file": "own.py"},
        "stuck": {
            "file": "tests/fake_device.py",
            "device": "fake",
            "options": {"fault": "hang", "fault_at": 100},
        },
    },
}
FAULTY_DRAWN = ["summarize 3 cells of 2 rounds", "draw add, float64"]


def library(project: Project, version: int) -> str:
    """A folder for PYTHONPATH in which a library is installed."""
    folder = project.root / f"library-{version}"
    info = folder / f"somelib-{version}.dist-info"
    info.mkdir(parents=True, exist_ok=True)
    text = f"Metadata-Version: 2.1\nName: somelib\nVersion: {version}\n"
    (info / "METADATA").write_text(text)
    return str(folder)


@pytest.fixture(scope="module")
def faulty(tmp_path_factory) -> Project:
    """A finished sweep in which one backend is not there, and one takes too long."""
    made = copy_to(tmp_path_factory.mktemp("faulty") / "clone")
    (made.root / "own.py").write_text(OWN)
    (made.root / "unplugged").touch()
    made.configure(FAULTY)
    stuck = [f"results/cells/add/stuck/float64/100/{round}.csv" for round in (1, 2)]
    path = library(made, 1)
    # Too short for any cell, on any machine; for the others there is time enough.
    made.sweep(*stuck, "--config", "timeout_s=0.5", PYTHONPATH=path)
    made.sweep(PYTHONPATH=path)
    (made.root / "unplugged").unlink()
    return made


def test_what_was_unavailable_or_too_slow_is_not_tried_again_unasked(faulty):
    rows = table.read(faulty.root / "results/summary.csv")
    found = {row["backend"]: (row["status"], row["reason"]) for row in rows}
    assert found["own"] == ("unavailable", "it is not plugged in")
    assert found["stuck"] == ("timeout", "took more than 0.5 s (timeout_s)")
    assert found["numpy"][0] == "ok"
    assert faulty.plan(PYTHONPATH=library(faulty, 1)) == []


def test_retry_removes_and_the_next_run_measures_what_is_not_ok(faulty, tmp_path):
    project = faulty.copy(tmp_path / "clone")
    before = set(project.root.glob("results/**/*"))
    done = project.crossover("retry")
    assert done.returncode == 0, done.stderr
    gone = {str(p.relative_to(project.root)) for p in before if not p.exists()}
    # A machine this busy may have disturbed a round of the good backend: not this test's matter.
    gone = {name for name in gone if "/numpy/" not in name}
    assert gone == {
        "results/backends/own.json",
        *(
            f"results/cells/add/{backend}/float64/100/{name}"
            for backend in ("own", "stuck")
            for name in ("1.csv", "2.csv", "output.npy")
        ),
    }
    assert all(name in done.stdout for name in gone)
    assert "own.json: unavailable (it is not plugged in)" in done.stdout
    assert "timeout (took more than 0.5 s (timeout_s))" in done.stdout

    planned = project.plan(PYTHONPATH=library(project, 1))
    assert [job for job in planned if ", numpy," not in job] == sorted(
        [
            "probe own",
            *(
                f"add, {backend}, float64, n=100, round {round} of 2"
                for backend in ("own", "stuck")
                for round in (1, 2)
            ),
            *FAULTY_DRAWN,
        ]
    )


def test_another_version_of_a_library_is_for_its_own_backend(faulty):
    assert faulty.plan(PYTHONPATH=library(faulty, 2)) == sorted(
        [
            "probe own",
            *(f"add, own, float64, n=100, round {round} of 2" for round in (1, 2)),
            *FAULTY_DRAWN,
        ]
    )


def test_a_cell_believes_a_probe_that_was_asked_the_same_and_no_other(faulty, tmp_path):
    project = faulty.copy(
        tmp_path / "clone"
    )  # it is plugged in again, and the probe has not seen it
    path = project.root / "results/cells/add/own/float64/100/2.csv"
    found = []
    for version in (1, 2):
        path.unlink()
        target = str(path.relative_to(project.root))
        project.sweep(target, PYTHONPATH=library(project, version))
        found.append(record.read(path)[0]["status"])
    assert found == ["unavailable", "ok"]


# --- what is declared


@pytest.mark.parametrize(
    "profile", sorted(ROOT.glob("profiles/*/config.yaml")), ids=lambda path: path.parent.name
)
def test_every_profile_leaves_out_the_dates_of_scripts(profile):
    triggers = yaml.safe_load(profile.read_text())["rerun-triggers"]
    assert triggers == ["mtime", "params", "input", "software-env"]


def imported(finished: Project) -> dict[str, set[str]]:
    """By script: the package's modules that it and its child imported, as files."""
    lines = (finished.root.parent / "imports.txt").read_text().splitlines()
    seen = [line.split("\t") for line in lines]
    scripts = {
        pid: name
        for pid, _, _, *command in seen
        for name in ("measure", "probe", "render", "summarize", "charts", "curve")
        if any(word.endswith(f".{name}.py") for word in command)
    }
    found: dict[str, set[str]] = {name: set() for name in scripts.values()}
    for pid, parent, module, *_ in seen:
        if script := scripts.get(pid) or scripts.get(parent):
            found[script].add(file_of(module))
    return found


def file_of(module: str) -> str:
    path = Path(PACKAGE, *module.split(".")[1:])
    is_folder = (ROOT / path).is_dir()
    return str(path / "__init__.py" if is_folder else path.with_suffix(".py"))


def declared(finished: Project) -> dict[str, set[str]]:
    """By rule: the package's modules among its inputs; not the one workload or backend."""
    done = finished.sweep("--detailed-summary")
    found: dict[str, set[str]] = {}
    for line in done.stdout.splitlines()[1:]:
        _, _, rule, _, inputs, *_ = line.split("\t")
        found.setdefault(rule, set()).update(
            name
            for name in inputs.split(",")
            if name.startswith(PACKAGE)
            and (Path(name).name == "__init__.py" or Path(name).parent == Path(PACKAGE))
        )
    return found


def test_each_rule_declares_what_its_script_imports(finished):
    """An import too few, and an edit re-runs nothing; one too many, and it re-runs too much."""
    real, listed = imported(finished), declared(finished)
    # Planning and judging imports are in every process; the package's own file holds no code.
    package = f"{PACKAGE}/__init__.py"
    for names in (*real.values(), *listed.values()):
        names.discard(package)
    assert listed["measure_again"] == listed["measure"]
    for script in ("summarize", "charts", "curve"):
        assert listed[script] == real[script], script
    harness = {f"{PACKAGE}/{name}" for name in identity.HARNESS}
    assert harness == real["measure"] | real["probe"]
    assert listed["measure"] == listed["probe"] == harness
    assert listed["render"] >= real["render"]
    assert listed["render"] - real["render"] <= harness


def test_the_package_file_holds_no_code():
    """It is in no rule's inputs: a new version number is no reason to measure again."""
    for node in ast.parse((ROOT / PACKAGE / "__init__.py").read_text()).body:
        assert isinstance(node, ast.Expr | ast.Assign) and isinstance(node.value, ast.Constant)


def test_no_raw_file_is_too_large_to_be_known_by_its_content(finished):
    """Snakemake compares contents up to 1 MB; a file in the cache goes by its date above that."""
    assert len(",".join(record.COLUMNS)) < 1000
    for path in finished.root.glob("results/**/*"):
        assert path.is_dir() or path.stat().st_size < 1_000_000, path
