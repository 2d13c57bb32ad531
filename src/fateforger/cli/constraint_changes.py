"""Changes to the constraints of one person for the commands: write, archive and supersede."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import uuid4

from fateforger.cli.options import Opened, find_owner
from fateforger.errors import BadInput, ConstraintUnreadable
from fateforger.memory.consolidation import mark_replacing
from fateforger.memory.record import ConstraintRecord, compute_uid
from fateforger.memory.versions import Event, Version, select_newest
from fateforger.memory.vocabulary import Action, Status
from fateforger.session.memory_changes import (
    Memory,
    MemoryChange,
    judge_constraint,
    resolve_conflicts,
    restore_displaced,
)
from fateforger.values import replace


@dataclass(frozen=True, slots=True)
class Person:
    """A person's constraints by uid, each in its newest version, and the names of those that cannot be read."""

    opened: Opened
    user_id: str
    versions: tuple[Version, ...]
    newest: Mapping[str, Version]
    unreadable: Mapping[str, str]

    def find_version(self, uid: str) -> Version:
        """Return the newest version. Raises ``BadInput`` when there is none."""
        if uid not in self.newest:
            sentence = f"{self.user_id} has no constraint {uid}; constraints list shows those that are there."
            raise BadInput(sentence, where="uid")
        return self.newest[uid]

    def next(self, record: ConstraintRecord, session_id: str | None) -> Version:
        """Return the version that would be written now."""
        uid = record.lifecycle.uid or compute_uid(record, self.user_id, session_id)
        event = Event(action=Action.UPDATE if uid in self.newest else Action.UPSERT)
        return self.start_change(session_id=session_id).memory.next(uid, record, event)

    def start_change(self, *, session_id: str | None) -> MemoryChange:
        """Return the starting point of a change, as in a thread."""
        opened = self.opened
        return MemoryChange(
            Memory(
                user_id=self.user_id,
                session_id=session_id,
                day=opened.today,
                at=opened.now,
                versions=self.versions,
                tz=opened.settings.time_zone,
            )
        )

    async def write(self, *versions: Version) -> Sequence[Version]:
        """Write versions as one commit, unless others were written since. Unreadable ones are not compared."""
        seen = {v.uid: self.newest[v.uid].seq if v.uid in self.newest else 0 for v in versions}
        expected = {uid: seq for uid, seq in seen.items() if uid not in self.unreadable}
        return await self.opened.store.constraints.write(versions, cause=f"door-{uuid4().hex}", expected=expected)


async def load_person(opened: Opened, user_id: str | None) -> Person:
    """Return everything known about a person, by default the owner. Raises ``BadInput``, ``StoreUnavailable``."""
    user_id = user_id or await find_owner(opened)
    unreadable: Mapping[str, str] = {}
    try:
        versions = await opened.store.constraints.of(user_id)
    except ConstraintUnreadable as error:
        unreadable = error.names
        versions = await opened.store.constraints.readable(user_id)
    return Person(opened, user_id, versions, select_newest(versions, user_id), unreadable)


@dataclass(frozen=True, slots=True)
class ChangeResult:
    """The result of a command.

    ``old`` is the constraint that was replaced. ``lines`` describe effects on other constraints, ``questions`` ask what
    only the person can decide.
    """

    written: bool
    version: Version
    old: Version | None = None
    lines: tuple[str, ...] = ()
    questions: tuple[str, ...] = ()


async def add(opened: Opened, user_id: str | None, record: ConstraintRecord, session_id: str | None) -> ChangeResult:
    """Write a constraint, unless it is there already. Conflicting ones give way as they do in a thread."""
    them = await load_person(opened, user_id)
    version = them.next(record, session_id)
    before = them.newest.get(version.uid)
    if before is not None and (before.record, before.session_id) == (version.record, session_id):
        return ChangeResult(written=False, version=before)
    return await _settle(them, version)


async def archive(opened: Opened, user_id: str | None, uid: str, reason: str | None) -> ChangeResult:
    """Archive a constraint, unless it is out of force; the one it had replaced counts again. Raises ``BadInput``.

    Of an unreadable one only the name is left; that is archived, and the others can be read again.
    """
    them = await load_person(opened, user_id)
    if uid in them.unreadable:
        before = them.next(ConstraintRecord(name=them.unreadable[uid]).with_uid(uid), None)
    else:
        before = them.find_version(uid)
    if before.retired:
        return ChangeResult(written=False, version=before)
    record = replace(before.record, status=Status.DECLINED)
    taken = them.start_change(session_id=before.session_id)
    taken = taken.with_record(uid, record, Event(action=Action.ARCHIVE, reason=reason))
    taken = restore_displaced(taken, uid)
    return await _write_taken(them, taken, uid)


async def bring_back(opened: Opened, user_id: str | None, uid: str) -> ChangeResult:
    """Bring an archived or declined constraint back, as in a thread. Raises ``BadInput``."""
    them = await load_person(opened, user_id)
    before = them.find_version(uid)
    if not before.retired:
        return ChangeResult(written=False, version=before)
    taken = judge_constraint(them.start_change(session_id=before.session_id), uid, "restore", None, None)
    return await _write_taken(them, taken, uid)


async def supersede(
    opened: Opened, user_id: str | None, uid: str, record: ConstraintRecord, session_id: str | None
) -> ChangeResult:
    """Write a new constraint in place of an old one. Raises ``BadInput``."""
    them = await load_person(opened, user_id)
    old = them.find_version(uid)
    new = them.next(mark_replacing(record, old), session_id)
    if new.uid == uid:
        raise BadInput("That is the same constraint; to change it, use constraints add.", where="lifecycle.uid")
    return await _settle(them, new, old=uid)


async def _settle(them: Person, version: Version, *, old: str | None = None) -> ChangeResult:
    taken = resolve_conflicts(them.start_change(session_id=version.session_id).with_version(version), version.uid)
    return await _write_taken(them, taken, version.uid, old=old)


async def _write_taken(them: Person, taken: MemoryChange, uid: str, *, old: str | None = None) -> ChangeResult:
    written = select_newest(await them.write(*taken.versions), them.user_id)
    return ChangeResult(
        written=True,
        version=written[uid],
        old=None if old is None else written.get(old, them.newest[old]),
        lines=taken.lines,
        questions=tuple(question.sentence for question in taken.questions),
    )
