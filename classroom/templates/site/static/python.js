// A Python beside the page: it starts by itself, what is asked meanwhile waits, and what takes too long is ended.
export class Stopped extends Error {}

export class Python {
  #worker = null; #started = null; #line = Promise.resolve(); #asked = 0; #hears = new Map(); #end = null;

  constructor(config, hear = () => {}) {
    this.config = config;
    this.hear = hear; // of what is being loaded, and of its end
    this.ready = false;
  }

  // Load it; whoever asks for something has it loaded, too.
  start() {
    return this.#started ??= (async () => {
      this.#worker = new Worker(new URL("sheet-worker.js", import.meta.url), {type: "module"});
      this.#worker.onmessage = ({data}) => this.#hears.get(data.number)?.(data);
      this.#worker.onerror = event => this.#hears.forEach(hear => hear({failed: event.message ?? "the worker could not start"}));
      const loaded = await this.#send("start", null, this.config);
      this.ready = true;
      this.hear({ready: true, loaded});
    })().catch(error => {
      this.#close();
      this.hear({failed: error.message});
      throw error;
    });
  }

  // The answer to a question; `Stopped` if there is none after so many seconds, or somebody said stop.
  ask(question, cells, more = [], seconds = 30) {
    const answer = this.#line.then(async () => {
      await this.start();
      const stopped = new Promise((_, refuse) => { this.#end = refuse; });
      const bell = setTimeout(() => this.stop(`It took more than ${seconds} seconds. Is there a loop that never ends?`), seconds * 1000);
      try {
        return await Promise.race([this.#send(question, cells, more), stopped]);
      } finally {
        clearTimeout(bell);
        this.#end = null;
      }
    });
    this.#line = answer.catch(() => {});
    return answer;
  }

  // End what runs now. Python starts anew, and what was typed is on the page, not in there.
  stop(why = "You stopped it.") {
    if (!this.#end) return;
    this.#end(new Stopped(why));
    this.#close();
    this.start().catch(() => {});
  }

  #close() {
    this.#worker?.terminate();
    this.#worker = this.#started = null;
    this.#hears.clear();
    this.ready = false;
  }

  #send(ask, cells, more) {
    const number = ++this.#asked;
    return new Promise((resolve, reject) => {
      this.#hears.set(number, ({step, failed, dead, answer}) => {
        if (step) { this.hear({step}); return; }
        this.#hears.delete(number);
        if (dead) this.stop("It broke Python. Does it take too much memory, or change what Python itself needs?");
        if (failed) reject(new Error(failed)); else resolve(answer);
      });
      this.#worker.postMessage({number, ask, cells, more});
    });
  }
}
