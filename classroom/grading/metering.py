"""Metered arrays across the wire: the student's code computes, the judge counts.

The numbers stay with the judge. The student's function gets far arrays that hold nothing but a
handle and a shape; whatever is done with one is asked for over the wire, done there on a metered
array, and counted there. So the counts cannot be forged, and the student's code stays ordinary.
Where the shape of a result is foreseen, nobody waits for it: such operations go along with the
next question, in their order.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from selfcheck.counted_numpy import CREATORS, counted_by, counter
from selfcheck.encoding import NUMBERS, TAG, WireError
from selfcheck.meter import HANDLERS, Meter, MeteredArray, NotCounted, realized
from selfcheck.meter.arrays import LikeAnArray
from selfcheck.meter.counting import DECISIONS, line_at_work
from selfcheck.meter.loops import apply_along_axis
from selfcheck.meter.reach import lifted
from selfcheck.meter.tables import DATA_DECIDES, METHODS, UFUNCS
from selfcheck.nesting import nested

from .wire import Peer

DONE = {*METHODS, "reshape", "transpose", "astype", "flatten", "fill", "item", "tolist"} | {
    "__getitem__", "__setitem__", "__array__", "__bool__", "__float__", "__int__", "__index__",
    "__str__", "__repr__", "__format__",
}  # fmt: skip
TURNED = {"T", "mT", "real"}
AS_THEY_ARE = {"array", "asarray", "asanyarray", "ascontiguousarray", "fromiter"}
TELLING = {"nonzero", "repeat"} | {  # the result, or its shape, tells numbers
    f"numpy.{name}" for name in ("nonzero", "repeat", "tile", "split", "array_split", "delete")
}
FORESEEN = {ufunc.__name__ for ufunc, kind in UFUNCS.items() if kind != "logic"}
SHAPED = {"sum", "max", "copy"}  # methods
STACKED = {f"numpy.{name}" for name in ("cumsum", "column_stack", "vstack", "hstack", "stack")}
MOST_WAITING = 200  # operations
FUNCTIONS = {f"{f.__module__}.{f.__name__}": f for f in HANDLERS} | {
    f"{f.__module__}.{f.__name__}": f  # counted number by number; nothing that writes a file
    for module in (np, np.linalg)
    for f in vars(module).values()
    if hasattr(f, "_implementation")
    and f.__name__ not in DATA_DECIDES
    and not f.__name__.startswith(("from", "load", "save", "gen", "busday", "datetime"))
}


class Counter:
    """The judge's side: does with metered arrays what the student's code asks for."""

    def __init__(self) -> None:
        self._meter: Meter | None = None
        self._arrays: dict[int, MeteredArray] = {}
        self._numbers = itertools.count(1)
        self._told = 0

    def encode(self, value: Any) -> dict | None:
        if type(value) is not MeteredArray:
            return None
        if self._meter is not counter():  # another measurement: forget the one before
            self._meter, self._arrays, self._told = counter(), {}, 0
        handle = next(self._numbers)
        self._arrays[handle] = value
        shape = list(value.shape)
        return {TAG: "metered", "handle": handle, "shape": shape, "dtype": value.dtype.str}

    def decode(self, tag: str, data: dict) -> Any:
        if tag == "metered":
            return self._arrays[int(data["handle"])]
        if tag == "dtype":
            dtype = np.dtype(str(data["v"]))
            if dtype.char in NUMBERS:
                return dtype
        return None

    def calling(self, function: Callable) -> contextlib.AbstractContextManager:
        return contextlib.nullcontext()

    def returned(self, result: Any) -> Any:
        return result

    @np.errstate(all="ignore")  # verdicts come from values, never from warnings
    def serve(self, peer: Peer, question: dict) -> Any:
        """Operations on metered arrays that nobody waited for, and then one, if there is one."""
        m = counter()
        if question.get("ask") != "array" or m is None:
            raise WireError("nothing of that kind can be asked for now")
        waiting = question.get("before") or []
        if len(waiting) > MOST_WAITING:
            raise WireError("it is too much at once")
        for earlier in waiting:
            result, handle = self._one(peer, m, earlier), earlier.get("result")
            if result is None and handle is None:
                continue
            if type(result) is not MeteredArray or type(handle) is not int:
                raise WireError("it was foreseen otherwise")
            self._arrays[handle] = result
        return self._one(peer, m, question) if "what" in question else None

    def _one(self, peer: Peer, m: Meter, question: dict) -> Any:
        for handle in question.get("dropped") or []:
            self._arrays.pop(handle, None)
        m.where = str(question.get("where") or "")[:200]
        what, name = question.get("what"), str(question.get("name"))
        args = [peer.decode(x) for x in question.get("args") or []]
        named = {key: peer.decode(x) for key, x in (question.get("named") or {}).items()}
        if _tells(what, name, args, named):
            self._told += 1
            m.read_out += self._told > DECISIONS or what == "create"
        try:
            return self._done(m, question, what, name, args, named)
        except NotCounted:
            raise
        except Exception:  # "index 17 is out of bounds": this, too, reads a number out
            m.read_out += 1
            raise

    def _done(self, m: Meter, question: dict, what: Any, name: str, args: list, named: dict) -> Any:
        match what:
            case "ufunc" if isinstance(getattr(np, name, None), np.ufunc):
                return m._ufunc(getattr(np, name), str(question.get("method")), tuple(args), named)
            case "function" if name in FUNCTIONS and _has_metered([args, named]):
                return m.call(FUNCTIONS[name], tuple(args), named)
            case "create" if name in CREATORS:
                return m.create(name, *args, **named)
            case "turn" if name in TURNED and type(args[0]) is MeteredArray:
                return getattr(args[0], name)
            case "do" if name in DONE and type(args[0]) is MeteredArray:
                return getattr(args[0], name)(*args[1:], **named)
        raise m._refuse(name.replace("numpy", "np", 1))


def _tells(what: Any, name: str, args: list, named: dict) -> bool:
    """Does it show outside of the metered world what the numbers are?"""
    if what == "create":
        sized = args[:1] if name == "full" else args
        return name not in AS_THEY_ARE and _has_metered([sized, named])
    if name == "__getitem__":
        return _has_metered(args[1:], bool)
    return name in TELLING or (name == "numpy.where" and len(args) == 1)


def _has_metered(value: Any, dtype: Any = None) -> bool:
    if type(value) is MeteredArray:
        return dtype is None or value.dtype == dtype
    parts = value.values() if type(value) is dict else value
    return type(value) in (list, tuple, dict) and any(_has_metered(x, dtype) for x in parts)


class FarArray(LikeAnArray):
    """The student's side: an array whose numbers are with the judge."""

    def __init__(self, far: Far, handle: int, shape: tuple[int, ...], dtype: np.dtype) -> None:
        self._far, self._handle, self.shape, self.dtype = far, handle, shape, dtype

    ndim = property(lambda self: len(self.shape))
    size = property(lambda self: int(np.prod(self.shape, dtype=np.int64)))
    itemsize = property(lambda self: self.dtype.itemsize)
    nbytes = property(lambda self: self.size * self.itemsize)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return self._far.ask("ufunc", ufunc.__name__, *inputs, method=method, named=kwargs)

    def __array_function__(self, function: Callable, types: Any, args: tuple, kwargs: dict) -> Any:
        return self._far.call(function, args, kwargs)

    def __getattr__(self, name: str) -> Any:
        if name in TURNED:
            return self._far.ask("turn", name, self)
        if name.startswith("_") or not hasattr(np.ndarray, name):
            raise AttributeError(f"A metered array has no attribute {name!r}.")
        return lambda *args, **kwargs: self._do(name, *args, **kwargs)

    def _do(self, name: str, *args: Any, **kwargs: Any) -> Any:
        return self._far.ask("do", name, self, *args, named=kwargs)

    def __getitem__(self, index: Any) -> Any:
        return self._do("__getitem__", index)

    def __setitem__(self, index: Any, value: Any) -> None:
        self._do("__setitem__", index, value)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        return self._do("__array__")

    def __float__(self) -> float:
        return self._do("__float__")

    def __int__(self) -> int:
        return self._do("__int__")

    def __index__(self) -> int:
        return self._do("__index__")

    def __bool__(self) -> bool:
        return self._do("__bool__")

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of unsized object")
        return self.shape[0]

    def __repr__(self) -> str:
        return self._do("__repr__")

    def __str__(self) -> str:
        return self._do("__str__")

    def __format__(self, spec: str) -> str:
        return self._do("__format__", spec)

    def __del__(self) -> None:
        self._far.dropped.append(self._handle)


class Far:
    """Asks the judge for operations on far arrays; `np` makes far arrays too while one is here."""

    array_type = FarArray

    def __init__(self) -> None:
        self.peer: Peer | None = None
        self.dropped: list[int] = []
        self._metering = False
        self._waiting: list[dict] = []  # operations whose results have a shape that is known
        self._handles = itertools.count(-1, -1)

    def create(self, name: str, *args: Any, **kwargs: Any) -> Any:
        """What np.zeros and its like make, with the judge."""
        return self.ask("create", name, *args, named=kwargs)

    def call(self, function: Callable, args: tuple, kwargs: Any) -> Any:
        """A function of NumPy; one that calls the student's own is a loop on this side."""
        if function.__name__ == "apply_along_axis":
            return apply_along_axis(*args, **kwargs)
        name = f"{function.__module__}.{function.__name__}"
        return self.ask("function", name, *args, named=kwargs)

    def ask(self, what: str, name: str, *args: Any, named: Any = (), method: str = "") -> Any:
        peer, named = self._judge(), dict(named)
        question: dict[str, Any] = {"what": what, "name": name, "where": line_at_work()}
        question["args"] = [peer.encode(x) for x in args]
        if named:
            question["named"] = {key: peer.encode(x) for key, x in named.items()}
        if method:
            question["method"] = method
        if self.dropped:
            question["dropped"], self.dropped = self.dropped, []
        like = _foreseen(what, name, args, named, method)
        if like is None:
            return peer.ask(ask="array", before=self._taken(), **question)
        result = self._result(like)
        if result is not None:
            question["result"] = result._handle
        self._waiting.append(question)
        if len(self._waiting) >= MOST_WAITING:
            self.settle()
        return result

    def _result(self, like: Any) -> FarArray | None:
        """What an operation gives here: nothing, the array that it is written to, or a new one."""
        if like is NOTHING:
            return None
        if type(like) is FarArray:
            return like
        return FarArray(self, next(self._handles), like.shape, like.dtype)

    def settle(self) -> None:
        """What waits is done now."""
        if self._waiting:
            self._judge().ask(ask="array", before=self._taken())

    def left(self) -> dict:
        """What waits when a call is over goes along with the reply."""
        return {"before": self._taken()} if self._waiting else {}

    def _taken(self) -> list[dict]:
        waiting, self._waiting = self._waiting, []
        return waiting

    def _judge(self) -> Peer:
        if self.peer is None:
            raise RuntimeError("there is no judge to ask")
        return self.peer

    def encode(self, value: Any) -> dict | None:
        if type(value) is FarArray:
            return {TAG: "metered", "handle": value._handle}
        if counter() is self and (isinstance(value, np.dtype) or value in (float, int, bool)):
            return {TAG: "dtype", "v": np.dtype(value).str}
        if counter() is self and isinstance(value, type) and issubclass(value, np.generic):
            return {TAG: "dtype", "v": np.dtype(value).str}
        return None

    def decode(self, tag: str, data: dict) -> Any:
        if tag != "metered":
            return None
        self._metering = counter() is not self  # the call that comes next
        return FarArray(self, data["handle"], tuple(data["shape"]), np.dtype(data["dtype"]))

    def calling(self, function: Callable) -> contextlib.AbstractContextManager:
        """Around a call with far arrays, `np.zeros` and its like are done by the judge as well."""
        metering, self._metering = self._metering, False
        return self._counting(function) if metering else contextlib.nullcontext()

    @contextlib.contextmanager
    def _counting(self, function: Callable) -> Iterator[None]:
        """Within this, arrays that the function reaches by itself are the judge's, too."""

        def made(x: Any) -> Any:
            return x if type(x) is FarArray else self.create("array", x)

        def plain(value: Any) -> Any:
            return nested(value, lambda x: x.__array__() if type(x) is FarArray else x)

        with counted_by(self), lifted(function, made, plain):
            yield

    def returned(self, result: Any) -> Any:
        """What would compute later computes now, while the judge counts."""
        return realized(result, FarArray) if counter() is self else result


# -- what comes out of an operation, as far as its shape and kind are concerned

_ANYTHING = b"\x01" * 16  # the bytes of a number of any kind
NOTHING = object()


def _foreseen(what: str, name: str, args: tuple, named: dict, method: str) -> Any:
    """An array like the result, the one that it is in, or NOTHING; None if only the judge knows."""
    if not _are_foreseeable(name, args):
        return None
    try:
        match what:
            case "ufunc" if method == "__call__" and name in FORESEEN:
                return _of_ufunc(name, args, named)
            case "turn" if name == "T":
                return _like(args[0]).T
            case "do":
                return _of_method(name, args, named)
            case "function" if name in STACKED and _is_plain([*args[1:], *named.values()]):
                function = getattr(np, name.removeprefix("numpy."))
                return function(_like(args[0]), *args[1:], **named)
            case "create" if name in ("zeros", "ones") and not named and _is_shape(*args):
                return np.broadcast_to(0.0, args[0])
    except Exception:  # the judge says what is wrong
        return None
    return None


def _are_foreseeable(name: str, args: tuple) -> bool:
    """Floats, and whole numbers where their values do not decide about the kind of the result."""
    parts = [part for x in args for part in (x if type(x) in (list, tuple) else [x])]
    kinds = {x.dtype.kind for x in parts if type(x) is FarArray}
    return kinds <= {"f", "i"} and not ("i" in kinds and name == "power")


def _of_ufunc(name: str, args: tuple, named: dict) -> Any:
    """What a function of all entries gives, also into an array that is named."""
    if not named:
        return getattr(np, name)(*map(_like, args))
    if [*named] != ["out"]:
        return None
    (out,) = named["out"]
    getattr(np, name)(*map(_like, args), out=np.empty(out.shape, out.dtype))
    return out if type(out) is FarArray else None


def _of_method(name: str, args: tuple, named: dict) -> Any:
    """What reading or writing at a place gives, or a method that only looks at shapes."""
    if name == "__getitem__" and _is_place(args[1]):
        return _like(args[0])[args[1]]
    if name == "__setitem__" and _is_place(args[1]):
        place = _like(args[0])[args[1]]
        np.broadcast_to(_like(args[2]), place.shape)
        return NOTHING
    if name in SHAPED and _is_plain([*args[1:], *named.values()]):
        return getattr(_like(args[0]), name)(*args[1:], **named)
    return None


def _filled(shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """An array in which all numbers are one."""
    return np.ndarray(shape, dtype, _ANYTHING, strides=(0,) * len(shape))


def _like(x: Any) -> Any:
    """An array of the same shape and kind, in which all numbers are one."""
    if type(x) in (list, tuple):
        return [_like(part) for part in x]
    if type(x) is FarArray:
        return _filled(x.shape, x.dtype)
    if type(x) in (int, float, np.float64) or (type(x) is np.ndarray and x.dtype.kind == "f"):
        return x
    raise TypeError("it may be anything")


def _is_shape(*args: Any) -> bool:
    """One whole number, or a tuple of them."""
    (shape,) = args
    return type(shape) is int or (type(shape) is tuple and all(type(n) is int for n in shape))


def _is_place(index: Any) -> bool:
    """Whole numbers, slices of them, None and ..., alone or several in a tuple."""
    parts = index if type(index) is tuple else (index,)
    bounds = [(x.start, x.stop, x.step) if type(x) is slice else (x,) for x in parts]
    return all(x is None or x is ... or type(x) is int for some in bounds for x in some)


def _is_plain(options: list) -> bool:
    """An axis, or whether to keep it."""
    return all(x is None or type(x) in (int, bool) for x in options)
