// In JupyterLite's own page: what is being loaded, the way back, and a word if a notebook has changed.
import {Store, digest, fetched, takeNew} from "./store.js";

const root = new URL("../", import.meta.url).href;
const {storage, size} = await (await fetch(new URL("course.json", import.meta.url))).json();
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
const began = performance.now();

async function whileLoading() {
  while (!["idle", "busy"].includes(kernel()?.status) || kernel()?.connectionStatus !== "connected") {
    const seconds = Math.round((performance.now() - began) / 1000);
    say(`Python is on its way (${size} the first time, then from this browser's cache): ${seconds} s. You can read already.`);
    await new Promise(later => setTimeout(later, 500));
  }
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
