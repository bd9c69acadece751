"""use_gpu.py, the table to take home: use_gpu_template.py with what was measured written into it.

Names come from users: all that is written in is a literal, in ASCII, and never code.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import inf
from pathlib import Path
from typing import Any

from crossover.break_even import BreakEven
from crossover.reuse import Reuse

TEMPLATE = Path(__file__).with_name("use_gpu_template.py")
BEGIN, END = "# --- measured\n", "# ---\n"


@dataclass(frozen=True)
class Entry:
    """One workload, dtype and backend on a device. `round_trip` is n* against the baseline, `best`
    that against the best CPU backend, `reuse` by size."""

    workload: str
    dtype: str
    backend: str
    baseline: str
    device: str  # as the library names it
    round_trip: BreakEven | None
    best: BreakEven | None = None
    reuse: Mapping[int, Reuse] = field(default_factory=dict)


def render(entries: Sequence[Entry], cpus: Sequence[str], cores: Sequence[int]) -> str:
    """The text of use_gpu.py. cpus and cores are those of the machines measured on, one mostly.

    An entry without a break-even, which no interval supports, has no row.
    """
    measured = {
        "cpus": list(dict.fromkeys(cpus)),
        "cores": sorted(set(cores)),
        "devices": list(dict.fromkeys(entry.device for entry in entries if entry.round_trip)),
    }
    rows = [_row(entry, found) for entry in entries if (found := entry.round_trip)]
    before, rest = TEMPLATE.read_text(encoding="utf-8").split(BEGIN)
    _, after = rest.split(END)
    table = "".join(f"    {_literal(row)},\n" for row in rows)
    text = f"MEASURED: dict[str, Any] = {_literal(measured)}\n"
    text += f"TABLE: list[dict[str, Any]] = [\n{table}]\n"
    return before + BEGIN + text + END + after


def _row(entry: Entry, found: BreakEven) -> dict[str, Any]:
    more = []
    if entry.best:
        more.append(f"faster than the best CPU backend: {entry.best.words()}")
    first = [
        (r.first_call_s - (r.round_trip_s or 0)) for r in entry.reuse.values() if r.first_call_s
    ]
    if first:
        more.append(f"the first call in a process takes up to {max(first):.2g} s more")
    return {
        "workload": entry.workload,
        "dtype": entry.dtype,
        "backend": entry.backend,
        "baseline": entry.baseline,
        "smallest": found.smallest,
        "largest": found.largest,
        "faster": list(found.faster),
        "slower": list(found.slower),
        "words": found.words(),
        "more": more,
        "calls": {size: (r.warm.low, r.warm.high) for size, r in sorted(entry.reuse.items())},
    }


def _literal(value: Any) -> str:
    """Python's own spelling; infinity is INF, which has none."""
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_literal(k)}: {_literal(v)}" for k, v in value.items()) + "}"
    if isinstance(value, tuple):
        return "(" + "".join(f"{_literal(item)}, " for item in value).rstrip(" ") + ")"
    if isinstance(value, list):
        return "[" + ", ".join(map(_literal, value)) + "]"
    if isinstance(value, str):
        return ascii(value)
    if value is None or isinstance(value, int):
        return repr(value)
    return "INF" if value == inf else repr(float(value))
