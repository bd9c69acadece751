"""What bounds a cell, and how near it comes: its rates beside the roofs that ceilings measured.

The traffic is the compulsory one: inputs once, outputs once. No cell is faster than its roof,

    max(one launch, operations / arithmetic rate, bytes / memory bandwidth, transfers),

if both were timed right. Above it a cell is graded; far above, where no cache explains it, a clock
was wrong, and the cell becomes an error. (Williams, Waterman, Patterson: "Roofline: an insightful
visual performance model for multicore architectures", Communications of the ACM 52, 2009.)
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import inf
from typing import Any

from crossover import record
from crossover.cells import Ceiling, itemsize
from crossover.grades import ABOVE_CEILING, NOT_PAIRED, joined, parts, with_also
from crossover.interference import disturbed
from crossover.status import ERROR, OK
from crossover.summary import FROM_ROUNDS
from crossover.workloads import host_dtype

GRADED = 1.05  # roof_share above which a cell is trusted less, ...
REFUSED = 2.0  # ... and not at all: one process can be 1.85 times slower than another, ...
FEWEST_ROUNDS = 2  # ... and that may be the ceilings' only one
LAUNCH, TRANSFER, MEMORY, ARITHMETIC = "launch", "transfer", "memory", "arithmetic"
UPLOADS, DOWNLOADS = ("upload", "upload_pinned"), ("download", "download_pinned")
WHOLE = ("compute", "round_trip")
HALVES = ("float16", "bfloat16")
SPEEDUP = (
    "speedup",
    "speedup_low",
    "speedup_high",
    "finding",
    "detectable",
    "pairs",
    "speedup_by_round",
)
CELL = ("workload", "backend", "dtype", "size")
KEPT = (*CELL, "scope", "baseline", "error", "error_bound", *FROM_ROUNDS)

Row = Mapping[str, Any]
Place = tuple[str, str]  # machine and backend
Cell = tuple[str, str, str, str]  # workload, backend, dtype and size


@dataclass
class Roofs:
    """The best that a machine did through a backend in any round; rates per second."""

    launch_s: float = 0.0
    memory: dict[int, float] = field(default_factory=dict)  # bytes, by working set in bytes
    products: dict[str, float] = field(default_factory=dict)  # operations, by dtype
    streams: dict[str, float] = field(default_factory=dict)  # the same, where memory is the matter
    links: dict[str, float] = field(default_factory=dict)  # bytes, by scope
    latencies_s: dict[str, float] = field(default_factory=dict)  # by scope
    calm: dict[str, set[str]] = field(default_factory=dict)  # undisturbed rounds, by dtype
    cache_bytes: float = inf

    def add(self, row: Mapping[str, str]) -> None:
        """One sample of a ceilings file."""
        scope, dtype, seconds = row["scope"], row["dtype"], float(row["seconds"])
        read, written = (float(row[name] or 0) for name in ("input_bytes", "output_bytes"))
        rate, flop_rate = (read + written) / seconds, float(row["flop"] or 0) / seconds
        if not disturbed(row):
            self.calm.setdefault(dtype, set()).add(row["round"])
        self.cache_bytes = float(row["cache_bytes"] or inf)
        if scope == LAUNCH:
            self.launch_s = min(self.launch_s or inf, seconds)
        elif scope == ARITHMETIC:
            _raise(self.products, dtype, flop_rate)
        elif scope == MEMORY:
            _raise(self.memory, int(max(read, written)), rate)
            _raise(self.streams, dtype, flop_rate)
        else:
            _raise(self.links, scope, rate)
            self.latencies_s[scope] = min(self.latencies_s.get(scope, inf), seconds)

    def bandwidth(self, held: float) -> float:
        """For a working set: the best of any that is at least half as large, since what fits into
        a cache is held to the cache; beyond the largest one, its own."""
        if not self.memory:
            return inf
        largest = max(self.memory)
        return max(rate for size, rate in self.memory.items() if size >= min(held / 2, largest))

    def arithmetic(self, dtype: str) -> float:
        """None is known where a matrix product is no faster than a sum: a plain loop, such as
        NumPy's of integers, says nothing of the machine."""
        rate = self.products.get(dtype, 0.0)
        return rate if rate > self.streams.get(dtype, 0.0) else inf

    def transfer_s(self, scope: str, moved: float) -> float:
        """The least that it takes to move so many bytes; 0 where that is not known."""
        if not moved or scope not in self.links:
            return 0.0
        return max(self.latencies_s[scope], moved / self.links[scope])


def read(ceilings: Iterable[Ceiling], rounds: int) -> dict[Place, Roofs]:
    """The roofs by machine and backend; files that are missing, damaged or not ok have no part."""
    roofs: dict[Place, Roofs] = defaultdict(Roofs)
    for ceiling in ceilings:
        for number in range(1, rounds + 1):
            path, backend = ceiling.csv(number), ceiling.backend
            try:
                rows = record.read(path, backend=backend, dtype=ceiling.dtype, round=number)
            except (FileNotFoundError, record.Damaged):
                continue
            for row in rows:
                if row["status"] == OK:
                    roofs[row["machine"], backend].add(row)
    return dict(roofs)


def annotate(rows: Iterable[Row], roofs: Mapping[Place, Roofs]) -> list[dict[str, Any]]:
    """A summary's rows with gb_per_s, gflop_per_s, roof_s, roof_share and bound_by filled. What is
    above its roof is graded; what is far above becomes one row of status error, and takes the
    speedups that were made with it along."""
    found = [{**row, **_columns(row, roofs)} for row in rows]
    refused: dict[Cell, str] = {}
    for row in found:
        if reason := row.pop("refused", ""):
            refused.setdefault(_cell(row, "backend"), reason)
    kept = []
    for row in found:
        reason = refused.get(_cell(row, "backend"), "")
        if reason and row["scope"] != "compute":
            continue
        if reason:
            row = {name: value if name in KEPT else "" for name, value in row.items()}
            row |= {"status": ERROR, "reason": reason}
        elif _cell(row, "baseline") in refused:
            row |= dict.fromkeys(SPEEDUP, "")
            row["grade"] = row["grade"] and joined({*parts(row["grade"])} - {NOT_PAIRED})
        kept.append(row)
    return kept


def _columns(row: Row, roofs: Mapping[Place, Roofs]) -> dict[str, Any]:
    """What this module adds to a row, and under `refused` why it cannot be true."""
    scope = row["scope"]
    if row["status"] != OK or scope not in (*WHOLE, *UPLOADS, *DOWNLOADS):
        return {}
    seconds, flop = float(row["median_s"]), _number(row["flop"]) if scope in WHOLE else 0.0
    sent = 0.0 if scope in DOWNLOADS else _number(row["input_bytes"])
    returned = 0.0 if scope in UPLOADS else _number(row["output_bytes"])
    moved, held = sent + returned, max(sent, returned)
    # bfloat16 travels as float32, which the bytes are counted for, and is computed as what it is;
    # so is float32 that a backend's option lets be computed in half precision.
    here = row["precision"] if row["precision"] in HALVES else row["dtype"]
    narrow = itemsize(here) / itemsize(host_dtype(row["dtype"]))
    counted = moved if row["transfer"] else moved * narrow
    columns: dict[str, Any] = {
        "gb_per_s": counted / seconds / 1e9 or "",
        "gflop_per_s": flop / seconds / 1e9 or "",
    }
    best = roofs.get((row["machine"], row["backend"]))
    if best is None:
        return columns
    terms = {}
    if scope in WHOLE:
        terms[LAUNCH] = best.launch_s
        terms[ARITHMETIC] = flop / best.arithmetic(row["dtype"])
        terms[MEMORY] = moved * narrow / best.bandwidth(held * narrow)
    if row["transfer"]:
        kind = "_pinned" if row["transfer"] == "pinned" else ""
        terms[TRANSFER] = best.transfer_s(f"upload{kind}", sent)
        terms[TRANSFER] += best.transfer_s(f"download{kind}", returned)
    bound_by = max(terms, key=terms.__getitem__)
    roof_s = terms[bound_by]
    share, calm = roof_s / seconds, len(best.calm.get(row["dtype"], ()))
    if not roof_s or (share > GRADED and not calm):  # a busy machine's ceilings are too low
        return columns
    columns |= {"roof_s": roof_s, "roof_share": share, "bound_by": bound_by}
    if share > GRADED:
        columns["grade"] = with_also(row["grade"], ABOVE_CEILING)
    if share > REFUSED and held > best.cache_bytes and calm >= FEWEST_ROUNDS:
        done, unit = (flop, "GFLOP/s") if bound_by == ARITHMETIC else (counted, "GB/s")
        ours, most = (f"{done / s / 1e9:.3g} {unit}" for s in (seconds, roof_s))
        words = f"{scope} at {ours} cannot be: the most that was measured here is {most}"
        columns["refused"] = f"{words} ({bound_by})"
    return columns


def _cell(row: Row, backend: str) -> Cell:
    return row["workload"], row[backend], row["dtype"], str(row["size"])


def _number(value: Any) -> float:
    """0 where there is none, or the rounds do not agree on it."""
    try:
        return float(value)
    except ValueError:
        return 0.0


def _raise(best: dict[Any, float], key: Any, rate: float) -> None:
    best[key] = max(best.get(key, 0.0), rate)
