"""Exported pages in a browser without a network: complete, typeset, and accessible to everyone.

axe-core is the judge of accessibility; what it cannot see (does the alt text say what is there?)
is the task of people.
"""

import re
from pathlib import Path

import nbformat
import pytest
from axe_playwright_python.sync_playwright import Axe

from classroom.pages import write_page
from selfcheck import style
from tests.places import our_notebooks

ROOT = Path(__file__).parents[2]
LECTURES = our_notebooks("notebooks")
# Setting the formulas of a lecture takes seconds: some pages are looked at in full, the others
# without formulas. The formulas of all lectures are seen in test_slides_offline.py.
ON_A_PHONE = [
    ROOT / "notebooks" / "00_start_here.ipynb",
    ROOT / "notebooks" / "05_two_heads.ipynb",
    ROOT / "notebooks" / "09_random_features.ipynb",
    ROOT / "exercises" / "02_momentum.ipynb",
]
OTHERS = [path for path in LECTURES if path not in ON_A_PHONE]
DESKTOP, PHONE = {"width": 1200, "height": 900}, {"width": 400, "height": 800}
RULES = {
    "resultTypes": ["violations"],
    "runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "best-practice"],
    # It takes a heading that is a formula for an empty one. tests/classroom/test_pages.py looks.
    "rules": {"empty-table-header": {"enabled": False}},
}
# axe-core takes most of its time for contrast: it judges one text of each look, which is that of
# its letters and of all grounds under them. What may lie over something else has its own look.
MARK_ONE_OF_EACH_LOOK = """within => {
  const grounds = new Map([[null, ""]]);
  const ground = element => {
    if (!grounds.has(element)) {
      const {backgroundColor, backgroundImage, opacity, position} = getComputedStyle(element);
      const flows = ["static", "relative"].includes(position);
      const own = [backgroundColor, backgroundImage, opacity, flows || grounds.size].join();
      const isClear = own === "rgba(0, 0, 0, 0),none,1,true";
      grounds.set(element, ground(element.parentElement) + (isClear ? "" : `${own};`));
    }
    return grounds.get(element);
  };
  const hasText = element => element.matches("input, select, textarea, button")
    || [...element.childNodes].some(node => node.nodeType === Node.TEXT_NODE && node.data.trim());
  document.querySelectorAll("[data-look]").forEach(e => e.removeAttribute("data-look"));
  const seen = new Set();
  for (const element of document.querySelectorAll(`${within}, ${within} *`)) {
    if (!hasText(element) || !element.checkVisibility()) continue;
    const {color, fontSize, fontWeight, textShadow} = getComputedStyle(element);
    const look = [color, fontSize, fontWeight, textShadow, ground(element)].join();
    if (!seen.has(look)) element.setAttribute("data-look", "");
    seen.add(look);
  }
}"""
JUDGE = """async ([within, rules]) => {
  axe.configure({rules: [{id: "color-contrast", selector: "[data-look]"}]});
  return (await axe.run(within, rules)).violations;
}"""
# It takes seconds for small parts of which it learns nothing: the letters of formulas, and words of
# code in a color that it has seen on this page before.
LEAVE_ONE_OF_EACH = """() => {
  document.querySelectorAll("math").forEach(math => { math.textContent = math.textContent; });
  const seen = new Set();
  for (const word of document.querySelectorAll(".highlight span")) {
    if (seen.has(word.className)) word.replaceWith(...word.childNodes);
    else seen.add(word.className);
  }
}"""
WIDER_THAN_THE_SCREEN = """() => {
  const inScroller = e => e.parentElement.closest("pre, .wide, .formula, figure");
  const right = document.documentElement.clientWidth + 1;
  return [...document.querySelectorAll("main *")]
    .filter(e => e.getBoundingClientRect().right > right && !inScroller(e))
    .map(e => e.outerHTML.slice(0, 200));
}"""
TEXT_OUTSIDE_CODE = """() => {
  const main = document.querySelector("main").cloneNode(true);
  main.querySelectorAll("pre, code, math").forEach(e => e.remove());
  return main.textContent;
}"""


@pytest.fixture
def view(browser):
    """A page that has no network; what it asks for or complains about fails the test."""
    context = browser.new_context(viewport=DESKTOP, offline=True)
    page, problems = context.new_page(), []
    page.on("pageerror", lambda error: problems.append(f"page error: {error}"))
    page.on("console", lambda message: problems.append(f"console: {message.text[:300]}"))
    page.on("requestfailed", lambda request: problems.append(f"failed: {request.url[:300]}"))
    page.on("request", lambda request: problems.extend(outside(request.url)))
    yield page
    context.close()
    assert problems == []


def outside(url):
    """The address, unless it is the page itself or lies inside it."""
    inside = url.startswith("data:") or re.fullmatch(r"file:.*/page\.html", url)
    return [] if inside else [f"request: {url[:300]}"]


def name_of(path):
    return f"{path.parent.name}/{path.stem}"


@pytest.mark.parametrize("path", OTHERS, ids=name_of)
def test_a_page_has_no_barriers(view, tmp_path, path):
    show(view, path, tmp_path)
    view.locator("details").evaluate_all("all => all.forEach(one => { one.open = true; })")
    view.evaluate(LEAVE_ONE_OF_EACH)
    assert violations(view) == []


@pytest.mark.parametrize("path", ON_A_PHONE, ids=name_of)
def test_a_page_has_no_barriers_on_a_phone(view, tmp_path, path):
    show(view, path, tmp_path)
    view.set_viewport_size(PHONE)
    view.wait_for_function("() => new Promise(done => requestAnimationFrame(() => done(true)))")
    assert view.evaluate(WIDER_THAN_THE_SCREEN) == []
    view.locator("details").evaluate_all("all => all.forEach(one => { one.open = true; })")
    view.evaluate(LEAVE_ONE_OF_EACH)
    assert violations(view) == []


def test_letters_of_a_picture_are_as_large_as_the_text_and_on_a_phone_after_a_tap(view, tmp_path):
    show(view, ON_A_PHONE[1], tmp_path)
    picture = view.locator("figure > img:visible").first
    drawn = int(picture.get_attribute("width"))
    text = view.evaluate("parseFloat(getComputedStyle(document.body).fontSize)")
    letters = 10 * style.DPI / 72 * picture.bounding_box()["width"] / drawn
    assert letters == pytest.approx(text, rel=0.1)
    view.set_viewport_size(PHONE)
    assert picture.bounding_box()["width"] < PHONE["width"]
    picture.click()
    assert picture.bounding_box()["width"] == drawn
    assert view.evaluate(WIDER_THAN_THE_SCREEN) == []
    picture.click()
    assert picture.bounding_box()["width"] < PHONE["width"]


def test_mathjax_sets_what_could_not_be_set_before_and_nothing_else(view, tmp_path):
    text = "# A page\n\nHere $x$ and $\\mathchoice{a}{b}{c}{d}$."
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell(text, id="text")])
    nbformat.write(notebook, tmp_path / "page.ipynb")
    show(view, tmp_path / "page.ipynb", tmp_path)
    assert view.locator(".formula.unset mjx-container svg").count() == 1
    assert view.locator("mjx-container").count() == 1


def show(view, path, folder):
    """The page of a notebook, without a network; its formulas and pictures are there."""
    write_page(path, folder / "page.html")
    view.goto((folder / "page.html").as_uri())
    view.wait_for_function("window.pageIsReady", polling=100)
    assert_maths_is_set(view)
    assert_pictures_are_painted(view)


def assert_maths_is_set(view):
    """Formulas are there as formulas: none in raw TeX, each with some size."""
    sizes = view.locator("math").evaluate_all(
        "all => all.filter(f => f.checkVisibility()).map(f => f.getBoundingClientRect().height)"
    )
    assert sizes
    assert min(sizes) > 5
    raw = re.search(r".*(\$|\\(frac|begin|Delta)).*", view.evaluate(TEXT_OUTSIDE_CODE))
    assert raw is None, f"Raw TeX: {raw[0]}"


def assert_pictures_are_painted(view):
    sizes = view.locator("img").evaluate_all("all => all.map(i => [i.naturalWidth, i.width])")
    assert all(natural > 100 and width > 100 for natural, width in sizes)


def violations(view, within=None):
    """What axe-core objects to, in the page or in these elements; a line for each element."""
    view.evaluate(MARK_ONE_OF_EACH_LOOK, within or "body")
    view.evaluate(Axe().axe_script)
    return [
        f"{rule['id']}: {node['html'][:200]}\n{node['failureSummary']}"
        for rule in view.evaluate(JUDGE, [within or "html", RULES])
        for node in rule["nodes"]
    ]


def test_axe_core_does_object_to_a_picture_without_words_and_to_pale_letters(view):
    view.set_content(
        "<html lang=en><title>t</title><main><h1>t</h1><img src='data:,'>"
        "<p style='color:#bbb'>pale</p></main></html>"
    )
    assert {line.split(":")[0] for line in violations(view)} == {"image-alt", "color-contrast"}


def test_letters_that_are_dark_on_one_ground_can_be_pale_on_another(view):
    view.set_content(
        "<html lang=en><title>t</title><main><h1>t</h1><style>p { color: #555 }</style><p>dark</p>"
        "<div style='background: #888'><p>pale</p></div><p style='opacity: .4'>faint</p>"
        "<div style='position: absolute; top: 0; background: #777'><p>over</p></div></main></html>"
    )
    assert [re.findall(r">(\w+)</p>", line) for line in violations(view)] == [
        ["pale"],
        ["faint"],
        ["over"],
    ]
