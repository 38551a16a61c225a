"""What a judge remembers, who meets the same words in many answers; nobody else does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import lru_cache, wraps
from typing import Any

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


def is_remembering() -> bool:
    """Whether this is a judge's work."""
    return _remembers


def remembered(most: int = MOST) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """For a function of words, or of what else stays as it is; what it raises is not kept."""

    def once(work_out: Callable[..., Any]) -> Callable[..., Any]:
        known = lru_cache(most)(work_out)

        @wraps(work_out)
        def found(*words: Any) -> Any:
            return known(*words) if _remembers else work_out(*words)

        return found

    return once
