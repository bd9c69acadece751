"""Submit a job of Snakemake: `submit.py pbs|sge|lsf|slurm JOBSCRIPT`; prints the job's number.

Sites differ in how they spell a GPU, memory and a node of one's own: the four functions are the
place to edit. What Snakemake asks for is in the job script's second line.
"""

import json
import re
import subprocess
import sys
from pathlib import Path

LOGS = Path("logs/cluster")


def slurm(ask, log):
    gpus = ":".join(filter(None, [ask.get("gpu_model"), str(ask.get("gpu", ""))]))
    return [
        *("sbatch", "--parsable", "--no-requeue", f"--output={log}"),
        *(f"--cpus-per-task={ask['cpus_per_task']}", f"--mem={ask['mem_mb']}"),
        f"--time={ask['runtime']}",
        *flag("--partition=", ask.get("slurm_partition") or ask.get("queue")),
        *flag("--account=", ask.get("slurm_account")),
        *flag("--gpus=", gpus),
        *(["--exclusive"] if ask.get("exclusive") else []),
    ]


def pbs(ask, log):
    """PBS Professional and OpenPBS; Torque has -l nodes=1:ppn=8 instead of select."""
    gpu = f":ngpus={ask['gpu']}" if ask.get("gpu") else ""
    gpu += f":gpu_model={ask['gpu_model']}" if ask.get("gpu_model") else ""
    hours, minutes = divmod(ask["runtime"], 60)
    return [
        *("qsub", "-V", "-r", "n", "-j", "oe", "-o", log),
        *("-l", f"select=1:ncpus={ask['cpus_per_task']}:mem={ask['mem_mb']}mb{gpu}"),
        *("-l", f"walltime={hours}:{minutes:02}:00"),
        *(["-l", "place=excl"] if ask.get("exclusive") else []),
        *(["-q", ask["queue"]] if ask.get("queue") else []),
    ]


def sge(ask, log):
    """`smp` is the site's parallel environment on one node; h_vmem is for each core."""
    cores = ask["cpus_per_task"]
    limits = f"h_vmem={-(-ask['mem_mb'] // cores)}M,h_rt={ask['runtime'] * 60}"
    limits += f",gpu={ask['gpu']}" if ask.get("gpu") else ""
    limits += f",gpu_model={ask['gpu_model']}" if ask.get("gpu_model") else ""
    limits += ",exclusive=true" if ask.get("exclusive") else ""
    return [
        *("qsub", "-terse", "-V", "-cwd", "-r", "n", "-j", "y", "-o", log),
        *("-pe", "smp", str(cores), "-l", limits),
        *(["-q", ask["queue"]] if ask.get("queue") else []),
    ]


def lsf(ask, log):
    """Memory in MB, as with LSF_UNIT_FOR_LIMITS=MB."""
    gpu = f"num={ask.get('gpu', 0)}"
    gpu += f":gmodel={ask['gpu_model']}" if ask.get("gpu_model") else ""
    return [
        *("bsub", "-rn", "-o", log, "-n", str(ask["cpus_per_task"]), "-W", str(ask["runtime"])),
        *("-R", f"span[hosts=1] rusage[mem={ask['mem_mb']}]"),
        *(["-gpu", gpu] if ask.get("gpu") else []),
        *(["-x"] if ask.get("exclusive") else []),
        *(["-q", ask["queue"]] if ask.get("queue") else []),
    ]


COMMANDS = {"slurm": slurm, "pbs": pbs, "sge": sge, "lsf": lsf}


def flag(name, value):
    return [f"{name}{value}"] if value else []


def properties(script):
    """What Snakemake wrote there: `# properties = {...}`."""
    return json.loads(re.search(r"^# properties = (.*)$", script, re.MULTILINE).group(1))


def main():
    scheduler, script = sys.argv[1], Path(sys.argv[2])
    asked = properties(script.read_text())
    LOGS.mkdir(parents=True, exist_ok=True)
    log = str(LOGS.resolve() / f"{asked['jobid']}.log")
    command = COMMANDS[scheduler](asked["resources"], log)
    if scheduler == "lsf":  # which reads the script itself, and says Job <123> is submitted
        said = subprocess.check_output(command, input=script.read_text(), text=True)
        print(re.search(r"<(\d+)>", said).group(1))
        return
    said = subprocess.check_output([*command, str(script)], text=True)
    print(said.strip().split(";")[0])


if __name__ == "__main__":
    main()
