// All places with form state that this page has shown, so that closing and opening a thread keeps what was entered.

import { Surface } from "./surface.js";

export class Surfaces {
  #known = new Map();

  constructor(api) {
    this.api = api;
  }

  ofMessage(channel, message) {
    const surface = this.#get(`message ${channel} ${message.ts}`, { type: "message", channel, ts: message.ts });
    surface.declare(message.blocks ?? []);
    return surface;
  }

  ofView(view) {
    const surface = this.#get(`view ${view.id}`, { type: "view", view_id: view.id });
    surface.declare(view.blocks, view.state?.values);
    return surface;
  }

  ofHome(view) {
    const surface = this.#get("home", { type: "home" });
    surface.declare(view.blocks, view.state?.values);
    return surface;
  }

  /** The app has answered somewhere: controls that only wait for something visible are at rest again. */
  settle() {
    for (const surface of this.#known.values()) surface.settle();
  }

  forgetView(viewId) {
    this.#known.delete(`view ${viewId}`);
  }

  lastActed() {
    return Math.max(0, ...[...this.#known.values()].map((surface) => surface.lastActed));
  }

  #get(key, ref) {
    if (!this.#known.has(key)) this.#known.set(key, new Surface(ref, this.api));
    return this.#known.get(key);
  }
}
