"""Each rule lists the sources that its jobs import, and every profile goes by their content."""

import ast
from pathlib import Path

import pytest
import yaml

from conftest import ROOT, Project
from crossover import identity, record

PACKAGE = "workflow/scripts/crossover"
DRAWING = ("charts", "curve", "accuracy", "roofline", "page")
TEXTS = {f"{PACKAGE}/use_gpu_template.py"}  # read, not imported


@pytest.mark.parametrize(
    "profile", sorted(ROOT.glob("profiles/*/config.yaml")), ids=lambda path: path.parent.name
)
def test_every_profile_leaves_out_the_dates_of_scripts(profile):
    triggers = yaml.safe_load(profile.read_text())["rerun-triggers"]
    assert triggers == ["mtime", "params", "input", "software-env"]


def imported(finished: Project) -> dict[str, set[str]]:
    """By script: the package's modules that it and its child imported, as files."""
    lines = (finished.root.parent / "imports.txt").read_text().splitlines()
    seen = [line.split("\t") for line in lines]
    scripts = {
        pid: name
        for pid, _, _, *command in seen
        for name in ("measure", "probe", "render", "ceilings", "summarize", "decide", *DRAWING)
        if any(word.endswith(f".{name}.py") for word in command)
    }
    found: dict[str, set[str]] = {name: set() for name in scripts.values()}
    for pid, parent, module, *_ in seen:
        if script := scripts.get(pid) or scripts.get(parent):
            found[script].add(file_of(module))
    return found


def file_of(module: str) -> str:
    path = Path(PACKAGE, *module.split(".")[1:])
    is_folder = (ROOT / path).is_dir()
    return str(path / "__init__.py" if is_folder else path.with_suffix(".py"))


def declared(finished: Project) -> dict[str, set[str]]:
    """By rule: the package's modules among its inputs; not the one workload or backend."""
    done = finished.sweep("--detailed-summary")
    found: dict[str, set[str]] = {}
    for line in done.stdout.splitlines()[1:]:
        _, _, rule, _, inputs, *_ = line.split("\t")
        found.setdefault(rule, set()).update(
            name
            for name in inputs.split(",")
            if name.startswith(PACKAGE)
            and (Path(name).name == "__init__.py" or Path(name).parent == Path(PACKAGE))
        )
    return found


def test_each_rule_declares_what_its_script_imports(finished):
    """An import too few, and an edit re-runs nothing; one too many, and it re-runs too much."""
    real, listed = imported(finished), declared(finished)
    # Planning and judging imports are in every process; the package's own file holds no code.
    package = f"{PACKAGE}/__init__.py"
    for names in (*real.values(), *listed.values()):
        names.discard(package)
    assert listed["measure_again"] == listed["measure"]
    for script in ("summarize", "decide", *DRAWING):
        assert listed[script] - TEXTS == real[script], script
    harness = {f"{PACKAGE}/{name}" for name in identity.HARNESS}
    assert listed["measure"] == harness == real["measure"]
    assert listed["probe"] - harness == real["probe"] - harness != set()
    assert real["probe"] <= listed["probe"]
    for script in ("render", "ceilings"):
        assert listed[script] >= real[script], script
        assert listed[script] - real[script] <= harness, script


def test_the_package_file_holds_no_code():
    """It is in no rule's inputs: a new version number is no reason to measure again."""
    for node in ast.parse((ROOT / PACKAGE / "__init__.py").read_text()).body:
        assert isinstance(node, ast.Expr | ast.Assign) and isinstance(node.value, ast.Constant)


def test_no_raw_file_is_too_large_to_be_known_by_its_content(finished):
    """Snakemake compares contents up to 1 MB; a file in the cache goes by its date above that."""
    assert len(",".join((*record.FACTS, *record.SEALS))) < 1000
    page = finished.root / "results/report.html"  # which no job reads
    for path in set(finished.root.glob("results/**/*")) - {page}:
        assert path.is_dir() or path.stat().st_size < 1_000_000, path
