"""Why an answer gets no verdict of its own: each reason carries the sentence for the student."""

from __future__ import annotations

from typing import Any

from .sampling import current


class Unreadable(Exception):
    """The answer cannot be checked; the message tells the student what to change."""

    def __init__(self, *says: Any) -> None:
        super().__init__(*says)
        self.place = current().place


class TooManySteps(Unreadable):
    """It was stopped while it was counted; with a smaller input it may be fine."""


class NotFinite(Exception):
    """The answer gives nan or an infinity where the definition has numbers: that is wrong."""

    def __init__(self, says: str, at: str, value: Any) -> None:
        super().__init__(says)
        self.at, self.value, self.place = at, value, current().place


class OtherNumbers(Exception):
    """On fresh inputs the numbers are not right after all; the message shows one of them."""


class NotAttempted(Exception):
    """A blank is still in the answer."""

    def __str__(self) -> str:
        return "there is still a blank `____` here. Replace it with your answer and run the cell."

    def _render_traceback_(self) -> list[str]:
        """In a notebook: the sentence alone, for the way here through our code helps nobody."""
        return [f"Not attempted: {self}"]
