"""The site of the course, built and served for tests, and a reader's window on it."""

import contextlib
import functools
import http.server
import os
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from playwright.sync_api import Page

from classroom.site import build
from classroom.site.packages import alone
from tests.browser.lab import PATIENCE, REPOSITORY
from tests.places import run_folder, site_cache


@dataclass
class Site:
    folder: Path
    url: str
    python: str  # why Python cannot run in its pages; empty if it can
    hosts: str  # that the browser may reach


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Python's own server, as a reader starts it with `python3 -m http.server`."""

    def log_message(self, *args: object) -> None:
        pass


@contextlib.contextmanager
def served(tmp_path_factory) -> Iterator[Site]:
    """The whole course under a sub-path: built once for all tests of a run, which only read it."""
    root, named = run_folder(tmp_path_factory) / "host", os.environ.get("COURSE_LITE_WHEELS")
    folder, wheels = root / "course", Path(named) if named else None
    with alone(root):
        if not (root / "built").exists():
            build(REPOSITORY, folder, wheels, "/course/", cache=site_cache(tmp_path_factory))
            (root / "built").touch()
    missing, host = ("", "") if named else public_address()
    hosts = f"127.0.0.1 , EXCLUDE {host}" if host else "127.0.0.1"
    with serving(root) as url:
        yield Site(folder, f"{url}/course", missing, hosts)


class Server(http.server.ThreadingHTTPServer):
    """It does not mind a page that is left before all has come."""

    def handle_error(self, *args: object) -> None:
        pass


@contextlib.contextmanager
def serving(folder: Path) -> Iterator[str]:
    """A web server of this folder, at the address that is given."""
    handler = functools.partial(Quiet, directory=folder)
    with Server(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def public_address() -> tuple[str, str]:
    """Why the public address of Python's packages cannot be used, and its host."""
    from jupyterlite_pyodide_kernel.constants import PYODIDE_LOCK_DEFAULT_URL

    try:
        with urllib.request.urlopen(PYODIDE_LOCK_DEFAULT_URL, timeout=10):
            return "", str(urlsplit(PYODIDE_LOCK_DEFAULT_URL).hostname)
    except (OSError, urllib.error.URLError) as error:
        return f"COURSE_LITE_WHEELS is not set and the public address says: {error}", ""


@dataclass
class Visit:
    """A reader's window, and what must not happen in it."""

    page: Page
    site: Site
    problems: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.on("pageerror", lambda error: self.problems.append(f"page error: {error}"))
        self.page.on("console", self._hear)
        self.page.on("request", self._watch)

    def _hear(self, message) -> None:
        if message.type == "error":
            self.problems.append(f"console: {message.text[:300]} {message.location}")

    def _watch(self, request) -> None:
        allowed = (self.site.url, "data:", "blob:")
        host = self.site.hosts.rpartition(" ")[2]
        if not request.url.startswith(allowed) and urlsplit(request.url).hostname != host:
            self.problems.append(f"outside request: {request.url[:300]}")

    def beside(self) -> "Visit":
        """Another tab of the same window."""
        return Visit(self.page.context.new_page(), self.site, self.problems)

    def go(self, place: str) -> None:
        self.page.goto(f"{self.site.url}/{place}")

    def wait(self, what: str, arg: object = None, timeout: int = PATIENCE) -> None:
        """Wait for it, and look now and then: to look at every frame keeps a core busy."""
        self.page.wait_for_function(what, arg=arg, timeout=timeout, polling=100)


@contextlib.contextmanager
def visiting(chrome, site, **options) -> Iterator[Visit]:
    """A window of its own: what the browser keeps is that of this test alone."""
    context = chrome.new_context(viewport={"width": 1200, "height": 900}, **options)
    visit = Visit(context.new_page(), site)
    yield visit
    context.close()
    assert not visit.problems, "\n".join(visit.problems)
