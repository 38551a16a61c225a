"""What the notebooks of this course import; nothing heavy is loaded until it is used."""

from typing import Any

__all__ = ["____", "scoreboard"]
__course__ = True  # its functions are part of a course: they are counted, lent and reserved as such


def __getattr__(name: str) -> Any:
    if name in __all__:
        import selfcheck

        return getattr(selfcheck, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
