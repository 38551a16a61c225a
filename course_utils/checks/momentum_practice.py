"""Unit 02: what the sister tasks in momentum.md need. Rules have constants of their own."""

from __future__ import annotations

from . import momentum as check


def _step(v, g, a, b, c=1.0):
    v = a * v + b * g
    return v, -c * v


def _latex(node, names: dict) -> str:
    """A formula as it is written here: every product and every bracket stays where it is."""
    ast = check.ast
    if isinstance(node, ast.Name):
        return names[node.id]
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.UnaryOp):
        return f"-{_bracketed(node.operand, names, sums=True)}"
    left, right = node.left, node.right
    if isinstance(node.op, ast.Div):
        if isinstance(left, ast.UnaryOp):
            return rf"-\frac{{{_latex(left.operand, names)}}}{{{_latex(right, names)}}}"
        return rf"\frac{{{_latex(left, names)}}}{{{_latex(right, names)}}}"
    if isinstance(node.op, ast.Mult):
        return rf"{_bracketed(left, names, sums=True)}\,{_bracketed(right, names, sums=True)}"
    sign = "+" if isinstance(node.op, ast.Add) else "-"
    return f"{_latex(left, names)} {sign} {_bracketed(right, names, sums=sign == '-')}"


def _bracketed(node, names: dict, sums: bool) -> str:
    ast = check.ast
    is_sum = isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub)
    text = _latex(node, names)
    return f"({text})" if sums and is_sum else text
