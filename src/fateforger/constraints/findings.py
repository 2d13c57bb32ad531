"""Findings about a person's constraints, each with the event to write, if any."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from fateforger.constraints.kinds import Action, Status
from fateforger.constraints.record import ConstraintRecord
from fateforger.constraints.versions import Event, Instant, Version
from fateforger.values import replace


class Kind(StrEnum):
    """The kind of a finding. ``CONTRADICTION``, ``NEAR_DUPLICATE`` and ``CIRCLE`` have no event: the person decides."""

    REPLACED = "replaced"
    NARROWED = "narrowed"
    CONTRADICTION = "contradiction"
    DUPLICATE = "duplicate"
    NEAR_DUPLICATE = "near_duplicate"
    CIRCLE = "circle"
    EXPIRED = "expired"
    FADED = "faded"


@dataclass(frozen=True, slots=True)
class Change:
    """A version to write: the constraint, its new record, and the event."""

    version: Version
    record: ConstraintRecord
    event: Event

    def at(self, instant: Instant, seq: int = 0) -> Version:
        """Return the new version, written at ``instant``."""
        new = {"record": self.record, "event": self.event, "updated_at": instant, "seq": seq}
        kept = {"user_id", "created_at", "session_id"}
        return Version.model_validate({**{name: getattr(self.version, name) for name in kept}, **new})


@dataclass(frozen=True, slots=True)
class Finding:
    """A finding about one constraint (``uids[0]``) or two; ``sentence`` is for the person."""

    kind: Kind
    uids: tuple[str, ...]
    sentence: str
    follows: Change | None = None


def build_archiving(version: Version, reason: str) -> Change:
    """Return the change that archives a constraint; its row is kept."""
    record = replace(version.record, status=Status.DECLINED)
    return Change(version, record, Event(action=Action.ARCHIVE, reason=reason))


def build_superseding(version: Version, old: Version) -> Change:
    """Return the change by which ``version`` replaces ``old`` on the days of its dates.

    Undoing it restores the old one.
    """
    life = version.record.lifecycle
    uids = (*life.supersedes_uids, old.uid)
    record = replace(version.record, lifecycle=replace(life, supersedes_uids=uids))
    return Change(version, record, Event(action=Action.UPDATE, reason=f"supersedes {old.uid}"))
