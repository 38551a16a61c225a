"""templates/look.css: the one source of colors, sizes and spaces; docs/looks.md shows all of it."""

import re

import pytest

from classroom.offline import TEMPLATES
from selfcheck.cards import LOOKS, state_card
from tests.places import ROOT

LOOK = (TEMPLATES / "look.css").read_text(encoding="utf-8")
SHOWN = (ROOT / "docs" / "looks.md").read_text(encoding="utf-8")
COLORS = re.compile(r"^ +(--[\w-]+): light-dark\((#\w+), (#\w+)\);", re.MULTILINE)
LITERAL = re.compile(r"(?<![\w&\"'/(])#(?:[0-9a-fA-F]{3}|[0-9a-fA-F]{6}|[0-9a-fA-F]{8})\b(?!-)")
# Charts have shades of their own; the bar in JupyterLite stands among colors that are not ours.
APART = {"look.css", "shades.css", "beside.js"}


def styled():
    """What pages and slides are dressed with."""
    found = [p for p in TEMPLATES.rglob("*") if p.suffix in (".css", ".j2", ".js")]
    assert len(found) > 20
    return [path for path in found if path.name not in APART]


@pytest.mark.parametrize("path", styled(), ids=lambda p: p.relative_to(TEMPLATES).as_posix())
def test_nothing_has_a_color_of_its_own(path):
    assert LITERAL.findall(path.read_text(encoding="utf-8")) == []


def test_every_name_that_is_used_is_one_that_there_is():
    made = [*TEMPLATES.rglob("*.css"), *TEMPLATES.parent.glob("*.py")]  # some are set for a picture
    known = set(re.findall(r"(--[\w-]+): ", "".join(map(read, made))))
    for path in styled():
        used = set(re.findall(r"var\((--[\w-]+)\)", read(path)))
        assert used - known - set(re.findall(r"(--[\w-]+): ", read(path))) == set(), path.name


def read(path):
    return path.read_text(encoding="utf-8")


@pytest.mark.parametrize("scheme", [1, 2], ids=["light", "dark"])
def test_every_color_of_letters_can_be_read_on_both_grounds(scheme):
    values = {found[1]: found[scheme + 1] for found in COLORS.finditer(LOOK)}
    letters = values.keys() - {"--paper", "--code", "--line"}
    assert len(letters) >= 12
    for ground in (values["--paper"], values["--code"]):
        for name in letters:
            assert contrast(values[name], ground) >= 4.5, (name, ground)


def contrast(one, other):
    """As WCAG defines it."""

    def light(color):
        parts = [int(color[k : k + 2], 16) / 255 for k in (1, 3, 5)]
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    low, high = sorted((light(one), light(other)))
    return (high + 0.05) / (low + 0.05)


def test_the_page_shows_every_color_size_and_space():
    ours = [n for n in re.findall(r"^ +(--[\w-]+):", LOOK, re.MULTILINE) if "--jp-" not in n]
    assert len(ours) > 20
    assert [name for name in ours if name not in SHOWN] == []


def test_the_cards_of_the_page_are_those_that_checks_write():
    shown = re.findall(r'<div class="course-card".*', SHOWN)
    assert len(shown) == len(LOOKS) - 1  # `not run yet` is JupyterLab's
    for card in shown:
        mark, state = re.search(r"(\S)</span> ([A-Z][\w ]+)</strong>", card).groups()
        aside = re.search(r'opacity:\.8">(.*?)</span>', card)[1]
        sentences = re.findall(r'margin-top:4px">(.*?)</div>', card)
        assert state_card(state.lower(), aside, sentences) == card, mark
