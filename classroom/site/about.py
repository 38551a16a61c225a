"""What every page of a site says of its course."""

from __future__ import annotations

from dataclasses import dataclass

from selfcheck.course import Course


@dataclass(frozen=True)
class Facts:
    """What every page says of the course, and the name under which a browser keeps its work."""

    title: str
    promise: str
    license: str
    start: str
    package: str
    storage: str
    base: str
    example: str

    @classmethod
    def of(cls, course: Course, base: str) -> Facts:
        """Those of a course that is served at this path. Two on one host never mix their work."""
        storage = f"{course.title} {base}"
        about = (course.title, course.promise, course.license, course.start, course.package)
        return cls(*about, storage, base, course.example)
