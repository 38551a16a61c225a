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
from typing import TYPE_CHECKING, Annotated, Any, Protocol, runtime_checkable

import numpy as np

from .formula import Formula as ReadFormula
from .formula import FormulaError, pretty, read_formula, sympy_kind, without_order
from .ids import student_id
from .record import record
from .reserved import Spared, students_code
from .sampling import current, refuting_seed, surveyed
from .time_limit import SECONDS, TooLong, patiently

if TYPE_CHECKING:
    from .meter import Meter

TOLERANCE = 1e-6  # relative: far above rounding, far below any known wrong answer
SINGLE = 1e-4  # the same for numbers of 32 bits, where it is known already that they are right
STOPPED = f"was stopped after {SECONDS:g} seconds of computing. Does one of its loops never end?"
FLOOR = 1e-12  # absolute: what rounding leaves where the exact value is 0


class Unreadable(Exception):
    """The answer cannot be checked; the message tells the student what to change."""


class NotFinite(Exception):
    """The answer gives nan or an infinity where the definition has numbers: that is wrong."""

    def __init__(self, says: str, at: str, value: Any) -> None:
        super().__init__(says)
        self.at, self.value = at, value
        self.place, self.seed = current().place, refuting_seed()


class OtherNumbers(Exception):
    """On fresh inputs the numbers are not right after all; the message shows one of them."""


class NotAttempted(Exception):
    """A blank is still in the answer."""

    def __str__(self) -> str:
        return "there is still a blank `____` here. Replace it with your answer and run the cell."

    def _render_traceback_(self) -> list[str]:
        """In a notebook: the sentence alone, for the way here through our code helps nobody."""
        return [f"Not attempted: {self}"]


class Blank:
    """The placeholder `____`. Whatever is computed with it stays blank, so nothing crashes."""

    is_blank = True
    __hash__ = object.__hash__

    def __repr__(self) -> str:
        return "____"

    def __format__(self, _: str) -> str:
        return "____"

    def _sympy_(self) -> Any:
        import sympy

        return sympy.Symbol("____")

    def _stay_blank(self, *args: Any, **kwargs: Any) -> Blank:
        return self

    __call__ = __getitem__ = __array_ufunc__ = __array_function__ = __round__ = _stay_blank
    __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = __matmul__ = _stay_blank
    __rmatmul__ = __truediv__ = __rtruediv__ = __floordiv__ = __rfloordiv__ = _stay_blank
    __mod__ = __rmod__ = __pow__ = __rpow__ = __neg__ = __pos__ = __abs__ = __invert__ = _stay_blank
    __and__ = __rand__ = __or__ = __ror__ = __xor__ = __rxor__ = _stay_blank
    __lt__ = __le__ = __gt__ = __ge__ = __eq__ = __ne__ = _stay_blank  # type: ignore[assignment]

    def __setitem__(self, key: Any, value: Any) -> None:
        pass

    def __getattr__(self, name: str) -> Blank:
        if name.startswith("_"):
            raise AttributeError(name)
        return self

    def _refuse(self, *args: Any) -> Any:
        raise NotAttempted

    __iter__ = __next__ = __bool__ = __len__ = __enter__ = _refuse
    __float__ = __int__ = __index__ = __complex__ = _refuse


____ = Blank()
_BLANK_TEXT = re.compile(r"(?<!\w)____(?!\w)")
_FLOATS = (float, np.float64)
_PLAIN = {int, float, bool, complex, np.float64, np.int64}  # no blank hides in them
_INSIDE = {list: list.__iter__, tuple: tuple.__iter__, set: set.__iter__, dict: dict.values}


def has_blank(answer: Any) -> bool:
    """Is there a `____` in this answer, also inside lists, dictionaries, arrays and formulas?"""
    seen, waiting = set(), [answer]
    while waiting:
        part = waiting.pop()
        kind = type(part)  # not isinstance, which asks the object itself
        if id(part) in seen:
            continue
        seen.add(id(part))
        if kind is np.ndarray and part.dtype != object:
            continue
        if issubclass(kind, Blank) or (issubclass(kind, str) and _BLANK_TEXT.search(part)):
            return True
        if sympy_kind(part) and any(str(s) == "____" for s in part.free_symbols):
            return True
        if issubclass(kind, np.ndarray) and part.dtype == object:
            waiting += np.ndarray.flatten(part).tolist()
        for container, values in _INSIDE.items():
            if issubclass(kind, container):
                waiting += (x for x in values(part) if type(x) not in _PLAIN)
    return False


def real_array(value: Any) -> np.ndarray | None:
    """A float array of its own, or None for what is not made of real numbers."""
    try:
        array = np.array(value)
        if array.dtype.kind == "c" and not array.imag.any():
            array = array.real
        if array.dtype.kind not in "biufO":
            return None
        if array.dtype == object and any(v is None for v in array.flat):
            return None
        return np.array(array, dtype=float)
    except (NotAttempted, KeyboardInterrupt):
        raise
    except BaseException:  # ragged lists, symbols, integers beyond floating point, hostile objects
        return None


def close(a: Any, b: Any, tolerance: float = TOLERANCE) -> bool:
    """Equal up to rounding, relative to the largest entry of the two; never if not finite."""
    if type(a) in _FLOATS and type(b) in _FLOATS:  # most are: the same, and ten times as fast
        finite = math.isfinite(a) and math.isfinite(b)
        return finite and bool(abs(a - b) <= tolerance * max(abs(a), abs(b)) + FLOOR)
    a, b = real_array(a), real_array(b)
    if a is None or b is None or a.shape != b.shape:
        return False
    if not (np.isfinite(a).all() and np.isfinite(b).all()):
        return False
    scale = max(np.abs(a).max(initial=0.0), np.abs(b).max(initial=0.0))
    with np.errstate(over="ignore"):
        return bool((np.abs(a - b) <= tolerance * scale + FLOOR).all())


def alike(a: Any, b: Any, tolerance: float = TOLERANCE) -> bool:
    """`close`, part by part where a result is a tuple, list or dictionary of several arrays."""
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(alike(a[key], b[key], tolerance) for key in a)
    if isinstance(a, tuple | list) and isinstance(b, tuple | list) and real_array(a) is None:
        return len(a) == len(b) and all(alike(*pair, tolerance) for pair in zip(a, b, strict=True))
    return close(a, b, tolerance)


def alike_where_finite(a: Any, b: Any, or_nowhere: bool = False) -> bool:
    """`alike`, or arrays that are finite in the same places, at least one, and close there."""
    if alike(a, b):
        return True
    a, b = real_array(a), real_array(b)
    if a is None or b is None or a.shape != b.shape:
        return False
    finite = np.isfinite(a)
    if not np.array_equal(finite, np.isfinite(b)) or not (finite.any() or or_nowhere):
        return False
    return close(a[finite], b[finite])


def show(value: Any, digits: int = 4, depth: int = 3) -> str:
    """A value in a sentence: few digits, no dtype, arrays on one line."""
    kind = type(value)
    if issubclass(kind, np.ndarray) and value.ndim == 0:
        return show(value.item(), digits)
    if issubclass(kind, bool | np.bool_ | complex) or value is None:
        return str(value)
    if issubclass(kind, str):
        return repr(value if len(value) <= 60 else f"{value[:57]}…")
    if issubclass(kind, int | np.integer) and abs(value) < 10**15:
        return str(int(value)).replace("-", "−")
    if issubclass(kind, float | np.floating | int):
        return _show_float(value, digits)
    if issubclass(kind, np.ndarray | list | tuple):
        return _show_many(value, digits, depth)
    if sympy_kind(value) and len(str(value)) <= 60:
        return str(value)
    return name_of(value, "a function") if callable(value) else kind.__name__


def _show_float(value: Any, digits: int) -> str:
    try:
        value = float(value) + 0.0  # no −0
    except OverflowError:
        return "a huge number"
    whole = math.isfinite(value) and value == int(value) and abs(value) < 1e6
    return (str(int(value)) if whole else f"{value:.{digits}g}").replace("-", "−")


def _show_many(values: Any, digits: int, depth: int, most: int = 24) -> str:
    if isinstance(values, np.ndarray) and values.size > most:
        return f"an array of shape {values.shape}"
    if len(values) > most or not depth:
        return f"a {type(values).__name__} of {len(values)}"
    return "[" + ", ".join(show(value, digits, depth - 1) for value in values) + "]"


def show_apart(a: Any, b: Any) -> tuple[str, str]:
    """Both values with as many digits as it takes to tell them apart: 0.3333 and 0.33333333."""
    shown = [(show(a, digits), show(b, digits)) for digits in (4, 6, 9, 17)]
    return next((pair for pair in shown if pair[0] != pair[1]), shown[0])


def show_at(point: Mapping[str, Any]) -> str:
    """`β = 0.5, t = 3`: a sample point in a sentence."""
    return ", ".join(f"{pretty(name)} = {show(value)}" for name, value in point.items())


def name_of(function: Any, otherwise: str) -> str:
    """A function's own name; a lambda and whatever has no plain name are called otherwise."""
    try:
        name = function.__name__
        return name if type(name) is str and name.isidentifier() else otherwise
    except Exception:
        return otherwise


def in_words(error: BaseException) -> str:
    """`ZeroDivisionError: division by zero`, on one line and not too long."""
    try:
        says = " ".join(str(error).split())
    except Exception:
        says = ""
    says = says if len(says) <= 200 else f"{says[:199]}…"
    return f"{type(error).__name__}: {says}".removesuffix(": ")


@runtime_checkable
class Kind(Protocol):
    """What every kind of answer can do."""

    def read(self, answer: Any, name: str) -> Any:
        """The answer as the check takes it; `name` is what messages call it."""

    def same(self, a: Any, b: Any) -> bool:
        """Are these two read answers equivalent?"""


def received(kind: Kind, answer: Any, name: str) -> Any:
    """The answer, read from what would arrive at the grader, so that both judge the same value."""
    from .encoding import WireError, crossed

    try:
        return kind.read(crossed(answer), name)
    except WireError as reason:
        raise Unreadable(f"`{name}` cannot be checked: {reason}.") from None


@record()
class Number:
    """A number; fractions, SymPy numbers and text such as "1/2" are fine."""

    def read(self, answer: Any, name: str) -> float:
        try:
            value = read_formula(answer, ()).at()
        except FormulaError as error:
            raise Unreadable(f"{pretty(name)} should be a number. {error}") from None
        if not np.isfinite(value):
            raise Unreadable(f"{pretty(name)} is not a finite number.")
        return value

    def same(self, a: float, b: float) -> bool:
        return close(a, b)


@record()
class Array:
    """Numbers in an array of the given shape; nested lists are fine."""

    shape: tuple[int, ...]

    def read(self, answer: Any, name: str) -> np.ndarray:
        return as_array(answer, self.shape, name)

    def same(self, a: np.ndarray, b: np.ndarray) -> bool:
        return close(a, b)


def as_array(answer: Any, shape: tuple[int, ...], name: str, finite: bool = True) -> np.ndarray:
    """A float array of this shape, copied; anything else is Unreadable with a sentence."""
    array = real_array(answer)
    if array is None:
        raise Unreadable(f"{name} should be an array of real numbers, not {_kind_of(answer)}.")
    if array.shape != tuple(shape):
        raise Unreadable(f"{name} has shape {array.shape}; shape {tuple(shape)} was expected.")
    if finite and not np.isfinite(array).all():
        raise Unreadable(f"{name} contains {show(array[~np.isfinite(array)][0])}.")
    return array


def _where_not(array: np.ndarray) -> str:
    """`row 2 is [nan, 1]`: the first place that is not finite."""
    if array.ndim < 2 and array.size <= 6:
        return f"it is {show(array)}"
    off = ~np.isfinite(array)
    if array.ndim == 2 and array.shape[1] <= 6:
        i = int(np.argmax(off.any(axis=1)))
        return f"row {i + 1} is {show(array[i])}"
    place = np.unravel_index(int(np.argmax(off)), array.shape)
    return f"entry {', '.join(str(k + 1) for k in place)} is {show(array[place])}"


def _kind_of(answer: Any) -> str:
    if answer is None:
        return "None (is a return missing?)"
    kind = type(answer)
    if issubclass(kind, Iterator):
        return f"a {kind.__name__} (write `list(...)` around it)"
    if issubclass(kind, list | tuple | np.ndarray):
        return f"a {kind.__name__} with other things in it or with rows of unequal length"
    return f"an object of type {kind.__name__}"


class FormulaAnswer:
    """A formula that was read, called with values for its symbols; text is kept for messages."""

    def __init__(self, formula: ReadFormula, name: str) -> None:
        self.formula, self.name = formula, name

    def __call__(self, **point: float) -> float:
        try:
            value = self.formula.at(**point)
        except FormulaError as error:
            raise Unreadable(
                f"{pretty(self.name)} has no value at {show_at(point)}. {error}"
            ) from None
        if not np.isfinite(value):
            raise Unreadable(f"{pretty(self.name)} is not a finite number at {show_at(point)}.")
        return value

    def __str__(self) -> str:
        return str(self.formula)


class Formula:
    """A formula in named symbols, each with its domain: an interval (a, b) or a range of ints."""

    def __init__(self, **domain: tuple[float, float] | range) -> None:
        self.domain = domain

    def points(self, count: int = 12) -> Iterator[dict[str, Any]]:
        """Always the same points of the domain, with few digits so that sentences stay readable."""
        rng = np.random.default_rng(0)
        columns = {name: _draw(rng, domain, count) for name, domain in self.domain.items()}
        for k in range(count):
            yield {name: values[k] for name, values in columns.items()}

    def read(self, answer: Any, name: str) -> FormulaAnswer:
        try:
            return FormulaAnswer(read_formula(answer, self.domain), name)
        except FormulaError as error:
            raise Unreadable(f"{pretty(name)} cannot be read. {error}") from None

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


class FunctionAnswer:
    """A student's function behind glass: it gets copies of its inputs, its errors become words."""

    def __init__(
        self, function: Callable[..., Any], name: str, runs: Sequence[Callable] = ()
    ) -> None:
        self.function, self.name = function, name
        self.runs = tuple(runs) or (function,)  # whose code it is

    def __call__(self, *args: Any) -> Any:
        from .encoding import returned

        if self.is_far:  # what crosses to it and back is a copy
            return self._run(args, args)
        return self._run(tuple(map(returned, args)), args)

    @property
    def is_far(self) -> bool:
        """Does the function live in another process?"""
        return hasattr(self.function, "home_of_stand_in")

    def uncopied(self, *args: Any) -> Any:
        """A call with these very objects, to see what becomes of them; the result as it is."""
        return self._run(args, args, crossing=False)

    def _run(self, given: tuple[Any, ...], args: tuple[Any, ...], crossing: bool = True) -> Any:
        """One call; sentences show `args`, which stay as they are."""
        from .encoding import Odd, WireError, crossed, plainly

        try:
            if self.is_far:
                result = self.function(*given)
            else:
                # verdicts come from values, never from warnings
                with (
                    np.errstate(all="ignore"),
                    students_code(*self.runs, lent=given),
                    patiently(self.function),
                ):
                    result = self.function(*given)
                if crossing:
                    with contextlib.suppress(Odd):
                        return plainly(result)  # nothing in it is blank
                    result = crossed(result)
        except (NotAttempted, KeyboardInterrupt):
            raise
        except Spared as why:
            raise Unreadable(str(why)) from None
        except TooLong:
            raise Unreadable(f"{self.call(*args)} {STOPPED}") from None
        except WireError as why:
            raise Unreadable(f"What {self.call(*args)} returned cannot be judged: {why}.") from None
        except BaseException as error:  # SystemExit too
            reason = re.sub(r"[\w.]+\.<locals>\.", "", in_words(error))
            reason = reason.replace("<lambda>", self.name).rstrip(".")
            raise Unreadable(f"{self.call(*args)} raised {reason}.") from None
        if has_blank(result):
            raise NotAttempted
        if result is None:
            raise Unreadable(f"{self.call(*args)} returned nothing; is a return missing?")
        return copied(result) if crossing and not self.is_far else result

    def call(self, *args: Any) -> str:
        """How this call looks in a sentence."""
        shown = [text if len(text := show(arg)) <= 200 else show(arg, depth=1) for arg in args]
        return f"{self.name}({', '.join(shown)})"

    def array(self, *args: Any, shape: tuple[int, ...], finite: bool = True) -> np.ndarray:
        """The result as an array of this shape; what is not finite is wrong, as `NotFinite`."""
        result = self(*args)
        array = real_array(result)
        if array is None or array.shape != tuple(shape):
            return as_array(result, shape, self.call(*args))  # which says what is wrong
        if finite and not np.isfinite(array).all():
            at = ", ".join(show(arg) for arg in args)
            says = f"{self.call(*args)} is not finite: {_where_not(array)}."
            raise NotFinite(says, at, array)
        return array

    def metered(self, *args: Any, like: Callable[..., Any], most_steps: float = math.inf) -> Meter:
        """What one call costs, for a function whose numbers were found right before.

        The inputs are drawn anew around the given ones, and on them the numbers have to be those
        of the function `like`: a result that was not computed from the metered arrays cannot be.
        """
        from .meter import Meter, NotCounted, measured

        if surveyed() is not None:
            raise Unreadable("A survey is about values, not about costs.")
        m = Meter()
        m.most_steps = most_steps
        args = tuple(map(_nudged, args))
        try:
            with students_code(*self.runs, lent=args), patiently(self.function, times=3):
                measured(m, self.function, args, {})
        except Spared as reason:
            raise Unreadable(str(reason)) from None
        except TooLong:
            raise Unreadable(f"{self.name} took too long to be counted.") from None
        except NotCounted as refusal:
            raise Unreadable(str(refusal)) from None
        except Exception as error:
            raise Unreadable(f"On metered arrays {self.name} raised {in_words(error)}.") from None
        wanted = like(*args)
        if not alike(m.result, wanted, SINGLE):
            if not alike(found := self(*args), wanted, SINGLE):
                raise OtherNumbers(_first_difference(found, wanted))
            raise Unreadable(
                f"On metered arrays {self.name} gives other numbers than on plain ones."
            )
        return m


def _first_difference(found: Any, wanted: Any) -> str:
    """A sentence about the first number that is not as it should be."""
    says = "On fresh inputs of the same kind the result is not right"
    mine, true = real_array(found), real_array(wanted)
    if mine is None or true is None or mine.shape != true.shape:
        return f"{says}."
    place = next(i for i in np.ndindex(true.shape) if not close(mine[i], true[i]))
    where = f"[{', '.join(map(str, place))}]" if place else ""
    shown = show_apart(mine[place], true[place])
    return f"{says}: entry {where} is {shown[0]}, and should be {shown[1]}."


def ahead(*calls: Any) -> None:
    """The calls that a check makes next, each a function and its arguments, in their order.

    Where the functions live in another process, one message asks for all of it.
    """
    if len(calls) > 1 and calls[0][0].is_far:
        peer = calls[0][0].function.home_of_stand_in[0]
        peer.ask_ahead([(f.function, args, {}) for f, *args in calls])


def ahead_in(loop: Callable[..., None], *args: Any) -> None:
    """A loop of the course calls functions as a check will call them next, with what came before.

    Where the functions live in another process the loop runs there, and what it saw is known here.
    """
    given = [a.function if isinstance(a, FunctionAnswer) else a for a in args]
    homes = [f.home_of_stand_in for f in given if hasattr(f, "home_of_stand_in")]
    if homes:
        homes[0][0].loop_ahead(loop, given)


def asks(
    answer: FunctionAnswer, calls: Callable[[Any], list] | None = None
) -> Callable[[list], None] | None:
    """For `cases(…, ahead=…)`: the calls made at a case; else there is one, with all it holds."""
    if not answer.is_far:
        return None
    at = calls or (lambda case: [(answer, *case)])
    return lambda rest: ahead(*(call for case in rest for call in at(case)))


def in_a_row(
    initial: FunctionAnswer, step: FunctionAnswer, start: Sequence[Any], tokens: Any
) -> Any:
    """All outputs of `state, y = step(state, *token)`, with nothing copied between the calls.

    So it is in a student's own loop, and a state that is shared or changed in place shows. Where
    the functions live in another process, the loop runs there.
    """
    loop = getattr(step.function, "in_a_row", in_a_row_here)
    both = initial.function, step.function
    return FunctionAnswer(lambda: loop(*both, start, tokens), step.name, runs=both)()


def in_a_row_here(initial: Any, step: Any, start: Sequence[Any], tokens: Any) -> list[Any]:
    """The loop itself."""
    state, outputs = initial(*start), []
    for token in tokens:
        state, y = step(state, *map(copied, token))
        outputs.append(copied(y))
    return outputs


def _nudged(value: Any) -> Any:
    """An array of floats, each by up to a half more or less; anything else as it is."""
    if not isinstance(value, np.ndarray) or value.dtype.kind != "f":
        return value
    return value * np.random.default_rng().uniform(0.5, 1.5, value.shape)


def copied(value: Any) -> Any:
    """A copy; the thing itself where there can be none."""
    from .encoding import Odd, WireError, plainly

    with contextlib.suppress(Odd, WireError):
        return plainly(value)
    with contextlib.suppress(Exception):  # a generator, a module
        return copy.deepcopy(value)
    return value


@record()
class Function:
    """A function, compared with another by running both on `samples` (tuples of arguments)."""

    samples: Sequence[tuple[Any, ...]] = ()

    def read(self, answer: Any, name: str) -> FunctionAnswer:
        if not callable(answer):
            raise Unreadable(
                f"{name} should be a function, not {_kind_of(answer)}; give its name without ()."
            )
        return FunctionAnswer(answer, name_of(answer, name))

    def same(self, a: FunctionAnswer, b: FunctionAnswer) -> bool:
        return bool(self.samples) and all(
            alike_where_finite(a(*args), b(*args)) for args in self.samples
        )


@record()
class Choice:
    """One of a few words; True and False stand for the words true and false."""

    options: tuple[str, ...]

    def read(self, answer: Any, name: str) -> str:
        said = str(answer) if issubclass(type(answer), str | bool | np.bool_) else ""
        words = {option.lower(): option for option in self.options}
        word = " ".join(said.lower().split())
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


class Lines:
    """The lines of a derivation: a list of formulas in these symbols and functions such as g(i)."""

    def __init__(self, symbols: Sequence[str], functions: Sequence[str] = ()) -> None:
        self.symbols, self.functions = symbols, functions

    def read(self, answer: Any, name: str) -> list[ReadFormula]:
        if not issubclass(type(answer), list | tuple):
            raise Unreadable(f"{name} should be a list of lines, not {_kind_of(answer)}.")
        if not answer:
            raise Unreadable(f"{name} is an empty list; it should have a line for every step.")
        lines = []
        for number, line in enumerate(answer, start=1):
            try:
                lines.append(read_formula(line, self.symbols, self.functions))
            except FormulaError as error:
                raise Unreadable(f"Line {number} cannot be read. {error}") from None
        return lines

    def same(self, a: list[ReadFormula], b: list[ReadFormula]) -> bool:
        return [ast.dump(line.tree) for line in a] == [ast.dump(line.tree) for line in b]


class Steps:
    """The lines of a derivation as functions; parameter names say which quantities a line uses."""

    def __init__(self, quantities: Mapping[str, Any], example: str) -> None:
        self.quantities, self.example = quantities, example

    def read(self, answer: Any, name: str) -> list[Callable[..., Any]]:
        if not issubclass(type(answer), list | tuple) or not answer:
            raise Unreadable(f"{name} should be a list with a function for every line.")
        lines_ahead([line for line in answer if self._fits(line)], [self.quantities])
        for number, line in enumerate(answer, start=1):
            self._try(line, f"Line {number}")
        return list(answer)

    def _fits(self, line: Any) -> bool:
        return inspect.isfunction(line) and self.quantities.keys() >= set(_parameters(line))

    def _try(self, line: Any, name: str) -> None:
        if not inspect.isfunction(line):
            raise Unreadable(f"{name} should be a function such as `{self.example}`.")
        for parameter in _parameters(line):
            if parameter not in self.quantities:
                raise Unreadable(
                    f"{name} has the parameter {parameter[:40]}; a line may use "
                    f"{', '.join(self.quantities)}, as in `{self.example}`."
                )
        if real_array(line_at(line, self.quantities, name)) is None:
            raise Unreadable(f"{name} does not come to an array of numbers.")

    def same(self, a: list[Callable[..., Any]], b: list[Callable[..., Any]]) -> bool:
        """All true lines have one value, so mistakes are told apart by predicates instead."""
        return False


def line_at(line: Callable[..., Any], quantities: Mapping[str, Any], name: str = "A line") -> Any:
    """The value of a line of `Steps`, which names the quantities that it uses."""
    return FunctionAnswer(line, name)(*_used(line, quantities))


def lines_ahead(lines: Iterable[Callable], places: Sequence[Mapping[str, Any]]) -> None:
    """As `ahead`, for the values of lines at these places."""
    ahead(*((FunctionAnswer(line, ""), *_used(line, at)) for line in lines for at in places))


def _used(line: Callable[..., Any], quantities: Mapping[str, Any]) -> list[Any]:
    return [quantities[name] for name in _parameters(line)]


def _parameters(line: Callable[..., Any]) -> Iterable[str]:
    return inspect.signature(line).parameters


# -- what many checks take, as annotations ---------------------------------------------------------

RealNumber = Annotated[float, Number()]
StudentId = Annotated[str, Student()]
