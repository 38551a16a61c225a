// What was opened once is there without a network, too. With one, everything is asked for anew: nothing here is old.
const KEPT = `course ${registration.scope}`;
addEventListener("install", () => skipWaiting());
addEventListener("activate", event => event.waitUntil(clients.claim()));

const ours = ({method, url}) => method === "GET" && url.startsWith(registration.scope)
  && !/\/lite\/(?!files\/|static\/(packages|pyodide)\/)/.test(url); // JupyterLite has a worker of its own
addEventListener("fetch", event => { if (ours(event.request)) event.respondWith(answered(event)); });
addEventListener("message", event => { // the browser ends a worker that has nothing to wait for
  const wanted = (event.data.keep ?? []).filter(url => ours({method: "GET", url}));
  event.waitUntil(Promise.all(wanted.map(url => fetch(url).then(found => keep(url, found)).catch(() => {}))));
});

async function keep(request, found) {
  if (found.status === 200) await (await caches.open(KEPT)).put(request, found);
}

async function answered(event) {
  const {request} = event;
  try {
    const found = await fetch(request);
    event.waitUntil(keep(request, found.clone()).catch(() => {})); // no room left
    return found;
  } catch (error) {
    const kept = await caches.match(request, {cacheName: KEPT, ignoreSearch: true, ignoreVary: true});
    if (kept) return kept;
    throw error;
  }
}
