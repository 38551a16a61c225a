"""A figure as numbers: what is recorded is what is drawn, and moves add up to the whole."""

import matplotlib
import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from selfcheck import style
from selfcheck.recorder import FAR, GRAIN, MARK, Message, Recorder, Scenes

X = np.linspace(0, 1, 50)


def scenes(setup):
    with matplotlib.rc_context(style.RC):
        fig = Figure(figsize=(4, 3), dpi=style.DPI)
        FigureCanvasAgg(fig)
        artists = setup(fig)
    return Scenes(fig, artists), artists


def axes(fig, **limits):
    ax = fig.subplots()
    ax.set(**({"xlim": (0, 1), "ylim": (0, 1)} | limits))
    return ax


def line(fig):
    return {"line": axes(fig).plot(X, X)[0]}


# Every kind of artist that explorers move, and one move of each.
KINDS = {
    "line": (line, lambda a, t: a["line"].set_ydata(t * X)),
    "markers": (
        lambda fig: {"dots": axes(fig).plot([], [], "o")[0]},
        lambda a, t: a["dots"].set_data([t, 0.5], [0.5, t]),
    ),
    "bars": (
        lambda fig: {"bars": axes(fig).bar([0.2, 0.8], [0.1, 0.2], hatch="//")},
        lambda a, t: [bar.set_height(t * (k + 1) / 2) for k, bar in enumerate(a["bars"])],
    ),
    "stems": (
        lambda fig: {"stems": axes(fig).stem([0.2, 0.8], [0.1, 0.2])},
        lambda a, t: a["stems"].markerline.set_ydata([t, 1 - t]),
    ),
    "words": (
        lambda fig: {"words": axes(fig).text(0.1, 0.5, "")},
        lambda a, t: a["words"].set_text(f"at $t^2$ = {t:.2f}"),
    ),
    "scatter": (
        lambda fig: {"discs": axes(fig).scatter([0.2, 0.8], [0.5, 0.5], s=[50, 90])},
        lambda a, t: a["discs"].set_sizes([100 * t, 100 - 90 * t]),
    ),
    "picture": (
        lambda fig: {"cells": axes(fig).imshow(np.zeros((4, 6)), vmin=0, vmax=1)},
        lambda a, t: a["cells"].set_data(np.full((4, 6), t)),
    ),
    "log": (
        lambda fig: {"line": axes(fig, xlim=(0.01, 1), xscale="log").plot(X, X)[0]},
        lambda a, t: a["line"].set_data(X[1:], t * X[1:]),
    ),
    "arrow": (
        lambda fig: {"note": axes(fig).annotate("x", (0.5, 0.5), (0.2, 0.2), arrowprops={})},
        lambda a, t: a["note"].set_position((t, 0.2)),
    ),
    "hidden": (line, lambda a, t: a["line"].set_visible(t > 0.5)),
}


def seen(moved):
    """What moving artists draw now, with looks and letters in place of their numbers."""
    recorder = moved.recorder

    def op(kind, look, rest):
        if kind == "t":
            letters = [(recorder.glyphs[glyph], *at) for glyph, *at in rest[4]]
            rest = [*rest[:4], letters, rest[5]]
        return kind, recorder.looks[look], rest

    return [([op(*o) for o in ops], numbers.tolist()) for ops, numbers in moved.place()[1]]


@pytest.mark.parametrize("kind", KINDS)
def test_at_sixty_random_moves_the_sum_of_moves_is_the_whole_position(kind):
    setup, move = KINDS[kind]
    (moved, artists), (whole, others) = scenes(setup), scenes(setup)
    moved.place()
    for k, t in enumerate(np.random.default_rng(8).random(60)):
        move(artists, t)
        now = seen(moved)
        if k % 10 == 9:  # to draw all anew takes its time
            move(others, t)
            whole.anew()
            assert now == seen(whole)
    assert len(moved.scenes) == 1, "What stands still was drawn once."


@pytest.mark.parametrize("kind", KINDS)
def test_a_move_is_seen_in_its_slot(kind):
    setup, move = KINDS[kind]
    moved, artists = scenes(setup)
    move(artists, 0.3)
    before = seen(moved)
    move(artists, 0.9)
    assert seen(moved) != before


@pytest.mark.parametrize(
    "change",
    [
        lambda ax: ax.set_xlim(-1, 1),
        lambda ax: ax.set_title("Another title"),
        lambda ax: ax.set_yscale("symlog"),
        lambda ax: (ax.relim(), ax.autoscale()),
        lambda ax: ax.plot([0, 1], [0, 1]),
    ],
    ids=["limits", "title", "scale", "autoscale", "new artist"],
)
def test_a_change_of_what_stood_still_is_another_scene(change):
    moved, artists = scenes(line)
    assert moved.place()[0] == 0
    change(artists["line"].axes)
    assert moved.place()[0] == 1
    assert moved.place()[0] == 1


def test_a_line_that_leaves_the_picture_stays_within_the_numbers():
    moved, artists = scenes(line)
    artists["line"].set_ydata(1e12 * (X - 0.5))
    numbers = moved.place()[1][0][1].astype(int)
    points = numbers[numbers > MARK + 5]
    assert len(points)
    assert np.abs(points).max() <= FAR * GRAIN


def test_gaps_in_a_line_are_gaps():
    moved, artists = scenes(line)
    artists["line"].set_ydata(np.where((X > 0.4) & (X < 0.6), np.nan, X))
    numbers = moved.place()[1][0][1]
    assert np.sum(numbers == MARK + 1) == 2


def test_a_small_bar_does_not_snap_to_nothing():
    moved, artists = scenes(KINDS["bars"][0])
    for bar in artists["bars"]:
        bar.set_height(0.002)
    numbers = moved.place()[1][0][1]
    heights = numbers[numbers > MARK + 5][1::2]
    assert np.ptp(heights) > 0


def test_a_page_can_tell_numbers_in_the_units_of_the_axes():
    moved, artists = scenes(line)
    artists["line"].set_data([0.25, 0.5], [0.75, 0.5])
    numbers = moved.place()[1][0][1]
    box, name = moved.scenes[0][1]["slots"][0]
    left, bottom, width, height, (x0, x1, _), (y0, y1, _) = box
    x, y = numbers[1] / GRAIN, numbers[2] / GRAIN
    assert name == "line"
    assert x0 + (x1 - x0) * (x - left) / width == pytest.approx(0.25, abs=2e-3)
    assert y0 + (y1 - y0) * (bottom - y) / height == pytest.approx(0.75, abs=2e-3)


def test_a_message_tells_once_what_places_have_in_common():
    moved, artists = scenes(KINDS["bars"][0])
    message = Message(moved)
    for height in (0.3, 0.4):
        artists["bars"][1].set_height(height)
        message.add("Two bars.", False)
    head, numbers = message.news()
    assert [slot for slot, _ in head["states"]] == [0, 1, 1]
    assert [place[1] for place in head["places"]] == [[0, 1], [0, 2]]
    taken = sum(op[2] for ops, _ in head["scenes"] for op in ops if op[0] not in "ts")
    taken += sum(op[2] for _, ops in head["states"] for op in ops if op[0] != "t")
    assert sum(map(len, numbers)) == taken


def test_a_look_is_known_by_all_that_it_is():
    recorder = Recorder(100, 100, 100)
    gc = recorder.new_gc()
    first = recorder._look(gc, (1, 0, 0))
    assert recorder._look(gc, (1, 0, 0)) == first
    gc.set_alpha(0.5)
    assert recorder._look(gc, (1, 0, 0)) != first
    assert recorder.looks[-1]["fill-opacity"] == 0.5
