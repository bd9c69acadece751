"""What kind of work is worth moving: in words and as a picture, and never more than was seen."""

import ast
import re

import pytest

from conftest import CONFIG, ROOT
from crossover import charts, config, decide, regimes, style, table
from crossover.chart_regimes import by_regime
from crossover.config import ConfigError
from crossover.plugin import PACKAGE
from crossover.yaml_strict import read_yaml
from figures import legend, lines, misplaced, texts, titles
from made_up import ok, with_gpu, without_gpu, without_interval
from made_up_verdicts import FAST, SIZES, SLOW, TRIP, C, T, even, failed, gpu, host, numpy, of, row

KINDS = {"sum": "memory-bound", "add": "memory-bound", "matmul": "compute-bound",
         "gather": "random-access", "stencil": "many-steps", "mine": ""}  # fmt: skip

LONG = "a_workload_whose_name_is_far_too_long_for_the_page"


def measured(workload, computing, transfers, trip, dtype="float64"):
    """The rows of a workload on a GPU, and its break-even sizes; `trip` is that of round trips."""
    name = {"workload": workload, "dtype": dtype}
    rows = of(numpy(SIZES, **name), gpu(T, computing, transfers, **name))
    first = even("from 316 (200, 501)" if computing is FAST else "never 1e7", T, **name)
    return rows, [first, even(trip, T, "round_trip", **name)]


def together(*parts):
    return [row for rows, _ in parts for row in rows], [e for _, evens in parts for e in evens]


def said(*parts, kinds=KINDS):
    rows, evens = together(*parts)
    there = {row["workload"] for row in rows}
    *text, last = regimes.lines(rows, evens, [], {k: v for k, v in kinds.items() if k in there})
    assert last.startswith("How far to trust it: ")
    return text


# --- words


def test_the_first_line_names_the_kinds_of_which_all_is_alike():
    text = said(
        measured("matmul", FAST, TRIP, "from 90000 (80000, 100000)"),
        measured("stencil", FAST, TRIP, "smallest 1000"),
        measured("sum", FAST, SLOW, "never 1e7"),
        measured("add", FAST, SLOW, "never 1e7"),
        measured("gather", SLOW, SLOW, "never 1e7"),
    )
    assert text == [
        "By kind of work, at the sizes measured. Worth moving to the GPU, every transfer paid: "
        "compute-bound and many-steps. Worth it only for data that stays on the GPU: memory-bound. "
        "Not worth it: random-access. (GPU: torch_cuda (NVIDIA H200); against numpy.)",
        "memory-bound (each number is read once, and little is done with it). Worth it only for "
        "data that stays on the GPU: sum float64 from n = 316 on (95 %: 200 to 501), with "
        "transfers never up to n = 10,000,000; add float64 from n = 316 on (95 %: 200 to 501), "
        "with transfers never up to n = 10,000,000.",
        "compute-bound (many operations for every number that is moved). Worth moving to the GPU, "
        "every transfer paid: matmul float64 from n = 90,000 on (95 %: 80,000 to 100,000).",
        "many-steps (one call takes many steps on data that stays where it is). Worth moving to "
        "the GPU, every transfer paid: stencil float64 from the smallest size, n = 1,000, on.",
        "random-access (numbers are read in an order that no cache can guess). Not worth it: "
        "gather float64 (never faster up to n = 10,000,000).",
    ]


def test_a_kind_of_which_one_is_otherwise_is_not_called_worth_it():
    for other in (
        measured("add", SLOW, SLOW, "never 1e7"),
        measured("add", FAST, SLOW, "unclear 1000 1e7"),
        (of(numpy(SIZES), failed(T, SIZES)), []),
    ):
        first, kind = said(measured("sum", FAST, TRIP, "from 90000 (80000, 100000)"), other)
        assert "depends on the workload, the number type or the GPU: memory-bound." in first
        assert "Worth" not in first and "Not worth" not in first
        assert "Worth moving to the GPU, every transfer paid: sum float64" in kind


@pytest.mark.parametrize(("status", "worth"), [("out_of_memory", False), ("unsupported", True)])
def test_a_kind_is_not_worth_it_on_a_gpu_that_failed_in_all_of_it(status, worth):
    def on_two(workload, **other):
        rows, evens = measured(workload, FAST, TRIP, "smallest 1000")
        if other:
            return rows + of(failed("gpu_2", SIZES, workload=workload, **other)), evens
        more = of(gpu("gpu_2", FAST, TRIP, workload=workload, device="NVIDIA A100"))
        second = even("smallest 1000", "gpu_2", "round_trip", workload=workload)
        return rows + more, [*evens, second]

    first, of_sum, of_matmul = said(on_two("sum", status=status), on_two("matmul"))
    kinds = "memory-bound and compute-bound" if worth else "compute-bound"
    assert f"Worth moving to the GPU, every transfer paid: {kinds}. " in first
    assert "sum float64 on torch_cuda from the smallest" in of_sum
    assert ("No time on the GPU: sum float64 on gpu_2." in of_sum) != worth
    assert "matmul float64 on gpu_2 from the smallest" in of_matmul


def test_nothing_without_an_interval_is_called_worth_it():
    (first, kind) = said(measured("sum", FAST, TRIP, ""))
    assert "every transfer paid" not in first + kind and "Not worth" not in first + kind


@pytest.mark.whole
def test_without_a_gpu_it_stays_open_and_says_what_a_cpu_gives():
    def on_host(workload, speedups, **changes):
        name = {"workload": workload}
        rows = of(numpy(SIZES, **name), failed(T, SIZES, **name))
        return rows + of(host("torch_cpu", speedups, **name, **changes)), []

    text = said(
        on_host("sum", {1000: 0.5, 10**7: 2.0}),
        on_host("add", {1000: 0.5, 10**7: 0.5}),
        on_host("gather", {10**7: 1.01}),
        on_host("mine", {10**7: 3.0}, rounds=1),
    )
    assert text[0].startswith("No GPU was measured here (torch_cuda: unavailable, ")
    assert text[0].endswith("So no kind of work can be called worth moving, or not.")
    begin = "At the largest sizes, against numpy, torch_cpu: "
    assert text[1].endswith(
        f"{begin}faster: sum float64 2x as fast (1.9x to 2.1x) at n = 10,000,000; "
        "slower: add float64 0.5x (0.476x to 0.526x) at n = 10,000,000."
    )
    assert text[2].endswith(
        f"{begin}no difference seen: gather float64 1.01x (0.961x to 1.06x) at n = 10,000,000."
    )
    assert text[3] == f"other work. {begin}without an interval: mine float64 3x at n = 10,000,000."
    assert not re.search("worth (?!moving, or)|Worth", " ".join(text).replace("it is worth it", ""))


def test_what_has_no_partner_is_not_called_unmeasured():
    name = {"workload": "sum"}
    alone = of(failed("numpy", SIZES, device="cpu", **name), row(C, 1000, "compute", **name))
    missing = of(numpy(SIZES), failed(C, SIZES, device="cpu"))
    (_, kind) = said((alone, []), (missing, []))
    assert kind.endswith(
        "torch_cpu: nothing to compare with: sum float64; not measured: add float64."
    )


# --- which configs


def raw(*workloads):
    return CONFIG | {"workloads": {name: {"sizes": [10]} for name in workloads},
                     "dtypes": ["float32"], "backends": {"numpy": {}}}  # fmt: skip


def test_a_survey_has_four_kinds_of_work(tmp_path):
    assert config.read(raw("add", "matmul", "polar", "gather"), tmp_path).is_survey
    assert not config.read(raw("add", "matmul", "polar", "sum", "solve"), tmp_path).is_survey
    for name, expected in (("survey", True), ("article", False), ("quick", False)):
        found = config.load(ROOT / f"config/{name}.yaml", tmp_path)
        assert found.is_survey == expected
    assert not config.load(ROOT / "config.yaml", tmp_path).is_survey


def test_the_survey_has_every_shipped_kind_of_work(tmp_path):
    found = config.load(ROOT / "config/survey.yaml", tmp_path)
    eight = {"sum", "fft", "sort", "solve", "stencil", "gather", "monte_carlo", "small_matmuls"}
    assert set(found.workloads) == eight
    assert {one.regime for one in found.workloads.values()} == set(regimes.REGIMES)
    assert read_yaml(ROOT / "config/survey.yaml")["name"] == "survey"


def test_a_kind_of_work_that_is_none_is_one_line(tmp_path):
    own = "REGIME = {}\ndef inputs(rng, size, dtype): pass\ndef compute(xp): pass\n"
    for value, wanted in (("'memory'", "'memory' is no kind of work; "), ("[1]", "no kind of")):
        (tmp_path / "mine.py").write_text(own.format(value))
        entry = {"mine": {"file": "mine.py", "sizes": [10], "dtypes": ["float32"]}}
        with pytest.raises(ConfigError) as refused:
            config.read(raw() | {"workloads": entry}, tmp_path)
        (line,) = refused.value.lines
        assert line.startswith("config: workloads.mine: REGIME in mine.py: ") and wanted in line
        assert "memory-bound" in line


@pytest.mark.whole
def test_the_rule_declares_what_its_script_imports():
    """As test_declared.py does it for the others: this rule is in no sweep there."""
    rule = (ROOT / "workflow/rules/draw.smk").read_text()
    known: dict[str, str] = {}
    for name, files in re.findall(r'^(\w+) \+?= \["(.+)\]$', rule, re.MULTILINE):
        known[name] = known.get(name, "") + f'"{files}, '
    known["READING"] = re.search(
        r'READING = \["(.+)\]', (ROOT / "workflow/rules/common.smk").read_text()
    )[1]
    block = rule[rule.index("rule regimes:") : rule.index("output:", rule.index("rule regimes:"))]

    def names(text):
        found = set(re.findall(r"[\w/]+\.py", text))
        return found.union(*(names(known[name]) for name in re.findall(r"\*([A-Z]+)", text)))

    listed = names(block.replace('SCRIPTS / "regimes.py"', ""))
    seen, left = set(), [PACKAGE.parent / "regimes.py"]
    while left:
        path = left.pop()
        for file in imported(path):
            if file not in seen:
                seen.add(file)
                left.append(file)
    assert listed == {str(path.relative_to(PACKAGE)) for path in seen}


def imported(path):
    """The package's files that a file imports at its top."""
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("crossover"):
            for name in (node.module, *(f"{node.module}.{alias.name}" for alias in node.names)):
                place = PACKAGE.joinpath(*name.split(".")[1:])
                for file in (place.with_suffix(".py"), place / "__init__.py"):
                    if file.is_file() and file != PACKAGE / "__init__.py":
                        yield file


# --- the picture


def rows_of(made, *workloads):
    return [{**row, "workload": name, "dtype": "float64"} for name in workloads for row in made]


@pytest.fixture
def draw(tmp_path):
    def made(rows, evens=(), kinds=KINDS):
        path = tmp_path / "s.csv"
        table.write(path, [row | {"baseline": "numpy"} for row in rows])
        there = {row["workload"] for row in rows}
        chosen = {name: kind for name, kind in kinds.items() if name in there}
        return by_regime(charts.read(path), chosen, evens)

    return made


def test_each_workload_has_its_largest_size_with_and_without_transfers(draw):
    evens = [
        even("from 316000 (200000, 501000)", "torch_cuda", workload="sum"),
        even("never 1e7", "torch_cuda", "round_trip", workload="sum"),
        even("smallest 10000", "torch_cpu", workload="gather"),
    ]
    figure = draw(rows_of(with_gpu(), "sum", "matmul", "gather"), evens)
    (axes,) = figure.axes
    marks = lines(axes)
    x = {scope: marks[f"sum float64, torch_cuda, {scope}"] for scope in ("compute", "round_trip")}
    assert x["compute"].get_xdata()[0] > 100 > x["round_trip"].get_xdata()[0]
    assert "sum float64, torch_cpu, round_trip" not in marks  # on a host it is the computation
    assert marks["as fast as numpy"].get_xdata()[0] == 1
    assert legend(figure) == [
        *("torch_cpu", "torch_cuda, computing", "torch_cuda, with transfers"),
    ]
    words = texts(figure)
    for part in ("from 3.16e5 (2e5 to 5.01e5)", "never up to 1e7", "from the smallest, 10,000"):
        assert part in words, part
    order = [words.index(name) for name in ("memory-bound", "compute-bound", "random-access")]
    assert order == sorted(order)
    assert "baseline numpy" in words and "NVIDIA H200" in words
    assert "with its 95 % interval" in words and "No GPU" not in words


def test_without_a_gpu_the_picture_says_so(draw):
    words = texts(draw(rows_of(without_gpu(), "sum", "matmul")))
    assert "No GPU was measured: this is not about moving anything to one." in words
    assert "torch_cuda, all sizes: unavailable" in words


def test_a_gpu_is_never_left_out_for_room_and_never_called_unmeasured(draw):
    made = with_gpu()
    hosts = [r | {"backend": f"cpu_{i}"} for i in range(4) for r in made
             if r["backend"] == "torch_cpu"]  # fmt: skip
    figure = draw(rows_of([*hosts, *made], "sum"))
    shown = [*(f"cpu_{i}" for i in range(3)), "torch_cuda, computing", "torch_cuda, with transfers"]
    assert legend(figure) == shown
    assert "Left out for room: cpu_3, torch_cpu; see summary.csv." in texts(figure)
    assert "No GPU" not in texts(figure)
    alone = [r if r["backend"] != "torch_cuda" else without_interval(r, "") | {"speedup": ""}
             for r in made]  # fmt: skip
    assert "No GPU" not in texts(draw(rows_of(alone, "sum")))


def test_points_say_their_workload_speedup_and_interval(draw, tmp_path):
    found = titles(draw(rows_of(with_gpu(), "sum")), tmp_path / "x.svg")
    assert any(
        re.match(r"sum float64: torch_cpu, n = 1e7, compute [\d.]+x as fast as numpy \(95 %: ", one)
        for one in found
    )
    assert len(found) == 3


def test_what_failed_is_named_and_nothing_is_no_data(draw):
    rows = rows_of(with_gpu(), "sum") + rows_of(list(ok("numpy", 1000, 1e-3)), "gather")
    assert "no speedup" in texts(draw(rows))
    alone = draw(rows_of(list(ok("numpy", 1000, 1e-3)), "gather"))
    assert "no data" in texts(alone) and not alone.axes


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize(("made", "long"), [(with_gpu, True), (without_gpu, False)])
def test_no_words_overlap_or_leave_the_page(draw, made, long):
    names = ("sum", "matmul", "gather", "stencil", *((LONG,) if long else ()))
    evens = [
        even("from 123456 (100123, 501234)", name, scope, workload=workload)
        for name in ("torch_cpu", "torch_cuda")
        for scope in ("compute", "round_trip")
        for workload in names
    ]
    rows = rows_of(made(), *names) + [
        row | {"dtype": "complex128"} for row in rows_of(made(), "gather")
    ]
    with style.look():
        assert misplaced(draw(rows, evens, KINDS | {LONG: "many-small"})) == []


@pytest.mark.whole
def test_the_words_of_a_real_break_even_are_drawn(draw):
    """As decide.py writes its rows, all columns."""
    found = even("between 1000 1e6", "torch_cpu", workload="sum")
    assert set(found) <= set(decide.COLUMNS)
    assert "only from 1,000 to 1e6" in texts(draw(rows_of(with_gpu(), "sum"), [found]))
