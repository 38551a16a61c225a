"""A derivation as an answer: it starts where it was told to, and gets there by steps.

How it is judged, in every unit alike. All lines have to be true. The exercise names its *steps*:
what has to be seen on the way, in whatever form, before the goal is first reached. Each step that
is taken earns its share, and the goal earns the rest; but a jump from the start to the goal, with
no step between, is no derivation and earns nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from .verdicts import Verdict, partly, refuted, right, wrong


def once(judge: Callable[..., Any]) -> Callable[..., Any]:
    """A report on the lines of an answer is computed once, however often a check asks for it."""
    known: list[tuple[Any, ...]] = []

    def report(lines: list[Any], *how: Any) -> Any:
        for same, options, found in known:
            if same is lines and options == how:
                return found
        found = judge(lines, *how)
        known[:] = [*known[-3:], (lines, how, found)]
        return found

    return report


class Step(NamedTuple):
    """What has to be seen on the way: how a sentence asks for it, and how it is recognized."""

    asked: Callable[[list[Any]], str]  # what a sentence says of lines without it
    taken: Callable[[list[Any]], bool]  # by the lines up to where the goal is first reached


def some_line(has: Callable[[Any], bool], asked: str) -> Step:
    """The step that one of the lines is of this kind."""
    return Step(lambda _: asked, lambda lines: any(has(line) for line in lines))


class Way(NamedTuple):
    """From the start to the goal: the steps between them, and what the goal looks like."""

    steps: tuple[Step, ...]
    goal: Callable[[Any], bool]
    not_there: str  # a sentence about a last line that is not the goal

    def follow(self, lines: list[Any]) -> tuple[int, str]:
        """Of 1 + len(steps) parts, those earned by true lines, and what is missing in words."""
        reached = next((k for k, line in enumerate(lines) if self.goal(line)), None)
        walked = lines if reached is None else lines[: reached + 1]
        missing = [step for step in self.steps if not step.taken(walked)]
        taken = len(self.steps) - len(missing)
        if reached != len(lines) - 1 and not self.goal(lines[-1]):
            return taken, f"Every line is true, but {self.not_there}"
        if not missing:
            return 1 + taken, ""
        asked = " and ".join(step.asked(walked) for step in missing)
        jump = "this is a jump: " if not taken else ""
        return taken + bool(taken), f"Every line is true, but {jump}{asked}."


def judge_steps(report: Any, lines: list[Any], way: Way, points: int, says: str) -> Verdict:
    """The verdict on a derivation; `says` praises one that is complete."""
    if not report.holds:
        return refuted(report)
    earned, missing = way.follow(lines)
    if not missing:
        return right(f"{report.sentence} {says}")
    share = points * earned // (1 + len(way.steps))
    return partly(share, missing) if share else wrong(missing)
