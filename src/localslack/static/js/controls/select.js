// Every select menu: one or many, fixed options, people, channels, or options the app looks up while typing.

import { h, icon } from "../dom.js";
import { plain } from "../render/text.js";
import { ListBox } from "./listbox.js";
import { openPopup } from "./popup.js";

const SEARCH_FROM = 8;
const LOOKUP_PAUSE_MS = 180;

/** A control for one kind of select: `slot` names its place in the form state, `source` its options. */
export const select = (slot, source, { many = false } = {}) => (field) => (many ? manySelect(field, slot, source) : oneSelect(field, slot, source));

export const fixedOptions = {
  isOption: true,
  entries({ element }) {
    const groups = element.option_groups ?? [{ options: element.options ?? [] }];
    return groups.flatMap(({ label, options }) => [...(label ? [{ heading: plain(label) }] : []), ...(options ?? []).map(optionEntry)]);
  },
};

export const lookedUpOptions = {
  isOption: true,
  shortest: (field) => field.element.min_query_length ?? 3,
  async entries(field, query) {
    const answer = await field.surface.api.suggest(field.surface.ref, field.block.block_id, field.element.action_id, query);
    if (!answer.ok) throw new Error(answer.error);
    const groups = answer.option_groups?.length ? answer.option_groups : [{ options: answer.options ?? [] }];
    return groups.flatMap(({ label, options }) => [...(label ? [{ heading: plain(label) }] : []), ...(options ?? []).map(optionEntry)]);
  },
};

export const people = {
  entries: ({ store }) => [...store.users.values()].map((user) => ({ key: user.id, raw: user.id, label: store.name(user.id), description: user.is_bot ? "App" : null })),
  label: ({ store }, id) => store.name(id),
};

export const channels = {
  entries: ({ store }) => [...store.channels.values()].map((channel) => ({ key: channel.id, raw: channel.id, label: channel.is_im ? channel.name : `#${channel.name}` })),
  label: ({ store }, id) => store.channels.get(id)?.name ?? id,
};

function optionEntry(option) {
  return { key: option.value ?? "", raw: option, label: plain(option.text), description: plain(option.description, "") || null };
}

const keyOf = (source, raw) => (source.isOption ? raw.value : raw);
const labelOf = (field, source, raw) => (source.isOption ? plain(raw.text) : source.label(field, raw));

function oneSelect(field, slot, source) {
  const chosen = () => field.value[slot] ?? null;
  const text = h("span", { class: "select-text" });
  const draw = () => {
    const raw = chosen();
    text.textContent = raw ? labelOf(field, source, raw) : plain(field.element.placeholder, "Choose…");
    text.classList.toggle("placeholder", raw === null);
  };
  const anchor = h("button", { ...field.attributes(), ...COMBOBOX, type: "button", class: "select" }, text, icon("chevron"));
  const clearable = field.label && !field.required;
  chooser(anchor, field, source, {
    isChosen: (key) => chosen() !== null && keyOf(source, chosen()) === key,
    extra: () => (clearable && chosen() !== null ? [{ key: "", raw: null, label: "Clear the choice", description: null }] : []),
    choose(entry, close) {
      close();
      if ((chosen() && keyOf(source, chosen())) === (entry.raw && entry.key)) return;
      const sending = field.set({ [slot]: entry.raw });
      draw();
      return sending;
    },
  });
  draw();
  return anchor;
}

function manySelect(field, slot, source) {
  const most = field.element.max_selected_items ?? Infinity;
  const chosen = () => field.value[slot] ?? [];
  let before = null;
  const chips = h("span", { class: "chips" });
  const anchor = h("button", { ...field.attributes(), ...COMBOBOX, type: "button", class: "select select-many" }, h("span", { class: "select-text placeholder" }), icon("chevron"));
  const without = (key) => chosen().filter((raw) => keyOf(source, raw) !== key);
  const keep = (next, final) => {
    field.set({ [slot]: next }, { final });
    draw();
  };
  const draw = () => {
    const some = chosen().length;
    anchor.firstChild.textContent = some ? `${some} chosen` : plain(field.element.placeholder, "Choose…");
    chips.replaceChildren(...chosen().map((raw) => chip(labelOf(field, source, raw), () => {
      keep(without(keyOf(source, raw)), true);
      anchor.focus({ preventScroll: true });
    })));
  };
  chooser(anchor, field, source, {
    many: true,
    isChosen: (key) => chosen().some((raw) => keyOf(source, raw) === key),
    message: () => (chosen().length >= most ? `That is all: at most ${most} can be chosen.` : null),
    opened: () => (before = JSON.stringify(chosen())),
    closed: () => JSON.stringify(chosen()) !== before && field.dispatches && field.set({ [slot]: chosen() }),
    choose(entry) {
      const on = chosen().some((raw) => keyOf(source, raw) === entry.key);
      if (on) keep(without(entry.key), false);
      else if (chosen().length < most) keep([...chosen(), entry.raw], false);
    },
  });
  draw();
  return h("div", { class: "many" }, chips, anchor);
}

const COMBOBOX = { role: "combobox", "aria-haspopup": "listbox", "aria-expanded": "false" };

function chip(label, remove) {
  return h("span", { class: "chip" }, label, h("button", { type: "button", class: "chip-remove", "aria-label": `Remove ${label}`, onclick: remove }, icon("close")));
}

/** Wire an anchor button to its list of options. */
function chooser(anchor, field, source, { many = false, isChosen, choose, extra = () => [], message = () => null, opened, closed }) {
  let popup = null;
  let asked = 0;
  let timer = null;
  const fixed = source.shortest ? null : source.entries(field).length;
  const searchable = fixed === null || fixed > SEARCH_FROM;
  const search = h("input", {
    type: "text", class: "list-search", placeholder: "Search", autocomplete: "off", role: "combobox", "aria-expanded": "true", "aria-label": `Search ${field.name}`.trim(),
  });
  const list = new ListBox({ label: field.name || "Options", multi: many, holder: searchable ? search : null, choose: pick });
  search.setAttribute("aria-controls", list.root.id);
  anchor.setAttribute("aria-controls", list.root.id);
  let entries = [];

  function pick(entry) {
    choose(entry, () => popup?.close());
    if (popup) draw();
  }
  function draw(notice = message()) {
    const query = source.shortest ? "" : search.value.trim().toLowerCase();
    const fits = ({ label, description, heading }) => heading !== undefined || `${label} ${description ?? ""}`.toLowerCase().includes(query);
    const shown = [...(query ? [] : extra()), ...tidy(entries.filter(fits))].map((entry) => ({ ...entry, chosen: isChosen(entry.key) }));
    list.show(shown, { message: notice ?? (shown.length === 0 ? "Nothing found." : null) });
    popup?.place();
  }
  async function look() {
    const query = search.value.trim();
    const turn = (asked += 1);
    const shortest = source.shortest(field);
    if (query.length < shortest) {
      entries = [];
      draw(`Type at least ${shortest} ${shortest === 1 ? "letter" : "letters"}.`);
      return;
    }
    draw("Looking…");
    const found = await source.entries(field, query).catch((problem) => problem);
    if (turn !== asked) return;
    entries = found instanceof Error ? [] : found;
    draw(found instanceof Error ? found.message : message());
  }
  function open(letter = "") {
    if (popup) return popup.close();
    search.value = searchable ? letter : "";
    entries = source.shortest ? [] : source.entries(field);
    popup = openPopup(anchor, h("div", { class: "chooser", onkeydown: keys }, searchable && search, list.root), { onClose: onClosed });
    anchor.setAttribute("aria-expanded", "true");
    opened?.();
    if (source.shortest) look();
    else draw();
    (searchable ? search : list.root).focus({ preventScroll: true });
  }
  function onClosed() {
    popup = null;
    asked += 1;
    anchor.setAttribute("aria-expanded", "false");
    if (document.activeElement === document.body || document.activeElement === null) anchor.focus({ preventScroll: true });
    closed?.();
  }
  function keys(event) {
    if (event.key === "Escape" || event.key === "Tab") {
      event.preventDefault();
      event.stopPropagation();
      popup.close();
    } else list.key(event, { letters: !searchable });
  }
  search.addEventListener("input", () => {
    clearTimeout(timer);
    if (source.shortest) timer = setTimeout(look, LOOKUP_PAUSE_MS);
    else draw();
  });
  anchor.addEventListener("click", () => open());
  anchor.addEventListener("keydown", (event) => {
    const letter = event.key.length === 1 && event.key !== " " && !event.ctrlKey && !event.metaKey && !event.altKey;
    if (!letter && event.key !== "ArrowDown" && event.key !== "ArrowUp") return;
    event.preventDefault();
    open(letter ? event.key : "");
    if (letter && !searchable) list.jump(event.key);
  });
}

/** Without headings that lost all their options. */
function tidy(entries) {
  return entries.filter((entry, index) => entry.heading === undefined || (entries[index + 1] && entries[index + 1].heading === undefined));
}
