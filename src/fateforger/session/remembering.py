"""Write down a stated constraint: its versions, and the sentences about them.

Pure functions: the known constraints are passed in, and nothing is stored.
"""

from __future__ import annotations

from fateforger.constraints import ConstraintRecord, Event, Version, uid_for
from fateforger.constraints.credentials import REFUSED, holds_credentials
from fateforger.constraints.identity import content_key, means_the_same
from fateforger.constraints.kinds import Action, Scope, Status
from fateforger.constraints.supersession import replacing
from fateforger.constraints.wording import day_words, quoted
from fateforger.errors import BadInput
from fateforger.session.consequences import consistent, in_force_again, replacers, takes_place
from fateforger.session.knowledge import Memory, Taken


def remembered(taken: Taken, record: ConstraintRecord, *, supersedes: str | None = None) -> Taken:
    """Write down a constraint, or its repetition.

    Constraints that it contradicts are superseded where that is clear; otherwise the person is asked. Raises
    ``BadInput`` when there is nothing to supersede, or when the record contains a secret.
    """
    if holds_credentials(record):
        raise BadInput(REFUSED)
    memory = taken.memory
    uid = record.lifecycle.uid or uid_for(record, memory.user_id, memory.session_id)
    lines: tuple[str, ...] = ()
    if supersedes is not None and supersedes != uid:
        old = memory.existing(supersedes)
        record = replacing(record, old)
        lines = (takes_place(record, old.record),)
    known = memory.newest.get(uid)
    if supersedes is None and (known is None or known.retired) and (alike := alike_in(memory, record)) is not None:
        known, uid = alike, alike.uid
        record = record if alike.retired else said_again(record, alike.record)
    if known is not None and not known.retired:
        said = said_again(known.record, record)
        confirmed = known.record.status is Status.LOCKED
        if confirmed and _same(known.record, said) and not replacers(memory, uid):
            return taken.saying(f"I know that already: {quoted(known.record.name)}.")
        record, event = said, Event(action=Action.UPDATE, reason="said again")
    else:
        event = Event(action=Action.UPSERT)
    taken = in_force_again(taken, uid)
    taken = taken.writing(taken.memory.next(uid, record, event), noted(record), *lines)
    return consistent(taken, uid)


def said_again(known: ConstraintRecord, again: ConstraintRecord) -> ConstraintRecord:
    """Merge a constraint with its restatement.

    A confirmed constraint stays confirmed, and facts that only the old record has are kept.
    """
    life = known.lifecycle
    uids = tuple(dict.fromkeys((*life.supersedes_uids, *again.lifecycle.supersedes_uids)))
    changes = {
        "status": Status.LOCKED if Status.LOCKED in {known.status, again.status} else again.status,
        "lifecycle": life.model_copy(update={"supersedes_uids": uids}),
        "topics": again.topics or known.topics,
        "applies_stages": again.applies_stages or known.applies_stages,
        "applies_event_types": again.applies_event_types or known.applies_event_types,
        "aspect": again.aspect or known.aspect,
        "confidence": max((c for c in (known.confidence, again.confidence) if c is not None), default=None),
    }
    return again.model_copy(update=changes)


def noted(record: ConstraintRecord) -> str:
    """Confirm that the constraint is remembered, and until when."""
    if record.scope is Scope.SESSION:
        return f"Noted for this day: {quoted(record.name)}."
    end = record.applicability.end_date
    return f"I'll remember {quoted(record.name)}{'' if end is None else f', until {day_words(end)}'}."


def _same(known: ConstraintRecord, again: ConstraintRecord) -> bool:
    """Check whether the restatement adds nothing.

    A restatement renews a constraint that expires, and confirms an assumption.
    """
    alike = content_key(known) == content_key(again) and known.status is again.status
    return alike and known.lifecycle == again.lifecycle and known.lifecycle.ttl_days is None


def alike_in(memory: Memory, record: ConstraintRecord) -> Version | None:
    """Return a constraint with the same meaning: one in force, else one that was superseded."""
    here = [v for v in memory.newest.values() if not v.flat.session_only or v.session_id == memory.session_id]
    there = [v for v in here if not v.retired or v.event.action is Action.SUPERSEDE]
    same = [v for v in there if means_the_same(v.record, record)]
    return min(same, key=lambda version: (version.retired, version.uid), default=None)
