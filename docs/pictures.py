"""Take the README's pictures anew, from the real thing in a real JupyterLab: `make pictures`."""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

from playwright.sync_api import Locator

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from tests.browser.lab import Lab, LabPage, browser, lab_server  # noqa: E402

MISTAKE = "alpha, epsilon = delta * beta, delta * (1 - beta)"


def exercise(page: LabPage, target: Path) -> None:
    """A well-known wrong answer to exercise 2.1, refuted and explained."""
    page.open("exercises/02_momentum.ipynb")
    page.fill("answer-equivalent-rules", MISTAKE)
    page.run_all()
    heading = page.page.locator("h2", has_text="Exercise 2.1")
    card = page.page.get_by_text("Known mistake").first
    card.scroll_into_view_if_needed()
    clip_between(page, heading, card, target)


def clip_between(page: LabPage, first: Locator, last: Locator, target: Path) -> None:
    """Save what lies between two elements, both included."""
    top, bottom = first.bounding_box(), last.bounding_box()
    left = top["x"] - 60
    page.page.screenshot(
        path=target,
        clip={
            "x": left,
            "y": top["y"] - 8,
            "width": 1000 - left - 40,
            "height": bottom["y"] + bottom["height"] + 20 - top["y"],
        },
    )


def lecture(page: LabPage, target: Path) -> None:
    """The first explorer of lecture 02, with its goal."""
    page.open("notebooks/02_momentum.ipynb")
    page.run_all()
    page.page.set_viewport_size({"width": 1000, "height": 1500})
    heading = page.page.locator("h3", has_text="Explore: two runs down the valley")
    caption = page.page.get_by_role("status").filter(has_text="Distance").first
    caption.scroll_into_view_if_needed()
    clip_between(page, heading, caption, target)


def main() -> None:
    """Start a private JupyterLab on a copy of the exercises and take every picture."""
    with tempfile.TemporaryDirectory() as scratch:
        root, home = Path(scratch, "root"), Path(scratch, "home")
        for folder in ("notebooks", "exercises"):
            shutil.copytree(ROOT / folder, root / folder)
        home.mkdir()
        with lab_server(root, home) as url, browser() as chrome:
            context = chrome.new_context(
                viewport={"width": 1000, "height": 900}, device_scale_factor=2
            )
            for take in (exercise, lecture):
                page = LabPage(context.new_page(), Lab(url, root))
                take(page, ROOT / "docs" / f"{take.__name__}.png")


if __name__ == "__main__":
    main()
