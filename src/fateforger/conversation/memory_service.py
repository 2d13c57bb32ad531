"""Access to a person's constraints, in a session and outside of one, with a time limit (S4, S21, S95, S102)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import TypeVar

from fateforger.conversation import memory_node as node
from fateforger.conversation.language.message_reader import read_memory_request
from fateforger.conversation.ports import RuleReplies
from fateforger.conversation.turn_values import MemoryReading, SearchMemory, StageInput, WriteMemory
from fateforger.errors import (
    BadInput,
    ConstraintUnreadable,
    MemoryUnavailable,
    StoreError,
    StoreUnavailable,
    VersionConflict,
)
from fateforger.limits import MAX_SEARCHED_CHARS
from fateforger.memory.applicability import has_ended
from fateforger.memory.ports import Constraints, Finder
from fateforger.memory.retrieval import BY_SPELLING, NEAREST, NO_INDEX, find_by_spelling, select_current
from fateforger.memory.versions import Version
from fateforger.ports.clock import Clock
from fateforger.ports.jobs import Jobs
from fateforger.ports.model import Model
from fateforger.session.cards import Card
from fateforger.session.commands import SessionCommand
from fateforger.session.commands.rules import (
    AddExtracted,
    AskToReplace,
    JudgeConstraint,
    RememberConstraint,
    ReviseConstraint,
    RuleStatement,
    SetPolicy,
    SettleConstraints,
    ShowMemory,
    UndoMemory,
)
from fateforger.session.commands.thread import TimeboxingUserReply
from fateforger.session.memory import MemoryQuestion, MemoryToolResult, MemoryWrite, unstored_versions
from fateforger.session.memory_changes import Memory, MemoryChange, ask_to_settle
from fateforger.session.messages import LastWords, RecentTalk
from fateforger.session.model import Session
from fateforger.session.recall import nameable_constraints, recall
from fateforger.session.rulebook import (
    RuleBook,
    known_versions,
    lines_of_command,
    refresh_view,
    unsaved_session,
    with_seqs,
)
from fateforger.session.stages import EXTRACT_WAIT, MEMORY_WAIT, Move
from fateforger.session.store import Sessions
from fateforger.text import gettext as _
from fateforger.text import join_words, mark_message, name_commands, quote_title
from fateforger.ui.rule_cards import build_replace_button, rules_reply, settle_card, settled_card, undo_button
from fateforger.values import replace
from fateforger.workers.contradictions import build_compare_job
from fateforger.workers.lanes import EXTRACT, MEMORY, TURN, CompareRules
from fateforger.workers.memory import (
    build_extract_job,
    build_write_job,
    format_understood_id,
    parse_understood,
)
from fateforger.workers.supervisor import BackgroundTasks

TOO_LONG = mark_message("The store of what you told me does not answer.")


@dataclass(frozen=True, slots=True)
class _ReadResult:
    """All readable versions of one person's constraints, or ``None``; and the reason if some are missing."""

    versions: tuple[Version, ...] | None
    error: str | None = None


KEPT_FOR = timedelta(minutes=10)
"""Time for which rules that were read are used while the store does not answer in time."""
FindNear = Callable[[Sequence[Version]], Awaitable[tuple[str, ...]]]
"""Return which of a person's constraints are close to a message in meaning, the closest first."""


class ConstraintRetriever:
    """Reads the store without a model: ``query_types``, ``query_constraints``, exact filters, newest versions.

    All of these are pure (S14-S20). There is one read per person at a time; concurrent callers share it. A late read
    continues, and the previous result is used meanwhile, for :data:`KEPT_FOR`. ``seconds`` is how long a turn waits.
    """

    def __init__(self, constraints: Constraints, clock: Clock, *, seconds: float = MEMORY_WAIT) -> None:
        self._constraints = constraints
        self._clock = clock
        self._seconds = seconds
        self._reads: dict[str, asyncio.Task[_ReadResult]] = {}
        self._tasks = BackgroundTasks()
        self._last: dict[str, tuple[datetime, tuple[Version, ...]]] = {}

    def begin(self, user_id: str) -> None:
        """Start a read ahead of a turn. Returns at once."""
        self._begin_read(user_id)

    def refresh_after_write(self, user_id: str) -> None:
        """Discard the previous result after a write to the store, and read again (S7)."""
        self._last.pop(user_id, None)
        self._reads.pop(user_id, None)
        self.begin(user_id)

    async def retrieve(
        self, session: Session, *, but: Collection[int] = (), whole: bool = False, find_near: FindNear | None = None
    ) -> MemoryReading:
        """Return the knowledge for a session, or the reason why it is not available.

        Versions with a ``seq`` in ``but`` are left out. With ``whole`` the result also holds all versions.
        """
        task = self._begin_read(session.user_id)
        await asyncio.wait({task}, timeout=self._seconds)
        found = task.result() if task.done() else _ReadResult(None, _(TOO_LONG))
        versions = found.versions if found.versions is not None else self._find_last(session.user_id)
        if versions is None:
            return MemoryReading(error=found.error)
        versions = tuple(version for version in versions if version.seq not in but)
        near = () if find_near is None or not versions else await find_near(versions)
        return MemoryReading(
            recalled=recall(session, versions, self._clock.now(), near),
            said=unstored_versions(session.rules.said, versions),
            versions=versions if whole else (),
            near=near,
            error=found.error,
        )

    async def aclose(self) -> None:
        await self._tasks.close()
        self._reads.clear()

    def _begin_read(self, user_id: str) -> asyncio.Task[_ReadResult]:
        under_way = self._reads.get(user_id)
        if under_way is not None and not under_way.done():
            return under_way
        task = self._tasks.start(self._read(user_id), name="a person's constraints", awaited=True)
        self._reads[user_id] = task
        return task

    async def _read(self, user_id: str) -> _ReadResult:
        try:
            found = await self._all(user_id)
        except StoreError as error:
            return _ReadResult(None, error.message)
        if self._reads.get(user_id) is asyncio.current_task() and found.versions is not None:
            now = self._clock.now()
            self._last = {key: last for key, last in self._last.items() if now - last[0] < KEPT_FOR}
            self._last[user_id] = now, found.versions
        return found

    def _find_last(self, user_id: str) -> tuple[Version, ...] | None:
        """Return the previous result if it is recent, because another program may have written since."""
        at, versions = self._last.get(user_id, (None, None))
        return versions if at is not None and self._clock.now() - at < KEPT_FOR else None

    async def _all(self, user_id: str) -> _ReadResult:
        try:
            return _ReadResult(await self._constraints.of(user_id))
        except ConstraintUnreadable as error:
            return _ReadResult(await self._constraints.readable(user_id), error.message)


log = logging.getLogger(__name__)


async def search_memory(
    effect: SearchMemory, session: Session, versions: Sequence[Version], finder: Finder | None, *, seconds: float
) -> Session:
    """Return the session with the search results on its memory card; ``versions`` are all constraints of the person.

    If nothing is found, or the search fails, the card shows everything (or the named rows) and says so.
    """
    view = session.thread.memory
    if view is None:
        return session
    try:
        async with asyncio.timeout(seconds):
            uids = await _search(effect.queries, session.user_id, finder) if versions else ()
    except (TimeoutError, MemoryUnavailable) as error:
        log.warning("the index of constraints cannot be asked: %s", error)
        text = "\n".join(effect.queries)
        similar = await asyncio.to_thread(find_by_spelling, text, versions, session.user_id, limit=NEAREST)
        only = tuple(dict.fromkeys((*view.only, *similar)))
        return _show_rows(session, view, versions, only, _(BY_SPELLING) if similar else _(NO_INDEX))
    found = tuple(version.uid for version in select_current(uids, versions, session.user_id))
    only = tuple(dict.fromkeys((*view.only, *found)))
    about = join_words([quote_title(query) for query in effect.queries])
    return _show_rows(
        session, view, versions, only, *(() if only else (_("I found no rule of yours about {about}.", about=about),))
    )


async def _search(queries: Sequence[str], user_id: str, finder: Finder | None) -> list[str]:
    if finder is None:
        raise MemoryUnavailable("There is no index of constraints.")
    scores: dict[str, float] = {}
    for query in queries:
        for each in await finder.search(user_id, query, limit=NEAREST):
            if each.related:
                scores[each.uid] = max(each.score, scores.get(each.uid, each.score))
    return sorted(scores, key=lambda uid: (-scores[uid], uid))


def _show_rows(
    session: Session, view: MemoryToolResult, versions: Sequence[Version], only: tuple[str, ...], *lines: str
) -> Session:
    view = replace(view, only=only, lines=lines)
    return session.with_thread(memory=refresh_view(session, (*versions, *known_versions(session)), view))


T = TypeVar("T")
MOST_WAITING = 10
"""Most of a person's writes that wait for the store at once (S117)."""
WRITTEN_WITH_EARLIER = mark_message(
    "I cannot write that down for other days just now; it counts here, and I write it down with what already waits."
)
NOT_NOW = mark_message("I cannot write that down just now, and too much waits already. Please tell me again later.")
WRITTEN_LATER = mark_message("I cannot write that down for other days just now; it counts here, and I keep trying.")
LOOK_SECONDS = 0.05
"""Seconds between two checks whether a reply has been read."""
MOST_SEARCHED = 60
_WRITING = (
    TimeboxingUserReply,
    RememberConstraint,
    ReviseConstraint,
    SetPolicy,
    JudgeConstraint,
    SettleConstraints,
    UndoMemory,
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
    draft or a commit waits for the result for ``extract_seconds``. The ``index`` only says which constraints are close
    to a message in meaning.
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
        if self._reads_words and isinstance(command, TimeboxingUserReply) and not command.withheld:
            await self._jobs.enqueue(build_extract_job(command), now=self._clock.now())

    async def await_extraction(self, reply: TimeboxingUserReply) -> ExtractionResult:
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
        reading = await self._jobs.find_unfinished(EXTRACT.name, reply_id)
        found = await self._jobs.find_unfinished(TURN.name, format_understood_id(reply_id))
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
            if isinstance(command, UndoMemory):
                wrote = await self._in_time(self._constraints.find_written(user_id, command.write))
        except StoreError as error:
            log.warning("constraints cannot be read: %s", error.message)
            return MemoryReading(error=error.message)
        whole = isinstance(command, (*_WRITING, ShowMemory))
        find_near = partial(self._find_near, command) if isinstance(command, TimeboxingUserReply) else None
        but = {version.seq for version in mine}
        reading = await self._retriever.retrieve(session, but=but, whole=whole, find_near=find_near)
        self.trouble = reading.error
        if reading.error is not None:
            log.warning("constraints cannot be read: %s", reading.error)
        return replace(reading, wrote=wrote)

    async def _find_near(self, reply: TimeboxingUserReply, versions: Sequence[Version]) -> tuple[str, ...]:
        """Return constraints that are close to a message; by their spelling while the index is away."""
        if self._index is None:
            return ()
        text = reply.text[:MAX_SEARCHED_CHARS]
        try:
            async with asyncio.timeout(self._seconds):
                found = await self._index.search(reply.user_id, text, limit=MOST_SEARCHED)
        except (MemoryUnavailable, TimeoutError) as error:
            log.info("constraints are compared by spelling: %s", error or type(error).__name__)
            return await asyncio.to_thread(find_by_spelling, text, versions, reply.user_id, limit=MOST_SEARCHED)
        return tuple(recollection.uid for recollection in found)

    async def aclose(self) -> None:
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

    async def find_replacement(self, user_id: str, cause: str) -> tuple[str, str] | None:
        """Return the rule that a command let replace another one, and that one, if it did. Raises ``StoreError``."""
        written = await self._in_time(self._constraints.find_written(user_id, cause))
        pairs = ((version.uid, version.flat.supersedes) for version in written if not version.retired)
        return next(((uid, replaced[-1]) for uid, replaced in pairs if replaced), None)

    async def has_written(self, user_id: str, cause: str) -> bool:
        """Check whether a command wrote something. Raises ``StoreError``."""
        return bool(await self._in_time(self._constraints.find_written(user_id, cause)))

    async def write(self, effect: WriteMemory, session: Session, cause: str) -> Session:
        """Write constraints, or queue the write for later, and return the session.

        If too much waits already, the session alone knows them, and a write that waits includes them. Raises
        ``VersionConflict`` if something else was written meanwhile, and ``BadInput`` if too much waits and there is no
        session.
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
            if await self._jobs.count_unfinished(MEMORY.name, session.user_id) >= MOST_WAITING:
                if not session.id:
                    raise BadInput(_(NOT_NOW)) from error
                return session.remark(_(WRITTEN_WITH_EARLIER))
            await self._jobs.enqueue(build_write_job(effect.versions, session.id, cause), now=self._clock.now())
            return session.remark(_(WRITTEN_LATER))
        log.info("constraints stored session=%s cause=%s count=%d", session.id, cause, len(written))
        if session.id:
            await self.queue_comparison(session, min(version.updated_at for version in effect.versions), cause)
        self._retriever.refresh_after_write(session.user_id)
        asked = ((version.uid, version.updated_at) for version in effect.versions)
        numbered = dict(zip(asked, written, strict=True))
        said = tuple(numbered.get((version.uid, version.updated_at), version) for version in session.rules.said)
        view = None if session.thread.memory is None else with_seqs(session.thread.memory, written)
        return session.with_rules(said=said).with_thread(memory=view)

    async def queue_comparison(self, session: Session, since: datetime, cause: str) -> None:
        """Queue the comparison of what was told since then, here or outside of any session, with what was told before.

        The session asks about it.
        """
        wanted = CompareRules(session_id=session.id, user_id=session.user_id, since=since)
        await self._jobs.enqueue(build_compare_job(wanted, cause), now=self._clock.now())

    async def queue_comparison_outside(
        self, user_id: str, since: datetime, cause: str, channel: str, thread_ts: str | None = None
    ) -> None:
        """Queue the comparison of what was told outside of any session since then. The person is asked there."""
        wanted = CompareRules(user_id=user_id, since=since, channel=channel, thread_ts=thread_ts)
        await self._jobs.enqueue(build_compare_job(wanted, cause), now=self._clock.now())

    async def _in_time(self, asking: Awaitable[T]) -> T:
        try:
            async with asyncio.timeout(self._seconds):
                answer = await asking
        except TimeoutError:
            self.trouble = _(TOO_LONG)
            raise StoreUnavailable(_(TOO_LONG)) from None
        except VersionConflict:
            raise
        except StoreError as error:
            self.trouble = error.message
            raise
        self.trouble = None
        return answer


TRIES = 4
NO_RULES = mark_message("I cannot look up your rules just now. Please try again in a moment.")
NO_ZONE = "UTC"
"""The time zone of a person who has never planned a day; it only decides which day is today."""


def _with_talk(person: Session, talk: RecentTalk) -> Session:
    """Return the session of a person with what was said before, and what was written then, to take back."""
    bot = talk.exchanges[-1].bot if talk.exchanges else ""
    words = LastWords.of(bot, asks=False) if bot else None
    writes = tuple(MemoryWrite(cause=cause, lines=()) for cause in talk.wrote)
    return person.with_thread(exchanges=talk.exchanges, last_words=words).with_rules(memory_writes=writes)


class RuleService:
    """Reads and changes rules outside of a session, and keeps the ``replies`` for the forms that show them."""

    def __init__(self, sessions: Sessions, memory: MemoryService, replies: RuleReplies, clock: Clock) -> None:
        self._sessions = sessions
        self._memory = memory
        self._replies = replies
        self._clock = clock

    async def book(self, user_id: str, done: str | None) -> RuleBook:
        """Return the person's rules for today, with the reply of the command ``done``.

        Raises ``BadInput`` while the rules cannot be read.
        """
        try:
            versions = await self._memory.versions(user_id)
        except StoreError as error:
            log.warning("the rules of %s cannot be looked up: %s", user_id, error.message)
            raise BadInput(_(NO_RULES)) from error
        lines = () if done is None else await self.get_reply(done)
        return RuleBook(await self._person(user_id), versions, lines)

    async def count_rules(self, user_id: str) -> int | None:
        """Return the number of a person's rules that count; ``None`` while they cannot be read."""
        try:
            book = RuleBook(await self._person(user_id), await self._memory.versions(user_id))
        except StoreError as error:
            log.warning("the rules of %s cannot be counted: %s", user_id, error.message)
            return None
        ended = {uid for uid, rule in book.newest.items() if has_ended(rule, book.person.date, book.person.tz)}
        return sum(not row.retired and row.uid not in ended for row in book.rows)

    async def get_reply(self, command_id: str) -> tuple[str, ...]:
        """Return the reply to a command that was recently carried out. Raises ``StoreError``."""
        return await self._replies.of(command_id) or ()

    async def carry_out(self, command: SessionCommand) -> None:
        """Apply a command to a rule, once. Raises ``StoreError``; the command can then be repeated."""
        if await self._replies.of(command.command_id) is not None:
            return
        for attempt in range(1, TRIES + 1):
            try:
                await self._attempt(command)
            except VersionConflict:
                if attempt == TRIES:
                    raise
            else:
                return

    async def is_carried_out(self, command: SessionCommand) -> bool:
        """Check whether a command was carried out, by this program or another one on the same database."""
        if await self._replies.of(command.command_id) is not None:
            return True
        return await self._memory.has_written(command.user_id, command.command_id)

    async def answer(
        self, reply: TimeboxingUserReply, model: Model, talk: RecentTalk | None = None
    ) -> tuple[Card, tuple[str, ...]]:
        """Carry out what a message wants of memory; return the answer, and the commands that wrote something.

        ``talk`` is what was said before. Raises ``StoreError``.
        """
        try:
            return await self._answer(reply, model, talk)
        except BadInput as error:
            return rules_reply((error.message,), None), ()

    async def answer_command(self, command: SessionCommand) -> Card:
        """Carry out a command that words or a card gave, and return the answer. Raises ``StoreError``.

        The answer to the question about two rules can be taken back, and is then asked for again.
        """
        try:
            await self.carry_out(command)
        except BadInput as error:
            return rules_reply((error.message,), None)
        lines = await self.get_reply(command.command_id)
        match command:
            case SettleConstraints(keep=None):
                return settled_card(lines, build_replace_button(command.uids))
            case SettleConstraints():
                return settled_card(lines, undo_button(command.command_id, lines))
            case UndoMemory():
                pair = await self._memory.find_replacement(command.user_id, command.write)
                question = None if pair is None else await self._ask_to_replace(command.user_id, command.at, pair)
                return rules_reply(lines, None) if question is None else settle_card(question, lines)
            case _:
                return rules_reply(lines, None)

    async def ask_to_replace(self, command: AskToReplace) -> Card | None:
        """Return the question whether a rule replaces another; ``None`` if that is settled. Raises ``StoreError``."""
        question = await self._ask_to_replace(command.user_id, command.at, command.uids, repeats=command.repeats)
        return None if question is None else settle_card(question)

    async def _ask_to_replace(
        self, user_id: str, at: datetime, uids: tuple[str, str], *, repeats: bool = False
    ) -> MemoryQuestion | None:
        person, versions = await self._person(user_id), await self._memory.versions(user_id)
        known = Memory(user_id=user_id, session_id=None, day=person.date, at=at, versions=versions, tz=person.tz)
        return next(iter(ask_to_settle(MemoryChange(known), *uids, repeats=repeats).questions), None)

    async def _answer(
        self, reply: TimeboxingUserReply, model: Model, talk: RecentTalk | None
    ) -> tuple[Card, tuple[str, ...]]:
        person, before = await self._person(reply.user_id), (await self.book(reply.user_id, None)).versions
        person = person if talk is None else _with_talk(person, talk)
        wrote: list[str] = []
        heard = await read_memory_request(reply, person, model, nameable_constraints(person, before))
        lines, view = [*heard.trouble, *heard.lines], None
        for number, command in enumerate(heard.commands):
            if isinstance(command, ShowMemory):
                view = await self._show(person, command)
                continue
            named = replace(command, command_id=f"{command.command_id}.{number}")
            await self.carry_out(named)
            wrote.append(named.command_id)
            lines += await self.get_reply(named.command_id)
        known = {(version.uid, version.seq) for version in before}
        after = (await self.book(reply.user_id, None)).versions
        changed = tuple(version.uid for version in after if (version.uid, version.seq) not in known)
        if changed:
            view = refresh_view(person, after, MemoryToolResult(asked=reply.command_id, only=changed))
        return rules_reply(lines, view), tuple(wrote)

    async def _show(self, person: Session, command: ShowMemory) -> MemoryToolResult | None:
        """Return the rules that a message asks for. Raises ``StoreError``."""
        stage = self._stage(person, command, await self._memory.look(person, command))
        output = node.handle_memory_command(stage, command)
        shown = person if output is None else output.session
        if command.search:
            shown = await self._memory.look_for(SearchMemory(queries=command.search), shown)
        return shown.thread.memory

    def _stage(self, person: Session, command: SessionCommand, reading: MemoryReading) -> StageInput:
        return StageInput(
            session=person, asked=Move.STAY, command=command, cause=command.command_id, now=command.at, memory=reading
        )

    async def _attempt(self, command: SessionCommand) -> None:
        person = await self._person(command.user_id)
        reading = await self._memory.look(person, command)
        if reading.error is not None:
            raise StoreUnavailable(reading.error)
        output = node.handle_memory_command(self._stage(person, command, reading), command)
        if output is None:
            raise BadInput(name_commands(mark_message("That needs a plan. Start one with {timebox}.")))
        for effect in output.effects:
            if isinstance(effect, WriteMemory):
                # The rule belongs to no session.
                versions = tuple(replace(version, session_id=None) for version in effect.versions)
                lasting = replace(effect, versions=versions)
                await self._memory.write(lasting, output.session, command.command_id)
                if isinstance(command, RuleStatement) and command.channel:
                    told = (command.user_id, command.at, command.command_id, command.channel)
                    await self._memory.queue_comparison_outside(*told)
        done = output.session.with_thread(handled=(command.command_id,))
        lines = lines_of_command(done, command.command_id)
        await self._replies.keep(command.user_id, command.command_id, lines, at=self._clock.now())

    async def _person(self, user_id: str) -> Session:
        sessions = await self._sessions.of_user(user_id)
        return unsaved_session(user_id, sessions[0].tz if sessions else NO_ZONE, self._clock.now())
