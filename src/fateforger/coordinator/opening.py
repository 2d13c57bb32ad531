"""Begin a session with a message: the day that it names, and everything else it says."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta

from fateforger.coordinator import starting
from fateforger.coordinator.logbook import TurnLog
from fateforger.ports import Model
from fateforger.session.commands import Opening, Start, TimeboxingUserReply
from fateforger.session.model import CalendarWrite, Notice, Session, SessionStatus
from fateforger.tasks import QueuedTask
from fateforger.tasks.hydrated import HydratedMessage
from fateforger.turn.model import TurnInput
from fateforger.values import replace

AT_ONCE = timedelta(seconds=20)
"""Time after a first message in which another message was written without seeing the answer (S228)."""


_NOT_OF_A_START = {"kind", "text", "addressed", "withheld", "heard_channel", "heard_thread_ts"}


def find_recent_session(opening: Opening, earlier: Sequence[Session]) -> Session | None:
    """Return the session that the person began in that channel just before, if there is one."""
    for session in earlier:
        soon = timedelta() <= opening.at - session.created_at <= AT_ONCE
        if soon and session.channel == opening.channel and session.status is SessionStatus.ACTIVE:
            return session
    return None


def to_reply(session_id: str, opening: Opening) -> TimeboxingUserReply:
    """Return the message as a reply to a session."""
    return TimeboxingUserReply(
        command_id=opening.command_id,
        user_id=opening.user_id,
        at=opening.at,
        session_id=session_id,
        text=opening.text,
        withheld=opening.withheld,
    )


async def run_first_turn(
    opening: Opening,
    earlier: Sequence[Session],
    queue: Sequence[QueuedTask],
    model: Model,
    logbook: TurnLog,
    *,
    calendar_write: CalendarWrite,
) -> Session | HydratedMessage | None:
    """Return the session that a message begins, or another request in it; ``None`` if there is nothing to do."""
    start = Start(**opening.model_dump(exclude=_NOT_OF_A_START))
    session = starting.build_session(start, earlier, calendar_write=calendar_write)
    reply = to_reply(session.id, opening)
    with logbook.turn(reply, session) as entry:
        opened = await entry.opening(reply, session, model, queue)
        if opened is None or opened.hydrated is not None:
            return None if opened is None else opened.hydrated
        lines = (*(() if session.notice is None else session.notice.lines), *opened.lines)
        if not opened.commands:
            return replace(session, notice=Notice(lines=lines) if lines else None)
        first, *rest = opened.commands
        turn = TurnInput(session=session, command=first, rest=tuple(rest), lines=lines)
        return (await entry.run(turn)).session
