"""A student id → that student's numbers: the same for ever, on every platform and version.

An id is a whole number from 0 up, or text: a student number, an e-mail address, a name. Capital and
small letters are alike, and so are one blank and many; blanks at the ends do not count. Thus 7, "7"
and " 7 " are one student, while "007" is another.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass, replace
from hashlib import sha256
from typing import Any

import numpy as np

from .ids import student_id


@dataclass(frozen=True)
class OwnNumbers:
    """The numbers of a student's own, by the id, as an exercise uses them.

    Mistakes that can be computed from them are shown with the numbers of `example`, and known in an
    answer that agrees `within` this relative error (0 means exactly, None as numbers are compared).
    """

    make: Callable[[Any], Any]
    example: Any = 0
    within: float | None = None

    def __call__(self, student: Any) -> Any:
        return self.make(student)


def as_own_numbers(numbers: Callable[[Any], Any] | None) -> OwnNumbers | None:
    """A plain function of the id as well."""
    if numbers is None or isinstance(numbers, OwnNumbers):
        return numbers
    return OwnNumbers(numbers)


class Draws:
    """Whole numbers from SHA-256, for neither NumPy nor Python promises a stream for ever."""

    def __init__(self, key: str) -> None:
        self._key, self._count = key, 0

    def below(self, n: int) -> int:
        """One of 0 … n−1, each equally likely."""
        while True:
            block = sha256(f"{self._key}:{self._count}".encode()).digest()
            self._count += 1
            word = int.from_bytes(block[:8], "big")
            if word < 2**64 - 2**64 % n:  # beyond the last full round of n, draw again
                return word % n

    def integer(self, low: int, high: int) -> int:
        """One of low … high, both included."""
        return low + self.below(high - low + 1)

    def matrix(self, low: int, high: int, rows: int, columns: int) -> np.ndarray:
        """A matrix of such numbers."""
        drawn = [self.integer(low, high) for _ in range(rows * columns)]
        return np.array(drawn, dtype=np.int64).reshape(rows, columns)


def rng_for(student: Any, unit: str) -> Draws:
    """This student's source of numbers in this unit, from its beginning."""
    return Draws(f"{unit}:{student_id(student)}")


@dataclass(frozen=True)
class Listed:
    """Numbers of one student that print as a list."""

    student: str

    def __repr__(self) -> str:
        named = [(field.name, getattr(self, field.name)) for field in fields(self)[1:]]
        return "\n".join([f"Numbers of student {self.student}", *(f"{n} = {v}" for n, v in named)])


def shuffled(draws: Draws, n: int) -> list[int]:
    """0 … n−1 in a random order."""
    left = list(range(n))
    return [left.pop(draws.below(len(left))) for _ in range(n)]


def as_list(student: str, named: dict[str, Any]) -> str:
    """Numbers with their names, one a line, as text."""
    wide = max(map(len, named))
    words = {k: value if isinstance(value, str) else f"{value:,}" for k, value in named.items()}
    lines = [f"{name:<{wide}}  {value}" for name, value in words.items()]
    return "\n".join([f"Numbers of student {student}", "", *lines])


def side_by_side(matrices: dict[str, np.ndarray], decimals: int = 3) -> str:
    """Matrices with their names above them, as text."""
    blocks = []
    for name, A in matrices.items():
        digits = decimals if A.dtype.kind == "f" else 0
        wide = max(len(f"{entry:.{digits}f}") for entry in A.flat)
        rows = ["[" + " ".join(f"{entry:{wide}.{digits}f}" for entry in row) + "]" for row in A]
        width = max(map(len, [name, *rows]))
        blocks.append([f"{line:<{width}}" for line in [name, *rows]])
    return "\n".join("   ".join(lines).rstrip() for lines in zip(*blocks, strict=True))


def read_only(part: Any) -> Any:
    """The same numbers, protected: every later call hands out these very arrays."""
    if isinstance(part, tuple):
        return tuple(map(read_only, part))
    if is_dataclass(part) and not isinstance(part, type):
        return replace(part, **{f.name: read_only(getattr(part, f.name)) for f in fields(part)})
    part.setflags(write=False)
    return part
