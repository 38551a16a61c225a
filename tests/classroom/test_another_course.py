"""`course init`: a course of another subject, outside of this repository, does all that ours does.

Its folder lies elsewhere, its package is not installed, and nothing in it speaks of deep learning.
"""

import csv
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from bs4 import BeautifulSoup

from tests.places import ROOT

UNIT = "01_even_numbers"
OURS = re.compile(r"deep.learning|momentum|attention|softmax|neural|gradient", re.IGNORECASE)
# What a site takes from others, as it is.
OTHERS = (
    "lite/build",
    "lite/extensions",
    "lite/static",
    "lite/lab",
    "static/mathjax",
    "static/formulas.woff2",
    "static/stix-two-math",
    "static/reveal",
)


def course(folder: Path, *words: str, code: int = 0) -> str:
    """A command in this folder, as one types it there: what it says."""
    outer = {k: v for k, v in os.environ.items() if not k.startswith(("PYTEST_", "PYTHONPATH"))}
    command = [sys.executable, "-m", "selfcheck", *words]
    done = subprocess.run(command, cwd=folder, env=outer, capture_output=True, text=True)
    assert done.returncode == code, f"{words}\n{done.stdout}\n{done.stderr}"
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def fractions(tmp_path_factory) -> Path:
    """A new course, made as docs/authors.md says."""
    folder = tmp_path_factory.mktemp("elsewhere")
    course(folder, "init", "fractions", "Fractions and their sums")
    return folder / "fractions"


def words_of_ours(folder: Path) -> list[str]:
    """Files below this folder that speak of our subject."""
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    assert len(files) > 5
    texts = {path.relative_to(folder).as_posix(): path.read_bytes() for path in files}
    return [
        name
        for name, data in texts.items()
        if not any(place in name for place in OTHERS)
        and OURS.search(data.decode("utf-8", errors="ignore"))
    ]


def test_nothing_in_it_speaks_of_our_subject(fractions):
    assert words_of_ours(fractions) == []


def test_its_own_two_commands_pass(fractions):
    """`make test` as it stands; the environment is this one, in which its package is not."""
    venv = Path(sys.executable).parents[1]
    outer = {k: v for k, v in os.environ.items() if not k.startswith(("PYTEST_", "PYTHONPATH"))}
    done = subprocess.run(
        ["make", "test", f"VENV={venv}"], cwd=fractions, env=outer, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("green") == 3
    assert re.search(r"^6 passed", done.stdout, re.MULTILINE)
    found = course(fractions, "doctor")
    assert "kernel python3 starts and imports fractions_course" in found


def test_a_class_of_two_is_graded(fractions, bubblewrap):
    for student, folder in {"ada": "solutions", "bob": "exercises"}.items():
        (fractions / "class" / student).mkdir(parents=True)
        shutil.copy(fractions / folder / f"{UNIT}.ipynb", fractions / "class" / student)
    course(fractions, "grade", "class", "--to", "grades")
    with (fractions / "grades" / "grades.csv").open(encoding="utf-8-sig") as file:
        rows = {row["student"]: (row["total"], row["of"]) for row in csv.DictReader(file)}
    assert rows == {"ada": ("2", "2"), "bob": ("0", "2")}


def test_a_bundle_a_deck_and_a_page_are_made(fractions):
    course(fractions, "release", "--to", "build/bundle")
    there = {path.name for path in (fractions / "build" / "bundle").iterdir()}
    assert {"course.toml", "Makefile", "README.md", "fractions_course", "exercises"} <= there
    assert "solutions" not in there
    course(fractions, "slides")
    deck = (fractions / "build" / "slides" / f"{UNIT}.html").read_text(encoding="utf-8")
    assert "Sums of even numbers" in BeautifulSoup(deck, "html.parser").select_one("h1").text
    course(fractions, "page")
    page = (fractions / "build" / "pages" / "exercises" / f"{UNIT}.html").read_text("utf-8")
    assert "even_sum" in page


def test_a_site_is_made_with_its_title_and_no_word_of_ours(fractions):
    wheels = os.environ.get("COURSE_LITE_WHEELS")
    if not wheels and os.environ.get("COURSE_LITE") != "must":
        pytest.skip("COURSE_LITE_WHEELS is not set: no compiled packages for the browser")
    kept = ROOT / "build" / "site-packages"
    kept.mkdir(parents=True, exist_ok=True)
    (fractions / "build").mkdir(exist_ok=True)
    (fractions / "build" / "site-packages").symlink_to(kept)
    course(fractions, "site", *(["--offline-wheels", wheels] if wheels else []))
    site = fractions / "build" / "site"
    soup = BeautifulSoup((site / "index.html").read_text(encoding="utf-8"), "html.parser")
    assert soup.h1.text == "Fractions and their sums"
    assert (site / "lite" / "files" / "exercises" / f"{UNIT}.ipynb").is_file()
    assert words_of_ours(site) == []


def test_the_audit_changes_its_right_answers(fractions):
    assert "0 open" in course(fractions, "audit")


def test_a_second_unit_is_added(fractions):
    course(fractions, "new", "02", "odd_numbers", "Sums of odd numbers")
    assert "| 02 |" in (fractions / "README.md").read_text(encoding="utf-8")
    assert re.search(r"02_odd_numbers +0 of 2", course(fractions, "progress"))


COMMANDS = [("release",), ("links",), ("execute",), ("check",), ("slides",), ("progress",)]


@pytest.mark.parametrize("words", COMMANDS, ids=lambda words: words[0])
def test_in_a_folder_that_is_no_course_a_command_refuses(words, tmp_path):
    says = course(tmp_path, *words, code=1)
    assert re.search(r"There is no course\.toml in .* or above it: go to the folder", says)
    assert list(tmp_path.iterdir()) == []


def test_a_course_is_begun_in_an_empty_folder_only(tmp_path):
    (tmp_path / "mine").write_text("mine")
    assert "is not empty" in course(tmp_path, "init", ".", "Fractions", code=1)
    assert "A title is one line" in course(tmp_path, "init", "new", 'Say "A"', code=1)
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]
