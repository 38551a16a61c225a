"""A student id → that student's numbers: the same for ever. Id 0 has those of the lecture."""

from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from selfcheck.ids import student_id


@dataclass(frozen=True)
class Sums:
    """Four numbers to add."""

    student: str
    numbers: tuple[int, ...]

    def __repr__(self) -> str:
        return f"Numbers of student {self.student}: {', '.join(map(str, self.numbers))}"


def sums(student: Any) -> Sums:
    """The numbers of this student for unit 01."""
    student = student_id(student)
    if student == "0":
        return Sums(student, (1, 2, 3, 6))
    drawn = sha256(f"01_sums:{student}".encode()).digest()[:4]
    return Sums(student, tuple(10 * place + byte % 10 for place, byte in enumerate(drawn, start=1)))
