// A small question with two answers, above everything else.

import { h } from "../dom.js";
import { plain } from "../render/text.js";

/** Ask a Slack confirmation object's question. Resolves to true only when the person confirms. */
export function confirmDialog({ title, text, confirm, deny, style }) {
  return ask({
    title: plain(title, "Are you sure?"),
    text: plain(text, ""),
    yes: plain(confirm, "Yes"),
    no: plain(deny, "Cancel"),
    danger: style === "danger",
  });
}

export function ask({ title, text, yes, no, danger }) {
  return new Promise((resolve) => {
    const answer = (value) => () => dialog.close(value);
    const dialog = h(
      "dialog",
      { class: "confirm", role: "alertdialog", "aria-labelledby": "confirm-title", "aria-describedby": "confirm-text" },
      h("h2", { id: "confirm-title" }, title),
      h("p", { id: "confirm-text" }, text),
      h(
        "div",
        { class: "confirm-buttons" },
        h("button", { type: "button", class: "button", onclick: answer("") }, no),
        h("button", { type: "button", class: danger ? "button danger" : "button primary", onclick: answer("yes"), autofocus: true }, yes),
      ),
    );
    const before = document.activeElement;
    dialog.addEventListener("close", () => {
      dialog.remove();
      if (before?.isConnected) before.focus({ preventScroll: true });
      resolve(dialog.returnValue === "yes");
    });
    dialog.addEventListener("keydown", (event) => event.stopPropagation());
    document.body.append(dialog);
    dialog.showModal();
  });
}
