"""The points of a notebook so far, as a table."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path

from .cards import AS_SAVED, Row, counted, points_table, total
from .exercises import EXERCISES, Exercise
from .files import CourseError
from .students.progress import verdicts_in


class Scoreboard:
    """The points of this notebook so far, a row an exercise; those beyond the page stand apart."""

    def __init__(self, exercises: Sequence[Exercise]) -> None:
        saved = _saved(exercises)
        groups = {"Essentials": False, "Beyond the page": True}
        self.groups: dict[str, list[Row]] = {
            title: [
                Row(e.number, e.name, *_state(e, saved), e.points, e.title)
                for e in exercises
                if e.is_transfer is transfer
            ]
            for title, transfer in groups.items()
        }
        self.rows = [row for rows in self.groups.values() for row in rows]
        self.earned, self.points = total(self.rows)

    def __repr__(self) -> str:
        width = max((len(name) for _, name, *_ in self.rows), default=0)
        lines = []
        for title, rows in self.groups.items():
            lines += [
                f"{number:<5} {name:<{width}}  {earned} of {points}  {state}"
                for number, name, state, earned, points, _ in rows
            ]
            if self.groups["Beyond the page"]:
                lines.append(f"{title}: {counted(*total(rows))}")
        return "\n".join([*lines, f"Total: {counted(self.earned, self.points)}"])

    def _repr_html_(self) -> str:
        return points_table(self.groups)


def scoreboard(without: str = "") -> Scoreboard:
    """The points so far, over the units whose checks this notebook has called (else imported).

    `without="transfer"` leaves out what stands beyond the page, "essentials" all else.
    """
    called = {e.unit for e in EXERCISES if e.last} or {e.unit for e in EXERCISES}
    chosen = [e for e in EXERCISES if e.unit in called]
    out = {"transfer": True, "essentials": False}.get(without)
    return Scoreboard([e for e in chosen if e.is_transfer is not out])


def _state(exercise: Exercise, saved: Mapping[str, tuple[str, int]]) -> tuple[str, int]:
    """How it stands: by the last check in this kernel, else as it was saved."""
    if exercise.last:
        return exercise.last.headline, exercise.last.earned
    if exercise.name in saved:
        headline, earned = saved[exercise.name]
        return headline + AS_SAVED, min(earned, exercise.points)
    return "not run yet", 0


def _saved(exercises: Sequence[Exercise]) -> Mapping[str, tuple[str, int]]:
    """The verdicts in the saved file of this notebook, for those that were not run since."""
    path = Path(os.environ.get("JPY_SESSION_NAME", ""))  # Jupyter says so to its kernels
    if all(e.last for e in exercises) or path.suffix != ".ipynb" or not path.is_file():
        return {}
    try:
        return verdicts_in(path, exercises)
    except CourseError:
        return {}
