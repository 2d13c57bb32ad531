"""Comparison of the journal of constraints with the memory that holds them, and what follows from a difference.

The journal decides where both have a constraint. What only the memory has, or has in a newer version, was lost from the
journal: it is never overwritten, and comes back by a command.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from itertools import groupby

from fateforger.errors import ConstraintUnreadable
from fateforger.memory.documents import write_version
from fateforger.memory.ports import Constraints, Contents, Memory
from fateforger.memory.versions import Version, select_newest
from fateforger.text import format_count

_MOST_WAITING = 100_000
Key = tuple[str, str]


@dataclass(frozen=True, slots=True)
class Differences:
    """Result of a comparison.

    ``agreed`` counts the constraints that both hold alike, ``waiting`` those on the list of writes to the memory. The
    memory lacks ``missing``, and holds something else for ``outdated``; the journal lacks ``lost``, or has only an
    older version of it. ``unreadable`` counts the memories that cannot be read.
    """

    agreed: int
    waiting: int = 0
    missing: tuple[Version, ...] = ()
    outdated: tuple[Version, ...] = ()
    lost: tuple[Version, ...] = ()
    unreadable: int = 0

    @property
    def repairable(self) -> tuple[Version, ...]:
        """The constraints that the memory has to be given again."""
        return (*self.missing, *self.outdated)

    @property
    def is_whole(self) -> bool:
        """Check whether the memory holds each constraint of the journal, and nothing else."""
        return not (self.waiting or self.repairable or self.lost or self.unreadable)


def describe_lost(count: int) -> str:
    """Return the message about constraints that only the memory holds, with the command that brings them back."""
    held = format_count(count, "constraint")
    return f"Mem0 holds {held} that the database lacks. Run fateforger constraints restore to write back what is lost."


async def compare_memory(constraints: Constraints, memory: Memory) -> Differences:
    """Compare the memory with the journal, apart from what waits to be written.

    Raises ``StoreError`` and ``MemoryUnavailable``.
    """
    # The memory is read first: what is written meanwhile is then newer in the journal, never lost from it.
    contents = await memory.list_everything()
    found = await _compare(constraints, contents)
    if not found.lost:
        return found
    # Somebody may have been erased between the two reads; what is still there is lost from the journal.
    return await _compare(constraints, await memory.list_everything())


async def _compare(constraints: Constraints, contents: Contents) -> Differences:
    journal = await _read_newest(constraints)
    waiting = {(task.user_id, task.uid) for task in await constraints.list_unindexed(limit=_MOST_WAITING)}
    return find_differences(journal, contents, waiting)


async def _read_newest(constraints: Constraints) -> dict[Key, Version]:
    found: dict[Key, Version] = {}
    for person in await constraints.people():
        newest = select_newest(await constraints.readable(person), person)
        found.update(((person, uid), version) for uid, version in newest.items())
    return found


def find_differences(journal: dict[Key, Version], contents: Contents, waiting: Collection[Key]) -> Differences:
    """Return the differences between the newest versions of the journal and the contents of the memory. Pure."""
    held = {(version.user_id, version.uid): version for version in contents.versions}
    settled = {key: version for key, version in journal.items() if key not in waiting}
    lost = {
        key: version
        for key, version in held.items()
        if key not in waiting and (key not in journal or journal[key].updated_at < version.updated_at)
    }
    outdated = [version for key, version in settled.items() if key in held and held[key] != version and key not in lost]
    return Differences(
        agreed=sum(held.get(key) == version for key, version in settled.items()),
        waiting=len(waiting),
        missing=tuple(version for key, version in settled.items() if key not in held),
        outdated=tuple(outdated),
        lost=tuple(lost.values()),
        unreadable=contents.unreadable,
    )


async def restore_lost(constraints: Constraints, lost: Iterable[Version]) -> tuple[Version, ...]:
    """Write constraints that only the memory holds into the journal, each as it is there; return them.

    One that cannot be read in the journal is written as well. Raises ``StoreError``, also if a constraint was written
    meanwhile.
    """
    restored: list[Version] = []
    for person, versions in groupby(sorted(lost, key=lambda each: (each.user_id, each.uid)), lambda each: each.user_id):
        batch = tuple(versions)
        newest = select_newest(await constraints.readable(person), person)
        unreadable = await _list_unreadable(constraints, person)
        expected = {v.uid: newest[v.uid].seq if v.uid in newest else 0 for v in batch if v.uid not in unreadable}
        restored += await constraints.write(batch, cause=_name_cause(batch, expected), expected=expected or None)
    return tuple(restored)


async def _list_unreadable(constraints: Constraints, person: str) -> Collection[str]:
    try:
        await constraints.of(person)
    except ConstraintUnreadable as error:
        return error.names
    return ()


def _name_cause(batch: tuple[Version, ...], expected: dict[str, int]) -> str:
    """Return a cause derived from what is written: two runs at once write it once."""
    lines = json.dumps([[write_version(version) for version in batch], sorted(expected.items())], sort_keys=True)
    return f"restore:{hashlib.sha256(lines.encode()).hexdigest()[:40]}"
