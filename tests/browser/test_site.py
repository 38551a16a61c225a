"""The site in a browser that reaches no other host: read, run, be graded, find one's work again.

Python in the browser takes compiled packages from the folder that COURSE_LITE_WHEELS names; without
it, from their public address, where that answers. Without either, what needs Python in the browser
is skipped, and fails where COURSE_LITE=must promises it, as `.ci/run` does where it can.
"""

import functools
import json
import re
import time
from collections.abc import Iterator

import nbformat
import pytest
from bs4 import BeautifulSoup
from playwright.sync_api import expect

from selfcheck.students import cli
from selfcheck.units import declared, units
from tests.browser.lab import REPOSITORY
from tests.browser.likeness import MOST, far_from, saved_explorers, unlike_matplotlib
from tests.browser.site import Site, served, visiting
from tests.browser.slips import NOT_RUN, slips
from tests.browser.test_pages_accessible import (
    LEAVE_ONE_OF_EACH,
    WIDER_THAN_THE_SCREEN,
    violations,
)

MOMENTUM = declared("02_momentum")
ALL_POINTS = sum(exercise.points for exercise in MOMENTUM)
SHEET, LECTURE = "exercises/02_momentum.ipynb", "notebooks/02_momentum.ipynb"
RUN_MS = 300_000  # a busy machine is slow, not wrong
ANSWERS = {
    "answer-half-life": 'half_life = "1/beta"',  # wrong
    "answer-equivalent-rules": "alpha, epsilon = beta, delta",  # misconceived
}  # one is typed in the page, and the others stay blank


# -- the site, its server and its pages -----------------------------------------------------------


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Iterator[Site]:
    with served(tmp_path_factory) as site:
        yield site


# -- pages to read --------------------------------------------------------------------------------


def test_all_units_are_on_the_landing_page_and_one_exercise_of_them(site):
    page = BeautifulSoup((site.folder / "index.html").read_text(encoding="utf-8"), "html.parser")
    stems = [unit.stem for unit in units()]
    assert page.select_one(".begin .go-on")["href"] == f"notebooks/{stems[0]}.html"
    assert "What is the variance" in page.select_one(".example .question").get_text()
    rows = [row["data-sheet"] for row in page.select(".units > li")]
    assert rows == [f"exercises/{stem}.ipynb" for stem in stems]
    assert len(page.select(".map a")) == len(stems)
    told = [part.get_text() for part in page.select(".units details")]
    assert any("translate between the two ways" in text for text in told)


@pytest.mark.parametrize(
    ("place", "theme", "width"),
    [
        ("index.html", "light", 1200),
        ("index.html", "dark", 390),
        ("notebooks/02_momentum.html", "light", 390),
        ("notebooks/02_momentum.html", "dark", 1200),
        ("exercises/05_two_heads.html", "dark", 390),
        ("exercises/05_two_heads.html", "light", 1200),
        ("sources.html", "dark", 1200),
        ("docs/looks.html", "light", 390),
        ("docs/looks.html", "dark", 1200),
    ],
)
def test_a_page_has_no_barriers_in_light_and_dark_on_desk_and_phone(
    chrome, site, place, theme, width
):
    with visiting(chrome, site, color_scheme=theme) as visit:
        visit.page.set_viewport_size({"width": width, "height": 850})
        visit.go(place)
        assert visit.page.locator(f"html[data-theme={theme}]").count() == 1
        visit.wait("window.pageIsReady")
        assert visit.page.evaluate(WIDER_THAN_THE_SCREEN) == []
        folds = visit.page.locator("details")
        folds.evaluate_all("all => all.forEach(one => { one.open = true; })")
        visit.page.evaluate(LEAVE_ONE_OF_EACH)
        assert violations(visit.page) == []


def test_the_search_finds_a_section_by_its_words_and_the_keyboard_gets_there(visit):
    visit.go("index.html")
    visit.page.keyboard.press("/")
    visit.page.keyboard.type("cold start")
    first = visit.page.locator("#found li a").first
    expect(first).to_contain_text("The cold start")
    visit.page.keyboard.press("ArrowDown")
    expect(first).to_be_focused()
    visit.page.keyboard.press("Enter")
    visit.page.wait_for_url(re.compile("02_momentum.html#5-The-cold-start"))


def first_explorer(page):
    """By its figure: a page draws them as their numbers come, not from top to bottom."""
    return page.locator("figure[data-explorer]").first.locator(".course-box")


def test_an_explorer_moves_on_a_reading_page_without_a_kernel(visit):
    visit.go("notebooks/02_momentum.html")
    explorer = first_explorer(visit.page)
    expect(explorer).to_be_visible()
    seen = set()
    for number in range(explorer.get_by_role("slider").count()):
        slider, words = explorer.get_by_role("slider").nth(number), explorer.locator(".course-says")
        before, said = slider.get_attribute("aria-valuetext"), words.inner_text()
        slider.focus()
        visit.page.keyboard.press("ArrowLeft")
        expect(slider).not_to_have_attribute("aria-valuetext", before)
        expect(words).not_to_have_text(said)
        seen.add(words.inner_text())
    assert len(seen) == 2


@pytest.mark.parametrize("lecture", ["02_momentum", "04_attention", "05_two_heads"])
def test_a_reading_page_draws_its_explorers_as_matplotlib_does_in_light_and_dark(visit, lecture):
    visit.go(f"notebooks/{lecture}.html")
    for theme in ("light", "dark"):
        visit.page.evaluate("theme => { document.documentElement.dataset.theme = theme; }", theme)
        assert unlike_matplotlib(visit.page, lecture) == []


def test_what_is_printed_has_no_controls_and_is_light(chrome, site):
    with visiting(chrome, site, color_scheme="dark") as visit:
        visit.go("notebooks/02_momentum.html")
        expect(first_explorer(visit.page)).to_be_visible()
        visit.page.emulate_media(media="print")
        without = ".site-head, nav.contents, .doors, .course-controls, .course-tools"
        shown = visit.page.locator(without).all()
        assert [part.is_visible() for part in shown] == [False] * len(shown)
        ink = "getComputedStyle(document.body).color"
        on_paper = visit.page.evaluate(ink)
        visit.page.emulate_media(media="screen")
        assert visit.page.evaluate(ink) != on_paper
        visit.go("notebooks/02_momentum.html?paper")
        expect(visit.page.get_by_role("button", name="Print")).to_be_visible()
        expect(visit.page.locator("nav.contents")).to_be_hidden()
        assert visit.page.evaluate(ink) == on_paper


# -- work is kept ---------------------------------------------------------------------------------

WRITE = """async ([path, notebook, storage]) => {
  const {Store} = await import(new URL('../static/store.js', location.href).href);
  await new Store(storage).write(path, notebook);
}"""
READ = """async ([path, storage]) => {
  const {Store} = await import(new URL('../static/store.js', location.href).href);
  return new Store(storage).read(path);
}"""
STORAGE = "document.body.dataset.storage"


def sheet(site, name=SHEET):
    return json.loads((site.folder / "lite" / "files" / name).read_text(encoding="utf-8"))


def kept(visit, path=SHEET):
    return visit.page.evaluate(READ, [path, visit.page.evaluate(STORAGE)])


def keep(visit, notebook, path=SHEET):
    visit.page.evaluate(WRITE, [path, notebook, visit.page.evaluate(STORAGE)])


def source(notebook, cell_id):
    return next(cell["source"] for cell in notebook["cells"] if cell["id"] == cell_id)


def fill(notebook, cell_id, text):
    next(cell for cell in notebook["cells"] if cell["id"] == cell_id)["source"] = text


def test_a_changed_sheet_says_so_and_carries_over_the_answers_of_the_same_exercises(visit, site):
    visit.go("exercises/02_momentum.html")
    old = sheet(site)
    old["metadata"]["course"]["digest"] = "older"
    fill(old, "answer-bias", "factor = 1")
    fill(old, "answer-half-life", "half_life = 7")
    fill(old, "text-half-life", "## Exercise 2.7\n\nAnother question.")
    keep(visit, old)
    visit.page.reload()
    notice = visit.page.locator(".work-changed")
    expect(notice).to_be_visible()
    notice.get_by_role("button", name="Take the new one and keep mine beside it").click()
    expect(notice).to_be_hidden()
    expect(visit.page.locator(".work-state")).to_contain_text("with 1 answer of yours")
    now = kept(visit)
    assert source(now, "answer-bias") == "factor = 1"
    assert source(now, "answer-half-life") == "half_life = ____"
    assert source(now, "text-half-life") == source(sheet(site), "text-half-life")
    beside = kept(visit, "exercises/02_momentum, mine 1.ipynb")
    assert source(beside, "answer-half-life") == "half_life = 7"


def test_a_sheet_goes_out_to_a_file_and_comes_back_from_it(visit, site, tmp_path):
    visit.go("exercises/02_momentum.html")
    button = functools.partial(visit.page.get_by_role, "button")
    expect(button(name="Download my sheet")).to_be_disabled()
    mine = sheet(site)
    fill(mine, "answer-bias", "factor = 3")
    keep(visit, mine)
    visit.page.reload()
    with visit.page.expect_download() as coming:
        button(name="Download my sheet").click()
    coming.value.save_as(tmp_path / "02_momentum.ipynb")
    notebook = nbformat.read(tmp_path / "02_momentum.ipynb", as_version=4)
    nbformat.validate(notebook)
    button(name="Start this sheet anew").click()
    expect(button(name="Download my sheet")).to_be_disabled()
    assert kept(visit) is None
    beside = kept(visit, "exercises/02_momentum, mine 1.ipynb")
    assert source(beside, "answer-bias") == "factor = 3"
    visit.page.locator(".work input[type=file]").set_input_files(tmp_path / "02_momentum.ipynb")
    expect(visit.page.locator(".work-state")).to_contain_text("that of 02_momentum.ipynb")
    assert source(kept(visit), "answer-bias") == "factor = 3"


def test_a_file_that_is_not_of_this_sheet_is_refused_with_a_sentence(visit, tmp_path):
    visit.go("exercises/02_momentum.html")
    (tmp_path / "photo.ipynb").write_text("{}", encoding="utf-8")
    visit.page.locator(".work input[type=file]").set_input_files(tmp_path / "photo.ipynb")
    expect(visit.page.locator(".work-state")).to_contain_text("photo.ipynb cannot be taken: none")
    assert kept(visit) is None


def test_points_are_shown_on_the_landing_page_from_what_the_browser_has(visit, site):
    visit.go("exercises/02_momentum.html")
    mine = sheet(site)
    check = next(cell for cell in mine["cells"] if cell["id"] == "check-bias")
    said = "2.3 bias: right, 1 of 1 points. Well done."
    check["outputs"] = [
        {
            "output_type": "execute_result",
            "execution_count": 1,
            "metadata": {},
            "data": {"text/plain": said},
        }
    ]
    keep(visit, mine)
    visit.go("index.html")
    row = visit.page.locator("li[data-sheet='exercises/02_momentum.ipynb']")
    expect(row).to_contain_text(
        f"You have 1 of {ALL_POINTS}; 1 of {len(MOMENTUM)} exercises right."
    )
    expect(visit.page.locator(".mine-points")).to_have_text(re.compile("^1 of "))


# -- Python in the browser ------------------------------------------------------------------------

KERNEL = "window.jupyterapp?.shell?.currentWidget?.sessionContext?.session?.kernel"
IS_IDLE = f"() => {KERNEL}?.status === 'idle'"
IN_NOTEBOOK = "const cells = [...window.jupyterapp.shell.currentWidget.content.model.cells];"
RUN_ALL = """() => {
  window.courseDone = false;
  window.jupyterapp.commands.execute('notebook:run-all-cells')
    .finally(() => { window.courseDone = true; });
}"""
FILL = f"""([id, text]) => {{ {IN_NOTEBOOK}
  cells.find(cell => cell.id === id).sharedModel.setSource(text);
}}"""
OUTPUTS = f"""() => {{ {IN_NOTEBOOK}
  const join = text => Array.isArray(text) ? text.join('') : text ?? '';
  return cells.filter(cell => cell.type === 'code').map(cell => {{
    const {{source, outputs}} = cell.toJSON();
    return {{
      source: join(source),
      errors: outputs.filter(o => o.output_type === 'error').map(o => o.ename + ': ' + o.evalue),
      text: outputs.map(o => join(o.text ?? o.data?.['text/plain'])).join('\\n'),
    }};
  }});
}}"""


def run_all(visit) -> list[dict]:
    visit.page.evaluate(RUN_ALL)
    visit.wait("() => window.courseDone", timeout=RUN_MS)
    cells = visit.page.evaluate(OUTPUTS)
    assert [cell["errors"] for cell in cells if cell["errors"]] == []
    return cells


def test_the_pages_own_python_moves_what_the_saved_numbers_do_not(in_browser, visit):
    # It comes by itself once an explorer with more controls is in sight; the others move meanwhile.
    visit.go("notebooks/04_attention.html")
    box = first_explorer(visit.page)
    box.scroll_into_view_if_needed()
    first, last = box.get_by_role("slider", name="score 1"), box.get_by_role("slider").last
    expect(last).to_be_disabled()
    moved_by(visit.page, first, box)
    expect(last).to_be_enabled()
    moved_by(visit.page, last, box)
    moved_by(visit.page, first, box)
    drawn = box.locator("svg").screenshot()
    words = box.locator(".course-says").inner_text()

    # On a slide in another tab its keys turn no slides, and nothing is loaded again.
    deck = visit.beside()
    deck.go("slides/04_attention.html")
    deck.wait("window.slidesAreReady")
    deck.page.evaluate(
        """() => { const at = document.querySelector('[data-explorer]').closest('section');
        const {h, v} = Reveal.getIndices(at); Reveal.slide(h, v, 99); }"""
    )
    at = deck.page.evaluate("Reveal.getIndices()")
    slide = first_explorer(deck.page)
    expect(slide.get_by_role("slider").last).to_be_enabled()
    moved_by(deck.page, slide.get_by_role("slider").last, slide)
    assert deck.page.evaluate("Reveal.getIndices()") == at
    assert box.locator(".course-says").inner_text() == words
    assert box.locator("svg").screenshot() == drawn


def moved_by(page, slider, box):
    """A key on the slider changes picture and words."""
    before = [box.locator("svg").inner_html(), box.locator(".course-says").text_content()]
    slider.focus()
    page.keyboard.press("ArrowLeft")
    expect(box.locator(".course-says")).not_to_have_text(before[1])
    assert box.locator("svg").inner_html() != before[0]


def test_jupyterlite_itself_says_when_a_notebook_has_changed(in_browser, visit, site):
    visit.go("exercises/02_momentum.html")
    old = sheet(site)
    old["metadata"]["course"]["digest"] = "older"
    fill(old, "answer-bias", "factor = 5")
    keep(visit, old)
    visit.go(f"lite/notebooks/index.html?path={SHEET}")
    with visit.page.expect_navigation():
        visit.page.get_by_role("button", name="Take the new one and keep mine beside it").click()
    visit.go("exercises/02_momentum.html")
    expect(visit.page.locator(".work-changed")).to_be_hidden()
    assert source(kept(visit), "answer-bias") == "factor = 5"


RUN = f"""async id => {{ {IN_NOTEBOOK}
  window.jupyterapp.shell.currentWidget.content.activeCellIndex = cells.findIndex(c => c.id === id);
  await window.jupyterapp.commands.execute('notebook:run-cell');
}}"""
IS_DIRTY = "window.jupyterapp.shell.currentWidget.context.model.dirty"


def test_a_sheet_in_the_browser_is_set_up_by_itself_and_no_slip_keeps_its_green_card(
    in_browser, visit
):
    visit.go(f"lite/notebooks/index.html?path={SHEET}")
    ready = visit.page.locator(".course-ready")
    expect(ready).to_have_text("Ready")
    assert visit.page.evaluate(IS_DIRTY) is False
    card, edited = visit.page.locator(".course-card"), visit.page.locator(".course-edited")
    right = "factor = 1 - beta**t"

    def fill(text):
        visit.page.evaluate(FILL, ["answer-bias", text])

    def run(*cells):
        for cell in cells:
            visit.page.evaluate(RUN, f"{cell}-bias")

    for slip, text in slips(*right.split(" = ")).items():
        fill(right)
        run("answer", "check")
        expect(card, slip).to_contain_text("✓ Right")
        fill(text)
        expect(edited, slip).to_contain_text("Edited since this verdict")
        run("check") if slip == NOT_RUN else run("answer", "check")
        expect(card, slip).to_contain_text("0 of 1 point")
        expect(card, slip).to_contain_text("Your cell with factor")
    assert visit.page.evaluate(IS_DIRTY) is True
    assert violations(visit.page, within=".jp-OutputArea") == []

    visit.page.evaluate(f"() => {KERNEL}.restart()")
    expect(ready).to_have_text("Ready")
    fill(right)
    run("answer", "check")
    expect(card).to_contain_text("✓ Right")


def test_a_student_reads_runs_is_graded_and_finds_the_work_again(
    in_browser, visit, site, tmp_path, monkeypatch
):
    # From the landing page to the lecture, which runs as it stands, and its explorer moves.
    visit.go("index.html")
    visit.page.get_by_role("link", name="02 · Momentum is a running average").click()
    visit.page.get_by_role("link", name="Run this in your browser").click()
    visit.wait(IS_IDLE)
    told = visit.page.locator(".jp-OutputArea svg.course-picture").first
    expect(told).to_have_attribute("aria-label", re.compile("Contour lines"))
    pictures = visit.page.locator(".jp-RenderedImage img[src*='static/pictures']")
    expect(pictures.first).to_be_attached()
    sizes = pictures.evaluate_all("all => Promise.all(all.map(async i => {"
                                  " await i.decode(); return i.naturalWidth; }))")  # fmt: skip
    assert min(sizes) > 100
    saved = next(iter(saved_explorers("02").values()))
    assert far_from(told, saved["png"]) < MOST
    run_all(visit)
    explorer = visit.page.locator(".course-explorer .course-box").first
    for is_light in ("false", "true"):
        visit.page.evaluate("is => { document.body.dataset.jpThemeLight = is; }", is_light)
        assert far_from(explorer.locator("svg"), saved["png"]) < MOST
    moved_by(visit.page, explorer.get_by_role("slider").first, explorer)
    visit.page.get_by_role("link", name="Back to the course").click()
    visit.page.wait_for_url(re.compile("/notebooks/02_momentum.html"))

    # The sheet, with a right answer that is typed in its page. The notebook has it, too, and gets
    # a wrong one, a misconceived one and blanks.
    visit.go("exercises/02_momentum.html")
    visit.page.get_by_label("factor =").fill("1 - beta^t")
    click = time.perf_counter()
    visit.page.get_by_role("button", name="Open as notebook").click()
    visit.wait(IS_IDLE)
    print(f"Python is there {time.perf_counter() - click:.1f} s after the click.")
    for cell_id, text in ANSWERS.items():
        visit.page.evaluate(FILL, [cell_id, text])
    said = {cell["source"].split("(")[0]: cell["text"] for cell in run_all(visit)}
    assert "right, 1 of 1 point" in said["check.bias"]
    assert "wrong, 0 of 1 point" in said["check.half_life"]
    assert "Known mistake: ε = δ" in said["check.equivalent_rules"]
    assert "not attempted" in said["check.expectation"]
    print(f"All verdicts are there {time.perf_counter() - click:.1f} s after the click.")
    total = re.search(rf"Total: (\d+) of {ALL_POINTS} points", said["scoreboard"])[1]
    visit.page.evaluate("window.jupyterapp.commands.execute('docmanager:save')")

    # After a reload the answers are there, and so are the points on the sheet's page.
    visit.page.reload()
    filled = """text => { const shell = window.jupyterapp?.shell?.currentWidget?.content?.model;
      return shell && [...shell.cells].some(cell => cell.sharedModel.source === text); }"""
    visit.wait(filled, arg=ANSWERS["answer-half-life"])
    visit.go("exercises/02_momentum.html")
    expect(visit.page.locator(".work .work-points")).to_contain_text(f"You have {total} of")
    expect(visit.page.get_by_label("half_life =")).to_have_value("1/beta")
    rules = visit.page.locator("[id='cell-id=answer-equivalent-rules'] + .task")
    expect(rules.get_by_role("textbox")).to_have_value("alpha, epsilon = beta, delta")
    expect(rules.locator(".course-card")).to_contain_text("Known mistake: ε = δ")

    # The file is graded with the same points.
    with visit.page.expect_download() as coming:
        visit.page.get_by_role("button", name="Download my sheet").click()
    coming.value.save_as(tmp_path / "class" / "ada" / "02_momentum.ipynb")
    monkeypatch.chdir(REPOSITORY)
    where = [str(tmp_path / "class"), "--to", str(tmp_path / "grades"), "--jobs", "1"]
    assert cli.main(["grade", *where, "--unit", "02"]) == 0
    grades = (tmp_path / "grades" / "grades.csv").read_text(encoding="utf-8")
    assert re.search(rf"ada,.*\b{total}\b", grades), grades
