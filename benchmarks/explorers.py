"""From the key to the picture: every explorer in a real JupyterLab and in a page, and other ways.

The page itself takes the times: from the key press, by its own time stamp, to the frame in which
the new picture is painted. An explorer is drawn in the page, by numbers that the kernel has sent
ahead of the hand, or that were saved with the lecture; what it replaces, pictures from the kernel,
is still there for pages that cannot draw numbers, and is measured beside it.
"""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from playwright.sync_api import BrowserContext, Page, TimeoutError

from benchmarks.core import Report, Spread, significant
from classroom.pages import export_page
from tests.browser import lab as harness

ROOT = Path(__file__).parents[1]
WARM, PRESSES = 3, 12
FINE = 2  # pixels of a fine screen for each one of the page
KEYS = [
    ("ArrowLeft", "ArrowRight"),
    ("ArrowRight", "ArrowLeft"),
    ("PageUp", "PageDown"),
    ("Home", "End"),
]
HEAD = ("median ms", "slowest ms")
GOALS = {"median": 25, "slowest": 60, "page": 20}  # milliseconds
LISTEN = """() => {
  if (window.courseTimes) { window.courseTimes.length = 0; return; }
  window.courseTimes = [];
  let pressed = null;
  const painted = () => {
    if (pressed === null) return;
    const began = pressed;
    pressed = null;
    requestAnimationFrame(() => {
      const after = new MessageChannel();  // comes when the frame has been painted
      after.port1.onmessage = () => window.courseTimes.push(performance.now() - began);
      after.port2.postMessage(0);
    });
  };
  document.addEventListener('keydown', event => { pressed = event.timeStamp; }, true);
  document.addEventListener('load', event => {
    if (event.target instanceof HTMLImageElement) painted();
  }, true);
  new MutationObserver(painted).observe(document.body, {
    subtree: true, attributes: true, attributeFilter: ['d', 'href', 'aria-label'],
  });
  const draw = CanvasRenderingContext2D.prototype.drawImage;
  CanvasRenderingContext2D.prototype.drawImage = function (...all) {
    painted();
    return draw.apply(this, all);
  };
}"""
CURVES = """
import numpy as np
import ipywidgets as widgets
t = np.arange(61)
"""
INTERACT = """
import matplotlib.pyplot as plt
def show(beta=0.9):
    fig, ax = plt.subplots(figsize=(7, 3.2), dpi=200)
    ax.set(xlim=(0, 60), ylim=(0, 1.1), xlabel="step", ylabel="average", title="Cold start")
    ax.plot(t, 1 - beta**t, label="raw")
    ax.plot(t, np.ones(61), label="corrected")
    ax.legend(loc="lower right")
    plt.show()
_ = widgets.interact(show, beta=(0.5, 0.99, 0.01))
"""
IPYMPL = """
%matplotlib widget
import matplotlib.pyplot as plt
fig, ax = plt.subplots(figsize=(7, 3.2))
ax.set(xlim=(0, 60), ylim=(0, 1.1), xlabel="step", ylabel="average", title="Cold start")
raw, = ax.plot(t, 1 - 0.9**t, label="raw")
ax.plot(t, np.ones(61), label="corrected")
ax.legend(loc="lower right")
beta = widgets.FloatSlider(value=0.9, min=0.5, max=0.99, step=0.01)
def move(change):
    raw.set_ydata(1 - change.new**t)
    fig.canvas.draw_idle()
beta.observe(move, "value")
display(beta)
"""
OURS = """
from course_utils import style
from course_utils.explore import Explorer, slider
def setup(fig):
    ax = fig.subplots()
    ax.set(xlim=(0, 60), ylim=(0, 1.1), xlabel="step", ylabel="average", title="Cold start")
    curves = {"raw": ax.plot(t, t, label="raw")[0]}
    ax.plot(t, np.ones(61), label="corrected")
    ax.legend(loc="lower right")
    return curves
def update(curves, beta):
    curves["raw"].set_data(t, 1 - beta**t)
    return f"β = {beta:.2f}"
Explorer(setup, update, controls={"beta": slider(0.5, 0.99, value=0.9)}, alt="Two curves.")
"""
# Where a page cannot draw numbers, as in other frontends: nobody answers its question for them.
PICTURES = (
    OURS.replace("Explorer(setup", "shown = Explorer(setup") + "Explorer.alive.clear()\nshown\n"
)


def moves(page: Page, ratio: int = 1) -> Spread:
    """Milliseconds from the key to the painted picture, at the first slider of the page."""
    size = {"width": 1000, "height": 900, "deviceScaleFactor": ratio, "mobile": False}
    page.context.new_cdp_session(page).send("Emulation.setDeviceMetricsOverride", size)
    page.evaluate(LISTEN)
    first = page.locator(".jp-Notebook, main").get_by_role("slider").first
    first.scroll_into_view_if_needed()
    first.focus()
    keys = next((pair for pair in KEYS if _moves(page, *pair)), KEYS[0])
    before = page.evaluate("() => window.courseTimes.length")
    for number in range(WARM + PRESSES):
        page.keyboard.press(keys[number % 2])
        _wait(page, before + number, seconds=20)
    return Spread(tuple(page.evaluate("() => window.courseTimes")[before + WARM :]))


def _moves(page: Page, there: str, back: str) -> bool:
    """Do these two keys change the picture? One at the end of a slider does not."""
    try:
        for key in (there, back):
            seen = page.evaluate("() => window.courseTimes.length")
            page.keyboard.press(key)
            _wait(page, seen, seconds=5)
        return True
    except TimeoutError:
        return False


def _wait(page: Page, seen: int, seconds: float) -> None:
    more = f"() => window.courseTimes.length > {seen}"
    page.wait_for_function(more, timeout=1000 * seconds)


@contextlib.contextmanager
def lab_page(notebooks: list[Path]) -> Iterator[harness.LabPage]:
    """A page on a private JupyterLab with copies of these notebooks."""
    with tempfile.TemporaryDirectory(prefix="explorers-") as folder, harness.browser() as chrome:
        root, home = Path(folder, "root"), Path(folder, "home")
        root.mkdir()
        for path in notebooks:
            shutil.copy(path, root / path.name)
        with harness.lab_server(root, home, settings={}) as url:  # as students have it
            window: BrowserContext = chrome.new_context(viewport={"width": 1000, "height": 900})
            window.set_default_timeout(120_000)
            yield harness.LabPage(window.new_page(), harness.Lab(url, root))


def lectures() -> list[Path]:
    """Those with an explorer."""
    found = sorted((ROOT / "notebooks").glob("*.ipynb"))
    return [path for path in found if "Explorer(" in path.read_text(encoding="utf-8")]


def measure(report: Report) -> None:
    """A row a lecture; then one small picture in other ways."""
    rows, there, alone = [], [], []
    with lab_page(lectures()) as page:
        for path in lectures():
            page.change_to(path.name)
            page.start_all()
            page.wait_until_done()
            try:
                page.page.wait_for_selector(".course-explorer .course-box")
                times = moves(page.page), moves(page.page, FINE), in_a_page(page.page, path)
            except TimeoutError:
                report.say(f"{path.stem}: the first slider brought no new picture in 20 s.")
                continue
            there += times[:2]
            alone.append(times[2])
            rows.append([path.stem, *(cell for spread in times for cell in told(spread))])
            print(*rows[-1], flush=True)
        ways = {"Explorer": OURS, "the same as pictures": PICTURES}
        ways["`interact` with a plot"] = INTERACT
        if not report.without("ipympl"):
            ways["ipympl"] = IPYMPL
        beside = [[name, *one(page, code)] for name, code in ways.items()]
    places = ("JupyterLab", "fine screen", "page without kernel")
    report.table(
        ["explorer of lecture", *(f"{place}, {name}" for place in places for name in HEAD)], rows
    )
    report.say(f"A fine screen has {FINE} × {FINE} pixels for one.")
    medians = [times.median for times in there]
    report.goal("the median of every explorer is", max(medians), GOALS["median"], "ms")
    slowest = max(max(times.values) for times in there)
    report.goal("the slowest move takes", slowest, GOALS["slowest"], "ms")
    pages = max(times.median for times in alone)
    report.goal("in a page the median is", pages, GOALS["page"], "ms")
    report.table(["two curves and a slider", *HEAD], beside)
    report.quote = (
        f"In a browser, an explorer's new picture is there {significant(min(medians))} to "
        f"{significant(max(medians))} ms after the key (medians of {len(rows)} lectures); "
        f"the same curves by `interact` take {beside[2][1].split(' ')[0]} ms."
    )


def in_a_page(lab: Page, path: Path) -> Spread:
    """The same explorer on the lecture's page, by the numbers that were saved with it."""
    with tempfile.TemporaryDirectory(prefix="explorers-") as folder:
        file = Path(folder, "page.html")
        file.write_text(export_page(path), encoding="utf-8")
        page = lab.context.new_page()
        try:
            page.goto(file.as_uri())
            page.wait_for_function("window.pageIsReady")
            return moves(page)
        finally:
            page.close()


def one(page: harness.LabPage, code: str) -> list[str]:
    """The same picture in one of the ways."""
    page.change_to(page.lab.write("way.ipynb", [CURVES, code]))
    page.start_all()
    page.wait_until_done()
    if code == OURS:
        page.page.wait_for_selector(".course-explorer .course-box")
    return told(moves(page.page))


def told(times: Spread) -> list[str]:
    """Two cells of a table."""
    return [times.shown(), significant(max(times.values))]
