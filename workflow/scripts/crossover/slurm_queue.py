"""What Slurm's queue says of the jobs that Snakemake submitted from this folder.

Two kinds are trouble: those whose Snakemake is dead, since they write what a new one measures; and
those that Slurm takes but can never start, since a sweep would wait for them for ever.
"""

import re
import shutil
import subprocess
import threading
from collections.abc import Callable, Iterable
from pathlib import Path

SNAKEMAKE = Path(".snakemake")
ASK_S = 20  # for a controller that does not answer; then nothing is known
FORMAT = "--format=%A|%r|%k|%Z"  # number, reason, comment, folder
# Slurm's "job reason codes" for what asks for more than there can be.
NEVER = re.compile(
    r"BadConstraints|DependencyNeverSatisfied|InvalidAccount|InvalidQOS|"
    r"Partition(Config|NodeLimit|TimeLimit)|(Assoc|QOS)Max\w*PerJob\w*"
)
CANCELLED = "Slurm can never start job {} ({}), so it is cancelled"


def left_over() -> list[str]:
    """The numbers of jobs whose Snakemake is not there any more. One that is, or that was killed
    and not unlocked yet, holds a lock: Snakemake itself says so then."""
    locked = any((SNAKEMAKE / "locks").glob("*"))
    if locked or not (SNAKEMAKE / "slurm_logs").exists():
        return []
    return sorted(_ask(), key=int)


def watch(say: Callable[[str], None], seconds: float) -> threading.Event:
    """Cancel, with words in the log, what can never start; look every so many seconds from now on,
    as long as this process lives, or until what is returned is set."""
    over = threading.Event()
    threading.Thread(target=_watch, args=(say, seconds, over), daemon=True).start()
    return over


def _watch(say: Callable[[str], None], seconds: float, over: threading.Event) -> None:
    before: dict[str, str] = {}
    while not over.wait(seconds):
        pending = _ask("--states=pending")
        now = {number: reason for number, reason in pending.items() if NEVER.fullmatch(reason)}
        # Twice: just restarted, a controller may not know yet. Its words for it can differ.
        for number in now.keys() & before.keys():
            say(CANCELLED.format(number, now[number]))
            _run("scancel", number)
        before = now


def cancelled(log: str) -> dict[str, str]:
    """By number, the reason of the jobs that `watch` cancelled, from Snakemake's log."""
    return dict(re.findall(re.escape(CANCELLED).replace(r"\{\}", r"(\w+)"), log))


def ours(lines: Iterable[str], here: Path) -> dict[str, str]:
    """By number, the reason of those lines of FORMAT that are jobs of Snakemake's from a folder."""
    found = {}
    for line in lines:
        number, reason, comment, folder = line.split("|", 3)
        # Snakemake's jobs have their rule as a comment.
        if comment.startswith("rule_") and Path(folder).resolve() == here:
            found[number] = reason
    return found


def _ask(*options: str) -> dict[str, str]:
    return ours(_run("squeue", "--me", "--noheader", FORMAT, *options), Path.cwd().resolve())


def _run(*command: str) -> list[str]:
    """The lines that a command of Slurm's prints; none where there is no Slurm."""
    if not shutil.which(command[0]):
        return []
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=ASK_S)
    except subprocess.TimeoutExpired:
        return []
    return [line for line in done.stdout.splitlines() if line]
