"""What a cluster lost: jobs that died as a whole, or were never taken, become rows with a reason.

A child that dies is a row that its job writes. A job that dies itself (cancelled, over its time or
memory, its node gone, refused at submission) leaves nothing but words in Snakemake's log: they are
read here. The rows are then written by Snakemake itself, which runs the missing jobs once more on
this machine with `job.LOST` naming this file of reasons: told so, a job measures nothing.
"""

import json
import os
import re
import subprocess
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

from crossover import slurm_queue
from crossover.job import LOST
from crossover.status import ERROR, KILLED, OUT_OF_MEMORY, TIMEOUT, shortened

LOGS = Path(".snakemake/log")
# The last words of a message about a job that was not run on this machine.
ELSEWHERE = "For further error details see the cluster/cloud log"
OF_A_BATCH = "    message: Error in group "
# Each job by itself: what the profile's group-components call a batch of cells.
ONE_BY_ONE = ("--group-components", "measuring=1")
HERE = ("--executor", "local", "--cores", "1")
REFUSED = re.compile(r"sbatch failed\. The error message was '(.*?)'\.$", re.DOTALL | re.MULTILINE)
STATE = re.compile(r"SLURM-job '(\w+)' failed.*SLURM status is: '(\w+)'", re.DOTALL)
STATUS = {"TIMEOUT": TIMEOUT, "DEADLINE": TIMEOUT, "OUT_OF_MEMORY": OUT_OF_MEMORY, "FAILED": ERROR}
# What Slurm's daemons write into the job's log, and what of it is no reason.
SLURM_SAYS = re.compile(r"^(?:slurmstepd|srun)\S*: error: (?:\*\*\* )?(.+?)(?: \*\*\*)?$")
MEMORY = re.compile(r"exceeded memory limit|memory limit|oom.kill|Out Of Memory", re.IGNORECASE)


class Failure(NamedTuple):
    """A job of the cluster that failed: its files, what Snakemake said, the cluster's own log."""

    files: tuple[str, ...]
    words: str
    log: Path | None
    never: str = ""  # why it could not start at all


def last_log(folder: Path = LOGS) -> str:
    """What Snakemake wrote in its last run, '' where there was none."""
    logs = sorted(folder.glob("*.snakemake.log"))  # named by their time
    return logs[-1].read_text(encoding="utf-8", errors="replace") if logs else ""


def failures(log: str) -> list[Failure]:
    """The jobs that were submitted by themselves and failed, in the order of the log."""
    found: list[Failure] = []
    never = slurm_queue.cancelled(log)
    block: list[str] | None = None
    files: tuple[str, ...] = ()
    for line in log.splitlines():
        if line.startswith("Error in rule "):
            block, files = [], ()
        elif block is not None and line.startswith("    output: "):
            files = tuple(line.removeprefix("    output: ").split(", "))
        elif block is not None and line.startswith("    log: "):
            words = "\n".join(block)
            # The logs of failed jobs are shown as well, and tell of the same job from inside.
            if ELSEWHERE in words:
                words = words.partition(ELSEWHERE)[0]
                state = STATE.search(words)
                why = never.get(state[1], "") if state else ""
                found.append(Failure(files, words, _cluster_log(line), why))
            block = None
        elif block is not None:
            block.append(line)
    return found


def _cluster_log(line: str) -> Path | None:
    paths = line.removeprefix("    log: ").partition(" (check log file(s)")[0].split(", ")
    return next((Path(path) for path in paths if "/slurm_logs/" in path), None)


def reason(failure: Failure) -> tuple[str, str]:
    """Status and one line of a job that died as a whole, in the words of the cluster."""
    if refused := REFUSED.search(failure.words):
        lines = (line.removeprefix("sbatch: error: ") for line in refused[1].splitlines())
        return ERROR, shortened("not taken by Slurm: " + "; ".join(filter(None, lines)))
    if not (state := STATE.search(failure.words)):
        return KILLED, "the cluster's job failed; its log says why"
    if failure.never:
        return ERROR, f"Slurm can never start it: {failure.never}"
    said = _said(failure.log)
    status = STATUS.get(state[2], KILLED)
    if status == ERROR and (memory := next(filter(MEMORY.search, said), "")):
        status, said = OUT_OF_MEMORY, [memory]
    words = f"Slurm's job {state[1]}: {state[2]}"
    return status, shortened("; ".join([words, *said[:1]]))


def _said(log: Path | None) -> list[str]:
    """What Slurm's daemons wrote into a job's log, the first first."""
    if log is None or not log.exists():
        return []
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()
    return [found[1] for line in lines if (found := SLURM_SAYS.match(line))]


def missing(found: Iterable[Failure]) -> dict[str, tuple[str, str]]:
    """By file that is not there, why; of several tries the last one counts."""
    every = {file: reason(failure) for failure in found for file in failure.files}
    return {file: why for file, why in every.items() if not Path(file).exists()}


def recover(command: Sequence[str]) -> int:
    """After `command`, a run of Snakemake that failed: an exit status of 0 where every job that a
    cluster lost is a row now and the sweep has reached its end, 1 where it failed otherwise."""
    if OF_A_BATCH in last_log():
        print("\nA batch was lost: what it left is tried again, each job by itself", flush=True)
        if (done := _run([*command, *ONE_BY_ONE], {})) == 0:
            return done
    if not (lost := missing(failures(last_log()))):
        return 1
    print("\nLost on the cluster; each gets a row that says so:")
    for file, (status, words) in lost.items():
        if file.endswith((".csv", ".json")):
            print(f"  {file}: {status} ({words})", flush=True)
    with tempfile.NamedTemporaryFile("w", suffix=".json") as reasons:
        json.dump(lost, reasons)
        reasons.flush()
        return _run([*command, *ONE_BY_ONE, *HERE], {LOST: reasons.name})


def _run(command: Sequence[str], environment: dict[str, str]) -> int:
    done = subprocess.run(command, env=os.environ | environment)
    return min(1, abs(done.returncode))
