"""bootstrap.py: sets up once, says in a sentence what is wrong, and stays out of the way."""

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from itertools import pairwise
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
HOUSE = ("bootstrap.py", "pyproject.toml", "requirements.lock")
CLASSROOM = ("requirements-dev.lock", "classroom/pyproject.toml")  # what students do not have


@pytest.fixture
def course(tmp_path):
    """A course folder with nothing set up."""
    folder = tmp_path / "course"
    (folder / "classroom").mkdir(parents=True)
    for name in HOUSE + CLASSROOM:
        shutil.copy(ROOT / name, folder / name)
    return folder


@pytest.fixture
def students(course):
    """The same folder as students get it."""
    (course / "requirements-dev.lock").unlink()
    shutil.rmtree(course / "classroom")
    return course


@pytest.fixture
def boot(course):
    """bootstrap.py of that folder as a module."""
    spec = importlib.util.spec_from_file_location("bootstrap_copy", course / "bootstrap.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def quick(boot, monkeypatch):
    """A bootstrap that notes what it would do: no real environment, no packages."""
    boot.done = []

    def create_environment():
        boot.done.append("create")
        boot.BIN.mkdir(parents=True, exist_ok=True)
        boot.PYTHON.touch()

    monkeypatch.setattr(boot, "create_environment", create_environment)
    monkeypatch.setattr(boot, "install", boot.done.append)
    monkeypatch.setattr(boot, "works", lambda *arguments: boot.PYTHON.exists())
    return boot


def start(course, *arguments, python=sys.executable, **variables):
    """Run the script as a student does."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith(("PIP_", "UV_"))}
    return subprocess.run(
        [python, "bootstrap.py", *arguments],
        cwd=course,
        env={**environment, **variables},
        capture_output=True,
        text=True,
        timeout=300,
    )


def old_python(version):
    """A Python of that version on this machine, if any."""
    places = sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python"))
    return str(places[-1]) if places else None


# -- what can be wrong with a machine -------------------------------------------------------------


@pytest.mark.parametrize("version", ["2.7", "3.6", "3.8", "3.10"])
def test_an_old_python_gets_a_sentence(course, version):
    python = old_python(version)
    if python is None:
        pytest.skip(f"there is no Python {version} here")
    result = start(course, "lab", python=python)
    assert result.returncode == 1
    assert f"needs Python 3.11 or newer, and this is Python {version}" in result.stderr
    assert "Traceback" not in result.stderr


def test_the_script_is_plain_ascii_so_that_any_python_can_read_it():
    assert (ROOT / "bootstrap.py").read_bytes().isascii()


@pytest.mark.parametrize("module", ["ensurepip", "venv"])
def test_a_missing_venv_module_gets_a_sentence(course, tmp_path, module):
    stubs = tmp_path / "stubs"
    stubs.mkdir()
    (stubs / f"{module}.py").write_text("raise ImportError")
    result = start(course, "lab", PYTHONPATH=str(stubs))
    assert result.returncode == 1
    assert "venv module is missing" in result.stderr
    assert "Traceback" not in result.stderr
    assert not (course / ".venv").exists()


@pytest.mark.slow
def test_no_network_gets_a_sentence_and_the_set_up_can_be_resumed(course, tmp_path):
    nowhere = "http://127.0.0.1:9/"
    dead = {"PIP_INDEX_URL": nowhere, "PIP_CONFIG_FILE": os.devnull, "UV_INDEX_URL": nowhere}
    dead |= {"UV_CACHE_DIR": str(tmp_path / "uv"), "PIP_CACHE_DIR": str(tmp_path / "pip")}
    result = start(course, "lab", **dead)
    assert result.returncode == 1
    assert "There seems to be no network" in result.stderr
    assert "Run the same command again" in result.stderr
    assert "Traceback" not in result.stdout + result.stderr
    assert not (course / ".venv" / "installed.json").exists()
    assert (course / ".venv" / "setup.log").read_text().count("Retrying") <= 2


def test_a_folder_that_cannot_be_written_gets_a_sentence(boot, monkeypatch):
    def refuse(path, *arguments, **options):
        raise PermissionError(13, "Permission denied", str(path))

    monkeypatch.setattr(Path, "mkdir", refuse)
    with pytest.raises(SystemExit, match=r"Permission denied .*\.venv.*\n.*copy the course"):
        boot.main(["lab"])


def test_a_file_in_the_place_of_the_environment_gets_a_sentence(course):
    (course / ".venv").touch()
    result = start(course, "lab")
    assert result.returncode == 1
    assert "could not be set up" in result.stderr
    assert "Traceback" not in result.stderr


def test_an_incomplete_copy_of_the_course_gets_a_sentence(course):
    (course / "requirements.lock").unlink()
    result = start(course, "lab")
    assert "requirements.lock" in result.stderr
    assert "Traceback" not in result.stderr


# -- set up once ----------------------------------------------------------------------------------


def test_the_first_start_makes_an_environment_and_installs_the_lock(quick):
    quick.set_up([quick.CORE])
    assert quick.done == ["create", quick.CORE]


def test_kernels_of_the_environment_load_the_extension_whoever_starts_them(quick):
    quick.set_up([quick.CORE])
    (config,) = quick.VENV.glob("etc/ipython/*.py")
    assert "selfcheck.notebook" in config.read_text(encoding="utf-8")


def test_the_second_start_installs_nothing(quick):
    quick.set_up([quick.CORE])
    quick.done.clear()
    quick.set_up([quick.CORE])
    assert quick.done == []


@pytest.mark.parametrize("name", ["requirements.lock", "pyproject.toml", CLASSROOM[1]])
def test_a_changed_lock_or_project_is_installed_into_the_same_environment(quick, course, name):
    quick.set_up([quick.CORE])
    quick.done.clear()
    (course / name).write_text("changed")
    quick.set_up([quick.CORE])
    assert quick.done == [quick.CORE]


def test_the_test_tools_come_on_top_and_stay(quick):
    quick.set_up([quick.CORE])
    quick.set_up([quick.CORE, quick.DEV])
    quick.set_up([quick.CORE])
    assert quick.done == ["create", quick.CORE, quick.DEV]


@pytest.mark.parametrize("command", ["lab", "doctor", "progress"])
def test_what_students_use_needs_no_tools(quick, monkeypatch, command):
    monkeypatch.setattr(quick, "run", lambda command: 0)
    quick.main(["course", command])
    assert quick.done == ["create", quick.CORE]


@pytest.mark.parametrize(
    "arguments", [["course", "slides", "02"], ["course"], ["course", "--help"], ["test"], ["dev"]]
)
def test_what_instructors_use_gets_the_tools_too(quick, monkeypatch, arguments):
    monkeypatch.setattr(quick, "run", lambda command: 0)
    quick.main(arguments)
    assert quick.done == ["create", quick.DEV]


@pytest.mark.parametrize("arguments", [["lab"], ["course", "--help"], ["dev", "python"]])
def test_in_a_students_folder_one_lock_is_enough(students, quick, monkeypatch, arguments):
    monkeypatch.setattr(quick, "run", lambda command: 0)
    quick.main(arguments)
    assert quick.done == ["create", quick.CORE]


def test_students_have_no_tests_and_are_told_so(students, quick):
    with pytest.raises(SystemExit, match=r"Students get no tests; .* doctor"):
        quick.main(["test"])


def test_an_interrupted_installation_is_resumed_in_the_same_environment(quick, monkeypatch):
    def interrupt(lock):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(quick, "install", interrupt)
        with pytest.raises(KeyboardInterrupt):
            quick.set_up([quick.CORE])
    quick.set_up([quick.CORE])
    assert quick.done == ["create", quick.CORE]


def test_a_moved_folder_gets_a_new_environment(quick):
    quick.set_up([quick.CORE])
    stamp = json.loads(quick.STAMP.read_text())
    quick.STAMP.write_text(json.dumps({**stamp, "folder": "/elsewhere"}))
    quick.done.clear()
    quick.set_up([quick.CORE])
    assert quick.done == ["create", quick.CORE]


def test_an_environment_whose_python_is_gone_is_made_anew(quick):
    quick.set_up([quick.CORE])
    quick.PYTHON.unlink()
    quick.done.clear()
    quick.set_up([quick.CORE])
    assert quick.done == ["create", quick.CORE]


@pytest.mark.parametrize("text", ["", "{", "[]", "null"])
def test_a_broken_record_of_what_is_installed_counts_as_none(quick, text):
    quick.set_up([quick.CORE])
    quick.STAMP.write_text(text)
    quick.done.clear()
    quick.set_up([quick.CORE])
    assert quick.done == [quick.CORE]


# -- installing -----------------------------------------------------------------------------------

COMPILED = ("compileall", "all")


@pytest.fixture
def tools(boot, monkeypatch):
    """Replace the tools by a list of failing words; record which tool was asked for what."""
    boot.VENV.mkdir()
    boot.failing, boot.says, boot.asked = set(), b"", []

    def wait(progress, command):
        tool = command[2]
        steps = {"-r": "lock", "--editable": "course", "-q": "all"}
        step = next((step for word, step in steps.items() if word in command), "uv")
        boot.asked.append((tool, step))
        failed = (tool, step) in boot.failing
        if failed:
            boot.LOG.write_bytes(boot.says)
        return int(failed)

    monkeypatch.setattr(boot.Progress, "wait", wait)
    return boot


def test_uv_installs_where_it_can_be_had(tools, capsys):
    tools.install(tools.CORE)
    assert tools.asked == [("pip", "uv"), ("uv", "lock"), ("uv", "course"), COMPILED]
    assert "done in 0 s" in capsys.readouterr().out


def test_nothing_is_installed_that_is_not_what_was_locked(tools, monkeypatch):
    commands = []
    monkeypatch.setattr(tools.Progress, "wait", lambda self, command: commands.append(command) or 0)
    tools.install(tools.CORE)
    locked = [command for command in commands if "-r" in command]
    assert [command[-3:] for command in locked] == [["--require-hashes", "-r", tools.CORE]]


@pytest.mark.parametrize("folder", ["course", "students"])
def test_the_course_itself_is_installed_as_it_lies_there(folder, request, tools, monkeypatch):
    place = request.getfixturevalue(folder)
    commands = []
    monkeypatch.setattr(tools.Progress, "wait", lambda self, command: commands.append(command) or 0)
    tools.install(tools.CORE)
    ours = [str(place), str(place / "classroom")] if folder == "course" else [str(place)]
    words = commands[-2]
    assert [word for flag, word in pairwise(words) if flag == "--editable"] == ours


def test_pip_installs_where_there_is_no_uv(tools):
    tools.failing = {("pip", "uv")}
    tools.install(tools.CORE)
    assert tools.asked == [("pip", "uv"), ("pip", "lock"), ("pip", "course"), COMPILED]


def test_pip_installs_where_uv_fails(tools):
    tools.failing = {("uv", "lock")}
    tools.install(tools.CORE)
    assert tools.asked[-3:] == [("pip", "lock"), ("pip", "course"), COMPILED]


def test_without_a_network_nothing_is_tried_twice(tools):
    tools.failing = {("uv", "lock")}
    tools.says = b"error: dns error: failed to lookup address"
    with pytest.raises(SystemExit, match="There seems to be no network"):
        tools.install(tools.CORE)
    assert tools.asked == [("pip", "uv"), ("uv", "lock")]


def test_a_failure_of_another_kind_points_to_the_log(tools):
    tools.failing = {("uv", "lock"), ("pip", "lock")}
    tools.says = b"ERROR: ResolutionImpossible \xff"
    with pytest.raises(SystemExit, match=r"Something went wrong; details are in .*setup\.log"):
        tools.install(tools.CORE)


# -- running --------------------------------------------------------------------------------------


def test_the_exit_code_of_the_command_is_handed_on(boot):
    assert boot.run([sys.executable, "-c", "raise SystemExit(7)"]) == 7


def test_another_pythons_packages_do_not_reach_the_course(boot, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", "/elsewhere")
    code = "import os, sys; sys.exit('PYTHONPATH' in os.environ)"
    assert boot.run([sys.executable, "-c", code]) == 0


def test_what_was_compiled_once_is_kept_even_where_python_is_told_not_to(boot, monkeypatch):
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    assert boot.run([sys.executable, "-c", "import sys; sys.exit(sys.dont_write_bytecode)"]) == 0


def test_a_command_that_is_not_there_gets_a_sentence(boot):
    with pytest.raises(SystemExit, match=r"no_such_tool could not be started: No such file"):
        boot.run([boot.BIN / "no_such_tool"])


PARALLEL = ["-n", str((os.cpu_count() or 1) + 1), "--dist", "loadfile", "--no-loadscope-reorder"]


@pytest.mark.parametrize(
    ("arguments", "program"),
    [
        (["lab"], ["-m", "selfcheck", "lab"]),
        (["lab", "--no-browser"], ["-m", "selfcheck", "lab", "--no-browser"]),
        (["course", "doctor"], ["-m", "selfcheck", "doctor"]),
        (["test", "-x"], ["-m", "pytest", *PARALLEL, "-x"]),
    ],
)
def test_each_command_runs_its_program_in_the_environment(quick, monkeypatch, arguments, program):
    monkeypatch.setattr(quick, "run", lambda command: command)
    assert quick.main(arguments) == [quick.PYTHON, *program]


@pytest.mark.parametrize(("arguments", "code"), [([], 0), (["--help"], 0), (["lap"], 2)])
def test_without_a_known_command_the_commands_are_listed(boot, capsys, arguments, code):
    assert boot.main(arguments) == code
    assert "python bootstrap.py lab" in capsys.readouterr().out
