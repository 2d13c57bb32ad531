"""Drafts of days by a model, in the background, while the person still adds tasks (S44-S47, S232)."""

from __future__ import annotations

import asyncio
import logging
import time
from dataclasses import dataclass
from weakref import WeakValueDictionary

from fateforger.conversation.language.plan_proposals import without_sketch
from fateforger.conversation.stage_nodes import apply_sketch
from fateforger.conversation.turn_runs import TurnLog
from fateforger.conversation.turn_values import DraftDay, TurnOutcome
from fateforger.errors import BadInput, ModelError, StoreError, VersionConflict
from fateforger.metrics import DRAFT_SECONDS
from fateforger.planning.plan import TBPlan
from fateforger.ports.clock import Clock
from fateforger.ports.model import Model
from fateforger.session.cards import Activity, Progress, ProgressCallback
from fateforger.session.constants import DRAFT_LIMIT
from fateforger.session.draft import basis_of, is_current, wants_sketch
from fateforger.session.model import Session, Sketch
from fateforger.session.store import Sessions
from fateforger.workers.supervisor import BackgroundTasks

log = logging.getLogger(__name__)

TRIES = 4
"""Attempts to save a draft when its session is saved by something else meanwhile."""


@dataclass(frozen=True, slots=True, eq=False)
class _Making:
    """A draft in progress, and the fingerprint of its input."""

    basis: str | None
    task: asyncio.Task[Sketch]


class Drafts:
    """Makes at most one draft per session at a time.

    A finished draft is saved in the session, between turns and never during one. Without a ``model`` no draft is made.
    ``seconds`` limits the time for one draft.
    """

    def __init__(
        self,
        *,
        sessions: Sessions,
        model: Model | None,
        clock: Clock,
        logbook: TurnLog,
        seconds: float = DRAFT_LIMIT,
    ) -> None:
        self._logbook = logbook
        self._sessions = sessions
        self._model = model
        self._clock = clock
        self._seconds = seconds
        self._making: dict[str, _Making] = {}
        self._tasks = BackgroundTasks()
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    def turn(self, session_id: str) -> asyncio.Lock:
        """Return the lock to hold during a turn. Without it, saving a draft could force the turn to be repeated."""
        return self._turns.setdefault(session_id, asyncio.Lock())

    def prepare(self, session: Session) -> None:
        """Update the draft of a saved session: stop a stale one, start a useful one. Returns at once."""
        making = self._making.get(session.id)
        if making is not None and not is_current(session, making.basis):
            self._stop(session.id, making)
        if self._model is None or session.id in self._making or not wants_sketch(session):
            return
        making = self._begin(session, self._model)
        self._tasks.start(self._save_when_done(session.id, making), name=f"keeping the draft of {session.id}")

    async def apply_draft(self, outcome: TurnOutcome, tell: ProgressCallback) -> Session:
        """Return the session after a turn, with a model's draft if the turn asks for one. Writes nothing.

        Uses the draft made for this turn, waits for the one in progress, or makes one now. If the model produces no
        draft, the session has the solver's draft and the reason.
        """
        session = outcome.session
        asked = next((effect for effect in outcome.effects if isinstance(effect, DraftDay)), None)
        if asked is None:
            return session
        sketch = session.planning.sketch
        if sketch is None or asked.another or not is_current(session, sketch.basis):
            if self._model is None:
                return session
            tell(Progress(doing=Activity.DRAFTING))
            sketch = await self._await_sketch(asked, session, self._model)
        return apply_sketch(session, sketch, asked)

    async def aclose(self) -> None:
        """Stop all drafts. A draft in progress is lost, and made again on request."""
        await self._tasks.close()
        self._making.clear()

    async def _await_sketch(self, asked: DraftDay, session: Session, model: Model) -> Sketch:
        making = self._making.get(session.id)
        if making is not None and (asked.another or not is_current(session, making.basis)):
            self._stop(session.id, making)
            making = None
        mine = making is None
        making = making or self._begin(session, model, instead_of=asked.over if asked.another else None)
        try:
            await asyncio.wait({making.task})
        except asyncio.CancelledError:
            if mine:
                self._stop(session.id, making)
            raise
        self._forget(session.id, making)
        if making.task.cancelled():
            raise VersionConflict("The day changed while it was drafted.")
        return making.task.result()

    def _begin(self, session: Session, model: Model, *, instead_of: TBPlan | None = None) -> _Making:
        work = self._make_sketch(session, model, instead_of)
        # A trace may quote the person, so a failure is logged by its type alone.
        task = self._tasks.start(work, name=f"drafting {session.id}", awaited=True)
        making = self._making[session.id] = _Making(basis_of(session), task)
        return making

    async def _make_sketch(self, session: Session, model: Model, instead_of: TBPlan | None) -> Sketch:
        now, begun, outcome = self._clock.now(), time.monotonic(), "stopped"
        try:
            with self._logbook.draft(session) as entry:
                sketch = await entry.draft(session, model, now=now, instead_of=instead_of, seconds=self._seconds)
            outcome = "no_solution" if sketch.plan is None else "left_out" if sketch.unplaced else "found"
        except (ModelError, BadInput) as error:  # the day may have ended since the turn began
            # The message may quote the model, and thereby the person's own words.
            log.warning("session %s: no draft by the language model (%s)", session.id, type(error).__name__)
            outcome = "failed"
            return without_sketch(session, error)
        else:
            return sketch
        finally:
            DRAFT_SECONDS.labels("model", outcome).observe(time.monotonic() - begun)

    async def _save_when_done(self, session_id: str, making: _Making) -> None:
        """Save a finished draft, unless a turn uses it first."""
        try:
            sketch = await making.task
            async with self.turn(session_id):
                if self._making.get(session_id) is making:
                    await self._save(session_id, sketch)
        except StoreError as error:
            log.warning("the draft of session %s could not be saved: %s", session_id, error.message)
        except Exception as error:  # noqa: BLE001  the outermost edge of a task that is never awaited
            what = type(error).__name__
            log.error("session %s: drafting failed (%s)", session_id, what)  # noqa: TRY400  a trace may quote the person
        finally:
            self._forget(session_id, making)

    async def _save(self, session_id: str, sketch: Sketch) -> None:
        for _ in range(TRIES):
            session = await self._sessions.load(session_id)
            if session is None or not is_current(session, sketch.basis):
                return
            if is_current(session, session.planning.draft_basis):
                return
            try:
                await self._sessions.save(session.with_planning(sketch=sketch), expected=session.version)
            except VersionConflict:
                continue
            return

    def _stop(self, session_id: str, making: _Making) -> None:
        making.task.cancel()
        self._forget(session_id, making)

    def _forget(self, session_id: str, making: _Making) -> None:
        if self._making.get(session_id) is making:
            del self._making[session_id]
