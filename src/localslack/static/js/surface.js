// The form state of one place that holds blocks: a message, a modal or the Home tab.
// Values live here and not in the DOM, so redrawing blocks never loses what a person typed or chose.

import { confirmDialog } from "./controls/ask.js";

const SETTLE_MS = 350;
const BUSY_MS = 1500;
const ERROR_MS = 9000;

export const fieldKey = (blockId, actionId) => `${blockId}\n${actionId}`;

export class Surface {
  #values = new Map();
  #fields = new Map();
  #listeners = new Set();
  #waiting = new Map();

  /** `ref` is what the server calls this place: {type: "message", channel, ts}, {type: "view", view_id} or {type: "home"}. */
  constructor(ref, api) {
    this.ref = ref;
    this.api = api;
    this.errors = new Map();
    this.invalid = new Map();
    this.notes = new Map();
    this.busy = new Set();
    this.locked = new Set();
    this.lastActed = 0;
  }

  /**
   * Blocks as they are now. A value stays while block_id, action_id and type stay; others start from what the server
   * remembers of them (`state.values` of a view), else from their initial value.
   */
  declare(blocks, remembered = {}) {
    const fields = new Map(walk(blocks).map((field) => [fieldKey(field.blockId, field.element.action_id), field]));
    for (const key of this.#values.keys()) if (!fields.has(key)) this.#values.delete(key);
    for (const [key, { blockId, element }] of fields) {
      const before = this.#fields.get(key)?.element;
      const kept = this.#values.get(key);
      const untouched = kept === undefined || (!kept.touched && this.ref.type !== "view");
      if (before?.type !== element.type || untouched) this.#values.set(key, { value: known(remembered, blockId, element) ?? initialValue(element), touched: false });
    }
    this.#fields = fields;
    this.busy.clear();
  }

  /** The value of a field in the shape of Slack's `state.values`, without its type. */
  value(key) {
    return this.#values.get(key)?.value ?? {};
  }

  set(key, value, origin) {
    this.#values.set(key, { value, touched: true });
    const [blockId] = key.split("\n");
    if (this.errors.delete(blockId)) this.tell({ blockId, what: "state" });
    this.tell({ blockId, what: "value", origin });
  }

  get touched() {
    return [...this.#values.values()].some((held) => held.touched);
  }

  fields() {
    return [...this.#fields.values()];
  }

  /** All current values as `{block_id: {action_id: {type, ...}}}`. */
  state() {
    const state = Object.create(null);
    for (const [key, { blockId, element }] of this.#fields) {
      state[blockId] ??= Object.create(null);
      state[blockId][element.action_id] = { type: element.type, ...this.value(key) };
    }
    return state;
  }

  /**
   * Send one block action and answer "sent", "failed", "denied" (the person said no) or "ignored" (the same control is
   * still on its way: a double click). With `latest`, a change made meanwhile is sent as soon as the first is answered.
   */
  async act(blockId, element, payload, { latest = false } = {}) {
    const key = fieldKey(blockId, element.action_id);
    if (this.locked.has(key)) {
      if (latest) this.#waiting.set(key, () => this.act(blockId, element, payload, { latest }));
      return "ignored";
    }
    if (element.confirm && !(await confirmDialog(element.confirm))) return "denied";
    this.locked.add(key);
    this.busy.add(key);
    this.notes.delete(blockId);
    this.lastActed = Date.now();
    this.tell({ blockId, what: "state" });
    const action = { type: element.type, block_id: blockId, action_id: element.action_id, ...payload };
    const [answer] = await Promise.all([this.api.act(this.ref, action, this.state()), pause(SETTLE_MS)]);
    this.locked.delete(key);
    if (answer.ok) setTimeout(() => this.#rest(key, blockId), BUSY_MS - SETTLE_MS);
    else {
      this.#rest(key, blockId);
      this.note(blockId, answer.error);
    }
    const next = this.#waiting.get(key);
    if (this.#waiting.delete(key)) next();
    return answer.ok ? "sent" : "failed";
  }

  /** Something of the app's arrived that this surface was waiting for: nothing here is busy any longer. */
  settle() {
    for (const key of [...this.busy]) if (!this.locked.has(key)) this.#rest(key, key.split("\n")[0]);
  }

  /** A sentence under one block that goes away by itself. */
  note(blockId, sentence) {
    this.notes.set(blockId, sentence);
    this.tell({ blockId, what: "state" });
    setTimeout(() => {
      if (this.notes.get(blockId) === sentence && this.notes.delete(blockId)) this.tell({ blockId, what: "state" });
    }, ERROR_MS);
  }

  setErrors(errors) {
    this.errors = new Map(Object.entries(errors ?? {}));
    this.tell({ blockId: null, what: "state" });
  }

  /** What stands in a field cannot be a value; it blocks a submit until it is mended. */
  refuse(blockId, sentence) {
    this.invalid.set(blockId, sentence);
    this.errors.set(blockId, sentence);
    this.tell({ blockId, what: "state" });
  }

  listen(listener) {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  tell(change) {
    for (const listener of this.#listeners) listener(change);
  }

  #rest(key, blockId) {
    if (this.busy.delete(key)) this.tell({ blockId, what: "state" });
  }
}

const pause = (milliseconds) => new Promise((done) => setTimeout(done, milliseconds));

/** Whether this can be a block at all; what is none is left out everywhere. */
export const isBlock = (given) => typeof given === "object" && given !== null;

/** Every element that holds a value, as {blockId, block, element}. */
function walk(blocks) {
  const found = [];
  for (const block of blocks.filter(isBlock)) {
    const elements = [block.element, block.accessory, ...(Array.isArray(block.elements) ? block.elements : [])];
    for (const element of elements) {
      if (element?.action_id && initialValue(element)) found.push({ blockId: block.block_id, block, element });
    }
  }
  return found;
}

const INITIAL = new Map(Object.entries({
  plain_text_input: (e) => ({ value: e.initial_value ?? null }),
  email_text_input: (e) => ({ value: e.initial_value ?? null }),
  url_text_input: (e) => ({ value: e.initial_value ?? null }),
  number_input: (e) => ({ value: e.initial_value ?? null }),
  static_select: (e) => ({ selected_option: e.initial_option ?? null }),
  external_select: (e) => ({ selected_option: e.initial_option ?? null }),
  users_select: (e) => ({ selected_user: e.initial_user ?? null }),
  conversations_select: (e) => ({ selected_conversation: e.initial_conversation ?? null }),
  channels_select: (e) => ({ selected_channel: e.initial_channel ?? null }),
  multi_static_select: (e) => ({ selected_options: e.initial_options ?? [] }),
  multi_external_select: (e) => ({ selected_options: e.initial_options ?? [] }),
  multi_users_select: (e) => ({ selected_users: e.initial_users ?? [] }),
  multi_conversations_select: (e) => ({ selected_conversations: e.initial_conversations ?? [] }),
  multi_channels_select: (e) => ({ selected_channels: e.initial_channels ?? [] }),
  datepicker: (e) => ({ selected_date: e.initial_date ?? null }),
  timepicker: (e) => ({ selected_time: e.initial_time ?? null }),
  datetimepicker: (e) => ({ selected_date_time: e.initial_date_time ?? null }),
  checkboxes: (e) => ({ selected_options: e.initial_options ?? [] }),
  radio_buttons: (e) => ({ selected_option: e.initial_option ?? null }),
}));

function initialValue(element) {
  return INITIAL.get(element.type)?.(element);
}

function known(remembered, blockId, element) {
  const { type, ...value } = remembered[blockId]?.[element.action_id] ?? {};
  return type === element.type ? value : null;
}
