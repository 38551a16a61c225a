"""Classes as platforms and people lay them out: each is read as it is meant, refused, or told."""

import json
import zipfile

import pytest

from classroom.grading.submissions import find
from selfcheck.files import CourseError
from tests.classroom.grading.making import packed

UNITS = {"02_products": ["weights", "bias"], "01_sums": ["projections", "slips"]}
U, V = "02_products", "01_sums"
CALL = {U: "check.weights(w)\ncheck.bias(b)", V: "check.projections(p)\ncheck.slips(s)"}
GRADESCOPE = """submission_1000001:
  :submitters:
  - :name: Ada Lovelace
    :sid: '17'
    :email: ada@example.org
  :created_at: 2026-11-01
submission_1000002:
  :submitters:
  - :name: Alan Turing
    :sid: ''
    :email: ''
"""


def sheet(unit=U):
    cells = [{"cell_type": "code", "source": CALL[unit]}]
    return json.dumps({"nbformat": 4, "cells": cells}).encode()


SCRATCH = json.dumps({"nbformat": 4, "cells": [{"cell_type": "code", "source": "1"}]}).encode()


def laid(folder, names, as_zip=False):
    """Files of these names; with a dictionary, what they hold. Whatever is no sheet is text."""
    unit = {name: V if V in name.rpartition("/")[2] else U for name in names}
    files = names if isinstance(names, dict) else {}
    data = {
        name: files.get(name) or (sheet(unit[name]) if ".ipynb" in name else b"text")
        for name in names
    }
    if as_zip:
        folder.mkdir(exist_ok=True)
        (folder / "class.zip").write_bytes(packed(data))
        return folder / "class.zip"
    for name, content in data.items():
        path = folder / "class" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
    return folder / "class"


D2L = "{}-9{} - {} - Nov 3, 2026 1105 AM"
BB = "hw2_{}_attempt_2026-11-03-10-20-30"
READ = {
    # Canvas
    "canvas": (["lovelaceada_101_9001_02_products.ipynb", "turingalan_102_9002_02_products.ipynb"],
               {"lovelaceada_101", "turingalan_102"}),
    "canvas, late": (["lovelaceada_LATE_101_9001_02_products.ipynb"], {"lovelaceada_101"}),
    "canvas, again": (["xu_1_91_02_products.ipynb", "xu_1_92_02_products-1.ipynb"], {"xu_1"}),
    "canvas, another name": (["xu_1_91_hw2.ipynb"], {"xu_1"}),
    "canvas, a zip": ({"xu_1_91_hw.zip": packed({"02_products.ipynb": sheet()})}, {"xu_1"}),
    "canvas, a zip and the same unpacked": (
        {"xu_1_9001_hw.zip": packed({"a.ipynb": sheet()}), "xu_1_9001_hw/a.ipynb": sheet(),
         "li_LATE_2_9002_hw/x/a.ipynb": sheet()}, {"xu_1", "li_2"}),
    "folders with two numbers": ([f"hw_1_45778{n}_{who}/{U}.ipynb" for n, who in
                                  ((1, "ada"), (2, "bob"))],
                                 {"hw_1_457781_ada", "hw_1_457782_bob"}),
    "canvas, two units": (["xu_1_91_02_products.ipynb", "xu_1_92_01_sums.ipynb"], {"xu_1"}),
    "canvas, anonymous": ([f"anon_aB3dE_{k}_{U}.ipynb" for k in (91, 92)],
                          {"anon_aB3dE"}),
    "canvas, uploads of a quiz": (
        [f"{who}_question_456_78{n}_hw.ipynb" for who in ("xu_1", "li_LATE_2") for n in (1, 2)],
        {"xu_1", "li_2"}),
    "canvas, anonymous and late": ([f"anon_aB3dE_LATE_91_{U}.ipynb"], {"anon_aB3dE"}),
    # Moodle
    "moodle folders": (["Ada L_7_assignsubmission_file_/02_products.ipynb",
                        "Alan T_8_assignsubmission_file_/x/hw.ipynb"], {"Ada L_7", "Alan T_8"}),
    "moodle files": (["Ada L_7_assignsubmission_file_02_products.ipynb"], {"Ada L_7"}),
    "moodle, blind": (["Participant_7_assignsubmission_file_/a.ipynb"], {"Participant_7"}),
    "moodle, another plugin": (["Ada L_7_assignsubmission_cloud_/a.ipynb"], {"Ada L_7"}),
    "moodle, a group's name": (["Group 3-Ada L_7_assignsubmission_file_/a.ipynb"],
                               {"Group 3-Ada L_7"}),
    # Google Classroom
    "google": (["Ada Lovelace - 02_products.ipynb", "Dan Brown - 02_products.ipynb"],
               {"Ada Lovelace", "Dan Brown"}),
    "google, copies": (["Ada Lovelace - Copy of 02_products.ipynb",
                        "Ada Lovelace - 02_products.ipynb"], {"Ada Lovelace"}),
    "google, other names": (["Ada Lovelace - homework.ipynb"], {"Ada Lovelace"}),
    "google, a dash in a name": (["Anne-Marie Li - 02_products.ipynb"], {"Anne-Marie Li"}),
    "google, dashes around a given name": (
        [f"Li - {who} - hw.ipynb" for who in ("Ada", "Bo")], {"Li - Ada", "Li - Bo"}),
    "google, more than one dash": ([f"Ada L - sheet {k} - final.ipynb" for k in (1, 2)],
                                   {"Ada L"}),
    "google, words between": ([f"Ada Lovelace - hw 2 - {U}.ipynb",
                               f"Ada Lovelace - [Template] {U}.ipynb"], {"Ada Lovelace"}),
    "google, copies in other languages": (
        [f"Ada L - {copy} {U}.ipynb" for copy in ("Kopie von", "C\u00f3pia de", "Kopia av",
         "Kopia", "\u041a\u043e\u043f\u0438\u044f", "Kopie van", "Copia di")], {"Ada L"}),
    "google, a long dash": ([f"Ada Lovelace \u2013 {U}.ipynb"], {"Ada Lovelace"}),
    # OneDrive, Forms, Teams
    "onedrive, again": (["02_products - Ada.ipynb", "02_products 1 - Ada.ipynb",
                         "02_products (2) - Bob.ipynb"], {"Ada", "Bob"}),
    "forms": (["02_products_Ada L.ipynb", "02_products_Ada L 1.ipynb"], {"Ada L"}),
    "forms, again before the name": ([f"{U}_Ada L.ipynb", f"{U} 1_Ada L.ipynb",
                                      f"{U} 2_Bo.ipynb"], {"Ada L", "Bo"}),
    "copies as systems name them": (
        [f"ada_{U}{copy}.ipynb" for copy in (" - Copy", " - Kopie (2)", " (copy 1)", "-Copy1",
         " (conflicted copy 2026-11-03 101010)", " copy 2", " - Copie")], {"ada"}),
    "names, ids and units": ([f"{who}_20457_{U}.ipynb" for who in ("Li_Bo", "Xu_Ai")],
                             {"Li_Bo_20457", "Xu_Ai_20457"}),
    "names, ids and units within": ([f"a/Li_Bo_20457_{U}.ipynb", f"a/hw_1_2_{V}.ipynb",
                                     f"b/{U}.ipynb"], {"a", "b"}),
    "students with numbers": ([f"{U}_Student {k}.ipynb" for k in (1, 2)],
                              {"Student 1", "Student 2"}),
    "numbers of eight digits": (
        [f"20457781_Lee_{U}.ipynb", f"20457782_Lee_{U}.ipynb", f"{U}_Kim_20457783.ipynb",
         f"{U}_Kim_20457784.ipynb", f"12345678_{U}.ipynb"],
        {"20457781_Lee", "20457782_Lee", "Kim_20457783", "Kim_20457784", "12345678"}),
    "teams": ([f"Ada/HW 2/Version {n}/{U}.ipynb" for n in (1, 2)], {"Ada"}),
    # nbgrader
    "nbgrader, submitted": ([f"ada/{U}/{U}.ipynb", f"bob/{U}/{U}.ipynb"], {"ada", "bob"}),
    "nbgrader, exchange": ([f"ada+ps1+2026-11-0{d} 10:00:00.000000 UTC+x{d}/{U}.ipynb"
                            for d in (1, 2)], {"ada"}),
    "nbgrader, exchange without a mark": ([f"ada+ps1+2026-11-01 10:00:00 UTC/{U}.ipynb"], {"ada"}),
    # D2L, Brightspace
    "brightspace folders": ([f"{D2L.format(11, 1, 'Ada Lovelace')}/{U}.ipynb",
                             f"{D2L.format(12, 2, 'Alan Turing')}/{U}.ipynb", "index.html"],
                            {"Ada Lovelace", "Alan Turing"}),
    "brightspace files": ([f"{D2L.format(11, 1, 'Ada Lovelace')} - {U}.ipynb", "index.html"],
                          {"Ada Lovelace"}),
    "brightspace, namesakes": ([f"{n}-9 - Ada Li - Nov 3, 2026 1105 AM - {U}.ipynb"
                                for n in (11, 12)], {"Ada Li_11", "Ada Li_12"}),
    "brightspace, again": ([f"11-{n} - Ada Li - Nov {n}, 2026 1105 AM - {U}.ipynb"
                            for n in (3, 4)], {"Ada Li"}),
    "brightspace without ids": ([f"{who} - Nov 3, 2026 1105 AM/{U}.ipynb"
                                 for who in ("Ada Li", "Bo Li")], {"Ada Li", "Bo Li"}),
    # Blackboard
    "blackboard, an underscore in names": ([f"{BB.format(who)}_{U}.ipynb"
                                            for who in ("ada_l", "bob_l")], {"ada_l", "bob_l"}),
    "nbgrader, attempts": ([f"{who}_ps1_attempt_2026-11-03-10-20-30_{U}.ipynb"
                            for who in ("ada", "bob")], {"ada_ps1", "bob_ps1"}),
    "blackboard": ([f"{BB.format('ada01')}_{U}.ipynb", f"{BB.format('ada01')}.txt",
                    f"{BB.format('bob02')}_hw.ipynb"], {"ada01", "bob02"}),
    # Gradescope
    "gradescope": ({f"submission_1000001/{U}.ipynb": None, f"submission_1000002/{U}.ipynb": None,
                    "submission_metadata.yml": GRADESCOPE.encode()},
                   {"ada@example.org", "Alan Turing"}),
    "gradescope without names": ([f"submission_1000001/{U}.ipynb"], {"submission_1000001"}),
    # GitHub, home folders, by hand
    "clones": ([f"hw2-{who}/exercises/{U}.ipynb" for who in ("ada", "bob")],
               {"hw2-ada", "hw2-bob"}),
    "folders": ([f"ada/{U}.ipynb", f"bob/{U}.ipynb"], {"ada", "bob"}),
    "folders by unit": ([f"{U}/ada/x.ipynb", f"{V}/ada/{V}.ipynb"], {"ada"}),
    "folders with spaces": ([f"Ada Lovelace/{U}.ipynb"], {"Ada Lovelace"}),
    "folders with attempts": ([f"ada/one/{U}.ipynb", f"ada/two/{U}.ipynb", f"bob/{U}.ipynb"],
                              {"ada", "bob"}),
    "flat": ([f"ada_{U}.ipynb", f"{U}_bob.ipynb", f"carl-{U}.ipynb"], {"ada", "bob", "carl"}),
    "flat, dots": ([f"ada.{U}.ipynb", f"{U} (bob).ipynb", f"[carl] {U}.ipynb"],
                   {"ada", "bob", "carl"}),
    "flat, versions": ([f"ada_{U}_final_v2.ipynb", f"ada_{U}_2026-11-03.ipynb",
                        f"bob_{U}_v3 (1).ipynb"], {"ada", "bob"}),
    "flat, double separators": ([f"ada__{U}.ipynb", f"{U} - bob.ipynb"], {"ada", "bob"}),
    "flat, copies": ([f"ada_{U}.ipynb", f"ada_{U} (1).ipynb", f"ada_{U}-copy.ipynb"], {"ada"}),
    "zips": ({"ada.zip": packed({f"{U}.ipynb": sheet()}),
              "bob.zip": packed({"x/hw.ipynb": sheet()})}, {"ada", "bob"}),
    "saved by a browser": ([f"ada/{U}.ipynb.txt", f"bob_{U}.ipynb.json"], {"ada", "bob"}),
    "notebooks zipped one by one": (
        {f"ada_{U}.ipynb.zip": packed({f"{U}.ipynb": sheet()})}, {"ada"}),
    "remarks in parentheses": ([f"{U} - Ada L (solved).ipynb", f"bob_{U} (final version).ipynb"],
                               {"Ada L", "bob"}),
    "dates before names": ([f"2026-11-03_ada_{U}.ipynb", f"2026-11-04 10-30 bob_{U}.ipynb"],
                           {"ada", "bob"}),
    "dates with underscores": ([f"ada/{U}_2026_11_0{k}.ipynb" for k in (2, 3)]
                               + [f"ada/trial_2026_11_0{k}.ipynb" for k in (2, 3)], {"ada"}),
    "numbers that only look like Canvas'": (
        {"ada/x.ipynb": sheet(), f"bob/{U}.ipynb": sheet(),
         **dict.fromkeys(["ada/chapter_1_2_a.ipynb", "ada/part_2_1_b.ipynb"], SCRATCH)},
        {"ada", "bob"}),
    "versions": ([f"ada/Version {k}/{U}.ipynb" for k in (1, 2)] + [f"bob/{U}.ipynb"],
                 {"ada", "bob"}),
    "Sakai": ([f"Li, Bo(bo17)/Submission attachment(s)/{U}.ipynb"], {"Li, Bo(bo17)"}),
    "ILIAS": ([f"Li_Bo_bo_123/20261103101010_{U}.ipynb"], {"Li_Bo_bo_123"}),
    "OLAT": ([f"bo17_Li_Bo/2_submissions/{U}.ipynb"], {"bo17_Li_Bo"}),
    "signs of no width": ([f"ada\u200b/{U}.ipynb", f"\u202eada\x07/{V}.ipynb",
                           f"\u200fbob\u00a0b/{U}.ipynb", f"bob b/{V}.ipynb"], {"ada", "bob b"}),
    "capitals": ([f"ada/{U.upper()}.IPYNB"], {"ada"}),
    "Unicode": ([f"Łucja Ørsted/{U}.ipynb", f"王小明/{U}.ipynb"], {"Łucja Ørsted", "王小明"}),
    "own words around the unit": ([f"ada/my {U}.ipynb", f"ada/old_{U}.ipynb",
                                   f"ada/{U} final version.ipynb", f"bob/{U}.ipynb"],
                                  {"ada", "bob"}),
}  # fmt: skip


@pytest.mark.parametrize("as_zip", [False, True])
@pytest.mark.parametrize("kind", READ)
def test_a_layout_is_read_as_the_platform_means_it(tmp_path, kind, as_zip):
    names, students = READ[kind]
    class_ = find(laid(tmp_path, names, as_zip), UNITS)
    assert {s.student for s in class_.submissions} == students
    assert not [s for s in class_.submissions if s.problem]
    assert class_.unplaced == ()


TOO_HIGH = {
    "canvas": ["a_1_91_02_products.ipynb", "b_2_92_02_products.ipynb"],
    "canvas, zips": {f"{who}_9_hw.zip": packed({"x.ipynb": sheet()}) for who in ("a_1", "b_2")},
    "moodle": [f"{who}_assignsubmission_file_/x.ipynb" for who in ("Ada L_7", "Alan T_8")],
    "moodle files": [f"{who}_assignsubmission_file_x.ipynb" for who in ("Ada L_7", "Alan T_8")],
    "exchange": [f"{who}+ps1+2026-11-01 10:00:00 UTC+x/{U}.ipynb" for who in ("ada", "bob")],
    "brightspace": [f"{D2L.format(n, n, who)}/{U}.ipynb" for n, who in [(1, "Ada"), (2, "Bo")]],
    "blackboard": [f"{BB.format(who)}_{U}.ipynb" for who in ("ada", "bob")],
    "blackboard, an underscore in names": [
        f"{BB.format(who)}_{U}.ipynb" for who in ("ada_l", "bob_l")
    ],
    "gradescope": [f"submission_100000{n}/{U}.ipynb" for n in (1, 2)],
    "gradescope, in groups": [f"group {n}/submission_100000{n}/{U}.ipynb" for n in (1, 2)],
    "flat": [f"ada_{U}.ipynb", f"bob_{U}.ipynb"],
    "flat, unit first": [f"{U}_ada.ipynb", f"{U}_bob.ipynb"],
    "google": [f"Ada Lovelace - {U}.ipynb", f"Dan Brown - {U}.ipynb"],
    "google, other names": ["Ada Lovelace - homework.ipynb", f"Dan Brown - {U}.ipynb"],
    "google, no unit": ["Ada Lovelace - homework.ipynb", "Dan Brown - hw (2).ipynb"],
    "one of each unit": [f"ada_{U}.ipynb", f"bob_{V}.ipynb"],
    "numbers of students": [f"1234567_{U}.ipynb", f"7654321-{U}.ipynb"],
    "numbered": [f"Student {k}_{U}.ipynb" for k in (1, 2)],
    "numbered, unit first": [f"{U}_Student {k}.ipynb" for k in (1, 2)],
    "folders and files": [f"ada/{U}.ipynb", f"{U}_bob.ipynb"],
    "teams": [f"{who}/HW 2/Version {k}/{U}.ipynb" for who in ("Ada", "Bo", "Cy") for k in (1, 2)],
    "folders": [f"ada/{U}.ipynb", f"bob/{U}.ipynb"],
    "clones": [f"hw2-{who}/exercises/{U}.ipynb" for who in ("ada", "bob", "carl")],
    "folders by unit": [f"{unit}/{who}/x/{unit}.ipynb" for unit in (U, V) for who in ("ada", "bo")],
    "folders with other names within": [
        f"{who}/{name}" for who in ("ada", "bob") for name in (f"Ada L_{U}.ipynb", f"17_{U}.ipynb")
    ],
}


def below(folder, names):
    if isinstance(names, dict):
        return {f"{folder}/{name}": data for name, data in names.items()}
    return [f"{folder}/{name}" for name in names]


@pytest.mark.parametrize("as_zip", [False, True])
@pytest.mark.parametrize("above", ["hw2", "download/hw2", "submissions"])
@pytest.mark.parametrize("kind", TOO_HIGH)
def test_one_folder_too_high_is_refused_with_the_command_that_does_it_right(
    tmp_path, kind, above, as_zip
):
    source = laid(tmp_path, below(above, TOO_HIGH[kind]), as_zip)
    with pytest.raises(CourseError, match="Nothing was graded") as refused:
        find(source, UNITS)
    assert above.rpartition("/")[2] in str(refused.value)
    right = str(refused.value).partition("`course grade ")[2].partition(" --to")[0]
    if as_zip:
        assert "Unpack class.zip into a folder of that name, then grade that" in str(refused.value)
        zipfile.ZipFile(source).extractall(source.with_suffix(""))
    found = find(type(source)(right), UNITS).submissions
    files = {attempt.file for s in found for attempt in (s, *s.earlier)}
    assert len({s.student for s in found}) > 1
    assert len(files) == len([name for name in TOO_HIGH[kind] if name.endswith((".ipynb", ".zip"))])


@pytest.mark.parametrize("above", ["", f"{U}/"])
def test_a_title_before_all_names_is_no_student_and_the_layout_that_is_named_reads_them(
    tmp_path, above
):
    source = laid(tmp_path, [f"{above}Exam 1 - {who}.ipynb" for who in ("Ada L", "Bo", "Cy")])
    with pytest.raises(CourseError, match="Exam 1 would be one student, but Ada L, Bo") as refused:
        find(source, UNITS)
    layouts = str(refused.value).split('"')[1::2]
    students = [{s.student for s in find(source, UNITS, layout=one).submissions} for one in layouts]
    assert students[0] == {"Ada L", "Bo", "Cy"}
    assert students[1] == {"Exam 1"}


def test_a_folder_too_high_among_several_is_refused_too(tmp_path):
    names = below("group 1", TOO_HIGH["folders"]) + below("group 2", TOO_HIGH["folders"])
    with pytest.raises(CourseError, match="Nothing was graded"):
        find(laid(tmp_path, names), UNITS)


@pytest.mark.parametrize(
    ("folder", "others"),
    [
        ("submitted", [f"autograded/ada/ps1/{U}.ipynb", f"release/ps1/{U}.ipynb"]),
        ("Submitted files", [f"Working files/Ada/HW/{U}.ipynb"]),
        ("2026-11-03", [f"carl/{U}.ipynb", f"dora/{U}.ipynb"]),
        ("Section A", [f"carl/{U}.ipynb", f"dora/{U}.ipynb"]),
    ],
)
def test_a_folder_of_the_class_with_several_inside_is_refused_whatever_lies_beside(
    tmp_path, folder, others
):
    names = [f"{folder}/{who}/ps1/{U}.ipynb" for who in ("ada", "bob")]
    with pytest.raises(CourseError, match="Nothing was graded") as refused:
        find(laid(tmp_path, [*names, *others]), UNITS)
    assert f"class/{folder}" in str(refused.value)


def test_a_command_with_blanks_has_quotes_and_a_zip_is_not_unpacked(tmp_path):
    files = {"submissions (1).zip": packed({n: sheet() for n in TOO_HIGH["canvas"]})}
    source = laid(tmp_path, files)
    with pytest.raises(CourseError, match="Nothing was graded") as refused:
        find(source, UNITS)
    assert f'Grade that: `course grade "{source}/submissions (1).zip" --to' in str(refused.value)


def test_two_of_many_with_files_of_two_names_do_not_stop_the_class(tmp_path):
    names = [f"pair {k}/{who}_{U}.ipynb" for k in (1, 2) for who in ("ada", "bob")]
    names += [f"{who}/{U}.ipynb" for who in ("carl", "dora", "emil")]
    found = find(laid(tmp_path, names), UNITS).submissions
    assert [s.student for s in found if s.doubt] == ["pair 1", "pair 2"]


def test_several_folders_that_each_hold_the_files_of_two_are_refused(tmp_path):
    names = [f"week{k}/{who}_{unit}.ipynb" for k, unit in ((1, V), (2, U)) for who in ("ada", "bo")]
    with pytest.raises(CourseError, match="Nothing was graded"):
        find(laid(tmp_path, names), UNITS)


def test_a_name_is_one_however_a_system_writes_its_letters(tmp_path):
    names = [f"J\u00f6rg/{U}.ipynb", f"Jo\u0308rg/{V}.ipynb", f"ada /{U}.ipynb", f"ada/{V}.ipynb"]
    class_ = find(laid(tmp_path, names), UNITS)
    found = sorted((s.student, s.unit) for s in class_.submissions)
    assert found == [("J\u00f6rg", V), ("J\u00f6rg", U), ("ada", V), ("ada", U)]
    assert class_.unplaced == ()


def test_who_says_by_a_layout_that_it_is_one_student_is_believed(tmp_path):
    source = laid(tmp_path, below("hw2", TOO_HIGH["canvas"]))
    (one,) = find(source, UNITS, layout="{student}/**").submissions
    assert one.student == "hw2"


def with_id(own):
    cells = [{"cell_type": "code", "source": f"student = {own}\n{CALL[U]}"}]
    return json.dumps({"nbformat": 4, "cells": cells}).encode()


OF_SEVERAL = {
    "a folder of two names": [f"meyer_anna+schmidt_bob/{U}.ipynb"],
    "a file of two names": [f"Anna Meyer & Bob Schmidt - {U}.ipynb"],
    "two names and a word": [f"anna_and_bob_{U}.ipynb"],
    "files of two names": [f"pair/ada_{U}.ipynb", f"pair/bob_{U}.ipynb"],
    "folders of two": [f"pair/ada/{U}.ipynb", f"pair/bob/{U}.ipynb"],
    "sheets of two names": ["pair/ada.ipynb", "pair/bob.ipynb"],
    "two names, one with the unit": [f"pair/ada_{U}.ipynb", "pair/bob homework.ipynb"],
    "a folder of the class": [f"Section A/ada/{U}.ipynb"],
    "late work apart": [f"late/ada_{U}.ipynb"],
    "what was given out": [f"template/{U}.ipynb"],
    "another hand-in": [f"carl_resubmission/{U}.ipynb"],
    "a copy of a folder": [f"carl - Kopie/{U}.ipynb"],
    "a copy in front": [f"Copia de carl/{U}.ipynb"],
    "sheets with two ids": {f"pair/{U}.ipynb": with_id(17), f"pair/{U} (1).ipynb": with_id("'18'")},
}


@pytest.mark.parametrize("kind", OF_SEVERAL)
def test_what_may_be_of_two_students_is_told_of_their_submission(tmp_path, kind):
    files = OF_SEVERAL[kind]
    others = {f"{who}/{U}.ipynb": sheet() for who in ("carl", "dora")}
    files = {**others, **(files if isinstance(files, dict) else {n: sheet() for n in files})}
    class_ = find(laid(tmp_path, files), UNITS)
    doubtful = [s for s in class_.submissions if s.doubt]
    assert {s.student for s in class_.submissions} == {"carl", "dora", doubtful[0].student}
    assert len(doubtful) == 1
    assert doubtful[0].doubt in class_.reading


SECTIONS = {
    "two sections of one": [f"Monday/ada/{U}.ipynb", f"Tuesday/bob/{U}.ipynb"],
    "two sections of one, in zips": [f"Monday/ada.zip/{U}.ipynb", f"Tuesday/bob.zip/{U}.ipynb"],
    "two sections of one, flat": [f"Monday/ada_{U}.ipynb", f"Tuesday/{U}_bob.ipynb"],
    "two sections of one, Canvas": [f"Monday/xu_1_9001_{U}.ipynb", f"B/li_2_9002_{U}.ipynb"],
    "many sections of one, Moodle": [
        f"{k}/Ada L_{k}_assignsubmission_file_/{U}.ipynb" for k in range(17, 23)
    ],
    "a class of one, Canvas": [f"download/xu_1_9001_{U}.ipynb"],
    "a class of one, Moodle": [f"data/Ada L_7_assignsubmission_file_/{U}.ipynb"],
    "two, of whom one has an odd name": [f"hw/ada/{U}.ipynb", f"hw/Final/{U}.ipynb"],
}


@pytest.mark.parametrize("kind", SECTIONS)
def test_few_folders_that_may_be_sections_are_told(tmp_path, kind):
    files = {name: sheet() for name in SECTIONS[kind]}
    if "zips" in kind:
        files = {name.rpartition("/")[0]: packed({f"{U}.ipynb": sheet()}) for name in files}
    found = find(laid(tmp_path, files), UNITS).submissions
    assert all(s.doubt for s in found)


NO_SECTIONS = {
    "folders of the course": [f"{who}/course/{U}.ipynb" for who in ("ada", "bob")],
    "own names": [f"{who}/hw {who}/{U}.ipynb" for who in ("ada", "bob")],
    "one folder and none": [f"ada/my things/{U}.ipynb", f"bob/{U}.ipynb"],
    "what a home folder has": [
        f"{who}/{name}/{U}.ipynb" for who in ("ada", "bob") for name in ("Downloads", "course")
    ],
    "many": [f"{k}/of {who}/{U}.ipynb" for k, who in enumerate(("ada", "bob", "cy", "dora"))],
    "a number on one sheet, a name on another": [
        f"{who}/{name}" for who in ("ab", "cd") for name in (f"Al_{U}.ipynb", f"{V}_1234567.ipynb")
    ],
}


@pytest.mark.parametrize("kind", NO_SECTIONS)
def test_folders_within_those_of_students_raise_no_doubt(tmp_path, kind):
    found = find(laid(tmp_path, NO_SECTIONS[kind]), UNITS).submissions
    assert {s.doubt for s in found} == {""}


def test_names_that_differ_in_capitals_alone_are_told(tmp_path):
    found = find(laid(tmp_path, [f"Ada/{U}.ipynb", f"ada/{V}.ipynb"]), UNITS).submissions
    assert [s.doubt for s in found] == ["Ada, ada may be one student, and count as 2."] * 2


def test_namesakes_are_told(tmp_path):
    names, _ = READ["brightspace, namesakes"]
    told = "several students are called Ada Li; they count as Ada Li_11, Ada Li_12"
    assert told in find(laid(tmp_path, names), UNITS).reading


@pytest.mark.parametrize(
    "name",
    ["ada+ps@example.org", "Sandy Anderson", "C+", "ada_and", "student007", "Lategan", "Parth"],
)
def test_a_name_that_is_one_students_raises_no_doubt(tmp_path, name):
    (one,) = find(laid(tmp_path, [f"{name}/{U}.ipynb"]), UNITS).submissions
    assert (one.student, one.doubt) == (name, "")


def test_attempts_with_one_id_or_the_sheets_own_raise_no_doubt(tmp_path):
    files = {f"ada/{U} ({k}).ipynb": with_id(own) for k, own in enumerate((0, 17, 17))}
    (one,) = find(laid(tmp_path, files), UNITS).submissions
    assert one.doubt == ""


def test_a_group_that_is_declared_is_each_of_its_members(tmp_path):
    names = [f"ada+bob/{U}.ipynb", f"carl/{U}.ipynb", f"Dora und Emil/{U}.ipynb"]
    class_ = find(laid(tmp_path, names), UNITS, U, groups=True)
    found = class_.submissions
    assert (class_.unplaced, any(s.problem for s in found)) == ((), False)
    partners = {s.student: s.partners for s in found}
    pairs = {"ada": ("bob",), "bob": ("ada",), "Dora": ("Emil",), "Emil": ("Dora",)}
    assert partners == {"carl": (), **pairs}
    assert not any(s.doubt for s in found)
    notes = {s.student: s.notes for s in found}
    assert notes["ada"] == ("Handed in together with bob.",)


@pytest.mark.parametrize(
    ("name", "members"),
    [
        ("Ada, Bob and Cy", {"Ada", "Bob", "Cy"}),
        ("Ada, Bob, and Cy Li", {"Ada", "Bob", "Cy Li"}),
        ("Li, Ada & Xu, Bob", {"Li, Ada", "Xu, Bob"}),
        ("Li, Ada", {"Li, Ada"}),
    ],
)
def test_a_comma_parts_members_unless_it_stands_in_each_of_them(tmp_path, name, members):
    found = find(laid(tmp_path, [f"{name}/{U}.ipynb"]), UNITS, groups=True).submissions
    assert {s.student for s in found} == members


def test_of_a_member_with_a_file_of_their_own_that_one_counts_and_it_is_told(tmp_path):
    found = find(laid(tmp_path, [f"ada+bob/{U}.ipynb", f"ada/{U}.ipynb"]), UNITS, groups=True)
    files = {s.student: (s.file, bool(s.doubt)) for s in found.submissions}
    assert files == {"ada": (f"ada/{U}.ipynb", True), "bob": (f"ada+bob/{U}.ipynb", False)}


def test_gradescope_says_itself_who_handed_in_together(tmp_path):
    group = GRADESCOPE.replace("  :created_at", "  - :name: Bo Li\n    :sid: 5\n  :created_at", 1)
    names = [f"x/submission_100000{k}/{U}.ipynb" for k in (1, 2)]
    files = {name: sheet() for name in names} | {"x/submission_metadata.yml": group.encode()}
    source = laid(tmp_path, files) / "x"
    partners = {s.student: s.partners for s in find(source, UNITS).submissions}
    pair = {"ada@example.org": ("Bo Li",), "Bo Li": ("ada@example.org",)}
    assert partners == {"Alan Turing": (), **pair}


TOLD = {
    "a text entry": ("lovelaceada_101_text.html", "lovelaceada_101"),
    "a link": ("lovelaceada_101_9001_link.html", "lovelaceada_101"),
    "a receipt alone": (f"{BB.format('ada01')}.txt", "ada01"),
    "a PDF": ("lovelaceada_101_9001_hw.pdf", "lovelaceada_101"),
    "an archive": ("ada.7z", "ada.7z"),
    "two units in a name": (f"{V}_{U}_ada.ipynb", f"{V}_{U}_ada.ipynb"),
    "words on both sides of the unit": (f"hw1_{U} - Ada.ipynb", f"hw1_{U} - Ada.ipynb"),
    "a date in place of a name": (f"20261103101010_{U}.ipynb", "20261103101010"),
    "a notebook of nobody": (f"{U}.ipynb", U),
    "a file that is no notebook": ("notes.docx", "notes.docx"),
    "an online text of Moodle": ("Ada_7_assignsubmission_onlinetext_/onlinetext.html", "Ada_7"),
    "an empty hand": ("eve/essay.txt", "eve"),
}


@pytest.mark.parametrize("kind", TOLD)
def test_what_is_no_sheet_is_told(tmp_path, kind):
    name, who = TOLD[kind]
    class_ = find(laid(tmp_path, [name, "xu_1_91_02_products.ipynb"]), UNITS)
    assert [line for line in class_.unplaced if line.startswith(who)], class_.unplaced
    assert {s.student for s in class_.submissions} == {"xu_1"}
