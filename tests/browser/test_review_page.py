"""`course review` in a real browser: by keyboard, at once in the gradebook, for nobody else."""

import contextlib
import http.client
import os
import signal
import subprocess
import sys
from dataclasses import replace
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import expect

from classroom.grading.behavior import Item, Signature
from classroom.grading.gradebook import NAME, Gradebook
from classroom.grading.records import Graded, Result
from tests.browser.test_pages_accessible import (
    LEAVE_ONE_OF_EACH,
    PHONE,
    WIDER_THAN_THE_SCREEN,
    violations,
)
from tests.classroom.grading.hostile import MARKUP, hostile
from tests.places import SMALL

UNIT = "01_sums"
SIGNED = Signature("", (Item("total", (2,), (1.0, 2.0)),), says="It should be 1.").as_dict()


def answered(student, outcome, says="It should be 1.", **about):
    result = Result("1.1", "even_sum", outcome, 0, 2, says, called="check.even_sum(total)", **about)
    return Graded(student, UNIT, f"{student}.ipynb", "d", results=(result,))


def class_of_five():
    """One whose answer could not be checked, three who share a mistake, and one who is hostile."""
    unread = "`total` cannot be read."
    yield answered("ada", "could not be checked", unread, answer="total = ?", printed="hm\n")
    for student in ("bob", "cleo", "dora"):
        yield answered(student, "wrong", answer="total = n**3", signatures=(SIGNED,))
    bad = hostile(student=f"zed {MARKUP} \u202e", unit=UNIT)
    about = {"number": "1.1", "name": "even_sum", "printed": MARKUP, "called": MARKUP}
    result = replace(bad.results[0], **about, signatures=(SIGNED,))
    yield replace(bad, results=(result,))


@pytest.fixture
def grades(tmp_path):
    with Gradebook(tmp_path / NAME) as book:
        for graded in class_of_five():
            book.save(graded)
    return tmp_path


@contextlib.contextmanager
def reviewing(grades):
    """The address of the command at work; at its end it is interrupted, as a person does it."""
    command = [sys.executable, "-m", "selfcheck", "review", str(grades), "--no-browser"]
    server = subprocess.Popen(
        command,
        cwd=SMALL,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONUNBUFFERED": "1"},
    )
    try:
        assert server.stdout is not None
        yield server.stdout.readline().split()[1]
    finally:
        server.send_signal(signal.SIGINT)
        server.communicate(timeout=120)


@pytest.fixture
def address(grades, ctrl_c):
    with reviewing(grades) as url:
        yield url


@pytest.fixture
def judge_process(browser, address):
    """The page with the first answer of the queue; it may ask for nothing but itself."""
    context = browser.new_context(viewport={"width": 1200, "height": 900})
    view, problems = context.new_page(), []
    here = address.partition("?")[0]
    view.on("dialog", lambda dialog: problems.append("a dialog"))
    view.on("pageerror", lambda error: problems.append(f"page error: {error}"))
    view.on(
        "request", lambda r: problems.extend([] if r.url.startswith((here, "data:")) else [r.url])
    )
    view.goto(address)
    yield view
    context.close()
    assert problems == []


def overrides(grades):
    with Gradebook(grades / NAME) as book:
        return {o.student: (o.earned, o.comment) for o in book.overrides()}


def go_to(judge_process, student):
    for _ in range(10):
        if student in judge_process.locator("h1").inner_text():
            return
        before = judge_process.url
        judge_process.keyboard.press("j")
        judge_process.wait_for_url(lambda url, before=before: url != before)
    raise AssertionError(f"{student} is not in the queue")


def test_points_in_halves_and_a_comment_by_keyboard_are_in_the_gradebook_at_once(
    judge_process, grades
):
    assert "token" not in judge_process.url
    expect(judge_process.locator("h1")).to_have_text("1.1 Even sum: ada")
    expect(judge_process.locator("main")).to_contain_text(
        "It could not be checked; see the verdict."
    )
    expect(judge_process.locator("main")).to_contain_text(
        "check.even_sum(total) after the cells above"
    )
    expect(judge_process.locator("main")).to_contain_text("total cannot be read.")
    expect(judge_process.locator(".printed")).to_have_text("hm\n")
    judge_process.keyboard.press("1")
    judge_process.keyboard.press("h")
    expect(judge_process.locator("#points")).to_have_value("1.5")
    judge_process.keyboard.press("c")
    judge_process.keyboard.type("You meant 1 − βᵗ. Say so <b>clearly</b>.")
    judge_process.keyboard.press("Control+Enter")
    expect(judge_process.locator("h1")).not_to_have_text("1.1 Even sum: ada")
    assert overrides(grades) == {"ada": (1.5, "You meant 1 − βᵗ. Say so <b>clearly</b>.")}
    expect(judge_process.locator("nav")).to_contain_text("✓ 1.1 ada")


def test_one_comment_is_for_everybody_in_the_family_and_points_for_one(judge_process, grades):
    go_to(judge_process, "bob")
    expect(judge_process.locator("main")).to_contain_text(
        "3 other students have the same wrong answer"
    )
    judge_process.keyboard.press("2")
    judge_process.keyboard.press("c")
    judge_process.keyboard.type("Look at the series again.")
    judge_process.keyboard.press("Escape")
    judge_process.keyboard.press("f")
    judge_process.keyboard.press("s")
    expect(judge_process.locator("h1")).not_to_have_text("1.1 Even sum: bob")
    given = overrides(grades)
    assert given["bob"] == (2, "Look at the series again.")
    assert given["cleo"] == given["dora"] == (None, "Look at the series again.")
    assert len(given) == 4  # the hostile one is of the family too
    page = grades / "feedback" / UNIT / "cleo.html"
    assert not page.exists()


def test_what_is_not_possible_is_said_and_nothing_is_written(judge_process, grades):
    judge_process.keyboard.press("2")
    judge_process.keyboard.press("s")
    expect(judge_process.locator("#told")).to_have_text(
        "Points need a comment: the student will read why. Without points, write a comment."
    )
    judge_process.locator("#comment").fill("why")
    judge_process.locator("#points").fill("7")
    judge_process.evaluate("decide({})")
    expect(judge_process.locator("#told")).to_contain_text("is worth 0 to 2 points, in halves.")
    assert overrides(grades) == {}


def test_a_decision_survives_a_regrade_is_shown_and_can_be_dropped(judge_process, grades):
    judge_process.locator("#comment").fill("Well argued.")
    judge_process.locator("#points").fill("2")
    judge_process.get_by_role("button", name="Save and go on").click()
    expect(judge_process.locator("h1")).not_to_have_text("1.1 Even sum: ada")
    with Gradebook(grades / NAME) as book:
        for graded in class_of_five():
            book.save(graded)  # as a regrade does
    go_to_first = judge_process.get_by_role("link", name="1.1 ada")
    go_to_first.click()
    expect(judge_process.locator("form")).to_contain_text("Decided: 2 of 2 points.")
    expect(judge_process.locator("#comment")).to_have_value("Well argued.")
    judge_process.get_by_role("button", name="Drop the decision").click()
    expect(judge_process.locator("form")).not_to_contain_text("Decided")
    assert overrides(grades) == {}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_hostile_answer_is_text_and_no_page_has_barriers(judge_process, scheme):
    judge_process.emulate_media(color_scheme=scheme)
    assert violations(judge_process) == []
    go_to(judge_process, "zed")
    expect(judge_process.locator("h1")).to_contain_text("</script>")
    assert judge_process.locator("script").count() == 1
    assert judge_process.locator("img, iframe, b").count() == 0
    judge_process.locator("details").evaluate_all("all => all.forEach(one => { one.open = true; })")
    judge_process.evaluate(LEAVE_ONE_OF_EACH)
    assert violations(judge_process) == []
    judge_process.set_viewport_size(PHONE)
    assert judge_process.evaluate(WIDER_THAN_THE_SCREEN) == []


def test_nobody_without_the_token_sees_or_changes_anything(address, grades):
    url = urlsplit(address)
    (token,) = parse_qs(url.query)["token"]
    cookie = {"Cookie": f"course-review-{url.port}={token}"}

    def status(method, path, headers, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", url.port)
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        return answer.status, text, dict(answer.getheaders())

    assert status("GET", "/", {})[0] == 403
    assert status("GET", "/?token=wrong", {})[0] == 403
    assert status("GET", "/review.js", {})[0] == 403
    assert status("GET", "/", {**cookie, "Host": "evil.example"})[0] == 403
    code, _, headers = status("GET", "/", cookie)
    assert (code, headers["Location"][:6]) == (302, "/item/")
    decide = headers["Location"].replace("item", "decide")
    body = '{"points": 2, "comment": "free points"}'
    assert status("POST", decide, cookie, body)[0] == 403  # another site has the cookie at most
    assert status("POST", decide, {"X-Token": token}, body)[0] == 403
    assert status("POST", decide, {**cookie, "X-Token": token}, "[]")[0] == 400
    assert status("GET", "/item/0123456789abcdef", cookie)[:2] == (404, "Not in the queue.")
    page, head = status("GET", headers["Location"], cookie)[1:]
    assert "script-src 'self'" in head["Content-Security-Policy"]
    assert head["Cache-Control"] == "no-store"
    assert "ada" in page
    assert overrides(grades) == {}


def test_at_the_end_the_pages_are_written_anew(browser, grades, ctrl_c):
    with reviewing(grades) as url:
        context = browser.new_context()
        view = context.new_page()
        view.goto(url)
        view.locator("#comment").fill("Please come to my office hour.")
        view.locator("#comment").press("Control+Enter")
        expect(view.locator("h1")).not_to_have_text("1.1 Even sum: ada")
        context.close()
    page = (grades / "feedback" / UNIT / "ada.html").read_text(encoding="utf-8")
    assert "Please come to my office hour." in page
