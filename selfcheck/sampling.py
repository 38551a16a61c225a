"""Instances for a check: those for pencil and paper, then corners, then a few that are drawn.

    for Q, K, V in cases(PENCIL, any_queries):
        ...

Corners are those of what the function draws (see corners.py): always the same, in one order. What
is drawn comes from the seed of the call. In notebooks that is one seed, and in a class one for all,
so the same answer has the same verdict.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from itertools import islice
from typing import Any, TypeVar

import numpy as np

from .corners import Plan, Source, corners

Case = TypeVar("Case")
PUBLIC_SEED = 1  # of notebooks
PENCIL = "pencil"  # a kind of case


@dataclass
class Trial:
    """One call of a check: its seed, and the case that it is at (None outside of all cases)."""

    seed: int
    place: tuple[int, int] | None = None
    kind: str = ""  # PENCIL, that of a corner, or none
    loops: int = 0  # loops over cases, so that two of them in one check draw different numbers
    tried: int = 0


@dataclass(frozen=True)
class Compared:
    """Both sides of one comparison of a check, and the case at which it was made."""

    expected: Any
    yours: Any
    place: tuple[int, int] | None


@dataclass
class Replay:
    """One case of a check alone: the one at this place, or another that is made by a plan."""

    place: tuple[int, int]
    plan: Plan | None = None

    def of(self, loop: int, plans: Iterable[Plan]) -> Iterator[tuple[int, Plan]]:
        """What a loop over cases comes to: one case, or none if it is another loop."""
        if loop != self.place[0]:
            return
        at = self.place[1]
        self.plan = self.plan or next(islice(plans, at, None), None)
        if self.plan is not None:
            yield at, self.plan


_REPLAY: ContextVar[Replay | None] = ContextVar("replay", default=None)
_TRIAL: ContextVar[Trial | None] = ContextVar("trial", default=None)
_NOTHING_DRAWN: ContextVar[bool] = ContextVar("nothing_drawn", default=False)
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
def nothing_drawn() -> Iterator[None]:
    """Within, there are only the cases that are the same for all seeds: by pencil and corners.

    What is refuted here is refuted always.
    """
    token = _NOTHING_DRAWN.set(True)
    try:
        yield
    finally:
        _NOTHING_DRAWN.reset(token)


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


@contextmanager
def replaying(replay: Replay | None) -> Iterator[None]:
    """Within, there is this one case alone; all of them if it is None."""
    token = _REPLAY.set(replay)
    try:
        yield
    finally:
        _REPLAY.reset(token)


def surveyed() -> list[Compared] | None:
    """What was noted so far; None where nothing is to be noted."""
    return _SURVEY.get()


def by_pencil() -> bool:
    """Is this a case for pencil and paper, of which every digit is known?"""
    return current().kind == PENCIL


def tried() -> int:
    """How many cases this call has come to so far."""
    return current().tried


def cases(
    pencil: Iterable[Case],
    *draws: Callable[[np.random.Generator], Case],
    fresh: int = 3,
    also: Sequence[Callable[[np.random.Generator], Case]] = (),
) -> Iterator[Case]:
    """The pencil cases in their order, the corners of each function, then cases that they draw.

    At the end `also` draws one case each: what takes long, and has no corners of its own.
    Loop over it as it is: a verdict is known to be about a case while the loop is at that case.
    """
    now = current()
    now.loops += 1
    loop, replay = now.loops, _REPLAY.get()
    plans = _plans(pencil, draws, fresh, also)
    try:
        for place, plan in replay.of(loop, plans) if replay else enumerate(plans):
            case = plan.case()
            now.place, now.kind = (loop, place), plan.kind
            now.tried += 1
            yield case
    finally:
        now.place, now.kind = None, ""


def _plans(
    pencil: Iterable[Case],
    draws: Sequence[Callable[..., Any]],
    fresh: int,
    also: Sequence[Callable[..., Any]],
) -> Iterator[Plan]:
    """How all cases are made, in their order."""
    now = current()
    seed, loop = now.seed, now.loops
    yield from (Plan(PENCIL, draws[0] if draws else None, given=case) for case in pencil)
    for draw in draws:
        yield from corners(draw)
    if _NOTHING_DRAWN.get():
        return
    drawing = [draws[k % len(draws)] for k in range(max(fresh, len(draws)) if draws else 0)]
    for k, draw in enumerate([*drawing, *also]):
        yield Plan("", draw, [seed, loop, k], may_shrink=k < len(drawing))


def sizes(rng: np.random.Generator, count: int, low: int = 1, high: int = 40) -> list[int]:
    """As many sizes, all different, small ones as likely as large ones."""
    if isinstance(rng, Source):
        return rng.draw_sizes(count, low, high)
    there_are = np.arange(low, high + 1)
    weights = 1 / there_are
    return [int(n) for n in rng.choice(there_are, count, replace=False, p=weights / weights.sum())]


def numbers(rng: np.random.Generator, *shape: int, largest: float = 2.0) -> np.ndarray:
    """Numbers of few digits up to `largest`, either sign; some are 0 and some occur twice."""
    if isinstance(rng, Source):
        return rng.shaped(numbers(rng.spawned(), *shape, largest=largest), -largest, largest)
    drawn = rng.uniform(-1, 1, shape).round(2)
    drawn[rng.random(shape) < 0.1] = 0.0
    if drawn.size > 2 and rng.random() < 0.5:
        drawn.flat[rng.integers(drawn.size)] = drawn.flat[rng.integers(drawn.size)]
    return drawn * largest


def magnitude(rng: np.random.Generator, low: float = 1e-3, high: float = 1e3) -> float:
    """A power of ten between two others."""
    least, most = (round(float(np.log10(end))) for end in (low, high))
    return float(10.0 ** rng.integers(least, most + 1))
