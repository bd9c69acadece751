"""The configuration of the one-machine Slurm: what tests need, and nothing that systemd would give.

Several nodes on one machine, each the only one of its partition. Their cores and bytes are what the
file says (config_overrides): more than the machine has, so that sweeps run side by side.
"""

import socket
from pathlib import Path
from typing import NamedTuple


class Node(NamedTuple):
    name: str
    partition: str
    cpus: int
    megabytes: int
    more: str = ""


NODES = (
    Node("cpu1", "cpu", 16, 32000, "Feature=large"),
    Node("gpu1", "gpu", 4, 16000, "Gres=gpu:fake:1"),
    # Its job's fault is that it goes down, with all that runs there.
    Node("frail1", "frail", 1, 4000),
    # Two alike, for two ways of doing the same: as many jobs at once as the machine has cores.
    Node("batch1", "batch", 2, 8000),
    Node("alone1", "alone", 2, 8000),
)

# KillWait: between SIGTERM and SIGKILL. MinJobAge: how long squeue knows of a job that has ended.
# OverMemoryKill looks once a second (JobAcctGatherFrequency). ReturnToService=2: a node that was
# down works again as soon as its slurmd says so.
CONF = """\
ClusterName=crossover
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={port}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge/socket
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool/%n
SlurmctldPidFile={folder}/run/slurmctld.pid
SlurmdPidFile={folder}/run/slurmd.%n.pid
SlurmctldLogFile={folder}/log/slurmctld.log
SlurmdLogFile={folder}/log/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
SlurmdTimeout=60
KillWait=2
MinJobAge=3600
SchedulerType=sched/backfill
SchedulerParameters=batch_sched_delay=0,sched_interval=1,bf_interval=1
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
JobAcctGatherType=jobacct_gather/linux
JobAcctGatherFrequency=1
JobAcctGatherParams=OverMemoryKill
GresTypes=gpu
SlurmdParameters=config_overrides
DefMemPerCPU=256
AccountingStorageType=accounting_storage/none
PartitionName=DEFAULT MaxTime=10:00:00 DefaultTime=00:10:00
"""


def nodes(host: str, port: int) -> str:
    lines = []
    for number, node in enumerate(NODES):
        where = f"NodeHostname={host} NodeAddr=127.0.0.1 Port={port + 1 + number}"
        size = f"CPUs={node.cpus} RealMemory={node.megabytes}"
        lines.append(f"NodeName={node.name} {where} {size} {node.more}".strip())
        default = "YES" if number == 0 else "NO"
        lines.append(f"PartitionName={node.partition} Nodes={node.name} Default={default}")
    return "\n".join([*lines, ""])


def write(folder: Path, port: int) -> Path:
    """Write the configuration below `folder`, with `port` and one more for each node; its path."""
    spools = (f"spool/{node.name}" for node in NODES)
    for name in ("etc", "state", "log", "run", "munge", "dev", *spools):
        (folder / name).mkdir(parents=True, exist_ok=True, mode=0o755)
    host = socket.gethostname().partition(".")[0]
    conf = folder / "etc/slurm.conf"
    conf.write_text(CONF.format(host=host, folder=folder, port=port) + nodes(host, port))
    # slurmd 22.05 drops a GPU that has no file of its own; any device whose name ends in the index
    # will do.
    gpu = folder / "dev/gpu0"
    gpu.unlink(missing_ok=True)
    gpu.symlink_to("/dev/null")
    (folder / "etc/gres.conf").write_text(f"NodeName=gpu1 Name=gpu Type=fake File={gpu}\n")
    (folder / "etc/cgroup.conf").write_text("CgroupAutomount=no\n")
    return conf
