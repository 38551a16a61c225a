"""Algebra that is checked line by line.

A derivation is a start and lines, each with a relation (=, ≤, ≥, ≈) and a reason. Every line is
compared with the one before it, in numbers drawn from the declared domains; SymPy then proves what
it quickly can. A false line is shown with a counterexample small enough to check by hand.

    Derivation("-delta*v", [("=", "-delta*(beta*u + (1-beta)*g)", "definition of v")],
               where={"beta": interval(0, 1), "delta": positive, "u g": real},
               given={"v": ("beta*u + (1-beta)*g", "by definition")})

An expression is text, SymPy (scalars, sums, matrices) or a function whose parameters are named like
the symbols: `lambda W, h, sigma: sigma(W @ h)`; `shown(function, tex)` says how to print it.

Three parts: domains (what to try), expressions (what it comes to), derivations (what follows).
"""

from __future__ import annotations

import ast
import inspect
import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cache, cached_property, reduce
from random import Random
from typing import Any, NamedTuple

import numpy as np

from .formula import GREEK, LETTERS, Formula, FormulaError, pretty, read_formula

RELATIONS = {"=": "=", "≤": "≤", "<=": "≤", "≥": "≥", ">=": "≥", "≈": "≈"}
RIGHT, WRONG, BLANK, UNCHECKED = "right", "wrong", "not attempted", "could not be checked"
MARKS = {RIGHT: "✓", WRONG: "✗", BLANK: "…", UNCHECKED: "?"}
TEX = {"=": "=", "≤": r"\le", "≥": r"\ge", "≈": r"\approx"}
TEX_MARKS = {RIGHT: r"\checkmark", WRONG: r"\text{✗}", BLANK: r"\ldots", UNCHECKED: r"\text{?}"}
DIGITS, MORE_DIGITS = 40, 400  # for scalars; a mismatch counts only if it survives MORE_DIGITS
ROUNDING, FLOAT_ROUNDING = 1e-20, 1e-8  # relative to the values, and at least to 1
SIMPLE, CORNERS = 24, 36  # of the random instances so many are readable; corners are for ≤ and ≥
LONGEST_SUM = 2000

# -- domains: where a symbol lives, as values to try ----------------------------------------------


@dataclass(frozen=True)
class Domain:
    """Values to try: random ones, readable ones (simplest first), and the corners of the domain."""

    draw: Callable[..., Any]
    simple: Callable[..., list]
    corners: Callable[..., list]
    sizes: tuple = ()
    assumptions: Mapping[str, bool] = field(default_factory=dict)
    scatter: Callable[..., Any] | None = None  # readable values beyond the simple ones

    def readable(self, rng: Random, *sizes: int) -> Any:
        if self.scatter and rng.random() < 0.5:
            return self.scatter(rng, *sizes)
        return rng.choice(self.simple(*sizes))

    def extreme(self, rng: Random, k: int, *sizes: int) -> Any:
        """First every corner in turn, then corners and random values in random company."""
        corners = self.corners(*sizes)
        if k < CORNERS // 3:
            return corners[k % len(corners)]
        return rng.choice(corners) if rng.random() < 0.7 else self.draw(rng, *sizes)


def _scalar(lo: Any, hi: Any, simple: list, corners: list, **assumptions: bool) -> Domain:
    def draw(rng: Random) -> Fraction:
        return lo + (hi - lo) * Fraction(rng.randint(1, 99), 100)

    return Domain(draw, lambda: simple, lambda: corners, (), assumptions)


HALF, TINY, LARGE = Fraction(1, 2), Fraction(1, 1000), 100
real = _scalar(-3, 3, [0, 1, 2, -1, HALF, 3], [0, LARGE, -LARGE, TINY], real=True)
positive = _scalar(0, 4, [1, 2, HALF, 3], [TINY, LARGE], positive=True)
nonnegative = _scalar(0, 4, [0, 1, 2, HALF, 3], [0, TINY, LARGE], nonnegative=True)


def interval(lo: float, hi: float, closed: bool = False) -> Domain:
    """The numbers between lo and hi, without the ends unless `closed`."""
    lo, hi = Fraction(str(lo)), Fraction(str(hi))
    inside = [lo + (hi - lo) * Fraction(k, 4) for k in (2, 1, 3)]
    ends = [lo, hi] if closed else [lo + (hi - lo) * TINY, hi - (hi - lo) * TINY]
    sign = {"positive": True} if lo > 0 or (lo == 0 and not closed) else {"real": True}
    return _scalar(lo, hi, inside + (ends if closed else []), ends, **sign)


def integers(lo: int = 1, hi: int = 8) -> Domain:
    """The whole numbers lo … hi."""
    first = list(range(lo, min(lo + 3, hi + 1)))
    kind = {"integer": True, **({"positive": True} if lo > 0 else {})}
    return Domain(lambda rng: rng.randint(lo, hi), lambda: first, lambda: [lo, hi], (), kind)


def _array(sizes: tuple, of: Domain, form: Callable = lambda A: A, special: tuple = ()) -> Domain:
    """Arrays with entries from `of`, brought into form (symmetric, singular, …)."""

    def fill(entry: Callable[[], Any], n: tuple) -> np.ndarray:
        return form(np.array([float(entry()) for _ in range(math.prod(n))]).reshape(n))

    def scatter(rng: Random, *n: int) -> np.ndarray:
        return fill(lambda: rng.choice(of.simple()), n)

    def draw(rng: Random, *n: int) -> np.ndarray:
        made = fill(lambda: of.draw(rng), n)
        return rng.choice(special)(made) if special and rng.random() < 0.25 else made

    def simple(*n: int) -> list:
        mixed = [scatter(Random(k), *n) for k in range(3)]
        constant = [fill(lambda v=v: v, n) for v in of.simple()[:3]]
        return [*constant, *(s(m) for s in special for m in mixed), *mixed]

    def corners(*n: int) -> list:
        return simple(*n) + [fill(lambda v=v: v, n) for v in of.corners()]

    return Domain(draw, simple, corners, sizes, {"real": True}, scatter)


def vector(n: str | int, of: Domain = real) -> Domain:
    """Vectors of length n; `of` says where the entries live."""
    return _array((n,), of)


def matrix(n: str | int, m: str | int, of: Domain = real) -> Domain:
    """n×m matrices; square ones are sometimes the identity and often singular."""
    square = n == m and of is real
    return _array((n, m), of, special=(_singular, lambda A: np.eye(len(A))) if square else ())


def symmetric(n: str | int) -> Domain:
    """Matrices equal to their transposes, singular ones included."""
    return _array((n, n), real, lambda A: np.triu(A) + np.triu(A, 1).T, (lambda A: 0 * A,))


def diagonal(n: str | int) -> Domain:
    """Diagonal matrices; a diagonal entry may be 0."""
    return _array((n, n), real, lambda A: np.diag(np.diag(A)))


def singular(n: str | int) -> Domain:
    """Square matrices without an inverse."""
    return _array((n, n), real, _singular)


def invertible(n: str | int) -> Domain:
    """Square matrices safely away from the singular ones."""
    return _array((n, n), real, lambda A: A + (np.abs(A).sum() + 1) * np.eye(len(A)))


def orthogonal(n: str | int) -> Domain:
    """Matrices with QᵀQ = 1: products of two reflections."""
    return _array((n, n), real, _reflections)


def _singular(A: np.ndarray) -> np.ndarray:
    return np.vstack([A[:-1], A[:1] if len(A) > 1 else 0 * A])  # two equal rows: exactly singular


def _reflections(A: np.ndarray) -> np.ndarray:
    mirrors = [np.eye(len(A)) - 2 * np.outer(v, v) / max(v @ v, 1e-9) for v in A[:2]]
    return reduce(np.matmul, mirrors)


class Values:
    """g(1), g(2), …: a sequence that remembers which of its values were asked for."""

    def __init__(self, table: list, asked: set[int] | None = None) -> None:
        self.table, self.asked = table, set() if asked is None else asked

    def __call__(self, i: Any) -> Any:
        self.asked.add(int(i))
        return self.table[int(i) % len(self.table)]

    def as_floats(self) -> Values:
        """The same sequence, and the same memory, for functions that compute in floats."""
        plain = [float(v) if isinstance(v, Fraction) else v for v in self.table]
        return Values(plain, self.asked)


def sequence(of: Domain = real) -> Domain:
    """Sequences g(1), g(2), … with values in `of`, for sums of symbolic length."""

    def scatter(rng: Random, *n: int) -> Values:
        return Values([of.readable(rng, *n) for _ in range(64)])

    def simple(*n: int) -> list:
        zero, one = of.simple(*n)[:2]
        impulses = [[one if i == k else zero for i in range(64)] for k in (1, 2)]
        return [Values(table) for table in ([zero] * 64, [one] * 64, *impulses)]

    def draw(rng: Random, *n: int) -> Values:
        return Values([of.draw(rng, *n) for _ in range(64)])

    return Domain(draw, simple, simple, of.sizes, scatter=scatter)


class Activation(NamedTuple):
    """An elementwise function with its derivative and the largest slope |σ′| it has anywhere."""

    name: str
    f: Callable[[Any], Any]
    prime: Callable[[Any], Any]
    slope: float

    def __call__(self, x: Any) -> Any:
        return self.f(x)


def _sigmoid(x: Any) -> Any:
    return (1 + np.tanh(x / 2)) / 2


ACTIVATIONS = [
    Activation("identity", lambda x: 1 * x, lambda x: 1 + 0 * x, 1),
    Activation("relu", lambda x: np.maximum(x, 0), lambda x: np.where(x > 0, 1.0, 0.0), 1),
    Activation("tanh", np.tanh, lambda x: 1 - np.tanh(x) ** 2, 1),
    Activation("sigmoid", _sigmoid, lambda x: _sigmoid(x) * (1 - _sigmoid(x)), 0.25),
    Activation("softplus", lambda x: np.logaddexp(x, 0), _sigmoid, 1),
    Activation("sine", np.sin, np.cos, 1),
]


def activation(slope: float = 1) -> Domain:
    """Activation functions σ with |σ′| ≤ slope; functions may use σ.prime and σ.slope too."""
    known = [a for a in ACTIVATIONS if a.slope <= slope]
    return Domain(lambda rng: rng.choice(known), lambda: known, lambda: known)


# -- expressions: text, SymPy and functions, all as "a value from values" -------------------------


@dataclass(frozen=True)
class shown:
    """An expression and the LaTeX that stands for it on the page."""

    expr: Any
    tex: str


@cache
def _sympy_function(name: str, tex: str) -> Any:
    import sympy

    def latex(self: Any, printer: Any, exp: str | None = None) -> str:
        written = tex % tuple(printer._print(a) for a in self.args)
        return written if exp is None else f"{written}^{{{exp}}}"

    return type(name, (sympy.Function,), {"is_commutative": True, "_latex": latex})


def norm(x: Any) -> Any:
    """‖x‖ as a SymPy expression: Euclidean for vectors, spectral for matrices."""
    return _sympy_function("norm", r"\left\|%s\right\|")(x)


def inner(x: Any, y: Any) -> Any:
    """xᵀy as a SymPy scalar, for column vectors x and y."""
    return _sympy_function("inner", r"\left\langle %s, %s\right\rangle")(x, y)


class Undefined(NamedTuple):
    """There is no value: in short, and in full."""

    reason: str
    trouble: str


@dataclass(frozen=True, eq=False)
class Expression:
    """What was read: its value from a full set of values, the names it uses, its looks."""

    value: Callable[[Mapping[str, Any]], Any]
    names: frozenset[str]
    text: str
    tex: str
    sympy: Any = None  # an ordinary SymPy scalar, if it is one: only that can be proved


class Reader:
    """Reads the expressions of one derivation; knows its names and how they are printed."""

    def __init__(self, names: Mapping[str, Domain | None], tex: Mapping[str, str], exact: bool):
        import sympy

        self.names, self.tex, self.exact = names, tex, exact
        first = {n: d.simple(*[1] * len(d.sizes))[0] for n, d in names.items() if d}
        self.functions = {n for n, value in first.items() if callable(value)}
        self.sequences = {n for n, value in first.items() if isinstance(value, Values)}
        self.symbols = {
            n: sympy.Symbol(n, **(d.assumptions if d else {"real": True})) for n, d in names.items()
        } | {n: sympy.Function(n) for n in self.functions}

    def read(self, source: Any) -> Expression:
        """The expression; a FormulaError says why there is none."""
        tex = source.tex if isinstance(source, shown) else ""
        source = source.expr if isinstance(source, shown) else source
        if hasattr(source, "free_symbols"):
            return self._sympy(source, tex)
        if callable(source):
            return self._function(source, tex)
        formula = read_formula(source, self.names, self.functions)
        formula.to_sympy(**self.symbols)  # refuses what cannot be meant
        return self._sympy(_as_typed(formula, formula.tree, self.symbols), tex, formula.text)

    def word(self, name: str) -> str:
        """A name as a sentence shows it."""
        return _unicode(self.tex[name]) if name in self.tex else pretty(name)

    def _function(self, f: Callable, tex: str) -> Expression:
        wanted = inspect.signature(f).parameters.items()
        parameters = {p: _name(p) for p, about in wanted if about.default is about.empty}
        self._refuse_undeclared(parameters.values())

        def value(values: Mapping[str, Any]) -> Any:
            mine = {p: values[n] for p, n in parameters.items()}
            copied = {p: v.copy() for p, v in mine.items() if isinstance(v, np.ndarray)}
            return f(**{**mine, **copied})  # arrays are theirs to overwrite

        called = getattr(f, "__name__", "f").replace("<lambda>", "f")
        text = _unicode(tex) or f"{called}({', '.join(parameters)})"
        looks = tex or _text(text)
        return Expression(value, frozenset(parameters.values()), text, looks)

    def _sympy(self, e: Any, tex: str, typed: str = "") -> Expression:
        import sympy

        names = {_name(s) for s in e.free_symbols}
        names |= {_name(f.func) for f in e.atoms(sympy.core.function.AppliedUndef)}
        self._refuse_undeclared(names)
        own = {s: self.symbols[_name(s)] for s in e.free_symbols if isinstance(s, sympy.Symbol)}
        for n in sorted(_name(s) for s in own):
            if self.names[n] and len(self.names[n].sizes) == 2 and n not in self.functions:
                raise FormulaError(
                    f"{n} is a matrix: write it as sympy.MatrixSymbol, or the line as a function."
                )
        text = re.sub(r"[^\W\d_]\w*", lambda m: self.word(_name(m[0])), typed or str(e))
        looks = tex or _latex(e, self.tex, self.sequences, "none" if typed else None)
        scalar = isinstance(e, sympy.Expr) and not e.atoms(sympy.MatrixExpr)
        e_own = e.xreplace(own) if scalar else None
        return Expression(_compile(e, self.exact), frozenset(names), text, looks, e_own)

    def _refuse_undeclared(self, names: Iterable[str]) -> None:
        unknown = sorted(set(names) - self.names.keys())
        if unknown:
            raise FormulaError(f"it uses {', '.join(map(pretty, unknown))}, not declared here.")


def _name(key: Any) -> str:
    name = key if isinstance(key, str) else getattr(key, "name", None) or key.__name__
    return "lamda" if name == "lambda" else "".join(GREEK.get(c, c) for c in name)


def _as_typed(formula: Formula, node: ast.expr, names: Mapping[str, Any]) -> Any:
    """SymPy without tidying up, so that w·x/w keeps its division and prints as it was written."""
    import sympy

    def operation(kind: Any, *args: Any) -> Any:
        flat = [b for a in args for b in (a.args if a.func is kind else [a])]
        return kind(*flat, evaluate=False)

    def minus(x: Any) -> Any:
        return -x if x.is_Number else operation(sympy.Mul, sympy.S(-1), x)

    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return minus(_as_typed(formula, node.operand, names))
    if not isinstance(node, ast.BinOp):
        return Formula(formula.text, node).to_sympy(**names)
    x, y = (_as_typed(formula, n, names) for n in (node.left, node.right))
    match node.op:
        case ast.Add():
            return operation(sympy.Add, x, y)
        case ast.Sub():
            return operation(sympy.Add, x, minus(y))
        case ast.Mult():
            return operation(sympy.Mul, x, y)
        case ast.Div():
            return operation(sympy.Mul, x, sympy.Pow(y, -1, evaluate=False))
    return sympy.Pow(x, y, evaluate=False)


def _compile(e: Any, exact: bool) -> Callable[[Mapping[str, Any]], Any]:
    """A SymPy expression as a Python function of the values, in high precision if `exact`."""
    import mpmath
    import sympy as sp

    library = mpmath if exact else np
    if isinstance(e, sp.Float):
        e = sp.Rational(str(e))  # 0.1 means one tenth
    if isinstance(e, sp.Rational):
        ratio = Fraction(int(e.p), int(e.q))
        return lambda v: _number(ratio, exact)
    if e in (sp.pi, sp.E):
        constant = library.pi if e == sp.pi else library.e
        return lambda v: +constant
    if isinstance(e, sp.Symbol):
        symbol = _name(e)
        return lambda v: _number(v[symbol], exact)
    if isinstance(e, sp.MatrixSymbol):
        symbol = _name(e)
        return lambda v: np.reshape(v[symbol], (len(v[symbol]), -1))
    if isinstance(e, sp.Sum | sp.Product):
        return _compile_sum(e, exact)
    if isinstance(e, sp.MatrixBase):
        entries, shape = [_compile(x, exact) for x in e.flat()], e.shape
        return lambda v: np.array([x(v) for x in entries]).reshape(shape)
    parts = [_compile(a, exact) for a in e.args]
    if isinstance(e, sp.core.function.AppliedUndef):
        function = _name(e.func)
        return lambda v: _number(v[function](*[part(v) for part in parts]), exact)
    f = _operations(exact).get(e.func)
    f = f or (getattr(library, e.func.__name__, None) if isinstance(e, sp.Function) else None)
    if f is None:
        raise FormulaError(f"{e.func.__name__} is unknown here: give the line as a function.")
    return lambda v: f(*[part(v) for part in parts])


@cache
def _operations(exact: bool) -> dict[Any, Callable]:
    import mpmath
    import sympy as sp

    def plus(*x: Any) -> Any:
        return sum(x[1:], x[0])

    def times(*x: Any) -> Any:
        return math.prod(x[1:], start=x[0])

    def matmul(a: Any, b: Any) -> Any:
        return a @ b if np.ndim(a) == np.ndim(b) == 2 else a * b

    def power(a: Any, b: Any) -> Any:
        if np.ndim(a) == 2:
            return np.linalg.matrix_power(a if b > 0 else _inverse(a), abs(int(b)))
        return (mpmath if exact else np).sqrt(a) if b == 0.5 else a**b

    element = sp.matrices.expressions.matexpr.MatrixElement
    return {
        **dict.fromkeys([sp.Add, sp.MatAdd], plus),
        **dict.fromkeys([sp.Mul, sp.HadamardProduct], times),
        **dict.fromkeys([sp.Pow, sp.MatPow], power),
        sp.MatMul: lambda *x: reduce(matmul, x),
        sp.Inverse: lambda a, *_: _inverse(a),
        sp.Transpose: np.transpose,
        sp.Trace: np.trace,
        sp.Determinant: np.linalg.det,
        sp.Identity: lambda n: np.eye(int(n)),
        sp.ZeroMatrix: lambda n, m: np.zeros((int(n), int(m))),
        sp.OneMatrix: lambda n, m: np.ones((int(n), int(m))),
        sp.DiagMatrix: lambda x: np.diag(np.ravel(x)),
        element: lambda a, i, j: a[int(i), int(j)],
        sp.Abs: abs,
        sp.Max: max if exact else lambda *x: reduce(np.maximum, x),
        sp.Min: min if exact else lambda *x: reduce(np.minimum, x),
        type(norm(sp.S(1))): lambda x: np.linalg.norm(np.ravel(x) if 1 in np.shape(x) else x, 2),
        type(inner(sp.S(1), sp.S(1))): lambda x, y: np.ravel(x) @ np.ravel(y),
    }


def _compile_sum(e: Any, exact: bool) -> Callable[[Mapping[str, Any]], Any]:
    import sympy

    *more, (index, lo, hi) = e.limits  # SymPy's last limit is the outermost sum
    inside = e.func(e.function, *more) if more else e.function
    term, lo, hi = (_compile(x, exact) for x in (inside, lo, hi))
    total, empty = (math.prod, 1) if isinstance(e, sympy.Product) else (sum, 0)

    def value(v: Mapping[str, Any]) -> Any:
        first, last = int(lo(v)), int(hi(v))
        if last - first > LONGEST_SUM:
            raise OverflowError(f"a sum of {last - first + 1} terms is too long")
        terms = (term({**v, _name(index): k}) for k in range(first, last + 1))
        return total(terms, start=_number(empty, exact))

    return value


def _number(value: Any, exact: bool) -> Any:
    """A scalar ready for arithmetic that neither overflows (if exact) nor raises (if not)."""
    if not exact:
        return value if isinstance(value, np.ndarray) else np.float64(value)
    import mpmath

    if isinstance(value, Fraction):
        return mpmath.mpf(value.numerator) / value.denominator
    return mpmath.mpf(value)


def _inverse(A: np.ndarray) -> np.ndarray:
    stretch = np.linalg.svd(A, compute_uv=False)
    if stretch[-1] <= 1e-10 * max(stretch[0], 1e-300):
        raise ZeroDivisionError("the matrix has no inverse")
    return np.linalg.inv(A)


def _latex(e: Any, tex: Mapping[str, str], sequences: set[str], order: str | None) -> str:
    from sympy.core.function import AppliedUndef
    from sympy.printing.latex import LatexPrinter

    class Printer(LatexPrinter):
        def _print_Symbol(self, s: Any, *args: Any, **kw: Any) -> str:
            return tex.get(_name(s)) or super()._print_Symbol(s, *args, **kw)

        def _print_MatrixSymbol(self, s: Any, *args: Any, **kw: Any) -> str:
            return tex.get(_name(s)) or super()._print_MatrixSymbol(s, *args, **kw)

        def _print_Function(self, f: Any, exp: str | None = None) -> str:
            if not isinstance(f, AppliedUndef) or _name(f.func) not in sequences:
                return super()._print_Function(f, exp)
            head = tex.get(_name(f.func)) or self._deal_with_super_sub(f.func.__name__)
            power = f"^{{{exp}}}" if exp is not None else ""
            return f"{head}_{{{', '.join(map(self._print, f.args))}}}{power}"

    return Printer({"order": order}).doprint(e)


# -- derivations ----------------------------------------------------------------------------------


@dataclass(frozen=True)
class LineReport:
    """What was found out about one line."""

    verdict: str
    how: str = ""  # "proved by SymPy", "held in 60 random instances"
    sentence: str = ""
    counterexample: dict[str, Any] | None = None
    values: tuple[Any, Any] | None = None  # of the line before and of this line, there


@dataclass(frozen=True)
class Report:
    """The verdicts as data; `lines[0]` is the first line after the start."""

    lines: tuple[LineReport, ...]

    @property
    def holds(self) -> bool:
        """Whether there are lines and every one is right."""
        return bool(self.lines) and all(line.verdict == RIGHT for line in self.lines)

    @property
    def first_false(self) -> int | None:
        return next((k for k, line in enumerate(self.lines) if line.verdict == WRONG), None)

    @property
    def counterexample(self) -> dict[str, Any] | None:
        return None if self.first_false is None else self.lines[self.first_false].counterexample

    @property
    def sentence(self) -> str:
        """For a feedback card: the first false line, or what is open, or that all is well."""
        for verdict in (WRONG, UNCHECKED, BLANK):
            for line in self.lines:
                if line.verdict == verdict:
                    return line.sentence
        ways = [line.how for line in self.lines]
        counts = [f"{ways.count(way)} {way}" for way in dict.fromkeys(ways)]
        found = ", ".join(counts) if len(counts) > 1 else "".join(ways[:1])
        return f"Every line holds: {found}." if ways else "There are no lines yet."


class Line(NamedTuple):
    """One line as it was written."""

    relation: str
    expr: Any
    reason: str = ""
    allowed: Any = None  # for ≈: (symbol, limit) or the largest difference


class Trial(NamedTuple):
    """Two lines at one instance: how they disagree ("value", "shape", "undefined"), if at all."""

    kind: str | None
    before: Any
    now: Any
    values: Mapping[str, Any]


class Derivation:
    """A start and lines (relation, expression, reason), checked and shown line by line.

    `where` declares the symbols, `given` those that are computed from them, in this order. A line
    with ≈ has a fourth part: ("t", oo) for a limit, or the largest difference that is allowed.
    """

    def __init__(
        self,
        start: Any,
        lines: Iterable[tuple],
        *,
        where: Mapping[Any, Domain],
        given: Mapping[Any, Any] | None = None,
        name: str = "",
        tex: Mapping[Any, str] | None = None,
        instances: int = 60,
        seed: int = 0,
    ) -> None:
        self.name, self.instances, self.seed = name, max(instances, SIMPLE), seed
        self.start, self.lines = start, [_line(k, line) for k, line in enumerate(lines, 1)]
        self._domains = {n: domain for key, domain in where.items() for n in _names(key)}
        sizes = [s for d in self._domains.values() for s in d.sizes if isinstance(s, str)]
        self._sizes = {s: self._domains.pop(s, integers(1, 4)) for s in dict.fromkeys(sizes)}
        sources = {_name(k): v[0] if isinstance(v, tuple) else v for k, v in (given or {}).items()}
        twice = sources.keys() & (self._domains.keys() | self._sizes.keys())
        if twice:
            raise ValueError(f"{', '.join(sorted(twice))}: both in `where` and in `given`.")
        self._exact = self._only_scalars([start, *sources.values()])
        names = {**self._sizes, **self._domains, **dict.fromkeys(sources)}
        self._reader = Reader(names, {_name(k): v for k, v in (tex or {}).items()}, self._exact)
        self._given = {n: self._reader.read(source) for n, source in sources.items()}
        self._columns: dict[Expression, list] = {}

    def check(self) -> Report:
        """The verdict on every line; computed once, the same for the same seed."""
        return self._report

    def _only_scalars(self, sources: list) -> bool:
        """Then values are taken to 40 digits and rounding is no concern."""
        sources += [part for line in self.lines for part in (line.expr, line.allowed)]
        plain = [s.expr if isinstance(s, shown) else s for s in sources]
        functions = any(callable(s) and not hasattr(s, "free_symbols") for s in plain)
        drawn = [None if d.sizes else d.simple()[0] for d in self._domains.values()]
        return not functions and not any(v is None or isinstance(v, Activation) for v in drawn)

    def _read(self, source: Any) -> Expression | str | None:
        """The expression, a sentence that says why it is none, or None for a blank."""
        try:
            return None if _is_blank(source) else self._reader.read(source)
        except FormulaError as trouble:
            return str(trouble)
        except Exception as trouble:
            return f"it cannot be read ({type(trouble).__name__}: {trouble})."

    @cached_property
    def _expressions(self) -> list[Expression | str | None]:
        return [self._read(source) for source in [self.start, *(line.expr for line in self.lines)]]

    # .. values

    @cached_property
    def _instances(self) -> list[tuple[str, dict[str, Any], Any]]:
        """What to try: (pool, the independent symbols' values, those of all symbols)."""
        rng = Random(self.seed)
        corners = CORNERS if any(line.relation in "≤≥" for line in self.lines) else 0
        pools = [
            ("simple", SIMPLE, lambda d, k, *n: d.readable(rng, *n)),
            ("random", self.instances - SIMPLE, lambda d, k, *n: d.draw(rng, *n)),
            ("corner", corners, lambda d, k, *n: d.extreme(rng, k, *n)),
        ]
        tried = [(pool, self._sample(pick, k)) for pool, count, pick in pools for k in range(count)]
        with self._precision(DIGITS):
            return [(pool, one, self._complete(one)) for pool, one in tried]

    def _sample(self, pick: Callable[..., Any], k: int) -> dict[str, Any]:
        sizes = {s: pick(domain, k) for s, domain in self._sizes.items()}
        return sizes | {
            name: pick(domain, k, *(sizes.get(s, s) for s in domain.sizes))
            for name, domain in self._domains.items()
        }

    def _complete(self, independent: Mapping[str, Any]) -> dict[str, Any] | Undefined:
        """The instance in numbers that can be computed with, and with all givens computed."""
        values = dict(independent)
        for name, value in independent.items():
            if isinstance(value, Fraction if not self._exact else Fraction | int):
                values[name] = _number(value, self._exact)
            elif isinstance(value, Values) and not self._exact:
                values[name] = value.as_floats()
        for name, expression in self._given.items():
            values[name] = _value(expression, values)
            if isinstance(values[name], Undefined):
                return values[name]
        return values

    def _precision(self, digits: int) -> Any:
        import mpmath

        return mpmath.workdps(digits) if self._exact else nullcontext()

    def _column(self, expression: Expression) -> list:
        """The expression's value at every instance, computed once."""
        if expression not in self._columns:
            with self._precision(DIGITS):
                self._columns[expression] = [
                    v if isinstance(v, Undefined) else _value(expression, v)
                    for _, _, v in self._instances
                ]
        return self._columns[expression]

    # .. judging

    @cached_property
    def _report(self) -> Report:
        reports, before, skipped = [], self._expressions[0], []
        for k, line in enumerate(self.lines):
            now = self._expressions[k + 1]
            skipped.append(line)
            if now is None:
                report = LineReport(BLANK, sentence="is still to be written.")
            elif trouble := self._trouble(now):
                report = LineReport(UNCHECKED, sentence=f"could not be checked: {trouble}")
            elif nothing := self._trouble(before):
                words = f"could not be checked, as no line before it has a value: {nothing}"
                report = LineReport(UNCHECKED, sentence=words)
                before, skipped = now, []
            else:
                report = self._judge(before, now, skipped)
                before, skipped = now, []
            words = report.sentence and f"Line {k + 1} {report.sentence}"
            reports.append(replace(report, sentence=words))
        return Report(tuple(reports))

    def _trouble(self, expression: Expression | str | None) -> str:
        """Why an expression cannot be compared with anything; "" if it can."""
        if not isinstance(expression, Expression):
            return expression or "the start is blank."
        column = self._column(expression)
        return column[0].trouble if all(isinstance(v, Undefined) for v in column) else ""

    def _judge(self, before: Expression, now: Expression, lines: list[Line]) -> LineReport:
        """The verdict on `now`; `lines` are its own and those skipped (blank) before it."""
        relations = {line.relation for line in lines} - {"="} or {"="}
        if len(relations) > 1:
            words = "could not be checked: the relations of the lines left open do not chain."
            return LineReport(UNCHECKED, sentence=words)
        relation, expressions = relations.pop(), [before, now]
        if relation == "≈":
            allowed = next(line.allowed for line in reversed(lines) if line.relation == "≈")
            if isinstance(allowed, tuple):
                return self._judge_limit(expressions, *allowed)
            expressions.append(self._reader.read(allowed))
        held, failures = [], []
        columns = [self._column(e) for e in expressions]
        for (pool, instance, _), *found in zip(self._instances, *columns, strict=True):
            kind = self._mismatch(relation, *found)
            if kind == "undefined" and pool != "simple":
                continue  # overflow, perhaps; a true hole shows at readable values as well
            if kind is not None and (pool != "corner" or relation in "≤≥"):
                failures += [(kind, instance)] if kind else []
                held += [] if kind else [pool]
        failures.sort(key=lambda f: (f[0] == "undefined", _size(f[1])))
        for kind, instance in failures:
            if self._tried(instance, relation, expressions).kind == kind:
                simplest = self._simplest(instance, relation, expressions, kind)
                return self._falsehood(simplest, relation, expressions)
        if not held:
            words = "could not be checked: it has no value where the line before has one."
            return LineReport(UNCHECKED, sentence=words)
        if self._proved(before, now, relation):
            return LineReport(RIGHT, "proved by SymPy")
        at_corners = held.count("corner")
        how = f"held in {len(held) - at_corners} random instances"
        return LineReport(RIGHT, how + (f" and {at_corners} corners" if at_corners else ""))

    def _mismatch(self, relation: str, a: Any, b: Any, slack: Any = 0) -> str | None:
        """How two values disagree: "" for not at all, None if there is nothing to compare."""
        if isinstance(a, Undefined) or isinstance(slack, Undefined):
            return None
        if isinstance(b, Undefined):
            return "undefined"
        if np.shape(_squeezed(a)) != np.shape(_squeezed(b)):
            return "shape"
        rounding = ROUNDING if self._exact else FLOAT_ROUNDING
        allowed = rounding * max(1, _peak(a), _peak(b)) + slack
        return "value" if _gap(relation, a, b) > allowed else ""

    def _tried(
        self, instance: Mapping, relation: str, expressions: list, digits: int = MORE_DIGITS
    ) -> Trial:
        """Two lines compared at one instance, with enough digits to be sure."""
        with self._precision(digits):
            values = self._complete(instance)
            if isinstance(values, Undefined):
                return Trial(None, None, None, {})
            found = [_value(e, values) for e in expressions]
            return Trial(self._mismatch(relation, *found), *found[:2], values)

    def _simplest(self, instance: dict, relation: str, expressions: list, kind: str) -> Trial:
        """The same failure with one value after the other made as simple as it can be."""
        for name in self._needed(expressions):
            domain = self._domains[name]
            for candidate in domain.simple(*(instance.get(s, s) for s in domain.sizes)):
                if np.array_equal(candidate, instance[name]):
                    break
                simpler = {**instance, name: candidate}
                if self._tried(simpler, relation, expressions).kind == kind:
                    instance = simpler
                    break
        for value in instance.values():
            if isinstance(value, Values):
                value.asked.clear()
        return self._tried(instance, relation, expressions)

    def _judge_limit(self, expressions: list, name: Any, to: Any) -> LineReport:
        """Whether two lines close in on each other: nearer the limit the gap must be smaller."""
        name, endless, held = _name(name), math.isinf(to), 0
        if name not in self._domains:
            words = f"could not be checked: its limit is in {pretty(name)}, no declared number."
            return LineReport(UNCHECKED, sentence=words)
        for _, instance, _ in self._instances[:8]:
            target = 0 if endless else Fraction(str(to))
            side = 1 if (to if endless else instance[name] - target) > 0 else -1
            steps = (128, 512) if endless else (Fraction(1, 256), Fraction(1, 1024))
            points = [{**instance, name: target + side * step} for step in steps]
            far, near = (self._tried(point, "=", expressions, DIGITS) for point in points)
            if {far.kind, near.kind} & {None, "undefined"}:
                continue
            if near.kind == "shape" or (
                near.kind and _gap("=", *near[1:3]) > 0.9 * _gap("=", *far[1:3])
            ):
                return self._falsehood(near, "≈", expressions)
            held += 1
        arrow = f"{self._reader.word(name)} → {_limit(to)}"
        if not held:
            words = f"could not be checked: there are no values to compare as {arrow}."
            return LineReport(UNCHECKED, sentence=words)
        return LineReport(RIGHT, f"closing in as {arrow} in {held} random instances")

    def _needed(self, expressions: Iterable[Expression]) -> list[str]:
        """The independent symbols behind these expressions."""
        needed = set().union(*(e.names for e in expressions))
        for name in reversed(self._given):
            needed |= self._given[name].names if name in needed else set()
        return [n for n in self._domains if n in needed]

    def _falsehood(self, trial: Trial, relation: str, expressions: list) -> LineReport:
        """The counterexample as data and as a sentence."""
        kind, a, b, values = trial
        used = frozenset().union(*(e.names for e in expressions))
        free = self._needed(expressions)
        sizes = [s for s in self._sizes if any(s in self._domains[n].sizes for n in free)]
        if kind == "shape":
            told, implied = sizes, []
            what = f"the line before is {_shape(a)}, but this line is {_shape(b)}."
        else:
            told = [s for s in sizes if s in used] + free
            implied = [n for n in self._given if n in used]
            verb = f"which is not {relation} {_show(b)}" if relation in "≤≥" else None
            verb = f"but this line {b.reason}" if kind == "undefined" else verb
            what = f"the line before is {_show(a)}, {verb or f'but this line is {_show(b)}'}."
        where = ", ".join(self._assignment(n, values[n]) for n in told)
        where += "".join(f", so {self._assignment(n, values[n])}" for n in implied)
        sentence = f"is false: {f'at {where}, ' if where else ''}{what}"
        found = {n: _plain(values[n]) for n in [*told, *implied]}
        both = None if kind == "shape" else (_plain(a), _plain(b))
        return LineReport(WRONG, "counterexample found", sentence, found, both)

    def _proved(self, before: Expression, now: Expression, relation: str) -> bool:
        """Whether SymPy sees it with bounded effort: expand, then cancel; no search."""
        import sympy

        sides = [self._in_independents(e.sympy) for e in (before, now)]
        if relation == "≈" or None in sides:
            return False
        difference = sides[1] - sides[0] if relation != "≥" else sides[0] - sides[1]
        powers = [p.exp for p in difference.atoms(sympy.Pow) if p.exp.is_Integer]
        if difference.count_ops() > 80 or any(abs(p) > 8 for p in powers):
            return False
        try:
            difference = sympy.expand(difference)
            if relation != "=":
                return bool(difference.is_nonnegative)
            return difference == 0 or (
                difference.count_ops() < 80 and sympy.cancel(difference) == 0
            )
        except (sympy.PolynomialError, NotImplementedError, RecursionError):
            return False

    def _in_independents(self, e: Any) -> Any:
        for name, given in reversed(self._given.items()):
            symbol = self._reader.symbols[name]
            if e is not None and symbol in e.free_symbols:
                e = None if given.sympy is None else e.xreplace({symbol: given.sympy})
        return e

    # .. showing

    def _assignment(self, name: str, value: Any) -> str:
        word = self._reader.word(name)
        if isinstance(value, Values):
            return ", ".join(f"{word}({i}) = {_show(value(i))}" for i in sorted(value.asked))
        return f"{word} = {_show(value)}"

    def _rows(self, kind: str) -> Iterator[tuple[str, str, str, str]]:
        """Relation, expression, verdict and reason of every line, as "text" or "tex"."""
        verdicts = [report.verdict for report in self._report.lines]
        for line, e, verdict in zip(self.lines, self._expressions[1:], verdicts, strict=True):
            reason = str(line.reason)
            if isinstance(line.allowed, tuple) and "→" not in reason:
                symbol, to = line.allowed
                reason += f" ({self._reader.word(_name(symbol))} → {_limit(to)})"
            yield line.relation, _looks(e, line.expr, kind), verdict, reason.strip()

    def _repr_latex_(self) -> str:
        rows = [
            rf"&{TEX[relation]} {looks} && {TEX_MARKS[verdict]} && {_reason(reason)}".rstrip()
            for relation, looks, verdict, reason in self._rows("tex")
        ]
        start = _looks(self._expressions[0], self.start, "tex")
        body = " \\\\\n".join(rows)
        return f"$$\\begin{{aligned}}\n{start} {body}\n\\end{{aligned}}$$"

    def _repr_markdown_(self) -> str:
        head = [f"**{self.name}**"] if self.name else []
        return "\n\n".join([*head, self._repr_latex_(), *map(self._markdown, self._sentences())])

    def _markdown(self, sentence: str) -> str:
        """A sentence whose signs stay what they are and whose names are set like the formulas."""
        escaped = re.sub(r"([*_`<$\\])", r"\\\1", sentence)
        for name, tex in self._reader.tex.items():
            word = re.sub("_", r"\\_", self._reader.word(name))
            escaped = re.sub(
                rf"(?<![\w}}]){re.escape(word)} = ", lambda _, t=tex: f"${t}$ = ", escaped
            )
        return escaped

    def _sentences(self) -> list[str]:
        wanted = [r.sentence for r in self._report.lines if r.verdict in (WRONG, UNCHECKED)]
        return wanted or [self._report.sentence]

    def __repr__(self) -> str:
        rows = list(self._rows("text"))
        width = max((len(looks) for _, looks, _, _ in rows), default=0)
        lines = [f"{r} {looks:<{width}}  {MARKS[v]}  {why}".rstrip() for r, looks, v, why in rows]
        head = [self.name] if self.name else []
        start = "  " + _looks(self._expressions[0], self.start, "text")
        return "\n".join([*head, start, *lines, *self._sentences()])


def _names(key: Any) -> list[str]:
    """One key of `where` may declare several symbols: "x y" """
    return [_name(k) for k in (key.replace(",", " ").split() if isinstance(key, str) else [key])]


def _line(k: int, parts: Any) -> Line:
    if _is_blank(parts):
        return Line("=", parts)
    if not isinstance(parts, tuple | list) or not 2 <= len(parts) <= 4:
        raise ValueError(f"Line {k}: write (relation, expression, reason).")
    line = Line(*parts)
    if line.relation not in RELATIONS:
        raise ValueError(f"Line {k}: the relation is one of =, ≤, ≥, ≈, not {line.relation!r}.")
    line = line._replace(relation=RELATIONS[line.relation])
    if (line.relation == "≈") != (line.allowed is not None):
        raise ValueError(
            f"Line {k}: ≈, and only ≈, has a fourth part: "
            'a limit such as ("t", oo) or the largest difference allowed.'
        )
    return line


def _is_blank(source: Any) -> bool:
    source = source.expr if isinstance(source, shown) else source
    return getattr(source, "is_blank", False) is True or (
        isinstance(source, str) and "____" in source
    )


# -- values: computed, compared, written ----------------------------------------------------------


def _value(expression: Expression, values: Mapping[str, Any]) -> Any:
    """A finite real number or array; everything else is Undefined."""
    import mpmath

    try:
        with np.errstate(all="ignore"):
            value = expression.value(values)
    except (ZeroDivisionError, np.linalg.LinAlgError):
        return Undefined("is not defined", "it divides by zero everywhere.")
    except Exception as trouble:
        why = f"{type(trouble).__name__}: {trouble}"
        return Undefined("cannot be computed", f"it cannot be computed ({why}).")
    if isinstance(value, mpmath.mpc):
        return Undefined("is not a real number", "it is not a real number.")
    precise = isinstance(value, mpmath.mpf)
    array = np.asarray(value)
    if not precise and array.dtype.kind not in "fiub":
        what = type(value).__name__
        return Undefined("is not a number", f"its value is no number but of the kind {what}.")
    if not (mpmath.isfinite(value) if precise else np.all(np.isfinite(array))):
        return Undefined("is not defined", "its value is not finite.")
    return value if precise else array.astype(float)


def _squeezed(value: Any) -> Any:
    """A column counts as a vector and a single entry as a number."""
    if np.size(value) == 1:
        return np.reshape(value, ())
    return np.ravel(value) if np.ndim(value) == 2 and np.shape(value)[1] == 1 else value


def _peak(value: Any) -> Any:
    return abs(value) if np.ndim(value) == 0 else np.max(np.abs(value), initial=0.0)


def _gap(relation: str, a: Any, b: Any) -> Any:
    """How far the relation is from holding."""
    difference = _squeezed(a) - _squeezed(b) if np.ndim(a) or np.ndim(b) else a - b
    if relation in "≤≥":
        return np.max(difference if relation == "≤" else -difference, initial=-np.inf)
    return _peak(difference)


def _size(instance: Mapping[str, Any]) -> int:
    return sum(v.size for v in instance.values() if isinstance(v, np.ndarray))


def _shape(value: Any) -> str:
    shape = np.shape(value)
    if len(shape) < 2:
        return f"a vector of length {shape[0]}" if shape else "a number"
    return f"a {'×'.join(map(str, shape))} matrix"


def _plain(value: Any) -> Any:
    """A value as plain Python: numbers, nested lists, names of functions."""
    if isinstance(value, Values):
        return {i: _plain(value(i)) for i in sorted(value.asked)}
    if isinstance(value, Undefined | Activation):
        return value[0]
    if np.ndim(value):
        return [_plain(v) for v in value]
    number = float(value)
    return int(number) if abs(number) < 1e15 and number == round(number) else number


def _show(value: Any) -> str:
    """A value in few characters, the same on every platform."""
    plain = _plain(value)
    if isinstance(plain, list):
        return f"[{', '.join(map(_show, plain))}]"
    if isinstance(plain, str) or not math.isfinite(plain):
        return str(plain)
    near = Fraction(plain).limit_denominator(12)
    return str(near) if abs(near - plain) <= 1e-12 * max(1, abs(plain)) else f"{plain:.4g}"


def _limit(to: Any) -> str:
    return _show(to) if math.isfinite(to) else "∞" if to > 0 else "-∞"


def _looks(expression: Expression | str | None, source: Any, kind: str) -> str:
    if isinstance(expression, Expression):
        return getattr(expression, kind)
    words = "____" if expression is None else str(getattr(source, "expr", source))
    return words if kind == "text" else _text(words)


def _unicode(tex: str) -> str:
    """LaTeX as a terminal can show it: Greek letters and norms; the rest stays as it is."""

    def letter(m: re.Match) -> str:
        small = LETTERS.get(m[1].lower(), m[1] + " ")
        return small.upper() if m[1][0].isupper() else small

    plain = re.sub(r"\\(left|right|,|;)", "", tex).replace(r"\|", "‖").replace(r"\top", "T")
    return re.sub(r"\\([A-Za-z]+)\s*", letter, plain)


def _text(words: str) -> str:
    """Words within a formula; signs that TeX would read as commands stand outside of \\text."""
    odd = {"\\": r"\backslash ", "^": r"{\wedge}"}
    parts = re.split(r"([\\^_{}$%&#])", words)
    return "".join(
        (odd.get(p) or rf"\{p}") if k % 2 else rf"\text{{{p}}}" for k, p in enumerate(parts) if p
    )


def _reason(reason: str) -> str:
    """Words set as text, with $…$ among them set as formulas."""
    return "".join(p if k % 2 else _text(p) for k, p in enumerate(reason.split("$")))
