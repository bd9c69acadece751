"""The processes of a sweep, found from outside."""

import time
from pathlib import Path

import psutil

CHILD = "crossover.child"
JOB = ".measure.py"


def running(root: Path, word: str = "") -> list[psutil.Process]:
    """The processes that work in a project's folder, with `word` in their command line."""
    found = []
    for process in psutil.process_iter():
        try:
            here = Path(process.cwd()) == root
            # A zombie has no command line: nobody has waited for it yet, but it is gone.
            if here and word in " ".join(process.cmdline()) and process.cmdline():
                found.append(process)
        except (psutil.Error, OSError):
            continue
    return found


def measuring(root: Path) -> list[psutil.Process]:
    return running(root, CHILD) + running(root, JOB)


def until(true, what: str, seconds: float = 60):
    """Wait for `true()` to be, and return it; `seconds` is for what never comes."""
    end = time.monotonic() + seconds
    while not (found := true()):
        assert time.monotonic() < end, f"waited in vain for: {what}"
        time.sleep(0.05)
    return found


def alive(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def private_lock(project) -> None:
    """A lock of the project's own, so that no other sweep of this machine makes it wait."""
    path = project.root / "workflow/scripts/crossover/turn.py"
    text = path.read_text()
    own = text.replace("/tmp/crossover.lock", str(project.root.parent / "lock"))
    assert own != text
    path.write_text(own)


def snapshot(folder: Path) -> dict[str, tuple[int, int]]:
    """Which files are there, and which inode and date they have; half-written ones are not."""
    found = {}
    for path in folder.rglob("*"):
        if path.is_file() and path.suffix != ".tmp":
            stat = path.stat()
            found[str(path.relative_to(folder))] = (stat.st_ino, stat.st_mtime_ns)
    return found
