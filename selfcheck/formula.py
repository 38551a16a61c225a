"""Formulas as people write them: read without `eval`, evaluated in numbers, handed on to SymPy.

A formula arrives as text, a number or a SymPy expression. It is parsed into a Python syntax tree of
which only arithmetic, known functions, sums and case distinctions are accepted, so nothing is ever
executed. The same walk over that tree yields numbers or a SymPy expression.
"""

from __future__ import annotations

import ast
import functools
import math
import operator
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from numbers import Real
from typing import Any, NamedTuple

import numpy as np

from .forms import Forms
from .notation import (
    GREEK,
    LETTERS,
    FormulaError,
    Token,
    canonical,
    pretty,
    quoted,
    tokens,
    vocabulary_of,
    without_escapes,
)

__all__ = [
    "CONSTANTS",
    "FUNCTIONS",
    "GREEK",
    "LETTERS",
    "FormulaError",
    "ReadFormula",
    "canonical",
    "names_in",
    "pretty",
    "read_formula",
    "sympy_kind",
    "sympy_text",
    "without_order",
    "written",
]

LONGEST = 2000  # characters; a formula that is longer is not one
DEEPEST = 100  # levels of the syntax tree, so that no walk over it runs out of stack
LONGEST_SUM = 100_000  # terms, over all sums of one evaluation
LARGEST_POWER = 10_000  # 9**9**9 would keep SymPy busy for ever
LARGEST_FACTORIAL = 1000  # and so would (9**9)!

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


def _gamma(x: Any) -> np.float64:
    try:
        return np.float64(math.gamma(x))
    except OverflowError:
        return np.float64(np.inf)
    except ValueError:  # a pole
        return np.float64(np.nan)


def _binomial(n: Any, k: Any) -> np.float64:
    if k != np.floor(k) or k > LARGEST_FACTORIAL:
        return np.float64(np.nan)
    factors = [(n - j) / (j + 1) for j in np.arange(max(0.0, k))]
    return np.float64(np.prod(factors, initial=float(k >= 0)))


def _of_whole(f: Callable[..., int], numbers: Iterable[Any]) -> np.float64:
    """gcd and lcm are those of whole numbers; others have none."""
    if any(x != np.floor(x) or not np.isfinite(x) for x in numbers):
        return np.float64(np.nan)
    return np.float64(f(*map(int, numbers)))


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "sqrt": np.sqrt,
    "exp": np.exp,
    "expm1": np.expm1,
    "log": lambda x, base=np.e: np.log(x) / np.log(base),
    "ln": np.log,
    "log2": np.log2,
    "log10": np.log10,
    "log1p": np.log1p,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "sec": lambda x: 1 / np.cos(x),
    "csc": lambda x: 1 / np.sin(x),
    "cot": lambda x: 1 / np.tan(x),
    "sech": lambda x: 1 / np.cosh(x),
    "csch": lambda x: 1 / np.sinh(x),
    "coth": lambda x: 1 / np.tanh(x),
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
    "Abs": np.abs,
    "abs": np.abs,
    "sign": np.sign,
    "floor": np.floor,
    "ceil": np.ceil,
    "gamma": _gamma,
    "Gamma": _gamma,
    "factorial": lambda n: _gamma(n + 1),
    "binomial": _binomial,
    "erf": np.vectorize(math.erf, otypes=[float]),
    "Max": lambda *xs: np.max(xs),
    "Min": lambda *xs: np.min(xs),
    "Rational": lambda p, q=1: p / q,
    "atan2": np.arctan2,
    "Mod": np.mod,
    "gcd": lambda *xs: _of_whole(math.gcd, xs),
    "lcm": lambda *xs: _of_whole(math.lcm, xs),
    "Eq": operator.eq,
    "Ne": operator.ne,
}
CONDITIONS = ("Eq", "Ne")
_COMPARISONS = {
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
}  # fmt: skip
OVER_AN_INDEX = ("Sum", "Product", "Integral", "Limit")
CALCULUS = (
    "Integral",
    "Derivative",
    "Limit",
)  # read where SymPy goes on with them, not for numbers
GROW_FAST = ("gamma", "Gamma", "factorial", "binomial")
ARGUMENTS = {name: (1, 1) for name in FUNCTIONS} | {
    "log": (1, 2),
    "binomial": (2, 2),
    "Rational": (1, 2),
    "atan2": (2, 2),
    "Mod": (2, 2),
    "gcd": (2, LONGEST),
    "lcm": (2, LONGEST),
    "Eq": (2, 2),
    "Ne": (2, 2),
    "Max": (1, LONGEST),
    "Min": (1, LONGEST),
    "Sum": (2, 2),
    "Product": (2, 2),
    "Piecewise": (1, LONGEST),
}
CONSTANTS = {"pi": np.pi, "E": np.e, "e": np.e, "oo": np.inf}


@dataclass(frozen=True)
class ReadFormula:
    """A formula that has been read: `text` for people, `tree` for evaluation."""

    text: str
    tree: ast.expr

    def at(self, **values: Any) -> float:
        """The formula's value; a symbol of the kind g(i) is given as a function of i."""
        names = {**CONSTANTS, **{canonical(name): _numeric(v) for name, v in values.items()}}
        with np.errstate(all="ignore"):
            return float(_walk(self.tree, names, _in_numbers()))

    def to_sympy(self, **names: Any) -> Any:
        """The same formula as a SymPy expression; `names` may supply the symbols to use."""
        import sympy

        given = {canonical(name): value for name, value in names.items()}
        calls = [node.func for node in ast.walk(self.tree) if isinstance(node, ast.Call)]
        applied = {function.id for function in calls if isinstance(function, ast.Name)}
        known = {"pi": sympy.pi, "E": sympy.E, "e": sympy.E, "oo": sympy.oo}
        for name in names_in(self.tree) - given.keys() - known.keys():
            known[name] = (sympy.Function if name in applied else sympy.Symbol)(name)
        return _walk(self.tree, {**known, **given}, _in_sympy())

    def terms(self) -> int:
        """How many terms it has at most when all products and powers are written out."""
        return _terms(self.tree)

    def __str__(self) -> str:
        return self.text


def _terms(node: ast.expr) -> int:
    match node:
        case ast.BinOp(left=x, op=ast.Add() | ast.Sub(), right=y):
            count = _terms(x) + _terms(y)
        case ast.BinOp(left=x, op=ast.Mult(), right=y):
            count = _terms(x) * _terms(y)
        case ast.BinOp(left=x, op=ast.Pow(), right=ast.Constant(value=int(power))):
            count = math.comb(_terms(x) + min(power, 999) - 1, min(power, 999)) if power > 0 else 1
        case ast.BinOp(left=x, op=ast.Div()):
            count = _terms(x)
        case ast.UnaryOp(operand=x):
            count = _terms(x)
        case _:
            count = 1
    return min(count, 10**6)


def read_formula(
    answer: Any,
    symbols: Iterable[str],
    functions: Iterable[str] = (),
    calculus: bool = False,
    forms: Forms | None = None,
) -> ReadFormula:
    """Read a number, text or SymPy expression in these symbols; FormulaError says what is wrong.

    With `calculus`, integrals and derivatives too: for SymPy, not for `ReadFormula.at`. `forms` are
    other ways to write the symbols.
    """
    return _read_text(as_text(answer), tuple(symbols), tuple(functions), calculus, forms)


@functools.lru_cache(200)  # formulas: in a class many are alike
def _read_text(
    text: str,
    symbols: tuple[str, ...],
    functions: tuple[str, ...],
    calculus: bool,
    forms: Forms | None,
) -> ReadFormula:
    text = _right_hand_side(text, symbols)
    more = CALCULUS if calculus else ()
    vocabulary = vocabulary_of(symbols, functions, [*FUNCTIONS, *more], CONSTANTS)
    tree, replaced = (forms or Forms({})).parse(text, vocabulary, many=True)
    _refuse_depth(tree, text)
    if forms:
        _refuse_what_stands_for_nothing(tree, text, symbols)
    if replaced:
        text = ast.unparse(tree)
    known, applied = {*map(canonical, symbols)}, {*map(canonical, functions)}
    _refuse_comparison(tree, text, known)
    _refuse_what_is_no_formula(tree, text, applied.union(more))
    unknown = sorted(names_in(tree) - known - applied - CONSTANTS.keys())
    if unknown:
        unknown = [name[:40] for name in unknown[:5]]
        allowed = _listed([*symbols, *(f"{name}(…)" for name in functions)])
        raise FormulaError(
            f"{quoted(text)} uses {_listed(unknown)}; "
            f"the answer may use {allowed or 'numbers only'}."
        )
    called = {id(node.func) for node in ast.walk(tree) if isinstance(node, ast.Call)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in applied and id(node) not in called:
            raise FormulaError(f"{quoted(text)}: after {pretty(node.id)} its argument is missing.")
    _refuse_huge_numbers(tree, text)
    return ReadFormula(text, tree)


def names_in(tree: ast.AST) -> set[str]:
    """All names of a formula but its function names and its summation indices."""
    match tree:
        case ast.Name(id=name):
            return {name}
        case ast.Call(func=ast.Name(id=name), args=[body, ast.Tuple(elts=[index, *bounds])]) if (
            name in OVER_AN_INDEX
        ):
            return (names_in(body) - names_in(index)).union(*map(names_in, bounds))
        case ast.Call(func=ast.Name(id=name), args=args):
            own = set() if name in ARGUMENTS or name in CALCULUS else {name}
            return own.union(*map(names_in, args))
    return set().union(*map(names_in, ast.iter_child_nodes(tree)))


# -- reading ------------------------------------------------------------------------------------


def as_text(answer: Any) -> str:
    """A number, text or SymPy expression as text; FormulaError if it is none of them."""
    answer = only(answer)
    if issubclass(type(answer), complex | np.complexfloating) and answer.imag == 0:
        answer = answer.real
    kind = type(answer)  # not isinstance, which asks the object itself
    if issubclass(kind, str):
        text = without_escapes(str.__str__(answer)).strip()
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


def only(answer: Any) -> Any:
    """The one thing in a list, set, dictionary or array of one, as `solve` gives it; else all."""
    for _ in range(3):  # [{M: …}] is a dictionary in a list
        kind = type(answer)
        if issubclass(kind, np.ndarray) and answer.size == 1:
            answer = answer.item()
        elif issubclass(kind, list | tuple | set | frozenset) and len(answer) == 1:
            (answer,) = answer
        elif issubclass(kind, dict) and len(answer) == 1:
            (answer,) = answer.values()
        elif sympy_kind(answer) == "FiniteSet" and len(answer.args) == 1:
            (answer,) = answer.args
    return answer


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
        return " = ".join(map(sympy_text, answer.args))
    if not isinstance(answer := only(answer), sympy.Expr):
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


def _right_hand_side(text: str, symbols: Iterable[str]) -> str:
    """`= beta` and `alpha = beta` as `beta`; an equation between the symbols is refused."""
    pieces = tokens(text)
    places = [k for k, t in enumerate(pieces) if t.text == "=" and not _is_below_a_sum(pieces, k)]
    if not places:
        return text
    left = _without_bars(pieces[: places[0]])
    known = {canonical(symbol) for symbol in symbols}
    if len(places) == 1 and (not left or (_is_a_name(left) and _name(left) not in known)):
        return text[pieces[places[0]].end :].strip(" $")
    raise FormulaError(f"{quoted(text)} is an equation; give only its right-hand side.")


def _is_below_a_sum(pieces: list[Token], place: int) -> bool:
    """Whether this = stands in an index, as that of a sum does, or in a block."""
    depth = blocks = 0
    for k in range(place, -1, -1):
        blocks += (pieces[k].text == "end") - (pieces[k].text == "begin")
        depth += (pieces[k].text in ("}", ")")) - (pieces[k].text in ("{", "("))
        if depth < 0:
            if k and pieces[k - 1].text == "_":
                return True
            depth = 0
    return blocks < 0  # x & x = 0 within cases


def _without_bars(pieces: list[Token]) -> list[Token]:
    """θ of |θ|: the length of what is asked for has its name too."""
    barred = len(pieces) > 2 and pieces[0].text == pieces[-1].text == "|"
    return pieces[1:-1] if barred else pieces


def _is_a_name(pieces: list[Token]) -> bool:
    head, *rest = pieces
    index = not rest or (rest[0].text == "_" and (rest[-1].text == "}" or len(rest) == 2))
    return head.kind in ("word", "command") and index


def _name(pieces: list[Token]) -> str:
    return canonical("".join(t.text for t in pieces))


def _refuse_what_stands_for_nothing(tree: ast.expr, text: str, symbols: Iterable[str]) -> None:
    """A product of vectors, a norm or an expectation that is no form of a symbol."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and _called(node) in ("norm", "transpose", "Expectation"):
            part = quoted(text[node.col_offset : node.end_col_offset])
            why = f"{quoted(text)}: {part} stands for none of {_listed([*symbols])}"
            raise FormulaError(f"{why}, of which the answer is made.")


def _refuse_depth(tree: ast.expr, text: str) -> None:
    level: list[ast.AST] = [tree]
    for _ in range(DEEPEST):
        level = [child for node in level for child in ast.iter_child_nodes(node)]
        if not level:
            break
    else:
        raise FormulaError(f"{quoted(text)} is too long: it has more than {DEEPEST} levels.")


def _refuse_comparison(tree: ast.expr, text: str, symbols: set[str]) -> None:
    """`M >= l` is told what to do: where M is what is asked for, l is the answer."""
    if not isinstance(tree, ast.Compare):
        return
    sign = _COMPARISONS.get(type(tree.ops[0]), "sign")
    asked_for = isinstance(tree.left, ast.Name) and tree.left.id not in symbols
    where = f"right of the {sign}" if asked_for else f"on one side of the {sign}"
    raise FormulaError(f"{quoted(text)} is a comparison; give only what stands {where}.")


def _refuse_what_is_no_formula(tree: ast.expr, text: str, functions: set[str]) -> None:
    """Everything but arithmetic is refused by name, before anything is computed."""
    waiting = [(tree, _value_parts)]
    while waiting:
        node, parts_of = waiting.pop()
        parts = parts_of(node)
        if node is tree and isinstance(node, ast.Tuple):
            raise FormulaError(
                f"{quoted(text)} has a comma, so it is several answers; decimals take a point."
            )
        if isinstance(node, ast.Call) and (index := _without_bounds(node)):
            raise FormulaError(f"{quoted(text)}: the bounds of {pretty(index)} are missing.")
        if parts is None:
            part = quoted(ast.unparse(node))
            raise FormulaError(f"{quoted(text)} is not a formula: {part} is not arithmetic.")
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            _refuse_call(node.func.id, len(node.args), text, functions)
        values, conditions = parts
        waiting += [(v, _value_parts) for v in values]
        waiting += [(c, _condition_parts) for c in conditions]


def _value_parts(node: ast.AST) -> tuple[list[Any], list[Any]] | None:
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
        ) if name in OVER_AN_INDEX:
            return [body, lo, hi], []
        case ast.Call(func=ast.Name(id="Piecewise"), args=pieces):
            pairs = [p.elts for p in pieces if isinstance(p, ast.Tuple) and len(p.elts) == 2]
            if len(pairs) == len(pieces):
                return [value for value, _ in pairs], [condition for _, condition in pairs]
        case ast.Call(func=ast.Name(id=name), args=args) if name not in (
            *CONDITIONS,
            *OVER_AN_INDEX,
        ):
            return args, []
    return None


def _without_bounds(call: ast.Call) -> str:
    """The k of \\sum_k, whose bounds only arrays would tell."""
    match call.args:
        case [_, ast.Tuple(elts=[ast.Name(id=index)])]:
            return index
    return ""


def _condition_parts(node: ast.AST) -> tuple[list[Any], list[Any]] | None:
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


def _refuse_call(name: str, count: int, text: str, functions: set[str]) -> None:
    if name in functions:
        return
    if name not in ARGUMENTS:
        raise FormulaError(
            f"{quoted(text)} calls {pretty(name)[:40]}, which is no function known here."
        )
    fewest, most = ARGUMENTS[name]
    if not fewest <= count <= most:
        raise FormulaError(f"{quoted(text)}: {name} does not take {count} arguments.")


class _TooLarge(Exception):
    """A number in a formula is beyond what floating point holds."""


def _refuse_huge_numbers(tree: ast.expr, text: str) -> None:
    """Numbers inside a formula stay within what floating point holds, and powers moderate."""
    try:
        with np.errstate(all="ignore"):
            _size(tree)
    except _TooLarge:
        raise FormulaError(
            f"{quoted(text)} contains a number that is too large or not defined."
        ) from None


def _size(node: ast.AST) -> Any:
    """The value of a part without names, up to its sign; else None."""
    match node:
        case ast.Constant(value=int() | float() as number):
            return _size_of_number(number)
        case ast.UnaryOp(op=ast.USub() | ast.UAdd(), operand=x):
            return _size(x)
        case ast.BinOp(left=left, op=op, right=right):
            return _size_of_operation(op, _size(left), _size(right))
        case ast.Call(func=ast.Name(id=name), args=args) if name in FUNCTIONS:
            return _size_of_call(name, [_size(arg) for arg in args])
    for child in ast.iter_child_nodes(node):
        _size(child)
    return None


def _size_of_number(number: float) -> Any:
    try:
        size = np.float64(number)
    except OverflowError:
        raise _TooLarge from None
    if np.isinf(size):  # 1e400
        raise _TooLarge
    return size


def _size_of_operation(op: ast.operator, x: Any, y: Any) -> Any:
    power = isinstance(op, ast.Pow)
    if power and y is not None and abs(y) > LARGEST_POWER:
        raise _TooLarge
    if x is None or y is None:
        return None
    value = OPERATORS[type(op)](x, y)
    vanished = power and value == 0 and x != 0
    if vanished or not np.isfinite(value):
        raise _TooLarge
    return value


def _size_of_call(name: str, values: list[Any]) -> Any:
    if None in values:
        return None
    if name in GROW_FAST and max(map(abs, values)) > LARGEST_FACTORIAL:
        raise _TooLarge
    value = FUNCTIONS[name](*values)
    return value if np.isfinite(value) else None


def _listed(names: list[str]) -> str:
    shown = [pretty(name) for name in names]
    return " and ".join([", ".join(shown[:-1]), shown[-1]]) if len(shown) > 1 else "".join(shown)


# -- walking: one tree, two algebras ------------------------------------------------------------


class _Algebra(NamedTuple):
    """What numbers, functions, sums and cases mean: floating point here, SymPy there."""

    number: Callable[[Any], Any]
    power: Callable[[Any, Any], Any]
    functions: Mapping[str, Callable[..., Any]]
    over_an_index: Callable[..., Any]
    cases: Callable[..., Any]
    numeric: bool = False


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
        case ast.BinOp(left=x, op=ast.Pow(), right=y):
            return algebra.power(value(x), value(y))
        case ast.BinOp(left=x, op=op, right=y):
            return OPERATORS[type(op)](value(x), value(y))
        case ast.Compare(left=x, ops=[op], comparators=[y]):
            return OPERATORS[type(op)](value(x), value(y))
        case ast.Call(
            func=ast.Name(id=kind), args=[body, ast.Tuple(elts=[ast.Name(id=i), lo, hi])]
        ) if kind in OVER_AN_INDEX:

            def term(k: Any) -> Any:
                return _walk(body, {**names, i: k}, algebra)

            at_once = algebra.numeric and _is_elementwise(body)
            return algebra.over_an_index(kind, term, i, value(lo), value(hi), at_once)
        case ast.Call(func=ast.Name(id="Piecewise"), args=pieces):
            pairs = [p.elts for p in pieces if isinstance(p, ast.Tuple)]
            return algebra.cases(
                [tuple(functools.partial(value, part) for part in pair) for pair in pairs]
            )
        case ast.Call(func=ast.Name(id=name), args=args):
            function = names[name] if name in names else algebra.functions[name]
            return function(*map(value, args))
    raise FormulaError(f"{ast.unparse(node)!r} is not a formula.")


def _in_numbers() -> _Algebra:
    return _Algebra(_number, operator.pow, FUNCTIONS, _over_numbers(), _cases, numeric=True)


def _number(number: Any) -> Any:
    return np.bool_(number) if isinstance(number, bool) else np.float64(number)


def _numeric(value: Any) -> Any:
    return (lambda *args: np.float64(value(*args))) if callable(value) else np.float64(value)


def _over_numbers() -> Callable[..., Any]:
    """Sums and products over numbers; those of one evaluation, nested too, share LONGEST_SUM."""
    left = LONGEST_SUM

    def total(
        kind: str, term: Callable[[Any], Any], _: str, lo: float, hi: float, at_once: bool
    ) -> Any:
        nonlocal left
        what = kind.lower()
        if not (np.isfinite(lo) and np.isfinite(hi) and lo == int(lo) and hi == int(hi)):
            raise FormulaError(f"A {what} from {lo:g} to {hi:g} has no whole number of terms.")
        left -= max(0, int(hi) - int(lo) + 1)
        if left < 0:
            raise FormulaError(f"The {what} has more than {LONGEST_SUM} terms.")
        if at_once and hi > lo:
            index = np.arange(int(lo), int(hi) + 1, dtype=float)
            values = np.broadcast_to(term(index), index.shape)
            return (np.add if kind == "Sum" else np.multiply).accumulate(values)[-1]
        terms = (term(np.float64(k)) for k in range(int(lo), int(hi) + 1))
        return sum(terms, np.float64(0)) if kind == "Sum" else math.prod(terms, start=np.float64(1))

    return total


@functools.lru_cache(maxsize=64)
def _is_elementwise(body: ast.expr) -> bool:
    """May all terms be computed at once, because each step is one of NumPy for whole arrays?"""
    parts = (n for n in ast.walk(body) if not isinstance(n, ast.operator | ast.unaryop | ast.Load))
    return all(
        isinstance(n, ast.Constant | ast.Name | ast.UnaryOp | ast.BinOp)
        or (isinstance(n, ast.Call) and isinstance(FUNCTIONS.get(_called(n)), np.ufunc))
        for n in parts
    )


def _called(call: ast.Call) -> str:
    return call.func.id if isinstance(call.func, ast.Name) else ""


def _cases(pieces: list[tuple[Callable[[], Any], Callable[[], Any]]]) -> Any:
    return next((value() for value, condition in pieces if condition()), np.float64(np.nan))


def _exact_number(number: Any) -> Any:
    import sympy

    if isinstance(number, bool):
        return sympy.true if number else sympy.false
    return sympy.Integer(number) if isinstance(number, int) else sympy.Float(number)


def _in_sympy() -> _Algebra:
    import sympy

    functions: dict[str, Any] = {name: getattr(sympy, name, None) for name in FUNCTIONS}
    functions |= {
        "abs": sympy.Abs,
        "ceil": sympy.ceiling,
        "Gamma": sympy.gamma,
        "expm1": lambda x: sympy.exp(x) - 1,
        "log1p": lambda x: sympy.log(1 + x),
        "log2": lambda x: sympy.log(x) / sympy.log(2),
        "log10": lambda x: sympy.log(x) / sympy.log(10),
        "Rational": lambda p, q=sympy.S.One: p / q,
        "Derivative": sympy.Derivative,
        "gcd": of_whole_numbers("gcd"),
        "lcm": of_whole_numbers("lcm"),
    }
    functions |= {name: functools.partial(_moderate, functions[name]) for name in GROW_FAST}
    return _Algebra(_exact_number, _sympy_power, functions, _sympy_over_an_index, _sympy_cases)


@functools.cache
def of_whole_numbers(name: str) -> Any:
    """gcd or lcm for SymPy, whose own take letters for polynomials: gcd(a, b) would be 1."""
    import sympy

    def at_numbers(cls: Any, *args: Any) -> Any:
        if all(a.is_Integer for a in args):
            return sympy.Integer(getattr(math, name)(*map(int, args)))
        return None

    return type(name, (sympy.Function,), {"eval": classmethod(at_numbers), "is_real": True})


def _moderate(function: Callable[..., Any], *args: Any) -> Any:
    """SymPy would write out every digit of a factorial."""
    if any(arg.is_Number and abs(arg) > LARGEST_FACTORIAL for arg in args):
        raise FormulaError("The formula contains a number that is too large.")
    return function(*args)


def _sympy_power(base: Any, exponent: Any) -> Any:
    if base.is_Number and exponent.is_Number and abs(exponent) > LARGEST_POWER:
        raise FormulaError("The formula contains a number that is too large.")
    return base**exponent


def _sympy_over_an_index(
    kind: str, term: Callable[[Any], Any], index: str, lo: Any, hi: Any, _: bool
) -> Any:
    import sympy

    if kind == "Limit":  # towards lo, from the side hi
        x = sympy.Symbol(index, real=True)
        return sympy.Limit(term(x), x, lo, {1: "+", -1: "-"}.get(int(hi), "+-"))
    i = sympy.Symbol(index, **({"real": True} if kind == "Integral" else {"integer": True}))
    return getattr(sympy, kind)(term(i), (i, lo, hi))


def _sympy_cases(pieces: list[tuple[Callable[[], Any], Callable[[], Any]]]) -> Any:
    import sympy

    return sympy.Piecewise(*((value(), condition()) for value, condition in pieces))


# -- sentences and growth -------------------------------------------------------------------------

_SUPERSCRIPT = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def written(expression: Any) -> str:
    """A SymPy expression in a sentence: `3*n**2` as 3·n², `2**l` as 2^l."""
    text = re.sub(r"\*\*(\d+)\b(?!\.)", lambda m: m[1].translate(_SUPERSCRIPT), str(expression))
    return text.replace("**", "^").replace("*", "·")


def without_order(answer: Any) -> Any:
    """`n**2` of `O(n**2)` or `Θ(n²)`, for exercises that ask for growth; else as it was."""
    answer = only(answer)
    if not isinstance(answer, str):
        order = sympy_kind(answer) == "Order"
        return answer.expr if order else answer
    sign = r"(?:\\mathcal\s*\{?O\}?|\\?Theta|\\?Omega|O|o|[ΘΩ𝒪])"
    inside = re.fullmatch(
        rf"\s*\$?\s*{sign}\s*(?:\\left\s*)?\((.*?)(?:\\right\s*)?\)\s*\$?\s*", answer
    )
    if not inside or not _balanced(inside[1]):
        return answer
    typed = "*" in inside[1]
    return inside[1] if typed else f"${inside[1]}$"  # `O(n^2 d)` is how it is written on paper


def _balanced(text: str) -> bool:
    depths = [0]
    for c in text:
        depths.append(depths[-1] + (c == "(") - (c == ")"))
    return min(depths) == depths[-1] == 0
