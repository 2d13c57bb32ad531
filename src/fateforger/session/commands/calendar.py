"""What is written to the calendar: when, what would be, what was, and whose change counts."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

from fateforger.session.commands.envelope import InSession
from fateforger.session.model import CalendarWrite
from fateforger.sync import Topic

Side = Literal["calendar", "plan"]


class SetCalendarWrite(InSession):
    """When blocks reach the calendar, for this session and the person's next ones (K1)."""

    kind: Literal["set_calendar_write"] = "set_calendar_write"
    when: CalendarWrite


class ShowPreview(InSession):
    """What would be written to the calendar now."""

    kind: Literal["show_preview"] = "show_preview"


class HidePreview(InSession):
    kind: Literal["hide_preview"] = "hide_preview"


class ShowHistory(InSession):
    """What was written for the day; ``older`` lists more of it."""

    kind: Literal["show_history"] = "show_history"
    older: bool = False


class HideHistory(InSession):
    kind: Literal["hide_history"] = "hide_history"


class UndoWrite(InSession):
    """Take back a write of the day's history, and what came after it. ``newest`` is the newest write that the history
    showed: when there is another one by now, nothing is done."""

    kind: Literal["undo_write"] = "undo_write"
    transaction: str
    newest: str


class RedoWrite(InSession):
    """Take back an undo of the day's history, and what came after it. ``newest`` as in :class:`UndoWrite`."""

    kind: Literal["redo_write"] = "redo_write"
    transaction: str
    newest: str


class ResolveConflict(InSession):
    """Stages 4 and 5: what both the person and the plan changed stays as one of them has it. ``key`` and ``topic`` say
    which question is answered, without them all that are open. ``seen`` is what the button carried
    (:func:`fateforger.session.questions.token`): an answer to a question that has changed since is not carried out."""

    kind: Literal["resolve_conflict"] = "resolve_conflict"
    keep: Side
    key: str | None = None
    topic: Topic | None = None
    seen: str | None = None


class LookAgain(BaseModel):
    """Nobody asked for anything, but the calendar looks unlike what the session shows. It waits its turn among the
    person's commands, and does not count as a sign of life of theirs."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    kind: Literal["look_again"] = "look_again"
    command_id: str
    session_id: str
