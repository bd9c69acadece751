"""Files that are not what they were, sweeps that are not done, configs that make no sense."""

import csv
import shutil
import tempfile
from pathlib import Path

import pytest

from conftest import Project, copy_to
from crossover import curve
from crossover.cells import Cell
from processes import private_lock, snapshot

pytestmark = pytest.mark.whole

SUMMARY = "results/summary.csv"
SIZES = list(range(10, 100, 10))
CONFIG = {
    "workloads": {"add": {"sizes": SIZES, "dtypes": ["float64"]}},
    "backends": {"numpy": {}},
    "rounds": 1,
    "budget_s": 0.01,
}


def cell(size):
    return Cell("add", "numpy", "float64", size)


@pytest.fixture(scope="module")
def measured():
    """A sweep without charts, all of it good; not to be changed."""
    folder = Path(tempfile.mkdtemp(prefix="damage-"))
    project = copy_to(folder / "clone")
    private_lock(project)
    project.configure(CONFIG)
    project.sweep("results/backends/numpy.json", SUMMARY)
    project.calm()
    project.sweep("results/backends/numpy.json", SUMMARY)
    yield project
    shutil.rmtree(folder)


@pytest.fixture
def copied(measured, tmp_path):
    """A copy of it, of which the tests may break what they like."""
    shutil.copytree(measured.root, tmp_path / "copy")
    return Project(tmp_path / "copy")


def rows(project):
    with (project.root / SUMMARY).open(newline="") as file:
        return list(csv.DictReader(file))


def statuses(project):
    return {int(row["size"]): row["status"] for row in rows(project)}


def cut(path):
    path.write_bytes(path.read_bytes()[:-40])


def edit(path):
    """One digit of one time."""
    table = list(csv.reader(path.open(newline="")))
    column = table[0].index("seconds")
    old = table[1][column]
    table[1][column] = old[:-1] + ("1" if old[-1] != "1" else "2")
    with path.open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(table)


def drop_a_row(path):
    path.write_text("".join(path.read_text().splitlines(keepends=True)[:-1]))


DAMAGE = {
    10: lambda path: cut(path),
    20: lambda path: path.write_bytes(b""),
    30: lambda path: edit(path),
    40: lambda path: shutil.copy(path.parent.parent / "80/1.csv", path),
    50: lambda path: path.write_bytes(bytes(range(256))),
    60: lambda path: drop_a_row(path),
    70: lambda path: path.write_text("a,b\n1,2\n"),
    90: lambda path: cut(path.parent / "output.npy"),
}


def test_damaged_cells_are_named_and_repaired(copied, monkeypatch):
    before = snapshot(copied.root / "results/cells")
    for size, damage in DAMAGE.items():
        damage(copied.root / cell(size).csv(1))
    copied.sweep()

    assert statuses(copied) == {size: "error" if size in DAMAGE else "ok" for size in SIZES}
    for row in rows(copied):
        if row["status"] == "error":
            size = int(row["size"])
            path = cell(size).array if size == 90 else cell(size).csv(1)
            assert str(path) in row["reason"] and "'make retry'" in row["reason"]
            assert not row["median_s"] and not row["speedup"]
    closing = copied.crossover("close").stdout
    assert f"Not ok: {len(DAMAGE)} of" in closing
    assert f"{cell(10).csv(1)} was cut or edited" in closing
    assert f"{cell(40).csv(1)} is another cell's" in closing
    monkeypatch.chdir(copied.root)
    for size in (50, 90):
        arrays, reasons = curve.saved({"numpy": cell(size)})
        assert not arrays and ("output.npy" if size == 90 else "1.csv") in reasons[0]

    done = copied.crossover("retry")
    assert done.returncode == 0
    for size in DAMAGE:
        assert str(cell(size).csv(1)) in done.stdout
        assert not (copied.root / cell(size).csv(1)).exists()
        assert not (copied.root / cell(size).array).exists()
    # Left by a job that was killed while it wrote.
    (copied.root / cell(10).folder / ".1.csv.4711.tmp").write_text("half")
    copied.sweep()
    assert statuses(copied) == dict.fromkeys(SIZES, "ok")
    assert not list((copied.root / "results").rglob("*.tmp"))
    after = snapshot(copied.root / "results/cells")
    assert after["add/numpy/float64/80/1.csv"] == before["add/numpy/float64/80/1.csv"]


def test_a_deleted_file_is_measured_again_and_only_that(copied):
    (copied.root / cell(10).csv(1)).unlink()
    (copied.root / cell(20).array).unlink()
    done = copied.sweep("--dry-run", "--until", "measure")
    again = {line.split(": ", 1)[1] for line in done.stdout.splitlines() if ", round 1" in line}
    assert again == {cell(10).words(1, 1), cell(20).words(1, 1)}


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xff\xfe\x00",
        b"a,b\n1,2\n",
        pytest.param(lambda whole: whole[:-10], id="cut"),
        pytest.param(lambda whole: whole[: whole.index(b"add,numpy,float64,90,")], id="a cell"),
        pytest.param(lambda whole: whole.partition(b"\n")[0] + b"\n", id="header"),
        pytest.param(lambda whole: whole.replace(b",ok,", b",fine,"), id="status"),
    ],
)
def test_a_damaged_summary_is_named_with_its_cure(copied, content):
    path = copied.root / SUMMARY
    whole = path.read_bytes()
    path.write_bytes(content(whole) if callable(content) else content)
    done = copied.crossover("close")
    assert done.returncode == 1 and done.stdout == ""
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"{SUMMARY} ")
    assert line.endswith(f"remove it (rm '{SUMMARY}') and run the sweep again")


def test_the_cure_of_a_damaged_summary_cures(copied):
    whole = statuses(copied)
    (copied.root / SUMMARY).write_bytes(b"")
    assert SUMMARY in copied.crossover("retry").stdout  # removes it, as the line says to do
    copied.sweep(SUMMARY, "results/verdict.md")
    # Not the same times: what others disturbed is measured again too.
    assert statuses(copied) == whole
    assert copied.crossover("close").returncode == 0


def test_a_summary_that_is_not_there(copied):
    (copied.root / SUMMARY).unlink()
    done = copied.crossover("close")
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert SUMMARY in line and "'make sweep'" in line


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"available": false}', b"\xff\x00"])
def test_a_damaged_probe(copied, content):
    """What was measured is kept; what is measured with it says so; retry removes it."""
    probe = copied.root / "results/backends/numpy.json"
    probe.write_bytes(content)
    (copied.root / cell(10).csv(1)).unlink()
    copied.sweep(str(cell(10).csv(1)), SUMMARY)
    assert statuses(copied) == {size: "error" if size == 10 else "ok" for size in SIZES}
    reason = next(row["reason"] for row in rows(copied) if row["size"] == "10")
    assert "results/backends/numpy.json" in reason and "'make retry'" in reason
    assert "results/backends/numpy.json: " in copied.crossover("retry").stdout
    assert not probe.exists() and not (copied.root / cell(10).csv(1)).exists()


# --- a look at a sweep that is not done


def test_peek_shows_what_is_missing_and_writes_nothing(copied):
    for size in SIZES[1:]:
        shutil.rmtree(copied.root / cell(size).folder)
    (copied.root / SUMMARY).unlink()
    before = snapshot(copied.root)
    done = copied.crossover("peek")
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stdout.splitlines() if line.startswith("add, numpy")]
    assert len(lines) == len(SIZES)
    assert lines[0].endswith("  ok")
    assert all(line.endswith("  not measured") for line in lines[1:])
    after = snapshot(copied.root)
    assert {n: s for n, s in after.items() if "__pycache__" not in n} == {
        n: s for n, s in before.items() if "__pycache__" not in n
    }


def test_plan_counts_what_is_to_run(copied):
    def plan():
        done = copied.crossover("plan")
        assert done.returncode == 0, done.stderr
        return done.stdout

    jobs = len(SIZES)
    assert f"{jobs} cells of 1 rounds: {jobs} jobs in all\n0 of them to run" in plan()
    (copied.root / cell(10).csv(1)).unlink()
    assert "\n1 of them to run" in plan() and "1 x numpy" in plan()
    copied.configure(CONFIG | {"rounds": 3})
    text = plan()
    assert f"{jobs} cells of 3 rounds: {3 * jobs} jobs in all\n{2 * jobs + 1} of them" in text
    assert "expected: about " in text and " MB of disk" in text
    other = copied.crossover("plan", "--", "--config", "sizes=[7]", "rounds=2")
    assert other.stdout.startswith("2 of them to run, "), other.stderr


# --- bad configs, one line each, before any job

BAD = {
    "zero": ("workloads: {add: {sizes: [0]}}\nbackends: {numpy: {}}", "0 is not a size"),
    "fraction": ("workloads: {add: {sizes: 1.5}}\nbackends: {numpy: {}}", "1.5 is not a size"),
    "key": ("workloads: {add: {size: [10]}}\nbackends: {numpy: {}}", "sizes"),
    "twice": ("rounds: 1\nrounds: 2", "rounds: key given twice, in lines 1 and 2"),
    "empty": ("", "config.yaml"),
    "not YAML": ("workloads: [", "not YAML"),
    "library": ("workloads: {add: {sizes: 9}}\nbackends: {numpy: {}, nunpy: {}}", "'numpy'"),
    "baseline": (
        "workloads: {add: {sizes: 9}}\nbackends: {torch: {}}\nbaseline: numpy",
        "'numpy' is not one of the backends",
    ),
    "workload": ("workloads: {ad: {sizes: 9}}\nbackends: {numpy: {}}", "add"),
    "rounds": ("workloads: {add: {sizes: 9}}\nbackends: {numpy: {}}\nrounds: 0", "rounds: 0"),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_config_is_one_line_and_no_job(project, name):
    text, words = BAD[name]
    (project.root / "config.yaml").write_text(text)
    done = project.run()
    assert done.returncode != 0
    said = (done.stdout + done.stderr).splitlines()
    lines = [line for line in said if not line.startswith("Using workflow specific profile")]
    assert len(lines) == 1, lines
    assert words in lines[0]
    assert not (project.root / "results").exists() and not (project.root / "logs").exists()


def test_a_config_that_is_not_there(project):
    (project.root / "config.yaml").unlink()
    done = project.run()
    assert done.returncode != 0
    assert done.stderr.splitlines()[-1] == "config.yaml: not there"
    assert "Traceback" not in done.stderr and not (project.root / "results").exists()
    assert project.crossover("peek").stderr == "config.yaml: not there\n"


def test_the_command_line_tools_say_the_same(project):
    (project.root / "config.yaml").write_text(BAD["zero"][0])
    for command in ("close", "peek", "plan", "retry", "fresh", "cell"):
        done = project.crossover(command)
        assert done.returncode == 1 and not done.stdout
        (line,) = done.stderr.splitlines()
        assert BAD["zero"][1] in line
