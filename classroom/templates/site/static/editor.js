// An editor for a few lines of Python: a text field, with the same text in colors behind it. The field is the
// browser's own, so undo, marking, phones' keyboards and screen readers work as everywhere.
const WORDS = "False|None|True|and|as|assert|async|await|break|class|continue|def|del|elif|else|except|finally|for|from"
  + "|global|if|import|in|is|lambda|nonlocal|not|or|pass|raise|return|try|while|with|yield";
const PARTS = [
  ["c1", /#.*/], ["s", /[rbfu]{0,2}(?:"""[^]*?(?:"""|$)|'''[^]*?(?:'''|$)|"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?)/i],
  ["blank", /____/], ["k", new RegExp(`\\b(?:${WORDS})\\b`)], ["m", /\b\d[\d_.]*(?:e[-+]?\d+)?\b/i], ["o", /[-+*/%=<>!@&|^~]+/],
  ["", /\w+/],
];
const ANY = new RegExp(PARTS.map(([, part]) => `(${part.source})`).join("|"), "gi");

function colored(text) {
  const pieces = document.createDocumentFragment();
  let at = 0;
  for (const found of text.matchAll(ANY)) {
    const kind = PARTS[found.slice(1).findIndex(part => part !== undefined)][0];
    if (!kind) continue;
    const piece = document.createElement("span");
    piece.className = kind;
    piece.textContent = found[0];
    pieces.append(text.slice(at, found.index), piece);
    at = found.index + found[0].length;
  }
  pieces.append(text.slice(at), "\n"); // the last line has a height, too
  return pieces;
}

// Typed as by hand, so that the browser's undo knows it.
function type(field, text, from = field.selectionStart, to = field.selectionEnd) {
  field.setSelectionRange(from, to);
  if (text ? !document.execCommand("insertText", false, text) : from < to && !document.execCommand("delete")) {
    field.setRangeText(text, from, to, "end");
    field.dispatchEvent(new Event("input", {bubbles: true}));
  }
}

const lineStart = (text, at) => text.lastIndexOf("\n", at - 1) + 1;

// More or less room before all lines that are marked.
function shift(field, less) {
  const {value, selectionStart: from, selectionEnd: to} = field;
  if (!less && from === to) { type(field, " ".repeat(4 - (from - lineStart(value, from)) % 4)); return; }
  const begin = lineStart(value, from);
  const lines = value.slice(begin, to).split("\n");
  const moved = lines.map(line => less ? line.replace(/^ {1,4}/, "") : line && `    ${line}`).join("\n");
  const lost = lines[0].length - moved.split("\n")[0].length;
  type(field, moved, begin, to);
  field.setSelectionRange(Math.max(begin, from - lost), begin + moved.length);
}

// A new line begins where the last one did; after a colon a step further in.
function newLine(field) {
  const {value, selectionStart: at} = field;
  const line = value.slice(lineStart(value, at), at);
  const more = /:\s*(#.*)?$/.test(line) ? "    " : "";
  const less = /^\s*(return|pass|break|continue|raise)\b/.test(line) && !/[([{,\\]\s*$/.test(line) ? 4 : 0;
  const indent = line.match(/^ */)[0];
  type(field, `\n${(indent + more).slice(0, Math.max(0, indent.length + more.length - less))}`);
}

export function editor(text, label, {changed = () => {}, done = () => {}} = {}) {
  const box = document.createElement("div"), field = document.createElement("textarea"), behind = document.createElement("pre");
  box.className = "editor";
  behind.className = "highlight";
  behind.setAttribute("aria-hidden", "true");
  Object.assign(field, {value: text, spellcheck: false, autocapitalize: "off", autocomplete: "off"});
  field.setAttribute("autocorrect", "off");
  field.setAttribute("aria-label", label);
  field.setAttribute("aria-describedby", "editor-keys");
  box.append(behind, field);
  const paint = () => behind.replaceChildren(colored(field.value));
  let leaving = false; // after Escape the Tab key leads on
  field.addEventListener("input", () => { paint(); changed(field.value); });
  field.addEventListener("blur", () => { leaving = false; });
  field.addEventListener("keydown", event => {
    if (event.isComposing) return;
    if (event.key === "Escape") leaving = true;
    else if (event.key === "Enter" && (event.ctrlKey || event.shiftKey || event.metaKey)) { event.preventDefault(); done(); }
    else if (event.key === "Enter") { event.preventDefault(); newLine(field); }
    else if (event.key === "Tab" && !leaving) { event.preventDefault(); shift(field, event.shiftKey); }
    else if (event.key === "Backspace" && field.selectionStart === field.selectionEnd) {
      const before = field.value.slice(lineStart(field.value, field.selectionStart), field.selectionStart);
      if (/^ +$/.test(before) && before.length % 4 === 0) {
        event.preventDefault();
        type(field, "", field.selectionStart - 4, field.selectionStart);
      }
    }
  });
  field.addEventListener("click", () => { // on a blank: it is marked, and what is typed takes its place
    const at = field.selectionStart;
    for (const {index} of field.value.matchAll(/____/g)) {
      if (index <= at && at <= index + 4 && at === field.selectionEnd) field.setSelectionRange(index, index + 4);
    }
  });
  paint();
  return {
    box, field,
    get value() { return field.value; },
    set value(text) { if (text !== field.value) { field.value = text; paint(); } },
  };
}
