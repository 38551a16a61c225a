"""A student id → that student's numbers, as notebooks import them: a function for each unit.

    numbers = two_heads("ada@example.org")  # unit 05
    numbers.X, numbers.heads, numbers.Wo

`print(numbers)` shows what there is. Id 0 is the homework itself. Each unit's numbers are made
in the folder beside its checks: numbers/two_heads.py.
"""

from importlib import import_module
from typing import Any

__all__ = [  # noqa: F822  # all of them by __getattr__
    "attention",
    "capstone",
    "counting_cost",
    "linear_attention",
    "lookup",
    "momentum",
    "random_features",
    "rnn_gradients",
    "transformers_are_rnns",
    "transport",
    "two_heads",
    "weight_decay",
]


def __getattr__(name: str) -> Any:
    if name in __all__:
        return getattr(import_module(f".numbers.{name}", __package__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
