// The app's Home tab.

import { h } from "./dom.js";
import { BlockList } from "./render/blocklist.js";

export class Home {
  #blocks = null;

  constructor(desk) {
    this.desk = desk;
    this.root = document.getElementById("home");
    this.empty = h("div", { class: "opening" }, h("p", { class: "opening-words" }, "Nothing here yet. What the app has to show you at a glance will appear here."));
    this.page = h("div", { class: "home-page" }, this.empty);
    this.root.append(this.page);
  }

  draw() {
    const view = this.desk.store.homeView;
    if (!view) return;
    const surface = this.desk.surfaces.ofHome(view);
    if (!this.#blocks) {
      this.#blocks = new BlockList(surface, this.desk.store);
      this.page.replaceChildren(this.#blocks.root);
    }
    this.#blocks.render(view.blocks);
  }
}
