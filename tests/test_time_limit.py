"""A student's function that runs for ever is stopped; one that prints for ever is cut."""

import contextlib
import io

import pytest

from selfcheck import time_limit
from selfcheck.calls import FunctionAnswer
from selfcheck.refusals import Unreadable
from selfcheck.time_limit import LimitedOutput


def endless(x):
    while True:
        with contextlib.suppress(Exception):
            x += 1


@pytest.mark.parametrize("function", [endless, lambda x: [endless(y) for y in [x]]])
def test_an_endless_function_is_stopped_with_a_sentence(function, monkeypatch):
    monkeypatch.setattr(time_limit, "SECONDS", 0.05)
    with pytest.raises(Unreadable, match=r"f\(1\) was stopped after .* Does one of its loops"):
        FunctionAnswer(function, "f")(1)


def test_the_next_call_has_its_time_again(monkeypatch):
    monkeypatch.setattr(time_limit, "SECONDS", 0.05)
    with pytest.raises(Unreadable):
        FunctionAnswer(endless, "f")(1)
    assert FunctionAnswer(lambda x: x + 1, "g")(1) == 2
    assert not time_limit._Running.now


def test_what_is_printed_without_end_is_cut_and_said(capsys, monkeypatch):
    monkeypatch.setattr(time_limit, "PRINTED", 20)

    def chatty(x):
        for line in range(1000):
            print("line", line)
        return x

    assert FunctionAnswer(chatty, "f")(1) == 1
    out = capsys.readouterr().out
    assert out.startswith("line 0\nline 1\nline 2")
    assert out.endswith("(more was printed here; it is left out)\n")
    assert len(out) < 100


def test_a_cut_stream_is_otherwise_the_stream_itself():
    out = io.StringIO()
    cut = LimitedOutput(out, 4)
    cut.writelines(["ab", "cd", "ef"])
    assert out.getvalue().startswith("abcd\n…")
    assert cut.getvalue() == out.getvalue()
