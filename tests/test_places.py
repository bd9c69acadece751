"""Odd places and odd ways to start: each a real sweep, or at least a real plan."""

import json
import os
import re
import shutil
import stat
import subprocess
import sysconfig
import venv
from copy import deepcopy
from pathlib import Path

import pytest
import yaml

from conftest import CONFIG, Project, copy_to
from crossover import table

TINY = {
    "workloads": {"polar": {"sizes": [50], "dtypes": ["float32"]}},
    "backends": {"numpy": {}, "fake": {"file": "tests/fake_device.py", "device": "fake"}},
    "rounds": 1,
    "budget_s": 0.01,
    "timeout_s": 60,
}
DRAWN = [
    "draw how accurate each workload is",
    "draw how near to the machine each dtype is",
    "draw polar, float32",
    "make the page",
]
MEASURED = re.compile(r"^(\w+), (\w+), (\w+), n=(\d+), round (\d+) of (\d+)$")


def tiny(project: Project) -> dict:
    """A config with the paths of that project's files in full, for another working directory."""
    config = deepcopy(TINY)
    config["backends"]["fake"]["file"] = str(project.root / "tests/fake_device.py")
    return config


def assert_swept(place: Path) -> None:
    """A summary in which all is well, and the pictures beside it."""
    rows = table.read(place / "results/summary.csv")
    assert {row["backend"] for row in rows} >= {"numpy", "fake"}
    assert {row["status"] for row in rows} == {"ok"}
    pictures = {path.name for path in place.glob("results/plots/polar/float32/*")}
    assert pictures == {
        f"{name}.{kind}"
        for name in ("time", "speedup", "parts", "reuse", "curve")
        for kind in ("png", "svg")
    }


def sizes(jobs: list[str]) -> dict[str, set[int]]:
    """What is measured: sizes by workload."""
    found: dict[str, set[int]] = {}
    for job in jobs:
        if match := MEASURED.match(job):
            found.setdefault(match[1], set()).add(int(match[4]))
    return found


def sources(root: Path) -> set[str]:
    """All files below a folder but what Python caches there."""
    paths = (path.relative_to(root) for path in root.rglob("*"))
    return {str(path) for path in paths if "__pycache__" not in path.parts}


def test_a_path_with_a_space_and_an_apostrophe(finished):
    assert " " in str(finished.root) and "'" in str(finished.root)
    assert_swept(finished.root)
    assert finished.plan() == []


@pytest.fixture
def german(tmp_path: Path) -> dict[str, str]:
    """A locale with a decimal comma, made here where the system has its source."""
    made = tmp_path / "locales"
    made.mkdir()
    if shutil.which("localedef"):
        command = ["localedef", "-i", "de_DE", "-f", "UTF-8", str(made / "de_DE.UTF-8")]
        subprocess.run(command, capture_output=True)
    names = dict.fromkeys(("LANG", "LC_ALL", "LC_NUMERIC"), "de_DE.UTF-8")
    return names | ({"LOCPATH": str(made)} if any(made.iterdir()) else {})


def test_a_virtual_environment_in_such_a_path(project):
    """As `make` sets it up: the interpreter itself has the odd name."""
    odd = project.copy(project.root.with_name("it's a clone"))
    venv.create(odd.root / ".venv")
    (site,) = odd.root.glob(".venv/lib/python*/site-packages")
    (site / "ours.pth").write_text(sysconfig.get_path("purelib"))
    command = odd.command("results/backends/numpy.json")
    done = subprocess.run(
        [str(odd.root / ".venv/bin/python"), *command[1:]], cwd=odd.root, capture_output=True
    )
    assert done.returncode == 0, done.stderr.decode()
    assert json.loads((odd.root / "results/backends/numpy.json").read_text())["available"]


@pytest.mark.whole
def test_from_a_folder_of_ones_own(tmp_path, german, monkeypatch):
    """-s, a checkout that cannot be written, a decimal comma, and windows without a display."""
    project = copy_to(tmp_path / "clone")
    project.configure(tiny(project))
    (here := tmp_path / "here").mkdir()
    before = sources(project.root)
    locked = [path for path in (project.root, *project.root.rglob("*")) if path.is_dir()]
    for path in locked:
        path.chmod(stat.S_IRUSR | stat.S_IXUSR)
    try:
        monkeypatch.delenv("DISPLAY", raising=False)
        environment = german | {"MPLBACKEND": "TkAgg"}
        snakefile = str(project.root / "Snakefile")
        project.sweep("-s", snakefile, cwd=here, **environment)
        assert_swept(here)
        assert sources(project.root) == before
        # New dates are no reason: the default profile is in force here as well.
        for name in before:
            os.utime(project.root / name)
        assert project.plan("-s", snakefile, cwd=here) == []
        assert project.plan("--directory", str(here)) == []
        assert sources(project.root) == before
    finally:
        for path in locked:
            path.chmod(stat.S_IRWXU)


@pytest.mark.whole
def test_a_directory_may_have_a_config_of_its_own(tmp_path):
    project = copy_to(tmp_path / "clone")
    project.configure(tiny(project))
    (other := tmp_path / "other").mkdir()
    assert sizes(project.plan("--directory", str(other))) == {"polar": {50}}
    config = tiny(project)
    config["workloads"]["polar"]["sizes"] = 60
    (other / "config.yaml").write_text(yaml.safe_dump(config))
    assert sizes(project.plan("--directory", str(other))) == {"polar": {60}}


MODULE = """
configfile: "ours.yaml"

module crossover:
    snakefile: "parts/crossover/Snakefile"
    config: config["crossover"]
    prefix: "sub"

use rule * from crossover as crossover_*

rule all:
    default_target: True
    input:
        rules.crossover_all.input,
        "ours/5.txt",

rule ours:
    output: "ours/{size}.txt"
    shell: "echo {wildcards.size} > {output}"
"""


@pytest.mark.whole
def test_as_a_module_with_a_prefix(tmp_path):
    parent = Project(tmp_path / "parent")
    copy_to(parent.root / "parts/crossover")
    shutil.copytree(parent.root / "parts/crossover/profiles", parent.root / "profiles")
    (parent.root / "Snakefile").write_text(MODULE)
    config = deepcopy(TINY)
    config["backends"]["fake"]["file"] = "parts/crossover/tests/fake_device.py"
    parent.configure({"crossover": config}, "ours.yaml")
    parent.sweep()
    assert_swept(parent.root / "sub")
    assert sorted(path.name for path in parent.root.iterdir()) == [
        *(".snakemake", "Snakefile", "ours", "ours.yaml", "parts", "profiles", "sub")
    ]
    moved = Project(parent.root.rename(tmp_path / "moved"))
    assert moved.plan() == []
    moved.edit("parts/crossover/workflow/scripts/crossover/charts.py")
    assert moved.plan() == DRAWN


# --- the command line


@pytest.mark.parametrize(
    ("setting", "expected"),
    [
        ("sizes=1000", {"add": {1000}, "polar": {1000}}),
        ("sizes=[100,200]", {"add": {100, 200}, "polar": {100, 200}}),
        ("sizes=100,2e2", {"add": {100, 200}, "polar": {100, 200}}),
        ("workloads={add: {sizes: [5]}}", {"add": {5}, "polar": {100}}),
    ],
)
def test_sizes_on_the_command_line(project, setting, expected):
    assert sizes(project.plan("--config", setting)) == expected


def test_another_config_shares_the_cells_and_leaves_the_summary_alone(finished, tmp_path):
    project = finished.copy(tmp_path / "clone")
    other = deepcopy(CONFIG) | {"name": "second", "rounds": 1}
    other["workloads"] = {"polar": {"sizes": [50, 100], "dtypes": ["float32"]}}
    project.configure(other, "second.yaml")
    arguments = ("--configfile", "second.yaml", "--replace-workflow-config")
    planned = project.plan(*arguments)
    assert sizes(planned) == {"polar": {50}}
    assert not any(job.startswith("probe ") for job in planned)

    before = (project.root / "results/summary.csv").read_bytes()
    project.sweep("results/second/summary.csv", *arguments)
    assert (project.root / "results/summary.csv").read_bytes() == before
    second = table.read(project.root / "results/second/summary.csv")
    assert {(row["workload"], row["size"]) for row in second} == {("polar", "50"), ("polar", "100")}
    drawn = [*DRAWN, "decide from which size on", "draw the curve of polar, float32"]
    assert project.plan(*arguments) == sorted(drawn)
    assert project.plan() == []


@pytest.mark.parametrize("name", ["quick", "article"])
def test_a_shipped_config_is_complete_in_itself(project, name):
    file = f"config/{name}.yaml"
    planned = project.plan("--configfile", file, "--replace-workflow-config")
    raw = yaml.safe_load((project.root / file).read_text())
    assert raw["name"] == name
    wanted = {
        workload: {int(float(size)) for size in entry["sizes"]}
        for workload, entry in raw["workloads"].items()
    }
    assert sizes(planned) == wanted


# --- Snakemake's own


def test_the_report_is_made_offline_and_has_the_pictures(finished, tmp_path):
    project = finished.copy(tmp_path / "clone")
    nowhere = dict.fromkeys(("http_proxy", "https_proxy"), "http://127.0.0.1:9")
    project.sweep("--report", "report.html", **nowhere)
    page = (project.root / "report.html").read_text(encoding="utf-8")
    for name in ("time", "speedup", "parts", "reuse", "curve", "accuracy", "roofline_float32"):
        assert re.search(rf'"name": "{name}\.(svg|png)"', page), name
    assert len(re.findall(r"data:image/(?:svg\+xml|png);", page)) >= 3 + 2
    assert json.dumps("summary.csv") in page


def test_a_label_may_have_braces(project):
    """The machine's label is a text of the user's, not a pattern of Snakemake's."""
    project.configure(TINY | {"machine": "node {a}, 100 %"})
    assert len(project.plan()) == 15


def test_lint_is_clean(finished):
    done = finished.run("--lint")
    assert done.returncode == 0, done.stdout + done.stderr
