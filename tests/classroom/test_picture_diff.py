"""picture_diff.py: what a reader would see is found; what only another machine makes is not."""

import base64
import io

import nbformat.v4 as v4
import numpy as np
import pytest
from PIL import Image

from classroom.picture_diff import FEW, difference, old_pictures
from course_utils import style
from selfcheck.png import png_bytes

AGES = np.arange(0, 50, 0.5)
BLUE, SKY = style.COLORS["blue"], style.COLORS["sky"]


def picture(
    shift=0.0,
    color=BLUE,
    title="The old fade",
    ticks=("0", "0.5", "1"),
    band=0.3,
    line="-",
    legend=True,
    height=style.HEIGHT,
):
    """A figure as lectures have them: a curve, a band around it, words at all sides."""
    fig, ax = style.figure(height=height)
    weight = 0.9**AGES + shift
    ax.fill_between(AGES, weight - 0.1, weight + 0.1, color=color, alpha=band, linewidth=0)
    ax.plot(AGES, weight, line, color=color, linewidth=1.8, label="weight")
    ax.set(xlabel="age", ylabel="weight", title=title, ylim=(-0.2, 1.3))
    ax.set_yticks([0, 0.5, 1], labels=ticks, fontsize=8)
    if legend:
        ax.legend()
    return style.png_of(fig)


@pytest.fixture(scope="module")
def saved():
    return picture()


def pixels(png):
    """A picture as an array that can be changed."""
    return np.array(Image.open(io.BytesIO(png)).convert("RGB"))


def higher(by):
    """By how much the curve has to be shifted to lie so many pixels higher, more or less."""
    return by * 1.5 / 450


# -- what a reader would see ----------------------------------------------------------------------


@pytest.mark.parametrize(
    "changed",
    [
        {"shift": higher(4)},
        {"shift": -0.2},
        {"color": style.COLORS["orange"]},
        {"color": SKY},
        {"band": 0.4},
        {"line": "--"},
        {"legend": False},
        {"title": "The old fades"},
        {"title": "The old lade"},
        {"ticks": ("0", "0.5", "2")},
        {"ticks": ("0", "0,5", "1")},
        {"ticks": ("0", "05", "1")},
        {"ticks": ("−0", "0.5", "1")},
        {"ticks": ("o", "0.5", "1")},
    ],
    ids=lambda changed: " ".join(f"{name}={value}" for name, value in changed.items()),
)
def test_another_curve_color_or_label_is_another_picture(saved, changed):
    now = picture(**changed)
    found = difference(saved, now)
    assert "of 896,000 pixels have a different color, x from" in found
    assert difference(now, saved) == found  # either way round


def test_another_size_is_another_picture(saved):
    taller = picture(height=style.HEIGHT + 0.1)
    assert difference(saved, taller) == "it was 1400 × 640 pixels large and is 1400 × 660 now"


def test_where_it_differs_is_said(saved):
    now = pixels(saved)
    now[100:110, 700:720] = (213, 94, 0)
    found = difference(saved, png_bytes(now))
    assert found.endswith("pixels have a different color, x from 700 to 719 and y from 100 to 109")


def test_a_file_that_is_no_picture_is_old(saved):
    assert difference(b"nothing", saved) == "the saved one cannot be read"


# -- what only another machine makes --------------------------------------------------------------


def test_the_same_code_draws_the_same_bytes(saved):
    assert picture() == saved
    assert difference(saved, picture()) == ""


def test_other_bytes_of_the_same_pixels_are_the_same_picture(saved):
    packed_otherwise = png_bytes(pixels(saved), level=1)
    assert packed_otherwise != saved
    assert difference(saved, packed_otherwise) == ""


def test_a_curve_that_is_a_part_of_a_pixel_higher_is_the_same_picture(saved):
    now = picture(shift=higher(0.5))
    assert now != saved
    assert difference(saved, now) == ""


def test_what_is_put_on_the_next_pixel_is_the_same_picture(saved):
    for axis in (0, 1):
        assert difference(saved, png_bytes(np.roll(pixels(saved), 1, axis))) == ""


def test_what_is_put_two_pixels_away_is_another_picture(saved):
    assert difference(saved, png_bytes(np.roll(pixels(saved), 2, axis=1)))


def test_noise_in_the_last_digits_of_every_shade_is_the_same_picture(saved):
    noise = np.random.default_rng(0).integers(-3, 4, pixels(saved).shape)
    now = np.clip(pixels(saved) + noise, 0, 255).astype(np.uint8)
    assert difference(saved, png_bytes(now)) == ""


@pytest.mark.parametrize(("count", "same"), [(1, True), (FEW, True), (FEW + 1, False)])
def test_a_few_single_pixels_are_the_same_picture(saved, count, same):
    now = pixels(saved)
    now[5, 5 : 5 + 10 * count : 10] = 0
    assert (difference(saved, png_bytes(now)) == "") == same


# -- in a cell ------------------------------------------------------------------------------------


def shown(png, alt="A curve."):
    data = {"image/png": base64.b64encode(png).decode(), "text/plain": "Figure"}
    return v4.new_output("display_data", data, metadata={"image/png": {"alt": alt}})


def test_each_old_picture_of_a_cell_is_named(saved):
    words, other = v4.new_output("stream", text="2\n"), picture(color=SKY)
    assert old_pictures([words, shown(saved)], [shown(saved), words]) == []
    (only,) = old_pictures([words, shown(saved)], [shown(other)])
    assert only.startswith("its picture is old: ")
    (second,) = old_pictures([shown(saved), shown(saved)], [shown(saved), shown(other)])
    assert second.startswith("its picture 2 of 2 is old: ")


def test_a_picture_more_or_less_is_told(saved):
    assert old_pictures([], [shown(saved)]) == ["saved with 0 pictures, and draws 1 picture now"]


def test_another_alt_text_is_told_because_nbval_compares_none(saved):
    found = old_pictures([shown(saved)], [shown(saved, "With β = 0.9 it fades.")])
    assert found == ["its picture is now described as: With β = 0.9 it fades."]
