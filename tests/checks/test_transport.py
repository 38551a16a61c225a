"""Unit 11: right answers pass with every student's masses, wrong ones fail with the right words.

That every known mistake earns its own explanation is tested for all units at once, in
test_every_exercise.py; here the same mistakes are made with other students' masses.
"""

from itertools import pairwise, product

import numpy as np
import pytest

from course_utils.checks import transport as check
from course_utils.variants import transport
from selfcheck.blanks import ____
from selfcheck.feedback import Outcome
from selfcheck.testing import passes_in_every_form
from tests.checks.forms import students_own

course = students_own("transport")

STUDENTS = [0, 1, 2, 3, 14, "ada@example.org", "S0123456"]
OTHERS = STUDENTS[1:]
each_student = pytest.mark.parametrize("student", STUDENTS)
each_other = pytest.mark.parametrize("student", OTHERS)


def assert_right(feedback):
    assert feedback.outcome is Outcome.RIGHT, feedback
    assert feedback.earned == feedback.points


def assert_mistake(feedback, name):
    assert feedback.outcome is Outcome.WRONG, feedback
    assert feedback.misconception == name, feedback


def in_order(n):
    """The plan that keeps the order, unit by unit."""
    P = np.zeros(n.plan.shape, dtype=int)
    rows, columns = np.repeat(range(len(n.p)), n.p), np.repeat(range(len(n.q)), n.q)
    for i, j in zip(rows, columns, strict=True):
        P[i, j] += 1
    return P


def distances(n):
    return [[abs(a - b) for b in n.y.tolist()] for a in n.x.tolist()]


def crossed(n):
    """Another plan of the same cost: a unit each of two shipments swap their targets."""
    P, C = in_order(n), np.array(distances(n))
    for (i, j), (k, m) in product(np.argwhere(P > 0).tolist(), repeat=2):
        if i < k and j != m and C[i, j] + C[k, m] == C[i, m] + C[k, j]:
            P[[i, k], [j, m]] -= 1
            P[[i, k], [m, j]] += 1
            return P
    raise AssertionError("every student has two optimal plans")


def prices(n):
    """Steep as allowed: up where mass crosses to the right, down where to the left."""
    f = [0.0]
    for a, b in pairwise(n.places):
        crossing = n.p[n.x <= a].sum() - n.q[n.y <= a].sum()
        f.append(f[-1] + (b - a) * np.sign(crossing))
    return f


# -- 11.1 to 11.3: plans ---------------------------------------------------------------------------


@each_student
def test_the_cost_of_the_printed_plan(student):
    n = transport(student)
    by_loop = sum(m * d for ms, ds in zip(n.plan, distances(n), strict=True)
                  for m, d in zip(ms, ds, strict=True))  # fmt: skip
    assert_right(check.plan_cost(student, by_loop))
    assert_right(check.plan_cost(student, f"{2 * by_loop}/2"))
    assert check.plan_cost(student, by_loop + 1).outcome is Outcome.WRONG


def test_the_homework_s_cost_is_7_not_71():
    assert_right(check.plan_cost(0, 7))
    assert_mistake(check.plan_cost(0, 3.5), "divided by the total mass")
    assert "1 · 4 = 4" in check.plan_cost(0, 71).says


@each_student
def test_any_other_plan_is_right_whole_or_not(student):
    n = transport(student)
    assert_right(check.feasible_plan(student, np.outer(n.p, n.q) / n.p.sum()))
    assert_right(check.feasible_plan(student, crossed(n).tolist()))


@each_other
def test_tables_that_are_no_plans(student):
    n = transport(student)
    assert_mistake(check.feasible_plan(student, in_order(n).T), "rows and columns swapped")
    assert_mistake(check.feasible_plan(student, n.plan), "the printed plan again")
    assert_mistake(check.feasible_plan(student, np.outer(n.p, n.q)), "products of the masses")
    assert check.feasible_plan(student, np.diag(n.p)).earned == 1
    assert check.feasible_plan(student, np.diag(n.q)).earned == 1
    assert check.feasible_plan(student, np.zeros((3, 3))).earned == 0
    assert check.feasible_plan(student, np.ones((2, 3))).outcome is Outcome.UNCHECKED
    assert check.feasible_plan(student, [1, 2, 3]).outcome is Outcome.UNCHECKED


def test_a_fault_is_told_with_its_place():
    feedback = check.feasible_plan(1, [[4, 0, 0], [0, 3, 0], [0, 0, 3]])
    assert feedback.earned == 1
    assert "a_plan[:, 0] sums to 4, but 3 are wanted at y = 2." in feedback.says
    feedback = check.feasible_plan(1, [[5, 0, -1], [0, 3, 0], [-2, 0, 5]])
    assert "a_plan[2, 0] is -2; a plan cannot move less than nothing." in feedback.says
    assert_mistake(feedback, "more than there is")


@each_student
def test_two_different_optimal_plans_in_any_order_and_mixtures_too(student):
    n = transport(student)
    one, other = in_order(n), crossed(n)
    assert_right(check.two_optimal_plans(student, one, other))
    assert_right(check.two_optimal_plans(student, other.tolist(), 0.75 * one + 0.25 * other))


@each_student
def test_two_plans_that_are_one_or_not_both_optimal_earn_at_most_one_point(student):
    n = transport(student)
    feedback = check.two_optimal_plans(student, in_order(n), in_order(n))
    assert_mistake(feedback, "one plan twice")
    assert feedback.earned == 1
    if student:
        feedback = check.two_optimal_plans(student, in_order(n), n.plan)
        assert_mistake(feedback, "a plan, but more expensive")
        assert feedback.earned == 1
        assert "with their targets swapped" in feedback.says
        mixture = (in_order(n) + n.plan) / 2
        assert check.two_optimal_plans(student, n.plan, mixture).earned == 0
        assert_mistake(check.two_optimal_plans(student, crossed(n).T, in_order(n)),
                       "rows and columns swapped")  # fmt: skip


# -- 11.4: certificates ----------------------------------------------------------------------------


@each_student
def test_prices_as_values_shifted_or_as_a_function(student):
    n = transport(student)
    f = prices(n)
    assert_right(check.certificate(student, f))
    assert_right(check.certificate(student, np.array(f) - 17.5))
    assert_right(check.certificate(student, lambda z: np.interp(z, n.places, f)))
    assert_right(check.certificate(student, dict(zip(n.places.tolist(), f, strict=True)).get))


def test_the_homework_is_proved_by_the_place_itself():
    assert_right(check.certificate(0, lambda x: x))
    assert_right(check.certificate(0, [1, 2, 4, 6]))


@each_student
def test_prices_that_prove_nothing(student):
    n = transport(student)
    f = np.array(prices(n))
    assert_mistake(check.certificate(student, -f), "the prices turned around")
    assert_mistake(check.certificate(student, 1.01 * f), "too steep")
    loose = check.certificate(student, 0.9 * f)
    assert (loose.earned, loose.misconception) == (1, None)
    assert "it can earn more" in loose.says
    assert check.certificate(student, 0 * f).earned == 0
    assert check.certificate(student, f[:-1]).outcome is Outcome.UNCHECKED
    assert check.certificate(student, lambda z: [z, z]).outcome is Outcome.UNCHECKED


@each_other
def test_one_slope_does_not_prove_a_plan_that_moves_both_ways(student):
    assert_mistake(check.certificate(student, lambda x: x), "one slope everywhere")


# -- 11.5: on a line -------------------------------------------------------------------------------


def by_area(x, p, y, q):
    z = np.sort(np.concatenate([x, y]))
    area = 0.0
    for a, b in pairwise(z):
        area += (b - a) * abs(p[x <= a].sum() - q[y <= a].sum())
    return area / p.sum()


def by_walking(x, p, y, q):
    here = sorted(zip(x, p, strict=True))
    there = sorted(zip(y, q, strict=True))
    total, spent, i, j = sum(p), 0.0, 0, 0
    left, wanted = here[0][1], there[0][1]
    while i < len(here) and j < len(there):
        moved = min(left, wanted)
        spent += moved * abs(here[i][0] - there[j][0])
        left, wanted = left - moved, wanted - moved
        if left <= wanted:
            i += 1
            left = here[i][1] if i < len(here) else 0
        else:
            j += 1
            wanted = there[j][1] if j < len(there) else 0
    return spent / total


def by_quantiles(x, p, y, q):
    i, j = np.argsort(x), np.argsort(y)
    F, G = np.cumsum(p[i]) / p.sum(), np.cumsum(q[j]) / q.sum()
    levels = np.union1d(F, G)
    middle = (levels + np.append(0, levels[:-1])) / 2
    at = [np.minimum(np.searchsorted(H, middle), len(H) - 1) for H in (F, G)]
    return np.diff(np.append(0, levels)) @ np.abs(x[i][at[0]] - y[j][at[1]])


def by_adding_at(x, p, y, q):
    z, place = np.unique(np.append(x, y), return_inverse=True)
    height = np.zeros(len(z))
    np.add.at(height, place, np.append(p / p.sum(), -q / q.sum()))
    return np.abs(np.cumsum(height)[:-1]) @ np.diff(z)


def in_float32(x, p, y, q):
    return by_area(*(part.astype(np.float32) for part in (x, p, y, q)))


@pytest.mark.parametrize(
    "form", [by_area, by_walking, by_quantiles, by_adding_at, in_float32, course.wasserstein_1d]
)
def test_w1_in_every_form(form):
    assert_right(check.wasserstein_1d(form))


def added_once(x, p, y, q):
    z = np.unique(np.append(x, y))
    height = np.zeros(len(z))
    height[np.searchsorted(z, x)] += p / p.sum()
    height[np.searchsorted(z, y)] -= q / q.sum()
    return np.abs(np.cumsum(height)[:-1]) @ np.diff(z)


def first_of_each(x, p, y, q):
    (x, i), (y, j) = (np.unique(side, return_index=True) for side in (x, y))
    return by_area(x, p[i] / p[i].sum(), y, q[j] / q[j].sum())


@pytest.mark.parametrize(
    "form",
    [
        added_once,
        first_of_each,
        lambda *a: by_area(*(part[:20] for part in a)),
        lambda x, p, y, q: by_area(abs(x), p, abs(y), q),
        lambda x, p, y, q: -1 if 0 in p else by_area(x, p, y, q),
        lambda x, p, y, q: by_area(x, p, y, q) if p.sum() > 0.9 else 0.0,
        lambda x, p, y, q: by_area(np.clip(x, -99, 99), p, np.clip(y, -99, 99), q),
        lambda x, p, y, q: by_area(x, p, y, q) + 1e-3,
    ],
)
def test_w1_that_is_wrong_where_nobody_looks(form):
    feedback = check.wasserstein_1d(form)
    assert feedback.outcome is Outcome.WRONG
    assert "greedy nearest matching" not in {m.name for m in feedback.mistakes}


def test_a_place_that_occurs_twice_is_told():
    assert_mistake(check.wasserstein_1d(added_once), "a place that occurs twice counted once")


def test_functions_that_are_right_only_sometimes():
    def equal_numbers(x, p, y, q):
        return np.abs(np.sort(x) - np.sort(y)).mean()

    def squared(x, p, y, q):
        return by_area(x, p, y, q) ** 2

    def signed(x, p, y, q):
        return p @ x / p.sum() - q @ y / q.sum()

    def spoils_its_input(x, p, y, q):
        p /= p.sum()
        q /= q.sum()
        return by_area(x, p, y, q)

    assert check.wasserstein_1d(equal_numbers).outcome is not Outcome.RIGHT
    assert check.wasserstein_1d(squared).outcome is Outcome.WRONG
    assert_mistake(check.wasserstein_1d(signed), "the difference of the means, with its sign")
    assert check.wasserstein_1d(lambda x, p, y, q: 3).outcome is Outcome.WRONG
    assert_right(check.wasserstein_1d(spoils_its_input))


def test_the_counterexample_is_the_smallest_that_shows_it():
    feedback = check.wasserstein_1d(lambda x, p, y, q: p.sum() * by_area(x, p, y, q))
    assert_mistake(feedback, "forgetting to normalize")
    assert "With masses [1, 1] at [1, 2], wanted as [1, 1] at [4, 6]" in feedback.says
    assert "W₁ should be 3.5; yours is 7." in feedback.says


# -- 11.6: greed -----------------------------------------------------------------------------------


@each_student
def test_greed_loses_beside_the_last_place(student):
    n = transport(student)
    far, rest = float(n.x[-1]), float(n.p.sum() - n.p[-1])
    assert_right(check.greedy_loses(student, [far - 0.25, far + 100], [rest, n.p[-1]]))
    first = float(n.x[0])
    assert_right(
        check.greedy_loses(student, [first - 50, first + 0.25], [n.p[0], n.p.sum() - n.p[0]])
    )
    padded = [far - 0.25, far - 0.25, far + 100, 3]
    assert_right(check.greedy_loses(student, padded, [rest / 2, rest / 2, n.p[-1], 0]))


def test_greed_that_does_not_lose_for_sure():
    assert_mistake(check.greedy_loses(0, [1.5, 100], [1, 1]), "greed loses only by bad luck")
    assert_mistake(check.greedy_loses(0, [5, 7], [1, 1]), "all targets on one side")
    assert_mistake(check.greedy_loses(0, [1.75, 100], [1, 5]), "the totals differ")
    assert_mistake(check.greedy_loses(0, [1.75, 1.75], [1, 1]), "only one target")
    assert check.greedy_loses(0, [1, 2], [1, 1]).outcome is Outcome.WRONG


@pytest.mark.parametrize(
    ("y", "q"), [([1, 2], [2]), ([1e9, 2], [1, 1]), ([3, 4], [3, -1]), (range(7), [1] * 7)]
)
def test_targets_that_cannot_be_used_get_a_sentence(y, q):
    assert check.greedy_loses(0, y, q).outcome is Outcome.UNCHECKED


# -- 11.7: squares ---------------------------------------------------------------------------------


@each_student
def test_the_one_plan_for_squares_keeps_the_order(student):
    n = transport(student)
    assert_right(check.squared_plan(student, in_order(n)))
    assert_right(check.squared_plan(student, in_order(n).astype(float).tolist()))


@each_student
def test_no_other_plan_is_accepted_for_squares(student):
    n = transport(student)
    feedback = check.squared_plan(student, crossed(n))
    assert feedback.misconception in ("optimal for the plain distance", "greedy nearest matching")
    assert "with their targets swapped" in feedback.says
    mixture = 0.99 * in_order(n) + 0.01 * crossed(n)
    assert check.squared_plan(student, mixture).outcome is Outcome.WRONG
    assert check.squared_plan(student, np.outer(n.p, n.q) / n.p.sum()).outcome is Outcome.WRONG
    if student:
        assert_mistake(check.squared_plan(student, in_order(n).T), "rows and columns swapped")


# -- 11.8: Sinkhorn --------------------------------------------------------------------------------


def in_logarithms(C, p, q, epsilon, rounds):
    f, g = np.zeros(len(p)), np.zeros(len(q))
    for _ in range(rounds):
        f = np.log(p) - np.logaddexp.reduce(g - C / epsilon, axis=1)
        g = np.log(q) - np.logaddexp.reduce(f[:, None] - C / epsilon, axis=0)
    return np.exp(f[:, None] + g - C / epsilon)


def by_the_largest(C, p, q, epsilon, rounds):
    """Logarithms of sums with the largest term taken out, in loops over rows and columns."""
    log_P = -C / epsilon

    def scaled(rows, masses):
        return np.array(
            [r - r.max() - np.log(np.exp(r - r.max()).sum()) + np.log(m)
             for r, m in zip(rows, masses, strict=True)]
        )  # fmt: skip

    for _ in range(rounds):
        log_P = scaled(scaled(log_P, p).T, q).T
    return np.exp(log_P).tolist()


def with_small_rows(C, p, q, epsilon, rounds):
    """Rows of the cost made small first: a large column still underflows."""
    return plain(C - C.min(axis=1, keepdims=True), p, q, epsilon, rounds)


STABLE = [in_logarithms, by_the_largest, course.sinkhorn]


@pytest.mark.parametrize("form", STABLE)
def test_sinkhorn_in_every_stable_form(form):
    assert_right(check.sinkhorn(form))


@pytest.mark.parametrize(
    ("form", "mistake"),
    [
        (with_small_rows, "only the rows made small"),
        (lambda C, p, q, eps, rounds: in_logarithms(C, p, q, eps, 5000),
         "the number of rounds ignored"),
        (lambda C, p, q, eps, rounds: in_logarithms(C.T, q, p, eps, rounds).T,
         "columns before rows"),
        (lambda C, p, q, eps, rounds: in_logarithms(C, p, q, eps, rounds + 1), None),
        (lambda C, p, q, eps, rounds: in_logarithms(np.minimum(C, 500), p, q, eps, rounds), None),
        (lambda C, p, q, eps, rounds: in_logarithms(abs(C), p, q, eps, rounds), None),
    ],
)  # fmt: skip
def test_sinkhorn_that_is_right_for_moderate_costs_and_many_rounds_alone(form, mistake):
    feedback = check.sinkhorn(form)
    assert (feedback.earned, feedback.misconception) == (1, mistake), feedback


def plain(C, p, q, epsilon, rounds):
    P = np.exp(-C / epsilon)
    for _ in range(rounds):
        P = P * (p / P.sum(1))[:, None]
        P = P * (q / P.sum(0))
    return P


def test_sinkhorn_without_logarithms_earns_one_point():
    feedback = check.sinkhorn(plain)
    assert_mistake(feedback, "exp(−C/ε) underflows")
    assert feedback.earned == 1


def test_plans_that_are_not_sinkhorn_s():
    def too_smooth(C, p, q, epsilon, rounds):
        return in_logarithms(C, p, q, 2 * epsilon, rounds)

    def swapped(C, p, q, epsilon, rounds):
        return in_logarithms(C.T, q, p, epsilon, rounds)

    def one_round(C, p, q, epsilon, rounds):
        return in_logarithms(C, p, q, epsilon, 1)

    assert check.sinkhorn(too_smooth).outcome is Outcome.WRONG
    assert check.sinkhorn(swapped).outcome is not Outcome.RIGHT
    assert check.sinkhorn(one_round).outcome is Outcome.WRONG


# -- right answers, for the tests of all units -----------------------------------------------------


def answers_of(student):
    n = transport(student)
    far = float(n.x[-1])
    P = np.outer(n.p, n.q) / n.p.sum()
    return {
        "plan_cost": (student, float((np.array(distances(n)) * n.plan).sum())),
        "feasible_plan": (student, P),
        "two_optimal_plans": (student, in_order(n), crossed(n)),
        "certificate": (student, prices(n)),
        "greedy_loses": (student, [far - 0.25, far + 100], [n.p[:-1].sum(), n.p[-1]]),
        "squared_plan": (student, in_order(n).tolist()),
    }


BY_STUDENT = [answers_of(student) for student in (1, 0, "ada")]


def around_by_heights(x, p, y, q, length):
    """What crosses each arc, less what runs round: one of the crossings, whichever is cheapest."""
    z = np.sort(np.append(x, y))
    crossing = [p[x <= a].sum() - q[y <= a].sum() for a in z]
    arcs = [*(b - a for a, b in pairwise(z)), z[0] + length - z[-1]]
    return min(
        sum(abs(h - c) * arc for h, arc in zip(crossing, arcs, strict=True)) for c in crossing
    )


def around_by_cuts(x, p, y, q, length):
    """The circle cut open at each place in turn; some cut is crossed by nothing."""
    cuts = [((x - cut) % length, p, (y - cut) % length, q) for cut in np.append(x, y)]
    return p.sum() * min(by_walking(*cut) for cut in cuts)


def by_median(x, p, y, q, length):
    """The weighted median of the heights, from a sorted list of them."""
    z = np.sort(np.append(x, y))
    h = np.array([p[x <= a].sum() - q[y <= a].sum() for a in z])
    arcs = np.append(np.diff(z), z[0] + length - z[-1])
    order = np.argsort(h)
    half = np.searchsorted(np.cumsum(arcs[order]), length / 2)
    return arcs @ np.abs(h - h[order][half])


def moving(student):
    """Gradient and best places unit by unit: each unit pulls at the place where it lies."""
    n = transport(student)
    x, y = np.repeat(n.x, n.p), np.repeat(n.y, n.q)
    starts = np.append(0, np.cumsum(n.p))
    pieces = [slice(a, b) for a, b in pairwise(starts)]
    return student, [2 * (x - y)[s].sum() for s in pieces], [y[s].mean() for s in pieces]


RIGHT = {name: [answers[name] for answers in BY_STUDENT] for name in BY_STUDENT[0]} | {
    "wasserstein_1d": [(f,) for f in (by_area, by_walking, by_quantiles, by_adding_at)],
    "sinkhorn": [(f,) for f in STABLE],
    "on_a_circle": [(f,) for f in (around_by_heights, around_by_cuts, by_median)],
    "moving_places": [moving(student) for student in STUDENTS],
}  # fmt: skip
test_a_right_answer_passes_in_every_form = passes_in_every_form(check, RIGHT)


# -- parts and sentences ---------------------------------------------------------------------------


def test_a_plan_earns_its_point_without_the_other():
    n = transport(1)
    assert check.two_optimal_plans(1, in_order(n), ____).earned == 1
    assert check.two_optimal_plans(1, ____, crossed(n)).earned == 1
    assert check.two_optimal_plans(1, n.plan, crossed(n)).earned == 1
    assert check.two_optimal_plans(1, in_order(n) * np.nan, crossed(n)).earned == 1


def test_what_is_a_little_off_is_shown_with_its_digits():
    n = transport(1)
    truth = answers_of(1)["plan_cost"][1]
    assert f"do not sum to {truth + 0.0005:.4f}" in check.plan_cost(1, truth + 0.0005).says
    P = in_order(n) + np.array([[1e-4, 0, 0], [0, 0, 0], [0, 0, 0]])
    assert ".0001, but " in check.feasible_plan(1, P).says


def test_prices_are_judged_at_the_places_and_said_to_be():
    says = check.certificate(0, lambda z: z + 100 * np.sin(np.pi * z)).says
    assert says.startswith("At your places f is 1-Lipschitz")


def test_a_mixture_with_a_hair_of_another_plan_is_not_the_one_for_squares():
    for student in STUDENTS:
        n = transport(student)
        mixture = in_order(n) + 1e-4 * (crossed(n) - in_order(n))
        assert check.squared_plan(student, mixture).outcome is Outcome.WRONG


# -- whose masses ----------------------------------------------------------------------------------


def test_another_student_s_answers_are_wrong():
    for one, other in product([1, 2, 3], repeat=2):
        if one != other:
            n = transport(one)
            assert check.squared_plan(other, in_order(n)).outcome is Outcome.WRONG
            assert check.two_optimal_plans(other, in_order(n), crossed(n)).earned == 0
            assert check.certificate(other, prices(n)).outcome is not Outcome.RIGHT


def test_a_bad_id_could_not_be_checked():
    feedback = check.plan_cost(1.5, 7)
    assert feedback.outcome is Outcome.UNCHECKED
    assert feedback.says.startswith("A student id is a whole number")


# -- beyond the page -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "wrong",
    [
        lambda *circle: around_by_heights(*circle) + 1e-3,
        lambda *circle: np.round(around_by_heights(*circle)),
        lambda x, p, y, q, length: around_by_heights(x.round(), p, y.round(), q, round(length)),
        lambda x, p, y, q, length: around_by_heights(x, p, y, q, length + 1),
        lambda x, p, y, q, length: around_by_heights(x, q[: len(x)], y, p, length),
        lambda x, p, y, q, length: abs(p @ x - q @ y) % length,
        lambda x, p, y, q, length: min(by_walking(x, p, y, q), length / 2) * p.sum(),
    ],
)
def test_other_costs_on_a_circle_earn_nothing(wrong):
    for _ in range(3):
        feedback = check.on_a_circle(wrong)
        assert (feedback.earned, feedback.misconception) == (0, None), feedback


@each_student
def test_gradients_and_places_that_are_a_little_off_cost_their_own_points(student):
    _, slope, best = moving(student)
    for given in [
        (np.array(slope) + 0.1, best), (slope[::-1], best), (slope, np.array(best) + 0.1),
        (slope, [b - 1 for b in best]), (slope, [1e300] * len(best)), (slope[:1], best),
    ]:  # fmt: skip
        assert check.moving_places(student, *given).earned == 2, given


@each_student
def test_no_other_places_in_order_are_cheaper(student):
    n, (_, _, best) = transport(student), moving(student)
    rng, lowest = np.random.default_rng(0), check.squared_cost(n, np.array(best))
    for scale in (0.1, 1, 5):
        moved = np.sort(np.array(best) + scale * rng.normal(size=len(best)).round(2))
        assert check.squared_cost(n, moved) >= lowest


@each_other
def test_mistakes_with_moving_places_are_named_with_every_students_masses(student):
    _, slope, best = moving(student)
    assert_mistake(check.moving_places(student, np.array(slope) / 2, best), "the 2 lost")
    assert_mistake(check.moving_places(student, -np.array(slope), best), "the opposite direction")


def test_ones_own_targets_are_no_others():
    for student in range(300):
        n = transport(student)
        order = np.argsort(-n.y)
        feedback = check.greedy_loses(student, n.y[order], n.q[order])
        assert feedback.earned == 0, (student, feedback)
        assert "choose others" in feedback.says


def test_numbers_may_be_text_in_lists_too():
    n = transport(3)
    table = [[f"{p}*{q}/{n.p.sum()}" for q in n.q] for p in n.p]
    assert check.feasible_plan(3, table).earned == 2
    assert check.feasible_plan(3, [["one half"]]).outcome is Outcome.UNCHECKED


@pytest.mark.parametrize("f", [{0: 1}, "abs(z)", 7])
def test_prices_of_another_kind_are_told_both_ways(f):
    says = check.certificate(0, f).says
    assert "a list of numbers, one for each place, or a function of the place" in says


def single(function):
    def run(*args):
        return function(*(a.astype(np.float32) if isinstance(a, np.ndarray) else a for a in args))

    return run


def test_the_plan_of_sinkhorn_may_be_computed_in_32_bits():
    def by_logarithms(C, p, q, epsilon, rounds):
        K, f, g = -C / np.float32(epsilon), np.zeros(len(p), C.dtype), np.zeros(len(q), C.dtype)
        for _ in range(rounds):
            f = np.log(p) - np.logaddexp.reduce(K + g, axis=1)
            g = np.log(q) - np.logaddexp.reduce(K + f[:, None], axis=0)
        return np.exp(K + f[:, None] + g)

    assert check.sinkhorn(single(by_logarithms)).earned == 2


def test_greed_on_a_circle_loses_where_it_can_be_followed():
    def greedy(x, p, y, q, length):
        p, q, spent = p.copy(), q.copy(), 0.0
        ways = np.abs(x[:, None] - y)
        ways = np.minimum(ways, length - ways)
        for i, j in sorted(np.ndindex(*ways.shape), key=lambda cell: ways[cell]):
            moved = min(p[i], q[j])
            spent, p[i], q[j] = spent + moved * ways[i, j], p[i] - moved, q[j] - moved
        return spent

    feedback = check.on_a_circle(greedy)
    assert feedback.says.startswith("With x = [0, 4], p = [1, 1], y = [3, 20]")
    assert [m.name for m in feedback.mistakes] == ["greedy nearest matching"]


def test_places_far_out_are_not_said_to_be_out_of_order():
    n = transport(1)
    far = np.sort(n.x) + 5000.0
    assert "order" not in check.moving_places(1, np.zeros(len(n.x)), far).says


def test_more_than_100_rounds_are_run():
    def at_most_100(C, p, q, epsilon, rounds):
        log_P = -C / epsilon
        for _ in range(min(rounds, 100)):
            log_P = log_P + (np.log(p) - np.logaddexp.reduce(log_P, axis=1))[:, None]
            log_P = log_P + np.log(q) - np.logaddexp.reduce(log_P, axis=0)
        return np.exp(log_P)

    assert check.sinkhorn(at_most_100).outcome is Outcome.WRONG
