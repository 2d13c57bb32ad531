"""What becomes of something that was said about a person's constraints: the versions to be written, what they do to
others, and the sentences that say so. Pure: what is known is given, and nothing is written here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import date as Date  # noqa: N812  as elsewhere
from datetime import datetime, timedelta

from fateforger.constraints import (
    ConstraintRecord,
    Context,
    Event,
    Version,
    applicability,
    contradictions,
    given_back,
    given_way,
    newest,
    replacing,
    uid_for,
)
from fateforger.constraints.credentials import REFUSED, holds_credentials
from fateforger.constraints.findings import Change, Finding, Kind
from fateforger.constraints.identity import content_key, means_the_same
from fateforger.constraints.kinds import Action, Scope, Status
from fateforger.constraints.wording import day_words, quoted
from fateforger.errors import BadInput
from fateforger.session.days import local_today
from fateforger.session.memory import MemoryQuestion

UNKNOWN = "I don't know that constraint any more, so I did nothing."
COUNTS_AGAIN = "{} counts again."
_TICK = timedelta(microseconds=1)


@dataclass(frozen=True, slots=True)
class Memory:
    """All that is known of a person at this point, whichever of store and session knows it, and where we are: the
    conversation if there is one, the planned day, the instant of the deed, and the zone of the person."""

    user_id: str
    session_id: str | None
    day: Date
    at: datetime
    versions: tuple[Version, ...]
    tz: str

    @property
    def newest(self) -> dict[str, Version]:
        return newest(self.versions, self.user_id)

    @property
    def today(self) -> Date:
        """The day it is for the person."""
        return local_today(self.at, self.tz)

    def existing(self, uid: str) -> Version:
        """The constraint as it is. Raises ``BadInput`` when there is none."""
        version = self.newest.get(uid)
        if version is None:
            raise BadInput(UNKNOWN)
        return version

    def next(self, uid: str, record: ConstraintRecord, event: Event) -> Version:
        """What would be written of a constraint now, later than any version of it that is there already."""
        theirs = [version for version in self.versions if version.user_id == self.user_id]
        mine = [version for version in theirs if version.uid == uid]
        at = max([self.at, *(version.updated_at + _TICK for version in mine)])
        # Of two rules that contradict each other the later one counts, so no two are written at one instant.
        instants = {version.updated_at for version in theirs}
        while at in instants:
            at += _TICK
        return Version(
            user_id=self.user_id,
            record=record.with_uid(uid),
            created_at=min([at, *(version.created_at for version in mine)]),
            updated_at=at,
            event=event,
            session_id=self.session_id,
        )


@dataclass(frozen=True, slots=True)
class Taken:
    """What a deed comes to so far: ``memory`` with it, the versions to be written, the newest ones ``before`` it, what
    does not count in this session from now on, or does again, what to say and what to ask."""

    memory: Memory
    versions: tuple[Version, ...] = ()
    before: Mapping[str, Version] = field(default_factory=dict)
    put_aside: tuple[str, ...] = ()
    taken_up: tuple[str, ...] = ()
    lines: tuple[str, ...] = ()
    questions: tuple[MemoryQuestion, ...] = ()

    def writing(self, version: Version, *lines: str) -> Taken:
        """One version more, which the next step knows of."""
        known = self.memory.newest.get(version.uid)
        before = self.before if known is None or version.uid in _uids(self) else {**self.before, version.uid: known}
        memory = replace(self.memory, versions=(*self.memory.versions, version))
        versions, said = (*self.versions, version), (*self.lines, *lines)
        return replace(self, memory=memory, versions=versions, before=before, lines=said)

    def saying(self, *lines: str) -> Taken:
        return replace(self, lines=(*self.lines, *lines))


def remembered(taken: Taken, record: ConstraintRecord, *, supersedes: str | None = None) -> Taken:
    """Write down a constraint, or that it was said again. What it contradicts gives way where that is clear, and is
    asked where it is not. Raises ``BadInput`` when there is nothing to supersede, or a secret in it."""
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
    if supersedes is None and (known is None or known.retired) and (alike := _alike(memory, record)) is not None:
        known, uid = alike, alike.uid
        record = said_again(record, alike.record)
    if known is not None and not known.retired:
        said = said_again(known.record, record)
        confirmed = known.record.status is Status.LOCKED
        if confirmed and _same(known.record, said) and not _replacing(memory, uid):
            return taken.saying(f"I know that already: {quoted(known.record.name)}.")
        record, event = said, Event(action=Action.UPDATE, reason="said again")
    else:
        event = Event(action=Action.UPSERT)
    taken = in_force_again(taken, uid)
    taken = taken.writing(taken.memory.next(uid, record, event), noted(record), *lines)
    return consistent(taken, uid)


def consistent(taken: Taken, uid: str) -> Taken:
    """With what follows for the others from a constraint that was just written (S179)."""
    version = taken.memory.existing(uid)
    if version.flat.session_only:
        return _overriding(taken, version)
    while (found := _clear(taken, uid)) is not None:
        finding, change = found
        after = taken.memory.next(change.version.uid, change.record, change.event)
        line = _replaced_line(finding, taken.memory) if finding.kind is Kind.REPLACED else finding.sentence
        taken = taken.writing(after, line)
    taken = making_way(taken, uid)
    asked = [f for f in contradictions(taken.memory.versions, taken.memory.user_id, about=uid) if f.follows is None]
    return _asking(taken, asked)


def making_way(taken: Taken, uid: str) -> Taken:
    """With what becomes of those whose place that constraint takes. That it takes it was said."""
    memory = taken.memory
    for change in given_way(memory.versions, memory.existing(uid), memory.today):
        taken = taken.writing(taken.memory.next(change.version.uid, change.record, change.event))
    return taken


def giving_back(taken: Taken, uid: str) -> Taken:
    """With what counts again because that constraint is out of force."""
    for change in given_back(taken.memory.versions, taken.memory.user_id, uid):
        line = COUNTS_AGAIN.format(quoted(change.record.name))
        taken = taken.writing(taken.memory.next(change.version.uid, change.record, change.event), line)
    return taken


def without(record: ConstraintRecord, uid: str) -> ConstraintRecord:
    """The record as one that leaves that constraint in force."""
    life = record.lifecycle
    uids = tuple(other for other in life.supersedes_uids if other != uid)
    return record.model_copy(update={"lifecycle": life.model_copy(update={"supersedes_uids": uids})})


def said_again(known: ConstraintRecord, again: ConstraintRecord) -> ConstraintRecord:
    """A constraint in new words. What was confirmed stays confirmed, and what only the old record knew stays known."""
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
    """That it is remembered, and how far it reaches."""
    if record.scope is Scope.SESSION:
        return f"Noted for this day: {quoted(record.name)}."
    end = record.applicability.end_date
    return f"I'll remember {quoted(record.name)}{'' if end is None else f', until {day_words(end)}'}."


def takes_place(new: ConstraintRecord, old: ConstraintRecord, since: Date | None = None) -> str:
    """That one took the place of another."""
    when = "from now on" if since is None else f"from {day_words(since)} on"
    return f"{quoted(new.name)} takes the place of {quoted(old.name)} {when}."


def question_of(finding: Finding, memory: Memory) -> MemoryQuestion:
    """A finding that only the person can decide about, as a question."""
    newer, older = finding.uids
    names = (memory.existing(newer).record.name, memory.existing(older).record.name)
    return MemoryQuestion(uids=(newer, older), names=names, sentence=finding.sentence)


def _uids(taken: Taken) -> set[str]:
    return {version.uid for version in taken.versions}


def _same(known: ConstraintRecord, again: ConstraintRecord) -> bool:
    """Nothing new was said. What lives for a time only is renewed by being said again, and so is an assumption."""
    alike = content_key(known) == content_key(again) and known.status is again.status
    return alike and known.lifecycle == again.lifecycle and known.lifecycle.ttl_days is None


def _alike(memory: Memory, record: ConstraintRecord) -> Version | None:
    """A constraint in force that is this one in other words."""
    mine = (version for version in memory.newest.values() if not version.retired)
    here = (v for v in mine if not v.flat.session_only or v.session_id == memory.session_id)
    return next((version for version in here if means_the_same(version.record, record)), None)


def _replacing(memory: Memory, uid: str) -> list[Version]:
    """The constraints in force that take the place of this one."""
    mine = memory.newest.values()
    return [
        version for version in mine if uid in version.flat.supersedes and version.uid != uid and not version.retired
    ]


def in_force_again(taken: Taken, uid: str) -> Taken:
    """What took the place of a constraint lets go of it, or saying it again would change nothing."""
    for version in _replacing(taken.memory, uid):
        event = Event(action=Action.UPDATE, reason=f"no longer supersedes {uid}")
        taken = taken.writing(taken.memory.next(version.uid, without(version.record, uid), event))
    return taken


def _clear(taken: Taken, uid: str) -> tuple[Finding, Change] | None:
    """A contradiction that settles itself, if there is one."""
    found = contradictions(taken.memory.versions, taken.memory.user_id, about=uid, repeated=True)
    return next(((finding, finding.follows) for finding in found if finding.follows is not None), None)


def _overriding(taken: Taken, version: Version) -> Taken:
    """What was said for one day only: lasting constraints that contradict it do not count in this session (S22)."""
    memory = taken.memory
    context = Context(user_id=memory.user_id, as_of=memory.day, session_id=memory.session_id)
    applies = {item.uid for item in applicability(memory.versions, context).applicable}
    lasting = [v for v in memory.newest.values() if v.uid in applies and not v.flat.session_only]
    as_lasting = Change(version, version.record.model_copy(update={"scope": Scope.PROFILE}), version.event)
    for finding in contradictions([*lasting, as_lasting.at(version.updated_at)], memory.user_id, about=version.uid):
        older = memory.existing(finding.uids[1])
        if finding.follows is None:
            taken = _asking(taken, [finding])
            continue
        line = f"For this day it takes the place of {quoted(older.record.name)}."
        taken = replace(taken, put_aside=(*taken.put_aside, older.uid)).saying(line)
    return taken


def _asking(taken: Taken, findings: list[Finding]) -> Taken:
    asked = tuple(question_of(finding, taken.memory) for finding in findings)
    return replace(taken, questions=(*taken.questions, *asked))


def _replaced_line(finding: Finding, memory: Memory) -> str:
    newer, older = (memory.existing(uid).record for uid in finding.uids)
    start = newer.applicability.start_date
    return takes_place(newer, older, start if start is not None and start > memory.day else None)
