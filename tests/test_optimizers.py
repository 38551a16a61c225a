"""The rules are what the units say: by hand, by their limits, by what they must not see."""

import numpy as np
import pytest

from course_utils.optimizers import (
    AdamState,
    adam_l2_step,
    adam_step,
    adamw_step,
    averaging_step,
    descend,
    library_step,
    momentum_step,
    moves,
    running_average,
    sgd_decay_step,
    sgd_l2_step,
    sgd_step,
    train,
)

GRADIENTS = np.random.default_rng(3).normal(size=(30, 4)) * [0.01, 1.0, 1.0, 100.0]
THETA = np.array([1.0, -2.0, 0.0, 5.0])


def given(theta, t):
    """The same gradients for every rule, whatever θ is."""
    return GRADIENTS[t - 1]


def test_rule_a_on_three_gradients_is_what_a_pencil_gives():
    assert moves(averaging_step, [2, -1, 3], beta=0.5, delta=4.0).tolist() == [-4, 0, -6]


def test_momentum_and_running_average_agree_for_the_right_pair():
    rule_a = moves(averaging_step, GRADIENTS, beta=0.7, delta=3.0)
    rule_m = moves(momentum_step, GRADIENTS, alpha=0.7, epsilon=3.0 * (1 - 0.7))
    rule_l = moves(library_step, GRADIENTS, alpha=0.7, lr=3.0 * (1 - 0.7))
    np.testing.assert_allclose(rule_m, rule_a)
    np.testing.assert_allclose(rule_l, rule_a)


def test_the_running_average_of_ones_is_one_minus_beta_to_the_t():
    np.testing.assert_allclose(running_average(np.ones(5), 0.8), 1 - 0.8 ** np.arange(1, 6))


def test_descend_returns_the_start_and_every_step():
    path = descend(momentum_step, lambda theta: theta, [1.0, 2.0], 3, alpha=0.0, epsilon=0.5)
    np.testing.assert_allclose(path[:, 0], [1, 0.5, 0.25, 0.125])


def test_adams_first_move_has_the_length_eta_whatever_the_gradient():
    _, move = adam_step(AdamState(), np.array([1e-3, -7.0, 1e6]), eta=0.1, epsilon=0.0)
    np.testing.assert_allclose(move, [-0.1, 0.1, -0.1])


def test_adams_second_move_is_what_a_pencil_gives():
    state, _ = adam_step(AdamState(), 1.0, eta=1.0, beta1=0.5, beta2=0.5, epsilon=0.0)
    state, move = adam_step(state, 3.0, eta=1.0, beta1=0.5, beta2=0.5, epsilon=0.0)
    assert state == (0.5 * 0.5 + 0.5 * 3, 0.5 * 0.5 + 0.5 * 9, 2)
    assert move == pytest.approx(-(1.75 / 0.75) / np.sqrt(4.75 / 0.75))


def test_adams_epsilon_stands_outside_of_the_root():
    _, move = adam_step(AdamState(), 3.0, eta=1.0, epsilon=1.0)
    assert move == pytest.approx(-3 / (3 + 1))


def test_the_state_is_not_overwritten():
    state = AdamState(np.ones(4), np.ones(4), 3)
    adamw_step(state, GRADIENTS[0], THETA, eta=0.1, lamda=0.1)
    assert state.m.tolist() == state.v.tolist() == [1, 1, 1, 1]


def test_adam_l2_is_adam_on_the_penalized_gradient():
    def penalized(theta, t):
        return GRADIENTS[t - 1] + 2 * 0.3 * theta

    by_rule = train(adam_l2_step, given, THETA, 30, eta=0.1, gamma=0.3)
    by_loss = train(adamw_step, penalized, THETA, 30, eta=0.1, lamda=0.0)
    np.testing.assert_allclose(by_rule, by_loss)


def test_without_decay_all_adams_are_one():
    plain = THETA + np.cumsum(_adam_moves(), axis=0)
    for step, none in ((adam_l2_step, {"gamma": 0.0}), (adamw_step, {"lamda": 0.0})):
        np.testing.assert_allclose(train(step, given, THETA, 30, eta=0.1, **none)[1:], plain)


def _adam_moves():
    state, result = AdamState(), []
    for g in GRADIENTS:
        state, move = adam_step(state, g, eta=0.1)
        result.append(move)
    return np.array(result)


def test_adamw_shrinks_by_the_same_factor_whatever_the_gradients_were():
    with_decay, without = AdamState(), AdamState()
    for g in GRADIENTS:
        with_decay, move = adamw_step(with_decay, g, THETA, eta=0.1, lamda=0.02)
        without, plain = adamw_step(without, g, THETA, eta=0.1, lamda=0.0)
        np.testing.assert_allclose(move - plain, -0.02 * THETA, atol=1e-15)


def test_with_zero_gradients_adamw_decays_geometrically():
    path = train(adamw_step, lambda theta, t: 0 * theta, THETA, 10, eta=0.1, lamda=0.02)
    np.testing.assert_allclose(path[-1], 0.98**10 * THETA)


def test_sgd_with_l2_is_sgd_with_decay_for_lambda_two_eta_gamma():
    def gradient(theta, t):
        return np.cos(theta) + GRADIENTS[t - 1]

    l2 = train(sgd_l2_step, gradient, THETA, 30, eta=0.05, gamma=0.4)
    decay = train(sgd_decay_step, gradient, THETA, 30, eta=0.05, lamda=2 * 0.05 * 0.4)
    np.testing.assert_allclose(l2, decay)


def test_sgd_hands_its_state_through():
    assert sgd_step("anything", 2.0, eta=0.5) == ("anything", -1.0)


def test_a_grid_of_step_sizes_runs_at_once():
    eta = np.array([0.1, 0.2])
    both = train(adamw_step, lambda theta, t: theta, np.ones(2), 5, eta=eta, lamda=0.0)
    for k in range(2):
        one = train(adamw_step, lambda theta, t: theta, np.ones(1), 5, eta=eta[k], lamda=0.0)
        np.testing.assert_allclose(both[:, k], one[:, 0])
