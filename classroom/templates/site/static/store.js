// The notebooks that this browser keeps: the same place in which JupyterLite keeps them.
const FILES = "files";
const VERDICT = /^([0-9.]+) (\w+): (?:[a-z ]+), (\d{1,9}) of (\d+) points?\./;
const joined = text => Array.isArray(text) ? text.join("") : text ?? "";

export class Store {
  constructor(storage) {
    this.name = `${storage} · contents`;
    this.storage = storage;
  }

  // A connection for one errand: an open one would stand in JupyterLite's way.
  async #errand(mode, work) {
    const exists = (await indexedDB.databases()).some(db => db.name === this.name);
    if (!exists && mode === "readonly") return undefined;
    const database = await this.#open();
    try {
      if (!database.objectStoreNames.contains(FILES)) return undefined;
      return await new Promise((resolve, reject) => {
        const request = work(database.transaction(FILES, mode).objectStore(FILES));
        request.onsuccess = () => resolve(request.result);
        request.onerror = () => reject(request.error);
      });
    } finally {
      database.close();
    }
  }

  #open() {
    return new Promise((resolve, reject) => {
      const request = indexedDB.open(this.name);
      request.onupgradeneeded = () => {
        for (const name of [FILES, "counters", "checkpoints", "local-forage-detect-blob-support"]) {
          request.result.createObjectStore(name);
        }
      };
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => reject(request.error);
    });
  }

  async read(path) {
    const file = await this.#errand("readonly", files => files.get(path));
    if (!file) return null;
    return typeof file.content === "string" ? JSON.parse(file.content) : file.content;
  }

  async write(path, notebook) {
    const now = new Date().toISOString();
    const name = path.split("/").pop();
    await this.#folder(path.split("/")[0], now);
    await this.#errand("readwrite", files => files.put({
      name, path, type: "notebook", format: "json", mimetype: "application/json", writable: true,
      content: notebook, size: JSON.stringify(notebook).length, created: now, last_modified: now,
    }, path));
  }

  async #folder(name, now) {
    await this.#errand("readwrite", files => files.put({
      name, path: name, type: "directory", format: "json", mimetype: "", writable: true,
      content: null, size: 0, created: now, last_modified: now,
    }, name));
  }

  remove(path) {
    return this.#errand("readwrite", files => files.delete(path));
  }

  get student() {
    return localStorage.getItem(`${this.storage} · student`) ?? "";
  }

  set student(id) {
    localStorage.setItem(`${this.storage} · student`, id);
  }
}

// Points of a notebook, read from the verdicts that stand below its checks; the last one counts.
export function points(notebook) {
  const earned = {};
  for (const cell of notebook.cells) {
    for (const output of cell.outputs ?? []) {
      const verdict = VERDICT.exec(joined(output.data?.["text/plain"]));
      if (verdict) earned[verdict[2]] = {earned: Number(verdict[3]), of: Number(verdict[4])};
    }
  }
  return earned;
}

export const digest = notebook => notebook.metadata?.course?.digest ?? "";

// An id as it stands in a cell: a number, or text in quotes.
const written = id => /^(0|[1-9]\d*)$/.test(id) ? id : JSON.stringify(id);

// A fresh sheet for this student.
export function fresh(sheet, student) {
  const copy = structuredClone(sheet);
  if (!student) return copy;
  for (const cell of copy.cells) {
    if (cell.cell_type !== "code") continue;
    cell.source = joined(cell.source).replace(/^student = 0\b/m, () => `student = ${written(student)}`);
  }
  return copy;
}

// The new sheet with the student's answers, where exercise and check are word for word the same.
export function carried(mine, sheet) {
  const copy = structuredClone(sheet);
  const old = new Map(mine.cells.map(cell => [cell.id, joined(cell.source)]));
  const now = new Map(sheet.cells.map(cell => [cell.id, joined(cell.source)]));
  const same = id => now.get(id) === old.get(id);
  let taken = 0;
  for (const cell of copy.cells) {
    const name = cell.id?.match(/^answer-(.*)$/)?.[1];
    const isStudent = /^student = /m.test(joined(cell.source)) && !name;
    const kept = name ? same(`text-${name}`) && same(`check-${name}`) : isStudent;
    if (kept && old.has(cell.id) && old.get(cell.id) !== joined(cell.source)) {
      cell.source = old.get(cell.id);
      taken += 1;
    }
  }
  return {copy, taken};
}

// A name beside this one that is still free: 01_unit, mine 1.ipynb.
export async function nameBeside(store, path) {
  for (let number = 1; ; number += 1) {
    const name = path.replace(/\.ipynb$/, `, mine ${number}.ipynb`);
    if (!await store.read(name)) return name;
  }
}

// Keep the student's copy under another name, and put the new notebook in its place.
export async function takeNew(store, path, sheet) {
  const mine = await store.read(path);
  const beside = await nameBeside(store, path);
  await store.write(beside, mine);
  const {copy, taken} = carried(mine, fresh(sheet, store.student));
  await store.write(path, copy);
  return {beside, taken};
}

export async function fetched(root, path) {
  const answer = await fetch(`${root}lite/files/${path}`, {cache: "no-cache"});
  if (!answer.ok) throw new Error(`${path} is not on this site.`);
  return answer.json();
}
