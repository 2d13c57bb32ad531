// One popup at a time, in the browser's top layer: beside its anchor, or a sheet at the bottom of a narrow screen.

import { h } from "../dom.js";

const GAP = 4;
const MARGIN = 8;
const NARROW = window.matchMedia("(max-width: 640px)");
let current = null;

/** Show `content` for `anchor`. `onClose()` is told however it closes. Answers {close, place}. */
export function openPopup(anchor, content, { onClose, className = "", width = 220, sheet = true } = {}) {
  current?.close();
  const asSheet = sheet && NARROW.matches;
  const box = h("div", { class: `popup ${className} ${asSheet ? "popup-sheet" : ""}`, popover: "manual" }, content);
  // A popup outside an open modal dialog would be inert, so it lives inside the dialog that holds its anchor.
  (anchor.closest("dialog") ?? document.body).append(box);
  const place = () => (asSheet ? undefined : beside(anchor, box, width));
  const outside = (event) => {
    if (!box.contains(event.target) && !anchor.contains(event.target)) popup.close();
  };
  const moved = (event) => {
    if (!box.contains(event.target)) place();
  };
  const popup = {
    anchor,
    place,
    close() {
      if (current !== popup) return;
      current = null;
      document.removeEventListener("pointerdown", outside, true);
      document.removeEventListener("scroll", moved, true);
      window.removeEventListener("resize", place);
      box.remove();
      onClose?.();
    },
  };
  current = popup;
  document.addEventListener("pointerdown", outside, true);
  document.addEventListener("scroll", moved, true);
  window.addEventListener("resize", place);
  box.showPopover();
  place();
  return popup;
}

export function closePopup() {
  current?.close();
}

/** Close the popup if its anchor is inside `node`, which is about to go away. */
export function closePopupOf(node) {
  if (current && node.contains(current.anchor)) current.close();
}

function beside(anchor, box, width) {
  const spot = anchor.getBoundingClientRect();
  box.style.minWidth = `${Math.max(spot.width, width)}px`;
  box.style.maxHeight = "none";
  const below = window.innerHeight - spot.bottom - GAP - MARGIN;
  const above = spot.top - GAP - MARGIN;
  const wanted = Math.min(box.scrollHeight, 340);
  const down = below >= wanted || below >= above;
  box.style.maxHeight = `${Math.min(340, Math.max(120, down ? below : above))}px`;
  const size = box.getBoundingClientRect();
  const left = Math.min(spot.left, window.innerWidth - size.width - MARGIN);
  box.style.left = `${Math.max(MARGIN, left)}px`;
  box.style.top = `${down ? spot.bottom + GAP : spot.top - GAP - size.height}px`;
}
