"""Access to the store of constraints during a turn: reads before it, writes after it, both with a time limit (S4)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from fateforger.background.extracting import EXTRACT_LANE, build_extract_job, format_understood_id
from fateforger.background.memory import build_write_job, parse_understood
from fateforger.background.turns import TURN_LANE
from fateforger.constraints import Version
from fateforger.coordinator.recalling import TOO_LONG, ConstraintRetriever
from fateforger.coordinator.searching import Finder, search_memory
from fateforger.errors import MemoryUnavailable, StoreError, StoreUnavailable, VersionConflict
from fateforger.ports import Clock, Constraints, Jobs
from fateforger.session import commands
from fateforger.session.commands import AddExtracted, SessionCommand
from fateforger.session.memory_rows import with_seqs
from fateforger.session.model import Notice, Session
from fateforger.session.recall import MOST_NAMED
from fateforger.turn.constants import EXTRACT_WAIT, MEMORY_WAIT
from fateforger.turn.model import MemoryReading, SearchMemory, WriteMemory
from fateforger.values import replace

log = logging.getLogger(__name__)

T = TypeVar("T")
WRITTEN_LATER = "I cannot write that down for other days just now; it counts here, and I keep trying."
LOOK_SECONDS = 0.05
"""Seconds between two checks whether a reply has been read."""
LONGEST_SEARCHED = 1_000
"""Maximum length of a message that is searched for."""
MOST_NEAR = 30
_WRITING = (
    commands.TimeboxingUserReply,
    commands.RememberConstraint,
    commands.ReviseConstraint,
    commands.JudgeConstraint,
    commands.SettleConstraints,
    commands.UndoMemory,
    AddExtracted,
)


@dataclass(frozen=True, slots=True)
class ExtractionResult:
    """The rules found in a reply, if any; ``late`` if the result is not known yet."""

    understood: AddExtracted | None = None
    late: bool = False


class MemoryService:
    """Reads and writes a person's constraints.

    Access to ``constraints`` takes ``seconds`` at most. A write that is not possible now becomes a job in ``jobs``,
    which retries it; meanwhile the session knows the rule. With ``reads_words`` replies are searched for rules, and a
    draft or a commit waits for the result for ``extract_seconds``. The ``index`` only selects those of many constraints
    that are close to a message.
    """

    def __init__(
        self,
        constraints: Constraints,
        jobs: Jobs,
        clock: Clock,
        *,
        reads_words: bool = False,
        index: Finder | None = None,
        seconds: float = MEMORY_WAIT,
        extract_seconds: float = EXTRACT_WAIT,
    ) -> None:
        self._extract_seconds = extract_seconds
        self._index = index
        self._constraints = constraints
        self._jobs = jobs
        self._clock = clock
        self._reads_words = reads_words
        self._seconds = seconds
        self._retriever = ConstraintRetriever(constraints, clock, seconds=seconds)
        self.trouble: str | None = None
        """The reason why the last access to the store failed, in one sentence."""

    async def queue_extraction(self, command: SessionCommand) -> None:
        """Queue a reply for reading, once. A reply from which a secret was removed is not read."""
        if self._reads_words and isinstance(command, commands.TimeboxingUserReply) and not command.withheld:
            await self._jobs.enqueue(build_extract_job(command), now=self._clock.now())

    async def await_extraction(self, reply: commands.TimeboxingUserReply) -> ExtractionResult:
        """Wait for the rules of a reply for a limited time. The job that applies them stays in its queue."""
        if not self._reads_words or reply.withheld:
            return ExtractionResult()
        clock = asyncio.get_running_loop().time
        until = clock() + self._extract_seconds
        while True:
            found = await self._find_extraction(reply.command_id)
            if found is not None:
                return found
            if clock() >= until:
                return ExtractionResult(late=True)
            await asyncio.sleep(LOOK_SECONDS)

    async def _find_extraction(self, reply_id: str) -> ExtractionResult | None:
        """Return the result for a reply, if it has been read by now."""
        # The order matters: the result is on the lane of the session before its reading counts as done.
        reading = await self._jobs.find_unfinished(EXTRACT_LANE, reply_id)
        found = await self._jobs.find_unfinished(TURN_LANE, format_understood_id(reply_id))
        if found is not None:
            return ExtractionResult(parse_understood(found))
        return ExtractionResult() if reading is None else None

    def begin(self, user_id: str) -> None:
        """Read a person's constraints ahead of a turn (S102). Returns at once."""
        self._retriever.begin(user_id)

    async def look(self, session: Session, command: SessionCommand | AddExtracted) -> MemoryReading:
        """Return the knowledge about the person for a command.

        Writes of an earlier attempt of the same command are left out, so that the command has the same result again.
        """
        user_id, mine, wrote = session.user_id, tuple[Version, ...](), tuple[Version, ...]()
        try:
            if isinstance(command, _WRITING):
                mine = await self._in_time(self._constraints.find_written(user_id, command.command_id))
            if isinstance(command, commands.UndoMemory):
                wrote = await self._in_time(self._constraints.find_written(user_id, command.write))
        except StoreError as error:
            log.warning("constraints cannot be read: %s", error.message)
            return MemoryReading(error=error.message)
        whole = isinstance(command, (*_WRITING, commands.ShowMemory))
        reading = await self._retriever.retrieve(session, but={version.seq for version in mine}, whole=whole)
        self.trouble = reading.error
        if reading.error is not None:
            log.warning("constraints cannot be read: %s", reading.error)
        near = await self._near(command, reading.versions) if isinstance(command, commands.TimeboxingUserReply) else ()
        return replace(reading, wrote=wrote, near=near)

    async def _near(self, reply: commands.TimeboxingUserReply, versions: Sequence[Version]) -> tuple[str, ...]:
        """Return constraints that are close to a message, if there are more than the prompt can list."""
        if self._index is None or len({version.uid for version in versions}) <= MOST_NAMED:
            return ()
        try:
            async with asyncio.timeout(self._seconds):
                found = await self._index.search(reply.user_id, reply.text[:LONGEST_SEARCHED], limit=MOST_NEAR)
        except (MemoryUnavailable, TimeoutError) as error:
            log.warning("the index of constraints was not asked: %s", type(error).__name__)
            return ()
        return tuple(recollection.uid for recollection in found)

    async def aclose(self) -> None:
        """Stop reading."""
        await self._retriever.aclose()

    async def versions(self, user_id: str) -> tuple[Version, ...]:
        """Return all versions of the person's constraints, in force or not. Raises ``StoreError``."""
        return await self._in_time(self._constraints.of(user_id))

    async def look_for(self, effect: SearchMemory, session: Session) -> Session:
        """Return the session with the search results; with all constraints if the search fails."""
        try:
            versions = await self.versions(session.user_id)
        except StoreError as error:
            log.warning("constraints cannot be read: %s", error.message)
            return session  # the card of the turn says so
        return await search_memory(effect, session, versions, self._index, seconds=self._seconds)

    async def has_written(self, user_id: str, cause: str) -> bool:
        """Check whether a command wrote something. Raises ``StoreError``."""
        return bool(await self._in_time(self._constraints.find_written(user_id, cause)))

    async def write(self, effect: WriteMemory, session: Session, cause: str) -> Session:
        """Write constraints, or queue the write for later, and return the session.

        Raises ``VersionConflict`` if something else was written meanwhile.
        """
        try:
            written = await self._in_time(
                self._constraints.write(effect.versions, cause=cause, expected=effect.expected or None)
            )
        except VersionConflict:
            raise
        except StoreError as error:
            count = len(effect.versions)
            log.warning("constraints queued session=%s cause=%s count=%d: %s", session.id, cause, count, error.message)
            await self._jobs.enqueue(build_write_job(effect.versions, session.id, cause), now=self._clock.now())
            return _add_line(session, WRITTEN_LATER)
        log.info("constraints stored session=%s cause=%s count=%d", session.id, cause, len(written))
        self._retriever.refresh_after_write(session.user_id)
        asked = ((version.uid, version.updated_at) for version in effect.versions)
        numbered = dict(zip(asked, written, strict=True))
        said = tuple(numbered.get((version.uid, version.updated_at), version) for version in session.said)
        view = None if session.memory is None else with_seqs(session.memory, written)
        return replace(session, said=said, memory=view)

    async def _in_time(self, asking: Awaitable[T]) -> T:
        try:
            async with asyncio.timeout(self._seconds):
                answer = await asking
        except TimeoutError:
            self.trouble = TOO_LONG
            raise StoreUnavailable(TOO_LONG) from None
        except VersionConflict:
            raise
        except StoreError as error:
            self.trouble = error.message
            raise
        self.trouble = None
        return answer


def _add_line(session: Session, line: str) -> Session:
    said = session.notice or Notice(lines=(line,))
    return replace(session, notice=replace(said, lines=tuple(dict.fromkeys((*said.lines, line)))))
