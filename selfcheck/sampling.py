"""Instances for a check: those for pencil and paper first, then some that are drawn anew each call.

    for Q, K, V in cases(PENCIL, lambda rng: draw(rng, *sizes(rng, 3))):
        ...

A call of an exercise has one seed, and all that is drawn in it comes from that seed. A verdict at
an instance that was drawn carries the seed; the card shows it, and the next call begins with it.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np

Case = TypeVar("Case")
LARGEST_SEED = 99_999  # five digits are easy to copy


@dataclass
class Trial:
    """One call of a check: its seed, and the case that it is at (None outside of all cases)."""

    seed: int
    place: tuple[int, int] | None = None
    fresh: bool = False
    loops: int = 0  # loops over cases, so that two of them in one check draw different numbers


@dataclass(frozen=True)
class Compared:
    """Both sides of one comparison of a check, and the case at which it was made."""

    expected: Any
    yours: Any
    place: tuple[int, int] | None


class FreshCases:
    """How many fresh cases there were so far, in all trials."""

    count = 0


_TRIAL: ContextVar[Trial | None] = ContextVar("trial", default=None)
_SURVEY: ContextVar[list[Compared] | None] = ContextVar("survey", default=None)


@contextmanager
def trial(seed: int) -> Iterator[Trial]:
    """Within, everything is drawn from this seed."""
    token = _TRIAL.set(Trial(seed))
    try:
        yield current()
    finally:
        _TRIAL.reset(token)


def current() -> Trial:
    """The trial that is going on; outside of one everything is drawn from seed 0."""
    return _TRIAL.get() or Trial(0)


@contextmanager
def surveying() -> Iterator[list[Compared]]:
    """Within, a check refutes nothing: it notes both sides of what it compares, at all its cases.

    So the grader learns how a wrong answer misses, beyond the first place where it does.
    """
    noted: list[Compared] = []
    token = _SURVEY.set(noted)
    try:
        yield noted
    finally:
        _SURVEY.reset(token)


def surveyed() -> list[Compared] | None:
    """What was noted so far; None where nothing is to be noted."""
    return _SURVEY.get()


def refuting_seed() -> int | None:
    """The seed, if the case at hand was drawn from it."""
    now = current()
    return now.seed if now.fresh else None


def new_seed() -> int:
    """A seed that nobody can foresee."""
    return int(np.random.default_rng().integers(1, LARGEST_SEED + 1))


def cases(
    pencil: Iterable[Case],
    *draws: Callable[[np.random.Generator], Case],
    fresh: int = 6,
    ahead: Callable[[list[Case]], None] | None = None,
) -> Iterator[Case]:
    """The pencil cases in their order, then fresh ones, which the given functions draw in turn.

    Loop over it as it is: a verdict is known to be about a case while the loop is at that case.
    `ahead` is told the first, and then all others, since an answer that passes one is asked them.
    """
    now = current()
    now.loops += 1
    loop = now.loops
    every = _every(pencil, draws, fresh, now.seed, loop)
    if ahead:
        every = itertools.chain(
            _announced(itertools.islice(every, 1), ahead), _announced(every, ahead)
        )
    try:
        for place, (case, is_fresh) in enumerate(every):
            now.place, now.fresh = (loop, place), is_fresh
            FreshCases.count += is_fresh
            yield case
    finally:
        now.place, now.fresh = None, False


def _every(
    pencil: Iterable[Case], draws: Sequence[Callable[..., Any]], fresh: int, seed: int, loop: int
) -> Iterator[tuple[Case, bool]]:
    """All cases, and whether they were drawn."""
    yield from ((case, False) for case in pencil)
    if surveyed() is not None:
        fresh = min(fresh, len(draws))  # one of each kind tells enough
    for k in range(fresh if draws else 0):
        yield draws[k % len(draws)](np.random.default_rng([seed, loop, k])), True


def _announced(
    rest: Iterator[tuple[Case, bool]], ahead: Callable[[list[Case]], None]
) -> Iterator[tuple[Case, bool]]:
    """The same cases, once it was told which they are."""
    known = list(rest)
    ahead([case for case, _ in known])
    yield from known


def sizes(rng: np.random.Generator, count: int, low: int = 1, high: int = 40) -> list[int]:
    """As many sizes, all different, small ones as likely as large ones."""
    there_are = np.arange(low, high + 1)
    weights = 1 / there_are
    return [int(n) for n in rng.choice(there_are, count, replace=False, p=weights / weights.sum())]


def numbers(rng: np.random.Generator, *shape: int, largest: float = 2.0) -> np.ndarray:
    """Numbers of few digits up to `largest`, either sign; some are 0 and some occur twice."""
    drawn = rng.uniform(-1, 1, shape).round(2)
    drawn[rng.random(shape) < 0.1] = 0.0
    if drawn.size > 2 and rng.random() < 0.5:
        drawn.flat[rng.integers(drawn.size)] = drawn.flat[rng.integers(drawn.size)]
    return drawn * largest


def magnitude(rng: np.random.Generator, low: float = 1e-3, high: float = 1e3) -> float:
    """A power of ten between two others."""
    exponents = np.log10([low, high])
    return float(10.0 ** rng.integers(round(exponents[0]), round(exponents[1]) + 1))
