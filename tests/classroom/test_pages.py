"""pages.py: a notebook as one page that needs no network and can be read by everyone."""

import functools
import itertools
import json
import re
from pathlib import Path
from urllib.parse import urlsplit

import nbformat.v4 as v4
import pytest
from bs4 import BeautifulSoup

from classroom import offline
from classroom.notebooks import WIDGET_VIEW, as_text, read
from classroom.pages import export_page, write_page, write_pages
from selfcheck.files import CourseError
from tests.places import our_notebooks

ROOT = Path(__file__).parents[2]
LECTURES, SHEETS = our_notebooks("notebooks"), our_notebooks("exercises")
ANSWER = "<details><summary>Answer</summary>\n\n*because*\n\n</details>"
DOT = "AAAA"  # any bytes will do: nobody looks at it


def each(paths):
    return pytest.mark.parametrize("path", paths, ids=lambda p: f"{p.parent.name}/{p.stem}")


def parsed(html):
    """The page, without MathJax's two million letters if it has them."""
    return BeautifulSoup(html.replace(offline.mathjax(), ""), "html.parser")


@functools.cache
def page_of(path):
    return parsed(export_page(path, along=(*LECTURES, *SHEETS)))


def markdown(text="# Title", name="text", **more):
    return v4.new_markdown_cell(text, id=name, **more)


def code(source="1 + 1", name="code", count=1, outputs=(), **metadata):
    return v4.new_code_cell(
        source, id=name, execution_count=count, outputs=list(outputs), metadata=metadata
    )


def shown(metadata=None, **data):
    data = {kind.replace("_", "/"): value for kind, value in data.items()}
    return v4.new_output("display_data", data=data, metadata=metadata or {})


def save(path, *cells):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(as_text(v4.new_notebook(cells=list(cells))), encoding="utf-8")
    return path


@pytest.fixture
def export(tmp_path):
    """A notebook of these cells under a title, as a page."""

    def exported(*cells, title="# Title"):
        return parsed(export_page(save(tmp_path / "a.ipynb", markdown(title, "title"), *cells)))

    return exported


# -- every page of the course ---------------------------------------------------------------------


@each(LECTURES + SHEETS)
def test_it_has_a_language_one_main_part_and_the_title_of_the_notebook(path):
    page, (title, *_) = page_of(path), re.findall("^# .+", _prose(path), re.MULTILINE)
    assert page.html["lang"] == "en"
    assert len(page.find_all("main")) == 1
    assert [h1.get_text() for h1 in page.find_all("h1")] == [title.removeprefix("# ")]
    assert page.title.get_text() == title.removeprefix("# ")


def _prose(path):
    return "\n".join(cell.source for cell in read(path).cells if cell.cell_type == "markdown")


@each(LECTURES + SHEETS)
def test_no_heading_skips_a_level(path):
    levels = [int(heading.name[1]) for heading in page_of(path).select("h1, h2, h3, h4, h5, h6")]
    assert levels[0] == 1
    assert all(low <= high + 1 for high, low in itertools.pairwise(levels))


@each(LECTURES)
def test_every_figure_is_inside_with_its_alt_text(path):
    outputs = [output for cell in read(path).cells for output in cell.get("outputs", [])]
    pictures = [o for o in outputs if "image/png" in o.get("data", {})]
    images = page_of(path).find_all("img")
    assert [i["alt"] for i in images] == [o.metadata["image/png"]["alt"] for o in pictures]
    drawn = ("data:image/png;base64,", "data:image/svg+xml;base64,")
    assert all(image["src"].startswith(drawn) for image in images)
    stills = [o for o in pictures if o.data["text/plain"].startswith("Explorer(")]
    assert len(page_of(path).select("figcaption")) == len(stills)


@each(LECTURES + SHEETS)
def test_nothing_has_to_be_fetched(path):
    page = page_of(path)
    assert page.select("script[src], iframe, object, embed, video, audio") == []
    assert [link["href"] for link in page.select("link")] == ["data:,"]
    style = "".join(element.get_text() for element in page.select("style"))
    assert not re.search(r"@import|url\((?!\"data:)", style)
    scripts = "".join(element.get_text() for element in page.select("script"))
    scripts = scripts.replace("http://www.w3.org/2000/svg", "the name of SVG")
    assert not re.search(r"https?://|require|mermaid|widget", scripts)


@each(LECTURES + SHEETS)
def test_its_links_lead_to_pages_that_are_written_with_it(path):
    written = {other.with_suffix(".html") for other in (*LECTURES, *SHEETS)}
    for link in page_of(path).select("a[href]"):
        url = urlsplit(link["href"])
        if url.scheme:
            assert url.scheme == "https"
        elif url.path:
            assert (path.parent / url.path).resolve() in written, link["href"]
        else:
            assert page_of(path).find(id=url.fragment), link["href"]


@each(LECTURES + SHEETS)
def test_its_tables_say_what_heads_what(path):
    for table in page_of(path).select("table:not([role=presentation])"):
        headings = table.select("th")
        assert headings
        assert all(heading.get_text(strip=True) for heading in headings)
        assert {heading["scope"] for heading in headings} <= {"row", "col"}


@each(LECTURES)
def test_what_is_hidden_in_the_notebook_is_folded(path):
    cells = [c for c in read(path).cells if c.cell_type == "code"]
    shown = page_of(path).select(".jp-CodeCell")
    code_folded = [bool(cell.select_one("details.folded")) for cell in shown]
    assert code_folded == [bool(offline.folded_as(c)) for c in cells]
    hidden_code = ["hide-input" in c.metadata.get("tags", []) for c in cells]
    assert all(folded >= hidden for folded, hidden in zip(code_folded, hidden_code, strict=True))


def test_a_folded_answer_can_be_opened(export):
    answer = export(markdown("**Before you go on:** why?\n\n" + ANSWER)).details
    assert (answer["class"], answer.summary.get_text()) == (["folded", "answer"], "Answer")
    assert answer.em.get_text() == "because"


def asking(**guess):
    words = "*Predict, then run:* how much?"
    return markdown(words, "question", metadata={"guess": guess})


def answering(tag="revealed"):
    return code(outputs=[v4.new_output("stream", text="42")], tags=[tag])


def test_code_output_and_comment_of_a_prediction_are_behind_one_fold(export):
    comment = markdown("Just 42.", "comment", metadata={"tags": ["revealed"]})
    after = markdown("On we go.", "after")
    fold = export(asking(**{"is": "42"}), answering(), comment, after).details
    assert fold["class"] == ["folded", "answer", "prediction"]
    assert json.loads(fold["data-guess"]) == {"is": "42"}
    assert [words in fold.get_text() for words in ("1 + 1", "42", "Just 42.")] == [True] * 3
    assert "On we go." not in fold.get_text()


def test_code_that_belongs_to_the_question_stays_in_sight(export):
    page = export(asking(choices=["up", "down"], **{"is": 1}), answering("revealed-output"))
    assert "42" in page.details.get_text()
    assert "1 + 1" not in page.details.get_text()
    assert "1 + 1" in page.main.get_text()


def test_what_nobody_asks_about_is_in_sight(export):
    assert len(export(asking(), markdown("Well."), answering()).select("details")) == 1
    assert export(answering()).details is None


# -- what a page shows ----------------------------------------------------------------------------


def test_signs_in_alt_text_stay_what_they_are(export):
    alt = 'a < b & "c" > d'
    cell = code(outputs=[shown({"image/png": {"alt": alt, "width": 7}}, image_png=DOT)])
    image = export(cell).img
    assert (image["alt"], image["width"], image.get("height")) == (alt, "7", None)


def test_formulas_are_set_when_the_page_is_written_and_code_is_left_alone(export):
    page = export(markdown("If $a<b$ and $x_1*x_2*x_3$, then `$c$`\n\n$$\\frac{a}{b}$$"))
    assert [formula.get_text() for formula in page.select("math")] == ["a<b", "x1∗x2∗x3", "ab"]
    assert page.select_one(".formula.block mfrac")
    assert "$c$" in page.code.get_text()
    assert "Formulas" in page.select_one("style#formulas").string


def test_a_page_without_formulas_carries_neither_their_font_nor_mathjax(tmp_path):
    html = export_page(save(tmp_path / "a.ipynb", markdown()))
    assert len(html) < 60_000


def test_a_formula_that_cannot_be_set_is_left_to_mathjax(tmp_path):
    """It is then inside, once and whole, and gets the formula as it was written."""
    html = export_page(save(tmp_path / "a.ipynb", markdown(r"# T $\unheard a<b$ and $c$")))
    assert html.count(offline.mathjax()) == 1
    assert "3.2.2" in offline.mathjax()
    assert parsed(html).select_one(".formula.unset").get_text() == r"$\unheard a<b$"
    assert len(parsed(html).select("math")) == 1


@each([*LECTURES, *SHEETS])
def test_every_formula_of_ours_is_set(path):
    page = page_of(path)
    assert page.select("math")
    assert [formula.get_text() for formula in page.select(".formula.unset")] == []
    for code in page.select("pre, code, script, style"):
        code.decompose()
    assert re.findall(r".*(?:\$|\\[a-z]+).*", page.main.get_text()) == []


def test_a_title_with_signs_is_read_as_text(export):
    assert export(title="# *L2* & `decay` < 1").title.get_text() == "L2 & decay < 1"


def test_headings_can_be_linked_to_and_have_no_sign_after_them(export):
    page = export(markdown("## Two rules\n\nSee [there](#Two-rules)."))
    assert page.h2.get_text() == "Two rules"
    assert page.h2["id"] == "Two-rules"


def test_an_empty_corner_of_a_table_makes_its_first_column_head_the_rows(export):
    page = export(markdown("| | cost |\n| --- | --- |\n| full | n² |"))
    assert [(cell.name, cell.get("scope")) for cell in page.select("td, th")] == [
        ("td", None), ("th", "col"), ("th", "row"), ("td", None),
    ]  # fmt: skip
    page = export(markdown("| | |\n| --- | --- |\n| full | n² |"))
    assert [(cell.name, cell.get_text()) for cell in page.select("td, th")] == [
        ("th", "full"), ("td", "n²"),
    ]  # fmt: skip
    page = export(markdown("| rule | cost |\n| --- | --- |\n| full | n² |"))
    assert [cell.name for cell in page.select("td, th")] == ["th", "th", "td", "td"]


def test_prompts_and_empty_cells_are_left_out(export):
    page = export(code("x = 1"), code("", "empty", None))
    assert not re.search(r"In\s*\[|Out\s*\[", page.get_text())
    assert len(page.select(".highlight")) == 1


def test_a_picture_beside_the_notebook_or_attached_to_a_cell_is_put_inside(tmp_path, export):
    (tmp_path / "dot.svg").write_text("<svg xmlns='http://www.w3.org/2000/svg'/>")
    attached = {"dot.png": {"image/png": DOT}}
    page = export(
        markdown("![a dot](dot.svg)"),
        markdown("![another](attachment:dot.png)", "attached", attachments=attached),
    )
    assert [image["alt"] for image in page.find_all("img")] == ["a dot", "another"]
    assert all(image["src"].startswith("data:image/") for image in page.find_all("img"))


def test_the_same_notebook_gives_the_same_page(tmp_path):
    path = save(tmp_path / "a.ipynb", markdown(), code(outputs=[shown(text_plain="2")]))
    assert export_page(path) == export_page(path)


@pytest.mark.parametrize(
    ("link", "leads_to"),
    [
        ("b.ipynb", "b.html"),
        ("b.ipynb#Two-rules", "b.html#Two-rules"),
        ("../exercises/c%20d.ipynb", "../exercises/c%20d.html"),
        ("other.ipynb", "other.ipynb"),
        ("https://example.org/b.ipynb", "https://example.org/b.ipynb"),
        ("#b.ipynb", "#b.ipynb"),
        ("../data.csv", "../data.csv"),
    ],
)
def test_a_link_leads_to_a_page_where_one_is_written_along(tmp_path, link, leads_to):
    path = save(tmp_path / "notebooks" / "a.ipynb", markdown(f"# Title\n\n[there]({link})"))
    along = [tmp_path / "notebooks" / "b.ipynb", tmp_path / "exercises" / "c d.ipynb"]
    assert parsed(export_page(path, along)).a["href"] == leads_to


# -- what is refused ------------------------------------------------------------------------------


FAILED = v4.new_output("error", ename="KeyError", evalue="x", traceback=[])
VIEW = v4.new_output("display_data", data={WIDGET_VIEW: {"model_id": "1"}})


@pytest.mark.parametrize(
    ("cells", "sentence"),
    [
        ([markdown(), code(count=None)], "saved without having been run: code"),
        ([markdown(), code("x = ____"), code(name="b", count=None)], "without having been run: b"),
        ([markdown(), code(outputs=[FAILED])], "cell code: saved with the error KeyError"),
        ([markdown(), code(outputs=[VIEW])], "cell code: saved with a widget view"),
        ([markdown(), code(outputs=[shown(image_png=DOT)])], "a picture without alt text"),
        ([markdown("Text.")], "0 headings of the first level"),
        ([markdown("# One\n\n# Two")], "2 headings of the first level"),
        ([markdown("# A\n\n<img src='data:,'>")], "a picture without alt text"),
        ([markdown("# A\n\n<img src='' alt='x'>")], "cannot become a page"),
        ([markdown("# A\n\n![x](attachment:x.png)")], r"missing attachment: x\.png"),
        ([markdown("# A\n\n![x](none.png)")], r"shows none\.png, which a page cannot carry"),
        ([markdown("# A\n\n![x](https://example.org/x.png)")], "shows https://example.org/x.png"),
        ([markdown("# A\n\n<script src='x.js'></script>")], r"shows x\.js"),
    ],
)
def test_what_cannot_be_shown_is_refused_with_a_sentence(tmp_path, cells, sentence):
    path, target = save(tmp_path / "a.ipynb", *cells), tmp_path / "a.html"
    target.write_text("the page of yesterday")
    with pytest.raises(CourseError, match=rf"a\.ipynb .*{sentence}"):
        write_page(path, target)
    assert target.read_text() == "the page of yesterday"
    assert {file.name for file in tmp_path.iterdir()} == {"a.ipynb", "a.html"}


def test_a_sheet_that_is_still_blank_is_not_refused(export):
    assert "x = ____" in export(code("x = ____", count=None)).get_text()


# -- many at once ---------------------------------------------------------------------------------


def test_pages_lie_as_their_notebooks_do_so_that_links_hold(tmp_path):
    lecture = save(tmp_path / "notebooks" / "a.ipynb", markdown("# A\n\n[b](../exercises/a.ipynb)"))
    sheet = save(tmp_path / "exercises" / "a.ipynb", markdown())
    out = tmp_path / "out"
    written = list(write_pages([lecture, sheet], tmp_path, out))
    assert written == [out / "notebooks" / "a.html", out / "exercises" / "a.html"]
    assert parsed(written[0].read_text(encoding="utf-8")).a["href"] == "../exercises/a.html"


def test_when_one_was_not_run_none_is_written(tmp_path):
    good = save(tmp_path / "a.ipynb", markdown())
    bad = save(tmp_path / "b.ipynb", markdown(), code(count=None))
    with pytest.raises(CourseError, match=r"b\.ipynb cannot become a page"):
        list(write_pages([good, bad], tmp_path, tmp_path / "out"))
    assert not (tmp_path / "out").exists()


def test_a_notebook_from_elsewhere_is_refused(tmp_path):
    path = save(tmp_path / "a.ipynb", markdown())
    with pytest.raises(CourseError, match="not in the course folder"):
        list(write_pages([path], tmp_path / "course", tmp_path / "out"))


def test_a_sheet_that_somebody_has_worked_in_is_written_anew_not_executed(tmp_path):
    path = tmp_path / "exercises" / "01_sums.ipynb"
    path.parent.mkdir()
    cells = [v4.new_markdown_cell("# Sums"), v4.new_code_cell("x = ____", execution_count=1)]
    cells.append(v4.new_code_cell("not_run"))
    path.write_text(as_text(v4.new_notebook(cells=cells)), encoding="utf-8")
    with pytest.raises(CourseError, match="make exercises") as refused:
        export_page(path)
    assert "course execute" not in str(refused.value)


def test_imports_and_the_code_of_figures_are_folded_and_other_code_is_not(export):
    picture = shown({"image/png": {"alt": "a dot"}}, image_png=DOT)
    page = export(
        code("import numpy as np\nfrom math import pi", "a"),
        code("draw()", "b", 2, [picture]),
        code("x = 1", "c", 3),
        code("%time x", "d", 4),
        code("predict()", "e", 5, [picture], tags=["revealed-output"]),
    )
    folds = [fold.summary.get_text() for fold in page.select("details.folded")]
    assert folds == ["Show the imports", "Show the code of the figure"]
