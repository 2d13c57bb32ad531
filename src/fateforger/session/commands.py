"""Commands of a person as typed messages (S58, S99, S107), and their unions.

Each command has one meaning and one executor, whether it came from a button, a form, a slash command, or, with a
model, from words.

``command_id`` is unique to the click, submission, or message and the same for its repetitions, so a command is
carried out once. ``at`` is the aware instant at which the person acted.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import date as Date  # noqa: N812  the field is called ``date`` and would hide the type
from datetime import datetime, time
from functools import partial
from itertools import chain
from typing import Annotated, ClassVar, Literal, get_args

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from fateforger.calendar.merge import Topic
from fateforger.errors import BadInput
from fateforger.memory.record import ConstraintRecord
from fateforger.planning.patch import Patch
from fateforger.planning.plan import TBPlan
from fateforger.session.card_actions import (
    CardAction,
    Click,
    Fields,
    give,
    list_actions,
    read_chosen,
    read_target,
    read_value,
)
from fateforger.session.constants import SHIFT_MINUTES
from fateforger.session.model import CalendarWrite, Depth, FrameFacts, Task
from fateforger.session.queue_commands import QueueCommand
from fateforger.session.stages import Move, TimeboxingStage
from fateforger.tasks.task import Mode
from fateforger.text import mark_message


def mint_key(prefix: str, *parts: object) -> str:
    """Return a short id for these parts: ``prefix`` and twelve hexadecimal digits."""
    text = "|".join(str(p) for p in parts)
    return f"{prefix}{hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()[:12]}"


ALL_STAGES = frozenset(TimeboxingStage)
PLANNED = frozenset({TimeboxingStage.REFINE, TimeboxingStage.REVIEW_COMMIT})


class SessionCommandBase(BaseModel):
    """A command to a running session.

    A class declares where it is accepted, and the actions of the controls that give it
    (:mod:`fateforger.session.card_actions`).

    ``command_id`` is unique to the click, submission, or message and the same for its repetitions. ``at`` is the
    aware instant at which the person acted.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    home: ClassVar[TimeboxingStage | None] = None
    """Stage that the command belongs to; ``None`` if it fits any."""
    accepted: ClassVar[frozenset[TimeboxingStage]] = ALL_STAGES
    """Stages that accept the command."""
    command_id: str
    user_id: str
    at: datetime
    session_id: str


_FROZEN = ConfigDict(frozen=True, extra="forbid")


class Start(BaseModel):
    """Begin planning in a channel, or in an existing thread.

    ``tz`` is the person's IANA zone. ``mode`` tells how the planning came about. ``inputs`` are tasks for that day,
    and ``note`` is shown on its first card.
    """

    model_config = _FROZEN
    kind: Literal["start"] = "start"
    command_id: str
    user_id: str
    at: datetime
    channel: str
    thread_ts: str | None = None
    tz: str
    date: Date | None = None
    mode: Mode = "direct"
    inputs: tuple[Task, ...] = ()
    note: str = ""


class Opening(BaseModel):
    """A message where no session ran yet, in which a model may read the wish to plan a day.

    Only a message ``addressed`` to the bot is read; any other counts once a session runs in its thread. ``tz`` is as
    in :class:`Start`, ``withheld`` as in :class:`TimeboxingUserReply`. If others can read the message, ``channel`` is
    the person's direct messages without a ``thread_ts``, and ``heard_channel`` and ``heard_thread_ts`` tell where it
    was written.
    """

    model_config = _FROZEN
    kind: Literal["opening"] = "opening"
    command_id: str
    user_id: str
    at: datetime
    channel: str
    thread_ts: str | None
    tz: str
    text: str
    addressed: bool = True
    withheld: bool = False
    heard_channel: str | None = None
    heard_thread_ts: str | None = None

    @property
    def is_moved(self) -> bool:
        """True when the answer goes to another place than the message."""
        return self.heard_channel is not None


class TimeboxingUserReply(SessionCommandBase):
    """A message of the person in the thread.

    ``withheld`` tells that a key or a password was removed from it.
    """

    kind: Literal["user_reply"] = "user_reply"
    text: str
    withheld: bool = False


def _read_move(move: Move, click: Click) -> Fields:
    return {"move": move, "seen": click.target or None}


class StageAction(SessionCommandBase):
    """A stage button: proceed, back, redo, cancel, undo last update, undo sync, retry.

    ``seen`` is the token of the button (:func:`fateforger.session.gate.move_token`). A move from an outdated card is
    not carried out, so the second half of a double click does nothing.
    """

    moves: ClassVar = {
        move: CardAction(move.value, label, partial(_read_move, move))
        for move, label in {
            Move.PROCEED: mark_message("Proceed"),
            Move.BACK: mark_message("Back"),
            Move.REDO: mark_message("Redo step"),
            Move.CANCEL: mark_message("Cancel"),
            Move.UNDO_LAST_UPDATE: mark_message("Undo last update"),
            Move.UNDO_SYNC: mark_message("Undo"),
            Move.RETRY: mark_message("Try again"),
        }.items()
    }
    kind: Literal["stage_action"] = "stage_action"
    move: Move
    seen: str | None = None


LeftAsIs = Literal["held", "brakes"]


class LeaveAsIs(SessionCommandBase):
    """Decline a question of the card.

    ``held`` leaves a change undone that violates a rule; ``brakes`` leaves unwritten what needs approval.
    """

    action: ClassVar = CardAction("leave_as_is", read=read_target("about"))
    kind: Literal["leave_as_is"] = "leave_as_is"
    about: LeftAsIs


class AnswerProposal(SessionCommandBase):
    """Accept or deny another agent's proposal for the plan of the session."""

    apply: ClassVar = CardAction("proposal.apply", "Apply", read_target("proposal", answer="apply"))
    deny: ClassVar = CardAction("proposal.deny", "Deny", read_target("proposal", answer="deny"))
    kind: Literal["answer_proposal"] = "answer_proposal"
    proposal: str
    answer: Literal["apply", "deny"]


class EndAbandoned(BaseModel):
    """End of an abandoned session, due at the instant ``at``.

    No person asked for it. It queues with the person's commands, but does not count as activity of theirs.
    """

    model_config = _FROZEN
    kind: Literal["left_alone"] = "left_alone"
    command_id: str
    session_id: str
    at: datetime


class ChooseDate(SessionCommandBase):
    """Stage 0: choose another day or zone, not confirmed yet."""

    home = TimeboxingStage.DATE
    accepted = frozenset({TimeboxingStage.DATE, TimeboxingStage.COLLECT_CONSTRAINTS})
    pick: ClassVar = CardAction("choose_date", read=read_chosen("date", Date))
    other_day: ClassVar = CardAction("plan_day", read=read_target("date"))
    kind: Literal["choose_date"] = "choose_date"
    date: Date | None = None
    tz: str | None = None


class TimeboxingCommitDate(SessionCommandBase):
    """Stage 0: confirm the day and zone."""

    home = TimeboxingStage.DATE
    accepted = frozenset({TimeboxingStage.DATE})
    action: ClassVar = CardAction("commit_date", "Plan this day")
    kind: Literal["commit_date"] = "commit_date"


class SetFrame(SessionCommandBase):
    """Stage 1: set the frame of the day."""

    home = TimeboxingStage.COLLECT_CONSTRAINTS
    accepted = ALL_STAGES - PLANNED
    kind: Literal["set_frame"] = "set_frame"
    frame: FrameFacts


class AdjustFrame(SessionCommandBase):
    """Stage 1: change the start or end of the day; ``None`` leaves it as it is."""

    home = TimeboxingStage.COLLECT_CONSTRAINTS
    start: ClassVar = CardAction("set_day_start", read=read_chosen("day_start", time))
    end: ClassVar = CardAction("set_day_end", read=read_chosen("day_end", time))
    until: ClassVar = CardAction("frame.until", read=read_target("day_end"))
    kind: Literal["adjust_frame"] = "adjust_frame"
    day_start: time | None = None
    day_end: time | None = None


class TaskCommandBase(SessionCommandBase):
    """A change of the tasks; they are accepted until the plan is refined."""

    home = TimeboxingStage.CAPTURE_INPUTS
    accepted = ALL_STAGES - PLANNED


class UnplacedCommandBase(TaskCommandBase):
    """A change of a task, which may be without room in a plan; it is accepted at any stage."""

    accepted = ALL_STAGES


class AddTasks(TaskCommandBase):
    """Stage 2: add tasks.

    ``proceed`` also moves on to the skeleton.
    """

    kind: Literal["add_tasks"] = "add_tasks"
    tasks: tuple[Task, ...] = Field(min_length=1)
    proceed: bool = False


class UpdateTask(TaskCommandBase):
    """Stage 2: replace the task with the same id."""

    kind: Literal["update_task"] = "update_task"
    task: Task


def _read_size(click: Click) -> Fields:
    minutes, _, task_id = click.target.partition(" ")
    return {"task_id": task_id, "minutes": minutes}


class ResizeTask(UnplacedCommandBase):
    """Stages 2 and 3: change the minutes of a task."""

    action: ClassVar = CardAction("task.resize", read=_read_size)
    kind: Literal["resize_task"] = "resize_task"
    task_id: str
    minutes: int = Field(gt=0, le=24 * 60)


class RemoveTask(UnplacedCommandBase):
    action: ClassVar = CardAction("task.remove", "Remove", read_target("task_id"))
    kind: Literal["remove_task"] = "remove_task"
    task_id: str


class MarkOneThing(TaskCommandBase):
    """Stage 2: mark the one thing."""

    action: ClassVar = CardAction("task.one_thing", "Make it the one thing", read_target("task_id"))
    kind: Literal["mark_one_thing"] = "mark_one_thing"
    task_id: str


class DeferTask(UnplacedCommandBase):
    """Stages 2 and 3: leave a task for another day.

    The task is kept, and offered when the person plans another day.
    """

    action: ClassVar = CardAction("task.defer", "Leave it for another day", read_target("task_id"))
    kind: Literal["defer_task"] = "defer_task"
    task_id: str


class BringAlong(TaskCommandBase):
    """Stages 2 and 3: take on work that earlier days left open or that was deferred.

    Without ``task_ids`` it takes all that is offered, or nothing if there is ``settled`` work. Work in ``settled`` is
    done, or not wanted any more.
    """

    action: ClassVar = CardAction("task.bring", "Add", lambda click: {"task_ids": tuple(click.target.split())})
    kind: Literal["bring_along"] = "bring_along"
    task_ids: tuple[str, ...] = ()
    settled: tuple[str, ...] = ()


class UndoCatchUp(TaskCommandBase):
    """Stages 2 and 3: undo the last catch-up with missed days as a whole."""

    action: ClassVar = CardAction("task.undo_catch_up", "Undo")
    kind: Literal["undo_catch_up"] = "undo_catch_up"


class SplitTask(UnplacedCommandBase):
    """Stages 2 and 3: allow a task to be done in pieces."""

    action: ClassVar = CardAction("task.split", "In pieces", read_target("task_id"))
    kind: Literal["split_task"] = "split_task"
    task_id: str


class PlanCommandBase(SessionCommandBase):
    """A change of the plan. After the commit it is carried out in Refine within the same turn (S52)."""

    home = TimeboxingStage.REFINE
    accepted = PLANNED


class AddBlock(PlanCommandBase):
    """Stage 4: add a block at a local time of day."""

    kind: Literal["add_block"] = "add_block"
    title: str
    start: time
    minutes: int
    depth: Depth | None = None
    notes: str = ""


class EditBlock(PlanCommandBase):
    """Stage 4: change the given parts of a block; ``None`` leaves a part as it is."""

    kind: Literal["edit_block"] = "edit_block"
    key: str
    title: str | None = None
    notes: str | None = None
    start: time | None = None
    minutes: int | None = None


class RemoveBlock(PlanCommandBase):
    action: ClassVar = CardAction("block.remove", "Remove", read_target("key"))
    kind: Literal["remove_block"] = "remove_block"
    key: str


class ShiftBlock(PlanCommandBase):
    """Stage 4: move a block earlier or later, by minutes."""

    earlier: ClassVar = CardAction("block.earlier", "15 min earlier", read_target("key", minutes=-SHIFT_MINUTES))
    later: ClassVar = CardAction("block.later", "15 min later", read_target("key", minutes=SHIFT_MINUTES))
    kind: Literal["shift_block"] = "shift_block"
    key: str
    minutes: int


class SwapBlock(PlanCommandBase):
    """Stage 4: swap a block with the one before (-1) or after (+1) it."""

    up: ClassVar = CardAction("block.swap_up", "Swap with the one before", read_target("key", direction=-1))
    down: ClassVar = CardAction("block.swap_down", "Swap with the next", read_target("key", direction=1))
    kind: Literal["swap_block"] = "swap_block"
    key: str
    direction: Literal[-1, 1]


class Replan(PlanCommandBase):
    """Stages 4 and 5: report how the day went so far, and refit the rest of it as one change.

    Blocks are given by key. ``late`` makes the current block that many minutes longer, or else delays the next block
    by as much; 0 means that the current block begins only now. ``missed`` blocks should have been done and are not.
    ``done`` tasks are done. The tasks of the blocks in ``not_today`` wait for another day. Without any of these, the
    rest of the day is only refitted.
    """

    running_late: ClassVar = CardAction("replan.late", "Running late", read_value("late"))
    done_already: ClassVar = CardAction("replan.done", "Done already", lambda click: {"done": (click.value,)})
    put_off: ClassVar = CardAction("replan.not_today", "Not today", lambda click: {"not_today": (click.value,)})
    refit: ClassVar = CardAction("replan.refit", "Refit the rest")
    kind: Literal["replan"] = "replan"
    late: int | None = Field(None, ge=0, le=12 * 60)
    missed: tuple[str, ...] = ()
    done: tuple[str, ...] = ()
    not_today: tuple[str, ...] = ()


class ApplyFix(PlanCommandBase):
    """Stage 4: apply a suggested fix by its id.

    Nothing is done when the fix no longer helps.
    """

    action: ClassVar = CardAction("plan.fix", read=read_target("fix"))
    kind: Literal["apply_fix"] = "apply_fix"
    fix: str


class ApprovedChange(BaseModel):
    """Plan before and after a change, as the person approved it."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    before: TBPlan
    after: TBPlan


class ApplyPatch(PlanCommandBase):
    """Stage 4: apply several changes at once, read from words by a model or proposed by a program.

    With ``approved``, the change is refused unless it does exactly what the person approved.
    """

    kind: Literal["apply_patch"] = "apply_patch"
    patch: Patch
    approved: ApprovedChange | None = None


class ExplainBlock(SessionCommandBase):
    """Stages 3 to 5: explain the place of a block."""

    action: ClassVar = CardAction("block.why", "Why here?", read_value("key"))
    kind: Literal["explain_block"] = "explain_block"
    key: str


Side = Literal["calendar", "plan"]


class SetCalendarWrite(SessionCommandBase):
    """Set when blocks are written to the calendar, in this session and the person's next ones (K1)."""

    action: ClassVar = CardAction("set_calendar_write", "Write to calendar", read_value("when"))
    kind: Literal["set_calendar_write"] = "set_calendar_write"
    when: CalendarWrite


class ShowPreview(SessionCommandBase):
    """Show what would be written to the calendar now."""

    action: ClassVar = CardAction("show_preview", "Preview")
    kind: Literal["show_preview"] = "show_preview"


class HidePreview(SessionCommandBase):
    action: ClassVar = CardAction("hide_preview", "Close preview")
    kind: Literal["hide_preview"] = "hide_preview"


class ShowHistory(SessionCommandBase):
    """Show the writes of the day; ``older`` lists more of them."""

    action: ClassVar = CardAction("show_history", "History")
    show_older: ClassVar = CardAction("show_older_history", "Show older", give(older=True))
    kind: Literal["show_history"] = "show_history"
    older: bool = False


class HideHistory(SessionCommandBase):
    action: ClassVar = CardAction("hide_history", "Close history")
    kind: Literal["hide_history"] = "hide_history"


def _read_history_row(click: Click) -> Fields:
    """Read the write that a history row is about, and the newest write when the row was listed."""
    transaction, _, newest = click.target.partition(" ")
    return {"transaction": transaction, "newest": newest}


class UndoWrite(SessionCommandBase):
    """Undo a write in the day's history, and the writes after it.

    ``newest`` is the newest write that the history showed. If there is a newer one by now, nothing is done.
    """

    action: ClassVar = CardAction("undo_write", "Undo", _read_history_row)
    kind: Literal["undo_write"] = "undo_write"
    transaction: str
    newest: str


class RedoWrite(SessionCommandBase):
    """Undo an undo in the day's history, and the writes after it.

    ``newest`` is as in :class:`UndoWrite`.
    """

    action: ClassVar = CardAction("redo_write", "Restore", _read_history_row)
    kind: Literal["redo_write"] = "redo_write"
    transaction: str
    newest: str


def read_question_target(target: str) -> dict[str, str]:
    """Read the fields of a question from a button's target.

    The target is that of one question (:func:`fateforger.session.conflicts.question_target`), or the token of all
    open ones.
    """
    topic, dot, rest = target.partition(".")
    if not dot:
        return {"seen": target}
    seen, _, key = rest.partition(".")
    return {"topic": topic, "seen": seen, "key": key}


def _read_question(keep: Side, click: Click) -> Fields:
    return {"keep": keep, **read_question_target(click.target)}


class ResolveConflict(PlanCommandBase):
    """Stages 4 and 5: decide which side counts where both the person and the plan changed something.

    ``key`` and ``topic`` name the question; without them the answer is for all open ones. ``seen`` is the token of
    the button (:func:`fateforger.session.conflicts.question_token`): an answer to a question that has changed since is
    not carried out.
    """

    keep_calendar: ClassVar = CardAction("conflict.keep_calendar", "Keep calendar", partial(_read_question, "calendar"))
    keep_plan: ClassVar = CardAction("conflict.keep_plan", "Keep plan", partial(_read_question, "plan"))
    kind: Literal["resolve_conflict"] = "resolve_conflict"
    keep: Side
    key: str | None = None
    topic: Topic | None = None
    seen: str | None = None


class RefreshCalendar(BaseModel):
    """Read the calendar again, because it seems to differ from what the session shows.

    No person asked for it. It queues with the person's commands, but does not count as activity of theirs.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    kind: Literal["look_again"] = "look_again"
    command_id: str
    session_id: str


ConstraintVerdict = Literal["accept", "decline", "archive", "restore", "set_aside", "use_again"]
"""Judgment of a constraint: right, not wanted, over, or wanted again; or (not) counting in this session."""


class RememberConstraint(SessionCommandBase):
    """Remember a new constraint, optionally in place of the one with the uid ``supersedes``."""

    kind: Literal["remember_constraint"] = "remember_constraint"
    record: ConstraintRecord
    supersedes: str | None = None


class ReviseConstraint(SessionCommandBase):
    """Replace a constraint's record; its uid stays.

    ``seen`` is the ``seq`` of the version that was edited. If there is a newer one by now, nothing is done.
    """

    kind: Literal["revise_constraint"] = "revise_constraint"
    uid: str
    record: ConstraintRecord
    seen: int | None = None


_VERDICTS: Mapping[ConstraintVerdict, str] = {
    "accept": mark_message("Confirm"),
    "decline": mark_message("Decline"),
    "archive": mark_message("Archive"),
    "restore": mark_message("Restore"),
    "set_aside": mark_message("Not for this day"),
    "use_again": mark_message("Use it for this day again"),
}


def format_rule_target(seq: int, uid: str) -> str:
    """Return the target of a control: a rule, and its version when it was shown."""
    return f"{seq} {uid}"


def parse_rule_target(target: str) -> tuple[int, str]:
    """Return the version and the rule of a control's target. Raises :class:`BadInput`."""
    seq, _, uid = target.partition(" ")
    if not seq.isdecimal() or not uid:
        raise BadInput("I don't know that rule any more; please look at the list again.")
    return int(seq), uid


def _read_verdict(verdict: ConstraintVerdict, click: Click) -> Fields:
    seen, uid = parse_rule_target(click.target)
    return {"uid": uid, "verdict": verdict, "seen": seen}


class JudgeConstraint(SessionCommandBase):
    """Judge one constraint.

    ``seen`` is as in :class:`ReviseConstraint`.
    """

    verdicts: ClassVar[Mapping[ConstraintVerdict, CardAction]] = {
        verdict: CardAction(f"memory.{verdict}", label, partial(_read_verdict, verdict))
        for verdict, label in _VERDICTS.items()
    }
    kind: Literal["judge_constraint"] = "judge_constraint"
    uid: str
    verdict: ConstraintVerdict
    reason: str | None = None
    seen: int | None = None


class RuleChoice(BaseModel):
    """Two rules, and the one that counts; ``None`` keeps both."""

    model_config = ConfigDict(frozen=True, extra="forbid")
    uids: tuple[str, str]
    keep: str | None = None


def _read_settled(click: Click) -> Fields:
    try:
        return RuleChoice.model_validate_json(click.target).model_dump()
    except ValidationError:
        raise BadInput("I can't tell any more which rules that was about; please open your rules again.") from None


class SettleConstraints(SessionCommandBase):
    """Choose between two constraints that contradict, replace, or repeat each other.

    ``keep`` is the one that counts; ``None`` keeps both.
    """

    action: ClassVar = CardAction("memory.keep", read=_read_settled)
    kind: Literal["settle_constraints"] = "settle_constraints"
    uids: tuple[str, str]
    keep: str | None = None


class UndoMemory(SessionCommandBase):
    """Undo what a command wrote into memory; ``write`` is its id."""

    action: ClassVar = CardAction("undo_memory", "Undo", read_target("write"))
    kind: Literal["undo_memory"] = "undo_memory"
    write: str


class ShowMemory(SessionCommandBase):
    """Show the constraints of the person.

    ``uids`` and ``search`` restrict the list to these constraints and to matches of the words. ``more`` lists more of
    it.
    """

    action: ClassVar = CardAction("show_memory", "Your rules")
    kind: Literal["show_memory"] = "show_memory"
    more: bool = False
    uids: tuple[str, ...] = ()
    search: Annotated[tuple[Annotated[str, Field(min_length=1, max_length=200)], ...], Field(max_length=8)] = ()


class HideMemory(SessionCommandBase):
    action: ClassVar = CardAction("hide_memory", "Close")
    kind: Literal["hide_memory"] = "hide_memory"


class AddExtracted(BaseModel):
    """Constraints that were extracted from a reply in the background.

    It queues with the person's commands, but does not count as activity of theirs. ``of`` is the reply's id, and
    ``at`` its instant. ``question`` is an open question about it, ``trouble`` the reason it could not be read.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
    kind: Literal["understood"] = "understood"
    command_id: str
    session_id: str
    of: str
    at: datetime
    records: tuple[ConstraintRecord, ...] = ()
    question: str | None = None
    trouble: str | None = None


SessionCommand = (
    ChooseDate
    | TimeboxingCommitDate
    | TimeboxingUserReply
    | StageAction
    | LeaveAsIs
    | AnswerProposal
    | SetFrame
    | AdjustFrame
    | AddTasks
    | UpdateTask
    | ResizeTask
    | RemoveTask
    | DeferTask
    | BringAlong
    | UndoCatchUp
    | SplitTask
    | MarkOneThing
    | AddBlock
    | EditBlock
    | RemoveBlock
    | ShiftBlock
    | SwapBlock
    | ApplyFix
    | ExplainBlock
    | ShowHistory
    | HideHistory
    | UndoWrite
    | RedoWrite
    | ShowPreview
    | HidePreview
    | SetCalendarWrite
    | ApplyPatch
    | Replan
    | ResolveConflict
    | RememberConstraint
    | ReviseConstraint
    | JudgeConstraint
    | SettleConstraints
    | UndoMemory
    | ShowMemory
    | HideMemory
)

Command = Annotated[Start | SessionCommand | QueueCommand, Field(discriminator="kind")]
BackgroundCommand = RefreshCalendar | AddExtracted | EndAbandoned
"""Commands that no person gave."""
InboxCommand = Start | Opening | SessionCommand | QueueCommand | BackgroundCommand
"""Commands of the durable inbox."""
COMMAND: TypeAdapter[InboxCommand] = TypeAdapter(Annotated[InboxCommand, Field(discriminator="kind")])
"""Reads and writes any command as JSON."""

ACTIONS: Mapping[str, tuple[type[SessionCommand | QueueCommand], CardAction]] = {
    action.id: (kind, action)
    for kind in chain(get_args(SessionCommand), get_args(QueueCommand))
    for action in list_actions(kind)
}
"""Actions of cards, with the commands that declare them; others open a form, start a session, or turn a page."""
UNKNOWN = "I don't know that button any more; please use the newest card in this thread."


def read_click(click: Click) -> SessionCommand | QueueCommand:
    """Return the command of a control. Raises :class:`BadInput` for an unknown or unreadable one."""
    if click.action not in ACTIONS:
        raise BadInput(UNKNOWN, where=click.action)
    kind, action = ACTIONS[click.action]
    envelope = {"command_id", "user_id", "at", "session_id"} & kind.model_fields.keys()
    try:
        return kind.model_validate({**click.model_dump(include=envelope), **action.read(click)})
    except ValidationError:
        raise BadInput(UNKNOWN, where=click.action) from None
