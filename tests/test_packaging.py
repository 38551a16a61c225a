"""Three projects: each declares what it imports, and the locks hold exactly that."""

import ast
import functools
import re
import subprocess
import sys
import tomllib
import zipfile
from hashlib import sha256
from importlib import metadata
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from classroom import extras
from classroom.offline import VENDOR
from selfcheck.files import CourseError
from selfcheck.students import cli, doctor
from tests.places import python_files

ROOT = Path(__file__).parents[1]
LOCKS = ("requirements.lock", "requirements-dev.lock")
OURS = {"selfcheck", "course-utils", "course-classroom"}
LOCK_LINE = re.compile(r"[\w.-]+==[\w.]+( ; [\w '<>=.!()]+)?|    --hash=sha256:[0-9a-f]{64}")


def project(folder):
    """A pyproject.toml."""
    return tomllib.loads((ROOT / folder / "pyproject.toml").read_text(encoding="utf-8"))


MACHINE, COURSE, CLASSROOM = (
    project(folder)["project"] for folder in ("selfcheck", ".", "classroom")
)
FOR_TESTS = MACHINE["optional-dependencies"]["tests"]
IN_NOTEBOOKS = [
    text for extra in ("figures", "jupyter") for text in MACHINE["optional-dependencies"][extra]
]
STUDENTS = [*MACHINE["dependencies"], *IN_NOTEBOOKS]
EXTRAS, GROUPS = CLASSROOM["optional-dependencies"], project("classroom")["dependency-groups"]
OPTIONAL = [text for extra in EXTRAS.values() for text in extra]


def names(requirements):
    return {canonicalize_name(Requirement(text).name) for text in requirements}


def locked(name):
    """The requirements of a lock file, without their hashes."""
    lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
    return [Requirement(line.rstrip(" \\")) for line in lines if not line.startswith(" ")]


# -- what is imported is declared -----------------------------------------------------------------


def imported(path):
    """The packages that a Python file imports, also within functions; Python's own are none."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        modules = []
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            modules = [node.module]
        yield from {module.split(".")[0] for module in modules} - sys.stdlib_module_names


def distributions(*places):
    """The distributions that bring what these files and folders import."""
    files = [p for place in places for p in ([place] if place.is_file() else place.rglob("*.py"))]
    assert len(files) >= 10
    modules = {module for path in files for module in imported(path)}
    ours = {"selfcheck", "course_utils", "classroom", "tests", "benchmarks", "small_course"}
    return {canonicalize_name(brought_by()[module][0]) for module in modules - ours}


@functools.cache
def brought_by():
    """For each module that can be imported here, the distributions that bring it."""
    return metadata.packages_distributions()


def test_the_machine_declares_exactly_what_it_imports():
    assert names([*STUDENTS, *FOR_TESTS]) == distributions(ROOT / "selfcheck")


def test_the_helper_package_declares_exactly_what_it_imports():
    wanted = distributions(ROOT / "course_utils") | {"selfcheck"}
    assert names(COURSE["dependencies"]) == wanted


def test_the_instructors_package_declares_exactly_what_it_imports():
    optional = names(OPTIONAL)
    declared = names(CLASSROOM["dependencies"])
    started = {"pytest-xdist"}  # by `course check`, as an option of pytest
    wanted = distributions(ROOT / "classroom") | started | {"selfcheck"}
    assert declared | optional == wanted
    assert declared.isdisjoint(optional)


def test_tests_and_pictures_import_only_what_is_declared():
    declared = STUDENTS + CLASSROOM["dependencies"] + GROUPS["dev"]
    wanted = distributions(ROOT / "tests", ROOT / "conftest.py", ROOT / "docs")
    assert wanted <= names([*declared, *OPTIONAL])


def test_optional_packages_are_imported_only_within_functions():
    """Else a command that does not need them would not start without them."""
    optional, known = names(OPTIONAL), brought_by()
    for path in python_files(ROOT / "classroom", least=50):
        if path.name == "nbgrader_settings.py":  # read by nbgrader itself
            continue
        top = ast.Module(ast.parse(path.read_text(encoding="utf-8")).body, [])
        top.body = [node for node in top.body if isinstance(node, ast.Import | ast.ImportFrom)]
        for node in top.body:
            module = (node.names[0].name if isinstance(node, ast.Import) else node.module) or ""
            found = known.get(module.split(".")[0], [""])[0]
            assert getattr(node, "level", 0) or canonicalize_name(found) not in optional, path


def test_all_projects_have_one_version_and_ask_for_the_same_python():
    for project in (MACHINE, COURSE, CLASSROOM):
        assert project["version"] == MACHINE["version"] == metadata.version(project["name"])
        assert project["requires-python"] == MACHINE["requires-python"]
    for project in (COURSE, CLASSROOM):
        wanted = f"selfcheck[figures,jupyter]=={MACHINE['version']}"
        assert wanted in project["dependencies"]


def test_conda_and_binder_get_the_same_packages_and_bounds():
    listed = yaml.safe_load((ROOT / "environment.yml").read_text())["dependencies"]
    python = f"python{MACHINE['requires-python']}"
    nbval = [wanted for wanted in CLASSROOM["dependencies"] if wanted.startswith("nbval")]
    packages = sorted([*STUDENTS, *nbval])
    expected = [python, *packages, "pip", {"pip": ["--editable ./selfcheck", "--editable ."]}]
    assert listed == expected


@pytest.mark.slow
@pytest.mark.parametrize(
    ("folder", "package", "holds"),
    [
        ("selfcheck", "selfcheck", {"selfcheck/py.typed", "selfcheck/students/cli.py"}),
        (".", "course_utils", {"course_utils/units.toml", "course_utils/checks/momentum.py"}),
        (
            "classroom",
            "classroom",
            {"classroom/commands/marking.py", "classroom/templates/shades.css"},
        ),
    ],
)
def test_a_project_builds_as_a_wheel_of_its_one_package(tmp_path, folder, package, holds):
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", tmp_path]
    done = subprocess.run([*command, ROOT / folder], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        names = set(archive.namelist())
    assert holds <= names
    assert {name.split("/")[0] for name in names if ".dist-info/" not in name} == {package}
    assert not [name for name in names if "__pycache__" in name]


# -- lock files -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", LOCKS)
def test_a_lock_file_has_exact_versions_and_hashes_and_no_addresses(name):
    lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if not LOCK_LINE.fullmatch(line.removesuffix(" \\"))] == []


@pytest.mark.parametrize("name", LOCKS)
def test_every_package_of_a_lock_file_has_a_hash(name):
    lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
    after = zip(lines, [*lines[1:], ""], strict=True)
    assert [line for line, then in after if line[0] != " " and "--hash" not in then] == []


def test_the_tools_come_on_top_of_the_same_versions():
    core, dev = ({(r.name, str(r.specifier)) for r in locked(name)} for name in LOCKS)
    assert core < dev


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("requirements.lock", STUDENTS),
        (
            "requirements-dev.lock",
            [*CLASSROOM["dependencies"], *GROUPS["dev"], *OPTIONAL],
        ),
    ],
)
def test_every_dependency_is_locked_within_its_bounds(name, wanted):
    versions = {}
    for requirement in locked(name):
        versions.setdefault(requirement.name, []).append(str(requirement.specifier)[2:])
    for requirement in map(Requirement, wanted):
        if requirement.name not in OURS:
            assert all(Version(v) in requirement.specifier for v in versions[requirement.name])


def test_what_is_installed_here_is_what_is_locked():
    here = [r for r in locked("requirements-dev.lock") if r.marker is None or r.marker.evaluate()]
    assert {r.name: f"=={metadata.version(r.name)}" for r in here} == {
        r.name: str(r.specifier) for r in here
    }


# -- what is missing is named ---------------------------------------------------------------------


@pytest.fixture
def without(monkeypatch):
    """Packages of these names are not installed."""
    return lambda *missing: monkeypatch.setattr(
        extras, "_is_installed", lambda name: name not in missing
    )


@pytest.mark.parametrize("extra", EXTRAS)
def test_an_extra_that_is_missing_is_named_with_the_commands_that_install_it(extra, without):
    missing = [Requirement(text).name for text in EXTRAS[extra]]
    without(*missing)
    sentence = rf"This needs {', '.join(missing)}\. .*bootstrap\.py dev`.*'\./classroom\[{extra}\]'"
    with pytest.raises(CourseError, match=sentence):
        extras.need(extra, "This needs")


def test_what_is_there_is_not_named():
    for extra in EXTRAS:
        extras.need(extra, "This needs")


@pytest.mark.parametrize(
    ("arguments", "missing", "sentence"),
    [
        (["slides", "02"], "nbconvert", r"Slides need nbconvert\."),
        (["slides", "02", "--check"], "playwright", r"need playwright\."),
        (["page"], "beautifulsoup4", r"Pages need beautifulsoup4\."),
        (["handout", "02"], "nbconvert", r"Handouts need nbconvert\."),
        (["site"], "jupyterlite-core", r"A site needs jupyterlite-core\."),
        (["check"], "nbval", r"`course check` needs nbval\..*'\./classroom'"),
    ],
)
def test_a_command_says_so_before_it_begins(
    arguments, missing, sentence, without, monkeypatch, capsys
):
    monkeypatch.chdir(ROOT)
    without(missing)
    assert cli.main(arguments) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert re.search(sentence, err)


@pytest.mark.parametrize("command", ["doctor", "progress"])
def test_what_students_use_does_not_ask_for_more(command, without, monkeypatch, capsys):
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(doctor, "examine", lambda root: [])
    without(*names(CLASSROOM["dependencies"]))
    cli.main([command])
    assert "bootstrap.py dev" not in capsys.readouterr().err


# -- files of others ------------------------------------------------------------------------------


VENDORED = tomllib.loads((VENDOR / "contents.toml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("package", VENDORED)
def test_files_of_others_are_unchanged_and_come_with_their_license(package):
    listed = {name: digest for name, (_, digest) in VENDORED[package]["files"].items()}
    folder = VENDOR / package
    assert {p.name: sha256(p.read_bytes()).hexdigest() for p in folder.iterdir()} == listed
    assert "LICENSE" in listed
    assert VENDORED[package]["license"] in CLASSROOM["license"]
    assert re.fullmatch("[0-9a-f]{64}", VENDORED[package]["tarball"])


def test_no_file_of_others_lies_there_unlisted():
    assert {p.name for p in VENDOR.iterdir()} == {"contents.toml", *VENDORED}
