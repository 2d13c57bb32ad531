"""Versions of constraints: the time they were written, the event, and the days they hold for.

There are two time lines. *Valid time* is the days a record is about (its applicability); *system time* runs from the
writing of a version to the writing of the next. The newest version of a uid is the constraint; the others are history.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from functools import cached_property
from operator import attrgetter
from typing import Annotated, Self

from pydantic import AfterValidator, Field, model_validator

from fateforger.limits import MAX_DESCRIPTION_CHARS
from fateforger.memory.record import ConstraintRecord, Flat, flatten
from fateforger.memory.vocabulary import Action, Status
from fateforger.values import Value

SUPERSEDED = "superseded"
"""The reason of an archive event for a constraint that another one replaced."""
RETIRING = frozenset({Action.ARCHIVE, Action.DECLINE})


def _require_aware(value: datetime) -> datetime:
    if value.tzinfo is None:
        raise ValueError("an instant needs an offset, like 2026-03-02T09:00:00Z")
    return value.astimezone(UTC)


Instant = Annotated[datetime, AfterValidator(_require_aware)]
"""An aware datetime, kept in UTC so that equal instants are equal values."""


class Event(Value):
    """The event that caused a version."""

    action: Action = Action.UPSERT
    reason: str | None = Field(None, max_length=MAX_DESCRIPTION_CHARS)


class Version(Value):
    """One version of one person's constraint.

    ``seq`` increases in the order of writing and decides between versions of the same instant. ``session_id`` is the
    conversation it was said in.
    """

    user_id: str
    record: ConstraintRecord
    created_at: Instant
    updated_at: Instant
    event: Event = Event()
    session_id: str | None = None
    seq: int = 0

    @model_validator(mode="after")
    def _is_a_version_of_something(self) -> Self:
        if self.record.lifecycle.uid is None:
            raise ValueError("a version needs the uid of its constraint in lifecycle.uid")
        if self.event.action in RETIRING and self.record.status is not Status.DECLINED:
            raise ValueError("what is archived or declined has the status declined")
        return self

    @cached_property
    def uid(self) -> str:
        return self.record.uid

    @cached_property
    def flat(self) -> Flat:
        """The fields that filters use."""
        return flatten(self.record)

    @property
    def retired(self) -> bool:
        """Check whether it is permanently out of force: declined by the person, or archived."""
        return self.flat.declined


_written = attrgetter("updated_at", "seq")


def select_newest(versions: Iterable[Version], user_id: str, now: datetime | None = None) -> dict[str, Version]:
    """Return one person's constraints by uid, each in its newest version.

    Versions written after ``now`` do not exist yet. Rows of other people are ignored; ids are compared exactly.
    """
    found: dict[str, Version] = {}
    for version in versions:
        if version.user_id != user_id or (now is not None and version.updated_at > now):
            continue
        before = found.setdefault(version.uid, version)
        if before is version or version.updated_at < before.updated_at:
            continue
        if _written(version) > _written(before):
            found[version.uid] = version
    return found


def list_history(versions: Iterable[Version], user_id: str, uid: str) -> list[Version]:
    """Return all versions of one constraint, oldest first; empty if the person has no such constraint."""
    return sorted((v for v in versions if v.user_id == user_id and v.uid == uid), key=_written)


def find_successors(constraints: Mapping[str, Version]) -> dict[str, list[Version]]:
    """Return, by uid, the constraints that supersede it; a record that names itself does not count."""
    named: dict[str, list[Version]] = {}
    for version in constraints.values():
        for uid in version.flat.supersedes:
            if uid != version.uid:
                named.setdefault(uid, []).append(version)
    return named


def still_replaces(version: Version, named: Mapping[str, list[Version]]) -> bool:
    """Check whether a constraint still replaces those it supersedes.

    One that the person declined replaces nothing. One that was archived because it was superseded itself still does, or
    its predecessor would come back. The reason of the archive event tells the two apart; without a reason, it counts as
    superseded if another constraint names it.
    """
    if not version.retired:
        return True
    match version.event.action:
        case Action.SUPERSEDE:
            return True
        case Action.ARCHIVE:
            reason = version.event.reason
            return is_superseded_reason(reason) or (not (reason and reason.strip()) and version.uid in named)
        case _:
            return False


def build_superseded_by(uid: str) -> str:
    """Return the reason of the event that retires a constraint replaced by that one."""
    return f"{SUPERSEDED} by {uid}"


def is_superseded_reason(reason: str | None) -> bool:
    """Check whether the reason of an archive event says that another constraint replaced this one."""
    return (reason or "").strip().casefold().startswith(SUPERSEDED)
