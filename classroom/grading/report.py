"""The class report: one HTML page from which an instructor understands the class in two minutes.

Every picture stands beside a table with the same numbers, so that nobody needs the picture.
"""

from __future__ import annotations

import base64
import statistics
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from markupsafe import Markup

from course_utils import style
from course_utils.exercise import Outcome

from .class_numbers import PARTLY, STATES, WEAK, ExerciseNumbers, UnitNumbers, by_unit
from .feedback import page_path, render
from .records import Mark

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

NAMES_SHOWN = 40  # a longer list helps nobody; grades.csv has all
MISTAKES_SHOWN = 8  # the others are folded
LOOKS = {
    Outcome.RIGHT: ("green", ""),
    PARTLY: ("sky", "///"),
    Outcome.WRONG: ("orange", "\\\\"),
    Outcome.UNCHECKED: ("amber", ".."),
    Outcome.NOT_ATTEMPTED: (None, ""),
}


def page(marks: Sequence[Mark], walls: str = "") -> str:
    """The report on all units of these marks; `walls` says which limits were in force."""
    units = [_section(unit) for unit in by_unit(marks)]
    about = {"shown": NAMES_SHOWN, "states": STATES, "link": _link, "walls": walls}
    return render("class_report", units=units, **about)


def _link(mark: Mark) -> str:
    """To the student's page, from the report beside it."""
    return quote(str(page_path(mark)))


def _section(unit: UnitNumbers) -> dict[str, Any]:
    """What the template shows of one unit."""
    return {
        "numbers": unit,
        "findings": list(_findings(unit)),
        "distribution": _distribution(unit) if unit.totals else "",
        "bins": _bins(unit),
        "outcomes": _outcomes(unit) if unit.exercises else "",
        "mistakes": unit.mistakes[:MISTAKES_SHOWN],
        "rarer": unit.mistakes[MISTAKES_SHOWN:],
        "students": sorted(unit.marks, key=lambda m: (-m.earned, m.graded.student)),
        "time": _time(unit),
    }


# -- in words -------------------------------------------------------------------------------------


def _findings(unit: UnitNumbers) -> Iterator[str]:
    """The sentences at the top: what an instructor would tell a colleague."""
    if len(unit.totals) > 1:
        yield (
            f"Half of the class has {unit.median:g} of {unit.points} points or more; "
            f"the mean is {statistics.mean(unit.totals):.1f}."
        )
    if unit.exercises:
        hardest = min(unit.exercises, key=lambda e: e.share)
        yield (
            f"The hardest exercise is {hardest.number} {hardest.name}: on average "
            f"{hardest.share:.0%} of its points were earned."
        )
    if unit.mistakes:
        first = unit.mistakes[0]
        yield (
            f"The most common known mistake is “{first.name}” in {first.exercise}: "
            f"{_counted(first.count, 'student')} ({first.share:.0%})."
        )
    yield from _doubts(unit)
    look = len(unit.to_look_at)
    yield (
        f"{_counted(look, 'submission')} to look at by hand."
        if look
        else ("No submission needs a look by hand.")
    )


def _doubts(unit: UnitNumbers) -> Iterator[str]:
    told = [(e, e.discrimination) for e in unit.exercises]
    weak = [e for e, number in told if number is not None and number < WEAK]
    if weak:
        names = ", ".join(f"{e.number} {e.name}" for e in weak)
        yield f"Who does well elsewhere does hardly better in {names}: is the question clear?"


def _bins(unit: UnitNumbers) -> list[tuple[str, int]]:
    """Totals in at most 16 steps, with the number of students in each."""
    step = max(1, -(-(unit.points + 1) // 16))
    counts = Counter(total // step for total in unit.totals)
    starts = range(0, unit.points + 1, step)
    ends = [min(start + step - 1, unit.points) for start in starts]
    labels = [str(a) if a == b else f"{a}–{b}" for a, b in zip(starts, ends, strict=True)]
    return [(label, counts[place]) for place, label in enumerate(labels)]


def _time(unit: UnitNumbers) -> str:
    if not unit.seconds:
        return ""
    slowest = max(unit.marks, key=lambda m: m.graded.seconds)
    return (
        f"{sum(unit.seconds):.1f} s for {_counted(len(unit.marks), 'submission')}, "
        f"{statistics.median(unit.seconds):.2f} s in the median; the slowest took "
        f"{slowest.graded.seconds:.1f} s ({slowest.graded.student})"
    )


def _counted(number: int, thing: str) -> str:
    return f"{number} {thing}" + ("" if number == 1 else "s")


# -- in pictures ----------------------------------------------------------------------------------


def _distribution(unit: UnitNumbers) -> Markup:
    labels, counts = zip(*_bins(unit), strict=True)
    fig, ax = style.figure(height=2.8)
    ax.bar(labels, counts, color=style.COLORS["sky"], edgecolor="black", width=0.9)
    ax.set(
        xlabel=f"points of {unit.points}",
        ylabel="students",
        title=f"Median {unit.median:g} of {unit.points} points",
    )
    ax.yaxis.get_major_locator().set_params(integer=True)
    ax.grid(False, axis="x")
    alt = "Bars: how many students have how many points. " + "; ".join(
        f"{label}: {count}" for label, count in zip(labels, counts, strict=True) if count
    )
    return _picture(fig, alt)


def _outcomes(unit: UnitNumbers) -> Markup:
    """Two panels: what came out of each exercise, and how well it tells students apart."""
    rows = unit.exercises[::-1]  # the axis grows upward
    names = [f"{e.number} {e.name}, {e.share:.0%}" for e in rows]
    height = 1.6 + 0.34 * max(3, len(rows))
    if any(e.discrimination is not None for e in rows):
        panels: dict[str, Any] = {"width": 9, "sharey": True, "width_ratios": (2, 1)}
        fig, (left, right) = style.figure(1, 2, height=height, **panels)
        _draw_discrimination(right, rows, names)
    else:
        fig, left = style.figure(height=height, width=9)
    total = [max(1, sum(e.states.values())) for e in rows]
    start = [0.0] * len(rows)
    for state in STATES:
        color, hatch = LOOKS[state]
        widths = [100 * e.states[state] / n for e, n in zip(rows, total, strict=True)]
        left.barh(
            names,
            widths,
            left=start,
            color=style.COLORS[color] if color else "white",
            hatch=hatch,
            edgecolor="black",
            linewidth=0.6,
            label=str(state),
        )
        start = [a + b for a, b in zip(start, widths, strict=True)]
    left.set(xlabel="% of the students", title="What came out", xlim=(0, 100))
    left.set_ylabel("exercise")
    left.grid(False, axis="y")
    fig.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=5)
    alt = "Stacked bars: the outcomes of each exercise, and its correlation with the rest. "
    alt += "; ".join(f"{e.number} right for {e.states[Outcome.RIGHT]}" for e in unit.exercises)
    return _picture(fig, alt)


def _draw_discrimination(ax: Axes, rows: list[ExerciseNumbers], names: list[str]) -> None:
    known = {n: e.discrimination for n, e in zip(names, rows, strict=True)}
    values = [float("nan") if value is None else value for value in known.values()]
    lowest = min(0.0, *(value for value in known.values() if value is not None))
    ax.axvspan(-1, WEAK, color="#EEEEEE", zorder=0)
    ax.plot(values, names, "o", color=style.COLORS["blue"])
    ax.set(xlabel="correlation; gray is weak", title="Correlation with the rest")
    ax.set_xlim(lowest - 0.1, 1.05)


def _picture(fig: Figure, alt: str) -> Markup:
    width, height = (round(inches * style.DPI) for inches in fig.get_size_inches())
    source = "data:image/png;base64," + base64.b64encode(style.png_of(fig)).decode()
    tag = '<img src="{}" alt="{}" width="{}" height="{}">'
    return Markup(tag).format(source, style.one_line(alt, "alt text"), width, height)
