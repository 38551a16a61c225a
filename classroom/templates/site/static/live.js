// Beside an explorer with more controls than its saved numbers move: a Python in this page computes the rest.
import { explorers } from "./explorer.js";

const {up} = document.body.dataset;
const address = place => new URL(up + place, location.href).href;
const stem = location.pathname.split("/").pop().replace(/\.html$/, "");
const open = new Map(); // what hears of each explorer, by its cell
let python = null; // one for all explorers of the page, and of other tabs with the same lecture

// It comes by itself once such an explorer is in sight; where data are dear, somebody has to ask for it.
const sight = new IntersectionObserver(seen => {
  for (const {isIntersecting, target} of seen) if (isIntersecting) { sight.unobserve(target); target.begin(); }
});
for (const {figure, explorer} of await explorers) {
  const waits = explorer.about.controls.some(({count}, k) => explorer.grid[k].length < Math.min(count, 2));
  if (!waits) continue;
  const said = document.createElement("p");
  said.className = "course-live";
  said.setAttribute("role", "status");
  figure.append(said);
  figure.begin = () => begin(figure.dataset.cell, explorer, said).catch(error => fail(said, error.message));
  if (!navigator.connection?.saveData) { sight.observe(figure); continue; }
  const button = document.createElement("button");
  button.textContent = "Move all controls";
  button.onclick = figure.begin;
  said.append(button);
}

// The worker, what it has to know, and the lecture's cells of code.
async function started() {
  const [facts, notebook] = await Promise.all(
    ["static/course.json", `lite/files/notebooks/${stem}.ipynb`].map(async place => (await fetch(address(place))).json()),
  );
  const about = {type: "module", name: `${stem} ${notebook.metadata.course.digest}`};
  const worker = new (window.SharedWorker ?? Worker)(address("static/live-worker.js"), about);
  const port = worker.port ?? worker;
  port.onmessage = ({data}) => open.get(data.cell)(data);
  worker.onerror = event => open.forEach(hear => hear({failed: event.message ?? "the worker could not start"}));
  const config = {
    pyodide: new URL(facts.pyodide, address("lite/")).href, lock: new URL(facts.lock, address("lite/")).href,
    fonts: facts.fonts, course: facts.package, script: address("static/live.py"),
  };
  const cells = notebook.cells.filter(cell => cell.cell_type === "code").map(({id, source}) => ({id, source}));
  return {facts, port, config, cells};
}

async function begin(cell, explorer, said) {
  said.textContent = "The other controls wait for Python …";
  const {facts, port, config, cells} = await (python ??= started());
  open.set(cell, ({step, failed, ready, head, numbers}) => {
    if (step) said.textContent = `The other controls wait for Python (${facts.size} the first time): ${step} …`;
    if (failed) fail(said, failed);
    if (ready) {
      said.remove();
      explorer.live(asked => port.postMessage({do: "ask", cell, asked}));
    }
    if (head) explorer.take(JSON.parse(head), new Int16Array(numbers.buffer));
  });
  port.postMessage({do: "open", config, cells, cell});
}

function fail(said, words) { said.textContent = `The other controls do not move here: ${words}`; }
