"""Unit 02, momentum: the numbers of a student's own. Id 0 has those of the homework."""

from __future__ import annotations

import re
from dataclasses import dataclass
from math import gcd
from typing import Any

from selfcheck.ids import student_id
from selfcheck.own_numbers import Listed, rng_for


@dataclass(frozen=True)
class Derivation:
    """A rule, and lines that write its move by the move before; one line does not follow.

    v_t = β v_{t−1} + share·g_t and Δθ_t = −δ v_t/parts. In formulas v_{t−1} is called v_prev, and
    Δθ_{t−1} is called step. Lines are numbered from `first` on, as in the middle of a text.
    """

    share: str
    parts: int
    lines: tuple[str, ...]
    first: int = 1

    @property
    def velocity(self) -> str:
        """v_t as a formula."""
        return f"beta*v_prev + {self.share}*g"

    def __repr__(self) -> str:
        lines = [f"({k})  {_spelled(line)}" for k, line in enumerate(self.lines, self.first)]
        rule = [f"v_t = {_spelled(self.velocity)}", f"Δθ_t = {_spelled(self.lines[0])}"]
        return "\n".join(["the rule:", *rule, "lines for Δθ_t:", *lines])


def _spelled(formula: str) -> str:
    """A formula as it is read."""
    names = {"beta": "β", "delta": "δ", "v_prev": "v_{t−1}", "step": "Δθ_{t−1}", "g": "g_t"}
    for name, letter in (names | {"v": "v_t"}).items():
        formula = re.sub(rf"\b{name}\b", letter, formula)
    return formula.replace("-", "−").replace("*", "·")


# Lines from the second on, and what stands from a slip on. A slip is followed truly to the end.
_TRUE = (
    "-delta*(beta*v_prev + {c}*g)/{k}",
    "-beta*delta*v_prev/{k} - {c}*delta*g/{k}",
    "beta*step - {c}*delta*g/{k}",
    "({k}*beta*step - {c}*delta*g)/{k}",
)
_SLIPS = (
    ("-delta*(beta*v_prev + g)/{k}", "-beta*delta*v_prev/{k} - delta*g/{k}",
     "beta*step - delta*g/{k}", "({k}*beta*step - delta*g)/{k}"),
    ("-beta*delta*(v_prev + {c}*g)/{k}", "-beta*delta*v_prev/{k} - {c}*beta*delta*g/{k}",
     "beta*step - {c}*beta*delta*g/{k}", "beta*({k}*step - {c}*delta*g)/{k}"),
    ("-beta*delta*v_prev/{k} + {c}*delta*g/{k}", "beta*step + {c}*delta*g/{k}",
     "({k}*beta*step + {c}*delta*g)/{k}"),
    ("-beta*delta*v_prev/{k} - {c}*delta*g", "beta*step - {c}*delta*g",
     "beta*step - delta*{c}*g"),
    ("-beta*delta*step/{k} - {c}*delta*g/{k}", "-delta*(beta*step + {c}*g)/{k}"),
    ("-beta*step - {c}*delta*g/{k}", "-({k}*beta*step + {c}*delta*g)/{k}"),
    ("{k}*beta*step - {c}*delta*g/{k}", "({k}*{k}*beta*step - {c}*delta*g)/{k}"),
    ("(beta*step - {c}*delta*g)/{k}",),
    ("{k}*beta*step - {c}*delta*g",),
)  # fmt: skip
HOMEWORK_LINES = (
    "-delta*v",
    "-delta*(beta*v_prev + (1 - beta)*g)",
    "-delta*(beta*step + (1 - beta)*g)",
    "-delta*beta*step - delta*(1 - beta)*g",
)


def _derivation(student: str) -> Derivation:
    if student == "0":
        return Derivation("(1 - beta)", 1, HOMEWORK_LINES)
    draws = rng_for(student, "02_momentum derivation")
    while True:
        c, k = draws.integer(2, 99), draws.integer(2, 99)
        if gcd(c, k) == 1:
            break
    slip = _SLIPS[draws.below(len(_SLIPS))]
    rest = (*_TRUE[: len(_TRUE) - len(slip)], *slip)
    lines = tuple(line.format(c=c, k=k) for line in ("-delta*v/{k}", *rest))
    return Derivation(str(c), k, lines, first=draws.integer(1000, 9990))


@dataclass(frozen=True, repr=False)
class Momentum(Listed):
    """One student's valley: the slopes of its gradient along the flattest and steepest axis.

    `derivation` is a calculation with a rule of the student's own, and has a slip in it.
    """

    smallest: int
    largest: int

    @property
    def derivation(self) -> Derivation:
        """The rule and the lines, of which one does not follow."""
        return _derivation(self.student)

    def __repr__(self) -> str:
        return f"{super().__repr__()}\n{self.derivation}"


def momentum(student: Any) -> Momentum:
    """The valley of this student for unit 02: slopes are one number times two squares."""
    student = student_id(student)
    if student == "0":
        return Momentum(student, 1, 100)
    draws = rng_for(student, "02_momentum")
    while True:
        times, low, high = draws.integer(1, 60), draws.integer(1, 12), draws.integer(3, 30)
        if high >= 2 * low and gcd(low, high) == 1:
            return Momentum(student, times * low**2, times * high**2)
