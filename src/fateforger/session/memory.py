"""What a conversation knows of a person's constraints: what the store knew, what was said here, what was set aside."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date as Date  # noqa: N812  the field is called ``date`` elsewhere
from datetime import datetime
from typing import Protocol

from pydantic import BaseModel, ConfigDict

from fateforger.constraints import Answer, Context, Version, applicability
from fateforger.constraints.findings import Kind
from fateforger.constraints.kinds import Necessity, Scope, Source, Status
from fateforger.plan import ET
from fateforger.stages import TimeboxingStage

_FROZEN = ConfigDict(frozen=True, extra="forbid")


class Recalled(BaseModel):
    """What the store knew that applies on ``day`` at ``stage``, as of ``at``; ``left_out`` is how many there was no
    room for. ``trouble`` says why it could not be asked, as a sentence; the versions are then those of the last time.
    """

    model_config = _FROZEN
    day: Date
    stage: TimeboxingStage
    at: datetime
    versions: tuple[Version, ...] = ()
    left_out: int = 0
    trouble: str | None = None


class MemoryWrite(BaseModel):
    """What one command wrote into memory, so that it can be taken back: ``versions`` as they were written, and the
    newest of each constraint ``before``, where there was one; what does not count in the session since, or does again.
    ``lines`` say it. A ``fresh`` one stands on the next card with its Undo; later it is only kept."""

    model_config = _FROZEN
    cause: str
    lines: tuple[str, ...]
    versions: tuple[Version, ...] = ()
    before: tuple[Version, ...] = ()
    put_aside: tuple[str, ...] = ()
    taken_up: tuple[str, ...] = ()
    fresh: bool = True


class MemoryQuestion(BaseModel):
    """Two constraints of which only the person can say which one counts, the newer one first."""

    model_config = _FROZEN
    uids: tuple[str, str]
    names: tuple[str, str]
    sentence: str


class MemoryRow(BaseModel):
    """A constraint on the memory card. ``seq`` is that of its newest version, 0 while no store has it: what a button
    has to know to notice a change. ``words`` are the person's own, said on ``said_on``; ``when`` and ``times`` are
    empty if it is always. ``used`` tells that it applies on the session's day, ``why_not`` why it does not."""

    model_config = _FROZEN
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
    used: bool = False
    unsure: bool = False
    set_aside: bool = False
    retired: bool = False
    saved: bool = True
    why_not: str | None = None


class MemoryOffer(BaseModel):
    """Two constraints that ask for the same, or replace each other: offered to the person, never merged silently."""

    model_config = _FROZEN
    kind: Kind
    uids: tuple[str, str]
    names: tuple[str, str]
    sentence: str


class MemoryView(BaseModel):
    """The memory card while it is open beside the plan: the first rows of ``total``, of which ``used`` apply on the day
    and ``unsure`` are to be confirmed. ``asked`` is the click that opened it; ``only`` are the constraints that it is
    about, when it is not about all; ``lines`` say what the last click on a row did; ``trouble`` why the store could not
    be read."""

    model_config = _FROZEN
    asked: str
    only: tuple[str, ...] = ()
    rows: tuple[MemoryRow, ...] = ()
    total: int = 0
    used: int = 0
    unsure: int = 0
    listed: int = 0
    offers: tuple[MemoryOffer, ...] = ()
    lines: tuple[str, ...] = ()
    trouble: str | None = None


class Remembering(Protocol):
    """What :func:`active` looks at of a :class:`fateforger.session.model.Session`."""

    @property
    def id(self) -> str: ...
    @property
    def user_id(self) -> str: ...
    @property
    def date(self) -> Date: ...
    @property
    def tz(self) -> str: ...
    @property
    def stage(self) -> TimeboxingStage: ...
    @property
    def said(self) -> tuple[Version, ...]: ...
    @property
    def set_aside(self) -> tuple[str, ...]: ...
    @property
    def recalled(self) -> Recalled | None: ...


def active(
    session: Remembering,
    *,
    stage: TimeboxingStage | None = None,
    event_types: tuple[ET, ...] = (),
    k: int | None = None,
) -> Answer:
    """The constraints that apply in a session, those said here among them, ranked, with a reason for each of the others
    that the session knows of (S2, S21, S22). ``stage`` is the session's own unless another one is given; without
    ``event_types`` nothing is routed by them. Prompts, cards, reasons and the draft's fingerprint all ask this."""
    context = Context(
        user_id=session.user_id,
        stage=(stage or session.stage).value,
        as_of=session.date,
        timezone=session.tz,
        event_types=event_types,
        session_id=session.id,
        suppressed_uids=session.set_aside,
        k=k,
    )
    return applicability(known(session), context)


def known(session: Remembering) -> tuple[Version, ...]:
    """Every version that the session knows of, whether it applies or not."""
    stored = () if session.recalled is None else session.recalled.versions
    return (*stored, *session.said)


def unsaved(session: Remembering) -> tuple[Version, ...]:
    """What is to last and is in no store yet."""
    return tuple(version for version in session.said if not version.flat.session_only and not version.seq)


def still_said(said: Iterable[Version], stored: Iterable[Version]) -> tuple[Version, ...]:
    """Of what was said in a session, what a look into the store does not show: it lives here only, or is to be written
    yet."""
    there = {(version.uid, version.updated_at) for version in stored}
    return tuple(v for v in said if v.flat.session_only or (v.uid, v.updated_at) not in there)
