"""A quantity that keeps how it was computed, so that a function of it becomes a formula.

`f(Written("beta"), Written("t"))` is the text of what f computes. NumPy's functions of one
argument ask an object for a method of their name, SymPy's for `_sympy_`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from .formula import CONSTANTS, FUNCTIONS, FormulaError, as_text, read_formula

SIGNS = {"add": "+", "sub": "-", "mul": "*", "truediv": "/", "pow": "**"}
NUMPY = {"arcsin": "asin", "arccos": "acos", "arctan": "atan", "absolute": "abs", "fabs": "abs"}


class Written:
    """A formula that grows by what is done with it."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __str__(self) -> str:
        return self.text

    __repr__ = __str__

    def _sympy_(self) -> Any:
        letters = {*re.findall(r"[^\W\d]\w*", self.text)} - FUNCTIONS.keys() - CONSTANTS.keys()
        return read_formula(self.text, letters).to_sympy()

    def __bool__(self) -> bool:
        raise TypeError("a line is one formula, and asks nothing of its quantities")

    __float__ = __int__ = __index__ = __iter__ = __len__ = __bool__

    def __neg__(self) -> Written:
        return Written(f"-({self})")

    def __abs__(self) -> Written:
        return Written(f"abs({self})")

    def __getattr__(self, name: str) -> Callable[[], Written]:
        if (known := NUMPY.get(name, name)) not in FUNCTIONS:
            raise AttributeError(f"a quantity has no {name}")
        return lambda: Written(f"{known}({self})")


def _operation(sign: str, turned: bool) -> Callable[[Written, Any], Any]:
    def operation(own: Written, other: Any) -> Any:
        try:
            texts = [own.text, other.text if isinstance(other, Written) else as_text(other)]
        except FormulaError:
            return NotImplemented
        left, right = texts[::-1] if turned else texts
        return Written(f"({left}){sign}({right})")

    return operation


for _name, _sign in SIGNS.items():
    setattr(Written, f"__{_name}__", _operation(_sign, turned=False))
    setattr(Written, f"__r{_name}__", _operation(_sign, turned=True))
