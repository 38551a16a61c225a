"""Hints and mistakes from the prose of a unit become those of its exercises.

Examples are evaluated with the names of the check module and of the Python file of mistakes beside
it; what cannot be evaluated, or is not what the exercise asks for, is refused with its line.
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .compare import close
from .files import CourseError
from .kinds import Student
from .prose import MISTAKES, Example, Mistake, mistakes_beside, prose_beside, read_prose

if TYPE_CHECKING:
    from .exercises import Exercise


def attach(exercises: list[Exercise], module: str) -> None:
    """Give the exercises of a check module what its file of prose says about them."""
    home = getattr(sys.modules.get(module), "__file__", None)
    sections = read_prose(prose_beside(home)) if home else ()
    if not home or not sections:
        return
    file = prose_beside(home)
    known = {exercise.name: exercise for exercise in exercises}
    names = _names(module)
    done: set[str] = set()
    for section in sections:
        exercise = known.get(section.name)
        if exercise is None or exercise.number != section.number:
            there = ", ".join(f"{e.number} {e.name}" for e in exercises)
            raise _refusal(file, section.line, f"there is no such exercise; there are {there}.")
        if section.name in done:
            raise _refusal(file, section.line, f"{section.name} has a section already.")
        done.add(section.name)
        exercise.add_hints(*section.hints)
        for mistake in section.mistakes:
            _add(exercise, mistake, names, file)
    for name in known.keys() - done:
        raise CourseError(f"{file} has no section for {name}.")


def _names(module: str) -> dict[str, Any]:
    """All that an example may use: names of the checks, and of the file of mistakes."""
    names = dict(vars(sys.modules[module]))
    if importlib.util.find_spec(f"{module}{MISTAKES}") is not None:
        names |= vars(importlib.import_module(f"{module}{MISTAKES}"))
    return names


def _refusal(file: Path, line: int, says: str) -> CourseError:
    return CourseError(f"{file}, line {line}: {says}")


def _add(exercise: Exercise, mistake: Mistake, names: dict[str, Any], file: Path) -> None:
    """Each example of a mistake becomes one that the exercise knows, under the same name."""
    part = mistake.settings.get("part", "")
    if part and part not in [p.name for p in exercise.parts]:
        there = ", ".join(p.name for p in exercise.parts) or "none"
        raise _refusal(file, mistake.line, f"there is no part {part!r}; there are {there}.")
    about: dict[str, Any] = {"part": part, "not_finite": "not finite" in mistake.settings}
    if "when" in mistake.settings:
        about["when"] = _named(mistake.settings["when"], names, file, mistake.line)
    if not mistake.examples:
        told = _told(_named(mistake.settings["example"], names, file, mistake.line))
        _add_one(exercise, mistake, about | told, file, mistake.line)
    for example in mistake.examples:
        if example.kind == "numbers":
            made = _of_own_numbers(exercise, mistake, example, names, file)
        else:
            made = {"example": _answers(example, names, file)}
        _add_one(exercise, mistake, about | made, file, example.line)


def _add_one(
    exercise: Exercise, mistake: Mistake, about: dict[str, Any], file: Path, line: int
) -> None:
    needs = exercise.needs(about["part"])
    least = len([name for name in needs if name not in exercise.optional])
    given = len(about["example"])
    if not (least <= given <= len(needs) or given == len(exercise.kinds)):
        says = f"the example has {given} answers; the exercise asks for {len(needs)}."
        raise _refusal(file, line, says)
    exercise.mistake(mistake.name, mistake.explanation, **about)


def _told(example: Any) -> dict[str, Any]:
    """What the file of mistakes has under a name: answers, a function, or both with `when`."""
    if isinstance(example, dict):
        return dict(example)
    return {"example": example if isinstance(example, tuple) else (example,)}


def _named(name: str, names: dict[str, Any], file: Path, line: int) -> Any:
    if name not in names:
        raise _refusal(
            file, line, f"there is no {name} in {mistakes_beside(file).name} or the checks."
        )
    return names[name]


def _answers(example: Example, names: dict[str, Any], file: Path) -> tuple[Any, ...]:
    """The answers in a block."""
    rows = [row for row in example.code.splitlines() if row.strip()]
    if example.kind == "formula":
        return tuple(row.strip() for row in rows)
    if example.kind == "lines":
        return ([row.strip() for row in rows],)
    return _evaluated(example, names, file)


def _evaluated(example: Example, names: dict[str, Any], file: Path) -> tuple[Any, ...]:
    """A function that is defined, or the answers as an expression; errors with their own line."""
    space = dict(names)
    try:
        body = ast.parse(example.code).body
        if len(body) == 1 and isinstance(body[0], ast.Expr):
            value = eval(_compiled(example, file, "eval"), space)
            return value if isinstance(value, tuple) else (value,)
        exec(_compiled(example, file, "exec"), space)
        return (space[_last_function(body)],)
    except CourseError:
        raise
    except SyntaxError as error:
        line = example.line + (error.lineno or 1) - 1
        raise _refusal(file, line, f"this is no Python: {error.msg}.") from None
    except Exception as error:
        says = f"the example cannot be made: {type(error).__name__}: {error}."
        raise _refusal(file, example.line, says) from None


def _compiled(example: Example, file: Path, mode: str) -> Any:
    """The code of a block, at its own lines of the file: tracebacks and sources find it there."""
    padding = "\n" * (example.line - 1)
    return compile(padding + example.code, str(file), mode)


def _last_function(body: list[ast.stmt]) -> str:
    functions = [s.name for s in body if isinstance(s, ast.FunctionDef)]
    if not functions:
        raise ValueError("it defines no function and is no expression")
    return functions[-1]


def _of_own_numbers(
    exercise: Exercise, mistake: Mistake, example: Example, names: dict[str, Any], file: Path
) -> dict[str, Any]:
    """A mistake that can be computed from a student's numbers: known with everybody's."""
    own = exercise.numbers
    if own is None:
        says = f"{exercise.name} has no numbers of a student's own."
        raise _refusal(file, example.line, says)
    try:
        code = compile(
            "\n" * (example.line - 1) + f"lambda n: ({example.code.strip()}\n)",
            str(file),
            "eval",
        )
        wrong = eval(code, dict(names))
        answers = (own.example, *_as_tuple(wrong(own(own.example))))
    except SyntaxError as error:
        says = f"this is no expression in n: {error.msg}."
        raise _refusal(file, example.line, says) from None
    except Exception as error:
        says = f"the example cannot be made: {type(error).__name__}: {error}."
        raise _refusal(file, example.line, says) from None
    kinds = [exercise.kinds[name] for name in exercise.needs(mistake.settings.get("part", ""))]
    if not kinds or not isinstance(kinds[0], Student):
        raise _refusal(file, mistake.line, "an exercise of own numbers asks for the id first.")
    return {"example": answers, "when": _made_by(wrong, own, own.within)}


def _made_by(wrong: Callable[[Any], Any], own: Any, within: float | None) -> Callable[..., bool]:
    """Are these the answers that the mistake gives with this student's numbers?"""

    def made(student: str, *answers: Any) -> bool:
        expected = _as_tuple(wrong(own(student)))
        given = answers[: len(expected)]
        if within is None:
            return all(close(a, b) for a, b in zip(given, expected, strict=True))
        if within == 0:
            return all(bool(a == b) for a, b in zip(given, expected, strict=True))
        return all(close(a, b, within) for a, b in zip(given, expected, strict=True))

    return made


def _as_tuple(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)
