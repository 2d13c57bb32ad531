"""How a conversation begins, what is written in it, and the buttons that lead from stage to stage."""

from __future__ import annotations

from datetime import date as Date  # noqa: N812  the field is called ``date`` and would hide the type
from datetime import datetime, time
from typing import Literal

from pydantic import BaseModel, ConfigDict

from fateforger.session.commands.envelope import InSession
from fateforger.session.model import Task
from fateforger.stages import Move
from fateforger.tasks import Mode

_FROZEN = ConfigDict(frozen=True, extra="forbid")


class Start(BaseModel):
    """Begin planning in a channel, or in an existing thread. ``tz`` is the person's IANA zone. ``mode`` is how it came
    to that; ``inputs`` is what is to be done on that day, and ``note`` is said on its first card."""

    model_config = _FROZEN
    kind: Literal["start"] = "start"
    command_id: str
    user_id: str
    at: datetime
    channel: str
    thread_ts: str | None = None
    tz: str
    date: Date | None = None
    mode: Mode = Mode.DIRECT
    inputs: tuple[Task, ...] = ()
    note: str = ""


class Opening(BaseModel):
    """The person wrote where no session ran yet; a model may read in it that they want a day planned. Only what was
    ``addressed`` to us is read; anything else counts once a session runs in its thread. ``tz`` as in :class:`Start`,
    ``withheld`` as in :class:`TimeboxingUserReply`. Where others read what they wrote, ``channel`` is that of their
    direct messages without a ``thread_ts``, and ``heard_channel`` and ``heard_thread_ts`` say where it was written."""

    model_config = _FROZEN
    kind: Literal["opening"] = "opening"
    command_id: str
    user_id: str
    at: datetime
    channel: str
    thread_ts: str | None
    tz: str
    text: str
    addressed: bool = True
    withheld: bool = False
    heard_channel: str | None = None
    heard_thread_ts: str | None = None

    @property
    def moved(self) -> bool:
        """Check whether the answer comes somewhere else than where it was written."""
        return self.heard_channel is not None


class TimeboxingUserReply(InSession):
    """The person wrote something in the thread. ``withheld`` tells that a key or a password was taken out of it."""

    kind: Literal["user_reply"] = "user_reply"
    text: str
    withheld: bool = False


class StageAction(InSession):
    """A stage button: proceed, back, redo, cancel, undo last update, undo sync, retry.

    ``seen`` is what the button carried (:func:`fateforger.session.moves.seen`). A move from a card that is out of
    date is not carried out, so that the second half of a double click does nothing.
    """

    kind: Literal["stage_action"] = "stage_action"
    move: Move
    seen: str | None = None


LeftAsIs = Literal["held", "brakes"]


class LeaveAsIs(InSession):
    """No to a question of the card: what a rule stands against is not done (``held``), or what needs a yes is not
    written (``brakes``)."""

    kind: Literal["leave_as_is"] = "leave_as_is"
    about: LeftAsIs


class AnswerProposal(InSession):
    """Yes or no to what another agent proposes for the plan of the session."""

    kind: Literal["answer_proposal"] = "answer_proposal"
    proposal: str
    answer: Literal["apply", "deny"]


class Click(BaseModel):
    """A control was used: the envelope of every card (S214). ``value`` is what was chosen, where there is a choice."""

    model_config = _FROZEN
    command_id: str
    user_id: str
    at: datetime
    session_id: str
    action: str
    target: str = ""
    value: str | Date | time | None = None


class LeftAlone(BaseModel):
    """Nobody asked for anything: at the instant ``at`` the session was done with, and nobody came back to it. It waits
    its turn among the person's commands, and does not count as a sign of life of theirs."""

    model_config = _FROZEN
    kind: Literal["left_alone"] = "left_alone"
    command_id: str
    session_id: str
    at: datetime
