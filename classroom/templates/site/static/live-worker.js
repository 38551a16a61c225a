// A Python for one page: it runs the lecture up to an explorer, and draws what the controls ask for.
let python = null;
const steps = {};

async function start({pyodide, lock, fonts, script}) {
  const {loadPyodide} = await import(pyodide);
  postMessage({step: "Python"});
  python = await loadPyodide({
    lockFileURL: lock, env: {MPLCONFIGDIR: fonts, MPLBACKEND: "agg"},
    indexURL: pyodide.slice(0, pyodide.lastIndexOf("/") + 1), packageBaseUrl: lock.slice(0, lock.lastIndexOf("/") + 1),
  });
  postMessage({step: "packages"});
  await python.loadPackage(["course-utils"], {messageCallback: () => {}});
  await python.runPythonAsync(await (await fetch(script)).text());
}

steps.open = async ({config, cells}) => {
  await start(config);
  const run = python.globals.get("run");
  for (const [place, source] of cells.entries()) {
    postMessage({step: `cell ${place + 1} of ${cells.length}`});
    const error = run(source);
    if (error) throw new Error(error);
  }
  postMessage({controls: JSON.parse(python.globals.get("controls")())});
};

steps.draw = async ({values, number}) => {
  const began = performance.now();
  const drawn = JSON.parse(python.globals.get("draw")(JSON.stringify(values)));
  postMessage({drawn, number, milliseconds: Math.round(performance.now() - began)});
};

onmessage = ({data}) => steps[data.do](data).catch(error => postMessage({failed: String(error)}));
