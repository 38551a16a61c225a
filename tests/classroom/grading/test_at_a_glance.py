"""insights.py and the report's first part: every number of a class whose composition is known.

Forty students in two units. In unit 02, exercise 2.1 is worth 2 points and 2.2 is worth 1:

    students    0–9    10–19   20–29   30–39
    2.1         2      1, A    0, A    not attempted
    2.2         1      0, B    0, B    1

In unit 05 those whose own numbers have more zeros than those of half of the class fail in 5.1, and
every second student fails in 5.5.
"""

import csv
import io
import json
import random
import statistics
from dataclasses import replace

import pytest
from bs4 import BeautifulSoup

from classroom.grading import report
from classroom.grading.behavior import Item, Signature
from classroom.grading.class_numbers import ExerciseNumbers, by_unit
from classroom.grading.clusters import group
from classroom.grading.gradebook import NAME, Gradebook
from classroom.grading.insights import Insights, Together, _properties, at_least
from classroom.grading.outputs import write_outputs
from classroom.grading.records import Graded, Result, mark
from course_utils.units import UNITS
from course_utils.variants import two_heads
from selfcheck.units import titled
from tests.classroom.grading.classes import report_page, synthetic_class
from tests.classroom.grading.hostile import hostile

BIAS = titled("2.3", "bias")
TITLES = {unit.stem: unit.short_title for unit in UNITS}
NAMES = [f"Ada{k:02} Lovelace" for k in range(40)]
A, B = ({"name": name, "explanation": f"{name} is wrong."} for name in ("A", "B"))
FIRST = [("right", 2, ()), ("wrong", 1, (A,)), ("wrong", 0, (A,)), ("not attempted", 0, ())]
SECOND = [("right", 1, ()), ("wrong", 0, (B,)), ("wrong", 0, (B,)), ("right", 1, ())]
SIGNED = Signature("", (Item("factor", (2,), (1.0, 2.0)),), says="It should be 1.").as_dict()


def submissions():
    zeros = [_properties(two_heads, f"s{k}")["more zeros"] for k in range(40)]
    many = [count > statistics.median(zeros) for count in zeros]
    for k, name in enumerate(NAMES):
        pairs = (("2.1", "first", 2, FIRST), ("2.3", "bias", 1, SECOND))
        results = []
        for number, exercise, points, kinds in pairs:
            outcome, earned, known = kinds[k // 10]
            results.append(Result(number, exercise, outcome, earned, points, "s", tuple(known)))
        if k in (20, 21, 22):
            results[1] = replace(
                results[1], mistakes=(B,), signatures=(SIGNED,), answer=f"factor = 3  # {name}"
            )
        yield Graded(name, "02_momentum", "f", "d", results=tuple(results), seconds=0.1)
        projections, other = (0 if many[k] else 2), (0 if k % 2 else 2)
        results = [
            Result("5.1", "projections", "right" if projections else "wrong", projections, 2, "s"),
            Result("5.5", "other_keys", "right" if other else "wrong", other, 2, "s"),
        ]
        about = {"student_id": f"s{k}", "results": tuple(results), "seconds": 0.1}
        yield Graded(name, "05_two_heads", "f", "d", **about)


@pytest.fixture(scope="module")
def many_zeros():
    zeros = [_properties(two_heads, f"s{k}")["more zeros"] for k in range(40)]
    return sum(count > statistics.median(zeros) for count in zeros)


@pytest.fixture(scope="module")
def marks():
    everyone = list(submissions())
    random.Random(1).shuffle(everyone)
    return [mark(graded, ()) for graded in everyone]


@pytest.fixture(scope="module")
def families(marks):
    return group([m.graded for m in marks], {})


@pytest.fixture(scope="module")
def insights(marks):
    return Insights(tuple(by_unit(marks)))


@pytest.fixture(scope="module")
def soup(marks, families):
    return BeautifulSoup(report_page(marks, "", families), "html.parser")


def words(element):
    return " ".join(element.get_text(" ").split())


def between(soup, heading):
    """The elements between this heading and the next one."""
    start = soup.find(["h2", "h3"], string=heading)
    found = []
    for element in start.find_next_siblings():
        if element.name in ("h2", "h3"):
            break
        found.append(element)
    return found


# -- the numbers ----------------------------------------------------------------------------------


def test_difficulty_and_discrimination_are_those_of_the_composition(insights):
    first, second = insights.units[0].exercises
    assert (first.share, second.share) == (0.375, 0.5)
    assert first.states == {
        "right": 10, "partly right": 10, "wrong": 10, "could not be checked": 0, "not attempted": 10
    }  # fmt: skip
    assert first.discrimination == pytest.approx(0.125 / (0.6875**0.5 * 0.5))
    assert first.difficulty == "Hard: on average 38% of the points were earned."
    assert first.separation == "Who does well elsewhere does better here (correlation 0.30)."


def test_a_unit_is_taken_up_again_where_too_many_have_too_little(insights):
    unit = next(one for one in insights.again if one.unit == "02_momentum")
    assert unit.share == pytest.approx(5 / 12)
    assert (unit.students, unit.low, unit.is_due) == (40, 30, True)
    assert (unit.costly.name, unit.lost) == ("first", 1.25)
    assert unit.sentence.endswith("Most was lost in 2.1 first: 1.2 of 2 points.")


def test_mistakes_that_the_same_students_make_travel_together(insights):
    (pair,) = insights.together
    assert (pair.first_count, pair.second_count, pair.both, pair.by_chance) == (20, 20, 20, 10)
    assert pair.sentence == (
        "Of 20 who made the first, 20 made the second too; by chance it would be 10.0."
    )


def test_what_chance_brings_together_is_not_told():
    chance = random.Random(2)
    everyone = []
    for k in range(60):
        kinds = [chance.random() < 0.4 for _ in range(12)]
        results = tuple(
            Result(f"2.{n}", f"e{n}", "wrong", 0, 1, "s", ({"name": f"m{n}", "explanation": ""},))
            for n, made in enumerate(kinds, start=1)
            if made
        )
        everyone.append(mark(Graded(str(k), "02_momentum", "f", "d", results=results), ()))
    assert Insights(tuple(by_unit(everyone))).together == []


def test_the_tail_of_the_hypergeometric_distribution():
    assert at_least(0, 3, 4, 10) == 1
    assert at_least(3, 3, 4, 10) == pytest.approx(4 / 120)  # choose(4, 3) of choose(10, 3)
    assert Together("a", "b", 3, 4, 3, 10).chance == pytest.approx(4 / 120)


def test_numbers_that_made_an_exercise_harder_are_told_and_others_are_not(insights, many_zeros):
    unfair, fair = insights.fairness
    assert (unfair.name, unfair.trait, unfair.is_unfair) == ("projections", "more zeros", True)
    assert (unfair.more.students, unfair.more.solved) == (many_zeros, 0)
    assert (unfair.fewer.students, unfair.fewer.solved) == (40 - many_zeros, 40 - many_zeros)
    assert unfair.sentence == (
        f"More zeros made it harder: 0% of the {many_zeros} students with more zeros have all "
        f"points, and 100% of the {40 - many_zeros} others."
    )
    assert (fair.name, fair.is_unfair) == ("other_keys", False)


@pytest.mark.parametrize(
    ("students", "number", "says", "in_words"),
    [
        (14, -0.01, "too small to show", "cannot be told"),
        (14, -0.3, "too small to show", "cannot be told"),
        (14, -0.5, "hardly better", "weak"),
        (14, -0.6, "does worse here", "inverse: look at the question"),
        (400, 0.05, "hardly better", "weak"),
        (400, -0.15, "does worse here", "inverse: look at the question"),
        (14, 0.3, "does better here", "fair"),
    ],
)
def test_what_a_small_class_may_show_by_chance_is_no_doubt(students, number, says, in_words):
    exercise = ExerciseNumbers("2.1", "first", 2, 0.5, {"right": students}, number)
    assert says in exercise.separation
    assert exercise.discrimination_in_words == in_words
    assert exercise.is_doubtful is (in_words not in ("cannot be told", "fair"))


# -- the page -------------------------------------------------------------------------------------


def test_the_heat_map_has_every_student_and_every_point(soup):
    table = soup.find("table", class_="heat")
    heads = [words(head) for head in table.thead.find_all("th")]
    assert heads == ["Student", "Total", "2.1", "2.3", "5.1", "5.5"]
    rows = {words(row.th): [words(cell) for cell in row.find_all("td")] for row in
            table.tbody.find_all("tr")}  # fmt: skip
    assert len(rows) == 40
    for graded in submissions():
        earned = [str(result.earned) for result in graded.results]
        place = slice(1, 3) if graded.unit == "02_momentum" else slice(3, 5)
        assert rows[graded.student][place] == earned
    assert all(int(row[0]) == sum(map(int, row[1:])) for row in rows.values())
    totals = [int(row[0]) for row in rows.values()]
    assert totals == sorted(totals, reverse=True)
    first = [cell["class"][0] for cell in table.tbody.select("tr td:nth-of-type(2)")]
    assert {warm: first.count(warm) for warm in first} == {"c4": 10, "c2": 10, "c0": 20}


def test_the_page_says_what_the_numbers_say(soup, insights, many_zeros):
    again = [words(li) for li in between(soup, "Which units to take up again")[1].find_all("li")]
    assert again[0].startswith("Take up again: 02 · Momentum")
    assert "On average 42% of the points; 30 of 40" in again[0]
    summary = words(soup.select_one("p.summary"))
    assert summary.startswith("40 students, ")
    assert "Most points were lost in 2.1 first (" in summary
    assert len(again) == 2
    together = " ".join(map(words, between(soup, "Which mistakes travel together")))
    assert f"2.1 first “A” and {BIAS} “B”. Of 20 who made the first, 20 made the second" in together
    fairness = " ".join(map(words, between(soup, "Did some numbers make an exercise harder?")))
    assert (
        f"{titled('5.1', 'projections')}. More zeros made it harder: 0% of the {many_zeros}"
        in fairness
    )
    bars = soup.select("svg")[0]
    assert [words(text) for text in bars.find_all("text")] == [
        label for one in insights.again for label in (TITLES[one.unit], f"{one.share:.0%}")
    ] + ["60%"]


def test_a_family_is_shown_with_its_size_an_example_and_the_counterexample(soup):
    (family,) = soup.select(".family")
    assert words(family.h4) == f"{BIAS}: 3 students (8 %)"
    assert words(family.pre).startswith("factor = 3 # Ada20 Lovelace")
    assert "It should be 1." in words(family)


def test_the_numbers_of_the_first_unit_are_those_of_the_composition(soup):
    mistakes = between(soup, "Which mistakes the class makes")[0].select("tbody tr")
    assert [words(row).split(" is wrong")[0] for row in mistakes] == [
        "A 2.1 first 20 (50 %) A", f"B {BIAS} 20 (50 %) B"
    ]  # fmt: skip
    spread = between(soup, "How the points are spread")[1].select("tbody tr")
    assert [words(row) for row in spread] == ["0 10", "1 20", "2 0", "3 10"]
    chart = between(soup, "How the points are spread")[0]
    assert [words(t) for t in chart.find_all("text")] == [
        "0", "10", "1", "20", "2", "3", "10", "points of 3; the median is 1"
    ]  # fmt: skip
    exercises = between(soup, "Exercise by exercise")
    rows = [words(row) for row in exercises[-2].select("tbody tr")]
    assert rows == [
        "2.1 first 2 38 % 10 10 10 0 10 0.30, fair",
        f"{BIAS} 1 50 % 20 0 20 0 0 0.30, fair",
    ]
    labels = [words(t) for t in exercises[0].find_all("text")]
    assert labels[:6] == ["2.1 first, 38%", "10", "10", "10", "10", f"{BIAS}, 50%"]
    dots = [words(t) for t in exercises[2].find_all("text")]
    assert dots[-4:] == ["2.1 first", "0.3", BIAS, "0.3"]


def test_the_data_beside_the_page_hold_the_same_numbers(marks, families, insights):
    data = json.loads("".join(report.as_json(report.as_data(marks, families))))
    assert data["heat map"]["exercises"] == ["2.1 first", "2.3 bias", "5.1 projections",
                                            "5.5 other_keys"]  # fmt: skip
    assert sum(row["total"] for row in data["heat map"]["students"]) == sum(m.earned for m in marks)
    assert data["mistakes together"][0]["made both"] == 20
    assert data["fairness"][0]["unfair"] is True
    assert [u["mistakes without a name"] for u in data["exercises"]] == [
        [{"exercise": "2.3 bias", "family": families[0].name, "students": 3, "misses": ""}], []
    ]  # fmt: skip
    rows = list(csv.DictReader(io.StringIO(report.as_csv(data).removeprefix("\ufeff"))))
    assert [(row["number"], row["share"], row["right"]) for row in rows[:2]] == [
        ("2.1", "0.375", "10"), ("2.3", "0.5", "20")
    ]  # fmt: skip
    assert rows[1]["most common known mistake"] == "B (20)"
    assert rows[1]["without a name"] == "3"


# -- without names --------------------------------------------------------------------------------


def test_an_anonymous_report_names_nobody_and_has_the_same_numbers(marks, families):
    page = report_page(marks, "", families, secret="x")
    data = "".join(report.as_json(report.as_data(report.anonymized(marks, "x"), families)))
    for text in (page, data):
        assert "Ada" not in text
        assert "Lovelace" not in text
        assert "feedback/" not in text
    soup = BeautifulSoup(page, "html.parser")
    rows = soup.select("table.heat tbody tr")
    assert {words(row.th) for row in rows} == {f"Student {k:02}" for k in range(1, 41)}
    named = BeautifulSoup(report_page(marks, "", families), "html.parser")
    totals = [[words(r.find("td")) for r in s.select("table.heat tbody tr")]
              for s in (soup, named)]  # fmt: skip
    assert totals[0] == totals[1]


def test_the_order_of_the_new_names_says_nothing(marks):
    names = {
        m.graded.student: n.graded.student
        for m, n in zip(marks, report.anonymized(marks, "x"), strict=True)
    }
    order = [names[student] for student in NAMES]
    assert order != sorted(order)
    assert len(set(order)) == 40
    other = report.anonymized(marks, "y")
    assert [m.graded.student for m in other] != [names[m.graded.student] for m in marks]


def test_code_with_names_or_texts_in_it_is_not_shown(marks, families):
    soup = BeautifulSoup(report_page(marks, "", families, secret="x"), "html.parser")
    (family,) = soup.select(".family")
    assert words(family.pre) == "factor = 3"  # the comment held a name
    assert report._without_names("x = 'ada'", ["bob"]) == ""
    assert report._without_names("ada_02 = 1", ["Ada Lovelace"]) == ""
    assert report._without_names("x = (", []) == ""


def test_it_is_a_file_of_its_own(tmp_path):
    with Gradebook(tmp_path / NAME) as book:
        for graded in submissions():
            book.save(graded)
    written = write_outputs(tmp_path, anonymous=True)
    assert [path.name for path in written] == [
        "report_anonymous.html", "report_anonymous.json", "report_anonymous.csv"
    ]  # fmt: skip


def test_a_hostile_answer_in_a_family_is_text():
    bad = hostile(unit="02_momentum")
    result = replace(bad.results[0], name="bias", number="2.3", outcome="wrong",
                     signatures=({**SIGNED, "says": "<script>alert(1)</script>"},))  # fmt: skip
    everyone = [replace(bad, student=f"{bad.student}{k}", results=(result,)) for k in range(2)]
    found = group(everyone, {})
    assert len(found) == 1
    soup = BeautifulSoup(report_page([mark(g, ()) for g in everyone], "", found), "html.parser")
    assert [script.string for script in soup.select("script")] == [report.SCRIPT]
    assert soup.select("iframe, img, [onerror]") == []
    assert "<script>alert(1)</script>" in words(soup.select_one(".family"))


def test_a_large_class_in_all_units_is_drawn(in_small_course):
    everyone = [g for unit in ("01_sums", "02_products") for g in synthetic_class(unit, 30)]
    page = report_page([mark(graded, ()) for graded in everyone])
    assert len(BeautifulSoup(page, "html.parser").select("h2")) == 3
