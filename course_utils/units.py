"""The units of this course, as notebooks import them."""

from pathlib import Path

from selfcheck.units import read_table

TABLE = Path(__file__).with_name("units.toml")
UNITS = read_table(TABLE.read_text(encoding="utf-8"), __name__.partition(".")[0])
