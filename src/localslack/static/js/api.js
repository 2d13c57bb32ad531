// The page's side of the `/ui/*` contract. Commands never throw: they answer {"ok": false, "error": sentence} instead.

const UNREACHABLE = "The workspace can't be reached right now, so nothing was sent. Please try again in a moment.";
const PATIENCE_MS = 15000;

/** The server knows nothing of what was to be read, and will not when asked again. */
export class Unknown extends Error {}

export class Api {
  constructor(user) {
    this.user = user;
  }

  state() {
    return this.#get("state", {});
  }

  messages(channel, threadTs) {
    return this.#get("messages", { channel, thread_ts: threadTs });
  }

  home() {
    return this.#get("home", {});
  }

  modals() {
    return this.#get("modals", {});
  }

  send(channel, text, threadTs) {
    return this.#post("message", { channel, text, thread_ts: threadTs });
  }

  slash(channel, command, text, threadTs) {
    return this.#post("slash", { channel, command, text, thread_ts: threadTs });
  }

  act(surface, action, state) {
    return this.#post("action", { surface, action, state });
  }

  suggest(surface, blockId, actionId, value) {
    return this.#post("suggest", { surface, block_id: blockId, action_id: actionId, value });
  }

  submitView(viewId, state) {
    return this.#post("view_submit", { view_id: viewId, state });
  }

  closeView(viewId, clear) {
    return this.#post("view_close", { view_id: viewId, clear });
  }

  shortcut(callbackId, channel, ts) {
    return this.#post("shortcut", { callback_id: callbackId, channel, ts });
  }

  homeOpened(tab) {
    return this.#post("home_opened", { tab });
  }

  stop(channel, threadTs) {
    return this.#post("stop", { channel, thread_ts: threadTs });
  }

  rename(channel, threadTs, title) {
    return this.#post("rename", { channel, thread_ts: threadTs, title });
  }

  edit(channel, ts, text) {
    return this.#post("edit", { channel, ts, text });
  }

  remove(channel, ts) {
    return this.#post("delete", { channel, ts });
  }

  /** Reading throws when the server is away or too slow; see `insist`. */
  async #get(path, query) {
    const known = Object.entries({ user: this.user, ...query }).filter(([, value]) => value);
    const response = await fetch(`/ui/${path}?${new URLSearchParams(known)}`, { signal: AbortSignal.timeout(PATIENCE_MS) });
    if (response.status === 404) throw new Unknown(`/ui/${path} knows nothing of this`);
    if (!response.ok) throw new Error(`/ui/${path} answered ${response.status}`);
    return response.json();
  }

  async #post(path, body) {
    let response;
    try {
      response = await fetch(`/ui/${path}`, {
        method: "POST",
        headers: { "Content-Type": "application/json" },
        body: JSON.stringify({ user: this.user, ...body }),
        signal: AbortSignal.timeout(PATIENCE_MS),
      });
    } catch {
      return { ok: false, error: UNREACHABLE };
    }
    const answer = await response.json().catch(() => null);
    if (answer && typeof answer.ok === "boolean") return answer;
    return { ok: false, error: `The workspace gave an answer this page does not understand (${response.status}). Please try again.` };
  }
}
