"""A student id → that student's numbers: the same for ever, on every platform and version.

    numbers = two_heads("ada@example.org")  # unit 05
    numbers.X, numbers.heads, numbers.Wo

    numbers = transport("ada@example.org")  # unit 11
    numbers.x, numbers.p, numbers.y, numbers.q, numbers.plan

Other units have a function of their name too; `print(numbers)` shows what it gives.

An id is a whole number from 0 up, or text: a student number, an e-mail address, a name. Capital and
small letters are alike, and so are one blank and many; blanks at the ends do not count. Thus 7, "7"
and " 7 " are one student, while "007" is another. Id 0 is the homework itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import fields
from functools import lru_cache
from hashlib import sha256
from itertools import pairwise
from math import gcd
from typing import Any

import numpy as np

from selfcheck.ids import student_id
from selfcheck.record import record

from .attention import attention as attend
from .attention import attention_weights

# -- the core: ids and their numbers --------------------------------------------------------------


class Draws:
    """Whole numbers from SHA-256, for neither NumPy nor Python promises a stream for ever."""

    def __init__(self, key: str) -> None:
        self._key, self._count = key, 0

    def below(self, n: int) -> int:
        """One of 0 … n−1, each equally likely."""
        while True:
            block = sha256(f"{self._key}:{self._count}".encode()).digest()
            self._count += 1
            word = int.from_bytes(block[:8], "big")
            if word < 2**64 - 2**64 % n:  # beyond the last full round of n, draw again
                return word % n

    def integer(self, low: int, high: int) -> int:
        """One of low … high, both included."""
        return low + self.below(high - low + 1)

    def matrix(self, low: int, high: int, rows: int, columns: int) -> np.ndarray:
        """A matrix of such numbers."""
        drawn = [self.integer(low, high) for _ in range(rows * columns)]
        return np.array(drawn, dtype=np.int64).reshape(rows, columns)


def rng_for(student: Any, unit: str) -> Draws:
    """This student's source of numbers in this unit, from its beginning."""
    return Draws(f"{unit}:{student_id(student)}")


@record()
class Listed:
    """Numbers of one student that print as a list."""

    student: str

    def __repr__(self) -> str:
        named = [(field.name, getattr(self, field.name)) for field in fields(self)[1:]]
        return "\n".join([f"Numbers of student {self.student}", *(f"{n} = {v}" for n, v in named)])


# -- unit 01: RNN gradients -----------------------------------------------------------------------


@record(repr=False)
class RnnGradients(Listed):
    """One student's gate: after `steps` steps this share of the gradient is to be left."""

    steps: int
    share: float


def rnn_gradients(student: Any) -> RnnGradients:
    """The gate of this student for unit 01; id 0 keeps one half for 200 steps."""
    student = student_id(student)
    if student == "0":
        return RnnGradients(student, 200, 0.5)
    draws = rng_for(student, "01_rnn_gradients")
    while True:
        steps, share = draws.integer(100, 999), draws.integer(20, 80) / 100
        if 0.01 < (steps * np.log(1000) / -np.log(share)) % 1 < 0.99:  # far from a tie
            return RnnGradients(student, steps, share)


# -- unit 02: momentum ----------------------------------------------------------------------------


@record()
class Derivation:
    """A rule, and lines that write its move by the move before; one line does not follow.

    v_t = β v_{t−1} + share·g_t and Δθ_t = −δ v_t/parts. In formulas v_{t−1} is called v_prev, and
    Δθ_{t−1} is called step. Lines are numbered from `first` on, as in the middle of a text.
    """

    share: str
    parts: int
    lines: tuple[str, ...]
    first: int = 1

    @property
    def velocity(self) -> str:
        """v_t as a formula."""
        return f"beta*v_prev + {self.share}*g"

    def __repr__(self) -> str:
        lines = [f"({k})  {_spelled(line)}" for k, line in enumerate(self.lines, self.first)]
        rule = [f"v_t = {_spelled(self.velocity)}", f"Δθ_t = {_spelled(self.lines[0])}"]
        return "\n".join(["the rule:", *rule, "lines for Δθ_t:", *lines])


def _spelled(formula: str) -> str:
    """A formula as it is read."""
    names = {"beta": "β", "delta": "δ", "v_prev": "v_{t−1}", "step": "Δθ_{t−1}", "g": "g_t"}
    for name, letter in (names | {"v": "v_t"}).items():
        formula = re.sub(rf"\b{name}\b", letter, formula)
    return formula.replace("-", "−").replace("*", "·")


# Lines from the second on, and what stands from a slip on. A slip is followed truly to the end.
_TRUE = (
    "-delta*(beta*v_prev + {c}*g)/{k}",
    "-beta*delta*v_prev/{k} - {c}*delta*g/{k}",
    "beta*step - {c}*delta*g/{k}",
    "({k}*beta*step - {c}*delta*g)/{k}",
)
_SLIPS = (
    ("-delta*(beta*v_prev + g)/{k}", "-beta*delta*v_prev/{k} - delta*g/{k}",
     "beta*step - delta*g/{k}", "({k}*beta*step - delta*g)/{k}"),
    ("-beta*delta*(v_prev + {c}*g)/{k}", "-beta*delta*v_prev/{k} - {c}*beta*delta*g/{k}",
     "beta*step - {c}*beta*delta*g/{k}", "beta*({k}*step - {c}*delta*g)/{k}"),
    ("-beta*delta*v_prev/{k} + {c}*delta*g/{k}", "beta*step + {c}*delta*g/{k}",
     "({k}*beta*step + {c}*delta*g)/{k}"),
    ("-beta*delta*v_prev/{k} - {c}*delta*g", "beta*step - {c}*delta*g",
     "beta*step - delta*{c}*g"),
    ("-beta*delta*step/{k} - {c}*delta*g/{k}", "-delta*(beta*step + {c}*g)/{k}"),
    ("-beta*step - {c}*delta*g/{k}", "-({k}*beta*step + {c}*delta*g)/{k}"),
    ("{k}*beta*step - {c}*delta*g/{k}", "({k}*{k}*beta*step - {c}*delta*g)/{k}"),
    ("(beta*step - {c}*delta*g)/{k}",),
    ("{k}*beta*step - {c}*delta*g",),
)  # fmt: skip
HOMEWORK_LINES = (
    "-delta*v",
    "-delta*(beta*v_prev + (1 - beta)*g)",
    "-delta*(beta*step + (1 - beta)*g)",
    "-delta*beta*step - delta*(1 - beta)*g",
)


def _derivation(student: str) -> Derivation:
    if student == "0":
        return Derivation("(1 - beta)", 1, HOMEWORK_LINES)
    draws = rng_for(student, "02_momentum derivation")
    while True:
        c, k = draws.integer(2, 99), draws.integer(2, 99)
        if gcd(c, k) == 1:
            break
    slip = _SLIPS[draws.below(len(_SLIPS))]
    rest = (*_TRUE[: len(_TRUE) - len(slip)], *slip)
    lines = tuple(line.format(c=c, k=k) for line in ("-delta*v/{k}", *rest))
    return Derivation(str(c), k, lines, first=draws.integer(1000, 9990))


@record(repr=False)
class Momentum(Listed):
    """One student's valley: the slopes of its gradient along the flattest and steepest axis.

    `derivation` is a calculation with a rule of the student's own, and has a slip in it.
    """

    smallest: int
    largest: int

    @property
    def derivation(self) -> Derivation:
        """The rule and the lines, of which one does not follow."""
        return _derivation(self.student)

    def __repr__(self) -> str:
        return f"{super().__repr__()}\n{self.derivation}"


def momentum(student: Any) -> Momentum:
    """The valley of this student for unit 02: slopes are one number times two squares."""
    student = student_id(student)
    if student == "0":
        return Momentum(student, 1, 100)
    draws = rng_for(student, "02_momentum")
    while True:
        times, low, high = draws.integer(1, 60), draws.integer(1, 12), draws.integer(3, 30)
        if high >= 2 * low and gcd(low, high) == 1:
            return Momentum(student, times * low**2, times * high**2)


# -- unit 03: weight decay ------------------------------------------------------------------------


@record(repr=False)
class WeightDecay(Listed):
    """One student's schedule: steps from this peak on, after which this share is to be left."""

    steps: int
    peak: float
    left: float


def weight_decay(student: Any) -> WeightDecay:
    """The schedule of this student for unit 03; id 0 leaves one half in 20 steps of 0.1."""
    student = student_id(student)
    if student == "0":
        return WeightDecay(student, 20, 0.1, 0.5)
    draws = rng_for(student, "03_weight_decay")
    steps, peak, left = draws.integer(10, 40), draws.integer(20, 200), draws.integer(20, 60)
    return WeightDecay(student, steps, peak / 1000, left / 100)


# -- unit 04: attention ---------------------------------------------------------------------------


@record(repr=False)
class Attention(Listed):
    """One student's head: n keys K on a circle; query i is to look at key target[i]."""

    n: int
    radius: float
    weight: float
    target: tuple[int, ...]

    @property
    def K(self) -> np.ndarray:
        """The keys, (n, 2), one after the other around the circle."""
        angles = 2 * np.pi * np.arange(self.n) / self.n
        return self.radius * np.stack([np.cos(angles), np.sin(angles)], axis=1)


def attention(student: Any) -> Attention:
    """The head of this student for unit 04; with id 0 each token looks at the one before it."""
    student = student_id(student)
    if student == "0":
        return Attention(student, 8, 2.0, 0.9, (7, 0, 1, 2, 3, 4, 5, 6))
    draws = rng_for(student, "04_attention")
    n, radius, weight = draws.integer(7, 10), draws.integer(12, 40), draws.integer(700, 990)
    while True:
        target = tuple(_shuffled(draws, n))
        if all(i != j for i, j in enumerate(target)):
            return Attention(student, n, radius / 10, weight / 1000, target)


# -- unit 05: two heads by hand -------------------------------------------------------------------

Head = tuple[np.ndarray, np.ndarray, np.ndarray]
LOW, HIGH = -1, 4  # where the entries of a hidden W^O lie
DECIMALS = 3  # as many as are printed
HALF_UNIT = 0.5 * 10**-DECIMALS  # what rounding may take away


@record()
class Worksheet:
    """A calculation by hand, as printed: weights of both heads, their outputs, the result."""

    weights: tuple[np.ndarray, np.ndarray]
    concat: np.ndarray
    output: np.ndarray

    def __repr__(self) -> str:
        first, second = self.weights
        return "\n\n".join(
            [
                _side_by_side({"weights, head 1": first, "weights, head 2": second}),
                _side_by_side({"concat, the heads side by side": self.concat}),
                _side_by_side({"output": self.output}),
            ]
        )


@record()
class TwoHeads:
    """One student's numbers: X (2×6), two heads (W^Q, W^K, W^V: 6×3), W^O (6×6), and two riddles.

    `printed` is an output of the same heads, to three decimals, through *another* W^O that is not
    shown; its entries are integers from −1 to 4. `worksheet` is a calculation with X, heads and Wo
    that carries rounded numbers along and has slips in it.
    """

    student: str
    X: np.ndarray
    heads: tuple[Head, Head]
    Wo: np.ndarray
    printed: np.ndarray
    worksheet: Worksheet

    def __repr__(self) -> str:
        parts = [f"Numbers of student {self.student}", _side_by_side({"X": self.X})]
        for number, head in enumerate(self.heads, start=1):
            names = [f"W{kind} of head {number}" for kind in "qkv"]
            parts.append(_side_by_side(dict(zip(names, head, strict=True))))
        parts.append(_side_by_side({"Wo": self.Wo}))
        return "\n\n".join(parts)


@lru_cache(maxsize=256)
def _two_heads(student: str) -> TwoHeads:
    draws, more = rng_for(student, "05_two_heads"), rng_for(student, "05_two_heads slips")
    if student == "0":
        X, heads, Wo, worksheet = HOMEWORK_X, HOMEWORK_HEADS, HOMEWORK_WO, HOMEWORK_SHEET
        printed = _printed(draws, concat_of(X, heads))
        assert printed is not None
        return TwoHeads(student, *map(_frozen, (X, heads, Wo, printed, worksheet)))
    while True:  # most candidates have a blemish; the next one is the student's
        X = _draw_input(draws)
        first, second = _draw_head(draws, X), _draw_head(draws, X)
        if first is None or second is None:
            continue
        heads = first, second
        Wo = draws.matrix(0, 2, 6, 6)
        worksheet = _draw_worksheet(draws, more, X, heads, Wo)
        printed = _printed(draws, concat_of(X, heads))
        if printed is not None:
            return TwoHeads(student, *map(_frozen, (X, heads, Wo, printed, worksheet)))


def two_heads(student: Any) -> TwoHeads:
    """The numbers of this student for unit 05; id 0 is the homework."""
    return _two_heads(student_id(student))


def concat_of(X: np.ndarray, heads: tuple[Head, ...]) -> np.ndarray:
    """The outputs of the heads side by side, not yet mixed by W^O."""
    return np.concatenate([attend(X @ Wq, X @ Wk, X @ Wv) for Wq, Wk, Wv in heads], axis=-1)


@lru_cache(maxsize=1)
def possible_columns() -> np.ndarray:
    """All 46,656 columns that a hidden W^O may have, one a row."""
    steps = np.indices([HIGH - LOW + 1] * 6, dtype=np.int64)
    return LOW + steps.reshape(6, -1).T


def columns_behind(printed: np.ndarray, concat: np.ndarray, within: float) -> Iterator[np.ndarray]:
    """For each printed column, every possible column of W^O that gives it within the tolerance."""
    first, second = concat @ possible_columns().T
    for a, b in printed.T:
        fits = np.flatnonzero(np.abs(first - a) <= within)
        yield possible_columns()[fits[np.abs(second[fits] - b) <= within]]


def _printed(draws: Draws, concat: np.ndarray) -> np.ndarray | None:
    """An output through a hidden W^O that can be told from it; None if that is hard to find."""
    outputs = concat @ draws.matrix(LOW, HIGH, 6, 20)
    columns = np.round(outputs, DECIMALS)
    # three times the rounding: no other column comes even close
    alike = columns_behind(columns, concat, within=3 * HALF_UNIT)
    sound = [
        column
        for column, output, others in zip(columns.T, outputs.T, alike, strict=True)
        if len(others) == 1 and not _near_a_tie(output)
    ]
    return np.array(sound[:6]).T if len(sound) >= 6 else None


def _near_a_tie(values: np.ndarray) -> bool:
    """Whether another platform's last bit could round one of them the other way."""
    units = values * 10**DECIMALS
    return bool((np.abs(units - np.floor(units) - 0.5) < 1e-3).any())


def _draw_input(draws: Draws) -> np.ndarray:
    """Two tokens that share their last two numbers and differ in at least two others."""
    while True:
        X = draws.matrix(0, 2, 2, 6)
        X[:, 4:] = 1
        if (X[0] != X[1]).sum() >= 2 and X.any(axis=0).all():
            return X


def _draw_head(draws: Draws, X: np.ndarray) -> Head | None:
    """Matrices whose weights are neither even nor all on one token, and tell mistakes apart."""
    for _ in range(100):
        Wq, Wk, Wv = (draws.matrix(0, high, 6, 3) for high in (2, 2, 4))
        Q, K, V = X @ Wq, X @ Wk, X @ Wv
        scores = Q @ K.T
        rows, columns = scores[:, 0] - scores[:, 1], scores[0] - scores[1]
        in_range = all(2 <= abs(d) <= 7 for d in rows.tolist())
        told_apart = abs(rows[0]) != abs(rows[1]) and abs(rows[0]) != abs(columns[0])
        if in_range and told_apart and (V[0] != V[1]).all():
            return None if _near_a_tie(attention_weights(Q, K)) else (Wq, Wk, Wv)
    return None


def _draw_worksheet(
    draws: Draws, more: Draws, X: np.ndarray, heads: tuple[Head, Head], Wo: np.ndarray
) -> Worksheet:
    """Every line from the rounded line before it, with three to five slips in the last two each."""
    first, second = (np.round(attention_weights(X @ Wq, X @ Wk), DECIMALS) for Wq, Wk, _ in heads)
    weights = first, second
    values = [X @ Wv for *_, Wv in heads]
    concat = np.hstack([A @ V for A, V in zip(weights, values, strict=True)])
    exact = concat_of(X, heads)
    concat = _with_slips(draws, more, np.round(concat, DECIMALS), exact)
    output = _with_slips(draws, more, np.round(concat @ Wo, DECIMALS), exact @ Wo)
    return Worksheet(weights, concat, output)


def _with_slips(draws: Draws, more: Draws, line: np.ndarray, exact: np.ndarray) -> np.ndarray:
    """The line with some entries wrong by 2 to 9 hundredths, and not right by luck."""
    slipped = line.copy()
    for source in [draws] + [more] * more.integer(2, 4):
        while True:
            at = source.below(line.shape[0]), source.below(line.shape[1])
            units = source.integer(2, 9) * (1 if source.below(2) else -1)
            wrong = line[at] + 0.01 * units
            if slipped[at] == line[at] and abs(wrong - exact[at]) > 0.005:
                break
        slipped[at] = wrong
    return np.round(slipped, DECIMALS)


def _frozen(part: Any) -> Any:
    """The same numbers, protected: every later call hands out these very arrays."""
    if isinstance(part, tuple):
        return tuple(map(_frozen, part))
    if isinstance(part, Worksheet):
        return Worksheet(*map(_frozen, (part.weights, part.concat, part.output)))
    part.setflags(write=False)
    return part


def _side_by_side(matrices: dict[str, np.ndarray]) -> str:
    """Matrices with their names above them, as text."""
    blocks = []
    for name, A in matrices.items():
        digits = DECIMALS if A.dtype.kind == "f" else 0
        wide = max(len(f"{entry:.{digits}f}") for entry in A.flat)
        rows = ["[" + " ".join(f"{entry:{wide}.{digits}f}" for entry in row) + "]" for row in A]
        width = max(map(len, [name, *rows]))
        blocks.append([f"{line:<{width}}" for line in [name, *rows]])
    return "\n".join("   ".join(lines).rstrip() for lines in zip(*blocks, strict=True))


def _head(*matrices: list[list[int]]) -> Head:
    Wq, Wk, Wv = (np.array(W, dtype=np.int64) for W in matrices)
    return Wq, Wk, Wv


# The homework's own numbers. In its scan one entry of the first W^K reads 0 or 3; the printed K
# needs the 3. Its W^O is not on the page: the lecture of unit 05 recovers it.
HOMEWORK_X = np.array([[1, 0, 1, 2, 1, 1], [1, 2, 0, 1, 1, 1]], dtype=np.int64)
HOMEWORK_HEADS = (
    _head(
        [[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0], [0, 1, 1], [1, 1, 1]],
        [[1, 1, 0], [0, 1, 1], [1, 1, 1], [0, 1, 2], [2, 1, 0], [3, 3, 1]],
        [[3, 2, 1], [1, 2, 3], [1, 2, 1], [2, 1, 2], [1, 1, 1], [3, 1, 3]],
    ),
    _head(
        [[0, 1, 2], [2, 1, 2], [1, 2, 1], [1, 1, 0], [0, 0, 1], [0, 1, 0]],
        [[0, 0, 0], [0, 0, 0], [0, 0, 0], [0, 0, 1], [1, 0, 0], [1, 3, 1]],
        [[3, 2, 4], [4, 2, 3], [0, 0, 1], [1, 1, 0], [1, 1, 1], [3, 1, 3]],
    ),
)
HOMEWORK_WO = np.array(
    [
        [1, 0, 0, 1, 0, 0],
        [0, 1, 0, 0, 2, 0],
        [1, 1, 1, 1, 1, 2],
        [2, 2, 2, 1, 1, 0],
        [2, 1, 0, 1, 2, 0],
        [0, 0, 0, 0, 1, 0],
    ],
    dtype=np.int64,
)
HOMEWORK_SHEET = Worksheet(
    weights=(
        np.array([[0.983, 0.017], [0.947, 0.053]]),
        np.array([[0.909, 0.091], [0.983, 0.017]]),
    ),
    concat=np.array(
        [
            [11.983, 8.017, 10.051, 9.637, 6.273, 9.455],
            [11.947, 8.053, 10.159, 9.119, 6.051, 9.095],
        ]
    ),
    output=np.array(
        [
            [53.854, 43.615, 29.325, 37.944, 57.723, 20.102],
            [52.446, 42.501, 28.397, 37.276, 56.571, 20.318],
        ]
    ),
)


# -- unit 06: counting cost ------------------------------------------------------------------------


@record()
class Model:
    """One student's language model and the memory of the card that it has to run on.

    All numbers take two bytes. Keys and values come in `groups`, each shared by several heads.
    """

    student: str
    vocabulary: int
    width: int
    layers: int
    heads: int
    groups: int
    head_width: int
    hidden: int
    mebibytes: int

    def __repr__(self) -> str:
        return _listed(
            self.student,
            {
                "vocabulary": self.vocabulary,
                "width D": self.width,
                "layers": self.layers,
                "heads H": self.heads,
                "groups G": self.groups,
                "width w of a head": self.head_width,
                "hidden width F": self.hidden,
                "MiB of memory": self.mebibytes,
            },
        )


@lru_cache(maxsize=256)
def _counting_cost(student: str) -> Model:
    if student == "0":
        return Model(student, 32_000, 2048, 24, 16, 4, 128, 5632, 8192)
    draws = rng_for(student, "06_counting_cost")
    head_width, heads = 64 * draws.integer(1, 2), 8 * draws.integer(2, 5)
    width, groups = head_width * heads, 2 ** draws.integer(0, 3)
    hidden, layers = 64 * (width // 24 + draws.below(9)), draws.integer(16, 40)
    vocabulary = 100 * draws.integer(200, 600)
    mebibytes = 1024 * draws.integer(24, 48) - draws.integer(1, 999)
    return Model(student, vocabulary, width, layers, heads, groups, head_width, hidden, mebibytes)


def counting_cost(student: Any) -> Model:
    """The model of this student for unit 06; id 0 has round numbers."""
    return _counting_cost(student_id(student))


def _listed(student: str, named: dict[str, Any]) -> str:
    """Numbers with their names, one a line, as text."""
    wide = max(map(len, named))
    words = {k: value if isinstance(value, str) else f"{value:,}" for k, value in named.items()}
    lines = [f"{name:<{wide}}  {value}" for name, value in words.items()]
    return "\n".join([f"Numbers of student {student}", "", *lines])


# -- unit 07: attention as lookup ------------------------------------------------------------------


@record()
class Shelf:
    """One student's records on a line, a query, the leak ε that is wanted, and copies of two."""

    student: str
    places: tuple[float, ...]
    query: float
    epsilon: float
    copies: tuple[int, int]
    M: float

    def __repr__(self) -> str:
        return _listed(
            self.student,
            {
                "places of the records": ", ".join(f"{x:g}" for x in self.places),
                "query": self.query,
                "ε": self.epsilon,
                "copies of records 1 and 2": "{} and {}".format(*self.copies),
                "M for the border": self.M,
            },
        )


@lru_cache(maxsize=256)
def _lookup(student: str) -> Shelf:
    if student == "0":
        return Shelf(student, (1.0, 2.0, 4.0), 2.5, 0.2, (2, 1), 1.0)
    draws = rng_for(student, "07_lookup")
    while True:
        places = tuple(sorted(draws.integer(0, 80) / 10 for _ in range(4)))
        query = draws.integer(10, 70) / 10
        near = sorted(round((x - query) ** 2, 6) for x in places)
        apart = min(b - a for a, b in pairwise(places)) >= 1
        if apart and near[1] - near[0] >= 0.5 and near[2] - near[1] <= near[1] - near[0]:
            break
    epsilon, M = draws.integer(100, 400) / 1000, draws.integer(400, 1200) / 1000
    more, fewer = ((2, 1), (3, 1), (3, 2), (4, 1), (4, 3), (5, 1), (5, 2), (5, 3))[draws.below(8)]
    copies = (more, fewer) if draws.below(2) else (fewer, more)
    return Shelf(student, places, query, epsilon, copies, M)


def lookup(student: Any) -> Shelf:
    """The records of this student for unit 07; id 0 has those of the lecture's first table."""
    return _lookup(student_id(student))


# -- unit 08: linear attention ---------------------------------------------------------------------


@record()
class Waves:
    """One student's keys (numbers, which are angles) and values, and an output beyond them all."""

    student: str
    keys: tuple[float, ...]
    values: tuple[int, ...]
    target: int

    def __repr__(self) -> str:
        named = {"keys": self.keys, "values": self.values, "target T": self.target}
        return _listed(self.student, {name: f"{what}".strip("()") for name, what in named.items()})


@lru_cache(maxsize=256)
def _linear_attention(student: str) -> Waves:
    if student == "0":
        return Waves(student, (0.0, 0.5, 2.0), (1, 2, 3), 10)
    draws = rng_for(student, "08_linear_attention")
    while True:
        keys = tuple(draws.integer(0, 300) / 100 for _ in range(3))
        values = tuple(draws.integer(-5, 5) for _ in range(3))
        target = draws.integer(8, 30) * (1 - 2 * draws.below(2))
        if min(abs(a - b) for a, b in pairwise(sorted(keys))) >= 0.2 and len({*values}) == 3:
            return Waves(student, keys, values, target)


def linear_attention(student: Any) -> Waves:
    """The keys and values of this student for unit 08; id 0 has round numbers."""
    return _linear_attention(student_id(student))


# -- unit 09: random features ----------------------------------------------------------------------

Pair = tuple[float, float]


@record()
class Triple:
    """One student's query, two keys, a number m of directions, and the error r of a ratio."""

    student: str
    q: Pair
    k1: Pair
    k2: Pair
    m: int
    r: float

    def __repr__(self) -> str:
        named = {"q": self.q, "k1": self.k1, "k2": self.k2, "m": self.m, "r": self.r}
        return _listed(self.student, {name: str(what) for name, what in named.items()})


@lru_cache(maxsize=256)
def _random_features(student: str) -> Triple:
    if student == "0":
        return Triple(student, (0.5, 0.5), (0.5, 0.0), (0.0, 0.5), 10, 0.1)
    draws = rng_for(student, "09_random_features")
    while True:
        q, k1, k2 = (_tenths(draws), _tenths(draws), _tenths(draws))
        u1, u2 = np.add(q, k1), np.add(q, k2)
        if abs(u1 @ u2) > 0.2 and abs(np.dot(k1, k2)) > 0.05 and (u1 - u2) @ (u1 - u2) > 0.2:
            return Triple(student, q, k1, k2, draws.integer(10, 99), draws.integer(20, 99) / 1000)


def _tenths(draws: Draws) -> Pair:
    return draws.integer(-12, 12) / 20, draws.integer(-12, 12) / 20


def random_features(student: Any) -> Triple:
    """The vectors of this student for unit 09; id 0 has round numbers."""
    return _random_features(student_id(student))


# -- unit 10: transformers are RNNs ----------------------------------------------------------------


@record()
class Memory:
    """One student's pairs of a key (three whole numbers) and a value, written in this order."""

    student: str
    keys: tuple[tuple[int, ...], ...]
    values: tuple[int, ...]

    def __repr__(self) -> str:
        keys, values = np.array(self.keys), np.array(self.values)[:, None]
        parts = _side_by_side({"keys, one a row": keys, "values": values})
        return f"Numbers of student {self.student}\n\n{parts}"


@lru_cache(maxsize=256)
def _transformers_are_rnns(student: str) -> Memory:
    if student == "0":
        return Memory(student, ((1, 0, 0), (1, 1, 0), (1, 1, 1)), (1, 2, 3))
    draws = rng_for(student, "10_transformers_are_rnns")
    while True:
        K, v = draws.matrix(-3, 3, 3, 3), draws.matrix(-9, 9, 1, 3)[0]
        products = (K @ K.T)[np.triu_indices(3, 1)]
        if (
            abs(round(float(np.linalg.det(K)))) >= 3
            and products.all()
            and len({*v.tolist(), 0}) == 4
        ):
            return Memory(student, tuple(map(tuple, K.tolist())), tuple(v.tolist()))


def transformers_are_rnns(student: Any) -> Memory:
    """The pairs of this student for unit 10; id 0 has small numbers."""
    return _transformers_are_rnns(student_id(student))


# -- unit 11: the cost of moving mass -------------------------------------------------------------

LAST_PLACE, MOST_MASS = 12, 4


@record()
class Transport:
    """One student's masses: p lies at the places x and is wanted as q at the places y.

    `plan` is one way to do it (row i is what leaves x[i], column j what arrives at y[j]). Except
    for id 0 it is not the cheapest.
    """

    student: str
    x: np.ndarray
    p: np.ndarray
    y: np.ndarray
    q: np.ndarray
    plan: np.ndarray

    @property
    def places(self) -> np.ndarray:
        """All places, from left to right."""
        return np.union1d(self.x, self.y)

    def __repr__(self) -> str:
        parts = [
            f"Numbers of student {self.student}",
            _side_by_side({"x, where it lies": self.x[None], "p, how much": self.p[None]}),
            _side_by_side({"y, where it goes": self.y[None], "q, how much": self.q[None]}),
            _side_by_side({"plan, a row for each x and a column for each y": self.plan}),
        ]
        return "\n\n".join(parts)


def transport(student: Any) -> Transport:
    """The masses of this student for unit 11; id 0 is the homework."""
    return _transport(student_id(student))


@lru_cache(maxsize=256)
def _transport(student: str) -> Transport:
    if student == "0":
        x, y, ones = (np.array(row, dtype=np.int64) for row in ([1, 2], [4, 6], [1, 1]))
        plan = np.eye(2, dtype=np.int64)
        return Transport(student, *map(_frozen, (x, ones, y, ones.copy(), plan)))
    draws = rng_for(student, "11_transport")
    while True:
        x, y = _draw_places(draws)
        p, q = draws.matrix(1, MOST_MASS, 2, 3)
        if p.sum() != q.sum() or not _is_interesting(x, p, y, q):
            continue
        plan = _filled(p, q, order=_shuffled(draws, 9))
        if _cost(plan, x, y) > _cost(_filled(p, q, order=range(9)), x, y):
            return Transport(student, *map(_frozen, (x, p, y, q, plan)))


def _draw_places(draws: Draws) -> tuple[np.ndarray, np.ndarray]:
    """Three places to leave and three to reach, all different, each from left to right."""
    six = _shuffled(draws, LAST_PLACE + 1)[:6]
    x, y = (np.array(sorted(three), dtype=np.int64) for three in (six[:3], six[3:]))
    return x, y


def _shuffled(draws: Draws, n: int) -> list[int]:
    """0 … n−1 in a random order."""
    left = list(range(n))
    return [left.pop(draws.below(len(left))) for _ in range(n)]


def _is_interesting(x: np.ndarray, p: np.ndarray, y: np.ndarray, q: np.ndarray) -> bool:
    """Mass has to move both ways, rows and columns differ, and the cheapest plan is not alone."""
    crossing = [int(p[x <= z].sum() - q[y <= z].sum()) for z in range(LAST_PLACE)]
    both_ways = min(crossing) < 0 < max(crossing)
    keeps_order = _filled(p, q, order=range(9))  # the cheapest, for the places are sorted
    return both_ways and p.tolist() != q.tolist() and _has_free_exchange(keeps_order, x, y)


def _has_free_exchange(plan: np.ndarray, x: np.ndarray, y: np.ndarray) -> bool:
    """Whether two shipments can swap their targets at no cost."""
    C = np.abs(x[:, None] - y)
    sent = np.argwhere(plan > 0).tolist()
    return any(
        i < k and j != n and C[i, j] + C[k, n] == C[i, n] + C[k, j]
        for i, j in sent
        for k, n in sent
    )


def _filled(p: np.ndarray, q: np.ndarray, order: Any) -> np.ndarray:
    """The plan that fills its cells in this order, each with as much as it takes."""
    left, wanted = p.copy(), q.copy()
    plan = np.zeros((len(p), len(q)), dtype=np.int64)
    for cell in order:
        i, j = divmod(cell, len(q))
        plan[i, j] = moved = min(left[i], wanted[j])
        left[i] -= moved
        wanted[j] -= moved
    return plan


def _cost(plan: np.ndarray, x: np.ndarray, y: np.ndarray) -> int:
    return int((plan * np.abs(x[:, None] - y)).sum())


# -- unit 12: the capstone -------------------------------------------------------------------------

BACKWARD_LINES = (
    "A = attention_weights(Q, K)",
    "d_V = A.T @ G",
    "d_A = G @ V.T",
    "d_S = A * (d_A - (d_A * A).sum(axis=1, keepdims=True))",
    "d_Q = d_S @ K / np.sqrt(Q.shape[1])",
    "d_K = d_S.T @ Q / np.sqrt(Q.shape[1])",
)
BUGS = (
    (2, "d_V = A @ G"),
    (3, "d_A = G @ V.T / np.sqrt(Q.shape[1])"),
    (4, "d_S = A * (d_A - (d_A * A).sum(axis=0, keepdims=True))"),
    (4, "d_S = A * (d_A - d_A.mean(axis=1, keepdims=True))"),
    (5, "d_Q = d_S @ K"),
    (6, "d_K = d_S @ Q / np.sqrt(Q.shape[1])"),
)


@record()
class Pass:
    """One student's backward pass of softmax attention; one of its six lines is wrong."""

    student: str
    lines: tuple[str, ...]

    def __repr__(self) -> str:
        lines = [f"{number}  {line}" for number, line in enumerate(self.lines, start=1)]
        return "\n".join([f"Lines of student {self.student}", "", *lines])


def capstone(student: Any) -> Pass:
    """The backward pass of this student for unit 12."""
    student = student_id(student)
    number, bug = BUGS[rng_for(student, "12_capstone").below(len(BUGS))]
    return Pass(student, (*BACKWARD_LINES[: number - 1], bug, *BACKWARD_LINES[number:]))
