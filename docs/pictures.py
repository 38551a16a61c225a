"""Take the README's pictures anew, from the real thing in a real JupyterLab: `make pictures`."""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path

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
    top, bottom = heading.bounding_box(), card.bounding_box()
    left = top["x"] - 60
    page.page.screenshot(
        path=target,
        clip={
            "x": left,
            "y": top["y"] - 8,
            "width": 1000 - left - 16,
            "height": bottom["y"] + bottom["height"] + 20 - top["y"],
        },
    )


def main() -> None:
    """Start a private JupyterLab on a copy of the exercises and take every picture."""
    with tempfile.TemporaryDirectory() as scratch:
        root, home = Path(scratch, "root"), Path(scratch, "home")
        shutil.copytree(ROOT / "exercises", root / "exercises")
        home.mkdir()
        with lab_server(root, home) as url, browser() as chrome:
            context = chrome.new_context(
                viewport={"width": 1000, "height": 900}, device_scale_factor=2
            )
            exercise(LabPage(context.new_page(), Lab(url, root)), ROOT / "docs" / "exercise.png")


if __name__ == "__main__":
    main()
