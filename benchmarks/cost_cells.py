"""48 cells from nothing, one round and three: seconds, beside what other tools take for the like.

Once and not five times, since it takes minutes. The three rounds are the first one and then two
more on top of it, summary and charts made twice.
"""

import tempfile
from pathlib import Path

import checkout
from crossover.turn import turn
from report import Report, progress

ELEMENTS, ROWS = [1000, 10_000, 100_000, 1_000_000], [64, 128, 256, 512]
CONFIG = {
    "workloads": {
        "add": {"sizes": ELEMENTS},
        "matmul": {"sizes": ROWS},
        "polar": {"sizes": ELEMENTS},
    },
    "dtypes": ["float32", "float64"],
    "backends": {"numpy": {}, "torch_cpu": {"library": "torch", "device": "cpu"}},
    "budget_s": 0.2,
}
BOUNDS = {1: 100.0, 3: 300.0}  # s on two cores, by rounds

# On two cores like CI's, the same functions, dtypes and number of sizes (shared/FACTS.md).
PEERS = "torch.utils.benchmark 15-17 s, perfplot 11-41 s, benchopt 20 s, pyhpc-benchmarks 38-54 s, "
PEERS += "asv 111-127 s, pyperf 341 s"


def measure(report: Report, rounds: int) -> None:
    spent = 0.0
    taken = {}
    with tempfile.TemporaryDirectory() as name:
        folder = checkout.make(Path(name) / "clone", CONFIG | {"rounds": 1})
        checkout.own_lock(folder)
        for count in [number for number in BOUNDS if number <= rounds]:
            progress(f"cells: 48 cells, {count} round(s)")
            checkout.configure(folder, CONFIG | {"rounds": count})
            with turn():
                spent += checkout.run(folder, checkout.command())[0]
            taken[count] = spent
    report.table(
        ("48 cells", "seconds"),
        [(f"{count} round(s)", f"{seconds:.0f}") for count, seconds in taken.items()],
    )
    report.line(f"Others on the like, one pass: {PEERS}")
    for count, seconds in taken.items():
        report.most(f"48 cells, {count} round(s)", seconds, BOUNDS[count], " s")
