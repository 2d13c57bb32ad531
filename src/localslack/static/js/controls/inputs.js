// Fields a person types into.

import { h } from "../dom.js";
import { plain } from "../render/text.js";

const TYPING_PAUSE_MS = 350;
const NEARLY_FULL = 0.8;

export function plainTextInput(field) {
  return textField(field, { multiline: field.element.multiline === true });
}

export function emailInput(field) {
  return textField(field, { type: "email", autocomplete: "email" });
}

export function urlInput(field) {
  return textField(field, { type: "url" });
}

/** A number as text: arrow keys step it, and what was typed is never thrown away as a native number field does. */
export function numberInput(field) {
  const { element } = field;
  const node = textField(field, { inputmode: element.is_decimal_allowed ? "decimal" : "numeric" });
  const control = node.querySelector("input");
  control.classList.add("number");
  control.addEventListener("keydown", (event) => {
    const step = { ArrowUp: 1, ArrowDown: -1 }[event.key];
    if (!step) return;
    event.preventDefault();
    const start = control.value.trim() === "" ? Number(element.min_value ?? 0) - Math.max(step, 0) : Number(control.value);
    if (Number.isNaN(start)) return;
    const low = element.min_value === undefined ? -Infinity : Number(element.min_value);
    const high = element.max_value === undefined ? Infinity : Number(element.max_value);
    control.value = String(Math.min(high, Math.max(low, start + step)));
    control.dispatchEvent(new Event("input", { bubbles: true }));
  });
  return node;
}

function textField(field, { multiline = false, type = "text", inputmode = null, autocomplete = "off" }) {
  const { element } = field;
  const moments = element.dispatch_action_config?.trigger_actions_on ?? ["on_enter_pressed"];
  const counter = element.max_length ? h("span", { class: "counter", "aria-live": "polite" }) : null;
  const shape = {
    ...field.attributes(), value: field.value.value ?? "", placeholder: plain(element.placeholder, "") || null, inputmode, autocomplete,
    class: "text-field", autofocus: element.focus_on_load || null, maxlength: null,
  };
  const control = multiline ? h("textarea", { ...shape, rows: 3 }) : h("input", { ...shape, type });
  let timer = null;
  const keep = (final) => field.set({ value: control.value === "" ? null : control.value }, { final });
  const count = () => {
    if (!counter) return;
    const left = element.max_length - control.value.length;
    counter.textContent = control.value.length >= element.max_length * NEARLY_FULL ? (left >= 0 ? `${left} left` : `${-left} too many`) : "";
    counter.classList.toggle("over", left < 0);
  };
  control.addEventListener("input", () => {
    clearTimeout(timer);
    keep(false);
    count();
    if (field.dispatches && moments.includes("on_character_entered")) timer = setTimeout(() => keep(true), TYPING_PAUSE_MS);
  });
  control.addEventListener("keydown", (event) => {
    const enter = event.key === "Enter" && !event.isComposing && !(multiline && event.shiftKey) && !event.ctrlKey && !event.metaKey;
    if (!enter || !field.dispatches || !moments.includes("on_enter_pressed")) return;
    event.preventDefault();
    event.stopPropagation();
    keep(true);
  });
  count();
  return h("div", { class: multiline ? "text-box multiline" : "text-box" }, control, counter);
}
