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

  // All notebooks of one folder, by their paths, the one that was changed last in front.
  async all(folder) {
    const files = await this.#errand("readonly", kept => kept.getAll()) ?? [];
    const here = files.filter(({path, type}) => type === "notebook" && path.startsWith(`${folder}/`));
    here.sort((a, b) => String(b.last_modified).localeCompare(String(a.last_modified)));
    return new Map(here.map(({path, content}) => [path, typeof content === "string" ? JSON.parse(content) : content]));
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

// The cell that says who the student is, with this id.
const signed = (source, student) => joined(source).replace(/^student = [^#\n]*?(?= *(#|$))/m, () => `student = ${written(student)}`);
const isStudent = cell => /^student = /m.test(joined(cell.source)) && !/^answer-/.test(cell.id ?? "");

// A fresh sheet for this student.
export function fresh(sheet, student) {
  const copy = structuredClone(sheet);
  if (!student) return copy;
  for (const cell of copy.cells) {
    if (cell.cell_type === "code" && isStudent(cell)) cell.source = signed(cell.source, student);
  }
  return copy;
}

// Another id: all sheets that were begun have it from now on.
export async function sign(store, student) {
  store.student = student;
  for (const [path, notebook] of await store.all("exercises")) await store.write(path, fresh(notebook, student || "0"));
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
    const kept = name ? same(`text-${name}`) && same(`check-${name}`) : isStudent(cell);
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

// The sheet of a page: the student's notebook as it is kept, and what was typed here since. Only cells that were
// changed here are written, so that what a notebook in another tab has changed stays.
export class Sheet {
  #base = null; #mine = new Map(); #dirty = new Set(); #bell = null; #line = Promise.resolve();

  constructor(storage, path, up, cells) {
    this.store = new Store(storage);
    Object.assign(this, {path, up, cells, changed: () => {}});
    this.draft = `${storage} · draft · ${path}`;
    pending.save = () => this.save();
  }

  async open() {
    this.#base = await this.store.read(this.path);
    const draft = JSON.parse(localStorage.getItem(this.draft) ?? "{}"); // of a page that was closed too fast
    if (Object.keys(draft).length) this.write(draft);
    const look = () => { if (document.visibilityState === "visible") this.refresh(); else this.save(); };
    document.addEventListener("visibilitychange", look);
    addEventListener("pageshow", look);
    addEventListener("pagehide", () => this.save());
    addEventListener("course-work", () => this.refresh(true));
  }

  // What another page has changed meanwhile.
  async refresh(whole = false) {
    await this.#line;
    if (whole) this.#dirty.clear();
    this.#base = await this.store.read(this.path);
    for (const id of [...this.#mine.keys()]) if (!this.#dirty.has(id)) this.#mine.delete(id);
    this.changed();
  }

  // The notebook as it stands on the page; none if nothing was begun.
  get notebook() {
    if (!this.#base && !this.#mine.size) return null;
    const cells = this.#base ? complete(this.#base.cells, this.#blank()) : fresh({cells: this.#blank()}, this.store.student).cells;
    return {...this.#base, cells: cells.map(cell => this.#mine.has(cell.id) ? {...cell, ...this.#mine.get(cell.id)} : cell)};
  }

  #blank() {
    return this.cells.map(({id, source}) => ({id, source, cell_type: "code", metadata: {}, execution_count: null, outputs: []}));
  }

  code() {
    const {cells} = this.notebook ?? fresh({cells: this.#blank()}, this.store.student);
    return cells.filter(cell => cell.cell_type === "code").map(({id, source}) => ({id, source: joined(source)}));
  }

  source(id) { return this.code().find(cell => cell.id === id)?.source; }

  outputs(id) { return this.notebook?.cells.find(cell => cell.id === id)?.outputs ?? []; }

  // Changes by the id of a cell: its source, its outputs.
  write(changes) {
    for (const [id, change] of Object.entries(changes)) {
      this.#mine.set(id, {...this.#mine.get(id), ...change});
      this.#dirty.add(id);
    }
    localStorage.setItem(this.draft, JSON.stringify(Object.fromEntries([...this.#dirty].map(id => [id, this.#mine.get(id)]))));
    this.#bell ??= setTimeout(() => this.save(), 300);
  }

  save() {
    clearTimeout(this.#bell);
    this.#bell = null;
    return this.#line = this.#line.then(async () => {
      if (!this.#dirty.size) return;
      const notebook = await this.store.read(this.path) ?? fresh(await fetched(this.up, this.path), this.store.student);
      notebook.cells = complete(notebook.cells, this.#blank());
      const now = new Map([...this.#dirty].map(id => [id, this.#mine.get(id)]));
      for (const cell of notebook.cells) if (now.has(cell.id)) Object.assign(cell, structuredClone(now.get(cell.id)));
      await this.store.write(this.path, notebook);
      this.#base = notebook;
      for (const [id, change] of now) if (this.#mine.get(id) === change) this.#dirty.delete(id); // not typed on meanwhile
      if (!this.#dirty.size) localStorage.removeItem(this.draft);
    }).catch(error => console.warn(`${this.path} could not be kept: ${error}`));
  }
}

// The cells of a notebook, and those of the sheet that somebody has deleted in it, where they stood.
function complete(cells, sheet) {
  const all = [...cells];
  sheet.forEach((cell, k) => {
    if (all.some(({id}) => id === cell.id)) return;
    all.splice(all.findIndex(({id}) => id === sheet[k - 1]?.id) + 1, 0, cell);
  });
  return all;
}

// What has to be kept before a page is left or its sheet is taken elsewhere.
export const pending = {save: async () => {}};
