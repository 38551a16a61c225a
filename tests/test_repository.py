"""The repository as a whole: its lists agree, it is tidy, light to import and self-contained."""

import re
import subprocess
import sys
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.version import Version

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
LOCKS = ("requirements.lock", "requirements-dev.lock")
UNITS = sorted(p.stem for p in (ROOT / "course_utils" / "checks").glob("[a-z]*.py"))
HEAVY = {"matplotlib", "sympy", "ipywidgets", "IPython"}


def locked(name):
    """The lines of a lock file as requirements."""
    return [Requirement(line) for line in (ROOT / name).read_text().splitlines()]


def run(*command):
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True)


# -- what is installed ----------------------------------------------------------------------------


def test_conda_and_binder_get_the_same_packages_and_bounds():
    listed = yaml.safe_load((ROOT / "environment.yml").read_text())["dependencies"]
    python = f"python{PROJECT['requires-python']}"
    expected = [python, *PROJECT["dependencies"], "pip", {"pip": ["--editable ."]}]
    assert listed == expected


@pytest.mark.parametrize("name", LOCKS)
def test_a_lock_file_has_one_exact_version_a_line_and_no_addresses(name):
    for requirement in locked(name):
        assert requirement.url is None
        assert [specifier.operator for specifier in requirement.specifier] == ["=="]
        assert "*" not in str(requirement.specifier)


def test_the_test_tools_come_on_top_of_the_same_versions():
    core, dev = ({(r.name, str(r.specifier)) for r in locked(name)} for name in LOCKS)
    assert core < dev


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("requirements.lock", PROJECT["dependencies"]),
        (
            "requirements-dev.lock",
            [w for extra in ("dev", "slides", "grading", "cluster") for w in EXTRAS[extra]],
        ),
    ],
)
def test_every_dependency_is_locked_within_its_bounds(name, wanted):
    versions = {}
    for requirement in locked(name):
        versions.setdefault(requirement.name, []).append(str(requirement.specifier)[2:])
    for requirement in map(Requirement, wanted):
        if requirement.name != PROJECT["name"]:
            assert all(Version(v) in requirement.specifier for v in versions[requirement.name])


def test_what_is_installed_here_is_what_is_locked():
    here = [r for r in locked("requirements-dev.lock") if r.marker is None or r.marker.evaluate()]
    assert {r.name: f"=={metadata.version(r.name)}" for r in here} == {
        r.name: str(r.specifier) for r in here
    }


# -- how it is written ----------------------------------------------------------------------------


@pytest.mark.parametrize("arguments", [["check"], ["format", "--check"]], ids=" ".join)
def test_ruff_has_nothing_to_say_about_code_and_notebooks(arguments):
    result = run(sys.executable, "-m", "ruff", *arguments, "--no-cache", ".")
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
