"""What every unit's tests begin with: right answers, each in several forms."""

import sys
from collections.abc import Callable
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from types import ModuleType
from typing import Any

import pytest

from selfcheck.exercises import Outcome


def passes_in_every_form(check: ModuleType, right: dict[str, list[tuple]]) -> Callable:
    """A test that each of these answers, by exercise, is right and earns all points."""

    @pytest.mark.parametrize(
        ("name", "answers"), [(name, answers) for name, forms in right.items() for answers in forms]
    )
    def test(name: str, answers: tuple) -> None:
        feedback = getattr(check, name)(*answers)
        assert feedback.outcome is Outcome.RIGHT, feedback
        assert feedback.earned == feedback.points

    return test


def with_seeds(exercise: Any, answers: tuple, seeds: int = 12) -> list[tuple]:
    """The points and the names of mistakes that an answer gets, with seeds from 1 on."""
    found = []
    for seed in range(1, seeds + 1):
        exercise.seed = seed
        feedback = exercise(*answers)
        found.append((feedback.earned, *(mistake.name for mistake in feedback.mistakes)))
    exercise.seed = None
    return found


def students_own(name: str) -> ModuleType:
    """A module of the package as if a student had typed it: the same functions, no one's answer."""
    spec = find_spec(f"course_utils.{name}")
    own = spec_from_file_location(f"students_{name}", spec.origin)
    module = sys.modules[own.name] = module_from_spec(own)
    own.loader.exec_module(module)
    return module
