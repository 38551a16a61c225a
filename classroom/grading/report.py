"""The class report: one HTML page from which an instructor understands the class in two minutes.

Every picture stands beside words or a table with the same numbers, so that nobody needs the
picture, and all numbers lie beside the page as JSON and CSV. Without names it can be shown to all.
"""

from __future__ import annotations

import ast
import base64
import json
import re
import statistics
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from typing import Any
from urllib.parse import quote

from markupsafe import Markup

from selfcheck.units import titled
from selfcheck.units import units as all_units

from . import charts
from .class_numbers import STATES, WEAK, UnitNumbers, by_unit
from .clusters import Family
from .exports import csv_text
from .insights import PASSED, Insights
from .records import Mark, visible
from .student_pages import TEMPLATES, page_path, pieces

AGAIN_SHOWN = 3
NAMES_SHOWN = 40  # a longer list helps nobody; grades.csv has all
MISTAKES_SHOWN = 8  # the others are folded
FAMILIES_SHOWN = 8
TOGETHER_SHOWN = 6
LOOK_SHOWN = 240  # characters of a reason to look; the student's page has all of it
EXERCISE = re.compile(r"(\d+\.\d+) (\w+)(?=: )")  # at the beginning of a reason
CALLED = re.compile(r"(\w+)\(.*\) (?=raised |has |should )")  # with arrays, which are long
STOPPED = re.compile(r"\. It stopped at .*", re.DOTALL)
SCRIPT = (TEMPLATES / "class_report" / "sort.js").read_text(encoding="utf-8")


def page(
    marks: Sequence[Mark],
    protection: str = "",
    families: Sequence[Family] = (),
    secret: str = "",
    absent: Sequence[Mark] = (),
) -> Iterator[str]:
    """The report on all units of these marks, piece by piece: a large class has a long page.

    `protection` says which limits were in force, `absent` who handed in nothing.

    With a secret it has no names: from the secret come the ones that stand in their place.
    """
    names = [m.graded.student for m in marks] if secret else []
    marks = anonymized(marks, secret) if secret else marks
    insights = Insights(tuple(by_unit(marks)))
    sections = [_section(unit, families, names) for unit in insights.units]
    digest = base64.b64encode(sha256(SCRIPT.encode()).digest()).decode()
    about = {
        "shown": NAMES_SHOWN,
        "states": STATES,
        "link": _link,
        "protection": protection,
        "anonymous": bool(secret),
        "absent": absent,
        "script": Markup(SCRIPT),
        "script_hash": Markup(f"'sha256-{digest}'"),
        "heat": _heat,
        "look": _look,
    }
    titles = {unit.stem: unit.short_title for unit in all_units()}
    about |= {"title": lambda stem: titles.get(stem, stem), "summary": _summary(insights)}
    glance = _glance(insights, titles)
    return pieces("class_report", units=sections, insights=insights, **glance, **about)


def _summary(insights: Insights) -> str:
    """The class in a line: how many, how well, and the three things to take up again."""
    marks = [m for unit in insights.units for m in unit.graded]
    points = sum(m.points for m in marks)
    if not points:
        tried = sum(len(unit.marks) for unit in insights.units)
        return f"Of {_counted(tried, 'submission')} none could be graded." if tried else ""
    share = sum(m.earned for m in marks) / points
    students = len({m.graded.student for m in marks})
    exercises = [e for unit in insights.units for e in unit.exercises if e.share < 1]
    costly = sorted(exercises, key=lambda e: -e.lost)[:AGAIN_SHOWN]
    again = "; ".join(f"{titled(e.number, e.name)} ({e.share:.0%} earned)" for e in costly)
    most = f" Most points were lost in {again}." if again else ""
    lost = sum(m.deduction for m in marks) / points
    late = f"; {lost:.0%} were lost for being late" if lost else ""
    failed = sum(len(unit.marks) for unit in insights.units) - len(marks)
    out = f" {_counted(failed, 'submission')} could not be graded." if failed else ""
    share_of_all = f"{share:.0%} of the points on average"
    return f"{_counted(students, 'student')}, {share_of_all}{late}.{most}{out}"


def anonymized(marks: Sequence[Mark], secret: str) -> list[Mark]:
    """The marks under names that say nothing, in an order that says nothing."""

    def place(student: str) -> str:
        return sha256(f"{secret} {student}".encode("utf-8", "surrogatepass")).hexdigest()

    students = sorted({m.graded.student for m in marks}, key=place)
    width = len(str(len(students)))
    names = {student: f"Student {n:0{width}}" for n, student in enumerate(students, start=1)}
    return [replace(m, graded=replace(m.graded, student=names[m.graded.student])) for m in marks]


def _link(mark: Mark) -> str:
    """To the student's page, from the report beside it."""
    return quote(str(page_path(mark)))


def _look(reason: str) -> str:
    """Why to look at a submission, with the title of the exercise, in at most three lines."""
    titles = EXERCISE.match(reason)
    said = f"{titled(*titles.groups())}{reason[titles.end() :]}" if titles else reason
    said = CALLED.sub(r"\1(…) ", STOPPED.sub(".", said))
    return said if len(said) <= LOOK_SHOWN else f"{said[:LOOK_SHOWN]} …"


def _heat(earned: float | None, points: int) -> str:
    """How warm a cell is: n for nothing there, 0 for no points, to 4 for all."""
    if earned is None:
        return "n"
    if earned >= points:
        return "4"
    return "0" if not earned else str(1 + min(2, int(3 * earned / points)))


def _glance(insights: Insights, titles: Mapping[str, str]) -> dict[str, Any]:
    """What the template shows of the class as a whole."""
    again = insights.again
    due = [one for one in again if one.is_due]
    rows = [(titles.get(one.unit, one.unit), one.share, f"{one.share:.0%}") for one in again]
    label = "Bars: the share of the points that was earned in each unit. "
    label += "; ".join(f"{one.unit}: {one.share:.0%}" for one in again)
    return {
        "due": due,
        "again_picture": charts.shares(rows, label, PASSED) if rows else "",
        "together": [
            (pair, _together_picture(pair)) for pair in insights.together[:TOGETHER_SHOWN]
        ],
        "unfair": [(f, _fairness_picture(f)) for f in insights.fairness if f.is_unfair],
        "fair": [fair for fair in insights.fairness if not fair.is_unfair],
        "single": len(insights.units) == 1,
    }


def _together_picture(pair: Any) -> Markup:
    seen, chance = pair.both / pair.first_count, pair.by_chance / pair.first_count
    rows = [
        ("made both", seen, f"{pair.both} of {pair.first_count}"),
        ("by chance", chance, f"{pair.by_chance:.1f}"),
    ]
    return charts.shares(rows, f"Two bars: {pair.sentence}")


def _fairness_picture(fair: Any) -> Markup:
    rows = [
        (f"with {fair.trait}", fair.more.share, f"{fair.more.share:.0%}"),
        ("the others", fair.fewer.share, f"{fair.fewer.share:.0%}"),
    ]
    return charts.shares(rows, f"Two bars: {fair.sentence}")


def _section(unit: UnitNumbers, families: Sequence[Family], names: Sequence[str]) -> dict[str, Any]:
    """What the template shows of one unit; without `names` of students in it, if some are given."""
    mine = [family for family in families if family.unit == unit.unit]
    shared = [family for family in mine if len(family.members) > 1]
    return {
        "numbers": unit,
        "findings": list(_findings(unit, shared)),
        "distribution": _distribution(unit) if unit.totals else "",
        "bins": _bins(unit),
        "outcomes": _outcomes(unit) if unit.exercises else "",
        "separation": _separation(unit) if unit.exercises else "",
        "mistakes": unit.mistakes[:MISTAKES_SHOWN],
        "rarer": unit.mistakes[MISTAKES_SHOWN:],
        "families": [_family(family, unit, names) for family in shared[:FAMILIES_SHOWN]],
        "more_families": len(shared[FAMILIES_SHOWN:]),
        "alone": len(mine) - len(shared),
        "time": _time(unit, bool(names)),
    }


def _family(family: Family, unit: UnitNumbers, names: Sequence[str]) -> dict[str, Any]:
    answer, says = family.example.result.answer, family.says[:1].upper() + family.says[1:]
    if names:
        answer = _without_names(answer, names)
        says = says if not _names_somebody(says, names) else ""
    share = len(family.members) / max(1, len(unit.graded))
    return {"family": family, "answer": answer, "says": says, "share": share}


def _without_names(source: str, names: Sequence[str]) -> str:
    """The code without comments and texts, where people write names; else nothing."""
    try:
        tree = ast.parse(source)
        bare = ast.unparse(tree)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""
    texts = any(isinstance(n, ast.Constant) and isinstance(n.value, str) for n in ast.walk(tree))
    return "" if texts or _names_somebody(bare, names) else bare


def _names_somebody(text: str, names: Sequence[str]) -> bool:
    words = {word for name in names for word in re.findall(r"\w{3,}", name.casefold())}
    return bool(words & set(re.findall(r"[^\W_]{3,}", text.casefold())))


# -- in words -------------------------------------------------------------------------------------


def _findings(unit: UnitNumbers, families: Sequence[Family] = ()) -> Iterator[str]:
    """The sentences at the top: what an instructor would tell a colleague."""
    if len(unit.totals) > 1:
        yield (
            f"Half of the class has {unit.median:g} of {unit.points} points or more; "
            f"the mean is {statistics.mean(unit.totals):.1f}."
        )
    on, beyond = unit.share(False), unit.share(True)
    if on is not None and beyond is not None:
        yield f"On the page the class earned {on:.0%} of the points, beyond it {beyond:.0%}."
    hardest = min(unit.exercises, key=lambda e: e.share, default=None)
    if hardest and hardest.share == 1:
        yield "Nobody lost a point in an exercise."
    elif hardest:
        yield (
            f"The hardest exercise is {titled(hardest.number, hardest.name)}: on average "
            f"{hardest.share:.0%} of its points were earned."
        )
    if unit.mistakes:
        first = unit.mistakes[0]
        where = titled(*first.exercise.split(maxsplit=1))
        yield (
            f"The most common known mistake is “{first.name}” in {where}: "
            f"{_counted(first.count, 'student')} ({first.share:.0%})."
        )
    if families:
        largest = families[0]
        how = f", {largest.miss}" if largest.miss else ""
        yield (
            f"The most common mistake without a name is in {largest.heading}: "
            f"{_counted(len(largest.members), 'student')}{how}."
        )
    yield from _doubts(unit)
    look = len(unit.to_look_at)
    yield (
        f"{_counted(look, 'submission')} to look at by hand."
        if look
        else ("No submission needs a look by hand.")
    )


def _doubts(unit: UnitNumbers) -> Iterator[str]:
    weak = [e for e in unit.exercises if e.is_doubtful]
    if weak:
        names = "; ".join(titled(e.number, e.name) for e in weak)  # a title may have commas
        yield f"Who does well elsewhere does hardly better in {names}: is the question clear?"


def _bins(unit: UnitNumbers) -> list[tuple[str, int]]:
    """Totals in at most 16 steps, with the number of students in each."""
    step = max(1, -(-(unit.points + 1) // 16))
    counts = Counter(total // step for total in unit.totals)
    starts = range(0, unit.points + 1, step)
    ends = [min(start + step - 1, unit.points) for start in starts]
    labels = [str(a) if a == b else f"{a}–{b}" for a, b in zip(starts, ends, strict=True)]
    return [(label, counts[place]) for place, label in enumerate(labels)]


def _time(unit: UnitNumbers, anonymous: bool) -> str:
    if not unit.seconds:
        return ""
    slowest = max(unit.marks, key=lambda m: m.graded.seconds)
    whose = "" if anonymous else f" ({slowest.graded.student})"
    return (
        f"{sum(unit.seconds):.1f} s for {_counted(len(unit.marks), 'submission')}, "
        f"{statistics.median(unit.seconds):.2f} s in the median; the slowest took "
        f"{slowest.graded.seconds:.1f} s{whose}"
    )


def _counted(number: int, thing: str) -> str:
    return f"{number} {thing}" + ("" if number == 1 else "s")


# -- in pictures ----------------------------------------------------------------------------------


def _distribution(unit: UnitNumbers) -> Markup:
    bins = _bins(unit)
    label = "Bars: how many students have how many points. "
    label += "; ".join(f"{name}: {count}" for name, count in bins if count)
    return charts.columns(bins, f"points of {unit.points}; the median is {unit.median:g}", label)


def _outcomes(unit: UnitNumbers) -> Markup:
    rows = [
        (f"{titled(e.number, e.name)}, {e.share:.0%}", [e.states[s] for s in map(str, STATES)])
        for e in unit.exercises
    ]
    label = "Bars: what came out of each exercise. "
    label += "; ".join(f"{e.number} right for {e.states['right']}" for e in unit.exercises)
    return charts.stacked(rows, [str(state) for state in STATES], label)


def _separation(unit: UnitNumbers) -> Markup | str:
    """How well each exercise tells students apart; nothing where none can be told."""
    rows = [(titled(e.number, e.name), e.discrimination) for e in unit.exercises]
    if all(value is None for _, value in rows):
        return ""
    label = "Dots: the correlation of each exercise with the rest. "
    label += "; ".join(f"{n}: {charts.signed(v)}" for n, v in rows if v is not None)
    return charts.scales(rows, WEAK, label)


# -- as data --------------------------------------------------------------------------------------


def as_data(marks: Sequence[Mark], families: Sequence[Family] = ()) -> dict[str, Any]:
    """All numbers of the page."""
    insights = Insights(tuple(by_unit(marks)))
    return {
        "exercises": [_exercise_data(unit, families) for unit in insights.units],
        "heat map": {
            "exercises": [f"{c.number} {c.name}" for c in insights.columns],
            "points": [c.points for c in insights.columns],
            "students": [
                {"student": visible(r.student, 200), "earned": list(r.earned), "total": r.total}
                for r in insights.rows
            ],
        },
        "take up again": [
            {"unit": one.unit, "share": round(one.share, 4), "below half": one.low,
             "students": one.students, "due": one.is_due, "says": one.sentence}
            for one in insights.again
        ],
        "mistakes together": [
            {"first": pair.first, "second": pair.second, "made the first": pair.first_count,
             "made the second": pair.second_count, "made both": pair.both,
             "by chance": round(pair.by_chance, 2), "students": pair.students}
            for pair in insights.together
        ],
        "fairness": [
            {"exercise": f"{fair.number} {fair.name}", "property": fair.trait,
             "with it": [fair.more.solved, fair.more.students],
             "without it": [fair.fewer.solved, fair.fewer.students],
             "chance": round(fair.chance, 4), "unfair": fair.is_unfair}
            for fair in insights.fairness
        ],
    }  # fmt: skip


def _exercise_data(unit: UnitNumbers, families: Sequence[Family]) -> dict[str, Any]:
    return {
        "unit": unit.unit,
        "submissions": len(unit.marks),
        "graded": len(unit.graded),
        "points": unit.points,
        "median": unit.median,
        "to look at": len(unit.to_look_at),
        "totals": dict(_bins(unit)),
        "exercises": [
            {"number": e.number, "name": e.name, "points": e.points, "share": round(e.share, 4),
             "correlation": None if e.discrimination is None else round(e.discrimination, 4),
             "difficulty": e.difficulty, "separation": e.separation,
             "beyond the page": e.is_beyond, **e.states}
            for e in unit.exercises
        ],
        "known mistakes": [
            {"exercise": m.exercise, "name": m.name, "students": m.count} for m in unit.mistakes
        ],
        "mistakes without a name": [
            {"exercise": f.title, "family": f.name, "students": len(f.members), "misses": f.miss}
            for f in families
            if f.unit == unit.unit
        ],
    }  # fmt: skip


def as_json(data: dict[str, Any]) -> Iterator[str]:
    """The numbers for other programs, piece by piece."""
    yield from json.JSONEncoder(indent=1, ensure_ascii=False).iterencode(data)
    yield "\n"


def as_csv(data: dict[str, Any]) -> str:
    """A row an exercise, for a spreadsheet."""
    head = ["unit", "number", "name", "points", "share", "correlation", *map(str, STATES)]
    rows: list[list[Any]] = [[*head, "most common known mistake", "without a name"]]
    for unit in data["exercises"]:
        for e in unit["exercises"]:
            title = f"{e['number']} {e['name']}"
            known = [m for m in unit["known mistakes"] if m["exercise"] == title]
            families = unit["mistakes without a name"]
            mine = [f["students"] for f in families if f["exercise"].split(",")[0] == title]
            first = f"{known[0]['name']} ({known[0]['students']})" if known else ""
            values = [unit["unit"], *(e[name] for name in head[1:]), first, max(mine, default=0)]
            rows.append(["" if value is None else value for value in values])
    return "\ufeff" + csv_text(rows)
