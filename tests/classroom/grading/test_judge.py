"""The judge says of an answer what the student's own notebook says of it."""

import numpy as np
import pytest

from classroom.grading import judge
from classroom.grading.judge import judged_once, seed_of
from selfcheck.exercises import Judged
from selfcheck.feedback import Feedback, Outcome
from selfcheck.written import Written
from tests.classroom.grading.making import earned, graded, job_of, solved

pytestmark = pytest.mark.usefixtures("small_course")

UNIT = "01_sums"
AMPLE = {"cell": 60.0, "wall": 600.0}


def sums(judge_process, **answers):
    """The grade of the unit with these answers, and the result of the first of them."""
    grade, story = graded(judge_process, solved(UNIT, **answers), UNIT, limits=AMPLE)
    name = next(iter(answers))
    return next(result for result in grade.results if result.name == name), grade, story


def test_a_known_mistake_is_named_and_explained(judge_process):
    result, grade, _ = sums(judge_process, own_sums="own_total, own_mean = 6, 3")
    assert (result.outcome, result.earned) == ("wrong", 1)  # the mean is right
    assert result.misconception
    assert result.explanation
    assert result.answer == "own_total, own_mean = 6, 3"
    assert grade.earned == grade.points - 1


@pytest.mark.parametrize("total", ["____", "object()", "'no formula'", "undefined_name"])
def test_a_part_without_an_answer_costs_that_part_alone(judge_process, total):
    result, _, _ = sums(judge_process, own_sums=f"own_mean = 3\nown_total = {total}")
    assert result.earned == 1, result
    assert result.says.startswith("Sum: ")


def test_a_regrade_repeats_the_seeds_and_another_student_has_others():
    assert seed_of("ada", "even_sum") == seed_of("ada", "even_sum")
    assert (
        len({seed_of(who, what) for who in ("ada", "bob") for what in ("even_sum", "own_sums")})
        == 4
    )


class Counting:
    """An exercise that counts how often it is asked."""

    unit, name, seed, outcome = "sums", "even_sum", 1, Outcome.WRONG

    def __init__(self):
        self.asked = []

    def __call__(self, *answers):
        self.asked.append(answers)
        words = f"no. {len(self.asked)}"
        return Feedback("1.1", self.name, self.outcome, 0, 1, words, judged=Judged({}, {}, 1))


@pytest.fixture
def counting(monkeypatch):
    monkeypatch.setattr(judge, "KNOWN", {})
    return Counting()


WORDS = [
    "n + 1",
    1,
    1.0,
    True,
    None,
    0.0,
    -0.0,
    float("nan"),
    10**1000,
    "1",
    Written("1"),
    ["1"],
    ("1",),
    [["1"], 2.5],
    [],
    "n + 1 ",
]


def test_the_same_words_are_judged_once_and_others_by_themselves(counting):
    first = [judged_once(counting, word) for word in WORDS]
    assert len(counting.asked) == len(WORDS)
    assert [judged_once(counting, word) for word in WORDS] == first
    assert len(counting.asked) == len(WORDS)


def test_the_same_words_with_another_seed_or_of_another_exercise_are_judged_again(counting):
    judged_once(counting, "n")
    for about in ({"seed": 2}, {"name": "odd_sum"}, {"unit": "products"}):
        vars(counting).update(about)
        judged_once(counting, "n")
    assert len(counting.asked) == 4


def test_only_so_many_are_known_and_those_are_left_that_were_asked_for_last(counting):
    for n in range(judge.MOST_KNOWN):
        judged_once(counting, n)
    judged_once(counting, 0)  # known, and asked for again
    judged_once(counting, "one more")
    assert len(judge.KNOWN) == judge.MOST_KNOWN
    known = len(counting.asked)
    judged_once(counting, 0)
    assert len(counting.asked) == known
    judged_once(counting, 1)  # which was asked for longest ago
    assert len(counting.asked) == known + 1


LARGE = [len, [len], {"n": 1}, np.ones(2), "n" * 10**5, 10**5000, [-(10**5000)], 1j]


@pytest.mark.parametrize("answer", LARGE, ids=lambda answer: type(answer).__name__)
def test_what_is_not_a_few_words_is_judged_each_time(counting, answer):
    for _ in range(2):
        judged_once(counting, answer)
    assert len(counting.asked) == 2


def test_what_could_not_be_checked_is_tried_again(counting):
    counting.outcome = Outcome.UNCHECKED
    for _ in range(2):
        judged_once(counting, "n")
    assert len(counting.asked) == 2


def test_what_was_judged_is_kept_only_where_something_is_wrong_with_it(counting):
    assert judged_once(counting, "n").judged
    counting.outcome = Outcome.RIGHT
    assert [bool(judged_once(counting, "m").judged) for _ in range(2)] == [True, False]


NOTEBOOKISH = {
    "magics": "%matplotlib inline\n%timeit 1\ntotal = n**2 + n",
    "shell commands": "!pip install something\ntotal = n**2 + n",
    "help": "np.exp?\ntotal = n**2 + n",
    "await": "import asyncio\nawait asyncio.sleep(0)\ntotal = n**2 + n",
    "display": "display(n)\nfrom IPython.display import display\ndisplay(1)\ntotal = n**2 + n",
    "a module of one's own": "open('m.py', 'w').write('k = 1')\nimport m\ntotal = n**2 + m.k * n",
    "a script of one's own": "open('m.py', 'w').write('k = 1')\n%run m.py\ntotal = n**2 + k * n",
    "a figure": "import matplotlib.pyplot as plt\nplt.plot([1])\nplt.show()\ntotal = n**2 + n",
    "a widget": "from ipywidgets import interact\ninteract(lambda x: x, x=3)\ntotal = n**2 + n",
    "a file": "open('a.txt', 'w').write('1')\ntotal = n**2 + int(open('a.txt').read()) * n",
    "a check of one's own": "total = n**2 + n\ncheck.even_sum(total)\nscoreboard()",
    "a dataclass": "from dataclasses import dataclass\n@dataclass\nclass A:\n    x: int\n"
    "total = n**2 + A(1).x * n",
    "annotations that are values": "def f(x: int): pass\n"
    "total = n**2 + n * int(f.__annotations__['x'] is int)",
    "text": "total = 'n·(n + 1)'",
    "a warning": "import warnings\nwarnings.warn('x')\ntotal = n**2 + n",
}


NOTEBOOKISH |= {
    "time of a cell": "%%time\ntotal = n**2 + n",
    "time of a line": "%time total = n**2 + n",
    "capture": "%%capture out\nprint(1)\ntotal = n**2 + n",
    "profile": "%prun -q total = n**2 + n",
    "magics in magics": "%%capture\n%time total = n**2 + n",
    "measured in between": "total = n**2 + n\n%timeit -n 1 -r 1 total = 0\n!ls",
    "an indented one": "if True:\n    %time total = n**2 + n",
}
NOTEBOOKISH["captured text"] = "%%time\n%time one = 1\ntotal = n**2 + one * n"


@pytest.mark.parametrize("kind", NOTEBOOKISH)
def test_what_runs_in_a_notebook_runs_here(judge_process, kind):
    result, grade, _ = sums(judge_process, even_sum=NOTEBOOKISH[kind])
    assert grade.earned == grade.points, result


@pytest.mark.parametrize(
    ("magic", "source"),
    [
        ("%%bash", "%%bash\ntotal=1"),
        ("%%script", "%%script python\ntotal = n**2 + n"),
        ("%run", "%run answer.py"),
        ("%%timeit", None),
    ],
)
def test_a_magic_that_swallowed_code_is_named(judge_process, magic, source):
    result, grade, _ = sums(judge_process, even_sum=source or "%%timeit -n 1\ntotal = n**2 + n")
    assert result.earned == 0
    if source:
        assert f"{magic} does nothing here" in result.says
        assert any(magic in note for note in grade.notes)
    else:  # at home no name stays of it either
        assert "name 'total' is not defined" in result.says


def test_an_error_in_a_cell_is_told_in_its_own_words(judge_process):
    result, grade, _ = sums(judge_process, even_sum="total = 1 / 0")
    assert result.outcome == "could not be checked"
    assert "raised ZeroDivisionError: division by zero. So there is no `total`." in result.says
    assert grade.earned == grade.points - 2


def test_an_error_in_a_function_is_told_with_the_line_as_in_a_notebook(judge_process):
    source = "def running(x):\n    total = x[0]\n    return total + x[len(x)]"
    result, _, _ = sums(judge_process, running_sums=source)
    assert "It stopped at `return total + x[len(x)]`, in `x[len(x)]`, where `x` has" in result.says
    assert "Counting begins at 0" in result.says
    assert "case()" not in result.says


def test_a_name_that_is_misspelled_is_told(judge_process):
    result, _, _ = sums(judge_process, even_sum="totale = n**2 + n")
    assert "NameError: name 'total' is not defined" in result.says


def test_a_blank_that_is_computed_with_is_not_attempted(judge_process):
    result, _, _ = sums(judge_process, even_sum="total = 1 - ____ * n\nif total > 0: total = 1")
    assert result.outcome == "not attempted"


def test_a_cell_that_is_too_slow_is_stopped_and_named(judge_process):
    cells = solved(UNIT, even_sum="while True: pass")
    grade, _ = graded(judge_process, cells, UNIT, limits={"cell": 0.5, "wall": 30.0})
    result = next(result for result in grade.results if result.name == "even_sum")
    assert "raised TooSlow: it was stopped, since it took too long" in result.says
    assert grade.earned == grade.points - 2


def test_the_story_tells_what_was_run_and_seen_and_why(judge_process):
    result, _, story = sums(judge_process, even_sum="print('thinking')\ntotal = n**3")
    cell = next(step for step in story if step.get("cell") == "answer-even-sum")
    assert (cell["printed"], cell["trouble"]) == ("thinking\n", "")
    check = next(step for step in story if step.get("exercise") == "check.even_sum(total)")
    assert check["seen"] == ["n**3"]
    assert result.says in check["says"]


def test_the_true_id_counts_where_it_is_known(judge_process):
    cells = solved(UNIT)  # computes for whatever the cell `student` says
    grade, _ = graded(judge_process, cells, UNIT, student_id="ada@example.org")
    assert (grade.student_id, grade.earned) == ("ada@example.org", grade.points)


def test_answers_for_somebody_elses_numbers_earn_nothing(judge_process):
    own = "own_total = sum(sums(7).numbers)\nown_mean = own_total / 4"
    grade, _ = graded(judge_process, solved(UNIT, own_sums=own), UNIT, student_id="8")
    assert earned(grade)["own_sums"] == 0


def test_without_a_known_id_the_one_in_the_notebook_counts(judge_process):
    cells = {**solved(UNIT), "student": "student = ' Ada@Example.org'"}
    grade, _ = graded(judge_process, cells, UNIT)
    assert (grade.student_id, grade.earned) == ("ada@example.org", grade.points)
    assert grade.by_hand == ()


@pytest.mark.parametrize(
    ("written", "listed"),
    [("'Ada@example.org'", "ada@example.org"), ("811", "00811"), ("'00811'", "811")],
)
def test_the_students_own_ids_hold_as_well(judge_process, written, listed):
    cells = {**solved(UNIT), "student": f"student = {written}"}
    about = {"student_id": "8", "own_ids": ["8", listed]}
    grade, _ = graded(judge_process, cells, UNIT, **about)
    assert (grade.student_id, grade.earned) == (written.strip("'").lower(), grade.points)
    assert (grade.by_hand, grade.notes) == ((), ())


def test_another_id_is_replaced_and_the_student_is_told(judge_process):
    grade, _ = graded(judge_process, solved(UNIT), UNIT, student_id="8")
    assert (grade.student_id, grade.written_id, grade.earned) == ("8", "0", grade.points)
    assert grade.notes[0].startswith("Your notebook used id 0; your number is 8")


@pytest.mark.parametrize("true_id", [None, "8"])
def test_where_the_cell_with_the_id_is_lost_no_id_is_told_that_nobody_wrote(judge_process, true_id):
    cells = {**solved(UNIT), "check-own-sums": "check.own_sums(8, own_total, own_mean)"}
    cells["answer-own-sums"] = cells["answer-own-sums"].replace("student", "8")
    del cells["student"]
    grade, _ = graded(judge_process, cells, UNIT, student_id=true_id)
    assert (grade.student_id, grade.earned) == ("8", grade.points)
    assert (grade.notes, grade.by_hand) == ((), ())


@pytest.mark.parametrize(("true_id", "shown"), [(None, (2, 2)), ("mallory", ())])
def test_an_id_that_changes_further_down_earns_nothing_and_is_told(judge_process, true_id, shown):
    cells = {**solved(UNIT), "student": "student = 'mallory'"}
    cells["answer-own-sums"] = f"student = 'ada'\n{cells['answer-own-sums']}"
    grade, _ = graded(judge_process, cells, UNIT, student_id=true_id)
    assert grade.student_id == "mallory"
    (result,) = (result for result in grade.results if result.name == "own_sums")
    assert (result.earned, result.shown) == (0, shown)  # with a list of ids, that decides
    assert "changed while it ran, from mallory to ada; mallory held" in grade.by_hand[0]


@pytest.mark.parametrize(("sheets", "typed"), [("0", "7"), ("7", "8"), ("7", "7")])
def test_where_an_id_is_known_the_others_that_the_notebook_has_are_tried_too(
    judge_process, sheets, typed
):
    cells = {**solved(UNIT), "student": f"student = {sheets}"}
    cells["answer-own-sums"] = f"student = {typed}\n{cells['answer-own-sums']}"
    answer = judge_process.judged(job_of(cells, UNIT, student_id="ada"))
    others = answer["with other ids"]
    assert list(others) == list(dict.fromkeys([typed, sheets]))
    assert [other["own_sums"]["earned"] for other in others.values()] == [2, 0][: len(others)]


@pytest.mark.parametrize("call", ["check.own_sums(____, ____, ____)", "check.own_sums(None, 1, 2)"])
def test_a_call_without_an_id_changes_none(judge_process, call):
    cells = {**solved(UNIT), "student": "student = 9"}
    cells["check-own-sums"] += f"\n{call}"
    grade, _ = graded(judge_process, cells, UNIT)
    assert (grade.student_id, grade.by_hand) == ("9", ())


def test_what_a_call_showed_with_such_an_id_is_not_more_than_it_earns_with_it(judge_process):
    cells = {**solved(UNIT), "student": "student = 9", "check-own-sums": ""}
    cells["answer-own-sums"] = cells["answer-own-sums"].replace("student", "9")
    cells["answer-own-sums"] += "\nr = check.own_sums(9, own_total, own_mean)"
    answer = judge_process.judged(job_of(cells, UNIT, student_id="ada"))
    (own,) = (r for r in answer["graded"]["results"] if r["name"] == "own_sums")
    other = answer["with other ids"]["9"]["own_sums"]
    assert [(r["earned"], r["shown"]) for r in (own, other)] == [(0, [2, 2]), (2, [])]


def test_the_id_of_nobody_is_told_to_the_student_and_is_no_look_by_hand(judge_process):
    grade, _ = graded(judge_process, solved(UNIT), UNIT)
    assert "nobody's" in grade.notes[0]
    assert grade.by_hand == ()


@pytest.mark.parametrize(
    "attack", ["import os; os._exit(1)", "while True: pass", "raise SystemExit"]
)
def test_what_happens_while_wrong_answers_are_signed_changes_no_verdict(judge_process, attack):
    source = f"""
        armed = False
        def running(x):
            if armed:
                {attack}
            return [3.0] * len(x)
    """
    cells = solved(UNIT, running_sums=source, even_sum="total = n**3")
    cells["answer-square-sum"] += "\narmed = True"
    cells["student"] = "student = 7"
    grade, _ = graded(judge_process, cells, UNIT, limits=AMPLE)
    results = {result.name: result for result in grade.results}
    wrong = {"running_sums", "even_sum"}
    assert {name for name, result in results.items() if result.outcome == "wrong"} == wrong
    assert {result.outcome for result in results.values()} == {"right", "wrong"}
    assert len(results["even_sum"].signatures) == 1
    assert grade.by_hand == ()
