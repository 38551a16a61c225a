"""What every unit's tests begin with: right answers, each in several forms."""

import sys
from collections.abc import Callable
from importlib.util import find_spec, module_from_spec, spec_from_file_location
from types import ModuleType

import pytest

from course_utils.exercise import Outcome


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


def students_own(name: str) -> ModuleType:
    """A module of the package as if a student had typed it: the same functions, no one's answer."""
    spec = find_spec(f"course_utils.{name}")
    own = spec_from_file_location(f"students_{name}", spec.origin)
    module = sys.modules[own.name] = module_from_spec(own)
    own.loader.exec_module(module)
    return module
