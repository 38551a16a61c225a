"""Every lecture as a student meets it: run from top to bottom, its goals reached by keyboard."""

import json
import re

import pytest
from playwright.sync_api import Locator, expect

from tests.browser.lab import LabPage
from tests.places import our_notebooks

LECTURES = [path.stem for path in our_notebooks("notebooks")]
NOTEBOOKS = [f"notebooks/{lecture}.ipynb" for lecture in LECTURES]

# Asked of the kernel: how each explorer's goal is reached by keyboard. The way leads to its first
# frame that reaches it, one control after the other, with the sentence after each.
WAYS = """
import itertools, json
from course_utils.explore import Explorer

def _keys(control, old, new):
    options = [value for _, value in getattr(control, "options", ())]
    if isinstance(new, bool):
        return ["Space"] if new != old else []
    if options:
        steps = options.index(new) - options.index(old)
        if type(control).__name__ == "RadioButtons":
            return ["Tab" if steps > 0 else "Shift+Tab"] * abs(steps) + ["Space"] * bool(steps)
    else:
        steps = round((new - old) / control.step)
    pages, single = divmod(abs(steps), 5) if not options else (0, abs(steps))
    up = steps > 0
    pages = ["PageUp" if up else "PageDown"] * pages
    return pages + ["ArrowRight" if up else "ArrowLeft"] * single

def _way(explorer):
    moving, held = explorer.frames_plan(explorer.frames)
    frames = itertools.product(*moving.values())
    places = (explorer.params | held | dict(zip(moving, values)) for values in frames)
    end = next(place for place in places if explorer._reached(**place))
    now, moves = explorer.params, []
    for each in [name for name in [*held, *moving] if now[name] != end[name]]:
        control = explorer.controls[each]
        keys = _keys(control, now[each], end[each])
        now[each] = end[each]
        moves.append([control.description, keys, explorer.describe(**now)])
    return moves

print(json.dumps([_way(e) for e in list(Out.values()) if isinstance(e, Explorer)]))
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

_explorers = [e for e in list(Out.values()) if isinstance(e, Explorer)]
print(json.dumps([c for e in _explorers for c in _complaints(e)]))
"""

# So that it is found without a look at all elements of the page, which takes longer than a move.
NAME_BOX = "(goal, id) => { goal.closest('.widget-vbox').id = id; }"


@pytest.mark.parametrize("lecture", LECTURES)
def test_a_lecture_runs_and_each_of_its_goals_is_reached_by_keyboard(page: LabPage, lecture: str):
    page.change_to(f"notebooks/{lecture}.ipynb")
    page.run_all()
    page.assert_maths_is_set()
    assert page.unheard() == []
    goals = page.page.get_by_role("status").filter(has_text="Goal").all()
    ways = json.loads(page.printed_by(WAYS))
    assert len(goals) == len(ways)
    assert json.loads(page.printed_by(SWEEP)) == []
    for number, goal in enumerate(goals):
        goal.evaluate(NAME_BOX, f"explorer-{number}")
    for number, way in enumerate(ways):
        box = page.page.locator(f"#explorer-{number}")
        goal, caption = box.get_by_role("status").all()
        expect(goal).to_have_text(re.compile("^Goal: "))
        for label, keys, sentence in way:
            _control(box, label).focus()
            for key in keys:
                page.page.keyboard.press(key)
            expect(caption).to_have_text(sentence)
        expect(goal).to_have_text(re.compile("^✓ Goal reached"))
    page.screenshot(lecture)


def _control(box: Locator, label: str) -> Locator:
    """The slider handle, check box or chosen radio button with exactly this label."""
    name = box.locator("label, .widget-label", has_text=re.compile(f"^{re.escape(label)}$")).first
    row = name.locator("xpath=ancestor-or-self::*[contains(@class, 'widget-inline-hbox')][1]")
    return row.locator("[role=slider], input[type=checkbox], input[type=radio]:checked").first
