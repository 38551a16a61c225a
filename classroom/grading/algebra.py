"""SymPy as the grader loads it: what hardly anybody uses waits until it is asked for."""

from __future__ import annotations

import importlib
import sys
import types
from typing import Any


def load_sympy() -> None:
    """Load it with all that a sum needs; polyhedra work out their groups when they are loaded."""
    _load("sympy", "geometry", "plotting")
    _load("sympy.combinatorics", "polyhedron")
    importlib.import_module("sympy.tensor.tensor")


def _load(package: str, *late: str) -> None:
    """A package without these modules, of which it only takes names to pass them on."""
    if package in sys.modules:
        return
    home: dict[str, str] = {}  # of each name that is passed on, the module
    for module in late:
        stand_in = types.ModuleType(f"{package}.{module}")
        vars(stand_in)["__getattr__"] = lambda name, module=module: home.setdefault(name, module)
        sys.modules[stand_in.__name__] = stand_in
    loaded = importlib.import_module(package)
    for module in late:
        del sys.modules[f"{package}.{module}"]
    for name in [name for name in home if name.startswith("_")]:
        del home[name]
    for name in home:
        delattr(loaded, name)

    def come(name: str) -> Any:
        if name not in home and name not in late:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = importlib.import_module(f"{package}.{home.get(name, name)}")
        return module if name in late else getattr(module, name)

    vars(loaded)["__getattr__"] = come
