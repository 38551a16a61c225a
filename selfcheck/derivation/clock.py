"""Time for a line: two seconds of the processor, in a browser and in any thread, too.

What computes in loops of ours asks the clock now and then (`tick`). SymPy does not ask: a step of
its is `guarded`, so that it ends when its time is over, and whatever happens inside costs no more
than that step.
"""

from __future__ import annotations

import functools
import importlib
import signal
import sys
import threading
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
LOOK_EVERY = 0.01  # seconds, where a timer does


class OutOfTime(BaseException):
    """The time is over; no `except Exception` takes it for something else."""


class _Clock:
    ends: float | None = None  # when the time is over, by the processor's clock
    ticks = 0
    watches = True  # but in what looks at the time itself


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
    """What is called inside, SymPy's functions too, ends when the time is over.

    A timer asks every now and then. Where there is none (a browser, Windows, another thread), every
    call does, which takes more than twice as long.
    """
    if not _has_timer():
        with _watched_by_calls():
            yield
    elif signal.getitimer(signal.ITIMER_REAL)[0]:  # we are watching already
        yield
    else:
        signal.signal(signal.SIGALRM, _ring)
        with _deaf_finalizers(lambda: None):
            signal.setitimer(signal.ITIMER_REAL, LOOK_EVERY, LOOK_EVERY)
            try:
                yield
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
                signal.signal(signal.SIGALRM, signal.SIG_DFL)


def _ring(*_: Any) -> None:
    if _Clock.watches and is_up():
        raise OutOfTime


def _has_timer() -> bool:
    """Is there a timer that nobody else uses?"""
    if not hasattr(signal, "setitimer") or sys.platform == "emscripten":
        return False
    if threading.current_thread() is not threading.main_thread():
        return False
    heard = signal.getsignal(signal.SIGALRM)
    is_set = bool(signal.getitimer(signal.ITIMER_REAL)[0])
    return heard is _ring or (heard is signal.SIG_DFL and not is_set)


@contextmanager
def _watched_by_calls() -> Iterator[None]:
    if sys.getprofile() is not None:  # somebody else is watching, or we are already
        yield
        return
    count = 0

    def look(*_: Any) -> None:
        nonlocal count
        count += 1
        if not count % EVERY and is_up():
            raise OutOfTime

    with _deaf_finalizers(lambda: sys.setprofile(look)):
        sys.setprofile(look)
        try:
            yield
        finally:
            sys.setprofile(None)


@contextmanager
def _deaf_finalizers(go_on: Callable[[], None]) -> Iterator[None]:
    """Raised in a finalizer, where nobody hears it, the end of the time is raised again later."""

    def look_on(what: Any) -> None:
        go_on() if isinstance(what.exc_value, OutOfTime) else others(what)

    others, sys.unraisablehook = sys.unraisablehook, look_on
    try:
        yield
    finally:
        sys.unraisablehook = others


@contextmanager
def unwatched() -> Iterator[None]:
    """What is called inside looks at the time itself, by `tick`; nothing else ends it."""
    before, watches = sys.getprofile(), _Clock.watches
    _Clock.watches = False
    sys.setprofile(None)
    try:
        yield
    finally:
        sys.setprofile(before)
        _Clock.watches = watches
