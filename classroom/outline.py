"""The slides that a lecture's marks make: their titles, kinds, notes, and the time they take.

The marks are Jupyter's own, `slideshow.slide_type` in a cell's metadata. JupyterLab shows and edits
them in the property inspector.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from selfcheck.files import CourseError

if TYPE_CHECKING:
    from nbformat import NotebookNode

MARKS = ("slide", "subslide", "fragment", "skip", "notes", "-")
MOST_WORDS = 60  # on a slide: it is shown, not read
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
    def has_picture(self) -> bool:
        """Whether there is a figure, a diagram, an explorer or a scene to look at."""
        return any(map(_pictures, self.shown))

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


# -- what is too much for one slide ---------------------------------------------------------------

ROOM, A_LINE = 80, 2.4  # words on a slide that prints something, and what a line takes of it
BELOW = 500  # pixels below a heading
A_WORD, A_FORMULA, A_ROW = 4.5, 70, 40  # what is taken of them, also by a row of a table
WIDE, LARGEST = 1136, 2.2  # pixels of a figure below words, and how much larger than on a page
ITEM = re.compile(r"\n(?=(?:[-*]|\d+\.) )")
INLINE = re.compile(r"(?<!\$)\$[^$]+\$")
TABLE = re.compile(r"^\|.*$", re.MULTILINE)
SENTENCE = re.compile(r"(?<=[.?!])\s+(?=[A-Z*$])")
SHOWN = re.compile(
    r"\$\$|^\||^#", re.MULTILINE
)  # what has to be seen: a formula, a table, a heading
WORD = re.compile(r"[^\W_][\w'’.,–-]*")


def paged(notebook: NotebookNode) -> NotebookNode:
    """The notebook as it is shown: at most 60 words on a slide, and a figure below few or none.

    Where there is more, what comments on an output is said, so it becomes notes, and so does what
    an explorer says itself; any other text is parted between paragraphs, items and sentences, so
    that the parts are about equally long.
    """
    pages = copy.deepcopy(notebook)
    for cell in pages.cells:
        if _pictures(cell):  # what it also prints is on the page
            cell.outputs = [output for output in cell.outputs if "data" in output]
    slides: list[list[NotebookNode]] = [[]]
    for cell in pages.cells:
        if _is_explorer(cell) and _announces(slides[-1]):
            cell.metadata["slideshow"] = {"slide_type": "-"}
        if mark(cell) in ("slide", "subslide"):
            slides.append([])
        slides[-1].append(cell)
    pages.cells = [cell for slide in slides for cell in _parted(slide)]
    return pages


def words_on(cell: NotebookNode) -> int:
    """The words of a text cell that are read on its slide; formulas and tables are looked at."""
    if cell.cell_type != "markdown":
        return 0
    text = TABLE.sub(" ", FORMULA.sub(" ", ANSWER.sub(" ", cell.source)))
    return len(WORD.findall(INLINE.sub(" x ", text)))


def _parted(slide: list[NotebookNode]) -> list[NotebookNode]:
    """The cells of a slide, marked so that none of the slides they make holds too much."""
    slide = _explored(slide)
    seen = [cell for cell in slide if mark(cell) not in ("skip", "notes")]
    if sum(map(words_on, seen)) > MOST_WORDS or any(map(_pictures, seen)):
        _say_comments(slide)
    parts = [part for cell in slide for part in _pieces(cell)]
    fewest = len(_breaks(parts, MOST_WORDS))
    most = next(m for m in range(1, MOST_WORDS + 1) if len(_breaks(parts, m)) == fewest)
    for part in (parts[k] for k in _breaks(parts, most)):
        part.metadata["slideshow"] = {"slide_type": "subslide"}
    return parts


def _announces(slide: list[NotebookNode]) -> bool:
    """Whether a slide only names an explorer and its goal."""
    shown = [cell for cell in slide if mark(cell) not in ("skip", "notes") and _is_seen(cell)]
    texts = all(cell.cell_type == "markdown" for cell in shown)
    return texts and any("**Goal:**" in cell.source for cell in shown)


def _explored(slide: list[NotebookNode]) -> list[NotebookNode]:
    """An explorer has its goal beside it: of the text with it only a heading is shown."""
    if not any(_is_explorer(cell) and mark(cell) != "skip" for cell in slide):
        return slide
    parts, begins = [], mark(slide[0])
    for cell in slide:
        parts.append(cell)
        if cell.cell_type != "markdown" or mark(cell) in ("skip", "notes"):
            continue
        heading, _, rest = cell.source.partition("\n\n")
        if HEADING.fullmatch(heading.strip()):
            parts.append(copy.deepcopy(cell))
            cell.source, parts[-1].source, parts[-1].id = heading, rest, f"{cell.id}-said"
        parts[-1].metadata["slideshow"] = {"slide_type": "notes"}
    first = next(part for part in parts if mark(part) not in ("skip", "notes"))
    first.metadata["slideshow"] = {"slide_type": begins}
    parts.remove(first)
    return [first, *parts]


def _say_comments(slide: list[NotebookNode]) -> None:
    """Text after an output is spoken, unless it asks, or has a formula or a table to look at."""
    after = False
    for cell in slide:
        after = after or (mark(cell) != "skip" and bool(cell.get("outputs")))
        comments = cell.cell_type == "markdown" and after and mark(cell) not in ("skip", "notes")
        if comments and not (SHOWN.search(cell.source) or QUESTION.search(cell.source)):
            cell.metadata["slideshow"] = {"slide_type": "notes"}


def _breaks(parts: list[NotebookNode], most: int) -> list[int]:
    """Where new slides begin if one holds so many words."""
    found: list[int] = []
    words, lines, high, figure, empty = 0, 0, 0.0, False, True
    for number, part in enumerate(parts):
        if mark(part) in ("skip", "notes") or not _is_seen(part):
            continue
        here, printed, drawn = words_on(part), _printed(part), bool(_pictures(part))
        only_a_heading = part.cell_type == "markdown" and HEADING.fullmatch(part.source.strip())
        if drawn and high + _height(part) <= BELOW:
            drawn = figure  # it stands below a question or a sentence
        tall = words + here + A_LINE * (lines + printed) > ROOM
        if not empty and ((here and words + here > most) or tall or drawn or figure):
            found.append(number)
            words, lines, high, figure, empty = 0, 0, 0.0, False, True
        words, lines, figure = words + here, lines + printed, drawn
        high += _height(part)
        empty = empty and bool(only_a_heading)
    return found


def _is_seen(cell: NotebookNode) -> bool:
    """Whether anything of the cell is on its slide."""
    tags = cell.metadata.get("tags", [])
    return cell.cell_type == "markdown" or bool(cell.outputs) or "slide-code" in tags


def _printed(cell: NotebookNode) -> int:
    """The lines that a cell prints; a row of a table is as high as two."""
    outputs = cell.get("outputs", [])
    tables = [o.get("data", {}).get("text/markdown", "") for o in outputs]
    rows = sum(len(TABLE.findall(text)) for text in tables if "course-mark" not in text)
    return sum(str(o.get("text", "")).count("\n") for o in outputs) + 2 * rows


def _pictures(cell: NotebookNode) -> list[NotebookNode]:
    return [o for o in cell.get("outputs", []) if "image/png" in o.get("data", {})]


def _is_explorer(cell: NotebookNode) -> bool:
    return any("explorer" in o.metadata.get("image/png", {}) for o in _pictures(cell))


def _height(cell: NotebookNode) -> float:
    """The pixels that a cell takes below a heading, with figures as large as can be."""
    if cell.cell_type == "markdown":
        said = sum(len(WORD.findall(text)) for _, text in headings(cell))
        rows = len(TABLE.findall(cell.source))
        return A_WORD * (words_on(cell) - said) + A_FORMULA * _things_to_see(cell) + A_ROW * rows
    if cell.get("outputs") and not _pictures(cell):
        texts = [o.get("data", {}).get("text/markdown", "") for o in cell.outputs]
        return A_ROW * sum(len(TABLE.findall(text)) for text in texts)
    sizes = [o.metadata.get("image/png", {}) for o in _pictures(cell)]
    if _is_explorer(cell) or not all("height" in size for size in sizes):
        return BELOW + 1
    return sum(size["height"] * min(WIDE / size["width"], LARGEST) for size in sizes)


def _pieces(cell: NotebookNode) -> list[NotebookNode]:
    """A text cell that holds too much, paragraph by paragraph; any other as it is."""
    if words_on(cell) <= MOST_WORDS or mark(cell) in ("skip", "notes"):
        return [cell]
    texts = [item for text in _paragraphs(cell.source) for item in ITEM.split(text)]
    texts = [sentence for text in texts for sentence in _sentences(text)]
    pieces = []
    for number, text in enumerate(texts):
        piece = copy.deepcopy(cell)
        piece.source = text
        if number:
            piece.id = f"{cell.id}-{number + 1}"
            piece.metadata["slideshow"] = {"slide_type": "-"}
        pieces.append(piece)
    return pieces


def _sentences(text: str) -> list[str]:
    """A paragraph that is too long by itself, sentence by sentence."""
    if len(WORD.findall(FORMULA.sub(" ", ANSWER.sub(" ", text)))) <= MOST_WORDS or "$$" in text:
        return [text]
    return SENTENCE.split(text) if not TABLE.search(text) else [text]


def _paragraphs(text: str) -> list[str]:
    """Paragraphs; a heading goes with what follows, a fold and a table stay whole."""
    kept: list[str] = []
    for block in re.split(r"\n\n(?!\s)", text):
        inside = kept and kept[-1].count("<details>") > kept[-1].count("</details>")
        if kept and (
            inside or HEADING.fullmatch(kept[-1].strip()) or block.startswith("<details>")
        ):
            kept[-1] += f"\n\n{block}"
        else:
            kept.append(block)
    return kept


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
        about = ["picture"] * slide.has_picture
        about += [_count(slide.fragments, "fragment")] * bool(slide.fragments)
        about += ["notes" if slide.notes else "no notes"]
        lines.append(f"{number:3}  {slide.kind:8}  {indent}{slide.title}  ({', '.join(about)})")
    minutes = sum(slide.minutes for slide in slides)
    sections = sum(slide.kind == "slide" for slide in slides)
    count = f"{_count(len(slides), 'slide')} in {_count(sections, 'section')}"
    pictures = f"{sum(slide.has_picture for slide in slides)} with a picture"
    lines.append(
        f"{count}, {pictures}, about {minutes:.0f} minutes ({WORDS_A_MINUTE} words a minute on "
        f"slides and in notes, {MINUTES_TO_LOOK * 60:.0f} s a figure or formula, "
        f"{MINUTES_TO_THINK * 60:.0f} s a question)"
    )
    return "\n".join(lines)


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'s' * (number != 1)}"
