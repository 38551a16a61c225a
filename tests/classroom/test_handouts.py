"""handouts.py: a lecture and its blank sheet as pages that lead to each other, and as PDFs."""

import contextlib
import shutil
from pathlib import Path

import nbformat.v4 as v4
import pytest
from bs4 import BeautifulSoup

from classroom import handouts, printing
from classroom.handouts import write_handouts
from classroom.notebooks import as_text, read
from classroom.paper import answers_to_the_end
from selfcheck.files import CourseError
from small_course.variants import sums
from tests.places import SMALL

LINKS = (
    "[sheet](../exercises/01_sums.ipynb), [start](00_start_here.ipynb), [far](https://example.org)"
)
QUESTION = """**Before you go on:** why?

<details><summary>Answer</summary>

Because of $x^2$.

</details>"""


@pytest.fixture
def lecture(tmp_path, small_course):
    """A lecture and its exercises, with links at head and foot, and a question."""
    root = shutil.copytree(SMALL, tmp_path / "course")
    path = root / "notebooks" / "01_sums.ipynb"
    notebook = read(path)
    notebook.cells[1].source += "\n\n" + LINKS
    notebook.cells.insert(-1, v4.new_markdown_cell(QUESTION, id="question"))
    path.write_text(as_text(notebook), encoding="utf-8")
    return path


def page(path):
    html = path.read_text(encoding="utf-8")
    return BeautifulSoup(html, "html.parser")


def test_lecture_and_sheet_lie_side_by_side_and_lead_to_each_other(lecture, tmp_path):
    written = list(write_handouts([lecture], tmp_path / "out", pdf=False))
    assert [path.name for path in written] == ["01_sums.html", "01_sums_exercises.html"]
    links = [{link["href"] for link in page(path).select("a")} for path in written]
    assert {"01_sums_exercises.html", "https://example.org"} <= links[0]
    assert links[1] == {"01_sums.html"}


def test_on_paper_there_is_no_previous_and_no_next_and_words_of_other_links_stay(lecture, tmp_path):
    first, _ = write_handouts([lecture], tmp_path / "out", pdf=False)
    words = page(first).main.get_text()
    assert "02 · Products" not in words
    assert "start" in words


def test_the_answers_of_a_lecture_are_at_its_end(lecture, tmp_path):
    first, _ = write_handouts([lecture], tmp_path / "out", pdf=False)
    main = page(first).main
    answers = main.find_all(recursive=False)[-1]
    assert answers.h2.get_text() == "Answers"
    assert "Because of" in answers.get_text()
    assert "Because" not in main.get_text().partition("Answers")[0]


@pytest.mark.parametrize("kind", ["answer", "output", "prediction"])
def test_whatever_a_reader_would_unfold_has_a_number_at_the_end(kind):
    fold = f'<details class="folded {kind}"><summary>Show it</summary><p>six</p></details>'
    text = f"<main><h2>How many?</h2>{fold}<p>On.</p><h2>Why?</h2>{fold}</main>"
    soup = BeautifulSoup(text, "html.parser")
    answers_to_the_end(soup)
    first, second = soup.select(".answers .answer-item")
    assert first.get_text("|") == "Answer 1| · How many?|six"
    assert second.h3.get_text() == "Answer 2 · Why?"
    assert "Show it" not in soup.get_text()
    assert [link["href"] for link in soup.select(".at-the-end a")] == [
        f"#{first['id']}", f"#{second['id']}",
    ]  # fmt: skip


def test_a_sheet_has_numbers_and_room_and_nothing_that_only_a_computer_needs(lecture, tmp_path):
    _, second = write_handouts([lecture], tmp_path / "out", pdf=False)
    main = page(second).main
    words = main.get_text()
    assert str(sums(0)) in words
    assert "id 0" in words
    assert len(main.select(".room")) == 4
    assert all("____" in room.get_text() for room in main.select(".room"))
    for word in ("import ", "check.", "scoreboard", "run the", "Your points", "student ="):
        assert word not in words


def test_code_with_blank_lines_is_whole_in_its_room(lecture, tmp_path):
    path = lecture.parent.parent / "solutions" / lecture.name
    notebook = read(path)
    answer = next(cell for cell in notebook.cells if cell.id == "answer-running-sums")
    answer.source += "\n\n\ndef more(n):\n    return 2 * n"
    path.write_text(as_text(notebook), encoding="utf-8")
    _, second = write_handouts([lecture], tmp_path / "out", pdf=False)
    (code,) = (pre for pre in page(second).select(".room pre") if "def more" in pre.get_text())
    assert "\n\n\ndef more(n):\n    " in code.get_text()


def test_a_lecture_without_a_sheet_is_handed_out_alone(lecture, tmp_path):
    (lecture.parent.parent / "solutions" / lecture.name).unlink()
    assert len(list(write_handouts([lecture], tmp_path / "out", pdf=False))) == 1


def test_every_page_is_printed(lecture, tmp_path, monkeypatch):
    monkeypatch.setattr(handouts, "chromium", lambda: "chromium")
    monkeypatch.setattr(handouts, "browser", contextlib.nullcontext)
    monkeypatch.setattr(handouts, "print_page", lambda chrome, html, target: target.touch())
    written = list(write_handouts([lecture], tmp_path / "out"))
    assert [p.name for p in written if p.suffix == ".pdf"] == [
        "01_sums.pdf",
        "01_sums_exercises.pdf",
    ]
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
