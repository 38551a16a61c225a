"""cli.py: every command, its exit code, and a sentence on stderr when something is wrong."""

import contextlib
import io
import json
import os
import pty
import signal
import subprocess
import sys
from pathlib import Path
from unittest.mock import Mock

import nbformat.v4 as v4
import pytest
from ipykernel.kernelspec import get_kernel_dict

from classroom import checking, interchange, navigation, notebooks, release, slides, unit_table
from classroom.grading.gradebook import Gradebook
from classroom.grading.records import Graded, Result
from selfcheck.course import course_in
from selfcheck.facts import Facts
from selfcheck.files import CourseError
from selfcheck.students import cli, doctor, progress, prompt
from selfcheck.students.doctor import Finding
from tests.places import begin_course

ROOT = Path(__file__).parents[1]


@pytest.fixture
def course(tmp_path, monkeypatch):
    begin_course(tmp_path)
    for folder in ("notebooks", "solutions"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "02_unit.ipynb").write_text("old")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_every_command_is_a_sentence_and_every_option_says_what_it_does():
    commands = cli._parser()._subparsers._group_actions[0].choices
    assert len(commands) > 15
    for parser in commands.values():
        assert parser.description.endswith(".")
        assert all(action.help for action in parser._actions), parser.prog


def test_without_a_command_the_commands_are_listed(capsys):
    assert cli.main([]) == 0
    out = capsys.readouterr().out
    commands = ("lab", "doctor", "release", "execute", "check", "links", "progress")
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
    monkeypatch.setattr(
        release, "release", lambda root, without: [root / "exercises" / "02_unit.ipynb"]
    )
    assert cli.main(["release"]) == 0
    assert capsys.readouterr().out == f"wrote {Path('exercises/02_unit.ipynb')}\n"


def test_release_says_when_nothing_changed(course, monkeypatch, capsys):
    monkeypatch.setattr(release, "release", lambda root, without: [])
    assert cli.main(["release"]) == 0
    assert capsys.readouterr().out == "nothing changed\n"


def test_the_bundle_gets_its_options(course, monkeypatch, capsys):
    asked = []
    monkeypatch.setattr(release, "bundle", lambda *arguments: asked.append(arguments) or "out.zip")
    assert cli.main(["release", "--to", "out", "--zip", "--unit", "02", "--unit", "rnn"]) == 0
    assert asked == [(course, Path("out"), ["02", "rnn"], True, "")]
    assert capsys.readouterr().out == "wrote out.zip\n"


@pytest.mark.parametrize("arguments", [["--zip"], ["--unit", "02"]])
def test_options_of_the_bundle_without_a_place_get_a_sentence(course, capsys, arguments):
    assert cli.main(["release", *arguments]) == 1
    assert "belong to --to DIR" in capsys.readouterr().err


def test_the_source_for_nbgrader_gets_its_units(course, monkeypatch, capsys):
    asked = []
    export = lambda *arguments: asked.append(arguments) or ["out/source"]  # noqa: E731
    monkeypatch.setattr(interchange, "export_to_nbgrader", export)
    assert cli.main(["release", "--nbgrader", "out", "--unit", "02"]) == 0
    assert asked == [(course, Path("out"), ["02"])]
    assert capsys.readouterr().out == "wrote out/source\n"
    assert cli.main(["release", "--nbgrader", "out", "--zip"]) == 1
    assert "leave out --to and --zip" in capsys.readouterr().err


def test_a_known_problem_is_told_on_stderr(course, monkeypatch, capsys):
    def fail(root, without):
        raise CourseError("solutions/02.ipynb, cell answer-a: a mark is wrong.")

    monkeypatch.setattr(release, "release", fail)
    assert cli.main(["release"]) == 1
    captured = capsys.readouterr()
    assert captured.err == "course: solutions/02.ipynb, cell answer-a: a mark is wrong.\n"
    assert captured.out == ""


@pytest.mark.parametrize(
    ("problem", "says"),
    [
        (PermissionError(13, "Permission denied", "x.ipynb"), "Permission denied: x.ipynb"),
        (OSError(28, "No space left on device"), "No space left on device"),
        (OSError("an odd disk"), "an odd disk"),
    ],
)
def test_a_disk_that_refuses_is_told_in_a_sentence(course, monkeypatch, capsys, problem, says):
    def fail(root, without):
        raise problem

    monkeypatch.setattr(release, "release", fail)
    assert cli.main(["release"]) == 1
    assert capsys.readouterr().err == f"course: {says}\n"


@pytest.mark.parametrize(
    ("stdout", "printed"),
    [(None, ""), (io.TextIOWrapper(io.BytesIO(), "ascii"), "Zo\\xeb \\u27e8\n")],
)
def test_what_is_printed_reaches_whoever_listens(course, monkeypatch, stdout, printed):
    monkeypatch.setattr(release, "release", lambda root, without: [root / "Zoë ⟨"])
    monkeypatch.setattr(sys, "stdout", stdout)
    assert cli.main(["release"]) == 0
    if stdout is not None:
        stdout.flush()
        assert stdout.buffer.getvalue().decode() == f"wrote {printed}"


def test_in_a_folder_that_is_gone_one_is_told_so(monkeypatch, tmp_path, capsys):
    monkeypatch.delenv("COURSE_FOLDER", raising=False)
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    assert cli.main(["release"]) == 1
    assert "The folder in which you are is gone" in capsys.readouterr().err


def test_ctrl_c_ends_with_a_sentence(course, monkeypatch, capsys):
    def interrupt(root, without):
        raise KeyboardInterrupt

    monkeypatch.setattr(release, "release", interrupt)
    assert cli.main(["release"]) == 130
    assert "what was finished is kept" in capsys.readouterr().err


# -- execute --------------------------------------------------------------------------------------


@pytest.fixture
def executed(monkeypatch):
    """Executing takes no time and gives the word `new`."""
    paths = []
    monkeypatch.setattr(notebooks, "execute", lambda path, first: paths.append(path) or "new")
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
    def fail(path, first):
        raise CourseError(f"{path}, cell b: did not run to its end.")

    monkeypatch.setattr(notebooks, "execute", fail)
    assert cli.main(["execute", "solutions/02_unit.ipynb"]) == 1
    assert "cell b" in capsys.readouterr().err
    assert (course / "solutions" / "02_unit.ipynb").read_text() == "old"


# -- slides and handouts --------------------------------------------------------------------------


@pytest.fixture
def decks(course, monkeypatch):
    """Two lectures, one of them with slide marks; building a deck takes no time."""

    marked = {"slideshow": {"slide_type": "slide"}}
    for name, metadata in {"01_a": {}, "02_unit": marked}.items():
        cell = v4.new_markdown_cell(f"# {name}", id="title", metadata=metadata)
        text = notebooks.as_text(v4.new_notebook(cells=[cell]))
        (course / "notebooks" / f"{name}.ipynb").write_text(text, encoding="utf-8")
    asked = []

    def write_decks(paths, folder, about):
        asked.append((list(paths), folder))
        return (slides.Deck(folder / f"{path.stem}.html", False, 0.0) for path in paths)

    monkeypatch.setattr(slides, "write_decks", write_decks)
    return asked


def test_slides_takes_the_lectures_with_marks_and_shows_progress(course, decks, capsys):
    assert cli.main(["slides"]) == 0
    build = course / "build"
    lecture = course / "notebooks" / "02_unit.ipynb"
    assert decks == [([lecture], build / "slides")]
    assert capsys.readouterr().out == f"[1/1] unchanged {build / 'slides' / '02_unit.html'}\n"


def test_slides_takes_the_units_and_the_folder_that_are_named(course, decks):
    assert cli.main(["slides", "2", "--to", "out"]) == 0
    assert decks[0] == ([course / "notebooks" / "02_unit.ipynb"], Path("out"))


def test_the_title_slide_names_the_course_the_lecturer_and_the_date(course, decks, monkeypatch):
    told, write = [], slides.write_decks
    monkeypatch.setattr(slides, "write_decks", lambda *rest: told.append(rest[-1]) or write(*rest))
    assert cli.main(["slides", "2", "--lecturer", "A. Lecturer", "--date", "fall 2026"]) == 0
    title = course_in(course).title
    assert told == [f"{title} · A. Lecturer · fall 2026"]


def test_an_outline_is_printed_and_nothing_is_built(course, decks, capsys):
    assert cli.main(["slides", "--outline"]) == 0
    out = capsys.readouterr().out
    assert "  1  slide     02_unit  (no notes)" in out
    assert "1 slide in 1 section, 0 with a picture, about 0 minutes" in out
    assert decks == []


@pytest.mark.parametrize(
    ("unit", "sentence"), [("7", "There is no unit '7'"), ("1", "has no slide marks")]
)
def test_slides_that_cannot_be_get_a_sentence(course, decks, capsys, unit, sentence):
    assert cli.main(["slides", unit, "--outline"]) == 1
    assert sentence in capsys.readouterr().err


def test_slides_opens_the_decks(course, decks, monkeypatch):
    opened = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    assert cli.main(["slides", "--open"]) == 0
    assert opened == [(course / "build" / "slides" / "02_unit.html").as_uri()]


@pytest.mark.parametrize(("found", "code"), [([], 0), (["02_unit, slide 3: too tall"], 1)])
def test_the_exit_code_tells_whether_every_slide_fits(
    course, decks, monkeypatch, capsys, found, code
):
    from classroom import printing, screening

    monkeypatch.setattr(printing, "chromium", lambda: "chromium")
    monkeypatch.setattr(printing, "browser", contextlib.nullcontext)
    monkeypatch.setattr(screening, "misfits", lambda chrome, decks: iter(found))
    assert cli.main(["slides", "--check"]) == code
    assert (found or ["Every slide fits its frame."])[0] in capsys.readouterr().out


def test_handout_names_what_it_writes(course, monkeypatch, capsys):
    from classroom import handouts

    asked = []
    monkeypatch.setattr(
        handouts, "write_handouts", lambda *a, **more: asked.append((a, more)) or ["a.html"]
    )
    assert cli.main(["handout", "2", "--html"]) == 0
    lecture = course / "notebooks" / "02_unit.ipynb"
    assert asked == [(([lecture], course / "build" / "handouts"), {"pdf": False})]
    assert capsys.readouterr().out == "wrote a.html\n"


# -- check ----------------------------------------------------------------------------------------


@pytest.fixture
def checked(monkeypatch):
    """Checking takes no time; what is named `red` is red."""
    asked = []

    def check_notebooks(paths, root, jobs):
        asked.append(([path.name for path in paths], jobs))
        return not any("red" in path.name for path in paths)

    def check_submission(path, root):
        asked.append(path.name)
        return "red" not in path.name

    monkeypatch.setattr(checking, "check_notebooks", check_notebooks)
    monkeypatch.setattr(checking, "check_submission", check_submission)
    return asked


def test_check_takes_all_lectures_and_solutions(course, checked):
    assert cli.main(["check"]) == 0
    assert checked == [(["02_unit.ipynb"] * 2, None)]


def test_check_takes_whatever_is_no_lecture_or_solution_for_a_submission(course, checked):
    assert cli.main(["check", "ada.ipynb", "solutions/02_unit.ipynb", "--jobs", "3"]) == 0
    assert checked == ["ada.ipynb", (["02_unit.ipynb"], 3)]


@pytest.mark.parametrize("name", ["red.ipynb", "solutions/red.ipynb"])
def test_one_red_notebook_gives_exit_code_one(course, checked, name):
    assert cli.main(["check", name, "ada.ipynb", "notebooks/02_unit.ipynb"]) == 1


@pytest.mark.parametrize("jobs", ["0", "-1", "many"])
def test_jobs_that_are_no_number_get_a_sentence(course, capsys, jobs):
    with pytest.raises(SystemExit):
        cli.main(["check", "--jobs", jobs])
    assert "error: argument --jobs" in capsys.readouterr().err


def test_a_closed_pipe_is_no_error():
    command = f"{sys.executable} -m selfcheck --help | head -1; exit ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, cwd=ROOT)
    assert done.stderr == ""
    assert done.stdout.startswith("usage: course")


# -- links and progress ---------------------------------------------------------------------------


def test_links_names_the_notebooks_that_changed(course, monkeypatch, capsys):
    page = Path("notebooks") / "02_unit.ipynb"
    monkeypatch.setattr(unit_table, "tell", lambda root: [root / "README.md", root / page])
    monkeypatch.setattr(navigation, "link", lambda root: [root / page])
    assert cli.main(["links"]) == 0
    assert capsys.readouterr().out == f"wrote README.md\nwrote {page}\n"


def test_links_says_when_nothing_changed(course, monkeypatch, capsys):
    monkeypatch.setattr(unit_table, "tell", lambda root: [])
    monkeypatch.setattr(navigation, "link", lambda root: [])
    assert cli.main(["links"]) == 0
    assert capsys.readouterr().out == "nothing changed\n"


def test_progress_prints_the_points_so_far(course, capsys, monkeypatch):
    monkeypatch.setattr(progress, "listed", lambda stem: (Facts("2.1", "sums", "Sums", 5, 10),))
    (course / "exercises").mkdir()
    (course / "exercises" / "02_unit.ipynb").write_text('{"cells": []}')
    assert cli.main(["progress"]) == 0
    out = capsys.readouterr().out
    assert "02_unit  0 of 5  not started\n" in out
    assert out.endswith("total    0 of 5\n")


def test_progress_that_could_not_read_everything_ends_with_exit_code_one(
    course, capsys, monkeypatch
):
    monkeypatch.setattr(progress, "listed", lambda stem: (Facts("2.1", "sums", "Sums", 5, 10),))
    (course / "exercises").mkdir()
    (course / "exercises" / "02_unit.ipynb").write_text("half a note")
    assert cli.main(["progress"]) == 1
    assert "02_unit.ipynb cannot be read" in capsys.readouterr().out


def test_without_exercises_there_is_no_progress(course, capsys):
    assert cli.main(["progress"]) == 1
    assert "There are no exercise notebooks in" in capsys.readouterr().err


# -- report and override --------------------------------------------------------------------------


@pytest.fixture
def grades(tmp_path, in_small_course):
    """A folder with the grade of one student: 0 of 2 points."""
    result = Result("2.3", "bias", "wrong", 0, 2, "At t = 1 it is 0.")
    with Gradebook(tmp_path / "grades" / "grades.sqlite") as book:
        book.save(Graded("ada", "02_products", "ada.ipynb", "digest", results=(result,)))
    return tmp_path / "grades"


def test_report_writes_everything_anew_and_tells_what_changed(grades, capsys):
    assert cli.main(["report", str(grades)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert f"wrote {grades / 'grades.csv'}" in lines
    assert f"wrote {grades / 'report.html'}" in lines
    assert lines[-1] == f"wrote 1 of the feedback pages in {grades / 'feedback'}"
    assert cli.main(["report", str(grades), "--unit", "2"]) == 0
    assert capsys.readouterr().out == "nothing changed\n"


def test_an_override_counts_in_the_next_report_until_it_is_dropped(grades, capsys):
    place = [str(grades), "ada", "products", "2.3"]
    assert cli.main(["override", *place, "1", "--reason", "right idea"]) == 0
    assert "bias: 1 instead of the check's points; 1 of 2 in all" in capsys.readouterr().out
    cli.main(["report", str(grades)])
    assert "right idea" in (grades / "feedback" / "02_products" / "ada.html").read_text()
    assert cli.main(["override", *place, "--drop"]) == 0
    assert "counts as it was checked" in capsys.readouterr().out
    cli.main(["report", str(grades)])
    assert "right idea" not in (grades / "feedback" / "02_products" / "ada.html").read_text()


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["ada", "2", "bias"], "Give points with --reason"),
        (["ada", "2", "bias", "1", "--drop"], "either POINTS with --reason, or --drop"),
        (["ada", "2", "bias", "1"], "needs a reason"),
        (["ada", "2", "bias", "3", "--reason", "why"], "worth 0 to 2 points"),
        (["ada", "1", "bias", "1", "--reason", "why"], "ada has no grade in 01_sums"),
        (["adda", "2", "bias", "1", "--reason", "why"], "Did you mean ada?"),
        (["ada", "2", "bias", "--drop"], "no override of bias"),
    ],
)
def test_an_override_that_makes_no_sense_is_told_in_a_sentence(grades, capsys, arguments, sentence):
    assert cli.main(["override", str(grades), *arguments]) == 1
    assert sentence in capsys.readouterr().err


def test_a_report_without_a_gradebook_is_told_in_a_sentence(tmp_path, capsys):
    assert cli.main(["report", str(tmp_path)]) == 1
    assert "There is no gradebook" in capsys.readouterr().err


# -- lab ------------------------------------------------------------------------------------------


def test_the_kernel_of_the_lab_is_ipykernels_own_with_our_extension():
    """Else it warns in the terminal that it speaks without encryption."""
    told = (cli.LAB_CONFIG / "kernels" / "python3" / "kernel.json").read_text(encoding="utf-8")
    ours, theirs = json.loads(told), get_kernel_dict()
    assert ours["argv"][1:] == [*theirs["argv"][1:], "--IPKernelApp.extensions=selfcheck.notebook"]
    assert ours["metadata"] == theirs["metadata"]


def test_lab_does_not_hold_back_what_a_kernel_says():
    class Connection:
        websocket_handler = Mock()

        def connect(self):
            return "connected"

    server = Mock(kernel_websocket_connection_class=Connection)
    server.web_app.settings = {}
    prompt._load_jupyter_server_extension(server)
    assert server.web_app.settings["kernel_websocket_connection_class"]().connect() == "connected"
    Connection.websocket_handler.set_nodelay.assert_called_once_with(True)


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


@pytest.mark.slow
def test_lab_prints_where_it_runs_and_ctrl_c_stops_it_without_a_question(tmp_path, ctrl_c):
    """A real JupyterLab that believes to be in a terminal."""
    places = {f"JUPYTER_{name}_DIR": str(tmp_path / name) for name in ("CONFIG", "DATA", "RUNTIME")}
    command = [sys.executable, "-m", "selfcheck", "lab", "--no-browser"]
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
