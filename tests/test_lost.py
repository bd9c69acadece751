"""What a cluster loses becomes rows, without a cluster: made-up logs of Snakemake and a made-up
queue. The real ones are in tests/cluster/."""

import os
import sys
from pathlib import Path

import pytest

from conftest import CONFIG, copy_to
from crossover import lost, record, slurm_queue
from crossover.cells import Cell
from processes import private_lock, snapshot, until

ELSEWHERE = f"{lost.ELSEWHERE} and the log files of the involved rule(s)."
STATE = "SLURM-job '31' failed, SLURM status is: '{}'. Detailed failure reason unavailable."
REFUSED = """SLURM sbatch failed. The error message was 'sbatch: error: invalid partition: nowhere
sbatch: error: Batch job submission failed: Invalid partition name specified'.
    sbatch call:
        sbatch --parsable --wrap="python -m snakemake 'it''s'"
"""
# Shown by Snakemake below the failure: the same job, from inside.
INSIDE = """\
Logfile logs/cells/add/fake/float64/100/1.log:
================================================================================
Error in rule measure:
    message: None
    jobid: 0
    output: results/cells/add/numpy/float64/100/1.csv
    log: logs/cells/add/numpy/float64/100/1.log (check log file(s) for error details)
"""


def log_of(words: str, cell: Cell, cluster_log: Path | str = "/none/slurm_logs/31.log") -> str:
    return f"""\
Building DAG of jobs...
[Tue Dec  1 22:51:05 2026]
Error in rule measure:
    message: {words}{ELSEWHERE}
    jobid: 9
    input: a.py, b.py
    output: {cell.csv(1)}, {cell.array}
    log: logs/cells/x/1.log, {cluster_log} (check log file(s) for error details)
    external_jobid: 31
{INSIDE}
Exiting because a job execution failed. Look above for error messages
"""


CELL = Cell("add", "fake", "float64", 100)
MEMORY = "slurmstepd-cpu1: error: StepId=31.0 exceeded memory limit (5 > 3), being killed"
TIME = "slurmstepd: error: *** JOB 31 ON cpu1 CANCELLED AT 2026-12-01 DUE TO TIME LIMIT ***"


@pytest.mark.parametrize(
    ("words", "said", "expected"),
    [
        (STATE.format("FAILED"), MEMORY, ("out_of_memory", "31: FAILED; StepId=31.0 exceeded")),
        (STATE.format("OUT_OF_MEMORY"), "", ("out_of_memory", "31: OUT_OF_MEMORY")),
        (STATE.format("FAILED"), "srun: error: no such step", ("error", "FAILED; no such step")),
        (STATE.format("TIMEOUT"), TIME, ("timeout", "TIMEOUT; JOB 31 ON cpu1 CANCELLED")),
        (STATE.format("CANCELLED"), "", ("killed", "Slurm's job 31: CANCELLED")),
        (STATE.format("NODE_FAIL"), "", ("killed", "NODE_FAIL")),
        (REFUSED, "", ("error", "not taken by Slurm: invalid partition: nowhere; Batch job")),
        ("", "", ("killed", "the cluster's job failed")),
    ],
)
def test_the_clusters_words_are_status_and_one_line(tmp_path, words, said, expected):
    path = tmp_path / "slurm_logs/31.log"
    path.parent.mkdir()
    path.write_text(f"Job 0: measure\n{said}\nslurmstepd: error: more\n" if said else "")
    (found,) = lost.failures(log_of(words, CELL, path))
    assert found.files == (str(CELL.csv(1)), str(CELL.array))
    status, reason = lost.reason(found)
    assert status == expected[0] and expected[1] in reason and "\n" not in reason


def test_what_could_never_start_says_why():
    log = log_of(STATE.format("CANCELLED"), CELL)
    log += slurm_queue.CANCELLED.format(31, "PartitionTimeLimit")
    (found,) = lost.failures(log)
    assert lost.reason(found) == ("error", "Slurm can never start it: PartitionTimeLimit")


def test_a_job_that_failed_here_is_not_lost():
    assert lost.failures(INSIDE) == []


@pytest.fixture(scope="module")
def swept(tmp_path_factory):
    """A finished sweep of two cells, which did not wait for other sweeps of this machine."""
    made = copy_to(tmp_path_factory.mktemp("swept") / "clone")
    private_lock(made)
    workloads = {"add": {"sizes": [100], "dtypes": ["float64"]}}
    made.configure(CONFIG | {"workloads": workloads, "rounds": 1})
    made.sweep()
    return made


@pytest.fixture
def robbed(swept, tmp_path):
    """The same without the files of one cell, and with the log of a run that lost it."""
    made = swept.copy(tmp_path / "clone")
    for path in (CELL.csv(1), CELL.array):
        (made.root / path).unlink()
    log = log_of(STATE.format("CANCELLED"), CELL)
    (made.root / lost.LOGS / "9999-12-31T000000.0.snakemake.log").write_text(log)
    return made


@pytest.mark.whole
def test_a_lost_cell_becomes_a_row_and_nothing_is_measured(robbed):
    before = snapshot(robbed.root / "results/cells")
    done = robbed.crossover("lost", "--", *robbed.command())
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{CELL.csv(1)}: killed (Slurm's job 31: CANCELLED)" in done.stdout
    (row,) = record.read(robbed.root / CELL.csv(1))
    assert (row["status"], row["reason"]) == ("killed", "Slurm's job 31: CANCELLED")
    assert row["machine"] == row["host"] == row["cpu"] == row["seconds"] == ""
    assert before.items() <= snapshot(robbed.root / "results/cells").items()
    assert "killed, Slurm's job 31: CANCELLED" in robbed.crossover("close").stdout
    assert robbed.plan() == []

    # As always: retry removes it, and the next sweep measures it.
    assert str(CELL.csv(1)) in robbed.crossover("retry").stdout
    robbed.sweep()
    assert record.read(robbed.root / CELL.csv(1))[0]["status"] == "ok"


@pytest.mark.whole
def test_a_cell_that_nobody_lost_is_not_measured_instead(robbed):
    other = Cell("add", "numpy", "float64", 100).csv(1)
    (robbed.root / other).unlink()
    done = robbed.crossover("lost", "--", *robbed.command("--keep-going"))
    assert done.returncode == 1
    assert "not among what the cluster lost" in done.stdout + done.stderr
    assert not (robbed.root / other).exists() and (robbed.root / CELL.csv(1)).exists()


@pytest.mark.whole
def test_a_run_that_failed_for_another_reason_stays_failed(swept):
    done = swept.crossover("lost", "--", "a command that would not be run")
    assert (done.returncode, done.stdout, done.stderr) == (1, "", "")


@pytest.mark.whole
def test_a_lost_batch_is_tried_again_job_by_job(tmp_path, monkeypatch, capfd):
    monkeypatch.chdir(tmp_path)
    lost.LOGS.mkdir(parents=True)
    (lost.LOGS / "1.snakemake.log").write_text(f"[Tue]\n{lost.OF_A_BATCH}numpy-round1-part1\n")
    say = "import sys; print(*sys.argv[1:]); sys.exit({})"
    assert lost.recover([sys.executable, "-c", say.format(0), "snakemake"]) == 0
    assert "snakemake --group-components measuring=1\n" in capfd.readouterr().out
    # Where that fails as well, and says nothing of a cluster, it stays so.
    assert lost.recover([sys.executable, "-c", say.format(3), "snakemake"]) == 1
    assert "local" not in capfd.readouterr().out


# --- the queue

QUEUE = """\
12|PartitionTimeLimit|rule_measure_wildcards_add|{here}
13|Resources|rule_measure_wildcards_add|{here}
14|QOSMaxWallDurationPerJobLimit|rule_fake-round1_measure|{here}
15|PartitionTimeLimit|rule_measure|/elsewhere
16|PartitionTimeLimit|my own|{here}
"""


@pytest.fixture
def queue(tmp_path, monkeypatch):
    """A folder with a Snakemake of long ago, and a Slurm whose queue is a file."""
    here = tmp_path / "here"
    (here / ".snakemake/slurm_logs").mkdir(parents=True)
    monkeypatch.chdir(here)
    programs = tmp_path / "bin"
    programs.mkdir()
    (here / "queue").write_text(QUEUE.format(here=here))
    for name, script in (("squeue", "cat queue"), ("scancel", 'echo "$1" >> cancelled')):
        (programs / name).write_text(f"#!/bin/sh\n{script}\n")
        (programs / name).chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    return here


@pytest.mark.whole
def test_jobs_of_a_dead_snakemake_are_found(queue):
    assert slurm_queue.left_over() == ["12", "13", "14"]
    (queue / ".snakemake/locks").mkdir()
    (queue / ".snakemake/locks/0.input.lock").touch()
    assert slurm_queue.left_over() == [], "a Snakemake that lives, or says itself what to do"


def test_without_slurm_nothing_is_left_over(queue, monkeypatch):
    monkeypatch.setenv("PATH", "/nowhere")
    assert slurm_queue.left_over() == []


@pytest.mark.whole
def test_what_can_never_start_is_cancelled_with_words(queue):
    said = []
    over = slurm_queue.watch(said.append, 0.05)
    until(lambda: len(said) >= 2, "two words")
    (queue / "queue").write_text("")
    assert slurm_queue.cancelled("\n".join(said)) == {
        "12": "PartitionTimeLimit",
        "14": "QOSMaxWallDurationPerJobLimit",
    }
    until(lambda: len((queue / "cancelled").read_text().split()) >= 2, "two cancelled jobs")
    over.set()
    assert set((queue / "cancelled").read_text().split()) == {"12", "14"}
