"""SymPy as the grader loads it: what it would work out for its first sum waits until it is used."""

from __future__ import annotations

import importlib
import sys
import types
from typing import Any

POLYHEDRA = "sympy.combinatorics.polyhedron"  # their groups are worked out when they are loaded


def load_sympy() -> None:
    """Load it with all that a sum needs; polyhedra come when somebody asks for one."""
    import sympy  # noqa: F401

    if "sympy.combinatorics" in sys.modules:
        return
    names: list[str] = []
    stand_in = types.ModuleType(POLYHEDRA)
    vars(stand_in)["__getattr__"] = names.append
    sys.modules[POLYHEDRA] = stand_in
    package = importlib.import_module("sympy.combinatorics")
    del sys.modules[POLYHEDRA]
    late = {name for name in names if not name.startswith("_")}
    for name in late:
        delattr(package, name)

    def come(name: str) -> Any:
        if name not in (*late, "polyhedron"):
            raise AttributeError(f"module {package.__name__!r} has no attribute {name!r}")
        polyhedra = importlib.import_module(POLYHEDRA)
        return getattr(polyhedra, name, polyhedra)

    vars(package)["__getattr__"] = come
    importlib.import_module("sympy.tensor.tensor")
