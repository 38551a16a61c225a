"""A derivation as an answer: it starts where it was told to, and gets there by steps.

How it is judged, in every unit alike. All lines have to be true. The exercise names its *steps*:
what has to be seen on the way, in whatever form, before the goal is first reached. Each step that
is taken earns its share, and the goal earns the rest; but a jump from the start to the goal, with
no step between, is no derivation and earns nothing. Steps that were taken before the first false
line keep their share.

A step is recognized by what a line says, never by its looks: by its value when a part of it is
changed (`changes_with`), or by a sum that it contains, in whatever order (`contains_sum`).
"""

from __future__ import annotations

import ast
import copy
import functools
import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from .compare import close
from .formula import ReadFormula, names_in
from .verdicts import Verdict, partly, refuted, right, wrong


def once(judge: Callable[..., Any]) -> Callable[..., Any]:
    """A report on the lines of an answer is computed once, however often a check asks for it."""
    known: list[tuple[Any, ...]] = []

    def report(lines: list[Any], *how: Any) -> Any:
        for same, options, found in known:
            if same is lines and options == how:
                return found
        found = judge(lines, *how)
        known[:] = [*known[-3:], (lines, how, found)]
        return found

    return report


class Step(NamedTuple):
    """What has to be seen on the way: how a sentence asks for it, and how it is recognized."""

    asked: Callable[[list[Any]], str]  # what a sentence says of lines without it
    taken: Callable[[list[Any]], bool]  # by the lines up to where the goal is first reached


def some_line(has: Callable[[Any], bool], asked: str) -> Step:
    """The step that one of the lines is of this kind."""
    return Step(lambda _: asked, lambda lines: any(has(line) for line in lines))


class Way(NamedTuple):
    """From the start to the goal: the steps between them, and what the goal looks like."""

    steps: tuple[Step, ...]
    goal: Callable[[Any], bool]
    not_there: str  # a sentence about a last line that is not the goal

    def follow(self, lines: list[Any]) -> tuple[int, str]:
        """Of 1 + len(steps) parts, those earned by true lines, and what is missing in words."""
        reached = next((k for k, line in enumerate(lines) if self.goal(line)), None)
        walked = lines if reached is None else lines[: reached + 1]
        missing = [step for step in self.steps if not step.taken(walked)]
        taken = len(self.steps) - len(missing)
        if reached != len(lines) - 1 and not self.goal(lines[-1]):
            return taken, f"Every line is true, but {self.not_there}"
        if not missing:
            return 1 + taken, ""
        asked = " and ".join(step.asked(walked) for step in missing)
        jump = "this is a jump: " if not taken else ""
        return taken + bool(taken), f"Every line is true, but {jump}{asked}."


def judge_steps(report: Any, lines: list[Any], way: Way, points: int, says: str) -> Verdict:
    """The verdict on a derivation; `says` praises one that is complete."""
    if not report.holds:
        return _keeping_steps(refuted(report), lines, way, points)
    earned, missing = way.follow(lines)
    if not missing:
        return right(f"{report.sentence} {says}")
    share = points * earned // (1 + len(way.steps))
    return partly(share, missing) if share else wrong(missing)


def _keeping_steps(verdict: Verdict, lines: list[Any], way: Way, points: int) -> Verdict:
    """The refutation of a line, with the share of the steps that were taken before it."""
    before = lines[: verdict.line or 0]
    taken = sum(step.taken(before) for step in way.steps) if before else 0
    share = points * taken // (1 + len(way.steps))
    return replace(verdict, earned=share) if share else verdict


# -- what a line says ------------------------------------------------------------------------------

At = Mapping[str, float]


def changes_with(
    line: ReadFormula, is_part: Callable[[ast.AST], bool], at: At, times: float = 2.0
) -> bool:
    """Does a line get another value if all such parts of it are so many times as large?"""
    return abs(change(line, is_part, at, times)) > 1e-9


def change(
    line: ReadFormula, is_part: Callable[[ast.AST], bool], at: At, times: float = 2.0
) -> float:
    """What is added to the value of a line if all such parts of it are so many times as large."""

    class Larger(ast.NodeTransformer):
        def visit(self, node: ast.AST) -> Any:
            if is_part(node):
                return ast.BinOp(ast.Constant(times), ast.Mult(), node)  # type: ignore[arg-type]
            return self.generic_visit(node)

    tree = _Cut().visit(copy.deepcopy(line.tree))
    before = replace(line, tree=tree).at(**at)
    return replace(line, tree=Larger().visit(tree)).at(**at) - before


class _Cut(ast.NodeTransformer):
    """An endless sum has so many terms that those left out do not matter."""

    def visit_Name(self, node: ast.Name) -> Any:
        return ast.Constant(500) if node.id == "oo" else node


def value_of(node: ast.AST, like: ReadFormula, at: At) -> float:
    """The value of a part of a line; nan if it has none by itself."""
    try:
        return replace(like, tree=node).at(**at)  # type: ignore[arg-type]
    except Exception:  # a name that only a sum around it binds
        return float("nan")


def contains_sum(line: ReadFormula, target: ReadFormula, places: Sequence[At]) -> bool:
    """Is there a sum in a line of which some terms make a multiple of the target?

    What is added and taken away again is not there: with another target the line has another value.
    """
    wanted = np.array([target.at(**at) for at in places])
    found = False

    class Larger(ast.NodeTransformer):
        def visit(self, node: ast.AST) -> Any:
            nonlocal found
            terms = _terms(node)
            if len(terms) == 1:
                return self.generic_visit(node)
            values = [[value_of(t, line, at) * sign for at in places] for sign, t in terms]
            multiples = _multiples(np.array(values), wanted)
            found = found or bool(multiples)
            more = ast.Constant(ELSEWHERE * sum(multiples))
            inner = [ast.BinOp(_signed(s), ast.Mult(), self.visit(t)) for s, t in terms]
            return functools.reduce(lambda x, y: ast.BinOp(x, ast.Add(), y), [more, *inner])

    other = replace(line, tree=Larger().visit(copy.deepcopy(line.tree)))
    at = dict.fromkeys(names_in(line.tree), ELSEWHERE) | dict(places[0])
    return found and not close(line.at(**at), other.at(**at))


def _multiples(values: np.ndarray, wanted: np.ndarray) -> list[float]:
    """How many times the wanted values some rows make, then some of the others, and so on."""
    if not 2 <= len(values) <= MOST_TERMS:
        return []
    for count in range(2, len(values) + 1):
        for some in itertools.combinations(range(len(values)), count):
            ratio = values[list(some)].sum(axis=0) / wanted
            if abs(ratio[0]) > 1e-9 and close(ratio, np.full(len(ratio), ratio[0])):
                return [float(ratio[0]), *_multiples(np.delete(values, some, axis=0), wanted)]
    return []


def _signed(sign: int) -> ast.expr:
    return ast.Constant(1.0) if sign > 0 else ast.UnaryOp(ast.USub(), ast.Constant(1.0))


ELSEWHERE = 0.37
MOST_TERMS = 9


def _terms(node: ast.AST, sign: int = 1) -> list[tuple[int, ast.AST]]:
    """The terms of a sum, each with its sign."""
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
        right_sign = sign if isinstance(node.op, ast.Add) else -sign
        return _terms(node.left, sign) + _terms(node.right, right_sign)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return _terms(node.operand, -sign)
    return [(sign, node)]
