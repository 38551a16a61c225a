r"""A derivation as people write it: `\begin{aligned} a &= b \\ &\le c \end{aligned}`, or a = b ≤ c.

The text is cut at its relations and rows, on tokens, so a = below a sum sign cuts nothing. What
stands after % or in \text{…} is the reason of its line.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import NamedTuple

from ..macros import expanded
from ..notation import FormulaError, Token, is_latex, quoted, tokens, without_escapes

RELATIONS = {
    "=": "=", "<=": "≤", ">=": "≥", "<": "<", ">": ">", "approx": "≈", "equiv": "=", "≈": "≈",
    "le": "≤", "ge": "≥", ":=": "=", "==": "=", "coloneqq": "=", "triangleq": "=",
}  # fmt: skip
LEADING = re.compile(  # of a chain whose start is left out
    r"(?:\s*\\begin\{\w+\*?\})?[\s&$]*"
    r"(\\(leq?|geq?|lt|gt|approx|equiv)(?![A-Za-z])|:?[=<>]=?|[≤≥≈])"
)
DOTS = re.compile(r"(?:\\(?:[lcvd]?dots|dots[bcimo])(?![A-Za-z])|\.\.\.|[…⋯⋮⋱]|\\[,;:! ]|\s)+")
FRAMES = {
    "align", "aligned", "equation", "split", "gather", "gathered", "eqnarray", "multline",
    "flalign", "alignat", "alignedat", "displaymath", "math",
}  # fmt: skip
NUMBERED = {"alignat", "alignedat"}  # \begin{alignat}{2}
NOTES = {"tag", "label", "intertext", "shortintertext"}
IMPLIED = {  # signs that no line is judged by; nor is what stands behind them
    "implies", "Rightarrow", "Longrightarrow", "iff", "Leftrightarrow", "therefore", "!=", "ll",
    "gg", "sim", "simeq", "cong", "asymp", "propto", "to", "mapsto", "lesssim", "gtrsim", "in",
    "notin", "subset", "subseteq", "preceq", "succeq", "prec", "succ",
}  # fmt: skip
TOLD = {  # words and signs that make what follows a condition or a reason
    "forall", "in", "(", "[", "ldots", "if", "for", "where", "when", "whenever", "since", "because",
    "by", "as", "with", "on", "provided", "assuming", "using", "from",
}  # fmt: skip
SPACED = re.compile(r"(\\\\)\s*\[\s*-?[\d.]+\s*(?:ex|em|pt|mm|cm|in|bp|mu)\s*\]")  # \\[2ex]
SUPPOSED = {"if", "let", "suppose", "assume", "assuming", "given", "when", "whenever", "for"}
STACKED = {"overset", "underset", "stackrel"}  # a reason, and the sign that it belongs to


class Row(NamedTuple):
    """One expression with the relation before it ("" for a new start) and its reason."""

    relation: str
    tex: str
    reason: str


class Unclear(str):
    """What may be a condition, or a statement that would have to be judged."""

    why = "is it a condition or a statement? Write a statement on a line of its own."


LONGEST = 10_000  # characters of a whole chain; the sheets need a few hundred


def rows_of(text: str) -> list[Row]:
    """The expressions of a pasted derivation; a FormulaError if there is none."""
    if len(text) > LONGEST:
        raise FormulaError(f"The chain has {len(text)} characters; {LONGEST} is the limit.")
    text, comments = _without_comments(expanded(without_escapes(text)))
    text = SPACED.sub(lambda m: m[1] + " " * (len(m[0]) - 2), text)
    reader = _Rows(text, comments)
    rows = reader.read()
    if not rows:
        raise FormulaError("There is no formula in this text.")
    if rows[0].relation:
        raise FormulaError(
            f"{quoted(text)} begins with {rows[0].relation}: what stands left of it is missing."
        )
    return rows


def has_bare_e(text: str) -> bool:
    """Whether E stands here without brackets behind it, as an energy and no expectation does."""
    pieces = [t.text for t in tokens(text)]
    if "**" in pieces:  # in Python it is Euler's number
        return False
    return any(a == "E" and b not in ("[", "(", "_") for a, b in pairwise([*pieces, ""]))


def _without_comments(text: str) -> tuple[str, list[tuple[int, str]]]:
    """The text with blanks in place of comments, and the comments with their places."""
    found = []

    def blank(match: re.Match[str]) -> str:
        found.append((match.start(), match[0][1:].strip()))
        return " " * len(match[0])

    says = "" if is_latex(text) else r"(?=[^\n]*[A-Za-z]{3})"  # x % y is none
    return re.sub(rf"(?<!\\)%{says}[^\n]*", blank, text), found


class _Rows:
    def __init__(self, text: str, comments: list[tuple[int, str]]) -> None:
        self.text, self.comments = text, comments
        self.rows: list[Row] = []
        self.relation, self.start, self.reason = "", 0, ""
        self.left_out = ""  # the relation before dots that stand for lines: a ≤ … = b says a ≤ b
        self.note: list[Token] = []
        self.supposed = False  # "if x > 0: …" says nothing by itself
        self.holes: list[tuple[int, int]] = []  # what is no part of the formula

    def read(self) -> list[Row]:
        pieces = tokens(self.text)
        depth, matrices, noted, congruent, implied = 0, 0, False, False, False
        k = 0
        while k < len(pieces):
            token = pieces[k]
            k += 1
            if token.kind == "command" and token.text in ("begin", "end", *NOTES):
                end = self._group_end(pieces, k)
                name = "".join(t.text for t in pieces[k + 1 : end]).rstrip("*")
                if token.text in NOTES or name in FRAMES:
                    if token.text == "begin" and name in NUMBERED and end + 1 < len(pieces):
                        end = self._group_end(pieces, end + 1)
                    self._skip(token.place, pieces[end].end)
                    k = end + 1
                    if token.text == "begin" and not self._written(token.place):
                        self.start = pieces[end].end
                    continue
                matrices += 1 if token.text == "begin" else -1
            if token.text in STACKED and depth == matrices == 0:
                k = self._stacked(pieces, token, k)
                continue
            depth += (token.text in ("(", "[", "{")) - (token.text in (")", "]", "}"))
            if (depth > 0 or matrices > 0) and not noted:
                continue
            if token.text == r"\\" and token.written == r"\\":
                self._end(token.place, token.end)
                self._end_note()
                noted = implied = False
            elif token.text == r"\\":  # a \quad: what follows is a note, unless nothing was before
                behind = [t.text for t in pieces[k : k + 2] if t.text != "&"]
                around = behind[:1] and behind[0] in RELATIONS  # a \quad = \quad b
                noted = noted or bool(self._written(token.place) and not around)
                self._skip(token.place, token.end)
            elif token.kind == "text" or noted:
                self.note.append(token)
                noted = noted or self._goes_on(pieces, k)
                words = token.text if token.kind == "text" else token.written
                self.reason = f"{self.reason} {words}".strip()
                self._skip(token.place, token.end)
            elif token.text == "&":
                self._skip(token.place, token.end)
            elif token.text in (",", ";") and self.relation and _says_more(pieces, k):
                noted = True
                self._skip(token.place, token.end)
            elif token.text in RELATIONS and token.kind in ("sign", "command"):
                self._end(token.place, token.end)
                self.relation = "" if implied else RELATIONS[token.text]
                congruent, implied = congruent or token.text == "equiv", False
            elif token.text in IMPLIED:  # of which nothing that stands behind it is judged
                implied = True
            elif congruent and token.text in ("bmod", "pmod", "mod"):
                raise FormulaError(f"{quoted(self.text)}: a congruence is not judged here.")
        self._end(len(self.text), len(self.text))
        self._end_note()
        return self.rows

    def _goes_on(self, pieces: list[Token], k: int) -> bool:
        r"""Whether what stands behind the words of \text is no part of the formula before them."""
        if not self._written(pieces[k - 1].place):  # they stand before it
            self.supposed = not self.relation and _first_word(pieces[k - 1]) in SUPPOSED
            return self.supposed
        following = pieces[k].text if k < len(pieces) else r"\\"
        return _first_word(pieces[k - 1]) in TOLD or following not in (*RELATIONS, r"\\", "&")

    def _end_note(self) -> None:
        r"""x^2 \ge 0, \quad y^2 \ge 0 has two statements; n \ge 1 or (|q| < 1) tell where."""
        note, self.note = self.note, []
        sign = next((k for k, t in enumerate(note) if t.text in RELATIONS), 0)
        supposed, self.supposed = self.supposed, False
        told = not supposed and any(t.text in TOLD or _first_word(t) in TOLD for t in note)
        more = sign > 1 and note[1].text != "_"
        equal = sign == 1 and note[1].text == "=" and note[2:] and note[2].kind != "number"
        if sign and not told and (supposed or more or equal):
            tex = Unclear(self.text[note[0].place : note[-1].end])
            self.rows.append(Row("", tex, ""))

    def _stacked(self, pieces: list[Token], token: Token, start: int) -> int:
        """A sign with its reason above or below it; anything else stays without what is there."""
        reason = self._group_end(pieces, start)
        body = self._group_end(pieces, reason + 1)
        inner = pieces[reason + 1 : body + 1]
        signs = [t for t in inner if t.text not in ("{", "}")]
        told = self.text[pieces[start].place : pieces[reason].end]
        if len(signs) == 1 and signs[0].text in RELATIONS:
            self._end(token.place, pieces[body].end)
            self.relation = RELATIONS[signs[0].text]
            self.reason = re.sub(r"\\(?:text|mathrm|textrm)|[{}]", "", told).strip("() ")
            return body + 1
        self._skip(token.place, pieces[reason].end)
        return reason + 1

    def _group_end(self, pieces: list[Token], start: int) -> int:
        depth = 0
        for k in range(start, len(pieces)):
            depth += (pieces[k].text == "{") - (pieces[k].text == "}")
            if not depth:
                return k
        raise FormulaError(f"{quoted(self.text)}: a {{ is never closed.")

    def _skip(self, start: int, end: int) -> None:
        self.holes.append((start, end))

    def _written(self, end: int) -> str:
        """What stands since the last relation or row, without what was skipped."""
        text = list(self.text[self.start : end])
        for a, b in self.holes:
            for place in range(max(a, self.start), min(b, end)):
                text[place - self.start] = " "
        found = " ".join("".join(text).split())
        return re.sub(
            r"^(?:\\[,;:! ]|\$|\\\[|\\\()+|(?:[\s.,;$]|\\[,;:! \])])+$", "", found
        ).strip()

    def _end(self, place: int, after: int) -> None:
        """The expression before this place is complete."""
        tex = self._written(place)
        if tex and self.rows and DOTS.fullmatch(tex):
            self.left_out, self.relation = self.relation.strip("=") or self.left_out, ""
        elif tex:
            if is_latex(self.text) and not is_latex(tex) and {*"^_"} & {*tex}:
                tex = f"{{{tex}}}"  # a^2 b is clear in LaTeX, which the others are written in
            row_ends = self.text[place:after] == r"\\"
            last = _line_end(self.text, place) if row_ends else place  # \\ % a comment behind it
            notes = [c for at, c in self.comments if self.start <= at <= last]
            self.comments = [(at, c) for at, c in self.comments if at > last]
            reason = "; ".join(filter(None, [self.reason.strip(" ()"), *notes]))
            relation = self.left_out if self.left_out and self.relation == "=" else self.relation
            self.rows.append(Row(relation, tex, reason))
            self.relation, self.left_out, self.reason = "", "", ""
        self.start = after


def _says_more(pieces: list[Token], k: int) -> bool:
    """Whether a relation stands behind this comma, in the same row and outside of brackets."""
    number = [t.kind for t in (*pieces[k - 2 : k - 1], *pieces[k : k + 1])] == ["number", "number"]
    depth = 0
    for token in pieces[k:]:
        depth += (token.text in ("(", "[", "{")) - (token.text in (")", "]", "}"))
        if depth < 0 or (not depth and token.text == r"\\" and token.written == r"\\"):
            return False
        if not depth and token.text in RELATIONS:
            return not number
    return False


def _first_word(token: Token) -> str:
    words = re.findall(r"[A-Za-z]+", token.text) if token.kind == "text" else []
    return words[0].lower() if words else ""


def _line_end(text: str, place: int) -> int:
    found = text.find("\n", place)
    return len(text) if found < 0 else found
