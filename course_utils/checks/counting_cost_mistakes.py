"""Unit 06: what several known mistakes in counting_cost.md need."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..numbers.counting_cost import Model
from .counting_cost import BYTES, _bytes, _model_shapes


def _size_with(per_layer: Callable[[Model], int], vocabulary: int = 1, size: int = BYTES) -> Any:
    """Bytes if one layer had other numbers than it has."""
    return lambda n: (
        size * (vocabulary * n.vocabulary * n.width + n.layers * n.width * per_layer(n))
    )


def _layer(n: Model) -> int:
    return 2 * n.head_width * (n.heads + n.groups) + 3 * n.hidden


def _tokens_with(
    a_token: Callable[[Model], int], unit: int = 2**20, parameters: bool = True, more: int = 0
) -> Any:
    """The tokens that fit if one of them took so many numbers."""
    return lambda n: (
        more + (n.mebibytes * unit - parameters * _bytes(_model_shapes(n))) // (BYTES * a_token(n))
    )


def _token(n: Model) -> int:
    return 2 * n.layers * n.groups * n.head_width
