"""What a judge remembers, who meets the same words in many answers; nobody else does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache, wraps
from typing import Any, ParamSpec, TypeVar

Words = ParamSpec("Words")
Found = TypeVar("Found")

MOST = 500  # of a kind

_remembers = False


@contextmanager
def remembering() -> Iterator[None]:
    """Within, what depends on words alone is worked out once for the same words."""
    global _remembers
    before, _remembers = _remembers, True
    try:
        yield
    finally:
        _remembers = before


def recalled(known: dict[Any, Found], words: Any, work_out: Callable[[], Found]) -> Found:
    """What was worked out for these words before, as long as there is room to keep it."""
    if not _remembers:
        return work_out()
    if words not in known and len(known) < MOST:
        known[words] = work_out()
    return known[words] if words in known else work_out()


def remembered(
    most: int = MOST,
) -> Callable[[Callable[Words, Found]], Callable[Words, Found]]:
    """For a function of words, or of what else stays as it is; what it raises is not kept."""

    def once(work_out: Callable[Words, Found]) -> Callable[Words, Found]:
        known: Any = lru_cache(most)(work_out)

        @wraps(work_out)
        def found(*words: Words.args, **named: Words.kwargs) -> Found:
            work: Callable[Words, Found] = known if _remembers else work_out
            return work(*words, **named)

        return found

    return once
