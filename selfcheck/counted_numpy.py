"""NumPy counts for whoever measures, wherever the measured code has it from.

What makes arrays (`CREATORS`) is replaced in the `numpy` module by thin wrappers when this is
loaded, so that a default argument, a closure or `from numpy import zeros` holds a wrapper too. They
ask a context variable: only in a context that is being counted do they make counted arrays.
Functions that take lists of such arrays have wrappers while something is counted. NumPy's own
code, the machine's, compiled code and other threads have NumPy as it is.
"""

from __future__ import annotations

import contextlib
import functools
import sys
import threading
import types
from collections.abc import Callable, Iterator
from contextvars import ContextVar
from importlib.machinery import ExtensionFileLoader
from typing import Any

import numpy as np

NAMES = (
    *("array", "asarray", "asanyarray", "ascontiguousarray", "zeros", "ones", "empty", "full"),
    *("eye", "identity", "arange", "linspace", "tri", "fromiter"),
)
CREATORS: dict[str, Any] = {  # as NumPy has them
    name: getattr(getattr(np, name), "uncounted", getattr(np, name)) for name in NAMES
}


# It makes arrays of its own type (`array_type`, `create`), and calls functions with them (`call`).
_counter: ContextVar[Any] = ContextVar("counter", default=None)
_running: list[Any] = []  # counters, in all threads
_lock = threading.Lock()


def counter() -> Any:
    """Who counts in this context, if somebody does."""
    return _counter.get()


def _counter_of_caller() -> Any:
    """Who counts what calls a wrapper: nobody for NumPy and for the machine."""
    now = _counter.get()
    if now is not None and is_machine(sys._getframe(2).f_globals.get("__name__", "")):
        return None
    return now


def is_machine(module: str) -> bool:
    """Is this a module of NumPy, or of a package that says `__machine__ = True`?"""
    package = module.partition(".")[0]
    found = sys.modules.get(package)
    return package == "numpy" or (type(found) is types.ModuleType and "__machine__" in vars(found))


@contextlib.contextmanager
def counted_by(one: Any) -> Iterator[None]:
    """Within this, what the code of this context does with NumPy is counted by this one."""
    _spare_compiled(len(sys.modules))
    before = _counter.set(one)
    try:
        with _lock:
            _running.append(one)
            for module, name, _, wrapper in _wrappers():
                vars(module)[name] = wrapper
        yield
    finally:
        with _lock:
            _running[:] = [other for other in _running if other is not one]
            for module, name, original, _ in _wrappers() if not _running else ():
                vars(module)[name] = original
        _counter.reset(before)


# -- what makes arrays: wrappers for good


def _creator(name: str, uncounted: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(uncounted)
    def create(*args: Any, **kwargs: Any) -> Any:
        now = _counter_of_caller()
        return now.create(name, *args, **kwargs) if now else uncounted(*args, **kwargs)

    vars(create)["uncounted"] = uncounted
    return create


def _modules() -> list[types.ModuleType]:
    """All that are loaded; none that would load something when it is looked at."""
    return [module for module in list(sys.modules.values()) if type(module) is types.ModuleType]


def _install() -> None:
    """Put the wrappers into NumPy, and into modules that have taken its functions before."""
    wrappers = {id(uncounted): _creator(name, uncounted) for name, uncounted in CREATORS.items()}
    for module in _modules():
        namespace = vars(module)
        if is_machine(module.__name__) and module is not np:
            continue
        if not wrappers.keys().isdisjoint(map(id, namespace.values())):
            for name, value in list(namespace.items()):
                namespace[name] = wrappers.get(id(value), value)


_AS_IT_IS = types.ModuleType("numpy", np.__doc__)
vars(_AS_IT_IS).update({**vars(np), **CREATORS})
_install()


@functools.lru_cache(maxsize=1)
def _spare_compiled(_: int) -> None:
    """Compiled modules that call NumPy keep it as it is: they take every array for a plain one."""
    import numpy.random  # noqa: F401

    for module in _modules():
        if isinstance(vars(module).get("__loader__"), ExtensionFileLoader):
            for name in [name for name, value in vars(module).items() if value is np]:
                setattr(module, name, _AS_IT_IS)


# -- functions of lists, loops and brackets: wrappers while something is counted


@functools.cache
def _wrappers() -> list[tuple[Any, str, Any, Any]]:
    """Where, under which name, NumPy's own, and what takes its place."""
    from .meter.loops import Bracket, vectorizing

    whose, brackets = _counter_of_caller, {"c_": True, "r_": False}
    return [
        *((np, name, x := getattr(np, name), Bracket(x, c, whose)) for name, c in brackets.items()),
        (np, "vectorize", np.vectorize, vectorizing(np.vectorize, whose)),
        *(
            (module, name, function, _taking_lists(function))
            for module in (np, np.linalg)
            for name, function in vars(module).items()
            if hasattr(function, "_implementation")
        ),
    ]


def _taking_lists(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function, which hands lists of counted arrays to who counts; NumPy would not."""

    @functools.wraps(function)
    def run(*args: Any, **kwargs: Any) -> Any:
        now = _counter_of_caller() if args and type(args[0]) in (list, tuple) else None
        if now is not None and _holds(args[0], now.array_type):
            return now.call(function, args, kwargs)
        return function(*args, **kwargs)

    return run


def _holds(value: Any, array: type) -> bool:
    return type(value) is array or (
        type(value) in (list, tuple) and any(_holds(x, array) for x in value)
    )
