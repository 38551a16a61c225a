"""Domains: where a symbol lives, as values to try."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from functools import partial
from random import Random
from typing import Any

import numpy as np

from ..rnn import ACTIVATIONS, Activation

EVERY_CORNER = 12  # instances in which each domain walks through its corners, one after the other
HALF, TINY, LARGE = Fraction(1, 2), Fraction(1, 1000), 100
SINE = Activation("sine", np.sin, np.cos, 1.0)  # unlike the usual ones it is not monotone


@dataclass(frozen=True)
class Domain:
    """Values to try: random ones, readable ones (simplest first), and the corners of the domain."""

    draw: Callable[..., Any]
    simple: Callable[..., list]
    corners: Callable[..., list]
    sizes: tuple = ()
    assumptions: Mapping[str, bool] = field(default_factory=dict)
    scatter: Callable[..., Any] | None = None  # readable values beyond the simple ones

    def readable(self, rng: Random, *sizes: int) -> Any:
        """A value that a reader can compute with."""
        if self.scatter and rng.random() < 0.5:
            return self.scatter(rng, *sizes)
        return rng.choice(self.simple(*sizes))

    def extreme(self, rng: Random, k: int, *sizes: int) -> Any:
        """First every corner in turn, then corners and random values in random company."""
        corners = self.corners(*sizes)
        if k < EVERY_CORNER:
            return corners[k % len(corners)]
        return rng.choice(corners) if rng.random() < 0.7 else self.draw(rng, *sizes)


# -- numbers


def _scalar(lo: Any, hi: Any, simple: list, corners: list, **assumptions: bool) -> Domain:
    def draw(rng: Random) -> Fraction:
        return lo + (hi - lo) * Fraction(rng.randint(1, 99), 100)

    return Domain(draw, lambda: simple, lambda: corners, (), assumptions)


real = _scalar(-3, 3, [0, 1, 2, -1, HALF, 3], [0, LARGE, -LARGE, TINY], real=True)
positive = _scalar(0, 4, [1, 2, HALF, 3], [TINY, LARGE], positive=True)
nonnegative = _scalar(0, 4, [0, 1, 2, HALF, 3], [0, TINY, LARGE], nonnegative=True)


def interval(lo: Any, hi: Any, closed: bool = False) -> Domain:
    """The numbers between lo and hi, without the ends unless `closed`."""
    lo, hi = Fraction(str(lo)), Fraction(str(hi))
    inside = [lo + (hi - lo) * Fraction(k, 4) for k in (2, 1, 3)]
    ends = [lo, hi] if closed else [lo + (hi - lo) * TINY, hi - (hi - lo) * TINY]
    sign = {"positive": True} if lo > 0 or (lo == 0 and not closed) else {"real": True}
    return _scalar(lo, hi, inside + (ends if closed else []), ends, **sign)


def integers(lo: int = 1, hi: int = 8) -> Domain:
    """The whole numbers lo … hi."""
    first = list(range(lo, min(lo + 3, hi + 1)))
    kind = {"integer": True, **({"positive": True} if lo > 0 else {})}
    return Domain(lambda rng: rng.randint(lo, hi), lambda: first, lambda: [lo, hi], (), kind)


# -- vectors and matrices


def _array(sizes: tuple, of: Domain, form: Callable = lambda A: A, special: tuple = ()) -> Domain:
    """Arrays with entries from `of`, brought into form (symmetric, singular, …)."""

    def fill(entry: Callable[[], Any], n: tuple) -> np.ndarray:
        return form(np.array([float(entry()) for _ in range(math.prod(n))]).reshape(n))

    def scatter(rng: Random, *n: int) -> np.ndarray:
        return fill(lambda: rng.choice(of.simple()), n)

    def draw(rng: Random, *n: int) -> np.ndarray:
        made = fill(lambda: of.draw(rng), n)
        return rng.choice(special)(made) if special and rng.random() < 0.25 else made

    def simple(*n: int) -> list:
        mixed = [scatter(Random(k), *n) for k in range(3)]
        constant = [fill(partial(float, v), n) for v in of.simple()[:3]]
        return [*constant, *(s(m) for s in special for m in mixed), *mixed]

    def corners(*n: int) -> list:
        return simple(*n) + [fill(partial(float, v), n) for v in of.corners()]

    return Domain(draw, simple, corners, sizes, {"real": True}, scatter)


def vector(n: str | int, of: Domain = real) -> Domain:
    """Vectors of length n; `of` says where the entries live."""
    return _array((n,), of)


def matrix(n: str | int, m: str | int, of: Domain = real) -> Domain:
    """n×m matrices; square ones are sometimes the identity and often singular."""
    square = n == m and of is real
    return _array((n, m), of, special=(_singular, lambda A: np.eye(len(A))) if square else ())


def symmetric(n: str | int) -> Domain:
    """Matrices equal to their transposes, singular ones included."""
    return _array((n, n), real, lambda A: np.triu(A) + np.triu(A, 1).T, (lambda A: 0 * A,))


def diagonal(n: str | int) -> Domain:
    """Diagonal matrices; a diagonal entry may be 0."""
    return _array((n, n), real, lambda A: np.diag(np.diag(A)))


def singular(n: str | int) -> Domain:
    """Square matrices without an inverse."""
    return _array((n, n), real, _singular)


def invertible(n: str | int) -> Domain:
    """Square matrices safely away from the singular ones."""
    return _array((n, n), real, lambda A: A + (np.abs(A).sum() + 1) * np.eye(len(A)))


def orthogonal(n: str | int) -> Domain:
    """Matrices with QᵀQ = 1: products of two reflections."""
    return _array((n, n), real, _reflections)


def _singular(A: np.ndarray) -> np.ndarray:
    return np.vstack([A[:-1], A[:1] if len(A) > 1 else 0 * A])  # two equal rows: exactly singular


def _reflections(A: np.ndarray) -> np.ndarray:
    mirrors = [np.eye(len(A)) - 2 * np.outer(v, v) / max(v @ v, 1e-9) for v in A[:2]]
    return mirrors[0] @ mirrors[-1] if len(A) > 1 else mirrors[0]


# -- sequences and functions


class Values:
    """g(1), g(2), …: a sequence that remembers which of its values were asked for."""

    def __init__(self, table: list, asked: set[int] | None = None) -> None:
        self.table, self.asked = table, set() if asked is None else asked

    def __call__(self, i: Any) -> Any:
        self.asked.add(int(i))
        return self.table[int(i) % len(self.table)]

    def as_floats(self) -> Values:
        """The same sequence, and the same memory, for functions that compute in floats."""
        plain = [float(v) if isinstance(v, Fraction) else v for v in self.table]
        return Values(plain, self.asked)


def sequence(of: Domain = real) -> Domain:
    """Sequences g(1), g(2), … with values in `of`, for sums of symbolic length."""

    def scatter(rng: Random, *n: int) -> Values:
        return Values([of.readable(rng, *n) for _ in range(64)])

    def simple(*n: int) -> list:
        zero, one = of.simple(*n)[:2]
        impulses = [[one if i == k else zero for i in range(64)] for k in (1, 2)]
        return [Values(table) for table in ([zero] * 64, [one] * 64, *impulses)]

    def draw(rng: Random, *n: int) -> Values:
        return Values([of.draw(rng, *n) for _ in range(64)])

    return Domain(draw, simple, simple, of.sizes, scatter=scatter)


def activation(slope: float = 1) -> Domain:
    """Activation functions σ with |σ′| ≤ slope; functions may use σ.prime and σ.gamma too."""
    known = [a for a in [*ACTIVATIONS.values(), SINE] if a.gamma <= slope]
    return Domain(lambda rng: rng.choice(known), lambda: known, lambda: known)
