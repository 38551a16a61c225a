"""An exception of a student's function has their own line, the values there, and a cause."""

import numpy as np
import pytest

from selfcheck.calls import FunctionAnswer
from selfcheck.raised import CAUSES, usual_cause
from selfcheck.refusals import Unreadable

X, LIST = np.ones((2, 3)), [1.0, 2.0, 3.0]


def said(function, *args):
    with pytest.raises(Unreadable) as refused:
        FunctionAnswer(function, function.__name__)(*args)
    return str(refused.value)


def scores(Q, K):
    width = Q.shape[1]
    return Q @ K / width


def test_the_line_is_shown_with_what_raised_in_it_and_the_shapes():
    assert said(scores, X, X).endswith(
        "It stopped at `return Q @ K / width`, in `Q @ K`, where `Q` has the shape (2, 3) and `K` "
        "has the shape (2, 3). For `A @ B`, `A` needs as many columns as `B` has rows. Is a `.T` "
        "missing, or one too many?"
    )


def test_the_last_line_of_their_own_is_shown_also_in_a_helper():
    def outer(Q):
        return scores(Q, Q)

    assert "It stopped at `return Q @ K / width`" in said(outer, X)


def test_what_is_raised_in_numpy_is_told_at_the_line_that_called_it():
    def solves(A):
        return np.linalg.inv(A)

    says = said(solves, np.zeros((2, 2)))
    assert "raised LinAlgError" in says
    assert "It stopped at `return np.linalg.inv(A)`, in `np.linalg.inv(A)`, where" in says


def unbound(x):
    if x > 9:
        y = 1
    return y


def nothing(x):
    x.append(1).sort()


USUAL = {
    "shapes in a product": (lambda A: A @ A, X, "Is a `.T` missing"),
    "shapes in a sum": (lambda A: A + A[:, 0], X, "Shapes are compared from the last axis on"),
    "an index": (lambda A: A[7], X, "the last of n entries has the index n - 1"),
    "an index of a list": (lambda a: a[7], LIST, "the last of n entries"),
    "one axis too many": (lambda A: A[0, 0, 0], X, "fewer axes than there are indices"),
    "an index into a number": (lambda A: A[0, 0][0], X, "fewer axes than there are indices"),
    "a list without .T": (lambda a: a.T, LIST, "A list is no array"),
    "arithmetic with a list": (lambda a: a - 1.0, LIST, "Lists do no arithmetic"),
    "a name": (lambda a: not_there, LIST, "The name is not known here"),  # noqa: F821
    "a name in a branch": (unbound, 1, "in a branch that was not taken"),
    "nothing came back": (nothing, LIST, "It is `None`"),
    "too few parameters": (lambda: 1, LIST, "take as many arguments"),
    "a float for a count": (lambda a: np.zeros(len(a) / 2), LIST, "A whole number is needed"),
    "a truth value": (lambda A: 1 if A > 0 else 0, X, "want one truth value"),
    "rows of unequal length": (lambda a: np.array([a, a[:1]]), LIST, "not all of one length"),
    "division by zero": (lambda a: 1 / (a[0] - 1), LIST, "makes the divisor 0"),
    "a call of an array": (lambda A: A(0), X, "Round brackets call a function"),
    "square brackets": (lambda A: np.sum[A], X, "A call has round brackets"),
    "reshaping": (lambda A: A.reshape(4), X, "keeps the number of entries"),
    "unpacking": (lambda A: [0 for a, b in A], X, "more names on the left"),
    "no end": (lambda a: _again(a), LIST, "It calls itself without end"),
}


def _again(a):
    return _again(a)


@pytest.mark.parametrize("cause", USUAL)
def test_the_usual_causes_have_a_sentence(cause):
    function, argument, sentence = USUAL[cause]
    assert sentence in said(function, argument)


def test_there_are_ten_and_more_and_an_unusual_one_has_none():
    assert len(CAUSES) >= 10
    assert usual_cause(RuntimeError("on purpose")) == ""


def test_values_that_are_strange_and_lines_that_are_gone_do_no_harm():
    class Strange:
        @property
        def __class__(self):
            raise RuntimeError

    def touches(x):
        return x + 1

    assert "raised TypeError" in said(touches, Strange)
    made = {}
    exec(compile("def gone(x):\n    return x[1]", "<nowhere>", "exec"), made)
    assert said(made["gone"], [0]).startswith("gone([0]) raised IndexError")


def test_a_function_without_code_of_its_own_has_no_line():
    assert "It stopped" not in said(len, 1)
