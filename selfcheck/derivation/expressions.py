"""Expressions: text, SymPy and functions, all read as "a value from values" with looks."""

from __future__ import annotations

import ast
import inspect
import re
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from ..forms import Forms
from ..formula import (
    CALCULUS,
    CONSTANTS,
    FUNCTIONS,
    OVER_AN_INDEX,
    FormulaError,
    ReadFormula,
    pretty,
    read_formula,
)  # fmt: skip
from ..function_with_slope import Activation
from ..grammar import parse
from ..notation import Vocabulary, is_latex, vocabulary_of
from .array_functions import ARRAY_FUNCTIONS, Shape
from .clock import guarded
from .compiling import Compiler, Kind, Part, actual, fits
from .domains import Domain, DrawnRandom, DrawnSequence, SomeFunction
from .evaluation import Evaluator, evaluator, is_rough, name_of
from .scopes import Definition, Scope
from .singularities import Border, borders

SIGNS = {
    "|": "‖", "top": "T", "cdot": "·", "times": "×", "le": "≤", "ge": "≥", "approx": "≈",
    "ne": "≠", "to": "→", "infty": "∞", "ldots": "…", "sum": "Σ", "langle": "⟨", "rangle": "⟩",
    ",": "", ";": "",
}  # fmt: skip


@dataclass(frozen=True)
class shown:
    """An expression and the LaTeX that stands for it on the page."""

    expr: Any
    tex: str


@dataclass(frozen=True, eq=False)
class Expression:
    """What was read: its value from a full set of values, the names it uses, its looks."""

    value: Evaluator
    names: frozenset[str]
    text: str
    looks: Callable[[], str]
    precise: Evaluator  # the same from values with mpmath's digits
    sympy: Any = None  # an ordinary SymPy scalar, if it is one: only that can be proved
    borders: tuple[Any, ...] = ()  # where it may have no value, or another form
    rough: bool = False  # computed by quadrature or extrapolation, so to fewer digits
    column: list[Any] = field(default_factory=list)  # its values at the derivation's instances
    shape: Any = None  # rows and columns of a line about arrays
    tree: ast.expr | None = None  # of such a line, and of what stands beside it
    source: Any = None  # the function or the SymPy expression that it was made of
    parameters: Mapping[str, str] = field(default_factory=dict)  # of that function: their names

    @cached_property
    def tex(self) -> str:
        """The expression in LaTeX; whoever only judges it never asks."""
        return self.looks()


def bare(source: Any) -> Any:
    """The expression itself, without the LaTeX that `shown` puts beside it."""
    return source.expr if isinstance(source, shown) else source


def is_blank(source: Any) -> bool:
    """Whether this is still to be written: `____`, or text with `____` in it."""
    source = bare(source)
    return getattr(source, "is_blank", False) is True or (
        isinstance(source, str) and "____" in source
    )


def is_function(source: Any) -> bool:
    """Whether this is a Python function rather than text or SymPy."""
    return callable(source) and not hasattr(source, "free_symbols")


class Reader:
    """Reads the expressions of one derivation; knows its names and how they are printed."""

    def __init__(
        self,
        names: Mapping[str, Domain | None],
        tex: Mapping[str, str],
        exact: bool,
        first_index: int = 1,
    ) -> None:
        import sympy

        self.names, self.tex, self.exact, self.forms = names, tex, exact, Forms({})
        first = {n: d.simple(*[1] * len(d.sizes))[0] for n, d in names.items() if d}
        kinds = {n: _kind(d, first.get(n)) for n, d in names.items()}
        self.compiler = Compiler(kinds, first_index)
        self.functions = {n for n, kind in kinds.items() if kind.function or kind.sequence}
        self.applied = {n for n, kind in kinds.items() if kind.function}
        self.sequences = {n for n, value in first.items() if isinstance(value, DrawnSequence)}
        self.rules: dict[str, tuple[str, ast.expr]] = {}  # definitions, as they were written
        self.shape: Shape = None  # of the lines that are arrays: all of a chain have the same
        self.symbols = {
            n: sympy.Symbol(n, **(d.assumptions if d else {"real": True})) for n, d in names.items()
        } | {
            n: sympy.Function(n, **(domain.assumptions if (domain := names[n]) else {}))
            for n in self.functions
        }

    def read(
        self, source: Any, changed: Callable[[ast.expr], ast.expr] | None = None
    ) -> Expression:
        """The expression; a FormulaError says why there is none."""
        tex = source.tex if isinstance(source, shown) else ""
        source = bare(source)
        if hasattr(source, "free_symbols"):
            return self._sympy(source, tex)
        if callable(source):
            return self._function(source, tex)
        if isinstance(source, str) and (tree := self._array_tree(source)) is not None:
            return self._compiled(changed(tree) if changed else tree, source, tex)
        forms = self.forms if self.forms.ways else None
        formula = read_formula(source, self.names, self.functions, calculus=True, forms=forms)
        formula.to_sympy(**self.symbols)  # refuses what cannot be meant
        typed = _as_typed(formula, formula.tree, self.symbols)
        if not tex and isinstance(source, str) and is_latex(source):
            found = self._sympy(typed, source.strip(" $"), in_plain_words(formula.tree))
        else:
            found = self._sympy(typed, tex, formula.text)
        return found if self.exact else replace(found, tree=formula.tree)

    # -- lines about arrays

    def _array_tree(self, text: str) -> ast.expr | None:
        """The tree of a line that is about vectors, matrices or random quantities; else None."""
        kinds = self.compiler.kinds.values()
        if not is_latex(text) and not any(k.shape or k.random or k.function for k in kinds):
            return None
        tree, _ = self.forms.parse(text, self._words())
        return tree if any(self._is_of_arrays(node) for node in ast.walk(tree)) else None

    def _words(self, letter: str = "") -> Vocabulary:
        """All that a line may use; the letter of a definition too."""
        more = [letter] if letter.isidentifier() else []
        indices = {n: k.indices for n, k in self.compiler.kinds.items() if any(k.indices)}
        known, arrays = [*FUNCTIONS, *CALCULUS], [*ARRAY_FUNCTIONS, *OF_RANDOM]
        if any(kind.random and not kind.function for kind in self.compiler.kinds.values()):
            arrays.append("Expectation")  # E(X) is no product here
        names = [*self.names, *more]
        return vocabulary_of(names, self.functions, known, CONSTANTS, indices, arrays)

    def _is_of_arrays(self, node: ast.AST) -> bool:
        kinds = self.compiler.kinds
        match node:
            case ast.Name(id=name):
                kind = kinds.get(name)
                return (
                    name in OF_ARRAYS | OF_RANDOM
                    or name in ARRAY_FUNCTIONS
                    or bool(kind and (kind.shape or kind.random))
                )
            case ast.Subscript() | ast.Attribute() | ast.MatMult():
                return True
            case ast.Call(func=ast.Name(id="Derivative"), args=[body, *_]):
                calls = [n.func for n in ast.walk(body) if isinstance(n, ast.Call)]
                return any(isinstance(f, ast.Name) and f.id in self.applied for f in calls)
            case ast.Call(func=ast.Name(id=name), args=[_, ast.Tuple(elts=limits)]):
                return name in OVER_AN_INDEX and len(limits) < 3
        return False

    def _compiled(self, tree: ast.expr, text: str, tex: str) -> Expression:
        part = self.compiler.line(tree, text)
        self._settle(part)
        tree = _Powers(self.compiler.powers).visit(tree)
        definitions = self.compiler.definitions
        is_column = part.shape is not None and actual(part.shape[1]) == 1

        def value(values: Mapping[str, Any]) -> Any:
            found = part.value(Scope(values, definitions))
            return found[:, 0] if is_column else found

        own = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)} & self.names.keys()
        words = in_plain_words(tree)
        names = frozenset(own | {n for name in own for n in self.behind.get(name, ())})
        looks = tex or (text.strip(" $") if is_latex(text) else tex_text(words))
        slow = any(isinstance(n, ast.Call) and _is_quadrature(n) for n in ast.walk(tree))
        return Expression(
            value, names, words, lambda: looks, value, rough=slow, shape=part.shape, tree=tree
        )

    def _settle(self, part: Part) -> None:
        """I alone has the size of the lines before it."""
        if part.shape is None:
            return
        if self.shape is None:
            self.shape = part.shape
        elif any(not isinstance(actual(s), str | int) for s in (*part.shape, *self.shape)):
            for a, b in zip(part.shape, self.shape, strict=True):
                fits(a, b)

    @cached_property
    def behind(self) -> dict[str, set[str]]:
        """The names that a sequence depends on by its definition."""
        return {}

    def is_like(self, name: str, e: Expression, source: Any) -> None:
        """A name that is computed has the shape of what it is computed from."""
        self.behind[name] = set(e.names)
        self.compiler.kinds[name] = Kind(e.shape)
        if isinstance(source, str):
            with suppress(FormulaError):  # derivatives and expectations go through it
                self.define(name, "", source)
                self.compiler.kinds[name] = Kind(e.shape)

    def define(self, name: str, letter: str, source: Any) -> None:
        """A sequence that is computed: `letter` is its index, or a number for one item."""
        kind = self.compiler.kinds[name]
        text = str(source)
        tree = parse(text, self._words(letter))
        part = self.compiler.line(tree, text, (letter,) if letter.isidentifier() else ())
        tree = _Powers(self.compiler.powers).visit(tree)
        if kind.shape is None and part.shape is not None:
            raise FormulaError(f"{text!r} is an array; {pretty(name)} is a sequence of numbers.")
        if not letter.isdigit():
            self.rules[name] = (letter, tree)
        found = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)} & self.names.keys()
        self.behind.setdefault(name, set()).update(found)
        before = self.compiler.definitions.get(name) or Definition("", None, {})
        if not letter:
            self.compiler.definitions[name] = before._replace(bare=part.value)
            self.compiler.kinds[name] = kind._replace(same_law=True)
        elif letter.isdigit():
            items = {**before.items, int(letter): _filled(part, kind, self.compiler)}
            self.compiler.definitions[name] = before._replace(items=items)
        else:
            self.compiler.definitions[name] = before._replace(letter=letter, rule=part.value)

    def word(self, name: str) -> str:
        """A name as a sentence shows it."""
        return without_tex(self.tex[name]) if name in self.tex else pretty(name)

    def in_words(self, typed: str) -> str:
        """A formula as a sentence shows it."""
        return re.sub(r"[^\W\d_]\w*", lambda m: self.word(name_of(m[0])), typed)

    def _function(self, f: Callable[..., Any], tex: str) -> Expression:
        rest = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
        asked = (a for a in inspect.signature(f).parameters.values() if a.kind not in rest)
        parameters = {a.name: name_of(a.name) for a in asked if a.default is a.empty}
        self._refuse_undeclared(parameters.values())

        def value(values: Mapping[str, Any]) -> Any:
            mine = {p: values[n] for p, n in parameters.items()}
            if home:  # what crosses to another process is a copy
                return f(**mine)
            copied = {p: v.copy() for p, v in mine.items() if isinstance(v, np.ndarray)}
            return f(**{**mine, **copied})  # arrays are theirs to overwrite

        if home := getattr(inspect.unwrap(f), "home_of_stand_in", None):
            value.home_of_stand_in = home  # type: ignore[attr-defined]

        called = getattr(f, "__name__", "f").replace("<lambda>", "f")
        text = without_tex(tex) or f"{called}({', '.join(parameters)})"
        names = frozenset(parameters.values())
        looks = tex or tex_text(text)
        return Expression(value, names, text, lambda: looks, value, source=f, parameters=parameters)

    def _sympy(self, e: Any, tex: str, typed: str = "") -> Expression:
        import sympy

        if not isinstance(e, sympy.Expr | sympy.MatrixBase):
            raise FormulaError(f"{type(e).__name__} is unknown here: give the line as a function.")
        names = {name_of(s) for s in e.free_symbols}
        names |= {name_of(f.func) for f in e.atoms(sympy.core.function.AppliedUndef)}
        self._refuse_undeclared(names)
        own = {s: self.symbols[name_of(s)] for s in e.free_symbols if isinstance(s, sympy.Symbol)}
        self._refuse_matrices(name_of(s) for s in own)
        for applied in e.atoms(sympy.core.function.AppliedUndef):
            own[applied] = self.symbols[name_of(applied.func)](*applied.args)
        text = self.in_words(typed or str(e))
        scalar = isinstance(e, sympy.Expr) and not e.atoms(sympy.MatrixExpr)
        e_own = e.xreplace(own) if scalar else None
        none: list[Border] = []
        found = guarded(lambda: borders(e), none) if scalar else none
        found = [Border(b.f.xreplace(own), b.hole) for b in found]
        value = evaluator(e, self.exact)
        precise = value if self.exact else evaluator(e, exact=True)

        def looks() -> str:
            return tex or latex(e, self.tex, self.sequences, as_typed=bool(typed))

        return Expression(
            value, frozenset(names), text, looks, precise, e_own, tuple(found), is_rough(e),
            source=e,
        )  # fmt: skip

    def _refuse_undeclared(self, names: Iterable[str]) -> None:
        unknown = sorted(set(names) - self.names.keys())
        if unknown:
            raise FormulaError(f"it uses {', '.join(map(pretty, unknown))}, not declared here.")

    def _refuse_matrices(self, names: Iterable[str]) -> None:
        """A plain symbol commutes, a matrix does not."""
        for n in sorted(names):
            domain = self.names[n]
            if domain and len(domain.sizes) == 2 and n not in self.functions:
                raise FormulaError(
                    f"{n} is a matrix: write it as sympy.MatrixSymbol, or the line as a function."
                )


OF_ARRAYS = {
    "norm", "transpose", "inner", "Expectation", "eye", "ones", "Matrix", "Entries",
    "hadamard", "raised_T", "power_of_entries", "whole",
}  # fmt: skip
OF_RANDOM = {"Var", "Cov"}


def _kind(domain: Domain | None, first: Any) -> Kind:
    """What a name is for the compiler, by its domain."""
    if domain is None:
        return Kind()
    sizes = domain.sizes
    shape: Shape = None if not sizes else (sizes[0], 1 if len(sizes) == 1 else sizes[1])
    if isinstance(first, DrawnRandom):
        sequence = isinstance(first.atoms[0], DrawnSequence)
        return Kind(shape, sequence, same_law=first.same_law, random=True)
    if isinstance(first, SomeFunction):
        return Kind(shape, function=True, random=True)
    if isinstance(first, DrawnSequence):
        return Kind(shape, sequence=True)
    return Kind(None if isinstance(first, Activation) else shape, function=callable(first))


def _is_quadrature(call: ast.Call) -> bool:
    name = call.func.id if isinstance(call.func, ast.Name) else ""
    return name == "Integral" or (name == "Expectation" and len(call.args) == 2)


def _filled(part: Part, kind: Kind, compiler: Compiler) -> Callable[[Scope], Any]:
    """A number 0 as the item of a sequence of vectors is a vector of zeros."""
    if kind.shape is None or part.shape is not None:
        return part.value
    shape = kind.shape
    return lambda s: part.value(s) * np.ones([compiler.size(n, s) for n in shape])


class _Powers(ast.NodeTransformer):
    """ᵀ on what turned out to be a number is the power T, a name like any other."""

    def __init__(self, powers: list[ast.AST]) -> None:
        self.powers = powers

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if not any(node is power for power in self.powers):
            return node
        power = ast.BinOp(node.args[0], ast.Pow(), ast.Name("T", ast.Load()))
        return ast.fix_missing_locations(ast.copy_location(power, node))


def in_plain_words(tree: ast.expr) -> str:
    """How a line was read, in signs that a terminal has."""
    text = ast.unparse(tree)
    text = re.sub(r"\btranspose\(([\w.]+)\)", lambda m: f"{pretty(m[1])}ᵀ", text)
    text = re.sub(r"\bExpectation\(", "E(", text).replace("**", "^").replace("eye()", "I")
    text = text.replace(" * ", "·").replace("ones()", "𝟏").replace(".prime(", "′(")
    return re.sub(r"[^\W\d_]\w*", lambda m: pretty(m[0]), text)


def _as_typed(formula: ReadFormula, node: ast.expr, names: Mapping[str, Any]) -> Any:
    """SymPy without tidying up, so that w·x/w keeps its division and prints as it was written."""
    import sympy

    def typed(part: ast.expr, **more: Any) -> Any:
        return _as_typed(formula, part, {**names, **more})

    def operation(kind: Any, *args: Any) -> Any:
        flat = [b for a in args for b in (a.args if a.func is kind else [a])]
        return kind(*flat, evaluate=False)

    def total(left: Any, right: Any) -> Any:
        bracketed = node.left.col_offset != node.col_offset  # type: ignore[attr-defined]
        first = left.args if left.func is sympy.Add and not bracketed else [left]
        return sympy.Add(*first, right, evaluate=False)

    def minus(x: Any) -> Any:
        return -x if x.is_Number else operation(sympy.Mul, sympy.S(-1), x)

    match node:
        case ast.Name(id=name) if name in names:
            return names[name]
        case ast.UnaryOp(op=ast.USub(), operand=x):
            return minus(typed(x))
        case ast.Call(
            func=ast.Name(id=name), args=[body, ast.Tuple(elts=[ast.Name(id=i), lo, hi])]
        ) if name in OVER_AN_INDEX:
            if name == "Limit":
                return ReadFormula(formula.text, node).to_sympy(**names)
            kind = {"real": True} if name == "Integral" else {"integer": True}
            index = sympy.Symbol(i, **kind)
            limits = (index, typed(lo), typed(hi))
            return getattr(sympy, name)(typed(body, **{i: index}), limits)
        case ast.Call(func=ast.Name(id=name), args=args) if name in UNTOUCHED or name in names:
            parts = [typed(a) for a in args]
            if name in names:
                return names[name](*parts)
            if name == "sqrt":
                return sympy.Pow(*parts, sympy.S.Half, evaluate=False)
            spelled = {"abs": "Abs", "ln": "log"}.get(name, name)
            return getattr(sympy, spelled)(*parts, evaluate=False)
        case ast.BinOp():
            x, y = typed(node.left), typed(node.right)
        case _:
            return ReadFormula(formula.text, node).to_sympy(**names)
    match node.op:
        case ast.Add():
            return total(x, y)
        case ast.Sub():
            return total(x, minus(y))
        case ast.Mult():
            return operation(sympy.Mul, x, y)
        case ast.Div():
            inverse = sympy.Pow(y, -1, evaluate=False)
            return inverse if x == 1 else operation(sympy.Mul, x, inverse)
    if x == sympy.E:
        return sympy.exp(y, evaluate=False)
    return sympy.Pow(x, y, evaluate=False)


UNTOUCHED = {  # functions of one argument, or of several numbers, that SymPy would carry out
    "exp", "ln", "abs", "Abs", "sqrt", "sin", "cos", "tan", "sinh", "cosh", "tanh", "asin", "acos",
    "atan", "Max", "Min", "floor", "ceiling", "gamma", "factorial", "sign",
}  # fmt: skip


# -- looks


def latex(e: Any, tex: Mapping[str, str], sequences: set[str], as_typed: bool) -> str:
    """SymPy's LaTeX with the names as `tex` has them and g(i) as g_i."""
    from sympy.core.function import AppliedUndef
    from sympy.printing.latex import LatexPrinter

    class Printer(LatexPrinter):  # type: ignore[misc]  # it comes without types
        def _print_Symbol(self, s: Any, *args: Any, **kw: Any) -> str:
            return tex.get(name_of(s)) or super()._print_Symbol(s, *args, **kw)

        def _print_MatrixSymbol(self, s: Any, *args: Any, **kw: Any) -> str:
            return tex.get(name_of(s)) or super()._print_MatrixSymbol(s, *args, **kw)

        def _print_Function(self, f: Any, exp: str | None = None) -> str:
            if not isinstance(f, AppliedUndef) or name_of(f.func) not in sequences:
                return str(super()._print_Function(f, exp))
            head = tex.get(name_of(f.func)) or self._deal_with_super_sub(f.func.__name__)
            power = f"^{{{exp}}}" if exp is not None else ""
            return f"{head}_{{{', '.join(map(self._print, f.args))}}}{power}"

    return str(Printer({"order": "none" if as_typed else None}).doprint(e))


BRACED = r"\s*\{((?:[^{}]|\{[^{}]*\})*)\}"
LAYOUT = [  # what has no place in a terminal: sizes of brackets, fonts, fractions above each other
    (r"\\(left|right|[bB]igg?[lr]?)(?![A-Za-z])\s*", ""),
    (r"\\!", ""),
    (r"\\(?:mathrm|operatorname|mathbb|text)\s*(?:\{([^{}]*)\}|(\w))", r"\1\2"),
    (rf"\\[dt]?frac{BRACED}{BRACED}", r"(\1)/(\2)"),
    (rf"\\sqrt{BRACED}", r"√(\1)"),
]


def without_tex(tex: str) -> str:
    """LaTeX as a terminal can show it: Greek letters and signs; the rest stays as it is."""

    def plain(m: re.Match[str]) -> str:
        command, space, follower = m.groups()
        if command in SIGNS:
            return SIGNS[command] + space
        name = command.removeprefix("var").lower()
        letter = pretty(name)
        if letter == name:
            return command + (" " if follower.isalnum() else "")
        apart = " " if space and follower else ""
        return (letter.upper() if command[0].isupper() else letter) + apart

    for pattern, instead in LAYOUT:
        tex = re.sub(pattern, instead, tex)
    return re.sub(r"\\([A-Za-z]+|[|,;])(\s*)(?=(\w?))", plain, tex)


def tex_text(words: str) -> str:
    """Words within a formula; signs that TeX would read as commands stand outside of \\text."""
    odd = {"\\": r"\backslash ", "^": r"{\wedge}"}
    parts = re.split(r"([\\^_{}$%&#])", words)
    return "".join(
        (odd.get(p) or rf"\{p}") if k % 2 else rf"\text{{{p}}}" for k, p in enumerate(parts) if p
    )
