"""Is it worth using the GPU here? One file without dependencies, made by Crossover.

    from use_gpu import use_gpu

    use_gpu("add", 3e6, "float64")             # arrays on the host, the result wanted there
    use_gpu("add", 3e6, "float64", calls=100)  # brought there once, for 100 calls

or `python use_gpu.py add 3e6 float64 100`. The answer says yes, no or unknown and why, and is true
only where it is yes: `if use_gpu(...):`. Yes and no are said where the measurement's 95 % intervals
support them. They hold for the machine of the measurement; on another one there is a warning.
"""

from __future__ import annotations

import os
import platform
import sys
import warnings
from pathlib import Path
from typing import Any, NamedTuple

INF = float("inf")
PROC = Path("/proc")

# --- measured
MEASURED: dict[str, Any] = {}
TABLE: list[dict[str, Any]] = []
# ---


class Answer(NamedTuple):
    """True where the answer is yes."""

    answer: str  # yes, no, unknown
    reason: str

    def __bool__(self) -> bool:
        return self.answer == "yes"

    def __str__(self) -> str:
        return f"{self.answer}: {self.reason}"


def use_gpu(workload: str, n: float, dtype: Any, calls: float = 1) -> Answer:
    """Is a GPU faster for `calls` calls on the same n elements (matmul: n x n), with the way there
    and back? Raises ValueError for a size or a number of calls under 1."""
    n, calls = float(n), float(calls)
    if not 1 <= n < INF or not calls >= 1:
        raise ValueError(f"n and calls are numbers from 1 on, not {n!r} and {calls!r}")
    name: Any = dtype
    if not isinstance(dtype, str):  # numpy.dtype, numpy.float32, torch.float32
        name = getattr(dtype, "name", None) or getattr(dtype, "__name__", str(dtype))
        name = name.rpartition(".")[2]
    rows = [row for row in TABLE if (row["workload"], row["dtype"]) == (workload, name)]
    if not TABLE:
        found = Answer("unknown", f"no GPU was measured, so {workload} {name} stays open")
    elif not rows:
        known = ", ".join(dict.fromkeys(f"{row['workload']} {row['dtype']}" for row in TABLE))
        found = Answer("unknown", f"{workload} {name} was not measured ({known} was)")
    else:
        found = _of_all([_of_row(row, n, calls) for row in rows])
    differences = elsewhere()
    if differences:
        words = "; ".join(differences)
        warnings.warn(_printable(f"measured on another machine: {words}"), stacklevel=2)
        found = Answer(found.answer, f"{found.reason} [measured on another machine: {words}]")
    return Answer(found.answer, _printable(found.reason))


def elsewhere() -> list[str]:
    """How this machine differs from the measured one, as far as can be seen."""
    found = []
    cpu, cores, models = _cpu(), _cores(), _gpus()
    cpus, fewest = MEASURED.get("cpus", []), min(MEASURED.get("cores", []), default=0)
    if cpus and cpu not in cpus:
        found.append(f"CPU {cpu or 'unknown'}, not {' or '.join(cpus)}")
    if cores < fewest:
        found.append(f"{cores} cores, not {fewest}")
    for device in MEASURED.get("devices", []):
        if models and not any(device.startswith(m) or m.startswith(device) for m in models):
            found.append(f"GPU {', '.join(models)}, not {device}")
        elif not models and "nvidia" in device.lower():
            found.append(f"no NVIDIA GPU to be seen, measured: {device}")
    return found


def _of_all(answers: list[Answer]) -> Answer:
    """Yes where one backend says so, no where all do."""
    for wanted in ("yes", "unknown"):
        some = [answer for answer in answers if answer.answer == wanted]
        if some:
            return Answer(wanted, "; ".join(answer.reason for answer in some))
    return Answer("no", "; ".join(answer.reason for answer in answers))


def _of_row(row: dict[str, Any], n: float, calls: float) -> Answer:
    who = f"{row['backend']} faster than {row['baseline']}"
    if not row["smallest"] <= n <= row["largest"]:
        measured = f"{row['smallest']:,} to {row['largest']:,}"
        return Answer(
            "unknown", f"{who}: n = {n:,.12g} is outside of what was measured, {measured}"
        )
    more = "".join(f"; {words}" for words in row["more"])
    once = f"{who}, with transfers at every call: {row['words']}{more}"
    if _inside(row["faster"], n):
        return Answer("yes", once)
    if calls > 1:
        return _of_calls(row, n, calls, who, more)
    return Answer("no" if _inside(row["slower"], n) else "unknown", once)


def _of_calls(row: dict[str, Any], n: float, calls: float, who: str, more: str) -> Answer:
    """From the sizes measured next to n, which both have to agree."""
    sizes = sorted(row["calls"])
    under = [size for size in sizes if size <= n][-1:]
    over = [size for size in sizes if size >= n][:1]
    if not under or not over:
        return Answer("unknown", f"{who}: how many calls pay was not measured around n = {n:,.12g}")
    found = [row["calls"][size] for size in dict.fromkeys(under + over)]
    if any(low is None or high is None for low, high in found):
        return Answer("unknown", f"{who}: how many calls pay has no interval at n = {n:,.12g}")
    low, high = min(low for low, _ in found), max(high for _, high in found)
    if low == INF:
        words = "data that stays there never pays"
    elif low == high:
        words = f"data that stays there pays from {low:,} calls on"
    elif high == INF:
        words = f"data that stays there pays from {low:,} calls on at best, or never"
    else:
        words = f"data that stays there pays from {low:,} to {high:,} calls on"
    reason = f"{who}, {calls:,.12g} calls: {words}{more}"
    if calls >= high and high < INF:
        return Answer("yes", reason)
    return Answer("no" if calls < low else "unknown", reason)


def _inside(ranges: list[tuple[float, float]], n: float) -> bool:
    return any(low <= n <= high for low, high in ranges)


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _fields(text: str) -> dict[str, str]:
    """The first value of each 'name : value'."""
    found: dict[str, str] = {}
    for line in text.splitlines():
        key, _, value = line.partition(":")
        found.setdefault(key.strip(), " ".join(value.split()))
    return found


def _cpu() -> str:
    fields = _fields(_read(PROC / "cpuinfo"))
    arm = [fields[key] for key in ("CPU implementer", "CPU part") if key in fields]
    return fields.get("model name") or " ".join([platform.machine(), *arm])


def _cores() -> int:
    """Fewer where a container has a quota, which is not looked at."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _gpus() -> list[str]:
    paths = sorted((PROC / "driver/nvidia/gpus").glob("*/information"))
    models = [_fields(_read(path)).get("Model", "") for path in paths]
    return [model for model in dict.fromkeys(models) if model]


def _printable(text: str) -> str:
    return "".join(c if c.isprintable() else " " for c in text)


if __name__ == "__main__":
    if not 4 <= len(sys.argv) <= 5:
        sys.exit("usage: python use_gpu.py WORKLOAD N DTYPE [CALLS]")
    print(use_gpu(sys.argv[1], float(sys.argv[2]), sys.argv[3], *map(float, sys.argv[4:])))
