"""The calendar that a person connected, and the store of these connections."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Protocol


class Provider(StrEnum):
    """The kind of server that a calendar is on."""

    CALDAV = "caldav"
    GOOGLE = "google"
    MICROSOFT = "microsoft"


@dataclass(frozen=True, slots=True)
class Connection:
    """A person's calendar: the one to write to, others to read, and how to log in.

    ``account`` is the user name or mail address, ``address`` that of a CalDAV server and otherwise empty. ``secret`` is
    a password or refresh token. It is empty once the person disconnected: then only the name of the calendar is kept,
    so that the history of what was written there can still be shown. ``problem`` says why it does not work any more.
    """

    user_id: str
    provider: Provider
    account: str
    calendar_id: str
    connected_at: datetime
    address: str = ""
    reads: tuple[str, ...] = ()
    secret: str = field(default="", repr=False)
    problem: str = ""

    @property
    def key(self) -> str:
        """The journal's name of the calendar: the same for each person and process that is connected to it."""
        place = self.address.rstrip("/") or self.account
        return f"{self.provider}:{place}#{self.calendar_id}"

    @property
    def has_ended(self) -> bool:
        """Check whether the person disconnected it."""
        return not self.secret and not self.problem

    @property
    def is_open(self) -> bool:
        """Check whether it can be used: there is a secret, and it was not refused."""
        return bool(self.secret) and not self.problem


class Connections(Protocol):
    """The connection of each person. Each call is one commit, and raises :class:`~fateforger.errors.StoreError`.

    Secrets are encrypted in the store. One that cannot be decrypted any more, because its key is lost, makes the
    connection's ``problem``.
    """

    async def of(self, user_id: str) -> Connection | None:
        """Return a person's connection."""
        ...

    async def list_people(self) -> tuple[str, ...]:
        """Return the ids of all people who have connected a calendar, also those who disconnected it."""
        ...

    async def keep(self, connection: Connection) -> None:
        """Keep a connection; it replaces the person's earlier one."""
        ...

    async def replace_secret(self, user_id: str, old: str, new: str) -> bool:
        """Replace the secret if it is still ``old``, and return whether it was.

        Two programs that refresh the same token at once cannot overwrite each other's result.
        """
        ...

    async def note_problem(self, user_id: str, problem: str) -> bool:
        """Note why a connection does not work any more, and return whether that is news."""
        ...
