"""A real Slurm on this one machine, for as long as somebody wants it.

    python -m cluster.slurm_daemons FOLDER [PORT]     (as root, in tests/)

starts it, says `up`, and stops it at the end of its own input, which the kernel brings about
however its parent ends. What this process leaves behind where it is killed itself, the next start
removes: the lock file names its folder.
"""

import fcntl
import os
import secrets
import select
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from cluster import slurm_conf

# One at a time: /etc/slurm/slurm.conf is one link. Slurm's own step launcher forgets SLURM_CONF.
LOCK = Path("/tmp/crossover-slurm.lock")
LINKS = Path("/etc/slurm")
LINKED = ("slurm.conf", "gres.conf")
PORT = 16817
CONTROLLER = ("slurmctld",)
DAEMONS = ("munged", *CONTROLLER, "slurmd", "slurmstepd")
START_S, STOP_S, ASK_S = 60, 20, 5  # seconds: for what never comes


class NotUp(Exception):
    """Slurm did not start, or did not stop; the message is what its logs say."""


def run(folder: Path, port: int) -> None:
    """Hold the lock, start, wait for the end of the input, stop."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit(1))
    with _locked() as lock:
        if left := lock.read_text().strip():
            stop(Path(left))
        lock.write_text(str(folder))
        try:
            start(folder, port)
            print("up", flush=True)
            sys.stdin.read()
        finally:
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                signal.signal(number, signal.SIG_IGN)
            stop(folder)
            lock.write_text("")


@contextmanager
def _locked() -> Iterator[Path]:
    descriptor = os.open(LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        while not _taken(descriptor):
            # Whoever wants a cluster may be gone before there is one.
            if select.select([sys.stdin], [], [], 1)[0]:
                sys.exit("nobody waits for a cluster any more")
        yield LOCK
    finally:
        os.close(descriptor)


def _taken(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def start(folder: Path, port: int) -> None:
    """All daemons, each waited for; raises NotUp."""
    conf = slurm_conf.write(folder, port)
    os.environ["SLURM_CONF"] = str(conf)
    key = folder / "munge/key"
    if not key.exists():
        key.write_bytes(secrets.token_bytes(1024))
    key.chmod(0o400)
    socket = folder / "munge/socket"
    # --force: owners and permissions of the path, as below /tmp, are warnings only.
    _daemon(
        "munged",
        *("--force", f"--socket={socket}", f"--key-file={key}", f"--seed-file={folder}/munge/seed"),
        *(f"--pid-file={folder}/run/munged.pid", f"--log-file={folder}/log/munged.log"),
    )
    _until(lambda: _ends_well("munge", "-n", "-S", str(socket)), "munged", folder)
    LINKS.mkdir(parents=True, exist_ok=True)
    for name in LINKED:
        link = LINKS / name
        if link.exists() and not link.is_symlink():
            raise NotUp(f"{link} is a real file: this machine has a Slurm of its own")
        link.unlink(missing_ok=True)
        link.symlink_to(folder / "etc" / name)
    start_controller(folder)
    for node in slurm_conf.NODES:
        _daemon("slurmd", "-N", node.name)
    _until(nodes_are_idle, "the nodes", folder)


def start_controller(folder: Path) -> None:
    _daemon("slurmctld")
    _until(controller_is_up, "slurmctld", folder)


def stop_controller(folder: Path) -> None:
    """As for a restart of it: jobs run on."""
    for pid in processes(folder, CONTROLLER):
        os.kill(pid, signal.SIGTERM)
    _until(lambda: not processes(folder, CONTROLLER), "the end of the controller", folder)


def stop(folder: Path) -> None:
    """Cancel what runs, end every process of this cluster, remove the links. Never raises."""
    os.environ["SLURM_CONF"] = str(folder / "etc/slurm.conf")
    if (folder / "etc/slurm.conf").exists() and controller_is_up():
        _ends_well("scancel", "--full", "--user=root")
        with suppress(NotUp):
            _until(lambda: not _said("squeue", "--noheader"), "the end of the jobs", folder, STOP_S)
    for number, seconds in ((signal.SIGTERM, STOP_S), (signal.SIGKILL, STOP_S)):
        for pid in processes(folder):
            with suppress(ProcessLookupError):
                os.kill(pid, number)
        with suppress(NotUp):
            _until(lambda: not processes(folder), "the end of the daemons", folder, seconds)
    for name in LINKED:
        link = LINKS / name
        if link.is_symlink() and link.readlink() == folder / "etc" / name:
            link.unlink()


def processes(folder: Path, names: tuple[str, ...] = DAEMONS) -> list[int]:
    """Daemons and job steps of this cluster: all were given its configuration, or its socket."""
    marks = (f"SLURM_CONF={folder}/etc/slurm.conf".encode(), f"--socket={folder}/".encode())
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if (path / "comm").read_text().strip().startswith(names):
                words = (path / "environ").read_bytes() + (path / "cmdline").read_bytes()
                if any(mark in words for mark in marks):
                    found.append(int(path.name))
    return found


def controller_is_up() -> bool:
    return "is UP" in _said("scontrol", "ping")


def nodes_are_idle() -> bool:
    states = _said("sinfo", "--noheader", "--Node", "--format=%N %t").splitlines()
    return {line.strip() for line in states} == {f"{node.name} idle" for node in slurm_conf.NODES}


def _daemon(name: str, *arguments: str) -> None:
    """It goes to the background by itself; what it has to say then is in its log."""
    done = subprocess.run(
        [shutil.which(name) or f"/usr/sbin/{name}", *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        timeout=START_S,
        start_new_session=True,
    )
    if done.returncode:
        raise NotUp(f"{name} ended with exit status {done.returncode}")


def _said(*command: str) -> str:
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=ASK_S)
    except subprocess.TimeoutExpired:
        return ""
    return done.stdout


def _ends_well(*command: str) -> bool:
    with suppress(subprocess.TimeoutExpired):
        return subprocess.run(command, capture_output=True, timeout=ASK_S).returncode == 0
    return False


def _until(true: Callable[[], bool], what: str, folder: Path, seconds: float = START_S) -> None:
    end = time.monotonic() + seconds
    while not true():
        if time.monotonic() > end:
            logs = [log.read_text(errors="replace")[-500:] for log in folder.glob("log/*.log")]
            raise NotUp("\n".join([f"waited in vain for {what}", *logs]))
        time.sleep(0.1)


if __name__ == "__main__":
    try:
        run(Path(sys.argv[1]).resolve(), int(sys.argv[2]) if len(sys.argv) > 2 else PORT)
    except NotUp as error:
        sys.exit(str(error))
