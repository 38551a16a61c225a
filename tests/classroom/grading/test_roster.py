"""A roster comes in as Canvas and Moodle export it, and goes back filled in, all else as it was."""

import csv
import io
import re
from dataclasses import replace

import pytest

from classroom.grading.enrolled import enrolled
from classroom.grading.roster import Filling, Roster
from classroom.grading.submissions import OTHERWISE, Class, Submission
from selfcheck.files import CourseError

UNIT = "02_products"
CANVAS = (
    "\ufeffStudent,ID,SIS User ID,SIS Login ID,Section,"
    "Homework 2 (4711),Quiz 2 (12),Current Score\r\n"
    ",,,,,Manual Posting,,\r\n"
    "    Points Possible,,,,,15,10,(read only)\r\n"
    '"Lovelace, Ada",123,8,ada@example.org,DL-1,,7,70\r\n'
    '"Turing, Alan",124,9,alan,"DL-1, DL-2",3,,\r\n'
    '"Student, Test",999,,f3b1,DL-1,,,\r\n'
)
MOODLE = (
    "Identifier,Full name,Email address,Status,Grade,Maximum Grade,Grade can be changed,"
    "Last modified (submission),Last modified (grade),Feedback comments\n"
    "Participant 71,Ada Lovelace,ada@example.org,Submitted for grading,-,15.00,Yes,"
    '"Monday, 16 November 2026, 3:54 PM",-,\n'
    "Participant 72,Alan Turing,alan@example.org,No submission,-,15.00,Yes,-,-,\n"
)
PLAIN = "student;id;section\nada;8;a\nalan;9;b\n"


def roster(text, name="roster.csv", **options):
    return Roster(name, text.encode(), **options)


def cells(text):
    comma = ";" if text.lstrip("\ufeff").startswith("student;") else ","
    return list(csv.reader(io.StringIO(text.removeprefix("\ufeff")), delimiter=comma))


def filled(text, key, points=12.5, **options):
    grades = {UNIT: {key: Filling(points, "2.1 equivalent_rules: right, 3 of 3.")}}
    files, remarks = roster(text).filled(grades, points={UNIT: 15}, **options)
    ((name, out),) = files.items()
    return name, out, remarks


@pytest.mark.parametrize(
    ("text", "kind", "keys", "ids"),
    [
        (CANVAS, "Canvas", ["ada@example.org", "alan", "f3b1"], ["8", "9", "f3b1"]),
        (MOODLE, "Moodle", ["ada@example.org", "alan@example.org"], None),
        (PLAIN, "table", ["ada", "alan"], ["8", "9"]),
        ("ada,8\nalan,9\n", "table", ["ada", "alan"], ["8", "9"]),
    ],
)
def test_a_roster_is_known_by_its_header(text, kind, keys, ids):
    read = roster(text)
    assert (read.kind, [line.key for line in read.lines]) == (kind, keys)
    assert [line.id for line in read.lines] == (ids or keys)


def test_another_table_is_refused_with_what_it_should_have():
    with pytest.raises(CourseError, match="no roster that is known"):
        roster("city,country,river\nBonn,Germany,Rhine\n")
    with pytest.raises(CourseError, match="a student twice: Ada, ada"):
        roster("student,id\nada,1\nAda,2\n").lines  # noqa: B018


def test_canvas_gets_its_own_file_back_with_one_column_filled():
    name, out, remarks = filled(CANVAS, "ada@example.org")
    assert name == "filled_roster.csv"
    assert remarks == ["02_products is filled into the column Homework 2 (4711)."]
    before, after = cells(CANVAS), cells(out)
    assert after[3][5] == "12.5"
    after[3][5] = before[3][5]
    assert after == before
    assert out.startswith("\ufeff")
    assert out.count("\r\n") == CANVAS.count("\r\n")


def test_a_unit_without_a_column_gets_a_new_one_with_its_points():
    text = CANVAS.replace("Homework 2 (4711)", "Essay (4711)")
    _, out, remarks = filled(text, "alan", points=3)
    head, _, possible, _, alan, _ = cells(out)
    assert (head[-1], possible[-1], alan[-1]) == (UNIT, "15", "3")
    assert "new column" in remarks[0]


def test_the_settings_choose_the_column_and_another_scale_is_told():
    _, out, remarks = filled(CANVAS, "alan", columns={UNIT: "Quiz 2 (12)"})
    assert cells(out)[4][6] == "12.5"
    assert "out of 10 points, the unit out of 15" in remarks[1]


def test_moodle_gets_its_worksheet_back_with_grade_and_comment():
    name, out, remarks = filled(MOODLE, "ada@example.org")
    assert (name, remarks) == (f"filled_{UNIT}_roster.csv", [])
    before, after = cells(MOODLE), cells(out)
    assert (after[1][4], after[1][9]) == ("12.50", "2.1 equivalent_rules: right, 3 of 3.")
    after[1][4], after[1][9] = before[1][4], before[1][9]
    assert after == before


def test_what_moodle_has_locked_is_left_alone():
    _, out, remarks = filled(MOODLE.replace(",Yes,", ",No,"), "ada@example.org")
    assert cells(out) == cells(MOODLE.replace(",Yes,", ",No,"))
    assert "does not let the grade" in remarks[0]


def test_a_plain_table_keeps_its_delimiter():
    _, out, _ = filled(PLAIN, "ada")
    assert out == f"student;id;section;{UNIT}\nada;8;a;12.5\nalan;9;b;\n"


def handed_in(student, number="", platform=""):
    return Submission(student, UNIT, f"{student}/x.ipynb", number=number, platform=platform)


@pytest.mark.parametrize(
    ("text", "submission", "key"),
    [
        (CANVAS, handed_in("lovelaceada_123", "123", "Canvas"), "ada@example.org"),
        (CANVAS, handed_in("anything_124", "124", "Canvas"), "alan"),
        (CANVAS, handed_in("Ada Lovelace"), "ada@example.org"),
        (CANVAS, handed_in("ada"), "ada@example.org"),
        (CANVAS, handed_in("8"), "ada@example.org"),
        (MOODLE, handed_in("Alan Turing_72", "72", "Moodle"), "alan@example.org"),
        (PLAIN, handed_in("lovelaceada_8", "8", "Canvas"), "ada"),
        (PLAIN, handed_in("ADA"), "ada"),
    ],
)
def test_a_submission_finds_its_line(text, submission, key):
    assert roster(text).line_of(submission)[0].key == key


def test_the_platforms_number_counts_and_not_the_name_beside_it():
    assert roster(CANVAS).line_of(handed_in("lovelaceada_77", "77", "Canvas"))[0] is None


def test_a_name_that_two_have_fits_neither():
    text = "student,name\na1,Ada Lovelace\na2,Ada Lovelace\n"
    line, why = roster(text).line_of(handed_in("Ada Lovelace"))
    assert line is None
    assert why == "fits 2 lines of the roster."


def test_unmatched_files_missing_students_and_double_claims_are_listed():
    submissions = (handed_in("ada"), handed_in("eve"), handed_in("alan"), handed_in("9"))
    class_ = enrolled(Class(submissions, ()), roster(PLAIN + "emmy;10;a\n"))
    assert [s.student for s in class_.submissions] == ["ada"]
    assert class_.missing == {"emmy": [UNIT]}
    assert class_.unplaced[0] == "eve/x.ipynb: eve is not in the roster."
    assert "9 and alan both fit the line of alan" in class_.unplaced[1]


def test_who_goes_by_two_names_in_two_units_is_one():
    files = (Submission("ada1", "01_sums", "a.ipynb"), Submission("Ada Lovelace", UNIT, "b.ipynb"))
    class_ = enrolled(Class(files, ()), roster(TWO))
    assert [(s.student, s.unit) for s in class_.submissions] == [
        ("ada1", "01_sums"),
        ("ada1", UNIT),
    ]
    assert (class_.unplaced, class_.missing) == ((), {"bob2": ["01_sums", UNIT]})


def test_who_lacks_a_unit_is_missing_there_and_the_test_student_nowhere():
    files = (Submission("alan", "01_sums", "a.ipynb"), Submission("alan", UNIT, "b.ipynb"))
    both = (*files, Submission("ada@example.org", UNIT, "c.ipynb"))
    assert enrolled(Class(both, ()), roster(CANVAS)).missing == {"ada@example.org": ["01_sums"]}
    assert enrolled(Class(files[:1], ()), roster(CANVAS)).missing == {
        "ada@example.org": ["01_sums"]
    }


def matched(files, text):
    """Whose line each student's file gets, what is told, and the doubts."""
    units = (Submission(name, UNIT, file) for name, file in files.items())
    class_ = enrolled(Class(tuple(units), ()), roster(text))
    lines = {s.file.partition("/")[0]: s.student for s in class_.submissions}
    return lines, class_, [s.doubt for s in class_.submissions if s.doubt]


TWO = "login,name\nada1,Ada Lovelace\nbob2,Bob Late\n"


def test_what_all_names_begin_with_is_none_of_theirs():
    files = {f"hw1-{login}": f"hw1-{login}/x.ipynb" for login in ("ada1", "bob2")}
    lines, class_, _ = matched(files, TWO)
    assert lines == {"hw1-ada1": "ada1", "hw1-bob2": "bob2"}
    assert "Names are read without hw1-, with which all begin." in class_.reading


@pytest.mark.parametrize("names", [("team-1", "team-2"), ("hw1-1", "bob2"), ("x-ada1",)])
def test_a_beginning_that_may_belong_to_names_is_left(names):
    text = "student,number\nada1,1\nbob2,2\n"
    lines, *_ = matched({name: f"{name}/x.ipynb" for name in names}, text)
    assert set(lines) == set(names) & {"bob2"}


def test_a_file_beside_others_is_the_one_whose_whole_name_it_bears():
    lines, *_ = matched({"Bob": f"{UNIT}_Bob Late.ipynb"}, TWO)
    assert list(lines.values()) == ["bob2"]


@pytest.mark.parametrize("file", ["Bob Late.ipynb", f"bob2_{UNIT}.ipynb", "Late, Bob/x.ipynb"])
def test_a_file_with_the_name_of_another_in_the_roster_is_told(file):
    _, class_, doubts = matched({"ada1": f"ada1/{file}"}, TWO)
    assert doubts == [f"ada1/{file} bears the name of bob2."]
    assert doubts[0] in class_.reading
    _, class_, _ = matched({"Monday": f"Monday/{file}"}, TWO)
    assert "Monday is not in the roster. Monday/" in class_.unplaced[0]
    assert '--layout "*/{student}/**"' in class_.unplaced[0]


def test_whoever_is_in_the_roster_is_a_student_whatever_lies_in_the_folder():
    doubt = f"ada1 may be a section. {OTHERWISE}"
    files = tuple(replace(handed_in(name), doubt=doubt) for name in ("ada1", "Monday"))
    class_ = enrolled(Class(files, ()), roster(TWO))
    assert [s.doubt for s in class_.submissions] == [""]
    assert class_.unplaced[0].endswith(OTHERWISE)


@pytest.mark.parametrize("name", ["Ada Lovelace", "x", "Ada Late", "ada1", "ada", "7", "20"])
def test_a_file_with_ones_own_name_or_nobodys_raises_no_doubt(name):
    text = "login,name,id\nada1,Ada Lovelace,7\nada,Bob Late,20\n"
    assert matched({"ada1": f"ada1/{name}.ipynb"}, text)[2] == []


def test_an_address_stands_for_a_login_where_the_roster_has_no_other_address():
    assert roster(TWO).line_of(handed_in("ada1@example.org"))[0].key == "ada1"
    mails = "login,email\nada1,ada@example.org\n"
    assert roster(mails).line_of(handed_in("ada1@elsewhere.org"))[0] is None


def test_the_column_of_ids_can_be_chosen():
    assert roster(CANVAS, id_column="SIS Login ID").lines[0].id == "ada@example.org"
    with pytest.raises(CourseError, match="no column 'Number'"):
        roster(CANVAS, id_column="Number")


# -- other platforms, other languages, other encodings

GERMAN = (
    "ID,Vollständiger Name,E-Mail-Adresse,Status,Bewertung,Bestwertung,Bewertung kann geändert "
    "werden,Zuletzt geändert (Abgabe),Zuletzt geändert (Bewertung),Feedback als Kommentar\n"
    'Teilnehmer/in71,Ada Lovelace,ada@example.org,Abgegeben,,"15,00",Ja,-,-,\n'
    'Teilnehmer/in72,Alan Turing,alan@example.org,Keine Abgabe,,"15,00",Ja,-,-,\n'
)
FRENCH = (
    "Identifiant,Nom complet,Adresse de courriel,Statut,Note,Note maximale,La note peut être "
    "modifiée,Dernière modification (travail remis),Dernière modification (note),Commentaires\n"
    'Participant 71,Ada Lovelace,ada@example.org,Remis,-,"15,00",Oui,-,-,\n'
    'Participant 72,Alan Turing,alan@example.org,Rien,-,"15,00",Oui,-,-,\n'
)
SPANISH_WITHOUT_MAIL = (
    "Identificador,Nombre completo,Estatus,Calificación,Calificación máxima,La calificación puede "
    "ser cambiada,Última modificación (entrega),Última modificación (calificación),Comentarios\n"
    "Participante 71,Ada Lovelace,Enviado,-,15.00,Sí,-,-,\n"
    "Participante 72,Alan Turing,Nada,-,15.00,Sí,-,-,\n"
)
BOOK = (
    "First name,Last name,ID number,Email address,Assignment: Products (Real),Course total (Real),"
    "Last downloaded from this course\n"
    "Ada,Lovelace,8,ada@example.org,-,-,1763000000\nAlan,Turing,9,alan@example.org,-,-,1763000000\n"
)
OLD_BOOK = BOOK.replace("Last name", "Surname")
D2L = (
    "OrgDefinedId,Username,Last Name,First Name,Email,Quiz Points Grade <Numeric MaxPoints:5>,"
    "End-of-Line Indicator\n"
    "#8,ada,Lovelace,Ada,ada@example.org,3,#\n#9,alan,Turing,Alan,alan@example.org,,#\n"
)
BLACKBOARD = (
    "Last Name,First Name,Username,Student ID,Last Access,Availability,"
    "02_products [Total Pts: 15 Score] |4711\n"
    "Lovelace,Ada,ada,8,,Yes,\nTuring,Alan,alan,9,,Yes,\n"
)
GRADESCOPE = "First Name,Last Name,SID,Email,Sections\nAda,Lovelace,8,ada@example.org,A\n"
GRADESCOPE_ONE_NAME = "Name,SID,Email,Role\nAda Lovelace,8,ada@example.org,Student\n"
PLATFORMS = {
    "Moodle, German": (GERMAN, "Moodle", "ada@example.org", None),
    "Moodle, French": (FRENCH, "Moodle", "ada@example.org", None),
    "Moodle, Spanish": (SPANISH_WITHOUT_MAIL, "Moodle", "Participante 71", None),
    "Moodle's gradebook": (BOOK, "Moodle's gradebook", "ada@example.org", "8"),
    "Moodle's old gradebook": (OLD_BOOK, "Moodle's gradebook", "ada@example.org", "8"),
    "Brightspace": (D2L, "Brightspace", "ada", "8"),
    "Blackboard": (BLACKBOARD, "Blackboard", "ada", "8"),
    "Gradescope": (GRADESCOPE, "Gradescope", "ada@example.org", "8"),
    "Gradescope, one name": (GRADESCOPE_ONE_NAME, "Gradescope", "ada@example.org", "8"),
}
BY_NAME = Submission("Ada Lovelace", UNIT, "Ada Lovelace/02_products.ipynb")


@pytest.mark.parametrize("platform", PLATFORMS)
def test_tables_of_other_platforms_and_languages_are_read_and_go_back(platform):
    text, kind, key, own_id = PLATFORMS[platform]
    read = roster(text)
    assert (read.kind, read.lines[0].key) == (kind, key)
    assert own_id is None or read.lines[0].id == own_id
    assert read.line_of(BY_NAME)[0] is read.lines[0]
    before, after = cells(text), cells(filled(text, key)[1])
    written = {cell for row in after for cell in row} - {cell for row in before for cell in row}
    assert written & {"12.5", "12.50", "12,50"}
    assert [row[0] for row in after] == [row[0] for row in before]


def test_a_localized_worksheet_keeps_its_header_and_its_comma():
    _, out, remarks = filled(GERMAN, "ada@example.org")
    assert cells(out)[0] == cells(GERMAN)[0]
    assert (cells(out)[1][4], cells(out)[1][-1]) == (
        "12,50",
        "2.1 equivalent_rules: right, 3 of 3.",
    )
    moodle = Submission("Ada Lovelace_71", UNIT, "x", number="71", platform="Moodle")
    assert roster(GERMAN).line_of(moodle)[0].key == "ada@example.org"
    assert remarks == []


def test_a_new_column_of_brightspace_comes_before_the_end_of_its_lines():
    _, out, _ = filled(D2L, "ada")
    head, ada, alan = cells(out)
    assert head[-2:] == [f"{UNIT} Points Grade", "End-of-Line Indicator"]
    assert (ada[-2:], alan[-2:]) == (["12.5", "#"], ["", "#"])
    grades = {unit: {"ada": Filling(1, "")} for unit in (UNIT, "Quiz")}
    files, _ = roster(D2L).filled(grades)
    assert cells(files["filled_roster.csv"])[1][5:] == ["1", "1", "#"]


def test_a_column_is_found_by_its_title_whatever_the_platform_writes_around_it():
    for text, key in ((BLACKBOARD, "ada"), (BOOK.replace("Products", UNIT), "ada@example.org")):
        _, _, remarks = filled(text, key)
        assert remarks[0].startswith(f"{UNIT} is filled into the column ")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252", "utf-16"])
@pytest.mark.parametrize(
    "text",
    [GERMAN, "student,id,name\nada,8,Zoë\n", "sep=;\r\nstudent;id;name\r\nada;8;Zoë, Li\r\n"],
)
def test_a_roster_comes_back_in_the_encoding_in_which_it_came(text, encoding):
    data = text.encode(encoding)
    read = Roster("roster.csv", data)
    files, _ = read.filled({})
    assert all(read.encoded(out) == data for out in files.values())
    grades = {UNIT: {read.lines[0].key: Filling(3, "β = 1")}}
    for out in read.filled(grades)[0].values():
        back = read.encoded(out)
        assert "3" in (back.decode(read.encoding, "replace"))


NAMES_OF = {
    "mac_roman": ("Jürgen Groß", "Søren Åkesson", "José"),
    "cp1250": ("Łukasz Żółć", "Dvořák", "Kovács"),
    "iso8859_15": ("Šimek", "Müller"),
    "cp1251": ("Иванов", "Петрова"),
    "koi8_r": ("Иванов", "Петрова"),
    "cp932": ("山田", "佐藤花子", "髙橋 健", "ｽｽﾞｷ ﾊﾅｺ"),
    "cp949": ("김철수", "이영희"),
    "gb18030": ("李明", "王小明"),
    "utf-16-le": ("Zoë", "Müller"),
    "utf-16-be": ("Zoë", "Müller"),
    "utf-32": ("Zoë", "李明"),
    "cp1252": ("D’Arcy", "Zoë", "Öztürk"),
}


@pytest.mark.parametrize("encoding", NAMES_OF)
def test_names_are_read_in_the_encoding_of_their_roster_which_is_told_if_it_is_a_guess(encoding):
    rows = "".join(f"s{n},{n},{name}\n" for n, name in enumerate(NAMES_OF[encoding], start=1))
    data = f"student,id,name\n{rows}".encode(encoding)
    read = Roster("r.csv", data)
    assert tuple(line.name for line in read.lines) == NAMES_OF[encoding]
    assert all(read.encoded(out) == data for out in read.filled({})[0].values())
    says = f"r.csv is not UTF-8, and was read as .*: {NAMES_OF[encoding][0].split()[0]}"
    assert bool(re.match(says, read.doubt)) is not encoding.startswith("utf")


@pytest.mark.parametrize("name", ["García", "Émile", "Ömer", "José", "Müller", "D’Arcy"])
@pytest.mark.parametrize("encoding", ["mac_roman", "cp1252"])
def test_one_name_tells_what_a_mac_wrote_from_what_windows_wrote(encoding, name):
    data = f"student,id,name\nada,1,{name}\n".encode(encoding)
    assert Roster("r.csv", data).lines[0].name == name


@pytest.mark.parametrize("names", [("Lučić",), ("Γιώργος",), ("İpek", "Oğuz"), ("김철수",)])
@pytest.mark.parametrize("encoding", ["cp1250", "cp1253", "cp1254", "cp949"])
def test_a_roster_that_could_be_several_comes_back_as_it_was_and_is_told(names, encoding):
    rows = "".join(f"s{n},{n},{name}\n" for n, name in enumerate(names, start=1))
    data = f"student,id,name\n{rows}".encode(encoding, "ignore")
    read = Roster("r.csv", data)
    assert all(read.encoded(out) == data for out in read.filled({})[0].values())
    assert data.isascii() or "If that is wrong, save it as UTF-8" in read.doubt


def test_a_file_that_needs_other_letters_is_utf8_and_told():
    read = Roster("r.csv", "student,id,name\nada,8,Zoë\n".encode("cp1252"))
    files, remarks = read.filled({"Θ": {"ada": Filling(3, "")}})
    assert "filled_r.csv is UTF-8, for r.csv has no letters for all that is in it." in remarks
    assert all(read.encoded(text).startswith(b"\xef\xbb\xbf") for text in files.values())


def test_the_line_that_tells_excel_the_separator_is_no_student():
    (ada,) = roster("sep=;\nstudent;id\nada;8\n").lines
    assert (ada.key, ada.id) == ("ada", "8")


def test_two_students_of_one_id_are_refused():
    with pytest.raises(CourseError, match="one id for several students: ada, alan"):
        roster("student,id\nada,8\nalan,8\n").lines  # noqa: B018


ODD = {
    "no students": ("student,id\n", "has a header and no students"),
    "a spreadsheet": (b"PK\x03\x04\x14\x00", "is a spreadsheet; save it as CSV"),
    "a quote without end": (
        'student,id,name\nada,17,"Ada\nbob,18,Bo\n',
        "a quote in it has no end",
    ),
    "a byte 0": (b"student,id\nada,1\x007\n", "byte 0"),
    "ids as decimals": ("student,id\nada,17.0\n", "has the id 17.0, as a spreadsheet shows"),
    "ids cut short": ("student,id\nada,1.23457E+11\n", "Make that column text"),
    "bytes 0 in a text": (b"student,id\nada,1\0\n", "byte 0"),
    "a head of two lines": ("Class:,DL\nNumber,Name,Score\n17,Ada,\n", "no roster that is known"),
    "names and ids alone": ("id,name\n17,Ada\n", "no roster that is known"),
}


@pytest.mark.parametrize("kind", ODD)
def test_a_roster_that_cannot_be_right_is_refused_with_what_to_do(kind):
    data, says = ODD[kind]
    with pytest.raises(CourseError, match=says.replace("+", r"\+")):
        _ = Roster("r.csv", data if isinstance(data, bytes) else data.encode()).lines


@pytest.mark.parametrize(
    "text",
    [
        "student,id\rada,17\rbob,18\r",
        " Student ; Student ID \nada;17\nbob;18\n",
        'student,id,note\nada,17,5" wide\nbob,18,\n',
        "\n\nstudent\tid\n\nada\t17\n\t\nbob\t18",
    ],
)
def test_a_roster_is_read_however_its_lines_end_and_its_heads_are_written(text):
    lines = Roster("r.csv", text.encode()).lines
    assert [(line.key, line.id) for line in lines] == [("ada", "17"), ("bob", "18")]


# -- only grades change, and not a byte beside them

BARE = "student,id,name,02_products\nada,8,Ada Lovelace,\nzoe,9,Zoë Müller,\n"
SAKAI = (
    'Student ID,Name,02_products [15.0],* 02_products\nada,"Lovelace, Ada",,\nzoe,"Müller, Zoë",,\n'
)
GOOGLE = (
    "Last Name,First Name,Email Address,02_products\nDate,,,2026-11-16\nPoints,,,15\n"
    ",,Class Average,\nLovelace,Ada,ada@example.org,\nMüller,Zoë,zoe@example.org,\n"
)
AS_WRITTEN = {
    "lines of Windows": BARE.replace("\n", "\r\n"),
    "lines of an old Mac": BARE.replace("\n", "\r"),
    "lines of both": BARE.replace("\n", "\r\n", 1),
    "no end of the last line": BARE.removesuffix("\n"),
    "empty lines": "\n" + BARE.replace("\n", "\n\n"),
    "rows of commas": ",,,\n" + BARE + ",,,\n",
    "a separator for Excel": "sep=;\r\n" + BARE.replace(",", ";").replace("\n", "\r\n"),
    "a separator of its own": "sep=|\n" + BARE.replace(",", "|"),
    "tabs": BARE.replace(",", "\t"),
    "bars": BARE.replace(",", "|"),
    "quotes that nobody needs": BARE.replace("Ada Lovelace", '"Ada ""A"" Lovelace"'),
    "quotes after a blank": BARE.replace("Ada Lovelace", ' "Lovelace, Ada"'),
    "a lone quote": BARE.replace("Zoë", '5" Zoë'),
    "cells with blanks": BARE.replace(",", " , ").replace("Lovelace , ", "Lovelace ,"),
    "a cell of two lines": BARE.replace("Zoë Müller", '"Zoë\nMüller"').replace("\nada", "\r\nada"),
    "a delimiter behind the last cell": BARE.replace("\n", ",\n"),
    "formulas": BARE.replace("Zoë Müller", '"=SUM(D1,D2)"'),
    "one head twice": BARE.replace("name", "id"),
    "semicolons, and commas in a head": BARE.replace(",", ";").replace("name", '"a,b,c,d,e"'),
    "Sakai": SAKAI,
    "Google Classroom": GOOGLE,
}


@pytest.mark.parametrize("encoding", ["utf-8-sig", "cp1252", "mac_roman", "utf-16-le", "utf-16"])
@pytest.mark.parametrize("written", AS_WRITTEN)
def test_only_the_grade_is_written_into_a_roster_and_no_other_byte_changes(written, encoding):
    data = AS_WRITTEN[written].encode(encoding)
    read = Roster("r.csv", data)
    ada = read.lines[0]
    assert [line.key.partition("@")[0] for line in read.lines] == ["ada", "zoe"]
    ((_, text),) = read.filled({UNIT: {ada.key: Filling(12.5, "")}}, points={UNIT: 15})[0].items()
    assert read.encoded(text.replace("12.5", "", 1)) == data
    assert "12.5" in text


def test_a_table_in_which_all_is_quoted_gets_quoted_grades():
    rows = [line.split(",") for line in BARE.splitlines()]
    text = "".join(",".join(f'"{cell}"' for cell in row) + "\r\n" for row in rows)
    _, out, _ = filled(text, "ada")
    assert out == text.replace('"Ada Lovelace",""', '"Ada Lovelace","12.5"')


@pytest.mark.parametrize(
    ("heads", "column"),
    [
        (["02_products peer review", "02_products"], "02_products"),
        (["02_products", "02_products - Max Points", "02_products - Lateness"], "02_products"),
        (["Homework 2 bonus", "Homework 2"], "Homework 2"),
        (["HW12", "HW 2", "HW20"], "HW 2"),
        (["02_products, part A", "02_products, part B"], UNIT),  # nobody knows which
        (["Products", "02_products"], "02_products"),
    ],
)
def test_of_several_columns_the_one_that_is_called_just_so_is_filled(heads, column):
    _, out, _ = filled(f"student;{';'.join(heads)}\nada{';' * len(heads)}\n", "ada")
    head, ada = cells(out)
    assert head[ada.index("12.5")] == column


def test_what_moodle_has_locked_in_another_language_is_left_alone():
    text = GERMAN.replace(',"15,00",Ja', ',"15,00",Nein')
    _, out, remarks = filled(text, "ada@example.org")
    assert out == text
    assert "does not let the grade" in remarks[0]


def test_a_name_with_a_comma_and_no_quotes_is_told():
    read = roster("student,name,id\nada,Lovelace, Ada,8\nzoe,Zoe,9\n")
    assert read.doubt == (
        "roster.csv has more cells than the header in the line of ada. If a name has a comma in "
        "it, put the name in quotes."
    )
    assert roster("student,id\nada,8,,\n").doubt == ""


def test_a_quote_that_ends_in_another_line_swallows_nobody():
    with pytest.raises(CourseError, match="a quote in it has no end"):
        roster('student,name,id\nada,"Ada\nbob,"Bo",18\nzoe,Zoe,9\n')


# -- what tables have in common, whatever their words

WORKFLOW = (  # with the state of marking, two more columns of numbers, and texts handed in
    "ID,Vollständiger Name,Anmeldename,Matrikel,Gruppe,Status,Bewertung,Bestwertung,Bewertungsstand"
    ",Bewertung kann geändert werden,Zuletzt geändert (Abgabe),Texteingabe,Zuletzt geändert "
    "(Bewertung),Feedback als Kommentar\n"
    'Teilnehmer/in71,Ada Lovelace,alo12,00811,1,Abgegeben,-,"22,00",Offen,Ja,'
    '"Montag, 16. November 2026, 15:54",5,-,\n'
    'Teilnehmer/in72,Alan Turing,atu13,00812,1,Abgegeben,-,"22,00",Offen,Nein,-,5,-,\n'
)
WITHOUT_COMMENTS = re.sub(r"(?m),[^,]*$", "", GERMAN)
OFFLINE = (
    "ID,Vollständiger Name,Bewertung,Bestwertung,Bewertung kann geändert werden,Zuletzt geändert "
    "(Bewertung),Feedback als Kommentar\n"
    'Teilnehmer/in71,Ada Lovelace,"22,00","22,00",Ja,"Montag, 16. November 2026, 15:54",\n'
)
BLIND = (
    "ID,Status,Bewertung,Bestwertung,Bewertung kann geändert werden,Zuletzt geändert (Abgabe),"
    "Zuletzt geändert (Bewertung),Feedback als Kommentar\n"
    'Teilnehmer/in71,Abgegeben,,"22,00",Ja,-,-,\n'
)
KOREAN = (
    "식별자,성명,이메일 주소,상태,성적,최고 성적,성적을 변경할 수 있음,최종 수정 (제출물),"
    "최종 수정 (성적),피드백 댓글\n"
    '참여자 71,Ada Lovelace,ada@example.org,제출됨,-,22.00,예,"2026년 11월 16일, 15:54",-,\n'
)
WORKSHEETS = {
    "workflow": (WORKFLOW, {"Bewertung": "12,50", "Feedback als Kommentar": "right"}),
    "no comments": (WITHOUT_COMMENTS, {"Bewertung": "12,50"}),
    "offline": (OFFLINE, {"Bewertung": "12,50", "Feedback als Kommentar": "right"}),
    "blind": (BLIND, {"Bewertung": "12,50", "Feedback als Kommentar": "right"}),
    "Korean": (KOREAN, {"성적": "12.50", "피드백 댓글": "right"}),
}


@pytest.mark.parametrize("kind", WORKSHEETS)
def test_grade_and_comment_go_where_the_cells_of_a_worksheet_show_them_to_belong(kind):
    text, wanted = WORKSHEETS[kind]
    read = roster(text)
    grades = {UNIT: {read.lines[0].key: Filling(12.5, "right")}}
    files, remarks = read.filled(grades, points={UNIT: 22})
    head, before, *_ = cells(text)
    _, after, *_ = cells(next(iter(files.values())))
    new = {title: new for title, old, new in zip(head, before, after, strict=True) if old != new}
    assert (new, [r for r in remarks if "out of" in r and kind != "no comments"]) == (wanted, [])


def test_when_something_was_handed_in_is_no_time_of_a_grade():
    assert [line.modified for line in roster(WORKFLOW).lines] == [
        "Montag, 16. November 2026, 15:54",
        "-",
    ]
    assert roster(OFFLINE).lines[0].modified == ""


@pytest.mark.parametrize(
    "text",
    [
        MOODLE.replace("Maximum Grade", "Scale").replace("15.00", '"bad, good"'),
        GERMAN.replace('"15,00"', '"nicht bestanden, bestanden"'),
    ],
)
def test_points_are_no_grade_on_a_scale(text):
    _, out, remarks = filled(text, "ada@example.org")
    before, after = cells(text)[1], cells(out)[1]
    assert (after[:-1], after[-1]) == (before[:-1], "2.1 equivalent_rules: right, 3 of 3.")
    assert remarks == [f"{UNIT} has a scale in Moodle and no points: only comments were written."]


@pytest.mark.parametrize("word", ["Nein", "Hayır", "Όχι", "لا", "Nem", "아니오", "否"])
def test_a_locked_grade_is_known_in_many_languages(word):
    assert "does not let" in filled(GERMAN.replace(",Ja,", f",{word},"), "ada@example.org")[2][0]


@pytest.mark.parametrize(
    ("other", "written"), [("7,5", "12,5"), ("7.5", "12.5"), ("7", "12.5"), ("1,234", "12.5")]
)
def test_a_grade_has_the_decimal_sign_of_the_other_numbers(other, written):
    _, out, _ = filled(f"student;Quiz\nada;{other}\nzoe;\n", "ada")
    assert cells(out)[1][2] == written


LISTS = {
    "an address": ("email\nada@example.org\nzoe@example.org\n", "ada@example.org"),
    "German": (
        "Login;Nachname;Vorname;Matrikelnummer\nada;Lovelace;Ada;00811\nzoe;Müller;Zoë;00812\n",
        "ada",
    ),
    "heads of a program": ("id,first_name,last_name,email\na1,Ada,Lovelace,x@y.org\n", "x@y.org"),
    "a number": ('Student Number,Student Name\n00811,"Lovelace, Ada"\n', "00811"),
    "names as they are sorted": ('"Lovelace, Ada",00811\n"Müller, Zoë",00812\n', "Lovelace, Ada"),
    "GitHub Classroom": (
        '"identifier","github_username","github_id","name"\n"00811","adal","55501","Ada L"\n'
        '"00812","zoem","55502",""\n',
        "00811",
    ),
    "numbers kept as text": ('student,id\nada,"=""00811"""\nzoe,\'00812\n', "ada"),
    "a letter that nobody sees": ("student,id\nada,00811\u200b\nzoe,00812\n", "ada"),
}


@pytest.mark.parametrize(
    ("kind", "submitted", "own_id"),
    [
        ("an address", "ada", "ada@example.org"),
        ("German", "00811", "00811"),
        ("heads of a program", "Ada Lovelace", "a1"),
        ("a number", "Ada Lovelace", "00811"),
        ("names as they are sorted", "Ada Lovelace", "00811"),
        ("GitHub Classroom", "adal", "00811"),
        ("numbers kept as text", "ada", "00811"),
        ("a letter that nobody sees", "ada", "00811"),
    ],
)
def test_a_list_of_any_program_says_who_is_who(kind, submitted, own_id):
    text, key = LISTS[kind]
    line, _ = roster(text).line_of(handed_in(submitted))
    assert line is not None
    assert (line.key, own_id in {line.id, *line.own_ids}) == (key, True)


def test_a_list_without_the_usual_words_is_told_by_what_it_knows_students():
    assert roster(LISTS["German"][0]).doubt == (
        "roster.csv has no column `student`: students go by “login”, and ids are “login”. If one "
        "of Nachname, Vorname, Matrikelnummer is a name or an id, call it `name` or `id`."
    )


def test_counts_grades_and_names_are_no_ids():
    text = "student;Nr.;Vorname;Quiz;Klausur\nada;1;Emmy;7,5;1001.5\nzoe;2;Alan;8,5;1002.5\n"
    for name in ("1", "Emmy", "7,5", "1001.5"):
        assert roster(text).line_of(handed_in(name))[0] is None


def test_of_two_columns_of_one_name_the_first_is_filled_and_it_is_told():
    text = CANVAS.replace("Homework 2 (4711)", "02_products (1)").replace("Quiz 2", "02_products")
    _, out, remarks = filled(text, "alan")
    assert cells(out)[4][5:7] == ["12.5", ""]
    assert remarks[-1] == (
        "2 columns are called 02_products: if 02_products (1) is not the right one, name it in the "
        "rules of the class, [class.roster.columns]."
    )
    assert "columns are called" not in " ".join(filled(CANVAS, "alan")[2])
