// Keeps a list at its end while the reader is there, and offers the way back when they are not.

import { h, icon } from "./dom.js";

const NEAR_PX = 60;

export class Scroller {
  #atEnd = true;

  constructor(content) {
    this.content = content;
    this.box = h("div", { class: "scroll", tabIndex: -1, onscroll: () => this.#moved() }, content);
    this.pill = h("button", { type: "button", class: "pill", hidden: true, onclick: () => this.toEnd({ calmly: true }) }, icon("down"), h("span"));
    this.root = h("div", { class: "scroll-frame" }, this.box, this.pill);
    const watch = new ResizeObserver(() => this.#atEnd && this.toEnd());
    watch.observe(this.box);
    watch.observe(content);
  }

  toEnd({ calmly = false } = {}) {
    const still = window.matchMedia("(prefers-reduced-motion: reduce)").matches;
    this.box.scrollTo({ top: this.box.scrollHeight, behavior: calmly && !still ? "smooth" : "instant" });
    if (!calmly) this.#atEnd = true;
    this.pill.hidden = true;
  }

  /** A message came in: follow it when the reader is at the end or it is the answer to what they just did. */
  arrived({ follow }) {
    if (this.#atEnd || follow) this.toEnd();
    else this.#offer("New messages");
  }

  #moved() {
    const left = this.box.scrollHeight - this.box.scrollTop - this.box.clientHeight;
    this.#atEnd = left < NEAR_PX;
    if (this.#atEnd) this.pill.hidden = true;
    else if (left > this.box.clientHeight * 0.6 && this.pill.hidden) this.#offer("Jump to latest");
  }

  #offer(words) {
    this.pill.lastChild.textContent = words;
    this.pill.hidden = false;
  }
}
