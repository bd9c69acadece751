"""Raw files written by hand, and the summary of what is in them."""

from crossover import record, summary
from crossover.cells import Cell

SIZE = 1000


def measured(backend, seconds, round=1, size=SIZE, cell=None, scopes=("compute",), **facts):
    """Write one round of a cell: `seconds` is one time, the samples of every scope, or the samples
    by scope."""
    cell = cell or Cell("add", backend, "float64", size)
    if not isinstance(seconds, dict):
        samples = seconds if isinstance(seconds, list) else [seconds]
        seconds = dict.fromkeys(scopes, samples)
    rows = [
        {
            "workload": cell.workload,
            "backend": cell.backend,
            "dtype": cell.dtype,
            "size": cell.size,
            "round": round,
            "attempt": 1,
            "scope": scope,
            "sample": number,
            "seconds": value,
            "calls": 10,
            "started_at": 1000.0 * round,
            "status": "ok",
            "queue_wait_s": 0.0,
            "throttled_s": 0.0,
            "timed_s": 1.0,
            "import_s": 0.1,
            "threads_requested": "all",
            "threads_granted": 2,
            "threads_effective": 2,
            "cores": 2,
            "cpu": "CPU",
            "machine": "abc",
            "boot": "1",
            "device": "cpu",
        }
        | facts
        for scope, samples in seconds.items()
        for number, value in enumerate(samples, 1)
    ]
    record.write(cell.csv(round), rows)


def failed(backend, status, reason, round=1, size=SIZE):
    measured(backend, "", round, size, status=status, reason=reason, scopes=("",))


def rows(*backends, rounds=1, sizes=(SIZE,), partial=False):
    """The summary of numpy and other backends, by (backend, size, scope)."""
    cells = [Cell("add", b, "float64", s) for s in sizes for b in ("numpy", *backends)]
    found = summary.summarize(cells, rounds, "numpy", partial=partial)
    return {(row["backend"], row["size"], row["scope"]): row for row in found}


def texts(found):
    """The same as the rows of a file."""
    return [{name: str(value) for name, value in row.items()} for row in found.values()]
