"""People's constraints: the journal of their versions, the memory of each, and stores to migrate from."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from fateforger.memory.migration import StoredRow
from fateforger.memory.versions import Version


class Constraints(Protocol):
    """The journal: every version of every person's constraints, in order. It is written first, and read for decisions.

    A person's rows are found by exact comparison of the id. Raises :class:`~fateforger.errors.StoreError`; ``BadInput``
    for an impossible id (empty, blank, too long).
    """

    async def of(self, user_id: str) -> tuple[Version, ...]:
        """Return all versions of that person's constraints, in the order of writing.

        A constraint whose newest version cannot be read raises ``ConstraintUnreadable``. An unreadable older version
        decides nothing and is left out.
        """
        ...

    async def readable(self, user_id: str) -> tuple[Version, ...]:
        """Return the versions without the constraints that ``ConstraintUnreadable`` names."""
        ...

    async def write(
        self, versions: Sequence[Version], *, cause: str, expected: Mapping[str, int] | None = None
    ) -> tuple[Version, ...]:
        """Write versions of one person as one commit that survives a crash; return them with their ``seq``.

        ``cause`` names the origin (a message, a click, a line of an import): a cause that wrote before writes nothing,
        and its earlier versions are returned. ``expected`` gives the ``seq`` of a uid's newest version when the change
        was made, 0 for none; a mismatch raises ``VersionConflict``, and nothing is written. A version written with
        ``expected`` is never older than its predecessor, even if a clock is behind.
        """
        ...

    async def find_written(self, user_id: str, cause: str) -> tuple[Version, ...]:
        """Return the versions that a cause wrote for that person."""
        ...

    async def people(self, *, reachable: bool = False) -> tuple[str, ...]:
        """Return everyone who has a constraint, sorted; ``reachable`` leaves out those whom Slack cannot reach."""
        ...

    async def list_unindexed(self, *, limit: int = 100) -> tuple[IndexTask, ...]:
        """Return what the index does not show yet, the longest waiting first; each constraint once, newest version."""
        ...

    async def mark_indexed(self, tasks: Sequence[IndexTask]) -> int:
        """Mark tasks as indexed, and return how many were still on the list.

        A constraint that was written again meanwhile stays there.
        """
        ...

    async def reindex(self, user_id: str | None = None) -> int:
        """Put every constraint (of one person) on the list again, and return their number."""
        ...


@dataclass(frozen=True, slots=True)
class IndexTask:
    """A constraint whose memory has to be updated, or dropped if there is no ``version``.

    ``seq`` is its place on the list, which grows whenever it is listed again; the version has a ``seq`` of its own.
    """

    user_id: str
    uid: str
    seq: int
    version: Version | None


@dataclass(frozen=True, slots=True)
class Recollection:
    """A constraint that a search found. A higher ``score`` is nearer; scores are comparable within one search.

    One that is not ``related`` may be near by chance. It does no harm in a prompt, but is no answer to a question.
    """

    uid: str
    score: float
    related: bool = True


@dataclass(frozen=True, slots=True)
class MemoryReport:
    """The state of an index: its components, in words, and its number of memories."""

    store: str
    embedder: str
    dimensions: int
    memories: int


@dataclass(frozen=True, slots=True)
class Contents:
    """The constraints of everybody that a memory holds, and the number of memories that cannot be read."""

    versions: tuple[Version, ...]
    unreadable: int = 0


class Memory(Protocol):
    """The durable store of constraints: one memory each, with the whole record, updated in place and found by meaning.

    It answers "what do you know about X"; it never decides whether a constraint applies. :class:`Constraints` is its
    journal and decides where the two differ; each can be made again from the other. Calls may be concurrent. Raises
    :class:`~fateforger.errors.MemoryUnavailable`.
    """

    def is_there(self) -> bool:
        """Check, without opening anything, whether local files of it exist; of a server that is not known."""
        ...

    async def put(self, *versions: Version) -> None:
        """Make the one memory of each of these constraints hold this version, and read it back.

        Together takes less time than apart. A memory that does not hold what was written is made again, and is an error
        if it still does not.
        """
        ...

    async def drop(self, user_id: str, uid: str) -> None:
        """Remove the memory of a constraint, if there is one."""
        ...

    async def all(self, user_id: str) -> tuple[Version, ...]:
        """Return every memory of one person as its version, by uid. A row that cannot be read is an error."""
        ...

    async def list_everything(self) -> Contents:
        """Return every memory of everybody, by person and uid. A row that cannot be read is counted."""
        ...

    async def search(self, user_id: str, text: str, *, limit: int = 10) -> tuple[Recollection, ...]:
        """Return constraints of one person that are near to ``text``, the nearest first."""
        ...

    async def wipe(self) -> None:
        """Remove all memories of all people, for a rebuild."""
        ...

    async def scrub(self) -> None:
        """Remove dropped and changed data from local files; a server cleans up by itself."""
        ...

    async def report(self) -> MemoryReport:
        """Check that writing, filtering and searching work, and describe the index."""
        ...

    async def aclose(self) -> None:
        """Close files and connections."""
        ...


class Finder(Protocol):
    """The search of an index. Raises :class:`~fateforger.errors.MemoryUnavailable`."""

    async def search(self, user_id: str, text: str, *, limit: int = 10) -> tuple[Recollection, ...]:
        """See :meth:`Memory.search`."""
        ...


class ConstraintSource(Protocol):
    """Another store of constraints; it is only ever read.

    Raises :class:`~fateforger.errors.SourceUnavailable` if it cannot be read now, ``BadInput`` if its options are
    incomplete.
    """

    @property
    def name(self) -> str:
        """The name people know it by."""
        ...

    def rows(self) -> AsyncIterator[StoredRow]:
        """Yield every row in a stable order.

        An incomplete row has its trouble described and is never returned in part.
        """
        ...

    async def list_omissions(self) -> tuple[str, ...]:
        """Return one sentence for each intentional omission, once the rows were read."""
        ...

    async def aclose(self) -> None:
        """Close files and connections."""
        ...
