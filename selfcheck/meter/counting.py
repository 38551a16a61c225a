"""The meter: FLOPs by kind, MACs, numbers allocated and alive, and how they are shown."""

from __future__ import annotations

import contextlib
import html
import linecache
import math
import sys
import weakref
from collections.abc import Callable
from types import FrameType
from typing import Any, NamedTuple

import numpy as np

from ..counted_numpy import CREATORS, counted_by, counter, is_machine
from ..nesting import nested
from .arrays import MeteredArray
from .conventions import CONVENTIONS
from .functions import (
    COMPOSED,
    HANDLERS,
    applications,
    apply_at,
    product_of_last_axes,
    refuse_uncounted,
    shorter_power,
)
from .scalars import counted_by_scalars
from .tables import DATA_DECIDES, FROM_OUTSIDE, INSTEAD, OTHERWISE, PRODUCTS, UFUNCS


class NotCounted(RuntimeError):
    """The meter cannot count this exactly, so it refuses; the message names it and a way out."""


class Largest(NamedTuple):
    """The largest single array that was ever alive."""

    size: int
    shape: tuple[int, ...]


class MadeArray(NamedTuple):
    """An array that was made on the way: its shape, by which function, and in which line."""

    shape: tuple[int, ...]
    how: str
    where: str

    def __str__(self) -> str:
        shape = "×".join(map(str, self.shape)) or "1"
        return (
            f"{shape} by {self.how} in `{self.where}`" if self.where else f"{shape} by {self.how}"
        )


DECISIONS = 1000  # comparisons may steer the program so often; to read numbers by them takes more
MOST_MADE = 4  # of the largest arrays are remembered with the line that made them


class Meter:
    """What a piece of NumPy code cost: FLOPs by kind, MACs, numbers allocated, peak live memory."""

    array_type = MeteredArray

    def __init__(self, exact: bool = True) -> None:
        self.exact = exact  # else LAPACK and sorting count by textbook conventions
        self.unmetered = 0  # numbers that came from where nothing is counted
        self.flops_by_kind: dict[str, int] = {}
        self.macs = self.inputs = self.allocated = self.allocated_bytes = 0
        self.read_out = self.decisions = 0
        self.steps = 0  # operations of NumPy, large or small: how long it took to count
        self.peak = self.peak_bytes = self.peak_beyond_inputs = 0
        self.largest = Largest(0, (0,))
        self.result: Any = None
        self.refusals: list[NotCounted] = []
        self.where = ""  # the line of code at work, if it is not on this machine's stack
        self._doing = ""
        self._made: list[tuple[int, MadeArray]] = []
        self._live: dict[int, tuple[Any, ...]] = {}
        self._numbers = self._bytes = self._given = 0
        self._open = self._used = False
        self._counted = contextlib.ExitStack()
        self.steps, self.most_steps = 0, math.inf  # results handed out, and how many may be

    @property
    def flops(self) -> int:
        """All FLOPs together."""
        return sum(self.flops_by_kind.values())

    @property
    def arrays(self) -> list[MadeArray]:
        """The largest arrays that were made, and where: the largest first."""
        return [made for _, made in self._made]

    @property
    def left(self) -> int:
        """How many numbers left for where nothing is counted, a fair share of decisions apart."""
        return self.read_out - min(self.decisions, DECISIONS)

    def array(self, values: Any) -> MeteredArray:
        """A metered copy of the values, counted as an input."""
        if not self._open:
            raise RuntimeError("Metered arrays are made inside the `with meter() as m:` block.")
        plain = isinstance(values, np.ndarray) and not isinstance(values, MeteredArray)
        copy = np.array(values if plain else self._raw(values), subok=True)
        self._see(copy, given=True)
        return MeteredArray(copy, self)

    def plain(self, value: Any) -> Any:
        """The plain NumPy arrays behind a result, however it is nested."""

        def leave(x: Any) -> Any:
            if type(x) is not MeteredArray:
                return x
            self._leave(x._data.size)
            return x._data

        return nested(value, leave)

    def __enter__(self) -> Meter:
        if counter() is not None:
            raise RuntimeError("A meter is running already: measure one thing after the other.")
        if self._used:
            raise RuntimeError("A meter measures once: make a new one with meter().")
        self._open = self._used = True
        self._counted.enter_context(counted_by(self))
        return self

    def __exit__(self, *_: object) -> None:
        self._open = False
        self._counted.close()

    # -- counting

    def _count(self, kind: str, flops: int, macs: int = 0) -> None:
        if flops > 0:
            self.flops_by_kind[kind] = self.flops_by_kind.get(kind, 0) + flops
            self.macs += macs

    def _count_product(self, out_size: int, length: int) -> None:
        self._count("matmul", out_size * (2 * length - 1), out_size * length)

    def _see(self, array: np.ndarray, given: bool = False) -> None:
        """Take note of the memory under this array, unless it is known already."""
        root = array
        while isinstance(root.base, np.ndarray):
            root = root.base
        key = id(root)
        if key in self._live:
            return
        if root.dtype.kind not in "biuf" or type(array) is not np.ndarray:
            what = f"{type(array).__name__} of type {root.dtype}"
            raise self._refuse(what, "Use plain arrays of real numbers or truth values.")
        size, nbytes = root.size, root.nbytes
        ref = weakref.ref(root, lambda _: self._forget(key))
        self._live[key] = (ref, size, nbytes, size if given else 0)
        self._numbers += size
        self._bytes += nbytes
        if given:
            self.inputs += size
            self._given += size
        else:
            self.allocated += size
            self.allocated_bytes += nbytes
        self.peak = max(self.peak, self._numbers)
        self.peak_bytes = max(self.peak_bytes, self._bytes)
        self.peak_beyond_inputs = max(self.peak_beyond_inputs, self._numbers - self._given)
        if size > self.largest.size:
            self.largest = Largest(size, array.shape if array.size == size else root.shape)
        if not given and (len(self._made) < MOST_MADE or size > self._made[-1][0]):
            self._remember(size, array.shape if array.size == size else root.shape)

    def _remember(self, size: int, shape: tuple[int, ...]) -> None:
        made = MadeArray(shape, self._doing, self.where or line_at_work())
        if all(made != known for _, known in self._made):
            self._made = sorted([*self._made, (size, made)], key=lambda m: -m[0])[:MOST_MADE]

    def _leave(self, numbers: int) -> None:
        """So many numbers leave for where nothing is counted."""
        self.read_out += numbers if self._open else 0

    def _decide(self) -> None:
        """A comparison decides what is done next: a truth value leaves."""
        self.decisions += self._open
        self._leave(1)

    def _forget(self, key: int) -> None:
        _, size, nbytes, given = self._live.pop(key)
        self._numbers -= size
        self._bytes -= nbytes
        self._given -= given

    # -- in and out of the metered world

    def _raw(self, value: Any) -> Any:
        """The plain arrays under metered ones; plain arrays met on the way are taken note of."""
        kind = type(value)
        if kind is MeteredArray:
            if value._meter is self:
                return value._data
            value = value._data
        if isinstance(value, np.ndarray):
            if self._open:
                known = self.allocated
                self._see(value)
                self.unmetered += self.allocated - known
            return value
        if kind is slice:
            return slice(*(self._raw(x) for x in (value.start, value.stop, value.step)))
        return nested(value, self._raw) if kind in (tuple, list, dict) else value

    def note_plain(self, result: Any) -> None:
        """A result that is a plain array was made where nothing is counted."""

        def note(x: Any) -> Any:
            if issubclass(type(x), np.ndarray):  # isinstance asks the object itself
                self.unmetered += x.size
            return x

        nested(result, note)

    def _wrap(self, value: Any) -> Any:
        if not self._open:
            return value
        self.steps += 1
        if self.steps > self.most_steps:
            raise self._refuse("So long a loop", "Work on whole arrays.")
        if isinstance(value, np.generic):  # a NumPy scalar never changes: a frozen array of one
            value = np.array(value)
            value.flags.writeable = False
        if isinstance(value, np.ndarray):
            self._see(value)
            return MeteredArray(value, self)
        return nested(value, self._wrap) if type(value) in (tuple, list) else value

    # -- what NumPy asks for

    def _refuse(self, what: str, instead: str = "") -> NotCounted:
        instead = instead or INSTEAD.get(what.rsplit(".", 1)[-1], OTHERWISE)
        refusal = NotCounted(f"{what} is not counted by the meter. {instead}")
        running = counter()
        (running if isinstance(running, Meter) else self).refusals.append(refusal)
        return refusal

    def _refuse_plain(self, out: Any = None) -> None:
        if isinstance(out, np.ndarray) and not isinstance(out, MeteredArray):
            raise self._refuse("Writing metered numbers into a plain array", FROM_OUTSIDE)

    def _ufunc(
        self, ufunc: np.ufunc, method: str, inputs: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        self._doing = ufunc.__name__
        if method == "at":
            return apply_at(self, ufunc, *inputs)
        if ufunc is np.power:
            ufunc, inputs = shorter_power(inputs)
        if ufunc in COMPOSED and method == "__call__" and not kwargs:
            return COMPOSED[ufunc](*inputs)
        if ufunc in PRODUCTS and method == "__call__":
            return product_of_last_axes(self, ufunc, *inputs, **kwargs)
        kind, out = UFUNCS.get(ufunc), None
        raw = [np.asarray(x) if type(x) in (list, tuple) else x for x in map(self._raw, inputs)]
        if kwargs or method != "__call__" or kind is None or kind == "logic":
            refuse_uncounted(self, ufunc, method, raw, kwargs)
            (out,) = kwargs.get("out", (None,))
            if out is not None and _is_frozen(out):  # s += 1 on a scalar makes a new scalar
                out, kwargs = None, {key: x for key, x in kwargs.items() if key != "out"}
        options = self._raw(kwargs) if kwargs else kwargs
        result = getattr(ufunc, method)(*raw, **options)
        if kind == "matmul":
            self._count_product(result.size, raw[0].shape[-1])
        elif kind is not None and kind not in ("free", "logic"):
            self._count(kind, applications(method, raw[0], options, result))
        return self._wrap(result) if out is None else out

    def create(self, name: str, *args: Any, **kwargs: Any) -> Any:
        """What np.zeros and its like make while this meter runs."""
        self._doing = name
        return self._wrap(CREATORS[name](*self._raw(args), **self._raw(kwargs)))

    def call(
        self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        name = f"{function.__module__}.{function.__name__}".replace("numpy", "np", 1)
        self._refuse_plain(kwargs.get("out"))
        self._doing = function.__name__
        if function not in HANDLERS:
            return self._one_by_one(function, name, args, kwargs)
        try:
            return HANDLERS[function](self, *args, **kwargs)
        except TypeError as error:
            if (
                error.__traceback__ and error.__traceback__.tb_next is None
            ):  # the handler has no such parameter
                raise self._refuse(f"{name} with these options") from None
            raise

    def _one_by_one(
        self, function: Callable[..., Any], name: str, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """What no table lists is counted number by number, where the numbers do not decide."""
        short = name.rsplit(".", 1)[-1]
        if short in CONVENTIONS and not self.exact:
            return self._by_convention(function, short, args, kwargs)
        if short in DATA_DECIDES or short.startswith("nan") or name.count(".") > 2:
            raise self._refuse(name)
        if name.startswith("np.linalg") and not hasattr(np.linalg, short):
            raise self._refuse(name)
        try:
            return counted_by_scalars(self, function, args, kwargs)
        except NotCounted:
            raise
        except Exception:  # NumPy cannot do it with objects
            raise self._refuse(name) from None

    def _by_convention(
        self, function: Callable[..., Any], name: str, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        """What textbooks say of its cost; its inner workings are not looked at."""
        raw, options = self._raw(args), self._raw(kwargs)
        kind, cost = CONVENTIONS[name]
        batch = math.prod(np.shape(raw[0])[:-2]) if "linalg" in function.__module__ else 1
        self._count(kind, batch * cost(*raw, **options))
        return self._wrap(function(*raw, **options))

    # -- what people see

    def _rows(self) -> list[tuple[str, str]]:
        totals = {
            "FLOPs": self.flops,
            "MACs": self.macs,
            "numbers handed in": self.inputs,
            "numbers allocated": self.allocated,
            "peak of live numbers": self.peak,
            "numbers read out": self.read_out,
        }
        if self.unmetered:
            totals["numbers from elsewhere"] = self.unmetered
        counts = {**dict(sorted(self.flops_by_kind.items())), **totals}
        shape = "×".join(map(str, self.largest.shape)) or "1"
        return [*((name, f"{n:,}") for name, n in counts.items()), ("largest array", shape)]

    def __repr__(self) -> str:
        rows = self._rows()
        left, right = (max(len(row[side]) for row in rows) for side in (0, 1))
        return "\n".join(f"{name:<{left}}  {value:>{right}}" for name, value in rows)

    def _repr_html_(self) -> str:
        cells = "<tr><th style='text-align:left'>{}</th><td style='text-align:right'>{}</td></tr>"
        rows = (cells.format(html.escape(name), value) for name, value in self._rows())
        return f"<table>{''.join(rows)}</table>"


def line_at_work() -> str:
    """The line of code outside of the machine and of NumPy that is being run."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        if not is_machine(frame.f_globals.get("__name__", "")):
            line = linecache.getline(frame.f_code.co_filename, frame.f_lineno).strip()
            return line or f"line {frame.f_lineno} of {frame.f_code.co_name}"
        frame = frame.f_back
    return ""


def _is_frozen(array: MeteredArray) -> bool:
    return array._data.ndim == 0 and not array._data.flags.writeable
