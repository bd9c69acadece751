"""A backend file like a user's: an asynchronous device of known durations, and of known faults.

Work is queued on a thread, in order, and takes `work_s` an operation there; `launch_s` is what the
caller waits. Copies wait for the queue, as on a real device. Faults strike at one size.
"""

import os
import queue
import signal
import threading
import time
from pathlib import Path

import numpy as np

from crossover.backends import Host
from crossover.status import Unavailable, Unsupported

LIBRARIES = ("numpy",)
DEVICES = ("fake",)
OPTIONS = (
    "first_call_s",
    "launch_s",
    "work_s",
    "upload_s",
    "download_s",
    "pin_s",
    "upload_pinned_s",
    "download_pinned_s",
    "no_pinning",
    "events",
    "slow_calls",
    "slow_s",
    "missing",
    "asynchronous",
    "wrong",
    "fault",
    "fault_at",
    "pid_file",
)


class FakeArray:
    """Numbers on the fake device; every operation launches work there."""

    def __init__(self, backend, data):
        self.backend = backend
        self.data = data

    def _launch(self, compute):
        self.backend.launch(self.data.size)
        return FakeArray(self.backend, compute())

    def __iadd__(self, other):
        self.backend.launch(self.data.size)
        self.data += other
        return self

    def __add__(self, other):
        return self._launch(lambda: self.data + _data(other))

    def __mul__(self, other):
        return self._launch(lambda: self.data * _data(other))

    def __matmul__(self, other):
        return self._launch(lambda: self.data @ other.data)

    def __getitem__(self, key):
        return FakeArray(self.backend, self.data[key])

    @property
    def ndim(self):
        return self.data.ndim

    __radd__, __rmul__ = __add__, __mul__


def _data(value):
    return value.data if isinstance(value, FakeArray) else value


class Events:
    """Marks in the queue of work, timed where the work is done."""

    def __init__(self, backend):
        self.backend, self.times = backend, []

    def start(self):
        self.times = []
        self.stop()

    def stop(self):
        self.backend.work.put(lambda: self.times.append(time.perf_counter()))

    def seconds(self):
        start, stop = self.times
        return stop - start


class Namespace:
    """What workloads ask of an array library, on the device."""

    __name__ = "fake"

    def __init__(self, backend):
        self.backend = backend

    def linspace(self, start, stop, count, *, dtype, device):
        self.backend.launch(count)
        return FakeArray(self.backend, np.linspace(start, stop, count, dtype=dtype))

    def sin(self, x):
        return x._launch(lambda: np.sin(x.data))

    def cos(self, x):
        return x._launch(lambda: np.cos(x.data))


class Backend(Host):
    on_host = False

    def __init__(self, device, threads, options):
        if ":" in device:
            raise Unavailable(f"there is one fake device, and no {device}")
        self.device, self.threads, self.options = device, threads, options
        if options.get("missing"):
            raise Unavailable(str(options["missing"]))
        self.xp = Namespace(self)
        self.calls = 0
        self.pinned = set()  # addresses
        self.work = queue.Queue()
        threading.Thread(target=self._serve, daemon=True).start()
        if path := options.get("pid_file"):
            with Path(path).open("a") as file:
                file.write(f"{os.getpid()}\n")

    def _serve(self):
        while True:
            task = self.work.get()
            task() if callable(task) else time.sleep(task)
            self.work.task_done()

    def _option(self, name):
        return float(self.options.get(name, 0))

    def launch(self, size):
        """One operation: the caller waits for the launch, the thread for the work."""
        self.calls += 1
        if size == self.options.get("fault_at"):
            self._fault()
        if self.calls == 1:
            time.sleep(self._option("first_call_s"))
        slow = self.calls <= self.options.get("slow_calls", 0)
        time.sleep(self._option("launch_s"))
        self.work.put(self._option("slow_s" if slow else "work_s"))

    def _fault(self):
        match self.options["fault"]:
            case "out_of_memory":
                raise MemoryError("the fake device has no room")
            case "SIGKILL" | "SIGSEGV" as name:
                os.kill(os.getpid(), signal.Signals[name])
            case "hang":
                time.sleep(3600)
            case "exception":
                raise ValueError("the fake device broke")

    def dtype(self, name):
        if not hasattr(np, name):
            raise Unsupported(f"the fake device has no {name}")
        return getattr(np, name)

    def to_device(self, array, dtype):
        self.work.join()
        kind = "upload_pinned_s" if array.ctypes.data in self.pinned else "upload_s"
        time.sleep(self._option(kind))
        return FakeArray(self, array.copy())

    def to_host(self, array):
        self.work.join()
        time.sleep(self._option("download_s"))
        return self._spoilt(array.data.copy())

    def pin(self, array):
        if self.options.get("no_pinning"):
            raise MemoryError("the fake device locks no pages")
        time.sleep(self._option("pin_s"))
        self.pinned.add(array.ctypes.data)

    def unpin(self, array):
        self.pinned.remove(array.ctypes.data)

    def copy_to_host(self, array, out):
        assert out.ctypes.data in self.pinned
        self.work.join()
        time.sleep(self._option("download_pinned_s"))
        out[...] = self._spoilt(array.data.copy())

    def events(self):
        return Events(self) if self.options.get("events") else None

    def _spoilt(self, data):
        """A wrong answer of a right one, as the option `wrong` says."""
        match self.options.get("wrong"):
            case "value":
                data.flat[data.size // 2] *= 1.5
            case "nan":
                data.flat[-1] = np.nan
            case "short":
                data = data[:-1]
        return data

    def synchronize(self):
        if not self.options.get("asynchronous"):  # a backend whose author forgot to wait
            self.work.join()

    def dtype_of(self, array):
        return "float16" if self.options.get("wrong") == "dtype" else str(array.data.dtype)

    def device_of(self, array):
        return "elsewhere" if self.options.get("wrong") == "device" else "fake"

    def effective_threads(self):
        return self.threads

    def facts(self):
        return {"device": "Fake 1", "device_uuid": "FAKE-1"}
