"""Constraints that a conversation knows: from the store, from its messages, and those set aside."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date as Date  # noqa: N812  the field is called ``date`` elsewhere
from datetime import datetime

from fateforger.memory.contradiction import Kind
from fateforger.memory.versions import Version
from fateforger.memory.vocabulary import Necessity, Scope, Source, Status
from fateforger.session.stages import TimeboxingStage
from fateforger.values import Value


class RecalledConstraints(Value):
    """Constraints from the store that apply on ``day`` at ``stage``, as of ``at``.

    ``topics`` are those that the last message was about. ``near`` names those that are close in meaning to the message
    of the turn, the closest first. ``left_out`` counts the constraints that there was no room for. ``trouble`` is a
    sentence on why the store could not be read; the versions are then those of the last time.
    """

    day: Date
    stage: TimeboxingStage
    at: datetime
    versions: tuple[Version, ...] = ()
    topics: tuple[str, ...] = ()
    left_out: int = 0
    near: tuple[str, ...] = ()
    trouble: str | None = None


class AllowedMeeting(Value):
    """A meeting that the person allows on one day, although it breaks the constraint with the uid ``rule``."""

    rule: str
    meeting: str
    title: str
    day: Date


class MemoryQuestion(Value):
    """Two conflicting constraints between which only the person can choose, the newer one first.

    With ``replaces`` their meaning conflicts, and the question is whether the newer one replaces the older one. With
    ``keep`` they say the same in other words, and the question is whether that one is enough.
    """

    uids: tuple[str, str]
    names: tuple[str, str]
    sentence: str
    replaces: bool = False
    keep: str | None = None


class MemoryWrite(Value):
    """A command's writes into memory, kept so that they can be undone.

    ``versions`` are the ones written, ``before`` the newest of each constraint before, if any. ``put_aside`` and
    ``taken_up`` are the constraints that no longer count in the session, or count again; ``allowed`` are meetings that
    may break one, ``answered`` the questions that it answered. ``lines`` describe the writes. A ``fresh`` one is shown
    on the next card with its Undo; later it is only kept.
    """

    cause: str
    lines: tuple[str, ...]
    versions: tuple[Version, ...] = ()
    before: tuple[Version, ...] = ()
    put_aside: tuple[str, ...] = ()
    taken_up: tuple[str, ...] = ()
    allowed: tuple[AllowedMeeting, ...] = ()
    answered: tuple[MemoryQuestion, ...] = ()
    fresh: bool = True


class MemoryConstraintItem(Value):
    """A constraint on the memory card.

    ``seq`` is that of its newest version, 0 while it is in no store; buttons carry it to detect changes. ``words``
    are the person's own, said on ``said_on``. ``when``, ``times`` and ``limits`` are empty if it always applies.
    ``used`` means that it applies on the session's day; ``why_not`` is the reason it does not.
    """

    uid: str
    seq: int
    name: str
    words: str
    said_on: Date
    necessity: Necessity
    status: Status
    scope: Scope
    source: Source = Source.USER
    when: str = ""
    times: str = ""
    limits: str = ""
    topics: tuple[str, ...] = ()
    confidence: float | None = None
    used: bool = False
    unsure: bool = False
    set_aside: bool = False
    retired: bool = False
    saved: bool = True
    why_not: str | None = None


class MemoryOffer(Value):
    """Two constraints with the same content, or that replace each other.

    They are offered to the person, never merged silently.
    """

    kind: Kind
    uids: tuple[str, str]
    names: tuple[str, str]
    sentence: str


class MemoryToolResult(Value):
    """The open memory card: the first rows of ``total``.

    Of these, ``used`` apply on the day and ``unsure`` need confirmation. ``asked`` is the click that opened it.
    ``only`` restricts the card to these constraints. ``lines`` describe the last click on a row. ``trouble`` is the
    reason the store could not be read.
    """

    asked: str
    only: tuple[str, ...] = ()
    rows: tuple[MemoryConstraintItem, ...] = ()
    total: int = 0
    used: int = 0
    unsure: int = 0
    listed: int = 0
    offers: tuple[MemoryOffer, ...] = ()
    lines: tuple[str, ...] = ()
    trouble: str | None = None


def unstored_versions(said: Iterable[Version], stored: Iterable[Version]) -> tuple[Version, ...]:
    """Return the versions stated in a session that the store does not hold.

    They belong to the session only, or are still to be written.
    """
    there = {(version.uid, version.updated_at) for version in stored}
    return tuple(v for v in said if v.flat.session_only or (v.uid, v.updated_at) not in there)
