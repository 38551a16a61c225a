// Python for one page: it is loaded once, and answers one question after the other.
let python = null, packages = {}, known = new Set();
const quiet = {messageCallback: () => {}};

async function start({pyodide, lock, fonts, ours, script}, tell) {
  tell("Python");
  const base = lock.slice(0, lock.lastIndexOf("/") + 1);
  const [text, listed] = [fetch(script).then(found => found.text()), fetch(lock).then(found => found.json())];
  // Machine and course are unpacked as they are: what they declare would bring a notebook's kernel along.
  const wheels = listed.then(lists => Promise.all(ours.map(async name =>
    (await fetch(new URL(lists.packages[name].file_name, base))).arrayBuffer())));
  const {loadPyodide} = await import(pyodide);
  const loaded = await loadPyodide({
    lockFileURL: lock, env: {MPLCONFIGDIR: fonts, MPLBACKEND: "agg"}, packages: ["numpy", "sympy"], stdin: () => null,
    indexURL: pyodide.slice(0, pyodide.lastIndexOf("/") + 1), packageBaseUrl: base,
  });
  tell("checks");
  packages = (await listed).packages;
  known = new Set(ours.flatMap(name => packages[name].imports));
  for (const wheel of await wheels) loaded.unpackArchive(wheel, "wheel");
  loaded.runPython(await text);
  python = loaded;
}

// What the cells import and the site has, such as Matplotlib.
async function load(cells) {
  const named = cells.flatMap(({source}) => [...source.matchAll(/^\s*(?:import|from)\s+([\w., ]+)/gm)])
    .flatMap(([, names]) => names.split(",").map(name => name.trim().split(/[. ]/)[0]));
  const fresh = [...new Set(named)].filter(name => !known.has(name));
  fresh.forEach(name => known.add(name));
  const wanted = Object.keys(packages).filter(name => packages[name].imports.some(one => fresh.includes(one)));
  if (wanted.length) await python.loadPackage(wanted, quiet);
}

onmessage = async ({data: {number, ask, cells, more}}) => {
  try {
    if (ask === "start") {
      await start(more, step => postMessage({number, step}));
      postMessage({number, answer: performance.getEntriesByType("resource").map(({name}) => name)});
      return;
    }
    if (cells) await load(cells);
    const given = cells ? [JSON.stringify(cells), ...more] : more;
    postMessage({number, answer: JSON.parse(python.globals.get(ask)(...given))});
  } catch (error) {
    // An answer's own errors are part of the answer: this is a Python that is broken, by a lack of memory for instance.
    postMessage({number, dead: python !== null, failed: String(error.message ?? error).trim().split("\n").pop()});
  }
};
