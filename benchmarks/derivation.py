"""How long it takes to check a derivation, and how many false lines are found."""

from __future__ import annotations

import time

import numpy as np
import sympy

from benchmarks.core import Report, Spread
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


ROUNDS = 10


def measure(report: Report) -> None:
    """The first check and those after it, of typical derivations."""
    rows = []
    for make in (momentum, running_average, induction_step, eight_lines):
        seconds = []
        for _ in range(ROUNDS + 1):
            start = time.process_time()
            made = make()
            made._repr_markdown_()
            seconds.append(time.process_time() - start)
        about = (make.__doc__ or "").rstrip(".")
        later = Spread(tuple(seconds[1:])).shown(1000)
        rows.append(
            [f"{make.__name__.replace('_', ' ')}: {about}", f"{1000 * seconds[0]:.0f}", later]
        )
    report.table(["derivation", "the first time, ms", "later, ms"], rows)
    found, false, held, true = detection()
    report.say(
        f"Detection: of {false} false lines made from true ones by one small change, {found} were "
        f"refuted; of {true} true lines, {held} passed."
    )
    report.disagrees |= held < true


# -- false lines, made from true ones --------------------------------------------------------------

TRUE_LINES = [
    ("(a + b)**2", "a**2 + 2*a*b + b**2"),
    ("a*(b + c)", "a*b + a*c"),
    ("exp(a + b)", "exp(a)*exp(b)"),
    ("log(a*b)", "log(a) + log(b)"),
    ("a/(a + b)", "1/(1 + b/a)"),
    ("(a**2 - b**2)/(a + b)", "a - b"),
    ("sqrt(a*b)", "sqrt(a)*sqrt(b)"),
    ("(a + b)*(a - b)", "a**2 - b**2"),
    ("1/a + 1/b", "(a + b)/(a*b)"),
    ("a**b*a**c", "a**(b + c)"),
    ("(1 - a)*(1 + a + a**2)", "1 - a**3"),
    ("log(a**b)", "b*log(a)"),
]
CHANGES = {"+": "-", "-": "+", "2": "3", "*b": "*c", "a": "b", "1": "2", "b": "a", "3": "2"}


def detection() -> tuple[int, int, int, int]:
    """Refuted and false, passed and true; whether a changed line is false is told by numbers."""
    where = {"a b c": positive}
    false = [
        (left, changed)
        for left, right in TRUE_LINES
        for changed in {right.replace(old, new, 1) for old, new in CHANGES.items()} - {right}
        if _differ(left, changed)
    ]
    refuted = [_is_refuted(a, b, where) for a, b in false]
    kept = [not _is_refuted(a, b, where) for a, b in TRUE_LINES]
    return sum(refuted), len(false), sum(kept), len(kept)


def _is_refuted(left: str, right: str, where: dict) -> bool:
    return Derivation(left, [("=", right, "")], where=where).check().first_false is not None


def _differ(left: str, right: str) -> bool:
    """Do the two differ by far at a point of many digits?"""
    point = {"a": 1.2345, "b": 2.3456, "c": 0.7531}
    values = [float(sympy.sympify(text).subs(point)) for text in (left, right)]
    return abs(values[0] - values[1]) > 1e-6
