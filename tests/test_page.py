"""The page as text: nothing from outside, nothing unescaped, the same bytes for the same results.

What a browser makes of it is in tests/browser, which `make test-page` runs.
"""

import json
import re
from base64 import b64encode
from dataclasses import replace
from hashlib import sha256
from html.parser import HTMLParser

import pytest

import made_up_page
from conftest import ROOT
from crossover import page, page_costs, page_parts
from made_up_page import CASES, EVIL, SVG

LOADING = ("src", "href", "srcset", "data", "poster", "action", "formaction", "xlink:href")


class Read(HTMLParser):
    """Elements with their attributes, and the texts of scripts and styles."""

    def __init__(self, text):
        super().__init__(convert_charrefs=True)
        self.elements, self.within = [], None
        self.inside = {"script": [], "style": [], "title": [], "pre": []}
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.elements.append((tag, dict(attributes)))
        if tag in self.inside:
            self.within = tag
            self.inside[tag].append("")

    def handle_endtag(self, tag):
        self.within = None

    def handle_data(self, text):
        if self.within:
            self.inside[self.within][-1] += text


@pytest.fixture(scope="module")
def pages():
    return {name: page.render(make()) for name, make in CASES.items()}


@pytest.mark.parametrize("name", CASES)
def test_nothing_is_loaded_from_anywhere(pages, name):
    read = Read(pages[name])
    for tag, attributes in read.elements:
        for attribute in LOADING:
            address = attributes.get(attribute)
            assert address is None or address.startswith(("#", "data:")), (tag, address)
        assert not [key for key in attributes if key.startswith("on")], tag
    (style,) = read.inside["style"]
    assert "url(" not in style and "@import" not in style
    assert "sourceMappingURL" not in pages[name]


@pytest.mark.parametrize("name", CASES)
def test_the_policy_lets_run_what_is_on_the_page_and_nothing_else(pages, name):
    read = Read(pages[name])
    scripts = [element for element in read.elements if element[0] == "script"]
    assert [attributes["type"] for _, attributes in scripts] == [
        *["application/json", "module", "module"]
    ]
    (policy,) = [
        attributes["content"]
        for _, attributes in read.elements
        if attributes.get("http-equiv") == "Content-Security-Policy"
    ]
    rules = dict(rule.split(" ", 1) for rule in policy.split("; "))
    assert rules["default-src"] == "'none'" and "connect-src" not in rules
    sums = [b64encode(sha256(t.encode()).digest()).decode() for t in read.inside["script"][1:]]
    assert rules["script-src"] == " ".join(f"'sha256-{one}'" for one in sums)


def test_hostile_names_are_text_and_nothing_else(pages):
    """Whatever they say, they add no element and no attribute that a harmless page lacks."""
    harmless = {
        (tag, key)
        for name in CASES
        if name != "hostile"
        for tag, attributes in Read(pages[name]).elements
        for key in (None, *attributes)
    }
    article = page.render(made_up_page.results(article="| a |\n|---|\n| b |\n", added="x"))
    harmless |= {(t, key) for t, found in Read(article).elements for key in (None, *found)}
    read = Read(pages["hostile"])
    found = {(tag, key) for tag, attributes in read.elements for key in (None, *attributes)}
    assert found <= harmless
    assert read.inside["title"][0] == f"Crossover: {EVIL}"
    # And they are there: in the table's data, the config, the reasons.
    columns = {c["name"]: c["values"] for c in json.loads(read.inside["script"][0])}
    assert EVIL in columns["backend"] and "<i>w</i>" in columns["workload"]
    assert EVIL in read.inside["pre"][-1] and "{{ 7 * 7 }}" in pages["hostile"]


def test_the_same_results_are_the_same_bytes(pages):
    assert page.render(made_up_page.results()) == pages["gpu"]
    shuffled = made_up_page.results()
    config = dict(reversed(shuffled.config.items()))
    assert page.render(replace(shuffled, config=config)) == pages["gpu"]


def test_the_host_is_not_named(pages):
    assert "secret" not in pages["gpu"]


def test_the_verdict_comes_first(pages):
    text = pages["gpu"]
    assert "From <em>n</em> = 1,000,000 on." in text
    places = [text.index(f'<section id="{name}"') for name in
              ("verdict", "charts", "break-even", "reuse")]  # fmt: skip
    assert places == sorted(places)


def test_what_is_not_there_has_no_section(pages):
    assert 'id="reuse"' not in pages["no_gpu"] and 'id="article"' not in pages["no_gpu"]
    assert 'id="article"' in pages["hostile"]
    assert "No cell of this sweep has a result" in pages["all_failed"]
    assert "This config draws nothing" in pages["empty"]


def test_one_workload_s_pictures_stand_together_the_most_telling_first():
    names = ("add/accuracy", "add/float64/time", "add/float64/speedup", "roofline_float64")
    names += ("matmul/float32/new_kind", "matmul/float32/time")
    found = page.chapters({f"{name}.svg": SVG.format(label=name) for name in names})
    assert [(c.title, [p.label for p in c.pictures]) for c in found] == [
        ("add, float64", [page.QUESTIONS["speedup"], page.QUESTIONS["time"]]),
        ("add, all dtypes", [page.QUESTIONS["accuracy"]]),
        ("matmul, float32", [page.QUESTIONS["time"], "new"]),
        ("All workloads", [page.QUESTIONS["roofline"]]),
    ]


def test_a_picture_stands_in_a_page_without_what_a_file_needs():
    (chapter,) = page.chapters({"add/float64/time.svg": SVG.format(label="it")})
    svg = chapter.pictures[0].svg
    assert svg.startswith("<svg ") and "<!--" not in svg and "<?xml" not in svg
    assert 'width="576pt"' not in svg and 'viewBox="0 0 576 300"' in svg
    assert 'aria-label="it"' in svg and "1.5x &lt;b&gt;</title>" in svg


def test_charts_beyond_what_a_browser_takes_at_once_wait(monkeypatch):
    one = SVG.format(label="it")
    monkeypatch.setattr(page, "AT_ONCE", 2 * len(one))
    names = ("add/float64/time", "add/float64/speedup", "matmul/float64/time")
    found = page.chapters({f"{name}.svg": one for name in names})
    assert [picture.later for c in found for picture in c.pictures] == [False, False, True]


@pytest.mark.parametrize("text", ["<svg", "<html/>", ""])
def test_what_is_no_picture_is_named(text):
    with pytest.raises(ValueError, match=r"add, float64: no SVG"):
        page.chapters({"add/float64/time.svg": text})


def test_a_bundle_that_is_not_as_expected_is_named(monkeypatch):
    monkeypatch.setattr(page, "BUNDLE", ("itables", "itables/__init__.py"))
    with pytest.raises(ValueError, match=r"__init__\.py is not the bundle"):
        page.datatables()
    monkeypatch.setattr(page, "BUNDLE", ("no-such-package", "x"))
    with pytest.raises(ValueError, match="no-such-package is not installed"):
        page.datatables()


def test_a_script_s_text_cannot_end_its_element():
    made = str(page._script("a = '</script>' + '<!--<SCRIPT '\r\nb = 1 < 2"))
    assert made == "a = '\\x3C/script>' + '\\x3C!--\\x3CSCRIPT '\nb = 1 < 2"


# --- what the tables say


def test_the_table_has_the_summary_s_values():
    rows = made_up_page.results().summary
    columns = page_parts.columnar(rows)
    names = [
        one.name for one in page_parts.TABLE if one.shown or any(row[one.name] for row in rows)
    ]
    assert [column["name"] for column in columns] == names
    assert "median_s" in names and "joules" not in names
    for column in columns:
        values = column["values"]
        if "codes" in column:
            assert len(values) < len(rows) / 2
            values = [values[code] for code in column["codes"]]
        assert values == [row[column["name"]] for row in rows], column["name"]
    shown = {column["name"] for column in columns if column["shown"]}
    assert "median_s" in shown and "reason" not in shown  # of which no row has any


def test_money_and_energy_are_told_at_the_largest_size():
    given = made_up_page.priced()
    host, _, gpu = found = page_costs.costs(given.summary, given.break_even)
    assert {one.size for one in found} == {"10000000"}
    rows = {
        (row["backend"], row["scope"]): row for row in given.summary if row["size"] == "10000000"
    }
    for one, price in ((host, 1), (gpu, 3)):
        assert one.price == f"{price} EUR" and one.calls.keys() >= {"compute"}
        for scope, cost in one.calls.items():
            median = float(rows[one.backend, scope]["median_s"])
            figure, unit = cost.split()
            assert float(figure.replace(",", "")) == pytest.approx(median * price / 3.6e-3, 5e-3)
            assert unit == "EUR"
    assert (host.joules, host.cheaper) == ("", {})
    joules = 400 * float(rows["torch_cuda", "compute"]["median_s"])
    assert gpu.joules == f"{joules:.3g} J"
    assert gpu.cheaper.keys() == {"compute", "round_trip"}
    assert gpu.cheaper["compute"].startswith("from n = ")


def test_without_a_price_or_an_energy_there_is_no_section_of_it():
    assert page_costs.costs(made_up_page.results().summary, made_up_page.results().break_even) == []
    assert 'id="costs"' not in page.render(made_up_page.results())
    assert 'id="costs"' in page.render(made_up_page.priced())


def test_a_failure_is_told_once_with_its_cells():
    rows = made_up_page.results(made_up_page.made_up.hostile()).summary
    found = {(f.backend, f.status): f for f in page_parts.failures(rows)}
    memory = found["<b>", "out_of_memory"]
    assert memory.count == 3 and memory.reason.startswith("252,982,208 bytes asked")
    assert memory.cells == ["add, float64: n = 31,622,776; 100,000,000; 316,227,766"]
    assert found["100%", "mismatch"].count == 1


def test_grades_are_counted_by_cells_with_their_cures():
    rows = made_up_page.results(made_up_page.made_up.noisy()).summary
    found = {doubt.grade: (doubt.count, doubt.cure) for doubt in page_parts.doubts(rows)}
    assert found == {
        "few_threads": (1, "retry"),
        "disturbed": (1, "retry"),
        "drifting": (1, "retry"),
        "above_ceiling": (1, "retry"),
        "launch_bound": (2, ""),
        "single_call": (2, ""),
    }


def test_scopes_stand_side_by_side():
    rows = [
        {"workload": "w", "dtype": "d", "backend": "b", "against": a, "scope": s, "words": w}
        | {"apart": ""}
        for a, s, w in (
            ("x", "compute", "from"),
            ("x", "round_trip", ""),
            ("y", "compute", "never"),
        )
    ]
    found = page_parts.crossings(rows)
    assert [(one.against, one.findings) for one in found] == [
        ("x", {"compute": "from", "round_trip": "no interval"}),
        ("y", {"compute": "never"}),
    ]
    assert page_parts.scopes_of(rows) == ["compute", "round_trip"]


@pytest.mark.parametrize(
    ("point", "low", "high", "words"),
    [
        ("12.0", "10.0", "15.0", "12 (95 %: 10 to 15)"),
        ("1234.0", "1000.0", "inf", "1,234 (95 %: 1,000 to never)"),
        ("inf", "inf", "inf", "never"),
        ("3.0", "", "", "3"),
        ("", "", "", ""),
    ],
)
def test_calls_that_pay(point, low, high, words):
    assert page_parts.calls({"warm": point, "warm_low": low, "warm_high": high}, "warm") == words


def test_what_all_backends_say_is_said_once():
    groups = dict(page_parts.facts({"numpy": made_up_page.PROBE, "gpu": made_up_page.NO_GPU}))
    own = {fact.name: fact.values for fact in groups["backend"]}
    assert own["available"] == ["yes", f"no: {made_up_page.made_up.NO_CUDA}"]
    assert own["import"] == ["219 ms", ""]
    assert own["thread pools"] == ["openblas, 2 threads, 0.3.31", ""]
    assert not any(fact.shared for fact in groups["backend"])
    memory = {fact.name: fact for fact in groups["memory"]}
    assert memory["total"].shared and memory["total"].values == ["23.5 GiB", ""]
    assert memory["swap"].values[0] == "0"


def test_every_scope_is_explained_as_in_the_docs():
    text = (ROOT / "docs/results.md").read_text()
    table = re.search(r"## What a time covers[^|]*((?:\|.*\n)+)", text)
    rows = [line.split("|")[1] for line in table[1].splitlines()]
    named = {name for cell in rows for name in re.findall(r"`(\w+)`", cell)} - {"scope"}
    named.discard("import_s")
    assert named <= set(page_parts.SCOPES)
