"""The prose of the course is spelled right and the American way; its word list does not rot."""

import ast
import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from spellchecker import SpellChecker

from tests.places import COURSE, SMALL, our_notebooks, python_files

ROOT = Path(__file__).parents[1]
WORD_LIST = Path(__file__).with_name("words.txt")
MEASURED = ROOT / "docs" / "benchmarks.md"  # written by a program, with names of machines
PAGES = sorted(
    {*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), *SMALL.glob("*.md")} - {MEASURED}
)
NOTEBOOKS = [*our_notebooks("notebooks"), *our_notebooks("solutions"), *SMALL.glob("*s/*.ipynb")]
CHECKS = [*python_files(COURSE / "checks", 12), *python_files(SMALL / "small_course" / "checks", 2)]
PROSE = sorted([*(COURSE / "checks").glob("*.md"), *SMALL.glob("small_course/checks/*.md")])
assert len(PROSE) >= 12

# Names of checks and settings in the prose of a unit.
NOT_SAID = re.compile(r"^# .*$|^- (?:example|when): .*$", re.MULTILINE)
# What is not prose: code, formulas, addresses, calls such as exp(x), tags, entities.
NOT_PROSE = re.compile(
    r"````.*?````|```.*?```|`[^`]*`|\$\$.*?\$\$|\$[^$]+\$|(?<=\])\([^)\s]*\)|https?://\S+"
    r"|\b\w+\([^()\s]+\)|<[^<>\s][^<>]*>|&#?\w+;",
    re.DOTALL,
)
# Whole words of three letters or more; what is shorter, or touches a digit, a subscript or a Greek
# letter, is a symbol or a product of symbols.
LETTER = "[A-Za-zÀ-ÖØ-öø-ɏ]"
WORD = re.compile(rf"(?<![\w^{{\\'’]){LETTER}{{3,}}(?:['’]{LETTER}+)?(?![\w^{{])")
TWO_WORDS = re.compile(r"[A-Za-z]{2,},? [a-z]{2,}")

# Most British forms are errors to the dictionary (colour, normalise, behaviour); it accepts these.
BRITISH = re.compile(
    r"(label|model|cancel|travel|level|signal|total|channel|tunnel|fuel|equal|marvel|unravel|spiral"
    r"|panel|pencil)l(ed|ers?|ing)|grey\w*|(dia|cata|ana)logues?|(lic|pret)ence[ds]?|theatres?|lustre"
    r"|(learn|burn|spel)t|(judg|acknowledg)ement\w*|ageing|fulfils?|skilful|enrols?|artefacts?|mould\w*"
    r"|practise[ds]?|practising|whilst|amongst|focuss\w*|biass\w*|arm(our|oured)|coloured|maths"
)


# -- what is read ---------------------------------------------------------------------------------


def prose(markdown: str) -> str:
    """The words of a Markdown text, without what is not meant to be spelled."""
    return NOT_PROSE.sub(" ", markdown)


def sentences(source: str) -> Iterator[str]:
    """The docstrings and sentence-like strings of Python code; values in f-strings become 0."""
    inside = set()
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.JoinedStr):
            inside.update(map(id, node.values))
            text = "".join(p.value if isinstance(p, ast.Constant) else "0" for p in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            text = "" if id(node) in inside else node.value
        else:
            continue
        if TWO_WORDS.search(text):
            yield text


def passages() -> Iterator[tuple[str, str]]:
    """Every passage of prose with the place where it stands."""
    for path in PAGES:
        yield str(path.relative_to(ROOT)), path.read_text(encoding="utf-8")
    for path in PROSE:
        yield str(path.relative_to(ROOT)), NOT_SAID.sub("", path.read_text(encoding="utf-8"))
    for path in CHECKS:
        for text in sentences(path.read_text(encoding="utf-8")):
            yield str(path.relative_to(ROOT)), text
    for path in NOTEBOOKS:
        for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
            place = f"{path.relative_to(ROOT)}, cell {cell['id']}"
            source = "".join(cell["source"])
            for text in [source] if cell["cell_type"] == "markdown" else sentences(source):
                yield place, text


def words(text: str) -> list[str]:
    """The words of a passage, as written, without a possessive ending."""
    return [word.replace("’", "'").removesuffix("'s") for word in WORD.findall(prose(text))]


@cache
def written() -> tuple[tuple[str, str], ...]:
    """Every word of the course with its place."""
    return tuple((place, word) for place, text in passages() for word in words(text))


@cache
def dictionary() -> SpellChecker:
    return SpellChecker()


def is_english(word: str) -> bool:
    return word.lower() in dictionary()


def terms() -> list[str]:
    """The course's own words: names and technical terms that a dictionary does not have."""
    return WORD_LIST.read_text(encoding="utf-8").splitlines()


def is_british(word: str) -> bool:
    return BRITISH.fullmatch(word.lower()) is not None


# -- what must hold -------------------------------------------------------------------------------


def test_every_word_is_in_the_dictionary_or_in_the_word_list():
    known = {term.lower() for term in terms()}
    unknown = {
        f"{place}: {word}"
        for place, word in written()
        if word.lower() not in known and not is_english(word)
    }
    assert not unknown, "\n" + "\n".join(sorted(unknown))


def test_the_spelling_is_american():
    british = {f"{place}: {word}" for place, word in written() if is_british(word)}
    assert not british, "\n" + "\n".join(sorted(british))


def test_the_word_list_is_sorted_and_says_nothing_twice():
    assert terms() == sorted({term.lower(): term for term in terms()}.values(), key=str.lower)


def test_the_word_list_holds_no_word_that_is_unused_or_in_the_dictionary():
    used = {word.lower() for _, word in written()}
    assert [term for term in terms() if term.lower() not in used] == []
    assert [term for term in terms() if is_english(term)] == []


def test_british_forms_do_not_pass():
    forms = """
        colour normalise optimisers normalisation neighbours behaviour centred grey modelling metres
        labelled generalise factorising analyse recognised organise programme summarise minimised
    """
    assert [word for word in forms.split() if is_english(word) and not is_british(word)] == []


def test_formulas_code_addresses_and_symbols_are_not_prose():
    text = (
        "A `kode` with $\\xyzzy$ in [a plaace](htps://nowere), <b>QKᵀV₁</b> and the writer's d_kkk"
    )
    assert words(text) == ["with", "plaace", "and", "the", "writer"]


def test_values_in_sentences_do_not_cut_words():
    assert list(sentences('f"the {n}th of {m} steps"')) == ["the 0th of 0 steps"]
    assert list(sentences('symbols("beta")')) == []
