"""What the judge says of our solutions is what was saved with them, and of our sheets nothing."""

import pytest

from classroom.grading.submitted import submitted_cells
from classroom.notebooks import read
from tests.classroom.grading.making import graded, job_of, solved
from tests.places import ROOT, our_notebooks

UNITS = [path.stem for path in our_notebooks("solutions")]
AMPLE = {"cell": 60.0, "wall": 600.0}


@pytest.mark.parametrize("unit", UNITS)
def test_a_solution_earns_everything_in_the_words_that_were_saved_with_it(judge_process, unit):
    grade, _ = graded(judge_process, solved(unit), unit, limits=AMPLE)
    notebook = read(ROOT / "solutions" / f"{unit}.ipynb")
    saved = [c.outputs[0].data["text/plain"] for c in notebook.cells if c.id.startswith("check-")]
    words = [repr(result.feedback) for result in grade.results]
    assert [text[: len(word)] for word, text in zip(words, saved, strict=True)] == words
    assert grade.earned == grade.points


@pytest.mark.parametrize("unit", UNITS)
def test_of_checks_that_are_printed_nothing_is_remarked(judge_process, unit):
    """They run among the student's code, and what they do there is none of the student's doing."""
    cells = solved(unit)
    printed = {key: f"print({cells[key]})" for key in cells if key.startswith("check-")}
    grade, _ = graded(judge_process, {**cells, **printed}, unit, limits=AMPLE)
    assert grade.earned == grade.points
    assert [grade.by_hand, *(result.by_hand for result in grade.results if result.by_hand)] == [()]


@pytest.mark.parametrize("unit", UNITS)
def test_an_exercise_as_it_was_handed_out_is_not_attempted(judge_process, unit):
    cells = submitted_cells((ROOT / "exercises" / f"{unit}.ipynb").read_bytes())
    grade, _ = graded(judge_process, cells, unit, limits=AMPLE)
    assert {result.outcome for result in grade.results} == {"not attempted"}
    assert (grade.earned, grade.notes) == (0, ())


@pytest.mark.parametrize("unit", UNITS)
def test_every_exercise_of_a_solution_can_be_described_and_nothing_is_complained_of(
    judge_process, unit
):
    answer = judge_process.judged(job_of(solved(unit), unit, limits=AMPLE, is_solution=True))
    assert set(answer["references"]) == {r["name"] for r in answer["graded"]["results"]}
    assert judge_process.complaints() == ""
