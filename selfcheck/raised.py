"""What a student's function raised: the line of theirs at which it stopped, and the usual cause."""

from __future__ import annotations

import ast
import contextlib
import inspect
import itertools
import linecache
import re
from collections.abc import Iterable
from types import FrameType, TracebackType
from typing import Any

import numpy as np

from .display import show

LONGEST = 120  # characters of a line
MOST_VALUES = 4  # that are told of it


def where_it_stopped(error: BaseException, functions: Iterable[Any]) -> str:
    """``It stopped at `s = Q @ K`, where Q has the shape (2, 4) …``; nothing if none is known.

    The line is the last one that belongs to the code of these functions, or beside it: what it
    called elsewhere, in NumPy or in the course, is not the student's.
    """
    if (told := getattr(error, "stopped_at", None)) is not None:  # in another process, or unknown
        return str(told)
    own = [vars_ for f in functions if (vars_ := _globals(f)) is not None]
    found = None
    trace: TracebackType | None = error.__traceback__
    while trace is not None:
        if any(trace.tb_frame.f_globals is vars_ for vars_ in own):
            found = trace
        trace = trace.tb_next
    with contextlib.suppress(Exception):  # a strange object among the values, a source that is gone
        return "" if found is None else _told(found)
    return ""


def _globals(function: Any) -> dict[str, Any] | None:
    function = inspect.unwrap(getattr(function, "func", function))
    function = getattr(function, "__func__", function)
    if not hasattr(function, "__globals__"):
        function = vars(type(function)).get("__call__")  # of an object that can be called
    return getattr(function, "__globals__", None)


def _told(trace: TracebackType) -> str:
    frame = trace.tb_frame
    file, names = frame.f_code.co_filename, frame.f_globals
    line = linecache.getline(file, trace.tb_lineno, names)
    if not line.strip():
        return ""
    marked = _marked(trace, line)
    shown = _short(line)
    says = f"It stopped at `{shown}`"
    if marked and len(marked) < len(shown):
        says += f", in `{marked}`"
    values = _values(marked or line.strip(), frame)
    return f"{says}, where {values}." if values else f"{says}."


def _short(line: str) -> str:
    text = " ".join(line.replace("`", "'").split())
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


def _marked(trace: TracebackType, line: str) -> str:
    """The expression of the line that raised."""
    positions = itertools.islice(trace.tb_frame.f_code.co_positions(), trace.tb_lasti // 2, None)
    first, last, begin, end = next(positions, (None, None, None, None))
    if first is None or first != last or begin is None or end is None:
        return ""
    return line.encode()[begin:end].decode(errors="ignore").replace("`", "'").strip()


def _values(code: str, frame: FrameType) -> str:
    """`Q has the shape (2, 4) and K the …`: what is known of the names in a piece of code."""
    try:
        tree = ast.parse(code.rstrip(":"))
    except SyntaxError:
        return ""
    names = dict.fromkeys(node.id for node in ast.walk(tree) if isinstance(node, ast.Name))
    found = {n: _in_words(frame.f_locals[n]) for n in names if n in frame.f_locals}
    told = [f"`{name}` {words}" for name, words in found.items() if words]
    *first, last = told[:MOST_VALUES] or [""]
    return f"{', '.join(first)} and {last}" if first else last


def _in_words(value: Any) -> str:
    if isinstance(value, np.ndarray):
        return f"has the shape {value.shape}" if value.ndim else f"is {show(value)}"
    if isinstance(value, list | tuple):
        return f"is a {type(value).__name__} of {len(value)}"
    if value is None or isinstance(value, bool | int | float | np.generic | str):
        return f"is {show(value)}"
    return "is a function" if inspect.isroutine(value) else ""


# -- the usual causes: of a kind, with words in it, what to say

Cause = tuple[type[BaseException], str, str]
CAUSES: tuple[Cause, ...] = (
    (ValueError, r"matmul: .*mismatch|shapes .* not aligned",
     "For `A @ B`, `A` needs as many columns as `B` has rows. Is a `.T` missing, or one too many?"),
    (ValueError, r"matmul: .*does not have enough dimensions",
     "`@` multiplies arrays; for a single number write `*`."),
    (ValueError, r"could not be broadcast|non-broadcastable",
     "Shapes are compared from the last axis on: sizes have to be equal, or one of them 1. A "
     "column is `x[:, None]`; sums keep their axis with `keepdims=True`."),
    (ValueError, r"truth value of an array",
     "`if`, `and` and `or` want one truth value: use `np.where`, `&`, `|`, `.all()` or `.any()`."),
    (ValueError, r"setting an array element with a sequence|inhomogeneous",
     "The rows that were put together are not all of one length."),
    (ValueError, r"not enough values to unpack|too many values to unpack",
     "There are more names on the left of `=` than values on the right, or fewer."),
    (ValueError, r"cannot reshape", "Reshaping keeps the number of entries."),
    (ValueError, r"assignment destination is read-only",
     "This array may not be changed: work on a `.copy()`."),
    (IndexError, r"out of bounds|out of range",
     "Counting begins at 0, so the last of n entries has the index n - 1."),
    (IndexError, r"invalid index to scalar|too many indices",
     "It has fewer axes than there are indices: it may be one number, or one row."),
    (IndexError, r"only integers|arrays used as indices",
     "An index is a whole number: `//` in place of `/`, or `int(…)`."),
    (AttributeError, r"'(list|tuple)' object has no attribute '(T|shape|sum|mean|dot|max|ndim)'",
     "A list is no array: `np.array(…)` makes one of it."),
    (AttributeError, r"'NoneType' object",
     "It is `None`: a function without `return`, or one such as `append`, which returns nothing."),
    (AttributeError, r"'(int|float)' object", "It is a plain number, which has no such attribute."),
    (UnboundLocalError, r"",
     "The name gets its value further down, or in a branch that was not taken."),
    (NameError, r"",
     "The name is not known here: is it spelled as above, and has the cell that makes it run?"),
    (TypeError, r"(missing \d+ required|takes .* positional|unexpected keyword).*",
     "The check calls it as it is shown at the start; take as many arguments, in this order."),
    (TypeError, r"'NoneType'",
     "It is `None`: a function without `return`, or one such as `append`, which returns nothing."),
    (TypeError, r"cannot be interpreted as an integer|only (integer|length-1|0-dim|size-1)|"
     r"slice indices must be integers|indices must be integers",
     "A whole number is needed here: `//` in place of `/`, `int(…)`, or one entry of an array."),
    (TypeError, r"(function|method|type).* is not subscriptable", "A call has round brackets."),
    (TypeError, r"is not subscriptable|does not support item assignment",
     "It is one thing, not a list or an array of several."),
    (TypeError, r"is not callable",
     "Round brackets call a function. Is a `*` missing, or are square ones meant?"),
    (TypeError, r"can't multiply sequence|unsupported operand .*'(list|tuple)'|"
     r"can only concatenate (list|tuple)|bad operand type for .*'(list|tuple)'",
     "Lists do no arithmetic: `np.array(…)` makes an array of one."),
    (ZeroDivisionError, r"", "Which of the inputs makes the divisor 0?"),
    (KeyError, r"", "The dictionary has no such key."),
    (RecursionError, r"", "It calls itself without end: which input ends it?"),
    (OverflowError, r"", "The number is beyond what floats can hold."),
)  # fmt: skip


def usual_cause(error: BaseException) -> str:
    """A sentence about what it mostly is; nothing if there is none."""
    try:
        says = str(error)
    except Exception:
        return ""
    for kind, words, sentence in CAUSES:
        if isinstance(error, kind) and re.search(words, says):
            return sentence
    return ""
