"""What can become of a cell: every failure is a row with its reason, never a lost sweep."""

from contextlib import suppress
from typing import Any

OK = "ok"
MISMATCH = "mismatch"
UNSUPPORTED = "unsupported"
UNAVAILABLE = "unavailable"
OUT_OF_MEMORY = "out_of_memory"
TIMEOUT = "timeout"
KILLED = "killed"
ERROR = "error"
NOT_MEASURED = "not measured"  # only in a look at a sweep that is still running

ALL = (OK, MISMATCH, UNSUPPORTED, UNAVAILABLE, OUT_OF_MEMORY, TIMEOUT, KILLED, ERROR)


# What an exception can mean.
RAISED = (MISMATCH, UNSUPPORTED, UNAVAILABLE, OUT_OF_MEMORY, ERROR)

MOST_WORDS = 200  # characters of a reason; the log has all of it
# Of the C library, the loader and OpenBLAS where memory ran out, as under a tight `ulimit -v`.
MEMORY_WORDS = ("annot allocate memory", "failed to map segment", "allocation still failed")


class Failed(Exception):
    """A cell cannot be measured; the message is the one-line reason."""

    status = ERROR


class Mismatch(Failed):
    """The answer is wrong: shape, dtype, device, finiteness or error."""

    status = MISMATCH


class Unsupported(Failed):
    """The library has no such dtype or operation."""

    status = UNSUPPORTED


class Unavailable(Failed):
    """No such device or library here."""

    status = UNAVAILABLE


class OutOfMemory(Failed):
    """The cell does not fit; the message names the bytes asked and the bytes there."""

    status = OUT_OF_MEMORY


def out_of_memory(error: BaseException | str) -> bool:
    """Does it say that memory ran out?"""
    return isinstance(error, MemoryError) or any(w in own_words(error) for w in MEMORY_WORDS)


def meaning(error: BaseException, backend: Any) -> str:
    """The status that an exception has: its own, else what a backend, where one has started, makes
    of its library's words, where that is a status at all."""
    if isinstance(error, Failed):
        return error.status
    if backend is not None:
        with suppress(Exception):
            if (found := backend.status_of(error)) in RAISED:
                return str(found)
        return ERROR
    if out_of_memory(error):
        return OUT_OF_MEMORY
    return UNAVAILABLE if isinstance(error, ImportError) else ERROR


def one_line(error: BaseException) -> str:
    """The reason of an exception: its type and its own first line, ours without the type."""
    words, name = own_words(error), type(error).__name__
    return words if isinstance(error, Failed) or words == name else f"{name}: {words}"


def own_words(error: BaseException | str) -> str:
    """The first line of what an exception says, or its type where it says nothing. A line that ends
    with a colon is none without the next: torch.compile's "backend='inductor' raised:"."""
    if isinstance(error, ImportError) and error.__cause__:
        error = error.__cause__  # NumPy puts a page of advice before it
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    words = " ".join(lines[: 2 if lines and lines[0].endswith(":") else 1])
    return shortened(words or type(error).__name__)


def shortened(words: str) -> str:
    """At most MOST_WORDS signs, all of which a file can hold."""
    words = words.encode(errors="replace").decode()  # what no file could hold
    return words if len(words) <= MOST_WORDS else words[: MOST_WORDS - 3] + "..."
