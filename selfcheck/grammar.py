r"""One grammar for LaTeX and typed text: tokens become a tree, and what is not in it is refused.

A precedence parser, from the loosest to the tightest: relations; + and − with dots; products,
said and unsaid; prefixes that take a whole term (\sum, \prod, \int, ∂/∂x, E); functions without
brackets; powers and indices; names, numbers and brackets. Declared names decide what is meant:
`a(b+c)` is a call if a is a function and a product if not, `g_{t-1}` is g(t − 1) if g is a
sequence and else a name of its own. Where two readings are possible (`λ/2η`), none is chosen: a
sentence offers both. The tree is Python's `ast`, every node with its place; nothing is evaluated.
"""

from __future__ import annotations

import ast
import keyword
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from itertools import pairwise
from typing import Any, NoReturn, TypeVar

from .dots import pattern_of
from .notation import (
    LETTERS,
    SPELLINGS,
    STRUCTURE,
    FormulaError,
    Token,
    Vocabulary,
    canonical,
    indexed,
    is_latex,
    pretty,
    quoted,
    raised,
    side_of,
    tokens,
)

Node = TypeVar("Node", bound=ast.expr)

DEEPEST = 60  # brackets within brackets
ATOMS = ("number", "symbol", "stranger", "word")
OPENING = {"(": ")", "[": "]", "{": "}"}
RELATIONS = {"<": ast.Lt, "<=": ast.LtE, ">": ast.Gt, ">=": ast.GtE, "==": ast.Eq, "!=": ast.NotEq}
BIG = {"sum": "Sum", "prod": "Product", "max": "Max", "min": "Min"}
ARROWS = ("to", "Rightarrow", "Longrightarrow")  # below lim
UNARY = {"sin", "cos", "tan", "sec", "csc", "cot", "sinh", "cosh", "tanh", "sech", "csch", "coth"}
NOT_HERE = {  # notations that are known and not read, each with what to write instead
    "pm": "± is two formulas: write one of them",
    "mp": "∓ is two formulas: write one of them",
    "lg": "lg is the logarithm to base 2 or to base 10: write log2(…) or log10(…)",
    "%": "is this a remainder? Write mod(a, b)",
    "sup": "a supremum over a set is not computed here",
    "inf": "an infimum over a set is not computed here",
    "arg": "arg is not computed here",
    "oint": "an integral around a curve is not computed here",
    "iint": "write two integrals, one inside the other",
    "mid": "a conditional expectation is not computed here",
    "ll": "≪ does not say how much less",
    "gg": "≫ does not say how much more",
    "propto": "∝ does not say by which factor",
    "otimes": "⊗ is not computed here",
    "forall": "write what holds, without ∀",
    "backslash": "\\ is no division: write /",
    "//": "write floor(a/b)",
    "therefore": "write a chain of = and ≤, one line each",
    "implies": "write a chain of = and ≤, one line each",
    "Rightarrow": "write a chain of = and ≤, one line each",
    "Longrightarrow": "write a chain of = and ≤, one line each",
    "iff": "write a chain of = and ≤, one line each",
    "Leftrightarrow": "write a chain of = and ≤, one line each",
}
ENDING = {  # commands that begin no factor
    "top", "odot", "in", "to", "sim", "approx", "equiv", "end", "vdots", "ddots", "partial",
    "rfloor", "rceil", "rangle", "bmod", "mod", "pmod", "choose", "over",
    *NOT_HERE,
}  # fmt: skip
BINARY = ("+", "-", "*", "/", "@", "^", "**", "_", ",", "odot", "bmod", "mod")
GROUP = r"\d{3}(\.\d+)?([eE][+-]?\d+)?"  # of the digits behind a thousands' comma
DOTS = (r"\cdot", "·", "⋅", "∙")
SPACES = (r"\quad", r"\qquad")  # between the lines of a chain they set a note apart
TIMES = Token("sign", "*", "*", 0, 0)


def parse(text: str, words: Vocabulary, many: bool = False) -> ast.expr:
    """The tree of a formula; a FormulaError says what is not in the grammar, and where."""
    parser = Parser(text, tokens(text), words)
    tree = parser.listing() if many else parser.relation()
    if parser.token is not None:
        parser.refuse_token(parser.token)
    return tree


class Parser:
    """Reads one formula from its tokens; what is meant and not written is put among them."""

    def __init__(self, text: str, pieces: list[Token], words: Vocabulary) -> None:
        self.text, self.words, self.latex = text, words, is_latex(text)
        self.t, self.i = [t for t in pieces if t.written not in SPACES], 0
        if self.latex:
            self._put_indices_first()
        self.bound = [*_bound_in_calls([t.written for t in pieces])]
        self.bars: list[str] = []  # the brackets and bars that are open
        self.differential: Token | None = None  # the dx of the innermost integral
        self.condition: ast.expr | None = None  # between the indices of a sum, such as i < j
        self.cases = 0  # how many Piecewise are open: there | is "or"

    def _put_indices_first(self) -> None:
        r"""\|x\|^2_2 is \|x\|_2^2, unless x^2 is a name."""
        for k, token in enumerate(self.t):
            end = _end(self.t, k + 1) + 1 if token.text == "^" and k + 1 < len(self.t) else k
            if not k < end < len(self.t) - 1 or self.t[end].text != "_":
                continue
            if self.t[k + 1].kind in ("word", "number") and len(self.t[k + 1].text) > 1:
                continue  # ^nX_i: TeX takes n alone
            if self.words.indices.get(canonical(self.t[k - 1].text), (0, 0))[1] == 2:
                continue  # A^2_{ij} is no A_{ij}^2
            if self.t[k - 1].text in OPENING.values():
                continue
            if raised(canonical(self.t[k - 1].text), self._index_at(k + 1)) in self.words.spelled:
                continue
            last = _end(self.t, end + 1) + 1
            self.t[k:last] = [*self.t[end:last], *self.t[k:end]]

    # -- looking at tokens

    @property
    def token(self) -> Token | None:
        return self.t[self.i] if self.i < len(self.t) else None

    def sees(self, *texts: str, ahead: int = 0) -> bool:
        """Whether the next token is one of these signs or commands."""
        place = self.i + ahead
        if place >= len(self.t):
            return False
        token = self.t[place]
        return token.text in texts and token.kind in ("sign", "command")

    def take(self, text: str, what: str = "") -> Token:
        if not self.sees(text):
            self.refuse(what or f"a {text} is missing")
        self.i += 1
        return self.t[self.i - 1]

    def refuse(self, why: str, token: Token | None = None) -> NoReturn:
        """The formula is refused at this place."""
        token = token or self.token
        where = f"at sign {token.place + 1}" if token else "at its end"
        raise FormulaError(f"{quoted(self.text)} is not a formula: {why}, {where}.")

    def made(self, node: Node, start: int) -> Node:
        """The node with its place: from the token at `start` to the one before the next."""
        first = self.t[min(start, len(self.t) - 1)]
        last = self.t[max(min(self.i, len(self.t)) - 1, 0)]
        for part in ast.walk(node):
            if not hasattr(part, "col_offset") or part is node:
                part.lineno = part.end_lineno = 1  # type: ignore[attr-defined]
                part.col_offset, part.end_col_offset = first.place, last.end  # type: ignore[attr-defined]
        return node

    @contextmanager
    def inside(self, bracket: str) -> Iterator[None]:
        self.bars.append(bracket)
        if len(self.bars) > DEEPEST:
            self.refuse("its brackets are nested too deeply")
        differential, self.differential = self.differential, None
        yield
        self.differential = differential
        self.bars.pop()

    # -- relations, conditions, lists

    def listing(self) -> ast.expr:
        """Expressions with commas between them; one alone is itself."""
        start, found = self.i, [self.relation()]
        while self.sees(","):
            self.i += 1
            found.append(self.relation())
        return found[0] if len(found) == 1 else self.made(_tuple(found), start)

    def relation(self) -> ast.expr:
        """A value, or a condition: within Piecewise with &, | and ~ too."""
        start = self.i
        node = self.comparison()
        while self.cases and self.sees("&", "|"):
            kind = ast.BitAnd() if self.sees("&") else ast.BitOr()
            self.i += 1
            node = self.made(ast.BinOp(node, kind, self.comparison()), start)
        return node

    def comparison(self) -> ast.expr:
        start = self.i
        if self.cases and self.sees("~"):
            self.i += 1
            return self.made(ast.UnaryOp(ast.Invert(), self.comparison()), start)
        node = self.sum()
        if self.sees(*RELATIONS):
            kind = RELATIONS[self.t[self.i].text]
            self.i += 1
            return self.made(ast.Compare(node, [kind()], [self.sum()]), start)
        return node

    # -- sums

    def sum(self) -> ast.expr:
        """Terms with + and −, and dots among them."""
        start = self.i
        terms, signs, dots = [self.term()], [ast.Add()], None
        while self.sees("+", "-", "ldots"):
            token = self.t[self.i]
            if token.text == "ldots":
                dots = self._dots(dots, len(terms), token)
                continue
            self.i += 1
            sign: Any = ast.Sub() if token.text == "-" else ast.Add()
            if self.sees("ldots"):
                if len(terms) > 1 and type(sign) is not type(signs[-1]):
                    self.refuse("the sign before the dots is not that of the terms")
                dots = self._dots(dots, len(terms), token)
                continue
            if self.latex and self.sees("+", "-"):
                self.refuse("two signs stand side by side: use brackets")
            self._refuse_index_outside(terms[-1])
            terms.append(self.term())
            signs.append(sign)
        if dots is not None:
            terms, signs = self._unrolled(terms, signs, dots, start)
        node = terms[0]
        for sign, term in zip(signs[1:], terms[1:], strict=True):
            node = self.made(ast.BinOp(node, sign, term), start)
        return node

    def _dots(self, before: int | None, count: int, token: Token) -> int:
        if before is not None:
            self.refuse("dots stand here a second time", token)
        self.i += 1
        return count

    def _unrolled(
        self, terms: list[ast.expr], signs: list[Any], dots: int, start: int
    ) -> tuple[list[ast.expr], list[Any]]:
        """The terms around dots as one sum, found from the terms before the dots and the last."""
        if (dots, len(terms)) == (1, 3) and not any(isinstance(s, ast.Sub) for s in signs):
            terms, dots = terms[::-1], 2  # g_1 + … + g_{t-1} + g_t, told from its end
        if dots >= len(terms) or dots < 2:
            self.refuse("dots need two terms before them and one after them", self.t[start])
        if len({type(s) for s in signs[max(1, dots - 1) : dots + 1]}) > 1:
            self.refuse("the signs around the dots differ", self.t[start])
        for few in (2, 3):
            if dots < few:
                break
            try:
                body = pattern_of(terms[dots - few : dots], terms[dots], "Sum", self._fresh())
            except FormulaError as trouble:
                why = str(trouble)
                continue
            first = dots - few
            sign = signs[first] if first else signs[1] if dots > 1 else ast.Add()
            if first == 0 and isinstance(sign, ast.Sub):
                break  # a − b − … − z: a is of another sign
            if not _go_on([*terms[:first], *terms[dots - few : dots]]):
                self.refuse("the terms before the dots do not go by one step", self.t[start])
            whole = self.made(body, start)
            return [*terms[:first], whole, *terms[dots + 1 :]], [
                *signs[:first], sign, *signs[dots + 1 :]
            ]  # fmt: skip
        else:
            self.refuse(why, self.t[start])
        self.refuse(why if dots == 2 and few == 3 else "the pattern of the dots is not clear",
                    self.t[start])  # fmt: skip

    def _fresh(self, *used: str) -> str:
        """A letter for an index that is not in use."""
        taken = {t.text for t in self.t} | self.words.symbols | {*self.bound, *used}
        names: list[str] = [*"jkimrs", *(f"index_{k}" for k in range(len(taken) + 1))]
        return next(name for name in names if name not in taken)

    def _refuse_index_outside(self, term: ast.expr) -> None:
        """Σ a_i + b_i with an i that is declared as well: which i is meant?"""
        while isinstance(term, ast.BinOp):
            term = term.right
        if not (isinstance(term, ast.Call) and _called(term) in ("Sum", "Product")):
            return
        index = term.args[1].elts[0].id if isinstance(term.args[1], ast.Tuple) else ""  # type: ignore[attr-defined]
        if index not in self.words.symbols:
            return
        depth = 0
        for token in self.t[self.i :]:
            depth += (token.text in OPENING) - (token.text in OPENING.values())
            if depth < 0 or (not depth and token.text in ("+", "-", ",", "=", r"\\")):
                return
            if token.kind == "word" and canonical(token.text) == index:
                self.refuse(
                    f"{index} is the index of the sum before it and stands outside of it: "
                    "use brackets",
                    token,
                )

    # -- products

    def term(self) -> ast.expr:
        """Factors with * and /, or with no sign between them."""
        start = self.i
        node = self.factor()
        last = start  # where the last factor begins
        divided = False
        factors, dots = [node], None
        while True:
            if self.sees("*", "/", "@", "odot"):
                token = self.t[self.i]
                self.i += 1
                if self.sees("ldots"):
                    dots = self._dots(dots, len(factors), token)
                    if not self.sees("*"):
                        self.refuse("after the dots of a product its last factor is missing")
                    continue
                if self.latex and self.sees("+", "-"):
                    self.refuse("two operators stand side by side: use brackets")
                last, divided = self.i, token.text == "/"
                right = self.factor()
            elif self.sees("bmod", "mod"):
                token, right = self._remainder(start)
            elif self.starts_factor():
                if self.sees("ldots") and (self.sees("+", "-", ahead=1) or len(factors) < 2):
                    break  # dots of the sum around this product
                if self.sees("ldots"):
                    dots = self._dots(dots, len(factors), self.t[self.i])
                    continue
                if dots != len(factors):  # n(n − 1)⋯1 has its dots here
                    self._refuse_unclear(last, divided)
                self.t.insert(self.i, TIMES._replace(place=self.t[self.i].place))
                self.i += 1
                token, last, divided = TIMES, self.i, False
                right = self.factor()
            else:
                break
            factors.append(right)
            node = self._product(node, token, right, start)
        if dots is None:
            return node
        if dots != len(factors) - 1 or dots < 2 or not _go_on(factors[:dots]):
            self.refuse("dots need two factors before them and one after them", self.t[start])
        try:
            body = pattern_of(factors[dots - 2 : dots], factors[dots], "Product", self._fresh())
            vars(body)["in_order"] = True  # J_T J_{T-1} … J_1 says itself which factor comes first
        except FormulaError as trouble:
            self.refuse(str(trouble), self.t[start])
        node = self.made(body, start)
        for factor in reversed(factors[: dots - 2]):
            node = self.made(ast.BinOp(factor, ast.Mult(), node), start)
        return node

    def _remainder(self, start: int) -> tuple[Token, ast.expr]:
        r"""a \bmod n, of one product by one factor: a + b \bmod n may be that of the sum."""
        token, beside = self.t[self.i], start and self.t[start - 1].text in ("+", "-")
        self.i += 1
        right = self.factor()
        if beside or self.starts_factor() or self.sees("+", "-", "*", "/", "bmod", "mod"):
            self.refuse("of what is this the remainder? Use brackets", token)
        return token, right

    def _product(self, left: ast.expr, token: Token, right: ast.expr, start: int) -> ast.expr:
        if token.text in ("bmod", "mod"):
            return self.made(_call("Mod", left, right), start)
        if token.text == "odot":
            return self.made(_call("hadamard", left, right), start)
        kind = {"/": ast.Div, "@": ast.MatMult}.get(token.text, ast.Mult)
        node = self.made(ast.BinOp(left, kind(), right), start)
        vars(node)["dotted"] = token.written in DOTS  # of two vectors, their inner product
        return node

    def starts_factor(self, ahead: int = 0) -> bool:
        """Whether a factor may begin here."""
        place = self.i + ahead
        token = self.t[place] if place < len(self.t) else None
        if token is None or token is self.differential:
            return False
        if token.kind in ("number", "word", "symbol", "stranger", "function"):
            return not (token.kind == "word" and _is_keyword(token.text))
        if token.kind == "text":
            return False
        if token.text in ("|", "||"):
            if side := side_of(token):
                return side > 0
            return not (self.cases or (self.bars and self.bars[-1] in ("|", "||")))
        if token.kind == "command":
            return token.text not in ENDING
        return token.text in OPENING

    def _refuse_unclear(self, last: int, divided: bool) -> None:
        """A product sign is missing here, and might mean something else."""
        token, before = self.t[self.i], self.t[self.i - 1]
        starred = [*self.t[: self.i], TIMES, *self.t[self.i :]]
        if token.text in OPENING and before.kind == "stranger":
            raise FormulaError(
                f"{quoted(self.text)} calls {before.written[:40]}, which is no function known here."
            )
        self._refuse_mixed_number(before)
        numbers = token.kind == "number" and before.text != "!"
        if numbers or self._might_be_a_call(before):
            raise _offer(self.text, starred)
        first = self._open_exponent(last)
        if first is None and divided:
            first = last
        if first is not None:
            raise _offer(
                self.text, _bracketed(starred, first, _end_of_factor(self.t, self.i) + 1), starred
            )

    def _refuse_mixed_number(self, before: Token) -> None:
        r"""3\frac12 may be three and a half."""
        if not (self.sees("frac") and before.kind == "number" and before.text.isdigit()):
            return
        parts = [t.text for t in self.t[self.i + 1 : self.i + 7] if t.text not in ("{", "}")]
        top, bottom = (*parts, "", "")[:2]
        if re.fullmatch(r"\d\d", top) and not self.sees("{", ahead=1):  # \frac12
            top, bottom = top[0], top[1]
        if top.isdigit() and bottom.isdigit():
            ways = f"`{before.text} + {top}/{bottom}` or `{before.text}*({top}/{bottom})`"
            raise FormulaError(f"{quoted(self.text)} can be read in two ways: did you mean {ways}?")

    def _open_exponent(self, last: int) -> int | None:
        """Where the exponent of the last factor begins, if it has no bracket or group: 2 in β^2t.

        In LaTeX a power is one sign or a group, so it is clear where it ends.
        """
        end = self.i - 1
        start = _start(self.t, end)
        sign = self.t[start - 1].text if start > last else ""
        if sign in ("+", "-") and start - 1 > last and self.t[start - 2].text in ("^", "**"):
            return start - 1
        if sign == "**" or (sign == "^" and not self.latex):
            transposed = self.t[start].text == "T" and self._has_arrays()
            return None if self.t[start].text in OPENING or transposed else start
        return None

    def _might_be_a_call(self, before: Token) -> bool:
        """A symbol, then a symbol or a number alone in brackets: β(t) may be a function of t."""
        if not self.sees("(", "["):
            return False
        inner = self.t[self.i + 1 : _end(self.t, self.i)]
        if before.text in (")", "]"):  # g(t)[i]
            opening = _start(self.t, self.i - 1)
            return self.t[opening].kind == "function" and len(inner) == 1
        if before.kind != "symbol":
            return False
        if any(self.words.indices.get(before.text, (0, 0))):  # u[i], but Au may be written A(u)
            arrays = self.words.indices.get(inner[0].text, (0, 0)) if inner else (0, 0)
            return len(inner) <= 1 and not any(arrays)
        depth = 0
        for token in inner:
            depth += (token.text in OPENING) - (token.text in OPENING.values())
            if not depth and token.text == ",":
                return True
        return len(inner) <= 1

    # -- factors

    def factor(self) -> ast.expr:
        """A power with its signs."""
        signs = []
        while self.sees("+", "-"):
            signs.append((self.i, ast.USub() if self.sees("-") else ast.UAdd()))
            self.i += 1
        node = self.power()
        for place, sign in reversed(signs):
            node = self.made(ast.UnaryOp(sign, node), place)
        return node

    def power(self) -> ast.expr:
        start = self.i
        node = self.postfix(self.primary(), start)
        if not self.sees("^", "**"):
            return node
        sign = self.t[self.i]
        self.i += 1
        if (turned := self._turned(node, start)) is not None:
            return turned
        inverse = [t.text for t in self._peek_group()] == ["-", "1"]
        if inverse and isinstance(node, ast.Subscript) and _is_entry(node):
            ways = r"`(A^{-1})_{ij}` or `1/A_{ij}`"
            raise FormulaError(f"{quoted(self.text)} can be read in two ways: did you mean {ways}?")
        if sign.text == "^" and self.latex and not self.sees("("):
            exponent = self._group()
            if self.sees("^"):
                self.refuse("a second exponent stands here: use brackets")
        else:
            exponent = self.factor()
        node = self.made(ast.BinOp(node, ast.Pow(), exponent), start)
        return self._index_behind(node, start)

    def _index_behind(self, node: ast.expr, start: int) -> ast.expr:
        """What follows a power: a factorial, an index, a second turn such as ^{-1}^⊤."""
        if self.sees("_"):
            self.refuse("of what is this the index? Use brackets, as in (A^{-1})_{ij}")
        return self.postfix(node, start)

    def _turned(self, node: ast.expr, start: int) -> ast.expr | None:
        """A transpose, an index in brackets, a power entry by entry; None for a plain power."""
        self._cut_transpose()
        group = self._peek_group()
        texts = [t.text for t in group]
        if isinstance(node, ast.Name):
            name = raised(node.id, group)
            if name in self.words.spelled:
                self._skip_group()
                name, first, last = self.words.spelled[name], self.t[start], self.t[self.i - 1]
                self.t[start : self.i] = [Token("symbol", name, name, first.place, last.end)]
                self.i = start + 1
                return self.postfix(self.made(ast.Name(name, ast.Load()), start), start)
        if texts in (["top"], ["-", "top"], ["-", "T"]) or (
            texts == ["T"] and ("T" not in self.words.symbols or self._is_array(node))
        ):
            if texts == ["T"] and not self._has_arrays():
                return None
            self._skip_group()
            if isinstance(node, ast.Subscript) and _is_entry(node):
                self.refuse(r"A_{ij}^\top is a number: write (A^\top)_{ij}, if that is meant")
            if len(texts) == 2:
                node = self.made(_power(node, -1), start)
            return self.postfix(self.made(_call("transpose", node), start), start)
        if texts == ["T"] and self._has_arrays():
            self._skip_group()
            return self.made(_call("raised_T", node), start)
        if texts[:1] == ["odot"]:
            self.take("{")
            self.i += 1
            with self.inside("{"):
                exponent = self.sum()
            self.take("}")
            return self.made(_call("power_of_entries", node, exponent), start)
        if self.sees("{") and texts[:1] == ["("] and group[0].written == "(":
            if _end(self.t, self.i + 1) != _end(self.t, self.i) - 1:
                return None
            if isinstance(node, ast.Name):
                known = self.words.spelled.get(indexed(node.id, group[1:-1]))
                if known is not None:
                    self._skip_group()
                    return self.made(ast.Name(known, ast.Load()), start)
            if not (isinstance(node, ast.Name) and self.words.indices.get(node.id, (0,))[0]):
                self.refuse("^{(…)} is an index, and this is declared without one")
            self.i += 2
            with self.inside("("):
                index = self.sum()
            self.take(")")
            self.take("}")
            return self.postfix(self.made(_call(node.id, index), start), start)
        if texts in (["*"], ["dagger"], ["star"], ["+"]) and self.latex:
            self.refuse(f"^{texts[0]} is not declared here")
        return None

    def _cut_transpose(self) -> None:
        """In X^TX the T stands alone above: TeX takes one sign."""
        token = self.token
        if token is None or token.kind != "word" or not self._has_arrays():
            return
        if not self.latex and "T" in self.words.symbols:
            return
        if token.text[0] == "T" and token.text[1:] and not self._is_known(token.text):
            self._cut(self.i)

    def _is_array(self, node: ast.expr) -> bool:
        """Whether a name has rows and columns; what else has, the evaluation tells."""
        if isinstance(node, ast.Call) and _called(node) in self.words.indices:
            return self.words.indices[_called(node)][1] > 0
        return isinstance(node, ast.Name) and self.words.indices.get(node.id, (0, 0))[1] > 0

    def _has_arrays(self) -> bool:
        return any(array for _, array in self.words.indices.values())

    def postfix(self, node: ast.expr, start: int) -> ast.expr:
        """Factorials, and indices of what is no name, such as (Ax)_i."""
        while True:
            if self.sees("!") and not self.sees("=", ahead=1):
                self.i += 1
                node = self.made(_call("factorial", node), start)
            elif self.sees("%") and not self.starts_factor(1):
                self.i += 1
                node = self.made(ast.BinOp(node, ast.Div(), ast.Constant(100)), start)
            elif self.sees("_"):
                self.i += 1
                index = self._indices(2, of_matrix=True)
                node = self.made(ast.Subscript(node, _tuple(index), ast.Load()), start)
            elif self.sees(".") and [t.text for t in self.t[self.i + 1 : self.i + 2]] == ["T"]:
                self.i += 2
                node = self.made(_call("transpose", node), start)
            elif self.sees("^") and [t.text for t in self._peek_group()][:1] in (["top"], ["'"]):
                self.i += 1
                turned = self._turned(node, start)
                if turned is None:
                    self.refuse("' stands only after a function")
                node = turned
            else:
                return node

    # -- groups

    def _peek_group(self) -> list[Token]:
        """The tokens of the next group, or the next token; after a ^ too."""
        return self._index_at(self.i + self.sees("^"))

    def _skip_group(self) -> None:
        self.i = _end(self.t, self.i) + 1 if self.sees("{") else self.i + 1

    def _group(self) -> ast.expr:
        """An argument as TeX takes it: {…}, or one sign."""
        token = self.token
        if token is None:
            self.refuse("something is missing")
        if self.sees("{"):
            return self._bracketed_sum()
        if token.kind == "number" and len(token.text) > 1:
            self.refuse(f"in LaTeX this takes {token.text[0]} alone: write {{{token.text}}}")
        if token.kind == "word" and len(token.text) > 1 and self.latex:
            name = canonical(token.text)
            if self.sees("^", "_", ahead=1) and name not in self.words.spelled:
                self._cut(self.i)  # e^xe^y
                return self._group()
            if name not in self.words.spelled and token.text.isalpha():
                self.refuse(f"in LaTeX this takes {token.text[0]} alone: write {{{token.text}}}")
        if self.sees("-", "+"):
            self.refuse("in LaTeX a sign alone is no exponent: use {…}")
        if token.kind in ("word", "number"):
            self.i += 1
            return self._within([token], Parser.primary, self.i)  # type: ignore[no-any-return]
        return self.primary()  # type: ignore[no-any-return]

    def _bracketed_sum(self) -> ast.expr:
        opening = self.t[self.i]
        self.i += 1
        with self.inside(opening.text):
            node = self.listing() if opening.text == "(" else self.sum()
            if opening.text == "{" and self.sees("choose", "over"):
                node = self._stacked(node)
        closing = OPENING[opening.text]
        if not self.sees(closing):
            if self.token is None:
                self.refuse(f"close every bracket; this {opening.written} stays open", opening)
            self.refuse_token(self.token)
        self.i += 1
        return node

    def _stacked(self, top: ast.expr) -> ast.expr:
        r"""{n \choose k} and {a \over b}."""
        start, over = self.i, self.sees("over")
        self.i += 1
        bottom = self.sum()
        node = ast.BinOp(top, ast.Div(), bottom) if over else _call("binomial", top, bottom)
        return self.made(node, start)

    def _index_tokens(self) -> list[Token]:
        """The tokens of an index, behind its _, which are taken."""
        self._cut_index(self.i)
        found = self._peek_group()
        if not found:
            self.refuse("an index is missing")
        if not self.sees("{"):
            self._refuse_long(found[0])
        self._skip_group()
        return found

    def _cut_index(self, place: int) -> None:
        """In x_ix_j the index is i alone, and x has one of its own."""
        index = self.t[place] if place < len(self.t) else TIMES
        if self.latex and index.kind == "word" and self._takes_index(index.text[1:]):
            self._cut(place)

    def _cut(self, place: int) -> None:
        """The first sign of a token as a token of its own."""
        token = self.t[place]
        first, *rest = token.text[0], *tokens(token.text[1:])
        one = token._replace(text=first, written=first, end=token.place + 1)
        behind = [t._replace(place=token.place + 1, end=token.end) for t in rest]
        self.t[place : place + 1] = [one, *behind]

    def _refuse_long(self, index: Token) -> None:
        """TeX takes one letter or digit as an index, if it has no braces."""
        if self.latex and len(index.text) > 1 and index.kind in ("number", "word"):
            why = f"in LaTeX this index is {index.text[0]} alone: write {{{index.text}}}"
            self.refuse(why, index)

    def _indices(self, most: int, of_matrix: bool = False) -> list[ast.expr]:
        """Indices with commas between them; two letters side by side are two of a matrix."""
        start = self.i
        found = self._index_tokens()
        text = "".join(t.text for t in found)
        if of_matrix and re.fullmatch(r"\d[A-Za-z]|[A-Za-z]\d", text):  # A_{1n}, A_{n1}
            found = [
                found[0]._replace(kind=kind, text=sign)
                for sign in f"{text[0]},{text[1]}"
                for kind in ["number" if sign.isdigit() else "word" if sign != "," else "sign"]
            ]
        if len(found) == 1 and most == 2 and len(found[0].text) == 2 and found[0].kind == "word":
            if found[0].text.isalpha() and found[0].text not in self.words.symbols:
                one = found[0]
                found = [one._replace(text=one.text[0]), TIMES._replace(text=","),
                         one._replace(text=one.text[1])]  # fmt: skip
        elif most == 2 and self._lacks_comma(found, of_matrix):
            self.refuse("which entry is this? Write a comma between the indices", found[0])
        tree = self._within(found, Parser.listing, start)
        return list(tree.elts) if isinstance(tree, ast.Tuple) else [tree]

    def _lacks_comma(self, found: list[Token], of_matrix: bool) -> bool:
        """Whether a_{12} or a_{i+1j} does not tell its two indices apart."""
        if len(found) == 1 or not of_matrix:
            return bool(len(found) == 1 and re.fullmatch(r"\d\d+", found[0].text))
        kinds = [t.kind in ("word", "number", "command") for t in found]
        return not any(t.text == "," for t in found) and (True, True) in pairwise(kinds)

    def _within(self, found: list[Token], read: Callable[[Parser], Any], start: int) -> Any:
        """What is read from these tokens alone."""
        inner = Parser(self.text, list(found), self.words)
        inner.bound, inner.latex = self.bound, self.latex
        if not found:
            self.refuse("something is missing", self.t[min(start, len(self.t) - 1)])
        tree = read(inner)
        if inner.token is not None:
            self.refuse(f"{quoted(inner.token.written)} is not arithmetic", inner.token)
        return tree

    # -- what stands alone

    def primary(self) -> Any:
        start, token = self.i, self.token
        if token is None:
            self.refuse("close every bracket" if self.bars else "something is missing")
        if token is self.differential:
            self.refuse("something is missing before the end of the integral")
        if token.kind == "number":
            return self._number()
        if token.text in OPENING and token.kind == "sign":
            return self._bracketed_sum()
        if token.text in ("|", "||") and token.kind == "sign":
            return self._bars(token)
        if token.kind in ("word", "command"):
            if (read := self._read_by(token)) is not None:
                return self.made(read(), start)
            self._resolve()
            token = self.t[self.i]
        if token.kind in ("symbol", "stranger"):
            return self._name(token)
        if token.kind == "function":
            return self._function(token)
        self.refuse_token(token)

    def refuse_token(self, token: Token) -> NoReturn:
        if token.kind == "text":
            self.refuse(f"{quoted(token.text)} are words")
        if token.text in NOT_HERE:
            self.refuse(NOT_HERE[token.text])
        if token.text in OPENING.values():
            self.refuse(f"close every bracket; this {token.written} closes none that is open")
        if token.text == "'":
            self.refuse("' is not arithmetic")
        if token.text == "ldots":
            self.refuse("dots need two terms before them and one after them")
        self.refuse(f"{quoted(token.written)} is not arithmetic")

    def _number(self) -> ast.expr:
        start, token = self.i, self.t[self.i]
        self.i += 1
        digits = token.text.replace("_", "")
        if re.fullmatch(r"\d{1,3}", digits) and not self.bars:  # 1,000 or 1{,}000
            while True:
                comma = 1 if self.sees(",") else 3 if self._is_braced_comma() else 0
                after = self.t[self.i + comma] if self.i + comma < len(self.t) else None
                if not comma or after is None or not re.fullmatch(GROUP, after.text):
                    break
                digits += after.text
                self.i += comma + 1
        value = float(digits) if re.search(r"[.eE]", digits) else int(digits)
        return self.made(ast.Constant(value), start)

    def _is_braced_comma(self) -> bool:
        return self.sees("{") and self.sees(",", ahead=1) and self.sees("}", ahead=2)

    def _bars(self, token: Token) -> ast.expr:
        r"""|x| and ‖x‖; ||x|| is a norm, |x||y| two absolute values, \left| ends at \right|."""
        start, side = self.i, side_of(token)
        single = token.text == "|" and not self._is_double(start)
        pair = token.text == "|" and not single
        self.i += 1 + pair
        bar = token.text if single or not pair else "||"
        with self.inside(bar + r"\left" * (side > 0)):
            node = self.sum()
        for text in ("|", "|") if pair else (token.text,):
            if not self.sees(text) or side_of(self.t[self.i]) != -side:
                self.refuse(f"this {'|' if single else '‖'} is never closed")
            self.i += 1
        which = "2"
        if not single and self.sees("_"):
            self.i += 1
            which = "".join(t.text for t in self._index_tokens())
            if which not in ("1", "2", "F", "oo"):
                self.refuse(f"the norm with the index {which} is not known")
        if not single and self._has_arrays():
            return self.made(_call("norm", node, ast.Constant(which)), start)
        return self.made(_call("abs", node), start)

    def _is_double(self, place: int) -> bool:
        """Whether two bars that open here are a norm: they close side by side, as in ||x||.

        In ||x| + y| they do not.
        """
        pair = self.t[place : place + 2]
        if [t.text for t in pair] != ["|", "|"] or side_of(pair[1]) < 0:
            return False
        place, depth, ended = place + 2, 2, False  # ended: whether what came before ends a value
        while place < len(self.t):
            token = self.t[place]
            if token.text in OPENING:
                place, ended = _end(self.t, place), True
            elif token.text == "|":
                ended = side_of(token) < 0 or (ended and not side_of(token))
                depth += -1 if ended else 1
                if depth == 1:
                    return [t.text for t in self.t[place + 1 : place + 2]] == ["|"]
            else:
                ended = token.text not in BINARY
            place += 1
        return True

    # -- names

    def _resolve(self) -> None:
        """The word that stands here as what it means: a symbol, a function, a product of symbols.

        An index belongs to the name if there is such a name; else it is the index of a sequence.
        """
        self._join()
        self._join_primes()
        token = self.t[self.i]
        if token.kind not in ("word", "command"):
            return
        written, index, taken = token.text, [], 1
        if token.kind == "word" and "_" in written and not self._is_known(written):
            written, tail = written.split("_", 1)
            if "_" in tail and self._takes_index(written) and self._is_indexed(tail[1:]):
                pair = [f"{written}_{tail[0]}", tail[1:]]  # u_iv_i is u_i v_i
                self.t[self.i : self.i + 1] = [token._replace(text=x, written=x) for x in pair]
                return self._resolve()
            if "_" in tail:
                return self._replace(1, token._replace(kind="stranger"))
            index = [t._replace(place=token.place, end=token.end) for t in tokens(tail)]
        elif self.sees("_", ahead=1):
            self._cut_index(self.i + 2)
            here, self.i = self.i, self.i + 2
            index = self._peek_group()
            self._skip_group()
            taken, self.i = self.i - here, here
        if index and (cut := self._cut_before(written, index)):
            rest = token.text[cut:]
            one = token._replace(text=written[:cut], written=written[:cut])
            self.t[self.i : self.i + 1] = [one, token._replace(text=rest, written=rest)]
            return self._resolve()
        if index:
            key = indexed(canonical(written), index)
            if key in self.words.spelled or indexed(written, index) in self.words.spelled:
                name = self.words.spelled.get(key) or self.words.spelled[indexed(written, index)]
                return self._replace(taken, Token("symbol", name, key, token.place, token.end))
            if key in self.words.functions:
                return self._replace(taken, Token("function", key, key, token.place, token.end))
            if taken > 1 and self.t[self.i + 2].text != "{":
                self._refuse_long(index[0])
            if not self._takes_index(written):
                shown = f"{pretty(written)}_{key.split('_', 1)[1]}"
                return self._replace(taken, Token("stranger", key, shown, token.place, token.end))
            behind = [token._replace(kind="sign", text="_"), token._replace(kind="sign", text="{"),
                      *index, token._replace(kind="sign", text="}")]  # fmt: skip
            self.t[self.i : self.i + taken] = [token._replace(text=written), *behind]
        self.t[self.i : self.i + 1] = [
            found._replace(place=token.place, end=token.end) for found in self._word(self.t[self.i])
        ]

    def _cut_before(self, written: str, index: list[Token]) -> int:
        """Where the name begins that an index belongs to: x in Ux_t, v in βv_prev; else 0."""
        if not written.isalpha() or self._has_index(written, index):
            return 0
        if self.latex:  # there every letter is a name
            return len(written) - 1 if self._has_index(written[-1], index) else 0
        found = [
            k
            for k in range(1, len(written))
            if self._has_index(written[k:], index) and len(self._readings(written[:k])) == 1
        ]
        return found[0] if len(found) == 1 else 0

    def _is_indexed(self, written: str) -> bool:
        """Whether a typed word with an index means something."""
        head, _, tail = written.partition("_")
        return bool(tail) and (self._is_known(written) or self._takes_index(head))

    def _has_index(self, written: str, index: list[Token]) -> bool:
        key = indexed(canonical(written), index)
        return self._takes_index(written) or key in self.words.spelled

    def _join(self) -> None:
        r"""A name that was declared as several, such as \Delta\theta, as one token."""
        token = self.t[self.i]
        for count in (3, 2):
            parts = self.t[self.i : self.i + count]
            if token.kind == "command" and all(t.kind in ("word", "command") for t in parts):
                name = "".join(t.text for t in parts)
                if len(parts) == count and name in self.words.symbols:
                    written = "".join(t.written for t in parts)
                    self.t[self.i : self.i + count] = [
                        Token("word", name, written, token.place, parts[-1].end)
                    ]

    def _join_primes(self) -> None:
        r"""x' as one token, where there is such a name; y'_1 is y_1'."""
        token = self.t[self.i]
        behind = place = self._behind_primes(self.i + 1)
        index: list[Token] = []
        if place < len(self.t) - 1 and self.t[place].text == "_":
            index = self._index_at(place + 1)
            place = self._behind_primes(_end(self.t, place + 1) + 1)
        count = sum(t.text in ("'", "prime") for t in self.t[self.i + 1 : place])
        if not count:
            return
        for end, found in ((place, index), (behind, [])):
            name = indexed(canonical(token.text), found) if found else canonical(token.text)
            name += "'" * (count if end == place else behind - self.i - 1)
            if name in self.words.spelled or name in self.words.functions:
                kind = "symbol" if name in self.words.spelled else "function"
                kind = "word" if any(self.words.indices.get(name, ())) else kind
                one = Token(kind, name, name, token.place, self.t[end - 1].end)
                return self._replace(end - self.i, one)
        if token.kind == "word" and token.text[1:].isalpha():  # ab' is a·b'
            first, last = token.text[:-1], token.text[-1]
            if any(canonical(last) + "'" * n in self.words.spelled for n in (1, 2)):
                self.t[self.i : self.i + 1] = [token._replace(text=first, written=first),
                                               token._replace(text=last, written=last)]  # fmt: skip

    def _behind_primes(self, place: int) -> int:
        r"""The place behind ', ' ' or ^\prime."""
        while place < len(self.t):
            if self.t[place].text == "'":
                place += 1
            elif self.t[place].text == "^" and {t.text for t in self._index_at(place + 1)} == {
                "prime"
            }:
                place = _end(self.t, place + 1) + 1
            else:
                break
        return place

    def _index_at(self, place: int) -> list[Token]:
        """The group or the one token that stands here."""
        if place >= len(self.t) or self.t[place].text != "{":
            return self.t[place : place + 1]
        return self.t[place + 1 : _end(self.t, place)]

    def _replace(self, taken: int, token: Token) -> None:
        self.t[self.i : self.i + taken] = [token]

    def _takes_index(self, written: str) -> bool:
        name = canonical(written)
        if name in self.words.indices and any(self.words.indices[name]):
            return True
        return name in ("log", "ln") or name in SPELLINGS or name in self.words.arrays

    def _is_known(self, written: str) -> bool:
        name = canonical(written)
        plain = SPELLINGS.get(name, name)
        return (
            name in self.words.spelled
            or name in self.words.functions
            or plain in self.words.known
            or written in self.bound
            or written in self.words.spelled
        )

    def _word(self, token: Token) -> list[Token]:
        """What a word without an index means: one or several tokens."""
        written, words = token.text, self.words
        called = self.i + 1 < len(self.t) and self.t[self.i + 1].text == "("
        name = canonical(written)
        shown = token.written
        plain = SPELLINGS.get(name, name)
        letter = plain == "gamma" and token.written != "gamma"
        if letter or (plain in ("gamma", "Gamma") and not called):
            plain = ""
        if re.fullmatch(r"\\[A-Za-z]", token.written):  # x\y is no product
            return [Token("other", written, shown, 0, 0)]
        if written in self.bound or name in self.bound:
            return [Token("symbol", name, shown, 0, 0)]
        if name in words.functions:
            return [Token("function", name, shown, 0, 0)]
        if written in words.spelled or name in words.spelled:
            return [Token("symbol", words.spelled.get(written) or words.spelled[name], shown, 0, 0)]
        if plain in words.known or plain in STRUCTURE:
            return [Token("function", plain, shown, 0, 0)]
        if name in words.arrays:
            return [Token("function", name, shown, 0, 0)]
        if name in words.constants or name in ("infty", "infinity"):
            name = name if name in words.constants else "oo"
            return [Token("symbol", name, shown, 0, 0)]
        if written in NOT_HERE:
            self.refuse(NOT_HERE[written], token)
        if _is_keyword(written) or not (written.isidentifier() or "{" in written):
            return [Token("other", written, shown, 0, 0)]
        if name in LETTERS or token.kind == "command":
            return [Token("stranger", name, shown, 0, 0)]
        return self._parts(written, name, token)

    def _parts(self, written: str, name: str, token: Token) -> list[Token]:
        """A word that is a product of symbols, or a function and its number; else a stranger."""
        words = self.words
        called = self.i + 1 < len(self.t) and self.t[self.i + 1].text == "("
        digits = re.fullmatch(r"([A-Za-z]+)(\d+)", written)
        if digits and digits[1] in words.known and not called:
            function, number = digits.groups()
            return [Token("function", function, function, 0, 0), _digits(number)]
        if called or self.sees("'", ahead=1):
            cuts = [k for k in range(1, len(written)) if self._is_cut(written, k)]
            if len(cuts) == 1:  # xf(x) is x·f(x)
                f = written[cuts[0] :]
                last = Token("function", SPELLINGS.get(f, canonical(f)), f, 0, 0)
                return [*self._parts(written[: cuts[0]], name, token), last]
        upright = token.written.startswith("\\")  # \mathrm{TP} is a name, no product
        readings = [] if upright else self._readings(written)
        if len(readings) > 1:
            ways = " or ".join(f"`{'*'.join(reading)}`" for reading in readings)
            raise FormulaError(f"{quoted(written)} can be read in two ways: did you mean {ways}?")
        if readings:
            return [Token("symbol", words.parts.get(p, p), p, 0, 0) for p in readings[0]]
        if (digits := re.fullmatch(r"(.*?)_?(\d+)", written)) and digits[1] in words.spelled:
            ways = " or ".join(f"`{digits[1]}{sign}{digits[2]}`" for sign in ("*", "**"))
            raise FormulaError(f"{quoted(written)} is no symbol here; did you mean {ways}?")
        return [Token("stranger", name, written, 0, 0)]

    def _is_cut(self, written: str, place: int) -> bool:
        """Whether a function begins here, behind a product of names."""
        function = written[place:]
        known = len(function) > 2 and SPELLINGS.get(function, function) in self.words.known
        known = known or canonical(function) in self.words.functions
        return known and len(self._readings(written[:place])) == 1

    def _readings(self, written: str) -> list[list[str]]:
        """The ways to cut a word into names; indices of sums are names too."""
        found = self.words.readings(written) if self.words.parts else []
        if self.bound and not found and written.isalpha():
            found = _with_bound(self.words, self.bound).readings(written)
        return found

    def _name(self, token: Token) -> ast.expr:
        """A symbol; with its index the item of a sequence or an entry."""
        start = self.i
        self.i += 1
        items, entries = self.words.indices.get(token.text, (0, 0))
        if token.text in self.bound or not (items or entries) or not self.sees("_"):
            return self.made(ast.Name(token.text, ast.Load()), start)
        self.i += 1
        return self._entry(token.text, items, entries, start)

    def _entry(self, name: str, items: int, entries: int, start: int) -> ast.expr:
        """The item or the entry of a name, behind its _."""
        found = self._indices(items + entries, of_matrix=entries == 2)
        if len(found) > items + entries:
            many = ["no index", "one index", "two indices"][min(items + entries, 2)]
            self.refuse(f"{pretty(name)} takes {many}", self.t[start])
        node: ast.expr = ast.Name(name, ast.Load())
        if items:
            node = self.made(_call(name, found[0]), start)
            found = found[1:]
        if found:
            node = self.made(ast.Subscript(node, _tuple(found), ast.Load()), start)
        return node

    # -- functions

    def _function(self, token: Token) -> ast.expr:
        """A function with its argument: in brackets, in a group, or the next factor."""
        start, name = self.i, token.text
        self.i += 1
        items, entries = self.words.indices.get(name, (0, 0))
        declared = name in self.words.functions
        if declared and items and self.sees("_"):
            self.i += 1
            return self._entry(name, items, entries, start)
        if declared:
            return self._declared_function(name, items, start)
        power = None
        base = self._index_tokens() if self.sees("_") and self._step() else []
        if self.sees("^", "**") and not self._ends_here(1):
            power = self._power_of_function(token)
        arguments = self._arguments(token, start)
        node = self._named(name, base, arguments, start)
        return node if power is None else self.made(ast.BinOp(node, ast.Pow(), power), start)

    def _step(self) -> bool:
        self.i += 1
        return True

    def _ends_here(self, ahead: int) -> bool:
        return self.i + ahead >= len(self.t)

    def _declared_function(self, name: str, items: int, start: int) -> ast.expr:
        order = 0
        while self.sees("'") or (self.sees("^") and [t.text for t in self._peek_group()] in (
            ["prime"], ["'"]
        )):  # fmt: skip
            self.i += 1 if self.sees("'") else 1 + len(self._peek_group())
            order += 1
        if order > 1:
            self.refuse(f"a second derivative of {pretty(name)} is not known")
        if self.sees("^", "**") and not items and not order:
            name, power = pretty(name), "".join(t.text for t in self._power_tokens())
            inverse = f"the inverse of {name}" if power == "-1" else f"{name}({name}(…))"
            raise FormulaError(
                f"{quoted(self.text)} can be read in two ways: "
                f"did you mean `{name}(…)**({power})` or {inverse}?"
            )
        if not self.sees("(", "["):
            if items and not order:  # a sequence as a whole, such as the g of E[g]
                return self.made(ast.Name(name, ast.Load()), start)
            self.refuse(f"after {pretty(name)} its argument is missing; write it in brackets")
        arguments = self._in_brackets()
        if not arguments:
            self.refuse(f"the argument of {pretty(name)} is missing", self.t[start])
        function: Any = ast.Name(name, ast.Load())
        if order:
            function = ast.Attribute(function, "prime", ast.Load())
        return self.made(ast.Call(function, arguments, []), start)

    def _power_tokens(self) -> list[Token]:
        """The exponent that stands here, behind its sign."""
        bracketed = self.sees("(", ahead=1)
        place = self.i + 1
        return self.t[place + 1 : _end(self.t, place)] if bracketed else self._index_at(place)

    def _in_brackets(self) -> list[ast.expr]:
        opening = self.t[self.i]
        self.i += 1
        if self.sees(OPENING[opening.text]):
            self.i += 1
            return []
        with self.inside(opening.text):
            found = [self.relation()]
            while self.sees(","):
                self.i += 1
                found.append(self.relation())
        if not self.sees(OPENING[opening.text]):
            if self.token is None:
                self.refuse(f"close every bracket; this {opening.written} stays open", opening)
            self.refuse_token(self.token)
        self.i += 1
        return found

    def _power_of_function(self, token: Token) -> ast.expr:
        """The 2 of sin²x; sin^{-1} may be the inverse or 1/sin."""
        self.i += 1
        group = [t.text for t in self._peek_group()]
        bracketed = group == ["("]
        if bracketed:
            group = [t.text for t in self.t[self.i + 1 : _end(self.t, self.i)]]
        if group[:1] == ["-"]:
            name = token.written.lstrip("\\")
            inverse = f"arc{name}(…)" if token.text in UNARY else f"the inverse of {name}"
            raise FormulaError(
                f"{quoted(self.text)} can be read in two ways: "
                f"did you mean `{inverse}` or `1/{name}(…)`?"
            )
        return self._bracketed_sum() if bracketed else self._group()

    def _arguments(self, token: Token, start: int) -> list[ast.expr]:
        if self.sees("(", "[") or (self.sees("{") and not self.cases):
            cases = token.text == "Piecewise"
            self.cases += cases
            found = self._in_brackets()
            self.cases -= cases
            return found
        here = self.token
        argument = here is not None and (
            here.kind in ("number", "word", "symbol", "stranger", "function")
            or (here.kind == "command" and self.starts_factor())
            or (here.text in ("|", "||") and self.starts_factor())
        )
        if not argument:
            raise FormulaError(
                f"{quoted(self.text)}: after {token.written} its argument is missing; write it in "
                f"brackets, as in {token.written}(…)."
            )
        first = self.i
        node = self.power()
        end = self.i - 1
        if self.starts_factor() and not self._starts_function():
            narrow = _bracketed(self.t, first, end)
            starred = [*self.t[: end + 1], TIMES, *self.t[end + 1 :]]
            last = _end_of_factor(self.t, end + 1)
            after = end + 3  # both brackets stand before what follows
            raise _offer(
                self.text,
                [*narrow[:after], TIMES, *narrow[after:]],
                _bracketed(starred, first, last + 1),
            )
        if self.sees("/") and not self._divided_by_function():  # sin x/2 may be that of a half
            last = _end_of_factor(self.t, end + 2)
            narrow = _bracketed(self.t, first, end)
            raise _offer(self.text, narrow, _bracketed(self.t, first, last))
        self.t[:] = _bracketed(self.t, first, end)
        self.i += 2
        return [node]

    def _divided_by_function(self) -> bool:
        """Whether a function stands behind this /: ln n / ln 2 is clear."""
        self.i += 1
        found = self.i < len(self.t) and self._starts_function()
        self.i -= 1
        return found

    def _starts_function(self) -> bool:
        """Whether a function begins here: sin a cos b is clear."""
        token = self.t[self.i]
        if token.kind == "function":
            return True
        if token.kind not in ("word", "command"):
            return False
        here = self.t[self.i]
        found = self._word(here)[0]
        return found.kind == "function" or token.text in ("frac", "sqrt", "sum", "prod", "int")

    def _named(
        self, name: str, base: list[Token], arguments: list[ast.expr], start: int
    ) -> ast.expr:
        """A known function of these arguments; a base belongs to a logarithm."""
        if base and name in ("log", "ln"):
            number = self._within(base, Parser.sum, start)
            arguments = [*arguments, number]
            if isinstance(number, ast.Constant) and number.value in (2, 10):
                name, arguments = f"log{number.value}", arguments[:1]
            else:
                name = "log"
        elif base and name in self.words.arrays:
            arguments = [*arguments, ast.Constant("".join(t.text for t in base))]
        elif base:
            self.refuse(f"{name} takes no index", base[0])
        return self.made(_call(name, *arguments), start)

    # -- LaTeX's own constructions

    def _read_by(self, token: Token) -> Callable[[], ast.expr] | None:
        """What reads a construction that begins with this word; None for a name."""
        name = token.text
        if name in ("max", "min") and self.sees("_", ahead=1):
            return self._big
        if token.kind == "word":
            ahead = self.sees("[", ahead=1)
            if ahead and name[1:] and name[-1] == "E" and len(self._readings(name[:-1])) == 1:
                self.t[self.i : self.i + 1] = [  # aE[X]
                    token._replace(text=part, written=part) for part in (name[:-1], "E")
                ]
                return None
            told = ahead or (self.sees("(", ahead=1) and "Expectation" in self.words.arrays)
            if name == "mathbb{E}" or (name == "E" and told and "E" not in self.words.symbols):
                return self._expectation
            if name in ("ones", "zeros") and token.written != name:
                index = self.sees("_", ahead=1) and self.t[self.i + 2 : self.i + 3]
                return None if indexed(name, index or []) in self.words.symbols else self._ones
            if name == "I" and self._has_arrays() and "I" not in self.words.symbols:
                return self._ones
            if name in ("True", "False"):
                return self._truth
            return None
        readers = {
            "frac": self._fraction, "sqrt": self._root, "sum": self._big, "prod": self._big,
            "int": self._integral, "lim": self._limit, "nabla": self._nabla, "langle": self._inner,
            "lfloor": self._floor, "lceil": self._floor, "begin": self._environment,
            "binom": self._binomial, "underbrace": self._braced, "overbrace": self._braced,
        }  # fmt: skip
        if name in readers:
            return readers[name]
        if name == "partial" and self.sees("_", ahead=1):
            return self._nabla
        if name in NOT_HERE or name in ("rfloor", "rceil", "rangle", "end", "partial", "top"):
            self.refuse_token(token)
        return None

    def _truth(self) -> ast.expr:
        self.i += 1
        return ast.Constant(self.t[self.i - 1].text == "True")

    def _ones(self) -> ast.expr:
        self.i += 1
        name, size = self.t[self.i - 1].text, []
        if self.sees("_"):  # I_n; without an index its size follows from what stands beside it
            self.i += 1
            size = [self._within(self._index_tokens(), Parser.primary, self.i)]
        return ast.Constant(0) if name == "zeros" else _call("eye" if name == "I" else name, *size)

    def _fraction(self) -> ast.expr:
        start = self.i
        self.i += 1
        if (derivative := self._derivative(start)) is not None:
            return derivative
        top = self._group_or_digit()
        bottom = self._group_or_digit()
        return ast.BinOp(top, ast.Div(), bottom)

    def _group_or_digit(self) -> ast.expr:
        """In \frac12 and \frac x2 each sign is an argument."""
        token = self.token
        if token is not None and token.kind == "number" and len(token.text) > 1:
            if not token.text.isdigit():
                self.refuse("write the parts of this fraction in {…}")
            self._cut(self.i)
        elif token is not None and token.kind == "word" and self._is_two_signs(token.text):
            self._cut(self.i)
        return self._group()

    def _is_two_signs(self, text: str) -> bool:
        return len(text) == 2 and text.isalnum() and canonical(text) not in self.words.spelled

    def _derivative(self, start: int) -> ast.expr | None:
        r"""\frac{d}{dx} f, \frac{\partial f}{\partial x}; None for a plain fraction."""
        if not self.sees("{"):
            return None
        top = self._peek_group()
        close = _end(self.t, self.i)
        if close + 1 >= len(self.t) or self.t[close + 1].text != "{" or not top:
            return None
        bottom = self.t[close + 2 : _end(self.t, close + 1)]
        if not bottom:
            return None
        curly = top[0].text == "partial"
        if not curly and not (_is_d(top[0]) and _is_d(bottom[0])):
            return None
        if curly != (bottom[0].text == "partial"):
            self.refuse("a derivative needs its ∂ above and below", top[0])
        if not curly:
            if top[0].text != "d" and len(top) == 1 and self._is_known(top[0].text):
                return None
            if len(bottom) == 1 and (bottom[0].text == "d" or self._is_known(bottom[0].text)):
                return None
            squared = [t.text for t in top[:2]] == ["d", "^"]
            marks = ("_", "+", "-", "*", "/", *["^"] * (not squared))
            if bottom[1:] and bottom[1].text in marks:
                return None
            if "d" in self.words.symbols:
                self.refuse("d is a quantity here, so this is no clear derivative: write ∂", top[0])
        top = top[1:] if curly or top[0].text == "d" else _without_d(top)
        order = 1
        if top and top[0].text == "^":
            power = top[2 : _end(top, 1)] if top[1:] and top[1].text == "{" else top[1:2]
            order = int(power[0].text) if [t.kind for t in power] == ["number"] else 0
            top = top[_end(top, 1) + 1 :]
        variables = self._variables(bottom, start)
        if len(variables) != order:
            self.refuse("above and below stand different orders of a derivative", bottom[0])
        self.i = _end(self.t, close + 1) + 1
        body = self._within(top, Parser.sum, start) if top else self.term()
        for variable in variables:
            body = _call("Derivative", body, variable)
        return body

    def _variables(self, bottom: list[Token], start: int) -> list[ast.expr]:
        r"""x of dx, x twice of \partial x^2, x and y of \partial x \partial y."""
        starts = [k for k, t in enumerate(bottom) if t.text == "partial" or (not k and _is_d(t))]
        found: list[ast.expr] = []
        for k, following in pairwise([*starts, len(bottom)]):
            part = bottom[k:following]
            part = part[1:] if part[0].text in ("partial", "d") else _without_d(part)
            times = 1
            power = [t.text for t in part[-2:]] if len(part) > 2 else []
            if power[:1] == ["^"] and power[1].isdigit():
                part, times = part[:-2], int(power[1])
            elif len(part) > 4 and [t.text for t in part[-4:-2]] == ["^", "{"]:
                part, times = part[:-4], int(part[-2].text) if part[-2].text.isdigit() else 0
            if not 0 < times < 5:
                self.refuse("the order of this derivative is not understood", bottom[0])
            found += [self._within(part, Parser.primary, start)] * times
        return found

    def _root(self) -> ast.expr:
        self.i += 1
        degree = None
        if self.sees("["):
            degree = self._bracketed_sum()
        body = self._group()
        if degree is None:
            return _call("sqrt", body)
        return ast.BinOp(body, ast.Pow(), ast.BinOp(ast.Constant(1), ast.Div(), degree))

    def _binomial(self) -> ast.expr:
        self.i += 1
        return _call("binomial", self._group_or_digit(), self._group_or_digit())

    def _braced(self) -> ast.expr:
        """What stands above or below a brace explains it, and is not read."""
        self.i += 1
        body = self._group()
        if self.sees("_", "^"):
            self.i += 1
            self._skip_group()
        return body

    def _floor(self) -> ast.expr:
        name = self.t[self.i].text[1:]
        self.i += 1
        with self.inside(name):
            body = self.sum()
        self.take(f"r{name}")
        return _call({"floor": "floor", "ceil": "ceil"}[name], body)

    def _inner(self) -> ast.expr:
        self.i += 1
        with self.inside("langle"):
            left = self.sum()
            self.take(",", "an inner product has two parts with a comma between them")
            right = self.sum()
        self.take("rangle")
        return _call("inner", left, right)

    def _big(self) -> ast.expr:
        r"""\sum_{i=1}^{n} and its like, with the term that follows."""
        start, token = self.i, self.t[self.i]
        self.i += 1
        below, above = self._bounds()
        kind = BIG[token.text]
        if not below:
            raise FormulaError(
                f"{quoted(self.text)}: the index and the bounds are missing; write a sum as "
                r"Sum(…, (i, 1, n)) or \sum_{i=1}^{n} …, with what is added in place of the dots."
            )
        ranges = self._ranges(below, above, token)
        names, condition = [name for name, _, _ in ranges], self.condition
        before, self.bound, self.condition = self.bound, [*self.bound, *names], None
        body = self.term()
        self.bound = before
        if condition is not None:
            if kind != "Sum":
                self.refuse("these bounds are not understood", below[0])
            pieces = [_tuple([body, condition]), _tuple([ast.Constant(0), ast.Constant(True)])]
            body = self.made(_call("Piecewise", *pieces), start)
        for name, low, high in reversed(ranges):
            limits = [ast.Name(name, ast.Load()), *([low, high] if low is not None else [])]
            body = self.made(_call(kind, body, _tuple(limits)), start)
        return body

    def _ranges(self, below: list[Token], above: Any, token: Token) -> list[tuple[str, Any, Any]]:
        """The indices below a sum sign with their bounds; None where the use tells them."""
        signs = [k for k, t in enumerate(below) if t.text in (*RELATIONS, "=")]
        if not signs:
            if above is not None:
                self.refuse("the first value of this index is missing", below[0])
            if any(t.text == "in" for t in below):
                self.refuse("a sum over a set is not computed here", below[0])
            letters = [t for t in below if t.text != ","]
            if len(letters) == 1 and letters[0].kind == "word" and len(letters[0].text) == 2:
                letters = [letters[0]._replace(text=c) for c in letters[0].text]
            if any(t.kind not in ("word", "command") for t in letters):
                self.refuse("these bounds are not understood", below[0])
            return [(canonical(t.text), None, None) for t in letters]
        if len(signs) == 1 and below[signs[0]].text == "=":
            name = self._index_name(below[: signs[0]])
            if above is None:
                self.refuse("the last value of this index is missing", below[0])
            return [(name, self._within(below[signs[0] + 1 :], Parser.sum, self.i), above)]
        if len(signs) == 2 and above is None:
            a, b = signs
            low, middle, high = below[:a], below[a + 1 : b], below[b + 1 :]
            one, two = below[a].text, below[b].text
            if one[0] == two[0] == ">":
                low, high, one, two = high, low, two, one
            elif one[0] != "<" or two[0] != "<":
                self.refuse("these bounds are not understood", below[0])
            first, last = (self._within(x, Parser.sum, self.i) for x in (low, high))
            if "=" not in one:
                first = self.made(ast.BinOp(first, ast.Add(), ast.Constant(1)), self.i - 1)
            if "=" not in two:
                last = self.made(ast.BinOp(last, ast.Sub(), ast.Constant(1)), self.i - 1)
            return [(self._index_name(middle), first, last)]
        if len(signs) == 1 and above is None:
            return self._related(below, signs[0])
        self.refuse("these bounds are not understood", below[0])

    def _related(self, below: list[Token], sign: int) -> list[tuple[str, Any, Any]]:
        r"""k \ge 0 without an end; i < j and i \ne j of two indices, each over all its values."""
        left, relation, right = below[:sign], below[sign].text, below[sign + 1 :]
        if relation in (">", ">="):
            first = self._within(right, Parser.sum, self.i)
            if relation == ">":
                first = self.made(ast.BinOp(first, ast.Add(), ast.Constant(1)), self.i - 1)
            if not self._is_index(right):
                return [(self._index_name(left), first, ast.Name("oo", ast.Load()))]
        if not (self._is_index(left) and self._is_index(right)):
            self.refuse("these bounds are not understood", below[0])
        names = [canonical(side[0].text) for side in (left, right)]
        one, two = (ast.Name(name, ast.Load()) for name in names)
        self.condition = ast.Compare(one, [RELATIONS[relation]()], [two])
        return [(name, None, None) for name in names]

    def _is_index(self, side: list[Token]) -> bool:
        """Whether this is a letter that means nothing else."""
        return (
            len(side) == 1
            and side[0].kind in ("word", "command")
            and canonical(side[0].text) not in self.words.symbols | self.words.constants
        )

    def _index_name(self, found: list[Token]) -> str:
        if len(found) != 1 or found[0].kind not in ("word", "command"):
            self.refuse("the index of a sum is one letter", (found or self.t)[0])
        return canonical(found[0].text)

    def _expectation(self) -> ast.expr:
        start = self.i
        self.i += 1
        law: list[Token] = []
        if self.sees("_"):
            self.i += 1
            law = self._index_tokens()
        middle = [k for k, t in enumerate(law) if t.text in ("in", "sim")]
        name = ""
        if middle:
            name = canonical(law[0].text)
            rest = "".join(t.text for t in law[middle[0] + 1 :])
            if not re.fullmatch(r"mathcal\{N\}\((0|zeros),(I(_\w+|_\{\w+\})?|1)\)", rest):
                self.refuse("only the normal law N(0, I) is known here", law[0])
        body = self._bracketed_sum() if self.sees("[", "(", "{") else self.term()
        parts = [body, ast.Name(name, ast.Load())] if name else [body]
        found = _call("Expectation", *parts)
        if len(law) == 1:  # E_w: the law of w is told by its declaration, or not at all
            vars(found)["over"] = canonical(law[0].text)
        return self.made(found, start)

    def _nabla(self) -> ast.expr:
        start = self.i
        self.i += 1
        if not self.sees("_"):  # ∇L(θ) has but one
            match body := self.term():
                case ast.Call(func=ast.Name(id=name), args=[ast.Name() as variable]):
                    if name in self.words.functions:
                        return _call("Derivative", body, variable)
            self.refuse("∇ needs the variable as its index", self.t[start])
        self.i += 1
        variable = self._within(self._index_tokens(), Parser.primary, start)
        return _call("Derivative", self.term(), variable)

    def _integral(self) -> ast.expr:
        start = self.i
        self.i += 1
        below, above = self._bounds()
        place, variable = self._find_differential(start)
        before, self.bound = self.bound, [*self.bound, variable]
        outer, self.differential = self.differential, self.t[place]
        empty = self.i == place
        body = self.made(ast.Constant(1), start) if empty else self.sum()
        if self.token is not self.differential:
            self.refuse("the integrand ends before its d" + pretty(variable))
        self.i += 1 if len(self.t[self.i].text) > 1 else 2
        self.bound, self.differential = before, outer
        if empty and self.starts_factor():
            self.refuse("what is integrated stands before its d" + pretty(variable))
        texts = [t.text for t in below]
        whole = not below or texts == [variable] or texts[:1] == ["mathbb{R}"]
        if above is None and whole:
            if not below and not self.words.indices.get(variable, (0, 0))[1]:  # of a number
                self.refuse("an integral without limits is no number", self.t[start])
            limits = [_call("whole")]
        elif above is not None and below:
            limits = [self._within(below, Parser.sum, start), above]
        else:
            self.refuse("the bounds of this integral are not understood", self.t[start])
        return _call("Integral", body, _tuple([ast.Name(variable, ast.Load()), *limits]))

    def _limit(self) -> ast.expr:
        r"""\lim_{n \to \infty} of the term that follows; x \to 0^+ from above."""
        start = self.i
        self.i += 1
        below, _ = self._bounds()
        arrow = [k for k, token in enumerate(below) if token.text in ARROWS]
        if len(arrow) != 1 or arrow[0] != 1:
            self.refuse("below lim stands where its variable goes, such as n \\to \\infty",
                        self.t[start])  # fmt: skip
        variable, to = canonical(below[0].text), below[2:]
        side = 0
        signs = [t.text for t in to if t.text not in ("{", "}")][-2:]
        if signs in (["^", "+"], ["^", "-"]):
            side = 1 if signs[1] == "+" else -1
            to = to[: max(k for k, token in enumerate(to) if token.text == "^")]
        before, self.bound = self.bound, [*self.bound, variable]
        body = self.term()
        self.bound = before
        if any(t.text == variable for t in self._rest_of_sum()):
            self.refuse("does lim go on behind this sign? Use brackets")
        limits = [ast.Name(variable, ast.Load()), self._within(to, Parser.sum, start)]
        return _call("Limit", body, _tuple([*limits, ast.Constant(side)]))

    def _rest_of_sum(self) -> list[Token]:
        """What follows with + and −, up to a bracket that closes, a relation or a comma."""
        depth, found = 0, []
        for token in self.t[self.i :]:
            depth += (token.text in OPENING) - (token.text in OPENING.values())
            if depth < 0 or (not depth and token.text in (*RELATIONS, "=", ",")):
                break
            found.append(token)
        return found

    def _bounds(self) -> tuple[list[Token], Any]:
        """What stands below and above a sum or an integral, in either order."""
        below: list[Token] = []
        above = None
        while (self.sees("_") and not below) or (self.sees("^") and above is None):
            self.i += 1
            if self.t[self.i - 1].text == "_":
                below = self._index_tokens()
            elif self.latex and not self.sees("("):
                above = self._group()
            else:
                above = self.power()
        return below, above

    def _find_differential(self, start: int) -> tuple[int, str]:
        """Where the dx of an integral stands, and its letter."""
        depth = inner = 0
        for place in range(self.i, len(self.t)):
            token = self.t[place]
            depth += (token.text in OPENING) - (token.text in OPENING.values())
            if depth < 0 or (depth == 0 and token.text in (r"\\", "=")):
                break
            inner += not depth and token.text == "int"  # its dx stands before ours
            if depth or not _is_d(token):
                continue
            following = self.t[place + 1] if place + 1 < len(self.t) else None
            if token.text == "d" and following and following.kind in ("word", "command"):
                found = following.text
            elif token.text != "d" and not self._is_known(token.text):
                found = token.text[1:]
            else:
                continue
            if not inner:
                return place, canonical(found)
            inner -= 1
        return self._differential_on_a_fraction(start)

    def _differential_on_a_fraction(self, start: int) -> tuple[int, str]:
        r"""∫ \frac{dz}{z} as ∫ \frac{1}{z} dz."""
        for place in range(self.i, len(self.t) - 1):
            if self.t[place].text == "frac" and self.t[place + 1].text == "{":
                top = _end(self.t, place + 1)
                spot = next((k for k in (top - 1, top - 2) if _is_d(self.t[k])), None)
                if spot is None:
                    continue
                moved = self.t[spot:top]
                end = _end(self.t, top + 1) + 1
                self.t[end:end] = moved
                one = [] if spot > place + 2 else [_digits("1")._replace(place=moved[0].place)]
                self.t[spot:top] = one
                if self.t[spot - 1].text == "*":
                    del self.t[spot - 1]
                return self._find_differential(start)
        self.refuse("this integral has no dx", self.t[start])

    def _environment(self) -> ast.expr:
        r"""A matrix: rows with \\ between them, entries with &."""
        start = self.i
        self.i += 1
        name = "".join(t.text for t in self._peek_group())
        if name in ("cases", "dcases", "rcases"):
            return self._by_cases(start)
        if name not in ("matrix", "bmatrix", "pmatrix", "vmatrix"):
            self.refuse(f"the environment {name} is not read here", self.t[start])
        self._skip_group()
        rows: list[list[Any]] = [[]]
        with self.inside("begin"):
            while not self.sees("end"):
                if self.token is None:
                    self.refuse("this matrix has no end", self.t[start])
                if self.sees("&"):
                    self.i += 1
                elif self.sees(r"\\"):
                    self.i += 1
                    rows.append([])
                elif self.sees("ldots", "vdots", "ddots"):
                    self.i += 1
                    rows[-1].append(None)
                else:
                    rows[-1].append(self.sum())
        self.i += 1
        self._skip_group()
        rows = [row for row in rows if row]
        if not rows or len({len(row) for row in rows}) > 1:
            self.refuse("the rows of this matrix have different lengths", self.t[start])
        try:
            matrix = self._matrix(rows)
        except FormulaError as trouble:
            self.refuse(f"{trouble}; write its entries, or a product", self.t[start])
        return _call("det", matrix) if name == "vmatrix" else matrix

    def _by_cases(self, start: int) -> ast.expr:
        r"""Rows of a value and its condition, `x & x > 0 \\`, or `\text{otherwise}`."""
        self._skip_group()
        pieces: list[Any] = []
        with self.inside("begin"):
            while not self.sees("end"):
                if self.token is None:
                    self.refuse("these cases have no end", self.t[start])
                if self.sees(r"\\"):
                    self.i += 1
                    continue
                value = self.sum()
                while self.sees(",", "&") or self._says("if", "for", "when", "where"):
                    self.i += 1
                if self._says("otherwise", "else", "elsewhere"):
                    self.i += 1
                    condition: ast.expr = ast.Constant(True)
                else:
                    condition = self._condition()
                while self.sees(",", "."):
                    self.i += 1
                pieces.append(_tuple([value, condition]))
        self.i += 1
        self._skip_group()
        if not pieces:
            self.refuse("there is no case here", self.t[start])
        return self.made(_call("Piecewise", *pieces), start)

    def _says(self, *words: str) -> bool:
        return bool(self.token and self.token.text.strip(" .,").lower() in words)

    def _condition(self) -> ast.expr:
        """x > 0, x = 0, or 0 < x < 1."""
        start, found = self.i, []
        left = self.sum()
        while self.sees(*RELATIONS, "="):
            sign = self.t[self.i].text
            self.i += 1
            right = self.sum()
            for kind in (ast.LtE, ast.GtE) if sign in ("=", "==") else (RELATIONS[sign],):
                found.append(self.made(ast.Compare(left, [kind()], [right]), start))
            left = right
        if not found:
            self.refuse("behind & stands when this case holds, such as x > 0")
        whole: ast.expr = found[0]
        for one in found[1:]:
            whole = self.made(ast.BinOp(whole, ast.BitAnd(), one), start)
        return whole

    def _matrix(self, rows: list[list[Any]]) -> ast.expr:
        """Its rows one by one, or between dots by a pattern of their entries."""
        across, down = self._fresh(), self._fresh(self._fresh())
        made = [self._between(row, across) for row in rows if any(row)]
        if len(made) == len(rows):
            return _call("Matrix", *made)
        dots = next(k for k, row in enumerate(rows) if not any(row))
        found = self._between([*made[:dots], None, *made[dots:]], down)
        if isinstance(found, ast.Tuple):
            raise FormulaError("the dots of this matrix show no pattern")
        return found

    def _between(self, parts: list[Any], index: str) -> ast.expr:
        """The parts of a row, or the rows of a matrix; where there are dots, by their pattern."""
        if None not in parts:
            return _tuple(parts)
        dots = parts.index(None)
        if dots not in (1, 2) or len(parts) != dots + 2 or parts[-1] is None:
            raise FormulaError("dots in a matrix stand between its first and its last entry")
        return pattern_of([*parts[:dots], None][:2], parts[-1], "Entries", index)


# -- nodes ----------------------------------------------------------------------------------------


def _is_entry(node: ast.Subscript) -> bool:
    """Whether this is an entry of a matrix, with its two indices."""
    return isinstance(node.slice, ast.Tuple) and len(node.slice.elts) == 2


def _call(name: str, *arguments: ast.expr) -> ast.Call:
    return ast.Call(ast.Name(name, ast.Load()), list(arguments), [])


def _tuple(parts: list[Any]) -> ast.Tuple:
    return ast.Tuple(parts, ast.Load())


def _power(node: ast.expr, exponent: int) -> ast.BinOp:
    return ast.BinOp(node, ast.Pow(), ast.UnaryOp(ast.USub(), ast.Constant(-exponent)))


def _called(call: ast.Call) -> str:
    return call.func.id if isinstance(call.func, ast.Name) else ""


def _go_on(terms: list[ast.expr]) -> bool:
    """Whether numbers have one step, as those of 1 + 3 + 5 + …, but not of 1 + 2 + 4 + …."""
    numbers = [t.value for t in terms if isinstance(t, ast.Constant)]
    if len(numbers) < len(terms):
        return True
    return len({b - a for a, b in pairwise(numbers)}) < 2  # type: ignore[operator]


# -- tokens that stand for a part of the formula --------------------------------------------------


def _is_keyword(text: str) -> bool:
    return keyword.iskeyword(text) and text not in ("lambda", "True", "False")


def _digits(number: str) -> Token:
    return Token("number", number, number, 0, 0)


def _is_d(token: Token) -> bool:
    """d, or dx as one word."""
    return token.kind == "word" and bool(re.fullmatch(r"d[A-Za-z]?", token.text))


def _without_d(found: list[Token]) -> list[Token]:
    first = found[0]
    if first.text == "d":
        return found[1:]
    return [first._replace(text=first.text[1:], written=first.written[1:]), *found[1:]]


def _with_bound(words: Vocabulary, bound: list[str]) -> Vocabulary:
    return replace(words, symbols=words.symbols.union(bound))


def _bound_in_calls(pieces: list[str]) -> set[str]:
    """The summation indices: the i of `, (i, `."""
    if not {"Sum", "Product", "Integral"} & set(pieces):
        return set()
    places = range(2, len(pieces) - 1)
    return {pieces[k] for k in places if (*pieces[k - 2 : k], pieces[k + 1]) == (",", "(", ",")}


def _start(found: list[Token], end: int) -> int:
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


def _end(found: list[Token], start: int) -> int:
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


def _end_of_factor(found: list[Token], start: int) -> int:
    """Where the atom that starts here ends, with its power."""
    end = _end(found, start)
    if end + 2 < len(found) and found[end + 1].text in ("**", "^"):
        exponent = end + 2
        while exponent + 1 < len(found) and found[exponent].text in "+-":
            exponent += 1
        return _end(found, exponent)
    return end


# -- two readings ---------------------------------------------------------------------------------


def _bracketed(found: list[Token], start: int, end: int) -> list[Token]:
    opening, closing = (TIMES._replace(text=x, written=x, place=found[min(p, len(found) - 1)].place)
                        for x, p in (("(", start), (")", end)))  # fmt: skip
    return [*found[:start], opening, *found[start : end + 1], closing, *found[end + 1 :]]


def _offer(text: str, *readings: list[Token]) -> FormulaError:
    ways = " or ".join(map(_shown, readings))
    if len(readings) == 1:
        return FormulaError(f"{quoted(text)} lacks a sign; did you mean {ways}?")
    return FormulaError(f"{quoted(text)} can be read in two ways: did you mean {ways}?")


def _shown(reading: list[Token]) -> str:
    way = _as_written(reading)
    return f"`{way if len(way) <= 80 else f'{way[:79]}…'}`"


def _as_written(found: list[Token]) -> str:
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
