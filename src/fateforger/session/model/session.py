"""One person planning one day in one thread, and the messages that it owes them."""

from __future__ import annotations

from datetime import date as Date  # noqa: N812  the field is called ``date`` and would hide the type
from datetime import datetime
from enum import StrEnum

from pydantic import BaseModel, ConfigDict, Field

from fateforger.constraints import Version
from fateforger.plan import TBPlan
from fateforger.quality import Fix, Quality
from fateforger.session.cards import Card
from fateforger.session.memory import MemoryQuestion, MemoryView, MemoryWrite, Recalled
from fateforger.session.model.changes import CalendarWrite, Held, Question, RefineUpdate, SyncReport, Weighed, Written
from fateforger.session.model.facts import CaughtUp, Clash, FrameFacts, InputFacts, OfferedInput, Sketch, Task, Unplaced
from fateforger.session.views import HistoryView, PreviewView
from fateforger.stages import TimeboxingStage
from fateforger.sync.model import Snapshot
from fateforger.tasks.modes import Mode
from fateforger.workflow.trace import Step

_FROZEN = ConfigDict(frozen=True, extra="forbid")
LONGEST_SAID = 1200
"""Characters of the last words that are kept."""


class SessionStatus(StrEnum):
    ACTIVE = "active"
    CANCELLED = "cancelled"


class Notice(BaseModel):
    """What the last turn has to say, once, on its card: what it did, or why it did not."""

    model_config = _FROZEN
    lines: tuple[str, ...] = Field(min_length=1)
    refused: bool = False


class LastWords(BaseModel):
    """What the bot said last, in words; ``asks`` tells that it stands on the card as a question or a remark, and is no
    mere answer or refusal. What the person wrote is not kept: there may be a secret in it."""

    model_config = _FROZEN
    bot: str = Field(min_length=1, max_length=LONGEST_SAID)
    asks: bool = True

    @classmethod
    def of(cls, bot: str, *, asks: bool = True) -> LastWords:
        """Return the words, cut to their bounds."""
        return cls(bot=bot[:LONGEST_SAID], asks=asks)


class Session(BaseModel):
    """One person planning one day in one thread. ``version`` is counted by the store."""

    model_config = _FROZEN
    schema_version: int = 1
    """Kept because the sessions of earlier versions have it; the store counts the shape of its rows itself."""
    id: str
    version: int = 0
    user_id: str
    channel: str
    thread_ts: str | None = None
    created_at: datetime
    touched_at: datetime
    now: datetime | None = None
    """The clock of the latest turn: what lies before it is past (K11). ``None``: nobody looked at the clock yet."""
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
    settled: tuple[str, ...] = ()
    """Ids of what the person said is done, or not wanted any more; no other day asks about it."""
    caught_up: CaughtUp | None = None
    """The last catching up with missed days, which can be taken back."""
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
    drafted_at: datetime | None = None
    """The clock when the plan was drafted, from which on its day was filled."""
    put_in_past: tuple[str, ...] = ()
    """Keys of blocks that the person put where they lie when that was past already."""
    weighed: Weighed | None = None
    """The rules and meetings that the plan was made from or mended for (:mod:`fateforger.session.arrivals`); ``None``
    where that is not known."""
    overrun: tuple[str, ...] = ()
    """Blocks that a meeting came upon, each with the meeting's id; a commit asks about those that still overlap."""
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
    last_words: LastWords | None = None
    """What the bot said last, while the person has not answered or done anything else."""
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

    def at_time(self, now: datetime) -> Session:
        """Return the session as it is at that instant."""
        return self.model_copy(update={"now": now})

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
