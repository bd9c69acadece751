"""JAX, on the CPU or a GPU, operation by operation or, with `options: {jit: true}`, compiled whole.

Written from JAX 0.10; a GPU was not seen. JAX hands work over and returns; to wait for it is asked
of an array (`block_until_ready`), never of a device, but the harness keeps no arrays. So on the CPU
every operation is run to its end before it returns; on a GPU, which works in order, synchronize
waits for one more small operation. Uploads are waited for where they are made.

Its arrays never change: what is in place elsewhere returns a new array here. Even an operation
alone is compiled for its shapes at its first call, which is where that time is counted: nothing is
kept on disk. 64-bit numbers are on, and float32 means float32 (a GPU would take TF32 by default).
"""

import os
from functools import partial
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy

from crossover import machine
from crossover.backends import Host
from crossover.status import OUT_OF_MEMORY, Unavailable, Unsupported, own_words

LIBRARIES = ("jax", "jaxlib")
DEVICES = ("cpu", "cuda")
OPTIONS = {"jit": (True, False)}

MEMORY_WORDS = ("RESOURCE_EXHAUSTED", "Out of memory")
POOL = "XLAEigen"  # in the name of every thread that computes on the CPU
TASKS = Path("/proc/self/task")
COMPILED = "/jax/core/compile/backend_compile_duration"  # what JAX calls it when it tells listeners


class Backend(Host):
    xp = jnp

    def __init__(self, device, threads, options):
        kind, _, index = device.partition(":")
        self.on_host = kind == "cpu"
        self.jit = bool(options.get("jit"))
        self.compiles = 0
        jax.monitoring.register_event_duration_secs_listener(self._told)
        os.environ["NPROC"] = str(threads)  # the one name for it that XLA's pool listens to
        os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")
        jax.config.update("jax_disable_jit", False)  # whatever the environment says, as below
        jax.config.update("jax_enable_x64", True)
        jax.config.update("jax_default_matmul_precision", "highest")
        jax.config.update("jax_enable_compilation_cache", False)
        jax.config.update("jax_cpu_enable_async_dispatch", False)
        if self.on_host:
            jax.config.update("jax_platforms", "cpu")  # or it would wake a GPU as well
        try:
            self.device = jax.devices(kind)[int(index or 0)]
            self.one = jax.device_put(numpy.ones(1, "float32"), self.device)
            self.more = jax.jit(lambda one: one + 1)
            self.synchronize()
        except IndexError:
            raise Unavailable(f"JAX sees no device {device}") from None
        except Exception as error:
            raise Unavailable(own_words(error)) from error
        jax.config.update("jax_default_device", self.device)

    def dtype(self, name):
        if not hasattr(jnp, name):
            raise Unsupported(f"jax has no dtype {name}")
        return jnp.dtype(name)

    def kernel(self, workload):
        return KERNELS.get(workload) if self.jit else None

    def compiled(self, compute):
        if not self.jit:
            return compute

        compiled = None  # the one function of this process: what is no array never changes

        def call(*arrays, **named):
            nonlocal compiled
            compiled = compiled or self._whole(compute, named)
            return compiled(*arrays)

        return call

    def _whole(self, compute, named):
        function = partial(compute, **named)
        if "random" not in named:
            return jax.jit(function)

        # Where random numbers go on from comes in and goes out, or it would be a constant inside.
        @jax.jit
        def whole(key, *arrays):
            self.key = key
            return function(*arrays), self.key

        def call(*arrays):
            found, self.key = whole(self.key, *arrays)
            return found

        return call

    def _told(self, event, *_, **__):
        self.compiles += event == COMPILED

    def compilations(self):
        return self.compiles

    def seed(self, seed):
        self.key = jax.device_put(jax.random.key(seed), self.device)

    def random(self, shape, dtype):
        self.key, now = jax.random.split(self.key)
        return jax.random.uniform(now, shape, dtype)

    def to_device(self, array, dtype):
        there = jax.device_put(array, self.device)
        if array.dtype.name != dtype:  # bfloat16 travels as float32, as NumPy has none
            there = there.astype(dtype)
        return there.block_until_ready()

    def to_host(self, array):
        if array.dtype == jnp.bfloat16:
            array = array.astype("float32")
        elif not self.on_host:
            # An array keeps what was once brought from it, and would hand that out again: this is
            # another one of the same memory, about 10 us of work.
            array = jax.make_array_from_single_device_arrays(array.shape, array.sharding, [array])
        return numpy.asarray(array)

    def read(self, array):
        if self.on_host:  # no copy; a slice would be compiled first
            return self.to_host(array.block_until_ready())
        return super().read(array)

    def synchronize(self):
        if not self.on_host:
            self.more(self.one).block_until_ready()

    def device_of(self, array):
        return str(next(iter(array.devices())))

    def effective_threads(self):
        if not self.on_host:
            return super().effective_threads()
        names = [machine.read(task / "comm") for task in TASKS.glob("*")]
        return len([name for name in names if POOL in name]) or None

    def facts(self):
        # In the words of torch, whose float32 is the same.
        precision = "ieee" if jax.config.jax_default_matmul_precision == "highest" else "lower"
        if self.on_host:
            return {"device": "cpu", "precision": precision}
        driver = machine.nvidia_driver()
        return {"device": self.device.device_kind, "driver": driver, "precision": precision}

    def _memory(self, name):
        return (self.device.memory_stats() or {}).get(name) if not self.on_host else None

    def device_memory(self):
        total, used = self._memory("bytes_limit"), self._memory("bytes_in_use")
        return None if total is None or used is None else (total - used, total)

    def device_peak_bytes(self):
        """Since the process began: JAX does not start counting anew."""
        return self._memory("peak_bytes_in_use")

    def status_of(self, error):
        if any(words in str(error) for words in MEMORY_WORDS):
            return OUT_OF_MEMORY
        return super().status_of(error)


@jax.jit
def _stencil(u):
    """Steps that are written one after the other are compiled one after the other: for minutes."""
    from crossover.workloads.stencil import STEPS

    def step(_, u):
        around = jnp.roll(u, 1, 0) + jnp.roll(u, -1, 0) + jnp.roll(u, 1, 1) + jnp.roll(u, -1, 1)
        return 0.5 * u + 0.125 * around

    return jax.lax.fori_loop(0, STEPS, step, u)


KERNELS = {"stencil": _stencil}
