// Beside each explorer of a lecture or of its slides: a Python in this page takes over, and all controls work.
const {up} = document.body.dataset;
const address = place => new URL(up + place, location.href).href;
const stem = location.pathname.split("/").pop().replace(/\.html$/, "");
const onSlides = document.querySelector(".reveal") !== null;
const explorers = new Map(); // what hears of each, by its cell
let python = null; // one for all explorers of the page, and of other tabs with the same lecture

for (const frames of document.querySelectorAll(".course-frames[data-cell]")) {
  const button = document.createElement("button");
  button.type = "button";
  button.textContent = "Go live: all controls";
  const said = document.createElement("span");
  said.setAttribute("role", "status");
  const line = document.createElement("p");
  line.className = "course-live";
  line.append(button, " ", said);
  frames.after(line);
  leaveKeysToSlides(button);
  button.addEventListener("click", () => {
    button.disabled = true;
    goLive(frames, line, said).catch(error => {
      said.textContent = `This browser cannot: ${error.message}`;
      button.disabled = false;
    });
  });
}

// The worker, what it has to know, and the lecture's cells of code.
async function started() {
  const [facts, notebook] = await Promise.all(
    ["static/course.json", `lite/files/notebooks/${stem}.ipynb`].map(async place => (await fetch(address(place))).json()),
  );
  const about = {type: "module", name: `${stem} ${notebook.metadata.course.digest}`};
  const worker = new (window.SharedWorker ?? Worker)(address("static/live-worker.js"), about);
  const port = worker.port ?? worker;
  port.onmessage = ({data}) => {
    const heard = explorers.get(data.cell);
    for (const [kind, act] of Object.entries(heard)) if (kind in data) act(data[kind], data);
  };
  worker.onerror = event => explorers.forEach(heard => heard.failed(event.message ?? "the worker could not start"));
  const config = {
    pyodide: new URL(facts.pyodide, address("lite/")).href, lock: new URL(facts.lock, address("lite/")).href,
    fonts: facts.fonts, course: facts.package, script: address("static/live.py"),
  };
  const cells = notebook.cells.filter(cell => cell.cell_type === "code").map(({id, source}) => ({id, source}));
  return {facts, port, config, cells};
}

async function goLive(frames, line, said) {
  const {cell} = frames.dataset;
  const {facts, port, config, cells} = await (python ??= started());
  const box = document.createElement("div");
  let waiting = null, asked = 0, shown = 0;
  const values = {};

  function ask() {
    if (asked > shown) { waiting = true; return; }
    waiting = null;
    asked += 1;
    port.postMessage({do: "draw", cell, values: {...values}, number: asked});
  }

  explorers.set(cell, {
    step: step => { said.textContent = `Loading (${facts.size} the first time): ${step} …`; },
    failed: words => { said.textContent = `It did not work: ${words}`; },
    controls: list => {
      box.className = "course-live";
      box.append(...list.map(about => control(about, values, ask, cell)));
      const figure = document.createElement("figure");
      figure.append(document.createElement("img"), document.createElement("figcaption"));
      const goal = document.createElement("p");
      goal.className = "goal";
      box.prepend(goal);
      box.append(figure);
      said.textContent = "";
      ask();
    },
    drawn: (drawn, {number, milliseconds}) => {
      shown = number;
      const image = box.querySelector("img");
      image.src = `data:image/png;base64,${drawn.png}`;
      image.alt = `${drawn.alt} ${drawn.text}`;
      image.width = frames.querySelector("img").width || 640;
      box.querySelector("figcaption").textContent = drawn.text;
      box.querySelector(".goal").textContent = drawn.goal;
      box.dataset.milliseconds = milliseconds;
      if (!box.isConnected) {
        frames.replaceWith(box);
        line.remove();
        box.querySelector("input").focus();
      }
      image.decode().then(() => fitToSlide(box));
      if (waiting) ask();
    },
  });
  port.postMessage({do: "open", config, cells, cell});
}

// A slide has one size: what the controls take, the picture gives.
function fitToSlide(box) {
  const slide = box.closest(".reveal section");
  if (!slide) return;
  const [inner, outer] = [box, slide].map(element => element.getBoundingClientRect());
  const over = (inner.bottom - outer.bottom) * slide.offsetHeight / outer.height + 48;
  if (over > 0) box.style.setProperty("--picture", `${box.querySelector("img").offsetHeight - over}px`);
}

// On slides a control keeps its keys; a click, or Page Up and Down, gives them back.
function leaveKeysToSlides(input) {
  if (!onSlides) return;
  input.addEventListener("pointerup", () => input.blur());
  input.addEventListener("keydown", event => {
    if (event.key.startsWith("Page")) input.blur(); else event.stopPropagation();
  });
}

function control(about, values, ask, cell) {
  const field = document.createElement(about.kind === "choice" ? "fieldset" : "div");
  values[about.name] = about.value;
  const set = value => { values[about.name] = value; ask(); };
  const made = properties => {
    const input = Object.assign(document.createElement("input"), properties);
    leaveKeysToSlides(input);
    return input;
  };
  if (about.kind === "choice") {
    const legend = document.createElement("legend");
    legend.textContent = about.label;
    field.append(legend, ...about.options.map((words, place) => {
      const input = made({type: "radio", name: `${cell} ${about.name}`, checked: place === about.value});
      input.addEventListener("change", () => set(place));
      return labelled(input, words, true);
    }));
    return field;
  }
  if (about.kind === "box") {
    const input = made({type: "checkbox", checked: about.value});
    input.addEventListener("change", () => set(input.checked));
    field.append(labelled(input, about.label, true));
    return field;
  }
  const input = made({type: "range", min: about.min, max: about.max, step: about.step, value: about.value});
  const output = document.createElement("output");
  output.textContent = String(about.value);
  input.addEventListener("input", () => { output.textContent = input.value; set(Number(input.value)); });
  const label = labelled(input, about.label, false);
  label.append(output);
  field.append(label);
  return field;
}

function labelled(input, words, after) {
  const label = document.createElement("label");
  label.append(...(after ? [input, words] : [words, input]));
  return label;
}
