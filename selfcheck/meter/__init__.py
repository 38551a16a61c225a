"""Arithmetic that counts itself: NumPy code runs unchanged and says what it cost.

    m = measure(product, A, B, x)      # or: with meter() as m: A = m.array(...); ...
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

What no table lists is counted all the same, number by number, on arrays of numbers that count
themselves (`scalars.py`); the true numbers must come out. Only what the numbers themselves decide
(sorting) or what is hidden in LAPACK (inverses, decompositions) raises `NotCounted`; `estimate`
counts these by textbook conventions (`conventions.py`), and the kind names the convention.
A wrapper holds temporaries that NumPy would use again, so `peak` may be above the truth.

Nothing leaves in silence. `float(x)`, `x.tolist()`, `str`, `repr` and `format` work, and `read_out`
says how many numbers left that way; a comparison that Python asks for (`if x > 0`) lets a truth
value leave, and counts among `decisions` too. A result that would compute later (an iterator, an
object with `__array__`) is computed while it is counted. Inside the block np.zeros, np.array,
np.asarray and the other `CREATORS` give metered arrays, wherever the measured code has them from
(`counted_numpy.py`); other threads have NumPy as it is. A plain array from elsewhere counts as
allocated when it first meets a metered one, and `m.unmetered` says how many numbers came so: what
was done among plain arrays before is not counted, and this tells it. `m.arrays` names the largest
arrays with the lines of code that made them.
`measure` takes arrays in closures, defaults, globals and attributes for inputs, and refuses those
of other libraries. What cannot be closed: arithmetic among plain arrays alone (from np.random,
say), which `unmetered` shows once they come in, and code that reaches into private attributes.
An n×n array kept as n rows is seen by `peak`, not by `largest`. After the block a metered array is
ordinary data again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ..growth import Growth, NotPolynomial, difference, growth, polynomial
from ..nesting import nested
from .arrays import MeteredArray
from .counting import Largest, MadeArray, Meter, NotCounted
from .functions import HANDLERS
from .reach import lifted

__all__ = [
    "HANDLERS",
    "Growth",
    "Largest",
    "MadeArray",
    "Meter",
    "MeteredArray",
    "NotCounted",
    "NotPolynomial",
    "difference",
    "estimate",
    "growth",
    "measure",
    "measured",
    "meter",
    "nested",
    "polynomial",
    "realized",
]


def meter(exact: bool = True) -> Meter:
    """A fresh meter: `with meter() as m:`, arrays by `m.array(...)`.

    Without `exact`, LAPACK and sorting count by textbook conventions; else they are refused.
    """
    return Meter(exact)


def measure(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Meter:
    """Run the function on metered copies of its arrays; `.result` keeps what it returns, plain.

    Arrays in its closure, its defaults, the globals it names and its object count as inputs, too.
    """
    return measured(meter(), function, args, kwargs, reached="given")


def estimate(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Meter:
    """As `measure`, with textbook conventions for LAPACK and sorting, named in `flops_by_kind`."""
    return measured(meter(exact=False), function, args, kwargs, reached="given")


def measured(
    m: Meter,
    function: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    reached: str = "given",
) -> Meter:
    """As `measure`, with a meter that may know how many steps are enough.

    Arrays that the function reaches without being handed them are "given", as inputs are, or
    "made".
    """
    copies: dict[int, MeteredArray] = {}  # an array handed over twice is one array
    kept: list[Any] = []  # so that no other array takes the place of one that is gone

    def metered(x: Any) -> Any:
        if isinstance(x, np.ndarray) and not isinstance(x, MeteredArray) and id(x) not in copies:
            copies[id(x)] = m.array(x)
            kept.append(x)
        if is_foreign(x):
            kind = f"{type(x).__module__}.{type(x).__name__}"
            raise m._refuse(f"An array of the kind {kind}", "Hand over NumPy arrays.")
        return copies.get(id(x), x)

    def made(x: Any) -> Any:
        return x if isinstance(x, MeteredArray) else m.create("array", np.array(x))

    with m, lifted(function, metered if reached == "given" else made, m.plain):
        result = realized(function(*nested(args, metered), **nested(kwargs, metered)))
        m.note_plain(result)
        if m.refusals:  # also those that the function caught and kept to itself
            raise m.refusals[0]
    m.result = m.plain(result)
    return m


def is_foreign(x: Any) -> bool:
    """Whether this is an array of another library: nothing of it would be counted."""
    if isinstance(x, np.ndarray | np.generic | str | bytes | type):
        return False
    return hasattr(type(x), "__array__") or hasattr(type(x), "__array_interface__")


def realized(result: Any, array: type = MeteredArray) -> Any:
    """What a result would compute later is computed now, while it is counted."""

    def leaf(x: Any) -> Any:
        if isinstance(x, Iterator):
            return realized(list(x), array)
        if type(x) is array or isinstance(x, np.ndarray | np.generic | str | bytes | type):
            return x
        if callable(getattr(x, "__array__", None)):
            return x.__array__()
        kind = type(x)
        if hasattr(kind, "__len__") and hasattr(kind, "__getitem__") and not hasattr(kind, "keys"):
            return realized([x[i] for i in range(len(x))], array)
        return x

    return nested(result, leaf)
