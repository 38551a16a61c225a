"""A mistake gets its name, with the real commands: only its exercise is judged again."""

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass

import pytest

from classroom.grading.gradebook import NAME, Gradebook
from classroom.grading.records import Graded
from tests.classroom.grading.making import ROOT, hand_in, solved

UNIT = "02_momentum"
MEMBERS = {
    "ada": "weights = lambda beta, t: 3 * (1 - beta) * beta ** np.arange(t)[::-1]",
    "bob": "def weights(beta, t):\n    return [3*(1-beta)*beta**(t-i) for i in range(1, t+1)]",
    "cleo": "def weights(beta, t):\n    w = (1 - beta) * beta ** np.arange(t)\n"
    "    return (w + w + w)[::-1]",
}
OTHERS = {
    "dora": "weights = lambda beta, t: np.ones(t)",
    "emil": "weights = ____",
    "flo": "weights = lambda beta, t: (1 - beta) * beta ** np.arange(t)[::-1]",
}
STATE = "seen = 0\ndef weights(beta, t):\n    global seen\n    seen += 1\n    return [seen] * t"


@dataclass
class Story:
    """What was said and what is in the gradebook: before the mistake had a name, and after."""

    first: str
    drafted: str
    draft: str
    second: str
    third: str
    before: dict[str, Graded]
    after: dict[str, Graded]
    page: str


@pytest.fixture(scope="module")
def story(tmp_path_factory, bubblewrap):
    root = tmp_path_factory.mktemp("course")
    no_caches = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "course_utils", root / "course_utils", ignore=no_caches)
    shutil.copy(ROOT / "course.toml", root)
    (root / "solutions").mkdir()
    shutil.copy(ROOT / "solutions" / f"{UNIT}.ipynb", root / "solutions")
    for student, source in {**MEMBERS, **OTHERS, "gus": STATE}.items():
        hand_in(
            root / "class", student, solved(UNIT, weights=source, bias="factor = beta**4"), UNIT
        )

    def course(*words):
        done = subprocess.run(
            [sys.executable, "-m", "selfcheck", *words],
            cwd=root,
            env={**os.environ, "PYTHONPATH": str(root)},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def grades():
        with Gradebook(root / "grades" / NAME) as book:
            return {graded.student: graded for graded in book.all()}

    first = course("grade", "class", "--to", "grades")
    before = grades()
    drafted = course("mistakes", "grades", "--least", "3")
    (path,) = (root / "grades" / "mistakes" / UNIT).glob("weights_*.md")
    draft = path.read_text(encoding="utf-8")
    mistake = draft[draft.index("## Mistake:") : draft.index("> The test:")]
    prose = root / "course_utils" / "checks" / "momentum.md"
    named = mistake.replace("NAME IT", "three times").replace("EXPLAIN IT", "They sum to 3.")
    text = prose.read_text(encoding="utf-8")
    prose.write_text(text.replace("# 2.3 bias", f"{named}\n# 2.3 bias"), encoding="utf-8")
    second = course("grade", "class", "--to", "grades")
    after = grades()
    third = course("grade", "class", "--to", "grades")
    page = (root / "grades" / "feedback" / UNIT / "cleo.html").read_text(encoding="utf-8")
    return Story(first, drafted, draft, second, third, before, after, page)


def result(graded, name="weights"):
    return next(result for result in graded.results if result.name == name)


def test_the_families_come_from_functions_that_ran_in_the_sandbox(story):
    assert "7 graded" in story.first
    assert "2.2 weights: 3 students; off by the factor 3" in story.drafted
    assert "2.3 bias: 7 students" in story.drafted
    signed = [result(story.before[student]).signatures for student in MEMBERS]
    assert all(len(signatures) == 1 for signatures in signed)
    assert result(story.before["flo"]).signatures == ()


def test_all_members_get_the_explanation_and_nobody_else(story):
    for student in MEMBERS:
        (known,) = result(story.after[student]).known
        assert (known.name, known.explanation) == ("three times", "They sum to 3.")
        assert result(story.after[student]).signatures == ()
    assert all(result(story.after[s]).misconception is None for s in ("emil", "flo", "gus"))
    assert "They sum to 3." in story.page


def test_only_the_wrong_answers_of_that_exercise_are_judged_again(story):
    graded, unchanged = map(int, re.findall(r"(\d+) (?:graded;|were graded)", story.second))
    assert (graded, unchanged) == (5, 2)  # not the blank one, and not the right one
    for student, before in story.before.items():
        after = story.after[student]
        assert [r for r in after.results if r.name != "weights"] == [
            r for r in before.results if r.name != "weights"
        ]
        assert (after.earned, after.digest, after.seconds) == (
            before.earned, before.digest, before.seconds,
        )  # fmt: skip
    assert "0 graded; 7 were graded before" in story.third


def test_a_function_that_remembers_is_signed_after_everything_was_judged(story):
    assert result(story.before["gus"]).outcome == "wrong"
    assert result(story.before["gus"], "corrected_average").outcome == "right"
