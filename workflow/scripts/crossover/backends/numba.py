"""Numba, on the host: loops in Python, compiled for the dtypes of their first call, on all threads.

It is no namespace of functions on arrays: a workload runs on it only where it has a kernel below,
one loop that keeps nothing between an input and an output. What compiling takes is in the first
call of every process: nothing is kept on disk (`cache=True`), or it would depend on the last run.
"""

from math import cos, pi, sin

import numba
import numpy
from numba.core.dispatcher import Dispatcher

from crossover.backends import Kernels

LIBRARIES = ("numba", "llvmlite")
DEVICES = ("cpu",)
OPTIONS = ()


@numba.njit(parallel=True)
def _add_one(a):
    for i in numba.prange(a.size):
        a[i] += a.dtype.type(1)


def _add(a):
    _add_one(a)
    return a


@numba.njit(parallel=True)
def _curve(x, y, step):
    number = x.dtype.type
    for i in numba.prange(x.size):
        theta = number(i * step)
        r = number(1) + number(0.75) * sin(number(3) * theta)
        x[i] = r * cos(theta)
        y[i] = r * sin(theta)


def _polar(*, size, dtype):
    x, y = numpy.empty(size, dtype), numpy.empty(size, dtype)
    _curve(x, y, 2 * pi / max(size - 1, 1))
    return x, y


# Additions may be put in another order, or a loop could not use the processor's wide registers.
@numba.njit(parallel=True, fastmath={"reassoc", "nsz"})
def _total(a):
    total = a.dtype.type(0)
    for i in numba.prange(a.size):
        total += a[i]
    return total


def _sum(a, *, dtype):
    return dtype(_total(a))


@numba.njit(parallel=True)
def _gather(a, index):
    found = numpy.empty(index.size, a.dtype)
    for i in numba.prange(index.size):
        found[i] = a[index[i]]
    return found


@numba.njit(parallel=True)
def _products(a, b):
    c = numpy.empty(a.shape, a.dtype)
    for m in numba.prange(len(a)):
        for i in range(a.shape[1]):
            for j in range(b.shape[2]):
                total = a.dtype.type(0)
                for k in range(a.shape[2]):
                    total += a[m, i, k] * b[m, k, j]
                c[m, i, j] = total
    return c


@numba.njit(parallel=True)
def _steps(u, steps):
    n, number = len(u), u.dtype.type
    spare = numpy.empty_like(u), numpy.empty_like(u)
    for step in range(steps):
        new = spare[step % 2]
        for i in numba.prange(n):
            up, down = u[i - 1], u[i + 1 if i < n - 1 else 0]
            for j in range(n):
                right = u[i, j + 1 if j < n - 1 else 0]
                around = up[j] + down[j] + u[i, j - 1] + right
                new[i, j] = number(0.5) * u[i, j] + number(0.125) * around
        u = new
    return u


def _stencil(u):
    from crossover.workloads.stencil import STEPS

    return _steps(u, STEPS)


@numba.njit(parallel=True)
def _inside(points, number):
    count = 0
    for _ in numba.prange(points):
        x, y = number(numpy.random.random()), number(numpy.random.random())
        count += x * x + y * y < 1
    return count


def _monte_carlo(*, size, dtype):
    """By the generators that Numba has for each thread, of float64 alone: in every process other
    numbers."""
    return dtype(4 * _inside(size, dtype) / size)


KERNELS = {
    "add": _add,
    "polar": _polar,
    "sum": _sum,
    "gather": _gather,
    "small_matmuls": _products,
    "stencil": _stencil,
    "monte_carlo": _monte_carlo,
}


class Backend(Kernels):
    name, xp = "numba", numpy  # its arrays, and what is not a loop
    known = ("int32", "int64", "float32", "float64", "complex64")
    kernels = KERNELS

    def __init__(self, device, threads, options):
        super().__init__(device, threads, options)
        # It refuses more than NUMBA_NUM_THREADS, which the job sets to what it was granted.
        numba.set_num_threads(min(threads, numba.config.NUMBA_NUM_THREADS))

    def compilations(self):
        """Of all loops above, each once for the dtypes that it was called with."""
        loops = [loop for loop in globals().values() if isinstance(loop, Dispatcher)]
        return len([types for loop in loops for types in loop.signatures])

    def effective_threads(self):
        return numba.get_num_threads()
