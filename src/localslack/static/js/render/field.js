// One interactive element inside one block: its value, its name for assistive technology and its way to the server.

import { freshId } from "../dom.js";
import { fieldKey } from "../surface.js";
import { plain } from "./text.js";

export class Field {
  /**
   * `dispatches`: a change is sent at once as a block action (elements outside input blocks, or with dispatch_action).
   * `label`: {id, text} of the visible label, if there is one; otherwise the placeholder names the control.
   */
  constructor({ surface, store, block, element, dispatches, label = null, describedBy = null, required = false }) {
    Object.assign(this, { surface, store, block, element, dispatches, label, describedBy, required });
    this.key = fieldKey(block.block_id, element.action_id);
    this.id = freshId("field");
  }

  get value() {
    return this.surface.value(this.key);
  }

  get name() {
    return this.label?.text ?? plain(this.element.placeholder, "") ?? "";
  }

  /** Remember a new value; `final` says that the person is done with it, so that it may be sent. */
  async set(value, { final = true } = {}) {
    const before = this.value;
    this.surface.set(this.key, value, this);
    if (!this.dispatches || !final) return;
    const outcome = await this.surface.act(this.block.block_id, this.element, value, { latest: true });
    if (outcome === "denied") this.surface.set(this.key, before, null);
  }

  /** Send an action that carries no form value (a button, a menu item). */
  press(payload) {
    return this.surface.act(this.block.block_id, this.element, payload);
  }

  /** Attributes of the control a person operates; tests find it by its data attributes. */
  attributes({ group = false } = {}) {
    const named = this.label ? { "aria-labelledby": this.label.id } : { "aria-label": this.name || this.element.action_id };
    return {
      id: group ? null : this.id,
      dataset: this.dataset(),
      ...named,
      "aria-describedby": this.describedBy,
      "aria-required": this.required ? "true" : null,
    };
  }

  dataset(extra = {}) {
    return { blockId: this.block.block_id ?? "", actionId: this.element.action_id ?? "", ...extra };
  }
}
