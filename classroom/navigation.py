"""The way through the course: the line of links at head and foot of every lecture and exercise.

The lines are generated from the file names (their order) and the lectures' titles, into markdown
cells of their own. Solutions carry the links of the exercise that is generated from them. Where
some units are left out, as in a students' bundle, `close` leaves no link that leads nowhere.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from urllib.parse import unquote

from nbformat import NotebookNode
from nbformat.v4 import new_markdown_cell

from selfcheck.files import write_whole

from .notebooks import as_text, read

HEAD, FOOT = "nav-head", "nav-foot"
START = "00_start_here.ipynb"
SOURCES = ("notebooks", "solutions")  # in a students' bundle there are exercises instead
UNTOUCHED = re.compile(r"(```.*?```|(`+)(?!`).*?(?<!`)\2(?!`)|\$\$.*?\$\$|\$[^$]*\$)", re.DOTALL)
LINK = re.compile(
    r"""!?\[(?P<text>(?:[^][]|\[[^][]*\])*)\]\((?P<target>[^()\s]*)(?P<title>\s+"[^"]*")?\)"""
)
ATTRIBUTE = re.compile(r"""\s(?:xlink:)?(?:href|src)=(?P<quote>["'])(?P<target>.*?)(?P=quote)""")
WITH_LINKS = ("text/html", "text/markdown", "image/svg+xml")
Change = Callable[[str], str | None]  # the new target of a link, or None for no link at all


# -- head and foot --------------------------------------------------------------------------------


def outdated(root: Path, folders: Sequence[str] = SOURCES) -> dict[Path, str]:
    """The notebooks whose links are not as they should be, each with the text to be saved."""
    lectures = {path.name: read(path) for path in _notebooks(root, ["notebooks"])}
    titles = {name: short_title(notebook, name) for name, notebook in lectures.items()}
    tasks = sorted({p.name for p in _notebooks(root, ["solutions", "exercises"])})
    fresh = {}
    for path in _notebooks(root, folders):
        kind = lecture_links if path.parent.name == "notebooks" else exercise_links
        notebook = read(path)
        before = notebook.cells
        if with_links(notebook, kind(path.name, titles, tasks)).cells != before:
            fresh[path] = as_text(notebook)
    return fresh


def link(root: Path, folders: Sequence[str] = SOURCES) -> list[Path]:
    """Write the links into lectures and solutions; return what changed."""
    fresh = outdated(root, folders)  # all of them, before the first one is written
    for path, text in fresh.items():
        write_whole(path, text)
    return list(fresh)


def with_links(notebook: NotebookNode, line: str) -> NotebookNode:
    """The notebook with this line as its first and its last cell; all else stays as it is."""
    cells = [cell for cell in notebook.cells if cell.id not in (HEAD, FOOT)]
    notebook.cells = [_cell(HEAD, line), *cells, _cell(FOOT, line)] if line else cells
    return notebook


def lecture_links(name: str, titles: dict[str, str], tasks: Sequence[str]) -> str:
    """Previous lecture, start page, exercises, next lecture: those that there are."""
    before, after = _neighbors(name, list(titles))
    start = START in titles and START not in (name, before)
    return _line(
        f"← {_link(titles[before], before)}" if before else "",
        _link("Start", START) if start else "",
        _link("Exercises", f"../exercises/{name}") if name in tasks else "",
        f"{_link(titles[after], after)} →" if after else "",
    )


def exercise_links(name: str, titles: dict[str, str], tasks: Sequence[str]) -> str:
    """Previous exercises, start page, lecture, next exercises: those that there are."""
    before, after = _neighbors(name, tasks)
    return _line(
        f"← {_link(_exercises_of(before, titles), before)}" if before else "",
        _link("Start", f"../notebooks/{START}") if START in titles else "",
        _link("Lecture", f"../notebooks/{name}") if name in titles else "",
        f"{_link(_exercises_of(after, titles), after)} →" if after else "",
    )


def short_title(notebook: NotebookNode, name: str) -> str:
    """The first heading up to its colon or comma; without one, the file's name."""
    texts = (cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    heading = re.search(r"^# +(.+)$", "\n".join(texts), re.MULTILINE)
    title = heading[1].strip() if heading else name.removesuffix(".ipynb")
    return re.split(r"[:;,] ", title)[0]


def _notebooks(root: Path, folders: Iterable[str]) -> list[Path]:
    return [path for folder in folders for path in sorted((root / folder).glob("*.ipynb"))]


def _cell(name: str, line: str) -> NotebookNode:
    return new_markdown_cell(line, id=name, metadata={"slideshow": {"slide_type": "skip"}})


def _neighbors(name: str, names: Sequence[str]) -> tuple[str | None, str | None]:
    place = names.index(name)
    return (names[place - 1] if place else None), next(iter(names[place + 1 :]), None)


def _exercises_of(name: str, titles: dict[str, str]) -> str:
    return f"Exercises {titles.get(name, name.removesuffix('.ipynb'))}"


def _link(text: str, target: str) -> str:
    escaped = re.sub(r"([][])", r"\\\1", text)
    return f"[{escaped}]({target})"


def _line(*parts: str) -> str:
    return " | ".join(part for part in parts if part)


# -- all links of a folder ------------------------------------------------------------------------


def close(root: Path) -> None:
    """Link what is in this folder to each other, and turn links to anything else into plain text.

    For a students' bundle: it has some units only, and no solutions.
    """
    link(root, ["notebooks", "exercises"])
    for path in _notebooks(root, ["notebooks", "exercises"]):
        notebook = read(path)
        before = copy.deepcopy(notebook)
        if relink_notebook(notebook, _within(root, path.parent)) != before:
            write_whole(path, as_text(notebook))
    for path in sorted(root.glob("*.md")):
        text = path.read_bytes().decode()
        after = relink(text, _within(root, root))
        if after != text:
            write_whole(path, after)


def relink_notebook(notebook: NotebookNode, change: Change) -> NotebookNode:
    """Change the links in the text cells and in the outputs of a notebook."""
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            cell.source = relink(cell.source, change)
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            data.update({kind: relink(data[kind], change) for kind in WITH_LINKS if kind in data})
    return notebook


def relink(text: str, change: Change) -> str:
    """Change the links of a text in markdown or HTML, but nothing in code or formulas."""
    place, parts = 0, []
    for region in UNTOUCHED.finditer(text):
        parts += [_relink_words(text[place : region.start()], change), region[0]]
        place = region.end()
    return "".join([*parts, _relink_words(text[place:], change)])


def _relink_words(words: str, change: Change) -> str:
    def in_markdown(link: re.Match[str]) -> str:
        target = change(link["target"])
        text = _relink_words(link["text"], change)  # a picture may be a link
        opening = link[0][: link[0].index("[") + 1]
        return text if target is None else f"{opening}{text}]({target}{link['title'] or ''})"

    def in_html(attribute: re.Match[str]) -> str:
        target = change(attribute["target"])
        return "" if target is None else attribute[0].replace(attribute["target"], target)

    return ATTRIBUTE.sub(in_html, LINK.sub(in_markdown, words))


def _within(root: Path, folder: Path) -> Change:
    """Keep links from this folder to what is there below root, and links out into the world."""

    def change(target: str) -> str | None:
        path = (folder / unquote(target.partition("#")[0])).resolve()
        is_there = path.exists() and path.is_relative_to(root.resolve())
        leads_out = re.match(r"[a-z][a-z0-9+.-]*:|//|#", target, re.IGNORECASE)
        return target if is_there or leads_out else None

    return change
