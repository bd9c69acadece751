"""The house: what is written twice says the same."""

import re
import tomllib

import pytest
import yaml

from conftest import ROOT
from crossover import __version__, grades, status

DEFAULT_PROFILE = "profiles/default/config.yaml"


# What people write; docs/example/ is what a sweep has written.
WRITTEN = {".py", ".smk", ".yaml", ".yml", ".md", ".rst", ".js", ".css", ".j2", ".toml", ".txt"}
MADE = ("docs/example/", "results/", "benchmarks/results/", "logs/")


def files():
    """The files of the repository, but for hidden folders and what is made."""
    for path in sorted(ROOT.rglob("*")):
        name = str(path.relative_to(ROOT))
        if not (name.startswith((".", *MADE)) or "/." in name or path.is_dir()):
            yield path


def packages(lines):
    return {
        line.split("#")[0].strip()
        for line in lines
        if line.split("#")[0].strip() and not line.startswith("-")
    }


def test_environment_and_requirements_name_the_same_packages_and_bounds():
    environment = yaml.safe_load((ROOT / "environment.yml").read_text())
    (pip,) = [entry["pip"] for entry in environment["dependencies"] if isinstance(entry, dict)]
    assert set(pip) == packages((ROOT / "requirements.txt").read_text().splitlines())


def test_every_requirement_has_bounds():
    for line in packages((ROOT / "requirements.txt").read_text().splitlines()):
        assert "==" in line or ("<" in line and ">=" in line), line


@pytest.mark.parametrize("path", sorted((ROOT / "profiles").glob("*/config.yaml")), ids=str)
def test_every_profile_keeps_what_caching_stands_on(path):
    profile = yaml.safe_load(path.read_text())
    default = yaml.safe_load((ROOT / DEFAULT_PROFILE).read_text())
    for key in ("rerun-triggers", "rerun-incomplete", "scheduler"):
        assert profile[key] == default[key], key
    assert "code" not in profile["rerun-triggers"]
    assert "cores" not in profile


def test_the_version_is_one():
    assert f"version: {__version__}" in (ROOT / "CITATION.cff").read_text()
    assert f"## {__version__}" in (ROOT / "CHANGELOG.md").read_text()


MAKE = re.compile(r"(?:`|^ {4})make ([a-z-]+)", re.MULTILINE)
PAGES = [
    str(path.relative_to(ROOT))
    for path in (*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("[bp]*/README.md"))
    if MAKE.search(path.read_text())
]


@pytest.mark.parametrize("page", PAGES)
def test_every_make_target_of_a_page_is_there(page):
    named = set(MAKE.findall((ROOT / page).read_text()))
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    assert named <= targets, named - targets


def test_every_file_that_contributing_names_is_there():
    """By its whole path, or by its end where the words around it say the folder."""
    there = [f"/{path.relative_to(ROOT)}" for path in files()]
    named = re.findall(
        r"[`(]([\w./]+\.(?:py|md|smk|txt|cff|lock))[`)]", (ROOT / "CONTRIBUTING.md").read_text()
    )
    for name in named:
        assert any(path.endswith(f"/{name}") for path in there), name


@pytest.mark.parametrize("word", [*grades.MEANING, *status.ALL])
def test_every_grade_and_status_is_explained(word):
    assert f"`{word}`" in (ROOT / "docs/results.md").read_text()


def test_no_file_is_longer_than_400_lines():
    for path in files():
        if path.suffix in WRITTEN or path.name in ("Snakefile", "Makefile", "Containerfile"):
            assert len(path.read_text().splitlines()) <= 400, path


def test_the_tools_settings_are_read():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())
    assert set(settings) == {"tool"}  # nothing is installed from here


def test_ci_runs_what_the_readme_says():
    assert "make test" in (ROOT / ".ci/run").read_text()
    assert "bash .ci/run" in (ROOT / ".github/workflows/ci.yml").read_text()
