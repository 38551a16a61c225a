"""`python -m selfcheck` is the `course` command."""

import sys

from .students.cli import main

sys.exit(main())
