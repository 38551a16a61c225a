"""course.py: the course in whose folder we are, and a sentence where there is none."""

import pytest

from selfcheck.course import belongs, course_in, course_root, current
from selfcheck.files import CourseError
from tests.places import SMALL, begin_course


@pytest.fixture
def course(tmp_path, monkeypatch):
    begin_course(tmp_path)
    (tmp_path / "notebooks").mkdir()
    monkeypatch.syspath_prepend(str(tmp_path))  # what reading a course adds goes away again
    return tmp_path


def test_it_is_the_one_whose_folder_we_are_in(course, monkeypatch):
    monkeypatch.chdir(course / "notebooks")
    assert course_root() == course
    assert (current().title, current().package) == ("Numbers", "course_utils")


def test_elsewhere_there_is_none_and_one_is_told_what_to_do(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(CourseError, match=r"There is no course\.toml in .*`course init DIR"):
        current()


def test_a_process_that_begins_elsewhere_is_told_the_folder(course, tmp_path_factory, monkeypatch):
    monkeypatch.chdir(tmp_path_factory.mktemp("elsewhere"))
    monkeypatch.setenv("COURSE_FOLDER", str(course))
    assert course_root() == course


def test_what_changes_in_the_file_holds_at_once(course):
    text = (course / "course.toml").read_text(encoding="utf-8")
    assert course_in(course).title == "Numbers"
    (course / "course.toml").write_text(text.replace("Numbers", "Whole numbers"), encoding="utf-8")
    assert course_in(course).title == "Whole numbers"


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("title = ", "cannot be read"),
        ('title = "A"', "the line `package = …` is missing"),
        ('package = "a"', "the line `title = …` is missing"),
        ('title = "A"\npackage = "a b"', "'a b' is no name of a Python package"),
        ('title = 3\npackage = "a"', "title should be text in quotes, not 3"),
        ('title = "A"\npackage = "a"\nlate = "10%"', "there is no setting 'late'.*below a line"),
        ('title = "A"\npackage = "a"\nbundle = "a"', "bundle should be a list"),
        ('title = "A"\npackage = "a"\nclass = 3', r"class should be a table \[class\]"),
    ],
)
def test_a_file_that_is_not_sound_is_refused_with_its_path(course, text, says):
    (course / "course.toml").write_text(text, encoding="utf-8")
    with pytest.raises(CourseError, match=rf"course\.toml.*{says}"):
        course_in(course)


def test_the_package_of_a_course_says_that_it_is_one():
    import small_course.checks.sums

    assert belongs(small_course.checks.sums.__name__)
    assert not belongs("selfcheck.exercises")
    assert course_in(SMALL).checks == "small_course.checks"
