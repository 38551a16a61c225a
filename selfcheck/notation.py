"""Words, letters and tokens of formulas the way people write them: LaTeX, Unicode, plain text.

What was written is cut into tokens that know their place: numbers, words, signs and commands.
LaTeX's fonts and spaces are dropped here, on tokens and never on text, so two different strings
never become one name. `grammar` makes a tree of the tokens; nothing is evaluated here.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import groupby
from typing import NamedTuple

MANY_NAMES = 1000  # more than a class uses; they are asked for at every point of a check
LETTERS = {
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ε", "zeta": "ζ", "eta": "η",
    "theta": "θ", "iota": "ι", "kappa": "κ", "lamda": "λ", "mu": "μ", "nu": "ν", "xi": "ξ",
    "pi": "π", "rho": "ρ", "sigma": "σ", "tau": "τ", "upsilon": "υ", "phi": "φ", "chi": "χ",
    "psi": "ψ", "omega": "ω", "Gamma": "Γ", "Delta": "Δ", "Theta": "Θ", "Lamda": "Λ", "Xi": "Ξ",
    "Pi": "Π", "Sigma": "Σ", "Phi": "Φ", "Psi": "Ψ", "Omega": "Ω",
}  # fmt: skip
GREEK = {letter: name for name, letter in LETTERS.items()}
SIGNS = {
    "−": "-", "–": "-", "·": "*", "⋅": "*", "∙": "*", "×": "*", "∗": "*", "÷": "/", "⁄": "/",
    "∕": "/", "≤": "<=", "≥": ">=", "∆": "Δ", "∞": "oo", "√": " sqrt ", "⌊": " floor(", "⌋": ")",
    "⌈": " ceil(", "⌉": ")", "\u2062": "*", "∑": r"\sum ", "∏": r"\prod ", "∫": r"\int ",
    "∂": r"\partial ", "∇": r"\nabla ", "⊤": r"\top ", "‖": r"\|", "⊙": r"\odot ", "∘": r"\odot ",
    "⟨": r"\langle ", "⟩": r"\rangle ", "…": r"\ldots ", "⋯": r"\ldots ", "→": r"\to ",
    "∈": r"\in ", "∼": r"\sim ", "≈": r"\approx ", "≠": "!=", "𝔼": r"\mathbb{E}", "′": "'",
    "—": "-", "‐": "-", "‑": "-", "•": "*", "▒": " ", "〖": "(", "〗": ")",
}  # fmt: skip
SIGNS |= dict.fromkeys("\u200b\u200c\u200d\u2060\ufeff\u00ad", "")  # that nobody sees
SIGNS["\u2061"] = " "  # Word's, behind the name of a function
COMMANDS = {  # LaTeX for one of our signs; "" is dropped
    "cdot": "*", "times": "*", "ast": "*", "div": "/", "le": "<=", "leq": "<=", "ge": ">=",
    "geq": ">=", "leqslant": "<=", "geqslant": ">=", "lt": "<", "gt": ">", "ne": "!=", "neq": "!=",
    "lvert": "|", "rvert": "|", "vert": "|", "|": "||", "lVert": "||", "rVert": "||", "Vert": "||",
    "{": "(", "}": ")", "lbrace": "(", "rbrace": ")", "lbrack": "[", "rbrack": "]",
    "lparen": "(", "rparen": ")", "left": "", "right": "", "middle": "",
    "big": "", "Big": "", "bigg": "", "Bigg": "", "bigl": "", "bigr": "", "Bigl": "", "Bigr": "",
    "biggl": "", "biggr": "", "Biggl": "", "Biggr": "", ",": "", ";": "", ":": "", "!": "", " ": "",
    "thinspace": "", "medspace": "", "thickspace": "", "enspace": "", "negthinspace": "",
    "negmedspace": "", "negthickspace": "",
    "displaystyle": "", "textstyle": "", "limits": "", "nolimits": "", "nonumber": "",
    "notag": "", "mathstrut": "", "scriptstyle": "", "boxed": "", "cancel": "", "smash": "",
    "ensuremath": "",
    "(": "", ")": "", "[": "", "]": "", "quad": r"\\", "qquad": r"\\", "cr": r"\\",
}  # fmt: skip
BARE = {"mathop", "mathrel", "mathbin", "mathord"}  # what they take is itself, without its group
BIG_WORDS = {word: "sum" for word in ("Σ", r"\Sigma", "sum")} | {
    word: "prod" for word in ("Π", r"\Pi", "prod")
}
SIDES = {"lvert": 1, "rvert": -1, "lVert": 1, "rVert": -1, "left": 1, "right": -1, "middle": 0} | {
    f"{size}{side}": sign
    for size in ("big", "Big", "bigg", "Bigg")
    for side, sign in (("l", 1), ("r", -1))
}
BARS = {"|": "|", r"\vert": "|", r"\|": "||", r"\Vert": "||"}
SAME_COMMAND = {
    "dfrac": "frac", "tfrac": "frac", "cfrac": "frac", "dbinom": "binom", "tbinom": "binom",
    "dots": "ldots", "cdots": "ldots", "dotsc": "ldots", "dotsb": "ldots", "intercal": "top",
    "circ": "odot", "infty": "oo", "rightarrow": "to", "longrightarrow": "to", "ell": "l",
    "varepsilon": "epsilon", "vartheta": "theta", "varphi": "phi", "varrho": "rho",
    "varsigma": "sigma", "varpi": "pi", "lambda": "lamda", "Lambda": "Lamda",
}  # fmt: skip
VARIANTS = [(rf"\{n}", rf"\var{n}") for n in ("epsilon", "theta", "phi", "rho", "sigma", "pi")]
FONTS = {
    "boldsymbol", "mathbf", "bm", "bold", "mathrm", "mathit", "mathsf", "mathnormal",
    "operatorname", "text", "textbf", "textrm", "textit", "mathtt", "pmb", "mbox", "textnormal",
}  # fmt: skip
UPRIGHT = {"mathrm", "operatorname", "text", "textrm", "mathsf", "mathtt"}
NO_PART = {"hspace", "vspace", "phantom", "hphantom", "vphantom", "color"}  # with their groups
SWITCHES = {"bf": "mathbf", "rm": "mathrm", "it": "mathit", "sf": "mathsf", "cal": "mathcal"}
WORDS = {
    "for", "if", "and", "or", "where", "when", "whenever", "with", "then", "so", "thus", "hence",
    "since", "because", "as", "by", "let", "now", "on", "all", "is", "are", "otherwise", "else",
    "therefore", "that", "such", "but", "we", "have", "given", "using", "from", "also", "in",
}  # fmt: skip
BOLD = {"boldsymbol", "mathbf", "bm", "bold", "mathbb", "vec"}
ACCENTS = {
    "mathbb",
    "mathbbm",
    "mathds",
    "mathcal",
    "hat",
    "tilde",
    "bar",
    "widehat",
    "widetilde",
    "overline",
    "vec",
    "dot",
    "ddot",
    "check",
    "breve",
    "underline",
    "mathfrak",
    "mathscr",
}
SPELLINGS = {
    "log_2": "log2", "log_10": "log10", "arctan": "atan", "arcsin": "asin", "arccos": "acos",
    "arctanh": "atanh", "arcsinh": "asinh", "arccosh": "acosh", "ceiling": "ceil", "max": "Max",
    "min": "Min", "Sqrt": "sqrt", "Exp": "exp", "Log": "log", "Ln": "ln", "Binomial": "binomial",
    "sgn": "sign", "cosec": "csc", "cosech": "csch", "arsinh": "asinh", "arcosh": "acosh",
    "artanh": "atanh", "arctan2": "atan2", "mod": "Mod", "binom": "binomial", "comb": "binomial",
    "choose": "binomial",
}  # fmt: skip
PYTHON_ESCAPES = {"\a": r"\a", "\b": r"\b", "\f": r"\f", "\v": r"\v"}
STRUCTURE = ("Sum", "Product", "Piecewise")
NUMBER = r"(?P<number>(?:\d+(?:_\d{3})*\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)"
NUMBER_IN_LATEX = r"(?P<number>(?:\d{1,3}(?:\\,\d{3})+(?!\d)(?:\.\d+)?|\d+\.?\d*|\.\d+))"
COMMAND = r"(?P<command>\\(?:[A-Za-z]+|.))"
SIGN = r"(?P<sign>\*\*|<=|>=|==|!=|:=|//|\.\.\.|\S)"
TYPED = re.compile(rf"\s*(?:{NUMBER}|(?P<word>[^\W\d_]\w*(?<!_))|{COMMAND}|{SIGN})", re.S)
LATEX = re.compile(rf"\s*(?:{NUMBER_IN_LATEX}|(?P<word>[^\W\d_][^\W_]*)|{COMMAND}|{SIGN})", re.S)


class FormulaError(ValueError):
    """The answer is not a formula we can read; the message says why and what to write instead."""


@lru_cache(MANY_NAMES)
def canonical(name: str) -> str:
    r"""The one spelling of a symbol: β and \beta are `beta`, λ is `lamda`, d_{in} is `d_in`.

    Primes come last: y'_1 is y_1'.
    """
    if "'" in name:
        return canonical(name.replace("'", "")) + "'" * name.count("'")
    if {*"\\{^"} & {*name}:
        return _key_of(name)
    head, *tail = name.split("_", 1)
    letter = head.rstrip("0123456789")  # β1 is beta1
    spelled = {"lambda": "lamda", "Lambda": "Lamda"}.get(letter) or GREEK.get(letter, letter)
    head = spelled + head[len(letter) :]
    return "_".join([head, *tail])


def _key_of(name: str) -> str:
    pieces = tokens(name)
    if not pieces or pieces[0].kind not in ("word", "command"):
        return name
    base, rest = canonical(pieces[0].text), pieces[1:]
    if not rest:
        return base
    marks: dict[str, list[Token]] = {}
    while len(rest) > 1 and rest[0].text in ("_", "^") and rest[0].text not in marks:
        inner, end = _group(rest, 1, name, rest[0])
        marks[rest[0].text], rest = inner, rest[end:]
    if marks and not rest:
        base = indexed(base, marks["_"]) if "_" in marks else base
        return raised(base, marks["^"]) if "^" in marks else base
    if all(p.kind in ("word", "command") for p in rest):  # \Delta\theta, declared as one name
        return base + "".join(p.text for p in rest)
    return name


def indexed(base: str, index: Iterable[Token]) -> str:
    """The name with an index: d_in, beta_1, or v_{t-1} where the index is more than a word."""
    text = "".join(token.text for token in index)
    return f"{base}_{text}" if re.fullmatch(r"\w+", text) else f"{base}_{{{text}}}"


def raised(base: str, mark: Iterable[Token]) -> str:
    """The name with a mark above: x^{*}, W^{(1)}."""
    return f"{base}^{{{''.join(token.text for token in mark)}}}"


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
    """The words of a formula: the symbols and functions of the exercise, and those of everybody.

    `indices` says of a name with an index how many it takes: as a sequence, then as an array.
    """

    symbols: frozenset[str]
    functions: frozenset[str]
    known: frozenset[str]
    constants: frozenset[str]
    indices: Mapping[str, tuple[int, int]] = field(default_factory=dict)
    arrays: frozenset[str] = frozenset()  # functions of vectors and matrices

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
        return {"π": "pi", "pi": "pi", **self.spelled}

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


def vocabulary_of(
    symbols: Iterable[str],
    functions: Iterable[str],
    known: Iterable[str],
    constants: Iterable[str],
    indices: Mapping[str, tuple[int, int]] | None = None,
    arrays: Iterable[str] = (),
) -> Vocabulary:
    """The words of an exercise, each in its one spelling."""
    applied = frozenset(map(canonical, functions))
    if indices is None:  # what is applied to i may be written with the index i
        indices = dict.fromkeys(applied, (1, 0))
    own = frozenset(map(canonical, symbols))
    return Vocabulary(
        own, applied, frozenset(known), frozenset(constants), indices, frozenset(arrays)
    )


# -- tokens ---------------------------------------------------------------------------------------


class Token(NamedTuple):
    """A piece of a formula: its kind, its one spelling, how it was written, and where."""

    kind: str  # number, word, command, sign, text; in a tree symbol, stranger, function, other
    text: str
    written: str
    place: int
    end: int


def without_escapes(text: str) -> str:
    r"""The text as it was typed: in "\beta" Python takes \b for a sign of its own."""
    text = re.sub("[\a\b\f\v]", lambda m: PYTHON_ESCAPES[m[0]], text)
    text = re.sub("\t(?=au|heta|imes|an|ext|frac|op)", r"\\t", text)
    return re.sub("\r(?=ight|ho|floor|ceil|vert)", r"\\r", text)


def is_latex(text: str) -> bool:
    """Whether a text is written in LaTeX: there a power is one sign, or a group."""
    in_dollars = text.strip().startswith("$") and "**" not in text
    return "\\" in text or "{" in text or in_dollars or bool(re.search(r"\^\d_", text))


def tokens(text: str) -> list[Token]:
    """The pieces of a formula, without fonts and spaces; a FormulaError if there is no end."""
    text = without_escapes(text)
    plain, places = _plain(text)
    found = []
    for match in (LATEX if is_latex(text) else TYPED).finditer(plain):
        kind = match.lastgroup
        if kind is None:
            continue
        start, end = match.span(kind)
        place, after = places[start], places[end - 1] + 1
        found.append(Token(kind, match[kind], match[kind], place, after))
    _refuse_variants({t.text for t in found}, text)
    return _without_empty_groups(list(_read_commands(_with_indices_grouped(found), text)))


def _with_indices_grouped(found: list[Token]) -> list[Token]:
    """Word copies v_{t-1} as v_(t-1): these brackets are the group of the index."""
    opened: list[bool] = []  # of every open bracket, whether it is one of these
    grouped = []
    for before, token in zip([None, *found], found, strict=False):
        if token.text == "(":
            opened.append(before is not None and before.text == "_")
            token = token._replace(text="{") if opened[-1] else token
        elif token.text == ")" and opened and opened.pop():
            token = token._replace(text="}")
        grouped.append(token)
    return grouped


def _without_empty_groups(found: list[Token]) -> list[Token]:
    """Without ^{} and {}, and h_t for {h}_t: programs that write LaTeX leave such groups."""
    kept: list[Token] = []
    for k, token in enumerate(found):
        kept.append(token)
        opens = len(kept) - 2 if [t.text for t in kept[-2:]] == ["{", "}"] else len(kept) - 3
        if token.text != "}" or opens < 0 or kept[opens].text != "{":
            continue
        before = kept[opens - 1] if opens else token._replace(kind="", text="")
        argument = before.kind == "command" and before.text not in LETTERS
        if opens == len(kept) - 2:
            if not argument and before.text != "}":
                del kept[opens - (before.text in ("^", "_")) :]
            continue
        index = [t.text for t in found[k + 1 : k + 2]] == ["_"]
        one = kept[-2].kind in ("word", "command") and before.text not in ("^", "_", "}", "]")
        if one and index and not argument:
            kept[opens:] = [kept[-2]]
    return kept


def _refuse_variants(texts: set[str], text: str) -> None:
    r"""\phi and \varphi are one name, so a text that has both would mix them up."""
    for one, other in VARIANTS:
        if one in texts and other in texts:
            why = f"{one} and {other} are one name here: take another letter for one of them"
            raise FormulaError(f"{quoted(text)}: {why}.")


def _plain(text: str) -> tuple[str, list[int]]:
    """The same without superscripts, fractions in one sign and the like; where each sign was."""
    if mixed := re.search(r"(?<!\d)(\d+)\s*([½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞])", text):
        whole, part = mixed[1], unicodedata.normalize("NFKC", mixed[2]).replace("⁄", "/")
        raise FormulaError(
            f"{quoted(text)} can be read in two ways: "
            f"did you mean `{whole} + {part}` or `{whole}*({part})`?"
        )
    plain, places = [], []
    for form, run in groupby(enumerate(text), lambda pair: _form(pair[1])):
        pieces = [(place, _spelled(form, character)) for place, character in run]
        around = {"super": ("^(", ")"), "sub": ("_", "")}.get(form, ("", ""))
        if form == "super" and (pieces[0][1] == "(" or [p for _, p in pieces] == ["T"]):
            around = "^{", "}"  # ⁽ⁱ⁾ is an index, ᵀ a transpose
        pieces = [(pieces[0][0], around[0]), *pieces, (pieces[-1][0], around[1])]
        for place, piece in pieces:
            plain.append(piece)
            places += [place] * len(piece)
    return "".join(plain), places


def _form(character: str) -> str:
    """`super` for ², `fraction` for ½, `sub` for ₁, `circle` for ①, else nothing of note."""
    if character in SIGNS:
        return ""
    mark = unicodedata.decomposition(character).partition(">")
    return mark[0][1:] if mark[1] else ""


def _spelled(form: str, character: str) -> str:
    if form == "circle":
        return character
    if character in SIGNS:
        return SIGNS[character]
    plain = "".join(SIGNS.get(c, c) for c in unicodedata.normalize("NFKC", character))
    return f"({plain})" if form == "fraction" else plain


def _read_commands(found: list[Token], text: str) -> Iterator[Token]:
    """Signs for LaTeX's names of them; groups that a font or an accent takes as one piece."""
    place, dropped = 0, "$~" if is_latex(text) else "$"
    while place < len(found):
        token = found[place]
        place += 1
        if token.text == "{" and place < len(found) and found[place].text[1:] in SWITCHES:
            inner, end = _group(found, place - 1, text, token)  # {\bf x} is \mathbf{x}
            font = SWITCHES[found[place].text[1:]]
            whole = token._replace(end=found[end - 1].end)
            yield from _in_a_font(font, list(_read_commands(inner[1:], text)), whole, text)
            place = end
            continue
        if _is_big(found, place - 1):
            yield token._replace(kind="command", text=BIG_WORDS[token.text])
            continue
        if token.text == "mod" and place > 1 and place < len(found) and found[place].text != "(":
            yield token._replace(kind="command", text="bmod")
            continue
        if token.kind != "command":
            dots = token.text == "..."
            if token.text not in dropped:
                yield token._replace(kind="command", text="ldots") if dots else token
            continue
        name = token.text[1:]
        if name == "not" and place < len(found) and found[place].text == "=":
            place += 1
            yield token._replace(kind="sign", text="!=", end=found[place - 1].end)
        elif token.text == r"\\":
            yield token._replace(kind="sign")
        elif name in NO_PART or name == "textcolor":
            _, place = _group(found, place, text, token)
        elif name in BARE:
            inner, place = _group(found, place, text, token)
            group = [token._replace(kind="sign", text=bracket) for bracket in "{}"]
            switch = bool(inner) and inner[0].text[1:] in SWITCHES  # \mathop{\rm max}
            yield from _read_commands([group[0], *inner, group[1]] if switch else inner, text)
        elif name in FONTS or name in ACCENTS:
            place += place < len(found) and found[place].text == "*"  # \operatorname*{max}
            inner, place = _group(found, place, text, token)
            whole = token._replace(end=found[place - 1].end)
            yield from _in_a_font(name, list(_read_commands(inner, text)), whole, text)
        elif name in SIDES and place < len(found) and found[place].text in BARS:
            bar = found[place]
            place += 1
            sign, kind = (BARS[bar.text], "sign") if SIDES[name] else ("mid", "command")
            yield Token(kind, sign, token.text + bar.text, token.place, bar.end)
        elif name in COMMANDS:
            if name in ("left", "right") and place < len(found) and found[place].text == ".":
                place += 1  # no bracket
            if COMMANDS[name]:
                yield token._replace(kind="sign", text=COMMANDS[name])
        else:
            name = SAME_COMMAND.get(name, name)
            yield token._replace(text=name, written=LETTERS.get(name, token.written))


def _is_big(found: list[Token], place: int) -> bool:
    r"""Whether Σ, \Sigma or a typed sum is a sum sign: its index has its first value behind =."""
    if found[place].text not in BIG_WORDS or place + 2 >= len(found):
        return False
    if found[place + 1].text != "_" or found[place + 2].text not in ("{", "("):
        return False
    depth = 0
    for token in found[place + 2 :]:
        depth += (token.text in ("{", "(")) - (token.text in ("}", ")"))
        if token.text == "=" or not depth:
            return token.text == "="
    return False


def side_of(bar: Token) -> int:
    r"""1 for a bar that opens, as \left| does, −1 for one that closes; 0 if it does not tell."""
    name = re.match(r"\\([A-Za-z]+)", bar.written)
    return SIDES.get(name[1], 0) if name else 0


def _group(found: list[Token], place: int, text: str, token: Token) -> tuple[list[Token], int]:
    """The tokens of the group that starts here, or the one token; and where it ends."""
    if place >= len(found):
        raise FormulaError(f"{quoted(text)}: after {token.written} something is missing.")
    if found[place].text != "{":
        return [found[place]], place + 1
    depth = 0
    for end in range(place, len(found)):
        depth += (found[end].text == "{") - (found[end].text == "}")
        if not depth:
            return found[place + 1 : end], end + 1
    raise FormulaError(f"{quoted(text)} is not a formula: close every bracket; a {{ stays open.")


def _are_words(inner: list[Token], whole: Token, text: str) -> bool:
    r"""Whether \text says something: \text{ for } and \text{if}, while \text{loss} is a name."""
    group = text[whole.place : whole.end].partition("{")[2][:-1]
    apart = group != group.strip() or inner[0].text.lower() in WORDS
    return len(inner) > 1 or not inner[0].text.isalnum() or apart


def _in_a_font(font: str, inner: list[Token], token: Token, text: str) -> Iterator[Token]:
    if not inner:
        return
    whole = inner[0]._replace(place=token.place, end=token.end)
    font = "mathbb" if font in ("mathbbm", "mathds") else font
    one = len(inner) == 1 and inner[0].text in ("0", "1")
    if font in ACCENTS and not (one and font in BOLD):
        behind: list[Token] = []
        if len(inner) > 2 and inner[1].text == "_":  # \hat{y_i} is \hat{y}_i
            _, end = _group(inner, 2, text, inner[1])
            inner, behind = (inner[:1], inner[1:]) if end == len(inner) else (inner, [])
        name = "".join(t.text for t in inner).replace("_", "↓")  # it has no index of its own
        written = f"\\{font}{{{''.join(t.written for t in inner)}}}"
        yield whole._replace(kind="word", text=f"{font}{{{name}}}", written=written)
        yield from behind
    elif font in BOLD and one:
        yield whole._replace(kind="word", text="ones" if inner[0].text == "1" else "zeros")
    elif font.startswith(("text", "mbox")) and _are_words(inner, whole, text):
        words = text[inner[0].place : inner[-1].end]
        yield whole._replace(kind="text", text=words, written=words)
    elif all(t.kind == "word" for t in inner):
        name = "".join(t.text for t in inner)
        upright = len(name) > 1 and font in UPRIGHT
        yield whole._replace(text=name, written=rf"\{font}{{{name}}}" if upright else name)
    else:
        yield from inner
