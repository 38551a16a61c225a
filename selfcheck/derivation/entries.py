"""Lines entry by entry: text, SymPy and functions, all read as tensors, whose entries are forms."""

from __future__ import annotations

import ast
import threading
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from . import calculus, monomials, tensors
from .array_functions import ARRAY_FUNCTIONS
from .bounds import is_at_most
from .clock import unwatched
from .compiling import actual
from .domains import Domain, DrawnRandom, DrawnSequence, SomeFunction
from .expressions import Expression, Reader, is_function
from .monomials import Atom, Form, Holes, Index, Letters, Unknown, of_atom, of_index
from .tensors import OPEN, SINGLE, Products, Tensor, number, tensor
from .tracing import traced


class Slope:
    """An activation function σ, with σ′ and γ."""

    def __init__(self, name: str, steepest: Fraction) -> None:
        self.name, self.steepest = name, steepest

    def __call__(self, x: Any) -> Tensor:
        return tensors.of_entries(f"{self.name}~{self.steepest}")(x)

    def prime(self, x: Any) -> Tensor:
        return tensors.of_entries(f"{self.name}~{self.steepest}′")(x)

    @property
    def gamma(self) -> Tensor:
        return number(of_atom(Atom(f"{self.name}~{self.steepest}γ", sign=0)))


ONE_AT_A_TIME = threading.Lock()  # letters, holes and loops are those of one proof


class Entries:
    """Reads the lines of one derivation as tensors; knows what the names are."""

    def __init__(
        self,
        domains: Mapping[str, Domain],
        sizes: Mapping[str, Domain],
        given: Mapping[str, Expression],
        reader: Reader,
    ) -> None:
        self.domains, self.sizes, self.given = domains, sizes, given
        self.compiler, self.rules = reader.compiler, reader.rules
        self.known: dict[str, Any] = {}
        self.bound: dict[str, Any] = {}
        self.moved: set[tuple[Any, ...]] = set()  # what a derivative is taken by

    def rung_of(self, before: Expression, now: Expression, relation: str) -> str | None:
        """The rung on which a relation is proved, for all entries; None if it is not."""
        with unwatched():
            for Letters.splits in (False, True):
                if rung := self._rung_of(before, now, relation):
                    return rung
        return None

    def _rung_of(self, before: Expression, now: Expression, relation: str) -> str | None:
        Letters.ends.clear()
        Products.norms.clear()
        self.known, self.bound, self.moved = {}, {}, set()
        one, holes = self._with_holes(before)
        two, others = self._with_holes(now)
        if one.sizes != two.sizes or any(OPEN in x.sizes for x in (one, two)):
            return None
        letters = [Letters.fresh(size) for size in one.sizes]
        Holes.clear()
        left, right = one.entry(*letters), two.entry(*letters)
        if any("?" in side.letters for side in (left, right)) or not others <= holes:
            return None
        if relation == "=":
            return "entry by entry" if monomials.vanishes(left - right) else None
        low, high = (left, right) if relation == "≤" else (right, left)
        return is_at_most(low, high) if relation in "≤≥" else None

    def _with_holes(self, e: Expression) -> tuple[Tensor, set[str]]:
        """The line, and the conditions under which it has a value that are not always met."""
        Holes.clear()
        found = self.line(e)
        tensors.generic(found)
        zeros = {f"≠{_spelled(zero)}" for f in Holes.below for zero in monomials.zeros(f)}
        roots = {f"≥{_spelled(f)}" for f in Holes.roots if not monomials.is_nonnegative(f)}
        return found, zeros | roots

    def line(self, e: Expression) -> Tensor:
        """A line, or what is given, as a tensor: a column is one of a single axis."""
        if is_function(e.source):
            return traced(e.source, {p: self.name(n) for p, n in e.parameters.items()})
        if e.tree is not None:
            return _flat(self.tree(e.tree))
        if e.source is not None:
            return _flat(self.sympy(e.source))
        raise Unknown

    # -- names

    def name(self, name: str) -> Any:
        """What a name stands for, for a function: vectors have one axis."""
        if name in self.bound:
            return self.bound[name]
        if name not in self.known:
            self.known[name] = self._name(name)
        return self.known[name]

    def _name(self, name: str) -> Any:
        if name in self.sizes:
            self._check_size(name)
            return number(of_index((name, 0)))
        if name in self.given:
            return self.line(self.given[name])
        domain = self.domains.get(name)
        if domain is None or domain.kind:
            raise Unknown
        first = domain.simple(*[1] * len(domain.sizes))[0]
        if isinstance(first, DrawnRandom | SomeFunction):
            raise Unknown
        if domain.fact.startswith("slope"):
            return Slope(name, Fraction(domain.fact.split()[1]))
        sizes = tuple(self._size(s) for s in domain.sizes)
        if isinstance(first, DrawnSequence):
            return lambda i: self._item(name, domain, sizes, i)
        if callable(first):
            raise Unknown
        if not sizes:
            return number(self._scalar(name, domain))
        sign = _sign(domain.entries)
        return Tensor(sizes, lambda *at: _entry(name, domain.fact, sign, at))

    def _scalar(self, name: str, domain: Domain) -> Form:
        if domain.assumptions.get("integer") and domain.ends and domain.ends[0] >= 1:
            return of_index((name, 0))
        return of_atom(Atom(f"${name}", sign=_sign(domain.assumptions)))

    def _item(self, name: str, domain: Domain, sizes: tuple[Index, ...], i: Any) -> Tensor:
        index = self._index(i)
        if name in self.compiler.definitions and (name, index) not in self.moved:
            return self._defined(name, index)
        sign = _sign(domain.entries if sizes else domain.assumptions)
        return Tensor(sizes, lambda *at: of_atom(Atom(f"${name}", (index, *at), sign=sign)))

    def _defined(self, name: str, index: Index) -> Tensor:
        """An item of a sequence by its definition, if it is surely not one of the first."""
        letter, tree = self.rules.get(name, ("", None))
        defined = self.compiler.definitions[name]
        if not letter or tree is None or defined.items or defined.bare or self._least(index) < 1:
            raise Unknown
        before, self.bound = self.bound, {**self.bound, letter: number(of_index(index))}
        found = self.tree(tree)
        self.bound = before
        return _flat(found)

    def _least(self, index: Index) -> int:
        """The smallest number that an index may be."""
        letter, more = index
        if not letter or letter in Letters.ends:
            return more + bool(letter)
        domain = self.domains.get(letter) or self.sizes.get(letter)
        ends = domain.ends if domain else None
        return int(ends[0]) + more if ends and ends[0] is not None else 0

    def _index(self, i: Any) -> Index:
        """A place in a sequence: a letter, of a loop too, with a number added."""
        form = tensor(i).form()
        rest = [(m, c) for m, c in form.terms.values() if m.powers]
        constant = sum((c for m, c in form.terms.values() if not m.powers), Fraction(0))
        if not rest and constant.denominator == 1:
            return "", int(constant)
        ((monomial, c),) = rest
        ((atom, power),) = monomial.powers
        if monomial.bound or c != 1 or power != 1 or atom.head != "№" or constant.denominator != 1:
            raise Unknown
        return atom.at[0][0], int(constant)

    def _size(self, size: Any) -> Index:
        if isinstance(size, int):
            return "", size
        self._check_size(size)
        return size, 0

    def _check_size(self, name: str) -> None:
        ends = self.sizes[name].ends
        if ends is None or ends[0] is None or ends[0] < 1:
            raise Unknown

    # -- text: a vector is a column

    def tree(self, node: Any) -> Tensor:
        match node:
            case ast.Constant(value=int() | float() as value):
                return tensor(value)
            case ast.Name(id=name):
                return self._tree_name(name)
            case ast.UnaryOp(op=ast.USub(), operand=x):
                return -self.tree(x)
            case ast.UnaryOp(op=ast.UAdd(), operand=x):
                return self.tree(x)
            case ast.BinOp(left=x, op=op, right=y):
                return self._operation(op, self.tree(x), y)
            case ast.Subscript(value=x, slice=ast.Tuple(elts=index)):
                return self._subscript(self.tree(x), [self._index(self.tree(i)) for i in index])
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name)), args=[x]):
                slope = self.name(name)
                if isinstance(slope, Slope):
                    return slope.prime(self.tree(x))
            case ast.Call(func=ast.Name(id=name), args=arguments):
                return self._call(node, name, arguments)
        raise Unknown

    def _tree_name(self, name: str) -> Tensor:
        if name == "pi" and name not in self.compiler.kinds:
            return number(of_atom(monomials.PI))
        if name in ("e", "E") and name not in self.compiler.kinds and name not in self.bound:
            return tensors.exponential(1)
        found = self.name(name)
        kind = self.compiler.kinds.get(name)
        if not isinstance(found, Tensor) or (kind and kind.shape is None and found.sizes):
            raise Unknown
        return _column(found)

    def _operation(self, op: ast.operator, left: Tensor, y: ast.expr) -> Tensor:
        right = self.tree(y)
        match op:
            case ast.Add():
                return left + right
            case ast.Sub():
                return left - right
            case ast.Mult() | ast.MatMult():
                return _product(left, right)
            case ast.Div():
                if right.sizes:
                    raise Unknown
                return left / right
            case ast.Pow():
                return self._raised(left, right)
        raise Unknown

    def _raised(self, base: Tensor, exponent: Tensor) -> Tensor:
        if not base.sizes:
            return base**exponent
        p = exponent.form().number
        if p == -1:
            return tensors.inverse(base)
        if p is None or p.denominator != 1 or not 1 <= p <= 4:
            raise Unknown
        found = base
        for _ in range(int(p) - 1):
            found = _product(found, base)
        return found

    def _subscript(self, x: Tensor, index: list[Index]) -> Tensor:
        places: list[Index] = [(letter, more + 1 - self.compiler.first) for letter, more in index]
        if x.ndim != 2:
            raise Unknown
        if len(places) == 1:
            if x.sizes[1] != SINGLE:
                return Tensor((x.sizes[1], SINGLE), lambda i, _: x.entry(places[0], i))
            places.append(SINGLE)
        return number(x.entry(*places))

    def _call(self, node: ast.Call, name: str, arguments: list[ast.expr]) -> Tensor:
        if name in self.compiler.kinds:
            function = self.name(name)
            found = function(*(self.tree(x) for x in arguments)) if callable(function) else None
            if not isinstance(found, Tensor):
                raise Unknown
            return _column(found)
        if name == "Derivative" and len(arguments) == 2:
            return self._derivative(*arguments)
        if name == "raised_T":  # ᵀ of an array, the power T of a number
            base = self.tree(arguments[0])
            return base.T if base.sizes else base ** self._tree_name("T")
        if name in ("Integral", "Expectation") and len(arguments) == 2:
            return self._integral(name, *arguments)
        if name in ("Sum", "Product") and isinstance(arguments[-1], ast.Tuple):
            return self._over(node, name, arguments[0], arguments[1].elts)  # type: ignore[attr-defined]
        if name in ("eye", "ones"):
            size = self._told(arguments)
            if name == "eye":
                return Tensor((size, size), lambda i, j: of_atom(monomials.delta(i, j)))
            return Tensor((size, SINGLE), lambda *_: monomials.UNIT)
        if name in ARRAY_FUNCTIONS and name not in OF_TENSORS:
            words = [x.value for x in arguments if isinstance(x, ast.Constant)]
            if len(arguments) - len(words) != 1:
                raise Unknown
            found = traced(ARRAY_FUNCTIONS[name].value, {}, self.tree(arguments[0]), *words)
            return _number_if_single(found)
        if name == "norm":
            return self._norm(self.tree(arguments[0]), getattr(arguments[1], "value", ""))
        if name not in OF_TENSORS or any(isinstance(x, ast.Tuple) for x in arguments):
            raise Unknown
        found = OF_TENSORS[name](*(self.tree(x) for x in arguments))
        return _number_if_single(found)

    def _norm(self, x: Tensor, which: Any) -> Tensor:
        if not x.sizes:
            return abs(x)
        vector = SINGLE in x.sizes
        if which == "F" or (vector and which == "2"):
            return tensors.euclidean(x)
        if vector and which == "1":
            return tensors.total(abs(x))
        if vector and which == "oo":
            return tensors.largest(abs(x))
        if which == "2":
            return number(tensors.spectral(x))
        raise Unknown

    def _told(self, arguments: list[ast.expr]) -> Index:
        match arguments:
            case []:
                return OPEN
            case [ast.Constant(value=int(value))]:
                return "", value
            case [ast.Name(id=name)] if name in self.sizes:
                return self._size(name)
        raise Unknown

    def _derivative(self, body: ast.expr, by: ast.expr) -> Tensor:
        """In the shape of the variable, or a Jacobian, with a row for each output."""
        index: tuple[Index, ...] = ()
        match by:
            case ast.Name(id=name):
                pass
            case ast.Call(func=ast.Name(id=name), args=[place]):
                index = (self._index(self.tree(place)),)
            case _:
                raise Unknown
        domain = self.domains.get(name)
        kind = self.compiler.kinds.get(name)
        if domain is None or domain.fact or kind is None or name in self.bound or self.moved:
            raise Unknown
        self.moved = {(name, *index)}
        f, x = _flat(self.tree(body)), _flat(self.tree(by))
        self.moved = set()
        if x.sizes and f.sizes and (f.ndim, x.ndim) != (1, 1):
            raise Unknown
        if not index and not x.sizes and domain.assumptions.get("integer"):
            raise Unknown
        count = f.ndim

        def entry(*at: Index) -> Form:
            form = f.entry(*at[:count])
            return calculus.derivative(form, f"${name}", (*index, *at[count:]))

        return _column(Tensor(f.sizes + x.sizes, entry))

    def _integral(self, name: str, body: ast.expr, over: ast.expr) -> Tensor:
        """Over all vectors, or the mean under the normal law."""
        variable = over.elts[0] if isinstance(over, ast.Tuple) and len(over.elts) == 2 else over
        if not isinstance(variable, ast.Name) or variable.id not in self.compiler.kinds:
            raise Unknown
        shape = self.compiler.kinds[variable.id].shape
        end = self._size(actual(shape[0])) if shape else None
        if shape and actual(shape[1]) != 1:
            raise Unknown
        head = f"∫{variable.id}"
        x = Tensor((end,) if end else (), lambda *at: of_atom(Atom(head, at)))
        before, self.bound = self.bound, {**self.bound, variable.id: x}
        form = self.tree(body).form()
        self.bound = before
        if name == "Expectation":
            square = tensors.total(x * x).form()
            count = of_index(end) if end else monomials.UNIT
            mass = calculus.logarithm(of_atom(monomials.PI).scaled(Fraction(2))) * count
            form = form * calculus.exponential((square + mass).scaled(Fraction(-1, 2)))
        return number(calculus.integrated(form, head, end))

    def _over(self, node: ast.Call, kind: str, body: ast.expr, limits: list[ast.expr]) -> Tensor:
        index = limits[0]
        assert isinstance(index, ast.Name)
        if len(limits) == 1:
            size = actual(self.compiler._range_of(node, index.id, body))
            low, length = self.compiler.first, self._size(size)
        else:
            ends = [tensors.as_index(self.tree(x)) for x in limits[1:]]
            low, length = self._length(*ends)
        letter = Letters.fresh(length)
        found = self._at_each(index.id, of_index((letter[0], low - 1)), lambda: self.tree(body))
        if kind == "Product":
            leftwards = self.compiler.leftwards and "in_order" not in vars(node)
            return tensors.chained(found, letter, "←" if leftwards else "→")
        return tensors.each(lambda form: form.summed(letter[0], length), found)

    def _length(self, low: Index, high: Index) -> tuple[int, Index]:
        """Where a sum begins and how many terms it has: at least none, whatever the sizes."""
        if low[0]:
            raise Unknown
        length = (high[0], high[1] - low[1] + 1)
        least = 0
        if length[0]:
            domain = self.domains.get(length[0]) or self.sizes[length[0]]
            least = domain.ends[0] if domain.ends else 0
        if (length[0] and least < 1) or least + length[1] < 0:
            raise Unknown
        return low[1], length

    def _at_each(self, name: str, value: Form, body: Callable[[], Tensor]) -> Tensor:
        before, self.bound = self.bound, {**self.bound, name: number(value)}
        found = body()
        self.bound = before
        return found

    # -- SymPy

    def sympy(self, e: Any) -> Tensor:
        import sympy as sp

        if isinstance(e, sp.Rational):
            return number(monomials.of_number(Fraction(int(e.p), int(e.q))))
        if isinstance(e, sp.Float):
            return tensor(float(e))
        if isinstance(e, sp.MatrixSymbol | sp.Symbol):
            return self._tree_name(str(e.name))
        if e in (sp.E, sp.pi):
            return tensors.exponential(1) if e == sp.E else self._tree_name("pi")
        if isinstance(e, sp.Sum):
            return self._sympy_sum(e)
        if isinstance(e, sp.Derivative | sp.Integral | sp.Limit | sp.Product | sp.Piecewise):
            raise Unknown
        parts = [self.sympy(x) for x in e.args]
        if isinstance(e, sp.Add | sp.MatAdd):
            return _folded(parts, lambda a, b: a + b)
        if isinstance(e, sp.Mul | sp.MatMul):
            return _folded(parts, _product)
        if isinstance(e, sp.Inverse):
            return tensors.inverse(parts[0])
        if isinstance(e, sp.Pow | sp.MatPow):
            return self._raised(*parts)
        if isinstance(e, sp.Transpose):
            return parts[0].T
        name = e.func.__name__
        if isinstance(e, sp.core.function.AppliedUndef):
            return _column(self.name(name)(*parts))
        if name == "norm":
            return self._norm(parts[0], "2")
        if name == "Abs":
            return abs(parts[0])
        if name not in OF_TENSORS:
            raise Unknown
        return _number_if_single(OF_TENSORS[name](*parts))

    def _sympy_sum(self, e: Any) -> Tensor:
        if len(e.limits) != 1:
            raise Unknown
        index, *ends = e.limits[0]
        low, length = self._length(*(tensors.as_index(self.sympy(x)) for x in ends))
        letter = Letters.fresh(length)
        value = of_index((letter[0], low - 1))
        found = self._at_each(str(index.name), value, lambda: self.sympy(e.function))
        return tensors.each(lambda form: form.summed(letter[0], length), found)


MARKS = {
    "symmetric": "≡", "simplex": "%", "orthogonal": "°", "invertible": "*", "contraction": "≤",
}  # fmt: skip


def _entry(name: str, fact: str, sign: int | None, at: tuple[Index, ...]) -> Form:
    """An entry of an array with what is known of it in its name, and $ for a declared one."""
    name = f"${name}"
    if fact == "diagonal":
        return of_atom(monomials.delta(*at)) * of_atom(Atom(f"{name}∖", (min(at),)))
    marks = {
        "symmetric": "≡",
        "simplex": "%",
        "orthogonal": "°",
        "invertible": "*",
        "contraction": "≤",
    }
    return of_atom(Atom(name + marks.get(fact, ""), at, sign=sign))


def _sign(assumptions: Mapping[str, bool]) -> int | None:
    if assumptions.get("positive"):
        return 1
    return 0 if assumptions.get("nonnegative") else None


def _spelled(form: Form) -> str:
    """A form with its free letters named by what they run over."""
    free = sorted(x for x in form.letters if x in Letters.ends)
    return form.moved(
        {x: (f"@{monomials.spelled(Letters.ends[x])}.{k}", 0) for k, x in enumerate(free)}
    ).key


def _column(x: Tensor) -> Tensor:
    if x.ndim != 1:
        return x
    return Tensor((*x.sizes, SINGLE), lambda i, _: x.entry(i))


def _flat(x: Tensor) -> Tensor:
    if x.ndim == 2 and x.sizes[1] == SINGLE:
        return Tensor(x.sizes[:1], lambda i: x.entry(i, SINGLE))
    return x


def _number_if_single(x: Tensor) -> Tensor:
    return number(x.entry(SINGLE, SINGLE)) if x.sizes == (SINGLE, SINGLE) else x


def _product(a: Tensor, b: Tensor) -> Tensor:
    return _number_if_single(a @ b) if a.sizes and b.sizes else a * b


def _folded(parts: list[Tensor], combine: Callable[[Tensor, Tensor], Tensor]) -> Tensor:
    found = parts[0]
    for part in parts[1:]:
        found = combine(found, part)
    return found


def _diagonal(x: Tensor) -> Tensor:
    return tensors.diag(_flat(x)) if x.sizes[1] == SINGLE else _column(tensors.diag(x))


OF_TENSORS: dict[str, Callable[..., Tensor]] = {
    "transpose": lambda x: x.T, "hadamard": lambda a, b: a * b,
    "inner": lambda a, b: tensors.inner(_flat(a), _flat(b)), "diag": _diagonal,
    "power_of_entries": lambda a, b: a**b, "abs": abs,
    "exp": tensors.exponential, "ln": tensors.logarithm, "log": tensors.logarithm,
    "sqrt": tensors.root, "tr": tensors.trace, "Tr": tensors.trace, "trace": tensors.trace,
    **{n: tensors.of_entries(n) for n in ("sin", "cos", "tan", "sinh", "cosh", "tanh")},
}  # fmt: skip
