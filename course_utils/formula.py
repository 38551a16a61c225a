"""Formulas as people write them: read without `eval`, evaluated in numbers, handed on to SymPy.

A formula arrives as text, a number or a SymPy expression. It is parsed into a Python syntax tree of
which only arithmetic, known functions, sums and case distinctions are accepted, so nothing is ever
executed. The same walk over that tree yields numbers or a SymPy expression.
"""

from __future__ import annotations

import ast
import operator
import re
import sys
import unicodedata
import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from functools import partial
from itertools import groupby
from numbers import Real
from typing import Any

import numpy as np

LONGEST = 2000  # characters; a formula that is longer is not one
DEEPEST = 100  # levels of the syntax tree, so that no walk over it runs out of stack
LONGEST_SUM = 100_000  # terms, over all sums of one evaluation
LARGEST_POWER = 10_000  # 9**9**9 would keep SymPy busy for ever

LETTERS = {
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ε", "zeta": "ζ", "eta": "η",
    "theta": "θ", "iota": "ι", "kappa": "κ", "lamda": "λ", "mu": "μ", "nu": "ν", "xi": "ξ",
    "pi": "π", "rho": "ρ", "sigma": "σ", "tau": "τ", "upsilon": "υ", "phi": "φ", "chi": "χ",
    "psi": "ψ", "omega": "ω", "Gamma": "Γ", "Delta": "Δ", "Theta": "Θ", "Phi": "Φ", "Omega": "Ω",
}  # fmt: skip
GREEK = {letter: name for name, letter in LETTERS.items()}
SIGNS = {
    "−": "-", "–": "-", "·": "*", "⋅": "*", "∙": "*", "×": "*", "∗": "*", "÷": "/", "⁄": "/",
    "∕": "/", "^": "**", "≤": "<=", "≥": ">=", "\\": " ", "∆": "Δ",
}  # fmt: skip

OPERATORS: dict[type[ast.AST], Callable[..., Any]] = {
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
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.Invert: operator.invert,
}
FUNCTIONS: dict[str, Callable[..., Any]] = {
    "sqrt": np.sqrt,
    "exp": np.exp,
    "log": lambda x, base=np.e: np.log(x) / np.log(base),
    "ln": np.log,
    "log2": np.log2,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "tanh": np.tanh,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "Abs": np.abs,
    "abs": np.abs,
    "Max": lambda *xs: np.max(xs),
    "Min": lambda *xs: np.min(xs),
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
    "expm1": np.expm1,
    "log1p": np.log1p,
    "floor": np.floor,
    "ceiling": np.ceil,
    "sign": np.sign,
    "gamma": lambda x: _by_mpmath("gamma", x),
    "factorial": lambda x: _by_mpmath("factorial", x),
    "binomial": lambda n, k: _by_mpmath("binomial", n, k),
    "erf": lambda x: _by_mpmath("erf", x),
    "Rational": lambda p, q=1: p / q,
    "Eq": operator.eq,
    "Ne": operator.ne,
}
CONDITIONS = ("Eq", "Ne")
ARGUMENTS = {name: (1, 1) for name in FUNCTIONS} | {
    "log": (1, 2),
    "Rational": (1, 2),
    "binomial": (2, 2),
    "Eq": (2, 2),
    "Ne": (2, 2),
    "Max": (1, LONGEST),
    "Min": (1, LONGEST),
    "Sum": (2, 2),
    "Piecewise": (1, LONGEST),
}
BINDERS = ("Sum", "Product", "Integral")
CALCULUS = ("Product", "Integral", "Derivative")  # read where SymPy goes on with them
CONSTANTS = {"pi": np.pi, "E": np.e, "e": np.e, "oo": np.inf}


class FormulaError(ValueError):
    """The answer is not a formula we can read; the message says why and what to write instead."""


@dataclass(frozen=True)
class Formula:
    """A formula that has been read: `text` for people, `tree` for evaluation."""

    text: str
    tree: ast.expr

    def at(self, **values: Any) -> float:
        """The formula's value; a symbol of the kind g(i) is given as a function of i."""
        names = {**CONSTANTS, **{canonical(name): _numeric(v) for name, v in values.items()}}
        with np.errstate(all="ignore"):
            return float(_walk(self.tree, names, _Algebra(_number, FUNCTIONS, _summer(), _cases)))

    def to_sympy(self, **names: Any) -> Any:
        """The same formula as a SymPy expression; `names` may supply the symbols to use."""
        import sympy

        given = {canonical(name): value for name, value in names.items()}
        functions: dict[str, Any] = {name: getattr(sympy, name, None) for name in FUNCTIONS}
        functions["abs"] = sympy.Abs
        functions["log2"] = lambda x: sympy.log(x) / sympy.log(2)
        functions["expm1"] = lambda x: sympy.exp(x) - 1
        functions["log1p"] = lambda x: sympy.log(1 + x)
        functions["Rational"] = lambda p, q=sympy.S.One: p / q
        calls = [node.func for node in ast.walk(self.tree) if isinstance(node, ast.Call)]
        applied = {function.id for function in calls if isinstance(function, ast.Name)}
        known = {"pi": sympy.pi, "E": sympy.E, "e": sympy.E, "oo": sympy.oo}
        for name in names_in(self.tree) - given.keys() - known.keys():
            known[name] = (sympy.Function if name in applied else sympy.Symbol)(name)
        functions |= {name: partial(_sympy_bound, name) for name in ("Product", "Integral")}
        functions["Derivative"] = sympy.Derivative
        algebra = _Algebra(_exact_number, functions, partial(_sympy_bound, "Sum"), _sympy_cases)
        return _walk(self.tree, {**known, **given}, algebra)

    def __str__(self) -> str:
        return self.text


def read_formula(
    answer: Any, symbols: Iterable[str], functions: Iterable[str] = (), calculus: bool = False
) -> Formula:
    """Read a number, text or SymPy expression in these symbols; FormulaError says what is wrong.

    With `calculus`, products, integrals and derivatives too: for SymPy, not for `Formula.at`.
    """
    symbols, functions = list(symbols), list(functions)
    text = _right_hand_side(_as_text(answer), symbols)
    tree = _parse(text)
    known, applied = {*map(canonical, symbols)}, {*map(canonical, functions)}
    _refuse_what_is_no_formula(tree, text, known, applied | {*CALCULUS} if calculus else applied)
    unknown = sorted(names_in(tree) - known - applied - CONSTANTS.keys())
    if unknown:
        unknown = [name[:40] for name in unknown[:5]]
        allowed = _listed([*symbols, *(f"{name}(…)" for name in functions)])
        raise FormulaError(
            f"{_quoted(text)} uses {_listed(unknown)}; "
            f"the answer may use {allowed or 'numbers only'}."
        )
    _refuse_huge_numbers(tree, text)
    return Formula(text, tree)


def canonical(name: str) -> str:
    """The one spelling of a symbol: β is `beta`, λ and `lambda` are `lamda` as in SymPy."""
    head, *tail = name.split("_", 1)
    head = "lamda" if head == "lambda" else GREEK.get(head, head)
    return "_".join([head, *tail])


def pretty(name: str) -> str:
    """`beta` as β, `theta_0` as θ_0: a symbol's name the way a sentence shows it."""
    head, *tail = canonical(name).split("_", 1)
    return "_".join([LETTERS.get(head, head), *tail])


def names_in(tree: ast.AST) -> set[str]:
    """All names of a formula but its function names and its summation indices."""
    match tree:
        case ast.Name(id=name):
            return {name}
        case ast.Call(func=ast.Name(id=name), args=[body, ast.Tuple(elts=[index, *bounds])]) if (
            name in BINDERS
        ):
            return (names_in(body) - names_in(index)).union(*map(names_in, bounds))
        case ast.Call(func=ast.Name(id=name), args=args):
            own = (
                set()
                if name in FUNCTIONS or name in (*BINDERS, "Derivative", "Piecewise")
                else {name}
            )
            return own.union(*map(names_in, args))
    return set().union(*map(names_in, ast.iter_child_nodes(tree)))


# -- reading ------------------------------------------------------------------------------------


def _as_text(answer: Any) -> str:
    if issubclass(type(answer), np.ndarray) and answer.ndim == 0:
        answer = answer.item()
    if issubclass(type(answer), complex | np.complexfloating) and answer.imag == 0:
        answer = answer.real
    kind = type(answer)  # not isinstance, which asks the object itself
    if issubclass(kind, str):
        text = str.strip(answer)
    elif issubclass(kind, bool | np.bool_):
        raise FormulaError(f"{answer} is a truth value, not a formula.")
    elif sympy_kind(answer):
        text = sympy_text(answer)
    elif issubclass(kind, Real | Decimal):
        text = _number_text(answer)
    else:
        what = "None" if answer is None else f"An object of type {kind.__name__}"
        raise FormulaError(f"{what} is not a formula: give SymPy, a number or text.")
    if not text:
        raise FormulaError("The formula is empty.")
    if len(text) > LONGEST:
        raise FormulaError(f"The formula has {len(text)} characters; {LONGEST} is the limit.")
    return text


def sympy_kind(answer: Any) -> str | None:
    """The class name of a SymPy object, else None; SymPy is not imported for the question."""
    sympy = sys.modules.get("sympy")
    kinds = (getattr(sympy, "Basic", ()), getattr(sympy, "MatrixBase", ()))
    return type(answer).__name__ if issubclass(type(answer), kinds) else None


def sympy_text(answer: Any) -> str:
    """A SymPy expression as text that `read_formula` reads; FormulaError if it is no formula."""
    import sympy

    if isinstance(answer, sympy.Xor):
        raise FormulaError("In Python a power is written **; the sign ^ means something else.")
    if isinstance(answer, sympy.Equality):
        raise FormulaError("This is an equation; give what stands right of the = alone.")
    if not isinstance(answer, sympy.Expr):
        raise FormulaError(f"{sympy_kind(answer)} is not a formula in numbers.")
    try:
        return str(answer)
    except Exception:  # an integer of thousands of digits, or thousands of brackets
        raise FormulaError("The formula is too large to be an answer.") from None


def _number_text(number: Any) -> str:
    try:
        value = float(number)
    except (OverflowError, ValueError):
        value = np.inf
    if not np.isfinite(value):
        raise FormulaError("The number is not finite or too large to be an answer.")
    if isinstance(number, Fraction):
        return str(number)
    return repr(value) if value != int(value) or abs(value) > 1e15 else str(int(value))


def _right_hand_side(text: str, symbols: list[str]) -> str:
    """`= beta` and `alpha = beta` as `beta`; an equation between the symbols is refused."""
    left, *rest = re.split(r"(?<![<>=!:])=(?!=)", text)
    if not rest:
        return text
    left = left.strip()
    known = {canonical(symbol) for symbol in symbols}
    if len(rest) == 1 and (not left or (left.isidentifier() and canonical(left) not in known)):
        return rest[0].strip()
    raise FormulaError(f"{_quoted(text)} is an equation; give what stands right of the = alone.")


def _parse(text: str) -> ast.expr:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # "1or 2" and the like
            tree = ast.parse(_as_python(text).strip(), mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        raise FormulaError(
            f"{_quoted(text)} is not a formula: write * between factors, ** for powers, "
            "and close every bracket."
        ) from None
    level: list[ast.AST] = [tree]
    for _ in range(DEEPEST):
        level = [child for node in level for child in ast.iter_child_nodes(node)]
    if level:
        raise FormulaError(f"{_quoted(text)} is too long: it has more than {DEEPEST} levels.")
    return tree


def _as_python(text: str) -> str:
    """β² as beta**(2), ½ as (1/2), √m as sqrt(m): what people type, the way Python spells it."""
    plain = "".join(_spelled(form, "".join(run)) for form, run in groupby(text, _form))
    greek = "".join(GREEK)
    apart = rf"(?<=[A-Za-z{greek}])(?=[{greek}])|(?<=[{greek}])(?=[A-Za-z])"  # βδ is no name
    plain = re.sub(f"[{greek}]", lambda m: GREEK[m[0]], re.sub(apart, " ", plain))
    plain = re.sub(r"√\s*([\d.]+|[^\W\d]\w*)", r"sqrt(\1)", plain).replace("√", "sqrt")
    return re.sub(r"\blambda(?=\b|_)", "lamda", plain)


def _form(character: str) -> str:
    """`super` for ², `fraction` for ½, `sub` for ₁, `circle` for ①, else nothing of note."""
    mark = unicodedata.decomposition(character).partition(">")
    return mark[0][1:] if mark[1] else ""


def _spelled(form: str, run: str) -> str:
    if form == "circle":
        return run
    plain = [
        "".join(SIGNS.get(c, c) for c in unicodedata.normalize("NFKC", character))
        for character in run
    ]
    if form == "super":
        return f"**({''.join(plain)})"
    return "".join(f"({p})" for p in plain) if form == "fraction" else "".join(plain)


def _refuse_what_is_no_formula(
    tree: ast.expr, text: str, symbols: set[str], functions: set[str]
) -> None:
    """Everything but arithmetic is refused by name, before anything is computed."""
    waiting = [(tree, _value_parts)]
    while waiting:
        node, parts_of = waiting.pop()
        parts = parts_of(node)
        if node is tree and isinstance(node, ast.Tuple):
            raise FormulaError(
                f"{_quoted(text)} has a comma, so it is several answers; decimals take a point."
            )
        if parts is None:
            part = _quoted(ast.unparse(node))
            raise FormulaError(f"{_quoted(text)} is not a formula: {part} is not arithmetic.")
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            _refuse_call(node.func.id, len(node.args), text, symbols, functions)
        values, conditions = parts
        waiting += [(v, _value_parts) for v in values]
        waiting += [(c, _condition_parts) for c in conditions]


def _value_parts(node: ast.AST) -> tuple[list, list] | None:
    """The values and conditions a value is made of; None if it is no value."""
    match node:
        case ast.Constant(value=number) if type(number) in (int, float):
            return [], []
        case ast.Name():
            return [], []
        case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=x):
            return [x], []
        case ast.BinOp(op=ast.Add() | ast.Sub() | ast.Mult() | ast.Div() | ast.Pow()):
            return [node.left, node.right], []
        case ast.Call(keywords=[_, *_]):
            return None
        case ast.Call(
            func=ast.Name(id=name), args=[body, ast.Tuple(elts=[ast.Name(), lo, hi])]
        ) if name in BINDERS:
            return [body, lo, hi], []
        case ast.Call(func=ast.Name(id="Piecewise"), args=pieces):
            pairs = [p.elts for p in pieces if isinstance(p, ast.Tuple) and len(p.elts) == 2]
            if len(pairs) == len(pieces):
                return [value for value, _ in pairs], [condition for _, condition in pairs]
        case ast.Call(func=ast.Name(id=name), args=args) if name not in (*CONDITIONS, *BINDERS):
            return args, []
    return None


def _condition_parts(node: ast.AST) -> tuple[list, list] | None:
    """The values and conditions a condition is made of; None if it is no condition."""
    match node:
        case ast.Constant(value=bool()):
            return [], []
        case ast.UnaryOp(op=ast.Invert(), operand=x):
            return [], [x]
        case ast.BinOp(left=x, op=ast.BitAnd() | ast.BitOr(), right=y):
            return [], [x, y]
        case ast.Compare(left=x, ops=[ast.Lt() | ast.LtE() | ast.Gt() | ast.GtE()]):
            return [x, *node.comparators], []
        case ast.Call(func=ast.Name(id=name), args=args, keywords=[]) if name in CONDITIONS:
            return args, []
    return None


def _refuse_call(name: str, count: int, text: str, symbols: set[str], functions: set[str]) -> None:
    if name in functions:
        return
    if name in symbols and name not in ARGUMENTS:
        raise FormulaError(f"{_quoted(text)}: after {pretty(name)} a * is missing.")
    if name not in ARGUMENTS:
        raise FormulaError(
            f"{_quoted(text)} calls {name[:40]}, which is no function known here; is a * missing?"
        )
    fewest, most = ARGUMENTS[name]
    if not fewest <= count <= most:
        raise FormulaError(f"{_quoted(text)}: {name} does not take {count} arguments.")


def _refuse_huge_numbers(tree: ast.expr, text: str) -> None:
    """Numbers inside a formula stay within what floating point holds, and powers moderate."""

    def refuse(value: Any) -> Any:
        raise FormulaError(f"{_quoted(text)} contains a number that is too large or not defined.")

    def size(node: ast.AST) -> Any:
        """The value of a part without names, else None."""
        match node:
            case ast.Constant(value=int() | float() as number):
                try:
                    return np.float64(number)
                except OverflowError:
                    refuse(number)
            case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=x):
                return size(x)
            case ast.BinOp(left=left, op=op, right=right):
                x, y = size(left), size(right)
                power = isinstance(op, ast.Pow)
                if power and y is not None and abs(y) > LARGEST_POWER:
                    refuse(y)
                if x is None or y is None:
                    return None
                value = OPERATORS[type(op)](x, y)
                vanished = power and value == 0 and x != 0
                return refuse(value) if vanished or not np.isfinite(value) else value
        for child in ast.iter_child_nodes(node):
            size(child)
        return None

    with np.errstate(all="ignore"):
        size(tree)


def _quoted(text: str) -> str:
    return repr(text if len(text) <= 80 else f"{text[:77]}…")


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
            func=ast.Name(id=name), args=[body, ast.Tuple(elts=[ast.Name(id=i), lo, hi])]
        ) if name in BINDERS:

            def term(k: Any) -> Any:
                return _walk(body, {**names, i: k}, algebra)

            bind = algebra.sum if name == "Sum" else algebra.functions[name]
            return bind(term, i, value(lo), value(hi))
        case ast.Call(func=ast.Name(id="Piecewise"), args=pieces):
            pairs = [p.elts for p in pieces if isinstance(p, ast.Tuple)]
            return algebra.cases([tuple(partial(value, part) for part in pair) for pair in pairs])
        case ast.Call(func=ast.Name(id=name), args=args):
            function = names[name] if name in names else algebra.functions[name]
            return function(*map(value, args))
    raise FormulaError(f"{ast.unparse(node)!r} is not a formula.")


def _number(number: Any) -> Any:
    return np.bool_(number) if isinstance(number, bool) else np.float64(number)


def _numeric(value: Any) -> Any:
    return (lambda *args: np.float64(value(*args))) if callable(value) else np.float64(value)


def _by_mpmath(name: str, *args: Any) -> Any:
    import mpmath

    try:
        return np.float64(getattr(mpmath, name)(*map(float, args)))
    except (ValueError, OverflowError, TypeError):  # a pole, or beyond all floats
        return np.float64(np.nan)


def _summer() -> Callable[..., Any]:
    """A sum over numbers; all the sums of one evaluation, nested ones too, share LONGEST_SUM."""
    left = LONGEST_SUM

    def add(term: Callable[[Any], Any], _: str, lo: float, hi: float) -> Any:
        nonlocal left
        if not (np.isfinite(lo) and np.isfinite(hi) and lo == int(lo) and hi == int(hi)):
            raise FormulaError(f"A sum from {lo:g} to {hi:g} has no whole number of terms.")
        left -= max(0, int(hi) - int(lo) + 1)
        if left < 0:
            raise FormulaError(f"The sum has more than {LONGEST_SUM} terms.")
        return sum((term(np.float64(k)) for k in range(int(lo), int(hi) + 1)), np.float64(0))

    return add


def _cases(pieces: list[tuple[Callable[[], Any], Callable[[], Any]]]) -> Any:
    return next((value() for value, condition in pieces if condition()), np.float64(np.nan))


def _exact_number(number: Any) -> Any:
    import sympy

    if isinstance(number, bool):
        return sympy.true if number else sympy.false
    return sympy.Integer(number) if isinstance(number, int) else sympy.Float(number)


def _sympy_bound(kind: str, term: Callable[[Any], Any], index: str, lo: Any, hi: Any) -> Any:
    import sympy

    i = sympy.Symbol(index, **({"real": True} if kind == "Integral" else {"integer": True}))
    return getattr(sympy, kind)(term(i), (i, lo, hi))


def _sympy_cases(pieces: list[tuple[Callable[[], Any], Callable[[], Any]]]) -> Any:
    import sympy

    return sympy.Piecewise(*((value(), condition()) for value, condition in pieces))
