"""What it costs to group wrong answers: the same submissions judged with and without signing them.

Each submission is judged six times in a row by one judge in one sandbox, in turns so that wrong
answers without a known mistake are signed and so that they are not; of each three the fastest
counts, since whatever else the machine does can only slow it down. Then the records are grouped as
those of a class of a thousand. The ratio is of both together to judging alone; one core, wall time.
A student answers right, makes a known mistake or one that nobody knows, by chance (70, 20 and 10 of
100).
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from unittest.mock import patch

from benchmarks.core import Report, significant
from classroom.grading.asked import Solutions
from classroom.grading.behavior import Reference
from classroom.grading.clusters import group
from classroom.grading.judge import Job, Judging, judge
from classroom.grading.records import Graded
from classroom.grading.sandbox import Limits, Sandbox
from classroom.roles import called_check
from selfcheck.units import declared

ROOT = Path(__file__).parents[1]
CLASS, SUBMISSIONS, UNIT = 1000, 20, "06_counting_cost"
ORDER = (True, False, False, True, True, False)
CHANCES = {"right": 70, "known": 20, "unknown": 10}
TRIPLED = """
import inspect
def _tripled(right):
    if inspect.isfunction(right):
        return lambda *args: 3 * np.asarray(right(*args))
    return f"3*({{right}})" if isinstance(right, str) else 3 * right
{name} = _tripled({name})
"""


class Class:
    """Students of a unit, drawn one by one."""

    def __init__(self, unit: str) -> None:
        solutions = Solutions(ROOT)
        self.unit, self.asked = unit, [list(cell) for cell in solutions.asked(unit)]
        self.solved = {cell.id: cell.source for cell in solutions.cells(unit)}
        self.exercises = {e.name: e for e in declared(unit)}
        calls = map(called_check, self.solved.values())
        self.arguments = {call.exercise: call.arguments for call in calls if call}

    def job(self, number: int) -> Job:
        """The submission of one student."""
        chance, cells = random.Random(number), dict(self.solved)
        for name in self.exercises:
            place = f"answer-{name.replace('_', '-')}"
            (kind,) = chance.choices(list(CHANCES), list(CHANCES.values()))
            cells[place] = self._answer(name, cells[place], kind, chance)
        return Job(
            student=f"s{number}",
            unit=self.unit,
            file="f",
            digest="",
            solution=self.asked,
            cells=[list(cell) for cell in cells.items()],
            limits=asdict(Limits()),
            seed="class",
        )

    def _answer(self, name: str, right: str, kind: str, chance: random.Random) -> str:
        known = [m.example for m in self.exercises[name].misconceptions]
        texts = [e for e in known if all(isinstance(part, str | int | float) for part in e)]
        if kind == "known" and texts:
            example = chance.choice(texts)
            return "\n".join(
                f"{a} = {v!r}" for a, v in zip(self.arguments[name], example, strict=False)
            )
        if kind == "unknown":
            return right + TRIPLED.format(name=self.arguments[name][-1])
        return right


def judged(jobs: Iterator[Job], unit: str) -> tuple[dict[bool, float], list[Graded], dict]:
    """Seconds with and without signing, the records, and what the solution gives."""
    seconds, records = {True: 0.0, False: 0.0}, []
    quiet = patch.object(Judging, "_sign_all", lambda self, there: None)
    with Sandbox(sandboxed=True, number=os.getpid() % 4000) as sandbox:
        first = next(jobs)
        solution = [list(cell) for cell in Class(unit).solved.items()]
        answer = judge(replace(first, cells=solution, is_solution=True), sandbox)  # and warm
        for number, job in enumerate(jobs):
            took: dict[bool, list[float]] = {True: [], False: []}
            for signing in ORDER if number % 2 else ORDER[::-1]:
                start = time.perf_counter()
                if signing:
                    done = judge(job, sandbox)
                else:
                    with quiet:
                        judge(job, sandbox)
                took[signing].append(time.perf_counter() - start)
            for signing, times in took.items():
                seconds[signing] += min(times)
            records.append(Graded.from_dict(done["graded"]))
    return seconds, records, answer["references"]


def measure(report: Report) -> None:
    """The milliseconds per submission, and the ratio."""
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
    class_ = Class(UNIT)
    jobs = (class_.job(number) for number in range(SUBMISSIONS + 1))
    seconds, records, told = judged(jobs, UNIT)
    references = {name: Reference.from_dict(data) for name, data in told.items()}
    copies = range(-(-CLASS // len(records)))
    everyone = [replace(r, student=f"{r.student} {k}") for k in copies for r in records][:CLASS]
    start = time.perf_counter()
    families = group(everyone, references)
    grouping = (time.perf_counter() - start) / len(everyone)
    plain, signed = (seconds[way] / len(records) for way in (False, True))
    wrong = sum(len(r.signatures) for g in records for r in g.results)
    answers = sum(len(g.results) for g in records)
    rows = [
        ["judging alone", significant(1000 * plain), "1"],
        ["judging and signing", significant(1000 * signed), f"{signed / plain:.3f}"],
        [f"grouping {len(everyone)}, {len(families)} families", significant(1000 * grouping), ""],
        ["all", significant(1000 * (signed + grouping)), f"{(signed + grouping) / plain:.3f}"],
    ]
    report.table([f"{len(records)} submissions of {UNIT}", "ms per submission", "× judging"], rows)
    report.say(f"{wrong} of {answers} answers were signed.")
