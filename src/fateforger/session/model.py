"""Where one conversation stands: a frozen value that can be saved, restored and compared (S62)."""

from __future__ import annotations

from datetime import date as Date  # noqa: N812  the field is called ``date`` and would hide the type
from datetime import datetime, time
from enum import StrEnum
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from fateforger.constraints import Version
from fateforger.plan import TBPlan
from fateforger.quality import Fix, Quality
from fateforger.session.cards import Card
from fateforger.session.memory import MemoryQuestion, MemoryView, MemoryWrite, Recalled
from fateforger.session.views import HistoryView, PreviewView
from fateforger.stages import TimeboxingStage
from fateforger.sync.conflicts import Conflict
from fateforger.sync.model import Snapshot
from fateforger.tasks.modes import Mode
from fateforger.workflow.trace import Step

SCHEMA_VERSION = 1
_FROZEN = ConfigDict(frozen=True, extra="forbid")


CalendarWrite = Literal["refine", "okay", "commit"]
"""When blocks reach the calendar: with each change of Stage 4, from the moment on at which the plan is Okay, or only on
Commit (K1)."""


class FrameFacts(BaseModel):
    """The frame of the day (Stage 1): local times on the planned day. An end before the start means next day."""

    model_config = _FROZEN
    day_start: time = time(9, 0)
    day_end: time = time(18, 0)
    lunch_start: time | None = time(12, 30)
    lunch_minutes: int = Field(45, ge=0, le=240)
    confirmed: bool = False


class Depth(StrEnum):
    """How much undisturbed attention a task needs."""

    DEEP = "deep"
    SHALLOW = "shallow"


class Task(BaseModel):
    """Something to do. ``minutes`` may be left open; then it gets blocks of a usual length (S106)."""

    model_config = _FROZEN
    id: str
    title: str = Field(min_length=1, max_length=300)
    minutes: int | None = Field(None, gt=0, le=24 * 60)
    depth: Depth = Depth.DEEP
    one_thing: bool = False
    in_pieces: bool = False
    """It may be split where work of its kind and length would not be."""
    notes: str = Field("", max_length=3000)


class OfferedInput(BaseModel):
    """Something the person may want to do on this day as well. ``source`` says why: they left it for another day, the
    plan of ``day`` had no room for it, or it stands in their queue since that day (the task then has the id that it has
    there), or in TickTick; ``day`` is then the day it is offered for."""

    model_config = _FROZEN
    task: Task
    source: Literal["deferred", "unplaced", "queue", "ticktick"]
    day: Date


class InputFacts(BaseModel):
    """What is to be done (Stage 2), the most important first."""

    model_config = _FROZEN
    tasks: tuple[Task, ...] = ()


class Offer(BaseModel):
    """One way to make room for a task that found no place: leave it for another day, drop it, give it ``minutes`` only,
    do it in pieces, end the day at ``until``, or do without the constraint ``uid`` for the day."""

    model_config = _FROZEN
    way: Literal["defer", "drop", "shrink", "split", "extend", "set_aside"]
    minutes: int | None = None
    until: time | None = None
    uid: str | None = None


class Unplaced(BaseModel):
    """A task that found no place, why, and what can be done about it. ``task`` is what is left to do of it, when that
    is not the task of the list: a piece, or a block of the person's own."""

    model_config = _FROZEN
    task_id: str
    title: str
    reason: str
    offers: tuple[Offer, ...] = ()
    task: Task | None = None


class Clash(BaseModel):
    """Constraints ``uids`` that must be kept and cannot all be, no fewer of them; the draft does without
    ``let_go``."""

    model_config = _FROZEN
    uids: tuple[str, ...]
    let_go: tuple[str, ...]


class Sketch(BaseModel):
    """A model's draft of the day. ``basis`` is the fingerprint of what it was made from: it is only good for a session
    that still has the same. ``mended`` are sentences about blocks that were moved in it, because it broke a must.
    Without a ``plan``, ``trouble`` says why there is none, as a sentence."""

    model_config = _FROZEN
    basis: str
    plan: TBPlan | None = None
    mended: tuple[str, ...] = ()
    unplaced: tuple[Unplaced, ...] = ()
    trouble: str | None = None


class SyncReport(BaseModel):
    """What the last write to the calendar did, in counts and sentences."""

    model_config = _FROZEN
    status: Literal["changed", "unchanged", "partial", "failed", "undone"]
    created: int = 0
    updated: int = 0
    deleted: int = 0
    unchanged: int = 0
    unsure: bool = False
    """Something was sent of which nobody can say yet whether it arrived."""
    sentences: tuple[str, ...] = ()


class Question(BaseModel):
    """Something that both the person, on the calendar, and the plan changed (S201). While there is no ``answer`` the
    calendar keeps what it shows; an answer is carried out with the next write. ``shown`` tells that a card has asked
    it, so that the person knows both sides."""

    model_config = _FROZEN
    conflict: Conflict
    answer: Literal["calendar", "plan"] | None = None
    shown: bool = False


class Facts(BaseModel):
    """What else a change of the rest of the day alters, besides the plan."""

    model_config = _FROZEN
    frame: FrameFacts
    inputs: InputFacts
    deferred: tuple[Task, ...]
    unplaced: tuple[Unplaced, ...]
    draft_basis: str | None


class RefineUpdate(BaseModel):
    """An applied change that can be taken back: the plan before it, with the facts where it changed those as well, the
    questions it answered, and the transactions that wrote it, in order. A ``local`` one has nothing to write."""

    model_config = _FROZEN
    plan_before: TBPlan
    transactions: tuple[str, ...] = ()
    sentence: str
    answered: tuple[Question, ...] = ()
    local: bool = False
    facts_before: Facts | None = None


class Held(BaseModel):
    """A change of Stage 4 that was not made because it goes against what must be followed: the constraint ``uid``, of
    which the version ``seq`` was looked at. ``asked`` is the command that wanted it. It is made once that constraint
    does not count any more, if the plan is still the one before it."""

    model_config = _FROZEN
    asked: str
    uid: str
    seq: int
    step: RefineUpdate
    plan_after: TBPlan


class Written(BaseModel):
    """What the current write group did to the calendar so far, in counts."""

    model_config = _FROZEN
    created: int = 0
    updated: int = 0
    deleted: int = 0


class Notice(BaseModel):
    """What the last turn has to say, once, on its card: what it did, or why it did not."""

    model_config = _FROZEN
    lines: tuple[str, ...] = Field(min_length=1)
    refused: bool = False


class SessionStatus(StrEnum):
    ACTIVE = "active"
    CANCELLED = "cancelled"


class Session(BaseModel):
    """One person planning one day in one thread. ``version`` is counted by the store."""

    model_config = _FROZEN
    schema_version: int = SCHEMA_VERSION
    id: str
    version: int = 0
    user_id: str
    channel: str
    thread_ts: str | None = None
    created_at: datetime
    touched_at: datetime
    status: SessionStatus = SessionStatus.ACTIVE
    stage: TimeboxingStage = TimeboxingStage.DATE
    tz: str
    date: Date
    mode: Mode = Mode.DIRECT
    """Whether it was begun directly, or by pulling a task (S146)."""
    calendar_write: CalendarWrite = "refine"
    calendar_write_chosen: CalendarWrite | None = None
    """What the person chose themselves, which their next session begins with."""
    frame: FrameFacts = FrameFacts()
    inputs: InputFacts = InputFacts()
    deferred: tuple[Task, ...] = ()
    """What was left for another day."""
    offered: tuple[OfferedInput, ...] = ()
    """What could be done on this day as well, wherever it comes from."""
    offer_trouble: str | None = None
    """Why that is not all of it, as a sentence, when a list outside could not be read."""
    brought: tuple[str, ...] = ()
    """Ids of the tasks that were taken up from what was offered."""
    snapshot: Snapshot | None = None
    """The calendar as last read for ``date``: the source of immovables."""
    snapshot_error: str | None = None
    """Why the calendar could not be read, as a sentence, when it could not."""
    plan: TBPlan | None = None
    """The person's own blocks. Meetings are not in it; they come from the snapshot."""
    unplaced: tuple[Unplaced, ...] = ()
    clash: Clash | None = None
    """Why the draft does not follow all that must be followed."""
    draft_basis: str | None = None
    """Fingerprint of everything the draft was made from: another one means that it is stale (S46)."""
    sketch: Sketch | None = None
    """A draft that waits for Stage 3 (S44)."""
    overview: str | None = None
    """The skeleton as CommonMark (Stage 3)."""
    quality: Quality | None = None
    fixes: tuple[Fix, ...] = ()
    """What the card of Stage 4 offers to make the plan better."""
    refine_undo: tuple[RefineUpdate, ...] = ()
    """Applied changes that can still be taken back, the latest last."""
    held: Held | None = None
    """The change that the last turn did not make."""
    write_group: str | None = None
    """Transactions since the last whole undo share this group; Undo takes them all back."""
    written: Written | None = None
    """What that group did so far; ``None`` when nothing of it is on the calendar."""
    last_sync: SyncReport | None = None
    problem: str | None = None
    """What went wrong with the calendar and can be tried again, as a sentence."""
    questions: tuple[Question, ...] = ()
    """What the person and the plan both changed: asked, or answered and not carried out yet."""
    brakes: tuple[str, ...] = ()
    """Names of what stopped the last write until the person says yes; Try again then means yes."""
    notice: Notice | None = None
    """Said on the next card and then forgotten."""
    history: HistoryView | None = None
    """The history of the day, while the person has it open."""
    preview: PreviewView | None = None
    """What would be written, while the person has it open."""
    said: tuple[Version, ...] = ()
    """Constraints said in this thread, each version of them: those of the session live here only, lasting ones until a
    look into the store shows them (S2)."""
    set_aside: tuple[str, ...] = ()
    """Uids of constraints that do not count in this session (S22)."""
    recalled: Recalled | None = None
    """What the store knew that applies; ``None`` while it was not asked."""
    memory: MemoryView | None = None
    """The memory card, while the person has it open."""
    memory_writes: tuple[MemoryWrite, ...] = ()
    """What was written into memory from here and can be taken back, the latest last."""
    memory_questions: tuple[MemoryQuestion, ...] = ()
    """Contradicting constraints that only the person can decide about."""
    trace: tuple[Step, ...] = ()
    """What was done lately, as rules are judged on it (:mod:`fateforger.session.guard`)."""
    root_line: str | None = None
    """The first message's line as last sent, so that it is sent again only when it changes."""
    handled: tuple[str, ...] = ()
    """Ids of the commands that led here, the latest last: a repeated command is recognised by them."""

    def touched(self, command_id: str, at: datetime) -> Session:
        """The session after handling a command; the last 50 ids are remembered."""
        return self.model_copy(update={"handled": (*self.handled, command_id)[-50:], "touched_at": at})


class Outgoing(BaseModel):
    """A message that a session owes the person.

    ``slot`` names the message: the slot ``root`` starts the thread; a slot that was sent before is updated in place
    when it is still the latest message of the thread, otherwise sent anew. ``retire`` names slots whose controls
    are to be taken away; they show ``farewell`` from then on, or keep their text when there is none; its own slot
    among them means its message from before, should this one be sent anew. ``stays`` updates it where it is, whatever
    came after it. A message ``beside`` the plan does not count as the latest. ``ephemeral_to`` makes it visible to
    that person only.
    """

    model_config = _FROZEN
    id: str
    session_id: str
    channel: str
    slot: str
    card: Card
    retire: tuple[str, ...] = ()
    farewell: Card | None = None
    stays: bool = False
    beside: bool = False
    ephemeral_to: str | None = None
