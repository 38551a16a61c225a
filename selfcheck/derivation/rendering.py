"""What a reader sees: a derivation as text, and as a table in Markdown with marks and reasons."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from .arithmetic import show_limit
from .evaluation import name_of
from .expressions import Expression, bare, tex_text, without_tex
from .lines import BLANK, FALSE, HELD, PROVED, START, UNCHECKED

if TYPE_CHECKING:
    from .derivations import Derivation

MARKS = {PROVED: "✓", HELD: "○", FALSE: "✗", BLANK: "…", UNCHECKED: "?"}
TEX = {"": "", "=": "=", "≤": r"\le", "≥": r"\ge", "<": r"\lt", ">": r"\gt", "≈": r"\approx"}
KINDS = {PROVED: "proved", HELD: "held", FALSE: "false", BLANK: "open", UNCHECKED: "open"}
HEAD = "| | | |\n| :-: | :-- | :-- |"
# Signs that a table or a page would take for its own, as commands of TeX that mean the same.
IN_A_CELL = {r"\|": r"\Vert ", "|": r"\vert ", "<": r"\lt ", ">": r"\gt "}


def text(d: Derivation) -> str:
    """For a terminal: one line each, then the sentences."""
    rows = list(_rows(d, "text"))
    width = max((len(looks) for _, looks, _, _ in rows), default=0)
    lines = [
        f"{relation or ' '} {looks:<{width}}  {MARKS[mark]}  {_reason(reason)}".rstrip()
        for relation, looks, mark, reason in rows
    ]
    start = "  " + _looks(d.expressions[0], d.start, "text")
    return "\n".join([*_head(d, "{}"), start, *lines, *d.check().sentences])


def markdown(d: Derivation) -> str:
    """For notebooks, pages, slides and GitHub: a table with a mark before each line.

    A false line has its counterexample beside it. Classes give what a page can color; every mark
    is also a sign of its own, and what is false says so.
    """
    rows = [_row("", _looks(d.expressions[0], d.start, "tex"), _words(str(d.reason)))]
    for (relation, looks, mark, reason), found in zip(
        _rows(d, "tex"), d.check().lines, strict=True
    ):
        line, beside = f"{TEX[relation]} {looks}".strip(), _words(reason)
        if mark == FALSE:
            why = found.sentence.partition(" is false: ")[2] or found.sentence
            beside += "<br>" * bool(beside) + f"**False:** {_sentence(d, why)}"
        how = "" if relation == START else _mark(mark, found.how or mark)
        rows.append(_row(how, line, beside, mark == FALSE))
    told = [line.sentence for line in d.check().lines if line.mark == UNCHECKED]
    if not told and d.check().first_false is None:
        told = [d.check().sentence]
    read = [f"I read: {reading(d)}"] if d.pasted else []
    table = "\n".join([HEAD, *rows])
    return "\n\n".join([*_head(d, "**{}**"), table, *(_sentence(d, s) for s in told), *read])


def _mark(mark: str, how: str) -> str:
    how = html.escape(how).replace("|", "&#124;")
    return f'<span class="course-mark course-{KINDS[mark]}" title="{how}">{MARKS[mark]}</span>'


def _row(mark: str, tex: str, beside: str, is_false: bool = False) -> str:
    line = rf"$\displaystyle {_in_a_cell(tex)}$"
    if is_false:
        line = f'<span class="course-false">{line}</span>'
    return f"| {mark} | {line} | {beside} |"


def reading(d: Derivation) -> str:
    """How the lines were read, in signs that say what was meant."""
    relations = ["", *(line.relation or "; " for line in d.lines)]
    found = [
        f"{relation} `{e.text}`".strip() if isinstance(e, Expression) else f"{relation} ?".strip()
        for relation, e in zip(relations, d.expressions, strict=True)
    ]
    return " ".join(found)


def _head(d: Derivation, form: str) -> list[str]:
    return [form.format(d.name)] if d.name else []


def _rows(d: Derivation, kind: str) -> Iterator[tuple[str, str, str, str]]:
    """Relation, expression, mark and reason of every line, as "text" or "tex"."""
    for line, e, found in zip(d.lines, d.expressions[1:], d.check().lines, strict=True):
        reason = str(line.reason)
        if isinstance(line.allowed, tuple) and "→" not in reason:
            symbol, to = line.allowed
            reason += f" ({d.reader.word(name_of(symbol))} → {show_limit(to)})"
        yield line.relation, _looks(e, line.expr, kind), found.mark, reason.strip()


def _looks(expression: Expression | str | None, source: Any, kind: str) -> str:
    if isinstance(expression, Expression):
        return expression.text if kind == "text" else expression.tex
    words = "____" if expression is None else str(bare(source))
    return words if kind == "text" else tex_text(words)


def _in_a_cell(tex: str) -> str:
    """A formula that neither ends a cell of a table nor opens a tag."""
    return re.sub(r"\\?\||[<>]", lambda found: IN_A_CELL[found[0]], " ".join(tex.split()))


def _reason(reason: str) -> str:
    """Words for a terminal; formulas among them, $…$, are made readable too."""
    return "".join((without_tex if k % 2 else str)(p) for k, p in enumerate(reason.split("$")))


def _words(reason: str) -> str:
    """Words for a cell of a table, with $…$ among them."""
    return "".join(
        f"${_in_a_cell(part)}$" if k % 2 else _escaped(part)
        for k, part in enumerate(reason.split("$"))
        if part
    )


def _escaped(words: str) -> str:
    return re.sub(r"([*_`<$|\\])", r"\\\1", words)


def _sentence(d: Derivation, sentence: str) -> str:
    """A sentence whose signs stay what they are and whose names are set like the formulas."""
    escaped = _escaped(sentence)
    for name, tex in d.reader.tex.items():
        word = re.sub("_", r"\\_", d.reader.word(name))
        escaped = re.sub(
            rf"(?<![\w}}]){re.escape(word)} = ", partial("${}$ = ".format, tex), escaped
        )
    return escaped
