"""What the pages of a site tell those who link to them: title, words, picture, address."""

import shutil
from pathlib import Path
from urllib.parse import unquote, urlsplit
from xml.dom import minidom

import pytest
from bs4 import BeautifulSoup

from classroom.site import build, require_address
from selfcheck.course import course_in
from selfcheck.files import CourseError
from selfcheck.students import cli
from tests.places import ROOT, SMALL, site_cache

ADDRESS = "https://example.org/course/"


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    target, cache = tmp_path_factory.mktemp("host") / "course", site_cache(tmp_path_factory)
    return build(ROOT, target, base="/course/", units=["02", "04"], cache=cache, address=ADDRESS)


def head(site: Path, name: str) -> dict[str, str]:
    page = BeautifulSoup((site / name).read_text(encoding="utf-8"), "html.parser")
    told = {
        tag.get("property") or tag.get("name"): tag["content"]
        for tag in page.select("meta[content]")
    }
    link = page.select_one("link[rel=canonical]")
    return told | {"title": page.title.get_text(), "canonical": link["href"] if link else ""}


@pytest.mark.slow
def test_each_page_has_a_title_words_and_an_address_of_its_own(site):
    names = ["index.html", "sources.html", "docs/students.html", "docs/index.html"]
    names += [
        f"{f}/{s}.html" for f in ("notebooks", "exercises") for s in ("02_momentum", "04_attention")
    ]
    heads = {name: head(site, name) for name in names if (site / name).exists()}
    assert len(heads) >= 7
    for part in ("title", "canonical", "description"):
        told = [one[part] for one in heads.values()]
        assert len(set(told)) == len(told), part
    for name, one in heads.items():
        assert one["canonical"] == one["og:url"] == ADDRESS + name.removesuffix("index.html")
        assert one["og:image"].startswith(f"{ADDRESS}static/pictures/")
        assert (site / one["og:image"].removeprefix(ADDRESS)).is_file()
        assert "$" not in one["description"]
    assert heads["index.html"]["og:type"] == "website"


@pytest.mark.slow
def test_a_unit_has_a_picture_of_its_own(site):
    lectures = [
        head(site, f"notebooks/{s}.html")["og:image"] for s in ("02_momentum", "04_attention")
    ]
    assert len(set(lectures)) == 2
    assert head(site, "exercises/02_momentum.html")["og:image"] == lectures[0]


@pytest.mark.slow
def test_all_pages_are_in_the_sitemap_and_the_lost_one_is_not(site):
    listed = minidom.parse(str(site / "sitemap.xml")).getElementsByTagName("loc")
    places = [loc.firstChild.data.removeprefix(ADDRESS) for loc in listed]
    assert {"", "sources.html", "notebooks/02_momentum.html", "docs/students.html"} <= set(places)
    assert "404.html" not in places
    assert [p for p in places if p and not p.endswith("/") and not (site / p).is_file()] == []


@pytest.mark.slow
def test_a_lost_reader_finds_the_looks_of_the_page_under_its_path(site):
    page = (site / "404.html").read_text(encoding="utf-8")
    assert 'href="/course/static/site.css"' in page
    assert "location.replace" not in page


@pytest.mark.slow
def test_the_units_of_the_site_are_on_the_landing_page(site):
    page = BeautifulSoup((site / "index.html").read_text(encoding="utf-8"), "html.parser")
    assert page.select_one(".begin .go-on")["href"] == "notebooks/02_momentum.html"
    rows = [row["data-sheet"] for row in page.select(".units > li")]
    assert rows == ["exercises/02_momentum.ipynb", "exercises/04_attention.ipynb"]
    assert len(page.select(".map a")) == 2


@pytest.mark.slow
def test_no_link_is_dead(site):
    pages = {
        path: BeautifulSoup(path.read_text(encoding="utf-8"), "html.parser")
        for path in site.rglob("*.html")
        if "lite" not in path.relative_to(site).parts
    }
    assert len(pages) > 10
    dead = [
        (path.name, address)
        for path, page in pages.items()
        for address in addresses(page)
        if not leads_somewhere(site, path, address, pages)
    ]
    assert dead == []


def addresses(page):
    found = page.select("[href], [src]")
    return {str(tag.get("href") or tag.get("src")) for tag in found}


def leads_somewhere(root, path, address, pages):
    url = urlsplit(address)
    if url.scheme in ("http", "https", "mailto", "data"):
        return True
    if url.path.startswith("/"):
        target = root.parent / unquote(url.path[1:])
    else:
        target = (path.parent / unquote(url.path)) if url.path else path
    if not target.resolve().is_file():
        return False
    if url.query.startswith("path="):
        return (root / "lite" / "files" / url.query.removeprefix("path=")).is_file()
    if url.fragment and target.resolve() in pages and path.parent.name != "slides":
        page = pages[target.resolve()]
        return page.find(id=url.fragment) or page.find(id=unquote(url.fragment))
    return True


@pytest.mark.slow
def test_the_program_is_light(site):
    """JupyterLite without notebooks and Python, and the pages, take what the site may take."""
    sizes = {path: path.stat().st_size for path in site.rglob("*") if path.is_file()}
    lite = site / "lite"
    packed = [lite / "static", lite / "files", site / "static" / "pictures"]
    program = [p for p in sizes if lite in p.parents and not set(packed) & set(p.parents)]
    assert sum(sizes[path] for path in program) < 11_000_000
    assert sum(sizes[p] for p in sizes if lite not in p.parents) < 6_300_000


@pytest.mark.slow
def test_without_an_address_nothing_is_told_that_would_not_be_true(tmp_path, tmp_path_factory):
    cache = site_cache(tmp_path_factory)
    plain = build(ROOT, tmp_path / "site", units=["02"], cache=cache)
    told = head(plain, "notebooks/02_momentum.html")
    assert told["canonical"] == ""
    assert not {"og:url", "og:image"} & told.keys()
    assert not (plain / "sitemap.xml").exists()
    assert "location.replace" in (plain / "404.html").read_text(encoding="utf-8")
    shutil.rmtree(plain)


@pytest.mark.parametrize("address", ["example.org", "ftp://example.org/", "https:///a", "/course/"])
def test_an_address_that_is_none_gets_a_sentence(address):
    with pytest.raises(CourseError, match="such as https://"):
        require_address(address)


def test_an_address_gets_its_slash():
    assert require_address("https://example.org/course") == ADDRESS
    assert require_address("") == ""


@pytest.mark.parametrize("lines", ["site = 3", "[site]\nplace = 1", "[site]\naddress = 3"])
def test_a_table_site_that_is_not_sound_gets_a_sentence(lines, tmp_path):
    text = (SMALL / "course.toml").read_text(encoding="utf-8")
    lines = f"{lines}\n{text}" if "[" not in lines else f"{text}\n{lines}\n"
    (tmp_path / "course.toml").write_text(lines, encoding="utf-8")
    with pytest.raises(CourseError, match=r"site|address"):
        course_in(tmp_path)


def test_the_command_names_a_wrong_address(monkeypatch, capsys, tmp_path):
    monkeypatch.chdir(ROOT)
    assert cli.main(["site", "--address", "example.org", "--to", str(tmp_path / "site")]) != 0
    assert "such as https://example.org/course/" in capsys.readouterr().err
