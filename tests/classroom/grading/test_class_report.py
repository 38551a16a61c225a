"""report.py and outputs.py: what an instructor gets, for a class of any size."""

import base64
import hashlib
import re
import statistics
from dataclasses import replace
from itertools import pairwise

import pytest
from bs4 import BeautifulSoup

from classroom.grading import charts, report
from classroom.grading.class_numbers import UnitNumbers, by_unit, correlation
from classroom.grading.gradebook import NAME, Gradebook
from classroom.grading.outputs import write_outputs
from classroom.grading.records import NO_RULE, Graded, Override, Result, mark
from classroom.grading.settings import LateRule
from selfcheck.files import CourseError
from selfcheck.units import beyond, titled
from tests.classroom.grading.classes import report_page, synthetic_class
from tests.classroom.grading.hostile import NAMES, hostile

pytestmark = pytest.mark.usefixtures("small_course")

UNIT = "01_sums"


@pytest.fixture(scope="module")
def students(small_course):
    return synthetic_class(UNIT, size=120, seed=1)


@pytest.fixture(scope="module")
def soup(students):
    return BeautifulSoup(report_page([mark(g, ()) for g in students]), "html.parser")


def numbers_of(students, overrides=()):
    (unit,) = by_unit([mark(g, overrides) for g in students])
    return unit


def rows_under(soup, heading):
    """The rows of the first table after this heading, as lists of texts."""
    table = soup.find("h3", string=heading).find_next("table")
    rows = table.select("tbody tr")
    return [[" ".join(c.get_text(" ").split()) for c in row.find_all(["th", "td"])] for row in rows]


def solved(pattern, student="s"):
    """A submission with these points of 1 each."""
    results = tuple(
        Result(f"1.{n}", f"e{n}", "right" if p else "wrong", p, 1, "", seconds=0.1)
        for n, p in enumerate(pattern, start=1)
    )
    return Graded(student, UNIT, "f", "d", results=results)


# -- numbers --------------------------------------------------------------------------------------


def test_totals_and_shares_are_those_of_the_graded_submissions(students):
    unit = numbers_of(students)
    graded = [g for g in students if not g.problem]
    assert 0 < len(graded) < len(students)
    assert unit.median == statistics.median(g.earned for g in graded)
    assert unit.points == 9
    first = unit.exercises[0]
    earned = [g.results[0].earned for g in graded]
    assert first.share == pytest.approx(sum(earned) / (2 * len(graded)))
    assert sum(first.states.values()) == len(graded)


def test_mistakes_are_counted_and_the_most_frequent_comes_first(students):
    unit = numbers_of(students)
    counts = [mistake.count for mistake in unit.mistakes]
    assert counts == sorted(counts, reverse=True)
    first = unit.mistakes[0]
    made = [r for g in students for r in g.results if r.misconception == first.name]
    assert first.count == sum(f"{r.number} {r.name}" == first.exercise for r in made)
    assert first.share == first.count / len(unit.graded)
    assert first.explanation == made[0].explanation


def test_overrides_count():
    given = Override("s", UNIT, "e2", 1, "why", "2026-01-01T00:00:00")
    unit = numbers_of([solved([1, 0])], [given])
    assert unit.totals == [2]
    assert unit.exercises[1].share == 1


def test_an_exercise_that_goes_with_the_rest_discriminates_well_and_one_against_it_inversely():
    good, poor = solved([1, 1, 1, 0]), solved([0, 0, 0, 1])
    unit = numbers_of([replace(g, student=str(n)) for n, g in enumerate([good, poor] * 6)])
    assert unit.exercises[0].discrimination == pytest.approx(1)
    assert unit.exercises[0].discrimination_in_words == "good"
    assert unit.exercises[3].discrimination == pytest.approx(-1)
    assert unit.exercises[3].discrimination_in_words.startswith("inverse")


def test_being_late_says_nothing_about_an_exercise():
    half = LateRule.read("50%")
    late = [replace(solved([1, 1, 1, 0] if n % 2 else [0, 0, 0, 1]), late=9.0) for n in range(12)]
    unit = UnitNumbers(UNIT, tuple(mark(g, (), half) for g in late))
    assert unit.exercises[0].discrimination == pytest.approx(1)


def test_the_line_on_top_tells_of_every_class(small_course):
    def top(*students, rule=NO_RULE):
        soup = BeautifulSoup(report_page([mark(g, (), rule) for g in students]), "html.parser")
        return soup.h1.find_next("p").get_text(), soup.get_text()

    broken = replace(solved([0, 0]), results=(), problem="It is no notebook.")
    assert top(broken)[0] == "Of 1 submission none could be graded."
    line, page = top(solved([1, 1]))
    assert line == "1 student, 100% of the points on average."
    assert "Nobody lost a point in an exercise." in page
    assert "hardest" not in page
    late = replace(solved([1, 1]), late=2.0)
    line, _ = top(late, rule=LateRule.read("50%"))
    assert line == "1 student, 50% of the points on average; 50% were lost for being late."
    line, page = top(solved([0, 1]), replace(broken, student="t"))
    assert line == (
        "1 student, 50% of the points on average. Most points were lost in 1.1 e1 (0% earned). "
        "1 submission could not be graded."
    )
    assert "; 0 of 1 student has less than half of them." in page
    most = numbers_of([solved([0, 1]), replace(solved([0, 0]), student="t")]).exercises
    assert [exercise.lost for exercise in most] == [2, 1]


LONG = "A very long title of an exercise that somebody has written, with commas, and more of it"


@pytest.mark.parametrize("name", [LONG, "题目" * 40, "short", "x" * 100])
def test_every_letter_of_a_picture_lies_within_it(name):
    states = ["right", "partly right", "wrong", "could not be checked", "not attempted"]
    for picture in (
        charts.stacked([(name, [1, 2, 3, 4, 5]), ("b", [1, 0, 0, 0, 0])], states, ""),
        charts.shares([(name, 0.5, "50%"), ("b", 1.0, "100%")], "", 0.6),
        charts.scales([(name, 0.3), ("b", None)], 0.2, ""),
    ):
        soup = BeautifulSoup(picture, "html.parser")
        wide, high = (float(n) for n in soup.svg["viewbox"].split()[2:])
        for text in soup.find_all("text"):
            x, y = float(text["x"]), float(text["y"])
            room = charts.LETTER * charts.letters(text.string)
            start = {"end": x - room, "middle": x - room / 2}.get(" ".join(text["class"][:1]), x)
            assert start >= 0
            assert start + room <= wide
            assert 0 < y < high
        said = "".join(text.string for text in soup.find_all("text"))
        assert name.replace(" ", "") in said.replace(" ", "")


def test_where_nothing_varies_or_few_took_part_no_correlation_is_claimed():
    assert correlation([1] * 20, range(20)) is None
    assert correlation(range(20), [3] * 20) is None
    assert correlation(range(5), range(5)) is None
    unit = numbers_of([solved([1, 0])] * 20)
    assert unit.exercises[0].discrimination_in_words == "cannot be told"


def test_the_gravest_come_first_among_those_to_look_at():
    odd = replace(solved([1], "a"), alike=("the file is that of b",))
    asked = replace(solved([1], "b"), by_hand=("the process was killed",))
    broken = Graded("c", UNIT, "f", "d", problem="no JSON")
    unit = numbers_of([odd, asked, broken, solved([1], "d")])
    assert [m.graded.student for m in unit.to_look_at] == ["c", "b", "a"]


# -- the page -------------------------------------------------------------------------------------


def test_the_findings_stand_at_the_top(soup, students):
    findings = [li.get_text() for li in soup.select(".findings li")]
    unit = numbers_of(students)
    assert findings[0].startswith(f"Half of the class has {unit.median:g} of 9 points or more")
    assert re.fullmatch(
        r"On the page the class earned \d+% of the points, beyond it \d+%\.", findings[1]
    )
    assert findings[2].startswith("The hardest exercise is ")
    assert titled(*unit.mistakes[0].exercise.split()) in findings[3]
    assert findings[-1] == f"{len(unit.to_look_at)} submissions to look at by hand."


def test_every_picture_has_words_and_a_table_with_the_same_numbers(soup, students):
    unit = numbers_of(students)
    pictures = soup.select("svg")
    assert len(pictures) == 4
    assert all(len(p["aria-label"]) > 60 and p["role"] == "img" for p in pictures)
    assert soup.select("img") == []
    spread = rows_under(soup, "How the points are spread")
    assert sum(int(count) for _, count in spread) == len(unit.graded)
    exercises = rows_under(soup, "Exercise by exercise")
    apart = beyond(UNIT)
    assert [row[0] for row in exercises] == [
        titled(e.number, e.name) + " (beyond the page)" * (e.name in apart) for e in unit.exercises
    ]
    assert [int(row[3]) for row in exercises] == [e.states["right"] for e in unit.exercises]
    assert [int(row[-2]) for row in exercises] == [
        e.states["not attempted"] for e in unit.exercises
    ]


def test_the_mistakes_are_listed_with_counts_and_explanations(soup, students):
    first = numbers_of(students).mistakes[0]
    row = rows_under(soup, "Which mistakes the class makes")[0]
    assert row[1:3] == [
        titled(*first.exercise.split()),
        f"{first.count} ({100 * first.share:.0f} %)",
    ]


def test_who_needs_a_look_is_named_with_the_reason_and_a_link_to_the_page(soup, students):
    broken = next(g for g in students if g.problem)
    rows = rows_under(soup, "Who needs a look by hand")
    assert [broken.student, broken.problem] in rows
    table = soup.find("h3", string="Who needs a look by hand").find_next("table")
    assert table.a["href"].startswith("feedback/01_sums/")


def test_headings_have_no_gap_and_the_page_needs_nothing(soup):
    levels = [int(h.name[1]) for h in soup.select("h1, h2, h3, h4")]
    assert levels[:3] == [1, 2, 3]
    assert all(b - a <= 1 for a, b in pairwise(levels))
    assert soup.html["lang"] == "en"
    (script,) = soup.select("script")
    policy = soup.find("meta", attrs={"http-equiv": True})["content"]
    digest = base64.b64encode(hashlib.sha256(script.string.encode()).digest()).decode()
    assert policy.endswith(f"; script-src 'sha256-{digest}'")


def test_a_large_class_fits_on_the_page():
    base = synthetic_class(UNIT, size=50, seed=2)
    odd = [
        replace(g, student=f"{g.student} {n}", by_hand=("odd",)) for n in range(20) for g in base
    ]
    text = report_page([mark(g, ()) for g in odd])
    soup = BeautifulSoup(text, "html.parser")
    assert "1000 submissions" in soup.find("h2", id=UNIT).get_text()
    assert len(rows_under(soup, "Who needs a look by hand")) == report.NAMES_SHOWN
    assert "And 960 more: see the column “look by hand” of grades.csv." in soup.get_text()
    assert len(soup.select("table.heat tbody tr")) == 20 * sum(not g.problem for g in base)
    assert len(text) < 700_000


def test_a_class_of_none_of_one_and_of_broken_ones_has_a_report():
    assert "No submission has been graded yet." in report_page([])
    one = BeautifulSoup(report_page([mark(solved([1, 0], "ada"), ())]), "html.parser")
    (row,) = one.select("table.heat tbody tr")
    assert [cell.get_text() for cell in row.find_all(["th", "td"])] == ["ada", "1", "1", "0"]
    assert "cannot be told" in one.get_text()
    assert "Half of the class" not in one.get_text()
    broken = report_page([mark(Graded("ada", UNIT, "f", "d", problem="no JSON"), ())])
    assert "Nothing could be graded." in broken


def test_a_reason_to_look_has_the_title_and_is_short():
    array = "np.array([1, 2])"
    says = f"1.1 even_sum: It could not be checked: f({array}, {array}) raised NameError: no. "
    said = report._look(f"{says}It stopped at `x`, in `y`.")
    title = titled("1.1", "even_sum")
    assert said == f"{title}: It could not be checked: f(…) raised NameError: no."
    assert report._look("It is late: by a day.") == "It is late: by a day."
    assert len(report._look("1.1 even_sum: " + "a" * 999)) < 260


def test_whatever_a_student_wrote_is_text_in_the_report_too():
    soup = BeautifulSoup(report_page([mark(hostile(), ())]), "html.parser")
    assert soup.select("iframe, img, [onerror]") == []
    assert [script.string for script in soup.select("script")] == [report.SCRIPT]
    assert "\u202e" not in soup.get_text()


# -- files ----------------------------------------------------------------------------------------


@pytest.fixture
def folder(tmp_path):
    with Gradebook(tmp_path / NAME) as book:
        for student in ("ada", "bob"):
            book.save(solved([1, 0], student))
        book.save(replace(solved([1]), student="ada", unit="02_products"))
    return tmp_path


def test_everything_is_written_from_the_gradebook_alone(folder):
    names = {str(path.relative_to(folder)) for path in write_outputs(folder)}
    assert names == {
        "grades.csv", "junit.xml", "report.html", "report.json", "report.csv",
        "canvas_01_sums.csv", "moodle_01_sums.csv",
        "canvas_02_products.csv", "moodle_02_products.csv",
        "feedback/01_sums/ada.html", "feedback/01_sums/bob.html",
        "feedback/02_products/ada.html",
    }  # fmt: skip


def test_only_what_changed_is_written_again(folder):
    write_outputs(folder)
    assert write_outputs(folder) == []
    with Gradebook(folder / NAME) as book:
        book.override("bob", UNIT, "e2", 1, "see our talk")
    changed = {str(path.relative_to(folder)) for path in write_outputs(folder)}
    assert "feedback/01_sums/bob.html" in changed
    assert "feedback/01_sums/ada.html" not in changed
    assert "canvas_02_products.csv" not in changed


def test_a_file_that_somebody_changed_or_removed_is_written_again(folder):
    write_outputs(folder)
    (folder / "grades.csv").write_text("mine", encoding="utf-8")
    (folder / "feedback" / "01_sums" / "ada.html").unlink()
    assert {path.name for path in write_outputs(folder)} == {"grades.csv", "ada.html"}
    assert write_outputs(folder) == []


def test_each_file_is_told_also_when_nothing_has_changed(folder):
    first, again = [], []
    write_outputs(folder, tell=first.append)
    write_outputs(folder, tell=again.append)
    assert again == first


def test_one_unit_alone_can_be_written_and_each_file_is_told(folder):
    told = []
    names = [path.name for path in write_outputs(folder, "1", tell=told.append)]
    assert "canvas_02_products.csv" not in names
    assert [path.name for path in told] == names
    with pytest.raises(CourseError, match="no grades of a unit '9'"):
        write_outputs(folder, "9")


def test_no_name_leads_out_of_the_folder(tmp_path):
    folder = tmp_path / "a" / "grades"
    with Gradebook(folder / NAME) as book:
        for student in NAMES:
            book.save(solved([1, 0], student))
    pages = [path for path in write_outputs(folder) if path.parent.name == UNIT]
    assert len(pages) == len(NAMES)
    assert {path.resolve().parent for path in pages} == {folder / "feedback" / UNIT}
    assert [path.name for path in tmp_path.iterdir()] == ["a"]
