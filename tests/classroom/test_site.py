"""The site's parts without a browser: the lock, the wheels, the pages, and the browser's Python."""

import base64
import io
import json
import os
import shutil
import threading
import zipfile
from hashlib import sha256
from pathlib import Path

import pytest
from PIL import Image, ImageChops

from classroom.notebooks import read
from classroom.site import drawing, lite, packages, proof, require_base
from classroom.site.reading import read_page
from course_utils.units import UNITS
from selfcheck.course import course_in
from selfcheck.files import CourseError

ROOT = Path(__file__).parents[2]
CACHE = ROOT / "build" / "site-packages"  # what was fetched once is kept there
WHEELS = os.environ.get(proof.WHEELS)


@pytest.fixture(scope="module")
def shelf():
    with packages.alone(CACHE):
        return packages.gather(course_in(ROOT), CACHE, None)


# -- what the browser loads -----------------------------------------------------------------------


def test_every_package_in_the_lock_has_a_hash_and_only_known_needs(shelf):
    listed = shelf.lock["packages"]
    assert {"numpy", "matplotlib", "sympy", "ipywidgets", "course-utils"} <= listed.keys()
    for name, entry in listed.items():
        assert len(entry["sha256"]) == 64, name
        assert set(entry["depends"]) <= listed.keys(), name


def test_what_lies_on_the_site_has_the_hash_of_its_file(shelf):
    on_site = {
        e["file_name"]: e for e in shelf.lock["packages"].values() if "/" not in e["file_name"]
    }
    assert on_site.keys() == shelf.wheels.keys()
    for name, path in shelf.wheels.items():
        assert on_site[name]["sha256"] == sha256(path.read_bytes()).hexdigest()


def test_two_wheels_have_what_students_import_and_no_more(shelf):
    held = {
        "course_utils": ["checks/momentum.py", "units.toml"],
        "selfcheck": ["meter/__init__.py"],
    }
    for package, wanted in held.items():
        (wheel,) = [path for name, path in shelf.wheels.items() if name.startswith(package)]
        with zipfile.ZipFile(wheel) as archive:
            names = archive.namelist()
            assert archive.testzip() is None
        assert {f"{package}/{name}" for name in wanted} <= set(names)
        top = {name.split("/")[0] for name in names}
        assert {name for name in top if not name.endswith(".dist-info")} == {package}


def test_the_same_files_make_the_same_wheel(tmp_path):
    files = {"a/__init__.py": b"x = 1\n"}
    first = packages._write_wheel(tmp_path / "one", "a", "1.0", files)
    second = packages._write_wheel(tmp_path / "two", "a", "1.0", files)
    assert first.read_bytes() == second.read_bytes()


def test_matplotlib_finds_its_list_of_fonts(shelf):
    assert "course-fonts" in shelf.lock["packages"]["matplotlib"]["depends"]
    (wheel,) = [path for name, path in shelf.wheels.items() if name.startswith("course_fonts")]
    with zipfile.ZipFile(wheel) as archive:
        (listing,) = [name for name in archive.namelist() if "fontlist" in name]
        fonts = json.loads(archive.read(listing))
    assert shelf.font_folder.endswith("course_fonts")
    assert not any(font["fname"].startswith("/") for font in fonts["ttflist"])
    assert "DejaVu Sans" in {font["name"] for font in fonts["ttflist"]}


def test_a_folder_without_wheels_gets_a_sentence(tmp_path):
    with pytest.raises(CourseError, match="no wheels in"):
        packages.gather(course_in(ROOT), CACHE, tmp_path)


def test_tests_that_a_wheel_brings_are_left_out(tmp_path):
    fat = tmp_path / "fat-1.0-py3-none-any.whl"
    with zipfile.ZipFile(fat, "w") as archive:
        archive.writestr("fat/__init__.py", "x = 1")
        archive.writestr("fat/tests/test_all.py", "x = 1")
    with zipfile.ZipFile(packages._slim(fat, tmp_path / "slim")) as archive:
        assert archive.namelist() == ["fat/__init__.py"]


def test_the_bar_knows_every_file_that_a_kernel_loads_and_where_it_lies(shelf):
    files = [name for name, _ in packages.loads(shelf)]
    assert any(name.endswith("pyodide.asm.wasm") for name in files)
    course = [name for name in files if "course_utils" in name]
    assert course == [f"static/packages/{name}" for name in shelf.wheels if "course_utils" in name]
    assert any(name.startswith("https://") and "sympy" in name for name in files)


# -- what is written ------------------------------------------------------------------------------


def test_pieces_of_jupyterlite_that_only_diagrams_load_are_left_out(tmp_path):
    pieces = {
        "lab/bundle": "r.e(1)",
        "core.0a": "r.e(2), r.e(3)",
        "1.0b": "",
        "2.0c": "mermaidAPI; r.e(4), r.e(5)",
        "3.0d": "r.e(5)",
        "4.0e": "",
        "5.0f": "",
    }
    (tmp_path / "lab").mkdir()
    for name, code in pieces.items():
        (tmp_path / f"{name}.js").write_text(code)
    assert sorted(path.name for path in lite.unread_chunks(tmp_path)) == ["2.0c.js", "4.0e.js"]


def test_a_smaller_picture_looks_the_same():
    drawn = Image.new("RGB", (40, 30), (0, 114, 178))
    png = io.BytesIO()
    drawn.save(png, "PNG")
    smaller = Image.open(io.BytesIO(lite.smaller(png.getvalue())))
    assert smaller.size == drawn.size
    assert max(high for _, high in ImageChops.difference(smaller, drawn).getextrema()) <= 4


def test_pictures_and_explorers_lie_on_the_site_once(tmp_path):
    site = lite.Wanted(tmp_path)
    page = '<figure data-explorer="eJw=" data-cell="a"></figure>'
    for name in ("notebooks/01.html", "slides/01.html"):
        site.page(name, page)
    (numbers,) = (tmp_path / "static/explorers").iterdir()
    assert numbers.read_bytes() == base64.b64decode("eJw=")
    written = (tmp_path / "slides/01.html").read_text()
    assert f'data-explorer="../static/explorers/{numbers.name}"' in written


def test_notebooks_in_jupyterlite_have_each_text_as_one_string():
    notebook = json.loads(lite.joined(read(ROOT / "notebooks" / "02_momentum.ipynb")))
    for cell in notebook["cells"]:
        assert isinstance(cell["source"], str)
        for output in cell.get("outputs", []):
            texts = [output.get("text", ""), *output.get("data", {}).values()]
            assert all(isinstance(text, str) for text in texts)


def test_notebooks_in_jupyterlite_show_the_pictures_that_their_pages_have_brought(tmp_path):
    path, site = ROOT / "notebooks" / "02_momentum.ipynb", lite.Wanted(tmp_path)
    site.page("notebooks/02_momentum.html", read_page(path, read(path), {}).body)
    outputs = [
        o for c in json.loads(lite.joined(read(path)))["cells"] for o in c.get("outputs", [])
    ]
    about = [o["metadata"]["image/webp"] for o in outputs if "image/webp" in o.get("data", {})]
    places = [one.get("src") or one["explorer"] for one in about]
    assert len(places) > 10
    assert all((tmp_path / "lite" / "notebooks" / place).resolve().is_file() for place in places)


def test_files_of_an_older_build_go_and_unchanged_ones_stay(tmp_path):
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "page.html").write_text("old")
    (tmp_path / "same.html").write_text("same")
    before = (tmp_path / "same.html").stat().st_mtime_ns
    wanted = lite.Wanted(tmp_path)
    wanted.text("same.html", "same")
    wanted.text("new.html", "new")
    wanted.sweep()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["new.html", "same.html"]
    assert (tmp_path / "same.html").stat().st_mtime_ns == before


def test_the_map_has_a_link_for_every_unit_and_an_arrow_for_every_need():
    svg = drawing.drawn_map(UNITS)
    assert [f"notebooks/{unit.stem}.html" in svg for unit in UNITS] == [True] * len(UNITS)
    assert svg.count("<path d=") == sum(len(unit.after) for unit in UNITS) + 1  # its head


@pytest.mark.parametrize("base", ["course", "/course", "course/"])
def test_a_base_path_that_is_none_gets_a_sentence(base):
    with pytest.raises(CourseError, match="such as /course/"):
        require_base(base)


# -- the browser's Python -------------------------------------------------------------------------


@pytest.mark.skipif(not WHEELS, reason=f"{proof.WHEELS} names no compiled packages")
def test_the_browsers_python_gives_full_points_and_the_same_verdicts(tmp_path):
    """Each fourth solution, with a sample of its mistakes; `make site-test` has all of all."""
    assert shutil.which("node"), "node runs the browser's Python without a browser"
    words = [unit.name for unit in UNITS[::4]]
    folder = proof.lay_out(ROOT, tmp_path, Path(WHEELS), kinds=["solutions"])
    with zipfile.ZipFile(folder / "pyodide" / packages.STDLIB) as library:
        assert {name for name in library.namelist() if name.endswith(".py")} == set()
    lines = list(proof.differences(folder, every=6, words=words))
    assert [line for line in lines if line.startswith("  ")] == []
    assert len(lines) == 2 * len(words)


def test_two_builds_do_not_use_what_is_kept_at_the_same_time(tmp_path):
    """The second waits, says so, and begins when the first is over."""
    told, order, waits = [], [], threading.Event()

    def hear(line):
        told.append(line)
        waits.set()

    def second():
        with packages.alone(tmp_path / "kept", hear):
            order.append("second")

    other = threading.Thread(target=second)
    with packages.alone(tmp_path / "kept"):
        other.start()
        assert waits.wait(60)
        order.append("first")
    other.join(60)
    assert order == ["first", "second"]
    assert "this one waits" in told[0]
