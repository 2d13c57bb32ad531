// Words for those who cannot see the change, and passing notes for those who can.

import { h } from "./dom.js";

const NOTE_MS = 8000;

/** Have a screen reader say something when it is done with what it is saying. */
export function announce(words) {
  const place = document.getElementById("announcer");
  place.textContent = "";
  setTimeout(() => (place.textContent = words), 60);
}

/** A note at the edge of the page that goes away by itself. */
export function toast(words) {
  const note = h("div", { class: "toast" }, words);
  document.getElementById("toasts").append(note);
  setTimeout(() => note.remove(), NOTE_MS);
}
