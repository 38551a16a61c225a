"""The map of the units as a drawing whose boxes are links."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from selfcheck.units import Unit

WIDTH, HEIGHT, ACROSS, DOWN, EDGE = 190, 44, 232, 74, 8


def drawn_map(units: Sequence[Unit]) -> str:
    """An SVG with a box a unit, placed by the table, and an arrow for each "comes before"."""
    top = max((unit.place[1] for unit in units), default=0)
    at = {u.number: (EDGE + u.place[0] * ACROSS, EDGE + (top - u.place[1]) * DOWN) for u in units}
    width = max((x for x, _ in at.values()), default=0) + WIDTH + EDGE
    height = max((y for _, y in at.values()), default=0) + HEIGHT + EDGE
    arrows = [
        _arrow(at[before], at[unit.number])
        for unit in units
        for before in unit.after
        if before in at
    ]
    boxes = [_box(unit, *at[unit.number]) for unit in units]
    order = "; ".join(
        f"{unit.number} after {', '.join(b for b in unit.after if b in at)}"
        for unit in units
        if any(b in at for b in unit.after)
    )
    return (
        f'<svg class="map" role="group" viewBox="0 0 {width:g} {height:g}" width="{width:g}" '
        f'height="{height:g}" aria-label="Map of the units. {escape(order)}.">'
        '<defs><marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" '
        'markerHeight="7" orient="auto"><path d="M0 0 8 4 0 8z" style="fill:var(--soft);'
        'stroke:none;marker-end:none"/></marker></defs>'
        f"{''.join(arrows)}{''.join(boxes)}</svg>"
    )


def _box(unit: Unit, x: float, y: float) -> str:
    read, work = unit.minutes
    middle = x + WIDTH / 2
    return (
        f'<a href="notebooks/{unit.stem}.html" aria-label="{unit.number} {escape(unit.label)}">'
        f'<rect x="{x:g}" y="{y:g}" width="{WIDTH}" height="{HEIGHT}" rx="8"/>'
        f'<text x="{middle:g}" y="{y + 19:g}">{unit.number} {escape(unit.label)}</text>'
        f'<text class="small" x="{middle:g}" y="{y + 36:g}">{read} + {work} minutes</text></a>'
    )


def _arrow(start: tuple[float, float], end: tuple[float, float]) -> str:
    """From the side of one box to the side of the next; straight down or up in one column."""
    if start[0] == end[0]:
        down = end[1] > start[1]
        x = start[0] + WIDTH / 2
        here, there = (start[1] + HEIGHT, end[1]) if down else (start[1], end[1] + HEIGHT)
        return f'<path d="M{x:g} {here:g}L{x:g} {there:g}"/>'
    x, y, to_x, to_y = start[0] + WIDTH, start[1] + HEIGHT / 2, end[0], end[1] + HEIGHT / 2
    half = (x + to_x) / 2
    return f'<path d="M{x:g} {y:g}C{half:g} {y:g} {half:g} {to_y:g} {to_x:g} {to_y:g}"/>'
