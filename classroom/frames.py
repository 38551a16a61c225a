"""Explorers where no kernel runs: a picture for each value of their controls, behind ranges."""

from __future__ import annotations

import base64
import html
from collections.abc import Mapping, Sequence
from itertools import product

from selfcheck import style
from selfcheck.explore import GOAL, REACHED, Explorer
from selfcheck.png import small_png

from .grading.fingerprint import read_here

FRAME_BYTES = 50_000  # a frame is one of many: a heavier one has 256 colors
# After a click the keys turn slides again; whoever comes by keyboard leaves by Page Up or Down.
RANGE = """\
<label>{label}
<input type="range" min="0" max="{last}" value="{start}" aria-valuetext="{value}" \
data-shown="{shown}" onpointerup="this.blur()" \
onkeydown="if (event.key.startsWith('Page')) this.blur(); else event.stopPropagation()" oninput="\
const box = this.closest('.course-frames'), shown = this.dataset.shown.split('|')[this.value];\
this.setAttribute('aria-valuetext', this.nextElementSibling.value = shown);\
const place = [...box.querySelectorAll('input')].reduce((k, i) => k * (+i.max + 1) + +i.value, 0);\
box.querySelectorAll('figure').forEach((figure, i) => {{ figure.hidden = i != place;\
if (i == place && figure.dataset.goal)\
 box.querySelector('.course-goal b').textContent = figure.dataset.goal; }})">\
<output>{value}</output></label>"""
FRAMES = """\
<div class="course-frames">{goal}{ranges}
<div aria-live="polite">{figures}</div></div>"""


def with_what_was_read(explorer: Explorer) -> dict[str, object]:
    """The frames of an explorer, and the names of our files that drawing them read."""
    return {"html": frames_html(explorer), "read": read_here()}


def frames_html(explorer: Explorer, **grid: object) -> str:
    """A picture for each value of one or two controls behind range inputs: no kernel."""
    moving, fixed = explorer.frames_plan(grid or explorer.frames)
    now = explorer.params
    held = ", ".join(_held(explorer, *pair) for pair in fixed.items())
    alt = explorer.alt + (f" With {held}." if held else "")
    begin = {name: now[name] if now[name] in v else v[0] for name, v in moving.items()}
    asides = [f" (with {held})" if held else "", ""]
    ranges = [
        _range(explorer, name, values, values.index(begin[name]), aside)
        for (name, values), aside in zip(moving.items(), asides, strict=False)
    ]
    places = [dict(zip(moving, values, strict=True)) for values in product(*moving.values())]
    figures = [_frame(explorer, fixed | place, alt, hidden=place != begin) for place in places]
    goal = ""
    if explorer.goal is not None:
        lead = REACHED if explorer.is_met(now | fixed | begin) else GOAL
        goal = f'<p class="course-goal"><b>{lead}</b> {html.escape(explorer.goal)}.</p>\n'
    return FRAMES.format(goal=goal, ranges="\n".join(ranges), figures="".join(figures))


def _range(explorer: Explorer, name: str, values: Sequence, start: int, aside: str) -> str:
    shown = [html.escape(_told(explorer, name, value)) for value in values]
    label = html.escape(explorer.controls[name].description + aside)
    about = {"last": len(values) - 1, "start": start, "value": shown[start]}
    return RANGE.format(label=label, shown="|".join(shown), **about)


def _frame(explorer: Explorer, place: Mapping, alt: str, hidden: bool) -> str:
    rgb, text = explorer.draw(place)
    png = base64.b64encode(small_png(rgb, limit=FRAME_BYTES)).decode()
    width = rgb.shape[1] // style.SCALE
    met = explorer.is_met(explorer.params | dict(place))
    lead = f' data-goal="{REACHED if met else GOAL}"' if explorer.goal else ""
    return (
        f'<figure{" hidden" if hidden else ""}{lead}><img width="{width}" '
        f'alt="{html.escape(alt)}" src="data:image/png;base64,{png}">'
        f"<figcaption>{html.escape(text)}</figcaption></figure>"
    )


def _held(explorer: Explorer, name: str, value: object) -> str:
    label = explorer.controls[name].description
    if isinstance(value, bool):
        return label if value else f"no {label}"
    return f"{label} = {_told(explorer, name, value)}"


def _told(explorer: Explorer, name: str, value: object) -> str:
    """A value as the reader knows it: the words of a choice, not what they stand for."""
    options = getattr(explorer.controls[name], "options", ())
    words = (word for word, meant in options if meant == value)
    number = f"{value:g}" if isinstance(value, float) else str(value)
    return next(words, number.replace("-", "−"))
