// Moving and stretching blocks, with the pointer or the keys. Saving one is an edit of the calendar like any other.

const STEP = 5; // minutes; dragging and Alt+arrow go by these
const STRIDE = 15; // minutes of an arrow key
const SHORTEST = 5;
const NEARLY = 4; // pixels that a pointer may slip during a click
const EDGE = 9; // pixels at the end of a block by which it is stretched; the same as in the style sheet
const SHOWN = 8_000; // milliseconds for which the page says what became of a move

export class Moves {
  #going = null; // the block on its way: { event, item, start, end }, the last two in minutes from where it was
  #hidesAt = 0;

  constructor({ hour, day, reload }) {
    Object.assign(this, { hour, day, reload });
    this.list = document.getElementById("events");
    this.scroll = document.getElementById("scroll");
    this.status = document.getElementById("moved");
    this.list.addEventListener("pointerdown", (event) => this.#press(event));
    this.list.addEventListener("keydown", (event) => this.#key(event));
    this.list.addEventListener("focusout", () => this.#going?.byKey && this.#save());
  }

  // Wait until no block is on its way, so that news do not redraw it under the hand that moves it.
  async settled() {
    while (this.#going) await this.#going.done;
  }

  #begin(id, byKey) {
    const item = this.list.querySelector(`li[data-id="${CSS.escape(id)}"]`);
    const event = this.day().events.find((candidate) => candidate.id === id);
    if (!item || !event) return null;
    let resolve;
    const done = new Promise((settle) => (resolve = settle));
    this.#going = { event, item, start: 0, end: 0, byKey, done, resolve };
    return this.#going;
  }

  #press(pressed) {
    const button = pressed.target.closest("li[data-movable] .event");
    if (!button || pressed.button !== 0 || pressed.pointerType === "touch" || this.#going) return;
    const stretches = !button.closest(".goes-on") && button.getBoundingClientRect().bottom - pressed.clientY <= EDGE;
    const { id } = button.closest("li").dataset;
    const from = pressed.clientY + this.scroll.scrollTop;
    const ends = new AbortController();
    const heard = { signal: ends.signal };
    const follow = (moved) => {
      const by = moved.clientY + this.scroll.scrollTop - from;
      if (!this.#going && Math.abs(by) < NEARLY) return;
      // The page may have been drawn again since the press.
      if (!this.#going) this.#begin(id, false)?.item.firstElementChild.setPointerCapture(pressed.pointerId);
      if (!this.#going) return;
      this.#scrollNear(moved.clientY);
      const minutes = Math.round((by * 60) / this.hour / STEP) * STEP;
      if (stretches) this.#stretch(minutes);
      else this.#move(minutes);
    };
    const finish = (save) => {
      ends.abort();
      if (!this.#going) return;
      // The click that ends a drag does not open the details.
      const swallow = (click) => click.stopPropagation();
      window.addEventListener("click", swallow, true);
      setTimeout(() => window.removeEventListener("click", swallow, true));
      if (save) this.#save();
      else this.#cancel();
    };
    window.addEventListener("pointermove", follow, heard);
    window.addEventListener("pointerup", () => finish(true), heard);
    window.addEventListener("pointercancel", () => finish(false), heard);
    window.addEventListener("keydown", (event) => event.key === "Escape" && finish(false), heard);
  }

  #scrollNear(y) {
    const { top, bottom } = this.scroll.getBoundingClientRect();
    if (y < top + 24) this.scroll.scrollTop -= 12;
    if (y > bottom - 24) this.scroll.scrollTop += 12;
  }

  #key(event) {
    const button = event.target.closest("li[data-movable] .event");
    if (!button || event.ctrlKey || event.metaKey || this.#going?.isSaving) return;
    const way = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (way) {
      const going = this.#going ?? this.#begin(button.closest("li").dataset.id, true);
      const by = way * (event.altKey ? STEP : STRIDE);
      if (going && event.shiftKey) this.#stretch(going.end + by);
      else if (going) this.#move(going.start + by);
    } else if (!this.#going) return;
    else if (event.key === "Enter") this.#save();
    else if (event.key === "Escape") this.#cancel();
    else if (!event.key.startsWith("Arrow")) return;
    event.preventDefault();
    event.stopPropagation();
  }

  // Move by minutes from where the block was; it keeps its length and stays on the day.
  #move(start) {
    const { event } = this.#going;
    const length = this.#going.end - this.#going.start;
    const earliest = event.fromBefore ? -Infinity : Math.min(0, -event.starts);
    const latest = event.goesOn ? Infinity : Math.max(0, this.day().minutes - event.ends);
    const end = Math.max(Math.min(start + length, latest), earliest + length);
    this.#show(end - length, end);
  }

  #stretch(end) {
    const { event, start } = this.#going;
    const shortest = start + SHORTEST - (event.ends - event.starts);
    const latest = event.goesOn ? Infinity : Math.max(0, this.day().minutes - event.ends);
    this.#show(start, Math.max(Math.min(end, latest), shortest));
  }

  // Draw the block where it would be, and say when that is.
  #show(start, end) {
    const { event, item, byKey } = this.#going;
    Object.assign(this.#going, { start, end });
    item.classList.add("is-moving");
    item.style.top = `${((event.top + start) * this.hour) / 60}px`;
    item.style.height = `${(Math.max(event.bottom + end - event.top - start, SHORTEST) * this.hour) / 60}px`;
    const time = this.#time();
    item.querySelector(".words span:not(.since)")?.replaceChildren(time);
    this.#say(byKey ? `${time} · Enter keeps it, Escape puts it back` : time);
  }

  #time() {
    const { event, start, end } = this.#going;
    return `${this.#clock(event.starts + start)} – ${this.#clock(event.ends + end)}`;
  }

  #clock(minutes) {
    const day = this.day();
    const form = { hour: "2-digit", minute: "2-digit", hourCycle: "h23", timeZone: day.zone };
    return new Intl.DateTimeFormat("en-GB", form).format(Date.parse(day.start) + minutes * 60_000);
  }

  #cancel() {
    const { resolve } = this.#going;
    this.#going = null;
    this.#say("");
    resolve();
    this.reload();
  }

  async #save() {
    const { event, start, end, resolve } = this.#going;
    if (start === 0 && end === 0) return this.#cancel();
    const done = `${event.title || "Untitled"} is at ${this.#time()} now.`;
    this.#going.byKey = false; // so that it is not saved again when the focus leaves it
    this.#going.isSaving = true;
    const refusal = await send({ id: event.id, state: event.state, start, end });
    await this.reload(); // the next move starts from the new state
    this.#going = null;
    this.#say(refusal ?? done);
    resolve();
  }

  #say(words) {
    clearTimeout(this.#hidesAt);
    this.status.hidden = !words;
    this.status.textContent = words;
    if (words && !this.#going?.byKey) this.#hidesAt = setTimeout(() => this.#say(""), SHOWN);
  }
}

// Return why a move was not made, or null.
async function send(move) {
  try {
    const answer = await fetch("move", { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(move) });
    const { ok, error } = await answer.json();
    return ok ? null : error;
  } catch (error) {
    return "The calendar does not answer. The block may not have been moved.";
  }
}
