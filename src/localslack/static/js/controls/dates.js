// Date, time and date-with-time pickers. Dates use the browser's own calendar; times are typed or taken from a list.

import { freshId, h, icon } from "../dom.js";
import { plain } from "../render/text.js";
import { dayName, dayOf, epochOf, parseTime, wallTime, weekday } from "../time.js";
import { ListBox } from "./listbox.js";
import { openPopup } from "./popup.js";

const TYPING_PAUSE_MS = 900;
const LIST_STEP_MINUTES = 15;
const DEFAULT_TIME = "09:00";
const NOT_A_TIME = "Please type a time such as 09:30 or 14:00.";

export function datePicker(field) {
  return dateInput(field, field.attributes(), field.value.selected_date, (selected_date, final) => field.set({ selected_date }, { final }));
}

export function timePicker(field) {
  return timeInput(field, field.attributes(), field.value.selected_time, (selected_time, final) => field.set({ selected_time }, { final }));
}

/** Two fields, one value: seconds since the epoch, read in the viewer's zone. */
export function dateTimePicker(field) {
  const zone = field.store.zone;
  const at = field.value.selected_date_time;
  const held = { day: at ? dayOf(new Date(at * 1000), zone) : null, time: at ? wallTime(new Date(at * 1000), zone) : null };
  const keep = (final) => field.set({ selected_date_time: held.day && held.time ? epochOf(held.day, held.time, zone) : null }, { final: final && Boolean(held.day && held.time) });
  const part = (name) => ({ ...field.attributes({ group: true }), dataset: field.dataset({ part: name }), "aria-label": `${field.name} ${name}`.trim(), "aria-labelledby": null });
  const takeDay = (day, final) => {
    held.day = day;
    keep(final);
  };
  const takeTime = (time, final) => {
    held.time = time;
    keep(final);
  };
  return h(
    "div",
    { class: "date-time", role: "group", ...field.attributes({ group: true }), dataset: {} },
    dateInput(field, { ...part("date"), id: field.id }, held.day, takeDay),
    timeInput(field, part("time"), held.time, takeTime),
  );
}

function dateInput(field, attributes, day, take) {
  const control = h("input", { ...attributes, type: "date", class: "date-field", value: day ?? "", max: "9999-12-31", title: plain(field.element.placeholder, "") || null });
  const hint = h("span", { class: "date-hint" });
  const describe = () => {
    if (!control.value) hint.textContent = "";
    else {
      const name = dayName(control.value, field.store.zone);
      hint.textContent = /^(Today|Tomorrow|Yesterday)$/.test(name) ? `${name}, ${weekday(control.value)}` : weekday(control.value);
    }
  };
  const done = patient((final) => take(control.value || null, final), () => control.value);
  control.addEventListener("keydown", done.key);
  control.addEventListener("blur", done.blur);
  control.addEventListener("change", () => {
    describe();
    done.change();
  });
  describe();
  return h("span", { class: "date-box" }, control, hint);
}

/**
 * A native date field reports a change at every typed digit that makes a whole date. While keys are being pressed the
 * change is final only after a pause, Enter or leaving the field; a date taken with the mouse is final at once.
 */
function patient(take, read) {
  let typedAt = 0;
  let timer = null;
  let sent = read();
  const finish = () => {
    clearTimeout(timer);
    if (read() === sent) return;
    sent = read();
    take(true);
  };
  return {
    key(event) {
      if (event.key === "Enter") finish();
      else typedAt = Date.now();
    },
    blur: finish,
    change() {
      clearTimeout(timer);
      if (Date.now() - typedAt > TYPING_PAUSE_MS) finish();
      else {
        take(false);
        timer = setTimeout(finish, TYPING_PAUSE_MS);
      }
    },
  };
}

function timeInput(field, attributes, time, take) {
  let held = time ?? null;
  let popup = null;
  const name = attributes["aria-label"] ?? field.name;
  const control = h("input", {
    ...attributes, type: "text", class: "time-field", value: held ?? "", placeholder: plain(field.element.placeholder, "") || "hh:mm", title: "Type a time such as 09:30, or choose one",
    inputmode: "numeric", autocomplete: "off", role: "combobox", "aria-expanded": "false", "aria-haspopup": "listbox", "aria-autocomplete": "none",
  });
  const list = new ListBox({ label: name || "Time", holder: control, choose: ({ key }) => settle(key, { focus: true }) });
  control.setAttribute("aria-controls", list.root.id);

  function settle(next, { focus = false } = {}) {
    close();
    control.value = next ?? "";
    field.surface.invalid.delete(field.block.block_id);
    if (next !== held) {
      held = next;
      take(next, true);
    }
    if (focus) control.focus({ preventScroll: true });
  }
  function accept() {
    const next = parseTime(control.value);
    if (next || control.value.trim() === "") settle(next);
    else {
      close();
      field.surface.refuse(field.block.block_id, NOT_A_TIME);
    }
  }
  function open() {
    if (popup) return;
    list.show(times(held));
    popup = openPopup(control, list.root, { width: 120, sheet: false, onClose: closed });
    control.setAttribute("aria-expanded", "true");
    list.activateKey(nearest(parseTime(control.value) ?? held ?? DEFAULT_TIME));
  }
  function closed() {
    popup = null;
    control.setAttribute("aria-expanded", "false");
    control.removeAttribute("aria-activedescendant");
  }
  const close = () => popup?.close();

  control.addEventListener("click", open);
  // After the mouse has set its caret, so that typing replaces the old time.
  control.addEventListener("focus", () => setTimeout(() => control.select()));
  control.addEventListener("blur", accept);
  control.addEventListener("input", () => {
    const next = parseTime(control.value);
    // Known already while typing, so that a form sent with a shortcut holds what is on the screen.
    if (next) field.surface.invalid.delete(field.block.block_id);
    if (next && next !== held) field.surface.set(field.key, partial(next), field);
    if (next && popup) list.activateKey(nearest(next));
  });
  const partial = (next) => (field.element.type === "timepicker" ? { selected_time: next } : field.value);
  control.addEventListener("keydown", (event) => {
    if (event.key === "Escape" && popup) {
      event.preventDefault();
      event.stopPropagation();
      close();
    } else if (event.key === "Enter") {
      const typed = parseTime(control.value);
      if (!popup) return accept();
      if (typed === null || nearest(typed) === typed) list.chooseActive();
      else accept();
      event.stopPropagation();
      event.preventDefault();
    } else if ((event.key === "ArrowDown" || event.key === "ArrowUp") && !popup) {
      event.preventDefault();
      open();
    } else if (popup) list.key(event);
  });
  const toggle = h("span", { class: "field-chevron", onmousedown: (event) => (event.preventDefault(), control.focus(), popup ? close() : open()) }, icon("chevron"));
  return h("span", { class: "time-box", id: freshId("time") }, control, toggle);
}

function times(chosen) {
  return Array.from({ length: (24 * 60) / LIST_STEP_MINUTES }, (_, index) => {
    const minutes = index * LIST_STEP_MINUTES;
    const key = `${String(Math.floor(minutes / 60)).padStart(2, "0")}:${String(minutes % 60).padStart(2, "0")}`;
    return { key, label: key, chosen: key === chosen };
  });
}

function nearest(time) {
  const [hour, minute] = time.split(":").map(Number);
  return `${String(hour).padStart(2, "0")}:${String(Math.floor(minute / LIST_STEP_MINUTES) * LIST_STEP_MINUTES).padStart(2, "0")}`;
}
