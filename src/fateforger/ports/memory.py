"""What people told the planner once: the durable versions, and an index of their words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from fateforger.constraints import Version


class Constraints(Protocol):
    """Every version of every person's constraints: the one place where they are true. A person's rows are found by an
    id that is equal, character by character; no id means more than itself. Raises
    :class:`~fateforger.errors.StoreError`; ``BadInput`` for an id that cannot be one (empty, blank, too long)."""

    async def of(self, user_id: str) -> tuple[Version, ...]:
        """All versions of that person's constraints, in the order in which they were written. A constraint that cannot
        be read in its newest version is a ``ConstraintUnreadable``, never left out; an older version that cannot be
        read decides nothing and is missing from the history."""
        ...

    async def readable(self, user_id: str) -> tuple[Version, ...]:
        """The same without the constraints that ``ConstraintUnreadable`` names, for going on while they are told of."""
        ...

    async def write(
        self, versions: Sequence[Version], *, cause: str, expected: Mapping[str, int] | None = None
    ) -> tuple[Version, ...]:
        """Write versions of one person as one commit that survives a crash, and return them with the ``seq`` they got.

        ``cause`` names what led to them (a message, a click, a line of an import): a cause that wrote before writes
        nothing, and what it wrote then is returned. ``expected`` says which ``seq`` the newest version of a uid had
        when the change was thought of, 0 for none; another one is a ``VersionConflict``, and nothing is written.
        What is written in that knowledge is never older than the version it is about, even if a clock is behind.
        """
        ...

    async def written(self, user_id: str, cause: str) -> tuple[Version, ...]:
        """What a cause wrote for that person; empty when nothing."""
        ...

    async def people(self) -> tuple[str, ...]:
        """Everybody who has a constraint, sorted."""
        ...

    async def forget(self, user_id: str) -> int:
        """Delete everything of one person for good, and say how many versions there were; the index is told, too. What
        sessions, jobs and recordings repeat of it is theirs to delete."""
        ...

    async def unindexed(self, *, limit: int = 100) -> tuple[IndexTask, ...]:
        """What the index does not show yet, the longest waiting first; each constraint once, in its newest version."""
        ...

    async def indexed(self, tasks: Sequence[IndexTask]) -> None:
        """The index shows these now. A constraint that was written again meanwhile stays on the list."""
        ...

    async def reindex(self, user_id: str | None = None) -> int:
        """Put every constraint (of one person) on the list again, and say how many there are."""
        ...


@dataclass(frozen=True, slots=True)
class IndexTask:
    """A constraint whose memory has to be brought up to date; without a ``version`` it is to be dropped. ``seq`` is its
    place on the list (that of the version is inside it), and grows whenever it is put there again."""

    user_id: str
    uid: str
    seq: int
    version: Version | None


@dataclass(frozen=True, slots=True)
class Recollection:
    """A constraint that a search found. ``score`` is higher for what is nearer, and comparable within one search."""

    uid: str
    score: float


@dataclass(frozen=True, slots=True)
class MemoryReport:
    """How an index is: what it is made of, in words, and how many memories of how many people it holds."""

    store: str
    embedder: str
    dimensions: int
    memories: int


class Memory(Protocol):
    """An index of constraints by their words: one memory each, updated in place. It answers "what do you know about
    X"; it never decides whether a constraint applies. It can be lost: all of it comes from :class:`Constraints`.
    Calls may come from anywhere at the same time. Raises :class:`~fateforger.errors.MemoryUnavailable`."""

    async def put(self, version: Version) -> None:
        """Let the one memory of this constraint show this version, whatever there was before."""
        ...

    async def drop(self, user_id: str, uid: str) -> None:
        """Remove the memory of a constraint; nothing happens when there is none."""
        ...

    async def all(self, user_id: str) -> tuple[Version, ...]:
        """Every memory of one person as the version it shows, by uid. A row that cannot be read is an error."""
        ...

    async def search(self, user_id: str, text: str, *, limit: int = 10) -> tuple[Recollection, ...]:
        """Constraints of one person whose words are near to ``text``, the nearest first."""
        ...

    async def wipe(self) -> None:
        """Remove every memory of everybody, for a rebuild."""
        ...

    async def scrub(self) -> None:
        """Let files of our own hold nothing more of what was dropped or changed; a server keeps house itself."""
        ...

    async def report(self) -> MemoryReport:
        """Look whether it works: written, filtered and found as it should be."""
        ...

    async def aclose(self) -> None:
        """Let go of files and connections."""
        ...
