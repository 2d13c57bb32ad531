// A person's or an app's initials on their color.

import { h } from "./dom.js";

export function avatar(user, size = "") {
  const name = user?.real_name || user?.name || "?";
  const node = h("span", { class: `avatar ${size} ${user?.is_bot ? "avatar-app" : ""}`, "aria-hidden": "true" }, initials(name));
  const color = (user?.color ?? "").replace(/^#/, "");
  if (/^[0-9a-f]{6}$/i.test(color)) node.style.setProperty("--avatar", `#${color}`);
  return node;
}

function initials(name) {
  const words = name.trim().split(/\s+/).filter(Boolean);
  const letters = words.length > 1 ? [words[0], words.at(-1)] : words;
  return letters.map((word) => [...word][0]).join("").toUpperCase();
}
