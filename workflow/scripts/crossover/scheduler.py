"""What a cluster's scheduler gave to the job that this process is in, as its variables say.

Slurm's are asked for first, then those of PBS, LSF and Grid Engine. Names as plain as QUEUE or
NCPUS count only beside the job number of the scheduler that sets them.
"""

import os
import platform
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

MOUNTS = Path("/proc/self/mountinfo")


class Variables(NamedTuple):
    """Their names, by what they hold; of several for the same the first that is set counts."""

    job: tuple[str, ...]
    cores: tuple[str, ...]
    partition: tuple[str, ...]
    node: tuple[str, ...] = ("HOSTNAME",)


SCHEDULERS = (
    Variables(
        job=("SLURM_JOB_ID",),
        # The step's own request; SLURM_CPUS_ON_NODE is the whole node where it is exclusive.
        cores=("SLURM_CPUS_PER_TASK", "SLURM_CPUS_ON_NODE"),
        partition=("SLURM_JOB_PARTITION",),
        node=("SLURMD_NODENAME",),
    ),
    Variables(job=("PBS_JOBID",), cores=("NCPUS", "PBS_NUM_PPN"), partition=("PBS_QUEUE",)),
    Variables(job=("LSB_JOBID",), cores=("LSB_DJOB_NUMPROC",), partition=("LSB_QUEUE",)),
    Variables(job=("SGE_TASK_ID", "JOB_ID"), cores=("NSLOTS",), partition=("QUEUE",)),
)


def granted_cores() -> int | None:
    """The cores that the scheduler gave to this job; None outside of one, or where it is silent."""
    cores = _value(found.cores) if (found := _scheduler()) else ""
    return int(cores) if cores.isdigit() and int(cores) else None


def in_job() -> bool:
    return _scheduler() is not None


def facts(asked: Mapping[str, Any]) -> dict[str, Any]:
    """Node, partition, number of the job, cores asked for, and what keeps others off the node.

    `asked` is what the plan asks of a scheduler, {} where it asks none. All of it is empty outside
    of a job.
    """
    if not (found := _scheduler()):
        return {}
    return {
        "node": _value(found.node) or platform.node(),
        "partition": _value(found.partition),
        "job_id": os.environ[found.job[-1]],
        "cores_requested": asked.get("cpus_per_task"),
        "node_use": node_use(bool(asked.get("exclusive"))),
    }


def node_use(exclusive: bool) -> str:
    """exclusive: the node is this job's alone. locked: the lock of `turn` keeps other measurements
    away, but nobody else. shared: not even that is known, since /tmp may be this job's own."""
    if exclusive:
        return "exclusive"
    return "locked" if _tmp_is_shared() else "shared"


def _tmp_is_shared() -> bool:
    """Whether /tmp is the node's: a folder elsewhere that was mounted there is most often a job's
    own (Slurm's job_container/tmpfs, systemd's PrivateTmp). A container has the host's as /tmp."""
    try:
        lines = MOUNTS.read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return False
    roots = [fields[3] for line in lines if (fields := line.split())[4] == "/tmp"]
    return not roots or roots[-1] in ("/", "/tmp")


def _scheduler() -> Variables | None:
    return next((one for one in SCHEDULERS if all(name in os.environ for name in one.job)), None)


def _value(names: tuple[str, ...]) -> str:
    return next((value for name in names if (value := os.environ.get(name))), "")
