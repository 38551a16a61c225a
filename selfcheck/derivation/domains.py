"""Domains: where a symbol lives, as values to try. They hold what their names say."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from random import Random
from typing import Any

import numpy as np

from ..function_with_slope import Activation
from ..notation import FormulaError

EVERY_CORNER = 12  # instances in which each domain walks through its corners, one after the other
HALF, TINY = Fraction(1, 2), Fraction(1, 1000)
FAR = 6  # tails go from 10⁻⁶ to 10⁶
SINE = Activation("sine", np.sin, np.cos, 1.0)


@dataclass(frozen=True)
class Domain:
    """Values to try: random ones, readable ones (simplest first), corners, and far ones."""

    draw: Callable[..., Any]
    simple: Callable[..., list[Any]]
    corners: Callable[..., list[Any]]
    sizes: tuple[Any, ...] = ()
    assumptions: Mapping[str, bool] = field(default_factory=dict)
    scatter: Callable[..., Any] | None = None  # readable values beyond the simple ones
    tail: Callable[..., Any] | None = None  # large and small ones, near the ends
    contains: Callable[[Any], bool] = lambda _: False  # for numbers: whether this is one of them
    ends: tuple[Any, ...] | None = (
        None  # for numbers: (lo, hi, closed), each end None if there is none
    )
    refine: Callable[[Any], Any] | None = None  # the same value, made exact in more digits
    part: tuple[Domain, int] | None = None  # one number of several that are drawn together
    free: bool = False  # an array whose entries may be any numbers
    kind: str = ""  # "random" or "function", for what is no value by itself
    fact: str = ""  # what a proof may use: "invertible", "orthogonal", "symmetric", …
    entries: Mapping[str, bool] = field(default_factory=dict)  # assumptions on those of an array

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

    def far(self, rng: Random, *sizes: int) -> Any:
        """A value from the tails, or a random one where there are none."""
        return self.tail(rng, *sizes) if self.tail else self.draw(rng, *sizes)


# -- numbers


def _scalar(
    lo: Any,
    hi: Any,
    simple: list[Any],
    corners: list[Any],
    tail: Callable[[Random], Any],
    ends: tuple[Any, ...],
    **assumptions: bool,
) -> Domain:
    def draw(rng: Random) -> Fraction:
        found: Fraction = lo + (hi - lo) * Fraction(rng.randint(1, 99), 100)
        return found

    first, last, closed = ends

    def contains(x: Any) -> bool:
        low = first is None or x > first or (closed and x == first)
        return low and (last is None or x < last or (closed and x == last))

    return Domain(
        draw, lambda: simple, lambda: corners, (), assumptions,
        tail=tail, contains=contains, ends=ends,
    )  # fmt: skip


def _magnitude(rng: Random) -> Fraction:
    """From 10⁻⁶ to 10⁶, every power of ten alike."""
    return Fraction(rng.randint(10, 99), 10) * Fraction(10) ** rng.randint(-FAR, FAR - 1)


LONG, SHORT = 10**FAR, Fraction(1, 10**FAR)
real = _scalar(
    -3, 3, [0, 1, 2, -1, HALF, 3],
    [0, 100, -100, TINY, LONG, -LONG, SHORT, -SHORT, 1, -1],
    lambda rng: rng.choice((-1, 1)) * _magnitude(rng), (None, None, False), real=True,
)  # fmt: skip
positive = _scalar(
    0, 4, [1, 2, HALF, 3], [TINY, 100, SHORT, LONG, 1],
    _magnitude, (0, None, False), positive=True,
)  # fmt: skip
nonnegative = _scalar(
    0, 4, [0, 1, 2, HALF, 3], [0, TINY, 100, SHORT, LONG, 1],
    _magnitude, (0, None, True), nonnegative=True,
)  # fmt: skip


def interval(lo: Any, hi: Any, closed: bool = False) -> Domain:
    """The numbers between lo and hi, without the ends unless `closed`."""
    lo, hi = Fraction(str(lo)), Fraction(str(hi))
    width = hi - lo
    inside = [lo + width * Fraction(k, 4) for k in (2, 1, 3)]
    near = [lo + width * TINY, hi - width * TINY, lo + width * SHORT, hi - width * SHORT]

    def tail(rng: Random) -> Any:
        step = width * min(HALF, _magnitude(rng) / 100)
        return lo + step if rng.random() < 0.5 else hi - step

    sign = {"real": True}
    if lo >= 0:
        sign = {"positive": True} if lo > 0 or not closed else {"nonnegative": True}
    ends = [lo, hi] if closed else []
    return _scalar(lo, hi, inside + ends, ends + near, tail, (lo, hi, closed), **sign)


def integers(lo: int = 1, hi: int | None = 8) -> Domain:
    """The whole numbers lo … hi; with hi=None all from lo on."""
    last = lo + 40 if hi is None else hi  # as far as one goes at random
    first = list(range(lo, min(lo + 3, last + 1)))
    kind = {"integer": True, **({"positive": True} if lo > 0 else {})}
    if lo == 0:
        kind["nonnegative"] = True

    def contains(x: Any) -> bool:
        return x == int(x) and lo <= x and (hi is None or x <= hi)

    def tail(rng: Random) -> int:
        if hi is None:
            return lo + int(10 ** (3 * rng.random()))
        return rng.randint(lo, hi)

    corners = [lo, last] + ([lo + 300] if hi is None else [])
    return Domain(
        lambda rng: rng.randint(lo, last), lambda: first, lambda: corners, (), kind,
        tail=tail, contains=contains, ends=(lo, hi, True),
    )  # fmt: skip


def _small_products(products: Callable[..., Any], rng: Random, length: int) -> list[Any]:
    found: list[Any] = products(lambda: rng.choice([0, 1, -1, 2]), length)
    return found


def inner_products(vectors: int = 2) -> list[Domain]:
    """xᵀx, xᵀy, yᵀy (of three vectors xᵀx, xᵀy, xᵀz, yᵀy, …) of real vectors of any length.

    Declare the names together: where={"xx xy yy": inner_products()}.
    """
    pairs = [(i, j) for i in range(vectors) for j in range(i, vectors)]

    def products(entry: Callable[[], Any], length: int) -> list[Any]:
        xs = [[Fraction(entry()) for _ in range(length)] for _ in range(vectors)]
        if length > 2 and entry() > 1:
            xs[-1] = [-x for x in xs[0]]  # parallel vectors are the corner of Cauchy and Schwarz
        return [sum(a * b for a, b in zip(xs[i], xs[j], strict=True)) for i, j in pairs]

    def simple() -> list[Any]:
        small = [_small_products(products, Random(k), 1 + k % 3) for k in range(9)]
        return [products(lambda: 0, 1), products(lambda: 1, 1), *small]

    together = Domain(
        lambda rng: products(lambda: real.draw(rng), rng.randint(1, 4)),
        simple,
        lambda: [*simple(), products(lambda: TINY, 1), products(lambda: 100, 2)],
        (),
        {"real": True},
        scatter=lambda rng: products(lambda: rng.choice(real.simple()), rng.randint(1, 3)),
        tail=lambda rng: products(lambda: real.far(rng), rng.randint(1, 2)),
    )
    parts = []
    for k, (i, j) in enumerate(pairs):
        sign = {"nonnegative": True} if i == j else {"real": True}
        place = (together, k)
        parts.append(Domain(together.draw, together.simple, together.corners, (), sign, part=place))
    return parts


# -- vectors and matrices


def _always(value: Any) -> Callable[[], Any]:
    return lambda: value


def _array(
    sizes: tuple[Any, ...], of: Domain, special: tuple[Callable[..., np.ndarray], ...] = ()
) -> Domain:
    """Arrays with entries from `of`; `special` makes some of them other than at random."""

    def fill(entry: Callable[[], Any], n: tuple[Any, ...]) -> np.ndarray:
        return np.array([float(entry()) for _ in range(math.prod(n))]).reshape(n)

    def scatter(rng: Random, *n: int) -> np.ndarray:
        return fill(lambda: rng.choice(of.simple()), n)

    def draw(rng: Random, *n: int) -> np.ndarray:
        if special and rng.random() < 0.25:
            return rng.choice(special)(rng, n[0])
        return fill(lambda: of.draw(rng), n)

    def tail(rng: Random, *n: int) -> np.ndarray:
        if rng.random() < 0.5:
            return fill(lambda: of.far(rng), n)
        made = of.far(rng)  # all of one size
        return fill(lambda: made if rng.random() < 0.5 else of.far(rng), n)

    def simple(*n: int) -> list[Any]:
        mixed = [scatter(Random(k), *n) for k in range(3)]
        constant = [fill(_always(v), n) for v in of.simple()[:3]]
        return [*constant, *(s(Random(k), n[0]) for s in special for k in range(3)), *mixed]

    def corners(*n: int) -> list[Any]:
        return simple(*n) + [fill(_always(v), n) for v in of.corners()]

    return Domain(
        draw, simple, corners, sizes, {"real": True}, scatter, tail,
        free=of is real, entries=of.assumptions,
    )  # fmt: skip


def vector(n: str | int, of: Domain = real) -> Domain:
    """Vectors of length n; `of` says where the entries live."""
    return _array((n,), of)


def simplex(n: str | int) -> Domain:
    """Probabilities: vectors of positive numbers that add up to 1."""
    of = _array((n,), positive)

    def normed(x: Any) -> Any:
        return x / x.sum()

    return Domain(
        lambda rng, k: normed(of.draw(rng, k)),
        lambda k: [normed(x) for x in of.simple(k)],
        lambda k: [normed(x) for x in of.corners(k)],
        of.sizes, of.assumptions,
        lambda rng, k: normed(of.readable(rng, k)),
        lambda rng, k: normed(of.far(rng, k)), refine=normed, fact="simplex",
        entries=positive.assumptions,
    )  # fmt: skip


def matrix(n: str | int, m: str | int, of: Domain = real) -> Domain:
    """n×m matrices; square ones are sometimes the identity and often singular."""
    square = n == m and of is real
    return _array((n, m), of, (_singular, lambda _, k: np.eye(k)) if square else ())


def _square(
    n: str | int,
    make: Callable[[Random, int], np.ndarray],
    simple: Callable[[int], list[Any]],
    refine: Callable[[Any], Any] | None = None,
    scaled: bool = True,
    fact: str = "",
) -> Domain:
    """Square matrices of one kind; `make` draws one, and a multiple of it is of the kind too."""

    def tail(rng: Random, k: int, _: int) -> np.ndarray:
        return make(rng, k) * (2.0 ** rng.randint(-20, 20) if scaled else 1.0)

    def few(k: int, _: int) -> list[Any]:
        return [np.array(A, float) + 0.0 for A in simple(k)]

    def corners(k: int, _: int) -> list[Any]:
        large = [A * f for A in few(k, k) for f in (2.0**-10, 2.0**7)] if scaled else []
        return few(k, k) + large

    return Domain(
        lambda rng, k, _: make(rng, k), few, corners, (n, n), {"real": True},
        lambda rng, k, _: make(rng, k), tail, refine=refine, fact=fact,
    )  # fmt: skip


def _entries(rng: Random, *n: int) -> np.ndarray:
    """Entries that a float holds exactly, and products of a few of them too."""
    return np.array([rng.randint(-12, 12) / 4 for _ in range(math.prod(n))]).reshape(n)


def symmetric(n: str | int) -> Domain:
    """Matrices equal to their transposes: of any rank and any sign."""

    def make(rng: Random, k: int) -> np.ndarray:
        if rng.random() < 0.3:
            v = _entries(rng, k)
            return rng.choice((-1, 1)) * np.outer(v, v)
        A = _entries(rng, k, k)
        both: np.ndarray = np.triu(A) + np.triu(A, 1).T
        return both

    def simple(k: int) -> list[Any]:
        return [np.zeros((k, k)), np.eye(k), np.ones((k, k)), -np.eye(k), _mixed_signs(k)]

    return _square(n, make, simple, fact="symmetric")


def diagonal(n: str | int) -> Domain:
    """Diagonal matrices; a diagonal entry may be 0."""

    def simple(k: int) -> list[Any]:
        return [np.zeros((k, k)), np.eye(k), -np.eye(k), _mixed_signs(k), np.diag(np.arange(k))]

    return _square(n, lambda rng, k: np.diag(_entries(rng, k)), simple, fact="diagonal")


def singular(n: str | int) -> Domain:
    """Square matrices without an inverse, of every rank below n."""

    def simple(k: int) -> list[Any]:
        last = np.diag([1.0] * (k - 1) + [0.0])
        corner = np.zeros((k, k))
        corner[0, -1] = k > 1
        return [np.zeros((k, k)), last, corner, last[::-1, ::-1], *([np.ones((k, k))] * (k > 1))]

    return _square(n, _singular, simple)


def invertible(n: str | int) -> Domain:
    """Square matrices with an inverse; determinants of both signs, large and tiny."""

    def make(rng: Random, k: int) -> np.ndarray:
        while True:
            A = _entries(rng, k, k)
            if rng.random() < 0.2:
                A = _singular(rng, k) + np.diag(_entries(rng, k)) / 64  # almost singular
            stretch = np.linalg.svd(A, compute_uv=False)
            if stretch[-1] > 1e-4 * stretch[0]:
                return A * rng.choice((1, 1, 1, -1, 1 / 64))

    def simple(k: int) -> list[Any]:
        shear = np.eye(k) + np.diag([1.0] * (k - 1), 1)
        small = np.diag([1.0] * (k - 1) + [1 / 1024])
        turned = np.eye(k)[::-1]
        return [np.eye(k), -np.eye(k), _mixed_signs(k), turned, shear, 2 * np.eye(k), small]

    return _square(n, make, simple, fact="invertible")


def orthogonal(n: str | int) -> Domain:
    """Matrices with QᵀQ = 1, turned anyhow, with determinants 1 and −1."""

    def make(rng: Random, k: int) -> np.ndarray:
        A = np.array([rng.gauss(0, 1) for _ in range(k * k)]).reshape(k, k)
        Q, R = np.linalg.qr(A)
        Q = Q * np.sign(np.diag(R))
        if rng.random() < 0.5:
            Q[:, 0] = -Q[:, 0]
        return Q

    def simple(k: int) -> list[Any]:
        turned = np.roll(np.eye(k), 1, axis=0)
        return [np.eye(k), -np.eye(k), _mixed_signs(k), turned, turned * _signs(k)]

    def refine(Q: Any) -> Any:
        columns: list[Any] = []
        for q in Q.T:
            for _ in range(2):
                for p in columns:
                    q = q - (p @ q) * p
            columns.append(q / np.sqrt(q @ q))
        return np.array(columns, dtype=object).T

    return _square(n, make, simple, refine, scaled=False, fact="orthogonal")


def contraction(n: str | int) -> Domain:
    """Matrices of norm at most 1: some reach it, all alike or in one direction, others do not."""

    def make(rng: Random, k: int) -> np.ndarray:
        A = _entries(rng, k, k)
        above = math.ceil(math.log2(max(float(np.linalg.norm(A)), 1.0)))
        return A * (rng.choice((1, 1, 0.5, -1)) / 2.0**above)

    def simple(k: int) -> list[Any]:
        turned, one = np.roll(np.eye(k), 1, axis=0), np.zeros((k, k))
        one[0, -1] = 1.0  # of which powers vanish, once there are two rows
        return [np.eye(k), one, turned * _signs(k), np.eye(k) / 2, 0 * one, _mixed_signs(k)]

    return _square(n, make, simple, scaled=False, fact="contraction")


def _signs(k: int) -> np.ndarray:
    return np.array([-1.0] + [1.0] * (k - 1))


def _mixed_signs(k: int) -> np.ndarray:
    return np.diag(_signs(k)[::-1])


def _singular(rng: Random, k: int) -> np.ndarray:
    """A product of k×r and r×k matrices of small whole numbers: exact, of rank at most r < k."""
    rank = rng.randrange(k)
    left, right = (np.array([rng.randint(-2, 2) for _ in range(k * rank)]) for _ in range(2))
    product: np.ndarray = left.reshape(k, rank) @ right.reshape(rank, k)
    return product / rng.choice((1.0, 2.0))


# -- sequences and functions


class DrawnSequence:
    """g(1), g(2), …: a sequence without a period that remembers which values were asked for."""

    def __init__(
        self, rule: Callable[[int], Any], convert: Callable[..., Any] = lambda v: v
    ) -> None:
        self._rule, self._convert = rule, convert
        self._known: dict[int, Any] = {}
        self.asked: set[int] = set()

    def __call__(self, i: Any) -> Any:
        i = int(i)
        self.asked.add(i)
        if i not in self._known:
            self._known[i] = self._rule(i)
        return self._convert(self._known[i])

    def converted(self, convert: Callable[[Any], Any]) -> DrawnSequence:
        """The same sequence, and the same memory, with each value made into another kind."""
        other = DrawnSequence(self._rule, convert)
        other._known, other.asked = self._known, self.asked
        return other


def _impulse(place: int, one: Any, zero: Any) -> Callable[[int], Any]:
    return lambda i: one if i == place else zero


def _in_turn(values: list[Any], shift: int) -> Callable[[int], Any]:
    return lambda i: values[(i + shift) % len(values)]


def sequence(of: Domain = real) -> Domain:
    """Sequences g(1), g(2), … with values in `of`, for sums of symbolic length."""

    def drawn(pick: Callable[..., Any]) -> Callable[..., Any]:
        def make(rng: Random, *n: int) -> DrawnSequence:
            seed = rng.getrandbits(32)
            return DrawnSequence(lambda i: pick(Random(f"{seed}:{i}"), *n))

        return make

    def simple(*n: int) -> list[Any]:
        zero, one = of.simple(*n)[:2]
        impulses = [DrawnSequence(_impulse(k, one, zero)) for k in (1, 2)]
        return [DrawnSequence(lambda i: zero), DrawnSequence(lambda i: one), *impulses]

    def corners(*n: int) -> list[Any]:
        ends = of.corners(*n)
        return simple(*n) + [DrawnSequence(_in_turn(ends, k)) for k in (0, 1)]

    return Domain(
        drawn(of.draw), simple, corners, of.sizes, {} if of.sizes else of.assumptions,
        scatter=drawn(of.readable), tail=drawn(of.far), entries=of.entries,
    )  # fmt: skip


def activation(known: Sequence[Activation], slope: float = 1) -> Domain:
    """Those of these functions σ with |σ′| ≤ slope, and a sine, which is not monotone."""
    known = [a for a in [*known, SINE] if a.gamma <= slope]
    steepest = f"slope {Fraction(str(slope))}"
    return Domain(lambda rng: rng.choice(known), lambda: known, lambda: known, fact=steepest)


# -- random quantities and functions that are not known


JOINT = [0.1, 0.2, 0.3, 0.4]  # the weights of outcomes that all dependent quantities share
EQUAL = [0.2] * 5  # of a sequence whose items have one law and depend on each other
OWN = [0.5, 0.3, 0.2]  # of a quantity that depends on no other


class DrawnRandom:
    """A random quantity with finitely many values; a sequence of them has a value for each item."""

    def __init__(self, atoms: list[Any], independent: bool, same_law: bool) -> None:
        self.atoms, self.independent, self.same_law = atoms, independent, same_law
        self.law = OWN if independent else EQUAL if same_law else JOINT

    def at(self, scope: Any, place: int | None) -> Any:
        """Its value in a scope, which has chosen an outcome."""
        key = (id(self), place) if self.independent else id(self) if self.same_law else "joint"
        outcome = scope.outcome(key, self.law)
        if self.same_law and not self.independent:
            outcome = (outcome + (place or 0)) % len(self.law)
        atom = self.atoms[outcome]
        if isinstance(atom, DrawnSequence):
            atom = atom(0 if self.same_law else place)
        return float(atom) if isinstance(atom, Fraction | int) else atom

    def __str__(self) -> str:
        atoms = self.atoms[: len(self.law)]
        if not all(isinstance(atom, Fraction | int) for atom in atoms):
            return f"some law with {len(self.law)} values"
        pairs = zip(atoms, self.law, strict=True)
        return " or ".join(f"{atom} (probability {weight})" for atom, weight in pairs)


def random(of: Domain = real, independent: bool = False, same_law: bool = False) -> Domain:
    """A random quantity with values in `of`, or with `of` a sequence, one for each index.

    Its law is finite. All random quantities depend on each other unless they are `independent`, of
    all others and of each other along an index; with `same_law`, E[g] means that of every g_i.
    """

    def made(pick: Callable[..., Any]) -> Callable[..., Any]:
        def make(rng: Random, *n: int) -> DrawnRandom:
            atoms = [pick(rng, *n) for _ in range(5)]
            return DrawnRandom(atoms, independent, same_law)

        return make

    def simple(*n: int) -> list[Any]:
        return [made(of.readable)(Random(k), *n) for k in range(4)]

    return Domain(
        made(of.draw), simple, simple, of.sizes, {}, scatter=made(of.readable),
        tail=made(of.draw), kind="random",
    )  # fmt: skip


def iid(of: Domain = real) -> Domain:
    """Independent random quantities g_1, g_2, … with one law."""
    return random(sequence(of), independent=True, same_law=True)


class SomeFunction:
    """A smooth function of numbers, vectors and matrices; its value is a number or a vector."""

    def __init__(self, seed: int, size: int | None) -> None:
        self.seed, self.size = seed, size

    def __call__(self, *arguments: Any) -> Any:
        rng = np.random.default_rng(self.seed)
        rows = self.size or 1
        total: Any = rng.uniform(-1, 1, (rows, 1))
        for x in arguments:
            flat = np.reshape(np.asarray(x), (-1, 1))
            wave, square = rng.uniform(-1, 1, (2, rows, len(flat)))
            total = total + wave @ np.tanh(flat + 0.3) + 0.2 * square @ (flat * flat)
        found = np.sin(total)
        return found[0, 0] if self.size is None else found

    def prime(self, x: Any) -> Any:
        """The slope f′(x) of a function of one number."""
        if np.size(x) != 1 or self.size is not None:
            raise FormulaError("f′ is that of a number: write ∇, or ∂ with its variable.")
        rng = np.random.default_rng(self.seed)
        start, wave, square = rng.uniform(-1, 1, (1, 1)), *rng.uniform(-1, 1, (2, 1, 1))
        at = np.reshape(np.asarray(x), (-1, 1))
        bent = np.tanh(at + 0.3)
        inside = start + wave * bent + 0.2 * square * (at * at)
        return (np.cos(inside) * (wave * (1 - bent * bent) + 0.4 * square * at))[0, 0]

    def __str__(self) -> str:
        return "some smooth function"


def function(size: str | int | None = None) -> Domain:
    """Smooth functions of anything, such as L(f(x, θ), y); vectors of this size, or numbers."""

    def make(rng: Random, *n: int) -> SomeFunction:
        return SomeFunction(rng.getrandbits(32), n[0] if n else None)

    def some(*n: int) -> list[Any]:
        return [make(Random(k), *n) for k in range(3)]

    sizes = () if size is None else (size,)
    return Domain(make, some, some, sizes, {"real": True}, kind="function")
