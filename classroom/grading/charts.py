"""Pictures for a page, as inline SVG: they scale, print, and take their colors from the page.

Every one is an image with a label that says what can be seen in it.
"""

from __future__ import annotations

import textwrap
import unicodedata
from collections.abc import Sequence

from markupsafe import Markup

LETTER = 8.6  # the width of a letter at most, in units of the picture
WIDE, HIGH = 860, 30  # of a picture with lying bars, and of a row in it
LONGEST = 46  # letters of a name that fit beside a bar; a longer one is broken


def columns(bars: Sequence[tuple[str, int]], below: str, label: str) -> Markup:
    """Upright bars with their numbers on top."""
    wide, high, base = 640, 220, 170
    step = (wide - 20) / max(1, len(bars))
    most = max((count for _, count in bars), default=0) or 1
    parts = [_line(10, base, wide - 10, base, "axis")]
    for place, (name, count) in enumerate(bars):
        x, middle = 10 + place * step, 10 + (place + 0.5) * step
        tall = 140 * count / most
        parts.append(_rect(x + 0.08 * step, base - tall, 0.84 * step, tall, "bar"))
        parts.append(_text(middle, base + 18, name, "middle"))
        if count:
            parts.append(_text(middle, base - tall - 5, count, "middle"))
    parts.append(_text(wide / 2, base + 42, below, "middle soft"))
    return _svg(wide, high, parts, label)


def stacked(rows: Sequence[tuple[str, Sequence[int]]], states: Sequence[str], label: str) -> Markup:
    """A bar a row, divided into the states; a number where there is room for it."""
    names, left, step = _beside([name for name, _ in rows])
    room = WIDE - left - 10
    high = step * len(rows) + 40
    parts = []
    for place, (_, counts) in enumerate(rows):
        y, total, x = place * step + (step - HIGH) / 2 + 4, max(1, sum(counts)), float(left)
        parts += _name(names[place], left, y + 11)
        for state, count in zip(states, counts, strict=True):
            width = room * count / total
            if count:
                parts.append(_rect(x, y, width, HIGH - 8, f"state {_class(state)}"))
                if width > 10 + LETTER * len(str(count)):
                    parts.append(_text(x + width / 2, y + 16, count, f"middle on {_class(state)}"))
            x += width
    x = max(0.0, min(left, WIDE - sum(40 + LETTER * len(state) for state in states)))
    for state in states:
        parts.append(_rect(x, high - 22, 14, 14, f"state {_class(state)}"))
        parts.append(_text(x + 20, high - 10, state, ""))
        x += 40 + LETTER * len(state)
    return _svg(WIDE, high, parts, label)


def scales(rows: Sequence[tuple[str, float | None]], weak: float, label: str) -> Markup:
    """A dot a row between −1 or 0 and 1; what is below `weak` lies on gray."""
    names, left, step = _beside([name for name, _ in rows])
    known = [value for _, value in rows if value is not None]
    low = -1.0 if min(known, default=0) < 0 else 0.0
    room, high = WIDE - left - 30, step * len(rows) + 30

    def at(value: float) -> float:
        return left + room * (value - low) / (1 - low)

    parts = [_rect(at(low), 0, at(weak) - at(low), step * len(rows), "weak")]
    for tick in (low, 0.0, weak, 0.5, 1.0) if low else (0.0, weak, 0.5, 1.0):
        parts.append(_line(at(tick), 0, at(tick), step * len(rows), "grid"))
        parts.append(_text(at(tick), step * len(rows) + 18, signed(tick), "middle soft"))
    for place, (_, value) in enumerate(rows):
        y = place * step + step / 2
        parts += _name(names[place], left, y)
        if value is None:
            parts.append(_text(left + 8, y + 5, "cannot be told", "soft"))
        else:
            parts.append(
                Markup('<circle cx="{}" cy="{}" r="6" class="dot"/>').format(_n(at(value)), _n(y))
            )
            beside = at(value) + 12 if value < 0.85 else at(value) - 46
            parts.append(_text(beside, y + 5, signed(value), ""))
    return _svg(WIDE, high, parts, label)


def shares(rows: Sequence[tuple[str, float, str]], label: str, mark: float | None = None) -> Markup:
    """Lying bars from 0 to 1, with words behind each; a line at `mark`."""
    names, left, step = _beside([name for name, _, _ in rows])
    room = WIDE - left - 120
    high = step * len(rows) + (24 if mark is not None else 4)
    parts = []
    for place, (_, share, says) in enumerate(rows):
        y = place * step + (step - HIGH) / 2 + 4
        parts += _name(names[place], left, y + 11)
        parts.append(_rect(left, y, room, HIGH - 8, "track"))
        parts.append(_rect(left, y, room * min(1.0, share), HIGH - 8, "bar"))
        parts.append(_text(left + room + 8, y + 16, says, ""))
    if mark is not None:
        x = left + room * mark
        parts.append(_line(x, 0, x, step * len(rows), "mark"))
        parts.append(_text(x, high - 6, f"{mark:.0%}", "middle soft"))
    return _svg(WIDE, high, parts, label)


def signed(value: float) -> str:
    """Two digits, with a proper minus."""
    return f"{value:.2f}".rstrip("0").rstrip(".").replace("-", "−") or "0"


def _beside(names: Sequence[str]) -> tuple[list[list[str]], int, int]:
    """The lines of each name, the margin that they need, and the height of a row."""
    broken = [textwrap.wrap(name, LONGEST) for name in names]
    broken = [[part for line in lines for part in _halves(line)] for lines in broken]
    widest = max((letters(line) for lines in broken for line in lines), default=0)
    most = max(map(len, broken), default=1)
    return broken, 20 + round(LETTER * widest), max(HIGH, 14 + 16 * most)


def _name(lines: Sequence[str], left: int, middle: float) -> list[Markup]:
    """What a row is called, beside it."""
    top = middle + 5 - 8 * (len(lines) - 1)
    return [_text(left - 10, top + 16 * k, line, "end") for k, line in enumerate(lines)]


def _halves(line: str) -> list[str]:
    """The line; one of letters as wide as high, which has no blanks, is broken anywhere."""
    if letters(line) <= LONGEST:
        return [line]
    middle = len(line) // 2
    return [*_halves(line[:middle]), *_halves(line[middle:])]


def letters(text: str) -> float:
    """How long it is, in Latin letters; Chinese, Japanese and Korean ones are as wide as high."""
    return sum(1.7 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def _class(state: str) -> str:
    return str(state).replace(" ", "-")


def _n(number: float) -> str:
    return f"{number:.1f}".removesuffix(".0")


def _rect(x: float, y: float, width: float, height: float, look: str) -> Markup:
    tag = '<rect x="{}" y="{}" width="{}" height="{}" class="{}"/>'
    return Markup(tag).format(_n(x), _n(y), _n(max(width, 0.0)), _n(max(height, 0.0)), look)


def _line(x1: float, y1: float, x2: float, y2: float, look: str) -> Markup:
    tag = '<line x1="{}" y1="{}" x2="{}" y2="{}" class="{}"/>'
    return Markup(tag).format(_n(x1), _n(y1), _n(x2), _n(y2), look)


def _text(x: float, y: float, words: object, look: str) -> Markup:
    tag = '<text x="{}" y="{}" class="{}">{}</text>'
    return Markup(tag).format(_n(x), _n(y), look, words)


def _svg(wide: int, high: int, parts: Sequence[Markup], label: str) -> Markup:
    head = (
        '<div class="wide" tabindex="0">'
        '<svg class="chart" viewBox="0 0 {} {}" role="img" aria-label="{}">'
    )
    return Markup(head).format(wide, high, label) + Markup("").join(parts) + Markup("</svg></div>")
