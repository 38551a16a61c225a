"""`course grade` as it looks in the terminal: progress, a line for whatever needs a person."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from selfcheck.files import CourseError
from selfcheck.units import find

from .enrolled import shortened
from .jobs import Limits
from .options import Options, read_ids
from .pipeline import Done, Run, grade, write_all
from .records import Graded, visible
from .roster import Roster
from .settings import NAME as SETTINGS
from .settings import LateRule, Settings, read_settings

UNPROTECTED = (
    "Without a sandbox, student code can read, change and send away whatever you can. "
    "Go on only with submissions that you trust."
)
WITHOUT_ID = (
    "notebooks with the student id 0: {}. They were checked with the numbers of 0, which is "
    "nobody's; with --roster or --ids each student has numbers of their own."
)


def grade_class(given: argparse.Namespace, root: Path) -> int:
    """Grade, write everything that comes out, and say what needs a look by hand."""
    settings = _settings(given, root)
    options = Options(
        unit=given.unit and find(given.unit),
        student=given.student,
        jobs=_at_least_one(given.jobs),
        scheduler=given.scheduler,
        sandboxed=not given.no_sandbox,
        verbose=given.verbose,
        ids=read_ids(given.ids) if given.ids else None,
        roster=Roster.read(given.roster, settings.id_column) if given.roster else None,
        layout=given.layout,
        settings=settings,
        limits=Limits(cell=given.cell_seconds, wall=6 * given.cell_seconds),
    )
    if not options.sandboxed:
        print(UNPROTECTED, file=sys.stderr)
    progress = Progress(options.verbose)
    run = grade(root, given.submissions, given.to, options, progress, _announce)
    progress.end()
    for line in run.changed:  # each of them: who posts grades has to know
        print(visible(f"points changed: {line}"))
    for line in shortened(run.several, "several students?"):
        print(visible(line))
    for line in write_all(given.to):
        print(line)
    for line in run.gone:
        print(visible(f"gone, and its grade is kept: {line}"))
    if run.without_id:
        print(WITHOUT_ID.format(run.without_id))
    if run.protection:
        print(f"Limits in force: {run.protection}")
    print(summary(run, given.to))
    return 0


def _announce(line: str) -> None:
    print(visible(line), flush=True)


def _settings(given: argparse.Namespace, root: Path) -> Settings:
    """What [class] in `course.toml` says, and the command on top of it."""
    named = given.settings
    settings = read_settings(named or root / SETTINGS, must_exist=named is not None)
    if given.late is not None:
        settings = replace(settings, late=LateRule.read(given.late).text)
    settings = replace(settings, groups="yes") if given.groups else settings
    return replace(settings, attempt=given.attempt) if given.attempt else settings


def summary(run: Run, folder: Path) -> str:
    """What the run came to, in one sentence or two."""
    kept = f"; {run.unchanged} were graded before and are unchanged" if run.unchanged else ""
    odd = f", {len(run.unplaced)} could not be placed" if run.unplaced else ""
    odd += f", {len(run.missing)} without a submission" if run.missing else ""
    odd += f", {len(run.gone)} are gone" if run.gone else ""
    odd += f"; {len(run.several)} may be of several students, see above" if run.several else ""
    odd += f"; the points of {len(run.changed)} changed, see above" if run.changed else ""
    return f"{run.graded} graded{kept}{odd}. Open {folder / 'report.html'}."


def _at_least_one(jobs: int | None) -> int:
    if jobs is not None and jobs < 1:
        raise CourseError("--jobs is at least 1.")
    return jobs or 1


class Progress:
    """A line that is written over in a terminal; elsewhere a line for every tenth."""

    def __init__(self, verbose: bool) -> None:
        self._verbose, self._live = verbose, sys.stdout.isatty() and not verbose

    def __call__(self, done: Done) -> None:
        if self._verbose:
            print(story(done.graded, done.story), flush=True)
        line = f"[{done.number}/{done.of}] {self._pace(done)}"
        if done.graded.problem:
            self._print(visible(f"{done.graded.student}: {done.graded.problem}"))
        if self._live:
            print(f"\r\x1b[K{line}", end="", flush=True)
        elif done.number * 10 // done.of > (done.number - 1) * 10 // done.of:
            print(line, flush=True)

    @staticmethod
    def _pace(done: Done) -> str:
        rate = done.number / max(done.seconds, 1e-9)
        left = (done.of - done.number) / rate
        return f"{rate:.1f} a second, {left:.0f} s left" if left else f"{rate:.1f} a second"

    def _print(self, line: str) -> None:
        print(f"\r\x1b[K{line}" if self._live else line, flush=True)

    def end(self) -> None:
        """Leave the line alone."""
        if self._live:
            print()


def story(graded: Graded, steps: Iterable[dict]) -> str:
    """What was run, what was seen, and why it earned what it earned."""
    lines = [f"== {graded.student}, {graded.unit} ({graded.file})"]
    if graded.student_id is not None:
        lines.append(f"student id: {graded.student_id}")
    lines += [f"note: {note}" for note in (*graded.notes, *graded.by_hand)]
    for step in steps:
        lines += _exercise(step) if "exercise" in step else _cell(step)
    lines += [f"total: {graded.earned} of {graded.points}", ""]
    return visible("\n".join(lines), limit=1_000_000)  # a terminal obeys what it is shown


def _cell(step: dict) -> list[str]:
    lines = [f"-- {step['cell']}", *_indented(step["source"])]
    if step["printed"].strip():
        lines += ["   it printed:", *_indented(step["printed"])]
    return [*lines, f"   it {step['trouble']}"] if step["trouble"] else lines


def _exercise(step: dict) -> list[str]:
    seen = [f"   seen: {value}" for value in step["seen"]]
    return [f"-- {step['exercise']}", *seen, f"   {step['says']}"]


def _indented(text: str) -> list[str]:
    return [f"   | {line}" for line in text.rstrip().splitlines()[:60]]
