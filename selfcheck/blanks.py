"""The placeholder `____` that students replace, and where one is still left."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from .formula import sympy_kind
from .refusals import NotAttempted


class Blank:
    """The placeholder `____`. Whatever is computed with it stays blank, so nothing crashes."""

    is_blank = True
    __hash__ = object.__hash__

    def __repr__(self) -> str:
        return "____"

    def __format__(self, _: str) -> str:
        return "____"

    def _sympy_(self) -> Any:
        import sympy

        return sympy.Symbol("____")

    def _stay_blank(self, *args: Any, **kwargs: Any) -> Blank:
        return self

    __call__ = __getitem__ = __array_ufunc__ = __array_function__ = __round__ = _stay_blank
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __matmul__ = _stay_blank
    __rmatmul__ = __truediv__ = __rtruediv__ = __floordiv__ = __rfloordiv__ = _stay_blank
    __mod__ = __rmod__ = __pow__ = __rpow__ = __neg__ = __pos__ = __abs__ = __invert__ = _stay_blank
    __and__ = __rand__ = __or__ = __ror__ = __xor__ = __rxor__ = _stay_blank
    __lt__ = __le__ = __gt__ = __ge__ = __eq__ = __ne__ = _stay_blank  # type: ignore[assignment]

    def __setitem__(self, key: Any, value: Any) -> None:
        pass

    def __getattr__(self, name: str) -> Blank:
        if name.startswith("_"):
            raise AttributeError(name)
        return self

    def _refuse(self, *args: Any) -> Any:
        raise NotAttempted

    __iter__ = __next__ = __bool__ = __len__ = __enter__ = _refuse
    __float__ = __int__ = __index__ = __complex__ = _refuse


____ = Blank()
_BLANK_TEXT = re.compile(r"(?<!\w)____(?!\w)")
_PLAIN = {int, float, bool, complex, np.float64, np.int64}  # no blank hides in them
_INSIDE = {list: list.__iter__, tuple: tuple.__iter__, set: set.__iter__, dict: dict.values}


def has_blank(answer: Any) -> bool:
    """Is there a `____` in this answer, also inside lists, dictionaries, arrays and formulas?"""
    seen, waiting = set(), [answer]
    while waiting:
        part = waiting.pop()
        kind = type(part)  # not isinstance, which asks the object itself
        if id(part) in seen:
            continue
        seen.add(id(part))
        if kind is np.ndarray and part.dtype != object:
            continue
        if issubclass(kind, Blank) or (issubclass(kind, str) and _BLANK_TEXT.search(part)):
            return True
        if sympy_kind(part) and any(str(s) == "____" for s in part.free_symbols):
            return True
        if issubclass(kind, np.ndarray) and part.dtype == object:
            waiting += np.ndarray.flatten(part).tolist()
        for container, values in _INSIDE.items():
            if issubclass(kind, container):
                waiting += (x for x in values(part) if type(x) not in _PLAIN)
    return False
