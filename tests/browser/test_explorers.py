"""Every explorer of the lectures as pages and slides draw it: by numbers, without a kernel."""

import xml.etree.ElementTree as ElementTree

import pytest
from PIL import Image

from classroom.offline import explorer_script
from tests.browser.likeness import MOST, far_from, saved_explorers
from tests.browser.test_pages_accessible import violations

PAGE = """<!DOCTYPE html><html lang="en"><head><meta charset="utf-8"><title>Explorers</title>
</head>
<body><main><h1>Explorers</h1>{figures}</main><script type="module">{script}</script></body></html>
"""
FIGURE = '<figure data-explorer="{numbers}"></figure>'
# Two explorers of the same numbers: one moves from place to place, one draws each of them anew.
WANDER = """async ([place, moves]) => {
  const a = document.querySelectorAll(".course-box")[place].explorer;
  const figure = document.createElement("figure");
  figure.dataset.explorer = document.querySelectorAll("figure")[place].dataset.explorer;
  const { revive } = await import(URL.createObjectURL(new Blob(
    [document.querySelector("script").textContent], { type: "text/javascript" })));
  const b = await revive(figure);
  const told = ({ drawing: { id, body } }) => [...body.querySelectorAll("*")].map(node =>
    node.tagName + [...node.attributes].map(({ name, value }) =>
      ` ${name}=${value.replaceAll(id, "")}`).sort().join("")).join("\\n");
  const keys = [...a.places.keys()];
  let random = 8, wrong = 0;
  for (let k = 0; k < moves; k++) {
    random = (random * 1103515245 + 12345) % 2147483648;
    const at = keys[random % keys.length].split(",").map(Number);
    a.at = at;
    a.show();
    b.drawing.scene = b.shown = null;
    b.paint(at);
    wrong += told(a) !== told(b);
  }
  a.at = [...a.start];
  a.show();
  return wrong;
}"""


ALL = saved_explorers()
NAMES = list(ALL)


@pytest.fixture(scope="module")
def page(browser, tmp_path_factory):
    """All of them on one page without a network; what it complains about fails the tests."""
    file = tmp_path_factory.mktemp("explorers") / "all.html"
    figures = "\n".join(FIGURE.format(**one) for one in ALL.values())
    file.write_text(PAGE.format(figures=figures, script=explorer_script()), encoding="utf-8")
    context = browser.new_context(viewport={"width": 900, "height": 900}, accept_downloads=True)
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    page, problems = context.new_page(), []
    page.on("pageerror", lambda error: problems.append(f"page error: {error}"))
    page.on("console", lambda message: problems.append(f"console: {message.text}"))
    page.goto(file.as_uri())
    all_are_drawn(page)
    yield page
    context.close()
    assert problems == []


def all_are_drawn(page):
    page.wait_for_function("window.explorersAreReady")
    page.evaluate("window.explorersAreReady.then(() => {})")


def box(page, name):
    return page.locator(".course-box").nth(NAMES.index(name))


@pytest.mark.parametrize("name", NAMES)
def test_at_sixty_random_moves_the_page_shows_the_whole_position(page, name):
    assert page.evaluate(WANDER, [NAMES.index(name), 60]) == 0


@pytest.mark.parametrize("name", NAMES)
def test_its_picture_is_that_of_matplotlib(page, name):
    share = far_from(box(page, name).locator("svg"), ALL[name]["png"])
    print(f"{name}: {share:.5f}")
    assert share < MOST


def test_a_curve_that_is_missing_would_be_noticed(page):
    name = "07 explorer-regression"
    drawing = box(page, name).locator("svg")
    show = "({explorer}, how) => { explorer.drawing.slots[0].style.display = how; }"
    box(page, name).evaluate(show, "none")
    assert far_from(drawing, ALL[name]["png"]) > 2 * MOST
    box(page, name).evaluate(show, "")


# -- one of them, as a reader has it --------------------------------------------------------------


@pytest.fixture
def rank(page):
    """An explorer with one slider, at its start and with its goal not reached yet."""
    found = box(page, "08 explorer-rank")
    found.evaluate("box => { const e = box.explorer; e.was = false; e.shown = null;"
                   " localStorage.clear(); e.move(0, e.start[0]); }")  # fmt: skip
    return found


def test_it_moves_by_keys_and_says_in_words_what_is_seen(page, rank):
    slider, says = rank.get_by_role("slider", name="c"), rank.locator(".course-says")
    slider.focus()
    page.keyboard.press("ArrowRight")
    assert slider.get_attribute("aria-valuetext") == "2.2"
    assert says.inner_text().startswith("With c = 2.2 ")
    assert says.get_attribute("role") == "status"
    assert rank.get_by_role("img").get_attribute("aria-label").endswith(says.inner_text())


def test_a_goal_that_is_reached_is_seen_and_remembered(page, rank):
    goal, slider = rank.locator(".course-goal"), rank.get_by_role("slider")
    before = goal.evaluate("goal => getComputedStyle(goal).backgroundColor")
    assert goal.inner_text().startswith("Goal: with softmax")
    slider.focus()
    page.keyboard.press("End")
    assert goal.inner_text().startswith("✓ Goal reached: with softmax")
    assert goal.evaluate("goal => getComputedStyle(goal).backgroundColor") != before
    page.keyboard.press("Home")
    assert goal.inner_text().endswith("(Reached before, but not with these values.)")
    kept = page.evaluate("Object.values(localStorage)")
    assert kept == ["reached"]


# -- one that plays -------------------------------------------------------------------------------


@pytest.fixture
def scene(page):
    """A scene in view, at its first step; its clock is ours."""
    found = box(page, "10 cache-scene")
    found.scroll_into_view_if_needed()
    found.evaluate("box => { box.explorer.pause(); box.explorer.move(0, 0); }")
    yield found
    found.evaluate("box => { box.explorer.pause(); box.explorer.move(0, 0); }")
    page.emulate_media(reduced_motion="no-preference")


def step(scene):
    return int(scene.get_by_role("slider").get_attribute("aria-valuetext"))


def until(page, scene, least):
    page.wait_for_function("([box, least]) => box.explorer.at[0] >= least",
                           arg=[scene.element_handle(), least])  # fmt: skip


def test_it_plays_to_its_end_in_silence_and_then_from_the_beginning(page, scene):
    says = scene.locator(".course-says")
    scene.get_by_role("button", name="Play: tokens read").click()
    assert says.get_attribute("aria-live") == "off"
    until(page, scene, 12)
    play = scene.get_by_role("button", name="Play: tokens read")
    play.wait_for()
    assert says.get_attribute("aria-live") == "polite"
    assert says.inner_text().startswith("After 12 tokens")
    play.click()
    assert step(scene) < 3


def test_a_hand_or_the_button_stops_it(page, scene):
    for stop in (
        lambda: scene.get_by_role("button", name="Pause: tokens read").click(),
        lambda: scene.get_by_role("slider").press("ArrowRight"),
        lambda: scene.get_by_role("radio", name="4").check(),
    ):
        scene.get_by_role("button", name="Play: tokens read").click()
        stop()
        scene.get_by_role("button", name="Play: tokens read").wait_for()
        assert scene.evaluate("box => box.explorer.playing") == 0


def test_it_stops_when_it_is_out_of_view(page, scene):
    scene.get_by_role("button", name="Play: tokens read").click()
    page.evaluate("scrollTo(0, 0)")
    page.wait_for_function("box => !box.explorer.playing", arg=scene.element_handle())


def test_where_motion_is_not_wanted_a_press_is_a_step(page, scene):
    page.emulate_media(reduced_motion="reduce")
    page.reload()  # of a wish that changes a page hears with its next picture: whenever that is
    all_are_drawn(page)
    scene.evaluate("box => box.explorer.move(0, 0)")
    button = scene.get_by_role("button", name="Step: tokens read")
    for number in (1, 2, 3):
        button.press("Enter")
        until(page, scene, number)
        assert step(scene) == number
    assert scene.evaluate("box => box.explorer.playing") == 0


def test_its_picture_and_its_numbers_can_be_taken_along(page, rank):
    with page.expect_download() as saved:
        rank.get_by_role("button", name="Save picture (PNG)").click()
    with Image.open(saved.value.path()) as picture:
        assert picture.size == (2100, 960)
        assert picture.convert("L").getextrema()[0] < 50
    with page.expect_download() as saved:
        rank.get_by_role("button", name="Save picture (SVG)").click()
    drawing = ElementTree.parse(saved.value.path()).getroot()
    assert drawing.get("viewBox") == "0 0 700 320"
    rank.get_by_role("button", name="Copy the numbers").click()
    rank.get_by_text("Copied.").wait_for()
    told = page.evaluate("navigator.clipboard.readText()").splitlines()
    assert told[0] == "c\t2.0"
    rows = [line.split("\t") for line in told[told.index("what\tx\ty") + 1 :]]
    looks = {float(x): float(y) for name, x, y in rows if name == "row 0: softmax"}
    assert len(looks) == 16
    assert sum(looks.values()) == pytest.approx(1, abs=0.01)


def test_what_is_printed_is_the_state_at_the_start_without_controls(page, rank):
    says = rank.locator(".course-says")
    before = says.inner_text()
    rank.get_by_role("slider").focus()
    page.keyboard.press("End")
    moved = says.inner_text()
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    page.emulate_media(media="print")
    assert says.inner_text() == before
    assert not rank.get_by_role("slider").is_visible()
    assert not rank.get_by_role("button").first.is_visible()
    page.emulate_media(media="screen")
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    assert says.inner_text() == moved


def test_nobody_is_shut_out(page):
    assert violations(page) == []


def test_on_a_phone_nothing_is_wider_than_the_screen(page):
    page.set_viewport_size({"width": 390, "height": 800})
    assert page.locator(".course-box").evaluate_all("all => all.filter("
        "box => box.getBoundingClientRect().right > innerWidth).length") == 0  # fmt: skip
    page.set_viewport_size({"width": 900, "height": 900})


def test_our_own_script_is_light():
    assert len(explorer_script().encode()) <= 30_000
