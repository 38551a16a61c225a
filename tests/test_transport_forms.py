"""Plans of lowest cost: proved by potentials, confirmed by brute force, equal to quantiles."""

from itertools import permutations, product

import numpy as np
import pytest

from course_utils.transport import (
    another_optimal_plan,
    cost,
    cost_table,
    greedy_plan,
    is_plan,
    north_west_corner,
    optimal_plan,
    sinkhorn,
    wasserstein_1d,
)

RNG = np.random.default_rng(0)
SIZES = [(1, 1), (1, 4), (3, 1), (2, 2), (3, 3), (2, 5), (4, 3), (6, 6)]


def masses(size, total, rng=RNG):
    """Whole masses, zeros among them."""
    return np.bincount(rng.integers(size, size=total), minlength=size)


def proven(C, p, q):
    """The lowest cost, after the proof has been checked: no plan can cost less than the prices."""
    plan, u, v, _ = optimal_plan(C, p, q)
    assert is_plan(plan, p, q)
    assert (np.asarray(C) - u[:, None] - v).min() > -1e-9
    assert cost(plan, C) == pytest.approx(u @ p + v @ q, abs=1e-9)
    return cost(plan, C)


def every_plan(p, q):
    """All plans of whole numbers, by brute force."""
    if len(p) == 1:
        yield np.array([q])
        return
    for row in product(*[range(min(p[0], wanted) + 1) for wanted in q]):
        if sum(row) == p[0]:
            for rest in every_plan(p[1:], np.array(q) - row):
                yield np.vstack([row, rest])


# -- plans -----------------------------------------------------------------------------------------


def test_the_homework_costs_7_both_ways_and_25_or_29_with_squares():
    C = cost_table([1, 2], [4, 6])
    straight, crossed = np.eye(2), np.eye(2)[::-1]
    assert C.tolist() == [[3, 5], [2, 4]]
    assert (cost(straight, C), cost(crossed, C)) == (7, 7)
    assert (cost(straight, C**2), cost(crossed, C**2)) == (25, 29)


def test_a_plan_is_not_negative_and_has_the_right_sums():
    assert is_plan([[1, 1], [0, 2]], [2, 2], [1, 3])
    assert not is_plan([[1, 1], [0, 2]], [1, 3], [2, 2])
    assert not is_plan([[2, 0], [-1, 3]], [2, 2], [1, 3])
    assert not is_plan([[1, 0, 1]], [2], [1, 1])
    assert not is_plan([[np.nan]], [1], [1])


@pytest.mark.parametrize("size", SIZES)
def test_the_first_plan_uses_a_tree_of_cells_ties_or_not(size):
    for total in (1, 4, 12):
        p, q = masses(size[0], total), masses(size[1], total)
        P, cells = north_west_corner(p, q)
        assert is_plan(P, p, q)
        assert len(set(cells)) == len(cells) == sum(size) - 1
        assert {(int(i), int(j)) for i, j in np.argwhere(P > 0)} <= set(cells)


# -- the exact plan --------------------------------------------------------------------------------


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("kind", ["few costs, so many ties", "any costs"])
def test_the_plan_found_is_proved_by_its_own_potentials(size, kind):
    rng = np.random.default_rng(sum(size))
    for _ in range(20):
        total = int(rng.integers(1, 12))
        p, q = masses(size[0], total, rng), masses(size[1], total, rng)
        proven(rng.integers(0, 3, size) if "few" in kind else rng.normal(size=size), p, q)


@pytest.mark.parametrize("p", [(1, 2), (2, 1, 1), (3, 0, 2)])
@pytest.mark.parametrize("places", [2, 3])
def test_brute_force_over_all_plans_finds_nothing_cheaper(p, places):
    rng = np.random.default_rng(len(p) * places)
    for _ in range(5):
        q, C = masses(places, sum(p), rng), rng.integers(-3, 9, (len(p), places))
        assert proven(C, p, q) == min(cost(P, C) for P in every_plan(np.array(p), q))


def test_an_assignment_is_as_cheap_as_the_best_permutation():
    for seed in range(10):
        C = np.random.default_rng(seed).integers(0, 10, (5, 5))
        best = min(sum(C[i, j] for i, j in enumerate(order)) for order in permutations(range(5)))
        assert proven(C, np.ones(5), np.ones(5)) == best


def test_degenerate_tables_come_to_an_end():
    for n in (8, 15):
        ones = np.ones(n)
        assert proven(np.zeros((n, n)), ones, ones) == 0
        assert proven(1 - np.eye(n)[::-1], ones, ones) == 0
        assert proven(np.subtract.outer(np.arange(n), np.arange(n)) % 3, ones, ones) == 0
        assert proven(np.ones((n, n)), np.eye(n)[2], np.eye(n)[5]) == 1


def test_masses_and_costs_of_any_scale_are_solved():
    C, p, q = RNG.random((4, 5)), RNG.dirichlet(np.ones(4)), RNG.dirichlet(np.ones(5))
    once = proven(C, p, q)
    assert cost(optimal_plan(1e9 * C, p, q).plan, C) == pytest.approx(once)
    assert cost(optimal_plan(1e-9 * C, p, q).plan, C) == pytest.approx(once)
    assert cost(optimal_plan(C, 1e6 * p, 1e6 * q).plan, C) == pytest.approx(1e6 * once)


def test_on_sorted_places_the_first_plan_is_already_the_best():
    x, y = np.sort(RNG.normal(size=6)), np.sort(RNG.normal(size=9))
    for order in (1, 1.5, 2):
        assert optimal_plan(cost_table(x, y, order), np.full(6, 3), np.full(9, 2)).pivots == 0


def test_a_second_optimal_plan_is_found_exactly_if_there_is_one():
    for seed in range(60):
        rng = np.random.default_rng(seed)
        p, q = masses(3, 4, rng), masses(2 + seed % 2, 4, rng)
        C = rng.integers(0, 4, (len(p), len(q)))
        lowest = proven(C, p, q)
        count = sum(cost(P, C) == lowest for P in every_plan(p, q))
        second = another_optimal_plan(C, p, q)
        assert (second is None) == (count == 1)
        if second is not None:
            assert is_plan(second, p, q)
            assert cost(second, C) == pytest.approx(lowest)
            assert np.abs(second - optimal_plan(C, p, q).plan).max() > 0.5


def test_the_homework_has_two_plans_for_distances_and_one_for_squares():
    C = cost_table([1, 2], [4, 6])
    assert another_optimal_plan(C, [1, 1], [1, 1]).tolist() == [[0, 1], [1, 0]]
    assert another_optimal_plan(C**2, [1, 1], [1, 1]) is None


# -- on a line -------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("order", [1, 2, 3])
def test_quantiles_give_the_cost_of_the_best_plan(size, order):
    rng = np.random.default_rng(10 * size[0] + size[1])
    for _ in range(5):
        total = int(rng.integers(1, 12))
        p, q = masses(size[0], total, rng), masses(size[1], total, rng)
        x, y = rng.integers(-5, 6, size[0]), rng.integers(-5, 6, size[1])
        by_plan = (proven(cost_table(x, y, order), p, q) / total) ** (1 / order)
        assert wasserstein_1d(x, p, y, q, order) == pytest.approx(by_plan, abs=1e-9)


def test_w1_is_the_area_between_the_cdfs():
    x, p, y, q = RNG.normal(size=40), RNG.random(40), RNG.normal(size=70), RNG.random(70)
    p, q = p / p.sum(), q / q.sum()
    z = np.sort(np.concatenate([x, y]))
    F, G = ((at <= z[:-1, None]) @ mass for at, mass in [(x, p), (y, q)])
    assert wasserstein_1d(x, p, y, q) == pytest.approx(np.abs(F - G) @ np.diff(z))


def test_w1_is_a_distance_between_probabilities():
    x, p, y, q = [0, 5], [1, 3], [2, 9, 4], [2, 1, 1]
    assert wasserstein_1d(x, p, x[::-1], p[::-1]) == 0
    assert wasserstein_1d(x, p, y, q) == pytest.approx(wasserstein_1d(y, q, x, p))
    tenth = np.array(p) / 10, np.array(q) / 10
    assert wasserstein_1d(x, tenth[0], y, tenth[1]) == pytest.approx(wasserstein_1d(x, p, y, q))
    assert wasserstein_1d([1, 2], [1, 1], [4, 6], [1, 1]) == 3.5


def test_a_million_points_are_no_trouble():
    n = 10**6
    x = np.arange(n)[::-1]
    assert wasserstein_1d(x, np.ones(n), x + 3, np.ones(n)) == pytest.approx(3)


# -- approximate plans -----------------------------------------------------------------------------


def test_greed_gives_a_plan_that_can_be_too_dear():
    C = cost_table([0, 3], [2, 100])
    P = greedy_plan(C, [1, 1], [1, 1])
    assert is_plan(P, [1, 1], [1, 1])
    assert (cost(P, C), proven(C, [1, 1], [1, 1])) == (101, 99)


def test_sinkhorn_has_the_right_sums_and_the_form_of_a_scaled_kernel():
    C, p, q = RNG.random((4, 3)), RNG.dirichlet(np.ones(4)), RNG.dirichlet(np.ones(3))
    P = sinkhorn(C, p, q, epsilon=0.1)
    np.testing.assert_allclose(P.sum(1), p, rtol=1e-7)
    np.testing.assert_allclose(P.sum(0), q, rtol=1e-12)
    split = np.log(P) + C / 0.1
    rest = split - split.mean(0) - split.mean(1, keepdims=True) + split.mean()
    np.testing.assert_allclose(rest, 0, atol=1e-9)


def test_sinkhorn_comes_down_to_the_exact_cost_as_epsilon_shrinks():
    C, p, q = RNG.random((5, 6)), np.full(5, 6.0), np.full(6, 5.0)
    exact = proven(C, p, q)
    costs = [cost(sinkhorn(C, p, q, epsilon), C) for epsilon in (1, 0.3, 0.1, 0.03)]
    assert costs == sorted(costs, reverse=True)
    for epsilon, spent in zip((1, 0.3, 0.1, 0.03), costs, strict=True):
        assert -1e-6 < spent - exact < epsilon * 30 * np.log(30)


def test_sinkhorn_does_not_stop_before_the_columns_were_mended_once():
    (row,) = sinkhorn([[0.0, 1e5]], [1], [0.25, 0.75], epsilon=10)
    assert row == pytest.approx([0.25, 0.75])


def test_sinkhorn_stands_costs_whose_exponential_underflows_and_places_without_mass():
    P = sinkhorn(1e4 + cost_table([0, 2, 4], [1, 3]), [1, 0, 3], [2, 2], epsilon=0.5)
    np.testing.assert_allclose(P.sum(1), [1, 0, 3], rtol=1e-8)
    np.testing.assert_allclose(P.sum(0), [2, 2], rtol=1e-8)
    assert P[1].tolist() == [0, 0]


# -- what cannot be moved --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: optimal_plan([[1.0]], [1], [2]), "differ in total: 1 is there and 2 is wanted"),
        (lambda: optimal_plan([[1.0]], [1, 1], [2]), r"shape \(1, 1\); 2 rows and 1 columns"),
        (lambda: optimal_plan([[np.inf]], [1], [1]), "finite number"),
        (lambda: optimal_plan([[1.0]], [-1], [-1]), "not negative"),
        (lambda: optimal_plan([[1.0]], [0], [0]), "no mass to move"),
        (lambda: north_west_corner([], []), "at least one"),
        (lambda: wasserstein_1d([0], [1], [1, 2], [1]), "2 points need as many masses"),
        (lambda: wasserstein_1d([0], [1], [1], [3]), "differ in total"),
        (lambda: wasserstein_1d([np.nan], [1], [1], [1]), "finite number"),
        (lambda: sinkhorn([[1.0]], [1], [1], epsilon=0), "ε must be positive"),
    ],
)
def test_bad_input_gets_a_sentence(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_nothing_that_was_handed_over_is_changed():
    C, p, q = cost_table([0, 1, 5], [2, 4]), np.array([1.0, 2, 1]), np.array([2.0, 2])
    before = C.copy(), p.copy(), q.copy()
    for solve in (optimal_plan, another_optimal_plan, greedy_plan):
        solve(C, p, q)
    sinkhorn(C, p, q, epsilon=1)
    wasserstein_1d([0, 1, 5], p, [2, 4], q)
    assert all(np.array_equal(a, b) for a, b in zip((C, p, q), before, strict=True))
