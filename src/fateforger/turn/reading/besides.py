"""Commands for requests outside the plan itself: history, preview, write setting, suggestions, and conflicts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NoReturn

from fateforger.errors import BadInput
from fateforger.session import commands
from fateforger.session.commands import SessionCommand, TimeboxingUserReply
from fateforger.session.commands.envelope import SessionCommandBase
from fateforger.session.model import Session
from fateforger.session.pending import PendingKind, PendingQuestion, fix_option
from fateforger.session.questions import open_questions, token
from fateforger.turn.reading.answering import row_of
from fateforger.turn.reading.meaning import envelope, get_numbered
from fateforger.turn.reading.values import Decision, Intent

_PLAIN: Mapping[Intent, tuple[type[SessionCommandBase], Mapping[str, Any]]] = {
    Intent.HISTORY: (commands.ShowHistory, {}),
    Intent.OLDER_HISTORY: (commands.ShowHistory, {"older": True}),
    Intent.CLOSE_HISTORY: (commands.HideHistory, {}),
    Intent.PREVIEW: (commands.ShowPreview, {}),
    Intent.CLOSE_PREVIEW: (commands.HidePreview, {}),
    Intent.CLOSE_MEMORY: (commands.HideMemory, {}),
    Intent.WRITE_AT_ONCE: (commands.SetCalendarWrite, {"when": "refine"}),
    Intent.WRITE_ONCE_OKAY: (commands.SetCalendarWrite, {"when": "okay"}),
    Intent.WRITE_ON_COMMIT: (commands.SetCalendarWrite, {"when": "commit"}),
}
_SIDES: Mapping[Intent, commands.Side] = {Intent.KEEP_CALENDAR: "calendar", Intent.KEEP_PLAN: "plan"}


def read_aside(
    reply: TimeboxingUserReply, session: Session, decision: Decision, waiting: Sequence[PendingQuestion] = ()
) -> SessionCommand | None:
    """Return the command for such a request; ``None`` if the request is about the plan.

    Raises ``BadInput`` for a row that does not exist.
    """
    intent = decision.intent
    if intent is Intent.CLOSE_HISTORY and session.history is None:
        _not_open("history")
    if intent is Intent.CLOSE_PREVIEW and session.preview is None:
        _not_open("preview")
    if intent is Intent.CLOSE_MEMORY and session.memory is None:
        _not_open("list of what I know")
    if intent in _PLAIN:
        kind, values = _PLAIN[intent]
        return kind(**envelope(reply), **values)  # type: ignore[return-value]  # kinds of SessionCommand only
    if intent in _SIDES:
        return _resolve_conflicts(reply, session, decision, waiting)
    if intent is Intent.FIX:
        return _find_suggestion(reply, session, decision.number, waiting)
    if intent in {Intent.UNDO_WRITE, Intent.REDO_WRITE}:
        return _row_of_history(reply, session, decision)
    return None


def _not_open(what: str) -> NoReturn:
    raise BadInput(f"The {what} is not open, so there is nothing to close.")


def _row_of_history(reply: TimeboxingUserReply, session: Session, decision: Decision) -> SessionCommand:
    """Return the command of a row's button.

    If the history is not in view, it is opened first, so that the person can name a row.
    """
    view, head = session.history, envelope(reply)
    if view is None or decision.number is None:
        return commands.ShowHistory(**head)
    row = get_numbered(view.rows, decision.number)
    if row.button is None:
        raise BadInput("That write is taken back already or wrote nothing, so there is nothing to do about it.")
    kind = commands.UndoWrite if row.button == "undo" else commands.RedoWrite
    if (row.button == "undo") != (decision.intent is Intent.UNDO_WRITE):
        raise BadInput(f"What can be done about that write is {row.button.capitalize()}, so I did nothing.")
    return kind(**head, transaction=row.transaction, newest=view.newest)


def _find_suggestion(
    reply: TimeboxingUserReply, session: Session, number: int | None, waiting: Sequence[PendingQuestion]
) -> SessionCommand:
    """Return the command of a suggestion. The first suggestion helps most and is the default."""
    if not session.fixes:
        raise BadInput("I have no change to suggest just now; say what you would like to be different.")
    if number is None:
        return fix_option(session.fixes[0]).command(envelope(reply))
    (fix,) = row_of(waiting, number, PendingKind.FIX).answers
    return fix.command(envelope(reply))


def _resolve_conflicts(
    reply: TimeboxingUserReply, session: Session, decision: Decision, waiting: Sequence[PendingQuestion]
) -> SessionCommand:
    """Return the answer to one open question or to all. A question that no card has shown yet is asked first."""
    keep = _SIDES[decision.intent]
    if decision.number is not None:
        calendar, plan = row_of(waiting, decision.number, PendingKind.CALENDAR).answers
        return (calendar if keep == "calendar" else plan).command(envelope(reply))
    chosen = open_questions(session)
    seen = token(chosen) if all(question.shown for question in chosen) else ""
    return commands.ResolveConflict(**envelope(reply), keep=keep, seen=seen)
