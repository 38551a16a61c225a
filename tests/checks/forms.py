"""What every unit's tests begin with: right answers, each in several forms."""

from collections.abc import Callable
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
