"""Which tests are for `make unit`: those that start no process and take no seconds.

A test is one unless it uses a fixture that runs Snakemake or is marked `whole`, alone or with its
file (`pytestmark`). A test for `make unit` that starts a process fails, here and in `make test`.
"""

import re
import sys
from pathlib import Path

import pytest

RUN_SNAKEMAKE = {"project", "finished"}  # fixtures of conftest.py
WHOLE_FILE = re.compile(r"^pytestmark = .*\bmark\.whole\b", re.MULTILINE)
STARTS = {"subprocess.Popen", "os.fork", "os.forkpty", "os.posix_spawn", "os.system", "os.exec"}

running: list[pytest.Item] = []  # one, or none


@pytest.hookimpl(tryfirst=True)  # before those that are not asked for are left out
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        fixtures = set(getattr(item, "fixturenames", ()))
        here = item.path.parent == Path(__file__).parent
        if here and not fixtures & RUN_SNAKEMAKE and not item.get_closest_marker("whole"):
            item.add_marker("unit")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """A file that has none for `make unit` is not even imported: some need seconds for that."""
    if config.option.markexpr != "unit" or collection_path.suffix != ".py":
        return None
    return True if WHOLE_FILE.search(collection_path.read_text()) else None


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item):
    running[:] = [item] if item.get_closest_marker("unit") else []
    try:
        return (yield)
    finally:
        running.clear()


def refuse(event: str, arguments: tuple[object, ...]) -> None:
    """Called by Python for all that it does; there is no way to take it out again."""
    if event in STARTS and running:
        what = f"{event} {arguments[:2]}"
        pytest.fail(f"not for `make unit`, so mark it pytest.mark.whole: it starts {what}")


sys.addaudithook(refuse)
