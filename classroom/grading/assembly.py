"""What is run for a submission: the student's cells as they stand, the instructor's where needed.

The code that is given runs before whatever comes after it in the sheet, also if it was moved or
deleted. An exercise is judged by the instructor's check where the student's notebook calls it last,
with the arguments of that call, as the scoreboard at home has it; where it is not called, behind
its answer. What stands around such a call is the student's code and runs as that. Cells are found
by their id; in a notebook that has lost its ids (some editors drop them), the calls
`check.weights(...)` are the landmarks. A cell answers the exercises that ask for the names that it
makes, wherever they are checked; one that makes none of these, the next one that is called.
"""

from __future__ import annotations

import ast
import functools
import itertools
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from ..roles import Check, Ours, Role, called_check, role_of_code
from .submitted import Cell

LONGEST = 100_000  # letters of a cell that is searched for calls
UNTOLD = (ast.Starred, ast.Await, ast.NamedExpr)  # in arguments, which only running tells


@dataclass(frozen=True)
class Step:
    """One cell to run, or one exercise to judge where `check` is given."""

    id: str
    source: str
    is_students: bool = False
    check: Check | None = None
    tells_id: bool = False
    is_answer: bool = False
    exercise: str = ""  # the one that is called here
    answers: frozenset[str] = frozenset()  # the exercises for which it was typed
    cell: int = -1  # of the student's, of which this is a part
    count: int = 0  # the number that a clean run gives that cell
    is_restored: bool = False  # the student's notebook does not call this check here


@dataclass(frozen=True)
class Assembly:
    """All steps in order, and in words what had to be put right."""

    steps: tuple[Step, ...]
    notes: tuple[str, ...]


class Part(NamedTuple):
    """A part of a cell: code to run, or the call of a check."""

    source: str
    check: Check | None = None


def assemble(ours: Sequence[Ours], submission: Sequence[Cell]) -> Assembly:
    """Put the student's cells and the instructor's together."""
    return _Assembling(ours, submission).result()


def in_our_order(ours: Sequence[Ours], cells: Sequence[Cell]) -> list[Cell]:
    """The cells with those of the sheet in its order, each with the student's own behind it."""
    index = {cell.id: place for place, cell in enumerate(ours)}
    blocks: list[tuple[int, list[Cell]]] = [(-1, [])]
    for cell in cells:
        if cell.id in index:
            blocks.append((index[cell.id], []))
        blocks[-1][1].append(cell)
    return [cell for _, block in sorted(blocks, key=lambda b: b[0]) for cell in block]


class _Assembling:
    def __init__(self, ours: Sequence[Ours], submission: Sequence[Cell]) -> None:
        self.ours, self.index = ours, {cell.id: place for place, cell in enumerate(ours)}
        calls = {cell.id: called_check(cell.source) for cell in ours if cell.role == Role.CHECK}
        self.checks = {check.exercise: (key, check) for key, check in calls.items() if check}
        self.answers = _answers(ours)
        self.exercise_of = {key: e for e, (key, _) in self.checks.items()}  # by the ids of cells
        self.exercise_of |= {key: exercise for exercise, key in self.answers.items()}
        self.given = {n for c in ours if c.role != Role.ANSWER for n in bound(c.source)}
        self.sources = {c.source.strip(): c.id for c in ours if c.source.strip()}
        self.cells = [
            (cell, parts_of(cell.source, self.checks))
            for cell in submission
            if role_of_code(cell.source) is not Role.SCOREBOARD
        ]
        runs = itertools.accumulate(bool(cell.source.strip()) for cell in submission)
        self.counts = {id(cell): count for cell, count in zip(submission, runs, strict=True)}
        self.places = self._places()
        self.last = self._last_calls()
        self.made = set(self.given)  # names, up to here
        self.steps: list[Step] = []
        self.notes: list[str] = []
        self.done: set[str] = set()  # ids of cells that have run, and exercises that are judged
        self.due: list[str] = []  # exercises to judge before the next cell that is known
        self.head: list[Step] = []  # of the student's, before all that is known

    def result(self) -> Assembly:
        self._run_lost_id()
        for number, (cell, parts) in enumerate(self.cells):
            self._add(number, cell, parts)
        self._judge_due()
        self._flush_head()
        self._catch_up(len(self.ours))
        self._judge_due()
        self._judge_where_typed()
        return Assembly(tuple(self._with_answers()), tuple(self.notes))

    # -- what each cell is ----------------------------------------------------------------------

    def _places(self) -> list[str]:
        """Which of our cells each of theirs is, by its id, else by what it holds.

        The first one counts, others are their own.
        """
        named = {cell.id for cell, _ in self.cells if cell.id in self.index}
        taken: set[str] = set()
        places = []
        for cell, _ in self.cells:
            place = cell.id if cell.id in named else self._alike(cell, named)
            places.append("" if place in taken else place)
            taken.add(place)
        return places

    def _alike(self, cell: Cell, named: set[str]) -> str:
        """The cell of ours that is like one without an id of ours, if no other has its id."""
        place = self.sources.get(cell.source.strip(), "")
        if not place and role_of_code(cell.source) is Role.STUDENT:
            place = next((c.id for c in self.ours if c.role == Role.STUDENT), "")
        return "" if place in named else place

    def _last_calls(self) -> dict[str, tuple[int, int]]:
        """Of each exercise, the cell and part in which it is called last."""
        return {
            part.check.exercise: (number, place)
            for number, (_, parts) in enumerate(self.cells)
            for place, part in enumerate(parts)
            if part.check
        }

    def _still_comes(self, cell_id: str) -> bool:
        return cell_id in self.places and cell_id not in self.done

    # -- in order -------------------------------------------------------------------------------

    def _run_lost_id(self) -> None:
        """Where the cell with the id is gone, ours comes first: what they wrote elsewhere holds."""
        for cell in self.ours:
            if cell.role == Role.STUDENT and cell.id not in self.places:
                self.steps.append(Step(cell.id, cell.source, tells_id=True))
                self.done.add(cell.id)

    def _add(self, number: int, cell: Cell, parts: list[Part]) -> None:
        place = self.places[number]
        role = self.ours[self.index[place]].role if place else ""
        calls = any(part.check for part in parts)
        if place:
            self._judge_due()
            self._catch_up(self.index[place])
        if place or calls:
            self._flush_head()
        if role in (Role.GIVEN, Role.STUDENT):
            self._add_given(self.ours[self.index[place]], cell, runs_in_parts=calls)
            if not calls or cell.source.strip() == self.ours[self.index[place]].source.strip():
                return
        for where, part in enumerate(parts):
            following = next((p.check for p in parts[where:] if p.check), None)
            if following:
                self._catch_up(self.index[self.checks[following.exercise][0]])
            self._add_part(number, part, role == Role.ANSWER)
        self.done.add(place)
        exercise = self.exercise_of.get(place, "")
        if exercise and (self.last.get(exercise, (-1,)) < (number,)):
            self.due.append(exercise)

    def _add_given(self, ours: Ours, cell: Cell, runs_in_parts: bool) -> None:
        """A cell of ours as they have it; where it was edited, ours runs first.

        One that had to run ahead, for what stands before it here, runs at its place too.
        """
        is_same = cell.source.strip() == ours.source.strip()
        is_id = ours.role == Role.STUDENT
        if not is_id and (is_same or ours.id not in self.done):
            self.steps.append(Step(ours.id, ours.source))
        if is_id:
            self.steps.append(Step(ours.id, cell.source, is_students=True, tells_id=True))
        elif not (is_same or runs_in_parts):
            self.steps.append(Step(ours.id, cell.source, is_students=True))
        if not is_same and not is_id:
            self.notes.append(f"The cell {ours.id} was edited; ours ran first, then theirs.")
        self.done.add(ours.id)

    def _add_part(self, number: int, part: Part, is_answer: bool) -> None:
        cell, place = self.cells[number][0], self.places[number]
        name = place or cell.id or f"cell {number + 1}"
        if part.check is None:
            own = Step(name, part.source, is_students=True, is_answer=is_answer, cell=number)
            own = replace(own, tells_id=self._tells_id(number), count=self.counts[id(cell)])
            if not part.source.strip():
                return
            self.made |= bound(part.source)
            in_head = not place and not any(p for p in self.places[:number])
            if in_head and not any(p.check for p in self.cells[number][1]):
                self.head.append(own)
            else:
                self.steps.append(own)
        else:
            self._judge_call(number, part, part.check)

    def _tells_id(self, number: int) -> bool:
        """Is it one more cell with the id, below that of the sheet and above all that take it?"""
        if role_of_code(self.cells[number][0].source) is not Role.STUDENT:
            return False
        takes = [e for e, (_, check) in self.checks.items() if "student" in check.arguments]
        begun = {*takes, *(self.answers[exercise] for exercise in takes)}
        last = (s for s in reversed(self.steps) if s.tells_id or {s.id, s.exercise} & begun)
        return next(last, Step("", "")).tells_id

    def _flush_head(self) -> None:
        if self.head:
            first = next(i for i, c in enumerate(self.ours) if c.role in (Role.ANSWER, Role.CHECK))
            head, self.head = self.head, []
            self._catch_up(first)
            self.steps += head

    def _catch_up(self, until: int) -> None:
        """Run what is given before this place, and judge what nobody calls there."""
        for cell in self.ours[:until]:
            if cell.id in self.done:
                continue
            if cell.role == Role.GIVEN:
                self.steps.append(Step(cell.id, cell.source))
                self.done.add(cell.id)
            elif cell.role == Role.STUDENT:
                theirs = self.cells[self.places.index(cell.id)][0]
                step = Step(cell.id, theirs.source, is_students=True, tells_id=True)
                self.steps.append(step)
                self.done.add(cell.id)
            elif cell.role == Role.CHECK:
                exercise = self.exercise_of[cell.id]
                waits = self._still_comes(self.answers[exercise]) or self._still_comes(cell.id)
                if exercise not in self.last and not waits:
                    self._judge(exercise)

    def _judge_due(self) -> None:
        due, self.due = self.due, []
        for exercise in due:
            key, _ = self.checks[exercise]
            if self._still_comes(self.answers[exercise]) or self._still_comes(key):
                continue  # it will be due again
            self._judge(exercise)

    def _judge_where_typed(self) -> None:
        """What nobody calls is judged at the end too, if it was typed below our place for it."""
        for exercise in (name for name in self.checks if name not in self.last):
            ours = [i for i, s in enumerate(self.steps) if s.check and s.exercise == exercise]
            below = (s for s in self.steps[ours[-1] + 1 :] if s.is_students)
            if any(exercise in self._asked_for(step) for step in below):
                self.done.discard(exercise)
                self._judge(exercise)

    def _judge_call(self, number: int, part: Part, theirs: Check) -> None:
        """Judge it where the notebook calls it; the last call that comes to a verdict counts."""
        exercise, answer = theirs.exercise, self.answers[theirs.exercise]
        waits = answer != self.places[number] and self._still_comes(answer)
        if waits and _names(theirs) - self.made:
            self.steps.append(Step("", "", exercise=exercise))  # up to here it is its own
            return
        self._note_missing(exercise)
        self.steps.append(replace(self._as_called(part, theirs), cell=number))
        if not waits:
            self.done.add(exercise)

    def _judge(self, exercise: str) -> None:
        """Judge it here, where the notebook does not: with their call from elsewhere, or ours."""
        if exercise not in self.done:
            self._note_missing(exercise)
            number, where = self.last.get(exercise, (-1, 0))
            key, ours = self.checks[exercise]
            part = Part(self.ours[self.index[key]].source, Check(exercise, ()))
            part = self.cells[number][1][where] if number >= 0 else part
            step = self._as_called(part, part.check or ours)
            self.steps.append(replace(step, is_restored=True))
            self.done.add(exercise)

    def _as_called(self, part: Part, theirs: Check) -> Step:
        """The step that judges this call; what it does not give is as in ours."""
        key, ours = self.checks[theirs.exercise]
        if not (theirs.arguments or theirs.named):
            source = self.ours[self.index[key]].source
            return Step(key, source, check=ours, exercise=theirs.exercise)
        given = len(theirs.arguments) + len(theirs.named)
        rest = () if theirs.named else ours.arguments[given:]
        check = theirs._replace(arguments=(*theirs.arguments, *rest))
        return Step(key, part.source, check=check, exercise=theirs.exercise)

    # -- what was typed for what ----------------------------------------------------------------

    def _with_answers(self) -> list[Step]:
        """The steps, each of the student's with the exercises for which it was typed."""
        following, named = "", []
        for step in reversed(self.steps):
            following = step.exercise or (step.is_students and self._named(step)) or following
            if step.is_students:
                next_one = {following} - {""} if not step.tells_id else set()
                step = replace(step, answers=frozenset(self._asked_for(step) or next_one))
            named += [step] if step.id or step.check else []
        return named[::-1]

    def _named(self, step: Step) -> str:
        """The first exercise that code of theirs names behind the word check."""
        _, _, behind = step.source.partition("check")
        return next((n for n in re.findall(r"[.\"']\s*(\w+)", behind) if n in self.checks), "")

    def _asked_for(self, step: Step) -> set[str]:
        """The exercises that ask for what it makes, or whose cell it is."""
        asked = {exercise for name in bound(step.source) for exercise in self._asking.get(name, ())}
        if step.is_answer and len(self.cells[step.cell][1]) == 1 and step.id in self.exercise_of:
            asked.add(self.exercise_of[step.id])
        return asked

    @functools.cached_property
    def _asking(self) -> dict[str, set[str]]:
        """By name, the exercise that is the first to ask for it, and those asked with it here."""
        asking: dict[str, set[str]] = {}
        for exercise, (_, check) in self.checks.items():
            for name in _names(check) - self.given - {*asking}:
                asking[name] = {exercise}
        ours = {*asking} | self.given
        calls = (part.check for _, parts in self.cells for part in parts if part.check)
        for call in calls:
            for name in _names(call) - ours:
                asking.setdefault(name, set()).add(call.exercise)
        return asking

    def _note_missing(self, exercise: str) -> None:
        answer = self.answers[exercise]
        if exercise not in self.done and answer not in self.places and not _pending(self.steps):
            self.notes.append(f"The cell {answer} is missing.")


def _answers(ours: Sequence[Ours]) -> dict[str, str]:
    """The id of the answer of each exercise: the last one before its check."""
    found, last = {}, ""
    for cell in ours:
        if cell.role == Role.ANSWER:
            last = cell.id
        elif cell.role == Role.CHECK and (check := called_check(cell.source)):
            found[check.exercise] = last
    return found


def _pending(steps: Sequence[Step]) -> bool:
    """Is there code of the student's since the last check?"""
    since: list[bool] = []
    for step in steps:
        since = [] if step.exercise else [*since, step.is_students]
    return any(since)


# -- the parts of a cell --------------------------------------------------------------------------


def parts_of(source: str, exercises: Collection[str]) -> list[Part]:
    """A cell as code to run and bare calls of checks, in order; one part where it has none.

    Whatever else calls a check is code: the call is noted when it runs.
    """
    tree = _parsed(source)
    checks = [_bare_call(statement, exercises) for statement in tree]
    lines = [f"{line}\n" for line in re.split(r"\r\n?|\n", source)]  # as Python counts them
    on_own_lines = all(a.end_lineno < b.lineno for a, b in itertools.pairwise(tree))
    parts: list[Part] = []
    begun = first = 0

    def code(until: int, line: int | None) -> list[Part]:
        own = tree[first:until]
        text = "".join(lines[begun:line]) if on_own_lines else "\n".join(map(ast.unparse, own))
        return [Part(text)] if own else []

    for place, (statement, check) in enumerate(zip(tree, checks, strict=True)):
        if check:
            parts += code(place, statement.lineno - 1)
            parts.append(Part(ast.get_source_segment(source, statement) or "", check))
            begun, first = statement.end_lineno, place + 1
    return [*parts, *code(len(tree), None)] if parts else [Part(source)]


def bound(source: str) -> frozenset[str]:
    """The names that a cell makes, as far as can be told without running it."""
    return _bound(source) if len(source) <= LONGEST else frozenset()


@functools.lru_cache(maxsize=500)  # in a class many cells are alike
def _bound(source: str) -> frozenset[str]:
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):  # a magic, for instance
        lines = r"^(?:%\w+ +|def +|class +)?(\w+) *(?:[(=:,]|$)"
        return frozenset(re.findall(lines, source, re.MULTILINE))
    found: set[str] = set()
    waiting: list[ast.AST] = [tree]
    while waiting:
        match node := waiting.pop():
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                found.add(node.name)
                inside = (n.names for n in ast.walk(node) if isinstance(n, ast.Global))
                found.update(itertools.chain.from_iterable(inside))
                continue
            case ast.Name(id=name, ctx=ast.Store()):
                found.add(name)
            case ast.alias(name=name, asname=other):
                found.add(other or name)
        if not isinstance(node, ast.Lambda | ast.comprehension):  # which have names of their own
            waiting += ast.iter_child_nodes(node)
    return frozenset(found)


@functools.lru_cache(maxsize=500)
def _names(check: Check) -> frozenset[str]:
    """The names that stand in the arguments of a call."""
    texts = [*check.arguments, *(text for _, text in check.named)]
    nodes = (node for text in texts for node in ast.walk(ast.parse(text, mode="eval")))
    return frozenset(node.id for node in nodes if isinstance(node, ast.Name))


@functools.lru_cache(maxsize=500)
def _parsed(source: str) -> list:
    if "check" not in source or len(source) > LONGEST:
        return []
    try:
        return ast.parse(source).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return []


def _bare_call(statement: ast.stmt, exercises: Collection[str]) -> Check | None:
    """The check that a statement calls, if it does nothing else and its arguments can be told."""
    match statement:
        case ast.Expr(ast.Call(ast.Attribute(ast.Name("check"), name), arguments, named)):
            if name in exercises and not any(isinstance(x, UNTOLD) for x in ast.walk(statement)):
                texts = tuple((key.arg, ast.unparse(key.value)) for key in named if key.arg)
                is_told = len(texts) == len(named)
                return Check(name, tuple(map(ast.unparse, arguments)), texts) if is_told else None
    return None
