"""Every lecture as a student meets it: run from top to bottom, its goals reached by keyboard."""

import json
import random
import re

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.lab import DARK, LIGHT, LabPage
from tests.browser.likeness import MOST, far_from
from tests.places import our_notebooks

LECTURES = [path.stem for path in our_notebooks("notebooks")]
NOTEBOOKS = [f"notebooks/{lecture}.ipynb" for lecture in LECTURES]

# Asked of the kernel: how each explorer's goal is reached by the fewest keys, one control after the
# other, with the sentence after each.
WAYS = """
import itertools, json
from classroom.frames import grid_of
from course_utils.explore import Explorer, stops_of

def _keys(control, old, new):
    if hasattr(control, "step"):
        far = stops_of(control) - 1 - new
        begin, old = min(([], old), (["Home"], 0), (["End"], new + far),
                         key=lambda way: len(way[0]) + abs(new - way[1]))
        return begin + ["ArrowRight" if new > old else "ArrowLeft"] * abs(new - old)
    if hasattr(control, "options"):
        return ["ArrowDown" if new > old else "ArrowUp"] * abs(new - old)
    return ["Space"] * (new != old)

def _way(explorer):
    now, controls = explorer.stops_now(), list(explorer.controls.values())
    near = sorted(itertools.product(*grid_of(explorer)),
                  key=lambda stops: sum(len(_keys(*c)) for c in zip(controls, now, stops)))
    end = next(stops for stops in near if explorer.is_met(explorer.at(stops)))
    moves = []
    for k in (k for k in range(len(now)) if now[k] != end[k]):
        keys = _keys(controls[k], now[k], end[k])
        now[k] = end[k]
        moves.append([controls[k].description, keys, explorer.describe(**explorer.at(now))])
    return moves

_explorers = [e for e in list(Out.values()) if isinstance(e, Explorer)]
print(json.dumps([_way(e) for e in _explorers]))
"""

# Whether moves add up: what moving artists draw after many of them is what a new drawing shows.
ADDED_UP = """
import json
import numpy as np
from course_utils.explore import stops_of

def _wrong(explorer):
    rng, message, wrong = np.random.default_rng(8), explorer.message(), 0
    counts = [stops_of(control) for control in explorer.controls.values()]
    for k in range(30):
        with explorer._lock:  # its page may ask meanwhile
            explorer.add_place(message, [int(rng.integers(count)) for count in counts])
            if k % 10 == 9:  # to draw all anew takes its time
                moved = explorer._scenes.place()[1]
                explorer._scenes.anew()
                whole = explorer._scenes.place()[1]
                wrong += any(a[0] != b[0] or a[1].tobytes() != b[1].tobytes()
                             for a, b in zip(moved, whole, strict=True))
    return wrong

print(json.dumps([_wrong(e) for e in _explorers]))
"""
# All controls at once to somewhere, and matplotlib's picture of the place that the kernel was told.
MOVE = """({explorer}, shares) => explorer.about.controls.forEach(({count, options}, k) =>
  explorer.move(k, Math.floor(shares[k] * (count ?? options?.length ?? 2))))"""
KERNEL_KNOWS = "({explorer}) => !explorer.asked && explorer.told === explorer.at.join()"
PICTURE = """
import base64
from selfcheck.png import png_bytes

print(base64.b64encode(png_bytes(_explorers[{}]._pixels()[0])).decode())
"""

# And whether its picture and its sentence hold out when any two controls stand at their ends.
SWEEP = """
import itertools, json, re

def _ends(control):
    options = [value for _, value in getattr(control, "options", ())]
    if options:
        return options
    return [False, True] if isinstance(control.value, bool) else [control.min, control.max]

def _complaints(explorer):
    ends = {name: _ends(control) for name, control in explorer.controls.items()}
    pairs = itertools.combinations(ends, 2) if len(ends) > 1 else [tuple(ends)]
    for names in pairs:
        for values in itertools.product(*(ends[name] for name in names)):
            at = dict(zip(names, values))
            text = explorer.describe(**at)
            if re.search(r"\\b(nan|inf|None)\\b", text) or not text.endswith((".", "?")):
                yield f"{at}: {text}"

print(json.dumps([c for e in _explorers for c in _complaints(e)]))
"""


@pytest.mark.parametrize("lecture", LECTURES)
def test_a_lecture_runs_and_each_of_its_goals_is_reached_by_keyboard(page: LabPage, lecture: str):
    page.change_to(f"notebooks/{lecture}.ipynb")
    page.run_all()
    page.assert_maths_is_set()
    assert page.unheard() == []
    ways = json.loads(page.printed_by(WAYS))
    boxes = page.page.locator(".course-explorer .course-box")
    expect(boxes).to_have_count(len(ways))
    assert json.loads(page.printed_by(SWEEP)) == []
    assert json.loads(page.printed_by(ADDED_UP)) == [0] * len(ways)
    for box, way in zip(boxes.all(), ways, strict=True):
        goal, caption = box.locator(".course-goal"), box.locator(".course-says")
        expect(goal).to_have_text(re.compile("^Goal: "))
        for label, keys, sentence in way:
            _control(box, label).focus()
            for key in keys:
                page.page.keyboard.press(key)
            expect(caption).to_have_text(sentence)
        expect(goal).to_have_text(re.compile("^✓ Goal reached"))
    rng = random.Random(8)
    for theme in (DARK, LIGHT):
        page.theme(theme)
        for number, box in enumerate(boxes.all()):
            box.evaluate(MOVE, [rng.random() for _ in range(9)])
            page.page.wait_for_function(KERNEL_KNOWS, arg=box.element_handle())
            png = page.printed_by(PICTURE.format(number))
            assert far_from(box.locator("svg"), png.strip()) < MOST, (number, theme)
    page.screenshot(lecture)


def _control(box: Locator, label: str) -> Locator:
    """The slider, check box or chosen radio button with exactly this label."""
    radio = box.get_by_role("radiogroup", name=label, exact=True).locator("input:checked")
    others = [box.get_by_role(role, name=label, exact=True) for role in ("slider", "checkbox")]
    return radio.or_(others[0]).or_(others[1])
