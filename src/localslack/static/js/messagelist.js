// A scrolling list of messages: a channel's top level or one thread.

import { arrange, h } from "./dom.js";
import { MessageView, continues, isFresh } from "./message.js";
import { Scroller } from "./scroller.js";
import { dayName, dayOf, instant } from "./time.js";

const SHOWN_AT_FIRST = 150;
const MORE = 300;
const STATUS_TURN_MS = 2500;
const STOP_AFTER_MS = 2000;

export class MessageList {
  #views = new Map();
  #days = new Map();
  #limit = SHOWN_AT_FIRST;
  #statusWords = h("span", { class: "typing-text", role: "status", "aria-atomic": "true" });
  #stop = h("button", { type: "button", class: "button typing-stop", hidden: true, onclick: () => this.#pressStop() }, h("span", { class: "button-text" }, "Stop"));
  #status = h("div", { class: "typing", hidden: true }, h("span", { class: "typing-dots", "aria-hidden": "true" }, h("i"), h("i"), h("i")), this.#statusWords, this.#stop);
  #statusTimer = null;
  #stopTimer = null;
  #working = null;
  #earlier = h("button", { type: "button", class: "button quiet earlier", onclick: () => this.#showMore() }, "Show earlier messages");
  #divider = h("div", { class: "replies-line" }, h("span"));

  constructor(desk, { inThread }) {
    this.desk = desk;
    this.inThread = inThread;
    this.list = h("div", { class: "list", role: "log", "aria-live": "off", "aria-label": inThread ? "Replies" : "Messages" });
    this.scroller = new Scroller(this.list);
    this.root = this.scroller.root;
  }

  /** Start afresh for another channel or thread. */
  reset(channel, threadTs) {
    for (const view of this.#views.values()) view.dispose();
    this.#views.clear();
    this.#days.clear();
    this.#limit = SHOWN_AT_FIRST;
    this.channel = channel;
    this.threadTs = threadTs;
    this.list.replaceChildren();
    this.scroller.pill.hidden = true;
  }

  /** Draw these messages, oldest first; `opening` is shown when there are none. */
  show(messages, { opening = null } = {}) {
    const shown = messages.slice(-this.#limit);
    const nodes = messages.length > shown.length ? [this.#earlier] : [];
    let before = null;
    shown.forEach((message, index) => {
      const day = dayOf(instant(message.ts), this.desk.store.zone);
      const newDay = !before || day !== dayOf(instant(before.ts), this.desk.store.zone);
      if (newDay && !this.inThread) nodes.push(this.#day(day));
      const compact = !newDay && !(this.inThread && index < 2) && continues(this.desk.store, before, message);
      nodes.push(this.#message(message, compact));
      if (this.inThread && index === 0 && message.ts === this.threadTs) nodes.push(this.#repliesLine(messages.length - 1));
      before = message;
    });
    const outgoing = this.desk.store.outgoing.filter((sent) => sent.channel === this.channel && sent.threadTs === this.threadTs);
    nodes.push(...outgoing.map((sent) => this.#outgoing(sent)));
    if (opening && nodes.length === 0) nodes.push(opening);
    this.#prune(shown);
    arrange(this.list, [...nodes, this.#status]);
  }

  showStatus(status) {
    clearInterval(this.#statusTimer);
    clearTimeout(this.#stopTimer);
    const before = this.#working;
    this.#working = status ?? null;
    this.#status.hidden = !status;
    if (!status) {
      this.#statusWords.textContent = "";
      return;
    }
    if (before?.since !== status.since) this.#stop.disabled = false;
    const waits = status.since + STOP_AFTER_MS - Date.now();
    this.#stop.hidden = waits > 0 || !status.canStop;
    if (waits > 0 && status.canStop) this.#stopTimer = setTimeout(() => (this.#stop.hidden = false), waits);
    const turns = status.loadingMessages.length > 0 ? status.loadingMessages : [`${this.desk.store.app.name} ${status.text}`];
    let turn = 0;
    const say = () => {
      const words = turns[turn % turns.length];
      if (this.#statusWords.textContent !== words) this.#statusWords.textContent = words;
      turn += 1;
    };
    say();
    if (turns.length > 1) this.#statusTimer = setInterval(say, STATUS_TURN_MS);
  }

  #pressStop() {
    this.#stop.disabled = true;
    this.desk.stop(this.#working.channel, this.#working.threadTs);
  }

  node(ts) {
    return this.#views.get(ts)?.root ?? null;
  }

  #message(message, compact) {
    let view = this.#views.get(message.ts);
    if (!view) {
      view = new MessageView(this.desk, this.channel, { inThread: this.inThread });
      this.#views.set(message.ts, view);
    }
    view.update(message, { compact, fresh: isFresh(this.desk.store, this.channel, message) });
    return view.root;
  }

  #prune(shown) {
    const kept = new Set(shown.map((message) => message.ts));
    for (const [ts, view] of this.#views) {
      if (kept.has(ts)) continue;
      view.dispose();
      this.#views.delete(ts);
    }
  }

  #day(day) {
    const name = dayName(day, this.desk.store.zone);
    if (!this.#days.has(day)) this.#days.set(day, h("div", { class: "day", role: "separator" }, h("span")));
    const node = this.#days.get(day);
    node.setAttribute("aria-label", name);
    if (node.firstChild.textContent !== name) node.firstChild.textContent = name;
    return node;
  }

  #repliesLine(count) {
    this.#divider.firstChild.textContent = count === 0 ? "No replies yet" : count === 1 ? "1 reply" : `${count} replies`;
    return this.#divider;
  }

  #outgoing(sent) {
    sent.node ??= h("article", { class: "message compact outgoing" });
    const failed = sent.state === "failed";
    sent.node.classList.toggle("failed", failed);
    sent.node.setAttribute("aria-busy", String(!failed));
    const help = failed
      ? h(
          "p",
          { class: "not-sent", role: "alert" },
          sent.error,
          " ",
          h("button", { type: "button", class: "link", onclick: () => this.desk.resend(sent) }, "Try again"),
          h("button", { type: "button", class: "link", onclick: () => this.desk.discard(sent) }, "Discard"),
        )
      : null;
    sent.node.replaceChildren(h("div", { class: "gutter" }), h("div", { class: "body" }, h("div", { class: "content" }, h("div", { class: "text" }, sent.text)), ...(help ? [help] : [])));
    return sent.node;
  }

  #showMore() {
    this.#limit += MORE;
    const { box } = this.scroller;
    const fromEnd = box.scrollHeight - box.scrollTop;
    this.desk.redraw();
    box.scrollTop = box.scrollHeight - fromEnd;
  }
}
