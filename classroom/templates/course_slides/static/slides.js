// MathJax as the notebooks expect it. Letters are kept with each formula, since the speaker's
// window has none to share; no menu, since that would fetch its parts from the web.
window.MathJax = {
  tex: TEX,
  svg: {fontCache: "local", scale: 0.9, displayAlign: "left", displayIndent: "0"},
  options: {enableMenu: false},
  startup: {typeset: false},
};

// Formulas first, then the slides. `slidesAreReady` tells tests and printers that all is painted.
async function showSlides() {
  await MathJax.startup.promise;
  await MathJax.typesetPromise();
  keepPunctuation();
  document.querySelectorAll("aside.notes mjx-assistive-mml").forEach(twin => twin.remove());
  const printing = /print-pdf|view=print/.test(location.search);
  const laidOut = printing && new Promise(done => Reveal.on("pdf-ready", done));
  await Reveal.initialize({
    width: 1280,
    height: 720,
    margin: 0,
    center: false,
    controls: false,
    hash: true,
    keyboard: {36: () => Reveal.slide(0, 0)}, // Home: else it is where one was last in that section
    navigationMode: "linear", // arrows walk through all slides; the overview shows the sections
    pdfMaxPagesPerSlide: 1,
    pdfSeparateFragments: false,
    plugins: [RevealNotes],
    slideNumber: "c/t",
    transition: "none",
  });
  await laidOut;
  if (document.readyState !== "complete") await new Promise(done => addEventListener("load", done));
  await window.explorersAreReady;
  await Promise.all([...document.images].map(image => image.decode()));
  window.slidesAreReady = true;
}
