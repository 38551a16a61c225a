"""notebooks/sources.toml: what each lecture rests on, and that the lecture says so."""

import re
import tomllib
from pathlib import Path

import pytest

from classroom.notebooks import read
from course_utils.units import UNITS

NOTEBOOKS = Path(__file__).parents[1] / "notebooks"
SOURCES = tomllib.loads((NOTEBOOKS / "sources.toml").read_text(encoding="utf-8"))["source"]
HEADING = "## Sources and further reading"


def each(units):
    return pytest.mark.parametrize("unit", units, ids=lambda unit: unit.stem)


def texts_of(unit):
    """The text cells of its lecture."""
    cells = read(NOTEBOOKS / f"{unit.stem}.ipynb").cells
    return [cell.source for cell in cells if cell.cell_type == "markdown"]


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


@each(UNITS)
def test_a_lecture_that_speaks_of_papers_has_sources_and_names_each_and_no_other(unit):
    mine = [source for source in SOURCES if source["unit"] == unit.number]
    texts = texts_of(unit)
    text = "\n".join(text for text in texts if text.startswith(HEADING))
    assert bool(mine) == bool(text)
    assert mine or not any("paper" in text or "published" in text for text in texts)
    for source in mine:
        for name in ("authors", "year", "title", "where", "what"):
            assert str(source[name]) in text, (source["key"], name)
    assert len(re.findall("^- ", text, re.MULTILINE)) == len(mine)
