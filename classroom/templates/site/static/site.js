// On every page: light and dark, and the search over all pages.
const root = document.documentElement;
const {up} = document.body.dataset;

const theme = document.querySelector("button.theme");
function dress(name) {
  root.dataset.theme = name;
  theme.setAttribute("aria-pressed", String(name === "dark"));
}
dress(root.dataset.theme);
theme.addEventListener("click", () => {
  const name = root.dataset.theme === "dark" ? "light" : "dark";
  localStorage.setItem("course-theme", name);
  dress(name);
});

// A worker keeps what was opened, for when there is no network; it came too late for what this page has loaded.
export async function keepOffline(names) {
  const worker = (await navigator.serviceWorker?.ready)?.active;
  worker?.postMessage({keep: names});
}
const loaded = () => [location.href, ...performance.getEntriesByType("resource").map(({name}) => name)];
if (isSecureContext && !navigator.connection?.saveData) {
  const first = !navigator.serviceWorker?.controller;
  navigator.serviceWorker?.register(new URL(`${up}sw.js`, location.href)).then(async () => {
    if (document.readyState !== "complete") await new Promise(done => addEventListener("load", done));
    if (first) await keepOffline(loaded());
    document.querySelector(".offline").hidden = false;
  }).catch(() => {}); // a browser that forbids it
}

const contents = document.querySelector("nav.contents details");
if (contents && matchMedia("(max-width: 70rem)").matches) contents.open = false;

// The section that one reads is marked in the list at the side.
const ways = [...document.querySelectorAll("nav.contents .sections a")];
const headings = ways.map(link => document.getElementById(decodeURIComponent(link.hash.slice(1))));
let looking = 0;
function here() {
  looking = 0;
  const at = headings.findLastIndex(heading => heading?.getBoundingClientRect().top < innerHeight / 3);
  ways.forEach((link, k) => k === at ? link.setAttribute("aria-current", "true") : link.removeAttribute("aria-current"));
}
if (ways.length) here();
if (ways.length) addEventListener("scroll", () => { looking ||= requestAnimationFrame(here); }, {passive: true});

// How long there is until a deadline, by the reader's own clock.
const span = new Intl.RelativeTimeFormat("en", {numeric: "auto"});
for (const time of document.querySelectorAll(".due time")) {
  const hours = (new Date(time.dateTime) - Date.now()) / 36e5;
  const words = Math.abs(hours) < 48 ? span.format(Math.round(hours), "hour") : span.format(Math.round(hours / 24), "day");
  time.after(` (${words})`);
  time.parentElement.classList.toggle("over", hours < 0);
}

const field = document.querySelector("#search");
const found = document.querySelector("#found");
let pages = null;
const plain = text => text.toLowerCase().normalize("NFKD").replace(/\p{M}/gu, "");

const asking = () => plain(field.value).split(/\s+/).filter(Boolean);
async function read() {
  const sections = await (await fetch(`${up}static/search.json`)).json();
  const parts = section => ["page", "heading", "words"].map(part => [`plain_${part}`, plain(section[part])]);
  return sections.map(section => ({...section, ...Object.fromEntries(parts(section))}));
}

async function search() {
  const words = asking();
  found.hidden = words.length === 0;
  if (!words.length) return;
  const sections = await (pages ??= read());
  if (words.join(" ") !== asking().join(" ")) return; // somebody has typed on
  // Sections stand in the order of the units: of two that fit alike, the one that comes first in the course is first.
  const hits = sections.map(section => ({section, score: score(section, words)}))
    .filter(hit => hit.score > 0).sort((a, b) => b.score - a.score).slice(0, 20);
  const list = document.createElement("ol");
  list.append(...hits.map(({section}) => line(section, words)));
  const said = document.createElement("p");
  said.setAttribute("role", "status");
  const many = hits.length === 20 ? "The first 20 places" : hits.length === 1 ? "1 place" : `${hits.length} places`;
  said.textContent = hits.length ? many : "Nothing found. Try fewer letters.";
  found.replaceChildren(said, list);
}

// A word in the title counts more than one in the heading, and that more than one in the text.
function score(section, words) {
  let total = 0;
  for (const word of words) {
    const begins = text => new RegExp(`(^|[^\\p{L}\\d])${word.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")}`, "u").test(text);
    const worth = {page: section.heading ? 9 : 40, heading: 20, words: 2};
    const here = Object.entries(worth).reduce((sum, [part, most]) =>
      sum + (begins(section[`plain_${part}`]) ? most : section[`plain_${part}`].includes(word) ? most / 4 : 0), 0);
    if (!here) return 0;
    total += here;
  }
  return total;
}

// Text with the words that were looked for marked in it.
function marked(text, words) {
  const low = plain(text), parts = document.createDocumentFragment();
  let at = 0;
  while (low.length === text.length) {
    const next = words.map(word => [low.indexOf(word, at), word.length]).filter(([place]) => place >= 0).sort((a, b) => a[0] - b[0])[0];
    if (!next) break;
    const mark = document.createElement("mark");
    mark.textContent = text.slice(next[0], next[0] + next[1]);
    parts.append(text.slice(at, next[0]), mark);
    at = next[0] + next[1];
  }
  parts.append(text.slice(at));
  return parts;
}

function line(section, words) {
  const item = document.createElement("li"), link = document.createElement("a"), about = document.createElement("p");
  link.href = up + section.at;
  link.append(marked(section.heading ? `${section.page}: ${section.heading}` : section.page, words));
  const hit = Math.max(0, section.plain_words.indexOf(words[0]));
  const begin = hit < 60 ? 0 : section.words.indexOf(" ", hit - 60) + 1;
  const cut = section.words.slice(begin, begin + 170).replace(/\s\S*$/, "");
  about.append(begin ? "… " : "", marked(cut, words), " …");
  item.append(link, about);
  return item;
}

function step(by) {
  const links = [...found.querySelectorAll("a")], at = links.indexOf(document.activeElement);
  const next = at + by;
  if (next < 0) field.focus(); else links[Math.min(next, links.length - 1)]?.focus();
}

field.addEventListener("input", search);
field.form.addEventListener("submit", event => { event.preventDefault(); search(); });
addEventListener("keydown", event => {
  if (event.key === "/" && !/INPUT|TEXTAREA|SELECT/.test(document.activeElement.tagName)) {
    event.preventDefault();
    field.focus();
  } else if (["ArrowDown", "ArrowUp"].includes(event.key) && !found.hidden && field.form.contains(document.activeElement)) {
    event.preventDefault();
    step(event.key === "ArrowDown" ? 1 : -1);
  } else if (event.key === "Escape" && !found.hidden) {
    field.value = "";
    search();
    field.focus();
  }
});
addEventListener("click", event => { if (!field.form.contains(event.target)) found.hidden = true; });
field.addEventListener("focus", () => { if (field.value) search(); });
const asked = new URL(location.href).searchParams.get("q");
if (asked) { field.value = asked; search(); }
