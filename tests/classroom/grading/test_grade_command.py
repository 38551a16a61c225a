"""`course grade` as an instructor types it."""

import csv
import importlib
import os
import re
import shutil
import subprocess
import sys

import pytest

from classroom.grading import outputs, pipeline, terminal
from classroom.grading.gradebook import NAME, Gradebook
from selfcheck.students.cli import main
from tests.classroom.grading.making import hand_in, packed, solved
from tests.places import ROOT, SMALL

pytestmark = pytest.mark.usefixtures("small_course")

UNIT, OTHER = "01_sums", "02_products"


def course_grade(source, grades, *options):
    return main(["grade", str(source), "--to", str(grades), "--jobs", "1", *options])


def written(folder, submissions):
    """The folder of a class."""
    for student, cells in submissions.items():
        hand_in(folder, student, cells, UNIT)


def sums(own_id):
    """The numbers of a student in the small course."""
    sys.path.insert(0, str(SMALL))
    try:
        return importlib.import_module("small_course.variants").sums(own_id)
    finally:
        sys.path.remove(str(SMALL))


def table(grades):
    with (grades / "grades.csv").open(encoding="utf-8-sig", newline="") as file:
        return [*csv.DictReader(file)]


def rows(grades):
    return {row["student"]: row for row in table(grades)}


def test_the_command_itself_loads_none_of_the_large_packages_and_no_checks():
    large = {"numpy", "sympy", "nbformat", "jinja2", "matplotlib", "IPython", "packaging"}
    code = "import sys, classroom.grading.terminal, classroom.grading.outputs; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout
    assert not large & set(loaded.split())
    assert "selfcheck.units" in loaded
    assert "small_course" not in loaded


def test_without_bubblewrap_nothing_runs_and_the_ways_out_are_told(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(shutil, "which", lambda name: None)
    written(tmp_path / "class", {"ada": solved(UNIT)})
    assert course_grade(tmp_path / "class", tmp_path / "grades") == 1
    said = capsys.readouterr().err
    assert "bubblewrap is missing" in said
    assert "--no-sandbox" in said


def test_where_a_class_has_no_ids_it_is_told_once(tmp_path, bubblewrap, capsys):
    own = {**solved(UNIT), "student": "student = 7"}
    written(tmp_path / "class", {"ada": solved(UNIT), "bob": solved(UNIT), "eve": own})
    assert course_grade(tmp_path / "class", tmp_path / "grades") == 0
    assert "notebooks with the student id 0: 2." in capsys.readouterr().out
    looks = [row["look by hand"] for row in rows(tmp_path / "grades").values()]
    assert not any("student id" in look for look in looks)
    page = (tmp_path / "grades" / "feedback" / UNIT / "ada.html").read_text(encoding="utf-8")
    assert "the student id 0, which is nobody" in page


def test_without_a_sandbox_it_grades_alike_and_says_what_that_means(tmp_path, capsys):
    written(
        tmp_path / "class", {"ada": solved(UNIT), "bob": solved(UNIT, even_sum="total = 1 / 0")}
    )
    assert course_grade(tmp_path / "class", tmp_path / "grades", "--no-sandbox") == 0
    told = capsys.readouterr()
    assert "Without a sandbox" in told.err
    assert "2 graded." in told.out
    points = {student: int(row["total"]) for student, row in rows(tmp_path / "grades").items()}
    assert points == {"ada": 9, "bob": 7}
    assert (tmp_path / "grades" / "report.html").exists()


def test_true_ids_come_from_a_file_and_shared_ones_ask_for_a_look(tmp_path, bubblewrap, capsys):
    theirs = {name: {**solved(UNIT), "student": "student = 7"} for name in ("ada", "bob")}
    written(tmp_path / "class", theirs)
    assert course_grade(tmp_path / "class", tmp_path / "as written") == 0
    looks = [row["look by hand"] for row in rows(tmp_path / "as written").values()]
    assert all("The student id 7 is in the notebook of another student too." in x for x in looks)

    ids = tmp_path / "ids.csv"
    ids.write_text("ada,a-1\nbob,b-2\n")
    assert course_grade(tmp_path / "class", tmp_path / "true", "--ids", str(ids)) == 0
    for row in rows(tmp_path / "true").values():  # graded by the true ids, and still told
        assert row["total"] == "9"
        assert "The student id 7 is in the notebook of another student too." in row["look by hand"]
        assert "The file is byte for byte that of" in row["look by hand"]

    ids.write_text("ada,a-1\n")  # one who is missing is in nobody's way
    assert course_grade(tmp_path / "class", tmp_path / "true", "--ids", str(ids)) == 0
    assert "no id in the file of ids: bob" in capsys.readouterr().out
    assert "the notebook's own held" in rows(tmp_path / "true")["bob"]["look by hand"]


def test_typed_answers_count_for_the_id_that_was_written_unless_it_is_anothers(
    tmp_path, bubblewrap
):
    def typed(own_id):
        numbers = sums(own_id).numbers
        answer = f"own_total, own_mean = {sum(numbers)}, {sum(numbers) / 4}"
        return {**solved(UNIT, own_sums=answer), "student": f"student = {own_id!r}"}

    zeros = {**typed("4"), "student": "student = '004'"}  # which has other numbers
    submitted = {"ada": typed("0"), "bob": typed("a-1"), "cleo": typed("c-3"), "dan": zeros}
    written(tmp_path / "class", submitted)
    roster = tmp_path / "roster.csv"
    roster.write_text("student,id\nada,a-1\nbob,b-2\ncleo,c-3\ndan,4\n")
    assert course_grade(tmp_path / "class", tmp_path / "grades", "--roster", str(roster)) == 0
    found = rows(tmp_path / "grades")
    assert {name: row["total"] for name, row in found.items()} == {
        "ada": "9", "bob": "7", "cleo": "9", "dan": "9",
    }  # fmt: skip
    flagged = "1.3 own_sums: It counts with the numbers of the id"
    assert f"{flagged} 0; with those of a-1 it earns 0." in found["ada"]["look by hand"]
    assert f"{flagged} 4; with those of 004 it earns 0." in found["dan"]["look by hand"]
    assert found["cleo"]["look by hand"] == ""
    pages = [p.read_text() for p in (tmp_path / "grades" / "feedback" / UNIT).glob("*.html")]
    told = "For own_sums the numbers of id 0 count, with which it earns more."
    assert [told in page for page in pages].count(True) == 1


def test_a_regrade_says_whose_points_changed_from_what_to_what(tmp_path, bubblewrap, capsys):
    ada = hand_in(tmp_path / "class", "ada", solved(UNIT, even_sum="total = n"), UNIT)
    hand_in(tmp_path / "class", "bob", solved(UNIT, even_sum="total = n + 1"), UNIT)
    assert course_grade(tmp_path / "class", tmp_path / "grades") == 0
    assert "points changed" not in capsys.readouterr().out
    hand_in(tmp_path / "class", "ada", solved(UNIT), UNIT)
    assert course_grade(tmp_path / "class", tmp_path / "grades") == 0
    told = capsys.readouterr().out.splitlines()
    line = "points changed: ada, 01_sums: 7 → 9 of 9 (1.1 even_sum 0 → 2)"
    assert line in told
    assert told.index(line) < next(n for n, t in enumerate(told) if t.startswith("Limits"))
    assert told[-1].startswith("1 graded; 1 were graded before")
    assert "the points of 1 changed" in told[-1]
    assert ada.exists()


def test_what_counts_is_compared_overrides_and_faulty_files_included(tmp_path, bubblewrap, capsys):
    wrong = {"even_sum": "total = n"}
    swapped = ({"square_sum": "squares = n"}, wrong)  # one exercise more, another one less
    for student in ("ada", "cleo", "dan"):
        hand_in(tmp_path / "class", student, solved(UNIT, **wrong), UNIT)
    eve = hand_in(tmp_path / "class", "eve", solved(UNIT), UNIT)
    hand_in(tmp_path / "class", "finn", solved(UNIT, **swapped[0]), UNIT)
    assert course_grade(tmp_path / "class", tmp_path / "grades") == 0
    with Gradebook(tmp_path / "grades" / NAME) as book:
        book.override("ada", UNIT, "even_sum", 2, reason="by hand")
    for student in ("ada", "cleo"):
        hand_in(tmp_path / "class", student, solved(UNIT), UNIT)
    eve.write_text("no notebook")
    hand_in(tmp_path / "class", "finn", solved(UNIT, **swapped[1]), UNIT)
    capsys.readouterr()
    assert course_grade(tmp_path / "class", tmp_path / "grades", "--student", "ada") == 0
    assert "points changed" not in capsys.readouterr().out
    assert course_grade(tmp_path / "class", tmp_path / "grades") == 0
    told = [x for x in capsys.readouterr().out.splitlines() if x.startswith("points changed")]
    assert told == [
        "points changed: cleo, 01_sums: 7 → 9 of 9 (1.1 even_sum 0 → 2)",
        "points changed: eve, 01_sums: 9 of 9 → not graded: The file is no notebook: it is not "
        "valid JSON.",
        "points changed: finn, 01_sums: 7 → 7 of 9 (1.1 even_sum 2 → 0, 1.4 square_sum 0 → 2)",
    ]
    eve.write_text((tmp_path / "class" / "cleo" / eve.name).read_text())
    assert course_grade(tmp_path / "class", tmp_path / "grades", "--late", "10% a day") == 0
    assert "points changed: eve, 01_sums: not graded → 9 of 9" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("module", "name"),
    [(pipeline, "_note_copies"), (terminal, "write_all"), (outputs, "write_outputs")],
)
def test_what_a_run_changed_that_was_interrupted_is_told_by_the_next(
    tmp_path, bubblewrap, capsys, monkeypatch, module, name
):
    for student in ("ada", "bob"):
        hand_in(tmp_path / "class", student, solved(UNIT, even_sum="total = n"), UNIT)
    assert course_grade(tmp_path / "class", tmp_path / "grades") == 0
    hand_in(tmp_path / "class", "ada", solved(UNIT), UNIT)
    with monkeypatch.context() as patched:
        patched.setattr(module, name, interrupted)
        assert course_grade(tmp_path / "class", tmp_path / "grades") != 0
    capsys.readouterr()
    assert course_grade(tmp_path / "class", tmp_path / "grades") == 0
    assert "points changed: ada, 01_sums: 7 → 9 of 9" in capsys.readouterr().out
    assert course_grade(tmp_path / "class", tmp_path / "grades") == 0
    assert "points changed" not in capsys.readouterr().out


def test_a_rule_changes_points_in_units_that_are_not_graded_again(tmp_path, bubblewrap, capsys):
    hand_in(tmp_path / "class", "ada", solved(UNIT), UNIT)
    hand_in(tmp_path / "class", "ada", solved("02_products"), "02_products")
    assert course_grade(tmp_path / "class", tmp_path / "grades") == 0
    settings = tmp_path / "settings.toml"
    settings.write_text('without = "transfer"')
    options = ("--unit", "02", "--settings", str(settings))
    capsys.readouterr()
    assert course_grade(tmp_path / "class", tmp_path / "grades", *options) == 0
    assert "points changed: ada, 01_sums: 9 of 9 → " in capsys.readouterr().out


def test_rules_from_a_file_hold_later_although_the_course_has_a_file_without_any(
    tmp_path, bubblewrap, capsys
):
    assert "[class]" not in (SMALL / "course.toml").read_text(encoding="utf-8")
    settings = tmp_path / "rules.toml"
    settings.write_text('late = "10%"\n[extra]\nada_12 = "2 days"\n', encoding="utf-8")
    name = f"ada_LATE_12_34_{UNIT}.ipynb"
    hand_in(tmp_path, "one", solved(UNIT), UNIT).rename(tmp_path / name)
    archive = tmp_path / "class.zip"
    archive.write_bytes(packed({name: (tmp_path / name).read_bytes()}))
    assert course_grade(archive, tmp_path / "grades", "--settings", str(settings)) == 0
    first = rows(tmp_path / "grades")
    (row,) = first.values()
    assert "the student has extra time" in row["look by hand"]
    for _ in range(2):
        assert course_grade(archive, tmp_path / "grades") == 0
    assert rows(tmp_path / "grades") == first
    assert "points changed" not in capsys.readouterr().out


def test_a_list_of_changed_points_is_never_cut(tmp_path, capsys, monkeypatch):
    changed = tuple(f"s{number}, 01_sums: 7 → 9 of 9" for number in range(200))
    monkeypatch.setattr(terminal, "grade", lambda *_: pipeline.Run(changed=changed))
    monkeypatch.setattr(terminal, "write_all", lambda _: [])
    assert course_grade(tmp_path, tmp_path / "grades") == 0
    assert capsys.readouterr().out.count("points changed: s") == 200


def interrupted(*_):
    """As when Ctrl-C comes after the grades are saved."""
    raise KeyboardInterrupt


def test_who_handed_in_some_units_alone_is_missing_in_the_others(tmp_path, bubblewrap, capsys):
    source, grades = tmp_path / "class", tmp_path / "grades"
    (tmp_path / "roster.csv").write_text("student,name\nada,Ada\nbob,Bob\neve,Eve\n")
    written(source, {"ada": solved(UNIT), "bob": solved(UNIT)})
    hand_in(source, "ada", solved(OTHER), OTHER)
    assert course_grade(source, grades, "--roster", str(tmp_path / "roster.csv")) == 0
    said = capsys.readouterr().out
    assert f"no submission: bob, {OTHER}\nno submission: eve\n" in said
    assert "3 graded, 2 without a submission." in said
    absent = [x for x in table(grades) if x["look by hand"] == "Nothing was handed in."]
    found = [(x["student"], x["unit"], x["total"], x["1.1 even_sum"]) for x in absent]
    assert sorted(found) == [("bob", OTHER, "", ""), ("eve", UNIT, "", ""), ("eve", OTHER, "", "")]
    page = (grades / "report.html").read_text(encoding="utf-8")
    assert "2 in the roster handed in nothing: <bdi>bob</bdi>, <bdi>eve</bdi>." in page
    assert main(["report", str(grades), "--anonymous"]) == 0
    page = (grades / "report_anonymous.html").read_text(encoding="utf-8")
    assert "2 in the roster handed in nothing." in page
    late = tmp_path / "late"  # what comes later is missing nothing that is graded already
    hand_in(late, "bob", solved(OTHER), OTHER)
    hand_in(late, "eve", solved(UNIT), UNIT)
    capsys.readouterr()
    assert course_grade(late, grades) == 0
    said = capsys.readouterr().out
    assert re.findall("no submission: .*", said) == [f"no submission: eve, {OTHER}"]


def test_checks_that_cannot_be_loaded_are_named(tmp_path, bubblewrap):
    copy = shutil.copytree(SMALL, tmp_path / "course")
    with (copy / "small_course" / "checks" / "sums.py").open("a") as file:
        file.write('\nraise RuntimeError("half done")\n')
    written(tmp_path / "class", {"ada": solved(UNIT)})
    done = subprocess.run(
        [sys.executable, "-m", "selfcheck", "grade", str(tmp_path / "class"), "--to", "grades"],
        cwd=copy,
        env={**os.environ, "PYTHONPATH": f"{copy}{os.pathsep}{ROOT}"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    assert f"The solution of {UNIT} could not be judged, so nobody was graded" in done.stderr
    assert re.search(r"RuntimeError: half done in .*checks/sums.py, line \d+\)", done.stderr)


def test_a_column_that_the_roster_has_not_is_told_first(tmp_path, capsys, bubblewrap):
    hand_in(tmp_path / "class", "ada", solved(UNIT), UNIT)
    roster, settings = tmp_path / "roster.csv", tmp_path / "settings.toml"
    roster.write_text("student,id,Sheet 1\nada,8,\n")
    settings.write_text('[roster.columns]\n01 = "Sheet One"')
    options = ("--roster", str(roster), "--settings", str(settings))
    assert course_grade(tmp_path / "class", tmp_path / "grades", *options) == 1
    said = capsys.readouterr()
    assert "roster.csv has no column 'Sheet One'; it has student, id, Sheet 1." in said.err
    assert not (tmp_path / "grades").exists()
    settings.write_text('[roster.columns]\n02 = "Not yet there"')  # for a unit of later on
    assert course_grade(tmp_path / "class", tmp_path / "grades", *options) == 0


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--unit", "99"], "There is no unit '99'"),
        (["--student", "eve"], "There is no submission of eve"),
        (["--jobs", "0"], "--jobs is at least 1"),
    ],
)
def test_a_mistake_in_the_command_gets_a_sentence(tmp_path, capsys, options, says):
    written(tmp_path / "class", {"ada": solved(UNIT)})
    assert course_grade(tmp_path / "class", tmp_path / "grades", "--no-sandbox", *options) == 1
    assert says in capsys.readouterr().err


@pytest.mark.parametrize(
    "words",
    [
        ["grade", "class", "--to", "g", "--unit", ""],
        ["grade", "class", "--to", "g", "--student", " "],
        *(["grade", "class", "--to", "g", o, ""] for o in ("--layout", "--late", "--roster")),
        ["grade", "", "--to", "g"],
        ["grade", "class", "--to", ""],
        ["report", ""],
        *(
            ["grade", "class", "--to", "g", "--cell-seconds", s]
            for s in ("0", "-3", "nan", "inf", "1e308", "1e-300")
        ),
        *(["review", "g", "--port", port] for port in ("-1", "65536", "80000", "x")),
        *([command, "g", "--unit", ""] for command in ("review", "report", "mistakes")),
        ["override", "g", "", "01", "1.1", "1", "--reason", "So.", "--no-file"],
    ],
    ids=" ".join,
)
def test_a_value_that_no_option_can_have_is_refused_before_anything_is_read(words, capsys):
    with pytest.raises(SystemExit) as end:
        main(words)
    assert end.value.code == 2
    assert re.search(
        r"there is nothing in it|not a number of seconds above 0|not a port, a whole number",
        capsys.readouterr().err,
    )


def test_one_student_can_be_looked_at_closely(tmp_path, bubblewrap, capsys):
    odd = solved(UNIT, even_sum="print('so')\ntotal = 0")
    written(tmp_path / "class", {"ada": odd, "bob": solved(UNIT)})
    options = ("--student", "ada", "--verbose")
    assert course_grade(tmp_path / "class", tmp_path / "grades", *options) == 0
    told = capsys.readouterr().out
    for part in (f"== ada, {UNIT}", "| total = 0", "it printed:", "seen: 0", "1.1 even_sum: wrong"):
        assert part in told
    assert "bob" not in told
