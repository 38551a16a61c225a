"""Unit 07: right answers in several forms pass, wrong ones fail with the right words.

That every known mistake earns its own explanation is tested for all units at once, in
test_every_exercise.py.
"""

import numpy as np
import pytest
import sympy

from course_utils.checks import lookup as check
from course_utils.variants import lookup
from selfcheck.blanks import ____
from selfcheck.feedback import Outcome
from selfcheck.testing import passes_in_every_form

N, M, Delta, epsilon = sympy.symbols("N M Delta epsilon", positive=True)


def keys(X, M):
    return np.column_stack([X, -(M**2) * (X**2).sum(axis=1)])


def queries(Y, M):
    Q = np.column_stack([2 * M**2 * Y, np.ones(len(Y))])
    return Q * np.sqrt(Q.shape[1])


def keys_with_loops(X, M):
    return [[-M * sum(c * c for c in x), *(M * c for c in x)] for x in X]


def queries_with_loops(Y, M):
    return [[(len(y) + 1) ** 0.5 * c for c in (M, *(2 * M * c for c in y))] for y in Y]


def wide_keys(X, M):
    """The whole square, with the term that softmax does not see, and a useless zero."""
    return np.c_[X, (X**2).sum(1), np.ones(len(X)), np.zeros(len(X))]


def wide_queries(Y, M):
    Q = M**2 * np.c_[2 * Y, -np.ones(len(Y)), -(Y**2).sum(1), np.ones(len(Y))]
    return np.sqrt(Y.shape[1] + 3) * Q


def scaled_keys(X, M):
    """The root in the keys, and all keys shifted by one vector, which softmax does not see."""
    return keys(X, M) * np.sqrt(X.shape[1] + 1) + 5


def unscaled_queries(Y, M):
    return queries(Y, M) / np.sqrt(Y.shape[1] + 1)


def inputs(x_new, x, y, M):
    return queries(x_new[:, None], M), keys(x[:, None], M), y[:, None]


def inputs_as_lists(x_new, x, y, M):
    Q = [[2**0.5 * 2 * M * M * q, 2**0.5] for q in x_new]
    return [Q, [[k, -M * M * k * k] for k in x], list(y)]


def or_nothing(Y, X, a, M, r, c):
    """The whole square for real keys, and one key more that knows nothing but r."""
    d = X.shape[1]
    K = np.zeros((len(X) + 1, d + 2))
    K[:-1, :d], K[:-1, d], K[:-1, d + 1] = X, (X**2).sum(axis=1), 1
    K[-1, d] = r**2
    Q = M**2 * np.c_[2 * Y, -np.ones(len(Y)), -(Y**2).sum(axis=1)]
    return Q * np.sqrt(d + 2), K, [*a, c]


def or_nothing_first(Y, X, a, M, r, c):
    """“Nothing” first, in lists; its score is moved by ‖y‖² where the others stay as in 7.1."""
    root = (X.shape[1] + 2) ** 0.5
    Q = [[root, root * M**2 * (y @ y - r**2), *(root * 2 * M**2 * y)] for y in Y]
    K = [[0.0, 1.0, *([0.0] * X.shape[1])], *([-(M**2) * (x @ x), 0.0, *x] for x in X)]
    return Q, K, [[c], *([v] for v in a)]


def own_shelf(student):
    n = lookup(student)
    squared = np.array([(x - n.query) ** 2 for x in n.places])
    rest = np.delete(squared - squared.min(), squared.argmin())
    odds = n.epsilon / (1 - n.epsilon)
    M = 0.5
    for _ in range(100):  # Newton's rule for the logarithm, which is convex in M²
        E = np.exp(-(M**2) * rest)
        M = np.sqrt(M**2 + E.sum() / (E @ rest) * np.log(E.sum() / odds))
    (a, b), (first, second) = n.places[:2], n.copies
    return student, M, (a + b) / 2 + np.log(first / second) / (2 * n.M**2 * (b - a))


RIGHT = {
    "lookup": [
        (keys, queries),
        (keys_with_loops, queries_with_loops),
        (wide_keys, wide_queries),
        (scaled_keys, unscaled_queries),
        (lambda X, M: keys(X, M).astype(np.float32), lambda Y, M: queries(Y, M).astype("f4")),
    ],
    "leak": [
        ((N - 2) * sympy.exp(-(M**2) * Delta) / 2,),
        ("(N − 2)/2·exp(−M²·Δ)",),
        ("Min(1, (N/2 - 1)/exp(M^2*Delta))",),
        ("(N - 2)/(N - 2 + 2*exp(M**2*Delta))",),
        ("Sum(exp(-M**2*Delta), (j, 3, N))/2",),
    ],
    "sharpness": [
        (sympy.sqrt(sympy.log((N - 2) / (2 * epsilon)) / Delta),),
        ("sqrt(-ln(2ε/(N − 2))/Δ)",),
        ("(log(N/2 - 1) - log(epsilon))**0.5/sqrt(Delta)",),
        ("sqrt(log((N - 2)*(1 - epsilon)/(2*epsilon))/Delta)",),
    ],
    "value_matrix": [
        ([[0], [0], [0], [0], [1]],),
        (np.eye(5)[:, 4:],),
        (np.eye(5, dtype=int)[:, [-1]],),
    ],
    "regression": [
        (inputs,),
        (inputs_as_lists,),
        (lambda x_new, x, y, M: (wide_queries(x_new[:, None], M), wide_keys(x[:, None], M), y),),
    ],
    "or_nothing": [
        (or_nothing,),
        (or_nothing_first,),
        (lambda Y, X, *rest: or_nothing(np.c_[Y, Y - Y], np.c_[X, X - X], *rest),),
    ],
    "own_shelf": [
        own_shelf(0),
        own_shelf("ada@example.org"),
        (7, *(f"{x:.7f}" for x in own_shelf(7)[1:])),
    ],
}  # fmt: skip


test_a_right_answer_passes_in_every_form = passes_in_every_form(check, RIGHT)


# -- 7.1 -------------------------------------------------------------------------------------------


def test_weights_of_another_sharpness_that_rank_rightly_earn_one_point():
    feedback = check.lookup(keys, lambda Y, M: 3 * queries(Y, M))
    assert (feedback.outcome, feedback.earned) == (Outcome.WRONG, 1)
    assert feedback.headline == "partly right"
    assert "The nearest key has the largest weight" in feedback.says


def test_a_construction_that_is_right_at_one_m_only_is_wrong():
    at_one = check.lookup(lambda X, M: keys(X, 1), lambda Y, M: queries(Y, 1))
    assert at_one.outcome is Outcome.WRONG
    assert at_one.misconception is None


def test_a_construction_that_is_right_in_one_dimension_only_is_wrong():
    first = check.lookup(lambda X, M: keys(X[:, :1], M), lambda Y, M: queries(Y[:, :1], M))
    root_of_two = check.lookup(keys, lambda Y, M: queries(Y, M) * np.sqrt(2 / (len(Y[0]) + 1)))
    assert (first.outcome, first.earned) == (Outcome.WRONG, 0)
    assert root_of_two.outcome is Outcome.WRONG


def test_the_norm_of_the_query_does_not_replace_that_of_the_key():
    swapped = check.lookup(queries, keys)
    assert (swapped.earned, swapped.misconception) == (0, "no norm term")


def test_normalized_keys_do_not_help():
    def unit(X, M):
        return X / np.linalg.norm(X, axis=1, keepdims=True)

    assert check.lookup(unit, queries).outcome is Outcome.UNCHECKED
    assert check.lookup(unit, lambda Y, M: 2 * M**2 * Y).earned == 0


def test_weights_that_are_right_up_to_some_sharpness_or_size_only_are_wrong():
    for wrong in (
        (lambda X, M: keys(X, min(M, 2)), lambda Y, M: queries(Y, min(M, 2))),
        (lambda X, M: keys(X, max(M, 0.1)), lambda Y, M: queries(Y, max(M, 0.1))),
        (lambda X, M: keys(np.clip(X, -8, 8), M), queries),
        (keys, lambda Y, M: np.vstack([queries(Y, M)[:6], 0 * queries(Y, M)[6:]])),
    ):
        assert any(check.lookup(*wrong).outcome is Outcome.WRONG for _ in range(6))


def test_queries_that_live_on_the_keys_before_them_are_wrong():
    seen = {}

    def storing_keys(X, M):
        seen["X"] = X
        return np.eye(len(X))

    def looking_queries(Y, M):
        return -(M**2) * check.squared_distances(Y, seen["X"]) * np.sqrt(len(seen["X"]))

    seen["X"] = np.zeros((3, 1))
    assert check.lookup(storing_keys, looking_queries).outcome is not Outcome.RIGHT


def test_no_mistake_is_named_that_was_not_made():
    zeros = check.lookup(lambda X, M: np.zeros((len(X), 1)), lambda Y, M: np.zeros((len(Y), 1)))
    assert (zeros.outcome, zeros.earned, zeros.misconception) == (Outcome.WRONG, 0, None)


def test_equal_weights_for_all_keys_earn_nothing():
    feedback = check.lookup(lambda X, M: 0 * X, lambda Y, M: 0 * Y)
    assert (feedback.outcome, feedback.earned) == (Outcome.WRONG, 0)


def test_the_counterexample_can_be_followed_by_hand():
    says = check.lookup(lambda X, M: X, lambda Y, M: 2 * M**2 * Y).says
    assert "With the keys [[1], [2], [4]], the query points [[1.4]] and M = 1, entry [0] of" in says


def test_keys_and_queries_of_unequal_width_cannot_be_checked():
    feedback = check.lookup(keys, lambda Y, M: Y)
    assert feedback.outcome is Outcome.UNCHECKED
    assert "your keys have 2 numbers and your queries 1" in feedback.says


@pytest.mark.parametrize("result", [np.ones(3), np.ones((1, 2)), np.ones((3, 0)), 1.0])
def test_something_else_than_a_row_for_each_point_cannot_be_checked(result):
    feedback = check.lookup(lambda X, M: result, queries)
    assert feedback.outcome is Outcome.UNCHECKED
    assert "a matrix with 3 rows was expected" in feedback.says


def test_a_function_that_overwrites_its_input_fools_nobody():
    def erase(X, M):
        X[:] = 0.0
        return keys(X, M)

    assert check.lookup(erase, queries).outcome is Outcome.WRONG


# -- 7.2 and 7.3 -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "bound",
    ["N*exp(-M**2*Delta)", "(N/2 - 1)*exp(-M**2*Delta/2)", "1.001*(N/2 - 1)*exp(-M^2*Δ)",
     "(N - 2)**2*exp(-M**2*Delta)", "(N/2 - 1)/(1 + M**2*Delta)",
     "(N/2 - 1)*exp(-Min(M**2*Delta, 100))", "(N/2 - 1)*exp(-Min(M, 8)**2*Delta)"],
)  # fmt: skip
def test_a_valid_but_loose_bound_earns_one_of_two_points(bound):
    feedback = check.leak(bound)
    assert (feedback.outcome, feedback.earned) == (Outcome.WRONG, 1), feedback
    assert "it is loose" in feedback.says


@pytest.mark.parametrize(
    "bound",
    ["exp(-M**2*Delta)", "(N/2 - 1)*exp(-M**2*Delta)/2", "(N/2 - 1)*exp(-M**2*Delta) - 10**-9",
     "0.999*(N/2 - 1)*exp(-M**2*Delta)/(1 + (N/2 - 1)*exp(-M**2*Delta))", "0",
     "sqrt(N/2 - 1)*exp(-M**2*Delta)", "Min(N/2 - 1, 8)*exp(-M**2*Delta)",
     "Min(N/2 - 1, 400)*exp(-M**2*Delta)", "(N/2 - 1)*exp(-Max(M, 3)**2*Delta)"],
)  # fmt: skip
def test_a_bound_that_some_field_breaks_earns_nothing(bound):
    feedback = check.leak(bound)
    assert (feedback.outcome, feedback.earned) == (Outcome.WRONG, 0), feedback
    assert "of the weight is off target" in feedback.says


@pytest.mark.parametrize("bound", ["1", "N", "1 + exp(-M)"])
def test_a_bound_that_never_falls_earns_nothing(bound):
    feedback = check.leak(bound)
    assert (feedback.outcome, feedback.earned) == (Outcome.WRONG, 0)
    assert "does not fall to 0" in feedback.says


def test_the_definition_of_what_leaks_is_one_minus_the_weights_of_both_copies():
    for seed in range(12):
        field = check.random_field(np.random.default_rng(seed))
        weights = check.softmax(-4 * field.squared)
        leaked = check.off_target(2.0, field.squared, check.COPIES)
        assert np.isclose(leaked, 1 - 2 * weights.max(), atol=1e-12)
        assert [0, field.Delta] == np.diff(field.squared)[:2].tolist()


def test_an_m_that_is_a_little_too_large_earns_one_point_and_far_too_large_none():
    little = check.sharpness("sqrt(log(N/epsilon)/Delta)")
    assert (little.earned, little.headline) == (1, "partly right")
    assert check.sharpness("1.05*sqrt(log((N/2 - 1)/epsilon)/Delta)").earned == 1
    assert check.sharpness("1000").earned == 0
    assert check.sharpness("2*sqrt(log((N/2 - 1)/epsilon)/Delta)").earned == 0


@pytest.mark.parametrize(
    "M",
    ["0.99*sqrt(log((N/2 - 1)/epsilon)/Delta)", "sqrt(log(1/epsilon)/Delta)", "1", "0",
     "-sqrt(log((N/2 - 1)/epsilon)/Delta)", "sqrt(log2((N/2 - 1)/epsilon)/Delta)/2",
     "sqrt(log(Min(N/2 - 1, 8)/epsilon)/Delta)"],
)  # fmt: skip
def test_an_m_that_does_not_reach_the_error_earns_nothing(M):
    feedback = check.sharpness(M)
    assert (feedback.outcome, feedback.earned) == (Outcome.WRONG, 0), feedback


@pytest.mark.parametrize(
    ("bound", "M"),
    [
        ("N*exp(-M**2*Delta)", "sqrt(log(N/epsilon)/Delta)"),
        ("exp(-M**2*Delta)", "sqrt(log(1/epsilon)/Delta)"),
        ("(N/2 - 1)*exp(-M**2*Delta/2)", "sqrt(2*log((N/2 - 1)/epsilon)/Delta)"),
    ],
)
def test_an_m_that_the_student_s_own_bound_requires_is_right(bound, M):
    assert check.leak(bound).earned < 2
    assert check.sharpness(M, bound).earned == 2
    assert check.sharpness(M, "(N/2 - 1)*exp(-M**2*Delta)").earned < 2
    assert check.sharpness(M).earned < 2
    assert check.sharpness("sqrt(log((N/2 - 1)/epsilon)/Delta)", bound).earned == 2


def test_a_bound_that_cannot_be_read_changes_nothing():
    for missing in (____, None, "nonsense(", lambda M: M):
        assert check.sharpness("sqrt(log((N/2 - 1)/epsilon)/Delta)", missing).earned == 2
        assert check.sharpness("sqrt(log(1/epsilon)/Delta)", missing).earned == 0


# -- 7.4 and 7.5 -----------------------------------------------------------------------------------


def test_near_misses_of_the_value_matrix_are_wrong():
    for W_v in [np.eye(5)[:, [3]], 2 * np.eye(5)[:, 4:], np.ones((5, 1)) / 5, -np.eye(5)[:, 4:]]:
        assert check.value_matrix(W_v).outcome is Outcome.WRONG


def test_a_value_matrix_on_its_side_is_told_its_shape():
    feedback = check.value_matrix([[0, 0, 0, 0, 1]])
    assert feedback.outcome is Outcome.UNCHECKED
    assert "has shape (1, 5); shape (5, 1) was expected" in feedback.says


def test_a_plain_mean_or_the_nearest_value_is_no_kernel_regression():
    def mean(x_new, x, y, M):
        return 0 * x_new[:, None], 0 * x[:, None], y

    def nearest(x_new, x, y, M):
        return inputs(x_new, x, y, 100.0)

    assert check.regression(mean).outcome is Outcome.WRONG
    assert check.regression(nearest).outcome is Outcome.WRONG


def test_regression_with_the_student_s_own_lookup_is_right():
    def no_norm(X, M):
        return X

    def blunt(Y, M):
        return 2 * M**2 * Y

    def own_inputs(x_new, x, y, M):
        return blunt(x_new[:, None], M), no_norm(x[:, None], M), y

    assert check.regression(own_inputs, no_norm, blunt).earned == 2
    assert check.regression(own_inputs).misconception == "no norm term"
    assert check.regression(own_inputs, keys, queries).misconception == "no norm term"
    assert check.regression(inputs, no_norm, blunt).earned == 2


def test_regression_that_is_right_for_some_data_only_is_wrong():
    def distinct(x_new, x, y, M):
        x, kept = np.unique(x, return_index=True)
        pad = [0] * (len(y) - len(x))
        return inputs(x_new, np.r_[x, x[pad]], np.r_[y[kept], y[kept][pad]], M)

    assert any(check.regression(distinct).outcome is Outcome.WRONG for _ in range(5))
    mild = check.regression(lambda x_new, x, y, M: inputs(x_new, x, y, min(M, 3)))
    assert mild.outcome is Outcome.WRONG


def test_the_estimates_themselves_are_not_what_is_asked():
    def estimates(x_new, x, y, M):
        weights = np.exp(-(M**2) * (x_new[:, None] - x) ** 2)
        return weights @ y / weights.sum(axis=1)

    feedback = check.regression(estimates)
    assert feedback.outcome is Outcome.UNCHECKED
    assert "should return three arrays" in feedback.says


def test_shapes_that_do_not_fit_are_named():
    flat = check.regression(lambda x_new, x, y, M: (x_new, x, y))
    assert "Q has shape (1,), not (1, m)" in flat.says
    wide = check.regression(lambda x_new, x, y, M: (x_new[:, None], keys(x[:, None], M), y))
    assert "the widths must agree" in wide.says
    rows = check.regression(lambda x_new, x, y, M: (*inputs(x_new, x, y, M)[:2], y[:, None].T))
    assert "V has shape (1, 3), not (3, 1)" in rows.says


# -- 7.6 and 7.7: beyond the page ------------------------------------------------------------------


@pytest.mark.parametrize(
    "change",
    [
        lambda Q, K, V: (Q, K, V[::-1]),
        lambda Q, K, V: (np.asarray(Q) * 1.01, K, V),
        lambda Q, K, V: (Q, [*K, K[-1]], [*V, V[-1]]),  # two keys for nothing
        lambda Q, K, V: (Q, K, [*V[:-1], 0.0]),
        lambda Q, K, V: (-np.asarray(Q), K, V),
    ],
)
def test_a_default_with_other_weights_or_values_is_wrong(change):
    feedback = check.or_nothing(lambda *request: change(*or_nothing(*request)))
    assert (feedback.outcome, feedback.earned, feedback.misconception) == (Outcome.WRONG, 0, None)


def test_the_matrices_of_a_lookup_with_default_have_to_fit():
    for bad in [
        lambda *request: or_nothing(*request)[:2],
        lambda *request: 7.0,
        lambda Y, X, a, M, r, c: (Y, X, [*a, c]),
    ]:
        assert check.or_nothing(bad).outcome is Outcome.UNCHECKED


@pytest.mark.parametrize("student", [0, 5, "ada@example.org"])
def test_a_sharpness_or_a_border_that_is_a_little_off_is_wrong(student):
    _, M, border = own_shelf(student)
    for given in [
        (1.001 * M, border),
        (M, border + 1e-3),
        (-M, border),
        (M, 1e300),
        (1e300, border),
    ]:
        feedback = check.own_shelf(student, *given)
        assert (feedback.outcome, feedback.earned) == (Outcome.WRONG, 2), feedback
        assert feedback.misconception is None


def test_mistakes_are_named_with_every_students_field():
    _, M, _ = own_shelf(5)
    middle = sum(lookup(5).places[:2]) / 2
    assert check.own_shelf(5, M, middle).misconception == "the copies forgotten"


OVERFLOWING = ["(N-1)*exp(M**2*Delta)", "(N-1)*exp(exp(M))", "N/(M - 20)", "exp(M**4*Delta)"]


@pytest.mark.parametrize("bound", OVERFLOWING)
def test_a_bound_that_overflows_is_wrong_and_never_unchecked(bound):
    feedback = check.leak(bound)
    assert feedback.outcome is Outcome.WRONG, feedback
    assert feedback.earned == 0


def test_the_lost_sign_of_a_bound_has_a_name_and_a_place():
    feedback = check.leak("(N/2-1)*exp(M**2*Delta)")
    assert "does not fall to 0 as M grows" in feedback.says
    assert [m.name for m in feedback.mistakes] == ["the minus sign lost"]


@pytest.mark.parametrize(
    "M",
    [
        "((N-1)/epsilon)**(1/Delta)",
        "exp(log((N-1)/epsilon)/Delta)",
        "exp(exp(N/epsilon))",
        "1/(N-2)",
        "exp(1/epsilon)",
    ],
)
@pytest.mark.parametrize("own", [None, "(N-1)*exp(-M**2*Delta)", "exp(M**2*Delta)", "1/(M-2)"])
def test_an_m_beyond_all_numbers_is_wrong_and_the_check_goes_on(M, own):
    feedback = check.sharpness(M, own)
    assert feedback.outcome is Outcome.WRONG, feedback
    assert "check itself" not in feedback.says


def test_keys_that_overflow_are_wrong_with_the_place():
    feedback = check.lookup(lambda X, M: np.exp(1000 * X) / M, queries)
    assert feedback.outcome is Outcome.WRONG
    assert "inf" in feedback.says
    overflowing = check.regression(lambda x_new, x, y, M: (x_new[:, None], x[:, None] / 0, y))
    assert overflowing.outcome is Outcome.WRONG


def exact_shelf(student):
    """Both answers to 7.7 with all digits."""
    n = lookup(student)
    squares = np.sort((np.array(n.places) - n.query) ** 2)
    low, high = 0.0, 100.0
    for _ in range(200):
        middle = (low + high) / 2
        rest = np.exp(-(middle**2) * (squares[1:] - squares[0])).sum()
        low, high = (middle, high) if rest / (1 + rest) > n.epsilon else (low, middle)
    (a, b), (first, second) = n.places[:2], n.copies
    return low, (a + b) / 2 + np.log(first / second) / (2 * n.M**2 * (b - a))


@pytest.mark.parametrize("digits", [6, 7, 12])
def test_as_many_digits_as_asked_are_right_for_everybody(digits):
    for student in range(400):
        rounded = [float(f"{x:.{digits}g}") for x in exact_shelf(student)]
        feedback = check.own_shelf(student, *rounded)
        assert feedback.earned == 4, (student, feedback)


def test_a_number_that_is_off_in_the_fifth_digit_is_wrong_for_everybody():
    for student in range(0, 400, 7):
        M, y = exact_shelf(student)
        feedback = check.own_shelf(student, M * (1 + 3e-5), y + 3e-5 * max(abs(y), 1))
        assert feedback.earned == 0, (student, feedback)
        assert "0.5 of" not in feedback.says
