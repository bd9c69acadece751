"""How it is computed, and where. One file per library; a user's own file has the same form.

A backend file declares, as plain literals that planning can read without importing the library,

- ``LIBRARIES``: the distributions whose versions its times belong to;
- ``DEVICES``: the kinds of device that it knows, such as ``("cpu", "cuda")``;
- ``OPTIONS``: the names that an entry's ``options:`` may have; or a dict of names and, for each,
  the tuple of values that it may have;

and defines a class ``Backend``, best as a subclass of `Host` (below), which is all that a library
needs that works on NumPy's arrays in the host's memory. It never names a workload, but as a key of
``KERNELS``, where it has code of its own for one.
"""

from collections.abc import Callable, Mapping
from types import ModuleType
from typing import Any

from crossover import machine
from crossover.clock import Events
from crossover.status import (
    ERROR,
    OUT_OF_MEMORY,
    UNSUPPORTED,
    Failed,
    Unsupported,
    out_of_memory,
    own_words,
)

# How libraries say that they have no such operation for a dtype, in exceptions of several types.
UNSUPPORTED_WORDS = ("not implemented for", "not support", "n't support", "did not contain a loop")


class Host:
    """A library that computes on NumPy arrays in the host's memory; the base of every backend.

    `device` is passed on to the workload as it is; `threads` is what the process was granted.
    Raises `Unavailable` with the library's own sentence where the device cannot be used.
    """

    on_host = True  # no upload, no download, a round trip is a computation
    # One argument, one is added to it in place, it is returned: for ceilings, where the arrays are
    # another library's, whose own `+=` would not be what is measured.
    add_one: Callable[[Any], Any] | None = None
    xp: Any

    def __init__(self, device: str, threads: int, options: Mapping[str, Any]) -> None:
        self.device: Any = device

    def dtype(self, name: str) -> Any:
        """The library's own dtype object; raises `Unsupported` where it has none."""
        found = getattr(self.xp, name, None)
        if found is None:
            raise Unsupported(f"{self.xp.__name__} has no dtype {name}")
        return found

    def kernel(self, workload: str) -> Callable[..., Any] | None:
        """This library's own code for the shipped workload of that name ('' is any other one),
        called like `compute` without its `xp`; None where `compute` over `xp` is what it runs.

        A library that is no namespace of functions on arrays raises `Unsupported` without one.
        """
        return None

    def compiled(self, compute: Callable[..., Any]) -> Callable[..., Any]:
        """`compute`, its `xp` given, as it is called: itself, or compiled where an option says so.
        Compiling belongs to the first call of what is returned, not to this one."""
        return compute

    def compilations(self) -> int | None:
        """How often something was compiled so far; None where nothing is, or it cannot be told. 0
        after the first call is an error: the times would be those of what was not compiled."""
        return None

    def computed_in(self, dtype: str) -> str:
        """The number type that cells of a dtype are computed in: another one only where an option
        says so. A coarser one of float32 is named in workloads.JUDGED_AS, and its results come
        back as float32. Raises `Unsupported` where the option makes no sense for the dtype."""
        return dtype

    def to_device(self, array: Any, dtype: str) -> Any:
        """A host array as an array on the device (an alias where host and device are one)."""
        return array

    def to_host(self, array: Any) -> Any:
        """An array on the device as a host array, complete on return."""
        return array

    def seed(self, seed: int) -> None:
        """Where the numbers of `random` start: the same ones again after the same seed, where the
        library can. The harness calls it before anything is computed. NumPy's own, so on a device
        it raises `Unsupported`."""
        if not self.on_host:
            raise Unsupported(f"it makes no random numbers on {self.device}")
        from numpy.random import default_rng

        self.generator: Any = default_rng(seed)

    def random(self, shape: tuple[int, ...], dtype: Any) -> Any:
        """An array of uniform numbers in [0, 1), made on the device: the next ones. `dtype` is the
        library's own object; raises `Unsupported` where its generator does not know it."""
        try:
            return self.generator.random(shape, dtype)
        except TypeError as error:
            raise Unsupported(own_words(error)) from error

    def read(self, array: Any) -> Any:
        """One value of an array on the device, on the host: complete on return."""
        return self.to_host(array[(slice(1),) * array.ndim])

    def synchronize(self) -> None:
        """Return when all work given to the device is done."""

    def events(self) -> Events | None:
        """The device's own clock; None where it has none."""
        return None

    def pin(self, array: Any) -> None:
        """Page-lock the memory of a host array, as fast transfers want it; raises where refused."""
        raise Unsupported(f"{self.device} knows no page-locked memory")

    def unpin(self, array: Any) -> None:
        """Undo `pin`."""

    def copy_to_host(self, array: Any, out: Any) -> None:
        """Fill a host array, page-locked or not, from one on the device; complete on return."""

    def dtype_of(self, array: Any) -> str:
        """The name of an array's dtype, spelt as in a config: 'float64'."""
        return str(array.dtype)

    def device_of(self, array: Any) -> str:
        """Where an array is, starting like the entry's `device`: 'cpu', 'cuda:0'."""
        return "cpu"

    def effective_threads(self) -> int | None:
        """The threads that this library's pools really have; None where that cannot be read."""
        from threadpoolctl import threadpool_info

        pools = [pool["num_threads"] for pool in threadpool_info()]
        return min(pools) if pools else None

    def facts(self) -> dict[str, str]:
        """What the results belong to: `device` (its name), `device_uuid`, `driver`, `precision`."""
        return {"device": self.device}

    def device_memory(self) -> tuple[int, int] | None:
        """Bytes free and bytes in all on the device; None where that is the host's memory."""
        return None

    def cache_bytes(self) -> int | None:
        """The last-level cache in front of the arrays' memory; None where unknown."""
        return machine.cache_bytes() if self.on_host else None

    def reset_peak(self) -> None:
        """Start counting `device_peak_bytes` from here."""

    def device_peak_bytes(self) -> int | None:
        """The most bytes of arrays on the device since `reset_peak`; None where unknown."""
        return None

    def status_of(self, error: BaseException) -> str:
        """The status that an exception means."""
        if isinstance(error, Failed):
            return error.status
        if out_of_memory(error):
            return OUT_OF_MEMORY
        if isinstance(error, AttributeError) and isinstance(error.obj, ModuleType):
            return UNSUPPORTED  # the library has no such name
        if any(words in str(error) for words in UNSUPPORTED_WORDS):
            return UNSUPPORTED
        return UNSUPPORTED if isinstance(error, NotImplementedError) else ERROR


class Kernels(Host):
    """A library that is no namespace of functions on arrays: on NumPy's arrays it runs only those
    workloads that it has `kernels` of its own for, by name, in the dtypes that it has `known`."""

    name: str  # of the library, for messages
    known: tuple[str, ...]
    kernels: Mapping[str, Callable[..., Any]]  # with one for "add", in place

    def dtype(self, name: str) -> Any:
        """NumPy's, of those that the library knows."""
        if name not in self.known:
            raise Unsupported(f"{self.name} has no dtype {name}")
        return super().dtype(name)

    def kernel(self, workload: str) -> Callable[..., Any]:
        """The workload's; raises `Unsupported` where there is none."""
        if workload not in self.kernels:
            raise Unsupported(
                f"{self.name} has no kernel for {workload or 'a workload of your own'}"
            )
        return self.kernels[workload]

    def add_one(self, array: Any) -> Any:
        return self.kernels["add"](array)
