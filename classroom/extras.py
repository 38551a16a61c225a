"""What is missing, and how to install it: commands ask before they begin.

    need("slides", "Slides need")

The names are those of the extras in pyproject.toml.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from selfcheck.files import CourseError

if TYPE_CHECKING:
    from packaging.requirements import Requirement


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
    from importlib import metadata

    wanted = metadata.requires("course-classroom") or []
    bare = [line for line in wanted if ";" not in line]  # always needed: nothing to work out
    if not extra and all("extra ==" in line for line in wanted if line not in bare):
        return [re.split(r"[^\w.-]", line)[0] for line in bare]
    from packaging.requirements import Requirement

    return [one.name for one in map(Requirement, wanted) if _extra_of(one) == extra]


def _extra_of(wanted: Requirement) -> str:
    from importlib import metadata

    known = metadata.metadata("course-classroom").get_all("Provides-Extra") or []
    if wanted.marker is None:
        return ""
    return next((extra for extra in known if wanted.marker.evaluate({"extra": extra})), "")


def _is_installed(name: str) -> bool:
    from importlib import metadata

    try:
        metadata.version(name)
    except metadata.PackageNotFoundError:
        return False
    return True
