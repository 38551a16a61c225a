"""docs/benchmarks.md and the README's quotes: both written by what was measured.

A section is a heading, a line about the machine, and what the benchmark said. A new measurement
replaces its section and leaves the others. The quote of a section ends with a mark, and the line
of the README with the same mark is a copy of it.
"""

from __future__ import annotations

import re
from pathlib import Path

PAGE, README = Path("docs", "benchmarks.md"), Path("README.md")
INTRODUCTION = """\
# Measurements

Written by `make benchmark`, section by section (`make benchmark ARGS=checks` measures one anew);
nobody edits this page. What is compared runs side by side in one run, in turns; numbers in
brackets are the quarters below and above the median. Trust ratios more than times. Packages
that are not installed are named and left out; `make benchmark-peers` puts PyTorch, SciPy, POT,
nbgrader, otter-grader and ipympl into an environment of their own and measures with them.
"""
HEADING = re.compile(r"^## ", re.MULTILINE)


def sections(page: str) -> dict[str, str]:
    """The sections of the page by their titles."""
    found = {}
    for part in HEADING.split(page)[1:]:
        title, _, text = part.partition("\n")
        found[title.strip()] = text.strip()
    return found


def with_section(page: str, title: str, text: str, order: list[str]) -> str:
    """The page with this section in its place; sections that are no longer known go."""
    known = {**sections(page), title: text.strip()}
    parts = [f"## {name}\n\n{known[name]}\n" for name in order if name in known]
    return "\n".join([INTRODUCTION, *parts])


def mark(name: str) -> str:
    """What ends the quoted line of a section."""
    return f"<!-- measured: {name} -->"


def quotes(text: str) -> dict[str, str]:
    """The quoted lines of a page or of the README, by the names of their sections."""
    found = re.findall(r"^(?:- )?(.*) <!-- measured: (\w+) -->$", text, re.MULTILINE)
    return {name: line.strip() for line, name in found}


def with_quote(readme: str, name: str, quote: str) -> str:
    """The README with the line of this mark renewed; a README without it stays as it is."""
    pattern = re.compile(rf"^(- )?.*{re.escape(mark(name))}$", re.MULTILINE)
    return pattern.sub(lambda line: f"{line[1] or ''}{quote} {mark(name)}", readme)


def write(root: Path, title: str, text: str, order: list[str]) -> None:
    """Put a measured section into the page, and its quote into the README."""
    page, readme = root / PAGE, root / README
    before = page.read_text(encoding="utf-8") if page.exists() else ""
    page.write_text(with_section(before, title, text, order), encoding="utf-8")
    told = readme.read_text(encoding="utf-8")
    for name, quote in quotes(text).items():
        told = with_quote(told, name, quote)
    readme.write_text(told, encoding="utf-8")
