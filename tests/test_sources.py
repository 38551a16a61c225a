"""notebooks/sources.toml: what each lecture rests on, and that the lecture says so."""

import re
import tomllib
from pathlib import Path

import pytest

from classroom.notebooks import read
from course_utils.units import UNITS

NOTEBOOKS = Path(__file__).parents[1] / "notebooks"
FILE = tomllib.loads((NOTEBOOKS / "sources.toml").read_text(encoding="utf-8"))
SOURCES, NUMBERS = FILE["source"], FILE["number"]
LINK = re.compile(r"https://(doi\.org/10\.\d{4,9}/\S+|arxiv\.org/abs/\d{4}\.\d{4,5})")
# These have neither a DOI nor an arXiv number; the address is the publisher's.
PAGES = {
    "alammar2018", "chen2022", "goodfellow2016", "keras-sgd", "krogh1992", "prince2023",
    "pytorch-adamw", "pytorch-sgd", "radford2019", "rahimi2007", "sutskever2013", "watson1964",
}  # fmt: skip
HEADING = "## Sources and further reading"


def each(units):
    return pytest.mark.parametrize("unit", units, ids=lambda unit: unit.stem)


def texts_of(unit):
    """The text cells of its lecture."""
    cells = read(NOTEBOOKS / f"{unit.stem}.ipynb").cells
    return [cell.source for cell in cells if cell.cell_type == "markdown"]


@pytest.mark.parametrize("source", SOURCES, ids=lambda source: f"{source['unit']}-{source['key']}")
def test_a_source_says_who_when_what_where_and_why(source):
    names = ["unit", "key", "link", "authors", "year", "title", "where", "what"]
    assert list(source) == names
    assert source["unit"] in {unit.number for unit in UNITS}
    assert re.fullmatch(r"[a-z0-9-]+", source["key"])
    assert 1900 < source["year"] < 2100
    assert all(source[name] for name in ("authors", "title", "where", "what"))
    is_page = source["key"] in PAGES and source["link"].startswith("https://")
    assert LINK.fullmatch(source["link"]) or is_page


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


@each(UNITS)
def test_a_lecture_links_to_its_sources(unit):
    text = "\n".join(text for text in texts_of(unit) if text.startswith(HEADING))
    mine = [source for source in SOURCES if source["unit"] == unit.number]
    missing = [s["key"] for s in mine if f"[*{s['title']}*]({s['link']})" not in text]
    assert missing == []


@pytest.mark.parametrize("number", NUMBERS, ids=lambda number: f"{number['table']} {number['row']}")
def test_a_published_number_names_its_table_and_its_conditions(number):
    names = ["units", "source", "table", "row", "columns", "machine", "batch", "training"]
    assert list(number) == names
    assert all(number.values())
    pairs = {(source["unit"], source["key"]) for source in SOURCES}
    for unit in number["units"].split():
        assert (unit, number["source"]) in pairs
        (path,) = NOTEBOOKS.glob(f"{unit}_*.ipynb")
        cells = read(path).cells
        text = "\n".join(cell.source for cell in cells)
        assert [value for value in number["columns"].values() if value not in text] == []
