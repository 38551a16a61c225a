"""prose.py: hints and mistakes in Markdown; an edit that is not sound is refused with its line."""

import itertools
import re

import pytest

from selfcheck.files import CourseError
from selfcheck.prose import read_prose
from tests.places import loaded

PROSE = """\
# 1.1 total

## Hints

1. Add them.
2. All of them,
   also the last.

## Mistake: the last left out

- part: Sum

```formula
n - 1
```

You stopped too early;
go on to the end.

## Mistake: twice

```python
def _twice(n):
    return 2 * n
```

Once is enough.
"""
CHECK = """\
from typing import Annotated
from selfcheck import Formula, FormulaAnswer, Function, FunctionAnswer
from selfcheck import Verdict, exercise, right, wrong

N = Formula(n=range(1, 9))

@exercise("1.1", points=2)
def total(form: Annotated[FormulaAnswer, N], run: Annotated[FunctionAnswer, Function()]) -> Verdict:
    "Any."
    return right()

@total.part("Sum")
def _sum(form: FormulaAnswer) -> Verdict:
    for point in N.points():
        if form(**point) != point["n"]:
            return wrong(f"at {point}", at=str(point), yours=form(**point))
    return right()

@total.part("Run")
def _run(run: FunctionAnswer) -> Verdict:
    return right() if run(3) == 3 else wrong("3", at="3", yours=run(3))
"""
names = (f"prose_checks_{k}" for k in itertools.count())
WHOLE = PROSE.replace("## Mistake: twice\n", "## Mistake: twice\n\n- part: Run\n")


@pytest.fixture
def read(tmp_path):
    def read(text):
        (tmp_path / "unit.md").write_text(text, encoding="utf-8")
        return read_prose(tmp_path / "unit.md")

    return read


@pytest.fixture
def load(tmp_path, monkeypatch):
    """A check module with this prose beside it, and what its mistakes and its practice need."""

    def load(prose, mistakes="", practice=""):
        name = next(names)
        path = tmp_path / f"{name}.py"
        path.write_text(CHECK, encoding="utf-8")
        path.with_suffix(".md").write_text(prose, encoding="utf-8")
        for ending, text in (("mistakes", mistakes), ("practice", practice)):
            if text:
                path.with_name(f"{name}_{ending}.py").write_text(text, encoding="utf-8")
        monkeypatch.syspath_prepend(str(tmp_path))
        return loaded(path, monkeypatch)

    return load


def test_a_section_has_hints_and_mistakes_with_examples_and_explanations(read):
    (section,) = read(PROSE)
    assert (section.number, section.name, section.line) == ("1.1", "total", 1)
    assert section.hints == ["Add them.", "All of them, also the last."]
    first, second = section.mistakes
    assert (first.name, first.settings) == ("the last left out", {"part": "Sum"})
    assert first.explanation == "You stopped too early; go on to the end."
    assert [(e.kind, e.code, e.line) for e in second.examples] == [
        ("python", "def _twice(n):\n    return 2 * n", 23)
    ]
    assert section.text == PROSE.rstrip("\n")


def test_without_a_file_there_is_no_prose(tmp_path):
    assert read_prose(tmp_path / "none.md") == ()


@pytest.mark.parametrize(
    ("old", "new", "line", "says"),
    [
        ("# 1.1 total", "Some words\n\n# 1.1 total", 1, "before it stands no heading"),
        ("# 1.1 total", "# total", 1, "before it stands no heading"),
        ("# 1.1 total", "# 1.1 total\n\nSome words", 3, "belongs to no hint and no mistake"),
        ("## Hints", "## Hint", 3, "a heading is"),
        ("## Hints", "### Hints", 3, "a heading is"),
        ("1. Add them.", "- Add them.", 5, "a hint begins with its number"),
        ("2. All", "3. All", 6, "numbered 1., 2., 3."),
        ("## Mistake: twice", "## Mistake twice", 20, "a heading is"),
        ("## Mistake: twice", "## Hints", 20, "hints stand once, before practice and mistakes"),
        ("## Mistake: twice", "## Mistake: twice\n\n- parts: Sum", 22, "there is no such setting"),
        ("- part: Sum", "- part: Sum\n- part: Sum", 12, "part is set twice"),
        ("- part: Sum", "- part:", 11, "part has no value"),
        ("```formula", "```formulas", 13, "a block is of a kind"),
        ("```formula", "```", 13, "a block is of a kind"),
        ("n - 1\n```\n", "n - 1\n", 21, "the end of a block is ``` alone"),
        ("2 * n\n```\n", "2 * n\n", 22, "this block has no end"),
        ("n - 1\n", "", 13, "this block is empty"),
        ("Once is enough.\n", "", 20, "the mistake 'twice' has no explanation"),
        ("```formula\nn - 1\n```", "", 9, "the mistake 'the last left out' has no example"),
        ("Once is enough.", "Once is enough.\n\n```formula\nn\n```", 29, "before the explanation"),
        ("## Mistake: twice", "## Mistake: the last left out\n\n- part: Sum", 20, "already"),
        ("- part: Sum", "- not finite: perhaps", 9, "not finite: yes"),
        ("```formula", "```when\nx\n```\n\n- when: x\n\n```formula", 17, "when is set twice"),
        ("```formula", "```when\nx\n```\n\n```when\nx\n```\n\n```formula", 17, "when is set twice"),
    ],
)
def test_a_bad_edit_is_refused_with_file_and_line(read, old, new, line, says):
    assert old in PROSE
    with pytest.raises(CourseError, match=rf"unit\.md, line {line}: .*{re.escape(says)}"):
        read(PROSE.replace(old, new, 1))


PRACTICE = """\
## Practice

```python
a = range(2, 9)
right = doubled(a)
```

What is twice
<a>?

| a |
| - |
| <a> |

## Mistake: the last left out
"""
DOUBLED = "def doubled(a):\n    return 2 * a\n"
PRACTICED = WHOLE.replace("## Mistake: the last left out\n", PRACTICE)


def test_practice_is_a_block_and_a_question_and_no_verdict_depends_on_it(read):
    (section,) = read(PRACTICED)
    (practice,) = section.practice
    assert (practice.code.code, practice.code.line) == ("a = range(2, 9)\nright = doubled(a)", 12)
    assert practice.asks == ["What is twice <a>?", "| a |\n| - |\n| <a> |"]
    assert section.text == WHOLE.rstrip("\n")


@pytest.mark.parametrize(
    ("old", "new", "line", "says"),
    [
        ("## Practice", "## Practise", 9, "a heading is"),
        ("What is twice\n<a>?\n\n| a |\n| - |\n| <a> |\n", "", 9, "this practice asks nothing"),
        ("## Mistake: twice", "## Practice", 34, "practice stands before the mistakes"),
        ("```python\na", "```formula\na", 11, "practice begins with one block `python`"),
        ("What is", "```python\nb = 1\n```\n\nWhat is", 16, "practice begins with one block"),
    ],
)
def test_a_bad_edit_of_practice_is_refused_with_file_and_line(read, old, new, line, says):
    assert old in PRACTICED
    with pytest.raises(CourseError, match=rf"unit\.md, line {line}: .*{re.escape(says)}"):
        read(PRACTICED.replace(old, new, 1))


# -- with a check module --------------------------------------------------------------------------


def test_hints_and_mistakes_become_those_of_the_exercise(load):
    total = load(WHOLE).total
    assert total.hint().text == "Add them."
    assert [m.name for m in total.misconceptions] == ["the last left out", "twice"]
    named = total("n - 1", lambda n: 2 * n).mistakes
    assert [(m.name, m.part) for m in named] == [("the last left out", "Sum"), ("twice", "Run")]


def test_an_example_may_stand_in_the_file_of_mistakes(load):
    text = WHOLE.replace("```python\ndef _twice(n):\n    return 2 * n\n```", "")
    text = text.replace("- part: Run", "- part: Run\n- example: doubled\n- when: is_even")
    module = load(text, "doubled = (lambda n: 2 * n,)\n\ndef is_even(run):\n    return True\n")
    assert module.total.misconceptions[1].when(None)
    assert [m.name for m in module.total("n", lambda n: n + n).mistakes] == ["twice"]


def test_a_mistake_may_belong_to_several_parts_which_its_example_knows(load):
    text = WHOLE.replace("- part: Sum", "- part: Sum, Run").replace(
        "```formula\nn - 1", "```python\nless(part)"
    )
    less = 'def less(part):\n    return "n - 1" if part == "Sum" else lambda n: n - 1\n'
    total = load(text, less).total
    (of_sum,) = total("n - 1", lambda n: n).mistakes
    (of_run,) = total("n", lambda n: n - 1).mistakes
    assert [(m.name, m.part) for m in (of_sum, of_run)] == [
        ("the last left out", "Sum"),
        ("the last left out", "Run"),
    ]


def test_a_short_predicate_stands_in_the_prose(load):
    block = "```when\nlambda run: run(1) == 2\n```\n\n```python\ndef _twice"
    total = load(WHOLE.replace("```python\ndef _twice", block)).total
    assert [m.name for m in total("n", lambda n: n + n).mistakes] == ["twice"]
    assert not total("n", lambda n: 3 * n).mistakes


def test_what_an_example_is_put_together_from_may_stand_above_it(load):
    told = "def _by(k):\n    return lambda n: k * n\n\n\n_by(2)"
    total = load(WHOLE.replace("def _twice(n):\n    return 2 * n", told)).total
    assert [m.name for m in total("n", lambda n: n + n).mistakes] == ["twice"]


def test_an_expression_may_give_the_example_with_its_predicate(load):
    told = '{"example": (lambda n: 2 * n,), "when": lambda run: True}'
    total = load(WHOLE.replace("def _twice(n):\n    return 2 * n", told)).total
    assert total.misconceptions[1].when(None)
    assert [m.name for m in total("n", lambda n: n + n).mistakes] == ["twice"]


@pytest.mark.parametrize(
    ("old", "new", "line", "says"),
    [
        ("# 1.1 total", "# 1.2 total", 1, "there is no such exercise; there are 1.1 total"),
        ("# 1.1 total", "# 1.1 totals", 1, "there is no such exercise"),
        ("- part: Sum", "- part: Sums", 9, "there is no part 'Sums'; there are Sum, Run"),
        ("n - 1\n```", "n - 1\nn\nn\n```", 14, "the example has 3 answers"),
        ("return 2 * n", "return 2 * ", 26, "this is no Python"),
        ("```python\ndef", "```when\nlambda\n```\n\n```python\ndef", 25, "this is no Python"),
        ("```python\ndef", "```when\n1\n```\n\n```python\ndef", 20, "`when` is no function"),
        ("def _twice(n):\n    return 2 * n", "twice(n)", 25, "NameError: name 'twice'"),
        ("def _twice(n):\n    return 2 * n", "twice = 2", 25, "defines no function and is no"),
        ("- part: Run", "- part: Run\n- when: often", 20, "there is no often in"),
        ("```formula\nn - 1", "```numbers\nn - 1", 14, "has no numbers of a student's own"),
    ],
)
def test_what_does_not_fit_the_checks_is_refused_with_file_and_line(load, old, new, line, says):
    assert old in WHOLE
    module = load(WHOLE.replace(old, new, 1))
    with pytest.raises(CourseError, match=rf"\.md, line {line}: .*{re.escape(says)}"):
        _ = module.total.misconceptions


def test_an_exercise_without_a_section_is_named(load):
    module = load(WHOLE)
    source = CHECK.replace('"1.1"', '"1.2"').replace("total", "other").split("@other.part")[0]
    exec(compile(source, module.__file__, "exec"), vars(module))
    with pytest.raises(CourseError, match=r"\.md has no section for other"):
        _ = module.other.hints


def test_practice_is_drawn_and_judged(load):
    task = load(PRACTICED, practice=DOUBLED).total.practice(1)
    assert f"What is twice {task.a}?" in repr(task)
    assert "practice: right" in repr(task(2 * task.a))
    assert "practice: wrong" in repr(task(2 * task.a + 1))


def test_what_is_right_and_what_is_drawn_may_be_functions(load):
    block = "def draw(rng):\n    b = 3\n    return {'a': b, 'unit': 'cm'}\n\n\n"
    block += "def right(a):\n    half = doubled(a) / 2\n    return half + a"
    text = PRACTICED.replace("a = range(2, 9)\nright = doubled(a)", block)
    task = load(text, practice=DOUBLED).total.practice(1)
    assert task.given == {"a": 3, "unit": "cm"}
    assert "practice: right" in repr(task(6))
    assert "practice: wrong" in repr(task(5))


@pytest.mark.parametrize(
    ("old", "new", "line", "says"),
    [
        ("right = doubled(a)", "def right(a, b):\n    return b", 13, "NameError: name 'b'"),
        ("right = doubled(a)", "def right(a):\n    return 1 / 0", 13, "ZeroDivisionError"),
        ("right = doubled(a)", "def right(a):\nreturn a", 14, "this is no Python"),
        ("right = doubled(a)", "right = 1\ndef right(a): ...", 14, "a row is a name, once"),
        ("right = doubled(a)", "def wrong(a):\n    return a", 13, "a row is a name, once"),
        ("a = range(2, 9)", "a = range(2, ", 12, "this is no Python"),
        ("a = range(2, 9)", "a = ranges(2, 9)", 12, "NameError: name 'ranges'"),
        ("a = range(2, 9)", "a = range(2, 9)\nkid = 3", 13, "kid is drawn, and nobody uses it"),
        ("a = range(2, 9)", "a = range(2, 9)\na = range(3)", 13, "a row is a name, once"),
        ("a = range(2, 9)", "a = b = range(2, 9)", 12, "a row is a name, once"),
        ("a = range(2, 9)", "range(2, 9)", 12, "a row is a name, once"),
        ("a = range(2, 9)", "a = 1\ndraw = {'a': 1}", 12, "a is drawn, and nobody uses it"),
        ("right = doubled(a)", "rigth = doubled(a)", 9, "it does not say what is `right`"),
        ("a = range(2, 9)\nright = doubled(a)", "", 9, "it does not say what is `right`"),
        ("doubled(a)", "halved(a)", 13, "NameError: name 'halved'"),
        ("doubled(a)", "doubled(a) / 0", 13, "ZeroDivisionError"),
        ("twice\n<a>", "twice\n<b>", 9, "nothing is drawn for <b>"),
    ],
)
def test_practice_that_cannot_be_drawn_is_refused_with_file_and_line(load, old, new, line, says):
    assert old in PRACTICED
    total = load(PRACTICED.replace(old, new, 1), practice=DOUBLED).total
    with pytest.raises(CourseError, match=rf"\.md, line {line}: .*{re.escape(says)}"):
        total.practice(1)
