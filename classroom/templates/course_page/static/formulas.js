// What MathJax takes for a formula, as in the notebooks.
const TEX = {
  inlineMath: [["$", "$"], ["\\(", "\\)"]],
  displayMath: [["$$", "$$"], ["\\[", "\\]"]],
  processEscapes: true,
  tags: "ams",
};

// A formula within a line stays with the punctuation around it: no line begins with a comma.
function keepPunctuation() {
  for (const formula of document.querySelectorAll("mjx-container:not([display])")) {
    const [before, after] = [formula.previousSibling, formula.nextSibling];
    const opening = before?.nodeType === Node.TEXT_NODE && before.data.match(/[(\[“‘]+$/);
    const closing = after?.nodeType === Node.TEXT_NODE && after.data.match(/^[.,;:?!)\]’”%]+/);
    if (!opening && !closing) continue;
    const together = document.createElement("span");
    together.className = "together";
    formula.replaceWith(together);
    if (closing) after.splitText(closing[0].length);
    if (opening) together.append(before.splitText(before.length - opening[0].length));
    together.append(formula, closing ? after : "");
  }
}
