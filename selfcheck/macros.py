r"""An author's own commands, \newcommand{\norm}[1]{\|#1\|}, written out as what they stand for."""

from __future__ import annotations

import re

from .notation import FormulaError, quoted

DEFINED = re.compile(
    r"\\(?:(?:re)?newcommand|providecommand|DeclareMathOperator)\*?\s*\{?\\(?P<name>[A-Za-z]+)\}?"
    r"|\\def\s*\\(?P<defined>[A-Za-z]+)(?P<parts>(?:#\d)*)"
)
MOST = 400  # commands written out in one text: then they stand for themselves
LONGEST = 40_000  # letters


def expanded(text: str) -> str:
    """The text without its definitions, and every command of the author's written out."""
    if "command" not in text and r"\def" not in text and r"\DeclareMath" not in text:
        return text
    known: dict[str, tuple[int, str]] = {}
    while match := DEFINED.search(text):
        name, place, count = match["name"] or match["defined"], match.end(), 0
        if told := re.compile(r"\s*\[(\d)\]").match(text, place):
            count, place = int(told[1]), told.end()
        count = count or (match["parts"] or "").count("#")
        if text[place : place + 1] == "[":
            raise FormulaError(f"\\{name} has an argument that may be left out: write it in full.")
        body, end = _argument(text, place)
        is_operator = "MathOperator" in match[0]
        known[name] = count, rf"\operatorname{{{body}}}" if is_operator else body
        text = text[: match.start()] + text[end:]
    return _written_out(text, known)


def _written_out(text: str, known: dict[str, tuple[int, str]]) -> str:
    if not known:
        return text
    names = re.compile(rf"\\({'|'.join(sorted(known, key=len, reverse=True))})(?![A-Za-z])")
    for _ in range(MOST):
        match = names.search(text)
        if match is None:
            return text
        (count, body), end, parts = known[match[1]], match.end(), []
        for _ in range(count):
            part, end = _argument(text, end)
            parts.append(part)
        apart = re.sub(r"(\\[A-Za-z]+)(?=#)", r"\1 ", body)  # \lVert#1 is \lVert x
        body = re.sub(r"#(\d)", lambda m, p=parts: p[int(m[1]) - 1], apart)  # type: ignore[misc]
        text = f"{text[: match.start()]}{body} {text[end:]}"
        if len(text) > LONGEST:
            break
    raise FormulaError(f"{quoted(match[0] if match else text)} stands for itself, or for too much.")


def _argument(text: str, place: int) -> tuple[str, int]:
    """The group that begins here, or one sign, and where it ends."""
    start = re.compile(r"\s*").match(text, place).end()  # type: ignore[union-attr]
    if text[start : start + 1] != "{":
        one = re.compile(r"\\[A-Za-z]+|\\?.", re.S).match(text, start)
        if one is None:
            raise FormulaError(f"{quoted(text)}: after a command of your own something is missing.")
        return one[0], one.end()
    depth = 0
    for end in range(start, len(text)):
        escaped = text[end - 1 : end] == "\\"
        depth += (text[end] == "{" and not escaped) - (text[end] == "}" and not escaped)
        if not depth:
            return text[start + 1 : end], end + 1
    raise FormulaError(f"{quoted(text)}: a {{ is never closed.")
