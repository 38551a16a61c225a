r"""Terms: sums, products and powers, from the loosest to the tightest.

What is meant and not written, such as the sign of a product, is put among the tokens.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import Any, NoReturn, TypeVar

from .dots import pattern_of
from .notation import (
    SPELLINGS,
    FormulaError,
    Token,
    Vocabulary,
    canonical,
    indexed,
    is_latex,
    quoted,
    raised,
    side_of,
    tokens,
)
from .pieces import (
    OPENING,
    TIMES,
    bound_in_calls,
    call,
    end_of,
    end_of_factor,
    go_on,
    is_entry,
    is_keyword,
    name_called,
    offer,
    put_brackets,
    start_of,
    to_the,
    tuple_of,
)

Node = TypeVar("Node", bound=ast.expr)

DEEPEST = 60  # brackets within brackets
RELATIONS = {"<": ast.Lt, "<=": ast.LtE, ">": ast.Gt, ">=": ast.GtE, "==": ast.Eq, "!=": ast.NotEq}
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
} | dict.fromkeys(
    ("therefore", "implies", "Rightarrow", "Longrightarrow", "iff", "Leftrightarrow"),
    "write a chain of = and ≤, one line each",
)
ENDING = {  # commands that begin no factor
    "top", "odot", "in", "to", "sim", "approx", "equiv", "end", "vdots", "ddots", "partial",
    "rfloor", "rceil", "rangle", "bmod", "mod", "pmod", "choose", "over",
    *NOT_HERE,
}  # fmt: skip
BINARY = ("+", "-", "*", "/", "@", "^", "**", "_", ",", "odot", "bmod", "mod")
GROUP = r"\d{3}(\.\d+)?([eE][+-]?\d+)?"  # of the digits behind a thousands' comma
DOTS = (r"\cdot", "·", "⋅", "∙")
SPACES = (r"\quad", r"\qquad")  # between the lines of a chain they set a note apart


class Terms:
    """Reads one formula from its tokens; what is meant and not written is put among them."""

    def __init__(self, text: str, pieces: list[Token], words: Vocabulary) -> None:
        self.text, self.words, self.latex = text, words, is_latex(text)
        self.t, self.i = [t for t in pieces if t.written not in SPACES], 0
        if self.latex:
            self._put_indices_first()
        self.bound = [*bound_in_calls([t.written for t in pieces])]
        self.bars: list[str] = []  # the brackets and bars that are open
        self.differential: Token | None = None  # the dx of the innermost integral
        self.condition: ast.expr | None = None  # between the indices of a sum, such as i < j
        self.cases = 0  # how many Piecewise are open: there | is "or"

    def _put_indices_first(self) -> None:
        r"""\|x\|^2_2 is \|x\|_2^2, unless x^2 is a name."""
        for k, token in enumerate(self.t):
            end = end_of(self.t, k + 1) + 1 if token.text == "^" and k + 1 < len(self.t) else k
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
            last = end_of(self.t, end + 1) + 1
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
        waiting: list[ast.AST] = [node]
        while waiting:  # parts that were made before have a place already
            part = waiting.pop()
            part.lineno = part.end_lineno = 1  # type: ignore[attr-defined]
            part.col_offset, part.end_col_offset = first.place, last.end  # type: ignore[attr-defined]
            waiting += (p for p in ast.iter_child_nodes(part) if not hasattr(p, "col_offset"))
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
        return found[0] if len(found) == 1 else self.made(tuple_of(found), start)

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
            if not go_on([*terms[:first], *terms[dots - few : dots]]):
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
        if not (isinstance(term, ast.Call) and name_called(term) in ("Sum", "Product")):
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
        if dots != len(factors) - 1 or dots < 2 or not go_on(factors[:dots]):
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
            return self.made(call("Mod", left, right), start)
        if token.text == "odot":
            return self.made(call("hadamard", left, right), start)
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
            return not (token.kind == "word" and is_keyword(token.text))
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
        numbers = token.kind == "number" and before.text != "!" and not self._is_power(before)
        if numbers or self._might_be_a_call(before):
            raise offer(self.text, starred)
        first = self._open_exponent(last) if before.end >= token.place else None  # n^2 d is clear
        if first is None and divided:
            first = last
        if first is not None:
            raise offer(
                self.text, put_brackets(starred, first, end_of_factor(self.t, self.i) + 1), starred
            )

    def _is_power(self, before: Token) -> bool:
        """Whether a power of a number stands here, as in n 2^n; 2 2^n may lack anything."""
        above = self.latex and self.t[self.i - 2].text == "^"
        return self.sees("^", "**", ahead=1) and (before.kind != "number" or above)

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
        start = start_of(self.t, end)
        sign = self.t[start - 1].text if start > last else ""
        if sign in ("+", "-") and start - 1 > last and self.t[start - 2].text in ("^", "**"):
            return start - 1
        if sign == "**" or (sign == "^" and not self.latex):
            transposed = self.t[start].text in ("T", "top") and self._has_arrays()
            return None if self.t[start].text in OPENING or transposed else start
        return None

    def _might_be_a_call(self, before: Token) -> bool:
        """A symbol, then a symbol or a number alone in brackets: β(t) may be a function of t."""
        if not self.sees("(", "["):
            return False
        inner = self.t[self.i + 1 : end_of(self.t, self.i)]
        if before.text in (")", "]"):  # g(t)[i]
            opening = start_of(self.t, self.i - 1)
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
        if inverse and isinstance(node, ast.Subscript) and is_entry(node):
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
            if isinstance(node, ast.Subscript) and is_entry(node):
                self.refuse(r"A_{ij}^\top is a number: write (A^\top)_{ij}, if that is meant")
            if len(texts) == 2:
                node = self.made(to_the(node, -1), start)
            return self.postfix(self.made(call("transpose", node), start), start)
        if texts == ["T"] and self._has_arrays():
            self._skip_group()
            return self.made(call("raised_T", node), start)
        if texts[:1] == ["odot"]:
            self.take("{")
            self.i += 1
            with self.inside("{"):
                exponent = self.sum()
            self.take("}")
            return self.made(call("power_of_entries", node, exponent), start)
        if self.sees("{") and texts[:1] == ["("] and group[0].written == "(":
            if end_of(self.t, self.i + 1) != end_of(self.t, self.i) - 1:
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
            return self.postfix(self.made(call(node.id, index), start), start)
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
        if isinstance(node, ast.Call) and name_called(node) in self.words.indices:
            return self.words.indices[name_called(node)][1] > 0
        return isinstance(node, ast.Name) and self.words.indices.get(node.id, (0, 0))[1] > 0

    def _has_arrays(self) -> bool:
        return any(array for _, array in self.words.indices.values())

    def postfix(self, node: ast.expr, start: int) -> ast.expr:
        """Factorials, and indices of what is no name, such as (Ax)_i."""
        while True:
            if self.sees("!") and not self.sees("=", ahead=1):
                self.i += 1
                if self.sees("!"):
                    self.refuse("n!! has a meaning of its own: write (n!)! if that is meant")
                node = self.made(call("factorial", node), start)
            elif self.sees("%") and not self.starts_factor(1):
                self.i += 1
                node = self.made(ast.BinOp(node, ast.Div(), ast.Constant(100)), start)
            elif self.sees("_"):
                self.i += 1
                index = self._indices(2, of_matrix=True)
                node = self.made(ast.Subscript(node, tuple_of(index), ast.Load()), start)
            elif self.sees(".") and [t.text for t in self.t[self.i + 1 : self.i + 2]] == ["T"]:
                self.i += 2
                node = self.made(call("transpose", node), start)
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
        self.i = end_of(self.t, self.i) + 1 if self.sees("{") else self.i + 1

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
            return self._within([token], Terms.primary, self.i)  # type: ignore[no-any-return]
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
        node = ast.BinOp(top, ast.Div(), bottom) if over else call("binomial", top, bottom)
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
        tree = self._within(found, Terms.listing, start)
        return list(tree.elts) if isinstance(tree, ast.Tuple) else [tree]

    def _lacks_comma(self, found: list[Token], of_matrix: bool) -> bool:
        """Whether a_{12} or a_{i+1j} does not tell its two indices apart."""
        if len(found) == 1 or not of_matrix:
            return bool(len(found) == 1 and re.fullmatch(r"\d\d+", found[0].text))
        kinds = [t.kind in ("word", "number", "command") for t in found]
        return not any(t.text == "," for t in found) and (True, True) in pairwise(kinds)

    def _within(self, found: list[Token], read: Callable[[Any], Any], start: int) -> Any:
        """What is read from these tokens alone."""
        inner = type(self)(self.text, list(found), self.words)
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
        digits = token.text.replace("_", "").replace("\\,", "")
        if re.fullmatch(r"\d{1,3}", digits) and not self.bars:  # 1,000 or 1{,}000
            while True:
                comma = 1 if self.sees(",") else 3 if self._is_braced_comma() else 0
                after = self.t[self.i + comma] if self.i + comma < len(self.t) else None
                if not comma or after is None or not re.fullmatch(GROUP, after.text):
                    break
                digits += after.text
                self.i += comma + 1
        if digits.endswith(".") and (self.sees("(") or self.sees("[")):
            self.refuse("a number ends with a point before a bracket: write a fraction, or a sign")
        value = float(digits) if re.search(r"[.eE]", digits) else int(digits)
        if not value and re.search(r"^[\d.]*[1-9]", digits):
            self.refuse(f"{digits} is too close to 0")
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
        return self.made(call("abs", node), start) if single else self._norm_of(node, start)

    def _norm_of(self, node: ast.expr, start: int) -> ast.expr:
        """A norm with its index, if it has one; of a number its size."""
        which = "2"
        if self.sees("_"):
            self.i += 1
            which = "".join(t.text for t in self._index_tokens())
            if which not in ("1", "2", "F", "oo"):
                self.refuse(f"the norm with the index {which} is not known")
        if self._has_arrays():
            return self.made(call("norm", node, ast.Constant(which)), start)
        return self.made(call("abs", node), start)

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
                place, ended = end_of(self.t, place), True
            elif token.text == "|":
                ended = side_of(token) < 0 or (ended and not side_of(token))
                depth += -1 if ended else 1
                if depth == 1:
                    return [t.text for t in self.t[place + 1 : place + 2]] == ["|"]
            else:
                ended = token.text not in BINARY
            place += 1
        return True

    # -- words

    def _index_at(self, place: int) -> list[Token]:
        """The group or the one token that stands here."""
        if place >= len(self.t) or self.t[place].text != "{":
            return self.t[place : place + 1]
        return self.t[place + 1 : end_of(self.t, place)]

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

    # -- what stands alone is read elsewhere: names in `naming`, constructions in `grammar`

    def _resolve(self) -> None:
        """The word that stands here as what it means."""
        raise NotImplementedError

    def _name(self, token: Token) -> ast.expr:
        """A symbol, with its index."""
        raise NotImplementedError

    def _function(self, token: Token) -> ast.expr:
        """A function with its argument."""
        raise NotImplementedError

    def _read_by(self, token: Token) -> Callable[[], ast.expr] | None:
        """What reads a construction of LaTeX that begins with this word; None for a name."""
        return None
