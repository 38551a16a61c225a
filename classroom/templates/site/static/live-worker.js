// A Python for one page: it runs the lecture up to an explorer, and draws what the controls ask for.
let python = null, run = 0, line = Promise.resolve();
const steps = {};

async function start({pyodide, lock, fonts, script}, cell) {
  const {loadPyodide} = await import(pyodide);
  postMessage({cell, step: "Python"});
  python = await loadPyodide({
    lockFileURL: lock, env: {MPLCONFIGDIR: fonts, MPLBACKEND: "agg"},
    indexURL: pyodide.slice(0, pyodide.lastIndexOf("/") + 1), packageBaseUrl: lock.slice(0, lock.lastIndexOf("/") + 1),
  });
  postMessage({cell, step: "packages"});
  await python.loadPackage(["course-utils"], {messageCallback: () => {}});
  await python.runPythonAsync(await (await fetch(script)).text());
}

steps.open = async ({config, cells, cell}) => {
  if (!python) await start(config, cell);
  const last = cells.findIndex(({id}) => id === cell);
  for (; run <= last; run += 1) {
    postMessage({cell, step: `cell ${run + 1} of ${last + 1}`});
    const error = python.globals.get("run")(cells[run].id, cells[run].source);
    if (error) throw new Error(error);
  }
  postMessage({cell, controls: JSON.parse(python.globals.get("controls")(cell))});
};

steps.draw = async ({cell, values, number}) => {
  const began = performance.now();
  const drawn = JSON.parse(python.globals.get("draw")(cell, JSON.stringify(values)));
  postMessage({cell, drawn, number, milliseconds: Math.round(performance.now() - began)});
};

// One thing after the other.
onmessage = ({data}) => {
  line = line.then(() => steps[data.do](data)).catch(error => postMessage({cell: data.cell, failed: String(error)}));
};
