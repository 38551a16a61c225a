"""A check module says what is asked and what runs; hints and mistakes are prose beside it."""

import ast
from pathlib import Path

import pytest

from course_utils.units import UNITS
from selfcheck.prose import mistakes_beside, prose_beside, read_prose
from tests.places import check_modules

each_module = pytest.mark.parametrize(
    "module", check_modules(), ids=lambda module: module.__name__.rpartition(".")[2]
)


@each_module
def test_python_holds_neither_hints_nor_mistakes(module):
    files = Path(module.__file__), mistakes_beside(module.__file__)
    for file in (file for file in files if file.exists()):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        calls = [node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)]
        assert not {"add_hints", "mistake"} & set(calls)


@each_module
def test_every_exercise_has_its_section_with_two_hints_or_more_and_a_mistake(module):
    (unit,) = [unit for unit in UNITS if unit.name == module.__name__.rpartition(".")[2]]
    sections = read_prose(prose_beside(module.__file__))
    assert [(s.number, s.name) for s in sections] == [(f.number, f.name) for f in unit.listed]
    assert all(len(section.hints) >= 2 and section.mistakes for section in sections)


@each_module
def test_an_explanation_is_whole_sentences(module):
    for section in read_prose(prose_beside(module.__file__)):
        for mistake in section.mistakes:
            assert mistake.explanation[-1] in ".?!", f"{section.name}: {mistake.name}"
