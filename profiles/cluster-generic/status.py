"""What became of a job: `status.py pbs|sge|lsf|slurm NUMBER` prints running, success or failed.

A scheduler that does not answer is asked again the next time, so that a restart of it loses
nothing; a job that it does not know is lost, and failed.
"""

import re
import subprocess
import sys

RUNNING, SUCCESS, FAILED = "running", "success", "failed"


def ask(*command):
    """Exit status and output; the status is None where the command did not answer."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return None, ""
    return done.returncode, done.stdout + done.stderr


def found(pattern, text):
    match = re.search(pattern, text, re.MULTILINE)
    return match.group(1) if match else ""


def slurm(job):
    _, said = ask("scontrol", "--oneliner", "show", "job", job)
    state = found(r"\bJobState=(\w+)", said)
    if state == "COMPLETED":
        return SUCCESS
    if state in ("PENDING", "RUNNING", "COMPLETING", "CONFIGURING", "SUSPENDED", "STAGE_OUT"):
        return RUNNING
    return FAILED if state or "Invalid job id" in said else RUNNING


def pbs(job):
    """-x: those that have ended as well, where the server keeps them (job_history_enable)."""
    _, said = ask("qstat", "-x", "-f", job)
    if found(r"^\s*job_state = (\w)", said) in ("F", "X", "C"):
        return SUCCESS if found(r"^\s*Exit_status = (-?\d+)", said) == "0" else FAILED
    return FAILED if "Unknown Job" in said else RUNNING


def sge(job):
    code, said = ask("qstat", "-j", job)
    if code == 0:
        return FAILED if found(r"^error reason\s+\d+:\s*(.*)", said) else RUNNING
    if "do not exist" not in said:
        return RUNNING
    code, said = ask("qacct", "-j", job)  # written some seconds after the job's end
    if code != 0:
        return RUNNING
    ended_well = found(r"^exit_status\s+(\d+)", said) == found(r"^failed\s+(\d+)", said) == "0"
    return SUCCESS if ended_well else FAILED


def lsf(job):
    _, said = ask("bjobs", "-noheader", "-o", "stat", job)
    state = said.strip()
    if state == "DONE":
        return SUCCESS
    return FAILED if state in ("EXIT", "ZOMBI") or "is not found" in said else RUNNING


if __name__ == "__main__":
    print({"slurm": slurm, "pbs": pbs, "sge": sge, "lsf": lsf}[sys.argv[1]](sys.argv[2]))
