"""Sheets with the numbers of one student each, and the key to all of them."""

from pathlib import Path

import pytest
from bs4 import BeautifulSoup

from classroom import own_sheets
from classroom.own_sheets import Student, write_own_sheets
from classroom.roles import Role
from course_utils.variants import two_heads
from selfcheck.files import CourseError

ROOT = Path(__file__).parents[2]
CLASS = [Student("Ada Lovelace", "ada@example.org", "ada"), Student("Bob", "17", "bob/1")]


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sheets")
    solution = ROOT / "solutions" / "05_two_heads.ipynb"
    written = list(write_own_sheets(solution, CLASS, folder, pdf=False))
    assert [path.name for path in written] == ["ada.html", "bob_1.html", "key.html"]
    return {path.stem: BeautifulSoup(path.read_text("utf-8"), "html.parser") for path in written}


@pytest.mark.parametrize(("page", "student"), [("ada", CLASS[0]), ("bob_1", CLASS[1])])
def test_a_sheet_has_the_numbers_of_its_student_and_room_but_no_answers(pages, page, student):
    text = pages[page].main.get_text()
    assert f"{student.name} (id {student.id})" in text
    assert str(two_heads(student.id)) in text
    assert "check.projections(student" not in text
    assert "____" not in pages[page].select_one("pre").get_text()
    assert len(pages[page].select("div[style*=height]")) == 10


def test_the_key_has_every_students_answers(pages):
    text = pages["key"].main.get_text()
    for student in CLASS:
        numbers = two_heads(student.id)
        Wq, _, _ = numbers.heads[0]
        assert str(numbers.X @ Wq) in text.partition(f"{student.name} (id")[2]


def test_a_unit_without_numbers_of_ones_own_gets_a_sentence(tmp_path, monkeypatch):
    monkeypatch.setattr(own_sheets, "role", lambda cell: Role.TEXT)
    with pytest.raises(CourseError, match="the same numbers for everybody"):
        list(write_own_sheets(ROOT / "solutions" / "12_capstone.ipynb", CLASS, tmp_path))
    assert not list(tmp_path.iterdir())
