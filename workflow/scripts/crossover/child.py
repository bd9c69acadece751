"""The process that measures: `python -m crossover.child`, its task as JSON on standard input.

It imports what it measures and nothing besides, writes its files by renaming, and leaves without
unloading its libraries, which for torch takes half a second.
"""

import ctypes
import io
import json
import os
import signal
import sys
import time
import traceback
import zlib
from contextlib import suppress
from pathlib import Path
from typing import Any

from crossover import machine, plugin, record
from crossover.measurement import Measurement
from crossover.status import OK, Failed, Unavailable, meaning, one_line, own_words
from crossover.work import where


def main() -> None:
    """Do the task, leave its files, and end at once: what a library does at exit is no part of
    it."""
    task = json.load(sys.stdin)
    _die_with(task["parent"])
    try:
        if task["kind"] == "probe":
            _probe(task)
        else:
            _measure(task)
    except record.NotWritten as error:  # said to the job, since the log's disk may be full as well
        os.write(task["said"], str(error).encode())
    with suppress(OSError):
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(0)


def _measure(task: dict[str, Any]) -> None:
    measurement = _measurement(task)
    facts = task["facts"] | {"environment": machine.environment()}
    try:
        measurement.run()
        rows, status, reason = measurement.rows, OK, ""
    except BaseException as error:  # whatever it is becomes the cell's reason
        _log_traceback()
        rows, status = [{}], measurement.status_of(error)
        reason = one_line(error) + where(error, task.get("workload_file", ""))
    facts |= measurement.facts
    if task["array"]:
        content = record.EMPTY_NPY
        if status == OK:
            file = io.BytesIO()
            measurement.np.save(file, measurement.array, allow_pickle=False)
            content = file.getvalue()
        facts["array_crc32"] = f"{zlib.crc32(content):08x}"
        record.replace(Path(task["array"]), content)
    facts |= {"status": status, "reason": reason}
    # The table comes last: where it is, the round is whole.
    record.write(Path(task["csv"]), [facts | row for row in rows])


def _measurement(task: dict[str, Any]) -> Any:
    if task["kind"] == "render":
        from crossover.rendering import Rendering  # only here: it is no part of a cell's harness

        return Rendering(task)
    if task["kind"] == "ceilings":
        from crossover.ceilings import Ceilings

        return Ceilings(task)
    return Measurement(task)


def _probe(task: dict[str, Any]) -> None:
    """Is the backend's library here, and does it work? One small real operation answers."""
    from crossover.facts import of_process  # only here: they are no part of a cell's harness

    found = dict(task["facts"])
    backend: Any = None
    try:
        start = time.perf_counter()
        module = plugin.load(Path(task["backend_file"]))
        found["import_s"] = time.perf_counter() - start
        backend = module.Backend(task["device"], task["threads_granted"], task["options"])

        import numpy as np

        ones = backend.to_device(np.ones(2, "float32"), "float32")
        two = backend.to_host(ones + ones)
        backend.synchronize()
        if two.tolist() != [2, 2]:
            raise Unavailable(f"1 + 1, twice, gave {two.tolist()}")
        found |= backend.facts()
        found |= {"available": True, "threads_effective": backend.effective_threads()}
        found["machine_facts"] |= of_process(backend, found.get("device_uuid", ""))
    except BaseException as error:
        _log_traceback()
        found["available"] = False
        if isinstance(error, Failed | ImportError | OSError):
            status = error.status if isinstance(error, Failed) else Unavailable.status
            found |= {"status": status, "reason": own_words(error)}
        else:  # a full device, or a mistake in the backend's file, is no missing one
            found |= {"status": meaning(error, backend), "reason": one_line(error)}
    record.replace(Path(task["json"]), json.dumps(found, indent=2).encode())


def _log_traceback() -> None:
    with suppress(OSError):  # a log that is full is no reason to lose the row
        traceback.print_exc()


def _die_with(parent: int) -> None:
    """Be killed when the job is: an orphan would go on using the cores."""
    try:
        pr_set_pdeathsig = 1
        ctypes.CDLL(None).prctl(pr_set_pdeathsig, signal.SIGKILL)
    except (OSError, AttributeError):
        return
    if os.getppid() != parent:  # it died before we asked
        os._exit(1)


if __name__ == "__main__":
    main()
