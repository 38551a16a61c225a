"""Kills from outside and a busy machine change nothing: the gradebook is that of a quiet day."""

import contextlib
import os
import subprocess
import sys
from types import SimpleNamespace

import pytest

from classroom.grading import forbidden, judge_pool, sandbox
from classroom.grading.gradebook import NAME, Gradebook
from classroom.grading.judge import Job
from classroom.grading.judge_pool import JudgeProcess, LostJudge
from classroom.grading.options import Options
from classroom.grading.pipeline import grade
from classroom.grading.sandbox import Clock, Limits, Sandbox, Usage
from selfcheck.files import CourseError
from tests.classroom.grading.making import (
    ALL,
    ROOT,
    SMALL,
    UNIT,
    _asked,
    earned,
    hand_in,
    solved,
)

LIMITS = Limits(cell=0.6, grace=0.3, wall=30.0)
CLASS = {
    "right": {},
    "slow": {"leak": "import time\nstart = time.process_time()\n"
             "while time.process_time() < start + 0.2: pass\nbound = 0"},
    "endless": {"leak": "while True: pass"},
    "asleep": {"leak": "import time\ntime.sleep(10**6)"},
    "dead": {"leak": "import os\nos._exit(1)"},
    "plots": {"leak": "import matplotlib.pyplot as plt\nplt.plot([1])\nbound = 0"},
}  # fmt: skip


def graded(folder, class_, **options):
    """The gradebook of these answers, without what depends on the day and on the others."""
    for student, answers in class_.items():
        hand_in(folder / "class", student, solved(**answers))
    options = Options(unit=UNIT, limits=LIMITS, **options)
    grade(ROOT, folder / "class", folder / "grades", options, lambda done: None)
    with Gradebook(folder / "grades" / NAME) as book:
        return {g.student: _timeless(g.as_dict()) for g in book.all()}


def _timeless(data):
    data |= {"seconds": 0, "alike": ()}
    for result in data["results"]:
        result["seconds"] = 0
    return data


@pytest.fixture(scope="module")
def quiet(tmp_path_factory, bubblewrap):
    """The gradebook of a quiet day."""
    return graded(tmp_path_factory.mktemp("quiet"), CLASS)


def test_only_what_is_the_students_own_costs_points(quiet):
    points = {name: sum(r["earned"] for r in g["results"]) for name, g in quiet.items()}
    full, less = sum(ALL.values()), sum(ALL.values()) - ALL["leak"]
    slow_or_dead = dict.fromkeys(("endless", "asleep", "dead"), less)
    assert points["right"] == full
    assert {name: points[name] for name in slow_or_dead} == slow_or_dead
    assert points["slow"] == points["plots"]
    assert all(g["digest"] for g in quiet.values())


# -- kills ----------------------------------------------------------------------------------------


KILLED = """
import contextlib, os, random, signal, sys
from pathlib import Path
from classroom.grading import judge

begun, MOST = judge.Judging.tell, 6

def tell(judging, place):  # a step begins; each is hit at most once
    begun(judging, place)
    hit = Path(os.environ["HITS"], f"{judging.job.student} {place}")
    chance = random.Random(hit.name)
    if chance.random() < 0.3 and not hit.exists() and len(os.listdir(hit.parent)) < MOST:
        hit.touch()
        inside = [pid for pid in descendants(os.getpid()) if b"grading.child" in command(pid)]
        for pid in chance.choice([[os.getpid()], inside, inside[-1:]]):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

def descendants(pid):
    for children in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            for child in map(int, children.read_text().split()):
                yield child
                yield from descendants(child)

def command(pid):
    with contextlib.suppress(OSError):
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    return b""

judge.Judging.tell = tell
judge.main(int(sys.argv[1]), sys.argv[2] == "sandboxed", int(sys.argv[3]))
"""


def test_kills_at_random_moments_change_nothing(tmp_path, quiet, monkeypatch):
    (tmp_path / "hits").mkdir()
    (tmp_path / "killed.py").write_text(KILLED)
    monkeypatch.setenv("HITS", str(tmp_path / "hits"))
    monkeypatch.setenv("PYTHONPATH", f"{tmp_path}{os.pathsep}{os.environ.get('PYTHONPATH', '')}")
    monkeypatch.setattr(judge_pool, "JUDGE", "killed")
    some = {name: CLASS[name] for name in ("right", "dead", "plots")}
    found = graded(tmp_path, some, jobs=2)
    assert len(list((tmp_path / "hits").iterdir())) > 3
    assert found == {name: quiet[name] for name in some}


FRAGILE = """
import json, os, signal, sys
for line in sys.stdin:
    os.kill(os.getpid(), signal.SIGKILL)
"""


def test_a_judge_that_is_always_killed_is_told_truly_and_not_for_good(tmp_path, monkeypatch):
    (tmp_path / "fragile.py").write_text(FRAGILE)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setattr(judge_pool, "JUDGE", "fragile")
    judge_process = JudgeProcess(0, sandboxed=False)
    with pytest.raises(LostJudge, match="killed by signal 9"):
        judge_process.judged(Job("ada", UNIT, "", "", [], []))
    judge_process.close()


class Failing(Sandbox):
    """A sandbox whose first starts are these commands."""

    def __init__(self, *commands):
        super().__init__(sandboxed=False)
        self.commands = list(commands)

    def _command(self, fd):
        if self.commands:
            return ["sh", "-c", self.commands.pop(0)], {"PATH": os.environ["PATH"]}
        return super()._command(fd)


def test_a_start_that_fails_is_tried_again():
    with Failing("kill -9 $$", "kill -9 $$") as box, box.submission(Limits()) as there:
        assert there.ask(ask="value", expression="6 * 7") == 42


def test_a_start_that_keeps_failing_is_told_truly():
    with pytest.raises(CourseError, match="it was killed by signal 9"):
        Failing(*["kill -9 $$"] * 3)._start()
    with pytest.raises(CourseError, match="bubblewrap does not start here: no room"):
        Failing("echo no room >&2; exit 1")._start()


# -- time -----------------------------------------------------------------------------------------


def test_the_clock_counts_the_processor_and_sleep_and_nothing_else(monkeypatch):
    now, use = SimpleNamespace(seconds=0.0), SimpleNamespace(seconds=0.0, is_asleep=False)
    monkeypatch.setattr(sandbox.time, "monotonic", lambda: now.seconds)
    clock = Clock(lambda: Usage(use.seconds, use.is_asleep))
    now.seconds, use.seconds = 60.0, 0.5  # it wanted to run, and hardly could
    assert clock.look() == 0.5
    use.is_asleep = True
    now.seconds = 100.0
    clock.wait_from_now()  # until here it waited for us
    now.seconds = 103.0
    assert clock.look() == 3.5


BUSY = "import sys\nsys.stdout.write('.')\nsys.stdout.flush()\nwhile True: pass"


@contextlib.contextmanager
def on_a_busy_core(count):
    """One core for all that is started here, and for so many processes that only compute."""
    command, cores = [sys.executable, "-c", BUSY], os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cores)})  # other tests have the others
    busy = [subprocess.Popen(command, stdout=subprocess.PIPE) for _ in range(count)]
    try:
        assert all(process.stdout.read(1) == b"." for process in busy)
        yield
    finally:
        os.sched_setaffinity(0, cores)
        for process in busy:
            process.kill()
            process.stdout.close()
            process.wait()


def test_a_busy_machine_takes_no_points(tmp_path, quiet):
    with on_a_busy_core(1):  # which two judges, their sandboxes and this one share
        found = graded(tmp_path, CLASS, jobs=2)
    assert found == quiet


def test_what_is_too_slow_once_is_tried_again_before_it_counts(bubblewrap):
    """The first run of the cell is slow, as on a bad day; the second is not."""
    judge_process = JudgeProcess(os.getpid() % 4000, sandboxed=True)
    asked = []
    ask = judge_process._asked

    def remembering(job):
        asked.append((job.is_alone, job.troubled))
        slow = "import time\ntime.sleep(10**6)" if not job.is_alone else "bound = 1"
        place = [cell[0] for cell in job.cells].index("answer-leak")
        job.cells[place][1] = slow
        return ask(job)

    judge_process._asked = remembering
    cells = [list(cell) for cell in solved().items()]
    solution = [list(cell) for cell in _asked(UNIT)]
    answer = judge_process.judged(Job("ada", UNIT, "", "", solution, cells, limits=SMALL))
    judge_process.close()
    assert [alone for alone, _ in asked] == [False, True]
    leak = next(r for r in answer["graded"]["results"] if r["name"] == "leak")
    assert leak["outcome"] != "could not be checked"
    assert asked[1][1]


def test_a_cell_of_ours_is_never_left_out(judge_process):
    """What keeps it from coming to an end is."""
    from tests.classroom.grading.making import graded as one

    cells = solved("05_two_heads")
    spoiled = "def two_heads(student):\n    while True: pass"
    cells = {"mine": spoiled, **cells}
    grade, _ = one(judge_process, list(cells.items()), "05_two_heads", limits={"wall": 60.0})
    assert earned(grade) == earned(one(judge_process, solved("05_two_heads"), "05_two_heads")[0])


# -- protection ------------------------------------------------------------------------------------


def test_a_machine_without_a_filter_is_said_aloud(monkeypatch):
    box = Sandbox(sandboxed=True)
    assert "system calls filtered" in box.protection
    box._is_filtered = False
    assert "system calls NOT filtered" in box.protection
    monkeypatch.setattr(forbidden.os, "uname", lambda: SimpleNamespace(machine="riscv64"))
    assert forbidden.forbid() is False


def test_a_control_group_is_used_where_one_can_be_had(tmp_path, monkeypatch):
    fake = tmp_path / "systemd-run"
    fake.write_text('#!/bin/sh\nwhile [ "$1" != -- ]; do shift; done; shift; exec "$@"\n')
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    sandbox.cgroup.cache_clear()
    try:
        assert any(word.startswith("--property=MemoryMax=") for word in sandbox.cgroup())
        assert "memory by a control group" in Sandbox().protection
        fake.write_text("#!/bin/sh\nexit 1\n")
        sandbox.cgroup.cache_clear()
        assert sandbox.cgroup() == ()
    finally:
        sandbox.cgroup.cache_clear()
