"""For tests of checks: right answers in several forms, and verdicts with several seeds. For pytest.

    RIGHT = {"even_sum": [("n**2 + n",), ("n*(n + 1)",)]}
    test_right_answers_pass_in_every_form = passes_in_every_form(check, RIGHT)

`course audit` takes the right answers that it changes from `RIGHT` too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import ModuleType
from typing import Any

from .exercises import Exercise
from .feedback import Outcome
from .recognition import Misconception
from .units import units


def passes_in_every_form(
    check: ModuleType, right: Mapping[str, Sequence[tuple[Any, ...]]]
) -> Callable[..., None]:
    """A test that each of these answers, by exercise, is right and earns all points."""
    import pytest

    forms = [(name, answers) for name, every in right.items() for answers in every]

    def test(name: str, answers: tuple[Any, ...]) -> None:
        feedback = getattr(check, name)(*answers)
        assert feedback.outcome is Outcome.RIGHT, feedback
        assert feedback.earned == feedback.points

    parametrized: Callable[..., None] = pytest.mark.parametrize(("name", "answers"), forms)(test)
    return parametrized


def with_seeds(
    exercise: Exercise, answers: tuple[Any, ...], seeds: int = 12
) -> list[tuple[Any, ...]]:
    """The points and the names of mistakes that an answer gets, with seeds from 1 on."""
    found: list[tuple[Any, ...]] = []
    for seed in range(1, seeds + 1):
        exercise.seed = seed
        feedback = exercise(*answers)
        found.append((feedback.earned, *(mistake.name for mistake in feedback.mistakes)))
    exercise.seed = None
    return found


def every_mistake_is_named() -> Callable[..., None]:
    """A test for all units of the course we are in: each known mistake is wrong, and named."""
    import pytest

    known = [(e, m) for unit in units() for e in unit.exercises for m in e.misconceptions]
    assert known, "This course knows no mistakes."
    names = [f"{exercise.number} {mistake.name}" for exercise, mistake in known]

    def test(exercise: Exercise, mistake: Misconception) -> None:
        feedback = exercise(*mistake.example)
        assert feedback.outcome is Outcome.WRONG, feedback
        assert mistake.name in [named.name for named in feedback.mistakes], feedback

    marked = pytest.mark.parametrize(("exercise", "mistake"), known, ids=names)
    parametrized: Callable[..., None] = marked(test)
    return parametrized
