"""Archives of machines that do not exist, made without a sweep."""

import io
import zipfile
from random import Random
from statistics import median

from crossover import archive, record
from crossover.compare import labels
from crossover.record import Part

CODE = "11111111 22222222 33333333"
FACTS = dict.fromkeys(record.FACTS, "") | {
    **{"workload": "add", "dtype": "float64", "attempt": "1", "scope": "compute", "status": "ok"},
    **{"calls": "10", "started_at": "1000.0", "budget_s": "0.2", "seed": "0", "memory": "fresh"},
    **{"threads_requested": "all", "threads_effective": "2", "cores": "2", "cpu": "A CPU"},
    **{"machine": "abc", "boot": "1", "device": "cpu", "library": "numpy", "version": "2.4.6"},
    **{"numpy_version": "2.4.6", "python_version": "3.11.7", "code": CODE},
}
SIZES = (1000, 10_000)


def cell(seconds, size=SIZES[0], backend="numpy", **facts):
    """Summary rows and parts of one cell: `seconds` is a median for each round, or by scope."""
    by_scope = seconds if isinstance(seconds, dict) else {"compute": seconds}
    shared = FACTS | {"backend": backend, "size": str(size)} | facts
    rows, parts = [], []
    for scope, medians in by_scope.items():
        row = {"median_s": repr(median(medians)), "grade": "good", "scope": scope}
        rows.append({**shared, **row, **facts})
        for number, value in enumerate(medians, 1):
            of_round = shared | {"scope": scope, "round": str(number)}
            own = [[str(i), repr(value * share), "", "10", "1000.0"] for i, share in
                   enumerate((0.99, 1.0, 1.01), 1)]  # fmt: skip
            parts.append(Part(of_round, own))
    return rows, parts


def failed(size=SIZES[0], backend="numpy", status="unavailable", reason="no driver", **facts):
    row = FACTS | {"backend": backend, "size": str(size), "status": status, "reason": reason}
    return [row | facts], []


def noisy(typical, noise, seed, rounds=3, sizes=SIZES, **facts):
    """A cell for each size, whose rounds scatter by so much around `typical(size)`, or a number."""
    random = Random(seed)
    typical_s = typical if callable(typical) else lambda size: typical
    return [
        cell([typical_s(n) * random.lognormvariate(0, noise) for _ in range(rounds)], n, **facts)
        for n in sizes
    ]


def content(*cells, config=None, host=None):
    """The bytes of an archive of these cells."""
    rows = [row for some, _ in cells for row in some]
    parts = [part for _, some in cells for part in some]
    probe = {"available": True} | ({"host": host} if host else {})
    return archive.packed(rows, parts, config or {"backends": {}}, {"numpy": probe})


def read(folder, **contents):
    """The archives of these bytes, by their labels, as `make compare` has them."""
    paths = [folder / f"{name}.zip" for name in contents]
    for path, data in zip(paths, contents.values(), strict=True):
        path.write_bytes(data)
    return dict(zip(labels(paths), map(archive.read, paths), strict=True))


def edited(data, **changes):
    """The same zip file with other entries: bytes, None to leave one out, or a function of the
    text; a name's dot is spelt __."""
    out = io.BytesIO()
    changes = {name.replace("__", "."): change for name, change in changes.items()}
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w") as new:
        kept = {name: old.read(name) for name in old.namelist()}
        for name, change in changes.items():
            kept[name] = change(kept[name].decode()).encode() if callable(change) else change
        for name, value in kept.items():
            if value is not None:
                new.writestr(name, value)
    return out.getvalue()
