"""NumPy's functions: each handler computes the true result and counts it."""

from __future__ import annotations

import math
import string
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from .tables import MOVERS, OPTIONS, REDUCIBLE, REDUCTIONS, UFUNCS, named

if TYPE_CHECKING:
    from .counting import Meter

# -- ufuncs


def refuse_uncounted(m: Meter, ufunc: np.ufunc, method: str, raw: list, kwargs: dict) -> None:
    """Refuse a ufunc, one of its methods or options that the tables do not list."""
    kind = UFUNCS.get(ufunc)
    name = f"np.{ufunc.__name__}" + (f".{method}" if method != "__call__" else "")
    reduces = method in ("reduce", "accumulate")
    if kind is None or method not in OPTIONS or (reduces and ufunc.__name__ not in REDUCIBLE):
        raise m._refuse(name)
    if unknown := kwargs.keys() - OPTIONS[method]:
        raise m._refuse(f"{name} with {', '.join(sorted(unknown))}=")
    if kind == "logic" and any(np.asarray(x).dtype != bool for x in raw):
        raise m._refuse(f"{name} of numbers", "It is free on truth values only.")
    m._refuse_plain(*kwargs.get("out", ()))


def shorter_power(inputs: tuple) -> tuple[np.ufunc, tuple]:
    """NumPy computes x ** 2 as a square and x ** 0.5 as a root; so do people."""
    exponent = inputs[-1] if isinstance(inputs[-1], int | float) else None
    short = {2: np.square, 0.5: np.sqrt}.get(exponent) if exponent is not None else None
    return (short, inputs[:1]) if short else (np.power, inputs)


def applications(method: str, first: Any, options: dict, result: Any) -> int:
    """How often a ufunc was applied to numbers."""
    if method == "reduce":
        return first.size - result.size * ("initial" not in options)
    if method == "accumulate":
        return first.size - first.size // max(1, first.shape[options.get("axis", 0)])
    if "where" in options:
        return int(np.count_nonzero(np.broadcast_to(options["where"], result.shape)))
    return result.size


# -- functions


def _mover(function: Callable) -> Callable:
    def run(m: Meter, *args: Any, **kwargs: Any) -> Any:
        if function in (np.copyto, np.put_along_axis, np.fill_diagonal):
            for target in (*args[:1], *map(kwargs.get, ("dst", "arr", "a"))):
                m._refuse_plain(target)
        result = function(*m._raw(args), **m._raw(kwargs))
        if any(result is x for x in args):
            m._refuse_plain(result)
        return m._wrap(result)

    return run


def _reduction(function: Callable, kind: str) -> Callable:
    def run(m: Meter, x: Any, axis: Any = None, **options: Any) -> Any:
        if "where" in options:
            raise m._refuse(f"np.{function.__name__} with where=")
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
            raise m._refuse(f"np.{function.__name__} with where=")
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


def _clip(
    m: Meter,
    x: Any,
    a_min: Any = None,
    a_max: Any = None,
    *,
    min: Any = None,
    max: Any = None,
    out: Any = None,
) -> Any:
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
        raise m._refuse(f"np.linalg.norm of order {ord} over {dimensions} axes")
    x = x if x.dtype.kind == "f" else x.astype(float)
    if ord in (1, np.inf):
        return (np.sum if ord == 1 else np.max)(np.abs(x), axis=axis, keepdims=keepdims)
    if axis is None and not keepdims:
        flat = np.ravel(x, order="K")
        return np.sqrt(np.dot(flat, flat))
    return np.sqrt(np.sum(x * x, axis=axis, keepdims=keepdims))


def _einsum(
    m: Meter, subscripts: Any, *operands: Any, optimize: Any = False, **options: Any
) -> Any:
    if not isinstance(subscripts, str) or options:
        raise m._refuse("np.einsum in this form", "Write np.einsum('ij,jk->ik', A, B).")
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
    **{f: _reduction(f, kind) for kind, names in REDUCTIONS.items() for f in named(names).values()},
    **{function: _truth(function) for function in named("where nonzero any all").values()},
    **{function: _product(function) for function in named("dot inner vdot outer kron").values()},
    np.tensordot: _tensordot,
    np.clip: _clip,
    np.trace: _trace,
    np.var: _var,
    np.std: lambda *args, **kwargs: np.sqrt(_var(*args, **kwargs)),
    np.linalg.norm: _norm,
    np.einsum: _einsum,
}
