"""The instructors' half of the `course` command: one function per command, declared above it."""

from __future__ import annotations

from typing import Any

from . import marking, publishing, writing
from .declaring import COMMANDS

__all__ = ["add_commands", "marking", "publishing", "writing"]


def add_commands(commands: Any) -> None:
    """Add all commands for instructors to argparse's subparsers."""
    for module in (writing, publishing, marking):
        for command in COMMANDS:
            if command.run.__module__ == module.__name__:
                command.add_to(commands)
