"""handouts.py: a lecture and its blank sheet as pages that lead to each other, and as PDFs."""

import contextlib
from pathlib import Path

import nbformat.v4 as v4
import pytest
from bs4 import BeautifulSoup

from classroom import handouts, printing
from classroom.handouts import write_handouts
from classroom.notebooks import as_text
from selfcheck.files import CourseError

TITLE = "# A\n\n[sheet](../exercises/01_a.ipynb), [lecture](../notebooks/01_a.ipynb), "
TITLE += "[start](../notebooks/00_start_here.ipynb), [far](https://example.org)"


@pytest.fixture
def lecture(tmp_path):
    """A lecture and its exercises, with links at head and foot."""
    cells = [
        v4.new_markdown_cell("[next](02_b.ipynb)", id="nav-head"),
        v4.new_markdown_cell(TITLE, id="title"),
        v4.new_code_cell("x = ____", id="code"),
        v4.new_markdown_cell("[next](02_b.ipynb)", id="nav-foot"),
    ]
    for folder in ("notebooks", "exercises"):
        (tmp_path / folder).mkdir()
        sheet = v4.new_notebook(cells=cells)
        (tmp_path / folder / "01_a.ipynb").write_text(as_text(sheet), encoding="utf-8")
    return tmp_path / "notebooks" / "01_a.ipynb"


def page(path):
    html = path.read_text(encoding="utf-8")
    return BeautifulSoup(html, "html.parser")


def test_lecture_and_sheet_lie_side_by_side_and_lead_to_each_other(lecture, tmp_path):
    written = list(write_handouts([lecture], tmp_path / "out", pdf=False))
    assert [path.name for path in written] == ["01_a.html", "01_a_exercises.html"]
    for path in written:
        links = {link.get_text(): link["href"] for link in page(path).select("a")}
        assert links == {
            "sheet": "01_a_exercises.html",
            "lecture": "01_a.html",
            "far": "https://example.org",
        }


def test_on_paper_there_is_no_previous_and_no_next_and_words_of_other_links_stay(lecture, tmp_path):
    first, _ = write_handouts([lecture], tmp_path / "out", pdf=False)
    words = page(first).main.get_text()
    assert "next" not in words
    assert "start" in words


def test_a_lecture_without_a_sheet_is_handed_out_alone(lecture, tmp_path):
    (tmp_path / "exercises" / "01_a.ipynb").unlink()
    assert len(list(write_handouts([lecture], tmp_path / "out", pdf=False))) == 1


def test_every_page_is_printed(lecture, tmp_path, monkeypatch):
    monkeypatch.setattr(handouts, "chromium", lambda: "chromium")
    monkeypatch.setattr(handouts, "browser", contextlib.nullcontext)
    monkeypatch.setattr(handouts, "print_page", lambda chrome, html, target: target.touch())
    written = list(write_handouts([lecture], tmp_path / "out"))
    assert [p.name for p in written if p.suffix == ".pdf"] == ["01_a.pdf", "01_a_exercises.pdf"]
    assert all(path.exists() for path in written)


def test_a_lecture_that_was_not_run_is_refused_and_nothing_is_written(tmp_path):
    path = tmp_path / "notebooks" / "01_a.ipynb"
    path.parent.mkdir()
    cells = [v4.new_markdown_cell("# A", id="title"), v4.new_code_cell("1", id="code")]
    path.write_text(as_text(v4.new_notebook(cells=cells)), encoding="utf-8")
    with pytest.raises(CourseError, match="cannot become a handout: saved without having been run"):
        list(write_handouts([path], tmp_path / "out"))
    assert not (tmp_path / "out").exists()


def test_a_machine_without_chromium_is_told_what_to_install_before_anything_is_written(
    lecture, tmp_path, monkeypatch
):
    monkeypatch.setenv("CHROMIUM", "no-such-browser")
    with pytest.raises(CourseError, match="apt install chromium"):
        list(write_handouts([lecture], tmp_path / "out"))
    assert not (tmp_path / "out").exists()


def test_chromium_is_the_one_that_is_named(monkeypatch, tmp_path):
    mine = tmp_path / "chrome"
    mine.touch(mode=0o755)
    monkeypatch.setenv("CHROMIUM", str(mine))
    assert Path(printing.chromium()) == mine
