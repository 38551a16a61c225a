"""Hints, practice and mistakes from the prose of a unit become those of its exercises.

Examples are evaluated with the names of the check module and of the Python file of mistakes beside
it; what cannot be evaluated, or is not what the exercise asks for, is refused with its line.
Practice is evaluated when it is first asked for.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .blanks import ____
from .compare import close
from .files import CourseError
from .kinds import Student
from .practice import Declared
from .prose import MISTAKES, Example, Mistake, mistakes_beside, prose_beside, read_prose
from .python_in_prose import at_its_line, names_of, refusal, refusing

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
    names = {"____": ____} | names_of(module, MISTAKES)
    done: set[str] = set()
    for section in sections:
        exercise = known.get(section.name)
        if exercise is None or exercise.number != section.number:
            there = ", ".join(f"{e.number} {e.name}" for e in exercises)
            raise refusal(file, section.line, f"there is no such exercise; there are {there}.")
        if section.name in done:
            raise refusal(file, section.line, f"{section.name} has a section already.")
        done.add(section.name)
        exercise.add_hints(*section.hints)
        exercise.add_practice(*(Declared(exercise, told, file) for told in section.practice))
        for mistake in section.mistakes:
            for part in mistake.settings.get("part", "").split(", "):
                _add(exercise, mistake, part, names | {"part": part}, file)
    for name in known.keys() - done:
        raise CourseError(f"{file} has no section for {name}.")


def _add(
    exercise: Exercise, mistake: Mistake, part: str, names: dict[str, Any], file: Path
) -> None:
    """Each example of a mistake becomes one that the exercise knows, under the same name."""
    if part and part not in [p.name for p in exercise.parts]:
        there = ", ".join(p.name for p in exercise.parts) or "none"
        raise refusal(file, mistake.line, f"there is no part {part!r}; there are {there}.")
    about: dict[str, Any] = {"part": part, "not_finite": "not finite" in mistake.settings}
    if "when" in mistake.settings:
        about["when"] = _named(mistake.settings["when"], names, file, mistake.line)
    if mistake.when:
        about["when"] = _evaluated(mistake.when, names, file)
    if "when" in about and not callable(about["when"]):
        raise refusal(file, mistake.line, "`when` is no function of the answers.")
    if not mistake.examples:
        told = _told(_named(mistake.settings["example"], names, file, mistake.line))
        _add_one(exercise, mistake, about | told, file, mistake.line)
    for example in mistake.examples:
        if example.kind == "numbers":
            made = _of_own_numbers(exercise, part, example, names, file)
        else:
            made = _told(_answers(example, names, file))
        _add_one(exercise, mistake, about | made, file, example.line)


def _add_one(
    exercise: Exercise, mistake: Mistake, about: dict[str, Any], file: Path, line: int
) -> None:
    needs = exercise.needs(about["part"])
    least = len([name for name in needs if name not in exercise.optional])
    given = len(about["example"])
    if not (least <= given <= len(needs) or given == len(exercise.kinds)):
        says = f"the example has {given} answers; the exercise asks for {len(needs)}."
        raise refusal(file, line, says)
    exercise.mistake(mistake.name, mistake.explanation, **about)


def _told(example: Any) -> dict[str, Any]:
    """What Python says of a mistake: answers, one answer alone, or both with `when`."""
    if isinstance(example, dict) and "example" in example:
        return dict(example)
    return {"example": _as_tuple(example)}


def _named(name: str, names: dict[str, Any], file: Path, line: int) -> Any:
    if name not in names:
        raise refusal(
            file, line, f"there is no {name} in {mistakes_beside(file).name} or the checks."
        )
    return names[name]


def _answers(example: Example, names: dict[str, Any], file: Path) -> Any:
    """The answers in a block, or what its Python says of them."""
    rows = [row for row in example.code.splitlines() if row.strip()]
    if example.kind == "formula":
        return tuple(row.strip() for row in rows)
    if example.kind == "lines":
        return ([row.strip() for row in rows],)
    return _evaluated(example, names, file)


def _evaluated(example: Example, names: dict[str, Any], file: Path) -> Any:
    """What the last row gives, or the last function that is defined; errors with their own line."""
    space, code = dict(names), at_its_line(example.code, example.line)
    with refusing(file, example.line):
        body = ast.parse(code).body
        last = body.pop() if body and isinstance(body[-1], ast.Expr) else None
        exec(compile(ast.Module(body, []), str(file), "exec"), space)
        if isinstance(last, ast.Expr):
            return eval(compile(ast.Expression(last.value), str(file), "eval"), space)
        return space[_last_function(body)]


def _last_function(body: list[ast.stmt]) -> str:
    functions = [s.name for s in body if isinstance(s, ast.FunctionDef)]
    if not functions:
        raise ValueError("it defines no function and is no expression")
    return functions[-1]


def _of_own_numbers(
    exercise: Exercise, part: str, example: Example, names: dict[str, Any], file: Path
) -> dict[str, Any]:
    """A mistake that can be computed from a student's numbers: known with everybody's."""
    own = exercise.numbers
    if own is None:
        says = f"{exercise.name} has no numbers of a student's own."
        raise refusal(file, example.line, says)
    with refusing(file, example.line):
        code = at_its_line(f"lambda n: ({example.code.strip()}\n)", example.line)
        wrong = eval(compile(code, str(file), "eval"), dict(names))
        answers = (own.example, *_as_tuple(wrong(own(own.example))))
    kinds = [exercise.kinds[name] for name in exercise.needs(part)]
    if not kinds or not isinstance(kinds[0], Student):
        raise refusal(file, example.line, "an exercise of own numbers asks for the id first.")
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
