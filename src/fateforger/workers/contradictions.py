"""Contradictions and repetitions in what a person told (S173, S179), and the journal compared with the memory.

A new statement is compared only with those that are near to it in meaning or about the same topic. A language model
judges them; without one, the person is asked about the nearest. Either way the person decides what counts.

The journal decides where both have a constraint. What only the memory has, or has in a newer version, was lost from the
journal: it is never overwritten, and comes back by a command.
"""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Awaitable, Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby

from fateforger.errors import ConstraintUnreadable, MemoryUnavailable
from fateforger.memory.contradiction import can_merge, find_candidates, is_same_subject
from fateforger.memory.documents import write_version
from fateforger.memory.ports import Constraints, Contents, Finder, Memory
from fateforger.memory.retrieval import NEAREST
from fateforger.memory.versions import Version, list_history, select_newest
from fateforger.ports.clock import Clock
from fateforger.ports.jobs import Job, Jobs, NewJob
from fateforger.session.commands.rules import AddExtracted, AskToReplace
from fateforger.text import format_count
from fateforger.workers.lanes import COMPARE, CompareRules, JobHandler
from fateforger.workers.turns import build_command_job

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


log = logging.getLogger(__name__)

NEAR_ENOUGH = 0.3
"""Similarity from which the person is asked about the nearest statement, where no model judges it.

To an embedder of meaning, statements about one subject, such as a diet, are 0.35 to 0.5 alike, and unrelated ones less
than 0.3. One of spelling finds only those that are worded alike.
"""
MOST_ASKED = 2
"""Most statements that one statement may replace, of those that the person is asked about at once."""


@dataclass(frozen=True, slots=True)
class Judgment:
    """The older constraints that a newer one contradicts, and those that it says again in other words."""

    contradicted: tuple[Version, ...] = ()
    repeated: tuple[Version, ...] = ()


Judge = Callable[[Version, Sequence[Version]], Awaitable[Judgment]]
"""Compare a newer constraint with older ones.

Raises the errors of :data:`~fateforger.workers.lanes.Perform`.
"""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two constraints of which one may be enough: the newer one contradicts the older one, or repeats it."""

    newer: Version
    older: Version
    repeats: bool = False


def build_compare_job(wanted: CompareRules, cause: str) -> NewJob:
    """Return the job that compares what a person told; the same ``cause`` is compared once."""
    return COMPARE.build_job(wanted, key=wanted.user_id, dedupe=f"{cause}/compared")


@dataclass(frozen=True, slots=True)
class Comparer:
    """Finds contradictions in meaning. Without a ``judge`` the person has to tell."""

    constraints: Constraints
    index: Finder | None
    judge: Judge | None = None

    async def compare(self, wanted: CompareRules) -> tuple[Pair, ...]:
        """Return the pairs to ask about. Raises ``StoreError``, and the errors of the judge."""
        versions = await self.constraints.of(wanted.user_id)
        return tuple(
            [pair for newer in find_told(versions, wanted) for pair in await self._compare_one(newer, versions)]
        )

    async def _compare_one(self, newer: Version, versions: Sequence[Version]) -> tuple[Pair, ...]:
        scores = await self._search(newer)
        candidates = find_candidates(versions, newer.user_id, newer.uid, list(scores))
        if self.judge is None:
            asked = (
                each for each in candidates if scores.get(each.uid, 0.0) >= NEAR_ENOUGH or is_same_subject(newer, each)
            )
            found = Judgment(tuple(asked)[:1])
        else:
            found = await self.judge(newer, candidates) if candidates else Judgment()
        contradicted = (Pair(newer, older) for older in found.contradicted)
        repeated = (Pair(newer, older, repeats=True) for older in found.repeated if can_merge(newer, older))
        return (*contradicted, *repeated)[:MOST_ASKED]

    async def _search(self, newer: Version) -> dict[str, float]:
        """Return the constraints that are near to the words of one, the nearest first, with their similarity."""
        if self.index is None:
            return {}
        try:
            found = await self.index.search(newer.user_id, newer.record.words, limit=NEAREST + 1)
        except MemoryUnavailable as error:
            log.warning("the index of constraints was not asked, so topics alone are compared: %s", error.message)
            return {}
        return {each.uid: each.score for each in found}


def find_told(versions: Sequence[Version], wanted: CompareRules) -> tuple[Version, ...]:
    """Return the constraints in force whose words are new, in the session or outside of any, the oldest first."""
    newest, here = select_newest(versions, wanted.user_id).values(), {None, wanted.session_id}
    told = [
        version
        for version in newest
        if version.updated_at >= wanted.since and version.session_id in here and not version.retired
    ]
    told.sort(key=lambda version: (version.updated_at, version.uid))
    return tuple(version for version in told if _is_new(version, versions, wanted.since))


def _is_new(version: Version, versions: Sequence[Version], since: datetime) -> bool:
    """Check whether a constraint said something else before, or nothing."""
    before = [each for each in list_history(versions, version.user_id, version.uid) if each.updated_at < since]
    return not before or before[-1].record.words != version.record.words


def name_question(user_id: str, one: str, other: str) -> str:
    """Return the id of the question about two constraints: it is asked once, whichever session or program finds it.

    It names the person, so that the receipt of the question is erased with their data.
    """
    return f"replaces/{user_id}/{'/'.join(sorted((one, other)))}"


def _build_question(wanted: CompareRules, pair: Pair, *, of: str, at: datetime) -> NewJob:
    """Return the job that asks about two constraints: in the session, or where the person told the newer one."""
    uids = (pair.newer.uid, pair.older.uid)
    about = {"command_id": name_question(wanted.user_id, *uids), "at": at, "repeats": pair.repeats}
    if wanted.session_id:
        asked = AddExtracted(**about, session_id=wanted.session_id, of=of, contradicts=uids)
        return build_command_job(asked, key=wanted.session_id)
    place = {"channel": wanted.channel, "thread_ts": wanted.thread_ts}
    outside = AskToReplace(**about, **place, user_id=wanted.user_id, uids=uids)
    return build_command_job(outside, key=f"rules {wanted.user_id}")


def build_compare_handler(comparer: Comparer, jobs: Jobs, clock: Clock) -> JobHandler:
    """Return the handler that compares statements, and has the session ask about the contradictions.

    If the judge gives no answer, the person is asked as without one.
    """

    async def ask(wanted: CompareRules, job: Job, comparer: Comparer) -> None:
        for pair in await comparer.compare(wanted):
            log.info("constraints may contradict or repeat session=%s", wanted.session_id)
            question = _build_question(wanted, pair, of=job.dedupe, at=clock.now())
            await jobs.enqueue(question, now=clock.now())

    async def perform(wanted: CompareRules, job: Job) -> None:
        await ask(wanted, job, comparer)

    async def on_given_up(job: Job, error: str) -> None:
        log.warning("job %s: statements are compared without a judge: %s", job.id, error)
        await ask(COMPARE.parse(job), job, Comparer(comparer.constraints, comparer.index))

    return COMPARE.handle(perform, on_given_up)
