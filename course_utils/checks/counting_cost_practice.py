"""Unit 06: what the sister tasks in counting_cost.md need, counted by the meter."""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np

from selfcheck.meter import measure, polynomial

from .. import block
from ..attention import multi_head as attend
from . import counting_cost as check


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


@cache
def _forward(bias: str) -> Any:
    def run(mixed, W1, b1, w2):
        inner = mixed @ W1.T
        return np.maximum(inner + b1 if bias == "with" else inner, 0) @ w2

    def count(N: int, d_out: int, h: int) -> int:
        return measure(run, *map(np.ones, [(N, d_out), (h, d_out), (h,), (h,)])).flops

    return polynomial(count, N=1, d_out=1, h=1)


@cache
def _loss(weighted: str) -> Any:
    def run(y, found, w):
        return ((y - found) ** 2 * w).sum() if "weighed" in weighted else ((y - found) ** 2).sum()

    return polynomial(lambda k: measure(run, *[np.ones(k)] * 3).flops, k=1)


@cache
def _macs() -> Any:
    """MACs of H heads of width w on N tokens of width D, with W^O."""

    def count(N: int, D: int, H: int, w: int) -> int:
        heads = [tuple(np.ones((D, w)) for _ in range(3)) for _ in range(H)]
        return measure(attend, np.ones((1, N, D)), heads, np.ones((H * w, D))).macs

    return polynomial(count, N=2, D=1, H=1, w=1)


def _of_heads(H: int, w: int) -> Any:
    return _macs().subs({_symbol("H"): H, _symbol("w"): w})
