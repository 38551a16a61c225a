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

from selfcheck import explore
from selfcheck.explore import Explorer, checkbox, choice, int_slider, player, slider

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


def test_asking_for_other_values_leaves_controls_and_display_alone():
    explorer = make()
    before = explorer.picture.value
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


def test_a_goal_that_is_reached_at_the_start_is_none():
    with pytest.raises(ValueError, match="reached before a control has moved"):
        make(goal="be steep", reached=lambda slope, flip: slope == 3)


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
    assert matplotlib.image.imread(io.BytesIO(png)).shape == (640, 1400, 4)


# A page that draws by numbers


class Line:
    """The end of a comm that a page would have."""

    def __init__(self):
        self.heard = []

    def on_msg(self, answer):
        self.say = lambda **asked: answer({"content": {"data": asked}})

    def on_close(self, act):
        self.close = lambda: act({})

    def send(self, head, buffers):
        self.heard.append((head, np.frombuffer(b"".join(buffers), np.int16)))


def opened(explorer) -> Line:
    line = Line()
    meet = comm.get_comm_manager().targets[explore.TARGET]
    meet(line, {"content": {"data": {"id": explorer.model_id}}})
    return line


def test_a_page_is_told_words_controls_and_the_place_where_they_stand():
    (first, numbers), (last, _) = opened(make_with_goal()).heard
    assert (first["alt"], first["goal"], first["at"]) == (ALT, "make it steep", [2, 0])
    assert first["controls"] == [
        {"label": "s", "count": 20, "low": 1, "step": 1, "digits": 0},
        {"label": "flip", "count": 2},
    ]
    assert first["grid"] == [[2], [0]]
    assert [place[2:] for place in first["places"]] == [["The slope at 0 is 3.", 0]]
    assert len(numbers) > 100
    assert (first["done"], last["done"]) == (False, True)


def test_a_page_is_told_what_plays_and_how_fast():
    controls = {"slope": player(1, 9, value=3, per_second=2), "flip": checkbox()}
    (first, _), _ = opened(make(controls=controls)).heard
    assert [control.get("plays") for control in first["controls"]] == [2, None]
    assert player(0, 1, value=0.5, step=0.25).value == 0.5
    assert type(player(0, 4, value=1).value) is int


def test_a_page_asks_for_stops_and_gets_the_one_where_it_stands_at_once():
    explorer = make_with_goal()
    line = opened(explorer)
    line.heard.clear()
    line.say(at=[10, 0], control=0, stops=[9, 10, 11])
    (now, _), (ahead, _) = line.heard
    assert now["grid"] == [[10], [0]]
    assert set(ahead["grid"][0]) <= {9, 11}
    assert now["places"][0][2:] == ["The slope at 0 is 11.", 1]
    assert explorer.params["slope"] == 11
    assert explorer.was_reached


def test_looks_and_letters_are_told_once():
    line = opened(make())
    line.heard.clear()
    line.say(at=[5, 0], control=0, stops=[5])
    (head, numbers), _ = line.heard
    assert (head["looks"], head["glyphs"], head["scenes"]) == ([], [], [])
    assert 50 < len(numbers) < 200  # those of the curve


def test_a_look_that_was_first_drawn_for_somebody_else_is_told_too():
    def colored(artists, slope, flip):
        artists["curve"].set_color("red" if flip else "blue")
        return update(artists, slope, flip)

    explorer = make(update=colored)
    line = opened(explorer)
    explorer.add_place(explorer.message(), [5, 1])
    line.heard.clear()
    line.say(at=[5, 0], control=0, stops=[])
    line.say(at=[5, 1], control=1, stops=[1])
    looks = [look for head, _ in line.heard for look in head["looks"]]
    assert [look["stroke"] for look in looks] == ["#ff0000"]


def test_the_kernel_is_not_held_longer_than_a_frame_for_what_nobody_waits_for(monkeypatch):
    monkeypatch.setattr(explore, "FRAME", -1)
    line = opened(make())
    line.heard.clear()
    line.say(at=[5, 0], control=0, stops=[5, 6, 7, 8])
    assert [head["grid"][0] for head, _ in line.heard] == [[5], [6]]


def test_all_pages_follow_a_hand_and_python():
    explorer = make()
    one, other = opened(explorer), opened(explorer)
    other.heard.clear()
    one.say(at=[7, 0], control=0, stops=[])
    assert other.heard[0][0]["now"] == [7, 0]
    explorer.set(slope=1)
    assert one.heard[-1][0]["now"] == [0, 0]


def test_a_place_that_cannot_be_drawn_says_why():
    def fragile(artists, slope, flip):
        return update(artists, 1 // (slope - 7))

    line = opened(make(fragile))
    line.say(at=[6, 0], control=0, stops=[6])
    scene, states, words, reached = line.heard[-2][0]["places"][0]
    assert (scene, states, reached) == (-1, [], 0)
    assert words.startswith("ZeroDivisionError: ")


def test_pages_get_numbers_and_no_pictures_and_an_unknown_one_is_left():
    explorer = make()
    before = explorer.picture.value
    line = opened(explorer)
    explorer.set(slope=9)
    assert explorer.picture.value == before
    line.close()
    explorer.set(slope=10)
    assert explorer.picture.value != before


@pytest.mark.parametrize(
    ("control", "stops", "values"),
    [
        (slider(0.5, 0.6, value=0.5, step=0.02), 6, [0.5, 0.52, 0.54, 0.56, 0.58, 0.6]),
        (slider(0, 1, value=0, step=0.3), 4, [0, 0.3, 0.6, 0.9]),
        (int_slider(4, 12, value=4, step=4), 3, [4, 8, 12]),
        (choice({"yes": True, "no": False}), 2, [True, False]),
        (checkbox(), 2, [False, True]),
    ],
)
def test_a_stop_is_a_value_that_a_hand_can_set(control, stops, values):
    assert explore.stops_of(control) == stops
    found = [explore._stop(control, number) for number in range(stops)]
    assert found == values
    assert [explore._number_of(control, value) for value in values] == list(range(stops))
    assert all(type(value) is type(control.value) for value in found)


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
        (
            lambda: make(controls={n: player(0, 9, value=0) for n in ("slope", "flip")}),
            "One control can play",
        ),
        (lambda: make(goal="be fast"), "A goal needs a test"),
        (lambda: make(baked=["speed"]), "no control 'speed'; this explorer has slope, flip"),
        (lambda: make(update=lambda artists, **params: None), "one sentence .* returned None"),
        (lambda: make(setup=lambda fig: fig.subplots().plot([], [])), "setup must return a dict"),
        (lambda: make(setup=lambda fig: {"axes": fig.subplots()}), "has no x label"),
        (lambda: make().set(speed=3), "no control 'speed'; this explorer has slope, flip"),
        (lambda: make().set(slope=21), "slope runs from 1 to 20; 21 lies outside"),
        (lambda: make(controls={"slope": choice([1, 2])}).set(slope=3), "slope cannot be 3; it is"),
        (lambda: make().describe(speed=3), "no control 'speed'"),
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
