"""Algebra that is checked line by line.

A derivation is a start and lines, each with a relation (=, ≤, ≥, ≈) and a reason. Every line is
compared with the one before it, in numbers drawn from the declared domains; SymPy then proves what
it quickly can. A false line is shown with a counterexample small enough to check by hand.

    Derivation("-delta*v", [("=", "-delta*(beta*u + (1-beta)*g)", "definition of v")],
               where={"beta": interval(0, 1), "delta": positive, "u g": real},
               given={"v": ("beta*u + (1-beta)*g", "by definition")})

An expression is text, SymPy (scalars, sums, cases, matrices) or a function whose parameters are
named like the symbols: `lambda W, h, sigma: sigma(W @ h)`; `shown(function, tex)` says how to print
it. `derivation.check()` gives the verdicts as data.

To read on: domains (what to try), expressions, evaluation and operations (what a line comes to),
instances, trials and arithmetic (two lines in numbers), judging (what follows), with borders,
proofs and limit_judging for what numbers alone do not tell (ladder, ring, and entries, which needs
monomials, calculus, tensors and tracing), sentences and rendering (what is said and seen).
"""

from ..function_with_slope import Activation
from .array_functions import array_function
from .derivations import Derivation
from .domains import (
    Domain,
    activation,
    contraction,
    diagonal,
    function,
    iid,
    inner_products,
    integers,
    interval,
    invertible,
    matrix,
    nonnegative,
    orthogonal,
    positive,
    random,
    real,
    sequence,
    simplex,
    singular,
    symmetric,
    vector,
)
from .expressions import shown
from .lines import BLANK, FALSE, HELD, PROVED, RIGHT, UNCHECKED, WRONG, LineReport, Report
from .operations import inner, norm

__all__ = [
    "BLANK",
    "FALSE",
    "HELD",
    "PROVED",
    "RIGHT",
    "UNCHECKED",
    "WRONG",
    "Activation",
    "Derivation",
    "Domain",
    "LineReport",
    "Report",
    "activation",
    "array_function",
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
