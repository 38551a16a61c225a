"""What lectures train is kept for browsers: the same run, and whatever else is asked is trained."""

import json
from pathlib import Path

import numpy as np
import pytest

from course_utils import kept
from course_utils.transformer import Model, training_and_held_out
from selfcheck.trained import Trained

NOTEBOOKS = Path(__file__).parents[1] / "notebooks"


def shifted(by, steps=3):
    return {"theta": np.arange(3.0) + by, "curve": np.ones(steps)}


@pytest.fixture
def shelf(tmp_path, monkeypatch):
    """An empty file, into which results are put."""
    monkeypatch.setenv("COURSE_KEEP", "1")
    return Trained(tmp_path / "trained.npz")


def test_a_browser_takes_what_the_same_run_left(shelf, monkeypatch):
    here = shelf("shifted", shifted, 2, steps=4)
    array = shelf("ones", np.ones, 2)
    monkeypatch.setenv("COURSE_TAKE", "1")
    monkeypatch.delenv("COURSE_KEEP")
    there = shelf("shifted", shifted, 2, steps=4)
    assert {name: part.tolist() for name, part in there.items()} == {
        name: part.tolist() for name, part in here.items()
    }
    assert shelf("ones", np.ones, 2).tolist() == array.tolist()


def test_what_is_asked_in_another_way_is_trained(shelf, monkeypatch):
    shelf("shifted", shifted, np.array([1, 2, 3]))
    monkeypatch.setenv("COURSE_TAKE", "1")
    assert shelf("shifted", shifted, np.array([1, 2, 4]))["theta"].tolist() == [1, 3, 6]
    assert len(shelf("shifted", shifted, 1, steps=5)["curve"]) == 5


def test_a_new_result_takes_the_place_of_the_old_one(shelf):
    shelf("shifted", shifted, 1)
    shelf("shifted", shifted, 2)
    with np.load(shelf.file) as stored:
        assert [stored[name].tolist() for name in stored if "theta" in name] == [[2, 3, 4]]


def told(cell_id):
    """The rows of the table that a cell of lecture 12 showed when it trained."""
    cells = json.loads((NOTEBOOKS / "12_capstone.ipynb").read_text(encoding="utf-8"))["cells"]
    (cell,) = [cell for cell in cells if cell["id"] == cell_id]
    _, _, *rows = "".join(cell["outputs"][0]["data"]["text/markdown"]).splitlines()
    return [[entry.strip() for entry in row.strip("|").split("|")] for row in rows]


def test_the_kept_weights_of_lecture_12_give_the_bits_that_training_gave():
    small, (_, held_out) = Model("linear", width=16, heads=2, blocks=1), training_and_held_out()
    with np.load(kept.trained.file) as stored:
        weights = {name.rpartition(" ")[0]: stored[name].astype(float) for name in stored}
    rows = [(name, bits) for name, bits in told("small-model-linear")]
    rows += [(name, bits) for name, _, bits, _ in told("few-training-decays")]
    for name, bits in rows:
        assert small.bits(weights[name], held_out) == pytest.approx(float(bits), abs=0.01), name
    assert len(rows) == 8
