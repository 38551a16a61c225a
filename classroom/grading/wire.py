"""The wire between the student's process and the judge: questions, answers and calls.

Either side may call the other's functions, the judge a student's `weights`, and the student's code
the σ that the judge handed to it. What arrives from a student's process is a claim about their own
answers, nothing more. So there is nothing to forge: whatever they write on the wire is read as an
answer.
"""

from __future__ import annotations

import builtins
import contextlib
import functools
import inspect
import itertools
import json
import re
import types
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

from selfcheck.calls import in_a_row_here
from selfcheck.encoding import (
    DEEPEST,
    MOST_BYTES,
    MOST_KEYS,
    NUMBERS,
    TAG,
    Codec,
    NotPlain,
    SizeLimit,
    WireError,
    word,
)
from selfcheck.raised import where_it_stopped
from selfcheck.refusals import NotAttempted
from selfcheck.reserved import ReservedFunction


class Gone(KeyboardInterrupt):
    """The other process does not answer any more: no check may take this for an answer."""


class Stream:
    """Messages over a socket: two lengths of four bytes, JSON, and the numbers of its arrays.

    In the JSON an array has the length of its numbers in their place: they follow in that order,
    so that none can be meant twice.
    """

    def __init__(self, sock: Any) -> None:
        self.sock = sock
        self._waiting = b""  # what came with the message before
        self._behind: list[bytes] = []
        self._tail = memoryview(b"")
        encoder = json.JSONEncoder(separators=(",", ":"), default=self._put_behind)
        self._as_json, self._read = encoder.encode, json.JSONDecoder(object_hook=self._filled)

    def send(self, message: dict) -> None:
        """Send it whole; a message that is too long is not begun."""
        self._behind = []
        text = self._as_json(message).encode()
        tail = b"".join(self._behind)
        if len(text) + len(tail) > MOST_BYTES:
            raise WireError("it is too large to be handed over")
        self._all(b"".join((_length(text), _length(tail), text, tail)))

    def _put_behind(self, numbers: bytes) -> int:
        self._behind.append(numbers)
        return len(numbers)

    def _all(self, data: bytes) -> None:
        self.sock.sendall(data)

    def receive(self) -> dict:
        """The next message; Gone if there will be none."""
        text, tail = (int.from_bytes(self._exactly(4), "big") for _ in range(2))
        if text + tail > MOST_BYTES:
            raise Gone("sent a message that is too long")
        said, self._tail = self._exactly(text), memoryview(self._exactly(tail))
        try:
            message = self._read.decode(said.decode())
        except (ValueError, RecursionError):
            message = None
        if not isinstance(message, dict):
            raise Gone("sent something that is no message")
        return message

    def _filled(self, data: dict) -> dict:
        """An array gets the next numbers of the message."""
        if data.get(TAG) == "array" and type(length := data.get("v")) is int and length >= 0:
            data["v"], self._tail = self._tail[:length], self._tail[length:]
        return data

    def _exactly(self, count: int) -> bytes:
        data = self._waiting
        if len(data) < count:
            parts, have = [data], len(data)
            while have < count:
                part = self._some()
                if not part:
                    raise Gone("ended")
                parts.append(part)
                have += len(part)
            data = b"".join(parts)
        self._waiting = data[count:]
        return data[:count]

    def _some(self) -> bytes:
        """What there is to read, at least a byte unless it ended."""
        return self.sock.recv(1 << 16)


def _length(data: bytes) -> bytes:
    return len(data).to_bytes(4, "big")


class Encoded(NamedTuple):
    """What is encoded already: the results of several calls, each before the next call is made.

    A function may give the same array again and again, with other numbers in it.
    """

    data: Any


class Peer(Codec):
    """One end of the wire: asks the other end, and meanwhile serves what that asks.

    `serve` answers questions other than calls. The extension is around every call that is served.
    """

    def __init__(self, stream: Any, serve: Callable[[dict], Any], extension: Any = None) -> None:
        super().__init__(extension)
        self.stream, self._serve = stream, serve
        self._depth, self._asked = 0, 0
        self._stand_ins: dict[int, tuple[dict, Callable]] = {}
        self.foreseen: Foreseen | None = None  # for the check at hand
        self._answers = deque[Callable]()  # of calls that come next

    def ask(self, **question: Any) -> Any:
        """The value of what is asked for; an error over there is raised here."""
        if self._depth >= DEEPEST:
            raise RecursionError("functions call each other without end")
        self._depth += 1
        self._asked += 1
        number = self._asked
        try:
            self.stream.send({**question, "number": number})
            while "ask" in (reply := self.stream.receive()):
                self.answer(reply)
        finally:
            self._depth -= 1
        if reply.get("number") != number:
            raise Gone("answered what nobody had asked")
        if "before" in reply:
            _told(*tried(self._serve, {"ask": "array", "before": reply["before"]}))
        if "error" in reply:
            raise as_error(reply["error"])
        return self.decode(reply.get("value"))

    def encode(self, value: Any) -> Any:
        """The value as JSON can carry it."""
        return value.data if type(value) is Encoded else super().encode(value)

    def answer(self, question: dict) -> None:
        """Do what the other side asks, and send back the value or the error."""
        try:
            reply = {"value": self.encode(self.serve(question))}
        except Exception as error:
            reply = {"error": in_short(error)}
        self._reply(question, reply)

    def _reply(self, question: dict, reply: dict) -> None:
        number = {"number": question.get("number")}
        try:
            self.stream.send(reply | number)
        except WireError as too_large:
            self.stream.send({"error": in_short(too_large)} | number)

    def serve(self, question: dict) -> Any:
        """A call of a function kept here; anything else is for the owner of this end."""
        if question["ask"] == "in a row":
            handles = [question.get(name) for name in ("initial", "step")]
            functions = [None if handle is None else self._own(handle) for handle in handles]
            with np.errstate(all="ignore"), _telling_where(*functions):
                return in_a_row_here(*functions, *self.decode(question.get("args")))
        if question["ask"] == "calls":
            limit, calls = SizeLimit(), question["calls"]
            return Encoded([self._encode(self._one_of(*c), DEEPEST, limit) for c in calls])
        if question["ask"] != "call":
            return self._serve(question)
        if "before" in question:
            self._serve({"ask": "array", "before": question["before"]})
        function, named = self._own(question.get("function")), question.get("named") or {}
        return self._called(function, question.get("args") or [], named)

    def _called(self, function: Callable, args: list, named: dict) -> Any:
        return self._run(function, *self._decoded(args, named))

    def _decoded(self, args: list, named: dict) -> tuple[list, dict]:
        return [self.decode(x) for x in args], {n: self.decode(x) for n, x in named.items()}

    def _run(self, function: Callable, arguments: list, named: dict) -> Any:
        around = self.extension.calling(function) if self.extension else contextlib.nullcontext()
        with around, np.errstate(all="ignore"):  # verdicts come from values, never from warnings
            with _telling_where(function):
                result = function(*arguments, **named)
            return self.extension.returned(result) if self.extension else result

    def _one_of(self, handle: int, args: list, named: dict) -> tuple:
        """One of several calls."""
        arguments, named = self._decoded(args, named)
        return tried(self._run, self._own(handle), arguments, named)

    def _stand_in(self, data: dict) -> Callable:
        """A function that calls the one on the other side, with that one's name and parameters."""
        handle = int(data["handle"])
        before, known = self._stand_ins.get(handle, (None, None))
        if known is not None and before == data:
            return known

        def call(*args: Any, **named: Any) -> Any:
            if self.foreseen and (known := self._foreseen(handle, args, named)):
                return known()
            given = {name: self.encode(x) for name, x in named.items()}
            encoded = [self.encode(x) for x in args]
            return self.ask(ask="call", function=handle, args=encoded, named=given)

        stand_in: Any = call
        stand_in.home_of_stand_in = (self, handle)
        stand_in.in_a_row = self.in_a_row_there
        nameless = data["name"] in ("", "<lambda>")  # as a partial is
        stand_in.__name__ = data["name"] if nameless else word(data["name"])
        if data["parameters"] is not None:
            stand_in.__signature__ = inspect.Signature(list(map(_parameter, data["parameters"])))
        if len(self._stand_ins) < MOST_KEYS:
            self._stand_ins[handle] = (data, stand_in)
        return stand_in

    def _foreseen(self, handle: int, args: tuple, named: dict) -> Callable | None:
        """What a call comes to, if it was asked for before or is now, with all that come next."""
        if self.foreseen is None or not self.foreseen.is_next(handle, args, named):
            self._answers.clear()
        elif not self._answers:
            self._answers.extend(self._asked_at_once(self.foreseen.coming()))
        return self._answers.popleft() if self._answers else None

    def _asked_at_once(self, calls: list[Call]) -> list[Callable]:
        try:
            told = self.ask(ask="calls", calls=[[c.function, *self._encoded(c)] for c in calls])
        except Exception:  # too much for one message, or too slow: then one after the other
            self.foreseen = None  # for all that come, which would be as much
            return []
        if not _are_tuples(told, 2) or len(told) != len(calls):
            return []
        return [functools.partial(_told, *one) for one in told]

    def _encoded(self, call: Call) -> tuple[list, dict]:
        named = {name: self.encode(x) for name, x in call.named.items()}
        return [self.encode(x) for x in call.args], named

    def in_a_row_there(self, initial: Any, step: Any, *args: Any) -> Any:
        """Ask for the outputs of a loop over a state that stays there."""
        handle = initial.home_of_stand_in[1] if initial else None
        there = {"initial": handle, "step": step.home_of_stand_in[1]}
        return self.ask(ask="in a row", **there, args=self.encode(list(args)))


class Call(NamedTuple):
    """A call of a function over there, which is known by its number."""

    function: int
    args: tuple
    named: dict
    key: tuple


class Foreseen:
    """The calls that a check makes, as it made them of the answer before that it asked most.

    All answers to an exercise are asked the same, in one order. So from its second call on, what
    comes next is known, and one message asks for all of it. Functions are known by the order in
    which they are called first, as those of another answer have other handles.
    """

    def __init__(self) -> None:
        self._longest: list[Call] = []
        self._made: list[Call] = []
        self._handles: list[int] = []

    def begin(self) -> None:
        """The check is called with another answer."""
        if len(self._made) > len(self._longest):
            self._longest = self._made
        self._made, self._handles = [], []

    def is_next(self, handle: int, args: tuple, named: dict) -> bool:
        """Is this call the one that was made at this place before? It is noted either way."""
        if handle not in self._handles:
            self._handles.append(handle)
        function, place = self._handles.index(handle), len(self._made)
        try:
            key = key_of(function, args, named)
        except NotPlain:
            key = ()
        if place < MOST_KEYS:
            self._made.append(Call(function, args, named, key))
        return 0 < place < len(self._longest) and bool(key) and self._longest[place].key == key

    def coming(self) -> list[Call]:
        """This call and those after it, up to one of a function that was not called yet."""
        calls = self._longest[len(self._made) - 1 :]
        known = itertools.takewhile(lambda c: c.key and c.function < len(self._handles), calls)
        return [c._replace(function=self._handles[c.function]) for c in known]


_PARAMETER_KINDS: Any = type(inspect.Parameter.VAR_KEYWORD)


def _parameter(about: list) -> inspect.Parameter:
    name, kind, has_default = about
    kinds = {k.name: k for k in _PARAMETER_KINDS}
    default = None if has_default else inspect.Parameter.empty
    return inspect.Parameter(word(name), kinds[kind], default=default)


def key_of(function: int, args: Any, named: dict) -> tuple:
    """What a call has in common with its likes alone; NotPlain if that cannot be told."""
    return function, len(args), *named, *map(_part, (*args, *named.values()))


def _part(value: Any) -> Any:
    kind = type(value)
    if kind is np.ndarray and value.dtype.char in NUMBERS:
        return value.dtype.str, value.shape, value.tobytes()
    if kind is str or value is None:
        return value
    if kind is float:
        return "float", value.hex()  # which tells 0 from -0, and is the same for every nan
    if kind is int or kind is bool:
        return kind.__name__, value
    if kind is np.float64 or kind is np.int64:
        return kind.__name__, value.tobytes()
    if kind is list or kind is tuple:
        return kind.__name__, tuple(map(_part, value))
    if kind is dict:
        return "dict", tuple([_part(x) for item in value.items() for x in item])
    if kind is types.FunctionType or isinstance(value, np.ufunc):
        return value
    raise NotPlain


def tried(do: Callable, *args: Any) -> tuple:
    """One of several things that are asked for: its value, or its error."""
    try:
        return ("value", do(*args))
    except Exception as error:
        return ("error", in_short(error))


def _are_tuples(told: Any, length: int) -> bool:
    return type(told) is list and all(type(x) is tuple and len(x) == length for x in told)


def _told(what: Any, value: Any) -> Any:
    """The value that was sent, or its error."""
    if what != "value":
        raise as_error(value)
    return value


# -- errors

_KNOWN = {
    name: kind
    for name, kind in vars(builtins).items()
    if isinstance(kind, type) and issubclass(kind, Exception)
} | {
    "LinAlgError": np.linalg.LinAlgError,
    "NotAttempted": NotAttempted,
    "WireError": WireError,
    "ReservedFunction": ReservedFunction,
}


@contextlib.contextmanager
def _telling_where(*functions: Any) -> Iterator[None]:
    """What is raised within has the line of these functions at which they stopped."""
    try:
        yield
    except Exception as error:
        with contextlib.suppress(Exception):
            vars(error)["stopped_at"] = where_it_stopped(error, functions)
        raise


class Elsewhere(Exception):
    """An error of a kind that only the other side knows."""


OF_A_CELL = re.compile(r" \(<cell [^>]*>, line (\d+)\)$")  # as syntax errors say where


def in_short(error: BaseException) -> dict:
    """An error as data: its type's name, and what it says."""
    try:
        says = OF_A_CELL.sub(r", in line \1", str(error)[:500])
    except Exception:
        says = ""
    where = getattr(error, "stopped_at", "")
    about = {"type": type(error).__name__, "says": says}
    return about | ({"where": where[:500]} if type(where) is str and where else {})


def as_error(data: Any) -> Exception:
    """The error that was sent: of the same kind where it is a common one, else of the same name."""
    if not isinstance(data, dict):
        return WireError("something went wrong, and it was not said what")
    name, says = word(data.get("type")), data.get("says")
    says = says[:500] if isinstance(says, str) else ""
    if name == "NotCounted":
        from selfcheck.meter import NotCounted

        return NotCounted(says)
    try:
        error = _KNOWN[name](says)
    except (KeyError, TypeError):
        error = type(name, (Elsewhere,), {})(says)
    where = data.get("where")
    vars(error)["stopped_at"] = where[:500] if isinstance(where, str) else ""
    return error
