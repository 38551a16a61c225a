"""Take the README's pictures anew, from the real thing in a real JupyterLab: `make pictures`."""

from __future__ import annotations

import io
import shutil
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from PIL import Image
from playwright.sync_api import BrowserContext, Locator

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

from classroom.grading.gradebook import NAME, Gradebook  # noqa: E402
from classroom.grading.outputs import write_outputs  # noqa: E402
from selfcheck.students.cli import main as course  # noqa: E402
from tests.browser.lab import Lab, LabPage, browser, lab_server  # noqa: E402
from tests.classroom.grading.classes import synthetic_class  # noqa: E402

MISTAKE = "alpha, epsilon = delta * beta, delta * (1 - beta)"
FILM = [  # an answer, and how long its verdict is shown
    ("alpha, epsilon = 1 - beta, beta * delta", 5.0),
    (MISTAKE, 8.0),
    ("alpha, epsilon = beta, delta * (1 - beta)", 5.0),
]
TYPED_SECONDS = 2.0
NO_VERDICT = """id => [...window.jupyterapp.shell.currentWidget.content.model.cells]
  .find(cell => cell.id === id).outputs.clear()"""


def exercise(page: LabPage, target: Path) -> None:
    """A well-known wrong answer to exercise 2.1, refuted and explained."""
    page.open("exercises/02_momentum.ipynb")
    page.fill("answer-equivalent-rules", MISTAKE)
    page.run_all()
    heading = page.page.locator("h2", has_text="Exercise 2.1 · ")
    card = page.page.get_by_text("Known mistake").first
    card.scroll_into_view_if_needed()
    clip_between(page, heading, card, target)


def answers(page: LabPage, target: Path) -> None:
    """The same exercise as a short silent film: wrong, a well-known mistake, right."""
    page.open("exercises/02_momentum.ipynb")
    page.run_all()
    heading = page.page.locator("h2", has_text="Exercise 2.1 · ")
    card = page.page.locator(".jp-CodeCell", has_text="check.equivalent_rules(").first
    shots, bottoms = [], []
    for answer, seconds in FILM:
        for run in (False, True):
            page.fill("answer-equivalent-rules", answer)
            page.page.evaluate(NO_VERDICT, "check-equivalent-rules")
            if run:
                page.run("answer-equivalent-rules")
                page.run("check-equivalent-rules")
                page.page.wait_for_timeout(500)  # the card fades in
            heading.evaluate("heading => heading.scrollIntoView()")
            page.page.mouse.move(5, 5)
            shots.append((page.page.screenshot(), seconds if run else TYPED_SECONDS))
            top, bottom = heading.bounding_box(), card.bounding_box()
            bottoms.append(bottom["y"] + bottom["height"])
    save_film(shots, top["x"] - 60, top["y"] - 8, max(bottoms) + 8, target)


def save_film(
    shots: list[tuple[bytes, float]], left: float, top: float, bottom: float, target: Path
) -> None:
    """One GIF of these pictures of the page, cut to the same box, each shown for its seconds."""
    box = tuple(round(2 * side) for side in (left, top, 1000 - 40, bottom))
    frames = []
    for png, _ in shots:
        frame = Image.open(io.BytesIO(png)).convert("RGB").crop(box)
        frame = frame.resize(
            (960, round(960 * frame.height / frame.width)), Image.Resampling.LANCZOS
        )
        frames.append(frame.quantize(64, dither=Image.Dither.NONE))
    times = [round(1000 * seconds) for _, seconds in shots]
    frames[0].save(target, save_all=True, append_images=frames[1:], duration=times, loop=0)


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


def live(page: LabPage, target: Path) -> None:
    """Presentation mode, with the slide marks in the property inspector."""
    page.open("notebooks/02_momentum.ipynb")
    page.run_all()
    page.page.set_viewport_size({"width": 1200, "height": 675})
    page.slide_type("Explore: two runs down the valley")
    page.page.evaluate("window.jupyterapp.commands.execute('application:toggle-presentation-mode')")
    page.page.screenshot(path=target)


def slide(context: BrowserContext, scratch: Path, target: Path) -> None:
    """The slide with the explorer of lecture 02; its slider moves without a kernel."""
    course(["slides", "02", "--to", str(scratch / "slides")])
    page = context.new_page()
    page.set_viewport_size({"width": 1280, "height": 720})
    page.goto((scratch / "slides" / "02_momentum.html").as_uri())
    page.wait_for_function("window.Reveal && Reveal.isReady()")
    index = page.evaluate("Reveal.getSlides().findIndex(s => s.querySelector('input[type=range]'))")
    page.evaluate(
        "i => { const at = Reveal.getIndices(Reveal.getSlides()[i]); Reveal.slide(at.h, at.v); }",
        index,
    )
    page.screenshot(path=target)


def report(context: BrowserContext, scratch: Path, target: Path) -> None:
    """The head of the report on a class whose answers are drawn from the known ones."""
    units = ("01_rnn_gradients", "02_momentum", "03_weight_decay")
    classes = [synthetic_class(unit, size=120, seed=1) for unit in units]
    with Gradebook(scratch / "grades" / NAME) as book:
        for same_place in zip(*classes, strict=True):
            for graded in same_place:
                book.save(replace(graded, student=same_place[0].student))
    write_outputs(scratch / "grades")
    page = context.new_page()
    page.set_viewport_size({"width": 1000, "height": 900})
    page.goto((scratch / "grades" / "report.html").as_uri())
    page.screenshot(path=target)


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
            for take in (exercise, lecture, live):
                page = LabPage(context.new_page(), Lab(url, root))
                take(page, ROOT / "docs" / f"{take.__name__}.png")
            page = LabPage(context.new_page(), Lab(url, root))
            answers(page, ROOT / "docs" / "exercise.gif")
            for take in (slide, report):
                take(context, Path(scratch), ROOT / "docs" / f"{take.__name__}.png")


if __name__ == "__main__":
    main()
