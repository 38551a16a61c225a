"""What a reader sees: a derivation as text, as aligned LaTeX, and as Markdown with sentences."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING, Any

from .arithmetic import show_limit
from .evaluation import name_of
from .expressions import Expression, bare, tex_text, without_tex
from .lines import BLANK, FALSE, HELD, PROVED, UNCHECKED

if TYPE_CHECKING:
    from .derivations import Derivation

MARKS = {PROVED: "✓", HELD: "○", FALSE: "✗", BLANK: "…", UNCHECKED: "?"}
TEX = {"": r"\phantom{=}", "=": "=", "≤": r"\le", "≥": r"\ge", "<": "<", ">": ">", "≈": r"\approx"}
TEX_MARKS = {
    PROVED: r"\checkmark",
    HELD: r"\circ",
    FALSE: r"\text{✗}",
    BLANK: r"\ldots",
    UNCHECKED: r"\text{?}",
}


IN_COLOR = {  # beside a line that was pasted: a green mark, a gray circle, a red line
    PROVED: r"{\color{green}{\checkmark}}",
    HELD: r"{\color{gray}{\circ}}",
    FALSE: r"{\color{red}{\text{✗}}}",
}


def text(d: Derivation) -> str:
    """For a terminal: one line each, then the sentences."""
    rows = list(_rows(d, "text"))
    width = max((len(looks) for _, looks, _, _ in rows), default=0)
    lines = [
        f"{relation or ' '} {looks:<{width}}  {MARKS[mark]}  {_reason(reason, 'text')}".rstrip()
        for relation, looks, mark, reason in rows
    ]
    start = "  " + _looks(d.expressions[0], d.start, "text")
    return "\n".join([*_head(d, "{}"), start, *lines, *d.check().sentences])


def latex(d: Derivation) -> str:
    """The lines alone, aligned at their relations."""
    if d.pasted:
        return _as_pasted(d)
    rows = [
        rf"&{TEX[relation]} {looks} && {TEX_MARKS[mark]} && {_reason(reason, 'tex')}".rstrip()
        for relation, looks, mark, reason in _rows(d, "tex")
    ]
    start, body = _looks(d.expressions[0], d.start, "tex"), " \\\\\n".join(rows)
    return f"$$\\begin{{aligned}}\n{start} {body}\n\\end{{aligned}}$$"


def _as_pasted(d: Derivation) -> str:
    """The lines as they were written; a false one is red, with its counterexample beside it."""
    start = _looks(d.expressions[0], d.start, "tex")
    rows = [f"{start} && && {_reason(str(d.reason), 'tex')}".rstrip(" &")] if d.reason else []
    first = f"{start} " if not rows else ""
    for (relation, looks, mark, reason), found in zip(
        _rows(d, "tex"), d.check().lines, strict=True
    ):
        line, beside = looks, _reason(reason, "tex")
        if mark == FALSE:
            line = rf"{{\color{{red}}{{{looks}}}}}"
            why = found.sentence.partition(" is false: ")[2] or found.sentence
            beside = f"{beside} {tex_text(why)}".strip()
        mark = IN_COLOR.get(mark) or TEX_MARKS[mark]
        rows.append(f"{first}&{TEX[relation]} {line} && {mark} && {beside}".rstrip())
        first = ""
    body = " \\\\\n".join(rows)
    return f"$$\\begin{{aligned}}\n{body}\n\\end{{aligned}}$$"


def markdown(d: Derivation) -> str:
    """For notebooks, slides and GitHub."""
    sentences = [_sentence(d, sentence) for sentence in d.check().sentences]
    read = [f"I read: {reading(d)}"] if d.pasted else []
    return "\n\n".join([*_head(d, "**{}**"), latex(d), *sentences, *read])


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


def _reason(reason: str, kind: str) -> str:
    """Words with $…$ among them; in a terminal the formulas are made readable, too."""
    words, formula = (str, without_tex) if kind == "text" else (tex_text, str)
    return "".join((formula if k % 2 else words)(p) for k, p in enumerate(reason.split("$")))


def _sentence(d: Derivation, sentence: str) -> str:
    """A sentence whose signs stay what they are and whose names are set like the formulas."""
    escaped = re.sub(r"([*_`<$\\])", r"\\\1", sentence)
    for name, tex in d.reader.tex.items():
        word = re.sub("_", r"\\_", d.reader.word(name))
        escaped = re.sub(
            rf"(?<![\w}}]){re.escape(word)} = ", partial("${}$ = ".format, tex), escaped
        )
    return escaped
