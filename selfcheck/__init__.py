"""Homework that checks itself: exercises, kinds of answer, verdicts, derivations, a meter.

    from selfcheck import Number, exercise, right, wrong

Nothing heavy is loaded until it is used. The package knows no course; see README.md beside it.
"""

from importlib import import_module
from typing import Any

__version__ = "0.3.0"
__machine__ = True  # what it does with NumPy is not counted
_HOMES = {
    "____": "blanks",
    "Array": "kinds",
    "Choice": "kinds",
    "Formula": "kinds",
    "FormulaAnswer": "kinds",
    "Function": "kinds",
    "FunctionAnswer": "calls",
    "Number": "kinds",
    "StudentId": "kinds",
    "Verdict": "verdicts",
    "answer": "reserved",
    "cases": "sampling",
    "differs": "verdicts",
    "each": "per_case",
    "exercise": "exercises",
    "partly": "verdicts",
    "right": "verdicts",
    "scoreboard": "scores",
    "show": "display",
    "wrong": "verdicts",
}
__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(f".{_HOMES[name]}", __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
