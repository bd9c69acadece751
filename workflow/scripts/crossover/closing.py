"""The lines that every sweep ends with, made from summary.csv alone."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from math import exp, log
from pathlib import Path
from statistics import fmean

from crossover import grades, machines, verdict
from crossover.status import NOT_MEASURED, OK

Row = Mapping[str, str]
Key = tuple[str, ...]

# Settings in the environment that can make a backend slower than it is, and what they do.
SLOWING = {
    "OPENBLAS_CORETYPE": "OpenBLAS uses the kernels of that CPU, not of this one",
    "OPENBLAS_L2_SIZE": "OpenBLAS cuts its blocks for that cache, not for this one",
    "MKL_ENABLE_INSTRUCTIONS": "MKL leaves out newer instructions",
    "MKL_CBWR": "MKL gives up speed for the same bits everywhere",
    "DNNL_MAX_CPU_ISA": "oneDNN leaves out newer instructions",
    "ONEDNN_MAX_CPU_ISA": "oneDNN leaves out newer instructions",
    "ATEN_CPU_CAPABILITY": "torch leaves out newer instructions",
    "NPY_DISABLE_CPU_FEATURES": "NumPy leaves out newer instructions",
    "OMP_PROC_BIND": "threads are tied to cores",
    "OMP_PLACES": "threads are tied to cores",
    "GOMP_CPU_AFFINITY": "threads are tied to cores",
    "KMP_AFFINITY": "threads are tied to cores",
    "OMP_THREAD_LIMIT": "there may be fewer threads than asked for",
    "OMP_DYNAMIC": "there may be fewer threads than asked for",
    "CUDA_LAUNCH_BLOCKING": "every launch waits for the GPU",
    "NVIDIA_TF32_OVERRIDE": "float32 is computed with fewer digits, whatever was asked for",
    "TORCH_ALLOW_TF32_CUBLAS_OVERRIDE": "float32 is computed with fewer digits",
    "PYTORCH_NO_CUDA_MEMORY_CACHING": "torch asks the driver for every array",
}
OFF = ("", "0", "false")


def lines(rows: list[dict[str, str]], folder: Path, config: str = "") -> list[str]:
    """Where the results are, who is faster from which size on, what is not ok and why.

    `config` is what a make target needs to mean this config, such as ' CONFIG=config/quick.yaml'.
    """
    text = [f"Results: {folder}/summary.csv, charts in {folder}/plots/"]
    if machine := next((row for row in rows if row["status"] == OK), None):
        text.append(f"Measured on {machine['cpu']}, {machine['cores']} cores.")
    if found := verdicts(rows):
        main = machines.views(rows)[0].rows
        words = f"Speedups over {rows[0]['baseline']}; {_certainty(main)}:"
        text += [words, *found, *means(main)]
    return text + slowed(rows) + not_ok(rows, config) + not_good(rows, config)


def _certainty(rows: Iterable[Row]) -> str:
    """What the verdicts stand on."""
    compared = [row for row in rows if row["speedup"] and row["backend"] != row["baseline"]]
    if any(row["finding"] for row in compared):
        return "faster where the 95 % interval is above 1"
    if all(row["rounds"] == "1" for row in compared):
        return "one round gives no interval, so by more than 5 % counts as faster"
    return "without an interval by more than 5 % counts as faster"


def verdicts(rows: Iterable[Row]) -> list[str]:
    """For each workload and dtype, one line per backend that is not the baseline; then the same of
    each machine that is kept apart."""
    main, *others = machines.views(rows)
    text = _verdicts(main.rows)
    for view in others:
        if found := _verdicts(row for row in view.rows if row["backend"] in view.own):
            text += [f"Apart, on {view.words}:", *found]
    return text


def _verdicts(rows: Iterable[Row]) -> list[str]:
    text = []
    for (workload, dtype, backend), curve in _by(rows, "workload", "dtype", "backend"):
        points = {
            scope: {
                int(row["size"]): verdict.Point.of(row)
                for row in curve
                if row["scope"] == scope and row["speedup"]
            }
            for scope in ("compute", "round_trip")
        }
        if not points["compute"]:
            continue
        words = f"{workload} {dtype}, {backend}: {verdict.sentence(points['compute'])}"
        if points["round_trip"] and _on_device(curve):
            words += f"; with transfers {verdict.sentence(points['round_trip'])}"
        text.append(words)
    return text


def means(rows: Iterable[Row]) -> list[str]:
    """For each backend the geometric mean of its speedups, over how many of its cells."""
    text = []
    for (backend,), found in _by(rows, "backend"):
        cells = len({_cell(row) for row in found if row["scope"] != "render"})
        scopes = {"compute": "", "round_trip": " with transfers"}
        parts = []
        for scope, words in scopes.items() if _on_device(found) else [("compute", "")]:
            logs = [
                log(float(row["speedup"]))
                for row in found
                if row["scope"] == scope and row["speedup"]
            ]
            if logs:
                mean = verdict.times(exp(fmean(logs)))
                parts.append(f"{mean}{words}, {len(logs)} of {cells} cells")
        if parts:
            text.append(f"{backend}: geometric mean {'; '.join(parts)}")
    return text


def slowed(rows: Iterable[Row]) -> list[str]:
    """The settings that may have made a backend slower than it is."""
    settings = dict.fromkeys(word for row in rows for word in row["environment"].split())
    found = [setting.partition("=") for setting in settings]
    return [
        f"Set while measuring: {name}={value} ({SLOWING[name]})"
        for name, _, value in found
        if name in SLOWING and value.lower() not in OFF
    ]


def failed(rows: Iterable[Row]) -> list[Row]:
    """One row per cell that is not ok."""
    return [row for row in rows if row["status"] != OK]


def not_ok(rows: Sequence[Row], config: str = "") -> list[str]:
    """How many cells are not ok, each reason once, and the way to try them again."""
    found = failed(rows)
    if not found:
        return []
    reasons = Counter((row["backend"], row["status"], row["reason"]) for row in found)
    total = len({_cell(row) for row in rows})
    text = [f"Not ok: {len(found)} of {total} cells"]
    text += [
        f"  {count} x {backend}: {status}" + (f" ({reason})" if status != NOT_MEASURED else "")
        for (backend, status, reason), count in reasons.items()
    ]
    if all(row["status"] == NOT_MEASURED for row in found):
        return text
    again = f"'make retry{config}' lists and removes them; the next sweep measures them again"
    return [*text, f"  {again}"]


def not_good(rows: Iterable[Row], config: str = "") -> list[str]:
    """Cells to trust less, by grade, and what can be done about it."""
    cells: dict[str, set[Key]] = {grade: set() for grade in grades.MEANING}
    for row in rows:
        for grade in grades.parts(row["grade"]):
            cells[grade].add(_cell(row))
    text = []
    for grade, found in cells.items():
        if not found:
            continue
        words = f"Trusted less: {len(found)} {grade}: {grades.MEANING[grade]}"
        if cure := grades.CURE.get(grade):
            words += f"; 'make {cure}{config}' lists and removes them"
        text.append(words)
    return text


def _by(rows: Iterable[Row], *names: str) -> list[tuple[Key, list[Row]]]:
    """The rows of all backends but the baseline, sorted and grouped by these columns."""

    def key(row: Row) -> Key:
        return tuple(row[name] for name in names)

    compared = (row for row in rows if row["backend"] != row["baseline"])
    return [(group, list(found)) for group, found in groupby(sorted(compared, key=key), key)]


def _on_device(rows: Iterable[Row]) -> bool:
    return any(row["scope"] == "download" for row in rows)


def _cell(row: Row) -> Key:
    return row["workload"], row["backend"], row["dtype"], row["size"]
