"""What every exercise promises: its known mistakes are wrong, and each is named."""

from selfcheck.testing import every_mistake_is_named

test_every_mistake_is_named = every_mistake_is_named()
