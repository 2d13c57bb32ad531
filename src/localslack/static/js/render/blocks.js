// Block Kit blocks as nodes. Each kind is one small function; anything unknown falls back to its words.

import { freshId, h } from "../dom.js";
import { drawElement } from "./elements.js";
import { Field } from "./field.js";
import { image } from "./image.js";
import { markdown } from "./markdown.js";
import { richText } from "./richtext.js";
import { plain, textNode } from "./text.js";

const KINDS = new Map(Object.entries({
  section,
  header: ({ block }) => h("h3", {}, plain(block.text)),
  divider: () => h("hr"),
  context,
  image: picture,
  actions,
  context_actions: actions,
  input,
  rich_text: ({ block, store }) => richText(store, block),
  markdown: ({ block, store }) => markdown(store, block.text ?? ""),
  table,
  task_card: task,
  plan,
}));

const TASK_SIGNS = { pending: "○", in_progress: "◌", complete: "✓", error: "!" };

// Controls so short that a form is easier to read with them beside their label than below it.
const SHORT = new Set(["number_input", "timepicker", "datepicker"]);

/** One block as a node that says which block it is. `context` is {block, store, surface}. */
export function drawBlock(context) {
  const { block } = context;
  const draw = KINDS.get(block.type) ?? unknown;
  const errorId = freshId("error");
  const body = drawn(draw, { ...context, errorId });
  return h(
    "div",
    { class: `block block-${KINDS.has(block.type) ? block.type : "unknown"}`, dataset: { block: block.block_id ?? "" } },
    body,
    h("p", { class: "block-error", id: errorId, role: "alert", hidden: true }),
  );
}

// A block that an app got wrong must not take the rest of the conversation with it.
function drawn(draw, context) {
  try {
    return draw(context);
  } catch (problem) {
    console.warn("A block could not be drawn", context.block, problem);
    return h("div", { class: "unknown" }, h("small", {}, `A block of the kind “${context.block.type}” can't be shown.`));
  }
}

function field({ block, store, surface }, element, rest = { dispatches: true }) {
  return new Field({ surface, store, block, element, ...rest });
}

function section(context) {
  const { block, store } = context;
  const fields = block.fields ?? [];
  const words = h(
    "div",
    { class: block.expand ? "section-text expanded" : "section-text" },
    block.text && textNode(store, block.text),
    fields.length > 0 && h("div", { class: "section-fields" }, fields.map((one) => textNode(store, one))),
  );
  if (!block.accessory) return words;
  const wide = !["button", "overflow", "image"].includes(block.accessory.type);
  const label = { id: freshId("label"), text: "" };
  words.id = label.id;
  const accessory = field(context, block.accessory, { dispatches: true, label: wide && !block.accessory.placeholder ? label : null });
  return h("div", { class: wide ? "section-row wide" : "section-row" }, words, h("div", { class: "accessory" }, drawElement(accessory)));
}

function context({ block, store }) {
  return h("div", { class: "context" }, (block.elements ?? []).map((part) => (part.type === "image" ? image(part, "context-image") : textNode(store, part, "span"))));
}

function picture({ block }) {
  const title = plain(block.title, "");
  return h("figure", {}, title && h("figcaption", {}, title), image(block, "picture"));
}

function actions(context) {
  return h("div", { class: "actions", role: "group", "aria-label": "Actions" }, (context.block.elements ?? []).map((element) => drawElement(field(context, element))));
}

function input(context) {
  const { block, store, errorId } = context;
  const required = block.optional !== true;
  const labelId = freshId("label");
  const hintId = freshId("hint");
  const label = { id: labelId, text: plain(block.label) };
  const one = field(context, block.element ?? {}, {
    dispatches: block.dispatch_action === true, label, required, describedBy: [block.hint && hintId, errorId].filter(Boolean).join(" "),
  });
  const control = drawElement(one);
  return h(
    "div",
    { class: SHORT.has(block.element?.type) ? "input short" : "input" },
    h("label", { class: "input-label", id: labelId, htmlFor: one.id }, label.text, !required && h("span", { class: "optional" }, " optional")),
    control,
    block.hint && h("p", { class: "hint", id: hintId }, textNode(store, block.hint, "span")),
  );
}

function task({ block, store }) {
  const status = TASK_SIGNS[block.status] ? block.status : "pending";
  return h(
    "div",
    { class: `step step-${status}` },
    h("span", { class: "step-sign", role: "img", "aria-label": status.replace("_", " ") }, TASK_SIGNS[status]),
    h("div", {}, block.title, [block.details, block.output].filter(Boolean).map((one) => richText(store, one))),
  );
}

function plan({ block, store }) {
  const title = typeof block.title === "string" ? block.title : plain(block.title, "");
  return h("div", { class: "plan" }, h("div", { class: "plan-title" }, title), (block.tasks ?? []).map((one) => task({ block: one, store })));
}

function table({ block, store }) {
  const settings = block.column_settings ?? [];
  const cell = (one, index, tag) => {
    const words = one?.type === "rich_text" ? richText(store, one) : String(one?.text ?? one?.value ?? "");
    const { align = "left", is_wrapped: wrapped = false } = settings[index] ?? {};
    return h(tag, { dataset: { align }, class: wrapped ? "wrapped" : null, scope: tag === "th" ? "col" : null }, words);
  };
  const [head = [], ...rows] = block.rows ?? [];
  return h(
    "div",
    { class: "table-wrap", tabIndex: 0, role: "group", "aria-label": "Table" },
    h(
      "table",
      {},
      h("thead", {}, h("tr", {}, head.map((one, index) => cell(one, index, "th")))),
      h("tbody", {}, rows.map((row) => h("tr", {}, row.map((one, index) => cell(one, index, "td"))))),
    ),
  );
}

function unknown({ block, store }) {
  const words = [block.text, block.title, block.subtitle, block.body, block.fallback, block.alt_text].filter((text) => text && (typeof text === "string" || typeof text.text === "string"));
  return h(
    "div",
    { class: "unknown" },
    words.map((text) => (typeof text === "string" ? h("div", {}, text) : textNode(store, text))),
    h("small", {}, `This page shows the block “${block.type}” as plain words.`),
  );
}
