"""A case that refutes an answer is made smaller, as long as it refutes.

Nothing is cut out of arrays: the case is drawn anew by the same function, with smaller sizes and
rounder numbers, so that whatever holds between its parts holds still.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from .compare import real_array
from .corners import Corner, Plan, Source, excluded

SMALL = 40  # numbers of a case that is left as it was written
MOST = 60  # cases that are tried
ORDINARY = 4  # of them, without anything special


def smaller(plan: Plan, refutes: Callable[[Plan], bool]) -> Plan:
    """The smallest plan that was found; the plan itself where there is no smaller one."""
    if plan.draw is None or not plan.may_shrink or (_is_given(plan) and _is_small(plan.given)):
        return plan
    left = [MOST]

    def still(other: Plan) -> bool:
        left[0] -= 1
        return left[0] >= 0 and refutes(other)

    plan = next(filter(still, _ordinary(plan)), plan)
    if plan.corner is None:  # drawn with sizes that nobody noted
        return plan
    for change in (_values, _sizes, _options, _digits):
        plan = change(plan, still)
    return plan


def _is_given(plan: Plan) -> bool:
    """Is it a case that somebody wrote down?"""
    return plan.given is not None and plan.corner is None


def _is_small(case: Any) -> bool:
    """Can it be followed with a pencil?"""
    parts = case if isinstance(case, tuple) else (case,)
    return sum(np.size(part) for part in parts if isinstance(part, np.ndarray)) <= SMALL


def _ordinary(plan: Plan) -> Iterator[Plan]:
    """Small cases without anything special."""
    for seed in range(ORDINARY):
        yield plan.but(kind="", seed=[2, seed], corner=Corner())


def _asked(plan: Plan) -> tuple[Corner, Source]:
    """The corner of a plan, and all that its function asks for there."""
    corner = plan.corner or Corner()
    source = Source(plan.seed, corner)
    if plan.draw is not None:
        plan.draw(source)
    return corner, source


def _values(plan: Plan, still: Callable[[Plan], bool]) -> Plan:
    """Only one array special, and the others as they come."""
    corner, source = _asked(plan)
    every = dict.fromkeys(range(min(source.values_asked, 6)), corner.all_values)
    rules = {i: rule for i, rule in (corner.values or every).items() if rule}
    if len(rules) < 2:
        return plan
    alone = (
        plan.but(kind=r, corner=replace(corner, kind=r, values={i: r}, all_values=""))
        for i, r in rules.items()
    )
    return next(filter(still, alone), plan)


def _sizes(plan: Plan, still: Callable[[Plan], bool]) -> Plan:
    """All sizes that are equal together, and each by itself, as small as they may be."""
    ranges, given = _asked(plan)[1].sizes_asked, _asked(plan)[1].given
    together = [[i for i, n in enumerate(given) if n == size] for size in dict.fromkeys(given)]
    alone = [[i] for i in range(len(ranges))]
    for which in [*(group for group in together if len(group) > 1), *alone]:
        least = max((ranges[i][0] for i in which if i < len(ranges)), default=1)
        plan = next(filter(still, _with_sizes(plan, which, least)), plan)
    return plan


def _with_sizes(plan: Plan, which: list[int], least: int) -> Iterator[Plan]:
    """The same with smaller sizes at these places; those that may not be equal are not."""
    without = excluded(plan.draw) if plan.draw else {}
    corner, source = _asked(plan)
    now = dict(enumerate(source.given))
    kind = "" if corner.kind in ("most", "twice", "equal") else corner.kind
    least += "least" in without
    for size in (least + more for more in (0, 1, 2, 4, 8, 16)):
        is_new = size < now.get(which[0], 0)
        if is_new and not ("equal" in without and size in now.values()):
            sizes = now | dict.fromkeys(which, size)
            yield plan.but(kind=kind, corner=replace(corner, kind=kind, sizes=sizes))


def _options(plan: Plan, still: Callable[[Plan], bool]) -> Plan:
    """Each single draw at its first end."""
    for i in range(len(_asked(plan)[1].options_asked)):
        corner = plan.corner or Corner()
        if i not in corner.options:
            other = plan.but(corner=replace(corner, options={**corner.options, i: 0}))
            plan = other if still(other) else plan
    return plan


def _digits(plan: Plan, still: Callable[[Plan], bool]) -> Plan:
    """Whole numbers, or such with one digit, where numbers may be 0 and the same."""
    if plan.draw is None or {"zero", "same", "repeated"} & {*excluded(plan.draw)}:
        return plan
    every = (plan.but(corner=replace(plan.corner or Corner(), digits=d)) for d in (0, 1))
    return next(filter(still, every), plan)


# -- what is special about a case


def in_words(kind: str, arguments: Mapping[str, Any]) -> str:
    """`K has a row twice`: what a corner of this kind has made of the arguments; perhaps nothing.

    It is read off the arguments themselves, so that it is true of them.
    """
    read = {name: real_array(value) for name, value in arguments.items()}
    arrays = {name: a for name, a in read.items() if a is not None and a.ndim and a.size}
    found = [name for name, array in arrays.items() if kind in _IS and _IS[kind](array)]
    if kind in _IS and found:
        one = len(found) == 1
        return _SAYS[kind].format(_listed(found), "is" if one else "are")
    if kind == "least":
        return _listed([w for name, a in arrays.items() for w in _ones(name, a)][:2])
    if kind in ("most", "twice"):
        long = max(arrays, key=lambda name: max(arrays[name].shape), default="")
        shape = arrays[long].shape if long else ()
        return f"{long} is of shape {shape}" if shape and max(shape) > 12 else ""
    return ""


def _listed(words: list[str]) -> str:
    *first, last = words or [""]
    return f"{', '.join(first)} and {last}" if first else last


def _ones(name: str, array: np.ndarray) -> Iterator[str]:
    if array.shape[0] == 1:
        yield f"{name} has one {'row' if array.ndim > 1 else 'entry'}"
    if array.ndim > 1 and array.shape[1] == 1:
        yield f"{name} has one column"


def _spread(array: np.ndarray) -> bool:
    sizes = np.sort(np.abs(array).ravel())
    return array.size > 1 and bool(sizes[-1] > 50 * sizes[-2])


def _row_twice(array: np.ndarray) -> bool:
    return len(array) > 1 and bool((array[0] == array[-1]).all()) and np.ptp(array) > 0


_IS: dict[str, Callable[[np.ndarray], bool]] = {
    "zero": lambda a: not a.any(),
    "same": lambda a: a.size > 1 and bool(np.ptp(a) == 0),
    "repeated": _row_twice,
    "positive": lambda a: a.size > 1 and bool((a >= 0).all()),
    "negative": lambda a: a.size > 1 and bool((a <= 0).all()),
    "large": _spread,
    "small": lambda a: bool(0 < np.abs(a).max() <= 0.02),
}
_SAYS = {
    "zero": "{} {} all zeros",
    "same": "all numbers of {} are the same",
    "repeated": "the first and the last entry of {} are the same",
    "positive": "no number of {} is negative",
    "negative": "no number of {} is positive",
    "large": "one number of {} is far larger than the others",
    "small": "all numbers of {} are small",
}
