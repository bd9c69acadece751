"""A workload of one's own as a user has it: the example of the docs, rows, page and picture."""

import re
from pathlib import Path

import numpy as np
import pytest
import yaml

import made_up_page
import one_cell
import own_files
from conftest import ROOT
from crossover import assumed, config, page, plugin, record, work
from crossover.measurement import Measurement
from crossover.rendering import Rendering
from crossover.status import OK, Failed
from crossover.workloads import OPTIONAL
from test_measurement import task

DOCUMENT = ROOT / "docs/own_workload.md"


def blocks_of(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", DOCUMENT.read_text(), re.DOTALL)


@pytest.fixture(scope="module")
def example(tmp_path_factory) -> Path:
    """The files of docs/own_workload.md as they stand there."""
    folder = tmp_path_factory.mktemp("example")
    (kernel,), (settings,) = blocks_of("python"), blocks_of("yaml")
    assert len([line for line in kernel.splitlines() if line]) <= 10
    (folder / "my_kernel.py").write_text(kernel)
    (folder / "config.yaml").write_text(settings)
    return folder


@pytest.mark.whole
def test_the_example_of_the_docs_runs_as_it_stands(example):
    read = config.load(example / "config.yaml", example)
    rows = {}
    for cell in read.cells():
        backend = read.backends[cell.backend]
        if backend.device == "cpu":
            asked = task("mine", cell.size, cell.dtype, backend.file, budget_s=0.001)
            made = Measurement(asked | {"workload_file": str(read.workloads["mine"].file)})
            made.run()
            rows[cell] = made.facts
    assert len(rows) == 8
    for cell, facts in rows.items():
        assert facts["assumed"] == ", ".join(OPTIONAL)
        assert facts["error"] <= facts["error_bound"] < 1e-3
        itemsize = np.dtype(cell.dtype).itemsize
        assert facts["input_bytes"] == 2 * facts["output_bytes"] == 2 * cell.size * itemsize
        assert "flop" not in facts


def test_snakemake_runs_the_example_and_an_edit_re_runs_its_cells_alone(example, project):
    name = "my_kernel.py"
    (project.root / name).write_text((example / name).read_text())
    settings = yaml.safe_load((example / "config.yaml").read_text())
    settings["workloads"]["add"] = {"sizes": [100], "dtypes": ["float64"]}
    project.configure(settings | {"budget_s": 0.01})
    cells = "results/cells/{}/numpy/float64/{}/1.csv"
    targets = [cells.format("mine", 10000), cells.format("add", 100)]
    project.sweep(*targets)
    assert [record.read(project.root / path)[0]["status"] for path in targets] == [OK, OK]
    project.edit(name)
    assert project.plan(*targets) == ["mine, numpy, float64, n=10000, round 1 of 3"]


@pytest.mark.whole
def test_a_row_has_the_place_and_what_was_assumed(tmp_path):
    """Through a real job and its process."""
    text = own_files.KERNEL.replace("np.hypot(a, b)", "a[10**9]")
    (tmp_path / "mine.py").write_text(f"{text}\n\nSIZE = 'grid\\n points'\n")
    row = one_cell.measured(tmp_path, workload="mine")
    assert row["status"] == "error"
    assert re.match(r"IndexError: .* \(mine.py, line 9\)$", row["reason"])
    assert (row["assumed"], row["n_is"]) == (
        "cost, output_shapes, error, bound, DTYPES",
        "grid points",
    )
    assert row["flop"] == ""


def test_a_curve_of_ones_own_is_drawn(tmp_path):
    (tmp_path / "mine.py").write_text(
        "import numpy as np\nCURVE = True\ndef inputs(rng, size):\n    return rng.random(size)\n"
        "def compute(a, size):\n    return np.cos(a), np.sin(a)\n"
    )
    asked = {"workload_file": tmp_path / "mine.py", "backend": "raster", "size": 10}
    made = Rendering({**asked, "dtype": "float32", "seed": 0, "budget_s": 0.001})
    made.run()
    assert {row["scope"] for row in made.rows} == {"first_call", "render"}
    text = (tmp_path / "mine.py").read_text().replace(", np.sin(a)", "")
    (tmp_path / "mine.py").write_text(text)
    with pytest.raises(Failed, match="has to return x and y of the curve"):
        made.run()


def test_the_page_and_the_docs_say_what_was_assumed():
    assert tuple(assumed.MEANING) == OPTIONAL
    for name in OPTIONAL:
        assert f"| `{name}" in DOCUMENT.read_text()
    results = made_up_page.results()
    assert 'id="assumed"' not in page.render(results)
    rows = [{**row, "assumed": "cost, bound", "n_is": "<b>points</b>"} for row in results.summary]
    text = page.render(made_up_page.results(**{"summary": rows}))
    assert "<dt><code>cost</code> of add</dt>" in text and "<dt><code>SIZE" not in text
    assert "What n counts: &lt;b&gt;points&lt;/b&gt; (add)." in text


def test_every_shipped_file_says_all_but_what_n_counts():
    for path in plugin.builtin("workloads").values():
        assert {*OPTIONAL} - {*plugin.functions(path), *plugin.declared(path)} <= {"SIZE"}, path
        assert work.load(path, 10, "float32").assumed == ""
