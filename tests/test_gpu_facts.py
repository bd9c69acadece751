"""What NVML and nvidia-smi tell of a GPU: with fakes of both, since no test has a real one."""

import json
import re
from pathlib import Path

import pytest

from conftest import forget_nvml
from crossover import gpu, interference, job, nvml
from one_cell import measured, task

FAKES = Path(__file__).parent / "fake_nvml"
FIRST = {
    "name": "Fake H100",
    "uuid": "GPU-FAKE-1",
    "driver": "590.48.01",
    "power_limit_w": 700.0,
    "max_clock_mhz": 1980,
    "max_memory_clock_mhz": 2619,
}
SECOND = FIRST | {"name": "Fake A100", "uuid": "GPU-FAKE-2", "power_limit_w": 400.0}
SLICE = SECOND | {"uuid": "MIG-FAKE-3", "mig_profile": "1g.5gb"}


pytestmark = pytest.mark.usefixtures("no_gpu")


def test_without_either_nothing_is_known_and_nothing_fails():
    assert gpu.facts("FAKE-1") == {}
    assert nvml.signals("FAKE-1", 0.0) == {}


@pytest.mark.parametrize("uuid", ["FAKE-1", "GPU-FAKE-1"])  # torch says it without the kind
def test_the_lasting_facts(pynvml, uuid):
    assert gpu.facts(uuid) == FIRST


def test_a_gpu_is_found_by_its_uuid_and_not_by_its_place(pynvml):
    assert gpu.facts("FAKE-2") == SECOND | {"mig_profile": gpu.UNKNOWN_PROFILE}
    assert gpu.facts("FAKE-9") == {}


def test_a_slice_has_its_own_uuid_and_profile_and_the_clocks_of_its_gpu(pynvml, monkeypatch):
    assert gpu.facts("FAKE-3") == SLICE
    forget_nvml()  # where CUDA tells the uuid of the whole GPU instead
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "MIG-FAKE-3")
    assert gpu.facts("FAKE-2") == SLICE


def test_nothing_is_asked_for_a_host_backend(pynvml):
    assert gpu.facts("") == {}
    interference.Counters.now().since(interference.Counters.now())
    assert pynvml.init_calls == 0


FUNCTIONS = re.findall(r"^def (nvml(?!Init)\w+)", (FAKES / "pynvml.py").read_text(), re.MULTILINE)


@pytest.mark.parametrize("function", FUNCTIONS)
def test_every_answer_may_be_missing(pynvml, function):
    pynvml.broken.add(function)
    for uuid, whole in (("FAKE-1", FIRST), ("FAKE-3", SLICE)):
        found = gpu.facts(uuid)
        if found.get("mig_profile") == gpu.UNKNOWN_PROFILE:
            del found["mig_profile"]
        assert found.items() <= whole.items()
        assert nvml.signals(uuid, 0.0).keys() <= set(interference.SIGNALS)


def test_a_driver_that_is_not_there(pynvml):
    pynvml.broken.add("nvmlInit")
    assert gpu.facts("FAKE-1") == {} and nvml.signals("FAKE-1", 0.0) == {}


# --- nvidia-smi

LISTED = """\
GPU 0: Fake A100 (UUID: GPU-FAKE-2)
  MIG 2g.10gb     Device  0: (UUID: MIG-FAKE-4)
  MIG 1g.5gb      Device  1: (UUID: MIG-FAKE-3)
GPU 1: Fake H100 (UUID: GPU-FAKE-1)
"""
QUERIED = """\
GPU-FAKE-2, Fake A100, 590.48.01, Enabled, 400.00, 1980, 2619
GPU-FAKE-1, Fake H100, 590.48.01, [N/A], 700.00, 1980, 2619
"""


@pytest.fixture
def smi(tmp_path):
    """A program that answers the two questions; the function replaces its answers."""

    def write(listed=LISTED, queried=QUERIED, status=0):
        query = f"--query-gpu={','.join(gpu.QUERY)}"
        program = tmp_path / "nvidia-smi"
        program.write_text(
            f"#!/bin/sh\ncase $1 in\n-L) printf %s '{listed}';;\n"
            f"{query}) printf %s '{queried}';;\n*) exit 2;;\nesac\nexit {status}\n"
        )
        program.chmod(0o755)

    write()
    return write


@pytest.mark.whole
def test_the_program_knows_the_same(smi):
    assert gpu.facts("FAKE-1") == FIRST
    assert gpu.facts("FAKE-2") == SECOND | {"mig_profile": gpu.UNKNOWN_PROFILE}
    assert gpu.facts("MIG-FAKE-3") == SLICE
    assert gpu.facts("FAKE-9") == {}


@pytest.mark.whole
@pytest.mark.parametrize(
    "answers",
    [{"status": 9}, {"queried": ""}, {"queried": "No devices were found\n"}, {"listed": ""}],
    ids=str,
)
def test_a_program_that_fails_or_says_little(smi, answers):
    smi(**answers)
    assert gpu.facts("FAKE-1") in ({}, FIRST)


@pytest.mark.whole
def test_what_the_program_does_not_know_is_left_out(smi):
    smi(queried="GPU-FAKE-1, Fake H100, 590.48.01, [N/A], [N/A], [Not Supported], 2619\n")
    kept = ("name", "uuid", "driver", "max_memory_clock_mhz")
    assert gpu.facts("FAKE-1") == {name: FIRST[name] for name in kept}


# --- interference on the GPU


def test_the_signals_of_a_gpu(pynvml):
    before = interference.Counters.now("FAKE-1")
    signals = interference.Counters.now().since(before)
    wanted = {"gpu_reasons": 1, "gpu_others": 0, "gpu_clock_mhz": 1755}
    assert {name: signals[name] for name in wanted} == wanted


def test_the_signals_of_a_slice_are_those_of_its_gpu(pynvml):
    assert nvml.signals("FAKE-3", 1.0) == {"gpu_reasons": 1, "gpu_clock_mhz": 1410}


@pytest.mark.parametrize(
    ("reasons", "others", "disturbed"),
    [
        (0x0, 0, False),
        (0x1, 0, False),  # idle: asked when the work was done
        (0x2, 0, False),  # clocks that the user has set
        (0x4, 0, False),  # at its power limit, as under any full load
        (0x8, 0, True),  # slowed down by the hardware
        (0x20 | 0x1, 0, True),  # too hot
        (0x40, 0, True),
        (0x80, 0, True),
        (0x1, 5, False),  # a desktop's windows
        (0x1, 40, True),  # somebody computes there
    ],
)
def test_what_disturbs_a_gpu(pynvml, reasons, others, disturbed):
    pynvml.reasons, pynvml.others = reasons, others
    signals = nvml.signals("FAKE-1", 1.0)
    assert interference.disturbed({"timed_s": 1.0} | signals) is disturbed


def test_in_a_container_the_busiest_process_is_taken_for_us(pynvml, monkeypatch):
    monkeypatch.setattr(nvml.os, "getpid", lambda: 4711)
    pynvml.others = 30
    monkeypatch.setattr(pynvml.os, "getpid", lambda: 7)
    assert nvml.signals("FAKE-1", 1.0)["gpu_others"] == 30


@pytest.mark.whole
def test_probe_and_cell_ask_in_their_own_process(tmp_path, monkeypatch):
    """Through real processes: the probe's file has the facts, the cell's rows the signals."""
    monkeypatch.setenv("PYTHONPATH", str(FAKES))
    fake = {
        "backend": "fake",
        "backend_file": str(Path(__file__).parent / "fake_device.py"),
        "device": "fake",
    }
    made = task(tmp_path, **fake)
    job.probe(made, 60, tmp_path / "log")
    found = json.loads(Path(made["json"]).read_text())
    assert found["available"] and found["machine_facts"]["gpu"] == FIRST
    row = measured(tmp_path, **fake)
    assert row["status"] == "ok", row["reason"]
    last = Path(made["csv"]).read_text().splitlines()[-1]
    assert ",1,0,1755," in last  # gpu_reasons, gpu_others, gpu_clock_mhz
