"""Fixtures for tests in a real JupyterLab: `lab`, a server for the module, and `page` on it.

A test module names the notebooks it needs in `NOTEBOOKS`, a list of paths relative to the
repository, or to the small course if it says `COURSE = SMALL`; copies of them lie under the same
names in the folder that the server shows. One module has one server, so that parallel runs
(`--dist loadfile`) do not disturb each other.
"""

import os
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, expect

from classroom.notebooks import as_text, read, strip_outputs
from classroom.printing import chromium
from selfcheck.files import CourseError
from tests.browser import lab as harness
from tests.browser.site import Visit, visiting

expect.set_options(timeout=harness.PATIENCE)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """The system's Chromium. Without one: skipped on a laptop, failed in continuous integration."""
    try:
        chromium()
    except CourseError as missing:
        if os.environ.get("CI"):
            pytest.fail(str(missing))
        pytest.skip(str(missing))
    with harness.browser() as chrome:
        yield chrome


@pytest.fixture(scope="module")
def lab(request: pytest.FixtureRequest, browser, tmp_path_factory) -> Iterator[harness.Lab]:
    """A JupyterLab on a temporary copy of the module's NOTEBOOKS."""
    root, home = tmp_path_factory.mktemp("root"), tmp_path_factory.mktemp("home")
    course = getattr(request.module, "COURSE", harness.REPOSITORY)
    for name in getattr(request.module, "NOTEBOOKS", []):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        blank = strip_outputs(read(course / name))  # what is run again is soon opened
        (root / name).write_text(as_text(blank), encoding="utf-8")
    with harness.lab_server(root, home) as url:
        yield harness.Lab(url, root)


@pytest.fixture(scope="module")
def window(browser: Browser) -> Iterator[BrowserContext]:
    """A window of the browser for all pages of the module: JupyterLab's scripts come only once."""
    context = browser.new_context(viewport={"width": 1000, "height": 900})
    yield context
    context.close()


@pytest.fixture(scope="module")
def opened(lab: harness.Lab, window: BrowserContext) -> harness.LabPage:
    """One page for all tests of the module; each changes to its own notebook."""
    return harness.LabPage(window.new_page(), lab)


@pytest.fixture
def page(opened: harness.LabPage) -> Iterator[harness.LabPage]:
    """That page; errors of page or console and outside requests fail the test at its end."""
    yield opened
    problems, opened.problems = opened.problems, []
    assert not problems, "\n".join(problems)


@pytest.fixture(scope="module")
def chrome(site, browser):
    """A browser that reaches the module's `site` alone; `browser` has looked if there is one."""
    if site.hosts == "127.0.0.1":
        yield browser
        return
    with harness.browser(but=site.hosts) as chrome:
        yield chrome


@pytest.fixture
def visit(chrome, site) -> Iterator[Visit]:
    """A reader's window on the module's `site`."""
    with visiting(chrome, site) as visit:
        yield visit


@pytest.fixture
def in_browser(site):
    """Python can run in the browser here; else it fails where it was promised, and is skipped."""
    if site.python:
        (pytest.fail if os.environ.get("COURSE_LITE") == "must" else pytest.skip)(site.python)
