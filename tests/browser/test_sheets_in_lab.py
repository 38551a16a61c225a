"""A sheet in a real JupyterLab: set up by itself, and a verdict is about what is on the screen."""

import nbformat
import pytest
from playwright.sync_api import expect

from tests.browser.lab import DARK, LIGHT
from tests.browser.slips import NOT_RUN, slips
from tests.browser.test_pages_accessible import violations
from tests.places import SMALL

COURSE = SMALL
SHEET = "exercises/01_sums.ipynb"
NOTEBOOKS = [SHEET, "notebooks/01_sums.ipynb"]
RIGHT = "total = n**2 + n"
SLIPS = slips("total", "n**2 + n")
ENDLESS = "import time\nwhile True:\n    time.sleep(0.01)\ntotal = n**2 + n"
CLOSE = "() => { window.jupyterapp.commands.execute('application:close'); }"
RESTART = "() => window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.restart()"


@pytest.fixture
def sheet(page):
    """The sheet, just opened, when it says that it is ready."""
    page.change_to(SHEET)
    expect(ready(page)).to_have_text("Ready")
    return page


def ready(page):
    return page.page.locator(".course-ready")


def card(page):
    return page.page.locator(".jp-CodeCell[data-course=check] .course-card").first


def is_dirty(page):
    return page.page.evaluate("window.jupyterapp.shell.currentWidget.context.model.dirty")


def checked(page, answer):
    page.fill("answer-even-sum", answer)
    page.run("answer-even-sum")
    page.run("check-even-sum")


# -- the set-up runs by itself ---------------------------------------------------------------------


def test_the_first_act_in_a_sheet_is_an_answer(sheet):
    checked(sheet, RIGHT)
    expect(card(sheet)).to_contain_text("✓ Right")
    given, student, *_ = sheet.cells()
    assert (given.execution_count, student.execution_count) == (None, None)
    assert ready(sheet).get_attribute("role") == "status"


@pytest.mark.parametrize("notebook", NOTEBOOKS)
def test_opening_a_notebook_changes_nothing(page, notebook):
    page.change_to(notebook)
    if notebook == SHEET:
        expect(ready(page)).to_have_text("Ready")
    page.page.evaluate("() => window.jupyterapp.shell.currentWidget.sessionContext.ready")
    assert page.printed_by("print(1)") == "1\n"  # the kernel has said who it is
    assert not is_dirty(page)
    page.page.evaluate(CLOSE)
    expect(page.page.locator(".jp-NotebookPanel")).to_have_count(0)  # nobody asked anything
    page.open(notebook)


def test_what_is_typed_is_a_change(sheet):
    sheet.fill("answer-even-sum", RIGHT)
    assert is_dirty(sheet)


def test_a_kernel_that_was_started_anew_is_set_up_again(sheet):
    checked(sheet, RIGHT)
    sheet.page.evaluate(RESTART)
    expect(ready(sheet)).to_have_text("Ready")
    checked(sheet, "total = n**2")
    expect(card(sheet)).to_contain_text("✗ Wrong")


def own_sheet(lab, name, *given):
    """A sheet with these cells before its first answer."""
    cells = [nbformat.v4.new_code_cell(source, id=f"given-{k}") for k, source in enumerate(given)]
    cells.append(nbformat.v4.new_code_cell("answer = 1", id="answer-one"))
    notebook = nbformat.v4.new_notebook(cells=cells)
    notebook.metadata.kernelspec = {"name": "python3", "display_name": "Python 3"}
    (lab.root / name).parent.mkdir(exist_ok=True)
    nbformat.write(notebook, lab.root / name)
    return name


def test_a_set_up_that_fails_says_so(lab, page):
    page.change_to(own_sheet(lab, "exercises/broken.ipynb", "import no_such_module"))
    expect(ready(page)).to_contain_text("The set-up stopped at ModuleNotFoundError. Run the first")


def test_whoever_runs_a_cell_of_the_set_up_has_run_those_after_it(lab, page):
    page.change_to(own_sheet(lab, "exercises/own.ipynb", "student = 0", "numbers = [student] * 2"))
    expect(ready(page)).to_have_text("Ready")
    page.fill("given-0", "student = 17")
    page.run("given-0")
    assert page.printed_by("print(numbers)") == "[17, 17]\n"


def test_nothing_runs_by_itself_outside_of_the_courses_exercises(lab, page):
    page.change_to(own_sheet(lab, "handed_in/02.ipynb", "taken = True"))
    assert page.printed_by("print('taken' in dir())") == "False\n"
    assert ready(page).count() == 0


# -- a verdict is about what is on the screen ------------------------------------------------------


@pytest.mark.parametrize("slip", SLIPS)
def test_a_slip_does_not_keep_its_green_card(sheet, slip):
    checked(sheet, RIGHT)
    expect(card(sheet)).to_contain_text("✓ Right")
    sheet.fill("answer-even-sum", SLIPS[slip])
    expect(sheet.page.locator(".course-edited")).to_contain_text("Edited since this verdict")
    if slip != NOT_RUN:
        sheet.run("answer-even-sum")
    sheet.run("check-even-sum")
    expect(card(sheet)).to_contain_text("0 of 2 points")
    expect(card(sheet)).to_contain_text("Your cell with total")
    checked(sheet, RIGHT)
    expect(card(sheet)).to_contain_text("✓ Right")


def test_an_answer_that_was_stopped_does_not_keep_its_green_card(sheet):
    checked(sheet, RIGHT)
    sheet.fill("answer-even-sum", f"print('begun')\n{ENDLESS}")
    sheet.start("answer-even-sum")
    expect(sheet.page.locator(".jp-OutputArea-output", has_text="begun")).to_be_visible()
    sheet.interrupt()
    sheet.run("check-even-sum")
    expect(card(sheet)).to_contain_text("did not run to its end: KeyboardInterrupt")


def test_a_card_fades_with_words_while_its_answer_is_edited_and_comes_back(sheet):
    checked(sheet, RIGHT)
    edited = sheet.page.locator(".course-edited")
    sheet.fill("answer-even-sum", "total = n")
    expect(edited).to_have_text("Edited since this verdict: run your cell again, then the check.")
    for theme in (LIGHT, DARK):
        sheet.theme(theme)
        assert violations(sheet.page, within=".jp-OutputArea") == []
        sheet.screenshot(f"edited-{theme[-5:].strip().lower()}")
    sheet.theme(LIGHT)
    sheet.fill("answer-even-sum", f"{RIGHT}\n")
    expect(edited).to_have_count(0)


def test_a_saved_card_of_a_text_that_was_edited_is_faded_when_it_is_opened(lab, sheet):
    checked(sheet, RIGHT)
    sheet.fill("answer-even-sum", "total = n")
    sheet.page.evaluate("window.jupyterapp.commands.execute('docmanager:save')")
    sheet.change_to("notebooks/01_sums.ipynb")
    sheet.change_to(SHEET)
    expect(sheet.page.locator(".course-edited")).to_have_count(1)
    checked(sheet, "total = ____")
    expect(card(sheet)).to_contain_text("Not attempted")


def test_answers_are_tinted_and_checks_are_not(sheet):
    colors = []
    for theme in (LIGHT, DARK):
        sheet.theme(theme)
        for kind in ("answer", "check"):
            editor = sheet.page.locator(f"[data-course={kind}] .jp-InputArea-editor").first
            colors.append(editor.evaluate("e => getComputedStyle(e).backgroundColor"))
        assert violations(sheet.page, within=".jp-InputArea-editor .cm-line") == []
        sheet.screenshot(f"sheet-{theme[-5:].strip().lower()}")
    sheet.theme(LIGHT)
    assert len(set(colors)) == 3  # an answer in the light, one in the dark, and none


def test_the_scoreboard_leads_to_an_exercise_and_fits_on_a_phone(sheet):
    checked(sheet, RIGHT)
    sheet.run("scoreboard")
    points = sheet.page.locator(".course-points")
    expect(points).to_contain_text("2 of 9 points. Left: 7 points in 3 exercises.")
    for theme in (LIGHT, DARK):
        sheet.theme(theme)
        assert violations(sheet.page, within=".jp-OutputArea") == []
        sheet.screenshot(f"scoreboard-{theme[-5:].strip().lower()}")
    sheet.theme(LIGHT)
    sheet.page.set_viewport_size({"width": 390, "height": 800})
    table = points.locator("table")
    assert table.evaluate("e => e.getBoundingClientRect().right <= innerWidth")
    sheet.screenshot("scoreboard-phone")
    sheet.page.set_viewport_size({"width": 1000, "height": 500})
    points.get_by_role("link", name="1.1 Even sum").click()
    heading = sheet.page.get_by_role("heading", name="Exercise 1.1 · Even sum")
    expect(heading).to_be_in_viewport()
    sheet.page.set_viewport_size({"width": 1000, "height": 900})
