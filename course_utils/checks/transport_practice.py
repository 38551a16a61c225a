"""Unit 11: sister tasks for practice."""

from __future__ import annotations

from typing import Any

import numpy as np

from selfcheck.practice import tenths

from . import transport as check

MASSES = "Masses $p = <p>$ lie at $x = <x>$ and are wanted as $q = <q>$ at $y = <y>$. "


def _needs(*names: str):
    return lambda n: {name: getattr(n, name) for name in names}


ALL = _needs("x", "p", "y", "q")
check.plan_cost.sister(
    r"Mass lies at $x = <x>$ and goes to $y = <y>$ by the plan $<plan>$ (a row for each $x$). "
    r"What does the plan cost when a unit of mass pays the distance?",
    needs=_needs("x", "y", "plan"),
)
check.feasible_plan.sister(
    r"Find a plan that moves $p = <p>$ (rows) to $q = <q>$ (columns), and is not $<plan>$.",
    needs=_needs("p", "q", "plan"),
)
check.two_optimal_plans.sister(
    MASSES + "A unit of mass pays the distance. Find two different plans of the lowest cost, "
    "tables with a row for each $x$.",
    needs=ALL,
)
check.certificate.sister(
    MASSES + "Find prices `f` at the places $<places>$ that change by at most 1 a unit of way, "
    "and earn (sold at $y$, bought at $x$) what the best plan costs.",
    needs=_needs("x", "p", "y", "q", "places"),
)


def _masses(rng: np.random.Generator, last: int = 40) -> dict[str, Any]:
    """Three places on either side, unsorted, with the same total."""
    total, (x, y) = int(rng.integers(5, 20)), (rng.permutation(last)[:3] for _ in range(2))
    p, q = (np.bincount(rng.integers(0, 3, total), minlength=3) + 1 for _ in range(2))
    return {"x": x, "p": p, "y": y, "q": q}


check.wasserstein_1d.sister(
    MASSES + "What is $W_1$ between the two as probabilities? Three digits are enough.",
    lambda x, p, y, q: check._w1(x, p / 1, y, q / 1),
    _masses,
)
check.greedy_loses.sister(
    "Masses $p = <p>$ lie at $x = <x>$. Find places `bad_y` and masses `bad_q` for them (at most "
    "five, of the same total, other than $q = <q>$ at $y = <y>$) on which greedy "
    "nearest matching is not optimal when a unit of mass pays the distance.",
    needs=ALL,
)
check.squared_plan.sister(
    MASSES + "A unit of mass pays the *squared* distance. Find the one plan of the lowest cost.",
    needs=ALL,
)


def _smooth(rng: np.random.Generator) -> dict[str, Any]:
    C, total = rng.integers(0, 6, (2, 2)), int(rng.integers(3, 9))
    p, q = (np.array([k, total - k]) for k in rng.integers(1, total, 2))
    epsilon = float(rng.choice(tenths(5, 30)))
    return {"C": C, "p": p, "q": q, "epsilon": epsilon, "rounds": int(rng.integers(1, 4))}


check.sinkhorn.sister(
    r"Costs $C = <C>$, masses $p = <p>$ and $q = <q>$, $\varepsilon = <epsilon>$. What is "
    r"Sinkhorn's plan after <rounds> round(s), each of which scales first the rows and then "
    r"the columns of $e^{-C/\varepsilon}$? Three digits are enough.",
    check.by_logarithms,
    _smooth,
)
check.on_a_circle.sister(
    MASSES + "They lie on a circle of length <length>, and a unit of mass pays the shorter way "
    "round. What is the lowest cost?",
    check.around,
    lambda rng: (lambda length: {**_masses(rng, length), "length": length})(
        int(rng.integers(20, 99))
    ),
)
check.moving_places.sister(
    MASSES + "A unit of mass pays the squared distance, and always the best plan is taken. What "
    "is the `slope` of its cost by each place of $x$, and with which places "
    "`best_places` in order would it be lowest?",
    needs=ALL,
)
