"""Planning sessions, the messages they owe, and what people think of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

from fateforger.session.feedback import Rating
from fateforger.session.model import Outgoing, Session


class Sessions(Protocol):
    """Planning sessions and the messages they still owe the person."""

    async def check(self) -> None:
        """Ask for one row, however many there are. Raises ``StoreUnavailable`` when the store does not answer."""
        ...

    async def load(self, session_id: str) -> Session | None: ...

    async def in_thread(self, channel: str, thread_ts: str) -> Session | None:
        """The session that lives in a thread, if any."""
        ...

    async def of_user(self, user_id: str, *, limit: int = 10) -> tuple[Session, ...]:
        """A person's sessions, the last touched first."""
        ...

    async def touched_since(self, moment: datetime) -> tuple[Session, ...]:
        """All sessions touched at that moment or later, the last touched first."""
        ...

    async def save(self, session: Session, *, expected: int, outgoing: Sequence[Outgoing] = ()) -> Session:
        """Store the session and queue its messages in one commit; ``expected`` is the version it was loaded with
        (0 for a new one). Returns it with its new version. Raises ``VersionConflict``."""
        ...

    async def attach_thread(self, session_id: str, channel: str, thread_ts: str) -> None:
        """Remember where the session's first message was posted. It does not count as a new version: a turn that is
        under way can still be saved, and keeps this thread. The thread of a session changes only here."""
        ...


@dataclass(frozen=True, slots=True)
class Sent:
    """Where a message of a slot stands in Slack."""

    channel: str
    ts: str


class Feedbacks(Protocol):
    """What people think of the cards that a language model had a part in."""

    async def rate(self, rating: Rating) -> None:
        """Keep a rating; a person's later word on the same turn replaces the earlier one."""
        ...

    async def all(self) -> tuple[Rating, ...]:
        """Every rating, oldest first."""
        ...


class Outbox(Protocol):
    """Messages to be sent, in order within one session; kept until they are known to have arrived."""

    async def pending(self, *, now: datetime, limit: int = 20) -> tuple[Outgoing, ...]:
        """The next unsent message of each session whose retry time has come, oldest first."""
        ...

    async def sent(self, outgoing_id: str, where: Sent, *, now: datetime) -> None:
        """It has arrived. Nothing happens when that is known already."""
        ...

    async def failed(self, outgoing_id: str, error: str, *, retry_at: datetime | None) -> None:
        """Try again at ``retry_at``, and let the session's later messages wait for it; or never when it is ``None``.
        Nothing happens when the message is not waiting any more."""
        ...

    async def owes(self, session_id: str) -> bool:
        """Whether a message of the session still waits to be sent."""
        ...

    async def slot(self, session_id: str, slot: str) -> Sent | None:
        """Where the last message of a slot was sent. Messages to one person only (``ephemeral_to``) do not count."""
        ...

    async def latest(self, session_id: str) -> Outgoing | None:
        """The newest message that was sent to everybody, apart from those beside the plan: the card that stands."""
        ...

    async def shown(self, session_id: str, slot: str) -> Outgoing | None:
        """The message that stands at :meth:`slot`, to show it again without its controls."""
        ...
