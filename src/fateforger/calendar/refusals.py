"""Refusals of a calendar's provider, as outcomes of writes and errors of reads; each provider brings its sentences."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import assert_never

from fateforger.calendar.ports import Exists, Gone, Limited, Outcome, Rejected, Stale, Unauthorized, Unknown, WriteKind
from fateforger.errors import (
    CalendarAuthFailed,
    CalendarError,
    CalendarIncomplete,
    CalendarNotFound,
    CalendarReadOnly,
    CalendarUnreachable,
)
from fateforger.text import gettext as _
from fateforger.text import truncate

_LONGEST = 300


class RefusalKind(StrEnum):
    """The kind of an answer that is not a success."""

    LOGIN = "login"
    """The login expired, was refused, lacks a right, or was not specified: the person has to connect again."""
    LIMITED = "limited"
    READ_ONLY = "read_only"
    """The login may read the calendar, but not write to it."""
    FORBIDDEN = "forbidden"
    NO_CALENDAR = "no_calendar"
    NOT_FOUND = "not_found"
    """404: the event or the whole calendar is not there."""
    EXISTS = "exists"
    """The id of a create was used before."""
    CONFLICT = "conflict"
    """409 without details: the id exists, or another write was in progress."""
    DELETED = "deleted"
    """410."""
    CHANGED = "changed"
    """412."""
    EXPIRED = "expired"
    """A token for changes that is no longer good: everything has to be read."""
    INVALID = "invalid"
    """400: it will be refused again."""
    TROUBLE = "trouble"
    """The provider failed, or the connection to it; a write may have taken effect."""
    UNCLEAR = "unclear"
    """An answer that cannot be read, or an unknown text."""


@dataclass(frozen=True, slots=True)
class Wording:
    """The sentences of a provider, each with the place of a ``reason``.

    ``no_write`` holds those about writes that are refused for good, and ``no_read`` those about reads; ``unusable`` is
    about any other answer to a read. ``wait`` is the reason for a wait in a few words, if it is known.
    """

    login: str
    not_found: str
    no_write: Mapping[RefusalKind, str]
    no_read: Mapping[RefusalKind, str]
    unusable: str
    wait: str = ""

    @property
    def pause(self) -> str:
        """Reason for a wait, in the language of the person."""
        return _(self.wait) if self.wait else ""

    def to_outcome(
        self,
        refusal: RefusalKind,
        reason: str,
        kind: WriteKind,
        *,
        retry_after: float | None = None,
        sentence: str = "",
    ) -> Outcome:
        """Return the outcome of a refused write.

        In doubt it is :class:`Unknown`, which makes the engine read the event. ``sentence`` is complete, and replaces
        the provider's about the login.
        """
        creating = kind == "create"
        match refusal:
            case RefusalKind.LIMITED:
                return Limited(retry_after, self.pause)
            case RefusalKind.LOGIN:
                return Unauthorized(sentence or _(self.login, reason=reason))
            case RefusalKind.NO_CALENDAR:
                return Rejected(_(self.not_found, reason=reason))
            case RefusalKind.READ_ONLY | RefusalKind.FORBIDDEN | RefusalKind.INVALID:
                return Rejected(_(self.no_write[refusal], reason=reason))
            case RefusalKind.NOT_FOUND | RefusalKind.DELETED:
                return Rejected(_(self.not_found, reason=reason)) if creating else Gone()
            case RefusalKind.EXISTS | RefusalKind.CONFLICT if creating:
                return Exists()
            case RefusalKind.CONFLICT | RefusalKind.CHANGED if not creating:
                return Stale()
            case (
                RefusalKind.EXISTS
                | RefusalKind.CONFLICT
                | RefusalKind.CHANGED
                | RefusalKind.EXPIRED
                | RefusalKind.TROUBLE
                | RefusalKind.UNCLEAR
            ):
                return Unknown(reason)
            case _:
                assert_never(refusal)

    def to_error(
        self, refusal: RefusalKind, reason: str, *, retry_after: float | None = None, sentence: str = ""
    ) -> CalendarError:
        """Return the error of a refused read; ``sentence`` is complete, about the login or the connection."""
        match refusal:
            case RefusalKind.LOGIN:
                return CalendarAuthFailed(sentence or _(self.login, reason=reason))
            case RefusalKind.READ_ONLY | RefusalKind.FORBIDDEN:
                return CalendarReadOnly(_(self.no_read[refusal], reason=reason))
            case RefusalKind.NO_CALENDAR | RefusalKind.NOT_FOUND | RefusalKind.DELETED:
                return CalendarNotFound(_(self.not_found, reason=reason))
            case RefusalKind.LIMITED:
                text = _(self.no_read[refusal], reason=reason)
                return CalendarUnreachable(text, retry_after=retry_after, reason=self.pause)
            case RefusalKind.TROUBLE:
                return CalendarUnreachable(sentence or _(self.no_read[refusal], reason=reason))
            case (
                RefusalKind.EXISTS
                | RefusalKind.CONFLICT
                | RefusalKind.CHANGED
                | RefusalKind.EXPIRED
                | RefusalKind.INVALID
                | RefusalKind.UNCLEAR
            ):
                return CalendarIncomplete(_(self.unusable, reason=reason))
            case _:
                assert_never(refusal)


@dataclass(frozen=True, slots=True)
class Refused:
    """A request without a usable answer.

    ``message`` is the provider's; ``retry_after`` is in seconds, if it named a pause. ``sentence`` is a complete
    one for the person, if there is one.
    """

    wording: Wording
    refusal: RefusalKind
    message: str
    retry_after: float | None = None
    sentence: str = ""

    @property
    def reason(self) -> str:
        """The message for use inside a sentence."""
        return truncate(self.message.split("\n", 1)[0].strip().rstrip("."), _LONGEST) or _("no reason given")

    def to_outcome(self, kind: WriteKind) -> Outcome:
        """Return the outcome of a write that was refused so."""
        return self.wording.to_outcome(
            self.refusal, self.reason, kind, retry_after=self.retry_after, sentence=self.sentence
        )

    def to_error(self) -> CalendarError:
        """Return the error of a read that was refused so."""
        return self.wording.to_error(self.refusal, self.reason, retry_after=self.retry_after, sentence=self.sentence)
