"""The system's Chromium, headless: pages and decks as PDF. Playwright drives it."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from selfcheck.files import CourseError, write_whole

from .extras import need

if TYPE_CHECKING:
    from playwright.sync_api import Browser

# The first is the same browser without windows, which starts and works with less.
NAMES = (
    "chromium-headless-shell", "chromium", "chromium-browser",
    "google-chrome", "google-chrome-stable", "chrome",
)  # fmt: skip
MAC = "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"
# Our own files are all that it shows, so it needs no sandbox (none works for root), and no network.
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
NO_HOST = "--host-resolver-rules=MAP * ~NOTFOUND"
FOOTER = """<div style="width: 100%; padding: 0 16mm; font: 8px sans-serif; color: #57606a; display:
flex; justify-content: space-between"><span class="title"></span>
<span><span class="pageNumber"></span> / <span class="totalPages"></span></span></div>"""
# A link to a file beside it would carry this machine's folders into the PDF: it becomes a name.
NAME_FILES = """() => {
  for (const link of document.querySelectorAll('a[href]')) {
    const place = link.getAttribute('href');
    if (/^(https?:|mailto:|#)/.test(place)) continue;
    const file = decodeURIComponent(place.split('#')[0].split('/').pop()).replace(/html$/, 'pdf');
    link.replaceWith(...link.childNodes, file ? ` (${file})` : '');
  }
}"""


def chromium() -> str:
    """Path of Chromium or Chrome; the variable CHROMIUM has the first word."""
    need("pdf", "PDFs and a look at slides need")
    named = os.environ.get("CHROMIUM")
    places = map(shutil.which, [named] if named else [*NAMES, MAC])
    found = next(filter(None, places), None)
    if found is None:
        raise CourseError(
            "This needs Chromium or Chrome. Install it (Debian, Ubuntu: apt install chromium; "
            "macOS: brew install --cask google-chrome) or set CHROMIUM to its path."
        )
    return found


@contextlib.contextmanager
def browser(but: str = "") -> Iterator[Browser]:
    """A headless Chromium cut off from every host, `but` one where it is named."""
    path = chromium()
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        hosts = f"{NO_HOST} , EXCLUDE {but}" if but else NO_HOST
        chrome = playwright.chromium.launch(executable_path=path, args=[*FLAGS, hosts])
        try:
            yield chrome
        finally:
            chrome.close()


def print_deck(chrome: Browser, deck: Path, target: Path) -> None:
    """Print a deck, one slide a page, all fragments shown."""
    page = chrome.new_page(viewport={"width": 1280, "height": 720})
    try:
        page.goto(f"{deck.resolve().as_uri()}?print-pdf")
        page.wait_for_function("window.slidesAreReady")
        pdf = page.pdf(prefer_css_page_size=True, print_background=True, tagged=True, outline=True)
    finally:
        page.close()
    write_whole(target, pdf)


def print_page(chrome: Browser, html: Path, target: Path) -> None:
    """Print a page on A4 with page numbers, and an outline that PDF readers can show."""
    page = chrome.new_page()
    try:
        page.goto(html.resolve().as_uri())
        page.wait_for_function("window.pageIsReady")
        page.evaluate(NAME_FILES)
        pdf = page.pdf(
            format="A4",
            margin={"top": "16mm", "bottom": "18mm", "left": "16mm", "right": "16mm"},
            print_background=True,
            display_header_footer=True,
            header_template="<span></span>",
            footer_template=FOOTER,
            tagged=True,
            outline=True,
        )
    finally:
        page.close()
    write_whole(target, pdf)
