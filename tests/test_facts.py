"""facts.py: what the table of units says stands where people read it."""

import shutil
from pathlib import Path

import pytest

from classroom.facts import in_words, outdated, tell
from classroom.notebooks import read
from selfcheck.files import CourseError

ROOT = Path(__file__).parents[1]


def test_the_course_says_what_its_table_says():
    assert list(outdated(ROOT)) == []


@pytest.fixture
def course(tmp_path):
    """A copy of the pages that the table feeds."""
    for folder in ("notebooks", "solutions"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    for name in ("README.md", "course.toml"):
        shutil.copy(ROOT / name, tmp_path)
    (tmp_path / "course_utils").mkdir()
    shutil.copy(ROOT / "course_utils" / "units.toml", tmp_path / "course_utils")
    return tmp_path


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
            "[15 points and 7 beyond the page](exercises/02_momentum",
            "[14 points](exercises/02_momentum",
        ),
        (
            "notebooks/00_start_here.ipynb",
            "02_momentum.ipynb) | 15 + 7 |",
            "02_momentum.ipynb) | 1 |",
        ),
        ("notebooks/02_momentum.ipynb", "# 02 · Momentum is", "# 02 · Momentum was"),
        ("notebooks/02_momentum.ipynb", "*About 60 minutes.", "*About 20 minutes."),
        (
            "notebooks/02_momentum.ipynb",
            "(15 points and 7 beyond the page, about 100 minutes)",
            "(14 points, about a week)",
        ),
        (
            "solutions/02_momentum.ipynb",
            "*15 points and 7 beyond the page, about 100 minutes.",
            "*1 point, about a minute.",
        ),
    ],
)
def test_what_differs_is_found_and_mended(course, page, right, wrong):
    spoil(course / page, right, wrong)
    assert tell(course) == [course / page]
    assert (course / page).read_bytes() == (ROOT / page).read_bytes()
    assert tell(course) == []


def test_a_page_without_a_place_for_it_is_told(course):
    spoil(course / "notebooks" / "02_momentum.ipynb", "*About 60 minutes.", "*Soon.")
    with pytest.raises(CourseError, match=r"02_momentum\.ipynb: there is no place for .*About 60"):
        tell(course)


@pytest.mark.parametrize(
    ("minutes", "words"), [(45, "45 minutes"), (60, "an hour"), (90, "an hour and a half")]
)
def test_times_in_words(minutes, words):
    assert in_words(minutes) == words
