"""The words of a verdict over made-up summaries: the first line can be acted on, and nothing is
said that the intervals do not support."""

import re

import pytest

import verdicts_doubted
import verdicts_of_libraries
import verdicts_with_gpu
import verdicts_without_gpu
from crossover import trust, verdict
from made_up_verdicts import failed, numpy, of

CASES = verdicts_with_gpu.CASES | verdicts_without_gpu.CASES | verdicts_doubted.CASES
CASES |= verdicts_of_libraries.CASES


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_words(case):
    said = case.said()
    assert [line for line in case.lines if line not in said] == [], "\n".join(said)
    assert case.lines[:1] in ([], said[:1])
    text = "\n".join(said)
    assert [part for part in case.parts if part not in text] == [], text
    assert [part for part in case.absent if part in text] == [], text


def test_some_thirty_summaries_are_looked_at():
    assert len(CASES) >= 30


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_ten_lines_that_can_be_read_as_they_are(case):
    said = case.said()
    assert 2 <= len(said) <= 10
    for line in said:
        assert line and line == " ".join(line.split()) and line[-1] in ".)", line
        assert not re.search(r"\b(nan|None|inf)\b|\(\)|  |\?|;;|(?<!\.)\.\.(?!\.)", line), line


def test_what_makes_a_line_claim_a_gain_is_there():
    """Words of a gain only where a break-even size, or an interval at the largest size, has it."""
    for case in CASES.values():
        text = "\n".join(case.said())
        for word in (
            "never faster",
            "not seen faster",
            "what is faster than that",
            "may be faster",
        ):
            text = text.replace(word, "")
        ahead = any(e["kind"].startswith(("from", "faster only")) for e in case.evens)
        seen = any(row["finding"] == "faster" for row in case.rows)
        assert ahead or ("faster" not in text and "Worth" not in text), text
        assert seen or "as fast" not in text, text


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_markdown_reads_back_as_the_words(case):
    said = case.said()
    text = verdict.markdown(said)
    assert verdict.read(text) == said
    assert [line[:2] == "- " for line in text.splitlines()] == [False] + [True] * (len(said) - 1)


def test_markdown_escapes_what_it_would_take_for_a_sign():
    first, item = "a_b _c_ <script> $x$ | `d` [e](f) #", "1. *g* & \\ 100% ~"
    text = verdict.markdown([first, item])
    assert text == (
        "a_b \\_c\\_ \\<script\\> \\$x\\$ \\| \\`d\\` \\[e\\](f) \\#\n"
        "- 1\\. \\*g\\* \\& \\\\ 100% \\~\n"
    )
    assert verdict.read(text) == [first, item]
    assert verdict.printed([first, item]) == [first, f"- {item}"]


def test_every_reason_is_once_in_the_list():
    rows = of(failed("a", (1, 2), reason="x"), failed("b", (1,), reason="y"), numpy((1,)))
    assert trust.reasons(rows) == ["2 x a: unavailable (x)", "1 x b: unavailable (y)"]
