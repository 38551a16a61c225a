"""What every page of a site says of its course, and of the class that it is for."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from selfcheck.course import Course
from selfcheck.sealed import DEADLINE, FULL, NEVER

from ..grading.settings import Settings

WHEN = {
    NEVER: "This class has no solutions here.",
    FULL: "A solution opens once its check has given all points.",
    DEADLINE: "Solutions come after the deadline.",
}
LEFT_OUT = {
    "transfer": "Exercises beyond the page do not count.",
    "essentials": "Only exercises beyond the page count.",
}


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
    rules: Settings | None = None  # of the class whose site it is
    address: str = ""  # of the first page, if it is known: it ends with a slash

    @classmethod
    def of(
        cls, course: Course, base: str, rules: Settings | None = None, address: str = ""
    ) -> Facts:
        """Those of a course that is served at this path. Two on one host never mix their work."""
        storage = f"{course.title} {base}"
        about = (course.title, course.promise, course.license, course.start, course.package)
        return cls(*about, storage, base, course.example, rules, address)

    @property
    def class_name(self) -> str:
        """What the class is called on its slides."""
        return self.rules.slides if self.rules else ""

    def due(self, stem: str) -> tuple[str, str] | None:
        """Until when a unit's sheet is handed in: for people, and for scripts."""
        moment = self.rules.deadlines.get(stem) if self.rules else None
        return None if moment is None else (_in_words(moment), moment.astimezone().isoformat())

    def told(self, stem: str) -> list[str]:
        """The rules of the class for a unit, a sentence each."""
        if self.rules is None:
            return []
        late = self.rules.late if stem in self.rules.deadlines else None
        lost = {None: "", "none": "Late work is taken without a deduction."}
        found = [
            lost.get(late, f"Late work loses {late} of its points."),
            WHEN.get(self.rules.solutions or NEVER, ""),
            LEFT_OUT.get(self.rules.without or "", ""),
        ]
        return [sentence for sentence in found if sentence]

    def counts(self, transfer: bool) -> bool:
        """Do exercises on the page, or those beyond it, count in this class?"""
        left_out = self.rules.without if self.rules else None
        return left_out != ("transfer" if transfer else "essentials")


def _in_words(moment: datetime) -> str:
    """`Monday, November 16, 2026, 23:59`."""
    return f"{moment:%A}, {moment:%B} {moment.day}, {moment.year}, {moment:%H:%M}"
