// What this page knows: the workspace, its messages and who is looking. Views listen to topics and draw what changed.

import { unescape } from "./render/tokens.js";
import { knownZone } from "./time.js";

export class Store {
  #listeners = new Map();

  constructor() {
    this.team = { id: "", name: "" };
    this.me = null;
    this.users = new Map();
    this.app = { name: "App", bot_user_id: "", home_tab_enabled: false, commands: [], shortcuts: [], suggested_prompts: [] };
    this.channels = new Map();
    this.paneUrl = null;
    this.zone = Intl.DateTimeFormat().resolvedOptions().timeZone;
    this.live = null;
    this.appConnected = null;
    this.timelines = new Map();
    this.threads = new Map();
    this.freshThreads = new Set();
    this.statuses = new Map();
    this.titles = new Map();
    this.outgoing = [];
    this.homeView = null;
    this.modals = [];
  }

  on(topic, listener) {
    if (!this.#listeners.has(topic)) this.#listeners.set(topic, new Set());
    this.#listeners.get(topic).add(listener);
  }

  say(topic, detail) {
    for (const listener of this.#listeners.get(topic) ?? []) listener(detail);
  }

  takeWorkspace(state) {
    this.team = state.team;
    this.me = state.me;
    this.zone = knownZone(state.me.tz);
    this.users = new Map(state.users.map((user) => [user.id, user]));
    this.app = { ...this.app, ...state.app };
    this.channels = new Map(state.channels.map((channel) => [channel.id, { ...channel }]));
    this.paneUrl = state.pane_url;
    this.appConnected = state.connected;
    this.say("workspace");
    this.say("connection");
  }

  /** The whole top level of a channel, replacing what was known. */
  takeTimeline(channel, messages) {
    this.timelines.set(channel, new Map(messages.map((message) => [message.ts, message])));
    this.say("messages", { channel });
  }

  /** A whole thread: the parent first, then its replies. */
  takeThread(channel, ts, messages) {
    this.threads.set(threadKey(channel, ts), new Map(messages.map((message) => [message.ts, message])));
    this.say("messages", { channel, threadTs: ts });
  }

  /** One new or changed message from the live wire. Answers whether it is new to this page. */
  takeMessage(channel, message) {
    const threadTs = isReply(message) ? message.thread_ts : null;
    let isNew;
    if (threadTs) {
      const known = this.threads.get(threadKey(channel, threadTs));
      const added = merge(known, message);
      const counted = !message.ephemeral && this.#countReply(channel, threadTs, message);
      isNew = known ? added : counted || message.ephemeral === true;
    } else {
      isNew = merge(this.timelines.get(channel), message);
      merge(this.threads.get(threadKey(channel, message.ts)), message);
    }
    if (message.subtype === "thread_broadcast") merge(this.timelines.get(channel), message);
    this.#settleOutgoing(channel, threadTs, message);
    this.say("messages", { channel, threadTs, message, isNew });
    return isNew;
  }

  dropMessage(channel, ts, threadTs) {
    this.timelines.get(channel)?.delete(ts);
    if (threadTs) {
      const parent = this.timelines.get(channel)?.get(threadTs);
      if (this.threads.get(threadKey(channel, threadTs))?.delete(ts) && parent?.reply_count) parent.reply_count -= 1;
    }
    this.say("messages", { channel, threadTs: threadTs ?? null });
  }

  timeline(channel) {
    return sorted(this.timelines.get(channel));
  }

  thread(channel, ts) {
    return sorted(this.threads.get(threadKey(channel, ts)));
  }

  hasThread(channel, ts) {
    return this.threads.has(threadKey(channel, ts));
  }

  /** What the agent session of a thread says: its status line, whether it can be stopped, and its title. */
  setSession(channel, threadTs, session) {
    const key = threadKey(channel, threadTs);
    const { shown: text, loading: loadingMessages = [], can_stop: canStop = false, title } = session ?? {};
    const since = this.statuses.get(key)?.since ?? Date.now();
    if (text) this.statuses.set(key, { text, loadingMessages, canStop, threadTs, channel, since });
    else this.statuses.delete(key);
    if (title) this.titles.set(key, title);
    this.say("session", { channel, threadTs });
  }

  title(channel, threadTs) {
    return this.titles.get(threadKey(channel, threadTs));
  }

  status(channel, threadTs) {
    return this.statuses.get(threadKey(channel, threadTs));
  }

  name(userId) {
    const user = this.users.get(userId);
    return user ? user.real_name || user.name : userId;
  }

  isApp(message) {
    return Boolean(message.bot_id) || this.users.get(message.user)?.is_bot === true;
  }

  /** The viewer's direct message with the app. */
  appDirect() {
    return [...this.channels.values()].find((channel) => channel.is_im);
  }

  unreadTotal() {
    return [...this.channels.values()].reduce((sum, channel) => sum + (channel.unread ?? 0), 0);
  }

  // Answers whether the parent did not know of this reply yet.
  #countReply(channel, threadTs, message) {
    const parent = this.timelines.get(channel)?.get(threadTs);
    if (!parent || Number(message.ts) <= Number(parent.latest_reply ?? 0)) return false;
    parent.reply_count = (parent.reply_count ?? 0) + 1;
    parent.latest_reply = message.ts;
    parent.reply_users = [...new Set([...(parent.reply_users ?? []), message.user])];
    return true;
  }

  #settleOutgoing(channel, threadTs, message) {
    if (message.user !== this.me?.id) return;
    const index = this.outgoing.findIndex(
      (sent) => sent.state === "sending" && sent.channel === channel && sent.threadTs === threadTs && sent.text === unescape(message.text ?? ""),
    );
    if (index >= 0) this.outgoing.splice(index, 1);
  }
}

export const threadKey = (channel, ts) => `${channel}/${ts}`;

export const isReply = (message) => Boolean(message.thread_ts) && message.thread_ts !== message.ts;

/** Put a message into a list that may not be loaded; keeps the reply counts that change frames leave out. */
function merge(list, message) {
  if (!list) return true;
  const before = list.get(message.ts);
  const { reply_count: count, latest_reply: latest, reply_users: users } = before ?? {};
  list.set(message.ts, { reply_count: count, latest_reply: latest, reply_users: users, ...message });
  return before === undefined;
}

function sorted(list) {
  return [...(list?.values() ?? [])].sort((a, b) => Number(a.ts) - Number(b.ts));
}
