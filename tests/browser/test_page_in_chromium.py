"""The page as a reader has it: seen, pointed at, walked by keyboard, on a phone, in print."""

import re

import pytest
from playwright.sync_api import expect

import made_up_page
from crossover import page, page_parts, table
from made_up_page import CASES, results

PHONE = {"viewport": {"width": 360, "height": 740}, "is_mobile": True, "has_touch": True}
ORDER = "table.rows({order: 'applied', search: 'applied'}).data().toArray()"
IN_TABLE = f"() => {{ const table = new DataTable.Api('#summary'); return {ORDER}; }}"
OVERFLOW = "() => document.documentElement.scrollWidth - document.documentElement.clientWidth"
# What is wider than its box, or reaches over the page's edge.
CUT = """(what) => [...document.querySelectorAll(what)].filter((one) => one.clientWidth && (
  one.scrollWidth > one.clientWidth + 1 || one.getBoundingClientRect().right > innerWidth + 1
)).map((one) => one.outerHTML.slice(0, 80))"""
NAMES = (
    "() => JSON.parse(document.getElementById('summary-data').textContent).map((one) => one.name)"
)


def rows(opened):
    """The table's rows, as filtered and sorted, with the values of summary.csv."""
    names = opened.page.evaluate(NAMES)
    return [dict(zip(names, row, strict=True)) for row in opened.page.evaluate(IN_TABLE)]


def in_table(summary):
    """What the table has of a summary's rows."""
    names = [column["name"] for column in page_parts.columnar(summary)]
    return [{name: row[name] for name in names} for row in summary]


def choice(opened, name):
    """One of the fields above the table."""
    return opened.page.locator("#filters").get_by_label(name, exact=True)


def first(opened, column):
    """What is seen in a column, from top to bottom."""
    shown = [one.name for one in page_parts.TABLE if one.shown]
    at = opened.page.locator("#summary thead th").evaluate_all(
        "(cells, name) => cells.findIndex((cell) => cell.textContent.trim() === name)", column
    )
    assert at >= 0, (column, shown)
    return opened.page.locator(f"#summary tbody td:nth-child({at + 1})").all_inner_texts()


# --- whatever the results


@pytest.mark.parametrize("name", CASES)
def test_it_renders_without_a_complaint_a_request_or_an_overflow(show, name, tmp_path):
    opened = show(name)
    for scheme, width in (("light", 1280), ("dark", 768), ("dark", 360), ("light", 360)):
        opened.page.emulate_media(color_scheme=scheme)
        opened.page.set_viewport_size({"width": width, "height": 800})
        for section in opened.page.locator("main > section").all():
            section.scroll_into_view_if_needed()
        assert opened.page.evaluate(OVERFLOW) <= 0, width
        opened.page.screenshot(path=tmp_path / f"{name}_{scheme}_{width}.png")
    assert opened.clean(), (opened.asked, opened.said)


def test_it_fits_a_phone(show, tmp_path):
    opened = show("long_names", **PHONE)
    assert opened.page.evaluate("() => [innerWidth, visualViewport.scale]") == [360, 1]
    opened.page.screenshot(path=tmp_path / "phone.png")


def test_no_script_but_ours_runs(show):
    opened = show("hostile")
    choice(opened, "search").fill("onerror")
    assert made_up_page.EVIL in first(opened, "backend")
    assert opened.page.locator("img, i").count() == 0
    opened.page.evaluate(
        "() => { const evil = document.createElement('script'); "
        "evil.textContent = 'globalThis.ran = true'; document.body.append(evil); }"
    )
    assert opened.page.evaluate("globalThis.ran") is None
    assert any("Content Security Policy" in line for line in opened.said)


def test_nothing_can_be_fetched(show):
    opened = show("gpu")
    fetched = opened.page.evaluate("fetch('http://127.0.0.1:9/').then(() => 'yes', () => 'no')")
    assert fetched == "no" and any("Content Security Policy" in line for line in opened.said)


def test_the_verdict_is_seen_without_scrolling(show):
    long = "\n".join(f"- line {number}: " + 18 * "word " for number in range(10))
    for settings in ({}, PHONE):
        opened = show("gpu", **settings)
        box = opened.page.locator(".verdict").bounding_box()
        assert box["y"] < 300
    opened.page.set_viewport_size({"width": 1280, "height": 800})
    opened.page.evaluate("(t) => { document.querySelector('.verdict').innerText = t; }", long)
    box = opened.page.locator(".verdict").bounding_box()
    assert box["y"] + box["height"] < 800


# --- the table


def test_table_and_csv_agree(show):
    for name in ("gpu", "noisy", "all_failed", "hostile"):
        assert rows(show(name)) == in_table(CASES[name]().summary), name


def test_figures_are_seen_with_three_digits_and_told_in_full(show):
    opened = show("gpu")
    cell = opened.page.locator("#summary tbody tr").first.locator("td.number").nth(1)
    summary = results().summary
    assert cell.inner_text() == "10.6 µs" and cell.get_attribute("title") == summary[0]["median_s"]
    assert first(opened, "n")[0] == "10,000"


def test_sorting_by_mouse_and_by_keyboard(show):
    opened = show("no_gpu")
    header = opened.page.locator("#summary thead th", has_text="median")
    header.click()
    expect(header).to_have_attribute("aria-sort", "ascending")
    times = [row["median_s"] for row in rows(opened)]
    known = [float(text) for text in times if text]
    assert known == sorted(known) and times[-1] == "" and header.get_attribute("aria-sort")
    header.get_by_role("button").focus()
    opened.page.keyboard.press("Enter")
    expect(header).to_have_attribute("aria-sort", "descending")
    times = [row["median_s"] for row in rows(opened)]
    known = [float(text) for text in times if text]
    assert known == sorted(known, reverse=True) and times[-1] == "", "what has none stays last"


def test_filtering_by_choice_and_by_words(show):
    opened = show("gpu")
    total = len(rows(opened))
    choice(opened, "backend").select_option("torch_cuda")
    assert {row["backend"] for row in rows(opened)} == {"torch_cuda"}
    choice(opened, "scope").select_option("round_trip")
    assert {(row["backend"], row["scope"]) for row in rows(opened)} == {
        ("torch_cuda", "round_trip")
    }
    choice(opened, "search").fill("10000000")
    assert [row["size"] for row in rows(opened)] == ["10000000"]
    assert len(first(opened, "n")) == 1
    choice(opened, "search").fill("no such thing")
    assert opened.page.get_by_text("No row is like that").is_visible()
    choice(opened, "search").fill("")
    for name in ("backend", "scope"):
        choice(opened, name).select_option("")
    assert len(rows(opened)) == total


def test_a_choice_is_the_whole_name(show):
    """Where one name is a part of another, or a pattern."""
    opened = show("hostile")
    choice(opened, "backend").select_option("$x$")
    assert {row["backend"] for row in rows(opened)} == {"$x$"}


def test_filtering_by_keyboard_alone(show):
    opened = show("gpu")
    choice(opened, "search").focus()
    opened.page.keyboard.press("Tab")
    focused = "document.activeElement.name"
    while opened.page.evaluate(focused) != "backend":
        opened.page.keyboard.press("Tab")
    opened.page.keyboard.press("ArrowDown")
    opened.page.keyboard.press("Enter")
    assert len({row["backend"] for row in rows(opened)}) == 1


def test_columns_are_switched_on_and_off(show):
    opened = show("gpu")
    shown = opened.page.locator("#summary thead th")
    before = shown.count()
    opened.page.locator("#columns summary").click()
    opened.page.locator("#columns").get_by_label("detectable", exact=True).check()
    assert shown.count() == before + 1
    opened.page.locator("#columns").get_by_label("workload", exact=True).uncheck()
    assert shown.count() == before and opened.clean()


def test_pages_of_the_table(show):
    opened = show("gpu")
    total = len(results().summary)
    assert len(first(opened, "n")) == 25 < total
    opened.page.locator(".dt-paging").get_by_text("2", exact=True).click()
    assert len(first(opened, "n")) == min(25, total - 25)


# --- the charts


def test_values_on_hover(show):
    opened = show("gpu")
    point, tip = opened.page.locator(".point").nth(1), opened.page.get_by_role("tooltip")
    assert tip.count() == 0
    point.hover()
    assert tip.inner_text() == "a, n = 100, 2.5x"
    assert point.locator("title").count() == 0, "the browser would show it a second time"
    box = tip.bounding_box()
    assert box["x"] >= 0 and box["x"] + box["width"] <= 1280
    opened.page.mouse.move(5, 5)
    assert tip.count() == 0


def test_values_by_keyboard(show):
    opened = show("gpu")
    tip = opened.page.get_by_role("tooltip")
    opened.page.locator(".point").first.focus()
    assert tip.inner_text() == "a, n = 10, 1.5x <b>"
    for key, words in (
        ("ArrowRight", "a, n = 100, 2.5x"),
        ("End", "a, n = 1000, 3.5x"),
        ("ArrowRight", "a, n = 1000, 3.5x"),
        ("ArrowLeft", "a, n = 100, 2.5x"),
        ("Home", "a, n = 10, 1.5x <b>"),
    ):
        opened.page.keyboard.press(key)
        assert tip.inner_text() == words, key
    named = "document.activeElement.getAttribute('aria-label')"
    assert opened.page.evaluate(named) == "a, n = 10, 1.5x <b>"
    opened.page.keyboard.press("Escape")
    assert tip.count() == 0
    opened.page.keyboard.press("Tab")
    assert not opened.page.evaluate(
        "!!document.activeElement.closest('svg:first-of-type .point.here')"
    )


def test_each_chart_is_one_stop_of_the_tab_key(show):
    opened = show("gpu")
    assert opened.page.locator(".point[tabindex='0']").count() == 2
    assert opened.page.locator(".picture svg").count() == 2


def test_charts_that_wait_are_there_when_they_are_seen_or_printed(show, tmp_path, monkeypatch):
    monkeypatch.setattr(page, "AT_ONCE", 0)
    one = made_up_page.SVG.format(label="it")
    made = results(pictures={f"w{number}/float64/time.svg": one for number in range(9)})
    (tmp_path / "later.html").write_text(page.render(made), encoding="utf-8")
    opened = show(tmp_path / "later.html")
    charts = opened.page.locator(".picture svg")
    assert charts.count() < 9
    last = opened.page.locator(".picture").last
    last.scroll_into_view_if_needed()
    last.locator(".point").first.hover()
    assert opened.page.get_by_role("tooltip").inner_text() == "a, n = 10, 1.5x <b>"
    opened.page.evaluate("scrollTo(0, 0)")
    opened.page.pdf(path=tmp_path / "page.pdf")
    assert charts.count() == 9 and opened.clean()


def test_the_first_stop_skips_to_the_verdict_and_focus_is_seen(show):
    opened = show("gpu")
    opened.page.keyboard.press("Tab")
    assert opened.page.evaluate("document.activeElement.textContent") == "Skip to the verdict"
    assert opened.page.locator(".skip").bounding_box()["x"] >= 0
    opened.page.keyboard.press("Tab")
    style = "getComputedStyle(document.activeElement).outlineStyle"
    assert opened.page.evaluate(style) == "solid"


# --- light, dark, paper


def test_dark_and_light_differ_and_can_be_read(show):
    for scheme in ("light", "dark"):
        opened = show("gpu", color_scheme=scheme)
        ink, paper = opened.page.evaluate(
            "() => ['color', 'backgroundColor'].map((n) => getComputedStyle(document.body)[n])"
        )
        ratio = contrast(ink, paper)
        assert ratio > 10, (scheme, ink, paper)
        assert (luminance(ink) < luminance(paper)) is (scheme == "light")


def luminance(colour):
    """As WCAG 2 has it."""
    parts = [int(part) / 255 for part in re.findall(r"\d+", colour)[:3]]
    linear = [
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
    ]
    return sum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one, other):
    bright, dim = sorted((luminance(one), luminance(other)), reverse=True)
    return (bright + 0.05) / (dim + 0.05)


def test_on_paper_nothing_is_cut(show, tmp_path):
    opened = show("long_names")
    opened.page.pdf(path=tmp_path / "page.pdf", prefer_css_page_size=True)
    assert (tmp_path / "page.pdf").read_bytes().startswith(b"%PDF")
    opened.page.emulate_media(media="print")
    for width, sections in ((687, "section:not(.wide)"), (1031, ".wide")):  # A4 in its margins
        opened.page.set_viewport_size({"width": width, "height": 700})
        cut = opened.page.evaluate(CUT, f"{sections} *")
        assert cut == [], width
    assert opened.page.locator("nav").first.is_hidden()
    assert opened.page.get_by_text("Printed are the rows that the screen showed").is_visible()


# --- a real one


def test_the_page_of_a_real_sweep(show, finished):
    folder = finished.root / "results"
    opened = show(folder / "report.html")
    assert rows(opened) == in_table(table.read(folder / "summary.csv"))
    pictures = list(folder.glob("plots/**/*.svg"))
    assert opened.page.locator(".picture").count() == len(pictures) > 0
    ids = opened.page.evaluate("[...document.querySelectorAll('[id]')].map((one) => one.id)")
    assert len(ids) == len(set(ids))
    point = opened.page.locator(".point").first
    point.focus()
    assert "n = " in opened.page.get_by_role("tooltip").inner_text()
    assert opened.clean(), (opened.asked, opened.said)


def test_a_row_of_a_made_up_page_is_one_of_the_csv_s_columns():
    names = {column.name for column in page_parts.TABLE}
    assert names <= set(made_up_page.summary_of(made_up_page.made_up.with_gpu())[0])
