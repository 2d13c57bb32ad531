"""Messages of a session: the notice of its last turn, the report of a write, and what goes out to the thread.

History and preview are views that a person opens on a card of the thread.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any, Literal

from pydantic import Field, model_validator

from fateforger.calendar.history import HistoryRow
from fateforger.limits import MAX_EXCHANGE_CHARS, MAX_REPLY_CHARS
from fateforger.session.cards import Button, Card
from fateforger.text import gettext as _
from fateforger.text import ngettext, shorten
from fateforger.values import Value, replace

CHANGE = "change"
"""Code of a notice that reports the latest change of the plan."""
NOTHING_FOUND = "nothing-found"
"""Code of a notice that says that a message held nothing to do here."""


class Notice(Value):
    """Message of the last turn, shown once on its card: what it did, or why it did not.

    ``code`` says what it is about, because its lines may be in any language. ``draft`` are those of its lines that
    describe the draft shown; they go when another draft replaces it. ``unread`` are words of the person that nothing
    could read; they may be offered as a list of tasks, or as a rule. ``unchecked`` are words that were read, but not
    for rules.
    """

    lines: tuple[str, ...] = Field(min_length=1)
    refused: bool = False
    code: str = ""
    draft: tuple[str, ...] = ()
    unread: str = ""
    unchecked: str = ""

    def with_lines_once(self) -> Notice:
        return replace(self, lines=tuple(dict.fromkeys(self.lines)))


def join_notices(notices: Iterable[Notice | None]) -> Notice | None:
    """Return what came of several wishes as one notice; it is a refusal only if all of them were refused."""
    found = [notice for notice in notices if notice is not None]
    if len(found) < 2:
        return found[0] if found else None
    codes = [notice.code for notice in found]
    return Notice(
        lines=tuple(line for notice in found for line in notice.lines),
        refused=all(notice.refused for notice in found),
        code=CHANGE if CHANGE in codes else codes[-1],
        draft=tuple(line for notice in found for line in notice.draft),
    )


class LastWords(Value):
    """Last words of the bot.

    ``asks`` means that they are on the card as a question or a remark, not as a mere answer or refusal. The person's
    words are not kept, because they may contain a secret.
    """

    bot: str = Field(min_length=1, max_length=MAX_REPLY_CHARS)
    asks: bool = True
    of_queue: bool = False
    """True if they are on a card of the queue, next to the plan."""

    @classmethod
    def of(cls, bot: str, *, asks: bool = True, of_queue: bool = False) -> LastWords:
        """Return the words, cut to their limit."""
        return cls(bot=bot[:MAX_REPLY_CHARS], asks=asks, of_queue=of_queue)


MOST_EXCHANGES = 3


class Exchange(Value):
    """Words or control of the person, and the answer of the bot, both shortened.

    The words of a message that holds a secret, or may hold one, are left out.
    """

    person: str
    bot: str

    @classmethod
    def of(cls, person: str, bot: str) -> Exchange:
        """Return the exchange, with both sides cut to their limit."""
        return cls(person=shorten(person, MAX_EXCHANGE_CHARS), bot=shorten(bot, MAX_EXCHANGE_CHARS))


class Focus(Value):
    """The task that a person is going through in a place, until an instant (S217).

    Without a ``thread_ts`` it is the channel as a whole. ``seen`` are the tasks that they are done with.
    """

    task_id: str
    seen: tuple[str, ...] = ()
    channel: str
    thread_ts: str | None = None
    until: datetime

    def covers(self, channel: str, thread_ts: str | None, at: datetime) -> bool:
        """Check whether words in a place at an instant are about the task."""
        return at < self.until and channel == self.channel and self.thread_ts in {None, thread_ts}


class RecentTalk(Value):
    """The last exchanges with a person outside of plans, up to the instant ``at``.

    ``buttons`` are those of the last card, so that words can press them; ``wrote`` are the ids of the commands that
    wrote rules, the latest last. ``focus`` is the task that they are going through. ``missed`` are the sessions whose
    open work went back to the queue, as far as the person was not told.
    """

    at: datetime
    exchanges: tuple[Exchange, ...] = ()
    buttons: tuple[Button, ...] = ()
    wrote: tuple[str, ...] = ()
    focus: Focus | None = None
    missed: tuple[str, ...] = ()

    @classmethod
    def after(
        cls,
        before: RecentTalk | None,
        exchange: Exchange,
        *,
        at: datetime,
        buttons: tuple[Button, ...] = (),
        wrote: tuple[str, ...] = (),
    ) -> RecentTalk:
        """Return the talk with one more exchange."""
        before = before or cls(at=at)
        return cls(
            at=at,
            exchanges=(*before.exchanges, exchange)[-MOST_EXCHANGES:],
            buttons=buttons,
            wrote=(*before.wrote, *wrote)[-MOST_EXCHANGES:],
            focus=before.focus,
            missed=before.missed,
        )


class SyncReport(Value):
    """Result of the last write to the calendar, in counts and sentences.

    The ``headline`` sums up a write that was done; the ``details`` say what the counts do not.
    """

    status: Literal["changed", "unchanged", "partial", "failed", "undone"]
    created: int = 0
    updated: int = 0
    deleted: int = 0
    unchanged: int = 0
    unsure: bool = False
    """True when it is unknown whether a sent operation arrived."""
    headline: str = ""
    details: tuple[str, ...] = ()

    @model_validator(mode="before")
    @classmethod
    def _read_sentences(cls, document: Any) -> Any:
        """Split the sentences of an earlier report; the first one of a write that was done is its headline."""
        if not isinstance(document, dict) or "sentences" not in document:
            return document
        told = {**document}
        first, *rest = [*told.pop("sentences")] or [""]
        whole = document.get("status") in {"partial", "failed"}
        return {**told, "details": [first, *rest] if whole and first else rest, "headline": "" if whole else first}

    @property
    def has_writes(self) -> bool:
        """Check whether anything was written."""
        return bool(self.created or self.updated or self.deleted)

    @property
    def sentences(self) -> tuple[str, ...]:
        """All sentences, the headline first."""
        return tuple(sentence for sentence in (self.headline, *self.details) if sentence)


MOST_LATER = 12
"""Most messages after a card with which it is updated in place: six exchanges, which still fit on a screen."""


def format_writes(created: int, updated: int, deleted: int, unchanged: int = 0) -> str:
    """Return the counts that are not zero, like ``4 created, 1 updated``; ``unchanged`` if all are zero."""
    counts = (
        (created, ngettext("{count} created", "{count} created", created)),
        (updated, ngettext("{count} updated", "{count} updated", updated)),
        (deleted, ngettext("{count} deleted", "{count} deleted", deleted)),
        (unchanged, ngettext("{count} unchanged", "{count} unchanged", unchanged)),
    )
    return ", ".join(words for count, words in counts if count) or _("unchanged")


class Outgoing(Value):
    """A message that the session owes the person.

    ``slot`` names the message. The slot ``root`` starts the thread. A slot that was sent before is updated in place
    while it is the latest message of the thread, otherwise sent again. ``retire`` names slots whose controls are
    removed; they then show ``farewell``, or keep their text without one. If its own slot is among them, its earlier
    message is meant, in case this one is sent again. ``stays`` updates it in place, even when later messages follow;
    with a ``reply``, only while no more than :data:`MOST_LATER` follow, so that the person still sees it. The reply is
    then posted at the end of the thread, and the card leaves out what it says. ``replied`` is the reply of an earlier
    version: the card leaves out what it says if that version did. A message with ``beside`` does not count as the
    latest. ``ephemeral_to`` makes it visible to that person only. ``trace`` is the position in the trace that it
    belongs to.
    """

    id: str
    session_id: str
    channel: str
    slot: str
    card: Card
    retire: tuple[str, ...] = ()
    farewell: Card | None = None
    stays: bool = False
    reply: Card | None = None
    replied: Card | None = None
    beside: bool = False
    ephemeral_to: str | None = None
    trace: str = Field(default="", exclude_if=lambda trace: not trace)

    def without_reply(self) -> Outgoing:
        """Return the message without what its reply says."""
        return self if self.reply is None else replace(self._without(self.reply), reply=None)

    def after(self, shown: Outgoing | None) -> Outgoing:
        """Return the message for a slot that shows an earlier version, or nothing."""
        if self.replied is None:
            return self
        left_out = shown is not None and not all(part in shown.card.parts for part in self.replied.parts)
        return replace(self._without(self.replied) if left_out else self, replied=None)

    def _without(self, said: Card) -> Outgoing:
        parts = tuple(part for part in self.card.parts if part not in said.parts)
        return replace(self, card=replace(self.card, parts=parts))


FIRST_LISTED = 8
MORE_LISTED = 12
MOST_LISTED = 32
"""Rows of a history: at first, with each click on *Show older*, and at most.

Slack shows fifty parts of a message.
"""


class HistoryView(Value):
    """The listed rows of a history, the newest first, of ``total``.

    ``asked`` is the click that opened it; a new one moves it to the end of the thread. ``newest`` is the newest write
    when it was made. ``lines`` describe the last click on a row.
    """

    asked: str
    rows: tuple[HistoryRow, ...] = ()
    total: int = 0
    listed: int = FIRST_LISTED
    newest: str = ""
    lines: tuple[str, ...] = ()


class PreviewView(Value):
    """The next write in words, as of ``at``, or the ``problem`` that prevents a preview.

    It is ``stale`` once the plan or the calendar has changed since.
    """

    asked: str
    at: datetime
    counts: str = ""
    todo: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    brakes: tuple[str, ...] = ()
    problem: str | None = None
    stale: bool = False
