"""What goes into a turn and what comes out. Frozen, and as JSON and back without loss, so a turn can be replayed."""

from __future__ import annotations

from datetime import date as Date  # noqa: N812  the field is called ``date`` elsewhere
from datetime import datetime
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from fateforger.constraints import Version
from fateforger.plan import TBPlan
from fateforger.session.commands import SessionCommand
from fateforger.session.memory import Recalled
from fateforger.session.model import LastWords, OfferedInput, Question, Session
from fateforger.session.pending import WaitingProposal
from fateforger.stages import Move, StageGateOutput
from fateforger.sync.model import Snapshot

_FROZEN = ConfigDict(frozen=True, extra="forbid")


class DayReading(BaseModel):
    """A look at the calendar. Either a snapshot, or why there is none; ``plan`` is the session's plan with what the
    person changed about our blocks on the calendar, and ``noticed`` says so in sentences (S202, S242). ``questions``
    are those of the session as the look leaves them; ``None``: as they were."""

    model_config = _FROZEN
    snapshot: Snapshot | None = None
    error: str | None = None
    plan: TBPlan | None = None
    noticed: tuple[str, ...] = ()
    questions: tuple[Question, ...] | None = None


class MemoryReading(BaseModel):
    """A look into the store of constraints: what the session is to know of them, or why that cannot be told; with both
    it is from an earlier look, or not all of it. ``said`` is what of the session's own the store does not show yet.
    ``versions`` are all versions of all of the person's, where a command may be about any of them; ``near`` are the
    uids of those whose words are near to a message, when there are too many to show; ``wrote`` is what the deed that a
    command wants to take back wrote, when it asks for that."""

    model_config = _FROZEN
    recalled: Recalled | None = None
    said: tuple[Version, ...] | None = None
    versions: tuple[Version, ...] = ()
    near: tuple[str, ...] = ()
    wrote: tuple[Version, ...] = ()
    error: str | None = None


class TurnInput(BaseModel):
    """All that a turn knows (S108). ``reading`` is missing when the command needs no fresh look at the day, or when
    the calendar did not answer in time; ``memory`` when nothing is remembered here. A message that was read before may
    stand for several commands: ``rest`` are those after the first, ``lines`` are to be said in the end, and
    ``last_words`` are what the person may answer next; ``proposals`` are those of agents that wait in the thread.
    ``offered`` is what could be done on that day as well; ``None``: as the session knows it. ``offer_trouble`` says why
    that is not all."""

    model_config = _FROZEN
    session: Session
    command: Annotated[SessionCommand, Field(discriminator="kind")]
    rest: tuple[Annotated[SessionCommand, Field(discriminator="kind")], ...] = ()
    lines: tuple[str, ...] = ()
    last_words: LastWords | None = None
    proposals: tuple[WaitingProposal, ...] = ()
    reading: DayReading | None = None
    memory: MemoryReading | None = None
    offered: tuple[OfferedInput, ...] | None = None
    offer_trouble: str | None = None

    @property
    def now(self) -> datetime:
        return self.command.at


class ReadCalendar(BaseModel):
    """Look at the day in the background. With ``wait`` the reply waits for it, but not for long."""

    model_config = _FROZEN
    kind: Literal["read_calendar"] = "read_calendar"
    day: Date
    tz: str
    wait: bool
    fresh: bool = False
    """Do not be content with a reading that was made a moment ago."""


class WriteCalendar(BaseModel):
    """Make the calendar show the session's plan."""

    model_config = _FROZEN
    kind: Literal["write_calendar"] = "write_calendar"
    group: str
    commit: bool
    """Whether this is the Commit of Stage 5, and not one change of Stage 4."""


class UndoUpdate(BaseModel):
    """Take back the last change of Stage 4 on the calendar; ``transactions`` are those that wrote it, in order."""

    model_config = _FROZEN
    kind: Literal["undo_update"] = "undo_update"
    transactions: tuple[str, ...]


class UndoGroup(BaseModel):
    """Take back everything written since the group began."""

    model_config = _FROZEN
    kind: Literal["undo_group"] = "undo_group"
    group: str


class ReadHistory(BaseModel):
    """Open the history of the day, or list ``more`` of it. ``asked`` is the click that asked for it."""

    model_config = _FROZEN
    kind: Literal["read_history"] = "read_history"
    asked: str
    more: bool = False


class GoBack(BaseModel):
    """Take back a transaction of the day and what came after it, if ``newest`` is still the newest write."""

    model_config = _FROZEN
    kind: Literal["go_back"] = "go_back"
    transaction: str
    newest: str
    redo: bool


class Preview(BaseModel):
    """Find out what would be written now, and write nothing."""

    model_config = _FROZEN
    kind: Literal["preview"] = "preview"
    asked: str
    at: datetime


class DraftDay(BaseModel):
    """Let a model draft the day, where there is one; our own draft is in the session already, and stays if it fails.
    ``over`` is the plan that the draft takes the place of. ``another``: not one that was made before."""

    model_config = _FROZEN
    kind: Literal["draft_day"] = "draft_day"
    over: TBPlan | None
    another: bool


class WriteMemory(BaseModel):
    """Write versions of constraints. ``expected`` is the ``seq`` of the newest version of each uid when that was
    thought of; empty when the store could not be asked."""

    model_config = _FROZEN
    kind: Literal["write_memory"] = "write_memory"
    versions: tuple[Version, ...]
    expected: dict[str, int] = Field(default_factory=dict)


class AnswerAgent(BaseModel):
    """Let what an agent proposes be applied or denied, as its button does."""

    model_config = _FROZEN
    kind: Literal["answer_agent"] = "answer_agent"
    proposal: str
    answer: Literal["apply", "deny"]


class SearchMemory(BaseModel):
    """Look for what is known by words, and show it on the memory card, which is open by then, beside the constraints
    that are named there already."""

    model_config = _FROZEN
    kind: Literal["search_memory"] = "search_memory"
    queries: tuple[str, ...]


Effect = Annotated[
    ReadCalendar
    | WriteCalendar
    | UndoUpdate
    | UndoGroup
    | ReadHistory
    | GoBack
    | Preview
    | DraftDay
    | WriteMemory
    | SearchMemory
    | AnswerAgent,
    Field(discriminator="kind"),
]


class StageInput(BaseModel):
    """What a stage gets. ``asked`` is the move that the person wants, ``STAY`` when the command is something else.
    ``command`` is ``None`` when an earlier stage of this turn dealt with it; ``arrived`` is the move that led here
    within this turn. ``memory`` as in :class:`TurnInput`."""

    model_config = _FROZEN
    session: Session
    asked: Move
    command: Annotated[SessionCommand, Field(discriminator="kind")] | None
    cause: str
    """Id of the command that began the turn."""
    now: datetime
    arrived: Move | None = None
    memory: MemoryReading | None = None


class StageOutput(BaseModel):
    """What a stage gives: the session as it leaves it, effects to carry out, and where to go: ``STAY`` ends the turn.
    ``command`` is handed on to the next stage."""

    model_config = _FROZEN
    session: Session
    move: Move = Move.STAY
    command: Annotated[SessionCommand, Field(discriminator="kind")] | None = None
    effects: tuple[Effect, ...] = ()


class TurnOutcome(BaseModel):
    """The session after the turn, before the effects; how its stage stands; and the effects, in order. ``heard`` are
    the commands that a message in words came to, with what the model had to say to the person."""

    model_config = _FROZEN
    session: Session
    gate: StageGateOutput
    effects: tuple[Effect, ...] = ()
    heard: tuple[Annotated[SessionCommand, Field(discriminator="kind")], ...] = ()
    lines: tuple[str, ...] = ()
