"""A workload file of one's own in the config: one line before any job, and nothing is executed."""

import pytest

import own_files
from config_cases import lines, raw
from crossover import checkup, config, doctor, planning, plugin
from crossover.cells import Cell
from crossover.workloads import Cost


def mine(file, name="mine", **entry):
    return raw(workloads={name: {"file": file, "sizes": [1000], **entry}})


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("own")
    own_files.write(made)
    return made


@pytest.mark.parametrize("name", own_files.GOOD)
def test_compute_and_inputs_are_enough_under_any_name(folder, name):
    read = config.read(mine(name, dtypes=["float32", "int64"]), folder).workloads["mine"]
    assert (read.file, read.dtypes) == (folder / name, ("float32", "int64"))


@pytest.mark.parametrize(
    ("name", "words"),
    [*((name, words) for name, (_, words) in own_files.BAD.items()), *own_files.ODD.items()],
    ids=[name[:20] for name in (*own_files.BAD, *own_files.ODD)],
)
def test_a_file_that_cannot_do_is_one_line(folder, name, words):
    (line,) = lines(mine(name), folder)
    assert line.startswith("workloads.mine.file: ") and words in line
    assert len(line) < 500


@pytest.mark.parametrize("name", ["add", "ADD", "polar"])
def test_a_name_that_is_taken(folder, name):
    (line,) = lines(mine("mine.py", name), folder)
    words = "the name is taken by a workload that ships with Crossover; any other name"
    assert line == f"workloads.{name}: {words}"


def test_a_name_that_a_picture_has(folder):
    (line,) = lines(mine("mine.py", "roofline_float32.SVG"), folder)
    assert "the name is taken by a picture in results/" in line


@pytest.mark.parametrize("encoding", ["utf-8-sig", "latin-1"])
def test_files_of_other_editors(tmp_path, encoding):
    """A byte-order mark, line ends of Windows, an encoding that the file names itself."""
    mark = "# -*- coding: latin-1 -*-\r\n" if encoding == "latin-1" else ""
    text = mark + "# é\r\n" + own_files.KERNEL.replace("\n", "\r\n")
    (tmp_path / "mine.py").write_bytes(text.encode(encoding))
    assert config.read(mine("mine.py"), tmp_path).workloads["mine"]
    assert plugin.load(tmp_path / "mine.py").inputs


def test_every_second_edit_is_seen(tmp_path):
    """Python's own cache would take the first for the second: same length, same second."""
    path = tmp_path / "mine.py"
    for number in (1, 2, 3):
        path.write_text(f"NUMBER = {number}\n")
        assert number == plugin.load(path).NUMBER
    assert [each.name for each in tmp_path.iterdir()] == ["mine.py"]


def test_planning_without_a_cost_executes_nothing(tmp_path):
    (tmp_path / "mine.py").write_text("raise SystemExit('executed')\n" + own_files.KERNEL)
    read = config.read(mine("mine.py", dtypes=["float32", "float64"]), tmp_path)
    assert planning.cost(read, Cell("mine", "numpy", "float32", 1000)) == Cost(0.0, 4000, 4000)
    needs, no_cost, kept = checkup._cells(read)
    assert (needs, no_cost, kept) == ([], {"mine": doctor.NOT_SAID}, 0)
    (line,) = doctor._workloads(doctor.Facts(no_cost=no_cost))
    assert line.advice == "a function cost(size, itemsize) in its file would tell"


def test_planning_asks_a_cost_for_what_it_names(tmp_path):
    cost = "def cost(itemsize):\n    return Cost(1.0, 5 * itemsize, 2)\n"
    text = f"from crossover.workloads import Cost\n{own_files.KERNEL}\n\n{cost}"
    (tmp_path / "mine.py").write_text(text)
    read = config.read(mine("mine.py"), tmp_path)
    assert planning.cost(read, Cell("mine", "numpy", "float64", 1000)) == Cost(1.0, 40, 2)


@pytest.mark.parametrize("found", ["5", "None", "Cost(1, 10**400, 1)", "Cost('a', 1, 1)", "exit()"])
def test_planning_does_not_end_with_a_cost_that_is_none(tmp_path, found):
    text = "from crossover.workloads import Cost\nfrom sys import exit\n"
    text += f"{own_files.KERNEL}\n\ndef cost(size):\n    return {found}\n"
    (tmp_path / "mine.py").write_text(text)
    read = config.read(mine("mine.py"), tmp_path)
    assert planning.cost(read, Cell("mine", "numpy", "float64", 1000)) == Cost(0.0, 8000, 8000)
