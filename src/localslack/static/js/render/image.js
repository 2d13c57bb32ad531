// Pictures, with their words in their place when they cannot be loaded.

import { h } from "../dom.js";

export function image(source, className) {
  const alt = source.alt_text ?? "";
  const url = webAddress(source.image_url ?? source.slack_file?.url ?? fileAddress(source.slack_file));
  if (!url) return h("span", { class: "missing-image" }, alt || "Picture");
  // With its size known, nothing below moves when it is loaded: a button that moves between press and release is not clicked.
  const { image_width: width, image_height: height } = source;
  const node = h("img", { width, height, src: url, alt, class: className, loading: "lazy", referrerpolicy: "no-referrer", title: alt });
  node.addEventListener("error", () => node.replaceWith(h("span", { class: "missing-image" }, alt || "Picture")));
  return node;
}

/** Files of the workspace are served beside the page. */
function fileAddress(file) {
  return file?.id ? `/files/${encodeURIComponent(file.id)}` : undefined;
}

function webAddress(text) {
  try {
    const url = new URL(text, location.href);
    return ["http:", "https:"].includes(url.protocol) ? url.href : null;
  } catch {
    return null;
  }
}
