"""The pages of docs/ on the site: Markdown as it lies there, with links that lead on the site.

for page in documents(root):
    print(page.place, page.title)  # docs/students.html For students
"""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass
from pathlib import Path

LEFT_OUT = ("docs/bundle",)  # what goes to students as it is
WITH_PAGES = ("notebooks", "exercises", "docs")


@dataclass(frozen=True)
class Document:
    """A page: its place on the site, its title, its body as HTML, and the files that it shows."""

    place: str
    title: str
    body: str
    about: str  # its first words
    pictures: tuple[str, ...]


def documents(root: Path) -> list[Document]:
    """All pages of docs/, in the order of their names; none if there is no such folder."""
    paths = sorted((root / "docs").rglob("*.md"))
    places = [path.relative_to(root) for path in paths]
    return [_page(root, p) for p in places if not p.as_posix().startswith(LEFT_OUT)]


def _page(root: Path, path: Path) -> Document:
    from bs4 import BeautifulSoup
    from nbconvert.filters.markdown import markdown2html

    text = (root / path).read_text(encoding="utf-8")
    soup = BeautifulSoup(str(markdown2html(text)), "html.parser")
    for mark in soup.select("a.anchor-link"):
        mark.decompose()
    heading = soup.h1.extract().get_text() if soup.h1 else path.stem
    for title in soup.find_all(re.compile("^h[2-6]$")):
        words = re.sub(r"[^\w\- ]", "", title.get_text().lower())  # as GitHub makes addresses
        title["id"] = words.strip().replace(" ", "-")
    for link in soup.select("a[href]"):
        target = _on_site(path, str(link["href"]))
        if target is None:
            link.unwrap()
        else:
            link["href"] = target
    for table in soup.find_all("table"):  # wider than a phone: it scrolls by itself
        table.wrap(soup.new_tag("div", attrs={"class": "wide"}))
    pictures = tuple(_beside(path, str(image["src"])) for image in soup.select("img[src]"))
    for image in soup.select("img[src$='.png']"):
        image["src"] = as_webp(str(image["src"]))
    first = textwrap.shorten(soup.p.get_text(), 180, placeholder=" …") if soup.p else ""
    return Document(_page_place(path), heading, str(soup), first, pictures)


def as_webp(name: str) -> str:
    """The name of a screenshot on the site, where it takes a third of the bytes."""
    return re.sub(r"\.png$", ".webp", name)


def _on_site(page: Path, target: str) -> str | None:
    """Where a link leads on the site; None where the site does not have it."""
    address, _, section = target.partition("#")
    if re.match(r"\w+:", target) or not address:
        return target
    path = Path(_beside(page, address))
    if path.parts[0] not in WITH_PAGES:
        return None
    if path.suffix not in (".md", ".ipynb"):
        return target
    leads = Path(address).with_suffix(".html").as_posix()
    leads = re.sub(r"README\.html$", "index.html", leads)
    return f"{leads}#{section}" if section else leads


def _beside(page: Path, target: str) -> str:
    """A relative address, seen from the root of the course."""
    parts: list[str] = []
    for part in (page.parent / target).parts:
        if part == "..":
            parts.pop()
        else:
            parts.append(part)
    return "/".join(parts)


def _page_place(path: Path) -> str:
    name = "index" if path.stem == "README" else path.stem
    return path.with_name(f"{name}.html").as_posix()
