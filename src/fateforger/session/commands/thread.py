"""Commands that begin a session, move through its stages, answer it or end it."""

from __future__ import annotations

from datetime import date as Date  # noqa: N812  the field is called ``date`` and would hide the type
from datetime import datetime
from functools import partial
from typing import ClassVar, Literal

from pydantic import BaseModel, ConfigDict

from fateforger.session.commands.base import SessionCommandBase, mint_key
from fateforger.session.forms import (
    CardAction,
    Click,
    Fields,
    read_target,
)
from fateforger.session.model import Task
from fateforger.session.queue_commands import QueueCommand
from fateforger.session.stages import Move, TimeboxingStage
from fateforger.tasks.task import Mode
from fateforger.tasks.transitions import HydratedMessage
from fateforger.text import mark_message
from fateforger.values import Value


class StartTimeboxing(Value):
    """Begin planning in a channel, or in an existing thread.

    ``tz`` is the person's IANA zone. ``mode`` tells how the planning came about. ``inputs`` are tasks for that day,
    and ``note`` is shown on its first card, as are ``unread`` words of the person, with buttons to use them.
    """

    kind: Literal["start"] = "start"
    command_id: str
    user_id: str
    at: datetime
    channel: str
    thread_ts: str | None = None
    tz: str
    date: Date | None = None
    mode: Mode = "direct"
    inputs: tuple[Task, ...] = ()
    note: str = ""
    unread: str = ""


def format_session_id(start: StartTimeboxing) -> str:
    """Return the id of the session that a start begins; it is the same for a repeated start."""
    return session_id_of(start.command_id)


def session_id_of(start_id: str) -> str:
    """Return the id of the session that the start of that id begins."""
    return mint_key("s", start_id)


class Opening(BaseModel):
    """A message to the bot where no session ran yet, in which a model may read the wish to plan a day.

    It ``opens`` its thread unless it is an answer there. If it was typed after the command that begins a plan, it is
    ``to_plan``: a plan begins even if nothing can be read in it, and there is no thread yet. ``tz`` is as in
    :class:`StartTimeboxing`, ``withheld`` as in :class:`TimeboxingUserReply`. If others can read the message,
    ``channel`` is the person's direct messages without a ``thread_ts``, and ``heard_channel`` and ``heard_thread_ts``
    tell where it was written.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")  # earlier versions stored whether it is to the bot
    kind: Literal["opening"] = "opening"
    command_id: str
    user_id: str
    at: datetime
    channel: str
    thread_ts: str | None
    tz: str
    text: str
    opens: bool = True
    to_plan: bool = False
    withheld: bool = False
    heard_channel: str | None = None
    heard_thread_ts: str | None = None

    @property
    def is_moved(self) -> bool:
        """True when the answer goes to another place than the message."""
        return self.heard_channel is not None

    @property
    def heard_place(self) -> tuple[str, str | None]:
        """Return the channel in which it was written, and the thread; words after a command are in none."""
        return (self.heard_channel, self.heard_thread_ts) if self.heard_channel else (self.channel, self.thread_ts)

    @property
    def order_key(self) -> str:
        """Return the key within which a person's first messages in a channel are handled in order."""
        return build_order_key(self.heard_place[0], self.user_id)

    @property
    def turn_id(self) -> str:
        """Return the id by which the reading of it is stopped."""
        return build_opening_id(*self.heard_place, self.user_id)


def build_order_key(channel: str | None, user_id: str) -> str:
    return f"{channel} {user_id}"


def build_opening_id(channel: str | None, thread_ts: str | None, user_id: str) -> str:
    """Return the id of the reading of a person's message in a thread that has no session yet."""
    return f"{channel} {thread_ts} {user_id}"


class TimeboxingUserReply(SessionCommandBase):
    """A message of the person in the thread.

    ``withheld`` tells that a key or a password was removed from it.
    """

    kind: Literal["user_reply"] = "user_reply"
    text: str
    withheld: bool = False


def _read_move(move: Move, click: Click) -> Fields:
    return {"move": move, "seen": click.target or None}


_PROCEED_OR_REDO = frozenset({Move.PROCEED, Move.REDO})
_REREADS = {
    TimeboxingStage.CAPTURE_INPUTS: frozenset({Move.PROCEED}),
    TimeboxingStage.SKELETON: _PROCEED_OR_REDO,
    TimeboxingStage.REFINE: _PROCEED_OR_REDO | {Move.RETRY, Move.BACK},
    TimeboxingStage.REVIEW_COMMIT: _PROCEED_OR_REDO | {Move.RETRY, Move.BACK},
}
"""Moves before which the calendar is read again, by stage."""


class StageAction(SessionCommandBase):
    """A stage button: proceed, back, redo, cancel, undo last update, undo sync, retry.

    ``seen`` is the token of the button (:func:`fateforger.session.gate.move_token`). A move from an outdated card is
    not carried out, so the second half of a double click does nothing.
    """

    moves: ClassVar = {
        move: CardAction(move.value, label, partial(_read_move, move))
        for move, label in {
            Move.PROCEED: mark_message("Continue"),
            Move.BACK: mark_message("Back"),
            Move.REDO: mark_message("Redo step"),
            Move.CANCEL: mark_message("Cancel"),
            Move.UNDO_LAST_UPDATE: mark_message("Undo last update"),
            Move.UNDO_SYNC: mark_message("Undo"),
            Move.RETRY: mark_message("Try again"),
        }.items()
    }
    kind: Literal["stage_action"] = "stage_action"
    move: Move
    seen: str | None = None

    def needs_calendar(self, stage: TimeboxingStage) -> bool:
        """See :meth:`SessionCommandBase.needs_calendar`."""
        return self.move in _REREADS.get(stage, ())


LeftAsIs = Literal["held", "brakes"]


class LeaveAsIs(SessionCommandBase):
    """Decline a question of the card.

    ``held`` leaves a change undone that violates a rule; ``brakes`` leaves unwritten what needs approval.
    """

    action: ClassVar = CardAction("leave_as_is", read=read_target("about"))
    kind: Literal["leave_as_is"] = "leave_as_is"
    about: LeftAsIs


class AnswerProposal(SessionCommandBase):
    """Accept or deny another agent's proposal for the plan of the session."""

    apply: ClassVar = CardAction("proposal.apply", "Apply", read_target("proposal", answer="apply"))
    deny: ClassVar = CardAction("proposal.deny", "Deny", read_target("proposal", answer="deny"))
    kind: Literal["answer_proposal"] = "answer_proposal"
    proposal: str
    answer: Literal["apply", "deny"]


class RequestWork(SessionCommandBase):
    """Hand on a request that is not about this plan: for the queue, a week or another day. Only words give it."""

    is_view = True
    kind: Literal["request_work"] = "request_work"
    request: HydratedMessage | QueueCommand


class EndAbandoned(Value):
    """End of an abandoned session, due at the instant ``at``.

    No person asked for it. It queues with the person's commands, but does not count as activity of theirs.
    """

    kind: Literal["left_alone"] = "left_alone"
    command_id: str
    session_id: str
    at: datetime


class KeepTitle(Value):
    """Leave the title of the thread alone, because the person chose it in Slack."""

    kind: Literal["keep_title"] = "keep_title"
    command_id: str
    session_id: str
    at: datetime


ThreadCommand = TimeboxingUserReply | StageAction | LeaveAsIs | AnswerProposal | RequestWork
