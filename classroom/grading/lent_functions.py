"""Functions that a check lends to a student's function: the child has its own, by their place."""

from __future__ import annotations

import contextlib
import importlib
import sys
import types
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from selfcheck.course import belongs
from selfcheck.reserved import Forbidden, functions_behind


@contextlib.contextmanager
def lending(arguments: Iterable[Any]) -> Iterator[None]:
    """While students' code runs under bans: the functions among these run as they are."""
    lent = {id(f) for f in functions_behind(arguments)} if Forbidden.active else set()
    banned = [(f, f.__code__, own) for f, own, _ in Forbidden.found or () if id(f) in lent]
    try:
        for f, _, own in banned:
            f.__code__ = own
        yield
    finally:
        for f, before, _ in banned:
            f.__code__ = before


def place_of(function: Any) -> str:
    """`numpy.tanh`, `sums.running.total`: where every process has it; else nothing."""
    if not isinstance(function, np.ufunc | types.FunctionType):
        return ""
    name: str = function.__name__
    module = "numpy" if isinstance(function, np.ufunc) else function.__module__
    ours = module.partition(".")[0] in ("numpy", "selfcheck") or belongs(module)
    found = getattr(sys.modules.get(module), name, None) if ours else None
    return f"{module}.{name}" if found is function else ""


def at_place(place: str) -> Any:
    """The function that has this place."""
    module, _, name = place.rpartition(".")
    return getattr(importlib.import_module(module), name)
