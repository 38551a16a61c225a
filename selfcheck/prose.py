"""Hints, practice and known mistakes of a unit, as prose in a Markdown file beside its checks.

    # 2.1 even_sum

    ## Hints

    1. Take the factor 2 out of every term.
    2. 1 + 2 + … + n is n(n + 1)/2.

    ## Practice

    ```python
    m = range(3, 30)
    right = sum(range(2, 2 * m + 1, 2))
    ```

    What is the sum of the first <m> even numbers?

    ## Mistake: the factor 2 lost

    - part: Formula

    ```formula
    n*(n + 1)/2
    ```

    That is 1 + 2 + … + n. Every even number is twice as large.

A mistake has a name, examples and an explanation. An example is a block of one of four kinds:
`formula` (an answer a line), `lines` (one answer that consists of lines), `python` (a function, or
the answers as an expression) or `numbers` (the wrong answers as an expression in n, the numbers of
a student's own). Or a line `- example: name` takes it from the Python file of mistakes beside the
checks, sums_mistakes.py, as `- when: name` takes a predicate; a short one stands in a block `when`,
as a lambda of the answers. What stands in Python is
evaluated with all names of the checks and of that file. Practice is a task that is drawn anew: what
is drawn, what is right, and the question (see practice.py); its file is sums_practice.py. Whatever
cannot be read is refused with its line.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from .files import CourseError

EXERCISE = re.compile(r"# (?P<number>\d+\.\d+) (?P<name>\w+)")
MISTAKE = re.compile(r"## Mistake: (?P<name>\S.*)")
SETTING = re.compile(r"- (?P<key>[a-z ]+): *(?P<value>.*)")
HINT = re.compile(r"(?P<number>\d+)\. (?P<text>\S.*)")
FENCE = re.compile(r"```(?P<kind>\w*)")
HINTS = "## Hints"
HINTS_FIRST = "hints stand once, before practice and mistakes."
SETTINGS = ("part", "example", "when", "not finite")
KINDS = ("formula", "lines", "python", "numbers", "when")
MISTAKES = "_mistakes"  # how the Python file ends that the prose names
PRACTICE = "_practice"  # how the file ends that has what sister tasks need


@dataclass
class Example:
    """A block with an example: its kind, its text, and the line at which that begins."""

    kind: str
    code: str
    line: int


@dataclass
class Mistake:
    """A known mistake as it is written: nothing is evaluated yet."""

    name: str
    line: int
    settings: dict[str, str] = field(default_factory=dict)
    examples: list[Example] = field(default_factory=list)
    when: Example | None = None  # a predicate that stands in the prose
    explanation: str = ""


@dataclass
class Practice:
    """A sister task as it is written: what is drawn and what is right, then the question."""

    line: int
    code: Example | None = None
    asks: list[str] = field(default_factory=list)  # by paragraphs


@dataclass
class Section:
    """What the file says about one exercise."""

    number: str
    name: str
    line: int
    hints: list[str] = field(default_factory=list)
    practice: list[Practice] = field(default_factory=list)
    mistakes: list[Mistake] = field(default_factory=list)
    text: str = ""  # all of it but practice, on which no verdict depends, for a digest


def prose_beside(module: str | Path) -> Path:
    """The file of hints and mistakes that belongs to a check module."""
    return Path(module).with_suffix(".md")


def mistakes_beside(module: str | Path) -> Path:
    """The Python file of examples that the prose of a check module names, if there is one."""
    path = Path(module)
    return path.with_name(f"{path.stem}{MISTAKES}.py")


def read_prose(file: Path) -> tuple[Section, ...]:
    """The sections of a file, in order; none if there is no file. CourseError names a bad line."""
    if not file.exists():
        return ()
    return _read(file, file.stat().st_mtime_ns)


@functools.lru_cache(maxsize=64)
def _read(file: Path, _: int) -> tuple[Section, ...]:
    try:
        text = file.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise CourseError(f"{file} cannot be read: {error}.") from None
    return tuple(_Reader(file, text.splitlines()).sections())


class _Reader:
    """Goes through the lines of a file once, and knows at which it is."""

    def __init__(self, file: Path, lines: list[str]) -> None:
        self.file, self.lines, self.place = file, lines, 0

    def refusal(self, says: str, line: int | None = None) -> CourseError:
        """The sentence for an author, with the line at hand or another one."""
        return CourseError(f"{self.file}, line {line or self.place + 1}: {says}")

    def blocks(self) -> Iterator[tuple[int, list[str]]]:
        """Paragraphs, headings, lists and fenced blocks, each with the number of its first line."""
        while self.place < len(self.lines):
            if not self.lines[self.place].strip():
                self.place += 1
                continue
            start = self.place
            if self.lines[start].startswith("```"):
                self._to_the_end_of_a_fence()
            else:
                while self.place < len(self.lines) and self._goes_on(start):
                    self.place += 1
            yield start + 1, self.lines[start : self.place]

    def _goes_on(self, start: int) -> bool:
        """Does this line belong to the block that began there? A heading stands alone."""
        row = self.lines[self.place]
        if self.place == start:
            return True
        if self.lines[start].startswith("#"):
            return False
        return bool(row.strip()) and not row.startswith(("#", "```"))

    def _to_the_end_of_a_fence(self) -> None:
        start = self.place
        self.place += 1
        while self.place < len(self.lines) and not self.lines[self.place].startswith("```"):
            self.place += 1
        if self.place == len(self.lines):
            raise self.refusal("this block has no end; close it with ```.", start + 1)
        if self.lines[self.place].strip() != "```":
            raise self.refusal("the end of a block is ``` alone.")
        self.place += 1

    def sections(self) -> Iterator[Section]:
        """The sections, each complete when it is given."""
        section: Section | None = None
        below: Mistake | Practice | str = ""  # what the last heading began
        for line, block in self.blocks():
            first = block[0]
            if found := EXERCISE.fullmatch(first):
                if section:
                    yield self._complete(section, line - 1)
                section, below = Section(found["number"], found["name"], line), ""
            elif section is None:
                raise self.refusal("before it stands no heading such as `# 2.1 name`.", line)
            elif first.startswith("#"):
                if first == HINTS == below:
                    raise self.refusal(HINTS_FIRST, line)
                below = self._begun(section, line, first)
            elif isinstance(below, Mistake):
                self._add_to(below, line, block)
            elif isinstance(below, Practice):
                self._add_to_practice(below, line, block)
            elif below == HINTS:
                section.hints += self._hints(line, block, len(section.hints))
            else:
                raise self.refusal("this belongs to no hint and no mistake.", line)
        if section:
            yield self._complete(section, len(self.lines))

    def _begun(self, section: Section, line: int, heading: str) -> Mistake | Practice | str:
        """What a heading below that of an exercise begins: hints, practice or a mistake."""
        if heading == HINTS:
            if section.mistakes or section.practice or section.hints:
                raise self.refusal(HINTS_FIRST, line)
            return HINTS
        if heading == "## Practice":
            if section.mistakes:
                raise self.refusal("practice stands before the mistakes.", line)
            section.practice.append(Practice(line))
            return section.practice[-1]
        if found := MISTAKE.fullmatch(heading):
            section.mistakes.append(Mistake(found["name"].strip(), line))
            return section.mistakes[-1]
        says = "a heading is `# 2.1 name`, `## Hints`, `## Practice` or `## Mistake: name`."
        raise self.refusal(says, line)

    def _hints(self, line: int, block: list[str], before: int) -> list[str]:
        """A numbered list; a hint may go on in lines that are indented."""
        hints: list[str] = []
        for offset, row in enumerate(block):
            if found := HINT.fullmatch(row.rstrip()):
                if int(found["number"]) != before + len(hints) + 1:
                    raise self.refusal("hints are numbered 1., 2., 3. and so on.", line + offset)
                hints.append(found["text"])
            elif hints and row.startswith(" "):
                hints[-1] += f" {row.strip()}"
            else:
                raise self.refusal("a hint begins with its number: `1. …`.", line + offset)
        return hints

    def _add_to(self, mistake: Mistake, line: int, block: list[str]) -> None:
        """Settings first, then the block with the example, then the explanation."""
        first = block[0]
        if fence := FENCE.fullmatch(first.rstrip()):
            self._set_example(mistake, line, fence["kind"], block[1:-1])
        elif first.startswith("- ") and not mistake.explanation and not mistake.examples:
            for offset, row in enumerate(block):
                self._set(mistake, line + offset, row)
        else:
            words = " ".join(row.strip() for row in block)
            mistake.explanation = f"{mistake.explanation} {words}".strip()

    def _add_to_practice(self, practice: Practice, line: int, block: list[str]) -> None:
        """A block of Python, then the question: paragraphs, tables and blocks to be shown."""
        fence = FENCE.fullmatch(block[0].rstrip())
        if fence and not practice.asks:
            if fence["kind"] != "python" or practice.code:
                raise self.refusal("practice begins with one block `python`.", line)
            practice.code = Example("python", "\n".join(block[1:-1]), line + 1)
        elif fence or block[0].startswith("|"):
            practice.asks.append("\n".join(block))
        else:
            practice.asks.append(" ".join(row.strip() for row in block))

    def _set_example(self, mistake: Mistake, line: int, kind: str, code: list[str]) -> None:
        if kind not in KINDS:
            raise self.refusal(f"a block is of a kind: {', '.join(KINDS)}; not {kind!r}.", line)
        if kind == "when" and (mistake.when or "when" in mistake.settings):
            raise self.refusal("when is set twice.", line)
        if kind != "when" and "example" in mistake.settings:
            raise self.refusal(f"the mistake {mistake.name!r} has an example already.", line)
        if mistake.explanation:
            raise self.refusal("examples stand before the explanation.", line)
        if not "".join(code).strip():
            raise self.refusal("this block is empty.", line)
        block = Example(kind, "\n".join(code), line + 1)
        if kind == "when":
            mistake.when = block
        else:
            mistake.examples.append(block)

    def _set(self, mistake: Mistake, line: int, row: str) -> None:
        found = SETTING.fullmatch(row.rstrip())
        if not found or found["key"] not in SETTINGS:
            known = ", ".join(f"`- {key}: …`" for key in SETTINGS)
            raise self.refusal(f"there is no such setting; there are {known}.", line)
        if found["key"] in mistake.settings or (found["key"] == "when" and mistake.when):
            raise self.refusal(f"{found['key']} is set twice.", line)
        if not found["value"].strip():
            raise self.refusal(f"{found['key']} has no value.", line)
        mistake.settings[found["key"]] = found["value"].strip()

    def _complete(self, section: Section, last: int) -> Section:
        """The section, if each of its mistakes has an example and an explanation."""
        known: set[tuple[str, str]] = set()
        for mistake in section.mistakes:
            if (key := (mistake.name, mistake.settings.get("part", ""))) in known:
                says = f"there is a mistake {mistake.name!r} of {section.name} already."
                raise self.refusal(says, mistake.line)
            known.add(key)
            if not mistake.examples and "example" not in mistake.settings:
                raise self.refusal(f"the mistake {mistake.name!r} has no example.", mistake.line)
            if not mistake.explanation:
                says = f"the mistake {mistake.name!r} has no explanation."
                raise self.refusal(says, mistake.line)
            if mistake.settings.get("not finite", "yes") != "yes":
                raise self.refusal("`- not finite: yes`, or no such line.", mistake.line)
        for practice in section.practice:
            if not practice.asks:
                raise self.refusal("this practice asks nothing.", practice.line)
        last_of_practice = section.mistakes[0].line - 1 if section.mistakes else last
        first = section.practice[0].line - 1 if section.practice else last_of_practice
        rows = [*self.lines[section.line - 1 : first], *self.lines[last_of_practice:last]]
        section.text = "\n".join(rows)
        return section
