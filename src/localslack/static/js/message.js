// One message: who, when, what, and what can be done with it.

import { avatar } from "./avatar.js";
import { fragment, h, icon } from "./dom.js";
import { openMenu } from "./controls/menu.js";
import { BlockList } from "./render/blocklist.js";
import { mrkdwn } from "./render/mrkdwn.js";
import { threadKey } from "./store.js";
import { ago, clockTime, fullTime, instant } from "./time.js";

export class MessageView {
  #blocks = null;
  #slots = new Map();

  /** `desk` carries the store, the surfaces and what can be done from a message (see desk.js). */
  constructor(desk, channel, { inThread }) {
    this.desk = desk;
    this.channel = channel;
    this.inThread = inThread;
    const slot = (name, className) => {
      const node = h("div", { class: className });
      this.#slots.set(name, { node, print: null });
      return node;
    };
    this.content = h("div", { class: "content" });
    const body = h("div", { class: "body" }, slot("mark", "mark"), slot("head", "head"), this.content, slot("edited", "edited"), slot("summary", "summary"));
    this.root = h("article", { class: "message", tabIndex: -1 }, slot("gutter", "gutter"), body, slot("tools", "tools"));
  }

  dispose() {
    this.#blocks?.dispose();
  }

  /** Draw the message as it is now; `compact` leaves out the author, who is the same as in the message above. */
  update(message, { compact, fresh }) {
    const { zone } = this.desk.store;
    const author = this.#author(message);
    this.root.dataset.ts = message.ts;
    this.root.setAttribute("aria-label", `${author.real_name || author.name}, ${clockTime(instant(message.ts), zone)}`);
    this.root.classList.toggle("compact", compact);
    this.root.classList.toggle("ephemeral", message.ephemeral === true);
    this.#fill("gutter", [compact, author], () => (compact ? this.#time(message) : avatar(author)));
    this.#fill("mark", message.ephemeral, () => (message.ephemeral ? "Only visible to you" : null));
    this.#fill("head", [compact, author], () => (compact ? null : this.#head(message, author)));
    this.#drawContent(message);
    this.#fill("edited", [message.edited, message.blocks?.length], () => this.#edited(message));
    const { reply_count: count, latest_reply: latest, reply_users: users } = message;
    this.#fill("summary", [count, latest, users, fresh], () => this.#summary(message, fresh));
    this.#fill("tools", message, () => this.#tools(message));
  }

  // A part that has not changed keeps its nodes, and with them the focus.
  #fill(name, data, make) {
    const slot = this.#slots.get(name);
    const print = JSON.stringify(data) ?? "";
    if (slot.print === print) return;
    slot.print = print;
    const made = make();
    slot.node.replaceChildren(...(made === null ? [] : [made]));
    slot.node.hidden = made === null;
  }

  #drawContent(message) {
    const { store, surfaces } = this.desk;
    if (message.blocks?.length) {
      const surface = surfaces.ofMessage(this.channel, message);
      if (!this.#blocks) {
        this.#blocks = new BlockList(surface, store);
        this.content.replaceChildren(this.#blocks.root);
      }
      this.#blocks.render(message.blocks);
      return;
    }
    this.#blocks?.dispose();
    this.#blocks = null;
    const words = message.text ? h("div", { class: "text" }, mrkdwn(store, message.text)) : null;
    this.content.replaceChildren(...[words, ...this.#attachments(message), ...this.#files(message)].filter(Boolean));
  }

  #attachments(message) {
    return (message.attachments ?? []).map(({ fallback, text, title }) => h("blockquote", { class: "attachment" }, mrkdwn(this.desk.store, [title, text ?? fallback].filter(Boolean).join("\n"))));
  }

  #files(message) {
    return (message.files ?? []).map(({ id, name, title }) => {
      const href = `/files/${encodeURIComponent(id)}`;
      return h("div", { class: "file" }, h("a", { href, download: name, class: "file-link" }, title ?? name));
    });
  }

  #author(message) {
    const known = this.desk.store.users.get(message.user);
    if (known) return known;
    return { real_name: message.username ?? message.bot_profile?.name ?? "Workspace", is_bot: Boolean(message.bot_id), color: "6b7280" };
  }

  #head(message, author) {
    return fragment(h("span", { class: "author" }, author.real_name || author.name), author.is_bot && h("span", { class: "badge" }, "App"), this.#time(message));
  }

  #time(message) {
    const date = instant(message.ts);
    const { zone } = this.desk.store;
    return h("time", { class: "when", datetime: date.toISOString(), title: fullTime(date, zone) }, clockTime(date, zone));
  }

  // An app rewrites its messages with blocks all day long; marking that would say nothing to anybody.
  #edited(message) {
    const shown = message.edited && !(this.desk.store.isApp(message) && message.blocks?.length);
    return shown ? h("span", { title: `Edited ${ago(instant(message.edited.ts), this.desk.store.zone)}` }, "(edited)") : null;
  }

  #summary(message, fresh) {
    const { store } = this.desk;
    if (this.inThread || !message.reply_count) return null;
    const count = message.reply_count === 1 ? "1 reply" : `${message.reply_count} replies`;
    return h(
      "button",
      { type: "button", class: "thread-summary", onclick: () => this.desk.openThread(message.ts), dataset: { thread: message.ts } },
      h("span", { class: "faces" }, (message.reply_users ?? []).slice(0, 3).map((id) => avatar(store.users.get(id), "small"))),
      h("span", { class: "count" }, count),
      h("span", { class: "last" }, message.latest_reply ? `Last reply ${ago(instant(message.latest_reply), store.zone)}` : ""),
      fresh && h("span", { class: "dot", role: "img", "aria-label": "New replies" }),
      icon("chevron"),
    );
  }

  #tools(message) {
    if (message.subtype === "tombstone") return null;
    const items = this.desk.messageMenu(this.channel, message, { inThread: this.inThread });
    const more = h(
      "button",
      {
        type: "button", class: "tool", "aria-label": "More about this message", title: "More", "aria-haspopup": "menu", "aria-expanded": "false",
        onclick: () => openMenu(more, items, { label: "Message" }),
      },
      icon("more"),
    );
    // The menu holds "Reply in thread" too, so that each message is only one stop of the Tab key.
    const reply = !this.inThread && !message.ephemeral && h("button", { type: "button", class: "tool", tabIndex: -1, "aria-label": "Reply in thread", title: "Reply in thread", onclick: () => this.desk.openThread(message.ts) }, icon("reply"));
    return fragment(reply, more);
  }
}

/** Whether two neighbouring messages read as one: same author, within five minutes, nothing between them. */
export function continues(store, before, message) {
  if (!before || before.user !== message.user || before.bot_id !== message.bot_id) return false;
  if (before.ephemeral || message.ephemeral || before.reply_count || before.subtype || message.subtype) return false;
  return Number(message.ts) - Number(before.ts) < 300;
}

export const isFresh = (store, channel, message) => store.freshThreads.has(threadKey(channel, message.ts));
