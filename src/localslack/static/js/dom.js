// Builds DOM nodes without ever parsing markup, so text from a message can only become text.

const PROPERTIES = new Set([
  "value", "checked", "disabled", "type", "hidden", "tabIndex", "textContent", "htmlFor", "open", "selected", "readOnly",
]);

/** `h("button", {class: "x", onclick: fn, dataset: {a: 1}}, "text", child, ...)`: an element. Null children are left out. */
export function h(tag, props, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(props ?? {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name === "class") node.className = value;
    else if (name === "dataset") Object.assign(node.dataset, value);
    else if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else if (PROPERTIES.has(name)) node[name] = value;
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  node.append(...solid(children));
  return node;
}

/** A document fragment holding the given children. */
export function fragment(...children) {
  const result = document.createDocumentFragment();
  result.append(...solid(children));
  return result;
}

/**
 * Make `parent` hold exactly `nodes`, in order, moving only what is out of place (a moved node would lose its focus).
 * What goes is removed last: a list that is empty for a moment is scrolled to its top.
 */
export function arrange(parent, nodes) {
  const wanted = new Set(nodes);
  const gone = [...parent.childNodes].filter((child) => !wanted.has(child));
  let cursor = parent.firstChild;
  for (const node of nodes) {
    while (cursor && !wanted.has(cursor)) cursor = cursor.nextSibling;
    if (node === cursor) cursor = cursor.nextSibling;
    else parent.insertBefore(node, cursor);
  }
  for (const child of gone) child.remove();
}

/** Whether a node is drawn, and not hidden as what another part of the page covers. */
export const isSeen = (node) => node.checkVisibility({ visibilityProperty: true });

/** A maker of nodes that gives what it gave before as long as `data` is the same, so that it keeps its focus. */
export function steady(make) {
  let print = null;
  let made = null;
  return (data) => {
    const now = JSON.stringify(data);
    if (now !== print) [print, made] = [now, make()];
    return made;
  };
}

let counter = 0;
export function freshId(prefix) {
  counter += 1;
  return `${prefix}-${counter}`;
}

function solid(children) {
  return children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false);
}

const SVG = "http://www.w3.org/2000/svg";
const STROKES = {
  back: "M12.5 4.5 7 10l5.5 5.5",
  bolt: "M11 2.5 4.5 11.5H10L9 17.5l6.5-9H10z",
  calendar: "M4 5h12v11.5H4zM4 8.5h12M7.5 3v3.5M12.5 3v3.5",
  chat: "M3.5 4.5h13v9h-7l-3.5 3v-3h-2.5z",
  check: "M4.5 10.5 8.5 14.5 15.5 6",
  chevron: "M5.5 8 10 12.5 14.5 8",
  close: "M5 5l10 10M15 5 5 15",
  down: "M10 4v12M5 11l5 5 5-5",
  edit: "M4 16l.8-3.4L13 4.4l2.6 2.6-8.2 8.2z",
  hash: "M8 3 6.5 17M13.5 3 12 17M4 7.5h13M3 12.5h13",
  home: "M3.5 9.5 10 4l6.5 5.5M5.5 8.5V16h9V8.5",
  lock: "M5 9h10v7.5H5zM7 9V6.5a3 3 0 0 1 6 0V9",
  menu: "M3.5 5.5h13M3.5 10h13M3.5 14.5h13",
  more: "M5 10h.01M10 10h.01M15 10h.01",
  open: "M8 4.5H4.5v11h11V12M11 4.5h4.5V9M15.5 4.5 9 11",
  reply: "M3.5 4.5h13v8h-6l-3 3v-3h-4zM7 8.5h6",
  send: "M3.5 3.5 17 10 3.5 16.5 5.5 10zM5.5 10H11",
  swap: "M4 7h11M12 4l3 3-3 3M16 13H5M8 10l-3 3 3 3",
};

export function icon(name) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 20 20");
  svg.setAttribute("class", `icon icon-${name}`);
  svg.setAttribute("aria-hidden", "true");
  const path = document.createElementNS(SVG, "path");
  path.setAttribute("d", STROKES[name]);
  svg.append(path);
  return svg;
}

/** The address if it may be opened from a message (web, mail, phone), else null. */
export function safeUrl(text) {
  try {
    const url = new URL(text);
    return ["http:", "https:", "mailto:", "tel:"].includes(url.protocol) ? url.href : null;
  } catch {
    return null;
  }
}
