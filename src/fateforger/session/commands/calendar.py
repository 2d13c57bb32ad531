"""Commands about the calendar: when to write, preview, history, undo, and conflicts."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict

from fateforger.session.commands.envelope import SessionCommandBase
from fateforger.session.model import CalendarWrite
from fateforger.sync import Topic

Side = Literal["calendar", "plan"]


class SetCalendarWrite(SessionCommandBase):
    """Set when blocks are written to the calendar, in this session and the person's next ones (K1)."""

    kind: Literal["set_calendar_write"] = "set_calendar_write"
    when: CalendarWrite


class ShowPreview(SessionCommandBase):
    """Show what would be written to the calendar now."""

    kind: Literal["show_preview"] = "show_preview"


class HidePreview(SessionCommandBase):
    kind: Literal["hide_preview"] = "hide_preview"


class ShowHistory(SessionCommandBase):
    """Show the writes of the day; ``older`` lists more of them."""

    kind: Literal["show_history"] = "show_history"
    older: bool = False


class HideHistory(SessionCommandBase):
    kind: Literal["hide_history"] = "hide_history"


class UndoWrite(SessionCommandBase):
    """Undo a write in the day's history, and the writes after it.

    ``newest`` is the newest write that the history showed. If there is a newer one by now, nothing is done.
    """

    kind: Literal["undo_write"] = "undo_write"
    transaction: str
    newest: str


class RedoWrite(SessionCommandBase):
    """Undo an undo in the day's history, and the writes after it.

    ``newest`` is as in :class:`UndoWrite`.
    """

    kind: Literal["redo_write"] = "redo_write"
    transaction: str
    newest: str


class ResolveConflict(SessionCommandBase):
    """Stages 4 and 5: decide which side counts where both the person and the plan changed something.

    ``key`` and ``topic`` name the question; without them the answer is for all open ones. ``seen`` is the token of
    the button (:func:`fateforger.session.questions.token`): an answer to a question that has changed since is not
    carried out.
    """

    kind: Literal["resolve_conflict"] = "resolve_conflict"
    keep: Side
    key: str | None = None
    topic: Topic | None = None
    seen: str | None = None


class RefreshCalendar(BaseModel):
    """Read the calendar again, because it seems to differ from what the session shows.

    No person asked for it. It queues with the person's commands, but does not count as activity of theirs.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    kind: Literal["look_again"] = "look_again"
    command_id: str
    session_id: str
