"""`make unit` leaves out what starts processes; a test that starts one unmarked fails."""

import pytest

from conftest import ROOT

pytest_plugins = ["pytester"]
pytestmark = pytest.mark.whole  # a pytest in a pytest starts processes of its own

TESTS = """
import subprocess, sys
import pytest

def test_plain():
    pass

def test_starts_a_process():
    try:
        subprocess.run([sys.executable, "-c", ""])
    except Exception:
        pass

@pytest.mark.whole
def test_says_so():
    subprocess.run([sys.executable, "-c", ""])

@pytest.fixture
def project():
    subprocess.run([sys.executable, "-c", ""])

@pytest.fixture
def within(project):
    pass

def test_with_a_project(within):
    pass
"""


def outcomes(pytester, *options):
    (pytester.path / "unit.py").write_text((ROOT / "tests/unit.py").read_text())
    pytester.makeini("[pytest]\nmarkers = [unit]\n")
    pytester.makeconftest(
        "from unit import pytest_collection_modifyitems, pytest_ignore_collect\n"
        "from unit import pytest_runtest_protocol\n"
    )
    pytester.makepyfile(test_some=TESTS, test_whole="import pytest\nimport no_such_module\n"
                        "pytestmark = pytest.mark.whole\n")  # fmt: skip
    done = pytester.runpytest_subprocess(*options, "-p", "no:cacheprovider")
    return done, done.parseoutcomes()


def test_what_make_unit_runs(pytester):
    done, found = outcomes(pytester, "-m", "unit")
    assert (found["passed"], found["failed"], found["deselected"]) == (1, 1, 2)
    assert "mark it pytest.mark.whole: it starts [" in done.stdout.str()
