"""A real Chromium, headless: Debian's or whichever is on PATH, none that a library downloads."""

import os
import shutil
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from playwright.sync_api import Page, sync_playwright

from crossover import page
from made_up_page import CASES

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
CHROMIUM = next(filter(None, map(shutil.which, NAMES)), None)


def pytest_configure():
    if CHROMIUM is None:
        pytest.exit("make test-page needs Chromium: apt-get install chromium", returncode=1)


@dataclass
class Opened:
    """A page, and what it did that it should not."""

    page: Page
    asked: list[str] = field(default_factory=list)  # addresses beside its own
    said: list[str] = field(default_factory=list)  # on the console, and errors

    def clean(self) -> bool:
        return not self.asked and not self.said


@pytest.fixture(scope="session")
def chromium():
    # Chromium has no sandbox for root, as whom containers run.
    flags = ["--no-sandbox"] if os.geteuid() == 0 else []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=flags)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def files(tmp_path_factory):
    """The made-up pages, as files."""
    folder = tmp_path_factory.mktemp("pages")
    for name, make in CASES.items():
        (folder / f"{name}.html").write_text(page.render(make()), encoding="utf-8")
    return folder


@pytest.fixture
def show(chromium, files):
    """Open a made-up page by its name, or any file; settings are those of a browser's context."""
    contexts = []

    def opened(what: str | Path, **settings) -> Opened:
        file = what if isinstance(what, Path) else files / f"{what}.html"
        size = {"viewport": {"width": 1280, "height": 800}}
        contexts.append(chromium.new_context(**(size | settings)))
        found = Opened(contexts[-1].new_page())
        found.page.on("console", lambda line: found.said.append(line.text))
        found.page.on("pageerror", lambda error: found.said.append(str(error)))
        found.page.on("request", lambda asked: found.asked.append(asked.url))
        found.page.goto(file.as_uri())
        found.page.wait_for_selector("html[data-table=ready]")
        found.asked = [
            url for url in found.asked if url != file.as_uri() and not url.startswith("data:")
        ]
        return found

    yield opened
    for context in contexts:
        context.close()
