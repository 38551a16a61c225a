// On every page: who the student is, the points so far and what is left. On the page of a sheet: the sheet as a file.
import {Store, digest, fetched, fresh, nameBeside, pending, points, sign, takeNew} from "./store.js";

const {up, storage} = document.body.dataset;
const store = new Store(storage);
const counted = (n, thing = "point") => `${n} ${thing}${n === 1 ? "" : "s"}`;
const sheets = fetch(`${up}static/sheets.json`).then(found => found.json());
const panel = document.querySelector(".mine");

// Something was typed or checked: shown a moment later, when it is kept.
let bell = null;
export function announce() {
  clearTimeout(bell);
  bell = setTimeout(async () => { await pending.save(); await show(); }, 200);
}

// -- how one stands ---------------------------------------------------------------------------------

async function standing() {
  const kept = await store.all("exercises");
  const rows = (await sheets).map(sheet => {
    const mine = kept.get(sheet.path);
    const earned = mine ? points(mine) : {};
    const each = sheet.exercises.map(one => ({...one, earned: Math.min(earned[one.name]?.earned ?? 0, one.points), tried: one.name in earned}));
    return {
      ...sheet, begun: Boolean(mine), each, left: each.filter(one => one.earned < one.points),
      earned: each.reduce((sum, one) => sum + one.earned, 0), points: each.reduce((sum, one) => sum + one.points, 0),
    };
  });
  const recent = [...kept.keys()].map(path => rows.find(row => row.path === path)).filter(row => row?.left.length);
  const sheet = recent[0] ?? rows.find(row => row.left.length) ?? null;
  const first = sheet?.left.find(one => !one.tried) ?? sheet?.left[0];
  return {rows, next: first && {sheet, number: first.number, place: `${up}${sheet.page}#cell-id=text-${first.name.replaceAll("_", "-")}`}, begun: rows.some(row => row.begun)};
}

async function show() {
  const {rows, next, begun} = await standing();
  const earned = rows.reduce((sum, row) => sum + row.earned, 0), most = rows.reduce((sum, row) => sum + row.points, 0);
  panel.querySelector(".mine-points").textContent = `${earned} of ${most} points`;
  panel.querySelector(".mine-points").dataset.short = `${earned}/${most}`;
  const list = panel.querySelector(".mine-units");
  list.replaceChildren(...rows.filter(row => row.begun).map(({number, page, earned, points, left}) => {
    const item = document.createElement("li"), link = document.createElement("a");
    Object.assign(link, {href: up + page, textContent: `Unit ${number}: ${earned} of ${points}`});
    item.append(link, left.length ? `, left: ${left.map(one => one.number).join(", ")}` : ", all of it");
    return item;
  }));
  if (!begun) list.append(Object.assign(document.createElement("li"), {textContent: "Nothing is begun in this browser."}));
  const words = begun ? `Continue with ${next?.number}` : `Start with unit ${rows[0]?.number ?? ""}`;
  for (const link of document.querySelectorAll("a.go-on")) {
    link.hidden = !next;
    if (next) Object.assign(link, {href: begun || link.dataset.begin === undefined ? next.place : up + link.dataset.begin, textContent: words});
  }
  for (const row of document.querySelectorAll("ul.units > li")) showUnit(row, rows.find(one => one.path === row.dataset.sheet));
  for (const box of document.querySelectorAll("section.work")) showSheet(box, rows.find(one => one.path === box.dataset.sheet));
}

function showUnit(row, {begun, earned, points, each}) {
  const right = each.filter(one => one.earned === one.points).length;
  row.querySelector(".progress").textContent = begun ? `You have ${earned} of ${points}; ${right} of ${each.length} exercises right.` : "";
  const bar = row.querySelector("meter");
  Object.assign(bar, {value: earned, max: points, hidden: !begun});
}

function showSheet(box, {begun, earned, points, left}) {
  for (const name of ["download", "anew"]) box.querySelector(`[data-do="${name}"]`).disabled = !begun;
  const about = !begun ? "Write your answer below each question and press Check. It is kept in this browser and sent nowhere."
    : left.length ? `You have ${earned} of ${counted(points)}. Left: ${left.map(one => one.number).join(", ")}.`
    : `You have all ${counted(points)}.`;
  for (const place of document.querySelectorAll(".work-points")) place.textContent = about;
}

// -- a sheet as a file ------------------------------------------------------------------------------

function attend(box) {
  const path = box.dataset.sheet;
  const state = box.querySelector(".work-state");
  const changed = box.querySelector(".work-changed");
  const file = box.querySelector("input[type=file]");
  const again = () => dispatchEvent(new Event("course-work"));

  async function look(words = "") {
    const mine = await store.read(path);
    changed.hidden = !mine || digest(mine) === box.dataset.digest || sessionStorage[path] === digest(mine);
    state.textContent = words;
    await show();
  }

  const actions = {
    async run() {
      await pending.save();
      if (!await store.read(path)) await store.write(path, fresh(await fetched(up, path), store.student));
      location.href = box.dataset.run;
    },
    async download() {
      await pending.save();
      offer(JSON.stringify(await store.read(path), null, 1) + "\n", path.split("/").pop(), "application/x-ipynb+json");
    },
    continue() { file.click(); },
    async anew() {
      await pending.save();
      const beside = await nameBeside(store, path);
      await store.write(beside, await store.read(path));
      await store.remove(path);
      again();
      await look(`The sheet is as it was handed out; your old copy is ${beside}.`);
    },
    async "take-new"() {
      await pending.save();
      const {beside, taken} = await takeNew(store, path, await fetched(up, path));
      again();
      await look(`This is the new sheet, with ${counted(taken, "answer")} of yours; your old copy is ${beside}.`);
    },
    async "keep-old"() {
      sessionStorage[path] = digest(await store.read(path));
      await look("You go on with your own copy.");
    },
  };
  listen(box, actions, state);
  file.addEventListener("change", async () => {
    const [chosen] = file.files;
    if (!chosen) return;
    try {
      const notebook = JSON.parse(await chosen.text());
      const ours = (await fetched(up, path)).cells.map(cell => cell.id);
      const known = (notebook.cells ?? []).filter(cell => ours.includes(cell.id));
      if (!known.length) throw new Error("none of its cells is of this sheet");
      await store.write(path, notebook);
      again();
      await look(`Your work is now that of ${chosen.name}.`);
    } catch (error) {
      state.textContent = `${chosen.name} cannot be taken: ${error.message}. Choose the .ipynb file of this sheet.`;
    }
    file.value = "";
  });
  look();
}

function listen(box, actions, state) {
  for (const [name, act] of Object.entries(actions)) {
    box.querySelector(`[data-do="${name}"]`)?.addEventListener("click", () => act()?.catch?.(error => { state.textContent = String(error); }));
  }
}

function offer(text, name, type) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(new Blob([text], {type}));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

// -- all work as one file, for another machine ------------------------------------------------------

function takeAlong() {
  const state = panel.querySelector(".mine-state");
  const file = panel.querySelector("input[type=file]");
  const student = panel.querySelector(".student");
  student.value = store.student;
  student.addEventListener("change", async () => {
    await pending.save();
    await sign(store, student.value.trim());
    dispatchEvent(new Event("course-work"));
    dispatchEvent(new Event("course-student"));
    state.textContent = student.value.trim() ? "Your numbers are drawn from this id." : "Without an id you have the numbers of id 0.";
  });
  listen(panel, {
    async export() {
      await pending.save();
      const all = {course: storage, student: store.student, notebooks: Object.fromEntries(await store.all("exercises"))};
      offer(`${JSON.stringify(all)}\n`, "my-course-work.json", "application/json");
    },
    import() { file.click(); },
  }, state);
  file.addEventListener("change", async () => {
    const [chosen] = file.files;
    if (!chosen) return;
    try {
      const {notebooks, student: id} = JSON.parse(await chosen.text());
      const given = Object.entries(notebooks ?? {}).filter(([path, {cells}]) => /^exercises\/[^/]+\.ipynb$/.test(path) && Array.isArray(cells));
      if (!given.length) throw new Error("it holds no sheets");
      await pending.save();
      for (const [path, notebook] of given) {
        const mine = await store.read(path);
        if (mine && JSON.stringify(mine) !== JSON.stringify(notebook)) await store.write(await nameBeside(store, path), mine);
        await store.write(path, notebook);
      }
      if (id) student.value = store.student = id;
      dispatchEvent(new Event("course-work"));
      await show();
      state.textContent = `${counted(given.length, "sheet")} of ${chosen.name} are here now; what you had is kept beside.`;
    } catch (error) {
      state.textContent = `${chosen.name} cannot be taken: ${error.message}. Choose the file that “Export all my work” gave you.`;
    }
    file.value = "";
  });
}

takeAlong();
for (const box of document.querySelectorAll("section.work")) attend(box);
show();
addEventListener("pageshow", ({persisted}) => { if (persisted) show(); });
