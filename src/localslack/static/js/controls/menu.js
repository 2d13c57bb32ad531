// A menu of things to do, opened from a button; arrow keys move, Enter does, Esc goes back to the button.

import { h } from "../dom.js";
import { openPopup } from "./popup.js";

/**
 * Open a menu for `anchor`. Items are {label, description?, act, danger?, checked?, href?, dataset?}.
 * The focus goes back to the anchor when the menu closes without moving it elsewhere.
 */
export function openMenu(anchor, items, { label }) {
  const entries = items.map((item) => entry(item, () => popup.close()));
  const menu = h("div", { class: "menu", role: "menu", "aria-label": label, onkeydown: (event) => move(event, entries, popup) }, entries);
  anchor.setAttribute("aria-expanded", "true");
  const popup = openPopup(anchor, menu, {
    onClose() {
      anchor.setAttribute("aria-expanded", "false");
      if (document.activeElement === document.body || document.activeElement === null) anchor.focus({ preventScroll: true });
    },
  });
  entries[0]?.focus({ preventScroll: true });
  return popup;
}

function entry({ label, description, act, danger, checked, href, dataset }, close) {
  const run = () => {
    close();
    act?.();
  };
  const shape = {
    class: danger ? "menu-item danger" : "menu-item",
    role: checked === undefined ? "menuitem" : "menuitemradio",
    "aria-checked": checked === undefined ? null : String(checked),
    tabIndex: -1, dataset, onclick: run,
  };
  const inside = [h("span", { class: "option-label" }, label), description && h("span", { class: "option-description" }, description)];
  if (href) return h("a", { ...shape, href, target: "_blank", rel: "noopener noreferrer" }, inside);
  return h("button", { ...shape, type: "button" }, inside);
}

function move(event, entries, popup) {
  const at = entries.indexOf(document.activeElement);
  const targets = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: entries.length - 1 };
  if (event.key in targets) entries[(targets[event.key] + entries.length) % entries.length].focus();
  else if (event.key === "Escape" || event.key === "Tab") popup.close();
  else if (event.key.length === 1 && event.key !== " ") {
    const wanted = event.key.toLowerCase();
    const order = [...entries.slice(at + 1), ...entries.slice(0, at + 1)];
    order.find((item) => item.textContent.trim().toLowerCase().startsWith(wanted))?.focus();
  } else return;
  if (event.key !== "Tab") event.preventDefault();
  event.stopPropagation();
}
