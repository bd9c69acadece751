"""What nvidia-ml-py answers, of two GPUs of which the second has a MIG slice: the names and the
types are those of its version 13, the values made up. `broken` has the functions that fail."""

import os
import time
from types import SimpleNamespace

broken: set[str] = set()
init_calls = 0
others = 0  # per cent of the first GPU that another process uses
reasons = 0x1
energy_mj = [5_000_000]  # what the counter shows, reading by reading; the last one stays
energy_reads = 0
FIRST, SECOND, SLICE = "GPU-FAKE-1", "GPU-FAKE-2", "MIG-FAKE-3"
NAMES = {
    FIRST: "Fake H100",
    SECOND: "Fake A100",
    SLICE: "Fake A100 MIG 1g.5gb",
}


class NVMLError(Exception):
    pass


def _fails_if_broken(function):
    def answer(*arguments):
        if function.__name__ in broken:
            raise NVMLError("Not Supported")
        return function(*arguments)

    return answer


@_fails_if_broken
def nvmlInit():
    global init_calls
    init_calls += 1


@_fails_if_broken
def nvmlSystemGetDriverVersion():
    return b"590.48.01"  # as bytes in old versions


@_fails_if_broken
def nvmlDeviceGetHandleByUUID(uuid):
    if uuid not in NAMES:
        raise NVMLError("Not Found")
    return uuid


@_fails_if_broken
def nvmlDeviceIsMigDeviceHandle(handle):
    return SimpleNamespace(value=int(handle == SLICE))  # a ctypes number


@_fails_if_broken
def nvmlDeviceGetDeviceHandleFromMigDeviceHandle(handle):
    return SECOND


@_fails_if_broken
def nvmlDeviceGetName(handle):
    return NAMES[handle]


@_fails_if_broken
def nvmlDeviceGetUUID(handle):
    return handle


@_fails_if_broken
def nvmlDeviceGetMigMode(handle):
    return [int(handle == SECOND), int(handle == SECOND)]


@_fails_if_broken
def nvmlDeviceGetEnforcedPowerLimit(handle):
    return {FIRST: 700_000, SECOND: 400_000}[handle]


@_fails_if_broken
def nvmlDeviceGetMaxClockInfo(handle, kind):
    return {1: 1980, 2: 2619}[kind]


@_fails_if_broken
def nvmlDeviceGetClockInfo(handle, kind):
    return {FIRST: {1: 1755}, SECOND: {1: 1410}}[handle][kind]


@_fails_if_broken
def nvmlDeviceGetCurrentClocksEventReasons(handle):
    return reasons


@_fails_if_broken
def nvmlDeviceGetTotalEnergyConsumption(handle):
    global energy_reads
    energy_reads += 1
    return energy_mj.pop(0) if len(energy_mj) > 1 else energy_mj[0]


@_fails_if_broken
def nvmlDeviceGetProcessUtilization(handle, since):
    now = int(time.time() * 1e6)
    samples = [
        SimpleNamespace(pid=os.getpid(), timeStamp=now, smUtil=60),
        SimpleNamespace(pid=1, timeStamp=now, smUtil=others),
        SimpleNamespace(pid=1, timeStamp=since - 1, smUtil=99),  # before we began
    ]
    if handle == SLICE:
        raise NVMLError("Not Supported")
    return samples
