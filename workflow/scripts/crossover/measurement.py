"""One cell in one round, in a process of its own: inputs, scopes, samples, and the check.

Host arrays are NumPy's. The device's arrays are opaque: only the backend and the workload touch
them, and only this file synchronizes.
"""

import gc
import resource
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any, cast

from crossover import energy, interference, machine, placement, plugin, record, synchronized, work
from crossover.clock import Run, Samples, Stopwatch, sample
from crossover.status import (
    Failed,
    Mismatch,
    OutOfMemory,
    meaning,
    own_words,
)
from crossover.work import checksum, results, wanted
from crossover.workloads import Cost, blocks, host_dtype, sent_as

ATTEMPTS = 2  # a disturbed round is measured once more
MOST_ROWS = 760  # of samples in a file, which stays under Snakemake's 1 MB for checksums
MOST_SAMPLES = 400  # in one scope
SLOW_START_S = 1.0  # of a first computation: another one, to check the clock, would be long
HEADER_BYTES = 4096  # more than a .npy file's, so that `keep_mb: 1` stays under that limit too


class Measurement:
    """Measures what a task says; `facts` fills as they become known, so that a failure has them."""

    def __init__(self, task: Mapping[str, Any]) -> None:
        self.task = task
        self.facts: dict[str, Any] = {}
        self.backend: Any = None
        self.rows: list[dict[str, Any]] = []
        self.array: Any = None

    def run(self) -> None:
        """Fills `rows` (the samples) and `array` (the output to keep); raises where it fails."""
        task, dtype = self.task, self.task["dtype"]
        start = time.perf_counter()
        module = plugin.load(Path(task["backend_file"]))
        self.facts["import_s"] = time.perf_counter() - start
        start = time.perf_counter()
        self.backend = module.Backend(task["device"], task["threads_granted"], task["options"])
        starting_s = time.perf_counter() - start
        self.native_dtype = self.backend.dtype(dtype)
        computed_in = self.backend.computed_in(dtype)
        self.watch = Stopwatch(self.backend.synchronize, events=self.backend.events())

        import numpy as np

        self.np = np
        self.workload = work.load(Path(task["workload_file"]), task["size"], dtype, computed_in)
        self.in_place = self.workload.in_place
        self.facts.update(assumed=self.workload.assumed, n_is=self.workload.n_is)
        kernel = self._kernel()
        self._facts_of_library()
        if computed_in != dtype:  # the label of its times, whatever facts() has
            self.facts["precision"] = computed_in
        cost = self.workload.cost(np.dtype(host_dtype(dtype)).itemsize)
        if cost:
            self.facts["flop"] = cost.flop
            self._refuse_what_cannot_fit(cost)

        placement.scatter()
        machine.reset_peak()
        before_bytes = machine.resident_bytes()
        host = self._inputs()
        if not cost:
            self._refuse_what_cannot_fit(Cost(0.0, sum(array.nbytes for array in host), 0))
        self._choose(kernel, len(host))
        before = None if self.in_place else checksum(host)
        first_s = self._first_call(host, starting_s)
        compiled = self.backend.compilations()
        if compiled == 0:
            raise Failed("nothing was compiled in the first call, which the environment may forbid")
        # Read after the first call: some pools of threads start with it.
        self.facts["threads_effective"] = self.backend.effective_threads()
        for attempt in range(1, ATTEMPTS + 1):
            signals = self._scopes(host, attempt, first_s)
            if not interference.disturbed(signals):
                break
        if self.in_place:
            del host  # its numbers have moved on, and a second copy would not fit
            self._check(None)
        elif checksum(host) == before:
            self._check(host)
        else:
            raise Mismatch("compute changed its inputs, but the workload is not IN_PLACE")
        if compiled is not None:
            self.facts["recompiled"] = self.backend.compilations() - compiled
        self.facts["host_peak_bytes"] = max(0, machine.peak_bytes() - before_bytes)
        self.facts["device_peak_bytes"] = self.backend.device_peak_bytes()

    def status_of(self, error: BaseException) -> str:
        """The status that an exception of `run` means; the backend knows its library's words."""
        return meaning(error, self.backend)

    def _rng(self) -> Any:
        """Every process and every backend draws the same numbers."""
        return self.np.random.default_rng(self.task["seed"])

    def _inputs(self) -> tuple[Any, ...]:
        return self.workload.inputs(self._rng())

    def _facts_of_library(self) -> None:
        found = self.backend.facts()
        if unknown := ", ".join(sorted(set(found) - set(record.OF_BACKEND))):
            raise Failed(f"facts() has {unknown}, but may have {', '.join(record.OF_BACKEND)}")
        self.facts.update(found, numpy_version=self.np.__version__)

    def _refuse_what_cannot_fit(self, cost: Cost) -> None:
        """Raises OutOfMemory before anything is allocated, by the workload's own byte estimate, or
        where it has none, by the bytes of its inputs."""
        self.facts.update(input_bytes=cost.input_bytes, output_bytes=cost.output_bytes)
        results = cost.temporary_bytes + (0 if self.in_place else cost.output_bytes)
        if self.backend.on_host:
            _refuse("this machine", cost.input_bytes + results, machine.available_bytes())
            return
        _refuse("the host", cost.input_bytes + cost.output_bytes, machine.available_bytes())
        if memory := self.backend.device_memory():
            _refuse("the device", cost.input_bytes + results, memory[0])

    def _upload(self, host: tuple[Any, ...]) -> tuple[Any, ...]:
        to_device = self.backend.to_device
        return tuple(to_device(array, sent_as(array, self.task["dtype"])) for array in host)

    def _kernel(self) -> Callable[..., Any] | None:
        """The backend's own code for a shipped workload; raises where it can run nothing else."""
        shipped = plugin.shipped_name("workloads", Path(self.task["workload_file"]))
        return cast(Callable[..., Any] | None, self.backend.kernel(shipped))

    def _choose(self, kernel: Callable[..., Any] | None, count: int) -> None:
        """What runs: the kernel, else the workload's `compute` over the backend's library; and what
        it is given by name, beside so many arrays."""
        function = kernel or self.workload.function(self.backend.xp, count)
        offered = {
            "size": self.task["size"],
            "dtype": self.native_dtype,
            "device": self.backend.device,
            "random": getattr(self.backend, "random", None),
        }
        self.named = wanted(function, offered)
        self.function = kernel or self.backend.compiled(function)
        self._seed()

    def _seed(self) -> None:
        """Random numbers that a computation makes itself are the same in every process."""
        if "random" in self.named:
            self.backend.seed(self.task["seed"])

    def _compute(self, device: tuple[Any, ...]) -> Callable[[], Any]:
        return partial(self.function, *device, **self.named)

    def _download(self, outputs: Any) -> tuple[Any, ...]:
        return tuple(self.backend.to_host(array) for array in results(outputs))

    def _round_trip(self, host: tuple[Any, ...]) -> tuple[Any, ...]:
        return self._download(self._compute(self._upload(host))())

    def _read(self, outputs: Any) -> object:
        return self.backend.read(results(outputs)[0])

    def _first_call(self, host: tuple[Any, ...], starting_s: float) -> float:
        """The cold round trip, with the time that starting the device took; its seconds without."""
        started = time.perf_counter()
        device = self._upload(host)
        self.backend.synchronize()
        uploaded = time.perf_counter()
        outputs = self._compute(device)()
        self.backend.synchronize()
        computed = time.perf_counter()
        work.must_be_theirs(results(outputs), device)
        self._read(outputs)
        late_s = time.perf_counter() - computed
        self._download(outputs)
        seconds = time.perf_counter() - started
        samples = Samples()
        samples.add(Run(started - starting_s, starting_s + seconds))
        self.rows += list(rows_of("first_call", 1, samples, {}))
        del outputs  # a second one, beside the check's, might not fit
        found = synchronized.Try(computed - uploaded, late_s)
        if found.clock_s < SLOW_START_S or not found.honest:
            self._must_wait(device)
        self.facts["call_s"] = self.watch.empty_call_s()
        return seconds

    def _must_wait(self, device: tuple[Any, ...]) -> None:
        """Raises Failed where the backend's synchronize does not."""
        call = self._compute(device)
        synchronized.check(self.watch.synchronize, self.watch.now, call, self._read)

    def _scopes(self, host: tuple[Any, ...], attempt: int, first_s: float) -> dict[str, float]:
        """Sample every scope that the cell has; the signals of interference meanwhile. `first_s`
        is what the first call took, which on a host was a computation."""
        backend, budget_s = self.backend, self.task["budget_s"]
        count = 1 if backend.on_host else 4 + 2 * bool(host)
        most = min(MOST_SAMPLES, MOST_ROWS // (ATTEMPTS * count))
        taken: dict[str, Samples] = {}

        def take(scope: str, call: Callable[[], Any], before_s: float | None = None) -> None:
            taken[scope] = sample(self.watch, call, budget_s / count, most, budget_s, before_s)

        gc.collect()
        gc.disable()
        before = interference.Counters.now(self.facts.get("device_uuid", ""))
        device = self._upload(host)
        backend.synchronize()
        backend.reset_peak()
        faults = _page_faults()
        meter = energy.Meter("" if backend.on_host else self.facts.get("device_uuid", ""))
        take("compute", self._compute(device), first_s if backend.on_host else None)
        joules = meter.per_call(taken["compute"].made)
        self.facts["page_faults"] = (_page_faults() - faults) / taken["compute"].made
        if not backend.on_host:
            outputs = self._compute(device)()
            take("download", partial(self._download, outputs))
            with self._pinned(self._download(outputs), taken) as buffers:
                if buffers is not None:
                    take("download_pinned", partial(self._download_into, buffers, outputs))
            del device, outputs, buffers  # a round trip brings its own, and both might not fit
            if host:
                take("upload", partial(self._upload, host))
                with self._pinned(host, taken) as pinned:
                    if pinned is not None:
                        take("upload_pinned", partial(self._upload, pinned))
            take("round_trip", partial(self._round_trip, host))
        signals = interference.Counters.now().since(before)
        gc.enable()
        for scope, samples in taken.items():
            own = {"joules": joules} if scope == "compute" else {}
            self.rows += [row | own for row in rows_of(scope, attempt, samples, signals)]
        return signals

    def _download_into(self, buffers: tuple[Any, ...], outputs: Any) -> None:
        for array, buffer in zip(results(outputs), buffers, strict=True):
            self.backend.copy_to_host(array, buffer)

    @contextmanager
    def _pinned(
        self, arrays: tuple[Any, ...], taken: dict[str, Samples]
    ) -> Iterator[tuple[Any, ...] | None]:
        """The arrays, page-locked where they are; None, and a note, where that is refused. What it
        cost is the one sample of the scope `pin`, of outputs and inputs together."""
        locked: list[Any] = []
        start = time.perf_counter()
        try:
            for array in arrays:
                self.backend.pin(array)
                locked.append(array)
        except Exception as error:
            self.facts["note"] = f"no pinned transfers: {own_words(error)}"
        seconds = time.perf_counter() - start
        try:
            if len(locked) < len(arrays):
                yield None
                return
            both = taken.setdefault("pin", Samples(1, [0.0], [start], [None]))
            both.seconds[0] += seconds
            yield arrays
        finally:
            for array in locked:
                self.backend.unpin(array)

    def _check(self, host: tuple[Any, ...] | None) -> None:
        """One more call through the same code, on fresh inputs where it works in place; raises
        Mismatch where the answer is not the reference's within the workload's bound."""
        backend, made_in = self.backend, self.workload.stored_as
        given = self._inputs() if host is None else host
        dtypes = {str(array.dtype) for array in given}
        device = self._upload(given)
        del given
        self._seed()
        backend.synchronize()
        with self.workload.away_from_numpy(device):
            outputs = results(self._compute(device)())
        backend.synchronize()
        found = tuple(map(backend.dtype_of, outputs))
        for output, name in zip(outputs, found, strict=True):
            if not self.workload.allows(name):
                raise Mismatch(f"the result is {name}, not {made_in}")
            where = backend.device_of(output)
            if not same_device(where, str(backend.device)):
                raise Mismatch(f"the result is on {where}, not on {backend.device}")
        self.workload.must_be_of_its_dtype(dtypes, found)
        del device
        arrays = self._download(outputs)
        shapes = tuple(array.shape for array in arrays)
        self.facts["output_shape"] = " ".join("x".join(map(str, shape)) for shape in shapes)
        right = self.workload.output_shapes()
        if right is not None and shapes != right:
            raise Mismatch(f"the result has shape {_words(shapes)}, not {_words(right)}")
        if not all(_finite(self.np, array) for array in arrays):
            ends = " (float16 ends at 65,504)" if made_in == "float16" else ""
            raise Mismatch(f"the result has values that are not finite{ends}")
        if "flop" not in self.facts:  # the file does not say what goes in and comes out
            self.facts["output_bytes"] = sum(array.nbytes for array in arrays)
        error = self.workload.error(arrays, host, self._rng())
        bound = self.workload.bound(found)
        self.facts.update(error=error, error_bound=bound)
        if not error <= bound:  # so that NaN fails
            name = self.workload.computed_in
            words = f"error {error:.2g}, but at most {bound:.2g} is rounding in {name}"
            raise Mismatch(words + self.workload.as_assumed)
        if self.task["array"]:
            self.array = thinned(self.np, arrays, self.task["keep_mb"] * 1e6)


def thinned(np: ModuleType, arrays: tuple[Any, ...], keep_bytes: float) -> Any:
    """Outputs as one array: whole while small, else an evenly strided sample of each, flattened.

    Several outputs of one shape are stacked: x and y of n points become (2, n). Others follow each
    other in one flat array.
    """
    total, most = sum(array.nbytes for array in arrays), max(1, int(keep_bytes) - HEADER_BYTES)
    if total > most:
        arrays = tuple(array.reshape(-1)[:: -(-total // most)] for array in arrays)
    if len({array.shape for array in arrays}) > 1:
        return np.concatenate([array.reshape(-1) for array in arrays])
    return np.stack(arrays) if len(arrays) > 1 else np.array(arrays[0])


def rows_of(
    scope: str, attempt: int, samples: Samples, signals: Mapping[str, float]
) -> Iterator[dict[str, Any]]:
    """The raw file's rows of one scope."""
    epoch = time.time() - time.perf_counter()
    columns = zip(samples.seconds, samples.started, samples.device_s, strict=True)
    for number, (seconds, started, device_s) in enumerate(columns, 1):
        yield {
            "scope": scope,
            "attempt": attempt,
            "sample": number,
            "seconds": seconds,
            "device_s": device_s,
            "calls": samples.calls,
            "started_at": epoch + started,
            **signals,
        }


def _page_faults() -> int:
    """Of this process so far, those that needed no disk."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt


def _refuse(place: str, asked: int, there: int) -> None:
    if asked > there:
        raise OutOfMemory(f"needs {asked:,} bytes, but {place} has {there:,} left")


def same_device(found: str, wanted: str) -> bool:
    """'cuda' means any one device of that kind; 'cuda:1' means that one."""
    return found == wanted or (":" not in wanted and found.partition(":")[0] == wanted)


def _words(shapes: tuple[tuple[int, ...], ...]) -> str:
    return ", ".join("x".join(map(str, shape)) or "scalar" for shape in shapes) or "nothing"


def _finite(np: ModuleType, array: Any) -> bool:
    flat = array.reshape(-1)
    return all(bool(np.isfinite(flat[part]).all()) for part in blocks(flat.size))
