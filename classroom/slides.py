"""A lecture as one deck of slides that works offline: one HTML file with everything inside.

    for deck in write_decks({path: sound(path, "a deck")}, Path("build/slides"), cache):
        print(deck.target)

The marks of the notebook's cells make the slides (outline.py); nbconvert writes them with our
template `course_slides`; reveal.js and MathJax lie in vendor/. Explorers move without a
kernel: the notebook is run once, and every frame is put into the deck.
"""

from __future__ import annotations

import copy
import hashlib
import importlib.metadata
import json
import os
import re
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from jupyter_core.utils import ensure_event_loop
from nbformat import NotebookNode

from selfcheck.explore import FRAMES
from selfcheck.files import CourseError, write_whole

from .grading import fingerprint
from .notebooks import as_text, execute, strip_outputs
from .offline import TEMPLATES, VENDOR, element, exporter, mathjax, parsed, vendored
from .outline import Slide, mark, outline

if TYPE_CHECKING:
    from bs4 import BeautifulSoup, Tag

DECK_LIMIT, FRAMES_LIMIT = 5_000_000, 1_500_000  # bytes
PACKAGES = ("nbconvert",)
MATHJAX = "mathjax.js"
ENGINE = ("reveal.css", "reveal.js", "notes.js")  # the file of each is the id of its element
DRAWING = ("matplotlib", "numpy")
# Run before a lecture: its explorers make frames, and what it reads is noted.
WITH_FRAMES = """\
from classroom.frames import with_what_was_read
from classroom.grading.fingerprint import watch
from selfcheck.explore import Explorer

watch()
Explorer.as_frames = with_what_was_read
"""
# Where nothing but the frames is wanted, figures of the lecture itself are drawn for nobody.
NO_FIGURES = """\
import os
from selfcheck import style

os.environ["COURSE_TAKE"] = "1"
style.show = lambda *figure, **words: None
"""
CODE_LETTERS, PRINTED_LETTERS = 82, 76  # that fit in a line of the usual size
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
    lectures: Mapping[Path, NotebookNode],
    folder: Path,
    cache: Path,
    about: str = "",
    shared: str = "",
    framed: Mapping[Path, NotebookNode] | None = None,
) -> Iterator[Deck]:
    """Write the decks that are not up to date; frames of explorers are kept in `cache`.

    What the decks are `about` (course, lecturer, date) stands on each title slide. Where MathJax
    and reveal.js lie in a folder that is `shared`, decks link to them; else each deck holds them.
    All outlines are made first: if a lecture makes no deck, none is written. `framed` are the
    lectures with the frames of their explorers, where somebody drew them already.
    """
    outlines = {path: outline(notebook, path) for path, notebook in lectures.items()}
    return _written(lectures, outlines, folder, cache, (about, shared), framed)


def _written(
    lectures: Mapping[Path, NotebookNode],
    outlines: Mapping[Path, list[Slide]],
    folder: Path,
    cache: Path,
    look: tuple[str, str],
    framed: Mapping[Path, NotebookNode] | None,
) -> Iterator[Deck]:
    def digest(path: Path) -> str:
        frames = Frames.kept(path, lectures[path], cache)
        return _hash(_digest(lectures[path], frames.digest), *look)

    targets = {path: folder / f"{path.stem}.html" for path in lectures}
    stale = [path for path, target in targets.items() if not _is_fresh(target, digest(path))]
    if framed is None:
        drawn = all_with_frames([(path, lectures[path]) for path in stale], cache)
    else:
        drawn = (framed[path] for path in stale)
    for path, target in targets.items():
        start = time.perf_counter()
        if path in stale:
            lecture = next(drawn)  # whose frames are known now
            write_whole(target, _deck(path, lecture, outlines[path], digest(path), *look))
        yield Deck(target, path in stale, time.perf_counter() - start)


# -- what changed ---------------------------------------------------------------------------------


def _digest(notebook: NotebookNode, frames: str) -> str:
    """Of all that a deck depends on: the notebook, its frames, this package and what it uses."""
    package = Path(__file__).parent
    ours = [package / f"{name}.py" for name in ("slides", "offline", "outline")]
    ours += sorted(p for p in TEMPLATES.rglob("*") if p.is_file())
    ours.append(VENDOR / "contents.toml")
    return _hash(as_text(notebook), frames, *_versions(PACKAGES), *ours)


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


# -- explorers ------------------------------------------------------------------------------------


def all_with_frames(
    notebooks: Iterable[tuple[Path, NotebookNode]], cache: Path
) -> Iterator[NotebookNode]:
    """Each notebook `with_frames`, in order; as many kernels draw as there are cores."""

    def framed(pair: tuple[Path, NotebookNode]) -> NotebookNode:
        try:
            return with_frames(*pair, cache)
        finally:
            ensure_event_loop().close()  # nbclient opens one for each thread and leaves it open

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        yield from pool.map(framed, notebooks)


def with_frames(path: Path, notebook: NotebookNode, cache: Path) -> NotebookNode:
    """The notebook in which each explorer on a slide shows its frames behind a range input."""
    if not any(_is_explorer(o) for cell in _seen(notebook) for o in cell.outputs):
        return notebook
    frames = _cached_frames(path, notebook, cache)
    notebook = copy.deepcopy(notebook)
    size = 0
    for cell in _seen(notebook):
        explorers = [output for output in cell.outputs if _is_explorer(output)]
        for output, html in zip(explorers, frames.get(cell.id, []), strict=False):
            output.data["text/html"] = html
            size += len(html) * 3 // 4
    if size > FRAMES_LIMIT:
        raise CourseError(
            f"{path}: the frames of its explorers take {size / 1e6:.1f} MB; 1.5 MB is the limit; "
            "give an explorer fewer frames or a simpler picture."
        )
    return notebook


def _seen(notebook: NotebookNode) -> list[NotebookNode]:
    cells = (cell for cell in notebook.cells if cell.cell_type == "code")
    return [cell for cell in cells if mark(cell) not in ("skip", "notes")]


def _is_explorer(output: NotebookNode) -> bool:
    return output.get("data", {}).get("text/plain", "").startswith("Explorer(")


@dataclass(frozen=True)
class Frames:
    """Frames of a lecture's explorers, by the id of their cell, and what they were drawn from."""

    code: str = ""
    html: dict[str, list[str]] = field(default_factory=dict)
    files: dict[str, str] = field(default_factory=dict)

    @classmethod
    def kept(cls, path: Path, notebook: NotebookNode, cache: Path) -> Frames:
        """Those of the last run, if neither its code nor anything that it read has changed."""
        file = cache / f"{path.stem}.json"
        if not file.exists():
            return cls()
        found = cls(**json.loads(file.read_text(encoding="utf-8")))
        is_same = found.code == _code(notebook)
        return found if is_same and fingerprint.digests(found.files) == found.files else cls()

    @property
    def digest(self) -> str:
        """Of what they were drawn from; empty where nothing is known."""
        return _hash(self.code, json.dumps(self.files)) if self.code else ""


def _code(notebook: NotebookNode) -> str:
    """The digest of code cells and of what draws."""
    code = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
    return _hash(*code, *_versions(DRAWING))


def _cached_frames(path: Path, notebook: NotebookNode, cache: Path) -> dict[str, list[str]]:
    kept = Frames.kept(path, notebook, cache)
    if kept.code:
        return kept.html
    with tempfile.TemporaryDirectory(prefix="course-") as scratch:
        copied = Path(scratch) / path.name
        copied.write_text(as_text(strip_outputs(copy.deepcopy(notebook))), encoding="utf-8")
        return _drawn(copied, cache, WITH_FRAMES + NO_FIGURES, path.parent)[1].html


def executed(path: Path, cache: Path) -> NotebookNode:
    """Run a lecture: the notebook to save, while frames of its explorers go to the cache.

    So no deck has to run it a second time.
    """
    return _drawn(path, cache, WITH_FRAMES)[0]


def _drawn(
    path: Path, cache: Path, first: str, folder: Path | None = None
) -> tuple[NotebookNode, Frames]:
    """Run a notebook after this code, and keep the frames that its explorers made."""
    html: dict[str, list[str]] = {}
    names: set[str] = set()

    def take(notebook: NotebookNode) -> None:
        for cell in notebook.cells:
            for output in cell.get("outputs", []):
                if made := output.get("data", {}).pop(FRAMES, None):
                    html.setdefault(cell.id, []).append(made["html"])
                    names.update(made["read"])

    notebook = execute(path, folder=folder, first=first, seen=take)
    frames = Frames(_code(notebook), html, fingerprint.digests(names))
    if html:
        write_whole(cache / f"{path.stem}.json", json.dumps(asdict(frames)))
    return notebook, frames


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
    sections = [s for s in soup.select(".slides section") if not s.find("section")]
    for section, slide in zip(sections, slides, strict=True):
        _drop_empty_cells(section)
        _answer_in_the_notes(soup, section)
        _gather_notes(section)
        _dress(soup, section, slide)
        _set_long_text_smaller(section)
        _tell_shapes(section)
    if about:
        line = soup.new_tag("p", attrs={"class": "about"}, string=about)
        element(soup, ".slides h1").insert_after(line)
    _unlink_what_is_elsewhere(soup)
    for name in (MATHJAX, *ENGINE):
        _put_in(soup, name, shared)
    html = str(soup)
    if len(html.encode()) > DECK_LIMIT:
        raise CourseError(f"{path}: the deck takes {len(html) / 1e6:.1f} MB; 5 MB is the limit.")
    return html


def _put_in(soup: BeautifulSoup, name: str, shared: str) -> None:
    """The engine of slides, or the one of formulas: a link where it is shared, else its text."""
    place = element(soup, f"[id='{name}']")
    if not shared:
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
        section["class"] = "picture"
    if not slide.heading and slide.section:
        head = soup.new_tag("p", attrs={"class": "running"})
        head.string = slide.section.replace("*", "").replace("`", "")
        section.insert(0, head)


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
    """Width over height of each picture, from which the style sheet takes its size."""
    for image in section.select("img[width][height]"):
        width, height = (int(str(image[side])) for side in ("width", "height"))
        image["style"] = f"--ratio: {width / height:.4f}"


def _is_picture(slide: Slide) -> bool:
    """A heading at most, and one figure or explorer: then it is drawn larger."""
    texts = [c.source.strip() for c in slide.shown if c.cell_type == "markdown"]
    outputs = [o for c in slide.shown for o in c.get("outputs", [])]
    pictures = [o for o in outputs if "image/png" in o.get("data", {})]
    words = [o for o in outputs if o.output_type == "stream" or "text/latex" in o.get("data", {})]
    alone = all(re.fullmatch(r"#+ .*", text) for text in texts)
    return len(pictures) == 1 and not words and alone


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
