"""Decks in a browser without a network: complete, legible, moved by keys, printed, accessible.

Every lecture with slide marks is built and measured. How a deck behaves is shown with one of them.
"""

import contextlib
import hashlib
import re
from pathlib import Path

import pytest
from nbformat.v4 import new_markdown_cell, new_notebook

from classroom import printing, screening, selection
from classroom.handouts import write_handouts
from classroom.notebooks import as_text, read
from classroom.offline import sound
from classroom.outline import has_marks, outline, paged
from classroom.pages import write_page
from classroom.slides import DECK_LIMIT, write_decks
from tests.browser.likeness import unlike_matplotlib
from tests.browser.test_pages_accessible import violations

ROOT = Path(__file__).parents[2]
LECTURES = {p.stem: p for p in selection.lectures(ROOT) if has_marks(read(p))}
MOMENTUM = "02_momentum"
# As for pages: what axe-core learns nothing from is taken away, since it takes its time for it.
LEAVE_ONE_OF_EACH = """() => {
  document.querySelectorAll("mjx-container > svg > *").forEach(outline => outline.remove());
  document.querySelectorAll("mjx-container math").forEach(math => math.append(math.textContent));
  document.querySelectorAll(".slide-number-pdf, aside.notes, math > *").forEach(e => e.remove());
}"""
# As with `?print-pdf` in the address, with formulas that are set already: they take the time.
LAY_OUT_FOR_PRINT = """async () => {
  const about = Reveal.getConfig();
  Reveal.destroy();
  const laidOut = new Promise(done => Reveal.on("pdf-ready", done));
  await Reveal.initialize({...about, view: "print"});
  await laidOut;
  document.querySelectorAll("section").forEach(slide => slide.removeAttribute("aria-hidden"));
}"""
# The deck as it was opened: where one was in each section and what was shown is forgotten.
BEGIN_AGAIN = """() => {
  document.querySelectorAll(".added").forEach(e => e.remove());
  document.querySelectorAll(".fragment").forEach(e => e.classList.remove("visible"));
  document.querySelectorAll(".stack").forEach(e => e.removeAttribute("data-previous-indexv"));
  document.querySelectorAll("mjx-container > svg").forEach(e => e.style.removeProperty("width"));
  Reveal.toggleOverview(false);
  Reveal.slide(0, 0);
}"""
RAW_TEX = """() => {
  const slides = document.querySelector(".slides").cloneNode(true);
  slides.querySelectorAll("pre, code, mjx-container").forEach(e => e.remove());
  return slides.textContent.match(/.*(\\$|\\\\(frac|begin|Delta|text)).*/)?.[0];
}"""
TO_ITS_SLIDE = """what => {
  const {h, v} = Reveal.getIndices(what.closest("section"));
  Reveal.slide(h, v, 99);
}"""
PICTURES = """all => all.filter(i => !i.closest("[hidden]")).map(i => {
  const box = i.getBoundingClientRect();
  return [i.naturalWidth, box.width, box.height];
})"""


def read_all(*paths):
    """Lectures as decks are made from them."""
    return {path: sound(path, "a deck") for path in paths}


@pytest.fixture(scope="module")
def decks(tmp_path_factory):
    """Every deck of the course."""
    made = write_decks(read_all(*LECTURES.values()), tmp_path_factory.mktemp("slides"))
    return {deck.target.stem: deck.target for deck in made}


@contextlib.contextmanager
def watched(browser):
    """A window without a network, and a list of what it asks for or complains about."""
    context = browser.new_context(viewport={"width": 1280, "height": 720}, offline=True)
    problems = []
    context.on("weberror", lambda error: problems.append(f"page error: {error.error}"))
    context.on("console", lambda message: problems.append(f"console: {message.text[:300]}"))
    context.on("requestfailed", lambda request: problems.append(f"failed: {request.url[:300]}"))
    context.on("request", lambda request: problems.extend(outside(request.url)))
    yield context.new_page(), problems
    context.close()


@pytest.fixture
def view(browser):
    """An empty page; what it asks for or complains about fails the test."""
    with watched(browser) as (page, problems):
        yield page
    assert problems == []


@pytest.fixture(scope="module")
def opened(browser, decks):
    with watched(browser) as (page, problems):
        show(page, decks[MOMENTUM])
        yield page, problems


@pytest.fixture
def momentum(opened):
    """One deck at its first slide: its formulas are set once for all tests that only look at it."""
    page, problems = opened
    page.evaluate(BEGIN_AGAIN)
    yield page
    assert problems == []


def outside(url):
    return [] if re.match(r"file:|data:|about:|blob:", url) else [f"request: {url[:300]}"]


def show(view, deck, query=""):
    view.goto(deck.as_uri() + query)
    view.wait_for_function("window.slidesAreReady", polling=100)


def place(view):
    """The number of the slide on the screen."""
    return view.evaluate("Reveal.getSlidePastCount() + 1")


def go_to(view, selector):
    """Show the first slide that holds this, with all its fragments."""
    view.locator(selector).first.evaluate(TO_ITS_SLIDE)


# -- every deck -----------------------------------------------------------------------------------


@pytest.mark.parametrize("stem", LECTURES)
def test_a_deck_is_complete_offline_fits_its_frame_and_has_no_barriers(view, decks, stem):
    """First as on the screen, then in its printed form, in which all slides are seen at once."""
    assert decks[stem].stat().st_size <= DECK_LIMIT
    show(view, decks[stem])
    assert [str(misfit) for misfit in screening.misfits_of(view, stem)] == []
    assert unlike_matplotlib(view, stem, TO_ITS_SLIDE) == []
    view.evaluate(LAY_OUT_FOR_PRINT)
    slides = outline(paged(read(LECTURES[stem])), LECTURES[stem])
    assert view.locator(".pdf-page").count() == len(slides)
    assert view.locator("mjx-container").count() > 0
    assert view.locator("mjx-merror, [data-mjx-error]").count() == 0
    assert view.evaluate(RAW_TEX) is None
    pictures = view.locator("img").evaluate_all(PICTURES)
    assert all(natural > 100 and min(size) > 100 for natural, *size in pictures)
    assert view.locator("svg.course-picture[aria-label]").count() > 0
    assert view.locator("figure[data-explorer] img").count() == 0
    view.evaluate(LEAVE_ONE_OF_EACH)
    assert violations(view) == []


# -- one deck -------------------------------------------------------------------------------------


def test_arrow_keys_walk_through_all_slides_and_fragments_and_back(momentum):
    slides = outline(paged(read(LECTURES[MOMENTUM])), LECTURES[MOMENTUM])
    assert momentum.evaluate("Reveal.getTotalSlides()") == len(slides)
    seen = [place(momentum)]
    for _ in range(sum(1 + slide.fragments for slide in slides) - 1):
        momentum.keyboard.press("ArrowRight")
        seen.append(place(momentum))
    numbered = enumerate(slides, start=1)
    assert seen == [n for n, slide in numbered for _ in range(1 + slide.fragments)]
    momentum.keyboard.press("ArrowLeft")
    assert place(momentum) == len(slides) - 1 + (slides[-1].fragments > 0)
    momentum.keyboard.press("Home")
    assert place(momentum) == 1


def test_escape_gives_the_overview(momentum):
    momentum.keyboard.press("Escape")
    assert momentum.evaluate("Reveal.isOverview()")
    momentum.keyboard.press("Escape")
    assert not momentum.evaluate("Reveal.isOverview()")


def test_notes_open_in_the_speakers_window_and_follow_the_slides(momentum):
    with momentum.context.expect_page() as opened:
        momentum.keyboard.press("s")
    speaker = opened.value
    notes = speaker.locator(".speaker-controls-notes .value")
    momentum.bring_to_front()
    go_to(momentum, "#eliminate-m, [id*='eliminate-m']")
    notes.get_by_text("it is the last move that is put in").wait_for()
    go_to(momentum, "aside.notes mjx-container")
    notes.locator("mjx-container svg path").first.wait_for(state="attached")
    assert "$" not in notes.inner_text()
    speaker.close()


def test_the_slider_of_an_explorer_changes_the_picture_and_keeps_its_keys(momentum):
    go_to(momentum, ".course-box")
    here = place(momentum)
    box = momentum.locator("section.present:not(.stack) .course-box")
    slider, picture, words = box.get_by_role("slider").first, box.locator("svg"), ".course-says"
    before, said = pixels(picture), box.locator(words).inner_text()
    slider.focus()
    momentum.keyboard.press("ArrowRight")
    assert place(momentum) == here
    assert pixels(picture) != before
    assert box.locator(words).inner_text() != said
    momentum.keyboard.press("PageDown")  # what a presenter's remote sends
    assert place(momentum) == here + 1
    momentum.keyboard.press("ArrowLeft")
    slider.click()
    momentum.keyboard.press("ArrowRight")
    assert place(momentum) == here + 1


def test_what_plays_stops_with_the_next_slide(momentum):
    go_to(momentum, ".course-plays")
    here = place(momentum)
    box = momentum.locator("section.present:not(.stack) .course-box")
    scene = box.element_handle()
    box.get_by_role("button", name="Play: step").click()
    momentum.wait_for_function("box => box.explorer.at[0] > 16", arg=scene)
    momentum.keyboard.press("ArrowRight")  # the keys are the deck's again
    assert place(momentum) == here + 1
    momentum.wait_for_function("box => !box.explorer.playing", arg=scene)


def test_an_explorer_has_the_width_of_the_slide(momentum):
    go_to(momentum, ".course-box")
    box = momentum.locator("section.present:not(.stack) .course-box")
    assert box.bounding_box()["width"] > 1100
    assert box.locator("svg").bounding_box()["height"] > 330


def pixels(locator):
    return hashlib.sha256(locator.screenshot(animations="disabled")).hexdigest()


def test_letters_are_large_enough_to_be_read_from_the_last_row(momentum):
    sizes = momentum.locator(".slides :is(p, li, td, th, figcaption)").evaluate_all(
        "all => all.filter(e => !e.closest('aside, pre'))"
        ".map(e => parseFloat(getComputedStyle(e).fontSize))"
    )
    assert min(sizes) >= 26
    code = momentum.locator(".slides pre").evaluate_all(
        "all => all.map(e => parseFloat(getComputedStyle(e).fontSize))"
    )
    assert min(code, default=22) >= 22


def test_a_printed_deck_has_one_page_a_slide(browser, decks, tmp_path):
    printing.print_deck(browser, decks[MOMENTUM], tmp_path / "deck.pdf")
    pdf = (tmp_path / "deck.pdf").read_bytes()
    slides = outline(paged(read(LECTURES[MOMENTUM])), LECTURES[MOMENTUM])
    assert len(re.findall(rb"/Type /Page\b", pdf)) == len(slides)
    assert b"/StructTreeRoot" in pdf
    assert b"/Outlines" in pdf
    assert b"file:" not in pdf


# -- the measure itself ---------------------------------------------------------------------------


def test_what_does_not_fit_is_named_with_the_number_and_title_of_the_slide(momentum):
    momentum.evaluate("""() => {
      const [, second, ...others] = Reveal.getSlides();
      const rules = others.find(slide => slide.querySelector("h2")?.textContent === "1 Two rules");
      second.insertAdjacentHTML("beforeend", "<p class=added>deep</p>".repeat(20));
      rules.insertAdjacentHTML("beforeend", `<pre class=added>${"wide".repeat(50)}</pre>`);
      document.querySelector(".slides mjx-container[display] svg").style.width = "3000px";
    }""")
    tall, wide, shrunk = momentum.evaluate(screening.MEASURE, screening.LIMITS)
    assert tall[:2] == [2, "A question with something at stake"]
    assert re.fullmatch(r"\d+ px too tall, at: deep", tall[2])
    assert wide[1] == "1 Two rules"
    assert re.fullmatch(r"\d+ px too wide, at: widewide.*", wide[2])
    assert re.search(r"a formula is shrunk to \d\d %", shrunk[2])


def test_code_that_leaves_its_box_is_named_and_what_is_only_heard_is_not_measured(momentum):
    momentum.evaluate("""() => {
      const [, second, ...others] = Reveal.getSlides();
      const rules = others.find(slide => slide.querySelector("h2")?.textContent === "1 Two rules");
      const add = (slide, kind, style, words) => slide.insertAdjacentHTML(
        "beforeend", `<${kind} class="added" style="${style}">${words}</${kind}>`);
      add(rules, "pre", "width: 80px", "x".repeat(20));
      const hidden = "position: absolute; width: 1px; clip-path: inset(50%)";
      add(second, "p", hidden, "heard ".repeat(99));
    }""")
    ((_, title, what),) = momentum.evaluate(screening.MEASURE, screening.LIMITS)
    assert title == "1 Two rules"
    assert re.fullmatch(r"a line is \d+ px wider than its box, in: x+", what)


def test_a_block_that_sticks_out_and_a_figure_with_small_letters_are_named(momentum):
    momentum.evaluate("""() => {
      const rules = Reveal.getSlides().find(
        slide => slide.querySelector("h2")?.textContent === "1 Two rules");
      const add = (what) => rules.insertAdjacentHTML("beforeend", what);
      add("<pre class=added style='margin-left: -44px'>x</pre>");
      add("<figure class=added><img alt='' width=70 height=32 style='height: 32px'></figure>");
    }""")
    found = [what for _, _, what in momentum.evaluate(screening.MEASURE, screening.LIMITS)]
    assert found == ["44 px left of the text: x", "letters of 13 px in a figure of 70 × 32"]


def test_no_line_breaks_between_a_formula_and_its_punctuation(view, tmp_path):
    words = "# One\n\nAs we know ($x$), but not $y$, or $z$ alone."
    cell = new_markdown_cell(words, id="one", metadata={"slideshow": {"slide_type": "slide"}})
    path = tmp_path / "07_small.ipynb"
    path.write_text(as_text(new_notebook(cells=[cell])), encoding="utf-8")
    (deck,) = write_decks(read_all(path), tmp_path)
    show(view, deck.target)
    kept = view.locator(".together")
    held = kept.evaluate_all(
        "all => all.map(e => [...e.childNodes].map(n => n.data ?? '').join('·'))"
    )
    assert held == ["(··),", "·,"]
    assert set(kept.evaluate_all("all => all.map(e => getComputedStyle(e).whiteSpace)")) == {
        "nowrap"
    }


def test_contact_sheets_show_every_slide(browser, tmp_path):
    cell = new_markdown_cell("# One", id="one", metadata={"slideshow": {"slide_type": "slide"}})
    path = tmp_path / "07_small.ipynb"
    path.write_text(as_text(new_notebook(cells=[cell])), encoding="utf-8")
    (deck,) = write_decks(read_all(path), tmp_path)
    assert [sheet.name for sheet in screening.shoot(browser, deck.target, tmp_path)] == [
        "07_small-01-01.png"
    ]


# -- handouts -------------------------------------------------------------------------------------


def test_a_page_that_is_printed_has_its_answers_at_the_end_and_then_where_they_were(view, tmp_path):
    fold = "<details><summary>Answer</summary>\n\nBecause.\n\n</details>"
    cell = new_markdown_cell(f"# One\n\nWhy?\n\n{fold}\n\nGo on.", id="one")
    path = tmp_path / "07_small.ipynb"
    path.write_text(as_text(new_notebook(cells=[cell])), encoding="utf-8")
    write_page(path, tmp_path / "07_small.html")
    view.goto((tmp_path / "07_small.html").as_uri())
    view.wait_for_function("window.pageIsReady")
    before = view.locator("main").inner_html()
    view.evaluate("dispatchEvent(new Event('beforeprint'))")
    words = " ".join(view.locator("main").inner_text().split())
    assert words == "One Why? → answer 1 at the end Go on. Answers Answer Because."
    view.evaluate("dispatchEvent(new Event('afterprint'))")
    assert view.locator("main").inner_html().replace(' data-number="1"', "") == before


def test_a_handout_prints_with_an_outline_and_without_this_machines_folders(browser, tmp_path):
    lecture = LECTURES[MOMENTUM]
    page, *_ = write_handouts([lecture], tmp_path, pdf=False)
    printing.print_page(browser, page, tmp_path / "handout.pdf")
    pdf = (tmp_path / "handout.pdf").read_bytes()
    assert 5 <= len(re.findall(rb"/Type /Page\b", pdf)) <= 30
    assert b"/StructTreeRoot" in pdf
    assert b"/Outlines" in pdf
    assert b"file:" not in pdf
