"""Explorers where no kernel runs: which stops are saved with a lecture, and how they are packed."""

import numpy as np
import pytest

from classroom import frames
from classroom.frames import bake, grid_of, is_same, unpacked
from selfcheck.explore import checkbox, choice, int_slider, player, slider
from tests.test_explore import ALT, Explorer, make, setup


def explorer(**controls):
    """One whose curve and sentence follow every control."""

    def update(artists, **params):
        total = sum(float(value) for value in params.values())
        artists["curve"].set_ydata(np.tanh(total * np.linspace(-3, 3, 200)))
        return f"The sum is {total:g}."

    return Explorer(setup, update, controls=controls, alt=ALT)


def test_one_slider_has_all_its_stops():
    (stops,) = grid_of(explorer(a=slider(0, 1, value=0.3, step=0.005)))
    assert stops == list(range(201))


def test_of_many_sliders_the_finest_two_move_by_twenty_stops_or_more():
    a, b, c = grid_of(
        explorer(
            a=slider(0, 1, value=0.37),
            b=slider(0, 1, value=0.5, step=0.04),
            c=int_slider(0, 999, value=500),
        )
    )
    assert b == [12]
    assert min(len(a), len(c)) >= 20
    assert {0, 37, 100} <= set(a), "The ends are stops, and so is where it begins."


def test_stops_lie_at_equal_distances_wherever_the_goal_lies():
    a, _ = grid_of(explorer(a=int_slider(0, 999, value=500), b=slider(0, 1, value=0.5)))
    assert len(set(np.diff(a[1:-1]))) == 1


def test_what_has_few_values_moves_too_as_long_as_there_is_room():
    _, *few = grid_of(
        explorer(
            a=slider(0, 1, value=0.5), b=checkbox(), c=choice([1, 2, 3]),
            d=int_slider(0, 11, value=3), e=int_slider(0, 11, value=4),
        )
    )  # fmt: skip
    assert [len(stops) for stops in few] == [2, 3, 12, 1]


def test_what_plays_shows_every_step_and_another_slider_moves_beside_it():
    t, a, b = grid_of(
        explorer(t=player(0, 60, value=7), a=slider(0, 1, value=0.5), b=int_slider(0, 30, value=3))
    )
    assert t == list(range(61))
    assert len(a) >= 20
    assert b == [3]


def test_an_author_may_name_the_controls():
    made = make(baked=["flip"])
    assert grid_of(made) == [[2], [0, 1]]


def test_baked_are_all_places_with_their_sentences_and_the_controls_stay():
    made = make(goal="make it steep", reached=lambda slope, flip: slope > 10)
    head, numbers = unpacked(bake(made))
    assert head["grid"] == [list(range(20)), [0, 1]]
    assert len(head["places"]) == 40
    assert head["places"][0][2:] == ["The slope at 0 is 1.", 0]
    assert head["places"][-1][2:] == ["The slope at 0 is 20.", 1]
    assert (head["alt"], head["at"]) == (ALT, [2, 0])
    assert made.params == {"slope": 3, "flip": False}
    assert numbers.dtype == np.int16


def test_numbers_are_the_same_after_packing():
    made = make()
    head, numbers = unpacked(bake(made))
    message = made.message()
    for slope in range(20):
        for flip in range(2):
            made.add_place(message, [slope, flip])
    plain = np.concatenate(message.news()[1])
    assert len(head["moved"]) == 1
    assert np.array_equal(numbers, plain)


def test_two_runs_are_the_same_but_for_the_last_digit():
    text = bake(make())
    assert is_same(text, bake(make()))
    _, row = unpacked(text)
    states = [row[:10].copy(), row[10:].copy()]

    def off_by(amount, sentence="Seen."):
        changed = [states[0], states[1] + np.int16(amount)]
        words = {"scenes": [], "states": [[0, [["p", 0, 10]]], [0, [["p", 0, len(row) - 10]]]]}
        return frames.packed(words | {"places": sentence}, changed)

    assert is_same(off_by(0), off_by(frames.NEAR))
    assert not is_same(off_by(0), off_by(frames.NEAR + 1))
    assert not is_same(off_by(0), off_by(0, "Something else."))


@pytest.mark.parametrize("count", [2, 3, 5, 30])
def test_every_grid_has_where_it_begins(count):
    made = explorer(a=int_slider(0, count - 1, value=1), b=slider(0, 1, value=0.5))
    assert all(now in stops for now, stops in zip(made.stops_now(), grid_of(made), strict=True))
