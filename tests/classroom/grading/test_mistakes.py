"""drafts.py: a wrong answer that a class shares is found, drafted, named, and explained to each."""

import ast
import json
import random

import numpy as np
import pytest

from classroom.grading import drafts, fingerprint
from classroom.grading.behavior import refer, sign, unnamed
from classroom.grading.clusters import families_of, keep_families
from classroom.grading.drafts import draft, write_drafts
from classroom.grading.gradebook import NAME, Gradebook
from classroom.grading.records import Graded, Result
from course_utils.checks import momentum as check
from selfcheck.files import CourseError
from selfcheck.units import declared
from tests.classroom.grading.classes import synthetic_class

UNIT = "02_momentum"
SIZE, PLANTED = 300, 37
FORMS = ["beta*(1 - beta**t)", "β − β^(t+1)", "beta - beta*beta**t", "(β − β·β^t)"]


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
                results["bias"] = judged(check.bias, form, source=f"factor = {form!r}")
            elif results and "bias" in results and results["bias"].signatures:
                results["bias"] = judged(check.bias, "beta**3", source="factor = beta**3")
            values = {"student": f"s{number:03}", "problem": None}
            values["results"] = [r.as_dict() for r in results.values()]
            book.save(Graded.from_dict({**graded.as_dict(), **values}))
        about = {"bias": refer(check.bias, check.bias("1 - beta**t")).as_dict()}
        book.keep(f"reference {UNIT}", json.dumps(about).encode())
        keep_families(book, UNIT)
    return tmp_path, [f"s{number:03}" for number in sorted(members)]


def parts_of(text):
    """The two parts of a draft: for the check module, and for its test."""
    _, module, test = text.split("# -- ")
    return module.partition("\n")[2], test.partition("\n")[2]


def run_draft(text, name, explanation):
    """Name the mistake, and put the draft where it belongs."""
    named = text.replace(drafts.NAME_IT, f'"{name}"').replace(drafts.EXPLAIN_IT, f'"{explanation}"')
    module, test = parts_of(named)
    exec(module, vars(check))
    here = {"check": check, "____": check.FormulaAnswer}
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
        found = [f for f in families_of(book, UNIT) if f.exercise == "bias"]
    (planted,) = [f for f in found if set(f.students) & set(members)]
    assert len(found) > 1
    assert planted.students == members
    assert planted.miss == "off by the factor β"
    (written,) = [d for d in write_drafts(folder) if d.family.name == planted.name]
    assert written.path.read_text(encoding="utf-8") == written.text
    assert f"{PLANTED} students made it" in written.text
    tests = run_draft(written.text, "a β too many", "Every weight has been multiplied once more.")
    for test in tests:
        test()
    for member in planted.members:
        form = ast.literal_eval(member.result.answer.removeprefix("factor = "))
        feedback = check.bias(form)
        assert feedback.misconception == "a β too many"
        assert feedback.explanation == "Every weight has been multiplied once more."
        assert unnamed(feedback) == []
    assert check.bias("beta**3").mistakes == ()


def test_a_drafted_test_fails_as_long_as_the_mistake_has_no_name(grades, undone):
    folder, _ = grades
    (one,) = [d for d in write_drafts(folder) if d.family.miss == "off by the factor β"]
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


def tripled(beta, t):
    return 3 * (1 - beta) * beta ** np.arange(t)[::-1]


@pytest.mark.parametrize(
    "source",
    [
        "weights = lambda beta, t: 3 * (1 - beta) * beta ** np.arange(t)[::-1]",
        "import numpy as np\ndef weights(beta, t):\n"
        "    return 3 * (1 - beta) * beta ** np.arange(t)[::-1]",
    ],
)
def test_a_plain_function_becomes_the_example(tmp_path, undone, source):
    result = judged(check.weights, tripled, source=source, called="check.weights(weights)")
    (family,) = family_of(tmp_path, result)
    (test,) = run_draft(draft(family), "three times", "Too much.")
    test()
    assert check.weights(tripled).misconception == "three times"


HOSTILE = [
    "import os\ndef weights(beta, t):\n    os.system('true')\n    return []",
    "def weights(beta, t):\n    return ().__class__.__base__.__subclasses__()",
    "def weights(beta, t):\n    return np.lib.npyio.os.system",
    "def weights(beta, t):\n    return open(0)",
    "def weights(beta, t, x=print):\n    return eval('1')",
    "@print\ndef weights(beta, t):\n    return 1",
    "def weights(beta, t):\n    '''\n# -- for its test\n'''\n    return 1",
    "weights = 1\ndef weights(beta, t):\n    return 1",
    "def weights(beta, t):\n    return np.load",
    "def weights(beta, t):\n    global check\n    check = 1\n    return 1",
    "x = (",
    "# \u202e\r\nimport os\x00",
]


@pytest.mark.parametrize("source", HOSTILE)
def test_whatever_else_a_student_wrote_is_a_comment(tmp_path, source):
    result = judged(check.weights, tripled, source=source, called="check.weights(weights)")
    (family,) = family_of(tmp_path, result)
    text = draft(family)
    code = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    assert code[:3] == [
        '@weights.mistake("NAME IT", "EXPLAIN IT")',
        f"def _family_{family.name}(*args):",
        "    raise NotImplementedError",
    ]
    assert not {"\u202e", "\x00", "\r"} & set(text)


def test_a_part_has_its_own_example(tmp_path, undone):
    result = judged(check.equivalent_rules, "beta", "delta**2*(1 - beta)")
    (family,) = family_of(tmp_path, result)
    text = draft(family)
    assert 'example=("delta**2*(1 - beta)",),\n    part="ε",' in text
    assert "check.equivalent_rules(alpha=____, epsilon=" in text


def test_what_fewer_students_made_is_left_out_and_unknown_units_are_told(grades):
    folder, _ = grades
    few, many = write_drafts(folder, "2", least=2), write_drafts(folder, least=PLANTED)
    assert len(many) < len(few)
    assert all(len(d.family.members) >= PLANTED for d in many)
    with pytest.raises(CourseError, match="no grades of a unit '9'"):
        write_drafts(folder, "9")


# -- what a name changes --------------------------------------------------------------------------

MODULE = """
import numpy as np

SCALE = 2


def helper(x):
    return x


@exercise("1.1", points=1)
def first(x):
    ...


first.mistake("a", "b", example=("1",))


@first.mistake("c", "d")
def _wrong(x):
    return helper(x)


@second.mistake("e", "f")
def _shared(x):
    return x


second.mistake("g", "h", example=(_shared,))
"""


def changed(old, new):
    """What the digest of all else, and those of the exercises, say of a change."""
    before, after = (fingerprint._parted(text) for text in (MODULE, MODULE.replace(old, new)))
    exercises = {*before[1], *after[1]}
    return before[0] != after[0], {e for e in exercises if before[1].get(e) != after[1].get(e)}


@pytest.mark.parametrize(
    ("old", "new", "all_else", "exercises"),
    [
        ('"b"', '"another word"', False, {"first"}),
        ("return helper(x)", "return 2 * helper(x)", False, {"first"}),
        ('"g", "h"', '"i", "h"', False, {"second"}),
        ("SCALE = 2", "SCALE = 3", True, set()),
        ("    return x\n\n\n@ex", "    return -x\n\n\n@ex", True, set()),
        ('"e"', '"another name"', True, set()),  # another statement uses its function
        ("\nSCALE", "\n# a comment\nSCALE", False, set()),
    ],
)
def test_a_change_of_mistakes_is_a_change_of_their_exercise_alone(old, new, all_else, exercises):
    assert changed(old, new) == (all_else, exercises)


def test_every_unit_knows_mistakes_by_exercise():
    known = fingerprint.of_mistakes(UNIT)
    assert set(known) == {e.name for e in declared(UNIT) if e.misconceptions}
