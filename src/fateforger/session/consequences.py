"""Resolve conflicts when a constraint becomes active or inactive.

It retires superseded constraints, asks about ambiguous ones, and restores those that the constraint had displaced.
Pure functions.
"""

from __future__ import annotations

from datetime import date as Date  # noqa: N812  as elsewhere
from operator import attrgetter

from fateforger.constraints import ConstraintRecord, Context, Event, Version, decide_applicability, find_contradictions
from fateforger.constraints.contradiction import build_narrowed_by
from fateforger.constraints.findings import Change, Finding, Kind
from fateforger.constraints.kinds import Action, Scope
from fateforger.constraints.supersession import restore_replaced, retire_all_replaced
from fateforger.constraints.versions import find_successors, still_replaces
from fateforger.constraints.wording import format_day, quote_name
from fateforger.session.knowledge import Memory, MemoryChange
from fateforger.session.memory import MemoryQuestion
from fateforger.values import replace

COUNTS_AGAIN = "{} counts again."


def resolve_conflicts(taken: MemoryChange, uid: str) -> MemoryChange:
    """Apply the consequences of a newly written constraint for the others (S179)."""
    version = taken.memory.find_version(uid)
    if version.flat.session_only:
        return _override_for_day(taken, version)
    while (found := _find_clear(taken, uid)) is not None:
        finding, change = found
        after = taken.memory.next(change.version.uid, change.record, change.event)
        line = _replaced_line(finding, taken.memory) if finding.kind is Kind.REPLACED else finding.sentence
        taken = taken.with_version(after, line)
    taken = displace_others(taken, uid)
    asked = [
        f for f in find_contradictions(taken.memory.versions, taken.memory.user_id, about=uid) if f.follows is None
    ]
    return _add_questions(taken, asked)


def displace_others(taken: MemoryChange, uid: str) -> MemoryChange:
    """Apply the changes to the constraints that this one replaces.

    The replacement itself has been reported already.
    """
    memory = taken.memory
    for change in retire_all_replaced(memory.versions, memory.find_version(uid), memory.today):
        taken = taken.with_version(taken.memory.next(change.version.uid, change.record, change.event))
    return taken


def release_from_replacers(taken: MemoryChange, uid: str) -> MemoryChange:
    """Release a constraint from its replacers; else saying it again would change nothing."""
    for version in replacers(taken.memory, uid):
        let = Event(action=Action.UPDATE, reason=f"no longer supersedes {uid}")
        event = version.event if version.retired else let
        taken = taken.with_version(taken.memory.next(version.uid, without_superseded(version.record, uid), event))
    return taken


def restore_displaced(taken: MemoryChange, uid: str) -> MemoryChange:
    """Restore the constraints that an inactive one had replaced or narrowed.

    A constraint stays out if a later one takes its place.
    """
    for change in restore_replaced(taken.memory.versions, taken.memory.user_id, uid):
        was = _previous_version(taken.memory, change.version) or change.version
        record = _remaining_record(was, taken.memory)
        if record is not None:
            line = COUNTS_AGAIN.format(quote_name(record.name))
            taken = taken.with_version(taken.memory.next(change.version.uid, record, change.event), line)
    for version in list(taken.memory.newest.values()):
        before = _previous_version(taken.memory, version)
        if version.retired or before is None or version.event.reason != build_narrowed_by(uid):
            continue
        event = Event(action=Action.UPDATE, reason=f"no longer narrowed by {uid}")
        line = f"{quote_name(before.record.name)} is as it was before that."
        taken = taken.with_version(taken.memory.next(version.uid, before.record, event), line)
    return taken


def _previous_version(memory: Memory, version: Version) -> Version | None:
    """Return the version of a constraint before its last event, even if that was undone and repeated."""
    mine = [v for v in memory.versions if v.uid == version.uid and not v.retired and v.event != version.event]
    return max(mine, key=attrgetter("updated_at", "seq"), default=None)


def _remaining_record(before: Version, memory: Memory) -> ConstraintRecord | None:
    """Return the part of a constraint that newer active constraints leave, or ``None``."""
    others = [v for v in memory.newest.values() if v.uid != before.uid and not v.retired]
    for finding in find_contradictions([*others, before], memory.user_id, about=before.uid, repeated=True):
        if finding.uids[1] == before.uid and finding.kind is Kind.REPLACED:
            return None
        if finding.follows is not None and finding.follows.version.uid == before.uid:
            before = finding.follows.at(before.updated_at)
    return before.record


def without_superseding(record: ConstraintRecord) -> ConstraintRecord:
    """Return the record without any superseded constraints."""
    return replace(record, lifecycle=replace(record.lifecycle, supersedes_uids=()))


def without_superseded(record: ConstraintRecord, uid: str) -> ConstraintRecord:
    """Return the record without that superseded constraint."""
    life = record.lifecycle
    uids = tuple(other for other in life.supersedes_uids if other != uid)
    return replace(record, lifecycle=replace(life, supersedes_uids=uids))


def replacement_sentence(new: ConstraintRecord, old: ConstraintRecord, since: Date | None = None) -> str:
    """Return the sentence that one constraint takes the place of another."""
    when = "from now on" if since is None else f"from {format_day(since)} on"
    return f"{quote_name(new.name)} takes the place of {quote_name(old.name)} {when}."


def question_of(finding: Finding, memory: Memory) -> MemoryQuestion:
    """Return a finding that only the person can decide, as a question."""
    newer, older = finding.uids
    names = (memory.find_version(newer).record.name, memory.find_version(older).record.name)
    return MemoryQuestion(uids=(newer, older), names=names, sentence=finding.sentence)


def replacers(memory: Memory, uid: str) -> list[Version]:
    """Return the constraints that replace this one.

    These are the active ones, and those that were replaced themselves.
    """
    named = find_successors(memory.newest)
    return [version for version in named.get(uid, ()) if still_replaces(version, named)]


def _find_clear(taken: MemoryChange, uid: str) -> tuple[Finding, Change] | None:
    """Return a contradiction that settles itself, if there is one."""
    found = find_contradictions(taken.memory.versions, taken.memory.user_id, about=uid, repeated=True)
    return next(((finding, finding.follows) for finding in found if finding.follows is not None), None)


def _override_for_day(taken: MemoryChange, version: Version) -> MemoryChange:
    """Override lasting constraints that contradict one for a single day, in this session only (S22)."""
    memory = taken.memory
    context = Context(user_id=memory.user_id, as_of=memory.day, session_id=memory.session_id)
    applies = {item.uid for item in decide_applicability(memory.versions, context).applicable}
    lasting = [v for v in memory.newest.values() if v.uid in applies and not v.flat.session_only]
    as_lasting = Change(version, replace(version.record, scope=Scope.PROFILE), version.event)
    for finding in find_contradictions(
        [*lasting, as_lasting.at(version.updated_at)], memory.user_id, about=version.uid, repeated=True
    ):
        older = memory.find_version(finding.uids[1])
        if finding.follows is None:
            taken = _add_questions(taken, [finding])
            continue
        line = f"For this day it takes the place of {quote_name(older.record.name)}."
        taken = replace(taken, put_aside=(*taken.put_aside, older.uid)).with_lines(line)
    return taken


def _add_questions(taken: MemoryChange, findings: list[Finding]) -> MemoryChange:
    asked = tuple(question_of(finding, taken.memory) for finding in findings)
    return replace(taken, questions=(*taken.questions, *asked))


def _replaced_line(finding: Finding, memory: Memory) -> str:
    newer, older = (memory.find_version(uid).record for uid in finding.uids)
    start = newer.applicability.start_date
    return replacement_sentence(newer, older, start if start is not None and start > memory.day else None)
