"""`make refine`: add sizes, measure them, look again; a loop around Snakemake.

Each step is listed before it runs, and is begun only where its estimated time is left. What it adds
is kept in refine.yaml before it is measured, so that whatever ends the loop, the next sweep goes on
there.
"""

import subprocess
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from crossover import decide, refine
from crossover.refine import Asked, Open

# Guesses, until one step was seen: Snakemake's start, the summary and the decision; and what draws
# the charts of one workload and dtype in the end.
STEP_S, DRAW_S = 8.0, 10.0
TIME = "the time is spent; 'make refine' goes on, MINUTES= gives it more"
NOT_MEASURED = "the sizes that were added are not in the summary"
FEW_ROUNDS = 5
BY_LUCK = """\
With fewer than 5 rounds some intervals are narrow by luck: in simulations 96 in 100 of all hold n*,
but where rounds differ by 10 %, of those that more sizes made narrow as few as 71."""

Group = tuple[str, str]  # workload and dtype
Step = Mapping[Group, Sequence[int]]  # sizes


@dataclass(frozen=True)
class World:
    """What the loop asks and changes. Times are in seconds."""

    rows: Callable[[], Sequence[decide.Row]]  # of summary.csv
    seconds: Callable[[str, str, int], float]  # of a size's jobs, by workload and dtype: a guess
    keep: Callable[[Step], None]  # in refine.yaml
    measure: Callable[[], int]  # Snakemake up to the decision; its exit status
    draw: Callable[[], int]  # all of it
    clock: Callable[[], float]
    say: Callable[[str], None]


class Loop:
    """Sizes added, measured and looked at again, by means of a `World` (files, Snakemake, a
    clock)."""

    def __init__(
        self, world: World, tried: Mapping[Group, Iterable[int]], within: float, limit_s: float
    ) -> None:
        """`tried` are the sizes of each workload and dtype, measured or failed; `within` is the
        factor that intervals are to be narrowed to, `limit_s` the time for all of it."""
        self.world = world
        self.tried = {group: set(sizes) for group, sizes in tried.items()}
        self.within = within
        self.limit_s = limit_s
        self.began = world.clock()
        self.guessed_s = self.taken_s = 0.0

    def run(self, rounds: int) -> int:
        """Until all is narrow, nothing helps, or the time is spent; an exit status."""
        first = asked = self._ask()
        number, stopped = 0, TIME
        while step := self._choose(asked):
            number += 1
            self.world.say("\n".join(self._listed(number, step, asked)))
            if status := self._do(step):
                return status
            asked = self._ask()
            if not self._measured(step):
                stopped = NOT_MEASURED
                break
        status = self.world.draw() if number else 0
        self.world.say("\n".join(report(first, asked, stopped, number, rounds)))
        return status

    def _ask(self) -> list[Asked]:
        curves = [one for one in decide.curves(self.world.rows()) if not one.apart]
        known = [one for one in curves if (one.workload, one.dtype) in self.tried]
        return refine.ask(known, self.tried, self.within)

    def _choose(self, asked: Iterable[Asked]) -> Step:
        """A size for each interval, the widest first, as far as the time goes; one that already
        holds a size of this step waits for what that shows."""
        step: dict[Group, list[int]] = {}
        wanted = [(one.group, one.next) for one in asked if one.next]
        for group, end in sorted(wanted, key=lambda pair: -pair[1].factor):
            there = step.get(group, [])
            if end.size and not any(end.low < size < end.high for size in there):
                more = {**step, group: [*there, end.size]}
                if self._paced(self._guess(more) + DRAW_S * len(self.tried)) <= self._left_s():
                    step = more
        return step

    def _do(self, step: Step) -> int:
        started, guess = self.world.clock(), self._guess(step)
        self.world.keep(step)
        status = self.world.measure()
        self.guessed_s += guess
        self.taken_s += self.world.clock() - started
        for group, sizes in step.items():
            self.tried[group].update(sizes)
        return status

    def _measured(self, step: Step) -> bool:
        """Whether there is anything of it, be it a failure: flags for Snakemake may have replaced
        the sizes."""
        rows = self.world.rows()
        there = {(row["workload"], row["dtype"], int(row["size"])) for row in rows}
        return any((*group, size) in there for group, sizes in step.items() for size in sizes)

    def _left_s(self) -> float:
        return self.limit_s - (self.world.clock() - self.began)

    def _guess(self, step: Step) -> float:
        sizes = [(*group, size) for group, sizes in step.items() for size in sizes]
        return STEP_S + sum(self.world.seconds(*size) for size in sizes)

    def _paced(self, guess: float) -> float:
        """With what came of the guesses before."""
        return guess * (self.taken_s / self.guessed_s if self.guessed_s else 1.0)

    def _listed(self, number: int, step: Step, asked: Iterable[Asked]) -> Iterator[str]:
        count = sum(map(len, step.values()))
        yield (
            f"\nStep {number} adds {count} {'size' if count == 1 else 'sizes'}: about "
            f"{self._paced(self._guess(step)) / 60:.1f} of {self._left_s() / 60:.1f} minutes left"
        )
        for one in asked:
            if (end := one.next) and end.size in step.get(one.group, ()):
                yield f"  {_name(one)}: n = {end.size:,}, {_between(end)}"


def report(
    first: Iterable[Asked], last: Sequence[Asked], stopped: str, steps: int, rounds: int
) -> list[str]:
    """What each n* was and is, and why no more was done; `stopped` where more could be."""
    if not any(one.words for one in last):
        return ["Nothing to refine: no backend has an interval, which takes two rounds"]
    before = {one.curve: one for one in first}
    pairs = [(before.get(one.curve, one), one) for one in last]
    shown = [(old, one) for old, one in pairs if not (_done(old) and _done(one))]
    if not shown:
        words = "are narrow enough, or have no size at which they change"
        return [f"Nothing to refine: all {len(last)} answers {words}"]
    lines = ["", "What is known now:"] if steps else ["Nothing was added:"]
    for old, one in shown:
        lines.append(f"{_name(one)}: {one.words}")
        if steps and old.words != one.words:
            lines.append(f"  it was {old.words}")
        if one.opens:
            widest = one.opens[0]
            lines.append(f"  a factor of {widest.factor:.2f}: {widest.reason or stopped}")
    if others := len(last) - len(shown):
        lines.append(f"{others} others were narrow enough, or have no size at which they change")
    if rounds < FEW_ROUNDS and any(_done(one) for _, one in shown):
        lines.append(BY_LUCK)
    return lines


def _done(one: Asked) -> bool:
    return all(end.reason == refine.NARROW for end in one.opens)


def _name(one: Asked) -> str:
    return f"{one.workload} {one.dtype}, {one.backend} over {one.against}, {one.scope}"


def _between(end: Open) -> str:
    low, high = (f"{float(f'{size:.3g}'):,.0f}" for size in (end.low, end.high))
    return f"between {low} and {high}"


def wait_for(command: Sequence[str]) -> int:
    """Run it and return its exit status. On Ctrl-C, which it gets as well, it is given the time to
    end by itself: Snakemake, killed, would leave its lock."""
    with subprocess.Popen(command) as process:
        try:
            return process.wait()
        except KeyboardInterrupt:
            process.wait()
            raise
