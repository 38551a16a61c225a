"""Handing out jobs to judges: what is due, what a judge is told, and what becomes of it."""

from __future__ import annotations

import contextlib
import json
import logging
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, ThreadPoolExecutor, wait
from dataclasses import asdict, dataclass, replace
from functools import partial
from hashlib import sha256

from selfcheck.feedback import Outcome
from selfcheck.files import CourseError
from selfcheck.units import listed

from ..extras import need
from . import fingerprint, judge_pool
from .asked import Solutions
from .enrolled import lateness
from .evidence import with_evidence
from .gradebook import Gradebook, not_attempted
from .jobs import Job
from .options import Options, listed_id, plain_name
from .records import SEVERAL, Graded, Result
from .roster import Line
from .submissions import Submission
from .submitted import Cell, Submitted, read_submitted

LOST_SCHEDULER = {"CancelledError", "FutureCancelledError", "FuturesCancelledError"}
LOST_SCHEDULER |= {"CommClosedError", "ClosedClientError"}
GONE = "The scheduler is gone; what was graded is kept. Start it, and run this again."
CHANGED = (
    "The course was changed while it graded ({}), so grading has stopped, and no grades were "
    "written. Finish the change, then run the same command again: it grades all by what is there."
)
OUTDATED = (
    "A worker of the cluster has another version of the course ({}). Update it, start it again, "
    "then run the same command; what is graded is kept."
)
KNOWN_BEFORE = ("digest", "content", "late", "attempt", "number", "platform")
AHEAD = 3  # jobs handed out for each one at work: none waits, and memory stays flat


class SchedulerGone(CourseError):
    """The scheduler of the cluster does not answer any more."""


@contextlib.contextmanager
def executor(options: Options) -> Iterator[Executor]:
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

    logging.getLogger("distributed").setLevel(logging.CRITICAL)  # what matters is said by us
    try:
        client = Client(address, timeout=20)
    except (OSError, ValueError) as error:
        raise CourseError(f"There is no Dask scheduler at {address}: {error}.") from None
    with client:
        yield client


def _submit(executor: Executor, job: Job, options: Options, files: Mapping[str, str]) -> Future:
    otherwise = CHANGED if options.scheduler is None else OUTDATED
    told = dict(vars(job)), options.sandboxed, dict(files), otherwise
    return executor.submit(judge_pool.judged, *told)


def _seed(secret: str, unit: str) -> str:
    """What all seeds in a unit begin with: the same for everybody, and at every regrade."""
    return sha256(json.dumps([secret, unit]).encode()).hexdigest()


def _outcome(
    future: Future,
    blank: Graded,
    submitted: Submitted,
    given: Mapping[str, str],
    is_anothers: Callable[[str], bool],
) -> tuple[Graded, Sequence[dict]]:
    try:
        answer = future.result()
    except judge_pool.LostJudge as problem:  # not final: the next run tries again
        return _problem(replace(blank, digest=""), str(problem)), []
    except CourseError:
        raise
    except Exception as error:  # what a cluster raises has classes of its own
        if type(error).__name__ in LOST_SCHEDULER:
            raise SchedulerGone(GONE) from None
        if type(error).__name__ != "KilledWorker":
            raise
        return _problem(replace(blank, digest=""), "several workers were lost over it."), []
    graded = Graded.from_dict(answer["graded"])
    for other, results in answer.get("with other ids", {}).items():
        if not is_anothers(other):
            graded = _with_other_id(graded, other, results)
    known = {n: getattr(blank, n) for n in KNOWN_BEFORE}
    if answer.get("is_open"):  # something of ours went wrong: not final, the next run tries again
        known["digest"] = ""
    notes, by_hand = (*blank.notes, *graded.notes), (*blank.by_hand, *graded.by_hand)
    results = tuple(with_evidence(r, submitted, given.get(r.name, "")) for r in graded.results)
    return replace(graded, **known, notes=notes, by_hand=by_hand, results=results), answer["story"]


def _with_other_id(graded: Graded, written: str, others: Mapping[str, dict]) -> Graded:
    """Answers for the numbers of an id that was written count, where that is nobody else's."""
    results, counted = [], []
    for result in graded.results:
        other = Result.from_dict(others[result.name]) if result.name in others else result
        if other.earned > result.earned:
            told = (
                f"It counts with the numbers of the id {written}; with those of "
                f"{graded.student_id} it earns {result.earned}."
            )
            other = replace(other, by_hand=(*other.by_hand, told))
            counted.append(result.name)
        results.append(other if other.earned > result.earned else result)
    note = f"For {', '.join(counted)} the numbers of id {written} count, with which it earns more."
    notes = (*graded.notes, note) if counted else graded.notes
    return replace(graded, results=tuple(results), notes=notes)


@dataclass(frozen=True)
class Entry:
    """A submission that may be graded: all attempts that count, and what is known besides."""

    submission: Submission
    attempts: tuple[Submission, ...]
    digest: str
    content: str
    late: float | None
    by_hand: tuple[str, ...]
    only: tuple[str, ...] = ()  # of what is graded already, judge these exercises again


class Grader:
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
        self._files: dict[str, dict[str, str]] = {}  # that each unit's grades depend on
        self._owners: dict[str, set[str]] | None = None  # whose each id is
        self._began = time.time_ns()  # no judge has read anything before
        self._protection: dict[str, str] = {}  # of units whose solution was judged in this run

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
            fingerprint.of_files(self.files(submission.unit)),
            self.solutions.asked(submission.unit),
            self._ids(submission),
            asdict(self.options.limits),
            *submission.partners,
        ]
        digest = sha256(json.dumps(parts).encode()).hexdigest()
        if submission.lacks:
            by_hand = (submission.lacks, *by_hand)
        if submission.doubt:
            by_hand = (f"{SEVERAL} {submission.doubt}", *by_hand)
        if self.options.ids is not None and listed_id(submission, self.options) is None:
            by_hand += ("The file of ids has none for this student; the notebook's own held.",)
        return Entry(submission, attempts, digest, contents[-1], late, by_hand)

    def files(self, unit: str) -> dict[str, str]:
        """The files that grades of a unit depend on, with their digests; the solution tells them.

        What an earlier run noted holds as long as all of these files are as they were.
        """
        if unit not in self._files:
            noted = self.book.kept_data(f"files {unit}")
            if noted and fingerprint.digests(noted) == noted:
                self._files[unit] = noted
            else:
                self.prove(unit)
        return self._files[unit]

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
        partners = [replace(submission, student=name) for name in submission.partners]
        if line := self.lines.get(submission.student):
            others = [self.lines[s.student] for s in partners if s.student in self.lines]
            own = {own for one in others for own in (one.id, *one.own_ids) if own}
            return [line.id or None, sorted(own | line.own_ids)]
        theirs = [listed_id(partner, self.options) for partner in partners]
        return [listed_id(submission, self.options), [own for own in theirs if own]]

    def _is_anothers(self, student: str, written: str) -> bool:
        """Is this id another student's, by the roster or the file of ids?"""
        if self._owners is None:
            self._owners = defaultdict(set)
            for line in self.lines.values():
                for own in (line.id, *line.own_ids):
                    self._owners[own].add(line.key)
            for name, own in (self.options.ids or {}).items():
                self._owners[own].add(name)
        return bool(self._owners.get(written, set()) - {student, plain_name(student)})

    # -- doing it -------------------------------------------------------------------------------

    def graded(self, todo: Sequence[Entry]) -> Iterator[tuple[Graded, Sequence[dict]]]:
        """Grades as they come in; only a few jobs are handed out ahead."""
        many = self.options.jobs if self.options.scheduler is None else 16
        waiting = ((entry, attempt) for entry in todo for attempt in entry.attempts)
        running: dict[Future, tuple[Entry, Graded, Submitted]] = {}
        done: dict[int, list[tuple[Graded, Sequence[dict]]]] = {}
        while True:
            finished: list[tuple[Entry, tuple[Graded, Sequence[dict]]]] = []
            while len(running) < AHEAD * many and (following := next(waiting, None)):
                entry, attempt = following
                blank = self._blank(entry, attempt)
                try:
                    submitted = read_submitted(attempt.data())
                except CourseError as problem:
                    finished.append((entry, (_problem(blank, str(problem)), [])))
                    continue
                job = self._job(attempt, submitted.cells, entry.only)
                future = _submit(self.executor, job, self.options, self.files(job.unit))
                running[future] = (entry, blank, submitted)
            if not running and not finished:
                return
            if not finished:
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    entry, blank, submitted = running.pop(future)
                    given = self.solutions.stubs(blank.unit)
                    is_anothers = partial(self._is_anothers, blank.student)
                    done_now = _outcome(future, blank, submitted, given, is_anothers)
                    finished.append((entry, done_now))
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
            seed=_seed(self.options.secret, submission.unit),
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
            number=attempt.number,
            platform=attempt.platform,
        )

    def prove(self, unit: str) -> str:
        """The solution has to earn all points here; returns what protects this machine."""
        if unit in self._protection:
            return self._protection[unit]
        submission = Submission("the solution", unit, f"solutions/{unit}.ipynb")
        job = replace(self._job(submission, self.solutions.cells(unit)), verbose=False)
        job = replace(job, student_id=None, own_ids=[], is_solution=True)
        proof = _submit(self.executor, job, self.options, {})
        if self.options.scheduler is None:  # the other judges begin with it too, to be warm
            for _ in range(self.options.jobs - 1):
                _submit(self.executor, replace(job, is_solution=False), self.options, {})
        try:
            answer = proof.result()
        except judge_pool.LostJudge as problem:
            raise CourseError(
                f"The solution of {unit} could not be judged, so nobody was graded: {problem}"
            ) from None
        except Exception as error:
            if type(error).__name__ in LOST_SCHEDULER:
                raise SchedulerGone(GONE) from None
            raise
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
        self._files[unit] = fingerprint.digests(answer.get("read", []))
        if fresh := fingerprint.changed_since(self._began, self._files[unit]):
            raise CourseError(CHANGED.format(", ".join(fresh[:3])))
        self.book.keep(f"files {unit}", json.dumps(self._files[unit]).encode())
        self._protection[unit] = str(answer.get("protection", ""))
        return self._protection[unit]


def _other(name: str, one: Mapping[str, str], other: Mapping[str, str]) -> bool:
    return one.get(name) != other.get(name)


def _renamed(kept: Result, again: Result | None) -> Result:
    """The result with the mistakes that are known of it now."""
    if again is None or (again.outcome, again.earned) != (kept.outcome, kept.earned):
        return kept
    return replace(kept, mistakes=again.mistakes, signatures=again.signatures)


def _content(submission: Submission) -> str:
    """A digest of the file; where it cannot be read, why."""
    if submission.content and not submission.problem:
        return submission.content
    try:
        return sha256(submission.data()).hexdigest()
    except CourseError as problem:
        return str(problem)


def _merged(before: tuple[str, ...], now: tuple[str, ...]) -> tuple[str, ...]:
    """Reasons of grading, with those that do not come from it brought up to date."""
    known = ("It is marked as late", "The file of ids", SEVERAL)
    return (*now, *(reason for reason in before if not reason.startswith(known)))


def _best(outcomes: Sequence[tuple[Graded, Sequence[dict]]]) -> tuple[Graded, Sequence[dict]]:
    """The attempt with the most points; of equals the latest."""
    return max(outcomes, key=lambda o: (not o[0].problem, o[0].earned, o[0].attempt))


def _problem(blank: Graded, problem: str) -> Graded:
    """The grade of a submission that cannot be graded: nothing attempted, and why."""
    results = not_attempted(blank.unit, f"Nothing could be graded: {problem}")
    return replace(blank, results=results, problem=f"{problem[:1].upper()}{problem[1:]}")
