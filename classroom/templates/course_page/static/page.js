// MathJax as the notebooks expect it; no menu, since that would fetch its parts from the web.
window.MathJax = {
  tex: TEX,
  svg: {fontCache: "global", scale: 0.95, displayAlign: "left", displayIndent: "1em"},
  options: {enableMenu: false},
  startup: {
    pageReady: () => MathJax.startup.defaultPageReady().then(async () => {
      await window.explorersAreReady;
      keepPunctuation();
      fit();
      const later = () => requestAnimationFrame(fit);
      new ResizeObserver(later).observe(document.querySelector("main"));
      window.pageIsReady = true;
    }),
  },
};

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
  const formulas = [...document.querySelectorAll("mjx-container:not([display])")];
  formulas.forEach(formula => formula.classList.remove("long"));
  const room = formula => formula.closest("p, li, td, th, dd, h1, h2, h3, div").clientWidth;
  const long = formulas.filter(formula => formula.offsetWidth > room(formula));
  long.forEach(formula => formula.classList.add("long"));

  for (const box of document.querySelectorAll("pre, .wide, [role=presentation] td, mjx-container")) {
    const scrolls = box.scrollWidth > box.clientWidth && getComputedStyle(box).overflowX === "auto";
    if (scrolls) box.setAttribute("tabindex", "0");
    else box.removeAttribute("tabindex");
  }
}
