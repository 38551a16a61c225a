"""How a command is declared: its name, its help and its options stand above what it does.

@command("links", "write links, titles, points and maps again from the table of units")
def links(options: argparse.Namespace) -> int:
    ...
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..extras import need

SHORTEST, LONGEST = 0.01, 86_400.0  # seconds
Run = Callable[[argparse.Namespace], int]


@dataclass(frozen=True)
class Command:
    """A command: how it is called, what it does in words, its options, and what runs."""

    name: str
    help: str
    options: tuple[tuple[tuple[str, ...], dict[str, Any]], ...]
    run: Run

    def add_to(self, commands: Any) -> None:
        """Add it to argparse's subparsers."""
        sentence = f"{self.help[0].upper()}{self.help[1:]}."
        parser = commands.add_parser(self.name, help=self.help, description=sentence)
        for names, about in self.options:
            parser.add_argument(*names, **about)
        parser.set_defaults(run=self.once_installed)

    def once_installed(self, options: argparse.Namespace) -> int:
        """Run it; refused where only what students need is installed."""
        need("", f"`course {self.name}` needs")
        return self.run(options)


COMMANDS: list[Command] = []


def command(name: str, help: str, *options: tuple[tuple[str, ...], dict[str, Any]]) -> Any:
    """The function below is a command of this name."""

    def declared(run: Run) -> Run:
        COMMANDS.append(Command(name, help, options, run))
        return run

    return declared


def option(*names: str, **about: Any) -> tuple[tuple[str, ...], dict[str, Any]]:
    """An option or an argument, in the words of argparse."""
    return names, about


def positive(text: str) -> int:
    """A whole number from 1 up."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text} is not a whole number from 1 up")
    return int(text)


def port(text: str) -> int:
    """A port of this machine; 0 is any that is free."""
    if not text.isdecimal() or int(text) > 65_535:
        raise argparse.ArgumentTypeError(f"{text} is not a port, a whole number from 0 to 65535")
    return int(text)


def seconds(text: str) -> float:
    """A time that one can measure, and wait for."""
    try:
        number = float(text)
    except ValueError:
        number = math.nan
    if not SHORTEST <= number <= LONGEST:
        raise argparse.ArgumentTypeError(
            f"{text} is not a number of seconds above 0: {SHORTEST:g} to {LONGEST:g}"
        )
    return number


def word(text: str) -> str:
    """A name; a variable of the shell that nobody has set would be none, and mean all."""
    if not text.strip():
        raise argparse.ArgumentTypeError("there is nothing in it")
    return text


def path(text: str) -> Path:
    """A file or a folder; where nothing is named, it would be the one in which we are."""
    return Path(word(text))
