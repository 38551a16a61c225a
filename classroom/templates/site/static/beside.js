// In JupyterLite's own page: what is being loaded, the way back, and a word if a notebook has changed.
import {Store, digest, fetched, takeNew} from "./store.js";

const root = new URL("../", import.meta.url).href;
const {storage, loads, warm} = await (await fetch(new URL("course.json", import.meta.url))).json();
const store = new Store(storage);
const path = new URL(location.href).searchParams.get("path");
const bar = document.createElement("div");
bar.setAttribute("role", "status");
bar.style.cssText = "position:fixed;left:0;right:0;bottom:0;z-index:1000;padding:.4rem .75rem;"
  + "font:15px/1.4 system-ui,sans-serif;background:#1f2328;color:#fff;display:flex;flex-wrap:wrap;gap:.75rem;align-items:center";
document.body.append(bar);

function say(words, ...more) {
  bar.replaceChildren(document.createTextNode(words), ...more);
  bar.hidden = false;
}

function button(words, act) {
  const made = document.createElement("button");
  made.textContent = words;
  made.style.cssText = "font:inherit;color:#1f2328;background:#fff;border:0;border-radius:4px;padding:.2rem .6rem;cursor:pointer";
  made.addEventListener("click", act);
  return made;
}

const kernel = () => window.jupyterapp?.shell?.currentWidget?.sessionContext?.session?.kernel;
const isThere = () => ["idle", "busy"].includes(kernel()?.status) && kernel()?.connectionStatus === "connected";
const began = performance.now();

// What Python is about to ask for is fetched here too, so that one sees what comes and how much is
// still missing; the browser's cache hands it on.
const coming = {now: "", have: 0, most: loads.reduce((sum, [, bytes]) => sum + bytes, 0)};

async function fetchAll() {
  for (const [place] of loads) {
    coming.now = place.split("/").pop().split("-")[0];
    const reader = (await fetch(new URL(place, `${root}lite/`))).body.getReader();
    for (let part = await reader.read(); !part.done; part = await reader.read()) coming.have += part.value.length;
  }
  coming.now = "";
}

function told() {
  const seconds = Math.round((performance.now() - began) / 1000);
  const megabytes = bytes => (bytes / 1e6).toFixed(1);
  const much = `${megabytes(coming.have)}${coming.most ? ` of ${megabytes(coming.most)}` : ""} MB`;
  return `${coming.now ? `Loading Python: ${coming.now}, ${much}` : "Python starts"} … ${seconds} s. You can read already.`;
}

async function whileLoading() {
  fetchAll().catch(() => { coming.now = ""; }); // Python itself says what is missing
  const bar = document.createElement("progress");
  if (coming.most) bar.max = coming.most;
  while (!isThere()) {
    if (coming.most && coming.now) bar.value = coming.have; else bar.removeAttribute("value");
    say(told(), bar);
    await new Promise(later => setTimeout(later, 250));
  }
  say("Python is there; its packages are made ready while you read …");
  await kernel().requestExecute({code: warm, silent: true, store_history: false}).done.catch(() => {});
}

async function changed() {
  const mine = path && await store.read(path);
  if (!mine || !digest(mine)) return false;
  const sheet = await fetched(root, path).catch(() => null);
  if (!sheet || digest(sheet) === digest(mine)) return false;
  const shown = path.split("/").pop();
  say(`${shown} has changed since your copy was made.`,
    button("Take the new one and keep mine beside it", async () => {
      await takeNew(store, path, sheet);
      location.reload();
    }),
    button("Go on with mine", wayBack));
  return true;
}

// The way back, small and out of the way.
function wayBack() {
  const link = document.createElement("a");
  const page = path?.endsWith(".ipynb") && !path.includes(", mine") ? path.replace(/ipynb$/, "html") : "index.html";
  link.href = root + page;
  link.textContent = "Back to the course";
  link.style.color = "inherit";
  bar.style.left = "auto";
  bar.style.borderTopLeftRadius = "6px";
  bar.replaceChildren(link);
}

if (!await changed()) {
  await whileLoading();
  wayBack();
}
