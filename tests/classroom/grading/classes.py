"""Synthetic classes: what grading leaves behind, with feedback that the real checks gave.

    students = synthetic_class("01_sums", size=30, seed=1)

The unit is one of the course in whose folder we are. Every kind of answer (right, each known
mistake, wrong in an unknown way, nonsense, blank) goes through its exercises once; a student is a
draw of kinds by ability and difficulty.
"""

import importlib.util
import inspect
import json
import random
import textwrap
from functools import cache
from typing import Any

import numpy as np
import sympy

from classroom.grading import report
from classroom.grading.behavior import sign, unnamed
from classroom.grading.records import Graded, Result
from selfcheck import ____
from selfcheck.course import course_root
from selfcheck.exercises import Exercise
from selfcheck.feedback import Outcome
from selfcheck.kinds import Choice, Lines, Steps, Student
from selfcheck.units import declared

FIRST = (
    "Ada",
    "Alan",
    "Emmy",
    "Carl",
    "Sofja",
    "Hedy",
    "Grace",
    "Kurt",
    "Zoë",
    "Jun",
    "Ngô",
    "Amal",
)
LAST = (
    "Lovelace",
    "Turing",
    "Noether",
    "Gauss",
    "Euler",
    "Lamarr",
    "Hopper",
    "Erdős",
    "Mirzakhani",
)


def report_page(*told: Any, **about: Any) -> str:
    """The class report as one text."""
    return "".join(report.page(*told, **about))


def synthetic_class(unit: str, size: int, seed: int = 0) -> list[Graded]:
    """A class in which some are good, many share mistakes, and a few files are odd."""
    chance = random.Random(f"{unit} {seed}")
    difficulty = {e.name: chance.gauss(-0.8, 0.7) for e in declared(unit)}
    return [_student(unit, number, difficulty, chance) for number in range(size)]


def _student(unit: str, number: int, difficulty: dict[str, float], chance: random.Random) -> Graded:
    name = f"{chance.choice(FIRST)} {chance.choice(LAST)} {number}"
    about = {"student": name, "unit": unit, "file": f"{name}/{unit}.ipynb", "digest": str(number)}
    if chance.random() < 0.02:
        return Graded(**about, problem="The file is cut off: it is no JSON from line 40 on.")
    ability, results = chance.gauss(0, 1.2), []
    for exercise in declared(unit):
        p_right = 1 / (1 + 2.718 ** (difficulty[exercise.name] - ability))
        result = result_of(unit, exercise.name, _kind(exercise, p_right, chance))
        results.append(Result(**{**result.as_dict(), "seconds": chance.uniform(0.001, 0.02)}))
    restored = (
        ("check-even-sum was edited; the original was run.",) if chance.random() < 0.04 else ()
    )
    seconds = sum(r.seconds for r in results) + chance.expovariate(8)
    return Graded(**about, results=tuple(results), notes=restored, seconds=seconds)


def _kind(exercise: Exercise, p_right: float, chance: random.Random) -> str:
    if chance.random() < p_right:
        return "right"
    mistakes = [m.name for m in exercise.misconceptions]
    common_first = [4 / (1 + place) for place in range(len(mistakes))]
    weights = [*common_first, 1.5, 0.4, 2]
    return chance.choices([*mistakes, "wrong", "nonsense", "blank"], weights)[0]


@cache
def result_of(unit: str, name: str, kind: str) -> Result:
    """What the exercise really says to this kind of answer, with a source that fits."""
    (exercise,) = (e for e in declared(unit) if e.name == name)
    if kind == "wrong":
        return _unknown_mistake(unit, exercise)
    answers, source = _answer(unit, exercise, kind)
    data = exercise(*answers).as_dict()
    return Result(**data, answer=source)


def _answer(unit: str, exercise: Exercise, kind: str) -> tuple[tuple, str]:
    if kind == "right":
        return _right_answers(unit)[exercise.name][0], _solution(unit, exercise.name)
    if kind in ("blank", "nonsense"):
        answer = ____ if kind == "blank" else object()
        source = "____" if kind == "blank" else "object()"
        return (answer,) * len(exercise.kinds), _assignment(exercise, [source])
    example = next(m.example for m in exercise.misconceptions if m.name == kind)
    if callable(example[0]) and inspect.isfunction(example[0]):
        return example, textwrap.dedent(inspect.getsource(example[0]))
    return example, _assignment(exercise, [repr(part) for part in example])


def _assignment(exercise: Exercise, values: list[str]) -> str:
    return f"{', '.join(exercise.kinds)} = {', '.join(values)}"


def _unknown_mistake(unit: str, exercise: Exercise) -> Result:
    """Three times a right answer, where that is wrong and nothing that the check knows."""
    right = _right_answers(unit)[exercise.name][0]
    if any(isinstance(kind, Choice | Lines | Steps | Student) for kind in exercise.kinds.values()):
        return _made_up(exercise)
    feedback = exercise(*(_tripled(answer) for answer in right))
    signed = tuple(sign(exercise, feedback, p, seed=7).as_dict() for p in unnamed(feedback))
    if feedback.outcome is not Outcome.WRONG or not signed:
        return _made_up(exercise)
    source = _assignment(exercise, [f"3 * ({answer})" for answer in right])
    if any(map(callable, right)):
        source = f"def {exercise.name}(*args):\n    return 3 * right(*args)"
    return Result(**feedback.as_dict(), answer=source, signatures=signed)


def _tripled(answer: Any) -> Any:
    if callable(answer):
        return lambda *args: 3 * np.asarray(answer(*args))
    return f"3*({answer})" if isinstance(answer, str | sympy.Basic) else 3 * np.asarray(answer)


def _made_up(exercise: Exercise) -> Result:
    says = "At β = 1/2, t = 3 your value is 0.375; the definition gives 0.875."
    return Result(
        exercise.number,
        exercise.name,
        str(Outcome.WRONG),
        exercise.points - 1 if exercise.points > 2 else 0,
        exercise.points,
        says,
        answer=_assignment(exercise, ["beta**2"]),
    )


@cache
def _right_answers(unit: str) -> dict[str, list[tuple]]:
    """`RIGHT` of the unit's tests."""
    name = f"test_{unit.partition('_')[2]}"
    path = course_root() / "tests" / "checks" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"right_answers.{name}", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.RIGHT


@cache
def _solution(unit: str, name: str) -> str:
    """The solved answer cell as a student would have written it."""
    notebook = json.loads(
        (course_root() / "solutions" / f"{unit}.ipynb").read_text(encoding="utf-8")
    )
    wanted = f"answer-{name.replace('_', '-')}"
    sources = {cell["id"]: "".join(cell["source"]) for cell in notebook["cells"]}
    lines, keep = [], True
    for line in sources.get(wanted, "").splitlines():
        mark = line.strip()
        if mark == "### STUB":
            keep = False
        if keep and not mark.startswith("### "):
            lines.append(line)
        if mark == "### END SOLUTION":
            keep = True
    return "\n".join(lines)
