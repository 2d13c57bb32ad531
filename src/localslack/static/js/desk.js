// What a person can do from anywhere on the page: go somewhere, say something, act on a message.

import { askText, ask } from "./controls/ask.js";
import { announce, toast } from "./announce.js";
import { isSeen } from "./dom.js";
import { unescape } from "./render/tokens.js";
import { threadKey } from "./store.js";

const JUST_NOW_MS = 8000;
const SHORTCUT_REST_MS = 1200;
const POINTER = window.matchMedia("(pointer: fine)");

export class Desk {
  #actedAt = 0;
  #leftThreads = new Set();
  #pressedShortcuts = new Set();

  constructor({ store, api, surfaces }) {
    Object.assign(this, { store, api, surfaces });
    this.route = null;
    this.composers = {};
    this.unseen = null;
  }

  // Going places

  goTo(channel) {
    this.route.go({ channel, tab: "messages" });
  }

  /** Go to a tab; a thread that would cover the message that came meanwhile is closed. */
  openTab(tab) {
    const covered = this.unseen === "message" && !POINTER.matches;
    this.route.go(tab === "messages" && covered ? { tab, thread: null } : { tab });
  }

  openThread(ts, { byPerson = true } = {}) {
    this.#leftThreads.delete(ts);
    this.route.go({ thread: ts, tab: "messages" });
    if (byPerson && POINTER.matches) this.composers.thread.focus();
    else if (!isSeen(document.activeElement)) document.querySelector(".thread-back").focus();
  }

  closeThread() {
    const { thread } = this.route;
    this.#leftThreads.add(thread);
    this.route.go({ thread: null });
    // On a touch screen the focus of a box to write in brings up the keyboard.
    if (POINTER.matches) this.composers.channel.focus();
    else document.querySelector(`.thread-summary[data-thread="${CSS.escape(thread)}"]`)?.focus({ preventScroll: true });
  }

  /** Ask the app to stop what it is doing in a thread; it alone ends its status. */
  async stop(channel, threadTs) {
    const answer = await this.api.stop(channel, threadTs);
    if (!answer.ok) toast(answer.error);
  }

  async renameThread() {
    const { channel, thread } = this.route;
    const title = await askText({ title: "Rename this thread", text: this.store.title(channel, thread) ?? "", yes: "Rename" });
    if (title) this.#complain(await this.api.rename(channel, thread, title));
  }

  becomePerson(id) {
    const address = new URL(location.href);
    address.searchParams.set("user", id);
    address.hash = "";
    location.assign(address);
  }

  /** An app's answer in a thread that is not in view comes into view by itself, unless that would take something away. */
  followReply(channel, message) {
    const { route, store } = this;
    const ts = message.thread_ts;
    if (channel !== route.channel || route.tab !== "messages" || ts === route.thread) return false;
    if (this.#leftThreads.has(ts) && !this.hasJustActed()) return false;
    const writing = !this.composers.thread.isEmpty || document.querySelector("#thread :is(input, textarea):focus");
    if (route.thread && (Number(ts) < Number(route.thread) || writing)) return false;
    if (!store.channels.get(channel)?.is_im && !this.hasJustActed()) return false;
    this.openThread(ts, { byPerson: false });
    return true;
  }

  hasJustActed() {
    return Date.now() - Math.max(this.#actedAt, this.surfaces.lastActed()) < JUST_NOW_MS;
  }

  // Saying things

  /** Send a message or a command in the channel in view. Answers a sentence when it did not work, else null. */
  say(text, threadTs = null) {
    this.#actedAt = Date.now();
    const { channel } = this.route;
    if (text.startsWith("/")) return this.#command(channel, text, threadTs);
    this.#send({ channel, threadTs, text, state: "sending" });
    return null;
  }

  fillComposer(text) {
    this.composers.channel.fill(text);
  }

  resend(sent) {
    this.discard(sent);
    this.#send({ ...sent, state: "sending", node: null });
  }

  discard(sent) {
    this.store.outgoing = this.store.outgoing.filter((one) => one !== sent);
    this.#tell(sent);
  }

  async #command(channel, text, threadTs) {
    const [command] = text.split(/\s/, 1);
    const answer = await this.api.slash(channel, command, text.slice(command.length).trim(), threadTs);
    return answer.ok ? null : answer.error;
  }

  async #send(sent) {
    this.store.outgoing.push(sent);
    this.#tell(sent);
    const answer = await this.api.send(sent.channel, sent.text, sent.threadTs);
    if (answer.ok) {
      this.store.outgoing = this.store.outgoing.filter((one) => one !== sent);
      this.store.takeMessage(sent.channel, answer.message);
    } else {
      Object.assign(sent, { state: "failed", error: answer.error });
      this.#tell(sent);
    }
  }

  #tell({ channel, threadTs }) {
    this.store.say("messages", { channel, threadTs, own: true });
  }

  // Acting on messages

  messageMenu(channel, message, { inThread }) {
    const { store } = this;
    const own = message.user === store.me.id && !message.ephemeral;
    const shortcuts = message.ephemeral ? [] : store.app.shortcuts.filter(({ type }) => type === "message");
    return [
      !inThread && !message.ephemeral && { label: "Reply in thread", act: () => this.openThread(message.ts) },
      ...shortcuts.map(({ name, callback_id: id }) => ({ label: name, description: store.app.name, dataset: { shortcut: id }, act: () => this.#shortcut(id, channel, message.ts) })),
      message.text && { label: "Copy text", act: () => navigator.clipboard?.writeText(unescape(message.text)).then(() => announce("Copied")) },
      own && { label: "Edit message", act: () => this.#edit(channel, message) },
      message.ephemeral && { label: "Dismiss", act: () => this.#remove(channel, message) },
      own && { label: "Delete message…", danger: true, act: () => this.#delete(channel, message) },
    ].filter(Boolean);
  }

  globalShortcuts() {
    const shortcuts = this.store.app.shortcuts.filter(({ type }) => type === "global");
    return shortcuts.map(({ name, description, callback_id: id }) => ({ label: name, description, dataset: { shortcut: id }, act: () => this.#shortcut(id) }));
  }

  editLast(threadTs) {
    const { store, route } = this;
    const messages = threadTs ? store.thread(route.channel, threadTs) : store.timeline(route.channel);
    const last = messages.filter((message) => message.user === store.me.id && !message.ephemeral && !message.subtype).at(-1);
    if (last) this.#edit(route.channel, last);
    return Boolean(last);
  }

  // A double click counts once, also when its second half comes just after the answer to the first.
  async #shortcut(id, channel, ts) {
    const key = `${id} ${ts ?? ""}`;
    if (this.#pressedShortcuts.has(key)) return;
    this.#pressedShortcuts.add(key);
    this.#actedAt = Date.now();
    const answer = await this.api.shortcut(id, channel, ts);
    this.#complain(answer);
    setTimeout(() => this.#pressedShortcuts.delete(key), answer.ok ? SHORTCUT_REST_MS : 0);
  }

  async #edit(channel, message) {
    const text = await askText({ title: "Edit message", text: unescape(message.text), yes: "Save" });
    if (text) this.#complain(await this.api.edit(channel, message.ts, text));
  }

  async #delete(channel, message) {
    const sure = await ask({ title: "Delete this message?", text: "It is gone for everybody and can't be brought back.", yes: "Delete", danger: true });
    if (sure) this.#remove(channel, message);
  }

  async #remove(channel, message) {
    this.#complain(await this.api.remove(channel, message.ts));
  }

  #complain(answer) {
    if (!answer.ok) toast(answer.error);
  }

  /** A thread has been looked at. */
  seen(channel, threadTs) {
    if (this.store.freshThreads.delete(threadKey(channel, threadTs))) this.store.say("messages", { channel, threadTs: null });
  }
}
