// A Python for one lecture: it runs the cells up to an explorer, and computes what its page asks for.
// All tabs that show the lecture or its slides have it together, where the browser shares workers.
let python = null, run = 0, pages = 0, line = Promise.resolve();
const steps = {};

async function start({pyodide, lock, fonts, script, course}, tell) {
  const {loadPyodide} = await import(pyodide);
  tell({step: "Python"});
  const loaded = await loadPyodide({
    lockFileURL: lock, env: {MPLCONFIGDIR: fonts, MPLBACKEND: "agg"},
    indexURL: pyodide.slice(0, pyodide.lastIndexOf("/") + 1), packageBaseUrl: lock.slice(0, lock.lastIndexOf("/") + 1),
  });
  tell({step: "packages"});
  await loaded.loadPackage([course], {messageCallback: () => {}});
  await loaded.runPythonAsync(await (await fetch(script)).text());
  python = loaded;
}

steps.open = async ({config, cells, cell}, tell) => {
  if (!python) await start(config, tell);
  const last = cells.findIndex(({id}) => id === cell);
  for (; run <= last; run += 1) {
    tell({step: `cell ${run + 1} of ${last + 1}`});
    const error = python.globals.get("run")(cells[run].id, cells[run].source);
    if (error) throw new Error(error);
  }
  tell({ready: true});
};

steps.ask = async ({cell, asked}, tell, page) => {
  for (const answer of python.globals.get("answers")(page, cell, JSON.stringify(asked))) {
    const [head, numbers] = answer.toJs();
    tell({head, numbers: numbers.slice()});
  }
};

// One thing after the other, for all who ask.
function serve(port) {
  const page = pages++;
  port.onmessage = ({data}) => {
    const tell = message => port.postMessage({cell: data.cell, ...message});
    line = line.then(() => steps[data.do](data, tell, page)).catch(error => tell({failed: String(error)}));
  };
}

if ("onconnect" in self) self.onconnect = ({ports: [port]}) => serve(port);
else serve(self);
