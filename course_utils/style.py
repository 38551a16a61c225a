"""The look of figures, as notebooks import it: the module `selfcheck.style` itself."""

import sys

import selfcheck.style

sys.modules[__name__] = selfcheck.style
