"""Grading a class: who is still to be graded, by whom, and what became of it.

Every finished submission is in the gradebook at once, so a run can be stopped at any moment and
started again: what is there and unchanged is not graded twice.
"""

from __future__ import annotations

import contextlib
import csv
import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from dataclasses import asdict, dataclass, field, replace
from hashlib import sha256
from pathlib import Path

from selfcheck.feedback import Outcome
from selfcheck.files import CourseError
from selfcheck.record import record
from selfcheck.units import listed

from ..extras import need
from ..roles import Ours, Role, called_check, role
from ..solutions import Solution, asked, solution_paths, solution_to_run
from . import copies, fingerprint, judge_pool
from .assembly import Cell, submitted_cells
from .bubblewrap import require_bubblewrap
from .enrolled import before_grading, enrolled, lateness
from .gradebook import NAME, Gradebook
from .jobs import Job, Limits
from .records import Graded, Result, any_signed
from .roster import Line, Roster, kept_roster
from .settings import Settings, read_text
from .submissions import Submission, find

AHEAD = 3  # jobs handed out for each one at work: none waits, and memory stays flat


@record()
class Options:
    """How a class is graded."""

    unit: str | None = None
    student: str | None = None  # this one alone, also if nothing changed
    jobs: int = 1
    scheduler: str | None = None
    walled: bool = True
    verbose: bool = False
    ids: dict[str, str] | None = None
    roster: Roster | None = None
    layout: str | None = None
    settings: Settings = field(default_factory=Settings)
    limits: Limits = field(default_factory=Limits)
    secret: str = ""  # the gradebook's: seeds are made from it


@record()
class Done:
    """One more submission graded: its grade, its story if wanted, and how far we are."""

    graded: Graded
    story: Sequence[dict]
    number: int
    of: int
    seconds: float


@dataclass
class Run:
    """What a run came to."""

    graded: int = 0
    unchanged: int = 0
    unplaced: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()
    walls: str = ""


def grade(
    root: Path,
    source: Path,
    folder: Path,
    options: Options,
    tell: Callable[[Done], None],
    announce: Callable[[str], None] = lambda line: None,
) -> Run:
    """Grade what is new or changed in `source` into the gradebook in `folder`.

    `announce` hears before anything runs how names were read, what was not placed, who is missing.
    """
    solutions = Solutions(root)
    options = _with_kept(options, folder)
    class_ = enrolled(
        find(source, solutions.exercise_names(), options.unit, options.layout), options.roster
    )
    wanted = _wanted(class_.submissions, options)
    if options.student is None:
        for line in (*before_grading(class_), *_without_id(wanted, options)):
            announce(line)
    if options.walled and options.scheduler is None:
        require_bubblewrap()
    with Gradebook(folder / NAME) as book, _executor(options) as executor:
        _keep(book, options)
        for old, new in class_.renamed.items():
            book.rename(old, new)
        run = Run(unplaced=class_.unplaced, missing=class_.missing)
        options = replace(options, secret=book.secret())
        grading = _Grading(book, solutions, executor, options, class_.lines)
        todo = [entry for entry in map(grading.due, wanted) if entry is not None]
        run.unchanged = len(wanted) - len(todo)
        if options.scheduler is None:
            judge_pool.begin(options.walled, min(options.jobs, len(todo)))
        for unit in sorted({entry.submission.unit for entry in todo}):
            run.walls = grading.prove(unit)
        start = time.monotonic()
        for graded, story in grading.graded(todo):
            book.save(graded)
            run.graded += 1
            tell(Done(graded, story, run.graded, len(todo), time.monotonic() - start))
        if run.walls:
            book.keep("walls", run.walls.encode())
        if options.student is None:
            run.gone = _note_gone(book, class_.submissions, options)
        for unit in {submission.unit for submission in wanted}:
            _note_copies(book, unit, class_.lines)
            _note_families(book, unit)
    return run


def _with_kept(options: Options, folder: Path) -> Options:
    """The options, with the roster and the rules of an earlier run where none are given."""
    if not (folder / NAME).exists():
        return options
    with Gradebook(folder / NAME) as book:
        roster, settings = options.roster, options.settings
        if roster is None:
            roster = kept_roster(book)
        if not settings.text and (kept := book.kept("settings")):
            given, settings = settings, read_text(kept.decode())
            if given.late is not None:
                settings = replace(settings, late=given.late)
            if given.attempt is not None:
                settings = replace(settings, attempt=given.attempt)
        if settings.attempt is None:
            settings = replace(settings, attempt=book.kept("attempt").decode() or None)
    return replace(options, roster=roster, settings=settings)


def _keep(book: Gradebook, options: Options) -> None:
    """What `course report` and later runs have to know."""
    settings, roster = options.settings, options.roster
    kept = {"late": settings.late, "attempt": settings.attempt, "without": settings.without}
    if settings.text:
        kept["settings"] = settings.text
    if settings.columns:
        kept["columns"] = json.dumps(dict(settings.columns))
    for name, text in kept.items():
        if text is not None:
            book.keep(name, text.encode())
    if roster is not None:
        book.keep("roster", roster.data)
        book.keep("roster name", roster.name.encode())
        book.keep("roster id", (settings.id_column or "").encode())


def _without_id(submissions: Sequence[Submission], options: Options) -> list[str]:
    if options.ids is None:
        return []
    missing = sorted({s.student for s in submissions if _listed(s, options) is None})
    return [f"no id in the file of ids: {name}" for name in missing]


def _note_gone(
    book: Gradebook, submissions: Sequence[Submission], options: Options
) -> tuple[str, ...]:
    """Those whose file is no longer there keep their grade, and are listed."""
    here = {(s.student, s.unit) for s in submissions}
    units = {s.unit for s in submissions} if options.unit is None else {options.unit}
    gone = []
    for graded in (g for unit in sorted(units) for g in book.all(unit)):
        is_gone = bool(graded.file) and (graded.student, graded.unit) not in here
        if is_gone:
            gone.append(f"{graded.student}, {graded.unit}")
        if is_gone != graded.is_gone:
            book.save(replace(graded, is_gone=is_gone))
    return tuple(gone)


def _note_copies(book: Gradebook, unit: str, lines: Mapping[str, Line]) -> None:
    """Files, answers and ids that several have: a person should ask why."""
    ids = {own: line.key for line in lines.values() for own in line.own_ids}
    for graded in copies.noted(book.all(unit), ids):
        book.save(graded)


def _note_families(book: Gradebook, unit: str) -> None:
    """Keep the names of families of wrong answers; where none was signed, there are none."""
    if any_signed(book.all(unit)):
        from .clusters import keep_families  # with NumPy and the checks

        keep_families(book, unit)


def _wanted(submissions: Sequence[Submission], options: Options) -> list[Submission]:
    if options.student is None:
        return list(submissions)
    line = options.roster.line_named(options.student) if options.roster else None
    name = line.key if line else options.student
    wanted = [s for s in submissions if s.student == name]
    if not wanted:
        names = ", ".join(sorted({s.student for s in submissions})[:10])
        raise CourseError(f"There is no submission of {options.student}; there are {names} …")
    return wanted


class _Names(Mapping[str, list[str]]):
    """The names of the exercises of units, read when they are needed."""

    def __init__(self, units: Iterable[str]) -> None:
        self._units = list(units)

    def __getitem__(self, unit: str) -> list[str]:
        return [e.name for e in listed(unit)]

    def __iter__(self) -> Iterator[str]:
        return iter(self._units)

    def __len__(self) -> int:
        return len(self._units)


class Solutions:
    """The instructor's notebooks: what is asked in each unit."""

    def __init__(self, root: Path) -> None:
        self._paths = {path.stem: path for path in solution_paths(root)}
        self._asked: dict[str, list[Ours]] = {}
        self._read: dict[str, Solution] = {}
        self._root = root
        self._lecture_cells: dict[str, set[str]] | None = None

    def exercise_names(self) -> Mapping[str, list[str]]:
        """The names of the exercises of each unit."""
        return _Names(self._paths)

    def cells(self, unit: str) -> list[Cell]:
        """The code cells of a unit's solution."""
        cells = self._solution(unit).notebook.cells
        kept = [cell for cell in cells if role(cell) not in (Role.TEXT, Role.INSTRUCTORS)]
        return [Cell(cell.id, cell.source) for cell in kept]

    def asked(self, unit: str) -> list[Ours]:
        """The same without the answers: all that a submission is run with."""
        if unit not in self._asked:
            self._asked[unit] = asked(self._solution(unit))
        return self._asked[unit]

    def _solution(self, unit: str) -> Solution:
        if unit not in self._read:
            self._read[unit] = solution_to_run(self._paths[unit])
        return self._read[unit]

    def refuse_lecture(self, unit: str, cells: Sequence[Cell]) -> None:
        """A sentence if this is a lecture, handed in by mistake."""
        answers = {cell.id for cell in self.asked(unit) if cell.role == Role.ANSWER}
        if answers & {cell.id for cell in cells}:
            return
        names = set(self.exercise_names()[unit])
        calls = {check.exercise for cell in cells if (check := called_check(cell.source))}
        if calls & names:
            return
        sources = {cell.source.strip() for cell in cells} - {""}
        for stem, lecture in self._lectures().items():
            if sources and 2 * len(sources & lecture) > len(sources):
                raise CourseError(f"this is the lecture {stem}, not the exercises.")

    def _lectures(self) -> dict[str, set[str]]:
        """The sources of the code cells of all lectures."""
        if self._lecture_cells is None:
            self._lecture_cells = {}
            for path in sorted((self._root / "notebooks").glob("*.ipynb")):
                with contextlib.suppress(CourseError):
                    cells = submitted_cells(path.read_bytes())
                    self._lecture_cells[path.stem] = {cell.source.strip() for cell in cells}
        return self._lecture_cells


def _listed(submission: Submission, options: Options) -> str | None:
    """The student's id in the file of ids."""
    return (options.ids or {}).get(_plain(submission.student))


def _plain(name: str) -> str:
    return " ".join(name.casefold().split())


def read_ids(path: Path) -> dict[str, str]:
    """The true ids of the students: a CSV file with a line `student,id` for each."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = [row for row in csv.reader(file) if row]
    short = next((number for number, row in enumerate(rows, 1) if len(row) < 2), None)
    if short is not None:
        raise CourseError(f"{path}, line {short}: there should be a student and an id.")
    return {_plain(row[0]): row[1].strip() for row in rows}


# -- handing out jobs -----------------------------------------------------------------------------


@contextlib.contextmanager
def _executor(options: Options) -> Iterator[Executor]:
    """Threads that wait for judges on this machine, or the workers of a Dask cluster."""
    if options.scheduler is None:
        executor = ThreadPoolExecutor(options.jobs)
        try:
            yield executor
        finally:  # also after Ctrl-C: none is begun, those at work are stopped, not waited for
            executor.shutdown(wait=False, cancel_futures=True)
            judge_pool.close_all()
            executor.shutdown(wait=True)
        return
    with _cluster(options.scheduler) as client:
        try:
            yield client.get_executor(pure=False)
        finally:
            with contextlib.suppress(Exception):  # a worker that is gone has no judges any more
                client.run(judge_pool.close_all)


@contextlib.contextmanager
def _cluster(address: str) -> Iterator:
    need("cluster", "A Dask cluster needs")
    from distributed import Client

    try:
        client = Client(address, timeout=20)
    except (OSError, ValueError) as error:
        raise CourseError(f"There is no Dask scheduler at {address}: {error}.") from None
    with client:
        yield client


def _submit(executor: Executor, job: Job, options: Options) -> Future:
    code = fingerprint.of_all(job.unit)
    return executor.submit(judge_pool.judged, dict(vars(job)), options.walled, code)


def _seed(secret: str, student: str, unit: str) -> str:
    """What a student's seeds in a unit begin with: the same at every regrade; "" is the class."""
    whose = json.dumps([secret, student, unit])
    return sha256(whose.encode()).hexdigest()


def _outcome(future: Future, blank: Graded) -> tuple[Graded, Sequence[dict]]:
    try:
        answer = future.result()
    except judge_pool.LostJudge as problem:  # not final: the next run tries again
        return _problem(replace(blank, digest=""), str(problem)), []
    except CourseError:
        raise
    except Exception as error:  # what a cluster raises has classes of its own
        if type(error).__name__ != "KilledWorker":
            raise
        return _problem(replace(blank, digest=""), "several workers were lost over it."), []
    graded = Graded.from_dict(answer["graded"])
    known = {n: getattr(blank, n) for n in ("digest", "content", "late", "attempt")}
    if answer.get("is_open"):  # something of ours went wrong: not final, the next run tries again
        known["digest"] = ""
    notes, by_hand = (*blank.notes, *graded.notes), (*blank.by_hand, *graded.by_hand)
    return replace(graded, **known, notes=notes, by_hand=by_hand), answer["story"]


@record()
class Entry:
    """A submission that may be graded: all attempts that count, and what is known besides."""

    submission: Submission
    attempts: tuple[Submission, ...]
    digest: str
    content: str
    late: float | None
    by_hand: tuple[str, ...]
    only: tuple[str, ...] = ()  # of what is graded already, judge these exercises again


class _Grading:
    """The class at work: which submissions are new, and their grades as they come in."""

    def __init__(
        self,
        book: Gradebook,
        solutions: Solutions,
        executor: Executor,
        options: Options,
        lines: Mapping[str, Line],
    ) -> None:
        self.book, self.solutions, self.executor = book, solutions, executor
        self.options, self.lines = options, lines

    # -- what is to be done ---------------------------------------------------------------------

    def entry(self, submission: Submission) -> Entry:
        """The submission with a digest that changes if and only if its grade might."""
        late, by_hand = lateness(
            submission, self.lines.get(submission.student), self.options.settings
        )
        attempts: tuple[Submission, ...] = (submission,)
        if self.options.settings.attempt == "best" and submission.earlier:
            attempts = (*submission.earlier, submission)
        contents = [_content(attempt) for attempt in attempts]
        parts = [
            contents if len(contents) > 1 else contents[0],
            fingerprint.of_code(submission.unit),
            self.solutions.asked(submission.unit),
            self._ids(submission),
            asdict(self.options.limits),
        ]
        digest = sha256(json.dumps(parts).encode()).hexdigest()
        if self.options.ids is not None and _listed(submission, self.options) is None:
            by_hand += ("The file of ids has none for this student; the notebook's own held.",)
        return Entry(submission, attempts, digest, contents[-1], late, by_hand)

    def due(self, submission: Submission) -> Entry | None:
        """What is to be graded of it; if nothing is, what is known besides is brought up to date.

        Where only mistakes were named since, only wrong answers of their exercises are.
        """
        entry = self.entry(submission)
        if self.options.student is not None:
            return entry
        if self.book.digest_of(submission.student, submission.unit) != entry.digest:
            return entry
        kept = self.book.get(submission.student, submission.unit)
        if kept is None:
            return entry
        named = fingerprint.of_mistakes(submission.unit)
        others = {name for name in {*named, *kept.mistakes} if _other(name, named, kept.mistakes)}
        wrong = {r.name for r in kept.results if r.outcome == Outcome.WRONG}
        if again := tuple(sorted(others & wrong)):
            of = [attempt for attempt in entry.attempts if attempt.file == kept.file]
            return replace(entry, attempts=tuple(of), only=again) if of else entry
        now = replace(kept, late=entry.late, by_hand=_merged(kept.by_hand, entry.by_hand))
        now = replace(now, mistakes=named)
        if now != kept:
            self.book.save(now)
        return None

    def _ids(self, submission: Submission) -> list:
        """The true id, and all that the student may have written for it."""
        if line := self.lines.get(submission.student):
            return [line.id or None, sorted(line.own_ids)]
        return [_listed(submission, self.options), []]

    # -- doing it -------------------------------------------------------------------------------

    def graded(self, todo: Sequence[Entry]) -> Iterator[tuple[Graded, Sequence[dict]]]:
        """Grades as they come in; only a few jobs are handed out ahead."""
        many = self.options.jobs if self.options.scheduler is None else 16
        waiting = ((entry, attempt) for entry in todo for attempt in entry.attempts)
        running: dict[Future, tuple[Entry, Graded]] = {}
        done: dict[int, list[tuple[Graded, Sequence[dict]]]] = {}
        while True:
            finished: list[tuple[Entry, tuple[Graded, Sequence[dict]]]] = []
            while len(running) < AHEAD * many and (following := next(waiting, None)):
                entry, attempt = following
                blank = self._blank(entry, attempt)
                try:
                    cells = self._cells(attempt)
                except CourseError as problem:
                    finished.append((entry, (_problem(blank, str(problem)), [])))
                    continue
                job = self._job(attempt, cells, entry.only)
                running[_submit(self.executor, job, self.options)] = (entry, blank)
            if not running and not finished:
                return
            if not finished:
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    entry, blank = running.pop(future)
                    finished.append((entry, _outcome(future, blank)))
            for entry, outcome in finished:
                outcomes = [*done.pop(id(entry), []), outcome]
                if len(outcomes) < len(entry.attempts):
                    done[id(entry)] = outcomes
                else:
                    graded, story = _best(outcomes)
                    yield self._completed(graded, entry.only), story

    def _completed(self, graded: Graded, only: Sequence[str]) -> Graded:
        """The grade with what was known of mistakes; where some exercises alone were judged again,
        all that is kept, with the mistakes that have a name now. Points never change by a name."""
        named = fingerprint.of_mistakes(graded.unit)
        kept = self.book.get(graded.student, graded.unit) if only else None
        if kept is None:
            return replace(graded, mistakes=named)
        if graded.problem or not graded.digest:  # a fault of ours: the next run tries again
            return kept
        again = {result.name: result for result in graded.results}
        results = tuple(_renamed(result, again.get(result.name)) for result in kept.results)
        return replace(kept, results=results, mistakes=named)

    def _cells(self, submission: Submission) -> list[Cell]:
        cells = submitted_cells(submission.data())
        self.solutions.refuse_lecture(submission.unit, cells)
        return cells

    def _job(
        self, submission: Submission, cells: Sequence[Cell], only: tuple[str, ...] = ()
    ) -> Job:
        true_id, own_ids = self._ids(submission)
        return Job(
            student=submission.student,
            unit=submission.unit,
            file=submission.file,
            digest="",
            solution=[list(cell) for cell in self.solutions.asked(submission.unit)],
            cells=[list(cell) for cell in cells],
            student_id=true_id,
            own_ids=own_ids,
            limits=asdict(self.options.limits),
            verbose=self.options.verbose,
            seed=_seed(self.options.secret, submission.student, submission.unit),
            class_seed=_seed(self.options.secret, "", submission.unit),
            only=only,
        )

    def _blank(self, entry: Entry, attempt: Submission) -> Graded:
        """The grade of somebody of whom nothing is known yet."""
        notes = attempt.notes
        if len(entry.attempts) > 1:
            notes = (f"Of {len(entry.attempts)} attempts the best counts: {attempt.file}.",)
        return Graded(
            student=attempt.student,
            unit=attempt.unit,
            file=attempt.file,
            digest=entry.digest,
            notes=notes,
            by_hand=entry.by_hand,
            content=_content(attempt),
            late=entry.late,
            attempt=attempt.attempt,
        )

    def prove(self, unit: str) -> str:
        """The unit's own solution has to earn all points here; returns which walls there are."""
        submission = Submission("the solution", unit, f"solutions/{unit}.ipynb")
        job = replace(self._job(submission, self.solutions.cells(unit)), verbose=False)
        job = replace(job, student_id=None, own_ids=[], is_solution=True)
        answer = _submit(self.executor, job, self.options).result()
        graded = Graded.from_dict(answer["graded"])
        results = {result.name: result for result in graded.results}
        for exercise in listed(unit):
            result = results.get(exercise.name)
            if result is None or result.earned < exercise.points:
                why = repr(result.feedback) if result else f"{exercise.name} is not judged."
                raise CourseError(
                    f"The solution of {unit} does not earn all points here, so nobody was graded: "
                    f"{why}"
                )
        self.book.keep(f"reference {unit}", json.dumps(answer.get("references", {})).encode())
        return str(answer.get("walls", ""))


def _other(name: str, one: Mapping[str, str], other: Mapping[str, str]) -> bool:
    return one.get(name) != other.get(name)


def _renamed(kept: Result, again: Result | None) -> Result:
    """The result with the mistakes that are known of it now."""
    if again is None or (again.outcome, again.earned) != (kept.outcome, kept.earned):
        return kept
    return replace(kept, mistakes=again.mistakes, signatures=again.signatures)


def _content(submission: Submission) -> str:
    """A digest of the file; where it cannot be read, why."""
    try:
        return sha256(submission.data()).hexdigest()
    except CourseError as problem:
        return str(problem)


def _merged(before: tuple[str, ...], now: tuple[str, ...]) -> tuple[str, ...]:
    """Reasons of grading, with those that do not come from it brought up to date."""
    known = ("It is marked as late", "The file of ids")
    return (*now, *(reason for reason in before if not reason.startswith(known)))


def _best(outcomes: Sequence[tuple[Graded, Sequence[dict]]]) -> tuple[Graded, Sequence[dict]]:
    """The attempt with the most points; of equals the latest."""
    return max(outcomes, key=lambda o: (not o[0].problem, o[0].earned, o[0].attempt))


def _problem(blank: Graded, problem: str) -> Graded:
    """The grade of a submission that cannot be graded: nothing attempted, and why."""
    says = f"Nothing could be graded: {problem}"
    results = tuple(
        Result(e.number, e.name, str(Outcome.NOT_ATTEMPTED), 0, e.points, says)
        for e in listed(blank.unit)
    )
    return replace(blank, results=results, problem=f"{problem[:1].upper()}{problem[1:]}")
