// Says calmly, at the top, when something is not connected, and that it is once it is again.

import { h } from "./dom.js";

const PATIENCE_MS = 900;
const GOOD_NEWS_MS = 2200;

export class Banner {
  #timer = null;
  #shown = null;

  constructor(store) {
    this.store = store;
    this.place = document.getElementById("banner");
    store.on("connection", () => this.#look());
  }

  #look() {
    const { live, appConnected, app } = this.store;
    const trouble =
      live === false
        ? "The connection was lost. Trying again…"
        : appConnected === false
          ? `${app.name} isn't connected at the moment. This page goes on by itself as soon as it is.`
          : null;
    clearTimeout(this.#timer);
    if (trouble && trouble !== this.#shown) this.#timer = setTimeout(() => this.#show(trouble, "trouble"), this.#shown ? 0 : PATIENCE_MS);
    else if (!trouble && this.#shown) {
      this.#show("Connected again", "well");
      this.#timer = setTimeout(() => this.#show(null), GOOD_NEWS_MS);
    }
  }

  #show(words, mood) {
    this.#shown = mood === "trouble" ? words : null;
    this.place.replaceChildren(...(words ? [h("p", { class: `banner-${mood}` }, words)] : []));
  }
}
