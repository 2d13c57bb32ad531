// A list of options with one of them active; keys may come from the list itself or from a text field beside it.

import { freshId, h } from "../dom.js";

const PAGE = 8;

export class ListBox {
  #entries = [];
  #active = -1;
  #typed = "";
  #typedAt = 0;

  /** `choose(entry)` is called with an entry of `show`; `holder` is the element that keeps the focus. */
  constructor({ label, multi = false, choose, holder = null }) {
    this.choose = choose;
    this.root = h("div", { class: "listbox", role: "listbox", "aria-label": label, "aria-multiselectable": multi, id: freshId("list"), tabIndex: -1 });
    this.holder = holder ?? this.root;
  }

  /** Entries are {heading} or {key, label, description, chosen, node?}; the active one stays if its key is still there. */
  show(entries, { message = null } = {}) {
    const activeKey = this.#entries[this.#active]?.key;
    this.#entries = entries.filter((entry) => entry.heading === undefined);
    const nodes = entries.map((entry) => (entry.heading === undefined ? this.#option(entry) : heading(entry)));
    this.root.replaceChildren(...nodes, ...(message ? [h("div", { class: "list-message", role: "status" }, message)] : []));
    const again = this.#entries.findIndex((entry) => entry.key === activeKey);
    const chosen = this.#entries.findIndex((entry) => entry.chosen);
    this.activate(again >= 0 ? again : Math.max(chosen, 0));
  }

  activate(index) {
    this.#entries[this.#active]?.node?.classList.remove("active");
    this.#active = this.#entries.length === 0 ? -1 : Math.min(Math.max(index, 0), this.#entries.length - 1);
    const entry = this.#entries[this.#active];
    if (entry) {
      entry.node.classList.add("active");
      entry.node.scrollIntoView({ block: "nearest" });
      this.holder.setAttribute("aria-activedescendant", entry.node.id);
    } else this.holder.removeAttribute("aria-activedescendant");
  }

  activateKey(key) {
    const index = this.#entries.findIndex((entry) => entry.key === key);
    if (index >= 0) this.activate(index);
  }

  chooseActive() {
    const entry = this.#entries[this.#active];
    if (entry) this.choose(entry);
  }

  /** Move or choose by a key; true when the key was used. `letters` jumps to options by their first letters. */
  key(event, { letters = false } = {}) {
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: PAGE, PageUp: -PAGE };
    if (event.isComposing || event.ctrlKey || event.metaKey) return false;
    if (event.key in steps) this.activate(this.#active + steps[event.key]);
    else if (letters && event.key === "Home") this.activate(0);
    else if (letters && event.key === "End") this.activate(this.#entries.length - 1);
    else if (event.key === "Enter" || (letters && event.key === " ")) this.chooseActive();
    else if (letters && event.key.length === 1) this.jump(event.key);
    else return false;
    event.preventDefault();
    event.stopPropagation();
    return true;
  }

  /** Go to the first option that starts with what was typed in the last moment. */
  jump(letter) {
    const now = Date.now();
    this.#typed = now - this.#typedAt < 800 ? this.#typed + letter : letter;
    this.#typedAt = now;
    const wanted = this.#typed.toLowerCase();
    const index = this.#entries.findIndex((entry) => entry.label.toLowerCase().startsWith(wanted));
    if (index >= 0) this.activate(index);
  }

  #option(entry) {
    entry.node = h(
      "div",
      {
        class: "option", role: "option", id: freshId("option"), "aria-selected": entry.chosen ? "true" : "false", dataset: { value: entry.key },
        // Keeps the focus where it is, so that a text field beside the list does not see a blur first.
        onmousedown: (event) => event.preventDefault(),
        onclick: () => this.choose(entry),
        onpointermove: () => this.activate(this.#entries.indexOf(entry)),
      },
      h("span", { class: "option-label" }, entry.label),
      entry.description && h("span", { class: "option-description" }, entry.description),
    );
    return entry.node;
  }
}

function heading(entry) {
  return h("div", { class: "list-heading", role: "presentation" }, entry.heading);
}
