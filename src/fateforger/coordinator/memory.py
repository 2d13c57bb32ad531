"""The store of constraints as a turn knows it: asked before, written to after, and never waited for long (S4)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from fateforger.background.extracting import EXTRACT_LANE, extract_job, understood_id
from fateforger.background.memory import understood_in, write_job
from fateforger.background.turns import TURN_LANE
from fateforger.constraints import Version
from fateforger.coordinator.recalling import TOO_LONG, ConstraintRetriever
from fateforger.coordinator.searching import Finder, searched
from fateforger.errors import MemoryUnavailable, StoreError, StoreUnavailable, VersionConflict
from fateforger.ports import Clock, Constraints, Jobs
from fateforger.session import commands
from fateforger.session.commands import SessionCommand, Understood
from fateforger.session.memory_rows import with_seqs
from fateforger.session.model import Notice, Session
from fateforger.session.recall import MOST_NAMED
from fateforger.turn.constants import EXTRACT_WAIT, MEMORY_WAIT
from fateforger.turn.model import MemoryReading, SearchMemory, WriteMemory

log = logging.getLogger(__name__)

T = TypeVar("T")
WRITTEN_LATER = "I cannot write that down for other days just now; it counts here, and I keep trying."
LOOK_SECONDS = 0.05
"""How often it is looked whether a reply has been read."""
LONGEST_SEARCHED = 1_000
"""Characters of a message that are searched for."""
MOST_NEAR = 30
_WRITING = (
    commands.TimeboxingUserReply,
    commands.RememberConstraint,
    commands.ReviseConstraint,
    commands.JudgeConstraint,
    commands.SettleConstraints,
    commands.UndoMemory,
    Understood,
)


@dataclass(frozen=True, slots=True)
class Extracted:
    """What a reply says to remember, if anything; ``late`` when nobody knows yet."""

    understood: Understood | None = None
    late: bool = False


class MemoryDesk:
    """``constraints`` are asked and written to for ``seconds`` at most. What cannot be written now is left to ``jobs``,
    where it is tried again; the session knows it meanwhile. ``reads_words`` tells that somebody looks for rules in
    what people say, and ``extract_seconds`` how long a draft or a commit waits for that. The ``index`` only says which
    of many constraints some words are near to."""

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
        """Why the store could not be used the last time, in a sentence."""

    async def overhear(self, command: SessionCommand) -> None:
        """See to it that a reply is read for what it says to remember, once and not now. Of one from which a secret was
        taken nothing is."""
        if self._reads_words and isinstance(command, commands.TimeboxingUserReply) and not command.withheld:
            await self._jobs.enqueue(extract_job(command), now=self._clock.now())

    async def heard(self, reply: commands.TimeboxingUserReply) -> Extracted:
        """Wait for what a reply says to remember, but not for long; it is not taken from those who land it."""
        if not self._reads_words or reply.withheld:
            return Extracted()
        clock = asyncio.get_running_loop().time
        until = clock() + self._extract_seconds
        while True:
            found = await self._extracted(reply.command_id)
            if found is not None:
                return found
            if clock() >= until:
                return Extracted(late=True)
            await asyncio.sleep(LOOK_SECONDS)

    async def _extracted(self, reply_id: str) -> Extracted | None:
        """What was found in a reply, if it has been read by now."""
        # In this order: what is found is on the lane of the session before the reading of it counts as done.
        reading = await self._jobs.unfinished(EXTRACT_LANE, reply_id)
        found = await self._jobs.unfinished(TURN_LANE, understood_id(reply_id))
        if found is not None:
            return Extracted(understood_in(found))
        return Extracted() if reading is None else None

    def begin(self, user_id: str) -> None:
        """Read what is known of a person before a turn asks (S102). Returns at once."""
        self._retriever.begin(user_id)

    async def look(self, session: Session, command: SessionCommand | Understood) -> MemoryReading:
        """What is known of the person when a command is carried out. What an earlier try of the same command wrote is
        left out, so that it comes to the same again."""
        user_id, mine, wrote = session.user_id, tuple[Version, ...](), tuple[Version, ...]()
        try:
            if isinstance(command, _WRITING):
                mine = await self._in_time(self._constraints.written(user_id, command.command_id))
            if isinstance(command, commands.UndoMemory):
                wrote = await self._in_time(self._constraints.written(user_id, command.write))
        except StoreError as error:
            log.warning("constraints cannot be read: %s", error.message)
            return MemoryReading(error=error.message)
        whole = isinstance(command, (*_WRITING, commands.ShowMemory))
        reading = await self._retriever.retrieve(session, but={version.seq for version in mine}, whole=whole)
        self.trouble = reading.error
        if reading.error is not None:
            log.warning("constraints cannot be read: %s", reading.error)
        near = await self._near(command, reading.versions) if isinstance(command, commands.TimeboxingUserReply) else ()
        return reading.model_copy(update={"wrote": wrote, "near": near})

    async def _near(self, reply: commands.TimeboxingUserReply, versions: Sequence[Version]) -> tuple[str, ...]:
        """Constraints whose words are near to a message, when there are more than can be shown to whoever reads it."""
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
        """Everything that is known of the person, out of force or not. Raises ``StoreError``."""
        return await self._in_time(self._constraints.of(user_id))

    async def look_for(self, effect: SearchMemory, session: Session) -> Session:
        """The session with what was found by words; with all that is known when that cannot be done."""
        try:
            versions = await self.versions(session.user_id)
        except StoreError as error:
            log.warning("constraints cannot be read: %s", error.message)
            return session  # the card, as the turn left it, says so
        return await searched(effect, session, versions, self._index, seconds=self._seconds)

    async def wrote(self, user_id: str, cause: str) -> bool:
        """Whether a deed wrote something. Raises ``StoreError``."""
        return bool(await self._in_time(self._constraints.written(user_id, cause)))

    async def write(self, effect: WriteMemory, session: Session, cause: str) -> Session:
        """The session once it is written, or once it is sure to be written later. Raises ``VersionConflict`` when
        something else was written in between."""
        try:
            written = await self._in_time(
                self._constraints.write(effect.versions, cause=cause, expected=effect.expected or None)
            )
        except VersionConflict:
            raise
        except StoreError as error:
            count = len(effect.versions)
            log.warning("constraints queued session=%s cause=%s count=%d: %s", session.id, cause, count, error.message)
            await self._jobs.enqueue(write_job(effect.versions, session.id, cause), now=self._clock.now())
            return _saying(session, WRITTEN_LATER)
        log.info("constraints stored session=%s cause=%s count=%d", session.id, cause, len(written))
        self._retriever.written(session.user_id)
        asked = ((version.uid, version.updated_at) for version in effect.versions)
        numbered = dict(zip(asked, written, strict=True))
        said = tuple(numbered.get((version.uid, version.updated_at), version) for version in session.said)
        view = None if session.memory is None else with_seqs(session.memory, written)
        return session.model_copy(update={"said": said, "memory": view})

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


def _saying(session: Session, line: str) -> Session:
    said = session.notice or Notice(lines=(line,))
    return session.model_copy(
        update={"notice": said.model_copy(update={"lines": tuple(dict.fromkeys((*said.lines, line)))})}
    )
