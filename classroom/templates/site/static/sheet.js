// On the page of a sheet: every exercise is answered where it stands. What is typed is the sheet's own notebook.
import {editor} from "./editor.js";
import {Python, Stopped} from "./python.js";
import {Sheet, points} from "./store.js";
import {keepOffline} from "./site.js";
import {announce} from "./work.js";

const {up, storage} = document.body.dataset;
const about = JSON.parse(document.querySelector("#sheet").textContent);
const place = name => new URL(up + name, location.href).href;
const cellBox = id => document.getElementById(`cell-id=${id}`);
const SECONDS = {check: about.seconds, run: 900};

function make(tag, about = {}, ...inside) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(about)) {
    if (name in made && name !== "list") made[name] = value; else made.setAttribute(name, value);
  }
  made.append(...inside);
  return made;
}
const button = (words, act, kind = "") => make("button", {type: "button", className: kind, onclick: act}, words);

// -- the sheet, and Python --------------------------------------------------------------------------

const sheet = new Sheet(storage, about.path, up, about.cells);
const facts = fetch(place("static/course.json")).then(found => found.json());
let python = null, begun = null;
const state = document.querySelector(".python-state");

async function withPython() {
  if (python) return python;
  const {pyodide, lock, fonts, package: course, needs} = await facts;
  python ??= new Python({
    pyodide: new URL(pyodide, place("lite/")).href, lock: new URL(lock, place("lite/")).href, fonts,
    ours: ["selfcheck", course], script: place("static/sheet.py"),
  }, ({step, ready, failed, loaded}) => {
    if (step) say(`Python is being loaded (${needs}, once): ${step} … You can read and write already.`);
    if (failed) say(`Python could not be loaded: ${failed}. Try again, or open the sheet as a notebook.`);
    if (ready) begun = begin();
    if (ready) keepOffline([...loaded, place("static/sheet-worker.js"), place(`lite/files/${about.path}`)]);
  });
  return python;
}
function say(words) { state.textContent = words; }

// The set-up runs by itself, and its numbers are shown where they stand in the sheet.
async function begin() {
  const {said, solutions} = await python.ask("begin", cells(), [], SECONDS.check);
  for (const given of givens) given.show(said[given.id]);
  for (const task of tasks) task.offer(solutions);
  for (const task of tasks) task.read();
  say("Python is ready.");
}

// The code cells as they stand now; those that the student has added in a notebook are among them.
function cells() {
  const roles = new Map(about.cells.map(cell => [cell.id, cell.role]));
  return sheet.code().map(({id, source}) => ({id, source, role: roles.get(id) ?? "own"}));
}

// What is shown of a run: prints, values, pictures, and how it failed, with the student's own line.
function shown(run, where = "") {
  const parts = [];
  if (run.printed) parts.push(make("pre", {tabIndex: 0, className: "printed"}, run.printed));
  for (const value of run.shown) {
    if (value["text/html"]) parts.push(rich(value["text/html"]));
    else parts.push(make("pre", {className: "printed", tabIndex: 0}, value["text/plain"]));
  }
  for (const png of run.pictures) parts.push(make("img", {src: `data:image/png;base64,${png}`, alt: "A figure that your code made"}));
  if (run.error) parts.push(failure(run.error, where));
  return parts;
}
function failure({kind, says, line, code}, where) {
  const words = line ? `${where}Line ${line} stopped with ${kind}` : `${where}It stopped with ${kind}`;
  return make("div", {className: "failure"}, make("strong", {}, words), code ? make("pre", {}, code) : "", make("p", {}, says));
}
function sentence(title, says) {
  return make("div", {className: "failure"}, make("strong", {}, title), make("p", {}, says));
}

// As a notebook keeps it.
function outputs(run) {
  const kept = [];
  if (run.printed) kept.push({output_type: "stream", name: "stdout", text: run.printed});
  for (const data of run.shown) kept.push({output_type: "execute_result", execution_count: null, metadata: {}, data});
  for (const png of run.pictures) kept.push({output_type: "display_data", metadata: {}, data: {"image/png": png}});
  if (run.error) kept.push({output_type: "error", ename: run.error.kind, evalue: run.error.says, traceback: []});
  return kept;
}
// HTML of a value: what it shows stays, what could run goes; a notebook may come from anywhere.
const SHOWN = new Set(("A B BR CODE DIV EM H3 H4 HR I LI OL P PRE SPAN STRONG SUB SUP TABLE TBODY TD TH THEAD TR UL math menclose mfrac mi mn mo mover mpadded mroot mrow "
  + "mspace msqrt mstyle msub msubsup msup mtable mtd mtext mtr munder munderover").split(" "));
const ATTRIBUTES = /^(class|style|scope|display|displaystyle|scriptlevel|mathvariant|stretchy|symmetric|form|[lr]space|m(in|ax)size|movablelimits|accent|linethickness|width|aria-[a-z]+)$/;
function rich(html) {
  const box = make("div", {className: "html"});
  const {body} = new DOMParser().parseFromString(html, "text/html");
  for (const one of [...body.querySelectorAll("*")]) {
    if (!SHOWN.has(one.tagName)) { one.replaceWith(...(/^(SCRIPT|STYLE)$/.test(one.tagName) ? [] : one.childNodes)); continue; }
    for (const {name} of [...one.attributes]) if (!ATTRIBUTES.test(name)) one.removeAttribute(name);
  }
  box.append(...body.childNodes);
  return box;
}
const saved = kept => kept.map(({data}) => data?.["text/html"]).filter(Boolean).pop();

// While Python is asked: a word and a bar beside the button, and a way to stop it.
async function waiting(beside, work) {
  const words = make("span", {}), bar = make("progress", {}), stop = button("Stop", () => python.stop());
  bar.setAttribute("aria-label", "Waiting for Python");
  const wait = make("span", {className: "waits"}, words, bar);
  const tick = () => {
    words.textContent = python?.ready ? "Running … " : "It runs as soon as Python is there … ";
    if (python?.ready && !stop.isConnected) wait.append(stop);
  };
  const later = setTimeout(() => { tick(); beside.append(wait); }, 150);
  const clock = setInterval(tick, 400);
  try {
    await withPython();
    await python.start();
    await begun;
    return await work();
  } finally {
    clearTimeout(later);
    clearInterval(clock);
    wait.remove();
  }
}
function told(error) {
  if (!(error instanceof Stopped)) return sentence("It could not be run.", error.message);
  return sentence(error.message, "It was ended, and Python starts anew. What you wrote is still here.");
}

// -- answers ----------------------------------------------------------------------------------------

// Text, as it stands in a cell of code; and back again.
const NUMBER = /^-?\d+(\.\d+)?$/;
const STRING = String.raw`[rR]?"(?:[^"\\\n]|\\.)*"|[rR]?'(?:[^'\\\n]|\\.)*'|-?\d+(?:\.\d+)?|____`;
const quoted = text => !text ? "____" : NUMBER.test(text) ? text
  : text.includes("\\") && !/"|\\$/.test(text) ? `r"${text}"` : JSON.stringify(text);
function unquoted(code) {
  if (code === "____") return "";
  if (NUMBER.test(code)) return code;
  return /^r/i.test(code) ? code.slice(2, -1) : code.slice(1, -1).replace(/\\(.)/g, (_, c) => c === "n" ? "\n" : c);
}
const asList = text => `[\n${text.split("\n").filter(line => line.trim()).map(line => `    ${quoted(line.trim())},\n`).join("")}]`;
const escaped = text => text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");

// The texts of the fields in a cell that has the form of the sheet's; null if it is other code.
function fieldTexts(pieces, source) {
  const pattern = pieces.map(piece => typeof piece === "string" ? escaped(piece)
    : piece.kind === "lines" ? String.raw`\[\s*((?:(?:${STRING})\s*,?\s*)*)\]` : `(${STRING})`).join("");
  const found = pieces.length && new RegExp(`^${pattern}\\s*$`).exec(source);
  if (!found) return null;
  const fields = pieces.filter(piece => typeof piece !== "string");
  return fields.map(({kind}, k) => kind !== "lines" ? unquoted(found[k + 1])
    : [...found[k + 1].matchAll(new RegExp(STRING, "g"))].map(([code]) => unquoted(code)).filter(Boolean).join("\n"));
}

class Task {
  constructor(id, facts) {
    this.id = id;
    this.check = id.replace("answer-", "check-");
    Object.assign(this, facts);
    this.blank = about.cells.find(cell => cell.id === id).source;
    this.hintsShown = 0;
    this.answer = make("div", {className: "answer"});
    this.actions = make("div", {className: "actions"});
    this.said = make("div", {className: "said", role: "status"});
    this.more = make("div", {className: "more"});
    this.buttons = {
      check: button("Check", () => this.judge(), "main-door"),
      hint: button("", () => this.hint()),
      practice: button("Practice", () => this.practiced()),
      solution: button("Solution", () => this.solved()),
      form: button("", () => this.change()),
    };
    const {check, hint, practice, solution, form} = this.buttons;
    for (const [name, one] of Object.entries(this.buttons)) one.dataset.do = name;
    solution.hidden = true;
    practice.hidden = !facts.practice;
    hint.hidden = !facts.hints;
    form.hidden = !this.pieces.length;
    form.classList.add("quiet");
    this.actions.append(check, hint, practice, solution, form);
    this.box = make("section", {className: "task"}, this.answer, this.actions, this.said, this.more);
    this.box.setAttribute("aria-label", `Your answer to exercise ${this.number}`);
    this.countHints();
    cellBox(id).after(this.box);
    for (const old of [id, this.check]) cellBox(old)?.classList.add("on-paper");
    this.draw();
  }

  get source() { return sheet.source(this.id) ?? this.blank; }

  // The answer as fields where it can be, else as code.
  draw() {
    const texts = this.asCode ? null : fieldTexts(this.pieces, this.source);
    this.buttons.form.textContent = texts ? "Write code" : "Write a line";
    this.buttons.form.hidden = !this.pieces.length || (!texts && !fieldTexts(this.pieces, this.source));
    if (texts && this.fields) {
      this.fields.forEach((field, k) => { if (field.input.value !== texts[k]) field.input.value = texts[k]; });
    } else if (texts) this.drawFields(texts);
    else if (this.editor) this.editor.value = this.source;
    else {
      this.fields = null;
      this.editor = editor(this.source, `Your answer to exercise ${this.number}, as code`,
        {changed: text => this.typed(text), done: () => this.judge()});
      this.answer.replaceChildren(this.editor.box);
    }
    const kept = sheet.outputs(this.check);
    const card = kept && saved(kept);
    if (card && !this.said.hasChildNodes()) this.said.append(rich(card));
    if (!card && !this.fresh) this.said.replaceChildren();
  }

  drawFields(texts) {
    this.editor = null;
    this.fields = this.pieces.filter(piece => typeof piece !== "string").map((field, k) => {
      const name = `field-${this.id}-${field.name}`;
      const input = field.kind === "choice"
        ? make("select", {id: name}, ...["", ...field.options].map(word => make("option", {value: word}, word || "choose …")))
        : field.kind === "lines"
          ? make("textarea", {id: name, rows: 4, placeholder: "one line after the other"})
          : make("input", {type: "text", id: name});
      input.value = texts[k];
      Object.assign(input, {spellcheck: false, autocapitalize: "off", autocomplete: "off"});
      input.setAttribute("autocorrect", "off");
      input.addEventListener("input", () => { this.typed(this.written()); this.read(250); });
      input.addEventListener("keydown", event => {
        const asked = field.kind === "lines" ? event.ctrlKey || event.metaKey : true;
        if (event.key === "Enter" && asked && !event.isComposing) { event.preventDefault(); this.judge(); }
      });
      const reading = make("output", {className: "reading"});
      reading.htmlFor = name;
      const label = make("label", {htmlFor: name}, make("code", {}, field.name), field.kind === "lines" ? " step by step" : " =");
      return {...field, input, reading, row: make("div", {className: `field ${field.kind}`}, label, input, reading)};
    });
    this.answer.replaceChildren(...this.fields.map(({row}) => row));
    this.read();
  }

  written() {
    const values = this.fields.map(({kind, input}) => kind === "lines" ? input.value.trim() ? asList(input.value) : null : quoted(input.value.trim()));
    let k = 0;
    const blanks = [...this.blank.matchAll(/\[\s*(?:____,?\s*)+\]|____/g)].map(([code]) => code);
    return this.pieces.map(piece => typeof piece === "string" ? piece : values[k++] ?? blanks[k - 1]).join("");
  }

  // What was checked before stays in mind: whoever undoes a change has the verdict back.
  typed(source) {
    this.fresh = true;
    sheet.write({[this.id]: {source, outputs: []}, [this.check]: {outputs: this.checked?.source === source ? this.checked.kept : []}});
    this.said.classList.toggle("old", this.checked?.source !== source);
    announce();
    mark(this);
  }

  // How a formula is read, beside it, as one types.
  read(later = 0) {
    clearTimeout(this.bell);
    if (!this.fields || !python?.ready) return;
    this.bell = setTimeout(async () => {
      for (const {kind, parameter, input, reading} of this.fields ?? []) {
        if (kind === "choice" || input.value === reading.dataset.of) continue;
        const text = reading.dataset.of = input.value;
        const rows = text.split("\n").filter(row => row.trim());
        const found = [];
        for (const row of rows) found.push(await python.ask("reading", null, [this.check, parameter, row.trim()], SECONDS.check).catch(() => ({})));
        if (input.value !== text) continue;
        reading.replaceChildren(...found.flatMap(({math, says}) => math ? [make("span", {className: "read"}, rich(math))]
          : says ? [make("span", {className: "unread"}, says)] : []));
      }
      this.foresee();
    }, later);
  }

  // A derivation is judged while one looks at what was read: the machine remembers it, and Check has it at once.
  async foresee() {
    const {source} = this;
    const whole = this.fields?.some(({kind}) => kind === "lines") && this.fields.every(({input}) => input.value.trim());
    await new Promise(done => setTimeout(done, 400));
    if (!whole || !this.fresh || source !== this.source || source === this.foreseen) return; // or one types on
    this.foreseen = source;
    await python.ask("check", cells(), [this.check], SECONDS.check).catch(() => {});
  }

  change() {
    this.asCode = !this.asCode;
    this.editor = this.fields = null;
    this.draw();
    (this.editor?.field ?? this.fields[0].input).focus();
  }

  async judge() {
    const {source} = this;
    this.fresh = true;
    this.buttons.check.disabled = true;
    try {
      const {answer, check, failed} = await waiting(this.actions,
        () => python.ask("check", cells(), [this.check], SECONDS.check));
      const others = failed.map(({id, ...error}) => failure(error, `In exercise ${about.exercises[id]?.number ?? id}, which this one uses: `));
      this.said.replaceChildren(...others, ...(answer ? shown(answer) : []), ...shown(check));
      const kept = outputs(check);
      this.checked = {source, kept};
      sheet.write({[this.id]: {source, outputs: answer ? outputs(answer) : []}, [this.check]: {outputs: kept}});
      this.markLines(check.feedback);
    } catch (error) {
      this.said.replaceChildren(told(error));
      sheet.write({[this.check]: {outputs: []}});
    }
    this.said.classList.remove("old");
    this.buttons.check.disabled = false;
    if (document.activeElement === document.body) this.buttons.check.focus();
    announce();
    mark(this);
  }

  // A derivation has its marks by the line.
  markLines(feedback) {
    for (const {kind, parameter, reading} of this.fields ?? []) {
      if (kind !== "lines" || !(parameter in (feedback?.lines ?? {}))) continue;
      const first = feedback.lines[parameter] || Infinity;
      [...reading.children].forEach((row, k) => { row.dataset.mark = k + 1 < first ? "✓" : k + 1 === first ? "✗" : ""; });
    }
  }

  countHints() {
    const next = this.hintsShown + 1;
    this.buttons.hint.disabled = next > this.hints;
    this.buttons.hint.textContent = next > this.hints ? "No more hints" : `Hint ${next} of ${this.hints}`;
  }

  async hint() {
    const number = ++this.hintsShown;
    this.countHints();
    const place = make("div", {role: "status"});
    this.more.append(place);
    try {
      const found = await waiting(place, () => python.ask("hint", null, [this.check, number]));
      place.replaceChildren(rich(found["text/html"]));
    } catch (error) {
      this.hintsShown -= 1;
      this.countHints();
      place.replaceChildren(told(error));
    }
  }

  offer(solutions) {
    this.buttons.solution.hidden = !solutions.includes(this.name);
  }

  async solved() {
    this.solution ??= make("div", {className: "solution", role: "status"});
    this.more.append(this.solution);
    this.buttons.solution.disabled = true;
    try {
      const found = await waiting(this.solution, () => python.ask("solution", cells(), [this.check], SECONDS.check));
      this.solution.replaceChildren(found["text/html"] ? rich(found["text/html"]) : make("pre", {}, found["text/plain"]));
    } catch (error) { this.solution.replaceChildren(told(error)); }
    this.buttons.solution.disabled = false;
  }

  // The same question with numbers that nobody has; nothing of it is kept.
  async practiced() {
    this.drill?.remove();
    const numbers = make("pre", {className: "printed", tabIndex: 0}), actions = make("div", {className: "actions"});
    const said = make("div", {className: "said", role: "status"});
    const seed = Math.floor(Math.random() * 1e6);
    const judge = async () => {
      check.disabled = true;
      try {
        const found = await waiting(actions, () => python.ask("practice", cells(), [this.check, seed, own.value], SECONDS.check));
        said.replaceChildren(...(found.answer ? shown(found.answer) : []), ...shown(found.check));
      } catch (error) { said.replaceChildren(told(error)); }
      check.disabled = false;
    };
    const own = editor(this.blank, `Practice for exercise ${this.number}`, {done: judge});
    const check = button("Check", judge, "main-door");
    actions.append(check, button("Other numbers", () => this.practiced()), button("Close", () => {
      this.drill.remove();
      this.buttons.practice.focus();
    }));
    this.drill = make("section", {className: "drill"}, make("p", {}, make("strong", {}, `Practice for ${this.number}`), " New numbers, no points:"),
      numbers, own.box, actions, said);
    this.drill.setAttribute("aria-label", `Practice for exercise ${this.number}`);
    this.more.append(this.drill);
    try {
      numbers.textContent = (await waiting(actions, () => python.ask("practice", cells(), [this.check, seed, ""], SECONDS.check))).printed;
    } catch (error) { said.replaceChildren(told(error)); }
  }
}

// -- cells that are given ---------------------------------------------------------------------------

class Given {
  constructor({id, source}) {
    this.id = id;
    this.blank = source;
    this.out = make("div", {className: "said given"});
    this.actions = make("div", {className: "actions"}, button("Run", () => this.run()));
    this.editor = editor(sheet.source(id) ?? source, "Code that is given", {
      changed: text => sheet.write({[id]: {source: text, outputs: []}}), done: () => this.run(),
    });
    this.fold = make("details", {className: "folded"}, make("summary", {}, "Code that is given"), this.editor.box, this.actions);
    this.fold.open = /^[A-Z]+ = (True|False)$/m.test(source);
    this.box = make("div", {className: "task given-cell"}, this.fold, this.out);
    cellBox(id).after(this.box);
    cellBox(id).classList.add("on-paper");
  }

  draw() { this.editor.value = sheet.source(this.id) ?? this.blank; }

  // What ran by itself is shown; what waits for an answer is opened.
  show(said) {
    if (said) this.out.replaceChildren(...shown(said));
    else this.fold.open = true;
  }

  async run() {
    try {
      this.show(await waiting(this.actions, () => python.ask("try_out", cells(), [this.id], SECONDS.run)));
    } catch (error) { this.out.replaceChildren(told(error)); }
  }
}

// The student's id stands where the sheet asks for it, and on every page.
function idField(id) {
  const everywhere = document.querySelector(".mine .student");
  const field = make("input", {type: "text", className: "student", size: 16, autocomplete: "off", spellcheck: false, value: everywhere.value});
  field.addEventListener("change", () => { everywhere.value = field.value; everywhere.dispatchEvent(new Event("change")); });
  everywhere.addEventListener("change", () => { field.value = everywhere.value; });
  cellBox(id).after(make("p", {className: "task"}, make("label", {}, "Your student id ", field)));
}

// How an exercise stands, in the list at the side.
function mark({id, name}) {
  const earned = sheet.notebook ? points(sheet.notebook)[name] : null;
  const heading = cellBox(id.replace("answer-", "text-"))?.querySelector("h2");
  const link = [...document.querySelectorAll("nav.contents a")].find(one => one.getAttribute("href") === `#${heading?.id}`);
  if (!link) return;
  link.dataset.mark = !earned ? "" : earned.earned === earned.of ? "✓" : earned.earned ? "◐" : "✗";
}

// -- the page ---------------------------------------------------------------------------------------

let tasks = [], givens = [];
if (!document.documentElement.classList.contains("paper")) {
  await sheet.open();
  for (const cell of about.cells) {
    if (about.only && cell.id !== about.only) continue;
    if (cell.role === "answer") tasks.push(new Task(cell.id, about.exercises[cell.id]));
    else if (cell.role === "given") givens.push(new Given(cell));
    else cellBox(cell.id)?.classList.add("on-paper");
    if (cell.role === "student") idField(cell.id);
    if (cell.role === "scoreboard") cellBox(cell.id).after(make("p", {className: "task work-points"}));
  }
  tasks.forEach(mark);
  announce();
  window.sheetIsReady = true;
  sheet.changed = () => {
    for (const one of [...tasks, ...givens]) one.draw();
    tasks.forEach(mark);
    announce();
  };
  addEventListener("course-student", () => { if (python?.ready) begun = begin(); });

  // Python comes by itself while one reads; where data are dear, once something is checked.
  const idle = window.requestIdleCallback ?? (act => setTimeout(act, 300));
  if (about.only) tasks[0].box.addEventListener("focusin", async () => (await withPython()).start().catch(() => {}), {once: true});
  else if (navigator.connection?.saveData) say(`Python (${(await facts).needs}) is loaded when you check your first answer, since your browser asks to save data.`);
  else idle(async () => (await withPython()).start().catch(() => {}), {timeout: 1500});
}
