// Where a person writes: Enter sends, Shift+Enter breaks the line, `/` offers the app's commands.

import { freshId, h, icon } from "./dom.js";
import { ListBox } from "./controls/listbox.js";

export class Composer {
  #key = "";
  #suggesting = false;

  /** `send(text)` answers a sentence when it did not work; `editLast()` says whether there was something to edit. */
  constructor({ store, inThread, send, editLast }) {
    this.store = store;
    this.inThread = inThread;
    this.send = send;
    this.editLast = editLast;
    this.list = new ListBox({ label: "Commands", choose: (entry) => this.#complete(entry), holder: null });
    this.box = h("textarea", {
      class: "composer-text", rows: 1, id: inThread ? "thread-composer" : "composer", enterkeyhint: "send", autocomplete: "off",
      role: "combobox", "aria-autocomplete": "list", "aria-expanded": "false", "aria-controls": this.list.root.id,
      oninput: () => this.#typed(), onkeydown: (event) => this.#pressed(event), onblur: () => this.#hideSuggestions(),
    });
    this.list.holder = this.box;
    this.button = h("button", { type: "button", class: "send", "aria-label": "Send", title: "Send (Enter)", disabled: true, onclick: () => this.#submit() }, icon("send"));
    this.problem = h("p", { class: "composer-problem", role: "alert", hidden: true });
    this.suggestions = h("div", { class: "suggestions", hidden: true }, this.list.root);
    this.hintId = freshId("hint");
    this.root = h(
      "div",
      { class: "composer" },
      this.suggestions,
      this.problem,
      h("div", { class: "composer-box" }, this.box, this.button),
      h("p", { class: "composer-hint", id: this.hintId }, inThread ? "Enter to send, Shift + Enter for a new line" : "Enter to send, Shift + Enter for a new line, / for commands"),
    );
    this.box.setAttribute("aria-describedby", this.hintId);
  }

  /** Turn to another conversation; what was written there before is there again. */
  turnTo(key, label) {
    this.box.placeholder = label;
    this.box.setAttribute("aria-label", label);
    if (key === this.#key) return;
    this.#key = key;
    this.box.value = sessionStorage.getItem(`draft ${key}`) ?? "";
    this.say("");
    this.#grow();
  }

  get isEmpty() {
    return this.box.value.trim() === "";
  }

  focus() {
    this.box.focus({ preventScroll: true });
  }

  /** Put text into the box, ready to be changed and sent. */
  fill(text) {
    this.box.value = text;
    this.#keep();
    this.focus();
  }

  /** A sentence above the box; an empty one takes it away. */
  say(sentence) {
    this.problem.textContent = sentence;
    this.problem.hidden = sentence === "";
  }

  #typed() {
    this.say("");
    this.#keep();
    this.#suggest();
  }

  #keep() {
    this.#grow();
    if (this.isEmpty) sessionStorage.removeItem(`draft ${this.#key}`);
    else sessionStorage.setItem(`draft ${this.#key}`, this.box.value);
  }

  #grow() {
    this.button.disabled = this.isEmpty;
    this.box.style.height = "auto";
    this.box.style.height = `${Math.min(this.box.scrollHeight, 220)}px`;
  }

  #pressed(event) {
    if (event.isComposing) return;
    if (this.#suggesting && event.key === "Escape") {
      event.preventDefault();
      event.stopPropagation();
      this.#hideSuggestions();
    } else if (this.#suggesting && event.key === "Tab" && !event.shiftKey) {
      event.preventDefault();
      this.list.chooseActive();
    } else if (this.#suggesting && !this.#isCommand(event) && this.list.key(event)) return;
    else if (event.key === "Enter" && !event.shiftKey) {
      event.preventDefault();
      this.#submit();
    } else if (event.key === "ArrowUp" && this.box.value === "" && this.editLast()) event.preventDefault();
  }

  // A command written out whole is sent by Enter, also while longer ones are still on offer.
  #isCommand(event) {
    return event.key === "Enter" && this.store.app.commands.some(({ command }) => command === this.box.value);
  }

  #suggest() {
    const typed = this.box.value;
    const found = /^\/\S*$/.test(typed) ? this.store.app.commands.filter(({ command }) => command.startsWith(typed.toLowerCase())) : [];
    const exact = found.length === 1 && found[0].command === typed;
    if (found.length === 0 || exact) return this.#hideSuggestions();
    const entries = found.map(({ command, description, usage_hint: usage }) => ({ key: command, label: [command, usage].filter(Boolean).join(" "), description }));
    this.#suggesting = true;
    this.suggestions.hidden = false;
    this.box.setAttribute("aria-expanded", "true");
    this.list.show(entries, { message: this.inThread ? "Commands work in the conversation, not inside a thread." : null });
  }

  #hideSuggestions() {
    this.#suggesting = false;
    this.suggestions.hidden = true;
    this.box.setAttribute("aria-expanded", "false");
    this.box.removeAttribute("aria-activedescendant");
  }

  #complete({ key }) {
    this.#hideSuggestions();
    this.fill(`${key} `);
  }

  async #submit() {
    if (this.isEmpty) return;
    const text = this.box.value.trim();
    const key = this.#key;
    this.box.value = "";
    this.#keep();
    this.#hideSuggestions();
    this.say("");
    const problem = await this.send(text);
    if (!problem || key !== this.#key) return;
    // The words come back, unless something new was begun meanwhile.
    if (this.isEmpty) this.fill(text);
    this.say(problem);
  }
}
