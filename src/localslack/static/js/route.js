// Where the viewer is, kept in the address: `#/channel`, `#/channel/t/ts` (a thread), `#/channel/home`, `#/channel/day`.

const TABS = ["home", "day"];

export class Route {
  #listener;

  constructor(listener) {
    this.#listener = listener;
    Object.assign(this, parse(location.hash));
    window.addEventListener("popstate", () => this.#become(parse(location.hash)));
  }

  /** Go somewhere; what is not named stays. Going to another channel leaves the thread and the tab. */
  go(change, { replace = false } = {}) {
    const fresh = change.channel && change.channel !== this.channel ? { thread: null, tab: "messages" } : {};
    const next = { channel: this.channel, tab: this.tab, thread: this.thread, ...fresh, ...change };
    if (next.channel === this.channel && next.tab === this.tab && next.thread === this.thread) return;
    const address = `${location.pathname}${location.search}${write(next)}`;
    if (replace) history.replaceState(null, "", address);
    else history.pushState(null, "", address);
    this.#become(next);
  }

  #become(next) {
    const before = { channel: this.channel, tab: this.tab, thread: this.thread };
    Object.assign(this, next);
    this.#listener(before);
  }
}

function parse(hash) {
  const [channel, kind, ts] = hash.replace(/^#\//, "").split("/").map(decodeURIComponent);
  return { channel: channel || null, tab: TABS.includes(kind) ? kind : "messages", thread: kind === "t" && ts ? ts : null };
}

function write({ channel, tab, thread }) {
  const place = `#/${encodeURIComponent(channel)}`;
  if (TABS.includes(tab)) return `${place}/${tab}`;
  return thread ? `${place}/t/${encodeURIComponent(thread)}` : place;
}
