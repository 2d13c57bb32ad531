"""Write down a stated constraint: its versions, and the sentences about them.

Pure functions: the known constraints are passed in, and nothing is stored.
"""

from __future__ import annotations

from fateforger.constraints import ConstraintRecord, Event, Version, compute_uid
from fateforger.constraints.credentials import REFUSED, holds_credentials
from fateforger.constraints.identity import compute_content_key, means_the_same
from fateforger.constraints.kinds import Action, Scope, Status
from fateforger.constraints.supersession import mark_replacing
from fateforger.constraints.wording import format_day, quote_name
from fateforger.errors import BadInput
from fateforger.session.consequences import release_from_replacers, replacement_sentence, replacers, resolve_conflicts
from fateforger.session.knowledge import Memory, MemoryChange
from fateforger.values import replace


def remember_constraint(
    taken: MemoryChange, record: ConstraintRecord, *, supersedes: str | None = None
) -> MemoryChange:
    """Write down a constraint, or its repetition.

    Constraints that it contradicts are superseded where that is clear; otherwise the person is asked. Raises
    ``BadInput`` when there is nothing to supersede, or when the record contains a secret.
    """
    if holds_credentials(record):
        raise BadInput(REFUSED)
    memory = taken.memory
    uid = record.lifecycle.uid or compute_uid(record, memory.user_id, memory.session_id)
    lines: tuple[str, ...] = ()
    if supersedes is not None and supersedes != uid:
        old = memory.find_version(supersedes)
        record = mark_replacing(record, old)
        lines = (replacement_sentence(record, old.record),)
    known = memory.newest.get(uid)
    if supersedes is None and (known is None or known.retired) and (alike := find_alike(memory, record)) is not None:
        known, uid = alike, alike.uid
        record = record if alike.retired else merge_restated(record, alike.record)
    if known is not None and not known.retired:
        said = merge_restated(known.record, record)
        confirmed = known.record.status is Status.LOCKED
        if confirmed and _is_same(known.record, said) and not replacers(memory, uid):
            return taken.with_lines(f"I know that already: {quote_name(known.record.name)}.")
        record, event = said, Event(action=Action.UPDATE, reason="said again")
    else:
        event = Event(action=Action.UPSERT)
    taken = release_from_replacers(taken, uid)
    taken = taken.with_version(taken.memory.next(uid, record, event), noted_sentence(record), *lines)
    return resolve_conflicts(taken, uid)


def merge_restated(known: ConstraintRecord, again: ConstraintRecord) -> ConstraintRecord:
    """Merge a constraint with its restatement.

    A confirmed constraint stays confirmed, and facts that only the old record has are kept.
    """
    life = known.lifecycle
    uids = tuple(dict.fromkeys((*life.supersedes_uids, *again.lifecycle.supersedes_uids)))
    return replace(
        again,
        status=Status.LOCKED if Status.LOCKED in {known.status, again.status} else again.status,
        lifecycle=replace(life, supersedes_uids=uids),
        topics=again.topics or known.topics,
        applies_stages=again.applies_stages or known.applies_stages,
        applies_event_types=again.applies_event_types or known.applies_event_types,
        aspect=again.aspect or known.aspect,
        confidence=max((c for c in (known.confidence, again.confidence) if c is not None), default=None),
    )


def noted_sentence(record: ConstraintRecord) -> str:
    """Confirm that the constraint is remembered, and until when."""
    if record.scope is Scope.SESSION:
        return f"Noted for this day: {quote_name(record.name)}."
    end = record.applicability.end_date
    return f"I'll remember {quote_name(record.name)}{'' if end is None else f', until {format_day(end)}'}."


def _is_same(known: ConstraintRecord, again: ConstraintRecord) -> bool:
    """Check whether the restatement adds nothing.

    A restatement renews a constraint that expires, and confirms an assumption.
    """
    alike = compute_content_key(known) == compute_content_key(again) and known.status is again.status
    return alike and known.lifecycle == again.lifecycle and known.lifecycle.ttl_days is None


def find_alike(memory: Memory, record: ConstraintRecord) -> Version | None:
    """Return a constraint with the same meaning: one in force, else one that was superseded."""
    here = [v for v in memory.newest.values() if not v.flat.session_only or v.session_id == memory.session_id]
    there = [v for v in here if not v.retired or v.event.action is Action.SUPERSEDE]
    same = [v for v in there if means_the_same(v.record, record)]
    return min(same, key=lambda version: (version.retired, version.uid), default=None)
