"""A record is what a frozen dataclass is, in all that the course asks of one."""

import copy
import pickle
from dataclasses import FrozenInstanceError, asdict, dataclass, field, replace

import pytest

from selfcheck.record import record


@dataclass(frozen=True)
class Dataclass:
    """As Python makes it."""

    name: str
    size: int = 3
    parts: list = field(default_factory=list)
    note: str = field(default="", compare=False, repr=False)


@record()
class Record:
    """As we make it."""

    name: str
    size: int = 3
    parts: list = field(default_factory=list)
    note: str = field(default="", compare=False, repr=False)


@record(repr=False, eq=False)
class Further(Record):
    """With one more, and a word before it is there."""

    more: tuple = ()

    def __post_init__(self):
        object.__setattr__(self, "more", (*self.more, self.name))


@pytest.mark.parametrize("given", [("a",), ("a", 1), ("a", 1, [2], "b")])
def test_it_holds_shows_and_becomes_what_a_dataclass_does(given):
    theirs, ours = Dataclass(*given), Record(*given)
    assert asdict(ours) == asdict(theirs)
    assert repr(ours) == repr(theirs).replace("Dataclass", "Record")
    assert asdict(replace(ours, size=9)) == asdict(replace(theirs, size=9))
    assert ours == Record(*given) == copy.deepcopy(ours) == pickle.loads(pickle.dumps(ours))
    assert Record.__match_args__ == Dataclass.__match_args__


@pytest.mark.parametrize("kind", [Dataclass, Record])
def test_what_is_compared_makes_it_equal(kind):
    assert kind("a", note="x") == kind("a", note="y") != kind("b")
    assert kind("a") != ("a", 3, [])
    assert hash(kind("a", parts=())) == hash(kind("a", parts=(), note="z"))
    with pytest.raises(TypeError):
        hash(kind("a"))


@pytest.mark.parametrize("kind", [Dataclass, Record])
@pytest.mark.parametrize(
    "given", [((), {}), (("a", 1, [], "", 5), {}), (("a",), {"name": "b"}), (("a",), {"other": 1})]
)
def test_arguments_that_do_not_fit_are_refused(kind, given):
    args, named = given
    with pytest.raises(TypeError):
        kind(*args, **named)


@pytest.mark.parametrize("kind", [Dataclass, Record])
def test_it_stays_as_it_is(kind):
    one = kind("a")
    with pytest.raises(FrozenInstanceError):
        one.name = "b"
    with pytest.raises(FrozenInstanceError):
        del one.name
    assert one.parts is not kind("a").parts


@pytest.mark.parametrize("kind", [Dataclass, Record])
def test_a_plain_class_below_it_may_keep_more(kind):
    plain = type("Plain", (kind,), {})("a")
    plain.more = 1
    assert plain.more == 1
    with pytest.raises(FrozenInstanceError):
        plain.name = "b"
    del plain.more
    assert not hasattr(plain, "more")


def test_a_record_goes_on_from_another():
    assert asdict(Further("a", more=(1,))) == {**asdict(Record("a")), "more": (1, "a")}
    assert repr(Further("a")) == "Further(name='a', size=3, parts=[])".replace(
        "[]", "[], more=('a',)"
    )
