// Slack's mrkdwn, parsed into nodes. Nothing here touches innerHTML.

import { fragment, h } from "../dom.js";
import { emoji } from "./emoji.js";
import { link, token, unescape } from "./tokens.js";

const TAGS = new Map([["*", "strong"], ["_", "em"], ["~", "s"]]);
const DEEPEST = 6;
const BULLET = /^(\s*)([•◦▪‣*-]|\d{1,3}[.)])\s+(\S.*)$/;
const CONTINUED = /^\s{2,}\S/;
const QUOTE = /^(?:&gt;|>)\s?/;
const ADDRESS = /^https?:\/\/[^\s<>|]+[^\s<>|.,;:!?)\]}'"]/i;

/** A whole mrkdwn text: code fences, quotes and lists, with inline marks inside. */
export function mrkdwn(store, text) {
  const parts = text.split(/```\n?([\s\S]*?)\n?```/);
  return fragment(parts.map((part, index) => (index % 2 ? h("pre", { class: "code" }, unescape(part)) : lines(store, part))));
}

function lines(store, text) {
  const trimmed = text.replace(/^\n|\n$/g, "");
  if (trimmed === "") return [];
  const output = [];
  let plain = [];
  let group = null;
  const flush = () => {
    if (plain.length > 0) output.push(h("span", { class: "line" }, inline(store, plain.join("\n"))));
    plain = [];
  };
  const into = (kind, make) => {
    flush();
    if (group?.kind !== kind) {
      group = { kind, node: make() };
      output.push(group.node);
    }
    return group.node;
  };
  const rows = trimmed.split("\n");
  rows.forEach((row, index) => {
    if (/^(?:&gt;){3}|^>>>/.test(row)) {
      const rest = [row.replace(/^(?:(?:&gt;){3}|>>>)\s?/, ""), ...rows.splice(index + 1)].join("\n");
      into("quote", () => h("blockquote")).append(inline(store, rest));
    } else if (QUOTE.test(row)) {
      const quote = into("quote", () => h("blockquote"));
      if (quote.hasChildNodes()) quote.append("\n");
      quote.append(inline(store, row.replace(QUOTE, "")));
    } else if (BULLET.test(row)) {
      const [, indent, mark, rest] = BULLET.exec(row);
      into("list", () => h("ul", { class: "lines", role: "list" })).append(item(store, indent, mark, rest));
    } else if (group?.kind === "list" && CONTINUED.test(row)) {
      group.node.lastChild.lastChild.append("\n", inline(store, row.trim()));
    } else {
      group = null;
      plain.push(row);
    }
  });
  flush();
  return output;
}

function item(store, indent, mark, rest) {
  const depth = Math.min(4, Math.floor(indent.replaceAll("\t", "    ").length / 2));
  const shown = /\d/.test(mark) ? mark : "•";
  return h("li", { dataset: { depth } }, h("span", { class: "mark", "aria-hidden": shown === "•" }, shown), h("span", {}, inline(store, rest)));
}

/** One run of text without block structure. */
export function inline(store, text, depth = 0) {
  const output = fragment();
  let plain = "";
  const flush = () => {
    if (plain) output.append(unescape(plain));
    plain = "";
  };
  const hopeless = new Set();
  let at = 0;
  while (at < text.length) {
    const found = next(store, text, at, depth, hopeless);
    if (found) {
      flush();
      output.append(found.node);
      at = found.end;
    } else {
      plain += text[at];
      at += 1;
    }
  }
  flush();
  return output;
}

function next(store, text, at, depth, hopeless) {
  const char = text[at];
  if (char === "`") return code(text, at);
  if (char === "<") return bracket(store, text, at);
  if (char === ":") return shortName(text, at);
  if (TAGS.has(char)) return marked(store, text, at, depth, hopeless);
  if ((char === "h" || char === "H") && !/\w/.test(text[at - 1] ?? "")) return address(text, at);
  return null;
}

function code(text, at) {
  const end = text.indexOf("`", at + 1);
  const inside = text.slice(at + 1, end);
  if (end < 0 || inside.trim() === "" || inside.includes("\n")) return null;
  return { node: h("code", {}, unescape(inside)), end: end + 1 };
}

function bracket(store, text, at) {
  const end = text.indexOf(">", at + 1);
  const inside = text.slice(at + 1, end);
  if (end < 0 || inside === "" || /[<\n]/.test(inside)) return null;
  return { node: token(store, inside), end: end + 1 };
}

function shortName(text, at) {
  const found = /^:([a-z0-9_+-]+(?:::skin-tone-\d)?):/.exec(text.slice(at, at + 60));
  const char = found && emoji(found[1]);
  return char ? { node: h("span", { class: "emoji", role: "img", "aria-label": found[1] }, char), end: at + found[0].length } : null;
}

function marked(store, text, at, depth, hopeless) {
  const mark = text[at];
  if (depth >= DEEPEST || hopeless.has(mark) || /\w/.test(text[at - 1] ?? "") || /[\s]|^$/.test(text[at + 1] ?? "")) return null;
  const end = closing(text, at, mark);
  if (end < 0) {
    if (!text.slice(at).includes("\n")) hopeless.add(mark);
    return null;
  }
  return { node: h(TAGS.get(mark), {}, inline(store, text.slice(at + 1, end), depth + 1)), end: end + 1 };
}

/** Where the mark opened at `at` closes on the same line, looking past code and brackets; -1 if it does not. */
function closing(text, at, mark) {
  for (let end = at + 1; end < text.length && text[end] !== "\n"; end += 1) {
    const skipTo = text[end] === "`" ? text.indexOf("`", end + 1) : text[end] === "<" ? text.indexOf(">", end + 1) : -1;
    if (skipTo > 0) end = skipTo;
    else if (text[end] === mark && end > at + 1 && !/\s/.test(text[end - 1]) && !/\w/.test(text[end + 1] ?? "")) return end;
  }
  return -1;
}

function address(text, at) {
  const found = ADDRESS.exec(text.slice(at, at + 3000));
  return found ? { node: link(unescape(found[0])), end: at + found[0].length } : null;
}
