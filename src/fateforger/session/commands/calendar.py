"""Commands about writing to the calendar, its history, and conflicts."""

from __future__ import annotations

from functools import partial
from typing import ClassVar, Literal

from fateforger.calendar.merge import Topic
from fateforger.session.card_actions import (
    CardAction,
    Click,
    Fields,
    give,
    read_value,
)
from fateforger.session.commands.base import SessionCommandBase
from fateforger.session.commands.plan import PlanCommandBase
from fateforger.session.model import CalendarWrite
from fateforger.values import Value

Side = Literal["calendar", "plan"]


class SetCalendarWrite(SessionCommandBase):
    """Set when blocks are written to the calendar, in this session and the person's next ones (K1)."""

    action: ClassVar = CardAction("set_calendar_write", "Write to calendar", read_value("when"))
    kind: Literal["set_calendar_write"] = "set_calendar_write"
    when: CalendarWrite


class ShowPreview(SessionCommandBase):
    """Show what would be written to the calendar now."""

    action: ClassVar = CardAction("show_preview", "Preview")
    is_view = True
    kind: Literal["show_preview"] = "show_preview"


class HidePreview(SessionCommandBase):
    action: ClassVar = CardAction("hide_preview", "Close preview")
    is_view = True
    kind: Literal["hide_preview"] = "hide_preview"


class ShowHistory(SessionCommandBase):
    """Show the writes of the day; ``older`` lists more of them."""

    action: ClassVar = CardAction("show_history", "History")
    show_older: ClassVar = CardAction("show_older_history", "Show older", give(older=True))
    is_view = True
    kind: Literal["show_history"] = "show_history"
    older: bool = False


class HideHistory(SessionCommandBase):
    action: ClassVar = CardAction("hide_history", "Close history")
    is_view = True
    kind: Literal["hide_history"] = "hide_history"


def _read_history_row(click: Click) -> Fields:
    """Read the write that a history row is about, and the newest write when the row was listed."""
    transaction, _, newest = click.target.partition(" ")
    return {"transaction": transaction, "newest": newest}


class UndoWrite(SessionCommandBase):
    """Undo a write in the day's history, and the writes after it.

    ``newest`` is the newest write that the history showed. If there is a newer one by now, nothing is done.
    """

    action: ClassVar = CardAction("undo_write", "Undo", _read_history_row)
    kind: Literal["undo_write"] = "undo_write"
    transaction: str
    newest: str


class RedoWrite(SessionCommandBase):
    """Undo an undo in the day's history, and the writes after it.

    ``newest`` is as in :class:`UndoWrite`.
    """

    action: ClassVar = CardAction("redo_write", "Restore", _read_history_row)
    kind: Literal["redo_write"] = "redo_write"
    transaction: str
    newest: str


def read_question_target(target: str) -> dict[str, str]:
    """Read the fields of a question from a button's target.

    The target is that of one question (:func:`fateforger.session.conflicts.question_target`), or the token of all
    open ones.
    """
    topic, dot, rest = target.partition(".")
    if not dot:
        return {"seen": target}
    seen, _, key = rest.partition(".")
    return {"topic": topic, "seen": seen, "key": key}


def _read_question(keep: Side, click: Click) -> Fields:
    return {"keep": keep, **read_question_target(click.target)}


class ResolveConflict(PlanCommandBase):
    """Stages 4 and 5: decide which side counts where both the person and the plan changed something.

    ``key`` and ``topic`` name the question; without them the answer is for all open ones. ``seen`` is the token of
    the button (:func:`fateforger.session.conflicts.question_token`): an answer to a question that has changed since is
    not carried out.
    """

    keep_calendar: ClassVar = CardAction("conflict.keep_calendar", "Keep calendar", partial(_read_question, "calendar"))
    keep_plan: ClassVar = CardAction("conflict.keep_plan", "Keep plan", partial(_read_question, "plan"))
    kind: Literal["resolve_conflict"] = "resolve_conflict"
    keep: Side
    key: str | None = None
    topic: Topic | None = None
    seen: str | None = None


class RefreshCalendar(Value):
    """Read the calendar again, because it seems to differ from what the session shows.

    No person asked for it. It queues with the person's commands, but does not count as activity of theirs.
    """

    kind: Literal["look_again"] = "look_again"
    command_id: str
    session_id: str


CalendarCommand = (
    ShowHistory | HideHistory | UndoWrite | RedoWrite | ShowPreview | HidePreview | SetCalendarWrite | ResolveConflict
)
