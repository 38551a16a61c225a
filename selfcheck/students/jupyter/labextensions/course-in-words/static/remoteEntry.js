// What JupyterLab leaves out for those who hear a page: written by hand, there is nothing to build.
(() => {
  const HEARD = "position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)";
  const PATIENCE = 250; // milliseconds between two looks, while cells run
  const FOLDERS = { notebooks: "Lecture", exercises: "Exercises", solutions: "Solution" };

  // Figures are drawn on white paper: in the dark, ink and paper change places and hues stay.
  const DARK_FIGURES = "body[data-jp-theme-light=false] .jp-OutputArea :is(.jp-RenderedImage img," +
    " .jp-RenderedSVG img, img.widget-image, .course-picture) { filter: invert(0.93) hue-rotate(180deg); }";
  // A derivation: a mark, the line, its reason. What is false is red, with its counterexample beside it.
  const LINES = ".jp-RenderedMarkdown table:has(.course-mark)", FALSE = "var(--course-false)";
  const DERIVATIONS = `
body { --course-proved: #1a6e34; --course-held: #57606a; --course-false: #b3261e; }
body[data-jp-theme-light=false] { --course-proved: #6fd39c; --course-held: #a9b3bd; --course-false: #ff9aa6; }
${LINES} { margin: 0; font-size: inherit; }
${LINES} thead { display: none; }
${LINES} tbody tr, ${LINES} tbody tr:hover { background: none; }
${LINES} td { padding: .3em 1em .3em .5em; vertical-align: baseline; text-align: left; }
${LINES} td:nth-child(2) { white-space: nowrap; }
${LINES} td:nth-child(3) { min-width: 9em; max-width: 32em; white-space: normal; color: var(--course-held); }
${LINES} tbody tr:has(span.course-false) { background: color-mix(in srgb, ${FALSE} 10%, transparent); box-shadow: inset 4px 0 ${FALSE}; }
${LINES} tr:has(.course-false) td:nth-child(3) { color: inherit; }
${LINES} :is(.course-false, tr:has(.course-false) strong) { color: ${FALSE}; }
.course-mark { font-size: 1.2em; font-weight: 700; line-height: 1; }
.course-proved { color: var(--course-proved); }
.course-held { color: var(--course-held); }`;
  const EXPLORER = new URL("explorer.js", document.currentScript.src).href;
  const GUESS = new URL("guess.js", document.currentScript.src).href;
  const SHEET = new URL("sheet.js", document.currentScript.src).href;

  function put(element, name, value) {
    if (element.getAttribute(name) !== value) element.setAttribute(name, value);
  }

  // The corner of a table is no heading of anything.
  function emptyCorner(heading) {
    if (heading.textContent.trim() || heading.children.length) return;
    const corner = document.createElement("td");
    for (const { name, value } of heading.attributes) corner.setAttribute(name, value);
    heading.replaceWith(corner);
  }

  // What is saved about a picture; on the site pictures are smaller.
  function about(output) {
    return output?.metadata?.["image/png"] ?? output?.metadata?.["image/webp"];
  }

  // The description of a picture stands in the notebook; JupyterLab does not put it on the page.
  function describePictures(panel) {
    for (const cell of panel.content.widgets) {
      const { outputs } = cell.model;
      (cell.outputArea?.widgets ?? []).forEach((shown, k) => {
        const { alt, src } = about(outputs?.get(k)) ?? {};
        for (const picture of shown.node.querySelectorAll(":is(.jp-RenderedImage, .jp-RenderedSVG) img")) {
          if (alt) put(picture, "alt", alt);
          if (src) put(picture, "src", src); // on the site, where pages have brought it
        }
      });
    }
  }

  // An explorer is drawn by numbers: those that its kernel sends, or those that were saved with it.
  async function drawExplorers(panel) {
    const kernel = panel.sessionContext?.session?.kernel;
    for (const box of panel.node.querySelectorAll(".course-explorer:not([data-asked])")) {
      if (!kernel) continue;
      box.dataset.asked = "";
      const { Explorer } = await import(EXPLORER);
      const comm = kernel.createComm("course-explorer");
      const ask = asked => {
        if (comm.isDisposed) explorer.says.textContent = "Python was started anew: run this cell again.";
        else comm.send(asked);
      };
      let explorer = null;
      comm.onMsg = ({ content: { data }, buffers: [view] }) => {
        if (!explorer) {
          explorer = new Explorer(data, { ask });
          box.append(explorer.box);
        }
        const numbers = view.buffer.slice(view.byteOffset, view.byteOffset + view.byteLength);
        explorer.take(data, new Int16Array(numbers));
      };
      comm.open({ id: [...box.classList].find(name => name.startsWith("course-explorer-")).slice(16) });
    }
    for (const { model: { outputs }, outputArea } of panel.content.widgets)
      for (const [k, shown] of (outputArea?.widgets ?? []).entries()) {
        const explorer = about(outputs?.get(k))?.explorer;
        const picture = explorer && shown.node.querySelector(".jp-RenderedImage:not([data-explorer])");
        if (!picture) continue;
        picture.dataset.explorer = explorer;
        const { revive } = await import(EXPLORER);
        const { box } = await revive(picture, { hides: true });
        box.append("▶ Run this cell to move it (Shift+Enter): all controls, stop by stop.");
      }
  }

  // What answers a prediction is out of sight until there is a guess.
  const UNSEEN = ".course-unseen, .course-unseen-output > .jp-Cell-outputWrapper { display: none; }" +
    ".jp-Cell > .course-guess { margin: 4px 0 8px calc(var(--jp-cell-prompt-width) + 10px); }";
  const OF_A_GUESS = new WeakMap(); // the form of the cell that asks, and whether it was answered

  function predictions(cells) {
    const found = [];
    let asked = null;
    cells.forEach((cell, k) => {
      const tags = cell.model.getMetadata("tags") ?? [], about = cell.model.getMetadata("guess");
      const whole = tags.includes("revealed"), output = tags.includes("revealed-output");
      if (asked && (whole || output)) {
        asked.before ??= output ? cell : cells[k - 1];
        asked.behind.push({ cell, name: whole ? "course-unseen" : "course-unseen-output" });
      } else if (asked?.behind.length) asked = null;
      if (about) found.push(asked = { question: cell, about, behind: [] });
    });
    return found.filter(({ behind }) => behind.length);
  }

  function foldPredictions({ content }) {
    for (const { question, about, before, behind } of predictions(content.widgets)) {
      if (!OF_A_GUESS.has(question)) ask(content, question, about, behind);
      const { form, answered } = OF_A_GUESS.get(question);
      if (form.parentElement !== before.node) {
        before.node.append(form);
        const output = before.node.querySelector(":scope > .jp-Cell-outputWrapper");
        if (output && behind[0].cell === before) output.before(form);
      }
      for (const { cell, name } of behind) cell.node.classList.toggle(name, !answered);
    }
  }

  function ask(content, question, about, behind) {
    const reveal = () => {
      OF_A_GUESS.get(question).answered = true;
      for (const { cell, name } of behind) cell.node.classList.remove(name);
    };
    const form = window.courseGuess.ask(about, () => {
      reveal();
      const code = behind.find(({ cell }) => cell.model.type === "code") ?? behind[0];
      content.activeCellIndex = content.widgets.indexOf(code.cell);
      content.node.focus();
    });
    OF_A_GUESS.set(question, { form });
    // Whoever walks on by keyboard comes to the guess first; a cell in sight that is run shows its output.
    content.activeCellChanged.connect((_, cell) => {
      if (cell?.node.classList.contains("course-unseen") && behind.some(one => one.cell === cell))
        setTimeout(() => form.querySelector("input").focus());
    });
    for (const { cell, name } of behind)
      if (name !== "course-unseen") cell.model.stateChanged.connect((_, { name, newValue }) => {
        if (name === "executionCount" && newValue) reveal();
      });
  }

  function tend(root) {
    root.querySelectorAll(".jp-RenderedHTMLCommon th").forEach(emptyCorner);
    root.querySelectorAll(LINES).forEach(lines => put(lines, "role", "presentation"));
  }

  function activate(app, { watchSheets }) {
    const tendSheets = watchSheets(app);
    const voice = document.createElement("div");
    voice.id = "course-voice";
    voice.setAttribute("role", "status");
    voice.style.cssText = HEARD;
    document.body.append(voice);

    const style = document.createElement("style");
    style.textContent = DARK_FIGURES + DERIVATIONS + UNSEEN + Object.values(FOLDERS).map(kind =>
      `.lm-TabBar-tab[data-course="${kind}"] .lm-TabBar-tabLabel::before` +
      ` { content: "${kind} · "; }`).join("");
    document.head.append(style);

    function openPanels() {
      return [...app.shell.widgets("main")].filter(panel => panel.content?.model?.cells);
    }

    function nameTab(panel) {
      const kind = FOLDERS[panel.context.path.split("/").at(-2)];
      if (kind && panel.title.dataset.course !== kind)
        panel.title.dataset = { ...panel.title.dataset, course: kind };
    }

    let waiting = false;
    function look() {
      waiting = false;
      tend(document);
      tendSheets();
      for (const panel of openPanels()) {
        describePictures(panel);
        foldPredictions(panel);
        nameTab(panel);
        drawExplorers(panel);
      }
    }

    // A card that has just appeared is read out: its cell was run a moment ago.
    function speak(records) {
      for (const { addedNodes } of records)
        for (const node of addedNodes) {
          const card = node.nodeType === 1 &&
            (node.matches(".course-card") ? node : node.querySelector(".course-card"));
          const cell = card && card.closest(".jp-CodeCell");
          if (cell && cell.classList.contains("jp-mod-active")) voice.textContent = card.innerText;
        }
    }

    new MutationObserver(records => {
      speak(records);
      if (waiting) return;
      waiting = true;
      setTimeout(look, PATIENCE);
    }).observe(document.body, { subtree: true, childList: true });
    look();
  }

  window._JUPYTERLAB = window._JUPYTERLAB ?? {};
  window._JUPYTERLAB["course-in-words"] = {
    init: () => {},
    get: async () => {
      const [sheets] = await Promise.all([import(SHEET), import(GUESS)]);
      const plugin = { id: "course-in-words:plugin", autoStart: true, activate: app => activate(app, sheets) };
      return () => ({ __esModule: true, default: plugin });
    },
  };
})();
