"""Notebooks as students really hand them in: what a clean Restart & Run All shows is given.

Each kind of fault is one submission of a class of the small course; `shown` is what the student saw
at home. Whatever is lost is told to the student and stands first in the look by hand.
"""

import csv
import json
from types import SimpleNamespace

import pytest

from classroom.grading.gradebook import NAME, Gradebook
from classroom.grading.queue import Queue
from classroom.grading.submitted import submitted_cells
from selfcheck.students.cli import main
from tests.classroom.grading.making import graded, notebook
from tests.places import SMALL

pytestmark = pytest.mark.usefixtures("small_course")

UNIT, ALL = "01_sums", 9
FIRST, CHECK = "total = n * (n + 1)", "check.even_sum(total)"
RUNNING = "def running(x):\n    return np.cumsum(x)"
SOLVED = dict(submitted_cells((SMALL / "solutions" / f"{UNIT}.ipynb").read_bytes()))


def changed(**sources):
    """The solved sheet with some cells replaced; None removes one."""
    cells = {**SOLVED, "student": "student = 7", "answer-even-sum": FIRST}
    for key, source in sources.items():
        cells[key.replace("_", "-")] = source
    return [(key, source) for key, source in cells.items() if source is not None]


def moved(cells, key, before):
    """One cell of the sheet before another one."""
    own = [cell for cell in cells if cell[0] == key]
    rest = [cell for cell in cells if cell[0] != key]
    place = next(i for i, cell in enumerate(rest) if cell[0] == before)
    return rest[:place] + own + rest[place:]


def behind(cells, *more, key="check-square-sum"):
    place = 1 + next(i for i, cell in enumerate(cells) if cell[0] == key)
    return cells[:place] + list(more) + cells[place:]


GIVEN = {
    "as it should be": changed(),
    "typed into the check cell": changed(
        answer_even_sum="total = ____", check_even_sum=f"{FIRST}\n{CHECK}"
    ),
    "typed into the call": changed(
        answer_even_sum="total = ____", check_even_sum="check.even_sum(n * (n + 1))"
    ),
    "merged, the answer's id": changed(answer_even_sum=f"{FIRST}\n{CHECK}", check_even_sum=None),
    "merged, the check's id": changed(answer_even_sum=None, check_even_sum=f"{FIRST}\n{CHECK}"),
    "merged, on one line": changed(answer_even_sum=None, check_even_sum=f"{FIRST}; {CHECK}"),
    "merged, two exercises": changed(
        answer_even_sum=f"{FIRST}\n{CHECK}\n{RUNNING}\ncheck.running_sums(running)",
        check_even_sum=None, answer_running_sums=None, check_running_sums=None,
    ),
    "merged, everything": [("", "\n\n".join(source for _, source in changed()))],
    "another name": changed(
        answer_even_sum="mine = n * (n + 1)", check_even_sum="check.even_sum(mine)"
    ),
    "a renamed function": changed(
        answer_running_sums="def my_sums(x):\n    return np.cumsum(x)",
        check_running_sums="check.running_sums(my_sums)",
    ),
    "by the name of the parameter": changed(check_even_sum="check.even_sum(formula=total)"),
    "kept in a variable": changed(check_even_sum="feedback = check.even_sum(total)\nfeedback"),
    "printed": changed(check_even_sum="print(check.even_sum(total))"),
    "deleted, typed anew below": behind(
        changed(answer_even_sum=None), ("x", FIRST), ("y", CHECK), key="check-even-sum"
    ),
    "mended at the end": behind(
        changed(answer_even_sum="total = n"), ("x", FIRST), ("y", CHECK)
    ),
    "mended at the end in one cell": behind(
        changed(answer_even_sum="total = n"), ("x", f"{FIRST}\n{CHECK}")
    ),
    "split in two": behind(
        changed(answer_even_sum="half = n"), ("x", "total = half * (n + 1)"), key="answer-even-sum"
    ),
    "the check deleted": changed(check_even_sum=None),
    "all checks deleted": [cell for cell in changed() if not cell[0].startswith("check-")],
    "the check empty": changed(check_even_sum=""),
    "the check commented out": changed(check_even_sum=f"# {CHECK}"),
    "a hint beside the check": changed(check_even_sum=f"check.even_sum.hint()\n{CHECK}"),
    "a comment in the check": changed(check_even_sum=f"{CHECK}  # yes!"),
    "checked twice": behind(changed(), ("x", CHECK), key="check-even-sum"),
    "checked in a condition": changed(check_even_sum=f"if True:\n    {CHECK}"),
    "checked, caught": changed(
        check_even_sum=f"try:\n    {CHECK}\nexcept Exception:\n    pass"
    ),
    "timed": changed(check_even_sum=f"%time {CHECK}"),
    "timed as a cell": changed(check_even_sum=f"%%time\n{CHECK}"),
    "without ids": [("", source) for _, source in changed()],
    "with new ids": [(f"id{n}", source) for n, (_, source) in enumerate(changed())],
    "without the imports": changed(import_numpy_as=None),
    "imports edited": changed(
        import_numpy_as="import numpy as np\nimport sympy\nfrom selfcheck import ____, scoreboard\n"
        "from small_course.checks import sums as check\n"
        "n = sympy.symbols('n', positive=True, integer=True)\nimport math"
    ),
    "the id among the imports": [
        (key, f"{source}\nstudent = 7" if key == "import-numpy-as" else source)
        for key, source in changed(
            student=None, answer_own_sums="own_total, own_mean = sum(sums(7).numbers), "
            "sum(sums(7).numbers) / 4",
        )
    ],
    "given code deleted": changed(from_small_course=None),
    "two exercises exchanged": moved(
        moved(changed(), "answer-running-sums", "answer-even-sum"),
        "check-running-sums", "answer-even-sum",
    ),
    "the answer below its check": moved(changed(), "check-even-sum", "answer-even-sum"),
    "imports at the end": [c for c in changed() if c[0] != "import-numpy-as"]
    + [c for c in changed() if c[0] == "import-numpy-as"],
    "an own cell at the top": [("x", "import math"), *changed()],
    "an own cell in between": behind(changed(), ("x", "z = 1"), key="check-even-sum"),
    "an error in an own cell": behind(changed(), ("x", "1 / 0"), key="check-even-sum"),
    "a scoreboard in between": behind(changed(), ("x", "scoreboard()"), key="check-even-sum"),
    "an id twice": behind(
        changed(answer_even_sum="total = n"), ("answer-even-sum", FIRST), key="answer-even-sum"
    ),
    "Windows' lines": [(key, source.replace("\n", "\r\n")) for key, source in changed()],
    "tabs, blanks": changed(check_even_sum=f"\n\n{CHECK}   \n"),
}  # fmt: skip

MINE = {"answer_even_sum": "mine = n * (n + 1)"}
RUN = "def run(name, *answers):\n    return getattr(check, name)(*answers)\n"
IN_OTHER_WORDS = {  # the answer is called `mine`, and the check as it says there
    "kept": "result = check.even_sum(mine)",
    "counted": "points = 0\npoints += check.even_sum(mine).earned",
    "asserted": "assert check.even_sum(mine)",
    "in a condition": "if True:\n    check.even_sum(mine)",
    "in another branch": "if n is None:\n    check.even_sum(n)\nelse:\n    check.even_sum(mine)",
    "as an expression": "check.even_sum(mine) if True else check.even_sum(n)",
    "in a block": "with np.errstate():\n    check.even_sum(mine)",
    "caught": "try:\n    r = check.even_sum(mine)\nfinally:\n    print(r)",
    "in a loop": "for f in (n, mine):\n    display(check.even_sum(f))",
    "in a list": "[check.even_sum(f) for f in (n, mine)]",
    "until it is right": "k = -3\nwhile not check.even_sum(n * (n + k)).earned:\n    k += 1",
    "mapped": "list(map(check.even_sum, [mine]))",
    "by a function": "def go(f):\n    return check.even_sum(f)\ngo(mine)",
    "by a lambda": "(lambda f: check.even_sum(f))(mine)",
    "by its name": f"{RUN}run('even_sum', mine)",
    "by another name": "right = check.even_sum\nright(mine)",
    "from a list": "check.even_sum(*[mine])",
    "from a dictionary": "check.even_sum(**dict(total=mine))",
    "in a text": "exec('check.even_sum(mine)')",
    "by hand": "from small_course.checks.sums import *\neven_sum(mine)",
    "by its full name": "import small_course.checks.sums as c\nc.even_sum(mine)",
    "waited for": "async def wait():\n    return mine\ncheck.even_sum(await wait())",
    "timed": "%time check.even_sum(mine)",
    "timed as a cell": "%%time\ncheck.even_sum(mine)",
    "measured": "%timeit -n1 -r1 check.even_sum(mine)",
    "measured as a cell": "%%timeit -n1 -r1\ncheck.even_sum(mine)",
    "captured": "%%capture out\ndisplay(check.even_sum(mine))",
    "below a command": "!pip install numpy\ncheck.even_sum(mine)",
    "below a magic": "%pip list\ncheck.even_sum(mine)",
    "beside help": "check.even_sum?\n?np.cumsum\ncheck.even_sum(mine)",
    "of the last value": "n * (n + 1)\n",
}  # fmt: skip
GIVEN |= {
    f"called {how}": changed(**MINE, check_even_sum=call) for how, call in IN_OTHER_WORDS.items()
}
GIVEN["called of the last value"] = changed(
    answer_even_sum="n * (n + 1)", check_even_sum="check.even_sum(_)"
)
GIVEN |= {
    "all in a loop at the end": [c for c in changed(**MINE) if not c[0].startswith("check-")] + [
        ("", "for each, a in [(check.even_sum, mine), (check.running_sums, running), "
         "(check.square_sum, squares)]:\n    print(each(a))\n"
         "check.own_sums(student, *[own_total, own_mean])")
    ],
    "checks under another name": [
        (key, source.replace("as check", "as c").replace("check.", "c."))
        for key, source in changed(**MINE, check_even_sum="check.even_sum(mine)")
    ],
    "another call above its cell, then one without a value": changed(
        answer_even_sum=RUNNING, check_even_sum="check.running_sums(running)",
        answer_running_sums=FIRST, check_running_sums=f"{CHECK}\ncheck.running_sums(running_2)",
    ),
    "another call that is never reached": behind(
        changed(), ("x", "1 / 0\ncheck.even_sum(n)"), ("y", "total = 3")
    ),
    "an answer behind an error in its cell": behind(
        changed(), ("x", f"1 / 0\n{CHECK}\ntotal = 3"), ("y", CHECK)
    ),
    "called of a value that was shown": changed(
        answer_even_sum="n * (n + 1)", check_even_sum="check.even_sum(Out[3])"
    ),
    "called of a value that was shown, by its number": changed(
        answer_even_sum="n * (n + 1)", answer_running_sums=f"mine = _3\n{RUNNING}",
        check_even_sum="scoreboard()\n\ncheck.even_sum(_3)",
    ),
    "a file that is run": [
        ("", f"%%writefile mine.py\nimport numpy as np\n{RUNNING}"),
        *changed(answer_running_sums="%run -i mine"),
    ],
    "a function that gives the same array again": changed(
        answer_running_sums="kept = np.zeros(99)\n\n\ndef running(x):\n"
        "    kept[: len(x)] = np.cumsum(x)\n    return kept[: len(x)]"
    ),
    "another call without a value": behind(changed(), ("x", "check.even_sum(nowhere)")),
    "a call in a function that nobody calls": behind(
        changed(), ("x", "def later():\n    check.even_sum(n)")
    ),
    "a list that is emptied behind the call": changed(
        answer_own_sums="own = [sum(sums(student).numbers), sum(sums(student).numbers) / 4]",
        check_own_sums="own += [own]\nr = check.own_sums(student, *own[:2])\nown.clear()",
    ),
    "an id in the call alone": changed(
        student="student = 0",
        answer_own_sums="own_total, own_mean = sum(sums(7).numbers), sum(sums(7).numbers) / 4",
        check_own_sums="check.own_sums(7, own_total, own_mean)",
    ),
    "a star import above": [("x", "from sympy import *\nn = 5"), *changed()],
    "a cell within a cell": changed(answer_even_sum=f"get_ipython().run_cell('{FIRST}')"),
    "a blank copy below": changed() + [
        (f"again-{key}", "total = ____" if key == "answer-even-sum" else source)
        for key, source in changed() if key in ("answer-even-sum", "check-even-sum")
    ],
}  # fmt: skip


SHELL = "from IPython import get_ipython\nip = get_ipython()\n"
GIVEN |= {
    "another call that comes to no verdict": behind(
        changed(), ("x", "r = check.running_sums(lambda x: 0)"), key="check-running-sums"
    ),
    "everything in one cell, one never checked": [
        ("", "\n\n".join(source for _, source in changed(check_running_sums="")))
    ],
    "an id typed anew below the first": behind(
        changed(student="student = 9999"), ("x", "student = 7"), key="check-running-sums"
    ),
    "another id above the sheet's": [("x", "student = 3"), *changed()],
    "a shell that is imported": changed(
        answer_even_sum=f"{SHELL}ip.run_line_magic('time', '{FIRST}')"
    ),
    "a shell that is given names": changed(
        answer_even_sum=f"{SHELL}ip.push(dict(total=ip.ev('n * (n + 1)')))\n"
        "ip.events.register('post_run_cell', print)"
    ),
    "a prompt before it": changed(answer_even_sum=f"In [3]: {FIRST}"),
    "a display that is changed": changed(
        answer_even_sum=f"shown = display(1, display_id=True)\nshown.update(2)\n{FIRST}"
    ),
    "asked where it runs": changed(
        answer_even_sum="import getpass, os\n%env ONE=1\n%set_env TWO 2\nwhere = %pwd\n"
        "assert getpass.getuser() and os.path.isdir(where) and os.environ['TWO'] == '2'\n"
        f"assert os.environ['ONE'] == '1'\n{FIRST}"
    ),
    "a window for plots": changed(
        answer_even_sum="import matplotlib\nmatplotlib.use('TkAgg')\n"
        f"import matplotlib.pyplot as plt\nplt.plot([1])\n{FIRST}"
    ),
    "a plot beside a shell": changed(
        answer_even_sum=f"{SHELL}import matplotlib.pyplot as plt\nplt.plot([1, 2])\nplt.show()\n"
        f"{FIRST}"
    ),
}  # fmt: skip


MOUNTED = "from google.colab import drive\nwhere = drive.mount('/content/drive')\nprint(where)\n"
GIVEN |= {  # with packages that are there at home
    "a drive that is mounted above the id": changed(
        student=f"{MOUNTED}student = 7",
        answer_own_sums="own_total, own_mean = sum(sums(7).numbers), sum(sums(7).numbers) / 4",
    ),
    "a drive that is mounted above all": [
        ("", MOUNTED + "\n\n".join(source for _, source in changed()))
    ],
    "a folder at home above the id": changed(
        student="import os\nos.chdir('/home/ada/course')\nstudent = 7",
        answer_own_sums="own_total, own_mean = sum(sums(7).numbers), sum(sums(7).numbers) / 4",
    ),
    "a name that is asked for": changed(
        answer_even_sum=f"name = input('Your name?')\nprint(name)\n{FIRST}"
    ),
    "a file that is not handed in": changed(
        answer_even_sum=f"with open('data.csv') as file:\n    data = file.read()\n{FIRST}"
    ),
    "a package that is not needed": changed(
        answer_even_sum=f"import nowhere as no; no.seed(1)\n{FIRST}"
    ),
    "a package that is not needed, timed": changed(
        answer_even_sum=f"%%time\nfrom nowhere import bar\n{FIRST}"
    ),
    "a package from above that is not needed": [
        ("x", "import nowhere as no"),
        *changed(answer_even_sum=f"device = no.device()\nprint(device)\n{FIRST}"),
    ],
    "a package on the line of the answer": changed(answer_even_sum=f"import nowhere; {FIRST}"),
    "a class, with a function, that needs a package": changed(
        answer_even_sum="from nowhere import Net, fast\n\n\nclass Mine(Net):\n    pass\n\n\n"
        f"@fast\ndef go(x):\n    return x\n\n\nmine = Mine(go)\nprint(mine)\n{FIRST}"
    ),
    "a package in a loop that is not needed": changed(
        answer_even_sum=f"%pwd\nfrom nowhere import bar\nfor k in bar(range(3)):\n    k\n{FIRST}"
    ),
    "mended at the end, behind a package that is not needed": behind(
        changed(answer_even_sum="total = n"), ("x", f"import nowhere\n{FIRST}\n{CHECK}")
    ),
}  # fmt: skip


def as_format_3(cells):
    code = [
        {"cell_type": "code", "language": "python", "input": s, "outputs": []} for _, s in cells
    ]
    return {"nbformat": 3, "nbformat_minor": 0, "metadata": {}, "worksheets": [{"cells": code}]}


def with_output(output, place=0):
    made = notebook(changed())
    made["cells"][place]["outputs"] = [output]
    return made


def with_verdict(cells, verdict, key="check-even-sum", count=3):
    made = notebook(cells)
    for cell in made["cells"]:
        if cell["id"] == key:
            output = {"output_type": "execute_result", "metadata": {}, "execution_count": count}
            cell["outputs"] = [{**output, "data": {"text/plain": [verdict]}}]
            cell["execution_count"] = count
    return made


PRINTED = {"output_type": "stream", "name": "stdout"}
FILES = {
    "format 3": as_format_3(changed()),
    "much output": with_output({**PRINTED, "text": "x" * 47_000_000}),
    "many lines": with_output({**PRINTED, "text": ["line\n"] * 500_000}),
    "a large figure": with_output(
        {"output_type": "display_data", "metadata": {},
         "data": {"application/vnd.plotly.v1+json": {"x": list(range(400_000))}}}
    ),
    "widgets": {**notebook(changed()), "metadata": {"widgets": {"state": ["x" * 30_000_000]}}},
    "an attachment": {
        **notebook(changed()),
        "cells": [
            {"cell_type": "markdown", "source": "x", "metadata": {},
             "attachments": {"a.png": {"image/png": "A" * 30_000_000}}},
            *notebook(changed())["cells"],
        ],
    },
}  # fmt: skip
RIGHT, WRONG = "1.1 even_sum: right, 2 of 2 points. So.", "1.1 even_sum: wrong, 0 of 2 points. No."
LOST = {
    "shown, not given": with_verdict(changed(answer_even_sum="total = n"), RIGHT),
    "shown in part": with_verdict(
        changed(answer_own_sums="own_total, own_mean = 1, 1"),
        "1.3 own_sums: partly right, 1 of 2 points. So.", "check-own-sums",
    ),
}  # fmt: skip


CHANGED_BEHIND = (
    "def helper(x):\n    return np.cumsum(x)\n\n\ndef running(x):\n    return helper(x)\n\n\n"
    "r = check.running_sums(running)\n\n\ndef helper(x):\n    return x"
)  # what it calls is another function when it is judged


def with_kind(kind):
    """The first answer in a cell that is no code."""
    made = notebook(changed())
    for cell in made["cells"]:
        if cell["id"] == "answer-even-sum":
            cell["cell_type"] = kind
    return made


ELSEWHERE = {
    "in a text cell": with_kind("markdown"),
    "in a raw cell": with_kind("raw"),
    "below, not checked there": notebook(
        behind(changed(answer_even_sum="total = ____"), ("x", FIRST))
    ),
    "below an empty cell": notebook(behind(changed(answer_even_sum="pass"), ("x", FIRST))),
}
NOT_MORE = {
    "shown wrong": with_verdict(changed(), WRONG),
    "shown, given": with_verdict(changed(), RIGHT),
}


@pytest.fixture(scope="module")
def run(tmp_path_factory, bubblewrap, small_course):
    """The whole class in one run of the command."""
    folder = tmp_path_factory.mktemp("faults")
    files = {kind: notebook(cells) for kind, cells in GIVEN.items()} | FILES | LOST | NOT_MORE
    files |= ELSEWHERE
    for kind, made in files.items():
        path = folder / "class" / kind / f"{UNIT}.ipynb"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(made))
    grades = folder / "grades"
    assert main(["grade", str(folder / "class"), "--to", str(grades), "--jobs", "2"]) == 0
    with (grades / "grades.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = {row["student"]: row for row in csv.DictReader(file)}
    with Gradebook(grades / NAME) as book:
        results = {g.student: {r.name: r for r in g.results} for g in book.all()}
    return SimpleNamespace(rows=rows, results=results, grades=grades)


@pytest.mark.parametrize("kind", [*GIVEN, *FILES, *NOT_MORE])
def test_what_a_clean_run_shows_is_given(run, kind):
    assert run.rows[kind]["total"] == str(ALL), run.results[kind]
    assert "showed" not in run.rows[kind]["look by hand"]


@pytest.mark.parametrize("kind", LOST)
def test_what_the_file_shows_and_the_grade_does_not_give_is_told_to_both(run, kind):
    name, shown = {"shown in part": ("own_sums", "1 of 2")}.get(kind, ("even_sum", "2 of 2"))
    told = f"{name}: The notebook showed {shown}, the grade gives 0."
    assert told in run.rows[kind]["look by hand"].split(" | ")[0]
    pages = [p.read_text() for p in (run.grades / "feedback" / UNIT).glob("*.html")]
    assert sum(f"Your notebook showed {shown} here." in page for page in pages) == 1


@pytest.mark.parametrize("kind", ELSEWHERE)
def test_nobody_reads_not_attempted_about_what_was_typed_elsewhere(run, kind):
    result = run.results[kind]["even_sum"]
    assert result.outcome == "could not be checked"
    assert FIRST in result.answer
    assert "even_sum: It could not be checked" in run.rows[kind]["look by hand"]


def test_what_the_call_showed_is_told_also_where_the_file_was_saved_without_outputs(
    bubblewrap, small_course, tmp_path
):
    path = tmp_path / "class" / "ada" / f"{UNIT}.ipynb"
    path.parent.mkdir(parents=True)
    made = changed(answer_running_sums=None, check_running_sums=CHANGED_BEHIND)
    path.write_text(json.dumps(notebook(made)))
    grades = tmp_path / "grades"
    assert main(["grade", str(tmp_path / "class"), "--to", str(grades), "--jobs", "1"]) == 0
    with (grades / "grades.csv").open(encoding="utf-8-sig", newline="") as file:
        (row,) = csv.DictReader(file)
    assert "running_sums: The notebook showed 3 of 3, the grade gives 0" in row["look by hand"]


def test_such_answers_come_first_in_the_review(run):
    queue = Queue(run.grades)
    first = [(place.student, place.exercise) for place in queue.places()[: len(LOST)]]
    queue.close()
    assert set(first) == {("shown, not given", "even_sum"), ("shown in part", "own_sums")}


AT_THE_END = [cell for cell in changed() if not cell[0].startswith("check-")]
CALLS = [source for key, source in changed() if key.startswith("check-")]
CHECKED_AT_THE_END = {
    "cell by cell": [*AT_THE_END, *(("", call) for call in CALLS)],
    "in one cell": [*AT_THE_END, ("", "\n".join(CALLS))],
    "in a function": [
        *AT_THE_END,
        ("", "def go():\n" + "".join(f"    print({call})\n" for call in CALLS) + "go()"),
    ],
    "without ids": [("", source) for _, source in AT_THE_END] + [("", call) for call in CALLS],
    "as it should be": changed(),
    "the first one again in between": behind(changed(), ("x", CHECK), key="answer-running-sums"),
    "all in one cell": [("", "\n\n".join(source for _, source in changed()))],
}


@pytest.mark.parametrize("kind", CHECKED_AT_THE_END)
def test_of_each_exercise_its_own_answer_is_shown_wherever_the_checks_stand(judge_process, kind):
    grade, _ = graded(judge_process, CHECKED_AT_THE_END[kind], UNIT)
    answers = {result.name: result.answer for result in grade.results}
    typed = {"even_sum": FIRST, "running_sums": "np.cumsum", "square_sum": "squares = n * (n + 1)"}
    for name, text in typed.items():
        assert [other for other in typed if text in answers[other]] == [name], answers


def test_what_stopped_at_an_error_was_attempted_wherever_it_is_checked(judge_process):
    cells = [(key, "totale = nn") if key == "answer-even-sum" else (key, source)
             for key, source in CHECKED_AT_THE_END["in one cell"]]  # fmt: skip
    grade, _ = graded(judge_process, cells, UNIT)
    (result,) = (r for r in grade.results if r.name == "even_sum")
    assert (result.outcome, result.answer) == ("could not be checked", "totale = nn")
    assert "raised NameError: name 'nn' is not defined. So there is no `total`" in result.says


def test_of_errors_that_follow_from_one_another_the_first_is_told(judge_process):
    cells = changed(student="student = input('id?')")
    grade, _ = graded(judge_process, cells, UNIT)
    (result,) = (r for r in grade.results if r.name == "own_sums")
    assert result.says.startswith("Your cell raised EOFError: nobody is there to answer input()")


def test_what_needs_a_package_that_is_not_here_is_told_so(judge_process):
    cells = changed(answer_even_sum="import nowhere as no\ntwo = no.two\ntotal = two * n")
    grade, _ = graded(judge_process, cells, UNIT)
    (result,) = (r for r in grade.results if r.name == "even_sum")
    assert result.says.startswith("Your cell raised ModuleNotFoundError: No module named 'nowhere'")


LACKING = {
    "on one line": f"k = 1; k += 1; open('nowhere'); {FIRST} * k / 2",
    "with types that are not evaluated": "from __future__ import annotations\nimport nowhere\n"
    f"def same(x: nowhere.Number): return x\n{FIRST}\ntotal = same(total)",
    "with what reads its own source": "import nowhere\nimport inspect\n"
    f"one = lambda: 'two  spaces'  # so\n{FIRST} * inspect.getsource(one).count('# so')",
}


@pytest.mark.parametrize("source", LACKING.values(), ids=LACKING)
def test_behind_what_is_not_here_each_statement_runs_once_and_as_it_stands(judge_process, source):
    cells = changed(answer_even_sum=source)
    grade, _ = graded(judge_process, cells, UNIT)
    (result,) = (r for r in grade.results if r.name == "even_sum")
    assert result.earned == result.points


@pytest.mark.parametrize("stops", ["nowhere()", "1 / 0", "from math import nowhere"])
def test_at_another_error_a_cell_stops(judge_process, stops):
    grade, _ = graded(judge_process, changed(answer_even_sum=f"{stops}\n{FIRST}"), UNIT)
    assert [r.earned for r in grade.results if r.name == "even_sum"] == [0]


def test_where_a_function_lacks_a_name_the_cell_that_was_to_make_it_is_told(judge_process):
    cells = changed(answer_running_sums="def running(x):\n    return pd.cumsum(x)")
    grade, _ = graded(judge_process, [("x", "import nowhere as pd"), *cells], UNIT)
    (result,) = (r for r in grade.results if r.name == "running_sums")
    assert result.outcome == "could not be checked"
    assert result.says.endswith("Your cell raised ModuleNotFoundError: No module named 'nowhere'.")


LESS = {
    "with another answer": ("x", f"total = n\n{CHECK}"),
    "in a loop": ("x", "for total in (total, n):\n    print(check.even_sum(total))"),
}


@pytest.mark.parametrize("kind", LESS)
def test_where_the_last_call_gives_less_than_an_earlier_one_a_person_is_told(judge_process, kind):
    grade, _ = graded(judge_process, behind(changed(), LESS[kind]), UNIT)
    (result,) = (r for r in grade.results if r.name == "even_sum")
    assert (result.outcome, result.earned) == ("wrong", 0)
    assert "An earlier call gave 2 of 2; the last one counts." in result.by_hand


def test_an_answer_below_the_last_check_is_shown_too(judge_process):
    cells = behind(changed(answer_even_sum="total = n"), ("x", FIRST))
    grade, _ = graded(judge_process, cells, UNIT)
    (result,) = (r for r in grade.results if r.name == "even_sum")
    assert (result.outcome, result.answer) == ("wrong", f"total = n\n\n{FIRST}")


def test_what_was_typed_is_shown_wherever_it_was_typed(run):
    for kind in GIVEN:
        if not kind.startswith(("merged, everything", "kept", "printed")):
            typed = run.results[kind]["even_sum"].answer
            assert "n + 1)" in typed, (kind, typed)
