"""Python that stands in the prose of a unit: its names, and refusals with file and line."""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from .files import CourseError


def names_of(module: str, ending: str) -> dict[str, Any]:
    """All that it may use: names of the checks, and of the file beside them that ends so."""
    names = dict(vars(sys.modules[module]))
    if importlib.util.find_spec(f"{module}{ending}") is not None:
        names |= vars(importlib.import_module(f"{module}{ending}"))
    return names


def at_its_line(code: str, line: int) -> str:
    """The code at its own line of the file: tracebacks and sources find it there."""
    return "\n" * (line - 1) + code


def refusal(file: Path, line: int, says: str) -> CourseError:
    """The sentence for an author."""
    return CourseError(f"{file}, line {line}: {says}")


@contextmanager
def refusing(file: Path, line: int, what: str = "the example") -> Iterator[None]:
    """Whatever goes wrong below is told with its line."""
    try:
        yield
    except CourseError:
        raise
    except SyntaxError as error:
        says = f"this is no Python: {error.msg}."
        raise refusal(file, error.lineno or line, says) from None
    except Exception as error:
        says = f"{what} cannot be made: {type(error).__name__}: {error}."
        raise refusal(file, line, says) from None
