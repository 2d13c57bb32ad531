"""Write, archive and supersede the constraints of one person, for the commands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import uuid4

from fateforger.cli.constraints_store import Opened
from fateforger.constraints import ConstraintRecord, Event, Version, newest, replacing, uid_for
from fateforger.constraints.kinds import Action, Status
from fateforger.errors import BadInput, ConstraintUnreadable
from fateforger.session.consequences import consistent, giving_back
from fateforger.session.knowledge import Memory, Taken


@dataclass(frozen=True, slots=True)
class Person:
    """A person's constraints by uid, each in its newest version, and the names of those that cannot be read."""

    opened: Opened
    user_id: str
    versions: tuple[Version, ...]
    newest: Mapping[str, Version]
    unreadable: Mapping[str, str]

    def existing(self, uid: str) -> Version:
        """Return the newest version. Raises ``BadInput`` when there is none."""
        if uid not in self.newest:
            sentence = f"{self.user_id} has no constraint {uid}; constraints list shows those that are there."
            raise BadInput(sentence, where="uid")
        return self.newest[uid]

    def next(self, record: ConstraintRecord, session_id: str | None) -> Version:
        """Return the version that would be written now."""
        uid = record.lifecycle.uid or uid_for(record, self.user_id, session_id)
        event = Event(action=Action.UPDATE if uid in self.newest else Action.UPSERT)
        return self.taken(session_id=session_id).memory.next(uid, record, event)

    def taken(self, *, session_id: str | None) -> Taken:
        """Return the starting point of a change, as in a thread."""
        opened = self.opened
        return Taken(
            Memory(
                user_id=self.user_id,
                session_id=session_id,
                day=opened.today,
                at=opened.now,
                versions=self.versions,
                tz=opened.tz,
            )
        )

    async def write(self, *versions: Version) -> Sequence[Version]:
        """Write versions as one commit, unless others were written since. Unreadable ones are not compared."""
        seen = {v.uid: self.newest[v.uid].seq if v.uid in self.newest else 0 for v in versions}
        expected = {uid: seq for uid, seq in seen.items() if uid not in self.unreadable}
        return await self.opened.constraints.write(versions, cause=f"door-{uuid4().hex}", expected=expected)


async def person(opened: Opened, user_id: str) -> Person:
    """Return everything known about a person. Raises ``BadInput``, ``StoreUnavailable``."""
    unreadable: Mapping[str, str] = {}
    try:
        versions = await opened.constraints.of(user_id)
    except ConstraintUnreadable as error:
        unreadable = error.names
        versions = await opened.constraints.readable(user_id)
    return Person(opened, user_id, versions, newest(versions, user_id), unreadable)


@dataclass(frozen=True, slots=True)
class Deed:
    """The result of a command.

    ``old`` is the constraint that was replaced. ``lines`` describe effects on other constraints, ``questions`` ask what
    only the person can decide.
    """

    written: bool
    version: Version
    old: Version | None = None
    lines: tuple[str, ...] = ()
    questions: tuple[str, ...] = ()


async def add(opened: Opened, user_id: str, record: ConstraintRecord, session_id: str | None) -> Deed:
    """Write a constraint, unless it is there already. Conflicting ones give way as they do in a thread."""
    them = await person(opened, user_id)
    version = them.next(record, session_id)
    before = them.newest.get(version.uid)
    if before is not None and (before.record, before.session_id) == (version.record, session_id):
        return Deed(written=False, version=before)
    return await _settled(them, version)


async def archive(opened: Opened, user_id: str, uid: str, reason: str | None) -> Deed:
    """Archive a constraint, unless it is out of force; the one it had replaced counts again. Raises ``BadInput``.

    Of an unreadable one only the name is left; that is archived, and the others can be read again.
    """
    them = await person(opened, user_id)
    if uid in them.unreadable:
        before = them.next(ConstraintRecord(name=them.unreadable[uid]).with_uid(uid), None)
    else:
        before = them.existing(uid)
    if before.retired:
        return Deed(written=False, version=before)
    record = before.record.model_copy(update={"status": Status.DECLINED})
    taken = them.taken(session_id=before.session_id)
    gone = taken.memory.next(uid, record, Event(action=Action.ARCHIVE, reason=reason))
    taken = giving_back(taken.writing(gone), uid)
    return await _written(them, taken, uid)


async def supersede(opened: Opened, user_id: str, uid: str, record: ConstraintRecord, session_id: str | None) -> Deed:
    """Write a new constraint in place of an old one. Raises ``BadInput``."""
    them = await person(opened, user_id)
    old = them.existing(uid)
    new = them.next(replacing(record, old), session_id)
    if new.uid == uid:
        raise BadInput("That is the same constraint; to change it, use constraints add.", where="lifecycle.uid")
    return await _settled(them, new, old=uid)


async def _settled(them: Person, version: Version, *, old: str | None = None) -> Deed:
    taken = consistent(them.taken(session_id=version.session_id).writing(version), version.uid)
    return await _written(them, taken, version.uid, old=old)


async def _written(them: Person, taken: Taken, uid: str, *, old: str | None = None) -> Deed:
    written = newest(await them.write(*taken.versions), them.user_id)
    return Deed(
        written=True,
        version=written[uid],
        old=None if old is None else written.get(old, them.newest[old]),
        lines=taken.lines,
        questions=tuple(question.sentence for question in taken.questions),
    )
