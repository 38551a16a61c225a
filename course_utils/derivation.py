"""Derivations, as notebooks import them: algebra that is checked line by line."""

from selfcheck import derivation
from selfcheck.derivation import (
    Derivation,
    Domain,
    LineReport,
    Report,
    diagonal,
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
    real,
    sequence,
    shown,
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
    "diagonal",
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
    "real",
    "sequence",
    "shown",
    "singular",
    "symmetric",
    "vector",
]


def activation(slope: float = 1) -> Domain:
    """The course's activation functions σ with |σ′| ≤ slope; lines may use σ.prime and σ.gamma."""
    return derivation.activation(list(ACTIVATIONS.values()), slope)
