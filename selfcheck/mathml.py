"""A formula that was read, set as a formula: MathML, which every browser shows by itself.

    mathml(ast.parse("1 - beta**t/2", mode="eval").body)

Nothing is simplified or put in another order: it is what was typed, as it was understood.
"""

from __future__ import annotations

import ast
import html

from .notation import pretty

_SUM, _PRODUCT, _POWER, _ATOM = range(1, 5)  # how tightly it holds together
_SIGNS = {ast.Add: ("+", _SUM), ast.Sub: ("−", _SUM), ast.Mult: ("⋅", _PRODUCT)}


def mathml(tree: ast.expr) -> str:
    """The formula of this syntax tree."""
    return f'<math displaystyle="true">{_set(tree)}</math>'


def _set(node: ast.expr, least: int = 0) -> str:
    """Its markup, in brackets if it holds together less than that."""
    markup, holds = _parts(node)
    return f"<mrow><mo>(</mo>{markup}<mo>)</mo></mrow>" if holds < least else markup


def _parts(node: ast.expr) -> tuple[str, int]:
    match node:
        case ast.BinOp(left, ast.Div(), right):
            return f"<mfrac>{_row(left)}{_row(right)}</mfrac>", _POWER
        case ast.BinOp(left, ast.Pow(), right):
            return f"<msup>{_row(left, _ATOM)}{_row(right)}</msup>", _POWER
        case ast.BinOp(left, op, right) if type(op) in _SIGNS:
            sign, holds = _SIGNS[type(op)]
            after = holds + isinstance(op, ast.Sub)
            return f"{_set(left, holds)}<mo>{sign}</mo>{_set(right, after)}", holds
        case ast.UnaryOp(ast.USub(), operand):
            return f"<mo>−</mo>{_set(operand, _PRODUCT)}", _SUM
        case ast.Call(ast.Name("sqrt"), [inner], []):
            return f"<msqrt>{_set(inner)}</msqrt>", _ATOM
        case ast.Call(ast.Name(name), arguments, []):
            inside = "<mo>,</mo>".join(map(_set, arguments))
            return f"<mi>{html.escape(name)}</mi><mo>(</mo>{inside}<mo>)</mo>", _ATOM
        case ast.Tuple(items):
            return f"<mo>(</mo>{'<mo>,</mo>'.join(map(_set, items))}<mo>)</mo>", _ATOM
        case ast.Name(name):
            base, _, index = map(html.escape, pretty(name).partition("_"))
            letter = f"<mi>{base}</mi>"
            return (f"<msub>{letter}<mi>{index}</mi></msub>" if index else letter), _ATOM
        case ast.Constant(value):
            return f"<mn>{html.escape(str(value))}</mn>", _ATOM
    return f"<mtext>{html.escape(ast.unparse(node))}</mtext>", _ATOM


def _row(node: ast.expr, least: int = 0) -> str:
    return f"<mrow>{_set(node, least)}</mrow>"
