"""`make pack`: the whole sweep, the same bytes each time, and nothing of who and where."""

import getpass
import json
import platform
import zipfile

import pytest

from crossover import archive, config, pack, privacy, record, roofline, summary, table
from crossover.cells import Cell, Picture
from crossover.privacy import Private
from rounds import failed, measured

HOST = "gpu7.lab.example"
NODE = "node17"  # where a cluster measured
HOME = "/home/ada lovelace"
REASON = f"OSError at {HOME}/secret_project/mine.py, line 3 (ada on {NODE}, /scratch/bob/x.npy)"


@pytest.fixture
def swept(tmp_path, monkeypatch):
    """A sweep of ada's, on her host, as its raw files and summary are."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", HOME)
    monkeypatch.setenv("LOGNAME", "ada")
    monkeypatch.setattr(platform, "node", lambda: HOST)
    found = config.read(
        {
            "workloads": {"add": {"sizes": [1000], "dtypes": ["float64"]},
                          "polar": {"sizes": [100], "dtypes": ["float32"]}},
            "backends": {"numpy": {}, "gpu": {"library": "torch", "device": "cuda"}},
            "rounds": 2,
            "machine": "ada's box",
        },
        tmp_path,
    )  # fmt: skip
    facts = {"host": HOST, "node": NODE, "boot": "boot-1", "device_uuid": "GPU-1",
             "environment": f"LD_PRELOAD={HOME}/lib/libx.so"}  # fmt: skip
    for number in (1, 2):
        measured("numpy", [1e-3 * number, 2e-3, 3e-3], number, **facts)
        failed("gpu", "error", REASON, number)
        for name in ("numpy", "gpu"):
            cell = Cell("polar", name, "float32", 100)
            measured(name, 1e-3, number, cell=cell, scopes=("compute", "first_call"), **facts)
        for method in ("line", "raster"):
            picture = Picture("polar", method, "float32", 100)
            measured(method, 1e-2, number, cell=picture, scopes=("render",), **facts)
    summarized(found)
    probe = {"available": True, "host": HOST, "machine_facts": {"x": [f"in {HOME}/y.so"]}}
    record.replace(tmp_path / "results/backends/numpy.json", json.dumps(probe).encode())
    return found


def summarized(found):
    cells = [*found.cells(), *found.pictures()]
    rows = summary.summarize(cells, found.rounds, "numpy", mixed=found.mixed_machines)
    table.write(found.folder / "summary.csv", roofline.annotate(rows, {}))


def texts(path):
    with zipfile.ZipFile(path) as file:
        return "\n".join([*file.namelist(), *(file.read(n).decode() for n in file.namelist())])


def test_the_archive_has_every_round_and_reads_back(swept, tmp_path):
    (line,) = pack.pack(swept, None, False)
    assert line.startswith("Wrote results/pack.zip: 4 cells of 2 rounds, ")
    found = archive.read(tmp_path / "results/pack.zip")
    assert [row["status"] for row in found.rows].count("error") == 1
    raw = record.read(Cell("add", "numpy", "float64", 1000).csv(1))
    kept = found.rounds[Cell("add", "numpy", "float64", 1000)][1]
    assert kept.scopes["compute"].seconds == [float(row["seconds"]) for row in raw]
    assert found.config["backends"]["gpu"]["device"] == "cuda"
    assert found.config["workloads"]["add"]["file"] == "add.py"


def test_no_user_no_path_and_no_host(swept, tmp_path):
    pack.pack(swept, None, False)
    text = texts(tmp_path / "results/pack.zip")
    for word in (
        "ada",
        "lovelace",
        "secret",
        "bob",
        "/home",
        "/scratch",
        "gpu7",
        NODE,
        str(tmp_path),
    ):
        assert word not in text, word
    assert "boot-1" not in text and "GPU-1" not in text
    assert privacy.here().hashed(HOST) in text  # two archives of one host are known as such
    assert "OSError at mine.py, line 3 (<user> on" in text and "LD_PRELOAD=libx.so" in text
    if getpass.getuser() != "root":
        assert getpass.getuser() not in text


def test_the_host_is_named_where_that_is_asked_for(swept, tmp_path):
    said = pack.pack(swept, tmp_path / "with.zip", True)
    assert f"It names the host: {HOST}, {NODE}" in said
    text = texts(tmp_path / "with.zip")
    assert HOST in text and "ada" not in text and "boot-1" not in text


def test_the_same_results_are_the_same_bytes(swept, tmp_path):
    pack.pack(swept, tmp_path / "one.zip", False)
    for path in tmp_path.glob("results/**/*.csv"):
        path.touch()
    pack.pack(swept, tmp_path / "deeper/two.zip", False)
    assert (tmp_path / "one.zip").read_bytes() == (tmp_path / "deeper/two.zip").read_bytes()
    assert not list(tmp_path.glob("**/.*.tmp"))


def test_what_cannot_be_written_leaves_what_was_there(swept, tmp_path, monkeypatch):
    (tmp_path / "old.zip").write_bytes(b"old")

    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(record.os, "fsync", full)
    with pytest.raises(record.NotWritten, match=r"old\.zip cannot be written: No space left"):
        pack.pack(swept, tmp_path / "old.zip", False)
    assert (tmp_path / "old.zip").read_bytes() == b"old"
    assert not list(tmp_path.glob("**/.*.tmp"))


def test_a_round_that_is_newer_than_the_summary_is_refused(swept):
    measured("numpy", [5e-3], 1)
    with pytest.raises(pack.NotPacked, match=r"summary\.csv was made of$"):
        pack.pack(swept, None, False)
    summarized(swept)
    pack.pack(swept, None, False)
    failed("numpy", "error", "later", 2)
    with pytest.raises(pack.NotPacked, match="is not what"):
        pack.pack(swept, None, False)


def test_a_config_that_was_edited_since_is_refused(swept, tmp_path):
    other = {"workloads": {"add": {"sizes": [7]}}, "backends": {"numpy": {}}}
    with pytest.raises(pack.NotPacked, match="is not of the cells in this config"):
        pack.pack(config.read(other, tmp_path), None, False)


SETTINGS = {"seed": 7, "budget_s": 0.5, "threads": 1, "memory": "recycled", "device": "cpu",
            "options": {"compile": True}}  # fmt: skip


@pytest.mark.parametrize("name", SETTINGS)
def test_settings_that_were_edited_since_are_refused(tmp_path, monkeypatch, name):
    """No archive says of its times that they were measured in another way."""
    monkeypatch.chdir(tmp_path)
    own = name in ("memory", "device", "options")

    def read(changed):
        entry = {"library": "torch", "device": "cuda"} | (changed if own else {})
        return config.read(
            {"workloads": {"add": {"sizes": [1000], "dtypes": ["float64"]}},
             "backends": {"numpy": {}, "gpu": entry}, "rounds": 1, **({} if own else changed)},
            tmp_path,
        )  # fmt: skip

    swept = read({})
    for backend in ("numpy", "gpu"):
        measured(backend, 1e-3, seed=0, budget_s=0.2, memory="fresh")
    probe = {"available": True, "asked": json.dumps(["cuda", {}, "all"])}
    record.replace(tmp_path / "results/backends/gpu.json", json.dumps(probe).encode())
    summarized(swept)
    pack.pack(swept, None, False)
    with pytest.raises(pack.NotPacked, match=f"not measured as this config says .*{name}.* of gpu"):
        pack.pack(read({name: SETTINGS[name]}), None, False)


@pytest.mark.parametrize("mixed", ["apart", "divide", "refuse"])
def test_rounds_of_several_machines_are_packed(tmp_path, monkeypatch, mixed):
    monkeypatch.chdir(tmp_path)
    found = config.read(
        {"workloads": {"add": {"sizes": [1000], "dtypes": ["float64"]}},
         "backends": {"numpy": {}}, "rounds": 2, "mixed_machines": mixed},
        tmp_path,
    )  # fmt: skip
    for number in (1, 2):
        measured("numpy", 1e-3 * number, number, machine=f"machine{number}")
    summarized(found)
    pack.pack(found, None, False)
    assert archive.read(tmp_path / "results/pack.zip").rows


def test_names_of_the_config_stay_and_are_said(swept, tmp_path):
    named = config.read(
        {"workloads": {"add": {"sizes": [1000], "dtypes": ["float64"]}},
         "backends": {"numpy": {}, "ada_cpu": {"library": "numpy"}}, "rounds": 1},
        tmp_path,
    )  # fmt: skip
    measured("numpy", 1e-3)
    measured("ada_cpu", 1e-3)
    summarized(named)
    assert pack.pack(named, None, False)[-1].startswith("ada_cpu: names a person or this host;")
    packed = archive.read(tmp_path / "results/pack.zip")
    assert "ada_cpu" in packed.config["backends"]  # where `make compare` looks for its options


def test_a_hash_is_not_found_by_guessing_the_name(monkeypatch, tmp_path):
    hashes = set()
    for machine_id in ("3d1219c7c4c5404a", "b11c9a2f0e4d4c7b", "3d1219c7c4c5404a"):
        (tmp_path / "machine-id").write_text(f"{machine_id}\n")
        monkeypatch.setattr(privacy, "MACHINE_ID", tmp_path / "machine-id")
        hashes.add(privacy.here().hashed("gpu7"))
    assert len(hashes) == 2
    assert hashes.isdisjoint({Private((), (), ()).hashed("gpu7")})


PRIVATE = Private(places=(HOME,), users=("ada",), hosts=("gpu7",))
CLEANED = {
    f"in {HOME}/a b/k.py:3": "in <path> b/k.py:3",
    "A=/opt/lib.so:/home/bob/y.so.3": "A=lib.so:y.so.3",
    "/home/bob": "<path>",
    "file:///home/bob/x.csv": "x.csv",
    r"C:\Users\bob\k.py": "k.py",
    "~/k.py and ~bob/": "k.py and <path>",
    "12 GB/s and/or 1 / 2": "12 GB/s and/or 1 / 2",
    "https://example.org/a/b": "https://example.org/a/b",
    "ada_kernel, Canada, ADA": "<user>_kernel, Canada, <user>",
    "needs 8,000 bytes": "needs 8,000 bytes",
    "ask bob.b@lab.example": "ask <mail>",
    f"{HOST} is down": f"{PRIVATE.hashed('gpu7')} is down",
}


@pytest.mark.parametrize("text", CLEANED)
def test_free_texts_lose_paths_and_names(text):
    assert PRIVATE.text(text) == CLEANED[text]
