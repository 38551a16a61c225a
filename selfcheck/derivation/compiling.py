"""Lines about vectors and matrices: a tree becomes a function of the values, with its shape.

Shapes have named sizes and are compared before anything is computed, so a product that does not
fit is refused with its place. A vector is a column, n×1; a 1×1 result is a number. I and **1**
take the size that fits.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable
from typing import Any, NamedTuple, NoReturn

import numpy as np

from ..formula import ARGUMENTS, CONSTANTS, FUNCTIONS, FormulaError, pretty
from ..function_with_slope import Activation
from ..notation import quoted
from ..pieces import call
from . import quadrature
from .array_functions import ARRAY_FUNCTIONS, Shape
from .clock import tick
from .operations import inverse
from .scopes import Definition, Key, Scope, expected

COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Lt: operator.lt, ast.LtE: operator.le, ast.Gt: operator.gt, ast.GtE: operator.ge,
    ast.Eq: operator.eq, ast.NotEq: operator.ne,
}  # fmt: skip
STEP = 1e-30  # of a derivative by complex numbers: no difference is taken, so no digit is lost
MOST_TERMS = 20_000  # of a sum in a line about arrays
ELEMENTWISE: dict[str, Callable[[Any], Any]] = {
    "exp": np.exp, "ln": np.log, "log": np.log, "sin": np.sin, "cos": np.cos, "tan": np.tan,
    "sinh": np.sinh, "cosh": np.cosh, "tanh": np.tanh, "sqrt": np.sqrt, "atan": np.arctan,
    "expm1": np.expm1, "log1p": np.log1p,
}  # fmt: skip


class Size:
    """A size that is not known yet, and what it turned out to be."""

    def __init__(self) -> None:
        self.found: Any = None


class Part(NamedTuple):
    """A part of a line: its shape, and its value in a scope."""

    shape: Shape
    value: Callable[[Scope], Any]


class Kind(NamedTuple):
    """What a declared name is: its shape, whether it has items, or is applied to arguments."""

    shape: Shape = None
    sequence: bool = False
    function: bool = False
    same_law: bool = False  # a random sequence whose items have one law, so that E[g] means it
    random: bool = False  # or a function that is not known

    @property
    def indices(self) -> tuple[int, int]:
        """How many indices it takes: as a sequence, then as an array."""
        entries = 0 if self.shape is None or self.function else 1 + (self.shape[1] != 1)
        return int(self.sequence), entries


def actual(size: Any) -> Any:
    """A size as far as it is known: a name, a number or a Size that is open."""
    while isinstance(size, Size) and size.found is not None:
        size = size.found
    return size


def fits(a: Any, b: Any) -> bool:
    """Whether two sizes are the same; one that is open becomes the other."""
    a, b = actual(a), actual(b)
    if a is b or (not isinstance(a, Size) and a == b):
        return True
    if isinstance(a, Size):
        a.found = b
        return True
    if isinstance(b, Size):
        b.found = a
        return True
    return False


def in_words(shape: Shape) -> str:
    """`a number`, `a vector of length n`, `an n×m matrix`."""
    if shape is None:
        return "a number"
    rows, columns = (("?" if isinstance(actual(s), Size) else str(actual(s))) for s in shape)
    if columns == "1":
        return f"a vector of length {rows}"
    return f"a row of length {columns}" if rows == "1" else f"a {rows}×{columns} matrix"


class Compiler:
    """Makes lines of trees; knows the kinds of the names and the definitions of sequences."""

    def __init__(self, kinds: dict[str, Kind], first: int = 1) -> None:
        self.kinds, self.first = kinds, first
        self.leftwards = False  # whether later factors of a product of matrices stand left
        self.definitions: dict[str, Definition] = {}
        self.text = ""
        self.bound: dict[str, Shape] = {}
        self.powers: list[ast.AST] = []  # what of a line is the power T of a number

    def line(self, tree: ast.expr, text: str, bound: tuple[str, ...] = ()) -> Part:
        """The line; a FormulaError says what does not fit, and where."""
        self.text, self.bound, self.powers = text, dict.fromkeys(bound), []
        return self.part(tree)

    def no(self, why: str, node: ast.AST) -> NoReturn:
        start, end = getattr(node, "col_offset", 0), getattr(node, "end_col_offset", 0)
        where = f" in {quoted(self.text[start:end])}" if 0 <= start < end else ""
        raise FormulaError(f"{quoted(self.text)} cannot be meant: {why}{where}.")

    # -- parts

    def part(self, node: Any) -> Part:
        match node:
            case ast.Constant(value=int() | float() as number):
                return Part(None, lambda scope: number)
            case ast.Name(id=name):
                return self._name(node, name)
            case ast.UnaryOp(op=ast.USub(), operand=x):
                inner = self.part(x)
                return Part(inner.shape, lambda scope: -inner.value(scope))
            case ast.UnaryOp(op=ast.UAdd(), operand=x):
                return self.part(x)
            case ast.BinOp(left=x, op=ast.Add() | ast.Sub() as op, right=y):
                return self._sum(node, self.part(x), self.part(y), isinstance(op, ast.Sub))
            case ast.BinOp(left=x, op=ast.Mult() | ast.MatMult(), right=y):
                a, b = self.part(x), self.part(y)
                if vars(node).get("dotted") and _are_columns(a, b):  # u · v is uᵀv from here on
                    node.left = ast.Call(ast.Name("transpose", ast.Load()), [x], [])
                    a = self.part(node.left)
                return self._product(node, a, b)
            case ast.BinOp(left=x, op=ast.Div(), right=y):
                return self._quotient(node, self.part(x), self.part(y))
            case ast.BinOp(left=x, op=ast.Pow(), right=y):
                b = self.part(y)
                if b.shape is None and self._is_euler(x):  # a float of it has too few digits
                    return self.part(ast.copy_location(call("exp", y), node))
                return self._power(node, self.part(x), b)
            case ast.Subscript(value=x, slice=ast.Tuple(elts=index)):
                return self._entry(node, self.part(x), [self.part(i) for i in index])
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name)), args=[x]):
                return self._slope(name, self.part(x))
            case ast.Call(func=ast.Name(id=name), args=arguments):
                return self._call(node, name, arguments)
        self.no("this is not arithmetic", node)

    def _is_euler(self, node: ast.AST) -> bool:
        return (
            isinstance(node, ast.Name)
            and node.id in ("e", "E")
            and node.id not in {*self.bound, *self.kinds}
        )

    def _name(self, node: ast.AST, name: str) -> Part:
        if name in self.bound:
            return Part(self.bound[name], lambda scope: scope.value(name))
        if name in CONSTANTS and name not in self.kinds:
            number = CONSTANTS[name]
            return Part(None, lambda scope: number)
        kind = self._kind(node, name)
        if kind.sequence:
            if not kind.same_law:
                self.no(f"{pretty(name)} is a sequence: its index is missing", node)
            return Part(kind.shape, lambda scope: column(scope.value(name), kind.shape))
        if kind.function:
            self.no(f"{pretty(name)} is a function: its argument is missing", node)
        return Part(kind.shape, lambda scope: column(scope.value(name), kind.shape))

    def _kind(self, node: ast.AST, name: str) -> Kind:
        if name not in self.kinds:
            self.no(f"{pretty(name)} is not declared here", node)
        return self.kinds[name]

    def _sum(self, node: ast.AST, a: Part, b: Part, minus: bool) -> Part:
        shape = self._common(node, a, b)
        if minus:
            return Part(shape, lambda scope: a.value(scope) - b.value(scope))
        return Part(shape, lambda scope: a.value(scope) + b.value(scope))

    def _common(self, node: ast.AST, a: Part, b: Part) -> Shape:
        """The shape of a sum; a number is added to no array, unless it is 0."""
        if a.shape is None or b.shape is None:
            if a.shape is None and b.shape is None:
                return None
            number = a if a.shape is None else b
            if _is_zero(number):
                return b.shape if a.shape is None else a.shape
            self.no(f"{in_words(a.shape)} and {in_words(b.shape)} are added", node)
        if not all(fits(x, y) for x, y in zip(a.shape, b.shape, strict=True)):
            self.no(f"{in_words(a.shape)} and {in_words(b.shape)} are added", node)
        return a.shape

    def _product(self, node: ast.AST, a: Part, b: Part) -> Part:
        if a.shape is None or b.shape is None:
            shape = b.shape if a.shape is None else a.shape
            return Part(shape, lambda scope: a.value(scope) * b.value(scope))
        if not fits(a.shape[1], b.shape[0]):
            self.no(
                f"{in_words(a.shape)} times {in_words(b.shape)} is not defined "
                "(is a transpose missing?)",
                node,
            )
        shape = (a.shape[0], b.shape[1])
        if actual(shape[0]) == 1 and actual(shape[1]) == 1:
            return Part(None, lambda scope: (a.value(scope) @ b.value(scope))[0, 0])
        return Part(shape, lambda scope: a.value(scope) @ b.value(scope))

    def _quotient(self, node: ast.AST, a: Part, b: Part) -> Part:
        if b.shape is not None:
            self.no(f"this divides by {in_words(b.shape)}: write its inverse, ^{{-1}},", node)

        def value(scope: Scope) -> Any:
            below = b.value(scope)
            if not below and hasattr(below, "x"):  # with digits to spare, it is zero
                raise ZeroDivisionError
            return np.divide(a.value(scope), below)

        return Part(a.shape, value)

    def _power(self, node: ast.AST, a: Part, b: Part) -> Part:
        if b.shape is not None:
            self.no(f"{in_words(b.shape)} stands as an exponent", node)
        if a.shape is None:
            return Part(None, lambda scope: number_power(a.value(scope), b.value(scope)))
        if not fits(*a.shape):
            self.no(f"a power of {in_words(a.shape)}: write a norm, or ^{{⊙2}} for its entries,",
                    node)  # fmt: skip

        def value(scope: Scope) -> Any:
            base, exponent = a.value(scope), whole(b.value(scope))
            result = np.eye(len(base))
            for _ in range(abs(exponent)):
                result = result @ base
            return inverse(result) if exponent < 0 else result

        return Part(a.shape, value)

    def _entry(self, node: ast.AST, a: Part, index: list[Part]) -> Part:
        if a.shape is None:
            self.no("this is a number and has no index", node)
        first, free = self.first, self._free(node)
        vector = actual(a.shape[1]) == 1
        if len(index) == 1 and not vector:  # a row of a matrix, as a vector
            return Part(
                (a.shape[1], 1),
                lambda s: _within(a.value(s), [_place(index[0], s, first)], free - {*s.bound}).T,
            )
        if len(index) != (1 if vector else 2):
            self.no(f"{in_words(a.shape)} has another number of indices", node)

        def value(scope: Scope) -> Any:
            places = [_place(i, scope, first) for i in index]
            row = _within(a.value(scope), places, free - {*scope.bound})
            return row[0, 0 if vector else places[1]]

        return Part(None, value)

    def _free(self, node: ast.AST) -> set[str]:
        """The letters of an index that are declared as numbers, and are no sizes."""
        slice_ = node.slice if isinstance(node, ast.Subscript) else node
        names = {n.id for n in ast.walk(slice_) if isinstance(n, ast.Name)} & self.kinds.keys()
        return names - {size for kind in self.kinds.values() for size in kind.shape or ()}

    def _slope(self, name: str, x: Part) -> Part:
        return Part(x.shape, lambda scope: scope.values[name].prime(x.value(scope)))

    # -- calls

    def _call(self, node: ast.Call, name: str, arguments: list[ast.expr]) -> Part:
        if name in ("Sum", "Product", "Max", "Min") and isinstance(arguments[-1], ast.Tuple):
            return self._over_an_index(node, name, arguments[0], arguments[-1])
        own = getattr(self, f"_call_{name}", None)
        if own is not None and name not in self.kinds:
            part: Part = own(node, arguments)
            return part
        if name in self.kinds:
            return self._declared(node, name, [self.part(x) for x in arguments])
        if name in ARRAY_FUNCTIONS:
            return self._array_function(node, name, arguments)
        parts = [self.part(x) for x in arguments]
        if name in ("Max", "Min"):
            if any(p.shape is not None for p in parts):
                self.no(f"the {name.lower()} of arrays", node)
            pick = max if name == "Max" else min
            return Part(None, lambda scope: pick((p.value(scope) for p in parts), key=np.real))
        if name in ELEMENTWISE and len(parts) == 1:
            return self._elementwise(ELEMENTWISE[name], parts[0], name)
        fewest, most = ARGUMENTS.get(name, (1, 0))
        if name in FUNCTIONS and fewest <= len(parts) <= most and not any(p.shape for p in parts):
            return Part(None, lambda scope: _of_numbers(name, [p.value(scope) for p in parts]))
        self.no(f"{name} is not computed for these", node)

    def _elementwise(self, f: Callable[[Any], Any], x: Part, name: str) -> Part:
        def value(scope: Scope) -> Any:
            at = x.value(scope)
            if name in ("ln", "log", "sqrt") and np.any(np.real(at) < 0):
                raise ZeroDivisionError("not a real number")
            found = f(at)
            floats = isinstance(found, np.ndarray | np.floating) and found.dtype.kind in "fc"
            if floats and not np.all(np.isfinite(found)):
                raise OverflowError("a number beyond all bounds")
            return found

        return Part(x.shape, value)

    def _declared(self, node: ast.AST, name: str, parts: list[Part]) -> Part:
        kind = self.kinds[name]
        if kind.sequence:
            if len(parts) != 1:
                self.no(f"{pretty(name)} takes one index", node)
            index = parts[0]
            return Part(
                kind.shape,
                lambda s: column(s.item(name, whole(index.value(s))), kind.shape),
            )
        if not kind.function:
            self.no(f"{pretty(name)} is no function", node)
        if not kind.random:  # entry by entry
            if len(parts) != 1:
                self.no(f"{pretty(name)} takes one argument", node)
            x = parts[0]
            return Part(x.shape, lambda scope: _applied(scope.values[name], x.value(scope)))
        shape = kind.shape
        return Part(shape, lambda s: column(s.values[name](*(p.value(s) for p in parts)), shape))

    def _array_function(self, node: ast.Call, name: str, arguments: list[ast.expr]) -> Part:
        function = ARRAY_FUNCTIONS[name]
        words = [
            x.value for x in arguments if isinstance(x, ast.Constant) and isinstance(x.value, str)
        ]
        parts = [self.part(x) for x in arguments[: len(arguments) - len(words)]]
        if any(word not in function.words for word in words) or len(parts) != 1:
            self.no(f"{name} is not known with these", node)
        try:
            shape = function.shape(parts[0].shape)
        except ValueError:
            self.no(f"{name} of {in_words(parts[0].shape)}", node)
        inner = parts[0]
        if function.words and not words and inner.shape and 1 not in map(actual, inner.shape):
            self.no(f"{name} of {in_words(inner.shape)} needs its index, such as {name}_"
                    f"{function.words[0]},", node)  # fmt: skip
        if inner.shape is not None and name in ("tr", "Tr", "trace", "det"):
            fits(*inner.shape)
        return Part(shape, lambda scope: function.value(inner.value(scope), *words))

    def _call_transpose(self, node: ast.AST, arguments: list[ast.expr]) -> Part:
        inner = self.part(arguments[0])
        if inner.shape is None:
            return inner
        return Part(inner.shape[::-1], lambda scope: np.transpose(inner.value(scope)))

    def _call_raised_T(self, node: ast.AST, arguments: list[ast.expr]) -> Part:
        inner = self.part(arguments[0])
        if inner.shape is not None:
            return self._call_transpose(node, arguments)
        if "T" not in self.kinds:
            self.no("^T stands on a number, and T is not declared", node)
        self.powers.append(node)
        return Part(None, lambda scope: number_power(inner.value(scope), scope.value("T")))

    def _call_hadamard(self, node: ast.AST, arguments: list[ast.expr]) -> Part:
        a, b = (self.part(x) for x in arguments)
        shape = self._common(node, a, b)
        return Part(shape, lambda scope: a.value(scope) * b.value(scope))

    def _call_power_of_entries(self, node: ast.AST, arguments: list[ast.expr]) -> Part:
        a, b = (self.part(x) for x in arguments)
        return Part(a.shape, lambda scope: a.value(scope) ** b.value(scope))

    def _call_inner(self, node: ast.AST, arguments: list[ast.expr]) -> Part:
        a, b = (self.part(x) for x in arguments)
        if a.shape is None or b.shape is None:
            self.no("an inner product of numbers", node)
        turned = Part(a.shape[::-1], lambda scope: np.transpose(a.value(scope)))
        found = self._product(node, turned, b)
        if found.shape is not None:
            self.no(f"an inner product of {in_words(a.shape)} and {in_words(b.shape)}", node)
        return found

    def _call_abs(self, node: ast.AST, arguments: list[ast.expr]) -> Part:
        inner = self.part(arguments[0])
        if inner.shape is not None:
            self.no(f"|·| of {in_words(inner.shape)}: write ‖·‖", node)
        return Part(None, lambda scope: _size_of(inner.value(scope)))

    def _call_norm(self, node: ast.AST, arguments: list[ast.expr]) -> Part:
        inner = self.part(arguments[0])
        which = str(arguments[1].value) if isinstance(arguments[1], ast.Constant) else "2"
        if inner.shape is None:
            return Part(None, lambda scope: _size_of(inner.value(scope)))
        vector = 1 in map(actual, inner.shape)
        return Part(None, lambda scope: norm_of(inner.value(scope), which, vector))

    def _call_eye(self, node: ast.AST, arguments: list[ast.expr]) -> Part:
        size = self._told_size(node, arguments)
        return Part((size, size), lambda scope: np.eye(self.size(size, scope)))

    def _call_ones(self, node: ast.AST, arguments: list[ast.expr]) -> Part:
        size = self._told_size(node, arguments)
        return Part((size, 1), lambda scope: np.ones((self.size(size, scope), 1)))

    def _told_size(self, node: ast.AST, arguments: list[ast.expr]) -> Any:
        """The n of I_n, if there is one: a size that something declared has, or a number."""
        match arguments:
            case []:
                return Size()
            case [ast.Constant(value=int(number))]:
                return number
            case [ast.Name(id=name)] if any(name in (k.shape or ()) for k in self.kinds.values()):
                return name
        self.no("its index is no size that is known here", node)

    def size(self, size: Any, scope: Scope) -> int:
        found = actual(size)
        if isinstance(found, Size):
            raise FormulaError("the size of I or 1 does not follow from the line")
        if isinstance(found, str):
            return sum(int(n) if n.isdigit() else int(scope.values[n]) for n in found.split(" + "))
        return int(found)

    def _call_Matrix(self, node: ast.AST, rows: list[ast.expr]) -> Part:
        if all(isinstance(row, ast.Tuple) for row in rows):
            grid = [[self.part(x) for x in row.elts] for row in rows]  # type: ignore[attr-defined]
            parts = self._blocks(node, grid)
        else:
            parts = [self._row(node, row) for row in rows]
        if not all(fits(parts[0].shape[1], p.shape[1]) for p in parts):  # type: ignore[index]
            self.no("the rows of this matrix have different lengths", node)
        height = _total([p.shape[0] for p in parts])  # type: ignore[index]
        shape = (height, parts[0].shape[1])  # type: ignore[index]
        if shape == (1, 1):
            return Part(None, lambda scope: parts[0].value(scope)[0][0])
        return Part(shape, lambda scope: np.vstack([p.value(scope) for p in parts]))

    def _blocks(self, node: ast.AST, grid: list[list[Part]]) -> list[Part]:
        """The rows of a matrix of numbers and blocks; a 0 has the size of what is beside it."""
        if len({len(row) for row in grid}) > 1:
            self.no("the rows of this matrix have different lengths", node)
        heights, widths = [Size() for _ in grid], [Size() for _ in grid[0]]
        plain = all(part.shape is None for row in grid for part in row)
        for height, row in zip(heights, grid, strict=True):
            for width, part in zip(widths, row, strict=True):
                shape = (1, 1) if plain or not _is_zero(part) else (height, width)
                shape = part.shape or shape
                if not (fits(height, shape[0]) and fits(width, shape[1])):
                    self.no("the blocks of this matrix do not fit", node)
        if any(isinstance(actual(size), Size) for size in (*heights, *widths)):
            self.no("the size of a block does not follow from the others", node)
        total = _total(widths)

        def row_of(height: Size, row: list[Part]) -> Part:
            def value(scope: Scope) -> Any:
                sizes = [(self.size(height, scope), self.size(w, scope)) for w in widths]
                found = [p.value(scope) for p in row]
                return np.hstack([
                    x if p.shape else np.full(size, x)
                    for x, p, size in zip(found, row, sizes, strict=True)
                ])  # fmt: skip

            return Part((actual(height), total), value)

        return [row_of(height, row) for height, row in zip(heights, grid, strict=True)]

    def _row(self, node: ast.AST, row: ast.expr) -> Part:
        """A row of a matrix: its entries one by one, or by the pattern around its dots."""
        if isinstance(row, ast.Call):
            return self._entries(node, row, lambda body: self._row(node, _tuple(body)), down=False)
        (found,) = self._blocks(node, [[self.part(x) for x in getattr(row, "elts", [])]])
        return found

    def _call_Piecewise(self, node: ast.AST, pieces: list[ast.expr]) -> Part:
        """Values by cases; the first whose condition holds is computed."""
        pairs = [p.elts for p in pieces if isinstance(p, ast.Tuple)]
        values = [self.part(value) for value, _ in pairs]
        tests = [self._condition(condition) for _, condition in pairs]
        shape = values[0].shape
        for other in values[1:]:
            shape = self._common(node, Part(shape, values[0].value), other)

        def value(scope: Scope) -> Any:
            for part, holds in zip(values, tests, strict=True):
                if holds(scope):
                    filled = np.zeros([self.size(s, scope) for s in shape]) if shape else 0
                    return part.value(scope) + filled
            raise ZeroDivisionError("no case holds")

        return Part(shape, value)

    def _condition(self, node: Any) -> Callable[[Scope], bool]:
        match node:
            case ast.Constant(value=bool(truth)):
                return lambda scope: truth
            case ast.BinOp(left=x, op=ast.BitAnd(), right=y):
                one, two = self._condition(x), self._condition(y)
                return lambda scope: one(scope) and two(scope)
            case ast.Compare(left=x, ops=[op], comparators=[y]):
                a, b, compare = self.part(x), self.part(y), COMPARE[type(op)]
                if a.shape is None and b.shape is None:
                    return lambda scope: bool(
                        compare(np.real(a.value(scope)), np.real(b.value(scope)))
                    )
        self.no("this condition is not about numbers", node)

    def _call_Entries(self, node: ast.Call, arguments: list[ast.expr]) -> Part:
        """A matrix whose rows have a pattern, down to its last."""
        return self._entries(node, node, lambda body: self._row(node, body), down=True)

    def _entries(
        self, node: ast.AST, call: ast.Call, read: Callable[[ast.expr], Part], down: bool
    ) -> Part:
        body, limits = call.args
        index, *ends = limits.elts  # type: ignore[attr-defined]
        first, last = (self.part(x) for x in ends)
        before, self.bound = self.bound, {**self.bound, index.id: None}
        inner = read(body)
        self.bound = before
        count = _many(*ends)
        known = isinstance(count, int) or any(count in (k.shape or ()) for k in self.kinds.values())
        size = count if known else Size()
        tall, wide = inner.shape or (1, 1)
        if actual(tall if down else wide) != 1:
            self.no("dots between blocks that are no rows or columns", node)
        shape = (size, wide) if down else (tall, size)
        stack = np.vstack if down else np.hstack

        def value(scope: Scope) -> Any:
            places = range(whole(first.value(scope)), whole(last.value(scope)) + 1)
            if not 0 < len(places) <= MOST_TERMS:
                raise OverflowError("a matrix without rows, or too large")
            bound = scope.bound
            return stack([inner.value(scope.at(bound={**bound, index.id: k})) for k in places])

        return Part(shape, value)

    # -- over an index, over outcomes, over a variable

    def _over_an_index(self, node: ast.AST, kind: str, body: ast.expr, limits: ast.Tuple) -> Part:
        index = limits.elts[0]
        assert isinstance(index, ast.Name)
        name, before = index.id, self.bound
        ends: list[Any] = [self.part(x) for x in limits.elts[1:]]
        low, high = ends or (None, None)
        self.bound = {**before, name: None}
        inner = self.part(body)
        self.bound = before
        size = None if low is not None else self._range_of(node, name, body)
        if kind == "Product" and inner.shape is not None and not fits(*inner.shape):
            self.no(f"a product of {in_words(inner.shape)}s", node)
        if kind in ("Max", "Min") and inner.shape is not None:
            self.no(f"the {kind.lower()} of arrays", node)

        def value(scope: Scope) -> Any:
            if low is None or high is None:
                first, last = self.first, self.first + self.size(size, scope) - 1
            else:
                first, last = whole(low.value(scope)), whole(high.value(scope))
            if last - first > MOST_TERMS:
                raise OverflowError("a sum is too long")
            terms = []
            for k in range(first, last + 1):
                tick()
                scope.bound = {**scope.bound, name: k}
                terms.append(inner.value(scope))
            return self._total(kind, terms[::-1] if leftwards else terms, inner.shape, scope)

        leftwards = self.leftwards and kind == "Product" and "in_order" not in vars(node)
        return Part(inner.shape, _restoring(value))

    def _total(self, kind: str, terms: list[Any], shape: Shape, scope: Scope) -> Any:
        if kind in ("Max", "Min"):
            return (max if kind == "Max" else min)(terms, key=np.real)
        if kind == "Product" and shape is not None:
            result = np.eye(self.size(shape[0], scope))
            for term in terms:
                result = result @ term
            return result
        if not terms:
            empty = float(kind == "Product")
            return empty if shape is None else np.zeros([self.size(s, scope) for s in shape])
        result = terms[0]
        for term in terms[1:]:
            result = result + term if kind == "Sum" else result * term
        return result

    def _range_of(self, node: ast.AST, name: str, body: ast.expr) -> Any:
        """The size over which an index runs: that of the arrays it is an index of."""
        found: list[Any] = []
        for part in ast.walk(body):
            if isinstance(part, ast.Subscript) and isinstance(part.slice, ast.Tuple):
                for k, index in enumerate(part.slice.elts):
                    if isinstance(index, ast.Name) and index.id == name:
                        before, self.bound = self.bound, {**self.bound, name: None}
                        shape = self.part(part.value).shape
                        self.bound = before
                        found.append(shape[k] if shape else None)
        if not found:
            self.no(f"the bounds of {pretty(name)} are missing", node)
        if not all(fits(found[0], size) for size in found):
            self.no(f"{pretty(name)} runs over different sizes", node)
        return found[0]

    def _call_Expectation(self, node: ast.AST, arguments: list[ast.expr]) -> Part:
        if len(arguments) == 2 and isinstance(arguments[1], ast.Name):
            return self._over_a_variable(node, arguments[1].id, arguments[0], "normal")
        if (over := vars(node).get("over")) in self.kinds and not self.kinds[over].random:
            self.no(rf"which law has {pretty(over)}? Write E_{{{over} \sim N(0, I)}}", node)
        inner = self.part(arguments[0])
        return Part(inner.shape, lambda scope: expected(inner.value, scope))

    def _call_Var(self, node: ast.AST, arguments: list[ast.expr]) -> Part:
        return self._call_Cov(node, [arguments[0], arguments[0]])

    def _call_Cov(self, node: ast.AST, arguments: list[ast.expr]) -> Part:
        a, b = (self.part(x) for x in arguments)
        if a.shape is not None or b.shape is not None:
            self.no("the variance of an array: write it as an expectation", node)

        def value(scope: Scope) -> Any:
            means = [expected(p.value, scope) for p in (a, b)]
            return expected(lambda s: (a.value(s) - means[0]) * (b.value(s) - means[1]), scope)

        return Part(None, value)

    def _call_Integral(self, node: ast.AST, arguments: list[ast.expr]) -> Part:
        assert isinstance(arguments[1], ast.Tuple)
        variable, *limits = arguments[1].elts
        assert isinstance(variable, ast.Name)
        if len(limits) == 1:
            return self._over_a_variable(node, variable.id, arguments[0], "flat")
        ends = [self.part(x) for x in limits]
        inner = self._with(variable.id, None, arguments[0])

        def value(scope: Scope) -> Any:
            low, high = (end.value(scope) for end in ends)
            return quadrature.between(inner(scope), low, high)

        return Part(None, value)

    def _over_a_variable(self, node: ast.AST, name: str, body: ast.expr, law: str) -> Part:
        """An integral over all vectors, or the expectation under the normal law."""
        shape = self._kind(node, name).shape
        if shape is not None and actual(shape[1]) != 1:
            self.no("an integral over matrices", node)
        inner = self._with(name, shape, body)

        def value(scope: Scope) -> Any:
            length = 0 if shape is None else self.size(shape[0], scope)
            return quadrature.over_all(inner(scope), length, law)

        return Part(None, value)

    def _with(
        self, name: str, shape: Shape, body: ast.expr
    ) -> Callable[[Scope], Callable[[Any], Any]]:
        """The body as a function of this variable, in a scope."""
        before, self.bound = self.bound, {**self.bound, name: shape}
        inner = self.part(body)
        self.bound = before

        def within(scope: Scope) -> Callable[[Any], Any]:
            own = scope.at(bound={**scope.bound})

            def value(x: Any) -> Any:
                own.bound[name] = x
                own.known.clear()
                return inner.value(own)

            return value

        return within

    def _call_Derivative(self, node: ast.AST, arguments: list[ast.expr]) -> Part:
        """By complex steps: in the shape of the variable, or a Jacobian, a row for each output."""
        body, by = self.part(arguments[0]), self.part(arguments[1])
        key, place = self._moved(node, arguments[1])
        shape: Shape
        if by.shape is None:
            shape = body.shape
        elif body.shape is None:
            shape = by.shape
        elif actual(body.shape[1]) == 1 and actual(by.shape[1]) == 1:
            shape = (body.shape[0], by.shape[0])
        else:
            self.no(f"the derivative of {in_words(body.shape)} by {in_words(by.shape)}", node)

        def value(scope: Scope) -> Any:
            if scope.moved:
                raise FormulaError("a derivative of a derivative is not computed here")
            return _derivative(body, key(scope), place(scope), scope)

        return Part(shape, value)

    def _moved(
        self, node: ast.AST, variable: ast.expr
    ) -> tuple[Callable[[Scope], Key], Callable[[Scope], tuple[int, ...] | None]]:
        """What is moved, and which entry of it alone."""
        match variable:
            case ast.Name(id=name):
                return lambda scope: (name,), lambda scope: None
            case ast.Call(func=ast.Name(id=name), args=[index]):
                item = self.part(index)
                return lambda s: (name, whole(item.value(s))), lambda scope: None
            case ast.Subscript(value=inner, slice=ast.Tuple(elts=index)):
                key, _ = self._moved(node, inner)
                parts = [self.part(i) for i in index]
                return key, lambda s: tuple(_place(p, s, self.first) for p in parts)
        self.no("a derivative is taken by a declared quantity", node)


# -- values ---------------------------------------------------------------------------------------


def column(value: Any, shape: Shape) -> Any:
    """A drawn vector as a column; everything else as it is."""
    if shape is not None and np.ndim(value) == 1:
        return np.reshape(value, (-1, 1))
    return value


def whole(x: Any) -> int:
    """An index or a bound as a whole number."""
    found = round(float(np.real(getattr(x, "x", x))))
    if abs(float(np.real(getattr(x, "x", x))) - found) > 1e-9:
        raise ValueError("an index is no whole number")
    return int(found)


def _many(first: ast.expr, last: ast.expr) -> Any:
    """How many numbers there are from 1 to n, or from 0 to n − 1: the name n, or a number."""
    match first, last:
        case ast.Constant(value=int(low)), ast.Constant(value=int(high)):
            return high - low + 1
        case ast.Constant(value=1), ast.Name(id=name):
            return name
        case ast.Constant(value=0), ast.BinOp(
            left=ast.Name(id=name), op=ast.Sub(), right=ast.Constant(value=1)
        ):
            return name
    return None


def _are_columns(*parts: Part) -> bool:
    return all(p.shape and actual(p.shape[1]) == 1 and actual(p.shape[0]) != 1 for p in parts)


def _total(sizes: list[Any]) -> Any:
    """The size of several blocks side by side: a number, a name, or names with + between them."""
    names = [n for s in map(actual, sizes) for n in str(s).split(" + ")]
    number = sum(int(n) for n in names if n.isdigit())
    letters = sorted(n for n in names if not n.isdigit())
    return " + ".join([*letters, *[str(number)] * bool(number)]) if letters else number


def _tuple(entry: ast.expr) -> ast.Tuple:
    return ast.Tuple([entry], ast.Load())


def _place(index: Part, scope: Scope, first: int) -> int:
    return whole(index.value(scope)) - first


def _within(array: Any, places: list[int], free: set[str]) -> Any:
    """The row of the first place, if there is such an entry.

    An i that is declared by itself may be drawn beyond n: then x_i says nothing, and is no fault.
    """
    sizes: Any = np.shape(array)
    if any(not 0 <= k < n for k, n in zip(places, sizes, strict=False)):
        raise (ArithmeticError if free else IndexError)("an index is outside of the array")
    return array[places[0] : places[0] + 1]


def _is_zero(part: Part) -> bool:
    try:
        return bool(part.value(Scope({}, {})) == 0)
    except Exception:
        return False


def _of_numbers(name: str, numbers: list[Any]) -> Any:
    """A function of numbers, in the digits of floats; under a complex step it has no slope."""
    if any(np.iscomplexobj(x) for x in numbers):
        raise FormulaError(f"the derivative of {name} is not computed here")
    found = FUNCTIONS[name](*(np.float64(getattr(x, "x", x)) for x in numbers))
    if not np.isfinite(found):
        raise OverflowError("a number beyond all bounds, or none")
    return found


def number_power(a: Any, b: Any) -> Any:
    """A power of numbers; where there is no real one, a ZeroDivisionError."""
    real = np.real(getattr(a, "x", a))
    exponent = float(np.real(getattr(b, "x", b)))
    if (real == 0 and exponent < 0) or (real < 0 and exponent != round(exponent)):
        raise ZeroDivisionError
    if not np.iscomplexobj(b) and exponent == round(exponent) and abs(exponent) < 1e6:
        if hasattr(b, "x") and not hasattr(a, "x"):
            a = type(b)(b.x * 0 + a)  # 2^{-14630} is 0 in floats
        b = int(exponent)  # a whole power has a value and a slope at negative numbers too
    return a**b


def _size_of(x: Any) -> Any:
    """|x|, in a way that complex steps pass through."""
    if isinstance(x, complex | np.complexfloating):
        return x if x.real >= 0 else -x
    return abs(x)


def norm_of(x: Any, which: str, vector: bool) -> Any:
    """The norm of a vector or a matrix: Euclidean, spectral, Frobenius, 1 or ∞."""
    if which == "F" or (vector and which == "2"):
        if np.iscomplexobj(x) and not np.real(x).any():
            raise ZeroDivisionError("a norm has no slope at 0")
        return np.sqrt((x * x).sum())
    if np.iscomplexobj(x):
        raise FormulaError("the derivative of this norm is not computed here")
    if vector:
        return abs(x).sum() if which == "1" else abs(x).max()
    return np.linalg.norm(x, {"1": 1, "2": 2, "oo": np.inf}[which])


def _applied(f: Any, x: Any) -> Any:
    """A function entry by entry; under a complex step by its slope, which is exact."""
    if np.iscomplexobj(x) and isinstance(f, Activation):
        real = np.real(x)
        return f(real) + 1j * f.prime(real) * np.imag(x)
    return f(x)


def _restoring(value: Callable[[Scope], Any]) -> Callable[[Scope], Any]:
    """The same, after which the bound indices are as they were."""

    def restored(scope: Scope) -> Any:
        before = scope.bound
        try:
            return value(scope)
        finally:
            scope.bound = before

    return restored


def _derivative(body: Part, key: Key, place: tuple[int, ...] | None, scope: Scope) -> Any:
    """The derivative of a part by what has this key, entry by entry."""
    x = scope.item(*key) if len(key) == 2 else scope.value(key[0])
    if (isinstance(x, np.ndarray) and x.dtype == object) or hasattr(x, "x"):
        raise TypeError("complex steps have the digits of floats")
    base = np.array(x, dtype=complex)
    spots = [place] if place is not None else list(np.ndindex(base.shape))
    found = []
    for spot in spots:
        moved = base.copy()
        moved[spot[: base.ndim]] += 1j * STEP
        inner = scope.at(moved={key: moved if base.ndim else complex(moved)})
        value = body.value(inner)
        if not np.all(np.isfinite(value)):
            raise OverflowError("a number beyond all bounds")
        found.append(np.imag(value) / STEP)
    if place is not None or not base.ndim:
        return found[0]
    if np.ndim(found[0]):
        return np.hstack(found)
    return np.array(found).reshape(base.shape if base.ndim == 2 else (-1, 1))
