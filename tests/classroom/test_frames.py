"""Frames of explorers, as slides and pages show them: one picture for each value of a control."""

import base64
import io
import re

import pytest
from PIL import Image

from classroom.frames import frames_html
from selfcheck.explore import choice, slider
from tests.test_explore import ALT, make


def test_frames_are_one_labeled_range_over_pictures_without_any_outside_request():
    page = frames_html(make(), slope=[1, 3, 9])
    assert page.count("<figure") == 3
    assert page.count("<figure hidden") == 2
    assert "<figure><img" in page.split("The slope at 0 is 1.")[1], "The present value is open."
    assert 'value="1" aria-valuetext="3" data-shown="1|3|9"' in page
    assert "<label>s\n<input" in page
    assert f'alt="{ALT}"' in page
    assert "The slope at 0 is 9." in page
    assert "http" not in page


def test_a_heavy_frame_keeps_256_colors_at_most(monkeypatch):
    monkeypatch.setattr("classroom.frames.FRAME_BYTES", 0)
    png = re.search(r"base64,([^\"]+)", frames_html(make(), slope=[3])).group(1)
    with Image.open(io.BytesIO(base64.b64decode(png))) as picture:
        assert picture.mode == "P"


def test_frames_may_be_named_when_the_explorer_is_made():
    explorer = make(frames={"slope": [1, 3]})
    assert frames_html(explorer) == frames_html(explorer, slope=[1, 3])


def test_frames_may_hold_other_controls_at_values_that_are_told():
    explorer = make(frames={"slope": [1, 3], "flip": True})
    page = frames_html(explorer)
    assert "<label>s (with flip)\n<input" in page
    assert page.count(f'alt="{ALT} With flip."') == 2
    assert explorer.params == {"slope": 3, "flip": False}, "The controls stay as they are."
    assert page != frames_html(explorer, slope=[1, 3])


def test_frames_tell_values_as_the_controls_do():
    controls = {"slope": slider(-9, 9, value=1), "flip": choice({"yes": True, "no": False})}
    page = frames_html(make(controls=controls), flip=[True, False], slope=-2)
    assert "<label>flip (with slope = −2)" in page
    assert 'data-shown="yes|no"' in page


def test_a_value_that_is_held_where_it_stands_needs_no_word():
    assert frames_html(make(), slope=[1, 3], flip=False) == frames_html(make(), slope=[1, 3])


def test_frames_that_reach_the_goal_say_so():
    explorer = make(goal="be steep", reached=lambda slope, flip: flip and slope > 5)
    page = frames_html(explorer, slope=[1, 9], flip=True)
    assert '<p class="course-goal"><b>Goal:</b> be steep.</p>' in page
    assert '<figure data-goal="Goal:">' in page
    assert '<figure hidden data-goal="✓ Goal reached:">' in page
    assert "Goal reached" not in frames_html(explorer, slope=[1, 9])


def test_frames_over_two_controls_are_all_their_pairs():
    page = frames_html(make(), slope=[1, 3, 9], flip=[False, True])
    assert (page.count("<input"), page.count("<figure"), page.count("<figure hidden")) == (2, 6, 5)
    assert "<figure><img" in page.split("</figure>")[2], "The third pair is the present one."
    with pytest.raises(ValueError, match="one control or two"):
        frames_html(make(), slope=3)
