"""Boxes, circles, arrows and small tables with words: the pictures that people draw on a board.

    d = Diagram(360, 120)
    source = d.box(60, 60, "x")
    step = d.circle(180, 60, "$f$", color="blue")
    d.arrow(source, step, says="3×2")
    d.arrow(step, d.box(300, 60, "y"))
    d.show("One step.", alt="x goes through f to y.")

Places are CSS pixels from the top left corner. Letters are as large as the text around a picture,
and what overlaps is refused with a sentence, so that nobody has to find it on a phone. The picture
is saved as SVG, beside the PNG that the other figures have, and turns dark as they do.
"""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import matplotlib
import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure
from matplotlib.patches import Ellipse, FancyArrowPatch, FancyBboxPatch, Rectangle
from matplotlib.path import Path
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from . import style
from .units import Unit

LETTERS, SMALL = 11.0, 9.5  # points: 15 and 13 CSS pixels
GAP = 4  # pixels between an arrow and the words beside it
EDGE = "#444444"
SIDES = {  # where words stand beside an arrow: dx, dy, and how they are aligned
    "above": (0, -GAP, "center", "bottom"),
    "below": (0, GAP, "center", "top"),
    "left": (-GAP, 0, "right", "center"),
    "right": (GAP, 0, "left", "center"),
}
Point = tuple[float, float]


def tint(color: str, share: float = 0.25) -> str:
    """The palette's color of that name, mixed with so much more white."""
    red, green, blue = (1 - share * (1 - c) for c in to_rgb(style.COLORS.get(color, color)))
    return to_hex((red, green, blue))


@dataclass(frozen=True)
class Box:
    """A shape on the page, by its middle: arrows begin and end at its edge."""

    x: float
    y: float
    width: float
    height: float

    @property
    def bounds(self) -> Bbox:
        """Its corners."""
        return Bbox.from_bounds(
            self.x - self.width / 2, self.y - self.height / 2, self.width, self.height
        )

    def edge(self, toward: Point) -> Point:
        """Where an arrow to or from that point meets the edge: straight, if it can be straight."""
        (x, y), (half, high) = toward, (self.width / 2, self.height / 2)
        if abs(x - self.x) <= half:
            return x, self.y + (high if y > self.y else -high)
        if abs(y - self.y) <= high:
            return self.x + (half if x > self.x else -half), y
        dx, dy = x - self.x, y - self.y
        share = min(half / abs(dx), high / abs(dy))
        return self.x + share * dx, self.y + share * dy


class Diagram:
    """A drawing of so many CSS pixels, in a figure of its own or in that of an explorer."""

    def __init__(self, width: float, height: float, fig: Figure | None = None) -> None:
        size = width / style.DPI, height / style.DPI
        self.fig = fig or Figure(figsize=size, dpi=style.DPI, facecolor="white")
        self.fig.set_layout_engine("none")
        FigureCanvasAgg(self.fig)
        self.ax = self.fig.add_axes((0, 0, 1, 1))
        self.ax.set(xlim=(0, width), ylim=(height, 0))
        self.ax.axis("off")
        self.alt = ""  # what is there, for those who cannot see it; whoever draws it says so
        self._boxes: list[Box] = []
        self._frames: list[Box] = []
        self._words: list[tuple[Text, Box | None]] = []
        self._arrows: list[tuple[np.ndarray, tuple[Any, ...]]] = []

    # -- shapes

    def box(
        self, x: float, y: float, words: str, *, width: float = 0, height: float = 34,
        color: str = "", size: float = LETTERS, bold: bool = False,
    ) -> Box:  # fmt: skip
        """A box around words, as wide as they are unless it is told; white without a color."""
        text = self._text(x, y, words, size=size, weight="bold" if bold else "normal")
        box = Box(x, y, width or self._extent(text).width + 20, height)
        self._solid(box, color, 5)
        self._words.append((text, box))
        return box

    def circle(
        self, x: float, y: float, words: str, *, radius: float = 16, color: str = "",
        size: float = LETTERS,
    ) -> Box:  # fmt: skip
        """A circle with a sign in it."""
        text, circle = self._text(x, y, words, size=size), Box(x, y, 2 * radius, 2 * radius)
        self._solid(circle, color, 0)
        self._words.append((text, circle))
        return circle

    def frame(self, x: float, y: float, width: float, height: float, words: str = "") -> Box:
        """A dashed frame around several things, with its name inside at the top left."""
        frame = Box(x, y, width, height)
        self._frames.append(frame)
        corner = frame.bounds.min
        look: dict[str, Any] = {"fill": False, "edgecolor": EDGE, "linestyle": (0, (4, 3))}
        self.ax.add_patch(Rectangle(corner, width, height, clip_on=False, **look))
        if words:
            self.words(corner[0] + 8, corner[1] + 6, words, align="left", stand="top", size=SMALL)
        return frame

    def table(
        self, x: float, y: float, cells: Sequence[Sequence[str]], *, cell: Point = (44, 30),
        colors: Any = None, size: float = LETTERS,
    ) -> list[list[tuple[Rectangle, Text]]]:  # fmt: skip
        """A table whose top left corner is here: each cell with its color ("" for white).

        The cells come back, to be written and colored anew by an explorer.
        """
        rows: list[list[tuple[Rectangle, Text]]] = []
        wide, high = cell
        for i, row in enumerate(cells):
            rows.append([])
            for j, words in enumerate(row):
                box = Box(x + (j + 0.5) * wide, y + (i + 0.5) * high, wide, high)
                fill = tint(colors[i][j]) if colors and colors[i][j] else "white"
                patch = Rectangle(box.bounds.min, wide, high, clip_on=False)
                patch.set(facecolor=fill, edgecolor=EDGE)
                self.ax.add_patch(patch)
                text = self._text(box.x, box.y, words, size=size)
                self._words.append((text, box))
                rows[-1].append((patch, text))
        whole = Box(
            x + len(cells[0]) * wide / 2, y + len(cells) * high / 2,
            len(cells[0]) * wide, len(cells) * high,
        )  # fmt: skip
        self._boxes.append(whole)
        return rows

    # -- words and arrows

    def words(
        self, x: float, y: float, words: str, *, align: str = "center", stand: str = "center",
        size: float = LETTERS, color: str = "black", bold: bool = False, inside: Box | None = None,
    ) -> Text:  # fmt: skip
        """Words on the paper itself, or inside a box or a cell."""
        weight = "bold" if bold else "normal"
        text = self._text(x, y, words, ha=align, va=stand, size=size, weight=weight)
        text.set_color(style.COLORS.get(color, color))
        self._words.append((text, inside))
        return text

    def arrow(
        self, *way: Box | Point, says: str = "", side: str = "above", color: str = EDGE,
        dashed: bool = False, head: bool = True, size: float = SMALL, at: int | None = None,
        width: float = 1.4,
    ) -> FancyArrowPatch:  # fmt: skip
        """An arrow along boxes and points; what it says stands beside its longest stretch."""
        points = [_middle(stop) for stop in way]
        if isinstance(way[0], Box):
            points[0] = way[0].edge(points[1])
        if isinstance(way[-1], Box):
            points[-1] = way[-1].edge(points[-2])
        ink = style.COLORS.get(color, color)
        patch = FancyArrowPatch(
            path=Path(points), arrowstyle="-|>" if head else "-", mutation_scale=12, color=ink,
            linewidth=width, linestyle=(0, (4, 2)) if dashed else "-", joinstyle="round",
            capstyle="butt", clip_on=False,
        )  # fmt: skip
        self.ax.add_patch(patch)
        ends = tuple(stop for stop in (way[0], way[-1]) if isinstance(stop, Box))
        self._arrows.append((_along(points), ends))
        if says:
            lengths = np.hypot(*np.diff(points, axis=0).T)
            k = int(np.argmax(lengths)) if at is None else at
            dx, dy, ha, va = SIDES[side]
            x, y = ((a + b) / 2 for a, b in zip(points[k], points[k + 1], strict=True))
            shade = ink if color != EDGE else "black"
            self.words(x + dx, y + dy, says, align=ha, stand=va, size=size, color=shade)
        return patch

    # -- at the end

    def troubles(self) -> list[str]:
        """What overlaps, or leaves the drawing: a sentence each."""
        found = []
        page = Bbox.from_bounds(0, 0, *self._size())
        said = [(t.get_text(), self._extent(t), own) for t, own in self._words if t.get_text()]
        for k, (words, box, own) in enumerate(said):
            if not _inside(box, page):
                found.append(f"{words!r} leaves the drawing.")
            if own and not _inside(box, own.bounds):
                found.append(f"{words!r} is larger than its box.")
            others = [w for w, other, _ in said[:k] if _meet(box, other)]
            found += [f"{words!r} and {other!r} overlap." for other in others]
            if not own and any(_meet(box, other.bounds) for other in self._boxes):
                found.append(f"{words!r} lies on a box.")
            if any(_meet(box, f.bounds) and not _inside(box, f.bounds) for f in self._frames):
                found.append(f"{words!r} lies on a frame.")
            if any(_crosses(points, box) for points, _ in self._arrows):
                found.append(f"An arrow runs through {words!r}.")
        for k, one in enumerate(self._boxes):
            if not _inside(one.bounds, page):
                found.append(f"The box at {one.x:g}, {one.y:g} leaves the drawing.")
            found += [
                f"The boxes at {one.x:g}, {one.y:g} and {other.x:g}, {other.y:g} overlap."
                for other in self._boxes[:k]
                if _meet(one.bounds, other.bounds)
            ]
            found += [
                f"An arrow runs through the box at {one.x:g}, {one.y:g}."
                for points, ends in self._arrows
                if one not in ends and _crosses(points, one.bounds)
            ]
        return found

    def show(self, caption: str, alt: str = "") -> None:
        """Display the drawing with the sentence under it, and with its description."""
        if found := self.troubles():
            raise ValueError("The drawing cannot be read: " + " ".join(found))
        style.show(self.fig, alt or self.alt, caption, svg=self.svg())

    def svg(self) -> str:
        """The drawing as SVG: letters are outlines, so it looks the same wherever it is shown."""
        out = io.StringIO()
        about = dict.fromkeys(("Creator", "Date", "Format", "Type"))
        with matplotlib.rc_context({"svg.fonttype": "path", "svg.hashsalt": "diagram"}):
            self.fig.savefig(out, format="svg", metadata=about)
        width, height = self._size()
        size = f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height:g}"'
        return _smaller(out.getvalue(), size)

    # -- inside

    def _size(self) -> Point:
        wide, high = self.ax.get_xlim()[1], self.ax.get_ylim()[0]
        return float(wide), float(high)

    def _solid(self, box: Box, color: str, corner: float) -> None:
        look: dict[str, Any] = {
            "facecolor": tint(color) if color else "white",
            "edgecolor": style.COLORS.get(color, EDGE),
            "linewidth": 1.2,
            "clip_on": False,
        }
        rounded = f"round,pad=0,rounding_size={corner}"
        self.ax.add_patch(
            FancyBboxPatch(box.bounds.min, box.width, box.height, boxstyle=rounded, **look)
            if corner
            else Ellipse((box.x, box.y), box.width, box.height, **look)
        )
        self._boxes.append(box)

    def _text(self, x: float, y: float, words: str, **look: Any) -> Text:
        return self.ax.text(x, y, words, **{"ha": "center", "va": "center"} | look, zorder=5)

    def _extent(self, text: Text) -> Bbox:
        """Where a text lies, in pixels of the drawing."""
        return Bbox(self.ax.transData.inverted().transform(text.get_window_extent()))


# -- the map of a course --------------------------------------------------------------------------

MAP_CAPTION = "The units, with minutes for lecture and exercises."
HIGH, BESIDE, BELOW = 46, 30, 22  # a box of the map, and what lies between two
A_LETTER = 7.5  # pixels


def map_of(units: Sequence[Unit]) -> Diagram:
    """A box for each unit at its place in the table, and an arrow for each "comes before".

    Nobody places the boxes by hand, so an arrow may run below one; none hides what a box says.
    """
    last, top = (max(unit.place[k] for unit in units) for k in (0, 1))
    wide = 12 + A_LETTER * max(len(f"{unit.number} {unit.label}") for unit in units)
    across, down = wide + BESIDE, HIGH + BELOW
    d = Diagram(last * across + wide + 16, top * down + HIGH + 16)
    boxes, rows = {}, []
    for unit in units:
        (column, row), (read, work) = unit.place, unit.minutes
        x, y = 8 + wide / 2 + column * across, 8 + HIGH / 2 + (top - row) * down
        words = f"{unit.number} {unit.label}\n{read} + {work} min"
        boxes[unit.number] = d.box(x, y, words, width=wide, height=HIGH, color="blue", size=SMALL)
        rows.append(f"{unit.number} {unit.label}, {read} and {work} minutes")
        rows[-1] += f", after {' and '.join(unit.after)}" * bool(unit.after)
    for unit in units:
        for before in unit.after:
            d.arrow(boxes[before], boxes[unit.number]).set_zorder(0.5)
    d.alt = f"{len(units)} boxes, one per unit, with arrows: {'; '.join(rows)}."
    return d


def show_map(units: Sequence[Unit]) -> None:
    """Display the map: what a start page calls."""
    drawing = map_of(units)
    style.show(drawing.fig, drawing.alt, MAP_CAPTION, svg=drawing.svg())


def _middle(stop: Box | Point) -> Point:
    return (stop.x, stop.y) if isinstance(stop, Box) else stop


def _along(points: Sequence[Point]) -> np.ndarray:
    """Points along the way, at most two pixels apart."""
    parts = []
    for a, b in pairwise(points):
        count = int(np.hypot(b[0] - a[0], b[1] - a[1]) // 2) + 2
        parts.append(np.linspace(a, b, count))
    return np.concatenate(parts)


def _shrunk(box: Bbox, by: float = 1) -> Bbox:
    """The box with its corners in order, and so much smaller on every side."""
    x0, x1, y0, y1 = box.xmin, box.xmax, box.ymin, box.ymax
    return Bbox.from_extents(x0 + by, y0 + by, x1 - by, y1 - by)


def _meet(one: Bbox, other: Bbox) -> bool:
    return bool(_shrunk(one).overlaps(_shrunk(other)))


def _inside(one: Bbox, other: Bbox) -> bool:
    return bool(
        other.xmin - 1 <= one.xmin
        and one.xmax <= other.xmax + 1
        and other.ymin - 1 <= one.ymin
        and one.ymax <= other.ymax + 1
    )


def _crosses(points: np.ndarray, box: Bbox) -> bool:
    inner = _shrunk(box, 1.5)
    low, high = inner.min, inner.max
    return bool(((low < points) & (points < high)).all(axis=1).any())


def _smaller(svg: str, head: str) -> str:
    """matplotlib's SVG without what only its makers read, and with numbers as fine as a pixel."""
    view = re.search(r'viewBox="[^"]+"', svg)
    body = svg[svg.index("<defs>") :] if "<defs>" in svg else svg
    body = re.sub(r"<!--.*?-->\s*", "", body, flags=re.DOTALL)
    body = re.sub(r"\d+\.\d{3,}", _rounded, body)
    body = re.sub(r"\s*\n\s*", " ", body)
    return f'{head} xmlns:xlink="http://www.w3.org/1999/xlink" {view[0] if view else ""}>\n{body}'


def _rounded(number: re.Match[str]) -> str:
    """Two digits behind the point; a scale, which is below 1, keeps its own."""
    value = float(number[0])
    return number[0] if value < 1 else f"{value:.2f}".rstrip("0").rstrip(".")
