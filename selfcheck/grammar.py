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
import re
from collections.abc import Callable
from itertools import pairwise
from typing import Any

from .dots import pattern_of
from .naming import Names
from .notation import FormulaError, Token, Vocabulary, canonical, indexed, pretty, quoted, tokens
from .parsing import NOT_HERE, RELATIONS, Terms
from .pieces import OPENING, call, digits_token, end_of, is_d, tuple_of, without_d

BIG = {"sum": "Sum", "prod": "Product", "max": "Max", "min": "Min"}
ARROWS = ("to", "Rightarrow", "Longrightarrow")  # below lim


def parse(text: str, words: Vocabulary, many: bool = False) -> ast.expr:
    """The tree of a formula; a FormulaError says what is not in the grammar, and where."""
    pieces = tokens(text)
    while len(pieces) > 1 and pieces[-1].text in (".", ",", ";", r"\\"):  # the end of a sentence
        pieces.pop()
    parser = Parser(text, pieces, words)
    tree = parser.listing() if many else parser.relation()
    if parser.token is not None:
        parser.refuse_token(parser.token)
    if "e" in words.symbols:
        _refuse_powers_of_e(tree, text)
    return tree


def _refuse_powers_of_e(tree: ast.expr, text: str) -> None:
    """Where e is a letter of the exercise, a size perhaps, e^x may still mean the other e."""
    for node in ast.walk(tree):
        match node:
            case ast.BinOp(ast.Name("e"), ast.Pow(), ast.Constant(int())):
                pass  # e² is a product of sizes
            case ast.BinOp(ast.Name("e"), ast.Pow()):
                raise FormulaError(
                    f"{quoted(text)} has a power of e, which is a letter of its own here and not "
                    "Euler's number: for that one write exp(…)."
                )


class Parser(Names):
    r"""Reads one formula from its tokens: terms, and LaTeX's own constructions."""

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
            if re.fullmatch(r"I_\w", name) and not self._is_known(name):  # typed
                self.t[self.i : self.i + 1] = [
                    token._replace(kind=kind, text=part, written=part)
                    for kind, part in (("word", "I"), ("sign", "_"), ("word", name[2:]))
                ]
                name = "I"
            if name == "I" and self._has_arrays() and "I" not in self.words.symbols:
                return self._ones
            if name == "mathbb{I}" and self._asks(self.i + 1):
                return self._ones
            if name in ("True", "False"):
                return self._truth
            return None
        readers = {
            "frac": self._fraction, "sqrt": self._root, "sum": self._big, "prod": self._big,
            "int": self._integral, "lim": self._limit, "nabla": self._nabla, "langle": self._inner,
            "lfloor": self._floor, "lceil": self._floor, "begin": self._environment,
            "binom": self._binomial, "underbrace": self._braced, "overbrace": self._braced,
            "norm": self._norm,
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
        if name != "zeros" and self._asks(self.i + self.sees("_")):
            return self._indicator()
        if self.sees("_"):  # I_n; without an index its size follows from what stands beside it
            self.i += 1
            size = [self._within(self._index_tokens(), Terms.primary, self.i)]
        return ast.Constant(0) if name == "zeros" else call("eye" if name == "I" else name, *size)

    def _asks(self, place: int) -> bool:
        """Whether a condition stands in the brackets that open here."""
        if place >= len(self.t) or self.t[place].text not in OPENING:
            return False
        return _relates(self.t[place + 1 : end_of(self.t, place)])

    def _indicator(self) -> ast.expr:
        r"""\mathbf 1[x > 0], \mathbf 1\{x > 0\} and \mathbf 1_{x > 0}: 1 where it holds, else 0."""
        self.i += self.sees("_")
        closing = [OPENING[self.t[self.i].text]]
        self.i += 1
        if self.sees("(") and end_of(self.t, self.i) == end_of(self.t, self.i - 1) - 1:
            closing = [")", *closing]  # \mathbf 1_{\{x > 0\}}
            self.i += 1
        with self.inside("["):
            condition = self._condition()
        for bracket in closing:
            self.take(bracket, "this condition is not understood")
        pairs = [(1, condition), (0, ast.Constant(True))]
        return call("Piecewise", *(tuple_of([ast.Constant(n), when]) for n, when in pairs))

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
        close = end_of(self.t, self.i)
        if close + 1 >= len(self.t) or self.t[close + 1].text != "{" or not top:
            return None
        bottom = self.t[close + 2 : end_of(self.t, close + 1)]
        if not bottom:
            return None
        curly = top[0].text == "partial"
        if not curly and not (is_d(top[0]) and is_d(bottom[0])):
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
        top = top[1:] if curly or top[0].text == "d" else without_d(top)
        order = 1
        if top and top[0].text == "^":
            power = top[2 : end_of(top, 1)] if top[1:] and top[1].text == "{" else top[1:2]
            order = int(power[0].text) if [t.kind for t in power] == ["number"] else 0
            top = top[end_of(top, 1) + 1 :]
        variables = self._variables(bottom, start)
        if len(variables) != order:
            self.refuse("above and below stand different orders of a derivative", bottom[0])
        self.i = end_of(self.t, close + 1) + 1
        body = self._within(top, Terms.sum, start) if top else self.term()
        for variable in variables:
            body = call("Derivative", body, variable)
        return body

    def _variables(self, bottom: list[Token], start: int) -> list[ast.expr]:
        r"""x of dx, x twice of \partial x^2, x and y of \partial x \partial y."""
        starts = [k for k, t in enumerate(bottom) if t.text == "partial" or (not k and is_d(t))]
        found: list[ast.expr] = []
        for k, following in pairwise([*starts, len(bottom)]):
            part = bottom[k:following]
            part = part[1:] if part[0].text in ("partial", "d") else without_d(part)
            times = 1
            power = [t.text for t in part[-2:]] if len(part) > 2 else []
            if power[:1] == ["^"] and power[1].isdigit():
                part, times = part[:-2], int(power[1])
            elif len(part) > 4 and [t.text for t in part[-4:-2]] == ["^", "{"]:
                part, times = part[:-4], int(part[-2].text) if part[-2].text.isdigit() else 0
            if not 0 < times < 5:
                self.refuse("the order of this derivative is not understood", bottom[0])
            found += [self._within(part, Terms.primary, start)] * times
        return found

    def _root(self) -> ast.expr:
        self.i += 1
        degree = None
        if self.sees("["):
            degree = self._bracketed_sum()
        body = self._group()
        if degree is None:
            return call("sqrt", body)
        return ast.BinOp(body, ast.Pow(), ast.BinOp(ast.Constant(1), ast.Div(), degree))

    def _binomial(self) -> ast.expr:
        self.i += 1
        return call("binomial", self._group_or_digit(), self._group_or_digit())

    def _braced(self) -> ast.expr:
        """What stands above or below a brace explains it, and is not read."""
        self.i += 1
        body = self._group()
        if self.sees("_", "^"):
            self.i += 1
            self._skip_group()
        return body

    def _norm(self) -> ast.expr:
        r"""\norm{x} of the package physics."""
        start = self.i
        self.i += 1
        return self._norm_of(self._group(), start)

    def _floor(self) -> ast.expr:
        name = self.t[self.i].text[1:]
        self.i += 1
        with self.inside(name):
            body = self.sum()
        self.take(f"r{name}")
        return call({"floor": "floor", "ceil": "ceil"}[name], body)

    def _inner(self) -> ast.expr:
        self.i += 1
        with self.inside("langle"):
            left = self.sum()
            self.take(",", "an inner product has two parts with a comma between them")
            right = self.sum()
        self.take("rangle")
        return call("inner", left, right)

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
        if condition is None and len(ranges) == 1 and _is_place(names[0], body):
            name, low, high = ranges[0]
            if isinstance(high, ast.Name) and high.id == "oo":  # j > i of u_j ends where u does
                condition = ast.Compare(ast.Name(name, ast.Load()), [ast.GtE()], [low])
                ranges = [(name, None, None)]
        if condition is not None:
            if kind != "Sum":
                self.refuse("these bounds are not understood", below[0])
            pieces = [tuple_of([body, condition]), tuple_of([ast.Constant(0), ast.Constant(True)])]
            body = self.made(call("Piecewise", *pieces), start)
        for name, low, high in reversed(ranges):
            limits = [ast.Name(name, ast.Load()), *([low, high] if low is not None else [])]
            body = self.made(call(kind, body, tuple_of(limits)), start)
        return body

    def _ranges(self, below: list[Token], above: Any, token: Token) -> list[tuple[str, Any, Any]]:
        """The indices below a sum sign with their bounds; None where the use tells them."""
        below = below[2:-1] if below[0].text == "substack" else below
        bounds, *more = _parts_of(below)
        if more and _relates(bounds) and all(map(_relates, more)):  # j = 1, j \ne i
            ranges = self._ranges(bounds, above, token)
            self.condition = self._all_of(more, ranges)
            return ranges
        if (listed := self._listed(below)) is not None and above is None:
            return [listed]
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
            names = [self._index_name(part) for part in _parts_of(below[: signs[0]])]
            if above is None:
                self.refuse("the last value of this index is missing", below[0])
            first = self._within(below[signs[0] + 1 :], Terms.sum, self.i)
            return [(name, first, above) for name in names]
        if len(signs) == 2 and above is None:
            a, b = signs
            low, middle, high = below[:a], below[a + 1 : b], below[b + 1 :]
            one, two = below[a].text, below[b].text
            if one[0] == two[0] == ">":
                low, high, one, two = high, low, two, one
            elif one[0] != "<" or two[0] != "<":
                self.refuse("these bounds are not understood", below[0])
            first, last = (self._within(x, Terms.sum, self.i) for x in (low, high))
            if "=" not in one:
                first = self.made(ast.BinOp(first, ast.Add(), ast.Constant(1)), self.i - 1)
            if "=" not in two:
                last = self.made(ast.BinOp(last, ast.Sub(), ast.Constant(1)), self.i - 1)
            return [(self._index_name(middle), first, last)]
        if len(signs) == 1 and above is None:
            return self._related(below, signs[0])
        self.refuse("these bounds are not understood", below[0])

    def _listed(self, below: list[Token]) -> tuple[str, Any, Any] | None:
        r"""j = 1, \ldots, n and j \in \{1, \ldots, n\}, or j \in [n]."""
        texts = [t.text for t in below]
        if texts[1:2] not in (["="], ["in"]):
            return None
        inner = below[2:]
        if texts[1] == "in":
            if texts[2:3] not in (["("], ["["]) or end_of(below, 2) != len(below) - 1:
                return None
            inner = below[3:-1]
        parts = _parts_of(inner)
        if texts[1:3] == ["in", "["] and len(parts) == 1:
            parts = [[digits_token("1")], [digits_token("1")], parts[0]]
        elif len(parts) not in (3, 4) or [t.text for t in parts[-2]] != ["ldots"]:
            return None
        first, last = (self._within(part, Terms.sum, self.i) for part in (parts[0], parts[-1]))
        if len(parts) == 4:
            second = self._within(parts[1], Terms.sum, self.i)
            if [getattr(x, "value", None) for x in (first, second)] not in ([0, 1], [1, 2]):
                self.refuse("these bounds are not understood", below[0])
        return self._index_name(below[:1]), first, last

    def _all_of(self, clauses: list[list[Token]], ranges: list[tuple[str, Any, Any]]) -> ast.expr:
        """The conditions that stand beside the bounds of a sum."""
        before, self.bound = self.bound, [*self.bound, *(name for name, _, _ in ranges)]
        found = [self._within(clause, Terms.comparison, self.i) for clause in clauses]
        self.bound = before
        whole = found[0]
        for one in found[1:]:
            whole = ast.BinOp(whole, ast.BitAnd(), one)
        return whole  # type: ignore[no-any-return]

    def _related(self, below: list[Token], sign: int) -> list[tuple[str, Any, Any]]:
        r"""k \ge 0 without an end; i < j and i \ne j of two indices, each over all its values."""
        left, relation, right = below[:sign], below[sign].text, below[sign + 1 :]
        if relation in (">", ">="):
            first = self._within(right, Terms.sum, self.i)
            if relation == ">":
                first = self.made(ast.BinOp(first, ast.Add(), ast.Constant(1)), self.i - 1)
            if not self._is_index(right):
                return [(self._index_name(left), first, ast.Name("oo", ast.Load()))]
        if not self._is_index(left) or len(right) != 1 or right[0].kind not in ("word", "command"):
            self.refuse("these bounds are not understood", below[0])
        names = [canonical(side[0].text) for side in (left, right)]
        one, two = (ast.Name(name, ast.Load()) for name in names)
        self.condition = ast.Compare(one, [RELATIONS[relation]()], [two])
        new = names if self._is_index(right) else names[:1]  # the other runs already
        return [(name, None, None) for name in new]

    def _is_index(self, side: list[Token]) -> bool:
        """Whether this is a letter that means nothing else."""
        return (
            len(side) == 1
            and side[0].kind in ("word", "command")
            and canonical(side[0].text) not in self.words.symbols | self.words.constants
            and canonical(side[0].text) not in self.bound
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
        power = None
        if self.sees("^"):  # E²[X]
            self.i += 1
            power = self._group()
        known = middle == [1] and canonical(law[0].text) in self.words.symbols
        if known and not any(t.text in ("(", "[") for t in law):
            law, middle = law[:1], []  # x \sim p: the law of x is that of its declaration
        if middle:
            name = canonical(law[0].text)
            rest = "".join(t.text for t in law[middle[0] + 1 :])
            if not re.fullmatch(r"mathcal\{N\}\((0|zeros),(I(_\w+|_\{\w+\})?|1)\)", rest):
                self.refuse("only the normal law N(0, I) is known here", law[0])
        body = self._bracketed_sum() if self.sees("[", "(", "{") else self.term()
        parts = [body, ast.Name(name, ast.Load())] if name else [body]
        found = call("Expectation", *parts)
        if len(law) == 1:  # E_w: the law of w is told by its declaration, or not at all
            vars(found)["over"] = canonical(law[0].text)
        self.made(found, start)
        return found if power is None else ast.BinOp(found, ast.Pow(), power)

    def _nabla(self) -> ast.expr:
        start = self.i
        self.i += 1
        if not self.sees("_"):  # ∇L(θ) has but one
            match body := self.term():
                case ast.Call(func=ast.Name(id=name), args=[ast.Name() as variable]):
                    if name in self.words.functions:
                        return call("Derivative", body, variable)
            self.refuse("∇ needs the variable as its index", self.t[start])
        self.i += 1
        variable = self._within(self._index_tokens(), Terms.primary, start)
        return call("Derivative", self.term(), variable)

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
            limits = [call("whole")]
        elif above is not None and below:
            limits = [self._within(below, Terms.sum, start), above]
        else:
            self.refuse("the bounds of this integral are not understood", self.t[start])
        return call("Integral", body, tuple_of([ast.Name(variable, ast.Load()), *limits]))

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
        limits = [ast.Name(variable, ast.Load()), self._within(to, Terms.sum, start)]
        return call("Limit", body, tuple_of([*limits, ast.Constant(side)]))

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
                end = end_of(self.t, self.i) if self.sees("(") else 0  # ∑_(i=1)^n
                below = self.t[self.i + 1 : end] if end else self._index_tokens()
                self.i = max(self.i, end + bool(end))
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
            if depth or not is_d(token):
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
                top = end_of(self.t, place + 1)
                spot = next((k for k in (top - 1, top - 2) if is_d(self.t[k])), None)
                if spot is None:
                    continue
                moved = self.t[spot:top]
                end = end_of(self.t, top + 1) + 1
                self.t[end:end] = moved
                one = [] if spot > place + 2 else [digits_token("1")._replace(place=moved[0].place)]
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
        if name not in ("matrix", "bmatrix", "pmatrix", "vmatrix", "smallmatrix", "array"):
            self.refuse(f"the environment {name} is not read here", self.t[start])
        self._skip_group()
        if name == "array" and self.sees("{"):  # {cc}
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
        return call("det", matrix) if name == "vmatrix" else matrix

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
                pieces.append(tuple_of([value, condition]))
        self.i += 1
        self._skip_group()
        if not pieces:
            self.refuse("there is no case here", self.t[start])
        return self.made(call("Piecewise", *pieces), start)

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
            return call("Matrix", *made)
        dots = next(k for k, row in enumerate(rows) if not any(row))
        found = self._between([*made[:dots], None, *made[dots:]], down)
        if isinstance(found, ast.Tuple):
            raise FormulaError("the dots of this matrix show no pattern")
        return found

    def _between(self, parts: list[Any], index: str) -> ast.expr:
        """The parts of a row, or the rows of a matrix; where there are dots, by their pattern."""
        if None not in parts:
            return tuple_of(parts)
        dots = parts.index(None)
        if dots not in (1, 2) or len(parts) != dots + 2 or parts[-1] is None:
            raise FormulaError("dots in a matrix stand between its first and its last entry")
        return pattern_of([*parts[:dots], None][:2], parts[-1], "Entries", index)


def _parts_of(found: list[Token]) -> list[list[Token]]:
    r"""What stands between commas, or \\, outside of brackets."""
    parts: list[list[Token]] = [[]]
    depth = 0
    for token in found:
        depth += (token.text in OPENING) - (token.text in OPENING.values())
        if not depth and token.text in (",", r"\\"):
            parts.append([])
        else:
            parts[-1].append(token)
    return parts


def _relates(found: list[Token]) -> bool:
    return any(t.text in (*RELATIONS, "=") for t in found)


def _is_place(name: str, body: ast.expr) -> bool:
    """Whether this letter is the index of an array."""
    indices = [n.slice for n in ast.walk(body) if isinstance(n, ast.Subscript)]
    return any(isinstance(n, ast.Name) and n.id == name for i in indices for n in ast.walk(i))
