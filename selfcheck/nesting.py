"""A walk through values within values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def nested(value: Any, leaf: Callable[..., Any]) -> Any:
    """The same tuples, lists and dicts with `leaf` applied to what they hold."""
    if type(value) in (tuple, list):
        return type(value)([nested(x, leaf) for x in value])
    if type(value) is dict:
        return {key: nested(x, leaf) for key, x in value.items()}
    return leaf(value)
