"""What two submissions have in common is listed for a person; what anybody would write is not."""

from classroom.grading.copies import noted, tokens
from classroom.grading.records import Graded, Result

LONG = "\n".join(f"value_{n} = value_{n - 1} * 2 + {n}  # so" for n in range(1, 15))


def result(number="2.1", answer=LONG, outcome="right"):
    return Result(number, f"exercise_{number}", outcome, 1, 1, "", answer=answer)


def graded(student, *results, **about):
    about = {"content": student, **about}
    return Graded(student, "02_products", f"{student}.ipynb", "", results=results, **about)


def told(*everyone, ids=None):
    return {g.student: " ".join(g.alike) for g in noted(everyone, ids)}


def test_the_same_file_is_told_unless_nothing_was_tried():
    assert (
        "byte for byte that of bob"
        in told(graded("ada", result(), content="x"), graded("bob", result(), content="x"))["ada"]
    )
    blank = result(outcome="not attempted")
    assert told(graded("ada", blank, content="x"), graded("bob", blank, content="x")) == {}


def test_the_same_tokens_are_told_whatever_the_comments_and_blanks():
    other = LONG.replace("# so", "# my own idea").replace(" * ", "*").replace("\n", "\n\n")
    assert tokens(LONG) == tokens(other)
    found = told(graded("ada", result()), graded("bob", result(answer=other)))
    assert found["bob"] == "The answers to 2.1 are, token for token, those of ada."


def test_short_answers_and_other_answers_are_not_told():
    short = result(answer="alpha, epsilon = beta, delta * (1 - beta)")
    assert told(graded("ada", short), graded("bob", short)) == {}
    other = result(answer=LONG.replace("value_9", "wert_9"))
    assert told(graded("ada", result()), graded("bob", other)) == {}


def test_ids_of_others_are_told_by_notebooks_and_by_the_roster():
    found = told(graded("ada", student_id="7"), graded("bob", student_id="8", written_id="7"))
    assert "The student id 7 is in the notebook of another student too." in found["bob"]
    found = told(graded("bob", student_id="8", written_id="7"), ids={"7": "ada", "8": "bob"})
    assert found["bob"] == "The student id 7 in the notebook is that of ada."


def test_a_class_of_copies_names_a_few():
    found = told(*(graded(f"s{n}", result(), content="x") for n in range(9)))
    assert found["s8"] == "The file is byte for byte that of s0, s1, s2 and others."


def test_remarks_go_when_their_reason_is_gone():
    before = graded("ada", result(), alike=("The file is byte for byte that of bob.",))
    assert told(before) == {"ada": ""}
