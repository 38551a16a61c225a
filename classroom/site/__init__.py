"""The course as a static web site: pages to read, slides, handouts, and JupyterLite to work in.

    build(root, Path("build/site"), wheels=None, base="/")

Any web server or pages host can serve the folder, also from a sub-path; all addresses in it are
relative. A second build writes only what has changed.
"""

from __future__ import annotations

import base64
import copy
import dataclasses
import hashlib
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup
from nbformat import NotebookNode

from selfcheck import typeset
from selfcheck.course import Course, course_in
from selfcheck.files import CourseError
from selfcheck.units import Unit, find, units

from .. import glossary, outline, slides
from ..formulas import FONT, font_inside
from ..grading.settings import NAME, Settings, read_settings
from ..handouts import blank_sheets
from ..notebooks import as_text
from ..offline import EXPLORER, TEMPLATES, VENDOR, mathjax, sound, vendored
from ..pages import as_page, beside
from ..paper import without_navigation
from ..roles import Role, id_of
from .about import Facts
from .documents import Document, as_webp, documents
from .drawing import drawn_map
from .linking import SOURCES, lead_terms, read_sources
from .lite import PACKAGES, Wanted, add_lite, smaller
from .packages import LOCK, Shelf, alone, gather, loads, page_size, runtime_address
from .reading import Reading, question_in, read_page
from .sheets import about_sheet

STATIC = TEMPLATES / "site" / "static"
SHARED = "../static/"  # where slides find what all of them need
# What most sheets import in their first cell.
WARM = "import sympy, matplotlib.figure, matplotlib.backends.backend_agg, ipywidgets, {package}"
HEADING = re.compile(
    r"^Exercise (\d+\.\d+) · (.*?)(?: \([^()]*\))?$"
)  # at the side without minutes
EXERCISE = re.compile(r"Exercise (\d+\.\d+)\b")
FIND_ROOT = """<script type="module">
for (let path = location.pathname; !path.endsWith("/404.html") && path.length > 1;) {
  path = path.replace(/[^/]*\\/?$/, "");
  if ((await fetch(`${path}static/course.json`)).ok) { location.replace(`${path}404.html`); break; }
}
</script>"""
FONT_BESIDE = '@font-face{font-family:Formulas;src:url("../static/formulas.woff2")}'
SECONDS = 30  # for an answer and its check in the page
Tell = Callable[[str], None]


def build(
    root: Path,
    target: Path,
    wheels: Path | None = None,
    base: str = "/",
    units: Sequence[str] = (),
    tell: Tell = lambda line: None,
    cache: Path | None = None,
    rules: Settings | None = None,
    address: str = "",
) -> Path:
    """Write the site for these units, all if none is named; `tell` hears of each step.

    The `rules` of a class say until when sheets are handed in, and when solutions may be seen.
    Where the `address` of the site is known, its pages tell it to those who link to them.

    What a second build can use again is kept in `cache`, which is build/ if none is named; two
    builds with one cache do not meet in it.
    """
    cache = cache or root / "build"
    facts = Facts.of(course_in(root), base, rules, address)
    with alone(cache / "site-packages", tell):
        return _built(facts, root, target, wheels, units, tell, cache)


def _built(
    facts: Facts,
    root: Path,
    target: Path,
    wheels: Path | None,
    units: Sequence[str],
    tell: Tell,
    cache: Path,
) -> Path:
    course = course_in(root)
    chosen = _chosen(course, units)
    paths = list(_paths(course, chosen))
    notebooks = {path: sound(path, "a page") for path in paths}
    tell("packages for the browser")
    shelf = gather(course, cache / "site-packages", wheels, facts.rules)
    site = Wanted(target, keep=("lite",))
    tell("JupyterLite")
    digests = {path: _digest_of(notebook) for path, notebook in notebooks.items()}
    within = {_name(p): _marked(notebook, digests[p]) for p, notebook in notebooks.items()}
    add_lite(target / "lite", within, shelf, facts, cache / "site-packages")
    decks = _decks(root, notebooks, tell, cache, facts.rules)
    readings = {}
    for path in paths:
        tell(_name(path))
        readings[path] = _reading(path, notebooks[path], paths, cache)
    pages = _Pages(site, facts)
    pages.picture = _shown_of(course)
    pages.shared(next(iter(readings.values())))
    pages.decks(decks)
    pages.readings(list(readings.values()), digests, chosen, notebooks)
    tell("sheets on paper")
    pages.paper(root, chosen)
    guides = documents(root)
    stems = [deck.stem for deck in decks]
    pages.landing(chosen, list(readings.values()), stems, course, guides, notebooks)
    pages.sheets(chosen, list(readings.values()))
    pages.sources(root, chosen)
    pages.documents(guides, root)
    pages.others(list(readings.values()), shelf, root)
    pages.for_others()
    site.sweep()
    return target


def _chosen(course: Course, names: Sequence[str]) -> list[Unit]:
    known = units(course)
    wanted = [find(name, [unit.stem for unit in known]) for name in names]
    return [unit for unit in known if not wanted or unit.stem in wanted]


def _paths(course: Course, units: Sequence[Unit]) -> Iterator[Path]:
    root = course.folder
    yield root / "notebooks" / f"{course.start}.ipynb"
    for folder in ("notebooks", "exercises"):
        for unit in units:
            yield root / folder / f"{unit.stem}.ipynb"


def _name(path: Path) -> str:
    return f"{path.parent.name}/{path.name}"


def _digest_of(notebook: NotebookNode) -> str:
    """Of what a student works on: a copy that was made from another text is an old one."""
    parts = [f"{cell.id}\0{cell.cell_type}\0{cell.source}" for cell in notebook.cells]
    return hashlib.sha256("\0\0".join(parts).encode()).hexdigest()[:16]


def _marked(notebook: NotebookNode, digest: str) -> NotebookNode:
    """The notebook as it lies in JupyterLite: with a mark by which a copy of it is known."""
    notebook = copy.deepcopy(notebook)
    notebook.metadata["course"] = {"digest": digest}
    return notebook


def _decks(
    root: Path,
    notebooks: Mapping[Path, NotebookNode],
    tell: Tell,
    cache: Path,
    rules: Settings | None,
) -> list[Path]:
    """Slides of the lectures that have marks for them; their engine lies on the site once."""
    lectures = {p: n for p, n in notebooks.items() if p.parent.name == "notebooks"}
    lectures = {path: n for path, n in lectures.items() if outline.has_marks(n)}
    about, folder = (rules or read_settings(root / NAME)).slides, cache / "site-slides"
    written = []
    for deck in slides.write_decks(lectures, folder, about, SHARED):
        tell(f"slides {deck.target.stem}")
        written.append(deck.target)
    return written


# -- pages, kept until something changes ----------------------------------------------------------


def _reading(path: Path, notebook: NotebookNode, along: Sequence[Path], cache: Path) -> Reading:
    """The page of a notebook, from the last build if nothing that it depends on has changed."""
    leads = beside(path, along)
    code = [Path(__file__).parent / name for name in ("reading.py", "linking.py")]
    code += sorted(Path(__file__).parents[1].glob("*.py"))
    code += sorted(p for p in TEMPLATES.glob("course_page/**/*") if p.is_file())
    code += [TEMPLATES / "look.css"]
    code += [Path(str(typeset.__file__)), *_about_lectures(path)]
    total = hashlib.sha256(as_text(notebook).encode())
    for part in (*map(str, leads.values()), *(p.read_text(encoding="utf-8") for p in code)):
        total.update(part.encode())
    kept = cache / "site-pages" / f"{path.parent.name}-{path.stem}-{total.hexdigest()[:16]}.json"
    if kept.exists():
        return Reading(**json.loads(kept.read_text(encoding="utf-8")))
    reading = read_page(path, without_navigation(copy.copy(notebook)), leads)
    kept.parent.mkdir(parents=True, exist_ok=True)
    for old in kept.parent.glob(f"{path.parent.name}-{path.stem}-*.json"):
        old.unlink()
    kept.write_text(json.dumps(dataclasses.asdict(reading)), encoding="utf-8")
    return reading


def _about_lectures(path: Path) -> list[Path]:
    named = (glossary.FILE, SOURCES)
    return [p for name in named if (p := path.parent.parent / "notebooks" / name).exists()]


# -- what is written ------------------------------------------------------------------------------


class _Pages:
    """The pages of the site, each through its template."""

    def __init__(self, site: Wanted, facts: Facts) -> None:
        self.site = site
        self.facts = facts
        self.picture = ""  # shown with a link to a page that has none of its own
        self.places: list[str] = []  # of all pages
        self.templates = Environment(
            loader=FileSystemLoader(TEMPLATES), autoescape=True, undefined=StrictUndefined
        )
        self.templates.filters["short"] = lambda words: HEADING.sub(r"\1 \2", words)
        self.templates.filters["formulas"] = lambda text: Markup(typeset.set_text(text))

    def write(self, place: str, template: str, **about: Any) -> None:
        """A page at its place; links in it lead `up` to the root of the site."""
        up = about.pop("up", "../" * place.count("/"))
        about.setdefault("description", self.facts.promise)
        about.setdefault("picture", "")
        about.setdefault("shared_picture", self.picture)
        page = self.templates.get_template(f"site/{template}.html.j2")
        html = page.render(up=up, course=self.facts, place=_short(place), **about)
        self.site.page(place, html + "\n", self.facts.address)
        if place != "404.html":
            self.places.append(place)

    def shared(self, reading: Reading) -> None:
        """Looks and scripts that all pages have in common."""
        for path in sorted(p for p in STATIC.iterdir() if p.is_file()):
            self.site.copy(f"static/{path.name}", path)
        self.site.copy(f"static/{EXPLORER.name}", EXPLORER)
        self.site.copy("sw.js", TEMPLATES / "site" / "sw.js")  # at the root: it serves all below
        self.site.text("static/reading.css", reading.looks)
        self.site.text("static/reading.js", reading.scripts)
        self.site.copy("static/formulas.woff2", FONT)
        self.site.text(f"static/{slides.MATHJAX}", mathjax())
        for name in slides.ENGINE:
            self.site.text(f"static/{name}", vendored(f"reveal.js/{name}"))
        for package in ("mathjax", "reveal.js", "stix-two-math"):
            self.site.copy(f"static/{package}-LICENSE.txt", VENDOR / package / "LICENSE")

    def decks(self, decks: Sequence[Path]) -> None:
        """Slides."""
        for deck in decks:
            self.site.page(f"slides/{deck.name}", deck.read_text(encoding="utf-8"))

    def readings(
        self,
        readings: Sequence[Reading],
        digests: dict[Path, str],
        units: Sequence[Unit],
        notebooks: dict[Path, NotebookNode],
    ) -> None:
        """Lectures and sheets; with `?paper` in its address a page looks as it is printed."""
        places = {
            (
                page.stem,
                number[0] if (number := re.match(r"\d+", words)) else "",
            ): f"{page.place}#{at}"
            for page in readings
            if page.folder == "notebooks"
            for _, at, words in reversed([*page.contents, ("", "content", "")])
        }
        pictures = {page.stem: page.picture for page in readings if page.picture}
        self.picture = self.picture or _inside(next(iter(pictures.values()), ""))
        for reading, path in zip(readings, digests, strict=True):
            same = [other for other in readings if other.folder == reading.folder]
            here = same.index(reading)
            sheet = reading.folder == "exercises"
            self.write(
                reading.place,
                "reading",
                title=reading.title,
                description=reading.about,
                shared_picture=_inside(pictures.get(reading.stem, "")) or self.picture,
                reading=reading,
                units=units,
                body=Markup(lead_terms(reading.body, places, "../")),
                doors=self._doors(reading, units),
                before=same[here - 1] if here else None,
                after=same[here + 1] if here + 1 < len(same) else None,
                sheet=sheet,
                digest=digests[path],
                about=self._about(reading, notebooks[path], units) if sheet else {},
            )

    def paper(self, root: Path, units: Sequence[Unit]) -> None:
        """Sheets to be printed: numbers, and room to write."""
        solutions = [root / "solutions" / f"{unit.stem}.ipynb" for unit in units]
        for path, sheet in blank_sheets(solutions).items():
            lecture = (root / "notebooks" / path.name).resolve()
            leads = {lecture: f"../notebooks/{path.stem}.html"}
            page = as_page(path, sheet, leads, keep=False, paper=True)
            page = page.replace(font_inside(), FONT_BESIDE)  # it lies on the site once
            self.site.page(f"paper/{path.stem}.html", page)

    def _about(
        self, reading: Reading, notebook: NotebookNode, units: Sequence[Unit]
    ) -> dict[str, Any]:
        """What the page of a sheet has to know to be worked on."""
        unit = next(unit for unit in units if unit.stem == reading.stem)
        path = f"exercises/{reading.stem}.ipynb"
        return {"path": path, "seconds": SECONDS, **about_sheet(notebook, unit.exercises)}

    def _doors(self, reading: Reading, units: Sequence[Unit]) -> list[tuple[str, str]]:
        notebook = f"{reading.folder}/{reading.stem}.ipynb"
        if reading.folder == "exercises":
            return [
                ("The lecture", f"notebooks/{reading.stem}.html"),
                ("On paper", f"paper/{reading.stem}.html"),
                ("In JupyterLab", f"lite/lab/index.html?path={notebook}"),
            ]
        doors = [("Run this in your browser", f"lite/notebooks/index.html?path={notebook}")]
        if reading.stem != self.facts.start:
            doors.append(("Exercises", f"exercises/{reading.stem}.html"))
            if f"slides/{reading.stem}.html" in self.site.names:
                doors.append(("Slides", f"slides/{reading.stem}.html"))
            doors.append(("On paper", f"{reading.place}?paper"))
        return doors

    def landing(
        self,
        units: Sequence[Unit],
        readings: Sequence[Reading],
        decks: Sequence[str],
        course: Course,
        guides: Sequence[Document],
        notebooks: Mapping[Path, NotebookNode],
    ) -> None:
        """The first page: what this is, the map, and what each unit teaches."""
        lectures = {r.stem: r for r in readings if r.folder == "notebooks"}
        rows = []
        for unit in units:
            lecture = lectures[unit.stem]
            rows.append(
                {name: getattr(unit, name) for name in ("stem", "title", "label", "minutes")}
                | {
                    "number": unit.number,
                    "points": unit.points,
                    "transfer_points": unit.transfer_points,
                    "exercises": unit.exercises,
                }
                | {
                    "goals": Markup(lecture.goals),
                    "picture": _inside(lecture.picture),
                    "picture_words": lecture.picture_words,
                    "deck": f"slides/{unit.stem}.html" if unit.stem in decks else "",
                }
            )
        example = self._example(course, units, readings, notebooks)
        picture = "" if example else course.picture and f"static/{Path(course.picture).name}"
        if picture:
            self.site.copy(picture, course.folder / course.picture)
        self.write(
            "index.html",
            "landing",
            title=self.facts.title,
            picture=picture,
            example=example,
            units=rows,
            map=Markup(drawn_map(units)),
            guides=guides,
        )

    def _example(
        self,
        course: Course,
        units: Sequence[Unit],
        readings: Sequence[Reading],
        notebooks: Mapping[Path, NotebookNode],
    ) -> dict[str, Any]:
        """The exercise that is answered on the first page; none if it is not on this site."""
        for unit in units:
            found = [e for e in unit.listed if e.number == course.example]
            if not found:
                continue
            page = next(r for r in readings if (r.folder, r.stem) == ("exercises", unit.stem))
            answer = id_of(Role.ANSWER, found[0].name)
            sheet = course.folder / "exercises" / f"{unit.stem}.ipynb"
            about = {**self._about(page, notebooks[sheet], units), "only": answer}
            question = Markup(question_in(page.body, id_of(Role.TEXT, found[0].name)))
            return {"about": about, "answer": answer, "question": question, "unit": unit}
        return {}

    def sources(self, root: Path, units: Sequence[Unit]) -> None:
        """What the lectures rest on."""
        listed = read_sources(root / "notebooks")
        groups = [(unit, [s for s in listed if s["unit"] == unit.number]) for unit in units]
        self.write(
            "sources.html",
            "sources",
            title="Sources",
            description="What the lectures rest on, and what each source is used for.",
            groups=groups,
        )

    def documents(self, pages: Sequence[Document], root: Path) -> None:
        """The pages of docs/, and the pictures that they show."""
        for page in pages:
            about = {"description": page.about} if page.about else {}
            self.write(page.place, "plain", title=page.title, body=Markup(page.body), **about)
            for picture in page.pictures:
                if picture.endswith(".png"):
                    self.site.data(as_webp(picture), smaller((root / picture).read_bytes()))
                else:
                    self.site.copy(picture, root / picture)

    def sheets(self, units: Sequence[Unit], readings: Sequence[Reading]) -> None:
        """The exercises of all sheets, by which every page tells how one stands."""
        pages = {reading.stem: reading for reading in readings if reading.folder == "exercises"}
        listed = []
        for unit in units:
            headings = [EXERCISE.match(words) for _, _, words in pages[unit.stem].contents]
            there = {heading[1] for heading in headings if heading}
            listed.append(
                {
                    "path": f"exercises/{unit.stem}.ipynb",
                    "page": f"exercises/{unit.stem}.html",
                    "number": unit.number,
                    "exercises": [
                        {"name": e.name, "number": e.number, "points": e.points}
                        for e in unit.listed
                        if e.number in there and self.facts.counts(e.is_transfer)
                    ],
                }
            )
        self.site.text("static/sheets.json", json.dumps(listed, separators=(",", ":")))

    def others(self, readings: Sequence[Reading], shelf: Shelf, root: Path) -> None:
        """Search, license, the page for addresses that lead nowhere, and facts for scripts."""
        in_order = sorted(readings, key=lambda reading: reading.stem == self.facts.start)
        sections = [section for reading in in_order for section in reading.sections]
        self.site.text(
            "static/search.json", json.dumps(sections, ensure_ascii=False, separators=(",", ":"))
        )
        size = sum(path.stat().st_size for path in shelf.wheels.values())
        if shelf.runtime:
            size += sum(path.stat().st_size for path in shelf.runtime.values())
        facts = {
            "storage": self.facts.storage,
            "size": f"{max(size // 10**6, 30)} MB",
            "pyodide": runtime_address(shelf),
            "lock": f"{PACKAGES}/{LOCK}",
            "fonts": shelf.font_folder,
            "loads": loads(shelf),
            "warm": WARM.format(package=self.facts.package),
            "package": shelf.course,
            "needs": f"{page_size(shelf) // 10**6} MB" if shelf.runtime else "about 20 MB",
        }
        self.site.text("static/course.json", json.dumps(facts))
        path = root / "LICENSE"
        license = path.read_text(encoding="utf-8") if path.exists() else self.facts.license
        text = Markup("<pre>{}</pre>").format(license)
        self.write("license.html", "plain", title="License", body=text)
        lost = Markup('<p>There is no such page. The <a href="{}">first page</a> lists all.</p>')
        # Where the path is not known, a script looks for the first page, and goes there to say it.
        known = self.facts.base != "/"
        up = self.facts.base if known else ""
        body = lost.format(f"{up}index.html") + ("" if known else Markup(FIND_ROOT))
        self.write("404.html", "plain", title="Not found", body=body, up=up)
        self.site.text(".nojekyll", "")

    def for_others(self) -> None:
        """For search engines, if the address is known: the list of all pages."""
        if self.facts.address:
            rows = (
                f"<url><loc>{self.facts.address}{_short(place)}</loc></url>"
                for place in self.places
            )
            space = "http://www.sitemaps.org/schemas/sitemap/0.9"
            listed = f'<urlset xmlns="{space}">\n' + "\n".join(rows) + "\n</urlset>\n"
            self.site.text("sitemap.xml", f'<?xml version="1.0" encoding="UTF-8"?>\n{listed}')


def _short(place: str) -> str:
    """The address of a folder is that of its first page."""
    return place.removesuffix("index.html")


def _shown_of(course: Course) -> str:
    """The picture of the course, if it has one."""
    path = course.folder / course.picture
    with_one = course.picture.endswith(".png") and path.is_file()
    return _inside(base64.b64encode(path.read_bytes()).decode()) if with_one else ""


def _inside(png: str) -> str:
    """A picture in base64 as a page carries it, until the site puts it into a file."""
    return png and f"data:image/png;base64,{png}"


def require_address(address: str) -> str:
    """`https://example.org/course/` with its slash; anything else gets a sentence."""
    parts = urlsplit(address)
    if address and (parts.scheme not in ("http", "https") or not parts.netloc or parts.query):
        raise CourseError(
            f"The address is {address!r}; it is that of the first page, such as "
            "https://example.org/course/."
        )
    return address if not address or address.endswith("/") else f"{address}/"


def require_base(base: str) -> str:
    """`/course/` as it is; anything else gets a sentence."""
    if not (base.startswith("/") and base.endswith("/")):
        raise CourseError(f"--base-path is {base!r}; it begins and ends with /, such as /course/.")
    return base
