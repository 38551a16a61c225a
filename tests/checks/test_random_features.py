"""Unit 09: right answers in several forms pass, wrong ones fail with the right words.

That every known mistake earns its own explanation is tested for all units at once, in
test_every_exercise.py.
"""

import re
from fractions import Fraction

import numpy as np
import pytest
import sympy

from course_utils.checks import random_features as check
from course_utils.variants import random_features
from selfcheck.blanks import ____
from selfcheck.feedback import Outcome
from tests.checks.forms import students_own

own = students_own("attention")
linear_attention, positive_features = own.linear_attention, own.positive_features

xx, xy, yy, s, ww, wu, r, m = sympy.symbols("xx xy yy s ww wu r m")
SPLIT = ["exp(-xx/2) * exp((xx + 2*xy + yy)/2) * exp(-yy/2)", "exp(-xx/2) * exp(s/2) * exp(-yy/2)"]
SHIFT = ["exp(s/2) * exp(-(ww - 2*wu + s)/2)", "exp(s/2) * exp(-r/2)"]


def for_attention(f):
    """Features for exp(xᵀy/√d) from those for exp(xᵀy)."""
    return lambda X, W: f(X / np.sqrt(np.sqrt(X.shape[1])), W)


right_features = for_attention(positive_features)


def features_by_loops(X, W):
    root, m = X.shape[1] ** 0.5, len(W)
    return [
        [np.exp(sum(w * x) / root**0.5 - sum(x * x) / (2 * root)) / m**0.5 for w in W] for x in X
    ]


def features_by_completed_square(X, W):
    """exp(−‖w−z‖²/2) exp(‖w‖²/2)/√m: the same numbers, another thought."""
    Z = X / np.sqrt(np.sqrt(W.shape[1]))
    far = ((Z[:, None] - W) ** 2).sum(axis=2)
    return np.exp(((W**2).sum(axis=1) - far) / 2) / np.sqrt(W.shape[0])


def mirrored_features(X, W):
    """w and −w are equally likely, so this is as unbiased as the usual form."""
    return right_features(X, -W)


def tempered_features(X, W, a=-0.05):
    """D exp(a‖w‖² + b wᵀz − ‖z‖²/2): unbiased for every a < 1/4 with b² = 1 − 4a."""
    Z = X / X.shape[1] ** 0.25
    b, scale = np.sqrt(1 - 4 * a), (1 - 4 * a) ** (X.shape[1] / 4)
    exponents = a * (W**2).sum(axis=1) + b * Z @ W.T - (Z**2).sum(axis=1, keepdims=True) / 2
    return scale * np.exp(exponents) / np.sqrt(len(W))


def attention_by_loops(Q, K, V, W, counts):
    """The factor of a query cancels, so it is left out."""
    root = Q.shape[1] ** 0.5
    F, G = np.exp(Q @ W.T / root**0.5), np.exp(K @ W.T / root**0.5)
    state, total = 0.0, 0.0
    for g, k, v, a in zip(G, K, V, counts, strict=True):
        weight = a * g * np.exp(-(k**2).sum() / (2 * root))
        state, total = state + np.outer(weight, v), total + weight
    return (F @ state) / (F @ total)[:, None]


def attended(F, G, V, counts):
    """The values get a column of ones, and all of them their counts."""
    both = F @ (G.T @ (counts[:, None] * np.c_[V, np.ones(len(V))]))
    return both[:, :-1] / both[:, -1:]


def attention_by_einsum(Q, K, V, W, counts):
    F, G = right_features(Q, W), right_features(K, W)
    numerator = np.einsum("ir,rl->il", F, np.einsum("jr,j,jl->rl", G, counts, V))
    return numerator / np.einsum("ir,r->i", F, counts @ G)[:, None]


def attention_with(f):
    return lambda Q, K, V, W, counts: attended(f(Q, W), f(K, W), V, counts)


def attention_in_float32(Q, K, V, W, counts):
    arrays = (array.astype(np.float32) for array in (Q, K, V, W, counts))
    return attention_with(right_features)(*arrays)


def ratio(student):
    """Covariance and number of features from dot products alone."""
    n = random_features(student)
    q, k1, k2 = map(np.array, (n.q, n.k1, n.k2))
    u1, u2 = q + k1, q + k2
    covariance = (np.exp(q @ k1 + q @ k2 + u1 @ u2) - np.exp(q @ k1 + q @ k2)) / n.m
    spread = np.exp(u1 @ u1) + np.exp(u2 @ u2) - 2 * np.exp(u1 @ u2)
    return student, covariance, spread / n.r**2


def attention_to_copies(Q, K, V, W, counts):
    """Every key as often as it counts."""
    F, G, V = (
        right_features(Q, W),
        right_features(np.repeat(K, counts, axis=0), W),
        np.repeat(V, counts, axis=0),
    )
    return F @ (G.T @ V) / (F @ G.sum(axis=0))[:, None]


BELL = r"""\begin{aligned}
\exp\left(\frac{\|\boldsymbol{x}+\boldsymbol{y}\|^2}{2}\right)
 &= (2\pi)^{-d/2} \exp(\tfrac12\|x+y\|^2) \int_w \exp(-\tfrac12\|w-(x+y)\|^2) dw \\
 &= (2\pi)^{-d/2} \int_w \exp(-\tfrac12\|w\|^2 + w^\top(x+y)) dw \\
 &= \mathbb{E}_{w\sim\mathcal{N}(0,I)}[\exp(w^\top x) \exp(w^\top y)]
\end{aligned}"""
RIGHT = {
    "completed_square": [
        (SPLIT, SHIFT),
        (
            ["exp((xx + 2*xy + yy)/2 - xx/2 - yy/2)", sympy.exp((s - xx - yy) / 2)],
            [sympy.exp(s / 2) * sympy.exp(-(ww - 2 * wu + s) / 2), sympy.exp((s - r) / 2)],
        ),
        (
            ("exp(xy + xx/2 + yy/2 - xx/2 - yy/2)", *SPLIT),
            ("exp(wu - ww/2)", "exp(wu - ww/2 - s/2 + s/2)", *SHIFT),
        ),
    ],
    "features": [
        (right_features,),
        (features_by_loops,),
        (features_by_completed_square,),
        (mirrored_features,),
        (tempered_features,),
        (lambda X, W: tempered_features(X, W, a=-1.0),),
        (lambda X, W: right_features(X, W[:, ::-1]),),
        (lambda X, W: right_features(X.astype(np.float32), W.astype(np.float32)),),
        (lambda X, W: np.exp(X @ W.T / X.shape[1] ** 0.25 - (X**2).mean(axis=1, keepdims=True)
                             * X.shape[1] ** 0.5 / 2) / len(W) ** 0.5,),
    ],
    "variance": [
        (sympy.exp(2 * xy) * ((1 + (sympy.exp(s / 2) - 1) / m) ** 2 - 1),),
        ("exp(2·xy)·(2(exp(s/2) − 1)/m + (exp(s/2) − 1)²/m²)",),
        ("(exp(xy)*(m - 1 + exp(s/2))/m)**2 - exp(2*xy)",),
        ("exp(2*xy)*(exp(s/2) - 1)*(2*m + exp(s/2) - 1)/m**2",),
    ],
    "needed_features": [
        ((sympy.exp(s / 2) - 1) / (sympy.sqrt(1 + r**2) - 1),),
        ("(exp(s/2) - 1)*(sqrt(1 + r**2) + 1)/r**2",),
        ("(exp(s/2) − 1)/((1 + r²)^(1/2) − 1)",),
    ],
    "approximate_attention": [
        (attention_with(right_features), right_features),
        (attention_by_loops, right_features),
        (attention_with(lambda X, W: right_features(X, W) / len(W)), right_features),
        (attention_to_copies, right_features),
        (attention_by_einsum, features_by_loops),
        (attention_with(mirrored_features), mirrored_features),
        (attention_with(mirrored_features), lambda X, W: ____),
        (attention_with(tempered_features), tempered_features),
        (attention_in_float32, right_features),
    ],
    "antithetic": [
        (sympy.exp(2 * xy) * (sympy.cosh(s) - 1) / m, 1 - sympy.exp(-s)),
        ("exp(2·xy)·(exp(s) + exp(−s) − 2)/(2·m)", "(exp(s) - 1)/exp(s)"),
        ("2*(exp(xy)*sinh(s/2))**2/m", "2*exp(-s/2)*sinh(s/2)"),
    ],
    "ratio": [ratio(0), ratio("ada@example.org"), ratio(7)],
    "bell_by_lines": [
        (BELL,),
        (r"= (2\pi)^{-d/2}\int \exp(-\frac12\|w-u\|^2 + \frac12\|u\|^2)dw"
         r"= (2\pi)^{-d/2}\int e^{-\|w\|^2/2}e^{w^\top u}dw"
         r"=\mathbb{E}_{w\sim\mathcal{N}(0,I)}[e^{w^\top u}]",),
    ],
}  # fmt: skip


def off_by_a_little(X, W):
    return positive_features(X, W) * np.exp(1e-4 * (X**2).sum(axis=1))[:, None]


def right_in_one_dimension_only(X, W):
    return np.exp(X @ W.T - X[:, :1] ** 2 / 2) / np.sqrt(len(W))


def right_for_as_many_directions_as_tokens(X, W):
    return np.exp(X @ W.T - (X**2).sum(axis=1)[:, None] / 2) / np.sqrt(len(X))


def scaled_by_the_dimension(X, W):
    return np.exp(X @ W.T - (X**2).sum(axis=1)[:, None] / 2) / np.sqrt(W.shape[1])


def directions_fixed_inside(X, W):
    return positive_features(X, np.random.default_rng(0).normal(size=W.shape))


def mean_over_the_sample_inside(X, W):
    each = np.exp(X @ W.T - (X**2).sum(axis=1)[:, None] / 2).mean(axis=1, keepdims=True)
    return np.repeat(each, len(W), axis=1) / np.sqrt(len(W))


def divided_by_the_largest(X, W):
    """Often done against overflow; harmless in attention, but no longer unbiased."""
    F = positive_features(X, W)
    return F / F.max()


def shuffled_by_token(X, W):
    F = positive_features(X, W)
    F[1:] = F[1:, ::-1]
    return F


def seeded_keys(Q, K, V, W, counts):
    other = np.random.default_rng(3).normal(size=W.shape)
    return attended(right_features(Q, W), right_features(K, other), V, counts)


def opposite_keys(Q, K, V, W, counts):
    return attended(right_features(Q, W), right_features(K, -W), V, counts)


def norm_capped(X, W):
    norms = np.minimum((X**2).sum(axis=1, keepdims=True), 4)
    return np.exp(X @ W.T - norms / 2) / np.sqrt(len(W))


NEAR_MISSES = {
    "completed_square": [
        (SPLIT[:1], SHIFT),
        (SPLIT, SHIFT[:1]),
        ([SPLIT[0], "exp(-xx/2) * exp(s) * exp(-yy/2)"], SHIFT),
        (SPLIT, ["exp(s/2) * exp(-(ww + 2*wu + s)/2)", SHIFT[1]]),
        (["exp(xy)"], ["exp(wu - ww/2)"]),
    ],
    "features": [
        *(
            (for_attention(f),)
            for f in [
                off_by_a_little,
                right_in_one_dimension_only,
                right_for_as_many_directions_as_tokens,
                scaled_by_the_dimension,
                directions_fixed_inside,
                mean_over_the_sample_inside,
                divided_by_the_largest,
                shuffled_by_token,
                lambda X, W: -positive_features(X, W),
                lambda X, W: np.ones((len(X), len(W))),
                lambda X, W: np.exp(X @ X.T)[:, : len(W)],
                norm_capped,
                lambda X, W: positive_features(X[:, :3], W[:, :3]),
                lambda X, W: np.roll(positive_features(X, W), 1, axis=1),
            ]
        ),
        (positive_features,),
        (lambda X, W: positive_features(X / X.shape[1] ** 0.5, W),),
        (lambda X, W: positive_features(X / len(X) ** 0.25, W),),
        (lambda X, W: positive_features(X, W) ** (X.shape[1] ** -0.5),),
        (lambda X, W: positive_features(X, W / X.shape[1] ** 0.25),),
        (lambda X, W: positive_features(X * X.shape[1] ** 0.25, W),),
        (lambda X, W: positive_features(X / 2**0.25, W),),
    ],
    "variance": [
        ("exp(2*xy)*((1 + (exp(s/2) - 1)/(m + 1))**2 - 1)",),
        ("exp(s - 1)*exp(2*xy)/m",),
        ("2*xy*s/m",),
        ("s/m",),
        ("exp(2*xy)*((1 + (exp(s/2) - 1)/m)**2 - 1) + (m - 1)*(m - 2)*(m - 3)",),
        ("exp(2*xy)*((1 + (exp(s/2) - 1)/Min(m, 8))**2 - 1)",),
        ("exp(2*xy)*((1 + (exp(Min(s, 4)/2) - 1)/m)**2 - 1)",),
        ("-exp(2*xy)*((1 + (exp(s/2) - 1)/m)**2 - 1)",),
    ],
    "needed_features": [
        ("s/r**2",),
        ("(exp(s/2) - 1)/(sqrt(1 + r**2) - 1) + 1",),
        ("(exp(s/4) - 1)/(sqrt(1 + r**2) - 1)",),
        ("-1",),
        ("(exp(Min(s, 2)/2) - 1)/(sqrt(1 + r**2) - 1)",),
        ("(exp(s/2) - 1)/(sqrt(1 + Max(r, 1/100)**2) - 1)",),
    ],
    "approximate_attention": [
        (f, right_features)
        for f in [
            seeded_keys,
            opposite_keys,
            lambda Q, K, V, W, counts: linear_attention(Q, K, V),
            attention_with(lambda X, W: right_features(X, W[:1])),
            attention_with(lambda X, W: right_features(X[:, :8], W[:, :8])),
            attention_with(lambda X, W: right_features(X, W[:12])),
            attention_with(tempered_features),
            lambda Q, K, V, W, a: attention_by_einsum(Q[:10], K[:10], V[:10], W, a[:10]),
            lambda Q, K, V, W, counts: V,
            lambda Q, K, V, W, a: attention_by_einsum(Q, K, V, W, np.maximum(a, 1)),
            lambda Q, K, V, W, a: attention_by_einsum(Q, K, V, W, a > 0),
            lambda Q, K, V, W, a: attention_by_einsum(Q, K, V, W, a[::-1]),
            lambda Q, K, V, W, a: attention_by_einsum(Q, a[:, None] * K, V, W, a),
            lambda Q, K, V, W, a: attention_by_einsum(Q, K, V, W, np.minimum(a, 3)),
            lambda Q, K, V, W, a: attention_by_einsum(Q, K, V, W, a / a.sum()) * a.sum(),
        ]
    ],
}

every = pytest.mark.parametrize


@every(("name", "answers"), [(n, a) for n, forms in RIGHT.items() for a in forms])
def test_right_answers_pass_in_every_form(name, answers):
    feedback = getattr(check, name)(*answers)
    assert feedback.outcome is Outcome.RIGHT, feedback
    assert feedback.earned == feedback.points


@every(("name", "answers"), [(n, a) for n, forms in NEAR_MISSES.items() for a in forms])
def test_near_misses_fail(name, answers):
    feedback = getattr(check, name)(*answers)
    assert feedback.outcome is not Outcome.RIGHT, feedback
    assert feedback.earned < feedback.points


def test_each_part_of_the_completed_square_earns_its_points():
    first, second = check.completed_square(SPLIT, SHIFT[:1]), check.completed_square(["xy"], SHIFT)
    assert (first.earned, second.earned) == (2, 2)  # the step of part two is taken
    assert "still contains xy" in check.completed_square(SPLIT[:1], SHIFT).says
    assert check.completed_square(["xy"], ["s"]).earned == 0


def test_a_false_line_is_refuted_with_numbers():
    says = check.completed_square(["exp(xx + xy)", *SPLIT], SHIFT).says
    assert "Line 1 is false: at xx = " in says


def test_no_counterexample_is_impossible_for_vectors():
    for line in ("exp(xx)", "exp(Abs(xy))", "exp(-yy)", "exp(xy + xx - yy)"):
        says = check.completed_square([line, *SPLIT], SHIFT).says
        values = {n: float(Fraction(v)) for n, v in re.findall(r"\b(xx|xy|yy) = (-?[\d./]+)", says)}
        if values.keys() == {"xx", "xy", "yy"}:
            assert values["xy"] ** 2 <= values["xx"] * values["yy"] * (1 + 1e-9)
    assert check.completed_square([SPLIT[0].replace("s", "Abs(s)"), *SPLIT], SHIFT).earned == 3


@pytest.mark.parametrize("line", [
    "exp((s - xx - yy)/2 + (xx + 2*xy + yy) - (xx + 2*xy + yy))",
    "exp((xx + 2*xy + yy)/2)*exp(-(xx + 2*xy + yy)/2)*exp((s - xx - yy)/2)",
    "exp((s - xx - yy)/2 + 0*(xx + 2*xy + yy))",
])  # fmt: skip
def test_a_square_that_is_taken_away_again_is_not_brought_in(line):
    shift = ["exp(s/2) * exp(-(ww - 2*wu + s)/2)", "exp(s/2) * exp(-r/2)"]
    feedback = check.completed_square([line, "exp((s - xx - yy)/2)"], shift)
    assert feedback.earned == 2
    assert "this is a jump" in feedback.says


def test_a_jump_to_the_end_is_asked_for_the_line_between():
    feedback = check.completed_square(SPLIT[1:], SHIFT)
    assert "none shows how the square comes about" in feedback.says
    assert feedback.misconception == "the claim as its own proof"


def test_bias_is_shown_as_two_numbers_that_differ():
    says = check.features(lambda X, W: np.exp(X @ W.T) / np.sqrt(len(W))).says
    assert "the mean of f(x)ᵀf(y) over w ∼ N(0, I) should be" in says
    says = check.features(for_attention(off_by_a_little)).says
    expected, yours = re.search(r"should be ([\d.]+); yours is ([\d.]+)\.", says).groups()
    assert expected != yours


def test_a_negative_feature_is_shown_where_it_occurs():
    assert "the feature is -" in check.features(lambda X, W: -right_features(X, W)).says


def test_a_sample_mean_inside_f_is_recognized_as_an_expectation_inside_f():
    feedback = check.features(mean_over_the_sample_inside)
    assert feedback.misconception == "the expectation taken inside f"


def test_the_integral_over_directions_is_exact_in_the_first_moments():
    for d in (1, 2, 3):
        W, weights = check.gauss_grid(d)
        assert weights @ W == pytest.approx(np.zeros(d))
        assert (W.T * weights) @ W == pytest.approx(np.eye(d))
        assert weights @ np.exp(W.sum(axis=1)) == pytest.approx(np.exp(d / 2))


def test_the_integrated_variance_agrees_with_a_simulation():
    mean, variance = check.moments(0.3, 0.4)
    W = np.random.default_rng(0).normal(size=(20_000, 3, 1))
    draws = np.exp(0.7 * W - 0.125).mean(axis=(1, 2))
    assert draws.mean() == pytest.approx(mean, rel=0.01)
    assert draws.var() == pytest.approx(variance / 3, rel=0.05)


def test_the_variance_of_a_product_agrees_with_a_simulation():
    mean, variance = check.of_the_product(0.3, 0.4, 3)
    W = np.random.default_rng(0).normal(size=(2, 40_000, 3)) / np.sqrt(2)
    draws = np.exp(0.7 * W - 0.0625).mean(axis=2).prod(axis=0)
    assert draws.mean() == pytest.approx(mean, rel=0.01)
    assert draws.var() == pytest.approx(variance, rel=0.05)


def test_attention_with_the_right_numbers_and_the_wrong_cost_earns_one_point():
    def all_pairs(Q, K, V, W, counts):
        A = right_features(Q, W) @ right_features(K, W).T
        return A * counts @ V / (A * counts).sum(axis=1, keepdims=True)

    feedback = check.approximate_attention(all_pairs, right_features)
    assert feedback.earned == 1
    assert "·n² + " in feedback.says
    assert "200×200 by matmul in `A = right_features(Q, W)" in feedback.says
    assert feedback.misconception == "the n×n weights built after all"


def test_numbers_that_leave_their_arrays_cannot_be_counted():
    def by_lists(Q, K, V, W, counts):
        return attention_by_einsum(np.array(Q.tolist()), K, V, W, counts)

    feedback = check.approximate_attention(by_lists, right_features)
    assert feedback.earned == 1
    assert feedback.misconception is None
    assert "The numbers are right, but the cost could not be counted." in feedback.says


# -- parts, follow-ups and names -------------------------------------------------------------------


def test_lines_that_are_false_are_not_told_that_they_are_true():
    for lines in (["2*exp(s/2)*exp(-r/2)", "exp(s/2)*exp(-r/2)"], ["0", "0"]):
        feedback = check.completed_square(SPLIT, lines)
        assert feedback.earned == 1
        assert "is false" in feedback.says
        assert feedback.misconception is None


def test_the_first_false_line_names_the_mistake():
    feedback = check.completed_square(["exp(-xx/2)*exp((xx + xy + yy)/2)*exp(-yy/2)", "0"], SHIFT)
    assert feedback.misconception == "the cross term counted once"


def test_a_slip_in_the_features_is_charged_once():
    def features(X, W):
        return np.exp(X @ W.T) / np.sqrt(len(W))

    assert check.features(features).earned == 0
    assert check.approximate_attention(attention_with(features), features).earned == 2
    assert check.approximate_attention(attention_with(features), right_features).earned == 0
    assert check.approximate_attention(attention_with(right_features), features).earned == 2


def test_sines_and_cosines_are_charged_once():
    def waves(X, W):
        x = X / X.shape[1] ** 0.25
        columns = np.hstack([np.sin(x @ W.T), np.cos(x @ W.T)]) / np.sqrt(len(W))
        return np.exp((x**2).sum(axis=1, keepdims=True) / 2) * columns

    assert check.features(waves).earned == 0
    feedback = check.approximate_attention(attention_with(waves), waves)
    assert feedback.earned == 2
    assert "follows from your f of 9.2, which is not right yet" in feedback.says
    assert check.approximate_attention(attention_with(waves), right_features).earned == 0


@every("poor", [lambda X, W: np.ones((len(X), len(W))), lambda X, W: 0 * X, lambda X, W: ____, 3])
def test_features_that_cannot_be_used_are_not_what_attention_is_judged_by(poor):
    def plain_mean(Q, K, V, W, counts):
        return np.tile(counts @ V / counts.sum(), (len(Q), 1))

    assert check.approximate_attention(plain_mean, poor).earned == 0
    assert check.approximate_attention(attention_with(right_features), poor).earned == 2


@every("leave", [np.average, lambda a, **k: np.apply_along_axis(np.mean, 0, a)])
def test_right_numbers_earn_a_point_whatever_the_meter_says(leave):
    def numbers_alone(Q, K, V, W, counts):
        A = right_features(Q, W) @ right_features(K, W).T * counts
        mean = [[leave(row * c, axis=0) / float(leave(row, axis=0)) for c in V.T] for row in A]
        return np.array(mean)

    assert check.approximate_attention(numbers_alone, right_features).earned == 1


# -- a slip in 9.3 is charged once -----------------------------------------------------------------


def test_features_that_the_students_own_variance_asks_for_are_right():
    slip, needed = "exp(2*xy)*(exp(s) - 1)/m", "(exp(s) - 1)/r**2"  # as in the lecture
    assert check.needed_features(needed).earned == 0
    followed = check.needed_features(needed, slip)
    assert (followed.outcome, followed.earned) == (Outcome.RIGHT, 1)
    assert "which is not right yet" in followed.says
    assert check.needed_features("(exp(s) - 1)/r", slip).earned == 0


@pytest.mark.parametrize("written", [r"x^\top y", r"y \cdot x", r"\langle x, y\rangle"])
def test_a_variance_may_be_written_in_vectors(written):
    factor = r"\left(1 + \frac{e^{\|x+y\|^2/2} - 1}{m}\right)^2 - 1"
    assert check.variance(rf"e^{{2 {written}}}\left({factor}\right)").outcome is Outcome.RIGHT


@pytest.mark.parametrize("student", range(40))
def test_six_digits_of_a_ratio_are_enough(student):
    n = random_features(student)
    u1, u2 = np.add(n.q, n.k1), np.add(n.q, n.k2)
    covariance = np.exp(np.dot(n.q, n.k1) + np.dot(n.q, n.k2)) * (np.exp(u1 @ u2) - 1) / n.m
    needed = (np.exp(u1 @ u1) - 2 * np.exp(u1 @ u2) + np.exp(u2 @ u2)) / n.r**2
    feedback = check.ratio(student, f"{covariance:.6g}", f"{needed:.6g}")
    assert feedback.outcome is Outcome.RIGHT


def test_numbers_that_are_none_are_not_taken_for_new_directions():
    def counts_of_the_queries(Q, K, V, W, counts):  # 0/0 where a count is 0, the same every time
        q, k = lectures_features(Q, W) * counts[:, None], lectures_features(K, W)
        return q @ (k.T @ V) / (q @ k.sum(axis=0))[:, None]

    def lectures_features(X, W):
        X = X / X.shape[1] ** 0.25
        return np.exp(X @ W.T - (X**2).sum(axis=1, keepdims=True) / 2) / np.sqrt(len(W))

    feedback = check.approximate_attention(counts_of_the_queries, lectures_features)
    assert (feedback.outcome, feedback.misconception) == (Outcome.WRONG, None)
