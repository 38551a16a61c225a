"""The case that refuted an answer, made small: arguments on which the function can be run.

A check is run once more at that case alone, and its calls of the student's functions are noted. No
verdict and no points depend on what comes out here.
"""

from __future__ import annotations

import inspect
import io
import time
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from .calls import STOPPED, Call, FunctionAnswer, noting_calls
from .corners import Plan
from .encoding import copied
from .feedback import Outcome
from .files import CourseError
from .sampling import Replay, replaying
from .smaller import in_words, smaller
from .verdicts import Verdict

if TYPE_CHECKING:
    from .exercises import Exercise

SECONDS = 2.0  # of computing, after which no smaller case is looked for
LARGEST = 60  # numbers of an array that is printed whole


class Case(tuple[Any, ...]):
    """The arguments of one call, to be handed on as they are: `f(*case)`."""

    names: tuple[str, ...]

    def __new__(cls, args: tuple[Any, ...], names: tuple[str, ...]) -> Case:
        made = super().__new__(cls, args)
        made.names = names
        return made

    def __repr__(self) -> str:
        return "\n".join(
            f"{name} = {as_python(value, f'case()[{i}]')}"
            for i, (name, value) in enumerate(zip(self.names, self, strict=True))
        )

    def copy(self) -> Case:
        """The same with arguments of its own, which may be changed."""
        return Case(tuple(map(copied, self)), self.names)


def as_python(value: Any, otherwise: str = "") -> str:
    """The value as it can be typed; what is too long by its shape, and where it is."""
    if isinstance(value, np.ndarray):
        if value.size <= LARGEST:
            return f"np.array({_literal(value.tolist())})"
        return f"{otherwise}  # an array of shape {value.shape}"
    if isinstance(value, np.generic):
        return _literal(value.item())
    if isinstance(value, list | tuple | dict | int | float | str | bool) or value is None:
        text = _literal(value)
        return text if len(text) <= 400 else f"{otherwise}  # {type(value).__name__}"
    name = getattr(value, "__name__", type(value).__name__)
    return f"{otherwise}  # {name}"


def _literal(value: Any) -> str:
    """As `repr`, with whole floats and arrays in lists as short as they can be read."""
    if isinstance(value, np.ndarray):
        return as_python(value)
    if isinstance(value, list):
        return f"[{', '.join(map(_literal, value))}]"
    if isinstance(value, tuple):
        return f"({', '.join(map(_literal, value))}{',' * (len(value) == 1)})"
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float) and not np.isfinite(value):
        return {"inf": "np.inf", "-inf": "-np.inf"}.get(repr(value), "np.nan")
    return repr(value)


class NoCase(CourseError):
    """There is no case to be had; the sentence says why."""

    def _render_traceback_(self) -> list[str]:
        return [f"No case: {self}"]


@dataclass(frozen=True)
class Counterexample:
    """Where an answer was refuted: the calls there, what is special, and the verdict there."""

    part: str
    cases: dict[str, Case]  # by the name of the student's function; the refuted one comes first
    words: str
    verdict: Verdict
    is_sure: bool  # is it the first of them whose value was refuted?


def counterexample(
    exercise: Exercise, answers: dict[str, Any], part: str, verdict: Verdict, seed: int
) -> Counterexample | None:
    """The smallest case that refutes the answer as this verdict does, if there is a call in it."""
    functions = {a.name: a for a in answers.values() if isinstance(a, FunctionAnswer)}
    if not functions or any(f.is_far for f in functions.values()) or not _is_refutation(verdict):
        return None
    end = time.process_time() + SECONDS

    def replayed(replay: Replay | None) -> tuple[Verdict, list[Call]]:
        quiet = io.StringIO()  # what is printed was seen when it ran first
        silent = redirect_stdout(quiet), redirect_stderr(quiet)
        with silent[0], silent[1], noting_calls() as calls, replaying(replay):
            return exercise.again(answers, part, seed), list(calls)

    replay = Replay(verdict.place) if verdict.place else None
    again, calls = replayed(replay)
    is_alone = _alike(again, verdict) and again.says == verdict.says
    if replay and not is_alone:  # what the check says depends on other cases, too
        replay = None
        again, calls = replayed(None)
    if not _alike(again, verdict):  # it depends on what was called before, or on chance
        return None
    at = again

    def refutes(plan: Plan) -> bool:
        if time.process_time() > end or verdict.place is None:
            return False
        other = replayed(Replay(verdict.place, plan))[0]
        return _alike(other, at) and (other.earned or 0) == (at.earned or 0)

    plan = replay.plan if replay else None
    if plan is not None and verdict.place and (found := smaller(plan, refutes)) is not plan:
        plan = found
        again, calls = replayed(Replay(verdict.place, plan))
    else:
        again = verdict
    is_known = plan is not None and time.process_time() < end  # were ordinary cases tried?
    return _told(part, functions, calls, again, plan.kind if plan and is_known else "")


def _told(
    part: str, functions: dict[str, FunctionAnswer], calls: list[Call], verdict: Verdict, kind: str
) -> Counterexample | None:
    found, is_sure = _refuting(calls, verdict)
    if found is None:
        return None
    last = {call.name: call for call in calls}
    ordered = {found.name: found} | {name: c for name, c in last.items() if name != found.name}
    cases = {
        name: Case(tuple(map(copied, call.args)), _names(functions.get(name), len(call.args)))
        for name, call in ordered.items()
    }
    first = cases[found.name]
    words = in_words(kind, dict(zip(first.names, first, strict=True)))
    return Counterexample(part, cases, words, verdict, is_sure or len(cases) == 1)


def _is_refutation(verdict: Verdict) -> bool:
    if verdict.outcome is Outcome.UNCHECKED:  # an endless loop is not run again
        return (
            not verdict.says.startswith("The check itself failed") and STOPPED not in verdict.says
        )
    return verdict.outcome is Outcome.WRONG


def _alike(again: Verdict, verdict: Verdict) -> bool:
    """Is it refuted in the same way, at the same place?"""
    same = again.outcome is verdict.outcome and again.place == verdict.place
    return same and _is_refutation(again)


def _refuting(calls: list[Call], verdict: Verdict) -> tuple[Call | None, bool]:
    """The call whose value was refuted, where that can be told; else the last one, not surely."""
    seen = verdict.seen
    for value in (seen.yours, seen.compared) if seen else ():
        if value is not None:
            for call in reversed(calls):
                if call.gave(value):
                    return call, True
    raised = verdict.outcome is Outcome.UNCHECKED
    return (calls[-1], raised) if calls else (None, False)


def _names(function: FunctionAnswer | None, count: int) -> tuple[str, ...]:
    """The student's own names of the arguments."""
    own: list[str] = []
    try:
        for p in inspect.signature(function.function if function else None).parameters.values():  # type: ignore[arg-type]
            own += [p.name] if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD) else []
    except (TypeError, ValueError):
        pass
    return tuple(own[i] if i < len(own) else f"argument_{i + 1}" for i in range(count))
