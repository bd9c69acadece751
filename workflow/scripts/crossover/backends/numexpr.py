"""NumExpr, on the host: whole expressions over NumPy's arrays, in blocks that stay in cache.

It is no namespace of functions on arrays, but a language for expressions of elements: a workload
runs on it only where it has a kernel below. From Python it knows int32, int64, float32, float64 and
complex128, and a constant of Python's own in an expression makes float32 double: constants are
given as numbers of the dtype.
"""

from math import pi

import numexpr
import numpy

from crossover.backends import Kernels

LIBRARIES = ("numexpr",)
DEVICES = ("cpu",)
OPTIONS = ()


def _add(a):
    return numexpr.evaluate("a + 1", {"a": a}, out=a)


def _polar(*, size, dtype):
    theta = numpy.linspace(0, 2 * pi, size, dtype=dtype)
    names = {"theta": theta, "k": dtype(0.75)}
    names["r"] = numexpr.evaluate("1 + k * sin(3 * theta)", names)  # once, for both
    x = numexpr.evaluate("r * cos(theta)", names)
    return x, numexpr.evaluate("r * sin(theta)", names)


def _sum(a):
    return numexpr.evaluate("sum(a)", {"a": a})  # on one thread, as all that it reduces


KERNELS = {"add": _add, "polar": _polar, "sum": _sum}


class Backend(Kernels):
    name, xp = "numexpr", numpy  # its arrays, and what is not an expression
    known = ("int32", "int64", "float32", "float64")
    kernels = KERNELS

    def __init__(self, device, threads, options):
        super().__init__(device, threads, options)
        # It refuses more than NUMEXPR_MAX_THREADS, which the job sets to what it was granted.
        numexpr.set_num_threads(min(threads, numexpr.MAX_THREADS))

    def effective_threads(self):
        return numexpr.get_num_threads()
