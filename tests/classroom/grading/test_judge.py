"""The judge says of an answer what the student's own notebook says of it."""

import pytest

from classroom.grading.assembly import submitted_cells
from classroom.grading.judge import seed_of
from classroom.notebooks import read
from tests.classroom.grading.making import ROOT, earned, graded, solved
from tests.places import our_notebooks

UNITS = [path.stem for path in our_notebooks("solutions")]
AMPLE = {"cell": 60.0, "wall": 600.0}


@pytest.mark.parametrize("unit", UNITS)
def test_a_solution_earns_everything_in_the_words_that_were_saved_with_it(desk, unit):
    grade, _ = graded(desk, solved(unit), unit, limits=AMPLE)
    notebook = read(ROOT / "solutions" / f"{unit}.ipynb")
    saved = [c.outputs[0].data["text/plain"] for c in notebook.cells if c.id.startswith("check-")]
    assert [repr(result.feedback) for result in grade.results] == saved
    assert grade.earned == grade.points


@pytest.mark.parametrize("unit", UNITS)
def test_an_exercise_as_it_was_handed_out_is_not_attempted(desk, unit):
    cells = submitted_cells((ROOT / "exercises" / f"{unit}.ipynb").read_bytes())
    grade, _ = graded(desk, cells, unit, limits=AMPLE)
    assert {result.outcome for result in grade.results} == {"not attempted"}
    assert (grade.earned, grade.notes) == (0, ())


def momentum(desk, **answers):
    """The grade of unit 02 with these answers, and the result of the first of them."""
    grade, story = graded(desk, solved("02_momentum", **answers), "02_momentum", limits=AMPLE)
    name = next(iter(answers))
    return next(result for result in grade.results if result.name == name), grade, story


def test_a_known_mistake_is_named_and_explained(desk):
    result, grade, _ = momentum(
        desk, equivalent_rules="alpha, epsilon = delta*beta, delta*(1-beta)"
    )
    assert (result.outcome, result.earned) == ("wrong", 2)  # ε is right
    assert result.misconception
    assert result.explanation
    assert result.answer == "alpha, epsilon = delta*beta, delta*(1-beta)"
    assert grade.earned == grade.points - 1


UNIT_10 = "10_transformers_are_rnns"


@pytest.mark.parametrize("with_cache", ["____", "object()", "'no formula'", "undefined_name"])
def test_a_part_without_an_answer_costs_that_part_alone(desk, with_cache):
    answer = f"""
        without_cache, recurrence = "2*i**2*d", "2*d**2"
        with_cache = {with_cache}
    """
    grade, _ = graded(desk, solved(UNIT_10, token_cost=answer), UNIT_10, limits=AMPLE)
    result = next(result for result in grade.results if result.name == "token_cost")
    assert result.earned == 1, result
    assert result.says.startswith("With a cache: ")


def test_a_regrade_repeats_the_seeds_and_another_student_has_others():
    assert seed_of("ada", "bias") == seed_of("ada", "bias")
    assert len({seed_of(who, what) for who in ("ada", "bob") for what in ("bias", "leak")}) == 4


NOTEBOOKISH = {
    "magics": "%matplotlib inline\n%timeit 1\nfactor = 1 - beta**t",
    "shell commands": "!pip install something\nfactor = 1 - beta**t",
    "help": "np.exp?\nfactor = 1 - beta**t",
    "await": "import asyncio\nawait asyncio.sleep(0)\nfactor = 1 - beta**t",
    "display": "display(beta)\nfrom IPython.display import display\ndisplay(1)\n"
    "factor = 1 - beta**t",
    "a figure": "import matplotlib.pyplot as plt\nplt.plot([1])\nplt.show()\nfactor = 1 - beta**t",
    "a widget": "from ipywidgets import interact\ninteract(lambda x: x, x=3)\nfactor = 1 - beta**t",
    "a file": "open('a.txt', 'w').write('1')\nfactor = int(open('a.txt').read()) - beta**t",
    "a check of one's own": "factor = 1 - beta**t\ncheck.bias(factor)\nscoreboard()",
    "a dataclass": "from dataclasses import dataclass\n@dataclass\nclass A:\n    x: int\n"
    "factor = A(1).x - beta**t",
    "annotations that are values": "def f(x: int): pass\n"
    "factor = (1 if f.__annotations__['x'] is int else 0) - beta**t",
    "text": "factor = '1 - β^t'",
    "a warning": "import warnings\nwarnings.warn('x')\nfactor = 1 - beta**t",
}


NOTEBOOKISH |= {
    "time of a cell": "%%time\nfactor = 1 - beta**t",
    "time of a line": "%time factor = 1 - beta**t",
    "capture": "%%capture out\nprint(1)\nfactor = 1 - beta**t",
    "profile": "%prun -q factor = 1 - beta**t",
    "magics in magics": "%%capture\n%time factor = 1 - beta**t",
    "measured in between": "factor = 1 - beta**t\n%timeit -n 1 -r 1 factor = 0\n!ls",
    "an indented one": "if True:\n    %time factor = 1 - beta**t",
}
NOTEBOOKISH["captured text"] = "%%time\n%time one = 1\nfactor = one - beta**t"


@pytest.mark.parametrize("kind", NOTEBOOKISH)
def test_what_runs_in_a_notebook_runs_here(desk, kind):
    result, grade, _ = momentum(desk, bias=NOTEBOOKISH[kind])
    assert grade.earned == grade.points, result


@pytest.mark.parametrize(
    ("magic", "source"),
    [
        ("%%bash", "%%bash\nfactor=1"),
        ("%%script", "%%script python\nfactor = 1 - beta**t"),
        ("%run", "%run answer.py"),
        ("%%timeit", None),
    ],
)
def test_a_magic_that_swallowed_code_is_named(desk, magic, source):
    result, grade, _ = momentum(desk, bias=source or "%%timeit -n 1\nfactor = 1 - beta**t")
    assert result.earned == 0
    if source:
        assert f"{magic} does nothing here" in result.says
        assert any(magic in note for note in grade.notes)
    else:  # at home no name stays of it either
        assert "name 'factor' is not defined" in result.says


def test_an_error_in_a_cell_is_told_in_its_own_words(desk):
    result, grade, _ = momentum(desk, bias="factor = 1 / 0")
    assert result.outcome == "could not be checked"
    assert "raised ZeroDivisionError: division by zero. So there is no `factor`." in result.says
    assert grade.earned == grade.points - 2


def test_a_name_that_is_misspelled_is_told(desk):
    result, _, _ = momentum(desk, bias="faktor = 1 - beta**t")
    assert "NameError: name 'factor' is not defined" in result.says


def test_a_blank_that_is_computed_with_is_not_attempted(desk):
    result, _, _ = momentum(desk, bias="factor = 1 - ____ * beta\nif factor > 0: factor = 1")
    assert result.outcome == "not attempted"


def test_a_cell_that_is_too_slow_is_stopped_and_named(desk):
    cells = solved("02_momentum", bias="while True: pass")
    grade, _ = graded(desk, cells, "02_momentum", limits={"cell": 0.5, "wall": 30.0})
    result = next(result for result in grade.results if result.name == "bias")
    assert "raised TooSlow: it was stopped, since it took too long" in result.says
    assert grade.earned == grade.points - 2


def test_the_story_tells_what_was_run_and_seen_and_why(desk):
    result, _, story = momentum(desk, bias="print('thinking')\nfactor = beta**t")
    cell = next(step for step in story if step.get("cell") == "answer-bias")
    assert (cell["printed"], cell["trouble"]) == ("thinking\n", "")
    check = next(step for step in story if step.get("exercise") == "check.bias(factor)")
    assert check["seen"] == ["beta**t"]
    assert result.says in check["says"]


def test_the_true_id_counts_where_it_is_known(desk):
    cells = solved("05_two_heads")  # computes for whatever the cell `student` says
    grade, _ = graded(desk, cells, "05_two_heads", student_id="ada@example.org")
    assert (grade.student_id, grade.earned) == ("ada@example.org", grade.points)


def test_answers_for_somebody_elses_numbers_earn_nothing(desk):
    own = solved("05_two_heads")
    for cell in ("answer-projections", "answer-scores-and-weights"):
        own[cell] = (
            f"numbers = two_heads(7)\nX, (head_1, head_2) = numbers.X, numbers.heads\n{own[cell]}"
        )
    grade, _ = graded(desk, own, "05_two_heads", student_id="8")
    assert earned(grade)["projections"] == 0


def test_without_a_known_id_the_one_in_the_notebook_counts(desk):
    cells = {**solved("05_two_heads"), "student": "student = ' Ada@Example.org'"}
    grade, _ = graded(desk, cells, "05_two_heads")
    assert (grade.student_id, grade.earned) == ("ada@example.org", grade.points)
    assert grade.by_hand == ()


def test_the_students_own_ids_hold_as_well(desk):
    cells = {**solved("05_two_heads"), "student": "student = 'Ada@example.org'"}
    about = {"student_id": "8", "own_ids": ["8", "ada@example.org"]}
    grade, _ = graded(desk, cells, "05_two_heads", **about)
    assert (grade.student_id, grade.earned) == ("ada@example.org", grade.points)
    assert (grade.by_hand, grade.notes) == ((), ())


def test_another_id_is_replaced_and_the_student_is_told(desk):
    grade, _ = graded(desk, solved("05_two_heads"), "05_two_heads", student_id="8")
    assert (grade.student_id, grade.written_id, grade.earned) == ("8", "0", grade.points)
    assert grade.notes[0].startswith("Your notebook used id 0; your number is 8")


@pytest.mark.parametrize("true_id", [None, "mallory"])
def test_an_id_that_changes_further_down_earns_nothing_and_is_told(desk, true_id):
    cells = {**solved("05_two_heads"), "student": "student = 'mallory'"}
    cells["answer-projections"] = (
        "student = 'ada'\nnumbers = two_heads(student)\n"
        f"X, (head_1, head_2) = numbers.X, numbers.heads\n{cells['answer-projections']}"
    )
    grade, _ = graded(desk, cells, "05_two_heads", student_id=true_id)
    assert grade.student_id == "mallory"
    assert earned(grade)["projections"] == 0
    assert "changed on the way, from mallory to ada; mallory held" in grade.by_hand[0]


def test_the_id_of_nobody_asks_for_a_look_by_hand(desk):
    grade, _ = graded(desk, solved("05_two_heads"), "05_two_heads")
    assert "nobody's" in grade.by_hand[0]


@pytest.mark.parametrize(
    "attack", ["import os; os._exit(1)", "while True: pass", "raise SystemExit"]
)
def test_what_happens_while_wrong_answers_are_signed_changes_no_verdict(desk, attack):
    source = f"""
        armed = False
        def weights(beta, t):
            if armed:
                {attack}
            return [3.0] * t
    """
    cells = solved("02_momentum", weights=source, bias="factor = beta**3")
    cells["answer-half-life"] += "\narmed = True"
    cells["student"] = "student = 7"
    grade, _ = graded(desk, cells, "02_momentum", limits=AMPLE)
    results = {result.name: result for result in grade.results}
    wrong = {"weights", "bias", "first_false_line"}  # the last is solved for another id
    assert {name for name, result in results.items() if result.outcome != "right"} == wrong
    assert results["weights"].outcome == "wrong"
    assert len(results["bias"].signatures) == 1
    assert grade.by_hand == ()
