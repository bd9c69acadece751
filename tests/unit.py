"""Which tests are for `make unit`: those that start no process and take no seconds.

A test is one unless it uses a fixture that runs Snakemake or is marked `whole`, alone or with its
file (`pytestmark`). A test for `make unit` that starts a process fails, here and in `make test`.
"""

import os
import re
import subprocess
from pathlib import Path

import pytest

RUN_SNAKEMAKE = {"project", "finished"}  # fixtures of conftest.py
WHOLE_FILE = re.compile(r"^pytestmark = .*\bmark\.whole\b", re.MULTILINE)
STARTS = ((subprocess.Popen, "__init__"), (os, "fork"), (os, "posix_spawn"), (os, "system"))


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
    with pytest.MonkeyPatch.context() as patch:
        if item.get_closest_marker("unit"):
            for owner, name in STARTS:
                patch.setattr(owner, name, refuse)
        return (yield)


def refuse(*arguments: object, **settings: object) -> None:
    """No exception that the code under test could expect."""
    pytest.fail(f"not for `make unit`, so mark it pytest.mark.whole: it starts {arguments[-1]}")
