// Elements that do something at once: buttons, the overflow menu, feedback and icon buttons.

import { h, icon, safeUrl } from "../dom.js";
import { plain } from "../render/text.js";
import { openMenu } from "./menu.js";

export function button(field) {
  const { element } = field;
  const style = ["primary", "danger"].includes(element.style) ? element.style : "";
  const text = plain(element.text, "Button");
  const press = () => field.press({ text: element.text, value: element.value });
  const shape = { class: `button ${style}`, dataset: field.dataset(), "aria-label": element.accessibility_label, onclick: press };
  const url = element.url ? safeUrl(element.url) : null;
  if (url) {
    return h("a", { ...shape, href: url, target: "_blank", rel: "noopener noreferrer" }, h("span", { class: "button-text" }, text), icon("open"));
  }
  return h("button", { ...shape, type: "button" }, h("span", { class: "button-text" }, text));
}

export function overflow(field) {
  const { element } = field;
  const choose = (option) => field.press({ selected_option: option });
  const items = () =>
    (element.options ?? []).map((option) => ({
      label: plain(option.text),
      description: plain(option.description, "") || null,
      href: option.url ? safeUrl(option.url) : null,
      dataset: { value: option.value ?? "" },
      act: () => choose(option),
    }));
  const anchor = h(
    "button",
    {
      type: "button", class: "button icon-button", dataset: field.dataset(), "aria-label": "More actions",
      "aria-haspopup": "menu", "aria-expanded": "false", onclick: () => openMenu(anchor, items(), { label: "More actions" }),
    },
    icon("more"),
  );
  return anchor;
}

export function feedbackButtons(field) {
  const { element } = field;
  const one = (choice, sign) =>
    h(
      "button",
      {
        type: "button", class: "button quiet", dataset: field.dataset({ value: choice.value ?? "" }),
        "aria-label": choice.accessibility_label ?? plain(choice.text), title: plain(choice.text),
        onclick: () => field.press({ text: choice.text, value: choice.value }),
      },
      h("span", { class: "button-text" }, sign),
    );
  return h("span", { class: "feedback" }, element.positive_button && one(element.positive_button, "👍"), element.negative_button && one(element.negative_button, "👎"));
}

export function iconButton(field) {
  const { element } = field;
  const text = plain(element.text, element.icon ?? "Button");
  const label = element.accessibility_label ?? text;
  return h(
    "button",
    { type: "button", class: "button quiet", dataset: field.dataset(), "aria-label": label, onclick: () => field.press({ text: element.text, value: element.value }) },
    h("span", { class: "button-text" }, element.icon === "trash" ? "🗑" : text),
  );
}
