"""Small pictures: nothing overlaps, each has a description, bars show their numbers."""

import pytest

from course_utils import sketches

SECONDS = {
    "GPU": {"no cache": 300.1, "linear": 61.3},
    "CPU": {"no cache": 8651.4, "linear": 45.1},
}
DRAWINGS = {
    "common direction": sketches.common_direction,
    "one after the other": lambda: sketches.one_after_the_other(784),
    "recurrence": sketches.recurrence_step,
    "three ways": sketches.three_ways,
    "throughput": sketches.throughput_and_latency,
    "two machines": lambda: sketches.two_machines(SECONDS),
    "carrier": sketches.carrier,
    "glued": sketches.glued,
    "two sums": sketches.two_sums,
    "one set of weights": lambda: sketches.one_set_of_weights(64),
    "to scale": lambda: sketches.to_scale(("Q", (8, 2)), "·", ("Kᵀ", (2, 8)), "=", ("S", (8, 8))),
}


@pytest.mark.parametrize("draw", DRAWINGS.values(), ids=DRAWINGS)
def test_a_drawing_can_be_read_and_heard(draw):
    drawing = draw()
    assert drawing.troubles() == []
    assert drawing.alt.endswith(".")


def test_matrices_to_scale_tell_their_sizes():
    assert "Kᵀ, 2×8," in DRAWINGS["to scale"]().alt


def test_bars_tell_their_numbers(monkeypatch):
    shown = {}
    monkeypatch.setattr(sketches.style, "show", lambda fig, **words: shown.update(words))
    values = {"small": 0.5, "large": 3.0e9}
    sketches.bars(values, "The point.", title="Two", measures="what", log=True)
    assert shown == {"alt": "Bars. what: small 0.5; large 3.0·10⁹.", "caption": "The point."}
