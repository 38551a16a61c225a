"""Arrays that a function reaches without being handed them: they are counted as inputs, too.

Closures, defaults, globals that its code names, and the attributes of the object it belongs to hold
metered copies while it is measured; afterwards they hold what they held, or what the function put
there, as plain arrays.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np

from ..counted_numpy import is_machine

Lift = Callable[[Any], Any]  # an array as a metered copy
DEEPEST = 3  # objects within objects


@contextmanager
def lifted(function: Any, lift: Lift, plain: Lift) -> Iterator[None]:
    """Within this, what the function reaches is metered."""
    with ExitStack() as held:
        _Reach(held, lift, plain).callable(function)
        yield


class _Reach:
    def __init__(self, held: ExitStack, lift: Lift, plain: Lift) -> None:
        self.held, self.lift, self.plain = held, lift, plain
        self.seen: set[int] = set()

    def callable(self, function: Any) -> None:
        """What a function, a method or an object that can be called reaches."""
        if id(function) in self.seen:
            return
        self.seen.add(id(function))
        if isinstance(function, types.MethodType):
            self.object(function.__self__, 0)
            function = function.__func__
        if not isinstance(function, types.FunctionType):
            if callable(function) and not isinstance(function, type | types.BuiltinFunctionType):
                self.object(function, 0)
                self.callable(vars(type(function)).get("__call__"))
            return
        if is_machine(function.__module__ or ""):
            return
        for cell in function.__closure__ or ():
            self.cell(cell)
        self.defaults(function)
        for name in _names(function.__code__):
            if name in function.__globals__:
                self.entry(function.__globals__, name)

    def cell(self, cell: types.CellType) -> None:
        try:
            before = cell.cell_contents
        except ValueError:  # nothing is in it yet
            return
        if (now := self.value(before)) is not before:
            cell.cell_contents = now

            def restore() -> None:
                found = cell.cell_contents
                cell.cell_contents = before if found is now else self.plain(found)

            self.held.callback(restore)

    def defaults(self, function: types.FunctionType) -> None:
        for name in ("__defaults__", "__kwdefaults__"):
            before = getattr(function, name)
            if before and (now := self.value(before)) is not before:
                setattr(function, name, now)
                self.held.callback(setattr, function, name, before)

    def entry(self, space: dict[str, Any], name: str) -> None:
        """A global or an attribute."""
        before = space[name]
        if (now := self.value(before)) is not before:
            space[name] = now

            def restore() -> None:
                found = space.get(name)
                space[name] = before if found is now else self.plain(found)

            self.held.callback(restore)

    def object(self, thing: Any, depth: int) -> None:
        """The attributes of an object, which may be objects again."""
        space = getattr(thing, "__dict__", None)
        if not isinstance(space, dict) or isinstance(thing, type | types.ModuleType):
            return
        if id(thing) in self.seen and depth:
            return
        self.seen.add(id(thing))
        for name, value in list(space.items()):
            self.entry(space, name)
            if depth < DEEPEST and type(value).__module__ != "builtins":
                self.object(value, depth + 1)

    def value(self, value: Any) -> Any:
        """The same with metered arrays, if there are arrays in it; functions are looked into."""
        if isinstance(value, types.FunctionType | types.MethodType):
            self.callable(value)
            return value
        return _changed(value, self.lift)


def _changed(value: Any, lift: Lift) -> Any:
    """The value with its arrays lifted; the same object if there are none."""
    if isinstance(value, np.ndarray):
        return lift(value)
    if type(value) is dict:
        found = {key: _changed(x, lift) for key, x in value.items()}
        return found if any(found[k] is not value[k] for k in value) else value
    if type(value) in (list, tuple):
        parts = [_changed(x, lift) for x in value]
        same = all(a is b for a, b in zip(parts, value, strict=True))
        return value if same else type(value)(parts)
    return value


def _names(code: types.CodeType) -> set[str]:
    """The globals that code names, and the functions within it."""
    inner = [c for c in code.co_consts if isinstance(c, types.CodeType)]
    return set(code.co_names).union(*map(_names, inner))
