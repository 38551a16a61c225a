"""The pages about the course: short where they should be, with pictures that speak to everyone."""

import doctest
import importlib
import re
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md"))]
assert len(PAGES) > 20
PICTURES = sorted(DOCS.glob("*.svg"))
DECISIONS = sorted((DOCS / "decisions").glob("[0-9]*.md"))
IMAGE = re.compile(r"!\[([^]]*)\]\(([^)]+)\)")
SVG = "{http://www.w3.org/2000/svg}"
CODE = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


def text(path):
    return path.read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md"])
def test_what_everybody_reads_first_is_short(name):
    assert len(text(ROOT / name).encode()) <= 6_000


def test_there_is_a_page_for_everyone():
    names = {path.stem for path in DOCS.glob("*.md")}
    assert names >= {"students", "instructors", "lecturers", "authors", "first-exercise"}
    assert names >= {"architecture", "derivations", "homework", "benchmarks"}
    linked = text(ROOT / "README.md") + text(ROOT / "CONTRIBUTING.md")
    assert [name for name in sorted(names) if f"docs/{name}.md" not in linked] == []


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_every_picture_is_told_in_words(path):
    assert [place for words, place in IMAGE.findall(text(path)) if len(words.split()) < 5] == []


def test_the_pictures_of_the_architecture_are_all_shown_there():
    assert len(PICTURES) == 5
    shown = {place for _, place in IMAGE.findall(text(DOCS / "architecture.md"))}
    assert shown == {path.name for path in PICTURES}


@pytest.mark.parametrize("path", PICTURES, ids=lambda path: path.stem)
def test_a_drawing_has_a_title_a_description_and_a_background(path):
    drawing = ElementTree.parse(path).getroot()
    title, description = (drawing.findtext(f"{SVG}{tag}") for tag in ("title", "desc"))
    assert title
    assert len(description.split()) > 20
    first = drawing.find(f"{SVG}rect")  # white and round, also on a dark page
    assert first.get("class") == "page"
    assert drawing.get("viewBox")


@pytest.mark.parametrize("path", DECISIONS, ids=lambda path: path.stem)
def test_a_decision_is_a_page_of_three_paragraphs_and_is_listed(path):
    parts = re.findall(r"^\*\*(\w+)\.\*\*", text(path), re.MULTILINE)
    assert parts == ["Context", "Decision", "Consequences"]
    assert len(text(path).splitlines()) <= 25
    title = text(path).partition("\n")[0].removeprefix("# ")
    assert f"[{title}]({path.name})" in text(path.with_name("README.md"))


def test_the_first_exercise_runs_as_it_stands(tmp_path, monkeypatch):
    pytest.importorskip("selfcheck")
    code, session, *_ = CODE.findall(text(DOCS / "first-exercise.md"))
    assert code.count("\n") <= 30
    (tmp_path / "first.py").write_text(code, encoding="utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "first", raising=False)
    importlib.invalidate_caches()
    test = doctest.DocTestParser().get_doctest(session, {}, "first-exercise", None, None)
    assert len(test.examples) == 5
    assert doctest.DocTestRunner().run(test).failed == 0
    monkeypatch.delitem(sys.modules, "first", raising=False)
