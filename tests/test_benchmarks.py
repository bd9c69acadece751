"""The benchmarks' own sums, on made-up figures. None of their bounds is tried here: on a machine
that tests share, times say nothing."""

import subprocess
import sys

import pytest

import aa
import checkout
import cost_fleet
import cost_plan
import cost_summary
import made_up_sweep
from conftest import ROOT
from crossover import record, table
from report import Report

pytestmark = pytest.mark.whole


@pytest.fixture
def report(capsys):
    return Report("title")


@pytest.mark.parametrize("name", ["aa.py", "cost.py", "fidelity.py", "quiet.py"])
def test_every_command_explains_itself(name):
    done = subprocess.run(
        [sys.executable, ROOT / "benchmarks" / name, "--help"],
        env={"PYTHONPATH": str(ROOT / "workflow/scripts")},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0 and "usage" in done.stdout, done.stderr


# --- what is printed


def test_a_bound_that_fails_is_the_exit_status(report, tmp_path):
    report.most("small", 1.0, 1.0)
    report.least("large", 1.0, 1.0)
    report.within("near", 0.98, 0.98, 1.02)
    assert report.end(tmp_path / "made" / "good.txt") == 0
    report.most("too large", 1.01, 1.0, " s")
    report.least("too small", 0.99, 1.0)
    report.within("too far", 1.03, 0.98, 1.02)
    assert report.end(tmp_path / "bad.txt") == 1
    assert report.failed == ["too large", "too small", "too far"]
    assert "FAILS  too large: 1.01 s, at most 1 s" in (tmp_path / "bad.txt").read_text()
    assert "All bounds hold" in (tmp_path / "made" / "good.txt").read_text()


def test_a_figure_that_is_no_number_fails(report):
    report.most("nothing", float("nan"), 1.0)
    report.least("nothing", float("nan"), 1.0)
    report.within("nothing", float("nan"), 0.0, 1.0)
    assert len(report.failed) == 3


# --- A/A


def test_the_most_that_chance_calls_different():
    # With 5 % each, of 100 cells: P(X <= 10) = 0.9885 and P(X <= 11) = 0.9957 (binomial tables).
    assert aa.most_different(100) == 11
    assert [aa.most_different(1), aa.most_different(96)] == [1, 10]


def test_a_sweep_of_equals_has_enough_cells():
    config = aa.config("numpy", 3, 0.1, 16)
    cells = sum(len(w["sizes"]) * len(w["dtypes"]) for w in config["workloads"].values())
    assert cells >= 96
    assert all(len(set(w["sizes"])) == len(w["sizes"]) for w in config["workloads"].values())


@pytest.mark.parametrize("different, status", [(11, 0), (12, 1)])
def test_findings_are_counted(report, different, status):
    found = ["faster"] * 6 + ["slower"] * (different - 6)
    found += ["no difference seen"] * (100 - different) + ["", ""]
    row = {"workload": "add", "dtype": "float64", "size": "10", "grade": "good", "speedup": "1.0"}
    aa.judge(report, [row | {"finding": f, "speedup_low": "1", "speedup_high": "2"} for f in found])
    assert report.end(None) == status
    assert "without an interval: 2" in report.lines


# --- the floor of planning

SUMMARY = """\
output_file\tdate\trule\tlog-file(s)\tinput-file(s)\tshellcmd\tstatus\tplan
a/1.csv\t-\tmeasure\tlogs/a1.log\tcode.py,add.py\t-\tok\tno update
a/output.npy\t-\tmeasure\tlogs/a1.log\tcode.py,add.py\t-\tok\tno update
a/2.csv\t-\tagain\tlogs/a2.log\tcode.py,add.py\t-\tok\tno update
b/1.csv\t-\tmeasure\tlogs/b1.log\tcode.py,mul.py\t-\tok\tno update
b/output.npy\t-\tmeasure\tlogs/b1.log\tcode.py,mul.py\t-\tok\tno update
summary.csv\t-\tsummarize\tlogs/s.log\ta/1.csv,a/2.csv,a/output.npy,b/1.csv,sum.py\t-\tok\tno update
probe.json\t-\tprobe\tlogs/p.log\t-\t-\tok\tno update
"""


def test_each_job_has_a_trivial_double_with_the_same_inputs(monkeypatch, tmp_path):
    monkeypatch.setattr(checkout, "run", lambda folder, words: (0.0, SUMMARY))
    jobs = list(cost_plan.jobs_of(tmp_path))
    assert jobs[0] == (("code.py", "add.py"), ("a/1.csv", "a/output.npy"))
    assert [len(outputs) for _, outputs in jobs] == [2, 1, 2, 1, 1]

    def made(folder, config):
        folder.mkdir()
        for name in ("config.yaml", "code.py", "add.py", "mul.py", "sum.py"):
            (folder / name).touch()

    monkeypatch.setattr(checkout, "make", made)
    cost_plan.trivial(tmp_path / "floor", tmp_path, jobs)
    text = (tmp_path / "floor/Snakefile").read_text()
    rules = dict(part.split(":\n", 1) for part in text.split("rule ")[1:])
    assert "input: ['code.py', 'add.py']" in rules["kind_0"]
    # Of the summary: its inputs are the doubles of ours.
    assert "'results/0/0.0', 'results/1/0.0', 'results/0/0.1', 'results/2/0.0', 'sum.py'" in text
    assert rules["all"].count("results/") == 7


# --- ten times as many


@pytest.mark.parametrize("growth, failed", [(1.4, 0), (1.6, 2)])
def test_the_cost_of_each_must_not_grow_with_their_number(report, monkeypatch, growth, failed):
    def figures(report, count):
        each = growth if count == 100 else 1.0
        yield "plan, jobs", count, checkout.Taken(9.0, int(each * count * 1e6), each * count)

    cost_fleet._measure(report, figures, 10, 100)
    assert len(report.failed) == failed


def test_files_and_their_size_are_counted(tmp_path):
    (tmp_path / "deeper").mkdir()
    for name in ("a", "deeper/b"):
        (tmp_path / name).write_bytes(bytes(1_000_000))
    assert cost_fleet.disk(tmp_path) == "2 files of 2 MB"


# --- the sweep that never ran


def test_the_made_up_files_are_whole_and_go_through_the_scripts(tmp_path):
    folder = checkout.make(tmp_path / "clone", {})
    checkout.own_lock(folder)
    cells, samples = made_up_sweep.make(folder, 48)
    rows = [row for cell in cells for n in (1, 2, 3) for row in record.read(folder / cell.csv(n))]
    assert len(cells) == 48 and samples == len(rows)
    script = cost_summary.summary(cells)
    taken = cost_summary.run(folder, script)
    assert taken.seconds > 0 and taken.peak_bytes > 1e7
    rows = table.read(folder / cost_summary.SUMMARY)
    assert {row["status"] for row in rows} == {"ok"} and len(rows) > len(cells)
