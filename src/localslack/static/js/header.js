// The head of the conversation: where the viewer is, and the tabs.

import { avatar } from "./avatar.js";
import { h, icon } from "./dom.js";

const TAB_ICONS = { messages: "chat", home: "home", day: "calendar" };

export class Header {
  #print = "";

  constructor(desk, { openRail, pane }) {
    this.desk = desk;
    this.openRail = openRail;
    this.pane = pane;
    this.root = document.getElementById("main-head");
  }

  draw() {
    const { store, route } = this.desk;
    const channel = store.channels.get(route.channel);
    if (!channel) return;
    const tabs = this.#tabs(channel);
    const print = JSON.stringify([channel.id, route.tab, tabs, this.pane.isOpen, store.paneUrl, this.desk.unseen]);
    if (print === this.#print) return;
    this.#print = print;
    const focus = this.root.contains(document.activeElement) ? document.activeElement.dataset.tab : null;
    const sign = channel.is_im ? avatar(store.users.get(store.app.bot_user_id), "small") : icon(channel.is_private ? "lock" : "hash");
    this.root.replaceChildren(
      h("button", { type: "button", class: "tool menu-button", "aria-label": "Conversations and people", onclick: this.openRail }, icon("menu")),
      h("span", { class: "sign" }, sign),
      h("h1", {}, channel.name),
      h("div", { class: "tabs", role: "tablist", "aria-label": "Views", onkeydown: (event) => this.#move(event) }, tabs.map(([tab, label]) => this.#tab(tab, label))),
      this.#paneToggle(),
    );
    if (focus) this.root.querySelector(`[data-tab="${focus}"]`)?.focus({ preventScroll: true });
  }

  #tabs(channel) {
    const { store } = this.desk;
    return [["messages", "Messages"], ...(channel.is_im && store.app.home_tab_enabled ? [["home", "Home"]] : []), ...(store.paneUrl ? [["day", "Day"]] : [])];
  }

  #tab(tab, label) {
    const here = this.desk.route.tab === tab;
    return h(
      "button",
      {
        type: "button", class: `tab tab-${tab}`, role: "tab", "aria-selected": String(here), tabIndex: here ? 0 : -1, dataset: { tab }, "aria-controls": tab === "day" ? "pane" : tab,
        onclick: () => this.desk.openTab(tab),
      },
      icon(TAB_ICONS[tab]),
      h("span", {}, label),
      tab === "messages" && this.desk.unseen && h("span", { class: "dot", role: "img", "aria-label": "New messages" }),
    );
  }

  #move(event) {
    const tabs = [...this.root.querySelectorAll(".tab")].filter((tab) => tab.offsetParent !== null);
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const next = tabs[(tabs.indexOf(document.activeElement) + step + tabs.length) % tabs.length];
    next.focus();
    next.click();
  }

  #paneToggle() {
    if (!this.desk.store.paneUrl) return null;
    const open = this.pane.isOpen;
    return h(
      "button",
      { type: "button", class: "tool pane-toggle", "aria-pressed": String(open), "aria-label": open ? "Hide the day" : "Show the day", title: open ? "Hide the day" : "Show the day", onclick: () => this.pane.toggle() },
      icon("calendar"),
    );
  }
}
