"""Small pictures that fit below a sentence: bars, grids, flows, shapes to scale, what goes where.

Like `diagrams`, each drawing has a description, and `.show("its point")` puts it on the page.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from selfcheck import style
from selfcheck.diagram import SMALL
from selfcheck.diagram import Diagram as Diagram  # for drawings of a lecture

BACK = "orange"  # what runs backward, always dashed too
HATCH = {"blue": "", "orange": "//", "green": "..", "sky": "\\\\", "amber": "xx", "pink": "oo"}


def bars(
    values: Mapping[str, float], caption: str, *, title: str, measures: str, digits: str = "",
    log: bool = False, color: str = "blue", marked: Mapping[str, str] | None = None,
    room: float = 1.25, says: Sequence[str] = (),
) -> None:  # fmt: skip
    """A bar for each value, with its number or what is said of it; some `marked` by a color."""
    names, numbers = list(values), list(values.values())
    words = says or [_number(number, digits) for number in numbers]
    fig, ax = style.figure(height=0.78 + 0.25 * len(names))
    colors = [style.COLORS[(marked or {}).get(name, color)] for name in names]
    start = 10 ** int(len(f"{min(numbers):.0f}") - 1) / 10 if log else 0
    ax.barh(
        range(len(names)), [n - start for n in numbers], left=start, color=colors,
    )  # fmt: skip
    for k, (number, said) in enumerate(zip(numbers, words, strict=True)):
        ax.annotate(said, (number, k), (5, 0), textcoords="offset points", va="center")
    ax.set_yticks(range(len(names)), labels=names)
    ax.invert_yaxis()
    ax.grid(False, axis="y")
    ax.set(title=title, xlabel=measures, ylabel="")
    ax.set_ylabel(" ", fontsize=1)
    if log:
        ax.set_xscale("log")
        ax.minorticks_off()
    most = max(numbers)
    ax.set_xlim(start, most * (most / start) ** 0.15 if log else room * most)
    told = "; ".join(f"{name} {said}" for name, said in zip(names, words, strict=True))
    style.show(fig, alt=f"Bars. {measures}: {told}.", caption=caption)


def _number(number: float, digits: str) -> str:
    """As a reader would write it, unless the format of its digits is given."""
    if not digits and number >= 1e7:
        return style.power(number, 1)
    return f"{number:{digits or (',.0f' if number >= 100 else '.3g')}}".replace("-", "−")


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


def to_scale(*items: Any, wide: float = 640, most: float = 118) -> Diagram:
    """Matrices as rectangles, all to one scale, the largest side `most` pixels.

    One row reads: ("Q", (8, 2)), "·", ("Kᵀ", (2, 8)), "=", ("QKᵀ", (8, 8)); a third entry of a
    matrix is its color.
    """
    shapes = [item for item in items if not isinstance(item, str)]
    scale = most / max(side for _, size, *_ in shapes for side in size)
    tall = max(max(size[0] * scale, 3) for _, size, *_ in shapes)
    room = [
        12.0 * len(i) if isinstance(i, str) else max(i[1][1] * scale, 9.5 * len(_size(i[1])))
        for i in items
    ]
    gap = max((wide - sum(room)) / (len(items) + 1), 4)
    d, x, said = Diagram(wide, tall + 60), gap, []
    for item, takes in zip(items, room, strict=True):
        middle, y = x + takes / 2, 30 + tall / 2
        if isinstance(item, str):
            d.words(middle, y, item)
            said.append(item)
        else:
            name, (rows, columns), *color = item
            high, across = max(rows * scale, 3), max(columns * scale, 3)
            corner = middle - across / 2, y - high / 2
            d.table(*corner, [[""]], cell=(across, high), colors=[[*color, "sky"]])
            d.words(middle, y - high / 2 - 5, name, stand="bottom", bold=True)
            d.words(middle, y + high / 2 + 5, _size((rows, columns)), stand="top")
            said.append(f"{name}, {_size((rows, columns))},")
        x += takes + gap
    d.alt = f"Rectangles to one scale: {' '.join(said)}".rstrip(",") + "."
    return d


def _size(shape: tuple[int, int]) -> str:
    return f"{shape[0]:,}×{shape[1]:,}"


# -- 09 -------------------------------------------------------------------------------------------


def common_direction() -> Diagram:
    """One random direction makes a number from x and a number from y; their product is averaged."""
    d = Diagram(660, 172)
    w = d.circle(60, 86, "$w$", radius=22, color="amber")
    parts = {}
    for name, y in (("x", 30), ("y", 142)):
        start = d.box(60, y, f"${name}$", width=44, color="sky")
        power = f"$e^{{w^{{\\top}}{name} - \\Vert {name}\\Vert^2/2}}$"
        parts[name] = d.box(230, y, power, width=150, height=44, color="green")
        d.arrow(start, parts[name])
        d.arrow(w, (150, 86), (150, y + (22 if y < 86 else -22)), dashed=True)
    times = d.circle(380, 86, "·", radius=16)
    d.arrow(parts["x"], (380, 30), times)
    d.arrow(parts["y"], (380, 142), times)
    mean = d.box(480, 86, "mean\nover $w$", width=90, height=48, color="amber")
    d.arrow(times, mean)
    d.arrow(mean, d.box(600, 86, "$e^{x^{\\top}y}$", width=80, height=44, color="sky", bold=True))
    d.alt = (
        "x goes into one number, y into another; a dashed arrow leads from the same direction w to "
        "each. The two numbers are multiplied, and the mean of the product over w is exp of x "
        "transposed y."
    )
    return d


# -- 10 -------------------------------------------------------------------------------------------


def one_after_the_other(pixels: int) -> Diagram:
    """A picture as a text: each pixel is predicted from those before it, then joins them."""
    d = Diagram(660, 150)
    xs = [50 + 90 * k for k in range(5)]
    row = [d.box(x, 116, f"$x_{k}$", width=48, color="sky") for k, x in enumerate(xs, start=1)]
    d.words(500, 116, "…")
    d.box(580, 116, f"$x_{{{pixels}}}$", width=60, color="sky")
    model = d.box(275, 34, "model", width=90, color="amber")
    for box in row[:4]:
        d.arrow((box.x, 99), (box.x, 76), head=False)
    d.arrow((xs[0], 76), (xs[3], 76), head=False)
    d.arrow((275, 76), model)
    d.arrow(model, (xs[4], 34), row[4], says="the next one", at=0)
    d.alt = (
        f"A row of pixels x1, x2, x3, x4, x5 and so on to x{pixels}. The first four go into the "
        "model, and an arrow leads from the model to x5, the next one."
    )
    return d


def recurrence_step() -> Diagram:
    """The state between two tokens: what is added to it, and what is read from it."""
    d = Diagram(660, 176)
    y = 70
    before = d.box(80, y, "$s_{i-1},\\; z_{i-1}$", width=120, color="sky")
    plus = d.circle(270, y, "+", color="amber")
    after = d.box(440, y, "$s_i,\\; z_i$", width=90, color="sky")
    d.arrow(before, plus)
    d.arrow(plus, after)
    d.arrow(after, (650, y))
    d.words(590, y - 8, "to token $i+1$", stand="bottom")
    d.arrow((270, 154), plus)
    d.words(256, 140, "$\\phi(k_i)\\,v_i^{\\top},\\;\\; \\phi(k_i)$", align="right")
    read = d.box(440, 146, "read", width=70, height=30, color="green")
    d.arrow(after, read)
    d.arrow(read, (540, 146))
    d.words(548, 146, "$y_i$", align="left")
    d.arrow((360, 146), read)
    d.words(352, 146, "$q_i$", align="right")
    d.words(80, 24, "a state of fixed size")
    d.alt = (
        "The state s, z of token i minus 1 goes through a sum, to which token i adds the features "
        "of its key times its value, and becomes the state of token i, which goes on to the next "
        "token. The query of token i reads the output y from it."
    )
    return d


def three_ways(i: int = 5) -> Diagram:
    """What a new token makes the layer compute: everything, one row, or one change of the state."""
    d = Diagram(660, 176)
    names = ("softmax, no cache", "softmax, cache", "recurrence")
    for middle, name in zip((110, 330, 550), names, strict=True):
        d.words(middle, 18, name, bold=True)
    dots = "•   •   •   •"
    for middle, kept in ((110, 0), (330, i - 1)):
        for column, name in enumerate(("keys", "values")):
            rows = [["" if k < kept else dots] for k in range(i)]
            colors = [["sky" if k < kept else "orange"] for k in range(i)]
            left = middle - 94 + column * 98
            d.table(left, 52, rows, cell=(80, 20), colors=colors)
            d.words(left + 40, 48, name, stand="bottom")
    for left, wide, name in ((500, 80, "$s$"), (594, 20, "$z$")):
        rows = [[dots if wide == 80 else "•"]] * 4
        d.table(left, 52, rows, cell=(wide, 20), colors=[["orange"]] * 4)
        d.words(left + wide / 2, 48, name, stand="bottom")
    d.words(330, 166, "•  computed for this token;  the others are kept from before")
    d.alt = (
        f"Token {i} in three ways. Without a cache all {i} rows of keys and values are computed; "
        "with a cache only the last row is, and the others are kept; by the recurrence all "
        "numbers of a 4×4 state s and of z are changed, and there are no rows."
    )
    return d


def throughput_and_latency(lanes: int = 4) -> Diagram:
    """Two clocks: many pictures side by side, and one picture."""
    d = Diagram(660, 180)
    for left, width, count, name, words in (
        (20, 330, lanes, "throughput", "pictures finished per second"),
        (400, 180, 1, "latency", "seconds for one picture"),
    ):
        d.words(left, 18, name, align="left", bold=True)
        for k in range(count):
            d.box(left + width / 2, 48 + 27 * k, "", width=width, height=20, color="sky")
        low = 48 + 27 * (lanes - 1) + 22
        d.arrow((left, low), (left + width, low))
        d.words(left, low + 20, words, align="left")
    d.words(362, 48 + 13.5 * (lanes - 1), "batch", align="left", size=10)
    d.alt = (
        f"Left, throughput: {lanes} bars side by side, a batch, over a long time; what counts is "
        "pictures finished per second. Right, latency: one bar over a shorter time; what counts is "
        "seconds for one picture."
    )
    return d


def two_machines(taken: Mapping[str, Mapping[str, float]]) -> Diagram:
    """Seconds for one image by machine and method, with the factor on each machine."""
    d = Diagram(660, 172)
    methods = ("no cache", "linear")
    for j, method in enumerate(methods):
        d.words(230 + 300 * j, 20, {"no cache": "softmax, no cache"}.get(method, method), bold=True)
    for i, machine in enumerate(taken):
        y, seconds = 66 + 76 * i, [taken[machine][method] for method in methods]
        d.words(40, y, machine, bold=True)
        slow, fast = (d.box(230 + 300 * j, y, f"{s:,} s", width=130) for j, s in enumerate(seconds))
        d.arrow(slow, fast, says=f"{seconds[0] / seconds[1]:,.1f}", size=11)
    d.alt = "A table of two machines and two methods, in seconds. " + " ".join(
        f"{m}: softmax {row['no cache']:,}, linear {row['linear']:,}, "
        f"{row['no cache'] / row['linear']:,.1f} times as fast."
        for m, row in taken.items()
    )
    return d


# -- 11 -------------------------------------------------------------------------------------------


def carrier() -> Diagram:
    """Carrying mass oneself, or by trade: buy at the source, sell at the target."""
    d = Diagram(660, 168)
    x = d.box(60, 110, "mass at $x$", width=110, color="sky")
    y = d.box(600, 110, "wanted at $y$", width=116, color="sky")
    middle = d.box(330, 44, "carrier", width=100, color="amber")
    d.arrow(x, (60, 44), middle, says="buys for $f(x)$", size=11)
    d.arrow(middle, (600, 44), y, says="sells for $f(y)$", size=11)
    d.arrow(x, y, says="carry it yourself: $|y - x|$", side="below", size=11)
    d.alt = (
        "Two routes from mass at x to where it is wanted, y. Above, through a carrier, who buys "
        "for f of x and sells for f of y. Below, a direct arrow: carry it yourself, for the "
        "distance from x to y."
    )
    return d


def glued() -> Diagram:
    """Two plans end to end, and the direct route."""
    d = Diagram(660, 150)
    boxes = [d.box(x, 96, f"${n}$", width=60, color="sky") for x, n in ((60, "p"), (330, "q"))]
    boxes.append(d.box(600, 96, "$q\\,'$", width=60, color="sky"))
    d.arrow(boxes[0], boxes[1], says="plan $P$", size=11, side="below")
    d.arrow(boxes[1], boxes[2], says="plan $P\\,'$", size=11, side="below")
    d.arrow(boxes[0], (60, 40), (600, 40), boxes[2], says="glued: $P\\,''$", size=11)
    d.alt = (
        "Three boxes, p, q and q prime. Plan P leads from p to q, plan P prime from q to q prime, "
        "and the glued plan from p directly to q prime."
    )
    return d


# -- 12 -------------------------------------------------------------------------------------------


def two_sums(tokens: int = 4) -> Diagram:
    """The state that runs forward, and the one that runs backward."""
    d = Diagram(660, 172)
    xs = [110 + 150 * k for k in range(tokens)]
    s = [d.box(x, 36, f"$s_{k}$", width=56, color="sky") for k, x in enumerate(xs, start=1)]
    u = [d.box(x, 136, f"$u_{k}$", width=56, color="pink") for k, x in enumerate(xs, start=1)]
    for k, (one, next_one) in enumerate(pairwise(s), start=2):
        d.arrow(one, next_one, says=f"$+\\,k_{k}v_{k}^{{\\top}}$", size=11)
    for k, (one, next_one) in enumerate(pairwise(u), start=1):
        says = f"$+\\,q_{k}\\hat g_{k}^{{\\top}}$"
        d.arrow(next_one, one, says=says, size=11, color=BACK, dashed=True)
    d.words(xs[0] - 40, 86, "forward, from the first token", align="left")
    d.words(xs[-1] + 40, 86, "backward, from the last", align="right", color=BACK)
    d.alt = (
        f"Two rows of {tokens} states. In the upper row arrows lead from s1 to s{tokens}, each "
        "adding a key times a value. In the lower row dashed arrows lead back from "
        f"u{tokens} to u1, each adding a query times a gradient."
    )
    return d


def one_set_of_weights(pixels: int) -> Diagram:
    """The same weights, run in two ways."""
    d = Diagram(660, 160)
    weights = d.box(90, 80, "the same\nweights", width=120, height=56, color="green")
    ways = {
        32: (f"masked: all {pixels} pixels at once", "sky"),
        128: ("recurrence: pixel after pixel", "amber"),
    }
    same = d.box(590, 80, "the same\npixels?", width=110, height=56)
    for y, (words, color) in ways.items():
        way = d.box(345, y, words, width=270, color=color)
        d.arrow(weights, (90, y), way)
        d.arrow(way, (590, y), same)
    d.alt = (
        f"From one set of weights two arrows lead to two ways of running them, masked, with all "
        f"{pixels} pixels at once, and as a recurrence, pixel after pixel; both lead to the "
        "question whether the pixels are the same."
    )
    return d
