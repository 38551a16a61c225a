"""Unit 03: right answers in several forms pass, wrong ones fail with the right words.

That every known mistake earns its own explanation is tested for all units at once, in
test_every_exercise.py.
"""

import math
import re

import numpy as np
import pytest
import sympy

from course_utils import variants
from course_utils.checks import weight_decay as check
from selfcheck.feedback import Outcome
from selfcheck.testing import passes_in_every_form, with_seeds
from tests.checks.forms import students_own

lamda, eta = sympy.symbols("lamda eta", positive=True)
s_1, s_2 = sympy.symbols("s_1 s_2", positive=True)


def adam_l2(state, g, theta, eta, gamma, beta1, beta2, epsilon):
    m, v, t = state
    g = g + 2 * gamma * (theta - theta.mean())
    m = beta1 * m + (1 - beta1) * g
    v = beta2 * v + (1 - beta2) * g**2
    t = t + 1
    m_hat, v_hat = m / (1 - beta1**t), v / (1 - beta2**t)
    return (m, v, t), -eta * m_hat / (np.sqrt(v_hat) + epsilon)


def adam_l2_entry_by_entry(state, g, theta, eta, gamma, beta1, beta2, epsilon):
    """The same with lists and a loop, the step size corrected in place of the averages."""
    m, v, t = state
    t, move = t + 1, []
    for k in range(len(theta)):
        whole = g[k] + 2 * gamma * (theta[k] - sum(theta) / len(theta))
        m[k] += (1 - beta1) * (whole - m[k])
        v[k] += (1 - beta2) * (whole * whole - v[k])
        size = eta / (1 - beta1**t)
        move.append(-size * m[k] / (math.sqrt(v[k] / (1 - beta2**t)) + epsilon))
    return [m, v, t], move


def adam_l2_by_a_matrix(state, g, theta, *rest):
    """The penalty as γ θᵀCθ with the matrix C that takes the mean away."""
    n = len(theta)
    C = np.eye(n) - np.ones((n, n)) / n
    eta, gamma, *more = rest
    return adam_l2(state, g + gamma * (C + C.T) @ theta, theta, eta, 0, *more)


def adamw(state, g, theta, eta, lamda, beta1, beta2, epsilon):
    state, move = adam_l2(state, g, theta, eta, 0, beta1, beta2, epsilon)
    return state, np.where(np.sign(move) == -np.sign(theta), move - lamda * theta, move)


def adamw_by_difference(state, g, theta, eta, lamda, beta1, beta2, epsilon):
    """Written with the new parameters, and the move taken as their difference."""
    state, move = adam_l2_entry_by_entry(state, g, theta, eta, 0.0, beta1, beta2, epsilon)
    new = [x + a if x * a >= 0 else (1 - lamda) * x + a for x, a in zip(theta, move, strict=True)]
    return {"any": "state"} | {"kept": state}, list(np.array(new) - theta)


def adamw_with_state_in_a_dict(state, g, theta, *rest):
    inner = state["kept"] if isinstance(state, dict) else state
    return adamw_by_difference(inner, g, theta, *rest)


RIGHT = {
    "equivalent_penalty": [
        (lamda / (2 * eta),),
        ("λ/(2·η)",),
        ("0.5*lamda/eta",),
        (sympy.Rational(1, 2) * lamda * eta**-1,),
    ],
    "adam_l2_step": [(adam_l2,), (adam_l2_entry_by_entry,), (adam_l2_by_a_matrix,)],
    "adamw_step": [(adamw,), (adamw_with_state_in_a_dict,)],
    "shrink_ratio": [(s_2 / s_1, 1), ("s_2/s_1", "1"), (1 / (s_1 / s_2), s_1 / s_1)],
    "statements": [(True, False, False, True), ("true", "False", np.False_, "TRUE")],
    "scheduled_decay": [
        (0, "10*(1 - 2**(-1/20))", 0.6454176),
        ("0", 0.340636710751544, np.float64(0.645417550305194)),
        (0, sympy.Rational(340637, 10**6), "0.645418"),
    ],
    "sign_limits": [
        ("eta/lamda", "g/(2*gamma)"),
        ("η/λ", "g/γ/2"),
        (sympy.Symbol("eta") / sympy.Symbol("lamda"), "abs(-g/gamma)/2"),
    ],
    "scaled_loss": [
        ("eta/c", "c*gamma", "eta", "c*gamma"),
        ("eta*c**-1", "gamma/(1/c)", "eta*c/c", "(c + c)*gamma/2"),
    ],
    "decay_by_lines": [
        (
            r"= \theta - \eta(\nabla L(\theta) + 2\gamma\theta) = "
            r"(1-\lambda)\theta-\eta\nabla L(\theta)",
        ),
        (["theta - eta*(g + 2*gamma*theta)", "(1 - lamda)*theta - eta*g"],),
        (
            [
                lambda theta, eta, gamma, g: theta - eta * g - 2 * eta * gamma * theta,
                lambda theta, eta, lamda, g: (1 - lamda) * theta - eta * g,
            ],
        ),
    ],
}


test_a_right_answer_passes_in_every_form = passes_in_every_form(check, RIGHT)


@pytest.mark.parametrize(
    ("exercise", "known"),
    [
        pytest.param(e, m, id=f"{e.number} {m.name}")
        for e in (getattr(check, name) for name in RIGHT)
        for m in e.misconceptions
    ],
)
def test_a_known_mistake_is_wrong_and_named(exercise, known):
    feedback = exercise(*known.example)
    assert feedback.outcome is Outcome.WRONG
    assert feedback.misconception == known.name


def test_a_penalty_that_is_right_only_at_one_step_size_is_wrong():
    for gamma in ("lamda/2 + 0*eta", "lamda/(2*eta**2)", "lamda/(1 + eta)", "0.25"):
        assert check.equivalent_penalty(gamma).outcome is Outcome.WRONG


def test_a_wrong_penalty_is_refuted_with_two_places():
    feedback = check.equivalent_penalty("lamda/(3*eta)")
    assert feedback.misconception is None
    assert "the new θ, as by weight decay, should be [-0.17, -6.98]; yours is [0.03, -7.08]" in (
        feedback.says
    )


def test_a_penalty_that_is_right_for_small_numbers_alone_is_wrong():
    for seed in range(1, 20):
        check.equivalent_penalty.seed = seed
        capped = check.equivalent_penalty("Min(lamda, 1/2)/(2*eta)")
        large = check.equivalent_penalty("lamda/(2*Max(eta, 1/10))")
        assert Outcome.RIGHT not in (capped.outcome, large.outcome)
    check.equivalent_penalty.seed = None


def after(steps, then, step):
    """The rule `step`, and from so many steps on the rule `then`."""
    return lambda state, *rest: (then if state[2] >= steps else step)(state, *rest)


def uncorrected(state, g, theta, eta, strength, beta1, beta2, epsilon):
    (m, v, t), _ = adam_l2(state, g, theta, eta, 0, beta1, beta2, epsilon)
    return (m, v, t), -eta * m / (np.sqrt(v) + epsilon) - strength * theta


def first_two(step):
    def two(state, g, theta, *rest):
        state, move = step(state, g, theta, *rest)
        return state, np.where(np.arange(len(theta)) < 2, move, 0)

    return two


def exchanged_state(step):
    def other_order(state, *rest):
        v, m, t = state
        (m, v, t), move = step((m, v, t), *rest)
        return (v, m, t), move

    return other_order


@pytest.mark.parametrize("name", ["adam_l2_step", "adamw_step"])
@pytest.mark.parametrize("seed", range(1, 8))
def test_a_rule_that_is_right_for_few_steps_or_few_parameters_or_from_rest_is_wrong(name, seed):
    exercise, rule = getattr(check, name), RIGHT[name][0][0]
    exercise.seed = seed
    still = lambda state, g, *rest: (rule(state, g, *rest)[0], 0 * g)  # noqa: E731
    for almost in (after(4, still, rule), after(10, still, rule), after(10, uncorrected, rule),
                   first_two(rule), exchanged_state(rule)):  # fmt: skip
        assert exercise(almost).outcome is Outcome.WRONG
    exercise.seed = None


NOT_A_NUMBER = {
    "a sign slip in v": lambda v, g, beta2, t: (beta2 * v - (1 - beta2) * g**2) / (1 - beta2**t),
    "the correction turned round": lambda v, g, beta2, t: (
        (beta2 * v + (1 - beta2) * g**2) / (beta2**t - 1)
    ),
    "0 − β": lambda v, g, beta2, t: ((0 - beta2) * v - (1 - beta2) * g**2) / (1 - beta2**t),
}


@pytest.mark.parametrize("slip", NOT_A_NUMBER)
def test_moves_that_are_no_numbers_are_wrong_and_not_taken_for_another_mistake(slip):
    def adam(state, g, theta, eta, c, beta1, beta2, epsilon):
        m, v, t = state
        m, t = beta1 * m + (1 - beta1) * g, t + 1
        v_hat = NOT_A_NUMBER[slip](v, g, beta2, t)
        return (m, v, t), -eta * m / (1 - beta1**t) / (np.sqrt(v_hat) + epsilon) - c * theta

    for exercise in (check.adam_l2_step, check.adamw_step):
        feedback = exercise(adam)
        assert (feedback.outcome, feedback.misconception) == (Outcome.WRONG, None)
        assert "not finite" in feedback.says


@pytest.mark.parametrize(
    "toward_0",
    [lambda move, x: move * x <= 0, lambda move, x: np.sign(move) != np.sign(x)],
    ids=["a product that is not positive", "signs that differ"],
)
def test_a_move_of_exactly_0_takes_nothing_toward_0_and_nothing_is_decayed(toward_0):
    def also_at_rest(state, g, theta, eta, lamda, *rest):
        state, move = adam_l2(state, g, theta, eta, 0, *rest)
        return state, np.where(toward_0(move, theta), move - lamda * theta, move)

    feedback = check.adamw_step(also_at_rest)
    assert feedback.outcome is Outcome.WRONG
    assert "with ∇L = [0, 0" in feedback.says
    assert "the move should be [0, 0" in feedback.says


def test_single_precision_is_right():
    def single(state, g, theta, *rest):
        return adamw(state, g.astype(np.float32), theta.astype(np.float32), *rest)

    for seed in range(1, 10):
        check.adamw_step.seed = seed
        assert check.adamw_step(single).outcome is Outcome.RIGHT
    check.adamw_step.seed = None


def test_ratios_in_each_other_s_place_are_told_as_such():
    names = [known.name for known in check.shrink_ratio("1", "s_2/s_1").mistakes]
    assert names == ["the two in each other's place"]
    assert check.shrink_ratio("1", "1").misconception == "Adam-L2 taken for SGD"


def test_a_ratio_that_is_right_for_small_scales_alone_is_wrong():
    assert check.shrink_ratio("Min(s_2, 10)/Min(s_1, 10)", "1").earned == 1


def test_a_step_that_forgets_its_state_is_wrong():
    def forgetful(state, *rest):
        return adam_l2((0.0, 0.0, 0), *rest)

    assert check.adam_l2_step(forgetful).outcome is Outcome.WRONG
    assert "in step 2" in check.adam_l2_step(forgetful).says


def test_a_step_that_feeds_the_corrected_averages_back_is_wrong():
    def fed_back(state, g, theta, eta, gamma, beta1, beta2, epsilon):
        (m, v, t), move = adam_l2(state, g, theta, eta, gamma, beta1, beta2, epsilon)
        return (m / (1 - beta1**t), v / (1 - beta2**t), t), move

    assert check.adam_l2_step(fed_back).outcome is Outcome.WRONG


def test_averages_with_exchanged_factors_are_wrong():
    def exchanged(state, g, theta, eta, gamma, beta1, beta2, epsilon):
        return adam_l2(state, g, theta, eta, gamma, beta2, beta1, epsilon)

    assert check.adam_l2_step(exchanged).outcome is Outcome.WRONG


def test_constants_written_into_the_step_are_wrong():
    def fixed(state, g, theta, eta, gamma, beta1, beta2, epsilon):
        return adam_l2(state, g, theta, eta, gamma, 0.9, 0.999, 1e-8)

    assert check.adam_l2_step(fixed).outcome is Outcome.WRONG


OPTIMIZERS = students_own("optimizers")


def lectures(step):
    """A rule of the lecture, with its constants handed over."""
    return lambda state, g, theta, eta, c, b1, b2, e: step(
        state, g, theta, eta, c, beta1=b1, beta2=b2, epsilon=e
    )


def test_the_rules_of_the_lecture_are_named_and_are_no_answer():
    l2, decay = (lectures(step) for step in (OPTIMIZERS.adam_l2_step, OPTIMIZERS.adamw_step))
    assert check.adam_l2_step(l2).misconception == "the penalty of the lecture"
    assert check.adamw_step(decay).misconception == "decayed everywhere"
    assert check.adam_l2_step(decay).misconception == "decoupled decay where a penalty was asked"
    assert check.adamw_step(l2).misconception == "L2 where decay was asked"


def test_the_rules_of_the_lecture_with_the_gradient_of_the_penalty_are_right():
    def by_the_library(state, g, theta, eta, gamma, b1, b2, e):
        apart = theta - theta.mean()
        return lectures(OPTIMIZERS.adam_l2_step)(state, g, apart, eta, gamma, b1, b2, e)

    assert check.adam_l2_step(by_the_library).outcome is Outcome.RIGHT


@pytest.mark.parametrize(
    "target",
    [np.median, lambda theta: theta[0], lambda theta: theta.sum(), lambda theta: theta[::-1],
     lambda theta: np.roll(theta, 1), lambda theta: abs(theta).mean()],
)  # fmt: skip
def test_parameters_drawn_to_something_else_are_wrong(target):
    def rule(state, g, theta, eta, gamma, *rest):
        return adam_l2(state, g + 2 * gamma * (theta - target(theta)), theta, eta, 0, *rest)

    for seed in range(1, 5):
        check.adam_l2_step.seed = seed
        assert check.adam_l2_step(rule).outcome is Outcome.WRONG
    check.adam_l2_step.seed = None


@pytest.mark.parametrize(
    "where",
    [lambda own, theta, g, m: m * theta < 0, lambda own, theta, g, m: theta > 0,
     lambda own, theta, g, m: own * theta <= 0.001, lambda own, theta, g, m: own < 0,
     lambda own, theta, g, m: (own + theta) * theta > 0, lambda own, theta, g, m: g != 0,
     lambda own, theta, g, m: abs(own) < abs(theta)],
)  # fmt: skip
def test_decay_in_other_places_is_wrong(where):
    def rule(state, g, theta, eta, lamda, *rest):
        (m, v, t), own = adam_l2(state, g, theta, eta, 0, *rest)
        return (m, v, t), own - lamda * theta * where(own, theta, g, m)

    for seed in range(1, 5):
        check.adamw_step.seed = seed
        assert check.adamw_step(rule).outcome is Outcome.WRONG
    check.adamw_step.seed = None


def test_a_step_that_returns_the_move_alone_cannot_be_checked():
    feedback = check.adamw_step(lambda *args: adamw(*args)[1])
    assert feedback.outcome is Outcome.UNCHECKED
    assert "`return (m, v, t), move`" in feedback.says


def test_a_step_of_four_results_or_of_another_shape_cannot_be_checked():
    flat = check.adam_l2_step(lambda *args: (*adam_l2(*args)[0], adam_l2(*args)[1]))
    summed = check.adam_l2_step(lambda *args: (args[0], adam_l2(*args)[1].sum()))
    assert flat.outcome is summed.outcome is Outcome.UNCHECKED
    assert "two things" in flat.says
    assert "shape ()" in summed.says


def test_a_step_that_never_moves_is_refuted():
    for exercise in (check.adam_l2_step, check.adamw_step):
        assert exercise(lambda state, g, *rest: (state, 0 * g)).outcome is Outcome.WRONG


def test_a_decay_that_looks_at_the_gradients_is_refuted_by_its_size():
    def halved_by_history(state, g, theta, eta, lamda, *rest):
        seen_before = state[2] > 0
        return adamw(state, g, theta, eta, lamda / 2 if seen_before else lamda, *rest)

    feedback = check.adamw_step(halved_by_history)
    assert feedback.outcome is Outcome.WRONG
    assert "and the decay, where there is one, −λθ = " in feedback.says


@pytest.mark.parametrize("size", [1e200, 1e308, math.inf, math.nan])
def test_a_step_that_runs_off_to_infinity_is_wrong_and_breaks_nothing(size):
    for exercise in (check.adam_l2_step, check.adamw_step):
        feedback = exercise(lambda state, g, theta, *rest: (state, size * theta))
        assert feedback.outcome is Outcome.WRONG
    assert check.equivalent_penalty("1e308").outcome is Outcome.WRONG


def test_each_ratio_earns_its_own_points():
    assert check.shrink_ratio("s_2/s_1", "s_2").earned == 2
    assert check.shrink_ratio("s_2 - s_1", "1").earned == 1
    assert check.shrink_ratio("s_2", "s_1").earned == 0


def test_a_ratio_that_is_right_at_equal_scales_only_is_wrong():
    assert check.shrink_ratio("s_2**2/(s_1*s_2) * s_1/s_2", "1").earned == 1


def test_the_measured_shrink_rates_are_those_of_the_theory():
    from course_utils.optimizers import adam_l2_step, adamw_step

    scales = np.array([0.5, 1.0, 5.0])
    l2 = check._shrink_rates(adam_l2_step, scales, gamma=1e-6)
    np.testing.assert_allclose(l2 * scales, l2[1], rtol=1e-4)
    decay = check._shrink_rates(adamw_step, scales, lamda=1e-6)
    np.testing.assert_allclose(decay, decay[1], rtol=1e-9)


def test_three_statements_of_four_earn_one_point_and_two_earn_none():
    assert check.statements(True, True, False, True).earned == 1
    assert check.statements(True, True, True, True).earned == 0
    assert check.statements(False, True, True, False).earned == 0


def test_a_missed_statement_is_answered_with_what_the_run_showed():
    feedback = check.statements(True, True, False, True)
    assert "Statement (b): of two parameters of sizes 1 and 5, the larger one lost 1.000 times" in (
        feedback.says
    )


def test_a_statement_is_true_or_false_and_nothing_else():
    feedback = check.statements("maybe", False, False, True)
    assert (feedback.outcome, feedback.earned) == (Outcome.UNCHECKED, 1)


# -- 3.6 to 3.8 ------------------------------------------------------------------------------------


def test_both_schedules_earn_their_own_points_and_a_share_beyond_1_is_told():
    assert check.scheduled_decay(0, 0.340637, 0.6).earned == 1
    assert check.scheduled_decay(0, 0.6, 0.645418).earned == 2
    assert "would take 2 of the weight" in check.scheduled_decay(0, 20, 0.645418).says
    assert check.scheduled_decay(0, -0.34, -0.6).earned == 0


def test_a_decay_of_three_digits_is_shown_what_is_left():
    says = check.scheduled_decay(0, 0.341, 0.645418).says
    assert "0.4996 of the weight is left; it should be 0.5" in says


@pytest.mark.parametrize("student", range(1, 60))
def test_shortcuts_are_wrong_with_every_student_s_schedule(student):
    n = variants.weight_decay(student)
    root, half = 1 - n.left ** (1 / n.steps), n.peak * (n.steps + 1) / 2
    shortcuts = [
        (-np.log(n.left) / n.peak / n.steps, root / (half / n.steps)),
        (2 * root / n.peak, 2 * root / n.peak),
        (root, -np.log(n.left) / half),
    ]
    for answers in shortcuts:
        assert check.scheduled_decay(student, *answers).earned == 0


@pytest.mark.parametrize(
    "wrong", ["eta/(2*lamda)", "eta*(1 - lamda)/lamda", "eta/lamda*g**0.01", 1]
)
def test_other_limits_of_decay_are_wrong(wrong):
    assert check.sign_limits(wrong, "g/(2*gamma)").earned == 1


@pytest.mark.parametrize("wrong", ["g/(2*gamma) + eta", "g/(2*lamda)", "gamma/(2*g)", "2*gamma*g"])
def test_other_limits_of_l2_are_wrong(wrong):
    assert check.sign_limits("eta/lamda", wrong).earned == 1


@pytest.mark.parametrize(
    "wrong",
    [("c*eta", "gamma/c"), ("eta", "gamma"), ("eta/c", "gamma*c**2"), ("eta/sqrt(c)", "gamma")],
)
def test_other_pairs_for_a_scaled_loss_are_wrong(wrong):
    assert check.scaled_loss(*wrong, "eta", "c*gamma").earned == 1
    assert check.scaled_loss("eta/c", "c*gamma", *wrong).earned == 1


def test_a_step_that_decays_all_where_any_is_taken_to_0_is_not_called_the_lectures():
    def any_of_them(state, g, theta, eta, lamda, *rest):
        state, own = OPTIMIZERS.adam_step(OPTIMIZERS.AdamState(*state), g, eta, *rest)
        return tuple(state), own - lamda * theta * (own * theta < 0).any()

    assert with_seeds(check.adamw_step, (any_of_them,), 3) == [(0,)] * 3


def test_a_refutation_names_the_strength_by_its_own_letter():
    nothing = lambda state, g, *_: (state, 0 * g)  # noqa: E731
    assert "γ = 0.25" in check.adam_l2_step(nothing).says
    assert "λ = 0.25" in check.adamw_step(nothing).says


# -- sentences are true as printed, and common slips have a name -----------------------------------


def test_the_limit_that_is_printed_is_the_limit():
    for point in check.SIGNED.points():
        assert check._by_sign(point, False) == pytest.approx(point["g"] / 2 / point["gamma"], 1e-9)
        assert check._by_sign(point, True) == pytest.approx(point["eta"] / point["lamda"], 1e-9)
    says = check.sign_limits("eta/lamda", "g").says
    given = re.search(r"γ = (\S+), g = (\S+) the weight .* should be (\S+);", says)
    gamma, g, printed = map(float, given.groups())
    assert printed == pytest.approx(g / 2 / gamma, rel=5e-4)


def test_the_ratio_that_is_printed_is_that_of_the_limit():
    points = [p for k in range(9) for p in check.any_scales(np.random.default_rng(k))]
    scales = [[p["s_1"], p["s_2"]] for p in points]
    rates = check._shrink_rates(OPTIMIZERS.adam_l2_step, scales, gamma=check.SMALL)
    for (s_1, s_2), (r_1, r_2) in zip(scales, rates, strict=True):
        assert r_1 / r_2 == pytest.approx(s_2 / s_1, rel=2e-5)


def cautious(state, g, theta, eta, lamda, *rest, helps=None, after=False):
    state, own = adam_l2(state, g, theta, eta, 0, *rest)
    toward = own * theta < 0 if helps is None else helps(own, theta)
    return state, own - lamda * toward * (theta + own if after else theta)


NAMED = {
    "the new θ in place of the move": lambda state, g, theta, *rest: (
        adam_l2(state, g, theta, *rest)[0],
        theta + adam_l2(state, g, theta, *rest)[1],
    ),
    "the corrected averages put into the state": lambda state, g, theta, eta, c, b1, b2, e: (
        corrected_state(adam_l2(state, g, theta, eta, c, b1, b2, e), b1, b2)
    ),
    "t not counted up in the state": lambda state, *rest: (
        (*adam_l2(state, *rest)[0][:2], state[2]),
        adam_l2(state, *rest)[1],
    ),
}


def corrected_state(result, b1, b2):
    (m, v, t), move = result
    return (m / (1 - b1**t), v / (1 - b2**t), t), move


@pytest.mark.parametrize("name", NAMED)
def test_slips_of_any_adam_have_a_name(name):
    assert check.adam_l2_step(NAMED[name]).misconception == name


def test_slips_of_the_cautious_decay_have_a_name():
    late = check.adamw_step(lambda *given: cautious(*given, after=True))
    closer = check.adamw_step(
        lambda *given: cautious(*given, helps=lambda own, theta: abs(theta + own) < abs(theta))
    )
    assert late.misconception == "decayed after the move"
    assert closer.misconception == "only where |θ| becomes smaller"


def test_what_two_parameters_hide_is_refuted_with_three():
    def half_the_sum(state, g, theta, eta, gamma, *rest):
        shown = g + 2 * gamma * (theta - theta.sum() / 2)
        return adam_l2(state, shown, theta, eta, 0, *rest)

    for feedback in (
        check.adam_l2_step(half_the_sum),
        check.adamw_step(
            lambda *given: cautious(*given, helps=lambda own, theta: abs(theta + own) < abs(theta))
        ),
    ):
        assert feedback.outcome is Outcome.WRONG
        assert "θ = [2, −1, 0.25]" in feedback.says or "0.25]" in feedback.says
        assert len(feedback.says) < 350
