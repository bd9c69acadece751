"""What the doctor says of GPUs that are not here: made-up facts, read as its lines."""

import re
from dataclasses import replace
from importlib import metadata
from pathlib import Path

import pytest

from crossover import doctor, doctor_gpu
from crossover.doctor_gpu import Card, Gpu
from crossover.doctor_lines import LOOK, OK, STOP, Line
from made_up_machine import CUDA, GIB, H100, NUMPY, WELL

NO_CUDA = "Torch not compiled with CUDA enabled"
NO_DRIVER = "Found no NVIDIA driver on your system. Please check that you have an NVIDIA GPU"
NONE_SEEN = "No CUDA GPUs are available"
TOO_OLD = "The NVIDIA driver on your system is too old (found version 12040). Please update"
BARE = Gpu(torch="2.13.0", build="CUDA 13.0")  # a machine without any
WHOLE = WELL.gpu
PIP = "'.venv/bin/pip install --force-reinstall torch==2.13.0 --index-url "
PIP += "https://download.pytorch.org/whl/"
NO_NEED = "as it should be on a machine without one: the other backends are measured"
RUN = "start the container with it (docker run --gpus all, apptainer --nv)"
OLD = {"driver": "550.54.15"}


def said(gpu: Gpu, reason: str) -> Line:
    """The line about the GPU where torch gives that reason; the backend's own line has it, too."""
    probe = {"available": False, "status": "unavailable", "reason": reason}
    facts = replace(WELL, gpu=gpu, probes={"numpy": NUMPY, "torch_cuda": probe})
    lines = doctor.lines(facts)
    (line,) = [line for line in lines if line.topic.startswith("GPU")]
    assert lines[-1].found == f"unavailable: {reason}" and lines[-1].mark == LOOK
    above = "see GPU above; its cells will say the same, and the other backends are measured"
    assert lines[-1].advice == above or "No module" in reason
    assert STOP not in {line.mark for line in lines}
    assert line.mark == LOOK
    return line


@pytest.mark.parametrize(
    ("gpu", "reason", "found", "advice"),
    [
        (
            BARE,
            NO_DRIVER,
            "none: no NVIDIA driver is loaded and no NVIDIA card is seen",
            NO_NEED,
        ),
        (
            replace(BARE, torch="2.13.0+cpu", build="CPU"),
            NO_CUDA,
            "none: no NVIDIA driver is loaded and no NVIDIA card is seen; torch 2.13.0+cpu has no "
            "CUDA",
            NO_NEED,
        ),
        (
            replace(BARE, container=True),
            NO_DRIVER,
            "none: no NVIDIA driver is loaded and no NVIDIA card is seen",
            f"{NO_NEED}; if the machine has one: {RUN}",
        ),
        (
            replace(WHOLE, torch="2.13.0+cpu", build="CPU"),
            NO_CUDA,
            "1 NVIDIA H100 is there, but torch 2.13.0+cpu is a build without CUDA",
            f"{PIP}cu130'",
        ),
        (
            replace(WHOLE, torch="2.13.0+cpu", build="CPU", **OLD),
            NO_CUDA,
            "1 NVIDIA H100 is there, but torch 2.13.0+cpu is a build without CUDA",
            f"{PIP}cu126'",
        ),
        (
            replace(WHOLE, torch="2.13.0+cpu", build="CPU", driver="470.1"),
            NO_CUDA,
            "1 NVIDIA H100 is there, but torch 2.13.0+cpu is a build without CUDA",
            f"install driver 580 or newer (here 470.1), then torch: {PIP}cu130'",
        ),
        (
            replace(BARE, on_bus=("NVIDIA",), nouveau=True),
            NO_DRIVER,
            "an NVIDIA card is there, but no NVIDIA driver is loaded",
            "install NVIDIA's driver, 580 or newer, and restart the machine (nouveau, which holds "
            "the card now, has no CUDA)",
        ),
        (
            replace(BARE, on_bus=("NVIDIA",), container=True),
            NO_DRIVER,
            "an NVIDIA card is there, but no NVIDIA driver is loaded",
            RUN,
        ),
        (
            replace(BARE, on_bus=("NVIDIA",), torch="2.13.0+cpu", build="CPU"),
            NO_CUDA,
            "an NVIDIA card is there, but torch 2.13.0+cpu is a build without CUDA",
            f"install NVIDIA's driver, 580 or newer, and restart the machine; then {PIP}cu130'",
        ),
        (
            replace(WHOLE, **OLD),
            TOO_OLD,
            "1 NVIDIA H100: driver 550.54.15 is too old for torch 2.13.0 for CUDA 13.0, which "
            "needs 580 or newer",
            f"install a newer driver, or torch for CUDA 12: {PIP}cu126' (for a card from 2024 on "
            "cu129)",
        ),
        (  # the same, where torch says something else
            replace(WHOLE, **OLD),
            "CUDA error: unheard of",
            "1 NVIDIA H100: driver 550.54.15 is too old for torch 2.13.0 for CUDA 13.0, which "
            "needs 580 or newer",
            f"install a newer driver, or torch for CUDA 12: {PIP}cu126' (for a card from 2024 on "
            "cu129)",
        ),
        (  # the same, where only torch knows it
            replace(WHOLE, driver="", container=True),
            TOO_OLD,
            "1 NVIDIA H100: driver for CUDA 12.4 is too old for torch 2.13.0 for CUDA 13.0, which "
            "needs 580 or newer",
            f"install a newer driver on the machine itself, or torch for CUDA 12: {PIP}cu126' (for "
            "a card from 2024 on cu129)",
        ),
        (
            replace(WHOLE, driver="470.1", wsl=True),
            "CUDA driver version is insufficient for CUDA runtime version",
            "1 NVIDIA H100: driver 470.1 is too old for torch 2.13.0 for CUDA 13.0, which needs "
            "580 or newer",
            "install a newer driver in Windows",
        ),
        (
            replace(WHOLE, visible=""),
            NONE_SEEN,
            "1 NVIDIA H100: hidden by CUDA_VISIBLE_DEVICES=",
            "'unset CUDA_VISIBLE_DEVICES', or name one that 'nvidia-smi -L' lists (a Slurm job "
            "gets one by --gres=gpu:1)",
        ),
        (
            replace(WHOLE, cards=(replace(H100, mig=True),)),
            NONE_SEEN,
            "1 NVIDIA H100: divided by MIG, and no part is made or given to you",
            "ask its administrator for a part ('sudo nvidia-smi mig -cgi ... -C')",
        ),
        (
            replace(
                WHOLE,
                cards=(),
                smi_says="Failed to initialize NVML: Driver/library version mismatch",
            ),
            NONE_SEEN,
            "1 NVIDIA H100: Failed to initialize NVML: Driver/library version mismatch",
            "kernel module and library of the driver are of two versions, as after an update: "
            "restart the machine (in a container: take one with an older CUDA)",
        ),
        (  # one that is divided, and gave its parts
            replace(WHOLE, cards=(replace(H100, mig=True),), slices=1),
            NONE_SEEN,
            f"1 NVIDIA H100: {NONE_SEEN}",
            "'nvidia-smi' should list it; 'make cell WORKLOAD=add SIZE=1000 BACKEND=torch_cuda' "
            "shows the whole message",
        ),
        (
            replace(WHOLE, cards=(), openable=False),
            NO_DRIVER,
            "1 NVIDIA H100: its driver is loaded, but /dev/nvidiactl cannot be opened here",
            "you may not use it: ask the job for one (Slurm --gres=gpu:1) or its administrator",
        ),
        (
            replace(WHOLE, cards=(), openable=False, container=True),
            NO_DRIVER,
            "1 NVIDIA H100: its driver is loaded, but /dev/nvidiactl cannot be opened here",
            RUN,
        ),
        (
            replace(WHOLE, cards=(Card("Tesla P100"), Card("Tesla P100"))),
            "CUDA error: no kernel image is available for execution on the device",
            "2 Tesla P100: torch 2.13.0 for CUDA 13.0 has no code for it",
            f"a card from before 2018: {PIP}cu126'; a newer one: see "
            "https://pytorch.org/get-started/locally/",
        ),
        (
            WHOLE,
            "CUDA error: out of memory",
            "1 NVIDIA H100: CUDA error: out of memory",
            "its memory is taken: 'nvidia-smi' shows by whom",
        ),
        (
            WHOLE,
            "CUDA error: something new",
            "1 NVIDIA H100: CUDA error: something new",
            "'nvidia-smi' should list it; 'make cell WORKLOAD=add SIZE=1000 BACKEND=torch_cuda' "
            "shows the whole message",
        ),
        (
            replace(BARE, wsl=True),
            NO_DRIVER,
            f"none in WSL ({NO_DRIVER})",
            "install NVIDIA's driver in Windows, none in here, then 'wsl --update' there",
        ),
        (
            replace(BARE, wsl=True, wsl_gpu=True, build="CPU"),
            NO_CUDA,
            "Windows shows it one, but CUDA does not start; torch 2.13.0 has no CUDA",
            "install NVIDIA's driver in Windows, none in here, then 'wsl --update' there; then "
            f"{PIP}cu130'",
        ),
        (
            replace(BARE, on_bus=("AMD",)),
            NO_DRIVER,
            "an AMD card, no NVIDIA one",
            "torch for AMD (ROCm) is a build of its own, see https://pytorch.org; nobody has tried "
            "it with Crossover",
        ),
        (
            replace(WHOLE, torch="", build=""),
            "No module named 'torch'",
            "1 NVIDIA H100: No module named 'torch'",
            "install the library: see packages above",
        ),
    ],
)
def test_why_there_is_no_gpu_to_compute_on(gpu, reason, found, advice):
    assert said(gpu, reason) == Line(LOOK, "GPU", found, advice)


@pytest.mark.parametrize("words", doctor_gpu.CURES)
def test_each_sentence_that_is_known_has_its_cure(words):
    assert said(WHOLE, f"Error 9: {words} now").advice == doctor_gpu.CURES[words]


def on(gpu: Gpu = WHOLE, **probe) -> list[Line]:
    """The lines about a GPU that works."""
    facts = replace(WELL, gpu=gpu, probes={"numpy": NUMPY, "torch_cuda": CUDA | probe})
    return [line for line in doctor.lines(facts) if line.topic.startswith("GPU")]


def test_a_part_of_a_gpu_is_called_so():
    facts = {"gpu": {"mig_profile": "1g.5gb", "driver": "590.48.01"}}
    gpu = replace(WHOLE, cards=(replace(H100, mig=True),), slices=2)
    assert on(gpu, machine_facts=facts) == [
        Line(
            OK,
            "GPU",
            "NVIDIA H100, a part of it (MIG 1g.5gb): its times are not those of the whole GPU, "
            "driver 590.48.01, torch 2.13.0 for CUDA 13.0",
        )
    ]


def test_the_driver_is_said_by_whoever_knows_it():
    facts = {"gpu": {"driver": "591.1"}}
    assert ", driver 590.48.01, " in on()[0].found
    assert ", driver 591.1, " in on(driver="", machine_facts=facts)[0].found
    assert ", driver 590.48.01, " in on(driver="")[0].found


def test_a_gpu_that_others_use():
    busy = replace(H100, busy_percent=97.0, free_bytes=GIB // 2)
    wait = "wait until they are done ('nvidia-smi' shows who)"
    _, load, memory = on(replace(WHOLE, cards=(busy,)))
    assert load == Line(LOOK, "GPU load", "others use 1 of 1, at 97 %", wait)
    assert memory == Line(
        LOOK,
        "GPU memory",
        "512 MiB free, the largest cell needs 1.0 GiB (add float64, n=1,000)",
        "leave that size out: it ends as out_of_memory, and the others are measured",
    )
    _, load, memory = on(replace(WHOLE, cards=(busy, H100)))
    choose = f"{wait}, or choose an idle one: CUDA_VISIBLE_DEVICES=<uuid from 'nvidia-smi -L'>"
    assert load == Line(LOOK, "GPU load", "others use 1 of 2, at 97 %", choose)
    assert memory == Line(OK, "GPU memory", "79.0 GiB free")


def test_a_gpu_that_nobody_watches():
    assert on(replace(WHOLE, watched=False))[-1] == Line(
        LOOK,
        "GPU watch",
        "nvidia-ml-py is not installed: nobody sees when others or its heat slow it down",
        "'.venv/bin/pip install nvidia-ml-py' (optional)",
    )


@pytest.mark.parametrize("probe", [CUDA, {"available": False, "reason": NO_DRIVER}], ids=str)
def test_a_program_that_fails_is_quoted(probe):
    gpu = replace(WHOLE, cards=(), smi_says="did not answer within 10 s")
    facts = replace(WELL, gpu=gpu, probes={"numpy": NUMPY, "torch_cuda": probe})
    (line,) = [line for line in doctor.lines(facts) if line.topic == "nvidia-smi"]
    assert line == Line(LOOK, "nvidia-smi", "did not answer within 10 s", doctor_gpu.SMI_FAILS)


def test_one_of_several_devices_is_not_there():
    """Its own line says what is meant by its number."""
    reason = "CUDA error: invalid device ordinal"
    second = {"available": False, "status": "unavailable", "reason": reason}
    facts = replace(
        WELL, on_gpu=("torch_cuda", "two"), probes={"torch_cuda": CUDA, "two": second}, baseline=""
    )
    lines = doctor.backend_lines(facts)
    assert lines[0].mark == OK
    advice = doctor_gpu.CURES["invalid device ordinal"]
    assert lines[-1] == Line(LOOK, "two", f"unavailable: {reason}", advice)


@pytest.mark.parametrize(
    ("gpu", "words"),
    [
        (WHOLE, "1 NVIDIA H100, driver 590.48.01: no backend of this config uses it"),
        (BARE, "no backend of this config asks for one"),
    ],
)
def test_a_config_that_needs_none(gpu, words):
    facts = replace(WELL, gpu=gpu, on_gpu=(), probes={"numpy": NUMPY})
    assert [line for line in doctor.lines(facts) if "GPU" in line.topic] == [Line(OK, "GPU", words)]


def test_a_gpu_that_was_not_tried_is_named_all_the_same():
    probes = {"torch_cuda": {"available": False, "status": doctor.NOT_TRIED}}
    first, second = doctor.backend_lines(replace(WELL, probes=probes))
    assert first == Line(OK, "GPU", "1 NVIDIA H100, driver 590.48.01")
    assert second.found == doctor.NOT_TRIED
    gpu = replace(BARE, smi_says="did not answer within 10 s")
    first, _ = doctor.backend_lines(replace(WELL, probes=probes, gpu=gpu))
    assert first.topic == "nvidia-smi"


def test_the_builds_that_are_advised_are_made():
    """As torch itself lists them, in the version that is pinned."""
    version = metadata.version("torch")
    assert version.startswith("2.13."), "is the advice for another version of torch still true?"
    source = Path(metadata.distribution("torch").locate_file("torch/cuda/__init__.py")).read_text()
    table = source[source.index("PYTORCH_RELEASES_CODE_CC") :]
    made = {f"cu{number.replace('.', '')}" for number in re.findall(r'"(\d+\.\d)": {', table)}
    assert {
        doctor_gpu.FOR_CUDA_12,
        doctor_gpu.FOR_CUDA_12_NEW,
        doctor_gpu.FOR_CUDA_13,
    } <= made
