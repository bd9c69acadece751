"""What a machine can do at best through one backend, in one dtype: the roofs of its cells.

Memory, arithmetic and transfers at growing sizes, and what one launch costs. Measured like a cell,
in rounds and in a process of its own. A sample ends when a value of its last result has been read
on the host: a synchronize that does not wait makes no ceiling. The best one counts (roofline.py).
"""

import time
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from math import ceil, isqrt, prod
from operator import iadd, matmul, methodcaller
from pathlib import Path
from typing import Any

from crossover import machine, placement, plugin
from crossover.cells import itemsize
from crossover.clock import Samples, Stopwatch
from crossover.interference import Counters
from crossover.measurement import rows_of
from crossover.status import meaning, one_line
from crossover.workloads import host_dtype, stored_as

# Working sets: from one that every first-level cache holds to one that few last-level caches do,
# each twice the one before, so that a cell of any size has one nearly as large beside it.
WORKING_SETS = [1 << k for k in range(14, 28)]
MATRICES = [n << k for k in range(7) for n in (128, 192)]
TRANSFERS = [1 << k for k in (19, 22, 25)]  # bytes
MEMORY_PART = 8  # of what is free, one part is taken
READ_SHARE = 0.02  # of a sample, that reading the value may take
# Parts of the budget: a sample lasts at least the first, and need not last longer than the second
# for that share; a call that lasts longer than the third is the last one of its kind.
SHORTEST, LONGEST, LAST = 1 / 400, 1 / 40, 1 / 20


class Ceilings:
    """Like a Measurement: `rows` are the samples, `facts` what they belong to."""

    def __init__(self, task: Mapping[str, Any]) -> None:
        self.task = task
        self.facts: dict[str, Any] = {}
        self.rows: list[dict[str, Any]] = []
        self.notes: dict[str, None] = {}
        self.backend: Any = None
        self.dtype = task["dtype"]

    def run(self) -> None:
        """Raises where the backend cannot even add one; what else it cannot do is a note."""
        task = self.task
        start = time.perf_counter()
        module = plugin.load(Path(task["backend_file"]))
        self.facts["import_s"] = time.perf_counter() - start
        self.backend = module.Backend(task["device"], task["threads_granted"], task["options"])
        self.backend.dtype(self.dtype)
        self.item = itemsize(stored_as(self.backend.computed_in(self.dtype)))

        import numpy as np

        self.facts.update(self.backend.facts(), numpy_version=np.__version__)
        self.facts["cache_bytes"] = self.backend.cache_bytes()
        # Its pages come with `_host`: memory that nobody touches costs nothing.
        self.buffer = placement.empty(self._most_bytes() // self.item, host_dtype(self.dtype))
        self.filled = 0
        before = Counters.now(self.facts.get("device_uuid", ""))
        self._launch()
        self._climb(self._matrix_product, [n for n in MATRICES if n * n <= self.buffer.size])
        self._climb(self._add, self._counts(WORKING_SETS))
        if self.backend.on_host:
            self._climb(self._matrix_vector, self._counts(WORKING_SETS))
        else:
            self._transfers([1, *self._counts(TRANSFERS)])
        self.facts |= Counters.now().since(before)
        self.facts["note"] = "; ".join(self.notes)
        self.facts["threads_effective"] = self.backend.effective_threads()

    def status_of(self, error: BaseException) -> str:
        """The status that an exception means, asked of the backend where there is one."""
        return meaning(error, self.backend)

    def _most_bytes(self) -> int:
        free = [machine.available_bytes()]
        if memory := self.backend.device_memory():
            free.append(memory[0])
        return min(WORKING_SETS[-1], *(there // MEMORY_PART for there in free))

    def _counts(self, sizes: list[int]) -> list[int]:
        """The elements of arrays of so many bytes, where they fit."""
        return [size // self.item for size in sizes if size // self.item <= self.buffer.size]

    def _host(self, count: int) -> Any:
        """The first numbers of one buffer on the host, so that its pages are paid for once."""
        if count > self.filled:
            self.buffer[self.filled : count] = 1
            self.filled = count
        return self.buffer[:count]

    def _device(self, *shape: int) -> Any:
        return self.backend.to_device(self._host(prod(shape)).reshape(shape), self.dtype)

    def _climb(self, measure: Callable[[int], float], sizes: Iterable[int]) -> None:
        """Measure at one size after the other, until a call is too long for the budget."""
        try:
            for size in sizes:
                if measure(size) > LAST * self.task["budget_s"]:
                    return
        except Exception as error:  # no matrix product in this dtype, no such memory, ...
            self.notes[one_line(error)] = None

    def _launch(self) -> None:
        """What the smallest operation costs; and how long a sample has to be."""
        one, budget_s = self._device(1), self.task["budget_s"]
        self.backend.read(one)
        start = time.perf_counter()
        self.backend.read(one)
        enough_s = (time.perf_counter() - start) / READ_SHARE
        self.sample_s = min(max(SHORTEST * budget_s, enough_s), LONGEST * budget_s)
        self._sample("launch", partial(iadd, one, 1), one, {"size": 1})
        few = self._device(16)  # NumPy takes longer for a single one
        self._sample("launch", partial(iadd, few, 1), few, {"size": 16})

    def _add(self, count: int) -> float:
        array, moved = self._device(count), count * self.item
        cost = {"size": count, "input_bytes": moved, "output_bytes": moved, "flop": count}
        own = self.backend.add_one
        call = partial(own, array) if own else partial(iadd, array, 1)
        return self._sample("memory", call, array, cost)

    def _matrix_vector(self, count: int) -> float:
        """A library's sums may use one thread on a host where its matrix products use all."""
        n = isqrt(count)
        matrix, vector, read = self._device(n, n), self._device(n), n * n * self.item
        cost = {"size": n, "input_bytes": read, "output_bytes": n * self.item, "flop": 2 * n**2}
        return self._sample("memory", partial(matmul, matrix, vector), vector, cost)

    def _matrix_product(self, n: int) -> float:
        matrix, moved = self._device(n, n), n * n * self.item
        cost = {"size": n, "input_bytes": moved, "output_bytes": moved, "flop": 2 * n**3}
        return self._sample("arithmetic", partial(matmul, matrix, matrix), matrix, cost)

    def _transfers(self, counts: list[int]) -> None:
        def pageable(array: Any, _: Any) -> Any:
            return self.backend.to_host(array)

        def pinned(array: Any, host: Any) -> Any:
            self.backend.copy_to_host(array, host)
            return host

        self._climb(partial(self._upload, "upload"), counts)
        self._climb(partial(self._download, "download", pageable), counts)
        host = self._host(min(counts[-1], self.filled))
        try:
            self.backend.pin(host)
        except Exception as error:
            self.notes[one_line(error)] = None
            return
        counts = [count for count in counts if count <= host.size]
        self._climb(partial(self._upload, "upload_pinned"), counts)
        self._climb(partial(self._download, "download_pinned", pinned), counts)
        self.backend.unpin(host)

    def _upload(self, scope: str, count: int) -> float:
        host = self._host(count)
        upload = partial(self.backend.to_device, host, self.dtype)
        return self._sample(scope, upload, upload(), {"size": count, "input_bytes": host.nbytes})

    def _download(self, scope: str, copy: Callable[[Any, Any], Any], count: int) -> float:
        array, host = self._device(count), self._host(count)
        self.backend.read(array)
        cost = {"size": count, "output_bytes": host.nbytes}
        return self._sample(scope, partial(copy, array, host), host, cost, methodcaller("item", 0))

    def _sample(
        self,
        scope: str,
        make: Callable[[], Any],
        latest: Any,
        cost: Mapping[str, int],
        read: Callable[[Any], object] | None = None,
    ) -> float:
        """Rows for one figure, and its seconds per call. `make` gives the next result, and `latest`
        is one; a value of it is read when the clock starts and when it stops."""
        read = read or self.backend.read

        def call() -> None:
            nonlocal latest
            latest = make()

        watch = Stopwatch(lambda: read(latest))
        watch.run(call, 1)  # the first one is slower than the others
        samples = Samples()
        while (run := watch.run(call, samples.calls)).seconds < self.sample_s:
            factor = min(max(1.1 * self.sample_s / max(run.seconds, 1e-9), 2), 100)
            samples.calls = ceil(samples.calls * factor)
        samples.add(run)
        samples.add(watch.run(call, samples.calls))
        self.rows += [{**cost, **row} for row in rows_of(scope, 1, samples, {})]
        return min(samples.seconds)
