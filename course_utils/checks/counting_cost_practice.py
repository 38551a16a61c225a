"""Unit 06: sister tasks for practice. Each count is that of the meter, of a model that is drawn."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np

from selfcheck.meter import measure, polynomial

from .. import block
from ..attention import multi_head as attend
from . import counting_cost as check

LETTERS = "Give a formula in `N`, `d_in`, `d_att` and `d_out`."


def _symbol(name: str) -> Any:
    import sympy

    return sympy.Symbol(name)


@cache
def _entries(values: str) -> Any:
    """Entries of all matrices, with h hidden units."""

    def count(d_in: int, d_att: int, d_out: int, h: int) -> int:
        from_x = values == "$X$"
        shapes = [(d_att, d_in)] * 2 + [(d_out, d_in if from_x else d_att), (h, d_out), (h,), (h,)]
        return sum(math.prod(shape) for shape in shapes)

    return polynomial(count, d_in=1, d_att=1, d_out=1, h=1)


check.parameters.sister(
    r"In a block like that of the sheet, $W_q$ and $W_k$ are $d_{att} \times d_{in}$, the values "
    r"come from <values> by a matrix "
    r"with $d_{out}$ rows, and the feed-forward part has <h> hidden units: $W_1$ is $<h> \times "
    r"d_{out}$, and $b_1$ and $w_2$ "
    r"have <h> numbers. How many parameters are there? " + LETTERS,
    lambda values, h: _entries(values).subs(_symbol("h"), h),
    kind=check.SIZES,
    values=["$X$", "$K$"],
    h=range(4, 1000),
)


@cache
def _projections(values: str, bias: str) -> Any:
    def count(N: int, d_in: int, d_att: int, d_out: int) -> int:
        def project(X, Wq, Wk, Wv, b):
            Q, K = X @ Wq.T, X @ Wk.T
            Q = Q + b if bias == "a bias $b_q$ is added to every query" else Q
            return Q, K, (X if values == "$X$" else K) @ Wv.T

        width = d_in if values == "$X$" else d_att
        shapes = [(N, d_in), (d_att, d_in), (d_att, d_in), (d_out, width), (d_att,)]
        return measure(project, *map(np.ones, shapes)).flops

    return polynomial(count, **check.DEGREES)


check.projections.sister(
    r"<heads> heads, each with its own $W_q, W_k$ ($d_{att} \times d_{in}$) and its own values, "
    r"which come from <values>; <bias>. How "
    r"many FLOPs do all queries, keys and values take, exactly? " + LETTERS,
    lambda heads, values, bias: heads * _projections(values, bias),
    kind=check.SIZES,
    heads=range(2, 129),
    values=["$X$", "$K$"],
    bias=["there is no bias", "a bias $b_q$ is added to every query"],
)


@cache
def _attends(change: str) -> Any:
    def weigh(Q, K):
        S = Q @ K.T if "divided" in change else (Q / np.sqrt(Q.shape[1])) @ K.T
        E = np.exp(S) if "subtracted" in change else np.exp(S - S.max(axis=1, keepdims=True))
        return E / E.sum(axis=1, keepdims=True)

    def count(N: int, d_in: int, d_att: int, d_out: int) -> int:
        inputs = check._inputs(N, d_in, d_att, d_out)
        return measure(weigh, *inputs["weigh"]).flops + measure(block.mix, *inputs["mix"]).flops

    return polynomial(count, **check.DEGREES)


check.attention.sister(
    r"The attention of the sheet, with <heads> heads, and <change>: how many FLOPs does it take "
    r"from $Q$, $K$ and $V$ to the mixed "
    r"values of all heads, exactly? " + LETTERS,
    lambda heads, change: heads * _attends(change),
    kind=check.SIZES,
    heads=range(2, 129),
    change=[
        "nothing else is changed",
        "$Q$ is not divided by anything",
        "no largest score is subtracted before the exponential",
        "$Q$ is not divided by anything and no largest score is subtracted",
    ],
)


@cache
def _forward(bias: str) -> Any:
    def run(mixed, W1, b1, w2):
        inner = mixed @ W1.T
        return np.maximum(inner + b1 if bias == "with" else inner, 0) @ w2

    def count(N: int, d_out: int, h: int) -> int:
        return measure(run, *map(np.ones, [(N, d_out), (h, d_out), (h,), (h,)])).flops

    return polynomial(count, N=1, d_out=1, h=1)


check.feed_forward.sister(
    r"The feed-forward block of the sheet with <h> hidden units instead of 3, and <bias> the bias "
    r"$b_1$: how many FLOPs does it take for all "
    r"$N$ tokens, exactly? " + LETTERS,
    lambda h, bias: _forward(bias).subs(_symbol("h"), h),
    kind=check.SIZES,
    h=range(4, 1000),
    bias=["with", "without"],
)


@cache
def _loss(weighted: str) -> Any:
    def run(y, found, w):
        return ((y - found) ** 2 * w).sum() if "weighed" in weighted else ((y - found) ** 2).sum()

    return polynomial(lambda k: measure(run, *[np.ones(k)] * 3).flops, k=1)


check.loss.sister(
    r"Each of $N$ tokens has <k> outputs, and the loss is the sum of all squared "
    r"errors<weighted>. How many FLOPs does it take when the "
    r"outputs are given, exactly? " + LETTERS,
    lambda k, weighted: _loss(weighted).subs(_symbol("k"), k * _symbol("N")),
    kind=check.SIZES,
    k=range(2, 1000),
    weighted=["", ", each weighed with a number of its own"],
)


def _numbers_kept(heads: int, texts: int) -> dict:
    times = heads * texts
    return {
        "kept_mixed": times * check.size_of("mixed"),
        "kept_weights": times * check.size_of("weights"),
    }


check.kept.sister(
    r"<heads> heads read a batch of <texts> texts of $N$ tokens. How many numbers do the mixed "
    r"values $\tilde v$ of all heads have, and how "
    r"many the weights $\alpha$? " + LETTERS,
    _numbers_kept,
    kind={"kept_mixed": check.SIZES, "kept_weights": check.SIZES},
    heads=range(2, 17),
    texts=range(2, 400),
)


@cache
def _macs() -> Any:
    """MACs of H heads of width w on N tokens of width D, with W^O."""

    def count(N: int, D: int, H: int, w: int) -> int:
        heads = [tuple(np.ones((D, w)) for _ in range(3)) for _ in range(H)]
        return measure(attend, np.ones((1, N, D)), heads, np.ones((H * w, D))).macs

    return polynomial(count, N=2, D=1, H=1, w=1)


def _of_heads(H: int, w: int) -> Any:
    return _macs().subs({_symbol("H"): H, _symbol("w"): w})


HEADS: dict[str, Any] = {"H": range(2, 17), "w": range(8, 257)}
OF_WIDTH = (
    "$N$ tokens of width $D$ go through <H> heads of width <w> each (queries, keys and values), "
    "and $W^O$ leads back to $D$. "
)
check.multi_head.sister(
    OF_WIDTH + "How many MACs does that take? Give a formula in `N` and `D`.",
    _of_heads,
    kind=check.TOKENS_WIDTH,
    **HEADS,
)


def _crossing(H: int, w: int, D: int) -> float:
    linear, quadratic = check.by_powers_of_N(_of_heads(H, w), {"D": D})
    return linear / quadratic


check.crossover.sister(
    OF_WIDTH.replace("$D$ go", "$D = <D>$ go") + "At which $N$ does the part that is quadratic in "
    "$N$ take as many MACs as the rest?",
    _crossing,
    **HEADS,
    D=range(20, 2000, 4),
)
check.mix_backward.sister(
    r"$Y = <c>\,AV$ with $A = <A>$ and $V = <V>$, and the gradient of a loss by $Y$ is $dY = "
    r"<dY>$. What are `dA` and `dV`?",
    lambda A, V, dY, c: dict(zip(("dA", "dV"), check.mixed_gradients(A, V, c * dY), strict=True)),
    A="nk",
    V="km",
    dY="nm",
    c=range(2, 6),
)


def _in_windows(H: int, w: int) -> Any:
    import sympy

    N, M = sympy.symbols("N M")
    return sympy.expand(_of_heads(H, w).subs(N, M**2) * N / M**2)


check.windowed.sister(
    OF_WIDTH + r"They attend within windows of $M \times M$ tokens only. How many MACs does that "
    r"take? Give a formula in `N`, `D` and `M`.",
    _in_windows,
    kind=check.WINDOWS,
    **HEADS,
)


def _shared(N: int, D: int, G: int, R: int, w: int, H: int, layers: int) -> dict:
    point = {"N": N, "D": D, "H": H, "G": G, "w": w}
    return {
        what: layers * int(check.shared(what).subs(point))
        for what in ("parameters", "cache", "macs")
    }


def _some_groups(rng: np.random.Generator) -> dict:
    G, R = int(rng.integers(1, 5)), int(rng.integers(2, 5))
    sizes = {
        "N": int(rng.integers(10, 100)),
        "D": int(rng.integers(2, 9)) * 16,
        "w": int(rng.integers(1, 9)) * 8,
    }
    return {**sizes, "G": G, "R": R, "H": G * R, "layers": int(rng.integers(2, 9))}


check.grouped.sister(
    r"<layers> layers, each with $H = <H>$ heads of width $w = <w>$ that share $G = <G>$ keys and "
    r"values (each serves <R>), on tokens of width "
    r"$D = <D>$. How many `parameters` do they have (queries, keys, values and the way back to "
    r"$D$), how many numbers does the `cache` hold "
    r"with $N = <N>$ tokens in it, and how many `macs` does a further token take that looks at "
    r"$N$ tokens, itself included?",
    _shared,
    _some_groups,
)


def _equal_width(D: int, c: int) -> float:
    plain = check.feed_forward_macs(False).subs({"N": 1, "D": D, "F": c * D})
    return float(plain / check.feed_forward_macs(True).subs({"N": 1, "D": D, "F": 1}))


check.gated.sister(
    r"A plain feed-forward block on width $D = <D>$ has the hidden width $<c>D$. Which hidden "
    r"width has a gated block that takes as many "
    r"MACs? Give three digits or more.",
    _equal_width,
    D=range(16, 4000, 4),
    c=range(2, 9),
)
check.fits_in_memory.sister(
    "A language model has\n\n| vocabulary | width $D$ | layers | heads $H$ | groups $G$ | width "
    "$w$ of a head | hidden width $F$ |\n"
    "| --- | --- | --- | --- | --- | --- | --- |\n"
    "| <vocabulary> | <width> | <layers> | <heads> | <groups> | <head_width> | <hidden> |\n\n"
    "The table of words is used for input and output, each layer has attention with shared keys "
    "and values and a gated feed-forward block, and "
    "numbers take two bytes. How many bytes do all parameters take (`model_bytes`), and how many "
    "tokens fit at most into the cache, beside them, on a "
    "card of <mebibytes> MiB (`most_tokens`)?",
    needs=lambda n: {k: v for k, v in vars(n).items() if k != "student"},
)
check.macs_by_lines.sister(
    r"A layer of $H = <H>$ heads of width $w = <w>$ reads $N = <N>$ tokens of width $D = "
    r"<D>$. How many MACs do "
    r"`projections` (queries, keys and values of all heads), `squares` (scores and mix) and "
    r"`output` take?",
    lambda N, D, H, w: {
        "projections": 3 * N * D * H * w,
        "squares": 2 * N**2 * H * w,
        "output": N * H * w * D,
    },
    N=range(3, 40),
    D=range(8, 40),
    H=range(2, 9),
    w=range(2, 9),
)
check.backward_of_a_head.sister(
    r"A feed-forward layer computes $Y = \mathrm{ReLU}(XW_1)\,W_2$ for $N = <N>$ tokens of "
    r"width $D = <D>$, with "
    r"$W_1$ of $<D>\times<F>$ and $W_2$ of $<F>\times<D>$. How many MACs do the products of "
    r"its backward pass take, "
    r"with the gradient of $X$ (`whole`) and without it (`first`)?",
    lambda N, D, F: {"whole": 4 * N * D * F, "first": 3 * N * D * F},
    N=range(3, 40),
    D=range(4, 40),
    F=range(8, 90),
)
check.full_width.sister(
    r"<H> heads of full width $D = <D>$ read $N = <N>$ tokens, and $W^O$ is $<H>D\times D$. "
    r"How many MACs does the layer take (`macs`), and how many numbers have the scores of all "
    r"heads (`scores`)?",
    lambda N, D, H: {"macs": H * (4 * N * D**2 + 2 * N**2 * D), "scores": H * N**2},
    N=range(3, 40),
    D=range(8, 40),
    H=range(2, 9),
)
