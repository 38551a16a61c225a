"""The cost of moving mass: plans, distances on a line, the exact plan with its proof, Sinkhorn.

Mass p_i lies at x_i and is wanted as q_j at y_j; both have the same total. A plan is a table P of
what goes from where to where: no entry is negative, its rows sum to p and its columns to q. With
C_ij for the cost of one unit, the whole costs Σ C_ij P_ij.
"""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import count
from typing import Any, NamedTuple

import numpy as np

from selfcheck.reserved import answer

Cell = tuple[int, int]
ROUNDING = 1e-10  # relative: what is smaller than this is taken for zero


def cost_table(x: Any, y: Any, order: float = 1) -> np.ndarray:
    """C_ij = |x_i − y_j|^order for places on a line."""
    return np.abs(np.subtract.outer(np.asarray(x, float), np.asarray(y, float))) ** order


def cost(P: Any, C: Any) -> float:
    """What the plan costs: Σ C_ij P_ij."""
    P, C = np.asarray(P), np.asarray(C)
    if P.shape != C.shape:
        raise ValueError(f"The plan has shape {P.shape}, the cost table {C.shape}.")
    return float(np.sum(P * C))


def is_plan(P: Any, p: Any, q: Any) -> bool:
    """Whether the table has no negative entry, rows that sum to p and columns that sum to q."""
    P, p, q = (np.asarray(part, float) for part in (P, p, q))
    if P.shape != (len(p), len(q)) or not np.isfinite(P).all():
        return False
    slack = ROUNDING * max(1.0, np.abs(p).sum())
    errors = (
        -P.min(initial=0),
        np.abs(P.sum(1) - p).max(initial=0),
        np.abs(P.sum(0) - q).max(initial=0),
    )
    return bool(max(errors) <= slack)


# -- on a line ------------------------------------------------------------------------------------


@answer
def wasserstein_1d(x: Any, p: Any, y: Any, q: Any, order: float = 1) -> float:
    """W_order between two sets of weighted points on a line, as probabilities, in O(n log n).

    The plan that keeps the order is optimal: the lowest mass goes to the lowest place. At level t
    it moves the t-quantile of one side to that of the other, and between two neighboring steps of
    the cumulated masses neither quantile changes.
    """
    x, p = _sorted_points(x, p)
    y, q = _sorted_points(y, q)
    _same_total(p, q)
    if not order >= 1:
        raise ValueError(f"The order is a number from 1 on, or inf; it is {order}.")
    steps_p, steps_q = (np.cumsum(mass) / mass.sum() for mass in (p, q))
    steps_p[-1] = steps_q[-1] = 1.0
    levels = np.sort(np.concatenate([steps_p, steps_q]), kind="stable")  # merges two sorted runs
    width = np.diff(levels, prepend=0.0)
    way = np.abs(x[np.searchsorted(steps_p, levels)] - y[np.searchsorted(steps_q, levels)])
    if np.isinf(order):  # the longest way of any mass; a level that only rounding made is no mass
        return float(way[width > ROUNDING].max())
    longest = way.max()
    return float(longest * (width @ (way / (longest or 1.0)) ** order) ** (1 / order))


def _sorted_points(x: Any, mass: Any) -> tuple[np.ndarray, np.ndarray]:
    """Points with their masses from left to right; those without mass are left out."""
    x, mass = np.asarray(x, float), _masses(mass)
    if x.shape != mass.shape:
        raise ValueError(f"{x.size} points need as many masses; there are {mass.size}.")
    if not np.isfinite(x).all():
        raise ValueError("Every point must be a finite number.")
    order = np.argsort(x)
    x, mass = x[order], mass[order]
    return x[mass > 0], mass[mass > 0]


# -- the exact plan -------------------------------------------------------------------------------


class Optimum(NamedTuple):
    """A plan and its proof: u_i + v_j ≤ C_ij everywhere, and Σ u p + Σ v q equals the cost."""

    plan: np.ndarray
    u: np.ndarray
    v: np.ndarray
    pivots: int


@answer
def north_west_corner(p: Any, q: Any) -> tuple[np.ndarray, list[Cell]]:
    """A first plan, filled from the top left, and the m + n − 1 cells it was written into.

    If both sets of places are sorted, this is the plan that keeps the order.
    """
    left, wanted = _masses(p).copy(), _masses(q).copy()
    P, cells = np.zeros((len(left), len(wanted))), []
    i = j = 0
    while True:
        cells.append((i, j))
        P[i, j] = moved = min(left[i], wanted[j])
        left[i] -= moved
        wanted[j] -= moved
        if (i, j) == (len(left) - 1, len(wanted) - 1):
            return P, cells
        # go down if the row is used up, else right; one step at a time, so that a tie leaves a zero
        down = i < len(left) - 1 and (j == len(wanted) - 1 or left[i] <= wanted[j])
        i, j = (i + 1, j) if down else (i, j + 1)


@answer
def optimal_plan(C: Any, p: Any, q: Any) -> Optimum:
    """The cheapest plan by the transportation simplex, with the potentials that prove it.

    The cells in use form a tree. Prices u, v with u_i + v_j = C_ij on it show whether another
    cell would be cheaper than its way through the tree; if so, mass is shifted around the cycle
    that this cell closes, until one of the old cells is empty and leaves. Costs are compared as
    whole numbers, so that a forbidding one (10¹² beside 0.1) drowns no other.
    """
    C, p, q = _checked(C, p, q)
    P, cells = north_west_corner(p, q)
    whole, unit = _whole_numbers(C)
    smallest_shift = ROUNDING * p.sum()
    stuck = False
    for pivots in count():
        u, v, parents = _potentials(whole, cells)
        gain = u[:, None] + v - whole  # saved by each unit that goes this way
        found = _worthwhile(whole, gain, parents, first=stuck)
        if found is None:
            return Optimum(P, *_small_prices(whole, unit, C, smallest_shift < P), pivots)
        losing, winning = found
        entering = winning[0]
        shift = min(P[cell] for cell in losing)
        leaving = min(cell for cell in losing if P[cell] <= shift)
        for cell in losing:
            P[cell] -= shift
        for cell in winning:
            P[cell] += shift
        cells[cells.index(leaving)] = entering
        stuck = shift <= smallest_shift
    raise AssertionError("there are finitely many trees of cells, and none comes back")


def _worthwhile(
    whole: np.ndarray, gain: np.ndarray, parents: list[int], first: bool
) -> tuple[list[Cell], list[Cell]] | None:
    """The cycle of the cell that enters, or None; a gain that is rounding of its costs is none.

    The best cell enters; after a pivot that moved nothing the first one, for with Bland's rule
    (first in, first out) a run of such pivots cannot come back to where it was.
    """
    while True:
        best = int(np.argmax(gain > 0) if first else np.argmax(gain))
        i, j = divmod(best, gain.shape[1])
        if gain[i, j] <= 0:
            return None
        losing, winning = _cycle(parents, len(whole), i, j)
        largest = max(abs(int(whole[cell])) for cell in losing + winning)
        if int(gain[i, j]) * 10**14 > largest:
            return losing, winning
        gain[i, j] = 0


@answer
def another_optimal_plan(C: Any, p: Any, q: Any) -> np.ndarray | None:
    """A second plan of the same, lowest cost, or None if the first is the only one.

    Every optimal plan uses only cells where u_i + v_j = C_ij. So: reward each unit that goes
    through such a cell outside of the first plan, forbid the others, and solve once more.
    """
    C, p, q = _checked(C, p, q)
    first, u, v, _ = optimal_plan(C, p, q)
    scale = ROUNDING * np.maximum(np.abs(C), np.abs(u).max() + np.abs(v).max())
    tight = C - u[:, None] - v <= scale
    reward = np.where(tight, -1.0 * (first <= ROUNDING * p.sum()), float(sum(C.shape)))
    second = optimal_plan(reward, p, q).plan
    return second if cost(second, reward) < -ROUNDING * p.sum() else None


def _whole_numbers(C: np.ndarray) -> tuple[np.ndarray, int]:
    """The costs, as they are written, in multiples of 1/unit: int64 if no sum can overflow."""
    exact = [Fraction(repr(c)) for c in C.ravel().tolist()]
    unit = math.lcm(*(c.denominator for c in exact))
    whole = [int(c * unit) for c in exact]
    fits = max(map(abs, whole)) * 2 * sum(C.shape) < 2**62
    return np.array(whole, dtype=np.int64 if fits else object).reshape(C.shape), unit


def _small_prices(
    whole: np.ndarray, unit: int, C: np.ndarray, used: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Prices that prove the plan: equal to the cost where mass goes, and as small as they can be.

    Shortest ways (Bellman and Ford) from everywhere at once: through any cell forward, and back
    through the cells in use. A forbidding cost that no mass has to pay enters no price.
    """
    u, v = np.zeros(len(whole), dtype=whole.dtype), np.zeros(whole.shape[1], dtype=whole.dtype)
    cells = np.argwhere(used)
    for _ in range(2 * sum(whole.shape)):
        lower = np.minimum(v, (whole - u[:, None]).min(axis=0))
        raised = u.copy()
        for i, j in cells:
            raised[i] = max(raised[i], whole[i, j] - lower[j])
        if (lower == v).all() and (raised == u).all():
            break
        u, v = raised, lower
    paid = max((abs(int(whole[i, j])) for i, j in cells), default=0)
    if abs(int(u[0])) <= paid * sum(whole.shape):  # as a rule the first price is 0
        u, v = u - u[0], v + u[0]
    u = np.array([int(x) / unit for x in u])
    return u, np.minimum([int(x) / unit for x in v], (C - u[:, None]).min(axis=0))


def _potentials(C: np.ndarray, cells: list[Cell]) -> tuple[np.ndarray, np.ndarray, list[int]]:
    """Prices with u_i + v_j = C_ij on the tree, from u_0 = 0; and each node's parent.

    Rows are the nodes 0 … m−1, columns the nodes m … m+n−1.
    """
    m, n = C.shape
    neighbors: list[list[int]] = [[] for _ in range(m + n)]
    for i, j in cells:
        neighbors[i].append(m + j)
        neighbors[m + j].append(i)
    price, parents, waiting = [0] * (m + n), [-1] * (m + n), [0]
    for node in waiting:  # grows while it is walked through
        for other in neighbors[node]:
            if other != parents[node]:
                cell = (node, other - m) if node < m else (other, node - m)
                price[other], parents[other] = int(C[cell]) - price[node], node
                waiting.append(other)
    return np.array(price[:m], C.dtype), np.array(price[m:], C.dtype), parents


def _cycle(parents: list[int], m: int, i: int, j: int) -> tuple[list[Cell], list[Cell]]:
    """The cells that lose and those that win when mass is shifted into the cell (i, j)."""
    nodes = _tree_path(parents, i, m + j)  # row, column, row, …, column
    rows, columns = nodes[::2], [node - m for node in nodes[1::2]]
    losing = list(zip(rows, columns, strict=True))
    return losing, [(i, j), *zip(rows[1:], columns[:-1], strict=True)]


def _tree_path(parents: list[int], start: int, end: int) -> list[int]:
    """The nodes on the way through the tree, both ends included."""
    up = [_ancestors(parents, node) for node in (start, end)]
    while len(up[0]) > 1 and len(up[1]) > 1 and up[0][-2] == up[1][-2]:
        up[0].pop()  # above the place where the two ways meet
        up[1].pop()
    return up[0] + up[1][-2::-1]


def _ancestors(parents: list[int], node: int) -> list[int]:
    """The node, its parent, and so on up to the root."""
    line = [node]
    while parents[line[-1]] >= 0:
        line.append(parents[line[-1]])
    return line


# -- approximate plans ----------------------------------------------------------------------------


def greedy_plan(C: Any, p: Any, q: Any) -> np.ndarray:
    """Always use the cheapest pair that is left, for all it takes: quick, but not always best."""
    C, p, q = _checked(C, p, q)
    left, wanted, P = p.copy(), q.copy(), np.zeros(C.shape)
    for k in np.argsort(C, axis=None, kind="stable"):
        i, j = np.unravel_index(k, C.shape)
        P[i, j] = moved = min(left[i], wanted[j])
        left[i] -= moved
        wanted[j] -= moved
    return P


@answer
def sinkhorn(
    C: Any, p: Any, q: Any, epsilon: float, rounds: int = 10_000, tolerance: float = 1e-9
) -> np.ndarray:
    """The plan exp(a_i + b_j − C_ij/ε) with the right sums: rows and columns are mended in turn.

    All in logarithms: exp(−C/ε) itself would underflow for a small ε. Stops when the rows are
    right within the tolerance (relative) or the rounds are used up; the columns are then exact.
    """
    C, p, q = _checked(C, p, q)
    if not epsilon > 0:
        raise ValueError(f"ε must be positive; it is {epsilon}.")
    with np.errstate(divide="ignore"):  # where there is no mass, log gives −∞ and exp takes it back
        log_p, log_q = np.log(p), np.log(q)
    K, a, b, used = -C / epsilon, np.zeros(len(p)), np.zeros(len(q)), p > 0
    for done in range(rounds):
        before, a = a, log_p - _log_sum_exp(K + b, axis=1)
        if done and np.abs(a[used] - before[used]).max() <= tolerance:
            a = before  # the columns are exact with these
            break
        b = log_q - _log_sum_exp(K + a[:, None], axis=0)
    return np.exp(K + a[:, None] + b)


def _log_sum_exp(A: np.ndarray, axis: int) -> np.ndarray:
    highest = A.max(axis=axis, keepdims=True)
    return np.log(np.exp(A - highest).sum(axis=axis)) + highest.squeeze(axis)


# -- what comes in --------------------------------------------------------------------------------


def _masses(mass: Any) -> np.ndarray:
    mass = np.asarray(mass, float)
    if mass.ndim != 1 or not mass.size:
        raise ValueError("Masses come as a list of numbers, at least one.")
    if not np.isfinite(mass).all() or (mass < 0).any():
        raise ValueError("Masses are finite and not negative.")
    if not mass.sum() > 0:
        raise ValueError("There is no mass to move.")
    return mass


def _same_total(p: np.ndarray, q: np.ndarray) -> None:
    if abs(p.sum() - q.sum()) > ROUNDING * p.sum():
        raise ValueError(
            f"The masses differ in total: {p.sum():.12g} is there and {q.sum():.12g} is wanted. "
            "Divide each side by its total to compare them as probabilities."
        )


def _checked(C: Any, p: Any, q: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    C, p, q = np.asarray(C, float), _masses(p), _masses(q)
    if C.shape != (len(p), len(q)):
        raise ValueError(
            f"The cost table has shape {C.shape}; {len(p)} rows and {len(q)} columns are needed."
        )
    if not np.isfinite(C).all():
        raise ValueError("Every cost must be a finite number.")
    _same_total(p, q)
    return C, p, q
