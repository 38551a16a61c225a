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

// On a phone a tap shows a picture as large as it was drawn, and the next one all of it.
addEventListener("click", ({ target }) => {
  if (!target.matches("figure > img[width]")) return;
  target.classList.toggle("large");
  fit();
});

// Paper cannot be unfolded: answers are at its end, as paper.py puts them into a handout.
let atTheEnd = [];
function toPaper() {
  if (atTheEnd.length) return;
  const end = Object.assign(document.createElement("section"), { className: "answers", innerHTML: "<h2>Answers</h2>" });
  atTheEnd = [...document.querySelectorAll("main details.answer")].map((fold, k) => {
    const note = Object.assign(document.createElement("p"), { className: "at-the-end", textContent: `→ answer ${k + 1} at the end` });
    fold.querySelector("summary").dataset.number = k + 1;
    fold.replaceWith(note);
    fold.open = true;
    end.append(fold);
    return { fold, note };
  });
  if (atTheEnd.length) document.querySelector("main").append(end);
}
function fromPaper() {
  document.querySelector("main > .answers")?.remove();
  for (const { fold, note } of atTheEnd) {
    fold.open = false;
    note.replaceWith(fold);
  }
  atTheEnd = [];
}
addEventListener("beforeprint", toPaper);
addEventListener("afterprint", () => { if (!document.documentElement.classList.contains("paper")) fromPaper(); });
addEventListener("DOMContentLoaded", () => { if (document.documentElement.classList.contains("paper")) toPaper(); });

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

  for (const box of document.querySelectorAll("pre, .wide, [role=presentation] td, .formula, figure")) {
    const scrolls = box.scrollWidth > box.clientWidth && getComputedStyle(box).overflowX === "auto";
    if (scrolls) box.setAttribute("tabindex", "0");
    else box.removeAttribute("tabindex");
  }
}
