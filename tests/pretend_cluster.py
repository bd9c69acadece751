"""A cluster of this one machine, for tests of what is asked for and of the plan inside a job.

    pretend_cluster.py JOBSCRIPT        writes down what the job asks for and runs it, as on a node
    pretend_cluster.py status NUMBER    what became of it

The "node" has other variables than where it was submitted, a GPU by name and one core less.
Environment: PRETEND is the folder for what is written down.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

NODE = {
    "SLURM_JOB_ID": "7",
    "SLURM_CPUS_PER_TASK": "1",
    "SLURM_JOB_PARTITION": "gpus",
    "SLURMD_NODENAME": "node7",
    "CUDA_VISIBLE_DEVICES": "0",
    "OMP_NUM_THREADS": "3",
    "HOSTNAME": "node7",
    "TZ": "Asia/Tokyo",
    "LANG": "C",
    "PYTHONHASHSEED": "7",
}

# Python imports sitecustomize first: each Snakemake writes down its jobs when it ends.
SPY = """
import atexit, json, os, sys

known = []

def remember(init):
    def remembering(self, *arguments, **named):
        known.append(self)
        init(self, *arguments, **named)
    return remembering

def write_down():
    jobs = {}
    for job in known:
        if not job.rule.norun:
            name = f"{job.rule.name} {dict(sorted(job.wildcards_dict.items()))}"
            params = {key: str(value) for key, value in job.params.items()}
            jobs[name] = {"params": params, "output": [str(f) for f in job.output],
                          "input": sorted(map(str, job.input)), "log": [str(f) for f in job.log]}
    where = "job" if "SLURM_JOB_ID" in os.environ else "login"
    with open(f"{os.environ['PRETEND']}/{where}.{os.getpid()}.json", "w") as file:
        json.dump(jobs, file)

if "snakemake" in sys.orig_argv:
    from snakemake.jobs import Job
    Job.__init__ = remember(Job.__init__)
    atexit.register(write_down)
"""


def submit(script: Path) -> None:
    (line,) = (x for x in script.read_text().splitlines() if x.startswith("# properties = "))
    folder = Path(os.environ["PRETEND"])
    number = len(list(folder.glob("asked.*"))) + 1
    (folder / f"asked.{number}.json").write_text(line.removeprefix("# properties = "))
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:1])
    with (folder / f"log.{number}").open("w") as log:
        done = subprocess.run(["sh", script], env=os.environ | NODE, stdout=log, stderr=log)
    (folder / f"ended.{number}").write_text("failed" if done.returncode else "success")
    print(number)


def asked(folder: Path) -> list[dict]:
    """What each submission asked for, in the order of submission."""
    files = sorted(folder.glob("asked.*"), key=lambda path: int(path.name.split(".")[1]))
    return [json.loads(path.read_text()) for path in files]


def jobs(folder: Path, where: str) -> dict:
    """By job, what it is in the plans made there: `login` or `job`."""
    found: dict = {}
    for path in folder.glob(f"{where}.*.json"):
        found |= json.loads(path.read_text())
    return found


if __name__ == "__main__":
    if sys.argv[1] == "status":
        print((Path(os.environ["PRETEND"]) / f"ended.{sys.argv[2]}").read_text())
    else:
        submit(Path(sys.argv[1]))
