"""Predictions of a lecture: a question, a guess, and the cells that stay folded until it is made.

The text cell that asks has `guess` in its metadata: `{"choices": ["up", "down"], "is": 0}`, a
number, `{"is": "1.97", "unit": "times"}`, or `{}` for words. The cells that answer it follow in one
run. They have the tag `revealed`, or `revealed-output` where code is part of the question.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from nbformat import NotebookNode

if TYPE_CHECKING:
    from bs4 import BeautifulSoup, Tag

WHOLE, OUTPUT = "revealed", "revealed-output"
SHOW = "Show what happens"
BOX = "cell-id="


@dataclass
class Prediction:
    """The guess that is asked for, and the cells behind the fold."""

    guess: dict[str, Any]
    cells: list[NotebookNode] = field(default_factory=list)


def is_revealed(cell: NotebookNode) -> bool:
    """Whether the cell, or its output, waits for a guess."""
    return not {WHOLE, OUTPUT}.isdisjoint(cell.metadata.get("tags", []))


def predictions(cells: Sequence[NotebookNode]) -> list[Prediction]:
    """The predictions of a notebook; cells to reveal without a question before them have none."""
    found: list[Prediction] = []
    asked: Prediction | None = None
    for cell in cells:
        if is_revealed(cell):
            if asked:
                asked.cells.append(cell)
        elif asked and asked.cells:
            asked = None
        if "guess" in cell.metadata:
            asked = Prediction(dict(cell.metadata["guess"]))
            found.append(asked)
    return [prediction for prediction in found if prediction.cells]


def fold(soup: BeautifulSoup, notebook: NotebookNode) -> None:
    """Put what answers a guess behind one fold; guess.js asks before it, in the page."""
    boxes = _boxes(soup)
    for prediction in predictions(notebook.cells):
        places = [boxes[cell.id] for cell in prediction.cells if cell.id in boxes]
        if not places:
            continue
        behind = soup.new_tag("details", attrs={"class": "folded answer prediction"})
        behind["data-guess"] = json.dumps(prediction.guess, ensure_ascii=False)
        behind.append(soup.new_tag("summary", string=SHOW))
        if OUTPUT in prediction.cells[0].metadata.tags:
            places[0].insert_after(behind)
            _move_output(places.pop(0), behind)
        else:
            places[0].insert_before(behind)
        behind.extend(place.extract() for place in places)


def offer(soup: BeautifulSoup, notebook: NotebookNode) -> None:
    """In the speaker's notes of a slide: what the room can choose from, by a show of hands."""
    boxes = _boxes(soup)
    for cell in notebook.cells:
        choices = cell.metadata.get("guess", {}).get("choices", [])
        if choices and cell.id in boxes:
            notes = soup.new_tag("aside", attrs={"class": "notes"})
            notes.append(soup.new_tag("p", string=f"Show of hands: {'; '.join(choices)}?"))
            boxes[cell.id].insert_after(notes)


def _boxes(soup: BeautifulSoup) -> dict[str, Tag]:
    """The elements of the cells, by the cells' ids."""
    found = soup.find_all(id=lambda name: bool(name and name.startswith(BOX)))
    return {str(box["id"]).removeprefix(BOX): box for box in found}


def _move_output(cell: Tag, behind: Tag) -> None:
    output = cell.select_one(".jp-Cell-outputWrapper")
    if output:
        behind.append(output.extract())
