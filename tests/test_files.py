"""files.py: files are written wholly or not at all."""

import os

import pytest

from selfcheck.files import write_whole


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
