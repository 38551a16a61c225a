"""The lectures ask: every question has an answer, and no prediction has its answer in sight."""

import re
from itertools import pairwise

import pytest

from classroom.guesses import is_revealed, predictions
from classroom.notebooks import read
from classroom.outline import QUESTION, mark
from tests.places import our_notebooks

LECTURES = our_notebooks("notebooks")
FOLD, END = "<details><summary>Answer</summary>\n\n", "\n\n</details>"
APART = ("slide", "subslide", "fragment", "skip")


def each(paths):
    return pytest.mark.parametrize("path", paths, ids=lambda path: path.stem)


def questions(cells):
    """Each question with its cell's number: its text reaches to the next question of the cell."""
    for number, cell in enumerate(cells):
        if cell.cell_type != "markdown":
            continue
        starts = [found.start() for found in QUESTION.finditer(cell.source)]
        for start, end in pairwise([*starts, len(cell.source)]):
            yield number, cell.source[start:end]


def asked_in(path):
    """The predictions of a lecture, by the id of the cell that asks."""
    cells = read(path).cells
    asks = [cell.id for cell in cells if "guess" in cell.metadata]
    found = predictions(cells)
    assert len(found) == len(asks), "a guess is asked for, and nothing waits for it"
    return dict(zip(asks, found, strict=True))


def waits(cells):
    """Whether a guess is asked for before anything runs."""
    return (
        "guess" in next(c for c in cells if c.cell_type == "code" or "guess" in c.metadata).metadata
    )


def seen_behind(prediction):
    """All words that its fold holds, of outputs and comments."""
    parts = [cell.source for cell in prediction.cells if cell.cell_type == "markdown"]
    for cell in prediction.cells:
        for output in cell.get("outputs", []):
            parts += [output.get("text", ""), output.get("data", {}).get("text/plain", "")]
    return "\n".join(parts)


@each(LECTURES)
def test_every_question_is_answered_behind_a_fold(path):
    cells = read(path).cells
    open_questions = [
        f"{cells[number].id}: {text[:60]}"
        for number, text in questions(cells)
        if FOLD not in text and not waits(cells[number:])
    ]
    assert open_questions == []


@each(LECTURES)
def test_no_prediction_has_its_answer_in_sight(path):
    cells, asked = read(path).cells, asked_in(path)
    ids = [cell.id for cell in cells]
    behind = [cell.id for prediction in asked.values() for cell in prediction.cells]
    assert behind == [cell.id for cell in cells if is_revealed(cell)]
    for number, text in questions(cells):
        if text.startswith("*Predict"):
            first = ids.index(asked[ids[number]].cells[0].id)
            shown = [c for c in cells[number + 1 : first] if c.cell_type == "code"]
            assert shown == [], f"{ids[number]}: a cell runs before the guess"
    for cell in cells:
        assert "outputs_hidden" not in cell.metadata.get("jupyter", {}), cell.id


@each(LECTURES)
def test_on_a_slide_what_answers_a_guess_comes_later_or_is_said(path):
    for prediction in asked_in(path).values():
        for cell in prediction.cells:
            said = ("notes",) if cell.cell_type == "markdown" else ()
            assert mark(cell) in (*APART, *said), cell.id


@each(LECTURES)
def test_what_a_guess_is_told_stands_behind_its_fold(path):
    for asks, prediction in asked_in(path).items():
        guess = prediction.guess
        assert set(guess) <= {"choices", "is", "unit", "about"}, asks
        assert any(cell.cell_type == "code" for cell in prediction.cells), asks
        if "choices" in guess:
            assert 2 <= len(set(guess["choices"])) == len(guess["choices"]), asks
            assert guess["is"] in range(len(guess["choices"])), asks
            continue
        words = seen_behind(prediction)
        for number in re.findall(r"\d[\d,.]*", guess.get("is", "")):
            assert number.rstrip(".,") in words, f"{asks}: {number}"


@each(LECTURES)
def test_an_answer_is_folded_as_all_are_so_that_pages_and_slides_find_it(path):
    for cell in read(path).cells:
        if cell.cell_type == "markdown" and "<details" in cell.source:
            folds = cell.source.count("<details")
            assert folds == cell.source.count(FOLD) == cell.source.count(END), cell.id
            assert QUESTION.search(cell.source) or "<details" not in cell.source, cell.id
