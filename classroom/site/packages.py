"""What Python in the browser loads: Pyodide, its packages, and the wheels of machine and course.

    shelf = gather(course, Path("build/site-packages"), wheels=None)

By default Pyodide and its packages come from their public address when a notebook is opened, pinned
by hash in the lock that is written here; the course's wheel and the few packages that Pyodide has
not lie on the site. With a folder of compiled wheels everything lies on the site. What was fetched
once is kept, so that a second build needs no network. All addresses are those that the JupyterLite
packages, pip and npm know by themselves.
"""

from __future__ import annotations

import base64
import contextlib
import hashlib
import io
import json
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import urllib.error
import urllib.request
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name, parse_wheel_filename

import selfcheck
from selfcheck.course import Course
from selfcheck.files import CourseError, write_whole
from selfcheck.sealed import ALWAYS, NEVER
from selfcheck.units import units

from ..grading.settings import Settings
from ..release import sealed
from .bytecode import EPOCH, compiled

try:
    import fcntl
except ImportError:
    fcntl = None  # type: ignore[assignment]

CORE = ("pyodide.mjs", "pyodide.asm.mjs", "pyodide.asm.wasm", "python_stdlib.zip", "package.json")
LARGE = ("pyodide.asm.wasm", STDLIB := "python_stdlib.zip")
LOCK = "pyodide-lock.json"
MACHINE, FONTS = "selfcheck", "course-fonts"
# Loaded before the first cell; the rest follows while the student reads.
KERNEL = ("micropip", "piplite", "ipykernel", "comm", "pyodide-kernel", "jedi", "ipython")
SHIPPED = ("piplite", "pyodide-kernel", "ipykernel", "widgetsnbextension")  # by the kernel itself
WIDGETS = ("ipywidgets", "jupyterlab-widgets", "comm")  # on no shelf of Pyodide's
NEEDS = {
    "ipywidgets": ["comm", "ipython", "jupyterlab-widgets", "traitlets", "widgetsnbextension"],
    "pyodide-kernel": ["comm", "ipykernel", "ipython", "micropip", "piplite"],
    "piplite": ["micropip"],
}
# What the course's pictures do without: fonts for PDF files, and time zones.
SPARED = ("fonttools", "pytz")
LEFT_OUT = re.compile(  # of a wheel
    r"/(tests|benchmarks|sample_data|afm|pdfcorefonts|django-stubs|labextensions?)/"
)
WANTED = (*KERNEL, "matplotlib", "sympy", "typing-extensions", *WIDGETS, *SHIPPED)
SITE_PACKAGES = "/lib/python{}/site-packages"
LIST_FONTS = """
import pathlib, sys
import matplotlib
from matplotlib import font_manager

manager, inside = font_manager.FontManager(), pathlib.Path(matplotlib.get_data_path())
for kind in ("ttflist", "afmlist"):
    fonts = [font for font in getattr(manager, kind) if inside in pathlib.Path(font.fname).parents]
    setattr(manager, kind, fonts)
name = f"fontlist-v{font_manager.FontManager.__version__}.json"
font_manager.json_dump(manager, pathlib.Path(sys.argv[1]) / name)
"""


@dataclass(frozen=True)
class Shelf:
    """The files for the site's package folder, the lock beside them, and the runtime if inside."""

    wheels: Mapping[str, Path]
    lock: dict[str, Any]
    runtime: Mapping[str, Path] | None
    font_folder: str
    course: str  # the name of the course's own wheel


@contextlib.contextmanager
def alone(cache: Path, tell: Callable[[str], None] = lambda line: None) -> Iterator[None]:
    """Use what is kept in this folder while no other build does; wait for one that is under way.

    Where the system has no such locks (Windows), builds side by side need folders of their own.
    """
    cache.mkdir(parents=True, exist_ok=True)
    with (cache / "lock").open("w") as lock:
        if fcntl is not None:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                tell(f"another build uses {cache}; this one waits for it")
                fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def gather(
    course: Course, cache: Path, wheels: Path | None, rules: Settings | None = None
) -> Shelf:
    """Fetch what is missing, write the course's wheels, and list all of it with its hashes.

    The rules of a class say which solutions are in them; without, they are open to all.
    """
    runtime = _runtime(cache, CORE if wheels else ())
    known = json.loads((runtime / LOCK).read_text(encoding="utf-8"))
    plotting = known["packages"]["matplotlib"]["version"]
    ours = [
        _machine_wheel(cache),
        _course_wheel(course, cache, rules),
        _font_wheel(cache, plotting),
    ]
    name = _plain(course.package)
    ours += _kernel_wheels()
    ours += [_slim(wheel, cache / "slim") for wheel in _widget_wheels(course.folder, cache)]
    entries = {_plain(name): entry for name, entry in known["packages"].items()}
    if wheels is None:
        packages = {name: _elsewhere(entry) for name, entry in entries.items()}
        inside = ours
    else:
        inside = [runtime / STDLIB, *ours, *_compiled_and_pure(entries, wheels, cache)]
        stdlib, *inside = compiled(inside, runtime, cache / "bytecode", keep=(MACHINE, name))
        packages = {}
    packages |= {_name(wheel): _entry(wheel, entries) for wheel in inside}
    _add_needs(packages, name)
    lock = known | {"packages": dict(sorted(packages.items()))}
    place = SITE_PACKAGES.format(".".join(known["info"]["python"].split(".")[:2]))
    return Shelf(
        wheels={wheel.name: wheel for wheel in inside},
        lock=lock,
        runtime={name: runtime / name for name in CORE} | {STDLIB: stdlib} if wheels else None,
        font_folder=f"{place}/course_fonts",
        course=name,
    )


def version() -> str:
    """The Pyodide that the installed kernel is made for."""
    from jupyterlite_pyodide_kernel.constants import PYODIDE_VERSION

    return PYODIDE_VERSION


def runtime_address(shelf: Shelf) -> str:
    """Where the browser finds Pyodide: on the site, or at its public address."""
    from jupyterlite_pyodide_kernel.constants import PYODIDE_CDN_URL

    return "static/pyodide/pyodide.mjs" if shelf.runtime else f"{PYODIDE_CDN_URL}/pyodide.mjs"


def loads(shelf: Shelf) -> list[tuple[str, int]]:
    """What a kernel fetches before its first cell, seen from JupyterLite, with bytes if known."""
    files = [runtime_address(shelf).replace("pyodide.mjs", name) for name in LARGE]
    sizes = [shelf.runtime[name].stat().st_size if shelf.runtime else 0 for name in LARGE]
    listed = shelf.lock["packages"]
    for name in sorted(closure(listed, [*KERNEL, shelf.course])):
        wheel = shelf.wheels.get(listed[name]["file_name"])
        files.append(f"static/packages/{wheel.name}" if wheel else listed[name]["file_name"])
        sizes.append(wheel.stat().st_size if wheel else 0)
    return list(zip(files, sizes if shelf.runtime else [0] * len(sizes), strict=True))


def page_size(shelf: Shelf) -> int:
    """The bytes that the page of a sheet loads: without a kernel, widgets and plots."""
    names = [MACHINE, shelf.course, *closure(shelf.lock["packages"], ["numpy", "sympy"])]
    wheels = [shelf.wheels.get(shelf.lock["packages"][name]["file_name"]) for name in names]
    runtime = (shelf.runtime or {}).values()
    return sum(path.stat().st_size for path in [*runtime, *wheels] if path)


# -- fetched, and kept ----------------------------------------------------------------------------


def _runtime(cache: Path, files: Sequence[str]) -> Path:
    """The folder with Pyodide's lock and these files of it: from npm, or from its own address."""
    folder = cache / f"pyodide-{version()}"
    if all((folder / name).exists() for name in (LOCK, *files)):
        return folder
    folder.mkdir(parents=True, exist_ok=True)
    if npm := shutil.which("npm"):
        _from_npm(npm, folder)
    else:
        for name in (LOCK, *files):
            _from_its_address(name, folder)
    return folder


def _from_npm(npm: str, folder: Path) -> None:
    command = [npm, "pack", f"pyodide@{version()}", "--silent"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    archives = sorted(folder.glob("*.tgz"))
    if done.returncode or not archives:
        raise CourseError(f"npm could not fetch Pyodide {version()}: {done.stderr.strip()[-300:]}")
    with tarfile.open(archives[-1]) as archive:
        for name in (LOCK, *CORE):
            member = archive.extractfile(f"package/{name}")
            assert member is not None  # a file, or KeyError
            (folder / name).write_bytes(member.read())
    archives[-1].unlink()


def _from_its_address(name: str, folder: Path) -> None:
    from jupyterlite_pyodide_kernel.constants import PYODIDE_CDN_URL

    try:
        with urllib.request.urlopen(f"{PYODIDE_CDN_URL}/{name}", timeout=60) as answer:
            (folder / name).write_bytes(answer.read())
    except (OSError, urllib.error.URLError) as error:
        raise CourseError(
            f"Pyodide's {name} could not be fetched: {error}. Install npm, or build where the "
            "network lets you, once; what was fetched is kept."
        ) from None


def _kernel_wheels() -> list[Path]:
    """The small wheels that the JupyterLite kernel brings; of each the newest."""
    static = Path(sys.prefix) / "share/jupyter/labextensions/@jupyterlite"
    found = sorted(static.glob("pyodide-kernel-extension/static/pypi/*.whl"))
    return list({_name(wheel): wheel for wheel in found}.values())


def _widget_wheels(root: Path, cache: Path) -> list[Path]:
    """Widgets as the course's lock file has them, hashes and all; else as they are installed."""
    folder, lock, options = cache / "widgets", root / "requirements.lock", ["--require-hashes"]
    if lock.exists():
        blocks = re.split(r"\n(?=\S)", lock.read_text(encoding="utf-8"))
    else:
        blocks, options = [f"{name}=={metadata.version(name)}" for name in WIDGETS], []
    wanted = "\n".join(block for block in blocks if block.split("==")[0] in WIDGETS)
    listed = folder / "wanted.txt"
    if not listed.exists() or listed.read_text(encoding="utf-8") != wanted:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        asked = folder / "asked.txt"
        asked.write_text(wanted, encoding="utf-8")
        _pip_download(folder, *options, "-r", str(asked))
        asked.rename(listed)  # only now: half a folder is fetched again
    return sorted(folder.glob("*.whl"))


def _compiled_and_pure(entries: Mapping[str, Any], wheels: Path, cache: Path) -> list[Path]:
    """A wheel for each package that the course needs: given, kept from before, or fetched."""
    given = {_name(wheel): wheel for wheel in sorted(wheels.glob("*.whl"))}
    if not given:
        raise CourseError(f"There are no wheels in {wheels}; it should hold those for Pyodide.")
    folder = cache / f"wheels-{version()}"
    folder.mkdir(parents=True, exist_ok=True)
    kept = {_name(wheel): wheel for wheel in sorted(folder.glob("*.whl"))}
    names = closure(entries, [name for name in WANTED if name in entries])
    pure = [
        n
        for n in names - given.keys() - kept.keys()
        if entries[n]["file_name"].endswith("-any.whl")
    ]
    if pure:
        _pip_download(folder, *(f"{name}=={entries[name]['version']}" for name in sorted(pure)))
    tag = f"pyemscripten_{_abi(entries)}_wasm32"
    for name in sorted(names - given.keys() - kept.keys() - set(pure)):
        _pip_download(folder, name, platform=tag)  # whichever version there is for this Pyodide
    kept = {_name(wheel): wheel for wheel in sorted(folder.glob("*.whl"))}
    return [_slim((kept | given)[name], cache / "slim") for name in sorted(names)]


def _slim(wheel: Path, folder: Path) -> Path:
    """The wheel without the tests that it brings: a third of SymPy, which nobody runs here."""
    slim = folder / wheel.name
    if slim.exists():
        return slim
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        if not any(LEFT_OUT.search(name) for name in names):
            return wheel
        folder.mkdir(parents=True, exist_ok=True)
        with zipfile.ZipFile(slim, "w", zipfile.ZIP_DEFLATED) as smaller:
            for name in names:
                if not LEFT_OUT.search(name):
                    info = zipfile.ZipInfo(name, EPOCH)
                    smaller.writestr(info, archive.read(name), zipfile.ZIP_DEFLATED)
    return slim


def closure(entries: Mapping[str, Any], names: Iterable[str]) -> set[str]:
    """These packages, and all that they need."""
    found: set[str] = set()
    todo = [_plain(name) for name in names]
    while todo:
        name = todo.pop()
        if name not in found and name in entries and name not in SPARED:
            found.add(name)
            todo += map(_plain, entries[name]["depends"])
    return found


def _abi(entries: Mapping[str, Any]) -> str:
    found = re.search(r"pyemscripten_(\d+_\d+)_wasm32", entries["numpy"]["file_name"])
    assert found, "Pyodide's own wheel of NumPy names its platform"
    return found[1]


def _pip_download(folder: Path, *wanted: str, platform: str = "any") -> None:
    python = _browser_python()
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
    command += ["--no-deps", "--only-binary=:all:", "--dest", str(folder)]
    command += ["--python-version", python, "--platform", platform]
    if platform != "any":
        command += ["--implementation", "cp", "--abi", f"cp{python.replace('.', '')}"]
    _run([*command, *wanted], f"pip could not fetch {' '.join(wanted)[:200]} for the browser")


def _browser_python() -> str:
    """The Python that runs in the browser, such as 3.14."""
    from jupyterlite_pyodide_kernel.constants import PYODIDE_PYTHON_VERSION

    return PYODIDE_PYTHON_VERSION


# -- our own wheels -------------------------------------------------------------------------------


def _machine_wheel(cache: Path) -> Path:
    """The machine that checks answers, as it is installed here."""
    folder = Path(str(selfcheck.__file__)).parent
    return _write_wheel(cache, MACHINE, selfcheck.__version__, _files_of(folder))


def _course_wheel(course: Course, cache: Path, rules: Settings | None) -> Path:
    """What the notebooks of the course import, with the solutions that may be seen."""
    files = _files_of(course.package_folder)
    stems = [unit.stem for unit in units(course)]
    told = sealed(course.folder, stems, NEVER if rules else ALWAYS, rules)
    files |= {name: text.encode() for name, text in told.items()}
    return _write_wheel(cache, _plain(course.package), selfcheck.__version__, files)


def _files_of(package: Path) -> dict[str, bytes]:
    return {
        path.relative_to(package.parent).as_posix(): path.read_bytes()
        for path in sorted(package.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts
    }


def _font_wheel(cache: Path, version: str) -> Path:
    """matplotlib's list of its own fonts: else each start would spend seconds on making it.

    The list is that of the version in the browser, which makes it here once.
    """
    kept = cache / f"fonts-{version}"
    if not any(kept.glob("fontlist-*.json")):
        with tempfile.TemporaryDirectory(prefix="course-") as scratch:
            command = [
                sys.executable,
                "-m",
                "pip",
                "install",
                "--quiet",
                "--no-deps",
                "--no-compile",
            ]
            command += ["--disable-pip-version-check", "--only-binary=:all:", "--target", scratch]
            _run([*command, f"matplotlib=={version}"], f"matplotlib {version} could not be fetched")
            kept.mkdir(parents=True, exist_ok=True)
            variables = os.environ | {"PYTHONPATH": scratch, "MPLCONFIGDIR": scratch}
            listing = [sys.executable, "-c", LIST_FONTS, str(kept)]
            _run(listing, "matplotlib's fonts could not be listed", env=variables)
    fonts = {f"course_fonts/{p.name}": p.read_bytes() for p in kept.glob("fontlist-*.json")}
    return _write_wheel(cache, FONTS, version, {"course_fonts/__init__.py": b"", **fonts})


def _run(command: Sequence[str], failure: str, env: Mapping[str, str] | None = None) -> None:
    done = subprocess.run(command, capture_output=True, text=True, env=env)
    if done.returncode:
        raise CourseError(f"{failure}: {done.stderr.strip()[-300:]}")


def _write_wheel(cache: Path, name: str, version: str, files: Mapping[str, bytes]) -> Path:
    """A pure wheel of these files; the same files make the same bytes."""
    stem = f"{name.replace('-', '_')}-{version}"
    about = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    tags = "Wheel-Version: 1.0\nGenerator: course\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    content = dict(files)
    content[f"{stem}.dist-info/METADATA"] = about.encode()
    content[f"{stem}.dist-info/WHEEL"] = tags.encode()
    record = f"{stem}.dist-info/RECORD"
    lines = [f"{path},sha256={_digest(data)},{len(data)}" for path, data in content.items()]
    content[record] = ("\n".join([*lines, f"{record},,"]) + "\n").encode()
    target = cache / "ours" / f"{stem}-py3-none-any.whl"
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as wheel:
        for path, data in content.items():
            wheel.writestr(zipfile.ZipInfo(path, EPOCH), data, zipfile.ZIP_DEFLATED)
    write_whole(target, buffer.getvalue())  # another build may read it right now
    return target


def _digest(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


# -- the lock -------------------------------------------------------------------------------------


def _elsewhere(entry: Mapping[str, Any]) -> dict[str, Any]:
    """A package that the browser takes from Pyodide's address; its hash is in the entry."""
    from jupyterlite_pyodide_kernel.constants import PYODIDE_CDN_URL

    return {**entry, "file_name": f"{PYODIDE_CDN_URL}/{entry['file_name']}"}


def _entry(wheel: Path, entries: Mapping[str, Any]) -> dict[str, Any]:
    """A package that lies on the site."""
    name, release, _, _ = parse_wheel_filename(wheel.name)
    known = entries.get(name, {})
    return {
        "name": str(name),
        "version": str(release),
        "file_name": wheel.name,
        "install_dir": "site",
        "sha256": hashlib.sha256(wheel.read_bytes()).hexdigest(),
        "package_type": "package",
        "imports": known.get("imports") or _modules(wheel),
        "depends": known.get("depends") or NEEDS.get(str(name), []),
        "unvendored_tests": False,
    }


def _add_needs(packages: dict[str, dict[str, Any]], course: str) -> None:
    """What the machine needs of what is there, and fonts for matplotlib; unknown names are left."""
    wanted = [text for text in metadata.requires(MACHINE) or [] if "tests" not in text]
    packages[MACHINE]["depends"] = [_plain(Requirement(text).name) for text in wanted]
    packages[course]["depends"] = [MACHINE]
    packages["matplotlib"] = {**packages["matplotlib"]}
    packages["matplotlib"]["depends"] = [*packages["matplotlib"]["depends"], FONTS]
    for entry in packages.values():
        names = sorted({_plain(name) for name in entry["depends"]})
        entry["depends"] = [n for n in names if n in packages and n not in SPARED]


def _modules(wheel: Path) -> list[str]:
    """The names that a wheel lets one import."""
    with zipfile.ZipFile(wheel) as archive:
        parts = [name.split("/") for name in archive.namelist()]
    found = {p[0] for p in parts if len(p) > 1 and not re.search(r"\.(dist-info|data)$", p[0])}
    found |= {p[0].removesuffix(".py") for p in parts if len(p) == 1 and p[0].endswith(".py")}
    return sorted(found)


def _plain(name: str) -> str:
    """A package's name as all its spellings are compared."""
    return str(canonicalize_name(name))


def _name(wheel: Path) -> str:
    return str(parse_wheel_filename(wheel.name)[0])
