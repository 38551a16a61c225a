"""Calls of students' functions: what goes in is copied, what goes wrong becomes a sentence.

The grader's functions live in another process; a check need not know.
"""

from __future__ import annotations

import contextlib
import inspect
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from itertools import takewhile
from typing import TYPE_CHECKING, Any

import numpy as np

from . import counted_numpy  # noqa: F401  (before students take functions out of NumPy)
from .blanks import has_blank
from .compare import SINGLE, alike, as_array, close, real_array, same_entries
from .display import MOST_SHOWN, in_words, show, show_apart
from .encoding import NotPlain, WireError, as_argument, as_received, copied, plain_copy
from .raised import usual_cause, where_it_stopped
from .refusals import NotAttempted, NotFinite, OtherNumbers, TooManySteps, Unreadable
from .reserved import ReservedFunction, lent, students_code
from .sampling import current, surveyed
from .time_limit import SECONDS, TooLong, with_time_limit

if TYPE_CHECKING:
    from .meter import Meter

STOPPED = f"was stopped after {SECONDS:g} seconds of computing. Does one of its loops never end?"


@dataclass
class Call:
    """One call of a student's function: with what, and what came of it."""

    name: str
    args: tuple[Any, ...]
    result: Any = None

    def gave(self, value: Any) -> bool:
        """Is this its result, or one of several that it returned?"""
        parts = self.result if isinstance(self.result, tuple | list) else ()
        every = (self.result, *parts[:4])
        return any(same_entries(one, value, or_nowhere=True) for one in every if one is not None)


_NOTED: ContextVar[list[Call] | None] = ContextVar("noted calls", default=None)
MOST_NOTED = 1000  # calls


@contextlib.contextmanager
def noting_calls() -> Iterator[list[Call]]:
    """Within, the calls of students' functions are noted, the last of them at least."""
    noted: list[Call] = []
    token = _NOTED.set(noted)
    try:
        yield noted
    finally:
        _NOTED.reset(token)


def _noted(name: str, args: tuple[Any, ...]) -> Call:
    call, noted = Call(name, args), _NOTED.get()
    if noted is not None:
        del noted[: max(len(noted) - MOST_NOTED, 0)]
        noted.append(call)
    return call


def _noting(function: Any, name: str) -> Any:
    """The function itself, or one that notes its calls, with copies of what it was given."""
    if _NOTED.get() is None or function is None:
        return function

    def run(*args: Any) -> Any:
        call = _noted(name, tuple(map(copied, args)))
        result = function(*args)
        call.result = copied(result)
        return result

    return run


class FunctionAnswer:
    """A student's function behind glass: it gets copies of its inputs, its errors become words."""

    may_return_none = False
    is_noted = True

    def __init__(
        self, function: Callable[..., Any], name: str, runs: Sequence[Callable[..., Any]] = ()
    ) -> None:
        self.function, self.name = function, name
        self.runs = tuple(runs) or (function,)  # whose code it is

    def __call__(self, *args: Any) -> Any:
        if self.is_far:  # what crosses to it and back is a copy
            return self._run(args, args)
        return self._run(tuple(map(as_argument, args)), args)

    @property
    def is_far(self) -> bool:
        """Does the function live in another process?"""
        return hasattr(self.function, "home_of_stand_in")

    def uncopied(self, *args: Any) -> Any:
        """A call with these very objects, to see what becomes of them; the result as it is."""
        return self._run(args, args, crossing=False)

    def _run(self, given: tuple[Any, ...], args: tuple[Any, ...], crossing: bool = True) -> Any:
        """One call; sentences show `args`, which stay as they are."""
        call = Call(self.name, args)
        if self.is_noted and _NOTED.get() is not None:
            call = _noted(self.name, args if crossing else copied(args))
        try:
            if self.is_far:
                result = self.function(*given)
            else:
                # verdicts come from values, never from warnings
                with (
                    np.errstate(all="ignore"),
                    students_code(*self.runs),
                    with_time_limit(self.function),
                ):
                    result = self.function(*map(lent, given))
                if crossing:
                    with contextlib.suppress(NotPlain):
                        call.result = plain_copy(result)
                        return call.result  # nothing in it is blank
                    result = as_received(result)
        except (NotAttempted, KeyboardInterrupt):
            raise
        except ReservedFunction as why:
            raise Unreadable(str(why)) from None
        except TooLong:
            raise Unreadable(f"{self.call(*args)} {STOPPED}") from None
        except WireError as why:
            raise Unreadable(f"What {self.call(*args)} returned cannot be judged: {why}.") from None
        except BaseException as error:  # SystemExit too
            reason = re.sub(r"[\w.]+\.<locals>\.", "", in_words(error))
            reason = reason.replace("<lambda>", self.name).rstrip(".")
            says = f"{self.call(*args)} raised {reason}."
            about = where_it_stopped(error, self.runs), usual_cause(error)
            raise Unreadable(" ".join([says, *filter(None, about)])) from None
        if has_blank(result):
            raise NotAttempted
        if result is None and not self.may_return_none:
            raise Unreadable(f"{self.call(*args)} returned nothing; is a return missing?")
        call.result = copied(result) if crossing and not self.is_far else result
        return call.result

    def call(self, *args: Any) -> str:
        """How this call looks in a sentence."""
        shown = [text if len(text := _code(arg)) <= 200 else show(arg, depth=1) for arg in args]
        return f"{self.name}({', '.join(shown)})"

    def array(self, *args: Any, shape: tuple[int, ...], finite: bool = True) -> np.ndarray:
        """The result as an array of this shape; what is not finite is wrong, as `NotFinite`."""
        result = self(*args)
        array = real_array(result)
        if array is None or array.shape != tuple(shape):
            return as_array(result, shape, self.call(*args))  # which says what is wrong
        if finite and surveyed() is None and not np.isfinite(array).all():
            at = ", ".join(show(arg) for arg in args)
            says = f"{self.call(*args)} is not finite: {_where_not(array)}."
            raise NotFinite(says, at, array)
        return array

    def metered(self, *args: Any, like: Callable[..., Any], most_steps: float = math.inf) -> Meter:
        """What one call costs, for a function whose numbers were found right before.

        The inputs are drawn anew around the given ones, and on them the numbers have to be those
        of the function `like`: a result that was not computed from the metered arrays cannot be.
        """
        from .meter import Meter, NotCounted, measured  # few checks count: loaded for these

        if surveyed() is not None:
            raise Unreadable("A survey is about values, not about costs.")
        m = Meter()
        m.most_steps = most_steps
        args = tuple(map(_nudged, args))
        given = args if self.is_far else tuple(map(lent, args))
        _noted(self.name, args)
        try:
            with students_code(*self.runs), with_time_limit(self.function, times=3):
                measured(m, self.function, given, {}, reached="made")
        except ReservedFunction as reason:
            raise Unreadable(str(reason)) from None
        except TooLong:
            raise TooManySteps(f"{self.name} took too long to be counted.") from None
        except NotCounted as refusal:
            if m.steps > m.most_steps:
                raise TooManySteps(str(refusal)) from None
            raise Unreadable(str(refusal)) from None
        except Exception as error:
            raise Unreadable(f"On metered arrays {self.name} raised {in_words(error)}.") from None
        wanted = like(*args)
        if not alike(m.result, wanted, SINGLE):
            if not alike(found := self(*args), wanted, SINGLE):
                raise OtherNumbers(_first_difference(found, wanted))
            raise Unreadable(
                f"On metered arrays {self.name} gives other numbers than on plain ones."
            )
        return m


def _code(value: Any) -> str:
    """As it is typed: an array is no list."""
    plain = type(value) is np.ndarray and value.ndim and value.size <= MOST_SHOWN
    return f"np.array({show(value)})" if plain else show(value)


def _where_not(array: np.ndarray) -> str:
    """`result[1] is [nan, 1]`: the first place that is not finite."""
    if array.ndim < 2 and array.size <= 6:
        return f"it is {show(array)}"
    off = ~np.isfinite(array)
    if array.ndim == 2 and array.shape[1] <= 6:
        i = int(np.argmax(off.any(axis=1)))
        return f"result[{i}] is {show(array[i])}"
    place = np.unravel_index(int(np.argmax(off)), array.shape)
    return f"result[{', '.join(map(str, place))}] is {show(array[place])}"


def _nudged(value: Any) -> Any:
    """An array of floats, each by up to a half more or less; anything else as it is."""
    if not isinstance(value, np.ndarray) or value.dtype.kind != "f":
        return value
    rng = np.random.default_rng([current().seed, value.size])
    return value * rng.uniform(0.5, 1.5, value.shape)


def _first_difference(found: Any, wanted: Any) -> str:
    """A sentence about the first number that is not as it should be."""
    says = "On fresh inputs of the same kind the result is not right"
    mine, true = real_array(found), real_array(wanted)
    if mine is None or true is None or mine.shape != true.shape:
        return f"{says}."
    place = next(i for i in np.ndindex(true.shape) if not close(mine[i], true[i]))
    where = f"result[{', '.join(map(str, place))}]" if place else "it"
    shown = show_apart(mine[place], true[place])
    return f"{says}: {where} is {shown[0]}, and should be {shown[1]}."


def in_a_row(
    initial: FunctionAnswer | None,
    step: FunctionAnswer,
    start: Any,
    tokens: Sequence[Sequence[Any]],
    given: Sequence[Any] = (),
) -> list[Any]:
    """All outputs of `state, y = step(*given, state, *token)`, nothing copied between the calls.

    So it is in a student's own loop, and a state that is shared or changed in place shows. The
    first state is `initial(*start)`, or `start` where there is no such function. Where the
    functions live in another process, the loop runs there.
    """
    loop = getattr(step.function, "in_a_row", in_a_row_here)
    both = initial and initial.function, step.function
    own = [function for function in both if function]
    noted = _noting(both[0], initial.name if initial else ""), _noting(both[1], step.name)
    answer = _Loop(lambda: loop(*noted, start, tokens, given), step.name, runs=own)
    outputs: list[Any] = answer()
    return outputs


class _Loop(FunctionAnswer):
    """A loop over calls of a function, of which one may fail."""

    is_noted = False

    def call(self, *_: Any) -> str:
        return f"{self.name}(…)"


def in_a_row_here(initial: Any, step: Any, start: Any, tokens: Any, given: Any = ()) -> list[Any]:
    """The loop itself."""
    state, outputs = initial(*start) if initial else copied(start), []
    for token in tokens:
        result = step(*given, state, *map(copied, token))
        if not isinstance(result, tuple | list) or len(result) != 2:
            raise TypeError("it should return two things, the new state and what comes out")
        state, y = result
        outputs.append(copied(y))
    return outputs


def line_at(line: Callable[..., Any], quantities: Mapping[str, Any], name: str = "A line") -> Any:
    """The value of a line of `Steps`, which names the quantities that it uses."""
    return FunctionAnswer(line, name)(*_used(line, quantities))


def _used(line: Callable[..., Any], quantities: Mapping[str, Any]) -> list[Any]:
    """What is handed over: what comes behind has a default, and is the line's own affair."""
    return [quantities[name] for name in takewhile(quantities.__contains__, parameters(line))]


def parameters(line: Callable[..., Any]) -> Iterable[str]:
    """The names that a line asks for; what a `*rest` would take, nobody hands over."""
    rest = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return [p.name for p in inspect.signature(line).parameters.values() if p.kind not in rest]
