"""`course site --class FILE`: the pages tell the rules of a class, and solutions keep to them."""

import shutil
import zipfile
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from bs4 import BeautifulSoup

from classroom.grading.settings import Settings, read_text
from classroom.site import build, packages
from classroom.site.about import Facts
from selfcheck.course import course_in
from selfcheck.files import CourseError
from selfcheck.students import cli
from selfcheck.units import declared
from tests.places import ROOT, site_cache

RULES = """
late = "10% a day"
without = "transfer"
slides = "Sums · A. Lecturer"

[deadlines]
02_momentum = 2031-11-16T23:59:00

[extra]
"zoe@students.example" = "3 days"
"""
SOLUTION = "momentum.sealed"


def sealed_with(rules: Settings | None, tmp_path: Path) -> set[str]:
    """The solutions in the course's wheel."""
    wheel = packages._course_wheel(course_in(ROOT), tmp_path, rules)
    with zipfile.ZipFile(wheel) as archive:
        return {Path(name).name for name in archive.namelist() if name.endswith(".sealed")}


def due(days: float) -> dict[str, datetime]:
    return {"02_momentum": datetime.now() + timedelta(days=days)}


def test_a_site_for_everybody_has_all_solutions(tmp_path):
    assert len(sealed_with(None, tmp_path)) == 12


@pytest.mark.parametrize(
    ("rules", "held"),
    [
        (Settings(), set()),  # a class that says nothing gets none
        (Settings(solutions="never"), set()),
        (Settings(solutions="after the deadline", deadlines=due(days=1)), set()),
        (Settings(solutions="after the deadline", deadlines=due(days=-1)), {SOLUTION}),
        (
            Settings(
                solutions="after the deadline",
                deadlines=due(days=-1),
                extra={"ada": timedelta(days=3)},
            ),
            set(),
        ),
    ],
)
def test_solutions_are_there_when_the_class_may_see_them(rules, held, tmp_path):
    assert sealed_with(rules, tmp_path) == held


def test_after_full_points_all_are_there_and_sealed(tmp_path):
    assert len(sealed_with(Settings(solutions="after full points"), tmp_path)) == 12


def test_a_class_is_told_its_rules_in_sentences():
    facts = Facts.of(course_in(ROOT), "/", read_text(RULES))
    assert facts.due("02_momentum")[0] == "Sunday, November 16, 2031, 23:59"
    assert facts.told("02_momentum") == [
        "Late work loses 10% a day of its points.",
        "This class has no solutions here.",
        "Exercises beyond the page do not count.",
    ]
    assert facts.due("04_attention") is None
    assert "Late work" not in " ".join(facts.told("04_attention"))
    assert facts.counts(transfer=False)
    assert not facts.counts(transfer=True)


def test_a_site_for_everybody_tells_no_rules():
    facts = Facts.of(course_in(ROOT), "/")
    assert (facts.due("02_momentum"), facts.told("02_momentum")) == (None, [])
    assert facts.counts(transfer=True)


@pytest.mark.slow
def test_the_pages_show_the_deadline_and_no_student(tmp_path, tmp_path_factory):
    cache = site_cache(tmp_path_factory)
    site = build(ROOT, tmp_path / "site", units=["02"], cache=cache, rules=read_text(RULES))

    def page(name):
        return BeautifulSoup((site / name).read_text(encoding="utf-8"), "html.parser")

    work = page("exercises/02_momentum.html").select_one(".work .due")
    assert "Hand in by Sunday, November 16, 2031, 23:59. Late work loses 10%" in work.get_text()
    assert work.time["datetime"].startswith("2031-11-16T23:59:00")
    assert "Due Sunday" in page("index.html").select_one(".units .due").get_text()
    assert page("index.html").select_one(".class-name").get_text() == "Sums · A. Lecturer"
    texts = [p for p in site.rglob("*") if p.suffix in (".html", ".json", ".xml", ".txt")]
    assert len(texts) > 10
    assert not [p for p in texts if "zoe@students" in p.read_text(encoding="utf-8")]
    listed = (site / "static" / "sheets.json").read_text(encoding="utf-8")
    counts = {e.number: f'"number":"{e.number}"' in listed for e in declared("02_momentum")}
    assert counts == {e.number: not e.is_transfer for e in declared("02_momentum")}
    assert set(counts.values()) == {True, False}
    shutil.rmtree(site)


def test_rules_that_are_not_there_get_a_sentence(monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(ROOT)
    assert cli.main(["site", "--class", str(tmp_path / "no.toml"), "--to", str(tmp_path)]) != 0
    assert "no.toml cannot be read" in capsys.readouterr().err
    with pytest.raises(CourseError, match="solutions is one of"):
        read_text('solutions = "sometimes"')
