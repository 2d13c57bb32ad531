// The left rail: the workspace, its conversations, and who is looking.

import { avatar } from "./avatar.js";
import { h, icon } from "./dom.js";
import { openMenu } from "./controls/menu.js";

export class Rail {
  constructor(desk) {
    this.desk = desk;
    this.root = document.getElementById("rail");
    this.veil = document.getElementById("veil");
    this.veil.addEventListener("click", () => this.close());
    this.root.addEventListener("keydown", (event) => event.key === "Escape" && this.close());
  }

  get isOpen() {
    return document.body.dataset.rail === "open";
  }

  /** On a narrow screen the rail is a drawer. */
  open() {
    document.body.dataset.rail = "open";
    this.veil.hidden = false;
    this.root.querySelector(".place[aria-current], .place")?.focus();
  }

  close() {
    if (!this.isOpen) return;
    delete document.body.dataset.rail;
    this.veil.hidden = true;
    document.querySelector(".menu-button")?.focus({ preventScroll: true });
  }

  draw() {
    const { store } = this.desk;
    const all = [...store.channels.values()];
    const focus = this.root.contains(document.activeElement) ? document.activeElement.dataset.place : null;
    this.root.replaceChildren(
      h("div", { class: "team" }, h("span", { class: "team-mark", "aria-hidden": "true" }, store.team.name.slice(0, 1).toUpperCase()), h("span", { class: "team-name" }, store.team.name)),
      h("div", { class: "places" }, this.#group("Apps", all.filter((one) => one.is_im)), this.#group("Channels", all.filter((one) => !one.is_im))),
      this.#person(),
    );
    if (focus) this.root.querySelector(`[data-place="${CSS.escape(focus)}"]`)?.focus({ preventScroll: true });
  }

  #group(title, channels) {
    if (channels.length === 0) return null;
    return h("div", { class: "group" }, h("h2", {}, title), h("ul", { role: "list" }, channels.map((channel) => h("li", {}, this.#place(channel)))));
  }

  #place(channel) {
    const { store, route } = this.desk;
    const here = channel.id === route.channel;
    const unread = here ? 0 : (channel.unread ?? 0);
    const bot = store.users.get(store.app.bot_user_id);
    const sign = channel.is_im ? h("span", { class: "sign" }, avatar(bot, "small"), h("i", { class: store.appConnected ? "presence on" : "presence" })) : h("span", { class: "sign" }, icon(channel.is_private ? "lock" : "hash"));
    return h(
      "button",
      {
        type: "button", class: unread ? "place unread" : "place", "aria-current": here ? "page" : null, dataset: { place: channel.id },
        onclick: () => {
          this.close();
          this.desk.goTo(channel.id);
        },
      },
      sign,
      h("span", { class: "place-name" }, channel.name),
      unread > 0 && h("span", { class: "count", "aria-label": `${unread} unread` }, String(unread)),
    );
  }

  #person() {
    const { store } = this.desk;
    const people = [...store.users.values()].filter((user) => !user.is_bot);
    const items = people.map((user) => ({
      label: user.real_name || user.name,
      description: user.tz.replaceAll("_", " "),
      checked: user.id === store.me.id,
      dataset: { user: user.id },
      act: () => user.id !== store.me.id && this.desk.becomePerson(user.id),
    }));
    const button = h(
      "button",
      {
        type: "button", class: "person", "aria-haspopup": "menu", "aria-expanded": "false", "aria-label": `You are ${store.name(store.me.id)}. Change who you are`, dataset: { place: "me" },
        onclick: () => openMenu(button, items, { label: "Be another person" }),
      },
      avatar(store.me, "small"),
      h("span", { class: "person-words" }, h("span", { class: "person-name" }, store.name(store.me.id)), h("span", { class: "person-zone" }, store.me.tz.replaceAll("_", " "))),
      icon("swap"),
    );
    return button;
  }
}
