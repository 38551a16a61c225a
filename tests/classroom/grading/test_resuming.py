"""A class is graded with interruptions: nothing is lost, nothing is done twice.

One story in several runs of the real command, in a copy of the course; each test looks at a part.
"""

import ctypes
import os
import re
import select
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from classroom.grading.gradebook import NAME, Gradebook
from classroom.grading.options import read_ids
from selfcheck.files import CourseError
from tests.classroom.grading.making import earned, graded, hand_in, solved
from tests.places import ROOT, SMALL

pytestmark = pytest.mark.usefixtures("small_course")

UNIT, POINTS, OTHER = "01_sums", 9, "02_products"
STUDENTS = ("ada", "alan", "carl", "emmy", "grace", "hedy")
CHILD_SUBREAPER = 36  # for prctl: who loses its parent becomes our child, so that we can see it
STOP_AFTER = """
import os, sys
from classroom.grading import terminal
count, number = int(sys.argv[1]), int(sys.argv[2])
tell = terminal.Progress.__call__

def then_stop(self, done):
    tell(self, done)
    if done.number == count:
        os.kill(os.getpid(), number)

terminal.Progress.__call__ = then_stop
from selfcheck.students.cli import main
sys.exit(main(sys.argv[3:]))
"""


@dataclass
class Run:
    """One run of `course grade`: how it ended, and what was in the gradebook then."""

    code: int
    says: str
    grades: dict[tuple[str, str], tuple[str, int]]
    left_behind: list[str] = field(default_factory=list)

    @property
    def counts(self) -> tuple[int, int]:
        """How many it graded, and how many it found unchanged."""
        found = re.search(r"(\d+) graded(?:; (\d+) were graded before)?", self.says)
        return int(found[1]), int(found[2] or 0)


class Course:
    """A copy of the course with a class in it."""

    def __init__(self, folder: Path) -> None:
        self.root, self.submissions, self.grades = folder, folder / "class", folder / "grades"
        no_caches = shutil.ignore_patterns("__pycache__")
        shutil.copytree(SMALL, folder, ignore=no_caches, dirs_exist_ok=True)
        for student in STUDENTS:
            hand_in(self.submissions, student, solved(UNIT), UNIT)
        hand_in(self.submissions, "ada", solved(OTHER), OTHER)

    def grade(self, stop_after: int = 0, by: signal.Signals = signal.SIGKILL, jobs: int = 1) -> Run:
        """Run the command; with `stop_after`, a signal comes when so many are finished."""
        others = set(_children())
        command = ["grade", str(self.submissions), "--to", str(self.grades), "--jobs", str(jobs)]
        done = subprocess.run(
            [sys.executable, "-c", STOP_AFTER, str(stop_after), str(int(by)), *command],
            cwd=self.root,
            env={**os.environ, "PYTHONPATH": os.pathsep.join([str(self.root), str(ROOT)])},
            capture_output=True,
            text=True,
        )
        orphans = set(_children()) - others
        left_behind = (
            [] if by is signal.SIGKILL else [_about(pid) for pid in orphans if _stays(pid)]
        )
        _wait_for_orphans(others)
        return Run(done.returncode, done.stdout + done.stderr, self.marks(), left_behind)

    def marks(self) -> dict[tuple[str, str], tuple[str, int]]:
        """Digest and points by student and unit."""
        with Gradebook(self.grades / NAME) as book:
            return {(g.student, g.unit): (g.digest, g.earned) for g in book.all()}


def _stays(pid: int) -> bool:
    """Is it still there once the kernel has had time to end what was killed with its parent?"""
    try:
        process = os.pidfd_open(pid)
    except ProcessLookupError:
        return False
    ended = select.select([process], [], [], 5)[0]
    os.close(process)
    return not ended


def _children() -> Iterator[int]:
    for children in Path("/proc/self/task").glob("*/children"):
        yield from map(int, children.read_text().split())


def _about(process: int) -> str:
    """Its command; that of a process that has ended already is empty."""
    return Path(f"/proc/{process}/cmdline").read_text().replace("\0", " ")


def _wait_for_orphans(others: set[int]) -> None:
    """After kill -9 a judge finishes what it is at, finds nobody there, and ends by itself."""
    while orphans := set(_children()) - others:
        os.waitpid(orphans.pop(), 0)


@dataclass
class Story:
    """What happened, run by run."""

    killed: Run
    killed_again: Run
    interrupted: Run
    finished: Run
    again: Run
    mark: tuple[int, int]


@pytest.fixture(scope="module")
def story(small_course, tmp_path_factory, bubblewrap, ctrl_c) -> Story:
    """Killed, killed, interrupted, finished; then a submission and a check are changed."""
    course = Course(tmp_path_factory.mktemp("course"))
    libc = ctypes.CDLL(None)
    libc.prctl(CHILD_SUBREAPER, 1, 0, 0, 0)
    try:
        killed = course.grade(stop_after=1)
        killed_again = course.grade(stop_after=2)
        interrupted = course.grade(stop_after=1, by=signal.SIGINT, jobs=2)
        finished = course.grade()
        with Gradebook(course.grades / NAME) as book:
            book.override("alan", UNIT, "even_sum", 1, "Shown on paper.")
        hand_in(course.submissions, "alan", solved(UNIT, even_sum="total = n"), UNIT)
        check = course.root / "small_course" / "checks" / "products.py"
        check.write_text(check.read_text(encoding="utf-8") + "\nCHANGED = True\n", encoding="utf-8")
        again = course.grade()
        with Gradebook(course.grades / NAME) as book:
            mark = book.mark("alan", UNIT)
    finally:
        libc.prctl(CHILD_SUBREAPER, 0, 0, 0, 0)
    return Story(
        killed, killed_again, interrupted, finished, again, (mark.graded.earned, mark.earned)
    )


def test_what_was_finished_before_a_kill_is_kept(story):
    assert story.killed.code == story.killed_again.code == -signal.SIGKILL
    assert len(story.killed.grades) >= 1
    assert len(story.killed_again.grades) >= len(story.killed.grades) + 2
    assert story.killed.grades.items() <= story.killed_again.grades.items()
    assert story.killed_again.grades.items() <= story.finished.grades.items()


def test_after_interruptions_nobody_is_lost_and_nobody_is_graded_twice(story):
    before = len(story.interrupted.grades)
    assert story.finished.code == 0, story.finished.says
    assert story.finished.counts == (len(STUDENTS) + 1 - before, before)
    full = {(student, UNIT) for student in STUDENTS} | {("ada", OTHER)}
    assert story.finished.grades.keys() == full
    points = {key: points for key, (_, points) in story.finished.grades.items()}
    assert all(points[student, UNIT] == POINTS for student in STUDENTS)


def test_ctrl_c_stops_cleanly_and_leaves_no_process_behind(story):
    assert story.interrupted.code == 130, story.interrupted.says
    assert "what was finished is kept" in story.interrupted.says
    assert "Traceback" not in story.interrupted.says
    assert not any(story.interrupted.left_behind)


def test_a_changed_submission_and_a_changed_check_regrade_just_what_they_touch(story):
    assert story.again.code == 0, story.again.says
    assert story.again.counts == (2, len(STUDENTS) - 1)
    before, after = story.finished.grades, story.again.grades
    changed = {key for key in after if after[key] != before[key]}
    assert changed == {("alan", UNIT), ("ada", OTHER)}


def test_an_override_survives_regrading(story):
    assert story.mark == (POINTS - 2, POINTS - 2 + 1)


# -- numbers of one's own --------------------------------------------------------------------------

OF_BOB = """
own_total = sum(sums("bob").numbers)
own_mean = own_total / 4"""


def with_id(written: str, **answers: str) -> dict[str, str]:
    """A solved notebook in which this id is written."""
    return {**solved(UNIT, **answers), "student": f"student = {written!r}"}


def own_sums(judge_process, cells: dict[str, str], true_id: str | None) -> tuple[int, str | None]:
    """The points of exercise 1.3 and the id that counted."""
    grade, _ = graded(
        judge_process, cells, UNIT, student_id=true_id, limits={"cell": 10, "wall": 60}
    )
    return earned(grade)["own_sums"], grade.student_id


def test_with_a_list_of_ids_the_true_id_counts_whatever_is_written(judge_process):
    (full,) = {own_sums(judge_process, with_id("ada"), None)[0]}
    assert own_sums(judge_process, with_id("bob"), "ada") == (full, "ada")
    assert own_sums(judge_process, with_id("bob", own_sums=OF_BOB), "ada") == (0, "ada")
    assert own_sums(judge_process, with_id("bob", own_sums=OF_BOB), "bob") == (full, "bob")


def test_without_a_list_the_id_in_the_notebook_counts(judge_process):
    full, ada = own_sums(judge_process, with_id(" ADA "), None)
    assert full > 0
    assert ada == "ada"
    assert own_sums(judge_process, with_id("bob", own_sums=OF_BOB), None) == (full, "bob")
    assert own_sums(judge_process, with_id("ada", own_sums=OF_BOB), None) == (0, "ada")


def test_the_list_of_ids_is_read_and_a_short_line_is_named(tmp_path):
    path = tmp_path / "ids.csv"
    path.write_text("\ufeffada, 17\n\nbob,18,more\n", encoding="utf-8")
    assert read_ids(path) == {"ada": "17", "bob": "18"}
    path.write_text("ada,17\nbob\n", encoding="utf-8")
    with pytest.raises(CourseError, match="line 2"):
        read_ids(path)
    path.write_bytes("Zoë;17\r\nbob;18\r\neve;\r\n".encode("cp1252"))
    assert read_ids(path) == {"zoë": "17", "bob": "18"}
    for text, says in (("ada,17\nbob,17", "students: 17"), ("ada,17\nAda,18", "student: ada")):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(CourseError, match=f"for (one|several) {says}"):
            read_ids(path)
