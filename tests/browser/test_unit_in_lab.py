"""An exercise as a student meets it, and the slide marks of a lecture as a lecturer meets them."""

import nbformat
from playwright.sync_api import expect

from course_utils.units import declared
from tests.browser.lab import DARK, LIGHT
from tests.browser.test_pages_accessible import violations

NOTEBOOKS = ["exercises/02_momentum.ipynb", "notebooks/02_momentum.ipynb"]


def test_an_exercise_answers_a_right_a_wrong_a_misconceived_and_a_blank_answer(page):
    page.change_to("exercises/02_momentum.ipynb")
    page.fill("answer-equivalent-rules", "alpha, epsilon = delta * beta, delta * (1 - beta)")
    page.fill("answer-bias", "factor = 1 - beta**t")
    page.fill("answer-half-life", 'half_life = "1/beta"')
    page.fill("answer-weights", "def weights(beta, t):\n    return undefined_name")
    said = {cell.source.split("(")[0]: cell.text for cell in page.run_all()}
    assert "partly right, 2 of 3 points" in said["check.equivalent_rules"]
    assert "Known mistake: Δθ_{t−1} put where v_{t−1} stood." in said["check.equivalent_rules"]
    assert "right, 2 of 2 points" in said["check.bias"]
    assert "wrong, 0 of 1 point" in said["check.half_life"]
    assert "raised NameError" in said["check.weights"]
    assert "not attempted" in said["check.expectation"]
    assert "Total: 4 of 22 points" in said["scoreboard"]
    cards = page.page.locator(".jp-RenderedHTMLCommon").filter(has_text="points")
    expect(cards.filter(has_text="✗ Wrong").first).to_be_visible()
    assert page.unheard() == []
    assert violations(page.page, within=".jp-OutputArea") == []
    page.theme(LIGHT)
    page.screenshot("exercise-light")
    page.theme(DARK)
    page.screenshot("exercise-dark")


def test_an_untouched_exercise_runs_without_an_error(page):
    page.change_to("exercises/02_momentum.ipynb")
    checks = [cell for cell in page.run_all() if cell.source.startswith("check.")]
    assert len(checks) == len(declared("02_momentum"))
    assert all("not attempted, 0 of" in cell.text for cell in checks)
    page.assert_maths_is_set()


def test_a_card_is_read_out_when_its_cell_was_run(page):
    page.change_to("exercises/02_momentum.ipynb")
    page.fill("answer-bias", "from course_utils.checks import momentum as check; factor = 1")
    page.run("answer-bias")
    page.run("check-bias")
    voice = page.page.locator("#course-voice")
    expect(voice).to_contain_text("✗ Wrong 2.3 bias")


def test_tabs_tell_a_lecture_from_its_exercises(page):
    page.change_to("exercises/02_momentum.ipynb")
    tab = page.page.locator(".lm-TabBar-tab.lm-mod-current[data-course] .lm-TabBar-tabLabel")
    words = "e => getComputedStyle(e, '::before').content + e.textContent"
    assert tab.evaluate(words) == '"Exercises · "02_momentum.ipynb'


def test_an_endless_loop_is_stopped_by_the_stop_button(page):
    page.change_to("exercises/02_momentum.ipynb")
    endless = "def weights(beta, t):\n    print('begun', flush=True)\n    while True:\n        pass"
    page.fill("answer-weights", endless)
    page.start_all()
    expect(page.page.locator(".jp-OutputArea-output", has_text="begun")).to_be_visible()
    page.interrupt()
    (stopped,) = [cell for cell in page.cells() if cell.source == "check.weights(weights)"]
    assert "You stopped this check before it had a verdict." in stopped.text
    assert stopped.errors == []
    page.fill("answer-weights", "weights = ____")
    assert "not attempted" in next(c.text for c in page.run_all() if c.source == stopped.source)


def test_slide_marks_are_seen_and_edited_in_the_property_inspector(page):
    page.change_to("notebooks/02_momentum.ipynb")
    mark = page.slide_type("Explore: two runs down the valley")
    assert mark.locator("option:checked").inner_text() == "Sub-Slide"
    mark.select_option(label="Skip")
    page.page.evaluate("window.jupyterapp.commands.execute('docmanager:save')")
    expect(page.page.locator(".jp-Notebook")).to_be_visible()
    path = page.lab.root / "notebooks/02_momentum.ipynb"
    (cell,) = [c for c in nbformat.read(path, 4).cells if c.source.startswith("### Explore: two")]
    assert cell.metadata.slideshow.slide_type == "skip"
