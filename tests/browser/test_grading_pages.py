"""The pages that grading writes, in a browser without a network: complete, and without barriers."""

import pytest

from classroom.grading import student_pages
from classroom.grading.clusters import group
from classroom.grading.records import Override, mark
from tests.browser.test_pages_accessible import (
    DESKTOP,
    LEAVE_ONE_OF_EACH,
    PHONE,
    WIDER_THAN_THE_SCREEN,
    assert_pictures_are_painted,
    violations,
)
from tests.classroom.grading.classes import report_page, synthetic_class
from tests.classroom.grading.hostile import hostile

pytestmark = pytest.mark.usefixtures("small_course")

UNIT = "01_sums"


@pytest.fixture(scope="module")
def marks(small_course):
    """A class with known mistakes, blanks, a broken file, an override and a hostile student."""
    students = [*synthetic_class(UNIT, size=30, seed=5), hostile()]
    low = min((g for g in students[:-1] if not g.problem), key=lambda g: g.earned)
    given = Override(low.student, UNIT, low.results[0].name, 1, "see our talk", "2026-01-01")
    marks = [mark(g, [given]) for g in students]
    return sorted(marks, key=lambda m: not any(line.override for line in m.lines))


@pytest.fixture(scope="module")
def families(marks):
    return group([m.graded for m in marks], {})


@pytest.fixture(scope="module")
def pages(marks, families, tmp_path_factory):
    """The pages, each in a file of its own."""
    folder = tmp_path_factory.mktemp("pages")
    texts = {
        "report": report_page(marks, "", families),
        "feedback": student_pages.page(marks[0]),
        "hostile": student_pages.page(mark(hostile(), ())),
    }
    for name, text in texts.items():
        (folder / f"{name}.html").write_text(text, encoding="utf-8")
    return {name: folder / f"{name}.html" for name in texts}


@pytest.mark.parametrize(
    ("which", "scheme"),
    [
        ("report", "light"),
        ("report", "dark"),
        ("feedback", "light"),
        ("feedback", "dark"),
        ("hostile", "light"),
    ],
)
def test_a_page_loads_nothing_fits_a_phone_and_has_no_barriers(browser, pages, which, scheme):
    path = pages[which]
    context = browser.new_context(viewport=DESKTOP, offline=True, color_scheme=scheme)
    view, events = context.new_page(), []
    view.on("request", lambda request: events.append(request.url))
    view.on("dialog", lambda dialog: events.append("a dialog"))
    view.on("console", lambda message: events.append(message.text))
    view.goto(path.as_uri())
    assert_pictures_are_painted(view)
    view.set_viewport_size(PHONE)
    assert view.evaluate(WIDER_THAN_THE_SCREEN) == []
    view.locator("details").evaluate_all("all => all.forEach(one => { one.open = true; })")
    view.evaluate(LEAVE_ONE_OF_EACH)
    assert violations(view) == []
    assert [url for url in events if not url.startswith(("data:", path.as_uri()))] == []
    context.close()


def test_the_heat_map_is_sorted_by_a_click_and_by_keyboard(browser, pages):
    context = browser.new_context(viewport=DESKTOP, offline=True)
    view = context.new_page()
    view.goto(pages["report"].as_uri())
    cells = view.locator("table.heat tbody tr td:nth-of-type(2)")
    view.get_by_role("button", name="1.1", exact=True).click()
    largest_first = [int(text) for text in cells.all_inner_texts()]
    assert largest_first == sorted(largest_first, reverse=True)
    assert len(set(largest_first)) > 1
    view.keyboard.press("Enter")
    assert [int(text) for text in cells.all_inner_texts()] == largest_first[::-1]
    head = view.locator("table.heat [aria-sort]")
    assert (head.count(), head.get_attribute("aria-sort")) == (1, "ascending")
    told = "Sorted by 1.1 Even sum, smallest first."
    assert view.get_by_role("status").inner_text() == told
    names = view.locator("table.heat tbody tr th")
    view.get_by_role("button", name="Student").click()
    shown = [name.lower() for name in names.all_inner_texts()]
    assert shown == sorted(shown)
    context.close()


def test_what_is_printed_is_light_and_holds_the_whole_map(browser, pages):
    context = browser.new_context(viewport=DESKTOP, offline=True, color_scheme="dark")
    view = context.new_page()
    view.goto(pages["report"].as_uri())
    paper = "() => getComputedStyle(document.body).backgroundColor"
    assert view.evaluate(paper) != "rgb(255, 255, 255)"
    view.emulate_media(media="print", color_scheme="dark")
    assert view.evaluate(paper) == "rgb(255, 255, 255)"
    cut = "map => map.scrollHeight - map.clientHeight"
    assert view.locator(".map").evaluate(cut) <= 1
    context.close()
