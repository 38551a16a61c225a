"""cli.py: every command, its exit code, and a sentence on stderr when something is wrong."""

import os
import pty
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from course_utils import cli, doctor
from course_utils.classroom import navigation, notebooks, release
from course_utils.doctor import Finding
from course_utils.files import CourseError

ROOT = Path(__file__).parents[1]


@pytest.fixture
def course(tmp_path, monkeypatch):
    (tmp_path / "course_utils").mkdir()
    (tmp_path / "bootstrap.py").touch()
    for folder in ("notebooks", "solutions"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "02_unit.ipynb").write_text("old")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_without_a_command_the_commands_are_listed(capsys):
    assert cli.main([]) == 0
    out = capsys.readouterr().out
    commands = ("lab", "doctor", "release", "execute", "links", "progress")
    assert all(command in out for command in commands)


@pytest.mark.parametrize("arguments", [["doktor"], ["doctor", "--fast"], ["release", "--zp"]])
def test_an_unknown_word_gets_a_sentence_and_exit_code_two(capsys, arguments):
    with pytest.raises(SystemExit) as stop:
        cli.main(arguments)
    assert stop.value.code == 2
    assert "course: error:" in capsys.readouterr().err


# -- doctor ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("ok", "code"), [(True, 0), (False, 1)])
def test_the_doctors_exit_code_is_the_health_of_the_machine(course, monkeypatch, capsys, ok, code):
    findings = [Finding(ok, "kernel", "Mend it."), Finding(True, "port")]
    monkeypatch.setattr(doctor, "examine", lambda root: iter(findings))
    assert cli.main(["doctor"]) == code
    assert capsys.readouterr().out.splitlines()[-1] == "[ ok ] port"


# -- release --------------------------------------------------------------------------------------


def test_release_names_the_exercises_that_changed(course, monkeypatch, capsys):
    monkeypatch.setattr(release, "release", lambda root: [root / "exercises" / "02_unit.ipynb"])
    assert cli.main(["release"]) == 0
    assert capsys.readouterr().out == f"wrote {Path('exercises/02_unit.ipynb')}\n"


def test_release_says_when_nothing_changed(course, monkeypatch, capsys):
    monkeypatch.setattr(release, "release", lambda root: [])
    assert cli.main(["release"]) == 0
    assert capsys.readouterr().out == "nothing changed\n"


def test_the_bundle_gets_its_options(course, monkeypatch, capsys):
    asked = []
    monkeypatch.setattr(release, "bundle", lambda *arguments: asked.append(arguments) or "out.zip")
    assert cli.main(["release", "--to", "out", "--zip", "--unit", "02", "--unit", "rnn"]) == 0
    assert asked == [(course, Path("out"), ["02", "rnn"], True)]
    assert capsys.readouterr().out == "wrote out.zip\n"


@pytest.mark.parametrize("arguments", [["--zip"], ["--unit", "02"]])
def test_options_of_the_bundle_without_a_place_get_a_sentence(course, capsys, arguments):
    assert cli.main(["release", *arguments]) == 1
    assert "belong to --to DIR" in capsys.readouterr().err


def test_a_known_problem_is_told_on_stderr(course, monkeypatch, capsys):
    def fail(root):
        raise CourseError("solutions/02.ipynb, cell answer-a: a mark is wrong.")

    monkeypatch.setattr(release, "release", fail)
    assert cli.main(["release"]) == 1
    captured = capsys.readouterr()
    assert captured.err == "course: solutions/02.ipynb, cell answer-a: a mark is wrong.\n"
    assert captured.out == ""


def test_a_disk_that_refuses_is_told_in_a_sentence(course, monkeypatch, capsys):
    def fail(root):
        raise PermissionError(13, "Permission denied", "exercises/x.ipynb")

    monkeypatch.setattr(release, "release", fail)
    assert cli.main(["release"]) == 1
    assert capsys.readouterr().err == "course: Permission denied: exercises/x.ipynb\n"


def test_ctrl_c_ends_with_a_sentence(course, monkeypatch, capsys):
    def interrupt(root):
        raise KeyboardInterrupt

    monkeypatch.setattr(release, "release", interrupt)
    assert cli.main(["release"]) == 130
    assert "what was finished is kept" in capsys.readouterr().err


# -- execute --------------------------------------------------------------------------------------


@pytest.fixture
def executed(monkeypatch):
    """Executing takes no time and gives the word `new`."""
    paths = []
    monkeypatch.setattr(notebooks, "execute", lambda path: paths.append(path) or "new")
    monkeypatch.setattr(notebooks, "as_text", str)
    return paths


def test_execute_takes_all_lectures_and_solutions(course, executed, capsys):
    assert cli.main(["execute"]) == 0
    names = [path.relative_to(course).as_posix() for path in executed]
    assert names == ["notebooks/02_unit.ipynb", "solutions/02_unit.ipynb"]
    assert (course / "solutions" / "02_unit.ipynb").read_text() == "new"
    assert "[2/2]" in capsys.readouterr().out


def test_execute_takes_only_what_is_named(course, executed):
    assert cli.main(["execute", "notebooks/02_unit.ipynb"]) == 0
    assert executed == [Path("notebooks/02_unit.ipynb")]


def test_a_notebook_that_fails_keeps_its_old_file(course, monkeypatch, capsys):
    def fail(path):
        raise CourseError(f"{path}, cell b: did not run to its end.")

    monkeypatch.setattr(notebooks, "execute", fail)
    assert cli.main(["execute", "solutions/02_unit.ipynb"]) == 1
    assert "cell b" in capsys.readouterr().err
    assert (course / "solutions" / "02_unit.ipynb").read_text() == "old"


# -- links and progress ---------------------------------------------------------------------------


def test_links_names_the_notebooks_that_changed(course, monkeypatch, capsys):
    monkeypatch.setattr(navigation, "link", lambda root: [root / "notebooks" / "02_unit.ipynb"])
    assert cli.main(["links"]) == 0
    assert capsys.readouterr().out == f"wrote {Path('notebooks/02_unit.ipynb')}\n"


def test_links_says_when_nothing_changed(course, monkeypatch, capsys):
    monkeypatch.setattr(navigation, "link", lambda root: [])
    assert cli.main(["links"]) == 0
    assert capsys.readouterr().out == "nothing changed\n"


def test_progress_prints_the_points_so_far(course, capsys):
    (course / "exercises").mkdir()
    (course / "exercises" / "02_momentum.ipynb").write_text('{"cells": []}')
    assert cli.main(["progress"]) == 0
    out = capsys.readouterr().out
    assert "02_momentum  0 of 15  not started\n" in out
    assert out.endswith("total        0 of 15\n")


def test_progress_that_could_not_read_everything_ends_with_exit_code_one(course, capsys):
    (course / "exercises").mkdir()
    (course / "exercises" / "02_momentum.ipynb").write_text("half a note")
    assert cli.main(["progress"]) == 1
    assert "02_momentum.ipynb cannot be read" in capsys.readouterr().out


def test_without_exercises_there_is_no_progress(course, capsys):
    assert cli.main(["progress"]) == 1
    assert "There are no exercise notebooks in" in capsys.readouterr().err


# -- lab ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("platform", "variables", "expected"),
    [
        ("linux", {}, False),
        ("linux", {"DISPLAY": ":0"}, True),
        ("linux", {"BROWSER": "firefox"}, True),
        ("darwin", {}, True),
    ],
)
def test_a_browser_needs_a_screen(monkeypatch, platform, variables, expected):
    for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(sys, "platform", platform)
    monkeypatch.setattr("webbrowser.get", lambda: object())
    assert cli._has_browser() == expected


def test_lab_prints_where_it_runs_and_ctrl_c_stops_it_without_a_question(tmp_path):
    """A real JupyterLab that believes to be in a terminal."""
    places = {f"JUPYTER_{name}_DIR": str(tmp_path / name) for name in ("CONFIG", "DATA", "RUNTIME")}
    command = [sys.executable, "-m", "course_utils.cli", "lab", "--no-browser"]
    keyboard, terminal = pty.openpty()
    with subprocess.Popen(
        command,
        cwd=ROOT,
        env={**os.environ, **places},
        stdin=terminal,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as lab:
        try:
            first, second = lab.stdout.readline(), lab.stdout.readline()
            lab.send_signal(signal.SIGINT)
            rest, _ = lab.communicate(timeout=60)
        finally:
            lab.kill()
    os.close(keyboard)
    os.close(terminal)
    assert first.startswith("JupyterLab is running at http://localhost:")
    assert "/lab/tree/notebooks/00_start_here.ipynb?token=" in first
    assert second == "Press Ctrl-C to stop it.\n"
    assert "?" not in rest
    assert len(rest.splitlines()) <= 1
    assert lab.returncode == 0
