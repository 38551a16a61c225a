"""Student ids in their one spelling."""

from __future__ import annotations

import sys
import unicodedata
from typing import Any

LONGEST_ID = 100


def student_id(student: Any) -> str:
    """The id in its one spelling; what cannot be an id gets a sentence as ValueError."""
    if isinstance(student, bool) or not isinstance(student, _kinds()):
        kind = type(student).__name__
        raise ValueError(f"A student id is a whole number or a text in quotes, not a {kind}.")
    if not isinstance(student, str) and not 0 <= int(student) < 10**LONGEST_ID:
        raise ValueError("A student id that is a number is neither negative nor that large.")
    spelled = unicodedata.normalize("NFKC", str(student)).casefold()
    spelled = " ".join(unicodedata.normalize("NFKC", spelled).split())
    if not spelled:
        raise ValueError("The student id is empty; write your student number or your e-mail.")
    if len(spelled) > LONGEST_ID or not spelled.isprintable():
        raise ValueError(f"A student id is one line of at most {LONGEST_ID} characters.")
    return spelled


def _kinds() -> tuple[Any, ...]:
    """What can be an id; NumPy's whole numbers, where it is loaded."""
    numpy = sys.modules.get("numpy")
    return (int, str, numpy.integer) if numpy else (int, str)
