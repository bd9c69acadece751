"""How long a page of 5,000 cells takes to make, and to open in a real Chromium.

    PYTHONPATH=workflow/scripts .venv/bin/python benchmarks/page.py --out page.txt

About four minutes, most of it for the cells and their charts. Needs what `make test-page` needs. A
page is open when its table is there; each opening has a new profile, the first one's counts like
the others'. Exits 1 where the median is above two seconds.
"""

import argparse
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median

from playwright.sync_api import Browser, sync_playwright

import checkout
import cost_summary
from crossover import charts, decide, decided, page, record, style, table
from crossover.chart_accuracy import accuracy
from crossover.chart_parts import parts
from crossover.chart_reuse import calls
from crossover.chart_speedup import speedup
from crossover.chart_time import time as times
from made_up_sweep import DTYPES, SPEEDS, WORKLOADS, make
from report import Report, progress

CHROMIUM = ("chromium", "chromium-browser", "google-chrome")
MOST_S = 2.0
VERDICT = "Made up, to see how long the page takes.\n\n" + "- A line of the verdict.\n" * 9


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cells", type=int, default=5000)
    parser.add_argument("--times", type=int, default=9)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    program = next(filter(None, map(shutil.which, CHROMIUM)), None)
    if program is None:
        sys.exit("benchmarks/page.py needs Chromium: apt-get install chromium")
    report = Report("The page")
    with tempfile.TemporaryDirectory() as name:
        file = Path(name) / "report.html"
        results = made_up(Path(name) / "clone", options.cells)
        start = time.perf_counter()
        record.replace(file, page.render(results).encode())
        report.line(f"made in {time.perf_counter() - start:.1f} s, files read before")
        report.line(
            f"{len(results.summary):,} rows, {len(results.reuse):,} of reuse, "
            f"{len(results.pictures)} charts, {file.stat().st_size / 1e6:.1f} MB"
        )
        flags = ["--no-sandbox"] if os.geteuid() == 0 else []
        with sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=program, args=flags)
            report.line(f"Chromium {browser.version}")
            opened = [open_page(browser, file) for _ in range(options.times)]
            browser.close()
    kinds = list(opened[0])
    report.table(("opening", *map(str, range(1, options.times + 1))), [
        (kind, *(f"{one[kind]:.2f} s" for one in opened)) for kind in kinds
    ])  # fmt: skip
    report.most("open, median", median(one[kinds[-1]] for one in opened), MOST_S, " s")
    sys.exit(report.end(options.out))


def open_page(browser: Browser, file: Path) -> dict[str, float]:
    """Seconds since the page was asked for."""
    context = browser.new_context(viewport={"width": 1280, "height": 800})
    opened = context.new_page()
    metrics = context.new_cdp_session(opened)
    metrics.send("Performance.enable")
    opened.goto(file.as_uri(), wait_until="commit")
    opened.wait_for_selector("html[data-table=ready]")
    ready_ms = opened.evaluate("performance.now()")
    found = metrics.send("Performance.getMetrics")["metrics"]
    (busy_s,) = [one["value"] for one in found if one["name"] == "ThreadTime"]
    painted_ms = opened.evaluate(
        "performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? NaN"
    )
    context.close()
    return {
        "processor time for it": busy_s,
        "something is seen": painted_ms / 1e3,
        "the table is there": ready_ms / 1e3,
    }


def made_up(folder: Path, cells: int) -> page.Results:
    """A sweep that never ran, summarized and drawn as a real one."""
    checkout.make(folder, {})
    checkout.own_lock(folder)
    progress(f"page: writing the raw files of {cells:,} cells")
    made, _ = make(folder, cells)
    progress("page: summary")
    cost_summary.run(folder, cost_summary.summary(made))
    summary, results = folder / cost_summary.SUMMARY, folder / "results"
    rows = table.read(summary)
    curves = decide.curves(rows)
    broken = [row for curve in curves for row in curve.break_evens()]
    record.write(results / "break_even.csv", broken, decide.COLUMNS)
    used = [row for curve in curves for row in curve.reuses()]
    record.write(results / "reuse.csv", used, decide.REUSE_COLUMNS)
    pictures = dict(drawn(results))
    return page.Results(
        name="",
        verdict=VERDICT,
        summary=rows,
        break_even=decided.break_evens(results / "break_even.csv"),
        reuse=decided.reuses(results / "reuse.csv"),
        article="",
        pictures=pictures,
        probes={name: {"available": True} for name in SPEEDS},
        config={},
        added="",
    )


def drawn(results: Path) -> Iterator[tuple[str, str]]:
    summary = charts.read(str(results / "summary.csv"))
    break_evens = decided.break_evens(results / "break_even.csv")
    reuses = decided.reuses(results / "reuse.csv")
    for workload in WORKLOADS:
        for dtype in DTYPES:
            progress(f"page: charts of {workload}, {dtype}")
            of = summary, workload, dtype
            figures = {
                "time": times(*of),
                "speedup": speedup(*of, break_evens),
                "parts": parts(*of),
                "reuse": calls(*of, reuses),
            }
            for name, figure in figures.items():
                yield f"{workload}/{dtype}/{name}.svg", saved(figure, results)
        yield f"{workload}/accuracy.svg", saved(accuracy(summary, workload), results)


def saved(figure: object, results: Path) -> str:
    path = results / "picture.svg"
    style.save(figure, path)
    return path.read_text(encoding="utf-8")


if __name__ == "__main__":
    main()
