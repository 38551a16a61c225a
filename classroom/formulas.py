"""Formulas of pages, set when a page is written: no script has to do it while someone waits."""

from __future__ import annotations

import base64
import functools
from typing import TYPE_CHECKING

from selfcheck.typeset import set_text

from .offline import VENDOR

if TYPE_CHECKING:
    from bs4 import Tag

FONT = VENDOR / "stix-two-math" / "stix-two-math.woff2"
AS_WRITTEN = ["pre", "code", "script", "style", "textarea", "math"]


def set_formulas(inside: Tag) -> list[str]:
    """Set all formulas in an element; those that cannot be set are given, and left to MathJax."""
    from bs4 import BeautifulSoup

    unread: list[str] = []
    for text in inside.find_all(string=lambda words: "$" in words or "\\" in words):
        if text.find_parent(AS_WRITTEN):
            continue
        words = str(text)
        made = set_text(words, unread)
        if made != words:
            text.replace_with(BeautifulSoup(made, "html.parser"))
    return unread


@functools.cache
def font_inside() -> str:
    """The style sheet that carries the font of formulas in itself."""
    data = base64.b64encode(FONT.read_bytes()).decode()
    return f'@font-face{{font-family:Formulas;src:url("data:font/woff2;base64,{data}")}}'
