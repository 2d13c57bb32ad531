// Text objects: {"type": "plain_text" | "mrkdwn", "text"}.

import { h } from "../dom.js";
import { withEmoji } from "./emoji.js";
import { mrkdwn } from "./mrkdwn.js";

/** The words of a text object as a string, for labels and places that hold no marks. */
export function plain(object, fallback = "") {
  if (typeof object === "string") return object;
  if (typeof object?.text !== "string") return fallback;
  return object.emoji === false ? object.text : withEmoji(object.text);
}

/** A text object as a node. */
export function textNode(store, object, tag = "div") {
  const marked = object?.type === "mrkdwn";
  return h(tag, { class: "text" }, marked ? mrkdwn(store, object.text ?? "") : plain(object));
}
