"""The instrument that checks algebra line by line: what it finds, what it passes, what it shows."""

import math
import random
import re
import subprocess
import sys
from fractions import Fraction

import mpmath
import numpy as np
import pytest
import sympy as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from course_utils.derivation import (
    Derivation,
    activation,
    diagonal,
    inner,
    inner_products,
    integers,
    interval,
    invertible,
    matrix,
    nonnegative,
    norm,
    orthogonal,
    positive,
    real,
    sequence,
    shown,
    singular,
    symmetric,
    vector,
)
from selfcheck.derivation.bounded import safely
from selfcheck.derivation.compiling import number_power
from selfcheck.derivation.evaluation import evaluator
from selfcheck.derivation.judging import LineJudge
from selfcheck.derivation.precise import Digits
from selfcheck.formula import read_formula


def verdicts(d):
    return [line.verdict for line in d.check().lines]


def one_step(start, relation, line, *more, **domains):
    return Derivation(start, [(relation, line, "", *more)], where=domains).check()


class Blank:
    is_blank = True


# -- the homework's own slips ----------------------------------------------------------------------


MOMENTUM = {
    "where": {"beta": interval(0, 1), "delta": positive, "v_prev g": real},
    "given": {
        "v": ("beta*v_prev + (1-beta)*g", "by definition"),
        "theta": ("-delta*v", "by definition"),
        "theta_prev": ("-delta*v_prev", "because that is how the step before was made"),
    },
    "tex": {
        "v_prev": "v_{t-1}",
        "v": "v_t",
        "g": "g_t",
        "theta": r"\Delta\theta_t",
        "theta_prev": r"\Delta\theta_{t-1}",
    },
}


def flawed_momentum(**more):
    return Derivation(
        "theta",
        [
            ("=", "-delta*v", "the update"),
            ("=", "-delta*(beta*v_prev + (1-beta)*g)", "definition of $v_t$"),
            ("=", "-delta*(beta*theta_prev + (1-beta)*g)", "put in the last step"),
            ("=", "-delta*beta*theta_prev - delta*(1-beta)*g", "expand"),
        ],
        **MOMENTUM,
        **more,
    )


def test_the_first_false_line_of_the_momentum_derivation_is_found():
    report = flawed_momentum().check()
    assert report.first_false == 2
    assert [line.verdict for line in report.lines] == ["right", "right", "wrong", "right"]
    found = report.counterexample
    assert found["theta_prev"] == -found["delta"] * found["v_prev"]
    before, after = report.lines[2].values
    beta, delta, v, g = (found[n] for n in ("beta", "delta", "v_prev", "g"))
    assert before == -delta * (beta * v + (1 - beta) * g)
    assert after == -delta * (beta * -delta * v + (1 - beta) * g)


def test_the_corrected_momentum_derivation_holds():
    d = Derivation(
        "theta",
        [
            ("=", "-delta*(beta*v_prev + (1-beta)*g)", "definition of v"),
            ("=", "-delta*(beta*(-theta_prev/delta) + (1-beta)*g)", "divide by −δ"),
            ("=", "beta*theta_prev - delta*(1-beta)*g", "expand"),
        ],
        **MOMENTUM,
    )
    assert d.check().holds
    assert {line.how for line in d.check().lines} == {"proved"}


RECURRENCE = {
    "where": {"W U": matrix("n", "n"), "h_prev x b": vector("n"), "sigma": activation()},
    "given": {"h": (lambda W, U, h_prev, x, b, sigma: W @ sigma(h_prev) + U @ x + b, "")},
}


def test_dividing_by_w_dies_at_a_singular_w_and_only_there():
    divided = shown(
        lambda W, U, h, x, b, sigma: sigma(W @ np.linalg.solve(W, h - U @ x - b) + U @ x + b),
        r"\sigma(W\,W^{-1}(h_t - U x_t - b) + U x_t + b)",
    )
    lines = [
        ("=", divided, "divide by W"),
        ("=", lambda U, h, x, b, sigma: sigma((h - U @ x - b) + U @ x + b), "cancel W"),
        ("=", lambda h, sigma: sigma(h), "cancel the rest"),
    ]

    def start(W, U, h_prev, x, b, sigma):
        return sigma(W @ sigma(h_prev) + U @ x + b)

    flawed = Derivation(start, lines, **RECURRENCE).check()
    assert [line.verdict for line in flawed.lines] == ["wrong", "right", "right"]
    assert np.linalg.matrix_rank(flawed.counterexample["W"]) < len(flawed.counterexample["W"])
    assert "this line is not defined" in flawed.sentence
    where = {**RECURRENCE["where"], "W": invertible("n")}
    safe = Derivation(start, lines, where=where, given=RECURRENCE["given"])
    assert safe.check().holds
    assert Derivation(start, lines[2:], **RECURRENCE).check().holds


def softmax(scores):
    raised = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return raised / raised.sum(axis=-1, keepdims=True)


ATTENTION = {"Q K": matrix("n", "d"), "V": matrix("n", "d")}


def test_a_as_an_n_by_d_matrix_is_told_both_shapes():
    report = Derivation(
        lambda Q, K: np.exp(Q @ K.T),
        [("=", lambda Q, K: np.exp(Q * K), "entry by entry")],
        where=ATTENTION,
    ).check()
    assert report.first_false == 0
    n, d = report.counterexample["n"], report.counterexample["d"]
    assert f"a {n}×{n} matrix" in report.sentence
    assert f"a {n}×{d} matrix" in report.sentence


def test_softmax_attention_as_d_inverse_a_v_is_proved():
    def with_a(Q, K, V):
        A = np.exp(Q @ K.T)
        return np.diag(1 / A.sum(axis=1)) @ A @ V

    d = Derivation(
        lambda Q, K, V: softmax(Q @ K.T) @ V, [("=", with_a, "D = diag(A 1)")], where=ATTENTION
    )
    assert d.check().holds
    assert d.check().lines[0].how == "proved (entry by entry)"


def expected_product(x, y, m, scale):
    """E[f(x)·f(y)] in closed form for f = scale · exp(−‖x‖²/2) (exp(w₁ᵀx), …, exp(w_mᵀx))."""
    mean = np.exp(((x + y) @ (x + y)) / 2)
    return scale**2 * m * np.exp(-(x @ x) / 2 - (y @ y) / 2) * mean


@pytest.mark.parametrize(("scale", "verdict"), [("root", "right"), ("whole", "wrong")])
def test_random_features_need_one_over_the_root_of_m(scale, verdict):
    power = {"root": -0.5, "whole": -1}[scale]
    d = Derivation(
        lambda x, y: np.exp(x @ y),
        [("=", lambda x, y, m: expected_product(x, y, m, m**power), "average the features")],
        where={"x y": vector("d"), "m": integers(1, 6)},
    )
    assert verdicts(d) == [verdict]
    if verdict == "wrong":
        assert d.check().counterexample["m"] == 2


def test_the_square_lost_in_the_cost_of_attention_is_found():
    start = "3*N*D**2 + 2*N**2*D + N*D**2"
    sizes = {"N": integers(1, 64), "D": integers(1, 64)}
    wrong = one_step(start, "=", "4*N*D**2 + 2*N*D**2", **sizes)
    assert wrong.first_false == 0
    assert wrong.counterexample["N"] != wrong.counterexample["D"]
    assert one_step(start, "=", "4*N*D**2 + 2*N**2*D", **sizes).holds


# -- whole derivations of the course ---------------------------------------------------------------


def test_the_running_average_unrolls_into_a_weighted_sum():
    beta, t, i = sp.Symbol("beta"), sp.Symbol("t", integer=True), sp.Symbol("i", integer=True)
    g, m = sp.Function("g"), sp.Symbol("m")

    def recursion(beta, t, g):
        v = 0.0
        for k in range(1, t + 1):
            v = beta * v + (1 - beta) * g(k)
        return v

    domains = {beta: interval(0, 1), t: integers(1, 8), g: sequence(), m: real}
    weights = (1 - beta) * sp.Sum(beta ** (t - i) * g(i), (i, 1, t))
    unrolled = Derivation(recursion, [("=", weights, "unroll")], where=domains)
    assert unrolled.check().holds
    late = (1 - beta) * sp.Sum(beta ** (t - i + 1) * g(i), (i, 1, t))
    assert Derivation(recursion, [("=", late, "")], where=domains).check().first_false == 0

    expectation = Derivation(
        sp.Sum((1 - beta) * beta ** (t - i) * m, (i, 1, t)),
        [
            ("=", (1 - beta) * m * sp.Sum(beta ** (t - i), (i, 1, t)), "linearity"),
            ("=", "(1 - beta)*m*(1 - beta**t)/(1 - beta)", "geometric series"),
            ("=", "(1 - beta**t)*m", "cancel"),
            ("≈", "m", "in the long run", ("t", sp.oo)),
        ],
        where=domains,
    )
    assert expectation.check().holds
    assert expectation.check().lines[-1].how == "held in 10 trials of t → ∞"


def test_what_no_index_touches_leaves_a_sum_in_a_proof():
    lines = ["s*Sum(a(j), (j, 1, n))/c + 2*Sum(b(j), (j, 1, n))", "s + 2*Sum(b(j), (j, 1, n))"]
    d = Derivation(
        "Sum(s*a(j)/c + 2*b(j), (j, 1, n))",
        [("=", line, "") for line in lines],
        where={"s": real, "a b": sequence(positive), "n": integers(1, 6)},
        given={"c": "Sum(a(j), (j, 1, n))"},
    )
    assert [line.how[:6] for line in d.check().lines] == ["proved", "proved"]


GEOMETRIC = {"beta": interval(0, 1), "t": integers(1, 8)}


def test_a_sum_that_sympy_writes_as_cases_is_evaluated():
    beta, t, i = sp.symbols("beta t i")
    series = sp.Sum(beta ** (t - i), (i, 1, t))
    cases = series.doit()
    assert isinstance(cases, sp.Piecewise)
    for line in (cases, str(cases)):
        d = Derivation(series, [("=", line, ""), ("=", "(1-beta**t)/(1-beta)", "")],
                       where=GEOMETRIC)  # fmt: skip
        assert d.check().holds, d.check().sentence
    late = Derivation(series, [("=", beta * cases, "")], where=GEOMETRIC)
    assert late.check().first_false == 0


@pytest.mark.parametrize(
    ("line", "holds"),
    [
        ("Piecewise((x, x >= 0), (-x, True))", True),
        ("Piecewise((x, x > 0), (-x, x < 0), (0, Eq(x, 0)))", True),
        ("Piecewise((-x, (x < 0) & Ne(x, 0)), (x, (x > 5) | (x <= 5)))", True),
        ("Piecewise((-x, ~(x >= 0)), (x, True))", True),
        ("Piecewise((x**2/x, Ne(x, 0)), (0, True)) * Piecewise((1, x > 0), (-1, True))", True),
        ("Piecewise((x, x >= 1), (-x, True))", False),
        ("Piecewise((x, x > 0), (-x, x < 0))", False),  # nothing is said about 0
    ],
)
def test_cases_are_chosen_by_their_conditions_and_only_the_chosen_one_is_computed(line, holds):
    assert one_step("Abs(x)", "=", line, x=real).holds is holds
    as_sympy = sp.sympify(line, {"x": sp.Symbol("x")}) if "**" not in line else line
    assert one_step("Abs(x)", "=", as_sympy, x=real).holds is holds


def test_cases_are_shown_as_cases():
    lines = [("=", "Piecewise((x, x >= 0), (-x, True))", "")]
    d = Derivation("Abs(x)", lines, where={"x": real})
    assert r"\begin{cases} x & \text{for}\: x \geq 0" in d._repr_markdown_()
    assert "= Piecewise((x, x >= 0), (-x, True))" in repr(d)


def jacobian_product(W, hs, sigma):
    product = np.eye(len(W))
    for h in hs:
        product = W @ np.diag(sigma.prime(h)) @ product
    return np.linalg.norm(product, 2)


def gradient_bound(last):
    return Derivation(
        shown(jacobian_product, r"\left\|\partial h_T/\partial h_0\right\|"),
        [
            ("≤", lambda W, T, gamma: (np.linalg.norm(W, 2) * gamma) ** T, "norms multiply"),
            ("≤", last, "because ‖W‖ ≤ δ/γ"),
        ],
        where={
            "M": matrix("n", "n"),
            "hs": matrix("T", "n"),
            "delta": interval(0, 1),
            "sigma": activation(),
        },
        given={
            "gamma": (lambda sigma: sigma.gamma, "the largest slope of σ"),
            "W": (lambda M, delta, gamma: delta / gamma * M / max(np.linalg.norm(M, 2), 1e-9), ""),
        },
    )


def test_the_gradient_of_a_recurrent_network_is_bounded_by_delta_to_the_t():
    assert gradient_bound(lambda delta, T: delta**T).check().holds
    too_good = gradient_bound(lambda delta, T: delta ** (T + 1)).check()
    assert [line.verdict for line in too_good.lines] == ["right", "wrong"]
    assert "which is not ≤" in too_good.sentence


def test_the_square_is_completed_with_vectors():
    d = sp.Symbol("d")
    x, y = sp.MatrixSymbol("x", d, 1), sp.MatrixSymbol("y", d, 1)
    lines = [
        ("=", -(norm(x) ** 2 - norm(x + y) ** 2 + norm(y) ** 2) / 2, "expand ‖x + y‖²"),
        ("=", lambda x, y: -(x @ x - (x + y) @ (x + y) + y @ y) / 2, "‖z‖² = zᵀz"),
    ]
    domains = {x: vector("d"), y: vector("d")}
    assert Derivation(inner(x, y), lines, where=domains).check().holds
    wrong = ("=", -(norm(x) ** 2 - norm(x - y) ** 2 + norm(y) ** 2) / 2, "a sign lost")
    assert Derivation(inner(x, y), [wrong], where=domains).check().first_false == 0


# -- matrices --------------------------------------------------------------------------------------

N, D = sp.symbols("n d")
A, B = sp.MatrixSymbol("A", N, D), sp.MatrixSymbol("B", D, N)
S, R = sp.MatrixSymbol("S", N, N), sp.MatrixSymbol("R", N, N)


@pytest.mark.parametrize(
    ("start", "line", "domains"),
    [
        (sp.Trace(A * B), sp.Trace(B * A), {A: matrix("n", "d"), B: matrix("d", "n")}),
        (S * R, (R.T * S.T).T, {S: matrix("n", "n"), R: matrix("n", "n")}),
        (S * R, (R * S).T, {S: symmetric("n"), R: symmetric("n")}),
        (S * R, R * S, {S: diagonal("n"), R: diagonal("n")}),
        (S.T * S, sp.Identity(N), {S: orthogonal("n")}),
        (sp.Determinant(S), sp.S(0), {S: singular("n")}),
        (norm(S * A), norm(A), {S: orthogonal("n"), A: matrix("n", "d")}),
        (sp.MatMul(S, sp.Inverse(S), A), A, {S: invertible("n"), A: matrix("n", "d")}),
        (sp.Trace(S), sp.Sum(S[sp.Symbol("i"), sp.Symbol("i")], (sp.Symbol("i"), 0, N - 1)),
         {S: matrix("n", "n")}),
    ],
)  # fmt: skip
def test_true_matrix_identities_hold(start, line, domains):
    report = Derivation(start, [("=", line, "")], where=domains).check()
    assert report.holds, report.sentence


@pytest.mark.parametrize(
    ("start", "line", "domains"),
    [
        (S * R, R * S, {S: matrix("n", "n"), R: matrix("n", "n")}),
        (S * R, R * S, {S: symmetric("n"), R: symmetric("n")}),
        (S * A, S.T * A, {S: matrix("n", "n"), A: matrix("n", "d")}),
        (A * B, A * A.T, {A: matrix("n", "d"), B: matrix("d", "n")}),
        (A * B, A, {A: matrix("n", "d"), B: matrix("d", "n")}),
        (A, sp.MatMul(S, sp.Inverse(S), A), {S: matrix("n", "n"), A: matrix("n", "d")}),
        (S.T * S, sp.Identity(N), {S: invertible("n")}),
        (norm(S), sp.Trace(S), {S: symmetric("n")}),
    ],
)
def test_false_matrix_identities_are_found(start, line, domains):
    assert Derivation(start, [("=", line, "")], where=domains).check().first_false == 0


def test_vectors_and_matrices_may_be_typed_and_do_not_commute():
    domains = {"a": real, "x y": vector("n"), "V W": matrix("n", "n")}
    assert Derivation("a*(x + y)", [("=", "a*x + a*y", "")], where=domains).check().holds
    assert Derivation("a*W", [("=", "W*a", "")], where=domains).check().holds
    assert Derivation("V*W", [("=", "W*V", "")], where=domains).check().first_false == 0


# -- relations -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("start", "relation", "line", "domain", "holds"),
    [
        ("x", "<=", "x**2", integers(0, 9), True),
        ("x", "≤", "x**2", real, False),
        ("x", "≤", "x**2", interval(0, 1), False),
        ("x**2", "≤", "x", interval(0, 1), True),
        ("x + 1/x", "≥", "2", positive, True),
        ("x + 1/x", ">=", "2.1", positive, False),
        ("x", "≤", "99", real, False),
        ("x", "≥", "0.01", interval(0, 1), False),
        ("x", "≥", "0.01", interval(0.01, 1, closed=True), True),
        ("x", "≥", "0", nonnegative, True),
        ("Max(x, 0)", "≤", "Abs(x)", real, True),
    ],
)
def test_inequalities_are_probed_at_the_corners_too(start, relation, line, domain, holds):
    assert one_step(start, relation, line, x=domain).holds is holds


def test_an_approximation_needs_a_limit_or_a_tolerance():
    with pytest.raises(ValueError, match="fourth part"):
        Derivation("x", [("≈", "x", "")], where={"x": real})
    assert one_step("x + 0.001", "≈", "x", 0.01, x=real).holds
    assert not one_step("x + 0.1", "≈", "x", 0.01, x=real).holds
    assert one_step("x*1.001", "≈", "x", "Abs(x)/100", x=real).holds


@pytest.mark.parametrize(
    ("start", "line", "limit", "holds"),
    [
        ("1 + 1/t", "1", ("t", sp.oo), True),
        ("1 + 1/t", "2", ("t", sp.oo), False),
        ("1 - b**t", "1", ("t", np.inf), True),
        ("1 - b**t", "1 + b", ("t", np.inf), False),
        ("(exp(b) - 1)/b", "1", ("b", 0), True),
        ("(exp(b) - 1)/b", "0", ("b", 0), False),
    ],
)
def test_limits_are_approached_step_by_step(start, line, limit, holds):
    report = one_step(start, "≈", line, limit, t=integers(1, 8), b=interval(0, 1))
    assert report.holds is holds


def test_a_cancelled_division_is_caught_where_it_divides_by_zero():
    assert one_step("x", "=", "w*x/w", x=real, w=positive).holds
    report = one_step("x", "=", "w*x/w", x=real, w=real)
    assert report.first_false == 0
    assert report.counterexample["w"] == 0


def test_a_line_is_not_blamed_for_a_hole_in_the_line_before():
    assert one_step("(x**2 - 1)/(x - 1)", "=", "x + 1", x=real).holds


def test_the_reason_is_not_judged_only_the_claim():
    assert Derivation("2*x", [("=", "x + x", "by magic")], where={"x": real}).check().holds


# -- three marks, and no more than is known --------------------------------------------------------

oo = sp.oo


def mark(start, relation, line, *more, **domains):
    return one_step(start, relation, line, *more, **domains).lines[0].mark


def test_a_line_is_proved_or_held_or_false():
    assert mark("x*(y + 1)", "=", "x*y + x", x=real, y=real) == "proved"
    assert mark("cosh(x)", "≤", "exp(x**2/2)", x=real) == "held"
    assert mark("x", "=", "-x", x=real) == "false"
    d = Derivation("x", [("=", "x", ""), ("=", "x + 0*sin(x)**2", ""), ("≤", "0", "")],
                   where={"x": real})  # fmt: skip
    assert [row.split()[-1] for row in repr(d).splitlines()[1:4]] == ["✓", "✓", "✗"]


HOLES = [
    ("x + 5", "(x**2 - 25)/(x - 5)", "x ≠ 5"), ("1", "(x + 2)/(x + 2)", "x ≠ -2"),
    ("1", "(7*x - 3)/(7*x - 3)", "x ≠ 3/7"), ("1", "(x**2 - 2)/(x**2 - 2)", "x**2 - 2 ≠ 0"),
    ("1", "(x**2 - 9)/(x**2 - 9)", "x ≠ -3 and x ≠ 3"), ("1", "(exp(x) - 7)/(exp(x) - 7)", "≠ 0"),
    ("1", "cos(x)/cos(x)", "cos(x) ≠ 0"), ("x - y", "(x**2 - y**2)/(x + y)", "x + y ≠ 0"),
    ("1", "(x**2 + y**2)/(x**2 + y**2)", "x**2 + y**2 ≠ 0"), ("x", "exp(log(x))", ""),
    ("x", "sqrt(x)**2", ""), ("1", "log(x**2)/log(x**2)", ""),
    ("x*y", "x*y*(x*y - 6)/(x*y - 6)", "x*y - 6 ≠ 0"),
]  # fmt: skip


@pytest.mark.parametrize(("start", "line", "where"), HOLES)
def test_a_hole_is_found_wherever_it_is_and_said(start, line, where):
    report = one_step(start, "=", line, x=real, y=real)
    assert report.first_false == 0
    assert where in report.sentence


def test_a_hole_outside_of_the_domain_is_none_and_one_in_the_line_before_is_a_condition():
    assert mark("x - 1", "=", "(x**2 - 1)/(x + 1)", x=positive) == "proved"
    assert mark("1", "=", "(1 - x)/(1 - x)", x=interval(0, 1)) == "proved"
    assert mark("1", "=", "(1 - x)/(1 - x)", x=interval(0, 1, closed=True)) == "false"
    assert mark("1", "=", "(n - 9)/(n - 9)", n=integers(1, 8)) == "proved"
    report = one_step("(x**2 - 1)/(x - 1)", "=", "x + 1", x=real)
    assert report.lines[0].how == "proved where x ≠ 1"


BEYOND = [
    ("x", "=", "Min(x, 10)"), ("x", "=", "Min(x, 10**8)"), ("x**2", "≤", "10000"),
    ("x", "≤", "1e7"), ("x", "=", "x + Piecewise((1, Eq(x, y)), (0, True))"),
    ("0*x", "=", "exp(-(x - 1000)**2)"), ("x", "=", "x + 10**-30"), ("tanh(100*x)", "=", "1"),
    ("x", "=", "x + Piecewise((1, x > 12345), (0, True))"),
    ("x*y", "=", "x*y + Piecewise((1, Eq(x, 0) & Eq(y, 0)), (0, True))"),
    ("exp(-x)", "≤", "1"), ("x**2", ">", "0"), ("Abs(x)", ">", "x"),
]  # fmt: skip


@pytest.mark.parametrize(("start", "relation", "line"), BEYOND)
def test_tails_ties_and_turning_points_are_tried(start, relation, line):
    assert one_step(start, relation, line, x=real, y=real).first_false == 0


def test_domains_hold_what_their_names_say():
    det, trace, eye = np.linalg.det, np.trace, np.eye
    claims = [
        (lambda A: det(A), "≥", lambda A: 0.0, {"A": invertible("n")}),
        (lambda A, v: v @ A @ v, "≥", lambda A: 0.0, {"A": invertible("n"), "v": vector("n")}),
        (lambda A: trace(A), "≥", lambda A: 1.0, {"A": invertible("n")}),
        (lambda A: np.abs(det(A)), "≥", lambda A: 1e-6, {"A": invertible("n")}),
        (lambda Q: trace(Q), "≥", lambda Q: 0.0, {"Q": orthogonal(4)}),
        (lambda Q: det(Q - eye(4)), "=", lambda Q: 0.0, {"Q": orthogonal(4)}),
        (lambda Q: det(Q), "=", lambda Q: 1.0, {"Q": orthogonal("n")}),
        (lambda A: A[0], "=", lambda A: A[-1], {"A": singular("n")}),
        (lambda A: A @ A, "=", lambda A: A * trace(A), {"A": singular("n")}),
        (lambda x: len(x) * 1.0, "≤", lambda x: 7.0, {"x": vector("n")}),
        (lambda x: np.abs(x).max(), "≤", lambda x: 1e5, {"x": vector("n")}),
        (lambda S: np.linalg.eigvalsh(S)[0], "≥", lambda S: 0.0, {"S": symmetric("n")}),
        ("g(i)", "=", "g(i + 64)", {"g": sequence(), "i": integers(1, 8)}),
    ]
    for start, relation, line, domains in claims:
        report = Derivation(start, [(relation, line, "")], where=domains).check()
        assert report.first_false == 0, (relation, domains)


def test_inner_products_are_those_of_vectors():
    domains = {"xx xy yy": inner_products()}
    for start, relation, line, verdict in [
        ("xy**2", "≤", "xx*yy", "held"), ("xx + 2*xy + yy", "≥", "0", "held"),
        ("xy", "≤", "(xx + yy)/2", "held"), ("xx*yy", "=", "xy**2", "false"),
        ("xy", "≤", "xx", "false"), ("xx - 2*xy + yy", ">", "0", "false"),
    ]:  # fmt: skip
        line = Derivation(start, [(relation, line, "")], where=domains).check().lines[0]
        assert line.mark == verdict
        if line.counterexample and line.counterexample.keys() == {"xx", "xy", "yy"}:
            found = line.counterexample
            assert found["xy"] ** 2 <= found["xx"] * found["yy"]


def inverse(A):
    return np.linalg.inv(A)


ROUNDED = [
    (lambda A, B: inverse(A @ B), lambda A, B: inverse(B) @ inverse(A), "matrix"),
    (lambda x: x.var(), lambda x: (x**2).mean() - x.mean() ** 2, "offset"),
    (lambda t: 1.0, lambda t: np.cosh(t) ** 2 - np.sinh(t) ** 2, "number"),
    (lambda A: np.linalg.det(A), lambda A: np.prod(np.linalg.eigvals(A)), "matrix"),
    (lambda t: 0 * t, lambda t: (t * 0.1) * 10 - t, "number"),
    (lambda t: t, lambda t: (t + 1e20) - 1e20, "number"),
    (lambda x: np.exp(x) / np.exp(x).sum(),
     lambda x: np.exp(x - x.max()) / np.exp(x - x.max()).sum(), "vector"),
    (lambda A: np.linalg.det(A @ A.T), lambda A: np.linalg.det(A) ** 2, "matrix"),
]  # fmt: skip


@pytest.mark.parametrize("case", range(len(ROUNDED)))
def test_rounding_overflow_and_singular_draws_refute_nothing(case):
    start, line, kind = ROUNDED[case]
    where = {
        "matrix": {"A B": matrix("d", "d")},
        "offset": {"x": vector("n", interval(1e6, 1e6 + 1))},
        "vector": {"x": vector("n")},
        "number": {"t": real},
    }[kind]
    report = Derivation(start, [("=", line, "")], where=where).check()
    assert report.holds, report.sentence


def test_what_many_digits_tell_apart_is_told_apart():
    def nearly(v):
        return np.linalg.norm(v) + 1e-9

    assert not one_step(lambda v: np.linalg.norm(v), "=", nearly, v=vector("n")).holds
    assert not one_step("E", "=", "Sum(1/factorial(k), (k, 0, n))", n=integers(25, 40)).holds
    assert not one_step("tanh(100*x)", "=", "1", x=interval(1, 3)).holds
    says = one_step("x", "=", "x + 10**-9", x=interval(1, 2)).sentence
    before, now = says.split("the line before is ")[1].rstrip(".").split(", but this line is ")
    assert before != now


@pytest.mark.parametrize(
    "term",
    ["b**i", "7*b**(t - i)*c", "c**i/b**i", "b**(3*i - t)/2", "c", "b**(i/2)", "(-b)**(2*i + 1)",
     "b**(i - i)*i", "b**(i*t)*(c*(b**i*2))", "(b - c)**(i - 3)", "Sum(c**i*b**k, (k, 1, i))"],
)  # fmt: skip
@pytest.mark.parametrize("b", ["0.3", "-0.3", "1", "-1", "1.0000000000000001", "7", "-1.00001"])
def test_a_sum_at_once_is_what_its_terms_come_to(term, b):
    i, k, c = sp.symbols("i k c", integer=True)
    term = sp.sympify(term, {"i": i, "k": k, "c": c})
    for digits, count in ((50, 1), (50, 2), (90, 301)):
        with mpmath.workdps(digits):
            values = {"b": mpmath.mpf(b), "c": mpmath.mpf(3), "t": mpmath.mpf(5)}
            at = [{**values, "i": mpmath.mpf(n)} for n in range(1, count + 1)]
            try:
                terms = [evaluator(term, exact=True)(v) for v in at]
            except ZeroDivisionError:  # the root of a negative number
                with pytest.raises(ZeroDivisionError):
                    evaluator(sp.Sum(term, (i, 1, count)), exact=True)(values)
                continue
            found = evaluator(sp.Sum(term, (i, 1, count)), exact=True)(values)
            rounding = count * max(map(abs, terms)) * mpmath.mpf(10) ** (3 - digits)
            assert abs(found - mpmath.fsum(terms)) <= rounding


@pytest.mark.parametrize("line", ["Sum(x**(i - 3), (i, 1, n))", "Sum((x - y)**(2 - i), (i, 1, n))"])
def test_a_sum_at_once_has_no_value_where_a_term_has_none(line):
    domains = {"x": interval(0, 1, closed=True), "y": interval(0, 1), "n": integers(3, 9)}
    assert "not defined" in one_step("n", "=", f"n + 0*{line}", **domains).sentence


@pytest.mark.parametrize(
    ("start", "line", "limit", "holds"),
    [
        ("(1 + 1/n)**n", "2.718", ("n", oo), False), ("(1 + 1/n)**n", "E", ("n", oo), True),
        ("n**3*exp(-n/100)", "0", ("n", oo), True), ("(n - 130)/n**2", "0", ("n", oo), True),
        ("1/n + 1/10000", "0", ("n", oo), False), ("1/log(n + 1)", "0", ("n", oo), True),
        ("(1 + x/n)**n", "exp(x)", ("n", oo), True), ("(1 + x/n)**n", "1 + x", ("n", oo), False),
        ("Sum(1/k, (k, 1, n)) - log(n)", "0.5772", ("n", oo), False),
        ("Sum(1/k**2, (k, 1, n))", "pi**2/6", ("n", oo), True),
        ("sin(x)/x", "1", ("x", 0), True), ("sin(x)/x", "0.9999", ("x", 0), False),
        ("sqrt(n + 1) - sqrt(n)", "0", ("n", oo), True), ("n/(n + 1)", "n", ("n", oo), False),
    ],
)  # fmt: skip
def test_limits_by_sympy_or_with_a_stated_error(start, line, limit, holds):
    report = one_step(start, "≈", line, limit, n=integers(1, 8), x=interval(0, 2))
    assert report.holds is holds, report.sentence


@pytest.mark.parametrize(
    ("start", "line", "holds"),
    [
        ("Derivative(x**3, x)", "3*x**2", True), ("Derivative(x**3, x)", "3*x", False),
        ("Integral(s**2, (s, 0, x))", "x**3/3", True), ("Integral(s**2, (s, 0, x))", "x**3", False),
        ("Sum(1/k**2, (k, 1, oo))", "pi**2/6", True), ("Sum(1/k**2, (k, 1, oo))", "1.645", False),
        ("Product(k, (k, 1, n))", "factorial(n)", True), ("gamma(n)", "factorial(n)", False),
        ("floor(x + 1)", "floor(x) + 1", True), ("floor(2*x)", "2*floor(x)", False),
        ("atan(x) + atan(1/x)", "pi/2", True), ("atan(x)", "x/(1 + x**2/3)", False),
        ("Integral(exp(-s**2), (s, -oo, oo))", "sqrt(pi)", True),
    ],
)  # fmt: skip
def test_calculus_is_read_and_checked(start, line, holds):
    for first, second in ((start, line), (sp.sympify(start), sp.sympify(line))):
        report = one_step(first, "=", second, x=positive, n=integers(1, 8))
        assert report.holds is holds, report.sentence


def test_no_step_is_tidied_away_before_the_reader_sees_it():
    lines = [
        ("=", "exp(2*s - (s - 2*r))", ""), ("=", "exp(2*r)*exp(s)", ""),
        ("=", "(r + s) + 0*r", ""), ("=", "Sum(b**(t - 1 - i), (i, 1, t - 1))", ""),
    ]  # fmt: skip
    where = {"s r": real, "b": positive, "t": integers()}
    tex = Derivation("s", lines, where=where)._repr_markdown_()
    assert r"e^{2 s - \left(s - 2 r\right)}" in tex
    assert r"\left(r + s\right) + 0 r" in tex
    assert r"\sum_{i=1}^{t - 1} b^{t - 1 - i}" in tex
    assert "-1 + t" not in tex


# -- blanks and lines that cannot be checked -------------------------------------------------------


@pytest.mark.parametrize("blank", [Blank(), "____"])
def test_a_blank_line_is_not_attempted_and_the_next_is_judged_against_the_last_written_one(blank):
    lines = [("=", blank, ""), ("=", "2*x", "right"), ("=", blank, ""), ("=", "3*x", "wrong")]
    d = Derivation("x + x", lines, where={"x": real})
    assert verdicts(d) == ["not attempted", "right", "not attempted", "wrong"]
    assert not d.check().holds
    only = Derivation("x + x", lines[:2], where={"x": real})
    assert only.check().sentence == "Line 1 is still to be written."
    assert only.check().first_false is None


def test_an_inequality_left_blank_counts_for_the_line_after_it():
    blank = ("≤", "____", "")
    d = Derivation("x", [blank, ("=", "x + 1", "")], where={"x": real})
    assert verdicts(d) == ["not attempted", "right"]
    d = Derivation("x", [blank, ("≥", "x + 1", "")], where={"x": real})
    assert verdicts(d) == ["not attempted", "could not be checked"]


def test_a_blank_start_leaves_the_first_line_unchecked_and_the_second_judged():
    d = Derivation("____", [("=", "x", ""), ("=", "2*x/2", "")], where={"x": real})
    assert verdicts(d) == ["could not be checked", "right"]


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("x +", "is not a formula"),
        ("x*z", "uses z"),
        (sp.Symbol("z"), "uses z"),
        (lambda x, z: x + z, "uses z"),
        (lambda x: x + undefined_name, "NameError"),  # noqa: F821
        (lambda x: "two", "no number but of the kind str"),
        (lambda x: x + float("nan"), "not finite"),
        (sp.Integral(sp.Symbol("x"), sp.Symbol("x")), "unknown here"),
        (sp.Eq(sp.Symbol("x"), 1), "Equality is unknown here"),
        ("__import__('os')", "__import__"),
    ],
)
def test_a_line_that_cannot_be_read_or_computed_is_said_to_be_so(line, words):
    lines = [("=", line, ""), ("=", "1*x", "")]
    report = Derivation("x", lines, where={"x": real}).check()
    assert [r.verdict for r in report.lines] == ["could not be checked", "right"]
    assert report.sentence.startswith("Line 1 could not be checked: ")
    assert words in report.sentence


def test_a_start_that_cannot_be_computed_leaves_only_the_first_line_unchecked():
    d = Derivation(lambda x: x.missing, [("=", "x", ""), ("=", "1*x", "")], where={"x": real})
    assert verdicts(d) == ["could not be checked", "right"]
    assert "AttributeError" in d.check().sentence


def test_a_whole_line_or_a_part_of_it_may_be_left_blank():
    d = Derivation("x", [Blank(), ("=", "2*____", ""), ("=", "x", "")], where={"x": real})
    assert verdicts(d) == ["not attempted", "not attempted", "right"]


def test_no_lines_prove_nothing():
    report = Derivation("x", [], where={"x": real}).check()
    assert not report.holds
    assert report.sentence == "There are no lines yet."


def test_a_malformed_line_is_refused_with_a_sentence():
    with pytest.raises(ValueError, match="Line 1: write"):
        Derivation("x", ["x + 0"], where={"x": real})
    with pytest.raises(ValueError, match="the relation is one of"):
        Derivation("x", [("~", "x", "")], where={"x": real})
    with pytest.raises(ValueError, match="both in `where`"):
        Derivation("x", [], where={"x": real}, given={"x": "1"})


def test_a_function_may_have_parameters_of_its_own_with_defaults():
    assert one_step("3*x", "=", lambda x, k=3: k * x, x=real).holds


def for_few(v):
    return v + v if len(v) < 4 else v[99] + v


def nan_for_many(v):
    return 2 * v if len(v) < 4 else np.full(len(v), np.nan)


@pytest.mark.parametrize("line", [for_few, nan_for_many])
def test_a_function_without_a_value_at_plain_numbers_is_a_false_line(line):
    report = Derivation(lambda v: 2 * v, [("=", line, "")], where={"v": vector("n")}).check()
    assert report.first_false == 0
    assert "the line before is" in report.sentence


def test_a_function_that_overflows_at_large_numbers_alone_is_not_refuted():
    def by_floats(v):
        return np.array([math.log(math.exp(float(x))) for x in v])

    report = Derivation(lambda v: 1.0 * v, [("=", by_floats, "")], where={"v": vector("n")}).check()
    assert report.first_false is None


def test_a_function_in_floats_alone_is_refuted_by_as_small_a_difference_as_one_with_digits():
    def in_floats(v):
        return v.astype(float) * (1 + 1e-10)

    for line in (in_floats, lambda v: v * (1 + 1e-10)):
        lines = [("=", line, "")]
        report = Derivation(lambda v: 1.0 * v, lines, where={"v": vector("n")}).check()
        assert report.first_false == 0


def test_a_function_gets_sequences_of_plain_floats():
    def total(g, t):
        return sum(np.exp(g(k)) for k in range(1, t + 1))

    summed = "Sum(exp(g(i)), (i, 1, t))"
    assert one_step(total, "=", summed, g=sequence(), t=integers(1, 5)).holds
    late = one_step(total, "=", "Sum(exp(g(i)), (i, 0, t))", g=sequence(), t=integers(1, 5))
    assert late.counterexample == {"g": {0: 0, 1: 0}, "t": 1}


def test_a_function_may_overwrite_its_arguments_without_harm():
    def doubled(x):
        x *= 2
        return x

    d = Derivation(
        doubled, [("=", lambda x: 2 * x, ""), ("=", "x + x", "")], where={"x": vector("n")}
    )
    assert d.check().holds


# -- what is shown ---------------------------------------------------------------------------------


def test_it_shows_as_text():
    assert repr(flawed_momentum(name="Momentum")).splitlines() == [
        "Momentum",
        "  Δθ_t",
        "= -δ*v_t                       ✓  the update",
        "= -δ*(β*v_{t-1} + (1-β)*g_t)   ✓  definition of v_t",
        "= -δ*(β*Δθ_{t-1} + (1-β)*g_t)  ✗  put in the last step",
        "= -δ*β*Δθ_{t-1} - δ*(1-β)*g_t  ✓  expand",
        "Line 3 is false: at β = 1/2, δ = 1, v_{t-1} = 1, g_t = 0, so Δθ_{t-1} = -1, "
        "the line before is -1/2, but this line is 1/2.",
    ]


def test_formulas_within_a_reason_are_readable_in_a_terminal():
    lines = [("=", "1*x", r"as $-\delta v_{t-1} \le \varepsilon\,\|W^\top\|$, \ln x_1")]
    row = repr(Derivation("x", lines, where={"x": real})).splitlines()[1]
    assert row == "= 1*x  ✓  as -δ v_{t-1} ≤ ε‖W^T‖, \\ln x_1"


def rows(derivation):
    """The lines of a derivation as a notebook shows them: mark, line and what stands beside it."""
    shown = derivation._repr_markdown_().splitlines()
    table = [line for line in shown if line.startswith("| ")][2:]  # below its head
    return [[part.strip() for part in re.split(r"(?<!\\)\|", line)[1:-1]] for line in table]


def test_a_mark_stands_before_each_line_and_its_reason_behind_it():
    shown = flawed_momentum(name="Momentum")._repr_markdown_()
    assert shown.startswith("**Momentum**\n\n| | | |\n| :-: | :-- | :-- |\n")
    start, _, second, *_ = rows(flawed_momentum())
    assert start == ["", r"$\displaystyle \Delta\theta_t$", ""]
    mark, line, reason = second
    assert mark == '<span class="course-mark course-proved" title="proved">✓</span>'
    assert r"\left(1 - \beta\right) g_t\right)$" in line
    assert reason == "definition of $v_t$"


def test_a_false_line_is_red_says_so_and_has_its_counterexample_beside_it():
    _, _, _, (mark, line, beside), _ = rows(flawed_momentum())
    assert "course-false" in mark
    assert "✗" in mark
    assert line.startswith('<span class="course-false">$')
    assert beside.startswith("put in the last step<br>**False:** at β = 1/2, δ = 1, $v_{t-1}$ = ")
    assert r"so $\Delta\theta_{t-1}$ = -1, the line before" in beside


def test_what_held_has_a_mark_and_a_sign_of_its_own():
    held = Derivation("x", [("=", lambda x: x if x > 0 else 1 * x, "")], where={"x": real})
    mark = rows(held)[1][0]
    assert 'class="course-mark course-held" title="held in ' in mark
    assert "○" in mark


def test_text_is_printed_as_it_was_typed():
    lines = [("=", "w*(h-u)/w + u", ""), ("=", "3*h*u**2 + 2*u + h", "")]
    shown = Derivation("h", lines, where={"h u w": real})._repr_markdown_()
    assert r"\frac{w \left(h - u\right)}{w} + u" in shown
    assert r"3 h u^{2} + 2 u + h" in shown


def test_every_kind_of_line_can_be_shown():
    lines = [
        ("=", "____", "open"),
        ("=", "x +", "not a formula"),
        ("=", lambda x: x, ""),
        ("=", sp.Symbol("x") + sp.Function("g")(1) ** 2, "50 % of {it} & $x_1$"),
    ]
    derivation = Derivation("x", lines, where={"x": real, "g": sequence()})
    _, blank, unread, function, formula = rows(derivation)
    assert r"\_\_\_\_" in blank[1]
    assert "…" in blank[0]
    assert r"\text{x +}" in unread[1]
    assert "?" in unread[0]
    assert r"\text{f(x)}" in function[1]
    assert r"g_{1}^{2}" in formula[1]
    assert formula[2].startswith("50 % of {it} & $x_1$")
    assert "Line 2 could not be checked" in derivation._repr_markdown_()


def test_signs_that_would_end_a_cell_of_the_table_or_open_a_tag_are_set_as_commands():
    lines = [("<", "Abs(x) + 1", "a | b, $|x| < y$ and $\\|x\\|$"), ("≤", "2 + Abs(x)", "")]
    shown = rows(Derivation("Abs(x)", lines, where={"x": real}))
    assert [len(row) for row in shown] == [3, 3, 3]
    assert shown[1][2] == r"a \| b, $\vert x\vert  \lt  y$ and $\Vert x\Vert $"
    assert "|" not in shown[1][1]
    assert "<" not in shown[1][1]


def test_the_same_seed_gives_the_same_words():
    assert repr(flawed_momentum()) == repr(flawed_momentum())
    assert flawed_momentum(seed=1).check().first_false == 2


def test_a_sequence_shows_the_values_that_were_used():
    i, t = sp.Symbol("i"), sp.Symbol("t")
    g = sp.Function("g")
    total = sp.Sum(g(i), (i, 1, t))
    report = Derivation(
        total, [("=", sp.Sum(g(i), (i, 0, t)), "")], where={g: sequence(), t: integers(1, 5)}
    ).check()
    assert report.counterexample["t"] == 1
    assert set(report.counterexample["g"]) == {0, 1}
    assert "g(0) = " in report.sentence


def test_a_counterexample_is_looked_for_only_when_somebody_asks_for_it():
    asked = []

    def transposed(A):
        asked.append(A)
        return A.T

    report = one_step(lambda A: A, "=", transposed, A=matrix("n", "n"))
    (line,) = report.lines
    assert (line.verdict, line.mark, report.holds) == ("wrong", "false", False)
    verdict = len(asked)
    assert "Line 1 is false: at A = " in report.sentence
    sentence = len(asked)
    assert sentence > verdict
    assert report.counterexample["A"] == line.values[0]
    assert line == report.lines[0]
    assert len(asked) == sentence  # and once is enough


def test_importing_the_module_does_not_import_sympy():
    code = "import sys, course_utils.derivation; sys.exit('sympy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


# -- properties ------------------------------------------------------------------------------------

a, b, c = sp.symbols("a b c", real=True)
LEAVES = st.sampled_from([a, b, c, sp.S(2), sp.S(-1), sp.Rational(1, 2)])
TERMS = st.recursive(
    LEAVES,
    lambda inside: st.one_of(
        st.tuples(inside, inside).map(lambda p: p[0] + p[1]),
        st.tuples(inside, inside).map(lambda p: p[0] * p[1]),
        inside.map(lambda e: e**2),
        inside.map(lambda e: 1 / (1 + e**2)),
        inside.map(sp.tanh),
    ),
    max_leaves=6,
)
REARRANGED = st.sampled_from(
    [sp.expand, sp.factor, sp.together, lambda e: sp.Add(e, a, -a, evaluate=False), sp.simplify]
)


def examples(count):
    return settings(derandomize=True, max_examples=count, deadline=None)


SCALARS = {"a": real, "b": positive, "c": interval(0, 1)}


@examples(20)
@given(TERMS, REARRANGED, REARRANGED)
def test_a_true_identity_rearranged_at_random_is_never_called_false(e, first, second):
    lines = [("=", first(e), ""), ("=", second(first(e)), ""), ("=", str(e), "as text")]
    d = Derivation(e, lines, where=SCALARS)
    assert d.check().holds, d.check().sentence


@examples(12)
@given(TERMS.filter(lambda e: e.free_symbols), REARRANGED)
def test_a_given_may_be_put_in_for_its_definition(e, rearrange):
    named = sp.Symbol("s") * a + rearrange(e)
    full = sp.expand((e + b) * a) + e
    d = Derivation(named, [("=", full, "")], where=SCALARS, given={"s": (e + b, "")})
    assert d.check().holds, d.check().sentence


def spoiled(e, how):
    """The expression with one error planted where it shows."""
    if how == "sign":
        return a - e
    if how == "exponent":
        return a + e * b
    return a + 2 * e if how == "factor" else a


@examples(20)
@given(TERMS, st.sampled_from(["sign", "exponent", "factor", "term"]), REARRANGED)
def test_a_planted_error_is_always_found(e, how, rearrange):
    wrong = spoiled(e, how)
    if sp.simplify(wrong - a - e) == 0:
        return
    report = Derivation(a + e, [("=", rearrange(wrong), "")], where=SCALARS).check()
    assert report.first_false == 0
    assert all(abs(v) <= 4 for v in report.counterexample.values())


SQUARE = st.recursive(
    st.sampled_from([S, R]),
    lambda inside: st.one_of(
        st.tuples(inside, inside).map(lambda p: p[0] * p[1]),
        st.tuples(inside, inside).map(lambda p: p[0] + p[1]),
        inside.map(lambda e: e.T),
    ),
    max_leaves=5,
)
MATRICES = {S: matrix("n", "n"), R: matrix("n", "n")}


@examples(12)
@given(SQUARE)
def test_a_matrix_expression_rearranged_is_never_called_false_and_transposed_always(e):
    start = e + S * R
    lines = [("=", sp.expand(start), ""), ("=", ((S * R).T + e.T).T, ""), ("=", start.T, "")]
    report = Derivation(start, lines, where=MATRICES).check()
    assert [line.verdict for line in report.lines[:2]] == ["right", "right"]
    stays = one_step(sp.Trace(start * S), "=", sp.Trace(S * start), n=integers(1, 3), **{
        "S": matrix("n", "n"), "R": matrix("n", "n")
    })  # fmt: skip
    assert stays.holds
    one, two = np.array([[0, 1], [0, 0]]), np.array([[1, 2], [3, 5]])
    numbers = {S: sp.Matrix(one), R: sp.Matrix(two), N: 2}
    if start.subs(numbers).doit() != start.T.subs(numbers).doit():
        assert report.lines[2].verdict == "wrong"


@examples(8)
@given(st.integers(0, 10**6))
def test_no_seed_changes_a_verdict(seed):
    assert flawed_momentum(seed=seed).check().first_false == 2
    for start, line, holds in [("x + 1/x", "2", True), ("x + 1/x", "2.01", False)]:
        d = Derivation(start, [("≥", line, "")], where={"x": positive}, seed=seed)
        assert d.check().holds is holds
    far = Derivation("x", [("≤", "99", "")], where={"x": real}, seed=seed)
    assert far.check().counterexample == {"x": 100}


# -- true derivations by rewriting, false ones by one slip -----------------------------------------

u, w = sp.symbols("u w")
ATOMS = [u, w, sp.S(2), sp.S(3), sp.Rational(1, 2), u + 1, w**2, u * w, u - w]
OUTER = [sp.exp, sp.sin, sp.cos, sp.tanh, lambda e: 1 / (1 + e**2), lambda e: e**2, sp.Abs]
MOVES = [
    sp.expand, sp.factor, sp.together, sp.powsimp, sp.expand_trig,
    lambda e: sp.Add(e, u, -u, evaluate=False),
    lambda e: sp.Mul(e, 1 + w**2, 1 / (1 + w**2), evaluate=False),
    lambda e: sp.collect(sp.expand(e), u),
]  # fmt: skip


def random_term(rng, depth=2):
    if not depth or rng.random() < 0.2:
        return rng.choice(ATOMS)
    if rng.random() < 0.35:
        return rng.choice(OUTER)(random_term(rng, depth - 1))
    left, right = random_term(rng, depth - 1), random_term(rng, depth - 1)
    return rng.choice([left + right, left * right, left - right])


def rewritten(rng, e, steps=3):
    lines = []
    for _ in range(steps):
        e = rng.choice(MOVES)(e)
        lines.append(e)
    return lines


def slipped(rng, e):
    """One sign, factor, exponent, term or function other than it was."""
    parts = [p for p in sp.preorder_traversal(e) if p.free_symbols and p != e] or [e]
    part = rng.choice(parts)
    slip = rng.choice([-part, 2 * part, part + 1, part**2, part - u, sp.sin(part), 0 * part])
    return e.xreplace({part: slip})


def differ(a, b):
    """Whether two expressions differ, by a judge of its own: SymPy's numbers at 12 points."""
    for k in range(12):
        point = {u: sp.Rational(2 * k - 6, 7), w: sp.Rational(9 - 2 * k, 5)}
        p, q = (sp.N(x.subs(point), 40) for x in (a, b))
        if p.is_finite and q.is_finite and abs(p - q) > 1e-25 * (1 + abs(p)):
            return True
    return False


def test_derivations_made_by_rewriting_are_never_called_false():
    rng = random.Random(15)
    for _ in range(25):
        start = random_term(rng)
        report = Derivation(
            start, [("=", e, "") for e in rewritten(rng, start)], where={"u w": real}
        ).check()
        assert report.first_false is None, (start, report.sentence)


@pytest.mark.slow
def test_every_one_of_many_seeded_slips_is_caught_at_its_line():
    """Detection rate: 40 of 40."""
    rng, caught, made = random.Random(16), 0, 0
    while made < 40:
        start = random_term(rng)
        good = rewritten(rng, start, 2)
        bad = slipped(rng, good[-1])
        if not differ(good[-1], bad):
            continue
        made += 1
        lines = [*good, bad, rng.choice(MOVES)(bad)]
        report = Derivation(start, [("=", e, "") for e in lines], where={"u w": real}).check()
        caught += report.first_false == 2
        assert report.first_false == 2, (start, lines, report.sentence)
    assert caught == made


# -- limits that only seem to be reached -----------------------------------------------------------


@pytest.mark.parametrize(
    ("start", "line", "domains"),
    [
        ("(-1)**n", "1", {}),  # true for every power of two
        ("2*floor(n/2) - n", "0", {}),
        ("sin(n)", "0", {}),
        ("x**n", "0", {"x": interval(0, 1, closed=True)}),  # false at the end x = 1 alone
    ],
)
def test_a_limit_is_tried_beside_round_numbers_and_at_the_ends_of_domains(start, line, domains):
    found = one_step(start, "≈", line, ("n", sp.oo), n=integers(1, None), **domains)
    assert found.lines[0].mark == "false"


def test_a_gap_that_shrinks_on_its_way_elsewhere_is_no_limit():
    for start, line in [("Sum(1/k, (k, 1, n))", "20"), ("Sum(1/k, (k, 1, n))/log(n + 1)", "1.05")]:
        found = one_step(start, "≈", line, ("n", sp.oo), n=integers(2, None)).lines[0]
        assert found.mark not in ("proved", "held")
        assert "do not tell where it goes" in found.sentence


def test_a_strict_inequality_fails_where_both_sides_are_nothing():
    X = sp.MatrixSymbol("X", sp.Symbol("n"), sp.Symbol("m"))
    assert one_step(sp.Trace(X.T * X), ">", "0", X=matrix("n", "m")).lines[0].mark == "false"
    assert one_step(sp.Trace(X.T * X), "≥", "0", X=matrix("n", "m")).holds


def test_an_irrational_zero_is_compared_with_the_ends_of_an_interval():
    entropy = one_step("-p*log(p) - (1-p)*log(1-p)", "≤", "log(2)", p=interval(0, 1))
    divergence = one_step(
        "p*log(p/q) + (1-p)*log((1-p)/(1-q))", ">", "0", p=interval(0, 1), q=interval(0, 1)
    )
    assert entropy.holds
    assert divergence.lines[0].mark == "false"


def test_a_strict_inequality_fails_at_an_irrational_zero_too():
    for start in ("(x - pi)**2", "(x**2 - 2)**2"):
        found = one_step(start, ">", "0", x=real)
        assert found.lines[0].mark == "false"
        assert found.sentence.endswith("the line before is 0, which is not > 0.")
    assert one_step("1 - tanh(x)**2", ">", "0", x=real).holds


@pytest.mark.parametrize("relation", ["≤", "<"])
def test_a_side_without_a_value_at_some_numbers_is_no_fault_of_the_judge(relation):
    sides = "log(x) + log(y)", [(relation, "x**2 + y**2", "")]
    assert Derivation(*sides, where={"x": real, "y": real}).check().holds


def test_rounding_at_many_instances_hides_no_hole():
    report = Derivation(
        lambda A: np.linalg.slogdet(A)[1],
        [("=", lambda A: np.log(np.linalg.det(A)), "forgets the sign")],
        where={"A": orthogonal("n")},
    ).check()
    assert report.lines[0].mark == "false"


def test_an_integral_over_a_kink_settles():
    where = {"a": interval(0, 2)}
    assert one_step("Integral(abs(t - a), (t, 0, 2))", "=", "(a**2 + (2-a)**2)/2", **where).holds
    assert not one_step("Integral(Max(t, 0), (t, -1, 2))", "=", "3/2").holds


# -- one start, many continuations -----------------------------------------------------------------


CONTINUED = [["2*x"], ["x + x", "3*x"], ["Sum(x, (k, 1, 2))", "2*x"], ["y"]]


@pytest.mark.parametrize("lines", CONTINUED)
def test_a_derivation_that_goes_on_from_a_start_is_judged_as_if_it_were_whole(lines):
    lines = [("=", line, "") for line in lines]
    begun = Derivation("x + x", [], where={"x": real})
    for _ in range(2):
        whole = Derivation("x + x", lines, where={"x": real}).check()
        assert begun.goes_on(lines).check() == whole
    assert not begun.lines


def test_functions_may_go_on_from_functions_alone():
    assert Derivation(lambda x: x, [], where={"x": real}).goes_on(
        [("=", lambda x: x + 0, "")]
    ).check().holds  # fmt: skip
    with pytest.raises(ValueError, match="has to begin with functions"):
        Derivation("x", [], where={"x": real}).goes_on([("=", lambda x: x, "")])


@pytest.mark.parametrize("name", ["sin", "cos", "exp"])
def test_of_a_number_beyond_all_bounds_no_digits_are_computed(name):
    with pytest.raises(OverflowError, match="beyond all bounds"):
        safely(name, mpmath.mpf("1e301"))


def test_the_same_words_are_read_once_whatever_stands_before_them():
    begun = Derivation("x**2 - 1", [], where={"x": real})

    def last_of(*lines):
        going_on = begun.goes_on([("=", line, "") for line in lines])
        assert going_on.check().holds
        return going_on.expressions[-1]

    one, other = last_of("x*x - 1", "(x - 1)*(x + 1)"), last_of("(x - 1)*(x + 1)")
    assert one is other
    assert one.column
    first = [read_formula(text, ["x"]) for text in ("x + 1", "x + 1", "x+1")]
    assert first[0] is first[1] is not first[2]


def test_lines_that_go_on_in_the_same_words_are_compared_once(monkeypatch):
    judged = []
    once = LineJudge.judge

    def judge(self, before, now, lines):
        judged.append(now.text)
        return once(self, before, now, lines)

    monkeypatch.setattr(LineJudge, "judge", judge)
    begun = Derivation("x**2 - 1", [], where={"x": real})
    first, false = ("=", "(x - 1)*(x + 1)", ""), ("≥", "x**2", "")

    def reports(*lines):
        return [line.verdict for line in begun.goes_on(lines).check().lines]

    assert reports(first, false) == reports(first, false) == ["right", "wrong"]
    assert len(judged) == 2
    assert reports(("=", "x**2", "")) == ["wrong"]
    assert reports(("≤", "x**2", "")) == ["right"]
    assert len(judged) == 4


@pytest.mark.parametrize(
    ("told", "beta"),
    [
        ({"T": integers(1, 9)}, "at β = 1/2, T = 2"),  # a letter of its own
        ({"x": vector("T")}, "at T = 2, β = 1/2"),  # the size of something else
    ],
    ids=["a letter", "a size"],
)
@pytest.mark.parametrize("power", [r"\beta^T = \beta", "βᵀ = β"], ids=["LaTeX", "one sign"])
def test_a_counterexample_names_the_T_of_a_power(power, told, beta):
    line = Derivation(power, where={"beta": interval(0, 1), **told}).check().lines[0]
    assert line.sentence.endswith(f"{beta}, the line before is 1/4, but this line is 1/2."), (
        line.sentence
    )
    assert line.counterexample == {"beta": 0.5, "T": 2}


def test_a_counterexample_names_sizes_alone_too():
    line = Derivation("n = m", where={"x": vector("n"), "y": vector("m")}).check().lines[0]
    assert line.counterexample == {"n": 1, "m": 2}


def test_a_power_of_e_is_refused_where_e_is_a_size():
    x = {"x": vector("e")}
    (of_numbers,) = Derivation(r"\exp(2) = e^{x^\top x}", where=x).check().lines
    assert "has a power of e, which is a letter of its own here" in of_numbers.sentence
    assert "write exp(…)" in of_numbers.sentence
    squared = Derivation(r"x^\top x\, e^2 = e\, x^\top x\, e", where=x)
    number = Derivation(r"e^{y} = \exp(y)", where={"y": real})
    assert [d.check().lines[0].verdict for d in (squared, number)] == ["right", "right"]


def test_a_small_power_of_e_is_not_taken_for_0():
    r"""e^{-14630} is 0 in floats, so that a line with it in a divisor had no value there."""
    rows = {"Q K": matrix("n", "d"), "V": matrix("n", "l"), "i c": integers(1, 1)}
    weighs = r"\operatorname{softmax}_{row}(Q K^\top)"
    written = r"\sum_j \frac{e^{(QK^\top)_{i,j}}}{\sum_k e^{(QK^\top)_{i,k}}} V_{j,c}"
    for exponential in (written, written.replace("e^{(QK", r"\exp{(QK")):
        line = Derivation(rf"({weighs} V)_{{i,c}} = {exponential}", where=rows).check().lines[0]
        assert line.verdict == "right", line


@pytest.mark.parametrize("base", [2, 0.5, Fraction(1, 3)], ids=str)
def test_powers_keep_the_digits_of_their_exponents(base):
    exponent = -14630 if base == 2 else 14630
    power = number_power(base, Digits(mpmath.mpf(exponent)))
    assert 0 < power.x < mpmath.mpf(10) ** -4000
