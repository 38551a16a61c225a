"""Explorers and figures as a student meets them: in JupyterLab, by keyboard, in both themes."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.lab import DARK, LIGHT, LabPage

INK_ON_DARK = "invert(0.93) hue-rotate(180deg)"  # in the dark a figure turns its shades around

EXPLORER = """
import numpy as np
from course_utils.explore import Explorer, checkbox, choice, int_slider, slider
from course_utils.style import line

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
from course_utils import style

t = np.arange(61)
fig, axes = style.figure(1, 2, sharey=True)
for ax, beta in zip(axes, (0.9, 0.97)):
    ax.plot(t, 1 - beta**t, label="raw", **style.line("blue", markers=6))
    ax.plot(t, np.ones(61), label="corrected", **style.line("orange", markers=6))
    ax.set(xlabel="step $t$", title=f"β = {beta}: {beta**10:.0%} are missing\\nafter 10 steps")
axes[0].set_ylabel("average $v_t$")
axes[1].legend(loc="lower right")
style.show(fig, alt="Two panels: the raw average climbs to 1, slower for the larger β; "
                    "the corrected one stays at 1.")
"""


def test_an_explorer_follows_the_keyboard_until_its_goal_is_reached(lab, page):
    page.change_to(lab.write("explorer.ipynb", [EXPLORER]))
    (cell,) = page.run_all()
    assert cell.text == "Explorer(beta=0.9, start=0, corrected=True, kind=0)"

    output = page.cell(0).locator(".jp-OutputArea")
    picture = output.locator("img.widget-image")
    beta = output.get_by_role("slider").first
    goal, caption = output.get_by_role("status").all()
    expect(goal).to_have_text(re.compile("^Goal: keep the raw average"))
    expect(caption).to_contain_text("β = 0.90")
    page.screenshot("explorer-light")

    expect(picture).to_have_attribute("data-course-screen", "1")  # told to the kernel
    page.press("ArrowRight", on=beta, changes=picture)
    expect(caption).to_contain_text("β = 0.91")
    expect(picture).to_have_attribute("title", re.compile("^Two curves .* β = 0.91 "))
    expect(beta).to_have_attribute("aria-label", "β")
    expect(beta).to_have_attribute("aria-valuetext", "0.91")
    expect(goal).to_have_text(re.compile("^Goal: "))

    page.press("End", on=beta, changes=picture)
    expect(goal).to_have_text(re.compile("^✓ Goal reached: "))
    assert picture.evaluate("image => image.naturalWidth") == 700  # no finer than the screen
    page.theme(DARK)
    expect(picture).to_have_css("filter", INK_ON_DARK)
    page.screenshot("explorer-dark-reached")
    page.theme(LIGHT)

    page.press("Home", on=beta, changes=picture)
    expect(goal).to_have_text(re.compile("^Goal: .*Reached before"))
    page.screenshot("explorer-light-was-reached")


def test_every_kind_of_control_works_by_keyboard_and_has_its_whole_label_in_sight(lab, page):
    page.change_to(lab.write("controls.ipynb", [EXPLORER]))
    page.run_all()
    output = page.cell(0).locator(".jp-OutputArea")
    picture = output.locator("img.widget-image")
    page.press("ArrowRight", on=output.get_by_role("slider").nth(1), changes=picture)
    page.press("Space", on=output.get_by_role("checkbox"), changes=picture)
    page.press("Space", on=output.get_by_role("radio").nth(1), changes=picture)
    for label in output.locator(".widget-label").all():
        cut = label.evaluate("label => label.scrollWidth > label.clientWidth")
        assert not cut, f"The label is cut: {label.inner_text()}"


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


def test_errors_and_outside_requests_do_not_pass_unseen(lab, window):
    page = LabPage(window.new_page(), lab)
    outside = "from IPython.display import HTML; HTML('<img src=http://outside.invalid/a.png>')"
    page.open(lab.write("wrong.ipynb", [outside, "1 / 0"]))
    with pytest.raises(AssertionError, match="ZeroDivisionError"):
        page.run_all()
    assert "outside request: http://outside.invalid/a.png" in page.problems
