r"""Derivations in a LaTeX file: `course derive FILE.tex` checks every displayed chain in it.

Comments that begin with %: declare what the letters are, before the formula that uses them:

    %: W = matrix(n, n); h = sequence(vector(n)); \beta = interval(0, 1)
    %: given v_t = \beta v_{t-1} + (1-\beta) g_t
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from ..function_with_slope import Activation
from ..notation import FormulaError, canonical
from . import domains
from .derivations import Derivation
from .lines import WRONG, Report
from .pasted import rows_of

FRAMES = r"(?:align|equation|gather|eqnarray|multline|aligned)\*?"
DISPLAYED = re.compile(
    rf"\\begin\{{(?P<frame>{FRAMES})\}}(?P<a>.*?)\\end\{{(?P=frame)\}}"
    r"|\\\[(?P<b>.*?)\\\]|\$\$(?P<c>.*?)\$\$",
    re.S,
)
DEFINITION = re.compile(r"^[ \t]*\\(?:(?:re)?newcommand|DeclareMathOperator|def\b).*$", re.M)
DECLARED = re.compile(r"^[ \t]*%:(?P<text>.*)$", re.M)
TANH = Activation("tanh", np.tanh, lambda x: 1 - np.tanh(x) ** 2, 1.0)


def elementwise() -> domains.Domain:
    """Smooth functions that are applied entry by entry."""
    return domains.activation([TANH])


NAMES = (
    "real", "positive", "nonnegative", "interval", "integers", "vector", "matrix", "simplex",
    "symmetric", "diagonal", "singular", "invertible", "orthogonal", "sequence", "random", "iid",
    "function",
)  # fmt: skip
KINDS: dict[str, Any] = {name: getattr(domains, name) for name in NAMES}
KINDS["elementwise"] = elementwise


class Checked(NamedTuple):
    """A displayed formula of a file: where it stands, and what was found out about it."""

    line: int  # of the file
    text: str  # the derivation with its marks, or why there is none
    report: Report | None

    @property
    def is_false(self) -> bool:
        return self.report is not None and any(r.verdict == WRONG for r in self.report.lines)


def checked(text: str, course: Mapping[str, Any] | None = None) -> Iterator[Checked]:
    """The displayed chains of a file, one after the other; a formula without a relation is none.

    `course` has more kinds, such as a course's own functions.
    """
    own = "".join(definition[0] for definition in DEFINITION.finditer(text))
    kinds = {**KINDS, **(course or {})}
    where: dict[str, Any] = {}
    given: dict[str, str] = {}
    found = [*DECLARED.finditer(text), *DISPLAYED.finditer(text)]
    for match in sorted(found, key=lambda m: m.start()):
        line = text.count("\n", 0, match.start()) + 1
        if match.re is DECLARED:
            try:
                _declare(match["text"], where, given, kinds)
            except FormulaError as trouble:
                yield Checked(line, str(trouble), None)
            continue
        body = next(part for part in (match["a"], match["b"], match["c"]) if part is not None)
        body = own + body  # the author's commands, wherever they were defined
        try:
            if len(rows_of(body)) < 2:
                continue
            derivation = Derivation(body, where=where, given=given)
            yield Checked(line, repr(derivation), derivation.check())
        except ValueError as trouble:
            yield Checked(line, str(trouble), None)


def _declare(
    text: str, where: dict[str, Any], given: dict[str, str], kinds: Mapping[str, Any]
) -> None:
    """What one comment declares: kinds, or after `given` what is computed."""
    for part in filter(str.strip, text.split(";")):
        name, sign, value = part.partition("=")
        if not sign:
            raise FormulaError(f"{part.strip()!r}: write a name, = and a kind.")
        if name.split()[:1] == ["given"]:
            given[name.strip().removeprefix("given").strip()] = value.strip()
            continue
        kind = _kind(value.strip(), kinds)
        for one in name.replace(",", " ").split():
            where[canonical(one)] = kind


def _kind(text: str, kinds: Mapping[str, Any]) -> Any:
    """`matrix(n, n)` or `sequence(vector(n))` as a domain; nothing is executed."""
    try:
        return _made(ast.parse(text, mode="eval").body, kinds)
    except (SyntaxError, ValueError, TypeError):
        known = ", ".join(sorted(kinds))
        raise FormulaError(f"{text!r} is no kind; there are {known}.") from None


def _made(node: ast.expr, kinds: Mapping[str, Any]) -> Any:
    match node:
        case ast.Constant(value=int() | float() | str() as value):
            return value
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)):
            return -value
        case ast.Name(id=name):
            return kinds.get(name, name)
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=named) if name in kinds:
            made: Callable[..., Any] = kinds[name]
            options = {str(k.arg): _option(k.value, kinds) for k in named}
            return made(*(_made(x, kinds) for x in arguments), **options)
    raise ValueError


def _option(node: ast.expr, kinds: Mapping[str, Any]) -> Any:
    return node.value if isinstance(node, ast.Constant) else _made(node, kinds)
