"""What is n* worth after `make refine`? Sizes are added where the measurements point, and no more
once the interval is narrow: does it still hold n*, and how many sizes does it take?

    PYTHONPATH=workflow/scripts .venv/bin/python benchmarks/refining.py

Made-up curves with a known crossing; then some that lie on the baseline up to a size, where nothing
is to be claimed. Exits non-zero where fewer than 93 % of all intervals hold n*, or more than 5 % of
these curves are called faster where they are not (with what chance allows in so many replicates).
"""

import sys
from collections.abc import Callable
from dataclasses import dataclass
from math import exp, log, sqrt

import numpy as np

from crossover import break_even, refine

REPLICATES = 1000
MOST_STEPS = 12
LEAST_HELD = 0.93
MOST_FALSE = 0.05 + 3 * sqrt(0.05 * 0.95 / REPLICATES)
ROUNDS = (3, 5)
# By name: sizes, the power with which the work grows, and how often the baseline is slower by a
# factor of 2 beyond some size, as where a cache ends.
GRIDS = {
    "3 sizes, 2 decades": ((10_000, 100_000, 1_000_000), 1, 0.0),
    "3 sizes, 4 decades": ((1000, 100_000, 10_000_000), 1, 0.0),
    "4 sizes, 3 decades": ((10_000, 100_000, 1_000_000, 10_000_000), 1, 0.0),
    "the same, a cache ends": ((10_000, 100_000, 1_000_000, 10_000_000), 1, 1.0),
    "products of matrices": ((64, 256, 1024, 2048), 3, 0.0),
}
# The noise between processes, and the factor that is asked for.
ASKED = ((0.01, 1.1), (0.03, 1.2), (0.05, 1.5), (0.1, 1.5))


@dataclass(frozen=True)
class Curve:
    """Times are launch + work / rate, of each side, in units of what the baseline takes to launch;
    `at` is where the baseline's rate halves."""

    truth: float
    power: int
    launch: float
    gain: float
    at: float

    def speedup(self, size: float) -> float:
        def seconds(n: float) -> float:
            rest = max(n - self.at, 0.0) if n > self.at else 0.0
            return 1 + (n**self.power + rest**self.power) / self.launch

        ours = seconds(self.truth) - self.truth**self.power / self.launch / self.gain
        return seconds(size) / (ours + size**self.power / self.launch / self.gain)


def curve(rng: np.random.Generator, grid: tuple[int, ...], power: int, cache: float) -> Curve:
    """n* anywhere but in the outer sixths of the grid, the launch as long as 0.03 to 3 times the
    work there; in the end the backend is 3 to 100 times faster."""
    low, high = log(grid[0]), log(grid[-1])
    sixth = (high - low) / 6
    truth = exp(rng.uniform(low + sixth, high - sixth))
    at = exp(rng.uniform(low, high)) if rng.random() < cache else float("inf")
    gain = exp(rng.uniform(log(3), log(100)))
    return Curve(truth, power, truth**power * exp(rng.uniform(log(0.03), log(3))), gain, at)


@dataclass(frozen=True)
class End:
    """Of one search: n*'s interval before and after as factors, 0 where there is none; whether it
    holds n*; how many sizes were added, and why no more."""

    before: float
    after: float
    held: bool
    added: int
    reason: str


def search(
    made: Curve,
    grid: tuple[int, ...],
    rounds: int,
    noise: float,
    within: float,
    rng: np.random.Generator,
) -> End:
    def measured(size: int) -> dict[int, float]:
        off = sqrt(2) * noise * rng.standard_normal(rounds)
        return dict(enumerate((log(made.speedup(size)) + off).tolist(), 1))

    logs = {size: measured(size) for size in grid}
    before = 0.0
    for step in range(MOST_STEPS + 1):
        found = list(refine.opened([logs], made.power, logs, within))
        before = before or (found[0].factor if found else 0.0)
        size = found[0].size if found else None
        if size is None or step == MOST_STEPS:
            break
        logs[size] = measured(size)
    even = break_even.find([logs], made.power)
    held = even.low is not None and even.high is not None and even.low <= made.truth <= even.high
    after = found[0].factor if found else 0.0
    return End(before, after, held, len(logs) - len(grid), found[0].reason if found else "no n*")


def simulate(
    name: str, rounds: int, noise: float, within: float, replicates: int = REPLICATES, seed: int = 0
) -> list[End]:
    grid, power, cache = GRIDS[name]
    rng = np.random.default_rng(seed)
    return [
        search(curve(rng, grid, power, cache), grid, rounds, noise, within, rng)
        for _ in range(replicates)
    ]


# Over the size at which it leaves the baseline.
RISES: dict[str, Callable[[float], float]] = {
    "rises from there": lambda ratio: max(0.0, log(ratio)),
    "jumps there to twice as fast": lambda ratio: log(2) if ratio > 1 else 0.0,
}


def false_claims(
    name: str, rounds: int, noise: float, replicates: int = REPLICATES, seed: int = 0
) -> tuple[float, float]:
    """How many are called faster at a size where they lie on the baseline, before and after."""
    rng = np.random.default_rng(seed)
    grid = (1000, 10_000, 100_000, 1_000_000, 10_000_000)
    before, after = [], []
    for _ in range(replicates):
        leaves = exp(rng.uniform(log(grid[1]), log(grid[-2])))

        def measured(size: int, leaves: float = leaves) -> dict[int, float]:
            off = sqrt(2) * noise * rng.standard_normal(rounds)
            return dict(enumerate((RISES[name](size / leaves) + off).tolist(), 1))

        logs = {size: measured(size) for size in grid}
        before.append(_claims(logs, leaves))
        for _ in range(MOST_STEPS):
            found = next(refine.opened([logs], 1, logs, 1.1), None)
            if found is None or found.size is None:
                break
            logs[found.size] = measured(found.size)
        after.append(_claims(logs, leaves))
    return share(before), share(after)


def _claims(logs: dict[int, dict[int, float]], leaves: float) -> bool:
    return any(low < leaves for low, _ in break_even.find([logs]).faster)


def share(values: list[bool]) -> float:
    return sum(values) / len(values) if values else float("nan")


def main() -> None:
    print(f"{REPLICATES:,} curves each. 'held': of all intervals; 'narrowed': of those that sizes")
    print("were added to until they were narrower than asked, how many there were and held n*.")
    failed = 0
    for name in GRIDS:
        for rounds in ROUNDS:
            for noise, within in ASKED:
                ends = simulate(name, rounds, noise, within)
                narrowed = [e.held for e in ends if e.added and e.reason == refine.NARROW]
                held = share([end.held for end in ends])
                before, after = (
                    float(np.median([getattr(end, key) for end in ends]))
                    for key in ("before", "after")
                )
                failed += held < LEAST_HELD
                print(
                    f"{name:22}  {rounds} rounds  noise {noise:4.0%}  within {within:3.1f}:  "
                    f"held {held:5.1%}  narrowed {share(narrowed):5.1%} of {len(narrowed):4}  "
                    f"factor {before:5.2f} -> {after:4.2f}  "
                    f"sizes {np.mean([end.added for end in ends]):3.1f}"
                    f"{'  !' if held < LEAST_HELD else ''}",
                    flush=True,
                )
    print("\nOn the baseline up to some size: called faster there, before and after.")
    for name in RISES:
        for rounds in ROUNDS:
            for noise in (0.01, 0.05):
                shares = false_claims(name, rounds, noise)
                failed += shares[1] > MOST_FALSE
                print(
                    f"{name:28}  {rounds} rounds  noise {noise:4.0%}:  {shares[0]:.1%} -> "
                    f"{shares[1]:.1%}{'  !' if shares[1] > MOST_FALSE else ''}",
                    flush=True,
                )
    sys.exit(f"{failed} figures are out of bounds (!)" if failed else 0)


if __name__ == "__main__":
    main()
