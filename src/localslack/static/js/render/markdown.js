// Standard Markdown, as the `markdown` block carries it, parsed into nodes.

import { fragment, h } from "../dom.js";
import { emoji } from "./emoji.js";
import { link, token, unescape } from "./tokens.js";

const FENCE = /^\s{0,3}(`{3,}|~{3,})/;
const HEADING = /^\s{0,3}(#{1,6})\s+(.*?)\s*#*$/;
const RULE = /^\s{0,3}([-*_])(?:\s*\1){2,}\s*$/;
const ITEM = /^(\s*)(?:([-*+])|(\d{1,9})[.)])\s+(.*)$/;
const QUOTE = /^\s{0,3}>\s?/;
const TABLE_RULE = /^\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*$/;
const DEEPEST = 8;
const LOOKAHEAD = 4000;

export function markdown(store, text) {
  return h("div", { class: "prose" }, blocks(store, text.replaceAll("\r\n", "\n").split("\n"), 0));
}

function blocks(store, rows, depth) {
  const output = fragment();
  let at = 0;
  while (at < rows.length) {
    const [node, end] = one(store, rows, at, depth);
    if (node) output.append(node);
    at = end;
  }
  return output;
}

function one(store, rows, at, depth) {
  const row = rows[at];
  if (row.trim() === "") return [null, at + 1];
  if (FENCE.test(row)) return fence(rows, at);
  const heading = HEADING.exec(row);
  if (heading) return [h(`h${Math.min(6, heading[1].length + 2)}`, {}, spans(store, heading[2])), at + 1];
  if (RULE.test(row)) return [h("hr"), at + 1];
  if (QUOTE.test(row) && depth < DEEPEST) return quote(store, rows, at, depth);
  if (ITEM.test(row) && depth < DEEPEST) return list(store, rows, at, depth);
  if (row.includes("|") && TABLE_RULE.test(rows[at + 1] ?? "") && rows[at + 1].includes("-")) return table(store, rows, at);
  return paragraph(store, rows, at);
}

function fence(rows, at) {
  const mark = FENCE.exec(rows[at])[1];
  let end = at + 1;
  while (end < rows.length && !rows[end].trim().startsWith(mark)) end += 1;
  return [h("pre", { class: "code" }, rows.slice(at + 1, end).join("\n")), end + 1];
}

function quote(store, rows, at, depth) {
  let end = at;
  while (end < rows.length && QUOTE.test(rows[end])) end += 1;
  const inside = rows.slice(at, end).map((row) => row.replace(QUOTE, ""));
  return [h("blockquote", {}, blocks(store, inside, depth + 1)), end];
}

function list(store, rows, at, depth) {
  const [, indent, bullet, number] = ITEM.exec(rows[at]);
  const node = h(bullet ? "ul" : "ol", { start: number && number !== "1" ? number : null });
  let end = at;
  while (end < rows.length) {
    const found = ITEM.exec(rows[end]);
    if (!found || found[1].length > indent.length + 1 || found[1].length < indent.length || Boolean(found[2]) !== Boolean(bullet)) break;
    const inside = [found[4]];
    end += 1;
    while (end < rows.length && belongs(rows, end, indent.length)) {
      inside.push(rows[end].replace(/^(\t|\s{1,4})/, ""));
      end += 1;
    }
    node.append(item(store, inside, depth));
  }
  return [node, end];
}

/** Whether a row continues the list item above: it is indented deeper, or empty with such a row after it. */
function belongs(rows, at, indent) {
  const deeper = (row) => row !== undefined && /^\s*\S/.test(row) && row.search(/\S/) >= indent + 2;
  return deeper(rows[at]) || (rows[at].trim() === "" && deeper(rows[at + 1]));
}

function item(store, rows, depth) {
  const task = /^\[([ xX])\]\s+(.*)$/.exec(rows[0]);
  const head = spans(store, task ? task[2] : rows[0]);
  const rest = rows.length > 1 ? blocks(store, rows.slice(1), depth + 1) : null;
  if (!task) return h("li", {}, head, rest);
  const done = task[1] !== " ";
  return h("li", { class: "task" }, h("span", { class: "tick", role: "img", "aria-label": done ? "done" : "open" }, done ? "☑" : "☐"), head, rest);
}

function table(store, rows, at) {
  const cells = (row) => row.trim().replace(/^\||\|$/g, "").split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll("\\|", "|"));
  const sides = cells(rows[at + 1]).map((cell) => (/^:.*:$/.test(cell) ? "center" : cell.endsWith(":") ? "right" : "left"));
  let end = at + 2;
  while (end < rows.length && rows[end].includes("|")) end += 1;
  const line = (row, tag) => h("tr", {}, cells(row).map((cell, index) => h(tag, { dataset: { align: sides[index] ?? "left" } }, spans(store, cell))));
  const body = rows.slice(at + 2, end).map((row) => line(row, "td"));
  return [h("div", { class: "table-wrap", tabIndex: 0 }, h("table", {}, h("thead", {}, line(rows[at], "th")), h("tbody", {}, body))), end];
}

function paragraph(store, rows, at) {
  let end = at + 1;
  const ends = (row) => row.trim() === "" || FENCE.test(row) || HEADING.test(row) || RULE.test(row) || QUOTE.test(row) || ITEM.test(row);
  while (end < rows.length && !ends(rows[end])) end += 1;
  return [h("p", {}, spans(store, rows.slice(at, end).map((row) => row.trim()).join("\n"))), end];
}

// In order of precedence; each answers the node for its match, given a function for the text inside.
const SPANS = [
  [/^\\([\\`*_{}[\]()#+\-.!~|>])/, (found) => document.createTextNode(found[1])],
  [/^(`+)([\s\S]*?[^`])\1(?!`)/, (found) => h("code", {}, found[2].trim())],
  [/^!?\[((?:[^[\]]|\[[^\]]*\])*)\]\(\s*<?([^\s)>]+)>?(?:\s+"[^"]*")?\s*\)/, (found, inner) => link(found[2], inner(found[1]))],
  [/^<([@#!][^<>\s][^<>]*|(?:https?|mailto):[^<>]+)>/, (found, _inner, store) => token(store, found[1])],
  [/^\*\*(?=\S)([\s\S]*?\S)\*\*/, (found, inner) => h("strong", {}, inner(found[1]))],
  [/^__(?=\S)([\s\S]*?\S)__(?!\w)/, (found, inner) => h("strong", {}, inner(found[1]))],
  [/^~~(?=\S)([\s\S]*?\S)~~/, (found, inner) => h("s", {}, inner(found[1]))],
  [/^\*(?=[^\s*])([\s\S]*?[^\s*])\*(?!\*)/, (found, inner) => h("em", {}, inner(found[1]))],
  [/^_(?=[^\s_])([\s\S]*?[^\s_])_(?!\w)/, (found, inner) => h("em", {}, inner(found[1]))],
  [/^https?:\/\/[^\s<>|]+[^\s<>|.,;:!?)\]}'"*_]/i, (found) => link(found[0])],
];
const SPECIAL = /[\\`![<*_~h:]/;

function spans(store, text, depth = 0) {
  const output = fragment();
  let plain = "";
  let at = 0;
  const flush = () => {
    if (plain) output.append(unescape(plain));
    plain = "";
  };
  while (at < text.length) {
    const found = SPECIAL.test(text[at]) && depth < DEEPEST ? match(store, text, at, depth) : null;
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

function match(store, text, at, depth) {
  const rest = text.slice(at, at + LOOKAHEAD);
  const inWord = /\w/.test(text[at - 1] ?? "");
  const short = /^:([a-z0-9_+-]+):/.exec(rest);
  if (short && emoji(short[1])) {
    return { node: h("span", { class: "emoji", role: "img", "aria-label": short[1] }, emoji(short[1])), end: at + short[0].length };
  }
  for (const [pattern, draw] of SPANS) {
    if (inWord && /^[_h]/.test(rest)) return null;
    const found = pattern.exec(rest);
    if (found) return { node: draw(found, (inside) => spans(store, inside, depth + 1), store), end: at + found[0].length };
  }
  return null;
}
