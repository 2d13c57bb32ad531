"""Changes of a person's constraints: statements, judgments, and the conflicts that either resolves.

Pure functions: the known constraints are passed in, and nothing is stored.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date as Date  # noqa: N812  as elsewhere
from datetime import datetime, timedelta
from operator import attrgetter
from typing import assert_never

from fateforger.errors import BadInput
from fateforger.memory.applicability import AS_SAID, SAME, TAKEN_BACK, Context, decide_applicability
from fateforger.memory.consolidation import bound_replacement, mark_replacing, restore_replaced, retire_all_replaced
from fateforger.memory.contradiction import (
    Change,
    Finding,
    Kind,
    ask_to_merge,
    ask_to_replace,
    build_narrowed_by,
    find_contradictions,
    is_narrowing,
)
from fateforger.memory.credentials import CONTACTS_LEFT_OUT, REFUSED, holds_credentials, without_private_data
from fateforger.memory.record import (
    ConstraintRecord,
    asks_the_same,
    compute_content_key,
    compute_uid,
    means_the_same,
)
from fateforger.memory.settings import confirm_wish
from fateforger.memory.versions import Event, Version, find_successors, select_newest, still_replaces
from fateforger.memory.violations import needs_confirmation
from fateforger.memory.vocabulary import Action, Scope, Status
from fateforger.session.commands.rules import ConstraintVerdict
from fateforger.session.day import local_today
from fateforger.session.memory import AllowedMeeting, MemoryQuestion
from fateforger.text import format_date, join_words, mark_message, quote_title
from fateforger.text import gettext as _
from fateforger.values import replace

MOST_NAMED = 3
"""Meetings that a sentence names."""
UNKNOWN_CONSTRAINT = mark_message("I don't know that rule any more, so I did nothing.")
_TICK = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class Memory:
    """All that store and session know of a person's constraints, and the context.

    The context is the conversation, if any, the planned day, the instant of the action, and the person's zone.
    """

    user_id: str
    session_id: str | None
    day: Date
    at: datetime
    versions: tuple[Version, ...]
    tz: str

    @property
    def newest(self) -> dict[str, Version]:
        return select_newest(self.versions, self.user_id)

    @property
    def today(self) -> Date:
        """Current day in the person's zone."""
        return local_today(self.at, self.tz)

    def find_version(self, uid: str) -> Version:
        """Return the newest version of a constraint.

        Raises ``BadInput`` when there is none.
        """
        version = self.newest.get(uid)
        if version is None:
            raise BadInput(_(UNKNOWN_CONSTRAINT))
        return version

    def next(self, uid: str, record: ConstraintRecord, event: Event) -> Version:
        """Return the next version of a constraint, later than all its existing versions."""
        theirs = [version for version in self.versions if version.user_id == self.user_id]
        mine = [version for version in theirs if version.uid == uid]
        at = max([self.at, *(version.updated_at + _TICK for version in mine)])
        # Of two contradicting rules the later one counts, so no two are written at one instant.
        instants = {version.updated_at for version in theirs}
        while at in instants:
            at += _TICK
        return Version(
            user_id=self.user_id,
            record=bound_replacement(record, self.today).with_uid(uid),
            created_at=min([at, *(version.created_at for version in mine)]),
            updated_at=at,
            event=event,
            session_id=self.session_id,
        )


@dataclass(frozen=True, slots=True)
class MemoryChange:
    """Result of an action so far.

    ``memory`` includes it. ``versions`` are to be written, ``before`` are the newest ones before it. ``put_aside``
    and ``taken_up`` are the constraints that no longer count in this session, or count again. ``allowed`` are meetings
    that may break one, ``disallowed`` those that may no longer. ``lines`` are to be said, ``questions`` to be asked.
    """

    memory: Memory
    versions: tuple[Version, ...] = ()
    before: Mapping[str, Version] = field(default_factory=dict)
    put_aside: tuple[str, ...] = ()
    taken_up: tuple[str, ...] = ()
    allowed: tuple[AllowedMeeting, ...] = ()
    disallowed: tuple[AllowedMeeting, ...] = ()
    lines: tuple[str, ...] = ()
    questions: tuple[MemoryQuestion, ...] = ()
    answered: tuple[MemoryQuestion, ...] = ()

    def with_version(self, version: Version, *lines: str) -> MemoryChange:
        """Return the result with one version more, which the next step sees."""
        known = self.memory.newest.get(version.uid)
        before = self.before if known is None or version.uid in _uids(self) else {**self.before, version.uid: known}
        memory = replace(self.memory, versions=(*self.memory.versions, version))
        versions, said = (*self.versions, version), (*self.lines, *lines)
        return replace(self, memory=memory, versions=versions, before=before, lines=said)

    def with_record(self, uid: str, record: ConstraintRecord, event: Event, *lines: str) -> MemoryChange:
        """Return the result with the next version of a constraint; see :meth:`with_version`."""
        return self.with_version(self.memory.next(uid, record, event), *lines)

    def with_lines(self, *lines: str) -> MemoryChange:
        return replace(self, lines=(*self.lines, *lines))


def _uids(taken: MemoryChange) -> set[str]:
    return {version.uid for version in taken.versions}


COUNTS_AGAIN = mark_message("{name} counts again.")


def resolve_conflicts(taken: MemoryChange, uid: str) -> MemoryChange:
    """Apply the consequences of a newly written constraint for the others (S179)."""
    version = taken.memory.find_version(uid)
    if version.flat.session_only:
        return _override_for_day(taken, version)
    while (found := _find_clear(taken, uid)) is not None:
        finding, change = found
        line = _replaced_line(finding, taken.memory) if finding.kind is Kind.REPLACED else finding.sentence
        taken = taken.with_record(change.version.uid, change.record, change.event, line)
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
        taken = taken.with_record(change.version.uid, change.record, change.event)
    return taken


def release_from_replacers(taken: MemoryChange, uid: str) -> MemoryChange:
    """Release a constraint from its replacers; else saying it again would change nothing."""
    for version in replacers(taken.memory, uid):
        let = Event(action=Action.UPDATE, reason=f"no longer supersedes {uid}")
        event = version.event if version.retired else let
        taken = taken.with_record(version.uid, without_superseded(version.record, uid), event)
    return taken


def restore_displaced(taken: MemoryChange, uid: str) -> MemoryChange:
    """Restore the constraints that an inactive one had replaced or narrowed.

    A constraint stays out if a later one takes its place.
    """
    for change in restore_replaced(taken.memory.versions, taken.memory.user_id, uid):
        was = _previous_version(taken.memory, change.version) or change.version
        record = _remaining_record(was, taken.memory)
        if record is not None:
            line = _(COUNTS_AGAIN, name=quote_title(record.name))
            taken = taken.with_record(change.version.uid, record, change.event, line)
    for version in list(taken.memory.newest.values()):
        before = _previous_version(taken.memory, version)
        if version.retired or before is None or version.event.reason != build_narrowed_by(uid):
            continue
        event = Event(action=Action.UPDATE, reason=f"no longer narrowed by {uid}")
        line = _("{name} is as it was before that.", name=quote_title(before.record.name))
        taken = taken.with_record(version.uid, before.record, event, line)
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
    """Return the record so that it supersedes nothing."""
    return replace(record, lifecycle=replace(record.lifecycle, supersedes_uids=()))


def without_superseded(record: ConstraintRecord, uid: str) -> ConstraintRecord:
    """Return the record so that it no longer supersedes ``uid``."""
    life = record.lifecycle
    uids = tuple(other for other in life.supersedes_uids if other != uid)
    return replace(record, lifecycle=replace(life, supersedes_uids=uids))


def replacement_sentence(new: ConstraintRecord, old: ConstraintRecord, today: Date, since: Date | None = None) -> str:
    """Return a sentence that says which constraint takes the place of which, and for how long."""
    when, last = _("from now on"), new.find_last_day(today)
    if since is not None:
        when = _("from {since} on", since=format_date(since))
    elif last is not None:
        when = _("until {end}", end=format_date(last))
    return _(
        "{new} takes the place of {old} {when}.",
        new=quote_title(new.name),
        old=quote_title(old.name),
        when=when,
    )


def question_of(finding: Finding, memory: Memory) -> MemoryQuestion:
    """Return a finding that only the person can decide, as a question."""
    newer, older = finding.uids
    names = (memory.find_version(newer).record.name, memory.find_version(older).record.name)
    return MemoryQuestion(uids=(newer, older), names=names, sentence=finding.sentence)


def ask_to_settle(taken: MemoryChange, newer_uid: str, older_uid: str, *, repeats: bool = False) -> MemoryChange:
    """Return the result with the question whether a constraint replaces an older one that it contradicts in meaning.

    If it ``repeats`` the older one, the question is whether one is enough: the more binding one, else the newer one.
    Nothing is asked if one of them is out of force by now, or replaces the other.
    """
    newest = taken.memory.newest
    newer, older = newest.get(newer_uid), newest.get(older_uid)
    if newer is None or older is None or newer.retired or older.retired or older_uid in newer.flat.supersedes:
        return taken
    question = MemoryQuestion(
        uids=(newer_uid, older_uid),
        names=(newer.record.name, older.record.name),
        sentence=ask_to_merge(older, newer) if repeats else ask_to_replace(older, newer),
        replaces=True,
        keep=min(newer, older, key=lambda version: version.flat.merit).uid if repeats else None,
    )
    return replace(taken, questions=(*taken.questions, question))


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
        line = _("For this day it takes the place of {name}.", name=quote_title(older.record.name))
        taken = replace(taken, put_aside=(*taken.put_aside, older.uid)).with_lines(line)
    return taken


def _add_questions(taken: MemoryChange, findings: list[Finding]) -> MemoryChange:
    asked = tuple(question_of(finding, taken.memory) for finding in findings)
    return replace(taken, questions=(*taken.questions, *asked))


def _replaced_line(finding: Finding, memory: Memory) -> str:
    newer, older = (memory.find_version(uid).record for uid in finding.uids)
    start = newer.applicability.start_date
    since = start if start is not None and start > memory.day else None
    return replacement_sentence(newer, older, memory.today, since)


def remember_constraint(
    taken: MemoryChange, record: ConstraintRecord, *, supersedes: str | None = None
) -> MemoryChange:
    """Write down a constraint, or its repetition.

    Constraints that it contradicts are superseded where that is clear; otherwise the person is asked. Raises
    ``BadInput`` when there is nothing to supersede, or when the record contains a secret.
    """
    if holds_credentials(record):
        raise BadInput(_(REFUSED))
    taken, record = _leave_out_private_data(taken, record)
    memory = taken.memory
    uid = record.lifecycle.uid or compute_uid(record, memory.user_id, memory.session_id)
    lines: tuple[str, ...] = ()
    if supersedes is not None and supersedes != uid:
        old = memory.find_version(supersedes)
        record = mark_replacing(record, old)
        lines = (replacement_sentence(record, old.record, memory.today),)
    known = memory.newest.get(uid)
    if supersedes is None and (known is None or known.retired) and (alike := find_alike(memory, record)) is not None:
        known, uid = alike, alike.uid
        record = record if alike.retired else _put_in_known_words(record, alike.record)
    if known is not None and not known.retired:
        said = merge_restated(known.record, record)
        confirmed = known.record.status is Status.LOCKED
        if confirmed and _is_same(known.record, said) and not replacers(memory, uid):
            return taken.with_lines(_("I know that already: {name}.", name=quote_title(known.record.name)))
        record, event = said, Event(action=Action.UPDATE, reason="said again")
    else:
        event = Event(action=Action.UPSERT)
    taken = release_from_replacers(taken, uid)
    taken = taken.with_record(uid, record, event, noted_sentence(record, memory.today), *lines)
    return resolve_conflicts(taken, uid)


def merge_restated(known: ConstraintRecord, again: ConstraintRecord) -> ConstraintRecord:
    """Merge a constraint with its restatement.

    A confirmed constraint stays confirmed, a lasting one lasting, and facts that only the old record has are kept.
    """
    life = known.lifecycle
    lasting = life.ttl_days is None and known.applicability.end_date is None
    uids = tuple(dict.fromkeys((*life.supersedes_uids, *again.lifecycle.supersedes_uids)))
    return replace(
        again,
        status=Status.LOCKED if Status.LOCKED in {known.status, again.status} else again.status,
        lifecycle=replace(life, supersedes_uids=uids, ttl_days=None if lasting else again.lifecycle.ttl_days),
        topics=again.topics or known.topics,
        applies_stages=again.applies_stages or known.applies_stages,
        applies_event_types=again.applies_event_types or known.applies_event_types,
        aspect=again.aspect or known.aspect,
        confidence=max((c for c in (known.confidence, again.confidence) if c is not None), default=None),
    )


def _put_in_known_words(again: ConstraintRecord, known: ConstraintRecord) -> ConstraintRecord:
    """Return a restatement in the known words of the constraint, for as long as the restatement says.

    A time zone that only one of them names is dropped: it was not meant.
    """
    merged = merge_restated(again, known)
    local = known.applicability if again.applicability.timezone is not None else again.applicability
    return replace(merged, applicability=local, lifecycle=replace(merged.lifecycle, ttl_days=again.lifecycle.ttl_days))


def noted_sentence(record: ConstraintRecord, today: Date) -> str:
    """Confirm that the constraint is remembered, and until when; a setting or a routine is read back."""
    end = record.find_last_day(today)
    if wish := confirm_wish(record, end):
        return wish
    if record.scope is Scope.SESSION:
        return _("Noted for this day: {name}.", name=quote_title(record.name))
    name = quote_title(record.name)
    if end is None:
        return _("I'll remember {name}.", name=name)
    return _("I'll remember {name}, until {end}.", name=name, end=format_date(end))


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


def _leave_out_private_data(taken: MemoryChange, record: ConstraintRecord) -> tuple[MemoryChange, ConstraintRecord]:
    """Return the record without contact and account details, and a line that says so if it had any."""
    kept = without_private_data(record)
    return (taken, record) if kept == record else (taken.with_lines(_(CONTACTS_LEFT_OUT)), kept)


CHANGED = mark_message("That rule has changed since this card was made, so I did nothing. This is how it is now.")
CHANGED_SINCE = mark_message("{name} was changed since, so I left it as it is.")


def revise_constraint(
    taken: MemoryChange, uid: str, record: ConstraintRecord, seen: int | None, *, renewed: bool = False
) -> MemoryChange:
    """Return the result of revising a constraint. It ends when it would have, unless its time to live was given.

    Raises ``BadInput`` when it does not exist, when the person saw another version of it, or when it contains a
    secret.
    """
    before = _require_seen(taken.memory, uid, seen)
    if holds_credentials(record):
        raise BadInput(_(REFUSED))
    taken, record = _leave_out_private_data(taken, record.with_uid(uid))
    left = _count_days_left(taken.memory, before)
    if record == before.record and (not renewed or left == record.lifecycle.ttl_days):
        return taken.with_lines(_("{name} stays as it is.", name=quote_title(record.name)))
    if not renewed and left is not None and left >= 0 and record.lifecycle.ttl_days == before.record.lifecycle.ttl_days:
        record = replace(record, lifecycle=replace(record.lifecycle, ttl_days=left))
    declined = record.status is Status.DECLINED
    event = Event(action=Action.DECLINE if declined else Action.UPDATE)
    name = quote_title(record.name)
    end = record.find_last_day(taken.memory.today)
    said = _("{name} is declined.", name=name) if declined else _("{name} is changed.", name=name)
    if not declined and end is not None:
        said = _("{name} is changed, and kept until {end}.", name=name, end=format_date(end))
    if not declined and (wish := confirm_wish(record, end)):
        said = wish
    taken = taken.with_record(uid, record, event, said)
    return restore_displaced(taken, uid) if declined else resolve_conflicts(taken, uid)


NOTHING_CHANGED = mark_message("Your days are planned as before.")


def set_policy(taken: MemoryChange, records: Sequence[ConstraintRecord], withdrawn: Sequence[str]) -> MemoryChange:
    """Return the result of setting how days are planned. Raises ``BadInput`` for a setting that is gone."""
    for record in records:
        uid = record.lifecycle.uid
        taken = remember_constraint(taken, record) if uid is None else revise_constraint(taken, uid, record, None)
    for uid in withdrawn:
        taken = judge_constraint(taken, uid, "archive", None, None)
    return taken if records or withdrawn else taken.with_lines(_(NOTHING_CHANGED))


def judge_constraint(
    taken: MemoryChange, uid: str, verdict: ConstraintVerdict, reason: str | None, seen: int | None
) -> MemoryChange:
    """Return the result of a verdict on a constraint.

    Raises ``BadInput`` as :func:`revise_constraint`.
    """
    version = _require_seen(taken.memory, uid, seen)
    name = quote_title(version.record.name)
    match verdict:
        case "accept":
            renewed = _count_days_left(taken.memory, version) == version.record.lifecycle.ttl_days
            if version.record.status is Status.LOCKED and not needs_confirmation(version.record) and renewed:
                return taken.with_lines(_("{name} is confirmed already.", name=name))
            return _with_status(
                taken, version, Status.LOCKED, Event(action=Action.UPDATE, reason=reason or "confirmed"), name
            )
        case "restore":
            if not version.retired:
                return taken.with_lines(_("{name} is in force already.", name=name))
            event = Event(action=Action.UPDATE, reason=reason or "restored")
            # Constraints it had replaced may be in force again, so they are compared once more.
            bare = replace(version, record=without_superseding(version.record))
            return resolve_conflicts(
                _with_status(release_from_replacers(taken, uid), bare, Status.LOCKED, event, name), uid
            )
        case "decline" | "archive":
            if version.retired:
                return taken.with_lines(_("{name} is out of force already.", name=name))
            taken = _with_status(
                taken, version, Status.DECLINED, Event(action=Action(verdict), reason=reason or AS_SAID), name
            )
            return restore_displaced(taken, uid)
        case "set_aside":
            return replace(taken, put_aside=(uid,)).with_lines(_("{name} does not count for this day.", name=name))
        case "use_again":
            return replace(taken, taken_up=(uid,)).with_lines(_(COUNTS_AGAIN, name=name))
        case _:
            assert_never(verdict)


def settle_conflict(taken: MemoryChange, uids: tuple[str, str], keep: str | None) -> MemoryChange:
    """Return the result of the person's choice between two constraints.

    Raises ``BadInput`` when one is out of force, or when both cannot be kept because each replaces the other.
    """
    memory = taken.memory
    one, other = (memory.find_version(uid) for uid in uids)
    if one.retired or other.retired:
        raise BadInput(_("One of the two is out of force already, so there is nothing left to decide."))
    circle = one.uid in other.flat.supersedes and other.uid in one.flat.supersedes
    if keep is None:
        if circle:
            raise BadInput(_("Each of the two replaces the other, so only one of them can count. Which one?"))
        return taken.with_lines(
            _(
                "Both stay: {one} and {other}.",
                one=quote_title(one.record.name),
                other=quote_title(other.record.name),
            )
        )
    kept, loser = (one, other) if keep == one.uid else (other, one)
    if keep != kept.uid:
        raise BadInput(_(UNKNOWN_CONSTRAINT))
    if kept.flat.session_only and not loser.flat.session_only:
        line = _(
            "For this day {kept} counts instead of {other}.",
            kept=quote_title(kept.record.name),
            other=quote_title(loser.record.name),
        )
        return replace(taken, put_aside=(loser.uid,)).with_lines(line)
    if circle or loser.flat.session_only or asks_the_same(kept.record, loser.record):
        gone = replace(loser.record, status=Status.DECLINED)
        event = Event(action=Action.ARCHIVE, reason=f"{SAME} {kept.uid}")
        line = _(
            "{kept} stays, {other} is put away.",
            kept=quote_title(kept.record.name),
            other=quote_title(loser.record.name),
        )
        return taken.with_record(loser.uid, without_superseded(gone, kept.uid), event, line)
    if kept.uid in loser.flat.supersedes:
        let_go = Event(action=Action.UPDATE, reason=f"no longer supersedes {kept.uid}")
        taken = taken.with_record(loser.uid, without_superseded(loser.record, kept.uid), let_go)
    event = Event(action=Action.UPDATE, reason=f"supersedes {loser.uid}")
    record = mark_replacing(kept.record, loser)
    taken = taken.with_record(kept.uid, record, event, replacement_sentence(record, loser.record, memory.today))
    return displace_others(taken, kept.uid)


def allow_meetings(taken: MemoryChange, meetings: Sequence[AllowedMeeting]) -> MemoryChange:
    """Return the result of allowing meetings that break a constraint."""
    named, rule = _name_allowed(taken.memory, meetings)
    line = _("Fine this once: {meetings}. {rule} still counts.", meetings=named, rule=rule)
    return replace(taken, allowed=tuple(meetings)).with_lines(line)


def disallow_meetings(taken: MemoryChange, meetings: Sequence[AllowedMeeting]) -> MemoryChange:
    """Return the result of undoing :func:`allow_meetings`."""
    if not meetings:
        return taken
    named, rule = _name_allowed(taken.memory, meetings)
    line = _("{rule} counts for {meetings} again.", meetings=named, rule=rule)
    return replace(taken, disallowed=tuple(meetings)).with_lines(line)


def _name_allowed(memory: Memory, meetings: Sequence[AllowedMeeting]) -> tuple[str, str]:
    """Return the names of meetings and of the constraint that they break."""
    rule = memory.find_version(meetings[0].rule).record
    return join_words([quote_title(each.title) for each in meetings], MOST_NAMED), quote_title(rule.name)


def undo_writes(taken: MemoryChange, wrote: Sequence[Version], before: Mapping[str, Version]) -> MemoryChange:
    """Undo one command's writes by new versions.

    Each constraint is restored as it was ``before``, or archived where there was none. A constraint that was changed
    since stays as it is, which is reported.
    """
    last = {version.uid: version for version in wrote}
    for uid, version in last.items():
        memory = taken.memory
        now, was = memory.find_version(uid), before.get(uid)
        if now.updated_at != version.updated_at:
            taken = taken.with_lines(_(CHANGED_SINCE, name=quote_title(now.record.name)))
        elif was is None:
            gone = replace(version.record, status=Status.DECLINED)
            taken = taken.with_record(uid, gone, Event(action=Action.ARCHIVE, reason=TAKEN_BACK))
        else:
            stays = was.retired or is_narrowing(was.event.reason)
            event = was.event if stays else Event(action=Action.UPDATE, reason=TAKEN_BACK)
            taken = taken.with_record(uid, _keep_last_day(memory, was), event)
    back = {version.uid for version in taken.versions}
    again = [quote_title(version.record.name) for uid, version in last.items() if uid in back and version.retired]
    # One that only replaced another stays, so it is the other one that there is something to say about.
    named = (version for uid, version in last.items() if uid in back and not version.retired)
    names = [quote_title(v.record.name) for v in named if not (again and _only_replaced(v, before.get(v.uid)))]
    lines = (
        (names, _("Taken back: {names}.", names=", ".join(names))),
        (again, _(COUNTS_AGAIN, name=join_words(again or [""]))),
    )
    return taken.with_lines(*(line for those, line in lines if those))


def _keep_last_day(memory: Memory, was: Version) -> ConstraintRecord:
    """Return an earlier record with the days that are left of its time to live, which counts from each new version."""
    left = _count_days_left(memory, was)
    if left is None:
        return was.record
    return replace(was.record, lifecycle=replace(was.record.lifecycle, ttl_days=max(left, 0)))


def _count_days_left(memory: Memory, version: Version) -> int | None:
    """Return the days that are left of a constraint's time to live, negative once it is over; ``None`` without one."""
    last = version.record.lifecycle.count_from(local_today(version.updated_at, memory.tz))
    return None if last is None else (last - memory.today).days


def _only_replaced(version: Version, before: Version | None) -> bool:
    """Check whether a version says the same as the one before, apart from what it replaces."""
    return before is not None and replace(version.record, lifecycle=before.record.lifecycle) == before.record


def _require_seen(memory: Memory, uid: str, seen: int | None) -> Version:
    version = memory.find_version(uid)
    if seen is not None and version.seq != seen:
        raise BadInput(_(CHANGED))
    return version


def _with_status(taken: MemoryChange, version: Version, status: Status, event: Event, name: str) -> MemoryChange:
    end = version.record.find_last_day(taken.memory.today)
    words = {
        Action.UPDATE: _say_confirmed(name, end, taken.memory.today, restored=version.retired),
        Action.DECLINE: _("{name} is declined; I won't use it any more.", name=name),
        Action.ARCHIVE: _("{name} is put away; I won't use it any more.", name=name),
    }
    record = replace(version.record, status=status)
    if status is Status.LOCKED:
        sure = None if record.confidence is None else 1.0
        record = replace(record, confidence=sure, needs_confirmation=False)
    return taken.with_record(version.uid, record, event, words[event.action])


def _say_confirmed(name: str, end: Date | None, today: Date, *, restored: bool) -> str:
    """Say that a constraint counts from now on, and until when."""
    if end is None:
        return _("{name} is restored.", name=name) if restored else _("{name} is confirmed.", name=name)
    day = format_date(end)
    if end < today:
        return _("{name} ended on {day}. Change its days, and it counts again.", name=name, day=day)
    if restored:
        return _("{name} is restored, and kept until {end}.", name=name, end=day)
    return _("{name} is confirmed, and kept until {end}.", name=name, end=day)
