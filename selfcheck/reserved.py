"""The course's own functions are no answer: what an exercise asks for does not run for it.

An exercise names the functions of the course's package that are its answer. While a student's
code runs for that exercise, each of them raises a sentence, however it was handed over: imported,
wrapped, in a partial or called by a lambda. So do all functions of the checks. Checks compute their
references outside of that time.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import inspect
import types
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from .course import check_modules


class ReservedFunction(Exception):
    """A function was called that is what the exercise asks for."""


Refused = tuple[Any, types.CodeType, types.CodeType]  # a function, its code and its refusal


class Forbidden:
    """What is forbidden now, and whether a student's code is running."""

    names: tuple[str, ...] = ()
    free: tuple[Any, ...] = ()  # functions that may use them: the examples of known mistakes
    found: list[Refused] | None = None
    active = False


@contextlib.contextmanager
def forbidding(names: Sequence[str], free: Sequence[Any] = ()) -> Iterator[None]:
    """Within this, students' code may not call these functions, such as "numbers.sums.mean"."""
    before = Forbidden.names, Forbidden.free, Forbidden.found
    Forbidden.names, Forbidden.free, Forbidden.found = tuple(names), tuple(free), None
    try:
        yield
    finally:
        Forbidden.names, Forbidden.free, Forbidden.found = before


@contextlib.contextmanager
def students_code(*functions: Any, lent: Iterable[Any] = ()) -> Iterator[None]:
    """Around every call of students' functions: what is forbidden raises `ReservedFunction`.

    What is `lent` to them, such as a feature map to be called, runs as it is.
    """
    if not _are_students_own(functions):
        yield
        return
    found = _forbidden_except(functions_behind(lent))
    Forbidden.active = True
    try:
        for f, _, refusal in found:
            f.__code__ = refusal
        yield
    finally:
        for f, own_code, _ in found:
            f.__code__ = own_code
        Forbidden.active = False


def _are_students_own(functions: Sequence[Any]) -> bool:
    """Is something forbidden to these, and are they the ones to be watched here and now?"""
    if Forbidden.active or not Forbidden.names:
        return False
    if any(hasattr(f, "home_of_stand_in") for f in functions):  # it is seen to there
        return False
    own = [inspect.unwrap(f) for f in functions]
    return not own or not all(any(f is known for known in Forbidden.free) for f in own)


def _forbidden_except(lent: Sequence[types.FunctionType]) -> list[Refused]:
    """What is forbidden now, each with its own code and its refusal, but for these functions."""
    if Forbidden.found is None:
        Forbidden.found = [
            (f, f.__code__, _refusal(name)) for name in Forbidden.names for f in _functions(name)
        ]
    lent_ids = {id(f) for f in lent}
    return [refused for refused in Forbidden.found if id(refused[0]) not in lent_ids]


def functions_behind(lent: Iterable[Any]) -> list[types.FunctionType]:
    """The functions among these, and those that they call by a name of their module."""
    found: list[types.FunctionType] = []
    waiting = [x for x in lent if callable(x)]
    while waiting:
        f = waiting.pop()
        f = getattr(f, "func", f)
        if not isinstance(f, types.FunctionType) or any(f is known for known in found):
            continue
        found.append(f)
        waiting += [f.__globals__[name] for name in _names(f.__code__) if name in f.__globals__]
        waiting += [cell.cell_contents for cell in f.__closure__ or ()]
    return found


def _names(code: types.CodeType) -> Iterator[str]:
    yield from code.co_names
    for inner in code.co_consts:
        if isinstance(inner, types.CodeType):
            yield from _names(inner)


def all_checks() -> tuple[str, ...]:
    """The check modules that are loaded: their functions are references, and no one's answer."""
    return check_modules()


@functools.cache
def _refusal(name: str) -> types.CodeType:
    """The code of a function that takes anything and says the sentence."""

    def refuse(*args, **kwargs):  # type: ignore[no-untyped-def]
        raise __import__("selfcheck.reserved").reserved.ReservedFunction(
            "NAME is what this exercise asks you to write; the course's own functions are no "
            "answer to it."
        )

    code = refuse.__code__
    shown = name.partition(".")[2]  # without the package
    says = [c.replace("NAME", shown) if isinstance(c, str) else c for c in code.co_consts]
    return code.replace(co_consts=tuple(says))


def _functions(name: str) -> tuple[types.FunctionType, ...]:
    """The Python functions behind a name, which may be that of a class or a module."""
    return _functions_of(object_named(name))


@functools.cache
def _functions_of(found: Any) -> tuple[types.FunctionType, ...]:
    if not isinstance(found, type | types.ModuleType):
        return (getattr(found, "__wrapped__", found),)
    home = found.__name__ if isinstance(found, types.ModuleType) else found.__module__
    inside = (getattr(f, "__wrapped__", f) for f in vars(found).values() if callable(f))
    plain = (f for f in inside if isinstance(f, types.FunctionType))
    return tuple(f for f in plain if f.__module__ == home and not f.__code__.co_freevars)


def object_named(name: str) -> Any:
    """The function, class or module of this name, such as our_course.sums.mean."""
    module, _, attribute = name.rpartition(".")
    return getattr(importlib.import_module(module), attribute)
