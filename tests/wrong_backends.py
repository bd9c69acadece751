"""Backends that break one promise each: small files over the fake device."""

from test_measurement import FAKE

HEAD = f"""
from pathlib import Path
import numpy as np
from crossover import plugin, status
fake = plugin.load(Path({str(FAKE)!r}))
LIBRARIES = ("numpy",)
DEVICES = ("fake",)
class Backend(fake.Backend):
    def __init__(self, device, threads, options):
        super().__init__(device, threads, {{}})
"""
HOST = "from crossover.backends import Host\nclass Backend(Host):\n"
WITHOUT_ON_HOST = """
from crossover.subject import METHODS
class Backend:
    def __init__(self, *asked): pass
for name in METHODS: setattr(Backend, name, print)
"""
FORGETFUL = """
        self.options["work_s"] = 0.02
    def synchronize(self):
        pass
"""
# By what is wrong: the body of the class, the check that must see it, and part of what it says.
WRONG = {
    "does not wait": (FORGETFUL, "synchronize waits", "return only when all work"),
    "float64 is float32": (
        """
    def to_device(self, array, dtype):
        found = super().to_device(array, dtype)
        if dtype == "float64":
            found.data = found.data.astype("float32")
        return found
""",
        "dtypes are the real ones",
        "what to_device gives is float32, not float64",
    ),
    "spelt as the library does": (
        """
    def dtype_of(self, array):
        return f"fake.{super().dtype_of(array)}"
""",
        "dtypes are the real ones",
        "dtype_of in your class spells it 'float16'",
    ),
    "float64 through float32": (
        """
    def to_device(self, array, dtype):
        found = super().to_device(array, dtype)
        found.data = found.data.astype("float32").astype(array.dtype)
        return found
""",
        "dtypes are the real ones",
        "x + x in float64 is not exact",
    ),
    "downloads another dtype": (
        """
    def to_host(self, array):
        return super().to_host(array).astype("float64")
""",
        "dtypes are the real ones",
        "to_host gives float64 for float16",
    ),
    "no such dtype is an error": (
        """
    def dtype(self, name):
        return getattr(np, name) if name != "bfloat16" else super().dtype(name)
    def status_of(self, error):
        return getattr(error, "status", "error")
""",
        "a missing dtype is unsupported",
        "is taken for error (AttributeError",
    ),
    "any dtype": (
        """
    def dtype(self, name):
        return getattr(np, name, np.float32) if name != "bfloat16" else super().dtype(name)
""",
        "a missing dtype is unsupported",
        "raise Unsupported for what the library does not have",
    ),
    "results elsewhere": (
        """
    def device_of(self, array):
        return "cpu"
""",
        "results are on the device",
        "what to_device gives is on cpu, not on fake",
    ),
    "does not ask where": (
        """
    def to_device(self, array, dtype):
        found = super().to_device(array, dtype)
        found.device = "cpu"
        return found
""",
        "results are on the device",
        "device_of says fake of what to_device gives, the array itself cpu",
    ),
    "uploads an alias": (
        """
    def to_device(self, array, dtype):
        return fake.FakeArray(self, array)
""",
        "uploads do not alias",
        "x += 1 on the device changed the host's array",
    ),
    "uploads through one buffer": (
        """
    def to_device(self, array, dtype):
        self.buffers = getattr(self, "buffers", {})
        buffer = self.buffers.setdefault((array.shape, dtype), np.empty_like(array))
        buffer[...] = array
        return fake.FakeArray(self, buffer)
""",
        "uploads do not alias",
        "of two uploads the second changed the first",
    ),
    "downloads an alias": (
        """
    def to_host(self, array):
        self.work.join()
        return array.data
""",
        "downloads do not alias",
        "work on the device changed an array that had been downloaded",
    ),
    "downloads through one buffer": (
        """
    def to_host(self, array):
        self.work.join()
        self.buffers = getattr(self, "buffers", {})
        key = array.data.shape, array.data.dtype
        buffer = self.buffers.setdefault(key, np.empty_like(array.data))
        buffer[...] = array.data
        return buffer
""",
        "downloads do not alias",
        "of two downloads the second changed the first",
    ),
    "pins and fills nothing": (
        """
    def copy_to_host(self, array, out):
        pass
""",
        "pinned memory is filled",
        "copy_to_host of [1, 2, 3] gave [0.0, 0.0, 0.0]",
    ),
    "takes everything for unsupported": (
        """
    def status_of(self, error):
        return "unsupported"
""",
        "exceptions have their status",
        "status_of(MemoryError) is 'unsupported', not 'out_of_memory'",
    ),
    "knows no words for memory": (
        """
    def to_device(self, array, dtype):
        if array.nbytes > 1e12:
            raise RuntimeError("the pool is exhausted")
        return super().to_device(array, dtype)
""",
        "too large is out of memory",
        "is taken for error (RuntimeError: the pool is exhausted)",
    ),
    "facts without a column": (
        """
    def facts(self):
        return {"device": "Fake", "vendor": "us"}
""",
        "facts have columns",
        "facts() has vendor",
    ),
    "another device instead": (
        """
    def __init__(self, device, threads, options):
        super().__init__("fake", threads, options)
""",
        "a missing device is unavailable",
        "Backend('fake:999999') started",
    ),
    "a missing device is an error": (
        """
    def __init__(self, device, threads, options):
        if ":" in device:
            raise RuntimeError("invalid device ordinal")
        super().__init__(device, threads, options)
""",
        "a missing device is unavailable",
        "Backend('fake:999999') is error (RuntimeError: invalid device ordinal)",
    ),
    "sums wrongly": (
        """
    def to_host(self, array):
        return super().to_host(array) + 1
""",
        "sums are right",
        "[1, 3] + [2, 4] gave [4.0, 8.0]",
    ),
    "facts of its own": (
        """
    def facts(self):
        return {"device": "Fake", "machine": "another"}
""",
        "facts have columns",
        "facts() has machine; facts() may have device, device_uuid, driver, precision",
    ),
    "leaves the process": (
        """
    def to_device(self, array, dtype):
        raise SystemExit(0)
""",
        "sums are right",
        "SystemExit: 0 (mine.py, line 12); ",
    ),
    "no polar": (
        """
        self.xp.sin = lambda x: x
""",
        "small cells are ok",
        "polar mismatch: error",
    ),
}
