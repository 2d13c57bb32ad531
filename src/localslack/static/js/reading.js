// Reads from the server what the page shows, beside the live wire.

import { Unknown } from "./api.js";

const AGAIN_MS = 1000;

export class Reading {
  #going = new Set();
  #told = {};

  constructor({ api, store, hold }) {
    Object.assign(this, { api, store, hold });
  }

  /** The live wire has brought this frame. */
  heard(frame) {
    this.#told[frame.type] = (this.#told[frame.type] ?? 0) + 1;
    if (frame.channel) for (const meanwhile of this.#going) meanwhile.push(frame);
  }

  /** A conversation's messages; `apply` is given the frames that came meanwhile, which may be newer than the answer. */
  channel(channel, apply) {
    return this.#read(apply, () => this.api.messages(channel), ({ messages }) => this.store.takeTimeline(channel, messages));
  }

  thread(channel, ts, apply) {
    const take = ({ messages, session }) => {
      this.store.takeThread(channel, ts, messages);
      if (session !== undefined) this.store.setSession(channel, ts, session);
    };
    return this.#read(apply, () => this.api.messages(channel, ts), take);
  }

  /** Asks the server, and takes what it answers unless a frame of this type came meanwhile: it, or the one that follows it, is newer. */
  async latest(type, ask, take) {
    const before = this.#told[type];
    const answer = await ask();
    if (this.#told[type] === before) take(answer);
    return answer;
  }

  async #read(apply, ask, take) {
    const meanwhile = [];
    this.#going.add(meanwhile);
    try {
      const answer = await ask();
      await this.hold.free(() => {
        take(answer);
        meanwhile.forEach(apply);
      });
    } finally {
      this.#going.delete(meanwhile);
    }
  }
}

/** Reads until it has worked, as long as it is `stillWanted`: a server that was slow once is asked again. */
export async function insist(read, stillWanted) {
  while (stillWanted()) {
    try {
      return await read();
    } catch (trouble) {
      if (trouble instanceof Unknown) throw trouble;
      await new Promise((done) => setTimeout(done, AGAIN_MS));
    }
  }
}
