// Beside each explorer of a lecture: a Python in this page takes over, and all controls work.
const {up} = document.body.dataset;
const address = place => new URL(up + place, location.href).href;

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
  button.addEventListener("click", () => {
    button.disabled = true;
    goLive(frames, line, said).catch(error => {
      said.textContent = `This browser cannot: ${error.message}`;
      button.disabled = false;
    });
  });
}

async function goLive(frames, line, said) {
  const facts = await (await fetch(address("static/course.json"))).json();
  const place = location.pathname.split("/").slice(-2).join("/").replace(/html$/, "ipynb");
  const notebook = await (await fetch(address(`lite/files/${place}`))).json();
  const code = notebook.cells.filter(cell => cell.cell_type === "code");
  const last = code.findIndex(cell => cell.id === frames.dataset.cell);
  const worker = new Worker(address("static/live-worker.js"), {type: "module"});
  const box = document.createElement("div");
  let waiting = null, asked = 0, shown = 0;
  const values = {};

  function ask() {
    if (asked > shown) { waiting = true; return; }
    waiting = null;
    asked += 1;
    worker.postMessage({do: "draw", values: {...values}, number: asked});
  }

  const heard = {
    step: step => { said.textContent = `Loading (${facts.size} the first time): ${step} …`; },
    failed: words => { said.textContent = `It did not work: ${words}`; },
    controls: list => {
      box.className = "course-live";
      box.append(...list.map(about => control(about, values, ask)));
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
      if (!box.isConnected) { frames.replaceWith(box); line.remove(); box.querySelector("input").focus(); }
      if (waiting) ask();
    },
  };
  worker.onmessage = ({data}) => {
    for (const [kind, act] of Object.entries(heard)) if (kind in data) act(data[kind], data);
  };
  worker.onerror = event => heard.failed(event.message ?? "the worker could not start");
  const config = {
    pyodide: new URL(facts.pyodide, address("lite/")).href, lock: new URL(facts.lock, address("lite/")).href,
    fonts: facts.fonts, script: address("static/live.py"),
  };
  worker.postMessage({do: "open", config, cells: code.slice(0, last + 1).map(cell => cell.source)});
}

function control(about, values, ask) {
  const field = document.createElement(about.kind === "choice" ? "fieldset" : "div");
  values[about.name] = about.value;
  const set = value => { values[about.name] = value; ask(); };
  if (about.kind === "choice") {
    const legend = document.createElement("legend");
    legend.textContent = about.label;
    field.append(legend, ...about.options.map((words, place) => {
      const input = Object.assign(document.createElement("input"), {type: "radio", name: about.name, checked: place === about.value});
      input.addEventListener("change", () => set(place));
      return labelled(input, words, true);
    }));
    return field;
  }
  const input = document.createElement("input");
  if (about.kind === "box") {
    Object.assign(input, {type: "checkbox", checked: about.value});
    input.addEventListener("change", () => set(input.checked));
    field.append(labelled(input, about.label, true));
    return field;
  }
  Object.assign(input, {type: "range", min: about.min, max: about.max, step: about.step, value: about.value});
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
