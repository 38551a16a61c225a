"""Formulas the way people write them, in the spelling of Python: LaTeX, Unicode, products unsaid.

Text goes through three steps: LaTeX and Unicode become plain signs, the text is cut into words,
numbers and signs, and a product sign is put where one is meant and none is written. Which words
there are is known, so `4ND²` is `4*N*D**(2)` where N and D are symbols. Where two readings are
possible (`λ/2η`), none is chosen: a sentence offers both. Nothing is evaluated here.
"""

from __future__ import annotations

import keyword
import re
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import groupby
from typing import NamedTuple

MANY_NAMES = 1000  # more than a class uses; they are asked for at every point of a check
LETTERS = {
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ε", "zeta": "ζ", "eta": "η",
    "theta": "θ", "iota": "ι", "kappa": "κ", "lamda": "λ", "mu": "μ", "nu": "ν", "xi": "ξ",
    "pi": "π", "rho": "ρ", "sigma": "σ", "tau": "τ", "upsilon": "υ", "phi": "φ", "chi": "χ",
    "psi": "ψ", "omega": "ω", "Gamma": "Γ", "Delta": "Δ", "Theta": "Θ", "Phi": "Φ", "Omega": "Ω",
}  # fmt: skip
GREEK = {letter: name for name, letter in LETTERS.items()}
SIGNS = {
    "−": "-", "–": "-", "·": "*", "⋅": "*", "∙": "*", "×": "*", "∗": "*", "÷": "/", "⁄": "/",
    "∕": "/", "^": "**", "≤": "<=", "≥": ">=", "∆": "Δ", "∞": "oo", "√": " sqrt ",
    "⌊": "floor(", "⌋": ")", "⌈": "ceil(", "⌉": ")", "\u2062": "*",
}  # fmt: skip
COMMANDS = {
    "cdot": "*", "times": "*", "ast": "*", "div": "/", "le": "<=", "leq": "<=", "ge": ">=",
    "geq": ">=", "infty": " oo ", "lfloor": " floor(", "rfloor": ")", "lceil": " ceil(",
    "rceil": ")", "lvert": "|", "rvert": "|", "vert": "|", "min": " Min", "max": " Max",
    "left": "", "right": "", "big": "", "Big": "", "bigl": "", "bigr": "", "Bigl": "", "Bigr": "",
    "quad": " ", "qquad": " ", "displaystyle": "", "lbrace": "(", "rbrace": ")",
}  # fmt: skip
SPELLINGS = {
    "log_2": "log2", "log_10": "log10", "arctan": "atan", "arcsin": "asin", "arccos": "acos",
    "arctanh": "atanh", "arcsinh": "asinh", "arccosh": "acosh", "ceiling": "ceil", "max": "Max",
    "min": "Min", "Sqrt": "sqrt", "Exp": "exp", "Log": "log", "Ln": "ln", "Binomial": "binomial",
}  # fmt: skip
PYTHON_ESCAPES = {"\a": r"\a", "\b": r"\b", "\f": r"\f", "\v": r"\v"}
STRUCTURE = ("Sum", "Product", "Piecewise")
TOKEN = re.compile(
    r"\s*(?:(?P<number>(?:\d[\d_]*\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)"
    r"|(?P<word>[^\W\d]\w*)|(?P<sign>\*\*|<=|>=|==|!=|:=|//|\S))"
)


class FormulaError(ValueError):
    """The answer is not a formula we can read; the message says why and what to write instead."""


@lru_cache(MANY_NAMES)
def canonical(name: str) -> str:
    """The one spelling of a symbol: β is `beta`, λ and `lambda` are `lamda` as in SymPy."""
    head, *tail = name.split("_", 1)
    head = "lamda" if head == "lambda" else GREEK.get(head, head)
    return "_".join([head, *tail])


@lru_cache(MANY_NAMES)
def pretty(name: str) -> str:
    """`beta` as β, `theta_0` as θ_0: a symbol's name the way a sentence shows it."""
    head, *tail = canonical(name).split("_", 1)
    return "_".join([LETTERS.get(head, head), *tail])


def quoted(text: str) -> str:
    """What was written, on one line and not too long, with its backslashes as they were."""
    text = " ".join(without_escapes(text).split())
    text = "".join(c if c.isprintable() else f"\\x{ord(c):02x}" for c in text)
    return f"'{text if len(text) <= 80 else f'{text[:77]}…'}'"


@dataclass(frozen=True)
class Vocabulary:
    """The words of a formula: the symbols and functions of the exercise, and those of everybody."""

    symbols: frozenset[str]
    functions: frozenset[str]
    known: frozenset[str]
    constants: frozenset[str]

    @cached_property
    def spelled(self) -> dict[str, str]:
        """Every way to write a symbol, such as s_2, s2 and β for beta; none that two have."""
        ways: dict[str, set[str]] = {}
        for name in self.symbols:
            for way in _ways(name):
                ways.setdefault(way, set()).add(name)
        one = {way: next(iter(names)) for way, names in ways.items() if len(names) == 1}
        return {**one, **{name: name for name in self.symbols}}

    @cached_property
    def parts(self) -> dict[str, str]:
        """What a word may be made of when it is a product."""
        return {"π": "pi", **self.spelled}

    def readings(self, word: str) -> list[list[str]]:
        """The ways to cut a word into symbols, at most two of them."""
        longest = max(map(len, self.parts))
        found: list[list[list[str]]] = [[[]]]  # found[k]: the readings of the first k letters
        for end in range(1, len(word) + 1):
            found.append(
                [
                    [*before, word[start:end]]
                    for start in range(max(0, end - longest), end)
                    if word[start:end] in self.parts
                    for before in found[start]
                ][:2]
            )
        return found[-1]


def _ways(name: str) -> set[str]:
    ways = {name, pretty(name), name.replace("lamda", "lambda")}
    ways |= {re.sub(r"^l(?=$|_)", "ell", way) for way in ways}
    ways |= {re.sub(r"^ell(?=$|_)", "l", way) for way in ways}
    return ways | {way.replace("_", "") for way in ways}


# -- plain signs ----------------------------------------------------------------------------------


def without_escapes(text: str) -> str:
    r"""The text as it was typed: in "\beta" Python takes \b for a sign of its own."""
    text = re.sub("[\a\b\f\v]", lambda m: PYTHON_ESCAPES[m[0]], text)
    text = re.sub("\t(?=au|heta|imes|an|ext|frac)", r"\\t", text)
    return re.sub("\r(?=ight|ho|floor|ceil|vert)", r"\\r", text)


def refuse_sum_signs(text: str) -> None:
    """Σ and Π have no end that one could see; Sum and Product have brackets."""
    if re.search(r"\\(?:sum|prod)(?![A-Za-z])|[∑∏]", without_escapes(text)):
        raise FormulaError(
            f"{quoted(text)}: write a sum as Sum(…, (i, 1, n)) and a product as "
            "Product(…, (i, 1, n)), with what is added or multiplied in place of the dots."
        )


def _plain(text: str) -> str:
    """The same formula without LaTeX, superscripts, fractions in one sign and the like."""
    text = without_escapes(text)
    if mixed := re.search(r"(\d+)\s*([½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞])", text):
        whole, part = mixed[1], unicodedata.normalize("NFKC", mixed[2]).replace("⁄", "/")
        raise FormulaError(
            f"{quoted(text)} can be read in two ways: "
            f"did you mean `{whole} + {part}` or `{whole}*({part})`?"
        )
    text = "".join(
        _spelled(form, "".join(run)) for form, run in groupby(_without_latex(text), _form)
    )
    if "Piecewise" not in text and text.count("|") == 2:
        text = re.sub(r"\|([^|]*)\|", r" abs(\1)", text)
    return text


def _form(character: str) -> str:
    """`super` for ², `fraction` for ½, `sub` for ₁, `circle` for ①, else nothing of note."""
    mark = unicodedata.decomposition(character).partition(">")
    return mark[0][1:] if mark[1] else ""


def _spelled(form: str, run: str) -> str:
    if form == "circle":
        return run
    plain = [
        "".join(SIGNS.get(c, c) for c in unicodedata.normalize("NFKC", character))
        for character in run
    ]
    if form == "super":
        return f"**({''.join(plain)})"
    if form == "sub":
        return f"_{''.join(plain)}"
    return "".join(f"({p})" for p in plain) if form == "fraction" else "".join(plain)


TAKE_GROUPS = ("frac", "binom", "sqrt", "math..", "math...", "text", "operatorname", "textrm")
GROUP = r"\s*\{([^{}]*)\}"
BRACED: list[
    tuple[str, str | Callable[[re.Match[str]], str]]
] = [  # innermost first, so that no group within these has groups of its own
    (rf"\\[dtc]?frac{GROUP}{GROUP}", r"((\1)/(\2))"),
    (rf"\\[dt]?binom{GROUP}{GROUP}", r" binomial(\1, \2)"),
    (rf"\\sqrt\s*\[([^][]*)\]{GROUP}", r" ((\2)**(1/(\1)))"),
    (rf"\\sqrt{GROUP}", r" sqrt(\1)"),
    (rf"\\(?:mathrm|text|operatorname|mathcal|mathit|mathsf|textrm){GROUP}", r"\1"),
    (rf"_{GROUP}", lambda m: "_" + re.sub(r"\W", "", m[1])),
    (rf"\^{GROUP}", r"**(\1)"),
    (rf"(?<![}}\]_^]){''.join(rf'(?<!{c})' for c in TAKE_GROUPS)}\{{([^{{}}]*)\}}", r"(\1)"),
]


def _without_latex(text: str) -> str:
    r"""`\frac{a}{b}` as ((a)/(b)), `\beta^{t}` as beta**(t), `d_{in}` as d_in."""
    if "\\" in text:
        text = re.sub(r"\\[()\[\]]|\$|\\[,;:! ]", " ", text)
        text = re.sub(r"\\([dtc]?frac)\s*(\d)\s*(\d)", r"\\\1{\2}{\3}", text)
        text = re.sub(r"\\([dtc]?frac)\s*(\d)\s*\{", r"\\\1{\2}{", text)
        text = re.sub(r"\\sqrt\s*(\w)", r"\\sqrt{\1}", text)
        text = re.sub(r"\^\s*(\d+|[A-Za-z]|\\[A-Za-z]+)(?![\d{])", r"^{\1}", text)
    text = text.strip("$ ")
    changed = int("{" in text)
    while changed:
        for pattern, instead in BRACED:
            text, changed = re.subn(pattern, instead, text)
            if changed:
                break
    return re.sub(r"\\([A-Za-z]+)(\d?)", _command, text)


def _command(match: re.Match[str]) -> str:
    name, digit = match.groups()
    if name in COMMANDS:
        return COMMANDS[name] + digit
    name = re.sub("^var(?=epsilon|theta|phi|rho|sigma|pi)", "", name)
    return f" {name}" + (f" {digit}" if digit else "")


# -- words, numbers and signs ---------------------------------------------------------------------


ATOMS = ("number", "symbol", "stranger")


class _Token(NamedTuple):
    """A piece of a formula: its kind, how Python spells it, how it was written."""

    kind: str  # number, symbol, stranger, function, sign or other
    python: str
    written: str

    def opens(self) -> bool:
        return self.python == "("

    def closes(self) -> bool:
        return self.python == ")"

    def starts_factor(self) -> bool:
        return self.kind in (*ATOMS, "function") or self.opens()

    def ends_factor(self) -> bool:
        return self.kind in ATOMS or self.closes()


TIMES = _Token("sign", "*", "*")
OPEN, CLOSE = _Token("sign", "(", "("), _Token("sign", ")", ")")


def as_python(text: str, vocabulary: Vocabulary) -> str:
    """The formula in Python's spelling; a FormulaError offers the readings if it has several."""
    tokens = _tokens(_plain(text), vocabulary)
    for step in (_factorials, _unbracketed_functions, _products):
        tokens = step(tokens, text, vocabulary)
    return " ".join(token.python for token in tokens)


def _tokens(plain: str, vocabulary: Vocabulary) -> list[_Token]:
    found = [(m.lastgroup or "", m[m.lastgroup or 0]) for m in TOKEN.finditer(plain)]
    bound = _bound([written for _, written in found])
    tokens: list[_Token] = []
    for (kind, written), (_, after) in zip(found, [*found[1:], ("", "")], strict=True):
        if kind == "word":
            tokens += _word(written, after == "(", vocabulary, bound)
        else:
            tokens.append(_Token(kind, written, written))
    return tokens


def _bound(pieces: list[str]) -> set[str]:
    """The summation indices: the i of `, (i, `."""
    if not {"Sum", "Product"} & set(pieces):
        return set()
    places = range(2, len(pieces) - 1)
    return {pieces[k] for k in places if (*pieces[k - 2 : k], pieces[k + 1]) == (",", "(", ",")}


def _word(written: str, called: bool, vocabulary: Vocabulary, bound: set[str]) -> list[_Token]:
    name = canonical(written)
    plain = SPELLINGS.get(name, name)
    if plain == "gamma" and (written != "gamma" or not called):  # the letter is no function
        plain = ""
    if written in bound:
        return [_Token("symbol", name, written)]
    if name in vocabulary.functions:
        return [_Token("function", name, written)]
    if written in vocabulary.spelled or name in vocabulary.spelled:
        python = vocabulary.spelled.get(written) or vocabulary.spelled[name]
        return [_Token("symbol", python, written)]
    if plain in vocabulary.known or plain in STRUCTURE:
        return [_Token("function", plain, written)]
    if name in vocabulary.constants:
        return [_Token("symbol", name, written)]
    if keyword.iskeyword(written) and written != "lambda":
        return [_Token("other", written, written)]
    if name in LETTERS:
        return [_Token("stranger", name, written)]
    if (digits := re.fullmatch(r"([A-Za-z]+)(\d+)", written)) and digits[1] in vocabulary.known:
        function, number = digits.groups()
        return [_Token("function", function, function), _Token("number", number, number)]
    readings = vocabulary.readings(written)
    if len(readings) > 1:
        ways = " or ".join(f"`{'*'.join(reading)}`" for reading in readings)
        raise FormulaError(f"{quoted(written)} can be read in two ways: did you mean {ways}?")
    if readings:
        parts = readings[0]
        return [_Token("symbol", vocabulary.parts[part], part) for part in parts]
    if (digits := re.fullmatch(r"(.*?)_?(\d+)", written)) and digits[1] in vocabulary.spelled:
        ways = " or ".join(f"`{digits[1]}{sign}{digits[2]}`" for sign in ("*", "**"))
        raise FormulaError(f"{quoted(written)} is no symbol here; did you mean {ways}?")
    return [_Token("stranger", name, written)]


# -- what is meant and not written ----------------------------------------------------------------


def _start(tokens: list[_Token], end: int) -> int:
    """Where the atom that ends here begins: a name, a number, a bracket, a call."""
    if not tokens[end].closes():
        return end
    depth = 0
    for place in range(end, -1, -1):
        depth += tokens[place].closes() - tokens[place].opens()
        if not depth:
            called = place and tokens[place - 1].kind == "function"
            return place - 1 if called else place
    return 0


def _end(tokens: list[_Token], start: int) -> int:
    """Where the atom that starts here ends."""
    if tokens[start].kind == "function" and start + 1 < len(tokens) and tokens[start + 1].opens():
        start += 1
    if not tokens[start].opens():
        return start
    depth = 0
    for place in range(start, len(tokens)):
        depth += tokens[place].opens() - tokens[place].closes()
        if not depth:
            return place
    return len(tokens) - 1


def _end_of_factor(tokens: list[_Token], start: int) -> int:
    """Where the atom that starts here ends, with its power."""
    end = _end(tokens, start)
    if end + 2 < len(tokens) and tokens[end + 1].python == "**":
        exponent = end + 2
        while exponent + 1 < len(tokens) and tokens[exponent].python in "+-":
            exponent += 1
        return _end(tokens, exponent)
    return end


def _bracketed(tokens: list[_Token], start: int, end: int) -> list[_Token]:
    return [*tokens[:start], OPEN, *tokens[start : end + 1], CLOSE, *tokens[end + 1 :]]


def _as_written(tokens: list[_Token]) -> str:
    """The pieces as one would type them."""
    pieces: list[str] = []
    before = None
    for token in tokens:
        side_by_side = before is not None and (
            (before.ends_factor() and token.starts_factor() and not token.opens())
            or (before.kind == "function" and token.kind in (*ATOMS, "function"))
        )
        binary = before is not None and before.ends_factor() and token.python in ("+", "-")
        pieces.append(f" {token.written} " if binary else " " * side_by_side + token.written)
        pieces.append(" " * (token.python == ","))
        before = token
    return "".join(pieces)


def _offer(text: str, *readings: list[_Token]) -> FormulaError:
    ways = " or ".join(map(_shown, readings))
    if len(readings) == 1:
        return FormulaError(f"{quoted(text)} lacks a sign; did you mean {ways}?")
    return FormulaError(f"{quoted(text)} can be read in two ways: did you mean {ways}?")


def _shown(reading: list[_Token]) -> str:
    way = _as_written(reading)
    return f"`{way if len(way) <= 80 else f'{way[:79]}…'}`"


def _factorials(tokens: list[_Token], text: str, _: Vocabulary) -> list[_Token]:
    """`n!` as factorial(n)."""
    done: list[_Token] = []
    for token in tokens:
        if token.python == "!" and done and done[-1].ends_factor():
            start = _start(done, len(done) - 1)
            call = _Token("function", "factorial", "factorial")
            done = [*done[:start], call, OPEN, *done[start:], CLOSE]
        else:
            done.append(token)
    return done


def _unbracketed_functions(tokens: list[_Token], text: str, vocabulary: Vocabulary) -> list[_Token]:
    """`log n` as log(n) and `ln 2/ln(1/β)` as ln(2)/ln(1/β); `ln 2β` has two readings."""
    for place in range(len(tokens) - 1, -1, -1):  # from the right, for `log log n`
        token, rest = tokens[place], tokens[place + 1 :]
        if token.kind != "function" or (rest and rest[0].opens()):
            continue
        if not rest or rest[0].kind not in (*ATOMS, "function"):
            if token.python in vocabulary.spelled or token.python in vocabulary.functions:
                continue
            raise FormulaError(
                f"{quoted(text)}: after {token.written} its argument is missing; write it in "
                f"brackets, as in {token.written}(…)."
            )
        end = _end_of_factor(tokens, place + 1)
        following = tokens[end + 1] if end + 1 < len(tokens) else None
        narrow = _bracketed(tokens, place + 1, end)
        if following and following.starts_factor() and following.kind != "function":
            last = _end_of_factor(tokens, end + 1)
            starred = [*tokens[: end + 1], TIMES, *tokens[end + 1 :]]
            after = end + 3  # both brackets stand before what follows
            raise _offer(
                text,
                [*narrow[:after], TIMES, *narrow[after:]],
                _bracketed(starred, place + 1, last + 1),
            )
        tokens = narrow
    return tokens


def _products(tokens: list[_Token], text: str, _: Vocabulary) -> list[_Token]:
    """A * wherever two factors stand side by side, unless that can mean something else."""
    done: list[_Token] = []
    for place, token in enumerate(tokens):
        if done and done[-1].ends_factor() and token.starts_factor():
            starred = [*done, TIMES, *tokens[place:]]
            if token.opens() and done[-1].kind == "stranger":
                raise FormulaError(
                    f"{quoted(text)} calls {done[-1].written[:40]}, which is no function known "
                    f"here; did you mean {_shown(starred)}?"
                )
            if token.kind == "number" or _might_be_a_call(done[-1], tokens, place):
                raise _offer(text, starred)
            start = _start(done, len(done) - 1)
            if (first := _unclear(done, start)) is not None:
                last = _end_of_factor(tokens, place) - place + len(done) + 1
                raise _offer(text, _bracketed(starred, first, last), starred)
            done.append(TIMES)
        done.append(token)
    return done


def _might_be_a_call(before: _Token, tokens: list[_Token], place: int) -> bool:
    """A symbol, then a symbol or a number alone in brackets: β(t) may be a function of t."""
    if before.kind != "symbol" or not tokens[place].opens():
        return False
    inside = tokens[place + 1 : _end(tokens, place)]
    return len(inside) <= 1 or any(token.python == "," for token in inside)


def _unclear(done: list[_Token], start: int) -> int | None:
    """Where the factor begins that a product sign might or might not leave: 2 in λ/2η, β^2t."""
    while start:
        sign = done[start - 1].python
        if sign == "/":
            return start
        if sign in "+-" and start > 1 and done[start - 2].python == "**":
            return start - 1
        if sign != "**":
            return None
        if not done[start].opens():
            return start
        start = _start(done, start - 2)  # an exponent in brackets ends there; what of its base?
    return None


def vocabulary_of(
    symbols: Iterable[str], functions: Iterable[str], known: Iterable[str], constants: Iterable[str]
) -> Vocabulary:
    """The words of an exercise, each in its one spelling."""
    return Vocabulary(
        frozenset(map(canonical, symbols)),
        frozenset(map(canonical, functions)),
        frozenset(known),
        frozenset(constants),
    )
