// Formulas that could not be set when the page was written are left to MathJax, if it is here.
window.MathJax = {
  tex: TEX,
  svg: {fontCache: "global", scale: 0.95, displayAlign: "left", displayIndent: "1em"},
  options: {enableMenu: false}, // it would fetch its parts from the web
  startup: {
    elements: [".formula.unset"],
    pageReady: () => MathJax.startup.defaultPageReady().then(settle),
  },
};
addEventListener("DOMContentLoaded", () => { if (!document.querySelector("#mathjax")) settle(); });

async function settle() {
  await window.explorersAreReady;
  await document.fonts.ready;
  fit();
  const later = () => requestAnimationFrame(fit);
  new ResizeObserver(later).observe(document.querySelector("main"));
  window.pageIsReady = true;
}

// A prediction asks for a guess, and unfolds when there is one.
addEventListener("DOMContentLoaded", () => {
  for (const fold of document.querySelectorAll("details.prediction")) {
    fold.before(courseGuess.ask(JSON.parse(fold.dataset.guess), () => { fold.open = true; }));
    fold.classList.add("asked");
  }
});

// Paper cannot be unfolded: answers are printed, code of explorers is not.
const onPaper = () => document.querySelectorAll("details.answer");
addEventListener("beforeprint", () => onPaper().forEach(fold => { fold.open = true; }));
addEventListener("afterprint", () => onPaper().forEach(fold => { fold.open = false; }));

// What is too wide for the screen scrolls by itself: then, and only then, the keyboard gets there.
function fit() {
  document.querySelectorAll(".formula.long").forEach(box => box.replaceWith(...box.childNodes));
  const inLine = [...document.querySelectorAll("math:not([display]), .formula:not(.block)")];
  const room = formula => formula.closest("p, li, td, th, dd, h1, h2, h3, div").clientWidth;
  for (const formula of inLine.filter(one => one.getBoundingClientRect().width > room(one))) {
    const box = document.createElement("span");
    box.className = "formula long";
    formula.replaceWith(box);
    box.append(formula);
  }

  for (const box of document.querySelectorAll("pre, .wide, [role=presentation] td, .formula")) {
    const scrolls = box.scrollWidth > box.clientWidth && getComputedStyle(box).overflowX === "auto";
    if (scrolls) box.setAttribute("tabindex", "0");
    else box.removeAttribute("tabindex");
  }
}
