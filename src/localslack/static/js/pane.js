// The day pane: a page of the calendar's own, shown beside the conversation or, on narrow screens, as a tab.

import { h, icon } from "./dom.js";

const WIDE = window.matchMedia("(min-width: 1200px)");

export class Pane {
  #frame = null;

  constructor(desk, changed) {
    this.desk = desk;
    this.changed = changed;
    this.root = document.getElementById("pane");
    this.isOpen = localStorage.getItem("day pane") !== "closed";
    WIDE.addEventListener("change", () => this.draw());
  }

  toggle() {
    this.isOpen = !this.isOpen;
    localStorage.setItem("day pane", this.isOpen ? "open" : "closed");
    this.changed();
    document.querySelector(".pane-toggle")?.focus({ preventScroll: true });
  }

  draw() {
    const { store, route } = this.desk;
    const shown = Boolean(store.paneUrl) && (WIDE.matches ? this.isOpen : route.tab === "day");
    this.root.hidden = !shown;
    document.body.dataset.pane = shown ? "open" : "closed";
    // Loaded when first seen and then kept, so that hiding and showing it does not start it afresh.
    if (shown && this.#frame?.getAttribute("src") !== store.paneUrl) this.#load(store.paneUrl);
  }

  #load(url) {
    this.#frame = h("iframe", { src: url, title: "Your day on the calendar", referrerpolicy: "no-referrer" });
    this.root.replaceChildren(
      h(
        "header",
        { class: "side-head" },
        h("h2", {}, "Day"),
        h("a", { class: "tool", href: url, target: "_blank", rel: "noopener noreferrer", "aria-label": "Open the day in its own tab", title: "Open in its own tab" }, icon("open")),
        h("button", { type: "button", class: "tool pane-close", "aria-label": "Hide the day", title: "Hide the day", onclick: () => this.toggle() }, icon("close")),
      ),
      this.#frame,
    );
  }
}
