"""A normal form for lines about matrices, vectors and expectations, which proves ring identities.

A line is a sum of words with scalars before them. A word is a product of letters that do not
commute: names, items of sequences, their transposes and inverses, and what is not looked into. A
part of a word that is a number (xᵀy) becomes a symbol of SymPy; E, sums and traces are linear. Two
lines are equal if their difference has no word left; the scalars go up SymPy's ladder.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from . import ladder
from .clock import load_simplify
from .compiling import Compiler, actual
from .domains import Domain
from .singularities import never_zero

MOST_WORDS = 200
UNFOLDED = 6  # times a sequence is replaced by its definition


class Letter(NamedTuple):
    """A matrix or a vector that is not looked into, perhaps transposed or inverted."""

    name: str
    shape: tuple[Any, Any]
    turned: bool = False
    inverse: bool = False
    random: bool = False
    letters: str = ""  # those of its index, for sums over them

    @property
    def rows(self) -> Any:
        return actual(self.shape[1 if self.turned else 0])

    @property
    def columns(self) -> Any:
        return actual(self.shape[0 if self.turned else 1])


Word = tuple[Letter, ...]
Normal = dict[Word, Any]


class Unknown(Exception):
    """There is no normal form."""


def rung_of(one: Any, two: Any, ring: Ring) -> str | None:
    """The rung on which two trees are proved to be equal; None if there is none."""
    try:
        if ring.has_new_hole(one, two):
            return None
    except Unknown:
        return None
    difference = ast.BinOp(one, ast.Sub(), two)
    for count in range(UNFOLDED + 1):
        try:
            found = ring.normal(difference)
        except Unknown:
            return None
        rungs = [ring.vanishes(c) for c in found.values()]
        if None not in rungs:
            named = next((r for r in rungs if r), "")
            used = "the definitions" if count else ""
            return ", ".join(filter(None, ["sums of products", used, named]))
        if not ring.unfold():
            return None
    return None


class Ring:
    """Makes normal forms; knows what the names are."""

    def __init__(
        self,
        compiler: Compiler,
        symbols: Mapping[str, Any],
        domains: Mapping[Any, Domain],
        rules: Mapping[str, tuple[str, ast.expr]],
    ) -> None:
        self.compiler, self.symbols, self.domains, self.rules = compiler, symbols, domains, rules
        self.bound: dict[str, Any] = {}
        self.random: set[Any] = set()  # scalars that are random
        self.met: dict[tuple[str, Any], None] = {}  # items that have a definition
        self.unfolded: set[tuple[str, Any]] = set()
        self.divisors: set[Any] = set()

    def has_new_hole(self, one: Any, two: Any) -> bool:
        """Whether the second line divides by something that may be 0 and the first does not."""
        self.normal(one)
        known, self.divisors = self.divisors, set()
        self.normal(two)
        return not all(never_zero(f, self.domains) for f in self.divisors - known if f.free_symbols)

    def vanishes(self, coefficient: Any) -> str | None:
        """ "" if a scalar is plainly 0, the rung on which it is, None if that is not seen."""
        import sympy as sp

        if sp.expand(coefficient) == 0:
            return ""
        if ladder.is_far_from_zero(coefficient):
            return None
        load_simplify()
        if sp.simplify(coefficient) == 0:
            return ""
        return ladder.rung_of(coefficient, sp.S.Zero, self.domains)

    def unfold(self) -> bool:
        """One more item, the latest, is replaced by its definition; False if there is none."""
        waiting = [key for key in self.met if key not in self.unfolded and self._has_rule(key)]
        if not waiting:
            return False
        self.unfolded.add(max(waiting, key=lambda key: str(key[1].as_coeff_Add()[0]).zfill(9)
                              if key[1].as_coeff_Add()[0] >= 0 else ""))  # fmt: skip
        return True

    def _has_rule(self, key: tuple[str, Any]) -> bool:
        """Whether the definition holds at this index: it is surely beyond the first item."""
        name, index = key
        low = index
        for symbol in index.free_symbols:
            ends = self.domains[symbol].ends if symbol in self.domains else None
            if not ends or ends[0] is None or index.coeff(symbol) < 0:
                return False
            low = low.subs(symbol, ends[0])
        return bool(name in self.rules and low >= 1)

    # -- normal forms

    def normal(self, node: Any) -> Normal:
        import sympy as sp

        match node:
            case ast.Constant(value=int(number)):
                return {(): sp.Integer(number)}
            case ast.Constant(value=float(number)):
                return {(): sp.Rational(str(number))}
            case ast.Name(id=name):
                return self._name(node, name)
            case ast.UnaryOp(op=ast.USub(), operand=x):
                return _times({(): sp.S.NegativeOne}, self.normal(x), self)
            case ast.UnaryOp(op=ast.UAdd(), operand=x):
                return self.normal(x)
            case ast.BinOp(left=x, op=ast.Add(), right=y):
                return _plus(self.normal(x), self.normal(y))
            case ast.BinOp(left=x, op=ast.Sub(), right=y):
                minus = _times({(): sp.S.NegativeOne}, self.normal(y), self)
                return _plus(self.normal(x), minus)
            case ast.BinOp(left=x, op=ast.Mult() | ast.MatMult(), right=y):
                return _times(self.normal(x), self.normal(y), self)
            case ast.BinOp(left=x, op=ast.Div(), right=y):
                divisor = self.scalar(y)
                self.divisors.add(divisor)
                return _times({(): 1 / divisor}, self.normal(x), self)
            case ast.BinOp(left=x, op=ast.Pow(), right=y):
                return self._power(node, x, y)
            case ast.Call(func=ast.Name(id=name), args=arguments):
                return self._call(node, name, arguments)
        return self._opaque(node)

    def scalar(self, node: ast.expr) -> Any:
        """The normal form of a number; Unknown if it is none."""
        import sympy as sp

        found = self.normal(node)
        if any(found) and self.compiler.part(node).shape is not None:
            raise Unknown
        return sp.Add(*found.values())

    def _name(self, node: ast.Name, name: str) -> Normal:
        import sympy as sp

        if name in self.bound:
            return {(): self.bound[name]}
        kind = self.compiler.kinds.get(name)
        if kind is None:
            constants = {"pi": sp.pi, "e": sp.E, "E": sp.E}
            if name not in constants:
                raise Unknown
            return {(): constants[name]}
        if name in self.rules and self.rules[name][0] == "":
            return self.normal(self.rules[name][1])
        if kind.function or (kind.sequence and not kind.same_law):
            raise Unknown
        if kind.shape is None:
            symbol = self.symbols.get(name, sp.Symbol(name, real=True))
            if kind.random or kind.sequence:
                symbol = sp.Symbol(f"{name}_", real=True)
                self.random.add(symbol)
            return {(): symbol}
        return {(Letter(name, kind.shape, random=kind.random),): sp.S.One}

    def _power(self, node: ast.expr, x: ast.expr, y: ast.expr) -> Normal:
        base, exponent = self.normal(x), self.scalar(y)
        if not any(base):
            number = base.get((), 0)
            if not exponent.is_nonnegative:
                self.divisors.add(number)
            return {(): number**exponent}
        if exponent.is_Integer and 0 < exponent < 6:
            found = base
            for _ in range(int(exponent) - 1):
                found = _times(found, base, self)
            return found
        if exponent == -1 and len(base) == 1:
            ((word, factor),) = base.items()
            square = all(letter.rows == letter.columns for letter in word)
            if square:
                return {
                    tuple(x._replace(inverse=not x.inverse) for x in reversed(word)): 1 / factor
                }
        return self._opaque(node)

    def _call(self, node: ast.Call, name: str, arguments: list[ast.expr]) -> Normal:
        import sympy as sp

        if name in self.compiler.kinds:
            return self._item(node, name, arguments)
        if name == "transpose":
            inner = self.normal(arguments[0])
            return {_turned(word): factor for word, factor in inner.items()}
        if name == "eye":
            return {(): sp.S.One}
        if name == "inner":
            left = {_turned(w): c for w, c in self.normal(arguments[0]).items()}
            return _times(left, self.normal(arguments[1]), self)
        if name == "norm" and getattr(arguments[1], "value", "") == "2":
            shape = self.compiler.part(arguments[0]).shape
            if shape is not None and actual(shape[1]) == 1:
                inner = self.normal(arguments[0])
                left = {_turned(word): factor for word, factor in inner.items()}
                return {(): sp.sqrt(_times(left, inner, self).get((), 0))}
        if name == "Expectation" and len(arguments) == 1:
            return self._expectation(self.normal(arguments[0]))
        if name in ("tr", "Tr", "trace"):
            return self._trace(self.normal(arguments[0]))
        if name == "Sum":
            return self._sum(node, arguments)
        if name in ("exp", "ln", "log", "sqrt", "tanh", "sin", "cos", "abs"):
            shape = self.compiler.part(arguments[0]).shape
            if shape is None and len(arguments) == 1:
                function = {"ln": sp.log, "abs": sp.Abs}.get(name) or getattr(sp, name)
                return {(): function(sp.expand(self.scalar(arguments[0])))}
        return self._opaque(node)

    def _item(self, node: ast.Call, name: str, arguments: list[ast.expr]) -> Normal:
        import sympy as sp

        kind = self.compiler.kinds[name]
        if not kind.sequence:
            return self._opaque(node)
        index = sp.expand(self.scalar(arguments[0]))
        key = (name, index)
        if key in self.unfolded:
            letter, rule = self.rules[name]
            before, self.bound = self.bound, {**self.bound, letter: index}
            found = self.normal(rule)
            self.bound = before
            return found
        if name in self.rules and self.rules[name][0] and not index.free_symbols & self._indices():
            self.met[key] = None
        if kind.shape is None:
            found = sp.Function(name, real=True)(index)
            if kind.random:
                self.random.add(found)
            return {(): found}
        free = " ".join(sorted(s.name for s in index.free_symbols))
        item = Letter(f"{name}_{index}", kind.shape, random=kind.random, letters=free)
        return {(item,): sp.S.One}

    def _indices(self) -> set[Any]:
        """The indices of the sums around."""
        return {s for v in self.bound.values() for s in v.free_symbols if s.name.startswith("k_")}

    def _opaque(self, node: ast.expr) -> Normal:
        """What is not looked into: the same words, with equal arguments, are the same thing."""
        import sympy as sp

        name = self._key(node)
        shape = self.compiler.part(node).shape
        names = {n.id for n in ast.walk(node) if isinstance(n, ast.Name)}
        kinds = [self.compiler.kinds[n] for n in names if n in self.compiler.kinds]
        random = any(k.random and not k.function for k in kinds)
        if self.bound.keys() & names and self._indices():
            raise Unknown
        if shape is None:
            symbol = sp.Symbol(name, real=True)
            if random:
                self.random.add(symbol)
            return {(): symbol}
        return {(Letter(name, shape, random=random),): sp.S.One}

    def _key(self, node: ast.expr) -> str:
        """A name for an opaque part: its function, and its arguments in normal form."""
        if isinstance(node, ast.Call) and node.args:
            arguments = [
                str(x.value) if isinstance(x, ast.Constant) else key_of(self.normal(x))
                for x in node.args
                if not isinstance(x, ast.Tuple)
            ]
            if len(arguments) == len(node.args) and ast.unparse(node.func) != "Derivative":
                return f"{ast.unparse(node.func)}({'; '.join(arguments)})"
        if self.bound:
            raise Unknown
        return ast.unparse(node)

    # -- linear operations

    def _expectation(self, inner: Normal) -> Normal:
        """Linear; what is not random stands before it or behind it."""
        import sympy as sp

        found: Normal = {}
        for word, coefficient in inner.items():
            for part in sp.Add.make_args(sp.expand(coefficient)):
                outside, random = part.as_independent(*self.random, as_Add=False)
                left, middle, right = _around(word, lambda letter: letter.random)
                if middle:
                    shape = (middle[0].rows, middle[-1].columns)
                    name = f"E[{random} {key_of({middle: 1})}]"
                    found = _plus(found, {(*left, Letter(name, shape), *right): outside})
                elif random == 1:
                    found = _plus(found, {word: outside})
                else:
                    mean = sp.Symbol(f"E[{random}]", real=True)
                    found = _plus(found, {word: outside * mean})
        return found

    def _trace(self, inner: Normal) -> Normal:
        import sympy as sp

        total = sp.S.Zero
        for word, coefficient in inner.items():
            if not word:
                raise Unknown
            turns = [w[k:] + w[:k] for w in (word, _turned(word)) for k in range(len(w))]
            if any(letter.rows == 1 for letter in word):  # tr(u vᵀ) = vᵀu
                start = next(k for k, letter in enumerate(word) if letter.rows == 1)
                total += _times({word[start:]: coefficient}, {word[:start]: 1}, self).get((), 0)
            else:
                total += coefficient * sp.Symbol(f"tr[{min(map(_spelled, turns))}]", real=True)
        return {(): total}

    def _sum(self, node: ast.Call, arguments: list[ast.expr]) -> Normal:
        import sympy as sp

        limits = arguments[1]
        if not isinstance(limits, ast.Tuple) or len(limits.elts) != 3:
            return self._opaque(node)
        index, low, high = limits.elts
        assert isinstance(index, ast.Name)
        ends = [self.scalar(x) for x in (low, high)]
        k = sp.Symbol(f"k_{len(self._indices())}", integer=True)
        before, self.bound = self.bound, {**self.bound, index.id: k}
        inner = self.normal(arguments[0])
        self.bound = before
        found: Normal = {}
        for word, coefficient in inner.items():
            for part in sp.Add.make_args(sp.expand(sp.expand_power_exp(sp.expand(coefficient)))):
                outside, inside = sp.expand_power_exp(part).as_independent(k, as_Add=False)
                left, middle, right = _around(word, lambda x: k.name in x.letters.split())
                if not middle:
                    total = sp.Sum(inside, (k, *ends))
                    found = _plus(found, {word: outside * total})
                    continue
                shape = (middle[0].rows, middle[-1].columns)
                random = any(letter.random for letter in middle)
                name = f"Σ[{inside} {key_of({middle: 1})}; {ends}]"
                letter = Letter(name, shape, random=random)
                found = _plus(found, {(*left, letter, *right): outside})
        return found


# -- words ----------------------------------------------------------------------------------------


def _plus(a: Normal, b: Normal) -> Normal:
    found = dict(a)
    for word, factor in b.items():
        found[word] = found.get(word, 0) + factor
        if found[word] == 0:
            del found[word]
    if len(found) > MOST_WORDS:
        raise Unknown
    return found


def _times(a: Normal, b: Normal, ring: Ring) -> Normal:
    found: Normal = {}
    for one, x in a.items():
        for two, y in b.items():
            word, scalar = _tidied((*one, *two), ring)
            found = _plus(found, {word: x * y * scalar})
    return found


def _tidied(word: Word, ring: Ring) -> tuple[Word, Any]:
    """The word without inverses beside what they invert, and without parts that are numbers."""
    import sympy as sp

    letters: list[Letter] = []
    for letter in word:
        if letters and letters[-1]._replace(inverse=not letters[-1].inverse) == letter:
            letters.pop()
        else:
            letters.append(letter)
    pieces: list[list[Letter]] = [[]]
    for letter in letters:
        if pieces[-1] and pieces[-1][-1].columns == 1 and letter.rows == 1:
            pieces.append([])
        pieces[-1].append(letter)
    rest: list[Letter] = []
    scalar = sp.S.One
    for piece in pieces:
        if piece and piece[0].rows == 1 and piece[-1].columns == 1:
            scalar *= _number(tuple(piece), ring)
        else:
            rest += piece
    return tuple(rest), scalar


def _number(word: Word, ring: Ring) -> Any:
    """xᵀAy as a symbol; it is its own transpose."""
    import sympy as sp

    plain = min(_spelled(word), _spelled(_turned(word)))
    square = len(word) == 2 and word[0] == _turned((word[1],))[0]
    symbol = sp.Symbol(plain, **({"nonnegative": True} if square else {"real": True}))
    if any(letter.letters for letter in word) and ring._indices():
        raise Unknown  # a number that depends on the index of a sum
    if any(letter.random for letter in word):
        ring.random.add(symbol)
    return symbol


def _turned(word: Word) -> Word:
    return tuple(letter._replace(turned=not letter.turned) for letter in reversed(word))


def _spelled(word: Word) -> str:
    marks = ((x.name, "ᵀ" * x.turned, "⁻¹" * x.inverse) for x in word)
    return "·".join("".join(mark) for mark in marks)


def key_of(found: Normal) -> str:
    """A normal form as text, the same for the same form."""
    import sympy as sp

    return " + ".join(sorted(f"{sp.expand(c)}·{_spelled(word)}" for word, c in found.items()))


def _around(word: Word, inside: Callable[[Letter], bool]) -> tuple[Word, Word, Word]:
    """The word cut into what stands before, between and behind the letters of a kind."""
    places = [k for k, letter in enumerate(word) if inside(letter)]
    if not places:
        return word, (), ()
    return word[: places[0]], word[places[0] : places[-1] + 1], word[places[-1] + 1 :]
