"""Small pictures that fit below a sentence, on a page and on a slide: bars, lifetimes, flows.

Nothing that has to stay light imports this module: it needs matplotlib.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from selfcheck import style
from selfcheck.diagram import SMALL
from selfcheck.diagram import Diagram as Diagram  # for drawings of a lecture

HATCH = {"blue": "", "orange": "//", "green": "..", "sky": "\\\\", "amber": "xx", "pink": "oo"}


def bars(
    values: Mapping[str, float], says: Sequence[str], *, xlabel: str, ylabel: str, title: str,
    colors: Sequence[str] = (), log: bool = False, room: float = 1.25,
) -> Any:  # fmt: skip
    """A horizontal bar for each name, with what is said about it at its end."""
    fig, ax = style.figure(height=0.92 + 0.29 * len(values))
    for y, (value, words) in enumerate(zip(values.values(), says, strict=True)):
        color = colors[y] if colors else "blue"
        look = {"color": style.COLORS[color], "hatch": HATCH[color], "edgecolor": "white"}
        ax.barh(y, value, height=0.66, **look)
        ax.annotate(words, (value, y), (5, 0), textcoords="offset points", va="center")
    most = max(values.values())
    low = min(values.values()) / 4 if log else 0
    ax.set(xlim=(low, most**room / low ** (room - 1) if log else room * most))
    if log:
        ax.set_xscale("log")
    ax.set(ylim=(len(values) - 0.5, -0.5), xlabel=xlabel, ylabel=ylabel, title=title)
    ax.set_yticks(range(len(values)), list(values))
    ax.grid(axis="y", visible=False)
    return fig


def flow(
    *rows: Sequence[str], colors: Sequence[Sequence[str]], wide: float = 96, below: Any = ()
) -> Diagram:
    """Rows of boxes from left to right: words, what stands on the arrow, words, and so on.

    What is said `below` the boxes of the last row stands there in orange.
    """
    high = 76
    d = Diagram(700, high * len(rows) + (46 if below else 4))
    for k, (row, shades) in enumerate(zip(rows, colors, strict=True)):
        y, boxes = high * (k + 0.5) + 4, row[::2]
        step = (684 - wide) / (len(boxes) - 1)
        placed = [
            d.box(8 + wide / 2 + j * step, y, words, width=wide, height=46, color=color)
            for j, (words, color) in enumerate(zip(boxes, shades, strict=True))
        ]
        for j, words in enumerate(row[1::2]):
            d.arrow(placed[j], placed[j + 1], says=words)
        for box, words in zip(placed, below if k == len(rows) - 1 else (), strict=False):
            d.words(box.x, box.y + 29, words, stand="top", color="orange")
    return d


def product(left: str, right: str, sizes: tuple[str, str, str]) -> Diagram:
    """One entry of a matrix product: the row and the column that meet in it."""
    d = Diagram(700, 178)
    a, b, c = sizes
    y, side = 40, 24
    shapes = [(20, 4, 5, left, f"{a}×{b}"), (210, 5, 6, right, f"{b}×{c}"), (420, 4, 6, "", "")]
    for x, rows, columns, name, shape in shapes:
        marked = {
            left: lambda i, j: i == 1,
            right: lambda i, j: j == 2,
            "": lambda i, j: (i, j) == (1, 2),
        }[name]
        colors = [["amber" if marked(i, j) else "" for j in range(columns)] for i in range(rows)]
        top = y + (5 - rows) * side / 2
        d.table(x, top, [[""] * columns] * rows, cell=(side, side), colors=colors)
        says = f"{name}: {shape}" if name else f"{left}{right}: {a}×{c}"
        d.words(x + columns * side / 2, top - 6, says, stand="bottom")
    d.words(175, y + 60, "·", size=16)
    d.words(387, y + 60, "=", size=16)
    d.words(632, y + 40, f"{b} products,\n{b} − 1 sums", size=SMALL)
    d.words(632, y + 84, f"for each of the\n{a}·{c} numbers", size=SMALL)
    d.alt = (
        f"A row of {left}, {a}×{b}, and a column of {right}, {b}×{c}, are marked; they meet in one "
        f"marked number of the product, {a}×{c}. It takes {b} products and {b} minus 1 sums."
    )
    return d


def grid(
    cells: Sequence[Sequence[str]], *, cell: tuple[float, float] = (92, 42), wide: float = 0,
    colors: Any = None,
) -> Diagram:  # fmt: skip
    """A small table as a drawing: names in the first row and column, results in the others.

    What agrees is told by its words, and by a color; `wide` is for the first column.
    """
    first, (width, high) = wide or cell[0], cell
    d = Diagram(first + width * (len(cells[0]) - 1) + 16, high * len(cells) + 16)
    shades = colors or [[_shade(text) for text in row[1:]] for row in cells]
    d.table(8, 8, [[row[0]] for row in cells], cell=(first, high))
    d.table(8 + first, 8, [row[1:] for row in cells], cell=cell, colors=shades)
    return d


def _shade(text: str) -> str:
    return {"exact": "sky", "rounded": "green", "0": "amber"}.get(
        text, "amber" * text.startswith("off")
    )
