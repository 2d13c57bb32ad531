// The day pane. It asks for one day at a time, draws it, and waits for news to draw it again.
// Blocks are moved in moves.js.

import { Moves } from "./moves.js";

const HOUR = 62; // pixels; the same as --hour in the style sheet
const STAY = 20_000; // after somebody turned to a day themselves, news do not turn the page for so long

const $ = (id) => document.getElementById(id);
const asked = new URLSearchParams(location.search);

const pane = {
  date: asked.get("date") ?? "",
  zone: asked.get("tz") ?? "",
  day: null,
  clockSkew: 0,
  turnedAt: -Infinity,
  version: "",
  written: 0,
  seen: new Map(),
  request: 0,
};

// --- data ------------------------------------------------------------------------------------------------------

async function load({ scroll = false } = {}) {
  const request = ++pane.request;
  try {
    const response = await fetch(address("events", { date: pane.date, tz: pane.zone }));
    const day = await response.json();
    if (request !== pane.request) return;
    if (response.status === 400 && pane.date) return turnTo("");
    if (!response.ok) return say(day.error);
    say("");
    pane.version = day.version;
    pane.written = day.written;
    const turned = pane.day?.date !== day.date;
    pane.day = day;
    pane.date = day.date;
    pane.clockSkew = Date.parse(day.now) - Date.now();
    draw(day, turned);
    if (scroll || turned) scrollToStart(day);
  } catch (error) {
    if (request === pane.request) say("no connection");
  }
}

async function listen() {
  for (;;) {
    if (document.hidden) await new Promise((done) => document.addEventListener("visibilitychange", done, { once: true }));
    try {
      const response = await fetch(address("changes", { since: pane.version, tz: pane.zone }));
      if (!response.ok) throw new Error(response.statusText);
      const news = await response.json();
      if (news.version !== pane.version) await hear(news);
    } catch (error) {
      say("no connection");
      pane.version = "";
      await new Promise((done) => setTimeout(done, 2000));
    }
  }
}

async function hear(news) {
  pane.version = news.version;
  if (!news.reachable) return say("unreachable");
  const wasWritten = news.written !== pane.written;
  const mayTurn = performance.now() - pane.turnedAt > STAY;
  await moves.settled();
  if (wasWritten && news.date && mayTurn) pane.date = news.date;
  await load();
}

function address(path, parameters) {
  const given = Object.entries(parameters).filter(([, value]) => value);
  return `${path}?${new URLSearchParams(given)}`;
}

// --- drawing ---------------------------------------------------------------------------------------------------

function draw(day, turned) {
  const focused = document.activeElement?.closest("[data-id]")?.dataset.id;
  document.title = `${day.weekday}, ${day.words}`;
  $("weekday").textContent = day.weekday;
  $("words").textContent = day.words;
  $("zone").textContent = day.zone.replaceAll("_", " ");
  $("today").disabled = day.date === day.today;
  document.body.classList.toggle("is-today", day.date === day.today);
  $("grid").style.height = `${pixels(day.minutes)}px`;
  $("hours").replaceChildren(...day.hours.map(hourLine), hourLine({ at: day.minutes, label: "" }));
  const fresh = freshOnes(day, turned);
  $("all-day").replaceChildren(...day.allDay.map((event) => allDayItem(event, fresh)));
  $("all-day").hidden = day.allDay.length === 0;
  $("events").replaceChildren(...day.events.map((event) => eventItem(event, fresh)));
  $("empty").hidden = day.events.length + day.allDay.length > 0;
  sayLeftOut(day.leftOut);
  keepDetails(day);
  if (focused !== undefined) itemOf(focused)?.focus({ preventScroll: true });
  drawNow();
}

function freshOnes(day, turned) {
  const all = [...day.events, ...day.allDay];
  const fresh = new Set(turned ? [] : all.filter((e) => pane.seen.get(e.id) !== e.state).map((e) => e.id));
  pane.seen = new Map(all.map((event) => [event.id, event.state]));
  return fresh;
}

function hourLine({ at, label }) {
  const line = document.createElement("div");
  line.style.top = `${pixels(at)}px`;
  line.dataset.label = label;
  return line;
}

function allDayItem(event, fresh) {
  const item = dressed(document.createElement("li"), event, fresh);
  item.append(eventButton(event, element("b", "", event.title || "Untitled"), element("span", "", event.when)));
  return item;
}

function eventItem(event, fresh) {
  const item = dressed(document.createElement("li"), event, fresh);
  const height = pixels(event.bottom - event.top);
  item.style.top = `${pixels(event.top)}px`;
  item.style.height = `${height}px`;
  item.style.left = `${(event.column / event.columns) * 100}%`;
  item.style.width = `${(event.width / event.columns) * 100}%`;
  item.classList.toggle("row", height < 46);
  item.classList.toggle("tiny", height < 24);
  item.classList.toggle("is-before", event.fromBefore);
  item.classList.toggle("goes-on", event.goesOn);
  item.toggleAttribute("data-movable", event.movable);
  const others = 1 + event.fromBefore + event.goesOn;
  item.style.setProperty("--lines", Math.max(1, Math.floor((height - 11 - 17 * others) / 17)));
  const words = element("div", "words", element("b", "", event.title || "Untitled"));
  const ending = event.until && !event.goesOn ? element("i", "", ` – ${event.until}`) : "";
  if (event.fromBefore) words.append(element("span", "since", height < 46 ? "↑" : `↑ since ${event.from}`));
  if (event.fromBefore && !event.goesOn) words.append(element("span", "", `until ${event.until}`));
  if (!event.fromBefore) words.append(element("span", "", event.from, ending));
  const button = eventButton(event, words);
  if (event.goesOn) button.append(element("div", "until", height < 46 ? "↓" : `↓ until ${event.until}`));
  item.append(button);
  return item;
}

function eventButton(event, ...content) {
  const button = element("button", "event", ...content);
  button.type = "button";
  button.setAttribute("aria-label", `${event.title || "Untitled"}, ${event.long}`);
  if (event.movable && "top" in event) button.setAttribute("aria-describedby", "how");
  button.addEventListener("click", () => showDetails(event));
  return button;
}

function element(name, className, ...content) {
  const made = document.createElement(name);
  made.className = className;
  made.append(...content);
  return made;
}

function dressed(item, event, fresh) {
  item.dataset.color = event.color;
  item.dataset.id = event.id;
  item.classList.toggle("is-free", event.isFree);
  item.classList.toggle("is-tentative", event.isTentative);
  item.classList.toggle("is-declined", event.isDeclined);
  item.classList.toggle("is-fresh", fresh.has(event.id));
  return item;
}

function drawNow() {
  const { day } = pane;
  if (!day) return;
  const now = new Date(Date.now() + pane.clockSkew);
  const minutes = (now - Date.parse(day.start)) / 60_000;
  $("now").hidden = minutes < 0 || minutes >= day.minutes;
  $("now").style.top = `${pixels(minutes)}px`;
  const form = { hour: "2-digit", minute: "2-digit", hourCycle: "h23", timeZone: day.zone };
  $("now").firstElementChild.textContent = new Intl.DateTimeFormat("en-GB", form).format(now);
  for (const item of $("events").children) {
    const event = day.events.find((candidate) => candidate.id === item.dataset.id);
    item.classList.toggle("is-past", event !== undefined && !event.goesOn && event.bottom <= minutes);
  }
}

function scrollToStart(day) {
  const now = (Date.now() + pane.clockSkew - Date.parse(day.start)) / 60_000;
  const isToday = now >= 0 && now < day.minutes;
  const own = day.events.filter((event) => !event.fromBefore).map((event) => event.top);
  const first = Math.min(...own, isToday ? now : Infinity);
  const top = pixels(Number.isFinite(first) ? first : 8 * 60) - HOUR / 2;
  const seen = $("scroll").clientHeight;
  const isFar = isToday && pixels(now) > top + seen * 0.75;
  $("scroll").scrollTop = isFar ? pixels(now) - seen * 0.4 : top;
}

const pixels = (minutes) => (minutes * HOUR) / 60;

function say(trouble) {
  document.body.classList.toggle("is-away", Boolean(trouble));
  $("notice").hidden = !trouble;
  $("notice").textContent = trouble ? "The calendar does not answer. Trying again …" : "";
  $("notice").title = trouble ?? "";
}

function sayLeftOut(titles) {
  if (titles.length === 0) return;
  $("notice").hidden = false;
  $("notice").textContent = `Not shown, because I could not work out when it takes place: ${titles.join(", ")}`;
}

// --- one event ---------------------------------------------------------------------------------------------------

function showDetails(event) {
  const dialog = $("details");
  dialog.dataset.color = event.color;
  dialog.dataset.id = event.id;
  $("details-title").textContent = event.title || "Untitled";
  $("details-when").textContent = event.long;
  $("details-where").textContent = event.location;
  $("details-notes").textContent = notes(event).join(" · ");
  $("details-text").textContent = event.description;
  if (!dialog.open) dialog.show();
  $("close").focus({ preventScroll: true });
}

function notes(event) {
  const said = [
    [event.repeats, "Repeats"],
    [event.isFree, "Shown as free"],
    [event.isTentative, "Not yet certain"],
    [event.isDeclined, "Declined"],
  ];
  return said.filter(([holds]) => holds).map(([, words]) => words);
}

function keepDetails(day) {
  const dialog = $("details");
  if (!dialog.open) return;
  const event = [...day.events, ...day.allDay].find((candidate) => candidate.id === dialog.dataset.id);
  if (event) showDetails(event);
  else dialog.close();
}

function closeDetails() {
  const { id } = $("details").dataset;
  $("details").close();
  itemOf(id)?.focus({ preventScroll: true });
}

function itemOf(id) {
  return document.querySelector(`li[data-id="${CSS.escape(id)}"] .event`);
}

// --- turning the page ----------------------------------------------------------------------------------------------

function turnTo(date) {
  pane.turnedAt = performance.now();
  pane.date = date;
  if ($("details").open) $("details").close();
  return load();
}

const turns = {
  previous: () => pane.day && turnTo(pane.day.previous),
  next: () => pane.day && turnTo(pane.day.next),
  today: () => pane.day && (pane.day.date === pane.day.today ? scrollToStart(pane.day) : turnTo("")),
};
const keys = { ArrowLeft: "previous", p: "previous", ArrowRight: "next", n: "next", t: "today", Home: "today" };

for (const [id, turn] of Object.entries(turns)) $(id).addEventListener("click", turn);
$("close").addEventListener("click", closeDetails);
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Escape" && $("details").open) return closeDetails();
  turns[keys[event.key] ?? keys[event.key.toLowerCase()]]?.();
});
document.addEventListener("pointerdown", (event) => {
  if ($("details").open && !event.target.closest("dialog, .event")) $("details").close();
});

const moves = new Moves({ hour: HOUR, day: () => pane.day, reload: load });

setInterval(drawNow, 20_000);
await load({ scroll: true });
listen();
