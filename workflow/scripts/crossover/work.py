"""A workload's file at one size and number type: what it says, and a default for what it does not.

The file is described in workloads/. Functions get what their signature names (`wanted`). What is
left out, by names of the file, is `assumed`; what stands in for it is in defaults.py.
"""

import inspect
import sys
import traceback
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import astuple, dataclass
from functools import partial, reduce
from math import inf
from pathlib import Path
from types import ModuleType
from typing import Any, cast

from crossover import defaults, machine, plugin
from crossover.status import Failed, Mismatch, OutOfMemory, Unsupported, shortened
from crossover.workloads import (
    COMPUTE_TAKES,
    JUDGED_AS,
    OPTIONAL,
    Cost,
    host_dtype,
    stored_as,
)

NAMESPACES = ("xp", "np")  # a first parameter that is called so is one, whatever follows it
FLOATING = ("float", "bfloat", "complex")
COUNTED = ("int", "uint", "bool")
PARTS = {"complex64": "float32", "complex128": "float64"}  # real and imaginary
NUMBERS = "biufc"  # NumPy's kinds
PLACES = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)


@dataclass(frozen=True)
class Work:
    """`own`: it is a user's file, which need not be as complete and as exact as ours. `computed_in`
    is another type than `dtype` where a backend's option says so."""

    path: Path
    module: ModuleType
    size: int
    dtype: str
    own: bool
    computed_in: str

    @property
    def judged_as(self) -> str:
        """The number type that the answer's error and its bound are those of."""
        return self.dtype if self.computed_in == self.dtype else JUDGED_AS[self.computed_in]

    @property
    def stored_as(self) -> str:
        """The dtype of its arrays on the device."""
        return stored_as(self.computed_in)

    def must_suit(self) -> None:
        """Raises Unsupported where the type that it is computed in makes no sense for the work."""
        coarse = self.computed_in
        able = getattr(self.module, "DTYPES", (coarse,))
        if coarse == "tf32":
            able = (*able, coarse)
        bound = 1.0
        if coarse in able and self.says("bound"):
            try:
                bound = self._number("bound", dtype=self.judged_as)
            except LookupError:
                able = ()
        if coarse not in able:
            raise Unsupported(f"{self.path.stem} has no error bound in {coarse}")
        if not bound and coarse != "tf32":
            words = f"{self.path.stem} moves numbers and must not change them, as {coarse} would"
            raise Unsupported(words)

    @property
    def assumed(self) -> str:
        """What the file leaves out, as 'cost, error'."""
        return ", ".join(name for name in OPTIONAL if self.own and not self.says(name))

    @property
    def in_place(self) -> bool:
        return bool(getattr(self.module, "IN_PLACE", False))

    @property
    def as_assumed(self) -> str:
        """For a mismatch: that its bound is not the author's."""
        if not self.own or self.says("bound"):
            return ""
        words = f" as assumed; {self.path.name} can say otherwise, with bound(size, dtype)"
        if self.says("error"):
            return words
        return f"{words}; what is random needs an error(outputs, inputs, rng, dtype)"

    @property
    def n_is(self) -> str:
        """What n counts, in the file's own words, '' where it has none."""
        words = getattr(self.module, "SIZE", "")
        return shortened(" ".join(words.split())) if isinstance(words, str) else ""

    def says(self, name: str) -> bool:
        return hasattr(self.module, name)

    def _ask(self, name: str, **offered: Any) -> Any:
        function = getattr(self.module, name)
        if not callable(function):
            raise self._not(name, function, "a function")
        offered |= {"size": self.size, "dtype": offered.get("dtype", self.dtype)}
        return function(**wanted(function, offered))

    def _not(self, name: str, found: Any, wanted: str) -> Failed:
        shown = " ".join(repr(found).split())
        return Failed(f"{name} in {self.path.name}: {shown:.60} is not {wanted}")

    def _number(self, name: str, **offered: Any) -> float:
        """An error or a bound: it may be no number (NaN) or infinite, which no answer passes."""
        found = self._ask(name, **offered)
        try:
            number = float(found)
        except (TypeError, ValueError):
            number = -1.0
        if number < 0 or isinstance(found, bool):
            raise self._not(name, found, "a number of at least 0")
        return number

    def inputs(self, rng: Any) -> tuple[Any, ...]:
        """The host arrays, in C order. In a user's file numbers of the cell's kind become its
        dtype; others, such as the indices beside an array of floats, stay as they are."""
        if not self.own:
            return tuple(self._ask("inputs", rng=rng))
        import numpy as np

        made = self._ask("inputs", rng=rng, dtype=host_dtype(self.dtype))
        arrays = made if isinstance(made, tuple | list) else (made,)
        return tuple(self._host_array(np, array) for array in arrays)

    def _host_array(self, np: ModuleType, array: Any) -> Any:
        if not isinstance(array, np.ndarray) or array.dtype.kind not in NUMBERS:
            kind = getattr(array, "dtype", type(array).__name__)
            raise Failed(f"inputs in {self.path.name} gave {kind}, not a NumPy array of numbers")
        cell = np.dtype(host_dtype(self.dtype))
        same = {"f": "f", "c": "fc", "i": "iu"}[cell.kind]
        dtype = cell if array.dtype.kind in same else array.dtype.newbyteorder("=")
        return np.asarray(array).astype(dtype, order="C", copy=False)

    def function(self, xp: Any, count: int) -> Callable[..., Any]:
        """`compute` over a library's namespace, to be called with `count` arrays and `wanted`.

        In a user's file every top-level name that is bound to NumPy means `xp` for compute: the
        file is executed once more, and the names of that copy are bound anew. So functions that
        were written for NumPy run on each library; inputs and checks keep the first copy.
        """
        if not self.own:
            return partial(self.module.compute, xp)
        compute = _over(self.path, self.module, xp).compute
        return partial(compute, xp) if self._takes_namespace(compute, count) else compute

    def _takes_namespace(self, compute: Callable[..., Any], count: int) -> bool:
        """Whether its first parameter is the namespace: where there is one more than inputs."""
        parameters = inspect.signature(compute).parameters.values()
        places = [
            p
            for p in parameters
            if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
            and p.name not in COMPUTE_TAKES
        ]
        if places and places[0].name in NAMESPACES:
            return True
        if any(p.kind is p.VAR_POSITIONAL for p in parameters):
            return bool(places)
        least = sum(p.default is p.empty for p in places)
        if least <= count <= len(places):
            return False
        if least <= count + 1 <= len(places):
            return True
        names = ", ".join(p.name for p in places) or "no arrays"
        raise Failed(f"compute in {self.path.name} takes {names}, but inputs made {count} arrays")

    def cost(self, itemsize: int) -> Cost | None:
        """None where the file does not say."""
        if not self.says("cost"):
            return None
        found = self._ask("cost", itemsize=itemsize)
        try:
            good = isinstance(found, Cost) and all(0 <= float(one) < inf for one in astuple(found))
        except (TypeError, ValueError, OverflowError):
            good = False
        if not good:
            raise self._not("cost", found, "a Cost of finite numbers of at least 0")
        return cast(Cost, found)

    def output_shapes(self) -> tuple[tuple[int, ...], ...] | None:
        """None where the file does not say."""
        if not self.says("output_shapes"):
            return None
        found = self._ask("output_shapes")
        try:
            return tuple(map(tuple, found))
        except TypeError:
            raise self._not("output_shapes", found, "shapes such as [(3, 4)]") from None

    @contextmanager
    def away_from_numpy(self, arrays: tuple[Any, ...]) -> Iterator[None]:
        """While a user's compute runs, no function of NumPy's may take another library's arrays: it
        would be NumPy that is measured, by another name. Not every library's can be watched."""
        watched = []
        for kind in {type(array) for array in arrays if self.own} - {_numpy().ndarray}:
            with suppress(AttributeError, TypeError):
                original = kind.__array__
                kind.__array__ = _refuse
                watched.append((kind, original))
        try:
            yield
        finally:
            for kind, original in watched:
                kind.__array__ = original

    def allows(self, found: str) -> bool:
        """May a result be of that dtype? A user's may be integers, and complex numbers or their
        parts, of the same precision."""
        if found == self.stored_as or not self.own:
            return found == self.stored_as
        if not self.dtype.startswith(FLOATING) or not found.startswith(FLOATING):
            return found.startswith((*FLOATING, *COUNTED))
        return self.stored_as == PARTS.get(found) or found == PARTS.get(self.stored_as)

    def must_be_of_its_dtype(self, given: set[str], found: tuple[str, ...]) -> None:
        """Raises Unsupported where other numbers went in (by dtype), and came out: they would be
        measured under the cell's name."""
        given_it = not given or host_dtype(self.dtype) in given
        if self.own and not given_it and self.stored_as not in found:
            words = f"neither inputs nor results are {self.dtype}, but {', '.join(sorted(given))}"
            raise Unsupported(f"{words}; {self.path.name} can say what makes sense, with DTYPES")

    def error(self, outputs: tuple[Any, ...], inputs: tuple[Any, ...] | None, rng: Any) -> float:
        """How far host arrays are from the reference; `inputs` is None where they have changed."""
        if self.says("error"):
            dtype = self.judged_as
            asked = {"outputs": outputs, "inputs": inputs, "rng": rng, "dtype": dtype}
            return self._number("error", **asked)
        made = self.inputs(rng) if inputs is None else inputs
        return defaults.error(outputs, self._reference(made))

    def bound(self, found: tuple[str, ...]) -> float:
        """The most that a correct error may be; `found` are the results' dtypes."""
        if self.says("bound"):
            return self._number("bound", dtype=self.judged_as)
        return defaults.bound(self.size, (self.judged_as, *found))

    def _reference(self, inputs: tuple[Any, ...]) -> tuple[Any, ...]:
        """The same compute on NumPy in the widest type of its kind, as host arrays."""
        import numpy as np

        asked = 2 * sum(array.nbytes for array in inputs)
        if asked > (there := machine.available_bytes()):
            words = f"the float64 reference needs {asked:,} bytes, but this machine has {there:,}"
            raise OutOfMemory(f"{words} left; an own error(outputs, inputs, rng) may need less")
        wide = tuple(defaults.wide(array) for array in inputs)
        before = checksum(wide)
        compute = self.function(np, len(wide))
        dtype = np.dtype(defaults.WIDE.get(np.dtype(host_dtype(self.dtype)).kind, self.dtype)).type
        asked_for = {"size": self.size, "dtype": dtype, "device": "cpu", "random": _no_random}
        found = results(compute(*wide, **wanted(compute, asked_for)))
        if not self.in_place and checksum(wide) != before:
            raise Mismatch("compute changed its inputs, but the workload is not IN_PLACE")
        return tuple(np.asarray(array) for array in found)


def load(path: Path, size: int, dtype: str, computed_in: str = "") -> Work:
    """Raises Unsupported where the work makes no sense in the type that it is computed in."""
    own = not plugin.shipped_name("workloads", path)
    made = Work(path, plugin.load(path), size, dtype, own, computed_in or dtype)
    if made.computed_in != dtype:
        made.must_suit()
    return made


def wanted(function: Callable[..., Any], offered: Mapping[str, Any]) -> dict[str, Any]:
    """Of what is offered, what a function's signature names; all of it where that has ``**``."""
    parameters = inspect.signature(function).parameters.values()
    if any(p.kind is p.VAR_KEYWORD for p in parameters):
        return dict(offered)
    named = {p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)}
    return {name: value for name, value in offered.items() if name in named}


def results(outputs: Any) -> tuple[Any, ...]:
    """What compute returned, as a tuple of arrays; raises Mismatch where it is none."""
    found = tuple(outputs) if isinstance(outputs, tuple | list) else (outputs,)
    for array in found:
        if not hasattr(array, "ndim"):
            kind = type(array).__name__.removesuffix("Type")
            raise Mismatch(f"compute returned {kind}, not an array or a tuple of arrays")
    if not found:
        raise Mismatch("compute returned nothing, not an array or a tuple of arrays")
    return found


def must_be_theirs(outputs: tuple[Any, ...], device: tuple[Any, ...]) -> None:
    """Raises Mismatch where arrays of another library went in, and NumPy's came out."""
    own = (_numpy().ndarray, _numpy().generic)
    given, found = (any(isinstance(array, own) for array in each) for each in (device, outputs))
    if device and found and not given:
        raise Mismatch("compute returned an array of NumPy itself, not of the backend's library")


def estimate(path: Path, size: int, dtype: str, itemsize: int) -> Cost | None:
    """For planning: the file's own cost. None, and nothing is executed, where it has none."""
    if "cost" not in plugin.functions(path):
        return None
    return load(path, size, dtype).cost(itemsize)


def where(error: BaseException, file: str) -> str:
    """' (mine.py, line 7)': the last line of a user's file that an exception came from or through;
    '' where it did not (a SyntaxError says it itself), and for a file of ours."""
    path = Path(file)
    if plugin.shipped_name("workloads", path):
        return ""
    frames = traceback.walk_tb(error.__traceback__)
    lines = [line for frame, line in frames if frame.f_code.co_filename == str(path)]
    return f" ({path.name}, line {lines[-1]})" if lines else ""


def checksum(arrays: tuple[Any, ...]) -> int:
    """Of host arrays in C order."""
    crc = 0
    for array in arrays:
        crc = zlib.crc32(array.reshape(-1).view("uint8"), crc)
    return crc


def _over(path: Path, module: ModuleType, xp: Any) -> ModuleType:
    """The file with its names for NumPy, and for a part of it such as numpy.linalg, bound to xp."""
    if xp is _numpy() or not _numpys(module):
        return module
    copy = plugin.load(path)
    for name, parts in _numpys(copy).items():
        with suppress(AttributeError):  # a part that xp has not: away_from_numpy finds its use
            setattr(copy, name, reduce(getattr, parts, xp))
    return copy


def _numpys(module: ModuleType) -> dict[str, list[str]]:
    found = {name: value for name, value in vars(module).items() if isinstance(value, ModuleType)}
    paths = {name: value.__name__.split(".") for name, value in found.items()}
    return {name: parts for name, (first, *parts) in paths.items() if first == "numpy"}


def _numpy() -> Any:
    return sys.modules["numpy"]


def _refuse(array: Any, *_: Any, **__: Any) -> Any:
    kind = type(array).__module__.partition(".")[0]
    raise TypeError(f"a function of NumPy itself was given an array of {kind}")


def _no_random(*_: Any) -> Any:
    raise Failed("what is random needs an error(outputs, inputs, rng, dtype) of its own")
