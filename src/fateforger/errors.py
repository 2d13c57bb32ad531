"""All errors of the program in one tree, split by who can act on them.

    FateforgerError
    ├── UserError            the person (or the caller of a command) can correct the input; exit status 2
    │   ├── PlanInvalid      a plan, or a patch's result, breaks an invariant of ``plan``
    │   ├── PatchInvalid     a patch does not fit the plan it is applied to
    │   ├── BadInput         any other input that cannot be used as it is
    │   ├── ConfirmationNeeded   it is unlikely to be intended and has to be confirmed
    │   └── NotUndoable      there is nothing to undo, or it was undone already
    │       └── WrittenElsewhere  it was written to another calendar than the one that is used now
    ├── WorldError           something outside failed; trying again may help; exit status 3
    │   ├── CalendarError
    │   │   ├── CalendarUnreachable   no connection, time-out, server error
    │   │   ├── CalendarAuthFailed    the login expired or was refused
    │   │   ├── CalendarNotConnected  the person has connected no calendar
    │   │   ├── CalendarNotFound      that calendar does not exist (any more)
    │   │   ├── CalendarReadOnly      it can be read but not written
    │   │   ├── CalendarIncomplete    the answer may be incomplete, so nothing may follow from it
    │   │   └── CalendarBusy          another write to this calendar is in progress
    │   ├── ConnectionFailed          a person's account at another service cannot be used
    │   │   ├── ConnectionRevoked         their consent ended or was withdrawn; they have to connect again
    │   │   ├── ConnectionUnreachable     no connection, time-out, server error
    │   │   └── ConnectionMisconfigured   the service does not accept this program; its operator can help
    │   ├── StoreError
    │   │   ├── StoreUnavailable      the database cannot be read or written (full disk, locked)
    │   │   ├── VersionConflict       a newer version was saved first
    │   │   ├── StillAtWork           a job of the same person is running
    │   │   └── ConstraintUnreadable  a constraint is there and cannot be read; the others can
    │   ├── MemoryUnavailable         the index of constraints cannot be read or written; nothing is lost with it
    │   │   └── RebuildNeeded         it is damaged, or built with another embedder, and must be rebuilt
    │   ├── SourceUnavailable         the place that constraints are moved from cannot be read now
    │   ├── TasksUnavailable          a task list in another service cannot be read now
    │   └── ModelError
    │       ├── ModelUnreachable      no connection, a connection cut off, a server error
    │       ├── ModelTimedOut         no answer in the time it was given
    │       ├── ModelAuthFailed       the key was refused
    │       ├── ModelBusy             too many requests, or the quota is used up
    │       ├── ModelRejected         the request is impossible: no such model, too long, an unknown setting
    │       └── ModelUnusable         it answered, and the answer cannot be used
    └── InternalError        a bug in this program; never reported as anything else

The message of each error is a sentence for a person. ``where`` names the part of the input it is about.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from fateforger.limits import MAX_QUOTED_CHARS, MAX_REFUSAL_CHARS

_LONG_QUOTE = re.compile(rf"“([^“”]{{{MAX_QUOTED_CHARS}}})[^“”]+”")


class FateforgerError(Exception):
    """Root of all errors raised on purpose. ``kind`` is the stable machine-readable name."""

    def __init__(self, message: str, *, where: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.where = where

    @property
    def kind(self) -> str:
        """The class name in snake case, for ``{"error": {"kind": ...}}``."""
        name = type(self).__name__
        return "".join(f"_{c.lower()}" if c.isupper() and i else c.lower() for i, c in enumerate(name))


class UserError(FateforgerError):
    """The input can be corrected by its author. Long quotations of the input in the message are shortened."""

    def __init__(self, message: str, *, where: str | None = None) -> None:
        shown = _LONG_QUOTE.sub(lambda quote: f"“{' '.join(quote[1].split())}…”", message)[:MAX_REFUSAL_CHARS]
        # Otherwise the message itself: its type may say how it is to be shown.
        super().__init__(message if shown == message else shown, where=where and where[:MAX_QUOTED_CHARS])


class PlanInvalid(UserError):
    """A plan breaks an invariant. ``events`` holds the list positions of the blocks concerned."""

    def __init__(self, message: str, *, events: tuple[int, ...] = (), where: str | None = None) -> None:
        super().__init__(message, where=where)
        self.events = events


class PatchInvalid(UserError):
    """A patch names a block that is not there, or is otherwise not applicable."""


class BadInput(UserError):
    """Input of any other kind that cannot be used as it is."""


class ConfirmationNeeded(UserError):
    """Nothing was done yet: an explicit confirmation is needed. ``reasons`` names what to confirm."""

    def __init__(self, message: str, *, reasons: tuple[str, ...], where: str | None = None) -> None:
        super().__init__(message, where=where)
        self.reasons = reasons


class NotUndoable(UserError):
    """There is nothing to undo, or it was undone already."""


class WrittenElsewhere(NotUndoable):
    """A write to be undone is on another calendar than the one that is used now."""


class WorldError(FateforgerError):
    """Something outside of this program failed."""


class CalendarError(WorldError):
    """The calendar could not do what was asked."""


class CalendarUnreachable(CalendarError):
    """No connection, a time-out, a server error, or too many requests.

    ``retry_after`` is in seconds, if known; ``reason`` then says in a few words why it has to wait.
    """

    def __init__(
        self, message: str, *, where: str | None = None, retry_after: float | None = None, reason: str = ""
    ) -> None:
        super().__init__(message, where=where)
        self.retry_after = retry_after
        self.reason = reason


class CalendarAuthFailed(CalendarError):
    """The login expired or was refused."""


class CalendarNotConnected(CalendarError):
    """The person has connected no calendar here."""


class CalendarNotFound(CalendarError):
    """The calendar does not exist, or no longer."""


class CalendarReadOnly(CalendarError):
    """The calendar can be read but not written."""


class CalendarIncomplete(CalendarError):
    """The answer may be incomplete, so absence proves nothing."""


class CalendarBusy(CalendarError):
    """Another write to the same calendar is in progress."""


class ConnectionFailed(WorldError):
    """A person's account at another service cannot be used."""


class ConnectionRevoked(ConnectionFailed):
    """The person's consent ended or was withdrawn; only connecting again helps."""


class ConnectionUnreachable(ConnectionFailed):
    """The service that gives access cannot be reached, or cannot answer now."""


class ConnectionMisconfigured(ConnectionFailed):
    """The service does not accept this program itself."""


class StoreError(WorldError):
    """The database could not do what was asked."""


class StoreUnavailable(StoreError):
    """The database cannot be read or written."""


class VersionConflict(StoreError):
    """A newer version of the same thing was saved first."""


class StillAtWork(StoreError):
    """A job of the same person is running at this moment."""


class ConstraintUnreadable(StoreError):
    """Constraints are damaged, or of a newer program.

    ``names`` has their names by uid. Others can still be read.
    """

    def __init__(self, message: str, *, names: Mapping[str, str], where: str | None = None) -> None:
        super().__init__(message, where=where)
        self.names = names


class MemoryUnavailable(WorldError):
    """The index of constraints cannot be read or written. It can be rebuilt, so nothing is lost."""


class RebuildNeeded(MemoryUnavailable):
    """The index exists but cannot be used; only wiping and rebuilding it helps."""


class SourceUnavailable(WorldError):
    """The store that constraints are moved from (Notion, an SQLite file) cannot be read.

    ``retry_after`` is in seconds, if the server gave it.
    """

    def __init__(self, message: str, *, where: str | None = None, retry_after: float | None = None) -> None:
        super().__init__(message, where=where)
        self.retry_after = retry_after


class TasksUnavailable(WorldError):
    """A person's task list in another service cannot be read.

    ``reason`` is for the operator, and contains nothing that the list or its server sent.
    """

    def __init__(self, message: str, *, reason: str, where: str | None = None) -> None:
        super().__init__(message, where=where)
        self.reason = reason


class ModelError(WorldError):
    """The language model could not do what was asked. Nothing was changed."""


class ModelUnreachable(ModelError):
    """No connection, a connection cut off, or a server error."""


class ModelTimedOut(ModelError):
    """No answer in the time it was given."""


class ModelAuthFailed(ModelError):
    """The key was refused."""


class ModelBusy(ModelError):
    """Too many requests, or the quota is used up. ``retry_after`` is in seconds, if the server gave it."""

    def __init__(self, message: str, *, retry_after: float | None = None, where: str | None = None) -> None:
        super().__init__(message, where=where)
        self.retry_after = retry_after


class ModelRejected(ModelError):
    """The request is impossible: no such model, too long, an unknown setting."""


class ModelUnusable(ModelError):
    """The answer cannot be used: a refusal, no JSON, or values that make no sense."""


class InternalError(FateforgerError):
    """A bug in this program."""
