"""Every lecture as a student meets it: run from top to bottom, its goals reached by keyboard."""

import contextlib
import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import BrowserContext, Locator, expect

from tests.browser.lab import REPOSITORY, Lab, LabPage

LECTURES = sorted(path.stem for path in (REPOSITORY / "notebooks").glob("*.ipynb"))
NOTEBOOKS = [f"notebooks/{lecture}.ipynb" for lecture in LECTURES]

# For each explorer of a lecture: which control, which keys, how often, until the goal is reached.
LEFT, RIGHT = "ArrowLeft", "ArrowRight"
WAYS = {
    "00_start_here": [],
    "01_rnn_gradients": [[("norm ‖W‖₂", RIGHT, 3), ("non-normality", RIGHT, 8)]],
    "02_momentum": [[("β", LEFT, 20)], [("β", RIGHT, 44)]],
    "03_weight_decay": [
        [("s", RIGHT, 40), ("log₁₀ λ", RIGHT, 6)],
        [("log₁₀ η", LEFT, 10), ("log₁₀ γ", RIGHT, 10)],
    ],
    "04_attention": [
        [("score 1", LEFT, 14), ("score 2", RIGHT, 5)],
        [("token that asks", RIGHT, 3), ("causal mask", "Space", 1)],
    ],
    "05_two_heads": [
        [("row of Wk", RIGHT, 1), ("new value", RIGHT, 8)],
        [("decimals, head 1", RIGHT, 1), ("decimals, head 2", RIGHT, 2)],
    ],
    "06_counting_cost": [[("tokens n", RIGHT, 29)]],
    "07_lookup": [[("M", RIGHT, 10), ("query, north", LEFT, 36)], [("M", LEFT, 30)]],
    "08_linear_attention": [[("c", RIGHT, 26)], [("d", LEFT, 4), ("n", RIGHT, 14)]],
    "09_random_features": [[("features", "Shift+Tab Space", 1), ("m", RIGHT, 24)]],
    "10_transformers_are_rnns": [
        [("n", RIGHT, 14), ("d", RIGHT, 2), ("heads", "Tab Tab Tab Space", 1)]
    ],
    "11_transport": [[("x₂", LEFT, 1), ("x₂", LEFT, 1), ("x₂", RIGHT, 1)]],
}


@pytest.fixture(scope="module")
def opened(lab: Lab, window: BrowserContext) -> LabPage:
    """One page for all lectures; each test changes to its own."""
    return LabPage(window.new_page(), lab)


@pytest.fixture
def page(opened: LabPage) -> Iterator[LabPage]:
    yield opened
    problems, opened.problems = opened.problems, []
    assert not problems, "\n".join(problems)


@pytest.mark.parametrize("lecture", LECTURES)
def test_a_lecture_runs_and_each_of_its_goals_is_reached_by_keyboard(page: LabPage, lecture: str):
    page.change_to(f"notebooks/{lecture}.ipynb")
    page.run_all()
    page.assert_maths_is_set()
    goals = page.page.get_by_role("status").filter(has_text="Goal").all()
    assert len(goals) == len(WAYS[lecture])
    for goal, way in zip(goals, WAYS[lecture], strict=True):
        expect(goal).to_have_text(re.compile("^Goal: "))
        box = goal.locator("xpath=ancestor::*[contains(@class, 'widget-vbox')][1]")
        caption = box.get_by_role("status").last
        for label, keys, times in way:
            before = caption.inner_text()
            _control(box, label).focus()
            for key in keys.split() * times:
                page.page.keyboard.press(key)
            with contextlib.suppress(AssertionError):  # some moves leave the sentence as it is
                expect(caption).not_to_have_text(before, timeout=2000)
        expect(goal).to_have_text(re.compile("^✓ Goal reached"))
    page.screenshot(lecture)


def _control(box: Locator, label: str) -> Locator:
    """The slider handle, check box or chosen radio button with exactly this label."""
    name = box.locator("label, .widget-label", has_text=re.compile(f"^{re.escape(label)}$")).first
    row = name.locator("xpath=ancestor-or-self::*[contains(@class, 'widget-inline-hbox')][1]")
    return row.locator("[role=slider], input[type=checkbox], input[type=radio]:checked").first
