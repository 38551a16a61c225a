"""Programs with their intermediate names written out: splitting and joining lines changes nothing.

What is read here is compared and never run, so only this matters: who says the same in more or in
fewer steps, with helpers or without, ends at the same text.
"""

from __future__ import annotations

import ast
import copy
from collections import Counter
from collections.abc import Collection, Sequence

LARGEST = 1500  # parts of a tree, beyond which nothing more is put in


def spelled_out(tree: ast.Module, kept: Collection[str]) -> ast.Module:
    """The tree without helpers and without names that are given a value once; some are kept.

    It is the tree itself that is changed.
    """
    if sum(1 for _ in ast.walk(tree)) > LARGEST:
        return tree
    _Blocks().visit(tree)
    _put_in_helpers(tree, kept)
    for scope in [n for n in ast.walk(tree) if isinstance(n, ast.FunctionDef | ast.Module)]:
        _put_in_values(scope, kept)
    return tree


class _Blocks(ast.NodeTransformer):
    """Each statement in one form: `a, b = x, y` as two, `x += y` as a sum, a loop as a list."""

    def visit_Assign(self, node: ast.Assign) -> ast.AST | list[ast.AST]:
        match node:
            case ast.Assign([ast.Tuple(names)], ast.Tuple(values)) if len(names) == len(values):
                pairs = zip(names, values, strict=True)
                return [ast.Assign([name], value, lineno=0) for name, value in pairs]
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        before = copy.deepcopy(node.target)
        before.ctx = ast.Load()
        return ast.Assign([node.target], ast.BinOp(before, node.op, node.value), lineno=0)

    def generic_visit(self, node: ast.AST) -> ast.AST:
        super().generic_visit(node)
        if isinstance(body := getattr(node, "body", None), list):
            node.body = _with_lists(body)  # type: ignore[attr-defined]
        return node


def _with_lists(body: list[ast.stmt]) -> list[ast.stmt]:
    """`a = []` and a loop that appends to it alone, as the list of what it appends."""
    empty: dict[str, ast.Assign] = {}
    for statement in body:
        match statement:
            case ast.Assign([ast.Name(name)], ast.List([])):
                empty[name] = statement
            case ast.For(target, over, [ast.Expr(ast.Call(ast.Attribute(ast.Name(name), "append"),
                         [value], []))], []) if name in empty:  # fmt: skip
                made = ast.ListComp(value, [ast.comprehension(target, over, [], 0)])
                place = body.index(statement)
                body = [*body[:place], ast.Assign([ast.Name(name, ast.Store())], made, lineno=0),
                        *body[place + 1 :]]  # fmt: skip
                body.remove(empty.pop(name))
    return body


def _put_in_helpers(tree: ast.Module, kept: Collection[str]) -> None:
    """A function of one's own that another hands everything to, or that is one expression."""
    for helper in [*tree.body]:
        if not isinstance(helper, ast.FunctionDef) or helper.name in kept:
            continue
        _put_in_values(helper, ())
        steps = [s for s in helper.body if not _is_docstring(s)]
        mine = {id(node) for node in ast.walk(helper)}
        if any(_is_name(n, helper.name) for n in ast.walk(helper)):
            continue
        if len(steps) == 1 and isinstance(steps[0], ast.Return) and steps[0].value:
            _Calls(helper, steps[0].value).visit(tree)
        for other in ast.walk(tree):
            match other:
                case ast.FunctionDef(body=[*before, ast.Return(ast.Call(ast.Name(name)))]) if (
                    name == helper.name and all(map(_is_docstring, before))
                ):
                    other.body = copy.deepcopy(steps)
        if not any(_is_name(n, helper.name) for n in ast.walk(tree) if id(n) not in mine):
            tree.body.remove(helper)


class _Calls(ast.NodeTransformer):
    """Calls of a helper that is one expression, by what they come to."""

    def __init__(self, helper: ast.FunctionDef, value: ast.expr) -> None:
        self.helper, self.value = helper, value
        self.names = [argument.arg for argument in helper.args.args]

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return node if node is self.helper else self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        if not _is_name(node.func, self.helper.name) or len(node.args) != len(self.names):
            return node
        given = dict(zip(self.names, node.args, strict=True))
        return _Values(given).visit(copy.deepcopy(self.value))


class _Values(ast.NodeTransformer):
    """Names by their values."""

    def __init__(self, values: dict[str, ast.expr]) -> None:
        self.values = values

    def visit_Name(self, node: ast.Name) -> ast.AST:
        is_known = node.id in self.values and isinstance(node.ctx, ast.Load)
        return copy.deepcopy(self.values[node.id]) if is_known else node


def _put_in_values(scope: ast.FunctionDef | ast.Module, kept: Collection[str]) -> None:
    """Put in what names stand for that are given a value once, one after the other."""
    if not (assignments := _assignments(scope, kept)):
        return
    nodes = [*ast.walk(scope)]
    stored = (n for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store))
    given = Counter(n.id for n in stored)
    given.update(n.arg for n in nodes if isinstance(n, ast.arg))
    size = len(nodes)
    for holder, assignment, name in assignments:
        if given[name] != 1 or any(_is_name(n, name) for n in ast.walk(assignment.value)):
            continue
        uses = sum(_is_name(n, name) for n in ast.walk(scope)) - 1
        size += uses * sum(1 for _ in ast.walk(assignment.value))
        if size < LARGEST:  # one that is not used at all is left out
            holder.remove(assignment)
            _Values({name: assignment.value}).visit(scope)


def _assignments(
    scope: ast.AST, kept: Collection[str]
) -> Sequence[tuple[list[ast.stmt], ast.Assign, str]]:
    """Statements `name = value` of names that are not kept, with the block that has them."""
    found = []
    for node in ast.walk(scope):
        body = getattr(node, "body", None)
        for statement in body if isinstance(body, list) else ():
            match statement:
                case ast.Assign([ast.Name(name)]) if name not in kept:
                    found.append((body, statement, name))
    return found  # type: ignore[return-value]


def _is_name(node: ast.AST, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


def _is_docstring(statement: ast.stmt) -> bool:
    return isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
