"""linking.py: words of a page lead to the section that introduces them, authors to their paper."""

import pytest
from bs4 import BeautifulSoup

from classroom.site import linking

TERMS = """
[[term]]
name = "even number"
sentence = "A number with a < b & no rest."
unit = "01_sums"
section = "2"

[[term]]
name = "product"
sentence = "What a factor makes."
unit = "02_products"
section = "1"
"""
SOURCES = """
[[source]]
unit = "01"
link = "https://example.org/euclid"
authors = "Euclid and others"
year = 1482

[[source]]
unit = "02"
link = "https://example.org/second"
authors = "Euclid and others"
year = 1500

[[source]]
unit = "01"
link = "https://example.org/gauss"
authors = "Gauss"
year = 1801
"""


@pytest.fixture
def page(tmp_path):
    (tmp_path / "notebooks").mkdir()
    (tmp_path / "notebooks" / "glossary.toml").write_text(TERMS, encoding="utf-8")
    (tmp_path / "notebooks" / "sources.toml").write_text(SOURCES, encoding="utf-8")

    def linked(html, place="notebooks/02_products"):
        main = BeautifulSoup(f"<main>{html}</main>", "html.parser").main
        linking.explain_terms(main, tmp_path / f"{place}.ipynb")
        linking.cite_sources(main, tmp_path / f"{place}.ipynb")
        return main

    return linked


@pytest.mark.parametrize("formula", [r"$$\text{even number}_j$$", r"$x_{\text{even number}}$"])
def test_a_formula_stays_whole_and_the_words_after_it_lead_on(page, formula):
    """A formula in parts could not be set."""
    main = page(f"<p>Here {formula} is an even number.</p>")
    assert main.get_text() == f"Here {formula} is an even number."
    (link,) = main.select("a.term")
    assert link.previous_sibling.endswith(" is an ")


def test_a_term_of_an_earlier_unit_leads_there_once_with_its_sentence(page):
    main = page("<p>Two even\nnumbers, even numbers and a product.</p>")
    (link,) = main.select("a.term")
    assert link.get_text() == "even\nnumbers"
    assert link["aria-description"] == "A number with a < b & no rest."
    leads = linking.lead_terms(str(main), {("01_sums", "2"): "notebooks/01_sums.html#2"}, "../")
    link = BeautifulSoup(leads, "html.parser").a
    assert link["href"] == "../notebooks/01_sums.html#2"
    assert link["aria-description"] == "A number with a < b & no rest."


def test_a_term_whose_unit_is_not_on_the_site_keeps_its_sentence(page):
    html = linking.lead_terms(str(page("<p>an even number</p>")), {}, "../")
    assert BeautifulSoup(html, "html.parser").select_one("span.term")["title"]


def test_a_term_in_bold_has_its_sentence_and_code_headings_and_links_are_left(page):
    main = page(
        "<h2>even number</h2><p><strong>product</strong> <code>even number</code> "
        "<a href='#x'>even number</a></p>"
    )
    assert main.strong["title"] == "What a factor makes."
    assert main.select(".term") == []


def test_a_sheet_also_leads_to_the_terms_of_its_own_unit(page):
    assert page("<p>a product</p>").select("a.term") == []
    assert page("<p>a product</p>", "exercises/02_products").select("a.term")


@pytest.mark.parametrize(
    ("words", "paper"),
    [
        ("as Euclid and\nothers (1482) say", "euclid"),
        ("as Euclid and others (1500) say", "second"),
        ("as Euclid and others say", "second"),  # this unit's comes first
        ("as Euclid and others (1999) say", None),
        ("by Gauss (1801)", "gauss"),
        ("a Gauss curve", None),
        ("by Euclid and others, <a href='https://example.org'>The elements</a>", None),
    ],
)
def test_authors_lead_to_their_paper(page, words, paper):
    links = page(f"<p>{words}</p>").select("a.source")
    assert [link["href"] for link in links] == [f"https://example.org/{paper}"] * bool(paper)


def test_a_course_without_glossary_and_sources_is_left_as_it_is(tmp_path):
    main = BeautifulSoup("<main><p>an even number</p></main>", "html.parser").main
    linking.explain_terms(main, tmp_path / "notebooks" / "01_sums.ipynb")
    linking.cite_sources(main, tmp_path / "notebooks" / "01_sums.ipynb")
    assert main.select("a") == []
