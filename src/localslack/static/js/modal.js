// The modal stack: the top view in one dialog, with its form, its errors and its way back.

import { h, icon } from "./dom.js";
import { closePopup } from "./controls/popup.js";
import { BlockList } from "./render/blocklist.js";
import { plain } from "./render/text.js";
import { problems } from "./validation.js";

const TOUCH = window.matchMedia("(pointer: coarse)");

export class ModalHost {
  #view = null;
  #surface = null;
  #blocks = null;
  #stack = [];
  #sending = false;
  #cameFrom = null;

  constructor({ store, api, reading, surfaces, afterClose }) {
    Object.assign(this, { store, api, reading, surfaces, afterClose });
    this.title = h("h2", { id: "modal-title", tabIndex: -1 });
    this.body = h("div", { class: "modal-body" });
    this.problem = h("p", { class: "modal-problem", role: "alert", hidden: true });
    this.submit = h("button", { type: "submit", class: "button primary" }, h("span", { class: "button-text" }));
    this.cancel = h("button", { type: "button", class: "button", onclick: () => this.#leave(false) });
    this.back = h("button", { type: "button", class: "tool", "aria-label": "Back", title: "Back", onclick: () => this.#leave(false) }, icon("back"));
    this.form = h(
      "form",
      { class: "modal-form", novalidate: true, onsubmit: (event) => this.#send(event), onkeydown: (event) => this.#pressed(event) },
      h("header", { class: "modal-head" }, this.back, this.title, h("button", { type: "button", class: "tool", "aria-label": "Close", title: "Close", onclick: () => this.#leave(true) }, icon("close"))),
      this.body,
      h("footer", { class: "modal-foot" }, this.problem, h("div", { class: "modal-buttons" }, this.cancel, this.submit)),
    );
    this.dialog = h("dialog", { class: "modal", "aria-labelledby": "modal-title" }, this.form);
    this.dialog.addEventListener("cancel", (event) => {
      event.preventDefault();
      this.#leave(false);
    });
    this.dialog.addEventListener("pointerdown", (event) => {
      if (event.target === this.dialog && !this.#surface.touched) this.#leave(false);
    });
    document.body.append(this.dialog);
  }

  get isOpen() {
    return this.dialog.open;
  }

  /** Show this stack of views, bottom first; nothing is drawn anew that is already there. */
  show(stack) {
    for (const gone of this.#stack) if (!stack.some((view) => view.id === gone.id)) this.surfaces.forgetView(gone.id);
    this.#stack = stack;
    const top = stack.at(-1);
    if (!top) return this.#close();
    const isNew = top.id !== this.#view?.id;
    if (isNew) this.#enter(top);
    else this.#surface.declare(top.blocks, top.state?.values);
    this.#view = top;
    this.title.textContent = plain(top.title);
    this.cancel.textContent = plain(top.close, top.submit ? "Cancel" : "Close");
    this.submit.firstChild.textContent = plain(top.submit, "Submit");
    this.submit.hidden = !top.submit && !top.blocks.some((block) => block.type === "input");
    this.back.hidden = stack.length < 2;
    this.#blocks.render(top.blocks);
    if (!this.dialog.open) {
      this.#cameFrom = document.activeElement;
      this.dialog.showModal();
    }
    if (!isNew) return;
    this.body.scrollTop = 0; // Only what is shown can be scrolled; a form that is shown again is where it was left.
    this.#focusFirst();
  }

  #enter(view) {
    this.#blocks?.dispose();
    this.#surface = this.surfaces.ofView(view);
    this.#blocks = new BlockList(this.#surface, this.store);
    this.body.replaceChildren(this.#blocks.root);
    this.#complain("");
  }

  #close() {
    if (!this.dialog.open) return;
    this.#blocks.dispose();
    this.#blocks = null;
    this.#view = null;
    this.dialog.close();
    const from = this.#cameFrom;
    if (from?.isConnected && from !== document.body) from.focus({ preventScroll: true });
    else this.afterClose();
  }

  // On a touch screen a focused field would push the keyboard over the form before it was read.
  #focusFirst() {
    const wanted = this.body.querySelector("[autofocus]");
    const first = this.body.querySelector("input:not([type=hidden]), textarea, .select, button");
    const target = wanted ?? (TOUCH.matches ? this.title : (first ?? this.submit));
    target.focus({ preventScroll: target !== wanted });
  }

  #pressed(event) {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      this.form.requestSubmit();
    } else if (event.key === "Enter" && event.isComposing) event.preventDefault();
  }

  async #send(event) {
    event.preventDefault();
    if (this.#sending || this.submit.hidden) return;
    closePopup();
    const errors = problems(this.#surface);
    if (Object.keys(errors).length > 0) return this.#showErrors(errors);
    this.#busy(true);
    this.#complain("");
    const view = this.#view;
    const answer = await this.#ask(() => this.api.submitView(view.id, this.#surface.state()));
    this.#busy(false);
    if (!answer.ok) return this.#complain(answer.error);
    if (view.id === this.#view?.id) this.#showErrors(answer.errors ?? {});
  }

  #showErrors(errors) {
    this.#surface.setErrors(errors);
    const known = new Set(this.#view.blocks.map((block) => block.block_id));
    this.#complain(Object.entries(errors).filter(([blockId]) => !known.has(blockId)).map(([, sentence]) => sentence).join(" "));
    const first = this.#view.blocks.find((block) => block.block_id in errors);
    const place = first && [...this.body.querySelectorAll(".block")].find((node) => node.dataset.block === first.block_id);
    if (!place) return;
    (place.querySelector("[data-action-id]") ?? place).focus({ preventScroll: true });
    place.scrollIntoView({ block: "nearest" });
  }

  #complain(sentence) {
    this.problem.textContent = sentence;
    this.problem.hidden = sentence === "";
  }

  #busy(on) {
    this.#sending = on;
    this.submit.setAttribute("aria-busy", String(on));
  }

  // The form goes away at once; the stack that the server then tells is the truth.
  async #leave(clear) {
    if (this.#sending) return;
    const view = this.#view;
    this.show(clear ? [] : this.#stack.slice(0, -1));
    await this.#ask(() => this.api.closeView(view.id, clear));
  }

  /** Show the stack as the server has it now. */
  async read() {
    await this.#ask(() => this.api.modals());
  }

  // A refusal brings no stack, and what is wrong with the fields leaves it as it is.
  #ask(ask) {
    return this.reading.latest("modals", ask, ({ stack, errors }) => stack && !errors && this.show(stack));
  }
}
