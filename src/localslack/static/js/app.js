// Puts the page together: reads the state, draws the parts, follows the live wire.

import { announce, toast } from "./announce.js";
import { Api } from "./api.js";
import { Banner } from "./banner.js";
import { Composer } from "./composer.js";
import { openMenu } from "./controls/menu.js";
import { Desk } from "./desk.js";
import { arrange, h, icon, isSeen, steady } from "./dom.js";
import { Header } from "./header.js";
import { Home } from "./home.js";
import { Hold } from "./hold.js";
import { connectLive } from "./live.js";
import { MessageList } from "./messagelist.js";
import { ModalHost } from "./modal.js";
import { opening, startRow } from "./opening.js";
import { Pane } from "./pane.js";
import { Rail } from "./rail.js";
import { Reading, insist } from "./reading.js";
import { unescape } from "./render/tokens.js";
import { Route } from "./route.js";
import { Store, isReply, threadKey } from "./store.js";
import { Surfaces } from "./surfaces.js";

const RECENT_THREAD_S = 16 * 3600;

class Page {
  #opening = steady(() => opening(this.desk));
  #startRow = steady(() => startRow(this.desk));

  constructor(user) {
    this.api = new Api(user);
    this.store = new Store();
    this.hold = new Hold();
    this.reading = new Reading(this);
    this.surfaces = new Surfaces(this.api);
    this.desk = new Desk(this);
    this.desk.redraw = () => this.drawMessages();
    this.channelList = new MessageList(this.desk, { inThread: false });
    this.threadList = new MessageList(this.desk, { inThread: true });
    this.rail = new Rail(this.desk);
    this.pane = new Pane(this.desk, () => this.drawFrame());
    this.header = new Header(this.desk, { openRail: () => this.rail.open(), pane: this.pane });
    this.home = new Home(this.desk);
    this.banner = new Banner(this.store);
    this.modals = new ModalHost({ ...this, afterClose: () => this.#focusAfterModal() });
    this.desk.composers = { channel: this.#composer(false), thread: this.#composer(true) };
  }

  #composer(inThread) {
    return new Composer({
      store: this.store,
      inThread,
      send: (text) => this.desk.say(text, inThread ? this.desk.route.thread : null),
      editLast: () => this.desk.editLast(inThread ? this.desk.route.thread : null),
    });
  }

  async start() {
    this.store.takeWorkspace(await this.#firstState());
    this.api.user = this.store.me.id;
    this.desk.route = new Route((before) => this.#moved(before));
    this.#layOut();
    this.store.on("workspace", () => this.drawFrame());
    this.store.on("connection", () => this.rail.draw());
    this.store.on("messages", (change) => this.#messagesChanged(change));
    this.store.on("session", () => this.#drawSession());
    await this.#listen();
    const { route } = this.desk;
    if (!this.store.channels.has(route.channel)) {
      const first = this.store.appDirect() ?? [...this.store.channels.values()][0];
      route.go({ channel: first.id, thread: null, tab: "messages" }, { replace: true });
    } else this.#moved({});
    await this.modals.read();
  }

  // The wire is opened before the first reading, so that nothing said in between is missed; without one the page still begins.
  #listen() {
    return new Promise((begun) => {
      const onUp = () => {
        this.#up();
        begun();
      };
      const onDown = () => {
        this.#down();
        begun();
      };
      const onFrame = (frame) => this.hold.free(() => this.#frame(frame));
      connectLive(this.store.me.id, { onFrame, onUp, onDown });
    });
  }

  // The page may be opened before the server is there.
  #firstState() {
    const ask = async () => {
      try {
        return await this.api.state();
      } catch (away) {
        document.getElementById("banner").replaceChildren(h("p", { class: "banner-trouble" }, "The workspace can't be reached yet. Trying again…"));
        throw away;
      }
    };
    return insist(ask, () => true);
  }

  #layOut() {
    document.getElementById("banner").replaceChildren();
    this.starts = h("div", { class: "start-row" });
    const shortcuts = h("button", { type: "button", class: "tool shortcuts", "aria-label": "Shortcuts", title: "Shortcuts", "aria-haspopup": "menu", "aria-expanded": "false" }, icon("bolt"));
    shortcuts.addEventListener("click", () => openMenu(shortcuts, this.desk.globalShortcuts(), { label: "Shortcuts" }));
    shortcuts.hidden = this.desk.globalShortcuts().length === 0;
    this.desk.composers.channel.root.querySelector(".composer-box").prepend(shortcuts);
    document.getElementById("messages").append(this.channelList.root, this.starts, this.desk.composers.channel.root);
    this.thread = document.getElementById("thread");
    this.threadTitle = h("span", { class: "side-sub" });
    this.threadRename = h("button", { type: "button", class: "tool thread-rename", "aria-label": "Rename this thread", title: "Rename", hidden: true, onclick: () => this.desk.renameThread() }, icon("edit"));
    this.thread.append(
      h(
        "header",
        { class: "side-head" },
        h("button", { type: "button", class: "tool thread-back", "aria-label": "Back to the conversation", onclick: () => this.desk.closeThread() }, icon("back")),
        h("h2", {}, "Thread"),
        this.threadTitle,
        this.threadRename,
        h("button", { type: "button", class: "tool thread-close", "aria-label": "Close thread", title: "Close thread (Esc)", onclick: () => this.desk.closeThread() }, icon("close")),
      ),
      this.threadList.root,
      this.desk.composers.thread.root,
    );
    this.thread.addEventListener("keydown", (event) => event.key === "Escape" && !event.defaultPrevented && this.desk.closeThread());
    document.addEventListener("keydown", (event) => this.#typedAnywhere(event));
  }

  // `/` from anywhere that is not a field begins a command.
  #typedAnywhere(event) {
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || this.modals.isOpen) return;
    if (event.target.closest("input, textarea, dialog, [role=listbox], [role=menu]")) return;
    event.preventDefault();
    this.desk.openTab("messages");
    this.desk.composers.channel.fill("/");
    this.desk.composers.channel.box.dispatchEvent(new Event("input"));
  }

  // Where the viewer is

  #moved(before) {
    const { route } = this.desk;
    document.body.dataset.tab = route.tab;
    if (route.tab === "messages") this.desk.unseen = null;
    if (route.channel !== before.channel) this.#enterChannel();
    if (route.channel !== before.channel || route.thread !== before.thread) this.#enterThread();
    if (route.tab !== before.tab || route.channel !== before.channel) this.#enterTab();
    this.drawFrame();
  }

  async #enterChannel() {
    const { route } = this.desk;
    const channel = this.store.channels.get(route.channel);
    const name = channel?.is_im ? channel.name : `#${channel?.name ?? ""}`;
    this.channelList.reset(route.channel, null);
    this.desk.composers.channel.turnTo(`${this.store.me.id} ${route.channel}`, `Message ${name}`);
    if (channel) channel.unread = 0;
    if (this.store.timelines.has(route.channel)) this.drawMessages();
    this.channelList.scroller.toEnd();
    await this.#loadChannel();
    this.#openRecentThread();
  }

  #enterThread() {
    const { route } = this.desk;
    this.thread.hidden = !route.thread;
    document.body.dataset.thread = route.thread ? "open" : "closed";
    if (!route.thread) return;
    this.threadList.reset(route.channel, route.thread);
    this.desk.composers.thread.turnTo(`${this.store.me.id} ${route.channel} ${route.thread}`, "Reply…");
    this.drawMessages();
    this.threadList.scroller.toEnd();
    this.desk.seen(route.channel, route.thread);
    this.#loadThread();
  }

  async #enterTab() {
    const { route } = this.desk;
    const channel = this.store.channels.get(route.channel);
    if (!channel?.is_im || route.tab === "day") return;
    this.api.homeOpened(route.tab === "home" ? "home" : "messages");
    if (route.tab === "home") await this.#loadHome();
  }

  // A planning thread that was going on is where the viewer wants to be again.
  #openRecentThread() {
    const { route } = this.desk;
    if (route.thread || route.tab !== "messages" || location.hash.split("/").length > 2 || this.openedRecent) return;
    this.openedRecent = true;
    const last = this.store.timeline(route.channel).at(-1);
    const recent = last?.latest_reply && Date.now() / 1000 - Number(last.latest_reply) < RECENT_THREAD_S;
    if (recent && this.store.channels.get(route.channel)?.is_im) route.go({ thread: last.ts }, { replace: true });
  }

  // Reading from the server

  async #loadChannel() {
    const { channel } = this.desk.route;
    await insist(() => this.reading.channel(channel, (frame) => this.#take(frame)), () => this.#isLive && this.desk.route.channel === channel);
  }

  async #loadThread() {
    const { channel, thread } = this.desk.route;
    if (!thread) return;
    await insist(() => this.reading.thread(channel, thread, (frame) => this.#take(frame)), () => this.#isLive && this.desk.route.thread === thread);
  }

  async #loadHome() {
    await this.reading.latest("home", () => this.api.home(), ({ view }) => this.#showHome(view));
  }

  #showHome(view) {
    this.store.homeView = view;
    this.home.draw();
  }

  // The live wire

  #up() {
    const again = this.store.live === false;
    this.store.live = true;
    this.store.say("connection");
    if (again) insist(() => this.#readAll(), () => this.#isLive);
  }

  // While the line is broken nothing is read: its next opening reads everything once more.
  get #isLive() {
    return this.store.live !== false;
  }

  async #readAll() {
    const state = await this.api.state();
    await this.hold.free(() => this.store.takeWorkspace(state));
    await Promise.all([this.#loadChannel(), this.#loadThread(), this.#loadHome()]);
    await this.modals.read();
  }

  #down() {
    this.store.live = false;
    this.store.say("connection");
  }

  #frame(frame) {
    this.reading.heard(frame);
    if (frame.type === "message") return this.#messageFrame(frame);
    return this.#take(frame);
  }

  #take(frame) {
    switch (frame.type) {
      case "message": return this.store.takeMessage(frame.channel, frame.message);
      case "message_deleted": return this.store.dropMessage(frame.channel, frame.ts, frame.thread_ts);
      case "session": return this.store.setSession(frame.channel, frame.thread_ts, frame.session);
      case "prompts": return this.#takePrompts(frame);
      case "modals":
        this.surfaces.settle();
        return this.modals.show(frame.stack);
      case "home":
        this.surfaces.settle();
        return this.#showHome(frame.view);
      case "connected":
        this.store.appConnected = frame.connected;
        return this.store.say("connection");
      default: return undefined;
    }
  }

  #takePrompts({ channel, thread_ts: thread, prompts }) {
    if (thread || channel !== this.store.appDirect()?.id) return;
    this.store.app.suggested_prompts = prompts;
    this.drawMessages();
  }

  #messageFrame({ channel, message }) {
    const { store, desk } = this;
    const isNew = store.takeMessage(channel, message);
    const fromApp = store.isApp(message);
    if (fromApp) this.surfaces.settle();
    if (!isNew || message.user === store.me.id) return;
    const inView = channel === desk.route.channel && desk.route.tab === "messages";
    if (channel === desk.route.channel && !inView && desk.unseen !== "message") desk.unseen = isReply(message) ? "reply" : "message";
    if (isReply(message)) {
      const followed = fromApp && !message.ephemeral && desk.followReply(channel, message);
      if (!followed && !(inView && desk.route.thread === message.thread_ts)) {
        store.freshThreads.add(threadKey(channel, message.thread_ts));
        if (message.ephemeral) toast(`${store.name(message.user)}, only to you: ${message.text}`);
      }
    } else if (!isSeen(document.getElementById("messages")) && (message.ephemeral || (fromApp && desk.hasJustActed()))) {
      toast(`${store.name(message.user)}${message.ephemeral ? ", only to you" : ""}: ${unescape(message.text ?? "")}`);
    }
    if (channel !== desk.route.channel && store.channels.has(channel)) {
      store.channels.get(channel).unread = (store.channels.get(channel).unread ?? 0) + 1;
    }
    announce(`${store.name(message.user)}: ${message.text ?? ""}`);
    this.drawFrame();
  }

  // Drawing

  #messagesChanged({ channel, threadTs, message, isNew, own }) {
    const { route } = this.desk;
    if (channel !== route.channel) return;
    this.drawMessages();
    if (!isNew && !own) return;
    const list = threadTs ? (threadTs === route.thread ? this.threadList : null) : this.channelList;
    const mine = own || message?.user === this.store.me.id;
    list?.scroller.arrived({ follow: mine || this.desk.hasJustActed() });
  }

  drawMessages() {
    const { route } = this.desk;
    const known = this.store.timelines.has(route.channel);
    const messages = this.store.timeline(route.channel);
    const { app, me, zone } = this.store;
    const begun = messages.length > 0;
    if (known) this.channelList.show(messages, { opening: begun ? null : this.#opening([route.channel, app, me, zone]) });
    arrange(this.starts, begun ? this.#startRow([route.channel, app.suggested_prompts]) : []);
    if (route.thread) {
      const parent = this.store.timelines.get(route.channel)?.get(route.thread);
      const replies = this.store.hasThread(route.channel, route.thread) ? this.store.thread(route.channel, route.thread) : [parent].filter(Boolean);
      this.threadList.show(replies);
    }
    this.#drawSession();
  }

  #drawSession() {
    const { route } = this.desk;
    this.threadList.showStatus(route.thread ? this.store.status(route.channel, route.thread) : null);
    if (!route.thread) return;
    const title = this.store.title(route.channel, route.thread);
    this.threadTitle.textContent = title ?? this.store.channels.get(route.channel)?.name ?? "";
    this.threadTitle.title = title ?? "";
    this.threadRename.hidden = !title;
  }

  drawFrame() {
    this.rail.draw();
    this.pane.draw();
    this.header.draw();
    const unread = this.store.unreadTotal();
    const name = this.store.channels.get(this.desk.route.channel)?.name ?? "";
    document.title = `${unread ? `(${unread}) ` : ""}${name} · ${this.store.team.name}`;
  }

  #focusAfterModal() {
    const { composers, route } = this.desk;
    if (window.matchMedia("(pointer: fine)").matches) (route.thread ? composers.thread : composers.channel).focus();
    else (route.thread ? this.threadList : this.channelList).scroller.box.focus({ preventScroll: true });
  }
}

new Page(new URLSearchParams(location.search).get("user")).start();
