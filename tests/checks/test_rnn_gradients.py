"""Unit 01: right answers in several forms pass, wrong ones fail with the right words.

That every known mistake earns its own explanation is tested for all units at once, in
test_every_exercise.py.
"""

import math

import mpmath
import numpy as np
import pytest
import sympy

from course_utils import rnn
from course_utils.checks import rnn_gradients as check
from selfcheck.blanks import ____
from selfcheck.feedback import Outcome
from selfcheck.testing import passes_in_every_form, with_seeds
from tests.checks.forms import students_own

own = students_own("rnn")


def by_assumption(W, h_prev, z, sigma):
    return sigma(W @ sigma(h_prev) + z)


def claim(h, sigma):
    return sigma(h)


def entry_by_entry(W, a, dsigma):
    return [[W[i, j] * dsigma(a[i]) for j in range(len(a))] for i in range(len(a))]


def rows_scaled(W, slopes):
    return W * slopes[:, None]


def by_singular_values(W, gamma, T):
    return math.prod([gamma * np.linalg.svd(W, compute_uv=False)[0]] * T)


def multiplied(W, hs, dsigma):
    """The product of the Jacobians at these states, the latest on the left."""
    product = np.eye(len(W))
    for h in hs:
        product = (W * dsigma(h)) @ product
    return product


def bias_forward(W, hs, dsigma):
    """B_t = 1 + J_t B_{t−1}, from B_0 = 0 on: its slopes do not matter then."""
    B = np.zeros_like(W, dtype=float)
    for h in hs[:-1]:
        B = np.eye(len(W)) + W @ np.diag(dsigma(h)) @ B
    return B


def over_all_ways(W, hs, dsigma):
    return sum(multiplied(W, hs[t:-1], dsigma) for t in range(1, len(hs)))


def backward(W, hs, dsigma):
    """From h_T back: what a step adds, and what it hands on to the step before."""
    handed = total = np.eye(len(W))
    for h in hs[-2:0:-1]:
        handed = handed @ W * dsigma(h)
        total = total + handed
    return total


def solved_at_once(W, hs, dsigma):
    """All B_t are the solution of one system, with ones on its diagonal and −J_t below it."""
    n, T = len(W), len(hs) - 1
    A = np.eye(n * T)
    for t in range(1, T):
        A[n * t : n * t + n, n * t - n : n * t] = -W * dsigma(hs[t])
    return np.linalg.solve(A, np.tile(np.eye(n), (T, 1)))[-n:]


def mixed(W):
    """The same three units in other coordinates, in which all hear one another."""
    there = np.array([[1, 1, 1], [1, 2, 3], [1, 3, 6]])
    back = np.array([[3, -3, 1], [-3, 5, -2], [1, -2, 1]])
    return there @ W @ back


def sigmoid(x):
    return np.exp(x) / (1 + np.exp(x))


def gated_rows(h, W_f, x_f, W_c, x_c):
    """Row by row: through the state, the gate and the candidate."""
    rows = []
    for i, here in enumerate(np.eye(len(h))):
        f, c = sigmoid(W_f[i] @ h + x_f[i]), np.tanh(W_c[i] @ h + x_c[i])
        rows.append(f * here + f * (1 - f) * (h[i] - c) * W_f[i] + (1 - f) * (1 - c * c) * W_c[i])
    return rows


def gated_by_tiny_imaginary_nudges(h, W_f, x_f, W_c, x_c):
    columns = []
    for nudge in 1e-30j * np.eye(len(h)):
        f, c = sigmoid(W_f @ (h + nudge) + x_f), np.tanh(W_c @ (h + nudge) + x_c)
        columns.append((c + f * (h + nudge - c)).imag / 1e-30)
    return np.transpose(columns)


def gated_directly(h, W_f, x_f, W_c, x_c):
    f, c = 1 / (1 + np.exp(-W_f @ h - x_f)), np.tanh(W_c @ h + x_c)
    outer = np.outer((h - c) * f * (1 - f), np.ones(len(h))) * W_f
    return np.diag(f) + outer + ((1 - f) / np.cosh(W_c @ h + x_c) ** 2 * W_c.T).T


def at_least(W, gamma, a, T):
    return max(0.0, 1 - a * gamma * np.linalg.svd(W, compute_uv=False).max()) ** T


def at_most(W, gamma, a, T):
    return math.exp(T * math.log1p(a * gamma * math.sqrt(np.linalg.eigvalsh(W.T @ W)[-1])))


RIGHT = {
    "induction_step": [
        ([by_assumption, claim],),
        ((lambda z, W, h_prev, sigma: sigma(z + W.dot(sigma(h_prev))), lambda sigma, h: sigma(h)),),
        (
            [
                lambda W, z, g_prev, h_prev, h, sigma: sigma(W @ g_prev + z),
                lambda W, z, g_prev, h_prev, h, sigma: sigma(W @ sigma(h_prev) + z),
                lambda W, z, g_prev, h_prev, h, sigma: sigma((h - z) + z),
                lambda W, z, g_prev, h_prev, h, sigma: sigma(h),
            ],
        ),
        (  # a pseudo-inverse is a long way round, but it is true for every W
            [
                by_assumption,
                lambda W, h, z, sigma: sigma(W @ np.linalg.pinv(W) @ (h - z) + z),
                claim,
            ],
        ),
    ],
    "jacobian": [
        (lambda W, a, dsigma: (W.T * dsigma(a)).T,),
        (lambda W, a, dsigma: np.einsum("ij,i->ij", W, dsigma(a)),),
        (entry_by_entry,),
        (lambda W, a, dsigma: own.step_jacobian(W.T, a, dsigma).T,),
    ],
    "jacobian_product": [
        (bias_forward,),
        (over_all_ways,),
        (backward,),
        (solved_at_once,),
    ],
    "slope_bounds": [
        (1.5, 0.6667, 2, 0.75, 0.5998),
        ("3/2", "2/3", sympy.Integer(2), 0.75, 0.6),
        (
            sympy.Rational(3, 2),
            np.float64(2 / 3),
            2,
            "3/4",
            rnn.ACTIVATIONS["SiLU"].gamma - 0.5,
        ),
    ],
    "gradient_bound": [
        (lambda W, gamma, T: (gamma * np.linalg.norm(W, 2)) ** T,),
        (lambda W, gamma, T: (gamma**2 * np.linalg.eigvalsh(W.T @ W).max()) ** (T / 2),),
        (by_singular_values,),
    ],
    "forgetful": [
        ([[10, 10, -20], [10, 10, -20], [10, 10, -20]],),
        (np.outer([1e3, -1e3, 2e3, 5e2], [1, 2, 0.25, 1]),),
        (mixed(np.diag([20, 20], k=1) + np.diag([5], k=2)),),
        (mixed(np.diag([0.5, -0.5, 0.5]) + np.diag([40, 40], k=1)),),
    ],
    "explosion": [
        ("necessary", "identity", [[0, 100], [0, 0]]),
        ("Necessary", "tanh", 3),
        ("necessary", "sigmoid", [[4.5]]),
        ("necessary", "relu", np.array([[-2.0]])),
        ("necessary", "identity", [[0, 10], [0.1, 0]]),
    ],
    "gated_jacobian": [(gated_directly,), (gated_rows,), (gated_by_tiny_imaginary_nudges,)],
    "gate_bias": [
        (0, 5.6631, 1994),
        ("0", "-log(2**(1/200) - 1)", 1994.0),
        (1, 6.7020, 5627),
    ],
    "residual_bounds": [
        (at_least, at_most),
        (
            lambda W, gamma, a, T: np.clip(1 - a * gamma * np.linalg.norm(W, 2), 0, None) ** T,
            lambda W, gamma, a, T: np.prod(np.full(T, 1 + a * gamma * np.linalg.norm(W, 2))),
        ),
    ],
    "bound_by_lines": [
        (
            r"\|\prod_{t=1}^T J_t\| \le \prod_{t=1}^T\|J_t\| \le \prod_{t=1}^T\|W\|\|D_t\|"
            r"\le \prod_{t=1}^T \gamma\|W\| \le \delta^T",
        ),
        (r"\le \|W\|^T \gamma^T \le \delta^T",),
        ([r"≤ \prod_{t=1}^T \|W\|\|D_t\|", r"\le (\gamma\|W\|)^T", "≤ δ^T"],),
    ],
}


def forgets_though_strong(W):
    """By a million steps with 40 digits."""
    with mpmath.workdps(40):
        norm = max(mpmath.svd_r(mpmath.matrix(W), compute_uv=False))
        left = mpmath.norm(mpmath.matrix(W) ** 2**20)
        return bool(left < 1e-6 and norm >= 10 and len(W) >= 3 and np.abs(W).min() >= 0.1)


ORACLES = {"forgetful": forgets_though_strong}  # for the audit: other examples that are right

test_a_right_answer_passes_in_every_form = passes_in_every_form(check, RIGHT)


# -- 1.1 ------------------------------------------------------------------------------------------


def test_a_division_by_w_dies_at_a_singular_w():
    feedback = check.induction_step(
        [by_assumption, lambda W, h, z, sigma: sigma(W @ np.linalg.solve(W, h - z) + z), claim]
    )
    assert feedback.outcome is Outcome.WRONG
    assert feedback.says.startswith("Line 2 is false: at W = ")
    assert "is not defined" in feedback.says
    assert feedback.misconception == "divided by the matrix W"


def test_an_entrywise_division_by_w_is_refuted_by_its_shape_or_value():
    divided = [by_assumption, lambda W, h, z, sigma: sigma(W @ ((h - z) / W) + z), claim]
    assert check.induction_step(divided).outcome is Outcome.WRONG


def test_a_derivation_that_stops_before_the_claim_is_not_finished():
    feedback = check.induction_step([by_assumption])
    assert feedback.outcome is Outcome.WRONG
    assert "not yet σ(h_t)" in feedback.says
    assert feedback.misconception is None


def test_the_start_repeated_is_no_use_of_the_assumption():
    repeated = check.induction_step([lambda W, g_prev, z, sigma: sigma(W @ g_prev + z), claim])
    assert repeated.outcome is Outcome.WRONG
    assert "none uses the assumption" in repeated.says


def test_a_line_that_only_mentions_h_prev_is_no_use_of_the_assumption():
    padded = check.induction_step([lambda h, h_prev, sigma: sigma(h) + 0 * h_prev, claim])
    assert padded.outcome is Outcome.WRONG


def test_a_name_that_is_not_there_is_told_with_those_that_are():
    feedback = check.induction_step([lambda V: V])
    assert feedback.outcome is Outcome.UNCHECKED
    assert "Line 1 has the parameter V; a line may use W, z, g_prev" in feedback.says


def test_a_line_that_is_no_function_is_told_what_a_line_looks_like():
    for line in ({"sigma": "h"}, [3], np.tanh):
        feedback = check.induction_step([line])
        assert feedback.outcome is Outcome.UNCHECKED
        assert "a function such as `lambda W" in feedback.says


def test_a_line_with_a_blank_inside_is_not_attempted():
    blank = check.induction_step([by_assumption, lambda h, sigma: ____])
    assert blank.outcome is Outcome.NOT_ATTEMPTED


def test_a_line_that_raises_is_told_why():
    feedback = check.induction_step([lambda W, h: W @ undefined_name])  # noqa: F821
    assert feedback.outcome is Outcome.UNCHECKED
    assert "NameError" in feedback.says


def test_a_line_that_overwrites_its_inputs_fools_nobody():
    def cheat(W, z, g_prev, sigma):
        value = sigma(W @ g_prev + z)
        W[:] = 0.0
        return value

    before = {name: np.copy(check.STEP[name]) for name in ("W", "z", "h")}
    assert check.induction_step([cheat, by_assumption, claim]).outcome is Outcome.RIGHT
    assert all(np.array_equal(before[name], check.STEP[name]) for name in before)


# -- 1.2 and 1.3 ----------------------------------------------------------------------------------


def test_a_wrong_entry_is_told_with_the_nudge_that_shows_it():
    feedback = check.jacobian(lambda W, a, dsigma: rows_scaled(W, dsigma(0 * a)))
    assert feedback.outcome is Outcome.WRONG
    assert feedback.misconception is None or feedback.misconception == "the slope forgotten"
    assert "nudging entry 2 of g_{t−1} moves entry 1 of g_t: entry (1, 2)" in feedback.says


BENT = {  # right where slopes lie between 0 and 1, or where they are even, or small enough
    "sizes of slopes": np.abs,
    "slopes cut at 0 and 1": lambda slopes: np.clip(slopes, 0, 1),
    "slopes cut at −1 and 3/2": lambda slopes: np.clip(slopes, -1, 1.5),
}


@pytest.mark.parametrize("bent", BENT)
def test_slopes_are_taken_as_they_are(bent):
    one = check.jacobian(lambda W, a, f: rows_scaled(W, BENT[bent](f(a))))
    assert one.outcome is Outcome.WRONG
    many = check.jacobian_product(lambda W, hs, f: bias_forward(W, hs, lambda h: BENT[bent](f(h))))
    assert many.outcome is Outcome.WRONG or bent == "slopes cut at −1 and 3/2"


def test_slopes_are_taken_where_the_state_is_and_not_at_its_size():
    one = check.jacobian(lambda W, a, f: rows_scaled(W, f(np.abs(a))))
    many = check.jacobian_product(lambda W, hs, f: bias_forward(W, np.abs(hs), f))
    assert one.outcome is many.outcome is Outcome.WRONG


def test_what_is_right_for_few_units_or_few_steps_alone_is_wrong():
    one = check.jacobian(lambda W, a, f: rows_scaled(W, f(a)) * (len(a) < 4))
    short = check.jacobian_product(lambda W, hs, f: bias_forward(W, hs[-8:], f))
    assert one.outcome is short.outcome is Outcome.WRONG
    bounds = [
        lambda W, gamma, T: by_singular_values(W, gamma, min(T, 6)),
        lambda W, gamma, T: by_singular_values(W[:3, :3], gamma, T),
    ]
    assert [check.gradient_bound(bound).earned for bound in bounds] == [0, 0]


def test_answers_in_single_precision_are_right():
    def single(f):
        return lambda *args: f(*(np.asarray(a, np.float32) if np.ndim(a) else a for a in args))

    assert check.jacobian(single(RIGHT["jacobian"][0][0])).outcome is Outcome.RIGHT
    assert check.jacobian_product(single(backward)).outcome is Outcome.RIGHT
    assert check.gradient_bound(single(by_singular_values)).outcome is Outcome.RIGHT


def test_a_jacobian_right_only_for_symmetric_w_or_for_two_units_is_wrong():
    halves = check.jacobian(lambda W, a, f: rows_scaled((W + W.T) / 2, f(a)))
    only_two = check.jacobian(
        lambda W, a, f: rows_scaled(W, f(a)) if len(a) == 2 else np.zeros_like(W)
    )
    assert halves.outcome is only_two.outcome is Outcome.WRONG


@pytest.mark.parametrize(
    "wrong",
    [
        lambda W, a, f: rows_scaled(W, f(W @ a)),
        lambda W, a, f: rows_scaled(W, f(a)) @ W,
        lambda W, a, f: np.outer(f(a), np.ones(len(a))) + W,
        lambda W, a, f: rows_scaled(W, f(a[::-1])),
        lambda W, a, f: rows_scaled(W, f(a)) * f(a),
    ],
)
def test_slopes_in_other_places_are_wrong(wrong):
    feedback = check.jacobian(wrong)
    assert (feedback.outcome, feedback.misconception) == (Outcome.WRONG, None)


def test_a_vector_in_place_of_the_jacobian_is_told_its_shape():
    feedback = check.jacobian(lambda W, a, dsigma: W @ dsigma(a))
    assert feedback.outcome is Outcome.UNCHECKED
    assert "shape (2,); shape (2, 2) was expected" in feedback.says


def test_the_product_of_the_lecture_is_named():
    feedback = check.jacobian_product(lambda W, hs, f: multiplied(W, hs[:-1], f))
    assert feedback.misconception == "the path from h_0"


@pytest.mark.parametrize(
    "wrong",
    [
        lambda W, hs, f: sum(np.linalg.matrix_power(W * f(hs[0]), t) for t in range(len(hs) - 1)),
        lambda W, hs, f: bias_forward(W, hs[::-1], f),
        lambda W, hs, f: backward(W, hs, f) / (len(hs) - 1),
        lambda W, hs, f: backward(W, hs, f).T,
        lambda W, hs, f: multiplied(W, hs[1:-1], f) + np.eye(len(W)) * (len(hs) > 2),
        lambda W, hs, f: bias_forward(W, hs[1:], f),
        lambda W, hs, f: np.linalg.inv(np.eye(len(W)) - W * f(hs[-2]) + 1e-9),
    ],
)
def test_other_sums_over_the_ways_are_wrong(wrong):
    feedback = check.jacobian_product(wrong)
    assert feedback.outcome is Outcome.WRONG
    assert "T = " in feedback.says


# -- 1.4 and 1.5 ----------------------------------------------------------------------------------


def test_one_wrong_slope_bound_costs_one_point_and_two_cost_both():
    assert check.slope_bounds(1.5, 0.667, 2, 0.75, 1.1).earned == 1
    assert check.slope_bounds(0.25, 1, 1, 1, 1.1).earned == 0


@pytest.mark.parametrize("silu", [0.6, 0.5998, 0.59984, "0.599839", 0.59983, 0.5998393201288669,
                                  np.float32(0.59984), 0.5997])  # fmt: skip
def test_a_slope_bound_may_be_rounded_to_three_decimals_or_more(silu):
    assert check.slope_bounds(1.5, 0.667, 2, 0.75, silu).outcome is Outcome.RIGHT


@pytest.mark.parametrize("wrong", [
    (1.5009, 0.667, 2, 0.75, 0.6), (1.501, 0.667, 2, 0.75, 0.6), (1.499, 0.667, 2, 0.75, 0.6),
    (1.5, 0.6676, 2, 0.75, 0.6), (1.5, 0.667, 1.999, 0.75, 0.6), (1.5, 0.667, 2, 0.7509, 0.6),
    (1.5, 0.667, 2, 0.75, 0.6008), (1.5, 0.667, 2, 0.75, 0.5991), (1.5, 0.667, 2, 0.75, 0.599),
    (1.5, 0.667, 2, 0.75, -0.6), (1.5, 0.667, -2, 0.75, 0.6), (1.5, 0.667, 2, 0.75, 0.61),
])  # fmt: skip
def test_a_slope_bound_with_a_wrong_third_decimal_is_wrong(wrong):
    feedback = check.slope_bounds(*wrong)
    assert (feedback.earned, feedback.misconception) == (1, None)


def test_the_slopes_of_the_lecture_are_all_wrong_and_each_is_named():
    names = [known.name for known in check.slope_bounds(0.25, 1, 1, 1, 1.1).mistakes]
    assert names == [
        "the sigmoid of the lecture",
        "the tanh of the lecture",
        "the side that falls overlooked",
        "the softplus of the lecture",
        "the SiLU of the lecture",
    ]


LOOSE = {
    "Frobenius": lambda W, gamma, T: (gamma * np.linalg.norm(W)) ** T,
    "nuclear": lambda W, gamma, T: (gamma * np.linalg.norm(W, "nuc")) ** T,
    "the largest entry times n": lambda W, gamma, T: (gamma * len(W) * np.abs(W).max()) ** T,
    "geometric mean of two norms": lambda W, gamma, T: (
        (gamma**2 * np.linalg.norm(W, 1) * np.linalg.norm(W, np.inf)) ** (T / 2)
    ),
    "never below 1": lambda W, gamma, T: max(1, gamma * np.linalg.norm(W, 2)) ** T,
    "1 or more": lambda W, gamma, T: max(1, (gamma * np.linalg.norm(W, 2)) ** T),
    "1 added": lambda W, gamma, T: (1 + gamma * np.linalg.norm(W, 2)) ** T,
    "exponential": lambda W, gamma, T: np.exp(T * gamma * np.linalg.norm(W, 2)),
    "twice the best": lambda W, gamma, T: 2 * (gamma * np.linalg.norm(W, 2)) ** T,
    "Frobenius after the first step": lambda W, gamma, T: (
        gamma**T * np.linalg.norm(W, 2) * np.linalg.norm(W) ** (T - 1)
    ),
}


@pytest.mark.parametrize("name", LOOSE)
def test_a_valid_but_loose_bound_earns_half_of_the_points(name):
    feedback = check.gradient_bound(LOOSE[name])
    assert (feedback.headline, feedback.earned) == ("partly right", 1)
    assert "never too small, but it could be smaller" in feedback.says


NO_BOUND = {
    "column sums": lambda W, gamma, T: (gamma * np.linalg.norm(W, 1)) ** T,
    "row sums": lambda W, gamma, T: (gamma * np.linalg.norm(W, np.inf)) ** T,
    "the largest entry": lambda W, gamma, T: (gamma * np.abs(W).max()) ** T,
    "norm of the power": lambda W, gamma, T: (
        gamma**T * np.linalg.norm(np.linalg.matrix_power(W, T), 2)
    ),
    "determinant": lambda W, gamma, T: (gamma * abs(np.linalg.det(W))) ** T,
    "zero": lambda W, gamma, T: 0.0,
    "one": lambda W, gamma, T: 1.0,
    "the smallest singular value": lambda W, gamma, T: (gamma * np.linalg.norm(W, -2)) ** T,
}


@pytest.mark.parametrize("name", NO_BOUND)
def test_what_is_no_bound_is_refuted_by_a_run(name):
    feedback = check.gradient_bound(NO_BOUND[name])
    assert (feedback.outcome, feedback.earned) == (Outcome.WRONG, 0)
    assert "a run has ‖∂h_T/∂h_0‖ = " in feedback.says


@pytest.mark.parametrize("constant", [1e9, 1e200, np.inf, np.nan])
def test_no_constant_is_a_bound(constant):
    feedback = check.gradient_bound(lambda W, gamma, T: constant)
    assert (feedback.outcome, feedback.earned) == (Outcome.WRONG, 0)


# -- 1.6 and 1.7 ----------------------------------------------------------------------------------


def test_a_matrix_that_forgets_is_told_after_how_many_steps():
    assert "after 2 steps no trace" in check.forgetful(RIGHT["forgetful"][0][0]).says
    assert "after 4 steps no trace" in check.forgetful(RIGHT["forgetful"][2][0]).says


@pytest.mark.parametrize("W", [[[0, 100], [0, 0]], [[0, 10, 0], [0, 0, 10], [0, 0, 0]]])
def test_the_matrix_of_the_lecture_is_no_answer(W):
    feedback = check.forgetful(W)
    assert (feedback.outcome, feedback.earned) == (Outcome.WRONG, 0)
    assert "at least 3" in feedback.says or "no entry is nearer to 0 than 0.1" in feedback.says


@pytest.mark.parametrize(
    "W",
    [
        np.outer([10, 10, 10], [1, 1, -1.9]) / 0.1,
        np.outer([10, 10, 10], [1, 1, -2]) + 1.01 * np.eye(3),
        np.outer([1, 2, 3], [4, 5, 6]),
        np.outer([10, 10, 10], [1, 1, -2]) * (1 - 0.995 * np.eye(3)),
        mixed(np.diag([1.5, 0.5, 0.25]) + np.diag([40, 40], k=1)),
        mixed(np.diag([0.5, -1.0, 0.5]) + np.diag([40, 40], k=1)),
        mixed(np.diag([0.5, 1.0, 0.5]) + np.diag([40, 40], k=1)),
        mixed(np.array([[0.6, -0.8, 40], [0.8, 0.6, 40], [0, 0, 0.5]])),
    ],
)
def test_other_dense_matrices_do_not_forget(W):
    assert check.forgetful(W).outcome is Outcome.WRONG


@pytest.mark.parametrize("shape", [(2,), (2, 3), (0, 0), (1, 2, 2), (21, 21)])
def test_what_is_no_square_matrix_of_moderate_size_cannot_be_checked(shape):
    feedback = check.forgetful(np.ones(shape))
    assert feedback.outcome is Outcome.UNCHECKED
    assert "a square matrix of at most 20 rows" in feedback.says


def test_huge_entries_and_ragged_rows_get_a_sentence():
    assert "between −10⁶ and 10⁶" in check.forgetful([[0, 1e9], [0, 0]]).says
    assert check.forgetful([[0, 1], [0]]).outcome is Outcome.UNCHECKED


def test_the_largest_matrices_do_not_overflow():
    signs = np.resize([1, -1], 20)
    assert check.forgetful(np.full((20, 20), 1e6) * signs).outcome is Outcome.RIGHT
    assert check.forgetful(np.full((20, 20), 1e6)).outcome is Outcome.WRONG


def test_whether_it_forgets_is_told_however_far_it_swings_before():
    far = 1e6 * np.eye(20, k=1)
    assert check._forgets(0.99 * np.eye(20) + far)
    assert not check._forgets(1.01 * np.eye(20) + far)
    assert check._forgets(np.array([[1 - 1e-4, 10], [0, 0.1]]))
    assert not check._forgets(np.array([[1, 10], [0, 0.1]]))
    grows = np.outer([10, 10, 10], [1, 1, -1])
    assert "grows beyond all limits" in check.forgetful(grows).says


def test_a_forgetful_mistake_is_named_only_where_it_was_made():
    assert check.forgetful([[2, 1], [0, 3]]).misconception is None
    assert check.forgetful(mixed(np.diag([2.0, 3.0, 5.0]))).misconception is None


EXPLODES = [
    ("identity", [[10]]), ("identity", [[5.7]]), ("identity", [[1000]]),
    ("identity", 10 * np.eye(2)),
    ("identity", [[10, 0], [0, 0]]), ("identity", [[0, -10], [10, 0]]), ("identity", [[1.01]]),
    ("identity", [[1, 0.001], [0, 1]]), ("identity", [[1.0000001]]), ("ReLU", [[10]]),
    ("ReLU", 10 * np.ones((2, 2))), ("ReLU", [[1, 0.001], [0, 1]]), ("softplus", [[10]]),
    ("GELU", [[10]]), ("SiLU", [[10]]), ("SiLU", [[1.05]]), ("identity", np.full((20, 20), 1e6)),
]  # fmt: skip
CALM = [
    ("identity", [[1, 5], [0, 0.99]]), ("identity", [[0.999, 10], [0, 0.999]]),
    ("identity", [[1, 5], [0, 1 - 1e-9]]), ("identity", 0.99 * np.eye(20) + 1e6 * np.eye(20, k=1)),
    ("ReLU", [[1, 5], [0, 0.99]]), ("tanh", [[0, 100], [0, 0]]), ("sigmoid", [[100]]),
    ("GELU", [[-3]]), ("softplus", [[-5]]), ("tanh", [[1.5, 0], [0, 1e6]]),
]  # fmt: skip


def test_what_no_run_decides_earns_its_points_and_those_who_grade_are_told():
    feedback = check.explosion("necessary", "ReLU", [[0, 1.50075], [0.667, 0]])
    assert feedback.earned == feedback.points
    assert "may be rounding" in feedback.undecided
    assert "hardly grows in 4,000 steps" in feedback.says
    assert not check.explosion("necessary", "tanh", [[3]]).undecided


@pytest.mark.parametrize(("activation", "W"), EXPLODES)
def test_an_explosion_is_seen_however_fast_or_slow(activation, W):
    feedback = check.explosion("necessary", activation, W)
    assert (feedback.outcome, feedback.earned) == (Outcome.WRONG, 1)
    assert "grows beyond all limits" in feedback.says
    assert "exponent" in feedback.says


@pytest.mark.parametrize(("activation", "W"), CALM)
def test_what_only_swings_far_does_not_explode(activation, W):
    assert check.explosion("necessary", activation, W).outcome is Outcome.RIGHT


def test_a_network_that_explodes_is_told_why_it_does():
    alike = "a W that stretches every vector alike"
    assert check.explosion("necessary", "identity", [[1.01]]).misconception == alike
    for W in ([[2, 0], [0, 0.1]], [[1, 1], [0, 1]]):
        feedback = check.explosion("necessary", "identity", W)
        assert feedback.misconception == "a network that does explode"


@pytest.mark.parametrize(("norm", "name"), [(2, "γ forgotten"), (3.9, None), (4, "on the limit")])
def test_a_norm_below_the_limit_is_explained_by_what_it_is(norm, name):
    assert check.explosion("necessary", "sigmoid", [[norm]]).misconception == name


def test_each_half_of_exercise_7_earns_one_point():
    named = check.explosion("necessary", "tanh", [[0.5]])
    shown = check.explosion("both", "tanh", [[3]])
    assert (named.earned, shown.earned) == (1, 1)
    assert "not above 1/γ = 1" in named.says
    assert check.explosion("neither", "tanh", [[0.5]]).earned == 0


def test_the_kind_of_condition_is_found_by_running_networks():
    assert check.kind_of_condition() == "necessary"


def test_a_rotation_whose_norm_is_1_up_to_rounding_is_not_above_1():
    assert check.explosion("necessary", "identity", [[0.6, -0.8], [0.8, 0.6]]).earned == 1


# -- 1.8 to 1.10 -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "wrong",
    [
        lambda h, W_f, x_f, W_c, x_c: np.transpose(gated_rows(h, W_f, x_f, W_c, x_c)),
        lambda h, W_f, x_f, W_c, x_c: gated_directly(h, W_f, 0 * x_f, W_c, x_c),
        lambda h, W_f, x_f, W_c, x_c: gated_directly(h, W_f, x_f, W_c, 0 * x_c),
        lambda h, W_f, x_f, W_c, x_c: gated_directly(h, W_c, x_c, W_f, x_f),
        lambda h, W_f, x_f, W_c, x_c: np.diag(np.diag(gated_rows(h, W_f, x_f, W_c, x_c))),
    ],
    ids=["transposed", "no input to the gate", "none to c", "f and c exchanged", "diagonal"],
)
def test_other_jacobians_of_a_gated_step_are_wrong(wrong):
    feedback = check.gated_jacobian(wrong)
    assert (feedback.outcome, feedback.misconception) == (Outcome.WRONG, None)


def test_a_gated_step_is_not_nudged_by_the_package():
    def nudged(h, *rest):
        return rnn.finite_differences(lambda h: check.gated_step(h, *rest), h)

    assert check.gated_jacobian(nudged).outcome is Outcome.UNCHECKED


def test_bias_and_count_earn_their_own_point_and_a_bias_of_two_decimals_is_told_so():
    assert (check.gate_bias(0, 5.6631, 1993).earned, check.gate_bias(0, 0, 1994).earned) == (1, 1)
    assert "0.4989 of the gradient is left" in check.gate_bias(0, 5.66, 1994).says
    for steps in (1995, 1993.5, -3, 10**12):
        assert check.gate_bias(0, 5.6631, steps).earned == 1


def test_bounds_that_hold_only_sometimes_are_wrong_and_loose_ones_are_told_so():
    def norm(W):
        return np.linalg.norm(W, 2)

    loose = check.residual_bounds(lambda W, g, a, T: 0.0, lambda W, g, a, T: 1e30)
    assert loose.says.count("No run is beyond your bound") == 2
    for least in (
        lambda W, g, a, T: abs(1 - a * g * norm(W)) ** T,
        lambda W, g, a, T: max(0, 1 - T * a * g * norm(W)),
        lambda W, g, a, T: (1 + a * g * norm(W)) ** -T,
    ):
        assert check.residual_bounds(least, at_most).earned == 1
    for most in (
        lambda W, g, a, T: (1 + a * norm(W)) ** T,
        lambda W, g, a, T: (1 + a * g * np.abs(np.linalg.eigvals(W)).max()) ** T,
        lambda W, g, a, T: (1 + a * g * np.linalg.norm(W)) ** T,
    ):
        assert check.residual_bounds(at_least, most).earned == 1


def test_slopes_of_32_bits_are_right_with_every_seed():
    def single(W, a, dsigma):
        return dsigma(a.astype(np.float32))[:, None] * W

    assert with_seeds(check.jacobian, (single,)) == [(2,)] * 12


def test_a_product_that_forgets_networks_of_one_unit_is_wrong_with_every_seed():
    def for_more(W, hs, dsigma):
        return bias_forward(W, hs, dsigma) * (len(W) > 1)

    assert {found[0] for found in with_seeds(check.jacobian_product, (for_more,))} == {0}


@pytest.mark.parametrize(
    "W",
    [
        np.outer([1.0, 1.0, 1.0], [20.0, 0.05, -20.05]),
        [[0, 10, -10], [10, -10, 10], [10, -10, 10]],
    ],
)
def test_a_small_entry_and_a_unit_that_does_not_hear_itself_are_not_taken_for_a_missing_way(W):
    feedback = check.forgetful(W)
    assert (feedback.earned, feedback.misconception) == (0, None)


# -- truth has an error bound, and "for all" is tried by the worst case --------------------------


HIDDEN = [  # exactly triangular in other coordinates, with the spectral radius ½; eigvals say 0.526
    [16.5, -18, -6, 17, 21],
    [90, -95.5, -38, -20, -6],
    [-255, 231, 94.5, 89, 22],
    [410, -297, -118, -37.5, 136],
    [254, -207, -84, -62, 24.5],
]


def in_other_coordinates(diagonal, seed):
    """An exact matrix with these eigenvalues: S T S⁻¹ with a whole S of determinant 1."""
    rng, n = np.random.default_rng(seed), len(diagonal)
    S, back = np.eye(n), np.eye(n)
    for _ in range(2 * n):
        i, j = rng.choice(n, 2, replace=False)
        step = np.eye(n)
        step[i, j] = rng.choice([-2, -1, 1, 2])
        S, back = S @ step, (2 * np.eye(n) - step) @ back
    return S @ (np.diag(diagonal) + np.triu(rng.integers(-9, 10, (n, n)), 1)) @ back


def test_a_radius_of_one_half_is_not_called_growth():
    assert check.forgetful(HIDDEN).outcome is Outcome.RIGHT
    feedback = check.explosion("necessary", "identity", HIDDEN)
    assert feedback.earned == 2
    assert "-0.693" in feedback.says


@pytest.mark.parametrize("seed", range(12))
def test_powers_are_decided_exactly(seed):
    W = in_other_coordinates([0.5, -0.5, 0.25, 0.5, 0.0, -0.5], seed)
    assert check._forgets(W)
    assert not check.growth(W, check.IDENTITY).explodes
    wild = in_other_coordinates([0.5, -0.5, 1.25, 0.5, 0.0, -0.5], seed)
    assert check.growth(wild, check.IDENTITY).explodes
    assert check.growth(wild, check.IDENTITY).exponent == pytest.approx(np.log(1.25), rel=1e-3)


@pytest.mark.parametrize("seed", range(12))
def test_eigenvalues_on_the_circle_stay_and_a_jordan_block_there_grows(seed):
    start = in_other_coordinates([0.0] * 5, seed)
    assert not check.growth(start, check.IDENTITY).explodes
    calm = np.diag([1.0, -1.0, 0.5, 0.0, 0.25])
    rng = np.random.default_rng(seed)
    S = np.eye(5) + np.triu(rng.integers(-3, 4, (5, 5)), 1)
    back = np.round(np.linalg.inv(S))
    assert not check.growth(S @ calm @ back, check.IDENTITY).explodes
    calm[0, 1], calm[1, 1] = 1.0, 1.0
    assert check.growth(S @ calm @ back, check.IDENTITY).explodes


def test_an_entry_of_a_tenth_up_to_rounding_is_a_tenth():
    assert check.forgetful(np.outer([10, 10, 0.7 - 0.6], [1, 1, -200])).outcome is Outcome.RIGHT
    assert "the entry 0.0999;" in check.forgetful(np.outer([10, 10, 0.0999], [1, 1, -200])).says


def extremes(W, gamma, a):
    step = a * gamma * W
    return np.linalg.svd([np.eye(len(W)) + step, np.eye(len(W)) - step], compute_uv=False)


def most_of_all_signs(W, gamma, a, T):
    """The worst pattern of signs, kept for all steps."""
    signs = check.signs_for(W)[:, None, :]
    return float(np.linalg.norm(np.eye(len(W)) + a * gamma * W * signs, 2, (1, 2)).max()) ** T


FALSE_BOUNDS = {
    "two extreme steps": (
        lambda W, g, a, T: (
            0.0 if a * g * np.linalg.norm(W, 2) >= 1 else extremes(W, g, a).min() ** T
        ),
        lambda W, g, a, T: extremes(W, g, a).max() ** T,
    ),
    "the spectral radius": (
        lambda W, g, a, T: max(0, 1 - a * g * np.abs(np.linalg.eigvals(W)).max()) ** T,
        lambda W, g, a, T: (1 + a * g * np.abs(np.linalg.eigvals(W)).max()) ** T,
    ),
    "the symmetric part": (
        lambda W, g, a, T: max(0, 1 - a * g * np.linalg.norm(W + W.T, 2) / 2) ** T,
        lambda W, g, a, T: (1 + a * g * np.linalg.norm(W + W.T, 2) / 2) ** T,
    ),
    "the largest entry": (
        lambda W, g, a, T: max(0, 1 - a * g * np.abs(W).max()) ** T,
        lambda W, g, a, T: (1 + a * g * np.abs(W).max()) ** T,
    ),
}


@pytest.mark.parametrize("name", FALSE_BOUNDS)
def test_a_bound_that_some_slopes_exceed_is_none(name):
    assert check.residual_bounds(*FALSE_BOUNDS[name]).earned == 0


def test_slopes_that_differ_from_unit_to_unit_are_named():
    feedback = check.residual_bounds(*FALSE_BOUNDS["two extreme steps"])
    assert {known.name for known in feedback.mistakes} == {"one slope for all units"}
    assert "became 0.5 long; your bound is 1.118" in feedback.says


def test_a_truer_bound_than_the_norm_gives_is_right():
    """Signs that change from step to step do no more than the worst pattern of each."""
    assert check.residual_bounds(at_least, most_of_all_signs).earned >= 1


@pytest.mark.parametrize("bound", [
    lambda W, g, T: g**T * np.linalg.norm(np.linalg.matrix_power(W, T), 2),
    lambda W, g, T: (g * np.linalg.norm(W, 2)) if T == 1 else max(
        np.linalg.norm(np.linalg.matrix_power(W * s * g, T), 2) for s in check.signs_for(W)[:4]),
    lambda W, g, T: (g * np.linalg.norm(W @ W if T > 1 else W, 2) ** (1 / min(T, 2))) ** T,
])  # fmt: skip
def test_a_bound_for_some_patterns_of_slopes_is_none(bound):
    assert check.gradient_bound(bound).earned == 0


# -- sentences are true as printed ---------------------------------------------------------------


def test_a_slope_bound_is_refuted_without_the_answer():
    for junk in (0, 1e6, -1):
        says = check.slope_bounds(*[junk] * 5).says
        assert not any(answer in says for answer in ("1.5", "0.66", "0.75", "0.59", "0.6"))


def test_a_named_count_never_contradicts_its_sentence():
    for student in [f"s{k}@uni.edu" for k in range(60)]:
        n = check.rnn_gradients(student)
        exact = int(np.ceil(n.steps * np.log(1e-3) / np.log(n.share)))
        for off in (-2, -1, 1, 2):
            feedback = check.gate_bias(student, 1, exact + off)
            names = {-1: ["one step too early"], 1: ["one step too late"]}.get(off, [])
            assert [m.name for m in feedback.mistakes if m.part == "Forgotten"] == names
            assert ("not less than" in feedback.says) == (off < 0)


def test_a_count_that_is_not_whole_is_printed_as_it_is():
    feedback = check.gate_bias(0, 5.6631, 200 * np.log(1e-3) / np.log(0.5))
    assert "1993.16 is no number of steps" in feedback.says
    assert feedback.misconception == "not rounded"


def test_a_bias_of_four_decimals_is_right_for_everybody():
    for student in range(400):
        n = check.rnn_gradients(student)
        gate = n.share ** (1 / n.steps)
        assert check.gate_bias(student, round(np.log(gate / (1 - gate)), 4), 1).earned == 1


@pytest.mark.parametrize("words", ["necessary, not sufficient", "necessary but not sufficient"])
def test_a_condition_may_be_said_in_more_words(words):
    assert check.explosion(words, "tanh", [[3]]).earned == 2


@pytest.mark.parametrize(("name", "wrong"), [
    ("the bias added before the factor", lambda W, hs, f: bias_before(W, hs, f)),
    ("the norm once for all steps", lambda W, gamma, T: gamma**T * np.linalg.norm(W, 2)),
    ("W_f and W_c exchanged", lambda *given: gated_of(*given, exchanged=True)),
    ("1 − c in place of 1 − c²", lambda *given: gated_of(*given, power=1)),
])  # fmt: skip
def test_common_slips_have_a_name(name, wrong):
    exercise = {1: check.jacobian_product, 2: check.gradient_bound}.get(
        1 if "bias" in name else 2 if "norm" in name else 3, check.gated_jacobian
    )
    assert exercise(wrong).misconception == name


def bias_before(W, hs, dsigma):
    B = np.eye(len(W))
    for h in hs[1:-1]:
        B = W @ np.diag(dsigma(h)) @ (B + np.eye(len(W)))
    return B


def gated_of(h, W_f, x_f, W_c, x_c, exchanged=False, power=2):
    f, c = sigmoid(W_f @ h + x_f), np.tanh(W_c @ h + x_c)
    W_f, W_c = (W_c, W_f) if exchanged else (W_f, W_c)
    return (
        np.diag(f) + np.diag((h - c) * f * (1 - f)) @ W_f + np.diag((1 - f) * (1 - c**power)) @ W_c
    )


def test_a_bound_that_is_an_array_is_asked_for_a_single_number():
    feedback = check.gradient_bound(lambda W, gamma, T: gamma * np.linalg.norm(W, axis=0) ** T)
    assert "has shape (2,); a single number was expected" in feedback.says


def test_the_path_to_the_bias_is_tried_with_as_many_states_as_units():
    def turned_if_square(W, hs, dsigma):
        B = np.eye(len(W))
        for h in hs[1:-1]:
            B = np.eye(len(W)) + W * dsigma(h) @ B
        return B.T if len(hs) == len(W) else B

    assert check.jacobian_product(turned_if_square).outcome is Outcome.WRONG


def test_a_line_may_take_what_it_does_not_use():
    lines = [
        lambda W, z, h_prev, sigma, *_: sigma(z + W @ sigma(h_prev)),
        lambda sigma, h: sigma(h),
    ]
    assert check.induction_step(lines).outcome is Outcome.RIGHT
