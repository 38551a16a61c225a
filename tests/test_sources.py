"""notebooks/sources.toml: what each lecture rests on, and that the lecture says so."""

import re
import tomllib
from pathlib import Path

import pytest

from classroom.notebooks import read
from course_utils.units import UNITS

NOTEBOOKS = Path(__file__).parents[1] / "notebooks"
SOURCES = tomllib.loads((NOTEBOOKS / "sources.toml").read_text(encoding="utf-8"))["source"]
# Units whose sources are named. When every unit is here, the list goes.
SOURCED = [unit for unit in UNITS if unit.number in ("01", "02", "03", "04", "05")]
HEADING = "## Sources and further reading"


def each(units):
    return pytest.mark.parametrize("unit", units, ids=lambda unit: unit.stem)


def text_of(unit):
    """The lecture's sources, one on each line."""
    cells = read(NOTEBOOKS / f"{unit.stem}.ipynb").cells
    found = [cell.source for cell in cells if cell.source.startswith(HEADING)]
    assert len(found) == 1
    return found[0]


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: f"{source['unit']}-{source['key']}")
def test_a_source_says_who_when_what_where_and_why(source):
    assert list(source) == ["unit", "key", "authors", "year", "title", "where", "what"]
    assert source["unit"] in {unit.number for unit in UNITS}
    assert re.fullmatch(r"[a-z0-9-]+", source["key"])
    assert 1900 < source["year"] < 2100
    assert all(source[name] for name in ("authors", "title", "where", "what"))


def test_a_unit_names_a_source_once():
    pairs = [(source["unit"], source["key"]) for source in SOURCES]
    assert len(set(pairs)) == len(pairs)


@each(SOURCED)
def test_the_unit_has_sources_and_its_lecture_names_each_and_no_other(unit):
    mine = [source for source in SOURCES if source["unit"] == unit.number]
    text = text_of(unit)
    assert mine
    for source in mine:
        for name in ("authors", "year", "title", "where", "what"):
            assert str(source[name]) in text, (source["key"], name)
    assert len(re.findall("^- ", text, re.MULTILINE)) == len(mine)
