"""use_gpu.py runs alone, says what the table says, and runs nothing that a name says."""

import ast
import json
import subprocess
import sys
from math import inf

import pytest

from crossover import break_even, machine, take_home
from crossover.intervals import Interval
from crossover.reuse import reuse
from crossover.take_home import Entry

pytestmark = pytest.mark.whole

ASK = """
import json, runpy, sys, warnings
path, questions = sys.argv[1], json.loads(sys.argv[2])
space = runpy.run_path(path)
answers = []
for question in questions:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            answer = space["use_gpu"](*question)
            found = [answer.answer, answer.reason, bool(answer), str(answer)]
        except Exception as error:
            found = [type(error).__name__, str(error), None, ""]
    answers.append(found + [[str(warning.message) for warning in caught]])
print(json.dumps(answers))
"""
HOSTILE = [
    '"""\nimport os; os.abort()\n"""',
    "a'; raise SystemExit(3) #",
    "# ---\n# --- measured\n",
    "{0} %s \\N{BULLET} \\",
    "\u202eevil\u2028line\x1b[2J\x00",
    "half \ud800 of a pair",
    "INF",
    "",
]


def measured(*heights):
    """n* from rounds around these logarithms, at 1e3, 1e4, ..."""
    return break_even.find(
        [{10 ** (3 + i): {1: y - 0.01, 2: y, 3: y + 0.01} for i, y in enumerate(heights)}]
    )


def kept(low, high):
    """A reuse with k* from 3.5 s / gain."""
    speedup = Interval(low, (low * high) ** 0.5, high)
    return reuse(
        speedup.point, 1.0, upload_s=1.5, download_s=2.0, round_trip_s=4.5, first_call_s=6.5,
        speedup=speedup,
    )  # fmt: skip


def entry(found, workload="add", **others):
    values = {"dtype": "float64", "backend": "torch_cuda", "baseline": "numpy", "device": ""}
    return Entry(workload, **(values | others), round_trip=found)


@pytest.fixture
def ask(tmp_path):
    """Runs the file alone, isolated from everything that is installed or set here."""

    def run(entries, *questions, cpus=None, cores=(1,)):
        cpus = [machine.cpu_model()] if cpus is None else cpus
        path = tmp_path / "use_gpu.py"
        path.write_text(take_home.render(entries, cpus, cores), encoding="utf-8")
        done = subprocess.run(
            [sys.executable, "-I", "-S", "-c", ASK, str(path), json.dumps(questions)],
            capture_output=True,
            text=True,
            cwd=tmp_path,
        )
        assert done.returncode == 0, done.stderr
        assert not done.stderr
        return json.loads(done.stdout)

    return run


def answers(found):
    return [one[0] for one in found]


def test_it_says_what_the_break_even_says(ask):
    found = measured(-2, -1, 1, 2)
    sizes = [999, 1000, found.low * 0.999, found.size, found.high * 1.001, 1e6, 1_000_001]
    told = ask([entry(found)], *(["add", n, "float64"] for n in sizes))
    assert answers(told) == ["unknown", "no", "no", "unknown", "yes", "yes", "unknown"]
    assert found.words() in told[1][1] and "torch_cuda faster than numpy" in told[1][1]
    assert "outside of what was measured, 1,000 to 1,000,000" in told[0][1]
    assert [one[2] for one in told] == [one[0] == "yes" for one in told]
    assert told[4][3] == f"yes: {told[4][1]}"
    assert not any(one[4] for one in told)


@pytest.mark.parametrize(
    ("heights", "wanted"),
    [
        ((1, 1, 1), ["yes", "yes", "yes"]),
        ((-1, -1, -1), ["no", "no", "no"]),
        ((0, 0, 0), ["unknown"] * 3),
        ((0, 1, 1), ["unknown", "yes", "yes"]),
        ((-1, 1, -1), ["no", "yes", "no"]),
        ((1, 0, 1), ["yes", "unknown", "yes"]),
        ((1,), ["yes", "unknown", "unknown"]),
    ],
)
def test_every_kind(ask, heights, wanted):
    told = ask([entry(measured(*heights))], *(["add", 10**p, "float64"] for p in (3, 4, 5)))
    assert answers(told) == wanted


def test_what_comes_from_a_file_of_break_evens_is_the_same(ask):
    found = measured(-2, -1, 1, 2)
    again = break_even.of_row(break_even.to_row(found))
    assert take_home.render([entry(again)], [], []) == take_home.render([entry(found)], [], [])


def test_data_that_stays_there_pays_from_some_calls_on(ask):
    figures = {1000: kept(1.5, 3.0), 10_000: kept(2.0, 8.0), 100_000: kept(0.9, 3.0)}
    told = ask(
        [entry(measured(-2, -1, -0.5), reuse=figures)],
        *(["add", 1000, "float64", calls] for calls in (1, 2, 7, 8, inf)),
        *(["add", 3000, "float64", calls] for calls in (1.5, 7, 8)),
        *(["add", 10_000, "float64", calls] for calls in (3, 4)),
        *(["add", 100_000, "float64", calls] for calls in (1, 2, 1e9)),
    )
    assert answers(told[:5]) == ["no", "unknown", "unknown", "yes", "yes"]
    assert answers(told[5:8]) == ["unknown", "unknown", "yes"]
    assert answers(told[8:10]) == ["unknown", "yes"]
    assert answers(told[10:]) == ["no", "unknown", "unknown"]
    assert "7 calls: data that stays there pays from 2 to 8 calls on" in told[2][1]
    assert "from 2 calls on at best, or never" in told[12][1]
    assert "the first call in a process takes up to 2 s more" in told[0][1]


def test_where_the_round_trip_pays_it_does_for_many_calls(ask):
    told = ask([entry(measured(1, 1), reuse={1000: kept(0.3, 0.5)})], ["add", 1000, "float64", 9])
    assert answers(told) == ["yes"]


def test_a_slower_device_never_pays_and_what_has_no_interval_is_not_known(ask):
    figures = {1000: kept(0.3, 0.5), 10_000: reuse(2.0, 1.0, upload_s=1.0, download_s=1.0)}
    told = ask(
        [entry(measured(-1, -1, -1), reuse=figures)],
        *(["add", n, "float64", 1e9] for n in (1000, 10_000, 100_000)),
    )
    assert answers(told) == ["no", "unknown", "unknown"]
    assert "never pays" in told[0][1] and "no interval" in told[1][1]
    assert "not measured around n = 100,000" in told[2][1]


def test_one_backend_that_is_faster_is_enough(ask):
    first, second = entry(measured(-1, -1)), entry(measured(-1, 1), backend="cupy")
    unclear = entry(measured(0, 0), backend="jax")
    questions = [["add", 1000, "float64"], ["add", 10_000, "float64"]]
    assert answers(ask([first, second], *questions)) == ["no", "yes"]
    assert answers(ask([first, unclear], *questions)) == ["unknown", "unknown"]
    told = ask([first, second, unclear], *questions)
    assert answers(told) == ["unknown", "yes"] and "cupy" in told[1][1]


def test_the_best_cpu_backend_is_named_beside(ask):
    told = ask([entry(measured(1, 1), best=measured(-1, -1))], ["add", 1000, "float64"])
    assert "faster than the best CPU backend: never up to n = 10,000" in told[0][1]


def test_what_was_not_measured_is_unknown(ask):
    rows = [entry(measured(1, 1)), entry(None, workload="polar")]
    questions = (["matmul", 1000, "float64"], ["add", 1000, "float32"], ["polar", 1000, "float64"])
    told = ask(rows, *questions)
    assert answers(told) == ["unknown"] * 3
    assert "matmul float64 was not measured (add float64 was)" in told[0][1]
    assert "no GPU was measured" in ask([], questions[0])[0][1]


@pytest.mark.parametrize("bad", [[0, 1], [-5, 1], ["x", 1], [float("nan"), 1], [inf, 1], [10, 0]])
def test_what_is_no_size_or_number_of_calls_is_refused(ask, bad):
    n, calls = bad
    assert answers(ask([entry(measured(1, 1))], ["add", n, "float64", calls])) == ["ValueError"]


def test_a_dtype_may_be_the_librarys_own():
    space = {"__name__": "use_gpu"}
    exec(compile(take_home.render([entry(measured(1, 1))], [], []), "use_gpu.py", "exec"), space)
    np = pytest.importorskip("numpy")

    class Torchs:
        def __repr__(self):
            return "torch.float64"

    for dtype in (np.float64, np.dtype("float64"), "float64", Torchs()):
        assert space["use_gpu"]("add", 1000, dtype).answer == "yes", dtype
    assert space["use_gpu"]("add", np.int64(1000), "float64")


@pytest.mark.parametrize("name", HOSTILE)
def test_names_are_data(ask, name):
    others = dict.fromkeys(("dtype", "backend", "baseline", "device"), name)
    rows = [entry(measured(1, 1), workload=name, **others)]
    text = take_home.render(rows, [name], [1])
    assert text.isascii() and "\x00" not in text
    told = ask(rows, [name, 1000, name], ["add", 1000, "float64"], cpus=[name])
    assert answers(told) == ["yes", "unknown"]
    assert all(c.isprintable() for one in told for words in (one[1], *one[4]) for c in words)


def test_names_add_no_statement():
    def shape(name):
        text = take_home.render([entry(measured(1, 1), workload=name, backend=name)], [name], [1])
        return [type(node).__name__ for node in ast.parse(text).body]

    assert all(shape(name) == shape("add") for name in HOSTILE)


def test_it_knows_its_machine_and_warns_elsewhere(ask):
    rows, question = [entry(measured(1, 1))], ["add", 1000, "float64"]
    (here,) = ask(rows, question)
    assert here[4] == [] and "another machine" not in here[1]
    (other,) = ask(rows, question, cpus=["Z80"])
    assert other[0] == "yes" and "not Z80" in other[1] and "not Z80" in other[4][0]
    (fewer,) = ask(rows, question, cores=[100_000])
    assert "not 100000" in fewer[4][0]
    gpu = [entry(measured(1, 1), device="NVIDIA Voodoo 9")]
    (no_gpu,) = ask(gpu, question)
    assert "NVIDIA Voodoo 9" in no_gpu[4][0]


def test_it_answers_on_the_command_line(tmp_path):
    path = tmp_path / "use_gpu.py"
    path.write_text(take_home.render([entry(measured(1, 1))], [], []))
    command = [sys.executable, "-I", str(path)]
    done = subprocess.run([*command, "add", "1e3", "float64"], capture_output=True, text=True)
    assert done.stdout.startswith("yes: torch_cuda faster than numpy") and not done.returncode
    done = subprocess.run([*command, "add"], capture_output=True, text=True)
    assert "usage" in done.stderr and done.returncode == 1


def test_it_imports_the_standard_library_alone_and_runs_on_python_3_8():
    tree = ast.parse(take_home.render([entry(measured(1, 1))], [], []), feature_version=(3, 8))
    names = {
        name.split(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import | ast.ImportFrom)
        for name in (
            [node.module] if isinstance(node, ast.ImportFrom) else [a.name for a in node.names]
        )
    }
    assert names <= sys.stdlib_module_names


def test_what_is_no_plain_value_is_not_written():
    with pytest.raises((TypeError, ValueError)):
        take_home._literal(object())
