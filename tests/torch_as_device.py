"""The torch backend with a stub for torch.cuda: the tensors stay on the CPU."""

import time
from types import SimpleNamespace

import torch

from crossover import plugin

LIBRARIES = ("torch",)
DEVICES = ("cpu",)


class Module:
    """What the backend asks of torch.cuda, torch.mps or torch.xpu."""

    synchronized = 0

    class Event:
        """In milliseconds, as torch's."""

        def __init__(self, enable_timing):
            assert enable_timing

        def record(self):
            self.at = time.perf_counter()

        def elapsed_time(self, other):
            return (other.at - self.at) * 1e3

    def synchronize(self):
        self.synchronized += 1

    def get_device_properties(self, device):
        return SimpleNamespace(name="Stub GPU", uuid=123)


class Backend(plugin.load(plugin.builtin("backends")["torch"]).Backend):
    def __init__(self, device, threads, options):
        super().__init__(device, threads, options)
        self.on_host = False
        self.module = Module()

    def to_device(self, array, dtype):
        return super().to_device(array, dtype).clone()

    def to_host(self, array):
        return super().to_host(array).copy()

    def device_of(self, array):
        assert isinstance(array, torch.Tensor)
        return super().device_of(array)
