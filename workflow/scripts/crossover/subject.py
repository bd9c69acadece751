"""A backend's file, started, to be held to the promises of the interface (conformance.py)."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

from crossover import plugin, status
from crossover.work import where
from crossover.workloads import host_dtype

USUAL = ("float32", "float64", "int32")  # the first that there is, where any will do
METHODS = (
    *("dtype", "kernel", "compiled", "compilations", "computed_in", "to_device", "to_host"),
    *("seed", "random", "read", "synchronize", "events", "pin", "unpin", "copy_to_host"),
    *("dtype_of", "device_of", "effective_threads", "facts", "device_memory", "cache_bytes"),
    *("reset_peak", "device_peak_bytes", "status_of"),
)


class Broken(Exception):
    """A promise that was not kept: what was seen, and what to do about it."""

    def __init__(self, seen: str, cure: str) -> None:
        super().__init__(f"{seen}; {cure}")


class NotTried(Exception):
    """There is nothing to check; the message says why."""


@dataclass(frozen=True)
class Subject:
    """A backend, started, and what it was started from."""

    file: Path
    module: ModuleType
    device: str
    threads: int
    options: Mapping[str, Any]
    backend: Any

    def usual(self) -> str:
        """A dtype that it has."""
        for name in USUAL:
            if supports(self.backend, name):
                return name
        raise Broken(f"it has none of {', '.join(USUAL)}", "dtype() gives the library's own")

    def up(self, *numbers: float) -> Any:
        """An array on the device."""
        name = self.usual()
        return self.backend.to_device(np.array(numbers, host_dtype(name)), name)


def start(file: Path, device: str, threads: int, options: Mapping[str, Any]) -> Subject:
    """Raises Broken where the file cannot be used at all."""
    try:
        module = plugin.load(file)
        backend = module.Backend(device, threads, dict(options))
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # an exit as well: it would look like one that went well
        words = f"{state_of(error)}: {status.one_line(error)}{where(error, str(file))}"
        raise Broken(words, "nothing else can be checked before that works here") from error
    missing = [name for name in METHODS if not callable(getattr(backend, name, None))]
    if missing or not hasattr(backend, "on_host"):
        missing = missing or ["on_host"]
        cure = "make Backend a subclass of crossover.backends.Host, which has them"
        raise Broken(f"it has no {', '.join(missing)}", cure)
    if missing := [name for name in ("xp", "device") if not hasattr(backend, name)]:
        cure = "xp is the library's namespace, device what was asked for (super().__init__ sets it)"
        raise Broken(f"it has no {', '.join(missing)}", cure)
    if backend.on_host and not device.startswith("cpu"):
        cure = "set it to False, else no transfer is measured"
        raise Broken(f"on_host is True, but the device is {device}", cure)
    return Subject(file, module, device, threads, options, backend)


def supports(backend: Any, name: str) -> bool:
    """Raises Broken where it says no in another way than by Unsupported."""
    try:
        backend.dtype(name)
        backend.computed_in(name)
    except Exception as error:
        must_be(backend, error, status.UNSUPPORTED, f"dtype('{name}')")
        return False
    return True


def must_be(backend: Any, error: BaseException, wanted: str, what: str) -> None:
    """Raises Broken where the backend takes an exception for something else."""
    if (found := backend.status_of(error)) != wanted:
        words = f"{what} is taken for {found} ({status.one_line(error)})"
        cure = f"unless it is a mistake in the file, raise {wanted.title().replace('_', '')} of "
        cure += f"crossover.status, or let status_of() say {wanted!r}"
        raise Broken(words, cure) from error


def state_of(error: BaseException) -> str:
    """The status that a failed start has (child.py's probe does the same)."""
    if isinstance(error, status.Failed):
        return error.status
    return status.UNAVAILABLE if isinstance(error, ImportError | OSError) else status.ERROR
