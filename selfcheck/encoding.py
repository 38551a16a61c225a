"""What an answer is as plain data: what can cross from a student's process to a judge, and as what.

Values become JSON, and the numbers of arrays bytes beside it. Nothing is ever unpickled or
evaluated: numbers, texts, lists and arrays arrive as such, a formula as text, and of everything
else the type's name is known, the parts of a plain object, and the array that it can be read as. A
function stays where it is, under a number; the other side gets a stand-in that calls it there.

A notebook judges what has been through here too (`as_received`), so that both judge the same value.
"""

from __future__ import annotations

import contextlib
import copy
import inspect
import itertools
import math
import sys
from array import array as flat_array
from collections import deque
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np

from .blanks import Blank, ____
from .compare import real_array
from .display import in_words
from .formula import FormulaError, sympy_kind, sympy_text
from .function_with_slope import Activation
from .written import Written

MOST_BYTES = 8 << 20  # in one message
MOST_IN_ARRAYS = MOST_BYTES * 2 // 3  # as text they take a third more
MOST_PARTS = 200_000  # in one value
A_CLASS = 50  # parts that an object counts for: it arrives with a class of its own
DEEPEST = 40  # lists in lists, and calls within calls
MOST_BITS = 14_000  # of an integer; Python writes no more digits than 14,283 have
MOST_KEYS = 1000  # of a set or dictionary: numbers can be chosen so that all their hashes are equal
NUMBERS = "?bhilqBHILQefdFD"  # kinds of numbers in arrays, in NumPy's letters
TAG = "$"


class WireError(Exception):
    """The value cannot cross, or what came is not what was agreed upon."""


class SizeLimit:
    """What is left of the largest value that can be handed over."""

    def __init__(self) -> None:
        self.parts, self.bytes = MOST_PARTS, MOST_IN_ARRAYS

    def take(self, parts: int = 1, bytes: int = 0) -> None:
        """One more part, or an array of so many bytes."""
        self.parts, self.bytes = self.parts - parts, self.bytes - bytes
        if self.parts < 0 or self.bytes < 0:
            raise WireError("it is too large to be handed over")


class Codec:
    """Makes values into data and data into values, and keeps what the other side may call.

    An `extension` may encode and decode further kinds of value: metered arrays travel that way.
    """

    def __init__(self, extension: Any = None) -> None:
        self.extension = extension
        self._handed_over: dict[int, Any] = {}
        self._numbers = itertools.count(1)
        self._described: dict[
            int, dict[str, Any]
        ] = {}  # of functions that are kept, by their identity

    def _own(self, handle: Any) -> Any:
        if type(handle) is not int or handle not in self._handed_over:
            raise WireError("it is nothing that was handed over before")
        return self._handed_over[handle]

    # -- out

    def encode(self, value: Any) -> Any:
        """The value as JSON can carry it."""
        return self._encode(value, DEEPEST, SizeLimit())

    def _encode(self, value: Any, depth: int, limit: SizeLimit) -> Any:
        kind = type(value)  # not isinstance, which asks the object itself
        if kind is np.ndarray and value.dtype.char in NUMBERS and depth:
            limit.take(1, value.nbytes)
            return self._numbers_of(value, False)
        limit.take()
        if not depth:
            raise WireError("it is too deeply nested to be handed over")
        if value is None or kind is bool or kind is str:
            return value
        if kind is float or kind is int:
            return _number(value)
        if kind is list or kind is tuple:
            parts = [self._encode(x, depth - 1, limit) for x in value]
            return parts if kind is list else {TAG: "tuple", "v": parts}

        def inner(x: Any) -> Any:
            return self._encode(x, depth - 1, limit)

        if issubclass(kind, str):
            return str.__str__(value)
        if (home := getattr(kind, "home_of_stand_in", None)) and self._is_mine(home):
            return {TAG: "yours", "handle": home[1]}
        if issubclass(kind, _ARRAYS):
            return self._array(value, inner, limit)
        if issubclass(kind, (int, float)):
            return _number(value)
        if issubclass(kind, _CONTAINERS) and kind is not Activation:
            return self._container(value, kind, inner)
        if self.extension and (special := self.extension.encode(value)) is not None:
            return special
        return self._rare(value, kind, inner)

    def _is_mine(self, home: tuple[Any, ...]) -> bool:
        """Did the other side hand this over, under the number that comes with it?"""
        return home[0] is self

    def _container(self, value: Any, kind: type, inner: Callable[..., Any]) -> Any:
        """A list, tuple, set or dictionary; one of a kind of its own comes back as itself."""
        if issubclass(kind, dict):
            data: Any = {TAG: "dict", "v": [[inner(k), inner(x)] for k, x in value.items()]}
        elif issubclass(kind, tuple | set | frozenset):
            tag = "tuple" if issubclass(kind, tuple) else "set"
            data = {TAG: tag, "v": [inner(x) for x in value]}
        else:
            data = [inner(x) for x in value]
        if kind in (list, tuple, set, frozenset, dict, range):
            return data
        return {TAG: "kin", "type": kind.__name__, "handle": self._hand_over(value), "v": data}

    def _array(self, value: Any, inner: Callable[..., Any], limit: SizeLimit) -> Any:
        if hasattr(value, "filled") and value.dtype.kind in "biuf" and np.any(value.mask):
            value = value.astype(float).filled(np.nan)  # what is masked is no number
        array = np.asarray(value)
        if array.dtype.char in "gG":  # more digits than other machines have
            array = array.astype("c16" if array.dtype.kind == "c" else "f8")
        if array.dtype.char not in NUMBERS:
            values = [inner(x) for x in array.astype(object).ravel().tolist()]
            return {TAG: "objects", "v": [list(array.shape), values]}
        limit.take(bytes=array.nbytes)
        return self._numbers_of(array, isinstance(value, np.generic))

    def _numbers_of(self, array: np.ndarray, scalar: bool) -> dict[str, Any]:
        if (dtype := array.dtype.str)[0] not in "<|":
            array = array.astype(dtype := dtype.replace(">", "<"))
        return {
            TAG: "array",
            "dtype": dtype,
            "shape": list(array.shape),
            "scalar": scalar,
            "v": array.tobytes(),
        }

    def _rare(self, value: Any, kind: type, inner: Callable[..., Any]) -> Any:
        if issubclass(kind, Blank):
            return {TAG: "blank"}
        if issubclass(kind, Decimal):
            return _number(float(value))
        if issubclass(kind, complex):
            return {TAG: "complex", "v": [_number(value.real), _number(value.imag)]}
        if issubclass(kind, Fraction):
            return {TAG: "fraction", "v": [inner(value.numerator), inner(value.denominator)]}
        if sympy_kind(value):
            return _formula(value, inner)
        if kind is Written:
            return {TAG: "written", "v": [value.text]}
        if kind is Activation:
            return {TAG: "activation", "v": [inner(x) for x in value]}
        if kind is slice:
            return {TAG: "slice", "v": [inner(x) for x in (value.start, value.stop, value.step)]}
        if value is ...:
            return {TAG: "ellipsis"}
        return self._by_number(value, kind, inner)

    def _by_number(self, value: Any, kind: type, inner: Callable[..., Any]) -> dict[str, Any]:
        """A function by its number, a plain object by its parts too; of others the type's name."""
        if (home := getattr(value, "home_of_stand_in", None)) and self._is_mine(home):
            return {TAG: "yours", "handle": home[1]}
        about: dict[str, Any] = {"type": kind.__name__}
        if callable(value):
            if id(value) not in self._described:  # kept for good, so the identity stays its own
                told = {TAG: "function", "handle": self._hand_over(value), **_signature(value)}
                self._described[id(value)] = about | told
            return self._described[id(value)]
        if (numbers := real_array(value)) is not None:  # by __array__, __float__ or as a sequence
            about["numbers"] = inner(numbers)
        if (parts := _parts(value, kind)) is not None:
            return about | {TAG: "instance", "handle": self._hand_over(value), "v": inner(parts)}
        return about | {TAG: "object", "handle": 0, "iterates": hasattr(kind, "__next__")}

    def _hand_over(self, value: Any) -> int:
        handle = next(self._numbers)
        self._handed_over[handle] = value
        return handle

    # -- in

    def decode(self, data: Any) -> Any:
        """The value that was sent; WireError if it is not as agreed."""
        if type(data) in (list, dict):
            _require_few(data)
        try:
            return self._decode(data, DEEPEST)
        except (LookupError, TypeError, ValueError, ArithmeticError, AttributeError) as error:
            raise WireError(f"it came in a form that cannot be read ({error})") from None

    def _decode(self, data: Any, depth: int) -> Any:
        if not depth:
            raise WireError("it is too deeply nested")
        if data is None or type(data) in (bool, int, float, str):
            return data
        if type(data) is list:
            return [self._decode(x, depth - 1) for x in data]
        if (tag := data[TAG]) == "array":
            return _as_array(data)
        if self.extension and (special := self.extension.decode(tag, data)) is not None:
            return special
        match tag:
            case "int":
                return int(_short(data["v"], MOST_BITS // 4), 16)
            case "float":
                return {"inf": math.inf, "-inf": -math.inf}.get(data["v"], math.nan)
            case "blank":
                return ____
            case "ellipsis":
                return ...
            case "object":
                return self._unknown(data, data.get("iterates") is True, depth)()
            case "kin":
                return self._kin(data, self._decode(data["v"], depth - 1))
            case "function":
                return self._stand_in(data)
            case "yours":
                mine = self._own(data["handle"])
                return mine if callable(mine) else copy.deepcopy(mine)
            case "instance":
                return self._instance(data, self._decode(data["v"], depth - 1), depth)
            case "set" | "dict" if len(data["v"]) > MOST_KEYS:
                raise WireError("it is a set or a dictionary with too many keys")
            case _:
                return _HOLDERS[tag]([self._decode(x, depth - 1) for x in data["v"]])

    def _stand_in(self, data: dict[str, Any]) -> Callable[..., Any]:
        """What stands here for a function on the other side."""
        raise NotImplementedError

    def _kin(self, data: dict[str, Any], plain: Any) -> Any:
        """A list, tuple, set or dictionary, which travels back as the one on the other side."""
        if type(plain) not in (list, tuple, set, dict):
            raise WireError("it is no list, tuple, set or dictionary")
        home = {"home_of_stand_in": (self, int(data["handle"]))}
        return type(word(data["type"]), (type(plain),), home)(plain)

    def _unknown(self, data: dict[str, Any], iterates: bool, depth: int) -> type:
        """A class of that name, about which is known at most which array it can be read as."""
        held: dict[str, Any] = {}
        if "numbers" in data:
            numbers = real_array(self._decode(data["numbers"], depth - 1))
            held["__array__"] = lambda self, dtype=None, copy=None: np.array(numbers, dtype)
        return type(word(data["type"]), (_Iterates,) if iterates else (), held)

    def _instance(self, data: dict[str, Any], parts: dict[str, Any], depth: int) -> Any:
        """An object with the parts of the one on the other side, which travels back as that one."""
        instance = self._unknown(data, False, depth)()
        type(instance).home_of_stand_in = (self, int(data["handle"]))
        for name, part in parts.items():
            if not word(name).startswith("__"):  # NumPy would believe an __array_interface__
                instance.__dict__[word(name)] = part
        return instance


class _Here(Codec):
    """Both sides at once: a function is itself, and arrays need no text.

    What has crossed before, and an array that counts, is left as it is.
    """

    def _is_mine(self, home: tuple[Any, ...]) -> bool:
        return isinstance(home[0], _Here)

    def _encode(self, value: Any, depth: int, limit: SizeLimit) -> Any:
        if type(value) in _PLAIN:
            return super()._encode(value, depth, limit)
        if hasattr(type(value), "home_of_stand_in") or _is_metered(type(value)):
            return {TAG: "as it is", "v": value}
        return super()._encode(value, depth, limit)

    def _numbers_of(self, array: np.ndarray, scalar: bool) -> dict[str, Any]:
        native = array.astype(array.dtype.newbyteorder("="))
        return {TAG: "as it is", "v": native[()] if scalar else native}

    def _decode(self, data: Any, depth: int) -> Any:
        if type(data) is dict and data.get(TAG) == "as it is":
            return data["v"]
        return super()._decode(data, depth)

    def _stand_in(self, data: dict[str, Any]) -> Callable[..., Any]:
        function: Callable[..., Any] = self._handed_over[data["handle"]]
        return function


_PLAIN = {float, int, bool, str, type(None)}
_SIMPLE = {float, bool, np.float64, np.int64}
_NATIVE = {np.dtype(float), np.dtype(np.float32), np.dtype(np.int64), np.dtype(bool)}


def _is_metered(kind: type) -> bool:
    arrays = sys.modules.get(f"{__package__}.meter.arrays")
    return arrays is not None and issubclass(kind, arrays.LikeAnArray)


class _Back(_Here):
    """The way back: what has crossed as an object or a list of a kind of its own is that again."""

    def _encode(self, value: Any, depth: int, limit: SizeLimit) -> Any:
        home = getattr(type(value), "home_of_stand_in", None)
        if home and self._is_mine(home):
            return {TAG: "as it is", "v": copy.deepcopy(home[0]._handed_over[home[1]])}
        if issubclass(type(value), tuple | list | dict) and type(value) is not Activation:
            return super()._encode(value, depth, limit)
        return {TAG: "as it is", "v": value}


class NotPlain(Exception):
    """More than numbers and arrays in lists and dictionaries."""


def plain_copy(value: Any, limit: SizeLimit | None = None, depth: int = DEEPEST) -> Any:
    """A copy of numbers and arrays in lists and dictionaries: as it would arrive, but quicker."""
    kind, limit = type(value), limit or SizeLimit()
    if kind is np.ndarray and depth and value.dtype in _NATIVE:
        limit.take(2, value.nbytes)
        return value.copy(order="K")
    limit.take()
    if (kind is list or kind is tuple) and depth:
        if {*map(type, value)} <= _SIMPLE:
            limit.take(len(value))
            return kind(value)
        return kind([plain_copy(x, limit, depth - 1) for x in value])
    if kind is dict and depth and {*map(type, value)} <= {str} and len(value) <= MOST_KEYS:
        return {name: plain_copy(x, limit, depth - 1) for name, x in value.items()}
    if kind in _SIMPLE or (kind is int and value.bit_length() <= 53):
        return value
    raise NotPlain


def as_received(value: Any) -> Any:
    """The value as it would arrive at another process; WireError says why it would not."""
    codec = _Here()
    try:
        return codec.decode(codec.encode(value))
    except (WireError, KeyboardInterrupt):
        raise
    except Exception as error:
        raise WireError(f"it cannot be looked into ({in_words(error)})") from None


def copied(value: Any) -> Any:
    """A copy; the thing itself where there can be none."""
    with contextlib.suppress(NotPlain, WireError):
        return plain_copy(value)
    with contextlib.suppress(Exception):  # a generator, a module
        return copy.deepcopy(value)
    return value


def as_argument(value: Any) -> Any:
    """A copy, as argument of a function whose results were received: its objects are its own."""
    if type(value) in (str, np.ndarray) or callable(value):
        return copied(value)
    with contextlib.suppress(NotPlain):
        return plain_copy(value)
    codec = _Back()
    return codec.decode(codec.encode(copied(value)))


def _require_few(data: Any) -> None:
    """What was sent has no more parts than may be: else it would be many times its message."""
    left, waiting = 2 * MOST_PARTS, [data]  # an item of a dictionary is sent as three
    while waiting and left >= 0:
        parts = waiting.pop()
        left -= A_CLASS if type(parts) is dict and "type" in parts else len(parts)
        inside = parts.values() if type(parts) is dict else parts
        waiting += [part for part in inside if type(part) in (list, dict)]
    if left < 0:
        raise WireError("it has too many parts")


# -- numbers and formulas


def _number(value: Any) -> Any:
    if isinstance(value, float):
        value = value if type(value) is float else float.__float__(value)
        return value if math.isfinite(value) else {TAG: "float", "v": repr(value)}
    value = int.__int__(value)
    if value.bit_length() <= 53:
        return value
    if value.bit_length() > MOST_BITS:
        raise WireError(f"it contains an integer of {value.bit_length()} bits")
    return {TAG: "int", "v": f"{value:x}"}


def _as_array(data: dict[str, Any]) -> Any:
    dtype, shape = np.dtype(str(data["dtype"])), tuple(map(int, data["shape"]))
    if dtype.char not in NUMBERS or (shape and not 0 <= min(shape) <= max(shape) <= MOST_BYTES):
        raise WireError("it is no array of numbers")
    array = np.frombuffer(data["v"], dtype)
    array = array.reshape(shape).astype(dtype if dtype.isnative else dtype.newbyteorder("="))
    return array[()] if data.get("scalar") is True and not shape else array


def _numbers_alone(parts: list[Any], kinds: tuple[type, ...]) -> list[Any]:
    """Two numbers that are bounded already: a text such as 1e999999999 would take minutes."""
    if len(parts) != 2 or any(type(part) not in kinds for part in parts):
        raise WireError("it is a number whose parts are none")
    return parts


def _as_objects(parts: list[Any]) -> np.ndarray:
    shape, values = parts
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array.reshape(shape)


def _formula(value: Any, inner: Callable[..., Any]) -> Any:
    """A SymPy number as a number, a matrix as its rows, anything else as text."""
    if hasattr(value, "tolist"):
        return inner(np.array(value.tolist(), dtype=object))
    if getattr(value, "is_Rational", False):
        return inner(Fraction(int(value.p), int(value.q)))
    if getattr(value, "is_number", False) and not value.has(*_unevaluated()):
        number = complex(value)
        return inner(number if number.imag else number.real)
    try:
        return sympy_text(value)
    except FormulaError:
        return {TAG: "object", "type": type(value).__name__, "handle": 0, "iterates": False}


def _unevaluated() -> tuple[Any, ...]:
    import sympy

    return sympy.Sum, sympy.core.function.AppliedUndef


# -- everything else

_ARRAYS = (np.ndarray, np.generic, flat_array, memoryview)
_CONTAINERS = (list, range, tuple, set, frozenset, dict, deque)
_HOLDERS: dict[str, Callable[[list[Any]], Any]] = {
    "tuple": tuple,
    "set": set,
    "dict": lambda items: {key: value for key, value in items},
    "complex": lambda parts: complex(*_numbers_alone(parts, (int, float))),
    "fraction": lambda parts: Fraction(*_numbers_alone(parts, (int,))),
    "objects": _as_objects,
    "slice": lambda parts: slice(*parts),
    "activation": lambda parts: Activation(*parts),
    "written": lambda parts: Written(_short(parts[0], MOST_BITS)),
}


def _signature(function: Any) -> dict[str, Any]:
    name = getattr(function, "__name__", "")
    try:
        parameters = [
            [p.name, p.kind.name, p.default is not p.empty]
            for p in inspect.signature(function).parameters.values()
        ]
    except (ValueError, TypeError):
        parameters = None
    return {"name": name if isinstance(name, str) else "", "parameters": parameters}


def _parts(value: Any, kind: type) -> dict[str, Any] | None:
    """What an object of a plain class holds; None for an iterator and what shows nothing."""
    slots = [name for base in kind.__mro__ for name in vars(base).get("__slots__", ())]
    if hasattr(kind, "__next__") or not (slots or hasattr(value, "__dict__")):
        return None
    held = {name: getattr(value, name) for name in slots if hasattr(value, name)}
    return {**held, **getattr(value, "__dict__", {})}


class _Iterates(Iterator[Any]):
    def __next__(self) -> Any:
        raise StopIteration


def word(name: Any) -> str:
    if not isinstance(name, str) or not name.isidentifier() or len(name) > 80:
        return "unnamed"
    return name


def _short(text: Any, most: int) -> str:
    if not isinstance(text, str) or len(text) > most:
        raise WireError("it contains a number that is too long")
    return text
