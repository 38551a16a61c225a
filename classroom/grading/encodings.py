"""Which encoding a table of names has that does not say so.

UTF-8 shows by itself, UTF-16 by its bytes 0. All others decode as something: that is taken in which
words look like names, and as several encodings may give names, a person is told what was read.
"""

from __future__ import annotations

import codecs
import itertools
import re
import unicodedata
from collections.abc import Iterator

MARKS = {codecs.BOM_UTF32_LE: "utf-32-le", codecs.BOM_UTF32_BE: "utf-32-be"}
MARKS |= {codecs.BOM_UTF16_LE: "utf-16-le", codecs.BOM_UTF16_BE: "utf-16-be"}
# What programs write by themselves; of two that fit equally well, the earlier one is taken.
KNOWN = {
    "cp1252": "Windows-1252 (Western Europe)",
    "mac_roman": "Mac Roman",
    "cp1250": "Windows-1250 (Central Europe)",
    "iso8859_15": "Latin-9",
    "iso8859_2": "Latin-2",
    "cp1254": "Windows-1254 (Turkish)",
    "cp1251": "Windows-1251 (Cyrillic)",
    "koi8_r": "KOI8-R (Cyrillic)",
    "cp1253": "Windows-1253 (Greek)",
    "cp932": "Shift-JIS (Japanese)",
    "cp949": "EUC-KR (Korean)",
    "gb18030": "GB18030 (Chinese)",
    "big5": "Big5 (Chinese)",
    "cp437": "the code page 437 of DOS",
}
USUAL = {"cp932": "iso2022_jp", "gb18030": "gb2312", "big5": "big5", "cp949": "iso2022_kr"}
USUAL |= {"cp1252": "iso8859_15"}
WORD = re.compile(r"[^\s,;\"'.()@_0-9-]+")
QUOTES = "’‘“”„–—·«»"  # what may stand before a word; an apostrophe also within one


def read(data: bytes) -> tuple[str, str, str] | None:
    """The encoding, the text, and what a person should know of it; None if it is no text."""
    for mark, wide in MARKS.items():
        if data.startswith(mark):
            return _tried(data, wide)
    behind, before = data[1:400:2].count(0), data[:400:2].count(0)
    if 16 * max(behind, before) > len(data[:400]):  # a comma and the end of a line have one
        wide = "utf-16-le" if behind > before else "utf-16-be"
        found = _tried(data, wide)
        if found and "\0" not in found[1]:
            return found
    if (found := _tried(data, "utf-8")) is not None:
        return found
    fits = [f for encoding in KNOWN if (f := _tried(data, encoding)) and f[1].encode(f[0]) == data]
    if not fits:
        return None
    encoding, text, _ = min(fits, key=lambda fit: sum(_odd(fit[1], fit[0])))
    words = list(dict.fromkeys(word for word in WORD.findall(text) if not word.isascii()))
    return (
        encoding,
        text,
        (
            f"is not UTF-8, and was read as {KNOWN[encoding]}: {', '.join(words[:3])}. If that is "
            "wrong, save it as UTF-8 and pass that."
        ),
    )


def _tried(data: bytes, encoding: str) -> tuple[str, str, str] | None:
    try:
        return encoding, data.decode(encoding), ""
    except UnicodeDecodeError:
        return None


def _odd(text: str, encoding: str) -> Iterator[int]:
    """What no name has, word by word."""
    for word in WORD.findall(text):
        special = [c for c in word if not c.isascii()]
        if not special:
            continue
        pairs = list(itertools.pairwise(word))
        scripts = {_script(c) for c in word if c.isalpha()}
        yield 2 * sum(not c.isalpha() and c not in QUOTES for c in special)
        yield sum(a.isalpha() and b in QUOTES and b != "’" for a, b in pairs)
        yield sum(a == "’" and b.islower() for a, b in pairs)  # D’Arcy, but Garc’a
        yield sum(b.isupper() and not b.isascii() for _, b in pairs) if not word.isupper() else 0
        yield 2 * (scripts == {"LATIN"} and len(special) > max(2, len(word) / 2))
        yield max(0, len(scripts) - 1)
        narrow = sum("HALFWIDTH" in unicodedata.name(c, "") for c in special)
        yield 1 if narrow == len(word) else 2 * narrow  # a reading is written in these alone
        hanja = sum("CJK" in unicodedata.name(c, "") for c in special)
        yield hanja if encoding == "cp949" else 0  # Korean names are in Hangul
        letters = "".join(c for c in special if c not in QUOTES)
        yield 3 * (encoding in USUAL and not is_writable(letters, USUAL[encoding]))


def _script(letter: str) -> str:
    """LATIN, CYRILLIC, GREEK; kanji and kana are one, for a Japanese name has both."""
    name = unicodedata.name(letter, "NONE").partition(" ")[0]
    return "CJK" if name in ("CJK", "HIRAGANA", "KATAKANA", "HANGUL", "HALFWIDTH") else name


def is_writable(text: str, encoding: str) -> bool:
    """Whether the encoding has letters for all of it."""
    try:
        text.encode(encoding)
    except UnicodeEncodeError:
        return False
    return True
