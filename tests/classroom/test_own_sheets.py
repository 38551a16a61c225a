"""Sheets with the numbers of one student each, and the key to all of them."""

import pytest
from bs4 import BeautifulSoup

from classroom import own_sheets
from classroom.own_sheets import _free, write_own_sheets
from classroom.paper import Student
from classroom.roles import Role
from selfcheck.files import CourseError
from small_course.variants import sums
from tests.places import SMALL

pytestmark = pytest.mark.usefixtures("small_course")

CLASS = [Student("Ada Lovelace", "ada@example.org", "ada"), Student("Bob", "17", "bob/1")]


@pytest.fixture(scope="module")
def pages(small_course, tmp_path_factory):
    folder = tmp_path_factory.mktemp("sheets")
    solution = SMALL / "solutions" / "01_sums.ipynb"
    written = list(write_own_sheets(solution, CLASS, folder, pdf=False))
    assert [path.name for path in written] == ["ada.html", "bob_1.html", "key.html"]
    return {path.stem: BeautifulSoup(path.read_text("utf-8"), "html.parser") for path in written}


@pytest.mark.parametrize(("page", "student"), [("ada", CLASS[0]), ("bob_1", CLASS[1])])
def test_a_sheet_has_the_numbers_of_its_student_and_room_but_no_answers(pages, page, student):
    text = pages[page].main.get_text()
    assert f"{student.name} (id {student.id})" in text
    assert str(sums(student.id)) in text
    assert "check.own_sums(student" not in text
    assert len(pages[page].select(".room")) == 4


def test_the_key_has_every_students_answers(pages):
    text = pages["key"].main.get_text()
    for student in CLASS:
        total = sum(sums(student.id).numbers)
        assert str(total) in text.partition(f"{student.name} (id")[2]


def test_a_unit_without_numbers_of_ones_own_gets_a_sentence(tmp_path, monkeypatch):
    monkeypatch.setattr(own_sheets, "role", lambda cell: Role.TEXT)
    with pytest.raises(CourseError, match="the same numbers for everybody"):
        list(write_own_sheets(SMALL / "solutions" / "02_products.ipynb", CLASS, tmp_path))
    assert not list(tmp_path.iterdir())


def test_a_student_called_key_keeps_a_sheet():
    taken = {"key"}
    assert [_free(name, taken) for name in ("key", "Key", "ada", "Ada")] == [
        "key_2", "Key_3", "ada", "Ada_2",
    ]  # fmt: skip
