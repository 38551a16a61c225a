"""Unit 09: sister tasks for practice."""

from __future__ import annotations

from typing import Any

import numpy as np

from selfcheck.practice import tenths, whole

from . import random_features as check

DIGITS = "Three digits are enough."
PAIR: dict[str, Any] = {"x": tenths(-15, 15), "y": tenths(-15, 15)}


def _completed(c: float, k: int) -> dict:
    """c·xy = a·(xx + 2k·xy + k²·yy) + b·xx + e·yy, solved at three places."""
    places = np.array([(1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)])  # xx, xy, yy
    rows = [[xx + 2 * k * xy + k * k * yy, xx, yy] for xx, xy, yy in places]
    a, b, e = np.linalg.solve(rows, c * places[:, 1])
    return {"a": a, "b": b, "e": e}


check.completed_square.sister(
    r"Complete another square: with which numbers `a`, `b` and `e` is $\exp(<c>\,x^\top y) = "
    r"\exp\bigl(a\,\lVert x + (<k>)\,y\rVert^2 + b\,\lVert x\rVert^2 + "
    r"e\,\lVert y\rVert^2\bigr)$ for all $x$ and $y$?",
    _completed,
    c=tenths(2, 60),
    k=[-4, -3, -2, -1, 2, 3, 4, 5],
)
check.features.sister(
    r"The lecture's features $f$ have $\mathbb E[f(x)^\top f(y)] = e^{x^\top y}$. Somebody hands "
    r"them $<s>\,x$ and $<s>\,y$ instead. What is the mean then, for the "
    rf"numbers $x = <x>$ and $y = <y>$? {DIGITS}",
    lambda x, y, s: check.moments(s * x, s * y)[0],
    **PAIR,
    s=tenths(3, 12),
)
check.variance.sister(
    rf"What is the variance of $f(x)^\top f(y)$ with $m = <m>$ directions, for the numbers $x = "
    rf"<x>$ and $y = <y>$? {DIGITS}",
    lambda x, y, m: check.moments(x, y)[1] / m,
    x=tenths(1, 15),
    y=tenths(1, 15),
    m=range(2, 100),
)


def _needed(x: float, y: float, r: float) -> float:
    mean, one = check.moments(x, y)
    return one / mean**2 / r**2


check.needed_features.sister(
    rf"How many directions does it take until $f(x)^\top f(y)$ has the relative error <r>, for "
    rf"the numbers $x = <x>$ and $y = <y>$? {DIGITS} It need not be whole.",
    _needed,
    x=tenths(1, 12),
    y=tenths(1, 12),
    r=[k / 100 for k in range(1, 60)],
)


def _few(rng: np.random.Generator) -> dict:
    parts = {name: whole(rng, 2, 1, largest=9) / 10 for name in ("Q", "K")}
    W = whole(rng, 2, 1, largest=20) / 10
    counts = [int(rng.integers(1, 4)), int(rng.integers(0, 4))]
    return {**parts, "V": whole(rng, 2, 1, largest=9), "W": W, "counts": np.array(counts)}


check.approximate_attention.sister(
    r"Attention by the features of the directions $W = <W>$ (for $e^{qk/\sqrt d}$ with $d = 1$): "
    r"$Q = <Q>$, $K = <K>$, $V = <V>$, and the keys count <counts:code> "
    rf"times. What comes out? {DIGITS}",
    check.by_definition,
    _few,
)


def _pairs(x: float, y: float, m: int) -> dict:
    pair = check.pair_moments(x, y)[1]
    return {"pair_variance": pair / m, "gain": pair / (check.moments(x, y)[1] / 2)}


check.antithetic.sister(
    r"Every direction $w$ comes with $-w$, and there are $m = <m>$ such pairs. For the numbers $x "
    r"= <x>$ and $y = <y>$: what is the variance of $f(x)^\top f(y)$ "
    rf"(`pair_variance`), and how large is it as a share of the variance with $2m$ independent "
    rf"directions (`gain`)? {DIGITS}",
    _pairs,
    x=tenths(1, 12),
    y=tenths(1, 12),
    m=range(2, 50),
)
check.ratio.sister(
    r"A query $q = <q>$ and two keys $k_1 = <k1>$, $k_2 = <k2>$ meet by the same directions. What "
    r"is the covariance of the estimates of $e^{q^\top k_1}$ and "
    r"$e^{q^\top k_2}$ with $m = <m>$ of them (`covariance`), and with how many directions is the "
    r"standard deviation of the difference of their relative errors "
    r"<r> (`needed_for_ratio`)? Give seven digits.",
    needs=lambda n: {"q": n.q, "k1": n.k1, "k2": n.k2, "m": n.m, "r": n.r},
)
check.bell_by_lines.sister(
    r"What is $\mathbb E[\exp(w^\top x)\exp(w^\top y)]$ for $w \sim \mathcal N(0, I)$, $x = "
    r"<x>$ and $y = <y>$? "
    r"Three digits are enough.",
    lambda x, y: float(np.exp(((x + y) ** 2).sum() / 2)),
    x=lambda rng: rng.integers(1, 10, 3) / 10,
    y=lambda rng: rng.integers(-4, 5, 3) / 10,
)
