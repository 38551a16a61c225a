"""What the pages of a site tell those who link to them: title, words, picture, address."""

import shutil
from pathlib import Path
from xml.dom import minidom

import pytest
from bs4 import BeautifulSoup

from classroom.site import build, require_address
from selfcheck.course import course_in
from selfcheck.files import CourseError
from selfcheck.students import cli
from tests.places import ROOT, SMALL

ADDRESS = "https://example.org/course/"
CACHE = ROOT / "build" / "site-packages"


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    cache = tmp_path_factory.mktemp("cache")
    CACHE.mkdir(parents=True, exist_ok=True)
    (cache / "site-packages").symlink_to(CACHE)
    target = tmp_path_factory.mktemp("host") / "site"
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
def test_without_an_address_nothing_is_told_that_would_not_be_true(site, tmp_path):
    (tmp_path / "cache").mkdir()
    (tmp_path / "cache" / "site-packages").symlink_to(CACHE)
    plain = build(ROOT, tmp_path / "site", units=["02"], cache=tmp_path / "cache")
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
