"""What a person can ask for, as typed messages (S58, S99, S107). Each is one meaning with one executor, whichever
way it was said: by a button, a form, a slash command or, with a model, in words.

``command_id`` is unique to the click, submit or message and the same for its repetitions: a command is carried out
once. ``at`` is the aware instant at which the person acted.
"""

from __future__ import annotations

from datetime import date as Date  # noqa: N812  the field is called ``date`` and would hide the type
from datetime import datetime, time
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from fateforger.constraints import ConstraintRecord
from fateforger.ops import Patch
from fateforger.plan import TBPlan
from fateforger.session.envelope import InSession
from fateforger.session.model import CalendarWrite, Depth, FrameFacts, Task
from fateforger.session.queue_commands import QueueCommand
from fateforger.session.replanning import BringAlong, DeferTask, Replan, SplitTask
from fateforger.stages import Move
from fateforger.sync import Topic
from fateforger.tasks import Mode

_FROZEN = ConfigDict(frozen=True, extra="forbid")
Side = Literal["calendar", "plan"]


class Start(BaseModel):
    """Begin planning in a channel, or in an existing thread. ``tz`` is the person's IANA zone. ``mode`` is how it came
    to that; ``inputs`` is what is to be done on that day, and ``note`` is said on its first card."""

    model_config = _FROZEN
    kind: Literal["start"] = "start"
    command_id: str
    user_id: str
    at: datetime
    channel: str
    thread_ts: str | None = None
    tz: str
    date: Date | None = None
    mode: Mode = Mode.DIRECT
    inputs: tuple[Task, ...] = ()
    note: str = ""


class Opening(BaseModel):
    """The person wrote where no session ran yet; a model may read in it that they want a day planned. Only what was
    ``addressed`` to us is read; anything else counts once a session runs in its thread. ``tz`` as in :class:`Start`,
    ``withheld`` as in :class:`TimeboxingUserReply`."""

    model_config = _FROZEN
    kind: Literal["opening"] = "opening"
    command_id: str
    user_id: str
    at: datetime
    channel: str
    thread_ts: str
    tz: str
    text: str
    addressed: bool = True
    withheld: bool = False


class ChooseDate(InSession):
    """Stage 0: another day, or another zone, not confirmed yet."""

    kind: Literal["choose_date"] = "choose_date"
    date: Date | None = None
    tz: str | None = None


class TimeboxingCommitDate(InSession):
    """Stage 0: the day and zone are right."""

    kind: Literal["commit_date"] = "commit_date"


class TimeboxingUserReply(InSession):
    """The person wrote something in the thread. ``withheld`` tells that a key or a password was taken out of it."""

    kind: Literal["user_reply"] = "user_reply"
    text: str
    withheld: bool = False


class StageAction(InSession):
    """A stage button: proceed, back, redo, cancel, undo last update, undo sync, retry.

    ``seen`` is what the button carried (:func:`fateforger.session.moves.seen`). A move from a card that is out of
    date is not carried out, so that the second half of a double click does nothing.
    """

    kind: Literal["stage_action"] = "stage_action"
    move: Move
    seen: str | None = None


class SetFrame(InSession):
    """Stage 1: the frame of the day."""

    kind: Literal["set_frame"] = "set_frame"
    frame: FrameFacts


class AdjustFrame(InSession):
    """Stage 1: another start or end of the day; ``None`` leaves it as it is."""

    kind: Literal["adjust_frame"] = "adjust_frame"
    day_start: time | None = None
    day_end: time | None = None


class AddTasks(InSession):
    """Stage 2: more to do. ``proceed`` also moves on to the skeleton."""

    kind: Literal["add_tasks"] = "add_tasks"
    tasks: tuple[Task, ...] = Field(min_length=1)
    proceed: bool = False


class UpdateTask(InSession):
    """Stage 2: a task as it shall be; its id says which."""

    kind: Literal["update_task"] = "update_task"
    task: Task


class ResizeTask(InSession):
    """Stages 2 and 3: a task gets so many minutes."""

    kind: Literal["resize_task"] = "resize_task"
    task_id: str
    minutes: int = Field(gt=0, le=24 * 60)


class RemoveTask(InSession):
    kind: Literal["remove_task"] = "remove_task"
    task_id: str


class MarkOneThing(InSession):
    """Stage 2: this task is the one that matters."""

    kind: Literal["mark_one_thing"] = "mark_one_thing"
    task_id: str


class AddBlock(InSession):
    """Stage 4: a new block at a local time of day."""

    kind: Literal["add_block"] = "add_block"
    title: str
    start: time
    minutes: int
    depth: Depth | None = None
    notes: str = ""


class EditBlock(InSession):
    """Stage 4: change the given parts of a block; ``None`` leaves a part as it is."""

    kind: Literal["edit_block"] = "edit_block"
    key: str
    title: str | None = None
    notes: str | None = None
    start: time | None = None
    minutes: int | None = None


class RemoveBlock(InSession):
    kind: Literal["remove_block"] = "remove_block"
    key: str


class ShiftBlock(InSession):
    """Stage 4: move a block earlier or later by minutes."""

    kind: Literal["shift_block"] = "shift_block"
    key: str
    minutes: int


class SwapBlock(InSession):
    """Stage 4: let a block trade places with the one before (-1) or after (+1) it."""

    kind: Literal["swap_block"] = "swap_block"
    key: str
    direction: Literal[-1, 1]


class ApplyFix(InSession):
    """Stage 4: one of the changes that would make the plan better, by its id; nothing is done when it is none any
    more."""

    kind: Literal["apply_fix"] = "apply_fix"
    fix: str


class ExplainBlock(InSession):
    """Stages 3 to 5: why a block is where it is."""

    kind: Literal["explain_block"] = "explain_block"
    key: str


class ShowHistory(InSession):
    """What was written for the day; ``older`` lists more of it."""

    kind: Literal["show_history"] = "show_history"
    older: bool = False


class HideHistory(InSession):
    kind: Literal["hide_history"] = "hide_history"


class UndoWrite(InSession):
    """Take back a write of the day's history, and what came after it. ``newest`` is the newest write that the history
    showed: when there is another one by now, nothing is done."""

    kind: Literal["undo_write"] = "undo_write"
    transaction: str
    newest: str


class RedoWrite(InSession):
    """Take back an undo of the day's history, and what came after it. ``newest`` as in :class:`UndoWrite`."""

    kind: Literal["redo_write"] = "redo_write"
    transaction: str
    newest: str


class ShowPreview(InSession):
    """What would be written to the calendar now."""

    kind: Literal["show_preview"] = "show_preview"


class HidePreview(InSession):
    kind: Literal["hide_preview"] = "hide_preview"


class SetCalendarWrite(InSession):
    """When blocks reach the calendar, for this session and the person's next ones (K1)."""

    kind: Literal["set_calendar_write"] = "set_calendar_write"
    when: CalendarWrite


class Approved(BaseModel):
    """What the person saw and said yes to: the plan before a change, and after it."""

    model_config = _FROZEN
    before: TBPlan
    after: TBPlan


class ApplyPatch(InSession):
    """Stage 4: several changes at once, as a model read them out of words or a program proposed them. With ``approved``
    it changes what the person approved and nothing else, or it is refused."""

    kind: Literal["apply_patch"] = "apply_patch"
    patch: Patch
    approved: Approved | None = None


class ResolveConflict(InSession):
    """Stages 4 and 5: what both the person and the plan changed stays as one of them has it. ``key`` and ``topic`` say
    which question is answered, without them all that are open. ``seen`` is what the button carried
    (:func:`fateforger.session.questions.token`): an answer to a question that has changed since is not carried out."""

    kind: Literal["resolve_conflict"] = "resolve_conflict"
    keep: Side
    key: str | None = None
    topic: Topic | None = None
    seen: str | None = None


Verdict = Literal["accept", "decline", "archive", "restore", "set_aside", "use_again"]
"""What a person can say about a constraint: that it is right, not wanted, over, wanted again; that it does not count in
this session, or that it does after all."""


class RememberConstraint(InSession):
    """A new constraint, also in the place of the one with the uid ``supersedes``."""

    kind: Literal["remember_constraint"] = "remember_constraint"
    record: ConstraintRecord
    supersedes: str | None = None


class ReviseConstraint(InSession):
    """A constraint as it shall be from now on; its uid stays. ``seen`` is the ``seq`` of the version that was changed:
    when there is a newer one by now, nothing is done."""

    kind: Literal["revise_constraint"] = "revise_constraint"
    uid: str
    record: ConstraintRecord
    seen: int | None = None


class JudgeConstraint(InSession):
    """A word about one constraint. ``seen`` as in :class:`ReviseConstraint`."""

    kind: Literal["judge_constraint"] = "judge_constraint"
    uid: str
    verdict: Verdict
    reason: str | None = None
    seen: int | None = None


class SettleConstraints(InSession):
    """Which of two constraints counts that contradict, replace or repeat each other; ``None``: both."""

    kind: Literal["settle_constraints"] = "settle_constraints"
    uids: tuple[str, str]
    keep: str | None = None


class UndoMemory(InSession):
    """Take back what a command wrote into memory; ``write`` is its id."""

    kind: Literal["undo_memory"] = "undo_memory"
    write: str


class ShowMemory(InSession):
    """What is known of the person, or only these constraints and what is found by the words of ``search``; ``more``
    lists more of it."""

    kind: Literal["show_memory"] = "show_memory"
    more: bool = False
    uids: tuple[str, ...] = ()
    search: Annotated[tuple[Annotated[str, Field(min_length=1, max_length=200)], ...], Field(max_length=8)] = ()


class HideMemory(InSession):
    kind: Literal["hide_memory"] = "hide_memory"


SessionCommand = (
    ChooseDate
    | TimeboxingCommitDate
    | TimeboxingUserReply
    | StageAction
    | SetFrame
    | AdjustFrame
    | AddTasks
    | UpdateTask
    | ResizeTask
    | RemoveTask
    | DeferTask
    | BringAlong
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


class LookAgain(BaseModel):
    """Nobody asked for anything, but the calendar looks unlike what the session shows. It waits its turn among the
    person's commands, and does not count as a sign of life of theirs."""

    model_config = _FROZEN
    kind: Literal["look_again"] = "look_again"
    command_id: str
    session_id: str


class Understood(BaseModel):
    """What there is to remember in a reply, as it was read in the background. It waits its turn among the person's
    commands, and does not count as a sign of life of theirs. ``of`` is the reply's id and ``at`` when it was written;
    ``question`` is what was unclear, ``trouble`` why it could not be read."""

    model_config = _FROZEN
    kind: Literal["understood"] = "understood"
    command_id: str
    session_id: str
    of: str
    at: datetime
    records: tuple[ConstraintRecord, ...] = ()
    question: str | None = None
    trouble: str | None = None


Command = Annotated[Start | SessionCommand | QueueCommand, Field(discriminator="kind")]
Unasked = LookAgain | Understood
"""What nobody asked for."""
Queued = Start | Opening | SessionCommand | QueueCommand | Unasked
"""What waits its turn in the durable inbox."""
COMMAND: TypeAdapter[Queued] = TypeAdapter(Annotated[Queued, Field(discriminator="kind")])
"""Reads and writes any command as JSON."""


class Click(BaseModel):
    """A control was used: the envelope of every card (S214). ``value`` is what was chosen, where there is a choice."""

    model_config = _FROZEN
    command_id: str
    user_id: str
    at: datetime
    session_id: str
    action: str
    target: str = ""
    value: str | Date | time | None = None
