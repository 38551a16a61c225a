"""Practice: one more task with new numbers, judged as the exercise is, without points."""

import numpy as np
import pytest

from course_utils.checks import momentum, transport, two_heads
from selfcheck.exercises import EXERCISES, Hint
from selfcheck.practice import can_be_practiced


def test_a_task_shows_its_numbers_and_judges_without_keeping_a_verdict():
    task = transport.plan_cost.practice(seed=5)
    assert str(task.numbers) in repr(task)
    assert "Call the task with `cost_of_plan`." in repr(task)
    n, before = task.numbers, transport.plan_cost.last
    right = int((np.abs(n.x[:, None] - n.y) * n.plan).sum())
    assert repr(task(right)).startswith("practice: right. ")
    assert repr(task(right + 1)).startswith("practice: wrong. ")
    assert " of " not in repr(task(right))
    assert transport.plan_cost.last is before


def test_known_mistakes_are_named_in_practice_too():
    task = transport.plan_cost.practice(seed=3)
    n = task.numbers
    forgotten = int((np.abs(n.x[:, None] - n.y) * (n.plan > 0)).sum())
    assert "ways counted, masses forgotten" in repr(task(forgotten))


def test_tasks_have_other_numbers_each_time():
    shown = {str(two_heads.projections.practice().numbers) for _ in range(5)}
    assert len(shown) > 1


def test_answers_of_earlier_exercises_may_be_left_out():
    task = two_heads.scores_and_weights.practice(seed=1)
    assert "Call the task with `scores`, `weights`." in repr(task)
    assert "wrong" in repr(task([[1, 2], [3, 4]], [[1, 0], [0, 1]]))


def test_an_exercise_without_numbers_of_ones_own_says_so():
    assert isinstance(momentum.bias.practice(), Hint)


@pytest.mark.parametrize("exercise", [e for e in EXERCISES if can_be_practiced(e)], ids=repr)
def test_nonsense_gets_a_sentence(exercise):
    assert "practice: " in repr(exercise.practice(seed=2)("nonsense"))
