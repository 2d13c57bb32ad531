"""Running turns and their model. A turn can be stopped while it thinks, but not once it acts."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterator
from contextlib import contextmanager
from datetime import datetime
from typing import Any, TypeVar, assert_never

from fateforger.conversation.turn_values import GoBack, UndoGroup, UndoUpdate, WriteCalendar
from fateforger.errors import ModelUnreachable
from fateforger.ports.model import Completion, Model, Prompt, Role
from fateforger.session.cards import Activity, Progress, ProgressCallback, ignore_progress
from fateforger.session.model import Session
from fateforger.text import gettext as _
from fateforger.text import mark_message
from fateforger.values import replace

T = TypeVar("T")


class TurnStopped(Exception):
    """The person stopped the turn before it had done anything."""


class RunningTurn:
    """One running turn, which calls ``tell`` with its progress.

    ``stop_asked`` is true once the person pressed Stop, ``keeps_rules`` once its message is read for rules, which goes
    on after that.
    """

    def __init__(self, began_with: datetime, tell: ProgressCallback = ignore_progress) -> None:
        self.began_with = began_with
        self._tell = tell
        self._progress: Progress | None = None
        self.stop_asked = False
        self.keeps_rules = False
        self._acting = False
        self._thinking: set[asyncio.Future[Any]] = set()

    @property
    def is_stopped(self) -> bool:
        """True when the turn was stopped before it acted."""
        return self.stop_asked and not self._acting

    @property
    def stop_reply(self) -> str:
        """Return the reply to a stop that came before the turn acted."""
        return _(STOPPED_BUT_RULES if self.keeps_rules else STOPPED)

    def check(self) -> None:
        """Raise :class:`TurnStopped` if the turn was stopped before it acted."""
        if self.is_stopped:
            raise TurnStopped

    def stop(self) -> None:
        """Cancel the work that can be canceled. Repeated calls have no effect."""
        if self.stop_asked:
            return
        self.stop_asked = True
        for work in self._thinking:
            work.cancel()
        if self._progress is not None:
            self.report(self._progress)

    def report(self, progress: Progress) -> None:
        """Report progress, and that it is too late to stop it."""
        self._progress = progress
        self._tell(replace(progress, too_late=self.stop_asked and self._acting))

    async def unless_stopped(self, work: Coroutine[Any, Any, T]) -> T:
        """Return the result of the work. Raises :class:`TurnStopped` if the turn was stopped, before or meanwhile."""
        if self.is_stopped:
            work.close()
            raise TurnStopped
        thinking = asyncio.ensure_future(work)
        if not self._acting:
            self._thinking.add(thinking)
        try:
            return await thinking
        except asyncio.CancelledError:
            me = asyncio.current_task()
            if self.is_stopped and not (me is not None and me.cancelling()):
                raise TurnStopped from None
            raise
        finally:
            self._thinking.discard(thinking)

    def act(self, *, whatever: bool = False) -> None:
        """Commit the turn: from here on it is carried out completely.

        Raises :class:`TurnStopped` if it was stopped before; with ``whatever`` it goes on anyway.
        """
        if not whatever:
            self.check()
        self._acting = True

    def end_act(self) -> None:
        """Let the rest of a message be stopped again, after a part of it was carried out."""
        self._acting = False


class RunningTurns:
    """At most one running turn per session or first message; the caller ensures this."""

    def __init__(self) -> None:
        self._courses: dict[str, RunningTurn] = {}

    @contextmanager
    def course(
        self,
        turn_id: str,
        began_with: datetime,
        tell: ProgressCallback = ignore_progress,
        of: RunningTurn | None = None,
    ) -> Iterator[RunningTurn]:
        """Register a turn until the block ends. One that is a part ``of`` another can be stopped by the ids of both."""
        course = self._courses[turn_id] = of or RunningTurn(began_with, tell)
        try:
            yield course
        finally:
            if self._courses.get(turn_id) is course:
                del self._courses[turn_id]

    def stop(self, turn_id: str, asked_at: datetime) -> bool:
        """Stop a turn; ``False`` if there is none that began before ``asked_at``."""
        course = self._courses.get(turn_id)
        if course is None or course.began_with > asked_at:
            return False
        course.stop()
        return True


class TurnModel:
    """Wraps the model for one turn.

    ``prompts`` are the names, with versions, of the prompts that shaped the turn. A stop ends the current request, and
    its caller sees an unreachable model; so the turn ends wherever it was.
    """

    def __init__(self, model: Model, course: RunningTurn, tell: ProgressCallback) -> None:
        self._model = model
        self.course = course
        self._tell = tell
        self.prompts: tuple[str, ...] = ()

    @property
    def time_factor(self) -> float:
        return self._model.time_factor

    async def complete(self, prompt: Prompt, *, seconds: float) -> Completion:
        doing = _find_progress(prompt.role)
        if doing is not None:
            self._tell(Progress(doing=doing))
        try:
            completion = await self.course.unless_stopped(self._model.complete(prompt, seconds=seconds))
        except TurnStopped:
            raise ModelUnreachable(_("The turn was stopped.")) from None
        self.prompts = tuple(dict.fromkeys((*self.prompts, prompt.name)))
        return completion

    async def aclose(self) -> None:
        """Do nothing: the model outlives the turn."""


def _find_progress(role: Role) -> Activity | None:
    match role:
        case Role.DECIDE | Role.GATE:
            return Activity.READING
        case Role.DRAFT:
            return Activity.DRAFTING
        case Role.PATCH:
            return Activity.CHANGING
        case Role.EXTRACT:
            return None
        case _:
            assert_never(role)


STOPPED = mark_message("Stopped; nothing was changed.")
STOPPED_AT_REST = mark_message("Stopped; I have not done the rest of your message.")
STOPPED_BUT_RULES = mark_message(
    "Stopped; your plan and your calendar are as they were. A rule in your message is kept nevertheless."
)
NOT_TORN = mark_message(
    "Stop came while your calendar was being written, so I finished that rather than leave it half done."
)
WRITING = (WriteCalendar, UndoUpdate, UndoGroup, GoBack)
"""Effects that write to the calendar."""


def mark_stopped(session: Session, course: RunningTurn) -> Session:
    """Return the session as it was before the turn, with a notice that the turn was stopped."""
    return session.with_notice(course.stop_reply)


def mark_finished(before: Session, after: Session) -> Session:
    """Return the session after a stop during the effects. Only a whole write adds a notice, that it was finished."""
    report = after.sync.last_sync
    if report is None or report is before.sync.last_sync or not report.has_writes or report.status == "partial":
        return after
    return after.remark(_(NOT_TORN))
