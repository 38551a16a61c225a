"""gradebook.py: what was saved is there, whole, whatever happens to the process that saves."""

import json
import sqlite3
import subprocess
import sys
from dataclasses import replace

import pytest

from classroom.grading import gradebook, records
from classroom.grading.exports import grades_csv
from classroom.grading.gradebook import Gradebook
from classroom.grading.records import Graded, Result, visible
from selfcheck.files import CourseError

pytestmark = pytest.mark.usefixtures("small_course")

ONE_STEP = {"name": "one step only", "explanation": "It grows.", "part": "", "instead": False}
BIAS = Result("2.3", "bias", "wrong", 0, 2, "At t = 1 it is 0.", (ONE_STEP,))
RULES = Result("2.1", "equivalent_rules", "right", 3, 3, "Same steps.", answer="a = 1", seconds=0.5)


def graded(student="ada", unit="02_products", results=(RULES, BIAS), digest="one", **more):
    return Graded(student, unit, f"{student}/{unit}.ipynb", digest, results=results, **more)


@pytest.fixture
def book(tmp_path):
    with Gradebook(tmp_path / "grades" / gradebook.NAME) as book:
        yield book


# -- records --------------------------------------------------------------------------------------


def test_a_record_goes_through_json_unchanged():
    full = graded(notes=("check-bias was restored",), by_hand=("odd",), student_id="7", seconds=2.5)
    assert Graded.from_dict(json.loads(json.dumps(full.as_dict()))) == full
    assert (full.earned, full.points) == (3, 5)


def test_the_secret_of_a_gradebook_is_drawn_once(tmp_path):
    secrets = set()
    for name in ("a", "a", "b"):
        with Gradebook(tmp_path / name / gradebook.NAME) as book:
            secrets.add(book.secret())
    assert len(secrets) == 2


def test_a_result_is_the_feedback_that_a_student_saw():
    assert repr(BIAS.feedback).startswith("2.3 bias: wrong, 0 of 2 points. At t = 1 it is 0. Known")


def test_what_a_student_hides_in_a_text_is_spelled_out_and_scripts_keep_their_joiners():
    assert visible("a\u202eb\x00c\ud800\n\t") == "a⟨U+202E⟩b⟨U+0000⟩c⟨U+D800⟩\n\t"
    assert visible("نمی\u200cخواهم") == "نمی\u200cخواهم"
    assert visible("x" * 30, limit=10) == "x" * 10 + "\n… (20 more characters)"


# -- grades ---------------------------------------------------------------------------------------


def test_what_was_saved_is_found_again_in_order(book):
    for student, unit in [
        ("bob", "02_products"),
        ("ada", "03_powers"),
        ("ada", "02_products"),
    ]:
        book.save(graded(student, unit))
    assert [(g.unit, g.student) for g in book.all()] == [
        ("02_products", "ada"), ("02_products", "bob"), ("03_powers", "ada"),
    ]  # fmt: skip
    assert [g.student for g in book.all("02_products")] == ["ada", "bob"]
    assert book.units() == ["02_products", "03_powers"]
    assert book.get("ada", "02_products") == graded()
    assert book.get("eve", "02_products") is None


def test_the_digest_says_whether_there_is_something_to_grade(book):
    assert book.digest_of("ada", "02_products") is None
    book.save(graded(digest="one"))
    book.save(graded(digest="two"))
    assert book.digest_of("ada", "02_products") == "two"
    assert len(book.all()) == 1


@pytest.mark.parametrize("word", ["2", "02", "products", "02_products", "02_products.ipynb"])
def test_a_unit_may_be_named_in_short(book, word):
    book.save(graded())
    assert book.stem(word) == "02_products"
    with pytest.raises(CourseError, match="'04'; there are of: 02_products"):
        book.stem("04")


def test_a_name_that_is_no_text_is_kept_like_any_other(book):
    odd = graded("fran\udce7ois")  # a file name in another encoding
    book.save(odd)
    assert book.get(odd.student, odd.unit) == odd
    assert book.digest_of(odd.student, odd.unit) == "one"


def test_a_reader_sees_what_was_saved_so_far(book):
    book.save(graded("ada"))
    with Gradebook(book.path, create=False) as reader:
        assert len(reader.all()) == 1
        book.save(graded("bob"))
        assert len(reader.all()) == 2


# -- overrides ------------------------------------------------------------------------------------


def test_an_override_counts_and_survives_regrading(book):
    book.save(graded())
    book.override("ada", "02_products", "2.3", 1, " right idea,\n wrong index ")
    book.save(graded(digest="two"))
    mark = book.mark("ada", "02_products")
    assert (mark.earned, mark.points, mark.graded.earned) == (4, 5, 3)
    assert mark.lines[1].override.reason == "right idea, wrong index"
    assert mark.lines[1].override.made_at.endswith("+00:00")
    assert book.marks() == [mark]


def test_a_dropped_override_lets_the_check_count_again(book):
    book.save(graded())
    book.override("ada", "02_products", "bias", 2, "see our talk")
    assert book.drop_override("ada", "02_products", "2.3").earned == 2
    assert book.mark("ada", "02_products").earned == 3
    with pytest.raises(CourseError, match=r"no override of bias for ada .*: none"):
        book.drop_override("ada", "02_products", "bias")


def test_an_override_never_gives_more_than_the_exercise_is_worth_now(book):
    book.save(graded())
    book.override("ada", "02_products", "bias", 2, "fine")
    book.save(graded(results=(RULES, Result("2.3", "bias", "wrong", 0, 1, "No."))))
    assert book.mark("ada", "02_products").earned == 4


def test_an_override_of_an_exercise_that_is_gone_is_not_forgotten(book):
    book.save(graded())
    book.override("ada", "02_products", "bias", 2, "fine")
    book.save(graded(results=(), problem="no JSON"))
    mark = book.mark("ada", "02_products")
    assert (mark.earned, [o.exercise for o in mark.stale]) == (0, ["bias"])


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (("adda", "02_products", "bias", 1, "why"), "adda has no grade .* Did you mean ada"),
        (("ada", "01_sums", "bias", 1, "why"), "ada has no grade in 01_sums"),
        (("ada", "02_products", "bios", 1, "why"), "has: 2.1 equivalent_rules, 2.3 bias"),
        (("ada", "02_products", "bias", 3, "why"), "worth 0 to 2 points"),
        (("ada", "02_products", "bias", -1, "why"), "worth 0 to 2 points"),
        (("ada", "02_products", "bias", 1, " \n"), "needs a reason"),
    ],
)
def test_an_override_that_makes_no_sense_gets_a_sentence(book, arguments, sentence):
    book.save(graded())
    with pytest.raises(CourseError, match=sentence):
        book.override(*arguments)
    assert book.overrides() == []


# -- the file -------------------------------------------------------------------------------------


def test_a_file_that_is_no_gradebook_is_left_alone_with_a_sentence(tmp_path):
    path = tmp_path / "grades.sqlite"
    path.write_text("student,points\n" * 100)
    with pytest.raises(CourseError, match="no gradebook"):
        Gradebook(path)
    assert path.read_text() == "student,points\n" * 100


def test_the_database_of_another_program_is_left_alone_with_a_sentence(tmp_path):
    path = tmp_path / "grades.sqlite"
    other = sqlite3.connect(path)
    other.execute("CREATE TABLE bookmarks (address)")
    other.close()
    before = path.read_bytes()
    with pytest.raises(CourseError, match="a database, but no gradebook"):
        Gradebook(path)
    assert path.read_bytes() == before


@pytest.mark.parametrize("table", ["graded", "overrides", "kept"])
@pytest.mark.parametrize("data", ["{", "[]", '{"student": 1}', b"\xff\xfe"])
def test_what_nobody_wrote_into_a_gradebook_gets_a_sentence(book, table, data):
    book.save(graded())
    book.override("ada", "02_products", "2.3", 1, "Half of it.")
    book.keep("reference", b"{}")
    with sqlite3.connect(book.path) as other:
        other.execute(f"UPDATE {table} SET data = ?", (data,))
    with pytest.raises(CourseError, match=r"is damaged: .* Put a copy in its place"):
        _ = book.marks(), book.kept_data("reference")


def test_an_empty_file_is_no_gradebook_to_make_a_report_from(tmp_path):
    (tmp_path / gradebook.NAME).touch()
    with pytest.raises(CourseError, match="or nothing in it"):
        Gradebook(tmp_path / gradebook.NAME, create=False)


def test_a_gradebook_of_a_newer_version_gets_a_sentence(tmp_path, monkeypatch):
    monkeypatch.setattr(gradebook, "VERSION", 99)
    Gradebook(tmp_path / "grades.sqlite").close()
    monkeypatch.undo()
    with pytest.raises(CourseError, match=r"newer version .* Update the course"):
        Gradebook(tmp_path / "grades.sqlite")


def test_a_reader_does_not_make_a_gradebook(tmp_path):
    with pytest.raises(CourseError, match="`course grade SUBMISSIONS --to"):
        Gradebook(tmp_path / "grades.sqlite", create=False)
    assert list(tmp_path.iterdir()) == []


def test_a_gradebook_that_somebody_else_keeps_locked_gets_a_sentence(book):
    other = sqlite3.connect(book.path)
    other.execute("BEGIN IMMEDIATE")
    book._db.execute("PRAGMA busy_timeout = 0")
    with pytest.raises(CourseError, match="Is another `course` writing"):
        book.save(graded())
    other.close()
    book.save(graded())


# -- kill -9 --------------------------------------------------------------------------------------

WRITER = """
import os, signal, sys
from pathlib import Path
from classroom.grading.gradebook import Gradebook
from classroom.grading.records import Graded, Result

def version(number):
    answer = str(number) * 30_000  # many pages of the file
    result = Result("2.1", "rules", "right", number, 9999, "", answer=answer)
    return Graded("ada", "02_products", "f", str(number), results=(result,) * 4)

def die(*_):
    os.kill(os.getpid(), signal.SIGKILL)

path, how = Path(sys.argv[1]), sys.argv[2]
book = Gradebook(path)
book.save(version(1))
book.override("ada", "02_products", "rules", 5, "because")
if how == "at the commit":
    book._db.set_trace_callback(lambda statement: statement.startswith("COMMIT") and die())
elif how.isdigit():
    book._db.set_progress_handler(die, int(how))
number = 1
while True:
    number += 1
    book.save(version(number))
    print(number, flush=True)
"""


@pytest.mark.parametrize("how", ["at the commit", "3", "from outside"])
def test_kill_9_in_the_middle_of_a_save_leaves_the_old_or_the_new_grade(tmp_path, how):
    path, announced = tmp_path / "grades.sqlite", 1
    command = [sys.executable, "-c", WRITER, str(path), how]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
        if how == "from outside":
            announced = [int(writer.stdout.readline()) for _ in range(20)][-1]
            writer.kill()
        assert writer.wait(timeout=60) == -9
    with Gradebook(path) as book:
        (kept,) = book.all()
        number = int(kept.digest)
        assert number >= announced
        assert {r.answer for r in kept.results} == {str(number) * 30_000}
        assert [o.reason for o in book.overrides()] == ["because"]
        book.save(graded())
        assert book.get("ada", "02_products") == graded()


# -- the instructor's hand ------------------------------------------------------------------------


def test_half_points_and_comments_count_and_are_kept(book):
    book.save(graded())
    book.override("ada", "02_products", "2.3", 1.5, "Nearly.", "See section 4.")
    mark = book.mark("ada", "02_products")
    assert (mark.earned, str(mark.earned)) == (4.5, "4.5")
    book.override("ada", "02_products", "bias", 2.0, "Right on paper.")
    assert str(book.mark("ada", "02_products").earned) == "5"
    with pytest.raises(CourseError, match=r"0.3 is not possible.*in halves"):
        book.override("ada", "02_products", "bias", 0.3, "A bit.")


def test_a_comment_alone_changes_no_points(book):
    book.save(graded())
    book.override("ada", "02_products", "bias", None, comment="Well argued.")
    mark = book.mark("ada", "02_products")
    assert (mark.earned, mark.lines[1].is_overridden) == (3, False)
    assert mark.lines[1].override.comment == "Well argued."


def test_an_override_for_an_answer_that_has_changed_is_flagged(book):
    book.save(graded())
    book.override("ada", "02_products", "2.1", 1, "Copied.")
    assert book.mark("ada", "02_products").to_look_at == ()
    book.save(graded(results=(replace(RULES, answer="a = 2"), BIAS), digest="two"))
    (told,) = book.mark("ada", "02_products").to_look_at
    assert "equivalent_rules: The override was made for another answer" in told


def test_somebody_without_a_file_can_be_given_points(book):
    with pytest.raises(CourseError, match="--no-file"):
        book.override("eve", "02_products", "2.2", 1, "By mail.")
    with pytest.raises(CourseError, match=r"no exercise 2\.9"):
        book.override("eve", "02_products", "2.9", 1, "By mail.", no_file=True)
    assert book.get("eve", "02_products") is None  # a slip leaves no line behind
    book.override("eve", "02_products", "2.2", 1.5, "By mail.", no_file=True)
    mark = book.mark("eve", "02_products")
    assert (mark.earned, mark.to_look_at) == (1.5, ())


def test_a_name_is_changed_with_all_that_is_kept_under_it(book):
    book.save(graded("ada_123"))
    book.override("ada_123", "02_products", "bias", 1, "So.")
    book.rename("ada_123", "ada@example.org")
    assert book.mark("ada@example.org", "02_products").earned == 4
    assert book.get("ada_123", "02_products") is None


def test_what_is_lost_for_being_late_is_told_apart(book):
    book.keep("late", b"10% a day")
    book.save(graded(late=1.2, results=(replace(RULES, earned=30, points=30),)))
    mark = book.mark("ada", "02_products")
    assert (mark.before, mark.deduction, mark.earned, mark.late) == (30, 6, 24, "29 hours")


def test_a_gradebook_of_an_older_format_is_refused_with_a_sentence(tmp_path):
    path = tmp_path / gradebook.NAME
    db = sqlite3.connect(path)
    db.executescript("PRAGMA application_id = 1668248946; PRAGMA user_version = 1;")
    db.close()
    with pytest.raises(CourseError, match="before version 0"):
        Gradebook(path)


# -- what counts ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("without", "counts"), [("", ["equivalent_rules", "bias"]), ("transfer", ["equivalent_rules"]),
                            ("essentials", ["bias"])]
)  # fmt: skip
def test_what_stands_beyond_the_page_is_kept_apart_and_need_not_count(
    book, monkeypatch, without, counts
):
    monkeypatch.setattr(records, "beyond", lambda unit: {"bias"})
    book.save(graded())
    book.keep("without", without.encode())
    (mark,) = book.marks()
    assert [line.result.name for line in mark.lines] == counts
    assert mark.points == sum(line.result.points for line in mark.lines)
    assert mark.beyond_the_page == (BIAS.earned if "bias" in counts else 0)
    assert "beyond the page" in grades_csv([mark])
