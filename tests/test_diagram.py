"""Drawings of boxes and arrows: words in place, nothing overlaps, and the same look everywhere."""

import inspect
import xml.etree.ElementTree as ET
from itertools import pairwise

import numpy as np
import pytest
from IPython.core.displaypub import CapturingDisplayPublisher
from IPython.core.interactiveshell import InteractiveShell
from matplotlib.figure import Figure

from course_utils import diagrams
from selfcheck.diagram import Diagram

FEES = [[8, 6, 10], [9, 12, 13], [14, 9, 16]]
DRAWN = {
    "chain_of_factors": [{}, {"steps": 2}, {"steps": 5}],
    "two_places": [{}],
    "unrolled_rnn": [{}],
    "lstm_cell": [{}],
    "gru_cell": [{}],
    "attention_head": [{"n": 2, "d": 6, "m": 3, "l": 3}, {"n": 1024, "d": 768, "m": 64, "l": 64}],
    "several_heads": [{"n": 4, "d": 5, "l": 3}, {"n": 64, "d": 32, "l": 8, "heads": 4}],
    "transformer_block": [
        {"n": 64, "d": 32, "heads": 4, "hidden": 64},
        {"n": 1024, "d": 768, "heads": 12, "hidden": 3072, "norms": False},
        {"n": 3072, "d": 512, "heads": 8, "hidden": 2048, "attention": "linear attention"},
    ],
    "encoder_decoder": [{}, {"source": 3, "target": 6}],
    "causal_mask": [{"scores": np.eye(3) - 0.25}, {"scores": np.arange(16.0).reshape(4, 4) - 8}],
}
STEPS = {
    "computational_graph": [{}, {"a": -1.5, "b": 12}],
    "simplex_cycle": [{"C": FEES, "p": [35, 50, 40], "q": [45, 20, 60]}],
}


@pytest.fixture
def shown(monkeypatch):
    publisher = CapturingDisplayPublisher()
    monkeypatch.setattr(InteractiveShell.instance(), "display_pub", publisher)
    return publisher.outputs


def small():
    d = Diagram(300, 100)
    d.arrow(d.box(50, 50, "one"), d.circle(250, 50, "$f$"), says="3×2")
    return d


def test_a_drawing_is_shown_as_svg_and_png_with_the_same_words(shown):
    small().show("One step.", alt="one goes to f.")
    picture, caption = shown
    assert set(picture["data"]) == {"image/svg+xml", "image/png", "text/plain"}
    about = {"alt": "one goes to f.", "width": 300, "height": 100}
    assert picture["metadata"] == {"image/svg+xml": about, "image/png": about}
    assert caption["data"]["text/plain"] == "One step."


def test_svg_has_the_size_in_pixels_needs_no_font_and_is_the_same_every_time():
    root = ET.fromstring(small().svg())
    assert (root.get("width"), root.get("height")) == ("300", "100")
    assert not list(root.iter("{http://www.w3.org/2000/svg}text"))
    assert small().svg() == small().svg()


def test_a_drawing_without_a_description_is_refused(shown):
    with pytest.raises(ValueError, match="alt text is empty"):
        small().show("One step.")


@pytest.mark.parametrize(
    ("draw", "sentence"),
    [
        (lambda d: d.words(250, 50, "here"), "lies on a box"),
        (lambda d: d.words(150, 50, "here"), "An arrow runs through 'here'"),
        (lambda d: d.words(150, 36, "here"), "'here' and '3×2' overlap"),
        (lambda d: d.words(298, 90, "here"), "'here' leaves the drawing"),
        (lambda d: d.box(150, 80, "far too long", width=20), "larger than its box"),
        (lambda d: d.box(60, 60, "two"), "The boxes at 60, 60 and 50, 50 overlap"),
        (lambda d: d.box(150, 50, ""), "An arrow runs through the box at 150, 50"),
        (lambda d: (d.frame(150, 80, 80, 30), d.words(110, 80, "here")), "lies on a frame"),
    ],
)
def test_what_overlaps_is_refused_with_a_sentence(draw, sentence):
    drawing = small()
    draw(drawing)
    with pytest.raises(ValueError, match=sentence):
        drawing.show("One step.", alt="one goes to f.")


OF_MANY = {"matrices", "velocity_rules"}  # of as many parts as they are given


def test_rules_are_drawn_a_row_each_and_told_without_tex():
    one = ("rule M", "$\\varepsilon$", "$\\alpha$", "−1")
    for rules in ([one], [one, ("rule L", "", "$\\alpha$", "−lr")]):
        drawing = diagrams.velocity_rules(*rules)
        assert drawing.troubles() == []
    assert "times ε, plus the old velocity times α" in drawing.alt
    assert "rule L: the gradient, plus the old velocity" in drawing.alt


def test_every_diagram_of_the_course_is_listed_here():
    made = {
        n
        for n, f in vars(diagrams).items()
        if inspect.isfunction(f) and f.__module__ == diagrams.__name__
    }
    assert {name for name in made if not name.startswith("_")} == {*DRAWN, *STEPS, *OF_MANY}


@pytest.mark.parametrize(("name", "sizes"), [(n, s) for n, all_ in DRAWN.items() for s in all_])
def test_a_diagram_can_be_read_and_is_described(name, sizes):
    drawing = getattr(diagrams, name)(**sizes)
    assert drawing.troubles() == []
    assert len(drawing.alt.split()) >= 15
    assert drawing.alt.endswith((".", "…"))


@pytest.mark.parametrize(("name", "given"), [(n, g) for n, all_ in STEPS.items() for g in all_])
def test_every_step_can_be_read_and_says_something_new(name, given, monkeypatch):
    made = []
    monkeypatch.setattr(diagrams, "Diagram", lambda *args: made.append(Diagram(*args)) or made[-1])
    steps = getattr(diagrams, name)(**given)
    artists = steps.setup(Figure(figsize=steps.size, dpi=100))
    sentences = []
    for step in range(steps.last + 1):
        sentences.append(steps.update(artists, step))
        assert made[0].troubles() == []
    assert all(a != b for a, b in pairwise(sentences))


@pytest.mark.parametrize("rows", [1, 3, 7])
@pytest.mark.parametrize("size", [1, -12345.678, 1e-3])
def test_matrices_of_any_size_can_be_read_and_their_entries_are_told(rows, size):
    A = size * np.ones((rows, 2))
    drawing = diagrams.matrices(("a long name", A[:, :1]), "·", ("B", A.T), "→ softmax →", ("C", A))
    assert drawing.troubles() == []
    assert f"B, 2×{rows}: " in drawing.alt


def test_what_is_masked_in_a_matrix_is_empty_and_said():
    alt = diagrams.matrices(("A", [[0.25, np.nan], [-1, 2]]), digits=1).alt
    assert alt == "Matrices in a row. A, 2×2: 0.2 masked; −1 2."


def test_the_block_counts_what_it_draws():
    alt = diagrams.transformer_block(n=64, d=32, heads=4, hidden=64).alt
    assert "8,320 in all" in alt  # 4·32² + 2·32·64 + 4·32


def test_gradients_of_the_graph_add_up():
    steps = diagrams.computational_graph(2, 3)
    artists = steps.setup(Figure(figsize=steps.size, dpi=100))
    steps.update(artists, steps.last)
    assert {k: t.get_text() for k, t in artists["gradient"].items()} == {
        "a": "12", "b": "14", "c": "3", "e": "3", "f": "1",
    }  # fmt: skip
