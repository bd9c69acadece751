"""A workstation with which all is well, as the doctor's facts: tests change one thing at a time."""

from copy import deepcopy
from dataclasses import replace

from crossover.doctor import Facts, Need
from crossover.doctor_gpu import Card, Gpu

GIB = 1 << 30
H100 = Card("NVIDIA H100", 80 * GIB, 79 * GIB, 0.0)
NUMPY = {
    "available": True,
    "library": "numpy",
    "version": "2.4.6",
    "threads_granted": 8,
    "threads_effective": 8,
    "machine_facts": {
        "thread_pools": [
            {
                "user_api": "blas",
                "internal_api": "openblas",
                "version": "0.3.31",
                "architecture": "Zen",
                "num_threads": 8,
            }
        ]
    },
}
TORCH = NUMPY | {"library": "torch", "version": "2.13.0"}
CUDA = TORCH | {"device": "NVIDIA H100", "driver": "590.48.01", "device_uuid": "FAKE"}
WELL = Facts(
    machine={
        "cpu": {
            "model": "Fake CPU",
            "usable_cores": 8,
            "total_cores": 8,
            "threads_per_core": 2,
            "numa_nodes": 1,
            "most_mhz": 4200,
            "frequency_driver": "acpi-cpufreq",
        },
        "memory": {
            "usable_bytes": 32 * GIB,
            "total_bytes": 32 * GIB,
            "transparent_huge_pages": "madvise",
        },
        "system": {"os": "Debian 13", "kernel": "6.12"},
    },
    conditions={"governor": "performance", "boost": "on", "power": "mains", "load": 0.1},
    python="3.12.1 in /clone/.venv",
    packages_checked=9,
    allowed_cores=8,
    busy_cores=0.1,
    available_bytes=30 * GIB,
    needs=(Need("add float64, n=1,000", GIB, GIB), Need("add float64, n=10", 80, 80)),
    folder="/clone/results",
    free_bytes=50 * 10**9,
    kept_bytes=2e7,
    gpu=Gpu(
        loaded="1 NVIDIA H100",
        driver="590.48.01",
        on_bus=("NVIDIA",),
        openable=True,
        cards=(H100,),
        torch="2.13.0",
        build="CUDA 13.0",
        watched=True,
    ),
    on_gpu=("torch_cuda",),
    probes={"numpy": NUMPY, "torch_cpu": TORCH, "torch_cuda": CUDA},
    baseline="numpy",
    cell_command="make cell WORKLOAD=add SIZE=1000",
)


def machine(**changes) -> Facts:
    """WELL, with other facts of its machine: cpu={"usable_cores": 2}."""
    facts = deepcopy(dict(WELL.machine))
    for part, values in changes.items():
        facts[part] = facts.get(part, {}) | values
    return replace(WELL, machine=facts)


def conditions(**changes) -> Facts:
    return replace(WELL, conditions=WELL.conditions | changes)
