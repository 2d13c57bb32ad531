"""All errors of the program in one tree, split by who can act on them, and a mistake in a document as one sentence.

    FateforgerError
    ├── UserError            the person (or the caller of a command) can correct the input; exit status 2
    │   ├── PlanInvalid      a plan, or a patch's result, breaks an invariant of ``plan``
    │   ├── PatchInvalid     a patch does not fit the plan it is applied to
    │   ├── BadInput         any other input that cannot be used as it is
    │   ├── ConfirmationNeeded   it is unlikely to be intended and has to be confirmed
    │   └── NotUndoable      there is nothing to undo, or it was undone already
    │       └── WrittenElsewhere  it was written to a calendar that is no longer used
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
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from fateforger.limits import MAX_QUOTED_CHARS, MAX_REFUSAL_CHARS

if TYPE_CHECKING:
    from pydantic import BaseModel, ValidationError

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
    """An explicit confirmation is needed before anything is done. ``reasons`` names what to confirm."""

    def __init__(self, message: str, *, reasons: tuple[str, ...], where: str | None = None) -> None:
        super().__init__(message, where=where)
        self.reasons = reasons


class NotUndoable(UserError):
    """There is nothing to undo, or it was undone already."""


class WrittenElsewhere(NotUndoable):
    """The write to undo is on a calendar that is no longer used."""


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


M = TypeVar("M", bound="BaseModel")
_UNION_TAGS = {"ap", "bn", "fs", "fw", "ae", "re", "ue", "me", "ra"}


@dataclass(frozen=True, slots=True)
class Mistake:
    """One mistake in a document, for a person.

    ``where`` is a path like ``events[2].p.dur``. ``sentence`` is readable without it.
    """

    sentence: str
    where: str
    events: tuple[int, ...]


def validate(kind: type[M], document: object, where: str | None = None) -> M:
    """Return a document as a value of ``kind``.

    Raises ``BadInput`` with the first mistake; its place begins with ``where``, the place of the document itself.
    """
    from pydantic import ValidationError  # noqa: PLC0415  a command's help needs no documents

    try:
        return kind.model_validate(document)
    except ValidationError as error:
        mistake = first_mistake(error)
        raise BadInput(mistake.sentence, where=", ".join(filter(None, (where, mistake.where))) or None) from None


def first_mistake(error: ValidationError) -> Mistake:
    """Return the first finding of an error as a sentence, with its place in the document."""
    finding = error.errors(include_url=False, include_context=True)[0]
    path = [p for p in finding["loc"] if p not in _UNION_TAGS and not _is_type_name(p)]
    where = _path(path)
    if finding["type"].startswith("date_"):
        sentence = f"“{str(finding['input'])[:20]}” is not a day; write it like 2026-03-05."
    else:
        sentence = _sentence(finding["type"], finding["msg"], where.rpartition(".")[2], finding.get("ctx", {}))
    index = next((p for p in path if isinstance(p, int)), None)
    return Mistake(sentence, where, () if index is None else (index,))


def _is_type_name(part: int | str) -> bool:
    return isinstance(part, str) and (part in {"time", "datetime"} or "[" in part)


def _path(parts: list[int | str]) -> str:
    text = ""
    for part in parts:
        text += f"[{part}]" if isinstance(part, int) else (f".{part}" if text else str(part))
    return text


def _sentence(kind: str, message: str, field: str, bounds: Mapping[str, Any]) -> str:
    name = f"“{field}”" if field else "This"
    match kind:
        case "value_error":
            text = message.removeprefix("Value error, ")
            sentence = f"{text[0].upper()}{text[1:].rstrip('.')}"
            return sentence if sentence.endswith("?") else f"{sentence}."
        case "missing":
            return f"{name} is missing."
        case "extra_forbidden":
            return f"{name} is not a field I know here."
        case "greater_than_equal":
            return f"{name} has to be {_number(bounds['ge'])} or more."
        case "less_than_equal":
            return f"{name} has to be {_number(bounds['le'])} or less."
        case "too_long":
            return f"{name} can hold {bounds['max_length']} at most, and here are {bounds['actual_length']}."
        case "string_too_long" | "string_too_short":
            return f"{name} {_describe_length(bounds)}."
        case "union_tag_invalid" | "union_tag_not_found":
            if "tag" in bounds:
                return f"{name} does not say which kind it is: “{bounds['tag']}” is none of {bounds['expected_tags']}."
            return f"{name} does not say which kind it is: {bounds['discriminator']} is missing."
        case _:
            return f"{name} cannot be used: {message[0].lower()}{message[1:].rstrip('.')}."


def _describe_length(bounds: Mapping[str, Any]) -> str:
    least = bounds.get("min_length", 0)
    if least == 1:
        return "is empty"
    if least:
        return f"is too short: it needs {least} characters or more"
    return f"is too long: it can have {bounds['max_length']} characters at most"


def _number(bound: object) -> object:
    """Drop the decimal point of a whole number."""
    return int(bound) if isinstance(bound, float) and bound.is_integer() else bound
