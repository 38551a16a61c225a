// A notebook that is open in JupyterLab or JupyterLite: its set-up runs by itself, a verdict is about
// what is on the screen, and opening it changes nothing.
const SETS_UP = /^exercises\/[^/]+\.ipynb$/; // in the course that is served; no other file runs by itself
const OF_A_KERNEL = ["kernelspec", "language_info"];
const ANEW = ["restarting", "autorestarting", "terminated"];
const EDITED = "Edited since this verdict: run your cell again, then the check.";
const GETTING = "Getting ready …", STOPPED = "The set-up stopped at", SEE_WHY = "Run the first cells to see why.";
const CELLS = `__import__("selfcheck.notebook", fromlist=["CELLS"]).CELLS`;
const UNSEEN = { silent: true, store_history: false, stop_on_error: false, allow_stdin: false };

const STYLE = `
body[data-jp-theme-light=false] { --course-tint: 18%; }
.course-ready { align-self: center; padding: 0 .75em; white-space: nowrap; font-size: var(--jp-ui-font-size1); color: var(--jp-ui-font-color1); }
.course-ready.course-failed { white-space: normal; color: var(--jp-error-color1); }
.course-edited { margin: 4px 0; font-weight: 600; }
.course-edited + .course-card { filter: grayscale(1); opacity: .75; border-style: dashed !important; }
.jp-CodeCell[data-course=answer] .jp-InputArea-editor { background: color-mix(in srgb, var(--jp-brand-color1) var(--course-tint, 8%), var(--jp-layout-color0)); box-shadow: inset 3px 0 var(--jp-brand-color1); }
.jp-CodeCell[data-course=check] .jp-InputArea-editor { background: none; border-color: transparent; }`;

// CRC-32 of a cell's text, as notebook.py has it.
export function digest(source) {
  let crc = -1;
  for (const byte of new TextEncoder().encode(worded(source))) {
    crc ^= byte;
    for (let k = 0; k < 8; k++) crc = (crc >>> 1) ^ (0xedb88320 & -(crc & 1));
  }
  return ((crc ^ -1) >>> 0).toString(16).padStart(8, "0");
}

const worded = source => source.replace(/[ \t\n]+$/, "");

class Sheet {
  constructor(panel, context) {
    Object.assign(this, { panel, context, ran: new Set(), gone: new Set(), digests: new Map() });
    keepClean(context.model);
    context.ready.then(() => this.begin());
  }

  get codes() { return [...this.context.model.cells].filter(cell => cell.type === "code"); }
  get sources() { return this.codes.map(cell => worded(cell.sharedModel.getSource())); }

  // The cells before the first answer.
  get setUp() {
    const { codes } = this, first = codes.findIndex(cell => cell.id.startsWith("answer-"));
    return codes.slice(0, Math.max(first, 0));
  }

  begin() {
    const { sessionContext, model, localPath } = this.context;
    if (SETS_UP.test(localPath) && this.setUp.length) {
      this.says = document.createElement("span");
      this.says.className = "course-ready";
      this.says.setAttribute("role", "status");
      this.panel.toolbar.node.append(this.says);
    }
    sessionContext.kernelChanged.connect(() => this.meet());
    sessionContext.statusChanged.connect((_, status) => {
      if (ANEW.includes(status)) {
        this.isNew = true;
        this.say(GETTING);
      } else if (this.isNew) this.prepare();
    });
    model.contentChanged.connect(() => this.compare());
    this.panel.node.addEventListener("click", event => this.leap(event), true);
    this.meet();
  }

  // What is sent to the kernel from the cells of this page is what has run.
  meet() {
    this.kernel = this.context.sessionContext.session?.kernel;
    if (!this.kernel || this.kernel === this.met) return;
    this.met = this.kernel;
    this.met.anyMessage.connect((_, { msg, direction }) => {
      const { cellId, ours } = msg.metadata;
      if (direction !== "send" || msg.header.msg_type !== "execute_request" || !cellId) return;
      this.ran.add(worded(msg.content.code));
      const place = this.setUp.findIndex(cell => cell.id === cellId);
      // Whoever runs a cell of the set-up, with another id for instance, has run those after it.
      if (this.says && !ours && place >= 0) queueMicrotask(() => this.run(this.setUp.slice(place + 1)));
    });
    this.prepare();
  }

  // A kernel of which nothing is known: the requests leave before any of the student's.
  prepare() {
    this.isNew = false;
    this.ran = new Set(this.sources);
    this.gone.clear();
    if (!this.says) return;
    this.say(GETTING);
    this.run(this.setUp);
  }

  async run(cells) {
    const replies = await Promise.all(cells.map(({ id, sharedModel }) =>
      this.ask(sharedModel.getSource(), { silent: false }, { cellId: id, ours: true })));
    const failed = replies.find(reply => reply && reply.content.status !== "ok")?.content;
    if (!replies.every(Boolean)) this.isNew = true;
    else this.say(failed ? `${STOPPED} ${failed.ename ?? failed.status}. ${SEE_WHY}` : "Ready", failed);
  }

  // Python runs it, and no cell shows it; without an answer if the kernel has gone meanwhile.
  async ask(code, options = {}, metadata = {}) {
    try {
      return await this.kernel.requestExecute({ code, ...UNSEEN, ...options }, true, metadata).done;
    } catch { return null; }
  }

  say(words, failed) {
    if (!this.says) return;
    if (this.says.textContent !== words) this.says.textContent = words;
    this.says.classList.toggle("course-failed", Boolean(failed));
  }

  // What has run and stands there no longer is told to the kernel; so is what stands there again.
  compare() {
    const now = new Set(this.sources);
    for (const source of this.ran) {
      const gone = !now.has(source);
      if (gone === this.gone.has(source)) continue;
      if (gone) this.gone.add(source); else this.gone.delete(source);
      this.ask(`${CELLS}.edited("${this.digest(source)}", ${gone ? "True" : "False"})`);
    }
    this.tend();
  }

  // A link of the scoreboard leads to its exercise.
  leap(event) {
    const id = event.target.closest?.('a[href^="#cell-id="]')?.hash.slice("#cell-id=".length);
    if (!id) return;
    event.preventDefault();
    event.stopPropagation();
    const { content } = this.panel, place = content.widgets.findIndex(({ model }) => model.id === id);
    if (place < 0) return;
    content.activeCellIndex = place;
    // Cells that come into view for the first time grow, and move what is below them.
    const go = async left => {
      await content.scrollToItem(place, "start");
      content.widgets[place].node.scrollIntoView();
      if (left) requestAnimationFrame(() => go(left - 1));
    };
    go(20);
  }

  digest(source) {
    if (!this.digests.has(source)) this.digests.set(source, digest(source));
    return this.digests.get(source);
  }

  // Cells look like what they are for, and a card about a text that was edited says so.
  tend() {
    for (const { model, node } of this.panel.content.widgets) {
      const [, kind] = model.id.match(/^(answer|check)-/) ?? [];
      if (kind && node.dataset.course !== kind) node.dataset.course = kind;
    }
    const now = new Set(this.sources.map(source => this.digest(source)));
    for (const card of this.panel.node.querySelectorAll(".course-card[data-of]")) {
      const stale = !card.dataset.of.split(" ").every(one => now.has(one));
      const said = card.previousElementSibling?.matches(".course-edited");
      if (stale && !said) card.before(Object.assign(document.createElement("p"), { className: "course-edited", textContent: EDITED }));
      else if (!stale && said) card.previousElementSibling.remove();
    }
  }
}

// A kernel writes its name and version into the file: that alone is no change of it.
function keepClean(model) {
  const others = () => JSON.stringify(model.sharedModel.getMetadata(), (key, value) => OF_A_KERNEL.includes(key) ? undefined : value);
  let before = others(), only = false;
  model.sharedModel.changed.connect((_, change) => {
    const dirty = change.stateChange?.some(({ name, newValue }) => name === "dirty" && newValue);
    if (dirty && only) model.dirty = false;
    if (!change.metadataChange) return;
    only = before === others();
    before = others();
    queueMicrotask(() => { only = false; });
  });
}

export function watchSheets(app) {
  const style = document.createElement("style");
  style.textContent = STYLE;
  document.head.append(style);
  const sheets = new Set();
  app.docRegistry.addWidgetExtension("Notebook", {
    createNew: (panel, context) => {
      const sheet = new Sheet(panel, context);
      sheets.add(sheet);
      panel.disposed.connect(() => sheets.delete(sheet));
    },
  });
  return () => sheets.forEach(sheet => sheet.tend());
}
