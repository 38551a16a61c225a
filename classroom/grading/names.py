"""Names of files as platforms and people make them: whose they are, as far as a name tells."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import PurePosixPath

from selfcheck.units import meant

Units = Mapping[str, Iterable[str]]
DAY = r"20\d\d[-_]?[01]\d[-_]?[0-3]\d"  # a number like 20457781 is a student's
TIME = r"(?:[T _-]*\d\d[-:.]?\d\d(?:[-:.]?\d\d)?)?(?!\d)"
COPY = r"[ck][oó]p(?:y|ie|i[ao]?|ij?a)|копи[яі]|コピー|副本|복사본"
AGAIN = re.compile(
    rf"(?:[-_ ](?P<number>\d{{1,3}})|[ _]?\((?:(?P<copy>\d{{1,3}})|[^()]*\b(?:{COPY})\b[^()]*"
    r"|(?P<aside>[^()]*))\)"
    rf"|[ _-]{DAY}|(?: -)?[ _-](?:{COPY}|final|checkpoint|new|fixed|solved|done|late"
    r"|submitted|v(?=\d))\d*)$",
    re.IGNORECASE,
)
BETWEEN = " _.\\-\u2013\u2014"  # a name and a unit; dashes of all lengths
AROUND = " _.-\u2013\u2014()[]"  # a name
COPY_OF = re.compile(
    rf"(?:(?<![^\W_])(?:{COPY})[\s_]+(?:of|v[ao]n|d[aei]|a[fv])|(?:^|(?<= - ))(?:{COPY}))"
    r"[\s_]+(?!\()",
    re.IGNORECASE,
)
NOTEBOOKS = (".ipynb", ".ipynb.txt", ".ipynb.json")  # as some browsers save them
COURSE_FOLDERS = {"exercises", "notebooks", "solutions"}
NOBODYS = COURSE_FOLDERS | {"selfcheck", "classroom"}
NO_OWNERS = re.compile(  # words that people put around the name of their own file
    r"(?:my|the|old|new|latest|last|final|first|second|copy|copies|original|fixed|done|clean|"
    r"solved|solutions?|answers?|drafts?|backup|bak|working|work|wip|try|test|attempt|version|v|"
    r"exercises?|sheet|homework|hw|assignment|submission|submitted|lecture|notebook|re|tmp|"
    r"completed?|corrected|updated?|edited|of|for|student(?![\W_]*\d)|untitled|template|[ab]"
    rf"|[\W_]|\d{{1,4}}(?!\d)|{DAY}{TIME})*+",  # longer numbers are ids
    re.IGNORECASE,
)
NO_STUDENTS = re.compile(  # folders of a class, of which none is a student
    rf"{DAY}|(?:(?:late|on[ _-]?time"
    r"|sections?|groups?|gruppen?|weeks?|class|labs?|tutorials?|batch|parts?"
    r"|inbound|working|downloads?|submi(?:ssions?|tted)|abgaben?|hand[ _-]?ins?|homeworks?|hw"
    r"|assignments?|exercises?|sheets?|files|autograded|feedback|source|release"
    r"|templates?|starter|solution)[\W_\d]*)+(?:(?<=[\W_])[a-h])?",
    re.IGNORECASE,
)
ONCE_MORE = re.compile(  # what follows the name of somebody who hands in again
    rf"[\W_]+(?:re[- _]?submi(?:ssion|t|tted)|late|v?\d|new|final|{COPY}"
    r"|retry|again|corrected)\W*$",
    re.IGNORECASE,
)
DATE = re.compile(rf"(?<!\d){DAY}{TIME}[ _-]+")
TOGETHER = re.compile(r"\s*[+&]\s*|[\s_]+(?:and|und|et)[\s_]+", re.IGNORECASE)
TEXT_ENTRY = r"(?:text|link)\.html"
# Each platform's names; a pattern for folders and zips, or for files, or for both.
PLATFORMS = {
    "Moodle": re.compile(
        r"(?P<student>.+)_(?P<id>\d+)_assignsubmission_[a-z]+_?(?P<file>.*)", re.I
    ),
    "nbgrader": re.compile(r"(?P<student>[^+]+)\+[^+]+\+(?P<when>[^+]+?)(?:\+[^+]*)?"),
    "Brightspace": re.compile(
        r"(?:(?P<id>\d+)-\d+ - )?(?P<student>.+?) - "
        r"(?P<when>(?(id)[^-]*\d{4}[^-]*?|[^-]*\d{4} \d{3,4} [AP]M))(?: - (?P<file>.+))?", re.I
    ),
    "Blackboard": re.compile(
        r"(?P<of>.*)_(?P<student>[^_]+)_attempt_(?P<when>\d{4}(?:-\d\d){5})"
        r"(?:_(?P<file>.+)|\.txt)?", re.I
    ),
    "Gradescope": re.compile(r"(?P<student>submission_(?P<id>\d{5,}))"),
    "Canvas": re.compile(
        r"(?P<student>.+?)(?P<late>_late)?_(?!20\d\d_[01]?\d_[0-3]?\d(?!\d))(?P<id>\d+)_"
        r"(?:question_\d+_)?"
        rf"(?:(?P<upload>\d+)_(?P<file>.+)|(?P<entry>{TEXT_ENTRY}))", re.I
    ),
    "Canvas, unpacked": re.compile(
        r"(?P<student>.+?)(?P<late>_late)?_(?P<id>\d+)_"
        r"(?P<more>(?P<upload>\d{4,})_(?P<file>.+))", re.I
    ),
    "Canvas, anonymous": re.compile(
        r"(?P<student>anon_[^_]{5})(?P<late>_LATE)?_(?P<upload>\d+)_(?P<file>.+)"
    ),
    "Google Classroom": re.compile(r"(?P<student>.+?) - (?P<file>.+)"),
}  # fmt: skip
OF_FOLDERS = ("Moodle", "nbgrader", "Brightspace", "Blackboard", "Gradescope", "Canvas, unpacked")
OF_FILES = ("Moodle", "Brightspace", "Blackboard", "Canvas, anonymous", "Canvas")
TIMES = (
    "%Y-%m-%d %H:%M:%S.%f %Z", "%Y-%m-%d %H:%M:%S %Z", "%Y-%m-%d-%H-%M-%S", "%b %d, %Y %I%M %p",
)  # fmt: skip


@dataclass(frozen=True)
class Owner:
    """Whose a file is, by the names that the platform made."""

    student: str = ""
    number: str = ""
    platform: str = ""
    is_late: bool = False
    named: str = ""  # the part of the name that says what it is
    upload: int = 0  # Canvas' number of the file: later ones are larger
    stamp: float = 0.0  # when the platform got it, where the name tells
    in_full: str = ""  # a longer name, where several may have this one


def is_notebook(name: str) -> bool:
    """Is it a notebook, by its name?"""
    return name.lower().endswith(NOTEBOOKS)


def split_name(name: str) -> tuple[str, str]:
    """The stem, without what stands around it in copies, and the ending of a file's name."""
    ending = next((e for e in NOTEBOOKS[::-1] if name.lower().endswith(e)), "")
    path = PurePosixPath(name)
    stem = name[: -len(ending)] if ending else path.stem.removesuffix(NOTEBOOKS[0])
    return COPY_OF.sub("", stem), NOTEBOOKS[0] if ending else path.suffix.lower()


def owner(name: str, units: Units, is_folder: bool) -> Owner:
    """Whose a file, a zip or a folder is by its name, as far as that tells."""
    stem, suffix = (name, "") if is_folder else split_name(name)
    is_zip = suffix == ".zip"
    for platform in OF_FOLDERS if is_folder else (*OF_FILES, *OF_FOLDERS * is_zip):
        found = PLATFORMS[platform].fullmatch(name if platform in OF_FILES else stem)
        if found and not _is_unit_number(found.groupdict().get("upload"), found, units):
            return _of_platform(platform, found)
    student, unit = flat(stem, units)
    if student:
        in_full = flat(stem, units, numbered=True)[0]
        return Owner(student, named=unit, in_full=in_full if in_full != student else "")
    if is_folder or is_zip:
        return Owner("" if stem.lower() in NOBODYS or unit_named(stem, units) else stem)
    found = PLATFORMS["Google Classroom"].fullmatch(stem)
    if found and not _has_unit(found["student"], units):
        in_full = _name_in(stem.rpartition(" - ")[0])
        in_full = in_full if in_full != found["student"] else ""
        return Owner(found["student"], named=found["file"], in_full=in_full)
    return Owner(named=name)


def _is_unit_number(upload: str | None, found: re.Match[str], units: Units) -> bool:
    """Is what looks like Canvas' number of the file that of a unit: `Li_Bo_204577_02_products`?"""
    rest = found.string[found.start("upload") :].lower() if upload else ""
    return any(rest.startswith(unit.lower()) for unit in units)


def members(name: str) -> tuple[str, ...]:
    """Those who are named by one name: `meyer_anna+schmidt_bob`, `Ada & Bob`, `ada and bob`."""
    parts = tuple(TOGETHER.split(name))
    if len(parts) > 1 and "," not in parts[-1]:  # `Ada, Bob and Cy`, not `Li, Ada and Xu, Bob`
        parts = tuple(filter(str.strip, ",".join(parts).split(",")))
    parts = tuple(part.strip(" _-") for part in parts)
    are_names = all(re.search(r"[^\W\d_]{2}", part) for part in parts) and "@" not in name
    return parts if are_names and len(set(parts)) > 1 else ()


def _of_platform(platform: str, found: re.Match[str]) -> Owner:
    about, platform = found.groupdict(), platform.partition(",")[0]
    student, number = about["student"].strip(), about.get("id") or ""
    if number and platform in ("Moodle", "Canvas"):
        student = f"{student}_{number}"
    named = about.get("file") or about.get("entry") or ""
    stamp = _time(about.get("when") or "")
    in_full = f"{student}_{number}" if platform == "Brightspace" and number else ""
    if more := about.get("more"):  # or is it a name that somebody made?
        in_full = f"{student}_{more}"
    if of := about.get("of"):  # is its end of the name, or of the assignment?
        in_full = f"{of.rpartition('_')[2]}_{student}"
    upload = int(about.get("upload") or 0)
    return Owner(student, number, platform, bool(about.get("late")), named, upload, stamp, in_full)


def _time(text: str) -> float:
    for form in TIMES:
        try:
            return datetime.strptime(text.strip(), form).replace(tzinfo=UTC).timestamp()
        except ValueError:
            continue
    return 0.0


def _plain(stem: str, numbered: bool = False) -> str:
    """A name without what stands around it in copies; `numbered` keeps a bare number at its end."""
    while (found := AGAIN.search(stem)) and not (numbered and found["number"]):
        if not NO_OWNERS.fullmatch(found["aside"] or ""):
            break
        stem = stem[: found.start()]
    return COPY_OF.sub("", stem).strip()


def flat(stem: str, units: Units, numbered: bool = False) -> tuple[str, str]:
    """`ada_01_sums`, `Ada - 01_sums` or `01_sums_ada` as ("ada", "01_sums")."""
    stem = _plain(stem, numbered)
    for unit in (unit for unit in units if unit.lower() in stem.lower()):
        copy = r"(?: \d{1,2}(?= - |_)| ?\(\d{1,3}\))?"  # `01_sums 1 - Ada`, as OneDrive counts
        for pattern in (
            rf"(?P<student>.+?)[{BETWEEN}]+{unit}",
            rf"{unit}{copy}[{BETWEEN}]+(?P<student>.+)",
        ):
            match = re.fullmatch(pattern, stem, re.I)
            student = _name_in(match["student"]) if match else ""
            if student and not _has_unit(student, units):
                return student, unit
    return "", ""


def _has_unit(name: str, units: Units) -> bool:
    return any(unit.lower() in name.lower() for unit in units)


def _name_in(text: str) -> str:
    """The name, without dates before it and words behind it: `Ada - hw` as `Ada`."""
    name = DATE.sub("", f"{text} ", count=1).strip(AROUND)
    while (shorter := name.rpartition(" - "))[0] and NO_OWNERS.fullmatch(shorter[2]):
        name = shorter[0].strip(AROUND)
    return name


def unit_named(stem: str, units: Units) -> str:
    """The unit by which a file is named; of a bare number, its content tells more."""
    names = [name for name in (stem, _plain(stem)) if not name.isdecimal()]
    return next(filter(None, (meant(name, units) for name in names)), "")


def name_within(name: str, is_folder: bool, units: Units) -> str:
    """Whom or what a name tells beside a unit, the course's folders and words around them."""
    stem = name.removesuffix(".zip") if is_folder else split_name(name)[0]
    found = owner(name, units, is_folder)
    who = "" if is_folder and not found.platform else found.in_full or found.student
    rest = stem
    for unit in units:
        rest = re.sub(re.escape(unit), " ", rest, flags=re.IGNORECASE)
    is_nobody = stem.lower() in NOBODYS or (not who and NO_STUDENTS.fullmatch(stem))
    if is_nobody or NO_OWNERS.fullmatch(who or rest) or unit_named(stem, units):
        return ""
    return who or _plain(stem, numbered=True)


def told_apart(names: Iterable[tuple[str, bool]], units: Units) -> Iterator[tuple[str, set[str]]]:
    """Platforms by whose names these files and folders belong to several, and those owners.

    The empty platform is that of people who write name and unit.
    """
    owners: dict[tuple[str, bool], dict[str, set[str]]] = {}
    for name, is_folder in names:
        who = owner(name, units, is_folder)
        by_unit = not who.platform and who.named in list(units)
        if who.student and (
            who.platform or (by_unit and not NO_OWNERS.fullmatch(who.in_full or who.student))
        ):  # one person may write a name on this sheet and a number on the next
            students = owners.setdefault((who.platform, who.student.isdecimal()), {})
            students.setdefault(who.student.casefold(), set()).add(who.in_full.casefold())
    for (platform, _), students in owners.items():
        found = {one for name, full in students.items() for one in namesakes(name, full) or {name}}
        if len(found) > 1:
            yield platform, found


def namesakes(name: str, in_full: Iterable[str]) -> set[str]:
    """What several of one name are called in full; nothing if somebody has that name alone."""
    found = set(in_full)
    return found if len(found) > 1 and not found & {"", name} else set()


GRADESCOPE_NAME = re.compile(r"^\s*-?\s*:(name|sid|email):\s*['\"]?(.*?)['\"]?\s*$")


def gradescope_names(text: str) -> dict[str, tuple[str, ...]]:
    """Who made each submission, from the list that Gradescope puts beside them."""
    names: dict[str, dict[str, str]] = {}  # of each, by the line where it begins
    submission = person = ""
    for number, line in enumerate(text.splitlines()):
        if found := re.match(r"(submission_\d+):", line):
            submission, person = found[1], ""
        elif submission and (about := GRADESCOPE_NAME.match(line)):
            person = f"{number:9}" if line.lstrip().startswith("-") or not person else person
            those = names.setdefault(submission, {})
            if about[2] and (about[1] == "email" or person not in those):
                those[person] = about[2]
    return {of: tuple(dict.fromkeys(those.values())) for of, those in names.items() if those}
