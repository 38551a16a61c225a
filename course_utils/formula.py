"""Formulas as people write them: read without `eval`, evaluated in numbers, handed on to SymPy.

A formula arrives as text, a number or a SymPy expression. It is parsed into a Python syntax tree of
which only arithmetic, known functions, sums and case distinctions are accepted, so nothing is ever
executed. The same walk over that tree yields numbers or a SymPy expression.
"""

from __future__ import annotations

import ast
import operator
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

LONGEST = 2000  # characters; a formula that is longer is not one
LONGEST_SUM = 100_000  # terms

LETTERS = {
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ε", "zeta": "ζ", "eta": "η",
    "theta": "θ", "iota": "ι", "kappa": "κ", "lamda": "λ", "mu": "μ", "nu": "ν", "xi": "ξ",
    "pi": "π", "rho": "ρ", "sigma": "σ", "tau": "τ", "upsilon": "υ", "phi": "φ", "chi": "χ",
    "psi": "ψ", "omega": "ω",
}  # fmt: skip
GREEK = {letter: name for name, letter in LETTERS.items()}
SIGNS = {"−": "-", "·": "*", "×": "*", "÷": "/", "^": "**", "√": "sqrt"}

OPERATORS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Pow: operator.pow,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
FUNCTIONS = {
    "sqrt": np.sqrt,
    "exp": np.exp,
    "log": lambda x, base=np.e: np.log(x) / np.log(base),
    "ln": np.log,
    "log2": np.log2,
    "sin": np.sin,
    "cos": np.cos,
    "tanh": np.tanh,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "Abs": np.abs,
    "abs": np.abs,
    "Max": lambda *xs: max(xs),
    "Min": lambda *xs: min(xs),
    "Eq": operator.eq,
    "Ne": operator.ne,
}
CONSTANTS = {"pi": np.pi, "E": np.e, "e": np.e}


class FormulaError(ValueError):
    """The answer is not a formula we can read; the message says why and what to write instead."""


@dataclass(frozen=True)
class Formula:
    """A formula that has been read: `text` for people, `tree` for evaluation."""

    text: str
    tree: ast.expr

    def at(self, **values: Any) -> float:
        """The formula's value; a symbol of the kind g(i) is given as a function of i."""
        names = {**CONSTANTS, **{k: v if callable(v) else np.float64(v) for k, v in values.items()}}
        with np.errstate(all="ignore"):
            return float(_walk(self.tree, names, _NUMBERS))

    def to_sympy(self, **names: Any) -> Any:
        """The same formula as a SymPy expression; `names` may supply the symbols to use."""
        import sympy

        functions = {name: getattr(sympy, name, None) for name in FUNCTIONS}
        functions["abs"] = sympy.Abs
        functions["log2"] = lambda x: sympy.log(x) / sympy.log(2)
        applied = {node.func.id for node in ast.walk(self.tree) if isinstance(node, ast.Call)}
        known = {"pi": sympy.pi, "E": sympy.E, "e": sympy.E}
        for name in names_in(self.tree) - names.keys():
            make = sympy.Function if name in applied else sympy.Symbol
            known[name] = known.get(name) or make(name)
        return _walk(
            self.tree,
            {**known, **names},
            _Algebra(_exact_number, functions, _sympy_sum, _sympy_cases),
        )

    def __str__(self) -> str:
        return self.text


def read_formula(answer: Any, symbols: Iterable[str], functions: Iterable[str] = ()) -> Formula:
    """Read a number, text or SymPy expression in these symbols; FormulaError says what is wrong."""
    text = _as_text(answer)
    tree = _parse(text)
    symbols, functions = list(symbols), list(functions)
    _refuse_what_is_no_formula(tree, text, functions)
    unknown = sorted(names_in(tree) - set(symbols) - set(functions) - CONSTANTS.keys())
    if unknown:
        allowed = _listed([*symbols, *(f"{name}(…)" for name in functions)])
        raise FormulaError(
            f"{text!r} uses {_listed(unknown)}; the answer may use {allowed or 'numbers only'}."
        )
    _refuse_huge_numbers(tree, text)
    return Formula(text, tree)


def pretty(name: str) -> str:
    """`beta` as β, `theta_0` as θ_0: a symbol's name the way a sentence shows it."""
    head, *tail = name.split("_", 1)
    return "_".join([LETTERS.get(head, head), *tail])


def names_in(tree: ast.AST) -> set[str]:
    """All names of a formula but its function names and its summation indices."""
    if isinstance(tree, ast.Call) and isinstance(tree.func, ast.Name):
        name, parts = tree.func.id, tree.args
        if name == "Sum" and len(parts) == 2 and isinstance(parts[1], ast.Tuple):
            index, *bounds = parts[1].elts
            bound = names_in(index)
            return (names_in(parts[0]) - bound).union(*(names_in(b) for b in bounds))
        own = set() if name in FUNCTIONS or name in ("Sum", "Piecewise") else {name}
        return own.union(*(names_in(p) for p in parts))
    if isinstance(tree, ast.Name):
        return {tree.id}
    return set().union(*(names_in(child) for child in ast.iter_child_nodes(tree)))


# -- reading ------------------------------------------------------------------------------------


def _as_text(answer: Any) -> str:
    if isinstance(answer, str):
        text = answer.strip()
    elif isinstance(answer, bool | np.bool_):
        raise FormulaError(f"{answer} is a truth value, not a formula.")
    elif isinstance(answer, int | float | np.integer | np.floating):
        text = _number_text(answer)
    elif _is_sympy_expression(answer):
        text = str(answer)
    else:
        raise FormulaError(
            f"A {type(answer).__name__} is not a formula: give SymPy, a number or text."
        )
    if not text:
        raise FormulaError("The formula is empty.")
    if len(text) > LONGEST:
        raise FormulaError(f"The formula has {len(text)} characters; {LONGEST} is the limit.")
    return text


def _is_sympy_expression(answer: Any) -> bool:
    import sys

    sympy = sys.modules.get("sympy")  # no SymPy loaded, no SymPy expression
    return sympy is not None and isinstance(answer, sympy.Expr)


def _number_text(number: Any) -> str:
    try:
        value = float(number)
    except OverflowError:
        value = np.inf
    if not np.isfinite(value):
        raise FormulaError("The number is not finite or too large to be an answer.")
    return repr(value) if value != int(value) or abs(value) > 1e15 else str(int(value))


def _parse(text: str) -> ast.expr:
    plain = unicodedata.normalize("NFKC", "".join(SIGNS.get(c, c) for c in text))
    plain = re.sub("|".join(GREEK), lambda m: GREEK[m[0]], plain)
    plain = re.sub(r"\blambda\b", "lamda", plain)
    try:
        return ast.parse(plain.strip(), mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        raise FormulaError(
            f"{text!r} is not a formula: write * between factors, ** for powers, "
            "and close every bracket."
        ) from None


def _refuse_what_is_no_formula(tree: ast.expr, text: str, functions: list[str]) -> None:
    """Everything but arithmetic is refused by name, before anything is computed."""
    known = {*FUNCTIONS, "Sum", "Piecewise", *functions}
    harmless = (ast.Name, ast.Load, ast.BinOp, ast.UnaryOp, ast.Compare, ast.Tuple, *OPERATORS)
    for node in ast.walk(tree):
        if isinstance(node, harmless):
            continue
        if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
            continue
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and not node.keywords:
            if node.func.id in known:
                continue
            raise FormulaError(
                f"{text!r} calls {node.func.id}, which is no function known here; is a * missing?"
            )
        what = type(node).__name__
        raise FormulaError(f"{text!r} is not a formula: it contains Python of the kind {what!r}.")


def _refuse_huge_numbers(tree: ast.expr, text: str) -> None:
    """9**9**9 would keep SymPy busy for ever: numbers in a formula stay below 10¹²."""
    for node in ast.walk(tree):
        if isinstance(node, ast.BinOp | ast.Constant) and not names_in(node):
            with np.errstate(all="ignore"):
                size = abs(_walk(node, {}, _NUMBERS))
            if not size < 1e12:
                raise FormulaError(f"{text!r} contains a number that is too large or not defined.")


def _listed(names: list[str]) -> str:
    shown = [pretty(name) for name in names]
    return " and ".join([", ".join(shown[:-1]), shown[-1]]) if len(shown) > 1 else "".join(shown)


# -- walking: one tree, two algebras ------------------------------------------------------------


@dataclass(frozen=True)
class _Algebra:
    """What numbers, functions, sums and cases mean: floating point here, SymPy there."""

    number: Callable[[Any], Any]
    functions: Mapping[str, Callable[..., Any]]
    sum: Callable[..., Any]
    cases: Callable[..., Any]


def _walk(node: ast.expr, names: Mapping[str, Any], algebra: _Algebra) -> Any:
    def value(n: ast.expr) -> Any:
        return _walk(n, names, algebra)

    match node:
        case ast.Constant(value=number):
            return algebra.number(number)
        case ast.Name(id=name):
            return names[name]
        case ast.UnaryOp(op=op, operand=x):
            return OPERATORS[type(op)](value(x))
        case ast.BinOp(left=x, op=op, right=y):
            return OPERATORS[type(op)](value(x), value(y))
        case ast.Compare(left=x, ops=[op], comparators=[y]):
            return OPERATORS[type(op)](value(x), value(y))
        case ast.Call(
            func=ast.Name(id="Sum"), args=[body, ast.Tuple(elts=[ast.Name(id=i), lo, hi])]
        ):

            def term(k):
                return _walk(body, {**names, i: k}, algebra)

            return algebra.sum(term, i, value(lo), value(hi))
        case ast.Call(func=ast.Name(id="Piecewise"), args=pieces):
            if all(isinstance(p, ast.Tuple) and len(p.elts) == 2 for p in pieces):
                return algebra.cases([(value(p.elts[1]), value(p.elts[0])) for p in pieces])
        case ast.Call(func=ast.Name(id=name), args=args):
            function = names.get(name) or algebra.functions.get(name)
            try:
                return function(*(value(a) for a in args))
            except TypeError:
                raise FormulaError(f"{ast.unparse(node)!r}: {name} is not used so.") from None
    raise FormulaError(f"{ast.unparse(node)!r} is not a formula.")


def _sum(term: Callable[[Any], Any], _: str, lo: float, hi: float) -> float:
    if lo != int(lo) or hi != int(hi) or hi - lo > LONGEST_SUM:
        raise FormulaError(f"A sum from {lo:g} to {hi:g} cannot be evaluated.")
    return sum((term(np.float64(k)) for k in range(int(lo), int(hi) + 1)), np.float64(0))


def _cases(pieces: list[tuple[Any, Any]]) -> Any:
    return next((value for condition, value in pieces if condition), np.float64(np.nan))


def _exact_number(number: Any) -> Any:
    import sympy

    if isinstance(number, bool):
        return sympy.true if number else sympy.false
    return sympy.Integer(number) if isinstance(number, int) else sympy.Float(number)


def _sympy_sum(term: Callable[[Any], Any], index: str, lo: Any, hi: Any) -> Any:
    import sympy

    i = sympy.Symbol(index, integer=True)
    return sympy.Sum(term(i), (i, lo, hi))


def _sympy_cases(pieces: list[tuple[Any, Any]]) -> Any:
    import sympy

    return sympy.Piecewise(*((value, condition) for condition, value in pieces))


_NUMBERS = _Algebra(np.float64, FUNCTIONS, _sum, _cases)
