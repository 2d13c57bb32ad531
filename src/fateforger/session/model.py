"""State of one conversation: a frozen value that can be saved, restored, and compared (S62)."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date as Date  # noqa: N812  the field is called ``date`` and would hide the type
from datetime import datetime, time
from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, model_validator

from fateforger.calendar.conflicts import Conflict
from fateforger.calendar.model import Snapshot
from fateforger.limits import (
    MAX_CRITERIA,
    MAX_CRITERION_CHARS,
    MAX_GOAL_CHARS,
    MAX_GOALS,
    MAX_MINUTES,
    MAX_NOTES_CHARS,
    MAX_TITLE_CHARS,
)
from fateforger.memory.versions import Version
from fateforger.planning.plan import TBPlan
from fateforger.planning.task_details import TaskDetails, read_depth
from fateforger.quality.model import Fix
from fateforger.session.cards import Feedback
from fateforger.session.memory import AllowedMeeting, MemoryQuestion, MemoryToolResult, MemoryWrite, RecalledConstraints
from fateforger.session.messages import CHANGE, Exchange, HistoryView, LastWords, Notice, PreviewView, SyncReport
from fateforger.session.stages import TimeboxingStage
from fateforger.tasks.durations import BegunTask, Estimate
from fateforger.tasks.task import Mode
from fateforger.text import current_language
from fateforger.values import Value, replace
from fateforger.workflow.trace import Step


class Task(Value):
    """A task of the day.

    Without ``minutes`` it gets blocks of a usual length (S106).
    """

    id: str
    title: str = Field(min_length=1, max_length=MAX_TITLE_CHARS)
    minutes: int | None = Field(None, gt=0, le=MAX_MINUTES)
    details: TaskDetails = TaskDetails()
    one_thing: bool = False
    notes: str = Field("", max_length=MAX_NOTES_CHARS)
    done_when: tuple[Annotated[str, Field(min_length=1, max_length=MAX_CRITERION_CHARS)], ...] = Field(
        (), max_length=MAX_CRITERIA
    )
    """Success criteria, two or three that can be verified (S209)."""
    length_settled: bool = False
    """True when the person answered that its minutes are right, or took others that were proposed."""
    _stored = model_validator(mode="before")(read_depth)


class FrameFacts(Value):
    """Frame of the day (Stage 1), in local times on the planned day.

    An end before the start is on the next day. ``usual_start`` and ``usual_end`` are those of other days, kept while
    the person gives another one for this day. Where a part is not ``_given`` for this day, their rules count before it
    (:func:`fateforger.session.frame.frame_in_force`). When the day ``fills``, no time has to stay free.
    """

    day_start: time = time(9, 0)
    day_end: time = time(18, 0)
    lunch_start: time | None = time(12, 30)
    lunch_minutes: int = Field(45, ge=0, le=240)
    start_given: bool = False
    end_given: bool = False
    lunch_given: bool = False
    confirmed: bool = False
    usual_start: time | None = None
    usual_end: time | None = None
    fills: bool = False


class OfferedInput(Value):
    """A task that the person may want to do on this day as well.

    ``source`` tells its origin: the person deferred it; the plan of ``day`` had no room for it, or planned it without
    a word on the outcome; it is in the queue since that day (with its id there); or it is in TickTick, and ``day`` is
    the day it is offered for.
    """

    task: Task
    source: Literal["deferred", "unplaced", "planned", "queue", "ticktick"]
    day: Date
    for_day: Date | None = None
    """Day for which the person put it into the queue."""
    origin: str = ""
    """Description of its source, such as the day that gave it."""


class SentTask(Value):
    """A task that the person gave to another day, as it was on this one.

    ``place`` is the id of the session or of the queued task that has it now; empty until it has arrived. A ``settled``
    one is on the calendar there, so it can no longer be taken back here. With ``plan`` it went with the whole plan.
    """

    task: Task
    day: Date
    place: str = ""
    settled: bool = False
    plan: bool = False
    begun: bool = False
    """True if the thread that has it was begun for it."""


class CatchUp(Value):
    """Missed days, caught up with in one step.

    ``things`` are their open tasks; those that are not ``brought`` are settled.
    """

    things: tuple[OfferedInput, ...]
    brought: tuple[str, ...]


class BlockPlan(Value):
    """Deep work that the person wants on this day: the most blocks, and their minutes; the usual ones where open."""

    deep_blocks: int | None = Field(None, ge=1, le=12)
    minutes: int | None = Field(None, ge=30, le=240)


class ReturnedTask(Value):
    """Open task of a missed day, and the task of the queue that holds it now; ``added`` if it was not there before."""

    id: str
    queued: str
    added: bool


class ReturnedWork(Value):
    """Work that went from a missed day to the queue by itself; ``undone`` if the person took that back."""

    tasks: tuple[ReturnedTask, ...] = ()
    undone: bool = False


class InputFacts(Value):
    """Tasks of the day (Stage 2), the most important first; what the day is for, and its blocks of deep work."""

    tasks: tuple[Task, ...] = ()
    goals: tuple[Annotated[str, Field(min_length=1, max_length=MAX_GOAL_CHARS)], ...] = Field((), max_length=MAX_GOALS)
    blocks: BlockPlan = BlockPlan()


class Offer(Value):
    """One option for a task that found no place.

    Leave it for another day, drop it, shrink it to ``minutes``, split it, end the day at ``until``, relax the
    constraint ``uid`` for the day, or fill the day. ``cost`` says what else it takes, such as the
    place of another task.
    """

    way: Literal["defer", "drop", "shrink", "split", "extend", "set_aside", "fill"]
    minutes: int | None = None
    until: time | None = None
    uid: str | None = None
    cost: str = ""


class Unplaced(Value):
    """A task that found no place, with the reason and its options.

    ``task`` is the rest of it, when that is not the task of the list: a piece, or a block of the person's own.
    """

    task_id: str
    title: str
    reason: str
    offers: tuple[Offer, ...] = ()
    task: Task | None = None


class Clash(Value):
    """A minimal set ``uids`` of musts that cannot all be kept; the draft relaxes ``let_go``."""

    uids: tuple[str, ...]
    let_go: tuple[str, ...]


class Sketch(Value):
    """A model's draft of the day.

    ``basis`` is the fingerprint of its inputs; the draft is only valid while the session's is the same. ``mended``
    are sentences about blocks that were moved because it broke a must. Without a ``plan``, ``trouble`` is a sentence
    on why there is none.
    """

    basis: str
    plan: TBPlan | None = None
    mended: tuple[str, ...] = ()
    unplaced: tuple[Unplaced, ...] = ()
    trouble: str | None = None


class Facts(Value):
    """Facts that a change of the rest of the day alters besides the plan."""

    frame: FrameFacts
    inputs: InputFacts
    deferred: tuple[Task, ...]
    unplaced: tuple[Unplaced, ...]
    settled: tuple[str, ...] = ()
    sent: tuple[SentTask, ...] = ()
    draft_basis: str | None


CalendarWrite = Literal["refine", "okay", "commit"]
"""Time at which blocks reach the calendar.

They are written with each change of Stage 4, once the plan is Okay, or only on Commit (K1).
"""


class Question(Value):
    """A difference between the calendar and the plan that both sides changed (S201).

    Without an ``answer`` the calendar keeps its state; an answer is carried out with the next write. ``shown`` means
    that a card has asked it, so that the person knows both sides.
    """

    conflict: Conflict
    answer: Literal["calendar", "plan"] | None = None
    shown: bool = False


class RefineUpdate(Value):
    """An applied change that can be undone.

    It holds the plan before it (and the facts, if it changed those), the questions it answered, and the transactions
    that wrote it, in order. A ``local`` change has nothing to write. ``placed`` are the blocks that the person put
    where they want them, ``set_aside`` the uids of constraints that do not count for the day because of it.
    """

    plan_before: TBPlan
    transactions: tuple[str, ...] = ()
    sentence: str
    answered: tuple[Question, ...] = ()
    local: bool = False
    facts_before: Facts | None = None
    placed: tuple[str, ...] = ()
    set_aside: tuple[str, ...] = ()


class UndoneChange(Value):
    """A change that was undone: the change itself, the plan with it, and the facts with it if it changed those."""

    step: RefineUpdate
    plan_after: TBPlan
    facts_after: Facts | None = None


MEETINGS = "meetings"
"""Placeholder for the uid of a constraint where only meetings are in the way."""


class HeldChange(Value):
    """A change or write that needs one approval, because it violates a rule or hits meetings.

    ``uid`` is the constraint, in the version ``seq`` that was checked, or :data:`MEETINGS`. ``asked`` is the command
    that requested it.

    Without ``writes`` it is a change of Stage 4, made once that constraint does not count any more, if the plan is
    still the one before it. Otherwise it is the commit of ``plan_after``, or its write with a change of Stage 4.
    ``also`` are the uids of further constraints that the same approval relaxes for the day. ``meetings`` are the
    double bookings that it allows, as in :attr:`Planning.overrun`.
    """

    asked: str
    uid: str
    seq: int
    step: RefineUpdate
    plan_after: TBPlan
    writes: Literal["commit", "change"] | None = None
    also: tuple[str, ...] = ()
    meetings: tuple[str, ...] = ()
    asks: tuple[str, ...] = ()
    """Rules that only the person can judge, as in :attr:`CheckedInputs.rules`; a yes says that the plan keeps them."""
    unfinished: bool = False
    """True where only something of a good day is missing, so that the next commit goes through (S208)."""


class CheckedInputs(Value):
    """Rules and meetings that a plan was checked against: constraints by uid and instant, meetings by id and times."""

    rules: tuple[str, ...] = ()
    meetings: tuple[str, ...] = ()


class WriteCounts(Value):
    """Effects of the current write group on the calendar so far, in counts."""

    created: int = 0
    updated: int = 0
    deleted: int = 0


class SessionStatus(StrEnum):
    ACTIVE = "active"
    CANCELLED = "cancelled"


class Options(Value):
    """Choices of the person for one session."""

    mode: Mode = "direct"
    """Mode in which it was started: directly, or by pulling a task (S146)."""
    calendar_write: CalendarWrite = "refine"
    language: str = Field(default_factory=current_language)
    """Code of the language of the thread's cards."""
    language_chosen: bool = False
    """True if the person chose it, so that it does not follow what they write."""
    calendar_write_chosen: CalendarWrite | None = None
    """The person's own choice, which their next session begins with."""


class DayInputs(Value):
    """Facts that the day is planned from: its frame, its tasks, and the calendar."""

    frame: FrameFacts = FrameFacts()
    inputs: InputFacts = InputFacts()
    snapshot: Snapshot | None = None
    """Calendar as last read for the date: the source of immovables."""
    released: tuple[str, ...] = ()
    """Ids of events that this program wrote and that were left to the person, as of the snapshot."""
    snapshot_error: str | None = None
    """Reason that the calendar could not be read, as a sentence, when it could not."""
    estimates: tuple[Estimate, ...] = ()
    """Estimates of how long the person's tasks take, by kind."""


class OpenWork(Value):
    """Tasks left for other days, and tasks of other days."""

    deferred: tuple[Task, ...] = ()
    """Tasks left for another day."""
    sent: tuple[SentTask, ...] = ()
    """Tasks given to another day, which has them now."""
    planned_days: tuple[Date, ...] = ()
    """Other days that have a thread, as far as the last turn of Refine knew."""
    offered: tuple[OfferedInput, ...] = ()
    """Tasks that could be done on this day as well, from any source."""
    offer_trouble: str | None = None
    """Reason that the offers are incomplete, as a sentence, when an outside list could not be read."""
    brought: tuple[str, ...] = ()
    """Ids of the offered tasks that were taken on."""
    settled: tuple[str, ...] = ()
    """Ids of tasks that the person said are done or not wanted; no other day asks about them."""
    caught_up: CatchUp | None = None
    """Last catch-up with missed days, which can be undone."""
    returned: ReturnedWork | None = None
    """Open work that went to the queue when the day was over; ``None`` until then."""


class Planning(Value):
    """The plan, with what its draft and its checks found."""

    plan: TBPlan | None = None
    """The person's own blocks. Meetings come from the snapshot."""
    unplaced: tuple[Unplaced, ...] = ()
    clash: Clash | None = None
    """Reason that the draft does not keep all musts."""
    draft_basis: str | None = None
    """Fingerprint of all inputs of the draft; another one means that the draft is stale (S46)."""
    drafted_at: datetime | None = None
    """Instant of the draft; its day was filled from there on."""
    quick: bool = False
    """True where a plan is shown after a short search, because a better one follows in the background."""
    rough: bool = False
    """True while the plan is the result of a short search."""
    put_in_past: tuple[str, ...] = ()
    """Keys of blocks that the person placed at times already past."""
    begun: tuple[BegunTask, ...] = ()
    """Tasks on the calendar whose time has begun, with their minutes as planned then."""
    weighed: CheckedInputs | None = None
    """Rules and meetings that the plan was checked against (:mod:`fateforger.session.checks`).

    ``None`` where that is unknown.
    """
    overrun: tuple[str, ...] = ()
    """Blocks overlapped by a later meeting, each with the meeting's id.

    A commit asks about those that still overlap.
    """
    sketch: Sketch | None = None
    """A model's draft waiting for Stage 3 (S44)."""
    overview: str | None = None
    """Skeleton as CommonMark (Stage 3)."""
    fixes: tuple[Fix, ...] = ()
    """Fixes that the card of Stage 4 offers."""


class SyncState(Value):
    """Changes of the plan, and the writes to the calendar that they led to."""

    refine_undo: tuple[RefineUpdate, ...] = ()
    """Applied changes that can still be undone, the latest last."""
    undone: tuple[UndoneChange, ...] = ()
    """Changes that were undone, the latest last; see :mod:`fateforger.session.undone`."""
    held: HeldChange | None = None
    """Change that the last turn held back."""
    write_group: str | None = None
    """Group of the transactions since the last complete undo; Undo reverses them all."""
    written: WriteCounts | None = None
    """Effects of that group so far; ``None`` when nothing of it is on the calendar."""
    last_sync: SyncReport | None = None
    problem: str | None = None
    """Calendar problem after which a retry makes sense, as a sentence."""
    questions: tuple[Question, ...] = ()
    """Differences that the person and the plan both changed: open, or answered and not carried out."""
    brakes: tuple[str, ...] = ()
    """Names of the safety checks that stopped the last write; Try again then means approval."""
    asked_to_finish: bool = False
    """True once a commit of this day has asked about what a good day still lacks; none asks again (S208)."""


class RuleState(Value):
    """Constraints that this conversation knows, and its own changes of them."""

    said: tuple[Version, ...] = ()
    """Every version of the constraints stated in this thread.

    Those of the session exist only here, lasting ones until the store has them (S2).
    """
    set_aside: tuple[str, ...] = ()
    """Uids of constraints that do not count in this session (S22)."""
    allowed: tuple[AllowedMeeting, ...] = ()
    """Meetings that may break a constraint, each on its day; also those that the person was told of and went on."""
    kept: tuple[str, ...] = ()
    """Musts that the person said this day's plan keeps, as in :attr:`CheckedInputs.rules`."""
    recalled: RecalledConstraints | None = None
    """Applicable constraints from the store; ``None`` until it was asked."""
    memory_writes: tuple[MemoryWrite, ...] = ()
    """Memory writes of this session that can be undone, the latest last."""
    memory_questions: tuple[MemoryQuestion, ...] = ()
    """Contradicting constraints that only the person can decide about."""


class ThreadState(Value):
    """Contents of the thread: what was said last, which cards are open, and which commands were handled."""

    notice: Notice | None = None
    """Shown on the next card and then dropped."""
    last_words: LastWords | None = None
    """The bot's last words, until the person answers or does something else."""
    exchanges: tuple[Exchange, ...] = ()
    """Last exchanges, the latest last."""
    feedback: Feedback | None = None
    """Thumbs for the last turn, if a model contributed to it."""
    history: HistoryView | None = None
    """History of the day, while the person has it open."""
    preview: PreviewView | None = None
    """Preview of the next write, while the person has it open."""
    memory: MemoryToolResult | None = None
    """Memory card, while the person has it open."""
    root_line: str | None = None
    """The first message's line as last sent, so that it is sent again only when it changes."""
    named: bool = False
    """True when the person chose the title of the thread in Slack, which then stays."""
    trace: tuple[Step, ...] = ()
    """Latest steps, as rules are checked on them (:mod:`fateforger.session.gate`)."""
    handled: tuple[str, ...] = ()
    """Ids of the commands handled so far, the latest last, to detect repeated commands."""


class Session(Value):
    """One person planning one day in one thread.

    Its state is in groups, each changed by the ``with_`` method of its name; mypy checks the names and types of the
    changes (``scripts/mypy_replace.py``). ``version`` is counted by the store.
    """

    schema_version: int = 2
    """Version 1 had the fields of all groups side by side; it is read as well."""
    id: str
    version: int = 0
    user_id: str
    channel: str
    thread_ts: str | None = None
    created_at: datetime
    touched_at: datetime
    now: datetime | None = None
    """Instant of the latest turn: time before it is past (K11).

    ``None`` until a turn reads the clock.
    """
    status: SessionStatus = SessionStatus.ACTIVE
    stage: TimeboxingStage = TimeboxingStage.DATE
    tz: str
    date: Date
    options: Options = Options()
    day: DayInputs = DayInputs()
    open_work: OpenWork = OpenWork()
    planning: Planning = Planning()
    sync: SyncState = SyncState()
    rules: RuleState = RuleState()
    thread: ThreadState = ThreadState()

    @model_validator(mode="before")
    @classmethod
    def _read_earlier(cls, document: Any) -> Any:
        """Move the fields of a session of version 1 into their groups. A stored grade is dropped: it is computed."""
        if not isinstance(document, dict):
            return document
        if isinstance(planning := document.get("planning"), dict) and "quality" in planning:
            document = {**document, "planning": {name: planning[name] for name in planning if name != "quality"}}
        if document.get("schema_version") != 1:
            return document
        flat = {name: document[name] for name in document if name != "quality"} | {"schema_version": 2}
        groups = {
            group: {name: flat.pop(name) for name in kind.model_fields if name in flat}
            for group, kind in _GROUPS.items()
        }
        return {**flat, **groups}

    def with_options(self, **changes: Any) -> Session:
        return replace(self, options=replace(self.options, **changes))

    def with_day(self, **changes: Any) -> Session:
        return replace(self, day=replace(self.day, **changes))

    def with_open_work(self, **changes: Any) -> Session:
        return replace(self, open_work=replace(self.open_work, **changes))

    def with_planning(self, **changes: Any) -> Session:
        return replace(self, planning=replace(self.planning, **changes))

    def with_sync(self, **changes: Any) -> Session:
        return replace(self, sync=replace(self.sync, **changes))

    def with_rules(self, **changes: Any) -> Session:
        return replace(self, rules=replace(self.rules, **changes))

    def with_thread(self, **changes: Any) -> Session:
        return replace(self, thread=replace(self.thread, **changes))

    @property
    def notice_lines(self) -> tuple[str, ...]:
        return () if self.thread.notice is None else self.thread.notice.lines

    @property
    def is_open(self) -> bool:
        return self.status is SessionStatus.ACTIVE

    @property
    def reports_change(self) -> bool:
        """Check whether the card reports a change of the plan that can be undone."""
        notice = self.thread.notice
        return notice is not None and not notice.refused and notice.code == CHANGE and bool(self.sync.refine_undo)

    def with_notice(self, *lines: str, code: str = "", draft: tuple[str, ...] = ()) -> Session:
        """Return the session with these lines as its notice; without a notice if there are none."""
        return self.with_thread(notice=Notice(lines=lines, code=code, draft=draft) if lines else None)

    def say(self, *lines: str, code: str = "") -> Session:
        """Return the session with lines added as by :meth:`remark`. A refusal becomes an ordinary notice."""
        if not lines:
            return self
        said = self.remark(*lines)
        notice = said.thread.notice or Notice(lines=lines)
        return said.with_thread(notice=replace(notice, refused=False, code=code or notice.code))

    def remark(self, *lines: str) -> Session:
        """Return the session with lines added to its notice, those that are new to it. A refusal stays one."""
        known = self.notice_lines
        new = tuple(line for line in dict.fromkeys(lines) if line not in known)
        if not new:
            return self
        notice = self.thread.notice or Notice(lines=new)
        return self.with_thread(notice=replace(notice, lines=(*known, *new)))

    def refuse(self, *lines: str, code: str = "") -> Session:
        """Return the session, otherwise unchanged, with the reasons why it does not do something."""
        return self.with_thread(notice=Notice(lines=lines, refused=True, code=code))

    def at_time(self, now: datetime) -> Session:
        return replace(self, now=now)

    def after_command(self, command_id: str, at: datetime) -> Session:
        """Return the session after handling a command; the last 50 ids are kept."""
        return replace(self, touched_at=at).with_thread(handled=(*self.thread.handled, command_id)[-50:])


_GROUPS: Mapping[str, type[BaseModel]] = {
    "options": Options,
    "day": DayInputs,
    "open_work": OpenWork,
    "planning": Planning,
    "sync": SyncState,
    "rules": RuleState,
    "thread": ThreadState,
}
