"""Reading a message without a graph."""

from __future__ import annotations

from collections.abc import Sequence

from fateforger.conversation.language.message_reader import MessageReading, find_wishes, read_wish
from fateforger.memory.versions import Version
from fateforger.ports.model import Model
from fateforger.session.commands.thread import TimeboxingUserReply
from fateforger.session.model import Session
from fateforger.session.pending import pending_questions


async def read_message(
    reply: TimeboxingUserReply, session: Session, model: Model, nameable: Sequence[Version] = ()
) -> MessageReading:
    """Read the first wish of a message."""
    found = await find_wishes(reply, session, model, pending_questions(session))
    if found.trouble:
        return MessageReading(trouble=found.trouble)
    return await read_wish(found.wishes[0], reply, session, model, nameable)
