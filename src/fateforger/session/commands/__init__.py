"""Commands of a person as typed messages (S58, S99, S107): a module for each subject, and their unions.

Each command has one meaning and one executor, whether it came from a button, a form, a slash command, or, with a
model, from words.

``command_id`` is unique to the click, submission, or message and the same for its repetitions, so a command is
carried out once. ``at`` is the aware instant at which the person acted.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, TypeAdapter

from fateforger.session.commands.blocks import (
    AddBlock,
    ApplyFix,
    ApplyPatch,
    ApprovedChange,
    EditBlock,
    ExplainBlock,
    RemoveBlock,
    Replan,
    ShiftBlock,
    SwapBlock,
)
from fateforger.session.commands.calendar import (
    HideHistory,
    HidePreview,
    RedoWrite,
    RefreshCalendar,
    ResolveConflict,
    SetCalendarWrite,
    ShowHistory,
    ShowPreview,
    Side,
    UndoWrite,
)
from fateforger.session.commands.conversation import (
    AnswerProposal,
    Click,
    EndAbandoned,
    LeaveAsIs,
    LeftAsIs,
    Opening,
    StageAction,
    Start,
    TimeboxingUserReply,
)
from fateforger.session.commands.day import AdjustFrame, ChooseDate, SetFrame, TimeboxingCommitDate
from fateforger.session.commands.inputs import (
    AddTasks,
    BringAlong,
    DeferTask,
    MarkOneThing,
    RemoveTask,
    ResizeTask,
    SplitTask,
    UndoCatchUp,
    UpdateTask,
)
from fateforger.session.commands.memory import (
    AddExtracted,
    ConstraintVerdict,
    HideMemory,
    JudgeConstraint,
    RememberConstraint,
    ReviseConstraint,
    SettleConstraints,
    ShowMemory,
    UndoMemory,
)
from fateforger.session.commands.queue import QueueCommand

__all__ = [
    "COMMAND",
    "AddBlock",
    "AddExtracted",
    "AddTasks",
    "AdjustFrame",
    "AnswerProposal",
    "ApplyFix",
    "ApplyPatch",
    "ApprovedChange",
    "BackgroundCommand",
    "BringAlong",
    "ChooseDate",
    "Click",
    "Command",
    "ConstraintVerdict",
    "DeferTask",
    "EditBlock",
    "EndAbandoned",
    "ExplainBlock",
    "HideHistory",
    "HideMemory",
    "HidePreview",
    "InboxCommand",
    "JudgeConstraint",
    "LeaveAsIs",
    "LeftAsIs",
    "MarkOneThing",
    "Opening",
    "QueueCommand",
    "RedoWrite",
    "RefreshCalendar",
    "RememberConstraint",
    "RemoveBlock",
    "RemoveTask",
    "Replan",
    "ResizeTask",
    "ResolveConflict",
    "ReviseConstraint",
    "SessionCommand",
    "SetCalendarWrite",
    "SetFrame",
    "SettleConstraints",
    "ShiftBlock",
    "ShowHistory",
    "ShowMemory",
    "ShowPreview",
    "Side",
    "SplitTask",
    "StageAction",
    "Start",
    "SwapBlock",
    "TimeboxingCommitDate",
    "TimeboxingUserReply",
    "UndoCatchUp",
    "UndoMemory",
    "UndoWrite",
    "UpdateTask",
]

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
