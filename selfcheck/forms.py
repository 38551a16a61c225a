r"""Other ways to write a quantity: an exercise calls it xy, on paper it is `x^\top y`.

The ways are formulas themselves, read by the same grammar and found as parts of a tree, so what
is written `\mathbf{y}^\top\mathbf{x}` or `y^T x` is found too, also among other factors.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from .grammar import parse
from .notation import Vocabulary, canonical

ANY = "any"  # in a form, an index that may be whatever it is
Tree = tuple[list[ast.expr], str]  # the factors of a form, and the name that they stand for


@dataclass(frozen=True, eq=False)
class Forms:
    r"""What stands for which quantity: `Forms({r"x^\top y": "xy"}, {"x": (0, 1), "y": (0, 1)})`.

    `indices` are letters of the forms that take indices: so many as a sequence and as an array.
    """

    ways: Mapping[str, str]
    indices: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    _trees: list[Tree] = field(default_factory=list)

    def parse(self, text: str, words: Vocabulary, many: bool = False) -> tuple[ast.expr, bool]:
        """The tree of a text, with every form as what it stands for, and whether it has one."""
        if not self.ways:
            return parse(text, words, many), False
        letters = {canonical(way) for way in self.ways if _is_a_name(way)} | {*self.indices}
        indices = {**self.indices, **words.indices}
        words = replace(words, symbols=words.symbols | letters, indices=indices)
        if not self._trees:
            own = replace(words, symbols=words.symbols | {ANY})
            found = [(_factors(parse(way, own)), name) for way, name in self.ways.items()]
            self._trees.extend(sorted(found, key=lambda tree: -len(tree[0])))
        replacing = _Replacing(self._trees)
        return replacing.visit(parse(text, words, many)), replacing.found


def _is_a_name(way: str) -> bool:
    r"""h_{t-1} is one, x^\top y is none."""
    return not {*r"^\[( "} & {*way.replace("\\", "", 1)}


class _Replacing(ast.NodeTransformer):
    def __init__(self, trees: list[Tree]) -> None:
        self.trees, self.found = trees, False

    def visit(self, node: ast.AST) -> Any:
        if isinstance(node, ast.expr):
            factors = _factors(node)
            for form, name in self.trees:
                for k in range(len(factors) - len(form) + 1):
                    if all(map(_matches, form, factors[k : k + len(form)])):
                        self.found = True
                        named = ast.copy_location(ast.Name(name, ast.Load()), factors[k])
                        rest = [*factors[:k], named, *factors[k + len(form) :]]
                        return self.visit(_product(rest, node)) if len(rest) > 1 else named
        return self.generic_visit(node)


def _factors(node: ast.expr) -> list[ast.expr]:
    """The factors of a product without brackets of its own."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult | ast.MatMult):
        return [*_factors(node.left), *_factors(node.right)]
    return [node]


def _product(factors: Iterable[ast.expr], like: ast.expr) -> ast.expr:
    first, *others = factors
    for factor in others:
        first = ast.copy_location(ast.BinOp(first, ast.Mult(), factor), like)
    return first


def _matches(form: Any, node: Any) -> bool:
    """Whether two trees are the same, places aside; `any` is whatever stands there."""
    if isinstance(form, ast.Name) and form.id == ANY:
        return True
    if isinstance(form, list):
        return isinstance(node, list) and len(form) == len(node) and all(map(_matches, form, node))
    if not isinstance(form, ast.AST):
        return bool(form == node)
    return type(form) is type(node) and all(
        _matches(getattr(form, name), getattr(node, name)) for name in form._fields
    )
