r"""Other ways to write a quantity: an exercise calls it xy, on paper it is `x^\top y`.

The ways are formulas themselves, read by the same grammar and found as parts of a tree, so what
is written `\mathbf{y}^\top\mathbf{x}` or `y^T x` is found too, also among other factors.
"""

from __future__ import annotations

import ast
import copy
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

from .grammar import parse
from .notation import LETTERS, Vocabulary, canonical

ANY = "any"  # with its number, the #1 of a form: whatever stands there
Tree = tuple[list[ast.expr], ast.expr]  # the factors of a form, and what they stand for


@dataclass(frozen=True, eq=False)
class Forms:
    r"""What stands for which quantity: `Forms({r"x^\top y": "xy"}, {"x": (0, 1), "y": (0, 1)})`.

    #1 and #2 are whatever stands there: `Forms({r"\mathbb{E}[g_{#1}]": "mu"}, {"g": (1, 0)})`.
    `indices` are letters of the forms that take indices: so many as a sequence and as an array.
    """

    ways: Mapping[str, str]
    indices: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    _trees: list[Tree] = field(default_factory=list)

    @cached_property
    def _all(self) -> dict[str, str]:
        """The ways as they are declared, and with the letters themselves."""
        return {**self.ways, **{in_letters(way): meant for way, meant in self.ways.items()}}

    def parse(self, text: str, words: Vocabulary, many: bool = False) -> tuple[ast.expr, bool]:
        """The tree of a text, with every form as what it stands for, and whether it has one."""
        if not self.ways:
            return parse(text, words, many), False
        letters = {canonical(way) for way in self._all if _is_a_name(way)} | {*self.indices}
        indices = {**self.indices, **words.indices}
        words = replace(words, symbols=words.symbols | letters, indices=indices)
        if not self._trees:
            own = replace(words, symbols=words.symbols | {f"{ANY}{k}" for k in range(1, 10)})
            for pair in self._all.items():
                form, meant = (parse(text.replace("#", ANY), own) for text in pair)
                self._trees.append((_factors(form), meant))
            self._trees.sort(key=lambda tree: -len(tree[0]))
        replacing = _Replacing(self._trees)
        return replacing.visit(parse(text, words, many)), replacing.found


def in_letters(way: str) -> str:
    r"""\Delta\theta_{t-1} with the letters themselves, Δθ_{t-1}, as other programs copy it."""
    if not re.match(r"(\\[A-Za-z]+){2}", way):
        return way
    return re.sub(r"\\([A-Za-z]+)", lambda name: LETTERS.get(name[1], name[0]), way)


def _is_a_name(way: str) -> bool:
    r"""h_{t-1} is one, x^\top y is none."""
    return not {*r"^\[( "} & {*way.replace("\\", "", 1)}


class _Replacing(ast.NodeTransformer):
    def __init__(self, trees: list[Tree]) -> None:
        self.trees, self.found = trees, False

    def visit(self, node: ast.AST) -> Any:
        if isinstance(node, ast.expr):
            factors = _factors(node)
            for form, meant in self.trees:
                for k in range(len(factors) - len(form) + 1):
                    held: dict[str, ast.expr] = {}
                    if _matches(form, factors[k : k + len(form)], held):
                        self.found = True
                        named = _Filling(held).visit(copy.deepcopy(meant))
                        for part in ast.walk(named):
                            ast.copy_location(part, factors[k])
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


class _Filling(ast.NodeTransformer):
    def __init__(self, held: Mapping[str, ast.expr]) -> None:
        self.held = held

    def visit_Name(self, node: ast.Name) -> ast.expr:
        return self.held.get(node.id, node)


def _matches(form: Any, node: Any, held: dict[str, ast.expr]) -> bool:
    """Whether two trees are the same, places aside; `held` is what stands at #1 and #2."""
    if isinstance(form, ast.Name) and form.id.startswith(ANY) and form.id[len(ANY) :].isdigit():
        before = held.setdefault(form.id, node)
        return before is node or ast.dump(before) == ast.dump(node)
    if isinstance(form, list):
        alike = isinstance(node, list) and len(form) == len(node)
        return alike and all(_matches(f, n, held) for f, n in zip(form, node, strict=True))
    if not isinstance(form, ast.AST):
        return bool(form == node)
    return type(form) is type(node) and all(
        _matches(getattr(form, name), getattr(node, name), held) for name in form._fields
    )
