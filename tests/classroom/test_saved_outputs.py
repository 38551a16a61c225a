"""saved_outputs.py: a new run changes in a notebook's file what is new, and nothing else."""

import base64
import copy

import nbformat.v4 as v4
import numpy as np
import pytest

from classroom import frames
from classroom.notebooks import as_text, execute
from classroom.saved_outputs import MEASURED, keep_saved
from selfcheck.png import png_bytes

IGNORED = ["nbval-ignore-output"]


def drawn(shade, level=9):
    """An output with a picture, of one shade but for a frame."""
    pixels = np.zeros((40, 60, 3), np.uint8)
    pixels[5:35, 5:55] = shade
    data = {"image/png": base64.b64encode(png_bytes(pixels, level)).decode()}
    return v4.new_output("display_data", data, metadata={"image/png": {"alt": f"{shade}"}})


def printed(text):
    return v4.new_output("stream", text=text)


def notebook(*cells):
    return v4.new_notebook(cells=list(cells))


def cell(*outputs, source="draw()", name="a", **metadata):
    return v4.new_code_cell(source, id=name, outputs=list(outputs), metadata=metadata)


def kept(before, now):
    """The outputs of the last cell after a new run gave `now`."""
    return keep_saved(notebook(*before), notebook(*now)).cells[-1].outputs


# -- pictures -------------------------------------------------------------------------------------


def test_a_picture_that_looks_the_same_keeps_its_bytes_but_not_its_old_words():
    before, now = drawn(200, level=1), drawn(201)
    (output,) = kept([cell(before)], [cell(now)])
    assert output.data == before.data
    assert output.metadata["image/png"].alt == "201"


def test_another_picture_is_saved():
    assert kept([cell(drawn(200))], [cell(drawn(100))]) == [drawn(100)]


def test_an_explorer_that_moves_as_it_did_keeps_its_numbers(monkeypatch):
    monkeypatch.setattr(frames, "is_same", lambda old, new: old.lower() == new.lower())

    def explorer(numbers):
        output = drawn(200)
        output.metadata["image/png"]["explorer"] = numbers
        return output

    assert kept([cell(explorer("abc"))], [cell(explorer("ABC"))]) == [explorer("abc")]
    assert kept([cell(explorer("abc"))], [cell(explorer("abd"))]) == [explorer("abd")]
    assert kept([cell(drawn(200))], [cell(explorer("abc"))]) == [explorer("abc")]


def test_each_picture_of_a_cell_is_kept_for_itself():
    before = [drawn(200, level=1), printed("old"), drawn(100, level=1)]
    now = [drawn(200), printed("new"), drawn(50), drawn(60)]
    assert kept([cell(*before)], [cell(*now)]) == [
        drawn(200, level=1), printed("new"), drawn(50), drawn(60),
    ]  # fmt: skip


def test_a_notebook_that_never_ran_gets_all_that_is_new():
    assert kept([cell()], [cell(drawn(200), printed("2"))]) == [drawn(200), printed("2")]


# -- measurements ---------------------------------------------------------------------------------


def measuring(text, source="clock()"):
    return cell(printed(text), source=source, name="clock", tags=IGNORED)


def measured(text, *before):
    """A measuring cell as it is saved after its first run, behind others."""
    return keep_saved(
        notebook(*before, cell(source="clock()", name="clock", tags=IGNORED)),
        notebook(*before, measuring(text)),
    )


@pytest.mark.parametrize("again", ["0.30 s, slope 2.1", "  1,024.7 s, slope 2", "3e-05 s, slope 0"])
def test_what_was_measured_with_the_same_code_stays(again):
    saved = measured("0.25 s, slope 2.0")
    now = keep_saved(saved, notebook(measuring(again)))
    assert now.cells[0].outputs == [printed("0.25 s, slope 2.0")]
    assert now.cells[0].metadata == saved.cells[0].metadata


def test_a_picture_of_a_measurement_stays_with_it():
    before = cell(drawn(200), tags=IGNORED)
    saved = keep_saved(notebook(before), notebook(copy.deepcopy(before)))
    assert kept(saved.cells, [cell(drawn(100), tags=IGNORED)]) == [drawn(200)]


@pytest.mark.parametrize(
    ("before", "now"),
    [
        ([cell(source="n = 100")], [cell(source="n = 200"), measuring("0.30 s")]),
        ([], [measuring("0.30 s", source="clock(again)")]),
        ([], [measuring("0.30 s for all")]),
    ],
    ids=["code before it", "its own code", "other words"],
)
def test_it_is_measured_again_if_the_code_or_the_words_are_new(before, now):
    saved = measured("0.25 s", *before)
    assert kept(saved.cells, now) == now[-1].outputs


def test_it_is_measured_again_if_its_output_was_cleared():
    saved = measured("0.25 s")
    saved.cells[0].outputs = []
    assert kept(saved.cells, [measuring("0.30 s")]) == [printed("0.30 s")]


def test_text_around_it_does_not_count():
    saved = measured("0.25 s", v4.new_markdown_cell("Once.", id="text"))
    now = [v4.new_markdown_cell("Twice.", id="text"), measuring("0.30 s")]
    assert kept(saved.cells, now) == [printed("0.25 s")]


def test_a_cell_that_measures_no_longer_has_no_digest():
    saved = measured("0.25 s")
    now = keep_saved(saved, notebook(cell(printed("2"), measured="old")))
    assert MEASURED not in now.cells[0].metadata


# -- the file -------------------------------------------------------------------------------------


def test_after_one_changed_word_one_line_of_the_file_is_another(tmp_path):
    figure = """\
from course_utils import style
fig, ax = style.figure()
ax.plot([0, 1], [0, 1])
ax.set(xlabel="age", ylabel="weight", title="It grows")
style.show(fig, alt="A line.", caption="It grows.")"""
    clock = "import time\nprint(time.perf_counter_ns())"
    path = tmp_path / "a.ipynb"
    text = v4.new_markdown_cell("The weight grows.", id="text")
    cells = [text, cell(source=figure), cell(source=clock, name="b", tags=IGNORED)]
    path.write_text(as_text(notebook(*cells)), encoding="utf-8")
    path.write_text(as_text(execute(path)), encoding="utf-8")
    before = path.read_text(encoding="utf-8")
    path.write_text(before.replace("weight grows", "weight falls"), encoding="utf-8")
    now = as_text(execute(path))
    lines = zip(before.splitlines(), now.splitlines(), strict=True)
    assert [pair for pair in lines if pair[0] != pair[1]] == [
        ('    "The weight grows."', '    "The weight falls."')
    ]
