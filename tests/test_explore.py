"""What an explorer promises to those who write one and to those who use it."""

import base64
import io
import subprocess
import sys
import threading

import comm
import matplotlib.image
import numpy as np
import pytest

from selfcheck import explore, style
from selfcheck.explore import Explorer, checkbox, choice, int_slider, slider

X = np.linspace(-3, 3, 200)
ALT = "The curve tanh(s x)."


def setup(fig):
    ax = fig.subplots()
    ax.set(xlim=(-3, 3), ylim=(-1.2, 1.2), xlabel="x", ylabel="y", title="Steep means saturated")
    curve = ax.plot(X, X, label="tanh")[0]
    ax.axhline(0.5, label="half")
    ax.legend(loc="upper left")
    return {"curve": curve}


def update(artists, slope, flip=False):
    artists["curve"].set_data(X, np.tanh(slope * X) * (-1 if flip else 1))
    return f"The slope at 0 is {slope}."


def make(update=update, setup=setup, **options) -> Explorer:
    controls = {"slope": int_slider(1, 20, value=3, label="s"), "flip": checkbox()}
    return Explorer(setup, update, **({"controls": controls, "alt": ALT} | options))


def make_with_goal() -> Explorer:
    return make(goal="make it steep", reached=lambda slope, flip: slope > 10)


def difference(a: np.ndarray, b: np.ndarray) -> float:
    """The share of pixels that differ."""
    return np.mean((a != b).any(axis=-1))


# Picture and words follow the controls


def test_moving_a_control_changes_picture_caption_and_alt_text():
    explorer = make()
    before = explorer.picture.value
    explorer.set(slope=9)
    assert explorer.picture.value != before
    assert explorer.picture.tooltip == f"{ALT} The slope at 0 is 9."
    assert 'role="status"' in explorer.caption.value
    assert "The slope at 0 is 9." in explorer.caption.value
    assert explorer.params == {"slope": 9, "flip": False}


def test_the_picture_sent_to_the_browser_holds_exactly_the_drawn_pixels():
    explorer = make()
    sent = matplotlib.image.imread(io.BytesIO(explorer.picture.value))
    assert np.array_equal(np.round(sent * 255).astype(np.uint8), explorer.rgb())


@pytest.mark.parametrize(("pixels", "scale"), [(1, 1), (0.8, 1), (1.25, 2), (2, 2), (3, 2)])
def test_what_moves_is_drawn_as_finely_as_the_screen_shows_it(monkeypatch, pixels, scale):
    monkeypatch.setattr(Explorer, "scale", style.SCALE)
    explorer = make()
    saved = explorer.rgb().shape
    tells_page = comm.get_comm_manager().targets[explore.SCREEN]
    tells_page(None, {"content": {"data": {"pixels": pixels}}})
    explorer.set(slope=9)
    sent = matplotlib.image.imread(io.BytesIO(explorer.picture.value))
    assert sent.shape[1] == scale * style.WIDTH * style.DPI
    assert explorer.rgb().shape == saved  # what is saved is fine on every screen
    assert difference(explorer.rgb(), make().set(slope=9).rgb()) == 0


def test_drawing_for_other_values_leaves_controls_and_display_alone():
    explorer = make()
    before = explorer.picture.value
    assert difference(explorer.rgb(slope=20), explorer.rgb()) > 0
    assert explorer.describe(slope=20) == "The slope at 0 is 20."
    assert explorer.params["slope"] == 3
    assert explorer.picture.value == before


def test_the_same_values_give_the_same_bytes_whatever_came_before():
    wandered = make().set(slope=20).set(slope=1, flip=True).set(slope=3, flip=False)
    assert wandered.picture.value == make().picture.value


def test_several_values_are_set_with_one_redraw():
    calls = []
    explorer = make(update=lambda artists, **params: calls.append(params) or "Seen.")
    calls.clear()
    explorer.set(slope=5, flip=True)
    assert calls == [{"slope": 5, "flip": True}]


def test_threads_that_move_controls_at_once_leave_picture_and_words_in_step():
    explorer = make()
    threads = [threading.Thread(target=explorer.set, kwargs={"slope": s}) for s in range(4, 12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    now = explorer.params["slope"]
    assert explorer.picture.tooltip.endswith(f"The slope at 0 is {now}.")
    assert explorer.picture.value == make().set(slope=now).picture.value


# Redrawing only what moves shows the same as redrawing all


def test_blit_equals_full_draw():
    fast, full = make(), make(blit=False)
    for slope in (1, 5, 20):
        assert difference(fast.rgb(slope=slope), full.rgb(slope=slope)) < 0.001


def bars_and_text(fig):
    left, right = fig.subplots(1, 2)
    left.set(xlabel="k", ylabel="weight", title="Bars", ylim=(0, 20))
    right.set(xlabel="k", ylabel="weight", title="Stems", ylim=(0, 20))
    right.axvline(1, zorder=5)
    return {
        "bars": left.bar(range(3), [1, 2, 3]),
        "note": left.text(0, 10, ""),
        "stems": right.stem(range(3), [1, 2, 3]),
    }


def move_bars_and_text(artists, slope, flip):
    for bar in artists["bars"]:
        bar.set_height(slope)
    artists["stems"].markerline.set_ydata([slope] * 3)
    artists["note"].set_text(f"{slope}")
    return "Bars of one height."


def test_bars_stems_and_texts_move_too_and_stay_under_what_lies_over_them():
    fast = make(move_bars_and_text, bars_and_text)
    full = make(move_bars_and_text, bars_and_text, blit=False)
    for slope in (2, 18):
        assert difference(fast.rgb(slope=slope), full.rgb(slope=slope)) < 0.001


@pytest.mark.parametrize(
    "change",
    [
        lambda ax, slope: ax.set_xlim(-slope, slope),
        lambda ax, slope: ax.set_title(f"Slope {slope}"),
        lambda ax, slope: ax.set_ylabel(f"tanh {slope}x"),
        lambda ax, slope: ax.set_yscale("linear" if slope < 10 else "symlog"),
        lambda ax, slope: (ax.relim(), ax.autoscale()),
        lambda ax, slope: ax.plot([0, slope], [0, 1]),
        lambda ax, slope: ax.get_legend().get_texts()[0].set_text(f"{slope}"),
    ],
    ids=["limits", "title", "label", "scale", "autoscale", "new artist", "legend"],
)
def test_a_change_of_what_stood_still_is_seen(change):
    def changing(artists, slope, flip):
        change(artists["curve"].axes, slope)
        return update(artists, slope)

    fast, full = make(changing), make(changing, blit=False)
    for slope in (5, 15):
        assert difference(fast.rgb(slope=slope), full.rgb(slope=slope)) < 0.001


def test_axes_that_are_off_stay_off():
    def drawing(fig):
        ax = fig.subplots()
        ax.axis("off")
        return {"curve": ax.plot(X, X)[0]}

    fast, full = make(setup=drawing), make(setup=drawing, blit=False)
    assert difference(fast.rgb(slope=5), full.rgb(slope=5)) < 0.001


# The goal


def test_the_goal_line_says_in_words_whether_it_is_reached_or_was():
    explorer = make_with_goal()
    assert "<b>Goal:</b> make it steep." in explorer.goal_line.value
    assert not explorer.is_reached

    explorer.set(slope=11)
    assert "Goal reached:" in explorer.goal_line.value
    assert explorer.is_reached
    assert explorer.was_reached

    explorer.set(slope=2)
    assert "<b>Goal:</b> make it steep. (Reached before" in explorer.goal_line.value
    assert not explorer.is_reached
    assert explorer.was_reached


def test_only_an_explorer_with_a_goal_shows_a_goal_line():
    assert make_with_goal().children[0] is not make().children[0]
    explorer = make()
    assert explorer.goal_line not in explorer.children
    assert not explorer.is_reached


# Where no kernel runs


def test_the_saved_output_has_a_widget_a_picture_its_alt_text_and_one_stable_line():
    data, metadata = make()._repr_mimebundle_()
    assert "application/vnd.jupyter.widget-view+json" in data
    assert data["text/plain"] == "Explorer(slope=3, flip=False)"
    assert metadata["image/png"] == {
        "alt": f"{ALT} The slope at 0 is 3.",
        "width": 700,
        "height": 320,
    }
    png = base64.b64decode(data["image/png"])
    assert len(png) < 100_000
    assert matplotlib.image.imread(io.BytesIO(png)).shape == (640, 1400, 3)


# Controls


def test_controls_are_labeled_and_update_while_they_move():
    explorer = make()
    labels = [control.description for control in explorer.children[:2]]
    assert labels == ["s", "flip"], "The name serves where no label was given."
    assert explorer.children[0].continuous_update


def test_a_slider_shows_as_many_digits_as_its_step_has():
    assert slider(0, 1, value=0.5, step=0.001).readout_format == ".3f"
    assert slider(0, 1, value=0.5, step=0.05).readout_format == ".2f"
    assert slider(0, 90, value=5, step=10).readout_format == ".0f"


def test_a_choice_hands_over_what_its_names_stand_for():
    assert choice({"one": 1, "two": 2}).value == 1
    assert choice({"one": 1, "two": 2}, value=2).label == "two"
    assert choice(["tanh", "relu"]).value == "tanh"


# Mistakes get a sentence


@pytest.mark.parametrize(
    ("mistake", "sentence"),
    [
        (lambda: make(alt=" "), "The alt text is empty"),
        (lambda: make(controls={}), "needs a control"),
        (lambda: make(controls={"slope": 3}), "'slope' is 3; make it with slider"),
        (lambda: make(goal="be fast"), "A goal needs a test"),
        (lambda: make(frames={"speed": [1]}), "no control 'speed'; this explorer has slope, flip"),
        (lambda: make(update=lambda artists, **params: None), "one sentence .* returned None"),
        (lambda: make(setup=lambda fig: fig.subplots().plot([], [])), "setup must return a dict"),
        (lambda: make(setup=lambda fig: {"axes": fig.subplots()}), "has no x label"),
        (lambda: make().set(speed=3), "no control 'speed'; this explorer has slope, flip"),
        (lambda: make().set(slope=21), "slope runs from 1 to 20; 21 lies outside"),
        (lambda: make(controls={"slope": choice([1, 2])}).set(slope=3), "slope cannot be 3; it is"),
        (lambda: make().rgb(speed=3), "no control 'speed'"),
        (lambda: make().frames_plan({}), "Frames run over one control"),
        (
            lambda: make(frames={"slope": 3, "flip": True}),
            "Frames run over one control or two, and the",
        ),
        (lambda: make(frames={"slope": []}), "Frames run over one control"),
        (lambda: make(frames={"slope": [1, 21]}), "slope runs from 1 to 20; 21 lies outside"),
        (lambda: make(frames={"slope": [1], "speed": 2}), "no control 'speed'"),
    ],
)
def test_a_mistake_gets_a_sentence(mistake, sentence):
    with pytest.raises(ValueError, match=sentence):
        mistake()


def test_an_error_in_a_callback_is_raised_and_shown_under_the_last_good_picture():
    def fragile(artists, slope, flip):
        return update(artists, 1 // (slope - 7))

    explorer = make(fragile)
    before = explorer.picture.value
    with pytest.raises(ZeroDivisionError):
        explorer.set(slope=7)
    assert "Not drawn:</b> ZeroDivisionError" in explorer.caption.value
    assert explorer.picture.value == before
    explorer.set(slope=8)
    assert "The slope at 0 is 1." in explorer.caption.value


def test_pyplot_is_never_imported_and_the_package_itself_stays_light():
    code = (
        "import sys, course_utils;"
        "print(*(m for m in ('matplotlib', 'ipywidgets', 'IPython') if m in sys.modules));"
        "import course_utils.explore;"
        "print('matplotlib.pyplot' in sys.modules)"
    )
    output = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert output.stdout == "\nFalse\n"
