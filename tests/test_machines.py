"""Machines that differ are never pooled, and never divided without saying so."""

from pathlib import Path

import pytest

from conftest import CONFIG
from crossover import chart_speedup, chart_time, charts, decide, machines, summary, table, verdict
from crossover.cells import Cell
from crossover.config import ConfigError, read
from rounds import SIZE, failed, measured, texts

SIZES = (100, 1000)
X = {"machine": "xxx", "cpu": "CPU X", "cores": 8, "boot": "x", "threads_effective": 8}
Y = {"machine": "yyy", "cpu": "CPU Y", "cores": 4, "boot": "y", "threads_effective": 4}
A = {"device": "NVIDIA A100", "driver": "535"}
V = {"device": "NVIDIA V100", "driver": "535"}


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def node(round, gpu_s, facts, gpu, size=SIZE, host_s=2.0):
    """Both backends of one round on one node, as a group is measured."""
    measured("numpy", host_s, round, size, **{**facts, "device": "cpu"})
    scopes = ("compute", "download", "round_trip")
    measured("gpu", gpu_s, round, size, scopes=scopes, **{**facts, **gpu})


def summarized(backends=("numpy", "gpu"), rounds=3, sizes=(SIZE,), **options):
    cells = [Cell("add", name, "float64", size) for size in sizes for name in backends]
    return summary.summarize(cells, rounds, "numpy", **options)


def of(rows, backend, scope="compute", **facts):
    """The rows of one backend, with these facts."""
    facts = {name: str(value) for name, value in facts.items()}
    return [
        row
        for row in rows
        if (row["backend"], row["scope"]) == (backend, scope)
        and all(str(row[name]) == value for name, value in facts.items())
    ]


def test_nodes_that_are_alike_are_one_machine():
    for round in (1, 2, 3):
        node(round, 1.0, X | {"boot": f"node{round}"}, A)
    rows = summarized()
    assert len(of(rows, "gpu")) == len(of(rows, "numpy")) == 1
    assert of(rows, "gpu")[0]["pairs"] == 3 and of(rows, "gpu")[0]["note"] == ""


def test_rounds_on_another_machine_are_rows_of_their_own():
    """The GPU is twice as fast on X and ten times on Y: no number in between is to be seen."""
    node(1, 1.0, X, A)
    node(2, 0.2, Y, A)
    node(3, 1.0, X, A)
    rows = summarized()
    (x,), (y,) = of(rows, "gpu", machine="xxx"), of(rows, "gpu", machine="yyy")
    assert (x["speedup"], x["rounds"], x["pairs"]) == (pytest.approx(2), 2, 2)
    assert (y["speedup"], y["rounds"], y["pairs"]) == (pytest.approx(10), 1, 1)
    assert (x["median_s"], y["median_s"]) == (1.0, 0.2)
    words = "not pooled: rounds 1, 3 on CPU X, 8 cores, 8 threads; "
    words += "round 2 on CPU Y, 4 cores, 4 threads"
    assert x["note"] == y["note"] == words
    assert of(rows, "numpy", machine="xxx")[0]["speedup"] == 1.0


@pytest.mark.parametrize(
    "other", [V, {**A, "driver": "550"}, {**A, "version": "2"}, {**A, "threads_effective": 1}]
)
def test_another_gpu_driver_library_or_thread_count_is_another_machine(other):
    node(1, 1.0, X, A)
    node(2, 0.2, X, other)
    rows = summarized(rounds=2)
    assert sorted(row["median_s"] for row in of(rows, "gpu")) == [0.2, 1.0]
    assert all("not pooled: round 1 on " in row["note"] for row in of(rows, "gpu"))
    (host,) = of(rows, "numpy", threads_effective=8)[:1]
    assert host["machine"] == "xxx"


def test_the_baseline_of_another_version_is_not_pooled_either():
    for round, version in enumerate(("1", "1", "2"), 1):
        measured("numpy", 2.0 * float(version), round, **X, version=version)
        measured("gpu", 1.0, round, **X)
    (row,) = of(summarized(), "gpu")
    assert (row["speedup"], row["pairs"]) == (pytest.approx(2), 2)


@pytest.mark.parametrize("mixed, speedup", [("apart", ""), ("divide", 2.0)])
def test_unpaired_times_of_two_machines_are_divided_only_where_that_is_asked_for(mixed, speedup):
    """`node: any`: the CPU's times from a cheap node, the GPU's from another one."""
    measured("numpy", 2.0, **X)
    measured("gpu", 1.0, **Y | A)
    (row,) = of(summarized(rounds=1, mixed=mixed), "gpu")
    assert row["speedup"] == speedup
    assert row["grade"] == "not_paired"
    assert row["finding"] == row["speedup_low"] == ""
    said = "divided across machines: CPU Y, 4 cores; numpy on CPU X, 8 cores"
    assert row["note"] == (said if mixed == "divide" else "")


def test_a_refusal_names_both_and_leaves_the_rest():
    node(1, 1.0, X, A, size=100)
    node(2, 1.0, X, A, size=100)
    node(1, 1.0, X, A)
    node(2, 1.0, X, V)
    rows = summarized(rounds=2, sizes=SIZES, mixed="refuse")
    (gpu,) = of(rows, "gpu", size=1000)
    assert (gpu["status"], gpu["median_s"], gpu["speedup"]) == ("error", "", "")
    for word in ("NVIDIA A100", "NVIDIA V100", "mixed_machines: refuse"):
        assert word in gpu["reason"]
    assert (
        of(rows, "gpu", size=100)[0]["status"] == of(rows, "numpy", size=1000)[0]["status"] == "ok"
    )
    assert not of(rows, "gpu", "round_trip", size=1000)


def test_a_refusal_of_a_cell_that_is_whole_but_elsewhere():
    measured("numpy", 2.0, **X)
    measured("gpu", 1.0, **Y | A)
    (row,) = of(summarized(rounds=1, mixed="refuse"), "gpu")
    assert row["status"] == "error"
    assert "CPU Y, 4 cores, and numpy mostly on CPU X, 8 cores" in row["reason"]


@pytest.mark.parametrize(
    "model, device, differs",
    [
        ("a100", "NVIDIA A100-SXM4-40GB", False),
        ("a100_80g", "NVIDIA A100 80GB PCIe", False),
        ("nvidia_h200", "NVIDIA H200", False),
        ("a100", "Tesla V100-PCIE-16GB", True),
        ("", "Tesla V100-PCIE-16GB", False),
        ("a100", "", False),
    ],
)
def test_a_gpu_that_was_not_asked_for_is_said(model, device, differs):
    node(1, 1.0, X, {"device": device})
    (row,) = of(summarized(rounds=1, asked={"gpu": model}), "gpu")
    said = f"asked for a GPU {model}, measured on {device}"
    assert row["note"] == (said if differs else "")


def test_only_devices_are_asked_of_a_model():
    asked = {"resources": {"gpu_model": "a100"}}
    config = read(
        {
            "workloads": {"add": {"sizes": [10]}},
            "backends": {
                "numpy": asked,
                "torch_cpu": {"library": "torch"},
                "torch_cuda": {"library": "torch", "device": "cuda", **asked},
            },
        },
        Path.cwd(),
    )
    assert config.gpu_models == {"torch_cuda": "a100"}


# --- what reads a summary


def mixed_sweep(sizes=(100, 1000, 10_000)):
    """On X the GPU wins from the second size on, on Y everywhere; three rounds on X, two on Y."""
    for size in sizes:
        for round in (1, 2, 3):
            node(round, 4.0 if size == 100 else 1.0, X, A, size)
        for round in (4, 5):
            node(round, 0.1, Y, V, size)
    rows = summarized(rounds=5, sizes=sizes)
    return texts(dict(enumerate(rows)))


def test_a_view_has_one_row_per_cell_and_scope():
    rows = mixed_sweep()
    main, other = machines.views(rows)
    for view in (main, other):
        cells = [(row["backend"], row["size"], row["scope"]) for row in view.rows]
        assert len(cells) == len(set(cells))
    assert {row["machine"] for row in main.rows} == {"xxx"} and main.words == ""
    assert {row["machine"] for row in other.rows} == {"yyy"}
    assert other.words.startswith("CPU Y, 4 cores (machine yyy)")
    assert "gpu on NVIDIA V100" in other.words
    assert len(main.rows) + len(other.rows) == len(rows)


def test_of_one_machine_there_is_one_view_of_all_rows():
    node(1, 1.0, X, A)
    failed("other", "timeout", "because")
    rows = summarized(("numpy", "gpu", "other"), rounds=1)
    (view,) = machines.views(rows)
    assert view.rows == rows
    assert view.backends("add", "float64") == {"numpy", "gpu", "other"}
    assert view.backends("add", "float32") == set()


def test_a_second_gpu_on_the_same_machine_is_compared_with_the_same_baseline():
    for round, gpu in enumerate((A, A, V), 1):
        node(round, 1.0, X, gpu)
    main, other = machines.views(summarized())
    assert {row["device"] for row in main.rows} == {"cpu", "NVIDIA A100"}
    assert other.own == {("add", "float64", "gpu")}
    assert {row["backend"] for row in other.rows} == {"numpy", "gpu"}


def test_backends_that_never_met_are_still_in_the_first_view():
    measured("numpy", 2.0, **X)
    measured("gpu", 1.0, **Y | A)
    (view,) = machines.views(summarized(rounds=1))
    assert {row["backend"] for row in view.rows} == {"numpy", "gpu"}


def test_a_break_even_belongs_to_one_machine():
    rows = mixed_sweep()
    found = {
        row["machine"]: row["words"]
        for curves in decide.curves(rows)
        for row in curves.break_evens()
        if row["scope"] == "compute" and row["against"] == "numpy"
    }
    assert list(found) == ["xxx", "yyy"] and found["xxx"] != found["yyy"]
    assert "NVIDIA A100" in decide.use_gpu(rows) and "NVIDIA V100" not in decide.use_gpu(rows)


def test_the_last_lines_tell_one_machine_after_the_other():
    rows = mixed_sweep()
    curves = decide.curves(rows)
    evens = [even for one in curves for even in one.break_evens()]
    reuses = [reuse for one in curves for reuse in one.reuses()]
    lines = verdict.lines(rows, evens, reuses)
    (apart,) = (line for line in lines if line.startswith("Apart, on CPU Y, 4 cores"))
    assert "gpu computing faster from the smallest size, n = 100, on" in apart
    (main,) = (line for line in lines if line.startswith("add float64, gpu against numpy"))
    assert "computing faster from n = " in main and "smallest" not in main
    assert "never compared with each other" in " ".join(lines)


def test_charts_draw_one_machine_and_name_the_other(tmp_path):
    table.write(tmp_path / "summary.csv", mixed_sweep())
    frame = charts.read(tmp_path / "summary.csv")
    assert set(frame["machine"]) == {"xxx"}
    for draw in (chart_time.time, chart_speedup.speedup):
        figure = draw(frame, "add", "float64")
        said = " ".join(text.get_text() for text in figure.texts).replace("\n", " ")
        assert "Not shown, as measured apart" in said and "CPU Y" in said


def two_kinds_of_nodes():
    """GPUs `a` and `b` on machines of their own, each with NumPy there: 4 and 10 times as fast."""
    for size in (100, 1000, 10_000):
        for round in (1, 2, 3):
            node(round, 0.5, X, A, size)
            for name, seconds, facts in (("numpy_b", 1.0, {"device": "cpu"}), ("b", 0.1, V)):
                scopes = ("compute", "download", "round_trip") if name == "b" else ("compute",)
                measured(name, seconds, round, size, scopes=scopes, **{**Y, **facts})
    names = ("numpy", "gpu", "numpy_b", "b")
    own = {"b": "numpy_b", "numpy_b": "numpy_b"}
    rows = summarized(names, sizes=(100, 1000, 10_000), baselines=own)
    return texts(dict(enumerate(rows)))


def test_each_gpu_is_compared_with_the_baseline_on_its_own_nodes():
    rows = two_kinds_of_nodes()
    found = {
        row["backend"]: row for row in rows if row["size"] == "1000" and row["scope"] == "compute"
    }
    assert {name: row["baseline"] for name, row in found.items()} == {
        **{"numpy": "numpy", "gpu": "numpy"},
        **{"numpy_b": "numpy_b", "b": "numpy_b"},
    }
    assert float(found["gpu"]["speedup"]) == pytest.approx(4)
    assert float(found["b"]["speedup"]) == pytest.approx(10)
    assert found["numpy_b"]["speedup"] == "1.0" and found["b"]["pairs"] == "3"
    assert len(machines.views(rows)) == 1
    (curves,) = decide.curves(rows)
    evens = list(curves.break_evens())
    assert {(row["backend"], row["against"]) for row in evens} == {
        ("gpu", "numpy"),
        ("b", "numpy_b"),
    }
    assert {(row["backend"], row["baseline"]) for row in curves.reuses()} == {
        ("gpu", "numpy"),
        ("b", "numpy_b"),
    }
    refused = machines.refuse(rows)
    assert all(row["status"] == "ok" for row in refused)


def test_a_chart_says_over_which_baseline_each_of_them_is(tmp_path):
    table.write(tmp_path / "summary.csv", two_kinds_of_nodes())
    frame = charts.read(tmp_path / "summary.csv")
    figure = chart_speedup.speedup(frame, "add", "float64")
    legend = {text.get_text() for text in figure.legends[0].get_texts()}
    assert legend == {"gpu over numpy", "b over numpy_b"}
    assert figure.axes[0].get_ylabel().replace("\n", " ") == "speedup over numpy or numpy_b"
    keys = chart_time.time(frame, "add", "float64").findobj(lambda one: hasattr(one, "get_texts"))
    names = {text.get_text() for key in keys for text in key.get_texts()}
    assert {"numpy (baseline)", "numpy_b (baseline)"} <= names


def test_a_baseline_of_its_own_is_there_and_stands_alone():
    def lines(**own):
        backends = {"numpy": {}, "n": {"library": "numpy"}, "m": {"library": "numpy"}}
        for name, baseline in own.items():
            backends[name] = backends[name] | {"baseline": baseline}
        raw = {"workloads": {"add": {"sizes": [10]}}, "backends": backends}
        try:
            return read(raw, Path.cwd()).baselines
        except ConfigError as error:
            return error.lines

    assert lines() == {}
    assert lines(m="n") == {"m": "n", "n": "n"}
    (line,) = lines(m="nunpy")
    assert line.startswith("config: backends.m.baseline: 'nunpy' is not one of the backends; ")
    (line,) = lines(m="n", n="numpy")
    words = "backends.m.baseline: 'n' is compared with numpy itself; "
    assert line == f"config: {words}a baseline has none of its own"


def test_another_way_to_treat_them_measures_nothing_again(finished, tmp_path):
    project = finished.copy(tmp_path / "clone")
    project.configure(CONFIG | {"mixed_machines": "refuse"})
    again = project.plan()
    assert "summarize 6 cells of 2 rounds" in again
    assert not any("round" in words.split("of")[0] for words in again if "," in words)
