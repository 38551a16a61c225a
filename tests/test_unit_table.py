"""facts.py: what the table of units says stands where people read it."""

import shutil

import nbformat.v4 as v4
import pytest

from classroom.notebooks import as_text, read
from classroom.unit_table import in_words, outdated, tell
from selfcheck.files import CourseError
from tests.places import ROOT, SMALL


def test_our_course_says_what_its_table_says():
    assert list(outdated(ROOT)) == []


@pytest.fixture
def course(tmp_path):
    """A copy of the small course, with all pages that its table feeds."""
    return shutil.copytree(SMALL, tmp_path / "course")


def texts(path):
    return "\n".join(cell.source for cell in read(path).cells if cell.cell_type == "markdown")


def spoil(path, old, new):
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")


@pytest.mark.parametrize(
    ("page", "right", "wrong"),
    [
        (
            "README.md",
            "[7 points and 2 beyond the page](exercises/01_sums",
            "[14 points](exercises/01_sums",
        ),
        ("notebooks/00_start_here.ipynb", "01_sums.ipynb) | 7 + 2 |", "01_sums.ipynb) | 1 |"),
        ("notebooks/01_sums.ipynb", "# 01 · Sums: forward", "# 01 · Sums: downward"),
        ("notebooks/01_sums.ipynb", "*About 20 minutes.", "*About 60 minutes."),
        (
            "notebooks/01_sums.ipynb",
            "(7 points and 2 beyond the page, about 40 minutes)",
            "(14 points, about a week)",
        ),
        (
            "solutions/01_sums.ipynb",
            "*7 points and 2 beyond the page, about 40 minutes.",
            "*1 point, about a minute.",
        ),
    ],
)
def test_what_differs_is_found_and_mended(course, page, right, wrong):
    spoil(course / page, right, wrong)
    assert tell(course) == [course / page]
    assert (course / page).read_bytes() == (SMALL / page).read_bytes()
    assert tell(course) == []


def test_the_saved_map_is_drawn_anew_when_the_table_says_something_else(course):
    page = course / "notebooks" / "00_start_here.ipynb"
    notebook = read(page)
    cell = v4.new_code_cell("diagrams.show_map(UNITS)", execution_count=1)
    page.write_text(as_text(v4.new_notebook(cells=[*notebook.cells, cell])), encoding="utf-8")
    assert tell(course) == [page]
    assert tell(course) == []
    picture, caption = read(page).cells[-1].outputs
    assert {"image/svg+xml", "image/png"} <= set(picture.data)
    assert "01 Sums, 20 and 40 minutes" in picture.metadata["image/png"].alt
    assert "text/html" in caption.data
    spoil(page, "01 Sums, 20 and 40 minutes", "01 Sums, 20 and 50 minutes")
    assert tell(course) == [page]
    assert "01 Sums, 20 and 40 minutes" in read(page).cells[-1].outputs[0].metadata["image/png"].alt


def test_a_page_without_a_place_for_it_is_told(course):
    spoil(course / "notebooks" / "01_sums.ipynb", "*About 20 minutes.", "*Soon.")
    with pytest.raises(CourseError, match=r"01_sums\.ipynb: there is no place for .*About 20"):
        tell(course)


@pytest.mark.parametrize(
    ("minutes", "words"), [(45, "45 minutes"), (60, "an hour"), (90, "an hour and a half")]
)
def test_times_in_words(minutes, words):
    assert in_words(minutes) == words
