"""What is worked out once: definitions at cases that all share, and what a class repeats."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

MOST = 1000  # values of one definition

Definition = TypeVar("Definition", bound=Callable[..., Any])
Found = TypeVar("Found")


def recalled(
    known: dict[Any, Found],
    words: Any,
    work_out: Callable[[], Found],
    most: int,
    is_certain: Callable[[Found], bool] = lambda found: True,
) -> Found:
    """What was worked out for these words before; so many that were asked for last are kept."""
    found = known.pop(words) if words in known else work_out()
    if is_certain(found):
        known[words] = found
    if len(known) > most:
        del known[next(iter(known))]
    return found


def remembered(definition: Definition) -> Definition:
    """A function of its arguments alone, which knows its last values; arrays cannot be written."""
    known: dict[Any, Any] = {}

    @functools.wraps(definition)
    def value(*args: Any, **named: Any) -> Any:
        key = _key((args, named))
        if key not in known:
            if len(known) == MOST:
                known.clear()
            known[key] = _sealed(definition(*args, **named))
        return known[key]

    return value  # type: ignore[return-value]


def _key(argument: Any) -> Any:
    """Equal for arguments that are the same to the last bit."""
    if isinstance(argument, np.ndarray):
        return argument.shape, argument.dtype, argument.tobytes()
    if isinstance(argument, list | tuple):
        return type(argument), *map(_key, argument)
    if isinstance(argument, dict):
        return tuple((name, _key(value)) for name, value in sorted(argument.items()))
    return type(argument), repr(argument) if isinstance(argument, float) else argument


def _sealed(value: Any) -> Any:
    for part in value if isinstance(value, tuple) else (value,):
        if isinstance(part, np.ndarray):
            part.setflags(write=False)
    return value
