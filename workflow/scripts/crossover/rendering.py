"""What making the picture costs, by two methods: `line`, the article's, is one matplotlib line
through all points, `raster` ours.

It does not depend on the backend, so it is measured on its own. The points are made by NumPy,
outside the clock.
"""

import io
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from crossover import interference, work
from crossover.clock import Samples, Stopwatch, sample
from crossover.measurement import MOST_SAMPLES, rows_of
from crossover.status import ERROR, OUT_OF_MEMORY, Failed, out_of_memory
from crossover.workloads import host_dtype


class Rendering:
    """Like a Measurement, of the scope `render` alone."""

    def __init__(self, task: Mapping[str, Any]) -> None:
        self.task = task
        self.facts: dict[str, Any] = {}
        self.rows: list[dict[str, Any]] = []

    def run(self) -> None:
        """Draw the output by the method, and take samples of it, in seconds."""
        start = time.perf_counter()
        # The canvas behind savefig, without pyplot: no display and no window system is asked for.
        from matplotlib.backends.backend_agg import FigureCanvasAgg
        from matplotlib.figure import Figure

        method = self._method()
        self.facts["import_s"] = time.perf_counter() - start

        import numpy as np

        task = self.task
        size, dtype = task["size"], host_dtype(task["dtype"])
        workload = work.load(Path(task["workload_file"]), size, dtype)
        inputs = workload.inputs(np.random.default_rng(task["seed"]))
        compute = workload.function(np, len(inputs))
        offered = {"size": size, "dtype": getattr(np, dtype), "device": "cpu"}
        points = work.results(compute(*inputs, **work.wanted(compute, offered)))
        if [array.ndim for array in points] != [1, 1]:
            raise Failed("compute has to return x and y of the curve, two arrays of one dimension")
        x, y = points
        self.facts.update(numpy_version=np.__version__, input_bytes=x.nbytes + y.nbytes)

        def draw() -> None:
            figure = Figure()
            canvas = FigureCanvasAgg(figure)
            method(figure.add_subplot(), x, y)
            canvas.print_png(io.BytesIO())

        before = interference.Counters.now()
        watch = Stopwatch(_nothing_to_wait_for)
        # Fonts are looked for once in a process.
        first, cold = watch.run(draw, 1), Samples()
        cold.add(first)
        self.rows += rows_of("first_call", 1, cold, {})
        samples = sample(watch, draw, task["budget_s"], MOST_SAMPLES, before_s=first.seconds)
        self.rows += rows_of("render", 1, samples, interference.Counters.now().since(before))

    def _method(self) -> Callable[[Any, Any, Any], object]:
        """What draws x and y on axes."""
        if self.task["backend"] == "line":
            from matplotlib.axes import Axes

            return Axes.plot
        from crossover import raster

        return raster.plot

    def status_of(self, error: BaseException) -> str:
        """The status that an exception means; there is no backend to ask."""
        if isinstance(error, Failed):
            return error.status
        return OUT_OF_MEMORY if out_of_memory(error) else ERROR


def _nothing_to_wait_for() -> None:
    """Drawing is done when it returns."""
