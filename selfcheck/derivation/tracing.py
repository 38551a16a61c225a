"""Functions as lines: called with letters in place of numbers, they tell what they compute.

The function runs with a NumPy of ours and with `sum`, `zip`, `range`, `len`, `enumerate` that know
loops whose length is a letter. What looks into a number (if, while, float), changes an array in
place or is not known here is refused; then nothing is said about the function. A loop over letters
runs once and must end up in a sum.
"""

from __future__ import annotations

import builtins
import itertools
import types
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from . import calculus, monomials, tensors
from .clock import watched
from .tensors import Loops, Tensor, refused, tensor


class _Known:
    """A module of which a few functions are known."""

    def __init__(self, **known: Any) -> None:
        vars(self).update(known)

    def __getattr__(self, name: str) -> Any:
        refused()


def _sum(items: Any, start: Any = 0) -> Any:
    """Python's own sum, and that over a loop which stands for all its turns."""
    before, turns = len(Loops.opened), iter(items)
    terms = list(itertools.islice(turns, 1))
    opened = Loops.opened[before:]
    if any(letter in Loops.ended for letter, _ in opened):
        refused()  # a loop on the way, of which only its last turn was used
    terms += turns
    if not opened:
        return builtins.sum(terms, start)
    if len(terms) != 1 or not all(letter in Loops.ended for letter, _ in opened):
        refused()
    del Loops.opened[before:]
    found = tensor(terms[0])
    for letter, end in reversed(opened):
        found = tensors.each(lambda form, x=letter, e=end: form.summed(x, e), found)  # type: ignore[misc]
    return start + found


def _zip(*iterables: Any, strict: bool = False) -> Any:
    if not any(isinstance(x, Tensor | _Range) for x in iterables):
        return builtins.zip(*iterables, strict=strict)
    ends = {_end(x) for x in iterables}
    if len(ends) != 1:
        refused()
    return _together(iterables, ends.pop())


def _together(iterables: tuple[Any, ...], end: Any) -> Iterator[Any]:
    yield from Loops.turn(end, lambda letter: tuple(x.row(letter) for x in iterables))


def _end(x: Any) -> Any:
    if isinstance(x, _Range):
        return x.end
    if not isinstance(x, Tensor) or not x.sizes:
        refused()
    return x.sizes[0]


class _Range:
    """range(n) for a letter n."""

    def __init__(self, end: Any) -> None:
        self.end = end

    def row(self, letter: Any) -> Tensor:
        value = monomials.of_index(letter) - monomials.UNIT
        return Tensor((), lambda: value, place=letter)

    def __iter__(self) -> Iterator[Any]:
        for (k,) in _together((self,), self.end):
            yield k


def _range(*bounds: Any) -> Any:
    if not any(isinstance(x, Tensor) for x in bounds):
        return builtins.range(*bounds)
    if len(bounds) != 1:
        refused()
    return _Range(tensors.as_index(bounds[0]))


def _enumerate(x: Any) -> Any:
    if isinstance(x, Tensor):
        return _zip(_Range(_end(x)), x)
    return builtins.enumerate(x)


def _len(x: Any) -> Any:
    return tensors.whole(_end(x)) if isinstance(x, Tensor) else builtins.len(x)


def _float(x: Any) -> Any:
    """A number as it is."""
    return x if isinstance(x, Tensor) and not x.sizes else builtins.float(x)


def _array(x: Any, dtype: Any = None) -> Any:
    return tensor(x) if dtype in (None, builtins.float, _float) else refused()


_LINALG = _Known(
    inv=tensors.inverse, solve=tensors.solve, norm=tensors.norm, eigvalsh=tensors.eigenvalues
)
NUMPY = _Known(
    **{name: tensors.of_entries(name) for name in ("sin", "cos", "tan", "tanh", "sinh", "cosh")},
    exp=tensors.exponential, log=tensors.logarithm, sqrt=tensors.root, abs=abs, absolute=abs,
    sum=tensors.total, mean=tensors.mean, max=tensors.largest, min=tensors.smallest,
    amax=tensors.largest, amin=tensors.smallest, square=lambda x: tensor(x) * x,
    diag=tensors.diag, eye=tensors.eye, identity=tensors.eye, outer=tensors.outer,
    inner=tensors.inner, dot=lambda a, b: tensor(a) @ b, vdot=tensors.inner,
    matmul=lambda a, b: tensor(a) @ b, multiply=lambda a, b: tensor(a) * b,
    add=lambda a, b: tensor(a) + b, subtract=lambda a, b: tensor(a) - b,
    divide=lambda a, b: tensor(a) / b, power=lambda a, b: tensor(a) ** b,
    transpose=lambda a: tensor(a).T, trace=tensors.trace, ones=tensors.filled(1),
    zeros=tensors.filled(0), array=_array, asarray=_array, newaxis=None, real=tensor,
    shape=lambda x: tensor(x).shape,
    pi=tensors.number(monomials.of_atom(monomials.PI)),
    e=Tensor((), lambda: calculus.exponential(monomials.UNIT)), linalg=_LINALG, float64=_float,
)  # fmt: skip
OWN = {
    "sum": _sum, "zip": _zip, "range": _range, "len": _len, "enumerate": _enumerate,
    "float": _float, "abs": abs, "pow": pow, "tuple": tuple, "True": True, "False": False,
    "list": refused, "min": refused, "max": refused, "int": refused, "isinstance": refused,
}  # fmt: skip
BUILTINS = {**vars(builtins), **OWN}
REFUSED = ("eval", "exec", "open", "input", "globals", "locals", "vars", "getattr", "type", "id",
           "sorted", "reversed", "map", "filter", "any", "all", "iter", "next", "hasattr",
           "round", "hash", "print", "__import__")  # fmt: skip
BUILTINS |= dict.fromkeys(REFUSED, refused)


def traced(f: Callable[..., Any], arguments: Mapping[str, Any], *first: Any) -> Tensor:
    """What a function computes; Unknown if that cannot be told."""
    Loops.opened.clear()
    Loops.ended.clear()
    before = monomials.Unknown.count
    try:
        with watched():
            found = _rebuilt(f, {})(*first, **arguments)
    except Exception as trouble:
        raise monomials.Unknown from trouble
    if Loops.opened or monomials.Unknown.count != before:
        raise monomials.Unknown
    return tensor(found)


def _rebuilt(f: Any, known: dict[int, Any]) -> Any:
    """The function with our NumPy and our loops, and so all functions that it calls."""
    if isinstance(f, types.FunctionType) and "reserved_as" in vars(f):
        f = vars(f)["__wrapped__"]  # the same function behind its gate, which trials go through
    if getattr(f, "__name__", "") == "numpy" and isinstance(f, types.ModuleType):
        return NUMPY
    if isinstance(f, Tensor) or not isinstance(f, types.FunctionType | types.ModuleType):
        return f if isinstance(f, Tensor | int | float | str | None.__class__) else _Other(f)
    if isinstance(f, types.ModuleType):
        return _Known()
    if id(f) in known:
        return known[id(f)]
    own: dict[str, Any] = {"__builtins__": BUILTINS, "__name__": f.__module__}
    cells = tuple(types.CellType() for _ in f.__closure__ or ())
    defaults = f.__defaults__ and tuple(_rebuilt(x, known) for x in f.__defaults__)
    made = types.FunctionType(f.__code__, own, f.__name__, defaults, cells)
    made.__kwdefaults__ = f.__kwdefaults__ and {
        k: _rebuilt(v, known) for k, v in f.__kwdefaults__.items()
    }
    known[id(f)] = made
    for name in _names(f.__code__):
        if name in f.__globals__:
            own[name] = _rebuilt(f.__globals__[name], known)
    for cell, original in zip(cells, f.__closure__ or (), strict=True):
        cell.cell_contents = _rebuilt(original.cell_contents, known)
    return made


class _Other:
    """Something that is neither a number nor a function of Python's own: nobody may use it."""

    def __init__(self, _: Any) -> None:
        pass

    def __getattr__(self, name: str) -> Any:
        refused()

    __call__ = __iter__ = __getitem__ = __bool__ = __add__ = __radd__ = __mul__ = refused
    __rmul__ = __sub__ = __rsub__ = __truediv__ = __rtruediv__ = __matmul__ = refused
    __rmatmul__ = __pow__ = __rpow__ = __neg__ = __eq__ = __len__ = __contains__ = refused


def _names(code: types.CodeType) -> set[str]:
    found = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            found |= _names(constant)
    return found
