"""queue.py: which answers a person is asked to look at, in which order; what a decision does."""

from dataclasses import replace

import pytest

from classroom.grading.behavior import Item, Signature
from classroom.grading.gradebook import NAME, Gradebook
from classroom.grading.queue import Queue
from classroom.grading.records import SEVERAL, Graded, Result
from selfcheck.files import CourseError

pytestmark = pytest.mark.usefixtures("small_course")

UNIT = "01_sums"
SIGNED = Signature("", (Item("factor", (2,), (1.0, 2.0)),)).as_dict()
WORDS = {"r": "right", "w": "wrong", "u": "could not be checked", "f": "wrong"}


def submission(student, outcomes, **about):
    """`"rwu"`: a right answer, a wrong one, one that could not be checked; f is in a family."""
    numbers = (("1.1", "even_sum"), ("1.2", "running_sums"), ("1.4", "square_sum"))
    results = tuple(
        Result(number, name, WORDS[kind], 2 * (kind == "r"), 2, "says",
               signatures=(SIGNED,) if kind == "f" else ())
        for (number, name), kind in zip(numbers, outcomes, strict=True)
    )  # fmt: skip
    return Graded(student, UNIT, "f", "d", results=results, **about)


@pytest.fixture
def queue_of(tmp_path):
    opened = []

    def made(*submissions):
        with Gradebook(tmp_path / NAME) as book:
            for graded in submissions:
                book.save(graded)
        opened.append(Queue(tmp_path))
        return opened[-1]

    yield made
    for queue in opened:
        queue.close()


def told(queue):
    return [(place.student, place.exercise, place.by_hand) for place in queue.places()]


def test_what_may_be_of_several_students_comes_before_all_else(queue_of):
    queue = queue_of(
        submission("ada", "uuu"),
        submission("pair", "rrw", by_hand=(f"{SEVERAL} two names.",)),
    )
    assert told(queue)[0] == ("pair", "square_sum", True)
    assert queue.answer(queue.places()[0]).reasons == (f"{SEVERAL} two names.",)


def test_what_asks_for_a_look_comes_first_then_what_several_share(queue_of):
    queue = queue_of(
        submission("ada", "rfr"),
        submission("bob", "rfr"),
        submission("cleo", "rwu"),
        submission("dora", "rrr"),
    )
    assert told(queue) == [
        ("cleo", "square_sum", True), ("ada", "running_sums", False), ("bob", "running_sums", False)
    ]  # fmt: skip


def test_where_the_file_asks_for_a_look_one_answer_stands_for_it(queue_of):
    queue = queue_of(
        submission("ada", "rww", by_hand=("Its id changed on the way.",)),
        submission("bob", "rrr", alike=("The file is that of ada.",)),
    )
    first, second = queue.places()
    assert (first.student, first.exercise) == ("bob", "even_sum")
    assert (second.student, second.exercise) == ("ada", "running_sums")
    assert queue.answer(second).reasons == ("Its id changed on the way.",)


def test_an_id_is_looked_at_where_an_answer_takes_it(queue_of):
    called = {"square_sum": {"called": "check.square_sum(student, total)"}}
    odd = ("The student id changed while it ran, from 7 to 8; 7 held.",)
    queue = queue_of(about(submission("ada", "wrr", by_hand=odd), **called))
    (place,) = queue.places()
    assert (place.exercise, queue.answer(place).about_all) == ("square_sum", odd)


def about(graded, **by_exercise):
    """The submission with something to say about single answers."""
    results = [replace(r, **by_exercise.get(r.name, {})) for r in graded.results]
    return replace(graded, results=tuple(results))


def test_an_item_is_the_answer_that_its_remark_is_about_with_that_remark_alone(queue_of):
    looped = {"square_sum": {"by_hand": ("It calls a check in a loop.",)}}
    copied = {"running_sums": {"alike": ("Alike with bob.",), "beside": ("bob",)}}
    copied["even_sum"] = {"beside": ("bob",), "answer": "mine"}
    bob = about(submission("bob", "rrr"), even_sum={"answer": "his"})
    queue = queue_of(about(submission("ada", "www"), **looped, **copied), bob)
    first, second = queue.places()
    assert (first.exercise, queue.answer(first).reasons) == ("running_sums", ("Alike with bob.",))
    beside = [
        (a.result.name, a.student, a.result.answer, a.typed) for a in queue.answer(first).alike
    ]
    assert beside == [("running_sums", "bob", "", ""), ("even_sum", "bob", "mine", "his")]
    assert queue.answer(second).alike == ()
    assert queue.answer(second).reasons == ("It calls a check in a loop.",)


def test_the_two_of_a_pair_are_next_to_each_other(queue_of):
    def alike(student, other):
        said = {"alike": (f"Alike with {other}.",), "beside": (other,)}
        return about(submission(student, "wrr"), even_sum=said)

    queue = queue_of(alike("ada", "zoe"), submission("bob", "urr"), alike("zoe", "ada"))
    assert [place.student for place in queue.places()] == ["ada", "zoe", "bob"]


def test_what_the_file_shows_comes_first_then_exercise_by_exercise(queue_of):
    shown = {"square_sum": {"shown": (2, 2)}}
    queue = queue_of(
        submission("ada", "uru"),
        submission("bob", "uuf"),
        about(submission("cleo", "rrw"), **shown),
        submission("dora", "rrf"),
    )
    assert [(p.student, p.exercise) for p in queue.places()] == [
        ("cleo", "square_sum"), ("ada", "even_sum"), ("bob", "even_sum"), ("bob", "running_sums"),
        ("ada", "square_sum"), ("bob", "square_sum"), ("dora", "square_sum"),
    ]  # fmt: skip


def test_a_wrong_answer_that_nobody_shares_is_not_in_the_queue(queue_of):
    assert told(queue_of(submission("ada", "rfr"), submission("bob", "rrr"))) == []


def test_points_of_before_stay_when_a_family_gets_a_comment(queue_of):
    queue = queue_of(submission("ada", "rfr"), submission("bob", "rfr"))
    ada, bob = queue.places()
    assert queue.decide(bob, 1.5, "Nearly.") == 1
    assert queue.decide(ada, None, "See section 3.", everybody=True) == 2
    given = {o.student: (o.earned, o.comment) for o in queue.book.overrides()}
    assert given == {"ada": (None, "See section 3."), "bob": (1.5, "See section 3.")}
    assert queue.answer(ada).is_decided
    queue.drop(ada)
    assert not queue.answer(ada).is_decided


def test_a_family_needs_words_and_then_nothing_is_written(queue_of):
    queue = queue_of(submission("ada", "rfr"), submission("bob", "rfr"))
    with pytest.raises(CourseError, match="Write the comment"):
        queue.decide(queue.places()[0], 1, "", everybody=True)
    assert queue.book.overrides() == []


def test_what_another_run_writes_is_seen(queue_of, tmp_path):
    queue = queue_of(submission("ada", "rrr"))
    assert queue.places() == []
    with Gradebook(tmp_path / NAME) as book:
        book.save(submission("ada", "rru"))
    assert told(queue) == [("ada", "square_sum", True)]


def test_a_decision_for_another_answer_is_open_again(queue_of, tmp_path):
    queue = queue_of(submission("ada", "rru"))
    (place,) = queue.places()
    queue.decide(place, 2, "On paper.")
    assert queue.answer(place).is_decided
    with Gradebook(tmp_path / NAME) as book:
        graded = submission("ada", "rru")
        results = tuple(Result.from_dict({**r.as_dict(), "answer": "new"}) for r in graded.results)
        book.save(Graded.from_dict({**graded.as_dict(), "results": [r.as_dict() for r in results]}))
    (place,) = queue.places()
    assert not queue.answer(place).is_decided
