"""NumPy, on the host."""

import numpy

from crossover.backends import Host

LIBRARIES = ("numpy",)
DEVICES = ("cpu",)
OPTIONS = ()


class Backend(Host):
    xp = numpy
