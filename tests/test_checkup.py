"""What the doctor looks at: read where it is, left out where it is not; and the command itself."""

import fcntl
import re
import shutil
import subprocess
import sys
from threading import Timer

import pytest

from conftest import ROOT, copy_to
from crossover import checkup, doctor, machine, turn
from crossover import config as configs
from crossover.doctor import NOT_TRIED, Facts
from crossover.doctor_gpu import Card
from crossover.doctor_lines import STOP, text
from one_cell import measured
from processes import private_lock

CONFIG = {
    "workloads": {
        "add": {"sizes": [1000], "dtypes": ["float64"]},
        "polar": {"sizes": [10**15], "dtypes": ["float32"]},
    },
    "backends": {"numpy": {}},
    "rounds": 2,
    "timeout_s": 60,
}


def config(tmp_path, **changes):
    return configs.read(CONFIG | changes, tmp_path)


@pytest.fixture
def smi(tmp_path, monkeypatch):
    """The only program on PATH; the function says what it prints, and how it ends."""
    monkeypatch.setenv("PATH", str(tmp_path))

    def write(queried="", listed="", status=0, before=""):
        program = tmp_path / "nvidia-smi"
        program.write_text(
            f"#!/bin/sh\n{before}\ncase $1 in\n-L) printf %s '{listed}';;\n"
            f"*) printf %s '{queried}';;\nesac\nexit {status}\n"
        )
        program.chmod(0o755)

    return write


# --- facts


def test_without_nvidia_smi_nothing_is_known(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert checkup._smi() == ((), "", "", 0)


@pytest.mark.whole
def test_what_nvidia_smi_lists(smi):
    smi("NVIDIA A100, 590.48.01, 40960, 40000, 3, Enabled\nNVIDIA T4, 590.48.01, [N/A], , x, [N/A]")
    first = Card("NVIDIA A100", 40960 << 20, 40000 << 20, 3.0, mig=True)
    assert checkup._smi() == ((first, Card("NVIDIA T4")), "590.48.01", "", 0)
    smi("A, 1, 2, 1, 0, Enabled", "GPU 0: A (UUID: GPU-1)\n  MIG 1g.5gb  Device 0: (UUID: MIG-2)\n")
    assert checkup._smi()[3] == 1


@pytest.mark.whole
@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (
            {"queried": "Failed to initialize NVML: Driver/library version mismatch", "status": 18},
            "Failed to initialize NVML: Driver/library version mismatch",
        ),
        ({"status": 9}, "exit status 9"),
        ({"queried": "No devices were found"}, ""),
        ({"before": "exec /bin/sleep 60"}, "did not answer within 0.2 s"),
    ],
)
def test_a_program_that_fails_or_hangs(smi, monkeypatch, answer, problem):
    monkeypatch.setattr(checkup, "SMI_S", 0.2)
    smi(**answer)
    assert checkup._smi() == ((), "", problem, 0)


def test_cards_on_the_bus(tmp_path, monkeypatch):
    monkeypatch.setattr(checkup, "PCI", tmp_path)
    devices = {
        "a": ("0x10de", "0x030000", "nouveau"),
        "b": ("0x10de", "0x040300", "snd"),  # the same card's sound
        "c": ("0x1002", "0x038000", None),
        "d": ("0x8086", "0x030000", "i915"),
    }
    for name, (vendor, kind, driver) in devices.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "vendor").write_text(f"{vendor}\n")
        (tmp_path / name / "class").write_text(f"{kind}\n")
        if driver:
            (tmp_path / name / "driver").symlink_to(f"../../drivers/{driver}")
    assert checkup._on_bus() == [("NVIDIA", "nouveau"), ("AMD", "")]


@pytest.mark.parametrize(
    ("text", "build"),
    [
        ("cuda: Optional[str] = '13.0'\nhip: Optional[str] = None\n", "CUDA 13.0"),
        ("cuda: Optional[str] = None\nhip: Optional[str] = '6.4.43482'\n", "ROCm 6.4.43482"),
        ("cuda: Optional[str] = None\nhip: Optional[str] = None\n", "CPU"),
        ("", ""),
    ],
)
def test_what_torch_is_built_for(tmp_path, monkeypatch, text, build):
    (tmp_path / "torch").mkdir()
    (tmp_path / "torch/version.py").write_text(text)

    class Fake:
        locate_file = staticmethod(lambda name: tmp_path / name)

    monkeypatch.setattr(checkup.metadata, "distribution", lambda name: Fake)
    monkeypatch.setattr(checkup.job, "installed", lambda name: "2.13.0")
    assert checkup._torch() == ("2.13.0", build)


def test_the_torch_that_is_here():
    version, build = checkup._torch()
    assert version == checkup.job.installed("torch")
    assert build == "CPU" if version.endswith("+cpu") else re.match(r"CPU|CUDA \d", build)


def test_packages_that_do_not_fit(tmp_path, monkeypatch):
    path = tmp_path / "requirements.txt"
    path.write_text("# note\n-r other.txt\nnumpy>=99,<100 # new\nno-such-package==1\npytest>=1\n")
    monkeypatch.setattr(checkup, "REQUIREMENTS", path)
    wrong, count = checkup._packages()
    assert count == 3 and wrong.keys() == {"numpy", "no-such-package"}
    assert wrong["numpy"][1] == "<100,>=99" and wrong["no-such-package"] == ("", "==1")


def test_our_own_packages_fit(monkeypatch):
    wrong, count = checkup._packages()
    assert checkup.REQUIREMENTS == ROOT / "requirements.txt"
    assert count > 5 and not wrong


@pytest.mark.whole
def test_bytes_are_those_that_a_job_asks_for(tmp_path):
    """A cell that cannot fit says how much it needs; so does the doctor, before."""
    needs, no_cost, kept = checkup._cells(config(tmp_path))
    reason = measured(tmp_path, workload="polar", dtype="float32", size=10**15)["reason"]
    asked = int(re.search(r"needs ([\d,]+) bytes", reason)[1].replace(",", ""))
    assert {need.words: need.host_bytes for need in needs} == {
        "add float64, n=1,000": 8000,
        "polar float32, n=1,000,000,000,000,000": asked,
    }
    assert not no_cost and all(need.device_bytes == 0 for need in needs)
    tables, array = 2 * 1e5, 1e6  # two rounds each; the picture has no line through so many points
    assert kept == (tables + 8000) + (tables + array) + tables


def test_bytes_on_a_device(tmp_path):
    backends = {"numpy": {}, "gpu": {"library": "torch", "device": "cuda"}}
    needs, _, _ = checkup._cells(config(tmp_path, backends=backends))
    assert [need.device_bytes for need in needs] == [8000, 20 * 10**15]
    del backends["numpy"]
    needs, _, _ = checkup._cells(config(tmp_path, backends=backends, baseline="gpu"))
    assert [need.host_bytes for need in needs] == [
        16000,
        8 * 10**15,
    ]  # what goes in, what comes out


def test_a_workload_that_cannot_say_its_cost(tmp_path):
    for name, body in {"lost": "1 / 0", "gone": "raise SystemExit(3)"}.items():
        source = (ROOT / "workflow/scripts/crossover/workloads/add.py").read_text()
        (tmp_path / f"{name}.py").write_text(source.replace("return Cost(", f"{body}; Cost("))
    workloads = {name: {"file": f"{name}.py", "sizes": [1]} for name in ("lost", "gone")}
    needs, no_cost, _ = checkup._cells(config(tmp_path, workloads=workloads))
    assert needs == []
    assert no_cost == {"lost": "ZeroDivisionError: division by zero", "gone": "SystemExit: 3"}


def test_how_busy_others_are(tmp_path, monkeypatch):
    monkeypatch.setattr(machine, "PROC", tmp_path)
    monkeypatch.setattr(checkup.os, "sched_getaffinity", lambda pid: {0, 2})
    row = "10 20 30 4000 5000 60 70 80 9 9"  # user nice system idle iowait irq softirq steal
    (tmp_path / "stat").write_text(f"cpu  {row}\n" + "".join(f"cpu{i} {row}\n" for i in range(3)))
    ticks = 10 + 20 + 30 + 60 + 70 + 80
    assert checkup._busy_s() == {
        "cpu0": ticks * checkup.interference.TICK_S,
        "cpu2": ticks * checkup.interference.TICK_S,
    }
    (tmp_path / "stat").unlink()
    monkeypatch.setattr(checkup, "LOOK_S", 0.01)
    assert checkup._others()[0] is None


def test_the_facts_of_this_machine(tmp_path, monkeypatch):
    monkeypatch.setattr(checkup, "LOOK_S", 0.05)
    monkeypatch.setattr(checkup.resource, "getrlimit", lambda kind: (7 << 30, 8 << 30))
    monkeypatch.setattr(machine, "nvidia_driver", lambda: "")
    monkeypatch.setattr(checkup, "_smi", lambda: ((), "590.1", "", 0))
    monkeypatch.setattr(checkup.util, "find_spec", lambda name: None)
    for name, value in {"MKL_CBWR": "AVX2", "OMP_DYNAMIC": "FALSE"}.items():
        monkeypatch.setenv(name, value)
    backends = {"numpy": {}, "gpu": {"library": "torch", "device": "cuda:1"}}
    found = checkup.of_machine(config(tmp_path, backends=backends), " CONFIG=a.yaml")
    assert 0 <= found.busy_cores <= found.allowed_cores + 1 and found.pressure >= 0
    assert found.address_limit_bytes == 7 << 30
    assert found.on_gpu == ["gpu"] and found.baseline == "numpy"
    assert found.gpu.driver == "590.1" and not found.gpu.watched
    assert found.settings["MKL_CBWR"] == "AVX2" and "OMP_DYNAMIC" not in found.settings
    assert found.cell_command == "make cell CONFIG=a.yaml WORKLOAD=add SIZE=1000"
    unlimited = (checkup.resource.RLIM_INFINITY,) * 2
    monkeypatch.setattr(checkup.resource, "getrlimit", lambda kind: unlimited)
    assert checkup.of_machine(config(tmp_path), "").address_limit_bytes is None


def test_a_folder_that_cannot_be_written(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert checkup._cannot_write(tmp_path) == ""
    monkeypatch.setattr(checkup.os, "access", lambda path, mode: False)
    assert checkup._cannot_write(tmp_path) == f"{tmp_path} cannot be written, and results go there"


def test_nothing_is_fatal(tmp_path, monkeypatch):
    """Whatever cannot be read: the doctor says the rest."""

    def broken(*arguments, **named):
        raise RuntimeError("not on this machine")

    monkeypatch.setattr(checkup.facts, "of_machine", dict)
    for module, name in (
        *((checkup, name) for name in ("_others", "_packages", "_gpu")),
        *((machine, name) for name in ("conditions", "available_bytes")),
    ):
        monkeypatch.setattr(module, name, broken)
    found = checkup.of_machine(config(tmp_path), "")
    for name in ("machine", "conditions", "packages", "busy_cores", "available_bytes", "gpu"):
        assert getattr(found, name) == getattr(Facts(), name), name
    assert "None" not in text(doctor.machine_lines(found))


# --- backends


def test_while_a_sweep_measures_nothing_is_tried(tmp_path, monkeypatch):
    """It would disturb the sweep, and wait for as long as that takes."""
    lock = tmp_path / "lock"
    lock.touch()
    monkeypatch.setattr(turn, "LOCK", lock)
    monkeypatch.setattr(checkup, "TURN_S", 0.1)
    with lock.open() as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        found = checkup.with_backends(Facts(baseline="numpy"), config(tmp_path))
    assert found.probes == {"numpy": {"available": False, "status": NOT_TRIED}}
    assert STOP not in {line.mark for line in doctor.backend_lines(found)}


def test_a_sweep_that_is_soon_done_is_waited_for(tmp_path, monkeypatch):
    lock = tmp_path / "lock"
    lock.touch()
    monkeypatch.setattr(turn, "LOCK", lock)
    held = lock.open()
    fcntl.flock(held, fcntl.LOCK_EX)
    Timer(0.1, held.close).start()
    assert checkup._turn_comes()
    assert held.closed


@pytest.mark.parametrize("code", ["interrupted", "probe.json cannot be written: No space left"])
def test_the_doctor_can_be_interrupted(tmp_path, monkeypatch, code):
    monkeypatch.setattr(turn, "LOCK", tmp_path / "lock")
    monkeypatch.setattr(checkup.job, "probe", lambda *arguments: sys.exit(code))
    if code == "interrupted":
        with pytest.raises(SystemExit, match=code):
            checkup.with_backends(Facts(), config(tmp_path))
    else:
        (probe,) = checkup.with_backends(Facts(), config(tmp_path)).probes.values()
        assert probe == {"available": False, "status": "error", "reason": code}


def test_where_no_file_can_be_written_that_is_the_reason(tmp_path, monkeypatch):
    monkeypatch.setattr(turn, "LOCK", tmp_path / "lock")
    monkeypatch.setattr(checkup.tempfile, "tempdir", str(tmp_path / "gone"))
    found = checkup.with_backends(Facts(baseline="numpy"), config(tmp_path))
    assert found.probes["numpy"]["status"] == "error"
    assert "No such file or directory" in found.probes["numpy"]["reason"]


# --- the command


@pytest.fixture
def clone(tmp_path):
    project = copy_to(tmp_path / "it's a clone")
    shutil.copy2(ROOT / "requirements.txt", project.root)
    private_lock(project)
    return project


def files(root):
    return {path for path in root.rglob("*") if "__pycache__" not in path.parts}


@pytest.mark.whole
def test_the_command_on_this_machine(clone, monkeypatch):
    """In an odd environment: no home, no locale, a variable that is no text."""
    bare = {"HOME": "", "LANG": "C", "LC_ALL": "C", "PYTHONUTF8": "0", "OMP_PLACES": "h\udcffé"}
    for name, value in bare.items():
        monkeypatch.setenv(name, value)
    before = files(clone.root)
    done = clone.crossover("doctor", "--config", "config/quick.yaml")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stderr == "" and files(clone.root) == before
    rows = [row for row in done.stdout.splitlines() if not row.startswith(" ")]
    lines = {row[6:19].strip(): row for row in rows[:-2]}
    needed = {"system", "Python", "packages", "CPU", "cores", "memory", "disk", "GPU"}
    assert needed | {"environment", "numpy", "torch_cpu"} <= lines.keys()
    assert lines["packages"].startswith("ok    packages     all ")
    assert re.match(r"(ok|look)  +cores +\d+ usable of \d+", lines["cores"])
    assert re.match(r"ok    numpy        works: numpy 2\.\S+, \d+ threads?, ", lines["numpy"])
    assert re.match(r"ok    torch_cpu    works: torch \S+, \d+ threads?$", lines["torch_cpu"])
    assert lines["environment"].startswith("look  environment  OMP_PLACES=h?")
    assert all(row.startswith(("ok    ", "look  ")) for row in lines.values())
    assert rows[-1].startswith("'make sweep CONFIG=config/quick.yaml' can start; ")
    assert not re.search(r"\b(None|nan|Traceback)\b", done.stdout)


@pytest.mark.whole
def test_the_command_where_no_backend_works(clone):
    """One cannot be imported, one dies, one hangs: each is said, and the status is 1."""
    bodies = {"broken": "import nothing_like_it", "dying": "os.abort()", "slow": "time.sleep(60)"}
    for name, body in bodies.items():
        source = f"import os, time\n{body}\nfrom crossover.backends import Host\n"
        (clone.root / f"{name}.py").write_text(f"{source}class Backend(Host):\n    pass\n")
    clone.configure(
        CONFIG
        | {
            "backends": {name: {"file": f"{name}.py"} for name in bodies},
            "baseline": "broken",
            "timeout_s": 1,
        }
    )
    done = clone.crossover("doctor")
    assert done.returncode == 1 and done.stderr == ""
    said = " ".join(done.stdout.split())
    assert "stop broken unavailable: No module named 'nothing_like_it'" in said
    assert "look dying killed: killed by SIGABRT" in said
    assert "look slow timeout: took more than 1 s" in said
    assert said.endswith("'make sweep' can give no answer here: see what is marked stop")


@pytest.mark.whole
def test_the_make_target(clone):
    shutil.copy2(ROOT / "Makefile", clone.root)
    done = subprocess.run(
        ["make", "--dry-run", "doctor", "CONFIG=a.yaml", "BIN=bin", "--assume-old=bin/.installed"],
        cwd=clone.root,
        capture_output=True,
        text=True,
    )
    command = "PYTHONPATH=workflow/scripts bin/python -P -m crossover doctor --config a.yaml"
    assert command in done.stdout, done.stderr
