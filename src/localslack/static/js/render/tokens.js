// What Slack writes between angle brackets (links, people, channels, dates), drawn as nodes.

import { h, safeUrl } from "../dom.js";
import { fillDateFormat, fullTime, instant } from "../time.js";

export const unescape = (text) => text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");

/** A link that opens beside this page; an address that must not be opened is shown as plain text. */
export function link(address, ...label) {
  const url = safeUrl(address);
  const children = label.length > 0 ? label : [address];
  if (!url) return h("span", { class: "dead-link", title: "This address can't be opened from here" }, ...children);
  return h("a", { href: url, target: "_blank", rel: "noopener noreferrer" }, ...children);
}

export function person(store, id) {
  const mine = id === store.me?.id;
  return h("span", { class: mine ? "mention mention-me" : "mention" }, `@${store.name(id)}`);
}

export function channelName(store, id, fallback) {
  return h("span", { class: "mention" }, `#${store.channels.get(id)?.name ?? fallback ?? id}`);
}

export function broadcast(range) {
  return h("span", { class: "mention mention-me" }, `@${range}`);
}

export function dateText(store, timestamp, pattern, address, fallback) {
  const when = instant(timestamp);
  if (Number.isNaN(when.getTime())) return h("span", {}, fallback ?? "");
  const text = fillDateFormat(pattern, timestamp, store.zone);
  const time = h("time", { datetime: when.toISOString(), title: fullTime(when, store.zone) }, text);
  return address ? link(address, time) : time;
}

/** The node for the inside of `<...>` in mrkdwn. */
export function token(store, inside) {
  const bar = inside.indexOf("|");
  const [head, label] = bar < 0 ? [inside, null] : [inside.slice(0, bar), unescape(inside.slice(bar + 1))];
  const rest = head.slice(1);
  if (head.startsWith("@")) return person(store, rest);
  if (head.startsWith("#")) return channelName(store, rest, label);
  if (head.startsWith("!date^")) {
    const [, timestamp, pattern = "{date}", address] = head.split("^");
    return dateText(store, timestamp, unescape(pattern), address, label);
  }
  if (head.startsWith("!subteam^")) return broadcast((label ?? head.slice(9)).replace(/^@/, ""));
  if (head.startsWith("!")) return broadcast(label ?? rest);
  if (/^(https?|mailto|tel):/i.test(head)) {
    const address = unescape(head);
    return link(address, label ?? address.replace(/^(mailto|tel):/i, ""));
  }
  return document.createTextNode(`<${unescape(inside)}>`);
}
