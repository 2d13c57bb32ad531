"""Input, output and effects of a turn, and its first and last step.

All values are frozen and survive JSON, so a turn can be replayed.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date as Date  # noqa: N812  the field is called ``date`` elsewhere
from datetime import datetime
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from fateforger.calendar.adoption import adopt_changes
from fateforger.calendar.model import Adopted, Snapshot
from fateforger.conversation.language.answers import Wish
from fateforger.conversation.language.tables import OutsideContext
from fateforger.memory.versions import Version
from fateforger.planning.plan import TBPlan
from fateforger.session.commands import SessionCommand
from fateforger.session.conflicts import settle_questions
from fateforger.session.gate import Refusal, describe_stage, take_steps
from fateforger.session.memory import RecalledConstraints, unstored_versions
from fateforger.session.messages import LastWords
from fateforger.session.model import OfferedInput, Question, Session
from fateforger.session.other_days import with_settled
from fateforger.session.pending import WaitingProposal
from fateforger.session.queue_commands import QueueCommand
from fateforger.session.recall import recall
from fateforger.session.stages import Move, StageGateOutput
from fateforger.session.tasks import note_begun
from fateforger.tasks.durations import Estimate
from fateforger.tasks.transitions import HydratedMessage
from fateforger.values import Value, replace


class DayReading(Value):
    """Reading of the calendar: a snapshot, or the reason why there is none.

    ``released`` are the ids of our events that were left to the person, ``adopted`` the changes that ``plan`` adopts.
    ``plan`` is the session's plan with the person's own edits of its calendar events; ``noticed`` describes them (S202,
    S242). ``questions`` replace those of the session; ``None`` leaves them unchanged.
    """

    snapshot: Snapshot | None = None
    released: tuple[str, ...] = ()
    error: str | None = None
    plan: TBPlan | None = None
    adopted: tuple[Adopted, ...] = ()
    noticed: tuple[str, ...] = ()
    questions: tuple[Question, ...] | None = None


class MemoryReading(Value):
    """Reading of the constraint store: the recalled constraints, or an error.

    If both are present, the constraints are from an earlier reading or incomplete. ``said`` holds the session's own
    constraints that the store does not show yet. ``versions`` are all versions of all of the person's constraints,
    given if a command may refer to any of them. ``near`` has the uids of those that are close to a message in meaning,
    the closest first. ``wrote`` is what an action wrote that a command asks to undo.
    """

    recalled: RecalledConstraints | None = None
    said: tuple[Version, ...] | None = None
    versions: tuple[Version, ...] = ()
    near: tuple[str, ...] = ()
    wrote: tuple[Version, ...] = ()
    error: str | None = None


class TurnInput(Value):
    """Everything a turn knows (S108).

    ``reading`` is missing if the command needs no fresh calendar reading, or if the calendar did not answer in time;
    ``memory`` is missing if nothing is remembered. A message that was read before may produce several commands:
    ``rest`` holds those after the first, ``later`` those of its further wishes, ``wishes`` are still to be read,
    ``lines`` are shown at the end, and ``last_words`` are what the person may
    answer next. ``proposals`` are agents' proposals that wait in the thread. ``offered`` lists other things that could
    be done that day (``None``: as the session knows it), and ``offer_trouble`` says why that list is incomplete.
    ``settled`` are tasks that were given to another day and are on its calendar.
    ``planned_days`` are other days that have a thread already.
    ``estimates`` say how long the person's tasks take (``None``: as the session knows it).
    ``context`` is what a message knows that is not about the plan.
    ``blocked`` is true if an earlier wish of the message was refused, so that nothing goes on to the next step.
    """

    session: Session
    command: Annotated[SessionCommand, Field(discriminator="kind")]
    rest: tuple[Annotated[SessionCommand, Field(discriminator="kind")], ...] = ()
    later: tuple[tuple[Annotated[SessionCommand, Field(discriminator="kind")], ...], ...] = ()
    wishes: tuple[Wish, ...] = ()
    lines: tuple[str, ...] = ()
    last_words: LastWords | None = None
    proposals: tuple[WaitingProposal, ...] = ()
    reading: DayReading | None = None
    memory: MemoryReading | None = None
    offered: tuple[OfferedInput, ...] | None = None
    offer_trouble: str | None = None
    settled: tuple[str, ...] = ()
    planned_days: tuple[Date, ...] = ()
    estimates: tuple[Estimate, ...] | None = None
    blocked: bool = False
    context: OutsideContext | None = None

    @property
    def now(self) -> datetime:
        return self.command.at


class ReadCalendar(Value):
    """Read the calendar in the background. With ``wait`` the reply waits for it, up to a limit."""

    kind: Literal["read_calendar"] = "read_calendar"
    day: Date
    tz: str
    wait: bool
    fresh: bool = False
    """Do not reuse a recent reading."""


class WriteCalendar(Value):
    """Write the session's plan to the calendar."""

    kind: Literal["write_calendar"] = "write_calendar"
    group: str
    commit: bool
    """True for the commit of Stage 5, false for a change in Stage 4."""


class UndoUpdate(Value):
    """Undo the last change of Stage 4 on the calendar. ``transactions`` wrote it, in order."""

    kind: Literal["undo_update"] = "undo_update"
    transactions: tuple[str, ...]


class UndoGroup(Value):
    """Undo everything written since the group began."""

    kind: Literal["undo_group"] = "undo_group"
    group: str


class ReadHistory(Value):
    """Open the history of the day, or show ``more`` of it. ``asked`` is the id of the command that asked."""

    kind: Literal["read_history"] = "read_history"
    asked: str
    more: bool = False


class GoBack(Value):
    """Undo a transaction of the day and all later ones, if ``newest`` is still the newest write."""

    kind: Literal["go_back"] = "go_back"
    transaction: str
    newest: str
    redo: bool


class Preview(Value):
    """Compute what would be written now, without writing."""

    kind: Literal["preview"] = "preview"
    asked: str
    at: datetime


class DraftDay(Value):
    """Ask a model for a draft of the day, if one is connected.

    The solver's draft is in the session already and stays if the model fails. ``over`` is the plan that the draft
    replaces. With ``another``, a draft that was made before is not reused.
    """

    kind: Literal["draft_day"] = "draft_day"
    over: TBPlan | None
    another: bool


class WriteMemory(Value):
    """Write versions of constraints.

    ``expected`` is the ``seq`` of the newest version of each uid when the change was made; empty if the store could not
    be read.
    """

    kind: Literal["write_memory"] = "write_memory"
    versions: tuple[Version, ...]
    expected: dict[str, int] = Field(default_factory=dict)


class AnswerAgent(Value):
    """Apply or deny an agent's proposal, like its button."""

    kind: Literal["answer_agent"] = "answer_agent"
    proposal: str
    answer: Literal["apply", "deny"]


class CarryOutRequest(Value):
    """Carry out a request that is not about the plan, and answer it next to the plan. ``cause`` is its command."""

    kind: Literal["carry_out_request"] = "carry_out_request"
    request: HydratedMessage | QueueCommand
    cause: str
    at: datetime


class SearchMemory(Value):
    """Search the constraints, and show the matches on the open memory card in addition to those it already lists."""

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
    | AnswerAgent
    | CarryOutRequest,
    Field(discriminator="kind"),
]


class StageInput(Value):
    """Input of a stage.

    ``asked`` is the move that the person requested, ``STAY`` for any other command. ``command`` is ``None`` if an
    earlier stage of this turn handled it; ``arrived`` is the move that led here within this turn. ``memory`` is the
    same as in :class:`TurnInput`.
    """

    session: Session
    asked: Move
    command: Annotated[SessionCommand, Field(discriminator="kind")] | None
    cause: str
    """Id of the command that began the turn."""
    now: datetime
    arrived: Move | None = None
    memory: MemoryReading | None = None


class StageOutput(Value):
    """Output of a stage: the session, effects to carry out, and the move to make; ``STAY`` ends the turn.

    ``command`` is passed on to the next stage.
    """

    session: Session
    move: Move = Move.STAY
    command: Annotated[SessionCommand, Field(discriminator="kind")] | None = None
    effects: tuple[Effect, ...] = ()


class TurnOutcome(Value):
    """Outcome of a turn: the session before the effects, the result of its stage, and the effects in order.

    ``wishes`` holds the commands that a message in words produced, wish by wish, and ``lines`` the model's words to the
    person. ``rules`` is true if the message may say how the person's days should be in general. ``left`` and
    ``left_later`` are its wishes, unread and read, that can be carried out only after the effects.
    """

    session: Session
    gate: StageGateOutput
    effects: tuple[Effect, ...] = ()
    wishes: tuple[tuple[Annotated[SessionCommand, Field(discriminator="kind")], ...], ...] = ()
    lines: tuple[str, ...] = ()
    rules: bool = False
    left: tuple[Wish, ...] = ()
    left_later: tuple[tuple[Annotated[SessionCommand, Field(discriminator="kind")], ...], ...] = ()

    @model_validator(mode="before")
    @classmethod
    def _read_heard(cls, document: Any) -> Any:
        """Read an earlier recording, whose messages held one wish each."""
        if not isinstance(document, dict) or "heard" not in document:
            return document
        told = {**document}
        heard = told.pop("heard")
        return {**told, "wishes": [heard] if heard else []}

    @property
    def heard(self) -> tuple[SessionCommand, ...]:
        """All commands of the message, in order."""
        return tuple(command for wish in self.wishes for command in wish)


def begin_turn(turn: TurnInput) -> Session:
    """Return the session without its last notice, with the fresh readings applied."""
    session = note_begun(replace(turn.session, now=turn.now)).with_thread(notice=None)
    session = with_settled(with_memory(session, turn.memory, turn.now), turn.settled)
    session = session.with_open_work(planned_days=turn.planned_days)
    aged = tuple(replace(write, fresh=False) for write in session.rules.memory_writes)
    session = session.with_rules(memory_writes=aged)
    if turn.offered is not None:
        session = session.with_open_work(offered=turn.offered, offer_trouble=turn.offer_trouble)
    if turn.estimates is not None:
        session = session.with_day(estimates=turn.estimates)
    return session if turn.reading is None else apply_reading(session, turn.reading)


def with_memory(session: Session, reading: MemoryReading | None, now: datetime) -> Session:
    """Apply a reading of the constraint store to the session.

    Constraints that the store shows need not be kept in the session any more. A failed reading keeps the last recalled
    constraints and its reason.
    """
    if reading is None:
        return session
    recalled, own = reading.recalled, reading.said
    if recalled is None and reading.error is None:
        recalled, own = (
            recall(session, reading.versions, now, reading.near),
            unstored_versions(session.rules.said, reading.versions),
        )
    recalled = recalled or session.rules.recalled or RecalledConstraints(day=session.date, stage=session.stage, at=now)
    known = replace(recalled, trouble=reading.error, near=reading.near)
    return session.with_rules(recalled=known, said=session.rules.said if own is None else own)


def keep_edits(session: Session, adopted: Iterable[Adopted]) -> Session:
    """Return the session whose undoable changes go back to plans that have the person's own edits of the calendar, too.

    Otherwise undoing a change would take back what the person changed on the calendar after it.
    """
    edits = tuple(adopted)
    steps = session.sync.refine_undo
    kept = tuple(replace(step, plan_before=adopt_changes(step.plan_before, edits)) for step in steps)
    return session if kept == steps else session.with_sync(refine_undo=kept)


def apply_reading(session: Session, reading: DayReading) -> Session:
    """Apply a calendar reading to the session.

    A failed reading keeps the last good one, and records why it failed.
    """
    if reading.snapshot is None:
        return session.with_day(snapshot_error=reading.error)
    session = session.with_day(snapshot=reading.snapshot, released=reading.released, snapshot_error=None)
    if reading.plan is not None and reading.plan != session.planning.plan:
        session = keep_edits(session.with_planning(plan=reading.plan), reading.adopted)
    if reading.questions is not None:
        session = session.with_sync(questions=reading.questions)
    if reading.noticed:
        session = session.with_notice(*reading.noticed)
    return session


def present_outcome(session: Session, effects: tuple[Effect, ...]) -> TurnOutcome:
    """Return the outcome of the turn: session, readiness of its stage, and effects.

    Questions that the turn has answered or made obsolete are dropped.
    """
    session = settle_questions(session)
    drafts = [effect for effect in effects if isinstance(effect, DraftDay)]
    # A turn of several steps is drafted only once, in its final state.
    kept = tuple(e for e in effects if not isinstance(e, DraftDay) or e is drafts[-1])
    return TurnOutcome(session=session, gate=describe_stage(session), effects=merge_memory_writes(merge_writes(kept)))


def merge_writes(effects: tuple[Effect, ...]) -> tuple[Effect, ...]:
    """Merge the calendar writes of a turn into the last one, because the plan is written in its final state."""
    writes = [effect for effect in effects if isinstance(effect, WriteCalendar)]
    if len(writes) < 2:
        return effects
    whole = replace(writes[-1], commit=any(write.commit for write in writes))
    others = tuple(e for e in effects if not isinstance(e, WriteCalendar) or e is writes[-1])
    return tuple(whole if effect is writes[-1] else effect for effect in others)


def merge_memory_writes(effects: tuple[Effect, ...]) -> tuple[Effect, ...]:
    """Merge the memory writes of several commands of one message into one."""
    writes = [effect for effect in effects if isinstance(effect, WriteMemory)]
    if len(writes) < 2:
        return effects
    expected: dict[str, int] = {}
    for write in reversed(writes):
        expected |= write.expected
    whole = WriteMemory(versions=tuple(v for write in writes for v in write.versions), expected=expected)
    return (*(effect for effect in effects if not isinstance(effect, WriteMemory)), whole)


def guard_output(stage: StageInput, output: StageOutput) -> StageOutput:
    """Record the output's actions in the session's trace.

    If a rule forbids them, return the session as it was before, and the reason.
    """
    notice = output.session.thread.notice
    if notice is not None and notice.refused:
        return output
    actions = [name for name in map(_name_action, output.effects) if name is not None]
    after = take_steps(stage.session, output.session, stage.asked, output.move, actions)
    if isinstance(after, Refusal):
        return StageOutput(session=stage.session.with_thread(notice=after.notice))
    return replace(output, session=after)


def _name_action(effect: Effect) -> str | None:
    match effect:
        case WriteCalendar():
            return "write"
        case UndoUpdate():
            return "undo_change"
        case UndoGroup():
            return "undo_all"
        case GoBack(redo=redo):
            return "redo_write" if redo else "undo_write"
        case _:
            return None
