"""The recurrent network of unit 01: slopes are exact, bounds are tight, Jacobians are true."""

import math
import subprocess
import sys

import numpy as np
import pytest

from course_utils.rnn import (
    ACTIVATIONS,
    finite_differences,
    g_step,
    gradient_norms,
    h_step,
    jacobian_product,
    jacobians,
    matrix_with,
    run,
    spectral_norm,
    spectral_radius,
    step_jacobian,
)

GRID = np.linspace(-12, 12, 4801)
EACH = pytest.mark.parametrize("sigma", ACTIVATIONS.values(), ids=list(ACTIVATIONS))


def network(n=3, k=2, T=5, seed=0):
    """W, U, b, a start and inputs, all random."""
    rng = np.random.default_rng(seed)
    W, U, b = rng.normal(size=(n, n)), rng.normal(size=(n, k)), rng.normal(size=n)
    return W, U, b, rng.normal(size=n), rng.normal(size=(T, k))


def golden_maximum(f, low, high):
    """The largest value of f between low and high, where f rises and then falls."""
    ratio = (math.sqrt(5) - 1) / 2
    while high - low > 1e-9:
        left, right = high - ratio * (high - low), low + ratio * (high - low)
        low, high = (low, right) if f(left) > f(right) else (left, high)
    return f((low + high) / 2)


@EACH
def test_the_slope_is_the_derivative(sigma):
    x = GRID[np.abs(GRID) > 1e-3]  # a ReLU has no slope at 0
    measured = (sigma(x + 1e-6) - sigma(x - 1e-6)) / 2e-6
    assert np.allclose(sigma.prime(x), measured, atol=1e-8)


@EACH
def test_the_slope_bound_holds_everywhere_and_is_reached(sigma):
    steepest = np.abs(sigma.prime(GRID)).max()
    assert steepest <= sigma.gamma + 1e-12
    assert steepest == pytest.approx(sigma.gamma, abs=1e-5)


def test_the_bound_of_gelu_is_its_slope_at_the_square_root_of_2_to_full_precision():
    gelu = ACTIVATIONS["GELU"]
    at_sqrt_2 = (1 + math.erf(1)) / 2 + math.exp(-1) / math.sqrt(math.pi)
    assert gelu.gamma == pytest.approx(at_sqrt_2, rel=1e-15)
    assert gelu.gamma == pytest.approx(golden_maximum(gelu.prime, 1, 2), rel=1e-14)
    assert round(gelu.gamma, 5) == 1.12890


def test_the_bound_of_silu_is_its_slope_where_x_tanh_half_x_is_2_to_full_precision():
    silu, x = ACTIVATIONS["SiLU"], 2.4
    for _ in range(20):  # Newton's method
        th = math.tanh(x / 2)
        x -= (x * th - 2) / (th + x / 2 * (1 - th**2))
    assert silu.gamma == pytest.approx(1 / 2 + x / 4, rel=1e-15)
    assert silu.gamma == pytest.approx(golden_maximum(silu.prime, 2, 3), rel=1e-14)
    assert round(silu.gamma, 5) == 1.09984


@EACH
def test_activations_take_numbers_arrays_and_large_values_without_a_warning(sigma):
    for x in (0.5, np.array([[-800.0, 0.0], [3.0, 800.0]])):
        for value in (sigma(x), sigma.prime(x)):
            assert np.shape(value) == np.shape(x)
            assert np.isfinite(value).all()


@EACH
def test_the_two_recurrences_are_one_network_also_for_singular_w(sigma):
    W, U, b, h0, xs = network()
    W[2] = W[0] + W[1]
    assert np.linalg.matrix_rank(W) == 2
    hs = run(h_step, h0, xs, W, U, b, sigma)
    gs = run(g_step, sigma(h0), xs, W, U, b, sigma)
    assert hs.shape == gs.shape == (6, 3)
    assert np.allclose(gs, sigma(hs), atol=1e-12)


@EACH
def test_the_jacobian_of_one_step_is_what_finite_differences_measure(sigma):
    W, U, b, h0, xs = network(n=4)
    measured = finite_differences(lambda h: h_step(h, xs[0], W, U, b, sigma), h0)
    assert np.allclose(step_jacobian(W, h0, sigma.prime), measured, atol=1e-7)


@EACH
@pytest.mark.parametrize("T", [0, 1, 2, 5])
def test_the_product_of_t_factors_is_what_finite_differences_measure(sigma, T):
    W, U, b, h0, xs = network(T=T, seed=1)
    hs = run(h_step, h0, xs, W, U, b, sigma)
    measured = finite_differences(lambda h: run(h_step, h, xs, W, U, b, sigma)[-1], h0)
    assert np.allclose(jacobian_product(W, hs, sigma.prime), measured, rtol=1e-5, atol=1e-6)
    assert len(jacobians(W, hs, sigma.prime)) == T + 1


def test_the_norms_are_those_of_the_products_one_a_step():
    W, U, b, h0, xs = network()
    tanh = ACTIVATIONS["tanh"]
    hs = run(h_step, h0, xs, W, U, b, tanh)
    norms = gradient_norms(W, hs, tanh.prime)
    alone = [spectral_norm(jacobian_product(W, hs[: t + 1], tanh.prime)) for t in range(6)]
    assert np.allclose(norms, alone)
    assert norms[0] == 1


def test_a_jacobian_of_a_map_between_different_sizes_has_a_row_an_output():
    A = np.arange(6.0).reshape(2, 3)
    assert np.allclose(finite_differences(lambda x: A @ x, np.ones(3)), A)


def test_the_norm_is_the_largest_stretch_and_the_radius_the_largest_eigenvalue():
    nilpotent = [[0, 100], [0, 0]]
    assert spectral_norm(nilpotent) == 100
    assert spectral_radius(nilpotent) == 0
    turn = [[0, -2], [2, 0]]  # eigenvalues ±2i
    assert spectral_norm(turn) == pytest.approx(2)
    assert spectral_radius(turn) == pytest.approx(2)


@pytest.mark.parametrize(("norm", "radius"), [(1.5, 0.6), (100.0, 0.0), (2.0, 2.0), (0.9, 0.1)])
def test_a_matrix_can_be_had_with_any_norm_and_any_smaller_radius(norm, radius):
    W = matrix_with(norm, radius)
    assert spectral_norm(W) == pytest.approx(norm)
    assert spectral_radius(W) == pytest.approx(radius)


@pytest.mark.parametrize(("norm", "radius"), [(1.0, 2.0), (1.0, -0.5), (0.0, 0.0)])
def test_a_radius_beyond_the_norm_is_refused_with_a_sentence(norm, radius):
    with pytest.raises(ValueError, match="between 0 and the norm"):
        matrix_with(norm, radius)


def test_the_module_needs_numpy_alone():
    code = "import sys, course_utils.rnn; print({'scipy', 'sympy', 'matplotlib'} & {*sys.modules})"
    said = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == "set()"
