"""What is missing, and how to install it: commands ask before they begin.

    need("slides", "Slides need")

The names are those of the extras in pyproject.toml.
"""

from __future__ import annotations

from importlib import metadata

from packaging.requirements import Requirement

from course_utils.files import CourseError


def need(extra: str, what: str) -> None:
    """Refuse with a sentence unless all packages of an extra are installed; `""` means no extra."""
    missing = [name for name in _required(extra) if not _is_installed(name)]
    if missing:
        place = f"./classroom[{extra}]" if extra else "./classroom"
        raise CourseError(
            f"{what} {', '.join(missing)}. In the course folder, `python3 bootstrap.py dev` "
            f"installs all that instructors need, and `pip install -e '{place}'` just this."
        )


def _required(extra: str) -> list[str]:
    """The packages that the installed project declares for an extra."""
    declared = map(Requirement, metadata.requires("course-classroom") or [])
    return [wanted.name for wanted in declared if _extra_of(wanted) == extra]


def _extra_of(wanted: Requirement) -> str:
    known = metadata.metadata("course-classroom").get_all("Provides-Extra") or []
    if wanted.marker is None:
        return ""
    return next((extra for extra in known if wanted.marker.evaluate({"extra": extra})), "")


def _is_installed(name: str) -> bool:
    try:
        metadata.version(name)
    except metadata.PackageNotFoundError:
        return False
    return True
