"""The slides that a lecture's marks make: their titles, kinds, notes, and the time they take.

The marks are Jupyter's own, `slideshow.slide_type` in a cell's metadata. JupyterLab shows and edits
them in the property inspector.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from nbformat import NotebookNode

from selfcheck.files import CourseError

MARKS = ("slide", "subslide", "fragment", "skip", "notes", "-")
WORDS_A_MINUTE = 110  # unhurried speech, with pauses
MINUTES_TO_LOOK = 0.75  # at a figure or a displayed formula
MINUTES_TO_THINK = 1.5  # when the room is asked
QUESTION = re.compile(
    r"\*Predict, then run:|\*\*Before you go on:|\*\*Pencil first[.:]|^\*\*Pencil first\*\*",
    re.MULTILINE,
)
FORMULA = re.compile(r"\$\$.+?\$\$", re.DOTALL)
ANSWER = re.compile(r"<details>.*?</details>", re.DOTALL)  # folded: heard while the room thinks
FENCE = re.compile(r"^(```|~~~).*?^\1", re.DOTALL | re.MULTILINE)
HEADING = re.compile(r"^(#{1,6}) +(.+?) *#*$", re.MULTILINE)


@dataclass
class Slide:
    """One slide: the cells seen on it, and those that only the lecturer reads."""

    kind: str  # slide: a new section; subslide: a further slide of the section
    section: str  # the last heading so far
    shown: list[NotebookNode] = field(default_factory=list)
    notes: list[NotebookNode] = field(default_factory=list)
    fragments: int = 0

    @property
    def heading(self) -> str | None:
        """The first heading on the slide."""
        return next((text for cell in self.shown for _, text in headings(cell)), None)

    @property
    def title(self) -> str:
        """The heading; on a slide that has none, its first words or those about its picture."""
        if self.heading:
            return _plain(self.heading)
        texts = (_plain(cell.source) for cell in self.shown if cell.cell_type == "markdown")
        seen = (_alt(output) for cell in self.shown for output in cell.get("outputs", []))
        text = next(filter(None, [*texts, *seen]), f"{_plain(self.section)}: output")
        words = text.split()
        return " ".join(words[:8]) + (" …" if len(words) > 8 else "")

    @property
    def minutes(self) -> float:
        """Speech for the words on the slide and in the notes, a look at each figure and displayed
        formula, a pause after each question to the room."""
        cells = [c for c in self.shown + self.notes if c.cell_type == "markdown"]
        texts = [ANSWER.sub(" ", c.source) for c in cells]
        words = sum(len(FORMULA.sub(" ", text).split()) for text in texts)
        looks = sum(map(_things_to_see, self.shown))
        questions = sum(len(QUESTION.findall(text)) for text in texts)
        return words / WORDS_A_MINUTE + looks * MINUTES_TO_LOOK + questions * MINUTES_TO_THINK


def mark(cell: NotebookNode) -> str:
    """The slide mark of a cell; `-`, the default, means: goes on with the slide before it."""
    return cell.metadata.get("slideshow", {}).get("slide_type") or "-"


def has_marks(notebook: NotebookNode) -> bool:
    """Whether the notebook says where a slide begins."""
    return any(mark(cell) in ("slide", "subslide") for cell in notebook.cells)


def outline(notebook: NotebookNode, path: Path) -> list[Slide]:
    """The slides of a notebook; marks that make no deck are refused with a sentence."""
    if not has_marks(notebook):
        raise CourseError(
            f"{path} has no slide marks, so it makes no slides; set them in JupyterLab's property "
            "inspector (see docs/lecturers.md)."
        )
    slides: list[Slide] = []
    section = ""
    for cell in notebook.cells:
        kind = mark(cell)
        if kind not in MARKS:
            raise CourseError(f"{path}, cell {cell.id}: there is no slide type {kind!r}.")
        if kind == "skip":
            continue
        if kind in ("slide", "subslide"):
            slides.append(Slide(kind if slides else "slide", section))
        elif not slides:
            raise CourseError(
                f"{path}, cell {cell.id}: it stands before the first slide; mark it as skip."
            )
        if kind == "notes":
            if cell.cell_type != "markdown":
                raise CourseError(f"{path}, cell {cell.id}: only text can be speaker notes.")
            slides[-1].notes.append(cell)
            continue
        slides[-1].fragments += kind == "fragment"
        slides[-1].shown.append(cell)
        for _, text in headings(cell):
            section = slides[-1].section = text
    return slides


def headings(cell: NotebookNode) -> Iterator[tuple[int, str]]:
    """Level and text of the headings in a cell of text."""
    if cell.cell_type == "markdown":
        for hashes, text in HEADING.findall(FENCE.sub("", cell.source)):
            yield len(hashes), text


def _things_to_see(cell: NotebookNode) -> int:
    """Pictures and displayed formulas in a cell."""
    if cell.cell_type == "markdown":
        return len(FORMULA.findall(ANSWER.sub(" ", cell.source)))
    data = [output.get("data", {}) for output in cell.get("outputs", [])]
    return sum("image/png" in one or "text/markdown" in one for one in data)


def _alt(output: NotebookNode) -> str:
    """What is said about a picture to those who cannot see it."""
    return output.get("metadata", {}).get("image/png", {}).get("alt", "")


def _plain(text: str) -> str:
    """Markdown as it would be read out: no marks of headings, emphasis, code and links."""
    text = re.sub(r"!?\[([^]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r"^#+ |[*`]+|^[-|>] ", "", text, flags=re.MULTILINE)
    return " ".join(text.split())


def table(slides: list[Slide]) -> str:
    """The outline as lines for the terminal, then slide count and estimated minutes."""
    lines = []
    for number, slide in enumerate(slides, start=1):
        indent = "" if slide.kind == "slide" else "  "
        about = "notes" if slide.notes else "no notes"
        if slide.fragments:
            about = f"{_count(slide.fragments, 'fragment')}, {about}"
        lines.append(f"{number:3}  {slide.kind:8}  {indent}{slide.title}  ({about})")
    minutes = sum(slide.minutes for slide in slides)
    sections = sum(slide.kind == "slide" for slide in slides)
    count = f"{_count(len(slides), 'slide')} in {_count(sections, 'section')}"
    lines.append(
        f"{count}, about {minutes:.0f} minutes ({WORDS_A_MINUTE} words a minute on slides and in "
        f"notes, {MINUTES_TO_LOOK * 60:.0f} s a figure or formula, {MINUTES_TO_THINK * 60:.0f} s a "
        "question)"
    )
    return "\n".join(lines)


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'s' * (number != 1)}"
