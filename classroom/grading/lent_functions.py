"""Functions that a check lends to a student's function: the child has its own, by their place."""

from __future__ import annotations

import importlib
import inspect
import sys
import types
from typing import Any

import numpy as np

from selfcheck.course import belongs


def place_of(function: Any) -> str:
    """`numpy.tanh`, `sums.running.total`: where every process has it; else nothing."""
    if not isinstance(function, np.ufunc | types.FunctionType):
        return ""
    name: str = function.__name__
    module = "numpy" if isinstance(function, np.ufunc) else function.__module__
    ours = module.partition(".")[0] in ("numpy", "selfcheck") or belongs(module)
    found: Any = getattr(sys.modules.get(module), name, None) if ours else None
    return f"{module}.{name}" if inspect.unwrap(found) is inspect.unwrap(function) else ""


def at_place(place: str) -> Any:
    """The function that has this place."""
    module, _, name = place.rpartition(".")
    return getattr(importlib.import_module(module), name)
