"""The coordinator as the chat side sees it."""

from __future__ import annotations

from datetime import datetime
from typing import Protocol

from fateforger.background.ownership import CalendarOwner, Claiming
from fateforger.session.cards import Card, Form, FormErrors, FormRequest, FormSubmission
from fateforger.session.commands import Click, Command, Opening, Queued
from fateforger.session.progress import Tell


class Door(Protocol):
    """One command in; cards come out through the outbox."""

    async def handle(self, command: Queued, tell: Tell = ...) -> None:
        """Carry out a command, once: a repeated ``command_id`` does nothing. The session and the messages it owes
        are saved together. Raises only when nothing could be saved (``StoreError``), so that it can be tried again.
        ``tell`` hears what is going on meanwhile.
        """
        ...

    @property
    def reads_words(self) -> bool:
        """Whether a model reads what people write."""
        ...

    async def opened(self, opening: Opening) -> bool:
        """Begin a session when a first message wants a day planned, on the day that it names; once, also when it is
        repeated. Where a session runs by now, it is a message to that. ``False`` when it wants nothing of the kind.
        Raises as :meth:`handle` does."""
        ...

    def stop(self, session_id: str, asked_at: datetime) -> bool:
        """Ask the turn that the session is in to stop; ``False`` when none is under way here that began before
        ``asked_at``. A turn that only thought ends without a change and says so; one that writes to the calendar
        finishes, and says that."""
        ...

    def read_click(self, click: Click) -> Command:
        """The command a control stands for. Raises ``BadInput`` for a control nobody knows."""
        ...

    async def open_form(self, request: FormRequest) -> Form:
        """The form a person asked for, filled with what is known. Fast; touches nothing outside the database.
        Raises ``UserError`` with a sentence when it makes no sense now (the session ended, the block is gone)."""
        ...

    async def read_form(self, submission: FormSubmission) -> Command | Form | FormErrors:
        """What a filled form asks for: a command, or another form to be shown in its place; or one sentence per field
        that cannot be used. Fast."""
        ...

    async def carried_out(self, command: Command) -> bool:
        """Whether a command was carried out, or turned down for good; cheap enough to be asked again and again."""
        ...

    async def owner(self, session_id: str) -> str | None:
        """Whose session it is; ``None`` when there is no such session."""
        ...

    async def calendar_owner(self) -> CalendarOwner:
        """Return whose calendar plans are written to: the only person who can plan. It may be nobody's."""
        ...

    async def claim_calendar(self, user_id: str, code: str) -> Claiming:
        """Make the person the calendar's owner if this is the code that the program printed at its start."""
        ...

    async def session_in_thread(self, channel: str, thread_ts: str) -> str | None:
        """The id of the session in a thread, if there is one."""
        ...

    def welcome(self) -> Card:
        """What is said to a message outside of any session: one sentence and a button to start."""
        ...

    async def home(self, user_id: str) -> Card:
        """A person's App Home: start button, and their sessions with where each stands."""
        ...
