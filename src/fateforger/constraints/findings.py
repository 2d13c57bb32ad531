"""What looking through a person's constraints brings up, each with the event that would follow, if one would."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from fateforger.constraints.kinds import Action, Status
from fateforger.constraints.record import ConstraintRecord
from fateforger.constraints.versions import Event, Instant, Version


class Kind(StrEnum):
    """What was found. Of ``CONTRADICTION``, ``NEAR_DUPLICATE`` and ``CIRCLE`` nothing follows: the person decides."""

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
    """A version to be written: of which constraint, as what, by which event."""

    version: Version
    record: ConstraintRecord
    event: Event

    def at(self, instant: Instant, seq: int = 0) -> Version:
        """The new version, written at ``instant``."""
        new = {"record": self.record, "event": self.event, "updated_at": instant, "seq": seq}
        kept = {"user_id", "created_at", "session_id"}
        return Version.model_validate({**{name: getattr(self.version, name) for name in kept}, **new})


@dataclass(frozen=True, slots=True)
class Finding:
    """Something found about one constraint (``uids[0]``) or about two; ``sentence`` is for the person."""

    kind: Kind
    uids: tuple[str, ...]
    sentence: str
    follows: Change | None = None


def archived(version: Version, reason: str) -> Change:
    """Put away, row kept."""
    record = version.record.model_copy(update={"status": Status.DECLINED})
    return Change(version, record, Event(action=Action.ARCHIVE, reason=reason))


def superseding(version: Version, old: Version) -> Change:
    """``version`` takes the place of ``old`` on the days of its dates; taking this back brings the old one back."""
    life = version.record.lifecycle
    uids = (*life.supersedes_uids, old.uid)
    record = version.record.model_copy(update={"lifecycle": life.model_copy(update={"supersedes_uids": uids})})
    return Change(version, record, Event(action=Action.UPDATE, reason=f"supersedes {old.uid}"))
