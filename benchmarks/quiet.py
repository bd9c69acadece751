"""Does interference see a busy machine, and is it silent on a quiet one? Twenty short rounds here.

    PYTHONPATH=workflow/scripts .venv/bin/python benchmarks/quiet.py           # at most 1 disturbed
    PYTHONPATH=workflow/scripts .venv/bin/python benchmarks/quiet.py --busy 2  # at least 18

Rounds take turns between a product of matrices on all cores and a sum on one. Exits 1 where it is
otherwise. `others` is the share of the machine's time that went to neither us nor idling: not among
the signals, it says whether the machine was quiet at all.
"""

import argparse
import csv
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator

import numpy as np

from crossover import interference, machine

ROUNDS = 20
MOST_QUIET = 1  # of 20 on a quiet machine
LEAST_BUSY = 18  # of 20 beside as many busy processes as cores
COLUMNS = ("kind", "others", *interference.SIGNALS[:5], "disturbed")
BUSY = [sys.executable, "-S", "-c", "while True: pass"]


def loops() -> dict[str, Callable[[], object]]:
    rng = np.random.default_rng(0)
    a = rng.random((256, 256), dtype="float32")
    x, y = rng.random(100_000), rng.random(100_000)
    return {"matmul": lambda: a @ a, "add": lambda: x + y}


def rounds(count: int, seconds: float) -> Iterator[dict[str, object]]:
    """One row for each round, with the real counters around the real work."""
    kinds = list(loops().items())
    for number in range(count):
        kind, call = kinds[number % len(kinds)]
        for _ in range(20):
            call()
        worked, ours = _worked_s(), time.process_time()
        before = interference.Counters.now()
        end = time.perf_counter() + seconds
        while time.perf_counter() < end:
            call()
        signals = interference.Counters.now().since(before)
        others = _worked_s() - worked - (time.process_time() - ours)
        share = others / signals["timed_s"] / (os.cpu_count() or 1)
        yield {"kind": kind, "others": round(share, 2), **signals} | {
            "disturbed": interference.disturbed(signals)
        }


def _worked_s() -> float:
    """What all cores have worked since the start of the machine: all but idle and waiting."""
    times = [int(value) for value in machine.read(machine.PROC / "stat").split("\n")[0].split()[1:]]
    return (sum(times[:8]) - times[3] - times[4]) * interference.TICK_S


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--busy", type=int, default=0, help="busy processes beside it")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--seconds", type=float, default=0.2, help="of one round")
    options = parser.parse_args()
    neighbours = [subprocess.Popen(BUSY) for _ in range(options.busy)]
    try:
        time.sleep(0.2 if neighbours else 0)
        table = csv.DictWriter(sys.stdout, COLUMNS, extrasaction="ignore", lineterminator="\n")
        table.writeheader()
        found = []
        for row in rounds(options.rounds, options.seconds):
            table.writerow(row)
            found.append(bool(row["disturbed"]))
    finally:
        for neighbour in neighbours:
            neighbour.kill()
            neighbour.wait()
    print(f"{sum(found)} of {len(found)} rounds disturbed, {options.busy} busy processes beside")
    share = sum(found) / len(found)
    failed = share < LEAST_BUSY / ROUNDS if options.busy else share > MOST_QUIET / ROUNDS
    sys.exit(int(failed))


if __name__ == "__main__":
    main()
