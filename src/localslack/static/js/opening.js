// What a first-time viewer sees in an empty conversation, and the prompts that stay at hand above the message box.

import { avatar } from "./avatar.js";
import { h } from "./dom.js";

/** The big first step: the app's global shortcuts and suggested prompts, else its commands. */
export function opening(desk) {
  const { store, route } = desk;
  const channel = store.channels.get(route.channel);
  if (!channel?.is_im) {
    return h("div", { class: "opening" }, h("p", { class: "opening-title" }, `This is the beginning of #${channel?.name ?? ""}`), h("p", { class: "opening-words" }, "Write something below to start."));
  }
  const [first, ...others] = starts(desk);
  const commands = store.app.commands.map(({ command, description }) => h("li", {}, h("button", { type: "button", class: "link", onclick: () => desk.fillComposer(`${command} `) }, command), " ", description));
  return h(
    "div",
    { class: "opening" },
    avatar(store.users.get(store.app.bot_user_id), "large"),
    h("p", { class: "opening-title" }, greeting(store)),
    h("p", { class: "opening-words" }, first ? `${store.app.name} works with you right here. Begin with one click, or write a message below.` : `Write to ${store.app.name} below.`),
    first && h("div", { class: "starts" }, start(first, "button primary start"), others.map((one) => start(one, "button start"))),
    commands.length > 0 && h("ul", { class: "opening-commands", role: "list" }, commands),
  );
}

/** The same starts as small buttons, for a conversation that has begun. */
export function startRow(desk) {
  const channel = desk.store.channels.get(desk.route.channel);
  if (!channel?.is_im || desk.store.app.suggested_prompts.length === 0) return [];
  return prompts(desk).map((one) => start(one, "button start-chip"));
}

function prompts(desk) {
  return desk.store.app.suggested_prompts.map(({ title, message }) => ({ label: title, run: () => desk.say(message) }));
}

function starts(desk) {
  const shortcuts = desk.globalShortcuts().map(({ label, act }) => ({ label, run: act }));
  const named = new Set(shortcuts.map(({ label }) => label));
  const known = [...shortcuts, ...prompts(desk).filter(({ label }) => !named.has(label))];
  return known.length > 0 ? known : commandStarts(desk);
}

function commandStarts(desk) {
  return desk.store.app.commands.map(({ command, description, usage_hint: usage }) => ({
    label: description || command,
    run: () => (!usage || usage.startsWith("[") ? desk.say(command) : desk.fillComposer(`${command} `)),
  }));
}

function start({ label, run }, className) {
  const press = async () => {
    button.setAttribute("aria-busy", "true");
    await run();
    button.removeAttribute("aria-busy");
  };
  const button = h("button", { type: "button", class: className, onclick: press }, h("span", { class: "button-text" }, label));
  return button;
}

function greeting(store) {
  const hour = Number(new Intl.DateTimeFormat("en-GB", { timeZone: store.zone, hour: "2-digit", hourCycle: "h23" }).format(new Date()));
  const words = hour < 5 ? "Hello" : hour < 12 ? "Good morning" : hour < 18 ? "Good afternoon" : "Good evening";
  return `${words}, ${store.name(store.me.id).split(" ")[0]}`;
}
