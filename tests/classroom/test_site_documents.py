"""The pages of docs/ on the site: every link leads to a page that is there, pictures come along."""

import re

import pytest
from bs4 import BeautifulSoup

from classroom.site.documents import documents
from tests.places import ROOT, begin_course


@pytest.fixture
def course(tmp_path):
    begin_course(tmp_path)
    (tmp_path / "docs" / "more").mkdir(parents=True)
    (tmp_path / "docs" / "guide.md").write_text(
        "# For *readers*\n\n[on](more/README.md#at-last) [sheet](../exercises/01_a.ipynb) "
        "[far](https://example.org) [code](../Makefile)\n\n![a hat](hat.svg)\n"
    )
    (tmp_path / "docs" / "more" / "README.md").write_text(
        "# More\n\n## At last!\n\n[back](../guide.md)"
    )
    (tmp_path / "docs" / "bundle").mkdir()
    (tmp_path / "docs" / "bundle" / "README.md").write_text("# For students' own folder")
    return tmp_path


def test_a_page_has_its_title_and_links_that_lead_on_the_site(course):
    guide, more = documents(course)
    assert (guide.place, guide.title) == ("docs/guide.html", "For readers")
    soup = BeautifulSoup(guide.body, "html.parser")
    assert [link["href"] for link in soup.select("a")] == [
        "more/index.html#at-last",
        "../exercises/01_a.html",
        "https://example.org",
    ]
    assert "code" in soup.text  # its word stays, but the site has no such page
    assert guide.pictures == ("docs/hat.svg",)
    assert more.place == "docs/more/index.html"
    assert 'id="at-last"' in more.body
    assert 'href="../guide.html"' in more.body


def test_every_link_of_our_own_pages_leads_to_a_page_and_a_heading():
    pages = {page.place: page for page in documents(ROOT)}
    assert len(pages) > 20
    for place, page in pages.items():
        for link in BeautifulSoup(page.body, "html.parser").select("a[href]"):
            address, _, section = link["href"].partition("#")
            if re.match(r"\w+:", link["href"]) or not address.endswith(".html"):
                continue
            folder = (ROOT / place).parent
            target = (folder / address).resolve().relative_to(ROOT).as_posix() if address else place
            if target.startswith("docs/"):
                assert target in pages, f"{place}: {link['href']}"
                assert not section or f'id="{section}"' in pages[target].body, f"{place}: {section}"


def test_every_picture_of_our_own_pages_is_there():
    pictures = [picture for page in documents(ROOT) for picture in page.pictures]
    assert len(pictures) > 5
    assert [picture for picture in pictures if not (ROOT / picture).is_file()] == []


def test_a_table_scrolls_by_itself_where_the_page_is_narrow(course):
    (course / "docs" / "guide.md").write_text("# Guide\n\n| a | b |\n| --- | --- |\n| 1 | 2 |\n")
    guide, _ = documents(course)
    assert BeautifulSoup(guide.body, "html.parser").select_one("div.wide > table")
