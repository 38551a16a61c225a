"""Kinds of answer: how a student's number, array, formula or function is read and compared.

Each kind has `read`, which turns what was handed over into something a check can use or raises
`Unreadable` with a sentence for the student, and `same`, which says whether two read answers are
equivalent (that is how a known wrong answer is recognized, however it is written).
"""

from __future__ import annotations

import ast
import contextlib
import copy
import inspect
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Annotated, Any, Protocol, runtime_checkable

import numpy as np

from .calls import FunctionAnswer, line_at, parameters
from .compare import alike_where_finite, as_array, close, real_array
from .display import name_of, show, show_at, type_in_words
from .encoding import WireError, as_received
from .forms import Forms
from .formula import (
    FormulaError,
    ReadFormula,
    as_text,
    canonical,
    names_in,
    pretty,
    read_formula,
    sympy_kind,
    without_order,
)
from .ids import student_id
from .refusals import NotFinite, Unreadable
from .written import Written

if TYPE_CHECKING:
    from .derivation import Derivation


@runtime_checkable
class Kind(Protocol):
    """What every kind of answer can do."""

    def read(self, answer: Any, name: str) -> Any:
        """The answer as the check takes it; `name` is what messages call it."""

    def same(self, a: Any, b: Any) -> bool:
        """Are these two read answers equivalent?"""


def received(kind: Kind, answer: Any, name: str) -> Any:
    """The answer, read from what would arrive at the grader, so that both judge the same value."""
    try:
        return kind.read(as_received(answer), name)
    except WireError as reason:
        raise Unreadable(f"`{name}` cannot be checked: {reason}.") from None


class OfNumbers:
    """For kinds of numbers: two answers are the same if they are close."""

    def same(self, a: Any, b: Any) -> bool:
        return close(a, b)


@dataclass(frozen=True)
class Number(OfNumbers):
    """A number; fractions, SymPy numbers and text such as "1/2" are fine."""

    def read(self, answer: Any, name: str) -> float:
        try:
            value = read_formula(answer, ()).at()
        except FormulaError as error:
            raise Unreadable(f"{pretty(name)} should be a number. {error}") from None
        if not np.isfinite(value):
            raise Unreadable(f"{pretty(name)} is not a finite number.")
        return value


def with_texts_read(answer: Any, name: str) -> Any:
    """Lists of numbers, in which a number may be text such as "11/6"."""
    if issubclass(type(answer), list | tuple):
        return [with_texts_read(part, name) for part in answer]
    return Number().read(answer, f"Each entry of {name}") if type(answer) is str else answer


@dataclass(frozen=True)
class Array(OfNumbers):
    """Numbers in an array of the given shape; nested lists are fine."""

    shape: tuple[int, ...]

    def read(self, answer: Any, name: str) -> np.ndarray:
        return as_array(with_texts_read(answer, name), self.shape, name)


class FormulaAnswer:
    """A formula that was read, called with values for its symbols; text is kept for messages."""

    def __init__(self, formula: ReadFormula, name: str, lacks: Sequence[str] = ()) -> None:
        self.formula, self.name, self.lacks = formula, name, lacks

    def __call__(self, **point: float) -> float:
        """The value at a point; an infinity or nan there is wrong, as `NotFinite`."""
        value = self.value(**point)
        if not np.isfinite(value):
            says = f"{pretty(self.name)} is not a finite number at {show_at(point)}"
            raise NotFinite(f"{says}: it is {show(value)}.", show_at(point), value)
        return value

    def value(self, **point: float) -> float:
        """The same, where an infinity is a value like others."""
        try:
            return self.formula.at(**point)
        except FormulaError as error:
            raise Unreadable(
                f"{pretty(self.name)} has no value at {show_at(point)}. {error}"
            ) from None

    def __str__(self) -> str:
        return str(self.formula)


class Formula:
    """A formula in named symbols, each with its domain: an interval (a, b) or a range of ints."""

    needed: tuple[str, ...] = ()
    forms: Forms | None = None

    def __init__(self, **domain: tuple[float, float] | range) -> None:
        self.domain = domain

    def needing(self, *names: str) -> Formula:
        """The same kind, of which every right answer has these symbols.

        A formula without one was perhaps made after the symbol was given a value.
        """
        kind = copy.copy(self)
        kind.needed = names or tuple(self.domain)
        return kind

    def written(self, forms: Forms) -> Formula:
        """The same kind, whose symbols may be written so too."""
        kind = copy.copy(self)
        kind.forms = forms
        return kind

    def points(self, count: int = 12) -> Iterator[dict[str, Any]]:
        """Always the same points of the domain, with few digits so that sentences stay readable."""
        rng = np.random.default_rng(0)
        columns = {name: _draw(rng, domain, count) for name, domain in self.domain.items()}
        for k in range(count):
            yield {name: values[k] for name, values in columns.items()}

    def read(self, answer: Any, name: str) -> FormulaAnswer:
        try:
            read = read_formula(answer, self.domain, forms=self.forms)
        except FormulaError as error:
            raise Unreadable(f"{pretty(name)} cannot be read. {error}") from None
        there = names_in(read.tree)
        return FormulaAnswer(read, name, [n for n in self.needed if canonical(n) not in there])

    def same(self, a: FormulaAnswer, b: FormulaAnswer) -> bool:
        return all(close(a(**point), b(**point)) for point in self.points())


class Growth(Formula):
    """A formula that tells how something grows; `O(n²)` and `Θ(n²)` are fine."""

    def read(self, answer: Any, name: str) -> FormulaAnswer:
        return super().read(without_order(answer), name)


def _draw(rng: np.random.Generator, domain: tuple[float, float] | range, count: int) -> list[float]:
    if isinstance(domain, range):  # the ends, and every number between them if there are few
        last = len(domain) - 1
        if last < count:
            picks = np.resize(rng.permutation(last + 1), count).tolist()
        else:
            picks = [0, last, *rng.integers(last, size=count - 2)]
        return [domain[int(k)] for k in picks]
    low, high = domain
    digits = max(2, 1 - math.floor(math.log10(high - low)))
    return [round(low + (high - low) * float(u), digits) for u in rng.uniform(0.1, 0.9, count)]


@dataclass(frozen=True)
class Function:
    """A function, compared with another by running both on `samples` (tuples of arguments).

    Where the numbers are not all, `alike` says whether two that give the same ones are the same.
    """

    samples: Sequence[tuple[Any, ...]] = ()
    may_return_none: bool = False  # as the first state of a loop may be
    alike: Callable[[FunctionAnswer, FunctionAnswer], bool] | None = None

    def read(self, answer: Any, name: str) -> FunctionAnswer:
        if not callable(answer):
            kind = type_in_words(answer)
            raise Unreadable(f"{name} should be a function, not {kind}; give its name without ().")
        read = FunctionAnswer(answer, name_of(answer, name))
        read.may_return_none = self.may_return_none
        return read

    def same(self, a: FunctionAnswer, b: FunctionAnswer) -> bool:
        same = (alike_where_finite(a(*args), b(*args)) for args in self.samples)
        return bool(self.samples) and all(same) and (self.alike is None or self.alike(a, b))


@dataclass(frozen=True)
class Choice:
    """One of a few words; True and False stand for the words true and false."""

    options: tuple[str, ...]

    def read(self, answer: Any, name: str) -> str:
        text = str(answer) if issubclass(type(answer), str | bool | np.bool_) else ""
        words = {option.lower(): option for option in self.options}
        word = " ".join(text.lower().split())
        if word not in words:
            options = ", ".join(map(repr, self.options))
            raise Unreadable(f"{pretty(name)} should be one of {options}.")
        return words[word]

    def same(self, a: str, b: str) -> bool:
        return a == b


class Student:
    """A student id, a whole number or text, by which a check knows that student's numbers."""

    def read(self, answer: Any, name: str) -> str:
        try:
            return student_id(answer)
        except ValueError as error:
            raise Unreadable(str(error)) from None

    def same(self, a: str, b: str) -> bool:
        return a == b


MOST_LINES = 500  # of a derivation


class Lines:
    """The lines of a derivation: a list of formulas in these symbols and functions such as g(i).

    A text is a whole chain, a = b = c, as it is pasted from LaTeX; `forms` are other ways to write
    the symbols. A line may be a function of the symbols as well.
    """

    goes_by_lines = True  # those before the first blank one are judged

    def __init__(
        self, symbols: Sequence[str], functions: Sequence[str] = (), forms: Forms | None = None
    ) -> None:
        self.symbols, self.functions, self.forms = symbols, functions, forms

    def read(self, answer: Any, name: str) -> list[ReadFormula]:
        return each_line(answer, name, self.line)

    def line(self, line: Any, name: str) -> ReadFormula:
        """One line."""
        if callable(line) and not sympy_kind(line):
            _refuse_parameters(line, self.symbols, name)
            try:
                line = line_at(line, {n: Written(n) for n in self.symbols}, "it")
            except Unreadable as error:
                why = re.sub(r"it\(.*?\) raised", "it raised", str(error))
                says = f"{name} does not come to a formula when it is called with symbols: {why}"
                raise Unreadable(f"{says} Write it as text, a sum as Sum(…, (i, 1, t)).") from None
            line = str(line) if isinstance(line, Written) else line
        return read_formula(line, self.symbols, self.functions, forms=self.forms)

    def same(self, a: list[ReadFormula], b: list[ReadFormula]) -> bool:
        return [ast.dump(line.tree) for line in a] == [ast.dump(line.tree) for line in b]


def each_line(answer: Any, name: str, read: Callable[..., Any], relations: str = "=") -> list[Any]:
    """The lines of a list, or of a pasted chain, each of them read; others than = are told."""
    before: list[tuple[str, ...]] = []
    if issubclass(type(answer), str):
        (first, *answer), before = _pasted(str.__str__(answer), name, relations)
        with contextlib.suppress(FormulaError, Unreadable):  # else it only names the start
            read(first, name)
            answer, before = [first, *answer], [(), *before]
    if not issubclass(type(answer), list | tuple):
        raise Unreadable(f"{name} should be a list of lines, not {type_in_words(answer)}.")
    if not answer:
        raise Unreadable(f"{name} is an empty list; it should have a line for every step.")
    if len(answer) > MOST_LINES:
        raise Unreadable(f"{name} has {len(answer)} lines; {MOST_LINES} is the limit.")
    lines = []
    for number, line in enumerate(answer, start=1):
        try:
            relation = before[number - 1] if before else ()
            lines.append(read(line, f"Line {number}", *relation))
        except FormulaError as error:
            raise Unreadable(f"Line {number} cannot be read. {error}") from None
    return lines


def _pasted(text: str, name: str, relations: str) -> tuple[list[str], list[tuple[str, ...]]]:
    r"""The parts of a chain as it is written: `… = a = b`, or an aligned block of LaTeX."""
    from .derivation.pasted import LEADING, rows_of

    try:
        rows = rows_of(f"… {text}" if LEADING.match(text) else text)
    except FormulaError as error:
        raise Unreadable(f"{name} cannot be read. {error}") from None
    if len(rows) == 1:
        raise Unreadable(f"{name} should be a list of lines, or one chain such as … = a = b.")
    for number, row in enumerate(rows[1:], start=1):
        if not row.relation or row.relation not in relations:
            what = f"begins with {row.relation}" if row.relation else "has no = before it"
            raise Unreadable(f"Line {number} of {name} {what}; {in_words_of(relations)}.")
    return [row.tex for row in rows], [() if r.relation == "=" else (r.relation,) for r in rows[1:]]


def in_words_of(relations: str) -> str:
    """Which relations a derivation has, as the end of a sentence."""
    if relations == "=":
        return "every line is an equality here"
    return f"a line has one of {' '.join(relations)} before it here"


class Steps:
    """The lines of a derivation as functions; parameter names say which quantities a line uses.

    A line of text becomes such a function: `derivation` knows how the quantities are written.
    """

    goes_by_lines = True

    def __init__(
        self, quantities: Mapping[str, Any], example: str, derivation: Callable[[], Derivation]
    ) -> None:
        self.quantities, self.example, self.derivation = quantities, example, derivation

    def read(self, answer: Any, name: str) -> list[Callable[..., Any]]:
        return each_line(answer, name, self.line)

    def line(self, line: Any, name: str) -> Callable[..., Any]:
        """One line."""
        if is_text(line):
            line = self._written(as_text(line))
        if not inspect.isfunction(line):
            raise Unreadable(f"{name} should be text or a function such as `{self.example}`.")
        _refuse_parameters(line, self.quantities, name, f", as in `{self.example}`")
        if real_array(line_at(line, self.quantities, name)) is None:
            raise Unreadable(f"{name} does not come to an array of numbers.")
        return line

    def _written(self, text: str) -> Callable[..., Any]:
        value = self.derivation().values_of(text)

        def line(*given: Any) -> Any:
            return value(dict(zip(self.quantities, given, strict=True)))

        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        about = inspect.Signature([inspect.Parameter(n, kind) for n in self.quantities])
        vars(line).update(vars(value), __signature__=about, text=text, value=value)
        return line

    def same(self, a: list[Callable[..., Any]], b: list[Callable[..., Any]]) -> bool:
        """All true lines have one value, so mistakes are told apart by predicates instead."""
        return False


def is_text(line: Any) -> bool:
    """Whether a line is written, rather than a function."""
    return issubclass(type(line), str | int | float | Fraction)


def as_written(line: Callable[..., Any]) -> Any:
    """A line of `Steps` as a derivation takes it: its text, if it was written so."""
    return vars(line).get("text", line)


def _refuse_parameters(line: Any, known: Iterable[str], name: str, such_as: str = "") -> None:
    asked = inspect.signature(line).parameters
    names = [*parameters(line)]
    while (
        names and names[-1] not in known and asked[names[-1]].default is not inspect.Parameter.empty
    ):
        names.pop()  # such as `k=1`, an affair of its own
    for parameter in names:
        if parameter not in known:
            raise Unreadable(
                f"{name} has the parameter {parameter[:40]}; a line may use "
                f"{', '.join(known)}{such_as}."
            )


# -- what many checks take, as annotations ---------------------------------------------------------

RealNumber = Annotated[float, Number()]
StudentId = Annotated[str, Student()]
