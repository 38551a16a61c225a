"""feedback.py: a page a student that says all, runs nothing, and lies where it is safe."""

import re
from dataclasses import replace

import pytest
from bs4 import BeautifulSoup

from classroom.grading import student_pages
from classroom.grading.asked import Solutions
from classroom.grading.records import Graded, Override, mark
from classroom.grading.student_pages import file_name, page, page_path
from selfcheck.course import current
from tests.classroom.grading.classes import result_of
from tests.classroom.grading.hostile import NAMES, hostile
from tests.places import SMALL

pytestmark = pytest.mark.usefixtures("small_course")

UNIT = "01_sums"
KINDS = {
    "own_sums": "the last number left out",
    "running_sums": "right",
    "even_sum": "blank",
    "square_sum": "nonsense",
}


@pytest.fixture(scope="module")
def graded(small_course):
    results = tuple(result_of(UNIT, name, kind) for name, kind in KINDS.items())
    notes = ("check-even-sum was missing; it was put back.",)
    return Graded("Ada", UNIT, "Ada/01_sums.ipynb", "d", results=results, notes=notes)


def soup_of(graded, overrides=()):
    return BeautifulSoup(page(mark(graded, overrides)), "html.parser")


def test_a_page_shows_answer_verdict_explanation_points_and_total(graded):
    soup = soup_of(graded)
    text = " ".join(soup.main.get_text().split())
    assert "Ada: 3 of 9 points" in text
    assert "1.3 Own sums: 0 of 2 points" in text
    assert "✗ Wrong" in text
    assert "Known mistake: the last number left out." in text
    assert graded.results[0].explanation[:20] in text
    assert "student, total, mean = 0, 6, ____" in text
    assert "✓ Right" in text
    assert "○ Not attempted" in text
    assert "? Could not be checked" in text
    assert "check-even-sum was missing; it was put back." in text
    assert soup.select_one(".highlight .k").get_text() == "def"  # in color


@pytest.mark.parametrize(
    ("by_hand", "says"),
    [
        ((), "It is 24 hours late."),
        (
            ("It is marked as late, and not how late: it counts as one day.",),
            "It is marked as late, which counts as one day.",
        ),
    ],
)
def test_a_page_says_how_late_it_is_as_far_as_that_is_known(graded, by_hand, says):
    assert says in soup_of(replace(graded, late=1.0, by_hand=by_hand)).main.get_text()


def test_a_page_shows_what_was_asked_and_what_to_read_again(graded):
    solutions = Solutions(SMALL)
    texts = {"asks": solutions.questions(UNIT), "sections": solutions.sections(UNIT)}
    assert texts["asks"]["even_sum"].startswith("Find the sum of the first $n$ even numbers")
    assert texts["sections"] == {"even_sum": "section 1, “Two rows of numbers”"}
    text = BeautifulSoup(page(mark(graded, ()), texts), "html.parser").main.get_text()
    assert "Write a function running(x)" in text
    assert "To read again: section 1, “Two rows of numbers”, of the lecture “Sums" in text
    assert text.count("To read again: the lecture “Sums: forward and backward”") == 2


def test_a_question_has_its_formulas_set_and_its_words_as_they_are_meant(graded):
    asks = {"even_sum": "Let $\\beta_t^2$ be **small**, *or* `a_b*c`.\n\n$$x = 1$$\n\n- <b>one</b>"}
    main = BeautifulSoup(page(mark(graded, ()), {"asks": asks}), "html.parser").main
    question = main.select("p.question")
    assert [p.get_text() for p in question][2] == "• <b>one</b>"
    assert question[0].math
    assert question[0].strong.get_text() == "small"
    assert question[0].em.get_text() == "or"
    assert question[0].code.get_text() == "a_b*c"
    assert "$" not in "".join(p.get_text() for p in question)


def test_where_the_site_is_known_the_section_is_a_link(graded, monkeypatch):
    site = replace(current(), address="https://example.org/sums/")
    monkeypatch.setattr(student_pages, "current", lambda: site)
    texts = {"sections": {"even_sum": "section 1, “Two rows of numbers”"}}
    links = BeautifulSoup(page(mark(graded, ()), texts), "html.parser").main.select("p.soft a")
    lecture = "https://example.org/sums/notebooks/01_sums.html"
    assert {a["href"] for a in links} == {lecture, f"{lecture}#1-Two-rows-of-numbers"}


def test_an_override_stands_on_the_page_with_its_reason(graded):
    given = Override("Ada", UNIT, "even_sum", 1, "You said it in class.", "2026-01-01T00:00:00")
    text = " ".join(soup_of(graded, [given]).main.get_text().split())
    assert "Ada: 4 of 9 points" in text
    assert "1.1 Even sum: 1 of 2 points" in text
    assert "Points given by hand: 1 of 2. You said it in class." in text


def test_a_submission_that_could_not_be_graded_is_told_why_and_shows_points_given_by_hand(graded):
    broken = replace(graded, problem="The file is empty.")
    soup = soup_of(broken)
    assert "could not be graded" in soup.h2.get_text()
    assert "The file is empty." in soup.main.get_text()
    assert "Own sums" not in soup.main.get_text()
    given = Override("Ada", UNIT, "even_sum", 1, "You said it in class.", "2026-01-01T00:00:00")
    assert "1.1 Even sum: 1 of 2 points" in soup_of(broken, [given]).main.get_text()


def test_a_page_has_a_language_a_title_and_headings_without_a_gap(graded):
    soup = soup_of(graded)
    assert soup.html["lang"] == "en"
    assert soup.title.get_text() == "Feedback on 01 · Sums for Ada"
    assert [h.name for h in soup.select("h1, h2, h3")] == ["h1"] + ["h2"] * 5


def test_whatever_a_student_wrote_is_text_and_nothing_else():
    text = page(mark(hostile(), ()))
    text.encode()
    soup = BeautifulSoup(text, "html.parser")
    assert soup.select("script, img, iframe, object, [onerror], [src]") == []
    assert [link["href"] for link in soup.select("link")] == ["data:,"]
    assert {link["href"][0] for link in soup.select("a")} == {"#"}
    assert "default-src 'none'" in soup.select_one("meta[http-equiv]")["content"]
    assert not re.search("[\u202a-\u202e\x00\x1b]", text)
    assert "⟨U+202E⟩right" in soup.main.get_text()
    assert "more characters)" in soup.main.get_text()  # 30,000 characters are not all shown


def test_a_page_of_the_same_submission_is_the_same_page(graded):
    assert page(mark(graded, ())) == page(mark(graded, ()))


# -- names ----------------------------------------------------------------------------------------


def test_a_plain_name_stays_and_another_stays_readable():
    assert file_name("ada_lovelace-7") == "ada_lovelace-7"
    assert re.fullmatch(r"Ada_Lovelace~[0-9a-f]{12}", file_name("Ada Lovelace"))
    assert re.fullmatch(r"李明~[0-9a-f]{12}", file_name("李明"))


def test_every_name_leads_to_a_file_of_its_own_in_the_folder_also_where_case_does_not_count():
    names = [file_name(student) for student in NAMES]
    assert len({name.casefold() for name in names}) == len(NAMES)
    for name in names:
        assert re.fullmatch(r"[\w~-]+", name)
        assert len(name.encode()) < 200
        assert not re.fullmatch(r"(?i)con|nul", name)


def test_nobody_can_choose_a_name_that_leads_to_anothers_page():
    theirs = file_name("Ada Lovelace")
    assert file_name(theirs) != theirs


def test_pages_lie_by_unit(graded):
    assert str(page_path(mark(graded, ()))).startswith("feedback/01_sums/Ada~")
