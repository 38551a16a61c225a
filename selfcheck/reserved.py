"""The course's own functions are no answer: what an exercise asks for does not run for it.

A function of the course that is the answer of an exercise carries the decorator `answer`. It is a
gate: before each call it asks whether a student's code is running for an exercise that reserves
the function (`forbids = ["sums.total"]` among its facts). The functions of the checks have the same
gate, which is shut for all students. Checks compute their references while no student's code runs,
and what they lend to a student's function runs as it is.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import inspect
import sys
import threading
import types
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextvars import ContextVar
from typing import Any, TypeVar

from .course import belongs

CHECKS = "functions of checks"  # all of them have this name at the gate
Anything = TypeVar("Anything")
Names = frozenset[str]


class ReservedFunction(Exception):
    """A function was called that is what the exercise asks for."""


_below_is_hidden = False
_TICKET = object()
around_gates: dict[str, None] = {}  # functions that ran without their gates, in the grader's child
_tell: Callable[[str, str], None] | None = None  # who is told there of those that run through them
# What the exercise reserves that is judged in this context, and whose functions may use it.
_asked: ContextVar[tuple[Names, frozenset[int]]] = ContextVar("asked")
# What is refused in this context; None where no check and no student's code was begun.
_refused: ContextVar[Names | None] = ContextVar("refused", default=None)
# What is refused in such contexts, and the threads that it does not concern.
_around: list[tuple[Names, frozenset[int]]] = []


def answer(made: Anything) -> Anything:
    """Decorates a function or a class that is an answer: for that exercise it does not run."""
    whole: Any = made
    name = f"{whole.__module__}.{whole.__qualname__}"
    if not isinstance(made, type):
        return _gate(made, name, name)  # type: ignore[no-any-return]
    for key, method in list(vars(made).items()):
        if isinstance(method, types.FunctionType):
            setattr(made, key, _gate(method, name, name))
    whole.reserved_as = name
    return made


def _gate(function: Any, name: str, key: str) -> Any:
    """The function, which refuses to run where its key is refused."""
    function = _with_tripwire(function, name, key) if _below_is_hidden else function
    ticket = (_TICKET,) if _below_is_hidden else ()

    @functools.wraps(function)
    def gate(*args: Any, **kwargs: Any) -> Any:
        if key in _refused_here():
            raise ReservedFunction(
                f"{name.partition('.')[2]} does not run here: this exercise asks you to write it, "
                "or to do without it."
            )
        if _tell:
            _tell(name, key)
        return function(*ticket, *args, **kwargs)

    vars(gate)["reserved_as"] = key
    if _below_is_hidden:
        vars(gate)["__signature__"] = inspect.signature(function)
        del gate.__wrapped__, function.__wrapped__
    return gate


def _with_tripwire(function: Any, name: str, key: str) -> Any:
    """The function, which notes when it runs where its gate is shut; the gate has a ticket."""

    @functools.wraps(function)
    def below(*args: Any, **kwargs: Any) -> Any:
        if args and args[0] is _TICKET:
            return function(*args[1:], **kwargs)
        if key in _refused_here():
            around_gates[name] = None
        return function(*args, **kwargs)

    return below


def hide_what_is_below() -> None:
    """From now on, gates do not tell which function they guard: for the grader's child."""
    global _below_is_hidden
    _below_is_hidden = True


def tell_of_calls(tell: Callable[[str, str], None]) -> None:
    """From now on, whenever a function runs through its gate, its name and key are told."""
    global _tell
    _tell = tell


def _refused_here() -> Names:
    """The names that are refused in this context.

    A context of which nothing is known is a student's if it is in the thread of their code, or in
    one that was started since their code began.
    """
    refused = _refused.get()
    if refused is not None or not _around:
        return refused or frozenset()
    here = threading.get_ident()
    return frozenset().union(*(names for names, others in [*_around] if here not in others))


@contextlib.contextmanager
def forbidding(names: Iterable[str], free: Sequence[Any] = ()) -> Iterator[None]:
    """Within this, students' code may not call these functions, such as "numbers.sums.mean".

    The `free` functions may: the examples of known mistakes.
    """
    asked = frozenset([*names, CHECKS]), frozenset(id(inspect.unwrap(f)) for f in free)
    with _as(_asked, asked), _as(_refused, _refused_here()):
        yield


@contextlib.contextmanager
def students_code(*functions: Any) -> Iterator[None]:
    """Around every call of students' functions: what is forbidden raises `ReservedFunction`."""
    names, free = _asked.get((frozenset(), frozenset()))
    are_free = functions and all(id(inspect.unwrap(f)) in free for f in functions)
    if not names or are_free or any(hasattr(f, "home_of_stand_in") for f in functions):
        yield  # functions of another process are seen to there
        return
    others = {thread.ident for thread in threading.enumerate()} - {threading.get_ident()}
    names |= _refused_here()
    with refusing(names, others), _as(_refused, names):  # type: ignore[arg-type]
        yield


@contextlib.contextmanager
def refusing(names: Iterable[str], others: Iterable[int] = ()) -> Iterator[None]:
    """Refuse these functions, and those of the checks, to all threads but these others."""
    refused = frozenset([*names, CHECKS]), frozenset(others)
    try:
        _around.append(refused)
        yield
    finally:
        _around[:] = [other for other in _around if other is not refused]


def lent(value: Any) -> Any:
    """What a check hands to a student's function: a function of the course runs as it is."""
    function = value.func if type(value) is functools.partial else value
    if type(function) is not types.FunctionType or not belongs(function.__module__):
        return value

    @functools.wraps(value)
    def run(*args: Any, **kwargs: Any) -> Any:
        with _as(_refused, frozenset()):
            return value(*args, **kwargs)

    return run


@contextlib.contextmanager
def _as(variable: ContextVar[Any], value: Any) -> Iterator[None]:
    """The context variable has this value for a time."""
    before = variable.set(value)
    try:
        yield
    finally:
        variable.reset(before)


def object_named(name: str) -> Any:
    """The function or class of this name, such as our_course.sums.mean."""
    module, _, attribute = name.rpartition(".")
    return getattr(importlib.import_module(module), attribute)


# -- the functions of checks


class ModuleOfChecks(types.ModuleType):
    """Whoever takes a function out of a module of checks has it with a gate; the module has not."""

    def __getattribute__(self, name: str) -> Any:
        value = super().__getattribute__(name)
        is_function = isinstance(value, types.FunctionType) or hasattr(value, "cache_clear")
        is_own = is_function and value.__module__ == super().__getattribute__("__name__")
        return _gate_of_checks(value) if is_own else value


@functools.cache
def _gate_of_checks(function: Any) -> Any:
    name = f"{function.__module__}.{function.__name__}"
    return function if hasattr(function, "reserved_as") else _gate(function, name, CHECKS)


def gate_within(module: ModuleOfChecks) -> None:
    """Put the gates into the module too, for the grader's child: by no way is there one without."""
    names = types.ModuleType.__getattribute__(module, "__dict__")
    names.update({name: getattr(module, name) for name in names})


def gate_checks(module: str) -> None:
    """For every module in which an exercise is declared, and for those beside it that it uses."""
    if not belongs(module) or isinstance(sys.modules[module], ModuleOfChecks):
        return
    package = module.rpartition(".")[0] + "."
    for name, found in list(sys.modules.items()):
        if name.startswith(package) and not isinstance(found, ModuleOfChecks):
            found.__class__ = ModuleOfChecks
