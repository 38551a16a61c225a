"""A sheet in its page, without a browser: which fields it has, and how its cells are run."""

import importlib.util
import json
from pathlib import Path

import nbformat
import pytest

from classroom.offline import TEMPLATES
from classroom.site.sheets import about_sheet, pieces
from selfcheck.kinds import Choice, Formula, Function, Lines, Number
from selfcheck.units import declared

KINDS = {"a": Formula(x=(0, 1)), "b": Number(), "c": Choice(("yes", "no")), "f": Function()}
KINDS["steps"] = Lines(("x",))
NAMES = {name: name for name in KINDS}


@pytest.fixture(scope="module")
def script():
    """What the worker of a page runs."""
    path = TEMPLATES / "site" / "static" / "sheet.py"
    spec = importlib.util.spec_from_file_location("sheet_in_page", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def sums(in_small_course: Path, script):
    """The cells of a small sheet, and a function that judges an answer among them."""
    sheet = nbformat.read(in_small_course / "exercises" / "01_sums.ipynb", as_version=4)
    cells = {cell["id"]: cell for cell in about_sheet(sheet, declared("01_sums"))["cells"]}

    def judged(name: str, **sources: str) -> dict:
        changed = {i.replace("_", "-"): {"source": text} for i, text in sources.items()}
        asked = [cell | changed.get(i, {}) for i, cell in cells.items()]
        script.begin(json.dumps(asked))
        return json.loads(script.check(json.dumps(asked), f"check-{name}"))

    return judged


# -- fields ---------------------------------------------------------------------------------------


def test_a_blank_that_asks_for_a_line_is_a_field():
    found = pieces("k = 3\na, b = ____, ____\nc = ____  # yes or no", KINDS, NAMES)
    assert [piece if isinstance(piece, str) else piece["kind"] for piece in found] == [
        "k = 3\na, b = ",
        "formula",
        ", ",
        "formula",
        "\nc = ",
        "choice",
        "  # yes or no",
    ]
    assert found[5]["options"] == ["yes", "no"]


def test_the_lines_of_a_derivation_are_one_field():
    found = pieces("steps = [\n    ____,\n    ____,\n]", KINDS, NAMES)
    assert found[0] == "steps = "
    assert found[1]["kind"] == "lines"


@pytest.mark.parametrize(
    "blank",
    [
        "def f(x):\n    return ____",
        "a = ____\nf = ____",
        "a = [____, ____]",
        "a = ____ + 1",
        "a = other = ____",
        "a = '____'",
        "for",
    ],
)
def test_whatever_asks_for_more_is_code(blank):
    assert pieces(blank, KINDS, NAMES) == []


def test_a_field_knows_its_parameter_by_the_call_of_the_check():
    assert pieces("mine = ____", KINDS, {"mine": "b"})[1]["parameter"] == "b"
    assert pieces("a = ____", KINDS, {"mine": "b"}) == []


# -- running --------------------------------------------------------------------------------------


def test_an_answer_is_judged_with_the_set_up_alone(sums):
    said = sums("even-sum", answer_even_sum='total = "n*(n + 1)"', answer_running_sums="1 / 0")
    assert said["check"]["feedback"]["outcome"] == "right"
    assert said["failed"] == []


def test_an_answer_that_uses_another_is_judged_with_it(sums):
    uses = "def running(x):\n    return helper(x)"
    helper = "total = 1\ndef helper(x):\n    return np.cumsum(x)"
    said = sums("running-sums", answer_even_sum=helper, answer_running_sums=uses)
    assert said["check"]["feedback"]["outcome"] == "right"
    failing = sums("running-sums", answer_even_sum=helper + "\n1 / 0", answer_running_sums=uses)
    assert failing["check"]["feedback"]["outcome"] == "right"
    assert [(one["id"], one["line"]) for one in failing["failed"]] == [("answer-even-sum", 4)]


def test_an_error_has_the_students_own_line(sums):
    said = sums("even-sum", answer_even_sum="total = 1\n\ntotal = missing + 1")
    assert said["answer"]["error"] == {
        "kind": "NameError",
        "says": "name 'missing' is not defined",
        "line": 3,
        "code": "total = missing + 1",
    }
    slip = sums("even-sum", answer_even_sum="total = = 1")
    assert (slip["answer"]["error"]["kind"], slip["answer"]["error"]["line"]) == ("SyntaxError", 1)
    assert "There is no `total`" in slip["check"]["feedback"]["says"]


def test_a_book_is_cut(sums):
    said = sums("even-sum", answer_even_sum="for _ in range(99999): print('line')\ntotal = 1")
    assert len(said["answer"]["printed"]) < 210_000
    assert said["answer"]["printed"].endswith("it is left out)\n")


def test_names_of_an_answer_are_its_own_whatever_ran_before(sums):
    assert sums("even-sum", answer_even_sum="total = n * (n + 1)")["check"]["feedback"]["earned"]
    gone = sums("even-sum", answer_even_sum="other = n * (n + 1)")
    assert gone["check"]["feedback"]["earned"] == 0


def test_what_a_cell_makes_and_uses(script):
    made, used = script.made_and_used(
        "import a.b as c\nfrom d import e\nx, y = f(1), len(z)\nw[0] = 1\n"
        "def g(local):\n    return local + outside\nclass H: pass"
    )
    assert made == {"c", "e", "x", "y", "w", "g", "H"}
    assert {"f", "z", "w", "outside"} <= used
    assert not {"local", "len"} & used


def test_cells_of_ours_that_use_an_answer_wait_for_it(script):
    cells = [
        {"id": "set-up", "role": "given", "source": "k = 2"},
        {"id": "answer-a", "role": "answer", "source": "a = k"},
        {"id": "try", "role": "given", "source": "print(a)"},
    ]
    assert list(json.loads(script.begin(json.dumps(cells)))["said"]) == ["set-up"]
    assert json.loads(script.try_out(json.dumps(cells), "try"))["printed"] == "2\n"


def test_practice_has_numbers_that_nobody_has_and_no_points(in_small_course, script):
    sheet = nbformat.read(in_small_course / "exercises" / "01_sums.ipynb", as_version=4)
    cells = json.dumps(about_sheet(sheet, declared("01_sums"))["cells"])
    script.begin(cells)
    first, again, other = (
        json.loads(script.practice(cells, "check-own-sums", seed, "")) for seed in (1, 1, 2)
    )
    assert first == again != other
    guess = json.loads(script.practice(cells, "check-own-sums", 1, "own_total, own_mean = 0, 0"))
    assert "practice" in guess["check"]["shown"][0]["text/plain"]


def test_a_formula_is_read_as_one_types_it(in_small_course, script):
    sheet = nbformat.read(in_small_course / "exercises" / "01_sums.ipynb", as_version=4)
    script.begin(json.dumps(about_sheet(sheet, declared("01_sums"))["cells"]))

    def reading(text: str, name: str = "total", cell: str = "check-even-sum") -> dict:
        return json.loads(script.reading(cell, name, text))

    half = reading(r"\frac{n}{2}")["math"]
    assert half.startswith("<math")
    assert "mfrac" in half
    assert reading("n/2") == reading(r"\frac{n}{2}")
    assert "uses q" in reading("q + 1")["says"]
    assert reading("1/3", "total", "check-own-sums")["math"].endswith(" ≈ 0.333333")


def test_formulas_of_a_solution_are_set(script):
    html = script._as_html("**So $x_1$ holds**, with `$c$`:\n\n$$\\frac{1}{2} < y$$")
    assert "<strong>So <math><msub>" in html
    assert "<mfrac>" in html
    assert "<code>$c$</code>" in html
    assert "\0" not in html
