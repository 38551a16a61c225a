// What JupyterLab leaves out for those who hear a page: written by hand, there is nothing to build.
(() => {
  const HEARD = "position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)";
  const PATIENCE = 250; // milliseconds between two looks, while cells run
  const FOLDERS = { notebooks: "Lecture", exercises: "Exercises", solutions: "Solution" };

  // Figures are drawn on white paper: in the dark, ink and paper change places and hues stay.
  const DARK_FIGURES = "body[data-jp-theme-light=false] .jp-OutputArea :is(.jp-RenderedImage img," +
    " img.widget-image) { filter: invert(0.93) hue-rotate(180deg); }";

  // A slider speaks its label and the number beside it, not 0.8099999999999998.
  function nameSlider(handle) {
    const row = handle.closest(".widget-inline-hbox, .widget-inline-vbox");
    const label = row?.querySelector(".widget-label")?.textContent.trim();
    const number = row?.querySelector(".widget-readout")?.textContent.trim();
    if (label) put(handle, "aria-label", label);
    if (number) put(handle, "aria-valuetext", number);
  }

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

  // The description of a picture stands in the notebook; JupyterLab does not put it on the page.
  function describePictures(panel) {
    for (const cell of panel.content.widgets) {
      const { outputs } = cell.model;
      (cell.outputArea?.widgets ?? []).forEach((shown, k) => {
        const about = outputs?.get(k)?.metadata ?? {};
        const alt = (about["image/png"] ?? about["image/webp"])?.alt; // on the site pictures are smaller
        if (!alt) return;
        for (const picture of shown.node.querySelectorAll(".jp-RenderedImage img"))
          put(picture, "alt", alt);
      });
    }
  }

  // An explorer need not draw more pixels than the screen has: a picture of half the width moves
  // twice as fast.
  function tellScreen(panel) {
    const kernel = panel.sessionContext?.session?.kernel;
    if (!kernel) return;
    const pixels = String(window.devicePixelRatio);
    for (const picture of panel.node.querySelectorAll(".course-explorer img.widget-image")) {
      if (picture.dataset.courseScreen === pixels) continue;
      picture.dataset.courseScreen = pixels;
      const comm = kernel.createComm("course-screen");
      comm.open({ pixels: window.devicePixelRatio });
      comm.close();
    }
  }

  function tend(root) {
    root.querySelectorAll(".noUi-handle[role=slider]").forEach(nameSlider);
    root.querySelectorAll(".jp-RenderedHTMLCommon th").forEach(emptyCorner);
  }

  function activate(app) {
    const voice = document.createElement("div");
    voice.id = "course-voice";
    voice.setAttribute("role", "status");
    voice.style.cssText = HEARD;
    document.body.append(voice);

    const style = document.createElement("style");
    style.textContent = DARK_FIGURES + Object.values(FOLDERS).map(kind =>
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
      for (const panel of openPanels()) {
        describePictures(panel);
        nameTab(panel);
        tellScreen(panel);
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

    // A slider that moves speaks at once; a look at everything comes now and then.
    new MutationObserver(records => {
      speak(records);
      for (const { attributeName, target } of records)
        if (attributeName === "aria-valuetext") nameSlider(target);
      if (waiting || records.every(({ type }) => type === "attributes")) return;
      waiting = true;
      setTimeout(look, PATIENCE);
    }).observe(document.body, {
      subtree: true, childList: true, attributes: true, attributeFilter: ["aria-valuetext"],
    });
    look();
  }

  const plugin = { id: "course-in-words:plugin", autoStart: true, activate };
  window._JUPYTERLAB = window._JUPYTERLAB ?? {};
  window._JUPYTERLAB["course-in-words"] = {
    init: () => {},
    get: () => Promise.resolve(() => ({ __esModule: true, default: plugin })),
  };
})();
