"""Commands for the progress of a day stated in words, identical to those of the card's controls."""

from __future__ import annotations

from collections.abc import Sequence

from fateforger.errors import BadInput
from fateforger.session import commands
from fateforger.session.commands import DeferTask, Replan, SessionCommand, SplitTask, TimeboxingUserReply
from fateforger.session.model import Session
from fateforger.turn.reading.meaning import envelope, get_numbered
from fateforger.turn.reading.values import OpenWords, ReplanWords

LONGEST = 12 * 60


def course_commands(reply: TimeboxingUserReply, session: Session, words: ReplanWords) -> tuple[SessionCommand, ...]:
    """Return the commands for the progress of the day, and options for tasks without room.

    If the message states neither, the rest of the day is refitted. Raises ``BadInput``.
    """
    head = envelope(reply)
    if words.late is not None and not 0 <= words.late <= LONGEST:
        raise BadInput(f"A day can be up to {LONGEST // 60} hours late, not {words.late} minutes.")
    went = {name: _keys(session, getattr(words, name)) for name in ("missed", "done", "not_today")}
    ways = [_read_option(reply, session, each) for each in words.open]
    if words.day_end is not None:
        ways.append(commands.AdjustFrame(**head, day_end=words.day_end))
    if ways and words.late is None and not any(went.values()):
        return tuple(ways)
    return (Replan(**head, late=words.late, **went), *ways)


def _keys(session: Session, positions: Sequence[int]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(_key(session, at) for at in positions))


def _key(session: Session, at: int) -> str:
    events = () if session.plan is None else session.plan.events
    if not 0 <= at < len(events):
        raise BadInput("I could not tell which block you mean; please choose it on the card.")
    return events[at].block_key


def _read_option(reply: TimeboxingUserReply, session: Session, words: OpenWords) -> SessionCommand:
    head, task_id = envelope(reply), get_numbered(session.unplaced, words.number).task_id
    match words.way:
        case "later":
            return DeferTask(**head, task_id=task_id)
        case "drop":
            return commands.RemoveTask(**head, task_id=task_id)
        case "pieces":
            return SplitTask(**head, task_id=task_id)
        case None if words.minutes is not None and 1 <= words.minutes <= 24 * 60:
            return commands.ResizeTask(**head, task_id=task_id, minutes=words.minutes)
        case None:
            raise BadInput("I could not tell what shall become of it; please use the buttons on the card.")
