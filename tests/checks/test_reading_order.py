"""Checks read from the top: what is asked and what runs, then its hints, then known mistakes."""

import ast
import functools
import importlib
from pathlib import Path

import pytest

from course_utils import checks
from tests.places import check_modules

UNITS = [module.__name__.rpartition(".")[2] for module in check_modules()]
each_unit = pytest.mark.parametrize("unit", UNITS)


@functools.cache
def statements(unit):
    module = importlib.import_module(f"{checks.__name__}.{unit}")
    return ast.parse(Path(module.__file__).read_text(encoding="utf-8")).body


def called(call):
    """`exercise` for `exercise(…)`, `bias.mistake` for `bias.mistake(…)`, else nothing."""
    return ast.unparse(call.func) if isinstance(call, ast.Call) else ""


def attached(statement):
    """The call that a statement makes, or that decorates it: `bias.mistake`, `bias.add_hints`."""
    if isinstance(statement, ast.FunctionDef):
        calls = (d.func if isinstance(d, ast.Call) else d for d in statement.decorator_list)
        return next(map(ast.unparse, calls), "")
    return called(statement.value) if isinstance(statement, ast.Expr) else ""


def sections(unit):
    """Each exercise's function and the statements after it, up to the next exercise."""
    found = []
    for statement in statements(unit):
        if attached(statement) == "exercise":
            found.append((statement, []))
        elif found:
            found[-1][1].append(statement)
    assert found
    return found


@functools.cache
def names_of(tree):
    return {n.id for n in ast.walk(tree) if isinstance(n, ast.Name)}


def names_in(*trees):
    return set().union(*map(names_of, trees))


def defined_by(statement):
    if isinstance(statement, ast.FunctionDef | ast.ClassDef):
        return {statement.name}
    targets = getattr(statement, "targets", []) or [getattr(statement, "target", None)]
    return names_in(*filter(None, targets))


@each_unit
def test_two_hints_or_more_follow_the_function_and_its_parts(unit):
    for function, after in sections(unit):
        calls = [attached(s) for s in after]
        place = calls.index(f"{function.name}.add_hints")
        parts = [k for k, call in enumerate(calls) if call == f"{function.name}.part"]
        assert 0 in (place, *parts), f"{function.name}: hints or parts come first"
        assert max(parts, default=0) <= place
        assert not any(call.endswith(".mistake") for call in calls[:place])
        assert len(after[place].value.args) >= 2
        assert sum(attached(s).endswith(".add_hints") for s in after) == 1


@each_unit
def test_then_come_one_mistake_or_more_of_this_exercise_and_of_no_other(unit):
    for function, after in sections(unit):
        mistakes = [attached(s) for s in after if attached(s).endswith(".mistake")]
        assert set(mistakes) == {f"{function.name}.mistake"}


@each_unit
def test_a_mistake_has_an_example_or_stands_over_the_function_that_makes_it(unit):
    for _, after in sections(unit):
        for statement in after:
            if isinstance(statement, ast.Expr) and attached(statement).endswith(".mistake"):
                keywords = {k.arg for k in statement.value.keywords}
                assert keywords & {"example", None}, ast.unparse(statement)


@each_unit
def test_nothing_that_only_its_mistakes_need_stands_before_the_function(unit):
    body = statements(unit)
    for function, after in sections(unit):
        mistakes = [s for s in after if attached(s).endswith(".mistake")]
        before = [s for s in body if s.lineno < function.lineno]
        for helper in before:
            others = [s for s in body if s is not helper and s not in mistakes]
            for name in defined_by(helper) & names_in(*mistakes):
                assert name in names_in(*others), f"{name} stands before {function.name}"
