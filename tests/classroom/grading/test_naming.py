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
from tests.classroom.grading.making import hand_in, solved
from tests.places import ROOT, SMALL

UNIT = "01_sums"
MEMBERS = {
    "ada": "running = lambda x: 3 * np.cumsum(x)",
    "bob": "def running(x):\n    return [3 * sum(x[: k + 1]) for k in range(len(x))]",
    "cleo": "def running(x):\n    s = np.cumsum(x)\n    return s + s + s",
}
OTHERS = {
    "dora": "running = lambda x: np.ones(len(x))",
    "emil": "running = ____",
    "flo": "running = lambda x: np.cumsum(x)",
}
STATE = "seen = 0\ndef running(x):\n    global seen\n    seen += 1\n    return [seen] * len(x)"


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
def story(small_course, tmp_path_factory, bubblewrap):
    no_caches = shutil.ignore_patterns("__pycache__")
    root = shutil.copytree(SMALL, tmp_path_factory.mktemp("a") / "course", ignore=no_caches)
    for student, source in {**MEMBERS, **OTHERS, "gus": STATE}.items():
        cells = solved(UNIT, running_sums=source, even_sum="total = n**4")
        hand_in(root / "class", student, cells, UNIT)

    def course(*words):
        done = subprocess.run(
            [sys.executable, "-m", "selfcheck", *words],
            cwd=root,
            env={**os.environ, "PYTHONPATH": os.pathsep.join([str(root), str(ROOT)])},
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
    (path,) = (root / "grades" / "mistakes" / UNIT).glob("running_sums_*.md")
    draft = path.read_text(encoding="utf-8")
    mistake = draft[draft.index("## Mistake:") : draft.index("> The test:")]
    prose = root / "small_course" / "checks" / "sums.md"
    named = mistake.replace("NAME IT", "three times")
    named = named.replace("EXPLAIN IT", "Three times too large.")
    text = prose.read_text(encoding="utf-8")
    after = "# 1.3 own_sums"
    prose.write_text(text.replace(after, f"{named}\n{after}"), encoding="utf-8")
    second = course("grade", "class", "--to", "grades")
    after = grades()
    third = course("grade", "class", "--to", "grades")
    page = (root / "grades" / "feedback" / UNIT / "cleo.html").read_text(encoding="utf-8")
    return Story(first, drafted, draft, second, third, before, after, page)


def result(graded, name="running_sums"):
    return next(result for result in graded.results if result.name == name)


def test_the_families_come_from_functions_that_ran_in_the_sandbox(story):
    assert "7 graded" in story.first
    assert "1.2 running_sums: 3 students; off by the factor 3" in story.drafted
    assert "1.1 even_sum: 7 students" in story.drafted
    signed = [result(story.before[student]).signatures for student in MEMBERS]
    assert all(len(signatures) == 1 for signatures in signed)
    assert result(story.before["flo"]).signatures == ()


def test_all_members_get_the_explanation_and_nobody_else(story):
    for student in MEMBERS:
        (known,) = result(story.after[student]).known
        assert (known.name, known.explanation) == ("three times", "Three times too large.")
        assert result(story.after[student]).signatures == ()
    assert all(result(story.after[s]).misconception is None for s in ("emil", "flo", "gus"))
    assert "Three times too large." in story.page


def test_only_the_wrong_answers_of_that_exercise_are_judged_again(story):
    graded, unchanged = map(int, re.findall(r"(\d+) (?:graded;|were graded)", story.second))
    assert (graded, unchanged) == (5, 2)  # not the blank one, and not the right one
    for student, before in story.before.items():
        after = story.after[student]
        assert [r for r in after.results if r.name != "running_sums"] == [
            r for r in before.results if r.name != "running_sums"
        ]
        assert (after.earned, after.digest, after.seconds) == (
            before.earned, before.digest, before.seconds,
        )  # fmt: skip
    assert "0 graded; 7 were graded before" in story.third


def test_a_function_that_remembers_is_signed_after_everything_was_judged(story):
    assert result(story.before["gus"]).outcome == "wrong"
    assert result(story.before["gus"], "square_sum").outcome == "right"
