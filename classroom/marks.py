"""The marks in a solution notebook: what is the solution, and what students find in its place.

    ### BEGIN SOLUTION
    alpha, epsilon = ...
    ### STUB
    # alpha, epsilon = ____, ____
    ### END SOLUTION

Anything that looks like a mark and is not exactly one, or is out of place, is refused.
"""

from __future__ import annotations

import difflib
import re
from typing import TYPE_CHECKING

from selfcheck.files import CourseError
from selfcheck.sealed import BEGIN, END, MARKS, STUB, parts

if TYPE_CHECKING:
    from nbformat import NotebookNode

__all__ = ["BEGIN", "END", "INSTRUCTOR_ONLY", "MARKS", "STUB", "parts"]
INSTRUCTOR_ONLY = "instructor-only"


def without_solution(cell: NotebookNode, name: str) -> str:
    """The cell's source with every solution region replaced by its stub."""
    refuse_bad_marks(cell, name)
    kept = []
    for part, line in parts(cell.source):
        if part == STUB:
            indent = line[: len(line) - len(line.lstrip())]
            kept.append(indent + line.strip().removeprefix("#").removeprefix(" "))
        elif part is None:
            kept.append(line)
    return "\n".join(kept)


def refuse_bad_marks(cell: NotebookNode, name: str) -> None:
    """Regions are BEGIN, STUB, END in this order, in code cells; nothing else looks like one."""
    where = f"{name}, cell {cell.id}"
    resembles = _resembles_code_mark if cell.cell_type == "code" else _resembles_text_mark
    seen = []
    for number, line in enumerate(cell.source.splitlines(), start=1):
        mark = line.strip()
        if mark in MARKS and cell.cell_type == "code":
            seen.append(mark)
        elif resembles(mark):
            raise CourseError(
                f"{where}, line {number}: {mark!r} looks like a mark but is none. Marks are "
                f"{', '.join(MARKS)}, in code; text for instructors is tagged {INSTRUCTOR_ONLY}."
            )
    if seen != list(MARKS) * (len(seen) // 3):
        raise CourseError(
            f"{where}: the marks are {', '.join(seen)}; each region needs {', '.join(MARKS)}."
        )
    for part, line in parts(cell.source):
        if part == STUB and line.strip() and not line.strip().startswith("#"):
            raise CourseError(f"{where}: the stub line {line.strip()!r} is not commented out.")
    if seen and not any("____" in line for part, line in parts(cell.source) if part != BEGIN):
        raise CourseError(f"{where}: nothing is left for the student; the stub needs a ____.")


def _resembles_code_mark(line: str) -> bool:
    """Three #, or a comment that speaks of solutions or stubs or is nearly a mark."""
    code, _, comment = line.partition("#")
    words = comment.strip("# ").lower()
    return (
        "###" in line
        or bool(re.search(r"soluti|\bstub", words))
        or (not code and _near_mark(words))
        or bool(re.search(r"(begin|end)\W*solution", line.lower()))
    )


def _resembles_text_mark(line: str) -> bool:
    """A heading or label that says solution, nearly a mark, or a comment hidden in the text."""
    words = line.strip("#*_`<>!-=[](): \t").lower()
    return "<!--" in line or bool(re.match(r"soluti|stub\b", words)) or _near_mark(words) or (
        line.startswith("#") and "solution" in words
    )  # fmt: skip


def _near_mark(words: str) -> bool:
    return any(_are_alike(words, mark) for mark in ("begin solution", "end solution"))


def _are_alike(one: str, other: str) -> bool:
    if 2 * min(len(one), len(other)) <= 0.75 * (len(one) + len(other)):
        return False  # whatever the letters are
    two = difflib.SequenceMatcher(None, one, other)
    return two.quick_ratio() > 0.75 and two.ratio() > 0.75
