"""Unit 12, the capstone: the numbers of a student's own. Id 0 has those of the homework."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from selfcheck.ids import student_id
from selfcheck.own_numbers import rng_for

BACKWARD_LINES = (
    "A = attention_weights(Q, K)",
    "d_V = A.T @ G",
    "d_A = G @ V.T",
    "d_S = A * (d_A - (d_A * A).sum(axis=1, keepdims=True))",
    "d_Q = d_S @ K / np.sqrt(Q.shape[1])",
    "d_K = d_S.T @ Q / np.sqrt(Q.shape[1])",
)
BUGS = (
    (2, "d_V = A @ G"),
    (3, "d_A = G @ V.T / np.sqrt(Q.shape[1])"),
    (4, "d_S = A * (d_A - (d_A * A).sum(axis=0, keepdims=True))"),
    (4, "d_S = A * (d_A - d_A.mean(axis=1, keepdims=True))"),
    (5, "d_Q = d_S @ K"),
    (6, "d_K = d_S @ Q / np.sqrt(Q.shape[1])"),
)


@dataclass(frozen=True)
class Pass:
    """One student's backward pass of softmax attention; one of its six lines is wrong."""

    student: str
    lines: tuple[str, ...]

    def __repr__(self) -> str:
        lines = [f"{number}  {line}" for number, line in enumerate(self.lines, start=1)]
        return "\n".join([f"Lines of student {self.student}", "", *lines])


def capstone(student: Any) -> Pass:
    """The backward pass of this student for unit 12."""
    student = student_id(student)
    number, bug = BUGS[rng_for(student, "12_capstone").below(len(BUGS))]
    return Pass(student, (*BACKWARD_LINES[: number - 1], bug, *BACKWARD_LINES[number:]))
