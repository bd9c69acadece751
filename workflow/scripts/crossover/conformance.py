"""Does a backend's file keep what the interface in backends/ promises? One check for each promise.

A time that is too good comes from a promise that was broken: work that nobody waited for, another
number type, another device, a copy that is none. Each check is small and uses the backend as the
harness does, in this process; none needs another library to compare with than NumPy.
"""

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from crossover import plugin, record, status, synchronized
from crossover.measurement import Measurement, same_device
from crossover.subject import Broken, NotTried, Subject, must_be, state_of, supports
from crossover.work import where
from crossover.workloads import UNIT_ROUNDOFF, host_dtype, stored_as

DTYPES = ("float16", "bfloat16", "float32", "float64", "complex64", "int32", "int64")
NOWHERE = 999_999  # the number of a device that no machine has
MATRICES = (32, 256, 1024)  # rows: of some product the work takes longer than the launch
HUGE = 1 << 48  # elements: a thousand terabytes, which no array has
CELLS = {"monte_carlo": 1000, "add": 1000, "matmul": 100, "polar": 1000}


# --- what is computed


def sums(subject: Subject) -> None:
    """1 + 2, 3 * 4: there and back."""
    a, b = subject.up(1, 3), subject.up(2, 4)
    for name, found, wanted in (("+", a + b, [3, 7]), ("*", a * b, [2, 12])):
        got = np.asarray(subject.backend.to_host(found)).tolist()
        if got != wanted:
            cure = "to_device, to_host and the operators of its arrays must work as NumPy's"
            raise Broken(f"[1, 3] {name} [2, 4] gave {got}", cure)


def dtypes(subject: Subject) -> str:
    """Each dtype is the real one, to its last digit, or is unsupported."""
    backend, able = subject.backend, []
    for name in DTYPES:
        if not supports(backend, name):
            continue
        made_in = stored_as(backend.computed_in(name))
        values = _all_digits(name, backend.computed_in(name))
        try:
            there = backend.to_device(values, name)
            both = there + there
        except Exception as error:
            must_be(backend, error, status.UNSUPPORTED, f"x + x in {name}")
            continue
        for array, what in ((there, "what to_device gives"), (both, "x + x")):
            if (found := backend.dtype_of(array)) != made_in:
                cure = f"compute in {made_in}, or raise Unsupported in dtype('{name}')"
                if str(found).endswith(f".{made_in}"):  # torch.float32
                    cure = f"dtype_of in your class spells it '{made_in}'"
                raise Broken(f"{what} is {found}, not {made_in}", cure)
        back = backend.to_host(both)
        if str(back.dtype) != host_dtype(name):
            cure = f"it gives NumPy arrays of {host_dtype(name)} there"
            raise Broken(f"to_host gives {back.dtype} for {name}", cure)
        if not np.array_equal(back, values + values):
            cure = f"something computes in less than {made_in}, or copies through it"
            raise Broken(f"x + x in {name} is not exact", cure)
        able.append(name)
    if not able:
        raise Broken("it can add in no dtype", "dtype() gives the library's own")
    return f"has {', '.join(able)}"


def no_such_dtype(subject: Subject) -> None:
    """A dtype that a library does not have is unsupported, not an error."""
    try:
        found = subject.backend.dtype("float7")
    except Exception as error:
        must_be(subject.backend, error, status.UNSUPPORTED, "dtype('float7')")
    else:
        cure = "raise Unsupported for what the library does not have"
        raise Broken(f"dtype('float7') gave {found!r}", cure)


# --- where it is computed


def device(subject: Subject) -> None:
    """Arrays, results and what `xp` makes are on the backend's device."""
    backend = subject.backend
    there = subject.up(1, 2)
    arrays = {"what to_device gives": there, "x + x": there + there}
    dtype = backend.dtype(subject.usual())
    try:
        made = backend.xp.linspace(0, 1, 5, dtype=dtype, device=backend.device)
        arrays["xp.linspace(..., device=device)"] = made
    except Exception as error:  # a library of kernels has no such function
        must_be(backend, error, status.UNSUPPORTED, "xp.linspace(0, 1, 5, dtype=, device=)")
    for what, array in arrays.items():
        where, wanted = backend.device_of(array), str(backend.device)
        if not same_device(where, wanted):
            raise Broken(f"{what} is on {where}, not on {wanted}", "nothing may leave the device")
        own = str(getattr(array, "device", "")).lower()
        kinds = {*getattr(subject.module, "DEVICES", ()), "cpu"}
        named = [kind for kind in kinds if kind in own]
        if named and where.partition(":")[0] not in named:
            cure = "device_of() must ask the array"
            raise Broken(f"device_of says {where} of {what}, the array itself {own}", cure)


def no_such_device(subject: Subject) -> None:
    """A device that is not there is unavailable, and never another one."""
    kinds = [k for k in getattr(subject.module, "DEVICES", ()) if k != "cpu"]
    if not kinds:
        raise NotTried("its only device is the CPU")
    for kind in kinds:
        name = f"{kind}:{NOWHERE}"
        cure = "try one small operation in __init__, and raise Unavailable with the library's words"
        try:
            subject.module.Backend(name, subject.threads, dict(subject.options))
        except Exception as error:
            if (found := state_of(error)) != status.UNAVAILABLE:
                words = status.one_line(error)
                raise Broken(f"Backend('{name}') is {found} ({words})", cure) from error
        else:
            raise Broken(f"Backend('{name}') started, and there is no such device", cure)


# --- when it is computed


def waiting(subject: Subject) -> None:
    """When synchronize returns, the work is done: a value can be read at once."""
    backend, name = subject.backend, subject.usual()
    for rows in MATRICES:
        ones = np.ones((rows, rows), host_dtype(name))
        matrix = backend.to_device(ones / rows if ones.dtype.kind == "f" else ones, name)
        call = _work(matrix)
        backend.read(call())  # what the first call compiles or loads is not asked about
        try:
            synchronized.check(backend.synchronize, time.perf_counter_ns, call, backend.read)
        except status.Failed as error:
            cure = "it must return only when all work given to the device is done"
            raise Broken(str(error), cure) from error


def complete(subject: Subject) -> None:
    """to_host and read wait by themselves for what they give."""
    backend, name = subject.backend, subject.usual()
    there = backend.to_device(np.ones(1 << 16, host_dtype(name)), name)
    total = there + there
    for _ in range(5):
        total = total + there
    first = np.asarray(backend.read(total)).reshape(-1)[0]  # it may give more than one
    last = np.asarray(backend.to_host(total + there))[-1]
    if (first, last) != (7, 8):
        cure = "they must wait for the device, and give what was computed"
        raise Broken(f"read gave {first} and to_host {last}, not 7 and 8", cure)


def _work(matrix: Any) -> Callable[[], Any]:
    try:
        matrix @ matrix
    except Exception:  # a library without matrix products
        return lambda: matrix + matrix
    return lambda: matrix @ matrix


# --- copies


def uploads(subject: Subject) -> None:
    """What is uploaded is a copy of its own, unless the device is the host."""
    backend, name = subject.backend, subject.usual()
    hosts = [np.arange(5, dtype=host_dtype(name)) + offset for offset in (0, 10)]
    first, second = (backend.to_device(host, name) for host in hosts)
    backend.synchronize()
    found = [np.asarray(backend.to_host(array)).tolist() for array in (first, second)]
    if found != [host.tolist() for host in hosts]:
        cure = "to_device must not use one buffer for both"
        raise Broken(f"of two uploads the second changed the first: {found}", cure)
    if backend.on_host:
        return
    changed = first
    changed += 1
    backend.synchronize()
    if hosts[0].tolist() != [0, 1, 2, 3, 4]:
        cure = "to_device must copy where the device is not the host"
        raise Broken("x += 1 on the device changed the host's array", cure)
    before = np.array(backend.to_host(changed))
    hosts[0][:] = 99
    if not np.array_equal(backend.to_host(changed), before):
        cure = "to_device must copy where the device is not the host"
        raise Broken("a host array that changed after its upload changed the device's", cure)


def downloads(subject: Subject) -> None:
    """What is downloaded stays as it is, whatever comes after."""
    backend = subject.backend
    first, second = subject.up(1, 2, 3), subject.up(4, 5, 6)
    back = backend.to_host(first)
    backend.to_host(second)
    if back.tolist() != [1, 2, 3]:
        cure = "to_host must not use one buffer for both"
        raise Broken(f"of two downloads the second changed the first to {back.tolist()}", cure)
    if backend.on_host:
        return
    first += 1
    backend.synchronize()
    if back.tolist() != [1, 2, 3]:
        cure = "to_host must copy where the device is not the host"
        raise Broken("work on the device changed an array that had been downloaded", cure)
    again = backend.to_host(second)
    if again.flags.writeable:
        again[:] = 99
        if backend.to_host(second).tolist() != [4, 5, 6]:
            cure = "to_host must copy where the device is not the host"
            raise Broken("a downloaded array that was changed changed the device's", cure)


def pinned(subject: Subject) -> None:
    """Page-locked memory is filled by copy_to_host, and given back."""
    backend, there = subject.backend, subject.up(1, 2, 3)
    out = np.zeros_like(backend.to_host(there))
    try:
        backend.pin(out)
    except Exception as error:
        raise NotTried(f"it locks no pages: {status.own_words(error)}") from error
    try:
        backend.copy_to_host(there, out)
        if out.tolist() != [1, 2, 3]:
            cure = "it must fill the host's array, and wait until that is done"
            raise Broken(f"copy_to_host of [1, 2, 3] gave {out.tolist()}", cure)
    finally:
        backend.unpin(out)


# --- what is said


def statuses(subject: Subject) -> None:
    """Exceptions get the status that they mean."""
    cases = {
        MemoryError("no room"): status.OUT_OF_MEMORY,
        status.Unsupported("no such operation"): status.UNSUPPORTED,
        status.Unavailable("no such device"): status.UNAVAILABLE,
        ZeroDivisionError("a mistake in the code"): status.ERROR,
    }
    for error, wanted in cases.items():
        if (found := subject.backend.status_of(error)) != wanted:
            cure = "super().status_of(error) knows what every backend should"
            words = f"status_of({type(error).__name__}) is {found!r}, not {wanted!r}"
            raise Broken(words, cure)


def out_of_memory(subject: Subject) -> None:
    """An array that cannot be is out of memory."""
    backend, name = subject.backend, subject.usual()
    one = np.ones(1, host_dtype(name))
    huge = np.lib.stride_tricks.as_strided(one, (HUGE,), (0,))  # takes no memory itself
    what = f"an array of {HUGE:.0e} numbers"
    try:
        there = backend.to_device(huge, name)
        backend.read(there + there)
    except Exception as error:
        must_be(backend, error, status.OUT_OF_MEMORY, what)
    else:
        raise Broken(f"{what} was added up", "what does not fit must raise")


def facts(subject: Subject) -> str:
    """What is written beside each time has a column."""
    found = subject.backend.facts()
    if unknown := set(found) - set(record.OF_BACKEND):
        cure = f"facts() may have {', '.join(record.OF_BACKEND)}"
        raise Broken(f"facts() has {', '.join(sorted(unknown))}", cure)
    if not isinstance(found.get("device"), str) or not found["device"]:
        raise Broken("facts() does not name the device", "give its name as 'device', a text")
    threads = subject.backend.effective_threads()
    if threads is not None and not (isinstance(threads, int) and threads > 0):
        cure = "give a whole number, or None where that cannot be known"
        raise Broken(f"effective_threads() gave {threads!r}", cure)
    device: str = found["device"]
    return device


def cells(subject: Subject) -> str:
    """The harness measures a small cell of each of these workloads; its answer is checked."""
    done = []
    for name, size in CELLS.items():
        made = Measurement(
            {
                "workload_file": str(plugin.builtin("workloads")[name]),
                "backend_file": str(subject.file),
                "device": subject.device,
                "options": dict(subject.options),
                "dtype": subject.usual() if name == "add" else "float32",
                "size": size,
                "seed": 0,
                "budget_s": 0.01,
                "threads_granted": subject.threads,
                "array": None,
                "keep_mb": 1,
            }
        )
        try:
            made.run()
            done.append(f"{name} ok")
        except Exception as error:
            found, place = made.status_of(error), where(error, str(subject.file))
            done.append(f"{name} {found}: {status.one_line(error)}{place}")
            if found != status.UNSUPPORTED:
                raise Broken(done[-1], "such a cell would be a row without a time") from error
    return "; ".join(done)


CHECKS: dict[str, Callable[[Subject], str | None]] = {
    "sums are right": sums,
    "dtypes are the real ones": dtypes,
    "a missing dtype is unsupported": no_such_dtype,
    "results are on the device": device,
    "synchronize waits": waiting,
    "what is read is complete": complete,
    "uploads do not alias": uploads,
    "downloads do not alias": downloads,
    "pinned memory is filled": pinned,
    "exceptions have their status": statuses,
    "too large is out of memory": out_of_memory,
    "facts have columns": facts,
    "small cells are ok": cells,
    "a missing device is unavailable": no_such_device,  # last: it may set the library's device
}


def result(subject: Subject, name: str) -> tuple[bool | None, str]:
    """Whether a check passed (None: there was nothing to check), and what is to be said."""
    try:
        return True, CHECKS[name](subject) or ""
    except NotTried as why:
        return None, str(why)
    except Broken as why:
        return False, str(why)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # an exit as well: it would look like one that went well
        place = where(error, str(subject.file))
        return False, f"{status.one_line(error)}{place}; the harness would stop there as well"


def _all_digits(name: str, computed_in: str) -> Any:
    """Host numbers that need all the digits of the type, and no more; their doubles too."""
    host = np.dtype(host_dtype(name))
    if host.kind == "i":
        return np.array([1, 2 ** (8 * host.itemsize - 3) + 1], host)
    one = 1 + 2 * UNIT_ROUNDOFF["float32" if computed_in == "tf32" else computed_in]
    return np.array([1, one * (1 + 1j) if host.kind == "c" else one], host)
