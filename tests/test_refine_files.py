"""refine.yaml: read by every run, strict, and no reason to measure anything else."""

import re
import shutil

import pytest
import yaml

from conftest import CONFIG, Project, copy_to, drop_seals
from crossover import added_sizes, config, record
from crossover.cells import Picture
from crossover.config import ConfigError

RAW = {
    "workloads": {
        "add": {"sizes": [100, 10_000], "dtypes": ["float32", "float64"]},
        "polar": {"sizes": [100], "dtypes": ["float32"]},
    },
    "backends": {"numpy": {}},
}
MEASURED = re.compile(r"^(?:render )?(\w+), (\w+), (\w+), n=(\d+), round (\d+) of (\d+)$")


def loaded(folder, raw=RAW):
    (folder / "c.yaml").write_text(yaml.safe_dump(raw))
    return config.load(folder / "c.yaml", folder)


def write(folder, added, name=""):
    added_sizes.write(folder / "results" / name / added_sizes.NAME, added)


def test_what_is_added_is_for_its_workload_and_dtype_alone(tmp_path):
    write(tmp_path, {"add": {"float64": [3000, 700, 100]}, "polar": {"float32": [300]}})
    read = loaded(tmp_path)
    assert read.workloads["add"].sizes_in("float64") == (100, 700, 3000, 10_000)
    assert read.workloads["add"].sizes_in("float32") == read.workloads["add"].sizes
    assert {c.size for c in read.cells() if c.dtype == "float64"} == {100, 700, 3000, 10_000}
    # The article's way to draw says nothing about a break-even.
    line, raster = (
        Picture("polar", "line", "float32", 300),
        Picture("polar", "raster", "float32", 300),
    )
    assert raster in read.pictures() and line not in read.pictures()
    assert Picture("polar", "line", "float32", 100) in read.pictures()


def test_a_named_config_has_its_own(tmp_path):
    write(tmp_path, {"add": {"float64": [700]}}, "mine")
    assert 700 not in loaded(tmp_path).workloads["add"].sizes_in("float64")
    assert 700 in loaded(tmp_path, RAW | {"name": "mine"}).workloads["add"].sizes_in("float64")
    with pytest.raises(ConfigError, match="is taken in results/"):
        loaded(tmp_path, RAW | {"name": "refine.yaml"})


def test_what_the_config_has_no_more_is_passed_over_and_kept(tmp_path):
    write(tmp_path, {"gone": {"float64": [7]}, "polar": {"float64": [7], "float32": [8]}})
    read = loaded(tmp_path)
    assert {cell.size for cell in read.cells() if cell.workload == "polar"} == {100, 8}
    kept = added_sizes.read(tmp_path / "results" / added_sizes.NAME)
    more = added_sizes.joined(kept, {"add": {"int32": (5,)}, "polar": {"float32": (9, 8)}})
    assert more == {
        "gone": {"float64": (7,)},
        "polar": {"float64": (7,), "float32": (8, 9)},
        "add": {"int32": (5,)},
    }


def test_sizes_for_all_workloads_replace_these_too(tmp_path):
    write(tmp_path, {"add": {"float64": [700]}})
    read = loaded(tmp_path, RAW | {"sizes": [5]})
    assert {cell.size for cell in read.cells()} == {5} and read.sizes_replaced


def test_the_file_explains_itself_and_reads_as_it_was_written(tmp_path):
    names = {"no": {"float64": (1, 10**15)}, "1e3": {"int32": (2,)}, "a.b+c": {"bfloat16": (3,)}}
    path = tmp_path / added_sizes.NAME
    added_sizes.write(path, names)
    assert added_sizes.read(path) == names
    text = path.read_text()
    assert text.startswith("# Sizes that `make refine` added") and "UNDO=1" in text
    assert len(text.splitlines()) < 10 and [p.name for p in tmp_path.iterdir()] == [path.name]


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("", "is empty"),
        ("[1]\n", "holds a list"),
        ("add: [1000]\n", "add: [1000] is not a map of dtypes to sizes"),
        ("workloads: {add: {sizes: [1]}}\n", "workloads.add: unknown dtype"),
        ("add: {float46: [1000]}\n", "add.float46: unknown dtype, did you mean"),
        ("add: {float64: 1000}\n", "add.float64: 1000 is not a list of whole numbers of at least"),
        ("add: {float64: [0]}\n", "add.float64: [0] is not a list of whole numbers of at least 1"),
        ("add: {float64: [1.5]}\n", "add.float64: [1.5] is not a list of whole numbers"),
        ("add: {float64: [true]}\n", "add.float64: [True] is not a list of whole numbers"),
        ("add: {float64: [.nan]}\n", "add.float64: [nan] is not a list of whole numbers"),
        ("add: {float64: [1e99]}\n", "add.float64: ['1e99'] is not a list of whole numbers"),
        ("add: {float64: [010]}\n", "YAML reads 010 as 8"),
        ("add: {float64: [1]}\nadd: {float64: [2]}\n", "key given twice"),
        ("add: {float64: [1\n", "not YAML"),
        ("\0", "not YAML"),
    ],
)
def test_what_make_refine_did_not_write_is_one_clear_line(tmp_path, text, fault):
    path = tmp_path / "results" / added_sizes.NAME
    path.parent.mkdir()
    path.write_text(text)
    with pytest.raises(ConfigError) as caught:
        loaded(tmp_path)
    (line,) = caught.value.lines
    assert line.startswith(f"{path}: ") and fault in line and "\n" not in line
    assert line.endswith(added_sizes.CURE)


def test_a_spelling_by_hand_is_taken(tmp_path):
    (tmp_path / added_sizes.NAME).write_text("add: {float64: [1e4, 2_000, '30']}\n")
    assert added_sizes.read(tmp_path / added_sizes.NAME) == {"add": {"float64": (30, 2000, 10_000)}}


# --- through Snakemake


def measured(jobs):
    """(workload, size) of what is measured or drawn."""
    return {(m[1], int(m[4])) for job in jobs if (m := MEASURED.match(job))}


MODULE = """
module crossover:
    snakefile: "crossover/Snakefile"
    config: {config!r}
    prefix: "sub"

use rule * from crossover as crossover_*

rule all:
    default_target: True
    input: rules.crossover_all.input
"""


@pytest.mark.whole
def test_a_module_has_it_below_its_prefix(tmp_path):
    parent = Project(tmp_path / "parent")
    copy_to(parent.root / "crossover")
    shutil.copytree(parent.root / "crossover/profiles", parent.root / "profiles")
    own = {"workloads": {"add": {"sizes": [50], "dtypes": ["float64"]}}, "backends": {"numpy": {}}}
    (parent.root / "Snakefile").write_text(MODULE.format(config=own | {"rounds": 1}))
    write(parent.root, {"add": {"float64": [7]}})
    write(parent.root / "sub", {"add": {"float64": [60]}})
    assert measured(parent.plan()) == {("add", 50), ("add", 60)}


def test_only_new_sizes_run_and_the_config_stays_as_it_is(finished, tmp_path):
    """A real sweep whose times at two sizes are put far apart by hand: n* is between them."""
    project = finished.copy(tmp_path / "clone")
    for size, ratio in ((100, 0.1), (1000, 10.0)):
        for number in (1, 2):
            for backend, factor in (("numpy", 1.0), ("fake", 1 / ratio)):
                path = project.root / f"results/cells/add/{backend}/float64/{size}/{number}.csv"
                seconds = {"seconds": repr(1e-3 * factor * (1 + number / 1e4)), "device_s": ""}
                rows = [drop_seals(row) | seconds for row in record.read(path)]
                record.write(path, rows)
    before = (project.root / "config.yaml").read_bytes()
    kept = project.root / "results/refine.yaml"

    # The last flags are for Snakemake, as ARGS is: here they leave out the drawing.
    done = project.crossover(
        "refine", "--minutes", "30", "--within", "1.8", "--", "--until", "decide"
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert (project.root / "config.yaml").read_bytes() == before
    added = added_sizes.read(kept)
    assert set(added) == {"add"} and added["add"]["float64"][0] not in (100, 1000)
    jobs = re.findall(r"^Job \d+: (.+)$", done.stdout + done.stderr, re.MULTILINE)
    assert measured(jobs) == {("add", size) for size in added["add"]["float64"]}
    assert not any(job.startswith(("probe", "ceilings")) for job in jobs)
    assert done.stdout.index("Step 1 adds 1 size") < done.stdout.index("What is known now:")

    undone = project.crossover("refine", "--undo")
    assert undone.stdout.startswith("Removed results/refine.yaml") and not kept.exists()
    assert measured(project.plan()) == set()


def test_without_a_sweep_there_is_nothing_to_refine(project):
    done = project.crossover("refine")
    assert done.returncode == 1 and "run 'make sweep' first" in done.stderr
    for flag, value, words in (
        ("--minutes", "none", "MINUTES=none: give a number of minutes above 0"),
        ("--within", "1", "WITHIN=1: give a factor above 1"),
    ):
        assert words in project.crossover("refine", flag, value).stderr
    project.configure(CONFIG | {"sizes": [100]})
    assert "stands for those of all workloads" in project.crossover("refine").stderr
    kept = project.root / "results/refine.yaml"
    kept.parent.mkdir()
    kept.write_text("damaged")
    assert "Removed" in project.crossover("refine", "--undo").stdout and not kept.exists()
    assert "Nothing to undo" in project.crossover("refine", "--undo").stdout
