"""Dots: g_1 + g_2 + … + g_t as a sum, found from the terms before the dots and the last one.

What changes from term to term has to be an index or an exponent that is linear in its letters, with
a step that is a number; all places that change must agree on how many terms there are.
"""

from __future__ import annotations

import ast
from fractions import Fraction
from typing import Any, NamedTuple

from .notation import FormulaError

Linear = dict[str, Fraction]  # the coefficient of each letter, and of "" the constant


class Hole(NamedTuple):
    """What changes from term to term: its first value, its step, its last value."""

    first: Linear
    step: Fraction
    last: Linear

    def steps(self) -> Linear:
        """How many steps there are from the first to the last."""
        found = {k: v / self.step for k, v in _minus(self.last, self.first).items() if v}
        if any(v.denominator != 1 for v in found.values()):
            raise FormulaError("the last term does not fit the terms before the dots")
        return found


def pattern_of(terms: list[Any], last: ast.expr, kind: str, index: str) -> ast.Call:
    """The sum or product of all terms from the first to the last, with this letter as its index.

    Where the second of them is None, as in a row a_1, …, a_n of a matrix, steps are 1 or −1.

    A third of the `terms` is one among the dots, such as the g_i of g_1 + g_2 + g_i + … + g_t.
    """
    holes: list[Hole] = []
    try:
        pattern = _unified(terms[0], terms[1], last, holes)
    except FormulaError:
        if terms[1] is None:
            raise
        holes.clear()
        padded = _padded([terms[0], terms[1], last])
        pattern = _unified(padded[0], padded[1], padded[2], holes)
        terms = [*padded[:2], *terms[2:]]
    if not holes or any(hole.steps() != holes[0].steps() for hole in holes):
        raise FormulaError("the terms before the dots and the last one do not agree on a pattern")
    for among in terms[2:]:
        _refuse_if_no_member(pattern, among, holes)
    leading = next((h for h in holes if h.step == 1), Hole({}, Fraction(1), holes[0].steps()))
    filled = _filled(pattern, holes, leading, index)
    limits = [ast.Name(index, ast.Load()), _tree(leading.first), _tree(leading.last)]
    return ast.Call(ast.Name(kind, ast.Load()), [filled, ast.Tuple(limits, ast.Load())], [])


def _unified(a: Any, b: Any, c: Any, holes: list[Hole]) -> Any:
    """The tree that the three have in common, with a hole in place of what changes."""
    if _same(a, c) and (b is None or _same(b, c)):
        return a
    forms = [_linear(x) if isinstance(x, ast.expr) else None for x in (a, b, c)]
    if b is None and forms[0] is not None and forms[2] is not None:
        forms[1] = _minus(forms[0], {"": -_direction(_minus(forms[2], forms[0]))})
    if None not in forms:
        first, second, last = forms
        steps = {k: v for k, v in _minus(second, first).items() if v}  # type: ignore[arg-type]
        if set(steps) != {""}:
            raise FormulaError("the two terms before the dots do not differ by a fixed step")
        holes.append(Hole(first, steps[""], last))  # type: ignore[arg-type]
        return ast.Constant(("hole", len(holes) - 1))  # type: ignore[arg-type]
    if isinstance(a, list) and isinstance(c, list) and isinstance(b, list | None):
        b = [None] * len(a) if b is None else b
        if len(a) == len(b) == len(c):
            return [_unified(x, y, z, holes) for x, y, z in zip(a, b, c, strict=True)]
    elif type(a) is type(c) and type(b) in (type(a), type(None)) and isinstance(a, ast.AST):
        fields = {f: [getattr(x, f, None) for x in (a, b, c)] for f in a._fields}
        return type(a)(**{f: _unified(x, y, z, holes) for f, (x, y, z) in fields.items()})
    raise FormulaError("the terms around the dots have different forms")


def _direction(way: Linear) -> Fraction:
    """1 where an index goes up from its first value to its last, as 1 to n, and −1 where down."""
    signs = {v > 0 for k, v in way.items() if v and (k or set(way) == {""})}
    if len(signs) != 1:
        raise FormulaError("it is not clear how many terms the dots stand for")
    return Fraction(1 if signs.pop() else -1)


def _same(a: Any, b: Any) -> bool:
    if isinstance(a, ast.AST) and isinstance(b, ast.AST):
        return ast.dump(a) == ast.dump(b)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(_same, a, b))
    return type(a) is type(b) and bool(a == b)


def _linear(node: ast.expr) -> Linear | None:
    """A linear form in letters with numbers as coefficients; None if it is none."""
    match node:
        case ast.Constant(value=int(number)) if not isinstance(node.value, bool):
            return {"": Fraction(number)}
        case ast.Name(id=name):
            return {name: Fraction(1)}
        case ast.UnaryOp(op=ast.USub(), operand=x):
            inner = _linear(x)
            return None if inner is None else {k: -v for k, v in inner.items()}
        case ast.BinOp(left=x, op=ast.Add() | ast.Sub() | ast.Mult() as op, right=y):
            left, right = _linear(x), _linear(y)
            if left is None or right is None:
                return None
            if isinstance(op, ast.Mult):
                if set(right) <= {""}:
                    left, right = right, left
                factor = left.get("", Fraction(0))
                return {k: factor * v for k, v in right.items()} if set(left) <= {""} else None
            return _minus(left, right if isinstance(op, ast.Sub) else _minus({}, right))
    return None


def _minus(a: Linear, b: Linear) -> Linear:
    return {k: a.get(k, Fraction(0)) - b.get(k, Fraction(0)) for k in {**a, **b}}


def _tree(form: Linear) -> ast.expr:
    """The linear form as a tree, letters before the number."""
    found: ast.expr | None = None
    for name, factor in sorted(form.items(), key=lambda pair: (pair[0] == "", -pair[1])):
        if not factor:
            continue
        number: ast.expr = ast.Constant(int(abs(factor)))
        part = number if not name else ast.Name(name, ast.Load())
        if name and abs(factor) != 1:
            part = ast.BinOp(number, ast.Mult(), part)
        if found is None:
            found = part if factor > 0 else ast.UnaryOp(ast.USub(), part)
        else:
            found = ast.BinOp(found, ast.Add() if factor > 0 else ast.Sub(), part)
    return found or ast.Constant(0)


def _filled(pattern: Any, holes: list[Hole], leading: Hole, index: str) -> Any:
    """The pattern with the index in its holes."""
    if isinstance(pattern, list):
        return [_filled(x, holes, leading, index) for x in pattern]
    if isinstance(pattern, ast.Constant) and isinstance(pattern.value, tuple):
        hole = holes[pattern.value[1]]
        moved = _minus({index: Fraction(1)}, leading.first)  # how many steps there are to it
        stepped = {k: hole.step * v for k, v in moved.items()}
        return _tree(_minus(hole.first, _minus({}, stepped)))
    if isinstance(pattern, ast.AST):
        return type(pattern)(
            **{f: _filled(getattr(pattern, f), holes, leading, index) for f in pattern._fields}
        )
    return pattern


def _refuse_if_no_member(pattern: Any, term: ast.expr, holes: list[Hole]) -> None:
    """A term among the dots must be what the pattern comes to at some place."""
    places: list[Linear] = []

    def compare(p: Any, t: Any) -> bool:
        if isinstance(p, ast.Constant) and isinstance(p.value, tuple):
            hole, form = holes[p.value[1]], _linear(t) if isinstance(t, ast.expr) else None
            if form is None:
                return False
            places.append({k: v for k, v in hole._replace(last=form).steps().items() if v})
            return True
        if isinstance(p, list):
            return isinstance(t, list) and len(p) == len(t) and all(map(compare, p, t))
        if isinstance(p, ast.AST):
            return type(p) is type(t) and all(
                compare(getattr(p, f), getattr(t, f)) for f in p._fields
            )
        return bool(p == t)

    fits = compare(pattern, term) and all(place == places[0] for place in places)
    if not fits or places[0].keys() <= {""}:  # 1 + 2 + 4 + … skips numbers, g_1 + g_2 + g_i not
        raise FormulaError("a term before the dots does not fit the others")


def _padded(terms: list[ast.expr]) -> list[ast.expr]:
    """α as α^1 and nothing as α^0, so that g_t + α g_{t-1} + … + α^{t-1} g_1 has one form."""
    split = [_factors(term) for term in terms]
    longest = max(split, key=lambda f: (len(f), sum(map(_is_power, f))))
    found = []
    for factors in split:
        rest = list(factors)
        new: list[ast.expr] = []
        for like in longest:
            if isinstance(like, ast.BinOp) and _is_power(like):
                power = rest[0] if rest else None
                same = isinstance(power, ast.BinOp) and _is_power(power)
                if not (same and _same(power.left, like.left)):  # type: ignore[union-attr]
                    exponent = 1 if rest and _same(rest[0], like.left) else 0
                    if exponent or len(rest) < len(longest):
                        rest = rest[exponent:]
                        new.append(ast.BinOp(like.left, ast.Pow(), ast.Constant(exponent)))
                        continue
            if rest:
                new.append(rest.pop(0))
        first, *others = [*new, *rest] or [ast.Constant(1)]
        node = first
        for factor in others:
            node = ast.BinOp(node, ast.Mult(), factor)
        found.append(node)
    return found


def _is_power(node: ast.expr) -> bool:
    return isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow)


def _factors(node: ast.expr) -> list[ast.expr]:
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
        return [*_factors(node.left), *_factors(node.right)]
    return [] if isinstance(node, ast.Constant) and node.value == 1 else [node]
