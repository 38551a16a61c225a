"""JupyterLite on the site: its pages, the notebooks in it, and what its kernel loads.

    add_lite(site / "lite", notebooks, shelf, facts, cache)

The program is unpacked once for each version and kept; notebooks, packages and settings are laid
beside it here, so that a second build takes seconds.
"""

from __future__ import annotations

import base64
import copy
import filecmp
import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from nbformat import NotebookNode

from selfcheck.files import CourseError
from selfcheck.students.cli import LAB_CONFIG

from .about import Facts
from .packages import KERNEL, LOCK, Shelf, runtime_address

APPS = ("lab", "notebooks")
EXTENSIONS = ("@jupyter-widgets/jupyterlab-manager", "@jupyterlite/pyodide-kernel-extension")
KERNEL_PLUGIN = "@jupyterlite/pyodide-kernel-extension:kernel"
PACKAGES = "static/packages"
SAVE_SECONDS = 3
OVERRIDES = {
    "@jupyterlab/docmanager-extension:plugin": {"autosaveInterval": SAVE_SECONDS},
    "@jupyterlab/apputils-extension:themes": {"adaptive-theme": True},
    "@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": False},
}
# Diagrams, charts, a terminal and other languages: a third of the program, which nobody loads.
SPARED_PLUGINS = ("mermaid-extension", "terminal-extension", "vega5-extension")
SPARED_CODE = re.compile(
    r"mermaidAPI|org\.eclipse\.elk|DECSET|Unrecognized signal name|vega-embed|github\.com/vega"
    r'|name:"(?:cpp|java|php|rust|sql|stylus)"'
)
SPARED_FILES = re.compile(
    r"build/fa-(brands.*|.*\.(svg|eot|ttf|woff))"  # fonts for browsers that could not run Python
    r"|build/schemas/@.*"  # all.json has all of them
    r"|(.*/)?(rspack\.config\S*|package\.json)|lab/favicon\.ico|jupyterlite\.schema\S*"
)
CHUNK = re.compile(r"(\w+)\.[0-9a-f]+\.js")
SHADES = [round(round(value * 31 / 255) * 255 / 31) for value in range(256)]  # 32 of them
NOTHING = "UklGRhoAAABXRUJQVlA4TA0AAAAvAAAAEAcQERGIiP4HAA=="  # a WebP of one clear pixel
PICTURE = re.compile(r"data:image/(png|svg\+xml);base64,([A-Za-z0-9+/=\n]{1000,})")
NUMBERS = re.compile(r'data-explorer="([A-Za-z0-9+/=]+)"')
NO_TIME = "2020-01-01T00:00:00Z"  # of every folder in the listing


def add_lite(
    target: Path, notebooks: Mapping[str, NotebookNode], shelf: Shelf, facts: Facts, cache: Path
) -> None:
    """Write JupyterLite with these notebooks; what has not changed is not written again."""
    wanted = Wanted(target)
    program = _program(cache)
    unread = unread_chunks(program / "build")
    for path in sorted(p for p in program.rglob("*") if p.is_file()):
        name = path.relative_to(program).as_posix()
        if SPARED_FILES.fullmatch(name) or path in unread:
            continue
        if path.name == "jupyter-lite.json":
            wanted.text(name, _settings(path, shelf, facts))
        elif path.name == "index.html":
            wanted.text(name, _page(path, program))
        else:
            wanted.copy(name, path)
    for wheel in shelf.wheels.values():
        wanted.copy(f"{PACKAGES}/{wheel.name}", wheel)
    wanted.text(f"{PACKAGES}/{LOCK}", json.dumps(shelf.lock, sort_keys=True))
    for name, path in (shelf.runtime or {}).items():
        wanted.copy(f"static/pyodide/{name}", path)
    for name, notebook in notebooks.items():
        wanted.text(f"files/{name}", joined(notebook))
    for folder, listing in _listings(target, notebooks).items():
        wanted.text(f"api/contents/{folder}all.json", listing)
    wanted.sweep()


class Wanted:
    """The files that a folder is to hold: unchanged ones stay, others go."""

    def __init__(self, folder: Path, keep: Sequence[str] = ()) -> None:
        self.folder = folder
        self.keep = keep  # folders that someone else looks after
        self.names: set[str] = set()

    def text(self, name: str, text: str) -> None:
        """Write a text, unless it stands there."""
        self.data(name, text.encode())

    def data(self, name: str, data: bytes) -> None:
        """Write bytes, unless they stand there."""
        self.names.add(name)
        target = self.folder / name
        if not target.is_file() or target.read_bytes() != data:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(data)

    def page(self, name: str, html: str, address: str = "") -> None:
        """Write a page; its pictures and explorers lie on the site once, whoever shows them.

        What a page tells those who link to it, it tells with the whole address.
        """
        up = "../" * name.count("/")

        def moved(found: re.Match[str]) -> str:
            data, drawn = base64.b64decode(found[2]), found[1] != "png"
            place = place_of_picture(data, drawn)
            self.names.add(place)
            if not (self.folder / place).is_file():
                self.data(place, data if drawn else smaller(data))
            return up + place

        def apart(found: re.Match[str]) -> str:
            place = place_of_numbers(found[1])
            self.data(place, base64.b64decode(found[1]))
            return f'data-explorer="{up}{place}"'

        html = NUMBERS.sub(apart, PICTURE.sub(moved, html))
        self.text(name, html.replace(f'content="{up}static/', f'content="{address}static/'))

    def copy(self, name: str, path: Path) -> None:
        """Copy a file, unless the same stands there."""
        self.names.add(name)
        target = self.folder / name
        if not target.is_file() or not filecmp.cmp(path, target):
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(path, target)

    def sweep(self) -> None:
        """Remove what no one asked for: files of an older build."""
        for path in sorted(self.folder.rglob("*"), reverse=True):
            name = path.relative_to(self.folder).as_posix()
            if name.split("/")[0] in self.keep:
                continue
            if path.is_dir() and not any(path.iterdir()):
                path.rmdir()
            elif path.is_file() and name not in self.names:
                path.unlink()


def place_of_numbers(packed: str) -> str:
    """Where the numbers of an explorer lie on the site."""
    return f"static/explorers/{hashlib.sha256(packed.encode()).hexdigest()[:20]}.bin"


def place_of_picture(data: bytes, drawn: bool) -> str:
    """Where a picture lies on the site: as it is if it is drawn, an SVG, else smaller."""
    digest = hashlib.sha256(data + bytes(SHADES)).hexdigest()[:20]
    return f"static/pictures/{digest}.{'svg' if drawn else 'webp'}"


def smaller(png: bytes) -> bytes:
    """The same picture to the eye in a third of the bytes: colors are off by at most 4 of 255."""
    from PIL import Image

    out = io.BytesIO()
    options = {"lossless": True, "quality": 60, "method": 4}
    picture = Image.open(io.BytesIO(png)).convert("RGB")
    picture.point(SHADES * 3).save(out, "WEBP", **options)
    return out.getvalue()


def joined(notebook: NotebookNode) -> str:
    """The notebook with each text as one string: JupyterLite stumbles over lists of lines.

    Its pictures and the numbers of its explorers are those that its page has brought.
    """
    notebook = copy.deepcopy(notebook)
    for output in (o for cell in notebook.cells for o in cell.get("outputs", [])):
        data = output.get("data", {})
        if png := data.pop("image/png", None):
            about = output.metadata.pop("image/png", {})
            data["image/webp"] = NOTHING
            if about.get("explorer") and about.get("width"):
                about["explorer"] = f"../../{place_of_numbers(about['explorer'])}"
            else:
                data.pop("text/plain", None)  # the description once more
                drawn = data.pop("image/svg+xml", None)
                raw = drawn.encode() if drawn else base64.b64decode(png)
                about["src"] = f"../../{place_of_picture(raw, bool(drawn))}"
            output.metadata["image/webp"] = about
    return json.dumps(notebook, ensure_ascii=False, separators=(",", ":")) + "\n"


# -- the program ----------------------------------------------------------------------------------


def _program(cache: Path) -> Path:
    """JupyterLite without notebooks, unpacked once a version."""
    import jupyterlite_core

    parts = [jupyterlite_core.__version__, json.dumps(OVERRIDES), *APPS, *EXTENSIONS, *_versions()]
    kept = cache / f"lite-{hashlib.sha256(' '.join(parts).encode()).hexdigest()[:16]}"
    if not kept.exists():
        with tempfile.TemporaryDirectory(prefix="course-") as scratch:
            built = _build(Path(scratch))
            shutil.copytree(built, kept.with_suffix(".part"), dirs_exist_ok=True)
        kept.with_suffix(".part").rename(kept)  # only now: half a folder is built again
    return kept


def _versions() -> Iterable[str]:
    """What may change in the extensions: their versions, and the course's own code."""
    yield from (json.loads(path.read_text(encoding="utf-8"))["version"] for path in _extensions())
    for path in sorted(LAB_CONFIG.glob("labextensions/**/*.js")):
        yield hashlib.sha256(path.read_bytes()).hexdigest()


def _extensions() -> list[Path]:
    """The package files of the extensions that the notebooks need, and of the course's own."""
    folder = Path(sys.prefix) / "share/jupyter/labextensions"
    ours = sorted(LAB_CONFIG.glob("labextensions/*/package.json"))
    return [*(folder / name / "package.json" for name in EXTENSIONS), *ours]


def _build(scratch: Path) -> Path:
    """Let JupyterLite build itself; our extensions only, whatever else is installed here."""
    (scratch / "overrides.json").write_text(json.dumps(OVERRIDES), encoding="utf-8")
    settings = {
        "ignore_sys_prefix": ["federated_extensions"],
        "federated_extensions": [str(path.parent) for path in _extensions()],
        "apps": APPS,
        "no_sourcemaps": True,
        "no_unused_shared_packages": True,
        "output_dir": str(scratch / "out"),
    }
    config = json.dumps({"LiteBuildConfig": settings})
    (scratch / "jupyter_lite_config.json").write_text(config, encoding="utf-8")
    command = [sys.executable, "-m", "jupyterlite_core", "build", "--lite-dir", str(scratch)]
    variables = {k: v for k, v in os.environ.items() if not k.startswith("JUPYTERLITE_")}
    done = subprocess.run(command, cwd=scratch, capture_output=True, text=True, env=variables)
    if done.returncode:
        raise CourseError(f"JupyterLite could not be built: {(done.stderr or done.stdout)[-2000:]}")
    return scratch / "out"


def unread_chunks(build: Path) -> set[Path]:
    """The pieces of the program that only what is spared would load."""
    files = {found[1]: p for p in build.glob("*.js") if (found := CHUNK.fullmatch(p.name))}
    text = {name: path.read_text(encoding="utf-8") for name, path in files.items()}
    spared = {name for name in files if name.isdigit() and SPARED_CODE.search(text[name])}
    begin = {name for name in files if not name.isdigit()}
    for bundle in build.glob("*/bundle.js"):
        begin |= _asked_for(bundle.read_text(encoding="utf-8"))

    def reached(names: set[str], without: set[str]) -> set[str]:
        found, todo = set(), names & files.keys() - without
        while todo:
            found |= todo
            named = set().union(*(_asked_for(text[name]) for name in todo))
            todo = named & files.keys() - without - found
        return found

    return {files[name] for name in reached(spared, set()) - reached(begin, spared)}


def _asked_for(code: str) -> set[str]:
    """The numbers of the pieces that a piece of the program may load."""
    return set(re.findall(r"\.e\(\"?(\w+)\"?\)", code))


# -- settings -------------------------------------------------------------------------------------


def _settings(path: Path, shelf: Shelf, facts: Facts) -> str:
    """JupyterLite's own settings, with ours in the file at its root."""
    settings = json.loads(path.read_text(encoding="utf-8"))
    data = settings.setdefault("jupyter-config-data", {})
    if "appVersion" in data or "federated_extensions" in data:
        data["contentsAllJsonFile"] = "all.json"
        data["exposeAppInBrowser"] = True  # for the tests, and for who wants to build on it
        data["disabledExtensions"] = [f"@jupyterlab/{name}" for name in SPARED_PLUGINS]
        data["faviconUrl"] = "./notebooks/favicon.ico"
        data["appName"] = facts.title
        for kind in ("contents", "settings", "workspaces"):
            data[f"{kind}StorageName"] = f"{facts.storage} · {kind}"
        data.setdefault("litePluginSettings", {})[KERNEL_PLUGIN] = _kernel(shelf)
    return json.dumps(settings, indent=2, sort_keys=True) + "\n"


def _page(path: Path, program: Path) -> str:
    """A page of JupyterLite, with an icon and the course's own script beside it."""
    up = "../" * len(path.relative_to(program).parts)
    ours = f'<link rel="icon" href="{up}static/icon.svg" type="image/svg+xml">'
    if path.parent.name in APPS:
        ours += f'<script type="module" src="{up}static/beside.js"></script>'
    html = path.read_text(encoding="utf-8")
    return html.replace("<html>", '<html lang="en">', 1).replace("</head>", f"{ours}</head>", 1)


def _kernel(shelf: Shelf) -> dict[str, Any]:
    settings: dict[str, Any] = {
        "disablePyPIFallback": True,
        "loadPyodideOptions": {
            "lockFileURL": f"./{PACKAGES}/{LOCK}",
            "packages": [*KERNEL, shelf.course],
            "env": {"MPLCONFIGDIR": shelf.font_folder},
        },
    }
    if shelf.runtime:
        settings["pyodideUrl"] = f"./{runtime_address(shelf)}"
    return settings


# -- the list of files ----------------------------------------------------------------------------


def _listings(target: Path, notebooks: Mapping[str, NotebookNode]) -> dict[str, str]:
    """What a Jupyter server would answer for each folder."""
    folders: dict[str, dict[str, dict[str, Any]]] = {"": {}}
    for name in notebooks:
        folder, _, file = name.rpartition("/")
        row = _row(file, name, "notebook")
        about = (target / "files" / name).stat()
        changed = datetime.fromtimestamp(int(about.st_mtime), tz=UTC).isoformat()
        row |= {"size": about.st_size, "created": changed, "last_modified": changed}
        folders.setdefault(f"{folder}/", {})[file] = row
        folders[""][folder] = _row(folder, folder, "directory")
    return {
        folder: json.dumps(
            _row(folder.rstrip("/").rpartition("/")[2], folder.rstrip("/"), "directory")
            | {"content": list(rows.values()), "format": "json"},
            indent=1,
        )
        for folder, rows in folders.items()
    }


def _row(name: str, path: str, kind: str) -> dict[str, Any]:
    return {
        "content": None,
        "created": NO_TIME,
        "format": None,
        "hash": None,
        "hash_algorithm": None,
        "last_modified": NO_TIME,
        "mimetype": None,
        "name": name,
        "path": path,
        "size": None,
        "type": kind,
        "writable": True,
    }
