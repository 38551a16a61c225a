"""Derivations, as notebooks import them: algebra that is checked line by line."""

from typing import Any

import numpy as np

from selfcheck import derivation
from selfcheck.derivation import (
    Derivation,
    Domain,
    LineReport,
    Report,
    array_function,
    contraction,
    diagonal,
    function,
    iid,
    inner,
    inner_products,
    integers,
    interval,
    invertible,
    matrix,
    nonnegative,
    norm,
    orthogonal,
    positive,
    random,
    real,
    sequence,
    shown,
    simplex,
    singular,
    symmetric,
    vector,
)

from .rnn import ACTIVATIONS

__all__ = [
    "Derivation",
    "Domain",
    "LineReport",
    "Report",
    "activation",
    "contraction",
    "diagonal",
    "function",
    "iid",
    "inner",
    "inner_products",
    "integers",
    "interval",
    "invertible",
    "matrix",
    "nonnegative",
    "norm",
    "orthogonal",
    "positive",
    "random",
    "real",
    "sequence",
    "shown",
    "simplex",
    "singular",
    "symmetric",
    "vector",
]


def activation(slope: float = 1) -> Domain:
    """The course's activation functions σ with |σ′| ≤ slope; lines may use σ.prime and σ.gamma."""
    return derivation.activation(list(ACTIVATIONS.values()), slope)


def _softmax(z: Any, by: str = "col") -> Any:
    """Of a vector; of a matrix by rows or by columns, as the index says."""
    rows, columns = np.shape(z)
    if by == "col" and columns > 1 and rows > 1:
        raise TypeError("softmax of a matrix: by rows or by columns? Write it as an index.")
    axis = 1 if by == "row" or (columns > 1 and rows == 1) else 0
    e = np.exp(z - np.max(np.real(z), axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def _by_columns(z: Any, by: str = "") -> Any:
    return _softmax(z.T, "row").T if by == "col" else _softmax(z, *([by] if by else []))


def _sigmoid(z: Any) -> Any:
    return 1 / (1 + np.exp(-z))


array_function("softmax", _by_columns, words=("row", "col"))
for _name in ("logsumexp", "LSE"):
    array_function(_name, lambda z: np.log(np.exp(z).sum()), "number")
array_function("sigmoid", _sigmoid)
for _name in ("relu", "ReLU"):
    array_function(_name, lambda z: z * (np.real(z) > 0))
