// The rich_text block: sections, lists, quotes and preformatted text made of styled leaves.

import { h } from "../dom.js";
import { emoji } from "./emoji.js";
import { broadcast, channelName, dateText, link, person } from "./tokens.js";

const STYLES = [["code", "code"], ["bold", "strong"], ["italic", "em"], ["strike", "s"], ["underline", "u"]];

export function richText(store, block) {
  return h("div", { class: "rich" }, (block.elements ?? []).map((part) => piece(store, part)));
}

function piece(store, part) {
  const leaves = () => (part.elements ?? []).map((element) => leaf(store, element));
  switch (part.type) {
    case "rich_text_section": return h("p", {}, leaves());
    case "rich_text_quote": return h("blockquote", {}, leaves());
    case "rich_text_preformatted": return h("pre", { class: "code" }, leaves());
    case "rich_text_list": return list(store, part);
    default: return leaf(store, part);
  }
}

function list(store, part) {
  const ordered = part.style === "ordered";
  const depth = Math.min(Number(part.indent ?? 0), 6);
  const items = (part.elements ?? []).map((element) => h("li", {}, (element.elements ?? []).map((inner) => leaf(store, inner))));
  const start = ordered && part.offset ? Number(part.offset) + 1 : null;
  return h(ordered ? "ol" : "ul", { class: part.border ? "bordered" : null, dataset: { depth }, start }, items);
}

function leaf(store, element) {
  switch (element.type) {
    case "text": return styled(document.createTextNode(element.text ?? ""), element.style);
    case "link": return styled(link(element.url ?? "", element.text || element.url), element.style);
    case "emoji": return h("span", { class: "emoji", role: "img", "aria-label": element.name }, glyph(element));
    case "user": return styled(person(store, element.user_id), element.style);
    case "channel": return styled(channelName(store, element.channel_id), element.style);
    case "usergroup": return broadcast(element.usergroup_id);
    case "broadcast": return broadcast(element.range);
    case "date": return dateText(store, element.timestamp, element.format ?? "{date}", element.url, element.fallback);
    case "color": return h("code", {}, element.value ?? "");
    default: return document.createTextNode(typeof element.text === "string" ? element.text : "");
  }
}

function styled(node, style) {
  return STYLES.reduce((inner, [name, tag]) => (style?.[name] ? h(tag, {}, inner) : inner), node);
}

function glyph(element) {
  const points = (element.unicode ?? "").split("-").map((point) => Number.parseInt(point, 16));
  const valid = points.length > 0 && points.every((point) => point > 0 && point <= 0x10ffff);
  return valid ? String.fromCodePoint(...points) : (emoji(element.name ?? "") ?? `:${element.name}:`);
}
