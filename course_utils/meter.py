"""Arithmetic that counts itself: NumPy code runs unchanged and says what it cost.

    m = measure(attention, Q, K, V)      # or: with meter() as m: Q = m.array(...); ...
    m.flops, m.flops_by_kind, m.macs, m.peak, m.largest, m.result

FLOPs. One scalar addition, subtraction, multiplication, division, comparison, exp, log, root, power
or tanh is one FLOP, on whole numbers too; broadcasting counts the numbers that come out.
* A sum or a max of k numbers costs k−1, a mean one division more, a cumsum of k numbers k−1.
* An (a×b)·(b×c) product costs a·c·(2b−1) FLOPs, kind "matmul", and a·b·c MACs. MACs are counted in
  products only (@, dot, inner, tensordot, einsum), not in `(x * y).sum()`.
* einsum without `optimize` is NumPy's single loop over all letters, so k operands cost k−1
  multiplications at every step of it; with `optimize` the path that NumPy chooses is followed.
* `x ** 2` is a multiplication, `x ** 0.5` a root, any other power one "power"; |x| is a comparison,
  clip one for each bound; a sign flip (−x) and logic on truth values are free.
* Indexing, reshaping, copying, choosing (np.where) and creating arrays cost no FLOPs.
* Arithmetic on Python numbers, such as `np.sqrt(d)` of a size d, is not counted.

Memory. An array's numbers are live from its creation until Python frees it; a view owns none, a
single number taken by indexing is a copy of one. The arguments are live throughout: they count in
`peak`, not in `allocated` and `peak_beyond_inputs`. Workspace inside one NumPy call is not seen.

Nothing leaves in silence. What the tables below do not list raises `NotCounted`. Inside the block
np.zeros, np.array, np.asarray and the other `CREATORS` give metered arrays: `np` is exchanged in
the globals of the code that is measured, of the notebook and of this package; NumPy itself stays as
it is, for libraries and other threads. A plain array from elsewhere counts as allocated when it
first meets a metered one. `float(x)` works, and `read_out` says how many numbers left that way.
What cannot be closed: arithmetic among plain arrays alone (from np.random, say), which cannot
depend on the inputs without `read_out` showing it, and code that reaches into private attributes.
An n×n array kept as n rows is seen by `peak`, not by `largest`. After the block a metered array is
ordinary data again.
"""

from __future__ import annotations

import contextlib
import functools
import html
import math
import operator
import string
import sys
import threading
import types
import weakref
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from .growth import NotPolynomial, difference, polynomial  # noqa: F401 (part of this interface)


def _numpy(names: str) -> dict[str, Callable]:
    return {name: getattr(np, name) for name in names.split()}


KINDS = {
    "add": "add",
    "subtract": "subtract",
    "multiply": "multiply square",
    "divide": "divide floor_divide remainder reciprocal",
    "compare": "maximum minimum greater greater_equal less less_equal equal not_equal absolute "
    "isnan isinf isfinite",
    "exp": "exp exp2 expm1",
    "log": "log log1p log2 log10",
    "sqrt": "sqrt",
    "power": "power",
    "tanh": "tanh",
    "sin, cos": "sin cos",
    "matmul": "matmul",
    "free": "negative positive conjugate",
    "logic": "logical_and logical_or logical_xor logical_not bitwise_and bitwise_or bitwise_xor "
    "invert",
}
UFUNCS = {ufunc: kind for kind, names in KINDS.items() for ufunc in _numpy(names).values()}
OPTIONS = {
    "__call__": {"out", "where", "dtype"},
    "outer": {"dtype"},
    "reduce": {"axis", "dtype", "out", "keepdims", "initial"},
    "accumulate": {"axis", "dtype", "out"},
}
REDUCIBLE = _numpy("add multiply maximum minimum logical_and logical_or")
REDUCTIONS = {
    "add": "sum mean cumsum",
    "multiply": "prod cumprod",
    "compare": "max min amax amin argmax argmin",
}
MOVERS = _numpy(  # views and copies: memory at most, never arithmetic
    "transpose reshape ravel squeeze expand_dims swapaxes moveaxis broadcast_to broadcast_arrays "
    "atleast_1d atleast_2d atleast_3d diagonal diag diagflat split array_split hsplit vsplit flip "
    "fliplr flipud roll concatenate stack vstack hstack column_stack dstack block append tile "
    "repeat copy tril triu take take_along_axis put_along_axis zeros_like ones_like empty_like "
    "full_like fill_diagonal copyto meshgrid delete insert shape ndim size result_type "
    "shares_memory may_share_memory"
)
METHODS = _numpy(
    "sum prod max min mean argmax argmin cumsum cumprod var std any all clip trace dot nonzero "
    "ravel squeeze swapaxes diagonal repeat copy take"
)
CREATORS = _numpy(
    "array asarray asanyarray ascontiguousarray zeros ones empty full eye identity arange linspace "
    "tri fromiter"
)
INSTEAD = {
    "allclose": "Compare results after the measurement.",
    "apply_along_axis": "Write the loop over the rows.",
    "at": "Write the loop over the indices.",
    "svd": "The cost of a decomposition depends on the data; measure the products around it.",
    "sort": "How many comparisons a sort needs depends on the data.",
    "tolist": "Keep the numbers in arrays; float(x) reads out a single one.",
}


class NotCounted(RuntimeError):
    """The meter cannot count this exactly, so it refuses; the message names it and a way out."""


def _refuse(what: str, instead: str = "") -> NotCounted:
    instead = instead or INSTEAD.get(what.rsplit(".", 1)[-1], "")
    instead = instead or "Write it with + − * /, comparisons, exp, sqrt, @, einsum, sum and max."
    refusal = NotCounted(f"{what} is not counted by the meter. {instead}")
    if Meter._running:
        Meter._running.refusals.append(refusal)
    return refusal


class Largest(NamedTuple):
    """The largest single array that was ever alive."""

    size: int
    shape: tuple[int, ...]


# -- the meter ------------------------------------------------------------------------------------


class Meter:
    """What a piece of NumPy code cost: FLOPs by kind, MACs, numbers allocated, peak live memory."""

    _running: Meter | None = None

    def __init__(self) -> None:
        self.flops_by_kind: dict[str, int] = {}
        self.macs = self.inputs = self.allocated = self.allocated_bytes = self.read_out = 0
        self.peak = self.peak_bytes = self.peak_beyond_inputs = 0
        self.largest = Largest(0, (0,))
        self.result: Any = None
        self.refusals: list[NotCounted] = []
        self._live: dict[int, tuple] = {}
        self._numbers = self._bytes = self._given = 0
        self._open = self._used = False

    @property
    def flops(self) -> int:
        """All FLOPs together."""
        return sum(self.flops_by_kind.values())

    def array(self, values: Any) -> MeteredArray:
        """A metered copy of the values, counted as an input."""
        if not self._open:
            raise RuntimeError("Metered arrays are made inside the `with meter() as m:` block.")
        copy = np.array(values if isinstance(values, np.ndarray) else self._raw(values), subok=True)
        self._see(copy, given=True)
        return MeteredArray(copy, self)

    def plain(self, value: Any) -> Any:
        """The plain NumPy arrays behind a result, however it is nested."""
        return _nested(value, lambda x: self._leave(x) if type(x) is MeteredArray else x)

    def __enter__(self) -> Meter:
        return self._start([sys._getframe(1).f_globals])

    def _start(self, namespaces: list[dict]) -> Meter:
        if Meter._running is not None:
            raise RuntimeError("A meter is running already: measure one thing after the other.")
        if self._used:
            raise RuntimeError("A meter measures once: make a new one with meter().")
        Meter._running, self._open, self._used = self, True, True
        self._exchanged = _exchange(_stand_ins(self), namespaces)
        return self

    def __exit__(self, *_: object) -> None:
        Meter._running, self._open = None, False
        for namespace, name, original, stand_in in self._exchanged:
            if namespace.get(name) is stand_in:
                namespace[name] = original

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
            raise _refuse(what, "Use plain arrays of real numbers or truth values.")
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
                self._see(value)
            return value
        if kind is slice:
            return slice(*(self._raw(x) for x in (value.start, value.stop, value.step)))
        return _nested(value, self._raw) if kind in (tuple, list, dict) else value

    def _wrap(self, value: Any) -> Any:
        if not self._open:
            return value
        if isinstance(value, np.generic):  # a NumPy scalar never changes: a frozen array of one
            value = np.array(value)
            value.flags.writeable = False
        if isinstance(value, np.ndarray):
            self._see(value)
            return MeteredArray(value, self)
        return _nested(value, self._wrap) if type(value) in (tuple, list) else value

    def _leave(self, array: MeteredArray) -> np.ndarray:
        if self._open:
            self.read_out += array._data.size
        return array._data

    # -- what NumPy asks for

    def _ufunc(self, ufunc: np.ufunc, method: str, inputs: tuple, kwargs: dict) -> Any:
        if ufunc is np.power:
            ufunc, inputs = _shorter_power(inputs)
        kind, out = UFUNCS.get(ufunc), None
        raw = [np.asarray(x) if type(x) in (list, tuple) else x for x in map(self._raw, inputs)]
        if kwargs or method != "__call__" or kind is None or kind == "logic":
            _refuse_uncounted(ufunc, kind, method, raw, kwargs)
            (out,) = kwargs.get("out", (None,))
            if out is not None and _is_frozen(out):  # s += 1 on a scalar makes a new scalar
                out, kwargs = None, {key: x for key, x in kwargs.items() if key != "out"}
        options = self._raw(kwargs) if kwargs else kwargs
        result = getattr(ufunc, method)(*raw, **options)
        if kind == "matmul":
            self._count_product(result.size, raw[0].shape[-1])
        elif kind not in ("free", "logic"):
            self._count(kind, _applications(method, raw[0], options, result))
        return self._wrap(result) if out is None else out

    def _function(self, function: Callable, args: tuple, kwargs: dict) -> Any:
        name = f"{function.__module__}.{function.__name__}".replace("numpy", "np", 1)
        if function not in HANDLERS:
            raise _refuse(name)
        _refuse_plain(kwargs.get("out"))
        try:
            return HANDLERS[function](self, *args, **kwargs)
        except TypeError as error:
            if error.__traceback__.tb_next is None:  # the handler has no such parameter
                raise _refuse(f"{name} with these options") from None
            raise

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


def meter() -> Meter:
    """A fresh meter: `with meter() as m:`, arrays by `m.array(...)`."""
    return Meter()


def measure(function: Callable, *args: Any, **kwargs: Any) -> Meter:
    """Run the function on metered copies of its arrays; `.result` keeps what it returns, plain."""
    m = meter()
    m._start([sys._getframe(1).f_globals, *_globals_of(function, *args, *kwargs.values())])
    copies: dict[int, MeteredArray] = {}  # an array handed over twice is one array

    def metered(x: Any) -> Any:
        if isinstance(x, np.ndarray) and id(x) not in copies:
            copies[id(x)] = m.array(x)
        return copies.get(id(x), x)

    try:
        result = function(*_nested(args, metered), **_nested(kwargs, metered))
        if isinstance(result, Iterator):
            raise _refuse("An iterator that has not run yet", "Return arrays.")
        if m.refusals:  # also those that the function caught and kept to itself
            raise m.refusals[0]
    finally:
        m.__exit__()
    m.result = m.plain(result)
    return m


def _is_frozen(array: MeteredArray) -> bool:
    return array._data.ndim == 0 and not array._data.flags.writeable


def _refuse_plain(out: Any = None) -> None:
    if isinstance(out, np.ndarray):
        raise _refuse("Writing metered numbers into a plain array", FROM_OUTSIDE)


FROM_OUTSIDE = (
    "Make arrays by np.zeros or np.array inside the measured code, with `import numpy as np` at "
    "the top, and keep to functions that the meter counts."
)


def _nested(value: Any, leaf: Callable) -> Any:
    if type(value) in (tuple, list):
        return type(value)([_nested(x, leaf) for x in value])
    if type(value) is dict:
        return {key: _nested(x, leaf) for key, x in value.items()}
    return leaf(value)


def _refuse_uncounted(ufunc: np.ufunc, kind: str | None, method: str, raw: list, kwargs: dict):
    name = f"np.{ufunc.__name__}" + (f".{method}" if method != "__call__" else "")
    reduces = method in ("reduce", "accumulate")
    if kind is None or method not in OPTIONS or (reduces and ufunc.__name__ not in REDUCIBLE):
        raise _refuse(name)
    if unknown := kwargs.keys() - OPTIONS[method]:
        raise _refuse(f"{name} with {', '.join(sorted(unknown))}=")
    if kind == "logic" and any(np.asarray(x).dtype != bool for x in raw):
        raise _refuse(f"{name} of numbers", "It is free on truth values only.")
    _refuse_plain(*kwargs.get("out", ()))


def _shorter_power(inputs: tuple) -> tuple[np.ufunc, tuple]:
    """NumPy computes x ** 2 as a square and x ** 0.5 as a root; so do people."""
    exponent = inputs[-1] if isinstance(inputs[-1], int | float) else None
    short = {2: np.square, 0.5: np.sqrt}.get(exponent)
    return (short, inputs[:1]) if short else (np.power, inputs)


def _applications(method: str, first: Any, options: dict, result: Any) -> int:
    """How often a ufunc was applied to numbers."""
    if method == "reduce":
        return first.size - result.size * ("initial" not in options)
    if method == "accumulate":
        return first.size - first.size // max(1, first.shape[options.get("axis", 0)])
    if "where" in options:
        return int(np.count_nonzero(np.broadcast_to(options["where"], result.shape)))
    return result.size


# -- `np` as the measured code sees it ------------------------------------------------------------


def _stand_ins(m: Meter) -> dict[int, Any]:
    """What replaces NumPy and its creators, by the id of the original."""
    thread = threading.get_ident()

    def metered(creator: Callable) -> Callable:
        @functools.wraps(creator)
        def create(*args: Any, **kwargs: Any) -> Any:
            if not m._open or threading.get_ident() != thread:
                return creator(*args, **kwargs)
            return m._wrap(creator(*m._raw(args), **m._raw(kwargs)))

        return create

    creators = {name: metered(creator) for name, creator in CREATORS.items()}
    stand_in = _MeteredNumPy("numpy")
    vars(stand_in).update(creators)
    return {id(np): stand_in, **{id(CREATORS[name]): new for name, new in creators.items()}}


class _MeteredNumPy(types.ModuleType):
    def __getattr__(self, name: str) -> Any:
        return _AnyArray if name == "ndarray" else getattr(np, name)


class _EitherArray(type):
    def __instancecheck__(cls, x: Any) -> bool:
        return isinstance(x, np.ndarray) or type(x) is MeteredArray


class _AnyArray(metaclass=_EitherArray):
    """np.ndarray for measured code that asks isinstance(x, np.ndarray)."""


def _globals_of(*values: Any) -> list[dict]:
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


def _exchange(stand_ins: dict[int, Any], namespaces: list[dict]) -> list[tuple]:
    """Put the stand-ins into these globals, the notebook's and this package's; say where."""
    for name, module in list(sys.modules.items()):
        if name == "__main__" or name.partition(".")[0] == __name__.partition(".")[0]:
            namespaces.append(vars(module))
    exchanged = []
    for namespace in namespaces:
        owner = namespace.get("__name__", "")
        if owner == __name__ or owner.partition(".")[0] == "numpy":
            continue
        for name, value in list(namespace.items()):
            if (stand_in := stand_ins.get(id(value))) is not None:
                namespace[name] = stand_in
                exchanged.append((namespace, name, value, stand_in))
    return exchanged


# -- NumPy's functions: each handler computes the true result and counts it -----------------------


def _mover(function: Callable) -> Callable:
    def run(m: Meter, *args: Any, **kwargs: Any) -> Any:
        if function in (np.copyto, np.put_along_axis, np.fill_diagonal):
            for target in (*args[:1], *map(kwargs.get, ("dst", "arr", "a"))):
                _refuse_plain(target)
        result = function(*m._raw(args), **m._raw(kwargs))
        if any(result is x for x in args):
            _refuse_plain(result)
        return m._wrap(result)

    return run


def _reduction(function: Callable, kind: str) -> Callable:
    def run(m: Meter, x: Any, axis: Any = None, **options: Any) -> Any:
        if "where" in options:
            raise _refuse(f"np.{function.__name__} with where=")
        x = np.asarray(m._raw(x))
        result = function(x, axis=axis, **m._raw(options))
        if function in (np.cumsum, np.cumprod):
            length = x.size if axis is None else x.shape[axis]
            m._count(kind, x.size - x.size // max(1, length))
        else:
            m._count(kind, x.size - np.size(result) * ("initial" not in options))
        if function is np.mean:
            m._count("divide", np.size(result))
        return m._wrap(result)

    return run


def _truth(function: Callable) -> Callable:
    """Choices and logic are free on truth values; a number must first be compared with 0."""

    def run(m: Meter, x: Any, *args: Any, **options: Any) -> Any:
        if "where" in options:
            raise _refuse(f"np.{function.__name__} with where=")
        x = np.asarray(m._raw(x))
        m._count("compare", x.size if x.dtype != bool else 0)
        return m._wrap(function(x, *m._raw(args), **m._raw(options)))

    return run


def _product(function: Callable) -> Callable:
    def run(m: Meter, a: Any, b: Any, **options: Any) -> Any:
        a, b = np.asarray(m._raw(a)), np.asarray(m._raw(b))
        result = function(a, b, **m._raw(options))
        size = np.size(result)
        if function in (np.outer, np.kron) or 0 in (a.ndim, b.ndim):
            m._count("multiply", size)
        else:
            m._count_product(size, a.size if function is np.vdot else a.shape[-1])
        return m._wrap(result)

    return run


def _tensordot(m: Meter, a: Any, b: Any, axes: Any = 2) -> Any:
    a, b = np.asarray(m._raw(a)), np.asarray(m._raw(b))
    result = np.tensordot(a, b, axes)
    if isinstance(axes, int) and axes == 0:
        m._count("multiply", result.size)
    else:  # |a|·|b| = |result|·length²
        m._count_product(result.size, math.isqrt(a.size * b.size // max(1, result.size)))
    return m._wrap(result)


def _clip(m: Meter, x: Any, a_min=None, a_max=None, *, min=None, max=None, out=None) -> Any:
    low, high = a_min if min is None else min, a_max if max is None else max
    result = np.clip(m._raw(x), m._raw(low), m._raw(high), out=m._raw(out))
    m._count("compare", np.size(result) * ((low is not None) + (high is not None)))
    return m._wrap(result)


def _trace(m: Meter, x: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    return np.sum(np.diagonal(x, offset, axis1, axis2), axis=-1)


def _var(m: Meter, x: Any, axis: Any = None, *, ddof: float = 0, keepdims: bool = False) -> Any:
    deviation = x - np.mean(x, axis=axis, keepdims=True)
    deviation *= deviation
    total = np.sum(deviation, axis=axis, keepdims=keepdims)
    return total / (np.size(x) // max(1, np.size(total)) - ddof)


def _norm(m: Meter, x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    dimensions = x.ndim if axis is None else np.size(axis)
    if ord is not None and (dimensions, ord) not in ((1, 1), (1, 2), (1, np.inf), (2, "fro")):
        raise _refuse(f"np.linalg.norm of order {ord} over {dimensions} axes")
    x = x if x.dtype.kind == "f" else x.astype(float)
    if ord in (1, np.inf):
        return (np.sum if ord == 1 else np.max)(np.abs(x), axis=axis, keepdims=keepdims)
    if axis is None and not keepdims:
        flat = np.ravel(x, order="K")
        return np.sqrt(np.dot(flat, flat))
    return np.sqrt(np.sum(x * x, axis=axis, keepdims=keepdims))


def _einsum(m: Meter, subscripts: Any, *operands: Any, optimize: Any = False, **options) -> Any:
    if not isinstance(subscripts, str) or options:
        raise _refuse("np.einsum in this form", "Write np.einsum('ij,jk->ik', A, B).")
    arrays = [np.asarray(m._raw(x)) for x in operands]
    *terms, out = _letters(subscripts, [x.ndim for x in arrays])
    path = [tuple(range(len(arrays)))]
    if optimize:
        path = np.einsum_path(",".join(terms) + "->" + out, *arrays, optimize=optimize)[0][1:]
    work = list(zip(terms, arrays, strict=True))
    for step in path:
        taken = [work.pop(i) for i in sorted(step, reverse=True)][::-1]
        needed = out + "".join(term for term, _ in work)
        here = dict.fromkeys("".join(term for term, _ in taken))
        kept = "".join(c for c in here if c in needed) if work else out
        result = _contract(m, taken, kept)
        if work:
            m._see(result)
        work.append((kept, result))
    return m._wrap(result[()] if result.ndim == 0 else result)


def _letters(subscripts: str, dimensions: list[int]) -> list[str]:
    """The letters of each operand and of the result, with every ellipsis spelled out."""
    inputs, arrow, out = subscripts.replace(" ", "").partition("->")
    terms = inputs.split(",")
    if len(terms) != len(dimensions):
        raise ValueError(f"einsum {subscripts!r} needs {len(terms)} operands.")
    dots = [n - len(t.replace("...", "")) for t, n in zip(terms, dimensions, strict=True)]
    if any(d < 0 or (d > 0 and "..." not in t) for t, d in zip(terms, dots, strict=True)):
        raise ValueError(f"einsum {subscripts!r} does not fit operands of {dimensions} axes.")
    if arrow and max(dots) and "..." not in out:
        raise ValueError(f"einsum {subscripts!r} needs its ... in the result too.")
    widest = max(dots)
    fresh = "".join(c for c in string.ascii_letters if c not in inputs)
    if not arrow:
        named = inputs.replace("...", "").replace(",", "")
        out = "..." + "".join(sorted(c for c in set(named) if named.count(c) == 1))
    spelled = [
        t.replace("...", fresh[widest - d : widest]) for t, d in zip(terms, dots, strict=True)
    ]
    return [*spelled, out.replace("...", fresh[:widest])]


def _contract(m: Meter, taken: list[tuple[str, np.ndarray]], out: str) -> np.ndarray:
    """One einsum loop over all letters: multiply the operands, add up what is not kept."""
    sizes: dict[str, int] = {}
    for term, array in taken:
        for letter, size in zip(term, array.shape, strict=True):
            sizes[letter] = size if size != 1 else sizes.get(letter, 1)
    result = np.einsum(",".join(t for t, _ in taken) + "->" + out, *(x for _, x in taken))
    loop, size = math.prod(sizes.values()), np.size(result)
    if len(taken) > 1 and set(sizes) - set(out):
        m._count("matmul", loop * len(taken) - size, loop)
    else:
        m._count("multiply", loop * (len(taken) - 1))
        m._count("add", loop - size)
    return np.asarray(result)


HANDLERS: dict[Callable, Callable] = {
    **{function: _mover(function) for function in MOVERS.values()},
    **{
        f: _reduction(f, kind) for kind, names in REDUCTIONS.items() for f in _numpy(names).values()
    },
    **{function: _truth(function) for function in _numpy("where nonzero any all").values()},
    **{function: _product(function) for function in _numpy("dot inner vdot outer kron").values()},
    np.tensordot: _tensordot,
    np.clip: _clip,
    np.trace: _trace,
    np.var: _var,
    np.std: lambda *args, **kwargs: np.sqrt(_var(*args, **kwargs)),
    np.linalg.norm: _norm,
    np.einsum: _einsum,
}


# -- the arrays -----------------------------------------------------------------------------------


class MeteredArray(np.lib.mixins.NDArrayOperatorsMixin):
    """An array that reports what is done with it, and refuses what cannot be counted."""

    __slots__ = ("_data", "_meter")

    def __init__(self, data: np.ndarray, meter: Meter) -> None:
        self._data, self._meter = data, meter

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **kwargs: Any) -> Any:
        if self._meter._open:
            return self._meter._ufunc(ufunc, method, inputs, kwargs)
        return getattr(ufunc, method)(*_nested(inputs, _data), **_nested(kwargs, _data))

    def __array_function__(self, function: Callable, types: Any, args: tuple, kwargs: dict) -> Any:
        if self._meter._open:
            return self._meter._function(function, args, kwargs)
        return function(*_nested(args, _data), **_nested(kwargs, _data))

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        if self._meter._open:
            raise _refuse("Turning a metered array into a plain one", FROM_OUTSIDE)
        return np.array(self._data, dtype=dtype, copy=copy)

    def __getattr__(self, name: str) -> Any:
        if name in ("shape", "ndim", "size", "dtype", "itemsize", "nbytes"):
            return getattr(self._data, name)
        if name in ("T", "mT", "real"):
            return self._meter._wrap(getattr(self._data, name))
        if name in ("reshape", "transpose", "astype", "flatten"):
            method = getattr(self._data, name)
            return lambda *args, **kwargs: self._meter._wrap(method(*args, **kwargs))
        if name in METHODS:
            return functools.partial(METHODS[name], self)
        if hasattr(np.ndarray, name) and not name.startswith("__"):
            raise _refuse(f"ndarray.{name}")
        raise AttributeError(f"A metered array has no attribute {name!r}.")

    def __getitem__(self, index: Any) -> Any:
        return self._meter._wrap(self._data[self._meter._raw(index)])

    def __setitem__(self, index: Any, value: Any) -> None:
        self._data[self._meter._raw(index)] = self._meter._raw(value)

    def fill(self, value: Any) -> None:
        self[...] = value

    def item(self, *index: Any) -> Any:
        self._meter.read_out += self._meter._open
        return self._data.item(*self._meter._raw(index))

    def __float__(self) -> float:
        return float(self.item())

    def __int__(self) -> int:
        return int(self.item())

    def __index__(self) -> int:
        return operator.index(self.item())

    def __bool__(self) -> bool:
        if self._meter._open and self.dtype != bool:
            self._meter._count("compare", 1)
        return bool(self._data)

    def __len__(self) -> int:
        return len(self._data)

    def __iter__(self) -> Any:
        return (self[i] for i in range(len(self)))

    def __contains__(self, value: Any) -> bool:
        return bool(np.any(self == value))

    def __copy__(self) -> Any:
        return self.copy()

    def __deepcopy__(self, memo: dict) -> Any:
        return self.copy()

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise _refuse("Pickling a metered array", "Take `m.result` or `m.plain(x)`.")

    def __repr__(self) -> str:
        return repr(self._data).replace("array", "metered", 1)

    def __str__(self) -> str:
        return str(self._data)

    def __format__(self, spec: str) -> str:
        return format(self._data, spec)


def _data(x: Any) -> Any:
    """The array under a metered one whose block has ended."""
    return x._data if type(x) is MeteredArray and not x._meter._open else x
