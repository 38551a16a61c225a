"""A submission whose student tries everything that text can do."""

from classroom.grading.records import Graded, Result

MARKUP = "</script></style></title><script>alert(1)</script><img src=http://outside.invalid/x.png>"
UNSEEN = "\u202eright\u202c\x00\x1b[31m\ud800\ufffe"
NAMES = (
    "../../x", "/etc/passwd", "CON", "nul", "a/b", "a\\b", "a b", "a_b", "Ada", "ada", "ADA",
    ".hidden", "x" * 300, "李明" * 60, "", "..", "-rf", "=1+1", "fran\udce7ois", "a\x00b", "a\nb",
    "Zoe\u0308", "Zoë",
)  # fmt: skip


def hostile(student: str = f"=cmd|'/c calc'!A1 {MARKUP} {UNSEEN}", unit: str = "01_sums") -> Graded:
    """One that fails with markup, control characters and formulas in every place."""
    text = f"=HYPERLINK(1) {MARKUP} {UNSEEN}"
    result = Result(
        "1.1",
        "even_sum",
        "could not be checked",
        0,
        3,
        f"`total` raised {text}",
        answer=f"# {text}\ntotal = '{text}'\n" + "x = 1\n" * 5000,
        notes=(text,),
    )
    return Graded(student, unit, text, "d", "@id", (result,), (text,), None, (text,), 0.1)
