"""What a check says: right, wrong or partly right, and for a refutation what was seen where.

`differs` is how an answer is refuted. It compares, finds the first row that is off, prints both
sides with as many digits as it takes to tell them apart, and remembers instance and value, by which
the engine knows whether a mistake explains the failure:

    if verdict := differs(expected, answer, at=f"With Q = {show(Q)}"):
        return verdict
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np

from .calls import FunctionAnswer
from .compare import alike_where_finite, close, real_array, same_entries
from .display import show, show_apart
from .feedback import Outcome
from .refusals import NotFinite, Unreadable
from .sampling import Compared, current, surveyed


@dataclass(frozen=True)
class Seen:
    """Where an answer was refuted, what it gave there, and the two sides as they are printed."""

    at: str
    yours: Any
    shown: tuple[str, str] = ("", "")
    compared: Any = None  # the part of it that was compared, where it is a part
    place: tuple[int, int] | None = field(default_factory=lambda: current().place)

    def __post_init__(self) -> None:
        if self.shown[0] and self.shown[0] == self.shown[1]:
            raise ValueError(f"a refutation shows {self.shown[0]} twice")

    def is_where(self, other: Seen) -> bool:
        """Is this the same instance?"""
        if self.place is None and other.place is None:
            return self.at == other.at
        return self.place == other.place

    def is_like(self, other: Seen, not_finite: bool = False) -> bool:
        """The same value too, with a number in it unless `not_finite` is the sign."""
        return same_entries(self.yours, other.yours, not_finite)

    @property
    def is_finite(self) -> bool:
        """Is there a number in what was seen?"""
        array = real_array(self.yours)
        return array is None or not array.size or bool(np.isfinite(array).any())


@dataclass(frozen=True)
class Verdict:
    """What a check function returns; `earned` is None for all points or none of them.

    `pieces` are the verdicts on the parts of an exercise, by their names.
    """

    outcome: Outcome
    says: str = ""
    earned: int | None = None
    seen: Seen | None = None
    pieces: dict[str, Verdict] = field(default_factory=dict)
    line: int | None = None  # of a derivation, the first that is false
    undecided: str = ""  # what no trial decides: the points are given, and a person is told
    place: tuple[int, int] | None = field(
        default_factory=lambda: current().place, compare=False, repr=False
    )  # the case that it was given at


def right(says: str = "", *, undecided: str = "") -> Verdict:
    """The answer passes; `says` tells what was seen (a part of an exercise need not speak).

    Where nothing refutes it and nothing confirms it, `undecided` tells a person what to look at.
    """
    return Verdict(Outcome.RIGHT, says, undecided=undecided)


def wrong(says: str, *, at: str = "", yours: Any = None) -> Verdict:
    """The answer fails; `says` is the counterexample.

    Where a mistake is to be named only if it does the same there, `at` tells the place (any words
    that are the same for everybody who fails there) and `yours` what the answer gave.
    """
    return Verdict(Outcome.WRONG, says, seen=Seen(at, yours) if at else None)


def partly(earned: int, says: str | Verdict) -> Verdict:
    """The answer earns some of the points; `says` tells what is missing, a refutation does too."""
    if isinstance(says, Verdict):
        return replace(says, outcome=Outcome.WRONG, earned=earned)
    return Verdict(Outcome.WRONG, says, earned)


def keeping(earned: int, but: str, rest: Callable[[], Verdict]) -> Verdict:
    """The points so far stay, whatever the rest comes to; `but` begins its sentence.

    `keeping(1, "The numbers are right.", lambda: cost(f))`: a cost that is too high, cannot be
    counted or is not finite still leaves the point for the numbers.
    """
    try:
        verdict = rest()
    except Unreadable as why:
        return replace(partly(earned, _beginning_with(but, str(why))), place=why.place)
    except NotFinite as why:
        verdict = not_finite(why)
    if verdict.outcome is Outcome.RIGHT:
        return verdict
    return replace(
        verdict, earned=verdict.earned or earned, says=_beginning_with(but, verdict.says)
    )


def _beginning_with(but: str, says: str) -> str:
    return says if says.startswith(but) else f"{but} {says}"


def refuted(report: Any) -> Verdict:
    """The verdict on a derivation that does not hold: its first false line."""
    if report.first_false is None:
        raise Unreadable(report.sentence)
    return replace(wrong(report.sentence), line=report.first_false)


def not_finite(why: NotFinite) -> Verdict:
    """The verdict on numbers that are none, where the definition has some."""
    seen = Seen(why.at, why.value, place=why.place)
    return Verdict(Outcome.WRONG, str(why), seen=seen, place=why.place)


def differs(
    expected: Any,
    yours: Any,
    *,
    at: str | Callable[[], str] = "",
    what: str = "the result",
    tolerance: float | None = None,
    whole: Any = None,
    against: Any = None,
) -> Verdict | None:
    """None if the two agree; else the refutation, with the first row or entry that is off.

    `at` is the instance as the beginning of the sentence ("With Q = …"), or a function that gives
    it, for what takes long to write; `what` names the value.
    Where `yours` is a part of what the answer gave, `whole` is all of it, for naming mistakes, and
    `against` all that it should have been, where that is known.
    """
    if (noted := surveyed()) is not None:
        sides = (expected, yours) if against is None else (against, whole)
        noted.append(Compared(*sides, current().place))
        return None
    same = close(expected, yours) if tolerance is None else close(expected, yours, tolerance)
    if same:
        return None
    at = at if isinstance(at, str) else at()
    a, b = real_array(expected), real_array(yours)
    seen = whole if whole is not None else yours if b is None else b
    refutation = partial(_refutation, at, seen=seen, compared=yours)
    if a is None or b is None:
        return refutation(what, show(expected), show(yours))
    if a.shape != b.shape:
        return refutation(f"the shape of {what}", show(a.shape), show(b.shape))
    place, a, b = _first_off(a, b, tolerance)
    what = entry(what, *place) if place else what
    if not np.isfinite(b).all():
        says = f"{what} is not finite: it should be {show(a)}; yours is {show(b)}."
        shown = show(a), show(b)
        return Verdict(Outcome.WRONG, _sentence(at, says), seen=Seen(at, seen, shown, yours))
    return refutation(what, *show_apart(a, b))


def where(words: str, *values: Any) -> Callable[[], str]:
    """For `differs(at=…)`: words with values in them, which are written only if they are needed."""
    return lambda: words.format(*map(show, values))


def repeats(function: FunctionAnswer, *args: Any) -> Verdict | None:
    """A refutation if the same call gives another value the second time, else None."""
    first, second = function(*args), function(*args)
    if alike_where_finite(first, second, or_nowhere=True):
        return None
    was, became = show_apart(first, second)
    says = f"Called twice, {function.call(*args)} is {was} first and {became} then."
    return wrong(says, at="called twice", yours=second)


def keeps_arguments(function: FunctionAnswer, *args: Any) -> Verdict | None:
    """A refutation if the function changes what it is given, else None."""
    given = copy.deepcopy(args)
    function.uncopied(*given)
    for before, after in zip(args, given, strict=True):
        if isinstance(before, np.ndarray) and not np.array_equal(before, after, equal_nan=True):
            was, became = show_apart(before, after)
            says = f"{function.call(*args)} changes its argument {was} into {became}."
            return wrong(f"{says} Work on a copy.", at="arguments", yours=after)
    return None


def _refutation(at: str, what: str, expected: str, given: str, seen: Any, compared: Any) -> Verdict:
    says = _sentence(at, f"{what} should be {expected}; yours is {given}.")
    return Verdict(Outcome.WRONG, says, seen=Seen(at, seen, (expected, given), compared))


def _sentence(at: str, says: str) -> str:
    if at or "[" in says.partition(" ")[0]:  # a name stays as it is
        return f"{at} {says}".strip()
    return f"{says[:1].upper()}{says[1:]}"


MOST = 6  # numbers in a row that is shown whole


def entry(what: str, *place: int) -> str:
    """How a row or an entry of a value is called, counted as in NumPy: `result[0]`."""
    name, index = what.removeprefix("the "), ", ".join(map(str, place))
    return f"{name}[{index}]" if name.isidentifier() else f"entry [{index}] of {what}"


def _first_off(
    a: np.ndarray, b: np.ndarray, tolerance: float | None
) -> tuple[tuple[int, ...], np.ndarray, np.ndarray]:
    """The first row of a matrix that is off, or the first entry of a long row."""
    scale = max(np.abs(a).max(initial=0.0), np.abs(b[np.isfinite(b)]).max(initial=0.0))
    with np.errstate(all="ignore"):
        gap = np.abs(a - b)
        off = ~(gap <= (1e-6 if tolerance is None else tolerance) * scale + 1e-12)
    if a.ndim == 0 or (a.ndim == 1 and a.size <= MOST):
        return (), a, b
    if a.ndim == 2 and a.shape[1] <= MOST:
        i = int(np.argmax(off.any(axis=1)))
        return (i,), a[i], b[i]
    place = np.unravel_index(int(np.argmax(off)), off.shape)
    return tuple(map(int, place)), a[place], b[place]
