"""NumPy's functions: each handler computes the true result and counts it."""

from __future__ import annotations

import math
import string
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from .loops import apply_along_axis
from .tables import MOVERS, OPTIONS, REDUCIBLE, REDUCTIONS, UFUNCS, named

if TYPE_CHECKING:
    from .counting import Meter

# -- ufuncs


def refuse_uncounted(
    m: Meter, ufunc: np.ufunc, method: str, raw: list[Any], kwargs: dict[str, Any]
) -> None:
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


def shorter_power(inputs: tuple[Any, ...]) -> tuple[np.ufunc, tuple[Any, ...]]:
    """NumPy computes x ** 2 as a square and x ** 0.5 as a root; so do people."""
    exponent = inputs[-1] if isinstance(inputs[-1], int | float) else None
    short = {2: np.square, 0.5: np.sqrt}.get(exponent) if exponent is not None else None
    return (short, inputs[:1]) if short else (np.power, inputs)


def applications(method: str, first: Any, options: dict[str, Any], result: Any) -> int:
    """How often a ufunc was applied to numbers."""
    if method == "reduce":
        return reduced(first, options.get("axis", 0), options, result)
    if method == "accumulate":
        return int(first.size - first.size // max(1, first.shape[options.get("axis", 0)]))
    if "where" in options:
        return int(np.count_nonzero(np.broadcast_to(options["where"], result.shape)))
    return int(result.size)


def reduced(x: np.ndarray, axis: Any, options: dict[str, Any], result: Any) -> int:
    """How often numbers are taken together: k − 1 times for k numbers, k times with `initial`."""
    start = "initial" not in options
    if "where" not in options:
        return x.size - np.size(result) * start
    kept = np.count_nonzero(np.broadcast_to(options["where"], x.shape), axis=axis)
    return int(np.maximum(kept - start, 0).sum())


def apply_at(m: Meter, ufunc: np.ufunc, target: Any, indices: Any, *values: Any) -> None:
    """ufunc.at: once for every index, though it be named twice."""
    if UFUNCS.get(ufunc) in (None, "matmul"):
        raise m._refuse(f"np.{ufunc.__name__}.at")
    m._refuse_plain(target)
    target, indices, *plain = (m._raw(x) for x in (target, indices, *values))
    ufunc.at(target, indices, *plain)
    if UFUNCS[ufunc] not in ("free", "logic"):
        m._count(UFUNCS[ufunc], np.size(target[indices]))


def product_of_last_axes(
    m: Meter, ufunc: np.ufunc, a: Any, b: Any, axis: int = -1, **options: Any
) -> Any:
    """vecdot, matvec and vecmat: every number that comes out is a sum of products."""
    if options or (axis != -1 and ufunc.__name__ != "vecdot"):
        raise m._refuse(f"np.{ufunc.__name__} with {', '.join(options) or 'axis'}=")
    a, b = np.asarray(m._raw(a)), np.asarray(m._raw(b))
    result = ufunc(a, b, axis=axis) if axis != -1 else ufunc(a, b)
    m._count_product(np.size(result), a.shape[axis])
    return m._wrap(result)


COMPOSED: dict[np.ufunc, Callable[..., Any]] = {
    np.logaddexp: lambda a, b: np.maximum(a, b) + np.log1p(np.exp(-np.abs(a - b))),
    np.hypot: lambda a, b: np.sqrt(a * a + b * b),
    np.degrees: lambda a: a * (180 / np.pi),
    np.radians: lambda a: a * (np.pi / 180),
    np.rad2deg: lambda a: a * (180 / np.pi),
    np.deg2rad: lambda a: a * (np.pi / 180),
}


# -- functions


def _mover(function: Callable[..., Any]) -> Callable[..., Any]:
    def run(m: Meter, *args: Any, **kwargs: Any) -> Any:
        if function.__name__ in ("copyto", "put_along_axis", "fill_diagonal"):
            for target in (*args[:1], *map(kwargs.get, ("dst", "arr", "a"))):
                m._refuse_plain(target)
        result = function(*m._raw(args), **m._raw(kwargs))
        if any(result is x for x in args):
            m._refuse_plain(result)
        return m._wrap(result)

    return run


def _reduction(function: Callable[..., Any], kind: str) -> Callable[..., Any]:
    def run(m: Meter, x: Any, axis: Any = None, **options: Any) -> Any:
        x, options = np.asarray(m._raw(x)), m._raw(options)
        result = function(x, axis=axis, **options)
        if function.__name__ in ("cumsum", "cumprod"):
            length = x.size if axis is None else x.shape[axis]
            m._count(kind, x.size - x.size // max(1, length))
        else:
            m._count(kind, reduced(x, axis, options, result))
        if function.__name__ == "mean":
            m._count("divide", np.size(result))
        return m._wrap(result)

    return run


def _truth(function: Callable[..., Any]) -> Callable[..., Any]:
    """Choices and logic are free on truth values; a number must first be compared with 0."""

    def run(m: Meter, x: Any, *args: Any, **options: Any) -> Any:
        if "where" in options:
            raise m._refuse(f"np.{function.__name__} with where=")
        x = np.asarray(m._raw(x))
        m._count("compare", x.size if x.dtype != bool else 0)
        return m._wrap(function(x, *m._raw(args), **m._raw(options)))

    return run


def _product(function: Callable[..., Any]) -> Callable[..., Any]:
    def run(m: Meter, a: Any, b: Any, **options: Any) -> Any:
        a, b = np.asarray(m._raw(a)), np.asarray(m._raw(b))
        result = function(a, b, **m._raw(options))
        size = np.size(result)
        if function.__name__ in ("outer", "kron") or 0 in (a.ndim, b.ndim):
            m._count("multiply", size)
        else:
            m._count_product(size, a.size if function.__name__ == "vdot" else a.shape[-1])
        return m._wrap(result)

    return run


def _tensordot(m: Meter, a: Any, b: Any, axes: Any = 2) -> Any:
    a, b = np.asarray(m._raw(a)), np.asarray(m._raw(b))
    result = np.tensordot(a, b, axes)
    if a.ndim + b.ndim == result.ndim:  # over no axes
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


def _over(function: Callable[..., Any], x: Any, axis: Any, keepdims: bool) -> Any:
    """A function of NumPy along an axis, for arrays of any kind: its types know only some."""
    return function(x, axis=axis, keepdims=keepdims)


def _var(m: Meter, x: Any, axis: Any = None, *, ddof: float = 0, keepdims: bool = False) -> Any:
    deviation = x - np.mean(x, axis=axis, keepdims=True)
    deviation *= deviation
    total = _over(np.sum, deviation, axis=axis, keepdims=keepdims)
    return total / (np.size(x) // max(1, np.size(total)) - ddof)


def _norm(m: Meter, x: Any, ord: Any = None, axis: Any = None, keepdims: bool = False) -> Any:
    dimensions = x.ndim if axis is None else np.size(axis)
    x = x if x.dtype.kind == "f" else x.astype(float)
    if dimensions == 2 and axis is None and ord in (1, np.inf) and not keepdims:
        return np.max(np.sum(np.abs(x), axis=0 if ord == 1 else 1))
    if dimensions == 1 and ord not in (None, 2):
        return _power_norm(x, ord, axis, keepdims)
    if ord is not None and (dimensions, ord) not in ((1, 2), (2, "fro")):
        raise m._refuse(f"np.linalg.norm of order {ord} over {dimensions} axes")
    if axis is None and not keepdims:
        flat = np.ravel(x, order="K")
        return np.sqrt(np.dot(flat, flat))
    return np.sqrt(_over(np.sum, x * x, axis=axis, keepdims=keepdims))


def _power_norm(x: Any, order: Any, axis: Any, keepdims: bool) -> Any:
    """The norm of a vector, or of every row, of any order but 2."""
    if order == 0:
        return _over(np.sum, x != 0, axis=axis, keepdims=keepdims).astype(float)
    size = np.abs(x)
    if order in (1, np.inf, -np.inf):
        totals: dict[Any, Callable[..., Any]] = {1: np.sum, np.inf: np.max, -np.inf: np.min}
        return totals[order](size, axis=axis, keepdims=keepdims)
    return _over(np.sum, size**order, axis=axis, keepdims=keepdims) ** (1 / order)


def _average(
    m: Meter, x: Any, axis: Any = None, weights: Any = None, *, keepdims: bool = False
) -> Any:
    if weights is None:
        return _over(np.mean, m._wrap(np.asarray(m._raw(x))), axis=axis, keepdims=keepdims)
    x, weights = (m._wrap(np.asarray(m._raw(part))) for part in (x, weights))
    if weights.shape != x.shape:  # one weight for each place along the axis
        spread = [1] * x.ndim
        spread[axis] = -1
        weights = weights.reshape(spread)
    total = _over(
        np.sum, weights, axis=axis if weights.shape == x.shape else None, keepdims=keepdims
    )
    weighed = _over(np.sum, x * weights, axis=axis, keepdims=keepdims)
    return weighed / (total.reshape(()) if weights.shape != x.shape else total)


def _diff(m: Meter, x: Any, n: int = 1, axis: int = -1) -> Any:
    for _ in range(n):
        moved = np.moveaxis(x, axis, -1)
        x = np.moveaxis(moved[..., 1:] - moved[..., :-1], -1, axis)
    return x


def _pad(m: Meter, x: Any, pad_width: Any, mode: Any = "constant", **options: Any) -> Any:
    if callable(mode) or mode not in ("constant", "edge", "reflect", "symmetric", "wrap", "empty"):
        raise m._refuse(f"np.pad with mode={mode}")
    return m._wrap(np.pad(m._raw(x), pad_width, mode, **m._raw(options)))


def _round(m: Meter, x: Any, decimals: int = 0) -> Any:
    result = np.round(m._raw(x), decimals)
    m._count("round", np.size(result))
    return m._wrap(result)


def _allclose(m: Meter, a: Any, b: Any, rtol: float = 1e-5, atol: float = 1e-8) -> bool:
    m._decide()
    return bool(m._raw(np.all(_isclose(m, a, b, rtol, atol))))


def _isclose(m: Meter, a: Any, b: Any, rtol: float = 1e-5, atol: float = 1e-8) -> Any:
    return np.abs(a - b) <= atol + rtol * np.abs(b)


def _array_equal(m: Meter, a: Any, b: Any) -> bool:
    m._decide()
    return np.shape(a) == np.shape(b) and bool(m._raw(np.all(a == b)))


def _count_nonzero(m: Meter, x: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
    truth = x if x.dtype == bool else x != 0
    return _over(np.sum, truth, axis=axis, keepdims=keepdims)


def _ptp(m: Meter, x: Any, axis: Any = None, *, keepdims: bool = False) -> Any:
    return _over(np.max, x, axis=axis, keepdims=keepdims) - _over(
        np.min, x, axis=axis, keepdims=keepdims
    )


def _matrix_power(m: Meter, A: Any, n: int) -> Any:
    if n < 1:
        if n == 0:
            return m._wrap(np.linalg.matrix_power(m._raw(A), 0))
        raise m._refuse("np.linalg.matrix_power below 0")
    if n <= 3:  # as NumPy does it
        return A.copy() if n == 1 else A @ A if n == 2 else (A @ A) @ A
    result, power = None, None
    while n > 0:
        power = A if power is None else power @ power
        n, bit = divmod(n, 2)
        if bit:
            result = power if result is None else result @ power
    return result


def _multi_dot(m: Meter, arrays: Any) -> Any:
    """A chain of products in the order that takes the fewest multiplications, as NumPy has it."""
    arrays = [m._wrap(np.asarray(m._raw(x))) for x in arrays]
    ends = arrays[0].ndim, arrays[-1].ndim
    if ends[0] == 1:
        arrays[0] = arrays[0].reshape(1, -1)
    if ends[1] == 1:
        arrays[-1] = arrays[-1].reshape(-1, 1)
    product = _chain(arrays, _best_splits([x.shape for x in arrays]), 0, len(arrays) - 1)
    if ends == (1, 1):
        return product[0, 0]
    return product.ravel() if 1 in ends else product


def _best_splits(shapes: list[tuple[int, int]]) -> dict[tuple[int, int], int]:
    sizes = [rows for rows, _ in shapes] + [shapes[-1][1]]
    cost = {(i, i): 0 for i in range(len(shapes))}
    split = {}
    if len(shapes) == 3:  # NumPy's short cut: ties go to the right
        a, b, c, d = sizes
        left = a * b * c + a * c * d < b * c * d + a * b * d
        return {(0, 2): 1 if left else 0, (0, 1): 0, (1, 2): 1}
    for length in range(1, len(shapes)):
        for i in range(len(shapes) - length):
            j = i + length
            costs = [
                cost[i, k] + cost[k + 1, j] + sizes[i] * sizes[k + 1] * sizes[j + 1]
                for k in range(i, j)
            ]
            split[i, j] = i + costs.index(min(costs))
            cost[i, j] = min(costs)
    return split


def _chain(arrays: list[Any], split: dict[tuple[int, int], int], i: int, j: int) -> Any:
    if i == j:
        return arrays[i]
    k = split[i, j]
    return np.dot(_chain(arrays, split, i, k), _chain(arrays, split, k + 1, j))


def _einsum(
    m: Meter, subscripts: Any, *operands: Any, optimize: Any = False, **options: Any
) -> Any:
    if options:
        raise m._refuse(f"np.einsum with {', '.join(options)}=")
    if not isinstance(subscripts, str):
        subscripts, operands = _spelled_out((subscripts, *operands))
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


def _spelled_out(parts: tuple[Any, ...]) -> tuple[str, tuple[Any, ...]]:
    """einsum(A, [0, 1], B, [1, 2], [0, 2]) as einsum("ab,bc->ac", A, B)."""

    def letters(labels: Any) -> str:
        return "".join("..." if k is Ellipsis else string.ascii_letters[k] for k in labels)

    pairs = len(parts) // 2
    arrays, labels = parts[: 2 * pairs : 2], parts[1 : 2 * pairs : 2]
    arrow = f"->{letters(parts[-1])}" if len(parts) % 2 else ""
    return ",".join(map(letters, labels)) + arrow, arrays


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


HANDLERS: dict[Callable[..., Any], Callable[..., Any]] = {
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
    np.average: _average,
    np.diff: _diff,
    np.pad: _pad,
    np.round: _round,
    np.around: _round,
    np.allclose: _allclose,
    np.isclose: _isclose,
    np.array_equal: _array_equal,
    np.count_nonzero: _count_nonzero,
    np.ptp: _ptp,
    np.apply_along_axis: lambda m, *args, **kwargs: apply_along_axis(*args, **kwargs),
    np.linalg.matrix_power: _matrix_power,
    np.linalg.multi_dot: _multi_dot,
}
ALIASES = {"matmul": np.matmul, "tensordot": np.tensordot, "outer": np.outer, "trace": np.trace,
           "diagonal": np.diagonal, "matrix_transpose": getattr(np, "matrix_transpose", None),
           "vecdot": getattr(np, "vecdot", None), "cross": np.cross}  # fmt: skip
for _name, _same in ALIASES.items():  # np.linalg has its own names for what np has
    _own = getattr(np.linalg, _name, None)
    if _own is not None and _same is not None:
        HANDLERS[_own] = lambda m, *args, _same=_same, **kwargs: _same(*args, **kwargs)
