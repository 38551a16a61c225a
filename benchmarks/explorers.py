"""From the key to the picture: every explorer in a real JupyterLab, and two ways it replaces.

The page itself takes the times: from the key press, by its own time stamp, to the frame in which
the new picture is painted. Under it lie the slider, the message to the kernel, the drawing, the
message back and the decoding; on a fine screen all of them carry four times as many pixels.
ipywidgets sends a slider's next value only after the kernel is done with the one before, so while a
hand moves quickly, frames that nobody will see are never drawn.
"""

from __future__ import annotations

import contextlib
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from playwright.sync_api import BrowserContext, TimeoutError

from benchmarks.core import Report, Spread, significant
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
GOALS = {"median": 60, "slowest": 120}  # milliseconds
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


def screen(page: harness.LabPage, ratio: int) -> None:
    """Give the page a screen with so many pixels for one, and wait until the kernel knows it."""
    size = {"width": 1000, "height": 900, "deviceScaleFactor": ratio, "mobile": False}
    page.page.context.new_cdp_session(page.page).send("Emulation.setDeviceMetricsOverride", size)
    if page.page.locator(".course-explorer").count():
        page.page.evaluate("() => document.body.append(document.createElement('i'))")  # a look
        seen = "document.querySelector('.course-explorer img').dataset.courseScreen"
        page.page.wait_for_function(f"() => {seen} === '{ratio}'")
        page.printed_by("")


def moves(page: harness.LabPage, ratio: int = 1) -> Spread:
    """Milliseconds from the key to the painted picture, at the first slider of the notebook."""
    screen(page, ratio)
    page.page.evaluate(LISTEN)
    first = page.page.locator(".jp-OutputArea").get_by_role("slider").first
    first.scroll_into_view_if_needed()
    first.focus()
    keys = next((pair for pair in KEYS if _moves(page, *pair)), KEYS[0])
    before = page.page.evaluate("() => window.courseTimes.length")
    for number in range(WARM + PRESSES):
        page.page.keyboard.press(keys[number % 2])
        _wait(page, before + number, seconds=20)
    return Spread(tuple(page.page.evaluate("() => window.courseTimes")[before + WARM :]))


def _moves(page: harness.LabPage, there: str, back: str) -> bool:
    """Do these two keys change the picture? One at the end of a slider does not."""
    try:
        for key in (there, back):
            seen = page.page.evaluate("() => window.courseTimes.length")
            page.page.keyboard.press(key)
            _wait(page, seen, seconds=5)
        return True
    except TimeoutError:
        return False


def _wait(page: harness.LabPage, seen: int, seconds: float) -> None:
    more = f"() => window.courseTimes.length > {seen}"
    page.page.wait_for_function(more, timeout=1000 * seconds)


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
    """A row an explorer; then one small picture in three ways."""
    rows, all_of_them = [], []
    with lab_page(lectures()) as page:
        for path in lectures():
            page.change_to(path.name)
            page.start_all()
            page.wait_until_done()
            try:
                times, fine = moves(page), moves(page, FINE)
            except TimeoutError:
                report.say(f"{path.stem}: the first slider brought no new picture in 20 s.")
                continue
            all_of_them.append(times)
            rows.append([path.stem, *told(times), *told(fine)])
            print(*rows[-1], flush=True)
        ways = {"Explorer": OURS, "`interact` with a plot": INTERACT}
        if not report.without("ipympl"):
            ways["ipympl"] = IPYMPL
        beside = [[name, *one(page, code)] for name, code in ways.items()]
    report.table(["explorer of lecture", *HEAD, *(f"{name}, fine screen" for name in HEAD)], rows)
    report.say(f"A fine screen has {FINE} × {FINE} pixels for one; the goals are for the other.")
    medians = [times.median for times in all_of_them]
    report.goal("the median of every explorer is", max(medians), GOALS["median"], "ms")
    slowest = max(max(times.values) for times in all_of_them)
    report.goal("the slowest move takes", slowest, GOALS["slowest"], "ms")
    report.table(["two curves and a slider", *HEAD], beside)
    report.quote = (
        f"In a browser, an explorer's new picture is there {significant(min(medians))} to "
        f"{significant(max(medians))} ms after the key (medians of {len(medians)} lectures); "
        f"the same curves by `interact` take {beside[1][1].split(' ')[0]} ms."
    )


def one(page: harness.LabPage, code: str) -> list[str]:
    """The same picture in one of the ways."""
    page.change_to(page.lab.write("way.ipynb", [CURVES, code]))
    page.start_all()
    page.wait_until_done()
    return told(moves(page))


def told(times: Spread) -> list[str]:
    """Two cells of a table."""
    return [times.shown(), significant(max(times.values))]
