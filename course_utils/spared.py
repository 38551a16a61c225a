"""The course's own functions are no answer: what an exercise asks for does not run for it.

An exercise names the functions of this package that are its answer. While a student's code runs
for that exercise, each of them raises a sentence, however it was handed over: imported, wrapped, in
a partial or called by a lambda. Checks compute their references outside of that time.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import types
from collections.abc import Iterator, Sequence
from typing import Any


class Spared(Exception):
    """A function was called that is what the exercise asks for."""


class Bans:
    """What is forbidden now, and whether a student's code is running."""

    names: tuple[str, ...] = ()
    free: tuple[Any, ...] = ()  # functions that may use them: the examples of known mistakes
    active = False


@contextlib.contextmanager
def forbidding(names: Sequence[str], free: Sequence[Any] = ()) -> Iterator[None]:
    """Within this, students' code may not call these functions, such as "attention.softmax"."""
    before = Bans.names, Bans.free
    Bans.names, Bans.free = tuple(names), tuple(free)
    try:
        yield
    finally:
        Bans.names, Bans.free = before


@contextlib.contextmanager
def students_code(function: Any = None) -> Iterator[None]:
    """Around every call of a student's function: what is forbidden raises `Spared`."""
    elsewhere = hasattr(
        function, "home_of_stand_in"
    )  # it runs in another process, which sees to it
    if Bans.active or not Bans.names or elsewhere or any(function is f for f in Bans.free):
        yield
        return
    codes = [(f, f.__code__, name) for name in Bans.names for f in _functions(name)]
    Bans.active = True
    try:
        for f, _, name in codes:
            f.__code__ = _refusal(name)
        yield
    finally:
        for f, code, _ in codes:
            f.__code__ = code
        Bans.active = False


@functools.cache
def _refusal(name: str) -> types.CodeType:
    """The code of a function that takes anything and says the sentence."""

    def refuse(*args, **kwargs):  # type: ignore[no-untyped-def]
        raise __import__("course_utils.spared").spared.Spared(
            "NAME is what this exercise asks you to write; the course's own functions are no "
            "answer to it."
        )

    code = refuse.__code__
    says = [c.replace("NAME", name) if isinstance(c, str) else c for c in code.co_consts]
    return code.replace(co_consts=tuple(says))


def _functions(name: str) -> list[types.FunctionType]:
    """The Python functions behind a name, which may be that of a class or a module."""
    found = named(name)
    if not isinstance(found, type | types.ModuleType):
        return [getattr(found, "__wrapped__", found)]
    home = found.__name__ if isinstance(found, types.ModuleType) else found.__module__
    inside = [f for f in vars(found).values() if isinstance(f, types.FunctionType)]
    return [f for f in inside if f.__module__ == home and not f.__code__.co_freevars]


def named(name: str) -> Any:
    """`attention.softmax` as the function of this package."""
    module, _, attribute = name.rpartition(".")
    return getattr(importlib.import_module(f"{__package__}.{module}"), attribute)
