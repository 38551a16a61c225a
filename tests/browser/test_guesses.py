"""A prediction asks before it shows: in JupyterLab and on a page, by hand and by keyboard."""

import nbformat.v4 as v4
import pytest
from playwright.sync_api import expect

from classroom.notebooks import as_text
from classroom.pages import write_page

NAME = "guesses.ipynb"
PRINTED = [v4.new_output("stream", text="it is 1.97")]


def lecture():
    """Two predictions, a number and a choice; of the second only the output waits."""
    revealed, output = {"tags": ["revealed"]}, {"tags": ["revealed-output"]}
    number = {"guess": {"is": "1.97", "unit": "times"}}
    choice = {"guess": {"choices": ["up", "down"], "is": 1}}
    cells = [
        v4.new_markdown_cell("# Guesses", id="title"),
        v4.new_markdown_cell("*Predict, then run:* how much?", id="much", metadata=number),
        v4.new_code_cell("1.97", id="code", metadata=revealed, outputs=PRINTED, execution_count=1),
        v4.new_markdown_cell("Nearly two.", id="comment", metadata=revealed),
        v4.new_markdown_cell("*Predict, then run:* which way?", id="way", metadata=choice),
        v4.new_code_cell("'down'", id="shown", metadata=output, outputs=PRINTED, execution_count=2),
        v4.new_markdown_cell("The end.", id="end"),
    ]
    notebook = v4.new_notebook(cells=cells)
    notebook.metadata.kernelspec = {"name": "python3", "display_name": "Python 3"}
    return as_text(notebook)


@pytest.fixture
def in_lab(page, lab):
    (lab.root / NAME).write_text(lecture(), encoding="utf-8")
    page.change_to(NAME)
    expect(page.page.locator("form.course-guess")).to_have_count(2)
    return page.page


@pytest.fixture
def in_page(window, tmp_path):
    (tmp_path / NAME).write_text(lecture(), encoding="utf-8")
    write_page(tmp_path / NAME, tmp_path / "guesses.html")
    view = window.new_page()
    view.goto((tmp_path / "guesses.html").as_uri())
    yield view
    view.close()


def seen(view, words):
    """What a reader sees of these words; JupyterLab also has texts as they were typed, hidden."""
    return view.locator(".jp-RenderedMarkdown p, pre").filter(has_text=words)


@pytest.fixture(params=["in_lab", "in_page"])
def view(request):
    """The lecture in JupyterLab, and as a page."""
    return request.getfixturevalue(request.param)


def test_the_guess_is_answered_and_code_output_and_comment_open_together(view):
    number = view.locator("form.course-guess").first
    for words in ("Nearly two.", "it is 1.97"):
        expect(seen(view, words).first).to_be_hidden()
    number.get_by_role("textbox").fill("0.2")
    number.get_by_role("button").click()
    expect(number.get_by_role("status")).to_have_text("You said 0.2; it is 1.97 times.")
    for words in ("Nearly two.", "it is 1.97"):
        expect(seen(view, words).first).to_be_visible()


def test_one_may_look_without_a_guess_and_code_of_the_question_is_in_sight(view):
    choice = view.locator("form.course-guess").last
    expect(view.get_by_text("'down'")).to_be_visible()
    expect(seen(view, "it is 1.97").last).to_be_hidden()
    choice.get_by_role("button").click()
    expect(seen(view, "it is 1.97").last).to_be_visible()
    expect(choice.get_by_role("status")).to_have_text("")


def test_who_walks_on_by_keyboard_comes_to_the_guess_first(in_lab):
    seen(in_lab, "how much?").click()
    in_lab.keyboard.press("Shift+Enter")
    field = in_lab.get_by_role("textbox", name="Your guess times")
    expect(field).to_be_focused()
    in_lab.keyboard.type("1,97")
    in_lab.keyboard.press("Enter")
    expect(in_lab.get_by_text("You said 1,97, and so it is.")).to_be_visible()
    expect(seen(in_lab, "Nearly two.")).to_be_visible()
    assert not in_lab.evaluate("window.jupyterapp.shell.currentWidget.context.model.dirty")


def test_running_code_that_is_in_sight_shows_its_output(page, in_lab):
    page.run("shown")
    expect(seen(in_lab, "'down'").last).to_be_visible()
    choice = in_lab.locator("form.course-guess").last
    expect(choice.get_by_role("button")).to_be_visible()
