"""The configuration of the one-machine Slurm: what tests need, and nothing that systemd would give.

Two nodes on one machine: cpu1, and gpu1 with a GPU that is only counted. Their cores and bytes are
what the file says (config_overrides), so that jobs queue as on a cluster.
"""

import socket
from pathlib import Path

NODES = ("cpu1", "gpu1")

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
MinJobAge=600
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
NodeName=cpu1 NodeHostname={host} NodeAddr=127.0.0.1 Port={cpu} CPUs=4 RealMemory=8000 Feature=large
NodeName=gpu1 NodeHostname={host} NodeAddr=127.0.0.1 Port={gpu} CPUs=4 RealMemory=4000 \
Gres=gpu:fake:1
PartitionName=cpu Nodes=cpu1 Default=YES MaxTime=01:00:00 DefaultTime=00:10:00
PartitionName=gpu Nodes=gpu1 MaxTime=01:00:00 DefaultTime=00:10:00
"""


def write(folder: Path, port: int) -> Path:
    """Write the configuration below `folder`, with the ports `port` to `port` + 2; its path."""
    for name in ("etc", "state", "log", "run", "munge", "dev", *(f"spool/{n}" for n in NODES)):
        (folder / name).mkdir(parents=True, exist_ok=True, mode=0o755)
    host = socket.gethostname().partition(".")[0]
    conf = folder / "etc/slurm.conf"
    conf.write_text(CONF.format(host=host, folder=folder, port=port, cpu=port + 1, gpu=port + 2))
    # slurmd 22.05 drops a GPU that has no file of its own; any device whose name ends in the index
    # will do.
    gpu = folder / "dev/gpu0"
    gpu.unlink(missing_ok=True)
    gpu.symlink_to("/dev/null")
    (folder / "etc/gres.conf").write_text(f"NodeName=gpu1 Name=gpu Type=fake File={gpu}\n")
    (folder / "etc/cgroup.conf").write_text("CgroupAutomount=no\n")
    return conf
