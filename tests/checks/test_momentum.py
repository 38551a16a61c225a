"""Unit 02: right answers in several forms pass, wrong ones fail with the right words.

That every known mistake earns its own explanation is tested for all units at once, in
test_every_exercise.py.
"""

import numpy as np
import pytest
import sympy

from course_utils.checks import momentum as check
from course_utils.numbers import momentum as variants
from selfcheck.feedback import Outcome
from selfcheck.testing import passes_in_every_form

beta, delta, mu, step, g = sympy.symbols("beta delta mu step g")
t = sympy.symbols("t", positive=True, integer=True)
i = sympy.symbols("i", integer=True)


def averages(g, beta):
    """The bias-corrected average, by its closed form: a weighted mean at every step."""
    result = []
    for T in range(1, len(g) + 1):
        later = np.append(np.cumprod(beta[1:T][::-1])[::-1], 1.0)
        w = (1 - beta[:T]) * later
        result.append(w @ g[:T] / w.sum())
    return result


def recursive_weights(beta, t):
    """A gradient one step older has β of the way behind it that it had ahead."""
    return [1 - beta * (1 - w) for w in recursive_weights(beta, t - 1)] + [1 - beta] if t else []


def by_two_impulses(alpha, epsilon, t):
    """Run the rule as it is defined, one gradient at a time."""
    weights = []
    for i in range(t):
        theta = v = ahead = before = 0.0
        for step in range(t):
            v = alpha * v + epsilon * (step == i)
            theta, before = theta - v, ahead
            ahead = theta - alpha * v
        weights.append(before - ahead)
    return weights


def mended(student):
    """The line by numbers put in, and what the rule does, number by number."""
    found = variants.momentum(student).derivation
    at = {"beta": 0.3, "delta": 0.7, "v_prev": 1.1, "g": 0.9}
    at["v"] = 0.3 * 1.1 + int(found.share) * 0.9
    at["step"] = -0.7 * 1.1 / found.parts
    values = [eval(line, at) for line in found.lines]
    numbered = enumerate(values, found.first)
    line = next(k for k, value in numbered if abs(value - values[0]) > 1e-9)
    return student, line, f"β·step − δ·g·{found.share}/{found.parts}"


RIGHT = {
    "equivalent_rules": [
        (beta, delta * (1 - beta)),
        ("β", "δ − δ·β"),
        (sympy.Symbol("beta", positive=True), "delta - beta*delta"),
        ("beta**2/beta", "(1 - beta^2)*delta/(1 + beta)"),
    ],
    "weights": [
        (lambda beta, t: 1 - beta ** np.arange(1, t + 1)[::-1],),
        (lambda beta, t: [(1 - beta) * sum(beta**k for k in range(n)) for n in range(t, 0, -1)],),
        (recursive_weights,),
    ],
    "bias": [(1 - beta**t,), ("(1 - β)·Sum(β^(t − i), (i, 1, t))",), ("1 - exp(t*log(beta))",)],
    "corrected_average": [
        (averages,),
        (lambda g, beta: [averages(g[:T], beta[:T])[-1] for T in range(1, len(g) + 1)],),
    ],
    "expectation": [
        (
            [
                "(1 - beta)*mu*Sum(beta**(t - i), (i, 1, t))",
                "mu*(1 - beta)*(1 - beta**t)/(1 - beta)",
                "mu*(1 - beta**t)",
            ],
        ),
        (
            [
                "mu*(Sum(beta**(t - i), (i, 1, t)) - Sum(beta**(t - i + 1), (i, 1, t)))",
                "mu - mu*beta**t",
            ],
        ),
        ([(1 - beta) * mu * sympy.Sum(beta ** (t - i), (i, 1, t)).doit()],),
        ((mu * sympy.Sum((1 - beta) * beta**i, (i, 0, t - 1)), "mu - mu*beta**t"),),
    ],
    "first_false_line": [
        (0, 3, beta * step - delta * (1 - beta) * g),
        ("0", np.int64(3), "-δ*(β*(-step/δ) + (1 - β)*g)"),
        (0, "3", "beta*(step + delta*g) - delta*g"),
        mended("ada@example.org"),
        mended(7),
    ],
    "half_life": [
        (sympy.log(2) / -sympy.log(beta),),
        ("log(1/2)/log(beta)",),
        ("log(1/2, beta)",),
        ("-1/log2(beta)",),
    ],
    "best_memory": [
        (0, "2/101", "81/121", "4/121"),
        ("0", 2 / 101, (9 / 11) ** 2, 4 / 11**2),
        (0, 0.01980198, 0.66942149, 0.03305785),
    ],
    "lookahead_weights": [
        (lambda a, e, t: e * np.append(a ** np.arange(t, 1, -1), 1 + a),),
        (by_two_impulses,),
        (lambda a, e, t: [e * a ** (t - i + 1) + e * (i == t) for i in range(1, t + 1)],),
    ],
    "after_the_cut": [
        ("c*beta**k + 1 - beta**k",),
        ("1 + (c − 1)·β^k",),
        ("exp(k*log(beta))*(c - 1) + 1",),
    ],
    "move_by_lines": [
        (
            r"\Delta\theta_t = -\delta(\beta v_{t-1} + (1-\beta)g_t) = \beta\Delta\theta_{t-1}"
            r"- \delta(1-\beta)g_t",
        ),
        (["-delta*(beta*v_prev + (1 - beta)*g)", "beta*step - delta*(1 - beta)*g"],),
        (
            [
                lambda beta, delta, v_prev, g: -delta * beta * v_prev - delta * (1 - beta) * g,
                lambda beta, delta, step, g: beta * step - delta * (1 - beta) * g,
            ],
        ),
    ],
    "unrolled_by_lines": [
        (
            r"v_t = \beta^2 v_{t-2} + \beta(1-\beta)g_{t-1} + (1-\beta) g_t"
            r"= (1-\beta)(g_t + \beta g_{t-1} + \dots + \beta^{t-1} g_1)",
        ),
        (
            [
                "beta**2*v(t-2) + beta*(1-beta)*g(t-1) + (1-beta)*g(t)",
                "(1-beta)*Sum(beta**(t-i)*g(i), (i, 1, t))",
            ],
        ),
        (
            r"= \beta^k v_{t-k} + (1-\beta)\sum_{i=t-k+1}^t \beta^{t-i} g_i"
            r"= (1-\beta)\sum_{j=0}^{t-1}\beta^j g_{t-j}",
        ),
    ],
}


test_a_right_answer_passes_in_every_form = passes_in_every_form(check, RIGHT)


def test_a_wrong_pair_is_refuted_with_numbers():
    feedback = check.equivalent_rules("beta", "2*delta")
    assert feedback.outcome is Outcome.WRONG
    assert feedback.misconception is None
    assert "the first move should be -1.533; yours is -7.86" in feedback.says


def test_alpha_and_epsilon_earn_their_own_points():
    assert check.equivalent_rules("beta", "delta").earned == 1
    assert check.equivalent_rules("2*beta", "delta*(1 - beta)").earned == 2


def test_alpha_and_epsilon_exchanged_is_told_as_such_and_one_of_them_alone_is_not():
    name = "α and ε in the wrong places"
    assert check.equivalent_rules("delta*(1 - beta)", "beta").misconception == name
    for pair in [("delta*(1 - beta)", "delta*(1 - beta)"), ("beta", "beta")]:
        assert check.equivalent_rules(*pair).misconception is None


def test_a_pair_that_is_off_by_a_little_is_shown_with_the_digits_that_tell():
    says = check.equivalent_rules("beta", "delta*(1 - beta) + 0.00001").says
    assert "should be -1.5327; yours is -1.53271." in says


FEW = {  # right where the readable cases lie, and nowhere else
    "equivalent_rules": ("beta", "Min(delta, 5)*(1 - beta)"),
    "bias": ("1 - beta**Min(t, 8)",),
    "half_life": ("log(1/2)/log(Max(beta, 1/10))",),
    "after_the_cut": ("1 + (Min(c, 20) - 1)*beta**k",),
    "first_false_line": (0, 3, "beta*step - Min(delta, 5)*(1 - beta)*g"),
}


@pytest.mark.parametrize("name", FEW)
def test_a_formula_that_is_right_at_few_points_alone_is_wrong(name):
    for seed in range(1, 20):
        getattr(check, name).seed = seed
        assert getattr(check, name)(*FEW[name]).outcome is Outcome.WRONG
    getattr(check, name).seed = None


def test_functions_that_know_few_cases_are_wrong():
    table = {(0.5, 3): [0.875, 0.75, 0.5], (0.9, 1): [0.1]}
    known = check.weights(lambda beta, t: table.get((beta, t), recursive_weights(beta, min(t, 7))))
    assert known.outcome is not Outcome.RIGHT
    assert check.corrected_average(lambda g, beta: averages(g[:6], beta[:6])).earned == 0

    def window(g, beta):
        seen = [slice(max(0, T - 10), T) for T in range(1, len(g) + 1)]
        return [averages(g[s], beta[s])[-1] for s in seen]

    for seed in range(1, 20):
        check.corrected_average.seed = seed
        assert check.corrected_average(window).outcome is Outcome.WRONG
    check.corrected_average.seed = None


def test_what_is_not_finite_is_wrong_and_explained_only_by_what_was_done():
    def other_divisor(g, beta):
        with np.errstate(all="ignore"):
            return np.asarray(averages(g, beta)) / (1 - np.arange(1.0, len(g) + 1))

    feedback = check.corrected_average(other_divisor)
    assert (feedback.outcome, feedback.misconception) == (Outcome.WRONG, None)
    assert "is not finite" in feedback.says


def test_single_precision_is_right():
    single = check.corrected_average(lambda g, beta: averages(g.astype(np.float32), beta))
    assert single.outcome is Outcome.RIGHT
    powers = check.weights(lambda beta, t: 1 - np.float32(beta) ** np.arange(t, 0, -1))
    assert powers.outcome is Outcome.RIGHT


def test_a_half_life_with_a_rounded_constant_is_told_the_digits_that_differ():
    says = check.half_life("-0.6931/log(beta)").says
    assert "should be 0.5; yours is 0.50002" in says


def test_a_mistake_in_a_derivation_is_the_one_of_the_first_false_line():
    lines = ["(1 - beta)*mu*t", "(1 - beta)*mu/(1 - beta)", "mu"]
    assert check.expectation(lines).misconception is None


def test_a_pair_that_is_right_only_at_delta_1_is_wrong():
    assert check.equivalent_rules("beta**delta", "(1 - beta)*delta").outcome is Outcome.WRONG
    assert check.equivalent_rules("beta", "(1 - beta)*delta**2").outcome is Outcome.WRONG


def test_a_wrong_weight_names_the_gradient_that_shows_it():
    feedback = check.weights(lambda beta, t: np.full(t, 1 / t))
    assert "with g_1 = 1 and every other gradient 0" in feedback.says


def test_weights_of_another_length_cannot_be_checked():
    feedback = check.weights(lambda beta, t: np.ones(t + 1))
    assert feedback.outcome is Outcome.UNCHECKED
    assert "shape (4,)" in feedback.says


def test_a_function_that_overwrites_its_input_fools_nobody():
    def cheat(g, beta):
        g[:] = 0.0
        return np.zeros(len(g))

    assert check.corrected_average(cheat).outcome is Outcome.WRONG


def test_a_corrected_average_that_only_knows_constants_is_wrong():
    assert check.corrected_average(lambda g, beta: g).outcome is Outcome.WRONG


def test_an_average_with_equal_weights_is_wrong():
    plain_mean = check.corrected_average(lambda g, beta: np.cumsum(g) / np.arange(1, len(g) + 1))
    assert plain_mean.outcome is Outcome.WRONG


def test_a_derivation_with_one_false_line_is_told_which():
    feedback = check.expectation(["(1 - beta)*mu*(1 - beta**t)", "(1 - beta**t)*mu"])
    assert feedback.outcome is Outcome.WRONG
    assert feedback.says.startswith("Line 1 is false")


def test_a_derivation_that_ends_with_the_sum_is_not_finished():
    feedback = check.expectation(["mu*(1 - beta)*Sum(beta**(t - i), (i, 1, t))"])
    assert feedback.outcome is Outcome.WRONG
    assert "still contains a sum" in feedback.says


@pytest.mark.parametrize("lines", [
    ["mu*(1 - beta**t)"],
    ["(1 - beta**t)*mu", "mu - mu*beta**t"],
    ["mu - mu*beta**t", "mu*(1 - beta)*Sum(beta**(t - i), (i, 1, t))", "mu - mu*beta**t"],
    ["(1 - beta)*Sum(mu*beta**(t - i), (i, 1, t))", "mu - mu*beta**t"],
    ["mu*(1 - beta**t) + mu*((1 - beta)/(1 - beta) - 1)", "mu - mu*beta**t"],
    ["mu*Sum(beta**(i - 1) - beta**i, (i, 1, 1)) + mu*(beta - beta**t)", "mu - mu*beta**t"],
    ["mu*(1 - beta**t) + Sum(beta**i, (i, 1, t)) - Sum(beta**i, (i, 1, t))", "mu - mu*beta**t"],
])  # fmt: skip
def test_a_jump_from_the_start_to_the_end_is_no_derivation(lines):
    feedback = check.expectation(lines)
    assert (feedback.outcome, feedback.earned) == (Outcome.WRONG, 0)
    assert "this is a jump" in feedback.says


def test_the_series_may_be_the_difference_of_two_that_never_end():
    without_end = "(1 - beta)*mu*(Sum(beta**k, (k, 0, oo)) - Sum(beta**k, (k, t, oo)))"
    assert check.expectation([without_end, "mu*(1 - beta**t)"]).outcome is Outcome.RIGHT


def test_a_step_on_the_way_earns_its_share_before_the_end_is_reached():
    assert check.expectation(["mu*(1 - beta)*Sum(beta**(t - i), (i, 1, t))"]).earned == 1


def test_a_formula_that_is_right_for_the_first_steps_only_is_refuted():
    wrong_later = "(1 - beta**t)*mu + mu*" + "*".join(f"(t - {k})" for k in range(1, 9))
    lines = ["mu*(1 - beta)*Sum(beta**(t - i), (i, 1, t))", wrong_later]
    assert check.expectation(lines).says.startswith("Line 2 is false")


def test_each_part_of_exercise_6_earns_its_points():
    found = check.first_false_line(0, 3, "step")
    true = check.first_false_line(0, 1, "beta*step - delta*(1 - beta)*g")
    assert (found.earned, true.earned) == (1, 2)
    assert found.headline == true.headline == "partly right"
    assert check.first_false_line(0, 2.5, "step").earned == 0


@pytest.mark.parametrize("slip", range(len(variants._SLIPS)))
def test_a_planted_slip_is_the_first_false_line_and_the_only_one(slip, monkeypatch):
    """What stands after it follows from it: with the slip as the start, no line is false."""
    lines = [line.format(c=5, k=7) for line in (*variants._TRUE, *variants._SLIPS[slip])]
    true, slipped = lines[: len(variants._TRUE)], lines[len(variants._TRUE) :]
    number = len(true) - len(slipped) + 2
    planted = ("-delta*v/7", *true[: number - 2], *slipped)
    found = variants.Derivation("5", 7, planted, first=400)
    monkeypatch.setattr(variants, "_derivation", lambda student: found)
    blamed = [check._blamed("practice", k) for k in range(400, 405)]
    assert blamed == ["true"] * (number - 1) + ["first"] + ["later"] * (5 - number)
    monkeypatch.setattr(
        variants, "_derivation", lambda student: variants.Derivation("5", 7, tuple(slipped))
    )
    lines = range(1, len(slipped) + 1)
    assert {check._blamed("practice", k) for k in lines} == {"true"}


def test_a_line_that_is_not_there_is_told_with_those_that_are():
    first = variants.momentum(7).derivation.first
    feedback = check.first_false_line(7, 3, "g")
    assert f"(3) is none of the lines, which are ({first}) to ({first + 4})." in feedback.says
    assert "a true line blamed" not in [mistake.name for mistake in feedback.mistakes]


@pytest.mark.parametrize("student", ["ada@example.org", 7, 8])
def test_mistakes_in_a_derivation_of_ones_own_are_named(student):
    _, line, _ = mended(student)
    found = variants.momentum(student).derivation
    first, last = found.first, found.first + 4
    assert check.first_false_line(student, first, "g").mistakes[0].name == "a true line blamed"
    if line < last:
        assert check.first_false_line(student, last, "g").mistakes[0].name == "a later line blamed"
    last = check.first_false_line(student, line, found.lines[-1])
    assert (last.earned, last.misconception) == (1, "the end left as it is")


def test_the_half_life_of_another_base_is_refuted_with_what_is_left():
    assert "should be 0.5; yours is 0.3679" in check.half_life("-1/log(beta)").says


# -- 2.8 to 2.10 -----------------------------------------------------------------------------------


def test_step_and_pair_earn_their_own_points():
    assert check.best_memory(0, "2/101", 0.5, 0.03).earned == 1
    assert check.best_memory(0, 0.5, "81/121", "4/121").earned == 2


@pytest.mark.parametrize(
    ("alpha", "epsilon"),
    [(0, 0), (0.9, 0.01), ("81/121", "3/121"), ("81/121", "5/121"), (-0.2, 0.02), (1, "4/121")],
)
def test_a_pair_that_another_one_beats_is_wrong_and_no_mistake_is_made_up(alpha, epsilon):
    feedback = check.best_memory(0, "2/101", alpha, epsilon)
    assert (feedback.earned, feedback.misconception) == (1, None)


def test_a_pair_that_does_not_shrink_is_told_so_and_the_best_pair_is_not_given_away():
    assert "it does not shrink" in check.best_memory(0, "2/101", 2, 1).says
    says = check.best_memory(0, "2/101", 0.7, 0.02).says
    assert "can be reached along all of them at once" in says
    assert "0.669" not in says


@pytest.mark.parametrize(
    "wrong",
    [
        lambda a, e, t: np.append(e * a ** np.arange(t, 1, -1), e),
        lambda a, e, t: a ** np.arange(t, 0, -1) + np.eye(t)[-1],
        lambda a, e, t: -np.array(by_two_impulses(a, e, t)),
        lambda a, e, t: np.full(t, e),
        lambda a, e, t: [*by_two_impulses(a, e, t)[1:], 0],
    ],
)
def test_other_weights_of_the_look_ahead_are_wrong(wrong):
    assert check.lookahead_weights(wrong).outcome is Outcome.WRONG


@pytest.mark.parametrize("wrong", ["c", "1 + (c - 1)*beta*k", "c**(beta**k)", "1 + (c-1)*beta", 0])
def test_other_ratios_after_a_cut_are_wrong(wrong):
    feedback = check.after_the_cut(wrong)
    assert (feedback.outcome, feedback.misconception) == (Outcome.WRONG, None)


# -- one tolerance for each quantity, and promises of digits ---------------------------------------


def best_of(student):
    n = variants.momentum(student)
    low, high = np.sqrt([n.smallest, n.largest])
    return (
        n,
        2 / (n.smallest + n.largest),
        ((high - low) / (high + low)) ** 2,
        4 / (low + high) ** 2,
    )


def digits(x, k):
    return float(f"{x:.{k}g}")


def test_six_digits_or_more_are_right_for_everybody():
    for student in range(400):
        _, step, alpha, epsilon = best_of(student)
        for k in (6, 7, 9, 17):
            answers = (digits(x, k) for x in (step, alpha, epsilon))
            assert check.best_memory(student, *answers).earned == 3, (student, k)


def test_no_step_and_no_pair_does_better_than_what_is_called_best():
    rng = np.random.default_rng(0)
    for student in range(20):
        n, step, alpha, epsilon = best_of(student)
        best = check._worst_factor(alpha, epsilon, n)
        assert best == pytest.approx(np.sqrt(alpha), abs=1e-6)
        for near, far in rng.uniform(-1, 1, (200, 2)) * 10.0 ** rng.integers(-6, 0, (200, 1)):
            assert check._worst_factor(alpha * (1 + near), epsilon * (1 + far), n) > best - 1e-7
            assert check._worst_factor(0.0, step * (1 + near), n) >= check._worst_factor(
                0.0, step, n
            )


def test_a_right_alpha_with_another_epsilon_gets_no_name():
    for student in range(60):
        n, step, alpha, epsilon = best_of(student)
        known = [step, epsilon / (1 - alpha)]
        for other in (0.9 * epsilon, epsilon / 2, 1 / n.largest, 0.1 / n.smallest, 3 * epsilon):
            if np.isclose(other, known, rtol=1e-3).any():
                continue
            feedback = check.best_memory(student, step, alpha, other)
            assert (feedback.earned, feedback.misconception) == (1, None), (student, other)


def test_a_fraction_may_be_written_with_six_digits():
    for student in range(1, 60):
        found = variants.momentum(student).derivation
        share = digits(float(found.share) / found.parts, 6)
        feedback = check.first_false_line(student, 1, f"beta*step - {share}*delta*g")
        assert feedback.earned == 2, (student, feedback.says)
        off = share * (1 + 1e-4)
        assert check.first_false_line(student, 1, f"beta*step - {off}*delta*g").earned == 0


@pytest.mark.parametrize(("name", "exercise", "wrong"), [
    ("divided by 1 − β", "equivalent_rules", ("beta", "delta/(1-beta)")),
    ("β and 1 − β exchanged", "equivalent_rules", ("1-beta", "delta*beta")),
    ("the power of 1 − β", "bias", ("(1-beta)^t",)),
    ("β and 1 − β exchanged", "bias", ("1-(1-beta)^t",)),
    ("started from the first gradient", "corrected_average",
     (lambda g, beta: pandas_like(g, beta),)),
    ("the newest β raised to the power t", "corrected_average",
     (lambda g, beta: raw(g, beta) / (1 - beta ** np.arange(1, len(g) + 1)),)),
])  # fmt: skip
def test_common_slips_have_a_name(name, exercise, wrong):
    names = {known.name for known in getattr(check, exercise)(*wrong).mistakes}
    assert names == {name}


def raw(g, beta):
    v, averages = 0.0, []
    for g_t, kept in zip(g, beta, strict=True):
        v = kept * v + (1 - kept) * g_t
        averages.append(v)
    return np.array(averages)


def pandas_like(g, beta):
    averages = [g[0]]
    for g_t, kept in zip(g[1:], beta[1:], strict=True):
        averages.append(kept * averages[-1] + (1 - kept) * g_t)
    return averages


@pytest.mark.parametrize("junk", [1e308, -1e308, 1e200])
def test_a_step_that_overflows_is_wrong_and_the_check_does_not_fail(junk):
    feedback = check.best_memory(0, junk, junk, junk)
    assert feedback.outcome is Outcome.WRONG
    assert "it does not shrink" in feedback.says
