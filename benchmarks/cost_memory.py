"""The peak memory of cells of the article's sizes over the arrays that they need.

What is needed is the workload's own cost: the inputs, the outputs unless it works in place, and the
intermediate results that are alive when most of them are. The peak is what the raw file says. Takes
about five minutes and 6 GB.
"""

import tempfile
from pathlib import Path

import checkout
from crossover import plugin, record
from crossover.cells import Cell, itemsize
from report import Report, progress

BOUND = 1.15
ARTICLE = {
    "add": {"sizes": [300_000_000], "dtypes": ["float64"]},
    "matmul": {"sizes": [10_000], "dtypes": ["float32"]},
    "polar": {"sizes": [100_000_000], "dtypes": ["float32", "float64"]},
}
BACKENDS = {"numpy": {}, "torch_cpu": {"library": "torch", "device": "cpu"}}


def measure(report: Report, scale: int) -> None:
    """`scale` divides the sizes, for a first try: what does not grow with them then shows."""
    workloads = {
        name: entry | {"sizes": [size // scale for size in entry["sizes"]]}
        for name, entry in ARTICLE.items()
    }
    config = {"workloads": workloads, "backends": BACKENDS, "rounds": 1, "timeout_s": 600}
    cells = [
        Cell(name, backend, dtype, size)
        for name, entry in workloads.items()
        for dtype in entry["dtypes"]
        for size in entry["sizes"]
        for backend in BACKENDS
    ]
    rows, ratios = [], {}
    with tempfile.TemporaryDirectory() as place:
        folder = checkout.make(Path(place) / "clone", config)
        for cell in cells:
            progress(f"memory: {cell.words(1, 1)}")
            checkout.run(folder, checkout.command(str(cell.csv(1))))
            facts = record.read(folder / cell.csv(1))[0]
            name = f"{cell.workload}, {cell.backend}, {cell.dtype}, n={cell.size:,}"
            if facts["status"] != "ok":
                report.line(f"{name}: {facts['status']} ({facts['reason']})")
                ratios[name] = float("nan")
                continue
            peak, needed = int(facts["host_peak_bytes"]), needed_bytes(cell)
            ratios[name] = peak / needed
            row = (name, f"{peak / 1e9:.2f}", f"{needed / 1e9:.2f}", f"{peak / needed:.3f}")
            rows.append(row)
    report.table(("memory of a cell", "peak GB", "arrays GB", "ratio"), rows)
    for name, ratio in ratios.items():
        report.most(name, ratio, BOUND)


def needed_bytes(cell: Cell) -> int:
    workload = plugin.load(plugin.builtin("workloads")[cell.workload])
    cost = workload.cost(cell.size, itemsize(cell.dtype))
    made = 0 if getattr(workload, "IN_PLACE", False) else cost.output_bytes
    return int(cost.input_bytes + made + cost.temporary_bytes)
