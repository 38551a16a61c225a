"""Time for a line: two seconds of the processor, without threads and without signals.

What computes in loops of ours asks the clock now and then (`tick`). SymPy does not ask: a step of
its is `guarded`, so that it ends when its time is over, and whatever happens inside costs no more
than that step. This works in a browser, and in any thread.
"""

from __future__ import annotations

import functools
import importlib
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from time import process_time
from typing import Any, TypeVar

Found = TypeVar("Found")

LINE = 2.0  # seconds of the processor for a line
COLUMN = 0.6  # of them for the values of one expression at all instances
STEP = 0.5  # of them for a step that may be left out
PROOF = 1.2  # of them for all rungs of the ladder of proofs
EVERY = 32  # ticks or calls, after which the time is looked at


class OutOfTime(BaseException):
    """The time is over; no `except Exception` takes it for something else."""


class _Clock:
    ends: float | None = None  # when the time is over, by the processor's clock
    ticks = 0


def is_up() -> bool:
    """Whether the time of the line, or of this part of it, is over."""
    return _Clock.ends is not None and process_time() > _Clock.ends


def tick() -> None:
    """To be called in every loop that may be long."""
    _Clock.ticks += 1
    if not _Clock.ticks % EVERY and is_up():
        raise OutOfTime


@contextmanager
def at_most(seconds: float, anew: bool = False) -> Iterator[None]:
    """No more than this for what is done inside, nor (but `anew`) than is left around it."""
    before, ends = _Clock.ends, process_time() + seconds
    _Clock.ends = ends if before is None or anew else min(before, ends)
    try:
        yield
    finally:
        _Clock.ends = before


def guarded(step: Callable[[], Found], otherwise: Found, seconds: float = STEP) -> Found:
    """What a step finds out; `otherwise` if it fails or its time is over."""
    with at_most(seconds):
        try:
            with watched():
                return step()
        except (Exception, OutOfTime):
            return otherwise


@functools.cache
def load_simplify() -> None:
    """What SymPy loads when it first simplifies or solves: not at the expense of that step."""
    start = process_time()
    with unwatched():
        for name in ("combinatorics", "physics.units", "tensor.tensor", "sets.setexpr"):
            importlib.import_module(f"sympy.{name}")
    if _Clock.ends is not None:
        _Clock.ends += process_time() - start


@contextmanager
def watched() -> Iterator[None]:
    """What is called inside, SymPy's functions too, ends when the time is over."""
    if sys.getprofile() is not None:  # somebody else is watching, or we are already
        yield
        return
    count = 0

    def look(*_: Any) -> None:
        nonlocal count
        count += 1
        if not count % EVERY and is_up():
            raise OutOfTime

    def look_on(what: Any) -> None:
        if isinstance(what.exc_value, OutOfTime):  # raised in a finalizer, where nobody hears it
            sys.setprofile(look)
        else:
            others(what)

    others, sys.unraisablehook = sys.unraisablehook, look_on
    sys.setprofile(look)
    try:
        yield
    finally:
        sys.setprofile(None)
        sys.unraisablehook = others


@contextmanager
def unwatched() -> Iterator[None]:
    """What is called inside looks at the time itself, by `tick`, and is faster for it."""
    before = sys.getprofile()
    sys.setprofile(None)
    try:
        yield
    finally:
        sys.setprofile(before)
