"""Kinds of answer: how a student's number, array, formula or function is read and compared.

Each kind has `read`, which turns what was handed over into something a check can use or raises
`Unreadable` with a sentence for the student, and `same`, which says whether two read answers are
equivalent (that is how a known wrong answer is recognized, however it is written).
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .formula import Formula as ReadFormula
from .formula import FormulaError, pretty, read_formula

TOLERANCE = 1e-6  # relative: far above rounding, far below any known wrong answer


class Unreadable(Exception):
    """The answer cannot be checked; the message tells the student what to change."""


class NotAttempted(Exception):
    """A blank is still in the answer."""


class Blank:
    """The placeholder `____`. Whatever is computed with it stays blank, so nothing crashes."""

    is_blank = True

    def __repr__(self) -> str:
        return "____"

    def _stay_blank(self, *args: Any, **kwargs: Any) -> Blank:
        return self

    __call__ = __getitem__ = __array_ufunc__ = __array_function__ = _stay_blank
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __matmul__ = __rmatmul__ = (
        _stay_blank
    )
    __truediv__ = __rtruediv__ = __pow__ = __rpow__ = __neg__ = __pos__ = __abs__ = _stay_blank
    __lt__ = __le__ = __gt__ = __ge__ = _stay_blank

    def __getattr__(self, name: str) -> Blank:
        if name.startswith("_"):
            raise AttributeError(name)
        return self

    def _refuse(self, *args: Any) -> Any:
        raise NotAttempted

    __iter__ = __bool__ = __float__ = __int__ = __index__ = __len__ = _refuse


____ = Blank()


def has_blank(answer: Any) -> bool:
    """Is there a `____` in this answer, also inside lists, tuples, dictionaries and arrays?"""
    if isinstance(answer, Blank) or (isinstance(answer, str) and answer.strip() == "____"):
        return True
    if isinstance(answer, Mapping):
        return any(has_blank(value) for value in answer.values())
    if isinstance(answer, list | tuple):
        return any(has_blank(value) for value in answer)
    return (
        isinstance(answer, np.ndarray) and answer.dtype == object and has_blank(list(answer.flat))
    )


def close(a: Any, b: Any, tolerance: float = TOLERANCE) -> bool:
    """Equal up to rounding, relative to the larger of the two; other shapes are not close."""
    a, b = np.asarray(a, dtype=float), np.asarray(b, dtype=float)
    if a.shape != b.shape or not (np.isfinite(a).all() and np.isfinite(b).all()):
        return False
    scale = max(np.abs(a).max(initial=0.0), np.abs(b).max(initial=0.0))
    return bool((np.abs(a - b) <= tolerance * scale + 1e-12).all())


def show(value: Any) -> str:
    """A value in a sentence: few digits, no dtype, arrays on one line."""
    if isinstance(value, bool | np.bool_ | str):
        return repr(value)
    if isinstance(value, int | np.integer):
        return str(int(value))
    if isinstance(value, float | np.floating):
        return f"{float(value):.4g}".replace("-", "−")
    if isinstance(value, np.ndarray | list | tuple) and np.size(value) <= 24:
        return (
            "[" + ", ".join(show(v) for v in value) + "]" if np.ndim(value) else show(value.item())
        )
    if isinstance(value, np.ndarray):
        return f"an array of shape {value.shape}"
    return "a function" if callable(value) else type(value).__name__


def show_at(point: Mapping[str, Any]) -> str:
    """`β = 0.5, t = 3`: a sample point in a sentence."""
    return ", ".join(f"{pretty(name)} = {show(value)}" for name, value in point.items())


@dataclass(frozen=True)
class Number:
    """A number; fractions, SymPy numbers and text such as "1/2" are fine."""

    def read(self, answer: Any, name: str) -> float:
        if isinstance(answer, np.ndarray) and answer.ndim == 0:
            answer = answer.item()
        try:
            value = read_formula(answer, ()).at()
        except FormulaError as error:
            raise Unreadable(f"{name} should be a number. {error}") from None
        if not np.isfinite(value):
            raise Unreadable(f"{name} is not a finite number.")
        return value

    def same(self, a: float, b: float) -> bool:
        return close(a, b)


@dataclass(frozen=True)
class Array:
    """Numbers in an array of the given shape; nested lists are fine."""

    shape: tuple[int, ...]

    def read(self, answer: Any, name: str) -> np.ndarray:
        return as_array(answer, self.shape, name)

    def same(self, a: np.ndarray, b: np.ndarray) -> bool:
        return close(a, b)


def as_array(answer: Any, shape: tuple[int, ...], name: str, finite: bool = True) -> np.ndarray:
    """A float array of this shape, copied; anything else is Unreadable with a sentence."""
    try:
        array = np.array(answer, dtype=float)
    except (TypeError, ValueError):
        raise Unreadable(f"{name} should be an array of numbers, not {_kind_of(answer)}.") from None
    if array.shape != shape:
        raise Unreadable(f"{name} has shape {array.shape}; shape {shape} was expected.")
    if finite and not np.isfinite(array).all():
        raise Unreadable(f"{name} contains {show(array[~np.isfinite(array)][0])}.")
    return array


def _kind_of(answer: Any) -> str:
    if answer is None:
        return "None (is a return missing?)"
    return f"a {type(answer).__name__}"


class FormulaAnswer:
    """A formula that was read, called with values for its symbols; text is kept for messages."""

    def __init__(self, formula: ReadFormula, name: str) -> None:
        self.formula, self.name = formula, name

    def __call__(self, **point: float) -> float:
        value = self.formula.at(**point)
        if not np.isfinite(value):
            raise Unreadable(f"{self.name} is not a finite number at {show_at(point)}.")
        return value

    def __str__(self) -> str:
        return str(self.formula)


class Formula:
    """A formula in named symbols, each with its domain: an interval (a, b) or a range of ints."""

    def __init__(self, **domain: tuple[float, float] | range) -> None:
        self.domain = domain

    def points(self, count: int = 12) -> Iterator[dict[str, float]]:
        """Always the same points of the domain, with two digits so that sentences stay readable."""
        rng = np.random.default_rng(0)
        for _ in range(count):
            yield {name: _draw(rng, domain) for name, domain in self.domain.items()}

    def read(self, answer: Any, name: str) -> FormulaAnswer:
        try:
            return FormulaAnswer(read_formula(answer, self.domain), name)
        except FormulaError as error:
            raise Unreadable(str(error)) from None

    def same(self, a: FormulaAnswer, b: FormulaAnswer) -> bool:
        return all(close(a(**point), b(**point)) for point in self.points())


def _draw(rng: np.random.Generator, domain: tuple[float, float] | range) -> float:
    if isinstance(domain, range):
        return int(rng.choice(domain))
    low, high = domain
    return round(low + (high - low) * float(rng.uniform(0.1, 0.9)), 2)


class FunctionAnswer:
    """A student's function behind glass: it gets copies of its inputs, its errors become words."""

    def __init__(self, function: Callable[..., Any], name: str) -> None:
        self.function, self.name = function, name

    def __call__(self, *args: Any) -> Any:
        try:
            result = self.function(*copy.deepcopy(args))
        except NotAttempted:
            raise
        except (Exception, SystemExit) as error:
            reason = f"{type(error).__name__}: {error}".rstrip(": ")
            raise Unreadable(f"{self.call(*args)} raised {reason}") from None
        if has_blank(result):
            raise NotAttempted
        if result is None:
            raise Unreadable(f"{self.call(*args)} returned nothing; is a return missing?")
        return copy.deepcopy(result)

    def call(self, *args: Any) -> str:
        """How this call looks in a sentence."""
        return f"{self.name}({', '.join(show(arg) for arg in args)})"

    def array(self, *args: Any, shape: tuple[int, ...], finite: bool = True) -> np.ndarray:
        """The result as an array of this shape."""
        return as_array(self(*args), shape, self.call(*args), finite)


@dataclass(frozen=True)
class Function:
    """A function, compared with another by running both on `samples` (tuples of arguments)."""

    samples: Sequence[tuple[Any, ...]] = ()

    def read(self, answer: Any, name: str) -> FunctionAnswer:
        if not callable(answer):
            raise Unreadable(
                f"{name} should be a function, not {_kind_of(answer)}; give its name without ()."
            )
        return FunctionAnswer(answer, getattr(answer, "__name__", name))

    def same(self, a: FunctionAnswer, b: FunctionAnswer) -> bool:
        return all(close(a(*args), b(*args)) for args in self.samples)


@dataclass(frozen=True)
class Choice:
    """One of a few words."""

    options: tuple[str, ...]

    def read(self, answer: Any, name: str) -> str:
        word = answer.strip().lower() if isinstance(answer, str) else answer
        if word not in self.options:
            raise Unreadable(f"{name} should be one of {', '.join(map(repr, self.options))}.")
        return word

    def same(self, a: str, b: str) -> bool:
        return a == b


class Lines:
    """The lines of a derivation: a list of formulas in these symbols and functions such as g(i)."""

    def __init__(self, symbols: Sequence[str], functions: Sequence[str] = ()) -> None:
        self.symbols, self.functions = symbols, functions

    def read(self, answer: Any, name: str) -> list[ReadFormula]:
        if not isinstance(answer, list | tuple) or not answer:
            raise Unreadable(f"{name} should be a list of lines, not {_kind_of(answer)}.")
        lines = []
        for number, line in enumerate(answer, start=1):
            try:
                lines.append(read_formula(line, self.symbols, self.functions))
            except FormulaError as error:
                raise Unreadable(f"Line {number} cannot be read. {error}") from None
        return lines

    def same(self, a: list[ReadFormula], b: list[ReadFormula]) -> bool:
        return [str(line) for line in a] == [str(line) for line in b]
