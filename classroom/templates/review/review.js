"use strict";
// Keys first: digits for points, h for a half, c for the comment, s to save, j and k to move.
const form = document.getElementById("decision");
const points = document.getElementById("points"), comment = document.getElementById("comment");
const family = document.getElementById("family"), told = document.getElementById("told");
const go = way => document.getElementById(way).click();

async function decide(extra) {
  const given = points.value.trim() === "" ? null : Number(points.value.replace(",", "."));
  if (Number.isNaN(given)) { told.textContent = "Points are a number, in halves."; return; }
  const body = { points: given, comment: comment.value, family: Boolean(family && family.checked), ...extra };
  try {
    const answer = await fetch(form.dataset.to, {
      method: "POST", body: JSON.stringify(body), credentials: "same-origin",
      headers: { "Content-Type": "application/json", "X-Token": form.dataset.token },
    });
    const said = answer.headers.get("Content-Type").startsWith("application/json")
      ? await answer.json() : { says: await answer.text() };
    told.textContent = said.says;
    if (answer.ok && extra.drop) location.reload();
    else if (answer.ok && form.dataset.last !== "true") go("after");
    else if (answer.ok) location.reload();
  } catch (error) {
    told.textContent = "Not saved: is `course review` still running?";
  }
}

const keys = {
  j: () => go("after"), k: () => go("before"), ArrowRight: () => go("after"), ArrowLeft: () => go("before"),
  s: () => decide({}), Enter: () => decide({}), c: () => comment.focus(), p: () => points.focus(),
  f: () => { if (family) family.checked = !family.checked; },
  h: () => { points.value = String(Math.max(0, Math.min(Number(points.max), Number(points.value || 0) % 1 ? Number(points.value) - 0.5 : Number(points.value || 0) + 0.5))); },
};

if (form) {
  form.addEventListener("submit", event => { event.preventDefault(); decide({}); });
  const drop = document.getElementById("drop");
  if (drop) drop.addEventListener("click", () => decide({ drop: true }));
  document.addEventListener("keydown", event => {
    const writing = event.target.closest("input, textarea, select");
    if (writing && event.key === "Escape") { event.target.blur(); return; }
    if (event.target === comment && event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault(); decide({}); return;
    }
    if (writing || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.closest("a, button, summary, [tabindex]") && event.key === "Enter") return;
    if (/^[0-9]$/.test(event.key)) { points.value = event.key; event.preventDefault(); }
    else if (keys[event.key]) { event.preventDefault(); keys[event.key](); }
  });
}
