"""How a wrong answer misses: a small catalog of what turns it into a right one.

Sign, factor, reciprocal, a shifted index, a transpose, swapped roles, a missing term. Something is
said only where it makes every number that is known of the answer right, and where there are enough
numbers that this is no accident.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction

import numpy as np

from selfcheck.compare import close
from selfcheck.exercises import Exercise
from selfcheck.formula import pretty
from selfcheck.kinds import Formula

from .behavior import Item, Reference, Signature

Pairs = list[tuple[np.ndarray, np.ndarray]]  # what the answer gives, and what is right
ENOUGH = 3  # different numbers, below which only the plainest factors are told
PLAIN = [Fraction(2), Fraction(1, 2), Fraction(10), Fraction(1, 10), Fraction(100)]
LARGEST = 24  # of numerator and denominator of a factor or term


def miss(exercise: Exercise, signature: Signature, reference: Reference) -> str:
    """How this answer misses, in a few words; empty if the catalog does not know."""
    mine = {item.name: item.array for item in signature.items if item.right is None}
    known = {i.name: i for i in map(Item.from_dict, reference.items.get(signature.part, ()))}
    right = {name: item.array for name, item in known.items()}
    told = [(i.array, i.expected) for i in signature.items if i.expected is not None]
    compared: Pairs = [(a, b) for a, b in told if b is not None]
    by_values = [(mine[name], right[name]) for name in mine if name in right]
    if by_values and len(by_values) == len(mine) == len(right):
        points = _points(exercise, signature)
        if found := _by_numbers(by_values, points):
            return found
        if found := _by_twist(mine, signature.part, reference):
            return found
    return _by_numbers(compared, {}) if compared else ""


def _points(exercise: Exercise, signature: Signature) -> dict[str, np.ndarray]:
    """The values of the symbols where the one formula of this part was taken."""
    needs = [n for n in exercise.needs(signature.part) if n not in exercise.optional]
    kind = exercise.kinds[needs[0]]
    if len(needs) != 1 or not isinstance(kind, Formula):
        return {}
    columns = list(kind.points())
    return {name: np.array([p[name] for p in columns], dtype=float) for name in kind.domain}


def _by_numbers(pairs: Pairs, points: Mapping[str, np.ndarray]) -> str:
    pairs = [(a, b) for a, b in pairs if a.shape == b.shape or a.shape == b.shape[::-1]]
    if not pairs or not all(np.isfinite(a).all() and np.isfinite(b).all() for a, b in pairs):
        return ""
    if all(a.shape == b.shape and close(a, b) for a, b in pairs):
        return ""  # right as far as it was looked at
    for says, change in CATALOG:
        if _mends(pairs, change):
            return says
    if not all(a.shape == b.shape for a, b in pairs):
        return ""
    return _factor(pairs, points) or _term(pairs, points) or _index_shift(pairs)


def _transposed(a: np.ndarray) -> np.ndarray:
    if a.ndim < 2 or 1 in a.shape:
        raise ValueError("there is nothing to transpose")
    return a.T


def _reversed(a: np.ndarray) -> np.ndarray:
    if a.ndim != 1:
        raise ValueError("only a row has an order")
    return a[::-1]


CATALOG: list[tuple[str, Callable[[np.ndarray], np.ndarray]]] = [
    ("off by the sign", np.negative),
    ("the reciprocal of a right answer", np.reciprocal),
    ("transposed", _transposed),
    ("in reverse order", _reversed),
]


def _mends(pairs: Pairs, change: Callable[[np.ndarray], np.ndarray]) -> bool:
    """Does the change make all of them right?"""
    with np.errstate(all="ignore"):
        try:
            return all(close(change(a), b) for a, b in pairs)
        except ValueError:
            return False


# -- factor and term ------------------------------------------------------------------------------


def _factor(pairs: Pairs, points: Mapping[str, np.ndarray]) -> str:
    """`off by the factor δ`: the answer is δ times a right one."""
    mine = np.concatenate([a.ravel() for a, _ in pairs])
    right = np.concatenate([b.ravel() for _, b in pairs])
    scale = max(np.abs(mine).max(initial=0), np.abs(right).max(initial=0))
    there = np.abs(right) > 1e-9 * scale
    if not there.any() or not close(mine[~there], right[~there]):
        return ""
    with np.errstate(all="ignore"):
        ratio = mine[there] / right[there]
    if not np.isfinite(ratio).all() or not ratio.all():
        return ""
    few = len(_distinct(right[there])) < ENOUGH
    if found := _constant(ratio, few):
        return f"off by the factor {found}"
    if few or not points or not there.all():
        return ""
    found = _monomial(ratio, points)
    return f"off by the factor {found}" if found else ""


def _term(pairs: Pairs, points: Mapping[str, np.ndarray]) -> str:
    """`a term δ is missing`: what a right answer has on top."""
    mine = np.concatenate([a.ravel() for a, _ in pairs])
    right = np.concatenate([b.ravel() for _, b in pairs])
    gap = right - mine
    if len(_distinct(right)) < ENOUGH:
        return ""
    if found := _constant(gap, few=False):
        less = found.startswith("−")
        return f"{found.lstrip('−')} too {'much' if less else 'little'} everywhere"
    if not points or not gap.all():
        return ""
    for sign, word in ((1, "is missing"), (-1, "is too many")):
        if (gap * sign > 0).all() and (found := _monomial(gap * sign, points)):
            return f"a term {found} {word}"
    return ""


def _distinct(values: np.ndarray) -> set[float]:
    return {float(f"{value:.6g}") for value in values}


def _constant(values: np.ndarray, few: bool) -> str:
    """All of them as one plain number; of a few numbers only the plainest is believed."""
    if not close(values, np.full(values.shape, values[0])):
        return ""
    number = _plain(float(values[0]))
    if number is None or number == 1 or (few and abs(number) not in PLAIN):
        return ""
    return _shown(number)


def _plain(value: float) -> Fraction | None:
    number = Fraction(value).limit_denominator(LARGEST)
    if not number or abs(number.numerator) > 100 or not close(float(number), value):
        return None
    return number


def _shown(number: Fraction) -> str:
    text = str(number.numerator) if number.denominator == 1 else f"{abs(number)}"
    sign = "−" if number < 0 else ""
    return sign + text.lstrip("-")


def _monomial(values: np.ndarray, points: Mapping[str, np.ndarray]) -> str:
    """The values as c · β^a · (1 − β)^b … with plain numbers c and exponents in halves."""
    sign = 1 if (values > 0).all() else -1 if (values < 0).all() else 0
    if not sign:
        return ""
    for bases in _sets_of_bases(points):
        columns = [np.log(base) for base in bases.values()]
        design = np.column_stack([np.ones(len(values)), *columns])
        if design.shape[1] >= len(values) or np.linalg.matrix_rank(design) < design.shape[1]:
            continue
        start, *powers = np.linalg.lstsq(design, np.log(sign * values), rcond=None)[0]
        exponents = [Fraction(round(2 * power), 2) for power in powers]
        number = _plain(sign * float(np.exp(start)))
        if number is None or not all(exponents) or max(map(abs, exponents)) > 4:
            continue
        made = float(number) * np.prod(
            [base ** float(e) for base, e in zip(bases.values(), exponents, strict=True)], axis=0
        )
        if close(values, made):
            return _product(number, dict(zip(bases, exponents, strict=True)))
    return ""


def _sets_of_bases(points: Mapping[str, np.ndarray]) -> Iterator[dict[str, np.ndarray]]:
    """One symbol, then two, then three; also 1 − β where that is positive everywhere."""
    known = {pretty(name): values for name, values in points.items() if (values > 0).all()}
    rest = {f"(1 − {name})": 1 - values for name, values in known.items() if (values < 1).all()}
    both = {**known, **rest}
    for count in (1, 2, 3):
        for names in itertools.combinations(both, count):
            yield {name: both[name] for name in names}


def _product(number: Fraction, powers: Mapping[str, Fraction]) -> str:
    above = [_power(name, e) for name, e in powers.items() if e > 0]
    below = [_power(name, -e) for name, e in powers.items() if e < 0]
    sign = "−" if number < 0 else ""
    if abs(number.numerator) != 1 or not above:
        above.insert(0, str(abs(number.numerator)))
    if number.denominator != 1:
        below.insert(0, str(number.denominator))
    top, bottom = "·".join(above), "·".join(below)
    if not bottom:
        return sign + (top[1:-1] if len(above) == 1 and top.startswith("(") and not sign else top)
    return f"{sign}{top}/{bottom if len(below) == 1 else f'({bottom})'}"


def _power(name: str, exponent: Fraction) -> str:
    if exponent == Fraction(1, 2):
        return f"√{name}"
    digits = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
    if exponent.denominator == 1:
        return name if exponent == 1 else f"{name}{str(exponent).translate(digits)}"
    return f"{name}^({exponent})"


# -- shifts and swaps -----------------------------------------------------------------------------


def _index_shift(pairs: Pairs) -> str:
    """Rows in which everything stands one place too early or too late."""
    rows = [(a, b) for a, b in pairs if a.ndim >= 1 and a.shape[0] > 2]
    if not rows or sum(len(_distinct(b.ravel())) >= 3 for _, b in rows) < 1:
        return ""
    if all(close(a[1:], b[:-1]) for a, b in rows):
        return "shifted: everything stands one place too late"
    if all(close(a[:-1], b[1:]) for a, b in rows):
        return "shifted: everything stands one place too early"
    return ""


def _by_twist(mine: Mapping[str, np.ndarray], part: str, reference: Reference) -> str:
    for key, made in reference.twisted.items():
        of_part, _, twist = key.rpartition(": ")
        items = {item.name: item.array for item in map(Item.from_dict, made)}
        if of_part != part or items.keys() != mine.keys():
            continue
        if all(close(mine[name], items[name]) for name in mine):
            return _twist_in_words(*twist.split(" ", 2))
    return ""


def _twist_in_words(kind: str, a: str, b: str) -> str:
    if kind == "shift":
        return f"shifted: {pretty(a)} {'+' if b == '+1' else '−'} 1 stands for {pretty(a)}"
    if kind == "swap":
        return f"swapped roles: {pretty(a)} stands for {pretty(b)}, and {pretty(b)} for {pretty(a)}"
    return f"swapped roles: {pretty(a)} and {pretty(b)} stand in each other's place"
