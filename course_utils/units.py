"""The units of this course, as notebooks import them."""

from pathlib import Path

from selfcheck.units import read_table

UNITS = read_table(Path(__file__).with_name("units.toml").read_text(encoding="utf-8"))
