"""What the doctor says of the GPU: which one and how it is, or why there is none to compute on.

Facts in, lines out. The sentences that it looks for are those of torch 2.13 and of NVIDIA's driver,
from their sources and from reports; none of this has run on a GPU.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from crossover.doctor_lines import LOOK, OK, Line, gib

# The oldest driver for all of a CUDA release: docs.nvidia.com/deploy/cuda-compatibility, "Minor
# Version Compatibility", table 1.
OLDEST_DRIVER = {11: 450, 12: 525, 13: 580}
# torch 2.13 is also built for these (PYTORCH_RELEASES_CODE_CC in torch/cuda/__init__.py): the
# first has code for cards from 2014 to 2023, the second for those from 2018 on.
FOR_CUDA_12, FOR_CUDA_12_NEW, FOR_CUDA_13 = "cu126", "cu129", "cu130"
INDEX = "--index-url https://download.pytorch.org/whl"
BUSY_PERCENT = 10
RESTART = "kernel module and library of the driver are of two versions, as after an update: restart"
RESTART += " the machine (in a container: take one with an older CUDA)"
SMI_FAILS = "NVIDIA's program is here, but reaches no driver: restart the machine, or install the"
SMI_FAILS += " driver again"
# By what torch says.
CURES = {
    "unsupported display driver": RESTART,
    "forward compatibility was attempted": RESTART,
    "busy or unavailable": "another process has it for itself: 'nvidia-smi' shows who",
    "out of memory": "its memory is taken: 'nvidia-smi' shows by whom",
    "system not yet initialized": "start NVIDIA's Fabric Manager, which machines with NVSwitch"
    " need: 'sudo systemctl start nvidia-fabricmanager'",
    "invalid device ordinal": "there are fewer GPUs: they count from 0, cuda:1 is the second one",
    "unknown error": "restart the machine; after a suspend it is enough to reload a module: 'sudo"
    " modprobe -r nvidia_uvm && sudo modprobe nvidia_uvm'",
}


@dataclass(frozen=True)
class Card:
    """A GPU as nvidia-smi tells of it."""

    name: str
    total_bytes: int | None = None
    free_bytes: int | None = None
    busy_percent: float | None = None
    mig: bool = False


@dataclass(frozen=True)
class Gpu:
    """What is known without CUDA. `driver` is the kernel module's version; `loaded` the models that
    it shows, `on_bus` the makers of the cards on the PCI bus, with or without a driver."""

    loaded: str = ""
    driver: str = ""
    on_bus: tuple[str, ...] = ()
    nouveau: bool = False  # the free driver, which has no CUDA, holds an NVIDIA card
    openable: bool | None = None  # /dev/nvidiactl
    smi_says: str = ""  # where nvidia-smi failed
    cards: tuple[Card, ...] = ()
    slices: int = 0  # of MIG
    visible: str | None = None  # CUDA_VISIBLE_DEVICES
    torch: str = ""  # its version
    build: str = ""  # "CUDA 13.0", "ROCm 6.4", "CPU"; "" where it is not known
    watched: bool = False  # nvidia-ml-py is installed
    wsl: bool = False
    wsl_gpu: bool = False  # /dev/dxg
    container: bool = False

    @property
    def names(self) -> str:
        """How many of each model: '2 NVIDIA H100'."""
        names = [card.name for card in self.cards]
        counted = [f"{names.count(name)} {name}" for name in dict.fromkeys(names)]
        return ", ".join(counted) or self.loaded


def gpu_lines(
    gpu: Gpu,
    tried: Mapping[str, Mapping[str, Any]],
    wanted: bool,
    most: tuple[str, int] = ("", 0),
    cell_command: str = "make cell",
) -> list[Line]:
    """`tried` is what the probes of the backends on a GPU wrote; `wanted` whether the config has
    some; `most` names the cell that needs most bytes on a device; `cell_command` measures a cell,
    but for its backend's name."""
    found = gpu.names + (f", driver {gpu.driver}" if gpu.driver else "")
    if not wanted:
        words = f"{found.strip(', ')}: no backend of this config uses it"
        return [Line(OK, "GPU", words if found else "no backend of this config asks for one")]
    works = [probe for probe in tried.values() if probe.get("available")]
    program = [Line(LOOK, "nvidia-smi", gpu.smi_says, SMI_FAILS)] if gpu.smi_says else []
    if works:
        return _working(gpu, works[0], most) + program
    if not tried:
        return [Line(OK, "GPU", found.strip(", "))] * bool(found) + program
    name, probe = next(iter(tried.items()))
    reason = str(probe.get("reason", ""))
    found, advice = _why_not(gpu, reason)
    if advice == RESTART:
        program = []
    more = f"'nvidia-smi' should list it; '{cell_command} BACKEND={name}' shows the whole message"
    return [Line(LOOK, "GPU", found, advice or more), *program]


def _working(gpu: Gpu, probe: Mapping[str, Any], most: tuple[str, int]) -> list[Line]:
    asked = probe.get("machine_facts", {}).get("gpu", {})
    driver = probe.get("driver") or asked.get("driver") or gpu.driver
    words = [str(probe.get("device") or gpu.names)]
    if profile := asked.get("mig_profile"):
        words.append(f"a part of it (MIG {profile}): its times are not those of the whole GPU")
    words += [f"driver {driver}" if driver else "", _torch(gpu)]
    lines = [Line(OK, "GPU", ", ".join(filter(None, words)))]
    busy = [card for card in gpu.cards if (card.busy_percent or 0) > BUSY_PERCENT]
    if busy:
        advice = "wait until they are done ('nvidia-smi' shows who)"
        if len(busy) < len(gpu.cards):
            advice += ", or choose an idle one: CUDA_VISIBLE_DEVICES=<uuid from 'nvidia-smi -L'>"
        used = f"others use {len(busy)} of {len(gpu.cards)}, at {busy[0].busy_percent:.0f} %"
        lines.append(Line(LOOK, "GPU load", used, advice))
    free = [card.free_bytes for card in gpu.cards if card.free_bytes is not None]
    if free and not any(card.mig for card in gpu.cards):
        found = f"{gib(max(free))} free"
        if most[1] > max(free):
            found += f", the largest cell needs {gib(most[1])} ({most[0]})"
            advice = "leave that size out: it ends as out_of_memory, and the others are measured"
            lines.append(Line(LOOK, "GPU memory", found, advice))
        else:
            lines.append(Line(OK, "GPU memory", found))
    if not gpu.watched and not gpu.build.startswith("ROCm"):
        found = "nvidia-ml-py is not installed: nobody sees when others or its heat slow it down"
        advice = "'.venv/bin/pip install nvidia-ml-py' (optional)"
        lines.append(Line(LOOK, "GPU watch", found, advice))
    return lines


def _torch(gpu: Gpu) -> str:
    if not gpu.torch:
        return ""
    built = {"": "", "CPU": ", a build without CUDA"}.get(gpu.build, f" for {gpu.build}")
    return f"torch {gpu.torch}{built}"


def _why_not(gpu: Gpu, reason: str) -> tuple[str, str]:
    """What was found, and what to do, where that is known; the reason is torch's own."""
    there = gpu.names or ("an NVIDIA card" if gpu.driver or "NVIDIA" in gpu.on_bus else "")
    if "No module named" in reason:
        return f"{there or 'none seen'}: {reason}", "install the library: see packages above"
    if not there:
        return _none(gpu, reason)
    if gpu.build == "CPU":
        found = f"{there} is there, but torch {gpu.torch} is a build without CUDA"
        return found, (_load_driver(gpu) + "; then " if not gpu.driver else "") + _install(gpu)
    if "mismatch" in gpu.smi_says:
        return f"{there}: {gpu.smi_says}", RESTART
    if not (gpu.driver or gpu.cards):
        return f"{there} is there, but no NVIDIA driver is loaded", _load_driver(gpu)
    needed = OLDEST_DRIVER.get(_major(gpu.build.removeprefix("CUDA ")))
    if "too old" in reason or "insufficient" in reason or 0 < _major(gpu.driver) < (needed or 0):
        known = _known(reason)
        driver = gpu.driver or (f"for CUDA {known}" if known else "here")
        found = f"{there}: driver {driver} is too old for {_torch(gpu)}"
        return found + (f", which needs {needed} or newer" if needed else ""), _newer(gpu, known)
    if gpu.openable is False:
        found = f"{there}: its driver is loaded, but /dev/nvidiactl cannot be opened here"
        return found, _hand_over(gpu)
    sees_none = "No CUDA GPUs" in reason or "no CUDA-capable" in reason
    if sees_none and gpu.visible is not None:
        found = f"{there}: hidden by CUDA_VISIBLE_DEVICES={gpu.visible}"
        advice = "'unset CUDA_VISIBLE_DEVICES', or name one that 'nvidia-smi -L' lists (a Slurm job"
        return found, f"{advice} gets one by --gres=gpu:1)"
    if sees_none and any(card.mig for card in gpu.cards) and not gpu.slices:
        found = f"{there}: divided by MIG, and no part is made or given to you"
        return found, "ask its administrator for a part ('sudo nvidia-smi mig -cgi ... -C')"
    if "no kernel image" in reason:
        found = f"{there}: {_torch(gpu)} has no code for it"
        advice = f"a card from before 2018: {_pip(gpu, FOR_CUDA_12)}; a newer one: see "
        return found, f"{advice}https://pytorch.org/get-started/locally/"
    return f"{there}: {reason}", cure(reason)


def cure(reason: str) -> str:
    """By what torch says; '' where that is not known."""
    return next((CURES[words] for words in CURES if words in reason), "")


def _none(gpu: Gpu, reason: str) -> tuple[str, str]:
    """No NVIDIA card is seen by anyone."""
    no_cuda = f"; torch {gpu.torch} has no CUDA" if gpu.build == "CPU" else ""
    if gpu.wsl:
        found = "Windows shows it one, but CUDA does not start" if gpu.wsl_gpu else "none in WSL"
        advice = "install NVIDIA's driver in Windows, none in here, then 'wsl --update' there"
        if gpu.build == "CPU":
            return f"{found}{no_cuda}", f"{advice}; then {_install(gpu)}"
        return f"{found} ({reason})" if reason else found, advice
    if "AMD" in gpu.on_bus and not gpu.build.startswith("ROCm"):
        advice = "torch for AMD (ROCm) is a build of its own, see https://pytorch.org; nobody has "
        return f"an AMD card, no NVIDIA one{no_cuda}", f"{advice}tried it with Crossover"
    found = f"none: no NVIDIA driver is loaded and no NVIDIA card is seen{no_cuda}"
    advice = "as it should be on a machine without one: the other backends are measured"
    if gpu.container:
        advice += "; if the machine has one: " + _hand_over(gpu)
    return found, advice


def _load_driver(gpu: Gpu) -> str:
    if gpu.container:
        return _hand_over(gpu)
    advice = f"install NVIDIA's driver, {OLDEST_DRIVER[13]} or newer, and restart the machine"
    return advice + (" (nouveau, which holds the card now, has no CUDA)" if gpu.nouveau else "")


def _hand_over(gpu: Gpu) -> str:
    if gpu.container:
        return "start the container with it (docker run --gpus all, apptainer --nv)"
    return "you may not use it: ask the job for one (Slurm --gres=gpu:1) or its administrator"


def _newer(gpu: Gpu, known: str) -> str:
    """Of driver and torch, which may be changed."""
    where = " in Windows" if gpu.wsl else " on the machine itself" if gpu.container else ""
    advice = f"install a newer driver{where}"
    if _major(gpu.driver) >= OLDEST_DRIVER[12] or _major(known) >= 12:
        advice += f", or torch for CUDA 12: {_pip(gpu, FOR_CUDA_12)}"
        advice += f" (for a card from 2024 on {FOR_CUDA_12_NEW})"
    return advice


def _install(gpu: Gpu) -> str:
    driver = _major(gpu.driver)
    if 0 < driver < OLDEST_DRIVER[12]:
        return f"install driver {OLDEST_DRIVER[13]} or newer (here {gpu.driver}), then torch: " + (
            _pip(gpu, FOR_CUDA_13)
        )
    return _pip(gpu, FOR_CUDA_12 if 0 < driver < OLDEST_DRIVER[13] else FOR_CUDA_13)


def _pip(gpu: Gpu, build: str) -> str:
    version = gpu.torch.partition("+")[0]
    return f"'.venv/bin/pip install --force-reinstall torch=={version} {INDEX}/{build}'"


def _known(reason: str) -> str:
    """The newest CUDA that the driver knows, '' where torch does not say it: as 12040 for 12.4."""
    found = re.search(r"found version (\d+)\)", reason)
    return f"{int(found[1]) // 1000}.{int(found[1]) % 1000 // 10}" if found else ""


def _major(version: str) -> int:
    """0 where there is none."""
    first = version.partition(".")[0]
    return int(first) if first.isdigit() else 0
