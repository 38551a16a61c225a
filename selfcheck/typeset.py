r"""Formulas in LaTeX, set as MathML: every browser shows it by itself, and reads it aloud.

    set_formula(r"\frac{1}{2} x^2")            # <math>…</math>
    set_text("where $x > 0$, say", unread)     # HTML in which every formula is set

What is not known is refused (`Unset`), never guessed: a page then asks MathJax for that formula.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

# What stands between these is a formula; as in the notebooks, \$ is a dollar.
FORMULA = re.compile(
    r"(?<!\\)\$\$(?P<block>.+?)(?<!\\)\$\$|\\\[(?P<also>.+?)\\\]"
    r"|(?<!\\)\$(?P<line>[^$]+?)(?<!\\)\$|\\\((?P<inside>.+?)\\\)",
    re.DOTALL,
)
TOKEN = re.compile(r"\\([a-zA-Z]+\*?|.)|(\s+|%[^\n]*\n?)|(\d+(?:\.\d+)?|.)", re.DOTALL)
OPENING, CLOSING = r"[(\[“‘]*", r"[.,;:?!)\]’”%]*"  # stay on the line of their formula

# -- what commands mean ---------------------------------------------------------------------------


def _table(text: str) -> dict[str, str]:
    return dict(pair.split("=", 1) for pair in text.split())


LETTERS = _table(
    "alpha=α beta=β gamma=γ delta=δ epsilon=ϵ varepsilon=ε zeta=ζ eta=η theta=θ vartheta=ϑ iota=ι "
    "kappa=κ lambda=λ mu=μ nu=ν xi=ξ omicron=ο pi=π varpi=ϖ rho=ρ varrho=ϱ sigma=σ varsigma=ς "
    "tau=τ upsilon=υ phi=ϕ varphi=φ chi=χ psi=ψ omega=ω ell=ℓ imath=ı jmath=ȷ"
)
# Upright, and with no space around them.
SIGNS = _table(
    "Gamma=Γ Delta=Δ Theta=Θ Lambda=Λ Xi=Ξ Pi=Π Sigma=Σ Upsilon=Υ Phi=Φ Psi=Ψ Omega=Ω infty=∞ "
    "partial=∂ nabla=∇ forall=∀ exists=∃ nexists=∄ emptyset=∅ varnothing=∅ top=⊤ bot=⊥ hbar=ℏ Re=ℜ "
    "Im=ℑ aleph=ℵ angle=∠ triangle=△ square=□ blacksquare=■ checkmark=✓ dagger=† ddagger=‡ "
    "prime=′ dots=… ldots=… cdots=⋯ vdots=⋮ ddots=⋱ neg=¬ lnot=¬ clubsuit=♣ star=⋆ "
    "#=# $=$ %=% &=& _=_"
)
BINARY = _table(
    "cdot=⋅ times=× div=÷ pm=± mp=∓ ast=∗ circ=∘ bullet=• odot=⊙ oplus=⊕ ominus=⊖ otimes=⊗ cup=∪ "
    "cap=∩ setminus=∖ wedge=∧ land=∧ vee=∨ lor=∨ bmod=mod"
)
RELATIONS = _table(
    "le=≤ leq=≤ leqslant=⩽ ge=≥ geq=≥ geqslant=⩾ lt=&lt; gt=&gt; ne=≠ neq=≠ ll=≪ gg=≫ approx=≈ "
    "sim=∼ simeq=≃ cong=≅ equiv=≡ propto=∝ in=∈ notin=∉ ni=∋ subset=⊂ subseteq=⊆ supset=⊃ "
    "supseteq=⊇ perp=⊥ parallel=∥ mid=∣ nmid=∤ prec=≺ preceq=⪯ succ=≻ succeq=⪰ vdash=⊢ models=⊨ "
    "to=→ rightarrow=→ leftarrow=← gets=← leftrightarrow=↔ Rightarrow=⇒ Leftarrow=⇐ "
    "Leftrightarrow=⇔ iff=⟺ implies=⟹ impliedby=⟸ longrightarrow=⟶ longleftarrow=⟵ "
    "Longrightarrow=⟹ Longleftarrow=⟸ Longleftrightarrow=⟺ mapsto=↦ longmapsto=⟼ uparrow=↑ "
    "downarrow=↓ hookrightarrow=↪ colon=: coloneqq=≔ triangleq=≜ asymp=≍ doteq=≐"
)
LARGE = _table(
    "sum=∑ prod=∏ coprod=∐ bigcup=⋃ bigcap=⋂ bigoplus=⨁ bigotimes=⨂ bigodot=⨀ bigvee=⋁ bigwedge=⋀ "
    "int=∫ iint=∬ oint=∮"
)
FENCES = _table(
    "(=( )=) [=[ ]=] |=| /=/ {={ }=} lbrace={ rbrace=} langle=⟨ rangle=⟩ lfloor=⌊ rfloor=⌋ "
    "lceil=⌈ rceil=⌉ vert=| lvert=| rvert=| Vert=‖ lVert=‖ rVert=‖ lbrack=[ rbrack=] <=⟨ >=⟩ .="
)
OPENS, CLOSES = set("([{⟨⌊⌈"), set(")]}⟩⌋⌉")
ACCENTS = _table(
    "hat=^ widehat=^ tilde=~ widetilde=~ bar=¯ overline=‾ vec=→ overrightarrow=→ dot=˙ ddot=¨ "
    "check=ˇ breve=˘ acute=´ grave=`"
)
STRETCHED = {"widehat", "widetilde", "overline", "overrightarrow"}
NAMED = {
    "arccos", "arcsin", "arctan", "arg", "cos", "cosh", "cot", "coth", "csc", "deg", "dim", "exp",
    "hom", "ker", "lg", "ln", "log", "sec", "sin", "sinh", "tan", "tanh",
}  # fmt: skip
LIMITS = {
    "argmax", "argmin", "det", "gcd", "inf", "lim", "liminf", "limsup", "max", "min", "Pr", "sup",
}  # fmt: skip
SPACES = _table(
    ",=.1667 :=.2222 >=.2222 ;=.2778 !=-.1667 thinspace=.1667 medspace=.2222 thickspace=.2778 "
    "quad=1 qquad=2 enspace=.5"
) | {" ": ".25", "~": ".25"}
SIZES = {"big": "1.2em", "Big": "1.8em", "bigg": "2.4em", "Bigg": "3em"}
STYLES = {
    "displaystyle": 'displaystyle="true" scriptlevel="0"',
    "textstyle": 'displaystyle="false" scriptlevel="0"',
    "scriptstyle": 'displaystyle="false" scriptlevel="1"',
    "scriptscriptstyle": 'displaystyle="false" scriptlevel="2"',
}
# Where an alphabet's A, a and 0 stand, and its letters that were there before it.
ALPHABETS = {
    "mathbf": (0x1D400, 0x1D41A, 0x1D7CE, {}),
    "boldsymbol": (0x1D468, 0x1D482, 0x1D7CE, {}),
    "mathbb": (0x1D538, 0x1D552, 0x1D7D8, dict(zip("CHNPQRZ", "ℂℍℕℙℚℝℤ", strict=True))),
    "mathcal": (0x1D49C, 0x1D4B6, 0, dict(zip("BEFHILMRego", "ℬℰℱℋℐℒℳℛℯℊℴ", strict=True))),
    "mathfrak": (0x1D504, 0x1D51E, 0, dict(zip("CHIRZ", "ℭℌℑℜℨ", strict=True))),
    "mathsf": (0x1D5A0, 0x1D5BA, 0x1D7E2, {}),
    "mathtt": (0x1D670, 0x1D68A, 0x1D7F6, {}),
    "mathrm": (0, 0, 0, {}),
    "mathit": (0x1D434, 0x1D44E, 0, {"h": "ℎ"}),
}
ALPHABETS |= {"bm": ALPHABETS["boldsymbol"], "mathscr": ALPHABETS["mathcal"]}
BOLD_GREEK = 0x1D736  # α in boldsymbol
ALIGNED = {"aligned", "align", "align*", "alignedat", "split", "gathered", "gather", "gather*"}
MATRICES = {
    "matrix": "  ", "pmatrix": "()", "bmatrix": "[]", "Bmatrix": "{}", "vmatrix": "||",
    "Vmatrix": "‖‖", "cases": "{ ", "array": "  ", "smallmatrix": "  ",
}  # fmt: skip
FORMS = ("prefix", "postfix")
BRACES = {"underbrace": ("munder", "⏟"), "overbrace": ("mover", "⏞")}


class Unset(ValueError):
    """A formula, or a part of one, that is not known here."""


class Token(NamedTuple):
    """A command by its name, or a sign as it stands."""

    text: str
    command: bool = False


@dataclass(frozen=True)
class Atom:
    """A piece of a formula: its markup, and what it is to its neighbors, as in TeX."""

    markup: str
    kind: str = "ord"  # op, bin, rel, open, close, punct, space
    limits: bool = False  # its indices stand above and below it, where there is room


# -- reading --------------------------------------------------------------------------------------


class _Reader:
    """A formula, read once from left to right."""

    def __init__(self, tex: str, alphabet: str = "") -> None:
        tokens = [(m[1], m[3], m[2]) for m in TOKEN.finditer(tex)]
        self.tokens = [
            Token(command, True) if command else Token(sign or " ")
            for command, sign, space in tokens
        ]
        self.place = 0
        self.tag = ""
        self.alphabet = alphabet  # of all letters, within \\mathbf{…}

    def peek(self) -> Token | None:
        """The next token that is no space."""
        while self.place < len(self.tokens) and self.tokens[self.place] == Token(" "):
            self.place += 1
        return self.tokens[self.place] if self.place < len(self.tokens) else None

    def take(self) -> Token:
        """The same, and on."""
        found = self.peek()
        if found is None:
            raise Unset("it ends too early")
        self.place += 1
        return found

    def expect(self, sign: str) -> None:
        """Go past this sign."""
        if self.take() != Token(sign):
            raise Unset(f"{sign} is missing")

    def raw(self, opening: str = "{", closing: str = "}") -> str:
        """What stands in braces, letter by letter."""
        self.expect(opening)
        depth = 1
        parts: list[str] = []
        while self.place < len(self.tokens):
            token = self.tokens[self.place]
            self.place += 1
            depth += (token == Token(opening)) - (token == Token(closing))
            if not depth:
                return "".join(parts)
            parts.append(f"\\{token.text}" if token.command else token.text)
        raise Unset(f"{closing} is missing")

    # -- rows

    def atoms(self, ends: Callable[[Token], bool]) -> list[Atom]:
        """Atoms up to a token that ends them, which stays."""
        found: list[Atom] = []
        while (token := self.peek()) is not None and not ends(token):
            if token.command and token.text in STYLES:
                self.take()
                inside = _row(self.atoms(ends))
                return [*found, Atom(f"<mstyle {STYLES[token.text]}>{inside}</mstyle>")]
            if token.command and token.text == "color":
                self.take()
                color = _color(self.raw())
                inside = _row(self.atoms(ends))
                return [*found, Atom(f'<mrow style="color:{color}">{inside}</mrow>')]
            found.append(self.scripted())
        return found

    def row(self) -> str:
        """The argument of a command: a group in braces, or one atom."""
        token = self.peek()
        if token != Token("{"):
            if token and token.text[0].isdigit() and len(token.text) > 1:  # \\frac12 is a half
                self.tokens[self.place : self.place + 1] = map(Token, token.text)
            return _row([self.atom()])
        self.take()
        inside = self.atoms(lambda token: token == Token("}"))
        self.expect("}")
        return _row(inside)

    def scripted(self) -> Atom:
        """An atom with what is written below and above it."""
        base = self.atom() if self.peek() not in (Token("^"), Token("_")) else Atom("<mrow></mrow>")
        below = above = ""
        limits = base.limits
        while (token := self.peek()) is not None:
            if token in (Token("limits", True), Token("nolimits", True)):
                self.take()
                limits = token.text == "limits"
            elif token == Token("_") and not below:
                self.take()
                below = self.row()
            elif token == Token("^") and not above:
                self.take()
                above = self.row()
            elif token == Token("'"):
                self.take()
                prime = '<mo lspace="0" rspace="0">′</mo>'  # stands high by itself
                base = replace(base, markup=f"<mrow>{base.markup}{prime}</mrow>")
            else:
                break
        if not below and not above:
            return base
        below, above = _tight(below), _tight(above)
        name = ("munder", "mover", "munderover") if limits else ("msub", "msup", "msubsup")
        which = name[2] if below and above else name[0] if below else name[1]
        kind = base.kind if base.kind in ("op", "open", "close") else "ord"
        return Atom(f"<{which}>{base.markup}{below}{above}</{which}>", kind)

    # -- atoms

    def atom(self) -> Atom:
        """The next piece by itself."""
        token = self.take()
        if token.command:
            return self.command(token.text)
        sign = token.text
        if sign == "{":
            self.place -= 1
            return Atom(self.row())
        if self.alphabet and sign[0].isalnum():
            return Atom(_in_alphabet(self.alphabet, sign))
        if sign[0].isdigit():
            return Atom(f"<mn>{sign}</mn>")
        if sign.isalpha():
            return Atom(f"<mi>{sign}</mi>")
        if sign in "+-*":
            return Atom(_sign({"-": "−", "*": "∗"}.get(sign, sign)), "bin")
        if sign in "=<>:":
            return Atom(_sign(html.escape(sign)), "rel")
        if sign in ",;":
            return Atom(_sign(sign), "punct")
        if sign in FENCES and sign not in "<>.":
            return _fence(FENCES[sign])
        if sign in SPACES:
            return Atom(f'<mspace width="{SPACES[sign]}em"/>', "space")
        if sign in ".!?/…′":
            return Atom(f'<mo lspace="0" rspace="0" stretchy="false">{sign}</mo>')
        for kind, known in (("rel", RELATIONS), ("bin", BINARY), ("", SIGNS)):
            if sign in known.values():
                return Atom(_sign(sign) if kind else f"<mi>{sign}</mi>", kind or "ord")
        raise Unset(f"{sign!r} is not known")

    def command(self, name: str) -> Atom:
        """The meaning of a command, with its arguments."""
        if name in LETTERS:
            return Atom(f"<mi>{LETTERS[name]}</mi>")
        if name in SIGNS:
            return Atom(f'<mi mathvariant="normal">{html.escape(SIGNS[name])}</mi>')
        if name in BINARY:
            return Atom(_sign(BINARY[name]), "bin")
        if name in RELATIONS:
            return Atom(_sign(RELATIONS[name]), "rel")
        if name in LARGE:
            return Atom(f"<mo>{LARGE[name]}</mo>", "op", LARGE[name] not in "∫∬∮")
        if name in NAMED or name in LIMITS:
            return _operator(name, name in LIMITS)
        if name in SPACES:
            return Atom(f'<mspace width="{SPACES[name]}em"/>', "space")
        if name in FENCES:
            return _fence("‖" if name == "|" else FENCES[name])
        if (name.rstrip("lrm") in SIZES and name != name.rstrip("lrm")) or name in SIZES:
            return self.sized(name)
        if name in ACCENTS:
            stretchy = str(name in STRETCHED).lower()
            mark = f'<mo stretchy="{stretchy}">{html.escape(ACCENTS[name])}</mo>'
            return Atom(f'<mover accent="true">{self.row()}{mark}</mover>')
        if name in ALPHABETS:
            return Atom(_in_alphabet(name, self.raw() if self.peek() == Token("{") else self.one()))
        if name in BRACES:
            tag, brace = BRACES[name]
            over = f'<{tag}>{self.row()}<mo stretchy="true">{brace}</mo></{tag}>'
            return Atom(over, "op", limits=True)
        method = getattr(self, f"_{name.rstrip('*')}", None)
        if method is None:
            raise Unset(f"\\{name} is not known")
        found: Atom = method()
        return found

    def one(self) -> str:
        token = self.take()
        return f"\\{token.text}" if token.command else token.text

    def sized(self, name: str) -> Atom:
        """A bracket of a given size: \\bigl( and its kin."""
        size = SIZES[name.rstrip("lrm") or name]
        sign = self.delimiter()
        kind = {"l": "open", "r": "close", "m": "rel"}.get(name[-1] if name not in SIZES else "")
        form = {"open": ' form="prefix"', "close": ' form="postfix"'}.get(kind or "", "")
        about = f'minsize="{size}" maxsize="{size}" stretchy="true" symmetric="true"{form}'
        return Atom(f'<mo {about} lspace="0" rspace="0">{sign}</mo>', kind or "ord")

    def delimiter(self) -> str:
        """The bracket that comes next, as text; nothing for a dot."""
        token = self.take()
        if token.text not in FENCES:
            raise Unset(f"{token.text} is no bracket")
        sign = "‖" if token == Token("|", True) else FENCES[token.text]
        return html.escape(sign)

    def _left(self) -> Atom:
        opening = self.delimiter()
        parts = [_stretched(opening, "prefix")]
        while True:
            inside = self.atoms(lambda t: t.command and t.text in ("right", "middle"))
            parts.append(_row(inside))
            last = self.take().text == "right"
            parts.append(_stretched(self.delimiter(), "postfix" if last else "infix"))
            if last:
                return Atom(f"<mrow>{''.join(parts)}</mrow>", "inner")

    def _frac(self, style: str = "") -> Atom:
        inside = f"<mfrac>{self.row()}{self.row()}</mfrac>"
        return Atom(f"<mstyle {STYLES[style]}>{inside}</mstyle>" if style else inside)

    def _tfrac(self) -> Atom:
        return self._frac("textstyle")

    def _dfrac(self) -> Atom:
        return self._frac("displaystyle")

    def _binom(self) -> Atom:
        inside = f'<mfrac linethickness="0">{self.row()}{self.row()}</mfrac>'
        return Atom(f"<mrow>{_stretched('(', 'prefix')}{inside}{_stretched(')', 'postfix')}</mrow>")

    def _sqrt(self) -> Atom:
        if self.peek() != Token("["):
            return Atom(f"<msqrt>{self.row()}</msqrt>")
        degree = _whole(self.raw("[", "]"))
        return Atom(f"<mroot>{self.row()}{degree}</mroot>")

    def _text(self) -> Atom:
        pieces = []
        for k, piece in enumerate(self.raw().split("$")):
            if k % 2:
                pieces.append(_whole(piece))
            elif piece:
                words = re.sub(r"\\([#$%&_ ])", r"\1", piece).replace("~", " ")
                if "\\" in words:
                    raise Unset("a command stands in a text")
                words = re.sub(r"^\s|\s$", "\u00a0", words)
                pieces.append(f"<mtext>{html.escape(words, quote=False)}</mtext>")
        return Atom(pieces[0] if len(pieces) == 1 else f"<mrow>{''.join(pieces)}</mrow>")

    _textrm = _textnormal = _mbox = _text

    def _textbf(self) -> Atom:
        return Atom(f'<mrow style="font-weight:bold">{self._text().markup}</mrow>')

    def _textit(self) -> Atom:
        return Atom(f'<mrow style="font-style:italic">{self._text().markup}</mrow>')

    _emph = _textit

    def _operatorname(self) -> Atom:
        star = self.tokens[self.place - 1].text.endswith("*")
        return _operator(html.escape(self.raw().replace("\\,", "\u2009")), star)

    def _boxed(self) -> Atom:
        return Atom(f'<mrow class="boxed">{self.row()}</mrow>')

    def _underline(self) -> Atom:
        return Atom(f'<munder>{self.row()}<mo stretchy="true">_</mo></munder>')

    def _textcolor(self) -> Atom:
        color = _color(self.raw())
        return Atom(f'<mrow style="color:{color}">{self.row()}</mrow>')

    def _phantom(self) -> Atom:
        return Atom(f"<mphantom>{self.row()}</mphantom>")

    def _overset(self) -> Atom:
        over = self.row()
        return Atom(f"<mover>{self.row()}{over}</mover>", "rel")

    _stackrel = _overset

    def _underset(self) -> Atom:
        under = self.row()
        return Atom(f"<munder>{self.row()}{under}</munder>", "op")

    def _not(self) -> Atom:
        sign = re.search(r">([^<>]+)</m[oi]>$", self.atom().markup)
        if sign is None or len(html.unescape(sign[1])) != 1:
            raise Unset("\\not stands before more than a sign")
        return Atom(_sign(sign[1] + "\u0338"), "rel")

    def _pmod(self) -> Atom:
        return Atom(f'<mspace width="1em"/><mo>(</mo><mi>mod</mi>'
                    f'<mspace width=".33em"/>{self.row()}<mo>)</mo>')  # fmt: skip

    def _mathbin(self) -> Atom:
        return Atom(self.row(), "bin")

    def _mathrel(self) -> Atom:
        return Atom(self.row(), "rel")

    def _mathop(self) -> Atom:
        return Atom(self.row(), "op", limits=True)

    def _mathord(self) -> Atom:
        return Atom(self.row())

    _mathopen = _mathclose = _mathpunct = _mathinner = _mathord

    def _mathstrut(self) -> Atom:
        return Atom("<mphantom><mo>(</mo></mphantom>")

    def _hspace(self) -> Atom:
        width = self.raw().strip()
        if not re.fullmatch(r"-?[\d.]+(em|ex|px|pt)", width):
            raise Unset(f"{width} is no width")
        return Atom(f'<mspace width="{width}"/>', "space")

    def _tag(self) -> Atom:
        self.tag = self.raw()
        return Atom("", "space")

    def _nonumber(self) -> Atom:
        return Atom("", "space")

    _notag = _nonumber

    def _begin(self) -> Atom:
        name = self.raw()
        if name not in ALIGNED and name not in MATRICES:
            raise Unset(f"the environment {name} is not known")
        columns = self.raw() if name in ("array", "alignedat") else ""
        rows: list[list[str]] = []
        cells: list[str] = []

        def ends(token: Token) -> bool:
            return token == Token("&") or (token.command and token.text in ("\\", "end"))

        while True:
            inside = self.atoms(ends)
            second = name in ALIGNED and len(cells) % 2 == 1
            cells.append(_row([Atom("<mrow></mrow>"), *inside] if second and inside else inside))
            token = self.take()
            if token == Token("&"):
                continue
            rows.append(cells)
            cells = []
            if token.text == "end":
                break
            if self.tokens[self.place : self.place + 1] == [Token("[")]:
                self.raw("[", "]")  # more space below a row
        if self.raw() != name:
            raise Unset(f"\\end{{{name}}} is missing")
        if rows and rows[-1] in ([""], ["<mrow></mrow>"]):
            rows.pop()
        return Atom(_framed(name, rows, columns))


# -- writing --------------------------------------------------------------------------------------


def _sign(sign: str) -> str:
    return f"<mo>{sign}</mo>"


def _tight(markup: str) -> str:
    """Without spaces around its signs, as TeX sets indices."""
    return re.sub(r'<mo(?= form="\w+fix">|>)', '<mo lspace="0" rspace="0"', markup)


def _fence(sign: str) -> Atom:
    kind = "open" if sign in OPENS else "close" if sign in CLOSES else "ord"
    space = "" if kind != "ord" else ' lspace="0" rspace="0"'
    return Atom(f'<mo stretchy="false"{space}>{sign}</mo>', kind)


def _stretched(sign: str, form: str) -> str:
    return f'<mo stretchy="true" form="{form}">{sign}</mo>' if sign.strip() else ""


def _operator(name: str, limits: bool) -> Atom:
    words = {"argmax": "arg\u2009max", "argmin": "arg\u2009min", "limsup": "lim\u2009sup",
             "liminf": "lim\u2009inf"}.get(name, name)  # fmt: skip
    if limits:
        about = 'movablelimits="true" form="prefix" lspace="0" rspace="0"'
        return Atom(f"<mo {about}>{words}</mo>", "op", limits=True)
    return Atom(f'<mi mathvariant="normal">{words}</mi>', "op")


def _color(name: str) -> str:
    if not re.fullmatch(r"[a-zA-Z]+|#[0-9a-fA-F]{3,8}|var\(--[\w-]+\)", name):
        raise Unset(f"{name} is no color")
    return name


def _in_alphabet(alphabet: str, text: str) -> str:
    """Letters of an alphabet; words in it are one name."""
    big, small, digits, apart = ALPHABETS[alphabet]
    found = []
    text = re.sub(r"\\(?:[,;! ]|quad)", " ", text)
    if ("\\" in text and alphabet == "boldsymbol") or alphabet == "bm":
        text = re.sub(r"\\([a-zA-Z]+)", lambda m: LETTERS.get(m[1], SIGNS.get(m[1], m[0])), text)
    if re.search(r"[\\{}_^]", text):
        return _whole(text, alphabet)
    for letter in text:
        start = big if "A" <= letter <= "Z" else small if "a" <= letter <= "z" else 0
        if letter in apart:
            found.append(apart[letter])
        elif start:
            found.append(chr(start + ord(letter) - ord("A" if letter.isupper() else "a")))
        elif digits and letter.isdigit():
            found.append(chr(digits + int(letter)))
        elif alphabet in ("boldsymbol", "bm") and "α" <= letter <= "ω":
            found.append(chr(BOLD_GREEK + ord(letter) - ord("α")))
        else:
            found.append(letter)
    return f'<mi mathvariant="normal">{html.escape("".join(found), quote=False)}</mi>'


def _row(atoms: Sequence[Atom]) -> str:
    """Atoms side by side, with TeX's thin spaces; a sign before a term is told from one within."""
    parts: list[str] = []
    before = "start"
    for k, atom in enumerate(atoms):
        markup, kind = atom.markup, atom.kind
        if kind == "bin" and before in ("start", "bin", "rel", "open", "punct", "op"):
            markup, kind = markup.replace("<mo>", '<mo form="prefix">', 1), "ord"
        elif kind == "bin" and (k + 1 == len(atoms) or atoms[k + 1].kind in ("close", "rel")):
            kind = "ord"
        elif kind == "bin":
            markup = markup.replace("<mo>", '<mo form="infix">', 1)
        thin = before in ("ord", "close", "inner") and kind == "op"
        thin = thin or (before == "op" and kind in ("ord", "op"))
        if thin and "<mo>∑" not in markup:
            parts.append('<mspace width=".1667em"/>')
        parts.append(markup)
        if kind != "space":
            before = kind
    inside = "".join(parts)
    return inside if len(parts) == 1 and inside.startswith("<m") else f"<mrow>{inside}</mrow>"


def _framed(name: str, rows: Sequence[Sequence[str]], columns: str) -> str:
    """The table of an environment, within its brackets."""
    sides = re.sub(r"[^lcr]", "", columns)

    def cell(number: int, inside: str) -> str:
        side = "rl"[number % 2] if name in ALIGNED and not name.startswith("gather") else "c"
        side = "l" if name == "cases" else sides[number] if number < len(sides) else side
        style = "" if side == "c" else f' class="{side}"'
        return f"<mtd{style}>{inside}</mtd>"

    body = "".join(
        f"<mtr>{''.join(cell(k, inside) for k, inside in enumerate(row))}</mtr>" for row in rows
    )
    if name in ALIGNED:
        return f'<mtable class="aligned" displaystyle="true">{body}</mtable>'
    opening, closing = (_stretched(sign, f) for sign, f in zip(MATRICES[name], FORMS, strict=True))
    return f"<mrow>{opening}<mtable>{body}</mtable>{closing}</mrow>"


def _whole(tex: str, alphabet: str = "") -> str:
    reader = _Reader(tex, alphabet)
    return _row(reader.atoms(lambda token: False))


def _alone(markup: str) -> str:
    """A sign by itself, named in a sentence, has no space around it."""
    return _tight(markup) if re.fullmatch(r"<mo[^>]*>[^<]*</mo>", markup) else markup


def set_formula(tex: str, block: bool = False) -> str:
    """The formula as MathML; `Unset` if something in it is not known."""
    reader = _Reader(tex.strip())
    try:
        inside = _row(reader.atoms(lambda token: False))
    except RecursionError:
        raise Unset("it is nested too deeply") from None
    if not block:
        return f"<math>{_alone(inside)}</math>"
    tag = f'<mtext class="tag">({html.escape(reader.tag)})</mtext>' if reader.tag else ""
    return f'<math display="block">{inside}{tag}</math>'


def set_text(text: str, unread: list[str] | None = None) -> str:
    """A text as HTML, its formulas set; those that cannot be set are listed, and stay as written.

    A formula within a line stays with the punctuation around it: no line begins with a comma.
    """
    pattern = re.compile(f"(?P<before>{OPENING})(?:{FORMULA.pattern})(?P<after>{CLOSING})", re.S)

    def formula(found: re.Match[str]) -> str:
        block = found["block"] or found["also"]
        tex = block or found["line"] or found["inside"]
        before, after = html.escape(found["before"]), html.escape(found["after"])
        try:
            math = set_formula(tex, bool(block))
        except Unset:
            if unread is not None:
                unread.append(tex)
            written = found[0][len(found["before"]) : len(found[0]) - len(found["after"])]
            kind = "formula block" if block else "formula"
            return f'{before}<span class="{kind} unset">{html.escape(written)}</span>{after}'
        if block:
            return f'{before}<span class="formula block">{math}</span>{after}'
        return f'<span class="together">{before}{math}{after}</span>' if before + after else math

    parts, last = [], 0
    for found in pattern.finditer(text):
        parts += [_plain(text[last : found.start()]), formula(found)]
        last = found.end()
    return "".join([*parts, _plain(text[last:])])


def _plain(text: str) -> str:
    return html.escape(text.replace("\\$", "$"), quote=False)
