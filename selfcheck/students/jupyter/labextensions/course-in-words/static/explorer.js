// Explorers, drawn in the page: in JupyterLab, on pages and on slides. What moves is numbers, as
// recorder.py has written them; whoever computes them answers `ask` by `take`.
const NS = "http://www.w3.org/2000/svg", GRAIN = 16, MARK = -32768, SHAPE = 100;
const COMMANDS = " MLQCZ", POINTS = [0, 1, 1, 2, 3, 0];
const REACH = 12, BACK = 6; // stops that are fetched ahead of a hand, and behind it
const MOST = 5000; // places that a page keeps
const LOOK = `
.course-box { display: grid; gap: .5rem; max-width: var(--wide); contain: layout style; }
.course-box > * { margin: 0 !important; min-width: 0; }
.course-controls { display: grid; grid-template-columns: fit-content(45%) 1fr minmax(3.5em, max-content); gap: .3rem .75rem; align-items: center; }
.course-controls > * { display: contents; }
.course-controls > [hidden] { display: none; }
.course-controls input { accent-color: var(--link, var(--jp-brand-color1)); }
.course-controls input[type=range] { width: 100%; margin: .2rem 0; }
.course-controls .course-plays { display: flex; gap: .5rem; align-items: center; }
.course-plays button { flex: none; min-width: 5.5em; padding: .1rem .5rem; border: 1px solid var(--line, var(--jp-border-color1)); border-radius: 4px; background: none; color: inherit; font: inherit; cursor: pointer; }
.course-controls .course-options { grid-column: 2 / 4; display: flex; flex-wrap: wrap; gap: .1rem 1rem; }
.course-controls :disabled, .course-controls :has(> :disabled) { opacity: .5; }
.course-controls output { font-variant-numeric: tabular-nums; }
.course-goal { padding: .2rem .6rem; border-left: 4px solid var(--line, var(--jp-border-color1)); }
.course-goal.reached { border-color: #2f9e6e; background: #2f9e6e26; }
svg.course-picture { display: block; width: 100%; height: auto; }
.course-waits svg.course-picture { opacity: .45; }
.course-says { min-height: 3em; color: var(--soft, var(--jp-ui-font-color1)); }
.course-tools { display: flex; flex-wrap: wrap; gap: .25rem 1rem; font-size: .8125rem; }
.course-tools button { padding: 0; border: 0; background: none; color: var(--link, var(--jp-content-link-color)); font: inherit; cursor: pointer; text-decoration: underline; }
@media print { .course-controls, .course-tools { display: none !important; } .course-says { min-height: 0; } }`;
const calm = matchMedia("(prefers-reduced-motion: reduce)");
let count = 0;

function make(tag, attributes = {}, parent = null) {
  const node = document.createElementNS(NS, tag);
  for (const name in attributes) node.setAttribute(name, attributes[name]);
  parent?.append(node);
  return node;
}

function html(tag, properties = {}, ...children) {
  const node = Object.assign(document.createElement(tag), properties);
  node.append(...children);
  return node;
}

// A run of numbers as SVG has it, moved by (dx, dy) and k times as large.
function toPath(n, from, to, dx = 0, dy = 0, k = 1) {
  let d = "", i = from;
  while (i < to) {
    let points = 1;
    if (n[i] <= MARK + 5) {
      d += COMMANDS[n[i] - MARK];
      points = POINTS[n[i++] - MARK];
    } else d += " ";
    for (let j = 0; j < points; j++, i += 2)
      d += `${j ? " " : ""}${(n[i] * k + dx) / GRAIN} ${(n[i + 1] * k + dy) / GRAIN}`;
  }
  return d;
}

const whole = numbers => toPath(numbers, 0, numbers.length);
const length = ops => ops.reduce((sum, [kind, , taken]) => sum + (kind === "t" ? 0 : taken), 0);

class Drawing {
  constructor(width, height) {
    this.id = `explorer${++count}-`;
    this.svg = make("svg", { xmlns: NS, role: "img", class: "course-picture", viewBox: `0 0 ${width} ${height}`, width, height });
    this.defs = make("defs", {}, this.svg);
    make("rect", { width, height, fill: "#fff" }, this.svg);
    this.body = make("g", {}, this.svg);
    this.looks = [];
    this.glyphs = 0;
    this.scenes = [];
    this.anew();
    this.clips = new Map();
  }

  // Somebody else tells from now on, who counts looks, glyphs and scenes from nought.
  anew() { this.base = [this.looks.length, this.glyphs, this.scenes.length]; }

  // What a message brings; its places are returned, in the order of its grid.
  take({ looks, glyphs, scenes, states, places, moved = [] }, numbers) {
    for (const look of looks) this.looks.push(this.look(look));
    for (const glyph of glyphs) make("path", { id: `${this.id}g${this.glyphs++}`, d: whole(glyph) }, this.defs);
    const { base } = this;
    let at = 0;
    const next = (ops, more) => {
      const from = at;
      at += length(ops);
      return { ops, base, numbers: numbers.subarray(from, at), ...more };
    };
    for (const [ops, axes] of scenes) this.scenes.push(next(ops, { axes }));
    const last = {};
    const drawn = states.map(([slot, ops]) => {
      const state = next(ops, { slot }), key = `${slot} ${state.numbers.length}`;
      if (moved.includes(slot)) last[key]?.forEach((number, k) => { state.numbers[k] += number; });
      last[key] = state.numbers;
      return state;
    });
    return places.map(([scene, ids, sentence, reached]) =>
      ({ scene: scene < 0 ? scene : scene + base[2], states: ids.map(id => drawn[id]), sentence, reached }));
  }

  look({ clip, hatch, shape, image, ...attributes }) {
    if (clip) attributes["clip-path"] = `url(#${this.clip(clip)})`;
    if (hatch) {
      const [size, ink, width, lines] = hatch, id = `${this.id}h${this.looks.length}`;
      const tile = make("pattern", { id, width: size, height: size, patternUnits: "userSpaceOnUse" }, this.defs);
      make("rect", { width: size, height: size, fill: attributes.fill }, tile);
      make("path", { d: whole(lines), fill: ink, stroke: ink, "stroke-width": width }, tile);
      attributes.fill = `url(#${id})`;
    }
    return { attributes, shape, image };
  }

  clip(box) {
    const d = whole(box);
    if (!this.clips.has(d)) {
      this.clips.set(d, `${this.id}c${this.clips.size}`);
      make("path", { d }, make("clipPath", { id: this.clips.get(d) }, this.defs));
    }
    return this.clips.get(d);
  }

  paint({ scene, states }) {
    if (this.scene !== scene) {
      this.scene = scene;
      this.slots = {};
      this.body.replaceChildren();
      this.body.held = [];
      this.fill(this.body, this.scenes[scene]);
    }
    for (const state of states) {
      const slot = this.slots[state.slot];
      if (slot && slot.state !== state) this.fill(slot, state);
    }
  }

  // Elements are kept, and changed where they differ.
  fill(group, state) {
    const held = (group.held ??= []);
    let at = 0;
    group.state = state;
    state.ops.forEach(([kind, which, rest], k) => {
      if (held[k]?.kind !== kind) {
        const node = make({ p: "path", m: "path", c: "path" }[kind] ?? "g");
        if (held[k]) held[k].node.replaceWith(node); else group.append(node);
        held[k] = { kind, node };
      }
      if (kind === "s") { this.slots[which] = held[k].node; return; }
      this.dress(held[k], this.looks[which + state.base[0]]);
      const { node, look } = held[k], taken = kind === "t" ? 0 : rest;
      if (kind === "t") this.type(node, rest, state.base[1]);
      else if (kind === "i") this.image(node, look.image, state.numbers.subarray(at, at + taken));
      else node.setAttribute("d", this.outline(kind, look, state.numbers, at, at + taken));
      at += taken;
    });
    for (const { node } of held.splice(state.ops.length)) node.remove();
  }

  dress(held, look) {
    if (held.look === look) return;
    for (const name in held.look?.attributes) if (!(name in look.attributes)) held.node.removeAttribute(name);
    for (const name in look.attributes) held.node.setAttribute(name, look.attributes[name]);
    held.look = look;
  }

  outline(kind, { shape }, n, from, to) {
    if (kind === "p") return toPath(n, from, to);
    let d = "";
    const step = kind === "m" ? 2 : 3; // a place, and in a scatter a size
    for (let i = from; i < to; i += step)
      d += toPath(shape, 0, shape.length, n[i], n[i + 1], kind === "m" ? 1 : n[i + 2] / GRAIN / SHAPE);
    return d;
  }

  image(node, [width, height, ...matrix], n) {
    const canvas = html("canvas", { width, height });
    const cells = new Uint8ClampedArray(n.slice().buffer);
    canvas.getContext("2d").putImageData(new ImageData(cells, width, height), 0, 0);
    const shown = node.firstChild ?? make("image", { style: "image-rendering: pixelated", preserveAspectRatio: "none" }, node);
    for (const [name, value] of Object.entries({ width, height, transform: `matrix(${matrix})`, href: canvas.toDataURL() }))
      shown.setAttribute(name, value);
  }

  type(node, [x, y, angle, size, letters, bars], base) {
    const line = make("g", { transform: `translate(${x} ${y}) rotate(${angle}) scale(${size})` });
    node.replaceChildren(line);
    for (const [glyph, dx, dy = 0, scale = 1] of letters)
      make("use", { href: `#${this.id}g${glyph + base}`, transform: `translate(${dx} ${-dy})${scale === 1 ? "" : ` scale(${scale})`}` }, line);
    for (const [left, low, width, height] of bars) make("rect", { x: left, y: -low - height, width, height }, line);
  }

  // The numbers that are seen now, in the units of the axes.
  table({ scene, states }) {
    const { axes } = this.scenes[scene];
    return states.flatMap(({ slot, ops, numbers }) => {
      const [box, name] = axes.slots[slot] ?? [];
      if (!box) return [];
      const [left, bottom, width, height, x, y] = box;
      const unit = ([low, high, isLog], share) => Number((isLog ? low * (high / low) ** share : low + (high - low) * share).toPrecision(4));
      const rows = [];
      let at = 0;
      for (const [kind, , taken] of ops) {
        if (kind === "t") continue;
        const end = at + taken, step = kind === "c" ? 3 : 2;
        while (kind !== "i" && at < end) {
          if (numbers[at] <= MARK + 5) { at += 1; continue; }
          rows.push([name, unit(x, (numbers[at] / GRAIN - left) / width), unit(y, (bottom - numbers[at + 1] / GRAIN) / height)].join("\t"));
          at += step;
        }
        at = end;
      }
      return [...new Set(rows)]; // a line and its markers have the same places
    });
  }
}

export class Explorer {
  // `name`: under which a goal that was reached is remembered; `ask`: who computes what is missing.
  constructor(about, { name = "", ask = null, hides = false } = {}) {
    const [width, height] = about.size;
    Object.assign(this, { about, name, ask, at: [...about.at], start: [...about.at], last: 0, toward: 1, places: new Map() });
    this.grid = about.grid;
    this.was = about.was || (name && localStorage.getItem(name) === "reached");
    this.drawing = new Drawing(width, height);
    this.goal = html("p", { className: "course-goal", role: "status" });
    this.says = html("p", { className: "course-says", role: "status" });
    this.controls = about.controls.map((control, k) => this.control(control, k));
    const panel = html("div", { className: "course-controls" }, ...this.controls.map(({ row }) => row));
    this.box = html("div", { className: "course-box" }, ...(about.goal ? [this.goal] : []), panel, this.drawing.svg, this.says, this.tools());
    this.box.style.setProperty("--wide", `${width}px`);
    this.box.explorer = this; // for whoever wants to move it by a script
    if (hides) this.controls.forEach(({ row }, k) => { row.hidden = this.grid[k].length < 2; });
    if (!document.getElementById("course-look")) document.head.append(html("style", { id: "course-look", textContent: LOOK }));
    addEventListener("beforeprint", () => this.paint(this.start));
    addEventListener("afterprint", () => this.paint(this.at));
  }

  // Controls

  stops(k) { return this.ask ? null : this.grid[k]; } // null: all of them

  control({ label, count, options, low, step, digits, plays }, k) {
    const id = `${this.drawing.id}control${k}`;
    const told = stop => (low + stop * step).toFixed(digits).replace("-", "−");
    const keep = input => keepKeys(Object.assign(input, { disabled: !this.ask && this.grid[k].length < 2 }));
    if (step === undefined) {
      const inputs = (options ?? [label]).map((words, stop) => {
        const input = keep(html("input", { type: options ? "radio" : "checkbox", name: id }));
        input.addEventListener("change", () => this.byHand(k, options ? stop : Number(input.checked)));
        return input;
      });
      const labels = inputs.map((input, stop) => html("label", {}, input, ` ${(options ?? [label])[stop]}`));
      const group = html("div", { className: "course-options" }, ...labels);
      if (options) { group.role = "radiogroup"; group.ariaLabel = label; }
      const show = () => inputs.forEach((input, stop) => { input.checked = options ? this.at[k] === stop : this.at[k] === 1; });
      show();
      return { row: html("div", {}, html("span", { textContent: options ? label : "" }), group), show, inputs };
    }
    const input = keep(html("input", { type: "range", id })), output = html("output", { htmlFor: id });
    const show = () => {
      const stops = input.disabled ? null : this.stops(k);
      input.max = (stops?.length ?? count) - 1;
      input.value = stops ? stops.indexOf(this.at[k]) : this.at[k];
      output.value = told(this.at[k]);
      input.setAttribute("aria-valuetext", output.value);
    };
    input.addEventListener("input", () => this.byHand(k, this.stops(k)?.[input.value] ?? Number(input.value)));
    show();
    const button = plays ? keep(this.player(k, label, plays)) : null;
    const middle = button ? html("div", { className: "course-plays" }, button, input) : input;
    const row = html("div", {}, html("label", { htmlFor: id, textContent: label }), middle, output);
    return { row, show, inputs: button ? [input, button] : [input] };
  }

  // Steps by itself until the end, a hand, or nobody looks; one step at a time where motion is not
  // wanted. The sentences are spoken when it stands still.
  player(k, label, perSecond) {
    const button = html("button", { type: "button" });
    const tell = () => {
      const [sign, words] = this.playing ? ["❚❚", "Pause"] : calm.matches ? ["▶\uFE0E", "Step"] : ["▶\uFE0E", "Play"];
      button.textContent = `${sign} ${words}`;
      button.ariaLabel = `${words}: ${label}`;
      this.says.ariaLive = this.playing ? "off" : "polite";
    };
    const pause = () => {
      clearInterval(this.playing);
      this.playing = 0;
      tell();
    };
    button.addEventListener("click", () => {
      if (this.playing) return pause();
      const { next, first } = this.ahead(k);
      this.move(k, next ?? first);
      if (calm.matches) return;
      this.playing = setInterval(() => {
        if (!this.places.has(this.at.join())) return; // the kernel is slower than the clock
        if (this.ahead(k).next === undefined) pause(); else this.move(k, this.ahead(k).next);
      }, 1000 / perSecond);
      tell();
    });
    this.pause = pause;
    calm.addEventListener("change", pause);
    addEventListener("visibilitychange", () => { if (document.hidden) pause(); });
    new IntersectionObserver(([seen]) => { if (!seen.isIntersecting) pause(); }).observe(this.drawing.svg);
    pause();
    return button;
  }

  // The stop that follows, if there is one, and the first of all.
  ahead(k) {
    const stops = this.stops(k) ?? Array.from({ length: this.about.controls[k].count }, (_, stop) => stop);
    return { next: stops[stops.indexOf(this.at[k]) + 1], first: stops[0] };
  }

  byHand(k, stop) {
    this.pause?.();
    this.move(k, stop);
  }

  move(k, stop) {
    Object.assign(this, { last: k, toward: Math.sign(stop - this.at[k]) || 1 });
    this.at[k] = stop;
    this.controls[k].show();
    this.show();
  }

  // From now on somebody computes what is missing: all stops of all controls.
  live(ask) {
    this.ask = ask;
    this.drawing.anew();
    this.pause?.();
    for (const { show, inputs } of this.controls) {
      inputs.forEach(input => { input.disabled = false; });
      show();
    }
  }

  // Places

  take(message, numbers) {
    if (this.ask && this.places.size > MOST) this.places.clear();
    const places = this.drawing.take(message, numbers);
    let k = 0;
    const walk = (stops, rest) => {
      if (!rest.length) this.places.set(stops.join(), places[k++]);
      else for (const stop of rest[0]) walk([...stops, stop], rest.slice(1));
    };
    walk([], message.grid);
    if (message.now) {
      this.at = message.now;
      this.controls.forEach(({ show }) => show());
    }
    if (message.done) this.asked = false;
    this.show();
  }

  // Only the place where the hand is now is ever painted: an answer that is late changes nothing.
  show() {
    this.box.classList.toggle("course-waits", !this.paint(this.at));
    this.fetch();
  }

  paint(stops) {
    const place = this.places.get(stops.join());
    if (!place || place === this.shown) return place;
    this.shown = place;
    if (place.scene < 0) { this.says.textContent = `Not drawn: ${place.sentence}`; return place; }
    this.drawing.paint(place);
    this.says.textContent = place.sentence;
    this.drawing.svg.setAttribute("aria-label", `${this.about.alt} ${place.sentence}`);
    if (place.reached && !this.was) {
      this.was = true;
      if (this.name) localStorage.setItem(this.name, "reached");
    }
    const before = this.was && !place.reached ? " (Reached before, but not with these values.)" : "";
    this.goal.classList.toggle("reached", Boolean(place.reached));
    this.goal.replaceChildren(html("b", { textContent: place.reached ? "✓ Goal reached:" : "Goal:" }), ` ${this.about.goal}.${before}`);
    return place;
  }

  // Ask for what is missing here, ahead of the hand and a little behind it: one question at a time.
  fetch() {
    if (!this.ask || this.asked) return;
    const k = this.last, { count } = this.about.controls[k], here = this.at[k];
    const run = (far, toward) => Array.from({ length: far }, (_, i) => here + toward * (i + 1));
    const stops = [here, ...run(REACH, this.toward), ...run(BACK, -this.toward)]
      .filter(stop => stop >= 0 && stop < count && !this.places.has(this.at.with(k, stop).join()));
    if (!stops.length && this.told === this.at.join()) return;
    this.asked = true;
    this.told = this.at.join();
    this.ask({ at: [...this.at], control: k, stops });
  }

  // To take along

  tools() {
    const button = (words, act) => html("button", { type: "button", textContent: words, onclick: act });
    const said = html("span", { role: "status" });
    return html("div", { className: "course-tools" },
      button("Save picture (PNG)", () => this.png()),
      button("Save picture (SVG)", () => save(this.file(), "explorer.svg")),
      button("Copy the numbers", async () => {
        await navigator.clipboard.writeText(this.text());
        said.textContent = "Copied.";
      }), said);
  }

  file() { return new Blob([new XMLSerializer().serializeToString(this.drawing.svg)], { type: "image/svg+xml" }); }

  async png(scale = 3) {
    const [width, height] = this.about.size, image = new Image(), url = URL.createObjectURL(this.file());
    image.src = url;
    await image.decode();
    URL.revokeObjectURL(url);
    const canvas = html("canvas", { width: scale * width, height: scale * height });
    canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
    canvas.toBlob(blob => save(blob, "explorer.png"));
  }

  text() {
    const set = this.about.controls.map(({ label, options, low, step, digits }, k) => {
      const stop = this.at[k];
      return `${label}\t${options?.[stop] ?? (step === undefined ? Boolean(stop) : (low + stop * step).toFixed(digits))}`;
    });
    return [...set, this.shown.sentence, "", "what\tx\ty", ...this.drawing.table(this.shown)].join("\n");
  }
}

function save(blob, name) {
  const link = html("a", { href: URL.createObjectURL(blob), download: name });
  link.click();
  URL.revokeObjectURL(link.href);
}

// A control keeps its keys from JupyterLab. On slides a click, or Page Up and Down, gives them back.
function keepKeys(input) {
  input.dataset.lmSuppressShortcuts = "";
  if (!document.querySelector(".reveal")) return input;
  input.addEventListener("pointerup", () => input.blur());
  input.addEventListener("keydown", event => {
    if (event.key.startsWith("Page")) input.blur(); else event.stopPropagation();
  });
  return input;
}

// Saved places: words, then the low and the high bytes of the numbers.
export async function unpacked(text) {
  const raw = text.endsWith(".bin") ? await (await fetch(text)).arrayBuffer() // else they stand here
    : Uint8Array.from(atob(text), letter => letter.charCodeAt(0));
  const stream = new Blob([raw]).stream().pipeThrough(new DecompressionStream("deflate"));
  const data = new Uint8Array(await new Response(stream).arrayBuffer());
  const end = 4 + new DataView(data.buffer).getUint32(0, true), half = (data.length - end) / 2;
  const numbers = new Int16Array(half);
  for (let k = 0; k < half; k++) numbers[k] = data[end + k] | (data[end + half + k] << 8);
  return [JSON.parse(new TextDecoder().decode(data.subarray(4, end))), numbers];
}

// An explorer in place of its still picture, from the places that were saved with it.
export async function revive(figure, options) {
  const [about, numbers] = await unpacked(figure.dataset.explorer);
  const explorer = new Explorer(about, options);
  explorer.take(about, numbers);
  figure.replaceChildren(explorer.box);
  return explorer;
}

export const explorers = Promise.all([...document.querySelectorAll("figure[data-explorer]")].map(async (figure, k) => {
  return { figure, explorer: await revive(figure, { name: `${location.pathname} ${k}`, hides: !document.body.dataset.up }) };
}));
globalThis.explorersAreReady = explorers;
