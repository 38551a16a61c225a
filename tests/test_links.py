"""Every link is followed: in notebooks, their outputs and the pages about the course.

Markdown is read by a real parser, so that what looks like a link in code or in a formula is none.
Anchors are held to what works everywhere: letters, digits and hyphens, and one heading that fits.
"""

import re
from dataclasses import dataclass, field
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import nbformat.v4 as v4
import pytest
from markdown_it import MarkdownIt

from classroom.navigation import FOOT, HEAD, outdated
from classroom.notebooks import as_text, read
from classroom.release import bundle
from tests.places import our_notebooks

ROOT = Path(__file__).parents[1]
FOLDERS = ("notebooks", "exercises", "solutions")
KNOWN_HOSTS = {
    "arxiv.org", "doi.org", "github.com", "kipp.ly", "papers.nips.cc",
    "proceedings.mlr.press", "www.deeplearningbook.org", "www.jstor.org",
}  # fmt: skip
CODE_OR_MATH = re.compile(r"(```.*?```|`[^`\n]+`)|\$\$.*?\$\$|\$[^$\n]+\$", re.DOTALL)
ADDRESS = re.compile(r"""https?://[^\s<>"'`)\]]+""")
MARKDOWN = MarkdownIt("commonmark").enable("table")


def pages_of(root):
    """All that has links: the notebooks and the pages beside them."""
    notebooks = [path for folder in FOLDERS for path in sorted((root / folder).glob("*.ipynb"))]
    return [*sorted(root.glob("*.md")), *sorted((root / "docs").rglob("*.md")), *notebooks]


PAGES = pages_of(ROOT)
assert len(PAGES) > 3 * 12


def each(paths):
    return pytest.mark.parametrize(
        "path", paths, ids=lambda path: path.relative_to(ROOT).as_posix()
    )


# -- reading a page -------------------------------------------------------------------------------


@dataclass
class Page:
    """The targets of all links and pictures of a page, its headings, and the ids of its cells."""

    targets: list[str] = field(default_factory=list)
    headings: list[str] = field(default_factory=list)
    cells: list[str] = field(default_factory=list)

    def add_markdown(self, text):
        without_math = CODE_OR_MATH.sub(lambda found: found[1] or "x", text)
        tokens = MARKDOWN.parse(without_math)
        for before, token in zip([None, *tokens], tokens, strict=False):
            if token.type == "inline":
                self._add_inline(token.children)
                if before.type == "heading_open":
                    self.headings.append("".join(part.content for part in token.children))
            elif token.type == "html_block":
                self.add_html(token.content)

    def _add_inline(self, parts):
        for part in parts:
            if part.type in ("link_open", "image"):
                self.targets.append(part.attrs.get("href") or part.attrs.get("src"))
            elif part.type == "html_inline":
                self.add_html(part.content)
            elif part.type == "text":
                self.targets += ADDRESS.findall(part.content)
            self._add_inline(part.children or [])

    def add_html(self, text):
        parser = HTMLParser()
        parser.handle_starttag = lambda tag, attributes: self.targets.extend(
            value or "" for name, value in attributes if name in ("href", "xlink:href", "src")
        )
        parser.feed(text)


def page(path):
    found = Page()
    if path.suffix == ".md":
        found.add_markdown(path.read_text(encoding="utf-8"))
        return found
    for cell in read(path).cells:
        found.cells.append(f"cell-id={cell.id}")
        if cell.cell_type == "markdown":
            found.add_markdown(cell.source)
        for output in cell.get("outputs", []):
            data = output.get("data", {})
            found.add_markdown(data.get("text/markdown", ""))
            found.add_html(data.get("text/html", ""))
            found.add_html(re.sub('xlink:href="#', 'letter="', data.get("image/svg+xml", "")))
    return found


def anchor(heading, suffix):
    """GitHub's rule for .md; for notebooks that of JupyterLab, nbconvert and GitHub's viewer."""
    if suffix == ".md":
        return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")
    return heading.replace(" ", "-")


# -- following a link -----------------------------------------------------------------------------


def leads_to(path, target):
    """The file at the other end of a relative link."""
    return (path.parent / unquote(urlsplit(target).path)).resolve() if target else path


def why_dead(path, target, root):
    """A sentence on what is wrong with this link; None if it leads to where it should."""
    parts = urlsplit(target)
    if parts.scheme == "data":
        return None
    if parts.scheme or parts.netloc:
        known = parts.scheme == "https" and parts.hostname in KNOWN_HOSTS
        return None if known else f"{target}: not https on one of {', '.join(sorted(KNOWN_HOSTS))}"
    there = leads_to(path, target) if parts.path else path.resolve()
    if not target or parts.path.startswith("/") or not there.is_relative_to(root.resolve()):
        return f"{target!r}: not a relative path within the course"
    if not there.exists():
        return f"{target}: there is no such file"
    folder = path.parent.name
    if (
        folder in ("notebooks", "exercises")
        and "solutions" in there.relative_to(root.resolve()).parts
    ):
        return f"{target}: a solution, which students do not get"
    return why_lost(there, parts.fragment, target) if "#" in target else None


def why_lost(there, fragment, target):
    """A sentence on what is wrong with the anchor of a link; None if it is fine."""
    if there.suffix not in (".md", ".ipynb"):
        return f"{target}: only notebooks and .md files have anchors"
    if fragment in page(there).cells:  # as the scoreboard has it
        return None
    if not re.fullmatch(r"[A-Za-z0-9-]+", fragment):
        return f"{target}: an anchor of letters, digits and hyphens works everywhere, no other"
    fitting = [h for h in page(there).headings if anchor(h, there.suffix) == fragment]
    return None if len(fitting) == 1 else f"{target}: {len(fitting)} headings fit, not one"


def dead_links(path, root):
    return [
        why for target in dict.fromkeys(page(path).targets) if (why := why_dead(path, target, root))
    ]


# -- the course -----------------------------------------------------------------------------------


@each(PAGES)
def test_every_link_leads_somewhere(path):
    assert dead_links(path, ROOT) == []


def test_the_links_between_the_notebooks_are_up_to_date():
    names = [path.relative_to(ROOT).as_posix() for path in outdated(ROOT)]
    assert names == [], "run `make links`"


@each([path for path in PAGES if path.suffix == ".ipynb"])
def test_head_and_foot_stand_around_the_title_which_is_the_first_heading(path):
    head, title, *_, foot = read(path).cells
    assert (head.id, foot.id) == (HEAD, FOOT)
    assert title.source.startswith("# ")


def next_and_before(path):
    """Where the arrows of the line at the head lead."""
    line = read(path).cells[0].source
    arrows = (r"\]\((\S+)\) →$", r"^← \[[^]]*\]\((\S+?)\)")
    found = (re.search(arrow, line) for arrow in arrows)
    return [leads_to(path, match[1]) if match else None for match in found]


@pytest.mark.parametrize("folder", ["notebooks", "exercises"])
def test_the_arrows_lead_through_all_units_and_back(folder):
    paths = [path.resolve() for path in our_notebooks(folder)]
    assert [next_and_before(path) for path in paths] == [
        [after, before]
        for before, after in zip([None, *paths[:-1]], [*paths[1:], None], strict=True)
    ]


@pytest.mark.parametrize("units", [[], ["02"], ["05", "03"]], ids=str)
def test_no_link_in_a_students_bundle_leads_nowhere(units, tmp_path):
    out = bundle(ROOT, tmp_path / "out", units)
    pages = pages_of(out)
    assert len(pages) >= 2 + 2 * len(units)
    assert {path.name: dead for path in pages if (dead := dead_links(path, out))} == {}


# -- the follower itself --------------------------------------------------------------------------


@pytest.fixture
def small(tmp_path):
    """A course of one lecture, its exercise and its solution."""
    for folder in FOLDERS:
        (tmp_path / folder).mkdir()
        text = v4.new_markdown_cell("# 02 · Momentum\n\n## The end\n## Twice\n## Twice\n## A `b`")
        notebook = v4.new_notebook(cells=[text])
        (tmp_path / folder / "02.ipynb").write_text(as_text(notebook), encoding="utf-8")
    (tmp_path / "README.md").write_text("# Read me\n\n## Two commands, one tool")
    return tmp_path


def add(course, source="", html="", name="notebooks/02.ipynb"):
    """Put a text cell and an HTML output into a notebook; return its path."""
    path = course / name
    notebook = read(path)
    output = v4.new_output("display_data", {"text/html": html})
    notebook.cells += [v4.new_markdown_cell(source), v4.new_code_cell(outputs=[output])]
    path.write_text(as_text(notebook), encoding="utf-8")
    return path


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("[a](03.ipynb)", "no such file"),
        ("![a](a.png)", "no such file"),
        ("[a][b]\n\n[b]: 03.ipynb", "no such file"),
        ("| a |\n| --- |\n| [a](03.ipynb) |", "no such file"),
        ("## [a](03.ipynb)", "no such file"),
        ('so <a href="03.ipynb">a</a>', "no such file"),
        ('<p><a href="03.ipynb">a</a></p>', "no such file"),
        ("[![a](a.png)](02.ipynb)", "no such file"),
        ("[a]()", "not a relative path"),
        ("[a](/notebooks/02.ipynb)", "not a relative path"),
        ("[a](../../x)", "not a relative path"),
        ("[a](../solutions/02.ipynb)", "a solution"),
        ("[a](#the-end)", "0 headings fit"),
        ("[a](../exercises/02.ipynb#End)", "0 headings fit"),
        ("[a](#Twice)", "2 headings fit"),
        ("[a](#02-·-Momentum)", "works everywhere"),
        ("[a](../README.md#Two-commands-one-tool)", "0 headings fit"),
        ("[a](https://example.org/x)", "not https on"),
        ("See https://example.org/x.", "not https on"),
        ("<http://github.com/x>", "not https on"),
        ("[a](mailto:a@b.c)", "not https on"),
        ("[a](attachment:a.png)", "not https on"),
    ],
)
def test_a_dead_link_is_found(small, source, why):
    (found,) = dead_links(add(small, source), small)
    assert why in found


@pytest.mark.parametrize(
    "source",
    [
        "[a](02.ipynb) [b](../exercises/02.ipynb#The-end) [c](#The-end) [d](#A-b)",
        "[a](../README.md#two-commands-one-tool)",
        "[a](https://arxiv.org/abs/1706.03762) <https://github.com/x>",
        "`[a](03.ipynb)` and\n\n```\n[a](03.ipynb) https://example.org\n```",
        "$f[i](x)$ and $$g[j](y)$$ and [a] (b)",
    ],
)
def test_a_link_that_is_fine_is_left_in_peace(small, source):
    assert dead_links(add(small, source), small) == []


@pytest.mark.parametrize(
    "html",
    [
        '<a href="03.ipynb">a</a>',
        '<a href="#cell-id=no-such">a</a>',
        "<img src='a.png'>",
        '<svg><a xlink:href="x"></a></svg>',
    ],
)
def test_a_dead_link_in_an_output_is_found(small, html):
    assert len(dead_links(add(small, html=html), small)) == 1


def test_only_solutions_and_the_readme_may_lead_to_solutions(small):
    readme = small / "README.md"
    readme.write_text("[a](solutions/02.ipynb)")
    assert dead_links(readme, small) == []
    assert dead_links(add(small, "[a](02.ipynb)", name="solutions/02.ipynb"), small) == []
    exercise = add(small, "[a](../solutions/02.ipynb)", name="exercises/02.ipynb")
    assert len(dead_links(exercise, small)) == 1
