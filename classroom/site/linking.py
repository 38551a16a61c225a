"""Where words of a page lead: terms to the section that introduces them, authors to their paper."""

from __future__ import annotations

import html
import re
import tomllib
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from selfcheck.typeset import FORMULA

from .. import glossary

if TYPE_CHECKING:
    from bs4 import Tag

SOURCES = "sources.toml"
# Where words are left as they are: what leads somewhere already, is set, or is a heading.
LEFT = ["a", "pre", "code", "math", "h1", "h2", "h3", "h4", "th", "strong", "figure", "summary"]
TERM = re.compile(r'<a aria-description="([^"]*)" class="term" href="term:(\w+):(\d*)">([^<]*)</a>')


def read_sources(lectures: Path) -> list[dict[str, Any]]:
    """What the lectures rest on; nothing if they name no sources."""
    path = lectures / SOURCES
    found: list[dict[str, Any]] = []
    if path.exists():
        found = tomllib.loads(path.read_text(encoding="utf-8")).get("source", [])
    return found


def explain_terms(main: Tag, path: Path) -> None:
    """Give the glossary's terms their sentence to hover over.

    In bold, where one is introduced; and as a link, where a page first uses one that an earlier
    unit has introduced, or in a sheet also its own unit.
    """
    lectures = path.parent.parent / "notebooks"
    if not (lectures / glossary.FILE).exists():
        return
    terms = {term.name.casefold(): term for term in glossary.read_terms(lectures)}
    for words in main.select("strong"):
        if term := terms.get(" ".join(words.get_text().split()).casefold()):
            words["title"] = term.sentence
    sheet = path.parent.name == "exercises"
    known = {
        n: t for n, t in terms.items() if t.unit < path.stem or (sheet and t.unit == path.stem)
    }
    if not known or not path.stem[:1].isdigit():
        return
    longest_first = sorted(known, key=len, reverse=True)
    names = "|".join(re.escape(name).replace(r"\ ", r"\s+") for name in longest_first)

    def link(found: re.Match[str]) -> str:
        term = known.pop(" ".join(found[1].split()).casefold(), None)
        if term is None:  # told before
            return html.escape(found[0], quote=False)
        about = f'aria-description="{html.escape(term.sentence)}" class="term"'
        words = html.escape(found[0], quote=False)
        return f'<a {about} href="term:{term.unit}:{term.section}">{words}</a>'

    _replace(main.select("p, li"), re.compile(rf"\b({names})(?:s|es)?\b", re.IGNORECASE), link)


def cite_sources(main: Tag, path: Path) -> None:
    """Authors who are named in a text, with the year or all of them, lead to their paper."""
    number = path.stem.partition("_")[0]
    found = sorted(
        (s for s in read_sources(path.parent.parent / "notebooks") if s.get("link")),
        key=lambda source: source["unit"] != number,
    )
    by_name: dict[str, list[dict[str, Any]]] = {}
    for source in found:
        by_name.setdefault(source["authors"], []).append(source)
    if not by_name:
        return
    longest_first = sorted(by_name, key=len, reverse=True)
    names = "|".join(re.escape(name).replace(r"\ ", r"\s+") for name in longest_first)

    def link(match: re.Match[str]) -> str:
        words = html.escape(match[0], quote=False)
        written = by_name[" ".join(match[1].split())]
        fitting = [s for s in written if match[2] in (None, str(s["year"]))]
        if not fitting or (match[2] is None and " " not in match[1]):
            return words
        return f'<a class="source" href="{html.escape(fitting[0]["link"])}">{words}</a>'

    pattern = re.compile(rf"\b({names})\b(?:,?\s+\(?(\d{{4}})\)?)?")
    blocks = main.select("p, li")
    _replace([block for block in blocks if not block.select("a[href^=http]")], pattern, link)


def _replace(
    blocks: list[Tag], pattern: re.Pattern[str], link: Callable[[re.Match[str]], str]
) -> None:
    from bs4 import BeautifulSoup

    for block in blocks:
        for text in block.find_all(string=pattern):
            if text.find_parent(LEFT):
                continue
            parts, last, words = [], 0, str(text)
            formulas = [found.span() for found in FORMULA.finditer(words)]  # to be set, as a whole
            for found in pattern.finditer(words):
                if any(start < found.start() < end for start, end in formulas):
                    continue
                parts += [html.escape(words[last : found.start()], quote=False), link(found)]
                last = found.end()
            made = "".join([*parts, html.escape(words[last:], quote=False)])
            if "<a " in made:
                text.replace_with(BeautifulSoup(made, "html.parser"))


def lead_terms(body: str, places: Mapping[tuple[str, str], str], up: str) -> str:
    """The page with its terms leading to these places, by unit and section; without, to none."""

    def leads(found: re.Match[str]) -> str:
        sentence, unit, section, words = found.groups()
        place = places.get((unit, section)) or places.get((unit, ""))
        if place is None:
            return f'<span class="term" title="{sentence}">{words}</span>'
        return f'<a class="term" href="{up}{place}" aria-description="{sentence}">{words}</a>'

    return TERM.sub(leads, body)
