"""Does a verdict depend on luck? Which corners of its inputs a check tries: always, now or never.

The right answer of the solution is wrapped, and what it is called with is looked at, with several
class secrets. A corner that is tried with some of them only is one of luck. One that is never tried
has a reason among the facts of its exercise (`never` in its unit's file):

    never."a negative" = "Masses are not negative."

Then come the answers that people write who treat a corner by itself: the right answer, but a known
mistake where the corner holds. Each of these is refuted always, or is right there as well.
"""

from __future__ import annotations

import contextlib
import functools
import inspect
import io
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from selfcheck.compare import alike_where_finite, close
from selfcheck.exercises import Exercise
from selfcheck.facts import facts_beside, read_facts
from selfcheck.files import CourseError
from selfcheck.meter import MeteredArray
from selfcheck.sampling import surveying

from . import audit

SECRETS = 10
ROUNDING = 1e-4  # what checks allow at most
Arrays = list[np.ndarray]


def _arrays(args: Sequence[Any]) -> Iterator[np.ndarray]:
    """The arrays of numbers among the arguments, also inside of lists."""
    for value in args:
        if isinstance(value, np.ndarray) and value.dtype.kind in "fiu" and value.ndim:
            yield value
        elif isinstance(value, list | tuple):
            plain = value and all(isinstance(x, int | float) for x in value)
            yield from [np.array(value)] if plain else _arrays(value)


def _rows(arrays: Arrays) -> list[int]:
    return [len(x) for x in arrays]


def _sizes(arrays: Arrays) -> Iterator[np.ndarray]:
    """The magnitudes of the finite numbers of each array."""
    for x in arrays:
        sizes = np.abs(x[np.isfinite(x)])
        if sizes.size:
            yield sizes


def _tables(arrays: Arrays) -> Arrays:
    return [x for x in arrays if x.ndim > 1]


def _twice(rows: Any) -> bool:
    return len(np.unique(rows, axis=0)) < len(rows)


FACTS: dict[str, Callable[[Arrays], bool]] = {
    "one row": lambda a: 1 in _rows(a),
    "two rows": lambda a: 2 in _rows(a),
    "more than 16 rows": lambda a: max(_rows(a)) > 16,
    "more than 40 rows": lambda a: max(_rows(a)) > 40,
    "more than 64 rows": lambda a: max(_rows(a)) > 64,
    "a square array": lambda a: any(x.shape[-1] == x.shape[-2] for x in _tables(a)),
    "one column": lambda a: any(x.shape[-1] == 1 for x in _tables(a)),
    "wide": lambda a: any(x.shape[-1] > x.shape[-2] for x in _tables(a)),
    "tall": lambda a: any(x.shape[-1] < x.shape[-2] for x in _tables(a)),
    "entries of 100 or more": lambda a: any(m.max() >= 100 for m in _sizes(a)),
    "all entries below 0.01": lambda a: any(0 < m.max() < 0.01 for m in _sizes(a)),
    "large beside small": lambda a: any(m.max() >= 100 and m.min() <= 1 for m in _sizes(a)),
    "a zero": lambda a: any((x == 0).any() for x in a),
    "all zero": lambda a: any(x.size and not x.any() for x in a),
    "a negative": lambda a: any((x < 0).any() for x in a),
    "repeated entries": lambda a: any(_twice(x) for x in a if x.ndim == 1),
    "repeated rows": lambda a: any(_twice(x) for x in a if x.ndim == 2),
    "arrays alike in shape": lambda a: len(a) > 1 and len({x.shape for x in a}) == 1,
    "first two of equal length": lambda a: len(a) > 1 and len(a[0]) == len(a[1]),
}
NEEDS: dict[str, Callable[[Arrays], bool]] = {  # else a corner does not even make sense
    **dict.fromkeys(
        ["a square array", "one column", "wide", "tall", "repeated rows"],
        lambda a: bool(_tables(a)),
    ),
    "repeated entries": lambda a: any(x.ndim == 1 for x in a),
    **dict.fromkeys(["arrays alike in shape", "first two of equal length"], lambda a: len(a) > 1),
}


@dataclass
class Tried:
    """Of one exercise, how many of the secrets came to a corner, and which of them make sense."""

    exercise: Exercise
    hits: Counter[str] = field(default_factory=Counter)
    sensible: set[str] = field(default_factory=set)

    @property
    def lucky(self) -> list[str]:
        """The corners that some secrets come to and others do not."""
        return [name for name in FACTS if 0 < self.hits[name] < SECRETS]

    @property
    def never(self) -> list[str]:
        """The corners that none comes to, as far as they make sense."""
        return [name for name in FACTS if name in self.sensible and not self.hits[name]]


def tried(exercise: Exercise, answers: Sequence[Any]) -> Tried:
    """What the functions of a right answer are called with, secret by secret."""
    found = Tried(exercise)
    for secret in range(1, SECRETS + 1):
        seen: set[str] = set()
        exercise.seed = secret
        try:
            exercise.judged(
                *(_watched(a, seen, found.sensible) if callable(a) else a for a in answers)
            )
        finally:
            exercise.seed = None
        found.hits.update(seen)
    return found


def _watched(function: Callable[..., Any], seen: set[str], sensible: set[str]) -> Any:
    @functools.wraps(function)
    def watched(*args: Any, **named: Any) -> Any:
        if arrays := list(_arrays([*args, *named.values()])):
            seen.update(name for name, holds in FACTS.items() if holds(arrays))
            sensible.update(name for name in FACTS if NEEDS.get(name, bool)(arrays))
        return function(*args, **named)

    return watched


def special(
    right: Callable[..., Any], other: Callable[..., Any], holds: Callable[[Arrays], bool]
) -> tuple[Callable[..., Any], list[bool]]:
    """The right answer, but the other one where a corner holds; and whether the two ever differ."""
    differ: list[bool] = []

    @functools.wraps(right)
    def mixed(*args: Any) -> Any:
        arrays = list(_arrays(args))
        if not arrays or not holds(arrays):
            return right(*args)
        if any(isinstance(x, MeteredArray) for x in arrays):
            return other(*args)  # to compare would be counted
        with contextlib.suppress(Exception):
            mine = other(*args)
            if not alike_where_finite(mine, right(*args), or_nowhere=True):
                differ.append(True)
            return mine
        differ.append(True)
        return None

    return mixed, differ


def specials(exercise: Exercise, answers: Sequence[Any]) -> Iterator[tuple[str, float, bool]]:
    """Answers that treat a corner by itself: name, how often they pass, and if they are wrong."""
    names = [*exercise.kinds]
    for known in exercise.misconceptions:
        for k, (right, other) in enumerate(zip(answers, known.example, strict=False)):
            if not (callable(right) and callable(other)) or names[k] in exercise.optional:
                continue
            for corner, holds in FACTS.items():
                mixed, differ = special(right, other, holds)
                given = [*answers[:k], mixed, *answers[k + 1 :]]
                share = audit.how_often(exercise, given, SECRETS)
                is_wrong = bool(differ) and (share < 1 or _compared_unlike(exercise, given))
                yield f"{known.name}, where there is {corner}", share, is_wrong


def _compared_unlike(exercise: Exercise, answers: Sequence[Any]) -> bool:
    """Does the check compare values that are not alike, or none? Else it is right there as well.

    What a function returns is not always what is compared: keys and queries may be many.
    """
    with surveying() as noted:
        exercise.judged(*answers)
    return not noted or not all(close(c.expected, c.yours, ROUNDING) for c in noted)


def run(root: Path, stems: Sequence[str]) -> int:
    """The command: the table, what is by luck, and what is never tried and has no reason."""
    open_ = 0
    print(f"{'exercise':32} always  by luck  never, for a reason")
    for stem in stems:
        for exercise, answers in functions(root, stem):
            found = tried(exercise, answers)
            reasons = reasons_of(exercise)
            always = sum(found.hits[name] == SECRETS for name in FACTS)
            print(
                f"{exercise.number + ' ' + exercise.name:32} {always:6} {len(found.lucky):8} "
                f"{len(found.never):6}",
                flush=True,
            )
            for name in found.lucky:
                open_ += 1
                print(f"    by luck: {name}")
            for name in found.never:
                open_ += name not in reasons
                print(f"    never {name}: {reasons.get(name, 'WHY?')}")
            passing = [(n, s) for n, s, is_wrong in specials(exercise, answers) if is_wrong and s]
            for name, share in passing:
                open_ += 1
                print(f"    right with {share:.0%} of {SECRETS} secrets: {name}")
    print(f"{open_} open.")
    return 1 if open_ else 0


def functions(root: Path, stem: str) -> Iterator[tuple[Exercise, Sequence[Any]]]:
    """The exercises of a unit that ask for functions, each with the solution's answers."""
    with contextlib.redirect_stdout(io.StringIO()):
        every = list(audit.right_answers(root, stem))
    for exercise, name, answers in every:
        if name == "solution" and any(callable(a) for a in answers):
            yield exercise, answers


def reasons_of(exercise: Exercise) -> Mapping[str, str]:
    """Why corners are never tried, as the facts of the exercise have it."""
    file = facts_beside(str(inspect.unwrap(exercise.check).__globals__.get("__file__", "")))
    for facts in read_facts(file) if file.exists() else ():
        if facts.name == exercise.name:
            if unknown := {*facts.never} - {*FACTS}:
                raise CourseError(f"{file}: {exercise.name} has no corner {sorted(unknown)[0]!r}.")
            return facts.never
    return {}
