// node bytecode.mjs RUNTIME FOLDER: the modules in FOLDER/sources.zip, compiled, into FOLDER/compiled.zip.
// Without places of columns they are a seventh smaller; tracebacks name lines as ever.
// A module of `only` becomes byte code to lie in its place, one of `both` byte code to lie beside it.
import path from "path";
import {pathToFileURL} from "url";

const [runtime, folder] = process.argv.slice(2).map(name => path.resolve(name) + "/");
const {loadPyodide} = await import(pathToFileURL(runtime + "pyodide.mjs"));
const python = await loadPyodide({indexURL: runtime, env: {PYTHONNODEBUGRANGES: "1"}});
python.mountNodeFS("/modules", folder);
python.runPython(`
import importlib.util, sys, warnings, zipfile
from importlib._bootstrap_external import _code_to_hash_pyc

warnings.simplefilter("ignore")
HOME = f"/lib/python3.{sys.version_info.minor}/site-packages/"

with zipfile.ZipFile("/modules/sources.zip") as old, zipfile.ZipFile("/modules/compiled.zip", "w") as new:
    for entry in old.namelist():
        kind, wheel, name = entry.split("/", 2)
        source = old.read(entry)
        try:
            code = compile(source, HOME + name, "exec", dont_inherit=True)
        except SyntaxError:  # a template, or for another Python
            continue
        folder, _, file = name.rpartition("/")
        beside = f"{folder}/__pycache__/{file[:-3]}.{sys.implementation.cache_tag}.pyc".lstrip("/")
        byte_code = _code_to_hash_pyc(code, importlib.util.source_hash(source), False)
        new.writestr(f"{wheel}/{beside if kind == 'both' else name + 'c'}", bytes(byte_code))
`);
