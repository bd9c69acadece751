"""The facts of the machine: read where they are, left out where not, never a reason to fail."""

import json
import os
from pathlib import Path

import pytest

from conftest import drop_seals
from crossover import facts, job, machine, measurement, record
from one_cell import measured, task

COMPLETE = {
    "cpu": {
        "model": "Fake CPU @ 3 GHz",
        "architecture": os.uname().machine,
        "usable_cores": 2,
        "total_cores": 4,
        "threads_per_core": 2,
        "numa_nodes": 1,
        "most_mhz": 3800,
        "frequency_driver": "intel_pstate",
    },
    "memory": {
        "usable_bytes": 3 << 30,
        "total_bytes": 8 << 30,
        "swap_bytes": 0,
        "transparent_huge_pages": "madvise",
    },
    "control_groups": {"cpu_quota_cores": 2.5, "memory_bytes": 3 << 30},
    "environment": "OMP_PROC_BIND=true",
    "gpus": "1 Fake H100, driver 590.48.01",
}
CPUINFO = "processor : 0\nmodel name : Fake CPU  @ 3 GHz\nflags : fpu sse hypervisor\n"


@pytest.fixture
def kernel(tmp_path, monkeypatch):
    """Files in the places of /proc and /sys; returns a function that writes one."""
    places = {
        machine: ("PROC", "CGROUP", "CPUS", "POWER"),
        facts: ("CPUS", "MEMORY_PAGES", "DMI", "ROOT"),
    }
    for module, names in places.items():
        for name in names:
            monkeypatch.setattr(module, name, tmp_path / "sys/cpu" / name)
            if name == "CPUS":
                monkeypatch.setattr(module, name, tmp_path / "sys/cpu")
    for name in list(os.environ):
        if machine.SPEED_VARIABLES.match(name) or name in ("container", "KUBERNETES_SERVICE_HOST"):
            monkeypatch.delenv(name)
    monkeypatch.setattr(os, "cpu_count", lambda: 4)
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0, 1, 2})
    cached = (machine.cgroup_folders, machine.cpu_model, machine.memory_bytes)
    for function in cached:
        function.cache_clear()

    def write(name, text):
        place, _, rest = name.partition("/")
        root = getattr(machine, place, None) or getattr(facts, place)
        path = root / rest if rest else root
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{text}\n")

    yield write
    for function in cached:
        function.cache_clear()


def test_all_that_can_be_known(kernel, monkeypatch):
    monkeypatch.setenv("OMP_PROC_BIND", "true")
    kernel("PROC/cpuinfo", CPUINFO)
    kernel("PROC/meminfo", "MemTotal: 8388608 kB\nMemAvailable: 1 kB\nSwapTotal: 0 kB")
    kernel("PROC/self/cgroup", "0::/pod")
    kernel("CGROUP/pod/cpu.max", "250000 100000")
    kernel("CGROUP/pod/memory.max", str(3 << 30))
    kernel("PROC/driver/nvidia/version", "NVRM version: NVIDIA UNIX x86_64 Module  590.48.01  x")
    kernel("PROC/driver/nvidia/gpus/0/information", "Model: 	 Fake H100")
    kernel("CPUS/smt/active", "1")
    kernel("CPUS/cpu0/cpufreq/cpuinfo_max_freq", "3800000")
    kernel("CPUS/cpu0/cpufreq/scaling_driver", "intel_pstate")
    kernel("MEMORY_PAGES", "always [madvise] never")
    (facts.CPUS.parent / "node/node0").mkdir(parents=True)
    found = facts.of_machine()
    system = found.pop("system")
    assert found == COMPLETE
    assert system["kernel"] == os.uname().release
    assert system["virtual_machine"] == "yes"


def test_where_nothing_can_be_read_nothing_is_said_and_nothing_fails(kernel, monkeypatch):
    def none(*arguments):
        raise OSError("not here")

    monkeypatch.setattr(facts.platform, "freedesktop_os_release", none)
    monkeypatch.setattr(facts.platform, "libc_ver", none)
    found = facts.of_machine()
    assert set(found) <= {"cpu", "memory", "system"}
    assert set(found["cpu"]) == {"model", "architecture", "usable_cores", "total_cores"}
    assert json.loads(machine.conditions()) == {}


@pytest.mark.parametrize(
    ("mark", "kind"),
    [
        ("ROOT/.dockerenv", "docker"),
        ("ROOT/run/.containerenv", "podman"),
        ("KUBERNETES_SERVICE_HOST", "kubernetes"),
        ("container", "container"),
        (None, None),
    ],
)
def test_containers(kernel, monkeypatch, mark, kind):
    if mark and mark.startswith("ROOT"):
        kernel(mark, "")
    elif mark:
        monkeypatch.setenv(mark, mark)
    assert facts.of_machine()["system"].get("container") == kind


def test_the_maker_of_a_virtual_machine_and_none_on_real_hardware(kernel):
    kernel("PROC/cpuinfo", CPUINFO)
    kernel("DMI/sys_vendor", "QEMU")
    assert facts.of_machine()["system"]["virtual_machine"] == "QEMU"
    kernel("PROC/cpuinfo", CPUINFO.replace(" hypervisor", ""))
    assert "virtual_machine" not in facts.of_machine()["system"]


def test_wsl(monkeypatch):
    monkeypatch.setattr(facts.platform, "release", lambda: "6.6.87-microsoft-standard-WSL2")
    assert facts.of_machine()["system"]["wsl"] is True


# --- what changes


def conditions():
    return json.loads(machine.conditions())


def test_conditions(kernel):
    for core, khz in ((0, 1200000), (1, 3400000), (2, 2000000), (3, 5000000)):  # 3 is not ours
        kernel(f"CPUS/cpu{core}/cpufreq/scaling_governor", "powersave")
        kernel(f"CPUS/cpu{core}/cpufreq/scaling_cur_freq", str(khz))
        kernel(f"CPUS/cpu{core}/cpufreq/energy_performance_preference", "balance_performance")
    kernel("PROC/loadavg", "0.52 0.58 0.59 1/934 12345")
    kernel("POWER/BAT0/type", "Battery")
    kernel("POWER/AC/type", "Mains")
    kernel("POWER/AC/online", "1")
    kernel("CPUS/intel_pstate/no_turbo", "0")
    assert conditions() == {
        "governor": "powersave",
        "preference": "balance_performance",
        "boost": "on",
        "power": "mains",
        "mhz": 3400,
        "load": 0.52,
    }
    kernel("CPUS/cpu2/cpufreq/scaling_governor", "performance")
    kernel("POWER/AC/online", "0")
    kernel("CPUS/intel_pstate/no_turbo", "1")
    kernel("CPUS/cpu1/cpufreq/scaling_cur_freq", "<unknown>")
    changed = {"governor": "powersave + performance", "boost": "off", "power": "battery"}
    assert conditions().items() >= (changed | {"mhz": 2000}).items()


@pytest.mark.parametrize(("text", "boost"), [("1", "on"), ("0", "off")])
def test_boost_of_other_drivers(kernel, text, boost):
    kernel("CPUS/cpufreq/boost", text)
    assert conditions() == {"boost": boost}


@pytest.mark.parametrize(
    ("name", "recorded"),
    [
        *dict.fromkeys(
            [
                *("OPENBLAS_CORETYPE", "OMP_PROC_BIND", "MKL_DEBUG_CPU_TYPE", "KMP_AFFINITY"),
                *("NVIDIA_TF32_OVERRIDE", "CUDA_LAUNCH_BLOCKING", "PYTORCH_CUDA_ALLOC_CONF"),
                *("TORCH_ALLOW_TF32_CUBLAS_OVERRIDE", "GLIBC_TUNABLES", "MALLOC_ARENA_MAX"),
                *("NPY_DISABLE_CPU_FEATURES", "ATEN_CPU_CAPABILITY", "ONEDNN_MAX_CPU_ISA"),
                *("LD_PRELOAD", "GOMP_CPU_AFFINITY", "CUDA_VISIBLE_DEVICES"),
                *("TORCHDYNAMO_DISABLE", "TORCH_COMPILE_DISABLE", "NUMBA_DISABLE_JIT"),
            ],
            True,
        ).items(),
        *dict.fromkeys(
            # The job sets the threads itself; the others say where things are, some at length.
            [
                *("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"),
                "NUMEXPR_MAX_THREADS",
                *("NVIDIA_REQUIRE_CUDA", "CUDA_HOME", "CUDA_VERSION", "LD_LIBRARY_PATH", "HOME"),
            ],
            False,
        ).items(),
    ],
)
def test_variables_that_change_speed(monkeypatch, name, recorded):
    monkeypatch.setenv(name, "7")
    assert (f"{name}=7" in machine.environment().split()) is recorded


# --- in the results


@pytest.mark.whole
def test_the_probe_and_the_rows_of_a_real_machine(tmp_path):
    """On whatever this machine is: what Linux always tells must be there."""
    made = task(tmp_path)
    job.probe(made, 60, tmp_path / "log")
    found = json.loads(Path(made["json"]).read_text())["machine_facts"]
    assert found["cpu"]["usable_cores"] == machine.usable_cores() <= found["cpu"]["total_cores"]
    assert found["memory"]["total_bytes"] >= found["memory"]["usable_bytes"]
    assert found["system"]["kernel"] == os.uname().release
    import numpy

    assert found["library_version"] == numpy.__version__
    (blas,) = [pool for pool in found["thread_pools"] if pool["user_api"] == "blas"]
    assert {"internal_api", "version", "num_threads", "file"} <= blas.keys()
    row = measured(tmp_path)
    assert json.loads(row["conditions"])["load"] >= 0


@pytest.mark.whole
def test_a_backend_that_cannot_say_what_it_is_works_all_the_same(tmp_path):
    """No version, no pools of threads that can be read: no reason to lose it."""
    (tmp_path / "bare.py").write_text(
        "import sys\n"
        "import numpy\n"
        "from types import SimpleNamespace\n"
        "from crossover.backends import Host\n"
        "sys.modules['threadpoolctl'] = None\n"
        "class Backend(Host):\n"
        "    xp = SimpleNamespace(float64=numpy.float64, __name__='bare')\n"
        "    def effective_threads(self):\n"
        "        return None\n"
    )
    made = task(tmp_path, backend="bare")
    job.probe(made, 60, tmp_path / "log")
    found = json.loads(Path(made["json"]).read_text())
    assert found["available"], found
    assert "cpu" in found["machine_facts"] and "thread_pools" not in found["machine_facts"]


@pytest.mark.whole
def test_a_round_on_a_talkative_machine_is_known_by_its_content(tmp_path):
    """Snakemake compares files by content below 1 MB only, and the facts are in every row."""
    talk = {
        "note": "no pinned transfers: " + "x" * 60,
        "device_s": 1.2345678901234567e-05,
        "gpu_reasons": 0x64,
        "gpu_others": 100,
        "gpu_clock_mhz": 1755,
        "device_peak_bytes": 12345678901,
        "environment": "GLIBC_TUNABLES=glibc.malloc.mmap_max=0:glibc.malloc.trim_threshold="
        "68719476736:glibc.malloc.top_pad=67108864 CUDA_VISIBLE_DEVICES=GPU-" + "0" * 32,
        "conditions": json.dumps(
            {
                "governor": "performance + powersave",
                "preference": "balance_performance",
                "boost": "off",
                "power": "battery",
                "mhz": 3400,
                "load": 12.34,
            }
        ),
        "device": "NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition",
        "device_uuid": "0" * 36,
        "driver": "590.48.01",
        "cpu": "Intel(R) Xeon(R) Platinum 8480C Processor of some length",
        "host": "node0123.cluster.example.org",
    }
    row = drop_seals(measured(tmp_path, workload="polar", dtype="bfloat16", backend="torch"))
    assert row["status"] == "ok", row["reason"]
    rows = [row | {"sample": n, "seconds": 1.2345678901234567e-05} | talk for n in range(1, 401)]
    assert len(rows) == measurement.MOST_SAMPLES
    rows *= measurement.MOST_ROWS // len(rows)
    record.write(tmp_path / "1.csv", rows)
    assert (tmp_path / "1.csv").stat().st_size < 1_000_000
