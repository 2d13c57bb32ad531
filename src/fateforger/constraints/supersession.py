"""One constraint taking the place of another: the link in the new one, and what becomes of the old one (S29, A4)."""

from __future__ import annotations

from datetime import date as Date  # noqa: N812  as elsewhere

from fateforger.constraints.findings import Change
from fateforger.constraints.kinds import Action, Scope, Status
from fateforger.constraints.record import ConstraintRecord
from fateforger.constraints.versions import SUPERSEDED, Event, Version


def replacing(record: ConstraintRecord, old: Version) -> ConstraintRecord:
    """The record as one that takes the place of ``old`` on the days of its dates."""
    life = record.lifecycle
    uids = tuple(dict.fromkeys((*life.supersedes_uids, old.uid)))
    return record.model_copy(update={"lifecycle": life.model_copy(update={"supersedes_uids": uids})})


def retired_by(old: Version, new: Version, today: Date) -> Change | None:
    """The event that puts the old one away, when the new one leaves it no day from ``today`` on. Otherwise ``None``: it
    stays in force before the new one begins, after it ends, and outside of its session."""
    if old.retired or old.uid == new.uid:
        return None
    begins, ends = new.flat.start, new.flat.end
    elsewhere = new.record.scope is Scope.SESSION and not (
        old.record.scope is Scope.SESSION and old.session_id == new.session_id
    )
    if begins > max(today, old.flat.start) or ends < old.flat.end or elsewhere:
        return None
    record = old.record.model_copy(update={"status": Status.DECLINED})
    return Change(old, record, Event(action=Action.SUPERSEDE, reason=f"{SUPERSEDED} by {new.uid}"))
