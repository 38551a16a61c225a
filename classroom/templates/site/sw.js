// What was opened once is there without a network, too. With one, everything is asked for anew: nothing here is old.
const KEPT = `course ${registration.scope}`;
addEventListener("install", () => skipWaiting());
addEventListener("activate", event => event.waitUntil(clients.claim()));

const ours = ({method, url}) => method === "GET" && url.startsWith(registration.scope)
  && !/\/lite\/(?!static\/(packages|pyodide)\/)/.test(url); // JupyterLite has a worker of its own
addEventListener("fetch", event => { if (ours(event.request)) event.respondWith(answered(event.request)); });
addEventListener("message", ({data}) => {
  for (const url of data.keep ?? []) if (ours({method: "GET", url})) fetch(url).then(found => keep(url, found)).catch(() => {});
});

async function keep(request, found) {
  if (found.status === 200) await (await caches.open(KEPT)).put(request, found);
}

async function answered(request) {
  try {
    const found = await fetch(request);
    keep(request, found.clone()).catch(() => {}); // no room left
    return found;
  } catch (error) {
    const kept = await caches.match(request, {cacheName: KEPT, ignoreSearch: true, ignoreVary: true});
    if (kept) return kept;
    throw error;
  }
}
