"""The curve that a workload computes, drawn from the saved arrays."""

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.figure import Figure

from crossover import raster, record, status, style
from crossover.cells import Cell
from crossover.style import size_words

WIDTH = 6.0
Array = np.ndarray


def curve(
    arrays: Mapping[str, tuple[Array, int]],
    *,
    workload: str,
    dtype: str,
    size: int,
    baseline: str = "",
    reasons: Sequence[str] = (),
) -> Figure:
    """x and y of one backend, in equal aspect, and how far the others are from it.

    arrays: by backend, the saved points of shape (2, m) and how many were computed; what is empty,
    has another shape or is not finite is named and left out. The baseline's are drawn if they are
    there, the first backend's otherwise. reasons: lines that say why others are missing.
    """
    title = f"{workload}, {dtype}, n = {size_words(size)}"
    usable, notes = {}, list(reasons)
    for name, (points, total) in arrays.items():
        if fault := _fault(points):
            notes.append(f"Not shown: {name}: {fault}")
        else:
            usable[name] = np.asarray(points, dtype=np.float64), total
    if not usable:
        return style.no_data(title, notes or ["no backend has saved points"], WIDTH)
    name = baseline if baseline in usable else next(iter(usable))
    points, total = usable[name]
    drawn = f"Drawn: {size_words(points.shape[1])} of {size_words(total)} points computed by {name}"
    notes = [_agreement({key: saved for key, (saved, _) in usable.items()}), *notes]
    with style.look():
        figure, _ = style.page(title, drawn, notes, 5.2, 0, WIDTH)
        axes = figure.add_subplot()
        axes.axhline(0, color="#C8C8C8", lw=0.8, zorder=1)
        axes.axvline(0, color="#C8C8C8", lw=0.8, zorder=1)
        # a line of one point has no length: show the point itself
        marker = "" if points.shape[1] > 1 else "o"
        raster.plot(axes, *points, color=style.COLOURS[0], lw=1.8, marker=marker, label=name)
        axes.set_aspect("equal", adjustable="datalim")
        axes.margins(0.06)
        axes.set_xlabel("x")
        axes.set_ylabel("y", rotation=0)
    return figure


def _fault(points: Array) -> str:
    if points.size == 0:
        return "no points were saved"
    if points.ndim != 2 or points.shape[0] != 2:
        return f"the saved array has the shape {points.shape}, not (2, m)"
    if not np.isfinite(np.asarray(points, dtype=np.float64)).all():
        return "saved points are not finite"
    return ""


def _agreement(saved: Mapping[str, Array]) -> str:
    """The largest |difference| of any coordinate between any two backends' saved points."""
    if len(saved) == 1:
        return f"Only {next(iter(saved))} has points: nothing to compare them with."
    if len({points.shape for points in saved.values()}) > 1:
        counts = ", ".join(f"{name} {size_words(p.shape[1])}" for name, p in saved.items())
        return f"Not compared: the backends saved different numbers of points ({counts})."
    low, high = (next(iter(saved.values())).copy() for _ in range(2))
    for points in saved.values():
        np.minimum(low, points, out=low)
        np.maximum(high, points, out=high)
    largest = float((high - low).max())
    count = size_words(low.shape[1])
    return (
        f"Largest difference between {', '.join(saved)}: {largest:.2g} (in x or y, {count} points)."
    )


def saved(cells: Mapping[str, Cell]) -> tuple[dict[str, tuple[Array, int]], list[str]]:
    """The saved points of each backend's cell and how many were computed, and for those that have
    none why. A file that is not the one that its table was written with is not drawn.
    """
    arrays, reasons = {}, []
    for name, cell in cells.items():
        try:
            first = record.read(cell.csv(1), backend=name, size=cell.size)[0]
            if first["status"] != status.OK:
                reasons.append(f"Not shown: {name}: {first['status']} ({first['reason']})")
                continue
            record.check_array(cell.array, first["array_crc32"])
            points = np.load(cell.array, allow_pickle=False)
        except FileNotFoundError as error:
            reasons.append(f"Not shown: {name}: {error.filename} is not there")
            continue
        except record.Damaged as error:
            reasons.append(f"Not shown: {name}: {error}; 'make retry' removes it")
            continue
        except ValueError as error:
            reasons.append(f"Not shown: {name}: {cell.array}: {error}")
            continue
        arrays[name] = points, int(first["output_shape"].split()[0])
    return arrays, reasons
