"""Measurements: what is compared takes turns, and pages say what was measured. Nothing is timed."""

import itertools
from pathlib import Path

import pytest

from benchmarks import pages
from benchmarks.__main__ import BENCHMARKS, ON_REQUEST, TITLES
from benchmarks.core import Report, Spread, has, ratio, side_by_side, significant

ROOT = Path(__file__).parents[1]
HELPERS = {"__main__", "core", "pages", "peers"}


class Clock:
    """A clock that is moved by what runs."""

    def __init__(self):
        self.now, self.ran = 0.0, []

    def __call__(self):
        return self.now

    def way(self, name, seconds):
        def run():
            self.ran.append(name)
            self.now += next(seconds)

        return run


def test_ways_take_turns_from_either_end_after_they_have_warmed_up():
    clock = Clock()
    ways = {name: clock.way(name, itertools.repeat(1.0)) for name in "abc"}
    side_by_side(ways, rounds=3, clock=clock)
    assert "".join(clock.ran) == "aabbcc" + "cba" + "abc" + "cba"


def test_what_is_too_quick_for_the_clock_is_repeated_within_a_round():
    clock = Clock()
    times = side_by_side({"a": clock.way("a", itertools.repeat(0.25))}, 2, clock, at_least=1.0)
    assert times["a"].values == (0.25, 0.25)
    assert len(clock.ran) == 2 + 2 * 4


def test_a_ratio_is_taken_round_by_round_so_that_noise_hits_both_sides():
    slow_machine = [1.0, 1.0, 5.0]
    ours, theirs = (Spread(tuple(k * s for s in slow_machine)) for k in (1, 3))
    assert ratio(theirs, ours).values == (3.0, 3.0, 3.0)
    assert ratio(theirs, ours).shown() == "3"


def test_a_spread_is_shown_as_median_and_quarters():
    assert Spread((4.0, 1.0, 2.0, 3.0, 100.0)).shown() == "3 (2–4)"
    assert Spread((0.00123, 0.00123)).shown(1000) == "1.23"
    assert Spread((1.0, 2.0, 3.0)).quantile(0.95) == 3.0


@pytest.mark.parametrize(
    ("value", "shown"),
    [(0, "0"), (12345.6, "12,346"), (99.96, "100"), (0.0123456, "0.0123"), (2.5, "2.5")],
)
def test_numbers_have_three_digits(value, shown):
    assert significant(value) == shown


def test_a_goal_says_what_was_measured_whether_it_was_reached_or_not():
    report = Report()
    report.goal("it takes", 5, 10, "ms")
    report.goal("it takes", 50, 10, "ms")
    assert report.blocks == [
        "Goal: it takes at most 10 ms; measured 5 ms, reached.",
        "Goal: it takes at most 10 ms; measured 50 ms, **not reached**.",
    ]


def test_a_difference_above_its_limit_is_remembered():
    report = Report()
    assert report.agreement("softmax", 1e-16, 1e-10) == "1e-16"
    assert not report.disagrees
    assert report.agreement("softmax", 1e-3, 1e-10) == "**1e-03**"
    assert report.disagrees


def test_peers_that_are_not_installed_are_named(monkeypatch):
    monkeypatch.setattr("benchmarks.core.has", lambda peer: peer == "SciPy")
    report = Report()
    assert report.without("SciPy", "POT")
    assert [block.partition(" ")[0] for block in report.blocks] == ["POT"]


def test_a_peer_that_is_there_is_found():
    assert has("nbgrader")


def test_every_module_is_a_benchmark_or_a_helper_and_has_what_it_takes():
    modules = {path.stem: path for path in (ROOT / "benchmarks").glob("*.py")}
    assert set(modules) == {*TITLES, *HELPERS}
    assert BENCHMARKS.keys().isdisjoint(ON_REQUEST)
    for name in TITLES:
        assert "\ndef measure(report: Report" in modules[name].read_text(encoding="utf-8"), name


# -- the page and the README ----------------------------------------------------------------------


def test_a_new_measurement_replaces_its_section_and_leaves_the_others_in_their_order():
    order = ["One", "Two", "Three"]
    page = pages.with_section("", "Three", "third", order)
    page = pages.with_section(page, "One", "first", order)
    page = pages.with_section(page, "Three", "third again", order)
    assert pages.sections(page) == {"One": "first", "Three": "third again"}
    assert page.startswith("# Measurements")
    assert page.index("## One") < page.index("## Three")


def test_a_section_that_is_no_longer_measured_goes():
    page = pages.with_section("", "Old", "text", ["Old", "New"])
    assert list(pages.sections(pages.with_section(page, "New", "text", ["New"]))) == ["New"]


def test_a_quote_replaces_the_line_of_its_mark_alone():
    readme = "Intro\n\n- old <!-- measured: checks -->\n- old <!-- measured: grading -->\n"
    renewed = pages.with_quote(readme, "checks", "It takes 5 ms.")
    assert renewed == readme.replace("old", "It takes 5 ms.", 1)
    assert pages.quotes(renewed) == {"checks": "It takes 5 ms.", "grading": "old"}


def test_the_readme_quotes_three_of_the_measurements_as_they_stand_on_the_page():
    page = pages.quotes((ROOT / pages.PAGE).read_text(encoding="utf-8"))
    readme = pages.quotes((ROOT / pages.README).read_text(encoding="utf-8"))
    assert len(readme) == 3
    assert readme == {name: page[name] for name in readme}


def test_the_page_has_no_section_that_cannot_be_measured_again():
    found = pages.sections((ROOT / pages.PAGE).read_text(encoding="utf-8"))
    assert [title for title in TITLES.values() if title in found] == list(found)
