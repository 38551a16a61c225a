"""What a visitor of the repository meets first: its files parse, agree and keep their bytes."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
import yaml
from PIL import Image

ROOT = Path(__file__).parents[1]
VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["version"]
YAML = sorted([*(ROOT / ".github").rglob("*.yml"), ROOT / "CITATION.cff", ROOT / "environment.yml"])


def parsed(name):
    return yaml.safe_load((ROOT / name).read_text(encoding="utf-8"))


def git(*arguments, cwd=ROOT):
    return subprocess.run(["git", *arguments], cwd=cwd, capture_output=True, text=True)


@pytest.mark.parametrize("path", YAML, ids=lambda p: p.name)
def test_every_yaml_file_parses(path):
    assert isinstance(parsed(path), dict)


def test_the_readme_opens_with_a_light_film_that_is_told_in_words():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    words, place = re.search(r"!\[([^]]+)\]\(([^)]+)\)", readme).groups()
    assert "refute" in words
    assert (ROOT / place).stat().st_size <= 1_000_000
    with Image.open(ROOT / place) as film:
        assert film.n_frames >= 4


# -- workflows ------------------------------------------------------------------------------------


def steps(job):
    return [step["run"] for step in parsed(".github/workflows/tests.yml")["jobs"][job]["steps"]
            if "run" in step]  # fmt: skip


def test_every_python_from_the_oldest_on_is_tested():
    matrix = parsed(".github/workflows/tests.yml")["jobs"]["test"]["strategy"]["matrix"]
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    oldest = project["requires-python"].removeprefix(">=")
    minors = [int(version.split(".")[1]) for version in matrix["python"]]
    assert matrix["python"][0] == oldest
    assert minors == list(range(minors[0], 15))


def test_ci_runs_what_everybody_runs():
    assert ".ci/run" in steps("test")
    assert "make lint" in steps("lint")
    assert "python bootstrap.py course doctor" in steps("students")
    systems = parsed(".github/workflows/tests.yml")["jobs"]["students"]["strategy"]["matrix"]["os"]
    assert {system.split("-")[0] for system in systems} == {"macos", "windows"}


# -- about the course -----------------------------------------------------------------------------


def test_the_newest_entry_of_the_changelog_is_this_version():
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.findall(r"^## (.+)$", text, re.MULTILINE)[0] == VERSION


def test_the_citation_names_this_version():
    assert str(parsed("CITATION.cff")["version"]) == VERSION


def test_a_report_of_a_wrong_verdict_asks_for_unit_answer_and_card():
    form = parsed(".github/ISSUE_TEMPLATE/right-answer-called-wrong.yml")["body"]
    asked = {part["id"]: part["validations"]["required"] for part in form if "id" in part}
    assert [name for name in ("unit", "answer", "card") if asked.get(name)] == [
        "unit",
        "answer",
        "card",
    ]


@pytest.mark.parametrize("name", ["CHANGELOG.md", "CITATION.cff", "SECURITY.md"])
def test_nobody_is_invented(name):
    text = (ROOT / name).read_text(encoding="utf-8")
    assert not re.search(r"\S@\S", text)
    assert "github.com/" not in text


# -- bytes ----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def windows_clone(tmp_path_factory):
    """A clone made as Git for Windows makes it, with the working tree's attributes."""
    place = tmp_path_factory.mktemp("clone") / "course"
    if git("rev-parse", "--git-dir").returncode:
        pytest.skip("this is not a git repository")
    made = git("clone", "--quiet", "-c", "core.autocrlf=true", str(ROOT), str(place))
    assert made.returncode == 0, made.stderr
    return place


def test_a_clone_with_autocrlf_has_the_same_bytes(windows_clone):
    names = git("ls-files", "-z", cwd=windows_clone).stdout.split("\0")[:-1]
    assert {".ci/run", "bootstrap.py", "exercises/02_momentum.ipynb"} <= set(names)
    committed = git("ls-files", "--eol", cwd=windows_clone).stdout.splitlines()
    assert [line for line in committed if "crlf" in line.split("attr")[0]] == []
    assert git("status", "--porcelain", cwd=windows_clone).stdout == ""


def test_there_release_writes_nothing(windows_clone):
    code = "import sys; from selfcheck.students.cli import main; sys.exit(main(['release']))"
    environment = {**os.environ, "PYTHONPATH": str(windows_clone)}
    result = subprocess.run(
        [sys.executable, "-c", code],
        cwd=windows_clone, env=environment, capture_output=True, text=True,
    )  # fmt: skip
    assert (result.returncode, result.stdout) == (0, "nothing changed\n"), result.stderr
