"""Values as plain data: what can cross between the student's process and the judge, and as what.

Values become JSON. Nothing is ever unpickled or evaluated: numbers, texts, lists and arrays arrive
as such, a formula as text, and of everything else only the type's name is known. A function stays
where it is, under a number; the other side gets a stand-in that calls it there.
"""

from __future__ import annotations

import base64
import copy
import inspect
import itertools
import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from course_utils.answers import Blank, ____
from course_utils.formula import FormulaError, sympy_kind, sympy_text
from course_utils.rnn import Activation

MOST_BYTES = 8 << 20  # in one message
MOST_PARTS = 200_000  # in one value
DEEPEST = 40  # lists in lists, and calls within calls
MOST_BITS = 20_000  # of an integer
MOST_KEYS = 1000  # of a set or dictionary: numbers can be chosen so that all their hashes are equal
NUMBERS = "?bhilqBHILQefdFD"  # kinds of numbers in arrays, in NumPy's letters
TAG = "$"


class WireError(Exception):
    """The value cannot cross, or what came is not what was agreed upon."""


class Values:
    """Makes values into data and data into values, and keeps what the other side may call.

    An `extension` may encode and decode further kinds of value: metered arrays travel that way.
    """

    def __init__(self, extension: Any = None) -> None:
        self.extension = extension
        self._kept: dict[int, Any] = {}
        self._numbers = itertools.count(1)

    def in_a_row_there(self, initial: Any, step: Any, start: Any, tokens: Any) -> Any:
        """The outputs of a loop over a state that stays on the other side."""
        raise NotImplementedError

    def call_there(self, handle: int, args: list, named: dict) -> Any:
        """Call the function that the other side keeps under this number; args are encoded."""
        raise NotImplementedError

    def _mine(self, handle: Any) -> Any:
        if type(handle) is not int or handle not in self._kept:
            raise WireError("it is nothing that was handed over before")
        return self._kept[handle]

    # -- out

    def encode(self, value: Any) -> Any:
        """The value as JSON can carry it."""
        return self._encode(value, DEEPEST, itertools.count())

    def _encode(self, value: Any, depth: int, parts: Iterator[int]) -> Any:
        if not depth or next(parts) > MOST_PARTS:
            raise WireError("it is too large or too deeply nested to be handed over")

        def inner(x: Any) -> Any:
            return self._encode(x, depth - 1, parts)

        kind = type(value)  # not isinstance, which asks the object itself
        if value is None or kind in (bool, str):
            return value
        if issubclass(kind, np.ndarray | np.generic):
            return _array(value, inner)
        if issubclass(kind, int | float):
            return _number(value)
        if issubclass(kind, list | range):
            return [inner(x) for x in value]
        if issubclass(kind, tuple | set | frozenset) and kind is not Activation:
            tag = "tuple" if issubclass(kind, tuple) else "set"
            return {TAG: tag, "v": [inner(x) for x in value]}
        if issubclass(kind, dict):
            return {TAG: "dict", "v": [[inner(k), inner(x)] for k, x in value.items()]}
        if self.extension and (special := self.extension.encode(value)) is not None:
            return special
        return self._rare(value, kind, inner)

    def _rare(self, value: Any, kind: type, inner: Callable) -> Any:
        if issubclass(kind, Blank):
            return {TAG: "blank"}
        if issubclass(kind, str):
            return str.__str__(value)
        if issubclass(kind, complex):
            return {TAG: "complex", "v": [_number(value.real), _number(value.imag)]}
        if issubclass(kind, Fraction):
            return {TAG: "fraction", "v": [inner(value.numerator), inner(value.denominator)]}
        if sympy_kind(value):
            return _formula(value, inner)
        if kind is Activation:
            return {TAG: "activation", "v": [inner(x) for x in value]}
        if kind is slice:
            return {TAG: "slice", "v": [inner(x) for x in (value.start, value.stop, value.step)]}
        if value is ...:
            return {TAG: "ellipsis"}
        return self._kept_here(value, kind, inner)

    def _kept_here(self, value: Any, kind: type, inner: Callable) -> dict:
        """A function by its number, a plain object by its parts too; of others the type's name."""
        if (home := getattr(value, "home_of_stand_in", None)) and home[0] is self:
            return {TAG: "yours", "handle": home[1]}
        about: dict = {"type": kind.__name__, "handle": next(self._numbers)}
        if callable(value):
            about |= {TAG: "function"} | _signature(value)
        elif (parts := _parts(value, kind)) is not None:
            about |= {TAG: "instance", "v": inner(parts)}
        else:
            return about | {TAG: "object", "iterates": hasattr(kind, "__next__")}
        self._kept[about["handle"]] = value
        return about

    # -- in

    def decode(self, data: Any) -> Any:
        """The value that was sent; WireError if it is not as agreed."""
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
        tag = data[TAG]
        if self.extension and (special := self.extension.decode(tag, data)) is not None:
            return special
        match tag:
            case "array":
                return _as_array(data)
            case "int":
                return int(_short(data["v"], MOST_BITS // 4), 16)
            case "float":
                return {"inf": math.inf, "-inf": -math.inf}.get(data["v"], math.nan)
            case "blank":
                return ____
            case "ellipsis":
                return ...
            case "object":
                return _unknown(data, data.get("iterates") is True)()
            case "function":
                return self._stand_in(data)
            case "yours":
                mine = self._mine(data["handle"])
                return mine if callable(mine) else copy.deepcopy(mine)
            case "instance":
                return self._instance(data, self._decode(data["v"], depth - 1))
            case "set" | "dict" if len(data["v"]) > MOST_KEYS:
                raise WireError("it is a set or a dictionary with too many keys")
            case _:
                return _HOLDERS[tag]([self._decode(x, depth - 1) for x in data["v"]])

    def _stand_in(self, data: dict) -> Callable:
        """A function that calls the one on the other side, with that one's name and parameters."""
        handle = int(data["handle"])

        def stand_in(*args: Any, **named: Any) -> Any:
            encoded = {name: self.encode(x) for name, x in named.items()}
            return self.call_there(handle, [self.encode(x) for x in args], encoded)

        stand_in.home_of_stand_in = (self, handle)
        stand_in.in_a_row = self.in_a_row_there
        stand_in.__name__ = data["name"] if data["name"] == "<lambda>" else word(data["name"])
        if data["parameters"] is not None:
            stand_in.__signature__ = inspect.Signature(list(map(_parameter, data["parameters"])))
        return stand_in

    def _instance(self, data: dict, parts: dict) -> Any:
        """An object with the parts of the one on the other side, which travels back as that one."""
        instance = _unknown(data, False)()
        type(instance).home_of_stand_in = (self, int(data["handle"]))
        for name, part in parts.items():
            if not word(name).startswith("__"):  # NumPy would believe an __array_interface__
                instance.__dict__[word(name)] = part
        return instance


# -- numbers and formulas


def _number(value: Any) -> Any:
    if isinstance(value, float):
        value = float.__float__(value)
        return value if math.isfinite(value) else {TAG: "float", "v": repr(value)}
    value = int.__int__(value)
    if value.bit_length() <= 53:
        return value
    if value.bit_length() > MOST_BITS:
        raise WireError(f"it contains an integer of {value.bit_length()} bits")
    return {TAG: "int", "v": f"{value:x}"}


def _array(value: Any, inner: Callable) -> Any:
    array = np.asarray(value)
    if array.nbytes > MOST_BYTES:
        raise WireError("it is too large to be handed over")
    if array.dtype.char not in NUMBERS:
        values = [inner(x) for x in array.astype(object).ravel().tolist()]
        return {TAG: "objects", "v": [list(array.shape), values]}
    array = array.astype(array.dtype.newbyteorder("<"), copy=False)
    return {
        TAG: "array",
        "dtype": array.dtype.str,
        "shape": list(array.shape),
        "scalar": isinstance(value, np.generic),
        "v": base64.b64encode(array.tobytes()).decode(),
    }


def _as_array(data: dict) -> Any:
    dtype, shape = np.dtype(str(data["dtype"])), tuple(int(n) for n in data["shape"])
    if dtype.char not in NUMBERS or not all(0 <= n <= MOST_BYTES for n in shape):
        raise WireError("it is no array of numbers")
    array = np.frombuffer(base64.b64decode(data["v"], validate=True), dtype)
    array = array.reshape(shape).astype(dtype.newbyteorder("="))
    return array[()] if data.get("scalar") is True and not shape else array


def _as_objects(parts: list) -> np.ndarray:
    shape, values = parts
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array.reshape(shape)


def _formula(value: Any, inner: Callable) -> Any:
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


def _unevaluated() -> tuple:
    import sympy

    return sympy.Sum, sympy.core.function.AppliedUndef


# -- everything else

_HOLDERS: dict[str, Callable[[list], Any]] = {
    "tuple": tuple,
    "set": set,
    "dict": lambda items: {key: value for key, value in items},
    "complex": lambda parts: complex(*parts),
    "fraction": lambda parts: Fraction(*parts),
    "objects": _as_objects,
    "slice": lambda parts: slice(*parts),
    "activation": lambda parts: Activation(*parts),
}


def _signature(function: Any) -> dict:
    name = getattr(function, "__name__", "")
    try:
        parameters = [
            [p.name, p.kind.name, p.default is not p.empty]
            for p in inspect.signature(function).parameters.values()
        ]
    except (ValueError, TypeError):
        parameters = None
    return {"name": name if isinstance(name, str) else "", "parameters": parameters}


def _parameter(about: list) -> inspect.Parameter:
    name, kind, has_default = about
    kinds = {k.name: k for k in type(inspect.Parameter.VAR_KEYWORD)}
    default = None if has_default else inspect.Parameter.empty
    return inspect.Parameter(word(name), kinds[kind], default=default)


def _parts(value: Any, kind: type) -> dict | None:
    """What an object of a plain class holds; None for an iterator and what shows nothing."""
    slots = [name for base in kind.__mro__ for name in vars(base).get("__slots__", ())]
    if hasattr(kind, "__next__") or not (slots or hasattr(value, "__dict__")):
        return None
    held = {name: getattr(value, name) for name in slots if hasattr(value, name)}
    return {**held, **getattr(value, "__dict__", {})}


def _unknown(data: dict, iterates: bool) -> type:
    """A class of that name, about which nothing else is known."""
    return type(word(data["type"]), (_Iterates,) if iterates else (), {})


class _Iterates(Iterator):
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
