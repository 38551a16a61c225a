"""The diagrams that everybody draws, each from the sizes or numbers of the lecture that shows it.

Every function gives a `Diagram` with a description; `.show("its point")` puts it on the page.
Nothing that has to stay light imports this module: it needs matplotlib.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from selfcheck.diagram import SMALL, Box, Diagram, tint
from selfcheck.diagram import show_map as show_map  # for the start page

from . import transport
from .attention import softmax
from .autodiff import Node, backward

BACK = "orange"  # the color of what runs backward, always dashed too


# -- recurrent networks ---------------------------------------------------------------------------


def unrolled_rnn() -> Diagram:
    """Two steps of a recurrent network, written in both ways, and the way of the gradient."""
    d = Diagram(700, 330)
    column = [36 + 52 * k for k in range(13)]
    for form, y, first in [("h", 86, 0), ("g", 242, 2)]:
        chain: list[Box] = []
        for k in range(first, first + 11):
            time, part = divmod(k, 5)
            x = column[k]
            if part == {"h": 0, "g": 2}[form]:
                name = f"${form}_{time}$"
                chain.append(d.box(x, y, name, width=44, color="sky", bold=True))
            elif part == 1:
                chain.append(d.circle(x, y, "σ", color="amber"))
            elif part == 3:
                chain.append(d.circle(x, y, "$W$", color="green"))
            elif part == 4:
                plus = d.circle(x, y, "+")
                chain.append(plus)
                d.arrow((x, y - 42), plus)
                d.words(x, y - 46, f"$z_{time + 1}$", stand="bottom")
        for one, next_one in pairwise(chain):
            d.arrow(one, next_one)
        last, start = column[first + 10], column[first]
        d.arrow(
            (last, y + 24),
            (last, y + 40),
            (start, y + 40),
            (start, y + 20),
            color=BACK,
            dashed=True,
        )
        for k in range(first, first + 11):
            time, part = divmod(k, 5)
            if part in (1, 3):
                slope = "$W$" if part == 3 else f"$\\sigma'(h_{time})$"
                d.words(column[k], y + 44, slope, stand="top", color=BACK)
    d.words(12, 20, "before σ:  $h_t = W\\sigma(h_{t-1}) + z_t$", align="left")
    d.words(12, 176, "after σ:  $g_t = \\sigma(W g_{t-1} + z_t)$", align="left")
    d.alt = (
        "Two rows, one chain. Upper row: h0, then sigma, W, plus z1, h1, sigma, W, plus z2, h2. "
        "Lower "
        "row: g0, then W, plus z1, sigma, g1, W, plus z2, sigma, g2. Below each row a dashed "
        "arrow runs "
        "back from the last state to the first and collects, in the upper row W, the slope at "
        "h1, W and "
        "the slope at h0; in the lower row the slope at h2, W, the slope at h1 and W."
    )
    return d


def lstm_cell() -> Diagram:
    """A step of an LSTM: the cell above, the gates below, and the direct way of the gradient."""
    d = Diagram(620, 330)
    top, gates, low = 92, 212, 290
    before = d.box(44, top, "$c_{t-1}$", width=60, color="sky")
    times, plus = d.circle(160, top, "⊙"), d.circle(300, top, "+")
    after = d.box(576, top, "$c_t$", width=60, color="sky")
    d.arrow(before, times)
    d.arrow(times, plus)
    d.arrow(plus, after)
    mixed = d.circle(300, 152, "⊙")
    d.arrow(mixed, plus)
    forget = d.box(160, gates, "$f_t$", width=56, color="amber")
    enter = d.box(248, gates, "$i_t$", width=56, color="amber")
    new = d.box(340, gates, "tanh", width=64, color="green")
    show = d.box(440, gates, "$o_t$", width=56, color="amber")
    d.arrow(forget, times)
    d.arrow(enter, (248, 152), mixed)
    d.arrow(new, (340, 152), mixed)
    squash = d.circle(500, 138, "tanh", radius=22, color="green", size=SMALL)
    out = d.circle(500, gates, "⊙")
    d.arrow((500, top), squash)
    d.arrow(squash, out)
    d.arrow(show, out)
    d.arrow(out, d.box(576, gates, "$h_t$", width=60, color="sky"))
    state = d.box(66, low, "$h_{t-1},\\; x_t$", width=104, color="sky")
    for x, gate in ((160, forget), (248, enter), (340, new), (440, show)):
        d.arrow((x, low), gate)
    d.arrow(state, (440, low), head=False)
    d.arrow(
        (576, top - 22), (576, top - 44), (44, top - 44), (44, top - 18), color=BACK, dashed=True
    )
    d.words(
        310,
        top - 50,
        "one step back along the cell: $\\mathrm{diag}(f_t)$",
        stand="bottom",
        color=BACK,
    )
    for x, name in ((160, "forget"), (248, "input"), (440, "output")):
        d.words(x + 8, gates + 36, name, align="left", size=SMALL)
    d.alt = (
        "The cell runs straight from left to right: c at t minus 1, times the forget gate f, "
        "plus the "
        "input gate i times a tanh, gives c at t. The output gate o times tanh of c gives h at "
        "t. All "
        "gates are computed from h at t minus 1 and x at t. A dashed arrow leads back along the "
        "cell: "
        "diag of f."
    )
    return d


def gru_cell() -> Diagram:
    """A step of a GRU: one state, carried over by a gate, and the direct way of the gradient."""
    d = Diagram(620, 330)
    top, low = 92, 284
    before = d.box(44, top, "$h_{t-1}$", width=60, color="sky")
    keep, plus = d.circle(340, top, "⊙"), d.circle(460, top, "+")
    after = d.box(576, top, "$h_t$", width=60, color="sky")
    d.arrow(before, keep)
    d.arrow(keep, plus)
    d.arrow(plus, after)
    hide = d.circle(140, 190, "⊙")
    reset = d.box(220, low, "$r_t$", width=56, color="amber")
    gate = d.box(340, low, "$f_t$", width=56, color="amber")
    d.arrow((140, top), hide)
    d.arrow(reset, (220, 236), (140, 236), hide)
    new = d.box(220, 190, "tanh", width=64, color="green")
    d.arrow(hide, new)
    enter = d.circle(460, 190, "⊙")
    d.arrow(new, enter)
    d.words(296, 186, "$\\tilde h_t$", stand="bottom")
    d.arrow(enter, plus)
    d.arrow(gate, keep)
    d.arrow(gate, (460, low), enter)
    d.words(468, 240, "$1 - f_t$", align="left")
    state = d.box(66, low, "$h_{t-1},\\; x_t$", width=104, color="sky")
    d.arrow(state, reset)
    d.arrow((66, low + 18), (66, low + 34), (340, low + 34), gate)
    d.arrow(
        (576, top - 22), (576, top - 44), (44, top - 44), (44, top - 18), color=BACK, dashed=True
    )
    d.words(
        310,
        top - 50,
        "one step back along the state: $\\mathrm{diag}(f_t)$",
        stand="bottom",
        color=BACK,
    )
    d.alt = (
        "The state runs straight from left to right: h at t minus 1, times the gate f, plus 1 "
        "minus f times "
        "the new state, gives h at t. The new state is a tanh that sees h at t minus 1 through "
        "the reset "
        "gate r. A dashed arrow leads back along the state: diag of f."
    )
    return d


# -- attention ------------------------------------------------------------------------------------


def attention_head(n: int, d: int, m: int, l: int) -> Diagram:  # noqa: E741 (as in formulas)
    """One head of self-attention, with the shape of what travels on every arrow."""
    D = Diagram(700, 280)
    X, projections = D.box(40, 135, "$X$", width=48, color="sky"), {}
    for name, y, width in (("Q", 45, m), ("K", 135, m), ("V", 225, l)):
        matrix = projections[name] = D.box(176, y, f"$W^{name}$", width=60, color="green")
        D.arrow(*((X, matrix) if y == X.y else (X, (X.x, y), matrix)), says=f"{n}×{d}")
        D.words(176, y + 21, f"{d}×{width}", stand="top", size=SMALL)
    scores = D.box(338, 90, "$QK^{\\top}\\!/\\sqrt{m}$", width=104, height=42, color="amber")
    D.arrow(projections["Q"], (338, 45), scores, says=f"$Q$: {n}×{m}", at=0)
    D.arrow(projections["K"], (338, 135), scores, says=f"$K$: {n}×{m}", at=0, side="below")
    soft = D.box(520, 90, "softmax", width=80, color="amber")
    D.arrow(scores, soft, says=f"{n}×{n}")
    mix = D.box(590, 225, "$AV$", width=56, color="amber")
    D.arrow(soft, (590, 90), mix, says=f"$A$: {n}×{n}", side="right", at=1)
    D.arrow(projections["V"], mix, says=f"$V$: {n}×{l}")
    D.arrow(mix, (694, 225), says=f"{n}×{l}")
    D.alt = (
        f"X, {n}×{d}, goes to three matrices. W^Q and W^K, {d}×{m}, make Q and K, {n}×{m} each. Q "
        f"K "
        f"transposed over root m and softmax give A, {n}×{n}. W^V, {d}×{l}, makes V, {n}×{l}, and "
        f"A "
        f"times V is the output, {n}×{l}."
    )
    return D


def several_heads(n: int, d: int, l: int, heads: int = 2) -> Diagram:  # noqa: E741
    """Heads side by side, then W^O, with the shape of what travels on every arrow."""
    D = Diagram(640, 70 * heads + 20)
    ys = [45 + 70 * k for k in range(heads)]
    middle = sum(ys) / heads
    X = D.box(40, middle, "$X$", width=48, color="sky")
    beside = D.box(370, middle, "side\nby\nside", width=64, height=70 * heads - 10, size=SMALL)
    for k, y in enumerate(ys, start=1):
        head = D.box(196, y, f"head {k}", width=88, color="amber")
        D.arrow(*((X, head) if y == X.y else (X, (X.x, y), head)), says=f"{n}×{d}")
        D.arrow(head, (beside.bounds.x0, y), says=f"{n}×{l}")
    out = D.box(506, middle, "$W^O$", width=60, color="green")
    D.words(506, middle + 21, f"{heads * l}×{d}", stand="top", size=SMALL)
    D.arrow(beside, out, says=f"{n}×{heads * l}")
    D.arrow(out, (620, middle), says=f"{n}×{d}")
    D.alt = (
        f"X, {n}×{d}, goes to {heads} heads. Each gives {n}×{l}; side by side that is "
        f"{n}×{heads * l}, "
        f"and times W^O, {heads * l}×{d}, it is {n}×{d} again."
    )
    return D


def transformer_block(
    n: int, d: int, heads: int, hidden: int, *, norms: bool = True, attention: str = "attention"
) -> Diagram:
    """A transformer block of these sizes: shapes on the arrows, parameters under the boxes."""
    D = Diagram(700, 190)
    y, over, shape = 86, 30, f"{n:,}×{d:,}"
    stages = [
        (f"{attention}\n{heads} heads", 4 * d * d, "amber"),
        (f"feed-forward\n{d:,} → {hidden:,}", 2 * d * hidden, "green"),
    ]
    total = 4 * d * norms + sum(count for _, count, _ in stages)
    before = D.box(32, y, "$x$", width=44, color="sky")
    for start, (words, count, color) in zip((108, 412), stages, strict=True):
        D.arrow((start - 28, y), (start - 28, over), (start + 244, over), (start + 244, y - 16))
        D.words(start + 108, over - 5, shape, stand="bottom", size=SMALL)
        if norms:
            norm = D.box(start + 22, y, "norm", width=60, color="pink")
            D.arrow(before, norm)
            D.words(norm.x, y + 34, f"{2 * d:,}", stand="top", size=SMALL)
            before = norm
        stage = D.box(start + 138, y, words, width=134, height=54, color=color)
        D.arrow(before, stage)
        D.words(stage.x, y + 34, f"{count:,}", stand="top", size=SMALL)
        plus = D.circle(start + 244, y, "+")
        D.arrow(stage, plus)
        before = plus
    D.arrow(before, (696, y))
    D.words(350, 168, f"parameters of the block: {total:,}")
    through = "a norm and " if norms else ""
    D.alt = (
        f"x, {shape}, goes through {through}{attention} with {heads} heads, and is added to the "
        f"result; "
        f"then through {through}a feed-forward layer from {d:,} to {hidden:,} and back, and is "
        f"added "
        f"again. Parameters: {4 * d * d:,} in the attention, {2 * d * hidden:,} in the "
        f"feed-forward "
        f"layer, {total:,} in all."
    )
    return D


def matrices(*items: Any, digits: int = 3) -> Diagram:
    """Matrices with their names above them and the signs between them, in a row.

    One row reads: ("Q", Q), "·", ("Kᵀ", K.T), "=", ("scores", Q @ K.T); a third entry colors cells:
    {(0, 1): "amber"}. What is masked is NaN.
    """
    high, gap, sign = 32, 14, 10  # pixels: of a row, beside a matrix, and of a letter of a sign
    placed: list[tuple[float, float, str, list[list[str]] | None, dict[Any, str]]] = []
    said, x = [], 8.0
    for item in items:
        if isinstance(item, str):
            placed.append((x + sign * len(item) / 2, 0.0, item, None, {}))
            said.append(item)
            x += sign * len(item) + gap
            continue
        name, rows = item[0], [[_entry(v, digits) for v in row] for row in np.atleast_2d(item[1])]
        wide = 14.0 + 9 * max(len(text) for row in rows for text in row)
        room = max(wide * len(rows[0]), 9.0 * len(name))
        placed.append((x + room / 2, wide, name, rows, dict(*item[2:])))
        listed = "; ".join(" ".join(t or "masked" for t in row) for row in rows)
        said.append(f"{name.replace('$', '')}, {len(rows)}×{len(rows[0])}: {listed};")
        x += room + gap
    tall = high * max(len(cells) for *_, cells, _ in placed if cells)
    d = Diagram(x - gap + 8, tall + 50)
    for middle, wide, name, cells, marked in placed:
        if cells is None:
            d.words(middle, 38 + tall / 2, name)
            continue
        corner = middle - wide * len(cells[0]) / 2, 38 + (tall - high * len(cells)) / 2
        shape = range(len(cells)), range(len(cells[0]))
        colors = [[marked.get((i, j), "") for j in shape[1]] for i in shape[0]]
        d.table(*corner, cells, cell=(wide, high), colors=colors)
        d.words(middle, corner[1] - 6, name, stand="bottom", bold=True)
    d.alt = f"Matrices in a row. {' '.join(said)}".rstrip(";") + "."
    return d


def _entry(value: float, digits: int) -> str:
    """A number as it is written; nothing where it is masked."""
    return "" if np.isnan(value) else f"{round(float(value), digits):g}".replace("-", "−")


def encoder_decoder(source: int = 5, target: int = 4) -> Diagram:
    """Encoder and decoder with their three attentions, and who sees whom in each."""
    d = Diagram(700, 330)
    top, low = 85, 245
    d.frame(312, top, 368, 152, "encoder")
    d.frame(394, low, 532, 152, "decoder")
    seen = {}
    for number, (x, y, words, rows, columns) in enumerate(
        (
            (216, top, "1  self-attention", source, source),
            (216, low, "2  masked\nself-attention", target, target),
            (406, low, "3  cross-attention", target, source),
        ),
        start=1,
    ):
        seen[number] = d.box(x, y - 12, words, width=150, height=46, color="amber")
        colors = [
            ["sky" if number != 2 or j <= i else "" for j in range(columns)] for i in range(rows)
        ]
        d.table(x - 4.5 * columns, y + 20, [[""] * columns] * rows, cell=(9, 9), colors=colors)
    asked = d.box(40, top - 12, "$Z$", width=48, color="sky")
    given = d.box(40, low - 12, "$Y$", width=48, color="sky")
    forward = d.box(406, top - 12, "feed-forward", width=116, color="green")
    onward = d.box(572, low - 12, "feed-forward", width=116, color="green")
    d.arrow(asked, seen[1], says=f"{source}×$d$")
    d.arrow(given, seen[2], says=f"{target}×$d$")
    d.arrow(seen[1], forward)
    d.arrow(seen[2], seen[3], says="$Q$")
    d.arrow(forward, seen[3], says="$K, V$", side="right")
    d.arrow(seen[3], onward)
    d.arrow(onward, (694, low - 12))
    d.alt = (
        f"Above, the encoder: {source} tokens Z go through self-attention, where all see all, and "
        f"a "
        f"feed-forward layer. Below, the decoder: {target} tokens Y go through masked "
        f"self-attention, "
        "where each sees itself and those before, then through cross-attention, whose queries "
        "are the "
        "decoder's and whose keys and values come from the encoder, then through a feed-forward "
        "layer."
    )
    return d


def causal_mask(scores: Any) -> Diagram:
    """Scores, the mask that is added to them, and the weights: three tables beside the formula."""
    S = np.asarray(scores, float)
    n, side = len(S), 60 if len(S) <= 3 else 50
    wide = n * side
    d = Diagram(3 * wide + 2 * 66 + 24, n * 34 + 96)
    hidden = np.triu(np.ones((n, n), dtype=bool), 1)
    weights = softmax(np.where(hidden, -np.inf, S))
    colors = [["" if h else "sky" for h in row] for row in hidden]
    tables = (
        ("scores $S$", [[_short(s) for s in row] for row in S], None),
        ("mask $M$", [["−∞" if h else "0" for h in row] for row in hidden], colors),
        ("weights softmax$(S + M)$", [[_short(w) for w in row] for row in weights], colors),
    )
    for k, (name, cells, shades) in enumerate(tables):
        left = 12 + k * (wide + 66)
        d.words(left + wide / 2, 22, name)
        d.table(left, 40, cells, cell=(side, 34), colors=shades)
        if k:
            d.words(left - 33, 40 + n * 17, "+" if k == 1 else "→", size=16)
    rule = (
        "$M_{ij} = 0$ if $j \\leq i$, and $-\\infty$ if $j > i$: token $i$ sees itself and the past"
    )
    d.words((3 * wide + 156) / 2, n * 34 + 68, rule)
    d.alt = (
        f"Three {n}×{n} tables: scores, plus a mask that is 0 on and below the diagonal and minus "
        f"infinity "
        "above it, lead to weights that are 0 above the diagonal. The first row of the weights "
        "is 1, 0, …"
    )
    return d


def _short(number: float) -> str:
    return f"{number:.2f}".rstrip("0").rstrip(".").replace("-", "−")


# -- a step at a time: what an explorer draws, and how it moves -----------------------------------


class Steps(NamedTuple):
    """`setup` and `update` of an explorer with one control, `step` from 0 to `last`."""

    setup: Callable[[Any], Mapping[str, Any]]
    update: Callable[..., str]
    last: int
    size: tuple[float, float]


def computational_graph(a: float = 2, b: float = 3) -> Steps:
    """f = (ab + a)b: values on the way forward, then gradients on the way back, one at a time."""
    at = {"a": (50, 70), "b": (50, 250), "c": (230, 160), "e": (410, 110), "f": (590, 180)}
    sign = {"c": "$c = a\\cdot b$", "e": "$e = c + a$", "f": "$f = e\\cdot b$"}
    nodes = {"a": Node(float(a)), "b": Node(float(b))}
    nodes["c"] = nodes["a"] * nodes["b"]
    nodes["e"] = nodes["c"] + nodes["a"]
    nodes["f"] = nodes["e"] * nodes["b"]
    backward(nodes["f"])
    value = {name: float(node.value) for name, node in nodes.items()}
    back = {name: float(np.asarray(node.gradient)) for name, node in nodes.items()}
    through = value["b"] * back["c"], value["a"] * back["c"]
    moves = [  # what is told, whose value is new, and who has which gradient so far
        (f"The inputs: a = {a:g}, b = {b:g}.", "ab", {}),
        (f"Forward: c = ab = {value['c']:g}.", "c", {}),
        (f"Forward: e = c + a = {value['e']:g}.", "e", {}),
        (f"Forward: f = eb = {value['f']:g}.", "f", {}),
        ("Backward begins with ∂f/∂f = 1.", "", {"f": 1.0}),
        (
            f"f = eb: e gets 1 · b = {back['e']:g}, and b gets 1 · e = {value['e']:g}.",
            "",
            {"e": back["e"], "b": value["e"]},
        ),
        (
            f"e = c + a: a sum passes the gradient on, so c gets {back['c']:g}, and a gets "
            f"{back['e']:g}.",
            "",
            {"c": back["c"], "a": back["e"]},
        ),
        (
            f"c = ab: a gets {through[0]:g} more, together {back['a']:g}; b gets {through[1]:g} "
            f"more, "
            f"together {back['b']:g}.",
            "",
            {"a": back["a"], "b": back["b"]},
        ),
    ]

    def setup(fig: Any) -> Mapping[str, Any]:
        d = Diagram(660, 320, fig)
        boxes = {
            name: d.box(
                x, y, sign.get(name, f"${name}$"), width=110 if name in sign else 56, color="sky"
            )
            for name, (x, y) in at.items()
        }
        d.arrow(boxes["a"], boxes["c"])
        d.arrow(boxes["b"], boxes["c"])
        d.arrow(boxes["c"], boxes["e"])
        d.arrow(boxes["a"], (448, 70), boxes["e"])
        d.arrow(boxes["e"], boxes["f"])
        d.arrow(boxes["b"], (628, 250), boxes["f"])
        d.words(12, 304, "above: value", align="left", size=SMALL)
        d.words(140, 304, "below, in orange: ∂f/∂ of it", align="left", size=SMALL, color=BACK)
        values = {k: d.words(x, y - 22, "", stand="bottom") for k, (x, y) in at.items()}
        slopes = {k: d.words(x, y + 22, "", stand="top", color=BACK) for k, (x, y) in at.items()}
        return {"value": values, "gradient": slopes}

    def update(artists: Mapping[str, Any], step: int) -> str:
        for name in nodes:
            known = any(name in new for _, new, _ in moves[: step + 1])
            artists["value"][name].set_text(f"{value[name]:g}" if known else "")
            told = [found[name] for _, _, found in moves[: step + 1] if name in found]
            artists["gradient"][name].set_text(f"{told[-1]:g}" if told else "")
        return moves[step][0]

    return Steps(setup, update, len(moves) - 1, (6.6, 3.2))


def simplex_cycle(C: Any, p: Any, q: Any) -> Steps:
    """The transportation simplex on the table: prices, entering cell, cycle, shift."""
    states, costs = list(_simplex_states(C, p, q)), np.asarray(C)
    m, n = costs.shape
    wide, high = 92, 50

    def setup(fig: Any) -> Mapping[str, Any]:
        d = Diagram(118 + n * wide, 72 + m * high, fig)
        d.words(
            12, 16, "in each cell: the mass, and in its corner the cost", align="left", size=SMALL
        )
        cells = d.table(100, 58, [[""] * n] * m, cell=(wide, high))
        for i, j in np.ndindex(m, n):
            cell = Box(100 + (j + 0.5) * wide, 58 + (i + 0.5) * high, wide, high)
            right, top = cell.bounds.x1 - 6, cell.bounds.y0 + 5
            price = f"{costs[i, j]:g}"
            d.words(right, top, price, align="right", stand="top", size=SMALL, inside=cell)
        u = [d.words(88, 58 + (i + 0.5) * high, "", align="right") for i in range(m)]
        v = [d.words(100 + (j + 0.5) * wide, 44, "") for j in range(n)]
        return {"mass": [[t for _, t in row] for row in cells],
                "cell": [[r for r, _ in row] for row in cells], "u": u, "v": v}  # fmt: skip

    def update(artists: Mapping[str, Any], step: int) -> str:
        state = states[step]
        for i, j in np.ndindex(m, n):
            sign = {1: " +", -1: " −"}.get(state.signs.get((i, j), 0), "")
            mass = f"{state.plan[i, j]:g}" if (i, j) in state.tree else ""
            artists["mass"][i][j].set_text((mass + sign).strip())
            color = "amber" if (i, j) in state.signs else "sky" if (i, j) in state.tree else ""
            artists["cell"][i][j].set_facecolor(tint(color) if color else "white")
        for letter, prices in (("u", state.u), ("v", state.v)):
            for k, text in enumerate(artists[letter]):
                text.set_text(
                    ""
                    if prices is None
                    else f"${letter}_{k + 1}$ = {prices[k]:g}".replace("-", "−")
                )
        return state.says

    return Steps(setup, update, len(states) - 1, ((118 + n * wide) / 100, (72 + m * high) / 100))


class _State(NamedTuple):
    """The table at one step: what it says, plan, cells of the tree, prices, signs of a cycle."""

    says: str
    plan: np.ndarray
    tree: list[tuple[int, int]]
    u: np.ndarray | None = None
    v: np.ndarray | None = None
    signs: Mapping[tuple[int, int], int] = {}


def _simplex_states(C: Any, p: Any, q: Any) -> Any:
    """The states of a run, four for each change of the table."""
    C = np.asarray(C)
    P, cells = transport.north_west_corner(p, q)
    yield _State("The first table, filled from the top left.", P.copy(), list(cells))
    while True:
        u, v, parents = transport._potentials(C, cells)
        gain = u[:, None] + v - C
        yield _State(
            "Prices with u + v = cost on the colored cells, from u₁ = 0.",
            P.copy(),
            list(cells),
            u,
            v,
        )
        i, j = np.unravel_index(int(np.argmax(gain)), gain.shape)
        if gain[i, j] <= 0:
            total = transport.cost(P, C)
            yield _State(
                f"C − u − v is negative nowhere: stop. The cost is {total:g}.",
                P.copy(),
                list(cells),
                u,
                v,
            )
            return
        losing, winning = transport._cycle(parents, len(C), int(i), int(j))
        signs = dict.fromkeys(losing, -1) | dict.fromkeys(winning, 1)
        shift = min(P[cell] for cell in losing)
        yield _State(
            f"Row {i + 1}, column {j + 1} is {gain[i, j]:g} cheaper than its way through the "
            f"tree: it enters, "
            f"and closes a cycle. Where it says −, the least mass is {shift:g}.",
            P.copy(), list(cells), u, v, signs,
        )  # fmt: skip
        for cell in losing:
            P[cell] -= shift
        for cell in winning:
            P[cell] += shift
        leaving = min(cell for cell in losing if P[cell] <= 0)
        cells[cells.index(leaving)] = winning[0]
        yield _State(
            f"{shift:g} went around; row {leaving[0] + 1}, column {leaving[1] + 1} is empty and "
            f"leaves. The "
            f"cost is now {transport.cost(P, C):g}.",
            P.copy(), list(cells),
        )  # fmt: skip


# -- small drawings of one idea -------------------------------------------------------------------


def chain_of_factors(steps: int = 4) -> Diagram:
    """States in a row and a factor of the Jacobian on every arrow between them."""
    d = Diagram(700, 118)
    across = (700 - 2 * 34) / steps
    states = [
        d.box(34 + k * across, 52, f"$h_{k}$", width=44, color="sky") for k in range(steps + 1)
    ]
    for k, (one, after) in enumerate(pairwise(states)):
        d.arrow(one, after, says=f"$W\\,\\mathrm{{diag}}\\,\\sigma'(h_{k})$")
        d.words((one.x + after.x) / 2, 62, f"step {k + 1}", stand="top", size=SMALL)
    d.words(states[-1].x + 30, 102, "no step starts here", align="right", size=SMALL)
    d.alt = (
        f"{steps + 1} boxes in a row, h0 to h{steps}, with an arrow from each to the next. The "
        f"arrow of step k says W diag sigma prime of h at k minus 1. Below h{steps}: no step "
        "starts here."
    )
    return d


def velocity_rules(*rules: tuple[str, str, str, str]) -> Diagram:
    """Rules with a velocity, a row each: name, factor on the way in, of the memory, on the way out.

    An empty factor on the way in is none.
    """
    high = 112
    d = Diagram(700, high * len(rules) + 8)
    said = []
    for k, (name, before, memory, behind) in enumerate(rules):
        y = 78 + high * k
        d.words(12, y, name, align="left", bold=True)
        plus = d.circle(330, y, "+")
        come = d.box(128, y, "$g_t$", width=48, color="sky")
        if before:
            enters = d.box(228, y, f"× {before}", width=92, color="amber")
            d.arrow(come, enters)
            come = enters
        d.arrow(come, plus)
        velocity = d.box(432, y, "$v_t$", width=48, color="green")
        d.arrow(plus, velocity)
        loop = d.box(381, y - 50, f"× {memory}", width=60, height=30, color="pink")
        d.arrow(velocity, (432, y - 50), loop)
        d.arrow(loop, (330, y - 50), plus)
        leaves = d.box(540, y, f"× {behind}", width=84, color="amber")
        d.arrow(velocity, leaves)
        d.arrow(leaves, d.box(652, y, "$\\Delta\\theta_t$", width=64, color="sky"))
        enters_as = f"times {before}, " if before else ""
        said.append(
            f"{name}: the gradient, {enters_as}plus the old velocity times {memory}, is the new "
            f"velocity; that times {behind} is the move."
        )
    letters = {"$": "", "\\varepsilon": "ε", "\\alpha": "α", "\\beta": "β", "\\delta": "δ"}
    d.alt = " ".join(said)
    for tex, letter in letters.items():
        d.alt = d.alt.replace(tex, letter)
    return d


def two_places() -> Diagram:
    """A step of Adam, and the two places where shrinking can enter it."""
    d = Diagram(700, 158)
    y, low = 46, 122
    first, second = d.circle(128, y, "+"), d.circle(556, y, "+")
    gradient = d.box(40, y, "$\\nabla L$", width=56, color="sky")
    averages = d.box(250, y, "averages $m$, $v$", width=136, color="pink")
    divided = d.box(
        430, y, "$-\\eta\\,\\hat m/\\sqrt{\\hat v}$", width=124, height=44, color="pink"
    )
    theta = d.box(660, y, "move", width=64, color="sky")
    for one, after in pairwise((gradient, first, averages, divided, second, theta)):
        d.arrow(one, after)
    for x, place, words, name, color in (
        (128, first, "$2\\gamma\\theta$", "Adam-L2", "amber"),
        (556, second, "$-\\lambda\\theta$", "AdamW", "green"),
    ):
        d.arrow(d.box(x, low, words, width=72, color=color), place)
        d.words(x + 46, low, name, align="left", bold=True)
    d.alt = (
        "From left to right: the gradient of the loss, a plus, the averages m and v, minus eta "
        "times m over the root of v, a second plus, the move. Adam-L2 adds 2 gamma theta at the "
        "first plus, before the averages; AdamW takes lambda theta off at the second, after the "
        "division."
    )
    return d
