"""One slip is charged once: a later answer is judged with the student's own earlier one.

An exercise names what it follows among its facts and takes the earlier answer as a parameter that
may be missing. Where the answer is not right, it is judged again with that one, if it is worth it:

    return following(verdict, "count of exercise 1.2", lambda: judged_with(own))

Junk is not carried on. An array has to be finite, of the right shape, not one number everywhere,
and one of its numbers has to be a true one, wherever it stands; a function or formula has to heed
all that it is given.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from .compare import TOLERANCE, close
from .feedback import Outcome
from .refusals import NotAttempted, NotFinite, Unreadable
from .verdicts import Verdict, right

Refused = (NotAttempted, Unreadable, NotFinite)
FOLLOWS = "This follows from"
FAR_OFF = "The earlier answer is too far off to be carried on."
UNEVEN = np.sin(np.arange(1.0, 401.0))  # added to an argument: nothing stays even


def following(verdict: Verdict, what: str, again: Callable[[], Verdict | None]) -> Verdict:
    """The verdict; or, if it is not right, that it follows from `what`, if `again` says so.

    `again` judges with the student's own earlier answer; None if that is not worth it.
    """
    if verdict.outcome is Outcome.RIGHT:
        return verdict
    try:
        own = again()
    except Refused:
        return verdict
    if own is None or own.outcome is not Outcome.RIGHT:
        return verdict
    return right(f"{FOLLOWS} your {what}, which is not right yet. {own.says}".strip())


def own_array(
    own: np.ndarray | None,
    truth: np.ndarray,
    tolerance: float = TOLERANCE,
    others: Sequence[np.ndarray] = (),
) -> np.ndarray | None:
    """The student's earlier array, if it is wrong and worth to be carried on; else None.

    `others` are true arrays with which it may have been exchanged.
    """
    if own is None or own.shape != truth.shape or not np.isfinite(own).all():
        return None
    within = tolerance * max(1.0, float(np.abs(truth).max(initial=0.0)))
    true = np.concatenate([np.ravel(one) for one in (truth, *others)])
    is_true = np.abs(np.subtract.outer(own.ravel(), true)) <= within
    if (np.abs(own - truth) <= within).all() or (own.size > 1 and np.ptp(own) == 0):
        return None
    return own if is_true.any() else None


def near(
    own: Callable[..., float] | None,
    truth: Callable[..., float],
    points: Iterable[Mapping[str, float]],
) -> Callable[..., float]:
    """A student's earlier count, if it is within a factor of 4 of the true one at these points."""
    if own is None:
        raise NotAttempted
    for point in points:
        if not truth(**point) / 4 <= own(**point) <= 4 * truth(**point):
            raise Unreadable(FAR_OFF)
    return own


def heeds(function: Callable[..., Any], samples: Sequence[Sequence[Any]]) -> bool:
    """Does each argument matter to it, at one of these samples at least?"""
    try:
        return all(_matters(function, samples, place) for place in range(len(samples[0])))
    except Refused:
        return False


def _matters(function: Callable[..., Any], samples: Sequence[Sequence[Any]], place: int) -> bool:
    for sample in samples:
        value = np.asarray(sample[place], dtype=float)
        moved = value + UNEVEN[: value.size].reshape(value.shape)
        other = moved if np.ndim(sample[place]) else float(moved)
        if not close(function(*sample), function(*sample[:place], other, *sample[place + 1 :])):
            return True
    return False
