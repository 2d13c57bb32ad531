"""Constraints without a disk."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from fateforger.errors import InternalError, VersionConflict
from fateforger.memory.documents import check_person, check_version
from fateforger.memory.ports import IndexTask
from fateforger.memory.versions import Version, select_newest


class MemoryConstraints:
    """:class:`fateforger.memory.ports.Constraints` in lists. No call gives way to another one, so each is done as a whole."""

    def __init__(self) -> None:
        self._rows: list[Version] = []
        self._causes: dict[tuple[str, str], tuple[Version, ...]] = {}
        self._waiting: list[tuple[int, str, str]] = []
        self._counted = 0

    async def of(self, user_id: str) -> tuple[Version, ...]:
        return self._of(check_person(user_id))

    async def readable(self, user_id: str) -> tuple[Version, ...]:
        return self._of(check_person(user_id))

    async def write(
        self, versions: Sequence[Version], *, cause: str, expected: Mapping[str, int] | None = None
    ) -> tuple[Version, ...]:
        if not versions:
            return ()
        user_id, *others = {check_version(version).user_id for version in versions}
        if others or not cause:
            raise InternalError("Versions are written for one person, and because of something.")
        if (before := self._causes.get((user_id, cause))) is not None:
            return before
        seen = select_newest(self._of(user_id), user_id)
        for uid, seq in (expected or {}).items():
            if (seen[uid].seq if uid in seen else 0) != seq:
                raise VersionConflict("This constraint was changed in the meantime.", where=uid)
        done = []
        for version in versions:
            known = [seen[version.uid].updated_at] if version.uid in (expected or {}) and version.uid in seen else []
            at = max([version.updated_at, *known])
            done.append(version.model_copy(update={"seq": self._next(), "updated_at": at}))
        self._rows += done
        self._causes[user_id, cause] = tuple(done)
        self._list(user_id, {version.uid for version in done})
        return tuple(done)

    async def find_written(self, user_id: str, cause: str) -> tuple[Version, ...]:
        return self._causes.get((check_person(user_id), cause), ())

    async def people(self, *, reachable: bool = False) -> tuple[str, ...]:
        del reachable  # here, no workspace removes the app
        return tuple(sorted({version.user_id for version in self._rows}))

    async def erase(self, user_id: str) -> None:
        """Delete a person's constraints, as :meth:`fateforger.ports.people.People.erase` does with everything."""
        gone = self._of(check_person(user_id))
        self._rows = [version for version in self._rows if version.user_id != user_id]
        self._causes = {key: rows for key, rows in self._causes.items() if key[0] != user_id}
        self._list(user_id, {version.uid for version in gone})

    async def list_unindexed(self, *, limit: int = 100) -> tuple[IndexTask, ...]:
        latest: dict[tuple[str, str], int] = {}
        for place, user_id, uid in self._waiting:
            latest[user_id, uid] = place
        return tuple(self._task(user_id, uid, place) for (user_id, uid), place in list(latest.items())[:limit])

    async def mark_indexed(self, tasks: Sequence[IndexTask]) -> int:
        done = {(task.user_id, task.uid): task.seq for task in tasks}
        removed = {row[1:] for row in self._waiting if row[0] <= done.get(row[1:], 0)}
        self._waiting = [row for row in self._waiting if row[0] > done.get(row[1:], 0)]
        return len(removed)

    async def reindex(self, user_id: str | None = None) -> int:
        people = await self.people() if user_id is None else (check_person(user_id),)
        found = {person: {version.uid for version in self._of(person)} for person in people}
        for person, uids in found.items():
            self._waiting = [row for row in self._waiting if row[1] != person]
            self._list(person, uids)
        return sum(map(len, found.values()))

    def _of(self, user_id: str) -> tuple[Version, ...]:
        return tuple(version for version in self._rows if version.user_id == user_id)

    def _next(self) -> int:
        self._counted += 1
        return self._counted

    def _list(self, user_id: str, uids: set[str]) -> None:
        self._waiting += [(self._next(), user_id, uid) for uid in sorted(uids)]

    def _task(self, user_id: str, uid: str, place: int) -> IndexTask:
        return IndexTask(user_id, uid, place, select_newest(self._of(user_id), user_id).get(uid))
