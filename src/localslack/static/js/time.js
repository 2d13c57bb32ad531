// Instants and wall-clock times in the viewer's zone. Times are shown on a 24-hour clock throughout, as plans are.

const formats = new Map();

function format(zone, options) {
  const key = zone + JSON.stringify(options);
  if (!formats.has(key)) formats.set(key, new Intl.DateTimeFormat(navigator.language, { timeZone: zone, ...options }));
  return formats.get(key);
}

/** `zone` if this browser knows it, else the browser's own. */
export function knownZone(zone) {
  try {
    new Intl.DateTimeFormat("en", { timeZone: zone });
    return zone;
  } catch {
    return Intl.DateTimeFormat().resolvedOptions().timeZone;
  }
}

export const instant = (ts) => new Date(Number(ts) * 1000);

export function clockTime(date, zone) {
  return format(zone, { hour: "2-digit", minute: "2-digit", hourCycle: "h23" }).format(date);
}

export function fullTime(date, zone) {
  return format(zone, {
    weekday: "long", day: "numeric", month: "long", year: "numeric",
    hour: "2-digit", minute: "2-digit", hourCycle: "h23", timeZoneName: "short",
  }).format(date);
}

/** `YYYY-MM-DD` of an instant in a zone. */
export function dayOf(date, zone) {
  const parts = fields(date, zone);
  return `${parts.year}-${parts.month}-${parts.day}`;
}

/** `HH:MM` of an instant in a zone. */
export function wallTime(date, zone) {
  const parts = fields(date, zone);
  return `${parts.hour}:${parts.minute}`;
}

/** The instant (whole seconds) at which clocks in `zone` show that day and time; inside a gap, as far after it. */
export function epochOf(day, time, zone) {
  const asIfUtc = Date.parse(`${day}T${time}:00Z`);
  let guess = asIfUtc;
  for (let round = 0; round < 2; round += 1) {
    const shown = Date.parse(`${dayOf(new Date(guess), zone)}T${wallTime(new Date(guess), zone)}:00Z`);
    if (shown === asIfUtc) break;
    guess += asIfUtc - shown;
  }
  return Math.round(guess / 1000);
}

/** "Today", "Tomorrow", "Yesterday" or the weekday and date of a `YYYY-MM-DD`. */
export function dayName(day, zone, { long = true, now = new Date() } = {}) {
  const distance = Math.round((Date.parse(`${day}T00:00Z`) - Date.parse(`${dayOf(now, zone)}T00:00Z`)) / 86400000);
  const near = { 0: "Today", 1: "Tomorrow", [-1]: "Yesterday" }[distance];
  if (near) return near;
  const date = new Date(`${day}T00:00Z`);
  const year = Math.abs(distance) > 300 ? { year: "numeric" } : {};
  const shape = long ? { weekday: "long", day: "numeric", month: "long" } : { weekday: "short", day: "numeric", month: "short" };
  return format("UTC", { ...shape, ...year }).format(date);
}

export function weekday(day) {
  return format("UTC", { weekday: "long" }).format(new Date(`${day}T00:00Z`));
}

/** "just now", "5 minutes ago", "Yesterday at 14:05". */
export function ago(date, zone, now = new Date()) {
  const minutes = Math.floor((now - date) / 60000);
  if (minutes < 1) return "just now";
  if (minutes < 60) return minutes === 1 ? "1 minute ago" : `${minutes} minutes ago`;
  const day = dayName(dayOf(date, zone), zone, { now });
  return day === "Today" ? `today at ${clockTime(date, zone)}` : `${day} at ${clockTime(date, zone)}`;
}

/** The text of a Slack date token such as `{date_short_pretty} at {time}`; unknown placeholders stay as they are. */
export function fillDateFormat(pattern, ts, zone) {
  const date = instant(ts);
  const day = dayOf(date, zone);
  const plain = (options) => format(zone, options).format(date);
  const pretty = (name, options) => (/^(Today|Tomorrow|Yesterday)$/.test(name) ? name.toLowerCase() : plain(options));
  const long = { weekday: "long", month: "long", day: "numeric", year: "numeric" };
  const medium = { month: "long", day: "numeric", year: "numeric" };
  const short = { month: "short", day: "numeric", year: "numeric" };
  const values = {
    date_num: () => day,
    date: () => plain(medium),
    date_short: () => plain(short),
    date_long: () => plain(long),
    date_slash: () => plain({ month: "2-digit", day: "2-digit", year: "numeric" }),
    date_pretty: () => pretty(dayName(day, zone), medium),
    date_short_pretty: () => pretty(dayName(day, zone), short),
    date_long_pretty: () => pretty(dayName(day, zone), long),
    day_divider_pretty: () => pretty(dayName(day, zone), { weekday: "long", month: "long", day: "numeric" }),
    time: () => clockTime(date, zone),
    time_secs: () => plain({ hour: "2-digit", minute: "2-digit", second: "2-digit", hourCycle: "h23" }),
    ago: () => ago(date, zone),
  };
  return pattern.replace(/\{(\w+)\}/g, (whole, name) => (values[name] ? values[name]() : whole));
}

/** A time of day typed by a person ("9", "9:30", "0930", "21.15", "9pm") as `HH:MM`, or null if it is none. */
export function parseTime(text) {
  const found = /^\s*(\d{1,2}?)\s*[:.h]?\s*(\d{2})?\s*(am|pm)?\s*$/i.exec(text);
  if (!found) return null;
  const [, hours, minutes = "00", half] = found;
  let hour = Number(hours);
  if (half) {
    if (hour < 1 || hour > 12) return null;
    hour = (hour % 12) + (half.toLowerCase() === "pm" ? 12 : 0);
  }
  if (hour > 23 || Number(minutes) > 59) return null;
  return `${String(hour).padStart(2, "0")}:${minutes}`;
}

function fields(date, zone) {
  // A fixed locale: these digits are data, not text for a person.
  const options = {
    timeZone: zone, year: "numeric", month: "2-digit", day: "2-digit", hour: "2-digit", minute: "2-digit", hourCycle: "h23",
  };
  const key = `data${zone}`;
  if (!formats.has(key)) formats.set(key, new Intl.DateTimeFormat("en-CA", options));
  return Object.fromEntries(formats.get(key).formatToParts(date).map((part) => [part.type, part.value]));
}
