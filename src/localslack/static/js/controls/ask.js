// Small questions above everything else: yes or no, or a text to change.

import { freshId, h } from "../dom.js";
import { plain } from "../render/text.js";

/** Ask a Slack confirmation object's question. Resolves to true only when the person confirms. */
export async function confirmDialog({ title, text, confirm, deny, style }) {
  return ask({
    title: plain(title, "Are you sure?"),
    text: plain(text, ""),
    yes: plain(confirm, "Yes"),
    no: plain(deny, "Cancel"),
    danger: style === "danger",
  });
}

export async function ask({ title, text, yes, no = "Cancel", danger = false }) {
  const answer = await show({ title, yes, no, danger, inside: h("p", {}, text), read: () => "yes" });
  return answer === "yes";
}

/** Let a person change a text. Resolves to the new text, or null when they leave it as it was. */
export async function askText({ title, text, yes }) {
  const box = h("textarea", { class: "text-field", rows: 4, value: text, "aria-label": title, autofocus: true });
  const answer = await show({ title, yes, no: "Cancel", danger: false, inside: box, read: () => box.value.trim() });
  return answer && answer !== text ? answer : null;
}

function show({ title, yes, no, danger, inside, read }) {
  return new Promise((resolve) => {
    const titleId = freshId("question");
    let answer = null;
    const finish = (value) => {
      answer = value;
      dialog.close();
    };
    const dialog = h(
      "dialog",
      { class: "question", role: "alertdialog", "aria-labelledby": titleId },
      h("h2", { id: titleId }, title),
      inside,
      h(
        "div",
        { class: "question-buttons" },
        h("button", { type: "button", class: "button", onclick: () => finish(null) }, no),
        h("button", { type: "button", class: danger ? "button danger" : "button primary", onclick: () => finish(read()), autofocus: inside.localName === "p" }, yes),
      ),
    );
    const before = document.activeElement;
    dialog.addEventListener("close", () => {
      dialog.remove();
      if (before?.isConnected) before.focus({ preventScroll: true });
      resolve(answer);
    });
    dialog.addEventListener("keydown", (event) => {
      event.stopPropagation();
      if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) finish(read());
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}
