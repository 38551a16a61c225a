"""Submissions made for tests: the solved notebook of a unit with some of its cells replaced.

The unit is one of the course in whose folder we are.
"""

from __future__ import annotations

import io
import json
import textwrap
import zipfile
from functools import cache
from pathlib import Path
from typing import Any

from classroom.grading.asked import Solutions
from classroom.grading.judge import Job
from classroom.grading.judge_pool import JudgeProcess
from classroom.grading.records import Graded
from selfcheck.course import course_root
from selfcheck.units import declared

ROOT = Path(__file__).parents[3]
UNIT = "07_lookup"  # its five checks take a few milliseconds each
ALL = {exercise.name: exercise.points for exercise in declared(UNIT)}
SMALL = {
    "cell": 0.5,  # on the processor: a busy machine does not use it up
    "grace": 0.3,
    "wall": 20.0,
    "memory": 1 << 30,
    "together": 1 << 30,
    "processes": 16,
    "text": 20_000,
}
Cells = dict[str, str]  # source by cell id, in the order of the notebook


@cache
def _solved(unit: str) -> tuple[tuple[str, str], ...]:
    return tuple((cell.id, cell.source) for cell in Solutions(course_root()).cells(unit))


@cache
def _asked(unit: str) -> tuple[tuple[str, str, str], ...]:
    return tuple(Solutions(course_root()).asked(unit))


def solved(unit: str = UNIT, **answers: str) -> Cells:
    """The solved notebook; `leak="bound = 1"` is what stands in the cell answer-leak instead."""
    cells = dict(_solved(unit))
    if unit == UNIT:
        cells["student"] = "student = 7"  # 0 is nobody's, and would be told
    for name, source in answers.items():
        place = f"answer-{name.replace('_', '-')}"
        assert place in cells, place
        cells[place] = textwrap.dedent(source).strip()
    return cells


def packed(files: dict[str, bytes]) -> bytes:
    """A zip of these files."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return buffer.getvalue()


def graded(
    judge_process: JudgeProcess, cells: Any, unit: str = UNIT, **about: Any
) -> tuple[Graded, list[dict]]:
    """The grade of these cells and the story behind it, from a judge that is at work already.

    As it is when all that is too slow or dies has done so before: then it counts at once.
    """
    answer = judge_process.judged(job_of(cells, unit, **about))
    return Graded.from_dict(answer["graded"]), answer["story"]


def job_of(cells: Any, unit: str = UNIT, **about: Any) -> Job:
    """What a judge is told about these cells."""
    about = {"is_alone": True, "troubled": tuple(range(300)), **about}
    pairs = cells.items() if isinstance(cells, dict) else cells
    return Job(
        student="ada",
        unit=unit,
        file="ada.ipynb",
        digest="",
        solution=[list(cell) for cell in _asked(unit)],
        cells=[list(cell) for cell in pairs],
        limits={**SMALL, **about.pop("limits", {})},
        verbose=True,
        **about,
    )


def earned(grade: Graded) -> dict[str, int]:
    """The points by exercise."""
    return {result.name: result.earned for result in grade.results}


def printed(story: list[dict], cell: str) -> str:
    """What a cell printed when it was last run."""
    return [step["printed"] for step in story if step.get("cell") == cell][-1]


def notebook(cells: Any) -> dict:
    """The cells as a notebook file holds them."""
    pairs = cells.items() if isinstance(cells, dict) else cells
    return {
        "nbformat": 4,
        "nbformat_minor": 5,
        "metadata": {},
        "cells": [
            {
                "cell_type": "code",
                "id": cell_id,
                "metadata": {},
                "execution_count": None,
                "outputs": [],
                "source": source,
            }
            for cell_id, source in pairs
        ],
    }


def hand_in(folder: Path, student: str, cells: Any, unit: str = UNIT) -> Path:
    """Put a submission into the folder of a class."""
    path = folder / student / f"{unit}.ipynb"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(notebook(cells)), encoding="utf-8")
    return path
