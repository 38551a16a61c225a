"""A unit as a student meets it: the lecture read and explored, the exercises answered."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.lab import DARK, LIGHT, LabPage

NOTEBOOKS = [
    "notebooks/00_start_here.ipynb",
    "notebooks/02_momentum.ipynb",
    "exercises/02_momentum.ipynb",
]

_FILL = """([id, source]) => {
  const cells = [...window.jupyterapp.shell.currentWidget.content.model.cells];
  cells.find(cell => cell.id === id).sharedModel.setSource(source);
}"""


def assert_maths_is_set(page: LabPage) -> None:
    """Formulas are there as formulas: none in raw TeX, none with an error."""
    assert page.page.locator("mjx-container").count() > 0
    assert page.page.locator("mjx-merror, [data-mjx-error]").count() == 0
    for text in page.page.locator(".jp-RenderedMarkdown").all_inner_texts():
        assert not re.search(r"\$|\\(frac|begin|Delta)", text), f"Raw TeX: {text[:200]}"


@pytest.mark.parametrize("name", ["00_start_here", "02_momentum"])
def test_a_lecture_runs_from_top_to_bottom_with_its_maths_set(page, name):
    page.open(f"notebooks/{name}.ipynb")
    page.run_all()
    assert_maths_is_set(page)
    page.theme(LIGHT)
    page.screenshot(f"{name}-light")
    page.theme(DARK)
    page.screenshot(f"{name}-dark")


def test_the_goal_of_each_explorer_can_be_reached_by_keyboard(page):
    page.open("notebooks/02_momentum.ipynb")
    page.run_all()
    goals = page.page.get_by_role("status").filter(has_text="Goal")
    valley, memory = goals.all()
    ways = {valley: ("β", -20), memory: ("β", +44)}
    for goal, (label, steps) in ways.items():
        box = goal.locator("xpath=ancestor::*[contains(@class, 'widget-vbox')][1]")
        control = box.locator(".widget-hslider", has_text=label)
        key = "ArrowRight" if steps > 0 else "ArrowLeft"
        control.get_by_role("slider").focus()
        for _ in range(abs(steps)):
            page.page.keyboard.press(key)
        expect(goal).to_have_text(re.compile("^✓ Goal reached"))


def test_an_exercise_answers_a_right_a_wrong_a_misconceived_and_a_blank_answer(page):
    page.open("exercises/02_momentum.ipynb")
    for id, source in {
        "answer-equivalent-rules": "alpha, epsilon = delta * beta, delta * (1 - beta)",
        "answer-bias": "factor = 1 - beta**t",
        "answer-half-life": 'half_life = "1/beta"',
        "answer-weights": "def weights(beta, t):\n    return undefined_name",
    }.items():
        page.page.evaluate(_FILL, [id, source])
    said = {cell.source.split("(")[0]: cell.text for cell in page.run_all()}
    assert "wrong, 0 of 3 points" in said["check.equivalent_rules"]
    assert "Known mistake: Δθ_{t−1} put where v_{t−1} stood." in said["check.equivalent_rules"]
    assert "right, 2 of 2 points" in said["check.bias"]
    assert "wrong, 0 of 1 point" in said["check.half_life"]
    assert "raised NameError" in said["check.weights"]
    assert "not attempted" in said["check.expectation"]
    assert "Total: 2 of 15 points" in said["scoreboard"]
    cards = page.page.locator(".jp-RenderedHTMLCommon").filter(has_text="points")
    expect(cards.filter(has_text="✗ Wrong").first).to_be_visible()
    page.theme(LIGHT)
    page.screenshot("exercise-light")
    page.theme(DARK)
    page.screenshot("exercise-dark")


def test_an_untouched_exercise_runs_without_an_error(page):
    page.open("exercises/02_momentum.ipynb")
    checks = [cell for cell in page.run_all() if cell.source.startswith("check.")]
    assert len(checks) == 7
    assert all("not attempted, 0 of" in cell.text for cell in checks)
    assert_maths_is_set(page)
