"""From a family to a known mistake: a draft for the prose of its unit, and a test for it.

    for draft in write_drafts(Path("grades")):
        print(draft.path)

A draft is text for a person, who names the mistake and explains it. A student's function is copied
into it only where it is plain arithmetic; else it is quoted.
"""

from __future__ import annotations

import ast
import builtins
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from selfcheck.course import current
from selfcheck.exercises import Exercise
from selfcheck.files import write_whole
from selfcheck.kinds import Function, Steps
from selfcheck.units import declared

from ..roles import called_check
from .clusters import Family, families_of
from .gradebook import NAME, Gradebook
from .records import visible

WIDTH = 98
NAME_IT, EXPLAIN_IT = "NAME IT", "EXPLAIN IT"
OTHER_NUMBERS = (
    "Everybody has other numbers here, so one example recognizes only one student. Write it as a "
    "block of the kind `numbers`, as the mistakes beside it do."
)
PLAIN_CALLS = {
    "abs", "bool", "dict", "enumerate", "float", "int", "len", "list", "max", "min", "pow", "range",
    "reversed", "round", "sorted", "sum", "tuple", "zip",
}  # fmt: skip
PLAIN_MODULES = {"np", "math", "numpy"}
KINDS_OF_CODE = (
    ast.FunctionDef, ast.Lambda, ast.arguments, ast.arg, ast.Return, ast.Assign, ast.AugAssign,
    ast.For, ast.If, ast.Expr, ast.Name, ast.Constant, ast.Attribute, ast.Call, ast.keyword,
    ast.BinOp, ast.UnaryOp, ast.BoolOp, ast.Compare, ast.IfExp, ast.Subscript, ast.Slice, ast.Tuple,
    ast.List, ast.ListComp, ast.GeneratorExp, ast.comprehension, ast.Starred, ast.operator,
    ast.unaryop, ast.boolop, ast.cmpop, ast.expr_context,
)  # fmt: skip


@dataclass(frozen=True)
class Draft:
    """What was written for a family, and where."""

    family: Family
    path: Path
    text: str


def write_drafts(folder: Path, unit: str | None = None, least: int = 2) -> list[Draft]:
    """Write a draft for each family of at least so many students, into GRADES/mistakes."""
    with Gradebook(folder / NAME, create=False) as book:
        units = [book.stem(unit)] if unit else book.units()
        found = [family for stem in units for family in families_of(book, stem)]
    drafts = []
    for family in found:
        if len(family.members) >= least:
            name = f"{family.exercise}_{family.name}.md"
            path = folder / "mistakes" / family.unit / name
            drafts.append(Draft(family, path, draft(family)))
            write_whole(path, drafts[-1].text)
    return drafts


def draft(family: Family) -> str:
    """The section for the prose of the unit, and below it the test for it."""
    module = family.unit.partition("_")[2]
    exercise = next(e for e in declared(family.unit) if e.name == family.exercise)
    head = [
        f"A mistake that has no name yet: {family.title}, family {family.name}.",
        f"{_students(len(family.members))} made it. What the check says: {family.says}",
        f"How it misses: {family.miss}." if family.miss else "How it misses is not known.",
        "1. Replace both words in capitals: what went wrong, and what you would say about it.",
        f"2. Move the section to {current().package}/checks/{module}.md, below "
        f"`# {exercise.number} {exercise.name}`, and the test to tests/checks/test_{module}.py.",
        "3. Grade again: only the wrong answers of this exercise are judged anew.",
    ]
    quoted = "\n".join(_quotation(line) for line in head)
    test = f"```python\n{_test(exercise, family)}\n```"
    return "\n\n".join([quoted, *_mistake(exercise, family), _quotation("The test:"), test, ""])


def _students(count: int) -> str:
    return f"{count} student{'' if count == 1 else 's'}"


def _quotation(text: str) -> str:
    """Lines that can be nothing but a quotation, whatever the text holds."""
    plain = " ".join(visible(text, limit=2000).split())
    return textwrap.fill(plain, WIDTH, initial_indent="> ", subsequent_indent="> ")


def _quoted_code(source: str) -> str:
    shown = visible(source, limit=4000).replace("\r", " ")
    return "\n".join(f">     {line}".rstrip() for line in shown.splitlines())


# -- the mistake ----------------------------------------------------------------------------------


def _mistake(exercise: Exercise, family: Family) -> list[str]:
    """The parts of the section: its heading, the example, and a place for the explanation."""
    part = [f"- part: {family.part}"] if family.part else []
    heading = "\n\n".join([f"## Mistake: {NAME_IT}", *part])
    asked = _asked(exercise, family)
    if not any(isinstance(exercise.kinds[n], Function | Steps) for n in asked):
        about = [_quotation(OTHER_NUMBERS)] if family.example.signature.whose else []
        return [*about, heading, _block(_tuple(_forms(exercise, family)[0])), EXPLAIN_IT]
    code = _quoted_code(family.example.result.answer)
    if len(asked) > 1:
        told = _quotation("Write functions that make the mistake, in the order of the answers.")
        return [told, code, heading, _block(f"({', '.join(asked)})"), EXPLAIN_IT]
    if made := _as_function(family):
        return [heading, _block(made), EXPLAIN_IT]
    told = _quotation("Write a function that makes the mistake. An example of the class:")
    skeleton = f"def {_function_name(family)}(*args):\n    raise NotImplementedError"
    return [told, code, heading, _block(skeleton), EXPLAIN_IT]


def _block(code: str) -> str:
    return f"```python\n{code}\n```"


def _asked(exercise: Exercise, family: Family) -> list[str]:
    return [n for n in exercise.needs(family.part) if n not in exercise.optional]


def _forms(exercise: Exercise, family: Family) -> list[tuple[str, ...]]:
    """Examples as code: literals alone, as `repr` writes them."""
    sound = [forms for forms in family.forms if all(map(_is_literal, forms))]
    return sound or [("____",) * len(_asked(exercise, family))]


def _is_literal(form: str) -> bool:
    try:
        ast.literal_eval(form)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return form == "____"
    return True


def _tuple(forms: tuple[str, ...]) -> str:
    return f"({', '.join(map(_quoted, forms))}{',' if len(forms) == 1 else ''})"


def _quoted(code: str) -> str:
    """Double quotes around texts, as everywhere in the course, where nothing else changes."""
    return code if '"' in code else code.replace("'", '"')


def _function_name(family: Family) -> str:
    return f"_family_{family.name}"


def _as_function(family: Family) -> str | None:
    """The example's function under a name of its own, if it is plain arithmetic."""
    check = called_check(family.example.result.called)
    wanted = check.arguments[0] if check else ""
    try:
        body = ast.parse(family.example.result.answer).body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    match [node for node in body if not isinstance(node, ast.Import | ast.ImportFrom)]:
        case [ast.FunctionDef(name=name) as function] if name == wanted:
            pass
        case [ast.Assign(targets=[ast.Name(id=name)], value=ast.Lambda() as made)] if (
            name == wanted
        ):
            given = ast.Return(made.body)
            empty = ast.parse("def made(): pass").body[0]  # as this Python has functions
            assert isinstance(empty, ast.FunctionDef)
            function, function.args, function.body = empty, made.args, [given]
        case _:
            return None
    if not _is_plain(function):
        return None
    function.name, function.returns, function.decorator_list = _function_name(family), None, []
    return ast.unparse(ast.fix_missing_locations(function))


def _is_plain(function: ast.FunctionDef) -> bool:
    """Arithmetic on its own names, NumPy and math; no texts, no doors to anything else."""
    if function.decorator_list:
        return False
    own = {n.arg for n in ast.walk(function) if isinstance(n, ast.arg)}
    own |= {
        n.id for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
    }
    return all(_is_plain_node(node, own) for node in ast.walk(function))


def _is_plain_node(node: ast.AST, own: set[str]) -> bool:
    match node:
        case ast.Constant(value=value):
            return value is None or isinstance(value, int | float)
        case ast.Name(id=name) if name not in own:
            return name in PLAIN_CALLS | PLAIN_MODULES
        case ast.Name(id=name) | ast.arg(arg=name):
            return name.isascii() and not name.startswith("_") and not hasattr(builtins, name)
        case ast.Attribute(attr=name):
            return name.isascii() and not name.startswith("_") and name not in DOORS
    return isinstance(node, KINDS_OF_CODE)


DOORS = {  # of NumPy: to files, memory and strings of code
    "DataSource", "ctypeslib", "dump", "dumps", "f2py", "fromfile", "fromregex", "genfromtxt",
    "lib", "load", "loadtxt", "memmap", "save", "savetxt", "savez", "savez_compressed", "testing",
    "tofile", "vectorize", "frompyfunc", "ctypes", "data", "distutils", "core", "rec",
}  # fmt: skip


# -- the test -------------------------------------------------------------------------------------


def _test(exercise: Exercise, family: Family) -> str:
    asked = _asked(exercise, family)
    lines = [f"def test_family_{family.name}_is_named():"]
    if any(isinstance(exercise.kinds[n], Function | Steps) for n in asked):
        known = f'[m for m in check.{exercise.name}.misconceptions if m.name == "{NAME_IT}"]'
        lines.append(f"    (known,) = {known}")
        calls = [f"check.{exercise.name}(*known.example)"]
    else:
        answers = [tuple(map(_quoted, forms)) for forms in _forms(exercise, family)[:8]]
        calls = [_call(exercise, dict(zip(asked, answer, strict=True))) for answer in answers]
    for call in calls:
        lines += [
            f"    feedback = {call}",
            f'    assert "{NAME_IT}" in [m.name for m in feedback.mistakes]',
        ]
    return "\n".join(lines)


def _call(exercise: Exercise, given: dict[str, str]) -> str:
    """The check with these answers; the others are blank."""
    names = [name for name in exercise.kinds if name not in exercise.optional]
    arguments = ", ".join(f"{name}={given.get(name, '____')}" for name in names)
    return f"check.{exercise.name}({arguments})"


def told(drafts: list[Draft]) -> Iterator[str]:
    """A line for each draft, for the terminal."""
    for one in drafts:
        family = one.family
        how = f"; {family.miss}" if family.miss else ""
        yield f"{family.title}: {_students(len(family.members))}{how}\n    wrote {one.path}"
