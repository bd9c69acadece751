"""Made-up sweeps with a known speedup: how often does an interval hold it, and how wide is it?

Each replicate draws the samples of every round of both sides, takes each round's median, makes the
pairs and hands their logarithms to `crossover.intervals`, as the summary does. Times are in units
of the baseline's.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import log
from statistics import NormalDist

import numpy as np

from crossover import intervals

SPEEDUP = 1.3
REPLICATES = 2000
ROUNDS = (3, 5, 10)
SAMPLES = 60  # in a round

# Held by the test and by interval_coverage.py: the share of 95 % intervals with the truth in them,
# and their mean width over an oracle's by the number of rounds.
COVERAGE = (0.93, 0.985)
WIDEST = {3: 2.0, 5: 1.4, 10: 1.2}

Draw = Callable[[np.random.Generator, tuple[int, ...]], np.ndarray]


def none(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    return np.zeros(shape)


def normal(share: float) -> Draw:
    """Normal in the logarithm; 0.05 is 5 %."""
    return lambda rng, shape: share * rng.standard_normal(shape)


def heavy_tailed(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Late by a Pareto time without a variance: of a thousand samples one takes twice as long."""
    return np.log1p(0.01 * rng.pareto(1.5, shape))


def now_and_then_slow(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    return np.where(rng.random(shape) < 0.1, log(1.85), 0.0)


def little(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    return normal(0.01)(rng, shape)


@dataclass(frozen=True)
class Noise:
    """What is added to the logarithm of a time, by what it is common to."""

    words: str
    sample: Draw = little
    process: Draw = none  # the whole life of one process: one round of one side
    baseline_process: Draw | None = None  # where it differs from `process`
    round: Draw = none  # both sides of one round


MODELS = {
    "quiet": Noise("1 % between samples"),
    "heavy_tailed": Noise("samples late by a Pareto time without a variance", sample=heavy_tailed),
    "between_processes": Noise("5 % between processes", process=normal(0.05)),
    "common_to_a_round": Noise("5 % common to a round", round=normal(0.05)),
    "one_side_noisy": Noise(
        "5 % between the processes of one side, the other quiet",
        process=normal(0.05),
        baseline_process=none,
    ),
    "a_slow_process": Noise(
        "one process in ten 1.85 times slower for its whole life", process=now_and_then_slow
    ),
}

WIDTH_HELD = ("quiet", "heavy_tailed", "between_processes")
# What most processes do is its truth; such an interval is reported, and not held to the bounds.
REPORTED = "a_slow_process"


@dataclass(frozen=True)
class Result:
    """`coverage`: the share of intervals that hold the truth. `width`: the mean width, on the
    logarithm, over that of an oracle who knows the variance and uses the normal quantile."""

    coverage: float
    width: float


def pairs(noise: Noise, rounds: int, replicates: int, seed: int) -> np.ndarray:
    """The logarithm of baseline / ours, by replicate and round."""
    rng = np.random.default_rng(seed)
    shape = (replicates, rounds)
    common = noise.round(rng, shape)

    def median_s(seconds: float, process: Draw) -> np.ndarray:
        level = log(seconds) + common + process(rng, shape)
        return np.median(np.exp(level[..., None] + noise.sample(rng, (*shape, SAMPLES))), axis=-1)

    baseline_s = median_s(1.0, noise.baseline_process or noise.process)
    return np.log(baseline_s / median_s(1.0 / SPEEDUP, noise.process))


def simulate(
    name: str, rounds: int, replicates: int = REPLICATES, seed: int = 0, of=intervals.of
) -> Result:
    logs = pairs(MODELS[name], rounds, replicates, seed)
    found = [of(row) for row in logs.tolist()]
    held = [interval.low <= SPEEDUP <= interval.high for interval in found]
    widths = [log(interval.high / interval.low) for interval in found]
    oracle = 2 * NormalDist().inv_cdf(0.975) * logs.std() / rounds**0.5
    return Result(float(np.mean(held)), float(np.mean(widths) / oracle))
