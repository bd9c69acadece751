"""Wrong backends fail the check that is for their fault, and right ones pass all of them.

The wrong ones are those of wrong_backends.py, each with one promise broken.
"""

import re
from pathlib import Path

import pytest

from conftest import ROOT, Project
from crossover import check_command, conformance, status, subject
from crossover.config import ConfigError
from crossover.measurement import Measurement
from test_measurement import BUILTIN, FAKE, task
from wrong_backends import FORGETFUL, HEAD, HOST, WITHOUT_ON_HOST, WRONG

pytestmark = pytest.mark.whole

DOCUMENT = ROOT / "docs/own_backend.md"


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """What the fake device queues takes long enough beside a small product."""
    monkeypatch.setattr(conformance, "MATRICES", conformance.MATRICES[:2])


def started(file: Path, device: str = "fake") -> subject.Subject:
    return subject.start(file, device, 1, {})


def written(folder: Path, body: str) -> Path:
    file = folder / "mine.py"
    file.write_text(HEAD + body.removeprefix("\n"))
    return file


@pytest.mark.parametrize("fault", WRONG)
def test_each_fault_is_seen_by_its_own_check(tmp_path, fault):
    body, check, words = WRONG[fault]
    ok, said = conformance.result(started(written(tmp_path, body)), check)
    assert ok is False
    assert words in said
    assert "; " in said and "\n" not in said  # what to do


def test_every_check_has_a_fault_that_it_sees():
    unseen = set(conformance.CHECKS) - {check for _, check, _ in WRONG.values()}
    assert unseen == {"what is read is complete"}  # see below


def test_a_download_that_does_not_wait_is_seen(tmp_path):
    """The fake computes at once: here the numbers come only when the queue does."""
    body = """
        self.options["work_s"] = 0.002
    def to_host(self, array):
        done = self.work.unfinished_tasks == 0
        return array.data.copy() if done else np.zeros_like(array.data)
"""
    ok, said = conformance.result(started(written(tmp_path, body)), "what is read is complete")
    assert ok is False and said.startswith("read gave 0.0 and to_host 0.0, not 7 and 8; ")


def test_random_numbers_that_are_none_are_seen(tmp_path):
    (tmp_path / "mine.py").write_text(
        f"import numpy\n{HOST}    xp = numpy\n    def random(self, shape, dtype):\n"
        "        return numpy.zeros(shape, dtype)\n"
    )
    ok, said = conformance.result(started(tmp_path / "mine.py", "cpu"), "small cells are ok")
    assert ok is False and said.startswith("monte_carlo mismatch: error 0.27")


@pytest.mark.parametrize("answer", ["return 'oom'", "return 'ok'", "return None", "return 1 / 0"])
def test_a_status_that_is_none_never_reaches_a_row(tmp_path, answer):
    """Not even 'ok', without a time."""
    file = written(tmp_path, f"    def status_of(self, error):\n        {answer}\n")
    backend = started(file).backend
    assert status.meaning(ValueError("no"), backend) == status.ERROR
    assert status.meaning(status.Mismatch("no"), backend) == status.MISMATCH


def test_facts_that_are_the_machines_are_refused_in_a_cell_as_well(tmp_path):
    made = Measurement(task(backend_file=written(tmp_path, WRONG["facts of its own"][0])))
    made.task["device"] = "fake"
    with pytest.raises(status.Failed, match="has machine, but may have device, device_uuid"):
        made.run()


def test_the_fake_device_and_numpy_pass_all_of_them():
    for file, device in ((FAKE, "fake"), (BUILTIN["numpy"], "cpu")):
        tried = started(file, device)
        for name in conformance.CHECKS:
            ok, words = conformance.result(tried, name)
            assert ok is not False, (file.name, name, words)


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("class Backend: pass", "FAIL: error: TypeError"),
        ("class Backend:\n  def __init__(self, *a): self.on_host = True", "FAIL: it has no dtype,"),
        ("import missing_library\nclass Backend: pass", "FAIL: unavailable: ModuleNotFoundError"),
        (HEAD + "        self.on_host = True\n", "FAIL: on_host is True, but the device is fake"),
        (
            "class Backend: pass\nraise SystemExit(0)",
            "FAIL: error: SystemExit: 0 (mine.py, line 2)",
        ),
        (f"{HOST}    pass", "FAIL: it has no xp; xp is the library's namespace"),
        (f"{HOST}    xp = 1\n    def __init__(self, *a): pass", "FAIL: it has no device; "),
        (WITHOUT_ON_HOST, "FAIL: it has no on_host; make Backend a subclass"),
    ],
)
def test_what_cannot_start_is_one_line_and_exit_status_1(tmp_path, capsys, source, words):
    (tmp_path / "mine.py").write_text(source)
    assert check_command.run(str(tmp_path / "mine.py"), "", "") == 1
    _, line = capsys.readouterr().out.splitlines()
    assert line.startswith("starts ") and words in line


@pytest.mark.parametrize(
    ("file", "device", "options", "words"),
    [
        ("", "", "", "FILE=: name a Python file"),
        ("nowhere.py", "", "", "file: '.*nowhere.py' is not there"),
        (str(DOCUMENT), "", "", "file: .* is not Python: line"),
        (str(FAKE), "cuda", "", "device: 'cuda' is no device of fake_device.py"),
        (str(FAKE), "", "{", "OPTIONS={: .*write it as OPTIONS='"),
        (str(FAKE), "", '{"work": 1}', "options.work: unknown option; did you mean 'work_s'"),
        (str(BUILTIN["torch"]), "", '{"precision": "tf23"}', "did you mean 'tf32'"),
    ],
)
def test_what_cannot_be_asked_is_one_line(file, device, options, words):
    with pytest.raises(ConfigError, match=words) as failure:
        check_command.run(file, device, options)
    assert len(failure.value.lines) == 1


def test_a_line_for_each_check_and_the_exit_status(monkeypatch, tmp_path, capsys):
    kept = ("sums are right", "synchronize waits", "pinned memory is filled")
    checks = {name: conformance.CHECKS[name] for name in kept}
    monkeypatch.setattr(conformance, "CHECKS", checks)
    assert check_command.run(str(FAKE), "", '{"no_pinning": true}') == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split("  ")[0] for line in lines[1:-1]] == ["starts", *kept]
    assert lines[-2].endswith("not tried: it locks no pages: the fake device locks no pages")
    assert lines[-1] == "All 3 checks passed"
    assert check_command.run(str(written(tmp_path, FORGETFUL)), "", "") == 1
    lines = capsys.readouterr().out.splitlines()
    assert re.search("^synchronize waits +FAIL: .* calls took", lines[3])
    assert lines[-1] == "1 of 4 checks failed"


def test_what_hangs_is_ended_by_hand_and_said(monkeypatch, tmp_path, capsys):
    file = written(tmp_path, "    def to_device(self, *asked): raise KeyboardInterrupt\n")
    assert check_command.run(str(file), "", "") == 1
    assert re.search(
        "^sums are right +FAIL: interrupted; ", capsys.readouterr().out.splitlines()[2]
    )


def test_a_file_beside_it_is_no_library_here_as_in_a_cell():
    assert "$(BIN)/python -P -m crossover\n" in (ROOT / "Makefile").read_text()


def test_the_command_line_ends_in_one_line_too(tmp_path):
    done = Project(ROOT).crossover("check-backend", "--file", str(tmp_path / "nowhere.py"))
    assert done.returncode == 1 and done.stdout == ""
    assert done.stderr == f"file: '{tmp_path}/nowhere.py' is not there\n"


# --- the documentation


def test_the_example_passes_as_it_stands_there(tmp_path, capsys):
    (example,) = re.findall(r"```python\n(.*?)```", DOCUMENT.read_text(), re.DOTALL)
    (tmp_path / "my_torch.py").write_text(example)
    assert check_command.run(str(tmp_path / "my_torch.py"), "", "") == 0, capsys.readouterr().out
    assert "not tried" in capsys.readouterr().out  # pinning, on the CPU


def test_the_documentation_names_every_method_and_every_check():
    text = DOCUMENT.read_text()
    assert [name for name in subject.METHODS if not re.search(rf"`{name}[`(]", text)] == []
    named = text.replace(
        "uploads, downloads do not alias", "uploads do not alias, downloads do not alias"
    )
    assert [name for name in conformance.CHECKS if name not in named] == []
