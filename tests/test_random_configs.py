"""200 random configs through the config function, ten of them through Snakemake: each is planned or
is refused in lines of its own, and none ends in a traceback.

Those ten are dry runs, which read the config, plan every job and run none.
"""

import json
import os
import subprocess
import sys

import pytest
import yaml
from hypothesis import HealthCheck, configuration, given, settings

import own_files
from conftest import copy_to
from crossover import config
from random_configs import configs

pytestmark = pytest.mark.whole

COUNT, EACH = 200, 5
# One process for all: Snakemake's own start takes longer than a dry run.
PLANNING = """
import contextlib, io, json, sys
from snakemake.cli import main

for name in sys.argv[1:]:
    said, status = io.StringIO(), 0
    flags = ["--cores", "1", "--dry-run", "--configfile", name, "--replace-workflow-config"]
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        try:
            main(flags)
        except SystemExit as error:
            status = error.code
    print(json.dumps([status, said.getvalue()]))
"""


@pytest.fixture(scope="module")
def tried(tmp_path_factory):
    """A clone with the files that the configs name; the configs that can be read, and those that
    are refused with their lines."""
    project = copy_to(tmp_path_factory.mktemp("random") / "clone")
    own_files.write(project.root)
    configuration.set_hypothesis_home_dir(project.root / ".hypothesis")
    accepted, refused = [], []

    @settings(
        max_examples=COUNT,
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(configs())
    def read(values):
        before = repr(values)
        try:
            accepted.append((values, config.read(values, project.root)))
        except config.ConfigError as error:
            refused.append((values, error.lines))
        assert repr(values) == before

    read()
    return project, accepted, refused


def test_each_is_a_config_or_is_refused_in_lines(tried):
    _, accepted, refused = tried
    assert len(accepted) + len(refused) >= COUNT
    assert len(accepted) > COUNT / 4 and len(refused) > COUNT / 4
    for values, read in accepted:
        assert {cell.workload for cell in read.cells()} == set(values["workloads"])
    for _, lines in refused:
        assert lines and len(set(lines)) == len(lines)
        for line in lines:
            assert line.startswith("config: ") and len(line.splitlines()) == 1
            assert "Traceback" not in line and len(line) < 1000


def as_file(values) -> str:
    """As YAML, '' where YAML would not give the same back."""
    try:
        text = yaml.safe_dump(values, sort_keys=False)
        return text if repr(yaml.safe_load(text)) == repr(values) else ""
    except (yaml.YAMLError, ValueError):
        return ""


def own_entry(values):
    """The entry of a workload of one's own, None where there is none."""
    return next((entry for entry in values["workloads"].values() if "file" in entry), None)


def test_snakemake_plans_or_refuses_them_in_the_same_lines(tried):
    project, accepted, refused = tried
    mine = [values for values, _ in accepted if own_entry(values) and as_file(values)]
    chosen = mine[:: len(mine) // EACH][:EACH]
    for values, name in zip(chosen, own_files.GOOD[-EACH:], strict=True):
        own_entry(values)["file"] = name  # another path through Snakemake for each
    by_key = {lines[0].split()[1]: values for values, lines in refused if as_file(values)}
    chosen += list(by_key.values())[:EACH]
    names, expected = [f"random_{number}.yaml" for number in range(2 * EACH)], []
    for name, values in zip(names, chosen, strict=True):
        (project.root / name).write_text(as_file(values))
        try:
            expected.append(config.load(project.root / name, project.root))
        except config.ConfigError as error:
            expected.append(error.lines)
    done = subprocess.run(
        [sys.executable, "-c", PLANNING, *names],
        cwd=project.root,
        env=os.environ | {"COLUMNS": "200"},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(found) == len(names)
    for name, right, (status, said) in zip(names, expected, found, strict=True):
        assert "Traceback" not in said, (name, said)
        if isinstance(right, config.Config):
            assert status == 0, (name, said)
            assert said.count(", round ") >= len(right.cells()) * right.rounds
        else:
            assert status == "\n".join(right), (name, said)
