"""What a sweep asked of Slurm, call by call, as watched/squeue wrote it down: how many of its own
polls it took until Snakemake told what Slurm had answered. Polls and no seconds, which a busy
machine makes longer."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from crossover.slurm_queue import NEVER

LOST = {"BOOT_FAIL", "CANCELLED", "FAILED", "NODE_FAIL", "OUT_OF_MEMORY", "TIMEOUT"}
TOLD = r"SLURM-job '{0}' failed|/{0}\.log \(check"


class Call(NamedTuple):
    command: str
    code: int
    arguments: str
    said: list[str]
    told: list[str]  # of lost jobs, by Snakemake, before this call

    @property
    def is_poll(self) -> bool:
        """The plugin's own, of all its jobs."""
        return self.command == "squeue" and "--states=all" in self.arguments

    @property
    def is_look(self) -> bool:
        """Ours, for what can never start."""
        return self.command == "squeue" and "--states=pending" in self.arguments

    def states(self) -> dict[str, str]:
        """By number, the state of a poll's jobs."""
        return dict(line.split("|") for line in self.said)


def read(path: Path) -> list[Call]:
    calls = []
    for line in path.read_text().splitlines():
        command, code, arguments, said, told = line.split("\t")
        rows = list(filter(None, said.split(";")))
        calls.append(Call(command, int(code), arguments, rows, told.split(";")))
    return calls


def submitted(calls: Sequence[Call]) -> list[str]:
    """The numbers of the jobs that Slurm took."""
    return [call.said[0] for call in calls if call.command == "sbatch" and call.code == 0]


def until_told(calls: Sequence[Call], words: str) -> int:
    """How many of these calls it took, the first not counted, until `words`, a pattern, had been
    told. After the last one the sweep was at its end: then it counts as told."""
    told = (n for n, call in enumerate(calls) if re.search(words, ";".join(call.told)))
    return next(told, len(calls))


def polls_until_lost_is_told(calls: Sequence[Call]) -> dict[str, int]:
    """By number, for the jobs that a poll has seen as lost."""
    polls = [call for call in calls if call.is_poll and call.code == 0]
    taken = submitted(calls)  # Slurm has a failed job for each that it refused, too
    found: dict[str, int] = {}
    for first, poll in enumerate(polls):
        lost = [one for one, state in poll.states().items() if state in LOST and one in taken]
        for number in lost:
            found.setdefault(number, until_told(polls[first:], TOLD.format(number)))
    return found


def looks_until_never_is_told(calls: Sequence[Call]) -> dict[str, int]:
    """By number, for the jobs that Slurm keeps and cannot start."""
    looks = [call for call in calls if call.is_look and call.code == 0]
    found: dict[str, int] = {}
    for first, look in enumerate(looks):
        for line in look.said:
            number, reason, *_ = line.split("|")
            if NEVER.fullmatch(reason):
                told = until_told(looks[first:], rf"can never start job {number}\b")
                found.setdefault(number, told)
    return found


def polls_until_refusals_are_told(calls: Sequence[Call]) -> list[int]:
    """For each submission that Slurm refused."""
    refused = [n for n, call in enumerate(calls) if call.command == "sbatch" and call.code]
    found = []
    for count, first in enumerate(refused, 1):
        polls = [call for call in calls[first:] if call.is_poll]
        told = (n for n, call in enumerate(polls) if call.told.count("sbatch failed") >= count)
        found.append(next(told, len(polls)))
    return found


def polls_after_the_last_end(calls: Sequence[Call]) -> int:
    """How often the plugin asked again though all of its jobs had ended, and it had been told."""
    polls = [call for call in calls if call.is_poll]
    going = re.compile(r"PENDING|RUNNING|COMPLETING|CONFIGURING")
    last = max(n for n, call in enumerate(polls) if call.code or going.search(str(call.said)))
    return len(polls) - last - 2  # the one after the last says that they have ended
