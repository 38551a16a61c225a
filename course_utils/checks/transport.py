"""Unit 11: the cost of moving mass. Checks with masses of one's own take the student's id first."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np

from selfcheck.calls import FunctionAnswer
from selfcheck.compare import close, real_array
from selfcheck.display import name_of, show, show_apart, type_in_words
from selfcheck.exercises import exercise
from selfcheck.kinds import Function, OfNumbers, RealNumber, StudentId, with_texts_read
from selfcheck.own_numbers import OwnNumbers
from selfcheck.per_case import each
from selfcheck.refusals import Unreadable
from selfcheck.remembering import remembered
from selfcheck.sampling import cases, magnitude, numbers, sizes
from selfcheck.verdicts import Verdict, differs, keeping, partly, right, where, wrong

from ..numbers.transport import Transport, transport
from ..transport import cost, cost_table, optimal_plan
from ..transport import wasserstein_1d as w1_by_area

NEAR = 1e-6


# -- kinds of answer that only this unit has ------------------------------------------------------


class Numbers(OfNumbers):
    """A table (ndim 2) or a list (ndim 1) of finite numbers; its size depends on the student."""

    def __init__(self, ndim: int) -> None:
        self.ndim = ndim

    def read(self, answer: Any, name: str) -> np.ndarray:
        array = real_array(with_texts_read(answer, name))
        kind = ("list", "table")[self.ndim - 1]
        if array is None or array.ndim != self.ndim or not array.size:
            raise Unreadable(f"{name} should be a {kind} of numbers, as a list or an array.")
        if not np.isfinite(array).all():
            raise Unreadable(f"{name} contains {show(array[~np.isfinite(array)][0])}.")
        return array


Row = Annotated[np.ndarray, Numbers(1)]
Table = Annotated[np.ndarray, Numbers(2)]


class Prices:
    """A price for each place: a list of values, or a function of the place."""

    def read(self, answer: Any, name: str) -> np.ndarray | FunctionAnswer:
        if callable(answer) and not isinstance(answer, np.ndarray):
            return FunctionAnswer(answer, name_of(answer, name))
        if not isinstance(answer, list | tuple | np.ndarray):
            says = "should be a list of numbers, one for each place, or a function of the place"
            raise Unreadable(f"{name} {says}, not {type_in_words(answer)}.")
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


def _fault(P: np.ndarray, n: Transport, called: str) -> str:
    """What keeps the table from being a plan, in a sentence; nothing if it is one."""
    if P.shape != (len(n.p), len(n.q)):
        raise Unreadable(
            f"{called} has shape {P.shape}; a row for each of the {len(n.p)} places x and a "
            f"column for each of the {len(n.q)} places y make {(len(n.p), len(n.q))}."
        )
    if P.min() < -NEAR:
        i, j = np.unravel_index(np.argmin(P), P.shape)
        return f"{called}[{i}, {j}] is {show(P[i, j])}; a plan cannot move less than nothing."
    for rows, place, sums, masses in [("", "x", P.sum(1), n.p), (":, ", "y", P.sum(0), n.q)]:
        k = int(np.argmax(np.abs(sums - masses)))
        if abs(sums[k] - masses[k]) > NEAR:
            at = n.x[k] if place == "x" else n.y[k]
            verb = "lie" if place == "x" else "are wanted"
            found, there_are = show_apart(sums[k], masses[k])
            return f"{called}[{rows}{k}] sums to {found}, but {there_are} {verb} at {place} = {at}."
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


SEVERAL = 1  # a student whose masses move both ways; those of id 0 all move to the right


@exercise(numbers=OwnNumbers(transport, example=SEVERAL))
def plan_cost(student: StudentId, cost_of_plan: RealNumber) -> Verdict:
    """Compute what the printed plan costs when a unit of mass pays the distance."""
    n = transport(student)
    each = _costs(n) * n.plan
    if close(cost_of_plan, each.sum()):
        return right("Every entry times its distance, summed up, is your cost.")
    i, j = np.unravel_index(np.argmax(each), each.shape)
    return wrong(
        f"The distances of this plan do not sum to {show_apart(cost_of_plan, each.sum())[0]}. "
        f"Look at one: {n.plan[i, j]} from {n.x[i]} to {n.y[j]} cost {n.plan[i, j]} · "
        f"{abs(n.x[i] - n.y[j])} = {each[i, j]:g}.",
        at="the cost",
        yours=cost_of_plan,
    )


# -- 11.2 -----------------------------------------------------------------------------------------


@exercise(numbers=OwnNumbers(transport, example=SEVERAL))
def feasible_plan(student: StudentId, a_plan: Table) -> Verdict:
    """Find a plan for your masses that is not the printed one."""
    n = transport(student)
    if fault := _fault(a_plan, n, "a_plan"):
        half = a_plan.min() >= -NEAR and (close(a_plan.sum(1), n.p) or close(a_plan.sum(0), n.q))
        return partly(int(half), wrong(fault, at="no plan", yours=a_plan))
    if np.abs(a_plan - n.plan).max() <= NEAR:
        return wrong("This is the plan that was printed.", at="the printed plan", yours=a_plan)
    spent = cost(a_plan, _costs(n))
    return right(f"No entry is negative and all sums are right. This plan costs {show(spent)}.")


# -- 11.3 -----------------------------------------------------------------------------------------


@exercise(numbers=transport)
def two_optimal_plans(student: StudentId, first: Table, second: Table) -> Verdict:
    """Find two different plans of the lowest cost."""
    lowest = _lowest(transport(student))
    return right(f"Two plans, one cost: {show(lowest)}, and no plan costs less.")


@two_optimal_plans.part("The first plan")
def _first(student: str, first: np.ndarray) -> Verdict:
    return _is_optimal(first, transport(student), "first")


@two_optimal_plans.part("The second plan")
def _second(student: str, second: np.ndarray, first: np.ndarray | None = None) -> Verdict:
    n = transport(student)
    verdict = _is_optimal(second, n, "second")
    if verdict.seen or first is None or first.shape != second.shape:
        return verdict
    if np.abs(first - second).max() <= NEAR:
        says = f"it costs {show(_lowest(n))}, the lowest cost, but it is the first plan again."
        return wrong(says, at="one plan twice", yours=second)
    return verdict


def _is_optimal(P: np.ndarray, n: Transport, called: str) -> Verdict:
    if fault := _fault(P, n, called):
        return wrong(f"this table is no plan. {fault}", at="no plan", yours=P)
    spent, lowest = cost(P, _costs(n)), _lowest(n)
    if spent > lowest + NEAR * max(1.0, lowest):
        says = f"it costs {show_apart(spent, lowest)[0]}. {_cheaper(P, n)}"
        return wrong(says, at="too dear", yours=P)
    return right()


def _plan(n: Transport, order: float = 1) -> np.ndarray:
    return optimal_plan(_costs(n, order), n.p, n.q).plan


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
            f"f is not 1-Lipschitz: from {a} to {b} the price changes by {change}, over a "
            f"distance of only {way}.",
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
    _instance([0, 0.004], [1, 1], [0.003, 0.009], [1, 1]),
    _instance([0, 0, 3], [1, 1, 1], [0], [3]),  # a place that occurs twice
    _instance([0, 4], [3, 1], [4, 1, 0], [2, 0, 2]),
]


def any_masses(rng: np.random.Generator) -> Instance:
    """Unsorted places on both sides of 0, some of them twice, some without mass; any total."""
    m, n = sizes(rng, 2)
    scale, unit, whole = magnitude(rng, 0.1, 1e4), magnitude(rng, 1e-3, 1e3), rng.random() < 0.5
    x, y = (numbers(rng, size, largest=9) for size in (m, n))
    x, y = (x.round(), y.round()) if whole else (x, y)
    p, q = (np.eye(size)[0] + rng.integers(0, 9, size) for size in (m, n))
    return _instance(x * scale, p * unit, y * scale, q * (unit * p.sum() / q.sum()))


def _w1(x: np.ndarray, p: np.ndarray, y: np.ndarray, q: np.ndarray) -> float:
    """By the linear program; where that is large, by the area between the CDFs."""
    C = cost_table(x, y)
    if C.size <= 12:
        return cost(optimal_plan(C, p, q).plan, C) / p.sum()
    return w1_by_area(x, p, y, q)


@exercise
@each(ON_A_LINE, any_masses, fresh=6)
def wasserstein_1d(
    wasserstein_1d: Annotated[FunctionAnswer, Function(samples=ON_A_LINE[3:])], *, x, p, y, q
) -> Verdict | None:
    """Write a function of x, p, y, q that returns W₁ between the two as probabilities."""
    answer, truth = float(wasserstein_1d.array(x, p, y, q, shape=())), _w1(x, p, y, q)
    if abs(answer - truth) <= NEAR * np.ptp(np.append(x, y)):
        return None
    at = where("With masses {} at {}, wanted as {} at {},", p, x, q, y)
    return differs(truth, answer, at=at, what="W₁")


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


def _mass_at(places: np.ndarray, masses: np.ndarray) -> dict[float, float]:
    """What lies, or is wanted, at each place where there is some."""
    return {float(z): masses[places == z].sum() for z in np.unique(places[masses > 0])}


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
def greedy_loses(student: StudentId, bad_y: Row, bad_q: Row) -> Verdict:
    """Find other targets for your masses, on which greedy nearest matching is not optimal."""
    n = transport(student)
    C, q = _targets(student, bad_y, bad_q)
    if _mass_at(bad_y, bad_q) == _mass_at(n.y, n.q):
        return wrong("These are the targets that you have; choose others.", at="own", yours=bad_y)
    if not close(q.sum(), n.p.sum()):
        wanted, there_are = show_apart(q.sum(), n.p.sum())
        says = f"The masses bad_q sum to {wanted}, but there are {there_are} to be moved."
        return wrong(says, at="totals", yours=q)
    lowest, (greedy, unlucky) = cost(optimal_plan(C, n.p, q).plan, C), _greedy_costs(C, n.p, q)
    if greedy > lowest + NEAR * max(1.0, lowest):
        pays, enough = show_apart(greedy, lowest)
        return right(f"Greedy nearest matching pays {pays}; {enough} is enough.")
    luck = f" (or {show(unlucky)}, if it is unlucky in a tie)" if unlucky > greedy + NEAR else ""
    says = f"The best plan costs {show(lowest)}, and greed pays the same{luck}."
    return wrong(says, at="greed", yours=[lowest, greedy])


# -- 11.7 -----------------------------------------------------------------------------------------


@exercise(numbers=transport)
def squared_plan(student: StudentId, squared_plan: Table) -> Verdict:
    """Find the one plan of the lowest cost when a unit of mass pays the squared distance."""
    n, plan = transport(student), squared_plan
    if fault := _fault(plan, n, "squared_plan"):
        return wrong(fault, at="no plan", yours=plan)
    spent, lowest = cost(plan, _costs(n, 2)), _lowest(n, 2)
    if spent <= lowest + NEAR * max(1.0, lowest / n.p.sum()):
        return right(f"It costs {show(spent)} in squares, and every other plan costs more.")
    shown = show_apart(spent, lowest)[0]
    return wrong(f"It costs {shown} in squares. {_cheaper(plan, n, 2)}", at="dear", yours=plan)


# -- 11.8 -----------------------------------------------------------------------------------------

ROUNDS = 400  # to the end, also where it comes slowly
Smooth = tuple[np.ndarray, np.ndarray, np.ndarray, float, int]  # C, p, q, ε and rounds
SMOOTH: list[Smooth] = [
    (np.array([[3.0, 5.0], [2.0, 4.5]]), np.ones(2), np.ones(2), 1.0, 100),
    (cost_table([0, 2, 3], [1, 4]), np.array([2.0, 1, 1]) / 4, np.array([0.4, 0.6]), 0.5, 100),
    (cost_table([0, 1, 5], [2, 3, 4], 2) / 5, np.array([3.0, 1, 2]), np.array([1.0, 1, 4]), 0.8,
     100),
    (cost_table([2, 0], [5, 1, 3]), np.array([0.3, 0.7]), np.array([0.2, 0.3, 0.5]), 2.0, 100),
    (np.array([[0.0, 5.0], [5.0, 0.0]]), np.ones(2), np.array([1.02, 0.98]), 1.0, ROUNDS),
]  # fmt: skip
FEW_ROUNDS: list[Smooth] = [(*SMOOTH[1][:4], 1), (*SMOOTH[2][:4], 2)]
# A toll for leaving the first place changes no plan, but exp(−C/ε) is 0 in all of that row.
STEEP: list[Smooth] = [
    (SMOOTH[1][0] + np.array([[1000.0], [0.0], [0.0]]), *SMOOTH[1][1:]),
    (SMOOTH[1][0] + np.array([1000.0, 0.0]), *SMOOTH[1][1:]),
    (np.array([[1.0, 1001.0], [2.0, 1003.0]]), np.ones(2), np.ones(2), 0.5, 3),
    (np.array([[1.0, 1001.0]]), np.array([2.0]), np.ones(2), 0.5, 3),
    (np.array([[1.0], [1001.0]]), np.ones(2), np.array([2.0]), 0.5, 3),
]


def by_logarithms(C: np.ndarray, p: Any, q: Any, epsilon: float, rounds: int) -> np.ndarray:
    """The definition: every round scales all rows and then all columns of exp(−C/ε)."""
    log_P = -C / epsilon
    for _ in range(rounds):
        log_P = log_P + np.log(p)[:, None] - np.logaddexp.reduce(log_P, axis=1)[:, None]
        log_P = log_P + np.log(q) - np.logaddexp.reduce(log_P, axis=0)
    return np.exp(log_P)


def any_costs(rng: np.random.Generator) -> Smooth:
    """Costs of any kind and sign, moderate against ε, and a few rounds."""
    m, n = sizes(rng, 2, high=40)
    p, q = rng.dirichlet(np.full(m, 3.0)) + 0.01, rng.dirichlet(np.full(n, 3.0)) + 0.01
    total = magnitude(rng, 0.1, 100)
    p, q, unit = p / p.sum() * total, q / q.sum() * total, magnitude(rng, 0.1, 10)
    return numbers(rng, m, n, largest=4) * unit, p, q, unit, int(rng.integers(1, 6))


def steep_costs(rng: np.random.Generator) -> Smooth:
    """The same with large rows, large columns, or all of it large."""
    C, p, q, epsilon, rounds = any_costs(rng)
    large = 1e3 * epsilon  # exp(−C/ε) underflows, and 32 bits still hold C/ε to some digits
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
    # 32 bits, with C/ε in thousands
    tolerance = 1e-5 if np.abs(C).max() < 100 * epsilon else 1e-3
    return differs(by_logarithms(*instance), P, at=at, what="the plan", tolerance=tolerance)


def _always(sinkhorn: FunctionAnswer) -> Verdict:
    for instance in cases([*FEW_ROUNDS, *STEEP], any_costs, steep_costs):
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
    for instance in cases(SMOOTH):
        if verdict := _scaled_as_defined(sinkhorn, instance):
            return verdict
    return keeping(1, "With many rounds and moderate costs all is well.", lambda: _always(sinkhorn))


# -- 11.9: on a circle -----------------------------------------------------------------------------

Circle = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, float]  # x, p, y, q and the length
CIRCLES: list[Circle] = [
    (np.array([1.0]), np.array([1.0]), np.array([9.0]), np.array([1.0]), 10.0),
    (np.array([0.0, 5.0]), np.array([1.0, 1.0]), np.array([3.0, 9.0]), np.array([1.0, 1.0]), 12.0),
    (np.array([7.0, 1, 2]), np.array([2.0, 1, 1]), np.array([4.0, 0]), np.array([1.0, 3]), 8.0),
    (np.array([0.0, 4]), np.array([1.0, 1]), np.array([3.0, 20]), np.array([1.0, 1]), 99.0),
    (np.array([0.5, 4]), np.array([0.5, 1]), np.array([3.25]), np.array([1.5]), 5.0),
]  # fmt: skip


@remembered
def around(x: np.ndarray, p: np.ndarray, y: np.ndarray, q: np.ndarray, length: float) -> float:
    """The definition: the lowest cost if a unit of mass pays the shorter way round the circle."""
    one_way = np.abs(x[:, None] - y)
    C = np.minimum(one_way, length - one_way)
    return cost(optimal_plan(C, p, q).plan, C)


def any_round(rng: np.random.Generator) -> Circle:
    """Whole masses at whole places of a circle, in no order; some places occur twice."""
    return _round(rng, *sizes(rng, 2, high=8))


def fine_round(rng: np.random.Generator) -> Circle:
    """More places, which are not whole, and quarters of masses."""
    x, p, y, q, length = _round(rng, 20, 20)
    return (0.37 * x).round(2), p / 4, (0.37 * y).round(2), q / 4, round(0.37 * length, 2)


def _round(rng: np.random.Generator, m: int, n: int) -> Circle:
    length = int(rng.integers(8, 40))
    p, q = (np.bincount(rng.integers(0, k, 12), minlength=k).astype(float) for k in (m, n))
    x, y = rng.integers(0, length, m), rng.integers(0, length, n)
    return x.astype(float), p, y.astype(float), q, float(length)


FINE = [fine_round(np.random.default_rng(seed)) for seed in range(3)]


@exercise
@each([*CIRCLES, *FINE], any_round, fresh=6, also=[fine_round])
def on_a_circle(
    on_a_circle: Annotated[FunctionAnswer, Function(samples=CIRCLES)], *, x, p, y, q, length
) -> Verdict | None:
    """Write a function of x, p, y, q and the circle's length that returns the lowest cost on it."""
    found = on_a_circle.array(x, p, y, q, length, shape=())
    lowest = around(x, p, y, q, length)
    at = where("With x = {}, p = {}, y = {}, q = {}, length {},", x, p, y, q, length)
    return differs(lowest, found, at=at, what="the lowest cost")


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


@exercise(numbers=OwnNumbers(transport, example=SEVERAL))
def moving_places(student: StudentId, slope: Row, best_places: Row) -> None:
    """Find the gradient of the lowest squared cost by the places x, and the best places."""


@moving_places.part("Slope", points=2)
def _slope(student: str, slope: np.ndarray) -> Verdict:
    n = transport(student)
    seen = _slopes(n, n.x.astype(float))
    given = _fitting(slope, n, "slope")
    at = f"when one place of x = {show(n.x)} after the other is moved"
    if close(seen, given):
        return right()
    i = int(np.argmax(np.abs(seen - given)))
    shown = show_apart(given[i], seen[i])[0]
    says = f"{at}, the cost does not change by {shown} a unit for x = {n.x[i]}."
    return wrong(says, at="slope", yours=given)


@moving_places.part("Best places", points=2)
def _best(student: str, best_places: np.ndarray) -> Verdict:
    n = transport(student)
    places = _fitting(best_places, n, "best_places")
    if np.diff(places).min(initial=1.0) < 0:
        return wrong("your places are not in order.", at="best", yours=places)
    if np.abs(places).max() > 1000:
        return wrong("a place lies beyond ±1000, far from all that is wanted.", at="best")
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
