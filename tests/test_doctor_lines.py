"""How the doctor's lines are written: aligned, in plain words, whatever they are made of."""

from dataclasses import replace

import pytest

from crossover import doctor
from crossover.doctor_lines import LOOK, WIDTH, Line, text
from made_up_machine import WELL


def test_hostile_words_stay_on_their_line():
    evil = "\x1b[31m<script>\n\n$x$ | 100% \udcff " + "x" * 500
    facts = replace(
        WELL,
        machine={"cpu": {"model": evil}, "system": {"os": evil}},
        settings={"OMP_PLACES": evil},
        folder=evil,
        probes={evil: {"available": False, "status": "error", "reason": evil}},
    )
    said = text(doctor.lines(facts))
    assert said.isascii() and "\x1b" not in said
    starts = ("ok    ", "look  ", "stop  ", " " * 19)
    assert all(row.startswith(starts) for row in said.splitlines())
    calm = [row for row in said.splitlines() if "xxx" not in row]
    assert all(len(row) <= WIDTH for row in calm) and len(said) < 4000


@pytest.mark.parametrize("count", range(9, 20))
def test_a_command_stays_on_one_line(count):
    words = "you can " * count + "'run NVIDIA this way', and so on"
    first, *more = text([Line(LOOK, "disk", "NVIDIA's", words)]).splitlines()
    assert first == "look  disk         NVIDIA's"
    assert " ".join(row[22:] for row in more) == words
    assert any("'run NVIDIA this way'," in row for row in more)
    assert all(len(row) <= WIDTH for row in more)
