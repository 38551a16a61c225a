"""The pages that grading writes, in a browser without a network: complete, and without barriers."""

import pytest

from classroom.grading import feedback, report
from classroom.grading.records import Override, mark
from tests.browser.test_pages_accessible import (
    DESKTOP,
    LEAVE_ONE_OF_EACH,
    PHONE,
    WIDER_THAN_THE_SCREEN,
    assert_pictures_are_painted,
    violations,
)
from tests.classroom.grading.classes import synthetic_class
from tests.classroom.grading.hostile import hostile

UNIT = "02_momentum"


@pytest.fixture(scope="module")
def marks():
    """A class with known mistakes, blanks, a broken file, an override and a hostile student."""
    students = [*synthetic_class(UNIT, size=30, seed=5), hostile()]
    low = min((g for g in students[:-1] if not g.problem), key=lambda g: g.earned)
    given = Override(low.student, UNIT, low.results[0].name, 1, "see our talk", "2026-01-01")
    marks = [mark(g, [given]) for g in students]
    return sorted(marks, key=lambda m: not any(line.override for line in m.lines))


@pytest.mark.parametrize("which", ["report", "feedback", "hostile"])
def test_a_page_runs_and_loads_nothing_fits_a_phone_and_has_no_barriers(
    browser, tmp_path, marks, which
):
    pages = {"report": lambda: report.page(marks), "feedback": lambda: feedback.page(marks[0])}
    pages["hostile"] = lambda: feedback.page(mark(hostile(), ()))
    path = tmp_path / "page.html"
    path.write_text(pages[which](), encoding="utf-8")
    context = browser.new_context(viewport=DESKTOP, offline=True)
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
