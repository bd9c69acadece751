"""Speedups of made-up backends whose break-even size is known, drawn for many replicates at once.

A time is launch + n / rate, so that the curves cross at (launch - launch') / (1/rate' - 1/rate).
Each process, which is one size in one round of one side, is off by normal noise in the logarithm.
"""

import numpy as np

REPLICATES = 1000


def sizes(count, first, last):
    return [round(size) for size in np.geomspace(first, last, count)]


def crossing(grid, rounds, noise, seed, replicates=REPLICATES):
    """Logarithms of speedups by replicate, size and round, and the n* of each replicate: anywhere
    but in the outer sixths of the grid. At large n the backend is 3 to 100 times faster."""
    rng = np.random.default_rng(seed)
    low, high = np.log(grid[0]), np.log(grid[-1])
    truth = np.exp(rng.uniform(low + (high - low) / 6, high - (high - low) / 6, replicates))
    rate = 10 ** rng.uniform(8.5, 9.5, replicates)
    launch = 10 ** rng.uniform(-7, -6, replicates)
    gain = 10 ** rng.uniform(np.log10(3), 2, replicates)
    our_launch = launch + truth * (1 - 1 / gain) / rate
    n = np.array(grid)[:, None]
    curves = np.log((launch + n / rate) / (our_launch + n / (gain * rate))).T
    return noisy(curves, rounds, noise, rng), truth


def flat(speedup, grid, rounds, noise, seed, replicates=REPLICATES):
    rng = np.random.default_rng(seed)
    return noisy(np.full((replicates, len(grid)), np.log(speedup)), rounds, noise, rng)


def noisy(curves, rounds, noise, rng):
    """With noise in both sides of every round."""
    shape = (*curves.shape, rounds)
    return curves[..., None] + np.sqrt(2) * noise * rng.standard_normal(shape)


def logs(curve, grid):
    """One replicate as the library takes it."""
    return {
        size: dict(enumerate(rounds, 1)) for size, rounds in zip(grid, curve.tolist(), strict=True)
    }
