"""How feedback looks: cards and a table in HTML, and the words that they share with plain text.

Colors come with a mark and a word, and follow JupyterLab's theme where there is one.
"""

from __future__ import annotations

import html
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

GREEN = "var(--jp-success-color0, #2e7d32)"
RED = "var(--jp-error-color0, #c62828)"
AMBER = "var(--jp-warn-color0, #b26a00)"
GRAY = "var(--jp-layout-color4, #757575)"
LOOKS = {
    "right": ("✓", GREEN),
    "partly right": ("◐", AMBER),
    "wrong": ("✗", RED),
    "not attempted": ("○", GRAY),
    "could not be checked": ("?", AMBER),
    "not run yet": ("·", GRAY),
    "no verdict yet": ("·", GRAY),
}
AS_SAVED = ", as saved"  # of a verdict from before the kernel was started
_LEFT = "text-align:left"


class Row(NamedTuple):
    """How an exercise stands."""

    number: str
    name: str
    state: str
    earned: int
    points: int
    title: str = ""

    @property
    def look(self) -> tuple[str, str]:
        """Its mark and its color."""
        return LOOKS[self.state.removesuffix(AS_SAVED)]

    @property
    def link(self) -> str:
        """Its number and title, leading to its text in the notebook."""
        place = f"#cell-id=text-{self.name.replace('_', '-')}"
        return f'<a href="{place}">{self.number} {html.escape(self.title or self.name)}</a>'


def state_card(
    state: str, aside: str, sentences: Sequence[str], texts: str = "", more: str = ""
) -> str:
    """A card in the color of a state, with its mark and its word."""
    return card(_marked(state, state.capitalize()), aside, sentences, LOOKS[state][1], texts, more)


def card(
    title: str,
    aside: str,
    sentences: Sequence[str],
    color: str = GRAY,
    texts: str = "",
    more: str = "",
) -> str:
    """A frame with a title and a line for each sentence, and for `more`, which is HTML.

    `texts` are digests of what it judges.
    """
    about = f' data-of="{texts}"' if texts else ""
    lines = [*map(in_html, sentences), *([more] if more else [])]
    body = "".join(f'<div style="margin-top:4px">{line}</div>' for line in lines)
    return (
        f'<div class="course-card"{about} style="border:1px solid {color};border-left-width:6px;'
        'border-radius:4px;padding:8px 12px;margin:4px 0;max-width:48em;line-height:1.5">'
        f'<strong>{title}</strong> <span style="opacity:.8">{html.escape(aside)}</span>{body}</div>'
    )


def total(rows: Sequence[Row]) -> tuple[int, int]:
    """The points earned and those to be had."""
    return sum(row.earned for row in rows), sum(row.points for row in rows)


def points_table(groups: Mapping[str, Sequence[Row]]) -> str:
    """A bar, what is left, and a row an exercise; under several groups what each comes to."""
    filled = {title: rows for title, rows in groups.items() if rows}
    every = [row for rows in filled.values() for row in rows]
    body = ""
    for title, rows in filled.items():
        body += "".join(map(_row, rows))
        if len(filled) > 1:
            body += _total_row(title, rows)
    body += _total_row("Total", every)
    head = "".join(
        f'<th scope="col" style="{_LEFT}">{h}</th>' for h in ("Exercise", "Points", "State")
    )
    return (
        f'<div class="course-points" style="max-width:48em">{_bar(every)}'
        f'<p style="margin:8px 0">{_left(every)}</p><table aria-label="Points so far">'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _bar(rows: Sequence[Row]) -> str:
    """As long as there are points, in the colors and marks of the exercises; the table says all."""
    pieces = "".join(
        f'<span title="{row.number}" style="flex:{row.points};text-align:center;'
        f'border-bottom:8px solid {row.look[1]}">{row.look[0]}</span>'
        for row in rows
    )
    return f'<div aria-hidden="true" style="display:flex;gap:2px">{pieces}</div>'


def _left(rows: Sequence[Row]) -> str:
    """What is still to be had, and where to go on."""
    earned, points = total(rows)
    left = [row for row in rows if row.earned < row.points]
    begin = f"<strong>{counted(earned, points)}.</strong>"
    if not left:
        return f"{begin} Nothing is left." if rows else begin
    much, many = counted(points - earned), counted(len(left), thing="exercise")
    return f"{begin} Left: {much} in {many}. Next: {left[0].link}."


def _row(row: Row) -> str:
    return (
        f'<tr><th scope="row" style="{_LEFT};font-weight:normal">{row.link}</th>'
        f'<td style="white-space:nowrap">{row.earned} of {row.points}</td>'
        f'<td style="{_LEFT};border-left:4px solid {row.look[1]}">{_marked(row.state)}</td></tr>'
    )


def _total_row(title: str, rows: Sequence[Row]) -> str:
    earned, points = total(rows)
    return (
        f'<tr><th scope="row" style="{_LEFT}">{title}</th>'
        f"<td><strong>{earned} of {points}</strong></td><td></td></tr>"
    )


def counted(*numbers: int, thing: str = "point") -> str:
    """`1 point`, `2 of 3 points`."""
    return " of ".join(map(str, numbers)) + f" {thing}" + ("" if numbers[-1] == 1 else "s")


def one_line(text: str) -> str:
    """Printable and on one line, whatever a student's error message contained."""
    return "".join(c for c in " ".join(text.split()) if c.isprintable())


def in_html(sentence: str) -> str:
    """`code` set as code; elsewhere v_{t−1}, g_1 and d_in with a true index, β^{t}, W^O raised."""
    words, *rest = re.split("(`[^`]+`)", sentence)
    parts = [_indexed(words)]
    for code, words in zip(rest[::2], rest[1::2], strict=True):
        parts += [f"<code>{html.escape(code[1:-1])}</code>", _indexed(words)]
    return "".join(parts)


def _marked(state: str, word: str | None = None) -> str:
    mark = LOOKS[state.removesuffix(AS_SAVED)][0]
    return f'<span aria-hidden="true">{mark}</span> {word or state}'


def _indexed(words: str) -> str:
    words = re.sub(r"_\{([^}]+)\}", r"<sub>\1</sub>", html.escape(words))
    words = re.sub(r"\^(?:\{([^}]+)\}|\(([^()]+)\)|([-−]?\d+|\w)(?!\w))", _raised, words)
    return re.sub(r"(?<![^\Wᵀ])([^\W\d_])_(\d+|[a-zA-Z]+)(?![^\Wᵀ])", r"\1<sub>\2</sub>", words)


def _raised(found: re.Match[str]) -> str:
    return f"<sup>{found[1] or found[2] or found[3]}</sup>"
