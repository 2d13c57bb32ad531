// The live wire: one WebSocket from the server to this page, mended by itself whenever it breaks.

const FIRST_WAIT_MS = 250;
const LONGEST_WAIT_MS = 4000;

/**
 * Calls `onFrame(frame)` for each frame, `onUp()` after every successful connection (so that state can be read again)
 * and `onDown()` when it is lost. Tries again for ever, soon at first and then every few seconds.
 */
export function connectLive(user, { onFrame, onUp, onDown }) {
  let wait = FIRST_WAIT_MS;
  let timer = null;
  let socket = null;

  function open() {
    clearTimeout(timer);
    timer = null;
    const scheme = location.protocol === "https:" ? "wss" : "ws";
    const attempt = new WebSocket(`${scheme}://${location.host}/ui/ws?user=${encodeURIComponent(user)}`);
    socket = attempt;
    attempt.addEventListener("open", () => {
      wait = FIRST_WAIT_MS;
      onUp();
    });
    attempt.addEventListener("message", (event) => onFrame(JSON.parse(event.data)));
    attempt.addEventListener("close", () => {
      if (socket !== attempt) return;
      onDown();
      timer = setTimeout(open, wait * (0.8 + 0.4 * Math.random()));
      wait = Math.min(wait * 2, LONGEST_WAIT_MS);
    });
  }

  // A laptop waking up or a phone coming back should not sit out the rest of a wait.
  function hurry() {
    if (document.visibilityState === "visible" && timer !== null) {
      wait = FIRST_WAIT_MS;
      open();
    }
  }

  document.addEventListener("visibilitychange", hurry);
  window.addEventListener("online", hurry);
  open();
}
