// On the pages of sheets and lectures: the student's own copy. On the landing page: all points.
import {Store, digest, fetched, fresh, nameBeside, points, takeNew} from "./store.js";

const {up, storage} = document.body.dataset;
const store = new Store(storage);
const counted = (n, thing = "point") => `${n} ${thing}${n === 1 ? "" : "s"}`;

for (const box of document.querySelectorAll("section.work")) attend(box);
if (document.querySelector("ul.units")) showProgress();

function attend(box) {
  const path = box.dataset.sheet;
  const state = box.querySelector(".work-state");
  const changed = box.querySelector(".work-changed");
  const file = box.querySelector("input[type=file]");
  const student = box.querySelector(".student");
  const button = name => box.querySelector(`[data-do="${name}"]`);

  async function look(words = "") {
    const mine = await store.read(path);
    for (const name of ["download", "anew"]) if (button(name)) button(name).disabled = !mine;
    changed.hidden = !mine || digest(mine) === box.dataset.digest || sessionStorage[path] === digest(mine);
    const earned = mine ? Object.values(points(mine)) : [];
    const sum = earned.reduce((total, each) => total + each.earned, 0);
    const about = !mine ? "You have not begun this sheet in this browser. What you type is kept here and sent nowhere."
      : earned.length ? `Your copy has ${counted(sum)} from ${counted(earned.length, "checked exercise")}.`
      : "You have begun; nothing is checked yet.";
    state.textContent = `${words} ${about}`.trim();
  }

  const actions = {
    async run() {
      if (!await store.read(path)) await store.write(path, fresh(await fetched(up, path), store.student));
      location.href = box.dataset.run;
    },
    async download() {
      const mine = await store.read(path);
      const link = document.createElement("a");
      const blob = new Blob([JSON.stringify(mine, null, 1) + "\n"], {type: "application/x-ipynb+json"});
      link.href = URL.createObjectURL(blob);
      link.download = path.split("/").pop();
      link.click();
      setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
    },
    continue() {
      file.click();
    },
    async anew() {
      const beside = await nameBeside(store, path);
      await store.write(beside, await store.read(path));
      await store.remove(path);
      await look(`The sheet is as it was handed out; your old copy is ${beside}.`);
    },
    async "take-new"() {
      const {beside, taken} = await takeNew(store, path, await fetched(up, path));
      await look(`This is the new sheet, with ${counted(taken, "answer")} of yours; your old copy is ${beside}.`);
    },
    async "keep-old"() {
      sessionStorage[path] = digest(await store.read(path));
      await look("You go on with your own copy.");
    },
  };
  for (const [name, act] of Object.entries(actions)) {
    button(name)?.addEventListener("click", () => act().catch?.(error => { state.textContent = String(error); }));
  }
  file?.addEventListener("change", async () => {
    const [chosen] = file.files;
    if (!chosen) return;
    try {
      const notebook = JSON.parse(await chosen.text());
      const ours = (await fetched(up, path)).cells.map(cell => cell.id);
      const known = (notebook.cells ?? []).filter(cell => ours.includes(cell.id));
      if (!known.length) throw new Error("none of its cells is of this sheet");
      await store.write(path, notebook);
      await look(`Your work is now that of ${chosen.name}.`);
    } catch (error) {
      state.textContent = `${chosen.name} cannot be taken: ${error.message}. Choose the .ipynb file of this sheet.`;
    }
    file.value = "";
  });
  if (student) {
    student.value = store.student;
    student.addEventListener("change", () => { store.student = student.value.trim(); });
  }
  look();
  addEventListener("pageshow", () => look());
}

async function showProgress() {
  let all = 0, most = 0, begun = 0;
  for (const row of document.querySelectorAll("ul.units > li")) {
    most += Number(row.dataset.points);
    const mine = await store.read(row.dataset.sheet);
    if (!mine) continue;
    begun += 1;
    const earned = Object.values(points(mine));
    const sum = Math.min(earned.reduce((total, each) => total + each.earned, 0), Number(row.dataset.points));
    all += sum;
    const right = earned.filter(each => each.earned === each.of).length;
    row.querySelector(".progress").textContent =
      `You have ${sum} of ${row.dataset.points}; ${right} of ${row.dataset.exercises} exercises right.`;
  }
  if (begun) {
    document.querySelector(".progress-all").textContent =
      `You have ${all} of ${most} points, as this browser remembers them. Nothing is sent anywhere.`;
  }
}
