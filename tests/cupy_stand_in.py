"""What the CuPy backend asks of CuPy, over NumPy: the same names, the same refusals, no GPU.

Its functions take no `device`, as CuPy's; its arrays are a type of their own, copied on the way.
"""

import time
from types import ModuleType, SimpleNamespace

import numpy as np


class Array(np.ndarray):
    device = SimpleNamespace(id=0)

    def __getitem__(self, key):
        return self.__array_wrap__(super().__getitem__(key))

    def __array_wrap__(self, array, *_):
        """Never a number: what is computed stays on the device."""
        return np.asarray(array).view(Array)

    def get(self, out=None):
        out = np.empty(self.shape, self.dtype) if out is None else out
        out[...] = self
        return out


class Device:
    mem_info = (3 << 30, 4 << 30)

    def __init__(self, number):
        if number > 0:
            raise RuntimeError("cudaErrorInvalidDevice: invalid device ordinal")
        self.id = number

    def use(self):
        pass

    def synchronize(self):
        pass


class Event:
    def record(self):
        self.at = time.perf_counter()


def on_device(function):
    """Made on the device: what NumPy's own function gives, as an Array."""

    def made(*values, **wanted):
        assert "device" not in wanted, "unexpected keyword argument 'device'"
        return np.asarray(function(*values, **wanted)).view(Array)

    return made


def asnumpy(array):
    assert isinstance(array, Array)
    return array.get()


def module():
    """A new one, with what was done to it: `pinned` are the addresses of page-locked arrays."""
    made = ModuleType("cupy")
    made.pinned, made.seen = set(), []
    names = ("linspace", "ones", "sin", "cos", "sum", "sort", "roll")
    for name in names:
        setattr(made, name, on_device(getattr(np, name)))
    for name in ("float16", "float32", "float64", "complex64", "complex128", "int32", "int64"):
        setattr(made, name, getattr(np, name))
    made.asarray = lambda array: np.array(array).view(Array)
    made.asnumpy = asnumpy
    made.linalg = SimpleNamespace(solve=on_device(np.linalg.solve))
    made.fft = SimpleNamespace(fft=on_device(np.fft.fft))
    made.random = SimpleNamespace(
        default_rng=lambda seed: SimpleNamespace(
            random=on_device(np.random.default_rng(seed).random)
        )
    )
    made.get_default_memory_pool = lambda: SimpleNamespace(free_bytes=lambda: 1 << 20)
    properties = {"name": b"Stand-in", "uuid": bytes(range(1, 17)), "l2CacheSize": 1 << 22}

    def register(address, size, flags):
        assert flags == 1
        made.pinned.add(address)
        made.seen.append(size)

    made.cuda = SimpleNamespace(
        Device=Device,
        Event=Event,
        get_elapsed_time=lambda start, stop: (stop.at - start.at) * 1e3,
        runtime=SimpleNamespace(
            hostRegister=register,
            hostUnregister=made.pinned.remove,
            getDeviceProperties=lambda number: properties,
        ),
    )
    return made
