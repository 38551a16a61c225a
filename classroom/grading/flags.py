"""What a person should look at: cells that reach for an answer, or for the inside of a check.

This looks at the text of the cells alone, `watching` at what they do. It takes no points.
"""

from __future__ import annotations

import ast
import unicodedata
from collections.abc import Collection, Iterator

DESCRIBE = {"__doc__", "__name__", "__file__"}


def flags(cell: str, source: str, forbidden: Collection[str]) -> list[str]:
    """Sentences about one cell of a student's.

    `forbidden` are names of functions in the course's package, such as sums.running.total.
    """
    forbidden = {name.partition(".")[2] for name in forbidden}
    if not _is_worth_reading(source, forbidden):
        return []
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []
    nodes = list(ast.walk(tree))
    says = [
        f"The cell {cell} reaches for {name}, which is an answer."
        for name in sorted(set(_reached(nodes)) & set(forbidden))
    ]
    if any(map(_is_private_of_check, nodes)):
        says.append(f"The cell {cell} uses the inside of a check.")
    return says


def _is_worth_reading(source: str, forbidden: Collection[str]) -> bool:
    """Is a word in it of which there could be something to say, in whichever letters?"""
    words = {"check", *(name.rpartition(".")[2] for name in forbidden)}
    spelled = unicodedata.normalize("NFKC", source)  # as Python reads names
    return any(word in spelled for word in words)


def _is_private_of_check(node: ast.AST) -> bool:
    match node:
        case ast.Attribute(value=ast.Name(id="check"), attr=name):
            return name.startswith("_") and name not in DESCRIBE
        case ast.Call(func=ast.Name(id="vars"), args=[ast.Name(id="check")]):
            return True
    return False


def _reached(nodes: list[ast.AST]) -> Iterator[str]:
    """`running.total` for the import of it, and for `running.total` in the text."""
    for node in nodes:
        match node:
            case ast.ImportFrom(module=str(module), names=names):
                home = module.lstrip(".").rpartition(".")[2]
                yield from (f"{home}.{name.name}" for name in names)
            case ast.Attribute(value=ast.Name(id=module), attr=name):
                yield f"{module}.{name}"
            case ast.Attribute(value=ast.Attribute(attr=module), attr=name):
                yield f"{module}.{name}"
