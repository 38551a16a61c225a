"""Unit 11: the cost of moving mass. Checks with masses of one's own take the student's id first."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Annotated, Any

import numpy as np

from selfcheck.calls import FunctionAnswer, asks
from selfcheck.compare import close, real_array
from selfcheck.display import name_of, show, show_apart
from selfcheck.exercises import exercise
from selfcheck.kinds import Function, RealNumber, StudentId
from selfcheck.recognition import Recognized
from selfcheck.refusals import Unreadable
from selfcheck.sampling import cases, magnitude, numbers, sizes
from selfcheck.verdicts import Verdict, differs, keeping, partly, right, wrong

from ..numbers.transport import Transport, transport
from ..transport import another_optimal_plan, cost, cost_table, greedy_plan, optimal_plan
from ..transport import wasserstein_1d as w1_by_area

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
            found, there_are = show_apart(sums[k], masses[k])
            return f"{name} {k} sums to {found}, but {there_are} {verb} at {place} = {at}."
    return ""


def _cheaper(P: np.ndarray, n: Transport, order: float = 1) -> str:
    """A swap of two targets that saves most; on a line every plan but the best ones has one."""
    C, sent = _costs(n, order), np.argwhere(P > NEAR).tolist()
    pairs = [(i, j, k, m) for i, j in sent for k, m in sent if i < k and j != m]
    saved = [C[i, j] + C[k, m] - C[i, m] - C[k, j] for i, j, k, m in pairs]
    i, j, k, m = pairs[int(np.argmax(saved))]
    pay, would_pay = show_apart(C[i, j] + C[k, m], C[i, m] + C[k, j])
    return (
        f"A unit from {n.x[i]} to {n.y[j]} and one from {n.x[k]} to {n.y[m]} pay {pay}; with "
        f"their targets swapped, {would_pay}."
    )


# -- 11.1 -----------------------------------------------------------------------------------------


@exercise(numbers=transport)
def plan_cost(student: StudentId, cost_of_plan: RealNumber) -> Verdict:
    """Compute what the printed plan costs when a unit of mass pays the distance."""
    n = transport(student)
    each = _costs(n) * n.plan
    if close(cost_of_plan, each.sum()):
        return right("Every entry times its distance, summed up, is your cost.")
    i, j = np.unravel_index(np.argmax(each), each.shape)
    return wrong(
        f"The ways of this plan do not sum to {show_apart(cost_of_plan, each.sum())[0]}. Look at "
        f"one: {n.plan[i, j]} from {n.x[i]} to {n.y[j]} cost {n.plan[i, j]} · "
        f"{abs(n.x[i] - n.y[j])} = {each[i, j]:g}.",
        at="the cost",
        yours=cost_of_plan,
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


@exercise(numbers=transport)
def feasible_plan(student: StudentId, plan: Annotated[np.ndarray, Numbers(2)]) -> Verdict:
    """Find a plan for your masses that is not the printed one."""
    n = transport(student)
    if fault := _fault(plan, n):
        half = plan.min() >= -NEAR and (close(plan.sum(1), n.p) or close(plan.sum(0), n.q))
        return partly(int(half), wrong(fault, at="no plan", yours=plan))
    if np.abs(plan - n.plan).max() <= NEAR:
        return wrong("This is the plan that was printed.", at="the printed plan", yours=plan)
    spent = cost(plan, _costs(n))
    return right(f"No entry is negative and all sums are right. This plan costs {show(spent)}.")


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


@exercise(numbers=transport)
def two_optimal_plans(
    student: StudentId,
    first: Annotated[np.ndarray, Numbers(2)],
    second: Annotated[np.ndarray, Numbers(2)],
) -> Verdict:
    """Find two different plans of the lowest cost."""
    lowest = _lowest(transport(student))
    return right(f"Two plans, one cost: {show(lowest)}, and no plan costs less.")


@two_optimal_plans.part("The first plan")
def _first(student: str, first: np.ndarray) -> Verdict:
    return _is_optimal(first, transport(student))


@two_optimal_plans.part("The second plan")
def _second(student: str, second: np.ndarray, first: np.ndarray | None = None) -> Verdict:
    n = transport(student)
    verdict = _is_optimal(second, n)
    if verdict.seen or first is None or first.shape != second.shape:
        return verdict
    if np.abs(first - second).max() <= NEAR:
        says = f"it costs {show(_lowest(n))}, the lowest cost, but it is the first plan again."
        return wrong(says, at="one plan twice", yours=second)
    return verdict


def _is_optimal(P: np.ndarray, n: Transport) -> Verdict:
    if fault := _fault(P, n):
        return wrong(f"this table is no plan. {fault}", at="no plan", yours=P)
    spent, lowest = cost(P, _costs(n)), _lowest(n)
    if spent > lowest + NEAR * max(1.0, lowest):
        says = f"it costs {show_apart(spent, lowest)[0]}. {_cheaper(P, n)}"
        return wrong(says, at="too dear", yours=P)
    return right()


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


def _is_greedy(student: str, P: np.ndarray) -> bool:
    n = transport(student)
    return close(P, greedy_plan(_costs(n), n.p, n.q))


def _is_too_dear(student: str, P: np.ndarray) -> bool:
    return not _is_greedy(student, P)


for _part, _example in (("The first plan", _plan), ("The second plan", _other)):
    two_optimal_plans.mistake(
        *SWAPPED,
        part=_part,
        example=(SEVERAL, _example(transport(SEVERAL)).T),
        when=_is_transposed,
    )
    two_optimal_plans.mistake(
        "greedy nearest matching",
        "Taking the nearest pair first looks cheap, but can leave a long way for those who come "
        "last. With your masses it does.",
        part=_part,
        example=(14, greedy_plan(_costs(transport(14)), transport(14).p, transport(14).q)),
        when=_is_greedy,
    )
    two_optimal_plans.mistake(
        "a plan, but dearer",
        "Plans may differ as they like; what makes them optimal is the cost. Compare costs: "
        "both plans must cost exactly as little.",
        part=_part,
        example=(SEVERAL, transport(SEVERAL).plan),
        when=_is_too_dear,
    )


# -- 11.4 -----------------------------------------------------------------------------------------


def _at_places(f: Any, n: Transport) -> np.ndarray:
    if isinstance(f, FunctionAnswer):
        f = np.array([float(f.array(float(z), shape=())) for z in n.places])
    if len(f) != len(n.places):
        raise Unreadable(
            f"f has {len(f)} values; there are {len(n.places)} places: {show(n.places)}."
        )
    return f - f[0]  # the same to all prices makes no difference


def _gain(f: np.ndarray, n: Transport) -> float:
    """Bought at x, sold at y: Σ f(y) q − Σ f(x) p."""
    at = dict(zip(n.places.tolist(), f.tolist(), strict=True))
    sold = sum(at[y] * q for y, q in zip(n.y.tolist(), n.q.tolist(), strict=True))
    return float(sold - sum(at[x] * p for x, p in zip(n.x.tolist(), n.p.tolist(), strict=True)))


def _crossing(n: Transport) -> np.ndarray:
    """How much must cross each gap between neighboring places, to the right if positive."""
    return np.array([n.p[n.x <= z].sum() - n.q[n.y <= z].sum() for z in n.places[:-1]])


@exercise(numbers=transport)
def certificate(student: StudentId, f: Annotated[np.ndarray | FunctionAnswer, Prices()]) -> Verdict:
    """Find 1-Lipschitz prices f at your places that earn what the best plan costs."""
    n = transport(student)
    f = _at_places(f, n)
    gain, lowest, gaps = _gain(f, n), _lowest(n), np.diff(n.places)
    steep = np.abs(np.diff(f)) - gaps
    if steep.max() > NEAR:
        k = int(np.argmax(steep))
        a, b = n.places[k : k + 2]
        change, way = show_apart(abs(f[k + 1] - f[k]), b - a)
        return wrong(
            f"f is not 1-Lipschitz: from {a} to {b} the price changes by {change}, and the way is "
            f"only {way}.",
            at="too steep",
            yours=f,
        )
    if close(gain, lowest):
        return right(
            f"At your places f is 1-Lipschitz, and it earns {show(gain)}, so no plan costs less. "
            "The best plan costs that, so no f earns more: each proves the other."
        )
    crossing = _crossing(n)
    k = int(np.argmax(np.abs(crossing) * gaps - crossing * np.diff(f)))
    return partly(
        int(gain > NEAR),
        wrong(
            f"At your places f is 1-Lipschitz, and it earns {show(gain)}; it can earn more. "
            f"Between {n.places[k]} and {n.places[k + 1]}, {abs(crossing[k])} of mass must cross "
            f"to the {'right' if crossing[k] > 0 else 'left'}, and your price changes by "
            f"{show_apart(f[k + 1] - f[k], gaps[k])[0]} on a way of {gaps[k]}.",
            at="too little",
            yours=f,
        ),
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


def _instance(x: Any, p: Any, y: Any, q: Any) -> Instance:
    x, p, y, q = (np.array(part, dtype=float) for part in (x, p, y, q))
    return x, p, y, q


ON_A_LINE = [
    _instance([0], [1], [3], [1]),
    _instance([0, 10], [0.5, 0.5], [1, 10], [0.5, 0.5]),
    _instance([1, 2], [1, 1], [4, 6], [1, 1]),
    _instance([5, 0], [0.75, 0.25], [1, 2, 9], [0.5, 0.25, 0.25]),
    _instance([0, 4], [1, 1], [3, 20], [1, 1]),  # where greed loses
    _instance([0, 0, 3], [1, 1, 1], [0], [3]),  # a place that occurs twice
    _instance([0, 4], [3, 1], [4, 1, 0], [2, 0, 2]),
]


def any_masses(rng: np.random.Generator, most: int = 40) -> Instance:
    """Unsorted places on both sides of 0, some of them twice, some without mass; any total."""
    units, unit = int(rng.integers(1, 60)), magnitude(rng, 1e-3, 1e3)
    scale = magnitude(rng, 0.1, 1e4)
    places, masses = [], []
    for size in rng.permutation(
        [*sizes(rng, 1, high=most), int(rng.integers(most // 2, most + 1))]
    ):
        whole = rng.random() < 0.5
        drawn = rng.integers(-9, 10, size) if whole else rng.normal(size=size).round(2)
        places.append(drawn * scale)
        masses.append(rng.multinomial(units, rng.dirichlet(np.ones(size))) * unit)
    return _instance(places[0], masses[0], places[1], masses[1])


def few_masses(rng: np.random.Generator) -> Instance:
    """The same with at most six places, so that the linear program is quick."""
    return any_masses(rng, most=6)


def _w1(x: np.ndarray, p: np.ndarray, y: np.ndarray, q: np.ndarray) -> float:
    """By the linear program; where that is large, by the area between the CDFs."""
    C = cost_table(x, y)
    if C.size <= 36:
        return cost(optimal_plan(C, p, q).plan, C) / p.sum()
    return w1_by_area(x, p, y, q)


@exercise
def wasserstein_1d(
    wasserstein_1d: Annotated[FunctionAnswer, Function(samples=ON_A_LINE[3:])],
) -> Verdict:
    """Write a function of x, p, y, q that returns W₁ between the two as probabilities."""
    for x, p, y, q in cases(
        ON_A_LINE, few_masses, any_masses, fresh=10, ahead=asks(wasserstein_1d)
    ):
        answer, truth = float(wasserstein_1d.array(x, p, y, q, shape=())), _w1(x, p, y, q)
        if abs(answer - truth) <= NEAR * np.ptp(np.append(x, y)):
            continue
        at = f"With masses {show(p)} at {show(x)}, wanted as {show(q)} at {show(y)},"
        if verdict := differs(truth, answer, at=at, what="W₁"):
            return verdict
    return right("On 17 sets of points, places twice and without mass among them, it is W₁.")


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


@wasserstein_1d.mistake(
    "a place that occurs twice counted once",
    "Several masses may lie at one place. Indexed addition `m[places] += p` keeps the last of "
    "them, as a dictionary does; `np.add.at` or a comparison `x <= z` takes all.",
)
def _last_of_each(x, p, y, q):
    last = [dict(zip(*side, strict=True)) for side in ((x, p / p.sum()), (y, q / q.sum()))]
    (x, p), (y, q) = ([np.array(list(part)) for part in (d.keys(), d.values())] for d in last)
    return _unnormalized(x, p, y, q)


@wasserstein_1d.mistake(
    "the difference of the means",
    "That is right only if the best plan moves all mass the same way. Moves to the left and to "
    "the right cancel in the means, but both cost.",
)
def _means_apart(x, p, y, q):
    return float(abs(p @ x / p.sum() - q @ y / q.sum()))


wasserstein_1d.mistake(
    "the difference of the means, with its sign",
    "W₁ is a cost and never negative. The difference of the means is not it either: moves to "
    "the left and to the right cancel there, but both cost.",
    example=(lambda x, p, y, q: float(p @ x / p.sum() - q @ y / q.sum()),),
)


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


@exercise(numbers=transport)
def greedy_loses(
    student: StudentId, y: Annotated[np.ndarray, Numbers(1)], q: Annotated[np.ndarray, Numbers(1)]
) -> Verdict:
    """Find targets for your masses on which greedy nearest matching is not optimal."""
    n = transport(student)
    C, q = _targets(student, y, q)
    if not close(q.sum(), n.p.sum()):
        wanted, there_are = show_apart(q.sum(), n.p.sum())
        says = f"The q sum to {wanted}, but there are {there_are} to be moved."
        return wrong(says, at="totals", yours=q)
    lowest, (greedy, unlucky) = cost(optimal_plan(C, n.p, q).plan, C), _greedy_costs(C, n.p, q)
    if greedy > lowest + NEAR * max(1.0, lowest):
        pays, enough = show_apart(greedy, lowest)
        return right(f"Greedy nearest matching pays {pays}; {enough} is enough.")
    luck = f" (or {show(unlucky)}, if it is unlucky in a tie)" if unlucky > greedy + NEAR else ""
    says = f"The best plan costs {show(lowest)}, and greed pays the same{luck}."
    return wrong(says, at="greed", yours=[lowest, greedy])


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
    "all targets on one side",
    "If all targets lie on one side of all your places, every plan costs the difference of the "
    "means, and greed cannot lose. Put a target between your places.",
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


@exercise(numbers=transport)
def squared_plan(student: StudentId, plan: Annotated[np.ndarray, Numbers(2)]) -> Verdict:
    """Find the one plan of the lowest cost when a unit of mass pays the squared distance."""
    n = transport(student)
    if fault := _fault(plan, n):
        return wrong(fault, at="no plan", yours=plan)
    spent, lowest = cost(plan, _costs(n, 2)), _lowest(n, 2)
    if spent <= lowest + NEAR * max(1.0, lowest / n.p.sum()):
        return right(f"It costs {show(spent)} in squares, no plan costs less, and it is alone.")
    shown = show_apart(spent, lowest)[0]
    return wrong(f"It costs {shown} in squares. {_cheaper(plan, n, 2)}", at="dear", yours=plan)


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

ROUNDS = 100
Smooth = tuple[np.ndarray, np.ndarray, np.ndarray, float, int]  # C, p, q, ε and rounds
SMOOTH: list[Smooth] = [
    (np.array([[3.0, 5.0], [2.0, 4.5]]), np.ones(2), np.ones(2), 1.0, ROUNDS),
    (cost_table([0, 2, 3], [1, 4]), np.array([2.0, 1, 1]) / 4, np.array([0.4, 0.6]), 0.5, ROUNDS),
    (cost_table([0, 1, 5], [2, 3, 4], 2) / 5, np.array([3.0, 1, 2]), np.array([1.0, 1, 4]), 0.8,
     ROUNDS),
    (cost_table([2, 0], [5, 1, 3]), np.array([0.3, 0.7]), np.array([0.2, 0.3, 0.5]), 2.0, ROUNDS),
]  # fmt: skip
FEW_ROUNDS: list[Smooth] = [(*SMOOTH[1][:4], 1), (*SMOOTH[2][:4], 2)]
# A toll for leaving the first place changes no plan, but exp(−C/ε) is 0 in all of that row.
STEEP: list[Smooth] = [
    (SMOOTH[1][0] + np.array([[1000.0], [0.0], [0.0]]), *SMOOTH[1][1:]),
    (SMOOTH[1][0] + np.array([1000.0, 0.0]), *SMOOTH[1][1:]),
    (np.array([[1.0, 1001.0], [2.0, 1003.0]]), np.ones(2), np.ones(2), 0.5, 3),
]


def by_logarithms(C: np.ndarray, p: Any, q: Any, epsilon: float, rounds: int) -> np.ndarray:
    """The definition: every round scales all rows and then all columns of exp(−C/ε)."""
    log_P = -C / epsilon
    for _ in range(rounds):
        log_P = log_P + np.log(p)[:, None] - np.logaddexp.reduce(log_P, axis=1)[:, None]
        log_P = log_P + np.log(q) - np.logaddexp.reduce(log_P, axis=0)
    return np.exp(log_P)


def any_costs(rng: np.random.Generator, least: int = 1) -> Smooth:
    """Costs of any kind and sign, moderate against ε, and a few rounds."""
    m, n = sizes(rng, 2, least, 20)
    p, q = rng.dirichlet(np.full(m, 3.0)) + 0.01, rng.dirichlet(np.full(n, 3.0)) + 0.01
    total = magnitude(rng, 0.1, 100)
    p, q, unit = p / p.sum() * total, q / q.sum() * total, magnitude(rng, 0.1, 10)
    return numbers(rng, m, n, largest=4) * unit, p, q, unit, int(rng.integers(1, 6))


def steep_costs(rng: np.random.Generator) -> Smooth:
    """The same with large rows, large columns, or all of it large."""
    C, p, q, epsilon, rounds = any_costs(rng)
    large = magnitude(rng, 1e3, 1e5) * epsilon
    tolls = [rng.integers(-2, 3, (len(p), 1)), rng.integers(-2, 3, len(q)), rng.choice([-1, 1]),
             rng.integers(-2, 3, C.shape)]  # fmt: skip
    return C + large * tolls[int(rng.integers(4))], p, q, epsilon, rounds


def _scaled_as_defined(sinkhorn: FunctionAnswer, instance: Smooth) -> Verdict | None:
    """The refutation if this is not the plan after so many rounds, else None."""
    C, p, q, epsilon, rounds = instance
    P = sinkhorn.array(*instance, shape=C.shape)
    at = (
        f"With C = {show(C)}, p = {show(p)}, q = {show(q)}, ε = {show(epsilon)} and {rounds} rounds"
    )
    at = at.removesuffix("s") if rounds == 1 else at
    return differs(by_logarithms(*instance), P, at=at, what="the plan", tolerance=1e-5)


def _always(sinkhorn: FunctionAnswer) -> Verdict:
    draws = any_costs, steep_costs, partial(any_costs, least=17)
    for instance in cases([*FEW_ROUNDS, *STEEP], *draws, fresh=9, ahead=asks(sinkhorn)):
        if verdict := _scaled_as_defined(sinkhorn, instance):
            return verdict
    C, p, q, epsilon, _ = SMOOTH[1]
    spent = cost(sinkhorn.array(*SMOOTH[1], shape=C.shape), C)
    lowest = cost(optimal_plan(C, p, q).plan, C)
    return right(
        "Round by round, rows and columns are scaled as they should be, also where exp(−C/ε) "
        f"underflows. At ε = {show(epsilon)} a plan costs {show(spent)} where the exact one costs "
        f"{show(lowest)}."
    )


@exercise
def sinkhorn(sinkhorn: Annotated[FunctionAnswer, Function(samples=SMOOTH[1:3])]) -> Verdict:
    """Write a function of C, p, q, ε and a number of rounds that returns Sinkhorn's plan."""
    for instance in cases(SMOOTH, ahead=asks(sinkhorn)):
        if verdict := _scaled_as_defined(sinkhorn, instance):
            return verdict
    return keeping(1, "With many rounds and moderate costs all is well.", lambda: _always(sinkhorn))


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
    return any(
        not np.isfinite(sinkhorn.array(*each, shape=each[0].shape, finite=False)).all()
        for each in STEEP
    )


@sinkhorn.mistake(
    "exp(−C/ε) underflows",
    "Where C is large against ε, exp(−C/ε) is 0 in floating point, and a row of zeros "
    "cannot be scaled to its mass. Keep logarithms, and take exp at the very end.",
    when=_underflows,
    not_finite=True,
)
def _plain_sinkhorn(C, p, q, epsilon, rounds):
    K, v = np.exp(-C / epsilon), np.ones(len(q))
    with np.errstate(all="ignore"):
        for _ in range(rounds):
            u = p / (K @ v)
            v = q / (K.T @ u)
        return u[:, None] * K * v


@sinkhorn.mistake(
    "only the rows made small",
    "With the smallest cost of each row subtracted, rows no longer underflow, but a column of "
    "large costs does. Keep logarithms, and take exp at the very end.",
    not_finite=True,
)
def _small_rows(C, p, q, epsilon, rounds):
    return _plain_sinkhorn(C - C.min(axis=1, keepdims=True), p, q, epsilon, rounds)


@sinkhorn.mistake(
    "the number of rounds ignored",
    "With many rounds every way ends at the same plan. After few rounds it has to be the plan "
    "after that many.",
)
def _to_the_end(C, p, q, epsilon, rounds):
    return by_logarithms(C, p, q, epsilon, ROUNDS)


@sinkhorn.mistake(
    "columns before rows",
    "A round mends all rows first and then all columns, so that after it the columns are right.",
)
def _columns_first(C, p, q, epsilon, rounds):
    return by_logarithms(C.T, q, p, epsilon, rounds).T


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


# -- 11.9: on a circle -----------------------------------------------------------------------------

Circle = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, float]  # x, p, y, q and the length
CIRCLES: list[Circle] = [
    (np.array([1.0]), np.array([1.0]), np.array([9.0]), np.array([1.0]), 10.0),
    (np.array([0.0, 5.0]), np.array([1.0, 1.0]), np.array([3.0, 9.0]), np.array([1.0, 1.0]), 12.0),
    (np.array([7.0, 1, 2]), np.array([2.0, 1, 1]), np.array([4.0, 0]), np.array([1.0, 3]), 8.0),
]  # fmt: skip


def around(x: np.ndarray, p: np.ndarray, y: np.ndarray, q: np.ndarray, length: float) -> float:
    """The definition: the lowest cost if a unit of mass pays the shorter way round the circle."""
    one_way = np.abs(x[:, None] - y)
    C = np.minimum(one_way, length - one_way)
    return cost(optimal_plan(C, p, q).plan, C)


def any_round(rng: np.random.Generator) -> Circle:
    """Whole masses at whole places of a circle, in no order; some places occur twice."""
    return _round(rng, *rng.integers(1, 7, 2))


def fine_round(rng: np.random.Generator) -> Circle:
    """More places, which are not whole, and quarters of masses."""
    x, p, y, q, length = _round(rng, *rng.integers(17, 21, 2))
    return (0.37 * x).round(2), p / 4, (0.37 * y).round(2), q / 4, round(0.37 * length, 2)


def _round(rng: np.random.Generator, m: int, n: int) -> Circle:
    length = int(rng.integers(8, 40))
    p, q = (np.bincount(rng.integers(0, k, 12), minlength=k).astype(float) for k in (m, n))
    x, y = rng.integers(0, length, m), rng.integers(0, length, n)
    return x.astype(float), p, y.astype(float), q, float(length)


@exercise
def on_a_circle(circle: Annotated[FunctionAnswer, Function(samples=CIRCLES)]) -> Verdict:
    """Write a function of x, p, y, q and the circle's length that returns the lowest cost on it."""
    for x, p, y, q, length in cases(
        CIRCLES, any_round, any_round, fine_round, fresh=12, ahead=asks(circle)
    ):
        lowest = around(x, p, y, q, length)
        at = f"With x = {show(x)}, p = {show(p)}, y = {show(y)}, q = {show(q)}, length {length:g},"
        found = circle.array(x, p, y, q, length, shape=())
        if verdict := differs(lowest, found, at=at, what="the lowest cost"):
            return verdict
    return right("On every circle your function finds the cost of the best plan.")


on_a_circle.add_hints(
    "On a line, F − G at z tells how much has to cross z to the right, and W₁ sums up its absolute "
    "value. On a circle mass may also run round: the same amount c more at every z.",
    "So the cost is Σ |h − c| times the length of each arc, and you may choose c. There is also "
    "the arc from the last place over the end to the first.",
    "A sum of absolute values is smallest where c is one of the heights h: try them all.",
)

on_a_circle.forbid(
    "transport.optimal_plan", "transport.another_optimal_plan", "checks.transport.around"
)


def _heights(x: Any, p: Any, y: Any, q: Any, length: float) -> tuple[np.ndarray, np.ndarray]:
    """What crosses each arc to the right if nothing crosses the end, and the arcs' lengths."""
    z = np.unique(np.concatenate([x, y]))
    height = [p[x <= at].sum() - q[y <= at].sum() for at in z]
    return np.array(height), np.diff(z, append=z[0] + length)


def _running_round(choose: Callable[..., float]) -> Callable[..., float]:
    """The cost with a wrong amount that runs round the circle."""

    def circle(x: Any, p: Any, y: Any, q: Any, length: float) -> float:
        height, arcs = _heights(x, p, y, q, length)
        return float(np.abs(height - choose(height, arcs)) @ arcs)

    return circle


on_a_circle.mistake(
    "the mean runs round",
    "A sum of absolute values is smallest at a median, not at the mean.",
    example=(_running_round(lambda height, arcs: float(np.average(height, weights=arcs))),),
)
on_a_circle.mistake(
    "a median without weights",
    "A height counts as much as its arc is long.",
    example=(_running_round(lambda height, arcs: float(np.median(height))),),
)


@on_a_circle.mistake(
    "the line",
    "This is the cost on a line: nothing goes over the end of the circle, shorter or not.",
)
def _no_running(x, p, y, q, length):
    return _running_round(lambda height, arcs: 0.0)(x, p, y, q, length)


@on_a_circle.mistake(
    "each unit to its nearest",
    "Two units cannot have one place. The ways have to fit together.",
)
def _nearest(x, p, y, q, length):
    ways = np.abs(x[:, None] - y)
    return float(p @ np.minimum(ways, length - ways).min(axis=1))


@on_a_circle.mistake(
    "divided by the total mass",
    "That is the cost as probabilities. Asked is the cost of these masses.",
)
def _as_probabilities(x, p, y, q, length):
    return around(x, p, y, q, length) / p.sum()


# -- 11.10: places that move -----------------------------------------------------------------------

STEP = 0.25  # so small that no two places meet


def squared_cost(n: Transport, x: np.ndarray) -> float:
    """The lowest cost in squares if the masses p lie at other places."""
    C = cost_table(x, n.y, 2)
    return cost(optimal_plan(C, n.p, n.q).plan, C)


def _slopes(n: Transport, x: np.ndarray) -> np.ndarray:
    """How fast it grows when one place moves to the right: a difference over two steps."""
    return np.array(
        [
            (squared_cost(n, x + step) - squared_cost(n, x - step)) / (2 * STEP)
            for step in STEP * np.eye(len(x))
        ]
    )


def _fitting(answer: np.ndarray, n: Transport, name: str) -> np.ndarray:
    if answer.shape != n.x.shape:
        raise Unreadable(f"{name} has {len(answer)} numbers; your x has {len(n.x)} places.")
    return answer


@exercise(numbers=transport)
def moving_places(
    student: StudentId,
    slope: Annotated[np.ndarray, Numbers(1)],
    best: Annotated[np.ndarray, Numbers(1)],
) -> Verdict:
    """Find the gradient of the lowest squared cost by the places x, and the best places."""
    return right(
        "Moved a little, each place changes the cost as you say, and at your places not at all."
    )


@moving_places.part("Slope", points=2)
def _slope(student: str, slope: np.ndarray) -> Verdict:
    n = transport(student)
    seen = _slopes(n, n.x.astype(float))
    given = _fitting(slope, n, "The gradient")
    at = f"when one place of x = {show(n.x)} after the other is moved"
    if close(seen, given):
        return right()
    i = int(np.argmax(np.abs(seen - given)))
    says = f"{at}, the cost does not change by {show(given[i])} a unit for x = {n.x[i]}."
    return wrong(says, at="slope", yours=given)


@moving_places.part("Best places", points=2)
def _best(student: str, best: np.ndarray) -> Verdict:
    n = transport(student)
    places = _fitting(best, n, "The list of places")
    if np.abs(places).max() > 1000 or np.diff(places).min(initial=1.0) < 0:
        return wrong("your places are not in order.", at="best", yours=places)
    now, lower = squared_cost(n, places), squared_cost(n, _projected(n))
    if now <= lower + NEAR * max(1.0, lower):
        return right()
    return wrong(
        f"there the cost is {show_apart(now, lower)[0]}; it can be lower.", at="best", yours=places
    )


def _projected(n: Transport, P: np.ndarray | None = None) -> np.ndarray:
    """Each place where the masses that leave it are on average wanted."""
    plan = _plan(n, 2) if P is None else P
    return plan @ n.y / plan.sum(axis=1)


moving_places.add_hints(
    "A small move changes no entry of the best plan for squares. So differentiate "
    "Σ P_ij (x_i − y_j)² with P held fixed.",
    "The best plan keeps the order, wherever the places are, as long as they stay in order. It is "
    "the one of exercise 11.7.",
    "The gradient is 0 where p_i x_i = Σ_j P_ij y_j.",
)


def _gradient(n: Transport, P: np.ndarray | None = None, factor: float = 2) -> np.ndarray:
    plan = _plan(n, 2) if P is None else P
    return factor * (plan * (n.x[:, None] - n.y)).sum(axis=1)


def _of_part(part: str, face: Callable[[Transport], Any]) -> dict[str, Any]:
    return {"part": part, **_computed(face)}


moving_places.mistake(
    "the 2 lost",
    "The derivative of a square has a factor 2.",
    **_of_part("Slope", lambda n: _gradient(n, factor=1)),
)
for _part, _name, _says, _face in [
    ("Slope", "the other way", "The gradient tells how the cost grows; this is how it falls.",
     lambda n: _gradient(n, factor=-2)),
    ("Slope", "the printed plan", "The printed plan is not the best one for squares.",
     lambda n: _gradient(n, n.plan)),
    ("Slope", "for one unit of mass", "All of p_i moves with its place.",
     lambda n: _gradient(n) / n.p),
    ("Slope", "plain distances", "These are the slopes for |x − y|; the cost is squared.",
     lambda n: (_plan(n, 2) * np.sign(n.x[:, None] - n.y)).sum(axis=1).astype(float)),
    ("Best places", "one step down the slope", "A whole step goes too far or not far enough.",
     lambda n: n.x - _gradient(n)),
    ("Best places", "all in the middle", "Each place may go where its own mass is wanted.",
     lambda n: np.full(len(n.x), n.y @ n.q / n.q.sum())),
    ("Best places", "the printed plan", "The printed plan is not the best one for squares.",
     lambda n: np.sort(_projected(n, n.plan))),
    ("Best places", "the wanted places", "A place whose mass is split lies between them.",
     lambda n: n.y.astype(float)),
]:  # fmt: skip
    moving_places.mistake(_name, _says, **_of_part(_part, _face))
