"""A fixture for tests that need the sandbox."""

import os
import shutil

import pytest


@pytest.fixture(scope="session")
def bubblewrap() -> None:
    """The sandbox. Without it: skipped on a laptop, failed in continuous integration."""
    if shutil.which("bwrap") is None:
        missing = "bubblewrap is missing: apt install bubblewrap"
        if os.environ.get("CI"):
            pytest.fail(missing)
        pytest.skip(missing)
