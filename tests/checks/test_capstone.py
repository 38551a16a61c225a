"""Unit 12: right answers in several forms pass, wrong ones fail with the right words.

That every known mistake earns its own explanation is tested for all units at once, in
test_every_exercise.py.
"""

import sympy

from course_utils.checks import capstone as check
from course_utils.exercise import Outcome
from tests.checks.forms import passes_in_every_form

n = sympy.symbols("n", positive=True, integer=True)

RIGHT = {
    "even_sum": [
        (n**2 + n,),
        ("n*(n + 1)",),
        ("Sum(2*i, (i, 1, n))",),
    ],
}
test_right_answers_pass_in_every_form = passes_in_every_form(check, RIGHT)


def test_the_sum_of_the_odd_numbers_is_refuted_with_numbers():
    feedback = check.even_sum("n**2")
    assert feedback.outcome is Outcome.WRONG
    assert "add up to" in feedback.says
