"""Grading a class: who is still to be graded, by whom, and what became of it.

Every finished submission is in the gradebook at once, so a run can be stopped at any moment and
started again: what is there and unchanged is not graded twice.
"""

from __future__ import annotations

import contextlib
import csv
import json
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from dataclasses import asdict, dataclass, field, replace
from hashlib import sha256
from pathlib import Path

from course_utils.exercise import Outcome
from course_utils.files import CourseError
from course_utils.units import declared

from ..notebooks import as_text
from ..roles import Ours
from ..solutions import asked, read_solution, solution_paths
from . import desks, fingerprint
from .assembly import Cell, submitted_cells
from .gradebook import NAME, Gradebook
from .judge import Job
from .records import Graded, Result
from .sandbox import Limits
from .submissions import Submission, find

SHARED = "is in the notebook of another student too."
AHEAD = 3  # jobs handed out for each one at work: none waits, and memory stays flat


@dataclass(frozen=True)
class Options:
    """How a class is graded."""

    unit: str | None = None
    student: str | None = None  # this one alone, also if nothing changed
    jobs: int = 1
    scheduler: str | None = None
    walled: bool = True
    verbose: bool = False
    ids: dict[str, str] | None = None
    limits: Limits = field(default_factory=Limits)


@dataclass(frozen=True)
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


def grade(
    root: Path, source: Path, folder: Path, options: Options, tell: Callable[[Done], None]
) -> Run:
    """Grade what is new or changed in `source` into the gradebook in `folder`."""
    solutions = Solutions(root)
    klass = find(source, solutions.exercise_names(), options.unit)
    with Gradebook(folder / NAME) as book, _executor(options) as executor:
        run = Run(unplaced=klass.unplaced)
        todo = []
        for submission in _wanted(klass.submissions, options):
            digest = _digest(submission, solutions, options)
            if (
                options.student is None
                and book.digest_of(submission.student, submission.unit) == digest
            ):
                run.unchanged += 1
            else:
                todo.append((submission, digest))
        for unit in sorted({submission.unit for submission, _ in todo}):
            _prove(unit, solutions, executor, options)
        start = time.monotonic()
        for graded, story in _graded(todo, solutions, executor, options):
            book.save(graded)
            run.graded += 1
            tell(Done(graded, story, run.graded, len(todo), time.monotonic() - start))
        for unit in {submission.unit for submission, _ in todo}:
            _note_shared_ids(book, unit)
    return run


def _note_shared_ids(book: Gradebook, unit: str) -> None:
    """Two students with one id have the same numbers: a person should ask why."""
    everyone = [graded for graded in book.all(unit) if graded.student_id is not None]
    counts = Counter(graded.student_id for graded in everyone)
    for graded in everyone:
        reasons = tuple(reason for reason in graded.by_hand if not reason.endswith(SHARED))
        if counts[graded.student_id] > 1:
            reasons += (f"The student id {graded.student_id} {SHARED}",)
        if reasons != graded.by_hand:
            book.save(replace(graded, by_hand=reasons))


def _wanted(submissions: Sequence[Submission], options: Options) -> list[Submission]:
    if options.student is None:
        return list(submissions)
    wanted = [s for s in submissions if s.student == options.student]
    if not wanted:
        names = ", ".join(sorted({s.student for s in submissions})[:10])
        raise CourseError(f"There is no submission of {options.student}; there are {names} …")
    return wanted


class Solutions:
    """The instructor's notebooks: what is asked in each unit."""

    def __init__(self, root: Path) -> None:
        self._paths = {path.stem: path for path in solution_paths(root)}
        self._asked: dict[str, list[Ours]] = {}

    def exercise_names(self) -> dict[str, list[str]]:
        """The names of the exercises of each unit."""
        return {unit: [e.name for e in declared(unit)] for unit in self._paths}

    def cells(self, unit: str) -> list[Cell]:
        """The code cells of a unit's solution."""
        notebook = read_solution(self._paths[unit]).notebook
        return submitted_cells(as_text(notebook).encode())

    def asked(self, unit: str) -> list[Ours]:
        """The same without the answers: all that a submission is run with."""
        if unit not in self._asked:
            self._asked[unit] = asked(read_solution(self._paths[unit]))
        return self._asked[unit]


def _digest(submission: Submission, solutions: Solutions, options: Options) -> str:
    """Changes if and only if the grade might."""
    try:
        content = sha256(submission.data()).hexdigest()
    except CourseError as problem:
        content = str(problem)
    parts = [
        content,
        fingerprint.of_code(submission.unit),
        solutions.asked(submission.unit),
        _id_of(submission, options),
        asdict(options.limits),
    ]
    return sha256(json.dumps(parts).encode()).hexdigest()


def _id_of(submission: Submission, options: Options) -> str | None:
    if options.ids is None:
        return None
    if submission.student not in options.ids:
        raise CourseError(f"The file of ids has none for {submission.student}.")
    return options.ids[submission.student]


def read_ids(path: Path) -> dict[str, str]:
    """The true ids of the students: a CSV file with a line `student,id` for each."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        rows = [row for row in csv.reader(file) if row]
    short = next((number for number, row in enumerate(rows, 1) if len(row) < 2), None)
    if short is not None:
        raise CourseError(f"{path}, line {short}: there should be a student and an id.")
    return {row[0].strip(): row[1].strip() for row in rows}


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
            desks.close_all()
            executor.shutdown(wait=True)
        return
    with _cluster(options.scheduler) as client:
        try:
            yield client.get_executor(pure=False)
        finally:
            with contextlib.suppress(Exception):  # a worker that is gone has no judges any more
                client.run(desks.close_all)


@contextlib.contextmanager
def _cluster(address: str) -> Iterator:
    try:
        from distributed import Client
    except ImportError:
        raise CourseError("A Dask cluster needs a package: pip install distributed.") from None
    try:
        client = Client(address, timeout=20)
    except (OSError, ValueError) as error:
        raise CourseError(f"There is no Dask scheduler at {address}: {error}.") from None
    with client:
        yield client


def _graded(
    todo: Sequence[tuple[Submission, str]],
    solutions: Solutions,
    executor: Executor,
    options: Options,
) -> Iterator[tuple[Graded, Sequence[dict]]]:
    """Grades as they come in; only a few jobs are handed out ahead."""
    waiting, ahead = iter(todo), AHEAD * (options.jobs if options.scheduler is None else 16)
    running: dict[Future, Graded] = {}
    while True:
        while len(running) < ahead and (following := next(waiting, None)):
            submission, digest = following
            blank = _blank(submission, digest)
            try:
                cells = submitted_cells(submission.data())
            except CourseError as problem:
                yield _problem(blank, str(problem)), []
                continue
            job = _job(submission, digest, cells, solutions, options)
            running[_submit(executor, job, options)] = blank
        if not running:
            return
        for future in wait(running, return_when=FIRST_COMPLETED).done:
            yield _outcome(future, running.pop(future))


def _submit(executor: Executor, job: Job, options: Options) -> Future:
    code = fingerprint.of_code(job.unit)
    return executor.submit(desks.judged, asdict(job), options.walled, code)


def _job(
    submission: Submission,
    digest: str,
    cells: Sequence[Cell],
    solutions: Solutions,
    options: Options,
) -> Job:
    return Job(
        student=submission.student,
        unit=submission.unit,
        file=submission.file,
        digest=digest,
        solution=[list(cell) for cell in solutions.asked(submission.unit)],
        cells=[list(cell) for cell in cells],
        student_id=_id_of(submission, options),
        limits=asdict(options.limits),
        verbose=options.verbose,
    )


def _outcome(future: Future, blank: Graded) -> tuple[Graded, Sequence[dict]]:
    try:
        answer = future.result()
    except desks.LostJudge as problem:  # not final: the next run tries again
        return _problem(replace(blank, digest=""), str(problem)), []
    except CourseError:
        raise
    except Exception as error:  # what a cluster raises has classes of its own
        if type(error).__name__ != "KilledWorker":
            raise
        return _problem(replace(blank, digest=""), "several workers were lost over it."), []
    graded = Graded.from_dict(answer["graded"])
    return replace(graded, notes=(*blank.notes, *graded.notes)), answer["story"]


def _blank(submission: Submission, digest: str) -> Graded:
    """The grade of somebody of whom nothing is known yet."""
    return Graded(
        student=submission.student,
        unit=submission.unit,
        file=submission.file,
        digest=digest,
        notes=submission.notes,
    )


def _problem(blank: Graded, problem: str) -> Graded:
    """The grade of a submission that cannot be graded: nothing attempted, and why."""
    says = f"Nothing could be graded: {problem}"
    results = tuple(
        Result(e.number, e.name, str(Outcome.NOT_ATTEMPTED), 0, e.points, says)
        for e in declared(blank.unit)
    )
    return replace(blank, results=results, problem=f"{problem[:1].upper()}{problem[1:]}")


def _prove(unit: str, solutions: Solutions, executor: Executor, options: Options) -> None:
    """The unit's own solution has to earn all points here, or nobody is graded by it."""
    submission = Submission("the solution", unit, f"solutions/{unit}.ipynb")
    cells = solutions.cells(unit)
    job = _job(submission, "", cells, solutions, replace(options, ids=None, verbose=False))
    graded = Graded.from_dict(_submit(executor, job, options).result()["graded"])
    results = {result.name: result for result in graded.results}
    for exercise in declared(unit):
        result = results.get(exercise.name)
        if result is None or result.earned < exercise.points:
            why = f"{exercise.name} is not judged." if result is None else f"{result.feedback!r}"
            raise CourseError(
                f"The solution of {unit} does not earn all points here, so nobody was graded: {why}"
            )
