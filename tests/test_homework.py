"""The table of the homework in docs/homework.md: its sections and exercises are about the item."""

import re
from functools import cache
from pathlib import Path

import pytest

from classroom.notebooks import read
from course_utils.units import UNITS

ROOT = Path(__file__).parents[1]
ITEM = re.compile(r"^\| (\[00\d\] [^|]+) \| (\d\d) · ([^|]+) \| ([\d., ]+) \|$", re.MULTILINE)
ROW = re.compile(r"^\| \[00\d\].*$", re.MULTILINE)
GUIDE = (ROOT / "docs" / "homework.md").read_text(encoding="utf-8")
ITEMS = ITEM.findall(GUIDE)
HEADING = re.compile(r"^(#+) (.+)$", re.MULTILINE)

# What an item is about: words of its section, and words of one of its exercises at least.
ABOUT = {
    "[000] shapes of x, q": (r"d_\{\\text\{in\}\}", r"parameters"),
    "[000] parameters": (r"parameters", r"parameters"),
    "[000] 1. FLOPs": (r"FLOP", r"feed-forward|W_1"),
    "[000] 2. FLOPs": (r"scores|attention", r"scores|softmax"),
    "[000] 3. act": (r"activations", r"kept?\b"),
    "[000] 4. the back": (r"backward", r"backward|gradient"),
    "[000] 5. weights": (r"W_q|W\^Q|W_Q", r"M\^2|M²|lookup"),
    "[000] 5. what W_V": (r"v = \\text", r"W_v|W_V|value"),
    "[000] 6. FLOPs": (r"12", r"loss"),
    "[001] attention for": (r"query", r"softmax|attention"),
    "[001] the same": (r"Q\s?K\^\\top", r"shape"),
    "[001] several": (r"heads", r"heads"),
    "[001] masked": (r"mask", r"mask|ahead"),
    "[001] encoder": (r"encoder", r"encoder|cross"),
    "[002] 1. head 1": (r"score", r"quer"),
    "[002] 2. head 2": (r"key", r"key"),
    "[002] 3. both": (r"W\^O", r"W\^O"),
    "[002] rounded": (r"rounding", r"9\.095|slip"),
    "[002] cost of": (r"4ND\^2", r"MAC"),
    "[002] Ω where": (r"\\Theta|\\Omega", r"window|N"),
    "[002] the cost": (r"cost", r"plan"),
    '[002] "this': (r"price|proof|dual", r"price"),
    "[002] the table": (r"blank|empty|table", r"plan"),
    "[003] 1.1": (r"\\sigma", r"g_\{?t|induction"),
    "[003] 1.2 the J": (r"\\partial h_t", r"Jacobian"),
    "[003] 1.2 the b": (r"\\delta", r"\\delta\^\{?T|bound"),
    "[003] 1.3": (r"norm", r"norm|sufficient"),
    "[003] 2.1": (r"\\delta|\\alpha", r"\\alpha|\\Delta\\theta"),
    "[003] 2.2": (r"v_\{?t|unroll", r"v_t"),
    "[003] 2.3": (r"E\[v_t\]|mathbb E", r"mathbb E|corrected"),
    "[003] 3.1a": (r"\\Theta", r"quer|FLOP"),
    "[003] 3.1b": (r"heads", r"heads"),
    "[003] 3.1c": (r"N\^2|long", r"N"),
    "[003] 3.2a": (r"softmax", r"row"),
    "[003] 3.2b": (r"order", r"key"),
    "[003] 3.2c": (r"rank", r"rank"),
    "[003] 3.3 soft": (r"D\^\{-1\}", r"D\^\{-1\}"),
    "[003] 3.3 feat": (r"\\phi", r"feature|\\phi"),
    "[003] 3.4 exp": (r"square", r"square|expectation"),
    "[003] 3.4 the f": (r"1/m|sqrt", r"feature"),
    "[003] 3.5": (r"features", r"feature|direction"),
    "[003] 4.1": (r"\\lambda", r"\\lambda"),
    "[003] 4.2": (r"Adam", r"Adam"),
    "[003] 4.3": (r"regulari|shrink", r"shrink|AdamW"),
    "[003] 4.4": (r"weight decay|decay", r"true|false"),
    "[004] similarity": (r"similarit", r"similarit|kernel"),
    "[004] attention with": (r"\\phi|sum", r"\\phi|softmax"),
    "[004] φ = elu": (r"elu", r"attention"),
    "[004] masks": (r"mask|causal", r"causal|mask"),
    "[004] three costs": (r"token", r"token"),
    "[004] tables": (r"MNIST|CIFAR", r"CIFAR-10"),
    "[004] s_i": (r"s_i|state|S_i", r"state|token"),
    "[004] four": (r"token", r"attention"),
    "[004] three sources": (r"Transformers are RNNs|2020", r"paper"),
}


@cache
def cells(folder, number):
    (notebook,) = (ROOT / folder).glob(f"{number}_*.ipynb")
    return [(c.cell_type, c.source) for c in read(notebook).cells]


@cache
def sections(number):
    """The sections of a lecture by their headings, each with all that stands below it."""
    text = "\n".join(
        s if kind == "markdown" else f"    {s}" for kind, s in cells("notebooks", number)
    )
    found = list(HEADING.finditer(text))
    ends = {}
    for k, head in enumerate(found):
        after = (h.start() for h in found[k + 1 :] if len(h[1]) <= len(head[1]))
        ends[head[2]] = text[head.end() : next(after, len(text))]
    return ends


@cache
def exercise_texts(number):
    """The texts of the exercises of a sheet by their numbers: heading, task and why."""
    text = "\n".join(source for _, source in cells("solutions", number))
    parts = re.split(r"^## Exercise ([\d.]+) ", text, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def test_no_row_has_an_empty_place_and_all_five_documents_are_there():
    assert len(ITEMS) == len(ROW.findall(GUIDE)) > 50
    assert {item[0][:5] for item in ITEMS} == {f"[00{k}]" for k in range(5)}


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item[0])
def test_an_item_of_the_homework_has_its_section_and_its_exercises(item):
    _, number, section, exercises = item
    assert section in sections(number)
    asked = {exercise.number for unit in UNITS for exercise in unit.exercises}
    assert set(exercises.split(", ")) <= asked


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item[0])
def test_section_and_exercises_are_about_the_item(item):
    name, number, section, exercises = item
    (about,) = [words for begins, words in ABOUT.items() if name.startswith(begins)]
    assert re.search(about[0], sections(number)[section], re.IGNORECASE), "the section"
    texts = [exercise_texts(f"{int(e.split('.')[0]):02}")[e] for e in exercises.split(", ")]
    assert any(re.search(about[1], text, re.IGNORECASE) for text in texts), "the exercises"
