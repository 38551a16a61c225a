"""notebooks/notation.toml: a letter means something wherever it is used, and a second is told."""

from pathlib import Path

import pytest

from classroom.letters import Letter, Meaning, as_table, formulas, letters_of, read_letters
from classroom.notebooks import read
from course_utils.units import UNITS

NOTEBOOKS = Path(__file__).parents[1] / "notebooks"
TABLE = read_letters(NOTEBOOKS)
WATCHED = {letter.tex: letter for letter in TABLE if letter.tex}
# A new unit enters the table with its first letter; from then on it is compared.
KNOWN = [unit for unit in UNITS if any(unit.number in letter.units for letter in TABLE)]


def each(units):
    return pytest.mark.parametrize("unit", units, ids=lambda unit: unit.stem)


def lecture(unit):
    return read(NOTEBOOKS / f"{unit.stem}.ipynb")


def uses(notebook):
    """For each watched letter, the first formula that has it, with its cell."""
    found = {}
    for cell, formula in formulas(notebook):
        for letter in letters_of(formula) & WATCHED.keys():
            found.setdefault(letter, f"{cell}: {formula[:50]}")
    return found


def test_letters_are_found_in_formulas_and_words_and_code_are_none():
    assert letters_of(r"\mathrm{softmax}(Q\,k^\top)/\sqrt{d_{\text{att}}}") >= {"Q", "k", "d"}
    assert letters_of(r"\delta^T \le \operatorname{sup} f") >= {r"\delta", "T", "f"}
    assert "s" not in letters_of(r"\mathrm{softmax}(x)^\top")
    assert "T" not in letters_of(r"x^\top")
    assert "E" not in letters_of(r"\mathbb E[x]")
    assert letters_of(r"\textstyle\sum_i v").isdisjoint("tyle")


def test_the_table_has_a_row_for_each_letter_with_its_units():
    letter = Letter("T", "$T$", (Meaning(("01",), "steps"), Meaning(("04", "05", "06"), "heads")))
    assert as_table([letter]).splitlines()[-1] == "| $T$ | steps (01); heads (04–06) |"


def test_a_letter_has_one_row():
    names = [letter.name for letter in TABLE]
    assert len(set(names)) == len(names)


@each(KNOWN)
def test_every_watched_letter_of_a_lecture_has_a_meaning_there(unit):
    used = uses(lecture(unit))
    open_letters = {
        letter: place for letter, place in used.items() if unit.number not in WATCHED[letter].units
    }
    assert not open_letters, f"notation.toml gives these no meaning in unit {unit.number}"


@each(KNOWN)
def test_what_the_table_says_of_a_letter_is_about_a_letter_that_is_used(unit):
    used = uses(lecture(unit))
    declared = {tex for tex, letter in WATCHED.items() if unit.number in letter.units}
    assert declared - used.keys() == set()


@each(KNOWN)
def test_a_second_meaning_is_told_in_the_lecture(unit):
    cells = [cell.source for cell in lecture(unit).cells if cell.cell_type == "markdown"]
    text = " ".join("\n".join(cells).split())
    silent = [
        f"{letter.name}: {meaning.text}"
        for letter in TABLE
        for meaning in letter.meanings[1:]
        if unit.number in meaning.units and meaning.said.get(unit.number, "?!") not in text
    ]
    assert silent == []
