"""`np` as the measured code sees it: exchanged in its globals; NumPy itself stays as it is."""

from __future__ import annotations

import contextlib
import functools
import sys
import threading
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..course import belongs
from .arrays import MeteredArray
from .loops import Bracket, Vectorize
from .tables import CREATORS

if TYPE_CHECKING:
    from .counting import Meter

ORIGINALS = {id(np), *map(id, CREATORS.values())}
NOT_MEASURED = {__name__.partition(".")[0]}  # packages that handle numbers: theirs are not counted


def stand_ins(m: Meter) -> dict[int, Any]:
    """What replaces NumPy and its creators, by the id of the original."""
    thread = threading.get_ident()

    def metered(creator: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(creator)
        def create(*args: Any, **kwargs: Any) -> Any:
            if not m._open or threading.get_ident() != thread:
                return creator(*args, **kwargs)
            m._doing = creator.__name__
            return m._wrap(creator(*m._raw(args), **m._raw(kwargs)))

        return create

    def call(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if not m._open or threading.get_ident() != thread:
            return function(*args, **kwargs)
        return m._function(function, args, kwargs)

    creators = {name: metered(creator) for name, creator in CREATORS.items()}
    return numpy_with(creators, MeteredArray, call)


def numpy_with(
    creators: dict[str, Callable[..., Any]], array: type, call: Callable[..., Any]
) -> dict[int, Any]:
    """Replacements by the id of the original; NumPy's own takes this kind for an ndarray too.

    `call` gets what NumPy itself would not hand on: functions of plain lists that hold such arrays.
    """

    class EitherArray(type):
        def __instancecheck__(cls, x: Any) -> bool:
            return isinstance(x, np.ndarray) or type(x) is array

    stand_in = _NumPy("numpy", np, array, call)
    vars(stand_in).update(
        creators,
        ndarray=EitherArray("ndarray", (), {}),
        linalg=_NumPy("numpy.linalg", np.linalg, array, call),
        vectorize=functools.partial(Vectorize, creators["array"]),
        c_=Bracket(creators, columns=True),
        r_=Bracket(creators, columns=False),
    )
    return {id(np): stand_in, **{id(CREATORS[name]): new for name, new in creators.items()}}


class _NumPy(types.ModuleType):
    """NumPy, or a part of it, whose functions also take lists of such arrays."""

    def __init__(self, name: str, whole: Any, array: type, call: Callable[..., Any]) -> None:
        super().__init__(name)
        self._whole, self._array, self._call = whole, array, call

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._whole, name)
        if hasattr(value, "_implementation"):
            value = self._taking_lists(value)
            setattr(self, name, value)
        return value

    def _taking_lists(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def run(*args: Any, **kwargs: Any) -> Any:
            first = args[0] if args else None
            if type(first) in (list, tuple) and _holds(first, self._array):
                return self._call(function, args, kwargs)
            return function(*args, **kwargs)

        return run


def _holds(value: Any, array: type) -> bool:
    return type(value) is array or (
        type(value) in (list, tuple) and any(_holds(x, array) for x in value)
    )


def globals_of(*values: Any) -> list[dict[str, Any]]:
    """The globals of functions, and of those they wrap or close over."""
    found = []
    for value in values:
        inner = [getattr(value, name, None) for name in ("func", "__wrapped__")]
        for cell in getattr(value, "__closure__", None) or ():
            with contextlib.suppress(ValueError):  # an empty cell
                inner.append(cell.cell_contents)
        for f in [value, *inner, vars(type(value)).get("__call__")]:
            f = getattr(f, "__func__", f)
            if isinstance(f, types.FunctionType):  # compiled code must never see metered arrays
                found.append(f.__globals__)
    return found


def exchange(stand_ins: dict[int, Any], namespaces: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
    """Put the stand-ins into these globals, the notebook's and the course's; say where."""
    modules = [sys.modules[name] for name in _measured(len(sys.modules)) if name in sys.modules]
    places = [place for module in modules for place in _places_in(module)]
    for namespace in (*namespaces, vars(sys.modules["__main__"])):
        places += _places(namespace)
    exchanged = []
    for namespace, name in places:
        value = namespace.get(name)
        if (stand_in := stand_ins.get(id(value))) is not None:
            namespace[name] = stand_in
            exchanged.append((namespace, name, value, stand_in))
    return exchanged


@functools.lru_cache(maxsize=1)
def _measured(count: int) -> list[str]:
    """The modules of courses, which count as the notebook's own do."""
    return [name for name in list(sys.modules) if belongs(name)]


def _places(namespace: dict[str, Any]) -> list[tuple[dict[str, Any], str]]:
    """Where these globals have NumPy, or one of its creators."""
    if namespace.get("__name__", "").partition(".")[0] in {"numpy", *NOT_MEASURED}:
        return []
    if ORIGINALS.isdisjoint(map(id, namespace.values())):
        return []
    return [(namespace, name) for name, value in list(namespace.items()) if id(value) in ORIGINALS]


@functools.cache
def _places_in(module: types.ModuleType) -> list[tuple[dict[str, Any], str]]:
    return _places(vars(module))
