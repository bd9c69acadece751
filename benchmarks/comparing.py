"""How often do `make compare`'s intervals hold the truth, and how often are two equal sweeps called
different, or slower by the gate?

    PYTHONPATH=workflow/scripts .venv/bin/python benchmarks/comparing.py

Made-up rounds of two machines, which have nothing in common but their code. Exits non-zero where
coverage is out of its bounds, or where more than 5 % of equal sweeps have a difference called real
(with what chance allows in so many replicates).
"""

import sys
from dataclasses import dataclass
from math import log, sqrt

import numpy as np

from crossover import welch
from simulation import COVERAGE, SAMPLES, SPEEDUP, Draw, heavy_tailed, little, none, normal

REPLICATES = 2000
SWEEPS = 400
CELLS = 40  # of one sweep, as of the default one
ROUNDS = (2, 3, 5, 10)
NOISES = (0.01, 0.03, 0.05, 0.1)  # between processes
FACTORS = (1.05, 1.10, 1.25)  # of the gate
MOST_CALLED = 0.05 + 3 * sqrt(0.05 * 0.95 / SWEEPS)

# What is between the samples of a round, and between the processes of one machine and the other.
MODELS: dict[str, tuple[Draw, Draw, Draw]] = {
    "quiet": (little, none, none),
    "heavy_tailed": (heavy_tailed, none, none),
    "between_processes": (little, normal(0.05), normal(0.05)),
    "one_side_noisy": (little, normal(0.05), none),
    "twice_as_noisy": (little, normal(0.06), normal(0.03)),
}


def medians(
    rng: np.random.Generator, seconds: float, sample: Draw, process: Draw, shape: tuple[int, ...]
) -> np.ndarray:
    """The median of each round, a process of its own."""
    level = log(seconds) + process(rng, shape)
    return np.median(np.exp(level[..., None] + sample(rng, (*shape, SAMPLES))), axis=-1)


def coverage(name: str, rounds: int, replicates: int = REPLICATES, seed: int = 0) -> float:
    """The share of 95 % intervals that hold the truth."""
    rng = np.random.default_rng(seed)
    sample, mine, other = MODELS[name]
    shape = (replicates, rounds)
    theirs = medians(rng, 1.0, sample, other, shape).tolist()
    ours = medians(rng, 1.0 / SPEEDUP, sample, mine, shape).tolist()
    found = [welch.compared(*both) for both in zip(ours, theirs, strict=True)]
    return float(np.mean([one.speedup.low <= SPEEDUP <= one.speedup.high for one in found if one]))


@dataclass(frozen=True)
class Equal:
    """Shares of pairs of equal sweeps: with a difference called real among all, with one whose own
    interval leaves out 1, and that the gate calls slower, or clears."""

    called: float
    alone: float
    slowdowns: float
    cleared: float


def sweeps(
    noise: float, rounds: int, replicates: int = SWEEPS, factor: float = 1.10, seed: int = 0
) -> Equal:
    """Pairs of sweeps of CELLS cells that differ in nothing but noise between processes."""
    rng = np.random.default_rng(seed)
    counts = np.zeros(4)
    for _ in range(replicates):
        both = np.exp(noise * rng.standard_normal((2, CELLS, rounds))).tolist()
        found = [one for pair in zip(*both, strict=True) if (one := welch.compared(*pair))]
        allowed = welch.adjusted([one.p for one in found])
        # New over old: the ends of the interval the other way round.
        longer = [(1 / one.speedup.high, 1 / one.speedup.low) for one in found]
        counts += (
            min(allowed) < 0.05,
            min(one.p for one in found) < 0.05,
            any(low > factor for low, _ in longer),
            all(high <= factor for _, high in longer),
        )
    return Equal(*(counts / replicates).tolist())


def main() -> None:
    failed = 0
    print(f"{REPLICATES:,} replicates, {SAMPLES} samples a round. Coverage of Welch's interval:")
    print(" " * 20 + "".join(f"{rounds:>4} rounds" for rounds in ROUNDS))
    for name in MODELS:
        line = f"{name:20}"
        for rounds in ROUNDS:
            share = coverage(name, rounds)
            # Of two rounds Welch's is known to be wide where both are alike.
            bad = share < COVERAGE[0] or (rounds > 2 and share > COVERAGE[1])
            failed += bad
            line += f"{share:9.1%}{'!' if bad else ' '}"
        print(line.rstrip())
    print(
        f"\n{SWEEPS:,} pairs of equal sweeps of {CELLS} cells. Share with a difference called real,"
    )
    print("with one that is beyond its own interval; that the gate calls slower / clears at")
    print(" " * 32 + "real   own  " + "".join(f"{factor:>14.2f}x " for factor in FACTORS))
    for noise in NOISES:
        for rounds in ROUNDS[1:]:
            found = [sweeps(noise, rounds, factor=factor) for factor in FACTORS]
            bad = found[0].called > MOST_CALLED
            failed += bad
            gates = "".join(f"{one.slowdowns:8.1%} /{one.cleared:6.1%}" for one in found)
            what = f"{noise:4.0%} noise, {rounds:2} rounds"
            called = f"{found[0].called:6.1%}{'!' if bad else ' '}{found[0].alone:6.1%}"
            print(f"{what:29}{called} {gates}")
    sys.exit(f"{failed} figures are out of bounds (!)" if failed else 0)


if __name__ == "__main__":
    main()
