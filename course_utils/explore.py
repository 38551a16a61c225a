"""Explorers, as notebooks import it: the module `selfcheck.explore` itself."""

import sys

import selfcheck.explore

sys.modules[__name__] = selfcheck.explore
