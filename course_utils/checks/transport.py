"""Unit 11: the cost of moving mass. Checks with masses of one's own take the student's id first."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Annotated, Any

import numpy as np

from ..answers import (
    Function,
    FunctionAnswer,
    RealNumber,
    StudentId,
    Unreadable,
    close,
    name_of,
    real_array,
    show,
)
from ..exercise import Recognized, Verdict, exercise, partly, right, wrong
from ..transport import another_optimal_plan, cost, cost_table, greedy_plan, optimal_plan
from ..variants import Transport, transport

NEAR = 1e-6


# -- kinds of answer that only this unit has ------------------------------------------------------


class Numbers:
    """A table (ndim 2) or a list (ndim 1) of finite numbers; its size depends on the student."""

    def __init__(self, ndim: int) -> None:
        self.ndim = ndim

    def read(self, answer: Any, name: str) -> np.ndarray:
        array, kind = real_array(answer), ("list", "table")[self.ndim - 1]
        if array is None or array.ndim != self.ndim or not array.size:
            raise Unreadable(f"{name} should be a {kind} of numbers, as a list or an array.")
        if not np.isfinite(array).all():
            raise Unreadable(f"{name} contains {show(array[~np.isfinite(array)][0])}.")
        return array

    def same(self, a: np.ndarray, b: np.ndarray) -> bool:
        return close(a, b)


class Prices:
    """A price for each place: a list of values, or a function of the place."""

    def read(self, answer: Any, name: str) -> np.ndarray | FunctionAnswer:
        if callable(answer) and not isinstance(answer, np.ndarray):
            return FunctionAnswer(answer, name_of(answer, name))
        return Numbers(1).read(answer, name)

    def same(self, a: Any, b: Any) -> bool:
        return isinstance(a, np.ndarray) and isinstance(b, np.ndarray) and close(a, b)


# -- the definition -------------------------------------------------------------------------------


def _costs(n: Transport, order: float = 1) -> np.ndarray:
    return cost_table(n.x, n.y, order)


def _lowest(n: Transport, order: float = 1) -> float:
    """The lowest cost of any plan; the simplex carries its own proof."""
    C = _costs(n, order)
    return cost(optimal_plan(C, n.p, n.q).plan, C)


def _fault(P: np.ndarray, n: Transport) -> str:
    """What keeps the table from being a plan, in a sentence; nothing if it is one."""
    if P.shape != (len(n.p), len(n.q)):
        raise Unreadable(
            f"The table has shape {P.shape}; a row for each of the {len(n.p)} places x and a "
            f"column for each of the {len(n.q)} places y make {(len(n.p), len(n.q))}."
        )
    if P.min() < -NEAR:
        i, j = np.unravel_index(np.argmin(P), P.shape)
        return f"Entry [{i}, {j}] is {show(P[i, j])}; a plan cannot move less than nothing."
    for name, place, sums, masses in [("Row", "x", P.sum(1), n.p), ("Column", "y", P.sum(0), n.q)]:
        k = int(np.argmax(np.abs(sums - masses)))
        if abs(sums[k] - masses[k]) > NEAR:
            at = n.x[k] if place == "x" else n.y[k]
            verb = "lie" if place == "x" else "are wanted"
            return f"{name} {k} sums to {show(sums[k])}, but {masses[k]} {verb} at {place} = {at}."
    return ""


def _cheaper(P: np.ndarray, n: Transport, order: float = 1) -> str:
    """A swap of two targets that saves most; on a line every plan but the best ones has one."""
    C, sent = _costs(n, order), np.argwhere(P > NEAR).tolist()
    pairs = [(i, j, k, m) for i, j in sent for k, m in sent if i < k and j != m]
    saved = [C[i, j] + C[k, m] - C[i, m] - C[k, j] for i, j, k, m in pairs]
    i, j, k, m = pairs[int(np.argmax(saved))]
    return (
        f"A unit from {n.x[i]} to {n.y[j]} and one from {n.x[k]} to {n.y[m]} pay "
        f"{show(C[i, j] + C[k, m])}; with their targets swapped, {show(C[i, m] + C[k, j])}."
    )


# -- 11.1 -----------------------------------------------------------------------------------------


@exercise("11.1", points=1)
def plan_cost(student: StudentId, cost_of_plan: RealNumber) -> Verdict:
    """Compute what the printed plan costs when a unit of mass pays the distance."""
    n = transport(student)
    each = _costs(n) * n.plan
    if close(cost_of_plan, each.sum()):
        return right("Every entry times its distance, summed up, is your cost.")
    i, j = np.unravel_index(np.argmax(each), each.shape)
    return wrong(
        f"The ways of this plan do not sum to {show(cost_of_plan)}. Look at one: {n.plan[i, j]} "
        f"from {n.x[i]} to {n.y[j]} cost {n.plan[i, j]} · {abs(n.x[i] - n.y[j])} = {each[i, j]:g}."
    )


plan_cost.add_hints(
    "Go through the table: every entry that is not 0 travels from its row's x to its column's y.",
    "Each entry contributes mass times distance. In NumPy the distances are "
    "`np.abs(x[:, None] - y)`.",
)

SEVERAL = 1  # a student whose masses move both ways; those of id 0 all move to the right


def _computed(face: Callable[[Transport], Any], student: Any = SEVERAL) -> Recognized:
    """A mistake that can be computed: recognized with every student's masses."""

    def made(student: str, answer: Any) -> bool:
        return close(answer, face(transport(student)))

    return {"example": (student, face(transport(student))), "when": made}


plan_cost.mistake(
    "ways counted, masses forgotten",
    "Each way counts as often as there is mass on it: mass times distance, not distance.",
    **_computed(lambda n: cost(n.plan > 0, _costs(n))),
)
plan_cost.mistake(
    "ways that cancel",
    "Without the absolute value, a way to the left pays for a way to the right. Both cost.",
    **_computed(lambda n: cost(n.plan, n.y - n.x[:, None])),
)
plan_cost.mistake(
    "rows and columns swapped",
    "Row i belongs to x[i] and column j to y[j]; here the distances have them swapped.",
    **_computed(lambda n: cost(n.plan, _costs(n).T)),
)
plan_cost.mistake(
    "squared distances",
    "These are squared distances; they come in exercise 11.7.",
    **_computed(lambda n: cost(n.plan, _costs(n, 2))),
)
plan_cost.mistake(
    "divided by the total mass",
    "That is the mean way of a unit of mass, the cost as probabilities. Asked is the cost "
    "of these masses.",
    **_computed(lambda n: cost(n.plan, _costs(n)) / n.p.sum()),
)
plan_cost.mistake(
    "the lowest cost",
    "That is what the best plan costs. Asked is the plan that is printed.",
    **_computed(_lowest),
)


# -- 11.2 -----------------------------------------------------------------------------------------


@exercise("11.2", points=2)
def feasible_plan(student: StudentId, plan: Annotated[np.ndarray, Numbers(2)]) -> Verdict:
    """Find a plan for your masses that is not the printed one."""
    n = transport(student)
    fault = _fault(plan, n)
    if not fault and np.abs(plan - n.plan).max() > NEAR:
        spent = cost(plan, _costs(n))
        return right(f"No entry is negative and all sums are right. This plan costs {show(spent)}.")
    if not fault:
        return wrong("This is the plan that was printed.")
    half = plan.min() >= -NEAR and (close(plan.sum(1), n.p) or close(plan.sum(0), n.q))
    return partly(int(half), fault)


feasible_plan.add_hints(
    "Start in the top left corner: move as much as both the row and the column allow, then go "
    "on with what is left.",
    "Or take the printed plan and pick two rows and two columns: what you add in two opposite "
    "corners of that rectangle, take away in the other two.",
)


def _is_transposed(student: str, *tables: np.ndarray) -> bool:
    n = transport(student)
    return any(_fault(P, n) and not _fault(P.T, n) for P in tables if P.T.shape == n.plan.shape)


SWAPPED = (
    "rows and columns swapped",
    "The row sums are q and the column sums are p. A row is what leaves one place x, so rows "
    "sum to p. The transpose of your table is a plan.",
)

feasible_plan.mistake(*SWAPPED, example=(SEVERAL, transport(SEVERAL).plan.T), when=_is_transposed)
feasible_plan.mistake(
    "the printed plan again",
    "That is a plan, but it is the one you were given. Find another.",
    **_computed(lambda n: n.plan),
)
feasible_plan.mistake(
    "products of the masses",
    "The products p_i q_j have row sums p_i times the total. Divide by the total, and it "
    "is a plan.",
    **_computed(lambda n: np.outer(n.p, n.q)),
)
feasible_plan.mistake(
    "products of probabilities",
    "These entries sum to 1: it is a plan for probabilities. The masses here have another total.",
    **_computed(lambda n: np.outer(n.p, n.q) / n.p.sum() ** 2),
)


def _fault_of_sums(student: str, P: np.ndarray) -> bool:
    n = transport(student)
    return not (close(P.sum(1), n.p) and close(P.sum(0), n.q))


feasible_plan.mistake(
    "more than there is",
    "The sums are right, but an entry is negative: it would bring mass back that was never sent.",
    example=(SEVERAL, transport(SEVERAL).plan - 1 + np.diag([3, 3, 3])),
    when=lambda student, P: P.min() < -NEAR and not _fault_of_sums(student, P),
)


# -- 11.3 -----------------------------------------------------------------------------------------


@exercise("11.3", points=2)
def two_optimal_plans(
    student: StudentId,
    first: Annotated[np.ndarray, Numbers(2)],
    second: Annotated[np.ndarray, Numbers(2)],
) -> Verdict:
    """Find two different plans of the lowest cost."""
    n = transport(student)
    lowest, says = _lowest(n), []
    for name, P in {"first": first, "second": second}.items():
        if fault := _fault(P, n):
            says.append(f"The {name} table is no plan. {fault}")
        elif (spent := cost(P, _costs(n))) > lowest + NEAR:
            says.append(f"The {name} plan costs {show(spent)}. {_cheaper(P, n)}")
    if not says and np.abs(first - second).max() > NEAR:
        return right(f"Two plans, one cost: {show(lowest)}, and no plan costs less.")
    if not says:
        says.append(f"Both cost {show(lowest)}, the lowest cost, but they are the same plan.")
    return partly(int(len(says) < 2), " ".join(says))


two_optimal_plans.add_hints(
    "For a first optimal plan keep the order: the leftmost mass goes to the leftmost place "
    "that still wants some.",
    "Then look for two shipments that go the same way and overlap. If they swap their targets, "
    "the sum of the two ways stays the same.",
    "Move one unit of each of the two shipments to the other's target: two entries lose 1, "
    "two gain 1.",
)

two_optimal_plans.mistake(
    "one plan twice",
    "Both tables are the same plan. Optimal plans are here more than one, and a second one "
    "is asked.",
    example=(0, np.eye(2), np.eye(2)),
    when=lambda student, first, second: close(first, second),
)


def _plan(n: Transport, order: float = 1) -> np.ndarray:
    return optimal_plan(_costs(n, order), n.p, n.q).plan


def _other(n: Transport) -> np.ndarray:
    """An optimal plan for the plain distance that does not keep the order."""
    crossing = another_optimal_plan(_costs(n), n.p, n.q)
    return _plan(n) if crossing is None else crossing


two_optimal_plans.mistake(
    *SWAPPED,
    example=(SEVERAL, _plan(transport(SEVERAL)), _other(transport(SEVERAL)).T),
    when=_is_transposed,
)


def _with_greedy(student: Any) -> tuple:
    n = transport(student)
    return student, _plan(n), greedy_plan(_costs(n), n.p, n.q)


def _is_greedy(student: str, *plans: np.ndarray) -> bool:
    n = transport(student)
    greedy = greedy_plan(_costs(n), n.p, n.q)
    return cost(greedy, _costs(n)) > _lowest(n) + NEAR and any(close(P, greedy) for P in plans)


two_optimal_plans.mistake(
    "greedy nearest matching",
    "Taking the nearest pair first looks cheap, but can leave a long way for those who come last. "
    "With your masses it does.",
    example=_with_greedy(14),
    when=_is_greedy,
)


def _is_second_dearer(student: str, first: np.ndarray, second: np.ndarray) -> bool:
    n = transport(student)
    costs = [cost(P, _costs(n)) for P in (first, second)]
    return not _fault(first, n) and not _fault(second, n) and max(costs) > _lowest(n) + NEAR


two_optimal_plans.mistake(
    "different, but dearer",
    "Plans may differ as they like; what makes them optimal is the cost. Compare costs: "
    "the other plan must cost exactly as little.",
    example=(SEVERAL, _plan(transport(SEVERAL)), transport(SEVERAL).plan),
    when=_is_second_dearer,
)


# -- 11.4 -----------------------------------------------------------------------------------------


def _at_places(f: Any, n: Transport) -> np.ndarray:
    if isinstance(f, FunctionAnswer):
        return np.array([float(f.array(float(z), shape=())) for z in n.places])
    if len(f) != len(n.places):
        raise Unreadable(
            f"f has {len(f)} values; there are {len(n.places)} places: {show(n.places)}."
        )
    return f


def _gain(f: np.ndarray, n: Transport) -> float:
    """Bought at x, sold at y: Σ f(y) q − Σ f(x) p."""
    at = dict(zip(n.places.tolist(), f.tolist(), strict=True))
    sold = sum(at[y] * q for y, q in zip(n.y.tolist(), n.q.tolist(), strict=True))
    return float(sold - sum(at[x] * p for x, p in zip(n.x.tolist(), n.p.tolist(), strict=True)))


def _crossing(n: Transport) -> np.ndarray:
    """How much must cross each gap between neighboring places, to the right if positive."""
    return np.array([n.p[n.x <= z].sum() - n.q[n.y <= z].sum() for z in n.places[:-1]])


@exercise("11.4", points=3)
def certificate(student: StudentId, f: Annotated[np.ndarray | FunctionAnswer, Prices()]) -> Verdict:
    """Find 1-Lipschitz prices f at your places that earn what the best plan costs."""
    n = transport(student)
    f = _at_places(f, n)
    gain, lowest, gaps = _gain(f, n), _lowest(n), np.diff(n.places)
    steep = np.abs(np.diff(f)) - gaps
    if steep.max() > NEAR:
        k = int(np.argmax(steep))
        a, b = n.places[k : k + 2]
        return wrong(
            f"f is not 1-Lipschitz: from {a} to {b} the price changes by "
            f"{show(abs(f[k + 1] - f[k]))}, and the way is only {b - a}."
        )
    if close(gain, lowest):
        return right(
            f"f is 1-Lipschitz and earns {show(gain)}, so no plan costs less. The best plan costs "
            "that, so no f earns more: each proves the other."
        )
    crossing = _crossing(n)
    k = int(np.argmax(np.abs(crossing) * gaps - crossing * np.diff(f)))
    return partly(
        int(gain > NEAR),
        f"f is 1-Lipschitz and earns {show(gain)}; it can earn more. Between {n.places[k]} and "
        f"{n.places[k + 1]}, {abs(crossing[k])} of mass must cross to the "
        f"{'right' if crossing[k] > 0 else 'left'}, and your price changes by "
        f"{show(f[k + 1] - f[k])} on a way of {gaps[k]}.",
    )


certificate.add_hints(
    "Between two neighboring places, how much mass has to cross, and which way? Everything "
    "that starts to the left of the gap, less what is wanted there.",
    "Let the price rise as steeply as it may where mass must cross to the right, and fall "
    "where it must cross to the left.",
    "So start with f = 0 at the leftmost place, and add or subtract the width of each gap.",
)


def _is_lipschitz(f: np.ndarray, n: Transport) -> bool:
    return bool((np.abs(np.diff(f)) <= np.diff(n.places) * (1 + NEAR)).all())


def _proves(f: np.ndarray, n: Transport) -> bool:
    return _is_lipschitz(f, n) and close(_gain(f, n), _lowest(n))


def _certificate(n: Transport) -> np.ndarray:
    slopes = np.sign(_crossing(n))
    return np.append(0, np.cumsum(slopes * np.diff(n.places)))


def _priced(test: Callable[[np.ndarray, Transport], bool]) -> Callable[[str, Any], bool]:
    return lambda student, f: test(_at_places(f, transport(student)), transport(student))


certificate.mistake(
    "the prices turned around",
    "With these prices the carrier loses as much as the best plan costs. Mass is bought "
    "at x and sold at y, so the price rises in the direction of the way: take −f.",
    example=(SEVERAL, -_certificate(transport(SEVERAL))),
    when=_priced(lambda f, n: _proves(-f, n)),
)
certificate.mistake(
    "too steep",
    "No 1-Lipschitz f earns more than a plan costs, so a higher gain is a sign that f is "
    "too steep somewhere: carrying it oneself would be cheaper than selling and buying.",
    example=(SEVERAL, 2 * _certificate(transport(SEVERAL))),
    when=_priced(lambda f, n: not _is_lipschitz(f, n) and _gain(f, n) > _lowest(n)),
)


def _is_straight(f: np.ndarray, n: Transport) -> bool:
    return any(close(np.diff(f), slope * np.diff(n.places)) for slope in (1, -1))


certificate.mistake(
    "one slope everywhere",
    "f(x) = x proves the homework's plan, where all mass moves to the right. With your "
    "masses some has to go left, and there the price must fall.",
    example=(SEVERAL, transport(SEVERAL).places),
    when=_priced(_is_straight),
)


def _where_x(n: Transport) -> np.ndarray:
    return np.where(np.isin(n.places, n.x), -1.0, 1.0)


certificate.mistake(
    "the sign between u and v",
    "These look like the potentials u at x and v at y, with u + v ≤ C. One price for every "
    "place needs f = v at y but f = −u at x.",
    example=(SEVERAL, _certificate(transport(SEVERAL)) * _where_x(transport(SEVERAL))),
    when=_priced(lambda f, n: _proves(f * _where_x(n), n)),
)


# -- 11.5 -----------------------------------------------------------------------------------------

Instance = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


@lru_cache(maxsize=1)
def _instances() -> list[tuple[Instance, float]]:
    """Points and masses from simple to general, each with its W₁ by the linear program."""
    simple: list[tuple[Any, Any, Any, Any]] = [
        ([0], [1], [3], [1]),
        ([0, 10], [0.5, 0.5], [1, 10], [0.5, 0.5]),
        ([1, 2], [1, 1], [4, 6], [1, 1]),
        ([5, 0], [0.75, 0.25], [1, 2, 9], [0.5, 0.25, 0.25]),
        ([0, 4], [3, 1], [4, 1, 0], [2, 0, 2]),
    ]
    rng = np.random.default_rng(11)
    for m, k, total in [(2, 5, 9), (6, 3, 1), (1, 4, 7), (5, 6, 1), (7, 7, 20), (4, 4, 1)]:
        masses = [rng.multinomial(20, np.ones(size) / size) / 20 * total for size in (m, k)]
        places = [np.round(rng.normal(scale=5, size=size), 1) for size in (m, k)]
        simple.append((places[0], masses[0], places[1], masses[1]))
    instances = [[np.array(part, dtype=float) for part in each] for each in simple]
    return [((x, p, y, q), _by_linear_program(x, p, y, q)) for x, p, y, q in instances]


def _by_linear_program(x: np.ndarray, p: np.ndarray, y: np.ndarray, q: np.ndarray) -> float:
    C = cost_table(x, y)
    return cost(optimal_plan(C, p, q).plan, C) / p.sum()


SAMPLES = [
    tuple(np.array(part, dtype=float) for part in each)
    for each in [
        ([6, 0, 3], [1, 2, 3], [4, 1.5, 9, 2], [2, 1, 1, 2]),
        ([0, 3, 7], [2, 2, 4], [2, 8], [5, 3]),
        ([5, 1], [0.75, 0.25], [0, 3], [0.5, 0.5]),
    ]
]


@exercise("11.5", points=3)
def wasserstein_1d(wasserstein_1d: Annotated[FunctionAnswer, Function(samples=SAMPLES)]) -> Verdict:
    """Write a function of x, p, y, q that returns W₁ between the two as probabilities."""
    for each, truth in _instances():
        answer = float(wasserstein_1d.array(*each, shape=()))
        if not close(answer, truth):
            x, p, y, q = map(show, each)
            return wrong(
                f"Masses {p} at {x}, wanted as {q} at {y}: the linear program gives "
                f"W₁ = {show(truth)}, your function {show(answer)}."
            )
    return right(f"On {len(_instances())} sets of points it agrees with the linear program.")


wasserstein_1d.add_hints(
    "W₁ is the area between the two cumulative distribution functions. Both are flat between "
    "neighboring places, so the area is a sum of rectangles.",
    "Sort all places of x and y together. At each one, sum up the p at or left of it, and the "
    "q; divide by the total.",
    "Or walk through both lists from the left, as in the plan that keeps the order: "
    "`np.argsort` for the places, and take the masses along.",
)

wasserstein_1d.forbid(
    "transport.wasserstein_1d",
    "transport.optimal_plan",
    "transport.another_optimal_plan",
    "transport.north_west_corner",
    "checks.transport._by_linear_program",
)


def _steps(x: Any, p: Any, y: Any, q: Any) -> tuple[np.ndarray, np.ndarray]:
    """The places of both, and F_p − F_q at each of them."""
    z = np.unique(np.concatenate([x, y]))
    return z, np.array([np.sum(p * (x <= at)) - np.sum(q * (y <= at)) for at in z])


@wasserstein_1d.mistake(
    "forgetting to normalize",
    "This is the cost of the masses as they are. W₁ compares probabilities: divide by the "
    "total mass.",
)
def _unnormalized(x, p, y, q):
    z, difference = _steps(x, p, y, q)
    return float(np.abs(difference[:-1]) @ np.diff(z))


@wasserstein_1d.mistake(
    "CDF differences without the width",
    "The differences between the CDFs are heights. An area needs each height times the "
    "width of its gap; otherwise moving a point further away would cost nothing.",
)
def _without_width(x, p, y, q):
    return float(np.abs(_steps(x, p / p.sum(), y, q / q.sum())[1]).sum())


@wasserstein_1d.mistake(
    "masses left behind in sorting",
    "The points were sorted, but their masses stayed where they were. Use `np.argsort`, "
    "and reorder both.",
)
def _masses_left_behind(x, p, y, q):
    return _unnormalized(np.sort(x), p / p.sum(), np.sort(y), q / q.sum())


@wasserstein_1d.mistake(
    "masses ignored",
    "Every point counts alike here; the masses p and q say how much lies at each.",
)
def _masses_ignored(x, p, y, q):
    return _unnormalized(x, np.ones(len(x)) / len(x), y, np.ones(len(y)) / len(y))


def _is_mean_difference(f: FunctionAnswer) -> bool:
    return all(
        close(abs(float(f.array(*each, shape=()))), _means_apart(*each)) for each, _ in _instances()
    )


@wasserstein_1d.mistake(
    "the difference of the means",
    "That is right only if all mass moves the same way. Moves to the left and to the right "
    "cancel in the means, but both cost.",
    when=_is_mean_difference,
)
def _means_apart(x, p, y, q):
    return float(abs(p @ x / p.sum() - q @ y / q.sum()))


@wasserstein_1d.mistake(
    "greedy nearest matching",
    "Taking the nearest pair first can leave a long way for those who come last. On a "
    "line, keep the order instead.",
)
def _by_greed(x, p, y, q):
    C = cost_table(x, y)
    return cost(greedy_plan(C, p, q), C) / p.sum()


# -- 11.6 -----------------------------------------------------------------------------------------


def _greedy_costs(C: np.ndarray, p: np.ndarray, q: np.ndarray) -> tuple[float, float]:
    """The lowest and the highest cost of greedy nearest matching, over all ways to break ties."""
    known: dict[tuple, tuple[float, float]] = {}

    def rest(left: tuple[float, ...], wanted: tuple[float, ...]) -> tuple[float, float]:
        if (left, wanted) not in known:
            open_cells = [c for c in np.ndindex(C.shape) if min(left[c[0]], wanted[c[1]]) > 1e-9]
            nearest = min((float(C[cell]) for cell in open_cells), default=0.0)
            costs = [0.0] if not open_cells else []
            for i, j in (cell for cell in open_cells if C[cell] <= nearest + 1e-9):
                moved = min(left[i], wanted[j])
                after = _less(left, i, moved), _less(wanted, j, moved)
                costs += [moved * nearest + more for more in rest(*after)]
            known[left, wanted] = min(costs), max(costs)
        return known[left, wanted]

    return rest(tuple(p.tolist()), tuple(q.tolist()))


def _less(masses: tuple[float, ...], k: int, moved: float) -> tuple[float, ...]:
    return (*masses[:k], round(masses[k] - moved, 9), *masses[k + 1 :])


MOST_PLACES = 5


def _targets(student: str, y: np.ndarray, q: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The costs from the student's places to these, and their masses; else a sentence."""
    n = transport(student)
    if len(y) != len(q):
        raise Unreadable(f"There are {len(y)} places y and {len(q)} masses q; give as many.")
    if len(y) > MOST_PLACES:
        raise Unreadable(f"At most {MOST_PLACES} places, please; two are enough.")
    if np.abs(y).max() > 1e6 or (q < 0).any():
        raise Unreadable("Places lie between −1,000,000 and 1,000,000; no mass is negative.")
    return cost_table(n.x, y), q


@exercise("11.6", points=2)
def greedy_loses(
    student: StudentId, y: Annotated[np.ndarray, Numbers(1)], q: Annotated[np.ndarray, Numbers(1)]
) -> Verdict:
    """Find targets for your masses on which greedy nearest matching is not optimal."""
    n = transport(student)
    C, q = _targets(student, y, q)
    if not close(q.sum(), n.p.sum()):
        return wrong(f"The q sum to {show(q.sum())}, but there are {n.p.sum()} to be moved.")
    lowest, (greedy, unlucky) = cost(optimal_plan(C, n.p, q).plan, C), _greedy_costs(C, n.p, q)
    if greedy > lowest + NEAR * max(1.0, lowest):
        return right(f"Greedy nearest matching pays {show(greedy)}; {show(lowest)} is enough.")
    luck = f" (or {show(unlucky)}, if it is unlucky in a tie)" if unlucky > greedy + NEAR else ""
    return wrong(f"The best plan costs {show(lowest)}, and greed pays the same{luck}.")


greedy_loses.add_hints(
    "Greed is punished when the nearest pair uses up a place that another mass needed more. "
    "Put a target just beside the last of your places, on the side where the others are.",
    "Put the second target far out, beyond the last of your places. Who has to go there now?",
)

greedy_loses.mistake(
    "the totals differ",
    "There must be as much wanted as there is: q needs the same total as p.",
    example=(0, [1.75, 100], [1, 2]),
    when=lambda student, y, q: not close(q.sum(), transport(student).p.sum()),
)
greedy_loses.mistake(
    "only one target",
    "With one target there is only one plan, and greed finds it too.",
    example=(0, [5], [2]),
    when=lambda student, y, q: len(np.unique(y[q > 0])) == 1,
)


def _all_one_way(student: str, y: np.ndarray, q: np.ndarray) -> bool:
    x, y = transport(student).x, y[q > 0]
    return bool(y.min() >= x.max() or y.max() <= x.min())


greedy_loses.mistake(
    "all mass moves one way",
    "If all mass moves the same way, every plan costs the difference of the means, and "
    "greed cannot lose. Some targets must lie between or beyond your places on both sides.",
    example=(0, [4, 6], [1, 1]),
    when=_all_one_way,
)


def _only_by_a_tie(student: str, y: np.ndarray, q: np.ndarray) -> bool:
    n = transport(student)
    C, q = _targets(student, y, q)
    low, high = _greedy_costs(C, n.p, q)
    return high > low + NEAR


greedy_loses.mistake(
    "greed loses only by bad luck",
    "Two pairs are equally near, and if greed takes the right one first it does not lose. "
    "Move a place a little, so that there is no tie.",
    example=(0, [1.5, 100], [1, 1]),
    when=_only_by_a_tie,
)


# -- 11.7 -----------------------------------------------------------------------------------------


@exercise("11.7", points=2)
def squared_plan(student: StudentId, plan: Annotated[np.ndarray, Numbers(2)]) -> Verdict:
    """Find the one plan of the lowest cost when a unit of mass pays the squared distance."""
    n = transport(student)
    if fault := _fault(plan, n):
        return wrong(fault)
    spent, lowest = cost(plan, _costs(n, 2)), _lowest(n, 2)
    if close(spent, lowest):
        return right(f"It costs {show(spent)} in squares, no plan costs less, and it is alone.")
    return wrong(f"It costs {show(spent)} in squares. {_cheaper(plan, n, 2)}")


squared_plan.add_hints(
    "With squared distances a long way is worse than two short ones. Do two shipments that "
    "cross ever pay?",
    "Crossing never pays, so keep the order: the leftmost mass to the leftmost place that "
    "still wants some.",
)

squared_plan.mistake(
    *SWAPPED, example=(SEVERAL, _plan(transport(SEVERAL), 2).T), when=_is_transposed
)


def _greedy_squares(n: Transport) -> np.ndarray:
    return greedy_plan(_costs(n, 2), n.p, n.q)


squared_plan.mistake(
    "greedy nearest matching",
    "Greed takes the short ways first, and squared costs punish the long ways that are "
    "left over even more.",
    **_computed(
        _greedy_squares,
        student=2,
    ),
)
squared_plan.mistake(
    "optimal for the plain distance",
    "This plan is optimal for the plain distance, where crossing may be free. With squares "
    "it never is: uncross the shipments.",
    example=(SEVERAL, _other(transport(SEVERAL))),
    when=lambda student, P: close(cost(P, _costs(transport(student))), _lowest(transport(student))),
)


# -- 11.8 -----------------------------------------------------------------------------------------

ROUNDS = 300
SMOOTH = [
    (np.array([[3.0, 5.0], [2.0, 4.5]]), np.array([1.0, 1.0]), np.array([1.0, 1.0]), 1.0),
    (cost_table([0, 2, 3], [1, 4]), np.array([0.5, 0.25, 0.25]), np.array([0.4, 0.6]), 0.5),
    (cost_table([0, 1, 5], [2, 3, 4], 2) / 5, np.array([3.0, 1, 2]), np.array([1.0, 1, 4]), 0.8),
    (cost_table([2, 0], [5, 1, 3]), np.array([0.3, 0.7]), np.array([0.2, 0.3, 0.5]), 2.0),
]
# A toll for leaving the first place changes no plan, but exp(−C/ε) is 0 in all of that row.
STEEP = (SMOOTH[1][0] + np.array([[1000.0], [0.0], [0.0]]), *SMOOTH[1][1:])


def _entropic_fault(sinkhorn: FunctionAnswer, instance: tuple) -> str:
    """What keeps the answer from being the plan exp(f_i + g_j − C_ij/ε); nothing if it is."""
    C, p, q, epsilon = instance
    P = sinkhorn.array(*instance, ROUNDS, shape=C.shape, finite=False)
    case = f"C = {show(C)}, p = {show(p)}, q = {show(q)}, ε = {show(epsilon)}"
    if not np.isfinite(P).all() or (P <= 0).any():
        odd = P[~(np.isfinite(P) & (P > 0))][0]
        return f"With {case} the plan contains {show(odd)}; all its entries are positive numbers."
    for name, sums, masses in [("row", P.sum(1), p), ("column", P.sum(0), q)]:
        if not close(sums, masses, 1e-5):
            return f"With {case} the {name} sums are {show(sums)}, not {show(masses)}."
    split = np.log(P) + C / epsilon
    rest = split - split.mean(0) - split.mean(1, keepdims=True) + split.mean()
    if np.abs(rest).max() > 1e-4:
        return (
            f"With {case} the sums are right, but log P + C/ε is not a row part plus a column "
            f"part: it is {show(split)}."
        )
    return ""


@exercise("11.8", points=2)
def sinkhorn(
    sinkhorn: Annotated[
        FunctionAnswer, Function(samples=[(*instance, ROUNDS) for instance in SMOOTH[1:3]])
    ],
) -> Verdict:
    """Write a function of C, p, q, ε and a number of rounds that returns Sinkhorn's plan."""
    for instance in SMOOTH:
        if fault := _entropic_fault(sinkhorn, instance):
            return wrong(fault)
    C, p, q, epsilon = SMOOTH[1]
    spent = cost(sinkhorn.array(*SMOOTH[1], ROUNDS, shape=C.shape), C)
    lowest = cost(optimal_plan(C, p, q).plan, C)
    if fault := _entropic_fault(sinkhorn, STEEP):
        return partly(1, f"All is well for moderate costs. {fault}")
    return right(
        f"The sums are right and log P + C/ε is a row part plus a column part. At ε = "
        f"{show(epsilon)} a plan costs {show(spent)} where the exact one costs {show(lowest)}."
    )


sinkhorn.add_hints(
    "Start from exp(−C/ε). Multiply each row by what makes it sum to p_i, then each column by "
    "what makes it sum to q_j, and repeat.",
    "For the second point keep the logarithms f and g of the factors. "
    "log Σ_j exp(a_j) is m + log Σ_j exp(a_j − m) with the largest a_j for m.",
    "f = log p − logsumexp(−C/ε + g) along the rows, g = log q − logsumexp(−C/ε + f) along the "
    "columns; at the end P = exp(−C/ε + f + g).",
)

sinkhorn.forbid("transport.sinkhorn")


def _underflows(sinkhorn: FunctionAnswer) -> bool:
    answer = sinkhorn.array(*STEEP, ROUNDS, shape=STEEP[0].shape, finite=False)
    return not np.isfinite(answer).all() and not any(_entropic_fault(sinkhorn, s) for s in SMOOTH)


@sinkhorn.mistake(
    "exp(−C/ε) underflows",
    "Where C is large against ε, exp(−C/ε) is 0 in floating point, and a row of zeros "
    "cannot be scaled to its mass. Keep logarithms, and take exp at the very end.",
    when=_underflows,
)
def _plain_sinkhorn(C, p, q, epsilon, rounds):
    K, v = np.exp(-C / epsilon), np.ones(len(q))
    with np.errstate(all="ignore"):
        for _ in range(rounds):
            u = p / (K @ v)
            v = q / (K.T @ u)
        return u[:, None] * K * v


@sinkhorn.mistake(
    "rows only",
    "The rows are right, the columns are not yet. Mend the columns, then the rows that "
    "this has spoiled, and so on: both converge.",
)
def _rows_only(C, p, q, epsilon, rounds):
    P = np.exp(-C / epsilon)
    return P * (p / P.sum(1))[:, None]


@sinkhorn.mistake(
    "sums of 1 in place of the masses",
    "Each row was scaled to 1. Row i has to sum to p_i and column j to q_j.",
)
def _stochastic(C, p, q, epsilon, rounds):
    P = np.exp(-C / epsilon)
    for _ in range(rounds):
        P = P / P.sum(1, keepdims=True)
        P = P / P.sum(0, keepdims=True)
    return P


@sinkhorn.mistake(
    "multiplied by ε",
    "The exponent is −C/ε. A small ε makes costs count more, so that the plan comes close "
    "to the cheapest one.",
)
def _multiplied_by_epsilon(C, p, q, epsilon, rounds):
    return _plain_sinkhorn(C * epsilon**2, p, q, epsilon, rounds)


@sinkhorn.mistake(
    "the minus sign lost",
    "With exp(+C/ε) the dearest ways get the most mass.",
)
def _without_minus(C, p, q, epsilon, rounds):
    return _plain_sinkhorn(-C, p, q, epsilon, rounds)


@sinkhorn.mistake(
    "the exact plan",
    "That is the cheapest plan itself. Sinkhorn's is smoother: all its entries are "
    "positive, and only as ε → 0 it becomes the exact one.",
)
def _exact(C, p, q, epsilon, rounds):
    return optimal_plan(C, p, q).plan


@sinkhorn.mistake(
    "the cost left out",
    "The product of the masses is a plan, but C does not occur in it. It is what Sinkhorn "
    "gives for ε → ∞.",
)
def _product_plan(C, p, q, epsilon, rounds):
    return np.outer(p, q) / p.sum()
