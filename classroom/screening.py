"""Decks looked at before the lecture: does every slide fit its frame? And a picture of each."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from selfcheck import style
from selfcheck.files import write_whole

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

SIZES = ((1280, 720), (1920, 1080))
SMALLEST_FORMULA = 0.75  # of its natural size; a longer one has to be broken or shortened
LETTERS = 10 * style.DPI / 72  # pixels of the letters at a figure's ticks, as it is saved
LEAST = 22  # pixels of such letters on a slide of 720
LIMITS = [SMALLEST_FORMULA, LETTERS, LEAST]
SHEET_COLUMNS, SHEET_ROWS, SHOT_WIDTH = 2, 3, 960

# Each slide in its turn, all fragments shown. Measured is what is painted: letters, pictures
# and formulas, against the frame, less a margin.
MEASURE = """([smallest, letters, least]) => {
  const found = [];
  const text = e => e.textContent.trim().replace(/\\s+/g, ' ').slice(0, 60);
  const slides = Reveal.getSlides();
  for (const [index, slide] of slides.entries()) {
    const {h, v} = Reveal.getIndices(slide);
    Reveal.slide(h, v, 1e6);
    const frame = slide.getBoundingClientRect(), scale = Reveal.getScale();
    const title = slide.querySelector('h1, h2, h3, .running');
    const tell = what => found.push([index + 1, title ? text(title) : '', what]);
    let bottom = frame.top, right = frame.left, lowest = slide, widest = slide;
    const inside = node => {
      if (node.nodeType === Node.TEXT_NODE) return NodeFilter.FILTER_ACCEPT;
      const left = node.matches('aside, mjx-assistive-mml, svg > *, [hidden]');
      const unseen = left || getComputedStyle(node).clipPath === 'inset(50%)'; // only to be heard
      return unseen ? NodeFilter.FILTER_REJECT : NodeFilter.FILTER_ACCEPT;
    };
    const kinds = NodeFilter.SHOW_TEXT | NodeFilter.SHOW_ELEMENT;
    const walk = document.createTreeWalker(slide, kinds, inside);
    for (let node = walk.nextNode(); node; node = walk.nextNode()) {
      const isText = node.nodeType === Node.TEXT_NODE && node.data.trim();
      const element = isText ? node.parentElement : node;
      if (!isText && !element.matches?.('img, svg, input, pre, table')) continue;
      const range = document.createRange();
      if (isText) range.selectNodeContents(node);
      for (const box of isText ? range.getClientRects() : [element.getBoundingClientRect()]) {
        if (!box.width || !box.height) continue;
        if (box.bottom > bottom) [bottom, lowest] = [box.bottom, element];
        if (box.right > right) [right, widest] = [box.right, element];
      }
    }
    const low = (bottom - frame.bottom) / scale + 16, wide = (right - frame.right) / scale + 24;
    if (low > 0.5) tell(`${Math.ceil(low)} px too tall, at: ${text(lowest) || lowest.tagName}`);
    if (wide > 0.5) tell(`${Math.ceil(wide)} px too wide, at: ${text(widest) || widest.tagName}`);
    for (const pre of slide.querySelectorAll('pre')) {
      const over = Math.ceil(pre.scrollWidth - pre.clientWidth);
      if (over > 0 && wide <= 0.5)
        tell(`a line is ${over} px wider than its box, in: ${text(pre)}`);
    }
    const edge = title ? title.getBoundingClientRect().left : frame.left;
    for (const block of slide.querySelectorAll('pre, table, figure')) {
      const out = (edge - block.getBoundingClientRect().left) / scale;
      if (out > 1 && block.offsetWidth)
        tell(`${Math.ceil(out)} px left of the text: ${text(block) || block.tagName}`);
    }
    for (const figure of slide.querySelectorAll('figure img[width], svg.course-picture')) {
      const [width, height] = ['width', 'height'].map(side => Number(figure.getAttribute(side)));
      const box = figure.getBoundingClientRect();
      const size = letters * Math.min(box.width / width, box.height / height) / scale;
      if (Math.round(size) < least)
        tell(`letters of ${Math.floor(size)} px in a figure of ${width} × ${height}`);
    }
    const formulas = [...slide.querySelectorAll('mjx-container[display] > svg')];
    const widths = () => formulas.map(svg => svg.getBoundingClientRect().width);
    const fitted = widths();
    formulas.forEach(svg => { svg.style.maxWidth = 'none'; });
    const natural = widths();
    formulas.forEach(svg => { svg.style.maxWidth = ''; });
    for (const share of fitted.map((width, index) => width / natural[index])) {
      if (share < smallest)
        tell(`a formula is shrunk to ${Math.round(100 * share)} %; break or shorten it`);
    }
  }
  return found;
}"""


@dataclass(frozen=True)
class Misfit:
    """A slide that does not fit its frame."""

    deck: str
    number: int
    title: str
    what: str
    size: tuple[int, int]

    def __str__(self) -> str:
        where = f"{self.deck}, slide {self.number}" + (f" ({self.title})" if self.title else "")
        return f"{where}: {self.what} [{self.size[0]} × {self.size[1]}]"


def misfits(
    chrome: Browser, decks: Iterable[Path], sizes: Sequence[tuple[int, int]] = SIZES
) -> Iterator[Misfit]:
    """Every slide whose contents leave its frame, with all fragments shown, on each screen size."""
    for deck in decks:
        page = opened(chrome, deck)
        yield from misfits_of(page, deck.stem, sizes)
        page.context.close()


def misfits_of(page: Page, deck: str, sizes: Sequence[tuple[int, int]] = SIZES) -> Iterator[Misfit]:
    """The same for a deck that is shown already."""
    for width, height in sizes:
        page.set_viewport_size({"width": width, "height": height})
        for number, title, what in page.evaluate(MEASURE, LIMITS):
            yield Misfit(deck, number, title, what, (width, height))


def opened(chrome: Browser, deck: Path, size: tuple[int, int] = SIZES[0]) -> Page:
    """The deck in a fresh window, ready to be shown."""
    context = chrome.new_context(viewport={"width": size[0], "height": size[1]})
    page = context.new_page()
    page.goto(deck.resolve().as_uri())
    page.wait_for_function("window.slidesAreReady")
    return page


def shoot(chrome: Browser, deck: Path, folder: Path) -> list[Path]:
    """Contact sheets of a deck, six slides a picture, with all fragments shown."""
    from PIL import Image

    page = opened(chrome, deck)
    shots = []
    for number in range(page.evaluate("Reveal.getTotalSlides()")):
        page.evaluate(
            "n => { const {h, v} = Reveal.getIndices(Reveal.getSlides()[n]);"
            " Reveal.slide(h, v, 1e6); }",
            number,
        )
        shot = Image.open(io.BytesIO(page.screenshot(animations="disabled")))
        shots.append(shot.convert("RGB").resize((SHOT_WIDTH, SHOT_WIDTH * 9 // 16)))
    page.context.close()
    sheets = []
    for start in range(0, len(shots), SHEET_COLUMNS * SHEET_ROWS):
        some = shots[start : start + SHEET_COLUMNS * SHEET_ROWS]
        target = folder / f"{deck.stem}-{start + 1:02}-{start + len(some):02}.png"
        write_whole(target, _sheet(some))
        sheets.append(target)
    return sheets


def _sheet(shots: list) -> bytes:
    """Pictures side by side on gray."""
    from PIL import Image

    width, height = shots[0].size
    rows = -(-len(shots) // SHEET_COLUMNS)
    gap = 8
    sheet = Image.new(
        "RGB", (SHEET_COLUMNS * (width + gap) + gap, rows * (height + gap) + gap), "#888888"
    )
    for index, shot in enumerate(shots):
        row, column = divmod(index, SHEET_COLUMNS)
        sheet.paste(shot, (gap + column * (width + gap), gap + row * (height + gap)))
    buffer = io.BytesIO()
    sheet.save(buffer, format="png")
    return buffer.getvalue()
