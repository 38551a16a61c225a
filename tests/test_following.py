"""A slip is charged once, and junk is not carried on."""

import numpy as np
import pytest

from selfcheck.feedback import Outcome
from selfcheck.following import following, heeds, own_array
from selfcheck.refusals import Unreadable
from selfcheck.verdicts import right, wrong

TRUTH = np.array([[1.0, 2.0], [3.0, 4.0]])


@pytest.mark.parametrize(
    ("own", "is_followed"),
    [
        ([[1.0, 2.0], [3.0, 5.0]], True),
        ([[9.0, 8.0], [7.0, 4.0]], True),
        ([[4.0, 3.0], [2.0, 1.0]], True),  # the right numbers in other places
        (TRUTH, False),  # it is right: there is nothing to follow
        ([[1.0, 1.0], [1.0, 1.0]], False),
        ([[9.0, 8.0], [7.0, 6.0]], False),
        ([[1.0, 2.0], [3.0, np.nan]], False),
        ([1.0, 2.0], False),
    ],
)
def test_an_array_is_carried_on_if_it_is_right_somewhere(own, is_followed):
    assert (own_array(np.array(own), TRUTH) is not None) == is_followed


def test_a_missing_answer_is_not_carried_on():
    assert own_array(None, TRUTH) is None


def test_what_follows_says_so_and_never_plain_right():
    verdict = following(wrong("No."), "Q of 5.1", lambda: right("The scores are products."))
    assert verdict.outcome is Outcome.RIGHT
    assert verdict.says == (
        "This follows from your Q of 5.1, which is not right yet. The scores are products."
    )


def test_what_is_right_follows_nothing():
    assert following(right("Yes."), "Q", lambda: pytest.fail("asked")).says == "Yes."


@pytest.mark.parametrize("own", [None, wrong("Neither.")])
def test_what_does_not_follow_stays_wrong(own):
    assert following(wrong("No."), "Q", lambda: own).says == "No."


def test_an_earlier_answer_that_fails_changes_nothing():
    def fails():
        raise Unreadable("It raised.")

    assert following(wrong("No."), "Q", fails).says == "No."


SAMPLES = [(np.array([1.0, 2.0]), np.array([3.0, 5.0]), 2.0)]


@pytest.mark.parametrize(
    ("function", "does"),
    [
        (lambda x, y, a: a * x + y, True),
        (lambda x, y, a: x + y, False),
        (lambda x, y, a: np.ones(2), False),
    ],
)
def test_a_function_heeds_all_that_it_is_given(function, does):
    assert heeds(function, SAMPLES) == does


def test_a_function_that_fails_heeds_nothing():
    def fails(*_):
        raise Unreadable("It raised.")

    assert not heeds(fails, SAMPLES)
