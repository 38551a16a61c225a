"""A large class in one run: all get what they were built to earn, and memory is flat."""

import contextlib
import json
import os
import random
import resource
import textwrap
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

from classroom.grading.gradebook import NAME, Gradebook
from classroom.grading.options import Options
from classroom.grading.pipeline import Done, grade
from classroom.roles import called_check
from course_utils.checks import lookup as check
from selfcheck.units import declared
from tests.classroom.grading.making import ALL, ROOT, UNIT, notebook, solved

SIZE = 400  # `make benchmark ARGS=scale` grades thousands
MORE = 55 << 10  # bytes for each submission beyond the first hundred: what files and caches add
TRIED = 0.4  # the share of exercises that a student sets about; the others stay as they were
EXERCISES = {exercise.name: exercise for exercise in declared(UNIT)}
FOLLOWS = {"sharpness": "leak", "regression": "lookup"}  # judged with the student's own answer
REGRESSION = """
def regression_inputs(x_new, x, y, M):
    K = np.column_stack([x, -(M**2) * x**2])
    Q = np.sqrt(2) * np.column_stack([2 * M**2 * x_new, np.ones(len(x_new))])
    return Q, K, {value}
"""
LOOKUP = """
def keys(X, M): return np.column_stack([X, {norm} * (X**2).sum(axis=1)])
def queries(Y, M):
    Q = np.column_stack([{dot} * M**2 * Y, np.ones(len(Y))])
    return np.sqrt(Q.shape[1]) * Q
"""
BROKEN = {
    "an empty file": b"",
    "a file that is cut off": json.dumps(notebook(solved())).encode()[:700],
    "a file of another kind": b"%PDF-1.7",
    "an old format": json.dumps({**notebook(solved()), "nbformat": 3}).encode(),
    "no cells": b'{"nbformat": 4, "cells": []}',
}


class Answer(NamedTuple):
    """What stands in an answer cell, what it earns, and the mistake that should be recognized."""

    source: str | None
    earned: int
    misconception: str | None = None


def answers(name: str) -> list[Answer]:
    """Answers to an exercise: right, not attempted, broken, and all its known mistakes."""
    exercise = EXERCISES[name]
    right = REGRESSION.format(value="y[:, None]") if name == "regression" else None
    right = right or solved()[f"answer-{name.replace('_', '-')}"]
    found = [Answer(right, exercise.points)] * 4
    found += [Answer(None, 0), Answer("raise ValueError('so far')", 0), Answer("x = (", 0)]
    return [*found, blank(name), *_mistakes(name)]


def blank(name: str) -> Answer:
    """An answer that nobody has begun."""
    return Answer("\n".join(f"{part} = ____" for part in asked_for(name)), 0)


def asked_for(name: str) -> tuple[str, ...]:
    """What the check of an exercise is called with in the notebook."""
    arguments = called_check(solved()[f"check-{name.replace('_', '-')}"]).arguments
    return tuple(argument for argument in arguments if argument != "student")


def _mistakes(name: str) -> Iterator[Answer]:
    exercise = EXERCISES[name]
    if name == "lookup":
        yield _mistake(LOOKUP.format(norm="M**2", dot="2"), "norm term with a plus sign")
        yield _mistake(LOOKUP.format(norm="-(M**2)", dot="1"), "the 2 lost")
        yield _mistake(LOOKUP.format(norm="-1", dot="2"), "M² missing in the norm term")
    elif name == "regression":
        yield Answer(REGRESSION.format(value="0 * y[:, None]"), 0)
    elif not exercise.is_transfer:  # those have functions and numbers of one's own
        variable, *_ = asked_for(name)
        for misconception in exercise.misconceptions:
            example, *_ = misconception.example
            plain = example.tolist() if isinstance(example, np.ndarray) else example
            earned = exercise(plain).earned
            yield Answer(f"{variable} = {plain!r}", earned, misconception.name)


@cache
def in_a_notebook(name: str, before: str | None, source: str | None) -> tuple[int, str | None]:
    """What an answer earns behind an earlier one that its check is given too, and the mistake."""
    names: dict[str, object] = {}
    for cell in (solved()["imports"], before, source):
        with contextlib.suppress(Exception):
            exec(textwrap.dedent(cell or ""), names)
    asked, *earlier = asked_for(name)
    if asked not in names:
        return 0, None
    feedback = EXERCISES[name](names[asked], *(names.get(part) for part in earlier))
    return feedback.earned, feedback.misconception


def _mistake(source: str, misconception: str) -> Answer:
    names = {"np": np}
    exec(source, names)
    feedback = check.lookup(names["keys"], names["queries"])
    assert feedback.misconception == misconception
    return Answer(source, feedback.earned, misconception)


def hand_in_a_class(folder: Path) -> dict[str, dict[str, Answer] | None]:
    """The submissions, and for each what was answered; None where the file is broken."""
    chance, offered = random.Random(7), {name: answers(name) for name in ALL}
    handed_in: dict[str, dict[str, Answer] | None] = {}
    for number in range(SIZE):
        student = f"student{number:04}"
        path = folder / student / f"{UNIT}.ipynb"
        path.parent.mkdir(parents=True)
        if number % 20 == 19:
            path.write_bytes(list(BROKEN.values())[number // 20 % len(BROKEN)])
            handed_in[student] = None
            continue
        given = {
            name: chance.choice(offered[name]) if chance.random() < TRIED else blank(name)
            for name in ALL
        }
        cells = solved()
        for name, answer in given.items():
            place = f"answer-{name.replace('_', '-')}"
            cells[place] = textwrap.dedent(answer.source or "")
            if answer.source is None:
                del cells[place]
            if name in FOLLOWS:
                before = given[FOLLOWS[name]].source
                given[name] = Answer(answer.source, *in_a_notebook(name, before, answer.source))
        path.write_text(json.dumps(notebook(cells)), encoding="utf-8")
        handed_in[student] = given
    return handed_in


class Memory:
    """The memory of this process and of all that it started, when 100 and when all are done."""

    def __init__(self) -> None:
        self.seen: dict[int, dict[str, int]] = {}

    def __call__(self, done: Done) -> None:
        if done.number in (100, done.of):
            self.seen[done.number] = _resident_by_command(os.getpid())


def _resident_by_command(ancestor: int) -> dict[str, int]:
    """The largest resident memory by kind of process: this one, judges, warm processes."""
    parents, about = {}, {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
                command = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
            except OSError:
                continue
            parents[int(entry.name)] = int(fields[1])
            about[int(entry.name)] = command, int(fields[21]) * resource.getpagesize()
    largest: dict[str, int] = {}
    for process, (command, resident) in about.items():
        line = [process]
        while line[-1] in parents and line[-1] != ancestor:
            line.append(parents[line[-1]])
        if line[-1] == ancestor and "bwrap" not in command:
            kind = next((k for k in ("grading.judge", "grading.child") if k in command), "main")
            largest[kind] = max(largest.get(kind, 0), resident)
    return largest


def test_all_submissions_earn_what_they_were_built_to_earn_in_flat_memory(tmp_path, bubblewrap):
    handed_in, memory = hand_in_a_class(tmp_path / "class"), Memory()
    run = grade(ROOT, tmp_path / "class", tmp_path / "grades", Options(unit=UNIT, jobs=2), memory)
    assert (run.graded, run.unchanged, run.unplaced) == (SIZE, 0, ())
    with Gradebook(tmp_path / "grades" / NAME) as book:
        graded = {submission.student: submission for submission in book.all()}
    assert graded.keys() == handed_in.keys()
    for student, given in handed_in.items():
        results = {result.name: result for result in graded[student].results}
        if given is None:
            assert graded[student].problem, student
            assert graded[student].earned == 0
            continue
        assert graded[student].problem is None
        for name, answer in given.items():
            seen = results[name].earned, results[name].misconception
            assert seen == (answer.earned, answer.misconception), (student, results[name])

    early, late = memory.seen[100], memory.seen[SIZE]
    assert early.keys() == late.keys() == {"main", "grading.judge", "grading.child"}
    for kind in late:
        assert late[kind] < early[kind] + (SIZE - 100) * MORE, (kind, early, late)
