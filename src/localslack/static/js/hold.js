// What arrives while a finger, the mouse or the space bar is down waits until it is let go: a control that is drawn anew
// between its press and its release is not clicked.

// A touch becomes a click a little after the finger has left.
const CLICK_MS = 50;

export class Hold {
  #held = false;
  #leaving = null;
  #waiting = [];

  constructor() {
    const follow = ({ buttons }) => (buttons === 0 ? this.#letGo() : this.#take());
    for (const name of ["pointerdown", "pointermove", "pointerup", "pointercancel"]) document.addEventListener(name, follow, true);
    document.addEventListener("keydown", ({ key }) => key === " " && this.#take(), true);
    document.addEventListener("keyup", ({ key }) => key === " " && this.#letGo(), true);
    window.addEventListener("blur", () => this.#letGo());
  }

  /** Do it now, or as soon as nothing is held down, in the order in which it was asked; resolves when it is done. */
  free(deed) {
    return new Promise((done, failed) => {
      this.#waiting.push(() => {
        try {
          done(deed());
        } catch (mistake) {
          failed(mistake);
        }
      });
      if (!this.#held) this.#go();
    });
  }

  #take() {
    clearTimeout(this.#leaving);
    this.#leaving = null;
    this.#held = true;
  }

  #letGo() {
    if (this.#held) this.#leaving ??= setTimeout(() => this.#go(), CLICK_MS);
  }

  #go() {
    this.#held = false;
    this.#leaving = null;
    while (this.#waiting.length > 0) this.#waiting.shift()();
  }
}
