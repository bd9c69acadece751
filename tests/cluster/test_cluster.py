"""The test cluster itself: it is whole, and it goes whatever happens to whoever started it."""

import subprocess
from pathlib import Path

from cluster import slurm_conf, slurm_daemons
from cluster.project import said


def test_nodes_and_a_gpu_that_is_only_counted(slurm):
    nodes = {line.strip() for line in said("sinfo", "--noheader", "--Node", "--format=%N %P %G")}
    assert nodes == {
        "cpu1 cpu* (null)",
        "gpu1 gpu gpu:fake:1",
        *(f"{node.name} {node.partition} (null)" for node in slurm_conf.NODES[2:]),
    }
    command = ["srun", "--partition=gpu", "--gpus=1", "printenv", "CUDA_VISIBLE_DEVICES"]
    assert said(*command) == ["0"]


def test_a_second_cluster_waits_and_goes_with_whoever_wanted_it(slurm, tmp_path):
    waiting = subprocess.Popen(
        ["python3", "-m", "cluster.slurm_daemons", str(tmp_path)],
        cwd=Path(__file__).parent.parent,
        stdin=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    _, words = waiting.communicate("", timeout=60)  # the end of its input
    assert waiting.returncode == 1 and "nobody waits" in words
    assert not slurm_daemons.processes(tmp_path)
    assert (slurm_daemons.LINKS / "slurm.conf").readlink() == slurm / "etc/slurm.conf"
