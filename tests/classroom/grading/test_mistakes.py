"""drafts.py: a wrong answer that a class shares is found, drafted, named, and explained to each."""

import ast
import json
import random
import re
import shutil

import numpy as np
import pytest

from classroom.grading import drafts, fingerprint
from classroom.grading.behavior import refer, sign, unnamed
from classroom.grading.clusters import families_of, keep_families
from classroom.grading.drafts import draft, write_drafts
from classroom.grading.gradebook import NAME, Gradebook
from classroom.grading.records import Graded, Result
from selfcheck import mistakes_from_prose
from selfcheck.blanks import ____
from selfcheck.files import CourseError
from selfcheck.prose import read_prose
from selfcheck.units import declared
from small_course.checks import sums as check
from tests.classroom.grading.classes import synthetic_class
from tests.places import SMALL

pytestmark = pytest.mark.usefixtures("small_course")

UNIT = "01_sums"
SIZE, PLANTED = 300, 37
FORMS = ["n*(n**2 + n)", "n^3 + n²", "n**2*(n + 1)", "(n + 1)·n·n"]


def judged(exercise, *answers, source="", called=""):
    """What the judge keeps of an answer, with the seed that the exercise has now."""
    feedback = exercise(*answers)
    signed = tuple(sign(exercise, feedback, p, 4711).as_dict() for p in unnamed(feedback))
    return Result(**feedback.as_dict(), answer=source, signatures=signed, called=called)


@pytest.fixture
def grades(tmp_path):
    """A class of 300, in which 37 make one mistake that has no name, each in their own way."""
    chance = random.Random(1)
    members = chance.sample(range(SIZE), PLANTED)
    with Gradebook(tmp_path / NAME) as book:
        for number, graded in enumerate(synthetic_class(UNIT, SIZE, seed=3)):
            results = {result.name: result for result in graded.results}
            if number in members:
                form = FORMS[number % len(FORMS)]
                results["even_sum"] = judged(check.even_sum, form, source=f"total = {form!r}")
            elif results and "even_sum" in results and results["even_sum"].signatures:
                results["even_sum"] = judged(check.even_sum, "n**4", source="total = n**4")
            values = {"student": f"s{number:03}", "problem": None}
            values["results"] = [r.as_dict() for r in results.values()]
            book.save(Graded.from_dict({**graded.as_dict(), **values}))
        about = {"even_sum": refer(check.even_sum, check.even_sum("n**2 + n")).as_dict()}
        book.keep(f"reference {UNIT}", json.dumps(about).encode())
        keep_families(book, UNIT)
    return tmp_path, [f"s{number:03}" for number in sorted(members)]


def parts_of(text):
    """The two parts of a draft: the section for the prose, and the test."""
    section = text[text.index("## Mistake:") : text.index("> The test:")]
    (test,) = re.findall(r"^```python\n(.*?)^```", text.partition("> The test:")[2], re.M | re.S)
    return section, test


def run_draft(text, name, explanation, exercise, folder):
    """Name the mistake, and put the draft where it belongs."""
    named = text.replace(drafts.NAME_IT, name).replace(drafts.EXPLAIN_IT, explanation)
    section, test = parts_of(named)
    file = folder / "named.md"
    file.write_text(f"# {exercise.number} {exercise.name}\n\n{section}", encoding="utf-8")
    (read,) = read_prose(file)
    for mistake in read.mistakes:
        part = mistake.settings.get("part", "")
        mistakes_from_prose._add(exercise, mistake, part, vars(check), file)
    here = {"check": check, "____": ____}
    exec(test, here)
    return [value for name, value in here.items() if name.startswith("test_")]


@pytest.fixture
def undone():
    """What a draft adds to the check module goes again."""
    before = {e: e.misconceptions for e in vars(check).values() if hasattr(e, "misconceptions")}
    names = set(vars(check))
    yield
    for exercise, known in before.items():
        exercise.misconceptions = known
    for name in set(vars(check)) - names:
        delattr(check, name)


def test_a_planted_mistake_is_found_drafted_named_and_explained_to_each(grades, undone):
    folder, members = grades
    with Gradebook(folder / NAME) as book:
        found = [f for f in families_of(book, UNIT) if f.exercise == "even_sum"]
    (planted,) = [f for f in found if set(f.students) & set(members)]
    assert len(found) > 1
    assert planted.students == members
    assert planted.miss == "off by the factor n"
    (written,) = [d for d in write_drafts(folder) if d.family.name == planted.name]
    assert written.path.read_text(encoding="utf-8") == written.text
    assert f"{PLANTED} students made it" in written.text
    says = "Every sum has been multiplied once more."
    tests = run_draft(written.text, "an n too many", says, check.even_sum, folder)
    for test in tests:
        test()
    for member in planted.members:
        form = ast.literal_eval(member.result.answer.removeprefix("total = "))
        feedback = check.even_sum(form)
        assert feedback.misconception == "an n too many"
        assert feedback.explanation == "Every sum has been multiplied once more."
        assert unnamed(feedback) == []
    assert check.even_sum("n**4").mistakes == ()


def test_a_drafted_test_fails_as_long_as_the_mistake_has_no_name(grades, undone):
    folder, _ = grades
    (one,) = [d for d in write_drafts(folder) if d.family.miss == "off by the factor n"]
    _, test = parts_of(one.text)
    here = {"check": check}
    exec(test, here)
    with pytest.raises(AssertionError):
        next(value for name, value in here.items() if name.startswith("test_"))()


def family_of(tmp_path, *results):
    with Gradebook(tmp_path / NAME) as book:
        for number, result in enumerate(results):
            book.save(Graded(str(number), UNIT, "f", "d", results=(result,)))
        return families_of(book, UNIT)


CALLED = "check.running_sums(running)"


def tripled(x):
    return 3 * np.cumsum(x)


@pytest.mark.parametrize(
    "source",
    [
        "running = lambda x: 3 * np.cumsum(x)",
        "import numpy as np\ndef running(x):\n    return 3 * np.cumsum(x)",
    ],
)
def test_a_plain_function_becomes_the_example(tmp_path, undone, source):
    result = judged(
        check.running_sums, tripled, source=source, called="check.running_sums(running)"
    )
    (family,) = family_of(tmp_path, result)
    (test,) = run_draft(draft(family), "three times", "Too much.", check.running_sums, tmp_path)
    test()
    assert check.running_sums(tripled).misconception == "three times"


HOSTILE = [
    "import os\ndef running(x):\n    os.system('true')\n    return []",
    "def running(x):\n    return ().__class__.__base__.__subclasses__()",
    "def running(x):\n    return np.lib.npyio.os.system",
    "def running(x):\n    return open(0)",
    "def running(x, y=print):\n    return eval('1')",
    "@print\ndef running(x):\n    return 1",
    "def running(x):\n    '''\n# -- for its test\n'''\n    return 1",
    "running = 1\ndef running(x):\n    return 1",
    "def running(x):\n    return np.load",
    "def running(x):\n    global check\n    check = 1\n    return 1",
    "x = (",
    "# \u202e\r\nimport os\x00",
]


@pytest.mark.parametrize("source", HOSTILE)
def test_whatever_else_a_student_wrote_is_a_comment(tmp_path, source):
    result = judged(
        check.running_sums, tripled, source=source, called="check.running_sums(running)"
    )
    (family,) = family_of(tmp_path, result)
    text = draft(family)
    section, _ = parts_of(text)
    assert re.findall(r"^```python\n(.*?)^```", section, re.M | re.S) == [
        f"def _family_{family.name}(*args):\n    raise NotImplementedError\n"
    ]
    quoted = text.partition("## Mistake:")[0].splitlines()
    assert [line for line in quoted if line.strip() and not line.startswith(">")] == []
    assert not {"\u202e", "\x00", "\r"} & set(text)


def test_a_part_has_its_own_example(tmp_path, undone):
    result = judged(check.own_sums, 0, 12, 5)
    (family,) = family_of(tmp_path, result)
    text = draft(family)
    assert '- part: Mean\n\n```python\n("0", 5.0)\n```' in text
    assert 'check.own_sums(student="0", total=____, mean=5.0)' in text


def test_what_fewer_students_made_is_left_out_and_unknown_units_are_told(grades):
    folder, _ = grades
    few, many = write_drafts(folder, "1", least=2), write_drafts(folder, least=PLANTED)
    assert len(many) < len(few)
    assert all(len(d.family.members) >= PLANTED for d in many)
    with pytest.raises(CourseError, match="no grades of a unit '9'"):
        write_drafts(folder, "9")


# -- what a name changes --------------------------------------------------------------------------


def test_a_changed_sentence_changes_the_digest_of_its_exercise_alone(monkeypatch, tmp_path):
    shutil.copytree(SMALL, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    before = fingerprint.of_mistakes(UNIT)
    prose = tmp_path / "small_course" / "checks" / "sums.md"
    text = prose.read_text(encoding="utf-8")
    (section,) = [s for s in read_prose(prose) if s.name == "even_sum"]
    changed = section.text.replace(section.mistakes[0].name, "a new name")
    prose.write_text(text.replace(section.text, changed), encoding="utf-8")
    after = fingerprint.of_mistakes(UNIT)
    assert {name for name in before if before[name] != after[name]} == {"even_sum"}


def test_every_unit_knows_mistakes_by_exercise():
    known = fingerprint.of_mistakes(UNIT)
    assert set(known) == {e.name for e in declared(UNIT) if e.misconceptions}
