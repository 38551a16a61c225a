// node bytecode.mjs RUNTIME FOLDER: the wheels of FOLDER/only and FOLDER/both, compiled, into FOLDER/done.
// In `only` byte code takes the place of source; in `both` it lies beside it.
import path from "path";
import {pathToFileURL} from "url";

const [runtime, folder] = process.argv.slice(2).map(name => path.resolve(name) + "/");
const {loadPyodide} = await import(pathToFileURL(runtime + "pyodide.mjs"));
const python = await loadPyodide({indexURL: runtime});
python.mountNodeFS("/wheels", folder);
python.runPython(`
import importlib.util, sys, warnings, zipfile
from importlib._bootstrap_external import _code_to_hash_pyc
from pathlib import Path

warnings.simplefilter("ignore")
HOME = f"/lib/python3.{sys.version_info.minor}/site-packages/"
TIME = (2020, 1, 1, 0, 0, 0)


def files(name, data, keep_source):
    """A file of the wheel as it is, or a module with its byte code."""
    if not name.endswith(".py"):
        return [(name, data)]
    try:
        code = compile(data, HOME + name, "exec", dont_inherit=True)
    except SyntaxError:  # a template, or for another Python
        return [(name, data)]
    byte_code = _code_to_hash_pyc(code, importlib.util.source_hash(data), False)
    if not keep_source:
        return [(name + "c", bytes(byte_code))]
    folder, _, file = name.rpartition("/")
    beside = f"{folder}/__pycache__/{file[:-3]}.{sys.implementation.cache_tag}.pyc".lstrip("/")
    return [(name, data), (beside, bytes(byte_code))]


Path("/wheels/done").mkdir()
for kind in ("only", "both"):
    for wheel in sorted(Path("/wheels", kind).glob("*.whl")):
        with (
            zipfile.ZipFile(wheel) as old,
            zipfile.ZipFile(f"/wheels/done/{wheel.name}", "w", zipfile.ZIP_DEFLATED) as new,
        ):
            for name in old.namelist():
                for place, data in files(name, old.read(name), kind == "both"):
                    new.writestr(zipfile.ZipInfo(place, TIME), data, zipfile.ZIP_DEFLATED)
`);
