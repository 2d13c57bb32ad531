// Checkboxes and radio buttons.

import { freshId, h } from "../dom.js";
import { plain, textNode } from "../render/text.js";

export function checkboxes(field) {
  const chosen = () => field.value.selected_options ?? [];
  const toggle = (option, on) => {
    const others = chosen().filter((held) => held.value !== option.value);
    const order = field.element.options;
    const next = on ? [...others, option] : others;
    field.set({ selected_options: order.filter((known) => next.some((held) => held.value === known.value)) });
  };
  const isOn = (option) => chosen().some((held) => held.value === option.value);
  return group(field, "group", "checkbox", isOn, toggle);
}

export function radioButtons(field) {
  const isOn = (option) => field.value.selected_option?.value === option.value;
  return group(field, "radiogroup", "radio", isOn, (option) => field.set({ selected_option: option }));
}

function group(field, role, type, isOn, choose) {
  const name = freshId("choice");
  const options = field.element.options ?? [];
  return h(
    "div",
    { class: "choices", role, ...field.attributes({ group: true }) },
    options.map((option, index) =>
      h(
        "label",
        { class: "choice" },
        h("input", {
          type, name, value: option.value ?? "", checked: isOn(option), id: index === 0 ? field.id : null,
          dataset: field.dataset(), "aria-label": plain(option.text),
          onchange: (event) => choose(option, event.target.checked),
        }),
        h("span", { class: "choice-text" }, textNode(field.store, option.text, "span"), option.description && textNode(field.store, option.description, "small")),
      ),
    ),
  );
}
