"""One cell, measured by a real job with its real child process, without Snakemake."""

from pathlib import Path

from crossover import job, plugin, record

TASK = {
    "workload": "add",
    "backend": "numpy",
    "device": "cpu",
    "options": {},
    "dtype": "float64",
    "size": 10,
    "round": 1,
    "seed": 0,
    "budget_s": 0.01,
    "threads": "all",
    "keep_mb": 1,
}


def task(folder: Path, **changes) -> dict:
    """What a rule's script would ask for; workload and backend may be files in `folder`."""
    made = TASK | changes
    for kind in ("workload", "backend"):
        built_in = plugin.builtin(f"{kind}s").get(made[kind], folder / f"{made[kind]}.py")
        made.setdefault(f"{kind}_file", str(built_in))
    probe, csv, array = (str(folder / name) for name in ("probe.json", "1.csv", "output.npy"))
    return {"json": probe, "probe": probe, "csv": csv, "array": array} | made


def measured(folder: Path, timeout_s: float = 60, **changes) -> dict[str, str]:
    """The first row of the cell's file; the log is in `folder`, too."""
    made = task(folder, **changes)
    job.measure(made, timeout_s, folder / "log")
    return record.read(Path(made["csv"]))[0]
