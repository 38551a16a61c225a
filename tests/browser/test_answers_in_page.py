"""Every exercise is answered in its page: typed, checked, kept, taken elsewhere and graded.

The browser reaches no other host. All units are driven by their solutions, several tabs at a time.
"""

import contextlib
import io
import re
from collections.abc import Iterator
from dataclasses import replace

import nbformat
import pytest
from bs4 import BeautifulSoup
from playwright.sync_api import Locator, expect

from classroom.marks import BEGIN, parts
from selfcheck.feedback import Feedback
from selfcheck.students import cli
from selfcheck.students.progress import points_in
from selfcheck.units import declared, units
from tests.browser.lab import REPOSITORY
from tests.browser.site import Site, Visit, served, serving, visiting
from tests.browser.test_pages_accessible import (
    LEAVE_ONE_OF_EACH,
    WIDER_THAN_THE_SCREEN,
    violations,
)

STEMS = [unit.stem for unit in units()]
TABS = 4  # at a time
MOMENTUM = "exercises/02_momentum.html"
# Type these answers as code and check each; then say which cards came.
ANSWER_ALL = """answers => {
  window.cards = null;
  const one = async ([id, source]) => {
    const box = document.getElementById(`cell-id=${id}`).nextElementSibling;
    const [form, check] = ['form', 'check'].map(name => box.querySelector(`[data-do=${name}]`));
    if (!form.hidden && form.textContent === 'Write code') form.click();
    const field = box.querySelector('.editor textarea');
    field.value = source;
    field.dispatchEvent(new Event('input', {bubbles: true}));
    const over = new Promise(done => new MutationObserver(() => { if (!check.disabled) done(); })
      .observe(check, {attributes: true})); // no clock: it is slow in a tab that is not in front
    check.click();
    await over;
    const said = box.querySelector('.said');
    return [id, (said.querySelector('.course-card') ?? said).textContent];
  };
  (async () => {
    const found = [];
    for (const answer of answers) found.push(await one(answer));
    window.cards = found;
  })();
}"""

# How many checks the worker has answered.
COUNT_CHECKS = """() => {
  window.foreseen = 0;
  const send = Worker.prototype.postMessage;
  Worker.prototype.postMessage = function (message) {
    if (message.ask === 'check') this.addEventListener('message', ({data}) => {
      if (data.number === message.number) window.foreseen += 1;
    });
    return send.call(this, message);
  };
}"""


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Iterator[Site]:
    with served(tmp_path_factory) as site:
        yield site


def notebook(folder: str, stem: str) -> nbformat.NotebookNode:
    return nbformat.read(REPOSITORY / folder / f"{stem}.ipynb", as_version=4)


def solved(stem: str) -> dict[str, str]:
    """The solutions of a unit, by the id of the answer's cell."""
    cells = [cell for cell in notebook("solutions", stem).cells if cell.id.startswith("answer-")]
    return {
        cell.id: "\n".join(line for part, line in parts(cell.source) if part in (None, BEGIN))
        for cell in cells
    }


def in_tabs(visit: Visit, answers: dict[str, list]) -> Iterator[tuple[str, Visit]]:
    """Answer sheets in several tabs at once; each is given when all of its cards are there."""
    stems = list(answers)
    for start in range(0, len(stems), TABS):
        tabs = {stem: visit.beside() for stem in stems[start : start + TABS]}
        for stem, tab in tabs.items():
            tab.go(f"exercises/{stem}.html")
            tab.wait("window.sheetIsReady")
            tab.page.evaluate(ANSWER_ALL, answers[stem])
        for stem, tab in tabs.items():
            tab.wait("window.cards")
            yield stem, tab
            tab.page.close()


def download(visit: Visit, target) -> None:
    with visit.page.expect_download() as coming:
        visit.page.get_by_role("button", name="Download my sheet").click()
    coming.value.save_as(target)


def task(visit: Visit, name: str) -> Locator:
    return visit.page.locator(f"[id='cell-id=answer-{name}'] + .task")


def ready(visit: Visit) -> None:
    expect(visit.page.locator(".python-state")).to_have_text("Python is ready.")


# -- what it weighs -------------------------------------------------------------------------------


def test_a_page_is_light_before_its_pictures_and_so_is_the_site_without_packages(site):
    """What a lecture's page loads by itself: its text, looks, scripts, and the font of formulas."""
    bytes_of = {path: path.stat().st_size for path in site.folder.rglob("*") if path.is_file()}
    shared = ["formulas.woff2", "reading.css", "site.css", "reading.js", "site.js", "work.js"]
    shared += ["store.js", "live.js", "explorer.js", "sheets.json"]
    always = sum(bytes_of[site.folder / "static" / name] for name in shared)
    for stem in STEMS:
        assert bytes_of[site.folder / "notebooks" / f"{stem}.html"] + always <= 400_000, stem
        page = (site.folder / "notebooks" / f"{stem}.html").read_text(encoding="utf-8")
        assert "mathjax" not in page
        assert "data:image/" not in page
    packages = [site.folder / "lite" / "static" / name for name in ("packages", "pyodide")]
    others = [p for p in bytes_of if not any(folder in p.parents for folder in packages)]
    assert sum(bytes_of[path] for path in others) <= 25_000_000


# -- all exercises --------------------------------------------------------------------------------


def test_every_exercise_is_judged_in_its_page_as_in_the_notebook(in_browser, visit, tmp_path):
    """Three wrong answers of each unit get the notebook's card, then all right ones the points."""
    answers = {stem: [*wrong_answers(stem).items(), *solved(stem).items()] for stem in STEMS}
    for stem, tab in in_tabs(visit, answers):
        cards = tab.page.evaluate("cards")
        assert dict(cards[:3]) == as_in_a_notebook(stem, wrong_answers(stem)), stem
        assert [card for card in cards[3:] if "✓ Right" not in card[1]] == [], stem
        most = sum(e.points for e in declared(stem))
        expect(tab.page.locator(".work .work-points")).to_have_text(f"You have all {most} points.")
        download(tab, tmp_path / f"{stem}.ipynb")
        nbformat.validate(nbformat.read(tmp_path / f"{stem}.ipynb", as_version=4))
        assert sum(points_in(tmp_path / f"{stem}.ipynb", declared(stem)).values()) == most
    visit.go("index.html")
    everything = sum(e.points for stem in STEMS for e in declared(stem))
    expect(visit.page.locator(".mine-points")).to_have_text(f"{everything} of {everything} points")


def wrong_answers(stem: str) -> dict[str, str]:
    """Three answers that are not: a number in place of every blank, whatever is asked."""
    cells = [cell for cell in notebook("exercises", stem).cells if cell.id.startswith("answer-")]
    return {cell.id: cell.source.replace("____", "-7.25") for cell in cells[:3]}


def as_in_a_notebook(stem: str, answers: dict[str, str]) -> dict[str, str]:
    """The cards of these answers when the cells of the sheet run one after the other."""
    names: dict[str, object] = {"__name__": "__main__"}
    cards = {}
    for cell in notebook("exercises", stem).cells:
        if cell.cell_type != "code" or cell.id == "scoreboard":
            continue
        if cell.id.startswith("check-") and cell.id.replace("check", "answer", 1) in answers:
            said = eval(cell.source, names)
            assert isinstance(said, Feedback)
            card = BeautifulSoup(said._repr_html_(), "html.parser").get_text()
            cards[cell.id.replace("check", "answer", 1)] = card
        elif not cell.id.startswith("check-"):
            with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(Exception):
                exec(answers.get(cell.id, cell.source), names)
    assert len(cards) == len(answers) == 3
    return cards


# -- one sheet ------------------------------------------------------------------------------------


def test_a_student_writes_checks_slips_and_goes_on(in_browser, visit):
    """A formula in LaTeX, a hint, an error, a book of prints, a loop without an end."""
    visit.page.clock.install()
    visit.go(MOMENTUM)
    bias = task(visit, "bias")
    bias.get_by_role("textbox").fill(r"\frac{1}{\beta^t}")
    bias.get_by_role("button", name="Check").click()  # before Python is there: it waits, then runs
    expect(bias.locator(".course-card")).to_contain_text("✗ Wrong")
    expect(bias.locator(".reading math")).to_be_visible()
    bias.get_by_role("button", name="Hint 1 of 2").click()
    expect(bias.locator(".more .course-card")).to_contain_text("Hint 1 of 2")
    bias.get_by_role("textbox").fill("1 - β^t")
    expect(bias.locator(".said")).to_have_class(re.compile("old"))
    bias.get_by_role("textbox").press("Enter")
    expect(bias.locator(".course-card").first).to_contain_text("✓ Right 2.3")
    ready(visit)

    weights = task(visit, "weights")
    code, check = weights.get_by_role("textbox"), weights.get_by_role("button", name="Check")
    code.fill("def weights(beta, t):\n    return 1\n\nmissing + 1")
    check.click()
    expect(weights.locator(".failure")).to_contain_text("Line 4 stopped with NameError")
    expect(weights.locator(".failure")).to_contain_text("missing + 1")
    code.fill("def weights(beta, t) return 1")
    check.click()
    expect(weights.locator(".failure")).to_contain_text("Line 1 stopped with SyntaxError")
    expect(weights.locator(".course-card")).to_contain_text("There is no weights")
    code.fill("for _ in range(10**6): print('a book')\nweights = None")
    check.click()
    expect(weights.locator(".printed")).to_contain_text("more was printed here; it is left out")
    endless = "while True: pass\n"
    code.fill(endless)
    check.click()
    expect(weights.get_by_role("button", name="Stop")).to_be_visible()
    visit.page.clock.fast_forward(31_000)
    expect(weights.locator(".failure")).to_contain_text("took more than 30 seconds")
    expect(code).to_have_value(endless)
    code.fill(solved("02_momentum")["answer-weights"])
    check.click()
    expect(weights.locator(".course-card")).to_contain_text("✓ Right")

    lines = task(visit, "expectation")
    lines.get_by_role("textbox").fill("(1-β)·μ·Sum(β^(t-i), (i, 1, t))\nμ·β^t\nμ·(1-β^t)")
    expect(lines.locator(".reading .read")).to_have_count(3)
    lines.get_by_role("button", name="Check").click()
    expect(lines.locator(".course-card")).to_be_visible()
    marks = lines.locator(".reading > span")
    expect(marks.first).to_have_attribute("data-mark", "✓")
    expect(marks.nth(1)).to_have_attribute("data-mark", "✗")


def test_a_solution_is_shown_beside_ones_own_answer_with_its_formulas_set(in_browser, visit):
    visit.go(MOMENTUM)
    ready(visit)
    bias = task(visit, "bias")
    bias.get_by_role("textbox").fill("1 - β^t")
    bias.get_by_role("button", name="Check").click()
    expect(bias.locator(".course-card").first).to_contain_text("✓ Right 2.3")
    bias.get_by_role("button", name="Solution").click()
    solution = bias.locator(".solution")
    expect(solution).to_contain_text("A good solution")
    expect(solution).to_contain_text("Yours")
    expect(solution).to_contain_text("Why.")
    expect(solution.locator("math").first).to_be_visible()
    assert "$" not in solution.inner_text()


def test_a_derivation_is_judged_while_one_looks_at_it(in_browser, visit):
    """The card comes from what the machine remembers: the check itself asks nothing anew."""
    visit.go(MOMENTUM)
    ready(visit)
    visit.page.evaluate(COUNT_CHECKS)
    lines = task(visit, "expectation")
    lines.get_by_role("textbox").fill("(1-β)·μ·Sum(β^(t-i), (i, 1, t))\nμ·(1-β^t)")
    visit.wait("window.foreseen === 1")
    expect(lines.locator(".course-card")).to_have_count(0)  # nobody has asked for it
    lines.get_by_role("button", name="Check").click()
    expect(lines.locator(".course-card")).to_be_visible()


def test_numbers_of_ones_own_follow_the_id_and_can_be_practiced(in_browser, visit):
    visit.go(MOMENTUM)
    ready(visit)
    printed = visit.page.locator(".given .printed").last
    before = printed.inner_text()
    visit.page.get_by_label("Your student id").fill("ada@example.org")
    visit.page.get_by_label("Your student id").press("Tab")
    expect(printed).not_to_have_text(before)
    best = task(visit, "best-memory")
    best.get_by_role("button", name="Practice").click()
    drill = best.get_by_role("region", name="Practice for exercise 2.8")
    expect(drill.locator(".printed")).to_contain_text("smallest")
    rule = """a, b = numbers.smallest ** 0.5, numbers.largest ** 0.5
plain_step = 2 / (a**2 + b**2)
best_alpha, best_epsilon = ((b - a) / (b + a)) ** 2, (2 / (a + b)) ** 2"""
    drill.get_by_role("textbox").fill(rule)
    drill.get_by_role("button", name="Check").click()
    expect(drill.locator(".course-card")).to_contain_text("✓ Right practice for 2.8")
    expect(visit.page.locator(".mine-points")).to_have_text(re.compile("^0 of "))


def test_by_keyboard_alone(in_browser, visit):
    visit.go(MOMENTUM)
    ready(visit)
    task(visit, "bias").get_by_role("textbox").focus()
    visit.page.keyboard.type("1-beta**t")
    visit.page.keyboard.press("Tab")
    expect(task(visit, "bias").get_by_role("button", name="Check")).to_be_focused()
    visit.page.keyboard.press("Enter")
    expect(task(visit, "bias").locator(".course-card")).to_contain_text("✓ Right")
    code = task(visit, "corrected-average").get_by_role("textbox")
    code.focus()
    visit.page.keyboard.press("Control+A")
    visit.page.keyboard.type("def corrected_average(g, beta):\nif True:\nreturn g")
    stepped = "def corrected_average(g, beta):\n    if True:\n        return g"
    expect(code).to_have_value(stepped)
    visit.page.keyboard.press("Tab")
    expect(code).to_have_value(stepped + "    ")
    visit.page.keyboard.press("Control+Z")
    expect(code).to_have_value(stepped)
    visit.page.keyboard.press("Control+Enter")
    expect(task(visit, "corrected-average").locator(".course-card")).to_contain_text("✗ Wrong")
    visit.page.keyboard.press("Escape")
    visit.page.keyboard.press("Tab")
    expect(code).not_to_be_focused()


def test_on_a_phone_by_touch_without_barriers(in_browser, chrome, site):
    phone = {"has_touch": True, "is_mobile": True, "color_scheme": "dark"}
    with visiting(chrome, site, **phone) as visit:
        visit.page.set_viewport_size({"width": 390, "height": 844})
        visit.go("exercises/03_weight_decay.html")
        ready(visit)
        header = visit.page.locator(".site-head").bounding_box()
        assert header["height"] <= 56
        choices = task(visit, "statements")
        for field in choices.get_by_role("combobox").all():
            field.select_option("true")
        choices.get_by_role("button", name="Check").tap()
        expect(choices.locator(".course-card")).to_be_visible()
        code = task(visit, "adamw-step")
        code.get_by_role("textbox").fill("def adamw_step(" + "a" * 90 + "): return 1")
        code.get_by_role("button", name="Check").tap()
        expect(code.locator(".course-card")).to_be_visible()
        code.get_by_role("button", name="Hint 1 of 3").tap()
        expect(code.locator(".more .course-card")).to_be_visible()
        visit.page.locator(".mine summary").tap()
        expect(visit.page.get_by_label("Student id, from which")).to_be_visible()
        assert visit.page.evaluate(WIDER_THAN_THE_SCREEN) == []
        visit.page.evaluate(LEAVE_ONE_OF_EACH)
        assert violations(visit.page) == []


# -- the work is one work -------------------------------------------------------------------------


def test_the_first_page_has_an_exercise_and_the_work_goes_to_another_machine(
    in_browser, chrome, site, tmp_path
):
    with visiting(chrome, site) as visit:
        visit.go("index.html")
        expect(visit.page.locator(".begin .go-on")).to_have_text("Start with unit 01")
        one = visit.page.locator(".example .task")
        one.get_by_role("textbox").fill("m*s^4")
        one.get_by_role("textbox").press("Enter")
        expect(one.locator(".course-card")).to_contain_text("✓ Right 4.7")
        expect(visit.page.locator(".begin .go-on")).to_have_text("Continue with 4.1")
        expect(visit.page.locator(".units > li", has_text="04 ·")).to_contain_text("You have 2 of")
        visit.page.locator(".begin .go-on").click()
        visit.page.wait_for_url(re.compile("exercises/04_attention.html#cell-id=text-"))
        expect(task(visit, "score-variance").get_by_role("textbox")).to_have_value("m*s^4")
        expect(task(visit, "score-variance").locator(".course-card")).to_contain_text("✓ Right")
        visit.page.locator(".mine summary").click()
        visit.page.get_by_label("Student id, from which").fill("ada")
        with visit.page.expect_download() as coming:
            visit.page.get_by_role("button", name="Export all my work").click()
        coming.value.save_as(tmp_path / "work.json")
    with visiting(chrome, site) as elsewhere:
        elsewhere.go("sources.html")
        expect(elsewhere.page.locator(".mine-points")).to_have_text(re.compile("^0 of "))
        file = elsewhere.page.get_by_label("A file with all your work")
        file.set_input_files(tmp_path / "work.json")
        expect(elsewhere.page.locator(".mine-points")).to_have_text(re.compile("^2 of "))
        elsewhere.page.locator(".mine summary").click()
        expect(elsewhere.page.locator(".mine-units")).to_contain_text("Unit 04: 2 of 27, left: 4.1")
        expect(elsewhere.page.get_by_label("Student id, from which")).to_have_value("ada")
        (tmp_path / "photo.json").write_text("{}", encoding="utf-8")
        file.set_input_files(tmp_path / "photo.json")
        expect(elsewhere.page.locator(".mine-state")).to_contain_text("it holds no sheets")


def test_what_is_downloaded_is_graded_with_the_same_points(
    in_browser, visit, tmp_path, monkeypatch
):
    right = solved("05_two_heads")
    mixed = {"answer-projections": right["answer-projections"], "answer-merged": "M = 7"}
    mixed |= {"answer-beyond-the-values": right["answer-beyond-the-values"]}
    for _, tab in in_tabs(visit, {"05_two_heads": list(mixed.items())}):
        said = tab.page.locator(".work .work-points")
        expect(said).to_contain_text("Left: 5.2")
        shown = re.search(r"You have (\d+) of", said.inner_text())[1]
        download(tab, tmp_path / "class" / "ada" / "05_two_heads.ipynb")
    monkeypatch.chdir(REPOSITORY)
    where = [str(tmp_path / "class"), "--to", str(tmp_path / "grades"), "--jobs", "1"]
    assert cli.main(["grade", *where, "--unit", "05"]) == 0
    grades = (tmp_path / "grades" / "grades.csv").read_text(encoding="utf-8")
    assert re.search(rf"ada,.*\b{shown}\b", grades), grades
    assert shown == "4"


def test_what_was_opened_once_is_there_without_a_network(in_browser, chrome, site):
    """The page, its formulas and figures, Python with its packages; what is typed is kept."""
    with contextlib.ExitStack() as network, contextlib.ExitStack() as browser:
        url = network.enter_context(serving(site.folder.parent))
        there = replace(site, url=f"{url}/course")
        visit = browser.enter_context(visiting(chrome, there))
        visit.go(MOMENTUM)
        ready(visit)
        expect(visit.page.locator(".site-foot .offline")).to_be_visible()
        visit.wait(
            """async () => {
          const kept = (await (await caches.open((await caches.keys())[0])).keys()).map(r => r.url);
          const loaded = performance.getEntriesByType("resource").map(({name}) => name);
          const ours = loaded.filter(u => u.startsWith(location.origin) && !u.endsWith("sw.js"));
          const names = ["02_momentum.html", "02_momentum.ipynb", "asm.wasm", "sympy", ...ours];
          return names.every(name => kept.some(url => url.includes(name)));
        }"""
        )
        network.close()
        visit.page.reload()
        ready(visit)
        bias = task(visit, "bias")
        bias.get_by_role("textbox").fill("1 - β^t")
        bias.get_by_role("button", name="Check").click()
        expect(bias.locator(".course-card").first).to_contain_text("✓ Right 2.3")
        visit.wait("() => !Object.keys(localStorage).some(name => name.includes('draft'))")
