"""How much faster than matplotlib's line through all points do we draw, and in how much memory?

    PYTHONPATH=workflow/scripts .venv/bin/python benchmarks/plotting.py [--full]

About two minutes and 2 GB; with --full also 1e8 points, some minutes more and 8 GB. Each figure is
of a process of its own: the best of three pictures (of one at 1e8), and the most memory that it
took beside the points. Exits non-zero where the article's curve is drawn less than 20 times faster
at 1e8 points, or less than 5 times at 1e7, where making the axes takes most of our time; and where
we take more than 1 GB. The other curves' times are reported only.
"""

import argparse
import io
import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from crossover import raster

LEAST = {10**7: 5.0, 10**8: 20.0}  # times faster
MOST_BYTES = 1e9
PART = 10**6  # points that are made at once, so that making them takes no memory

Curve = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]


def polar(turns: float = 1, depth: float = 0.75) -> Curve:
    def curve(t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        theta = 2 * np.pi * turns * t
        r = 1 + depth * np.sin(3 * theta)
        return r * np.cos(theta), r * np.sin(theta)

    return curve


def steps(t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return t, np.floor(7 * t) % 3 + (np.sin(40 * t) > 0) + 0.1 * t


def spikes(t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    y = np.sin(6 * t)
    y[:: PART // 4] += 3
    return t, y


def gaps(t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    x, y = polar()(t)
    x[:: PART // 100] = np.nan
    return x, y


def noise(t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return t, np.random.default_rng(int(t[0] * 1e9)).normal(size=t.size)


CURVES: dict[str, Curve] = {
    "the article's": polar(),
    "r below 0": polar(depth=1.5),
    "10 times round": polar(10),
    "100 times round": polar(100),
    "steps": steps,
    "spikes": spikes,
    "gaps": gaps,
    "noise": noise,
}
METHODS = {"line": Axes.plot, "raster": raster.plot}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--full", action="store_true", help="1e8 points too")
    parser.add_argument("--one", nargs=4, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        method, curve, dtype, size = options.one
        print(json.dumps(measured(method, curve, dtype, int(size))))
        return
    sizes = [10**5, 10**6, 10**7, *([10**8] if options.full else [])]
    asked = [(sizes, "the article's", dtype) for dtype in ("float32", "float64")]
    asked += [([10**7], name, "float64") for name in CURVES if name != "the article's"]
    print(f"{'curve':16} {'dtype':8} {'points':>7}   {'line':>17} {'ours':>17}   times faster")
    failed = 0
    for sizes_asked, curve, dtype in asked:
        for size in sizes_asked:
            failed += compared(curve, dtype, size)
    sys.exit(f"{failed} figures are out of bounds (!)" if failed else 0)


def compared(curve: str, dtype: str, size: int) -> bool:
    """Print one row; whether it is out of bounds."""
    words, seconds = "", {}
    bad = False
    for method in METHODS:
        command = [sys.executable, __file__, "--one", method, curve, dtype, str(size)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        seconds[method], taken = json.loads(done.stdout)
        words += f" {seconds[method]:8.3f} s {taken / 1e6:4.0f} MB"
        bad |= method == "raster" and taken > MOST_BYTES
    ratio = seconds["line"] / seconds["raster"]
    bad |= curve == "the article's" and ratio < LEAST.get(size, 0.0)
    print(
        f"{curve:16} {dtype:8} {size:7.0e}  {words}  {ratio:6.1f}{' !' if bad else ''}", flush=True
    )
    return bad


def measured(method: str, curve: str, dtype: str, size: int) -> tuple[float, int]:
    """Seconds of the best picture, and the bytes that it took beside the points."""
    x, y = np.empty(size, dtype), np.empty(size, dtype)
    for start in range(0, size, PART):
        part = slice(start, min(start + PART, size))
        x[part], y[part] = CURVES[curve](np.arange(part.start, part.stop) / (size - 1))
    draw = METHODS[method]
    picture(draw, x[:100], y[:100])  # fonts are looked for once in a process
    Path("/proc/self/clear_refs").write_text("5")  # the peak begins here
    before = memory("VmRSS")
    times = [picture(draw, x, y) for _ in range(3 if size < 10**8 else 1)]
    return min(times), memory("VmHWM") - before


def picture(draw: Callable[..., object], x: np.ndarray, y: np.ndarray) -> float:
    start = time.perf_counter()
    figure = Figure()
    canvas = FigureCanvasAgg(figure)
    draw(figure.add_subplot(), x, y)
    canvas.print_png(io.BytesIO())
    return time.perf_counter() - start


def memory(name: str) -> int:
    """Bytes, as Linux counts them."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(name))


if __name__ == "__main__":
    main()
