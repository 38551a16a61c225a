"""The rules of docs/authors.md: each of them has a test, and no test keeps a rule in secret."""

import ast
import re

import pytest

from tests.places import ROOT

TESTS = ROOT / "tests"
EVERY = "checks/test_every_exercise.py"
SAVED, RELEASE = "test_committed_notebooks.py", "classroom/test_release.py"
ROLES = "classroom/test_roles.py"
# How the row of a rule begins: the tests that keep it.
RULES = {
    "Numbers count up from 1": {
        EVERY: [
            "numbers_count_up_from_one_and_names_are_unique",
            "no_two_units_share_a_chapter",
            "what_stands_beyond_the_page_comes_last",
        ],
        SAVED: [
            "its_exercises_are_those_that_the_unit_declares_each_with_heading_answer_and_check"
        ],
    },
    "Exercises whose answers stand neither": {
        EVERY: ["what_stands_beyond_the_page_comes_last"],
        SAVED: ["a_text_cell_parts_what_is_on_the_page_from_what_is_beyond_it"],
        "classroom/test_leaks.py": [
            "no_answer_beyond_the_page_stands_in_what_students_receive",
        ],
    },
    "Essential exercises whose answers": {
        EVERY: ["what_stands_on_the_page_is_a_minority_of_the_essential_points"],
    },
    "The solution of every exercise": {
        SAVED: [
            "every_solution_earns_all_points_and_says_why",
            "students_can_be_shown_every_solution_with_its_why",
        ]
    },
    "Number, name, title, points and minutes": {
        EVERY: ["points_are_positive_whole_numbers"],
        "test_units.py": ["exercises_are_those_that_the_file_of_facts_declares"],
        "test_exercise_facts.py": ["what_is_not_declared_or_declared_twice_is_refused"],
    },
    "Two hints or more": {
        EVERY: ["hints_progress_and_the_last_one_stays"],
    },
    "One known mistake or more": {
        EVERY: [
            "it_knows_at_least_one_mistake_and_their_names_are_unique",
            "each_known_mistake_is_wrong_and_earns_its_own_explanation",
        ],
    },
    "With the numbers of id 0": {
        EVERY: ["the_numbers_of_id_0_tell_mistakes_apart"],
    },
    "A mistake in a function is still recognized": {
        EVERY: [
            "a_mistake_keeps_its_name_in_another_layout_and_at_another_cost",
            "a_neighbor_of_a_mistake_does_not_get_its_name",
        ],
    },
    "An explanation consists of whole sentences": {
        EVERY: ["an_explanation_is_whole_sentences_on_one_line"]
    },
    "The docstring is one sentence": {EVERY: ["the_docstring_is_one_sentence"]},
    "A check has at most 60 lines": {
        EVERY: ["the_check_is_a_short_function"],
    },
    "Call the student's function first": {
        "test_reserved.py": ["no_reference_is_in_sight_while_a_students_code_runs"]
    },
    "A function that takes arrays": {
        EVERY: ["a_function_for_few_rows_alone_does_not_earn_all_points"]
    },
    "The points of the parts": {
        EVERY: [
            "the_points_of_the_parts_are_those_of_the_exercise",
            "every_answer_belongs_to_a_part_if_there_are_parts",
            "a_part_that_is_spoiled_costs_its_own_points_and_is_named",
        ]
    },
    "An exercise that takes an earlier answer": {
        EVERY: [
            "an_exercise_that_takes_an_earlier_answer_says_what_it_follows",
            "junk_is_not_carried_on",
        ],
    },
    "Blanks, nonsense in any place": {
        EVERY: [
            "a_blank_in_any_place_is_not_attempted",
            "all_blank_is_not_attempted",
            "a_function_with_a_blank_inside_is_not_attempted",
            "nonsense_in_any_place_is_never_right_and_never_an_error",
            "a_function_that_raises_is_told_with_its_call",
            "the_wrong_number_of_answers_could_not_be_checked",
        ]
    },
    "The same answer gets the same words": {
        EVERY: ["feedback_is_one_line_of_text_a_card_and_data_and_the_same_every_time"]
    },
    "Each answer cell has one check cell": {
        SAVED: [
            "its_exercises_are_those_that_the_unit_declares_each_with_heading_answer_and_check"
        ],
        ROLES: ["every_solution_of_the_course_is_sound"],
    },
    "`RIGHT` has right answers": {
        EVERY: ["the_tests_of_a_unit_have_right_answers_of_all_its_exercises"]
    },
    "Anything that looks like a solution mark": {
        RELEASE: ["a_misspelt_mark_is_refused", "marks_out_of_order_are_refused"]
    },
}
OF_THE_MACHINE = {"a_report_on_lines_is_computed_once_an_answer"}  # no rule for authors


def rows():
    """The rules as authors read them."""
    page = (ROOT / "docs" / "authors.md").read_text(encoding="utf-8")
    table = page.partition("### Rules that tests enforce\n")[2].partition("\n### ")[0]
    return re.findall(r"^\| (?!rule|---)(.*?) \| .* \|$", table, re.MULTILINE)


def names_in(place):
    tree = ast.parse((TESTS / place).read_text(encoding="utf-8"))
    functions = [node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)]
    return {name.removeprefix("test_") for name in functions if name.startswith("test_")}


def test_every_rule_that_authors_read_is_kept_by_a_test():
    assert len(rows()) > 10
    assert [next((r for r in RULES if row.startswith(r)), row) for row in rows()] == list(RULES)


@pytest.mark.parametrize("rule", RULES)
def test_the_tests_of_a_rule_are_there(rule):
    missing = {place: {*names} - names_in(place) for place, names in RULES[rule].items()}
    assert not any(missing.values()), missing


def test_no_test_keeps_a_rule_that_authors_do_not_read():
    told = {name for places in RULES.values() for name in places.get(EVERY, [])}
    assert names_in(EVERY) == told | OF_THE_MACHINE
