// node proof.mjs FOLDER EVERY [WORD...]: run FOLDER/in_browser.py on FOLDER/notebooks with the browser's Python.
// FOLDER/pyodide holds the runtime, the wheels and the lock that lists them.
import fs from "fs";
import path from "path";
import {pathToFileURL} from "url";

const [folder, every, ...words] = process.argv.slice(2);
const runtime = path.resolve(folder, "pyodide") + "/";
const {loadPyodide} = await import(pathToFileURL(runtime + "pyodide.mjs"));
const fonts = fs.readFileSync(path.join(folder, "fonts.txt"), "utf-8").trim();
const quiet = () => {};
const python = await loadPyodide({
  indexURL: runtime, lockFileURL: runtime + "pyodide-lock.json", packageBaseUrl: runtime,
  env: {MPLCONFIGDIR: fonts, MPLBACKEND: "agg"},
});
const course = fs.readFileSync(path.join(folder, "course.txt"), "utf-8").trim();
await python.loadPackage([course], {messageCallback: quiet});
for (const kind of fs.readdirSync(path.join(folder, "notebooks"))) {
  python.FS.mkdirTree(`/notebooks/${kind}`);
  for (const name of fs.readdirSync(path.join(folder, "notebooks", kind))) {
    python.FS.writeFile(`/notebooks/${kind}/${name}`, fs.readFileSync(path.join(folder, "notebooks", kind, name)));
  }
}
python.FS.writeFile("/in_browser.py", fs.readFileSync(path.join(folder, "in_browser.py")));
python.globals.set("ARGUMENTS", python.toPy([course.replaceAll("-", "_"), every, ...words]));
await python.runPythonAsync(`
import sys
sys.argv = ["/in_browser.py", "/notebooks", *ARGUMENTS]
exec(compile(open("/in_browser.py").read(), "/in_browser.py", "exec"), {"__name__": "__main__"})
`);
