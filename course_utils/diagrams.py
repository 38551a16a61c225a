"""The diagrams that everybody draws, each from the sizes or numbers of the lecture that shows it.

Every function gives a `Diagram` with a description; `.show("its point")` puts it on the page.
Nothing that has to stay light imports this module: it needs matplotlib.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.figure import Figure

from selfcheck.diagram import EDGE, LETTERS, SMALL, Box, Diagram, tint

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
        for one, next_one in zip(chain, chain[1:], strict=False):
            d.arrow(one, next_one)
        last, start = column[first + 10], column[first]
        d.arrow((last, y + 24), (last, y + 40), (start, y + 40), (start, y + 20), color=BACK, dashed=True)
        for k in range(first, first + 11):
            time, part = divmod(k, 5)
            if part in (1, 3):
                slope = "$W$" if part == 3 else f"$\\sigma'(h_{time})$"
                d.words(column[k], y + 44, slope, stand="top", color=BACK)
    d.words(12, 20, "before σ:  $h_t = W\\sigma(h_{t-1}) + z_t$", align="left")
    d.words(12, 176, "after σ:  $g_t = \\sigma(W g_{t-1} + z_t)$", align="left")
    d.alt = (
        "Two rows, one chain. Upper row: h0, then sigma, W, plus z1, h1, sigma, W, plus z2, h2. Lower "
        "row: g0, then W, plus z1, sigma, g1, W, plus z2, sigma, g2. Below each row a dashed arrow runs "
        "back from the last state to the first and collects, in the upper row W, the slope at h1, W and "
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
    d.arrow((576, top - 22), (576, top - 44), (44, top - 44), (44, top - 18), color=BACK, dashed=True)
    d.words(310, top - 50, "one step back along the cell: $\\mathrm{diag}(f_t)$", stand="bottom", color=BACK)
    d.words(170, 152, "forget", align="left", size=SMALL)
    d.alt = (
        "The cell runs straight from left to right: c at t minus 1, times the forget gate f, plus the "
        "input gate i times a tanh, gives c at t. The output gate o times tanh of c gives h at t. All "
        "gates are computed from h at t minus 1 and x at t. A dashed arrow leads back along the cell: "
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
    d.arrow(new, (300, 190), (300, 190), head=False)
    d.arrow((300, 190), enter, says="$\\tilde h_t$", at=0)
    d.arrow(enter, plus)
    d.arrow(gate, keep)
    d.arrow(gate, (460, low), enter)
    d.words(468, 240, "$1 - f_t$", align="left")
    state = d.box(66, low, "$h_{t-1},\\; x_t$", width=104, color="sky")
    d.arrow(state, reset)
    d.arrow((66, low + 18), (66, low + 34), (340, low + 34), gate)
    d.arrow((576, top - 22), (576, top - 44), (44, top - 44), (44, top - 18), color=BACK, dashed=True)
    d.words(310, top - 50, "one step back along the state: $\\mathrm{diag}(f_t)$", stand="bottom", color=BACK)
    d.alt = (
        "The state runs straight from left to right: h at t minus 1, times the gate f, plus 1 minus f times "
        "the new state, gives h at t. The new state is a tanh that sees h at t minus 1 through the reset "
        "gate r. A dashed arrow leads back along the state: diag of f."
    )
    return d


# -- attention ------------------------------------------------------------------------------------


def attention_head(n: int, d: int, m: int, l: int) -> Diagram:  # noqa: E741 (as in formulas)
    """One head of self-attention, with the shape of what travels on every arrow."""
    D = Diagram(700, 300)
    X = D.box(40, 150, "$X$", width=48, color="sky")
    rows = {"Q": 60, "K": 150, "V": 240}
    for name, y in rows.items():
        width = l if name == "V" else m
        matrix = D.box(176, y, f"$W^{name}$", width=60, color="green")
        way = (X, matrix) if y == 150 else (X, (40, y), matrix)
        D.arrow(*way, says=f"{n}×{d}")
        D.words(176, y + 21, f"{d}×{width}", stand="top", size=SMALL)
        rows[name] = y
        end = {"Q": (330, 60), "K": (330, 150), "V": (600, 240)}[name]
        if name == "Q":
            Q = matrix
        elif name == "K":
            K = matrix
        else:
            V = matrix
        del end
    scores = D.box(352, 105, "$QK^{\\top}\\!/\\sqrt{m}$", width=104, height=42, color="amber")
    D.arrow(Q, (352, 60), scores, says=f"$Q$: {n}×{m}", at=0)
    D.arrow(K, (352, 150), scores, says=f"$K$: {n}×{m}", at=0, side="below")
    soft = D.box(506, 105, "softmax", width=84, color="amber")
    D.arrow(scores, soft, says=f"{n}×{n}")
    mix = D.circle(590, 240, "·", radius=16, color="amber", size=16)
    D.arrow(soft, (590, 105), mix, says=f"$A$: {n}×{n}", side="right", at=1)
    D.arrow(V, mix, says=f"$V$: {n}×{l}")
    D.arrow(mix, (694, 240), says=f"{n}×{l}")
    D.alt = (
        f"X, {n}×{d}, goes to three matrices. W^Q and W^K, {d}×{m}, make Q and K, {n}×{m} each. Q K "
        f"transposed over root m and softmax give A, {n}×{n}. W^V, {d}×{l}, makes V, {n}×{l}, and A "
        f"times V is the output, {n}×{l}."
    )
    return D


def several_heads(n: int, d: int, l: int, heads: int = 2) -> Diagram:  # noqa: E741
    """Heads side by side, then W^O, with the shape of what travels on every arrow."""
    D = Diagram(640, 80 * heads + 60)
    ys = [50 + 80 * k for k in range(heads)]
    middle = sum(ys) / heads
    X = D.box(40, middle, "$X$", width=48, color="sky")
    beside = D.box(370, middle, "side\nby\nside", width=64, height=80 * heads - 20, size=SMALL)
    for k, y in enumerate(ys, start=1):
        head = D.box(196, y, f"head {k}", width=88, color="amber")
        D.arrow(X, (40, y), head, says=f"{n}×{d}")
        D.arrow(head, (beside.x, y) if False else beside, says=f"{n}×{l}") if False else None
        D.arrow(head, (beside.x - beside.width / 2, y), says=f"{n}×{l}")
    out = D.box(506, middle, "$W^O$", width=60, color="green")
    D.words(506, middle + 21, f"{heads * l}×{d}", stand="top", size=SMALL)
    D.arrow(beside, out, says=f"{n}×{heads * l}")
    D.arrow(out, (620, middle), says=f"{n}×{d}")
    D.alt = (
        f"X, {n}×{d}, goes to {heads} heads. Each gives {n}×{l}; side by side that is {n}×{heads * l}, "
        f"and times W^O, {heads * l}×{d}, it is {n}×{d} again."
    )
    return D


def transformer_block(
    n: int, d: int, heads: int, hidden: int, *, norms: bool = True, attention: str = "attention"
) -> Diagram:
    """A transformer block of these sizes: shapes on the arrows, parameters under the boxes."""
    D = Diagram(700, 250)
    y, over = 140, 62
    stages = [("attention", 4 * d * d), ("feed-forward", 2 * d * hidden)]
    total, x = 0, 36.0
    before: Box = D.box(x, y, "$x$", width=44, color="sky")
    for k, (name, count) in enumerate(stages):
        start = 108 + 304 * k
        D.arrow((start - 28, y), (start - 28, over), (start + 244, over), (start + 244, y - 16))
        if norms:
            norm = D.box(start + 26, y, "norm", width=60, color="pink")
            D.arrow(before, norm)
            D.words(norm.x, y + 46, f"{2 * d:,}", stand="top", size=SMALL)
            total += 2 * d
        words = f"{attention}\n{heads} heads" if k == 0 else f"feed-forward\n{d} → {hidden} → {d}"
        stage = D.box(
            start + 140, y, words, width=126, height=52, color="amber" if k == 0 else "green"
        )
        D.arrow(norm if norms else before, stage)
        D.words(stage.x, y + 46, f"{count:,}", stand="top", size=SMALL)
        total += count
        plus = D.circle(start + 244, y, "+")
        D.arrow(stage, plus)
        D.words(start + 108, over - 6, f"{n}×{d}", stand="bottom", size=SMALL)
        before = plus
        del name
    D.arrow(before, (694, y))
    D.words(12, y + 46, "", stand="top")
    D.words(350, 226, f"parameters: {total:,}", size=LETTERS)
    D.alt = (
        f"x, {n}×{d}, goes through {'a norm and ' if norms else ''}{attention} with {heads} heads, and is "
        f"added to the result; then through {'a norm and ' if norms else ''}a feed-forward layer from "
        f"{d} to {hidden} and back, and is added again. Parameters: {4 * d * d:,} in the attention, "
        f"{2 * d * hidden:,} in the feed-forward layer, {total:,} in all."
    )
    return D
