"""Pieces of a formula on its way to a tree: nodes, runs of tokens, two readings."""

from __future__ import annotations

import ast
import keyword
import re
from dataclasses import replace
from itertools import pairwise
from typing import Any

from .notation import FormulaError, Token, Vocabulary, quoted

ATOMS = ("number", "symbol", "stranger", "word")
OPENING = {"(": ")", "[": "]", "{": "}"}
TIMES = Token("sign", "*", "*", 0, 0)


def is_entry(node: ast.Subscript) -> bool:
    """Whether this is an entry of a matrix, with its two indices."""
    return isinstance(node.slice, ast.Tuple) and len(node.slice.elts) == 2


def call(name: str, *arguments: ast.expr) -> ast.Call:
    return ast.Call(ast.Name(name, ast.Load()), list(arguments), [])


def tuple_of(parts: list[Any]) -> ast.Tuple:
    return ast.Tuple(parts, ast.Load())


def to_the(node: ast.expr, exponent: int) -> ast.BinOp:
    return ast.BinOp(node, ast.Pow(), ast.UnaryOp(ast.USub(), ast.Constant(-exponent)))


def name_called(call: ast.Call) -> str:
    return call.func.id if isinstance(call.func, ast.Name) else ""


def go_on(terms: list[ast.expr]) -> bool:
    """Whether numbers have one step, as those of 1 + 3 + 5 + …, but not of 1 + 2 + 4 + …."""
    numbers = [t.value for t in terms if isinstance(t, ast.Constant)]
    if len(numbers) < len(terms):
        return True
    return len({b - a for a, b in pairwise(numbers)}) < 2  # type: ignore[operator]


# -- tokens that stand for a part of the formula --------------------------------------------------


def is_keyword(text: str) -> bool:
    """A word of Python's."""
    return keyword.iskeyword(text) and text not in ("lambda", "True", "False")


def digits_token(number: str) -> Token:
    return Token("number", number, number, 0, 0)


def is_d(token: Token) -> bool:
    """d, or dx as one word."""
    return token.kind == "word" and bool(re.fullmatch(r"d[A-Za-z]?", token.text))


def without_d(found: list[Token]) -> list[Token]:
    first = found[0]
    if first.text == "d":
        return found[1:]
    return [first._replace(text=first.text[1:], written=first.written[1:]), *found[1:]]


def with_bound(words: Vocabulary, bound: list[str]) -> Vocabulary:
    return replace(words, symbols=words.symbols.union(bound))


def bound_in_calls(pieces: list[str]) -> set[str]:
    """The summation indices: the i of `, (i, `."""
    if not {"Sum", "Product", "Integral"} & set(pieces):
        return set()
    places = range(2, len(pieces) - 1)
    return {pieces[k] for k in places if (*pieces[k - 2 : k], pieces[k + 1]) == (",", "(", ",")}


def start_of(found: list[Token], end: int) -> int:
    """Where the atom that ends here begins: a name, a number, a bracket, a call."""
    if found[end].text not in OPENING.values():
        return end
    depth = 0
    for place in range(end, -1, -1):
        text = found[place].text
        depth += (text in OPENING.values()) - (text in OPENING)
        if not depth:
            called = place and found[place - 1].kind == "function"
            return place - 1 if called else place
    return 0


def end_of(found: list[Token], start: int) -> int:
    """Where the atom that starts here ends."""
    following = found[start + 1].text if start + 1 < len(found) else ""
    if found[start].kind == "function" and following in OPENING:
        start += 1
    if found[start].text not in OPENING:
        return start
    depth = 0
    for place in range(start, len(found)):
        text = found[place].text
        depth += (text in OPENING) - (text in OPENING.values())
        if not depth:
            return place
    return len(found) - 1


def end_of_factor(found: list[Token], start: int) -> int:
    """Where the atom that starts here ends, with its power."""
    end = end_of(found, start)
    if end + 2 < len(found) and found[end + 1].text in ("**", "^"):
        exponent = end + 2
        while exponent + 1 < len(found) and found[exponent].text in "+-":
            exponent += 1
        return end_of(found, exponent)
    return end


# -- two readings ---------------------------------------------------------------------------------


def put_brackets(found: list[Token], start: int, end: int) -> list[Token]:
    opening, closing = (TIMES._replace(text=x, written=x, place=found[min(p, len(found) - 1)].place)
                        for x, p in (("(", start), (")", end)))  # fmt: skip
    return [*found[:start], opening, *found[start : end + 1], closing, *found[end + 1 :]]


def offer(text: str, *readings: list[Token]) -> FormulaError:
    ways = " or ".join(map(in_quotes, readings))
    if len(readings) == 1:
        return FormulaError(f"{quoted(text)} lacks a sign; did you mean {ways}?")
    return FormulaError(f"{quoted(text)} can be read in two ways: did you mean {ways}?")


def in_quotes(reading: list[Token]) -> str:
    way = as_written(reading)
    return f"`{way if len(way) <= 80 else f'{way[:79]}…'}`"


def as_written(found: list[Token]) -> str:
    """The pieces as one would type them."""
    pieces: list[str] = []
    before = None
    for token in found:
        atom = token.kind in (*ATOMS, "function", "command")
        ended = before is not None and (before.kind in ATOMS or before.text in OPENING.values())
        side_by_side = ended and atom
        if before is not None and before.kind in ("function", "command"):
            side_by_side = atom
        binary = ended and token.text in ("+", "-")
        written = "**" if token.text == "^" else token.text if token.kind == "sign" else ""
        written = written or token.written
        pieces.append(f" {written} " if binary else " " * side_by_side + written)
        pieces.append(" " * (token.text == ","))
        before = token
    return "".join(pieces)
