"""The lectures ask: every question has an answer, and no prediction has its answer in sight."""

from itertools import pairwise

import pytest

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


def output_after(cells, number):
    """The first cell with an output behind this one."""
    return next((c for c in cells[number:] if c.cell_type == "code" and c.outputs), None)


def folded(cell):
    return bool(cell and cell.metadata.get("jupyter", {}).get("outputs_hidden"))


@each(LECTURES)
def test_every_question_is_answered_behind_a_fold_or_by_a_folded_output(path):
    cells = read(path).cells
    open_questions = [
        f"{cells[number].id}: {text[:60]}"
        for number, text in questions(cells)
        if FOLD not in text and not folded(output_after(cells, number))
    ]
    assert open_questions == []


@each(LECTURES)
def test_no_prediction_has_its_answer_in_sight(path):
    cells = read(path).cells
    predictions = [number for number, text in questions(cells) if text.startswith("*Predict")]
    seen = [cells[n].id for n in predictions if not folded(output_after(cells, n))]
    assert seen == []
    hidden = [cell for cell in cells if folded(cell)]
    assert [cell.id for cell in hidden if path.stem[:2] != "00" and mark(cell) not in APART] == []


@each(LECTURES)
def test_an_answer_is_folded_as_all_are_so_that_pages_and_slides_find_it(path):
    for cell in read(path).cells:
        if cell.cell_type == "markdown" and "<details" in cell.source:
            folds = cell.source.count("<details")
            assert folds == cell.source.count(FOLD) == cell.source.count(END), cell.id
            assert QUESTION.search(cell.source) or "<details" not in cell.source, cell.id
