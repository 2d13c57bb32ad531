"""Versions of constraints: what was written when, by which event, and for which days it holds.

Two time lines: *valid time* is the days a record speaks of (its applicability), *system time* is when a version was
written and when the next one took its place. The newest version of a uid is the constraint; the others are history.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from operator import attrgetter
from typing import Annotated, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from fateforger.constraints.flat import Flat, flatten
from fateforger.constraints.kinds import Action, Status
from fateforger.constraints.record import MAX_TEXT, ConstraintRecord

SUPERSEDED = "superseded"
"""The reason of an archive event that was written because another constraint took the place of this one."""
RETIRING = frozenset({Action.ARCHIVE, Action.DECLINE})


def _aware(value: datetime) -> datetime:
    if value.tzinfo is None:
        raise ValueError("an instant needs an offset, like 2026-03-02T09:00:00Z")
    return value.astimezone(UTC)


Instant = Annotated[datetime, AfterValidator(_aware)]
"""An aware datetime, kept in UTC so that equal instants are equal values."""


class Event(BaseModel):
    """Why a version was written."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    action: Action = Action.UPSERT
    reason: str | None = Field(None, max_length=MAX_TEXT)


class Version(BaseModel):
    """One version of one person's constraint. ``seq`` counts up in the order in which versions were written and decides
    between versions of the same instant. ``session_id``: the conversation it was said in."""

    model_config = ConfigDict(frozen=True, extra="forbid")
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
        """The fields that filters look at."""
        return flatten(self.record)

    @property
    def retired(self) -> bool:
        """Whether it is out of force for good: declined by the person, or archived."""
        return self.flat.declined


_written = attrgetter("updated_at", "seq")


def newest(versions: Iterable[Version], user_id: str, now: datetime | None = None) -> dict[str, Version]:
    """The constraints of one person by uid, each in its newest version; what was written after ``now`` does not exist
    yet. Rows of anybody else are not looked at: ids are equal or they are not, no character means anything."""
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


@dataclass(frozen=True, slots=True)
class Era:
    """A version with the time it was the constraint: from ``written`` until ``superseded``, or until now."""

    version: Version
    written: datetime
    superseded: datetime | None


def eras(versions: Iterable[Version], user_id: str, uid: str) -> tuple[Era, ...]:
    """The whole history of one constraint, oldest first; empty when the person has no such constraint."""
    mine = sorted((v for v in versions if v.user_id == user_id and v.uid == uid), key=_written)
    ends: list[datetime | None] = [later.updated_at for later in mine[1:]]
    return tuple(
        Era(version, version.updated_at, end) for version, end in zip(mine, [*ends, None][: len(mine)], strict=True)
    )


def successors(constraints: Mapping[str, Version]) -> dict[str, list[Version]]:
    """Which constraints name a uid among those they supersede; a record that names itself does not count."""
    named: dict[str, list[Version]] = {}
    for version in constraints.values():
        for uid in version.flat.supersedes:
            if uid != version.uid:
                named.setdefault(uid, []).append(version)
    return named


def still_replaces(version: Version, named: Mapping[str, list[Version]]) -> bool:
    """Whether a constraint takes the place of those it supersedes. One that the person declined replaces nothing; one
    that was archived because it was superseded itself goes on, or else its predecessor would rise again.

    The reason of the archive event says which it was; where it gives none, being superseded does.
    """
    if not version.retired:
        return True
    match version.event.action:
        case Action.SUPERSEDE:
            return True
        case Action.ARCHIVE:
            reason = version.event.reason
            return because_superseded(reason) or (not (reason and reason.strip()) and version.uid in named)
        case _:
            return False


def superseded_by(uid: str) -> str:
    """The reason of the event that puts a constraint away because that one took its place."""
    return f"{SUPERSEDED} by {uid}"


def because_superseded(reason: str | None) -> bool:
    """Whether that reason of an archive event says that another constraint took its place."""
    return (reason or "").strip().casefold().startswith(SUPERSEDED)
