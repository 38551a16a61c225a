"""What two submissions have in common is told if it is rare in this class; else nothing is."""

import ast
import random

import pytest

from classroom.grading import pairs
from classroom.grading.copies import Seen, Telling, essence, noted
from classroom.grading.odds import Odds
from classroom.grading.records import Graded, Result

STUBS = {"weights": 'def weights(beta, t):\n    """The weights."""\n    return ____'}
STUBS |= {"bias": "factor = ____", "rule": "alpha, epsilon = ____, ____", "mean": "mean = ____"}
FORMS = {
    "weights": [
        'def weights(beta, t):\n    """The weights."""\n    return beta ** np.arange(t)[::-1]',
        "def weights(beta, t):\n    return np.array([beta ** (t - k) for k in range(1, t + 1)])",
        "def weights(beta, t):\n    out = np.zeros(t)\n    for k in range(t):\n"
        "        out[k] = beta ** (t - 1 - k)\n    return out",
    ],
    "bias": ["factor = 1 - beta**t", "factor = (1 - beta**t)", "factor = -(beta**t - 1)"],
    "rule": ["alpha, epsilon = beta, delta * (1 - beta)", "alpha = beta; epsilon = delta - beta"],
    "mean": ["mean = sum(x) / len(x)", "mean = np.mean(x)"],
}  # fmt: skip
WRONG = ["factor = 1 - beta", "factor = beta**t", "factor = 1 + beta**t", "factor = 1 / beta**t"]


def honest(chance):
    """One student's answers: each in one of the natural spellings, some with a usual mistake."""
    answers = {name: (chance.choice(forms), "right") for name, forms in FORMS.items()}
    if chance.random() < 0.3:
        answers["bias"] = (chance.choice(WRONG), "wrong")
    return answers


OWN = """def weights(beta, t):
    # powers first
    powers = [1.0]
    scale = 1 - beta
    for step in range(1, t):
        powers.append(powers[-1] * beta)
    powers.reverse()
    return np.asarray(powers) * (scale / scale) + 0 * {n}"""


def of_ones_own(number):
    """Answers that somebody wrote alone, and got wrong in a way of their own."""
    return {
        "weights": (OWN.format(n=number), "right"),
        "bias": (f"factor = 1 - beta**(t + {number})", "wrong"),
        "rule": (f"alpha, epsilon = beta * {number}, delta", "wrong"),
        "mean": ("mean = np.mean(x)", "right"),
    }


DISGUISES = {
    "as it is": lambda s: s,
    "other names": lambda s: s.replace("powers", "p").replace("scale", "q").replace("step", "i"),
    "other comments": lambda s: s.replace("# powers first", "# my idea") + "  # done",
    "other order": lambda s: s.replace(
        "    powers = [1.0]\n    scale = 1 - beta\n", "    scale = 1 - beta\n    powers = [1.0]\n"
    ),
    "a docstring": lambda s: s.replace("# powers first", '"""All powers."""'),
}


def graded(student, answers, **about):
    results = tuple(
        Result(f"2.{n}", name, outcome, int(outcome == "right"), 1, "", answer=source)
        for n, (name, (source, outcome)) in enumerate(answers.items(), start=1)
    )
    about = {"content": student, **about}
    return Graded(student, "02_products", f"{student}.ipynb", "", results=results, **about)


def class_of(size, seed=0):
    chance = random.Random(seed)
    return [graded(f"s{n:03}", honest(chance)) for n in range(size)]


def told(*everyone, ids=None):
    """All that is said of each student: of the file, and of single answers."""
    return {
        g.student: " ".join([*g.alike, *(told for r in g.results for told in r.alike)])
        for g in noted(lambda: everyone, ids, STUBS)
    }


@pytest.mark.parametrize("size", [2, 5, 30, 120, 400])
def test_an_honest_class_gets_hardly_a_remark(size):
    remarks = [len(told(*class_of(size, seed))) for seed in range(5)]
    assert max(remarks) <= 3, remarks


@pytest.mark.parametrize("size", [30, 120])
@pytest.mark.parametrize("disguise", DISGUISES)
def test_pairs_that_copied_are_found_whatever_the_names_comments_and_order(disguise, size):
    planted = []
    for n in range(5):
        mine = of_ones_own(n)
        theirs = {name: (DISGUISES[disguise](text), out) for name, (text, out) in mine.items()}
        planted += [graded(f"a{n}", mine), graded(f"b{n}", theirs)]
    found = told(*class_of(size), *planted)
    pairs = [n for n in range(5) if f"b{n}" in found.get(f"a{n}", "")]
    assert pairs == [0, 1, 2, 3, 4]
    assert len(found) <= 10 + 3


@pytest.mark.parametrize("spellings", [3, 30, 300])
def test_those_who_are_not_compared_could_not_have_been_told(spellings, monkeypatch):
    chance = random.Random(spellings)

    def answer(number):
        form, order, names = (chance.randrange(n) for n in (spellings, 2, 3))
        keys = (form,), (form, 0), (form, order), (form, order, names)
        return Telling(f"2.{number}", f"e{number}", tuple(repr(key).encode() for key in keys))

    everyone = [Seen(f"s{n}", str(n), None, None, tuple(map(answer, range(9)))) for n in range(600)]
    copies = [
        one._replace(student=f"copy of {one.student}", answers=(*one.answers[:7], answer(7)))
        for one in everyone[:9]
    ]
    seen, compared = [*everyone, *copies], []
    odds = Odds.odds
    monkeypatch.setattr(
        Odds,
        "odds",
        lambda self, one, others: compared.append(len(others)) or odds(self, one, others),
    )
    found, few = pairs.pairs(seen), sum(compared)
    monkeypatch.setattr(
        pairs.Numbered,
        "may_have",
        lambda self, least: [[m for m in range(len(seen)) if m != n] for n in range(len(seen))],
    )
    assert pairs.pairs(seen) == found
    assert len(found) >= 9 or spellings == 3
    assert few < len(seen) ** 2 / 3 or spellings == 3


def test_a_pair_is_told_once_with_its_exercises_in_order_and_who_is_beside():
    everyone = [graded("ada", of_ones_own(1)), graded("bob", of_ones_own(1)), *class_of(60)]
    (ada,) = [g for g in noted(lambda: everyone, None, STUBS) if g.student == "ada"]
    (result,) = [r for r in ada.results if r.alike]
    assert result.beside == ("bob",)
    assert result.alike[0].startswith("Alike with bob in 2.1, 2.2, 2.3,")
    assert {r.number for r in ada.results if r.beside} >= {"2.1", "2.2", "2.3"}


def test_what_the_sheet_gave_is_no_evidence():
    long_stub = "\n".join(f"value_{n} = {n} * beta" for n in range(40))
    assert essence(f"{long_stub}\nx = 1", long_stub) == essence("x = 1")
    assert essence(long_stub, long_stub).spelled == ""


ONE = "def weights(beta, t):\n    return (1 - beta) * np.array([beta**k for k in range(t)])"
SAME = {
    "a part by itself": "def weights(beta, t):\n    scale = 1 - beta\n"
    "    return scale * np.array([beta**k for k in range(t)])",
    "every step by itself": "def weights(beta, t):\n    steps = range(t)\n"
    "    powers = np.array([beta**k for k in steps])\n    result = (1 - beta) * powers\n"
    "    return result",
    "a loop": "def weights(beta, t):\n    powers = []\n    for k in range(t):\n"
    "        powers.append(beta**k)\n    return np.array(powers) * (1 - beta)",
    "two at once": "def weights(beta, t):\n    a, b = 1 - beta, range(t)\n"
    "    return a * np.array([beta**k for k in b])",
    "a helper for all of it": "def mine(b, n):\n"
    "    return (1 - b) * np.array([b**k for k in range(n)])\n\n"
    "def weights(beta, t):\n    return mine(beta, t)",
    "a helper of many lines": "def mine(beta, t):\n    scale = 1 - beta\n    powers = []\n"
    "    for k in range(t):\n        powers.append(beta**k)\n    return scale * np.array(powers)\n"
    "\ndef weights(beta, t):\n    return mine(beta, t)",
    "types told": ONE.replace("(beta, t):", "(beta: float, t: int) -> np.ndarray:"),
    "something printed and made sure of": ONE.replace(
        "    return", "    print(beta, t)\n    assert t > 0\n    from math import sqrt\n    return"
    ),
    "something that is not used": ONE.replace("    return", "    note = 'mine'\n    return"),
    "numbers in another spelling": ONE.replace("1 -", "1.0 -"),
    "a helper for a part": "def power(b, n):\n    return b**n\n\ndef weights(beta, t):\n"
    "    return (1 - beta) * np.array([power(beta, k) for k in range(t)])",
}
OTHERS = {
    "another number": ONE.replace("1 - beta", "0.9 - beta"),
    "another formula": ONE.replace("1 - beta", "1 + beta"),
    "another order of powers": ONE.replace("range(t)", "range(t)[::-1]"),
    "another way": "def weights(beta, t):\n    return (1 - beta) * beta ** np.arange(t)",
    "a value that changes": "def weights(beta, t):\n    scale = 1 - beta\n    scale = scale / 2\n"
    "    return scale * np.array([beta**k for k in range(t)])",
}


@pytest.mark.parametrize("answer", [*SAME.values()], ids=[*SAME])
def test_the_same_in_more_or_fewer_steps_is_the_same(answer):
    stub = STUBS["weights"]
    assert essence(answer, stub).spelled == essence(ONE, stub).spelled


@pytest.mark.parametrize("answer", [*OTHERS.values()], ids=[*OTHERS])
def test_what_says_something_else_is_not(answer):
    stub = STUBS["weights"]
    assert essence(answer, stub).spelled != essence(ONE, stub).spelled


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("x = log(1 / 2) * 3", "x = log(0.5) * 3.0"),
        ("x = r'a = b (1 - c)'", "x = 'a=b(1-c)'"),
        ("x = [1, True]", "x = [1.0, True]"),
        ("x = a * b**2 + c**3", "x = c * c * c + b * a * b"),
        ("x = (A @ B).sum(axis=1)", "x = np.sum(np.dot(A, B), axis=1)"),
    ],
)
def test_a_value_is_the_same_however_it_is_spelled(one, other):
    assert essence(one).spelled == essence(other).spelled
    assert essence("x = [1, 1]").spelled != essence("x = [1, True]").spelled


LONG = {
    "a sum without end": "x = " + "+".join(["a"] * 9000),
    "a long sum": "x = " + "+".join(["a"] * 400),
    "many cases": "if a:\n    b = 1\n" + "elif a:\n    b = 1\n" * 200,
    "brackets in brackets": "x = " + "[" * 190 + "]" * 190,
    "one within the other": "x = " + "(" * 90 + "a" + ")" * 90,
    "squared again and again": "x = " + "(" * 80 + "a" + " ** 2)" * 80,
    "multiplied again and again": "x = " + "(" * 80 + "a" + " * a) ** 2" * 80,
    "doubled again and again": "\n".join(f"a{n + 1} = a{n} + a{n}" for n in range(80)),
    "very many steps": "\n".join(f"a{n + 1} = a{n} + 1" for n in range(1500)),
    "functions in functions": "\n".join(
        " " * n + f"def f{n}(x): # f{n - 1}" for n in range(1, 80)) + "\n" + " " * 90 + "return 1",
    "attributes without end": "x = a" + ".b" * 3000,
    "helpers that call each other": "\n".join(
        f"def f{n}(x):\n    return f{n + 1}(x) + f{n + 1}(x)" for n in range(60)),
    "no Python": "(" * 9000,
}  # fmt: skip


@pytest.mark.parametrize("answer", [*LONG.values()], ids=[*LONG])
def test_an_answer_of_any_kind_has_an_essence(answer):
    assert essence(answer).spelled
    one = {"bias": (answer, "wrong")}
    assert told(graded("ada", one), graded("bob", one), *class_of(9)) == {}


def test_the_same_file_is_told_unless_nothing_was_tried():
    one = {"bias": ("factor = 1", "right")}
    found = told(graded("ada", one, content="x"), graded("bob", one, content="x"))
    assert "byte for byte that of bob" in found["ada"]
    blank = {"bias": ("factor = ____", "not attempted")}
    assert told(graded("ada", blank, content="x"), graded("bob", blank, content="x")) == {}


def test_ids_of_others_are_told_by_notebooks_and_by_the_roster():
    found = told(
        graded("ada", {}, student_id="7"), graded("bob", {}, student_id="8", written_id="7")
    )
    assert "The student id 7 is in the notebook of another student too." in found["bob"]
    found = told(graded("bob", {}, student_id="8", written_id="7"), ids={"7": "ada", "8": "bob"})
    assert found["bob"] == "The student id 7 in the notebook is that of ada."
    assert told(graded("ada", {}, student_id="0"), graded("bob", {}, student_id="0")) == {}


def test_a_class_of_copies_names_a_few():
    one = {"bias": ("factor = 1", "right")}
    found = told(*(graded(f"s{n}", one, content="x") for n in range(9)))
    assert found["s8"] == "The file is byte for byte that of s0, s1, s2 and others."


def test_remarks_go_when_their_reason_is_gone():
    before = graded("ada", {}, alike=("The file is byte for byte that of bob.",))
    assert told(before) == {"ada": ""}


STYLES = {f"e{n}": [f"x{n} = {form}" for form in (
    "sum(v ** 2 for v in values) / len(values)", "np.mean(np.square(values))",
    "np.dot(values, values) / values.size", "float((values * values).mean())",
    "np.einsum('i,i', values, values) / len(values)", "math.fsum(v * v for v in values) / total",
)] for n in range(9)}  # fmt: skip


def usual(chance):
    """A sheet of usual answers, each in a way in which many write it."""
    return {name: (chance.choice(forms), "right") for name, forms in STYLES.items()}


def commuted(text):
    """The same sums and products the other way round."""
    return ast.unparse(Commuting().visit(ast.parse(text)))


class Commuting(ast.NodeTransformer):
    def visit_BinOp(self, node):
        self.generic_visit(node)
        if isinstance(node.op, ast.Add | ast.Mult):
            node.left, node.right = node.right, node.left
        return node


@pytest.mark.parametrize("seed", range(5, 10))
@pytest.mark.parametrize("disguise", [lambda a: f"# mine\n{a.replace('v ', 'z ')}", commuted])
def test_sheets_that_are_alike_as_a_whole_are_told_though_every_answer_is_usual(disguise, seed):
    chance = random.Random(seed)
    sheets = [usual(chance) for _ in range(118)]
    copied = {n: (disguise(a), o) for n, (a, o) in sheets[17].items()}
    everyone = [graded(f"s{n:03}", sheet) for n, sheet in enumerate([*sheets, copied])]
    assert set(told(*everyone)) == {"s017", "s118"}


@pytest.mark.parametrize("seed", range(3))
def test_most_of_a_sheet_is_told_if_some_of_it_is_rare(seed):
    chance = random.Random(seed)
    sheets = [usual(chance) for _ in range(119)]
    for name in ("e1", "e2", "e3"):
        sheets[17][name] = (f"x = sum(values) ** {name[1]} / total", "wrong")
    copied = {**usual(chance), **{name: sheets[17][name] for name in list(STYLES)[:6]}}
    everyone = [graded(f"s{n:03}", sheet) for n, sheet in enumerate([*sheets, copied])]
    assert set(told(*everyone)) == {"s017", "s119"}


@pytest.mark.parametrize(("share", "follow"), [(0.5, 0.8), (0.3, 0.8), (0.1, 0.8), (0.1, 0.95)])
def test_what_a_group_was_taught_together_is_no_copy(share, follow):
    chance = random.Random(8)
    sheets = [usual(chance) for _ in range(120)]
    board = {name: (f"x = np.vdot(values, values) / {name[1]}", "right") for name in STYLES}
    for sheet in sheets[: int(share * 120)]:
        sheet |= {name: board[name] for name in board if chance.random() < follow}
    assert len(told(*(graded(f"s{n:03}", sheet) for n, sheet in enumerate(sheets)))) <= 3


def test_a_whole_sheet_that_a_group_writes_alike_is_a_usual_one():
    chance = random.Random(6)
    sheets = [usual(chance) for _ in range(110)]
    everyone = [graded(f"s{n:03}", sheet) for n, sheet in enumerate([*sheets, *[sheets[3]] * 9])]
    assert told(*everyone) == {}
