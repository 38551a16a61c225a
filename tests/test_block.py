"""The block of unit 06: forward by its definition, backward by finite differences, cost exactly."""

import numpy as np
import pytest
import sympy

from course_utils import block
from selfcheck.meter import measure, polynomial

DEGREES = {"N": 2, "d_in": 1, "d_att": 1, "d_out": 1}
N, d_in, d_att, d_out = sympy.symbols("N d_in d_att d_out")
STAGES = {
    "project": N * (2 * d_in - 1) * (2 * d_att + d_out),
    "weigh": 2 * N**2 * d_att + 5 * N**2 - 2 * N,
    "mix": N * d_out * (2 * N - 1),
    "feed_forward": 4 * N * d_out + 3 * N,
    "squared_error": 3 * N - 1,
}


def forward_flops(**sizes):
    return measure(block.forward, *block.draw(**sizes)).flops


def backward_flops(**sizes):
    X, y, parameters = block.draw(**sizes)
    _, kept = block.forward(X, y, parameters)
    return measure(block.backward, X, y, parameters, kept).flops


def test_forward_is_the_definition_token_by_token():
    X, y, parameters = block.draw(N=4, d_in=3, d_att=2, d_out=5)
    Wq, Wk, Wv, W1, w2 = parameters
    loss = 0.0
    for i in range(4):
        scores = [(Wq @ X[i]) @ (Wk @ X[j]) / np.sqrt(2) for j in range(4)]
        alpha = np.exp(scores) / np.exp(scores).sum()
        mixed = sum(alpha[j] * (Wv @ X[j]) for j in range(4))
        loss += (y[i] - w2 @ np.maximum(W1 @ mixed, 0)) ** 2
    assert block.forward(X, y, parameters)[0] == pytest.approx(loss)


@pytest.mark.parametrize("seed", range(3))
def test_backward_agrees_with_finite_differences(seed):
    X, y, parameters = block.draw(N=4, d_in=3, d_att=2, d_out=5, seed=seed)
    _, kept = block.forward(X, y, parameters)
    d_X, d_parameters = block.backward(X, y, parameters, kept)
    for array, gradient in zip((X, *parameters), (d_X, *d_parameters), strict=True):
        for index in np.ndindex(array.shape):
            value, losses = array[index], []
            for nudge in (1e-5, -1e-5):
                array[index] = value + nudge
                losses.append(block.forward(X, y, parameters)[0])
            array[index] = value
            slope = (losses[0] - losses[1]) / 2e-5
            assert gradient[index] == pytest.approx(slope, rel=1e-5, abs=1e-7)


@pytest.mark.parametrize("stage", STAGES)
def test_each_stage_costs_exactly_what_the_pencil_says(stage):
    measured = polynomial(
        lambda **sizes: measure(getattr(block, stage), *block.stage_inputs(**sizes)[stage]).flops,
        **DEGREES,
    )
    assert sympy.expand(measured - STAGES[stage]) == 0


def test_the_stages_are_the_whole_forward_pass():
    whole = polynomial(forward_flops, **DEGREES)
    assert sympy.expand(whole - sum(STAGES.values())) == 0


def test_backward_costs_twice_forward_up_to_lower_order_terms():
    forward, backward = (polynomial(f, **DEGREES) for f in (forward_flops, backward_flops))
    rest = sympy.Poly(sympy.expand(backward - 2 * forward), N, d_in, d_att, d_out)
    assert sympy.Poly(forward, N, d_in, d_att, d_out).total_degree() == 3
    assert rest.total_degree() == 2


def test_the_same_seed_draws_the_same_arrays():
    first, again = (block.draw(3, 2, 2, 2, seed=7)[0] for _ in range(2))
    assert np.array_equal(first, again)
