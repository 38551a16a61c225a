"""Steps of a derivation are recognized by what a line says, and what was earned stays."""

import pytest
import sympy

from course_utils.checks import linear_attention, momentum, random_features, rnn_gradients
from selfcheck.blanks import ____

beta, mu = sympy.symbols("beta mu", positive=True)
t, i = sympy.symbols("t i", positive=True, integer=True)
MU_OUTSIDE = "(1-beta)*mu*Sum(beta**(t-i), (i, 1, t))"
QUOTIENT = "(1-beta)*mu*(1-beta**t)/(1-beta)"
END = "mu*(1-beta**t)"


@pytest.mark.parametrize(
    "lines",
    [
        ["mu*(1-beta**t)*beta/beta"],
        ["Piecewise((mu*(1-beta**t),True))"],
        ["mu*(1-beta**t) + Sum(0,(i,1,t))", END],
        ["mu*(1-beta**t)*t/t", END],
        ["mu*(1-beta**t)*Sum(1,(i,1,t))/t", END],
        ["mu*(1-beta**t)*Sum(beta**i,(i,1,t))/Sum(beta**i,(i,1,t))", END],
        ["mu*(1-beta**t) + Sum(beta**i,(i,1,t)) - Sum(beta**i,(i,1,t))", END],
        ["mu*(1-beta**t)*(2-beta)/(2-beta)", END],
        [END],
    ],
)
def test_a_disguise_of_the_end_is_the_end(lines):
    assert momentum.expectation(lines).earned == 0


@pytest.mark.parametrize(
    "lines",
    [
        [MU_OUTSIDE, END],
        [QUOTIENT, END],
        [MU_OUTSIDE, QUOTIENT, END],
        ["mu*(1-beta)*Sum(beta**i, (i, 0, t-1))", END],
        ["mu*(beta**t-1)/(beta-1)*(1-beta)", END],
        ["(1-beta)*mu*(beta**t-1)*(beta-1)**(-1)", END],
        [(1 - beta) * mu * sympy.Sum(beta ** (t - i), (i, 1, t)), mu * (1 - beta**t)],
    ],
)
def test_an_honest_way_earns_all(lines):
    assert momentum.expectation(lines).earned == 2


def test_a_quotient_that_sympy_cancelled_is_told_so():
    lines = [(1 - beta) * mu * (1 - beta**t) / (1 - beta), mu * (1 - beta**t)]
    assert "SymPy cancels a quotient before it gets here" in momentum.expectation(lines).says


def test_a_blank_line_costs_itself_and_a_false_end_leaves_the_step():
    assert momentum.expectation([MU_OUTSIDE, END, ____]).earned == 2
    assert momentum.expectation([MU_OUTSIDE, ____, ____]).earned == 1
    assert momentum.expectation([MU_OUTSIDE, "mu*(1+beta**t)"]).earned == 1
    assert momentum.expectation(["mu*(1+beta**t)", ____]).outcome == "wrong"
    assert momentum.expectation([____, ____]).outcome == "not attempted"


def product(S, T, one_n):
    return (S @ T.T) @ one_n


def regrouped(S, T, one_n):
    return S @ (T.T @ one_n)


def by_columns(S, one_d):
    return S @ one_d


def ones(one_n):
    return one_n


@pytest.mark.parametrize(
    ("lines", "earned"),
    [
        ([product], 0),
        ([regrouped], 0),
        ([regrouped, ones], 0),
        ([ones], 0),
        ([regrouped, by_columns], 1),
        ([regrouped, by_columns, ones], 2),
        ([by_columns, ones], 2),
        ([by_columns, ____], 1),
        ([by_columns, lambda one_n: 2 * one_n], 1),
    ],
)
def test_a_step_of_8_1_is_a_line_that_used_one_fact(lines, earned):
    assert linear_attention.rows_sum_to_one(lines).earned == earned


SHIFT = ["exp(-(ww - 2*wu + s)/2 + s/2)", "exp(-r/2)*exp(s/2)"]


@pytest.mark.parametrize(
    ("split", "earned"),
    [
        (["exp(xy + xx - xx + yy - yy)", "exp((s-xx-yy)/2)"], 2),
        (["exp((xx + 2*xy + yy)/2 - xx/2 - yy/2)", "exp((s-xx-yy)/2)"], 3),
        (["exp(-xx/2 + xy + xx/2 + yy/2 - yy/2)", "exp((s-xx-yy)/2)"], 3),
        (["exp((yy + xx + 2*xy - xx - yy)/2)", "exp(s/2)*exp(-(xx+yy)/2)"], 3),
        (["exp((s-xx-yy)/2)"], 2),
    ],
)
def test_the_square_of_9_1_is_seen_by_its_sum(split, earned):
    assert random_features.completed_square(split, SHIFT).earned == earned


def test_the_start_alone_earns_nothing_anywhere():
    start = [lambda W, g_prev, z, sigma: sigma(W @ g_prev + z)]
    assert rnn_gradients.induction_step(start).earned == 0
    assert momentum.expectation([momentum.EXPECTED_VELOCITY]).earned == 0
    assert linear_attention.rows_sum_to_one([product]).earned == 0
    assert random_features.completed_square(["exp(xy)"], ["exp(wu)*exp(-ww/2)"]).earned == 0
