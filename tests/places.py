"""Where things lie: the one place in which tests name folders and packages of the repository."""

from pathlib import Path

ROOT = Path(__file__).parents[1]
SMALL = ROOT / "tests" / "course"  # the small fixed course that tests of the machine use
MACHINE, COURSE, CLASSROOM = ROOT / "selfcheck", ROOT / "course_utils", ROOT / "classroom"
PACKAGES = (MACHINE, COURSE, CLASSROOM)


def python_files(folder: Path, least: int) -> list[Path]:
    """The Python files below a folder: at least so many, or what looks at them looks at nothing."""
    found = sorted(path for path in folder.rglob("*.py") if "templates" not in path.parts)
    assert len(found) >= least, f"{folder} has {len(found)} Python files"
    return found


def begin_course(folder: Path, title: str = "Numbers", package: str = "course_utils") -> Path:
    """Make a folder that of a course: all that a course has to say of itself."""
    (folder / package).mkdir(parents=True, exist_ok=True)
    text = f'title = "{title}"\npackage = "{package}"\nbundle = ["LICENSE", "students/"]\n'
    (folder / "course.toml").write_text(text, encoding="utf-8")
    (folder / package / "units.toml").touch()
    (folder / "students").mkdir()
    (folder / "students" / "README.md").write_text("# Numbers\n", encoding="utf-8")
    return folder
