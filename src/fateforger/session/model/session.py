"""Session of one person planning one day in one thread, and its outgoing messages."""

from __future__ import annotations

from datetime import date as Date  # noqa: N812  the field is called ``date`` and would hide the type
from datetime import datetime
from enum import StrEnum

from pydantic import BaseModel, ConfigDict, Field

from fateforger.constraints import Version
from fateforger.plan import TBPlan
from fateforger.quality import Fix, Quality
from fateforger.session.cards import Card
from fateforger.session.memory import MemoryQuestion, MemoryView, MemoryWrite, RecalledConstraints
from fateforger.session.model.changes import (
    CalendarWrite,
    CheckedInputs,
    HeldChange,
    Question,
    RefineUpdate,
    SyncReport,
    WriteCounts,
)
from fateforger.session.model.facts import CatchUp, Clash, FrameFacts, InputFacts, OfferedInput, Sketch, Task, Unplaced
from fateforger.session.views import HistoryView, PreviewView
from fateforger.stages import TimeboxingStage
from fateforger.sync.model import Snapshot
from fateforger.tasks.modes import Mode
from fateforger.values import replace
from fateforger.workflow.trace import Step

_FROZEN = ConfigDict(frozen=True, extra="forbid")
LONGEST_SAID = 1200
"""Most characters kept of the last words."""


class SessionStatus(StrEnum):
    ACTIVE = "active"
    CANCELLED = "cancelled"


class Notice(BaseModel):
    """Message of the last turn, shown once on its card: what it did, or why it did not."""

    model_config = _FROZEN
    lines: tuple[str, ...] = Field(min_length=1)
    refused: bool = False


class LastWords(BaseModel):
    """Last words of the bot.

    ``asks`` means that they are on the card as a question or a remark, not as a mere answer or refusal. The person's
    words are not kept, because they may contain a secret.
    """

    model_config = _FROZEN
    bot: str = Field(min_length=1, max_length=LONGEST_SAID)
    asks: bool = True

    @classmethod
    def of(cls, bot: str, *, asks: bool = True) -> LastWords:
        """Return the words, cut to their limit."""
        return cls(bot=bot[:LONGEST_SAID], asks=asks)


class Session(BaseModel):
    """One person planning one day in one thread.

    ``version`` is counted by the store.
    """

    model_config = _FROZEN
    schema_version: int = 1
    """Kept because the sessions of earlier versions have it; the store versions its rows itself."""
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
    mode: Mode = Mode.DIRECT
    """Mode in which it was started: directly, or by pulling a task (S146)."""
    calendar_write: CalendarWrite = "refine"
    calendar_write_chosen: CalendarWrite | None = None
    """The person's own choice, which their next session begins with."""
    frame: FrameFacts = FrameFacts()
    inputs: InputFacts = InputFacts()
    deferred: tuple[Task, ...] = ()
    """Tasks left for another day."""
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
    snapshot: Snapshot | None = None
    """Calendar as last read for ``date``: the source of immovables."""
    snapshot_error: str | None = None
    """Reason that the calendar could not be read, as a sentence, when it could not."""
    plan: TBPlan | None = None
    """The person's own blocks. Meetings come from the snapshot."""
    unplaced: tuple[Unplaced, ...] = ()
    clash: Clash | None = None
    """Reason that the draft does not keep all musts."""
    draft_basis: str | None = None
    """Fingerprint of all inputs of the draft; another one means that the draft is stale (S46)."""
    drafted_at: datetime | None = None
    """Instant of the draft; its day was filled from there on."""
    put_in_past: tuple[str, ...] = ()
    """Keys of blocks that the person placed at times already past."""
    weighed: CheckedInputs | None = None
    """Rules and meetings that the plan was checked against (:mod:`fateforger.session.arrivals`).

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
    quality: Quality | None = None
    fixes: tuple[Fix, ...] = ()
    """Fixes that the card of Stage 4 offers."""
    refine_undo: tuple[RefineUpdate, ...] = ()
    """Applied changes that can still be undone, the latest last."""
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
    notice: Notice | None = None
    """Shown on the next card and then dropped."""
    last_words: LastWords | None = None
    """The bot's last words, until the person answers or does something else."""
    history: HistoryView | None = None
    """History of the day, while the person has it open."""
    preview: PreviewView | None = None
    """Preview of the next write, while the person has it open."""
    said: tuple[Version, ...] = ()
    """Every version of the constraints stated in this thread.

    Those of the session exist only here, lasting ones until the store has them (S2).
    """
    set_aside: tuple[str, ...] = ()
    """Uids of constraints that do not count in this session (S22)."""
    recalled: RecalledConstraints | None = None
    """Applicable constraints from the store; ``None`` until it was asked."""
    memory: MemoryView | None = None
    """Memory card, while the person has it open."""
    memory_writes: tuple[MemoryWrite, ...] = ()
    """Memory writes of this session that can be undone, the latest last."""
    memory_questions: tuple[MemoryQuestion, ...] = ()
    """Contradicting constraints that only the person can decide about."""
    trace: tuple[Step, ...] = ()
    """Latest steps, as rules are checked on them (:mod:`fateforger.session.guard`)."""
    root_line: str | None = None
    """The first message's line as last sent, so that it is sent again only when it changes."""
    handled: tuple[str, ...] = ()
    """Ids of the commands handled so far, the latest last, to detect repeated commands."""

    def at_time(self, now: datetime) -> Session:
        """Return the session as of that instant."""
        return replace(self, now=now)

    def after_command(self, command_id: str, at: datetime) -> Session:
        """Return the session after handling a command; the last 50 ids are kept."""
        return replace(self, handled=(*self.handled, command_id)[-50:], touched_at=at)


class Outgoing(BaseModel):
    """A message that the session owes the person.

    ``slot`` names the message. The slot ``root`` starts the thread. A slot that was sent before is updated in place
    while it is the latest message of the thread, otherwise sent again. ``retire`` names slots whose controls are
    removed; they then show ``farewell``, or keep their text without one. If its own slot is among them, its earlier
    message is meant, in case this one is sent again. ``stays`` updates it in place, even when later messages follow.
    A message with ``beside`` does not count as the latest. ``ephemeral_to`` makes it visible to that person only.
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
