// Says calmly, at the top, when something is not connected, and that it is once it is again.

import { h } from "./dom.js";

const PATIENCE_MS = 900;
const GOOD_NEWS_MS = 2200;

export class Banner {
  #timer = null;
  #trouble = null;
  #told = false;

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
    if (trouble === this.#trouble) return;
    this.#trouble = trouble;
    clearTimeout(this.#timer);
    if (trouble) this.#timer = setTimeout(() => this.#tell(trouble), this.#told ? 0 : PATIENCE_MS);
    else if (this.#told) this.#tellGoodNews();
  }

  #tell(trouble) {
    this.#told = true;
    this.#show(trouble, "trouble");
  }

  #tellGoodNews() {
    this.#told = false;
    this.#show("Connected again", "well");
    setTimeout(() => this.#told || this.place.replaceChildren(), GOOD_NEWS_MS);
  }

  #show(words, mood) {
    this.place.replaceChildren(h("p", { class: `banner-${mood}` }, words));
  }
}
