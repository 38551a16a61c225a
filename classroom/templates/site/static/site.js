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

const contents = document.querySelector("nav.contents details");
if (contents && matchMedia("(max-width: 70rem)").matches) contents.open = false;

const field = document.querySelector("#search");
const found = document.querySelector("#found");
let pages = null;
const plain = text => text.toLowerCase().normalize("NFKD").replace(/\p{M}/gu, "");

async function search() {
  const words = plain(field.value).split(/\s+/).filter(Boolean);
  found.hidden = words.length === 0;
  if (!words.length) return;
  pages ??= (await (await fetch(`${up}static/search.json`)).json())
    .map(section => ({...section, head: plain(`${section.page} ${section.heading}`), text: plain(section.words)}));
  const hits = pages.map(section => ({section, score: score(section, words)}))
    .filter(hit => hit.score > 0).sort((a, b) => b.score - a.score).slice(0, 20);
  const list = document.createElement("ol");
  list.append(...hits.map(({section}) => line(section, words)));
  const said = document.createElement("p");
  said.setAttribute("role", "status");
  said.textContent = hits.length ? `${hits.length === 20 ? "The first 20" : hits.length} places` : "Nothing found. Try fewer letters.";
  found.replaceChildren(said, list);
}

function score(section, words) {
  let total = 0;
  for (const word of words) {
    const here = (section.head.includes(word) ? 10 : 0) + Math.min(section.text.split(word).length - 1, 5);
    if (!here) return 0;
    total += here;
  }
  return total;
}

function line(section, words) {
  const item = document.createElement("li");
  const link = document.createElement("a");
  link.href = up + section.at;
  link.textContent = section.heading ? `${section.page}: ${section.heading}` : section.page;
  const place = Math.max(0, section.text.indexOf(words[0]) - 60);
  const about = document.createElement("p");
  about.textContent = section.words.slice(place, place + 180);
  item.append(link, about);
  return item;
}

field.addEventListener("input", search);
field.form.addEventListener("submit", event => { event.preventDefault(); search(); });
addEventListener("keydown", event => {
  if (event.key === "/" && !/INPUT|TEXTAREA/.test(document.activeElement.tagName)) {
    event.preventDefault();
    field.focus();
  } else if (event.key === "Escape" && !found.hidden) {
    field.value = "";
    search();
    field.focus();
  }
});
const asked = new URL(location.href).searchParams.get("q");
if (asked) { field.value = asked; search(); }
