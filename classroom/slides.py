"""A lecture as one deck of slides that works offline: one HTML file with everything inside.

    for deck in write_decks({path: sound(path, "a deck")}, Path("build/slides")):
        print(deck.target)

The marks of the notebook's cells make the slides (outline.py); nbconvert writes them with our
template `course_slides`; reveal.js and MathJax lie in vendor/. Explorers move without a
kernel, by the numbers that were saved with the notebook (frames.py).
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from nbformat import NotebookNode

from selfcheck.files import CourseError, write_whole

from . import guesses
from .notebooks import as_text
from .offline import (
    EXPLORER,
    TEMPLATES,
    VENDOR,
    element,
    explorer_script,
    exporter,
    mathjax,
    parsed,
    vendored,
)
from .outline import SENTENCE, Slide, outline, paged

if TYPE_CHECKING:
    from bs4 import BeautifulSoup, Tag

DECK_LIMIT = 6_000_000  # bytes
PACKAGES = ("nbconvert",)
MATHJAX = "mathjax.js"
ENGINE = ("reveal.css", "reveal.js", "notes.js")  # the file of each is the id of its element
CODE_LETTERS, PRINTED_LETTERS = 82, 76  # that fit in a line of the usual size
SHORT_CAPTION = 88  # letters, on one line
LINES_BESIDE_TEXT, LINES_ALONE = 12, 17
DIGEST = re.compile(r'<meta content="(\w+)" name="course-digest"')


@dataclass(frozen=True)
class Deck:
    """A deck that is there: whether it was written just now, and the seconds that took."""

    target: Path
    written: bool
    seconds: float

    def __str__(self) -> str:
        if not self.written:
            return f"unchanged {self.target}"
        size = self.target.stat().st_size / 1e6
        return f"wrote {self.target} {size:.1f} MB {self.seconds:.1f} s"


def write_decks(
    lectures: Mapping[Path, NotebookNode], folder: Path, about: str = "", shared: str = ""
) -> Iterator[Deck]:
    """Write the decks that are not up to date.

    What the decks are `about` (course, lecturer, date) stands on each title slide. Where MathJax
    and reveal.js lie in a folder that is `shared`, decks link to them; else each deck holds them.
    All outlines are made first: if a lecture makes no deck, none is written.
    """
    lectures = {path: paged(notebook) for path, notebook in lectures.items()}
    outlines = {path: outline(notebook, path) for path, notebook in lectures.items()}
    return _written(lectures, outlines, folder, (about, shared))


def _written(
    lectures: Mapping[Path, NotebookNode],
    outlines: Mapping[Path, list[Slide]],
    folder: Path,
    look: tuple[str, str],
) -> Iterator[Deck]:
    for path, notebook in lectures.items():
        start, target = time.perf_counter(), folder / f"{path.stem}.html"
        digest = _hash(_digest(notebook), *look)
        is_stale = not _is_fresh(target, digest)
        if is_stale:
            write_whole(target, _deck(path, notebook, outlines[path], digest, *look))
        yield Deck(target, is_stale, time.perf_counter() - start)


# -- what changed ---------------------------------------------------------------------------------


def _digest(notebook: NotebookNode) -> str:
    """Of all that a deck depends on: the notebook, this package and what it uses."""
    package = Path(__file__).parent
    ours = [package / f"{name}.py" for name in ("slides", "offline", "outline", "guesses")]
    ours += sorted(p for p in TEMPLATES.rglob("*") if p.is_file())
    ours += [VENDOR / "contents.toml", EXPLORER]
    return _hash(as_text(notebook), *_versions(PACKAGES), *ours)


def _versions(packages: Sequence[str]) -> list[str]:
    def version(package: str) -> str:
        try:
            return importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            return "none"  # building will say what to install

    return [f"{package} {version(package)}" for package in packages]


def _hash(*parts: str | Path) -> str:
    total = hashlib.sha256()
    for part in parts:
        data = part.read_bytes() if isinstance(part, Path) else part.encode()
        total.update(hashlib.sha256(data).digest())
    return total.hexdigest()


def _is_fresh(deck: Path, digest: str) -> bool:
    """Whether the deck was written with that digest, which stands in its first lines."""
    if not deck.exists():
        return False
    with deck.open(encoding="utf-8", errors="replace") as file:
        found = DIGEST.search(file.read(2000))
    return found is not None and found[1] == digest


# -- the deck -------------------------------------------------------------------------------------


def _deck(
    path: Path,
    notebook: NotebookNode,
    slides: Sequence[Slide],
    digest: str,
    about: str,
    shared: str,
) -> str:
    soup = parsed(exporter("SlidesExporter", "course_slides"), path, notebook, "a deck")
    element(soup, "meta[name=course-digest]")["content"] = digest
    guesses.offer(soup, notebook)
    sections = [s for s in soup.select(".slides section") if not s.find("section")]
    for section, slide in zip(sections, slides, strict=True):
        _drop_empty_cells(section)
        _answer_in_the_notes(soup, section)
        _ask_the_hall(section)
        _dress(soup, section, slide)
        _gather_notes(section)
        _set_long_text_smaller(section)
        _tell_shapes(section)
    if about:
        line = soup.new_tag("p", attrs={"class": "about"}, string=about)
        element(soup, ".slides h1").insert_after(line)
    _unlink_what_is_elsewhere(soup)
    for name in (MATHJAX, *ENGINE, EXPLORER.name):
        _put_in(soup, name, shared)
    if shared:  # there a Python in the page moves what the saved numbers do not
        element(soup, "body")["data-up"] = "../"
        live = soup.new_tag("script", attrs={"type": "module", "src": shared + "live.js"})
        element(soup, "head").append(live)
    html = str(soup)
    if len(html.encode()) > DECK_LIMIT:
        raise CourseError(f"{path}: the deck takes {len(html) / 1e6:.1f} MB; 6 MB is the limit.")
    return html


def _put_in(soup: BeautifulSoup, name: str, shared: str) -> None:
    """The engine of slides, or the one of formulas: a link where it is shared, else its text."""
    place = element(soup, f"[id='{name}']")
    if not shared:
        if name == EXPLORER.name:
            place.string = explorer_script()
        else:
            place.string = mathjax() if name == MATHJAX else vendored(f"reveal.js/{name}")
    elif place.name == "style":
        place.name, place["rel"], place["href"] = "link", "stylesheet", shared + name
    else:
        place["src"] = shared + name


def _drop_empty_cells(section: Tag) -> None:
    """A cell of code that shows neither code nor output would only leave a gap."""
    for cell in section.select(".jp-CodeCell"):
        if not cell.get_text(strip=True) and not cell.find(["img", "input"]):
            cell.decompose()


def _answer_in_the_notes(soup: BeautifulSoup, section: Tag) -> None:
    """Folded answers are what the lecturer says: they leave the slide for the notes."""
    for fold in section.select("details.answer"):
        element(fold, "summary").decompose()
        fold.insert(0, soup.new_tag("p", string="Answer:"))
        fold.name = "div"
        if not fold.find_parent("aside"):
            notes = soup.new_tag("aside", attrs={"class": "notes"})
            notes.append(fold.extract())
            section.append(notes)


def _ask_the_hall(section: Tag) -> None:
    """Nobody in a hall can run a cell: hands are raised, then the answer is the next fragment."""
    for lead in section.select("em"):
        if lead.get_text().startswith("Predict, then run"):
            lead.string = "Predict, by show of hands:"


def _gather_notes(section: Tag) -> None:
    """Notes belong to the slide, not to its last fragment: they are there from the beginning."""
    found = section.select("aside.notes")
    for other in found[1:]:
        found[0].extend(list(other.children))
        other.decompose()
    for notes in found[:1]:
        section.append(notes.extract())


def _dress(soup: BeautifulSoup, section: Tag, slide: Slide) -> None:
    """Title and section slides get their look; one without a heading says where we are."""
    if section.find("h1"):
        section["class"] = "title"
    elif slide.kind == "slide" and slide.heading and _is_short(section):
        section["class"] = "opening"
    elif _is_picture(slide):
        words = section.select_one(".course-caption")
        short = words and len(words.find(string=True) or "") <= SHORT_CAPTION
        section["class"] = "picture said-shortly" if short else "picture"
        if words and not slide.heading and section.select_one("img[src^='data:image/svg']"):
            _head_with_point(soup, section, words)
    elif section.select_one("figure"):
        section["class"] = "flat"
    elif _is_text(section, slide):
        section["class"] = "text"
    if not slide.heading and slide.section:
        head = soup.new_tag("p", attrs={"class": "running"})
        head.string = slide.section.replace("*", "").replace("`", "")
        section.insert(0, head)


def _head_with_point(soup: BeautifulSoup, section: Tag, caption: Tag) -> None:
    """The title of a diagram is the first sentence of its caption; a plot has one of its own."""
    words = str(caption.find(string=True))
    point, *more = SENTENCE.split(words, maxsplit=1)
    title = soup.new_tag("h3", attrs={"class": "point"}, string=point)
    section.insert(0, title)
    if more:
        section.append(soup.new_tag("aside", attrs={"class": "notes"}, string=more[0]))
    caption.decompose()


def _set_long_text_smaller(section: Tag) -> None:
    """Code and printed lines that would leave their box, or the slide, get smaller letters."""
    text = [p for p in section.select("p:not(.running), li") if not p.find_parent("aside")]
    most = LINES_BESIDE_TEXT if text else LINES_ALONE
    for pre in section.select("pre"):
        lines = pre.get_text().rstrip("\n").split("\n")
        printed = pre.find_parent(class_="jp-RenderedText")
        long = max(map(len, lines)) > (PRINTED_LETTERS if printed else CODE_LETTERS)
        if long or (printed and len(lines) > most):
            pre["class"] = " ".join([*pre.get_attribute_list("class"), "dense"])


def _tell_shapes(section: Tag) -> None:
    """Width of each picture, and width over height, from which the style sheet takes its size."""
    for image in section.select("img[width][height]"):
        width, height = (int(str(image[side])) for side in ("width", "height"))
        image["style"] = f"--ratio: {width / height:.4f}; --wide: {width}px"


def _is_picture(slide: Slide) -> bool:
    """A heading at most, and one figure or explorer: then it is drawn larger."""
    texts = [c.source.strip() for c in slide.shown if c.cell_type == "markdown"]
    outputs = [o for c in slide.shown for o in c.get("outputs", [])]
    pictures = [o for o in outputs if "image/png" in o.get("data", {})]
    words = [o for o in outputs if "text" in o or "text/markdown" in o.get("data", {})]
    alone = all(re.fullmatch(r"#+ .*", text) for text in texts)
    return len(pictures) == 1 and not words and alone


def _is_text(section: Tag, slide: Slide) -> bool:
    """Nothing but sentences: then they are larger."""
    displayed = any("$$" in cell.source for cell in slide.shown if cell.cell_type == "markdown")
    return not displayed and not section.select_one("pre, table, figure, .jp-OutputArea-output")


def _is_short(section: Tag) -> bool:
    """A heading and no more than a paragraph: then it stands alone, and large."""
    seen = [tag for tag in section.find_all(True) if not tag.find_parent("aside")]
    blocks = [tag for tag in seen if tag.name in ("p", "ul", "ol", "table", "pre", "img", "input")]
    return len(blocks) <= 1 and all(tag.name == "p" for tag in blocks)


def _unlink_what_is_elsewhere(soup: BeautifulSoup) -> None:
    """Links to other notebooks lead nowhere from a deck: their words stay."""
    for link in soup.select(".slides a[href]"):
        if not re.match(r"https?:|mailto:", str(link["href"])):
            link.unwrap()
