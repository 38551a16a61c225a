"""An activation function and what derivations have to know of it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple


class Activation(NamedTuple):
    """An elementwise σ with its exact slope σ′ and γ, the least upper bound of |σ′|."""

    name: str
    f: Callable[[Any], Any]
    prime: Callable[[Any], Any]
    gamma: float

    def __call__(self, x: Any) -> Any:
        return self.f(x)
