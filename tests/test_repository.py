"""The repository as a whole: its lists agree, it is tidy, light to import and self-contained."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from course_utils import units
from tests.places import python_files

ROOT = Path(__file__).parents[1]
UNITS = [unit.name for unit in units.UNITS]
HEAVY = {"matplotlib", "sympy", "ipywidgets", "IPython"}


def run(*command):
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True)


# -- how it is written ----------------------------------------------------------------------------


@pytest.mark.parametrize("arguments", [["check"], ["format", "--check"]], ids=" ".join)
def test_ruff_has_nothing_to_say_about_code_and_notebooks(arguments):
    result = run(sys.executable, "-m", "ruff", *arguments, "--no-cache", ".")
    assert result.returncode == 0, result.stdout + result.stderr


@pytest.mark.slow  # `make quick` has run it already
def test_mypy_has_nothing_to_say_about_the_packages():
    result = run(sys.executable, "-m", "mypy")
    assert result.returncode == 0, result.stdout + result.stderr


def test_no_file_names_a_package_registry():
    hosts = [".".join(parts) for parts in (
        ("pypi", "org"), ("files", "pythonhosted", "org"), ("registry", "npmjs", "org")
    )]  # fmt: skip
    named = [(path, host) for path in tracked() for host in hosts if host.encode() in content(path)]
    assert named == []


def tracked():
    """The files of the course, known to git or about to be."""
    listed = run("git", "ls-files", "--cached", "--others", "--exclude-standard", "-z")
    if listed.returncode:
        pytest.skip("this is not a git repository")
    return [ROOT / name for name in listed.stdout.split("\0") if name]


def content(path):
    return path.read_bytes() if path.is_file() else b""


# -- what students meet ---------------------------------------------------------------------------


def imported_by(statement):
    """The top-level packages that a statement imports, as `-X importtime` lists them."""
    result = run(sys.executable, "-X", "importtime", "-c", statement)
    assert result.returncode == 0, result.stderr
    return {line.split("|")[-1].strip().split(".")[0] for line in result.stderr.splitlines()}


def test_importing_the_package_is_light():
    imported = imported_by("import course_utils")
    assert "course_utils" in imported
    assert imported.isdisjoint(HEAVY | {"numpy"})


@pytest.mark.parametrize("unit", UNITS)
def test_importing_the_checks_of_a_unit_is_light(unit):
    assert imported_by(f"from course_utils.checks import {unit}").isdisjoint(HEAVY)


@pytest.mark.parametrize(
    ("package", "unknown"),
    [("course_utils", "classroom"), ("selfcheck", "classroom|course_utils")],
)
def test_a_package_does_not_know_those_above_it(package, unknown):
    importing = re.compile(rf"^\s*(from|import) +({unknown})\b", re.MULTILINE)
    modules = python_files(ROOT / package, least=25)
    assert [p.name for p in modules if importing.search(p.read_text(encoding="utf-8"))] == []


def test_the_helper_package_is_small():
    modules = (ROOT / "course_utils").rglob("*.py")
    small = [p.read_text(encoding="utf-8") for p in modules if p.parent.name != "checks"]
    assert sum(text.count("\n") for text in small) < 7_000


def test_make_help_lists_every_target():
    targets = re.search(r"^\.PHONY: (.*)$", (ROOT / "Makefile").read_text(), re.MULTILINE)[
        1
    ].split()
    result = run("make", "--silent", "help")
    assert [line.split()[1] for line in result.stdout.splitlines()] == targets
    assert all(len(line.split()) > 3 for line in result.stdout.splitlines())


@pytest.mark.parametrize(
    "command", ["make lab", "make test", "bootstrap.py lab", "bootstrap.py test"]
)
def test_the_readme_names_the_two_commands_with_and_without_make(command):
    assert command in (ROOT / "README.md").read_text(encoding="utf-8")
