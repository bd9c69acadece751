"""On a cluster: what is asked for, which jobs go together, and that the plan is one everywhere.

Without one: `pretend_cluster` runs each submission here, as on a node with other variables and
fewer cores. The same on a real Slurm is in tests/cluster/.
"""

import os
import re
import subprocess
import sys

import pytest
import yaml

import pretend_cluster
from config_cases import lines, raw
from conftest import ROOT, Project, copy_to
from crossover import config, grades, identity, nodes, record, scheduler
from crossover.workloads import Cost

GPU = {"slurm_partition": "gpus", "gpu_model": "a100"}
CONFIG = {
    "workloads": {"add": {"sizes": [10, 100], "dtypes": ["float64"]}},
    "backends": {
        "numpy": {},
        "cheap": {"library": "numpy", "node": "any", "resources": {"mem_mb": 700}},
        "fake": {"file": "tests/fake_device.py", "device": "fake", "resources": GPU},
    },
    "rounds": 1,
    "budget_s": 0.01,
    "timeout_s": 60,
}
# The cells alone: each submission costs a start of Snakemake.
TARGETS = [
    f"results/cells/add/{backend}/float64/{size}/1.csv"
    for backend in CONFIG["backends"]
    for size in (10, 100)
]
SUBMIT = f"{sys.executable} tests/pretend_cluster.py"


@pytest.fixture(scope="module")
def run(tmp_path_factory) -> Project:
    """A sweep on the pretended cluster; what was asked for is in `pretend` beside it."""
    project = copy_to(tmp_path_factory.mktemp("cluster") / "clone")
    project.configure(CONFIG)
    notes = project.root.parent / "pretend"
    notes.mkdir()
    (notes / "sitecustomize.py").write_text(pretend_cluster.SPY)
    command = [sys.executable, "-m", "snakemake", "--workflow-profile", "profiles/cluster-generic"]
    command += ["--cluster-generic-submit-cmd", SUBMIT, "--seconds-between-status-checks", "1"]
    command += ["--cluster-generic-status-cmd", f"{SUBMIT} status", *TARGETS]
    done = subprocess.run(
        command,
        cwd=project.root,
        env=os.environ | {"PRETEND": str(notes), "PYTHONPATH": str(notes)},
        capture_output=True,
        text=True,
        timeout=300,
    )
    logs = "".join(path.read_text() for path in notes.glob("log.*"))
    assert done.returncode == 0, done.stdout + done.stderr + logs
    return project


def asked(run: Project) -> dict[str, dict]:
    """By group, what its submission asks for."""
    found = pretend_cluster.asked(run.root.parent / "pretend")
    return {one["groupid"]: one["resources"] for one in found}


@pytest.mark.whole
def test_what_is_compared_goes_to_one_node_as_one_submission(run):
    assert set(asked(run)) == {"fake-round1-part1", "cheap-round1-part1"}


@pytest.mark.whole
def test_a_group_asks_for_one_gpu_and_for_what_its_largest_job_needs(run):
    group = asked(run)["fake-round1-part1"]  # two sizes, a device and a host
    assert group["gpu"] == 1 and group["gpu_model"] == "a100"
    assert group["slurm_partition"] == "gpus"
    assert group["cpus_per_task"] == 8
    assert group["mem_mb"] == nodes.memory_mb(Cost(0, 800, 800), gpu=True)
    assert group["runtime"] == 4 * nodes.minutes(60)
    assert group["exclusive"] == 1 and group["slurm_extra"] == "--exclusive"


@pytest.mark.whole
def test_hosts_that_are_not_paired_ask_for_no_gpu(run):
    group = asked(run)["cheap-round1-part1"]
    assert not {"gpu", "gpu_model", "slurm_partition"} & set(group)
    assert group["mem_mb"] == 700


@pytest.mark.whole
def test_the_plan_inside_a_job_is_the_one_it_was_submitted_with(run):
    notes = run.root.parent / "pretend"
    login, job = (pretend_cluster.jobs(notes, where) for where in ("login", "job"))
    assert len(login) == len(TARGETS)
    assert job == login


@pytest.mark.whole
def test_another_look_from_anywhere_finds_nothing_to_do(run):
    for variables in ({}, pretend_cluster.NODE):
        done = run.sweep(
            *("--dry-run", "--workflow-profile", "profiles/slurm", *TARGETS),
            **(variables | {"PYTHONPATH": ""}),
        )
        assert "Nothing to be done" in done.stdout + done.stderr


@pytest.mark.whole
def test_each_row_says_where_it_was_measured_and_on_how_many_cores(run):
    rows = {
        name: record.read(run.root / f"results/cells/add/{name}/float64/100/1.csv")[0]
        for name in CONFIG["backends"]
    }
    for row in rows.values():
        assert (row["node"], row["partition"], row["job_id"]) == ("node7", "gpus", "7")
        assert row["threads_requested"] == "all"
        assert (row["cores_requested"], row["cores"], row["threads_granted"]) == ("8", "1", "1")
        assert row["node_use"] == "exclusive"
        assert grades.few_threads(row)  # one core, and eight were asked for
    assert rows["fake"]["device_uuid"]


@pytest.mark.whole
def test_only_what_measures_goes_to_nodes(run):
    local = re.search(r"^localrules:\n((?:    .*\n)+)", (run.root / "Snakefile").read_text(), re.M)
    rules = set()
    for path in run.root.glob("workflow/rules/*.smk"):
        rules |= set(
            re.findall(r"^(?:use )?rule (\w+)(?: as (\w+) with)?:", path.read_text(), re.M)
        )
    names = {new or name for name, new in rules}
    here = {name.strip(" ,") for name in local[1].splitlines()}
    assert names - here == {"probe", "measure", "measure_again", "ceilings", "render"}


@pytest.mark.whole
def test_other_memory_measures_nothing_again_and_another_model_does(run, tmp_path):
    again = run.copy(tmp_path / "again")

    def plan(**resources):
        backends = CONFIG["backends"] | {
            "fake": CONFIG["backends"]["fake"] | {"resources": resources}
        }
        again.configure(CONFIG | {"backends": backends})
        done = again.sweep("-n", "--workflow-profile", "profiles/cluster-generic", *TARGETS)
        return re.findall(r"^ *Job \d+: (.+),", done.stdout + done.stderr, re.MULTILINE)

    assert plan(**GPU, mem_mb=9000, runtime=9, exclusive=False) == []
    other = plan(**GPU | {"gpu_model": "h100"})
    assert sorted(other) == [
        f"add, {backend}, float64, n={size}" for backend in ("fake", "numpy") for size in (10, 100)
    ]


@pytest.mark.whole
def test_no_groups_without_the_limit_that_makes_them_ask_for_the_largest(run):
    done = run.run("-n", "--workflow-profile", "profiles/slurm", "--resources", "other=3")
    assert done.returncode != 0 and "--resources turn=1" in done.stdout + done.stderr


# ---- without running anything


def places(defaults=None, **entries):
    backends = {"numpy": {}, **{name: mine(**entry) for name, entry in entries.items()}}
    read = config.read(raw(backends=backends), ROOT)
    return nodes.places(read.backends, defaults or {})


def mine(**entry):
    if entry.get("device", "cpu") == "cpu":
        return {"library": "numpy", **entry}
    return {"library": "torch", **entry}


def cuda(**resources):
    return {"device": "cuda", "resources": resources}


def test_without_resources_all_go_where_the_device_is():
    found = places(torch={"device": "cuda"}, other={})
    assert found["numpy"] == found["torch"] == found["other"]
    assert found["numpy"].gpu and found["numpy"].words == "any node, one GPU"


def test_without_a_device_there_is_no_gpu():
    found = places({"slurm_partition": "cpu"}, other={})
    assert found["numpy"].words == "slurm_partition cpu"


def test_each_model_has_its_nodes_and_hosts_say_to_which_they_belong():
    found = places(
        a=cuda(gpu_model="a100"),
        h=cuda(gpu_model="h100"),
        numpy={"resources": {"gpu_model": "h100"}},
        far={"node": "any"},
    )
    assert found["numpy"] == found["h"] != found["a"]
    assert found["h"].backends == ("h", "numpy") and found["far"].backends == ("far",)
    assert not found["far"].gpu


def test_a_host_that_does_not_say_it_is_one_clear_line():
    (line,) = lines(
        raw(backends={"numpy": {}, "a": mine(**cuda(queue="a")), "b": mine(**cuda(queue="b"))})
    )
    assert line.startswith("backends.numpy.resources: the devices are on several kinds of nodes (a")
    assert "node: any" in line


def test_the_devices_entry_decides_for_its_partners_and_defaults_fill_in():
    defaults = nodes.from_profile(
        {"slurm_partition": "'cpu'", "slurm_account": "me", "exclusive": "false", "mem_mb": "x()"}
    )
    assert defaults == {"slurm_partition": "cpu", "slurm_account": "me", "exclusive": False}
    place = places(defaults, t=cuda(slurm_partition="gpu", exclusive=True))["numpy"]
    assert dict(place.machine) == {"slurm_partition": "gpu"}
    assert dict(place.common) == {"slurm_account": "me", "exclusive": True}
    assert place.extra("--nice=1") == "--nice=1 --exclusive"
    assert places(defaults)["numpy"].extra("") is None


@pytest.mark.parametrize(
    ("resources", "words"),
    [
        ({"partition": "a"}, "did you mean 'slurm_partition'?"),
        ({"gpu_model": "a 100"}, "backends.t.resources.gpu_model: 'a 100' is not a GPU model"),
        ({"slurm_partition": "a b"}, "is not a partition"),
        ({"slurm_account": 7}, "is not an account"),
        ({"mem_mb": "8GB"}, "is not an amount of memory; megabytes"),
        ({"runtime": 0}, "is not a time; minutes"),
        ({"cpus_per_task": 1.5}, "is not a number of cores"),
        ({"exclusive": "maybe"}, "is not true or false"),
    ],
)
def test_what_cannot_be_asked_for_is_one_clear_line(resources, words):
    (line,) = lines(raw(backends={"numpy": {}, "t": mine(**cuda(**resources))}))
    assert words in line


def test_identity_is_what_was_asked_for_and_never_the_machine_that_plans(monkeypatch):
    read = config.read(raw(backends={"numpy": {}, "t": mine(**cuda(**GPU))}), ROOT)
    there = nodes.places(read.backends, {})
    here = identity.where(read, read.backends["t"], {})
    asked_for = identity.where(read, read.backends["t"], there)
    assert asked_for == "slurm_partition gpus, gpu_model a100, one GPU"
    assert (
        identity.where(read, read.backends["numpy"], there)
        == asked_for
        == identity.host(read, there)
    )
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "3")
    assert identity.where(read, read.backends["t"], {}) != here
    assert identity.where(read, read.backends["t"], there) == asked_for


def test_batches_are_whole_sets_up_to_the_limit():
    read = config.read(
        raw(
            workloads={"add": {"sizes": list(range(1, 31))}},
            backends={"numpy": {}, "t": mine(**cuda())},
        ),
        ROOT,
    )
    where = nodes.places(read.backends, {})
    sets = sorted({(c.workload, c.dtype, str(c.size)) for c in read.cells()})
    found = nodes.batches(sets, read.cells(), where, 20)
    numbers = [found["t", one] for one in sets]
    assert numbers == sorted(numbers) and max(numbers) == 6  # 60 sets of two jobs, ten in a batch
    assert all(numbers.count(number) == 10 for number in set(numbers))
    assert max(nodes.batches(sets, read.cells(), where, 1).values()) == 60


@pytest.mark.parametrize(
    ("variables", "cores"),
    [
        ({}, None),
        ({"SLURM_CPUS_PER_TASK": "4"}, None),  # left over, and no job
        ({"SLURM_JOB_ID": "1", "SLURM_CPUS_PER_TASK": "4", "SLURM_CPUS_ON_NODE": "64"}, 4),
        ({"SLURM_JOB_ID": "1", "SLURM_CPUS_ON_NODE": "64"}, 64),
        ({"PBS_JOBID": "1", "NCPUS": "3"}, 3),
        ({"LSB_JOBID": "1", "LSB_DJOB_NUMPROC": "2"}, 2),
        ({"JOB_ID": "1", "NSLOTS": "2"}, None),  # too plain a name to be Grid Engine's
        ({"JOB_ID": "1", "SGE_TASK_ID": "undefined", "NSLOTS": "5"}, 5),
        ({"SLURM_JOB_ID": "1", "SLURM_CPUS_PER_TASK": "many"}, None),
    ],
)
def test_cores_are_what_the_scheduler_gave(monkeypatch, variables, cores):
    for name in {name for one in scheduler.SCHEDULERS for names in one for name in names}:
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert scheduler.granted_cores() == cores


@pytest.mark.parametrize(
    ("mounts", "exclusive", "use"),
    [
        ("30 1 8:1 / / rw - ext4 /dev/sda rw", False, "locked"),
        ("31 30 0:9 / /tmp rw - tmpfs tmpfs rw", False, "locked"),
        ("31 30 8:1 /tmp /tmp rw - ext4 /dev/sda rw", False, "locked"),
        ("31 30 8:1 /local/7/.7 /tmp rw - ext4 /dev/sda rw", False, "shared"),
        ("31 30 8:1 /local/7/.7 /tmp rw - ext4 /dev/sda rw", True, "exclusive"),
    ],
)
def test_a_node_that_others_may_measure_on_is_said_to_be(
    tmp_path, monkeypatch, mounts, exclusive, use
):
    (tmp_path / "mountinfo").write_text(mounts + "\n")
    monkeypatch.setattr(scheduler, "MOUNTS", tmp_path / "mountinfo")
    assert scheduler.node_use(exclusive) == use


@pytest.mark.parametrize("name", ["slurm", "cluster-generic"])
def test_the_clusters_profiles_ask_alike(name):
    profile = yaml.safe_load((ROOT / f"profiles/{name}/config.yaml").read_text())
    assert profile["resources"] == ["turn=1"] and profile["group-components"] == ["measuring=20"]
    assert profile["default-resources"] == ["cpus_per_task=8"]
    assert len((ROOT / "profiles/README.md").read_text().splitlines()) < 25
