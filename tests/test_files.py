"""files.py: the course folder is found, and files are written wholly or not at all."""

import os

import pytest

from course_utils import files
from course_utils.files import CourseError, course_root, write_whole


@pytest.fixture
def course(tmp_path):
    (tmp_path / "course_utils").mkdir()
    (tmp_path / "bootstrap.py").touch()
    (tmp_path / "notebooks").mkdir()
    return tmp_path


def test_the_course_folder_is_the_one_we_are_in(course, monkeypatch):
    monkeypatch.chdir(course / "notebooks")
    assert course_root() == course


def test_from_elsewhere_it_is_the_one_the_package_lies_in(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert (course_root() / "course_utils" / "files.py").samefile(files.__file__)


def test_outside_of_any_course_folder_one_is_told_so(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(files, "__file__", str(tmp_path / "site-packages/course_utils/files.py"))
    with pytest.raises(CourseError, match="not inside the course folder"):
        course_root()


@pytest.mark.parametrize("data", ["größer\n", b"\x00\xff"])
def test_text_and_bytes_arrive_as_they_are(tmp_path, data):
    path = tmp_path / "new" / "file"
    write_whole(path, data)
    assert path.read_bytes() == (data.encode() if isinstance(data, str) else data)


def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    path = tmp_path / "file"
    write_whole(path, "old")

    def full(descriptor):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        write_whole(path, "new")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]
