"""Background work on constraints: delayed writes, tidying, rules read from replies, and the search index."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, timedelta

from fateforger.errors import InternalError, MemoryUnavailable, RebuildNeeded, StoreError
from fateforger.memory.applicability import Context
from fateforger.memory.consolidation import find_consolidations
from fateforger.memory.documents import read_version, write_version
from fateforger.memory.ports import Constraints, IndexTask, Memory, MemoryReport, Recollection
from fateforger.memory.versions import Version
from fateforger.planning.timing import zone
from fateforger.ports.clock import Clock
from fateforger.ports.jobs import Job, Jobs, NewJob
from fateforger.session.commands.rules import AddExtracted
from fateforger.session.commands.thread import TimeboxingUserReply
from fateforger.session.model import Session
from fateforger.session.rulebook import unsaved_versions
from fateforger.session.store import HeadFilter, Sessions
from fateforger.text import mark_message, use_language
from fateforger.workers.contradictions import build_compare_job, compare_memory, describe_lost
from fateforger.workers.lanes import (
    EXTRACT,
    MEMORY,
    ROUND_SIZE,
    TURN,
    CompareRules,
    JobHandler,
    TidyUp,
    TryLater,
    WriteVersions,
)
from fateforger.workers.turns import build_command_job, notify_session

log = logging.getLogger(__name__)

_TICK = timedelta(microseconds=1)
_EVER = datetime.fromtimestamp(0, UTC)


def build_tidy_job(user_id: str, day: date, tz: str) -> NewJob:
    """Return the job that tidies up a person's constraints on a local day, once."""
    return MEMORY.build_job(TidyUp(user_id=user_id, day=day, tz=tz), key=user_id, dedupe=f"tidy/{user_id}/{day}")


@dataclass(slots=True)
class TidyScheduler:
    """Enqueues one tidying job per person when their local day begins.

    Days that passed while the program was down are not made up for. ``tz`` is used for people without a known zone.
    """

    constraints: Constraints
    sessions: Sessions
    jobs: Jobs
    clock: Clock
    tz: str = field(kw_only=True)
    _done: dict[str, tuple[str, date]] = field(init=False, default_factory=dict)
    """The zone and the local day of each person's latest job."""

    async def run_once(self) -> bool:
        """Enqueue a job for people whose local day has begun; return ``True`` if some are left over.

        Raises ``StoreError``.
        """
        now, asked = self.clock.now(), 0
        for user_id in await self.constraints.people(reachable=True):
            known = self._done.get(user_id)
            if known is not None and known[1] == now.astimezone(zone(known[0])).date():
                continue
            if asked == ROUND_SIZE:
                return True
            asked += 1
            tz = await self._zone(user_id)
            day = now.astimezone(zone(tz)).date()
            await self.jobs.enqueue(build_tidy_job(user_id, day, tz), now=now)
            self._done[user_id] = tz, day
        return False

    async def _zone(self, user_id: str) -> str:
        latest = await self.sessions.list_heads(HeadFilter(since=_EVER, user_id=user_id), limit=1)
        return latest[0].tz if latest else self.tz


async def tidy(wanted: TidyUp, cause: str, constraints: Constraints, now: datetime) -> None:
    """Tidy up a person's constraints. Decisions that only the person can make are left to the review.

    Raises ``StoreError``, also if a constraint was written meanwhile; the lane then retries with the new version.
    """
    context = Context(user_id=wanted.user_id, as_of=wanted.day, now=now, timezone=wanted.tz)
    versions = await constraints.of(wanted.user_id)
    changed = build_tidy_versions(versions, context, now)
    if not changed:
        return
    seqs = {version.uid: version.seq for version in versions}
    expected = {version.uid: seqs[version.uid] for version in changed}
    await constraints.write(changed, cause=cause, expected=expected)
    log.info("constraints tidied cause=%s count=%d", cause, len(changed))


def build_tidy_versions(versions: Sequence[Version], context: Context, now: datetime) -> tuple[Version, ...]:
    """Return the versions that tidying up writes, each with its reason. Pure."""
    changes = (finding.follows for finding in find_consolidations(versions, context) if finding.follows is not None)
    return tuple(change.at(max(now, change.version.updated_at + _TICK)) for change in changes)


LOST = mark_message("I could not write down for other days what you told me to remember; please tell me once more.")


def build_write_job(versions: Sequence[Version], session_id: str, cause: str) -> NewJob:
    """Return the job that writes versions once the store works again; the same ``cause`` is written once."""
    lines = tuple(write_version(version) for version in versions)
    payload = WriteVersions(cause=cause, session_id=session_id, versions=lines)
    return MEMORY.build_job(payload, key=versions[0].user_id, dedupe=cause)


def build_memory_handler(constraints: Constraints, jobs: Jobs, sessions: Sessions, clock: Clock) -> JobHandler:
    """Return the handler that performs delayed writes, oldest first for each person, and tidies up.

    After a write, the session of the reply is updated.
    """

    async def perform(wanted: WriteVersions | TidyUp, job: Job) -> None:
        if isinstance(wanted, TidyUp):
            await tidy(wanted, job.dedupe, constraints, clock.now())
            return
        # A newer version may have been written meanwhile. This one is then history: the instants give the order.
        versions = tuple(map(read_version, wanted.versions))
        also = await _list_unsaved(sessions, wanted.session_id)
        stored = {(v.uid, v.updated_at) for v in await constraints.readable(versions[0].user_id)}
        new = {(v.uid, v.updated_at): v for v in (*versions, *also) if (v.uid, v.updated_at) not in stored}
        await constraints.write(tuple(new.values()), cause=wanted.cause)
        since = min(version.updated_at for version in versions)
        compared = CompareRules(session_id=wanted.session_id, user_id=versions[0].user_id, since=since)
        await jobs.enqueue(build_compare_job(compared, wanted.cause), now=clock.now())
        landed = AddExtracted(
            command_id=f"{job.dedupe}/landed", session_id=wanted.session_id, of=wanted.cause, at=clock.now()
        )
        await jobs.enqueue(build_command_job(landed, key=landed.session_id), now=clock.now())

    async def on_given_up(job: Job, error: str) -> None:
        if job.payload.get("kind") == "tidy":
            return  # the job of the next day does the same
        log.error("constraints of job %s are lost: %s", job.id, error)
        await notify_session(sessions, job, LOST)

    return MEMORY.handle(perform, on_given_up)


async def _list_unsaved(sessions: Sessions, session_id: str) -> tuple[Version, ...]:
    """Return the lasting constraints that a session knows and could not write, nor leave to a job of their own."""
    session = await sessions.load(session_id) if session_id else None
    return () if session is None else unsaved_versions(session)


def parse_understood(job: Job) -> AddExtracted:
    """Return the command of a job. Raises ``InternalError`` for anything else."""
    heard = TURN.parse(job)
    if not isinstance(heard, AddExtracted):
        raise InternalError(f"job {job.id} holds a {type(heard).__name__}, not what was understood")
    return heard


UNREAD = mark_message("I could not check your last message for rules, so I remember none from it.")

Interpret = Callable[[TimeboxingUserReply, Session], Awaitable[AddExtracted | None]]
"""Return the rules to remember from a reply, or ``None`` if there are none.

Raises the errors of :data:`~fateforger.workers.lanes.Perform`.
"""


def build_extract_job(reply: TimeboxingUserReply) -> NewJob:
    """Return the job that reads a reply. Each reply is read once, independently of the others of its session.

    The result carries the time of the reply, so the order of reading does not matter.
    """
    return EXTRACT.build_job(reply, key=reply.command_id, dedupe=reply.command_id)


def format_understood_id(reply_id: str) -> str:
    """Return the id of the command that a reply results in; it is the same however often the reply is read."""
    return f"{reply_id}/understood"


def build_extract_handler(interpret: Interpret, jobs: Jobs, sessions: Sessions, clock: Clock) -> JobHandler:
    """Return the handler that reads replies and enqueues the results on the lane of the session.

    When a reply is given up, the session is told once that it was not read.
    """

    async def perform(reply: TimeboxingUserReply, _job: Job) -> None:
        session = await sessions.load(reply.session_id)
        if session is None:
            raise TryLater("The session that the message begins is not saved yet.")
        use_language(session.options.language)
        heard = await interpret(reply, session)
        if heard is not None:
            await jobs.enqueue(build_command_job(heard, key=heard.session_id), now=clock.now())

    async def on_given_up(job: Job, error: str) -> None:
        log.warning("job %s: a reply is not read for rules: %s", job.id, error)
        reply = EXTRACT.parse(job)
        heard = AddExtracted(
            command_id=format_understood_id(reply.command_id),
            session_id=reply.session_id,
            of=reply.command_id,
            at=reply.at,
            trouble=UNREAD,
            unread=reply.text,
        )
        await jobs.enqueue(build_command_job(heard, key=heard.session_id), now=clock.now())

    return EXTRACT.handle(perform, on_given_up)


_PATIENCE = 3
"""Consecutive failures after which the index as a whole, rather than a single constraint, is considered broken."""

OnProgress = Callable[[int], None]
"""Called with the number of constraints indexed since the last call."""


BATCH = 100
LOOK_SECONDS = 300.0
"""Interval between the health checks of an index."""
COMPARE_SECONDS = 24 * 3600.0
"""Interval between the comparisons of the memory with the journal; the first one is made at the start."""


class Indexer:
    """The only writer of the index; opens it when there is something to index, not before.

    Failures show in :attr:`words` and in the log. No caller waits for the indexer. Once a day it compares the index
    with the journal and mends it; what only the index holds it leaves alone, and says so in :attr:`loss`.
    """

    def __init__(
        self, constraints: Constraints, memory: Memory, *, batch: int = BATCH, look_seconds: float = LOOK_SECONDS
    ) -> None:
        self._constraints = constraints
        self._memory = memory
        self._batch = batch
        self._look_seconds = look_seconds
        self._report: MemoryReport | None = None
        self._looked_at = 0.0
        self._is_complete = False
        self.trouble: str | None = None
        """The reason why the index cannot be used now, in one sentence; ``None`` while it works."""
        self.loss: str | None = None
        """The sentence about constraints that only the index holds, if there are any."""
        self._compared_at: float | None = None

    @property
    def words(self) -> str:
        """The state of the index, in one sentence."""
        if self.trouble is not None:
            return self.trouble
        if self._report is None:
            return "There is nothing to search yet."
        if not self._is_complete:
            return "The index of constraints is being built."
        works = f"It works: {self._report.store}, {self._report.embedder}."
        return works if self.loss is None else f"{works} {self.loss}"

    async def search(self, user_id: str, text: str, *, limit: int = 10) -> tuple[Recollection, ...]:
        """Search the index like :meth:`fateforger.memory.ports.Memory.search`. Results may be out of date.

        Raises ``MemoryUnavailable`` until all constraints are in the index, and while it is broken or rebuilt.
        """
        if self.trouble is not None or not self._is_complete:
            raise MemoryUnavailable(self.words)
        return await self._memory.search(user_id, text, limit=limit)

    async def run_once(self) -> None:
        """Index what changed. Raises ``MemoryUnavailable`` or ``StoreError``, after noting the trouble."""
        try:
            await self._run_once()
        except (MemoryUnavailable, StoreError) as error:
            self.trouble = error.message
            raise
        self.trouble = None

    async def catch_up(self, progress: OnProgress = lambda _: None, *, alone: bool = True) -> None:
        """Index until nothing is missing.

        Unless ``alone``, stop when it turns out that another program indexes the same list. Raises
        ``MemoryUnavailable`` or ``StoreError``; the work done by then is kept.
        """
        while tasks := await self._constraints.list_unindexed(limit=self._batch):
            lost = await self._index_all(tasks, progress)
            if lost and not alone:
                return
        self._is_complete = True

    async def rebuild(self, *, discard: bool = False) -> int:
        """Empty the index, mark every constraint as missing from it, and return the number of constraints.

        The constraints are marked first, so that the list is complete after an interruption, and again afterwards:
        another program that shares the index may have indexed some of them meanwhile, which are gone now. Raises
        ``MemoryUnavailable`` if the index holds constraints that the journal lacks, unless these are to be discarded.
        """
        if not discard:
            await self._check_nothing_lost()
        await self._constraints.reindex()
        await self._memory.wipe()
        return await self._constraints.reindex()

    async def _check_nothing_lost(self) -> None:
        """Raise ``MemoryUnavailable`` if only the index holds a constraint, as far as it can be read at all."""
        try:
            lost = (await compare_memory(self._constraints, self._memory)).lost
        except RebuildNeeded:
            log.warning("the index cannot be read before it is emptied")
            return
        if lost:
            raise MemoryUnavailable(describe_lost(len(lost)))

    async def _run_once(self) -> None:
        if not await self._is_needed():
            return
        try:
            await self._check_health()
            await self.catch_up(alone=False)
        except RebuildNeeded as error:
            log.warning("%s", error.message)
            self.trouble = error.message
            self._is_complete = False
            await self._rebuild_once()
            await self.catch_up(alone=False)
        await self._compare()

    async def _compare(self) -> None:
        """Compare the index with the journal from time to time, and mend what it lacks or holds otherwise.

        While something is lost from the journal, it is compared more often, so that a restored one is noticed.
        """
        now = asyncio.get_running_loop().time()
        interval = COMPARE_SECONDS if self.loss is None else self._look_seconds
        if self._compared_at is not None and now - self._compared_at < interval:
            return
        found = await compare_memory(self._constraints, self._memory)
        loss = describe_lost(len(found.lost)) if found.lost else None
        if loss not in {None, self.loss}:
            log.warning("%s", loss)
        self.loss = loss
        if found.unreadable:
            log.warning("the index holds %d rows that cannot be read, and is built again", found.unreadable)
            await self.rebuild()
            await self.catch_up(alone=False)
        elif found.repairable:
            log.warning("the index lacked or contradicted %d constraints and is mended", len(found.repairable))
            for person in sorted({version.user_id for version in found.repairable}):
                await self._constraints.reindex(person)
            await self.catch_up(alone=False)
        self._compared_at = now

    async def _rebuild_once(self) -> None:
        """Rebuild the index, unless another program that shares it has done so since it was found to be necessary."""
        try:
            self._report = await self._memory.report()
        except RebuildNeeded:
            count = await self.rebuild()
            self._report = await self._memory.report()
            log.info("the index of constraints is built again: %d constraints", count)

    async def _is_needed(self) -> bool:
        """Check whether there is anything to search or to index; otherwise the index is not even opened."""
        if self._report is not None or self._memory.is_there() or await self._constraints.list_unindexed(limit=1):
            return True
        return bool(await self._constraints.people())

    async def _check_health(self) -> None:
        """Check the health of the index from time to time. An index that is unexpectedly empty is indexed again."""
        now = asyncio.get_running_loop().time()
        if self._report is not None and now - self._looked_at < self._look_seconds:
            return
        self._report = await self._memory.report()
        self._looked_at = now
        if not self._report.memories and await self._constraints.people():
            self._is_complete = False
            await self._constraints.reindex()

    async def _index_all(self, tasks: tuple[IndexTask, ...], progress: OnProgress) -> bool:
        """Index the tasks; return ``True`` if another program took most of them off the list meanwhile."""
        shown: list[IndexTask] = []
        removed = 0
        try:
            if len(tasks) > 1 and await self._index_together(tasks):
                shown += tasks
            else:
                await self._index_one_by_one(tasks, shown)
        finally:
            removed = await self._mark_indexed(shown)
            progress(len(shown))
        return removed * 2 < len(shown)

    async def _index_together(self, tasks: tuple[IndexTask, ...]) -> bool:
        """Index the tasks in one go; ``False`` if that fails, which may be the fault of a single one."""
        try:
            await self._memory.put(*(task.version for task in tasks if task.version is not None))
            for task in tasks:
                if task.version is None:
                    await self._memory.drop(task.user_id, task.uid)
        except RebuildNeeded:
            raise
        except MemoryUnavailable as error:
            log.info("%d constraints are indexed one by one: %s", len(tasks), error.message)
            return False
        return True

    async def _index_one_by_one(self, tasks: tuple[IndexTask, ...], shown: list[IndexTask]) -> None:
        """Index the tasks and add them to ``shown``. Failed ones stay on the list and do not block others.

        Raises ``MemoryUnavailable`` if all of them, or several in a row, fail.
        """
        refused: list[MemoryUnavailable] = []
        in_a_row = 0
        for task in tasks:
            try:
                await self._index_task(task)
            except RebuildNeeded:
                raise
            except MemoryUnavailable as error:
                refused.append(error)
                in_a_row += 1
                if in_a_row >= _PATIENCE:
                    raise
            else:
                shown.append(task)
                in_a_row = 0
        if len(refused) == len(tasks):
            raise refused[0]

    async def _mark_indexed(self, tasks: list[IndexTask]) -> int:
        """Take tasks off the list. A deletion stays on it until its data is scrubbed from the index files, too."""
        if any(task.version is None for task in tasks):
            await self._memory.scrub()
        return await self._constraints.mark_indexed(tasks)

    async def _index_task(self, task: IndexTask) -> None:
        if task.version is None:
            await self._memory.drop(task.user_id, task.uid)
        else:
            await self._memory.put(task.version)
