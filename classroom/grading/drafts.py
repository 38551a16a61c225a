"""From a family to a known mistake: a draft for the check module, and a test for it.

    for draft in write_drafts(Path("grades")):
        print(draft.path)

A draft is text for a person, who names the mistake and explains it. A student's function is copied
into it only where it is plain arithmetic; else it stands there as a comment.
"""

from __future__ import annotations

import ast
import builtins
import textwrap
from collections.abc import Iterator
from pathlib import Path

from selfcheck.course import current
from selfcheck.exercises import Exercise
from selfcheck.files import write_whole
from selfcheck.kinds import Function, Steps
from selfcheck.record import record
from selfcheck.units import declared

from ..roles import called_check
from .clusters import Family, families_of
from .gradebook import NAME, Gradebook
from .records import visible

WIDTH = 98
NAME_IT, EXPLAIN_IT = '"NAME IT"', '"EXPLAIN IT"'
OTHER_NUMBERS = (
    "# Everybody has other numbers here, so an example alone recognizes one student. Say in\n"
    "# `when`, as the mistakes beside it do, how it is known from the answers.\n"
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


@record()
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
            name = f"{family.exercise}_{family.name}.py"
            path = folder / "mistakes" / family.unit / name
            drafts.append(Draft(family, path, draft(family)))
            write_whole(path, drafts[-1].text)
    return drafts


def draft(family: Family) -> str:
    """The text for the check module, and below it the one for its test."""
    module = family.unit.partition("_")[2]
    exercise = next(e for e in declared(family.unit) if e.name == family.exercise)
    head = [
        f"A mistake that has no name yet: {family.title}, family {family.name}.",
        f"{_students(len(family.members))} made it. What the check says: {family.says}",
        f"How it misses: {family.miss}." if family.miss else "How it misses is not known.",
        "1. Replace both words in capitals: what went wrong, and what you would say about it.",
        f"2. Move the first part to {current().package}/checks/{module}.py, after "
        f"{family.exercise}, and the second to tests/checks/test_{module}.py.",
        "3. Grade again: only the wrong answers of this exercise are judged anew.",
    ]
    comment = "\n".join(_commented(line) for line in head)
    parts = [comment, _ruled("for the check module"), _mistake(exercise, family)]
    return "\n\n".join([*parts, _ruled("for its test"), _test(exercise, family), ""])


def _students(count: int) -> str:
    return f"{count} student{'' if count == 1 else 's'}"


def _ruled(title: str) -> str:
    return f"# -- {title} {'-' * (90 - len(title))}"


def _commented(text: str) -> str:
    """Lines that can be nothing but a comment, whatever the text holds."""
    plain = " ".join(visible(text, limit=2000).split())
    return textwrap.fill(plain, WIDTH, initial_indent="# ", subsequent_indent="#   ")


def _commented_code(source: str) -> str:
    shown = visible(source, limit=4000).replace("\r", " ")
    return "\n".join(f"#     {line}".rstrip() for line in shown.splitlines())


# -- the mistake ----------------------------------------------------------------------------------


def _mistake(exercise: Exercise, family: Family) -> str:
    asked = _asked(exercise, family)
    words = [NAME_IT, EXPLAIN_IT]
    part = [f"part={_quoted(repr(family.part))}"] if family.part else []
    if not any(isinstance(exercise.kinds[n], Function | Steps) for n in asked):
        example = f"example={_tuple(_forms(exercise, family)[0])}"
        told = OTHER_NUMBERS if family.example.signature.whose else ""
        return told + _called(f"{exercise.name}.mistake", [*words, example, *part])
    code = _commented_code(family.example.result.answer)
    if len(asked) > 1:
        example = f"example=({', '.join(asked)})"
        call = _called(f"{exercise.name}.mistake", [*words, example, *part])
        return (
            f"# Write functions that make the mistake. An example of the class:\n{code}\n\n{call}"
        )
    above = f"@{exercise.name}.mistake({', '.join([*words, *part])})"
    if made := _as_function(family):
        return f"{above}\n{made}"
    skeleton = f"{above}\ndef {_function_name(family)}(*args):\n    raise NotImplementedError"
    return (
        f"# Write a function that makes the mistake. An example of the class:\n{code}\n\n{skeleton}"
    )


def _called(name: str, arguments: list[str]) -> str:
    return "\n".join([f"{name}(", *(f"    {argument}," for argument in arguments), ")"])


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
    match [node for node in body if not _is_import(node)]:
        case [ast.FunctionDef(name=name) as function] if name == wanted:
            pass
        case [ast.Assign(targets=[ast.Name(id=name)], value=ast.Lambda() as made)] if (
            name == wanted
        ):
            given = ast.Return(made.body)
            function = ast.FunctionDef(name, made.args, [given], [], None, None)
        case _:
            return None
    if not _is_plain(function):
        return None
    function.name, function.returns, function.decorator_list = _function_name(family), None, []
    return ast.unparse(ast.fix_missing_locations(function))


def _is_import(node: ast.stmt) -> bool:
    return isinstance(node, ast.Import | ast.ImportFrom)


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
    name = f"test_family_{family.name}_is_named"
    if any(isinstance(exercise.kinds[n], Function | Steps) for n in asked):
        answers = [(f"check.{_function_name(family)}",) * len(asked)]
    else:
        answers = [tuple(map(_quoted, forms)) for forms in _forms(exercise, family)[:8]]
    calls = [_call(exercise, dict(zip(asked, answer, strict=True))) for answer in answers]
    lines = [f"def {name}():"]
    for call in calls:
        lines += [
            f"    feedback = {call}",
            f"    assert {NAME_IT} in [m.name for m in feedback.mistakes]",
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
