"""summary.csv is read whole, or refused in one line that names the cure."""

import csv

import pytest

from crossover import charts
from made_up import with_gpu, written


def without(column):
    def edit(text):
        rows = list(csv.reader(text.splitlines()))
        at = rows[0].index(column)
        return "".join(",".join(row[:at] + row[at + 1 :]) + "\n" for row in rows)

    return edit


DAMAGE = {
    "empty": (lambda text: "", "the file is empty"),
    "only a header": (lambda text: text.splitlines()[0] + "\n", "there are no rows"),
    "cut in a line": (lambda text: text[:-30], "the last line is cut"),
    "cut at a field": (lambda text: text[:-30].rsplit(",", 2)[0] + "\n", "fields, not 34"),
    "a column gone": (without("grade"), "column grade is missing"),
    "a column more": (lambda text: text.replace("good", "good,x", 1), "has 35 fields, not 34"),
    "words for a number": (lambda text: text.replace(",10000,", ",many,", 1), "size is 'many'"),
    "no size": (lambda text: text.replace(",10000,", ",0,", 1), "size is '0', which is not"),
    "half a size": (lambda text: text.replace(",10000,", ",0.5,", 1), "a size is not a whole"),
    "no such status": (lambda text: text.replace(",ok,", ",fine,", 1), "no status 'fine'"),
    "a cell twice": (lambda text: text + text.splitlines()[1] + "\n", "a cell is there twice"),
    "not text": (lambda text: "\udcff\udcfe\n", "codec can't decode"),
    "another file": (lambda text: "x,y\n1,2\n", "column workload is missing"),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_summary_is_one_line_with_the_cure(tmp_path, damage):
    path = written(tmp_path / "summary.csv", with_gpu())
    edit, reason = DAMAGE[damage]
    path.write_bytes(edit(path.read_text()).encode(errors="surrogateescape"))
    with pytest.raises(ValueError, match="snakemake --cores 1 --forcerun summarize") as error:
        charts.read(path)
    assert str(error.value).startswith(f"{path}: ")
    assert reason in str(error.value)
    assert "\n" not in str(error.value)
