"""summary.csv is read whole, or refused in one line that names the cure."""

import pytest

from crossover import table
from made_up import with_gpu, written

DAMAGE = {
    "empty": (lambda text: "", "is empty"),
    "only a header": (lambda text: text.splitlines()[0] + "\n", "was cut"),
    "cut in a line": (lambda text: text[:-30], "was cut or edited: row 44"),
    "cut at a row": (lambda text: text[: text.rstrip().rindex("\n") + 1], "was cut: 43 rows of 44"),
    "a better speedup": (lambda text: text.replace(",0.6,", ",6.0,"), "was cut or edited"),
    "a failure made good": (lambda text: text.replace("unavailable", "ok"), "was cut or edited"),
    "another version's": (lambda text: text.replace(",grade,", ",mark,"), "other columns"),
    "not text": (lambda text: "\udcff\udcfe\n", "is not text"),
    "another file": (lambda text: "x,y\n1,2\n", "other columns"),
}


def rows():
    """With a number and a failure that the damages change."""
    made = with_gpu()
    return [{**made[0], "speedup": 0.6}, {**made[1], "status": "unavailable"}, *made[2:]]


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_summary_is_one_line_with_the_cure(tmp_path, damage):
    path = written(tmp_path / "summary.csv", rows())
    assert len(table.read(path)) == 44
    edit, reason = DAMAGE[damage]
    path.write_bytes(edit(path.read_text()).encode(errors="surrogateescape"))
    with pytest.raises(ValueError, match="run the sweep again") as error:
        table.read(path)
    assert str(error.value).startswith(f"{path} ")
    assert reason in str(error.value)
    assert "\n" not in str(error.value)
