"""Charts and the polar curve, from made-up summaries: one with a GPU, one without, hostile ones."""

import csv
import itertools
import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from crossover import charts, style
from crossover.curve import curve
from crossover.summary import COLUMNS
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgb
from matplotlib.text import Text
from PIL import Image

SIZES = (10_000, 100_000, 1_000_000, 10_000_000)
CPU = "INTEL(R) XEON(R) PLATINUM 8581C CPU @ 2.10GHz"
NO_CUDA = "AssertionError: Torch not compiled with CUDA enabled"

# --- made-up summaries


def ok(backend, size, compute, round_trip=None, *, factor=1.0, rough=0.03, **facts):
    """The rows of a good cell; times in seconds, factor is baseline / compute."""
    scopes = {"compute": compute, "round_trip": round_trip or compute, "first_call": compute + 0.1}
    if round_trip:
        scopes |= {"upload": round_trip / 3, "download": round_trip / 3}
    for scope, seconds in scopes.items():
        yield {
            **{"backend": backend, "size": size, "scope": scope, "status": "ok", "grade": "good"},
            **{"median_s": seconds, "q1_s": seconds * (1 - rough), "q3_s": seconds * (1 + rough)},
            **{"speedup": factor * compute / seconds, "cpu": CPU, "cores": 2, "device": "cpu"},
            **{"threads_effective": 2, "machine": "a1b2c3", **facts},
        }


def bad(backend, size, status, reason, **facts):
    cell = {"backend": backend, "size": size, "scope": "compute", "status": status}
    return [{**cell, "reason": reason, **facts}]


def numpy_time(size):
    return 1.5e-6 + size / 1.1e9


def backend_rows(name, size, launch, rate, link=None, **facts):
    """The cells of a made-up machine: launch seconds, elements per second, and over the link."""
    seconds = launch + size / rate
    trip = seconds + 2 * size / link + 2 * launch if link else None
    return list(ok(name, size, seconds, trip, factor=numpy_time(size) / seconds, **facts))


def with_gpu(sizes=SIZES):
    gpu = {"device": "NVIDIA H200", "threads_effective": 2}
    return [
        row
        for size in sizes
        for row in (
            *backend_rows("numpy", size, 1.5e-6, 1.1e9),
            *backend_rows("torch_cpu", size, 4e-6, 2.0e9, rough=0.1),
            *backend_rows("torch_cuda", size, 9e-6, 2.4e11, 1.5e9, **gpu),
        )
    ]


def without_gpu(sizes=SIZES):
    rows = [row for row in with_gpu(sizes) if row["backend"] != "torch_cuda"]
    return rows + [row for n in sizes for row in bad("torch_cuda", n, "unavailable", NO_CUDA)]


def hostile():
    names = ("numpy", "a_b", "$x$", "<b>", "NA", "_hidden", "100%", "null")
    sizes = [int(10 ** (3 + i / 2)) for i in range(12)]
    rows = []
    for (i, name), size in itertools.product(enumerate(names), sizes):
        if name == "<b>" and size > 1e7:
            rows += bad(name, size, "out_of_memory", f"{size * 8:,} bytes asked, 4,000,000 there")
        elif name == "100%" and size == sizes[5]:
            rows += bad(
                name,
                size,
                "mismatch",
                "above\n the \x1b[1mbound\x1b[0m $10^{-9}$ & <i>",
            )
        elif name == "null" and size < 1e5:
            rows += backend_rows(name, size, i * 1e-6, 1e9 * (i + 1), grade="not_paired")
        else:
            rows += backend_rows(name, size, 1.5e-6 * (1 + i), 1.1e9 * (1 + 0.6 * i))
    return rows


def long_names():
    rows = []
    for i in range(8):
        name = (
            f"torch_with_a_very_long_backend_name_{i}"
            if i
            else "numpy_openblas_on_all_cores_2_threads"
        )
        link = 1.5e9 if i > 4 else None
        gpu = {"device": f"NVIDIA RTX PRO 6000 Blackwell Server Edition {i}"} if link else {}
        for size in (64, 256, 1024, 2048):
            rows += backend_rows(name, size, 2e-6 * (i + 1), 1e8 * (i + 1), link, **gpu)
    return rows


def baseline_lost():
    rows = [row for row in with_gpu() if row["size"] < 1e7 or row["backend"] != "numpy"]
    for row in rows:
        if row["size"] == 10_000_000:
            row["speedup"] = ""
        if row["backend"] == "torch_cpu" and row["size"] == 100_000:
            row["grade"] = "disturbed"
        if row["backend"] == "torch_cuda" and row["size"] <= 100_000:
            row["grade"] = "not_paired"
    return rows + bad("numpy", 10_000_000, "timeout", "no answer within 120 s")


def nothing():
    reasons = {"numpy": "ImportError: libopenblas.so: cannot open shared object file",
               "torch_cpu": "killed by signal 9", "torch_cuda": NO_CUDA}  # fmt: skip
    kinds = {"numpy": "error", "torch_cpu": "killed", "torch_cuda": "unavailable"}
    return [
        row for n in SIZES for name in kinds for row in bad(name, n, kinds[name], reasons[name])
    ]


CASES = {
    "gpu": with_gpu,
    "no_gpu": without_gpu,
    "one_size": lambda: with_gpu((1_000_000,)),
    "hostile": hostile,
    "long_names": long_names,
    "baseline_lost": baseline_lost,
    "nothing": nothing,
}


def written(path: Path, rows, workload="add", dtype="float64") -> Path:
    baseline = rows[0]["backend"]
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, restval="", lineterminator="\n")
        writer.writeheader()
        for row in rows:
            writer.writerow({"workload": workload, "dtype": dtype, "baseline": baseline, **row})
    return path


@pytest.fixture
def summary(tmp_path):
    return lambda name: charts.read(written(tmp_path / f"{name}.csv", CASES[name]()))


# --- what is read off a figure


def texts(figure):
    """All words on a figure, as one line."""
    found = [text.get_text() for text in figure.texts]
    for axes in figure.axes:
        found += [axes.get_title("left"), axes.get_xlabel(), axes.get_ylabel()]
        found += [text.get_text() for text in axes.texts]
    return " ".join(" ".join(found).split())


def legend(figure):
    legends = [*figure.legends, *(axes.get_legend() for axes in figure.axes)]
    (only,) = [legend for legend in legends if legend]
    return [text.get_text() for text in only.get_texts()]


def lines(axes):
    return {line.get_label(): line for line in axes.lines}


def misplaced(figure):
    """Words that leave the page, and pairs of words that overlap."""
    FigureCanvasAgg(figure).draw()
    page = figure.bbox.padded(1)
    words = [text for text in figure.findobj(Text) if text.get_text() and text.get_visible()]
    places = [(text.get_text(), text.get_window_extent()) for text in words]
    outside = [words for words, box in places if not (page.x0 <= box.x0 and box.x1 <= page.x1)]
    outside += [words for words, box in places if not (page.y0 <= box.y0 and box.y1 <= page.y1)]
    pairs = itertools.combinations(places, 2)
    return outside + [(a, b) for (a, first), (b, other) in pairs if first.overlaps(other)]


# --- charts


def test_time_has_a_line_per_backend_and_the_round_trip_of_the_device_only(summary):
    (axes,) = charts.time(summary("gpu"), "add", "float64").axes
    wanted = {"numpy", "torch_cpu", "torch_cuda", "torch_cuda round_trip"}
    assert {name for name in lines(axes) if not name.endswith("points")} == wanted
    assert (axes.get_xscale(), axes.get_yscale()) == ("log", "log")
    line = lines(axes)["numpy"]
    assert list(line.get_xdata()) == list(SIZES)
    assert list(line.get_ydata()) == [numpy_time(size) for size in SIZES]
    assert not lines(axes)["torch_cuda"].is_dashed()
    assert lines(axes)["torch_cuda round_trip"].is_dashed()


def test_time_says_what_it_shows(summary):
    figure = charts.time(summary("gpu"), "add", "float64")
    words = texts(figure)
    for fact in ("add, float64", "8581C", "2 usable cores", "2 threads", "baseline numpy", "H200"):
        assert fact in words
    assert "lower is faster" in words
    assert "numpy (baseline)" in legend(figure)
    ticks = [label.get_text() for label in figure.axes[0].get_yticklabels()]
    assert ticks == ["10 µs", "100 µs", "1 ms", "10 ms"]
    assert [t.get_text() for t in figure.axes[0].get_xticklabels()] == ["1e4", "1e5", "1e6", "1e7"]


def test_quartiles_are_bars(summary):
    (axes,) = charts.time(summary("gpu"), "add", "float64").axes
    bars = [bar for lines in axes.collections for bar in lines.get_segments()]
    assert len(bars) == 4 * len(SIZES)
    n, low = bars[0][0]
    assert (n, low) == (SIZES[0], pytest.approx(0.97 * numpy_time(SIZES[0])))


def test_speedup_has_two_panels_and_a_line_at_1_in_words(summary):
    figure = charts.speedup(summary("gpu"), "add", "float64")
    panels = figure.axes
    assert [axes.get_title("left").split(":")[0] for axes in panels] == ["compute", "round trip"]
    for axes in panels:
        assert set(lines(axes)["as fast as numpy"].get_ydata()) == {1}
        assert "numpy" not in lines(axes)
        assert axes.get_yscale() == "log"
    assert panels[0].get_ylim() == panels[1].get_ylim()
    compute, trip = (lines(axes)["torch_cuda"].get_ydata() for axes in panels)
    assert compute[-1] > 100 > 1 > trip[-1]
    words = texts(figure)
    assert "as fast as numpy" in words
    assert "faster" in words
    assert "slower" in words
    assert panels[0].get_ylabel() == "speedup over numpy"
    assert sorted(legend(figure)) == ["torch_cpu", "torch_cuda"]


@pytest.mark.parametrize("chart", [charts.time, charts.speedup])
def test_what_is_missing_is_said_once(summary, chart):
    words = texts(chart(summary("no_gpu"), "add", "float64"))
    assert f"Not shown: torch_cuda, all sizes: unavailable ({NO_CUDA})" in words
    assert words.count("CUDA") == 1


def test_reasons_that_differ_in_numbers_are_one_line_with_its_sizes(summary):
    words = texts(charts.time(summary("hostile"), "add", "float64"))
    assert "<b>, n = 31,622,776, 1e8, 316,227,766: out of memory (n = 31,622,776: 252" in words
    assert words.count("out of memory") == 1


def test_a_missing_size_breaks_the_line(summary):
    (axes,) = charts.time(summary("hostile"), "add", "float64").axes
    assert np.isnan(lines(axes)["100%"].get_ydata()).tolist() == [i == 5 for i in range(12)]


def test_less_trusted_points_are_hollow_and_explained(summary):
    figure = charts.speedup(summary("baseline_lost"), "add", "float64")
    words = texts(figure)
    assert "trusted less: not paired (torch_cuda); disturbed (torch_cpu)" in words
    faces = {
        to_rgb(line.get_markerfacecolor()): list(line.get_xdata())
        for line in figure.axes[0].lines
        if line.get_label() == "torch_cuda points"
    }
    assert faces[(1, 1, 1)] == [10_000, 100_000]
    assert "trusted less" not in texts(charts.speedup(summary("gpu"), "add", "float64"))


def test_no_baseline_time_is_no_speedup_and_is_said(summary):
    words = texts(charts.speedup(summary("baseline_lost"), "add", "float64"))
    assert "torch_cpu, torch_cuda, n = 1e7: no time of numpy to compare with" in words


@pytest.mark.parametrize("chart", [charts.time, charts.speedup])
def test_nothing_to_draw_is_said_without_axes(summary, chart):
    figure = chart(summary("nothing"), "add", "float64")
    assert not figure.axes
    assert "no data" in texts(figure)
    assert "torch_cpu, all sizes: killed (killed by signal 9)" in texts(figure)
    assert "no matmul in float32" in texts(chart(summary("gpu"), "matmul", "float32"))


def test_a_baseline_alone_has_no_speedup(tmp_path):
    rows = [row for row in with_gpu() if row["backend"] == "numpy"]
    summary = charts.read(written(tmp_path / "s.csv", rows))
    assert "no backend but numpy" in texts(charts.speedup(summary, "add", "float64"))


def test_hostile_names_stay_as_they_are(summary, tmp_path):
    table = summary("hostile")
    figure = charts.speedup(table, "add", "float64")
    assert set(legend(figure)) == {"a_b", "$x$", "<b>", "NA", "_hidden", "100%", "null"}
    assert not any(text.get_parse_math() for text in figure.legends[0].get_texts())
    charts.save(figure, tmp_path / "x.svg")
    ElementTree.parse(tmp_path / "x.svg")


def test_backends_differ_without_colour(summary):
    looks = style.looks([f"b{i}" for i in range(20)], "b0")
    assert len({look.marker for look in list(looks.values())[:8]}) == 8
    assert len({(look.marker, look.dashes) for look in looks.values()}) == 20
    assert len({(look.marker, look.colour) for look in looks.values()}) == 20


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("chart", [charts.time, charts.speedup])
def test_no_words_overlap_or_leave_the_page(summary, chart, case):
    with style.look():
        assert misplaced(chart(summary(case), "add", "float64")) == []


# --- saving


def test_the_same_summary_gives_the_same_bytes(summary, tmp_path):
    table = summary("gpu")
    for name in ("a", "b"):
        figure = charts.speedup(table, "add", "float64")
        charts.save(figure, tmp_path / f"{name}.svg", tmp_path / f"{name}.png")
    for kind in ("svg", "png"):
        assert (tmp_path / f"a.{kind}").read_bytes() == (tmp_path / f"b.{kind}").read_bytes()
    with Image.open(tmp_path / "a.png") as image:
        assert image.width == 1200
    assert b"<dc:date>" not in (tmp_path / "a.svg").read_bytes()
    assert not list(tmp_path.glob(".*"))
    with pytest.raises(ValueError, match="is saved as"):
        charts.save(figure, tmp_path / "a.gif")


def test_neither_a_display_nor_the_users_matplotlib_settings_matter(tmp_path):
    written(tmp_path / "summary.csv", with_gpu())
    (tmp_path / "matplotlibrc").write_text("text.usetex: True\naxes.formatter.use_locale: True\n")
    program = (
        "import sys; from crossover import charts; s = charts.read('summary.csv')\n"
        "charts.save(charts.time(s, 'add', 'float64'), 't.svg')\n"
        "assert 'matplotlib.pyplot' not in sys.modules"
    )
    env = os.environ | {"MPLBACKEND": "TkAgg", "PYTHONPATH": str(Path(charts.__file__).parents[1])}
    env.pop("DISPLAY", None)
    subprocess.run([sys.executable, "-c", program], cwd=tmp_path, env=env, check=True)
    charts.save(
        charts.time(charts.read(tmp_path / "summary.csv"), "add", "float64"), tmp_path / "here.svg"
    )
    assert (tmp_path / "t.svg").read_bytes() == (tmp_path / "here.svg").read_bytes()


# --- reading


def without(column):
    def edit(text):
        rows = list(csv.reader(text.splitlines()))
        at = rows[0].index(column)
        return "".join(",".join(row[:at] + row[at + 1 :]) + "\n" for row in rows)

    return edit


DAMAGE = {
    "empty": (lambda text: "", "the file is empty"),
    "only a header": (lambda text: text.splitlines()[0] + "\n", "there are no rows"),
    "cut in a line": (lambda text: text[:-30], "the last line is cut"),
    "cut at a field": (lambda text: text[:-30].rsplit(",", 2)[0] + "\n", "fields, not 34"),
    "a column gone": (without("grade"), "column grade is missing"),
    "a column more": (lambda text: text.replace("good", "good,x", 1), "has 35 fields, not 34"),
    "words for a number": (lambda text: text.replace(",10000,", ",many,", 1), "size is 'many'"),
    "no size": (lambda text: text.replace(",10000,", ",0,", 1), "size is '0', which is not"),
    "half a size": (lambda text: text.replace(",10000,", ",0.5,", 1), "a size is not a whole"),
    "no such status": (lambda text: text.replace(",ok,", ",fine,", 1), "no status 'fine'"),
    "a cell twice": (lambda text: text + text.splitlines()[1] + "\n", "a cell is there twice"),
    "not text": (lambda text: "\udcff\udcfe\n", "codec can't decode"),
    "another file": (lambda text: "x,y\n1,2\n", "column workload is missing"),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_summary_is_one_line_with_the_cure(tmp_path, damage):
    path = written(tmp_path / "summary.csv", with_gpu())
    edit, reason = DAMAGE[damage]
    path.write_bytes(edit(path.read_text()).encode(errors="surrogateescape"))
    with pytest.raises(ValueError, match="snakemake --cores 1 --forcerun summarize") as error:
        charts.read(path)
    assert str(error.value).startswith(f"{path}: ")
    assert reason in str(error.value)
    assert "\n" not in str(error.value)


def test_numbers_are_read_to_the_last_digit(summary):
    rows = summary("gpu")
    assert rows["median_s"].iloc[0] == numpy_time(SIZES[0])
    assert rows["size"].dtype == "int64"


@pytest.mark.parametrize(
    ("size", "words"),
    [(64, "64"), (10_000, "10,000"), (300_000_000, "3e8"), (1_234_567, "1,234,567")],
)
def test_sizes_in_words(size, words):
    assert style.size_words(size) == words


@pytest.mark.parametrize(
    ("seconds", "words"), [(1e-9, "1 ns"), (2e-5, "20 µs"), (0.001, "1 ms"), (1500, "1,500 s")]
)
def test_seconds_in_words(seconds, words):
    assert style.seconds_words(seconds) == words


# --- the curve


def points(n, dtype=np.float64):
    theta = np.linspace(0, 2 * np.pi, n, dtype=dtype)
    r = 1 + dtype(1.5) * np.sin(3 * theta)  # below 0 for some angles
    return np.stack([r * np.cos(theta), r * np.sin(theta)])


PART = {"workload": "polar", "dtype": "float32", "size": 1_000_000, "baseline": "numpy"}


def test_a_million_points_are_drawn_as_ten_thousand():
    saved = points(1_000_000, np.float32)
    figure = curve({"torch_cpu": (saved + 1e-6, 10**6), "numpy": (saved, 10**6)}, **PART)
    (axes,) = figure.axes
    line = lines(axes)["numpy"]
    assert "torch_cpu" not in lines(axes)
    x, y = line.get_data()
    assert 5_000 < len(x) <= 10_000
    assert (x[0], y[0], x[-1], y[-1]) == (*saved[:, 0], *saved[:, -1])
    assert axes.get_aspect() == 1
    words = texts(figure)
    assert "9,902 of 1e6 points computed by numpy" in words
    assert "Largest difference between torch_cpu, numpy: 1" in words
    FigureCanvasAgg(figure).draw()
    (left, right), (low, high) = axes.get_xlim(), axes.get_ylim()
    assert left < x.min() < x.max() < right
    assert low < y.min() < y.max() < high


@pytest.mark.parametrize("n", [1, 2, 3, 9_999, 10_000, 10_001, 20_000])
def test_any_number_of_points(n):
    figure = curve({"$x$": (points(n), n)}, **PART)
    x, _ = lines(figure.axes[0])["$x$"].get_data()
    assert min(n, 5_000) <= len(x) <= min(n, 10_000)
    assert "Only $x$ has points" in texts(figure)


def test_points_that_cannot_be_drawn_are_named():
    nan = points(10)
    nan[0, 3] = np.nan
    arrays = {"a": (np.zeros(0), 10), "b": (np.zeros((3, 10)), 10), "c": (nan, 10)}
    figure = curve(arrays, reasons=["not shown: d: unavailable"], **PART)
    assert not figure.axes
    words = texts(figure)
    for fact in ("no data", "a: no points were saved", "(3, 10)", "c: saved points are not finite"):
        assert fact in words
    assert "d: unavailable" in words


def test_different_samples_are_not_compared():
    figure = curve({"numpy": (points(10), 10), "b": (points(5), 10)}, **PART)
    assert "Not compared" in texts(figure)
