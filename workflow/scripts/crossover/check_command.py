"""`make check-backend FILE=...`: a line for each check on a backend's file, and what to do.

The name of a check is there before it runs, so that a library that takes the whole process down is
caught in the act.
"""

import json
from pathlib import Path
from typing import Any

from crossover import conformance, machine, plugin, subject
from crossover.config import Backend, ConfigError, read

ENTRY = "mine"
WIDTH = max(map(len, conformance.CHECKS)) + 2
MARKS = {True: "pass", False: "FAIL", None: "not tried"}


def run(file: str, device: str, options: str) -> int:
    """The exit status, 1 where a check failed. Raises ConfigError where the file cannot be a
    backend's, or has no such device or option."""
    entry = _entry(file, device, options)
    try:
        return _run(file, entry)
    except KeyboardInterrupt:  # what hangs is ended so
        print("FAIL: interrupted; what never comes back there makes every cell a timeout")
        return 1


def _run(file: str, entry: Backend) -> int:
    print(f"{file} on {entry.device}")
    print(f"{'starts':{WIDTH}}", end="", flush=True)
    try:
        threads = entry.threads or machine.usable_cores()
        tried = subject.start(entry.file, entry.device, threads, dict(entry.options))
    except subject.Broken as why:
        print(f"FAIL: {why}")
        return 1
    print(MARKS[True])
    passed = []
    for name in conformance.CHECKS:
        print(f"{name:{WIDTH}}", end="", flush=True)
        ok, words = conformance.result(tried, name)
        passed.append(ok)
        print(": ".join(filter(None, (MARKS[ok], words))))
    failed, count = passed.count(False), 1 + len(passed) - passed.count(None)
    print(f"{failed} of {count} checks failed" if failed else f"All {count} checks passed")
    return int(failed > 0)


def _entry(file: str, device: str, options: str) -> Backend:
    """What an entry in config.yaml with this file would be."""
    if not file:
        raise ConfigError(["FILE=: name a Python file with a class Backend"])
    try:
        asked = json.loads(options or "{}")
    except ValueError as error:
        words = f"OPTIONS={options}: {error}; write it as OPTIONS='{{\"compile\": true}}'"
        raise ConfigError([words]) from None
    values: dict[str, Any] = {"file": file, "options": asked}
    values["device"] = device or _first_device(Path(file))
    try:
        config = read(
            {"workloads": {"add": {"sizes": 1}}, "backends": {ENTRY: values}, "baseline": ENTRY},
            Path.cwd(),
        )
    except ConfigError as error:
        lines = (line.replace(f"config: backends.{ENTRY}.", "", 1) for line in error.lines)
        lines = (line.replace(f"config: backends.{ENTRY}", file, 1) for line in lines)
        raise ConfigError(list(lines)) from None
    return config.backends[ENTRY]


def _first_device(file: Path) -> str:
    """Of those that it names; what is wrong with the file is said where it is read as a whole."""
    try:
        found = plugin.declared(file).get("DEVICES")
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return "cpu"
    return str(found[0]) if isinstance(found, tuple | list) and found else "cpu"
