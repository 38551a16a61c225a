"""Whose a file is, in random classes: none is graded for another, none dropped in silence."""

import contextlib
import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from classroom.grading.archives import MOST_OF_ONE
from classroom.grading.submissions import find
from selfcheck.files import CourseError
from tests.classroom.grading.making import packed

UNITS = {"02_products": ["weights", "bias"], "01_sums": ["projections", "slips"]}
NAMES = ("ada", "bob", "carl", "Emmy Noether")
FOREIGN = ("exercises", "ada", "bob", "homework", "02_products", "solutions", "carl_1_2_x", "class")
FILES = ("02_products.ipynb", "work.ipynb", "ada_02_products.ipynb", "bob_9_8_02_products.ipynb")
PLATFORMS = {
    "folder": lambda name: f"{name}/",
    "zip": lambda name: f"{name}.zip/",
    "Moodle": lambda name: f"{name}_{NAMES.index(name) + 100}_assignsubmission_file_/",
    "Canvas": lambda name: f"{name}_{NAMES.index(name) + 100}_77_homework.zip/",
    "unit": lambda name: f"02_products/{name}/",
}


def notebook(owner):
    cells = [{"cell_type": "code", "source": text} for text in ("check.weights(w)", f"# {owner}")]
    return json.dumps({"nbformat": 4, "cells": cells}).encode()


def lay(files):
    """Files by path as a tree of bytes: whatever is called *.zip is one."""
    tree = {}
    for path, data in files.items():
        *folders, name = path.split("/")
        place = tree
        for folder in folders:
            place = place.setdefault(folder, {})
        place[name] = data
    return tree


def _flat(tree, above=""):
    for name, inner in tree.items():
        if isinstance(inner, bytes):
            yield above + name, inner
        elif name.endswith(".zip"):
            yield above + name, packed(dict(_flat(inner)))
        else:
            yield from _flat(inner, f"{above}{name}/")


def written(folder, tree):
    for path, data in _flat(tree):
        place = folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)
    return folder


insides = st.lists(
    st.sampled_from([*FOREIGN, *(f"{name}.zip" for name in FOREIGN)]), max_size=2
).map(lambda parts: "".join(f"{part}/" for part in parts))
classes = st.dictionaries(
    st.sampled_from(NAMES),
    st.lists(st.tuples(insides, st.sampled_from(FILES)), min_size=1, max_size=3, unique=True),
    min_size=1,
)


@settings(max_examples=120, deadline=None)
@given(classes, st.sampled_from(sorted(PLATFORMS)), st.booleans())
def test_every_file_is_its_owners_or_told(class_, platform, as_zip):
    files = {
        f"{PLATFORMS[platform](owner)}{inside}{name}": notebook(owner)
        for owner, theirs in class_.items()
        for inside, name in theirs
    }
    tree = lay(files)
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "all.zip"
        if as_zip:
            source.write_bytes(packed(dict(_flat(tree))))
        else:
            source = written(Path(folder) / "all", tree)
        found = None
        with contextlib.suppress(CourseError):  # one folder too high; test_layouts.py has these
            found = find(source, UNITS)
        if found is None:
            assert platform not in ("Moodle", "Canvas")  # whose names leave no doubt
            return
        seen = set()
        for submission in found.submissions:
            for attempt in (submission, *submission.earlier):
                source_text = attempt.data().decode()
                owner = submission.student.removesuffix(f"_{submission.number}")
                assert f"# {owner}" in source_text, (submission.student, attempt.file)
                seen.add(attempt.file)
    told = tuple(line.partition(": ")[0] for line in found.unplaced)
    assert not [path for path in files if path not in seen and not path.startswith(told or "?")]


@pytest.mark.parametrize(
    ("path", "student"),
    [
        ("ada/exercises/02_products.ipynb", "ada"),
        ("ada/homework.zip/exercises/02_products.ipynb", "ada"),
        ("bob/ada/02_products.ipynb", "bob"),
        ("bob/homework.zip/ada/02_products.ipynb", "bob"),
        ("bob_55_66_homework.zip/02_products.ipynb", "bob_55"),
        ("bob_55_66_homework.zip/ada_11/02_products.ipynb", "bob_55"),
        (
            "Bob_9_assignsubmission_file_/w.zip/Ada_1_assignsubmission_file_/02_products.ipynb",
            "Bob_9",
        ),
        ("Bob_9_assignsubmission_file_02_products.ipynb", "Bob_9"),
        ("02_products/ada/exercises/02_products.ipynb", "ada"),
        ("02_products.zip/ada/02_products.ipynb", "ada"),
    ],
)
def test_what_the_platform_made_tells_the_student(tmp_path, path, student):
    source = written(tmp_path / "class", lay({path: notebook("x")}))
    (submission,) = find(source, UNITS).submissions
    assert (submission.student, submission.unit) == (student, "02_products")


def test_late_work_and_attempts_are_told_by_canvas(tmp_path):
    files = {
        f"ada_late_1_{n}_02_products{again}.ipynb": notebook("ada")
        for n, again in [(5, ""), (6, "-2")]
    }
    (submission,) = find(written(tmp_path, lay(files)), UNITS).submissions
    assert (submission.is_late, submission.attempt) == (True, 3)
    assert [earlier.attempt for earlier in submission.earlier] == [1]


def test_of_two_uploads_to_canvas_the_one_of_the_larger_number_counts(tmp_path):
    files = {f"ada_1_{n}_{name}.ipynb": notebook("ada") for n, name in [(5, "hw-3"), (6, "hw-3-1")]}
    (submission,) = find(written(tmp_path, lay(files)), UNITS).submissions
    assert submission.file == "ada_1_6_hw-3-1.ipynb"


def test_the_courses_own_folder_is_no_student(tmp_path):
    found = find(written(tmp_path, lay({"exercises/02_products.ipynb": notebook("x")})), UNITS)
    assert found.submissions == ()
    assert "exercises is no student's folder" in found.unplaced[0]


def test_how_names_were_read_is_told_with_examples_and_doubts(tmp_path):
    files = {f"ada/{name}/02_products.ipynb": notebook("ada") for name in ("one", "two")}
    files["bob/02_products.ipynb"] = notebook("bob")
    rule, example, _, doubt = find(written(tmp_path, lay(files)), UNITS).reading
    assert "the platform made" in rule
    assert example.endswith("the student is ada, the unit 02_products")
    assert "Are these several students?" in doubt


# -- layouts


def test_a_layout_takes_a_class_from_home_folders(tmp_path):
    files = {
        f"{name}/course/exercises/02_products.ipynb": notebook(name) for name in ("ada", "bob")
    }
    files["ada/course/notebooks/02_products.ipynb"] = notebook("ada")
    files["eve/other/x.ipynb"] = notebook("eve")
    source = written(tmp_path, lay(files))
    found = find(source, UNITS, layout="{student}/course/exercises/{unit}.ipynb")
    assert [(s.student, s.unit) for s in found.submissions] == [
        ("ada", "02_products"),
        ("bob", "02_products"),
    ]
    assert found.unplaced == ("eve: there is no notebook, nor anything else.",)


def test_a_layout_names_a_part_of_a_file_and_skips_folders(tmp_path):
    files = {"group 1/hw2-ada.ipynb": notebook("ada"), "group 2/x/hw2-bob.ipynb": notebook("bob")}
    source = written(tmp_path, lay(files))
    found = find(source, UNITS, layout="**/hw2-{student}.ipynb")
    assert {s.student for s in found.submissions} == {"ada", "bob"}


def test_a_layout_takes_zips_for_folders_of_students(tmp_path):
    files = {f"A/{name}.zip/x.ipynb": notebook(name) for name in ("ada", "bob")}
    found = find(written(tmp_path, lay(files)), UNITS, layout="*/{student}/**")
    assert {s.student for s in found.submissions} == {"ada", "bob"}


def test_a_layout_that_nothing_fits_is_refused_before_anything_is_graded(tmp_path):
    source = written(tmp_path, lay({"ada/02_products.ipynb": notebook("ada")}))
    with pytest.raises(CourseError, match="No file fits the layout"):
        find(source, UNITS, layout="{student}/course/{unit}.ipynb")
    for odd in ("{unit}.ipynb", "{student}/{student}.ipynb", "{student}/{when}.ipynb"):
        with pytest.raises(CourseError, match="--layout"):
            find(source, UNITS, layout=odd)


# -- harmless input stays cheap: each of these is told, and the rest of the class is found


def with_bob(tmp_path, name, data):
    files = {"bob/02_products.ipynb": notebook("bob"), name: data}
    found = find(written(tmp_path, lay(files)), UNITS)
    assert "bob" in {s.student for s in found.submissions}
    return found


def zip_of(names, data=b"{}"):
    return packed(dict.fromkeys(names, data))


@pytest.mark.parametrize("encoding", ["utf-8", "cp437"])
@pytest.mark.parametrize("inside", ["", "eve/x.zip/"])
def test_a_zip_that_does_not_say_how_its_names_are_written_is_read_all_the_same(
    tmp_path, encoding, inside
):
    name = "Zo\u00eb M\u00fcller/02_products.ipynb".encode(encoding)
    data = packed({"x" * len(name): notebook("Zoe")}).replace(b"x" * len(name), name)
    source = tmp_path / "class.zip"
    source.write_bytes(packed({inside.strip("/"): data}) if inside else data)
    (submission,) = find(source, UNITS).submissions
    assert submission.file == f"{inside}Zo\u00eb M\u00fcller/02_products.ipynb"
    assert b"# Zoe" in submission.data()


def test_names_as_long_as_a_zip_can_have_them(tmp_path):
    names = ["_" * 60_000 + f"{n}.ipynb" for n in range(3)]
    found = with_bob(tmp_path, "eve/x.zip", zip_of(names))
    assert any("name is too long" in line for line in found.unplaced)


def test_more_entries_than_anybody_needs(tmp_path):
    found = with_bob(tmp_path, "eve/x.zip", zip_of(f"{n}.ipynb" for n in range(3_000)))
    assert any(f"more than {MOST_OF_ONE} files" in line for line in found.unplaced)
    found = with_bob(tmp_path, "eve/x.zip", zip_of(f"{n}" for n in range(100_000)))
    assert any(f"more than {MOST_OF_ONE} files" in line for line in found.unplaced)


@pytest.mark.parametrize("name", ["eve/x.zip", "eve/x.zip/course.zip"])
def test_a_virtual_environment_beside_the_sheet_hides_nothing(tmp_path, name):
    names = {f"env/{n}.py": b"" for n in range(5_000)}
    data = packed({**names, "work/02_products.ipynb": notebook("eve")})
    found = with_bob(
        tmp_path, "eve/x.zip", data if "course" not in name else zip_of(["c.zip"], data)
    )
    assert {s.student for s in found.submissions} == {"bob", "eve"}
    assert found.unplaced == ()


def test_packages_that_lie_beside_the_sheet_are_nobodys_work(tmp_path):
    folders = ("env/lib/python3.11/site-packages/nbformat/tests", "node_modules/x")
    files = {f"eve/{folder}/{n}.ipynb": b"{}" for folder in folders for n in (1, 2)}
    files["eve/02_products.ipynb"] = notebook("eve")
    found = find(written(tmp_path, lay(files)), UNITS)
    assert ([s.student for s in found.submissions], found.unplaced) == (["eve"], ())


def test_a_notebook_of_empty_cells(tmp_path):
    data = b'{"nbformat":4,"cells":[' + b"{}," * 5_000_000 + b"{}]}"
    found = with_bob(tmp_path, "eve/work.ipynb", data)
    assert "eve/work.ipynb: the file has far more parts than a notebook; it was not read." in (
        found.unplaced
    )
    for text in (b'"\\"' * 1_000_000, b'["' + b"\\" * 3_000_000, b"[" * 3_000_000):
        with_bob(tmp_path, "eve/work.ipynb", text)


def test_zips_within_zips_end(tmp_path):
    data = zip_of(["02_products.ipynb"], notebook("eve"))
    for _ in range(6):
        data = zip_of(["x.zip"], data)
    found = with_bob(tmp_path, "eve/x.zip", data)
    assert any("a zip so deep within others" in line for line in found.unplaced)


def locked(data):
    """The same zip as one that needs a password."""
    for mark, place in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = data.index(mark) + place
        data = data[:at] + bytes([data[at] | 1]) + data[at + 1 :]
    return data


@pytest.mark.parametrize("name", ["eve/x.zip", "eve.zip"])
@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"PK no zip at all", ": the zip is damaged."),
        (b"", ": the zip is damaged."),
        (packed({}), ": there is nothing in the zip."),
        (zip_of(["__MACOSX/x.ipynb"]), ": there is nothing in the zip."),
        (locked(zip_of(["work.ipynb"])), "/work.ipynb: the zip needs a password."),
    ],
    ids=["none", "no bytes", "empty", "clutter", "password"],
)
def test_a_zip_of_which_nothing_can_be_read_is_told(tmp_path, name, data, told):
    assert f"{name}{told}" in with_bob(tmp_path, name, data).unplaced


@pytest.mark.parametrize(
    "part",
    ["_", "1", "v1", "20261103", "2026-11-03 ", "late_", "copy of ", " - copy", "(copy"],
)
def test_names_of_many_like_parts(tmp_path, part):
    name = (part * 240)[:230]
    with_bob(tmp_path, f"{name}ж/{name}x.ipynb", notebook("eve"))
    with_bob(tmp_path, f"eve/{name}ж/{name}.ipynb", notebook("eve"))
