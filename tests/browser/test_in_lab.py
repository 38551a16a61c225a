"""JupyterLab as a student meets exercises, explorers and figures, and a lecturer slide marks.

One server serves them all: to start it, and to load JupyterLab's scripts, takes longer than a test.
"""

import re
import shutil

import nbformat
import pytest
from playwright.sync_api import expect

from tests.browser.lab import DARK, LIGHT
from tests.browser.test_pages_accessible import violations
from tests.places import SMALL

COURSE = SMALL
NOTEBOOKS = ["exercises/01_sums.ipynb", "notebooks/01_sums.ipynb"]
INK_ON_DARK = "invert(0.93) hue-rotate(180deg)"  # in the dark a figure turns its shades around

EXPLORER = """
import numpy as np
from selfcheck.explore import Explorer, checkbox, choice, int_slider, slider
from selfcheck.style import line

t = np.arange(61)

def setup(fig):
    ax = fig.subplots()
    ax.set(xlim=(0, 60), ylim=(0, 1.1), xlabel="step $t$", ylabel="average $v_t$",
           title="The raw average starts too low")
    artists = {
        "raw": ax.plot(t, t, label="raw", **line("blue"))[0],
        "corrected": ax.plot(t, t, label="corrected", **line("orange"))[0],
    }
    ax.legend(loc="lower right")
    return artists

def update(artists, beta, start, corrected, kind):
    raw = (1 - (1 - start / 10) * beta**t) * (1 - kind * t / 100)
    artists["raw"].set_data(t, raw)
    artists["corrected"].set_data(t, raw / raw.max())
    artists["corrected"].set_visible(corrected)
    return f"With β = {beta:.2f} the raw average is {raw[10]:.2f} after 10 steps."

Explorer(
    setup, update,
    controls={
        "beta": slider(0.5, 0.99, value=0.9, label="β"),
        "start": int_slider(0, 5, value=0, label="start of the average, in tenths"),
        "corrected": checkbox(value=True, label="show the corrected average"),
        "kind": choice({"constant": 0, "falling": 1}, label="gradient"),
    },
    alt="Two curves over 60 steps: the raw and the corrected average of a constant gradient.",
    goal="keep the raw average below one half for 10 steps",
    reached=lambda beta, start, **others: (1 - start / 10) * beta**10 > 0.5,
)
"""

FIGURE = """
import numpy as np
from selfcheck import style

t = np.arange(61)
fig, axes = style.figure(1, 2, sharey=True)
for ax, beta in zip(axes, (0.9, 0.97)):
    ax.plot(t, 1 - beta**t, label="raw", **style.line("blue", markers=6))
    ax.plot(t, np.ones(61), label="corrected", **style.line("orange", markers=6))
    ax.set(xlabel="step $t$", title=f"β = {beta}: {beta**10:.0%} are missing\\nafter 10 steps")
axes[0].set_ylabel("average $v_t$")
axes[1].legend(loc="lower right")
style.show(fig, alt="Two panels: the raw average climbs to 1, slower for the larger β; "
                    "the corrected one stays at 1.", caption="Ten steps are lost.")
"""


# -- exercises -------------------------------------------------------------------------------------


def test_an_exercise_answers_a_right_a_wrong_a_misconceived_and_a_blank_answer(page):
    page.change_to("exercises/01_sums.ipynb")
    page.fill("answer-even-sum", "total = n**2 + n")
    page.fill("answer-running-sums", "def running(x):\n    return undefined_name")
    page.fill("answer-own-sums", "own_total, own_mean = 6, 7")
    said = {cell.source.split("(")[0]: cell.text for cell in page.run_all()}
    assert "right, 2 of 2 points" in said["check.even_sum"]
    assert "raised NameError" in said["check.running_sums"]
    assert "wrong, 0 of 2 points" in said["check.own_sums"]
    assert "Known mistake: the last number left out." in said["check.own_sums"]
    assert "not attempted" in said["check.square_sum"]
    assert "Total: 2 of 9 points" in said["scoreboard"]
    cards = page.page.locator(".jp-RenderedHTMLCommon").filter(has_text="points")
    expect(cards.filter(has_text="✗ Wrong").first).to_be_visible()
    assert page.unheard() == []
    assert violations(page.page, within=".jp-OutputArea") == []
    page.theme(LIGHT)
    page.screenshot("exercise-light")
    page.theme(DARK)
    page.screenshot("exercise-dark")


def test_an_untouched_exercise_runs_without_an_error(page):
    page.change_to("exercises/01_sums.ipynb")
    checks = [cell for cell in page.run_all() if cell.source.startswith("check.")]
    assert len(checks) == 4
    assert all("not attempted, 0 of" in cell.text for cell in checks)
    page.assert_maths_is_set()


def test_a_card_is_read_out_when_its_cell_was_run(page):
    page.change_to("exercises/01_sums.ipynb")
    page.fill("answer-even-sum", "from small_course.checks import sums as check; total = 1")
    page.run("answer-even-sum")
    page.run("check-even-sum")
    voice = page.page.locator("#course-voice")
    expect(voice).to_contain_text("✗ Wrong 1.1 Even sum")


def test_tabs_tell_a_lecture_from_its_exercises(page):
    page.change_to("exercises/01_sums.ipynb")
    tab = page.page.locator(".lm-TabBar-tab.lm-mod-current[data-course] .lm-TabBar-tabLabel")
    words = "e => getComputedStyle(e, '::before').content + e.textContent"
    assert tab.evaluate(words) == '"Exercises · "01_sums.ipynb'


def test_an_endless_loop_is_stopped_by_the_stop_button(page):
    page.change_to("exercises/01_sums.ipynb")
    endless = "def running(x):\n    print('begun', flush=True)\n    while True:\n        pass"
    page.fill("answer-running-sums", endless)
    page.start_all()
    expect(page.page.locator(".jp-OutputArea-output", has_text="begun")).to_be_visible()
    page.interrupt()
    (stopped,) = [cell for cell in page.cells() if cell.source == "check.running_sums(running)"]
    assert "You stopped this check before it had a verdict." in stopped.text
    assert stopped.errors == []
    page.fill("answer-running-sums", "running = ____")
    assert "not attempted" in next(c.text for c in page.run_all() if c.source == stopped.source)


def test_slide_marks_are_seen_and_edited_in_the_property_inspector(page):
    page.change_to("notebooks/01_sums.ipynb")
    mark = page.slide_type("Explore: how fast the sum grows")
    assert mark.locator("option:checked").inner_text() == "Slide"
    mark.select_option(label="Skip")
    page.page.evaluate("window.jupyterapp.commands.execute('docmanager:save')")
    expect(page.page.locator(".jp-Notebook")).to_be_visible()
    path = page.lab.root / "notebooks/01_sums.ipynb"
    (cell,) = [c for c in nbformat.read(path, 4).cells if c.source.startswith("### Explore: how")]
    assert cell.metadata.slideshow.slide_type == "skip"
    page.page.evaluate("window.jupyterapp.shell.collapseRight()")


# -- explorers and figures -------------------------------------------------------------------------


def test_an_explorer_follows_the_keyboard_until_its_goal_is_reached(lab, page):
    page.change_to(lab.write("explorer.ipynb", [EXPLORER]))
    (cell,) = page.run_all()
    assert cell.text == "Explorer(beta=0.9, start=0, corrected=True, kind=0)"

    box = page.cell(0).locator(".course-box")
    picture, beta = box.get_by_role("img"), box.get_by_role("slider", name="β")
    goal, caption = box.locator(".course-goal"), box.locator(".course-says")
    expect(goal).to_have_text(re.compile("^Goal: keep the raw average"))
    expect(caption).to_contain_text("β = 0.90")
    page.screenshot("explorer-light")

    beta.focus()
    page.page.keyboard.press("ArrowRight")
    expect(caption).to_contain_text("β = 0.91")
    expect(picture).to_have_attribute("aria-label", re.compile("^Two curves .* β = 0.91 "))
    expect(beta).to_have_attribute("aria-valuetext", "0.91")
    expect(goal).to_have_text(re.compile("^Goal: "))

    page.page.keyboard.press("End")
    expect(goal).to_have_text(re.compile("^✓ Goal reached: "))
    page.theme(DARK)
    expect(picture).to_have_css("filter", INK_ON_DARK)
    page.screenshot("explorer-dark-reached")
    page.theme(LIGHT)
    assert violations(page.page, within=".course-box") == []

    beta.focus()
    page.page.keyboard.press("Home")
    expect(goal).to_have_text(re.compile("^Goal: .*Reached before"))
    page.screenshot("explorer-light-was-reached")
    python = "e = Out[1]; print(e.params['beta'], e.was_reached); e.set(beta=0.7)"
    assert page.printed_by(python) == "0.5 True\n"
    expect(caption).to_contain_text("β = 0.70")
    expect(beta).to_have_attribute("aria-valuetext", "0.70")


def test_every_kind_of_control_works_by_keyboard_and_has_its_whole_label_in_sight(lab, page):
    page.change_to(lab.write("controls.ipynb", [EXPLORER]))
    page.run_all()
    box = page.cell(0).locator(".course-box")
    drawn = "box => box.querySelector('svg').innerHTML"
    for control, key in [
        (box.get_by_role("slider").nth(1), "ArrowRight"),
        (box.get_by_role("checkbox"), "Space"),
        (box.get_by_role("radio").nth(0), "ArrowDown"),
    ]:
        before = box.evaluate(drawn)
        control.focus()
        page.page.keyboard.press(key)
        page.page.wait_for_function(
            "([box, before]) => box.querySelector('svg').innerHTML !== before",
            arg=[box.element_handle(), before],
        )
    for label in box.locator("label, span").all():
        cut = label.evaluate("label => label.scrollWidth > label.clientWidth + 1")
        assert not cut or not label.is_visible(), f"The label is cut: {label.inner_text()}"


def test_answers_that_come_late_are_never_drawn(lab, page):
    page.change_to(lab.write("fast.ipynb", [EXPLORER]))
    page.run_all()
    box = page.cell(0).locator(".course-box")
    told = """says => { window.told = []; new MutationObserver(() => {
      window.told.push(Number(says.textContent.match(/β = ([\\d.]+)/)[1]));
    }).observe(says, {childList: true}); }"""
    box.locator(".course-says").evaluate(told)
    box.get_by_role("slider", name="β").focus()
    for _ in range(40):
        page.page.keyboard.press("ArrowLeft")
    expect(box.locator(".course-says")).to_contain_text("β = 0.50")
    seen = page.page.evaluate("window.told")
    assert seen == sorted(seen, reverse=True)
    assert seen[-1] == 0.5


def test_what_plays_follows_the_kernel_to_its_end(lab, page):
    plays = EXPLORER.replace("int_slider(0, 5, value=0,", "player(0, 5, value=3, per_second=20,")
    page.change_to(lab.write("plays.ipynb", [plays.replace("int_slider", "player")]))
    page.run_all()
    box = page.cell(0).locator(".course-box")
    slider = box.get_by_role("slider", name="start of the average")
    box.get_by_role("button", name="Play: start of the average").click()
    expect(slider).to_have_attribute("aria-valuetext", "5")
    expect(box.get_by_role("button", name="Play: start of the average")).to_be_visible()
    # The page sends a move when the one before is answered, so it is asked until that is there.
    assert "5\n" in (page.printed_by("print(Out[1].params['start'])") for _ in range(200))
    assert violations(page.page, within=".course-box") == []


def test_where_python_does_not_run_yet_a_saved_explorer_moves(lab, page):
    shutil.copy(SMALL / "notebooks/01_sums.ipynb", lab.root / "saved.ipynb")
    page.change_to("saved.ipynb")
    box = page.page.locator(".course-box")
    before = box.locator(".course-says").inner_text()
    box.get_by_role("slider").focus()
    page.page.keyboard.press("ArrowRight")
    expect(box.locator(".course-says")).not_to_have_text(before)
    expect(box.get_by_text("▶ Run this cell to move it")).to_be_visible()


def test_a_figure_is_shown_at_its_size_with_its_sentence_below(lab, page):
    page.change_to(lab.write("figure.ipynb", [FIGURE]))
    (cell,) = page.run_all()
    assert cell.text.startswith("Figure: Two panels")
    picture = page.cell(0).locator(".jp-OutputArea img")
    assert picture.bounding_box()["width"] == pytest.approx(700, abs=1)
    expect(page.cell(0).locator(".course-caption")).to_be_visible()
    page.screenshot("figure-light")
    expect(picture).to_have_css("filter", "none")
    page.theme(DARK)
    expect(picture).to_have_css("filter", INK_ON_DARK)
    page.screenshot("figure-dark")
    page.theme(LIGHT)


def test_errors_and_outside_requests_do_not_pass_unseen(lab, page):
    outside = "from IPython.display import HTML; HTML('<img src=http://outside.invalid/a.png>')"
    page.change_to(lab.write("wrong.ipynb", [outside, "1 / 0"]))
    with pytest.raises(AssertionError, match="ZeroDivisionError"):
        page.run_all()
    found, page.problems = page.problems, []
    assert "outside request: http://outside.invalid/a.png" in found
