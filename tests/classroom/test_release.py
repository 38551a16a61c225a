"""release.py: solutions become exercises, and no answer gets out."""

import os
import re
import shutil
import zipfile
from pathlib import Path
from types import SimpleNamespace

import nbformat
import nbformat.v4 as v4
import pytest

from classroom import release, solutions
from classroom.notebooks import as_text, read
from classroom.release import bundle, exercise_from, generate, solution_lines
from classroom.solutions import Solution
from selfcheck.files import CourseError
from selfcheck.units import declared
from tests.places import begin_course, our_notebooks

ROOT = Path(__file__).parents[2]
ANSWER = """\
### BEGIN SOLUTION
alpha = 42 * beta
### STUB
# alpha = ____
### END SOLUTION"""
HEADING = "## Exercise 2.1 (3 points, 10 minutes)\n\nWhich alpha?"
ASKED = SimpleNamespace(name="a", number="2.1", points=3, is_transfer=False)


def code(source, name="answer-a", **metadata):
    cell = v4.new_code_cell(source, id=name, metadata=metadata, execution_count=1)
    cell.outputs = [v4.new_output("stream", text="alpha = 42 * beta")]
    return cell


def text(source, name="text-a", **metadata):
    return v4.new_markdown_cell(source, id=name, metadata=metadata)


def notebook(*cells):
    return v4.new_notebook(cells=list(cells), metadata={"author": "alpha = 42 * beta"})


def solution(*cells):
    return Solution("solutions/02_unit.ipynb", notebook(*cells), (ASKED,))


def exercise(*cells):
    return exercise_from(solution(*cells))


def refused(*cells):
    """The sentence with which these cells are refused."""
    with pytest.raises(CourseError) as refusal:
        exercise(*cells)
    assert "solutions/02_unit.ipynb, cell " in str(refusal.value)
    return str(refusal.value)


# -- what students find ---------------------------------------------------------------------------


def test_the_stub_takes_the_place_of_the_solution():
    assert exercise(code(ANSWER)).cells[0].source == "alpha = ____"


def test_indentation_and_comments_of_the_stub_are_kept():
    source = """\
def weights(beta, t):
    '''The weights.'''
    ### BEGIN SOLUTION
    powers = beta ** np.arange(t)
    return (1 - beta) * powers[::-1]
    ### STUB
    # # one line is enough
    # return ____
    ### END SOLUTION
# done"""
    assert exercise(code(source)).cells[0].source == """\
def weights(beta, t):
    '''The weights.'''
    # one line is enough
    return ____
# done"""  # fmt: skip


def test_a_cell_may_have_several_regions():
    two = ANSWER + "\n" + ANSWER.replace("alpha", "epsilon").replace("42", "43")
    assert exercise(code(two)).cells[0].source == "alpha = ____\nepsilon = ____"


def test_ids_and_the_other_cells_are_kept_in_order():
    made = exercise(text(HEADING), code(ANSWER), code("check.a(alpha)", "check-a"))
    assert [cell.id for cell in made.cells] == ["text-a", "answer-a", "check-a"]
    assert made.cells[2].source == "check.a(alpha)"


def test_check_cells_are_protected_from_slips():
    made = exercise(text(HEADING), code("check.a(alpha)", "check-a"))
    assert made.cells[1].metadata.editable is False
    assert made.cells[1].metadata.deletable is False


def test_run_all_goes_on_after_a_slip_in_an_answer_or_a_check():
    made = exercise(
        text(HEADING), code("x = 1", "given"), code(ANSWER), code("check.a(1)", "check-a")
    )
    tags = [cell.metadata.get("tags", []) for cell in made.cells]
    assert tags == [[], [], ["raises-exception"], ["raises-exception"]]


def test_answers_and_checks_carry_what_nbgrader_has_to_know():
    made = exercise(text(HEADING), code(ANSWER), code("check.a(alpha)", "check-a"))
    for cell, points in zip(made.cells[1:], [None, 3], strict=True):
        known = cell.metadata.nbgrader
        assert (known.grade_id, known.schema_version) == (cell.id, 3)
        assert (known.solution, known.grade, known.locked) == (not points, *[bool(points)] * 2)
        assert known.get("points") == points
    assert "nbgrader" not in made.cells[0].metadata


def test_cells_for_instructors_are_left_out():
    made = exercise(text("Well known trap.", tags=["instructor-only"]), text("Why?", "text-b"))
    assert [cell.id for cell in made.cells] == ["text-b"]


def test_outputs_and_metadata_are_left_out_and_slides_are_kept():
    cells = [
        code(ANSWER, collapsed=True, jupyter={"source_hidden": True}),
        code("", "empty"),
        text("Why?", slideshow={"slide_type": "slide"}, tags=["hide-input"]),
    ]
    made = exercise(*cells)
    assert "42" not in as_text(made)
    assert [set(cell.metadata) for cell in made.cells[:2]] == [{"nbgrader", "tags"}, set()]
    assert made.cells[2].metadata.slideshow == {"slide_type": "slide"}
    assert set(made.metadata) == {"kernelspec", "language_info"}


def test_the_solution_itself_is_not_changed():
    solved = solution(code(ANSWER), text("Trap.", tags=["instructor-only"]))
    before = as_text(solved.notebook)
    exercise_from(solved)
    assert as_text(solved.notebook) == before


def test_frames_of_code_are_no_secret_but_answers_are():
    source = """\
### BEGIN SOLUTION
import numpy as np
def f(x):
    if x:
        return x
    y = 42
    return np.array([
        42 * x,
    ])
### STUB
# def f(x):
#     return ____
### END SOLUTION"""
    assert solution_lines(notebook(code(source))) == ["y = 42", "return np.array([", "42 * x,"]
    assert exercise(code(source)).cells[0].source == "def f(x):\n    return ____"


# -- what is refused ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "misspelt",
    [
        "### BEGIN SOLUTON", "### Begin solution", "## BEGIN SOLUTION", "###BEGIN SOLUTION",
        "# BEGIN SOLUTION", "#### BEGIN SOLUTION", "### BEGIN SOLUTION here", "###\tBEGIN SOLUTION",
        "### BEGIN  SOLUTION", "###\u00a0BEGIN SOLUTION", "### BEGINSOLUTION", "### SOLUTION",
        "\u200b### BEGIN SOLUTION", "# begn solutoin", "### BEGIN", "#BEGIN_SOLUTION",
        "x = 1  ### BEGIN SOLUTION", "x = 1  # begin solution", "'''### BEGIN SOLUTION'''",
        "BEGIN SOLUTION", "### BEGIN HIDDEN TESTS", "# solution:", "### ANSWER",
    ],
)  # fmt: skip
def test_a_misspelt_mark_is_refused(misspelt):
    source = ANSWER.replace("### BEGIN SOLUTION", misspelt)
    assert "cell answer-a" in refused(code(source))
    assert "cell answer-a" in refused(code(f"{misspelt}\nalpha = 42 * beta\n# ____"))


@pytest.mark.parametrize("misspelt", ["### STUBB", "## STUB", "# stub", "### stub", "###STUB"])
def test_a_misspelt_middle_mark_is_refused(misspelt):
    refused(code(ANSWER.replace("### STUB", misspelt)))


@pytest.mark.parametrize("misspelt", ["### END SOLUTIONS", "## END SOLUTION", "# end solution"])
def test_a_misspelt_last_mark_is_refused(misspelt):
    refused(code(ANSWER.replace("### END SOLUTION", misspelt)))


BEGIN, BODY, STUB, BLANK, END = ANSWER.splitlines()


@pytest.mark.parametrize(
    "lines",
    [
        [BEGIN, BODY, END],
        [BEGIN, BODY, STUB, BLANK],
        [BEGIN, BODY],
        [BODY, STUB, BLANK, END],
        [STUB, BLANK],
        [END],
        [END, BODY, STUB, BLANK, BEGIN],
        [BEGIN, BEGIN, BODY, STUB, BLANK, END],
        [BEGIN, BODY, STUB, BLANK, END, END],
        [BEGIN, STUB, BODY, STUB, BLANK, END],
        [BEGIN, BODY, STUB, BLANK, BEGIN, BODY, STUB, BLANK, END, END],
    ],
)
def test_marks_out_of_order_are_refused(lines):
    source = "\n".join([*lines, "# ____"])
    assert "each region needs" in refused(code(source))


def test_a_stub_that_is_not_commented_out_is_refused():
    assert "'alpha = ____' is not commented" in refused(code(ANSWER.replace("# alpha", "alpha")))


def test_a_stub_that_leaves_nothing_to_fill_in_is_refused():
    assert "nothing is left" in refused(code(ANSWER.replace("____", "None"), "another"))


@pytest.mark.parametrize(
    "source",
    [
        "### BEGIN SOLUTION", "Begin solution", "<!-- BEGIN SOLUTION -->", "<!-- 42 -->",
        "### Solution", "**Solution:** 42", "Solution. It is 42.", "# Momentum: solutions",
        "> solution", "### END SOLUTON", "### STUB",
    ],
)  # fmt: skip
def test_text_that_is_labeled_a_solution_is_refused(source):
    assert "cell text-a, line 2" in refused(text("Why?\n" + source))


def test_prose_may_speak_of_solutions():
    exercise(text("The solution of this recurrence starts at zero. ## no heading"))


@pytest.mark.parametrize("tag", ["instructor_only", "Instructor-only", "instructors-only", "x"])
def test_an_unknown_tag_is_refused(tag):
    assert f"unknown tag {tag}" in refused(text("Trap.", tags=[tag]))


def test_unknown_metadata_is_refused():
    assert "unknown metadata tag" in refused(text("Trap.", tag=["instructor-only"]))
    assert "unknown metadata note" in refused(text("Trap.", slideshow={"note": "42"}))


def test_raw_cells_and_attachments_are_refused():
    assert "raw cell" in refused(v4.new_raw_cell("alpha = 42", id="raw-a"))
    picture = text("![](attachment:a.png)")
    picture.attachments = {"a.png": {"image/png": "NDI="}}
    assert "attached file" in refused(picture)


@pytest.mark.parametrize(
    "leak",
    ["alpha = 42 * beta", "Try `42*beta`, then go on.", "# alpha = 42 * beta", "alpha=42*beta"],
)
def test_a_solution_repeated_elsewhere_is_refused(leak):
    source = ANSWER.replace("42 * beta", "1042 * beta")
    leak = leak.replace("42", "1042")
    assert "would show students the solution" in refused(code(source), text(leak))


def test_a_choice_among_words_may_be_offered_in_the_text():
    source = ANSWER.replace("42 * beta", "'necessary'")
    exercise(code(source), text("Is it 'necessary', 'sufficient' or 'both'?"))


def test_a_stub_that_contains_the_solution_is_refused():
    refused(code(ANSWER.replace("# alpha = ____", "# alpha = 42 * beta\n# ____")))


def test_what_instructors_read_must_not_be_repeated_elsewhere():
    refused(text("They forget the factor.", tags=["instructor-only"]),
            text("They forget the factor.", "text-b"))  # fmt: skip


# -- folders --------------------------------------------------------------------------------------


SHEET = (text(HEADING), code(ANSWER), code("check.a(alpha)", "check-a"))


@pytest.fixture
def course(tmp_path, monkeypatch):
    """A small course with two units of one exercise each."""
    monkeypatch.setattr(solutions, "listed", lambda stem: [ASKED])
    root = tmp_path / "course"
    for folder in ("solutions", "notebooks", "tests", "course_utils/checks", "course_utils/.git"):
        (root / folder).mkdir(parents=True)
    begin_course(root)
    (root / "LICENSE").write_text("free")
    (root / "course_utils" / "checks" / "momentum.py").write_text("points = 3\n")
    (root / "course_utils" / "checks" / "momentum.pyc").write_text("compiled")
    for stem in ("01_rnn_gradients", "02_momentum"):
        save(root / "solutions" / f"{stem}.ipynb", *SHEET)
    for stem in ("00_start_here", "01_rnn_gradients", "02_momentum"):
        save(root / "notebooks" / f"{stem}.ipynb", text("Welcome."))
    return root


def save(path, *cells):
    path.write_text(as_text(notebook(*cells)), encoding="utf-8")


def files(folder):
    return {p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()}


def test_release_writes_the_exercises_and_then_has_nothing_to_do(course):
    changed = release.release(course)
    assert [path.name for path in changed] == ["01_rnn_gradients.ipynb", "02_momentum.ipynb"]
    before = changed[0].read_bytes()
    assert release.release(course) == []
    assert changed[0].read_bytes() == before


def test_generated_text_is_the_same_every_time(course):
    assert generate(course) == generate(course)


def test_one_bad_mark_stops_the_release_of_every_notebook(course):
    broken = code(ANSWER.replace("END", "End"))
    save(course / "solutions" / "02_momentum.ipynb", SHEET[0], broken, SHEET[2])
    with pytest.raises(CourseError, match=r"02_momentum\.ipynb, cell answer-a, line 5"):
        release.release(course)
    assert not (course / "exercises").exists()
    with pytest.raises(CourseError):
        bundle(course, course.parent / "out")
    assert [path.name for path in course.parent.iterdir()] == ["course"]


def test_without_solutions_there_is_nothing_to_release(course):
    shutil.rmtree(course / "solutions")
    with pytest.raises(CourseError, match="no solution notebooks"):
        release.release(course)


def test_the_bundle_has_what_students_need_and_no_solutions(course):
    out = bundle(course, course.parent / "out")
    stems = ("00_start_here", "01_rnn_gradients", "02_momentum")
    assert files(out) == {
        *("course.toml", "LICENSE"),
        "README.md",
        *("course_utils/units.toml", "course_utils/checks/momentum.py"),
        *(f"notebooks/{stem}.ipynb" for stem in stems),
        *(f"exercises/{stem}.ipynb" for stem in stems[1:]),
    }
    assert not any("42" in path.read_text() for path in (out / "exercises").iterdir())


@pytest.mark.parametrize("unit", ["02", "02_momentum", "momentum", "02_momentum.ipynb"])
def test_a_bundle_of_one_unit_keeps_the_start_page(course, unit):
    out = bundle(course, course.parent / "out", [unit])
    notebooks = {name for name in files(out) if name.endswith(".ipynb")}
    assert notebooks == {
        "notebooks/00_start_here.ipynb", "notebooks/02_momentum.ipynb",
        "exercises/02_momentum.ipynb",
    }  # fmt: skip


@pytest.mark.parametrize("unit", ["03", "moment", "0", ""])
def test_an_unknown_unit_gets_a_sentence(course, unit):
    with pytest.raises(CourseError, match=r"no unit .*; there are 01_rnn_gradients, 02_momentum"):
        bundle(course, course.parent / "out", [unit])
    assert not (course.parent / "out").exists()


def test_a_zip_file_has_the_same_bytes_every_time(course):
    first = bundle(course, course.parent / "a", zipped=True)
    for path in course.rglob("*"):
        os.utime(path, (0, 0))
    second = bundle(course, course.parent / "b.zip")
    assert (first.name, second.name) == ("a.zip", "b.zip")
    assert first.read_bytes() == second.read_bytes()
    with zipfile.ZipFile(first) as archive:
        assert "course/exercises/02_momentum.ipynb" in archive.namelist()
        assert archive.testzip() is None


def test_nothing_is_overwritten(course):
    out = course.parent / "out"
    bundle(course, out)
    bundle(course, out, zipped=True)
    with pytest.raises(CourseError, match="out exists already"):
        bundle(course, out)
    with pytest.raises(CourseError, match=r"out\.zip exists already"):
        bundle(course, out, zipped=True)


def test_an_empty_folder_may_be_filled(course):
    (course.parent / "out").mkdir()
    assert "README.md" in files(bundle(course, course.parent / "out"))


def test_a_bundle_cannot_be_written_into_itself(course):
    with pytest.raises(CourseError, match="lies in what is copied"):
        bundle(course, course / "course_utils" / "out")


@pytest.mark.parametrize("zipped", [True, False])
def test_a_bundle_that_fails_leaves_nothing_behind(course, zipped):
    (course / "LICENSE").unlink()
    with pytest.raises(CourseError, match="LICENSE is missing"):
        bundle(course, course.parent / "out", zipped=zipped)
    assert [path.name for path in course.parent.iterdir()] == ["course"]


def test_a_lecture_with_cells_for_instructors_is_not_given_out(course):
    save(course / "notebooks" / "02_momentum.ipynb", text("Trap.", tags=["instructor-only"]))
    with pytest.raises(CourseError, match="lectures go out whole"):
        bundle(course, course.parent / "out")


# -- the course itself ----------------------------------------------------------------------------


def test_the_bundle_of_this_course_is_complete_and_its_exercises_tell_no_solution(tmp_path):
    """Lectures and the package teach the subject, so a line of theirs may be a solution's."""
    out = bundle(ROOT, tmp_path / "out")
    names = files(out)
    assert names >= {"bootstrap.py", "requirements.lock", "selfcheck/exercises.py", "course.toml"}
    assert names >= {"notebooks/00_start_here.ipynb", "pyproject.toml", "README.md", "LICENSE"}
    assert not any(name.startswith(("solutions/", "tests/", "classroom/")) for name in names)
    assert "make slides" not in (out / "README.md").read_text(encoding="utf-8")
    secrets = {line for path in our_notebooks("solutions") for line in solution_lines(read(path))}
    told = {
        (name, line)
        for name in names
        if name.startswith("exercises/")
        for line in _lines(out / name)
        if line in secrets
    }  # fmt: skip
    assert not told


def _lines(path):
    """The lines of a file, or of the cells of a notebook."""
    if path.suffix == ".ipynb":
        sources = [cell.source for cell in read(path).cells]
    else:
        sources = [path.read_bytes().decode("utf-8", "replace")]
    return [line.strip() for source in sources for line in source.splitlines()]


# -- without what stands beyond the page ----------------------------------------------------------


def test_what_stands_beyond_the_page_can_be_left_out_or_all_else(monkeypatch):
    further = SimpleNamespace(name="b", number="2.2", points=4, is_transfer=True)
    sheet = Solution(
        "solutions/02_unit.ipynb",
        notebook(
            text("*3 points and 4 beyond the page, about an hour.*", "title"),
            text(HEADING),
            code(ANSWER),
            code("check.a(alpha)", "check-a"),
            text("## Beyond the page", "beyond"),
            text("## Exercise 2.2 (4 points, 10 minutes)\n\nAnd beta?", "text-b"),
            code("numbers = 1", "numbers"),
            code(ANSWER.replace("42", "43"), "answer-b"),
            code("check.b(alpha)", "check-b"),
            text("## Your points", "text-scoreboard"),
            code("scoreboard()", "scoreboard"),
        ),
        (ASKED, further),
    )
    monkeypatch.setattr(release, "solution_paths", lambda root: [Path("02_unit.ipynb")])
    monkeypatch.setattr(release, "read_solution", lambda path: sheet)
    whole, short = generate(ROOT), generate(ROOT, "transfer")
    cells = nbformat.reads(short["02_unit.ipynb"], as_version=4).cells
    assert [cell.id for cell in cells] == [
        "title", "text-a", "answer-a", "check-a", "text-scoreboard", "scoreboard",
    ]  # fmt: skip
    assert cells[0].source == "*3 points, about 10 minutes.*"
    assert cells[-1].source == 'scoreboard(without="transfer")'
    assert len(nbformat.reads(whole["02_unit.ipynb"], as_version=4).cells) == 11
    further_alone = generate(ROOT, "essentials")["02_unit.ipynb"]
    cells = nbformat.reads(further_alone, as_version=4).cells
    assert cells[0].source == "*4 points, about 10 minutes.*"
    assert [cell.id for cell in cells if cell.id.startswith("answer")] == ["answer-b"]
    assert cells[-1].source == 'scoreboard(without="essentials")'


def test_no_title_of_a_shorter_sheet_speaks_of_what_is_left_out():
    for without in ("transfer", "essentials"):
        for name, sheet in generate(ROOT, without).items():
            title = nbformat.reads(sheet, as_version=4).cells[1].source
            told = re.search(r"^\*(.+?)\. The lecture is", title, re.MULTILINE)
            has_none = without == "essentials" and not any(
                e.is_transfer for e in declared(name.removesuffix(".ipynb"))
            )
            says = "This unit has no exercises" if has_none else r"\d+ points, about [\w ]+$"
            assert re.match(says, told[1]), (name, title)
