"""The points so far over all exercise notebooks of the course folder, read from what was saved.

Nothing is executed: the verdicts are those that stand below the checks in the saved files. The
maxima come from the exercises themselves.

    from selfcheck.students.progress import progress

    progress()
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..course import course_root, current
from ..facts import Facts
from ..feedback import Outcome
from ..files import CourseError
from ..prose import prose_beside, read_prose
from ..units import listed

if TYPE_CHECKING:
    from ..exercises import Exercise

# How Feedback writes itself; a test sends every outcome through both.
VERDICT = re.compile(
    r"(?P<number>[0-9.]+) (?P<name>\w+): "
    rf"(?P<outcome>partly right|{'|'.join(Outcome)}), (?P<earned>[0-9]{{1,9}}) of [0-9]+ points?\."
)
NOT_STARTED, NOT_READABLE = "not started", "cannot be read"


@dataclass(frozen=True)
class Unit:
    """One exercise notebook: points earned of points declared, exercises solved of all."""

    name: str
    earned: int
    points: int
    state: str
    wrong: tuple[Facts, ...] = ()  # attempted, and not wholly right when it was saved

    @property
    def score(self) -> str:
        """The points in words."""
        return f"{self.earned} of {self.points}"


@dataclass(frozen=True)
class Progress:
    """A row a unit, the total, and a sentence for each notebook that could not be counted."""

    units: tuple[Unit, ...]
    problems: tuple[str, ...] = ()

    @property
    def total(self) -> Unit:
        """The sum over all units."""
        earned, points = sum(u.earned for u in self.units), sum(u.points for u in self.units)
        return Unit("total", earned, points, "")

    def __repr__(self) -> str:
        rows = [("unit", "points", "exercises")]
        rows += [(unit.name, unit.score, unit.state) for unit in (*self.units, self.total)]
        wide, narrow = (max(len(row[column]) for row in rows) for column in (0, 1))
        lines = [
            f"{name:<{wide}}  {score:>{narrow}}  {state}".rstrip() for name, score, state in rows
        ]
        return "\n".join([*lines, *self._to_practice(), *self.problems])

    def _to_practice(self) -> list[str]:
        """What went wrong, those first that can be practiced."""
        wrong = [e for unit in self.units for e in unit.wrong]
        again = [e for unit in self.units for e in _practicable(unit)]
        lines = []
        if again:
            calls = ", ".join(f"{e.number} `check.{e.name}.practice()`" for e in again[:5])
            lines.append(f"Not right yet, and there is practice: {calls}.")
        if others := [e for e in wrong if e not in again]:
            names = ", ".join(f"{e.number} {e.title}" for e in others[:8])
            lines.append(f"Not right yet: {names}.")
        return lines


def _practicable(unit: Unit) -> list[Facts]:
    """What went wrong in a unit and can be practiced."""
    prose = read_prose(prose_beside(current().check_file(unit.name.partition("_")[2])))
    names = {section.name for section in prose if section.practice}
    return [e for e in unit.wrong if e.name in names]


def progress(root: Path | None = None) -> Progress:
    """Show a bar a unit in the notebook, and return the same as a table."""
    found = collect(root)
    _show_bars(found)
    return found


def collect(root: Path | None = None) -> Progress:
    """Read the saved verdicts of all exercise notebooks in the course folder."""
    folder = (course_root() if root is None else root) / "exercises"
    paths = sorted(folder.glob("*.ipynb"))
    if not paths:
        raise CourseError(f"There are no exercise notebooks in {folder}.")
    units, problems = [], []
    for path in paths:
        exercises = listed(path.stem)
        if not exercises:
            problems.append(f"{path.name} is not counted: it has the name of no unit.")
            continue
        try:
            earned = points_in(path, exercises)
            exercises = _asked_in(path, exercises)
            state = _state(earned, exercises)
        except CourseError as problem:
            earned, state = {}, NOT_READABLE
            problems.append(str(problem))
        wrong = tuple(e for e in exercises if earned.get(e.name, e.points) < e.points)
        points = sum(e.points for e in exercises)
        units.append(Unit(path.stem, sum(earned.values()), points, state, wrong))
    return Progress(tuple(units), tuple(problems))


def points_in(path: Path, exercises: Sequence[Facts | Exercise]) -> dict[str, int]:
    """The points of the exercises that were checked; where several verdicts stand, the last."""
    most = {e.name: e.points for e in exercises}
    return {
        name: min(earned, most[name]) for name, (_, earned) in verdicts_in(path, exercises).items()
    }


def _asked_in(path: Path, exercises: tuple[Facts, ...]) -> tuple[Facts, ...]:
    """The exercises of a sheet, which may have been released without those beyond the page."""
    text = path.read_bytes()
    for without, out in {b"transfer": True, b"essentials": False}.items():
        if b'scoreboard(without=\\"' + without in text:
            return tuple(e for e in exercises if e.is_transfer is not out)
    return exercises


def verdicts_in(path: Path, exercises: Sequence[Facts | Exercise]) -> dict[str, tuple[str, int]]:
    """The saved outcome and points of each exercise that was checked."""
    known = {(e.number, e.name) for e in exercises}
    found = {}
    for text in _saved_texts(path):
        verdict = VERDICT.match(text)
        if verdict and (verdict["number"], verdict["name"]) in known:
            found[verdict["name"]] = verdict["outcome"], int(verdict["earned"])
    return found


def _saved_texts(path: Path) -> Iterator[str]:
    """The results in a saved notebook as plain text, from top to bottom."""
    advice = "Take its last copy from exercises/.ipynb_checkpoints, or begin with a new one."
    try:
        for cell in json.loads(path.read_bytes())["cells"]:
            for output in cell.get("outputs", []):
                yield _joined(output.get("data", {}).get("text/plain", ""))
    except OSError as error:
        raise CourseError(f"{path.name} cannot be read: {error.strerror}.") from None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        raise CourseError(f"{path.name} cannot be read: it is no notebook. {advice}") from None


def _joined(text: Any) -> str:
    return text if isinstance(text, str) else "".join(text)


def _state(earned: dict[str, int], exercises: Sequence[Facts]) -> str:
    if not earned:
        return NOT_STARTED
    solved = sum(earned.get(e.name) == e.points for e in exercises)
    return f"{solved} of {len(exercises)} right"


def _show_bars(found: Progress) -> None:
    """A bar a unit: hatched for the points earned, empty for those still open."""
    from .. import style  # with matplotlib, for the picture alone

    units, total = found.units[::-1], found.total  # the axis grows upward
    names = [unit.name for unit in units]
    fig, ax = style.figure(height=1.3 + 0.32 * len(units))
    ax.barh(names, [u.points for u in units], color="white", edgecolor="black", label="open")
    ax.barh(
        names,
        [u.earned for u in units],
        color=style.COLORS["sky"],
        edgecolor="black",
        hatch="///",
        label="earned",
    )
    for unit in units:
        ax.annotate(
            unit.state if unit.state in (NOT_STARTED, NOT_READABLE) else unit.score,
            (unit.points, unit.name),
            xytext=(4, 0),
            textcoords="offset points",
            va="center",
        )
    ax.set(xlabel="points", ylabel="unit", title=f"{total.score} points so far")
    ax.set_xlim(0, 1.25 * max((u.points for u in units), default=1))
    ax.grid(False, axis="y")
    fig.legend(loc="outside lower right", ncols=2)
    style.show(fig, alt=_in_words(found), caption="Read from the saved notebooks: save, then look.")


def _in_words(found: Progress) -> str:
    bars = "; ".join(
        f"{unit.name} {NOT_STARTED if unit.state == NOT_STARTED else unit.score}"
        for unit in found.units
    )
    return f"One bar a unit with the points earned and those open. {bars}; {found.total.score} all."
