"""Slides: marks make an outline, the outline makes a deck, and only what changed is built again."""

import re
from pathlib import Path

import nbformat.v4 as v4
import pytest
from bs4 import BeautifulSoup

from classroom import selection, slides
from classroom.notebooks import as_text, read
from classroom.offline import sound
from classroom.outline import MOST_WORDS, has_marks, outline, paged, table, words_on
from classroom.slides import write_decks
from course_utils.units import UNITS
from selfcheck.files import CourseError
from tests.places import SMALL

ROOT = Path(__file__).parents[2]
LECTURES = [path for path in selection.lectures(ROOT) if has_marks(read(path))]
DOT = "AAAA"
CAPTION = '<p class="course-caption">One chain. Cut twice.<span> Picture: boxes.</span></p>'


def marked(cell, mark, *tags):
    if mark != "-":
        cell.metadata["slideshow"] = {"slide_type": mark}
    if tags:
        cell.metadata["tags"] = list(tags)
    return cell


def text(words, mark="-", name="text"):
    return marked(v4.new_markdown_cell(words, id=name), mark)


def code(source="1 + 1", mark="-", *tags, name="code", count=1, outputs=()):
    cell = v4.new_code_cell(source, id=name, execution_count=count, outputs=list(outputs))
    return marked(cell, mark, *tags)


def printed(words):
    return v4.new_output("stream", text=words)


def picture(alt="A dot.", **data):
    return v4.new_output(
        "display_data", data={"image/png": DOT, **data}, metadata={"image/png": {"alt": alt}}
    )


def notebook(*cells):
    return v4.new_notebook(cells=[text("# Title", "slide", "title"), *cells])


def save(folder, *cells, name="01_a.ipynb"):
    folder.mkdir(exist_ok=True, parents=True)
    (folder / name).write_text(as_text(v4.new_notebook(cells=list(cells))), encoding="utf-8")
    return folder / name


def read_all(*paths):
    """Lectures as decks are made from them."""
    return {path: sound(path, "a deck") for path in paths}


@pytest.fixture
def deck(tmp_path, monkeypatch):
    """The deck of a notebook of these cells under a title, without its engines."""
    monkeypatch.setattr(slides, "mathjax", lambda: "")
    monkeypatch.setattr(slides, "vendored", lambda name: "")

    def built(*cells, about=""):
        path = save(tmp_path, *notebook(*cells).cells)
        (made,) = write_decks(read_all(path), tmp_path / "out", about)
        return BeautifulSoup(made.target.read_text(encoding="utf-8"), "html.parser")

    return built


def leaves(deck):
    """The slides themselves, not the stacks around them."""
    return [section for section in deck.select("section") if not section.find("section")]


# -- what is too much for one slide ---------------------------------------------------------------


def shown(*cells):
    """What stands on each slide after the title, by the first words of each cell."""
    found = outline(paged(notebook(*cells)), Path("a.ipynb"))[1:]
    return [[cell.source[:5] for cell in slide.shown] for slide in found]


def words(count, first="word0"):
    return " ".join([first, *(f"word{k}" for k in range(1, count))])


def test_sixty_words_stay_on_one_slide_and_more_are_parted_evenly():
    assert shown(text(words(60), "slide")) == [["word0"]]
    long = "\n\n".join(words(20, first) for first in ("one", "two", "three", "four"))
    assert shown(text(long, "slide")) == [["one w", "two w"], ["three", "four "]]


def test_a_heading_stays_with_its_text_and_items_and_sentences_can_be_parted():
    items = "\n".join(f"- {words(40, name)}" for name in ("one", "two"))
    assert shown(text(f"## Head\n\n{items}", "slide")) == [["## He", "- one"], ["- two"]]
    sentences = f"One {words(40)}. Two {words(40)}."
    assert shown(text(sentences, "slide")) == [["One w"], ["Two w"]]


def test_a_fold_a_table_and_formulas_take_no_words_and_stay_whole():
    fold = f"<details><summary>Answer</summary>\n\n{words(90)}\n\n</details>"
    assert len(shown(text(f"Why?\n\n{fold}", "slide"))) == 1
    table = "| a | b |\n| --- | --- |\n" + "| some words | more words |\n" * 20
    assert len(shown(text(table, "slide"))) == 1
    assert len(shown(text("$$" + words(90) + "$$", "slide"))) == 1


def test_a_figure_has_a_slide_of_its_own_under_at_most_a_heading():
    figure = code("draw()", outputs=[printed("also"), picture()], name="figure")
    before, after = text("Look.", name="before"), text("Seen.", name="after")
    head = text("## Head", "slide", "head")
    assert shown(head, figure) == [["## He", "draw("]]
    assert shown(head, before, figure, after) == [["## He", "Look."], ["draw("]]
    question = text("**Before you go on:** why?", name="question")
    assert shown(head, figure, question) == [["## He", "draw("], ["**Bef"]]


def sized(width, height):
    drawn = picture()
    drawn.metadata["image/png"].update(width=width, height=height)
    return code("draw()", "fragment", outputs=[drawn], name="figure")


@pytest.mark.parametrize(
    ("width", "height", "room"), [(700, 180, 45), (700, 250, 20), (400, 120, 50)]
)
def test_the_flatter_a_figure_the_more_words_may_stand_above_it(width, height, room):
    """A question of few words, and the figure that is its answer."""
    answer = sized(width, height)
    assert shown(text(words(room, "Why"), "slide"), answer) == [["Why w", "draw("]]
    assert shown(text(words(room + 10, "Why"), "slide"), answer) == [["Why w"], ["draw("]]


def test_a_displayed_formula_takes_room_from_the_figure_below_it():
    answer = sized(700, 270)
    above = text("Why $$a^2 + b^2 = c^2$$ so?", "slide")
    assert shown(above, answer) == [["Why $"], ["draw("]]


def explorer():
    drawn = picture()
    drawn.metadata["image/png"]["explorer"] = "…"
    return code("explore()", "subslide", outputs=[drawn], name="explorer")


@pytest.mark.parametrize("opening", ["### Explore\n\n**Goal:** go there.", "**Goal:** go there."])
def test_an_explorer_follows_its_heading_at_once_since_it_says_its_goal_itself(opening):
    """The words are the lecturer's, and so is what was noted in between."""
    made = notebook(text(opening, "slide", "goal"), text("Aside.", "notes", "n"), explorer())
    _, slide = outline(paged(made), Path("a.ipynb"))
    assert (slide.kind, slide.heading) == ("slide", "Explore" if "#" in opening else None)
    assert "**Goal:** go there." in [cell.source for cell in slide.notes]
    assert slide.shown[-1].id == "explorer"


def test_an_explorer_after_anything_else_keeps_its_own_slide():
    made = notebook(text("Look.", "subslide", "look"), explorer())
    assert len(outline(paged(made), Path("a.ipynb"))) == 3
    high = picture()
    high.metadata["image/png"].update(width=400, height=320)
    drawn = code("draw()", "fragment", outputs=[high], name="figure")
    assert shown(text("Why?", "slide"), drawn) == [["Why?"], ["draw("]]


def test_where_there_is_too_much_what_comments_on_an_output_is_said():
    output = code("run()", "fragment", outputs=[printed("1\n")], name="run")
    question, comment = text(words(40, "Why"), "slide"), text(words(40), "fragment", "seen")
    short = text("So it is.", "fragment", "short")
    assert shown(question, output, short) == [["Why w", "run()", "So it"]]
    slides = outline(paged(notebook(question, output, comment)), Path("a.ipynb"))
    assert [cell.id for cell in slides[1].notes] == ["seen"]
    formula = text(f"{words(40, 'See')}\n\n$$x$$", "fragment", "formula")
    assert shown(question, output, formula) == [["Why w", "run()"], ["See w"]]


def test_the_notebook_itself_is_left_alone():
    given = notebook(text("\n\n".join([words(50)] * 3), "slide"))
    before = as_text(given)
    paged(given)
    assert as_text(given) == before


# -- the outline ----------------------------------------------------------------------------------


def test_each_slide_and_subslide_is_one_slide_with_what_follows_it():
    found = outline(
        notebook(
            text("## One", "slide", "one"),
            text("more", "-", "more"),
            text("spoken", "notes", "spoken"),
            text("then", "fragment", "then"),
            text("The second idea.", "subslide", "second"),
            text("left out", "skip", "left-out"),
        ),
        Path("a.ipynb"),
    )
    assert [(s.kind, s.title, s.fragments, len(s.notes)) for s in found] == [
        ("slide", "Title", 0, 0),
        ("slide", "One", 1, 1),
        ("subslide", "The second idea.", 0, 0),
    ]
    assert [cell.id for cell in found[1].shown] == ["one", "more", "then"]


def test_a_heading_in_a_listing_is_no_heading():
    (slide,) = outline(
        v4.new_notebook(cells=[text("```\n# comment\n```\n\n# Real", "slide")]), Path("a.ipynb")
    )
    assert slide.title == "Real"


def test_a_slide_with_a_picture_alone_is_named_by_what_the_picture_shows():
    found = outline(
        notebook(
            text("## One", "slide", "a"),
            code(mark="subslide", outputs=[picture("Two lines that cross.")]),
            code(mark="subslide", outputs=[printed("42")], name="b"),
        ),
        Path("a.ipynb"),
    )
    assert [slide.title for slide in found[2:]] == ["Two lines that cross.", "One: output"]


def test_the_table_tells_titles_notes_and_the_count():
    found = outline(
        notebook(text("**Bold** start", "subslide"), text("x", "notes", "n")), Path("a.ipynb")
    )
    first, second, total = table(found).splitlines()
    assert first.split() == ["1", "slide", "Title", "(no", "notes)"]
    assert second.split() == ["2", "subslide", "Bold", "start", "(notes)"]
    assert total.startswith("2 slides in 1 section, 0 with a picture, about 0 minutes (110")


def test_the_table_counts_the_slides_with_something_to_look_at():
    drawn = code("draw()", "subslide", outputs=[picture(), picture()])
    told = code(outputs=[printed("1")], name="told")
    listed = table(outline(notebook(drawn, told), Path("a.ipynb")))
    assert listed.splitlines()[1].endswith("(picture, no notes)")
    assert "2 slides in 1 section, 1 with a picture" in listed


def test_minutes_grow_with_words_figures_and_questions():
    def minutes(*cells):
        return sum(slide.minutes for slide in outline(notebook(*cells), Path("a.ipynb")))

    nothing = minutes()
    assert minutes(text("word " * 110, "notes")) == pytest.approx(nothing + 1)
    assert minutes(code(outputs=[picture()])) == pytest.approx(nothing + 0.75)
    assert minutes(text("$$x$$")) == pytest.approx(nothing + 0.75)
    asked = minutes(text("**Before you go on:** why?", "notes"))
    assert asked == pytest.approx(nothing + 5 / 110 + 1.5)


# -- which units ----------------------------------------------------------------------------------


@pytest.mark.parametrize("unit", ["2", "02", "products", "02_products", "02_products.ipynb"])
def test_a_unit_has_many_names(unit):
    assert selection.lectures(SMALL, [unit]) == [SMALL / "notebooks" / "02_products.ipynb"]


def test_a_notebook_elsewhere_is_named_by_its_path_and_no_unit_comes_twice(tmp_path):
    path = save(tmp_path, text("# A", "slide"))
    assert selection.lectures(ROOT, [str(path), str(path)]) == [path]


def test_without_a_name_it_is_every_lecture_but_the_start_page():
    assert [path.name[:2] for path in selection.lectures(ROOT)] == [unit.number for unit in UNITS]


def test_an_unknown_unit_gets_a_sentence_with_the_known_ones():
    with pytest.raises(CourseError, match=r"no unit '42'; there are 01_sums, 02_products\."):
        selection.lectures(SMALL, ["42"])


# -- what is refused ------------------------------------------------------------------------------


FAILED = v4.new_output("error", ename="KeyError", evalue="x", traceback=[])


@pytest.mark.parametrize(
    ("cells", "sentence"),
    [
        ([text("# A")], "has no slide marks"),
        ([text("# A", "slide"), code(count=None)], "cannot become a deck: saved without"),
        ([text("# A", "slide"), code(outputs=[FAILED])], "saved with the error KeyError"),
        ([text("# A", "slide"), text("b", "slied", "b")], "cell b: there is no slide type 'slied'"),
        ([text("a"), text("# A", "slide", "b")], "cell text: it stands before the first slide"),
        ([text("# A", "slide"), code("1", "notes")], "cell code: only text can be speaker notes"),
        ([text("Text", "slide")], "0 headings of the first level; a deck needs one"),
        ([text("# A\n\n![x](none.png)", "slide")], r"shows none\.png, which a deck cannot carry"),
    ],
)
def test_what_makes_no_deck_is_refused_and_nothing_is_written(tmp_path, cells, sentence):
    bad, out = save(tmp_path, *cells), tmp_path / "out"
    with pytest.raises(CourseError, match=sentence):
        list(write_decks(read_all(bad), out))
    assert not out.exists()


def test_when_one_of_many_was_not_run_none_is_written(tmp_path):
    good = save(tmp_path, text("# A", "slide"))
    bad = save(tmp_path, text("# B", "slide"), code(count=None), name="02_b.ipynb")
    with pytest.raises(CourseError, match=r"02_b\.ipynb cannot become a deck"):
        list(write_decks(read_all(good, bad), tmp_path / "out"))
    assert not (tmp_path / "out").exists()


def test_a_deck_that_would_be_heavy_is_refused(deck, monkeypatch):
    monkeypatch.setattr(slides, "DECK_LIMIT", 5_000)
    with pytest.raises(CourseError, match=r"the deck takes 0\.\d MB; 6 MB is the limit"):
        deck(text("## One", "slide"))


# -- what a deck shows ----------------------------------------------------------------------------


def test_code_is_shown_only_where_it_is_the_point(deck):
    made = deck(
        code("secret = 1", outputs=[printed("seen")]),
        code("shown = 2", "-", "slide-code", name="b", count=2),
        code("silent = 3", name="c", count=3),
    )
    words = made.select_one(".slides").get_text()
    assert "seen" in words
    assert "shown = 2" in words
    assert "secret" not in words
    assert "silent" not in words
    assert len(made.select(".jp-CodeCell")) == 2


ANSWER = "<details><summary>Answer</summary>\n\n*because*\n\n</details>"


@pytest.mark.parametrize("mark", ["subslide", "notes"])
def test_a_folded_answer_stands_open_in_the_notes_and_not_on_the_slide(deck, mark):
    made = deck(text(f"**Before you go on:** why?\n\n{ANSWER}", mark))
    assert made.select("details") == []
    (answer,) = made.select("em")
    assert answer.find_parent("aside", class_="notes")
    assert "Answer:" in answer.find_parent("aside").get_text()


def test_the_choices_of_a_prediction_are_in_the_notes_for_a_show_of_hands(deck):
    question = text("*Predict, then run:* which way?", "subslide")
    question.metadata["guess"] = {"choices": ["up", "down"], "is": 0}
    made = deck(question)
    (notes,) = made.select("aside.notes")
    assert notes.get_text(strip=True) == "Show of hands: up; down?"


def test_a_folded_answer_takes_no_time_of_its_own():
    def minutes(words):
        return outline(notebook(text(words, "notes")), Path("a.ipynb"))[0].minutes

    asked = "**Before you go on:** why?"
    assert minutes(f"{asked}\n\n{ANSWER}") == minutes(asked)


def test_notes_are_asides_and_skipped_cells_are_not_there(deck):
    made = deck(text("spoken", "notes", "a"), text("left out", "skip", "b"))
    assert [aside.get_text(strip=True) for aside in made.select("aside.notes")] == ["spoken"]
    assert "left out" not in made.get_text()


def test_a_hall_is_asked_for_hands_since_it_cannot_run_a_cell(deck):
    made = deck(text("*Predict, then run:* how many?", "slide"))
    assert made.em.get_text() == "Predict, by show of hands:"
    assert "then run" not in made.select_one(".slides").get_text()


def test_a_slide_without_a_heading_carries_the_last_one(deck):
    made = deck(text("## Two *rules*", "slide", "a"), text("Idea.", "subslide", "b"))
    assert [p.get_text() for p in made.select(".running")] == ["Two rules"]
    assert made.select_one(".running").find_parent("section").get_text(strip=True).endswith("Idea.")


def test_course_lecturer_and_date_stand_on_the_title_slide_alone(deck):
    made = deck(text("## One", "slide"), about="Theory · A. Lecturer · fall")
    assert [p.get_text() for p in made.select(".about")] == ["Theory · A. Lecturer · fall"]
    assert made.select_one(".about").find_parent("section") is leaves(made)[0]
    assert not deck(text("## One", "slide")).select(".about")


def test_notes_are_those_of_the_slide_and_not_of_its_last_fragment(deck):
    made = deck(
        text("## One", "slide", "a"), text("Two", "fragment", "b"), text("Said.", "notes", "c")
    )
    (notes,) = made.select("aside.notes")
    assert "Said." in notes.get_text()
    assert notes.parent is leaves(made)[1]


def test_title_section_and_picture_slides_have_a_look_of_their_own(deck):
    made = deck(
        text("## Opening\n\nOne sentence.", "slide", "a"),
        text("## Full\n\nOne.\n\nTwo.", "slide", "b"),
        code(mark="subslide", outputs=[picture()]),
    )
    assert [leaf.get("class") for leaf in leaves(made)] == [
        ["title"], ["opening"], ["text"], ["picture"],
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("cells", "smaller"),
    [
        ([code("x" * 82, "subslide", "slide-code")], 0),
        ([code("x" * 83, "subslide", "slide-code")], 1),
        ([code(mark="subslide", outputs=[printed("x" * 76)])], 0),
        ([code(mark="subslide", outputs=[printed("x" * 77)])], 1),
        ([code(mark="subslide", outputs=[printed("x\n" * 17)])], 0),
        ([code(mark="subslide", outputs=[printed("x\n" * 18)])], 1),
        ([text("Look:", "subslide"), code(outputs=[printed("x\n" * 13)])], 1),
    ],
)
def test_letters_are_smaller_where_lines_are_long_or_many(deck, cells, smaller):
    assert len(deck(*cells).select("pre.dense")) == smaller


def test_the_title_of_a_diagram_is_its_point_and_the_rest_is_said(deck):
    said = v4.new_output("display_data", data={"text/html": CAPTION})
    diagram = code(mark="subslide", outputs=[picture(**{"image/svg+xml": "<svg></svg>"}), said])
    plot = code(mark="subslide", outputs=[picture(), said], name="plot", count=2)
    _, first, second = leaves(deck(diagram, plot))
    assert first.h3.get_text() == "One chain."
    assert "Cut twice." in first.select_one("aside.notes").get_text()
    assert second.h3 is None, "a plot has a title of its own"
    assert second.select_one(".course-caption")


def test_the_shape_of_a_figure_is_told_to_the_style_sheet(deck):
    figure = picture()
    figure.metadata["image/png"].update(width=700, height=350)
    image = deck(code(outputs=[figure])).select_one("img")
    assert image["style"] == "--ratio: 2.0000; --wide: 700px"


def test_words_of_links_to_other_notebooks_stay_without_the_link(deck):
    made = deck(text("[there](03_c.ipynb) and [far](https://example.org)"))
    assert [link["href"] for link in made.select(".slides a")] == ["https://example.org"]
    assert "there and far" in made.get_text()


def test_an_explorer_has_its_numbers_and_what_draws_them_beside_its_picture(deck):
    explorer = picture(**{"text/plain": "Explorer(a=1)"})
    explorer.metadata["image/png"]["explorer"] = "eJw="
    made = deck(code(outputs=[explorer]))
    figure = made.select_one("figure")
    assert (figure["data-explorer"], figure["data-cell"]) == ("eJw=", "code")
    assert figure.img["alt"] == "A dot."
    assert "export class Explorer" in made.select_one("script[type=module]").get_text()


# -- only what changed ----------------------------------------------------------------------------


def test_a_deck_is_built_again_only_when_something_changed(tmp_path):
    path, out = save(tmp_path, text("# A", "slide")), tmp_path / "out"

    def build():
        (made,) = write_decks(read_all(path), out)
        return made

    first, second = build(), build()
    assert (first.written, second.written) == (True, False)
    assert re.fullmatch(r"wrote .*01_a\.html 2\.\d MB \d+\.\d s", str(first))
    assert str(second).startswith("unchanged ")
    assert {file.name for file in out.iterdir()} == {"01_a.html"}
    save(tmp_path, text("# B", "slide"))
    assert build().written
    (out / "01_a.html").write_text("something else")
    assert build().written


@pytest.mark.parametrize(
    "change",
    [
        lambda monkeypatch: monkeypatch.setattr(slides, "_versions", lambda names: ["other"]),
        lambda monkeypatch: monkeypatch.setattr(slides, "TEMPLATES", Path(__file__).parent),
    ],
)
def test_a_new_version_or_template_means_a_new_deck(monkeypatch, change):
    before = slides._digest(notebook())
    assert slides._digest(notebook()) == before
    change(monkeypatch)
    assert slides._digest(notebook()) != before


# -- every lecture --------------------------------------------------------------------------------


@pytest.mark.parametrize("path", LECTURES, ids=lambda path: path.stem)
def test_no_slide_has_more_words_than_can_be_shown(path):
    slides = outline(paged(read(path)), path)
    counts = [sum(map(words_on, slide.shown)) for slide in slides]
    assert max(counts) <= MOST_WORDS


@pytest.mark.parametrize("path", LECTURES, ids=lambda path: path.stem)
def test_at_least_every_second_slide_has_something_to_look_at(path):
    slides = outline(paged(read(path)), path)
    is_begun = len(slides) < 10  # as `course new` makes it
    assert is_begun or sum(slide.has_picture for slide in slides) >= len(slides) / 2


@pytest.mark.parametrize("path", LECTURES, ids=lambda path: path.stem)
def test_its_marks_make_a_lecture(path):
    found = outline(read(path), path)
    (minutes,) = [unit.minutes[0] for unit in UNITS if unit.stem == path.stem]
    assert minutes / 4 <= len(found) <= max(30, minutes / 2)
    assert found[0].shown[0].source.startswith("# ")
    assert len(found[0].shown) <= 2
    with_notes = sum(bool(slide.notes) for slide in found)
    assert with_notes >= len(found) / 2, "notes say what to say and what to ask"
    assert 0.7 * minutes <= sum(slide.minutes for slide in found) <= 1.3 * minutes


def test_where_the_engines_are_shared_a_deck_links_to_them(tmp_path):
    path = save(tmp_path, text("# A", "slide"))
    options = {"shared": "../static/"}
    (made,) = write_decks(read_all(path), tmp_path / "out", **options)
    deck = BeautifulSoup(made.target.read_text(encoding="utf-8"), "html.parser")
    assert deck.select_one("link[rel=stylesheet]")["href"] == "../static/reveal.css"
    scripts = [script["src"] for script in deck.select("script[src]")]
    names = ["mathjax.js", "explorer.js", "live.js", "reveal.js", "notes.js"]
    assert scripts == [f"../static/{name}" for name in names]
    assert deck.body["data-up"] == "../"
    assert made.target.stat().st_size < 100_000
