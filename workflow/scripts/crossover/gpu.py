"""The lasting facts of one GPU, for the probe: from NVML, else from nvidia-smi, else none.

Every fact may be missing: older cards, drivers, WSL and MIG leave out some. Written from the
documentation of both, and run with fakes of both only, on no GPU.
"""

import re
import shutil
import subprocess
from typing import Any

from crossover import nvml
from crossover.status import own_words

QUERY = (
    *("uuid", "name", "driver_version", "mig.mode.current"),
    *("power.limit", "clocks.max.sm", "clocks.max.memory"),
)
UNKNOWN_PROFILE = "one of unknown profile"  # MIG is on, but the uuid is the whole GPU's


def facts(uuid: str) -> dict[str, Any]:
    """name, uuid, mig_profile, driver, power_limit_w, max_clock_mhz and max_memory_clock_mhz, those
    that can be read, of the GPU or MIG slice that CUDA knows by that uuid."""
    if not uuid:
        return {}
    found = _by_library(uuid) or _by_program(uuid)
    return {name: value for name, value in found.items() if value not in (None, "")}


def _by_library(uuid: str) -> dict[str, Any]:
    handle = nvml.device(uuid)
    if handle is None:
        return {}
    gpu = nvml.whole(handle)
    milliwatts = nvml.ask("nvmlDeviceGetEnforcedPowerLimit", gpu)
    modes = nvml.ask("nvmlDeviceGetMigMode", gpu) or [0]  # now, and after a restart
    # A slice is called 'NVIDIA A100-SXM4-40GB MIG 1g.5gb'.
    name, _, profile = (nvml.ask("nvmlDeviceGetName", handle) or "").partition(" MIG ")
    return {
        "name": name,
        "uuid": nvml.ask("nvmlDeviceGetUUID", handle),
        "mig_profile": profile or (UNKNOWN_PROFILE if modes[0] else ""),
        "driver": nvml.ask("nvmlSystemGetDriverVersion"),
        "power_limit_w": None if milliwatts is None else milliwatts / 1e3,
        "max_clock_mhz": nvml.ask("nvmlDeviceGetMaxClockInfo", gpu, nvml.SM),
        "max_memory_clock_mhz": nvml.ask("nvmlDeviceGetMaxClockInfo", gpu, nvml.MEMORY),
    }


def _by_program(uuid: str) -> dict[str, Any]:
    wanted = nvml.names(uuid)
    slice_uuid, profile, gpu = _slice(wanted)
    table = _smi(f"--query-gpu={','.join(QUERY)}", "--format=csv,noheader,nounits")
    for line in table.splitlines():
        values = [value.strip() for value in line.split(",")]
        if len(values) != len(QUERY) or values[0] not in (gpu, *wanted):
            continue
        found = dict(zip(QUERY, values, strict=True))
        mig = UNKNOWN_PROFILE if found["mig.mode.current"] == "Enabled" else ""
        return {
            "name": found["name"],
            "uuid": slice_uuid or found["uuid"],
            "mig_profile": profile or mig,
            "driver": found["driver_version"],
            "power_limit_w": number(found["power.limit"]),
            "max_clock_mhz": number(found["clocks.max.sm"]),
            "max_memory_clock_mhz": number(found["clocks.max.memory"]),
        }
    return {}


def _slice(wanted: list[str]) -> tuple[str, str, str]:
    """The uuid and profile of the MIG slice that is meant, and its GPU's uuid; '' without one."""
    gpu = ""
    for line in _smi("-L").splitlines():
        if found := re.match(r"GPU \d+: .*\(UUID: (GPU-[^)]+)\)", line):
            gpu = found[1]
        found = re.match(r"\s+MIG (\S+) .*\(UUID: (MIG-[^)]+)\)", line)
        if found and found[2] in wanted:
            return found[2], found[1], gpu
    return "", "", ""


def _smi(*arguments: str) -> str:
    """What nvidia-smi prints, '' where it is missing, fails or hangs."""
    answer, problem = ask_program(*arguments)
    return "" if problem else answer


def ask_program(*arguments: str, timeout_s: float = 20) -> tuple[str, str]:
    """What nvidia-smi prints, and what it says against itself; both '' where it is missing."""
    program = shutil.which("nvidia-smi")
    if program is None:
        return "", ""
    try:
        asked = subprocess.Popen(
            [program, *arguments],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            errors="replace",
        )
        answer, complaint = asked.communicate(timeout=timeout_s)
    except OSError as error:
        return "", f"cannot be run: {error.strerror}"
    except subprocess.TimeoutExpired:
        asked.kill()  # nobody waits for its end: a driver that hangs does not let it go
        return "", f"did not answer within {timeout_s:g} s"
    if not asked.returncode:
        return answer, ""
    words = own_words(answer + complaint or f"exit status {asked.returncode}")
    return answer, words


def number(text: str) -> float | None:
    """A figure of nvidia-smi, which says [N/A] in several ways."""
    try:
        return float(text)
    except ValueError:
        return None
