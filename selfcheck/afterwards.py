"""A good solution of an exercise with its why, for afterwards, beside the student's own answer.

It comes from the sealed file beside the checks; where there is none, from the solved notebook of
the unit, if it lies in the folder of the course.
"""

from __future__ import annotations

import contextlib
import inspect
import json
import re
import sys
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

from .calls import FunctionAnswer
from .cards import card, in_html
from .counterexamples import as_python
from .course import current
from .feedback import Outcome
from .files import CourseError
from .kinds import FormulaAnswer, Function
from .parts import MissingAnswer
from .sealed import (
    ALWAYS,
    FULL,
    Solved,
    sealed_beside,
    solutions_in,
    unsealed,
    with_wrong_turns,
)

if TYPE_CHECKING:
    from .exercises import Exercise

MOST_LINES = 60  # of a solution that is shown whole


def found_for(exercise: Exercise) -> tuple[str, Solved | None]:
    """When the solution may be shown, and what it is; none where students have it not."""
    file = sealed_beside(getattr(sys.modules.get(exercise.unit), "__file__", None) or "nowhere")
    if file.exists():
        try:
            when, found = unsealed(file.read_text(encoding="utf-8"))
        except (ValueError, LookupError, zlib.error, OSError):
            raise CourseError(f"{file} cannot be read; get it anew.") from None
        return when, found.get(exercise.name)
    return ALWAYS, _in_the_open(exercise)


def _in_the_open(exercise: Exercise) -> Solved | None:
    """From the solved notebook in the folder of the course, which whoever has it may read."""
    unit = exercise.unit.rpartition(".")[2]
    with contextlib.suppress(CourseError, OSError, ValueError, LookupError):
        folder = current().folder / "solutions"
        for path in sorted(folder.glob(f"[0-9][0-9]_{unit}.ipynb")):
            cells = json.loads(path.read_bytes())["cells"]
            return solutions_in(cells).get(exercise.name)
    return None


# -- shown -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Shown:
    """A solution beside the student's own answer; or only a sentence, if there is none to see."""

    title: str
    says: str = ""
    code: str = ""
    own: str = ""
    costs: str = ""
    why: str = ""

    def __repr__(self) -> str:
        blocks = [f"{self.title}. {self.says}".strip()]
        blocks += [f"A good solution:\n{self.code}"] if self.code else []
        blocks += [f"Yours:\n{self.own}"] if self.own else []
        return "\n\n".join([*blocks, *filter(None, (self.costs, _plain(self.why)))])

    def _repr_mimebundle_(self, **_: Any) -> dict[str, str]:
        shown = {"text/plain": repr(self)}
        if not self.code:
            return shown | {"text/html": card(self.title, "", [self.says])}
        return shown | {"text/markdown": self._markdown()}

    def _markdown(self) -> str:
        """Markdown, for formulas are typeset there."""
        sides = {"A good solution": self.code, "Yours": self.own}
        columns = "".join(
            '<div style="flex:1 1 20em;min-width:0;overflow-x:auto">'
            f'<strong>{title}</strong><pre style="white-space:pre">{_lines(code)}</pre></div>'
            for title, code in sides.items()
            if code
        )
        beside = f'<div style="display:flex;flex-wrap:wrap;gap:1.5em">{columns}</div>'
        costs = in_html(self.costs)
        return "\n\n".join(filter(None, [f"**{self.title}**", beside, costs, self.why]))


def _lines(code: str) -> str:
    """In HTML, with line ends that Markdown does not see: a blank line would end the block."""
    return escape(code).replace("\n", "&#10;")


def _plain(text: str) -> str:
    """Without the signs of Markdown."""
    return re.sub(r"\*\*([^*]+)\*\*|(?<!\w)\*([^*\n]+)\*", r"\1\2", text)


def shown(exercise: Exercise) -> Shown:
    """The solution of an exercise, if it may be seen now; else a sentence that says when."""
    title = f"Solution of {exercise.number} {exercise.name}"
    when, found = found_for(exercise)
    if found is None:
        return Shown(title, "It is not here. Your instructor decides whether and when it comes.")
    last = exercise.last
    if when == FULL and (last is None or last.earned < exercise.points):
        call = f"`{exercise.called}(…)`"
        return Shown(title, f"It opens once {call} has given you all {exercise.points} points.")
    answers = last.judged.answers if last and last.judged else {}
    own = "\n".join(filter(None, (_own(name, a) for name, a in answers.items())))
    why = with_wrong_turns(found.why, [m.name for m in exercise.misconceptions])
    costs = _costs(exercise, answers, found.code) if last and last.outcome is Outcome.RIGHT else ""
    return Shown(title, "", _shortened(found.code), own, costs, why)


def _shortened(code: str) -> str:
    """Without the middle of what is too long to be read, such as trained weights."""
    lines = code.splitlines()
    if len(lines) <= MOST_LINES:
        return code
    left_out = len(lines) - MOST_LINES + 1
    return "\n".join([*lines[: MOST_LINES - 5], f"… {left_out} lines more …", *lines[-4:]])


def _own(name: str, answer: Any) -> str:
    """An answer of the student's as it can be read."""
    if isinstance(answer, MissingAnswer) or answer is None:
        return ""
    if isinstance(answer, FunctionAnswer):
        try:
            return inspect.getsource(inspect.unwrap(answer.function)).rstrip()
        except (OSError, TypeError):
            return f"{name} = {answer.name}"
    if isinstance(answer, FormulaAnswer):
        return f"{name} = {answer}"
    return f"{name} = {as_python(answer, '…') if not isinstance(answer, str) else answer}"


def _costs(exercise: Exercise, answers: Mapping[str, Any], code: str) -> str:
    """What both cost on the first sample, where the meter can tell."""
    from .meter import measure

    for name, kind in exercise.kinds.items():
        own = answers.get(name)
        if not (isinstance(own, FunctionAnswer) and isinstance(kind, Function) and kind.samples):
            continue
        with contextlib.suppress(Exception):  # not counted, or made of what is not there
            space = dict(inspect.unwrap(own.function).__globals__)
            exec(compile(code, "<solution>", "exec"), space)
            sample = max(kind.samples, key=lambda args: sum(getattr(a, "size", 0) for a in args))
            mine, theirs = (measure(f, *sample) for f in (own.function, space[own.name]))
            shapes = ", ".join(str(getattr(a, "shape", a)) for a in sample if not callable(a))
            return (
                f"Metered on {own.name}({shapes}): yours takes {mine.flops:,} FLOPs, this one "
                f"{theirs.flops:,}."
            )
    return ""
