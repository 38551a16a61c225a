"""Practice without end: one more task of the kind of an exercise, with new numbers.

    task = check.plan_cost.practice()   # shows the numbers
    task(12)                            # judged as the exercise is, without points

Every exercise with numbers of one's own can be practiced: a task is that exercise with the numbers
of an id that nobody has.
"""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .cards import card, in_html
from .kinds import Student

if TYPE_CHECKING:
    from .exercises import Exercise
    from .feedback import Feedback


class Practice:
    """A task; call it with your answer. `numbers` are those of the task."""

    def __init__(self, exercise: Exercise, student: str) -> None:
        self.exercise, self.student = exercise, student
        self.numbers = exercise.numbers(student) if exercise.numbers else None

    def __call__(self, *answers: Any) -> Practiced:
        """Judge the answer; no point depends on it."""
        place = next(
            i for i, k in enumerate(self.exercise.kinds.values()) if isinstance(k, Student)
        )
        given = [*answers[:place], self.student, *answers[place:]]
        return Practiced(self.exercise.judged(*given))

    def _asked(self) -> str:
        kinds = self.exercise.kinds.items()
        names = [f"`{name}`" for name, kind in kinds if not isinstance(kind, Student)]
        names = [name for name in names if name.strip("`") not in self.exercise.optional]
        return f"{self.exercise.__doc__} Call the task with {', '.join(names)}."

    def __repr__(self) -> str:
        return f"Practice for {self.exercise.number}: {self._asked()}\n{self.numbers}"

    def _repr_html_(self) -> str:
        numbers = f"<pre>{in_html(str(self.numbers))}</pre>"
        return card(f"Practice for {self.exercise.number}", "", [self._asked()]) + numbers


@dataclass(frozen=True)
class Practiced:
    """The verdict on a task: as that of the exercise, without points."""

    feedback: Feedback

    def __repr__(self) -> str:
        return " ".join([f"practice: {self.feedback.headline}.", *self.feedback.sentences()])

    def _repr_html_(self) -> str:
        return self.feedback.card(f"practice for {self.feedback.number}")


def can_be_practiced(exercise: Exercise) -> bool:
    """Has it numbers of one's own?"""
    has_id = any(isinstance(kind, Student) for kind in exercise.kinds.values())
    return has_id and exercise.numbers is not None


def another(exercise: Exercise, seed: int | None = None) -> Practice:
    """A task with numbers that were not there before."""
    seed = random.randrange(10**6) if seed is None else seed
    return Practice(exercise, f"practice {seed}")
