// A drawn list of blocks that follows its surface: only blocks that really changed are drawn anew.

import { arrange, h } from "../dom.js";
import { closePopupOf } from "../controls/popup.js";
import { fieldKey, isBlock } from "../surface.js";
import { drawBlock } from "./blocks.js";

export class BlockList {
  #drawn = [];
  #stop;

  constructor(surface, store) {
    this.surface = surface;
    this.store = store;
    this.root = h("div", { class: "blocks" });
    this.#stop = surface.listen((change) => this.#follow(change));
  }

  dispose() {
    closePopupOf(this.root);
    this.#stop();
  }

  /** Show these blocks; the same block keeps its node, its focus and its caret. */
  render(blocks) {
    const known = new Map(this.#drawn.map((drawn) => [drawn.print, drawn]));
    const focus = this.#focused();
    const next = blocks.filter(isBlock).map((block, index) => {
      const print = `${block.block_id ?? index} ${JSON.stringify(block)}`;
      const same = known.get(print);
      known.delete(print);
      return same ?? { print, block, node: this.#draw(block) };
    });
    for (const gone of known.values()) closePopupOf(gone.node);
    this.#drawn = next;
    arrange(this.root, next.map(({ node }) => node));
    this.#showState();
    this.#refocus(focus);
  }

  #draw(block) {
    return drawBlock({ block, store: this.store, surface: this.surface });
  }

  #follow({ what, blockId, origin }) {
    if (what !== "value") return this.#showState();
    for (const drawn of this.#drawn) {
      if (drawn.block.block_id !== blockId || (origin && this.#owns(origin))) continue;
      const focus = this.#focused();
      const node = this.#draw(drawn.block);
      closePopupOf(drawn.node);
      drawn.node.replaceWith(node);
      drawn.node = node;
      this.#showState();
      this.#refocus(focus);
    }
  }

  #owns(field) {
    return this.root.querySelector(`#${field.id}`) !== null;
  }

  /** Errors, passing notes and what is on its way, put onto nodes that stay as they are. */
  #showState() {
    const { errors, notes, busy } = this.surface;
    for (const { block, node } of this.#drawn) {
      const sentence = errors.get(block.block_id) ?? notes.get(block.block_id) ?? "";
      const place = node.querySelector(":scope > .block-error");
      if (place.textContent !== sentence) place.textContent = sentence;
      place.hidden = sentence === "";
      for (const control of node.querySelectorAll("[data-action-id]")) {
        const isBusy = busy.has(fieldKey(block.block_id, control.dataset.actionId));
        if (isBusy) control.setAttribute("aria-busy", "true");
        else control.removeAttribute("aria-busy");
        if (errors.has(block.block_id)) control.setAttribute("aria-invalid", "true");
        else control.removeAttribute("aria-invalid");
      }
    }
  }

  #focused() {
    const held = document.activeElement;
    if (!this.root.contains(held) || !held.dataset.actionId) return null;
    const { blockId, actionId, value, part } = held.dataset;
    const caret = "selectionStart" in held ? [held.selectionStart, held.selectionEnd] : null;
    return { held, blockId, actionId, value: value ?? held.value, part, caret };
  }

  #refocus(focus) {
    if (!focus || focus.held.isConnected) return;
    const alike = [...this.root.querySelectorAll("[data-action-id]")].filter(({ dataset }) => dataset.actionId === focus.actionId && dataset.part === focus.part);
    const again = alike.find((node) => node.dataset.blockId === focus.blockId && (node.dataset.value ?? node.value) === focus.value) ?? alike[0];
    // A control that is gone hands the focus to its message or form, so that Tab goes on from there.
    if (!again) return this.root.closest("[tabindex]")?.focus({ preventScroll: true });
    again.focus({ preventScroll: true });
    if (focus.caret?.[0] !== null && focus.caret && "setSelectionRange" in again && again.type !== "date") again.setSelectionRange(...focus.caret);
  }
}
