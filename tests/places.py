"""Where things lie: the one place in which tests name folders and packages of the repository.

What a test loops over is asked for here with a least count: when things move, a loop over nothing
is red, not green.
"""

import contextlib
import os
import sys
from importlib import import_module
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest

from course_utils.units import UNITS

ROOT = Path(__file__).parents[1]
SMALL = ROOT / "tests" / "course"  # the small fixed course that tests of the machine use
MACHINE, COURSE, CLASSROOM = ROOT / "selfcheck", ROOT / "course_utils", ROOT / "classroom"
PACKAGES = (MACHINE, COURSE, CLASSROOM)


def python_files(folder: Path, least: int) -> list[Path]:
    """The Python files below a folder: at least so many, or what looks at them looks at nothing."""
    found = sorted(path for path in folder.rglob("*.py") if "templates" not in path.parts)
    assert len(found) >= least, f"{folder} has {len(found)} Python files"
    return found


def our_notebooks(folder: str, least: int = 12) -> list[Path]:
    """The lectures, solutions or exercises of our course: one a unit."""
    found = sorted((ROOT / folder).glob("*.ipynb"))
    assert len(found) >= least, f"{folder} has {len(found)} notebooks"
    return found


def check_modules(least: int = 12) -> list[ModuleType]:
    """The check modules of our course: one a unit."""
    names = [unit.name for unit in UNITS]
    assert len(names) >= least, f"there are {len(names)} check modules"
    return [import_module(f"{COURSE.name}.checks.{name}") for name in names]


def run_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A temporary folder for all workers of this run together."""
    base = tmp_path_factory.getbasetemp()
    return base.parent if "PYTEST_XDIST_WORKER" in os.environ else base


def site_cache(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What builds of the site keep, for all of a run; fetched packages stay in build/."""
    cache, fetched = run_folder(tmp_path_factory) / "site", ROOT / "build" / "site-packages"
    cache.mkdir(exist_ok=True)
    fetched.mkdir(parents=True, exist_ok=True)
    with contextlib.suppress(FileExistsError):
        (cache / "site-packages").symlink_to(fetched)
    return cache


def begin_course(folder: Path, title: str = "Numbers", package: str = "course_utils") -> Path:
    """Make a folder that of a course: all that a course has to say of itself."""
    (folder / package).mkdir(parents=True, exist_ok=True)
    text = f'title = "{title}"\npackage = "{package}"\nbundle = ["LICENSE", "students/"]\n'
    (folder / "course.toml").write_text(text, encoding="utf-8")
    (folder / package / "units.toml").touch()
    (folder / "students").mkdir()
    (folder / "students" / "README.md").write_text("# Numbers\n", encoding="utf-8")
    return folder


def loaded(path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The module in this file, known under the name of the file for the time of a test."""
    spec = spec_from_file_location(path.stem, path)
    module = module_from_spec(spec)
    monkeypatch.setitem(sys.modules, path.stem, module)
    spec.loader.exec_module(module)
    return module
