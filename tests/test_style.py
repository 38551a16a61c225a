"""What every figure of the course can rely on."""

import base64
import io

import matplotlib.image
import numpy as np
import pytest
from IPython.core.displaypub import CapturingDisplayPublisher
from IPython.core.interactiveshell import InteractiveShell
from PIL import Image

from selfcheck import style
from selfcheck.png import png_bytes, small_png

ALT = "A straight line from 0 to 1."
POINT = "What grows, wins."


@pytest.fixture
def shown(monkeypatch):
    """The outputs that a cell would have, as a list of display messages."""
    publisher = CapturingDisplayPublisher()
    monkeypatch.setattr(InteractiveShell.instance(), "display_pub", publisher)
    return publisher.outputs


def labeled_figure():
    fig, ax = style.figure()
    ax.plot([0, 1], [0, 1])
    ax.set(xlabel="step", ylabel="weight", title="It grows")
    return fig


def test_show_gives_a_picture_with_alt_text_and_a_sentence_and_returns_nothing(shown):
    assert style.show(labeled_figure(), ALT, POINT) is None
    picture, caption = shown
    assert picture["metadata"]["image/png"] == {"alt": ALT, "width": 700, "height": 320}
    assert picture["data"]["text/plain"] == f"Figure: {ALT}"
    assert base64.b64decode(picture["data"]["image/png"]).startswith(b"\x89PNG")
    assert caption["data"]["text/plain"] == POINT
    assert f">{POINT}<span" in caption["data"]["text/html"]


def test_a_table_has_words_on_the_left_and_numbers_on_the_right(shown):
    style.table(["network", "‖W‖"], [["A", "1.50"], ["B|C", "−12.00"]])
    (table,) = shown
    assert table["data"]["text/markdown"].splitlines() == [
        "| network | ‖W‖ |",
        "| :-- | --: |",
        "| A | 1.50 |",
        "| B&#124;C | −12.00 |",
    ]
    assert table["data"]["text/plain"].splitlines()[1] == "A          1.50"


@pytest.mark.parametrize("rows", [[], [["A"]], [["A", "1", "2"]]])
def test_a_table_with_rows_of_another_length_is_refused(rows):
    with pytest.raises(ValueError, match="rows of 2 cells"):
        style.table(["network", "‖W‖"], rows)


@pytest.mark.parametrize(
    ("number", "written"),
    [(6.4e8, "6·10⁸"), (-5e-11, "−5·10⁻¹¹"), (1.0, "1·10⁰"), (0.0, "0"), (float("inf"), "∞")],
)
def test_large_and_small_numbers_are_powers_of_ten(number, written):
    assert style.power(number) == written


def test_a_caption_of_its_own_leaves_the_alt_text_to_be_heard(shown):
    style.show(labeled_figure(), ALT, caption="Growth & decay.")
    html = shown[1]["data"]["text/html"]
    assert ">Growth &amp; decay.<span" in html
    assert f"Picture: {ALT}" in html


def test_the_saved_outputs_are_the_same_every_time(shown):
    style.show(labeled_figure(), ALT, POINT)
    style.show(labeled_figure(), ALT, POINT)
    assert shown[:2] == shown[2:]


@pytest.mark.parametrize("alt", ["", "  \n", None])
def test_a_figure_without_alt_text_is_refused(alt):
    with pytest.raises(ValueError, match=r"alt text is empty.*who cannot see it"):
        style.show(labeled_figure(), alt, POINT)


def test_a_figure_without_a_caption_is_refused():
    with pytest.raises(ValueError, match=r"caption is empty.*point of the picture"):
        style.show(labeled_figure(), ALT)


@pytest.mark.parametrize("caption", [ALT, f"  {ALT.upper()} ", ALT.rstrip(".") + "!"])
def test_a_caption_that_only_says_what_is_there_is_refused(caption):
    with pytest.raises(ValueError, match=r"say the same.*what it means"):
        style.show(labeled_figure(), ALT, caption)


@pytest.mark.parametrize(
    ("missing", "sentence"),
    [
        ("xlabel", "Panel 1 of the figure has no x label"),
        ("ylabel", "Panel 1 of the figure has no y label"),
        ("title", "no title.*the finding"),
    ],
)
def test_a_figure_that_does_not_say_what_it_shows_is_refused(missing, sentence):
    fig = labeled_figure()
    fig.axes[0].set(**{missing: ""})
    with pytest.raises(ValueError, match=sentence):
        style.show(fig, ALT, POINT)


def test_a_drawing_without_axes_needs_no_labels(shown):
    fig, ax = style.figure()
    ax.axis("off")
    style.show(fig, ALT, POINT)
    assert len(shown) == 2


def test_panels_may_share_labels_and_one_title(shown):
    fig, axes = style.figure(1, 2, sharex=True, sharey=True)
    axes[0].set(xlabel="step", ylabel="weight")
    fig.suptitle("Both grow")
    style.show(fig, ALT, POINT)
    assert len(shown) == 2


def test_an_axis_without_ticks_needs_no_label_but_a_color_bar_does(shown):
    fig, ax = style.figure()
    image = ax.imshow(np.eye(3))
    ax.set(xticks=[], yticks=[], title="The identity")
    bar = fig.colorbar(image)
    with pytest.raises(ValueError, match="color bar has no label"):
        style.show(fig, ALT, POINT)
    bar.set_label("weight")
    style.show(fig, ALT, POINT)
    assert len(shown) == 2


def test_words_that_do_not_fit_are_refused():
    fig, axes = style.figure(1, 2)
    for ax in axes:
        ax.set(xlabel="step", ylabel="weight", title="A finding that is far too long for its panel")
    with pytest.raises(ValueError, match=r"no room for 'A finding.*two lines"):
        style.show(fig, ALT, POINT)


@pytest.mark.parametrize(
    ("points", "height"), [(2, 640), (60, 640), (300, 320)], ids=["light", "heavy", "very heavy"]
)
def test_a_heavy_picture_is_made_lighter_until_it_fits(points, height):
    fig = labeled_figure()
    fig.axes[0].plot(np.linspace(0, 1, points), noise(points, 2))
    png = style.png_of(fig)
    assert len(png) <= 100_000
    assert matplotlib.image.imread(io.BytesIO(png)).shape[0] == height


def test_a_picture_above_the_limit_is_refused():
    fig = labeled_figure()
    fig.axes[0].imshow(noise(300, 700), extent=(0, 1, 0, 1), aspect="auto")
    with pytest.raises(ValueError, match=r"takes \d+ kB; the limit is 100 kB"):
        style.png_of(fig)


def test_the_png_is_small_and_holds_exactly_the_pixels():
    pixels = np.random.default_rng(0).integers(0, 256, (5, 7, 3), dtype=np.uint8)
    for level in (1, 9):
        png = png_bytes(pixels, level)
        assert np.array_equal(read(png), pixels)
        assert b"Software" not in png
        assert b"tIME" not in png


def test_a_saved_picture_has_few_shades_and_none_is_clearly_off():
    pixels = style.pixels(labeled_figure(), 200)
    png = small_png(pixels)
    assert len(png) < len(png_bytes(pixels, 9)) / 2
    kept = np.array(Image.open(io.BytesIO(png)).convert("RGB"))
    assert np.abs(kept.astype(int) - pixels).max() <= 8
    assert (kept[0, 0] == 255).all(), "white stays white"


def test_colors_have_dashes_and_markers_of_their_own():
    assert len(set(map(str, style.DASHES.values()))) == len(style.COLORS)
    assert len(set(style.MARKERS.values())) == len(style.COLORS)


def test_lines_without_a_name_differ_in_more_than_color():
    _, ax = style.figure()
    lines = [ax.plot([0, 1], [i, i])[0] for i in range(len(style.COLORS))]
    assert len({line.get_color() for line in lines}) == len(style.COLORS)
    assert len({str(line._unscaled_dash_pattern) for line in lines}) == len(style.COLORS)


def test_a_named_line_has_its_color_and_markers_on_demand():
    assert style.line("blue")["color"] == style.COLORS["blue"]
    assert "marker" not in style.line("blue")
    assert style.line("orange", markers=5)["marker"] == "s"
    with pytest.raises(ValueError, match="no color 'red' in the palette; choose one of blue"):
        style.line("red")


def noise(rows: int, cols: int) -> np.ndarray:
    return np.random.default_rng(0).random((rows, cols))


def read(png: bytes) -> np.ndarray:
    return np.round(matplotlib.image.imread(io.BytesIO(png)) * 255).astype(np.uint8)


def test_shapes_are_drawn_to_one_scale_with_their_sizes():
    _, ax = style.figure()
    few = [("Q", (8, 2)), "·", ("Kᵀ", (2, 8)), "=", ("A", (8, 8))]
    style.draw_shapes(ax, few, [("Q", (16, 2))])
    q, k, a, longer = ax.patches
    assert (q.get_width(), q.get_height()) == pytest.approx((k.get_height(), k.get_width()))
    assert a.get_width() == a.get_height() == q.get_height() == longer.get_height() / 2
    assert [text.get_text() for text in ax.texts[:3]] == ["Q", "8×2", "·"]
    assert k.get_x() + k.get_width() < a.get_x()
    assert longer.get_y() + longer.get_height() < q.get_y()


@pytest.mark.parametrize("rows", [(), (["="],), ([("Q", (0, 3))],)])
def test_shapes_need_sizes(rows):
    _, ax = style.figure()
    with pytest.raises(ValueError, match="sizes of at least 1"):
        style.draw_shapes(ax, *rows)
