"""One look for every figure of the course: palette, size, and a `show` that insists on words.

A figure cell reads:

    fig, ax = style.figure()
    ax.plot(t, raw, label="raw", **style.line("blue"))
    ax.plot(t, corrected, label="corrected", **style.line("orange"))
    ax.set(xlabel="step t", ylabel="average", title="The raw average starts too low")
    style.show(
        fig,
        alt="The raw average climbs from 0 to 1; the corrected one stays at 1.",
        caption="Without the correction ten steps are lost.",
    )
"""

import base64
import html
import math
import re
from collections.abc import Sequence
from typing import Any

import matplotlib
import numpy as np
from cycler import cycler
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.patches import Rectangle

from .png import MOST_BYTES, small_png

WIDTH, HEIGHT = 7.0, 3.2  # inches: 700 × 320 px in a notebook, and it fits a slide under a heading
DPI = 100  # pixels an inch, as shown
SCALE = 2  # drawn so much finer, for sharp letters on fine screens and on slides

# Okabe and Ito's palette, told apart with every common kind of color vision. Its yellow is too
# pale for a line on white, so it is left out.
COLORS = {
    "blue": "#0072B2",
    "orange": "#D55E00",
    "green": "#009E73",
    "pink": "#CC79A7",
    "sky": "#56B4E9",
    "amber": "#E69F00",
    "black": "#000000",
}
# Color is never the only carrier: each one has a dash pattern and a marker of its own.
DASHES = dict(
    zip(
        COLORS,
        ("-", "--", "-.", ":", (0, (7, 2)), (0, (3, 1, 1, 1, 1, 1)), (0, (1, 1))),
        strict=True,
    )
)
MARKERS = dict(zip(COLORS, "osD^vPX", strict=True))
LINE_WIDTH = 1.8
SHOWN = "Write one sentence that says what the picture shows, for a reader who cannot see it."
POINT = 'Write one sentence with the point of the picture: caption="The long step wins."'
LINE = 540  # pixels of a caption's line, also below a narrow picture
HYPHEN = re.compile(r"(?<![\w.])-(?=[\d.])")  # that stands for a minus
WORDS_HIGH = 0.36  # room for name and size of a shape, where the largest size is 1

# Only what matplotlib reads when it makes axes or draws: what it reads in between, such as the size
# of a title, would differ with where the call stands, so that stays at matplotlib's default.
RC: dict[Any, Any] = {
    "axes.axisbelow": True,
    "axes.grid": True,
    "axes.prop_cycle": cycler(
        color=list(COLORS.values()),
        linestyle=list(DASHES.values()),
        linewidth=[LINE_WIDTH] * len(COLORS),
    ),
    "axes.spines.right": False,
    "axes.spines.top": False,
    "figure.constrained_layout.use": True,
    "figure.facecolor": "white",  # a dark theme turns the shades around and keeps the hues
    "grid.color": "#DDDDDD",
    "grid.linewidth": 0.8,
    "legend.framealpha": 1.0,
}


def line(name: str, markers: int = 0) -> dict[str, Any]:
    """Arguments for `ax.plot`: color and dashes of that name; `markers` to spread along it."""
    if name not in COLORS:
        raise ValueError(
            f"There is no color {name!r} in the palette; choose one of {', '.join(COLORS)}."
        )
    look = {"color": COLORS[name], "linestyle": DASHES[name], "linewidth": LINE_WIDTH}
    if markers:
        look |= {"marker": MARKERS[name], "markevery": 1 / markers}
    return look


def figure(
    rows: int = 1, cols: int = 1, *, width: float = WIDTH, height: float = HEIGHT, **subplots: Any
) -> tuple[Figure, Any]:
    """A figure in the style of the course and its axes; pyplot never hears of it.

    Further arguments go to `Figure.subplots`, such as `sharey=True`.
    """
    with matplotlib.rc_context(RC):
        fig = Figure(figsize=(width, height), dpi=DPI)
        FigureCanvasAgg(fig)
        return fig, fig.subplots(rows, cols, **subplots)


def draw_shapes(ax: Axes, *rows: Sequence[str | tuple[str, tuple[int, int]]]) -> None:
    """Rows of matrices, all to one scale: (name, (rows, columns)), and signs such as "=" between.

    One row reads: [("Q", Q.shape), "·", ("Kᵀ", K.T.shape), "=", ("QKᵀ", (n, n))].
    """
    sizes = [size for row in rows for item in row if not isinstance(item, str) for size in item[1]]
    if not sizes or min(sizes) < 1:
        raise ValueError('Shapes are drawn from names and sizes of at least 1: [("Q", (8, 2))].')
    top, longest = 0.0, 0.0
    for row in rows:
        boxes = [item for item in row if not isinstance(item, str)]
        tallest = max((size[0] for _, size in boxes), default=0) / max(sizes)
        top -= tallest + WORDS_HIGH
        longest = max(longest, _draw_row(ax, row, top + (tallest + WORDS_HIGH) / 2, max(sizes)))
    ax.set(xlim=(-0.05, longest + 0.05), ylim=(top, 0), aspect="equal")
    ax.axis("off")


def _draw_row(ax: Axes, row: Sequence[Any], middle: float, scale: int) -> float:
    """Draw a row of shapes from left to right, and tell where it ends."""
    x = 0.0
    for item in row:
        name, (height, width) = (item, (0, 0)) if isinstance(item, str) else item
        sign, high, wide = isinstance(item, str), height / scale, width / scale
        size = f"{height:,}×{width:,}"
        room = 0.07 * (len(name) + 1) if sign else max(wide, 0.05 * (len(size) + 1))
        at = x + room / 2
        if sign:
            ax.text(at, middle, name, ha="center", va="center", fontsize=12)
        else:
            corner, sky = (at - wide / 2, middle - high / 2), COLORS["sky"]
            ax.add_patch(Rectangle(corner, wide, high, facecolor=sky, edgecolor="black"))
            above, below = middle + high / 2 + 0.03, middle - high / 2 - 0.03
            ax.text(at, above, name, ha="center", va="bottom", fontsize=9)
            ax.text(at, below, size, ha="center", va="top", fontsize=8)
        x += room
    return x


def table(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Display results as a table: numbers, given as text with the digits to show, on the right."""
    from IPython.display import display

    columns, *cells = ([HYPHEN.sub("−", str(cell)) for cell in row] for row in (columns, *rows))
    if not cells or any(len(row) != len(columns) for row in cells):
        raise ValueError(f"A table of {len(columns)} columns needs rows of {len(columns)} cells.")
    right = [all(_is_number(row[k]) for row in cells) for k in range(len(columns))]
    lines = [columns, ["--:" if side else ":--" for side in right], *cells]
    wide = [max(len(row[k]) for row in (columns, *cells)) for k in range(len(columns))]
    plain = "\n".join(
        "  ".join(t.rjust(w) if r else t.ljust(w) for t, w, r in zip(row, wide, right, strict=True))
        for row in (columns, *cells)
    )
    markdown = "\n".join(
        f"| {' | '.join(t.replace('|', '&#124;') for t in row)} |" for row in lines
    )
    display({"text/markdown": markdown, "text/plain": plain}, raw=True)


def power(number: float, digits: int = 0) -> str:
    """A very large or very small number as it is written on paper: 6·10⁸."""
    if not number or not math.isfinite(number):
        return f"{number:g}".replace("inf", "∞")
    front, exponent = f"{number:.{digits}e}".split("e")
    raised = str(int(exponent)).translate(str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"))
    return f"{front}·10{raised}".replace("-", "−")


def _is_number(cell: str) -> bool:
    return cell in ("", "–", "∞", "nan") or cell.lstrip("−-+<>≈ ")[:1].isdigit()


def show(fig: Figure, alt: str, caption: str = "", *, svg: str = "") -> None:
    """Display the figure with its description, and its point in a visible sentence under it.

    JupyterLab does not read out alt text, so it stands beside the caption, to be heard. Nothing is
    returned: the cell has the same outputs here and under nbval. A drawing comes with its `svg`,
    which is shown where a page trusts it.
    """
    from IPython.display import display

    for data, about in shown(fig, alt, caption, svg=svg):
        display(data, metadata=about, raw=True)


def shown(
    fig: Figure, alt: str, caption: str = "", *, svg: str = ""
) -> list[tuple[dict[str, Any], dict[str, Any]]]:
    """What `show` displays: picture and caption, each as data by kind, with its metadata."""
    alt, caption = one_line(alt, "alt text"), one_line(caption, "caption", POINT)
    if _words(alt) == _words(caption):
        raise ValueError(
            f"Alt text and caption say the same: {caption!r} The alt text says what is there, the "
            "caption what it means."
        )
    complain_if_unlabeled(fig)
    width, height = (round(inches * DPI) for inches in fig.get_size_inches())
    data = {"image/svg+xml": svg} if svg else {}
    data["image/png"] = base64.b64encode(png_of(fig, 1 if svg else SCALE)).decode()
    about = {"alt": alt, "width": width, "height": height}
    return [
        ({**data, "text/plain": f"Figure: {alt}"}, dict.fromkeys(data, about)),
        ({"text/html": _caption_html(caption, alt, width), "text/plain": caption}, {}),
    ]


def one_line(text: str, what: str, asks: str = SHOWN) -> str:
    """The text with its white space tidied; an empty one is refused, named by `what`."""
    if not isinstance(text, str) or not text.strip():
        raise ValueError(f"The {what} is empty. {asks}")
    return " ".join(text.split())


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.casefold())


def png_of(fig: Figure, finest: int = SCALE) -> bytes:
    """The figure as PNG within the limit, always the same bytes; a heavy one less finely drawn."""
    for scale in range(finest, 0, -1):
        png = small_png(pixels(fig, DPI * scale))
        if len(png) <= MOST_BYTES:
            return png
    raise ValueError(
        f"The picture takes {len(png) / 1000:.0f} kB; the limit is {MOST_BYTES // 1000} kB, so "
        "that notebooks stay small. Plot fewer points, a coarser image or a smaller figure."
    )


def draw_first(canvas: FigureCanvasAgg) -> None:
    """Draw a figure for the first time: ticks are made in our style, cut words are refused."""
    fig = canvas.figure
    with matplotlib.rc_context(RC):
        if any(ax.get_aspect() != "auto" for ax in fig.axes):
            fig.draw_without_rendering()  # such axes find their size in the second round
        canvas.draw()
    _complain_if_cut(fig)


def complain_if_unlabeled(fig: Figure) -> None:
    """Refuse a figure that does not say what it measures or finds.

    Axes that are switched off (`ax.axis("off")`) or have no ticks need no label.
    """
    panels = [ax for ax in fig.axes if ax.axison and ax.get_visible()]
    for number, ax in enumerate(panels, start=1):
        is_colorbar = ax.get_label() == "<colorbar>"
        if is_colorbar and not (ax.get_xlabel() or ax.get_ylabel()):
            raise ValueError('The color bar has no label: colorbar.set_label("what is measured").')
        for axis in () if is_colorbar else ("x", "y"):
            if not _is_labeled(ax, axis):
                raise ValueError(
                    f"Panel {number} of the figure has no {axis} label: "
                    f'ax.set_{axis}label("what is measured"), or ax.axis("off") for a drawing.'
                )
    if panels and not fig.get_suptitle() and not any(map(_has_title, panels)):
        raise ValueError('The figure has no title: ax.set_title("the finding in a few words").')


def _complain_if_cut(fig: Figure) -> None:
    """Refuse titles and labels that, as it was drawn last, leave the figure or run together."""
    texts = [ax.title for ax in fig.axes]
    texts += [axis.label for ax in fig.axes if ax.axison for axis in (ax.xaxis, ax.yaxis)]
    texts = [text for text in texts if text.get_visible() and text.get_text()]
    boxes = [text.get_window_extent() for text in texts]
    room = fig.bbox.padded(fig.dpi / DPI)
    for i, (text, box) in enumerate(zip(texts, boxes, strict=True)):
        fits = room.x0 <= box.x0 and box.x1 <= room.x1 and room.y0 <= box.y0 and box.y1 <= room.y1
        if not fits or any(box.overlaps(other) for other in boxes[:i]):
            raise ValueError(
                f"There is no room for {text.get_text()!r} in the figure: shorten it, or break it "
                "into two lines."
            )


def _has_title(ax: Axes) -> bool:
    return any(ax.get_title(place) for place in ("left", "center", "right"))


def _is_labeled(ax: Axes, axis: str) -> bool:
    """Whether this axis has a label, shares one with another panel, or has no ticks to explain."""
    if getattr(ax.figure, f"get_sup{axis}label")() or not len(getattr(ax, f"get_{axis}ticks")()):
        return True
    siblings = getattr(ax, f"get_shared_{axis}_axes")().get_siblings(ax)
    return any(getattr(sibling, f"get_{axis}label")() for sibling in siblings)


def pixels(fig: Figure, dpi: int) -> np.ndarray:
    """The figure drawn at that resolution: (h, w, 3) uint8. The figure is left as it was."""
    before = fig.dpi
    canvas = FigureCanvasAgg(fig)
    try:
        fig.set_dpi(dpi)
        draw_first(canvas)
        return np.array(canvas.buffer_rgba())[..., :3]
    finally:
        fig.set_dpi(before)


def _caption_html(caption: str, alt: str, width: int) -> str:
    """The caption, and the alt text to be heard."""
    hidden = "position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)"
    spoken = f'<span style="{hidden}"> Picture: {html.escape(alt)}</span>'
    look = f"max-width:{max(width, LINE)}px;margin:0 0 .5em"
    return f'<p class="course-caption" style="{look}">{html.escape(caption)}{spoken}</p>'
