"""A private JupyterLab and a browser to look at it with.

The server listens on 127.0.0.1 only, knows nothing of the user's own settings and dies with the
test. The browser is the system's Chromium; it can reach nothing but that server.
"""

import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import nbformat
from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Error,
    Locator,
    Page,
    Request,
    TimeoutError,
)

from classroom import printing
from selfcheck.students.cli import LAB_CONFIG
from tests.places import ROOT, SMALL

REPOSITORY = ROOT
START_SECONDS = 180
RUN_SECONDS = 300
PATIENCE = 240_000  # milliseconds: a busy machine is slow, not wrong

SETTINGS = {
    "@jupyterlab/apputils-extension/notification": {
        "fetchNews": "false",
        "checkForUpdates": False,
    },
}
LIGHT, DARK = "JupyterLab Light", "JupyterLab Dark"

# Errors that the browser reports and that are not ours, each with the reason why it is harmless.
HARMLESS: dict[str, str] = {
    "Shared module @jupyterlite/services doesn't exist": "JupyterLite's kernel, which builds the "
    "site, looks for JupyterLite in JupyterLab too; students have no such package.",
    "Could not restore the debugger state": "The notebook was closed while its debugger was asked.",
    "Canceled future for create_subshell_request": "The notebook was closed while JupyterLab asked "
    "its kernel for a second channel, which it does for every widget.",
}


@contextlib.contextmanager
def browser(but: str = "127.0.0.1") -> Iterator[Browser]:
    """The system's Chromium, headless, cut off from every host but this one; its windows wait."""
    with printing.browser(but=but) as chrome:
        new_context = chrome.new_context

        def patient(**options: Any) -> BrowserContext:
            window = new_context(**options)
            window.set_default_timeout(PATIENCE)
            return window

        chrome.new_context = patient
        yield chrome


# The server


@contextlib.contextmanager
def lab_server(root: Path, home: Path, settings: Mapping[str, dict] = SETTINGS) -> Iterator[str]:
    """The address of a JupyterLab that serves `root` and keeps its own files in `home`."""
    _write_settings(home / "settings", settings)
    for attempt in range(3):  # another program may take the free port before the server does
        port = _free_port()
        log = home / f"lab-{attempt}.log"
        server = _start(root, home, port, log)
        url = f"http://127.0.0.1:{port}"
        if _answers(url, server):
            break
        _stop(server)
    else:
        raise RuntimeError(f"JupyterLab did not start. Its last words:\n{log.read_text()[-3000:]}")
    try:
        yield url
    finally:
        _stop(server)


def _write_settings(folder: Path, settings: Mapping[str, dict]) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for plugin, values in settings.items():
        file = folder / f"{plugin}.jupyterlab-settings"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(values), encoding="utf-8")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def _start(root: Path, home: Path, port: int, log: Path) -> subprocess.Popen:
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--expose-app-in-browser"]
    command += ["--ServerApp.ip=127.0.0.1", f"--ServerApp.port={port}"]
    command += ["--ServerApp.port_retries=0", f"--ServerApp.root_dir={root}"]
    command += ["--IdentityProvider.token=", "--ServerApp.password="]
    command += ["--ServerApp.disable_check_xsrf=True", "--LabApp.news_url="]
    command += ["--LabApp.check_for_updates_class=jupyterlab.NeverCheckForUpdate"]
    command += ["--LabApp.extension_manager=readonly"]
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        command.append("--allow-root")
    with log.open("wb") as words:
        return subprocess.Popen(
            command,
            stdout=words,
            stderr=subprocess.STDOUT,
            cwd=root,
            env=_environment(home),
            start_new_session=True,
        )


def _environment(home: Path) -> dict[str, str]:
    """The variables of this process, with every Jupyter folder moved into `home`."""
    folders = {
        "JUPYTER_CONFIG_DIR": "config",
        "JUPYTER_DATA_DIR": "data",
        "JUPYTER_RUNTIME_DIR": "runtime",
        "JUPYTERLAB_SETTINGS_DIR": "settings",
        "JUPYTERLAB_WORKSPACES_DIR": "workspaces",
        "IPYTHONDIR": "ipython",
    }
    private = {name: str(home / folder) for name, folder in folders.items()}
    private["JUPYTER_CONFIG_PATH"] = private["JUPYTER_PATH"] = str(LAB_CONFIG)  # as `course lab`
    python_path = os.pathsep.join(
        filter(None, [str(REPOSITORY), str(SMALL), os.environ.get("PYTHONPATH")])
    )
    private["COURSE_TAKE"] = "1"  # lectures are trained where nbval runs them
    return os.environ | private | {"PYTHONPATH": python_path}


def _answers(url: str, server: subprocess.Popen) -> bool:
    """Wait until the server speaks; False when it has died or stays silent."""
    deadline = time.monotonic() + START_SECONDS
    while server.poll() is None and time.monotonic() < deadline:
        with contextlib.suppress(OSError), urllib.request.urlopen(f"{url}/api", timeout=10):
            return True
        time.sleep(0.1)
    return False


def _stop(server: subprocess.Popen) -> None:
    """End this server; it ends its kernels."""
    server.send_signal(signal.SIGTERM)
    try:
        server.wait(15)
    except subprocess.TimeoutExpired:
        server.kill()
        server.wait()


# What the page does


@dataclass
class Lab:
    """A running JupyterLab and the folder it serves."""

    url: str
    root: Path

    def write(self, name: str, cells: Iterable[str]) -> str:
        """Save a notebook of these code cells in the folder; its name is returned."""
        notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(c) for c in cells])
        notebook.metadata.kernelspec = {"name": "python3", "display_name": "Python 3"}
        nbformat.write(notebook, self.root / name)
        return name


@dataclass
class Cell:
    """A code cell as the page shows it after a run."""

    source: str
    execution_count: int | None
    errors: list[str]
    text: str  # all of its text output, joined


_OUTPUTS = """() => {
  const cells = [...window.jupyterapp.shell.currentWidget.content.model.cells];
  const join = text => Array.isArray(text) ? text.join('') : text ?? '';
  return cells.filter(cell => cell.type === 'code').map(cell => {
    const {source, execution_count, outputs} = cell.toJSON();
    const errors = outputs.filter(o => o.output_type === 'error');
    return {
      source: join(source), execution_count,
      errors: errors.map(o => `${o.ename}: ${o.evalue}`),
      text: outputs.map(o => join(o.text ?? o.data?.['text/plain'])).join('\\n'),
    };
  });
}"""
_KERNEL_IS_IDLE = """() =>
  window.jupyterapp?.shell?.currentWidget?.sessionContext?.session?.kernel?.status === 'idle'"""
_CLOSE = """async () => {
  const notebook = window.jupyterapp.shell.currentWidget;
  await notebook.sessionContext.shutdown();
  notebook.context.model.dirty = false;
  notebook.dispose();
}"""
_OPEN = """async path => {
  await window.jupyterapp.commands.execute('docmanager:open', {path});
}"""
_SHOWS = """path =>
  window.jupyterapp.shell.currentWidget?.context?.path === path
  && window.jupyterapp.shell.currentWidget.context.isReady"""
_FILL = """([id, source]) => {
  const cells = [...window.jupyterapp.shell.currentWidget.content.model.cells];
  cells.find(cell => cell.id === id).sharedModel.setSource(source);
}"""
_PRINTED_BY = """async (code) => {
  const panel = window.jupyterapp.shell.currentWidget;
  let printed = "";
  const future = panel.sessionContext.session.kernel.requestExecute({code, store_history: false});
  future.onIOPub = (message) => {
    if (message.header.msg_type === "stream") printed += message.content.text;
  };
  await future.done;
  return printed;
}"""
_RUN_ALL = """() => {
  window.courseDone = false;
  window.jupyterapp.commands.execute('notebook:run-all-cells')
    .finally(() => { window.courseDone = true; });
}"""
_RUN = """async id => {
  const {content} = window.jupyterapp.shell.currentWidget;
  content.activeCellIndex = [...content.model.cells].findIndex(cell => cell.id === id);
  await window.jupyterapp.commands.execute('notebook:run-cell');
}"""
_START = """([run, id]) => {
  window.courseDone = false;
  eval(run)(id).finally(() => { window.courseDone = true; });
}"""
# What a screen reader would pass over: a slider without a name or with another number than the
# one in sight, a picture without words, a heading of a table without any.
_UNHEARD = """() => {
  const all = selector => [...document.querySelectorAll(".jp-OutputArea " + selector)];
  const number = e => document.querySelector(`output[for="${e.id}"]`);
  const says = e => e.getAttribute("aria-valuetext");
  return [
    ...all("input[type=range]").filter(e => !e.labels.length || says(e) !== number(e).value),
    ...all("img").filter(e => !e.alt && !e.title),
    ...all("svg[role=img]").filter(e => !e.ariaLabel),
    ...all("th").filter(e => !e.textContent.trim() && !e.children.length),
  ].map(e => e.outerHTML.slice(0, 200));
}"""


@dataclass
class LabPage:
    """One browser page on a JupyterLab; `problems` collects what must not happen on it."""

    page: Page
    lab: Lab
    problems: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.page.on("pageerror", self._fail)
        self.page.on("console", self._hear)
        self.page.on("request", self._watch)

    def _fail(self, error: Error) -> None:
        if not any(known in str(error) for known in HARMLESS):
            self.problems.append(f"page error: {error}")

    def _hear(self, message: ConsoleMessage) -> None:
        harmless = any(known in message.text for known in HARMLESS)
        if message.type == "error" and not harmless:
            self.problems.append(f"console error: {message.text[:300]}")

    def _watch(self, request: Request) -> None:
        if not request.url.startswith((self.lab.url, "data:", "blob:")):
            self.problems.append(f"outside request: {request.url[:300]}")

    def open(self, notebook: str) -> None:
        """Open a notebook of the lab's folder alone on the page and wait for its kernel."""
        self.page.goto(f"{self.lab.url}/doc/tree/{notebook}?reset")
        self._wait_for(notebook)

    def change_to(self, notebook: str) -> None:
        """Open another notebook in place of this one: JupyterLab's scripts are read only once."""
        if self.page.url == "about:blank":
            return self.open(notebook)
        self.page.evaluate(_CLOSE)
        self.page.evaluate(_OPEN, notebook)
        self._wait_for(notebook)

    def _wait_for(self, notebook: str) -> None:
        self.page.wait_for_selector(".jp-Notebook .jp-Cell", timeout=START_SECONDS * 1000)
        self._until(_SHOWS, START_SECONDS, notebook)
        self._until(_KERNEL_IS_IDLE, START_SECONDS)

    def _until(self, holds: str, seconds: float, arg: object = None) -> None:
        """Wait for it, and look now and then: to look at every frame keeps a core busy."""
        self.page.wait_for_function(holds, arg=arg, timeout=seconds * 1000, polling=100)

    def fill(self, cell_id: str, source: str) -> None:
        """Replace the source of the cell with that id."""
        self.page.evaluate(_FILL, [cell_id, source])

    def start_all(self) -> None:
        """Begin to run every cell, and do not wait."""
        self.page.evaluate(_RUN_ALL)

    def wait_until_done(self) -> None:
        """Wait for what `start_all` began."""
        self._until("() => window.courseDone", RUN_SECONDS)

    def interrupt(self) -> None:
        """Press JupyterLab's stop button, and wait until the run has ended."""
        self.page.evaluate("() => window.jupyterapp.commands.execute('notebook:interrupt-kernel')")
        self.wait_until_done()

    def run(self, cell_id: str) -> None:
        """Run the cell with that id as a student does who stands on it."""
        self.page.evaluate(_RUN, cell_id)

    def start(self, cell_id: str) -> None:
        """Begin to run the cell with that id, and do not wait."""
        self.page.evaluate(_START, [_RUN, cell_id])

    def unheard(self) -> list[str]:
        """Elements of outputs that say nothing, or something wrong, to those who hear the page."""
        with contextlib.suppress(TimeoutError):  # words are added now and then
            self._until(f"() => !({_UNHEARD})().length", 20)
        return self.page.evaluate(_UNHEARD)

    def run_all(self) -> list[Cell]:
        """Run every cell; fail on an error, on a cell left out, on a widget that does not show."""
        self.start_all()
        self.wait_until_done()
        cells = self.cells()
        for cell in cells:
            assert not cell.errors, f"{cell.errors} in the cell:\n{cell.source}"
            assert cell.execution_count or not cell.source, f"Not run:\n{cell.source}"
        broken = self.page.locator(".jupyter-widgets-error-widget").count()
        assert not broken, f"{broken} widgets did not show in the browser."
        return cells

    def printed_by(self, code: str) -> str:
        """What the notebook's kernel prints when it runs this code, which leaves no cell."""
        return self.page.evaluate(_PRINTED_BY, code)

    def assert_maths_is_set(self) -> None:
        """Formulas are there as formulas: none in raw TeX, none with an error."""
        assert self.page.locator("mjx-container").count() > 0
        assert self.page.locator("mjx-merror, [data-mjx-error]").count() == 0
        for text in self.page.locator(".jp-RenderedMarkdown").all_inner_texts():
            assert not re.search(r"\$|\\(frac|begin|Delta)", text), f"Raw TeX: {text[:200]}"

    def cells(self) -> list[Cell]:
        """The code cells with their outputs, from the notebook's model."""
        return [Cell(**cell) for cell in self.page.evaluate(_OUTPUTS)]

    def cell(self, number: int) -> Locator:
        """The code cell of that number, from 0, on the page."""
        return self.page.locator(".jp-CodeCell").nth(number)

    def slide_type(self, heading: str) -> Locator:
        """The slide type in the property inspector, of the cell with this heading."""
        cell = self.page.locator(".jp-Cell", has=self.page.locator("h3", has_text=heading)).first
        cell.click()
        commands = "window.jupyterapp.commands"
        self.page.evaluate(f"{commands}.execute('property-inspector:show-panel')")
        self.page.get_by_text("Common Tools").first.click()
        return self.page.locator(".jp-PropertyInspector select[id$='/slide_type']")

    def theme(self, name: str) -> None:
        """Switch JupyterLab to that theme, LIGHT or DARK."""
        change = (
            "name => window.jupyterapp.commands.execute('apputils:change-theme', {theme: name})"
        )
        self.page.evaluate(change, name)
        self.page.wait_for_selector(f"body[data-jp-theme-name='{name}']", state="attached")
        self.page.wait_for_selector("#jupyterlab-splash", state="detached")

    def screenshot(self, name: str) -> None:
        """Save the whole notebook as a picture, if COURSE_SCREENSHOTS names a folder for it."""
        folder = os.environ.get("COURSE_SCREENSHOTS")
        if not folder:
            return
        Path(folder).mkdir(parents=True, exist_ok=True)
        view = self.page.viewport_size
        self.page.locator(".jp-Cell").first.scroll_into_view_if_needed()
        last = self.page.locator(".jp-Cell").last.bounding_box()
        height = round(last["y"] + last["height"]) + 60
        self.page.set_viewport_size({"width": view["width"], "height": height})
        self.page.screenshot(path=Path(folder) / f"{name}.png")
        self.page.set_viewport_size(view)
