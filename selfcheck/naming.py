"""Names and functions: what a word means by what is declared, with its index and its argument."""

from __future__ import annotations

import ast
import re
from typing import Any

from .notation import (
    LETTERS,
    SPELLINGS,
    STRUCTURE,
    FormulaError,
    Token,
    canonical,
    indexed,
    pretty,
    quoted,
    tokens,
)
from .parsing import NOT_HERE, UNARY, Terms
from .pieces import (
    OPENING,
    TIMES,
    call,
    digits_token,
    end_of,
    end_of_factor,
    is_keyword,
    offer,
    put_brackets,
    tuple_of,
    with_bound,
)

OF_ARRAYS = {"var": "Var", "mathbb{V}": "Var", "cov": "Cov"}  # other spellings
INVERSE = re.compile(r"a(?:rc|r)?(?:cot|sec|csc)h?")  # not read here, and no product either


class Names(Terms):
    """Terms, and the names in them."""

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
            place = self._behind_primes(end_of(self.t, place + 1) + 1)
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
                place = end_of(self.t, place + 1) + 1
            else:
                break
        return place

    def _replace(self, taken: int, token: Token) -> None:
        self.t[self.i : self.i + taken] = [token]

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
            if self._is_joined(written, name):
                return self._parts(written, name, token)
            return [Token("symbol", words.spelled.get(written) or words.spelled[name], shown, 0, 0)]
        if plain in words.known or plain in STRUCTURE:
            return [Token("function", plain, shown, 0, 0)]
        if (array := OF_ARRAYS.get(name, name)) in words.arrays:
            return [Token("function", array, shown, 0, 0)]
        if name == "E" and self.latex:  # Python's e; on paper it is an energy
            return [Token("stranger", name, shown, 0, 0)]
        if name in words.constants or name in ("infty", "infinity"):
            name = name if name in words.constants else "oo"
            return [Token("symbol", name, shown, 0, 0)]
        if written in NOT_HERE:
            self.refuse(NOT_HERE[written], token)
        if is_keyword(written) or not (written.isidentifier() or "{" in written):
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
            return [Token("function", function, function, 0, 0), digits_token(number)]
        if called and INVERSE.fullmatch(written):  # acot(x) is no a·cot(x)
            return [Token("stranger", name, written, 0, 0)]
        if called or self.sees("'", ahead=1):
            cuts = [k for k in range(1, len(written)) if self._is_cut(written, k)]
            if len(cuts) == 1:  # xf(x) is x·f(x)
                f = written[cuts[0] :]
                last = Token("function", SPELLINGS.get(f, canonical(f)), f, 0, 0)
                return [*self._parts(written[: cuts[0]], name, token), last]
        upright = token.written.startswith("\\")  # \mathrm{TP} is a name, no product
        readings = [] if upright else self._readings(written) or self._times_a_power_of_e(written)
        if len(readings) > 1:
            spelled = [[words.parts.get(p, p) for p in reading] for reading in readings]
            ways = " or ".join(f"`{'*'.join(map(pretty, reading))}`" for reading in spelled)
            raise FormulaError(f"{quoted(written)} can be read in two ways: did you mean {ways}?")
        if readings:
            return [Token("symbol", words.parts.get(p, p), p, 0, 0) for p in readings[0]]
        if (digits := re.fullmatch(r"(.*?)_?(\d+)", written)) and digits[1] in words.spelled:
            ways = " or ".join(f"`{digits[1]}{sign}{digits[2]}`" for sign in ("*", "**"))
            raise FormulaError(f"{quoted(written)} is no symbol here; did you mean {ways}?")
        return [Token("stranger", name, written, 0, 0)]

    def _is_joined(self, written: str, name: str) -> bool:
        """Whether dk, where d, k and d_k are names, may be one of them or a product."""
        own = self.words.symbols
        return not {written, name} & own and len(self.words.readings(written)) > 1

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
            found = with_bound(self.words, self.bound).readings(written)
        return found

    def _times_a_power_of_e(self, written: str) -> list[list[str]]:
        """The ways to cut te where it is t·e^…."""
        if (
            written[-1] != "e"
            or "e" not in self.words.constants
            or not self.sees("^", "**", ahead=1)
        ):
            return []
        return [[*reading, "e"] for reading in self._readings(written[:-1])]

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
            node = self.made(call(name, found[0]), start)
            found = found[1:]
        if found:
            node = self.made(ast.Subscript(node, tuple_of(found), ast.Load()), start)
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
        return self.t[place + 1 : end_of(self.t, place)] if bracketed else self._index_at(place)

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
            group = [t.text for t in self.t[self.i + 1 : end_of(self.t, self.i)]]
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
        while token.text in (*UNARY, "exp") and _is_constant(node) and self._starts_name():
            self.t.insert(self.i, TIMES._replace(place=self.t[self.i].place))
            self.i += 1
            node = self.made(ast.BinOp(node, ast.Mult(), self.power()), first)  # cos 2πx
        end = self.i - 1
        if _is_constant(node) and self.sees("frac", "sqrt"):  # sin 2\frac{x}{y}
            self.refuse(f"does {token.written} end before this? Use brackets")
        if self.starts_factor() and not self._starts_function():
            narrow = put_brackets(self.t, first, end)
            starred = [*self.t[: end + 1], TIMES, *self.t[end + 1 :]]
            last = end_of_factor(self.t, end + 1)
            after = end + 3  # both brackets stand before what follows
            raise offer(
                self.text,
                [*narrow[:after], TIMES, *narrow[after:]],
                put_brackets(starred, first, last + 1),
            )
        if self.sees("/") and not self._divided_by_function():  # sin x/2 may be that of a half
            last = end_of_factor(self.t, end + 2)
            narrow = put_brackets(self.t, first, end)
            raise offer(self.text, narrow, put_brackets(self.t, first, last))
        self.t[:] = put_brackets(self.t, first, end)
        self.i += 2
        return [node]

    def _starts_name(self) -> bool:
        """Whether a name begins here, and no function: the x of sin 2x."""
        here = self.token
        return (
            here is not None
            and here.kind in ("word", "command", "symbol")
            and self.starts_factor()
            and not self._starts_function()
            and self._read_by(here) is None
        )

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
            number = self._within(base, Terms.sum, start)
            arguments = [*arguments, number]
            if isinstance(number, ast.Constant) and number.value in (2, 10):
                name, arguments = f"log{number.value}", arguments[:1]
            else:
                name = "log"
        elif base and name in self.words.arrays:
            arguments = [*arguments, ast.Constant("".join(t.text for t in base))]
        elif base:
            self.refuse(f"{name} takes no index", base[0])
        return self.made(call(name, *arguments), start)


def _is_constant(node: ast.expr) -> bool:
    """Whether this is a number, or a product of numbers and π: sin 2x has no other argument."""
    match node:
        case ast.Constant():
            return True
        case ast.Name(id="pi"):
            return True
        case ast.BinOp(left=x, op=ast.Mult(), right=y):
            return _is_constant(x) and _is_constant(y)
    return False
