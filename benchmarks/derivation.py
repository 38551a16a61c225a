"""How long a check takes: typical derivations, the first and the median of ten runs.

Run with `python benchmarks/derivation.py`; once SymPy is loaded, eight lines are to take less than
0.1 s.
"""

import statistics
import time

import numpy as np
import sympy

from course_utils.derivation import (
    Derivation,
    activation,
    integers,
    interval,
    matrix,
    positive,
    real,
    sequence,
    vector,
)


def momentum() -> Derivation:
    """Scalars as text, with givens: 40 digits, then proofs."""
    lines = [
        ("=", "-delta*v", "the update"),
        ("=", "-delta*(beta*u + (1-beta)*g)", "definition of v"),
        ("=", "-delta*(beta*theta_prev + (1-beta)*g)", "the homework's slip"),
        ("=", "-delta*beta*theta_prev - delta*(1-beta)*g", "expand"),
        ("=", "-delta*beta*(theta_prev - g) - delta*g", "collect"),
    ]
    return Derivation(
        "theta",
        lines,
        where={"beta": interval(0, 1), "delta": positive, "u g": real},
        given={"v": "beta*u + (1-beta)*g", "theta": "-delta*v", "theta_prev": "-delta*u"},
    )


def running_average() -> Derivation:
    """Sums of symbolic length and a limit."""
    beta, t, i, m = sympy.symbols("beta t i m")
    g = sympy.Function("g")
    total = sympy.Sum((1 - beta) * beta ** (t - i) * m, (i, 1, t))
    lines = [
        ("=", (1 - beta) * sympy.Sum(beta ** (t - i), (i, 1, t)) * m, "linearity"),
        ("=", "(1 - beta)*m*(1 - beta**t)/(1 - beta)", "geometric series"),
        ("=", "m*(1 - beta**t)", "cancel"),
        ("≈", "m", "in the long run", ("t", sympy.oo)),
        ("≤", "Abs(m)", ""),
    ]
    where = {beta: interval(0, 1), m: real, t: integers(1, 8), g: sequence()}
    return Derivation(total, lines, where=where)


def induction_step() -> Derivation:
    """Matrices of random size and activation functions, as functions."""
    lines = [
        ("=", lambda W, z, x, U, b, s: s(W @ np.linalg.solve(W, z - U @ x - b) + U @ x + b), ""),
        ("=", lambda z, x, U, b, s: s(z - U @ x - b + U @ x + b), "cancel"),
        ("=", lambda z, x, U, b, s: s(z - b + b), "cancel"),
        ("=", lambda z, s: s(z), "cancel"),
        ("≤", lambda z, s: s(np.abs(z)), "monotone"),
    ]
    return Derivation(
        lambda W, U, h, x, b, s: s(W @ s(h) + U @ x + b),
        lines,
        where={"W U": matrix("n", "n"), "h x b": vector("n"), "s": activation(0.25)},
        given={"z": lambda W, U, h, x, b, s: W @ s(h) + U @ x + b},
    )


def eight_lines() -> Derivation:
    """Scalars as text, with divisions: proofs, and zeros of the divisors looked for."""
    lines = [
        ("=", "a**2 + 2*a*b + b**2", "multiplied out"),
        ("=", "a*(a + b) + b*(a + b)", "in two parts"),
        ("=", "(a + b)*(a + b)", "a common factor"),
        ("=", "(a + b)**3/(a + b)", "made longer"),
        ("=", "(a + b)**2*(1 + c)/(1 + c)", "and again"),
        ("=", "a**2 + b*(2*a + b)", "collected"),
        ("≥", "4*a*b", "squares are not negative"),
        ("=", "2*a*(b + b)", "in halves"),
    ]
    return Derivation("(a + b)**2", lines, where={"a b": positive, "c": interval(0, 1)})


if __name__ == "__main__":
    for make in (momentum, running_average, induction_step, eight_lines):
        seconds = []
        for _ in range(10):
            start = time.perf_counter()
            make()._repr_markdown_()
            seconds.append(time.perf_counter() - start)
        first, median = seconds[0], statistics.median(seconds)
        print(f"{make.__name__:16} first {first:.3f} s, median {median:.3f} s")
